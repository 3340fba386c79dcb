#!/usr/bin/env bash
# plan_run.sh - wend plan run: outputs, lines, exit codes, the log.
. "$(dirname "$0")/lib.sh"

cat >p.yaml <<'EOF'
wend: plan/1
name: sums
max_parallel: 2
inputs: {n: 6}
actions:
  - name: a
    type: tool
    target: calculator
    mode: async
    params: {expression: "$n*7"}
    output_key: x
  - name: b
    type: tool
    target: calculator
    mode: async
    params: {expression: "1/0"}
    retry: {max: 1, delay: 10ms}
    skip_on_error: true
  - name: d
    type: decision
    depends_on: [a]
    cases: [{when: "$x > 41", then: [c]}, {else: [e]}]
  - name: c
    type: tool
    target: calculator
    params: {expression: "$x+1"}
    output_key: y
  - name: e
    type: tool
    target: calculator
    params: {expression: "0"}
    output_key: y
outputs: {y: $y, text: "x is $x"}
EOF

exits "a plan" 0 "$WEND" plan run p.yaml
is "its outputs, and nothing else" "$(cat "$out")" '{"y":43,"text":"x is 42"}'
has "what was skipped, and why" "$err" "skipped  e: not_chosen"
has "what was tried again" "$err" "again    b: division by zero"
has "how it went" "$err" "plan     ok: 3 ok, 0 failed, 2 skipped"
exits "another input" 0 "$WEND" plan run --set n=2 -q p.yaml
is "another input: outputs" "$(cat "$out")" '{"y":0,"text":"x is 14"}'
is "quiet: nothing beside them" "$(cat "$err")" ""
exits "for programs" 0 "$WEND" plan run --json p.yaml
is "for programs: the order" "$(
    sed -n 's/.*"time":[0-9.]*,"type":"\([a-z_]*\)".*/\1/p' "$out" |
        sed -n '1,2p;$p' | tr '\n' ' ')" "run_start plan_start run_end "
exits "the log has it" 0 "$WEND" log last --json
is "the log: every action has one end" \
    "$(grep -c '"type":"action_end"' "$out")" 5
exits "a replay" 0 "$WEND" replay --speed 0 last
is "a replay: the same outputs" "$(cat "$out")" '{"y":43,"text":"x is 42"}'

# ---- Another vocabulary ------------------------------------------------------

exits "cortex" 0 "$WEND" plan run --events cortex p.yaml
cp "$out" live
is "cortex: one iteration, what became of the actions, and the end" \
    "$(sed 's/.*"event_type":"\([a-z_]*\)".*/\1/' live | sort | uniq -c |
        awk '{ printf "%s %s, ", $2, $1 }')" \
    "action_completed 4, action_failed 1, action_started 4, agent_completed 1, \
agent_started 1, iteration_completed 1, iteration_started 1, plan_generated 1, \
progress 5, termination 1, warning 1, "
has "cortex: the totals" live \
    '"total_actions":5,"total_llm_calls":0,"total_tool_calls":4,'
exits "cortex: replay" 0 "$WEND" replay --speed 0 --events cortex last
cmp -s "$out" live
ok "cortex: the same bytes from a replay"
exits "cortex: log" 0 "$WEND" log --events cortex last
cmp -s "$out" live
ok "cortex: and from the log"

# ---- Tools beside the plan -----------------------------------------------------

mkdir -p beside/tools elsewhere
tool() { # NAME LINES: of its manifest
    printf 'wend: tool/1\nname: %s\ndescription: d\nclass: read\n%b\n' "$1" "$2"
}
cat >beside/p.yaml <<'EOF'
wend: plan/1
name: beside
actions:
  - {name: a, type: tool, target: shout, params: {text: hi}, output_key: x}
outputs: {x: $x}
EOF
exits "no such tool" 2 "$WEND" plan run beside/p.yaml
has "no such tool: said" "$err" "'shout'"
tool shout 'command: [tr, a-z, A-Z]' >beside/tools/shout.yaml
exits "a tool beside the plan" 0 "$WEND" plan run -q beside/p.yaml
is "a tool beside the plan: its output" "$(cat "$out")" '{"x":{"TEXT":"HI"}}'
exits "a rule about it" 1 "$WEND" plan run -q --approve '!shout' beside/p.yaml
exits "shown" 0 "$WEND" plan show beside/p.yaml
mkdir -p beside/in/tools
tool whisper 'command: [tr, A-Z, a-z]' >beside/in/tools/whisper.yaml
sed 's/shout/whisper/; s/: hi/: HI/' beside/p.yaml >beside/in/p.yaml
cat >beside/both.yaml <<'EOF'
wend: plan/1
name: both
actions:
  - {name: a, type: tool, target: shout, params: {text: hi}, output_key: x}
  - {name: b, type: workflow, target: in/p.yaml, output_key: y}
outputs: {x: $x, y: $y}
EOF
exits "rules about tools of it and of a plan inside" 0 "$WEND" plan run -q \
    --approve shout --approve whisper beside/both.yaml
is "both have run" "$(cat "$out")" '{"x":{"TEXT":"HI"},"y":{"x":{"text":"hi"}}}'
exits "from elsewhere" 0 sh -c "cd elsewhere && '$WEND' plan run -q ../beside/p.yaml"
tool other 'command: [cat]' >beside/tools/shout.yaml
exits "another name" 2 "$WEND" plan show beside/p.yaml
has "another name: said" "$err" "the tool's name is 'other', not 'shout'"
tool shout 'comand: [cat]' >beside/tools/shout.yaml
exits "a broken one" 2 "$WEND" plan show beside/p.yaml
has "a broken one: said" "$err" "tools/shout.yaml:5:1"

# ---- Values that come late ----------------------------------------------------

# `middle` is skipped at once, so that nothing but the value itself makes `last`
# wait for `source`.
mkdir -p late/tools
tool seven 'command: [sh, -c, "sleep 1; echo 7"]' >late/tools/seven.yaml
tool say 'command: [cat]' >late/tools/say.yaml
cat >late/p.yaml <<'EOF'
wend: plan/1
name: late
on_failure: continue
missing_ref: "null"
actions:
  - {name: source, type: tool, target: seven, mode: async, output_key: src}
  - {name: check, type: tool, target: calculator, mode: async, params: {expression: "1/0"}}
  - {name: middle, type: tool, target: say, mode: async, depends_on: [source, check]}
  - {name: other, type: tool, target: say, mode: async}
  - {name: last, type: tool, target: say, mode: async, depends_on: [other, middle],
     params: {got: $src}, output_key: last}
outputs: {last: $last}
EOF
exits "a late value" 0 "$WEND" plan run -q late/p.yaml
is "a late value: is waited for" "$(cat "$out")" '{"last":{"got":7}}'
exits "a late value: shown" 0 "$WEND" plan show --format json late/p.yaml
has "a late value: as an edge" "$out" '"values_from":["source"]'
exits "a late value: as text" 0 "$WEND" plan show late/p.yaml
has "a late value: in words" "$out" "waits for the value of source"

# ---- What the plan's brackets say -----------------------------------------------

cat >late/auto.yaml <<'EOF'
wend: plan/1
name: auto
max_parallel: auto
fail_fast: true
actions:
  - {name: slow, type: tool, target: seven, mode: async}
  - {name: bad, type: tool, target: calculator, mode: async, params: {expression: "1/0"}}
EOF
exits "a plan that stops what runs" 1 "$WEND" plan run --json late/auto.yaml
has "auto: where it begins" "$out" '"max_parallel":5,"auto_parallel":true'
has "one failed, one was canceled" "$out" '"ok":0,"failed":1,"skipped":0,"running":0'
has "and it is counted apart" "$out" '"canceled":1'

# ---- In a terminal -----------------------------------------------------------

export LC_ALL=C.UTF-8 TERM=xterm
at_terminal "'$WEND' plan run p.yaml"
has "a terminal: a bar for an action that ended ok" "$out" "✓ "
has "a terminal: why one failed" "$out" "failed   b: division by zero"
has "a terminal: how it ended" "$out" "3 ok, 2 skipped, "
has "a terminal: the outputs" "$out" '{"y":43,"text":"x is 42"}'
two='script:{"turns":[{"calls":[{"name":"plan","args":{"actions":[
{"name":"first","type":"tool","target":"calculator","params":{"expression":"1"}},
{"name":"second","type":"tool","target":"calculator","params":{"expression":"2"}}]}}]},
{"calls":[{"name":"plan","args":{"actions":[
{"name":"third","type":"tool","target":"calculator","params":{"expression":"3"}}]}}]},
{"text":"done"}]}'
at_terminal "'$WEND' run --plan x -m '$two'"
has "a terminal: a plan that is being written" "$out" "2 ok, "
has "a terminal: the next one begins anew" "$out" "1 ok, "
lacks "a terminal: never more than there are" "$out" " of 0 done"

# An llm action of a plan starts before the message that plans it is over.
cat >eager.json <<'EOF'
{"turns":[{"purpose":"plan","text":"I *plan* it.\nIn two lines.","delay":"30ms",
"calls":[{"name":"plan","args":{"actions":[{"name":"a","type":"llm","target":"default",
"prompt":"hi","output_key":"o"}]}}]},{"purpose":"plan","text":"All done."},
{"text":"of the action","delay":"30ms","repeat":"forever"}]}
EOF
"$WEND" run --stream -m script:eager.json --plan x >eager.out 2>eager.err </dev/null
is "an eager plan: the text once" "$(cat eager.out)" $'I *plan* it.\nIn two lines.\nAll done.'
"$WEND" log last --json >eager.log
is "an eager plan: its action starts within the message" \
    "$(grep -o '"type":"\(model_end\|action_start\)"' eager.log | head -n 1)" \
    '"type":"action_start"'
"$WEND" replay --stream last >eager.out 2>/dev/null
is "an eager plan replayed: the text once" "$(cat eager.out)" $'I *plan* it.\nIn two lines.\nAll done.'
at_terminal "'$WEND' run --plan x -m script:eager.json"
is "a terminal: the text of an eager plan once" "$(grep -c 'In two lines' "$out")" 1

# ---- Models and relics -------------------------------------------------------

mkdir relics
cat >relics/notes.yaml <<'EOF'
wend: relic/1
name: notes
kind: kv
ttl: 1h
EOF
cat >both.yaml <<'EOF'
wend: plan/1
name: both
inputs: {topic: looms}
actions:
  - {name: a, type: llm, target: default, prompt: "About $topic", output_key: x}
  - name: keep
    type: relic
    target: notes.put
    mode: fire_and_forget
    depends_on: [a]
    params: {key: "r/$topic", value: $x}
outputs: {report: $x}
EOF
exits "a model and a relic" 0 "$WEND" plan run both.yaml \
    -m 'script:{"turns":[{"when":"About looms","text":"They weave."}]}'
is "one text alone is printed as it is" "$(cat "$out")" "They weave."
cat >get.yaml <<'EOF'
wend: plan/1
name: get
actions:
  - {name: g, type: relic, target: notes.get, params: {key: r/looms},
     output_key: x}
outputs: {x: $x, n: 1}
EOF
exits "another run" 0 "$WEND" plan run get.yaml
is "another run has what was kept" "$(cat "$out")" '{"x":"They weave.","n":1}'
sed -i 's/kind: kv/kind: kw/' relics/notes.yaml
exits "a kind that is none" 2 "$WEND" plan run get.yaml
has "a kind that is none: where" "$err" "relics/notes.yaml:3:7: kind is 'kw'; \
did you mean 'kv'?"

# ---- What is learned, and how many at once ------------------------------------

cat >order.yaml <<'EOF'
wend: plan/1
name: order
max_parallel: 2
actions:
  - {name: one, type: tool, target: calculator, estimate: 9s, mode: async,
     params: {expression: "1/0"}, skip_on_error: true}
  - {name: two, type: llm, target: default, prompt: go, mode: async,
     estimate: 1s}
  - {name: pre, type: tool, target: list_dir, estimate: 5s, mode: async}
EOF
started() { # the names of actions in the order they started
    "$WEND" log last --json | grep '"type":"action_start"' |
        grep -o '"name":"[^"]*"' | cut -d'"' -f4 | tr '\n' ' '
}
model='script:{"turns":[{"when":"go","text":"x","first_delay":"600ms"}]}'
export WEND_STORE=$work/learned.db
exits "nothing is learned yet" 0 "$WEND" plan show -m "$model" order.yaml
lacks "and nothing is said" "$out" "learned"
[ ! -e "$WEND_STORE" ]
ok "and no store is made"
exits "the first run" 0 "$WEND" plan run -q --parallel 1 -m "$model" order.yaml
is "starts by the estimates" "$(started)" "one pre two "
exits "the second run" 0 "$WEND" plan run -q --parallel 1 -m "$model" order.yaml
is "starts by what was learned, as far as it goes" "$(started)" "one two pre "
"$WEND" log last --json | grep '"type":"plan_start"' >start.json
has "which its log says" start.json '"learned":true'
has "beside the declared sum" start.json '"sequential_ms":15000'
exits "one at once" 0 "$WEND" log last --json
is "one at once: the first ends before the next starts" \
    "$(grep -o '"type":"action_[a-z]*"' "$out" | uniq -c | awk '{print $1}' |
        sort -u)" 1
exits "what was learned is shown" 0 "$WEND" plan show -m "$model" order.yaml
has "with its failures" "$out" "9 s, learned (2 of 2 failed)"
has "its time beside the estimate" "$out" "1 s, learned "
has "and the declared numbers are as before" "$out" \
    "sequential 15 s, critical path 9 s, 1.7x"
exits "as JSON" 0 "$WEND" plan show --json -m "$model" order.yaml
has "as JSON: the rate" "$out" '"failure_rate":1'
has "as JSON: what models cost" "$out" '"cost":{"asked":1,"priced":0}'
exits "as HTML" 0 "$WEND" plan show --format html -m "$model" order.yaml
has "as HTML: marked as learned" "$out" "<th>learned<th>failed"
export WEND_STORE=$work/wend.db

cat >named.yaml <<'EOF'
wend: plan/1
name: named
actions:
  - {name: a, type: llm, target: default, prompt: x, output_key: a}
  - {name: b, type: llm, target: "script:other.yaml", prompt: x, output_key: b}
outputs: {a: $a, b: $b}
EOF
printf 'model: other\nturns: [{text: theirs}]\n' >other.yaml
exits "a model that an action names" 0 "$WEND" plan run -q named.yaml \
    -m 'script:{"turns":[{"text":"ours"}]}'
is "a model that an action names: it answers" "$(cat "$out")" \
    '{"a":"ours","b":"theirs"}'
sed -i '/name: a/d; s/a: $a, //' named.yaml
exits "no other model is needed then" 0 "$WEND" plan run -q named.yaml
is "no other model is needed then: the answer" "$(cat "$out")" theirs
exits "its log" 0 "$WEND" log last --json
has "its log: who was asked" "$out" '"type":"model_start","data":{"model":"other"'
sed -i 's/script:other.yaml/scrip:other.yaml/' named.yaml
exits "a model of nobody" 2 "$WEND" plan run -q named.yaml

# ---- Killed, and taken up again ----------------------------------------------

cat >long.yaml <<'EOF'
wend: plan/1
name: long
actions:
  - {name: a, type: llm, target: default, prompt: one, output_key: x}
  - {name: b, type: llm, target: default, depends_on: [a], prompt: "two $x",
     output_key: y}
outputs: {y: $y}
EOF
begin_long() { # until b waits for its model; killed then
    echo '{"turns":[{"when":"one","text":"1"},
        {"when":"two","text":"2","first_delay":"90s"}]}' >long.json
    begin "$WEND" plan run long.yaml -m script:long.json
    soon grep -q "start    b" "$err"
    killed
    sed -i 's/90s/1ms/' long.json
}
begin_long
exits "a plan goes on in another process" 0 "$WEND" resume "$id"
is "its outputs" "$(cat "$out")" '{"y":2}'
exits "its log" 0 "$WEND" log last --json
is "what had ended is not done again" \
    "$(grep -c '"type":"action_start".*"action":"a"' "$out")" 1
export WEND_STORE=$work/memory.db
begin_long
exits "another one" 0 "$WEND" resume "$id"
exits "what it took is learned" 0 "$WEND" plan show long.yaml --json \
    -m 'script:{"turns":[]}'
has "what it took is learned" "$out" '"learned":{'
export WEND_STORE=$work/wend.db

# One whose plan is over, but for what nobody waits for.
cat >late.yaml <<'EOF'
wend: plan/1
name: late
actions:
  - {name: f, type: llm, mode: fire_and_forget, target: default, prompt: one}
  - {name: a, type: tool, target: calculator, params: {expression: "6*7"},
     output_key: x}
outputs: {x: $x}
EOF
late() { # RESUME OPTIONS...: in $out
    echo '{"turns":[{"text":"1","first_delay":"90s","repeat":"forever"}]}' \
        >late.json
    begin "$WEND" plan run late.yaml -m script:late.json
    soon grep -q "plan     ok" "$err"
    killed
    sed -i 's/90s/1ms/' late.json
    exits "the plan is over, its run is not: resume $*" 0 \
        "$WEND" resume "$@" "$id"
}
late
is "its outputs are printed all the same" "$(cat "$out")" '{"x":42}'
late --events cortex
cp "$out" rest
exits "cortex: all of it" 0 "$WEND" log --events cortex last
tail -n "$(wc -l <rest)" "$out" | cmp -s - rest
ok "cortex: a resumed run goes on where its records ended"
has "cortex: with what went before counted" rest '"actions_completed":2'

# ---- What goes wrong ---------------------------------------------------------

cat >bad.yaml <<'EOF'
wend: plan/1
name: bad
actions:
  - {name: a, type: tool, target: calculator, params: {expression: "1/0"}}
  - {name: b, type: tool, target: calculator, depends_on: [a],
     params: {expression: "1"}}
EOF
exits "a plan that fails" 1 "$WEND" plan run bad.yaml
has "it says which action, and why" "$err" \
    "plan_failed: action 'a' ended as failed: division by zero"
long=$(printf 'x%.0s' {1..300})
printf 'wend: plan/1\nactions: [{name: a, type: tool, target: shell,
    params: {command: "echo %s"}}]\n' "$long" >long.yaml
exits "a long reason" 1 "$WEND" plan run --approve deny long.yaml
has "a long reason is there, whole" "$err" "denied   a: denied by policy"
has "a long reason is there, to its end" "$err" "$long)' allows it"
grep -q '^wend: run failed: .*xxx\.\.\.$' "$err"
ok "a long reason: where it is cut, that is shown" || cat "$err"
sed 's/target: calculator,/target: calculater,/' bad.yaml >worse.yaml
exits "no such tool" 2 "$WEND" plan run worse.yaml
has "no such tool: where" "$err" "worse.yaml:4:"
has "no such tool: which" "$err" "did you mean 'calculator'?"
cat >ask.yaml <<'EOF'
wend: plan/1
name: ask
actions:
  - {name: a, type: llm, target: default, prompt: hello}
EOF
exits "no model" 2 "$WEND" plan run ask.yaml
has "no model: where" "$err" "ask.yaml:4:34: action 'a': it asks a model, and"
printf -- '---\nwend: agent/1\nname: nobody\n---\nHelp.\n' >nobody.md
sed 's/llm, target: default/agent, target: nobody.md/' ask.yaml >whom.yaml
exits "an agent without a model" 2 "$WEND" plan run whom.yaml
has "an agent without a model: where" "$err" \
    "whom.yaml:4:36: action 'a': its agent names no model"
cat >write.yaml <<'EOF'
wend: plan/1
name: write
actions:
  - {name: a, type: tool, target: write_file, params: {path: f, content: hi}}
EOF
exits "not approved" 1 "$WEND" plan run write.yaml
[ ! -e f ]
ok "not approved: nothing is written"
exits "approved" 0 "$WEND" plan run --approve write_file write.yaml
is "approved: it is written" "$(cat f)" "hi"
exits "no file" 2 "$WEND" plan run none.yaml
exits "neither show nor run" 2 "$WEND" plan rum p.yaml
finish
