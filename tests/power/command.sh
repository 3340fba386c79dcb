#!/usr/bin/env bash
# command.sh - the disk fails under the command: exit status 74, said why, and
# nothing that was shown is lost. $WEND is linked to faulty.c.
. "$(dirname "$0")/../cli/lib.sh"
tries=${FAULT_TRIES:-24} # of each kind

# What fails once is over with the process; a disk without room has it again.
faulty() { # KIND AT COMMAND...
    rm -f "$WEND_STORE"* "$work/calls"
    WEND_TEST_FAULT=$1:$2 WEND_TEST_CALLS=$work/calls "${@:3}"
}

# Everything that was shown is kept, and the store is whole.
nothing_lost() {
    [ -s "$work/shown" ] || return 0
    "$WEND" verify -q && "$WEND" log --json --no-deltas last >"$work/kept" &&
        ! grep -qvxF -f "$work/kept" "$work/shown"
}

one() { # KIND AT
    calls=0 failed=0
    faulty "$1" "$2" "$WEND" run --json -m "$sum" hi >"$out" 2>"$err"
    status=$?
    grep '"seq"' "$out" | grep -v '"n":' >"$work/shown"
    read -r calls failed <"$work/calls"
    if [ $status = 74 ] && [ "$failed" = 1 ] && grep -q store "$err" &&
        tail -1 "$out" | grep -q '^{"type":"error","kept":false,.*"store"'; then
        stopped=$((stopped + 1))
    elif [ $status = 0 ]; then # after the last event: nothing was lost
        good=$((good + 1))
        tail -1 "$out" | grep -q '"type":"run_end"' || bad="$bad $1:$2"
    else
        bad="$bad $1:$2($status)"
    fi
    nothing_lost || bad="$bad $1:$2(lost)"
    [ ! -s "$work/shown" ] && return
    if "$WEND" resume -q >"$out" 2>"$err"; then
        finished=$((finished + 1))
    else
        bad="$bad $1:$2(resume)"
    fi
}

faulty io 0 "$WEND" run -q -m "$sum" hi >/dev/null
ok "nothing fails (control)"
read -r all _ <"$work/calls"
[ "$all" -gt 50 ]
ok "there are calls to fail ($all)"
[ "$tries" -lt "$all" ] || tries=$all
many() { # KIND
    good=0 stopped=0 finished=0 bad=
    for ((i = 0; i < tries; i++)); do
        one "$1" $((1 + i * all / tries))
    done
}
for kind in io full; do
    many $kind
    is "$kind: 74 or done, and nothing lost" "$bad" ""
    [ $stopped -gt $((tries / 2)) ] && [ $finished -gt 0 ]
    ok "$kind: $stopped stopped, $good were done, $finished gone on with"
done
tries=6
many silent
grep -qF '(lost)' <<<"$bad"
ok "silent: what a disk loses without a word is noticed (control)" ||
    echo "# $bad"
finish
