#!/usr/bin/env bash
# replay.sh - replay and log: the same bytes, the same pace, other readers.
. "$(dirname "$0")/lib.sh"

exits "a run" 0 "$WEND" run --json -m "$sum" hi
cp "$out" original
exits "replay --speed 0 --json" 0 "$WEND" replay --speed 0 --json last
cmp -s "$out" original
ok "replay: the same bytes, deltas too"
exits "log --json" 0 "$WEND" log --json last
cmp -s "$out" original
ok "log: the same bytes"
exits "replay in words" 0 "$WEND" replay --speed 0 last
is "replay in words" "$(cat "$out")" "It is 42."
exits "replay --stream" 0 "$WEND" replay --speed 0 --stream last
is "replay --stream" "$(cat "$out")" "Let me see.
It is 42."
first=$WEND_STORE
export WEND_STORE=$work/dialects.db
for dialect in loom agio cortex ag-ui openai-chat responses ui; do
    "$WEND" run --events $dialect -m "$sum" hi >"$work/live" 2>/dev/null
    exits "log $dialect" 0 "$WEND" log --events $dialect last
    is "$dialect: log gives what the run gave" "$(cat "$out")" \
        "$(cat "$work/live")"
    is "$dialect: so does replay" "$(cat "$out")" \
        "$("$WEND" replay --speed 0 --events $dialect last)"
done
plan='script:{"turns":[{"text":"I plan.","thinking":"hm","calls":[{"name":"plan",
"args":{"actions":[{"name":"a","type":"tool","target":"calculator",
"params":{"expression":"6*7"}}]}}]},{"text":"It is 42."}]}'
"$WEND" run --events cortex --plan "get 42" -m "$plan" >"$work/live" 2>/dev/null
is "cortex of a planner: the records" \
    "$(json "$work/live" "$(at event_type)" | uniq | tr '\n' ' ')" \
    "agent_started iteration_started thought llm_token plan_generated \
action_started action_completed progress iteration_completed \
iteration_started llm_token iteration_completed termination agent_completed "
is "cortex of a planner: the same from a replay" "$(cat "$work/live")" \
    "$("$WEND" replay --speed 0 --events cortex last)"
export WEND_STORE=$first
exits "--to" 0 "$WEND" replay --speed 0 --json --to 4 last
is "--to" "$(types "$out")" \
    "run_start turn_start context_start context_end"

exits "log" 0 "$WEND" log last
is "log: a line per kept event" "$(wc -l <"$out")" \
    "$(grep -vc '"n":' original)"
exits "log --deltas" 0 "$WEND" log --deltas last
is "log --deltas: a line per event" "$(wc -l <"$out")" "$(wc -l <original)"
exits "log --type of a delta" 0 "$WEND" log --type text_delta last
is "log --type of a delta: it was asked for" "$(wc -l <"$out")" \
    "$(grep -c '"type":"text_delta"' original)"
exits "log --json" 0 "$WEND" log --json last
is "log --json: all of it" "$(cat "$out")" "$(cat original)"
exits "--no-deltas" 0 "$WEND" log --no-deltas --json last
is "--no-deltas" "$(cat "$out")" "$(grep -v '"n":' original)"
exits "--type" 0 "$WEND" log --json --type call_end --type run_end last
is "--type" "$(types "$out")" "call_end run_end"
exits "--from" 0 "$WEND" log --json --from 8 last
is "--from" "$(head -1 "$out")" "$(grep -n '"seq":8,"time"' original |
    cut -d: -f2-)"
exits "--from past the end" 0 "$WEND" log --json --from 999 last
is "--from past the end" "$(cat "$out")" ""
begin "$WEND" run -m "$held" hi
soon in_log "$id" '"type":"text_delta"'
"$WEND" log --follow "$id" >followed 2>told &
follower=$!
soon test -s followed
killed
wait $follower
is "--follow of a run whose owner dies: exit status" $? 1
has "--follow of a run whose owner dies: said" told "'wend resume $id'"
"$WEND" rm --yes -q "$id"
exits "--follow of a run that is over" 0 "$WEND" log --follow --json last
cmp -s "$out" original
ok "--follow of a run that is over"
exits "--follow without its run_end" 0 timeout 60 "$WEND" log --follow --json \
    --type call_end last
is "--follow without its run_end" "$(types "$out")" call_end

# The exit status of the original.
for row in "1 $(model bad '{"turns":[]}')" "3 $sum"; do
    run "$WEND" run --max-turns 1 -m "${row#* }" hi
    is "original: exit status" $status "${row%% *}"
    cp "$err" said
    exits "replay of it" "${row%% *}" "$WEND" replay --speed 0 last
    is "replay of it: says the same" "$(cat "$err")" "$(cat said)"
    exits "log of it" 0 "$WEND" log last
done

# The pace.
pace='script:{"turns":[{"text":"abcdefgh","chunk":2,"delay":"250ms"}]}'
run "$WEND" run -m "$pace" hi
took() { # COMMAND...: milliseconds
    local began=$(date +%s%N)
    "$@" >/dev/null 2>&1
    echo $((($(date +%s%N) - began) / 1000000))
}
ms=$(took "$WEND" replay last)
[ "$ms" -ge 750 ] && [ "$ms" -lt 20000 ]
ok "real timing ($ms ms)"
# The best of some: the start of a process can take long.
for ((i = 0; i < 10; i++)); do
    ms=$(took "$WEND" replay --speed 0 last)
    [ "$ms" -ge 700 ] || break
done
[ "$ms" -lt 700 ]
ok "at once ($ms ms)"
ms=$(took "$WEND" replay --speed 0.5 last)
[ "$ms" -ge 1500 ]
ok "half as fast ($ms ms)"
: >"$out"
"$WEND" replay --json --speed 0.001 last >"$out" 2>&1 &
pid=$!
soon test -s "$out"
kill -INT $pid
wait $pid
is "an interrupt ends a replay: exit status" $? 130

# Another process follows a run as it happens.
"$WEND" run --json -m "$held" hi >live &
pid=$!
soon grep -q text_delta live
"$WEND" log --follow --json last >followed &
follower=$!
soon grep -q text_delta followed
ok "--follow shows deltas"
kill -0 $pid 2>/dev/null
ok "while the run goes on"
kill -INT $pid
wait $pid
wait $follower
is "--follow ends with the run: exit status" $? 0
cmp -s live followed
ok "--follow: the same bytes"
finish
