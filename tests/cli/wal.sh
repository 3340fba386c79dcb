#!/usr/bin/env bash
# wal.sh - a write-ahead log that was damaged or cut: the end of a run is lost,
# and that is noticed before anything of it is done again.
. "$(dirname "$0")/lib.sh"

work_of=$(model work 'turns:
  - calls: [{name: calculator, args_text: "{\"expression\":\"1+${turn}\"}"}]
    repeat: 8
  - text: end
    first_delay: 60s')
done_of=$(model done 'turns:
  - text: done')

# A run that was killed, with all it did in the log alone.
"$WEND" run -q -m "$done_of" first >/dev/null
"$WEND" run -q -m "$work_of" hi >/dev/null 2>&1 &
pid=$!
waiting() { [ "$("$WEND" log --json last | grep -c '"type":"model_start"')" = 9 ]; }
soon waiting
kill -KILL $pid
wait $pid 2>/dev/null
mkdir "$work/whole"
cp "$WEND_STORE"* "$work/whole/" # before a command that closes the log
id=$(newest)
wal=$WEND_STORE-wal
size=$(stat -c %s "$work/whole/wend.db-wal")
frame=$((1024 + 24))
fresh() { rm -f "$WEND_STORE"*; cp "$work/whole"/* "$work/"; }
flip() { # BYTE of the log
    printf "\\x$(printf %02x $((0x$(xxd -s "$1" -l 1 -p "$wal") ^ 16)))" |
        dd of="$wal" bs=1 seek="$1" conv=notrunc status=none
}
events_left() { sqlite3 "$WEND_STORE" "select max(seq) from events where run = 2"; }
all=$(sqlite3 "$WEND_STORE" "select max(seq) from events where run = 2")
fresh

# What is refused, what is said, how it goes on; verify finds it before.
refused() { # NAME
    local left
    exits "$1: verify" 1 "$WEND" verify "$id"
    has "$1: verify says" "$out" "is missing"
    run "$WEND" resume -q "$id"
    is "$1: resume" $status 74
    has "$1: resume says" "$err" "run $id has lost its end"
    has "$1: and what to do" "$err" "wend resume --accept-loss $id"
    left=$(events_left)
    [ "$left" -lt "$all" ]
    ok "$1: nothing was done ($left of $all events are left)"
    # It goes on from there; the answer takes a minute.
    "$WEND" resume -q --accept-loss "$id" >/dev/null 2>"$err" &
    pid=$!
    again() { [ "$(events_left)" -gt "$left" ]; }
    soon again
    ok "$1: --accept-loss goes on"
    kill -KILL $pid
    wait $pid 2>/dev/null
    exits "$1: verify afterwards" 0 "$WEND" verify "$id"
    is "$1: the run that was over is left alone" \
        "$("$WEND" verify | grep -c '  ok  ')" 2
}

# Control: the same log, whole.
"$WEND" resume -q "$id" >/dev/null 2>"$err" &
pid=$!
resumed() { "$WEND" log --json "$id" | grep -q '"type":"run_resume"'; }
soon resumed
ok "whole (control): it is resumed"
kill -KILL $pid
wait $pid 2>/dev/null

fresh
truncate -s $((size * 6 / 10)) "$wal"
refused "cut"
fresh
flip $((32 + (size / frame * 6 / 10) * frame + 500))
refused "a bit of a page"
fresh
flip $((32 + (size / frame * 6 / 10) * frame + 9))
refused "a bit of a salt"
fresh
flip $((size - 700))
refused "a bit of the last commit"

# Without the notes the frames behind the bad one tell.
fresh
flip $((32 + (size / frame * 6 / 10) * frame + 500))
: >"$WEND_STORE-lock"
refused "a bit, and no notes"
# Control: neither tells anything about the last commit alone.
fresh
flip $((size - 700))
: >"$WEND_STORE-lock"
exits "the last commit, and no notes (control)" 0 "$WEND" verify "$id"

# ---- What else verify sees -------------------------------------------------------

fresh
sqlite3 "$WEND_STORE" "delete from events where run = 2; delete from deltas where
    run = 2; delete from runs where id = 2"
exits "a run is gone" 1 "$WEND" verify
has "a run is gone: said" "$err" "run $id is gone"
for row in "started = started - 90000000000" "epoch = 0" "epoch = 5000000000"; do
    fresh
    sqlite3 "$WEND_STORE" "update runs set $row where id = 2"
    exits "$row" 1 "$WEND" verify "$id"
done
fresh
sqlite3 "$WEND_STORE" "create table if not exists memory (space text not null, key
    text not null, text text not null, time integer not null, until integer not
    null, primary key (space, key)) without rowid;
    insert into memory (space, key, text, time, until)
    values ('agent/0//a', 'k', x'00ff', 1, 0)"
exits "a fact that is none" 1 "$WEND" verify
has "a fact that is none: said" "$err" "rows of memory"

# Pruned is not gone.
fresh
sqlite3 "$WEND_STORE" "update runs set ended = 1 where id = 1"
exits "pruned: prune" 0 "$WEND" prune --yes --older-than 1d
exits "pruned: verify" 0 "$WEND" verify
# Another store in the same place has other notes.
fresh
rm "$WEND_STORE" "$WEND_STORE"-wal "$WEND_STORE"-shm
"$WEND" run -q -m "$done_of" new >/dev/null
exits "a new store beside old notes" 0 "$WEND" verify
finish
