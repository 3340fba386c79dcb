#!/usr/bin/env bash
# verify.sh - whoever touches a stored run is found out, and the first bad
# event is named; what is whole is not suspected.
. "$(dirname "$0")/lib.sh"

if ! command -v sqlite3 >/dev/null; then
    echo "1..0 # SKIP no sqlite3"
    exit 0
fi

"$WEND" run -q -m 'script:{"turns":[{"text":"hello there","calls":[{"name":
"calculator","args":{"expression":"1"}}]},{"text":"end"}]}' hi >/dev/null 2>&1
head -c 300000 /dev/zero | tr '\0' x | "$WEND" run -q -m "$hello" \
    >/dev/null 2>&1
sqlite3 "$WEND_STORE" "pragma wal_checkpoint(truncate)" >/dev/null
whole=$WEND_STORE
tool_run=$(sqlite3 "$whole" "select run from runs where id = 1")
blob_run=$(sqlite3 "$whole" "select run from runs where id = 2")
events=$(sqlite3 "$whole" "select seq from runs where id = 1")
head=$(sqlite3 "$whole" "select lower(hex(head)) from runs where id = 1")

# ---- Controls: what nobody touched -------------------------------------------

exits "whole: all runs" 0 "$WEND" verify
is "whole: a line a run" "$(grep -c '  ok  ' "$out")" 2
has "whole: the sum" "$err" "2 runs, 0 damaged"
exits "whole: one run" 0 "$WEND" verify "$tool_run"
is "whole: events and head" "$(cat "$out")" \
    "$tool_run  ok  $events events  $head"
exits "whole: its head" 0 "$WEND" verify --head "$head" "$tool_run"
exits "whole: --quiet" 0 "$WEND" verify -q
is "whole: --quiet says nothing" "$(cat "$out" "$err")" ""
exits "whole: --json" 0 "$WEND" verify --json "$tool_run"
is "whole: --json" "$(cat "$out")" \
    "{\"run\":\"$tool_run\",\"ok\":true,\"events\":$events,\"head\":\"$head\"}"

# ---- Usage -----------------------------------------------------------------------

exits "an unknown run" 2 "$WEND" verify ffffffff
exits "two runs" 2 "$WEND" verify last last
exits "--head without a run" 2 "$WEND" verify --head "$head"
exits "--head that is none" 2 "$WEND" verify --head abc last
exits "a file that cannot be made" 2 "$WEND" verify --salvage /nowhere/x last

# ---- Damage ------------------------------------------------------------------------

fresh() {
    export WEND_STORE=$work/damaged.db
    rm -f "$WEND_STORE"*
    cp "$whole" "$WEND_STORE"
}

found() { # NAME RUN FIRST_BAD
    exits "$1: found among all" 1 "$WEND" verify
    exits "$1: found" 1 "$WEND" verify "$2"
    has "$1: the first bad event" "$out" "$2  damaged at event $3: it "
}

damage() { # NAME FIRST_BAD SQL
    fresh
    sqlite3 "$WEND_STORE" "$3"
    found "$1" "$tool_run" "$2"
}

of="run = 1 and seq"
for seq in 1 6 "$events"; do
    damage "flip: a byte of event $seq" "$seq" "update events set body =
        replace(body, 'calc', 'cblc') where $of = $seq and instr(body, 'calc');
        update events set body = substr(body, 1, length(body) - 9) || '0' ||
        substr(body, length(body) - 7) where $of = $seq"
    damage "delete: event $seq" "$seq" "delete from events where $of = $seq"
    damage "truncate: event $seq" "$seq" "update events set body =
        substr(body, 1, length(body) / 2) where $of = $seq"
    damage "flip: the hash of event $seq" "$seq" "update events set hash =
        cast(iif(substr(hash, 1, 1) = x'00', x'01', x'00') ||
        substr(hash, 2) as blob) where $of = $seq"
    damage "truncate: the hash of event $seq" "$seq" "update events set hash =
        substr(hash, 1, 31) where $of = $seq"
done
damage "swap: events 4 and 5" 4 "update events set id = -id
    where $of in (4, 5); update events set id = (1 << 33) + 9 + id where id < 0"
damage "swap: the bodies of 6 and 7" 6 "update events set body = (select body
    from events as e where e.run = 1 and e.seq = 13 - events.seq)
    where $of in (6, 7)"
damage "swap: events of two runs" 3 "update events set id = -id
    where seq = 3; update events set id = (3 << 32) + 6 + id where id < 0"
damage "duplicate: event 3 at the end" $((events + 1)) "insert into events
    (id, body, hash) select (1 << 32) + $events + 1, body, hash from events
    where $of = 3"
damage "duplicate: event 3 before the first" 1 "insert into events
    (id, body, hash) select 1 << 32, body, hash from events where $of = 3"
damage "truncate: the end of the log" 13 "delete from events where $of > 12"
damage "truncate: the end, and the run says so" 12 "delete from events
    where $of > 12; delete from deltas where $of > 11; update runs set seq = 12, head = (select hash from events
    where $of = 12) where id = 1"
damage "truncate: all of the log" 1 "delete from events where run = 1;
    delete from deltas where run = 1"
damage "delete: deltas" 6 "delete from deltas where $of = 5"
damage "flip: deltas" 6 "update deltas set body = replace(body, 'hell', 'hall')
    where $of = 5"
damage "duplicate: deltas" 6 "insert into deltas (id, seq, n, count, body)
    select id + 1, seq, n + count, count, body from deltas where $of = 5"
damage "flip: the number of a delta" 6 "update deltas set n = n + 1
    where $of = 5"
damage "flip: the count of deltas" 6 "update deltas set count = count + 1
    where $of = 5"
damage "swap: deltas of another event" 6 "update deltas set seq = 6
    where $of = 5"
damage "duplicate: deltas after the end" $((events + 1)) "insert into deltas
    (id, seq, n, count, body) select (1 << 32) + $events, $events, 1, count, body
    from deltas where $of = 5"
damage "flip: the head of the run" "$events" "update runs set head =
    zeroblob(32) where id = 1"
for row in "prompt = 'other'" "agent = 'other'" "model = NULL" "user = 'eve'" \
    "parent = '$blob_run'"; do
    damage "flip: runs, $row" 1 "update runs set $row where id = 1"
done
for row in "status = 'failed'" "turns = 1" "tokens_in = 7" "cost = 1" \
    "ended = ended + 1" "ended = NULL"; do
    damage "flip: runs, $row" "$events" "update runs set $row where id = 1"
done
damage "truncate: all of the log, and the run says so" 1 "delete from events
    where run = 1; delete from deltas where run = 1;
    update runs set seq = 0 where id = 1"
damage "flip: runs, seq" 12 "update runs set seq = 12 where id = 1"
for change in "body = substr(body, 2)" "body = 'y' || substr(body, 2)" \
    "hash = 'f' || substr(hash, 2)"; do
    fresh
    sqlite3 "$WEND_STORE" "update blobs set $change"
    found "blob: $change" "$blob_run" 1
done
fresh
sqlite3 "$WEND_STORE" "delete from blobs"
found "delete: a blob" "$blob_run" 1

fresh
sqlite3 "$WEND_STORE" "update runs set run = char(27) || 'x' where id = 1"
exits "flip: the id of a run" 1 "$WEND" verify
has "flip: the id of a run, said" "$out" "has an invalid id"
has "flip: the id of a run, and the others" "$out" "$blob_run  ok"
lacks "flip: the id of a run, as text" "$out" $'\e'
exits "flip: the id of a run, as JSON" 1 "$WEND" verify --json
is "flip: the id of a run, as JSON" "$(json "$out" "$(at ok)" | sort |
    tr '\n' ' ')" "0 1 "

fresh
sqlite3 "$WEND_STORE" "delete from runs where id = 1"
exits "delete: the row of a run" 1 "$WEND" verify
has "delete: the row of a run, said" "$err" "rows of events belong to no run"

# Bytes of the file itself, on each page that it has. What SQLite cannot read
# at all is a store that failed.
for ((page = 1; page < $(stat -c %s "$whole") / 8192; page++)); do
    fresh
    for at in 0 8100; do
        printf '\377\001\377\377' | dd of="$WEND_STORE" bs=1 conv=notrunc \
            seek=$((page * 8192 + at)) status=none
    done
    run "$WEND" verify
    [ $status = 1 ] || [ $status = 74 ]
    ok "flip: bytes of page $page"
done

# ---- Who computes the chain anew -----------------------------------------------------

bytes_of() { printf "$(sed 's/../\\x&/g' <<<"$1")"; } # HEX
forge() { # every hash of run 1 as the bodies now want it
    local last seq hash
    last=$(printf '%064d' 0)
    for seq in $(seq 1 "$events"); do
        hash=$({
            bytes_of "$last"
            sqlite3 "$WEND_STORE" "select body from deltas where run = 1 and
                seq = $seq - 1 order by n" | tr -d '\n'
            sqlite3 "$WEND_STORE" "select '{\"run\":\"' || runs.run || '\",' ||
                substr(body, 2) from events join runs on runs.id = events.run
                where runs.id = 1 and events.seq = $seq" | tr -d '\n'
        } | sha256sum | cut -d' ' -f1)
        echo "update events set hash = x'$hash' where run = 1 and seq = $seq;"
        last=$hash
    done >"$work/forged.sql"
    echo "update runs set head = x'$last' where id = 1;" >>"$work/forged.sql"
    sqlite3 "$WEND_STORE" <"$work/forged.sql"
}
fresh
forge
exits "forged without a change (control)" 0 "$WEND" verify --head "$head" \
    "$tool_run"
sqlite3 "$WEND_STORE" "update events set body = replace(body, 'hello', 'hallo')
    where run = 1"
exits "changed, not yet forged" 1 "$WEND" verify "$tool_run"
forge
exits "forged: the chain holds" 0 "$WEND" verify "$tool_run"
exits "forged: --head finds it" 1 "$WEND" verify --head "$head" "$tool_run"
has "forged: what is said" "$out" "no event has the hash"
export WEND_STORE=$whole
older=$(sqlite3 "$whole" "select lower(hex(hash)) from events
    where run = 1 and seq = 9")
exits "the hash of an older event" 1 "$WEND" verify --head "$older" "$tool_run"
has "the hash of an older event: what is said" "$out" "damaged at event 10"

# ---- Salvage ---------------------------------------------------------------------------

fresh
sqlite3 "$WEND_STORE" "delete from events where run = 1 and seq = 9"
exits "salvage" 1 "$WEND" verify --salvage "$work/saved" "$tool_run"
is "salvage: private" "$(stat -c %a "$work/saved")" 600
is "salvage: the good events" "$(grep -c '^{"hash":' "$work/saved")" 8
is "salvage: the last line" "$(tail -1 "$work/saved")" "{\"end\":\"$tool_run\",\
\"seq\":8,\"head\":\"$(sqlite3 "$whole" "select lower(hex(hash)) from events
    where run = 1 and seq = 8")\"}"
exits "salvage: all runs, to standard output" 1 "$WEND" verify -q --salvage -
is "salvage: all runs" "$(grep -c '^{"end":' "$out")" 2
fresh
sqlite3 "$WEND_STORE" "update runs set prompt = 'other' where id = 1"
exits "salvage: only the list is wrong" 1 "$WEND" verify --salvage \
    "$work/saved" "$tool_run"
is "salvage: then all events are good" "$(grep -c '^{"hash":' "$work/saved")" \
    "$events"
exits "salvage: no room" 1 "$WEND" verify --salvage /dev/full "$blob_run"
finish
