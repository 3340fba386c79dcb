"""lib.py - what the tests of 'wend serve' share: the server, clients, TAP.

HOME, WEND and WEND_STORE come from tests/cli/lib.sh.
"""
import hashlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time

WEND = os.environ["WEND"]
WAIT_S = 60  # only what fails waits long: machines are slow

# ---- TAP -------------------------------------------------------------------

checks = [0, 0]


def ok(held, name, *notes):
    checks[0] += 1
    if not held:
        checks[1] += 1
    print(f"{'ok' if held else 'not ok'} {checks[0]} - {name}")
    for note in notes if not held else ():
        print("# " + repr(note)[:2000])
    sys.stdout.flush()
    return held


def same(got, wanted, name):
    return ok(got == wanted, name, got, wanted)


def finish():
    print(f"1..{checks[0]}")
    sys.stdout.flush()
    sys.exit(checks[1] != 0)


def soon(test, seconds=WAIT_S):
    """Waits until test() is true; its value."""
    end = time.monotonic() + seconds
    while True:
        got = test()
        if got or time.monotonic() > end:
            return got
        time.sleep(0.02)


def excuse(kind, value, trace):
    """What a server said is what a broken test needs to show."""
    sys.__excepthook__(kind, value, trace)
    for server in servers:
        time.sleep(0.5)
        if not server.process:
            continue
        print(f"# a server ({server.process.poll()}) said:")
        print("".join("#   " + line for line in server.lines[-60:]))
        server.process.kill()
    os._exit(1)


sys.excepthook = excuse
servers = []

# ---- The server ------------------------------------------------------------

def script(*turns):
    """A model that answers by the text of the prompt; in a file."""
    text = json.dumps({"turns": list(turns)})
    path = os.path.abspath(
        hashlib.sha256(text.encode()).hexdigest()[:16] + ".script")
    with open(path, "w") as f:
        f.write(text)
    return "script:" + path


def hello(text="Hello there."):
    return script({"text": text, "repeat": "forever"})


def token_line(token, user, rights):
    return f"{hashlib.sha256(token.encode()).hexdigest()} {user} {rights}\n"


def write_private(path, text):
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(fd, "w") as f:
        f.write(text)


class Server:
    TOKEN = "a-token-for-tests-0123456789"

    def __init__(self, *args, model=None, listen="127.0.0.1:0", env=None,
                 start=True):
        self.args = [WEND, "serve", "--listen", listen, *args]
        if model:
            self.args += ["-m", model]
        # Memory that waits in quarantine would count as used.
        asan = os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=2"
        self.env = dict(os.environ, WEND_TOKEN=self.TOKEN, USER="op",
                        ASAN_OPTIONS=asan, **(env or {}))
        self.lines = []
        self.process = None
        servers.append(self)
        self.port = 0
        self.path = None
        if start:
            self.start()

    def start(self):
        self.process = subprocess.Popen(
            self.args, env=self.env, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()
        soon(lambda: self.port or self.path or
             self.process.poll() is not None)

    def _read(self):
        for line in self.process.stderr:
            self.lines.append(line)
            m = re.search(r"listening on (?:http://(\S+):(\d+)|unix:(\S+))",
                          line)
            if m and m[3]:
                self.path = m[3]
            elif m:
                self.host, self.port = m[1], int(m[2])

    def said(self):
        return "".join(self.lines)

    def kill(self, sig=signal.SIGKILL):
        self.process.send_signal(sig)

    def end(self, sig=signal.SIGTERM, seconds=WAIT_S):
        """Its exit status."""
        if self.process.poll() is None:
            self.kill(sig)
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            code = "too late"
            self.process.wait()
        self.thread.join(5)
        self.port = 0
        return code

    def again(self):
        """Another process on the same store and, if it is free, port."""
        self.start()

    def alive(self):
        return self.process.poll() is None

    def rss_kb(self):
        with open(f"/proc/{self.process.pid}/status") as f:
            return int(re.search(r"VmRSS:\s+(\d+)", f.read())[1])

    def connect(self, seconds=WAIT_S):
        if self.path:
            s = socket.socket(socket.AF_UNIX)
            s.settimeout(seconds)
            s.connect(self.path)
            return s
        return socket.create_connection(("127.0.0.1", self.port), seconds)

    def host_name(self):
        return "localhost" if self.path else f"127.0.0.1:{self.port}"

    # One request on a connection of its own.
    def ask(self, method, path, body=None, token=TOKEN, headers=None,
            media="application/json", close=True):
        all_headers = {"Host": self.host_name()}
        if token:
            all_headers["Authorization"] = "Bearer " + token
        if close:
            all_headers["Connection"] = "close"
        data = None
        if body is not None:
            data = body if isinstance(body, bytes) else \
                (body if isinstance(body, str) else json.dumps(body)).encode()
            all_headers["Content-Length"] = str(len(data))
            if media:
                all_headers["Content-Type"] = media
        for k, v in (headers or {}).items():
            if v is None:
                all_headers.pop(k, None)
            else:
                all_headers[k] = v
        c = Client(self)
        try:
            c.send_request(method, path, all_headers, data or b"")
            return c.answer(method == "HEAD")
        finally:
            c.close()

    def run(self, prompt="hi", token=TOKEN, **more):
        a = self.ask("POST", "/v1/runs", {"prompt": prompt, **more}, token)
        if a.status != 201:
            raise AssertionError(f"no run: {a.status} {a.body[:500]}")
        return a.json["run"]

    def row(self, run, token=TOKEN):
        return self.ask("GET", f"/v1/runs/{run}", token=token).json

    def until(self, run, *status, token=TOKEN):
        return soon(lambda: self.row(run, token).get("status") in status)

    def events(self, run, path="", token=TOKEN, headers=None):
        return Stream(self, f"/v1/runs/{run}/events{path}", token, headers)


def log_lines(run, *options):
    """The lines that the command prints of a run."""
    return subprocess.run([WEND, "log", "--json", *options, run],
                          stdout=subprocess.PIPE, check=True,
                          text=True).stdout.splitlines()


# ---- Clients ---------------------------------------------------------------

class Answer:
    status, version, headers, body = 0, "", {}, b""

    @property
    def json(self):
        return json.loads(self.body)

    def problem(self):
        """(status, code, field) of a refusal."""
        p = self.json
        return self.status, p.get("code"), p.get("field")

    def __repr__(self):
        return f"{self.status} {self.headers} {self.body[:300]}"


class Client:
    """A connection; reads answers strictly, so that a broken one fails."""

    def __init__(self, server, seconds=WAIT_S, sock=None):
        self.server = server
        self.sock = sock or server.connect(seconds)
        self.data = b""

    def close(self):
        self.sock.close()

    def send(self, data):
        self.sock.sendall(data.encode() if isinstance(data, str) else data)

    def send_request(self, method, path, headers, body=b""):
        head = f"{method} {path} HTTP/1.1\r\n" + "".join(
            f"{k}: {v}\r\n" for k, v in headers.items()) + "\r\n"
        try:
            self.send(head.encode("latin-1") + body)
        except (BrokenPipeError, ConnectionResetError):
            pass  # it may have answered before all was sent

    def more(self):
        try:
            got = self.sock.recv(65536)
        except ConnectionResetError:
            got = b""
        self.data += got
        return got

    def line(self):
        while b"\n" not in self.data:
            if not self.more():
                raise EOFError(self.data)
        line, self.data = self.data.split(b"\n", 1)
        if not line.endswith(b"\r"):
            raise ValueError(f"a line without CR: {line!r}")
        return line[:-1].decode("latin-1")

    def take(self, count):
        while len(self.data) < count:
            if not self.more():
                raise EOFError(self.data)
        got, self.data = self.data[:count], self.data[count:]
        return got

    def head(self):
        a = Answer()
        m = re.fullmatch(r"HTTP/1\.([01]) (\d\d\d) ([ -~]*)", self.line())
        if not m:
            raise ValueError("no status line")
        a.status = int(m[2])
        a.headers = {}
        while True:
            line = self.line()
            if not line:
                return a
            m = re.fullmatch(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+): ([ -~]*)", line)
            if not m or m[1].lower() in a.headers:
                raise ValueError(f"a bad header: {line!r}")
            a.headers[m[1].lower()] = m[2]

    def chunk(self):
        size = int(self.line(), 16)
        data = self.take(size)
        if self.take(2) != b"\r\n":
            raise ValueError("a chunk without its end")
        return data

    def answer(self, is_head=False):
        a = self.head()
        if a.status // 100 == 1 or a.status in (204, 304) or is_head:
            return a
        if a.headers.get("transfer-encoding") == "chunked":
            while True:
                piece = self.chunk()
                if not piece:
                    return a
                a.body += piece
        if "content-length" in a.headers:
            a.body = self.take(int(a.headers["content-length"]))
            return a
        while self.more():
            pass
        a.body, self.data = self.data, b""
        return a

    def is_closed(self):
        return not self.data and not self.more()


class Event:
    def __init__(self, text):
        self.id = self.data = None
        self.name = "message"
        for line in text.split("\n"):
            if line.startswith("id: "):
                self.id = int(line[4:])
            elif line.startswith("data: "):
                self.data = line[6:]
            elif line.startswith("event: "):
                self.name = line[7:]

    @property
    def json(self):
        return json.loads(self.data)


class Stream:
    """Server-sent events of one request, as they come."""

    def __init__(self, server, path, token=Server.TOKEN, headers=None,
                 receive_bytes=0):
        self.text = ""
        self.comments = 0
        if receive_bytes:
            s = socket.socket()
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
            s.settimeout(WAIT_S)
            s.connect(("127.0.0.1", server.port))
            self.client = Client(server, sock=s)
        else:
            self.client = Client(server)
        self.client.send_request("GET", path, {
            "Host": server.host_name(), "Authorization": "Bearer " + token,
            **(headers or {})})
        self.head = self.client.head()
        if self.head.status != 200:
            raise AssertionError(f"no stream: {self.head}")

    def __iter__(self):
        while True:
            e = self.next()
            if e is None:
                return
            yield e

    def next(self):
        """None at its end; raises EOFError if it breaks off."""
        while "\n\n" not in self.text:
            piece = self.client.chunk()
            if not piece:
                return None
            self.text += piece.decode()
        text, self.text = self.text.split("\n\n", 1)
        if text.startswith(":"):
            self.comments += 1
            return self.next()
        return Event(text)

    def close(self):
        self.client.close()


def kept(events):
    return [e.id for e in events if e.id is not None]


def in_threads(count, work):
    """work(i) in threads; the list of results or exceptions."""
    results = [None] * count

    def one(i):
        try:
            results[i] = work(i)
        except Exception as e:  # the caller looks at it
            results[i] = e
    threads = [threading.Thread(target=one, args=(i,)) for i in range(count)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return results
