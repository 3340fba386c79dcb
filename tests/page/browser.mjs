/* browser.mjs - the page in Chromium, against a server.
 *
 *     PAGE_URL=http://127.0.0.1:8791 PAGE_TOKEN=... node browser.mjs [TEST,...]
 *
 * The server has the runs and the agents of tests/cli/page.sh. PAGE_SHOTS=DIR
 * keeps pictures, PAGE_AXE=FILE is axe.min.js. */
import {readFileSync, existsSync} from 'node:fs';
import {createServer, request} from 'node:http';
import {Chrome, sleep} from './chrome.mjs';
import {ok, is, skip, finish} from './tap.mjs';

const BASE = process.env.PAGE_URL, TOKEN = process.env.PAGE_TOKEN, SHOTS = process.env.PAGE_SHOTS;
if (!BASE || !TOKEN) {
  skip('the page in a browser', 'PAGE_URL and PAGE_TOKEN are not set');
  finish();
  process.exit();
}
const only = process.argv[2]?.split(',');
const api = async (path, options = {}) => {
  const r = await fetch(BASE + path, {...options, headers: {Authorization: 'Bearer ' + TOKEN,
    'Content-Type': 'application/json'}});
  return r.status === 204 ? null : r.json();
};
let runs = []; /* one of them is about to wait for a person */
for (let i = 0; i < 50 && !runs.some((r) => r.status === 'waiting'); i++, await sleep(100))
  runs = (await api('/v1/runs?limit=200')).runs;
const find = (prompt) => runs.find((r) => r.prompt.startsWith(prompt) && !r.child)?.run;
const log = async (id) => (await api(`/v1/runs/${id}/events?format=json&limit=10000`)).events;
const start = async (body) => (await api('/v1/runs', {method: 'POST', body: JSON.stringify(body)})).run;
const chrome = new Chrome();
const all = []; /* every page, for what it said at the end */

async function open(path, options) {
  const p = await chrome.page(options);
  all.push([path, p]);
  await p.goto(BASE + path + (options?.bare ? '' : '#' + TOKEN));
  return p;
}
const runPage = async (id, options, query = '') => {
  const p = await open(`/r/${id}${query}`, options);
  await p.there('.items .item');
  return p;
};
const button = (p, text) => p.run((t) => {
  const b = [...document.querySelectorAll('button')].find((x) => x.textContent.trim() === t && x.checkVisibility());
  b?.focus();
  b?.click();
  return !!b && !b.disabled;
}, text);

/* A server between the page and the server, whose connections can be cut. */
async function between() {
  const to = new URL(BASE), sockets = new Set();
  let server;
  const serve = (port) => new Promise((done) => {
    server = createServer((req, res) => {
      const up = request({host: to.hostname, port: to.port, method: req.method, path: req.url, headers: {...req.headers,
        host: to.host, ...(req.headers.origin ? {origin: BASE} : {})}}, (r) => {
        res.writeHead(r.statusCode, r.headers);
        r.pipe(res);
      });
      up.on('error', () => res.destroy());
      res.on('close', () => up.destroy());
      req.pipe(up);
    });
    server.on('connection', (s) => { sockets.add(s); s.on('close', () => sockets.delete(s)); });
    server.listen(port, '127.0.0.1', () => done(server.address().port));
  });
  const port = await serve(0);
  return {url: `http://127.0.0.1:${port}`, open: () => serve(port), cut() { server.close(); for (const s of sockets) s.destroy(); }};
}

const tests = {
  async token() {
    const p = await open('/', {bare: true});
    await p.there('#token');
    ok(/has no token/.test(await p.text('main')), 'a tab without a token asks for it');
    await p.run(() => document.querySelector('#token').focus());
    await p.type('wrong-token');
    await p.key('Enter');
    ok(await p.until(() => /does not accept/.test(document.querySelector('main').innerText)), 'a wrong token is refused');
    await p.run(() => document.querySelector('#token').focus());
    await p.type(TOKEN);
    await p.key('Enter');
    ok(await p.there('.runs tbody td'), 'a right one opens the page');
    const q = await open('/');
    await q.there('.runs tbody td');
    is(await q.run(() => location.hash), '', 'the token does not stay in the address');
    ok(!(await q.run(() => JSON.stringify(localStorage) + document.cookie)).includes(TOKEN), 'nor anywhere but in this tab');
    const r = await open('/', {bare: true});
    ok(await r.there('.runs tbody td'), 'a new tab asks its siblings');
    const s = await open('/nothing/here', {bare: true});
    ok(!(await s.run(() => !!document.querySelector('#main'))), 'an unknown path is no page');
    s.said.length = 0;
  },

  async list() {
    const p = await open('/');
    await p.there('.runs tbody td');
    const first = await p.text('.runs .group');
    ok(/Waiting for you/.test(first), 'what waits is first', first);
    await p.run(() => { const f = document.querySelector('#filter'); f.focus(); f.value = ''; });
    await p.type('state:failed');
    ok(await p.until(() => { const s = [...document.querySelectorAll('td.state')].map((e) => e.innerText.trim());
      return s.length && s.every((x) => x === 'failed'); }), 'a filter by state');
    is(await p.run(() => new URLSearchParams(location.search).get('q')), 'state:failed', 'the filter is in the address');
    await p.run(() => { const f = document.querySelector('#filter'); f.value = '';
      f.dispatchEvent(new Event('input')); f.blur(); });
    await p.until(() => document.querySelectorAll('td.state').length > 5);
    const id = await start({prompt: 'A new one', agent: 'talker'});
    ok(await p.until(() => { const n = document.querySelector('.news'); return !n.hidden && /new/.test(n.textContent); }),
      'a new run waits behind a button');
    await p.click('.news');
    ok(await p.until((i) => !!document.querySelector(`tr[data-run="${i}"]`), id), 'and comes with it');
    ok(await p.until((i) => /ok/.test(document.querySelector(`tr[data-run="${i}"] td.state`).innerText), id), 'its row is live');
    await p.run(() => document.activeElement.blur());
    await p.key('j');
    await p.key('j');
    await p.key('Enter');
    ok(await p.until(() => location.pathname.startsWith('/r/')), 'j and Enter open a run');
  },

  async stream() {
    const p = await open('/chat');
    await p.there('.agents label');
    await p.run(() => [...document.querySelectorAll('.agents input')].find((i) => i.value === 'talker').click());
    await p.run(() => document.querySelector('#say').focus());
    await p.type('What is six times seven?');
    await p.key('Enter');
    await p.until(() => location.pathname.startsWith('/chat/'));
    const id = await p.run(() => location.pathname.split('/')[2]);
    const sizes = new Set();
    await p.until(() => document.querySelectorAll('.item.model').length > 1);
    for (let i = 0; i < 200 && !(await p.run(() => !!document.querySelector('.item.end'))); i++) {
      sizes.add(await p.run(() => [...document.querySelectorAll('.item.model .md')].at(-1)?.innerText.length ?? 0));
      await sleep(40);
    }
    ok(sizes.size > 2, 'text comes piece by piece', [...sizes].join());
    const end = (await log(id)).findLast((e) => e.type === 'model_end').data.text;
    const whole = await p.run(async (text) => {
      const {Markdown} = await import('/web/md.js'), m = new Markdown();
      m.update(text, true);
      return [m.node.textContent, [...document.querySelectorAll('.item.model .md')].at(-1).textContent];
    }, end);
    is(whole[1], whole[0], 'streamed text is that of the log');
    ok(await p.run(() => !document.querySelector('.latest').checkVisibility()), 'the end was followed');
    await p.run(() => document.querySelector('#say').focus());
    await p.type('And again?');
    await p.key('Enter');
    ok(await p.until((i) => location.pathname.startsWith('/chat/') && !location.pathname.endsWith(i), id), 'a follow-up is a new run');
    await p.there('.item.past .item.user');
    ok(/six times seven/.test(await p.text('.item.past')), 'with the conversation before it');
  },

  async lost() {
    const id = await start({prompt: 'Write it, slowly.', agent: 'asker'});
    const proxy = await between(), p = await chrome.page();
    await p.goto(`${proxy.url}/r/${id}#${TOKEN}`);
    await p.there('.card');
    proxy.cut();
    ok(await p.until(() => !document.querySelector('#lost').hidden), 'lost contact is said');
    ok(await p.run(() => document.querySelectorAll('.item').length > 0), 'and the page stays');
    await api(`/v1/runs/${id}/cancel`, {method: 'POST', body: '{}'});
    await sleep(500);
    await proxy.open();
    ok(await p.there('.item.end'), 'the stream comes back');
    await p.until(() => document.querySelector('#lost').hidden);
    await p.click('#tab-events');
    const n = (await log(id)).length;
    is(await p.until((k) => document.querySelector('.tools .mute')?.textContent === k, `${n} events`), true, 'no event is missing or twice');
    await p.close();
    proxy.cut();
  },

  async approve() {
    const id = await start({prompt: 'Write it.', agent: 'asker'});
    const q = await runPage(id);
    await q.there('.card');
    const p = await runPage(id);
    await p.there('.card');
    const card = await p.text('.card');
    ok(card.includes('rm -rf / # not run'), 'all arguments are shown', card);
    ok(card.includes('U+202E') && card.includes('U+200B'), 'hidden characters are shown');
    await sleep(700);
    is(await p.run(() => document.querySelector('.card .approve').disabled), true, 'Approve waits for the end of the arguments');
    is(await p.run(() => document.querySelector('.card .deny').disabled), false, 'Deny does not');
    await p.run(() => { document.querySelector('.card .args').scrollTop = 1e6; });
    ok(await p.until(() => !document.querySelector('.card .approve').disabled), 'whose end is then seen');
    await q.front();
    await q.run(() => { document.querySelector('.card .args').scrollTop = 1e6; });
    await q.until(() => !document.querySelector('.card .approve').disabled);
    await Promise.all([p.run(() => { const b = document.querySelector('.card .approve'); b.click(); b.click(); }),
      q.run(() => document.querySelector('.card .approve').click())]);
    await p.front();
    ok(await p.until(() => /shell/.test(document.querySelector('.card h2')?.innerText ?? '')), 'the next question comes');
    const answers = (await log(id)).filter((e) => e.type === 'approval_answer');
    is(answers.length, 1, 'two clicks in two tabs are one answer');
    const dead = await p.run(() => document.querySelector('.card .deny').disabled);
    await p.until(() => !document.querySelector('.card .deny').disabled);
    ok(true, `a new card is dead at first (${dead})`);
    const r = await fetch(`${BASE}/v1/runs/${id}/approve`, {method: 'POST', headers: {Authorization: 'Bearer ' + TOKEN,
      'Content-Type': 'application/json'}, body: JSON.stringify({call: (await log(id)).findLast((e) =>
      e.type === 'approval_ask').data.call, args_sha256: '0'.repeat(64), yes: true})});
    is(r.status, 409, 'a stale hash approves nothing');
    await button(p, 'Deny');
    ok(await p.until(() => /denied/.test(document.querySelector('.items').innerText)), 'a denial is shown with its word');
    await p.there('.item.end');
    q.said.length = 0;
  },

  async cancel() {
    const id = await start({prompt: 'Write it, then stop.', agent: 'asker'});
    const p = await runPage(id);
    await p.there('.card');
    await button(p, 'Cancel');
    ok(await p.until(() => /canceled by/.test(document.querySelector('#facts').innerText)), 'a canceled run says who canceled it');
    is(await p.run(() => document.querySelectorAll('.card').length), 0, 'its card is gone');
    ok(await p.run(() => document.title.includes('Write it')), 'the title has the prompt');
  },

  async past() {
    const id = find('Fix the failing'), p = await runPage(id);
    await p.there('.trow');
    const events = await log(id), at = events.find((e) => e.type === 'call_start').seq;
    await p.run((n) => { const s = document.querySelector('.scrub'); s.value = n; s.dispatchEvent(new Event('input')); }, at);
    ok(await p.until((n) => document.querySelector('.as-of')?.innerText.startsWith(`As of event ${n} `), at), 'the slider goes to an event');
    ok(await p.until((n) => new URLSearchParams(location.search).get('at') === String(n), at), 'which is in the address');
    ok(await p.until(() => !document.querySelector('.item.end')), 'what came later is not shown');
    is(await p.run(() => document.querySelector('.composer textarea').disabled), true, 'nothing is said in the past');
    ok(/event \d+ of \d+, call_start/.test(await p.run(() => document.querySelector('.scrub').getAttribute('aria-valuetext'))), 'the slider says where it is');
    await button(p, 'Fork from here');
    await p.there('dialog[open]');
    ok(/events shared; \d+ calls? after it may run again/.test(await p.text('dialog')), 'a fork says what may run again');
    await p.run(() => document.querySelector('#fork-say').focus());
    await p.key('Escape');
    await button(p, 'Back to live');
    ok(await p.until(() => !!document.querySelector('.item.end')), 'and back');
    const q = await runPage(id, {}, `?at=${at}`);
    ok(await q.until((n) => document.querySelector('.as-of')?.innerText.startsWith(`As of event ${n} `), at), 'a link opens the past');
    const f = await runPage(find('Say hello'));
    await button(f, 'Fork');
    await f.there('dialog[open]');
    await f.run(() => [...document.querySelectorAll('dialog button')].find((b) => b.textContent === 'Fork').click());
    ok(await f.until((i) => location.pathname.startsWith('/r/') && !location.pathname.endsWith(i), find('Say hello')) ||
      /\w/.test(await f.text('dialog .why') ?? ''), 'a fork is made, or the reason is said');
  },

  async timeline() {
    const id = find('Write the report and mail'), p = await runPage(id);
    await p.there('.trow');
    ok(await p.until(() => document.querySelector('.trow.chosen')), 'a failed run opens at its cause');
    ok(/auth/.test(await p.text('.inspect-body')), 'which the inspector shows');
    const labels = await p.run(() => [...document.querySelectorAll('.trow')].map((r) => r.getAttribute('aria-label')));
    ok(labels.some((l) => /^call calculator, failed after/.test(l)), 'rows say what they are', labels.join('\n'));
    ok(labels.some((l) => /denied by/.test(l)), 'by whom a call was denied');
    await p.run(() => document.querySelector('.trow').focus());
    await p.key('ArrowDown');
    await p.key('ArrowDown');
    await p.key('Enter');
    ok(await p.until(() => new URLSearchParams(location.search).get('c')), 'arrows and Enter choose a call');
    await p.run(() => document.querySelector('.trow').focus());
    const n = labels.length;
    await p.key('Home');
    await p.key('ArrowLeft');
    ok(await p.until((k) => document.querySelectorAll('.trow').length < k, n), 'left folds');
    await p.key('ArrowRight');
    ok(await p.until((k) => document.querySelectorAll('.trow').length === k, n), 'right unfolds');
    const child = await runPage(find('Delegate'));
    await child.until(() => document.querySelectorAll('.trow').length > 3);
    const was = await child.run(() => document.querySelectorAll('.trow').length);
    await child.run(() => [...document.querySelectorAll('.trow')].find((r) => r.querySelector('.side'))?.querySelector('.twist').click());
    ok(await child.until((k) => document.querySelectorAll('.trow').length > k, was), 'a child unfolds in place');
    await p.key('n');
    await p.key('?');
    ok(await p.there('dialog[open] kbd'), 'a sheet of keys');
    await p.key('Escape');
  },

  async views() {
    const p = await runPage(find('Fix the failing'));
    for (const [tab, want] of [['events', '.events tbody tr'], ['context', '.stack i'], ['numbers', '.plot svg']]) {
      await p.click('#tab-' + tab);
      ok(await p.there(want), `${tab}: something to see`);
    }
    await p.click('#tab-context');
    await p.there('.stack');
    await button(p, 'Show what was sent');
    ok(await p.until(() => document.querySelectorAll('.view .out').length > 1), 'context: what was sent');
    await p.click('#tab-events');
    await p.there('#event-filter');
    await p.run(() => document.querySelector('#event-filter').focus());
    await p.type('call_end');
    ok(await p.until(() => { const t = [...document.querySelectorAll('.events .type')].slice(1).map((e) => e.innerText);
      return t.length && t.every((x) => x === 'call_end'); }), 'events: a filter');
    await p.click('.events tbody a');
    ok(await p.until(() => document.querySelector('.inspect-body .jtree')), 'events: one of them');
    const g = await runPage(find('thirty'), {}, '?v=graph');
    ok(await g.until(() => document.querySelectorAll('.box').length >= 30), 'a plan as boxes');
    const saved = await p.run(async () => {
      let blob;
      const was = URL.createObjectURL;
      URL.createObjectURL = (b) => { blob = b; return was.call(URL, b); };
      [...document.querySelectorAll('#acts button')].find((b) => b.textContent === 'Save').click();
      for (let i = 0; i < 100 && !blob; i++) await new Promise((d) => setTimeout(d, 30));
      URL.createObjectURL = was;
      return blob.text();
    });
    ok(saved.includes('What was wrong') && !/<script/i.test(saved), 'a run is saved as a file without a script');
    const a = find('Try again'), fork = runs.filter((r) => r.prompt === 'Try again.');
    const d = await open(`/diff/${fork.at(-1).run}/${a}`);
    ok(await d.there('.diff .cell .lane'), 'two runs side by side');
    const plan = await open('/plan');
    await plan.there('textarea');
    await plan.run(() => { const t = document.querySelector('textarea'); t.value = ''; t.focus(); });
    await plan.type('wend: plan/1\nname: p\nactions:\n  - {name: a, type: tool, target: calculator, params: {expression: "1"}}\n' +
      '  - {name: b, type: tool, target: calculator, depends_on: [a], params: {expression: "2"}}\n');
    ok(await plan.until(() => document.querySelectorAll('.box').length === 2), 'a plan is drawn');
    await plan.run(() => { const t = document.querySelector('textarea'); t.value += '  - {nam: x}\n'; t.dispatchEvent(new Event('input')); });
    ok(await plan.until(() => /^\d+:\d+: /.test(document.querySelector('.errors li')?.innerText ?? '')), 'a mistake has its line and column');
  },

  /* In each field: text that wants to be more than text. */
  async hostile() {
    const id = runs.find((r) => r.prompt.includes('<script>alert(1)'))?.run;
    const p = await runPage(id);
    await p.there('.trow');
    for (const tab of ['graph', 'context', 'numbers', 'events', 'time']) {
      await p.click('#tab-' + tab);
      await sleep(150);
    }
    await p.run(() => { for (const d of document.querySelectorAll('details')) d.open = true; });
    for (const b of ['In', 'Out', 'Raw']) {
      await p.run(() => document.querySelector('.trow:nth-child(3)')?.click());
      await p.run((t) => [...document.querySelectorAll('.inspector .tab')].find((x) => x.textContent === t).click(), b);
      await sleep(60);
    }
    is(await p.run(() => [document.querySelectorAll('main img, main iframe, main script, main object, main style').length,
      [...document.querySelectorAll('main a[href]')].filter((a) => !/^(https?:|mailto:)/.test(a.href)).length]), [0, 0], 'no element of theirs');
    ok(!/\u202e/.test(await p.run(() => document.body.innerText)), 'nothing reorders');
    ok(await p.run(() => document.documentElement.scrollWidth <= innerWidth), 'nothing is wider than the window');
    const q = await open('/');
    await q.there('.runs tbody td');
    ok(await q.run(() => ![...document.querySelectorAll('.runs a')].some((a) => !a.href.startsWith(location.origin))), 'links stay here');
    /* A line of a megabyte, and Markdown of all kinds. */
    const took = await p.run(async () => {
      const {Markdown} = await import('/web/md.js'), {put, el} = await import('/web/text.js');
      const host = el('div'), t = performance.now();
      document.querySelector('.items').append(host);
      put(host, 'x'.repeat(1 << 20));
      const bad = ['[a](javascript:alert(1))', '![a](http://127.0.0.1:9/x.png)', '<img src=x onerror=alert(1)>', '[a](data:text/html,x)',
        '[a]( javascript:alert(1))', '<a href="javascript:x">', '[a](//127.0.0.1:9/)', '[x](vbscript:a)', '`<b>`', '|<b>|a|\n|-|-|\n|<i>|b|'];
      const m = new Markdown();
      m.update(bad.join('\n\n'), true);
      host.append(m.node);
      const links = [...m.node.querySelectorAll('a')].map((a) => a.href);
      const tags = [...new Set([...m.node.querySelectorAll('*')].map((e) => e.localName))].sort().join();
      host.remove();
      return {ms: performance.now() - t, links, tags};
    });
    ok(took.ms < 1500, 'a line of a megabyte', took.ms);
    is(took.links, [], 'no link but http, https and mailto');
    is(took.tags, 'code,div,p,span,table,tbody,td,th,thead,tr', 'no tag but our own');
  },

  async tabs() {
    const id = await start({prompt: 'Seven tabs?', agent: 'talker'});
    const pages = [];
    for (let i = 0; i < 8; i++) pages.push(await open(i ? `/r/${id}` : '/'));
    const ends = [];
    for (const p of pages.slice(1)) { /* a tab behind others is not drawn */
      await p.front();
      ends.push(await p.there('.item.end'));
    }
    is(ends.filter(Boolean).length, 7, 'seven tabs of one run all come to its end');
    const feeds = pages.reduce((n, p) => n + p.fetched.filter((u) => u.endsWith('/v1/feed')).length, 0);
    ok(feeds <= 2, 'one of them holds the feed', feeds);
    for (const p of pages) await p.close();
  },

  /* Widths, themes, contrast, names. */
  async looks() {
    const waits = runs.find((r) => r.status === 'waiting')?.run;
    const paths = [['runs', '/'], ['run', `/r/${find('Fix the failing')}`], ['failed', `/r/${find('Write the report and mail')}`],
      ['waits', `/r/${waits}`], ['plan', `/r/${find('research')}?v=graph`], ['chat', '/chat'], ['write', '/plan'],
      ['events', `/r/${find('Fix the failing')}?v=events`]];
    const axe = process.env.PAGE_AXE && existsSync(process.env.PAGE_AXE) ? readFileSync(process.env.PAGE_AXE, 'utf8') : null;
    if (!axe) skip('axe-core', 'PAGE_AXE is not set');
    for (const [name, path] of paths) for (const [kind, o] of [['light', {}], ['dark', {scheme: 'dark'}],
      ['phone', {width: 390, height: 844, phone: true}], ['narrow', {width: 320, height: 700}]]) {
      const p = await open(path, o);
      await p.there('h1');
      await p.there('main > *');
      await sleep(450);
      const wrong = await p.run(LOOK);
      is(wrong, [], `${name}, ${kind}: fits and can be read`);
      if (SHOTS) await p.shot(`${SHOTS}/${name}-${kind}.png`);
      if (axe && kind !== 'narrow') {
        await p.ask('Runtime.evaluate', {expression: axe});
        const bad = await p.run(async () => (await axe.run(document, {rules: {'region': {enabled: false}}})).violations
          .map((v) => `${v.id}: ${v.nodes[0].target.join(' ')} ${v.nodes[0].failureSummary.slice(0, 200)}`));
        is(bad, [], `${name}, ${kind}: axe-core`);
      }
      await p.close();
    }
    const p = await runPage(find('Fix the failing'));
    await p.media({'forced-colors': 'active', 'prefers-reduced-motion': 'reduce'});
    await sleep(200);
    is(await p.run(() => document.getAnimations().length), 0, 'nothing moves');
    await p.run(() => document.documentElement.style.setProperty('font-size', '200%'));
    await sleep(200);
    ok(await p.run(() => document.documentElement.scrollWidth <= innerWidth), 'text of twice the size fits');
    await p.run(() => document.documentElement.setAttribute('dir', 'rtl'));
    await sleep(100);
    ok(await p.run(() => document.documentElement.scrollWidth <= innerWidth), 'from right to left, too');
  },
};

/* Runs in the page: what is too wide, too pale, or has no name. */
function LOOK() {
  const wrong = [];
  if (document.documentElement.scrollWidth > innerWidth) {
    const wide = [...document.querySelectorAll('body *')].find((e) => e.getBoundingClientRect().right > innerWidth + 1 &&
      !e.closest('.pic,.wide,.out,.code,.time-view'));
    wrong.push('too wide: ' + (wide?.className || wide?.localName));
  }
  const rgb = (t) => { const n = t.match(/[\d.]+/g).map(Number); return t.startsWith('color(srgb') ?
    [n[0] * 255, n[1] * 255, n[2] * 255, n[3] ?? 1] : [n[0], n[1], n[2], n[3] ?? 1]; };
  const lum = (c) => { const f = (v) => (v /= 255) <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4;
    return .2126 * f(c[0]) + .7152 * f(c[1]) + .0722 * f(c[2]); };
  const ground = (e) => {
    let top = null;
    for (; e; e = e.parentElement) {
      const c = rgb(getComputedStyle(e).backgroundColor);
      if (c[3] === 1) return top ? c.map((v, i) => v * (1 - top[3]) + top[i] * top[3]) : c;
      if (c[3] > 0 && !top) top = c;
    }
    return [255, 255, 255, 1];
  };
  const seen = new Set(), walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let n = walk.nextNode(); n; n = walk.nextNode()) {
    const e = n.parentElement;
    if (!n.data.trim() || !e.checkVisibility() || e.closest('svg,.sr,.skip,:disabled,noscript')) continue;
    const ink = rgb(getComputedStyle(e).color), on = ground(e), key = ink + '/' + on;
    if (seen.has(key)) continue;
    seen.add(key);
    const [a, b] = [lum(ink), lum(on)].sort((x, y) => y - x);
    if ((a + .05) / (b + .05) < 4.5) wrong.push(`contrast ${((a + .05) / (b + .05)).toFixed(2)}: ${n.data.trim().slice(0, 30)}`);
  }
  if (!seen.size) wrong.push('no text');
  for (const e of document.querySelectorAll('button,input,textarea,a[href]'))
    if (e.checkVisibility() && !(e.textContent.trim() || e.getAttribute('aria-label') || e.labels?.length || e.title))
      wrong.push('no name: ' + (e.className || e.localName));
  if (innerWidth < 700) for (const e of document.querySelectorAll('.buttons button,.composer button,.tabs:not(.small) .tab'))
    if (e.checkVisibility() && e.getBoundingClientRect().height < 36) wrong.push('too low for a finger: ' + e.textContent);
  const prompt = document.querySelector('td.prompt');
  if (prompt && prompt.offsetWidth < innerWidth * 0.35) wrong.push('no room for the prompt');
  const ids = [...document.querySelectorAll('[id]')].map((e) => e.id);
  if (new Set(ids).size !== ids.length) wrong.push('an id twice');
  return wrong.slice(0, 5);
}

try {
  for (const name in tests) if (!only || only.includes(name)) {
    try {
      await tests[name]();
    } catch (e) {
      ok(false, name, e.stack);
    }
  }
  const said = all.flatMap(([path, p]) => p.said.map((s) => `${path}: ${s}`));
  is(said.slice(0, 5), [], 'nothing on the console, no report of the policy');
  const away = all.flatMap(([, p]) => p.fetched).filter((u) => !u.startsWith(BASE) && !/^(blob|data|about):/.test(u));
  is([...new Set(away)], [], 'nothing is fetched from elsewhere');
} finally {
  await chrome.close();
}
finish();
