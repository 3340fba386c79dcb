#!/usr/bin/env bash
# terminal.sh - what reaches a terminal, and what is asked there.
. "$(dirname "$0")/lib.sh"

if ! has_terminal; then
    echo "1..0 # SKIP no script(1) from util-linux"
    exit 0
fi
export TERM=xterm LC_ALL=C.UTF-8

evil='{"turns":[{"text":"a\u001b[31mb\u009bc\u202ed\u0007e\r\u007f",
"calls":[{"name":"calculator","args":{"expression":"\u001b]0;title\u0007"}}]},
{"text":"\udb40\udc41x\u2066y\u200bz"}]}'
echo "$evil" >evil.json
at_terminal "$WEND run -m script:evil.json hi"
is "escapes: exit status" $status 0
tr -d '\r\n' <"$out" >shown
LC_ALL=C grep -q $'[\001-\010\013-\037\177]' shown
[ $? = 1 ]
ok "no control reaches the terminal"
for bad in '\302\233' '\342\200\256' '\342\201\246' '\342\200\213' \
    '\363\240\201\201'; do
    lacks "nor $bad" "$out" "$(printf "$bad")"
done
has "an escape is shown as one" "$out" "a$(printf '\342\220\233')[31mb"
is "no title is set" "$(grep -c $'\e]0' "$out")" 0
at_terminal "$WEND run --json -m script:evil.json hi"
tr -d '\r\n' <"$out" >shown
! LC_ALL=C grep -q $'[\001-\010\013-\037\177]' shown
ok "--json: no control reaches the terminal"
lacks "--json: no direction is changed" "$out" "$(printf '\342\200\256')"
has "--json: it is escaped" "$out" '\u202e'
at_terminal "$WEND log last; $WEND runs; $WEND replay --speed 0 last"
! tr -d '\r\n' <"$out" | LC_ALL=C grep -q $'[\001-\010\013-\037\177]'
ok "log, runs, replay: no control reaches the terminal"
# Words are not broken where the screen is narrow.
at_terminal "stty cols 40; $WEND tools"
is "tools: no line is wider than the terminal" \
    "$(tr -d '\r' <"$out" | awk 'length > 40' | head -n 3)" ""

# A locale without other characters: what wend adds to a text is ASCII.
cat >plan.yaml <<'YAML'
wend: plan/1
name: "p\e[31m"
actions:
  - {id: a, type: tool, target: calculator, params: {expression: "6*7"}}
  - {id: b, type: tool, target: calculator, params: {expression: "1/0"}, depends_on: [a]}
YAML
"$WEND" run -q -m "$sum" $'a prompt with \e[31m\xff\u202e' >"$out" 2>&1
"$WEND" fork last >/dev/null 2>&1
while read -r command; do
    LC_ALL=C at_terminal "$WEND $command"
    ! LC_ALL=C grep -q '[^ -~[:cntrl:]]' "$out"
    ok "C locale: $command: only ASCII" || LC_ALL=C grep '[^ -~[:cntrl:]]' "$out" | sed 's/^/# /'
done <<'COMMANDS'
runs
runs --tree
log last~1
view last~1
replay --speed 0 last~1
plan show plan.yaml
plan run plan.yaml
stats
tools
models
agents
doctor --offline
run -m script:evil.json hi
help
COMMANDS
"$WEND" run --stream -m script:evil.json hi >"$out" 2>/dev/null
has "a file gets the text as it is" "$out" $'a\e[31mb'

# What nobody sees is made visible, also in what is asked about; an emoji stays.
heap='e\u0301\u0302\u0303\u0304\u0305\u0306'
seen='a\u00adb\ufe0fc\u3164d\u115fe\uffa0f'
cat >hidden.json <<JSON
{"turns":[{"text":"$seen $heap \u26a0\ufe0f.","chunk":1,
"calls":[{"name":"write_file","args":{"path":"new","content":"$seen $heap"}}]},
{"text":"went on"}]}
JSON
at_terminal "$WEND run -t write_file -m script:hidden.json hi" 'allow?' n
bad=$(printf '\357\277\275')
plain=a${bad}b${bad}c${bad}d${bad}e${bad}f
is "hidden: made visible in the answer and in the question" \
    "$(grep -o "$plain" "$out" | wc -l)" 3
mark=$(printf '\314\201\314\202\314\203\314\204')
is "hidden: of a heap of marks four are shown" \
    "$(grep -o "e$mark$bad$bad" "$out" | wc -l)" 3
has "hidden: an emoji in two pieces is whole" "$out" \
    "$(printf '\342\232\240\357\270\217')."

# Tools are shown on a terminal, in colour only if that is wanted.
at_terminal "$WEND run -m '$sum' hi"
has "the call is shown" "$out" '> calculator {"expression":"6*7"}'
has "its result, too" "$out" '  = 42'
lacks "NO_COLOR" "$out" $'\e['
at_terminal "NO_COLOR= $WEND run -m '$sum' hi"
has "colour" "$out" $'\e[2m'
at_terminal "TERM=dumb NO_COLOR= $WEND run -m '$sum' hi"
lacks "no colour on a dumb terminal" "$out" $'\e['

at_terminal "$WEND run -m '$hello'"
is "no prompt on a terminal: exit status" $status 2
has "no prompt on a terminal: said" "$out" "no prompt"

# Questions.
write='{"turns":[{"calls":[{"name":"write_file","args":{"path":"new",
"content":"x\u001b[2Jy"}}]},{"text":"went on"}]}'
echo "$write" >write.json
ask() { # ANSWER...: of the run that wants to write
    rm -f new
    at_terminal "$WEND run -t write_file -m script:write.json hi" 'allow?' "$@"
}
ask y
is "yes: exit status" $status 0
has "yes: the tool is named" "$out" "write_file"
has "yes: the file is named" "$out" 'a new file new, 1 line'
has "yes: its text is shown" "$out" "x$(printf '\342\220\233')[2Jy"
has "yes: the risk" "$out" "risk: medium"
lacks "yes: the screen is not cleared" "$out" $'\e[2J'
has "yes: the run goes on" "$out" "went on"
[ -e new ]
ok "yes: it is written"
run "$WEND" log --json --type approval_answer last
is "yes: by whom" "$(json "$out" "$(at data.yes)||' '||$(at data.by)")" \
    "1 terminal"
ask no
is "no: exit status" $status 0
has "no: the run goes on" "$out" "went on"
[ ! -e new ]
ok "no: it is not written"
ask perhaps no
is "neither yes nor no: asked again" "$(grep -o 'allow?' "$out" | wc -l)" 2
[ ! -e new ]
ok "neither yes nor no: it is not written"

# Without a cursor to move a long argument scrolls past the question; its
# beginning is shown there again.
printf '{"turns":[{"calls":[{"name":"shell","args":{"command":"%s%06000d"}}]},
{"text":"went on"}]}' 'rm -rf /precious; echo ' 7 >long.json
TERM=dumb at_terminal "$WEND run -t shell -m script:long.json hi" 'allow?' n
has "long: it begins" "$out" 'starts with: shell {"command":"rm -rf /precious; echo 000'
is "long: right before the question" "$(grep -A3 'starts with: shell' "$out" |
    grep -c 'allow?')" 1
TERM=dumb ask n
lacks "short: its beginning is not repeated" "$out" "starts with"
TERM=dumb ask never
is "a word is an answer where lines are typed" "$(cat "$HOME/.local/share/wend/approvals")" \
    "$PWD"$'\t!write_file(new)'
rm -f "$HOME/.local/share/wend/approvals"

# Answers for calls like it, also in runs to come.
file=$HOME/.local/share/wend/approvals
ask a
has "always: the rule is shown" "$out" 'always allows write_file(new) here'
[ -e new ]
ok "always: it is written"
is "always: the rule" "$(cat "$file")" "$PWD"$'\twrite_file(new)'
is "always: nobody else can read it" "$(stat -c %a "$file")" 600
is "always: in the log" "$("$WEND" log --json last |
    grep -c '"by":"terminal","remember":"write_file(new)"')" 1
rm -f new
exits "always: later" 0 "$WEND" run -t write_file -m script:write.json hi
[ -e new ]
ok "always: later it is not asked"
mkdir elsewhere
(cd elsewhere && "$WEND" run -t write_file -m script:../write.json hi) \
    >"$out" 2>&1
[ ! -e elsewhere/new ]
ok "always: not in another folder"
echo 'write_file(new)' >>"$file"
(cd elsewhere && "$WEND" run -t write_file -m script:../write.json hi) \
    >"$out" 2>&1
[ -e elsewhere/new ]
ok "a rule alone counts in every folder"
chmod 666 "$file"
exits "others could have written it" 2 "$WEND" run -m script:write.json hi
has "others could have written it: said" "$err" "other users can write to"
rm -f "$file"
ask e
is "never: the rule" "$(cat "$file")" "$PWD"$'\t!write_file(new)'
exits "never: later" 0 "$WEND" run --approve all -t write_file \
    -m script:write.json hi
[ ! -e new ]
ok "never: not later, either"
exits "but an option goes first" 0 "$WEND" run --approve write_file \
    -t write_file -m script:write.json hi
[ -e new ]
ok "but an option goes first: it is written"
echo 'x(' >"$file"
exits "an invalid rule" 2 "$WEND" run -m script:write.json hi
has "an invalid rule: said" "$err" "approvals: 'x(' is not a valid rule"
rm -f "$file"
finish
