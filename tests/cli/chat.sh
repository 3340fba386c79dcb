#!/usr/bin/env bash
# chat.sh - a conversation: with lines of standard input, and on a screen.
. "$(dirname "$0")/lib.sh"

export LC_ALL=C.UTF-8
talks=$(model talks '{"turns":[
{"when":"markdown","text":"# Title\nSome **bold** and `code`.\n\n- one\n- two\n\n```c\nint main(void);\n```\n\n| name | what |\n|---|---|\n| x | a cell with some words |\n\n> said\n","repeat":"forever"},
{"when":"sum","text":"Let me see.","calls":[{"name":"calculator","args":{"expression":"6*7"}}],"repeat":"forever"},
{"when":"change","calls":[{"name":"edit_file","args":{"path":"x.txt","old_string":"a","new_string":"b"}}]},
{"when":"slow","text":"one two three four five six","chunk":4,"delay":"200ms"},
{"when":"long","text":"aaaa bbbb cccc","chunk":5,"first_delay":"1ms","delay":"90s","repeat":"forever"},
{"text":"Hello, ${turn}.","usage":{"input":1200,"output":20},"repeat":"forever"}]}')
runs() { "$WEND" runs --json --limit 0 | wc -l; }
start() { "$WEND" log --json "$1" --type run_start >"$work/start"; } # RUN
said() { json "$work/start" "$(at "data.$1")"; }               # PATH

# ---- Lines ------------------------------------------------------------------------

exits "no model" 2 "$WEND" chat
has "no model: said" "$err" "no model is set"
printf 'hi\n\nthe sum\n/cost\n/nothing\nlast one' |
    "$WEND" chat -m "$talks" >"$out" 2>"$err"
is "lines: exit status" $? 0
is "lines: the answers alone" "$(cat "$out")" "Hello, 0.
Hello, 1.
Hello, 0."
has "lines: a command" "$err" "2.4k + 40 tokens, in 2 answers"
has "lines: one that does not exist" "$err" "unknown command /nothing"
is "lines: a run each" "$(runs)" 3
start last
is "lines: with the whole past" "$(said 'messages[0].text') $(said \
    'messages[2].text')" "hi the sum"
session=$(said session)
case $session in chat-2*) true ;; *) false ;; esac
ok "lines: one session" || echo "# $session"
is "lines: the same for all" "$("$WEND" runs --json --session "$session" |
    wc -l)" 3
exits "sound" 0 "$WEND" verify last
printf 'more\n' | "$WEND" chat -qc >"$out" 2>"$err"
is "-c: exit status" $? 0
start last
is "-c: goes on" "$(said 'messages[0].text') $(said session)" "hi $session"
printf 'x\n' | "$WEND" chat -c --session nothing >"$out" 2>"$err"
is "-c: no such session" $? 2
has "-c: those that exist" "$err" "sessions: chat-"
printf 'some notes\n' >notes.txt
printf '/attach none\n/attach notes.txt\nread it\nmore\n' |
    "$WEND" chat -m "$talks" >"$out" 2>"$err"
has "/attach: no such file" "$err" "cannot open 'none'"
has "/attach" "$err" "notes.txt comes with the next message (11 bytes)"
start last~1
is "/attach: with one message" "$(said 'parts[0].name')" notes.txt
start last
is "/attach: and no other" "$(said 'parts[0].name')" ""
printf 'x\n' | "$WEND" chat -m 'script:{"turns":[]}' >"$out" 2>"$err"
is "an answer that fails ends no chat" $? 0

# ---- On a screen ------------------------------------------------------------------

if ! has_terminal || [ ! -x "$test_screen" ]; then
    skip "on a screen" "no terminal"
    finish
fi
for size in 40x24 80x24 200x50; do
    on_screen $size "$WEND chat -m $talks" <<STEPS
wait help lists
type markdown\r
wait said
wait tokens
show $work/md
type /cos\t
wait /cost
type \x15
gone /cost
type the sum
type \r
wait Hello
sleep 300
type \x04
STEPS
    is "$size: exit status" $status 0
    has "$size: a heading" "$work/md" "Title"
    has "$size: bullets" "$work/md" "• two"
    has "$size: code in a frame" "$work/md" "│ int main(void);"
    is "$size: the frame" "$(grep -c '^┌─ c$\|^└─$' "$work/md")" 2
    has "$size: a table" "$work/md" "$([ $size = 40x24 ] &&
        echo 'x    │ a cell with some words' || echo 'name │ what')"
    has "$size: the prompt is above its answer" "$out" "> the sum"
    [ "$(grep -c '^- .* ok  calculator' "$out")" = 1 ]
    ok "$size: a call is one line" || sed 's/^/# /' "$out"
    has "$size: how to go on" "$out" "'wend chat -c' continues this"
    lacks "$size: nothing of the panel stays" "$out" "tokens"
done

# Words are whole in every width; what code and addresses are is cut.
words=$(model words '{"turns":[
{"when":"size","text":"The quick brown fox jumps over the lazy dog and rests. ","chunk":5,"delay":"30ms","repeat":"forever"},
{"text":"The quick brown fox jumps over the lazy dog, and then it rests for a while beside the river.\n\n- a list item that is longer than forty columns are\n\n> quoted text that is longer than forty columns as well\n\n世界世界世界世界世界世界世界世界世界世界世界。 e\u0301tude e\u0301tude **bold words that are wrapped** end.\n\n```\na line of code that is longer than forty columns\n```\nhttps://example.org/a/very/long/address/that/has/no/space\n","chunk":3,"delay":"1ms","repeat":"forever"}]}')
for size in 40x40 80x24 200x30; do
    on_screen $size "$WEND chat -qm $words" <<STEPS
wait >
type go\r
wait space
wait 0 + 0
type \x04
STEPS
    cp "$out" "$work/wrapped.${size%x*}"
done
cat >"$work/wanted.40" <<'ROWS'
The quick brown fox jumps over the lazy
dog, and then it rests for a while
beside the river.

• a list item that is longer than forty
  columns are

│ quoted text that is longer than forty
│ columns as well

世界世界世界世界世界世界世界世界世界世
界世界。 étude étude **bold words that
are wrapped** end.

┌─
│ a line of code that is longer than fo
│ rty columns
└─
https://example.org/a/very/long/address
/that/has/no/space
ROWS
cat >"$work/wanted.80" <<'ROWS'
The quick brown fox jumps over the lazy dog, and then it rests for a while
beside the river.

• a list item that is longer than forty columns are

│ quoted text that is longer than forty columns as well

世界世界世界世界世界世界世界世界世界世界世界。 étude étude **bold words that
are wrapped** end.

┌─
│ a line of code that is longer than forty columns
└─
https://example.org/a/very/long/address/that/has/no/space
ROWS
for width in 40 80; do
    is "$width columns: wrapped between words" \
        "$(sed 1d "$work/wrapped.$width")" "$(cat "$work/wanted.$width")"
done
has "200 columns: one row" "$work/wrapped.200" "dog, and then it rests for a \
while beside the river."
on_screen 80x24 "$WEND chat -m $words" <<STEPS
wait help lists
type size\r
wait quick
size 40x24
wait rests.
wait tokens
show $work/narrow
type \x04
STEPS
is "resized while it streams" "$(sed -n '/quick/,/rests/p' "$work/narrow")" \
    "The quick brown fox jumps over the lazy
dog and rests."

echo a >x.txt
on_screen 80x24 "$WEND chat -m $talks -t calculator -t edit_file" <<STEPS
wait help lists
type change it\r
wait allow?
type y
wait Hello
type slow\r
wait two
type and this
wait > and this
show $work/typed
type \r
wait said: and this
wait 2.4k
type long\r
wait aaaa
type \e
wait stopped
type \e[200~pasted\rlines\e[201~\x0amore\\\\\r
wait more
sleep 300
show $work/pasted
type end\r
wait Hello, 0
type \e[A
sleep 100
type \x03
wait Ctrl-C again
show $work/cleared
type \x03
STEPS
is "keys: exit status" $status 0
is "Ctrl-C clears the text" "$(grep -c '^> *pasted' "$work/cleared")" 1
is "an approval in place" "$(cat x.txt)" b
has "what is typed stands below the answer" "$work/typed" "> and this"
is "a paste does not send" "$(grep -A 2 '^> pasted' "$work/pasted" |
    tr '\n' '|')" "> pasted|  lines|  more|"
start last
is "several lines are one text" "$(said prompt)" "pasted
lines
more
end"
is "what was stopped is kept" "$(said 'messages[#-1].text')" "aaaa "
is "what was said while it worked is part of it" \
    "$(json "$work/start" "group_concat((SELECT group_concat(json_extract(
    m.value, '\$.text')) FROM json_each(line.value, '\$.data.messages') AS m
    WHERE json_extract(m.value, '\$.role') = 'user'))")" \
    "change it,slow,and this,long"
is "the history is the user's" "$(stat -c %a \
    "$HOME/.local/share/wend/chat_history")" 600
has "the history has lines" "$HOME/.local/share/wend/chat_history" \
    'pasted\nlines\nmore\nend'

# A draft that is typed while a question appears does not answer it.
asks=$(model asks '{"turns":[
{"when":"two","text":"Slow it is.","chunk":2,"delay":"150ms","calls":[{"name":"write_file","args":{"path":"drafted","content":"1"}},{"name":"write_file","args":{"path":"drafted2","content":"1"}}]},
{"when":"one","calls":[{"name":"write_file","args":{"path":"drafted","content":"1"}}],"repeat":2},
{"text":"Hello, ${turn}.","repeat":"forever"}]}')
on_screen 80x24 "$WEND chat -m $asks -t write_file" <<STEPS
wait help lists
type two\r
wait allow?
keys a
sleep 200
keys a
sleep 500
keys nd y
wait > aand y
show $work/draft
type y
wait drafted2
keys yy
wait > aand yyy
show $work/draft2
type n
wait Hello
type \x15one\r
wait allow?
type more \e[D\e[Cthan
wait > more than
show $work/draft3
type \e
wait stopped
wait > more than
type \x15one\r
wait allow?
type \e
wait stopped
type /quit\r
STEPS
is "a draft and a question: exit status" $status 0
has "a draft and a question: not answered" "$work/draft" "allow?"
has "a draft: keys after an answer" "$work/draft2" "allow?"
is "a draft: only a single key answers" "$(ls drafted drafted2 2>&1 |
    grep -c 'No such')" 1
has "a draft: several keys are no answer" "$work/draft3" "allow?"
is "a draft: no rule" "$(cat "$HOME/.local/share/wend/approvals" 2>/dev/null)" ""

printf '\211PNG\r\n\032\n\001\002' >noise
on_screen 80x24 "$WEND chat -m $talks --session first" <<STEPS
wait help lists
type /attach noise\r
wait comes with
type /attach notes.txt\r
wait notes.txt comes with
type with noise\r
wait same 2 files
type \x15/detach noise\r
wait 1 left out; 1 come
type one\r
wait Hello
wait tokens
type two\r
wait 2.4k
type /undo\r
wait left out
type \x15/retry\r
wait 3.6k
type /fork second\r
wait second
type /save talk.md\r
wait has the conversation
type /tools\r
wait grep
type /context\r
wait window of
type /model script:nothing\r
wait nothing
type /model $hello\r
wait next answer
type three\r
wait there
type /load first\r
wait follows run
type /save talk.md\r
wait '/save! talk.md' replaces
run sh -c 'cp talk.md first.md; echo mine >talk.md'
type /save talk.md\r
wait exists already
run cp talk.md mine.md
type /save! talk.md\r
sleep 500
type /clear\r
wait new conversation
type /undo\r
wait nothing was said
type /quit\r
STEPS
is "commands: exit status" $status 0
is "what cannot be sent ends no chat" "$("$WEND" runs --json --session first |
    grep -c noise)" 0
has "/save" first.md "## You"
is "/save: a file that exists stays" "$(cat mine.md)" mine
has "/save!: replaces it" talk.md "## You"
"$WEND" runs --json --session second --limit 1 >"$out"
id=$(sed 's/^{"run":"\([^"]*\).*/\1/' "$out")
start "$id"
is "/fork: another session" "$(said session)" second
start "$("$WEND" runs --json --session first |
    sed -n 's/^{"run":"\([^"]*\).*/\1/p' | tail -1)"
is "/attach: a file waits until it is sent" "$(said 'parts[0].name')" notes.txt
start "$id"
is "/undo and /retry: one exchange, asked again" "$(said messages |
    grep -o '"text":"[^"]*"' | tr '\n' ' ')" \
    '"text":"one" "text":"Hello, 0." '

# ---- Leaving in the middle ---------------------------------------------------------

for keys in '\e|\e' '\e\e|' '\x03|\x03' '\x03\x03|' '\x04|'; do
    on_screen 80x24 "$WEND chat -m $talks" <<STEPS
wait help lists
type long\r
wait aaaa
keys ${keys%|*}
sleep 300
keys ${keys#*|}
STEPS
    is "$keys: leaves" $status 130
    is "$keys: keeps the answer" "$("$WEND" runs --json --limit 1 |
        grep -c '"status":"canceled"')" 1
done
for keys in '\x03\x03' 'text\x03\x03'; do
    on_screen 80x24 "$WEND chat -m $talks" <<STEPS
wait >
keys $keys
STEPS
    is "$keys at a prompt: leaves" $status 0
done

# An exchange that a kill has ended is named.
is_running() { "$WEND" runs --json --limit 1 | grep -q '"status":"running"'; }
mkdir other && cd other || exit 1
echo hi | "$WEND" chat -q -m "$talks" >"$out" 2>"$err"
echo long >"$work/line"
"$WEND" chat -m "$talks" <"$work/line" >"$out" 2>"$err" &
victim=$!
soon is_running
kill -9 $victim
wait $victim 2>/dev/null
id=$("$WEND" runs --json --limit 1 | sed 's/^{"run":"\([^"]*\).*/\1/')
echo again | "$WEND" chat -c >"$out" 2>"$err"
has "-c: what was interrupted is named" "$err" "'wend resume $id' finishes it"
cd .. || exit 1

# ---- A terminal that is no screen -----------------------------------------------------

TERM=dumb at_terminal "$WEND chat -q -m '$hello' </dev/null"
is "a dumb terminal, and nothing to read" $status 0
finish
