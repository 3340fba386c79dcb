"""extras.py - idempotency keys, uploads, webhooks, numbers, search."""
import base64
import hashlib
import hmac
import http.server
import re
import struct
import threading
import zlib

from lib import *

ALICE, BOB = "alice-alice-alice-1", "bob-bob-bob-bob-bob1"
write_private("tokens", token_line(ALICE, "alice", "read,run,approve") +
              token_line(BOB, "bob", "read,run"))


def png(width=4, height=3):
    def chunk(kind, data):
        return (struct.pack(">I", len(data)) + kind + data +
                struct.pack(">I", zlib.crc32(kind + data)))
    rows = b"".join(b"\0" + b"\x40\x80\xc0" * width for _ in range(height))
    return (b"\x89PNG\r\n\x1a\n" +
            chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0,
                                       0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


# ---- Idempotency-Key ---------------------------------------------------------

def keys():
    server = Server("--tokens", "tokens", model=hello())

    def start(key, prompt="hi", token=ALICE):
        return server.ask("POST", "/v1/runs", {"prompt": prompt}, token,
                          {"Idempotency-Key": key})
    first = start("k1")
    same(first.status, 201, "a run with a key starts")
    same(start("k1").json, first.json, "the same key gives the same run")
    same(start("k1", "other").problem(), (409, "key", "Idempotency-Key"),
         "the key with another body is refused")
    other = start("k1", token=BOB)
    ok(other.status == 201 and other.json != first.json,
       "the key of another user is another key", other)
    same(start("x" * 256).status, 400, "a key of 256 bytes is refused")
    together = in_threads(8, lambda i: start("k2").json["run"])
    same(len(set(together)), 1, "eight requests at once start one run")
    server.end(signal.SIGKILL)
    server.again()
    same(start("k1").json, first.json, "the key holds after kill -9")
    runs = server.ask("GET", "/v1/runs", token=ALICE).json["runs"]
    same(len(runs), 2, "and no run was started twice")
    server.end()


# ---- Uploads -----------------------------------------------------------------

def uploads():
    server = Server("--tokens", "tokens", model=hello("I see."))
    picture = png()
    sha = hashlib.sha256(picture).hexdigest()
    a = server.ask("POST", "/v1/blobs?name=p.png", picture, ALICE,
                   media="application/octet-stream")
    same((a.status, a.json), (201, {"blob": sha, "type": "image",
                                    "media": "image/png",
                                    "bytes": len(picture), "name": "p.png"}),
         "a file is uploaded")
    part = [{"blob": sha, "name": "p.png"}]
    run = server.run("look", ALICE, parts=part)
    server.until(run, "ok", token=ALICE)
    start = next(iter(server.events(run, token=ALICE))).json["data"]
    same(start["parts"][0]["hash"], sha, "and a run takes it")
    got = server.ask("GET", f"/v1/runs/{run}/blobs/{sha}", token=ALICE)
    same((got.status, got.headers["content-type"], got.body),
         (200, "image/png", picture), "and gives it back")
    same(server.ask("GET", f"/v1/runs/{run}/blobs/{sha}", token=ALICE,
                    headers={"Range": "bytes=1-3"}).body, b"PNG",
         "in parts, too")
    same(server.ask("POST", "/v1/runs", {"prompt": "x", "parts": part},
                    BOB).problem(), (404, "part", "parts"),
         "another user has no such upload")
    same(server.ask("POST", "/v1/runs", {
        "prompt": "x", "messages": [{"role": "user", "text": "a", "parts": [
            {"hash": sha}]}]}, BOB).status, 400,
         "nor gets it by its hash in the past")
    same(server.ask("POST", "/v1/blobs", picture[:40], ALICE).problem()[:2],
         (422, "part"), "a file that is cut off is refused")
    quota = [server.ask("POST", "/v1/blobs", bytes([65 + i]) * (40 << 20),
                        BOB).status for i in range(3)]
    same(quota, [201, 201, 413], "uploads of a user have a quota")
    server.end()


# ---- Webhooks ----------------------------------------------------------------

KEY = b"0123456789abcdef0123456789abcdef"
SECRET = {"WEND_WEBHOOK_SECRET": "whsec_" + base64.b64encode(KEY).decode()}


class Receiver:
    """Answers with the statuses in turn, then with 204."""

    def __init__(self, *statuses):
        self.statuses, self.got = list(statuses), []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                outer.got.append((dict(self.headers), body))
                self.send_response(outer.statuses.pop(0) if outer.statuses
                                   else 204)
                self.end_headers()

            def log_message(self, *args):
                pass
        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()


def is_signed(headers, body):
    text = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode()
    mac = hmac.new(KEY, text + body, hashlib.sha256).digest()
    return headers["webhook-signature"] == "v1," + \
        base64.b64encode(mac).decode()


def webhooks():
    r = Receiver(500)
    server = Server("--tokens", "tokens", "--webhook", r.url + "/end",
                    "--webhook-allow", r.url, model=hello("Done."), env=SECRET)
    run = server.run()
    soon(lambda: len(r.got) >= 2)
    ok(all(is_signed(*m) for m in r.got), "messages are signed", r.got)
    same([m[0]["webhook-id"] for m in r.got], ["msg_" + run] * 2,
         "one that failed is sent again, with the same id")
    data = json.loads(r.got[0][1])["data"]
    same((data["run"], data["outcome"], data["answer"]),
         (run, "ok", "Done."), "they tell how the run ended")
    same(server.ask("POST", "/v1/runs", {"prompt": "x", "webhook": r.url},
                    ALICE).problem(), (403, "right", "webhook"),
         "only an admin names another address")
    same(server.ask("POST", "/v1/runs", {"prompt": "x", "webhook":
                                         "http://127.0.0.1:1/"}).problem(),
         (422, "webhook", "webhook"), "and only one that is allowed")
    server.run(webhook=r.url + "/mine")
    soon(lambda: len(r.got) >= 3)
    same(len(r.got), 3, "a run with its own address tells only that")
    server.end()

    late = Receiver(*[503] * 1)
    slow = script({"text": "Slow.", "first_delay": "2s", "repeat": "forever"})
    server = Server("--webhook", late.url, model=slow, env=SECRET)
    run = server.run()
    server.end(signal.SIGKILL)
    server.again()
    server.until(run, "ok")
    soon(lambda: len(late.got) >= 2)
    same([m[0]["webhook-id"] for m in late.got], ["msg_" + run] * 2,
         "the end is told after kill -9 and a failure")
    server.end()
    bad = Server("--webhook", late.url, model=hello())
    ok(bad.process.wait(WAIT_S) == 2 and "WEND_WEBHOOK_SECRET" in bad.said(),
       "without a secret the server does not start", bad.said())


# ---- Numbers and search ------------------------------------------------------

def numbers():
    server = Server("--tokens", "tokens", model=script(
        {"when": "blue", "text": "The sky.", "repeat": "forever",
         "usage": {"input": 7, "output": 3}},
        {"text": "Grass.", "repeat": "forever"}),
        env={"WEND_STORE": os.path.abspath("numbers.db")})
    for prompt in ("what is blue", "what is green"):
        server.until(server.run(prompt, ALICE), "ok", token=ALICE)
    same(server.ask("GET", "/metrics", token=ALICE).status, 403,
         "numbers of all users are for admins")
    a = server.ask("GET", "/metrics")
    text = a.body.decode()
    same(a.headers["content-type"],
         "text/plain; version=0.0.4; charset=utf-8", "metrics have their type")
    wanted = ['wend_runs_started_total 2', 'wend_turns_total 2',
              'wend_runs_ended_total{outcome="ok"} 2',
              'wend_tokens_total{kind="input"} 7',
              'wend_model_call_seconds_bucket{le="+Inf"} 2',
              'wend_model_call_seconds_count 2']
    same([w for w in wanted if w + "\n" not in text], [], "and their values")
    names = re.findall(r"^# TYPE (\S+)", text, re.M)
    same(len(names), len(set(names)), "each family stands once")
    if os.access("/usr/bin/promtool", os.X_OK):
        p = subprocess.run(["promtool", "check", "metrics"], input=text,
                           text=True, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT)
        ok(p.returncode == 0, "promtool has no complaint", p.stdout)
    else:
        print("# no promtool: its check was left out")
    stats = server.ask("GET", "/v1/stats", token=ALICE).json
    same((stats["runs"], stats["ok"], stats["tokens_in"], stats["cost"]),
         (2, 2, 7, None), "totals; an unknown cost is not 0")
    same(server.ask("GET", "/v1/stats", token=BOB).json["runs"], 0,
         "of one's own runs")
    for words, count in (("GREEN", 1), ("the%20sky", 1), ("what", 2),
                         ("red", 0)):
        found = server.ask("GET", f"/v1/runs?q={words}", token=ALICE)
        same(len(found.json["runs"]), count, f"search for {words}")
    page = server.ask("GET", "/v1/runs?limit=1", token=ALICE).json
    after = server.ask("GET", f"/v1/runs?limit=1&after={page['next']}",
                       token=ALICE).json
    ok(page["runs"][0]["run"] != after["runs"][0]["run"], "pages of a list")
    server.end()


keys()
uploads()
webhooks()
numbers()
finish()
