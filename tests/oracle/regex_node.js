// regex_node.js - asks RegExp about the patterns that schema_driver searched.
//
// Differences that are meant are listed in regex_node.sh.
'use strict';

const { spawnSync } = require('child_process');

const [driver, seedText, roundsText] = process.argv.slice(2);
const ROUNDS = Number(roundsText);
const TEXTS = 5;

let seed = Number(seedText) >>> 0;
function chance(below) {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return Math.floor((seed / 4294967296) * below);
}
const pick = (list) => list[chance(list.length)];
const times = (max, make) => Array.from({ length: chance(max + 1) }, make);

const chars = ['a', 'b', 'B', '1', '-', '_', '.', ' ', '\n', '\r', '\t', '\v',
               '\u0085', '\u00a0', '\u2028', '\ufeff', '\u3000', 'é', 'É', 'ß',
               '٣', '😀', '[', ']', ':', '{', '}', '\\', '^', '$', '\0',
               '\u180e', '\u200b', 'α'];
const escapes = ['\\d', '\\D', '\\w', '\\W', '\\s', '\\S', '\\p{L}', '\\P{Lu}',
                 '\\p{Letter}', '\\p{Script=Greek}', '\\p{gc=Nd}',
                 '\\p{Assigned}', '\\p{ASCII}', '\\p{Alphabetic}'];
const single = ['\\n', '\\r', '\\t', '\\v', '\\f', '\\0', '\\x41', '\\u0061',
                '\\u{1f600}', '\\ud83d\\ude00', '\\ud83d', '\\cJ', '\\.',
                '\\[', '\\]', '\\\\', '\\/', '\\^', '\\$', 'a', 'b', 'B', '1',
                '_', ' ', 'é', '😀', ':', '\u2028', '\u00a0', 'α'];
const repeats = ['*', '+', '?', '{2}', '{0,2}', '{1,}', '*?', '+?', '{1,3}?'];
const noise = ['(', ')', '[', ']', '{', '}', '*', '+', '?', '|', '\\', '^',
               '-', '(?', '(?<', '(*', '[^', '[:', '\\Q', '\\h', '\\1', '{,2}',
               '++', '(?i)', '\\K', '\\_', '(?#', ',', '$'];

function classPart() {
    const low = pick(single), kind = chance(6);

    if (kind === 0)
        return pick(escapes);
    if (kind === 1)
        return `${low}-${pick(single)}`;
    return pick([low, low, low, '[', '[:', '-', '\\-', '\\b', '&', '.', '(']);
}

function atom(depth) {
    switch (chance(depth < 3 ? 9 : 5)) {
    case 0: return '.';
    case 1: return pick(escapes);
    case 2: return `[${pick(['', '^'])}${times(4, classPart).join('')}]`;
    case 3:
    case 4: return pick(single);
    case 5: return `(${pattern(depth + 1)})`;
    case 6: return `(?:${pattern(depth + 1)})`;
    case 7: return pick(['^', '$', '\\b', '\\B']);
    }
    return `(${pick(['?=', '?!', '?<=', '?<!'])}${pattern(depth + 1)})`;
}

function pattern(depth) {
    const branch = () => times(3, () => {
        const one = atom(depth);

        return chance(3) || /^(\^|\$|\\[bB]|\(\?[=!<])/.test(one)
                   ? one : one + pick(repeats);
    }).join('');

    return [branch(), ...times(1, branch)].join('|');
}

function spoiled(text) {
    const at = chance(text.length + 1);

    return text.slice(0, at) + pick(noise) + text.slice(at + chance(2));
}

// No pairs where there is a lookaround.
function textFor(one) {
    const t = times(5, () => pick(chars)).join('');

    return /\(\?[=!<]/.test(one) ? t.replace(/😀/gu, 'x') : t;
}

const lines = [], rounds = [];

for (let i = 0; i < ROUNDS; i++) {
    let one = pattern(0), regexp = null;

    if (i % 4 === 0)
        one = spoiled(one);
    if (!one.isWellFormed())
        continue;
    try {
        regexp = new RegExp(one, 'u');
    } catch (error) {
        if (!(error instanceof SyntaxError))
            throw error;
    }
    lines.push('S ' + JSON.stringify({ pattern: one }));
    rounds.push({ one, wanted: regexp ? 'yes' : 'any' });
    for (let n = 0; n < TEXTS; n++) {
        const t = textFor(one);

        lines.push('V ' + JSON.stringify(t));
        rounds.push({ one, t, wanted: !regexp ? 'any'
                                      : regexp.test(t) ? 'yes' : 'no' });
    }
}

const ran = spawnSync(driver, { input: lines.join('\n') + '\n',
                                maxBuffer: 1 << 28, encoding: 'utf8' });
const answers = ran.stdout.split('\n');
const tally = { yes: 0, no: 0, any: 0, lookbehind: 0 };
let wrong = 0, aside = null;

rounds.forEach(({ one, t, wanted }, i) => {
    const got = (answers[i] || 'nothing').split(' ')[0];

    if (/lookbehind assertion is not fixed length/.test(answers[i])) {
        aside = one;
        tally.lookbehind++;
    }
    tally[wanted]++;
    if (one === aside || got === wanted || wanted === 'any' || wrong > 9)
        return;
    wrong++;
    console.log(`# pattern ${JSON.stringify(one)} text ${JSON.stringify(t)}`);
    console.log(`# node says ${wanted}, here: ${answers[i]}`);
});
console.log(`# ${JSON.stringify(tally)}`);
console.log(`${ran.status === 0 ? 'ok' : 'not ok'} 1 - the driver ran` +
            (ran.status === 0 ? '' : `: ${ran.stderr}`));
console.log(`${wrong ? 'not ok' : 'ok'} 2 - the same on ${rounds.length} ` +
            'patterns and texts');
const balanced = tally.yes > ROUNDS / 2 && tally.no > ROUNDS / 2;
console.log(`${balanced ? 'ok' : 'not ok'} 3 - enough of each`);
console.log('1..3');
process.exit(wrong || ran.status || !balanced ? 1 : 0);
