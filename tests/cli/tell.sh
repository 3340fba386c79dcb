#!/usr/bin/env bash
# tell.sh - a run in another process is canceled, paused, told, approved.
. "$(dirname "$0")/lib.sh"

start() { # OPTIONS...: in the background, until some text is out
    local before
    before=$(newest)
    : >"$out"
    "$WEND" run "$@" hi >"$out" 2>"$err" </dev/null &
    pid=$!
    soon is_new "$before" && soon in_log '"type":"text_delta"'
}
newest() { "$WEND" runs --json --limit 1 | head -c 45; }
is_new() { [ "$(newest)" != "$1" ]; }
in_log() { "$WEND" log --json last | grep -qF -- "$1"; }
tell() { # NAME COMMAND...; keeps what the run said apart
    local name=$1
    shift
    "$WEND" "$@" >told 2>&1
    is "$name: exit status" $? 0 || cat told
    is "$name: silent" "$(cat told)" ""
}

start -m "$slow"
tell "cancel" cancel last
wait $pid
is "canceled: exit status" $? 130
in_log '"what":"cancel","by":"command"'
ok "canceled: by whom"
exits "cancel a run that is over" 2 "$WEND" cancel last
has "cancel a run that is over: said" "$err" "is over"

start -m 'script:{"turns":[{"text":"one two three","delay":"300ms"},
{"text":"two","when":"hurry up"},{"text":"nobody spoke"}]}'
tell "say" say last hurry up
tell "pause" pause last
soon in_log '"what":"pause"'
ok "paused"
soon in_log '"type":"turn_start","turn":1'
sleep 0.3
! in_log '"type":"model_start","turn":1'
ok "paused: the next turn waits"
tell "continue" continue last
wait $pid
is "went on: exit status" $? 0
has "it heard" "$out" two
lacks "and not nothing" "$out" nobody

# Within 250 ms, by the log: the post is before the event.
start -m "$slow"
began=$(date +%s%6N)
tell "say, and look at the clock" say last now
soon in_log '"type":"message"'
"$WEND" log --json --type message last >events
ended=$(json events "CAST($(at time) * 1000000 AS INTEGER)")
[ $((ended - began)) -lt 1250000 ]
ok "seen soon: $(((ended - began) / 1000)) ms with the start of a process"
{ kill -KILL $pid && wait $pid; } 2>/dev/null
for command in "cancel last" "say last x" "pause last" "continue last"; do
    exits "nobody hears: $command" 2 "$WEND" $command
    has "nobody hears: $command, said" "$err" "'wend resume "
done
exits "approve what does not wait" 2 "$WEND" approve last call_1 yes
has "approve what does not wait: said" "$err" "no call waits for approval"
exits "approve perhaps" 2 "$WEND" approve last call_1 perhaps
exits "approve nothing" 2 "$WEND" approve last
exits "say nothing" 2 "$WEND" say last
exits "cancel nothing" 2 "$WEND" cancel
exits "cancel what is not there" 2 "$WEND" cancel nothing

# Questions of a run at a terminal can be answered from elsewhere.
if script -qec true /dev/null </dev/null >/dev/null 2>&1; then
    echo '{"turns":[{"calls":[{"name":"write_file","args":{"path":"new",
"content":"x"}},{"name":"write_file","args":{"path":"other","content":"x"}}]},
{"text":"went on"}]}' >write.json
    before=$(newest)
    { sleep 20 & echo $! >sleeper; wait; } |
        script -qec "$WEND run -t write_file -m script:write.json hi" \
            /dev/null >"$out" 2>&1 &
    pid=$!
    soon is_new "$before" && soon in_log '"type":"approval_ask"'
    exits "approve another call" 2 "$WEND" approve last call_9 yes
    has "approve another call: says which wait" "$err" "call_1, call_2"
    tell "approve" approve last call_1 yes
    tell "deny" approve last call_2 no
    soon in_log '"type":"run_end"'
    ok "approved: it goes on"
    is "approved: what was allowed" "$(cat new)$(cat other 2>/dev/null)" x
    in_log '"yes":true,"by":"command"'
    ok "approved: by whom"
    kill "$(cat sleeper)"
    wait $pid
else
    skip "approve" "no script(1) from util-linux"
fi
finish
