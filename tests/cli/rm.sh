#!/usr/bin/env bash
# rm.sh - one run goes, with those that belong to it, and no other.
. "$(dirname "$0")/lib.sh"

there() { "$WEND" runs --json | grep -c "\"run\":\"$1\""; } # RUN

"$WEND" run -q -m "$hello" hi >/dev/null
keep=$(newest)
"$WEND" run -q -m "$sum" hi >/dev/null
id=$(newest)
exits "nobody to ask" 2 "$WEND" rm "$id"
has "nobody to ask: said" "$err" "--yes"
is "nobody to ask: it stays" "$(there "$id")" 1
"$WEND" fork -q --no-run "$id" >/dev/null 2>&1
fork=$(newest)
exits "a run with a fork" 2 "$WEND" rm --yes "$id"
has "a run with a fork: named" "$err" "$fork"
is "a run with a fork: both stay" "$(there "$id")$(there "$fork")" 11
exits "with its fork" 0 "$WEND" rm --yes --with-forks "$id"
is "with its fork: both are gone" "$(there "$id")$(there "$fork")" 00
is "with its fork: no other" "$(there "$keep")" 1

begin "$WEND" run -m "$held" hi
soon in_log "$id" '"type":"text_delta"'
exits "one that is under way" 2 "$WEND" rm --yes "$id"
has "one that is under way: said" "$err" "is active"
killed
exits "one that was interrupted" 0 "$WEND" rm --yes -q "$id"
is "one that was interrupted: silent" "$(cat "$err")" ""
is "one that was interrupted: gone" "$(there "$id")" 0
exits "what is not there" 2 "$WEND" rm --yes "$id"
exits "nothing" 2 "$WEND" rm
exits "the rest is whole" 0 "$WEND" verify
if has_terminal; then
    at_terminal "$WEND rm $keep" "[y]es [n]o" n
    is "no" "$status $(there "$keep")" "1 1"
    at_terminal "$WEND rm $keep" "[y]es [n]o" y
    is "yes" "$status $(there "$keep")" "0 0"
else
    skip "asked" "no script(1) from util-linux"
fi
finish
