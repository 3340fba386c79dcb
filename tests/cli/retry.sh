#!/usr/bin/env bash
# retry.sh - a run that failed, was canceled or reached a limit goes on where it
# went wrong, and nothing that is done is done again.
. "$(dirname "$0")/lib.sh"

# What each step did is a line in a file beside it.
mkdir tools
step() { # NAME CLASS SHELL-COMMANDS
    printf '#!/bin/sh\ncd "%s"\n%s\n' "$work/cwd" "$3" >"tools/$1.sh"
    chmod +x "tools/$1.sh"
    printf 'wend: tool/1\nname: %s\ndescription: d\ncommand: [./%s.sh]\nclass: %s\n' \
        "$1" "$1" "$2" >"tools/$1.yaml"
}
done_by() { sort did 2>/dev/null | tr '\n' ' '; }
runs() { "$WEND" runs --json --limit 0 | wc -l; }
newest_has() { "$WEND" log --json last | grep -c "\"type\":\"$1\""; }
with="--sandbox off --approve all"

# ---- The model failed -----------------------------------------------------------

fails='script:{"turns":[{"text":"Let me see.","calls":[{"name":"calculator",
"args":{"expression":"6*7"}}]},{"text":"Well","error":{"code":"invalid",
"message":"no","after":1}}]}'
ends='script:{"turns":[{"text":"It is ${tool_result}."}]}'
exits "no run" 2 "$WEND" retry
has "no run: said" "$err" "no run to retry"
exits "failed" 1 "$WEND" run -m "$fails" hi
failed=$(newest)
exits "failed: retry" 0 "$WEND" retry -m "$ends" "$failed"
is "failed: the answer" "$(cat "$out")" "It is 42."
has "failed: whose fork" "$err" "is a fork of $failed"
is "failed: the call is not repeated" "$(newest_has call_start)" 1
lacks "failed: what broke off is gone" <("$WEND" log --json last) '"text":"Well"'
exits "failed: the log is sound" 0 "$WEND" verify last
exits "fork without --at" 0 "$WEND" fork -q -m "$ends" "$failed"
is "fork without --at: the same" "$(cat "$out") $(newest_has call_start)" \
    "It is 42. 1"
exits "fork with a message" 0 "$WEND" fork -q -m "$ends" "$failed" and now
is "fork with a message" "$(cat "$out") $(newest_has message)" "It is 42. 1"
exits "fork behind the failure: not ok with nothing" 0 "$WEND" fork -q \
    -m "$ends" --at $(($("$WEND" log --json "$failed" --type run_end |
        sed 's/.*"seq":\([0-9]*\).*/\1/') - 1)) "$failed"
is "fork behind the failure: asked again" "$(cat "$out")" "It is 42."

exits "ok: nothing to retry" 2 "$WEND" retry last
has "ok: what to do instead" "$err" "wend fork"
exits "all were tried again" 2 "$WEND" retry
exits "failed again" 1 "$WEND" run -m "$fails" 'the newest'
exits "without RUN" 0 "$WEND" retry -m "$ends"
has "without RUN: what it takes" "$err" "retrying run "
has "without RUN: its prompt" "$err" "the newest"
is "without RUN" "$(cat "$out")" "It is 42."
exits "-o" 1 "$WEND" run -m "$fails" x
exits "-o: retry" 0 "$WEND" retry -o answer -m "$ends" last
is "-o" "$(cat answer)" "It is 42."
exits "--no-run" 1 "$WEND" run -m "$fails" x
exits "--no-run: retry" 0 "$WEND" retry --no-run last
is "--no-run: waits for its resume" \
    "$("$WEND" runs --json --limit 1 | grep -c interrupted)" 1
exits "interrupted" 2 "$WEND" retry last
has "interrupted: resume it" "$err" "wend resume"
exits "a schema" 0 "$WEND" cancel --force last
has "--force says how to go on" "$err" "'wend retry $(newest)' resumes from there"

# ---- Canceled -------------------------------------------------------------------

hold
begin "$WEND" run --stream -m "$held" hi
soon grep -q '^one' "$out"
kill -INT $pid
wait $pid
has "canceled: how to go on" "$err" "'wend retry $id' resumes from there"
hurry
exits "canceled: retry" 0 "$WEND" retry "$id"
is "canceled: the whole answer" "$(cat "$out")" \
    "one two three four five six seven eight nine"
hold
begin "$WEND" run -m "$held" hi
exits "wend cancel" 0 "$WEND" cancel "$id"
has "wend cancel: how to go on" "$err" "wend retry $id"
wait $pid

# A call that ends in spite of the cancel is done; one that does not is not.
step slow read 'echo slow >>did; trap "" TERM; : >began
    while [ ! -e go ]; do sleep 0.05; done; echo 42'
calls='script:{"turns":[{"calls":[{"name":"slow","args":{}}]},
    {"text":"It is ${tool_result}."}]}'
begin "$WEND" run $with --tools tools/slow.yaml -m "$calls" hi
soon test -e began
kill -INT $pid
: >go
wait $pid
exits "in a call: retry" 0 "$WEND" retry --sandbox off "$id"
has "in a call: the answer" "$out" "It is 42"
exits "in a call: sound" 0 "$WEND" verify last

# One that may not be repeated: the model learns that the run was interrupted,
# not that a process ended; if the cancel is in the log, that it was canceled.
step once unsafe 'trap "" TERM; : >began; while [ ! -e go ]; do sleep 0.05; done'
calls='script:{"turns":[{"calls":[{"name":"once","args":{}}]},
    {"text":"Told: ${tool_result}."}]}'
rm -f began go
begin "$WEND" run $with --tools tools/once.yaml -m "$calls" hi
soon test -e began
kill -INT $pid
wait $pid
exits "in an unsafe call: retry" 0 "$WEND" retry --sandbox off "$id"
has "in an unsafe call: interrupted" "$out" \
    "Told: unknown: the run was interrupted while this call was under way"
rm -f began
begin "$WEND" run $with --tools tools/once.yaml -m "$calls" hi
soon test -e began
kill -INT $pid
soon in_log "$id" '"what":"cancel"'
kill -INT $pid
wait $pid
: >go
exits "twice in an unsafe call: resume" 130 "$WEND" resume --sandbox off "$id"
has "twice in an unsafe call: canceled" <("$WEND" log --json "$id") \
    "unknown: the run was canceled while this call was under way"

# ---- Limits ---------------------------------------------------------------------

limited() { # NAME OPTION LOW HIGH
    local usage='"usage":{"input":10,"output":5}' before
    local m='script:{"turns":[{"text":"a",'$usage',"calls":[{"name":
        "calculator","args":{"expression":"6*7"}}]},
        {"text":"It is ${tool_result}."}]}'
    exits "limit of $1" 3 "$WEND" run "$2" "$3" -m "$m" hi
    has "limit of $1: how to go on" "$err" "wend retry $(newest) $2"
    before=$(runs)
    exits "limit of $1: not raised" 2 "$WEND" retry last
    has "limit of $1: not raised" "$err" "$2"
    is "limit of $1: no new run" "$(runs)" "$before"
    exits "limit of $1: raised" 0 "$WEND" retry last "$2" "$4"
    is "limit of $1: the call is not repeated" "$(newest_has call_start)" 1
    has "limit of $1: the answer" "$out" "42."
}
limited turns --max-turns 1 5
limited tokens --budget-tokens 20 100000
exits "limit of time" 3 "$WEND" run --timeout 300ms -m "$held" hi
hurry
exits "limit of time: starts anew" 0 "$WEND" retry --timeout 60s last
is "limit of time" "$(cat "$out")" "one two three four five six seven eight nine"

# ---- Plans ----------------------------------------------------------------------

rm -f did began go
step one unsafe 'echo one >>did; echo 1'
step two unsafe 'echo two >>did; [ -e fixed ] || exit 1; echo 2'
step three unsafe 'echo three >>did; echo 3'
step four unsafe 'echo four >>did; echo 4'
action() { # NAME [MEMBERS]
    echo "  - {name: $1, type: tool, target: $1, mode: async, output_key: $1${2:-}}"
}
{
    printf 'wend: plan/1\nname: p\nactions:\n'
    action one
    action two ', depends_on: [one]'
    action three ', depends_on: [one]'
    action four ', depends_on: [two, three]'
    echo 'outputs: {all: "$one $two $three $four"}'
} >plan.yaml
files="--tools tools/one.yaml --tools tools/two.yaml --tools tools/three.yaml
    --tools tools/four.yaml"
exits "a plan" 1 "$WEND" plan run -q $with $files plan.yaml
is "a plan: nothing is printed" "$(cat "$out")" ""
before=$(done_by)
failed=$(newest)
exits "a plan: still broken" 1 "$WEND" retry --sandbox off "$failed"
is "a plan: what it is given does not start" \
    "$(sed -n 's/^ *[0-9.]* s  \(given\|start\) *//p' "$err" | tr '\n' ' ')" \
    "three two "
has "a plan: it says so" "$err" "given    three"
is "a plan: only what failed" "$(done_by)" "$(echo "$before two" | tr ' ' '\n' |
    grep . | sort | tr '\n' ' ')"
: >fixed
before=$(done_by)
exits "a plan: retry" 0 "$WEND" retry --sandbox off last
is "a plan: its outputs" "$(cat "$out")" "1 2 3 4"
is "a plan: nothing that was done" "$(done_by)" "$(echo "$before four two" |
    tr ' ' '\n' | grep . | sort | tr '\n' ' ')"
exits "a plan: sound" 0 "$WEND" verify last
exits "a plan: replay" 0 "$WEND" replay --speed 0 last
is "a plan: replay" "$(cat "$out")" "1 2 3 4"

# Canceled between its actions, and in one of them.
rm -f did
sed -i 's/.*\[ -e fixed \].*/echo two >>did; : >began; while [ ! -e go ]; do sleep 0.05; done; echo 2/' tools/two.sh
begin "$WEND" plan run $with $files plan.yaml
soon test -e began
soon grep -q three did
kill -INT $pid
wait $pid
is "a canceled plan: exit status" $? 130
has "a canceled plan: how to go on" "$err" "'wend retry $id' resumes from there"
: >go
exits "a canceled plan: retry" 0 "$WEND" retry --sandbox off "$id"
is "a canceled plan: its outputs" "$(cat "$out")" "1 2 3 4"
is "a canceled plan: once each, and what was canceled again" "$(done_by)" \
    "four one three two two "
exits "a canceled plan: sound" 0 "$WEND" verify last

# A child and a model that end behind the place where it goes on; others that
# are stopped since one has failed; a process that died before.
rm -f did began go fixed
step two read 'while [ ! -e try ]; do sleep 0.05; done
    [ -e fixed ] || exit 1; echo 2'
step wait read 'echo wait >>did; : >began; while [ ! -e go ]; do sleep 0.05; done
    echo 5'
kid=$(model kid 'turns: [{text: said, usage: {input: 7, output: 3}, repeat: forever}]')
printf 'wend: agent/1\nname: kid\nmodel: "%s"\n' "$kid" >kid.yaml
{
    printf 'wend: plan/1\nname: p\nfail_fast: true\nactions:\n'
    echo '  - {name: kid, type: agent, target: kid.yaml, prompt: x, mode: async, output_key: kid}'
    echo '  - {name: ask, type: llm, target: default, prompt: x, mode: async, output_key: ask}'
    action wait
    action one
    action two ', depends_on: [kid, ask, one]'
    echo 'outputs: {all: "$kid $ask $one $two $wait"}'
} >mixed.yaml
begin "$WEND" plan run $with $files --tools tools/wait.yaml -m "$kid" mixed.yaml
soon test -e began
soon in_log "$id" '"name":"ask","outcome":"ok"'
soon in_log "$id" '"name":"kid","outcome":"ok"'
killed
: >try
exits "mixed: resumed, and fails" 1 "$WEND" resume --sandbox off "$id"
has "mixed: the other one is stopped" "$err" "canceled wait"
: >go >fixed
before=$("$WEND" runs --json --limit 0 | grep -c '"child":true')
exits "mixed: retry" 0 "$WEND" retry --sandbox off
is "mixed: the outputs" "$(cat "$out")" "said said 1 2 5"
is "mixed: one ended once" "$(grep -c one did)" 1
is "mixed: no other child" \
    "$("$WEND" runs --json --limit 0 | grep -c '"child":true')" "$before"
is "mixed: what was spent counts" "$("$WEND" runs --json --limit 1 >list &&
    json list "$(at tokens_in)")" 14
exits "mixed: sound" 0 "$WEND" verify last

# One that is idempotent keeps its key.
rm -f go
step wait idempotent ': >began; while [ ! -e go ]; do sleep 0.05; done; echo 5'
{
    printf 'wend: plan/1\nname: p\nactions:\n'
    action wait
    action one ', depends_on: [wait]'
} >key.yaml
rm -f began
begin "$WEND" plan run $with $files --tools tools/wait.yaml key.yaml
soon test -e began
kill -INT $pid
wait $pid
: >go
LC_ALL=C.UTF-8 on_screen 80x24 "'$WEND' retry --sandbox off" </dev/null
is "a key: exit status" $status 0
grep -q '^wait .*✓' "$out" && grep -q '^one .*✓' "$out" &&
    grep -q '^2 ok' "$out"
ok "on a terminal it has the bars of all actions" || sed 's/^/# /' "$out"
"$WEND" log --json last --type action_start >starts
is "a key: it stays" "$(grep '"name":"wait"' starts |
    sed 's/.*"key":"\([^"]*\)".*/\1/' | sort | uniq -c | sed 's/ *\([0-9]*\).*/\1/')" 2

# ---- Whose it is ----------------------------------------------------------------

names() { "$WEND" runs --json --limit 1 | sed 's/.*,"user"/"user"/'; }
exits "names" 1 "$WEND" run -m "$fails" --user ann --session s --label a=1 \
    --label b=2 --correlation-id c1 x
is "names: of the run" "$(names)" \
    '"user":"ann","session":"s","correlation_id":"c1","labels":{"a":"1","b":"2"}}'
exits "names: inherited" 0 "$WEND" retry -q -m "$ends" last
is "names: inherited" "$(names)" \
    '"user":"ann","session":"s","correlation_id":"c1","labels":{"a":"1","b":"2"}}'
exits "names: others" 0 "$WEND" retry -q -m "$ends" --user bob --session t \
    --label c=3 --correlation-id c2 last~1
is "names: others" "$(names)" \
    '"user":"bob","session":"t","correlation_id":"c2","labels":{"c":"3"}}'
exits "names: sound" 0 "$WEND" verify last
exits "names: of a fork" 0 "$WEND" fork --no-run --label d=4 last
is "names: of a fork" "$(names)" \
    '"user":"bob","session":"t","correlation_id":"c2","labels":{"d":"4"}}'
is "names: filters" "$("$WEND" runs --json --user bob --label d=4 | wc -l)" 1
exits "names: sound" 0 "$WEND" verify last
exits "names: a wrong one" 2 "$WEND" retry --label x last~2
exits "names: resume is the same run" 2 "$WEND" resume --user eve last
finish
