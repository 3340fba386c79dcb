#!/usr/bin/env bash
# scripts.sh - models that are broken or fail: before a run and in it.
. "$(dirname "$0")/lib.sh"

# name | text of the script | wanted on stderr
while IFS='|' read -r name text wanted; do
    exits "$name" 2 "$WEND" run -m "$(model x "$(printf '%b' "$text")")" hi
    has "$name: said where" "$err" "$wanted"
done <<'ROWS'
broken YAML|turns:\n  - text: "a|x.script:
unknown key|turns:\n  - txet: a|:2:
unknown key, near|turns:\n  - txet: a|did you mean 'text'
wrong type|turns:\n  - text: a\n    chunk: x|:3:
no turns|model: a|turns
turns is no list|turns: 5|:1:
broken JSON|{"turns":[{"text":}]}|:1:
ROWS
exits "no such file" 2 "$WEND" run -m script:/nowhere/x hi
has "no such file: named" "$err" /nowhere/x
exits "broken inline script" 2 "$WEND" run -m 'script:{"turns":[{]}' hi
has "broken inline script: where" "$err" ":1:"
is "no run was started" "$("$WEND" runs --json)" ""

exits "the model fails" 1 "$WEND" run -m \
    'script:{"turns":[{"error":{"code":"auth","message":"bad key"}}]}' hi
is "one clear line" "$(cat "$err")" \
    "wend: run failed: auth: bad key; check the provider's API key; see 'wend doctor'"
exits "the model fails --json" 1 "$WEND" run --json -m \
    'script:{"turns":[{"error":{"code":"auth","message":"bad key"}}]}' hi
is "model dead: order" "$(types "$out")" "run_start turn_start context_start \
context_end model_start model_end turn_end metrics run_end"
tail -1 "$out" >last
is "model dead: run_end says why" \
    "$(json last "$(at data.outcome)||' '||$(at data.error.code)")" \
    "failed auth"

exits "retried, then fine" 0 "$WEND" run --json -m 'script:{"turns":[
{"error":{"code":"rate_limit","message":"slow down"}},{"text":"Here."}]}' hi
types "$out" | grep -q "model_start model_retry"
ok "a retry is an event"
exits "retried, in words" 0 "$WEND" run -m 'script:{"turns":[
{"error":{"code":"rate_limit","message":"slow down"}},{"text":"Here."}]}' hi
has "a retry is said" "$err" "retrying in"
is "the answer is not" "$(cat "$out")" "Here."

exits "cut off in the middle" 1 "$WEND" run --stream -m 'script:{"turns":[
{"text":"one two three","error":{"code":"invalid","message":"no","after":2}}]}' hi
is "what came is shown" "$(cat "$out")" "one two "

exits "past the last turn" 1 "$WEND" run -m \
    'script:{"turns":[{"text":"a","when":"nothing like it"}]}' hi
has "past the last turn: said" "$err" "script: no turn left"
has "past the last turn: what to do" "$err" "repeat: forever"

exits "YAML, with a condition" 0 "$WEND" run -m "$(model ok '
wend: script/1
model: demo
turns:
  - calls:
      - {name: calculator, args: {expression: "6*7"}}
  - when: "42"
    text: "The answer is ${tool_result}."')" hi
is "YAML, with a condition" "$(cat "$out")" "The answer is 42."
run "$WEND" runs --json --limit 1
is "the name of the model" "$(json "$out" "$(at model)")" demo
finish
