#!/usr/bin/env bash
# prune.sh - many runs are pruned while another process has a run under way.
#
#     tests/bench/prune.sh WEND RUNS    prints the seconds that it takes, then
#                                       in ms how long the run waited: longest
#                                       and tenth longest meanwhile, longest
#                                       and tenth longest before
#
# The longest is often one of other programs on the machine. A turn of that run waits 4 ms for its model and is committed twice. Needs
# sqlite3 and about 8 KB of room for each run, twice.
set -eu
wend=$(realpath "$1") runs=$2
tmp=$(mktemp -d)
live=
leave() {
    [ -z "$live" ] || kill -KILL "$live" 2>/dev/null || true
    rm -rf "$tmp"
}
trap leave EXIT
mkdir "$tmp/home"
export HOME=$tmp/home WEND_STORE=$tmp/wend.db

# ---- The store: copies of a run, in portions as if it had grown ---------------

"$wend" run -q -m 'script:{"turns":[{"calls":[{"name":"calculator",
"args":{"expression":"6*7"}}]},{"text":"It is ${tool_result}."}]}' hi >/dev/null

copies() { # FROM TO
    local n="with recursive n(i) as (select $1 union all
        select i + 1 from n where i < $2)"
    cat <<END
begin;
create temp table one as select * from runs where id = 1;
update one set started = started - 86400000000, ended = ended - 86400000000;
$n insert into runs (id, run, status, agent, model, prompt, started, ended,
    turns, epoch, seq, head) select i, printf('%08x-%04x-7', i >> 16, i & 65535)
    || substr(run, 16), status, agent, model, prompt, started + i, ended + i,
    turns, epoch, seq, head from n, one;
$n insert into events (id, hash, body) select (i << 32) + seq, hash, body
    from n, (select * from events where run = 1);
$n insert into deltas (id, seq, n, count, body) select (i << 32) +
    (id & 0xffffffff), seq, n, count, body
    from n, (select * from deltas where run = 1);
drop table one;
commit;
END
}

{
    echo "pragma synchronous = off;"
    for ((from = 2; from <= runs; from += 500)); do
        to=$((from + 499))
        copies "$from" $((to < runs ? to : runs))
    done
    echo "pragma wal_checkpoint(truncate);"
} | sqlite3 "$WEND_STORE" >/dev/null

# ---- A run beside it ----------------------------------------------------------

cat >"$tmp/script.yaml" <<'END'
turns:
  - calls: [{name: calculator, args: {expression: "1+1"}}]
    first_delay: 4ms
    repeat: forever
END
printf 'wend: agent/1\nloop: off\n' >"$tmp/calm.yaml"
"$wend" run --json -a "$tmp/calm.yaml" -m "script:$tmp/script.yaml" --max-turns 1000000 hi \
    >"$tmp/live" 2>/dev/null </dev/null &
live=$!

longest() { # FROM TO, in seconds: in ms, how long no event came, two numbers
    sed -nE 's/^\{"run":"[^"]*","seq":[0-9]+,"time":([0-9.]+),.*/\1/p' \
        "$tmp/live" | awk -v from="$1" -v to="$2" '
        $1 >= from && $1 <= to {
            if (last) print $1 - last
            last = $1
        }
        END { print to - last }' | sort -gr | awk '
        NR == 1 { most = $1 }
        NR <= 10 { tenth = $1 }
        END { printf "%d %d\n", most * 1000, tenth * 1000 }'
}

sleep 3
began=$(date +%s.%N)
"$wend" prune --yes -q --older-than 1h
ended=$(date +%s.%N)
kill -0 "$live" # it is still there
seconds=$(echo "$began $ended" | awk '{ printf "%.1f", $2 - $1 }')
left=$(sqlite3 "$WEND_STORE" "select count(*) from runs")
[ "$left" = 2 ] || {
    echo "$left runs are left instead of 2" >&2
    exit 1
}
usual=$(longest 0 "$began")
echo "$seconds $(longest "$began" "$ended") $usual"
