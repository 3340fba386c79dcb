#!/usr/bin/env bash
# lib.sh - what the tests of the command share. Run alone it tests itself.
#
# Each test has a home and a store of its own. `run` keeps a command's output
# in $out and $err and its exit status in $status.
set -u
WEND=$(realpath "${WEND:-build/asan/wend}")
test_dir=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
mkdir "$work/home" "$work/cwd"
unset WEND_MODEL WEND_MODELS WEND_CONFIG XDG_CONFIG_HOME XDG_DATA_HOME
# One that no tool was granted: what has it has taken it.
export AWS_SECRET_ACCESS_KEY=canary-$$-$RANDOM$RANDOM$RANDOM
export HOME=$work/home WEND_STORE=$work/wend.db NO_COLOR=1 LC_ALL=C
cd "$work/cwd" || exit 2
out=$work/out err=$work/err status=0
checks=0 checks_bad=0

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

finish() {
    # Nothing that a test writes has a secret of the user's in it.
    [ -z "$(grep -rlaF -- "$AWS_SECRET_ACCESS_KEY" "$work" 2>/dev/null)" ]
    ok "no secret of the environment in any artefact" ||
        grep -rlaF -- "$AWS_SECRET_ACCESS_KEY" "$work" | sed 's/^/# in /'
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
# Two words a second, for long.
slow='script:{"turns":[{"text":"one two three four five six seven eight nine",
"chunk":4,"delay":"200ms"}]}'

# Waits until a command succeeds, at most 10 s.
soon() { # COMMAND...
    local i
    for ((i = 0; i < 200; i++)); do
        "$@" >/dev/null 2>&1 && return 0
        sleep 0.05
    done
    return 1
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
