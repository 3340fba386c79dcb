#!/usr/bin/env bash
# planner.sh - wend run --plan: the model writes a plan, and it runs.
. "$(dirname "$0")/lib.sh"

types() { # kept events of the run in $out, one line
    sed -n 's/.*"seq":[0-9]*,"time":[0-9.]*,"type":"\([a-z_]*\)".*/\1/p' \
        "$out" | tr '\n' ' '
}
field() { # JSON text of a field in events of a type: field TYPE REGEX
    grep "\"type\":\"$1\"" "$out" | grep -oE "$2"
}

cat >s.yaml <<'EOF'
turns:
  - purpose: plan
    chunk: 16 # few pieces: what a thread does comes after the last of them
    text: "Let me plan."
    calls:
      - name: plan
        args:
          actions:
            - {name: a, type: tool, target: calculator, mode: async,
               params: {expression: "6*7"}, output_key: x}
            - {name: b, type: tool, target: calculator, mode: async,
               params: {expression: "$x+1"}, depends_on: [a], output_key: y}
            - {name: c, type: llm, prompt: "say $y", depends_on: [b],
               output_key: said}
  - text: "It is 43."
  - purpose: plan
    when: "It is 43."
    text: "Done: 43."
EOF
exits "a goal" 0 "$WEND" run --stream -m script:s.yaml --plan "get 43"
is "the answer" "$(cat "$out")" "Let me plan.
Done: 43."
has "its actions" "$err" "ok       c"
has "how the plan went" "$err" "plan     ok: 3 ok, 0 failed, 0 skipped"
exits "for programs" 0 "$WEND" run -m script:s.yaml --json --plan "get 43"
is "each action is handed over, and starts while the others are written" \
    "$(types | grep -o 'model_part .* model_end call_start' |
        sed 's/model_end call_start/./')" \
    "model_part plan_start plan_action action_start plan_action plan_action ."
is "what each took the last time is known" \
    "$(field plan_action '"learned":true' | wc -l)" 3
is "the model calls are for plans" \
    "$(field model_start '"purpose":"[a-z]*"' | tr '\n' ' ')" \
    '"purpose":"plan" "purpose":"answer" "purpose":"plan" '
is "the key of an action" \
    "$(field action_start '/p1/[abc]"' | tr -d '\n')" '/p1/a"/p1/b"/p1/c"'
has "what the model is told" "$out" \
    '{\"id\":\"b\",\"outcome\":\"ok\",\"output\":43}'
exits "eager off" 0 "$WEND" run -m script:s.yaml --eager off --json \
    --plan "get 43"
is "eager off: nothing starts before the message has ended" \
    "$(types | grep -o 'model_part .* model_end call_start' |
        sed 's/model_end call_start/./')" \
    "model_part plan_start plan_action plan_action plan_action ."
exits "the log has it" 0 "$WEND" replay --stream --speed 0 last
is "a replay" "$(cat "$out")" "Let me plan.
Done: 43."

# ---- Killed while it runs ----------------------------------------------------

cat >r.yaml <<'END'
turns:
  - purpose: plan
    calls:
      - name: plan
        args:
          actions:
            - {name: a, type: llm, mode: async, prompt: "one", output_key: x}
            - {name: b, type: llm, mode: async, prompt: "two", output_key: y}
            - {name: c, type: llm, prompt: "$x $y", depends_on: [a, b],
               output_key: z}
  - {text: "first", first_delay: 90s}
  - {text: "second"}
  - {text: "third"}
  - {purpose: plan, text: "fin"}
END
begin "$WEND" run -m script:r.yaml --plan "three"
soon in_log "$id" '"output":"second"'
killed
sed -i 's/90s/1ms/' r.yaml
exits "it is gone on with" 0 "$WEND" resume "$id"
is "to its end" "$(cat "$out")" fin
is "in silence about the tool that it brings along" \
    "$(grep -c 'not there' "$err")" 0
exits "its log" 0 "$WEND" log last --json
is "each action got the answer that it would have had" \
    "$(field action_end '"(first|second|third)"' | sort | tr -d '\n')" \
    '"first""second""third"'

# ---- How it ends -------------------------------------------------------------

calc() { # a plan with one action: calc NAME EXPRESSION
    printf '{"name":"plan","args":{"actions":[{"name":"%s","type":"tool",
        "target":"calculator","params":{"expression":"%s"}}]}}' "$1" "$2"
}
goal() { # goal WHY CODE TURNS [OPTION...]
    local why=$1 code=$2 turns=$3
    shift 3
    exits "$why" "$code" "$WEND" run -m "script:{\"turns\":[$turns]}" --json \
        "$@" --plan goal
}

goal "an empty plan" 0 \
    '{"text":"All done.","calls":[{"name":"plan","args":{"actions":[]}}]}'
is "an empty plan: why" "$(field warning '"code":"[a-z_]*"')" \
    '"code":"no_actions"'
goal "the same plan twice" 3 \
    "{\"calls\":[$(calc a 1)]},{\"calls\":[$(calc a 1)]}"
is "the same plan twice: why" "$(field run_end '"limit":"[a-z]*"')" \
    '"limit":"loop"'
is "the same plan twice: said" "$(field warning '"code":"[a-z_]*"')" \
    '"code":"no_progress"'
goal "a failed plan goes back twice" 1 \
    "{\"calls\":[$(calc a 1/0)]},{\"calls\":[$(calc b 1/0)]},
     {\"calls\":[$(calc c 1/0)]},{\"text\":\"never\"}"
is "three plans failed" "$(grep -c '"type":"plan_end"' "$out")" 3
has "the cause" "$out" "3 plans in a row failed; the last one: action 'c' \
ended as failed: division by zero"
goal "it may do better" 0 \
    "{\"calls\":[$(calc a 1/0)]},{\"calls\":[$(calc b 1/2)]},
     {\"text\":\"half\"}"
goal "the turn limit" 3 "{\"calls\":[$(calc a 1)]}" --max-turns 1
goal "what is wrong is told" 0 "{\"calls\":[$(calc 'a b' 1)]},
    {\"text\":\"oh\"}"
has "the action and the field" "$out" "('a b'): "

# ---- Tags --------------------------------------------------------------------

cat >t.yaml <<'END'
turns:
  - text: '<thought>Hm.</thought>
      <action type="tool" mode="async" id="a">{"target":"calculator",
      "params":{"expression":"6*7"},"output_key":"x"}</action>
      <action id="c">{nope}</action>
      <action type="tool" id="b">{"target":"calculator",
      "params":{"expression":"$x+1"},"depends_on":["a"]}</action>
      <response final="false">Working.</response>'
  - when: '"output":43'
    text: '<response final="false">Nearly.</response>'
  - when: 'Go on.'
    text: '<response>It is 43.</response>'
END
exits "tags" 0 "$WEND" run --stream -m script:t.yaml --plan x
is "tags: the responses" "$(cat "$out")" "Working.
Nearly.
It is 43."
has "tags: a bad action is said" "$err" "action 2 is left out"
has "tags: the others run" "$err" "plan     ok: 2 ok, 0 failed"
cat >models.yaml <<'END'
wend: models/1
models: [{name: "script:*", tools: false}]
END
sed 's/when: .*43.$/when: "What `plan` gave"/' t.yaml >t2.yaml
exits "a model that calls no tools" 0 "$WEND" run -m script:t2.yaml \
    --models models.yaml --json --plan x
is "it is offered none" "$(field model_start '"tools":[0-9]*' | sort -u)" \
    '"tools":0'
has "and told how to write tags" "$out" '<response final=\"true\">'
cat >t3.yaml <<'END'
turns:
  - text: '<action type="tool" id="a">{"target":"calculator",
      "params":{"expression":"1"}}</action><response final="true">Bye.</response>'
END
exits "a final response ends it, once its actions have" 0 "$WEND" run \
    -m script:t3.yaml --plan x
is "a final response" "$(cat "$out")" "Bye."
exits "no tags at all" 0 "$WEND" run \
    -m 'script:{"turns":[{"text":"just 1 < 2"}]}' --plan x
is "no tags at all: the answer" "$(cat "$out")" "just 1 < 2"

# ---- Files that ask for another plan -----------------------------------------

cat >f.yaml <<'END'
wend: plan/1
name: half
on_failure: replan
actions:
  - {name: a, type: tool, target: calculator, params: {expression: "6"},
     output_key: six}
  - {name: b, type: tool, target: calculator, params: {expression: "$six/0"},
     depends_on: [a]}
END
exits "no model to ask" 2 "$WEND" plan run f.yaml
has "no model: where" "$err" "f.yaml:3:13: on_failure: replan needs a model"
exits "no model to ask, from standard input" 2 \
    bash -c '"$0" plan run - <f.yaml' "$WEND"
has "no model, from standard input" "$err" "on_failure: replan needs a model"
cat >fs.yaml <<'END'
turns:
  - when: 'division by zero'
    calls:
      - name: plan
        args:
          actions:
            - {name: b, type: tool, target: calculator,
               params: {expression: "$six*7"}}
  - when: '"output":42'
    text: "It is 42."
END
exits "another plan" 0 "$WEND" plan run -m script:fs.yaml f.yaml
is "another plan: the answer" "$(cat "$out")" "It is 42."
exits "another plan: its log" 0 "$WEND" log last --json
is "no key of an action is that of another plan's" \
    "$(field action_start '/half[^"]*' | tr '\n' ' ')" "/half/a /half/b /half.p1/b "

cat >g.yaml <<'END'
wend: plan/1
actions: [{name: w, type: workflow, target: f.yaml, output_key: w}]
outputs: {w: $w}
END
exits "no model to ask, inside" 2 "$WEND" plan run g.yaml
has "no model, inside: where" "$err" "f.yaml:3:13: on_failure: replan needs"
exits "another plan inside a plan" 0 "$WEND" plan run -m script:fs.yaml g.yaml
is "another plan inside: the answer" "$(cat "$out")" "It is 42."

exits "a goal and a prompt" 2 "$WEND" run -m script:s.yaml --plan x y
exits "no goal" 2 "$WEND" run -m script:s.yaml --plan ""
finish
