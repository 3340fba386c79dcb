#!/usr/bin/env bash
# screen.sh - what a terminal shows while a run goes on: the bars of a plan,
# the status line, questions; and what is left of them at the end.
. "$(dirname "$0")/lib.sh"
export TERM=xterm LC_ALL=C.UTF-8
unset NO_COLOR TMUX VTE_VERSION

[ -x "$test_screen" ]
ok "the terminal is built"

# times TEXT FILE: how many lines have it
times() { grep -c -F -- "$1" "$2"; }

# ---- The bars of a plan --------------------------------------------------------

# Actions that stream, that end at once, and that fail with a long reason.
gone=there-is-no-file-with-a-name-that-is-longer-than-a-line-of-the-terminal.txt
cat >plan.yaml <<YAML
wend: plan/1
name: mixed
on_failure: continue
actions:
  - {name: quick, type: tool, target: calculator, mode: async, params: {expression: "6*7"}}
  - {name: slow, type: llm, mode: async, prompt: one}
  - {name: writes, type: llm, mode: async, prompt: two}
  - {name: broken, type: tool, target: read_file, mode: async, params: {path: $gone}}
  - {name: after, type: tool, target: calculator, params: {expression: "1"}, depends_on: [broken]}
YAML
cat >model.yaml <<'YAML'
turns:
  - text: one two three four five six seven eight nine ten
    delay: 80ms
    repeat: forever
YAML
plan="$WEND plan run plan.yaml -m script:model.yaml"
for size in 80x24 80x12 40x20 200x50; do
    on_screen $size "$plan" <<STEPS
wait slow
wait 2 running
sleep 300
show mid
STEPS
    is "$size: the plan ends" $status 0
    is "$size: a bar for each action on the screen" \
        "$(times slow mid) $(times writes mid)" "1 1"
    is "$size: at the end one bar each" \
        "$(grep -c '^slow ' "$out") $(grep -c '^writes ' "$out")" "1 1"
    is "$size: one sum" "$(times ', 1 failed' "$out")" 1
    lacks "$size: nothing of what moved is left" "$out" running
    tr -d '\n' <"$out" >joined
    has "$size: why it failed, whole" joined \
        "$gone"
done

# A screen that changes its size while bars are on it.
on_screen 80x24 "$plan" <<STEPS
wait 2 running
size 60x16
sleep 300
size 120x10
sleep 300
show mid
STEPS
is "resized: one bar each on the screen" \
    "$(grep -c '^slow ' mid) $(grep -c '^writes ' mid)" "1 1"
is "resized: at the end one bar each" \
    "$(grep -c '^slow ' "$out") $(grep -c '^writes ' "$out")" "1 1"

# Names that begin alike stay apart where they do not fit.
cat >alike.yaml <<'YAML'
wend: plan/1
name: alike
actions:
  - {name: deploy-to-production-east, type: llm, mode: async, prompt: one}
  - {name: deploy-to-production-west, type: llm, mode: async, prompt: two}
YAML
on_screen 40x20 "$WEND plan run alike.yaml -m '$hello'" </dev/null
is "alike names: both are seen" \
    "$(grep -o '^deploy…[a-z-]*' "$out" | sort | paste -sd/)" \
    "deploy…n-east/deploy…n-west"

# More bars than rows.
{
    printf 'wend: plan/1\nname: many\nmax_parallel: 4\nactions:\n'
    for i in {1..30}; do
        printf '  - {name: a%02d, type: llm, mode: async, prompt: x}\n' $i
    done
} >many.yaml
cat >fast.yaml <<'YAML'
turns:
  - {text: abcdefgh, delay: 60ms, repeat: forever}
YAML
on_screen 80x12 "$WEND plan run many.yaml -m script:fast.yaml" <<STEPS
wait more
sleep 500
show mid
STEPS
is "many: the plan ends" $status 0
has "many: those above are counted" mid "↑ "
is "many: they leave room on the screen" "$(($(wc -l <mid) <= 11))" 1
is "many: those that run are seen" "$(grep -c '▒' mid)" 4
is "many: all are there at the end" "$(grep -c '^a[0-9][0-9] ' "$out")" 30
has "many: the sum" "$out" "30 ok, "

# A resumed run shows what had ended, without the 3 s in which no process had
# it; so does a replay.
cat >two.yaml <<'YAML'
wend: plan/1
name: two
actions:
  - {name: first, type: llm, prompt: one}
  - {name: second, type: llm, prompt: two, depends_on: [first]}
YAML
begin "$WEND" plan run two.yaml -m script:model.yaml
soon in_log "$id" '"type":"action_end"'
killed
sleep 3
on_screen 80x24 "$WEND resume" <<STEPS
wait second
show mid
STEPS
is "resume: exit status" $status 0
has "resume: what had ended is there" mid "first "
is "resume: one bar each" \
    "$(grep -c '^first ' "$out") $(grep -c '^second ' "$out")" "1 1"
whole=$(sed -n 's/^2 ok, \([0-9.]*\) s$/\1/p' "$out")
all=$("$WEND" log --json last | sed 's/.*"time":\([0-9.]*\),.*/\1/' |
    awk 'NR == 1 { begin = $1 } END { print $1 - begin }')
awk -v whole="$whole" -v all="$all" 'BEGIN { exit !(whole && whole < all - 2) }'
ok "resume: the time between is not drawn ($whole of $all s)"
on_screen 80x24 "$WEND replay last" <<STEPS
wait 1 running
STEPS
is "replay: one bar each" \
    "$(grep -c '^first ' "$out") $(grep -c '^second ' "$out")" "1 1"

# What a failed program wrote: its lines stand below the reason, apart from bars
# and messages.
cat >lines.yaml <<'YAML'
wend: plan/1
name: lines
actions:
  - {name: build, type: tool, target: shell, params: {command: "echo one; echo two; exit 3"}}
  - {name: other, type: llm, mode: async, prompt: go}
YAML
on_screen 120x24 "$WEND plan run --approve all lines.yaml -m '$hello'" </dev/null
is "a program's output: exit status" $status 1
is "a program's output: below the action and the error" \
    "$(grep -c '^    one$' "$out") $(grep -c '^    two$' "$out")" "2 2"
is "a program's output: nowhere else" "$(grep -c '^one\|^two' "$out")" 0
grep -q "^wend: run failed: .* exit code 3$" "$out"
ok "a program's output: the error is one line"
on_screen 120x24 "$WEND run --approve all -t shell -m 'script:{\"turns\":[{\"calls\":[
{\"name\":\"shell\",\"args\":{\"command\":\"echo one; exit 3\"}}]},{\"error\":
{\"code\":\"auth\",\"message\":\"no key\\nask for one\"}}]}' hi" </dev/null
is "a call's output: below the call" "$(grep -A 2 '^  ! failed' "$out" | tail -n 1)" \
    "    one"
is "a model's error: what to do is told in its first line" \
    "$(grep -A 2 '^wend: run failed' "$out" | sed -n '1s/.*no key; .*/hint/p; 2p')" \
    "hint
    ask for one"

# No cursor to move: lines. Only ASCII: no other character.
TERM=dumb on_screen 80x24 "$plan" </dev/null
has "dumb: lines" "$out" "start    slow"
lacks "dumb: no bars" "$out" "█"
LC_ALL=C on_screen 80x24 "$plan" </dev/null
has "C locale: bars" "$out" "####"
! LC_ALL=C grep -q '[^ -~]' "$out"
ok "C locale: nothing but ASCII"

# A plan that the model writes has bars, too; they stand between its texts.
cat >planner.yaml <<'YAML'
turns:
  - text: I plan.
    calls:
      - name: plan
        args:
          actions:
            - {name: sum, type: tool, target: calculator, params: {expression: "6*7"}}
            - {name: ask, type: llm, prompt: go, mode: async}
  - {when: go, text: gone, first_delay: 700ms}
  - text: It is 42.
YAML
on_screen 80x24 "$WEND run --plan 'get 42' -m script:planner.yaml" <<STEPS
wait 1 running
show mid
STEPS
is "run --plan: exit status" $status 0
is "run --plan: a bar for each action" "$(times 'sum ' mid) $(times 'ask ' mid)" \
    "1 1"
is "run --plan: text, bars, text" \
    "$(grep -o '^I plan\|^sum \|^ask \|^2 ok\|^It is 42' "$out" | paste -sd/)" \
    "I plan/sum /ask /2 ok/It is 42"

# Colours only where they are wanted; the bars are the same.
at_terminal "$WEND plan run many.yaml -m script:fast.yaml"
has "bars have colours" "$out" $'\e[3'
at_terminal "NO_COLOR=1 $WEND plan run many.yaml -m script:fast.yaml"
lacks "NO_COLOR: they have none" "$out" $'\e[3'
has "NO_COLOR: they are drawn" "$out" "█"

# ---- The status line -----------------------------------------------------------------

cat >think.yaml <<'YAML'
turns:
  - thinking: let me see what this could be about
    text: the answer is short
    delay: 100ms
    first_delay: 1s
YAML
on_screen 80x24 "$WEND run -m script:think.yaml hi" <<STEPS
wait asking script
wait thinking
wait answer
STEPS
is "status: exit status" $status 0
is "status: nothing of it is left" "$(sed -n 1p "$out")" "the answer is short"
lacks "status: no thinking" "$out" thinking
has "status: a line sums up" "$out" "wend: ok, 1 turn, "
cat >long.yaml <<'YAML'
turns:
  - thinking: "first I add the numbers that were given, and then\nI ask for the sum, once more"
    text: I ask
    delay: 30ms
    calls: [{name: calculator, args: {expression: "6*7"}}]
  - text: done
YAML
on_screen 40x20 "$WEND run -v -t calculator -m script:long.yaml hi" <<STEPS
wait ~ first I add the numbers that were
show early
wait done
STEPS
lacks "-v: thinking is shown as it comes" early "once more"
is "-v: thinking is wrapped, and comes before what it leads to" \
    "$(sed -n 1,5p "$out" | cut -c 1-36 | paste -sd/)" \
    "~ first I add the numbers that were/~ given, and then/~ I ask for the sum, once more/I ask/> calculator {\"expression\":\"6*7\"}"
on_screen 80x24 "$WEND run -q -m script:think.yaml hi" </dev/null
is "-q: only the answer" "$(cat "$out")" "the answer is short"

# A pause while text streams: the message ends, and the line says what it waits for.
cat >paused.yaml <<'YAML'
turns:
  - {text: one two three four five six seven eight, delay: 100ms,
     calls: [{name: calculator, args: {expression: "6*7"}}]}
  - {text: it continued}
YAML
on_screen 80x24 "$WEND run -m script:paused.yaml -t calculator hi" <<STEPS
wait two
run $WEND pause last
wait eight
wait 'wend continue' continues it
show paused
run $WEND continue last
wait it continued
STEPS
is "paused in a text: exit status" $status 0
has "paused in a text: the status line says so" paused "paused by command; 'wend continue'"
lacks "paused in a text: gone at the end" "$out" "'wend continue'"

# ---- Approvals ---------------------------------------------------------------------

# Two are asked one by one; what is written meanwhile does not hide them.
cat >ask.json <<'JSON'
{"turns":[{"calls":[
{"name":"write_file","args":{"path":"one","content":"1"}},
{"name":"write_file","args":{"path":"two","content":"2"}}]},{"text":"went on"}]}
JSON
on_screen 80x24 "$WEND run -t write_file -m script:ask.json hi" <<STEPS
wait write_file(one)
wait allow?
run $WEND pause last
wait paused by
wait allow?
size 60x20
wait allow?
show first
run $WEND continue last
wait continued by
type x
sleep 500
type y
wait write_file(two)
wait allow?
show second
type n
STEPS
is "approvals: exit status" $status 0
is "approvals: one question at a time" \
    "$(times 'allow?' first) $(times 'allow?' second)" "1 1"
lacks "approvals: the first is about one" first "write_file(two)"
is "approvals: yes and no" "$(ls one two 2>/dev/null)" one
lacks "approvals: no question is left" "$out" "allow?"
has "approvals: what became of them" "$out" "denied"
rm -f one two

# A key that is pressed twice does not answer the next question.
on_screen 80x24 "$WEND run -t write_file -m script:ask.json hi" <<STEPS
wait allow?
type y\x79y
wait write_file(two)
sleep 400
show second
type n
STEPS
has "keys in a burst: the second is still asked" second "allow?"
is "keys in a burst: one answer" "$(ls one two 2>/dev/null)" one
rm -f one two

# Bars beside a question go on.
cat >beside.yaml <<'YAML'
wend: plan/1
name: beside
actions:
  - {name: asked, type: tool, target: write_file, mode: async, params: {path: w, content: "1"}}
  - {name: thinks, type: llm, mode: async, prompt: go}
YAML
on_screen 80x24 "$WEND plan run beside.yaml -m 'script:{\"turns\":[{\"text\":\"x\",\"first_delay\":\"1s\"}]}'" <<STEPS
wait allow?
wait 1 of 2 done
show beside
type y
STEPS
is "a question beside bars: exit status" $status 0
is "a question beside bars: what ended is shown" "$(times '✓' beside)" 1
rm -f w

# A screen that has no room for both: bars do not push rows out of it.
on_screen 30x10 "$WEND plan run beside.yaml -m 'script:{\"turns\":[{\"text\":\"x\",\"first_delay\":\"1s\"}]}'" <<STEPS
wait allow?
sleep 600
show beside
type y
STEPS
is "no room beside a question: exit status" $status 0
has "no room beside a question: it is whole" beside "Action asked"
lacks "no room beside a question: nothing is left above it" "$out" "of 2 done"
rm -f w

# Where keys do not come one by one, the question says so.
TERM=dumb on_screen 80x24 "$WEND run -t write_file -m script:ask.json hi" <<STEPS
wait then Enter:
type y\r
wait write_file(two)
type n\r
STEPS
is "dumb: exit status" $status 0
has "dumb: a line sums up" "$out" "wend: ok, 2 turns, 2 calls"
rm -f one two

# From a pipe the prompt comes, from the terminal the answer.
on_screen 80x24 "echo hi | $WEND run -t write_file -m script:ask.json" <<STEPS
wait allow?
type y
wait write_file(two)
type y
STEPS
is "a pipe: both are written" "$(ls one two 2>/dev/null | wc -l)" 2
rm -f one two

# Into a pipe, which a pager may read, the keyboard stays as it is: lines.
on_screen 80x24 "$WEND run -t write_file -m script:ask.json hi | cat; stty -a" <<STEPS
wait allow?
type y\\r
wait write_file(two)
wait allow?
type n\\r
STEPS
is "into a pipe: yes and no" "$(ls one two 2>/dev/null)" one
lacks "into a pipe: no question is left" "$out" "allow?"
has "the terminal echoes" "$out" " echo "
rm -f one two
on_screen 80x24 "$WEND run -m script:think.yaml hi; stty -a" </dev/null
has "the terminal echoes again" "$out" " echo "
on_screen 80x24 "$WEND run -m script:think.yaml hi; stty -a" <<STEPS
wait asking
type \\x03\\x03
STEPS
has "the terminal echoes after two interrupts" "$out" " echo "

# A long argument leaves its beginning and the question on the screen.
printf '{"turns":[{"calls":[{"name":"shell","args":{"command":"%s%06000d"}}]},
{"text":"went on"}]}' 'rm -rf /precious; echo ' 7 >long.json
on_screen 80x24 "$WEND run -t shell -m script:long.json hi" <<STEPS
wait allow?
show first
type n
STEPS
has "long: its beginning" first "rm -rf /precious"
has "long: what is left out" first "more lines"
has "long: the question" first "allow?"

# A screen that gets smaller while it is asked: the question fits it.
printf '{"turns":[{"calls":[{"name":"shell","args":{"command":"%s"}}]},
{"text":"went on"}]}' "$(seq -s '\n' -f 'echo the line with the number %g' 30)" >lines.json
on_screen 80x24 "$WEND run -t shell -m script:lines.json hi" <<STEPS
wait allow?
size 40x14
wait The model
wait allow?
show small
size 80x24
wait number 9
show large
type n
STEPS
is "resized: exit status" $status 0
has "resized: it begins on the screen" small "The model wants to call shell"
has "resized: what is left out" small "more lines"
is "resized: words are whole" "$(grep -A 1 'risk: ' small | paste -sd/)" \
    "  risk: high; no rule allows or denies/  this call"
is "resized: one question" "$(times 'allow?' small) $(times 'allow?' large)" "1 1"
is "resized: no row is wrapped" "$(grep -c '^  [$>] echo the line with the number [0-9]*$' small)" \
    "$(grep -c 'echo the' small)"
lacks "resized: none is left" "$out" "allow?"
finish
