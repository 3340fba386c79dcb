#!/usr/bin/env bash
# many.sh - many processes write one store: all end well, none waits for ever.
#
# MANY processes with CALLS calls each; `make campaign` asks for 500 with 30 and
# then looks at the time, too.
. "$(dirname "$0")/lib.sh"
many=${MANY:-60} calls=${CALLS:-10}

steps=$(model steps "turns:
  - calls: [{name: calculator, args_text: '{\"expression\":\"\${turn} + 1\"}'}]
    repeat: $calls
  - text: done")

# All at once; what one of them takes, in microseconds.
together() { # PROCESSES
    local i began
    "$WEND" run -q -m "$steps" first >/dev/null # makes the store
    began=$(date +%s%N)
    for ((i = 0; i < $1; i++)); do
        "$WEND" run -q -m "$steps" "hi $i" >"$work/out.$i" 2>"$work/err.$i" &
    done
    failed=0
    for i in $(jobs -p); do
        wait "$i" || failed=$((failed + 1))
    done
    each=$((($(date +%s%N) - began) / 1000 / $1))
}

together "$many"
is "$many processes: all end well" "$failed" 0
is "$many processes: nobody complains" "$(cat "$work"/err.* | sort -u)" ""
run "$WEND" verify
is "$many processes: all runs are whole" "$status $(grep -c '  ok  ' "$out")" \
    "0 $((many + 1))"
is "$many processes: with all their calls" "$(sqlite3 "$WEND_STORE" \
    "select count(*) from events where type = 'call_end'")" \
    $(((many + 1) * calls))
if [ "$many" -ge 500 ]; then
    all=$each
    rm -f "$WEND_STORE"*
    together 20
    [ "$all" -le $((2 * each)) ]
    ok "$many processes: $all us each, $each of 20"
fi

# ---- Another program has it -----------------------------------------------------

# For longer than the five seconds that were once the limit, and then no more.
mkfifo "$work/hold"
sqlite3 -cmd '.timeout 9000' "$WEND_STORE" <"$work/hold" >/dev/null &
exec 9>"$work/hold"
echo 'BEGIN IMMEDIATE; SELECT 1;' >&9
locked() { ! sqlite3 "$WEND_STORE" 'BEGIN IMMEDIATE; ROLLBACK'; }
soon locked
"$WEND" run -q -m "$steps" waits >"$out" 2>"$err" 9>&- &
waits=$!
sleep 8
kill -0 $waits
ok "another program has it for 8 s: the run waits"
exec 9>&-
wait $waits
is "and ends well" "$? $(cat "$err")" "0 "

# One that was stopped in the middle does not count its own time.
"$WEND" run -q -m "$steps" >/dev/null 2>"$err" stopped &
waits=$!
kill -STOP $waits
sleep 1
kill -CONT $waits
wait $waits
is "one that was stopped goes on" "$? $(cat "$err")" "0 "
finish
