#!/usr/bin/env bash
# fingers.sh - what fingers expect of run: a prompt and a pipe are both sent, a
# pipe gets the final answer alone, -o writes it whole or not at all.
. "$(dirname "$0")/lib.sh"

prompt() { "$WEND" runs --json --limit 1 >list && json list "$(at prompt)"; }
calc='{"name":"calculator","args":{"expression":"6*7"}}'
fails='script:{"turns":[{"text":"Let me see.","calls":['$calc']},
{"error":{"code":"invalid","message":"no"}}]}'

# ---- A prompt and standard input ------------------------------------------------

echo 'a file' | "$WEND" run -q -m "$hello" summarise this >"$out"
is "prompt and pipe: both, the prompt first" "$? $(prompt)" "0 summarise this

a file"
printf 'x' >file
"$WEND" run -q -m "$hello" summarise <file >"$out"
is "prompt and file" "$? $(prompt)" "0 summarise

x"
printf 'the goal' | "$WEND" run -q --plan - -m 'script:{"turns":[{"text":"."}]}' \
    >"$out"
is "--plan -" "$(prompt)" "the goal"
echo more | "$WEND" run -q --plan goal -m 'script:{"turns":[{"text":"."}]}' >"$out"
is "--plan and pipe" "$(prompt)" "goal

more"
for given in '' -; do
    echo alone | "$WEND" run -q -m "$hello" $given >"$out"
    is "standard input alone: '$given'" "$? $(prompt)" "0 alone"
done
for from in /dev/null /dev/zero; do
    "$WEND" run -q -m "$hello" "from $from" <$from >"$out"
    is "not read: $from" "$? $(prompt)" "0 from $from"
done
"$WEND" run -q -m "$hello" closed <&- >"$out"
is "not read: closed" "$? $(prompt)" "0 closed"
: | "$WEND" run -q -m "$hello" empty >"$out"
is "an empty pipe adds nothing" "$? $(prompt)" "0 empty"
if has_terminal; then
    at_terminal "'$WEND' run -q -m '$hello' typed"
    is "not read: a terminal" "$status $(prompt)" "0 typed"
else
    skip "not read: a terminal" "no terminal"
fi
printf 'a\0b' | "$WEND" run -q -m "$hello" hi >"$out" 2>"$err"
is "NUL: exit status" $? 2
has "NUL: where" "$err" "standard input is not text: byte 2 is NUL"
printf 'a\377b' | "$WEND" run -m "$hello" hi >"$out" 2>"$err"
is "invalid UTF-8: the run goes on" $? 0
has "invalid UTF-8: said" "$err" "not valid UTF-8"
head -c $((65 << 20)) /dev/zero | tr '\0' a |
    "$WEND" run -q -m "$hello" hi >"$out" 2>"$err"
is "too large: exit status" "${PIPESTATUS[2]}" 2
has "too large: how much fits" "$err" "larger than"

# One that never ends does not hang in silence.
mkfifo never
"$WEND" run -m "$hello" hi <never >"$out" 2>"$err" &
pid=$!
exec 8>never
soon grep -q "reading standard input" "$err"
ok "a pipe that does not end: said"
has "a pipe that does not end: what to do" "$err" "</dev/null"
exec 8>&-
wait $pid
is "a pipe that does not end: until it does" "$? $(prompt)" "0 hi"

# ---- The final answer alone -----------------------------------------------------

for how in "" -q; do
    exits "a pipe $how" 0 "$WEND" run $how -m "$sum" hi
    is "a pipe $how: the final answer alone" "$(cat "$out")" "It is 42."
    exits "a failure $how" 1 "$WEND" run $how -m "$fails" hi
    is "a failure $how: nothing" "$(cat "$out")" ""
done
exits "--stream" 0 "$WEND" run -q --stream -m "$sum" hi
is "--stream: all text" "$(cat "$out")" "Let me see.
It is 42."
exits "a limit" 3 "$WEND" run --max-turns 1 -m "$sum" hi
is "a limit: nothing" "$(cat "$out")" ""
if has_terminal; then
    at_terminal "'$WEND' run -q -m '$sum' hi"
    is "-q on a terminal" "$(tr -d '\r' <"$out")" "It is 42."
fi
begin "$WEND" run --stream -m "$held" hi
soon grep -q '^one' "$out"
ok "--stream: as it comes"
killed
exits "resume" 0 "$WEND" resume -q --max-turns 9 -m "$sum" "$id"
is "resume: the final answer alone" "$(cat "$out")" "It is 42."
exits "replay" 0 "$WEND" replay --speed 0 "$id"
is "replay: the final answer alone" "$(cat "$out")" "It is 42."
"$WEND" run -m 'script:{"turns":[{"text":"a","first_delay":"90s"}]}' hi | true
is "a reader that went away" "${PIPESTATUS[0]}" 130
is "a reader that went away: the run is canceled" \
    "$("$WEND" runs --json | grep -o '"status":"[a-z]*"' | head -n 1)" \
    '"status":"canceled"'

# One that leaves when the run has ended: the status is that of the log.
python3 - >"$work/long.script" <<'END'
import json
print(json.dumps({"turns": [{"text": "a line\n" * 40000, "chunk": 1000}]}))
END
ended_ok() { "$WEND" runs --json | head -n 1 | grep -q '"status":"ok"'; }
"$WEND" run --stream -m "script:$work/long.script" hi |
    { read -r line && soon ended_ok; }
is "a reader that left after the end" "${PIPESTATUS[*]}" "0 0"
exits "no room for the answer" 1 bash -c "'$WEND' run -m '$sum' hi >/dev/full"
has "no room for the answer: what to do" "$err" "'wend replay -q $(newest)' prints"
exits "no room for a replay" 1 bash -c "'$WEND' replay -q last >/dev/full"
"$WEND" log --json --deltas last~1 | true
is "a reader of the log that went away" "${PIPESTATUS[0]}" 130

cat >plan.yaml <<'END'
wend: plan/1
name: p
actions:
  - {id: a, type: tool, target: calculator, params: {expression: "6*7"}, output_key: a}
  - {id: b, type: tool, target: calculator, params: {expression: "1/0"}, depends_on: [a]}
outputs: {a: $a}
END
exits "a failed plan" 1 "$WEND" plan run -q plan.yaml
is "a failed plan: nothing" "$(cat "$out")" ""
exits "a failed plan: as it comes" 1 "$WEND" plan run --stream plan.yaml
is "a failed plan: no half answer either" "$(cat "$out")" ""
has "a failed plan: why" "$err" "wend: run failed: "

# ---- -o -------------------------------------------------------------------------

exits "-o" 0 "$WEND" run -o answer -m "$sum" hi
is "-o: the answer" "$(cat answer)|$(cat "$out")" "It is 42.|"
is "-o: as umask says" "$(stat -c %a answer)" "$(printf '%o' $((0666 & ~$(umask))))"
exits "-o: failed" 1 "$WEND" run -o answer -m "$fails" hi
is "-o: failed: untouched" "$(cat answer)" "It is 42."
exits "-o: failed, a new file" 1 "$WEND" run -o new -m "$fails" hi
[ ! -e new ]
ok "-o: failed: no new file"
chmod 640 answer
ln -s answer link
exits "-o: a link" 0 "$WEND" run -o link --stream -m "$hello" hi
is "-o: a link: what it names" "$(readlink link) $(cat answer) $(stat -c %a \
    answer)" "answer Hello there. 640"
is "-o --stream: both" "$(cat "$out")" "Hello there."
# One that names nothing yet: that is made, and the link stays.
mkdir -p folder
ln -s folder/later later
ln -s "$PWD/later" twice
exits "-o: a link to nothing" 0 "$WEND" run -o twice -m "$hello" hi
is "-o: a link to nothing: what it names" "$(readlink later) $(cat folder/later)" \
    "folder/later Hello there."
is "-o: a link to nothing: nothing else" "$(ls -A folder)" later
exits "view -o: a link to nothing" 0 bash -c "rm folder/later; '$WEND' view -o later last"
[ -L later ] && [ -s folder/later ]
ok "view -o: a link to nothing: what it names"
exits "view -o: no name" 2 "$WEND" view -o "" last
exits "-o -" 0 "$WEND" run -o - -m "$hello" hi
is "-o -: standard output" "$(cat "$out")" "Hello there."
exits "-o /dev/null" 0 "$WEND" run -o /dev/null -m "$hello" hi
[ -c /dev/null ]
ok "-o /dev/null: still a device"
runs() { "$WEND" runs --json --limit 0 | wc -l; }
before=$(runs)
ln -s nowhere/x dangling
ln -s loop loop
for bad in "$work" nowhere/x x/ "" dangling loop /proc/x; do
    exits "-o $bad" 2 "$WEND" run -o "$bad" -m "$hello" hi
done
exits "-o and --json" 2 "$WEND" run --json -o answer -m "$hello" hi
is "-o that cannot be written: no run" "$(runs)" "$before"
sed -i 's,1/0,1/1,' plan.yaml
exits "plan show -o" 0 "$WEND" plan show --format svg -o page plan.yaml
is "plan show -o" "$(head -c 4 page)|$(cat "$out")" "<svg|"
exits "plan run -o" 0 "$WEND" plan run -o answer plan.yaml
is "plan run -o" "$(cat answer)" '{"a":42}'
exits "fork -o" 0 "$WEND" fork -o answer -m "$hello" "$id" again
is "fork -o" "$(cat answer)" "Hello there."
begin "$WEND" run -o answer -m "$held" hi
killed
is "-o: killed: untouched" "$(cat answer)" "Hello there."
(cd / && exec "$WEND" resume -q -o "$work/cwd/answer" -m "$sum" "$id")
is "resume -o" "$? $(cat answer)" "0 It is 42."
exits "resume -o without a run" 2 "$WEND" resume -o answer
[ -z "$(find . -name '.wend-*')" ]
ok "no temporary file beside the answer"

# ---- A canceled plan has no answer, not where it would stream either -----------

cat >held.yaml <<'END'
wend: plan/1
name: h
actions: [{id: a, type: llm, prompt: p, output_key: r}]
outputs: {r: $r}
END
for rest in "" --stream; do
    begin "$WEND" plan run $rest -m "$held" held.yaml
    soon in_log "$id" '"type":"model_start"'
    kill -INT $pid
    wait $pid
    is "a canceled plan $rest: nothing" "$? $(cat "$out")" "130 "
    has "a canceled plan $rest: why" "$err" "wend: canceled; 'wend retry $id'"
done
on_screen 80x24 "$WEND plan run -m $held held.yaml" <<'STEPS'
wait running
keys \x03
STEPS
lacks "a canceled plan on a terminal: no answer" "$out" null
has "a canceled plan on a terminal: why" "$out" "wend: canceled"
finish
