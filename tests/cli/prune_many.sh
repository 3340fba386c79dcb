#!/usr/bin/env bash
# prune_many.sh - thousands of runs are pruned, and no other run waits for it.
. "$(dirname "$0")/lib.sh"

if ! command -v sqlite3 >/dev/null; then
    echo "1..0 # SKIP no sqlite3"
    exit 0
fi

# The best of some: other programs of this machine make a run wait, too.
for ((i = 0; i < 3; i++)); do
    exits "prune beside a run" 0 "$test_dir/../bench/prune.sh" "$WEND" 16000
    read -r _ longest usual <"$out"
    [ "$longest" -ge $((300 + 8 * usual)) ] || break
done
[ "$longest" -lt $((300 + 8 * usual)) ]
ok "the run waits $longest ms at most (else $usual)"
finish
