/* gates.mjs - how much the page may cost, measured in CPU time of the main
 * thread (a busy machine does not change it):
 *
 *     PAGE_URL=... PAGE_TOKEN=... node gates.mjs [RATE]
 *
 * A run of 10,000 events is opened; then a run that writes fast is followed.
 * RATE: how much slower the processor seems to be, 1 by default. */
import {Chrome, sleep} from './chrome.mjs';
import {ok, skip, finish} from './tap.mjs';

const BASE = process.env.PAGE_URL, TOKEN = process.env.PAGE_TOKEN, RATE = +(process.argv[2] ?? 1);
if (!BASE || !TOKEN) {
  skip('gates', 'PAGE_URL and PAGE_TOKEN are not set');
  finish();
  process.exit();
}
const TASK_MS = 50 * RATE, NODES = 3000, HEAP_MB = 80, PAINT_MS = 100 * RATE;
const api = async (path, options) => (await fetch(BASE + path, {...options, headers: {Authorization: 'Bearer ' + TOKEN,
  'Content-Type': 'application/json'}})).json();
const chrome = new Chrome();

/* Tasks of the page's main thread while `f` runs: [{ms, cpu, name}]. */
async function traced(p, f) {
  const list = [], done = new Promise((end) => {
    p.on = (method, d) => {
      if (method === 'Tracing.dataCollected') list.push(...d.value);
      if (method === 'Tracing.tracingComplete') end();
    };
  });
  await p.ask('Tracing.start', {traceConfig: {includedCategories: ['toplevel', 'devtools.timeline', 'disabled-by-default-devtools.timeline'],
    excludedCategories: ['*']}, transferMode: 'ReportEvents'});
  await f();
  await p.ask('Tracing.end');
  await done;
  const main = new Set(list.filter((e) => e.name === 'thread_name' && e.args?.name === 'CrRendererMain').map((e) => `${e.pid}/${e.tid}`));
  const mine = list.filter((e) => e.name === 'RunTask' || e.name === 'ThreadControllerImpl::RunTask')
    .filter((e) => !main.size || main.has(`${e.pid}/${e.tid}`));
  return mine.map((e) => ({ms: (e.dur ?? 0) / 1000, cpu: (e.tdur ?? e.dur ?? 0) / 1000}));
}

const worst = (tasks) => Math.max(0, ...tasks.map((t) => t.cpu));

try {
  const runs = (await api('/v1/runs?limit=200')).runs;
  const big = runs.find((r) => r.prompt.startsWith('Ten thousand'))?.run;
  const p = await chrome.page();
  await p.goto(`${BASE}/#${TOKEN}`);
  await p.there('.runs tbody td');
  if (RATE > 1) await p.ask('Emulation.setCPUThrottlingRate', {rate: RATE});
  const open = await traced(p, async () => {
    await p.goto(`${BASE}/r/${big}`);
    await p.there('.item.end');
    await p.there('.trow');
    await sleep(500);
  });
  ok(worst(open) <= TASK_MS, `10,000 events: no task over ${TASK_MS} ms`, worst(open).toFixed(1));
  const nodes = await p.run(() => document.getElementsByTagName('*').length);
  ok(nodes <= NODES, `10,000 events: at most ${NODES} elements`, nodes);
  await p.ask('HeapProfiler.collectGarbage');
  const heap = await p.run(() => performance.memory.usedJSHeapSize / 1e6);
  ok(heap <= HEAP_MB, `10,000 events: at most ${HEAP_MB} MB`, heap);
  const all = open.reduce((n, t) => n + t.cpu, 0);
  ok(all <= 1500 * RATE, '10,000 events: at most 1.5 s of work in all', all.toFixed(0));

  /* Scrolling, zooming, going through its past. */
  const use = await traced(p, async () => {
    for (let i = 0; i < 10; i++) {
      await p.run((n) => { document.querySelector('.time-scroll').scrollTop = n * 997; }, i);
      await sleep(30);
    }
    for (let i = 0; i < 10; i++) { await p.key(i < 5 ? 'w' : 's'); await sleep(30); }
    for (let i = 0; i < 10; i++) {
      await p.run((n) => { const s = document.querySelector('.scrub'); s.value = n; s.dispatchEvent(new Event('input')); }, 500 + i * 900);
      await sleep(60);
    }
  });
  ok(worst(use) <= TASK_MS, `scroll, zoom, scrub: no task over ${TASK_MS} ms`, worst(use).toFixed(1));

  /* Nothing happens: nothing is drawn. */
  await p.key('l');
  await sleep(1500);
  const idle = await traced(p, () => sleep(3000)), work = idle.reduce((n, t) => n + t.cpu, 0);
  ok(work < 60 * RATE, 'an open page at rest does nothing', work.toFixed(1));

  /* One that writes fast. */
  const fast = (await api('/v1/runs', {method: 'POST', body: JSON.stringify({prompt: 'As fast as you can.', agent: 'fast'})})).run;
  if (fast) {
    const live = await traced(p, async () => {
      await p.goto(`${BASE}/r/${fast}`);
      await sleep(10000);
    });
    ok(worst(live) <= TASK_MS, `a fast run: no task over ${TASK_MS} ms`, worst(live).toFixed(1));
    const busy = live.reduce((n, t) => n + t.cpu, 0);
    ok(busy < 6000 * RATE, 'a fast run: at most 60% of a processor', busy.toFixed(0));
    ok(await p.run(() => document.getElementsByTagName('*').length) <= NODES, `a fast run: at most ${NODES} elements`);
  } else skip('a fast run', "no agent 'fast'");

  const q = await chrome.page();
  await q.goto(`${BASE}/r/${runs.find((r) => r.prompt.startsWith('Fix'))?.run}#${TOKEN}`);
  await q.there('.item.end');
  const paint = await q.run(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime);
  console.log(`# first paint ${paint?.toFixed(0)} ms (${PAINT_MS} wanted on a quiet machine)`);
} finally {
  await chrome.close();
}
finish();
