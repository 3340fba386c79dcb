// url_node.js - asks the URL of node, which reads as browsers do, about the
// URLs that url_driver judged.
//
// Much that browsers repair is refused here. But what is accepted must mean
// the same host to both; only that a name xn--... decodes to something is not
// looked at here.
'use strict';

const { spawnSync } = require('child_process');

const driver = process.argv[2];
const ROUNDS = 30000;

let seed = 20240301;
function chance(below) {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return Math.floor((seed / 4294967296) * below);
}
const pick = (list) => list[chance(list.length)];

const schemes = ['http://', 'https://', 'HTTP://', 'http:/', 'http:', 'http:\\\\',
                 'ftp://', '//', 'http:///', 'hTTps://'];
const hosts = ['a.example', 'A.Example', 'localhost', 'localhost.', 'a_b', 'a-b.c',
               '127.0.0.1', '127.1', '0x7f.1', '0177.0.0.1', '2130706433', '0',
               '1.2.3.4.', '1.2.3.4.5', '256.1.1.1', '08.1.1.1', 'a.1', '1.a',
               '[::1]', '[::ffff:127.0.0.1]', '[1:2::3]', '[::]', '[0:0:0::1]',
               '[1::2::3]', 'xn--bcher-kva', 'bücher', '127。0。0。1', '%31.a',
               'a%2eb', 'a..b', '.a', '-a', 'a,b', '０.0.0.0', 'a\u00adb', ''];
const ports = ['', '', '', ':80', ':443', ':8080', ':0', ':65535', ':65536', ':',
               ':080', ':8a', '@b', '@127.0.0.1', ':80@b', '%40b', '#@b', '\\@b'];
const paths = ['', '/', '/a/b', '/a/../b', '/./a', '/%2e%2e/a', '/a?b=c', '?a',
               '#a', '/a#b', '/é', '/a%20b', '/%', '/a;b', '/a\\b', '//c/d',
               '/"<>', '/.../..a', '/a/..'];
const noise = ['@', ':', '/', '\\', '#', '?', '%', '.', '[', ']', ' ', '\t', '0',
               'x', '%00', '%2f', '。', '\u200b', '\r', '&', '+', '-', '_'];

function make() {
    const chars = [...(pick(schemes) + pick(hosts) + pick(ports) + pick(paths))];

    for (let n = chance(3); n > 0; n--)
        chars.splice(chance(chars.length + 1), chance(2), pick(noise));
    return chars.join('').replace(/\n/g, '');
}

function wanted(text) {
    let u;

    try {
        u = new URL(text);
    } catch {
        return 'no';
    }
    const host = u.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
    const port = u.port || (u.protocol === 'https:' ? '443' : '80');
    return `${u.protocol.slice(0, -1)} ${host} ${port}`;
}

const texts = Array.from({ length: ROUNDS }, make);
const result = spawnSync(driver, {
    input: texts.join('\n') + '\n',
    maxBuffer: 1 << 28,
    encoding: 'utf8',
});
const got = result.stdout.split('\n');
let accepted = 0, refused = 0, different = 0, paths_different = 0;

for (let i = 0; i < texts.length; i++) {
    const want = wanted(texts[i]);

    if (got[i] === 'no') {
        refused += want !== 'no';
        continue;
    }
    accepted++;
    if (want === 'no' && /xn--/.test(got[i]))
        continue;
    if (got[i].split(' ').slice(0, 3).join(' ') !== want) {
        different++;
        if (different < 10)
            console.log(`# ${JSON.stringify(texts[i])}: ${got[i]}, node: ${want}`);
        continue;
    }
    // Dots are resolved in the same way, whatever is escaped.
    const u = new URL(texts[i]);
    const target = got[i].split(' ')[3].replace(/\?$/, '');
    const plain = (s) => { try { return decodeURIComponent(s); } catch { return s; } };
    if (plain(target) !== plain(u.pathname + u.search).replace(/\?$/, '')) {
        paths_different++;
        if (paths_different < 10)
            console.log(`# ${JSON.stringify(texts[i])}: ${got[i]}, node: ${u.href}`);
    }
}
const say = (n, holds, text) => console.log(`${holds ? 'ok' : 'not ok'} ${n} - ${text}`);

say(1, result.status === 0 && got.length === texts.length + 1, 'the driver ran');
say(2, accepted > ROUNDS / 50, `${accepted} of ${ROUNDS} are accepted`);
say(3, different === 0, 'and mean the same host and port to node');
say(4, paths_different === 0, 'and the same path');
say(5, refused > ROUNDS / 50, `${refused} that node repairs are refused`);
console.log('1..5');
process.exit(different || paths_different || result.status ? 1 : 0);
