#!/usr/bin/env bash
# stop.sh - Ctrl-Z, fg and bg in a shell with job control: the shell finds a
# tidy terminal, and the run paints anew when it has the terminal again.
. "$(dirname "$0")/lib.sh"
export TERM=xterm LC_ALL=C.UTF-8
unset NO_COLOR TMUX VTE_VERSION

mkdir "$work/bin"
ln -s "$WEND" "$work/bin/wend"
shell="PATH=$work/bin:\$PATH PS1='$ ' exec bash --norc --noprofile -i"
times() { grep -c -- "$1" "$2"; } # PATTERN FILE
rows='^first \|^second \|running'

# ---- The bars of a plan ------------------------------------------------------------

cat >plan.yaml <<'YAML'
wend: plan/1
name: two
actions:
  - {name: first, type: llm, mode: async, prompt: one}
  - {name: second, type: llm, mode: async, prompt: two}
YAML
cat >model.yaml <<'YAML'
turns:
  - {text: never, first_delay: 1h, repeat: forever}
YAML
on_screen 80x24 "$shell" <<STEPS
type wend plan run plan.yaml -m script:model.yaml\r
wait 2 running
type \x1a
wait Stopped
type stty -a | grep -o ' echo .*'; echo ti''dy\r
wait tidy
show stopped
size 60x20
type fg\r
wait 2 running
show again
type \x1a
gone 2 running
wait Stopped
type clear; bg; sleep 0.5; echo be''hind\r
wait behind
show behind
type fg\r
wait 2 running
run $WEND cancel last
wait 2 canceled
type exit\r
STEPS
is "bars: exit status" $status 130
is "Ctrl-Z: no bar is left" "$(times "$rows" stopped)" 0
has "Ctrl-Z: the terminal echoes" stopped " echo "
is "fg: one bar each" "$(times '^first ' again) $(times '^second ' again)" "1 1"
is "bg: nothing is painted" "$(times "$rows" behind)" 0
is "at the end one bar each" \
    "$(times '^first ' "$out") $(times '^second ' "$out")" "1 1"
has "bg: it runs" behind "&"

# A SIGSTOP leaves the bars; they are not painted over what the shell wrote.
on_screen 80x24 "$shell" <<STEPS
type (echo \$BASHPID >pid; exec wend plan run plan.yaml -m script:model.yaml)\r
wait 2 running
run kill -STOP \$(cat pid)
wait Stopped
type echo one; echo two; echo th''ree\r
wait three
type fg\r
wait 2 running
sleep 300
show again
run $WEND cancel last
wait 2 canceled
type exit\r
STEPS
is "SIGSTOP: what the shell wrote is there" "$(times '^\$ fg$' again)" 1
is "SIGSTOP: exit status" $status 130

# A run that was not stopped is told to continue, twice: its bars stay where they
# are.
on_screen 80x24 "$shell" <<STEPS
type (echo \$BASHPID >pid; exec wend plan run plan.yaml -m script:model.yaml)\r
wait 2 running
run kill -CONT \$(cat pid)
sleep 300
run kill -CONT \$(cat pid)
sleep 300
show still
type \x1a
wait Stopped
type fg\r
wait 2 running
run kill -CONT \$(cat pid)
sleep 300
show again
run $WEND cancel last
wait 2 canceled
type exit\r
STEPS
is "SIGCONT alone: one bar each" \
    "$(times '^first ' still) $(times '^second ' still)" "1 1"
is "SIGCONT after fg: one bar each" \
    "$(times '^first ' again) $(times '^second ' again)" "1 1"
is "SIGCONT alone: one bar each at the end" \
    "$(times '^first ' "$out") $(times '^second ' "$out")" "1 1"

# ---- Text, in the middle of a line ---------------------------------------------------

on_screen 80x24 "$shell" <<STEPS
type wend run -m $held hi\r
wait one
type \x1a
wait Stopped
show stopped
type fg\r
sleep 500
type \x03
wait canceled
type exit\r
STEPS
is "text: Ctrl-Z leaves no status line" "$(times 'asking\|writing' stopped)" 0
is "text: it is shown once" "$(times '^one' "$out")" 1

# ---- A question ------------------------------------------------------------------------

cat >ask.json <<'JSON'
{"turns":[{"calls":[{"name":"write_file","args":{"path":"one","content":"1"}}]},
{"text":"went on"}]}
JSON
# Meanwhile another run asks on the same terminal; in the background the first
# one neither asks nor takes keys.
on_screen 80x24 "$shell" <<STEPS
type wend run -t write_file -m script:ask.json first\r
wait allow?
type \x1a
wait Stopped
show stopped
type bg; wend run -t write_file -m script:ask.json second\r
wait allow?
type n
wait denied
wait went on
type clear; echo y; sleep 0.5; echo be''hind\r
wait behind
show behind
type fg\r
wait allow?
show again
type y
wait went on
type exit\r
STEPS
is "question: exit status" $status 0
is "question: Ctrl-Z takes it off" "$(times 'allow?' stopped)" 0
is "question: not asked in the background" "$(times 'allow?' behind)" 0
is "question: asked again, once" "$(times 'allow?' again)" 1
is "question: the answer counts" "$(cat one)" 1
lacks "question: none is left" "$out" "allow?"
rm -f one

# As lines, and while arguments are typed.
TERM=dumb on_screen 80x24 "$shell" <<STEPS
type wend run -t write_file -m script:ask.json hi\r
wait then Enter:
type c\r
wait new arguments
type \x1a
wait Stopped
type clear; fg\r
wait then Enter:
type y\r
wait went on
type exit\r
STEPS
is "typed: it is asked again" "$status $(cat one)" "0 1"
finish
