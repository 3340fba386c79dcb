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
exits "a goal" 0 "$WEND" run -m script:s.yaml --plan "get 43"
is "the answer" "$(cat "$out")" "Let me plan.
Done: 43."
has "its actions" "$err" "ok       c"
has "how the plan went" "$err" "plan     ok: 3 ok, 0 failed, 0 skipped"
exits "for programs" 0 "$WEND" run -m script:s.yaml --json --plan "get 43"
is "each action is handed over, and starts while the others are written" \
    "$(types | grep -o 'model_part .* model_end call_start' |
        sed 's/model_end call_start/./')" \
    "model_part plan_start plan_action action_start plan_action plan_action ."
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
exits "the log has it" 0 "$WEND" replay --speed 0 last
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
  - {text: "first", first_delay: 2s}
  - {text: "second"}
  - {text: "third"}
  - {purpose: plan, text: "fin"}
END
"$WEND" run -m script:r.yaml --plan "three" >/dev/null 2>&1 &
pid=$!
for _ in $(seq 100); do
    "$WEND" log last --json 2>/dev/null | grep -q '"output":"second"' && break
    sleep 0.1
done
kill -9 "$pid"
wait "$pid" 2>/dev/null
exits "it is gone on with" 0 "$WEND" resume last
is "to its end" "$(cat "$out")" fin
is "in silence about the tool that it brings along" \
    "$(grep -c 'not there' "$err")" 0
exits "its log" 0 "$WEND" log last --json
is "each action got the answer that it would have had" \
    "$(field action_end '"(first|second|third)"' | sort | tr -d '\n')" \
    '"first""second""third"'

exits "a goal and a prompt" 2 "$WEND" run -m script:s.yaml --plan x y
exits "no goal" 2 "$WEND" run -m script:s.yaml --plan ""
finish
