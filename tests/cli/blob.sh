#!/usr/bin/env bash
# blob.sh - the long texts of a run, by their hashes.
. "$(dirname "$0")/lib.sh"

long() { head -c 300000 /dev/zero | tr '\0' "$1"; } # without newline
long a >"$work/a"
printf 'tail \e[31m red' >>"$work/a"
long b >"$work/b"
hash() { sha256sum <"$1" | cut -c 1-64; }
a=$(hash "$work/a") b=$(hash "$work/b")
"$WEND" run -q -m "$hello" <"$work/b" >/dev/null
first=$(newest)
# The answer only looks like a reference to what the other run has.
"$WEND" run -q -m "$(model fake "turns: [{text: '{\"blob\":\"$b\",\"bytes\":300000}'}]")" \
    <"$work/a" >/dev/null

exits "blob" 0 "$WEND" blob last "$a"
cmp -s "$out" "$work/a"
ok "blob: its bytes"
exits "a beginning" 0 "$WEND" blob last "${a:0:6}"
cmp -s "$out" "$work/a"
ok "a beginning: its bytes"
exits "-o" 0 "$WEND" blob -o "$work/file" last "$a"
cmp -s "$work/file" "$work/a"
ok "-o: its bytes"
is "-o: private" "$(stat -c %a "$work/file")" 600
exits "what another run has" 2 "$WEND" blob last "$b"
has "what another run has" "$err" "refers to no text whose hash begins with"
is "what another run has: nothing is printed" "$(wc -c <"$out")" 0
exits "control: the other run" 0 "$WEND" blob "$first" "$b"
exits "too short" 2 "$WEND" blob last "${a:0:3}"
exits "no hash" 2 "$WEND" blob last zzzz
exits "no run" 2 "$WEND" blob ffffffff "$a"
exits "one word" 2 "$WEND" blob last
if command -v script >/dev/null; then
    LC_ALL=C.UTF-8 script -qec "'$WEND' blob last $a" /dev/null >"$out" </dev/null
    has "on a terminal: made visible" "$out" $'\xe2\x90\x9b[31m'
    script -qec "'$WEND' blob last $a" /dev/null >"$out" </dev/null
    has "on a terminal in ASCII: made visible" "$out" '?[31m'
    lacks "on a terminal: no escape" "$out" $'\e[31m'
else
    skip "on a terminal" "no script"
fi

# All of a result that was cut.
printf 'wend: tool/1\nname: count\ndescription: d\nclass: read\n%s\n' \
    'command: [seq, "1", "150000"]' >count.yaml
"$WEND" run -q --approve all --tools count.yaml -m "$(model cut 'turns:
  - calls: [{name: count, args: {}}]
  - text: done')" hi >/dev/null
cut=$("$WEND" log --json last | sed -nE \
    's/.*"call_end".* bytes shown; blob ([0-9a-f]{64}).*/\1/p' | head -1)
exits "a result that was cut" 0 "$WEND" blob last "${cut:-none}"
is "a result that was cut: all of it" "$(hash "$out")" "$cut"
is "a result that was cut: its end" "$(tail -1 "$out")" 150000

if command -v sqlite3 >/dev/null; then
    sqlite3 "$WEND_STORE" "update blobs set body = 'x' where hash = '$b'"
    exits "a damaged one" 74 "$WEND" blob "$first" "$b"
    has "a damaged one" "$err" "missing or damaged"
fi
finish
