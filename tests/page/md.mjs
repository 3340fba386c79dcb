/* md.mjs - Markdown to blocks: what each text is, and that a closed block never
 * changes while more text comes. */
import {is, ok, finish} from './tap.mjs';

const {blocks} = await import(new URL('../../src/serve/web/md.js', import.meta.url));
const kinds = (t) => blocks(t).map((b) => b.type).join(' ');

const ROWS = [
  ['a paragraph', 'one\ntwo', 'text'],
  ['two paragraphs', 'one\n\ntwo', 'text text'],
  ['a heading ends a paragraph', 'one\n# two\nthree', 'text heading text'],
  ['seven marks are no heading', '####### x', 'text'],
  ['a fence', '```c\nx\n```', 'code'],
  ['a fence that is open', 'a\n```\nx\n\n# y', 'text code'],
  ['a shorter fence does not close', '````\n```\n````\nx', 'code text'],
  ['a rule', 'a\n\n---\n\nb', 'text rule text'],
  ['a list', '- a\n- b', 'list'],
  ['a list with a paragraph in it', '- a\n\n  b\n- c', 'list'],
  ['two kinds of lists', '- a\n1. b', 'list list'],
  ['a quote', '> a\n> b\n\nc', 'quote text'],
  ['a table', '|a|b|\n|-|-|\n|1|2|', 'table'],
  ['a table of other widths is none', '|a|b|\n|-|\n', 'text'],
  ['HTML is text', '<b>x</b>', 'text'],
  ['nothing', '\n\n', ''],
];
for (const [name, text, wanted] of ROWS) is(kinds(text), wanted, name);
is(blocks('- a\n  - b\n  - c\n- d')[0].items, ['a\n- b\n- c', 'd'], 'a list in a list');
is(blocks('|a \\| b|c|\n|-|-:|\n|1|')[0].rows, [['a | b', 'c'], ['-', '-:'], ['1']], 'a bar in a cell');
is(blocks('a\n\n```\nx')[1].shut, false, 'an open fence is open');

const LONG = `# Title

A paragraph with **bold** and \`code\`,
over two lines.

- one
- two
  - three

  more of two

1. first
2. second

> a quote
> goes on

\`\`\`js
let x = 1;

let y = 2;
\`\`\`

| a | b |
|---|--:|
| 1 | 2 |

The end.`;
/* As the page does it: all but the last block are closed. */
let closed = 0, wrong = '';
const done = [];
for (let n = 1; n <= LONG.length; n++) {
  const list = blocks(LONG.slice(closed, n), closed);
  for (const b of list.slice(0, -1)) { done.push(b); closed = b.to; }
}
done.push(...blocks(LONG.slice(closed), closed));
const want = blocks(LONG), strip = ({from, to, ...b}) => b;
for (const [i, b] of want.entries())
  if (JSON.stringify(strip(b)) !== JSON.stringify(strip(done[i] ?? {}))) wrong ||= JSON.stringify([b, done[i]]);
ok(!wrong && done.length === want.length, 'letter by letter gives the same blocks', wrong || done.length);

/* Nothing takes long. */
for (const [name, text] of [['brackets', '['.repeat(20000)], ['stars', '*a '.repeat(10000)],
  ['quotes', '>'.repeat(5000)], ['lists', '- '.repeat(5000)], ['bars', '|'.repeat(20000) + '\n|-|'],
  ['a long line', 'x'.repeat(1 << 20)]]) {
  const t = performance.now();
  blocks(text);
  ok(performance.now() - t < 1000, `${name}: at once`, performance.now() - t);
}
finish();
