// http_node.js - asks the HTTP server of node about the connections that
// http_driver judged.
'use strict';

const http = require('node:http');
const { Duplex } = require('node:stream');
const { spawnSync } = require('node:child_process');

const [driver, seedText, roundsText] = process.argv.slice(2);
const ROUNDS = Number(roundsText);

let seed = Number(seedText) >>> 0;
function chance(below) {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return Math.floor((seed / 4294967296) * below);
}
const pick = (list) => list[chance(list.length)];
const times = (max, make) => Array.from({ length: chance(max + 1) }, make);

// ---- Requests, as latin1 ---------------------------------------------------

const methods = ['GET', 'GET', 'POST', 'POST', 'PUT', 'HEAD', 'DELETE',
                 'OPTIONS', 'PATCH', 'M-SEARCH', 'CONNECT', 'get', 'FOO'];
const targets = ['/', '/', '/v1/runs', '/a?b=c&d', '/%41%2f', '/a//b/../c', '/?',
                 '/a|b?[c]={d}', 'http://a/b', 'https://a', 'http://a?b',
                 'http://b/', '*', 'a', '//a', '/a#b', '/a b', '/\xe9', '/%zz',
                 '/"', '/<>', '/a\\b', 'http://u@a/', 'ftp://a/', 'a:80'];
const versions = ['HTTP/1.1', 'HTTP/1.1', 'HTTP/1.1', 'HTTP/1.1', 'HTTP/1.1',
                  'HTTP/1.0', 'HTTP/1.0', 'HTTP/1.2', 'HTTP/2.0', 'HTTP/0.9',
                  'http/1.1', 'HTTP/1.10', 'HTTP/1', 'RTSP/1.0', ''];
const hosts = ['Host: a', 'Host: a', 'Host: a', 'host:a:8080', 'HOST: [::1]:80',
               'Host:', 'Host: a b', 'Host: a, b', 'Host: a@b', 'Host: \xe9',
               'Host : a', ' Host: a', 'Host: a:', 'X: y'];
// No `Connection: Upgrade`: node reads nothing behind it, taken up or not.
const fields = ['Accept: */*', 'X-A:  b\t ', 'x-b:', 'X-C: \xe9\xff', 'X-A: c',
                'Connection: keep-alive', 'Connection: close',
                'Connection: x, Close', 'Upgrade: h2c', 'Keep-Alive: 5', 'Cookie: a=b', 'Cookie: c=d',
                'Expect: 100-continue', 'Content-Type: text/plain',
                'Authorization: Bearer x', 'Range: bytes=0-1', 'TE: trailers',
                'Trailer: x', 'X!#$%&\'*+-.^_`|~0: y'];
const odd = ['Host: b', 'Expect: 200-ok', 'X : y', 'X\t: y', ' folded',
             '\tfolded', 'no colon', ': no name', 'X\xe9: y', '"X": y',
             'X: \x00', 'X: \x7f', 'X: a\rb', 'X: a\nY: b', 'X: \x0b',
             'Authorization: y', 'Content-Length: 3', 'Content-Length: 0',
             'Content-Length: +3', 'Content-Length: -1', 'Content-Length: 3, 3',
             'Content-Length: 3,4', 'Content-Length:', 'Content-Length: 0x3',
             'Content-Length: 3 3', 'Content-Length: 03', 'Content_Length: 3',
             'Content-Length: 99999999999999999999', 'Content-Length : 3',
             'Transfer-Encoding: chunked', 'Transfer-Encoding: CHUNKED',
             'Transfer-Encoding: gzip, chunked', 'Transfer-Encoding: chunked, x',
             'Transfer-Encoding: identity', 'Transfer-Encoding: xchunked',
             'Transfer-Encoding: chunked;a=b', 'Transfer-Encoding:',
             'Transfer-Encoding: \x0bchunked', 'Transfer-Encoding : chunked',
             'Transfer-Encoding: chunked, chunked', 'Transfer_Encoding: chunked',
             'Transfer-Encoding\x00: chunked', 'Transfer-Encoding: "chunked"'];
const sizes = ['0x1', '+1', '-1', ' 1', '1 ', '1 ;a', '1;', '1;a', '1;a=b',
               '1;a="b;c\\""', '1;a="b', '1; a', '1;a =b', '01', '', 'g', '1_0',
               '1;a=', '1;\xe9', '10000000000000001', 'FFFFFFFFFFFFFFFFF', '1\t'];
const noise = ['\r', '\n', '\r\n', '\r\n\r\n', ' ', '\t', '\0', ':', ';', ',',
               '0', '1', 'a', 'G', '\x7f', '\x80', '\xff', '%', '#', '"', '\x01',
               '/', '?', 'chunked', 'HTTP/1.1', '\x0b', '\x0c', '=', '-', '\r ',
               'GET / HTTP/1.1\r\nHost: a\r\n\r\n', '0\r\n\r\n', '\n\n'];

const data = () => pick(['', 'a', 'abc', 'a\r\nb', '0\r\n\r\n', 'x'.repeat(40),
                         '\0\xff', 'GET / HTTP/1.1\r\n\r\n']);

function chunked() {
    const one = (d) => d && `${chance(30) ? d.length.toString(16) : pick(sizes)}` +
                            `${chance(9) ? '' : ';x=y'}\r\n${d}\r\n`;
    const trailers = times(1, () => pick(chance(4) ? fields : odd) + '\r\n').join('');

    return times(3, () => one(data())).join('') +
           `${pick(['0', '0', '0', '00', '0;a=b'])}\r\n${trailers}\r\n`;
}

function request() {
    const lines = [pick(hosts), ...times(3, () => pick(fields))];
    let method = pick(methods), target = pick(targets), version = pick(versions);
    let body = '';

    if (chance(8)) { // most are right, or mutations would find nothing
        [method, target, version] = [pick(['GET', 'POST']), pick(['/', '/a?b']),
                                     pick(['HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0'])];
        lines[0] = 'Host: a';
    }
    switch (chance(4)) {
    case 0:
        body = data();
        lines.push(`Content-Length: ${body.length}`);
        break;
    case 1:
        body = chunked();
        lines.push(pick(['Transfer-Encoding: chunked', 'transfer-encoding:Chunked']));
        break;
    }
    if (!chance(12))
        lines.splice(chance(lines.length + 1), 0, pick(odd));
    return `${method} ${target}${version && ' ' + version}\r\n` +
           lines.map((l) => l + (chance(150) ? '\r\n' : pick(['\n', '\r', '\r\r\n'])))
               .join('') + (chance(150) ? '\r\n' : '\n') + body;
}

function mutate(text) {
    const at = chance(text.length + 1);

    switch (chance(4)) {
    case 0: return text.slice(0, at) + pick(noise) + text.slice(at);
    case 1: return text.slice(0, at) + text.slice(at + 1 + chance(3));
    case 2: return text.slice(0, at) + pick(noise) + text.slice(at + 1);
    }
    const from = chance(text.length + 1);
    return text.slice(0, at) + text.slice(from, from + chance(30)) + text.slice(at);
}

function connection() {
    let text = (chance(40) ? '' : pick(['\r\n', '\n', '\r\n\r\n', '\r'])) +
               request() + times(2, request).join(chance(9) ? '' : '\r\n');

    for (let n = chance(4); n > 1; n--)
        text = mutate(text);
    return Buffer.from(text, 'latin1');
}

// ---- What node makes of them ----------------------------------------------

// A connection of which all bytes come at once; the server's answers are kept.
class Line extends Duplex {
    constructor(bytes) {
        super({ allowHalfOpen: true });
        this.bytes = bytes;
        this.requests = [];
        this.answers = '';
        this.failed = '';
    }
    _read() {
        if (this.bytes)
            this.push(this.bytes);
        this.push(this.bytes ? this.bytes = null : null);
    }
    _write(piece, encoding, done) {
        this.answers += piece.toString('latin1');
        done();
    }
    setTimeout() { return this; }
    setKeepAlive() { return this; }
    setNoDelay() { return this; }
    ref() { return this; }
    unref() { return this; }
}

const server = http.createServer({ insecureHTTPParser: false,
                                   maxHeaderSize: 1 << 17 });

server.maxHeadersCount = 0;
server.on('request', answer);
server.on('checkContinue', answer);
server.on('clientError', (error, line) => {
    line.failed = error.code || String(error);
    line.destroy();
});

function answer(req, res) {
    const one = { req, body: [] };

    req.socket.requests.push(one);
    req.on('data', (piece) => one.body.push(piece));
    req.on('end', () => res.end());
    req.on('error', () => {});
}

function ask(bytes) {
    return new Promise((resolve) => {
        const line = new Line(bytes);

        line.on('close', () => resolve(line));
        line.on('error', () => {});
        server.emit('connection', line);
    });
}

// ---- Comparison ------------------------------------------------------------

// Why a connection that node accepts is refused here.
const stricter = new Set([
    'a CR without LF before the request',
    'the request does not begin with a method in upper case',
    'the method is over 16 bytes',
    'CONNECT is refused: this is not a proxy',
    'the request line does not end in HTTP/1.1', // node knows HTTP/0.9, RTSP
    'a line of the head ends without CR',        // of HTTP/0.9
    'a space too many in the request line',
    'no Host header', // node answers 400 and reads on
    'the version of HTTP is neither 1.0 nor 1.1',
    'the target has a fragment (#)',
    'the target has a character that must be escaped',
    "the target has a '%' without two hexadecimal digits",
    'the target does not begin with a slash',
    "the target's host is malformed",
    "the target's host is not that of the Host header",
    'the Host header is malformed',
    'two Host headers',
    'two Expect headers',
    'two Content-Type headers',
    'two Authorization headers',
    'two Range headers',
    'a Transfer-Encoding other than chunked',
    'a Transfer-Encoding in HTTP/1.0',
    'two Transfer-Encoding headers', // of which one is empty
    'a tab in a header that frames the request',
    'an expectation other than 100-continue',
    'an extension of a chunk is malformed',
    'a trailer that may only be a header',
    'the body is larger than is accepted here',
]);
const hex = (text) => Buffer.from(text, 'latin1').toString('hex');
const trimmed = (text) => text.replace(/^[ \t]+|[ \t]+$/g, '');

function asOurs({ req, body }) {
    const headers = [];

    for (let i = 0; i < req.rawHeaders.length; i += 2)
        headers.push([hex(req.rawHeaders[i].toLowerCase()),
                      hex(trimmed(req.rawHeaders[i + 1]))]);
    return JSON.stringify({ method: hex(req.method), url: hex(req.url),
                            version: req.httpVersion, headers,
                            body: Buffer.concat(body).toString('hex') });
}

// Which methods there are is the router's knowledge here.
function isMethod(digits) {
    return http.METHODS.includes(Buffer.from(digits, 'hex').toString());
}

// Lengths from 63 to 64 bits.
const wide = {
    'the Content-Length is not a number': /content-length: *\d{19,20}\D/i,
    "a chunk's size is not a number": /\n0*[89a-f][0-9a-f]{15}\D/i,
};

function isStricter(why, text) {
    return stricter.has(why) || wide[why]?.test(text);
}

function compare(ours, line, text) {
    const theirs = line.requests.filter(({ req }) => req.complete).map(asOurs);
    const last = ours.requests.findIndex((r) => !r.keep);
    const mine = last < 0 ? ours.requests : ours.requests.slice(0, last + 1);
    const refusal = line.failed && line.failed !== 'HPE_INVALID_EOF_STATE' ||
                    / (4\d\d|5\d\d) /.exec(line.answers)?.[1];

    if (ours.broken)
        return 'a promise is broken';
    for (let i = 0; i < mine.length; i++) {
        const { keep, ...rest } = mine[i];

        if (!isMethod(rest.method))
            return 'method';
        if (i >= theirs.length)
            return `node refuses request ${i + 1}: ${refusal || 'incomplete'}`;
        if (theirs[i] !== JSON.stringify(rest))
            return `request ${i + 1} differs: ${theirs[i]}`;
    }
    if (last >= 0) // what is behind a last request counts for nothing
        return 'same';
    if (ours.more && ours.why && refusal)
        return 'both refuse';
    if (ours.more && !isMethod(ours.pending))
        return 'method';
    if (ours.more || !ours.why)
        return refusal ? `node refuses what comes then: ${refusal}`
               : theirs.length !== mine.length ? 'node reads more requests'
               : 'same';
    if (refusal && theirs.length === mine.length)
        return 'both refuse';
    if (line.failed === 'HPE_INVALID_EOF_STATE' && theirs.length === mine.length &&
        !isStricter(ours.why, text))
        return `node waits where it is refused: ${ours.why}`;
    return isStricter(ours.why, text) ? `stricter: ${ours.why}`
                                  : `refused only here: ${ours.why}`;
}

async function main() {
    const lines = Array.from({ length: ROUNDS }, connection);
    const run = spawnSync(driver, {
        input: Buffer.concat(lines.flatMap((b) => [Buffer.from(`${b.length}\n`), b])),
        maxBuffer: 1 << 28, encoding: 'latin1',
    });
    const answers = run.stdout.trim().split('\n');
    const counts = {};
    let wrong = 0, accepted = 0;

    for (let i = 0; i < lines.length; i++) {
        const ours = JSON.parse(answers[i] || '{"requests":[],"broken":true}');
        const text = lines[i].toString('latin1');
        let said = compare(ours, await ask(lines[i]), text);

        // It decides about a line with the first byte of the next.
        if (said.startsWith('node waits'))
            said = compare(ours, await ask(Buffer.from(text + '\r\n\r\n', 'latin1')),
                           text);

        accepted += ours.requests.length;
        if (/^(same|method|both refuse|stricter: .*)$/.test(said))
            counts[said] = (counts[said] || 0) + 1;
        else if (wrong++ < 20)
            console.log(`# ${JSON.stringify(text)}\n` +
                        `#   ${said}\n#   here: ${answers[i]}`);
    }
    for (const said of Object.keys(counts).sort())
        console.log(`# ${counts[said]} ${said}`);

    let n = 0;
    const say = (holds, text) =>
        console.log(`${holds ? 'ok' : 'not ok'} ${++n} - ${text}`);

    say(run.status === 0 && answers.length === ROUNDS, 'the driver ran');
    say(wrong === 0, `${ROUNDS} connections, as node reads them or stricter`);
    say(accepted > ROUNDS / 4, `${accepted} requests are accepted`);
    say(counts.same > ROUNDS / 10 && counts['both refuse'] > ROUNDS / 10,
        'and there were some of each');
    console.log(`1..${n}`);
    process.exit(wrong || run.status ? 1 : 0);
}

main();
