#!/usr/bin/env bash
# chat_keys.sh - the keys of a conversation: what is typed while it works, and
# at a question.
. "$(dirname "$0")/lib.sh"
. "$test_dir/chat.inc"
if ! has_terminal || [ ! -x "$test_screen" ]; then
    skip "keys of a chat" "no terminal"
    finish
fi

echo a >x.txt
on_screen 80x24 "$WEND chat -m $talks -t calculator -t edit_file" <<STEPS
wait help lists
type change it\r
wait allow?
type y
wait Hello
wait script, 1.2k
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
{"when":"two","text":"Slow it is.","chunk":4,"delay":"20ms","calls":[{"name":"write_file","args":{"path":"drafted","content":"1"}},{"name":"write_file","args":{"path":"drafted2","content":"1"}}]},
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
wait script, 0
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
finish
