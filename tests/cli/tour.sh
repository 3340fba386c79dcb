#!/usr/bin/env bash
# tour.sh - wend tour: each step does what its text says.
. "$(dirname "$0")/lib.sh"
export LC_ALL=C.UTF-8
unset NO_COLOR TMUX VTE_VERSION

# step N: what the tour and its command wrote in that step
step() { sed -n "/^($1 of 9)/,/^($(($1 + 1)) of 9)/p" both; }

# ---- Without a terminal --------------------------------------------------------

"$WEND" tour >both 2>&1 </dev/null
is "the tour ends well" $? 0
step 1 >said
has "a run answers" said "this tour needs no key"
step 2 >said
has "tools were used" said "Each of you pays 6.50."
step 3 >said
has "without a terminal the rule is shown" said "--approve write_file"
is "the note is written" "$(cat wend-tour/note.txt)" "Tuesday: pay the bill."
step 4 >said
has "the plan runs whole" said "5 ok, 0 failed, 0 skipped"
step 5 >said
has "then it is killed" said "Killed."
lacks "before its end" said "5 ok"
step 6 >said
is "one run is interrupted" "$(grep -c interrupted said)" 1
step 7 >said
has "a resume ends it" said "5 ok, 0 failed, 0 skipped"
lacks "what had ended is not run again" said "start    hotels"
step 8 >said
has "a fork of the second run" said "it is 3.25 each"
exits "the fork's origin" 0 "$WEND" runs --store wend-tour/tour.db --json
bill=$(sed -n 's/.*"run":"\([^"]*\)".*"prompt":"Split the bill.*/\1/p' "$out" |
    tail -1)
has "it is the run with the bill" "$out" "\"parent\":\"$bill\""
has "the page is a page" wend-tour/trip.html "<!doctype html>"
has "that of the plan" wend-tour/trip.html "letter"
has "how to continue" both "wend run -m PROVIDER:NAME"
exits "nothing outside the folder" 0 ls -A
is "the folder alone" "$(grep -c wend-tour "$out")" 1

mkdir mine && : >mine/file
exits "a folder of the user's" 2 "$WEND" tour mine
has "is not used" "$err" "mine exists, and is not that of a tour"
is "nor changed" "$(ls -A mine)" file
exits "a folder that cannot be made" 2 "$WEND" tour no/such
has "is named" "$err" "cannot make the folder no/such"

# ---- On a terminal ---------------------------------------------------------------

TERM=xterm on_screen 100x60 "stty -a >before; $WEND tour again; stty -a >after" \
    <<STEPS
wait (1 of 9)
type \\r
wait (2 of 9)
type \\r
wait (3 of 9)
type \\r
wait [y]es
type y
wait (4 of 9)
type \\r
wait (5 of 9)
type \\r
wait Killed
show killed
wait (6 of 9)
type \\r
wait (7 of 9)
type q\\r
STEPS
is "q leaves it" $status 0
is "the note was approved by a key" "$(cat again/note.txt)" \
    "Tuesday: pay the bill."
has "the bars were shown until the kill" killed "hotels"
cmp before after
ok "the modes of the terminal are those of before the kill"

# Left before the first command, by q or Ctrl-C: it starts again.
for keys in 'q\r' '\x03' 'q\r'; do
    TERM=xterm on_screen 80x24 "$WEND tour left" <<STEPS
wait (1 of 9)
type $keys
STEPS
done
is "a tour that was left at once starts again" $status 0
mkdir other && echo "model: mine" >other/config.yaml
exits "a config of the user's" 2 "$WEND" tour other
is "is not changed" "$(cat other/config.yaml)" "model: mine"

# Ctrl-Z: the tour stops with its command, which tidies the terminal first.
TERM=xterm on_screen 80x24 "PS1='$ ' exec bash --norc --noprofile -i" <<STEPS
type '$WEND' tour stopped\\r
wait (1 of 9)
type \\r
wait (2 of 9)
type \\r
wait (3 of 9)
type \\r
wait [y]es
type \\x1a
wait Stopped
show stopped.shown
type clear; fg\\r
wait [y]es
type y
wait (4 of 9)
type q\\r
wait $ 
type exit\\r
STEPS
is "Ctrl-Z: exit status" $status 0
lacks "Ctrl-Z: no question is left" stopped.shown "[y]es"
is "Ctrl-Z: it is asked again" "$(cat stopped/note.txt)" "Tuesday: pay the bill."
finish
