/* chrome.mjs - drives headless Chromium over a pipe (DevTools protocol), so that
 * no port is open and nothing has to be installed. */
import {spawn} from 'node:child_process';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';

export const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

export class Chrome {
  constructor() {
    this.profile = mkdtempSync(join(tmpdir(), 'page-'));
    this.process = spawn('chromium', ['--headless', '--no-sandbox', '--disable-gpu',
      '--disable-dev-shm-usage', '--no-first-run', '--hide-scrollbars',
      '--disable-background-networking', '--disable-component-update',
      '--proxy-server=127.0.0.1:9', '--proxy-bypass-list=127.0.0.1',
      '--enable-precise-memory-info', '--remote-debugging-pipe',
      '--user-data-dir=' + this.profile, 'about:blank'],
    {stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe']});
    this.number = 0;
    this.asked = new Map();
    this.pages = new Map();
    let rest = [];
    this.process.stdio[4].on('data', (d) => {
      for (let at; (at = d.indexOf(0)) >= 0; d = d.subarray(at + 1)) {
        rest.push(d.subarray(0, at));
        this.got(JSON.parse(Buffer.concat(rest).toString()));
        rest = [];
      }
      rest.push(d);
    });
    this.process.on('exit', () => {
      for (const {fail} of this.asked.values()) fail(new Error('chromium ended'));
    });
  }

  got(m) {
    if (m.id) {
      const {done, fail} = this.asked.get(m.id);
      this.asked.delete(m.id);
      if (m.error) fail(new Error(m.error.message));
      else done(m.result);
    } else this.pages.get(m.sessionId)?.event(m.method, m.params);
  }

  ask(method, params = {}, sessionId) {
    const id = ++this.number;
    return new Promise((done, fail) => {
      this.asked.set(id, {done, fail});
      this.process.stdio[3].write(JSON.stringify({id, method, params, sessionId}) + '\0');
    });
  }

  async page({width = 1400, height = 900, scheme = 'light', phone = false} = {}) {
    const {targetId} = await this.ask('Target.createTarget', {url: 'about:blank'});
    const {sessionId} = await this.ask('Target.attachToTarget', {targetId, flatten: true});
    const page = new Page(this, sessionId, targetId);
    this.pages.set(sessionId, page);
    for (const d of ['Page', 'Runtime', 'Log', 'Network']) await page.ask(d + '.enable');
    await page.size(width, height, phone);
    await page.media({'prefers-color-scheme': scheme});
    return page;
  }

  async close() {
    const gone = new Promise((done) => this.process.on('exit', done));
    this.ask('Browser.close').catch(() => {});
    await Promise.race([gone, sleep(5000)]);
    if (this.process.exitCode === null) this.process.kill('SIGKILL');
    rmSync(this.profile, {recursive: true, force: true, maxRetries: 5});
  }
}

export class Page {
  constructor(chrome, session, target) {
    Object.assign(this, {chrome, session, target, said: [], fetched: [], waits: []});
  }

  ask(method, params) { return this.chrome.ask(method, params, this.session); }

  event(method, p) {
    this.waits = this.waits.filter((w) => !(w.method === method && (w.done(p), true)));
    if (method === 'Log.entryAdded' && !/^Failed to load resource/.test(p.entry.text))
      this.said.push(p.entry.text);
    else if (method === 'Runtime.exceptionThrown') this.said.push('exception: ' +
      (p.exceptionDetails.exception?.description ?? p.exceptionDetails.text));
    else if (method === 'Runtime.consoleAPICalled' && ['error', 'warning'].includes(p.type))
      this.said.push(p.args.map((a) => a.value ?? a.description).join(' '));
    else if (method === 'Network.requestWillBeSent') this.fetched.push(p.request.url);
    this.on?.(method, p);
  }

  once(method) { return new Promise((done) => this.waits.push({method, done})); }

  async goto(url) {
    const loaded = this.once('Page.loadEventFired');
    await this.ask('Page.navigate', {url});
    await loaded;
  }

  /* A function of the page, with its arguments. */
  async run(f, ...args) {
    const r = await this.ask('Runtime.evaluate', {awaitPromise: true, returnByValue: true,
      userGesture: true, expression: `(${f})(${args.map((a) => JSON.stringify(a)).join()})`});
    if (r.exceptionDetails) throw new Error(r.exceptionDetails.exception?.description ??
      r.exceptionDetails.text);
    return r.result.value;
  }

  /* Until the function gives something; its last value, or undefined. */
  async until(f, ...args) {
    const end = Date.now() + 12000;
    for (;;) {
      const v = await this.run(f, ...args).catch(() => undefined);
      if (v || Date.now() > end) return v || undefined;
      await sleep(40);
    }
  }

  there(selector) { return this.until((s) => !!document.querySelector(s), selector); }
  text(selector) { return this.run((s) => document.querySelector(s)?.innerText ?? null, selector); }

  async click(selector) {
    const at = await this.run((s) => {
      const e = document.querySelector(s);
      e.scrollIntoView({block: 'nearest'});
      const r = e.getBoundingClientRect();
      return [r.left + r.width / 2, r.top + r.height / 2];
    }, selector);
    await this.mouse('mousePressed', ...at);
    await this.mouse('mouseReleased', ...at);
  }

  mouse(type, x, y, more) {
    return this.ask('Input.dispatchMouseEvent', {type, x, y, button: 'left', buttons: 1,
      clickCount: 1, ...more});
  }

  async key(key, modifiers = 0) {
    const codes = {Enter: 13, Tab: 9, Escape: 27, ArrowDown: 40, ArrowUp: 38, ArrowLeft: 37,
      ArrowRight: 39, Home: 36, End: 35, ' ': 32};
    const text = key.length === 1 ? key : key === 'Enter' ? '\r' : undefined;
    const k = {key, modifiers, windowsVirtualKeyCode: codes[key] ?? key.toUpperCase().charCodeAt(0)};
    await this.ask('Input.dispatchKeyEvent', {type: text ? 'keyDown' : 'rawKeyDown', text, ...k});
    await this.ask('Input.dispatchKeyEvent', {type: 'keyUp', ...k});
  }

  type(text) { return this.ask('Input.insertText', {text}); }

  size(width, height, phone = false) {
    return this.ask('Emulation.setDeviceMetricsOverride', {width, height,
      deviceScaleFactor: 1, mobile: phone});
  }

  media(features) {
    return this.ask('Emulation.setEmulatedMedia', {features: Object.entries(features)
      .map(([name, value]) => ({name, value}))});
  }

  async shot(path) {
    const {data} = await this.ask('Page.captureScreenshot');
    writeFileSync(path, Buffer.from(data, 'base64'));
  }

  front() { return this.ask('Page.bringToFront'); }
  close() { return this.chrome.ask('Target.closeTarget', {targetId: this.target}); }
}
