"""wire.py - HTTP/1.1 over real sockets: order, framing, refusals, bounds."""
import json
import os
import random
import socket
import time

from lib import (Client, Server, Stream, finish, hello, in_threads, ok, same,
                 soon)

MUTATIONS = int(os.environ.get("SERVE_MUTATIONS", "1000"))
WORKERS = 32
SLOW = os.environ.get("SERVE_SLOW")  # what takes longer than 10 s

s = Server(model=hello())
AUTH = f"Host: 127.0.0.1:{s.port}\r\nAuthorization: Bearer {s.TOKEN}\r\n"
JSON = "Content-Type: application/json\r\n"


def get(path, more=""):
    return f"GET {path} HTTP/1.1\r\n{AUTH}{more}\r\n"


def post(path, body, more=""):
    return (f"POST {path} HTTP/1.1\r\n{AUTH}{JSON}{more}"
            f"Content-Length: {len(body)}\r\n\r\n{body}")


def answer_to(data, is_head=False):
    """The answer and whether the connection was closed after it."""
    c = Client(s)
    try:
        c.send(data)
    except OSError:
        pass
    a = c.answer(is_head)
    a.closed = "close" in a.headers.get("connection", "")
    if a.closed:
        a.closed = c.is_closed()
    c.close()
    return a


# ---- Connections -----------------------------------------------------------

c = Client(s)
for i in range(3):
    c.send(get("/v1/me"))
    a = c.answer()
    same((a.status, a.headers["connection"]), (200, "keep-alive"),
         f"keep-alive {i}")
c.send(get("/v1/me", "Connection: close\r\n"))
a = c.answer()
same((a.status, a.headers["connection"], c.is_closed()), (200, "close", True),
     "closed on request")

names = ["/v1/me", "/healthz", "/v1/agents", "/v1/runs?limit=1", "/v1/tools"]
c = Client(s)
c.send("".join(get(n) for n in names * 20))
got = [sorted(c.answer().json)[0] for _ in range(100)]
same(got, ["agents", "status", "agents", "next", "tools"] * 20,
     "pipelined requests are answered in order")
body = json.dumps({"prompt": "hi"})
c.send(post("/v1/runs", body) + get("/v1/me") + post("/v1/runs", body) +
       get("/healthz"))
same([c.answer().status for _ in range(4)], [201, 200, 201, 200],
     "an answer that comes later keeps its place")
run = s.run()
s.until(run, "ok")
c.send(get(f"/v1/runs/{run}/events") + get("/v1/me"))
a, b = c.answer(), c.answer()
ok(b'"run_end"' in a.body and b.json.get("user"),
   "a request behind a stream is answered after it")
text = "".join(get("/healthz") for _ in range(3000))
for size in (1, 7, 100000):
    c = Client(s)
    part = text[:len(get("/healthz")) * (20 if size == 1 else 3000)]
    for i in range(0, len(part), size):
        c.send(part[i:i + size])
        if size == 100000:
            break
    count = len(part[:i + size]) // len(get("/healthz"))
    got = [c.answer().status for _ in range(count)]
    same(set(got), {200}, f"in pieces of {size} bytes: {count} answers")
    c.close()

# ---- Bodies ----------------------------------------------------------------

CHUNKED = f"POST /v1/plans/check HTTP/1.1\r\n{AUTH}{JSON}" \
          "Transfer-Encoding: chunked\r\n"
chunks = '5\r\n{"pla\r\n1;x=y\r\nn\r\n6\r\n":"x"}\r\n0\r\n'
for name, data in [("chunked", chunks + "\r\n"),
                   ("with a trailer", chunks + "X-Sum: 1\r\n\r\n")]:
    c = Client(s)
    for i in range(0, len(data), 3):
        c.send((CHUNKED + "\r\n" if not i else "") + data[i:i + 3])
    same(c.answer().status, 200, f"a body {name}")
    c.send(get("/healthz"))
    same(c.answer().status, 200, f"a body {name}: and the next request")
c = Client(s)
c.send(f"POST /v1/plans/check HTTP/1.1\r\n{AUTH}{JSON}Expect: 100-continue\r\n"
       "Content-Length: 12\r\n\r\n")
same(c.answer().status, 100, "Expect is answered before the body")
c.send('{"plan":"x"}')
same(c.answer().status, 200, "Expect: then comes the answer")
a = answer_to(f"POST /v1/plans/check HTTP/1.1\r\n{AUTH}{JSON}"
              "Expect: 100-continue\r\nContent-Length: 10000000000\r\n\r\n")
same((a.status, a.closed), (413, True), "Expect with too long a body: 413")
a = answer_to(f"POST /v1/plans/check HTTP/1.1\r\nHost: 127.0.0.1:{s.port}\r\n"
              f"{JSON}Expect: 100-continue\r\nContent-Length: 12\r\n\r\n")
same(a.status, 401, "Expect without a token: 401 before the body")
a = answer_to(f"POST /v1/plans/check HTTP/1.1\r\n{AUTH}{JSON}"
              "Expect: a miracle\r\nContent-Length: 12\r\n\r\n")
same(a.status, 417, "another expectation: 417")

# ---- HEAD, HTTP/1.0 --------------------------------------------------------

c = Client(s)
for path in ("/v1/me", "/healthz", "/nothing", f"/v1/runs/{run}",
             f"/v1/runs/{run}/events", "/v1/feed"):
    c = Client(s)
    c.send(get(path).replace("GET", "HEAD", 1))
    a = c.answer(True)
    same(a.status, 404 if "nothing" in path else 200, f"HEAD {path}")
    if "close" not in a.headers["connection"]:
        c.send(get("/healthz"))
        b = c.answer()
        same(b.status, 200, f"HEAD {path}: no body follows")
    else:
        ok(c.is_closed(), f"HEAD {path}: no body follows")
old = f"GET %s HTTP/1.0\r\n{AUTH}%s\r\n"
a = answer_to(old % ("/v1/me", ""))
same((a.status, a.closed), (200, True), "HTTP/1.0 closes")
c = Client(s)
c.send(old % ("/v1/me", "Connection: keep-alive\r\n"))
same(c.answer().status, 200, "HTTP/1.0 with keep-alive")
a = answer_to(old % (f"/v1/runs/{run}/events", "Connection: keep-alive\r\n"))
ok("transfer-encoding" not in a.headers and a.closed and
   b'"run_end"' in a.body, "HTTP/1.0: a stream ends with the connection", a)

# ---- Half-closed clients ---------------------------------------------------

for name, data, n in [("a request", get("/v1/me"), 1),
                      ("three", get("/v1/me") * 3, 3),
                      ("a start", post("/v1/runs", body), 1),
                      ("a start and more", post("/v1/runs", body) +
                       get("/v1/me"), 2),
                      ("half a request", get("/v1/me")[:-2], 0),
                      ("half a body", post("/v1/runs", body)[:-3], 0)]:
    c = Client(s)
    c.send(data)
    c.sock.shutdown(socket.SHUT_WR)
    got = []
    for _ in range(n):
        try:
            got.append(c.answer().status // 100)
        except EOFError as e:
            got.append(e)
    same(got, [2] * n, f"half-closed after {name}: answered")
    ok(c.is_closed(), f"half-closed after {name}: then closed")

# ---- Smuggling ---------------------------------------------------------------

CL = "Content-Length: 5\r\n"
TE = "Transfer-Encoding: chunked\r\n"
P = f"POST /v1/plans/check HTTP/1.1\r\n{AUTH}{JSON}"
bad = {
    "two lengths": P + CL + "Content-Length: 6\r\n\r\n{}   ",
    "the same length twice": P + CL + CL + "\r\n{}   ",
    "a list of lengths": P + "Content-Length: 5, 5\r\n\r\n{}   ",
    "length and chunked": P + CL + TE + "\r\n0\r\n\r\n",
    "chunked and length": P + TE + CL + "\r\n0\r\n\r\n",
    "chunked twice": P + TE + TE + "\r\n0\r\n\r\n",
    "another coding": P + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "chunked not last": P + "Transfer-Encoding: chunked, x\r\n\r\n0\r\n\r\n",
    "xchunked": P + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "chunked in 1.0": P.replace("1.1", "1.0") + TE + "\r\n0\r\n\r\n",
    "a negative length": P + "Content-Length: -1\r\n\r\n",
    "a length with a plus": P + "Content-Length: +5\r\n\r\n{}   ",
    "a length in hex": P + "Content-Length: 0x5\r\n\r\n{}   ",
    "an empty length": P + "Content-Length: \r\n\r\n",
    "a length too large": P + "Content-Length: 99999999999999999999\r\n\r\n",
    "a folded header": P + "X: a\r\n b\r\n" + CL + "\r\n{}   ",
    "a space before the colon": P + "Content-Length : 5\r\n\r\n{}   ",
    "a space before the name": P + " " + CL + "\r\n{}   ",
    "a bare LF": P.replace("\r\n", "\n") + "\n",
    "a bare CR": P + "X: a\rb\r\n" + CL + "\r\n{}   ",
    "a NUL": P + "X: a\0b\r\n" + CL + "\r\n{}   ",
    "no colon": P + "Nonsense\r\n" + CL + "\r\n{}   ",
    "an empty name": P + ": x\r\n" + CL + "\r\n{}   ",
    "two hosts": P + "Host: evil\r\n" + CL + "\r\n{}   ",
    "a host in the target": P.replace(" /v1", " http://evil/v1") + CL +
    "\r\n{}   ",
    "no target": P.replace("/v1/plans/check ", "") + "\r\n",
    "two spaces": P.replace(" HTTP", "  HTTP") + "\r\n",
    "HTTP/2": P.replace("1.1", "2.0") + "\r\n",
    "HTTP/1.2": P.replace("1.1", "1.2") + "\r\n",
    "a lower-case method": P.replace("POST", "post") + CL + "\r\n{}   ",
    "a fragment": P.replace("check", "check#x") + CL + "\r\n{}   ",
    "a chunk size of text": P + TE + "\r\nxyz\r\n\r\n",
    "a chunk size too large": P + TE + "\r\nfffffffffffffffff\r\n\r\n",
    "a chunk that is longer": P + TE + "\r\n2\r\n{}}\r\n0\r\n\r\n",
    "a chunk with bare LF": P + TE + "\r\n2\n{}\n0\n\n",
    "a TLS hello": "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    "nonsense": "\r\n\r\n\r\nhello?\r\n\r\n",
}
for name, data in bad.items():
    c = Client(s)
    c.sock.sendall(data.encode("latin-1") + get("/v1/me").encode())
    a = c.answer()
    ok(400 <= a.status < 506 and a.status != 404 and
       a.headers.get("connection") == "close" and c.is_closed(),
       f"refused and closed: {name}", a)

# ---- Mutations -----------------------------------------------------------------

random.seed(int(os.environ.get("SERVE_SEED", "15")))
seeds = [get("/v1/me"), post("/v1/plans/check", '{"plan":"x"}'),
         CHUNKED + "\r\n" + chunks + "\r\n", get("/v1/runs?limit=1"),
         get("/nothing/%41?x=%20"), get("/v1/me").replace("GET", "HEAD"),
         post("/v1/plans/check", '{}', "Expect: 100-continue\r\n")]
special = ["\r\n", "\n", "\r", ":", " ", "\0", "\t", ",", "%", "%00", "0", "9",
           "Content-Length: 3\r\n", "Transfer-Encoding: chunked\r\n", "\x80",
           "HTTP/1.1", "?", "#", "/", "..", "A" * 5000, "\r\n\r\n"]


def mutate(text):
    for _ in range(random.randint(1, 4)):
        i = random.randrange(len(text))
        j = min(len(text), i + random.randint(1, 8))
        kind = random.randrange(5)
        if kind == 0:
            text = text[:i] + text[j:]
        elif kind == 1:
            text = text[:i] + random.choice(special) + text[i:]
        elif kind == 2:
            text = text[:i] + chr(random.randrange(256)) + text[i + 1:]
        elif kind == 3:
            text = text[:i] + text[i:j] * 2 + text[j:]
        else:
            text = text[:i] + random.choice(special) + text[j:]
        text = text or "x"
    return text


def one_mutation(data):
    """Every answer is well formed, and the connection ends."""
    c = Client(s, 20)
    is_head = data.startswith("HEAD")
    try:
        c.sock.sendall(data.encode("latin-1"))
        c.sock.shutdown(socket.SHUT_WR)
    except OSError:
        pass
    try:
        while c.data or c.more():
            a = c.answer(is_head)
            if is_head and a.status >= 400:
                break  # what is no HEAD for the server has a body
            if a.status >= 400:
                a.json["detail"]
    finally:
        c.close()


wrong = []
todo = [mutate(random.choice(seeds)) for _ in range(MUTATIONS)]


def mutations(start):
    for data in todo[start::WORKERS]:
        try:
            one_mutation(data)
        except Exception as e:
            wrong.append((e, data))


in_threads(WORKERS, mutations)  # a wrong token takes its time
same(wrong[:3], [], f"{MUTATIONS} mutations: answers are well formed")
ok(s.alive(), "and the server is there")

# ---- Large things cost nothing ----------------------------------------------


def pour(head, piece, count):
    """Sends until the server has enough of it; the answer."""
    c = Client(s)
    try:
        c.send(head)
        for _ in range(count):
            c.sock.sendall(piece)
    except OSError:
        pass
    try:
        return c.answer().status
    except (EOFError, ConnectionError) as e:
        return e
    finally:
        c.close()


s.ask("POST", "/v1/plans/check", b'{"plan":"' + b"x" * (4000000) + b'"}')
before = s.rss_kb()
piece = b"x" * 65536
large = [
    ("a body of 10 GB", P + "Content-Length: 10000000000\r\n\r\n", piece, 200,
     413),
    ("a body of 10 GB in chunks", P + TE + "\r\n", b"10000\r\n" + piece +
     b"\r\n", 200, 413),
    ("a header of 1 MB", P + "X: ", piece, 16, 431),
    ("a target of 1 MB", "GET /", piece, 16, 414),
    ("100,000 headers", P, b"X: y\r\n" * 1000, 100, 431),
    ("100,000 trailers", P + TE + "\r\n0\r\n", b"X: y\r\n" * 1000, 100, 431),
    ("chunks of one byte with long extensions", P + TE + "\r\n",
     b"1;" + b"x" * 5000 + b"\r\n \r\n", 100, None),
    ("JSON of depth 100,000", P + "Content-Length: 100009\r\n\r\n{\"plan\":" +
     "[" * 100000 + "}", b"", 0, 400),
]
for name, head, piece_of, count, status in large:
    got = pour(head, piece_of, count)
    ok(got == status or (status is None and got in (400, 413, 431)),
       f"{name} is refused", got)
grown = s.rss_kb() - before
ok(grown < 8192, "memory stays flat", grown)

# ---- Slow clients ------------------------------------------------------------

heads = [Client(s) for _ in range(200)]
for c in heads:
    c.send("GET /v1/me HTTP/1.1\r\nX: ")
bodies = [Client(s) for _ in range(200)]
for c in bodies:
    c.send(P + "Content-Length: 100\r\n\r\n{")
begun = time.monotonic()
same(s.ask("GET", "/v1/me").status, 200, "400 slow clients are in nobody's way")
ok(time.monotonic() - begun < 2, "nor do they cost time")
grown = s.rss_kb() - before
ok(grown < 400 * 64, "a slow client has little memory", grown)
if SLOW:
    same({c.answer().status for c in heads}, {408}, "slow heads end: 408")
    ok(9 < time.monotonic() - begun < 14, "after 10 s")
    same({c.answer().status for c in bodies}, {408}, "slow bodies end: 408")
    ok(29 < time.monotonic() - begun < 34, "after 30 s")
for c in heads + bodies:
    c.close()
silent = [Client(s) for _ in range(100)]
for c in silent:
    c.send(get(f"/v1/runs/{run}/events?format=json") * 200)
time.sleep(0.5)
grown = s.rss_kb() - before
ok(grown < 100 * 512, "clients that do not read have little memory", grown)
same(s.ask("GET", "/v1/me").status, 200, "and are in nobody's way")
for c in silent:
    c.close()

same(s.end(), 143, "it ends as it should")
finish()
