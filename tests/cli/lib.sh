#!/usr/bin/env bash
# lib.sh - what the tests of the command share. Run alone it tests itself.
#
# Each test has a home and a store of its own. `run` keeps a command's output
# in $out and $err and its exit status in $status.
#
# A test that mounts sets `mounts` before, and asks may_mount: it runs in a
# namespace of its own, which is gone with it.
set -u
may_mount() { [ -n "${MAY_MOUNT:-}" ]; }
if [ -n "${mounts:-}" ] && ! may_mount; then
    [ "$(id -u)" = 0 ] && mounts=-m || mounts=-rm
    if unshare $mounts true 2>/dev/null; then
        MAY_MOUNT=1 exec unshare $mounts "$BASH" "$0"
    fi
fi
WEND=$(realpath "${WEND:-build/asan/wend}")
test_dir=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
work=$(mktemp -d) || exit 2
mkdir "$work/home" "$work/cwd" "$work/tmp"
unset WEND_MODEL WEND_MODELS WEND_CONFIG XDG_CONFIG_HOME XDG_DATA_HOME
unset ${!OTEL_*} TRACEPARENT TRACESTATE
# One that no tool was granted: what has it has taken it.
export AWS_SECRET_ACCESS_KEY=canary-$$-$RANDOM$RANDOM$RANDOM
export HOME=$work/home WEND_STORE=$work/wend.db NO_COLOR=1 LC_ALL=C
export TMPDIR=$work/tmp # empty again when all is done
cd "$work/cwd" || exit 2
exec </dev/null # what is on standard input would be sent with a prompt
out=$work/out err=$work/err status=0
checks=0 checks_bad=0

# Whoever still runs would write into what is removed.
leave() {
    local pids
    pids=$(jobs -p)
    [ -z "$pids" ] || { kill -KILL $pids; wait $pids; } 2>/dev/null
    rm -rf "$work"
}
trap leave EXIT

# ---- Saying what holds --------------------------------------------------------

ok() { # NAME: the status of the command before counts
    local held=$?
    checks=$((checks + 1))
    if [ $held = 0 ]; then
        echo "ok $checks - $1"
        return 0
    fi
    checks_bad=$((checks_bad + 1))
    echo "not ok $checks - $1"
    return 1
}

is() { # NAME GOT WANTED
    [ "$2" = "$3" ]
    ok "$1" || {
        echo "# got:    ${2:0:2000}"
        echo "# wanted: ${3:0:2000}"
    }
}

has() { # NAME FILE TEXT: the text stands in the file
    grep -qF -- "$3" "$2"
    ok "$1" || {
        echo "# no '$3' in:"
        head -c 2000 "$2" | sed 's/^/#   /'
    }
}

lacks() { # NAME FILE TEXT
    ! grep -qF -- "$3" "$2"
    ok "$1" || echo "# '$3' is in the file"
}

skip() { # NAME REASON
    checks=$((checks + 1))
    echo "ok $checks - $1 # SKIP $2"
    echo "SKIPPED: $1: $2" >&2
}

# Also after a kill: whoever watches a program removes its folder.
no_temporaries() {
    rmdir "$TMPDIR"
}

finish() {
    # Nothing that a test writes has a secret of the user's in it.
    [ -z "$(grep -rlaF -- "$AWS_SECRET_ACCESS_KEY" "$work" 2>/dev/null)" ]
    ok "no secret of the environment in any artefact" ||
        grep -rlaF -- "$AWS_SECRET_ACCESS_KEY" "$work" | sed 's/^/# in /'
    soon no_temporaries
    ok "no temporary file is left" || find "$TMPDIR" | sed 's/^/# /'
    echo "1..$checks"
    exit $((checks_bad != 0))
}

# ---- Running wend ---------------------------------------------------------------

run() { # COMMAND...
    "$@" >"$out" 2>"$err" </dev/null
    status=$?
}

exits() { # NAME CODE COMMAND...
    local name=$1 code=$2
    shift 2
    run "$@"
    is "$name: exit status" $status "$code" ||
        head -c 1000 "$err" | sed 's/^/# stderr: /'
}

# A script for a model, as an argument of -m. The text is YAML or JSON.
model() { # NAME TEXT
    printf '%s\n' "$2" >"$work/$1.script"
    echo "script:$work/$1.script"
}

hello='script:{"turns":[{"text":"Hello there.","repeat":"forever"}]}'
sum='script:{"turns":[{"text":"Let me see.","calls":[{"name":"calculator",
"args":{"expression":"6*7"}}]},{"text":"It is ${tool_result}."}]}'
# One word at once, and the next ones when whoever waits has given up: what
# looks at the run between them has all the time that it needs. After `hurry`
# they come at once, for whoever reads the script again.
held=script:$work/held.script
hold() {
    model held '{"turns":[{"text":"one two three four five six seven eight nine",
        "chunk":4,"first_delay":"0ms","delay":"90s"}]}' >/dev/null
}
hurry() { sed -i 's/90s/1ms/' "$work/held.script"; }
hold

# Waits until a command succeeds. Only what fails waits long: machines are slow.
soon() { # COMMAND...
    local end=$((SECONDS + 60))
    until "$@" >/dev/null 2>&1; do
        if [ $SECONDS -ge $end ]; then
            false
            ok "in time: $*"
            return 1
        fi
        sleep 0.05
    done
}

# ---- Runs in the background -----------------------------------------------------

newest() { # the run that began last; children do not count
    "$WEND" runs --json |
        sed -n '/"child":true/d; s/^{"run":"\([^"]*\)".*/\1/p; q'
}
is_new() { [ "$(newest)" != "$1" ]; } # RUN: that is no longer the newest one
in_log() { "$WEND" log --json "$1" | grep -qF -- "$2"; } # RUN TEXT

# Its process is in $pid and, once it has begun, its name in $id. An older run
# is never taken for it, nor is an older run's output its own.
begin() { # COMMAND...
    local before
    before=$(newest)
    : >"$out" >"$err"
    "$@" >"$out" 2>"$err" </dev/null &
    pid=$!
    soon is_new "$before"
    id=$(newest)
}

killed() { # the process in $pid, without a word
    { kill -KILL $pid && wait $pid; } 2>/dev/null
}

# ---- Terminals --------------------------------------------------------------------

has_terminal() { script -qec true /dev/null </dev/null; } >/dev/null 2>&1

# A command line at a terminal, whose keys are descriptor 7; what it shows is
# in $out.
term_begin() { # COMMAND-LINE
    rm -f "$work/keys"
    mkfifo "$work/keys"
    : >"$out"
    script -qec "$1" /dev/null <"$work/keys" >"$out" 2>&1 &
    term_pid=$!
    exec 7>"$work/keys"
}
term_end() {
    wait $term_pid
    status=$?
    exec 7>&-
}

# The same from its begin to its end. An answer is typed when its question is
# there: what is typed before is no answer.
at_terminal() { # COMMAND-LINE [QUESTION ANSWER...]
    local question=${2:-} times=0 answer
    term_begin "$1"
    for answer in "${@:3}"; do
        times=$((times + 1))
        soon shown "$question" $times
        sleep 0.9 # a key that follows a question at once is ignored
        echo "$answer" >&7
    done
    term_end
}
shown() { [ "$(grep -aoF -- "$1" "$out" | wc -l)" -ge "$2" ]; } # TEXT TIMES

# The same on a screen that can be looked at: steps on standard input, see
# tests/terminal/screen.c. All that could be scrolled back to is in $out.
test_screen=$(dirname "$WEND")/tests/wend-test-screen
on_screen() { # WIDTHxHEIGHT COMMAND-LINE < STEPS
    "$test_screen" "$@" >"$out" 2>"$err"
    status=$?
    [ $status != 125 ] || sed 's/^/# /' "$err"
}

# ---- Pictures ----------------------------------------------------------------------

chunk() { # HEX: type and data of a PNG's chunk, with length and checksum
    printf '%08x' $((${#1} / 2 - 4)) | xxd -r -p
    xxd -r -p <<<"$1"
    xxd -r -p <<<"$1" | gzip -c | tail -c 8 | head -c 4 | xxd -p |
        sed 's/\(..\)\(..\)\(..\)\(..\)/\4\3\2\1/' | xxd -r -p
}
png() { # WIDTH HEIGHT: a header that promises that many pixels
    printf '\x89PNG\r\n\x1a\n'
    chunk "49484452$(printf '%08x%08x' "$1" "$2")0802000000"
    chunk 4944415478
    chunk 49454e44
}

# ---- A server ----------------------------------------------------------------------

# The server of tests/server; it ends when descriptor 9 is closed.
test_server=$(dirname "$WEND")/tests/wend-test-server
# The suite builds it before the scripts run, so a missing one is a failure:
# a skip would look like success.
needs_server() {
    [ ! -x "$test_server" ] || return 0
    echo "not ok 1 - $test_server is built"
    echo "$0: build $test_server first, or run 'make test'" >&2
    exit 1
}
serve_http() { # OPTIONS...: its ports are in $port and $tls_port
    mkfifo "$work/hold"
    "$test_server" --until-eof "$@" <"$work/hold" >"$work/ports" \
        2>"$work/server" &
    server_pid=$!
    exec 9>"$work/hold"
    soon test -s "$work/ports"
    read -r port tls_port <"$work/ports"
}

# ---- Looking at events --------------------------------------------------------------

# The types of the lines, deltas of one kind in a row only once.
types() { # FILE
    sed -nE 's/^\{"run":"[^"]*","seq":[0-9]+(,"n":[0-9]+)?,"time":[0-9.]+,"type":"([a-z_]+)".*/\2/p' \
        "$1" | awk '!(/_delta$/ && $0 == last) { print } { last = $0 }' |
        tr '\n' ' ' | sed 's/ $//'
}

# An SQL expression over line.value for each JSON line. Lines that are not JSON
# are an error.
json() { # FILE EXPRESSION
    sqlite3 :memory: "SELECT $2 FROM json_each('[' || replace(rtrim(
        CAST(readfile('$1') AS TEXT), char(10)), char(10), ',') || ']') AS line"
}

at() { # PATH: the SQL for that member of the line
    echo "json_extract(line.value, '\$.$1')"
}

# Kept events are 1, 2, 3 ... and deltas count from 1 after each.
seqs_hold() { # FILE
    sed -nE 's/^\{"run":"[^"]*","seq":([0-9]+)(,"n":([0-9]+))?,.*/\1 \3/p' \
        "$1" | awk '
        NF == 1 { if ($1 != seq + 1) bad = 1; seq = $1; n = 0 }
        NF == 2 { if ($1 != seq || $2 != n + 1) bad = 1; n = $2 }
        END { exit bad || !seq }'
}

# ---- Self-test ------------------------------------------------------------------------

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
    line() { echo "{\"run\":\"r\",\"seq\":$1,\"time\":1.5,\"type\":\"$2\"}"; }
    { line 1 run_start && line '1,"n":1' text_delta &&
        line '1,"n":2' text_delta && line 2 run_end; } >good
    is "types" "$(types good)" "run_start text_delta run_end"
    seqs_hold good
    ok "seqs without gaps"
    sed 2d good >gap
    ! seqs_hold gap
    ok "a missing delta is found"
    sed 4s/2/3/ good >gap
    ! seqs_hold gap
    ok "a missing event is found"
    : >gap
    ! seqs_hold gap
    ok "nothing at all is found"
    is "json" "$(json good "$(at seq)" | tr '\n' ' ')" "1 1 1 2 "
    echo '{"a":' >>good
    json good "$(at seq)" >/dev/null 2>&1
    [ $? != 0 ]
    ok "broken JSON is found"
    run bash -c 'echo a; echo b >&2; exit 5'
    is "run" "$status $(cat "$out" "$err" | tr '\n' ' ')" "5 a b "
    finish
fi
