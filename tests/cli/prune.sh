#!/usr/bin/env bash
# prune.sh - old runs go; what is under way neither goes nor waits.
. "$(dirname "$0")/lib.sh"

if ! command -v sqlite3 >/dev/null; then
    echo "1..0 # SKIP no sqlite3"
    exit 0
fi
count() { sqlite3 "$WEND_STORE" "select count(*) from $1"; }

exits "without --older-than" 2 "$WEND" prune
has "without --older-than" "$err" "--older-than"
exits "a word too many" 2 "$WEND" prune --yes --older-than 1h last
exits "no runs" 0 "$WEND" prune --yes --older-than 1h
is "no runs" "$(cat "$out")" "0 runs removed, 0 bytes freed"

big() { head -c 400000 /dev/zero | tr '\0' "$1"; }
big a | "$WEND" run -q -m "$hello" >/dev/null
big b | "$WEND" run -q -m "$hello" >/dev/null
big b | "$WEND" run -q -m "$hello" >/dev/null
"$WEND" run -q -m "$sum" hi >/dev/null
# The first two are a day old.
sqlite3 "$WEND_STORE" "update runs set ended = ended - 86400000000
    where id <= 2"
exits "--dry-run" 0 "$WEND" prune --older-than 2h --dry-run
is "--dry-run" "$(tail -1 "$out")" "2 runs would be removed"
is "--dry-run: the runs, newest first" "$(grep -c "^$("$WEND" runs --json |
    sed -n '3,4s/^{"run":"\([^"]*\)".*/\1  20/p' | paste -sd'|' |
    sed 's/|/\\|^/')" "$out")" 2
exits "without a terminal" 2 "$WEND" prune --older-than 2h
has "without a terminal" "$err" "--yes"
is "without a terminal: all are there" "$(count runs)" 4
for age in 30 1.5; do
    exits "no unit: $age" 2 "$WEND" prune --older-than $age
    has "no unit: $age" "$err" "'$age' has no unit"
done
if has_terminal; then
    at_terminal "'$WEND' prune --older-than 2h" '[y]es [n]o' n
    is "asked: no" "$status $(count runs)" "1 4"
    has "asked: what goes" "$out" "remove these 2 runs?"
    is "asked: listed before" "$(grep -c "^$(newest | cut -c1-4)" "$out")" 2
else
    skip "asked" "no terminal"
fi
is "--dry-run: all are there" "$(count runs) $(count blobs)" "4 2"
exits "prune" 0 "$WEND" prune --yes --older-than 2h --json
is "prune: two runs" "$(json "$out" "$(at runs)||' '||$(at kept)||' '||
    ($(at bytes) > 300000)")" "2 0 1"
is "prune: their rows are gone" "$(count runs) $(sqlite3 "$WEND_STORE" \
    "select count(*) from events where run <= 2") $(sqlite3 "$WEND_STORE" \
    "select count(*) from deltas where run <= 2")" "2 0 0"
is "prune: a blob that another run has stays" "$(count blobs)" 1
exits "prune: the rest is whole" 0 "$WEND" verify
is "prune: no room is left free" \
    "$(sqlite3 "$WEND_STORE" "pragma freelist_count")" 0
exits "prune again" 0 "$WEND" prune --yes -q --older-than 2h
is "prune again, --quiet" "$(cat "$out" "$err")" ""

# A prune that was cut off: the run is marked, and some rows are gone.
sqlite3 "$WEND_STORE" "update runs set status = 'pruned' where id = 3;
    delete from events where run = 3 and seq < 4"
is "cut off: nobody sees the run" "$("$WEND" runs --json | wc -l)" 1
exits "cut off: what is seen is whole" 0 "$WEND" verify
exits "cut off: the next one goes on" 0 "$WEND" prune --yes --older-than 2h
is "cut off: nothing is left" "$(count runs) $(count blobs) $(sqlite3 \
    "$WEND_STORE" "select count(*) from events where run = 3")" "1 0 0"

# A run under way stays, and goes on meanwhile.
"$WEND" run --json -m "$held" >"$work/live" 2>/dev/null </dev/null hi &
live=$!
soon grep -q text_delta "$work/live"
"$WEND" run -q -m "$hello" x >/dev/null
sleep 0.01
exits "beside a run" 0 "$WEND" prune --yes --older-than 1ms
is "beside a run: it stays" "$("$WEND" runs --json |
    grep -c '"status":"running"')$(count runs)" 11
kill -INT $live
wait $live
is "beside a run: it goes on to its end" "$? $(tail -1 "$work/live" |
    grep -c '"outcome":"canceled"')" "130 1"
exits "beside a run: whole" 0 "$WEND" verify

# Many rows, and a writer that does not wait for long.
longest_of() { # COMMAND...: runs while it succeeds; in ms, what one took
    local most=0 began took
    while "$@" 2>/dev/null; do
        began=$(date +%s%N)
        "$WEND" run -q -m "$sum" hi >/dev/null || break
        took=$((($(date +%s%N) - began) / 1000000))
        [ $took -gt $most ] && most=$took
    done
    echo $most
}
some=0
usual=$(longest_of eval '[ $((some++)) -lt 5 ]') # whatever else runs here
sqlite3 "$WEND_STORE" "with recursive n(i) as (select 100 union all
    select i + 1 from n where i < 30000) insert into events (id, body,
    hash) select ((select max(id) from runs) << 32) + i, '{\"x\":' || i || '}',
    zeroblob(32) from n"
sleep 0.01
"$WEND" prune --yes --older-than 1ms >"$work/pruned" 2>&1 &
pruner=$!
longest=$(longest_of kill -0 $pruner)
wait $pruner
is "while others write" "$? $(grep -c 'runs removed' "$work/pruned")" "0 1"
[ "$longest" -lt $((3000 + 10 * usual)) ]
ok "while others write: nobody waits for long ($longest ms, else $usual)"
exits "while others write: whole" 0 "$WEND" verify

# ---- A run goes on in another process ------------------------------------------

steps=$(model steps 'turns:
  - calls: [{name: calculator, args: {expression: "1+1"}}]
    first_delay: 4ms
    repeat: forever')

# How long nothing came of the run between two times, in ms; and how much did.
gaps() { # FROM TO, in seconds
    sed -nE 's/^\{"run":"[^"]*","seq":[0-9]+,"time":([0-9.]+),.*/\1/p' \
        "$work/live" | awk -v from="$1" -v to="$2" '
        $1 >= from && $1 <= to {
            if (last && $1 - last > most) most = $1 - last
            last = $1
            count++
        }
        END { printf "%d %d\n", most * 1000, count }'
}

printf 'wend: agent/1\nloop: off\n' >"$work/calm.yaml"
"$WEND" run --json -a "$work/calm.yaml" -m "$steps" --max-turns 1000000 hi \
    >"$work/live" 2>/dev/null </dev/null &
live=$!
soon grep -q call_end "$work/live"
"$WEND" run -q -m "$hello" old >/dev/null
old=$(sqlite3 "$WEND_STORE" "select max(id) from runs")
# By portions: whoever fills it at once would be what blocks.
for ((i = 0; i < 40; i++)); do
    sqlite3 -cmd '.timeout 9000' "$WEND_STORE" "with recursive n(i) as (select
        $((1000 + i * 250)) union all select i + 1 from n where
        i < $((1249 + i * 250))) insert into events (id, body, hash)
        select ($old << 32) + i, hex(randomblob(1000)), zeroblob(32) from n"
done
pages=$(sqlite3 "$WEND_STORE" "pragma page_count")
sleep 1
began=$(date +%s.%N)
read -r usual _ < <(gaps 0 "$began") # whatever else runs here
exits "a run goes on: prune" 0 "$WEND" prune --yes --older-than 1ms --json
ended=$(date +%s.%N)
is "a run goes on: much is given back" "$(json "$out" "$(at bytes) > 1.5e7")" 1
[ "$(sqlite3 "$WEND_STORE" "pragma page_count")" -lt $((pages / 2)) ]
ok "a run goes on: the file is smaller"
read -r most count < <(gaps "$began" "$ended")
[ "$most" -lt $((2000 + 10 * usual)) ] && [ "$count" -gt 5 ]
ok "a run goes on: it waits at most $most ms (else $usual), and has $count \
events meanwhile"

# Control: somebody who really blocks is seen. The best of some: for a while the
# run goes on with what it has.
mkfifo "$work/hold"
goes_on() { [ "$(gaps "$freed" "$(date +%s.%N)")" != "0 0" ]; }
for ((i = 0; i < 3; i++)); do
    began=$(date +%s.%N)
    rm -f "$work/locked"
    sqlite3 -bail -cmd '.timeout 60000' "$WEND_STORE" <"$work/hold" >/dev/null &
    exec 9>"$work/hold"
    printf '%s\n' 'BEGIN IMMEDIATE;' ".shell touch '$work/locked'" >&9
    soon test -e "$work/locked"
    sleep 4
    freed=$(date +%s.%N)
    echo 'ROLLBACK;' >&9
    exec 9>&-
    soon goes_on
    read -r most count < <(gaps "$began" "$(date +%s.%N)")
    [ "$most" -lt 2000 ] || break
done
[ "$most" -ge 2000 ]
ok "control: whoever blocks it is seen ($most ms)"
kill -INT $live
wait $live
exits "a run goes on: whole" 0 "$WEND" verify
finish
