#!/usr/bin/env bash
# view.sh - a run as a timeline: text, JSON, a picture, a page.
. "$(dirname "$0")/lib.sh"

model=$(model view '{"model":"demo<b>","turns":[{"text":"so","calls":[
{"name":"calculator","args":{"expression":"6*7"}},
{"name":"read_file","args":{"path":"nothing"}}],
"usage":{"input":10,"output":3}},
{"text":"<script>alert(1)</script>","usage":{"input":7,"output":2}}]}')
run "$WEND" run -m "$model" $'what & <why>\e[31m'
id=$("$WEND" runs --json | sed 's/{"run":"\([^"]*\).*/\1/')

exits "text" 0 "$WEND" view last
has "text: the run" "$out" "$id  ok, "
has "text: all tokens" "$out" "17 + 5 tokens"
is "text: turns and who follows whom" \
    "$(sed -n 's/^\(turn [0-9]*\)\( after [0-9a-f]*\.\([0-9]*\)\)\{0,1\}: .*/\1<\3/p' \
        "$out" | tr '\n' ' ')" "turn 0< turn 1<0 "
has "text: tokens of a turn" "$out" "10 + 3 tokens"
is "text: a line for each model and call" "$(grep -c '^  ' "$out")" 4
grep -q '^  read_file .*failed$' "$out"
ok "text: what failed"
lacks "text: harmless" "$out" $'\e'
[ "$(LC_ALL=C.UTF-8 wc -L <"$out")" -le 80 ]
ok "text: 80 columns"
! LC_ALL=C grep -q '[^ -~]' "$out"
ok "text: only ASCII in an ASCII locale"
LC_ALL=C.UTF-8 run "$WEND" view last
has "text: blocks elsewhere" "$out" "▒"

# On a terminal no line wraps: names get shorter, then bars are lost.
export TERM=xterm
for columns in 80 50 40 36; do
    at_terminal "stty cols $columns; '$WEND' view last"
    tr -d '\r' <"$out" >shown
    is "$columns columns: no line is wider" \
        "$(awk -v most=$columns 'length > most' shown | head -n 3)" ""
    grep -q '^  read.* failed$' shown
    ok "$columns columns: what failed"
done
lacks "36 columns: which turn a turn follows is left out" shown after
has "36 columns: all tokens" shown "17 + 5"

exits "json" 0 "$WEND" view --format json last
is "json: turns, spans, outcomes" "$(json "$out" "$(at 'turns[0].spans[1].name')||
    ' '||$(at 'turns[0].spans[2].outcome')||' '||$(at 'turns[1].tokens_in')||' '||
    json_array_length(line.value, '\$.turns')||' '||$(at run)")" \
    "calculator failed 7 2 $id"
is "json: a turn's parent" "$(json "$out" \
    "$(at 'turns[1].parent_id') = $(at 'turns[0].id')")" 1
is "json: within the run" "$(json "$out" \
    "$(at 'turns[1].end') <= $(at duration)")" 1

exits "svg" 0 "$WEND" view --format svg last
is "svg: a bar for each" "$(grep -c '<rect class="k[mcf]"' "$out")" 4
cp "$out" "$work/picture.svg"
# The format by the name of the file, unless it is given.
for row in "a.svg||<svg" "a.html||<!doctype" "a.json||{" "a.txt||$id" \
    "a.html|--format text|$id" "html||$id"; do
    IFS='|' read -r file given begins <<<"$row"
    exits "-o $file $given" 0 "$WEND" view $given -o "$work/$file" last
    is "-o $file $given: the format" "$(head -c ${#begins} "$work/$file")" "$begins"
done

exits "html" 0 "$WEND" view --format html -o "$work/page.html" last
is "html: private" "$(stat -c %a "$work/page.html")" 600
for page in "$work/picture.svg" "$work/page.html"; do
    lacks "no name of a run is markup in $(basename "$page")" "$page" "demo<b>"
    lacks "nothing runs in $(basename "$page")" "$page" "<script"
    is "nothing is fetched by $(basename "$page")" "$(grep -oE \
        '(src|href|url)[=("]+[^#"(=]' "$page" | wc -l)" 0
    lacks "no escape sequence in $(basename "$page")" "$page" $'\e'
done
has "html: the answer, as text" "$work/page.html" "&lt;script&gt;alert(1)"
if command -v xmllint >/dev/null; then
    xmllint --noout "$work/picture.svg"
    ok "svg: well-formed"
else
    skip "svg: well-formed" "no xmllint"
fi

# A run without an end, and one that failed.
begin "$WEND" run -m "$held" hi
soon in_log "$id" '"type":"model_start"'
killed
exits "no end" 0 "$WEND" view last
has "no end" "$out" "no end"
run "$WEND" run -m 'script:{"turns":[{"error":{"code":"auth","message":"no"}}]}' x
exits "failed" 0 "$WEND" view last
has "failed" "$out" "failed, "

# An action that was cut off goes on: it is one.
mkdir -p tools
cat >tools/nap.yaml <<'EOF'
wend: tool/1
name: nap
description: d
class: read
command: [sh, -c, 'while [ ! -e awake ]; do sleep 0.1; done']
EOF
cat >nap.yaml <<'EOF'
wend: plan/1
name: nap
actions:
  - {name: sleeper, type: tool, target: nap, params: {}}
EOF
begin "$WEND" plan run nap.yaml
soon in_log "$id" '"type":"action_start"'
killed
touch awake
exits "an action that goes on" 0 timeout 60 "$WEND" resume last
exits "an action that goes on: shown" 0 "$WEND" view last
is "an action that goes on: one line" "$(grep -c sleeper "$out")" 1
lacks "an action that goes on: with its end" "$out" "no end"
has "an interruption is a gap" "$out" "interrupted at "
has "an interruption: not counted" "$out" " later (not counted)"
exits "an interruption: as JSON" 0 "$WEND" view --format json last
is "an interruption: as JSON" "$(json "$out" "$(at 'gaps[0].duration') > 0 AND
    $(at duration) >= 0 AND $(at 'gaps[0].at') <= $(at duration)")" 1
exits "an interruption: as a picture" 0 "$WEND" view --format svg last
has "an interruption: as a picture" "$out" "<title>interrupted, resumed "

echo 'wend: plan/1
name: timed
actions: [{name: a, type: llm, prompt: x}]' >timed.yaml
exits "a limit" 3 "$WEND" plan run --timeout 1s -m "$held" timed.yaml
exits "a limit: shown" 0 "$WEND" view last
has "a limit: in words" "$out" ": stopped at the limit of time"

# ---- A page that stays small ----------------------------------------------------

most=5000000
page() { # NAME: the page of the last run is small enough
    exits "$1" 0 "$WEND" view --format html -o "$work/page.html" last
    size=$(stat -c %s "$work/page.html")
    [ "$size" -lt $most ]
    ok "$1: $size bytes"
}
# What follows `all: wend`, run as a user would.
commands() { sed -n 's/.*all: <code>wend \([^<]*\)<.*/\1/p' "$work/page.html"; }

head -c 200000 /dev/zero | tr '\0' '<' >large
run "$WEND" run -m "$(model large 'turns:
  - calls: [{name: read_file, args: {path: large}}]
  - text: done')" hi
page "a text of 200 KB"
is "a text of 200 KB: whole" "$(commands | wc -l) $(grep -oF '&lt;' \
    "$work/page.html" | wc -l)" "0 200000"

"$WEND" run -q -m "$(model long "turns: [{text: \"$(head -c 300000 /dev/zero |
    tr '\0' x)\"}]")" hi >"$work/answer"
page "an answer of 300 KB"
is "an answer of 300 KB: one command" "$(commands | wc -l)" 1
# shellcheck disable=SC2046
exits "an answer of 300 KB: the command" 0 "$WEND" $(commands)
is "an answer of 300 KB: prints all of it" "$(wc -c <"$out")" 300000

printf 'wend: agent/1\nloop: off\n' >off.yaml
run "$WEND" run -a ./off.yaml --max-turns 1000 -m "$(model texts 'turns:
  - calls: [{name: read_file, args: {path: large}}]
    repeat: 40
  - text: done')" hi
page "40 texts of 200 KB"
[ "$(commands | wc -l)" -ge 40 ]
ok "40 texts of 200 KB: the commands"
# shellcheck disable=SC2046
exits "40 texts of 200 KB: a command" 0 "$WEND" $(commands | tail -1)
is "40 texts of 200 KB: prints the event" "$(json "$out" \
    "$(at type)||' '||(length($(at data.output)) > 199000)")" "call_end 1"

run "$WEND" run -a ./off.yaml --max-turns 3000 -m "$(model turns 'turns:
  - calls: [{name: calculator, args: {expression: "1+1"}}]
    repeat: 1200
  - text: done')" hi
page "1200 turns"
has "1200 turns: the rest is named" "$work/page.html" "are not on this page"

exits "no run" 2 "$WEND" view
exits "an unknown run" 2 "$WEND" view ffffffff
exits "a format that is none" 2 "$WEND" view --format pdf last
exits "no room" 1 "$WEND" view -o /dev/full last

# ---- A run without an end: what it does ----------------------------------------------

begin "$WEND" run -t write_file --approve ask -m 'script:{"turns":[{"calls":[
{"name":"write_file","args":{"path":"new","content":"x"}}]}]}' hi
is_waiting() { "$WEND" runs --json --status waiting | grep -qF "$id"; }
soon is_waiting
"$WEND" runs >shown
has "waiting: in the list" shown "waits for you"
run "$WEND" view "$id"
has "waiting: the run" "$out" "$id  waits for you, "
grep -q '^  write_file .* waits for you$' "$out"
ok "waiting: the call"
is "waiting: the word of --status in JSON" \
    "$("$WEND" runs --json | grep -o '"status":"waiting"')" '"status":"waiting"'
killed
run "$WEND" view "$id"
has "killed: the run" "$out" "$id  interrupted, "
grep -q '^  write_file .* no end$' "$out"
ok "killed: the call"
finish
