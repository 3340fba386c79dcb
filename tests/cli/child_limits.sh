#!/usr/bin/env bash
# child_limits.sh - a budget that a run shares with its children ends the run
# with exit status 3, and says which option raises it; a limit of the child's own
# fails the call or the action. Tokens and money, one child and several.
. "$(dirname "$0")/lib.sh"

# Of the newest run that is no child.
field() { # NAME
    "$WEND" runs --json --limit 0 | grep -v '"child":true' | head -n 1 >list
    json list "$(at "$1")"
}

cat >prices.yaml <<'EOF'
wend: models/1
models:
  - {name: "script:*", output: 1000, window: 100000, price: {input: 1, output: 10}}
EOF
cat >answers.yaml <<'EOF'
turns: [{text: hello, usage: {input: 5, output: 16}, repeat: forever}]
EOF
cat >three.yaml <<'EOF'
wend: plan/1
name: three
actions:
  - {name: x, type: llm, prompt: one}
  - {name: y, type: llm, prompt: two, depends_on: [x]}
  - {name: z, type: llm, prompt: three, depends_on: [y]}
EOF
cat >middle.yaml <<'EOF'
wend: plan/1
name: middle
actions: [{name: m, type: workflow, target: three.yaml}]
EOF
cat >agent.yaml <<'EOF'
wend: agent/1
name: agent
tools: [calculator]
loop: off
EOF
one() { # TARGET [MORE]: a plan with one child
    local type=workflow
    [ "$1" != agent.yaml ] && [ "$1" != own.yaml ] || type="agent, prompt: go"
    printf 'wend: plan/1\nname: one\nactions: [{name: a, type: %s, target: %s%s}]\n' \
        "$type" "$1" "${2:+, $2}" >one.yaml
}
spends='script:{"turns":[{"calls":[{"name":"calculator","args":{"expression":
"${turn}"}}],"usage":{"input":20,"output":40},"repeat":5},{"text":"done"}]}'

# ---- One child -----------------------------------------------------------------------

stops() { # WHAT LIMIT OPTION COMMAND...
    local what=$1 limit=$2 option=$3
    exits "$what: exit status" 3 "${@:4}"
    has "$what: what to do" "$err" \
        "stopped at the limit of $limit; $option raises it: 'wend retry $(field run)"
    lacks "$what: it is no failure of the run" "$err" "run failed"
    is "$what: the list" "$(field status)" limit
}

for row in three.yaml: middle.yaml: 'three.yaml:retry: {max: 3, delay: 1ms}' \
    'three.yaml:skip_on_error: true'; do
    target=${row%%:*} more=${row#*:}
    one "$target" "$more"
    what="$target${more:+, $more}"
    stops "$what, tokens" tokens --budget-tokens \
        "$WEND" plan run --budget-tokens 60 -m script:answers.yaml one.yaml
    has "$what, tokens: the action names it" "$err" \
        "a: '$target' reached the shared limit of tokens"
    stops "$what, cost" cost --budget-cost "$WEND" plan run --budget-cost 0.0004 \
        --models prices.yaml -m script:answers.yaml one.yaml
    is "$what, cost: two answers" "$(field cost)" 0.00033
    exits "$what, cost: not raised" 2 "$WEND" retry
    has "$what, cost: not raised: what to do" "$err" "raise it with --budget-cost"
    exits "$what, cost: raised" 0 "$WEND" retry --budget-cost 0.01
    is "$what, cost: raised: nothing is repeated" "$(field cost)" 0.000495
done

one agent.yaml
stops "an agent" tokens --budget-tokens \
    "$WEND" plan run --budget-tokens 300 -m "$spends" one.yaml
exits "an agent: raised" 0 "$WEND" retry --budget-tokens 9000
is "an agent: nothing is repeated" "$(field tokens_in)" 100

cat >boss.yaml <<'EOF'
wend: agent/1
name: boss
model: 'script:{"turns":[{"calls":[
  {"name":"task","args":{"agent":"agent","prompt":"x"}},
  {"name":"task","args":{"agent":"agent","prompt":"y"}}]},{"text":"all done"}]}'
tools: [task]
agents: [with.yaml]
EOF
{ cat agent.yaml && echo "model: '$spends'"; } >with.yaml
stops "tasks" tokens --budget-tokens "$WEND" run -a boss.yaml --budget-tokens 600 go
"$WEND" log last >log
has "tasks: the call names it" log "'agent' reached the shared limit of tokens"
exits "tasks: raised" 0 "$WEND" retry --budget-tokens 90000
is "tasks: the answer" "$(cat "$out")" "all done"
is "tasks: nothing is repeated" "$(field tokens_in)" 200

# A plan that a model writes.
cat >planner.yaml <<'EOF'
wend: agent/1
name: planner
model: 'script:{"turns":[{"calls":[{"name":"plan","args":{"name":"p","actions":[
  {"name":"a","type":"agent","target":"agent","prompt":"x"}]}}]},{"text":"so"}]}'
tools: [calculator]
agents: [with.yaml]
EOF
stops "a written plan" tokens --budget-tokens "$WEND" run --plan go --approve all \
    -a planner.yaml --budget-tokens 400
exits "a written plan: raised" 0 "$WEND" retry --budget-tokens 90000
is "a written plan: nothing is repeated" "$(field tokens_in)" 100

# ---- Its own -------------------------------------------------------------------------

own() { # LIMITS
    { cat agent.yaml && echo "limits: {$1}"; } >own.yaml
    one own.yaml
}
for row in turns:2 tokens:100; do
    own "${row%:*}: ${row#*:}"
    exits "its own ${row%:*}" 1 \
        "$WEND" plan run --budget-tokens 5000 -m "$spends" one.yaml
    has "its own ${row%:*}: which" "$err" \
        "action 'a' ended as failed: 'own.yaml' reached its limit of ${row%:*}"
done
own "tokens: 5000"
stops "the tighter one is the run's" tokens --budget-tokens \
    "$WEND" plan run --budget-tokens 200 -m "$spends" one.yaml

# ---- Several at once, and money ---------------------------------------------------------

cat >several.yaml <<'EOF'
wend: plan/1
name: several
actions:
  - {name: a, type: workflow, target: three.yaml, mode: async}
  - {name: b, type: workflow, target: middle.yaml, mode: async}
  - {name: c, type: workflow, target: three.yaml, mode: async, retry: {max: 2}}
  - {name: d, type: llm, prompt: four, mode: async}
EOF
# An answer costs 0.000165, ten cost 0.00165.
for again in retry fork; do
    stops "several" cost --budget-cost "$WEND" plan run --budget-cost 0.001 \
        --models prices.yaml -m script:answers.yaml several.yaml
    is "several: within the budget" \
        "$(json list "$(at cost) > 0.0003 AND $(at cost) <= 0.001")" 1
    stops "several, $again: too low again" cost --budget-cost \
        "$WEND" $again "$(field run)" --budget-cost 0.0013
    is "several, $again: within the higher one" "$(json list "$(at cost) <= 0.0013")" 1
    exits "several, $again: enough" 0 \
        "$WEND" $again "$(field run)" --budget-cost 0.003
    is "several, $again: each is asked once" "$(field cost)" 0.00165
done
exits "the logs are whole" 0 "$WEND" verify -q
exits "no price" 2 "$WEND" plan run --budget-cost 1 -m openai:own \
    --base-url http://127.0.0.1:9/v1 several.yaml
has "no price: which model" "$err" "openai:own"

finish
