#!/usr/bin/env bash
# compaction.sh - conversations that outgrow the window of their model.
. "$(dirname "$0")/lib.sh"

summary='{"purpose":"summary","repeat":"forever","text":"# Task\ncount\n# Decisions\nnone\n# Progress\nmuch\n# Blockers\nnone\n# Open items\nnone\n# Context\nnone\n# Next steps\nmore\n# Metadata\nnone"}'
work_turn='{"text":"Step ${turn}: let me see what the sum of the two numbers is before I continue with the rest of it.","calls":[{"name":"calculator","args":{"expression":"1+1"}}],"repeat":250}'
agent() { # WINDOW MORE
    printf 'wend: agent/1\nmodel: script:s.json\ncontext_tokens: %s\n%s\n' \
        "$1" "tools: [calculator, shell]
limits: {turns: 400}
policy:
  allow: [calculator, shell]
${2:-}"
}
count() { # TYPE
    "$WEND" log --json last | grep -c "\"type\":\"$1\""
}

# A long run: the cost of a turn stays flat, and what was asked stays.
printf '{"turns":[%s,%s,{"text":"done"}]}' "$summary" "$work_turn" >s.json
agent 4000 >a.yaml
exits "a long run" 0 "$WEND" run -q -a a.yaml 'Count to the end, please.'
is "a long run: its answer" "$(cat "$out")" done
[ "$(count compacted)" -gt 2 ]
check "a long run: it was made shorter ($(count compacted))"
most=$("$WEND" log --json last | sed -nE \
    's/.*"type":"context_end".*"data":\{"tokens":([0-9]+).*/\1/p' | sort -n | tail -1)
[ "$most" -lt 4000 ]
check "a long run: no request is over the window ($most)"
exits "a long run: verify" 0 "$WEND" verify last
"$WEND" log last >"$out"
has "a long run: the log says how" "$out" "compacted *summary, [0-9]* to [0-9]* tokens"
"$WEND" log --json last | grep '"type":"compacted"' | tail -1 >"$out"
has "a long run: the first message stays" "$out" '"kept":[[]0'

# The same, by hand: a resume and a fork take what is there.
seq=$("$WEND" log --json last | grep '"type":"compacted"' | head -1 |
    sed -E 's/.*"seq":([0-9]+).*/\1/')
run=$("$WEND" runs -q 2>/dev/null | head -1)
for at in $((seq - 1)) "$seq" $((seq + 1)); do
    exits "a fork at event $at" 0 "$WEND" fork -q --at "$at" last
    exits "a fork at event $at: verify" 0 "$WEND" verify last
done

# Off is off.
agent 1200 'compaction: off' >off.yaml
exits "compaction: off" 1 "$WEND" run -q -a off.yaml 'Count to the end.'
is "compaction: off: nothing is left out" "$(count compacted)" 0
has "compaction: off: said" "$err" "the window of script has 1200"
exits "compaction: wrong" 2 "$WEND" run -q -a <(agent 1200 'compaction: maybe') x

# No summary to be had: the newest messages.
printf '{"turns":[%s,%s,{"text":"done"}]}' \
    '{"purpose":"summary","repeat":"forever","text":""}' "$work_turn" >s.json
exits "an empty summary" 0 "$WEND" run -q -a a.yaml 'Count to the end.'
"$WEND" log --json last | grep '"type":"compacted"' | head -1 >"$out"
has "an empty summary: the newest stay" "$out" '"method":"window".*"attempts":3'

# A result that is larger than the window is cut, and can be read.
printf '{"turns":[{"calls":[{"name":"shell","args":{"command":"seq 1 20000"}}]},%s,%s]}' \
    '{"calls":[{"name":"read_result","args":{"call":"0/call_1","offset":50000}}]}' \
    '{"text":"${tool_result}"}' >s.json
exits "a huge result" 0 "$WEND" run -q -a a.yaml 'How many?'
has "a huge result: a page of it" "$out" "10233"
has "a huge result: where it ends" "$out" "\[bytes 50000 to 58192 of 108894; the next offset is 58192\]"
"$WEND" log --json last | grep '"type":"compacted"' >"$out"
has "a huge result: it was cut" "$out" '"method":"trimmed".*"bytes":108894'

# The provider refuses: once more, shorter.
printf '{"turns":[%s,{"text":"A long first answer, with many words in it, so that there is something to leave out.","calls":[{"name":"calculator","args":{"expression":"1+1"}}],"repeat":12},{"error":{"code":"overflow","message":"too long"}},{"text":"done"}]}' \
    "$summary" >s.json
sed '/context_tokens/d' a.yaml >unknown.yaml
exits "an overflow" 0 "$WEND" run -q -a unknown.yaml 'Count to the end.'
is "an overflow: asked again" "$(cat "$out")" done
is "an overflow: one compaction" "$(count compacted)" 1

# What was pinned stays.
exits "say --pin: no such run" 1 "$WEND" say --pin nothing text
finish
