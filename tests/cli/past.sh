#!/usr/bin/env bash
# past.sh - long conversations: each run has all of the past, the store has it
# once, and every command reads it.
. "$(dirname "$0")/lib.sh"

if ! command -v sqlite3 >/dev/null; then
    echo "1..0 # SKIP no sqlite3"
    exit 0
fi

# ---- 60 exchanges of 2 KB -----------------------------------------------------------

long=$(head -c 1000 /dev/zero | tr '\0' a)
talks=$(model talks "{\"turns\":[{\"text\":\"answer $long\",\"repeat\":\"forever\"}]}")
exchanges() { # FROM TO
    for ((i = $1; i <= $2; i++)); do echo "question $i \\ \"],[{ $long"; done
}
size() { # what the log and its blobs have
    sqlite3 "$WEND_STORE" "SELECT (SELECT sum(length(body)) FROM events)
        + (SELECT coalesce(sum(length(body)), 0) FROM blobs)"
}
exchanges 1 30 | "$WEND" chat -m "$talks" >"$out" 2>"$err"
half=$(size)
exchanges 31 60 | "$WEND" chat -c >"$out" 2>"$err"
all=$(size)
[ $(((all - half) * 10)) -lt $((half * 16)) ]
ok "the store grows with the conversation" || echo "# $half, then $((all - half))"
is "runs" "$("$WEND" runs --json --limit 100 | grep -c .)" 60
id=$(newest)

# ---- Reading ------------------------------------------------------------------------

exits "log" 0 "$WEND" log --json last --type run_start
blob=$(json "$out" "$(at 'data.messages[0].blob')")
is "log: the newest messages" "$(json "$out" "$(at 'data.messages[#-2].text')" |
    cut -c 1-11)" "question 59"
sqlite3 "$WEND_STORE" "SELECT count(*) FROM blobs" >"$work/blobs"
is "log: each chunk is stored once" "$(json "$out" "(SELECT count(*) FROM
    json_each(line.value, '\$.data.messages') AS m WHERE
    json_extract(m.value, '\$.blob') IS NOT NULL)")" "$(cat "$work/blobs")"
exits "a chunk" 0 "$WEND" blob last "$blob"
is "a chunk is a list of messages" "$(sqlite3 :memory: "SELECT
    substr(json_extract(readfile('$out'), '\$[0].text'), 1, 10)")" "question 1"
for command in "log" "view" "diff last" "replay --speed 0"; do
    # shellcheck disable=SC2086 # words
    exits "$command" 0 "$WEND" $command last
done
exits "diff of two" 1 "$WEND" diff last~1 last
exits "verify" 0 "$WEND" verify
asked() { # NAME RUN COUNT: the model of that run is sent every message
    "$WEND" context --json "$2" >"$out" 2>"$err"
    is "$1: all messages" "$(sqlite3 :memory: "SELECT json_array_length(
        readfile('$out'), '\$.messages')")" "$3"
}
asked "context" last 119
has "context: the first of them" "$out" "question 1 "

# ---- Continued, forked, resumed, moved ------------------------------------------------

exits "run -c" 0 "$WEND" run -qc "more"
asked "run -c" last 121
exits "fork" 0 "$WEND" fork -q --at 1 "$id"
asked "fork" last 119
exits "a crash" 0 "$WEND" fork --no-run --at 1 "$id"
exits "resume" 0 "$WEND" resume -q last
asked "resume" last 119
exits "export" 0 "$WEND" export -o "$work/file" "$id"
is "export: each chunk once" "$(grep -c '^{"blob":' "$work/file")" "$(cat "$work/blobs")"
store=$WEND_STORE
export WEND_STORE=$work/other.db
exits "import" 0 "$WEND" import "$work/file"
exits "import: sound" 0 "$WEND" verify "$id"
asked "import" "$id" 119

# ---- What is damaged --------------------------------------------------------------

refused() { # NAME SAID
    rm -f "$work"/third.db*
    exits "$1" 2 env WEND_STORE="$work/third.db" "$WEND" import "$work/bad"
    has "$1: said" "$err" "$2"
}
grep -v "^{\"blob\":\"$blob\"" "$work/file" >"$work/bad"
refused "import without a chunk" "blob $blob cannot be read"
sed "/^{\"blob\":\"$blob\"/s/question 1 /question 0 /" "$work/file" >"$work/bad"
refused "import of a changed chunk" "blob"
sqlite3 "$WEND_STORE" "DELETE FROM blobs WHERE hash = '$blob'"
exits "verify without a chunk" 1 "$WEND" verify "$id"
has "verify without a chunk: said" "$out" "blob $blob cannot be read"
exits "log without a chunk" 74 "$WEND" log "$id"
exits "fork without a chunk" 74 "$WEND" fork -q --at 1 "$id"
export WEND_STORE=$store

# ---- Removed ------------------------------------------------------------------------

sqlite3 "$WEND_STORE" "UPDATE runs SET ended = 1 WHERE run <> '$id'"
exits "prune of all but one" 0 "$WEND" prune --older-than 1h --yes
is "prune of all but one: it stays" "$("$WEND" runs --json | grep -c .) $(newest)" "1 $id"
is "so does what it has" "$(sqlite3 "$WEND_STORE" "SELECT count(*) FROM blobs")" \
    "$(cat "$work/blobs")"
exits "sound without the others" 0 "$WEND" verify
asked "without the others" "$id" 119
exits "rm of the last" 0 "$WEND" rm --yes "$id"
exits "prune again" 0 "$WEND" prune --older-than 1h --yes
is "then its chunks go" "$(sqlite3 "$WEND_STORE" "SELECT count(*) FROM blobs")" 0
finish
