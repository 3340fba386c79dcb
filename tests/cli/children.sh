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
exits "a fork gives another answer of its own" 0 \
    "$WEND" fork --json "$parent" --result a=None.
is "another answer: it is the output" \
    "$(tail -1 "$out" >last; json last "$(at data.text)")" '{"r":"None."}'
lacks "another answer: no child is asked" "$out" '"type":"child_start"'
exits "another answer: whole" 0 "$WEND" verify -q

exits "without a model" 2 "$WEND" plan run p.yaml
has "without a model: what to do" "$err" "name one with -m"
sed -i 's/^name: summ/nome: summ/' agents/sum.yaml
exits "a broken file" 2 "$WEND" plan run -m script:script.yaml p.yaml
has "a broken file: by whom it is named" "$err" "p.yaml:6:13: action 'a'"
has "a broken file: where" "$err" "agents/sum.yaml:2:"
exits "a broken file is seen before" 2 "$WEND" plan show p.yaml
sed -i 's/^nome: summ/name: summ/' agents/sum.yaml

sed 's/^    output_key: s$/&\n    cache: {ttl: 1h}/' p.yaml >cached.yaml
exits "an answer to be kept" 0 "$WEND" plan run -q -m script:script.yaml cached.yaml
exits "the same again" 0 "$WEND" plan run --json -m script:script.yaml cached.yaml
has "it is given again" "$out" '"outcome":"ok","cached":true'
lacks "and no child begins" "$out" '"type":"child_start"'

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
     timeout: 2s}
EOF
late='script:{"turns":[{"when":"slow","text":"late","first_delay":"90s"}]}'
exits "a child has the action's time" 1 "$WEND" plan run -m "$late" slow.yaml
has "its time: what is said" "$err" "its time was over"
exits "its time: the list" 0 "$WEND" runs --json --limit 2
is "its time: the child's log says that it was canceled" \
    "$(grep -c '"status":"canceled"' "$out")" 1

# ---- Plans in plans ----------------------------------------------------------

mkdir sub
cat >outer.yaml <<'EOF'
wend: plan/1
name: outer
inputs: {n: 3}
actions:
  - name: w
    type: workflow
    target: sub/inner.yaml
    params: {x: $n}
    output_key: r
  - {name: z, type: tool, target: calculator, depends_on: [w],
     params: {expression: "${r.twice}+1"}, output_key: s}
outputs: {s: $s, all: $r}
EOF
cat >sub/inner.yaml <<'EOF'
wend: plan/1
name: inner
inputs: {x: 1}
actions:
  - {name: t, type: tool, target: calculator, params: {expression: "$x*2"},
     output_key: y}
outputs: {twice: $y, text: "got $y"}
EOF
exits "a workflow" 0 "$WEND" plan run -q outer.yaml
is "its outputs are an object" "$(cat "$out")" \
    '{"s":7,"all":{"twice":6,"text":"got 6"}}'
exits "--set is for the outermost" 0 "$WEND" plan run -q --set n=5 outer.yaml
is "--set: what comes of it" "$(cat "$out")" \
    '{"s":11,"all":{"twice":10,"text":"got 10"}}'
exits "a workflow can be shown" 0 "$WEND" plan show outer.yaml
has "shown: with its file" "$out" "workflow sub/inner.yaml"
sed 's/params: {x: /params: {y: /' outer.yaml >input.yaml
exits "an input that it does not have" 2 "$WEND" plan run input.yaml
has "an input: where, and what was meant" "$err" \
    "input.yaml:7:13: action 'w': sub/inner.yaml: the plan has no input 'y'"
printf '%s\n' 'wend: plan/1' 'name: back' 'actions:' \
    '  - {name: b, type: workflow, target: ../round.yaml}' >sub/back.yaml
sed 's/inner/back/; s/params: {x: /params: {}  # /' outer.yaml >round.yaml
exits "a circle" 2 "$WEND" plan run round.yaml
has "a circle: all its members" "$err" \
    "plans in a circle: round.yaml -> sub/back.yaml -> "
has "a circle: where" "$err" "sub/back.yaml:4:39: action 'b'"
exits "a circle is seen before" 2 "$WEND" plan show round.yaml
for i in 0 1 2 3 4 5 6 7 8 9; do
    printf '%s\n' 'wend: plan/1' "name: d$i" 'actions:' \
        "  - {name: a, type: workflow, target: deep$((i + 1)).yaml}" \
        >deep$i.yaml
done
printf '%s\n' 'wend: plan/1' 'name: last' 'actions:' \
    '  - {name: a, type: tool, target: calculator, params: {expression: "1"}}' \
    >deep10.yaml
exits "eight plans in a plan" 0 "$WEND" plan run deep2.yaml
exits "nine of them" 2 "$WEND" plan run deep1.yaml
has "nine: where" "$err" "deep9.yaml:4:39: action 'a': plans in plans"

# ---- Tasks of a model --------------------------------------------------------

ask='{"calls":[{"name":"task","args":{"agent":"helper","prompt":"6*7?"}}],
    "usage":{"input":3,"output":4}}'
cat >boss.yaml <<EOF
wend: agent/1
name: boss
model: 'script:{"turns":[$(tr -d '\n' <<<"$ask"),
    {"text":"It said: \${tool_result}"}]}'
tools: [calculator]
agents: [agents/helper.yaml]
EOF
cat >agents/helper.yaml <<'EOF'
wend: agent/1
name: helper
description: computes
model: script:helper.script
tools: [calculator]
EOF
cat >agents/helper.script <<'EOF'
turns:
  - {calls: [{name: calculator, args: {expression: "6*7"}}],
     usage: {input: 100, output: 7}}
  - {text: "helped: ${tool_result}", usage: {input: 100, output: 7}}
EOF
exits "a task" 0 "$WEND" run -a boss.yaml go
is "a task: its answer goes to the model" "$(cat "$out")" \
    "It said: helped: 42"
exits "a task for programs" 0 "$WEND" run -a boss.yaml --json go
is "a child stands inside its call" "$(types "$out" |
    grep -o 'call_start child_start .*call_end')" \
    "call_start child_start model_end child_end call_end"
has "agents that only read are called so" "$out" \
    '"name":"task","args":{"agent":"helper","prompt":"6*7?"},"class":"read"'
child=$(child_of "$out")
parent=$(sed -n '1s/^{"run":"\([^"]*\)".*/\1/p' "$out")
seq=$(sed -n 's/.*"seq":\([0-9]*\),.*"type":"child_start".*/\1/p' "$out")
exits "no result while its child is open" 2 \
    "$WEND" fork "$parent" --no-run --at "$seq" --result call_1=x
has "no result while its child is open: said" "$err" "best just before its end"
exits "a result in the place of the child's" 0 \
    "$WEND" fork -q "$parent" --result call_1=nothing
is "a result in the place of the child's: the answer" "$(cat "$out")" \
    "It said: nothing"
exits "the list has both" 0 "$WEND" runs --json --limit 2
has "the list: whose child it is" "$out" "\"parent\":\"$parent\",\"child\":true"
run "$WEND" runs --limit 2
has "the list links children" "$out" "  child ${parent:0:8}"
has "the list links forks" "$out" "  fork ${parent:0:8}"
run "$WEND" runs --tree --limit 1
is "the tree: the parent, and below it what it started and its fork" \
    "$(sed 's/.*  //' "$out" | tr '\n' '|')" "PROMPT|go||- 6*7?|\`- go|"
run "$WEND" log --json last
has "last is no child" "$(first "$out")" "\"run\":\"$parent\""
run "$WEND" stats --json
has "what children used is counted once" "$out" '"tokens_in":'
exits "the picture of a child" 0 "$WEND" view "$child"
has "the picture of a child: whose" "$out" "child of $parent"
exits "the picture of its parent" 0 "$WEND" view "$parent"
has "the picture of its parent: the child" "$out" "helper"

exits "what the child uses counts" 3 \
    "$WEND" run -a boss.yaml --budget-tokens 220 go
has "counts: which limit" "$err" "limit of tokens"
exits "counts: the list" 0 "$WEND" runs --json --limit 1
has "counts: the child stopped before it was over" "$out" '"tokens_in":100,'
exits "enough for both" 0 "$WEND" run -a boss.yaml --budget-tokens 900 go

sed 's/agent":"helper"/agent":"nobody"/' boss.yaml >other.yaml
exits "an agent that there is not" 0 "$WEND" run -a other.yaml go
has "the model is told" "$out" "agent must be one of"

# ---- What options give to children ----------------------------------------------

# A workflow has the tools of the run, an agent those of its own file; rules hold
# for both.
printf 'wend: tool/1\nname: mine\ndescription: d\ncommand: [echo, mine]\n' >mine.yaml
mkdir -p sub
echo 'wend: plan/1
name: inner
actions: [{name: x, type: tool, target: mine, output_key: o}]
outputs: {o: $o}' >sub/inner.yaml
echo 'wend: plan/1
name: given
actions: [{name: w, type: workflow, target: sub/inner.yaml, output_key: o}]
outputs: {o: $o}' >given.yaml
given() { "$WEND" plan run --sandbox off --tools mine.yaml "$@"; }
exits "a workflow: the tools of the run" 0 given --approve mine given.yaml
has "a workflow: its tool ran" "$out" mine
exits "a workflow: the rules of the run" 1 given --approve '!mine' given.yaml
has "a workflow: which rule" "$err" "denied by policy (!mine)"
exits "a workflow: not without the option" 2 "$WEND" plan run given.yaml
has "a workflow: where it is named" "$err" "sub/inner.yaml:3:"
has "a workflow: what is missing" "$err" \
    "unknown tool 'mine'; there is no file 'sub/tools/mine.yaml'"
cp mine.yaml sub/tool.yaml
printf 'wend: agent/1\nname: kid\n' >sub/kid.yaml
sed 's/type: workflow, target: sub.inner.yaml/type: agent, prompt: go, target: sub\/kid.yaml/' \
    given.yaml >asked.yaml
calls='script:{"turns":[{"calls":[{"name":"mine","args":{}}]},{"text":"${tool_result}"}]}'
exits "an agent: it has not the tools of the run" 0 \
    given --approve all -m "$calls" asked.yaml
has "an agent: the read-only ones" "$out" \
    "there is no tool 'mine'; the tools are: calculator, glob, grep, list_dir, read_file"
echo 'tools: [./tool.yaml]' >>sub/kid.yaml
exits "an agent: its own" 0 given --approve all -m "$calls" asked.yaml
has "an agent: its own tool ran" "$out" mine
exits "an agent: the rules of the run" 0 given --approve '!mine' -m "$calls" asked.yaml
has "an agent: which rule" "$out" "denied by policy (!mine)"

# ---- What a child may do -----------------------------------------------------

cat >agents/writer.yaml <<'EOF'
wend: agent/1
name: writer
model: 'script:{"turns":[{"calls":[{"name":"write_file",
    "args":{"path":"kid.txt","content":"hi"}}]},{"text":"${tool_result}"}]}'
tools: [write_file]
policy: [{tool: write_file, do: allow}]
EOF
sed 's/"helper"/"writer"/; s/helper.yaml/writer.yaml/' boss.yaml >boss2.yaml
exits "an agent that writes is asked about" 0 "$WEND" run -a boss2.yaml go
has "there is no person" "$out" "there is no person to ask"
exits "a child may not do more than its parent" 0 \
    "$WEND" run -a boss2.yaml --approve task go
has "not more: what it is told" "$out" "denied by policy"
[ ! -e kid.txt ]
ok "not more: nothing was written"
exits "what both may is done" 0 \
    "$WEND" run -a boss2.yaml --approve task --approve write_file go
has "what both may: the answer" "$out" "wrote 2 bytes"
rm -f kid.txt
begin "$WEND" run -a boss2.yaml --approve task --approve ask go
soon grep -q "waiting for approval of write_file" "$err"
"$WEND" approve "$id" >said 2>how
has "the parent knows what its child asks" said "call_1: write_file, which makes"
child=$("$WEND" runs --json | sed -n 's/^{"run":"\([^"]*\)".*"child":true.*/\1/p;q')
has "and how to answer the child" how "'wend approve $child call_1' approves it"
"$WEND" approve "$child" call_1 no
wait $pid
is "the child is answered" "$? $(cat kid.txt 2>/dev/null)" "0 "
if has_terminal; then
    at_terminal "'$WEND' run -a boss2.yaml go" "allow?" y y
    has "a terminal: the child's question" "$out" "Agent writer (call_1): its model wants to call"
    is "a terminal: the answer reaches it" "$(cat kid.txt)" "hi"
else
    skip "a terminal" "script gives no terminal here"
fi

printf '%s\n' 'wend: agent/1' 'name: web' 'tools: [http_request]' \
    >agents/web.yaml
printf '%s\n' 'wend: agent/1' 'name: off' "model: 'script:{\"turns\":[]}'" \
    'network: off' 'agents: [agents/web.yaml]' >off.yaml
exits "without the network nobody below has it" 2 "$WEND" run -a off.yaml go
has "the network: where it is meant" "$err" "agents/web.yaml:3:9"

# ---- Killed, canceled --------------------------------------------------------

child_begins() { # the first one of the run $id is $child
    soon in_log "$id" '"type":"child_start"'
    "$WEND" log --json "$id" >log
    child=$(child_of log)
}
begin_child() { # it has made its call, and waits for its model
    cat >agents/helper.script <<'EOF'
turns:
  - {calls: [{name: calculator, args: {expression: "6*7"}}]}
  - {text: "helped: ${tool_result}", first_delay: 90s}
EOF
    begin "$WEND" run -a boss.yaml go
    child_begins
    soon in_log "$child" '"type":"model_start","turn":1'
}

begin_child
killed
sed -i 's/90s/1ms/' agents/helper.script
exits "as a file, with its child" 0 "$WEND" export -o family last
exits "elsewhere" 0 "$WEND" import -q --store "$work/other.db" family
exits "elsewhere: it is left as it is" 0 "$WEND" resume --store "$work/other.db"
is "elsewhere: only the parent is named" "$(grep -c 'was imported' "$err")" 1
exits "elsewhere: with an agent it goes on" 0 "$WEND" resume -q \
    --store "$work/other.db" -a boss.yaml "$id"
is "elsewhere: with a child of its own" "$(cat "$out")" "It said: helped: 42"
is "elsewhere: all are imported" "$("$WEND" runs --json \
    --store "$work/other.db" | grep -vc '"imported":true')" 0
run "$WEND" log --json --store "$work/other.db" "$child"
lacks "elsewhere: the imported child is left alone" "$out" '"type":"run_resume"'
exits "elsewhere: whole" 0 "$WEND" verify -q --store "$work/other.db"
exits "killed, and taken up again" 0 "$WEND" resume
is "taken up: the answer" "$(cat "$out")" "It said: helped: 42"
is "taken up: one run, its child with it" \
    "$(grep -c 'resuming run' "$err")" 1
run "$WEND" log --json last
is "taken up: no other child" "$(grep -c '"child_start"' "$out")" 1
run "$WEND" log --json "$child"
is "taken up: the child's call is not made again" \
    "$(grep -c '"type":"call_start"' "$out")" 1

begin_child
kill -INT $pid
wait $pid
is "canceled: exit status" $? 130
exits "canceled: both are over" 0 "$WEND" runs --json --limit 2
is "canceled: both say so" "$(grep -c '"status":"canceled"' "$out")" 2

# ---- Paused ------------------------------------------------------------------

cat >agents/slow.yaml <<'EOF'
wend: agent/1
name: slow
model: script:slow.script
tools: [waiter.yaml]
EOF
cat >agents/waiter.yaml <<'EOF'
wend: tool/1
name: waiter
description: waits until it may go
class: read
command: [sh, -c, 'while [ ! -e go ]; do sleep 0.1; done; printf 42']
EOF
cat >agents/slow.script <<'EOF'
turns:
  - {calls: [{name: waiter, args: {}}]}
  - {text: "slowly: ${tool_result}"}
EOF
cat >two.yaml <<'EOF'
wend: plan/1
name: two
actions:
  - {name: a, type: agent, target: agents/slow.yaml, prompt: one,
     output_key: one}
  - {name: b, type: agent, target: agents/slow.yaml, prompt: two,
     output_key: two, depends_on: [a]}
outputs: {all: "$one, $two"}
EOF
asked() { "$WEND" log --json --type model_start "$1" | wc -l; }

begin "$WEND" plan run two.yaml
child_begins
soon in_log "$child" '"type":"call_start"'
exits "pause" 0 "$WEND" pause "$id"
soon in_log "$child" '"what":"pause","by":"parent"'
ok "pause: the child is paused, too"
touch go
soon in_log "$child" '"type":"call_end"'
sleep 0.5
is "pause: it asks nothing more" "$(asked "$child")" 1
! in_log "$child" '"type":"run_end"'
ok "pause: it is not over"
killed
parent=$id
"$WEND" resume "$parent" >resumed 2>"$err" &
pid=$!
soon in_log "$parent" '"type":"run_resume"'
sleep 0.5
! in_log "$child" '"type":"run_resume"'
ok "resumed: the child waits for its parent"
exits "resumed: the child by its name" 2 timeout 30 "$WEND" resume "$child"
has "resumed: the child by its name, said" "$err" "child of run $parent"
exits "resumed: others look for work" 0 timeout 30 "$WEND" resume
! in_log "$child" '"type":"run_resume"'
ok "resumed: others leave the child alone"
exits "continue" 0 "$WEND" continue "$parent"
wait $pid
is "continue: exit status" $? 0
is "continue: the answer" "$(tail -n 1 resumed)" "slowly: 42, slowly: 42"
in_log "$child" '"what":"continue","by":"parent"'
ok "continue: the child goes on"
"$WEND" log --json "$parent" >log
"$WEND" log --json "$(child_of log | tail -n 1)" >"$out"
has "a child of a resumed run: whose" "$(first "$out")" \
    "\"parent_run\":\"$parent\""
has "a child of a resumed run: what it belongs to" "$(first "$out")" \
    "\"correlation_id\":\"$parent\""
exits "all are whole" 0 "$WEND" verify

# ---- Left alone --------------------------------------------------------------

rm go
begin "$WEND" plan run two.yaml
child_begins
soon in_log "$child" '"type":"call_start"'
killed
exits "a child whose parent is interrupted" 2 "$WEND" resume "$child"
has "its parent is interrupted: what to do" "$err" \
    "is a child of run $id; 'wend resume $id' continues both"
sqlite3 "$WEND_STORE" "update runs set status = 'canceled', ended = started
    where run = '$id'"
exits "a child whose parent is over" 0 "$WEND" resume
has "its parent is over: said" "$err" "closing run $child: its parent run $id"
has "its parent is over: what to do" "$err" "'wend retry $id' resumes from there"
lacks "its parent is over: not what is refused" "$err" "wend retry $child"
in_log "$child" '"type":"run_end"' && in_log "$child" '"outcome":"canceled"'
ok "its parent is over: it is closed"
in_log "$child" '"what":"cancel","by":"parent"'
ok "its parent is over: its log says why"
in_log "$child" '"type":"call_end"' && ! in_log "$child" '"output":"42"'
ok "its parent is over: its call, too"
is "its parent is over: nothing more is asked" "$(asked "$child")" 1

finish
