"""life.py - the server dies, drains and starts again; files and sockets."""
import json
import os
import pty
import random
import re
import signal
import socket
import stat
import subprocess
import threading
import time

from lib import (Client, Server, WEND, finish, hello, in_threads, kept,
                 log_lines, ok, same, script, soon, write_private)

RUNS = int(os.environ.get("SERVE_RUNS", "20"))
KILLS = int(os.environ.get("SERVE_KILLS", "3"))
random.seed(int(os.environ.get("SERVE_SEED", "15")))

# ---- kill -9 under load ------------------------------------------------------

turn = {"text": "one two three four five", "delay": "20ms", "calls": [
    {"name": "calculator", "args": {"expression": "6*7"}}]}
model = script(
    {"when": "start", **turn, "repeat": "forever"},
    {"when": "wait", "first_delay": "60s", "text": "x", "repeat": "forever"},
    {"when": "42", "text": "It is 42. " * 8, "delay": "15ms",
     "repeat": "forever"},
    {"text": "Done.", "repeat": "forever"})
with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
s = Server(model=model, listen=f"127.0.0.1:{port}")
wrong = []
ended = []
lock = threading.Lock()


class Reader(threading.Thread):
    """Follows a run over all deaths of the server by Last-Event-ID."""

    def __init__(self, run):
        super().__init__(daemon=True)
        self.run_id, self.ids, self.tries, self.over = run, [], 0, False
        self.start()

    def run(self):
        end = time.monotonic() + 60
        while not self.over and time.monotonic() < end:
            self.tries += 1
            try:
                headers = {"Last-Event-ID": str(self.ids[-1])} if self.ids \
                    else {}
                for e in s.events(self.run_id, headers=headers):
                    if e.id is not None:
                        self.ids.append(e.id)
                        self.over = '"type":"run_end"' in e.data[:300]
            except (OSError, EOFError, AssertionError, ValueError):
                pass
            time.sleep(0.05)


runs, readers = [], []
for i in range(RUNS):
    runs.append(s.run(f"start {i}"))
    readers.append(Reader(runs[-1]))
for i in range(KILLS):
    time.sleep(random.uniform(0.05, 0.4))
    s.end(signal.SIGKILL)
    s.again()
    if i == 0:
        ok("resumed" in s.said(), "runs are resumed at the next start",
           s.said())
for r in readers:
    r.join(60)
same([r.run_id for r in readers if not r.over], [], "every run ends")
wrong = [(r.ids, len(log_lines(r.run_id))) for r in readers
         if r.ids != list(range(1, len(r.ids) + 1))]
same(wrong[:2], [], "no reader has a gap or a repeat of kept events")
wrong = []
for r in readers:
    kept_lines = [x for x in map(json.loads, log_lines(r.run_id))
                  if "n" not in x]
    if len(kept_lines) != len(r.ids):
        wrong.append((r.run_id, len(kept_lines), len(r.ids)))
same(wrong[:2], [], "and each has had the whole log")
ok(max(r.tries for r in readers) > 1, "some came back")

# ---- SIGTERM -------------------------------------------------------------------

# A run of the command that its process left behind is not the server's.
p = subprocess.Popen([WEND, "run", "-m", model, "start"],
                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
mine = soon(lambda: s.ask("GET", "/v1/runs?status=running").json["runs"])
left = mine[0]["run"]
p.kill()
p.wait()
long_run = s.run("wait")
tick = s.run("start")
streams = [s.events(long_run), s.events(tick)]
for stream in streams:
    stream.next()
idle = Client(s)
half = Client(s)
half.send(f"POST /v1/runs HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
          f"Authorization: Bearer {s.TOKEN}\r\n"
          "Content-Type: application/json\r\nContent-Length: 15\r\n\r\n{")
time.sleep(0.1)
s.args += ["--drain", "1.5s"]
s.end(signal.SIGKILL)
s.again()
soon(lambda: s.row(long_run)["status"] == "running")
stream = s.events(long_run)
stream.next()
half = Client(s)
half.send(f"POST /v1/runs HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
          f"Authorization: Bearer {s.TOKEN}\r\n"
          "Content-Type: application/json\r\nContent-Length: 15\r\n\r\n{")
time.sleep(0.1)
begun = time.monotonic()
s.kill(signal.SIGTERM)
names = [(e.name, e.data) for e in stream]
same(names[-1][0], "bye", "SIGTERM: a stream is told")
same(json.loads(names[-1][1]), {"reason": "draining", "retry_ms": 1000},
     "SIGTERM: why, and when to come back")
a = s.ask("GET", "/readyz", token=None)
same((a.status, a.json), (503, {"status": "draining"}), "it is not ready")
a = s.ask("POST", "/v1/runs", {"prompt": "x"})
same((a.status, a.json["code"], a.headers.get("retry-after")),
     (503, "draining", "1"), "nothing new is started")
half.send('"prompt":"hi"}')
same(half.answer().status, 503, "nor what had begun to arrive")
same(s.ask("GET", f"/v1/runs/{long_run}").status, 200, "it can be looked at")
events = list(s.events(long_run))
same(events[-1].name, "bye", "a new stream is told at once")
code = s.end()
took = time.monotonic() - begun
same(code, 143, "SIGTERM: exit status")
ok(1 < took < 6, "a run that does not move is waited for, then parked", took)
s.again()
ok(soon(lambda: s.row(long_run)["status"] == "running"),
   "and resumed at the next start", s.row(long_run))
same(s.row(left)["status"], "interrupted",
     "a run of the command is left alone")
begun = time.monotonic()
s.ask("POST", f"/v1/runs/{long_run}/cancel", {})
s.until(long_run, "canceled")
s.until(tick, "ok")
same(s.end(signal.SIGINT), 130, "SIGINT: exit status")
ok(time.monotonic() - begun < 5, "without runs it ends at once")

# A run that waits for approval parks at once.
write_private("pay.yaml", "wend: tool/1\nname: pay\ndescription: x\n"
              "class: unsafe\ncommand: [sh, -c, 'echo paid >>ledger']\n")
s = Server("--tools", "pay.yaml", model=script(
    {"when": "pay", "calls": [{"name": "pay"}]}, {"text": "Paid.",
                                                  "repeat": "forever"}))
run = s.run("pay")
s.until(run, "waiting")
begun = time.monotonic()
same(s.end(), 143, "with a run that waits: exit status")
ok(time.monotonic() - begun < 5, "it parks at once")
s.again()
ok(s.until(run, "waiting"), "it waits again", s.row(run))
ask = s.row(run)["waiting"][0]
a = s.ask("POST", f"/v1/runs/{run}/approve", {
    "call": ask["call"], "args_sha256": ask["args_sha256"], "yes": True})
ok(a.status in (200, 202) and s.until(run, "ok"), "and can be approved", a)
same(open("ledger").read(), "paid\n", "once")

# ---- Addresses -----------------------------------------------------------------

other = Server(model=hello(), listen=f"127.0.0.1:{s.port}",
               env={"WEND_STORE": "other.db"})
same(other.end(), 2, "a port in use: exit status")
ok("another server has it" in other.said(), "a port in use: said",
   other.said())
s.end()
for address in ("nonsense", "127.0.0.1", "127.0.0.1:99999", "example.org:80",
                ":80", "unix:" + "x" * 200):
    other = Server(model=hello(), listen=address)
    ok(other.end() == 2 and other.said().startswith("wend: "),
       f"refused: {address[:30]}", other.said())

path = os.path.abspath("sock")
s = Server(model=hello(), listen="unix:" + path)
same(stat.S_IMODE(os.stat(path).st_mode), 0o600, "a unix socket is private")
same(s.ask("GET", "/v1/me").status, 200, "and answers")
same(s.ask("GET", "/v1/me", headers={"Host": "evil.example"}).status, 421,
     "only under its name")
run = s.run()
same(kept(s.events(run))[:2], [1, 2], "with streams")
other = Server(model=hello(), listen="unix:" + path,
               env={"WEND_STORE": "other.db"})
ok(other.end() == 2 and s.ask("GET", "/v1/me").status == 200,
   "a live one is not taken away", other.said())
s.end(signal.SIGKILL)
ok(os.path.exists(path), "a killed server leaves its socket")
s.path = None
s.again()
same(s.ask("GET", "/v1/me").status, 200, "a stale one is replaced")
same(s.end(), 143, "it ends")
ok(not os.path.exists(path), "and takes its socket with it")
write_private("plain", "text")
other = Server(model=hello(), listen="unix:" + os.path.abspath("plain"))
ok(other.end() == 2 and open("plain").read() == "text",
   "another file is not replaced", other.said())

# ---- The token -----------------------------------------------------------------

def serve_without_token(*args, **more):
    s = Server(*args, model=hello(), start=False, **more)
    del s.env["WEND_TOKEN"]
    s.start()
    return s


s = serve_without_token()
found = re.search(r"the token is in (\S+)", s.said())
ok(found, "off a terminal: where the token is", s.said())
where = found[1]
token = open(where).read().strip()
same(stat.S_IMODE(os.stat(where).st_mode), 0o600, "it is private")
ok(len(token) >= 32 and token not in s.said(), "and not shown", s.said())
same(s.ask("GET", "/v1/me", token=token).status, 200, "it opens")
s.end()
s = serve_without_token()
same(open(where).read().strip(), token, "it is made once")
s.end()
os.chmod(where, 0o644)
s = serve_without_token()
ok(s.end() == 2 and where in s.said(), "one that others can read is refused",
   s.said())
os.chmod(where, 0o600)
write_private("short", "x\n")
s = serve_without_token("--token-file", "short")
ok(s.end() == 2 and "16" in s.said(), "a short one is refused", s.said())

pid, fd = pty.fork()
if not pid:
    os.environ.pop("WEND_TOKEN", None)
    os.execv(WEND, [WEND, "serve", "--listen", "127.0.0.1:0", "-m", hello()])
text = b""
while b"#token=" not in text or not text.endswith(b"\n"):
    try:
        text += os.read(fd, 4096)
    except OSError:
        break
ok(b"/#token=" + token.encode() in text,
   "at a terminal: a link with the token in its fragment", text)
same(token in open(f"/proc/{pid}/cmdline").read(), False, "never in argv")
os.kill(pid, signal.SIGTERM)
os.waitpid(pid, 0)

# ---- Agents ---------------------------------------------------------------------

os.mkdir("agents", 0o700)
for name in ("b", "a"):
    write_private(f"agents/{name}.yaml", f"wend: agent/1\nname: {name}\n"
                  f"description: agent {name}\nmodel: {hello('I am ' + name)}"
                  "\n")
s = Server("--agents", "agents")
same([a["name"] for a in s.ask("GET", "/v1/agents").json["agents"]],
     ["a", "b"], "every agent file of a folder")
run = s.run(agent="b")
s.until(run, "ok")
same(s.row(run)["answer"], "I am b", "each by its name")
s.end()
for name, change, word in [
        ("writable by others", lambda: os.chmod("agents", 0o777), "write"),
        ("another user's", lambda: (os.chmod("agents", 0o700),
                                    os.chown("agents", 12345, -1)), "another"),
        ("missing", lambda: os.rename("agents", "elsewhere"), "agents"),
        ("empty", lambda: os.mkdir("agents", 0o700), "no agent file")]:
    if name.startswith("another") and os.getuid():
        continue
    change()
    s = Server("--agents", "agents")
    ok(s.end() == 2 and word in s.said(), f"a folder {name} is refused",
       s.said())
finish()
