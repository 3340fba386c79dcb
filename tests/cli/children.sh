#!/usr/bin/env bash
# children.sh - runs that other runs start: actions of plans, tasks of agents.
. "$(dirname "$0")/lib.sh"

types() { # of the events of --json, in their order
    sed -n 's/.*"time":[0-9.]*,"type":"\([a-z_]*\)".*/\1/p' "$1" | tr '\n' ' '
}

first() { # FILE: its first line, as a file
    head -n 1 "$1" >"$work/first"
    echo "$work/first"
}

child_of() { # FILE: the child that its events start
    sed -n 's/.*"child_start".*"data":{"run":"\([^"]*\)".*/\1/p' "$1"
}

# ---- An agent's action -------------------------------------------------------

mkdir agents
cat >agents/sum.yaml <<'EOF'
wend: agent/1
name: summarizer
tools: [calculator]
EOF
cat >script.yaml <<'EOF'
turns:
  - {when: "papers", text: "Let me see.", usage: {input: 10, output: 5},
     calls: [{name: calculator, args: {expression: "6*7"}}]}
  - {when: "42", text: "Five sentences.", usage: {input: 20, output: 5}}
EOF
cat >p.yaml <<'EOF'
wend: plan/1
name: p
actions:
  - name: a
    type: agent
    target: agents/sum.yaml
    prompt: "about papers"
    params: {style: short}
    output_key: s
  - {name: b, type: tool, target: calculator, params: {expression: "1+1"},
     depends_on: [a]}
outputs: {r: $s}
EOF
exits "an agent's action" 0 "$WEND" plan run -m script:script.yaml p.yaml
is "its answer is the output" "$(cat "$out")" "Five sentences."
exits "for programs" 0 "$WEND" plan run -m script:script.yaml --json p.yaml
is "the parent's events alone, in order" "$(types "$out")" \
    "run_start plan_start action_start child_start child_end action_end \
action_start action_end plan_end metrics run_end "
parent=$(sed -n '1s/^{"run":"\([^"]*\)".*/\1/p' "$out")
child=$(child_of "$out")
has "what the child used counts" "$out" \
    '"model_calls":2,"tool_calls":1,"tool_errors":0,"actions":2,"tokens_in":30'
exits "the child has a log of its own" 0 "$WEND" log --json "$child"
has "it says whose it is" "$(first "$out")" "\"parent_run\":\"$parent\""
has "it says of what" "$(first "$out")" '"parent_call":"a"'
has "other values follow the prompt" "$(first "$out")" \
    '"prompt":"about papers\n\n{\"style\":\"short\"}"'
has "it says how deep it is" "$(first "$out")" '"within":{"depth":1'
exits "both are whole" 0 "$WEND" verify

exits "without a model" 2 "$WEND" plan run p.yaml
has "without a model: what to do" "$err" "name one with -m"
sed -i 's/^name: summ/nome: summ/' agents/sum.yaml
exits "a broken file" 2 "$WEND" plan run -m script:script.yaml p.yaml
has "a broken file: by whom it is named" "$err" "p.yaml:6:13: action 'a'"
has "a broken file: where" "$err" "agents/sum.yaml:2:"
exits "a broken file is seen before" 2 "$WEND" plan show p.yaml
sed -i 's/^nome: summ/name: summ/' agents/sum.yaml

# ---- How it ends -------------------------------------------------------------

cat >limit.yaml <<'EOF'
wend: agent/1
name: limit
tools: [calculator]
limits: {turns: 1}
EOF
cat >bad.yaml <<'EOF'
wend: plan/1
name: bad
actions:
  - {name: a, type: agent, target: limit.yaml, prompt: "papers"}
EOF
exits "a child at its limit fails its action" 1 \
    "$WEND" plan run -m script:script.yaml bad.yaml
has "at its limit: which" "$err" "'limit.yaml' reached its limit of turns"
exits "a child that fails" 1 \
    "$WEND" plan run -m 'script:{"turns":[]}' bad.yaml
has "a child that fails: why" "$err" "script: no turn left"

cat >slow.yaml <<'EOF'
wend: plan/1
name: slow
actions:
  - {name: a, type: agent, target: agents/sum.yaml, prompt: "slow",
     timeout: 300ms}
EOF
late='script:{"turns":[{"when":"slow","text":"late","first_delay":"20s"}]}'
exits "a child has the action's time" 1 "$WEND" plan run -m "$late" slow.yaml
has "its time: what is said" "$err" "its time was over"
exits "its time: the list" 0 "$WEND" runs --json --limit 2
is "its time: the child's log says that it was canceled" \
    "$(grep -c '"status":"canceled"' "$out")" 1

finish
