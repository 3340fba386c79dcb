#!/usr/bin/env bash
# narrow.sh - small terminals: no word is torn, and a question keeps its subject
# and its keys.
. "$(dirname "$0")/lib.sh"
export TERM=xterm LC_ALL=C.UTF-8
unset NO_COLOR TMUX VTE_VERSION

# A row as wide as the terminal is torn where the next one continues the word.
torn() { # FILE WIDTH
    awk -v width="$2" '
        full && /^[^ ]/ { print before; bad = 1 }
        { before = $0; full = length($0) >= width && /[[:alnum:]]$/ }
        END { exit !bad }' "$1"
}
whole() { # NAME WIDTHxHEIGHT COMMAND-LINE
    on_screen "$2" "$3" </dev/null
    ! torn "$out" "${2%x*}" >torn
    ok "$1" || sed 's/^/# torn: /' torn
}
printf '%s\n' 'a row that is as wide as 40 columns, tor' n >sample
torn sample 40 >/dev/null
ok "a torn word is found"

# ---- Lists and help ----------------------------------------------------------------

"$WEND" run -q -m "$sum" "a prompt of some words that is wider than the terminal" >/dev/null
"$WEND" fork -q -m "$hello" last "and a fork with a longer message, too" >/dev/null
cat >plan.yaml <<'YAML'
wend: plan/1
name: a_plan_with_a_name
actions:
  - {name: first_of_all, type: tool, target: calculator, mode: async,
     estimate: 30s, params: {expression: "1"}}
  - {name: second_of_all, type: tool, target: calculator, estimate: 10s,
     params: {expression: "2"}, depends_on: [first_of_all]}
  - {name: keeps_it, type: llm, mode: fire_and_forget, prompt: x, estimate: 1s,
     depends_on: [first_of_all, second_of_all]}
YAML
# name | command
while IFS='|' read -r name command; do
    whole "$name at 40 columns" 40x200 "$WEND $command"
    is "$name: exit status" $status 0
done <<'ROWS'
runs|runs
a tree|runs --tree
stats|stats
a plan|plan show plan.yaml
help|--help
help of run|run --help
help of approve|approve --help
help of log|log --help
ROWS
on_screen 40x200 "$WEND approve --help" </dev/null
has "help: below its option" "$out" "          apply the answer to similar"
on_screen 80x200 "$WEND approve --help" </dev/null
"$WEND" approve --help >piped
sed 's/ *$//' "$out" | diff - piped >/dev/null
ok "help: 80 columns are as they are"

# ---- Questions ---------------------------------------------------------------------

long=$(printf 'word%d ' {1..59})word60
cat >ask.json <<JSON
{"turns":[{"calls":[{"name":"shell","args":{"command":"echo $long"}}]},
{"text":"went on"}]}
JSON
for size in 40x12 40x8 60x10; do
    on_screen $size "$WEND run -t shell -m script:ask.json hi" <<STEPS
wait allow?
show asked
type n
gone allow?
STEPS
    is "$size: exit status" $status 0
    has "$size: the subject" asked "The model wants to call shell"
    has "$size: the command" asked "$ echo word1"
    has "$size: what is left out is counted" asked "more lines"
    has "$size: the risk" asked "  risk: "
    has "$size: the rule, and that it is cut" asked "  always allows shell(echo"
    has "$size: the first key" asked "[y]es"
    has "$size: the last key" asked "[v]iew"
    lacks "$size: gone without a trace" "$out" "wants to call"
done
on_screen 40x12 "PAGER='cat >paged' $WEND run -t shell -m script:ask.json hi" <<STEPS
wait allow?
type v
run until test -s paged; do sleep 0.1; done
wait allow?
type n
STEPS
has "[v]iew has the whole rule" paged "word60) here, never denies it"
finish
