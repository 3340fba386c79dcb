"""badinput.py - each route says what is wrong with a request, and where."""
import json
import os
import random

from lib import Server, finish, in_threads, ok, same, script

MUTATIONS = int(os.environ.get("SERVE_MUTATIONS", "400"))
random.seed(int(os.environ.get("SERVE_SEED", "15")))
s = Server(model=script({"when": "hold", "first_delay": "60s", "text": "x",
                         "repeat": "forever"},
                        {"text": "Hello.", "repeat": "forever"}))
run = s.run()
s.until(run, "ok")
live = s.run("hold")
RUN, LIVE = "/v1/runs/" + run, "/v1/runs/" + live
deep = "[" * 100 + "]" * 100

# ---- Bodies ------------------------------------------------------------------

# path, body, wanted status, what the field is, what the detail has
bodies = [
    ("/v1/runs", "", 400, "prompt", "prompt"),
    ("/v1/runs", "{}", 400, "prompt", "prompt"),
    ("/v1/runs", "[]", 400, None, "body"),
    ("/v1/runs", "null", 400, None, "body"),
    ("/v1/runs", "{", 400, None, "line 1"),
    ("/v1/runs", '{"prompt":"a"} x', 400, None, "line 1"),
    ("/v1/runs", '{"prompt":"a","prompt":"b"}', 400, "prompt", "prompt"),
    ("/v1/runs", '{"prompt":5}', 400, "prompt", "prompt"),
    ("/v1/runs", '{"prompt":null}', 400, "prompt", "prompt"),
    ("/v1/runs", b'{"prompt":"\xff"}', 400, None, "UTF-8"),
    ("/v1/runs", '{"promt":"a"}', 400, "promt", "promt"),
    ("/v1/runs", {"prompt": "a", "agent": "nobody"}, 404, "agent", "nobody"),
    ("/v1/runs", {"prompt": "a", "agent": 5}, 400, "agent", "agent"),
    ("/v1/runs", {"prompt": "a", "model": "script:x"}, 422, "model", "model"),
    ("/v1/runs", {"prompt": "a", "model": "openai:gpt"}, 422, "model",
     "model"),
    ("/v1/runs", {"prompt": "a", "limits": 5}, 400, "limits", "limits"),
    ("/v1/runs", {"prompt": "a", "limits": {"turns": 0}}, 400,
     "limits.turns", "turns"),
    ("/v1/runs", {"prompt": "a", "limits": {"turns": "x"}}, 400,
     "limits.turns", "turns"),
    ("/v1/runs", {"prompt": "a", "limits": {"cost": -1}}, 400,
     "limits.cost", "cost"),
    ("/v1/runs", {"prompt": "a", "limits": {"turnz": 1}}, 400,
     "limits.turnz", "turnz"),
    ("/v1/runs", {"prompt": "a", "labels": []}, 400, "labels", "labels"),
    ("/v1/runs", {"prompt": "a", "labels": {"wend.by": "x"}}, 400, "labels",
     "wend."),
    ("/v1/runs", {"prompt": "a", "parts": {}}, 400, "parts", "parts"),
    ("/v1/runs", {"prompt": "a", "parts": [{}]}, 400, "parts", "data"),
    ("/v1/runs", {"prompt": "a", "parts": [{"data": "!"}]}, 400, "parts",
     "base64"),
    ("/v1/runs", {"prompt": "a", "messages": {}}, 400, None, "messages"),
    ("/v1/runs", {"prompt": "a", "messages": [{"role": "king"}]}, 400, None,
     "role"),
    ("/v1/runs", {"prompt": "a", "plan": "x"}, 400, None, "plan"),
    ("/v1/runs", {"plan": "nonsense: ["}, 400, None, ""),
    ("/v1/runs", {"prompt": "a", "follow": "x"}, 404, None, "x"),
    ("/v1/runs", '{"prompt":"a","inputs":' + deep + "}", 400, None, ""),
    (RUN + "/fork", {"at": "x"}, 400, "at", "at"),
    (RUN + "/fork", {"at": 0}, 400, "at", "at"),
    (RUN + "/fork", {"at": 99999}, 400, None, ""),
    (RUN + "/fork", {"at": 1, "results": {}}, 400, "results", "results"),
    (RUN + "/fork", {"at": 1, "what": 1}, 400, "what", "what"),
    (RUN + "/retry", {}, 409, None, "ok"),
    (RUN + "/resume", {}, 409, None, "over"),
    (LIVE + "/resume", {}, 409, None, ""),
    (LIVE + "/say", {}, 400, "text", "text"),
    (LIVE + "/say", {"text": 5}, 400, "text", "text"),
    (LIVE + "/say", {"text": "x", "parts": 5}, 400, "parts", "parts"),
    (LIVE + "/cancel", {"why": 1}, 400, "why", "why"),
    (LIVE + "/pause", "[]", 400, None, "body"),
    (LIVE + "/approve", {}, 400, "call", "call"),
    (LIVE + "/approve", {"call": "x", "args_sha256": "y", "yes": 1}, 400,
     "yes", "yes"),
    (LIVE + "/approve", {"call": "x", "args_sha256": "y", "yes": True}, 404,
     "call", "approval"),
    ("/v1/plans/check", {}, 400, "plan", "plan"),
    ("/v1/runs/x/say", {"text": "x"}, 404, None, "x"),
    ("/v1/runs/" + "0" * 36 + "/say", {"text": "x"}, 404, None, "0"),
]
for path, body, status, field, word in bodies:
    a = s.ask("POST", path, body)
    name = f"{path.replace(run, 'RUN').replace(live, 'LIVE')} " \
           f"{json.dumps(body)[:60] if not isinstance(body, bytes) else body}"
    p = a.json if a.body else {}
    ok(a.status == status and word in p.get("detail", "") and
       p.get("status") == status and p.get("code") and
       (field is None or p.get("field") == field or field.split(".")[-1] in
        p["detail"]) and
       a.headers["content-type"] == "application/problem+json", name, a,
       (status, field, word))

# ---- Queries and paths ---------------------------------------------------------

for path, status, field in [
        ("/v1/runs?limit=0", 400, "limit"), ("/v1/runs?limit=x", 400, "limit"),
        ("/v1/runs?limit=1001", 400, "limit"), ("/v1/runs?x=1", 400, "x"),
        ("/v1/runs?since=x", 400, "since"), ("/v1/runs?top=2", 400, "top"),
        ("/v1/runs?limit=1&limit=2", 400, None), ("/v1/runs?%zz=1", 400, None),
        ("/v1/runs?status=%ff", 400, None),
        ("/v1/runs?status=nonsense", 400, "status"),
        ("/v1/runs?after=nonsense", 404, None),
        ("/v1/tools?agent=nobody", 404, "agent"),
        (RUN + "/context?at=x", 400, "at"), (RUN + "/context?x=1", 400, "x"),
        (RUN + "/context?at=99999", None, None),
        (RUN + "/blobs/x", 404, None), (RUN + "/blobs/" + "0" * 64, 404, None),
        (RUN + "/blobs/" + "z" * 64, 404, None),
        ("/v1/runs/..", 404, None), ("/v1/runs/%2e%2e", 404, None),
        ("/v1/runs/%00", 404, None), ("/v1/runs//events", 404, None),
        ("/v1/runs/" + "x" * 5000, 404, None)]:
    a = s.ask("GET", path)
    p = a.json
    ok((a.status == status or status is None and 400 <= a.status < 500) and
       (field is None or p.get("field") == field) and p.get("detail"),
       f"GET {path.replace(run, 'RUN')[:60]}", a)

# ---- Mutations of bodies --------------------------------------------------------

seeds = [
    ("/v1/runs", {"prompt": "a", "agent": "agent", "limits": {"turns": 2,
     "cost": 0.5}, "labels": {"a": "b"}, "session": "s", "parts": [
         {"data": "aGk=", "name": "x.txt"}]}),
    ("/v1/runs", {"prompt": "a", "messages": [
        {"role": "user", "text": "x"}, {"role": "assistant", "text": "y"}]}),
    ("/v1/runs", {"plan": {"wend": "plan/1", "actions": []}, "inputs": {}}),
    (RUN + "/fork", {"at": 2, "say": "x", "results": [
        {"call": "c", "output": "o"}]}),
    (LIVE + "/say", {"text": "x", "pin": True}),
    (LIVE + "/approve", {"call": "x", "args_sha256": "0" * 64, "yes": True,
                         "args": {"a": [1, 2]}}),
    ("/v1/plans/check", {"plan": "wend: plan/1\nactions: []\n"}),
    (LIVE + "/compact", {"focus": "x"}),
]
values = [None, True, 0, -1, 1.5, 1e300, "", "x", "\0", "\ud7ff", [], {},
          [[]], {"": {}}, "x" * 70000, 2 ** 63, [{}] * 70, {"a": None}]
marks = list('{}[]",:\\') + ["\\u0000", "\\ud800", "\x80", "1e999", "//", "-"]


def places(v, at=()):
    yield at
    items = v.items() if isinstance(v, dict) else \
        enumerate(v) if isinstance(v, list) else ()
    for k, x in items:
        yield from places(x, at + (k,))


def changed(v):
    v = json.loads(json.dumps(v))
    at = random.choice(list(places(v)))
    if not at:
        return random.choice(values)
    to = v
    for k in at[:-1]:
        to = to[k]
    if random.random() < 0.2:
        del to[at[-1]]
    else:
        to[at[-1]] = random.choice(values)
    return v


def one(i):
    path, body = random.choice(seeds)
    text = json.dumps(changed(body)).encode()
    if i % 3 == 0:
        at = random.randrange(len(text) + 1)
        text = text[:at] + random.choice(marks).encode("latin-1") + \
            text[at + random.randrange(2):]
    a = s.ask("POST", path, text)
    if a.status >= 500 and a.json.get("code") != "overloaded":
        return path, text[:300], a
    if a.status >= 400 and not (a.json["code"] and a.json["detail"]):
        return path, text[:300], a
    if a.status == 201:
        s.ask("POST", f"/v1/runs/{a.json['run']}/cancel")
    return None


def some(start):
    return [x for x in map(one, range(start, MUTATIONS, 8)) if x]


bad = in_threads(8, some)
same([x for x in bad if x][:2], [], f"{MUTATIONS} mutations of bodies: each "
     "is taken or explained")
same(s.row(live)["status"], "running", "a run that was told nonsense goes on")
same(s.end(), 143, "it ends as it should")
finish()
