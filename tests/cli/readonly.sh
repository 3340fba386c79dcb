#!/usr/bin/env bash
# readonly.sh - a store where nothing can be written: all that reads says what
# it says elsewhere, beside a writer, too; what writes says why it cannot.
mounts=wanted
. "$(dirname "$0")/lib.sh"

mkdir "$work/kept" "$work/ro"
if ! may_mount || ! mount --bind "$work/kept" "$work/ro" ||
    ! mount -o remount,bind,ro "$work/ro"; then
    skip "a store that can only be read" "no right to mount"
    finish
fi
# A key there, whose rights nobody can change.
echo sk-canary-0123456789 >"$work/kept/key"
chmod 644 "$work/kept/key"
run "$WEND" run -m openai:x --base-url http://127.0.0.1:9/v1 --timeout 1 \
    --key-file "$work/kept/key" hi
is "a key that others can read: refused" $status 2
run "$WEND" run -m openai:x --base-url http://127.0.0.1:9/v1 --timeout 1 \
    --key-file "$work/ro/key" hi
[ $status != 2 ]
ok "on a read-only mount it is taken"
has "on a read-only mount it is said" "$err" "other users can read the key in"
rm "$work/kept/key"
export WEND_STORE=$work/kept/wend.db
fixed=$work/ro/wend.db
exits "a run" 0 "$WEND" run -q -m "$sum" hi
exits "another" 0 "$WEND" run -q -m "$hello" hi
id=$("$WEND" runs --json | sed -n '1s/^{"run":"\([^"]*\)".*/\1/p')

# ---- Nobody has it open ---------------------------------------------------------

there=$(ls "$work/kept")
for what in "runs --json" "log --json last" "replay --speed 0 --json last" \
    "view last" "stats --json" "verify" "export last" "diff $id last"; do
    # shellcheck disable=SC2086 # words of a command
    exits "${what%% *}" 0 "$WEND" $what --store "$fixed"
    # shellcheck disable=SC2086
    is "${what%% *}: as elsewhere" "$(cat "$out")" "$("$WEND" $what 2>/dev/null)"
done
is "nothing is made beside it" "$(ls "$work/kept")" "$there"
"$WEND" export -o "$work/file" last
writes() { # COMMAND...: says why it cannot
    exits "$1" 74 "$WEND" "$@" --store "$fixed"
    has "$1: what is said" "$err" "store $fixed: is read-only; make"
}
writes run -q -m "$hello" hi
writes import "$work/file"
writes prune --yes --older-than 1d
writes fork --no-run --at 1 "$id"

# ---- Somebody writes it elsewhere -----------------------------------------------

shows() { "$WEND" log --json --store "$fixed" last | grep -qF -- "$1"; }
"$WEND" run -q -m 'script:{"turns":[{"text":"a","first_delay":"60s"}]}' hi \
    >/dev/null 2>&1 &
pid=$!
soon shows '"type":"model_start"'
ok "a writer: what is in its log is seen"
has "a writer: its run is under way" \
    <("$WEND" runs --json --limit 1 --store "$fixed") '"status":"running"'
{ kill -KILL $pid && wait $pid; } 2>/dev/null
has "a writer that died: its run is interrupted" \
    <("$WEND" runs --json --limit 1 --store "$fixed") '"status":"interrupted"'
cp "$WEND_STORE" "$WEND_STORE-wal" "$work"
"$WEND" log --json --store "$fixed" last >"$work/log"
is "a writer that died: all of its log" "$(cat "$work/log")" \
    "$("$WEND" log --json last)"
umount "$work/ro"

# ---- Only a part of it ----------------------------------------------------------

mv "$work/wend.db" "$work/wend.db-wal" "$work/ro"
mount --bind "$work/ro" "$work/ro"
mount -o remount,bind,ro "$work/ro"
exits "a log that cannot be read" 74 "$WEND" runs --store "$fixed"
has "a log that cannot be read: what to do" "$err" "copy all of them"
umount "$work/ro"
rm "$fixed-wal"
: >"$work/ro/none.db"
mount --bind "$work/ro" "$work/ro"
mount -o remount,bind,ro "$work/ro"
exits "one without a list of owners" 0 "$WEND" runs --json --store "$fixed"
exits "an empty file" 74 "$WEND" runs --store "$work/ro/none.db"
exits "no file" 0 "$WEND" runs --store "$work/ro/nothing.db"
has "no file: said" "$err" "there is no store at $work/ro/nothing.db"
exits "no file to run with" 74 "$WEND" run --store "$work/ro/nothing.db" \
    -m "$hello" hi
has "no file to run with: why" "$err" "its directory is read-only"
umount "$work/ro"
finish
