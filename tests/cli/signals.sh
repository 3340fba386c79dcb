#!/usr/bin/env bash
# signals.sh - interrupts, ends and readers that leave.
. "$(dirname "$0")/lib.sh"

start() { # OPTIONS...: in the background, until some text is out
    begin "$WEND" run --stream -m "$held" "$@" hi
    soon grep -q '^one\|{"text":"one' "$out"
}
last_status() { "$WEND" runs --json --limit 1 >list && json list "$(at status)"; }

start
kill -INT $pid
wait $pid
is "SIGINT: exit status" $? 130
is "SIGINT: the partial text" "$(head -c 4 "$out")" "one "
lacks "SIGINT: not all of it" "$out" nine
is "SIGINT: a whole line" "$(tail -c1 "$out" | od -An -tx1)" " 0a"
is "SIGINT: status" "$(last_status)" canceled
start --json
kill -INT $pid
wait $pid
is "SIGINT, --json: order" "$(types "$out")" "run_start turn_start \
context_start context_end model_start text_delta control model_end turn_end \
metrics run_end"
tail -1 "$out" >last
is "SIGINT: run_end" "$(json last "$(at data.outcome)")" canceled
has "SIGINT: run_end keeps the text" last '"text":"one '
has "SIGINT: the log says what canceled" "$out" '"what":"cancel","by":"signal"'
seqs_hold "$out"
ok "SIGINT: seq without gaps"
run "$WEND" replay --speed 0 --events agio last
has "SIGINT: and so does agio" "$out" '"data":{"reason":"signal"}'

# Twice leaves, though the reader never takes what is pending.
head -c 3000000 /dev/zero | tr '\0' 'x' >long
model long "{\"turns\":[{\"text\":\"$(head -c 300000 long)\",\"chunk\":1000}]}" \
    >/dev/null
mkfifo pipe
"$WEND" run -m "script:$work/long.script" hi >pipe 2>"$err" &
pid=$!
exec 8<pipe
is_over() { "$WEND" runs --json --status ok | grep -q run; }
soon is_over
ok "the run is over, its text is not out"
# Two that come at once are one: another one follows until it has left.
has_left() { ! kill -INT $pid || grep -q '^State:.Z' "/proc/$pid/status"; }
soon has_left
ok "SIGINT twice: it leaves"
wait $pid
is "SIGINT twice: exit status" $? 130
exec 8<&-

start
kill -TERM $pid
wait $pid
is "SIGTERM: exit status" $? 143
is "SIGTERM: status" "$(last_status)" interrupted
"$WEND" log --json last >events
! types events | grep -q run_end
ok "SIGTERM: no run_end, it can be taken up again"
seqs_hold events
ok "SIGTERM: seq without gaps"
is "SIGTERM: what was shown is in the log" \
    "$(json events "CASE $(at type) WHEN 'text_delta' THEN $(at data.text) END" |
        tr -d '\n' | cut -c1-4)" "one "

start
killed
is "SIGKILL: status" "$(last_status)" interrupted
exits "SIGKILL: replay" 0 "$WEND" replay --speed 0 last
has "SIGKILL: replay notes it" "$err" "unfinished"

# A reader that leaves.
"$WEND" run --json -m "$held" hi | head -1 >"$out"
is "closed pipe: exit status" "${PIPESTATUS[0]}" 130
is "closed pipe: status" "$(last_status)" canceled
"$WEND" log --json last >events
is "closed pipe: run_end" "$(tail -1 events >last &&
    json last "$(at type)||' '||$(at data.outcome)")" "run_end canceled"
has "closed pipe: the log says what canceled" events \
    '"what":"cancel","by":"stdout"'
began=$(date +%s%N)
"$WEND" run -m 'script:{"turns":[{"text":"a","first_delay":"90s"}]}' hi |
    sleep 0.3
codes=("${PIPESTATUS[@]}")
is "closed pipe, nothing to write: exit status" "${codes[0]}" 130
[ $((($(date +%s%N) - began) / 1000000)) -lt 45000 ]
ok "closed pipe, nothing to write: noticed"
# Noticed while it runs, or after its end: the exit status and the log agree.
status_and_log() {
    echo "$1 $("$WEND" runs --json | grep -o '"status":"[a-z]*"' | head -n 1)"
}
"$WEND" run -m "$hello" hi >&- 2>"$err"
status_and_log $? | grep -qx '130 "status":"canceled"\|1 "status":"ok"'
ok "no stdout at all: exit status"
if [ -e /dev/full ]; then
    "$WEND" run -m "$hello" hi >/dev/full 2>"$err"
    is "stdout on a full disk: exit status" "$(status_and_log $?)" \
        '1 "status":"ok"'
    has "stdout on a full disk: said" "$err" "cannot write to standard output"
else
    skip "stdout on a full disk" "no /dev/full"
fi
"$WEND" log --follow last | true
codes=("${PIPESTATUS[@]}")
[ "${codes[0]}" = 130 ] || [ "${codes[0]}" = 0 ]
ok "log into a closed pipe ends"
finish
