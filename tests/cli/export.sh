#!/usr/bin/env bash
# export.sh - runs as files: what is imported is what was exported, and what
# is not an exported run is refused with its line.
. "$(dirname "$0")/lib.sh"

"$WEND" run -q -m "$sum" hi >/dev/null 2>&1
head -c 300000 /dev/zero | tr '\0' x | "$WEND" run -q -m "$hello" >/dev/null 2>&1
run "$WEND" runs --json
blob_run=$(json "$out" "$(at run)" | head -1)
tool_run=$(json "$out" "$(at run)" | tail -1)
first=$WEND_STORE
second=$work/second.db

exits "export" 0 "$WEND" export -o "$work/tool" "$tool_run"
is "export: nothing is said" "$(cat "$out" "$err")" ""
is "export: private" "$(stat -c %a "$work/tool")" 600
exits "export to standard output" 0 "$WEND" export "$tool_run"
cmp -s "$out" "$work/tool"
ok "export to standard output: the same bytes"
json "$work/tool" "1" >/dev/null
ok "export: JSON lines"
is "export: the first line" "$(head -1 "$work/tool")" \
    "{\"wend\":\"run/1\",\"run\":\"$tool_run\"}"
exits "export: a blob" 0 "$WEND" export -o "$work/blob" "$blob_run"
is "export: the blob once, before its event" \
    "$(sed -n '2s/^\(.......\).*/\1/p' "$work/blob")$(grep -c '^{"blob"' "$work/blob")" \
    '{"blob"1'

# ---- There and back -------------------------------------------------------------

for name in tool blob; do
    eval "id=\$${name}_run"
    exits "import $name" 0 "$WEND" import --store "$second" "$work/$name"
    has "import $name: what is said" "$out" "$id  "
    exits "import $name again" 0 "$WEND" import --store "$second" "$work/$name"
    is "import $name again" "$(cat "$out")" "$id  already exists"
    is "import $name: the same log" "$("$WEND" log --json --store "$second" "$id")" \
        "$("$WEND" log --json "$id")"
    is "import $name: the same replay" \
        "$("$WEND" replay --speed 0 --json --store "$second" "$id" | sha256sum)" \
        "$("$WEND" replay --speed 0 --json "$id" | sha256sum)"
    exits "import $name: export it again" 0 "$WEND" export --store "$second" "$id"
    cmp -s "$out" "$work/$name"
    ok "import $name: the same file again"
done
exits "what was imported is whole" 0 "$WEND" verify --store "$second"
no_times='s/"started":[0-9.]*,//; s/,"imported":true//'
is "and listed alike" "$("$WEND" runs --json --store "$second" | sed "$no_times")" \
    "$("$WEND" runs --json | sed "$no_times")"

cat "$work/tool" "$work/blob" >"$work/both"
exits "two runs in a file, from a pipe" 0 bash -c \
    "'$WEND' import -q --store '$work/third.db' - <'$work/both'"
is "--quiet" "$(cat "$out" "$err")" ""
is "both are there" "$("$WEND" runs --json --store "$work/third.db" | wc -l)" 2
exits "into memory" 0 "$WEND" import --store memory: "$work/both"
is "into memory" "$(grep -c ' events$' "$out")" 2

# A run that was cut off: its beginning is imported, then the rest of it.
n=$(grep -n '"type":"turn_start","turn":1' "$work/tool" | cut -d: -f1)
hash=$(sed -n "${n}s/{\"hash\":\"\([0-9a-f]*\).*/\1/p" "$work/tool")
seq=$(head -"$n" "$work/tool" | grep -c '^{"hash"')
{ head -"$n" "$work/tool"
    echo "{\"end\":\"$tool_run\",\"seq\":$seq,\"head\":\"$hash\"}"; } >"$work/part"
exits "a beginning" 0 "$WEND" import --store "$work/fourth.db" "$work/part"
is "a beginning is interrupted" "$("$WEND" runs --json --store "$work/fourth.db" |
    grep -o '"status":"[a-z]*"')" '"status":"interrupted"'
exits "a beginning is whole" 0 "$WEND" verify --store "$work/fourth.db"
exits "then all of it" 0 "$WEND" import --store "$work/fourth.db" "$work/tool"
is "then all of it: the rest was new" "$(cat "$out")" \
    "$tool_run  $(($(grep -c '^{"hash"' "$work/tool") - seq)) events"
exits "then all of it: whole" 0 "$WEND" verify --store "$work/fourth.db"
is "then all of it: the same log" \
    "$("$WEND" log --json --store "$work/fourth.db" "$tool_run")" \
    "$("$WEND" log --json "$tool_run")"
exits "then the beginning again" 0 "$WEND" import --store "$work/fourth.db" \
    "$work/part"
is "then the beginning again" "$(cat "$out")" "$tool_run  already exists"

# ---- A run and those that it started --------------------------------------------

boss() { # NAME BELOW: an agent that gives its work to the one below
    cat >"$1.yaml" <<EOF
wend: agent/1
name: $1
description: gives work away
model: 'script:{"turns":[{"calls":[{"name":"task","args":{"agent":"$2",
  "prompt":"go on"}}]},{"text":"$1: \${tool_result}"}]}'
agents: [$2.yaml]
EOF
}
cat >low.yaml <<'EOF'
wend: agent/1
name: low
description: computes
model: 'script:{"turns":[{"calls":[{"name":"calculator",
  "args":{"expression":"6*7"}}]},{"text":"low: ${tool_result}"}]}'
tools: [calculator]
EOF
boss middle low
boss top middle
WEND_STORE=$work/family.db
exits "a family" 0 "$WEND" run -q -a top.yaml go
is "a family: three deep" "$(cat "$out")" "top: middle: low: 42"
"$WEND" runs --json >"$work/runs"
is "a family: its runs" "$(wc -l <"$work/runs")" 3
member() { sed -n "s/^{\"run\":\"\([^\"]*\)\",.*\"agent\":\"$1\".*/\1/p" "$work/runs"; }
top=$(member top) middle=$(member middle) low=$(member low)
exits "a family as a file" 0 "$WEND" export -o "$work/family" "$top"
is "its runs in order, each after the one that started it" \
    "$(sed -n 's/^{"wend":"run\/1","run":"\([^"]*\)"}$/\1/p' "$work/family")" \
    "$top"$'\n'"$middle"$'\n'"$low"
other=$work/elsewhere.db
exits "a family elsewhere" 0 "$WEND" import --store "$other" "$work/family"
is "elsewhere: all were new" "$(grep -c ' events$' "$out")" 3
for what in "runs --json" "replay --speed 0 --json $top" "view $top" "view $low" \
    "stats --json" "log --json $low"; do
    # shellcheck disable=SC2086 # words of a command
    is "elsewhere: ${what% *}" \
        "$("$WEND" $what --store "$other" | sed "$no_times")" \
        "$("$WEND" $what | sed "$no_times")"
done
exits "elsewhere: whole" 0 "$WEND" verify --store "$other"
"$WEND" export --store "$other" "$top" | cmp -s - "$work/family"
ok "elsewhere: the same file again"
exits "a child has the ones below it" 0 "$WEND" export -o "$work/child" "$middle"
is "a child: two runs" "$(grep -c '^{"wend"' "$work/child")" 2
cat "$work/child" "$work/family" >"$work/joined"
exits "a run may stand in a file twice" 0 \
    "$WEND" import --store "$work/twice.db" "$work/joined"
is "twice: the second time it is there already" \
    "$(grep -c 'already exists' "$out")" 2
exits "what verify saves of one run is that run" 0 \
    "$WEND" verify -q --salvage "$work/saved" "$top"
is "saved: one run" "$(grep -c '^{"wend"' "$work/saved")" 1
exits "a parent alone" 0 "$WEND" import --store "$work/alone.db" "$work/saved"
exits "alone: it is exported as it is" 0 \
    "$WEND" export --store "$work/alone.db" "$top"
cmp -s "$out" "$work/saved"
ok "alone: the same file"
exits "then its children" 0 "$WEND" import --store "$work/alone.db" "$work/family"
is "then its children: only they were new" "$(grep -c ' events$' "$out")" 2

# A fork shares the past in which a child was started.
at=$("$WEND" log --json --type child_end "$top" | sed 's/.*"seq":\([0-9]*\).*/\1/')
exits "a fork of the family" 0 "$WEND" fork --no-run --at "$at" "$top"
fork=$("$WEND" runs --json --limit 1 | sed 's/^{"run":"\([^"]*\)".*/\1/')
exits "a fork as a file" 0 "$WEND" export -o "$work/forked" "$fork"
is "a fork: with the children of its past" "$(grep -c '^{"wend"' "$work/forked")" 3
exits "a fork elsewhere" 0 "$WEND" import --store "$work/forked.db" "$work/forked"
exits "a fork elsewhere: whole" 0 "$WEND" verify --store "$work/forked.db"

# One that does not fit keeps all of them out.
sqlite3 "$other" "delete from events where run =
    (select id from runs where run = '$top');
    delete from deltas where run = (select id from runs where run = '$top');
    delete from runs where run = '$top';
    update events set body = replace(body, '{', '{ ') where seq = 3 and
    run = (select id from runs where run = '$low')"
exits "another child is there" 2 "$WEND" import --store "$other" "$work/family"
has "another child: which" "$err" "run $low is in the store already"
lacks "another child: its parent is not stored" \
    <("$WEND" runs --json --store "$other") "\"run\":\"$top\""
exits "a damaged child" 74 "$WEND" export --store "$other" "$middle"
has "a damaged child: which" "$err" "run $low is damaged: event 3"
WEND_STORE=$first

# ---- What is refused ------------------------------------------------------------------

refused() { # NAME LINE WORDS: $work/bad is refused, and nothing is stored
    rm -f "$work/none.db"*
    exits "$1" 2 "$WEND" import --store "$work/none.db" "$work/bad"
    has "$1: the line" "$err" "line $2: $3"
    is "$1: nothing is stored" "$("$WEND" runs --json --store "$work/none.db")" ""
}

lines=$(wc -l <"$work/family")
sed '$s/"seq":/"seq":1/' "$work/family" >"$work/bad"
refused "a child with another end" "$lines" "the end does not fit"
lines=$(wc -l <"$work/tool")
: >"$work/bad"
refused "an empty file" 1 "the file is empty"
echo hello >"$work/bad"
refused "another file" 1 "this is no exported run"
head -c 100000 /dev/urandom >"$work/bad"
refused "noise" 1 "this is no exported run"
sed '1s/run\/1/run\/2/' "$work/tool" >"$work/bad"
refused "another version" 1 "this is no exported run"
sed '5s/"data"/"dbta"/' "$work/tool" >"$work/bad"
refused "an event that was changed" 5 "event 4 does not fit its hash"
sed 5d "$work/tool" >"$work/bad"
refused "an event that is missing" 5 "event 4 does not fit its hash"
sed '5{h;d};6{p;x}' "$work/tool" >"$work/bad"
refused "events that changed places" 5 "event 4 does not fit its hash"
sed 5p "$work/tool" >"$work/bad"
refused "an event twice" 6 "event 5 does not fit its hash"
sed '5s/$/ /' "$work/tool" >"$work/bad"
refused "a space too many" 5 "no line of an exported run"
sed '$d' "$work/tool" >"$work/bad"
refused "no end" "$lines" "the end of the run is missing"
sed '$s/"seq":/"seq":1/' "$work/tool" >"$work/bad"
refused "another end" "$lines" "the end does not fit"
head -c $(($(stat -c %s "$work/tool") / 2)) "$work/tool" >"$work/bad"
exits "half of it" 2 "$WEND" import --store "$work/none.db" "$work/bad"
cat "$work/tool" - <<<'more' >"$work/bad"
refused "something behind it" $((lines + 1)) "this is no exported run"
sed '2s/xxx/xyx/' "$work/blob" >"$work/bad"
refused "a blob that was changed" 2 "the blob is not what its hash says"
sed 2d "$work/blob" >"$work/bad"
refused "a blob that is missing" 2 "event 1 cannot be read"
sed 2p "$work/blob" >"$work/bad"
refused "a blob twice" 3 "the blob stands there twice"
n=$(grep -n '"deltas":' "$work/tool" | head -1 | cut -d: -f1)
sed "${n}s/\"count\":/\"count\":1/" "$work/tool" >"$work/bad"
refused "deltas that were changed" "$n" "event "
other=${tool_run%?}$(tr 0-9a-f 1-9a-f0 <<<"${tool_run: -1}")
sed "s/$tool_run/$other/" "$work/tool" >"$work/bad"
refused "another id" 2 "event 1 does not fit its hash"
sed "1s/$tool_run/$other/" "$work/tool" >"$work/bad"
refused "another id in the first line" "$lines" "the run's own events"

# The same id, and another run.
sqlite3 "$second" "delete from events where run = 1 and seq > 4;
    delete from deltas where run = 1 and seq > 3;
    update events set body = replace(body, '{', '{ ') where run = 1 and seq = 3"
exits "another run with the id" 2 "$WEND" import --store "$second" "$work/tool"
has "another run with the id: said" "$err" "is another from event 3 on"

exits "a file that is not there" 2 "$WEND" import "$work/nothing"
exits "a directory" 2 "$WEND" import "$work"
exits "no file" 2 "$WEND" import
exits "no run" 2 "$WEND" export
exits "an unknown run" 2 "$WEND" export ffffffff
exits "a damaged run" 74 "$WEND" export --store "$second" "$tool_run"
has "a damaged run: the event" "$err" "event 3 does not fit its hash"
"$WEND" export -o "$work/good" --store "$first" "$tool_run" 2>/dev/null
cp "$first" "$work/bad.db"
sqlite3 "$work/bad.db" "pragma wal_checkpoint(truncate); vacuum" >/dev/null
dd if=/dev/urandom of="$work/bad.db" bs=8192 seek=2 count=30 conv=notrunc \
    2>/dev/null
exits "into a damaged store" 74 "$WEND" import --store "$work/bad.db" "$work/good"
lacks "into a damaged store: the file is not blamed" "$err" "$work/good"
exits "no room" 1 "$WEND" export -o /dev/full "$blob_run"
WEND_STORE=$first
finish
