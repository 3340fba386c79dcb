// json_node.js - asks JSON.parse about the texts that json_driver judged.
//
// Differences that are meant: duplicate keys and depth are refused here,
// lone surrogates become U+FFFD here.
'use strict';

const { spawnSync } = require('child_process');

const driver = process.argv[2];
const ROUNDS = 30000;

let seed = 20240229;
function chance(below) {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return Math.floor((seed / 4294967296) * below);
}
const pick = (list) => list[chance(list.length)];

const scalars = ['null', 'true', 'false', '0', '-0', '-1.50', '1e5', '2E-3',
                 '123456789012345678', '0.1', '""', '"a"', '"\\n"', '"\\u00e9"',
                 '"\\ud83d\\ude00"', '"\\udc00x"', '"é😀"', '"\\/\\b\\""'];
const noise = ['[', ']', '{', '}', ',', ':', '"', '\\', '-', '+', '.', 'e',
               '0', '1', ' ', '\n', '\t', '\r', '\f', '\v', '\0', '\x1f',
               'tru', 'null', 'NaN', '\\u', '\\ud800', '\\x', '\u00a0',
               '\ufeff', '\u2028', 'é', '//', "'", '\x7f', 'E+', '00', '😀'];

function value(depth) {
    const kind = chance(depth < 4 ? 4 : 2);
    const items = [];

    if (kind < 2)
        return pick(scalars);
    for (let n = chance(4); n > 0; n--)
        items.push((kind === 3 ? `"k${chance(40)}" :` : '') + value(depth + 1));
    return kind === 3 ? `{${items.join(' ,')}}` : `[ ${items.join(',')}]`;
}

function spoil(text) {
    const chars = [...text];
    const at = chance(chars.length + 1);

    chars.splice(at, chance(3), ...(chance(3) ? [pick(noise)] : []));
    return chars.join('');
}

function number() {
    const bits = new DataView(new ArrayBuffer(8));
    const digits = (n) => Array.from({ length: n }, () => chance(10)).join('');

    bits.setUint32(0, chance(4294967296));
    bits.setUint32(4, chance(4294967296));
    const double = bits.getFloat64(0);
    if (chance(2) && Number.isFinite(double))
        return String(double);
    return `${pick(['', '-'])}${1 + chance(9)}${digits(chance(25))}` +
           `${chance(2) ? '.' + digits(1 + chance(30)) : ''}` +
           `${chance(2) ? 'e' + pick(['', '+', '-']) + chance(330) : ''}`;
}

function wanted(text) {
    let parsed;

    try {
        parsed = JSON.parse(text);
    } catch {
        return 'no';
    }
    if (typeof parsed !== 'number')
        return 'yes ' + JSON.stringify(parsed);
    return Number.isFinite(parsed) ? 'num ' + String(parsed) : 'inf';
}

// What we wrote, with numbers as JSON.stringify writes them.
function normal(answer) {
    return answer.startsWith('yes ') ?
        'yes ' + JSON.stringify(JSON.parse(answer.slice(4))) : answer;
}
// JSON.stringify escapes lone surrogates; here they are U+FFFD.
const repaired = (s) => s.replace(/(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g,
                                  '$1\ufffd');

const texts = [];
for (let i = 0; i < ROUNDS; i++) {
    let text = chance(4) ? value(0) : number();

    for (let n = chance(4); n > 1; n--)
        text = spoil(text);
    texts.push(Buffer.from(text).toString()); // spoiled pairs, repaired
}
const input = Buffer.concat(texts.map((t) => {
    const bytes = Buffer.from(t);
    return Buffer.concat([Buffer.from(`${bytes.length}\n`), bytes]);
}));
const run = spawnSync(driver, { input, maxBuffer: 1 << 28 });
if (run.status !== 0) {
    console.log(`not ok 1 - the driver ran\n# ${run.stderr}\n1..1`);
    process.exit(1);
}
const answers = run.stdout.toString().split('\n');
const counts = {};
let bad = 0;
texts.forEach((text, i) => {
    const word = answers[i].split(' ', 1)[0];

    counts[word] = (counts[word] || 0) + 1;
    if (word === 'twice' || word === 'limit')
        return;
    if (normal(answers[i]) !== repaired(wanted(text)) && bad++ < 10)
        console.log(`# ${JSON.stringify(text)}\n#   got: ${answers[i]}` +
                    `\n#   wanted: ${wanted(text)}`);
});
console.log(`# ${JSON.stringify(counts)}`);
console.log(`${bad ? 'not ok' : 'ok'} 1 - ${ROUNDS} texts, as JSON.parse`);
const both = ['yes', 'no', 'num', 'inf', 'twice'].every((k) => counts[k] > 20);
console.log(`${both ? 'ok' : 'not ok'} 2 - and there were some of each\n1..2`);
process.exit(bad || !both ? 1 : 0);
