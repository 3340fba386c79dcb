#!/usr/bin/env bash
# limits.sh - a limit ends a run with exit status 3 and says which.
. "$(dirname "$0")/lib.sh"

limit() { tail -1 "$out" >last && json last "$(at data.outcome)||' '||$(at data.limit)"; }
loop='script:{"turns":[{"calls":[{"name":"calculator","args":{"expression":
"${turn}"}}],"usage":{"input":100,"output":10},"repeat":"forever"}]}'

exits "--max-turns" 3 "$WEND" run --json --max-turns 2 -m "$loop" hi
is "--max-turns: which" "$(limit)" "limit turns"
is "--max-turns: two turns" \
    "$(types "$out" | tr ' ' '\n' | grep -c turn_start)" 2
types "$out" | grep -q 'turn_end metrics run_end$'
ok "--max-turns: order"
exits "--max-turns in words" 3 "$WEND" run --max-turns 2 -m "$loop" hi
has "--max-turns: what to do" "$err" "--max-turns raises it"

began=$(date +%s%N)
exits "--timeout" 3 "$WEND" run --json --timeout 2s -m "$held" hi
took=$((($(date +%s%N) - began) / 1000000))
is "--timeout: which" "$(limit)" "limit time"
[ $took -lt 45000 ] # the next word is due after 90 s
ok "--timeout: it is over soon ($took ms)"
has "--timeout: the partial answer" last '"text":"one '
exits "--timeout in words" 3 "$WEND" run --stream --timeout 2s -m "$held" hi
is "--timeout: what came is shown" "$(head -c 4 "$out")" "one "
has "--timeout: what to do" "$err" "--timeout raises it"

exits "--budget-tokens" 3 "$WEND" run --json --budget-tokens 150 -m "$loop" hi
is "--budget-tokens: which" "$(limit)" "limit tokens"
exits "a budget that is enough" 0 "$WEND" run --budget-tokens 1000000 \
    --budget-cost 5 --timeout 1m -m "$sum" hi
exits "--parallel 1" 0 "$WEND" run --parallel 1 -m "$sum" hi

# ---- A budget holds across crashes: the server knows what was asked -----------------

if [ -x "$test_server" ]; then
    unset http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY
    serve_http --log "$work/requests"
    asked() { grep -o "\"model\":\"$1\"" "$work/requests" | wc -l; } # MODEL
    asked_more() { [ "$(asked "$1")" -gt "$2" ]; }
    crash() { # MODEL COMMAND...: killed as soon as the server has its question
        local model=$1 before
        before=$(asked "$model")
        "${@:2}" >"$out" 2>"$err" </dev/null &
        pid=$!
        over() { asked_more "$model" "$before" || ! kill -0 $pid; }
        soon over
        { kill -KILL $pid && wait $pid; } 2>/dev/null
    }
    cut() { # MODEL BUDGET: until no process asks any more
        crash "$1" "$WEND" run --base-url "http://127.0.0.1:$port/v1" \
            --models answers.yaml -m "openai:$1" --budget-tokens "$2" hi
        for i in 1 2 3 4 5 6; do
            "$WEND" log --json last | grep -q '"type":"run_end"' && break
            crash "$1" "$WEND" resume last
        done
    }
    cat >answers.yaml <<'YAML'
wend: models/1
models: [{name: "openai:*", output: 100}]
YAML
    cut hang:60#one 100000000
    "$WEND" log --json --type model_end last >ends
    has "a crash: what was cut off is charged" ends '"estimated":true'
    json ends "$(at data.usage.input) + $(at data.usage.output)" >sizes
    one=$(head -n 1 sizes)
    [ "${one:-0}" -gt 0 ]
    ok "a crash: with all that was reserved ($one tokens)"
    is "a crash: enough money: the server was asked each time" \
        "$(asked hang:60#one)" 7
    cut hang:60#two $((one * 3 - 85)) # 15 for the third answer
    is "a budget of two answers: two are asked for" \
        "$(asked hang:60#two)" 2
    "$WEND" log --json last >"$out"
    is "a budget of two answers: the limit" "$(limit)" "limit tokens"
    "$WEND" stats --limit 1 >counted
    has "stats: charged, and said apart" counted \
        "for model calls that were cut off"
    has "stats: nothing was reported" counted "0 + 0 tokens"
    # A cancel: the provider may charge what was asked for.
    stop() { # MODEL OPTION...: canceled as soon as the server has its question
        local before
        before=$(asked "$1")
        "$WEND" run --base-url "http://127.0.0.1:$port/v1" \
            --models answers.yaml -m "openai:$1" "${@:2}" hi \
            >"$out" 2>"$err" </dev/null &
        pid=$!
        soon asked_more "$1" "$before"
        kill -INT $pid
        wait $pid
        "$WEND" log --json --type model_end last >ends
        "$WEND" runs --json -n 1 >listed
    }
    stop hang:60#three --budget-tokens 5000
    has "a cancel: charged" ends '"estimated":true'
    has "a cancel: with what was reserved" ends '"output":100'
    stop hang:60#four
    has "a cancel without a budget: charged" ends '"estimated":true'
    has "a cancel without a budget: what came" ends '"output":0'
    has "a cancel: a cost that is not known is not 0" listed '"cost":null'
    exec 9>&-
    wait $server_pid
else
    skip "budgets across crashes" "$test_server is not built"
fi
# ---- Prices for a plan -------------------------------------------------------

cat >sum.yaml <<'YAML'
wend: plan/1
name: p
actions: [{name: s, type: tool, target: calculator, params: {expression: 1+1}}]
YAML
cat >prices.yaml <<'YAML'
wend: models/1
models: [{name: "openai:own", output: 100, price: {input: 1, output: 1}}]
YAML
priced() { # OPTION...
    run "$WEND" plan run sum.yaml -m openai:own --budget-cost 1 \
        --base-url http://127.0.0.1:9/v1 "$@"
}
priced
has "plan run: a cost limit needs a price" "$err" "or the file of --models"
priced --models prices.yaml
is "plan run --models: it has one" $status 0

# ---- The window of a model ---------------------------------------------------

window() { # TOKENS BYTES [OPTION...]: a prompt of so many bytes
    cat >"$work/window.yaml" <<EOF
wend: agent/1
name: narrow
model: '$hello'
context_tokens: $1
tools: []
EOF
    run "$WEND" run --json -a "$work/window.yaml" "${@:3}" \
        "$(head -c $2 /dev/zero | tr '\0' x)"
}
window 1000000 4000
is "control: a request that fits" $status 0
lacks "control: nothing is said" "$out" context_full
tokens=$(json "$out" "$(at data.tokens)" | grep -m1 '[0-9]')
window $((tokens * 10 / 11)) 4000
is "a little over the window: exit status" $status 0
has "a little over the window: a warning" "$out" '"code":"context_full"'
window $((tokens * 10 / 15)) 4000
is "far over the window: exit status" $status 1
has "far over the window: said" "$out" '"code":"overflow"'
has "far over the window: what to do" "$out" 'it was not sent; shorten'
lacks "far over the window: no answer" "$out" text_delta

fallback() { # WINDOW...: of the fallback models m1 and m2; the first has 100
    local i=0 window
    printf 'wend: models/1\nmodels:\n' >"$work/models.yaml"
    printf 'wend: agent/1\nname: a\ntools: []\nmodel: script:m0.yaml\n' \
        >agent.yaml
    printf 'fallback_models: [script:m1.yaml, script:m2.yaml]\n' >>agent.yaml
    for window in 100 "$@"; do
        printf 'turns: [{text: "model %d"}]\n' $i >m$i.yaml
        [ $window = - ] || printf '  - {name: "script:m%d.yaml", window: %s}\n' \
            $i $window >>"$work/models.yaml"
        i=$((i + 1))
    done
    WEND_MODELS=$work/models.yaml run "$WEND" run --json -a agent.yaml \
        "$(head -c 4000 /dev/zero | tr '\0' x)"
}
fallback 250 2000
has "the fallback model that has the room is asked" "$out" '"text":"model 2"'
lacks "which needs no word" "$out" context_full
fallback 100 -
has "one that may have it" "$out" '"text":"model 2"'
has "if none is known to" "$out" 'no fallback model is known to have room for'
fallback 100 200
is "none has the room" $status 1
has "and that is said" "$out" 'it was not sent, and no fallback model has the room'

planned() { # WINDOW [MORE [ACTION]]: a plan that asks a model with 4000 bytes
    cat >"$work/window.yaml" <<EOF
wend: agent/1
name: narrow
model: '$hello'
context_tokens: $1
EOF
    cat >plan.yaml <<EOF
wend: plan/1
name: p
actions:
  - {name: ask, type: llm, prompt: $(head -c 4000 /dev/zero | tr '\0' x)${2:-}}
${3:+  - {name: $3, type: llm, prompt: short\}}
EOF
    run "$WEND" plan run --json -a "$work/window.yaml" plan.yaml
}
planned 100000
is "an action: control" $status 0
lacks "an action: nothing is said" "$out" context_full
planned 900
is "an action a little over the window" $status 0
has "is sent with a warning" "$out" '"code":"context_full"'
hello='script:{"turns":[{"error":{"code":"service","message":"x"}}]}' \
    planned 900 ', retry: {max: 2, delay: 1ms}'
is "which is tried again" "$(grep -c '"type":"action_retry"' "$out")" 2
is "with one warning" "$(grep -c '"code":"context_full"' "$out")" 1
planned 600
is "an action far over the window" $status 1
has "fails" "$out" '"code":"overflow"'
has "and says what to do" "$out" 'it was not sent; shorten the prompt'
is "no model was asked" "$(grep -c '"type":"model_start"' "$out")" 0
planned 600 ', fallback: other' other
is "its fallback is taken" $status 0
planned 600 ', retry: {max: 2, delay: 1ms}'
is "it is not tried again" "$(grep -c '"type":"action_retry"' "$out")" 0

finish
