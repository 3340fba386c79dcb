#!/usr/bin/env bash
# params.sh - parameters of generation, more fields and headers: from files and
# options into requests; refused before one is sent.
. "$(dirname "$0")/lib.sh"

needs_server
unset OPENAI_API_KEY ANTHROPIC_API_KEY GEMINI_API_KEY http_proxy all_proxy
serve_http --log "$work/requests"
base=http://127.0.0.1:$port
export GATE_SECRET=gate-secret-$RANDOM$RANDOM

ask() { # OPTIONS...: the requests of this run alone are in $work/requests
    : >"$work/requests"
    run "$WEND" run "$@" hi
}

# ---- From the agent's file and from the command --------------------------------

cat >agent.yaml <<'END'
wend: agent/1
temperature: 0.3
top_p: 0.9
headers:
  X-Gate: "key ${GATE_SECRET}"
  X-Price: "5$$"
END
while IFS='|' read -r row sent; do
    provider=${row%%:*}
    ask -a agent.yaml -m "$provider:text:2" --base-url "$base${row#*:}" \
        --param temperature=0.25
    is "$provider: exit status" $status 0
    has "$provider: the option counts before the file" "$work/requests" "$sent"
    has "$provider: a header with a secret" "$work/requests" \
        "X-Gate: key $GATE_SECRET"
    has "$provider: and one with a dollar" "$work/requests" 'X-Price: 5$'
done <<END
openai:/v1|"temperature":0.25,"top_p":0.9
responses:/v1|"temperature":0.25,"top_p":0.9
anthropic:/v1|"temperature":0.25,"top_p":0.9
gemini:/v1beta|"temperature":0.25,"topP":0.9
ollama:|"options":{"temperature":0.25,"top_p":0.9}
END
"$WEND" log --json last >"$work/log"
has "the log has the name of the variable" "$work/log" 'key ${GATE_SECRET}'
has "and the parameters" "$work/log" \
    '"params":{"temperature":0.25,"top_p":0.9}'
! grep -rqF "$GATE_SECRET" "$work/log" "$WEND_STORE"
ok "and not the secret"
ask -a agent.yaml -m openai:text:2 --base-url "$base/v1" --record "$work/tape"
is "recorded" $status 0
! grep -rqF "$GATE_SECRET" "$work/tape"
ok "the recording has no secret"
GATE_SECRET= ask -a agent.yaml -m openai:text:2 --base-url "$base/v1" \
    --playback "$work/tape"
is "played back without it" $status 0
ask -a agent.yaml -m openai:echo --base-url "$base/=echo"
! grep -qF "$GATE_SECRET" "$out" "$err"
ok "a server that quotes it: it is blanked"
run "$WEND" trust agent.yaml
has "shown with what is trusted" "$out" 'X-Gate: key ${GATE_SECRET}'

# ---- What is wrong -------------------------------------------------------------

: >"$work/requests"
while IFS='|' read -r name text line options; do
    printf 'wend: agent/1\nmodel: openai:m\n%s\n' "$line" >bad.yaml
    exits "$name" 2 eval "\"\$WEND\" run -a bad.yaml --base-url $base/v1 $options hi"
    has "$name: says so" "$err" "$text"
done <<'END'
not in this API|bad.yaml:3:8: top_k: the API of openai has no top_k; remove it, or use extra.top_k|top_k: 40
nor in that of the option|bad.yaml:3:7: seed: the API of anthropic has no seed|seed: 4|-m anthropic:m
out of range|bad.yaml:3:14: temperature: temperature of openai must be 0 to 2, not 3|temperature: 3
no number|bad.yaml:3:14: temperature must be a number, not 'hot'|temperature: hot
an unknown name|bad.yaml:3:1: unknown key 'temprature' in the file; did you mean 'temperature'?|temprature: 1
one by option|no parameter 'topp'; did you mean 'top_p'?|top_p: 1|--param topp=1
a field of wend's own|bad.yaml:3:8: extra: extra.messages is a field that wend writes itself|extra: {messages: []}
a header of wend's own|wend sends the header content-type itself|headers: {content-type: x}
a header of the connection|bad.yaml:3:11: headers.Host: the header Host belongs to the connection|headers: {Host: x}
no variable|bad.yaml:3:11: headers.X-A: the header X-A: a variable is ${NAME}|headers: {X-A: "$x"}
a variable that is not set|the header X-A needs the environment variable 'NOT_SET_HERE'|headers: {X-A: "${NOT_SET_HERE}"}
END
is "and nothing was sent" "$(cat "$work/requests")" ""

# ---- Taken back, and for another model -----------------------------------------

printf 'wend: agent/1\nmodel: openai:text:2\nseed: 4\nstop: [A, B]\n' >seed.yaml
ask -a seed.yaml -m anthropic:text:2 --base-url "$base/v1" --param seed=null
is "null: as if it were not given" $status 0
has "the rest stays" "$work/requests" '"stop_sequences":["A","B"]'
ask -a seed.yaml --json -m openai:status:401 --base-url "$base/v1" \
    --fallback "anthropic:text:2@$base/v1" --param extra.n=1
is "a fallback of another API" $status 0
has "is warned about" "$out" \
    'the fallback text:2: the API of anthropic has no seed'
has "what its API takes is sent" "$work/requests" '"stop_sequences":["A","B"]'
is "extra goes to the first API alone" "$(grep -c '"n":1' "$work/requests")" 1
ask -a agent.yaml -m openai:status:401 --base-url "$base/v1" \
    --fallback "openai:text:2@$base/other/v1"
is "headers go to the first address alone" \
    "$(grep -c 'X-Gate' "$work/requests")" 1

# ---- The file of models --------------------------------------------------------

cat >models.yaml <<'END'
wend: models/1
models:
  - name: "openai:text*"
    temperature: 0.7
    top_p: 0.5
    extra: {verbosity: low}
    headers: {X-Row: here}
END
ask --models models.yaml -m openai:text:2 --base-url "$base/v1" --param top_p=1
has "a row's parameters, the agent's before them" "$work/requests" \
    '"temperature":0.7,"top_p":1,"verbosity":"low"'
has "and its headers" "$work/requests" 'X-Row: here'

# ---- Runs that continue --------------------------------------------------------

: >"$work/requests"
run "$WEND" fork last -q 'And then?'
is "a fork" $status 0
has "asks as its parent did" "$work/requests" '"temperature":0.7,"top_p":1'
: >"$work/requests"
run "$WEND" fork last -q --param top_p=null --param extra.user=me 'And then?'
has "or otherwise" "$work/requests" \
    '"temperature":0.7,"verbosity":"low","user":"me"'
: >"$work/requests"
run "$WEND" fork last -q -m anthropic:text:2 --base-url "$base/v1" 'And?'
is "with the model of another API" $status 0
has "it asks for what that takes" "$work/requests" '"temperature":0.7'
lacks "and leaves out the other's extra" "$work/requests" verbosity

# ---- Agents inside, and plans ---------------------------------------------------

cat >inner.yaml <<'END'
wend: agent/1
description: Helps.
top_p: 0.4
END
cat >outer.yaml <<'END'
wend: agent/1
temperature: 0.6
agents: [inner.yaml]
END
task='call:task:%7B%22agent%22:%22inner%22,%22prompt%22:%22x%22%7D'
ask -a outer.yaml -m openai:x --base-url "$base/=$task/v1" --approve all
has "an agent inside asks the same model in the same way" "$work/requests" \
    '"temperature":0.6,"top_p":0.4'

# ---- What a model refuses -------------------------------------------------------

for row in openai:/v1:temperature responses:/v1:temperature \
    anthropic:/v1:temperature gemini:/v1beta:temperature ollama::temperature; do
    IFS=: read -r provider path field <<<"$row"
    ask --json -m "$provider:x" --base-url "$base/=refuse:$field/$provider$path" \
        --param temperature=0.5 --param top_p=0.9
    is "$provider refuses $field: asked without" $status 0
    has "$provider: warned" "$out" '"code":"param_dropped"'
    has "$provider: and recorded" "$out" '"dropped":["temperature"]'
    is "$provider: one request more" "$(grep -c 'POST ' "$work/requests")" 2
    is "$provider: the rest stays" "$(grep -cE '"top_?[pP]":0.9' "$work/requests")" 2
done
run "$WEND" log --json last
: >"$work/requests"
run "$WEND" fork last -q 'And?'
is "a fork does not ask for it again" "$(grep -c 'POST ' "$work/requests")" 1
: >"$work/requests"
run "$WEND" run -c -q 'And?'
is "nor does the next run of a conversation" "$(grep -c 'POST ' "$work/requests")" 1
run "$WEND" log --json last --type run_start
has "which knows it from its log" "$out" '"past_refused":[{"model":"ollama:x","base_url":'
ask --json -m openai:x --base-url "$base/=refuse:temperature/more/v1" \
    --param temperature=0.5 --effort low
is "a second field stays" "$(grep -c '"reasoning_effort":"low"' "$work/requests")" 2
ask --json -m openai:x --base-url "$base/=refuse:verbosity/v1" \
    --param extra.verbosity=low
is "what is under extra is never dropped" $status 1
has "the server says why" "$out" "'verbosity' is not supported"
is "and is asked once" "$(grep -c 'POST ' "$work/requests")" 1
cat >plan.yaml <<'END'
wend: plan/1
name: p
actions:
  - {name: a, type: llm, target: default, prompt: x, output_key: a}
  - {name: b, type: llm, target: default, prompt: "$a", depends_on: [a]}
END
: >"$work/requests"
run "$WEND" plan run plan.yaml --json -m openai:x --param temperature=0.5 \
    --base-url "$base/=refuse:temperature/plan/v1"
is "an action of a plan" $status 0
has "is tried without it" "$out" '"dropped":["temperature"]'
is "and the next one knows" "$(grep -c 'POST ' "$work/requests")" 3

# ---- Actions of plans -----------------------------------------------------------

plan_of() { # PARAMS
    printf 'wend: plan/1\nname: p\nactions:\n  - name: a\n    type: llm\n' >p.yaml
    printf '    prompt: x\n    params: %s\n' "$1" >>p.yaml
    : >"$work/requests"
}
plan_of '{temperature: 0.1, stop: END}'
exits "parameters of an action" 0 "$WEND" plan run p.yaml -q -m openai:text:2 \
    --base-url "$base/v1" --param temperature=0.9 --param top_p=0.5
has "count before those of the run" "$work/requests" \
    '"temperature":0.1,"top_p":0.5,"stop":["END"]'
"$WEND" log --json last --type action_start >"$out"
has "and are in the log" "$out" '"temperature":0.1'
plan_of '{temperature: null}'
exits "taken back by an action" 0 "$WEND" plan run p.yaml -q -m openai:text:2 \
    --base-url "$base/v1" --param temperature=0.9
lacks "is not asked for" "$work/requests" '"temperature"'
while IFS='|' read -r params text; do
    plan_of "$params"
    exits "an action with $params" 2 "$WEND" plan run p.yaml -q -m openai:text:2 \
        --base-url "$base/v1"
    has "an action with $params: where and why" "$err" "$text"
    is "an action with $params: nothing was sent" "$(cat "$work/requests")" ""
done <<'END'
{temprature: 1}|p.yaml:7:14: actions[0].params: a model has no parameter 'temprature'; did you mean 'temperature'?
{temperature: hot}|params.temperature must be a number
{top_k: 4}|action 'a': params.top_k: the API of openai has no top_k
{temperature: 3}|action 'a': params.temperature: temperature of openai must be 0 to 2, not 3
END

# An agent inside asks the same model, and need not be refused itself.
ask -a outer.yaml -m openai:x --base-url "$base/=refuse:temperature;$task/v1" \
    --approve all
is "an agent inside knows it, too" \
    "$(grep -c '"temperature"' "$work/requests")" 1

finish
