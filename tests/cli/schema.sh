#!/usr/bin/env bash
# schema.sh - answers that must fit a schema: printed, repaired, given up.
. "$(dirname "$0")/lib.sh"
export WEND_STORE=$work/store.db

cat >"$work/s.json" <<'END'
{"type": "object",
 "properties": {"n": {"type": "integer"}},
 "required": ["n"]}
END

ask() { # SCRIPT [OPTION...]
    local script=$1
    shift
    run "$WEND" run --schema "$work/s.json" -m "script:$script" "$@" hi
}

good='{"turns":[{"text":"{\"n\": 1}"}]}'
ask "$good"
is "an answer that fits: exit status" $status 0
is "an answer that fits" "$(cat "$out")" '{"n": 1}'
is "nothing else is said" "$(cat "$err")" ""

ask '{"turns":[{"text":"```json\n{\"n\": 1}\n```\n"}]}'
is "without the fence that models like" "$(cat "$out")" '{"n": 1}'

ask '{"turns":[{"text":"Let me see. ","calls":[{"name":"calculator",
    "args":{"expression":"1+1"}}]},{"text":"{\"n\":${tool_result}}"}]}' -q
is "what is said before the answer is not printed" "$(cat "$out")" '{"n":2}'

ask '{"turns":[{"text":"It is 3."},
    {"purpose":"repair","text":"{\"n\":3}"}]}'
is "repaired: exit status" $status 0
is "repaired: only what fits is printed" "$(cat "$out")" '{"n":3}'
has "repaired: it is said why" "$err" 'warning: the answer is not JSON: line 1'
run "$WEND" replay last
is "a replay prints the same" "$(cat "$out")" '{"n":3}'
run "$WEND" log last --json
is "the log has the purposes" "$(
    sed -n 's/.*"type":"model_[a-z]*".*"purpose":"\([a-z]*\)".*/\1/p' "$out" |
        tr '\n' ' ')" 'answer answer repair repair '
has "the log has what the model is told" "$out" \
    '"data":{"role":"user","text":"the answer is not JSON: line 1'
has "the log has the schema" "$out" \
    '"schema":{"type":"object","properties":{"n"'
is "deltas of the answer only" \
    "$(sed -n 's/.*"type":"text_delta".*"text":"\(.*\)"}}$/\1/p' "$out" |
        tr -d '\n')" 'It is 3.'

ask '{"turns":[{"text":"{}"},
    {"purpose":"repair","text":"{\"n\":\"x\"}"}]}'
is "wrong again: exit status" $status 1
is "wrong again: nothing is printed" "$(cat "$out")" ""
has "wrong again: by path and rule" "$err" \
    'run failed: answer_invalid: the answer does not fit its schema: n must be'

ask '{"turns":[{"text":"no"},{"text":"no"}]}'
is "a script without a repair: exit status" $status 1
has "a script without a repair" "$err" 'script: no turn left'

ask '{"turns":[{"text":"no"}]}' --max-turns 1
is "no turn is left: exit status" $status 3

# ---- Files that are wrong -----------------------------------------------------

bad() { # WHY TEXT MESSAGE
    printf '%s' "$2" >"$work/bad.json"
    run "$WEND" run --schema "$work/bad.json" -m "script:$good" hi
    is "$1: exit status" $status 2
    has "$1" "$err" "$3"
}
bad "no JSON" '{"type":
  nonsense}' 'bad.json:2:4: '
bad "no schema" '{"properties":
 {"n":{"type":"wrong"}}}' 'bad.json:2:15: #/properties/n/type must be'
bad "no object" '[]' 'bad.json:1:1: a JSON object is needed'
bad "empty" '' 'bad.json:1:1: '
printf '{}\0' >"$work/zero.json"
run "$WEND" run --schema "$work/zero.json" -m "script:$good" hi
is "a zero byte: exit status" $status 2
run "$WEND" run --schema "$work/none.json" -m "script:$good" hi
is "no file: exit status" $status 2
has "no file" "$err" 'none.json: file not found'

# ---- The provider's own form ---------------------------------------------------

if [ -x "$test_server" ]; then
    unset OPENAI_API_KEY http_proxy https_proxy all_proxy
    unset HTTP_PROXY HTTPS_PROXY ALL_PROXY
    serve_http --log "$work/requests"
    run "$WEND" run --schema "$work/s.json" -m openai:text:2:4 \
        --base-url "http://127.0.0.1:$port/v1" hi
    is "openai: text does not fit: exit status" $status 1
    has "openai: the request has the schema" "$work/requests" \
        '"response_format":{"type":"json_schema","json_schema":{"name":"answer"'
    has "openai: the second one has what is wrong" "$work/requests" \
        'the answer is not JSON'
    exec 9>&-
fi
finish
