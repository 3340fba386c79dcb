/* fold.mjs LOGS - the fold of the page over recorded logs (one JSON event a
 * line): the state at each event is that of a fold from scratch, whatever
 * snapshots, deltas and repeats there are. */
import {readFileSync, readdirSync} from 'node:fs';
import {createHash} from 'node:crypto';
import {isDeepStrictEqual} from 'node:util';
import {join} from 'node:path';
import {ok, is, finish} from './tap.mjs';

const web = new URL('../../src/serve/web/', import.meta.url);
const {Log, begin, fold, slice, pageLines, again} = await import(new URL('fold.js', web));
const dir = process.argv[2];
const logs = readdirSync(dir).filter((f) => f.endsWith('.jsonl')).map((f) => [f.replace('.jsonl', ''),
  readFileSync(join(dir, f), 'utf8').split('\n').filter(Boolean)]);
ok(logs.length >= 5, 'there are logs', dir);

const bare = (s) => ({...s, delta: null});

for (const [name, lines] of logs) {
  const kept = lines.filter((l) => JSON.parse(l).n === undefined);

  /* Kept events alone: at(n) against a fold from scratch, at many places. */
  const log = new Log();
  is(kept.filter((l) => !log.add(l)).length, 0, `${name}: each kept event is new`);
  const scratch = begin(), step = Math.max(1, Math.floor(kept.length / 300));
  let wrong = 0;
  kept.forEach((l, i) => {
    fold(scratch, JSON.parse(l));
    if ((i % step === 0 || (i + 1) % 256 < 2) && !isDeepStrictEqual(bare(log.at(i + 1)), bare(scratch))) wrong ||= i + 1;
  });
  is(wrong, 0, `${name}: the state at each event is that of a fold from scratch`);
  ok(isDeepStrictEqual(bare(log.at(kept.length)), bare(scratch)), `${name}: the last state`);
  is(log.raw.join('\n'), kept.join('\n'), `${name}: the bytes are kept`);

  /* With deltas, with every line twice, and as after a lost connection. */
  const all = new Log(), twice = new Log(), again_ = new Log();
  for (const l of lines) all.add(l);
  for (const l of lines) { twice.add(l); twice.add(l); }
  const cut = Math.floor(lines.length / 2);
  for (const l of lines.slice(0, cut)) again_.add(l);
  const last = again_.state.seq;
  for (const l of lines.slice(lines.findIndex((x) => JSON.parse(x).seq >= last))) again_.add(l);
  ok(isDeepStrictEqual(twice.state, all.state), `${name}: repeats change nothing`);
  ok(isDeepStrictEqual(again_.state, all.state), `${name}: a reconnect changes nothing`);
  const plain = (s) => s.spans.map((p) => ({...p, first: null, writing: null}));
  ok(isDeepStrictEqual(plain(all.state), plain(scratch)), `${name}: deltas change no outcome`);

  /* A page of the server is split into the same bytes. */
  const page = pageLines(`{"events":[${kept.join(',')}],"next":${kept.length + 1}}`);
  is(page.lines.join('\n'), kept.join('\n'), `${name}: a page is split exactly`);
  is(page.next, kept.length + 1, `${name}: the next page`);

  /* Brackets: what is open at the end is nothing, if the run has ended. */
  if (scratch.outcome) is([scratch.open.size, scratch.asks.size], [0, 0], `${name}: all is closed`);
  ok(scratch.spans.every((p) => p.t1 === null || p.t1 >= p.t0), `${name}: time goes on`);
  for (const n of [1, kept.length]) ok(again(scratch, n).calls >= 0, `${name}: a fork after ${n}`);
}

/* In the middle of a message, a stream has to begin where its text begins. */
const two = logs.find(([, l]) => l.some((x) => x.includes('"type":"text_delta"')));
if (ok(two, 'a log with deltas')) {
  const l = two[1], at = l.findIndex((x) => x.includes('"type":"text_delta"'));
  const kept = l.slice(0, at).filter((x) => JSON.parse(x).n === undefined), log = new Log();
  for (const x of kept) log.add(x);
  const from = log.from();
  is(JSON.parse(kept[from - 1]).type, 'model_start', 'a stream begins at the open message');
  for (const x of l.filter((y) => JSON.parse(y).seq >= from)) log.add(x);
  ok(log.state.spans.some((p) => p.kind === 'model' && p.text), 'and has all of its text');
}

/* The hash of an approval is made of the bytes of its arguments. */
const ask = '{"run":"r","seq":1,"time":1.5,"type":"approval_ask","turn":0,"data":{"call":"c",' +
  '"name":"args","args":{"n":1.50,"args":"x\\"}","k":[{"args":2}]},"risk":"low"}}';
is(slice(ask, 'args'), '{"n":1.50,"args":"x\\"}","k":[{"args":2}]}', 'the bytes of the arguments');
is(slice(ask, 'risk'), '"low"', 'the bytes of a string');
is(slice(ask, 'seq'), null, 'not of the envelope');
is(createHash('sha256').update(slice(ask, 'args')).digest('hex').slice(0, 8),
  createHash('sha256').update('{"n":1.50,"args":"x\\"}","k":[{"args":2}]}').digest('hex').slice(0, 8), 'their hash');

/* Names that mean something in JavaScript are names like others. */
const odd = new Log(), ev = (seq, type, data) => JSON.stringify({run: 'r', seq, time: seq, type, turn: 0, turn_id: 't', data});
for (const [i, id] of ['__proto__', 'constructor', 'toString'].entries()) {
  odd.add(ev(2 * i + 1, 'call_start', {call: id, name: id, args: {}, attempt: 1}));
  odd.add(ev(2 * i + 2, 'call_end', {call: id, name: id, outcome: 'ok', output: id, ms: 1}));
}
is(odd.state.spans.map((p) => [p.key, p.state]), [['__proto__', 'ok'], ['constructor', 'ok'], ['toString', 'ok']],
  'names of JavaScript are names');
is(odd.add(ev(7, 'hasOwnProperty', {})), true, 'an unknown type is skipped');
is(odd.add(ev(9, 'metrics', {})), false, 'a gap is not accepted');
finish();
