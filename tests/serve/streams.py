"""streams.py - events of runs and the feed, for fast, slow and late readers."""
import json
import os
import re
import resource
import subprocess
import threading
import time

from lib import (Client, Server, Stream, WEND, finish, in_threads, kept,
                 log_lines, ok, same, script, soon)

READERS = int(os.environ.get("SERVE_READERS", "1000"))
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))

model = script(
    {"when": "tick", "text": "one two three four five six seven eight nine "
     "ten eleven twelve", "delay": "40ms", "repeat": "forever"},
    {"when": "much", "text": "0123456789abcdef" * 330000, "chunk": 1000,
     "first_delay": "700ms", "calls": [{"name": "calculator", "args": {
         "expression": "1+1"}}]},
    {"when": "sum", "text": "Let me see.", "calls": [{"name": "calculator",
     "args": {"expression": "6*7"}}], "repeat": "forever"},
    {"when": "42", "text": "It is 42."},
    {"when": "wait", "first_delay": "60s", "text": "x", "repeat": "forever"},
    {"text": "0123456789abcdef" * 2000, "chunk": 500, "delay": "1ms",
     "repeat": "forever"})
s = Server(model=model)


def kept_in_log(run):
    return [e["seq"] for e in map(json.loads, log_lines(run)) if "n" not in e]


def native(events):
    return [e.data for e in events if e.name == "message"]


# ---- A run that is over ------------------------------------------------------

run = s.run("sum")
s.until(run, "ok")
lines = log_lines(run, "--deltas")
last = json.loads(lines[-1])["seq"]
stream = s.events(run)
same(stream.head.headers.get("content-type"), "text/event-stream",
     "a stream has its type")
got = list(stream)
same(native(got), lines, "the events are those of the log, byte by byte")
same(kept(got), list(range(1, last + 1)), "ids are those of kept events")
ok(all((e.id is None) == ('"n":' in e.data[:100]) for e in got),
   "deltas have no id")
plain = [json.loads(line) for line in lines]


def after(seq, n=0):
    return [json.dumps(e) for e in plain
            if (e["seq"], e.get("n", 0)) > (seq, n)]


def as_json(events):
    return [json.dumps(e.json) for e in events]


for seq in (1, 3, last - 1):
    for name, path, headers in [
            ("Last-Event-ID", "", {"Last-Event-ID": str(seq)}),
            ("lastEventId", f"?lastEventId={seq}", {})]:
        got = list(s.events(run, path, headers=headers))
        same(as_json(got), after(seq), f"{name}: {seq}")
for first in (0, 1, 2, last):
    got = list(s.events(run, f"?from={first}"))
    same(kept(got), list(range(max(first, 1), last + 1)), f"from={first}")
got = list(s.events(run, "?from=2", headers={"Last-Event-ID": "4"}))
same(kept(got)[:1], [5], "Last-Event-ID counts more than from")
for path, headers in [(f"?from={last + 1}", {}), (f"?lastEventId={last}", {}),
                      ("", {"Last-Event-ID": str(last)}),
                      ("", {"Last-Event-ID": "999999999"})]:
    a = s.ask("GET", f"/v1/runs/{run}/events{path}", headers=headers)
    same(a.status, 204, f"all was delivered: 204 {path}{headers}")
for path, headers, field in [
        ("?from=x", {}, "from"), ("?from=-1", {}, "from"),
        ("?lastEventId=x", {}, "Last-Event-ID"),
        ("?lastEventId=-3", {}, "Last-Event-ID"),
        ("", {"Last-Event-ID": "1e3"}, "Last-Event-ID"),
        ("?dialect=nonsense", {}, "dialect"), ("?form=1", {}, "form"),
        ("?limit=0&format=json", {}, "limit"),
        ("?limit=99999&format=json", {}, "limit")]:
    a = s.ask("GET", f"/v1/runs/{run}/events{path}", headers=headers)
    same(a.problem(), (400, "query", field), f"refused: {path}{headers}")

# Pages of kept events.
for headers, path in [({"Accept": "application/json"}, "?limit=3"),
                      ({}, "?limit=3&format=json")]:
    at, pages = 1, []
    while at:
        a = s.ask("GET", f"/v1/runs/{run}/events{path}&from={at}",
                  headers=headers)
        pages += a.json["events"]
        at = a.json["next"]
    same(pages, [e for e in plain if "n" not in e], f"pages {path}{headers}")

# ---- Dialects ------------------------------------------------------------------

for dialect in ("loom", "agio", "cortex"):
    stream = s.events(run, f"?dialect={dialect}")
    got = [json.dumps(e.json) for e in stream]
    wanted = subprocess.run(
        [WEND, "log", "--events", dialect, run], text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if wanted.returncode:
        wanted = subprocess.run([WEND, "log", "--json", "--deltas", "--events",
                                 dialect, run], text=True,
                                stdout=subprocess.PIPE)
    wanted = [json.dumps(json.loads(line))
              for line in wanted.stdout.splitlines()]
    ok(got and got == wanted, f"dialect {dialect}", got[:3], wanted[:3])

# ---- Live ---------------------------------------------------------------------

run = s.run("tick")
early = s.events(run)
got = in_threads(5, lambda i: (time.sleep(i * 0.12), list(s.events(run)))[1])
lines = log_lines(run, "--deltas")
same(native(list(early)), lines, "an early reader sees all of it, once")
for i, events in enumerate(got):
    same([d for d in native(events)], lines, f"reader {i}, later, too")
run = s.run("tick")
first = s.events(run)
seen = []
for e in first:
    seen.append(e)
    if len(seen) == 7:
        break
first.close()
rest = list(s.events(run, headers={"Last-Event-ID": str(kept(seen)[-1])}))
same(kept(seen) + kept(rest), kept_in_log(run),
     "a reader that comes back misses no kept event and sees none twice")

# ---- Many ------------------------------------------------------------------------

run = s.run("tick")
streams = [s.events(run) for _ in range(READERS)]
begun = time.monotonic()
wrong = []
for i, stream in enumerate(streams):
    try:
        got = list(stream)
        if kept(got) != list(range(1, len(kept(got)) + 1)) or \
                '"run_end"' not in got[-1].data:
            wrong.append((i, kept(got)))
    except Exception as e:
        wrong.append((i, e))
    stream.close()
same(wrong[:3], [], f"{READERS} readers get every kept event once, in order")

# ---- Slow ------------------------------------------------------------------------

before = s.rss_kb()
run = s.run("much")
slow = [Stream(s, f"/v1/runs/{run}/events", receive_bytes=4096)
        for _ in range(2)]
fast = s.events(run)
begun = time.monotonic()
count = len(list(fast))
took = time.monotonic() - begun
ok(s.until(run, "ok"), "slow readers do not stop a run")
time.sleep(0.2)
grown = s.rss_kb() - before
ok(grown < 30000, "nor take much memory", grown)
lines = log_lines(run, "--deltas")
results = in_threads(len(slow), lambda i: list(slow[i]))
bad, lagged = [], 0
for got in results:
    if isinstance(got, Exception):
        bad.append(got)
        continue
    lagged += any(e.name == "lagged" for e in got)
    places = [(e.json["seq"], e.json.get("n", 0)) for e in got
              if e.name == "message"]
    if places != sorted(set(places)):
        bad.append("out of order or twice")
    if kept(got) != list(range(1, json.loads(lines[-1])["seq"] + 1)):
        bad.append(kept(got))
    if native(got) != lines:
        bad.append(f"{len(native(got))} of {len(lines)}")
same(bad[:3], [], "slow readers catch up without a gap or a repeat")
ok(lagged, "and are told that they lag", lagged)

# A long log and a fast reader: others have their turn.
quick = []
stop = threading.Event()


def read_all():
    while not stop.is_set():
        list(s.events(run))


readers = [threading.Thread(target=read_all) for _ in range(2)]
for t in readers:
    t.start()
for _ in range(10):
    begun = time.monotonic()
    s.ask("GET", "/healthz")
    quick.append(time.monotonic() - begun)
stop.set()
for t in readers:
    t.join()
ok(sorted(quick)[5] < 0.5, "readers of a long log leave room for others",
   quick)

# ---- The feed ---------------------------------------------------------------------

held = s.run("wait")
feed = Stream(s, "/v1/feed")
first = []
for e in feed:
    first.append(e)
    if e.name == "ready":
        break
same([e.json["run"] for e in first if e.name == "run"], [held],
     "the feed begins with what is in progress")
run = s.run("sum")
states = []
for e in feed:
    if e.name == "run" and e.json["run"] == run:
        states.append(e.json["status"])
        if e.json["status"] == "ok":
            break
ok(states[0] == "running" and states[-1] == "ok", "and tells what changes",
   states)
p = subprocess.run([WEND, "run", "-m", model, "tick"],
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
found = None
for e in feed:
    if e.name == "run" and e.json["run"] not in (run, held):
        found = e.json
        if found["status"] == "ok":
            break
ok(found, "also of runs of other processes", found)
# Nothing changes now: nothing is said again and again.
in_threads(10, lambda i: [s.run("tock") for _ in range(7)])
soon(lambda: s.ask("GET", "/v1/runs?status=running").json["runs"][0]["run"] ==
     held)
time.sleep(1.2)
feed.client.sock.settimeout(0.1)
try:
    for e in feed:
        pass
except TimeoutError:
    pass
feed.client.sock.settimeout(1.6)
again = []
try:
    for e in feed:
        again.append(e.data)
except TimeoutError:
    pass
same(again[:3], [], "rows that do not change are not repeated")
feed.close()
s.ask("POST", f"/v1/runs/{held}/cancel", {})
ok(s.until(held, "canceled"), "a feed whose reader left is forgotten")

# A stream of a run in another process.
p = subprocess.Popen([WEND, "run", "-m", model, "tick"],
                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
rows = soon(lambda: s.ask("GET", "/v1/runs?status=running").json["runs"])
other = rows[0]["run"]
got = list(s.events(other))
p.wait()
same(kept(got), kept_in_log(other),
     "events of a run in another process")

same(s.end(), 143, "it ends as it should")
finish()
