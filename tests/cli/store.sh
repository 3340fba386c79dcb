#!/usr/bin/env bash
# store.sh - a store that cannot be used: exit status 74, said why, and
# nothing is broken by it.
[ "$(id -u)" != 0 ] || mounts=wanted
. "$(dirname "$0")/lib.sh"

# The last line is the error, and it says that it was not kept.
refused_to_write() { # NAME TEXT-ON-STDERR
    exits "$1" 74 "$WEND" run -m "$hello" hi
    has "$1: said" "$err" "$2"
    is "$1: nothing on stdout" "$(cat "$out")" ""
    exits "$1, --json" 74 "$WEND" run --json -m "$hello" hi
    tail -1 "$out" >last
    is "$1: the last line" "$(json last "$(at type)||' '||$(at kept)||' '||
        $(at code)||' '||(length($(at message)) > 10)")" "error 0 store 1"
}

refused() { # NAME TEXT-ON-STDERR: nor can it be read
    refused_to_write "$@"
    exits "$1, runs" 74 "$WEND" runs
}

export WEND_STORE=$work/foreign.db
sqlite3 "$WEND_STORE" 'CREATE TABLE t (x)'
before=$(sha256sum <"$WEND_STORE")
refused "another program's file" "is not a wend store"
is "it is not touched" "$(sha256sum <"$WEND_STORE")" "$before"

export WEND_STORE=$work/text.db
echo "this is no database, only a text that is long enough" >"$WEND_STORE"
refused "no database at all" "store $WEND_STORE"

export WEND_STORE=$work/newer.db
run "$WEND" run -m "$hello" hi
sqlite3 "$WEND_STORE" 'PRAGMA user_version = 99' >/dev/null
refused "a newer version" "newer wend"

export WEND_STORE=$work/nowhere/wend.db
refused "no such directory" "store $WEND_STORE"

export WEND_STORE=$work
refused "a directory" "is not a file"

# Root writes what others may not: for it the whole place is read-only.
mkdir "$work/fixed"
export WEND_STORE=$work/fixed/wend.db
if [ "$(id -u)" != 0 ]; then
    run "$WEND" run -m "$hello" hi
    chmod 400 "$WEND_STORE"
    refused_to_write "a read-only file" "read-only"
    exits "a read-only file is read" 0 "$WEND" runs
elif may_mount && mount -t tmpfs -o size=4m none "$work/fixed"; then
    run "$WEND" run -m "$hello" hi
    mount -o remount,ro "$work/fixed"
    refused_to_write "a read-only place" "read-only"
    exits "a read-only place is read" 0 "$WEND" runs
    umount "$work/fixed"
else
    skip "a read-only store" "no right to mount"
fi

# The default place is made, for us alone.
unset WEND_STORE
exits "the default place" 0 "$WEND" run -m "$hello" hi
is "the default place" \
    "$(stat -c %a "$HOME/.local/share/wend/wend.db")" 600
export WEND_STORE=$work/wend.db
exits "--store" 0 "$WEND" run --store "$work/own.db" -m "$hello" hi
is "--store is before WEND_STORE" \
    "$("$WEND" runs --json; "$WEND" runs --json --store "$work/own.db" | wc -l)" 1

# A full disk. The runs before it stay readable.
mkdir "$work/small"
if may_mount && mount -t tmpfs -o size=300k none "$work/small"; then
    export WEND_STORE=$work/small/wend.db
    exits "before the disk is full" 0 "$WEND" run -m "$hello" first
    head -c 200000 /dev/urandom | base64 -w0 >large
    "$WEND" run --json -m "$hello" <large >"$out" 2>"$err"
    is "disk full: exit status" $? 74
    has "disk full: said" "$err" "store"
    tail -1 "$out" >last
    is "disk full: the last line" \
        "$(json last "$(at type)||' '||$(at kept)||' '||$(at code)")" \
        "error 0 store"
    "$WEND" replay --speed 0 "$("$WEND" runs --json |
        sed -n '$s/.*"run":"\([^"]*\)".*/\1/p')" >"$out" 2>"$err"
    is "disk full: the run before is readable" "$(cat "$out")" "Hello there."
    umount "$work/small"
else
    skip "disk full" "no right to mount"
fi

# Another writer holds it for longer than anyone waits.
export WEND_STORE=$work/locked.db
exits "before it is locked" 0 "$WEND" run -m "$hello" first
mkfifo hold
sqlite3 "$WEND_STORE" <hold >/dev/null &
exec 9>hold
echo 'BEGIN EXCLUSIVE; SELECT 1;' >&9
locked() { ! sqlite3 "$WEND_STORE" 'BEGIN IMMEDIATE; ROLLBACK'; }
soon locked
run timeout 60 "$WEND" run --json -m "$hello" second
is "locked: exit status" $status 74
has "locked: said" "$err" "store"
tail -1 "$out" >last
is "locked: the last line" \
    "$(json last "$(at type)||' '||$(at kept)||' '||$(at code)")" \
    "error 0 store"
exec 9>&-
wait
exits "unlocked: usable again" 0 "$WEND" run -m "$hello" third
run "$WEND" runs --json
has "unlocked: the first run is there" "$out" '"prompt":"first"'
# ---- Too many open files --------------------------------------------------------

few() { # N: descriptors
    export WEND_STORE=$work/few.db
    rm -f "$WEND_STORE"*
    (
        ulimit -n "$1"
        exec "$WEND" run -m 'script:{"turns":[{"text":"hello"}]}' hi
    ) >"$out" 2>"$err" </dev/null
    status=$?
}
worst= said=0
for n in $(seq 4 40); do
    few "$n"
    case $status in
    0) [ "$(cat "$out")" = hello ] || worst="$worst $n:output" ;;
    127) ;; # the loader
    1 | 2 | 74)
        grep -qi 'too many' "$err" || worst="$worst $n:$(cat "$err")"
        said=$((said + 1))
        ;;
    *) worst="$worst $n:$status" ;;
    esac
done
is "with few descriptors: done, or said why not" "$worst" ""
[ $said -gt 3 ]
ok "with few descriptors: some are too few"
is "with few descriptors: some are enough" "$status" 0

# ---- Names that are no file --------------------------------------------------

exits "an empty path" 2 "$WEND" run --store "" -m "$hello" hi
has "an empty path: what to give" "$err" "the path of the store is empty"
for name in memory: :memory: sqlite::memory:; do
    mkdir -p empty
    (cd empty && run "$WEND" run --store $name -m "$hello" hi && exit $status)
    is "$name: exit status" $? 0
    is "$name: no file is made" "$(ls -A empty)" ""
done
WEND_STORE='' HOME=$work/home exits "an empty variable is none" 0 \
    "$WEND" run -m "$hello" hi

# ---- Commands that look for runs make no store -----------------------------------

mkdir vacant && cd vacant || exit 2
while read -r code words; do
    # shellcheck disable=SC2086 # words
    exits "no store: $words" "$code" "$WEND" $words --store none.db
    has "no store: $words: said" "$err" "there is no store at none.db"
done <<'EOF'
0 runs
0 runs --json
0 runs --status queued
0 stats
0 verify
0 view --all -o ../page.html
0 resume
0 prune --yes --older-than 2y
2 log last
2 view last
2 replay last
2 diff last last
2 export last
2 context last
2 verify last
2 resume last
2 fork last
2 retry last
2 cancel last
2 approve last call_1
2 rm --yes last
EOF
is "no store: nothing is made" "$(ls -A)" ""
exits "no store: -q says nothing" 0 "$WEND" verify -q --store none.db
is "no store: -q says nothing" "$(cat "$out" "$err")" ""
run "$WEND" doctor --offline -m "$hello" --store wend.db
grep -qE '^ok +store +wend.db: not there yet; the first run makes it' "$out"
ok "no store: doctor: a run can make it"
is "no store: doctor makes nothing" "$(ls -A)" ""
mkdir home
env -u WEND_STORE HOME="$PWD/home" "$WEND" runs >"$out" 2>"$err"
is "no store, as usual: exit status" $? 0
has "no store, as usual: said" "$err" "there is no store at $PWD/home/.local/share/wend/wend.db"
env -u WEND_STORE HOME="$PWD/home" "$WEND" doctor --offline -m "$hello" >"$out" 2>"$err"
grep -qE '^ok +store .*: not there yet' "$out"
ok "no store, as usual: doctor"
is "no store, as usual: nothing is made" "$(ls -A home)" ""
exits "no store: a run makes it" 0 "$WEND" run -q -m "$hello" --store wend.db hi
[ -e wend.db ]
ok "no store: a run makes it"
exits "a status that no run has yet" 0 "$WEND" runs --store wend.db --status queued
lacks "a status that no run has yet" "$out" hi
exits "since two years" 0 "$WEND" runs --store wend.db --since 2y
has "since two years" "$out" hi
exits "a run of today is not pruned" 0 "$WEND" prune --store wend.db --yes \
    --older-than 2y
has "a run of today is not pruned" <("$WEND" runs --store wend.db) hi
cd ..
finish
