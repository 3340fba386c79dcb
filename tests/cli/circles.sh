#!/usr/bin/env bash
# circles.sh - a model that repeats its calls is warned, asked to finish, and
# stopped.
. "$(dirname "$0")/lib.sh"

same() { # N: a script that makes the same call N times, then answers
    printf 'turns:\n'
    for ((i = 0; i < $1; i++)); do
        printf '  - {calls: [{name: calculator, args: {expression: 6*7}}]}\n'
    done
    printf '  - {text: done}\n'
}
same 12 >same.yaml
run "$WEND" run --json -m script:same.yaml hi
is "it is stopped" $status 3
has "by a limit" "$out" '"limit":"loop"'
is "with the eighth call" "$(grep -c '"type":"call_end"' "$out")" 8
has "warned at 3" "$out" \
    'the same call of calculator with the same result, 3 times"'
has "asked to finish at 5" "$out" '5 times; the model is asked to finish"'
is "the model is told twice" "$(grep -c '"type":"message"' "$out")" 2
has "to finish" "$out" 'Finish now: call no more tools'
run "$WEND" run -m script:same.yaml hi
has "a person is told why" "$err" 'the model repeats itself'
same 7 >seven.yaml
exits "7 times is not the end" 0 "$WEND" run -q -m script:seven.yaml hi

printf 'wend: agent/1\nmodel: script:same.yaml\nloop: off\n' >off.yaml
exits "loop: off" 0 "$WEND" run -q -a off.yaml hi
"$WEND" log --json last >"$work/log"
lacks "nothing is said" "$work/log" '"code":"loop"'
printf 'wend: agent/1\nmodel: script:same.yaml\nloop: sometimes\n' >off.yaml
exits "loop: a wrong word" 2 "$WEND" run -q -a off.yaml hi
has "loop: says so" "$err" 'off.yaml:3:7'

cat >poll.yaml <<'END'
wend: tool/1
name: poll
description: Looks whether it is done.
command: [/bin/echo, not yet]
class: read
repeat: ok
END
sed 's/calculator/poll/' same.yaml >poll.script
exits "a tool that polls may" 0 "$WEND" run -q --tools poll.yaml \
    -m script:poll.script --approve all hi
sed -i '/repeat/d' poll.yaml
exits "another may not" 3 "$WEND" run -q --tools poll.yaml \
    -m script:poll.script --approve all hi

# It counts on where it was.
run "$WEND" run --json -m script:seven.yaml hi
seq=$(grep '"type":"call_end"' "$out" | tail -1 | sed 's/.*"seq":\([0-9]*\).*/\1/')
exits "a fork counts on" 3 "$WEND" fork -q last --at "$seq" -m script:same.yaml

finish
