#!/usr/bin/env bash
# retry_child.sh - what a child had done when its parent failed, was canceled or
# reached a limit is not done again: a retry continues the child, too.
. "$(dirname "$0")/lib.sh"

# What each step did is a line in a file beside it.
mkdir tools
step() { # NAME CLASS SHELL-COMMANDS
    printf '#!/bin/sh\ncd "%s"\n%s\n' "$work/cwd" "$3" >"tools/$1.sh"
    chmod +x "tools/$1.sh"
    printf 'wend: tool/1\nname: %s\ndescription: d\ncommand: [./%s.sh]\nclass: %s\n' \
        "$1" "$1" "$2" >"tools/$1.yaml"
}
times() { grep -c "^$1\$" did 2>/dev/null; } # NAME: how often it ran
fresh() { rm -f did began go fixed; }
field() { # NAME: of the newest run that is no child
    "$WEND" runs --json --limit 0 | grep -v '"child":true' | head -n 1 >list
    json list "$(at "$1")"
}
sound() { # NAME: all of the family holds
    exits "$1: verify" 0 "$WEND" verify
    exits "$1: replay" 0 "$WEND" replay --speed 0 last
}
with="--sandbox off --approve all"
step once unsafe 'echo once >>did; echo 1'
step gate unsafe 'echo gate >>did; [ -e fixed ] || exit 1; echo 2'
step wait read 'echo wait >>did; : >began
    while [ ! -e go ]; do sleep 0.05; done; echo 3'
usage='usage: {input: 10, output: 5}'

# An agent that does `once`, then fails while its model does.
kid() { # NAME TOOL...
    local name=$1
    shift
    printf 'wend: agent/1\nname: %s\nmodel: "script:%s/%s.script"\n' "$name" \
        "$work" "$name" >"$name.yaml"
    printf 'policy: [{tool: "*", do: allow}]\ntools:\n' >>"$name.yaml"
    printf '  - %s\n' "$@" >>"$name.yaml"
}
breaks() { # NAME: its model fails after the call
    model "$1" "turns:
  - {text: well, $usage, calls: [{name: once, args: {}}]}
  - {error: {code: invalid, message: broken}}" >/dev/null
}
mends() { # NAME
    model "$1" "turns:
  - {text: well, $usage, calls: [{name: once, args: {}}]}
  - {text: done, $usage}" >/dev/null
}

# ---- An agent of a plan -------------------------------------------------------

kid kid tools/once.yaml
breaks kid
cat >plan.yaml <<END
wend: plan/1
name: p
actions:
  - {name: first, type: tool, target: once, output_key: a}
  - {name: kid, type: agent, target: kid.yaml, prompt: go on, output_key: k,
     depends_on: [first]}
outputs: {all: "\$a \$k"}
END
exits "failed" 1 "$WEND" plan run $with --tools tools/once.yaml plan.yaml
is "failed: each did its part" "$(times once)" 2
old=$(newest)
spent=$(field tokens_in)
exits "failed again" 1 "$WEND" retry --sandbox off
is "failed again: nothing is repeated" "$(times once)" 2
mends kid
exits "retry of a retry" 0 "$WEND" retry --sandbox off
is "retry of a retry: the answer" "$(cat "$out")" "1 done"
is "retry of a retry: nothing is repeated" "$(times once)" 2
sound "retry of a retry"
"$WEND" log --json last --type child_start >starts
child=$(sed 's/.*"data":{"run":"\([^"]*\)".*/\1/' starts | tail -n 1)
has "the parent says what the child continues" starts '"fork_of":"'
"$WEND" log --json "$child" --type run_fork | tail -n 1 >forks
has "the child says whose it is" forks "\"parent_run\":\"$(newest)\""
has "the child says of what" forks '"parent_call":"kid"'
"$WEND" runs --json --limit 0 >list
grep "\"run\":\"$child\"" list >row
has "lists: a child" row "\"parent\":\"$(newest)\",\"child\":true,\"fork_of\":\""
"$WEND" runs --tree --limit 0 >tree
is "the tree has all three tries" "$(grep -c 'go on' tree)" 3
exits "view" 0 "$WEND" view "$child"
has "view: its parent" "$out" "child of $(newest)"
"$WEND" log last >lines
has "the log: the child that goes on" lines "$child, continues "
"$WEND" log "$child" >lines
has "the log: whose child" lines ", child of $(newest)"
exits "the last one is the parent" 0 "$WEND" log --json last --type plan_start

# ---- What it cost ---------------------------------------------------------------

is "usage: of the first try" "$spent" 10
is "usage: all tries count, once" "$(field tokens_in)" 20
is "usage: the child's is the same" "$(sed 's/.*"tokens_in":\([0-9]*\).*/\1/' row)" \
    "$(field tokens_in)"
"$WEND" stats --json >list
is "stats: every request once" "$(json list "$(at tokens_in)")" \
    "$(field tokens_in)"

# What ended behind the place from which a plan goes on was paid for, too, and so
# was a child whose input has changed since.
fresh
kid other tools/gate.yaml
model other "turns: [{text: said, $usage, repeat: forever}]" >/dev/null
cat >late.yaml <<END
wend: plan/1
name: late
actions:
  - {name: gate, type: tool, target: gate, mode: async, output_key: g}
  - {name: other, type: agent, target: other.yaml, prompt: x, mode: async,
     output_key: o}
  - {name: ask, type: llm, target: default, prompt: x, mode: async,
     output_key: a}
outputs: {all: "\$g \$o \$a"}
END
step gate unsafe 'while [ ! -e go ]; do sleep 0.05; done
    [ -e fixed ] || exit 1; echo 2'
begin "$WEND" plan run $with --tools tools/gate.yaml \
    -m "script:$work/other.script" late.yaml
soon in_log "$id" '"name":"other","outcome":"ok"'
soon in_log "$id" '"name":"ask","outcome":"ok"'
: >go
wait $pid
: >fixed
exits "late: retry" 0 "$WEND" retry --sandbox off
is "late: the answer" "$(cat "$out")" "2 said said"
"$WEND" log last >lines
has "late: it says that it is given" lines "other ok, given"
is "late: what is given counts" "$(field tokens_in)" 20
"$WEND" stats --json --limit 3 >list
is "late: stats count it once" "$(json list "$(at tokens_in)")" 20

# ---- Two levels, canceled -------------------------------------------------------

fresh
kid kid tools/once.yaml tools/wait.yaml
model kid "turns:
  - {text: a, $usage, calls: [{name: once, args: {}}]}
  - {text: b, $usage, calls: [{name: wait, args: {}}]}
  - {text: 'done \${tool_result}', $usage}" >/dev/null
cat >inner.yaml <<END
wend: plan/1
name: inner
actions:
  - {name: i1, type: tool, target: once}
  - {name: i2, type: agent, target: kid.yaml, prompt: go on, output_key: k,
     depends_on: [i1]}
outputs: {all: "\$k"}
END
cat >outer.yaml <<END
wend: plan/1
name: outer
actions:
  - {name: o1, type: tool, target: once}
  - {name: o2, type: workflow, target: inner.yaml, output_key: k,
     depends_on: [o1]}
outputs: {all: "\$k"}
END
files="--tools tools/once.yaml --tools tools/wait.yaml"
begin "$WEND" plan run $with $files outer.yaml
soon test -e began
kill -INT $pid
wait $pid
is "canceled: what was done" "$(times once) $(times wait)" "3 1"
: >go
child=$("$WEND" log --json "$id" |
    sed -n 's/.*"child_start".*"data":{"run":"\([^"]*\)".*/\1/p' | head -n 1)
exits "canceled: the child alone" 2 "$WEND" retry --sandbox off "$child"
has "canceled: the child alone: what to do" "$err" \
    "is a child of run $id; 'wend retry $id' continues both"
deeper=$("$WEND" log --json "$child" |
    sed -n 's/.*"child_start".*"data":{"run":"\([^"]*\)".*/\1/p' | head -n 1)
exits "canceled: its child alone" 2 "$WEND" retry --sandbox off "$deeper"
has "canceled: its child alone: the run above all" "$err" \
    "is a child of run $child; 'wend retry $id' continues both"
exits "canceled: retry" 0 "$WEND" retry --sandbox off "$id"
is "canceled: the answer" "$(cat "$out")" '{"all":{"all":"done 3\n"}}'
is "canceled: only what was cut off runs again" "$(times once) $(times wait)" \
    "3 2"
is "canceled: usage" "$(field tokens_in)" 30
sound "canceled"

# ---- kill -9 in the middle of a retry ------------------------------------------

fresh
begin "$WEND" plan run $with $files outer.yaml
soon test -e began
kill -INT $pid
wait $pid
rm began
begin "$WEND" retry --sandbox off "$id"
soon test -e began
killed
: >go
exits "killed: resume" 0 "$WEND" resume --sandbox off "$id"
is "killed: the answer" "$(cat "$out")" '{"all":{"all":"done 3\n"}}'
is "killed: nothing that was done" "$(times once) $(times wait)" "3 3"
is "killed: usage" "$(field tokens_in)" 30
sound "killed"

# ---- The tool task ----------------------------------------------------------------

fresh
rm -f go
kid kid tools/once.yaml tools/wait.yaml
cat >chief.yaml <<END
wend: agent/1
name: chief
model: "script:$work/chief.script"
agents: [kid.yaml]
policy: [{tool: "*", do: allow}]
END
model chief "turns:
  - {text: x, $usage, calls: [{name: task, args: {agent: kid, prompt: p}}]}
  - {text: 'It is \${tool_result}.', $usage}" >/dev/null
begin "$WEND" run $with -a chief.yaml hi
soon test -e began
kill -INT $pid
wait $pid
: >go
exits "a task" 0 "$WEND" retry --sandbox off "$id"
has "a task: the answer" "$out" "It is done 3"
is "a task: nothing that was done" "$(times once) $(times wait)" "1 2"
is "a task: usage" "$(field tokens_in)" 50
sound "a task"

# Its budget is the parent's: what that stops continues with a higher one.
fresh
: >go
sed -i 's/input: 10/input: 5000/' "$work/kid.script"
exits "a limit" 3 "$WEND" run $with -a chief.yaml --budget-tokens 5100 hi
is "a limit: met in the child" "$(times once)" 1
exits "a limit: too low again" 3 "$WEND" retry --sandbox off --budget-tokens 5101
is "a limit: nothing is repeated" "$(times once)" 1
exits "a limit: raised" 0 "$WEND" retry --sandbox off --budget-tokens 100000
has "a limit: the answer" "$out" "It is done 3"
is "a limit: each ran once" "$(times once) $(times wait)" "1 1"
is "a limit: usage" "$(field tokens_in)" 15020
sound "a limit"

# So it does in a plan.
fresh
: >go
files="--tools tools/once.yaml --tools tools/wait.yaml"
exits "a plan's limit" 3 "$WEND" plan run $with $files --budget-tokens 5100 \
    plan.yaml
exits "a plan's limit: raised" 0 "$WEND" retry --sandbox off \
    --budget-tokens 100000
is "a plan's limit: each ran once" "$(times once) $(times wait)" "2 1"

# A limit of the child's own starts anew.
fresh
: >go
echo 'limits: {turns: 2}' >>kid.yaml
exits "its own limit" 1 "$WEND" plan run $with $files plan.yaml
is "its own limit: what was done" "$(times once) $(times wait)" "2 1"
exits "its own limit: retry" 0 "$WEND" retry --sandbox off
is "its own limit: nothing is repeated" "$(times once) $(times wait)" "2 1"
sound "its own limit"

# ---- What the command line gives reaches children that have none of their own -----

fresh
printf 'wend: agent/1\nname: heir\ntools: []\n' >heir.yaml
cat >in.yaml <<END
wend: plan/1
name: in
actions:
  - {name: wait, type: tool, target: wait, output_key: w}
  - {name: heir, type: agent, target: heir.yaml, prompt: say, output_key: h,
     depends_on: [wait]}
outputs: {h: \$h}
END
cat >out.yaml <<END
wend: plan/1
name: out
actions:
  - {name: w, type: workflow, target: in.yaml, output_key: o}
outputs: {o: \$o}
END
bad='script:{"turns":[{"error":{"code":"auth","message":"bad key"}}]}'
good='script:{"turns":[{"text":"other"}]}'

exits "a limit of time" 3 "$WEND" plan run $with --timeout 1s -m "$bad" \
    --tools tools/wait.yaml out.yaml
: >go
exits "a limit of time: raised" 1 "$WEND" retry --sandbox off --timeout 60s
has "a limit of time: the child continues" "$err" "bad key"
exits "another model" 0 "$WEND" retry --sandbox off -m "$good"
is "another model: it answers" "$(cat "$out")" '{"o":{"h":"other"}}'
sound "another model"

waiting() { # SIGNAL: a child waits for approval, then its parent ends
    fresh
    "$WEND" plan run --sandbox off --approve ask -m "$good" \
        --tools tools/once.yaml out.yaml >/dev/null 2>&1 </dev/null &
    soon child_asks
    kill -"$1" $!
    wait $! 2>/dev/null
}
child_asks() {
    "$WEND" runs --json --limit 0 | grep -m 1 '"child":true' >list
    "$WEND" log --json "$(json list "$(at run)")" --type approval_ask |
        grep -q '"name":"once"'
}
sed -i 's/target: wait/target: once/' in.yaml
waiting INT
exits "approval: retry" 0 timeout 60 "$WEND" retry --sandbox off --approve all
is "approval: retry: it runs" "$(times once)" 1
sound "approval: retry"
waiting KILL
exits "approval: resume" 0 timeout 60 "$WEND" resume --sandbox off \
    --approve all last
is "approval: resume: it runs" "$(times once)" 1
sound "approval: resume"

# So do limits after a kill.
fresh
sed -i 's/target: once/target: wait/' in.yaml
"$WEND" plan run $with --timeout 2s -m "$good" --tools tools/wait.yaml \
    out.yaml >/dev/null 2>&1 &
soon test -e began
kill -KILL $!
wait $! 2>/dev/null
(sleep 3; : >go) &
exits "a limit of time: resume" 0 "$WEND" resume --sandbox off --timeout 60s last
wait
sound "a limit of time: resume"

# ---- A plan in a plan, whose child fails --------------------------------------------

fresh
kid kid tools/once.yaml
breaks kid
sed -i 's/, type: tool, target: once/, type: tool, target: wait/' inner.yaml
: >go
exits "a workflow" 1 "$WEND" plan run $with $files outer.yaml
is "a workflow: what was done" "$(times once) $(times wait)" "2 1"
mends kid
exits "a workflow: fork without --at" 0 "$WEND" fork -q --sandbox off last
is "a workflow: nothing is repeated" "$(times once) $(times wait)" "2 1"

# ---- As files, and gone -----------------------------------------------------------

run=$(newest)
exits "export" 0 "$WEND" export "$run"
cp "$out" family
exits "import" 0 "$WEND" import --store "$work/there.db" family
exits "import: sound" 0 "$WEND" verify --store "$work/there.db"
is "import: parent, child and grandchild" "$("$WEND" runs --store \
    "$work/there.db" --json --limit 0 | grep -c '"child":true')" 2
"$WEND" runs --json --limit 0 >list
child=$(grep "\"parent\":\"$run\"" list | sed 's/^{"run":"\([^"]*\)".*/\1/')
of=$(grep "\"run\":\"$child\"" list | sed 's/.*"fork_of":"\([^"]*\)".*/\1/')
exits "rm of what is shared" 2 "$WEND" rm --yes "$of"
has "rm of what is shared: why" "$err" "is a fork of run $of"
exits "rm" 0 "$WEND" rm --yes "$run"
is "rm: with its children" "$("$WEND" runs --json --limit 0 | grep -c "$child")" 0
exits "rm: the old ones stay" 0 "$WEND" verify
all_gone() {
    "$WEND" prune --yes --older-than 1s &&
        [ "$("$WEND" runs --json --limit 0 | wc -l)" = 0 ]
}
soon all_gone
ok "prune: all goes"
finish
