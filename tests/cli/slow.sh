#!/usr/bin/env bash
# slow.sh - a slow reader of stdout slows nothing, and gets everything.
. "$(dirname "$0")/lib.sh"

# Over a megabyte of deltas: more than pipe, buffer and queue hold.
head -c 400000 /dev/zero | tr '\0' 'x' >text
model long "{\"turns\":[{\"text\":\"$(cat text)\",\"chunk\":40}]}" >/dev/null
mkfifo pipe
"$WEND" run --json -m "script:$work/long.script" hi >pipe &
pid=$!
exec 8<pipe
is_over() { [ "$("$WEND" runs --json --status ok | wc -l)" = 1 ]; }
soon is_over
ok "the run is over though nobody reads"
kill -0 $pid 2>/dev/null
ok "the command waits for its reader"
memory=$(awk '/VmRSS/ { print $2 }' "/proc/$pid/status")
cat <&8 >late
wait $pid
is "exit status" $? 0
"$WEND" replay --speed 0 --json last | cmp -s - late
ok "the reader got every byte in the end"
seqs_hold late
ok "seq without gaps"
exec 8<&-
echo "# memory while waiting: $memory kB"

# The same in words.
"$WEND" run -m "script:$work/long.script" hi | { sleep 1; cat; } >late
is "in words: exit status" "${PIPESTATUS[0]}" 0
cmp -s <(cat text; echo) late
ok "in words: all of it"

# A terminal's reader on stderr that is slow does not matter either.
"$WEND" run -v -m "$sum" hi 2>&1 >"$out" | { sleep 0.5; cat; } >late
has "stderr waits, too" late "= 42"
finish
