#!/usr/bin/env bash
# damage.sh - a log that was touched is reported with the first bad event,
# never shortened in silence.
. "$(dirname "$0")/lib.sh"

if ! command -v sqlite3 >/dev/null; then
    echo "1..0 # SKIP no sqlite3"
    exit 0
fi

"$WEND" run -q -m 'script:{"turns":[{"text":"hello there","calls":[{"name":
"calculator","args":{"expression":"1"}}]},{"text":"end"}]}' hi >/dev/null 2>&1
whole=$WEND_STORE
exits "an untouched log is whole" 0 "$WEND" log --json last

damage() { # NAME FIRST_BAD SQL
    export WEND_STORE=$work/damaged.db
    rm -f "$WEND_STORE"*
    cp "$whole" "$WEND_STORE"
    sqlite3 "$WEND_STORE" "$3"
    exits "$1: log" 74 "$WEND" log --json last
    has "$1: the first bad event" "$err" "is damaged at event $2"
    exits "$1: replay" 74 "$WEND" replay --speed 0 last
}

damage "an event is missing" 4 "delete from events where seq = 4"
damage "a text is another" 8 \
    "update events set body = replace(body, 'hello', 'hallo') where seq = 8"
damage "deltas are missing" 6 "delete from deltas where seq = 5"
damage "deltas are others" 6 \
    "update deltas set body = replace(body, 'hello', 'hallo')"
damage "the end is missing" 13 "delete from events where seq > 12"
damage "two events changed places" 4 \
    "update events set id = -id where seq in (4, 5);
     update events set id = (-id >> 32 << 33) + 9 + id where id < 0"
damage "a hash is another" 7 \
    "update events set hash = zeroblob(32) where seq = 7"
finish
