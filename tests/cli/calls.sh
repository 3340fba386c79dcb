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
finish
