#!/usr/bin/env bash
# import_large.sh - a file is imported without being held in memory, and an
# import that was killed is completed by the next one.
. "$(dirname "$0")/lib.sh"

# One that keeps what was freed would look like one that holds the file.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}quarantine_size_mb=1

printf 'wend: agent/1\nloop: off\n' >"$work/calm.yaml" # its calls are the same
word=$(printf '%04000d' 7)
many() { # TURNS: the name of a file with a run of so many
    local model
    model=$(model "turns$1" "turns:
  - text: \"$word$word$word$word$word$word$word$word$word$word\"
    chunk: 4000
    calls: [{name: calculator, args: {expression: \"1+1\"}}]
    repeat: $1
  - text: done")
    "$WEND" run -q -a "$work/calm.yaml" -m "$model" --max-turns 1000 hi >/dev/null &&
        "$WEND" export -o "$work/$1.jsonl" last && echo "$work/$1.jsonl"
}

# The most memory that a process has had, in KiB.
peak_of() { # COMMAND...
    local pid peak=0 now
    "$@" >/dev/null &
    pid=$!
    while now=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' /proc/$pid/status) &&
        [ -n "$now" ]; do
        peak=$now
        sleep 0.01
    done 2>/dev/null
    wait $pid && echo "$peak"
}

small=$(many 60) # so that caches are full, too
large=$(many 200)
size=$(($(stat -c %s "$large") / 1024))
[ "$size" -gt 20000 ]
ok "a large file: $size KiB"
few=$(peak_of "$WEND" import --store "$work/small.db" "$small")
much=$(peak_of "$WEND" import --store "$work/large.db" "$large")
[ -n "$few" ] && [ -n "$much" ] && [ $((much - few)) -lt $((size / 3)) ]
ok "memory does not grow with the file: $few and $much KiB"
exits "it is whole" 0 "$WEND" verify --store "$work/large.db"
peak=$(peak_of bash -c 'exec "$0" import --store "$1" - < <(cat "$2")' \
    "$WEND" "$work/pipe.db" "$large")
[ -n "$peak" ] && [ $((peak - few)) -lt $((size / 3)) ]
ok "nor with what comes from a pipe: $peak KiB"
is "a pipe: the same" "$("$WEND" export --store "$work/pipe.db" \
    "$("$WEND" runs --json --store "$work/pipe.db" |
        sed 's/{"run":"\([^"]*\).*/\1/')" | cksum)" "$(cksum <"$large")"

# Killed once a part of the run is there.
id=$(sed -n '1s/.*"run":"\([^"]*\)".*/\1/p' "$large")
"$WEND" runs --store "$work/cut.db" >/dev/null
part() {
    "$WEND" runs --json --store "$work/cut.db" | grep -q "$id" ||
        ! kill -0 $pid 2>/dev/null
}
"$WEND" import --store "$work/cut.db" "$large" >/dev/null 2>&1 &
pid=$!
soon part
kill -KILL $pid
wait $pid 2>/dev/null
is "killed: the run has begun" "$("$WEND" runs --json --store "$work/cut.db" |
    grep -c '"status":"interrupted".*"imported":true')" 1
exits "killed: what is there is whole" 0 "$WEND" verify --store "$work/cut.db"
exits "killed: the same import" 0 "$WEND" import --store "$work/cut.db" "$large"
has "killed: adds the rest" "$out" " events"
exits "killed: all is there" 0 "$WEND" export --store "$work/cut.db" "$id"
cmp -s "$out" "$large"
ok "killed: the same file again"
finish
