#!/usr/bin/env bash
# old_log.sh - a log of an older version: a call that a crash cut off has two
# starts there, and one end.
. "$(dirname "$0")/lib.sh"

log=$test_dir/../golden/two_starts.jsonl
id=$(sed -n '1s/.*"run":"\([^"]*\)".*/\1/p' "$log")
is "the file: two starts, one end" "$(grep -c '"type":"call_start"' "$log")$(
    grep -c '"type":"call_end"' "$log")" 21
exits "import" 0 "$WEND" import "$log"
exits "verify" 0 "$WEND" verify "$id"
exits "view" 0 "$WEND" view "$id"
is "view: one line for the call" "$(grep -c '^  nap ' "$out")" 1
lacks "view: it has an end" "$out" "no end"
exits "stats" 0 "$WEND" stats --json
exits "replay" 0 "$WEND" replay --speed 0 --json "$id"
is "replay: as it was written" "$(grep -c '"type":"call_start"' "$out")" 2
while read -r dialect start end; do
    exits "$dialect" 0 "$WEND" log --events "$dialect" "$id"
    is "$dialect: one start and one result" "$(grep -c "\"$start\"" "$out")$(
        grep -c "\"$end\"" "$out")" 11
done <<'END'
loom tool_execution_start tool_result
agio tool_call_started tool_call_completed
cortex action_started action_completed
END

# A fork goes on from between the two starts, and from behind them; the tool is
# not there, so the model is told.
at_type() { # TYPE NTH: the seq of the event
    "$WEND" log --json "$id" | sed -n \
        "s/^{\"run\":\"[^\"]*\",\"seq\":\([0-9]*\),\"time\":[0-9.]*,\"type\":\"$1\".*/\1/p" |
        sed -n "$2p"
}
for at in "$(at_type model_end 1)" "$(at_type call_start 2)" \
    "$(at_type call_end 1)"; do
    exits "a fork at event $at" 0 timeout 60 "$WEND" fork --json --at "$at" \
        -m 'script:{"turns":[{"text":"one"},{"text":"two"}]}' "$id"
    is "a fork at event $at: ends well" "$(tail -1 "$out" |
        grep -c '"outcome":"ok"')" 1
    exits "a fork at event $at: whole" 0 "$WEND" verify
done
finish
