#!/usr/bin/env bash
# calls.sh - calls that cannot work are told to the model, and it goes on.
. "$(dirname "$0")/lib.sh"

outcome() { # what the call came to: outcome, code
    json "$out" "CASE $(at type) WHEN 'call_end' THEN
        $(at data.outcome)||' '||coalesce($(at data.error.code), '-') END" |
        grep .
}

# name | calls | outcome and code | part of what the model is told
while IFS='|' read -r name calls wanted told; do
    exits "$name" 0 "$WEND" run --json -m \
        "script:{\"turns\":[{\"calls\":$calls},{\"text\":\"\${tool_result}\"}]}" hi
    is "$name: outcome" "$(outcome)" "$wanted"
    tail -1 "$out" >last
    has "$name: the model is told" last "$told"
    seqs_hold "$out"
    ok "$name: seq without gaps"
done <<'ROWS'
unknown tool|[{"name":"wurst","args":{}}]|failed unknown_tool|wurst
near tool|[{"name":"calcualtor","args":{}}]|failed unknown_tool|calculator
broken arguments|[{"name":"calculator","args_text":"{\"expr"}]|failed bad_arguments|JSON
missing argument|[{"name":"calculator","args":{}}]|failed invalid_arguments|expression
unknown argument|[{"name":"calculator","args":{"expression":"1","x":1}}]|failed invalid_arguments|x
wrong type|[{"name":"calculator","args":{"expression":1}}]|failed invalid_arguments|string
tool that fails|[{"name":"calculator","args":{"expression":"1/0"}}]|failed failed|zero
no such file|[{"name":"read_file","args":{"path":"nowhere"}}]|failed failed|nowhere
path that leaves|[{"name":"read_file","args":{"path":"../../etc/passwd"}}]|denied denied|working directory
ROWS

# Several calls of one message, results in call order for the model.
exits "three calls" 0 "$WEND" run --json -m 'script:{"turns":[{"calls":[
{"name":"calculator","args":{"expression":"1+1"}},
{"name":"wurst","args":{}},
{"name":"calculator","args":{"expression":"2+2"}}]},
{"text":"${tool_result}"}]}' hi
is "three calls: each has one result" \
    "$(types "$out" | tr ' ' '\n' | grep -c call_end)" 3
tail -1 "$out" >last
is "three calls: the last result" "$(json last "$(at data.text)")" 4

echo "some content" >a.txt
exits "read_file" 0 "$WEND" run -m 'script:{"turns":[{"calls":[{"name":
"read_file","args":{"path":"a.txt"}}]},{"text":"${tool_result}"}]}' hi
has "read_file" "$out" "some content"
exits "only named tools are offered" 0 "$WEND" run --json -t calculator -m \
    'script:{"turns":[{"calls":[{"name":"read_file","args":{"path":"a.txt"}}]},
{"text":"x"}]}' hi
is "only named tools are offered" "$(outcome)" "failed unknown_tool"
exits "a tool named twice" 0 "$WEND" run -t calculator -t calculator \
    -m "$sum" hi
# A tool that the caller of the run executes: wend shows its calls and ends.
cat >pick.yaml <<'TOOL'
wend: tool/1
name: pick
description: Asks the user of a page.
client: true
schema: {type: object, properties: {of: {type: string}}, required: [of]}
TOOL
picks='script:{"turns":[{"text":"Which?","calls":[
{"name":"pick","args":{"of":"a door"}},
{"name":"calculator","args":{"expression":"1+1"}}]}]}'
exits "client-side tool" 0 "$WEND" run -t calculator --tools pick.yaml \
    -m "$picks" hi
is "client-side tool: the text so far" "$(cat "$out")" "Which?"
has "client-side tool: the call is named" "$err" 'pick {"of":"a door"}'
"$WEND" log --json last >log.txt
is "client-side tool: the order" "$(types log.txt)" "run_start turn_start \
context_start context_end model_start text_delta args_delta model_end \
call_start call_end call_start call_end turn_end metrics run_end"
has "client-side tool: its end" log.txt '"given":"client"'
has "client-side tool: pending" log.txt \
    '"pending":[{"call":"call_1","name":"pick","args":{"of":"a door"}}]'
exits "client-side tool: the log holds" 0 "$WEND" verify --quiet last
exits "client-side tool: one line each" 0 "$WEND" log last
has "client-side tool: a gist" "$out" "pick ok, for the caller"
has "client-side tool: the gist of the end" "$out" "ok, pending pick: Which?"
for dialect in loom agio cortex; do
    exits "client-side tool: $dialect" 0 \
        "$WEND" replay --events "$dialect" last
    is "client-side tool: $dialect has the result of one call" \
        "$(grep -cE '"(tool_result|tool_call_completed|action_completed)"' \
            "$out")" 1
done

# Nobody gives its result here: the model is told so, once.
exits "no result" 0 "$WEND" run -c -m 'script:{"turns":[{"text":"Well."}]}' and
exits "no result: the request" 0 "$WEND" context last
is "no result: said once" \
    "$(grep -c 'the caller gave no result for this call' "$out")" 1
has "no result: others have theirs" "$out" "tool calculator"

# Arguments and rules count as for any other tool.
exits "client-side tool: bad arguments" 0 "$WEND" run --json --tools pick.yaml \
    -m 'script:{"turns":[{"calls":[{"name":"pick","args":{}}]},{"text":"x"}]}' hi
is "client-side tool: bad arguments" "$(outcome)" "failed invalid_arguments"
exits "client-side tool: denied" 0 "$WEND" run --json --tools pick.yaml \
    --approve '!pick' \
    -m 'script:{"turns":[{"calls":[{"name":"pick","args":{"of":"x"}}]},
{"text":"x"}]}' hi
is "client-side tool: denied" "$(outcome)" "denied denied"

# A crash while another call of the message runs: it stays pending.
cat >slow.yaml <<'TOOL'
wend: tool/1
name: slow
description: Takes its time.
class: read
command: [sh, -c, 'if [ -e again ]; then echo done; else sleep 60; fi']
TOOL
"$WEND" run -t calculator --tools pick.yaml --tools slow.yaml -m 'script:{"turns":[
{"calls":[{"name":"pick","args":{"of":"x"}},{"name":"slow","args":{}}]}]}' hi \
    >/dev/null 2>&1 &
pid=$!
until "$WEND" log last 2>/dev/null | grep -q 'call_start *slow'; do
    sleep 0.1
done
kill -9 "$pid"
wait "$pid" 2>/dev/null
touch again
exits "killed: it is resumed" 0 "$WEND" resume last
"$WEND" log --json last >log.txt
has "killed: the call is still pending" log.txt '"pending":[{"call":"call_1"'
is "killed: it closed once" "$(grep -c '"given":"client"' log.txt)" 1
exits "killed: the log holds" 0 "$WEND" verify --quiet last
finish
