#!/usr/bin/env bash
# fork.sh - runs that share another one's past: made, gone on with, checked,
# moved, shown.
. "$(dirname "$0")/lib.sh"

talk=$(model talk '{"turns":[{"when":"French","text":"Quarante-deux."},
{"text":"Let me see. ","calls":[{"name":"calculator","args":{"expression":
"6*7"}}]},{"text":"It is ${tool_result}."},{"text":"Again."}]}')
other=$(model other '{"turns":[{"text":"I am another.","repeat":"forever"}]}')
ids() { "$WEND" runs --json | sed -n 's/.*"run":"\([^"]*\)".*/\1/p'; }

"$WEND" run -q -m "$talk" 'What is 6*7?' >/dev/null 2>&1
parent=$(newest)
"$WEND" log --json "$parent" >before
last=$(sed -n 's/.*"seq":\([0-9]*\),"time.*/\1/p' before | tail -n 1)

# ---- Usage ------------------------------------------------------------------------

while IFS='|' read -r name said args; do
    exits "$name" 2 eval "\"\$WEND\" fork $args"
    has "$name: said" "$err" "$said"
done <<END
no run|expected a run|
an unknown run|run 'ffffffff' not found|ffffffff
event 0|'0' is not a number from 1 upwards|last --at 0
an event that is a delta's|'5.1' is not a number|last --at 5.1
past the end|has no event 99: they are 1 to $last|last --at 99
the end itself|fork at $((last - 1)) or before|last --at $last
a result of nothing|expected CALL=TEXT|last --result 42
a call that is not there|no call or action 'call_9'|last --result call_9=1
a call that is not open|is open at event 3|last --at 3 --result call_1=1
an empty message|the message is empty|last ''
a model that is none|nowhere|last -m script:/nowhere
a tool that is none|there is no tool 'wurst'|last -t wurst
replay: from where|requires --to SEQ|x >/dev/null 2>&1; "\$WEND" replay last --live
END
is "nothing was made" "$(ids | wc -l)" 1

# ---- Going on ---------------------------------------------------------------------

exits "another message" 0 "$WEND" fork last 'And in' French?
is "another message: the answer" "$(cat "$out")" "Quarante-deux."
child=$(newest)
has "another message: its id is told" "$err" "$child"
is "another message: the log is one" \
    "$("$WEND" log --json "$child" | head -n "$(grep -c . before)" | head -n -1 |
        cmp - <(head -n -1 before) && echo same)" same
exits "--json" 0 "$WEND" fork --json "$parent" 'And in French?'
is "--json: its own events" "$(types "$out")" "run_fork message run_resume \
turn_start context_start context_end model_start text_delta model_end turn_end \
metrics run_end"

exits "another result" 0 "$WEND" fork -q "$parent" --result call_1=43
is "another result: the answer" "$(cat "$out")" "It is 43."
exits "another model" 0 "$WEND" fork -q "$parent" -m "$other" 'Who are you?'
is "another model: the answer" "$(cat "$out")" "I am another."
exits "and it is gone on with" 0 "$WEND" fork -q last 'And now?'
is "and it is gone on with: by the same" "$(cat "$out")" "I am another."
exits "another tool" 0 "$WEND" fork -q --json "$parent" -t read_file 'Well?'
has "another tool: in the log" "$out" '"tools":[{"name":"read_file"'
exits "a limit" 3 "$WEND" fork -q "$parent" --max-turns 2 'Well?'

# A plan's action gives something else.
cat >plan.yaml <<'EOF'
wend: plan/1
name: p
actions:
  - {name: a, type: tool, target: calculator, params: {expression: "6*7"},
     output_key: a}
  - {name: b, type: tool, target: calculator, params: {expression: "$a+1"},
     depends_on: [a], output_key: b}
outputs: {b: $b}
EOF
exits "a plan" 0 "$WEND" plan run -q plan.yaml
is "a plan: its output" "$(cat "$out")" '{"b":43}'
exits "an action's result" 0 "$WEND" fork -q last --result a=1
is "an action's result: the output" "$(cat "$out")" '{"b":2}'
exits "an action's result: whole" 0 "$WEND" verify last

exits "--no-run" 0 "$WEND" fork --no-run "$parent" 'In French!'
id=$(cat "$out")
"$WEND" runs --json -n 1 >listed
has "--no-run: its cost is not known" listed '"cost":null'
is "--no-run: nothing more" "$("$WEND" log --json "$id" | tail -n 1 |
    grep -c '"type":"message"')" 1
exits "--no-run: gone on with" 0 "$WEND" resume -q "$id"
is "--no-run: the answer" "$(cat "$out")" "Quarante-deux."
# What was said after the event is not shared, also not by the list of runs.
exits "before what was said" 0 "$WEND" fork --no-run --at "$last" "$id"
exits "before what was said: whole" 0 "$WEND" verify "$(cat "$out")"
exits "before what was said: listed" 0 "$WEND" runs --limit 1 --json
is "before what was said: the prompt" "$(json "$out" "$(at prompt)")" \
    "What is 6*7?"
exits "--no-run --json" 0 "$WEND" fork --no-run --json --at 3 "$parent"
is "--no-run --json: an object" "$(json "$out" "$(at fork_of)")" "$parent"

exits "replay, then live" 0 "$WEND" replay --speed 0 --to 8 --live -q "$parent"
has "replay, then live: goes on" "$out" "It is 42."
exits "replay --to alone" 0 "$WEND" replay --speed 0 --to 8 --json "$parent"
is "replay --to alone: the last event" "$(json "$out" "$(at seq)" | tail -n 1)" 8

"$WEND" log --json "$parent" | cmp -s - before
ok "the parent is as it was"

# ---- Looking at them ----------------------------------------------------------------

exits "verify" 0 "$WEND" verify
exits "diff" 1 "$WEND" diff "$parent" "$child"
has "diff: where" "$out" "first difference: event $last (run_end) against event $((last + 1)) (message)"
"$WEND" fork -q "$child" 'more' >/dev/null 2>&1
deep=$(newest)
exits "view" 0 "$WEND" view "$deep"
has "view: its parent" "$out" "fork of $child at event"
has "view: and that one's" "$out" "fork of $parent at event $((last - 1))"
for format in svg html; do
    exits "view: $format" 0 "$WEND" view --format $format "$deep"
    sed 's/<[^>]*>//g' "$out" >"$work/shown"
    has "view: $format: lineage" "$work/shown" \
        "fork of $parent at event $((last - 1))"
done
exits "view: json" 0 "$WEND" view --format json "$deep"
is "view: json: lineage" "$(json "$out" "$(at 'lineage[1].run')")" "$parent"
exits "stats" 0 "$WEND" stats --json
is "stats: what is shared counts once" "$(json "$out" "$(at turns)")" \
    "$(sqlite3 "$WEND_STORE" "select count(*) from events
        where type = 'turn_start'")"

# ---- Elsewhere ---------------------------------------------------------------------

exits "export" 0 "$WEND" export "$deep" -o deep.jsonl
exits "import" 0 "$WEND" import --store "$work/there.db" deep.jsonl
exits "import: verified" 0 "$WEND" verify --store "$work/there.db"
"$WEND" export --store "$work/there.db" "$deep" | cmp -s - deep.jsonl
ok "import: exported again it is the same"
"$WEND" log --json "$deep" >here
"$WEND" log --json --store "$work/there.db" "$deep" | cmp -s - here
ok "import: the same log"
exits "import: a fork of it" 0 "$WEND" fork -q --store "$work/there.db" \
    -m "$other" "$deep" x
exits "import: where it is already" 0 "$WEND" import deep.jsonl
sed '$d' deep.jsonl | sed '$d' >cut.jsonl
exits "import: a file that was cut" 2 "$WEND" import --store "$work/no.db" cut.jsonl
sed "s/\"parent\":\"$child\"/\"parent\":\"$parent\"/" deep.jsonl >lie.jsonl
exits "import: another parent" 2 "$WEND" import --store "$work/no.db" lie.jsonl

# ---- Another policy ------------------------------------------------------------------

printf 'wend: tool/1\nname: look\ndescription: d\nclass: read\ncommand: [echo, seen]\n' \
    >look.yaml
"$WEND" run -q --tools look.yaml -m 'script:{"turns":[{"calls":[{"name":"look"}]},
{"text":"${tool_result}","repeat":"forever"}]}' hi >"$out"
has "a program of the run" "$out" "seen"
looks=$(newest)
exits "a rule for a program of the run" 0 "$WEND" fork -q "$looks" --at 5 \
    --approve '!look'
has "a rule for a program of the run: denied" "$out" "denied by policy"
exits "a rule for a tool that it has not" 2 "$WEND" fork -q "$looks" --at 5 \
    --approve '!lok'
has "a rule for a tool that it has not: said" "$err" "there is no tool 'lok'"
exits "a call that had begun, and is denied now" 0 "$WEND" fork -q "$looks" \
    --at 7 --approve '!look'
has "a call that had begun: it does not run again" "$out" "denied by policy"

# ---- Questions that nobody hears ------------------------------------------------------

if has_terminal; then
    writes=$(model writes '{"turns":[{"calls":[{"name":"write_file","args":
{"path":"new.txt","content":"x"}}]},{"text":"${tool_result}."}]}')
    before=$(newest)
    term_begin "echo \$\$ >pid
exec '$WEND' run -t write_file -m '$writes' hi"
    soon is_new "$before"
    waiting=$(newest)
    soon in_log "$waiting" '"type":"approval_ask"'
    at=$("$WEND" log --json "$waiting" |
        sed -n 's/.*"seq":\([0-9]*\),"time.*/\1/p' | tail -n 1)
    kill -KILL "$(cat pid)"
    term_end
    begin timeout 60 "$WEND" fork -q "$waiting" --at "$at"
    soon grep -q "waiting for approval" "$err"
    has "no terminal: it says who can answer" "$err" "wend approve $id call_1'"
    "$WEND" approve "$id" call_1 no
    wait $pid
    is "a question, and no terminal: exit status" $? 0
    has "no terminal: it is denied from elsewhere" "$out" "was not approved"
    exits "a question that another policy answers" 0 timeout 60 "$WEND" fork \
        -q "$waiting" --at "$at" --approve all
    is "another policy: it was done" "$(cat new.txt)" x
    rm new.txt
    timeout 60 "$WEND" resume -q "$waiting" >"$out" 2>"$err" </dev/null &
    pid=$!
    soon grep -q "waiting for approval" "$err"
    "$WEND" approve "$waiting" call_1
    wait $pid
    is "the same, resumed: exit status" $? 0
    is "resumed: it is approved from elsewhere" "$(cat new.txt)" x
else
    skip "a question that nobody hears" "script gives no terminal here"
fi

# ---- Damage -------------------------------------------------------------------------

sqlite3 "$WEND_STORE" "pragma wal_checkpoint(truncate)" >/dev/null
whole=$WEND_STORE
row() { sqlite3 "$whole" "select id from runs where run = '$1'"; }
p=$(row "$parent") d=$(row "$deep")
damage() { # NAME RUN BAD_SEQ BAD_RUN SQL
    export WEND_STORE=$work/damaged.db
    rm -f "$WEND_STORE"*
    cp "$whole" "$WEND_STORE"
    sqlite3 "$WEND_STORE" "$5"
    exits "$1: found" 1 "$WEND" verify --json "$2"
    is "$1: the event" "$(json "$out" "$(at bad_seq)")" "$3"
    is "$1: whose" "$(json "$out" "coalesce($(at bad_run), '$2')")" "$4"
    exits "$1: not gone on from" 74 "$WEND" fork -q "$2" x
    export WEND_STORE=$whole
}
own=$(sqlite3 "$whole" "select min(seq) from events where run = $d")
damage "shared, changed" "$deep" 4 "$parent" \
    "update events set body = replace(body, 'a', 'b') where run = $p and seq = 4"
damage "shared, deleted" "$deep" 4 "$parent" \
    "delete from events where run = $p and seq = 4"
damage "shared, truncated" "$deep" 4 "$parent" \
    "delete from events where run = $p and seq >= 4"
damage "shared, swapped" "$deep" 4 "$parent" \
    "update events set id = -id where run = $p and seq in (4, 5);
     update events set id = ($p << 33) + 9 + id where id < 0"
damage "own, changed" "$deep" "$own" "$deep" \
    "update events set body = replace(body, 'run_fork', 'run_fori')
     where run = $d and seq = $own"
# Then the one in that place is the parent's.
damage "own, deleted" "$deep" "$own" "$child" \
    "delete from events where run = $d and seq = $own"
middle=$("$WEND" fork --no-run "$parent" --at 7 Well?)
damage "own, deleted in the parent's middle" "$middle" 8 "$parent" \
    "delete from events where seq = 8 and run = (select id from runs
     where run = '$middle')"
damage "another parent" "$deep" $((last)) "$parent" \
    "update runs set parent = '$parent' where id = $d"
damage "itself as its parent" "$deep" 1 "$deep" \
    "update runs set parent = '$deep' where id = $d"
damage "the parent's row" "$deep" 1 "$parent" "delete from runs where id = $p"

export WEND_STORE=$work/damaged.db
rm -f "$WEND_STORE"*
cp "$whole" "$WEND_STORE"
sqlite3 "$WEND_STORE" "delete from events where run = $p and seq = 4"
exits "salvage" 1 "$WEND" verify --salvage good.jsonl "$deep"
exits "salvage: what is good is its owner's" 0 "$WEND" import \
    --store "$work/good.db" good.jsonl
has "salvage: which is named" "$out" "$parent  3 events"
exits "prune: a past that is shared stays" 0 "$WEND" prune --yes --older-than 1ms

# A fork's past began before it did.
"$WEND" run -q -m "$hello" hi >/dev/null
sleep 0.2
"$WEND" fork -q last again >/dev/null
"$WEND" log last >lines
lacks "no event before the beginning" lines " -0."
grep -q '^ *+0.000 *1 ' lines
ok "the first event is the beginning" || head -3 lines
finish
