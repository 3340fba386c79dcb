#!/usr/bin/env bash
# prune_many.sh - thousands of runs are pruned, and no other run waits for it.
. "$(dirname "$0")/lib.sh"

if ! command -v sqlite3 >/dev/null; then
    echo "1..0 # SKIP no sqlite3"
    exit 0
fi

# The best of some: other programs of this machine make a run wait, too. They do
# so now and then, prune with each of its transactions: the tenth longest wait
# tells how long those are.
for ((i = 0; i < 3; i++)); do
    exits "prune beside a run" 0 "$test_dir/../bench/prune.sh" "$WEND" 16000
    read -r _ longest tenth usual usual_tenth <"$out"
    longest_max=$((300 + 8 * usual)) tenth_max=$((40 + 2 * usual_tenth))
    if [ "$longest" -lt $longest_max ] && [ "$tenth" -lt $tenth_max ]; then
        break
    fi
done
[ "$longest" -lt $longest_max ]
ok "the run waits $longest ms at most (else $usual)"
[ "$tenth" -lt $tenth_max ]
ok "and $tenth ms the tenth time (else $usual_tenth)"
finish
