#!/usr/bin/env python3
"""browser.py - looks at pages in headless Chromium and says what is wrong.

    browser.py [--shots DIR] PAGE...

Each page is opened at 1200 and at 400 pixels, light and dark, with all its
details closed and then open. It prints a line for each look: `ok NAME` or
`not ok NAME: WHY`. Chromium is driven through a pipe (fd 3 and 4), so that no
port is open.
"""
import base64
import json
import os
import subprocess
import sys
import tempfile

LOOK = r"""
(() => {
  const wrong = [];
  const say = (what, e) => wrong.push(what + ': ' +
      (e.outerHTML || '').slice(0, 120));
  const wide = document.documentElement.scrollWidth;
  if (wide > innerWidth) {
    wrong.push('the page is ' + wide + ' pixels wide');
    for (const e of document.querySelectorAll('body *'))
      if (e.getBoundingClientRect().right > innerWidth + 1 &&
          !e.closest('.pic') && !e.closest('svg')) { say('too wide', e); break; }
  }
  const rgb = (text) => {
    const n = text.match(/[\d.]+/g).map(Number);
    return {r: n[0], g: n[1], b: n[2], a: n.length > 3 ? n[3] : 1};
  };
  const luminance = (c) => {
    const f = (v) => (v /= 255) <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4;
    return .2126 * f(c.r) + .7152 * f(c.g) + .0722 * f(c.b);
  };
  const ratio = (x, y) => {
    const [a, b] = [luminance(x), luminance(y)].sort((p, q) => q - p);
    return (a + .05) / (b + .05);
  };
  const ground = (e) => {
    for (; e; e = e.parentElement) {
      const c = rgb(getComputedStyle(e).backgroundColor);
      if (c.a === 1) return c;
    }
    return {r: 255, g: 255, b: 255};
  };
  const seen = new Set();
  let texts = 0;
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let n = walk.nextNode(); n; n = walk.nextNode()) {
    const e = n.parentElement;
    if (!n.data.trim() || !e.checkVisibility() || e.closest('defs,title')) continue;
    const s = getComputedStyle(e), svg = e.closest('svg');
    let on = ground(e), ink = rgb(svg ? s.fill : s.color);
    const before = e.previousElementSibling;
    if (svg && svg.classList.contains('b')) {
      let rect = before;
      while (rect && rect.tagName !== 'rect') rect = rect.previousElementSibling;
      if (rect) on = rgb(getComputedStyle(rect).fill);
    } else if (e.closest('g')) {
      const rect = e.closest('g').querySelector('rect');
      if (rect) on = rgb(getComputedStyle(rect).fill);
    }
    texts++;
    const key = JSON.stringify([ink, on]);
    if (seen.has(key)) continue;
    seen.add(key);
    if (ratio(ink, on) < 4.5)
      say('contrast ' + ratio(ink, on).toFixed(2), e);
  }
  if (!texts) wrong.push('there is no text');
  // No word that fits a line is broken.
  const range = document.createRange(), few = document.createTreeWalker(
      document.body, NodeFilter.SHOW_TEXT);
  let n = few.nextNode();
  for (let i = 0; n && i < 1500; n = few.nextNode(), i++) {
    const e = n.parentElement;
    if (!e.checkVisibility() || e.closest('svg,pre,code,.id,.text')) continue;
    for (const word of n.data.matchAll(/[A-Za-z0-9]{2,16}/g)) {
      range.setStart(n, word.index);
      range.setEnd(n, word.index + word[0].length);
      const lines = new Set([...range.getClientRects()].map((r) => r.top));
      if (lines.size > 1) { say('broken word ' + word[0], e); break; }
    }
  }
  // Texts of a picture are beside each other, and inside of it or of their box.
  const crosses = (x, y) => x.left < y.right - 1 && y.left < x.right - 1 &&
      x.top < y.bottom - 1 && y.top < x.bottom - 1;
  for (const svg of document.querySelectorAll('.pic svg.fit'))
    if (innerWidth >= 1100 && svg.getBoundingClientRect().right >
        svg.parentElement.getBoundingClientRect().right)
      say('leaves its frame', svg);
  for (const svg of document.querySelectorAll('svg.axis,.pic svg')) {
    const all = [...svg.querySelectorAll('text')].slice(0, 200);
    const rects = all.map((e) => e.getBoundingClientRect());
    for (let i = 0; i < all.length; i++) {
      const g = all[i].closest('g');
      const frame = (g && g.querySelector('rect') || svg).getBoundingClientRect();
      if (rects[i].width && (rects[i].left < frame.left - 1 ||
                             rects[i].right > frame.right + 1))
        say('out of its frame', all[i]);
      for (let k = i + 1; k < all.length; k++)
        if (crosses(rects[i], rects[k])) say('covers another text', all[k]);
    }
  }
  for (const e of document.querySelectorAll('a[href^="#"]'))
    if (!document.getElementById(e.getAttribute('href').slice(1)))
      say('link to nothing', e);
  if (document.querySelector('script,[style],[onclick],iframe,object,' +
                             'img:not([src^="data:"])'))
    wrong.push('an element that no page has');
  const ids = [...document.querySelectorAll('[id]')].map((e) => e.id);
  if (new Set(ids).size !== ids.length) wrong.push('an id twice');
  return wrong.slice(0, 5).join(' | ');
})()
"""


class Browser:
    def __init__(self):
        self.profile = tempfile.mkdtemp()
        to_read, to_write = os.pipe()
        from_read, from_write = os.pipe()

        def setup():
            os.dup2(to_read, 3, inheritable=True)
            os.dup2(from_write, 4, inheritable=True)

        # Descriptors that setup replaces must not be 3 and 4 themselves.
        to_read, from_write = (os.dup(fd) if fd < 5 else fd
                               for fd in (to_read, from_write))
        self.process = subprocess.Popen(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
             "--disable-background-networking", "--disable-component-update",
             "--proxy-server=127.0.0.1:9", "--remote-debugging-pipe",
             "--user-data-dir=" + self.profile, "about:blank"],
            preexec_fn=setup, close_fds=False,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(from_write)
        self.out = os.fdopen(to_write, "wb", 0)
        self.inp = os.fdopen(from_read, "rb", 0)
        self.rest = b""
        self.number = 0
        self.events = []
        target = self.ask("Target.createTarget", {"url": "about:blank"}, None)
        self.session = self.ask("Target.attachToTarget",
                                {"targetId": target["targetId"],
                                 "flatten": True}, None)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(domain + ".enable")

    def message(self):
        while b"\0" not in self.rest:
            more = os.read(self.inp.fileno(), 1 << 20)
            if not more:
                raise EOFError("chromium ended")
            self.rest += more
        one, self.rest = self.rest.split(b"\0", 1)
        return json.loads(one)

    def ask(self, method, params=None, session=""):
        self.number += 1
        number = self.number
        ask = {"id": number, "method": method, "params": params or {}}
        if session is not None:
            ask["sessionId"] = self.session
        self.out.write(json.dumps(ask).encode() + b"\0")
        while True:
            got = self.message()
            if got.get("id") == number:
                if "error" in got:
                    raise RuntimeError(got["error"]["message"])
                return got["result"]
            self.events.append(got)

    def open(self, path):
        self.events = []
        self.ask("Page.navigate", {"url": "file://" + os.path.realpath(path)})
        while not any(e.get("method") == "Page.loadEventFired"
                      for e in self.events):
            self.events.append(self.message())

    def value(self, text):
        got = self.ask("Runtime.evaluate", {"expression": text,
                                            "returnByValue": True})
        if "exceptionDetails" in got:
            raise RuntimeError(json.dumps(got["exceptionDetails"])[:500])
        return got["result"].get("value")

    def complaints(self):
        """What the console said, and what was fetched besides the page."""
        for e in self.events:
            method, params = e.get("method"), e.get("params", {})
            if method == "Log.entryAdded":
                yield "console: " + params["entry"]["text"]
            elif method in ("Runtime.consoleAPICalled",
                            "Runtime.exceptionThrown"):
                yield "console: " + method
            elif method == "Network.requestWillBeSent" and (
                    params["request"]["url"] != params["documentURL"] and
                    not params["request"]["url"].startswith("data:")):
                yield "fetched " + params["request"]["url"][:200]

    def shoot(self, path):
        size = self.ask("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"],
                "height": min(size["height"], 4000), "scale": 1}
        data = self.ask("Page.captureScreenshot",
                        {"clip": clip, "captureBeyondViewport": True})["data"]
        with open(path, "wb") as f:
            f.write(base64.b64decode(data))

    def close(self):
        self.ask("Browser.close", session=None)
        self.process.wait(30)
        subprocess.run(["rm", "-rf", self.profile], check=False)


def main(args):
    shots = None
    if args[:1] == ["--shots"]:
        shots, args = args[1], args[2:]
    browser = Browser()
    for page in args:
        for width in (1200, 400):
            for scheme in ("light", "dark"):
                name = "%s %s %d" % (os.path.basename(page)[:-5], scheme, width)
                browser.ask("Emulation.setDeviceMetricsOverride",
                            {"width": width, "height": 900,
                             "deviceScaleFactor": 1, "mobile": width < 700})
                browser.ask("Emulation.setEmulatedMedia", {"features": [
                    {"name": "prefers-color-scheme", "value": scheme}]})
                browser.open(page)
                wrong = [browser.value(LOOK)]
                if shots:
                    browser.shoot("%s/%s.png" % (shots, name.replace(" ", "-")))
                browser.value("document.querySelectorAll('details')"
                              ".forEach((d, i) => d.open = i < 300), 0")
                wrong.append(browser.value(LOOK))
                if shots:
                    browser.shoot("%s/%s-open.png" %
                                  (shots, name.replace(" ", "-")))
                wrong.extend(browser.complaints())
                wrong = " | ".join(w for w in wrong if w)
                print("not ok %s: %s" % (name, wrong) if wrong else
                      "ok " + name, flush=True)
    browser.close()


main(sys.argv[1:])
