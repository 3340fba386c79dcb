"""guards.py - who may what: only the listed combinations pass."""
import itertools
import os
import signal

from lib import (Server, Stream, WEND, finish, in_threads, ok, same,
                 script, soon, subprocess, token_line, write_private)

TOKENS = "tokens"
T = {name: f"token-of-{name}-0123456789" for name in
     ("reader", "runner", "judge", "boss", "ann", "bob", "late")}
lines = {
    "reader": token_line(T["reader"], "ann", "read"),
    "runner": token_line(T["runner"], "ann", "run"),
    "judge": token_line(T["judge"], "ann", "approve"),
    "boss": token_line(T["boss"], "boss", "admin"),
    "ann": token_line(T["ann"], "ann", "read,run,approve"),
    "bob": token_line(T["bob"], "bob", "read,run,approve"),
}
write_private(TOKENS, "# who\n\n" + "".join(lines.values()))
write_private("pay.yaml", """wend: tool/1
name: pay
description: an effect
class: unsafe
command: [sh, -c, 'echo paid >>ledger']
""")
model = script(
    {"when": "slow", "text": "one two three four", "delay": "60s",
     "first_delay": "0ms", "repeat": "forever"},
    {"when": "pay", "calls": [{"name": "pay", "id": "c1"}],
     "repeat": "forever"},
    {"text": "Hello.", "repeat": "forever"})
s = Server("--tokens", TOKENS, "--tools", "pay.yaml", model=model)
run = s.run("hi", T["ann"])
s.until(run, "ok")
port = s.port

# ---- One thing wrong at a time ----------------------------------------------

ME = "/v1/me"
rows = [
    # name, method, path, headers, body, token, wanted status, code
    ("as it should be", "GET", ME, {}, None, T["ann"], 200, None),
    ("localhost", "GET", ME, {"Host": f"localhost:{port}"}, None, T["ann"],
     200, None),
    ("a name in capitals", "GET", ME, {"Host": f"LOCALHOST:{port}"}, None,
     T["ann"], 200, None),
    ("::1", "GET", ME, {"Host": f"[::1]:{port}"}, None, T["ann"], 200, None),
    ("another name", "GET", ME, {"Host": f"evil.example:{port}"}, None,
     T["ann"], 421, "wrong_host"),
    ("a name that begins alike", "GET", ME,
     {"Host": f"localhost.evil.example:{port}"}, None, T["ann"], 421,
     "wrong_host"),
    ("another port", "GET", ME, {"Host": "127.0.0.1:1"}, None, T["ann"], 421,
     "wrong_host"),
    ("no port", "GET", ME, {"Host": "127.0.0.1"}, None, T["ann"], 421,
     "wrong_host"),
    ("another address", "GET", ME, {"Host": f"127.0.0.2:{port}"}, None,
     T["ann"], 421, "wrong_host"),
    ("an empty host", "GET", ME, {"Host": ""}, None, T["ann"], 400,
     "bad_request"),
    ("no host", "GET", ME, {"Host": None}, None, T["ann"], 400,
     "bad_request"),
    ("another host, no token needed", "GET", "/healthz",
     {"Host": "evil.example"}, None, None, 421, "wrong_host"),
    ("its own origin", "GET", ME, {"Origin": f"http://127.0.0.1:{port}"},
     None, T["ann"], 200, None),
    ("the origin of its other name", "GET", ME,
     {"Origin": f"http://localhost:{port}"}, None, T["ann"], 403,
     "foreign_origin"),
    ("another origin", "GET", ME, {"Origin": "https://evil.example"}, None,
     T["ann"], 403, "foreign_origin"),
    ("another scheme", "GET", ME, {"Origin": f"https://127.0.0.1:{port}"},
     None, T["ann"], 403, "foreign_origin"),
    ("another port's origin", "GET", ME, {"Origin": "http://127.0.0.1:1"},
     None, T["ann"], 403, "foreign_origin"),
    ("origin null", "GET", ME, {"Origin": "null"}, None, T["ann"], 403,
     "foreign_origin"),
    ("an empty origin", "GET", ME, {"Origin": ""}, None, T["ann"], 403,
     "foreign_origin"),
    ("another origin, no token needed", "GET", "/healthz",
     {"Origin": "https://evil.example"}, None, None, 403, "foreign_origin"),
    ("no token", "GET", ME, {}, None, None, 401, "token"),
    ("another scheme of tokens", "GET", ME,
     {"Authorization": "Basic " + T["ann"]}, None, None, 401, "token"),
    ("two tokens", "GET", ME,
     {"Authorization": f"Bearer {T['ann']} {T['bob']}"}, None, None, 401,
     "token"),
    ("a token in the query", "GET", f"{ME}?token={T['ann']}", {}, None, None,
     401, "token"),
    ("the hash for the token", "GET", ME, {}, None,
     lines["ann"].split()[0], 401, "token"),
    ("no such path", "GET", "/v1/nothing", {}, None, T["ann"], 404,
     "not_found"),
    ("a slash more", "GET", ME + "/", {}, None, T["ann"], 404, "not_found"),
    ("a path of dots", "GET", "/v1/x/../me", {}, None, T["ann"], 404,
     "not_found"),
    ("no such method", "DELETE", "/v1/runs", {}, None, T["ann"], 405,
     "method"),
    ("OPTIONS", "OPTIONS", "/v1/runs", {"Origin": f"http://127.0.0.1:{port}"},
     None, T["ann"], 405, "method"),
    ("a method unheard of", "BREW", ME, {}, None, T["ann"], 405, "method"),
    ("a body for GET", "GET", ME, {}, {}, T["ann"], 400, "body"),
    ("a health check", "GET", "/healthz", {}, None, None, 200, None),
    ("ready", "GET", "/readyz", {}, None, None, 200, None),
    ("POST to health", "POST", "/healthz", {}, {}, None, 405, "method"),
]
for name, method, path, headers, body, token, status, code in rows:
    a = s.ask(method, path, body, token, headers)
    got = a.json.get("code") if status >= 400 else None
    same((a.status, got), (status, code), name)
for media, status in [(None, 415), ("text/plain", 415), ("", 415),
                      ("application/x-www-form-urlencoded", 415),
                      ("multipart/form-data; boundary=x", 415),
                      ("application/json, text/plain", 415),
                      ("application/jsonp", 415),
                      ("application/json", 201),
                      ("Application/JSON ; charset=utf-8", 201)]:
    a = s.ask("POST", "/v1/runs", {"prompt": "hi"}, T["ann"], media=media)
    same(a.status, status, f"content type {media}")
a = s.ask("DELETE", "/v1/runs", token=T["ann"])
same(a.headers.get("allow"), "POST, GET, HEAD", "405 says what is allowed")
a = s.ask("GET", ME, token=None)
same(a.headers.get("www-authenticate"), "Bearer", "401 says what is wanted")
a = s.ask("GET", "/" + "x" * 20000, token=T["ann"])
same(a.status, 414, "a long target")
a = s.ask("GET", ME, token=T["ann"], headers={"X": "y" * 40000})
same(a.status, 431, "long headers")
a = s.ask("POST", "/v1/runs", b'"' + b"x" * (5 << 20) + b'"', T["ann"])
same(a.status, 413, "a long body")
for path in (ME, "/healthz", "/v1/runs", "/nothing"):
    a = s.ask("GET", path, token=T["ann"], headers={
        "Origin": f"http://127.0.0.1:{port}"})
    ok(not [h for h in a.headers if h.startswith("access-control")],
       f"no CORS header: {path}")
    same(a.headers.get("x-content-type-options"), "nosniff",
         f"nosniff: {path}")

# All of them together: a request passes only if nothing is wrong with it.
good = {"Host": f"127.0.0.1:{port}", "Origin": f"http://127.0.0.1:{port}",
        "media": "application/json", "token": T["ann"], "method": "POST"}
bad = {"Host": "evil.example", "Origin": "http://evil.example",
       "media": "text/plain", "token": None, "method": "PUT"}
wrong = []
for which in itertools.product((False, True), repeat=len(good)):
    v = {k: (bad if w else good)[k] for k, w in zip(good, which)}
    a = s.ask(v["method"], "/v1/plans/check", {"plan": "x"}, v["token"],
              {"Host": v["Host"], "Origin": v["Origin"]}, v["media"])
    if (a.status == 200) != (not any(which)):
        wrong.append((which, a.status))
same(wrong, [], "the matrix: only all good passes")

# ---- Rights -------------------------------------------------------------------

run_id = "/v1/runs/" + run
NONE, READ, RUN, APPROVE = 0, 1, 2, 4
paths = [
    ("GET", "/v1/runs", READ), ("GET", run_id, READ),
    ("GET", run_id + "/events", READ), ("GET", run_id + "/context", READ),
    ("GET", run_id + "/blobs/" + "0" * 64, READ), ("GET", ME, READ),
    ("GET", "/v1/agents", READ), ("GET", "/v1/tools", READ),
    ("POST", "/v1/runs", RUN), ("POST", run_id + "/say", RUN),
    ("POST", run_id + "/cancel", RUN), ("POST", run_id + "/pause", RUN),
    ("POST", run_id + "/continue", RUN), ("POST", run_id + "/compact", RUN),
    ("POST", run_id + "/resume", RUN), ("POST", run_id + "/retry", RUN),
    ("POST", run_id + "/fork", RUN), ("POST", run_id + "/approve", APPROVE),
    ("POST", "/v1/plans/check", READ),
]
wrong = []
for method, path, right in paths:
    for name, has in (("reader", READ), ("runner", RUN), ("judge", APPROVE),
                      ("boss", 7)):
        a = s.ask(method, path, {"nothing": 1} if method == "POST" else None,
                  T[name])
        if (a.status == 403) != (not has & right) or a.status == 401:
            wrong.append((method, path, name, a.status))
    if s.ask(method, path, token=None).status != 401:
        wrong.append((method, path, "no token"))
same(wrong, [], "each right opens its paths and no others")
same(in_threads(len(paths), lambda i: s.ask(
    *paths[i][:2], token="x" * 40).status), [401] * len(paths),
    "a wrong token opens nothing")
same(s.ask("GET", ME, token=T["ann"]).json["rights"],
     ["read", "run", "approve"], "a token knows its rights")

# ---- Two users ------------------------------------------------------------------

waits = s.run("pay", T["ann"])
s.until(waits, "waiting", token=T["ann"])
ask = s.row(waits, T["ann"])["waiting"][0]
yes = {"call": ask["call"], "args_sha256": ask["args_sha256"], "yes": True}
big = s.run("x" * 300000, T["ann"])
s.until(big, "ok", token=T["ann"])
blob = "0" * 64
for line in subprocess.run([WEND, "log", "--json", big], text=True,
                           stdout=subprocess.PIPE).stdout.splitlines():
    if '"hash":"' in line:
        blob = line.split('"hash":"', 1)[1][:64]
        break
never = "01234567-89ab-4cde-8f01-23456789abcd"


def tries(target):
    where = "/v1/runs/" + target
    return [
        ("GET", where, None), ("GET", where + "/events", None),
        ("GET", where + "/events?format=json", None),
        ("GET", where + "/context", None),
        ("GET", f"{where}/blobs/{blob}", None),
        ("POST", where + "/say", {"text": "x"}),
        ("POST", where + "/approve", yes),
        ("POST", where + "/cancel", {}), ("POST", where + "/pause", {}),
        ("POST", where + "/continue", {}), ("POST", where + "/compact", {}),
        ("POST", where + "/resume", {}), ("POST", where + "/retry", {}),
        ("POST", where + "/fork", {"at": 1}),
        ("POST", "/v1/runs", {"prompt": "x", "follow": target}),
    ]


def attempt(target, token):
    found = []
    for method, path, body in tries(target):
        a = s.ask(method, path, body, token)
        text = a.body.decode().replace(target, "RUN") if a.status == 404 \
            else a.status
        found.append((path.replace(target, "RUN"), text))
    return found


nothing = attempt(never, T["bob"])
ok(all("not_found" in str(t) for _, t in nothing), "no run: 404 everywhere",
   nothing)
for name, target in (("over", run), ("waiting", waits), ("with a blob", big)):
    same(attempt(target, T["bob"]), nothing,
         f"another user's run looks like none: {name}")
same(s.row(waits, T["ann"])["status"], "waiting", "and nothing happened to it")
same(s.ask("GET", "/v1/runs", token=T["bob"]).json["runs"], [],
     "another user's runs are not listed")
same(s.ask("GET", "/v1/runs?user=ann", token=T["bob"]).status, 403,
     "nor by name")
same(s.ask("GET", f"/v1/runs?after={run}", token=T["bob"]).json.get("runs"),
     [], "nor behind a cursor")
listed = s.ask("GET", "/v1/runs?user=ann", token=T["boss"]).json["runs"]
ok(run in [r["run"] for r in listed], "an admin sees them")
if blob != "0" * 64:
    mine = s.run("hi", T["bob"])
    a = s.ask("GET", f"/v1/runs/{mine}/blobs/{blob}", token=T["bob"])
    same(a.status, 404, "a blob is reached by its own run only")
    a = s.ask("GET", f"/v1/runs/{big}/blobs/{blob}", token=T["ann"])
    same(a.status, 200, "by its owner")
    a = s.ask("POST", "/v1/runs", {"prompt": "x", "messages": [
        {"role": "user", "text": "x", "parts": [{"hash": blob}]}]}, T["bob"])
    same(a.status // 100, 4, "nor by its hash in a message")

# The feed shows each user its own runs.
feeds = {n: Stream(s, "/v1/feed", T[n]) for n in ("ann", "bob", "boss")}
seen = {}
secret = s.run("slow", T["ann"])
mine = s.run("slow too", T["bob"])
for name, feed in feeds.items():
    seen[name] = set()
    wanted = {"ann": {secret}, "bob": {mine}, "boss": {secret, mine}}[name]
    for e in feed:
        if e.name == "run":
            seen[name].add(e.json["run"])
        if wanted <= seen[name]:
            break
ok(mine not in seen["ann"] and secret not in seen["bob"] and
   waits not in seen["bob"], "the feed shows only one's own", seen)
ok(waits in seen["ann"], "and what was there before", seen)

# ---- Runs of the command ----------------------------------------------------------

subprocess.run([WEND, "run", "-m", model, "--user", "ann", "hi"],
               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
done = subprocess.run([WEND, "run", "-m", model, "hi"],
                      stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
local = subprocess.run([WEND, "runs", "--json"], text=True,
                       stdout=subprocess.PIPE).stdout.splitlines()[0]
local = local.split('"run":"')[1][:36]
same(s.ask("GET", "/v1/runs/" + local, token=T["ann"]).status, 404,
     "a run of the command is no user's")
same(s.ask("GET", "/v1/runs/" + local, token=T["boss"]).status, 200,
     "but an admin's")

# ---- SIGHUP ---------------------------------------------------------------------

stream = s.events(secret, token=T["ann"])
other = s.events(mine, token=T["bob"])
stream.next(), other.next()
write_private(TOKENS, "".join(lines.values()) + "nonsense\n")
s.kill(signal.SIGHUP)
ok(soon(lambda: "tokens stay" in s.said()), "a broken file is reported",
   s.said())
ok("tokens:" in s.said() or ":7" in s.said(), "with its line", s.said())
same(s.ask("GET", ME, token=T["ann"]).status, 200, "the old tokens stay")
write_private(TOKENS, lines["boss"] + lines["bob"] +
              token_line(T["late"], "late", "read"))
s.kill(signal.SIGHUP)
names = [e.name for e in stream]
same(names[-1:], ["gone"], "a revoked stream is told")
names = [e.name for e in feeds["ann"]]
same(names[-1:], ["gone"], "so is a feed")
same(s.ask("GET", ME, token=T["ann"]).status, 401, "a revoked token is none")
same(s.ask("GET", ME, token=T["late"]).status, 200, "a new one counts")
s.ask("POST", f"/v1/runs/{mine}/cancel", {}, T["bob"])
rest = [e for e in other]
ok(rest and '"run_end"' in rest[-1].data, "the other stream goes on")
write_private(TOKENS, lines["boss"] + token_line(T["bob"], "bob", "run"))
s.kill(signal.SIGHUP)
names = [e.name for e in feeds["bob"]]
same(names[-1:], ["gone"], "a lost right ends a stream, too")
write_private(TOKENS, lines["boss"])
os.chmod(TOKENS, 0o666)
s.kill(signal.SIGHUP)
ok(soon(lambda: "written by others" in s.said()), "a file open to all counts "
   "as broken", s.said())

same(s.end(), 143, "it ends as it should")
finish()
