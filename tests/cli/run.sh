#!/usr/bin/env bash
# run.sh - runs of text and tools: what is printed, and the order of events.
. "$(dirname "$0")/lib.sh"

text_order="run_start turn_start context_start context_end model_start \
text_delta model_end turn_end metrics run_end"

exits "text" 0 "$WEND" run -m "$hello" hi
is "text" "$(cat "$out")" "Hello there."
is "text ends with a newline" "$(tail -c1 "$out" | od -An -tx1)" " 0a"
is "nothing on stderr" "$(cat "$err")" ""
exits "text that ends with a newline" 0 "$WEND" run -m \
    'script:{"turns":[{"text":"a\n"}]}' hi
is "it gets no second one" "$(od -An -c "$out" | tr -d ' ')" 'a\n'

exits "text --json" 0 "$WEND" run --json -m "$hello" hi
is "text: order" "$(types "$out")" "$text_order"
seqs_hold "$out"
ok "text: seq and n without gaps"
is "text: every line is JSON" "$(json "$out" 1 | wc -l)" "$(wc -l <"$out")"
is "text: deltas are the text" \
    "$(json "$out" "$(at data.text)||'|'" | head -8 | tr -d '\n')" \
    "Hell|o th|ere.|"
is "text: the answer" "$(tail -1 "$out" >x && json x "$(at data.text)")" \
    "Hello there."
is "times never decrease" "$(json "$out" "$(at time)" | sort -c -n && echo y)" y

exits "tool --json --eager off" 0 "$WEND" run --json --eager off -m "$sum" hi
is "tool: order" "$(types "$out")" "run_start turn_start context_start \
context_end model_start text_delta args_delta model_end call_start call_end \
turn_end metrics turn_start context_start context_end model_start text_delta \
model_end turn_end metrics run_end"
seqs_hold "$out"
ok "tool: seq without gaps"
is "the next turn names its parent" \
    "$(json "$out" "$(at data.id)||' '||$(at data.parent_id)" | grep .)" \
    "$(json "$out" "CASE $(at type) WHEN 'turn_start' THEN $(at turn_id) END" |
        grep . | { read -r a && read -r b && echo "$b $a"; })"
is "one result for the call" \
    "$(json "$out" "CASE $(at type) WHEN 'call_end' THEN $(at data.output) END" |
        grep .)" 42

exits "tool" 0 "$WEND" run --stream -m "$sum" hi
is "texts of two turns stay apart" "$(cat "$out")" "Let me see.
It is 42."
exits "tool -v" 0 "$WEND" run -v -m "$sum" hi
has "the call is shown" "$err" '> calculator {"expression":"6*7"}'
has "and its result" "$err" '  = 42'
# A line of text ends before a line about a call, also in a file or a pipe.
whole="Let me see.
> calculator {\"expression\":\"6*7\"}
  = 42
It is 42."
"$WEND" run -v --stream -m "$sum" hi >both 2>&1
is "-v in one file: lines stay apart" "$(head -n -1 both)" "$whole"
is "-v in one pipe: lines stay apart" \
    "$("$WEND" run -v --stream -m "$sum" hi 2>&1 | head -n -1)" "$whole"
exits "tool -q" 0 "$WEND" run -q -m "$sum" hi
is "-q says nothing else" "$(cat "$err")" ""

# It streams: the first words are there long before the last.
begin "$WEND" run --stream -m "$held" hi
soon grep -q one "$out"
ok "the first word comes early"
kill -0 $pid 2>/dev/null && ! grep -q two "$out"
ok "while the next is still to come"
kill -INT $pid
wait $pid
"$WEND" run --stream -m "$held" hi >both 2>&1 &
pid=$!
soon grep -q one both
kill -TERM $pid
wait $pid
grep -q '^wend: stopped' both
ok "one file: so does what is said about a signal"
exits "slowly" 0 "$WEND" run -m 'script:{"turns":[{"text":"one two three four",
"chunk":4,"delay":"200ms"}]}' hi
is "slowly: all is there" "$(cat "$out")" "one two three four"

exits "--log-file" 0 "$WEND" run --log-file events -m "$hello" hi
exits "--log-file again" 0 "$WEND" run --log-file events --json -m "$hello" hi
is "it is appended to" "$(types events)" "$text_order $text_order"
is "with the same bytes" "$(tail -n "$(wc -l <"$out")" events)" "$(cat "$out")"
is "nobody else reads it" "$(stat -c %a events)" 600

exits "--events agio" 0 "$WEND" run --events agio -m "$sum" hi
is "agio: the records" "$(json "$out" "$(at type)" | uniq | tr '\n' ' ')" \
    "run_started step_started text_delta text_completed usage_update \
tool_call_started tool_call_completed metrics_snapshot step_completed \
step_started text_delta text_completed usage_update metrics_snapshot \
step_completed run_completed "
exits "--events loom" 0 "$WEND" run --events loom -m "$sum" hi
is "loom: the first and the last record" \
    "$(json "$out" "$(at type)" | sed -n '1p;$p' | tr '\n' ' ')" \
    "iteration_start agent_finish "
exits "--events cortex" 0 "$WEND" run --events cortex -m "$sum" hi
is "cortex: the records" "$(json "$out" "$(at event_type)" | uniq | tr '\n' ' ')" \
    "agent_started iteration_started llm_token plan_generated action_started \
action_completed progress iteration_completed iteration_started llm_token \
iteration_completed termination agent_completed "
exits "--events native" 0 "$WEND" run --events native -m "$hello" hi
is "--events native is --json" "$(types "$out")" "$text_order"

exits "--instructions" 0 "$WEND" run --json --instructions 'be brief' \
    -m "$hello" hi
is "--instructions" "$(head -1 "$out" >x &&
    json x "$(at data.config.instructions)")" "be brief"
exits "memory:" 0 "$WEND" run --store memory: -m "$hello" hi
exits "a reader that is a file" 0 bash -c \
    '"$0" run --json -m "$1" hi >all' "$WEND" "$hello"
finish
