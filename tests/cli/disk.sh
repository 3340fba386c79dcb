#!/usr/bin/env bash
# disk.sh - no room, a quota, nothing to be written: exit status 74, said why;
# what was shown is kept, the store opens afterwards and the run goes on.
mounts=wanted
. "$(dirname "$0")/lib.sh"

# Some turns, each with a call, of different sizes.
long=$(model long 'turns:
  - text: one two three
    calls: [{name: calculator, args_text: "{\"expression\":\"1+${turn}\"}"}]
    repeat: 20
  - text: done')

# A run that the disk stops; COMMAND... starts it.
stopped() { # NAME SAID COMMAND...
    local name=$1 said=$2
    shift 2
    run "$@"
    is "$name: exit status" $status 74
    has "$name: said" "$err" "$said"
    tail -1 "$out" >"$work/last"
    is "$name: the last line" "$(json "$work/last" "$(at type)||' '||
        $(at kept)||' '||$(at code)||' '||(length($(at message)) > 10)")" \
        "error 0 store 1"
    grep '"seq"' "$out" | grep -v '"n":' >"$work/shown"
}

# With room again: all that was shown is there, and the run is finished.
goes_on() { # NAME
    exits "$1: whole" 0 "$WEND" verify
    [ -s "$work/shown" ] || return 0
    "$WEND" log --json --no-deltas last >"$work/kept"
    is "$1: what was shown is kept" \
        "$(grep -cvxF -f "$work/kept" "$work/shown")" 0
    exits "$1: the run goes on" 0 "$WEND" resume -q
    is "$1: to its end" "$("$WEND" log --json --no-deltas last | tail -1 |
        grep -c '"type":"run_end".*"outcome":"ok"')" 1
}

# ---- A limit of file sizes, as a quota would be ---------------------------------

limited() { # KIB COMMAND...
    (
        ulimit -f "$1"
        "${@:2}"
    )
}

exits "no limit (control)" 0 "$WEND" run --json -m "$long" hi
begun=0
for kib in 4 8 40 70 100 130 160 200 260; do
    rm -f "$WEND_STORE"*
    stopped "limit of $kib KiB" "ulimit -f" \
        limited $kib "$WEND" run --json -m "$long" hi
    [ -s "$work/shown" ] && begun=$((begun + 1))
    goes_on "limit of $kib KiB"
done
[ $begun -gt 2 ]
ok "some were stopped on their way ($begun)"
exits "limit: only reading" 0 limited 0 bash -c \
    '"$0" log --json last | cat >/dev/null' "$WEND"

# ---- No room ---------------------------------------------------------------------------

mkdir "$work/small"
export WEND_STORE=$work/small/wend.db
small() { may_mount && mount -t tmpfs -o size="$1" none "$work/small"; }
if may_mount; then
    begun=0
    for kib in 0 24 60 100 150 180 220 280; do
        small 4m
        # All but so much is taken; the store is made in what is left.
        head -c $((4096 * 1024 - kib * 1024)) /dev/zero >"$work/small/taken"
        stopped "$kib KiB left" "the disk is full" "$WEND" run --json -m "$long" hi
        [ -s "$work/shown" ] && begun=$((begun + 1))
        rm "$work/small/taken"
        goes_on "$kib KiB left"
        umount "$work/small"
    done
    [ $begun -gt 2 ]
    ok "some were stopped on their way ($begun)"

    # A store that has runs already, and a disk that is full from the start.
    small 4m
    exits "before it is full" 0 "$WEND" run -q -m "$hello" first
    head -c 5000000 /dev/zero >"$work/small/taken" 2>/dev/null
    stopped "full" "full" "$WEND" run --json -m "$hello" second
    rm "$work/small/taken"
    goes_on "full"
    exits "full: what was there before" 0 "$WEND" replay --speed 0 last
    is "full: what was there before" "$(cat "$out")" "Hello there."

    # ---- Nothing to be written -----------------------------------------------------

    mount -o remount,bind,ro "$work/small"
    stopped "read-only" "read-only" "$WEND" run --json -m "$hello" third
    mount -o remount,bind,rw "$work/small"
    goes_on "read-only"
    exits "read-only, then not" 0 "$WEND" run -q -m "$hello" third
    umount "$work/small"
else
    skip "no room, read-only" "no namespace of mounts can be made"
fi
finish
