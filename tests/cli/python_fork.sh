#!/usr/bin/env bash
# python_fork - a host in Python that forks, by multiprocessing: the child is
# refused what it inherits, and keeps no run of a parent that was killed.
. "$(dirname "$0")/lib.sh"

lib=$test_dir/../../build/release/libwend.so
skip_all() { # REASON
    echo "1..0 # SKIP $1"
    exit 0
}
python3 -c 'import ctypes, multiprocessing' 2>/dev/null ||
    skip_all "python3 with ctypes is missing: apt-get install python3"
[ -e "$lib" ] || skip_all "build/release/libwend.so is missing: make"

cat >host.py <<'PY'
import ctypes, multiprocessing, os, sys, time
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_void_p

wend = ctypes.CDLL(sys.argv[1])
wend.wend_run_id.restype = c_char_p
for name in ("store", "runtime", "agent", "run"):
    getattr(wend, "wend_%s_free" % name).argtypes = [c_void_p]
MISUSE = -6

class Str(ctypes.Structure):
    _fields_ = [("ptr", c_char_p), ("len", c_size_t)]

REST = ("rest", c_void_p * 64)  # members that stay at their default

class RuntimeOptions(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("store", c_void_p), REST]

class AgentOptions(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("model", c_char_p),
                REST]

Tool = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p)

class ToolOptions(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("name", c_char_p),
                ("description", c_char_p), ("schema", c_char_p),
                ("call_class", c_int), ("category", c_int),
                ("concurrent", ctypes.c_bool), ("threaded", ctypes.c_bool),
                ("timeout_ms", ctypes.c_uint32), ("subject", c_char_p),
                ("fn", Tool), ("ctx", c_void_p)]

SCRIPT = (b'script:{"turns":[{"calls":[{"name":"later","args":{}}]},'
          b'{"text":"done"}]}')

store, rt, agent, run = c_void_p(), c_void_p(), c_void_p(), c_void_p()
asked = []

@Tool
def later(ctx, call):
    asked.append(call)  # answered by nobody
    return 0

def sized(options, **fields):
    return options(size=ctypes.sizeof(options), **fields)

def check(status):
    if status:
        sys.exit("status %d" % status)

def child(out):
    event, text = c_void_p(), Str()
    answers = [wend.wend_run_next(run, byref(event)),
               wend.wend_run_wait(run, byref(text)),
               wend.wend_runtime_pump(rt),
               wend.wend_store_check(store, None)]
    for kind, handle in (("run", run), ("agent", agent), ("runtime", rt),
                         ("store", store)):
        getattr(wend, "wend_%s_free" % kind)(handle)
    with open(out + ".new", "w") as f:
        print(os.getpid(), "refused" if answers == [MISUSE] * 4 else answers,
              file=f)
    os.rename(out + ".new", out)
    time.sleep(600)  # a helper that lives long

if __name__ == "__main__":
    check(wend.wend_store_open(None, byref(store), None))
    check(wend.wend_runtime_new(byref(sized(RuntimeOptions, store=store)),
                                byref(rt), None))
    check(wend.wend_agent_new(rt, byref(sized(AgentOptions, model=SCRIPT)),
                              byref(agent), None))
    check(wend.wend_agent_add_tool(
        agent, byref(sized(ToolOptions, name=b"later", call_class=2,
                           fn=later)), None))
    wend.wend_run_start.argtypes = [c_void_p, Str] + [c_void_p] * 3
    check(wend.wend_run_start(agent, Str(b"hello", 5), None, byref(run), None))
    event = c_void_p()
    while not asked:
        check(wend.wend_run_next(run, byref(event)))
    helper = multiprocessing.get_context("fork").Process(
        target=child, args=(sys.argv[2],))
    helper.start()
    print(wend.wend_run_id(run).decode(), flush=True)
    helper.join()
PY

run "$WEND" run -q -m "$hello" hi # a store that is the user's own
python3 host.py "$lib" "$work/told" >"$work/id" 2>"$work/said" &
host=$!
for _ in $(seq 600); do
    [ -s "$work/told" ] && [ -s "$work/id" ] && break
    kill -0 $host 2>/dev/null || break
    sleep 0.1
done
[ -s "$work/told" ]
ok "a host in Python forks a helper" || { cat "$work/said" >&2; finish; }
read -r helper answers <"$work/told"
id=$(cat "$work/id")
is "the helper is refused, and frees nothing" "$answers" refused
run "$WEND" resume "$id"
is "the run is the host's while it lives" "$status" 2
has "... and busy" "$err" "held by another process"
kill -KILL $host
wait $host 2>/dev/null
kill -0 "$helper"
ok "the helper outlives its host"
run "$WEND" resume "$id"
is "... and another process resumes the run at once" "$status" 0
has "... to its end" "$out" done
kill -KILL "$helper"
finish
