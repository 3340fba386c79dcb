"""approvals.py - what people answer and say to runs over HTTP."""
import hashlib
import json
import os
import subprocess

from lib import (Server, WEND, finish, in_threads, log_lines, ok, same, script,
                 soon, token_line, write_private)

ANN, BOB = "token-of-ann-0123456789", "token-of-bob-0123456789"
BOSS = "token-of-boss-0123456789"
write_private("tokens", token_line(ANN, "ann", "read,run,approve") +
              token_line(BOB, "bob", "read,run") +
              token_line(BOSS, "boss", "admin"))
write_private("pay.yaml", """wend: tool/1
name: pay
description: an effect
class: unsafe
schema:
  type: object
  properties: {sum: {type: number}}
command: [sh, -c, 'cat >>ledger; echo >>ledger; echo paid']
""")
write_private("waiter.yaml", """wend: tool/1
name: waiter
description: waits until it may go
class: read
command: [sh, -c, 'while [ ! -e go ]; do sleep 0.02; done']
""")
model = script(
    {"when": "twice", "calls": [{"name": "pay", "args": {"sum": 1}},
                                {"name": "pay", "args": {"sum": 2}}],
     "repeat": "forever"},
    {"when": "wait", "calls": [{"name": "waiter"}], "repeat": "forever"},
    {"when": "hold", "text": "one two three four", "first_delay": "0ms",
     "delay": "60s", "repeat": "forever"},
    {"when": "please hurry", "text": "I hurry.", "repeat": "forever"},
    {"when": "paid", "text": "Paid.", "repeat": "forever"},
    {"when": "pay", "calls": [{"name": "pay", "args": {"sum": 7}}],
     "repeat": "forever"},
    {"text": "Nothing.", "repeat": "forever"})
OPTIONS = ("--tools", "pay.yaml", "--tools", "waiter.yaml")
s = Server("--tokens", "tokens", *OPTIONS, "--approve", "waiter",
           "--approve", "ask", model=model)


def ledger():
    text = open("ledger").read() if os.path.exists("ledger") else ""
    if os.path.exists("ledger"):
        os.remove("ledger")
    return [line for line in text.splitlines() if line]


def ask_of(run, token=ANN, which=0):
    s.until(run, "waiting", token=token)
    soon(lambda: len(s.row(run, token)["waiting"]) > which)
    return s.row(run, token)["waiting"][which]


def approve(run, ask, yes=True, token=ANN, **more):
    return s.ask("POST", f"/v1/runs/{run}/approve", {
        "call": ask["call"], "args_sha256": ask["args_sha256"], "yes": yes,
        **more}, token)


def answers(run):
    return [e["data"] for e in map(json.loads, log_lines(run))
            if e["type"] == "approval_answer"]


# ---- Approvals ---------------------------------------------------------------

run = s.run("pay", ANN)
ask = ask_of(run)
shown = next(e for e in map(json.loads, log_lines(run))
             if e["type"] == "approval_ask")["data"]
same(ask["name"], "pay", "what waits is shown")
raw = next(line for line in log_lines(run) if '"approval_ask"' in line)
raw = raw[raw.index('"args":') + 7:]
end = json.JSONDecoder().raw_decode(raw)[1]
same(hashlib.sha256(raw[:end].encode()).hexdigest(), ask["args_sha256"],
     "its hash is that of the bytes in the log")
same(approve(run, ask, token=BOB).status, 403, "the right is needed")
a = approve(run, dict(ask, args_sha256="0" * 64))
same(a.problem(), (409, "different", "args_sha256"), "another hash: 409")
a = approve(run, dict(ask, call="nothing"))
same(a.problem(), (404, "not_found", "call"), "another call: 404")
for body, field in [({"call": ask["call"], "yes": True}, "args_sha256"),
                    ({"call": ask["call"],
                      "args_sha256": ask["args_sha256"]}, "yes"),
                    ({"args_sha256": ask["args_sha256"], "yes": True},
                     "call")]:
    a = s.ask("POST", f"/v1/runs/{run}/approve", body, ANN)
    ok(a.status == 400 and field in a.json["detail"], f"without {field}: 400",
       a)
same((ledger(), s.row(run, ANN)["status"]), ([], "waiting"),
     "until then nothing happens")
a = approve(run, ask)
ok(a.status in (200, 202), "the right hash is taken", a)
ok(s.until(run, "ok", token=ANN), "the run goes on")
same(ledger(), ['{"sum":7}'], "once")
same([(x["by"]) for x in answers(run)], ["ann"], "the log says who")
a = approve(run, ask)
same((a.status, a.json["code"]), (409, "over"), "when it is over: 409")

run = s.run("twice", ANN)
one, two = ask_of(run), ask_of(run, which=1)
approve(run, one)
soon(lambda: answers(run))
a = approve(run, one)
same((a.status, a.json["code"], "ann" in a.json["detail"]),
     (409, "answered", True), "twice: 409, with who answered")
a = approve(run, two, yes=False)
ok(s.until(run, "ok", token=ANN), "denied: the run goes on")
same(len(ledger()), 1, "denied: nothing happens")

run = s.run("pay", ANN)
ask = ask_of(run)
got = in_threads(8, lambda i: approve(run, ask, token=ANN if i % 2 else BOSS))
codes = sorted(a.status for a in got)
ok(codes[0] in (200, 202) and codes[1:] == [409] * 7,
   "eight clients at once: one is taken", codes)
ok(s.until(run, "ok", token=ANN), "and the run goes on", s.row(run, ANN),
   log_lines(run)[-1][:300])
same(len(ledger()), 1, "and it happens once")
same(len(answers(run)), 1, "and is answered once")

run = s.run("pay", ANN)
ask = ask_of(run)
a = approve(run, ask, args={"sum": 8})
ok(a.status in (200, 202), "other arguments are taken", a)
s.until(run, "ok", token=ANN)
same(ledger(), ['{"sum":8}'], "and used")
run = s.run("pay", ANN)
ask = ask_of(run)
for more in ({"yes": False}, {"always": True}):
    a = approve(run, ask, args={"sum": 8}, **more)
    same(a.problem(), (400, "body", "args"), f"not with {more}")
a = approve(run, ask, args=5)
ok(a.status in (400, 422), "arguments that are none", a)
same(s.row(run, ANN)["status"], "waiting", "it still waits")
a = approve(run, ask, always=True)
s.until(run, "ok", token=ANN)
same(len(ledger()), 1, "always: it happens")

# ---- Say, pause, continue, cancel ---------------------------------------------

def post(run, what, body=None, token=ANN):
    return s.ask("POST", f"/v1/runs/{run}/{what}", body, token)


run = s.run("wait", ANN)
soon(lambda: any('"call_start"' in x for x in log_lines(run)))
a = post(run, "say", {"text": "please hurry"})
same((a.status, a.json), (202, {"told": "applied"}), "say")
a = post(run, "pause", {})
same(a.status, 202, "pause")
open("go", "w").close()
soon(lambda: any('"call_end"' in x for x in log_lines(run)))
ok(s.until(run, "paused", token=ANN), "it pauses", s.row(run, ANN))
a = post(run, "continue")
same(a.status, 202, "continue, without a body")
ok(s.until(run, "ok", token=ANN), "it goes on")
same(s.row(run, ANN)["answer"], "I hurry.", "and has heard")
same([e["data"].get("by") for e in map(json.loads, log_lines(run))
      if e["type"] == "control"], ["ann", "ann"], "who paused and continued it")
for what, body in (("say", {"text": "x"}), ("pause", {}), ("continue", {}),
                   ("cancel", {}), ("compact", {})):
    a = post(run, what, body)
    same((a.status, a.json["code"]), (409, "over"), f"{what}: it is over")
run = s.run("hold", ANN)
soon(lambda: s.row(run, ANN)["seq"] > 3)
same(post(run, "cancel").status, 202, "cancel")
ok(s.until(run, "canceled", token=ANN), "it is canceled")
by = [e["data"].get("by") for e in map(json.loads, log_lines(run))
      if e["type"] == "control"]
same(by, ["ann"], "the log says by whom")

# ---- Runs of another process --------------------------------------------------

os.remove("go")
for what in ("approve", "say", "cancel"):
    before = s.ask("GET", "/v1/runs?limit=1", token=BOSS).json["runs"][0]
    p = subprocess.Popen(
        [WEND, "run", "-m", model, *OPTIONS, "--approve", "waiter",
         "--approve", "ask", "pay" if what == "approve" else "wait"],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL)
    run = soon(lambda: [r["run"] for r in s.ask(
        "GET", "/v1/runs?limit=1", token=BOSS).json["runs"]
        if r["run"] != before["run"]])[0]
    if what == "approve":
        ask = ask_of(run, BOSS)
        same(approve(run, ask).status, 404, "another process: not for users")
        a = approve(run, ask, token=BOSS)
        p.wait(30)
        same((a.status // 100, ledger()), (2, ['{"sum":7}']),
             "another process: approved by an admin")
        same([x["by"] for x in answers(run)], ["boss"], "by name")
        continue
    soon(lambda: any('"call_start"' in x for x in log_lines(run)))
    if what == "say":
        a = post(run, "say", {"text": "please hurry"}, BOSS)
        same((a.status, a.json["told"]), (202, "queued"),
             "another process: told through the store")
        open("go", "w").close()
        p.wait(30)
        os.remove("go")
        same(s.row(run, BOSS)["answer"], "I hurry.", "and heard")
    else:
        a = post(run, "cancel", {}, BOSS)
        p.wait(30)
        same(s.row(run, BOSS)["status"], "canceled",
             "another process: canceled")

same(s.end(), 143, "it ends as it should")
finish()
