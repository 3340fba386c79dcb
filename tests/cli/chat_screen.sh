#!/usr/bin/env bash
# chat_screen.sh - a conversation on a screen: what it looks like in every width,
# and its commands. Keys: chat_keys.sh.
. "$(dirname "$0")/lib.sh"
. "$test_dir/chat.inc"
if ! has_terminal || [ ! -x "$test_screen" ]; then
    skip "a chat on a screen" "no terminal"
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
wait 1.2k
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

# Without a size, colours or other characters than ASCII; with colours.
looks() { # COMMAND-LINE: what Markdown looks like, in $work/look
    on_screen 80x24 "$1" <<STEPS
wait help lists
type markdown\r
wait said
wait tokens
show $work/look
type \x04
STEPS
}
looks "stty rows 0 cols 0; $WEND chat -m $talks"
has "no size: as 80x24" "$work/look" "x    │ a cell with some words"
has "no colours: marks stay" "$work/look" 'Some **bold** and `code`.'
LC_ALL=C looks "$WEND chat -m $talks"
has "ASCII: a frame" "$work/look" "| int main(void);"
has "ASCII: a bullet" "$work/look" "* two"
looks "env -u NO_COLOR TERM=xterm $WEND chat -m $talks"
has "colours: marks are styles" "$work/look" 'Some bold and code.'

# What is typed but not sent stays; what fails can be asked again.
breaks=$(model breaks '{"turns":[
{"when":"slow","text":"one two three four","chunk":4,"delay":"100ms"},
{"when":"break","error":{"code":"auth","message":"no"}},
{"text":"Hello, ${turn}.","repeat":"forever"}]}')
on_screen 80x24 "$WEND chat -m $breaks" <<STEPS
wait help lists
type slow\r
wait two
keys not sent
wait tokens
show $work/unsent
type \x15break\r
wait run failed
wait /retry asks again
wait tokens
type \x04
STEPS
is "a draft and a failure: exit status" $status 0
has "a draft stays in the prompt" "$work/unsent" "> not sent"

# ---- Commands ------------------------------------------------------------------------

echo some notes >notes.txt
echo a >x.txt
printf '\211PNG\r\n\032\n\001\002' >noise
cp noise noise-with-a-name-that-leaves-no-room-for-a-word
on_screen 80x24 "$WEND chat -m $talks --session first" <<STEPS
wait help lists
type /attach noise\r
wait 'noise' is
type /attach noise-with-a-name-that-leaves-no-room-for-a-word\r
wait   image: it is cut off
type /att\tnote\t
wait > /attach notes.txt
type \r
wait notes.txt comes with
type /attach x.t\t\r
wait x.txt comes with
type /det\tx\t\r
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
type \x12some noth
wait nothing found
type \x07
gone search
type \x12load
wait > /load first
type \x03/lo\tfir\t
wait > /load first
type \x03/compact\r
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

folds=$(model folds '{"turns":[
{"purpose":"summary","text":"# Task\ntalk\n# Decisions\n# Progress\n# Blockers\n# Context","when":"the names","repeat":"forever"},
{"when":"long","text":"aaaa bbbb cccc","chunk":5,"first_delay":"1ms","delay":"90s"},
{"text":"Hello, ${turn}. This answer is long enough for a summary to be shorter.","repeat":"forever"}]}')
printf 'one\ntwo\nthree\nfour\n' | "$WEND" chat -m "$folds" >"$out" 2>"$err"
on_screen 80x24 "$WEND chat -c" <<STEPS
wait help lists
type long\r
wait aaaa
type /compact the names\r
gone > /compact
type \e
wait stopped
type next\r
wait (summary)
wait Hello
type \x04
STEPS
has "/compact: while the model answers" "$out" "was shortened (summary): "
lacks "/compact: the user is not told what the user asked" "$out" "by api"

# The numbers are those of the conversation that is shown.
printf '%s\n' one /context /clear "$(seq -s ' ' 1 400)" /context '/load numbers' \
    /context | "$WEND" chat -m "$talks" --session numbers >"$out" 2>"$err"
grep -o '[0-9]* tokens; the window' "$err" >counts
is "/context: three times" "$(wc -l <counts)" 3
is "/context: after /load" "$(sed -n 3p counts)" "$(sed -n 1p counts)"
[ "$(sed -n 2p counts)" != "$(sed -n 1p counts)" ]
ok "/context: after /clear"

# A message that does not fit can be taken back.
printf 'wend: agent/1\nmodel: "%s"\ncontext_tokens: 400\ntools: []\n' "$talks" \
    >small.yaml
on_screen 40x24 "$WEND chat -a small.yaml --notes off" <<STEPS
wait help lists
type $(seq -s ' ' 1 900)\r
wait /clear
run touch seen
type /undo\r
wait left out
type \x15hi\r
wait Hello
type \x04
STEPS
is "a message over the window: exit status" $status 0
for word in overflow shorten conversation context_tokens; do
    grep -qw -- "$word" "$out"
    ok "a message over the window: '$word' is not broken"
done
[ -e seen ]
ok "a message over the window: what to do"
finish
