#!/usr/bin/env bash
# resume.sh - runs whose process is gone are gone on with.
. "$(dirname "$0")/lib.sh"

start() { # WAIT-FOR OPTIONS...: in the background, until that is in the log
    hold
    begin "$WEND" run "${@:2}" hi
    soon in_log "$id" "$1"
}
field() { # STATUS or another member of the newest run
    "$WEND" runs --json --limit 1 >list && json list "$(at "$1")"
}
resumed() { # what the newest run's log has from run_resume on
    "$WEND" log --json last | sed -n '/"type":"run_resume"/,$p' >events
    types events
}

# ---- A message ------------------------------------------------------------------

start '"text":"one "' -m "$held"
exits "a run that is under way" 2 "$WEND" resume last
has "a run that is under way: said" "$err" "is held by another process"
killed
is "killed: status" "$(field status)" interrupted
hurry
exits "resume" 0 "$WEND" resume last
is "resume: the answer, once more from its beginning" "$(cat "$out")" \
    "one two three four five six seven eight nine"
is "resume: status" "$(field status)" ok
is "resume: order" "$(resumed)" "run_resume model_end model_start text_delta \
model_end turn_end metrics run_end"
has "resume: what was cut off is kept" events \
    '"type":"model_end","turn":0,"turn_id":"'
has "resume: and void" events '"outcome":"superseded","purpose":"answer","text":"one '
"$WEND" log --json last >whole
seqs_hold whole
ok "resume: the log is one"
exits "resume: the log is as written" 0 "$WEND" verify last
start '"text":"one "' -m "$held"
hurry
kill -KILL $pid
exits "an owner that dies just now is waited for" 0 "$WEND" resume last
{ wait $pid; } 2>/dev/null
start '"text":"one "' -m "$held"
hurry
kill -KILL $pid
exits "... also by all that are interrupted" 0 "$WEND" resume
has "... also by all that are interrupted" "$out" "nine"
{ wait $pid; } 2>/dev/null
exits "a run that is over" 2 "$WEND" resume last
has "a run that is over: said" "$err" "is over"
exits "a run that is none" 2 "$WEND" resume nothing
exits "too many" 2 "$WEND" resume a b

# ---- Where it stood --------------------------------------------------------------

two=$(model two '{"turns":[{"calls":[{"name":"calculator",
"args":{"expression":"6*7"}}]},{"text":"slowly it is ${tool_result}",
"first_delay":"0ms","delay":"90s"},{"text":"wrong"}]}')
cp "$work/two.script" here.script
start '"text":"slow"' -m script:here.script
killed
sed -i 's/90s/1ms/' here.script
(cd / && run "$WEND" resume --json last && types "$out" >"$work/order"
    tail -1 "$out" >"$work/last")
is "from elsewhere: the script of its directory, where it was" \
    "$(json "$work/last" "$(at data.text)")" "slowly it is 42"
is "--json: order" "$(cat "$work/order")" "run_resume model_end model_start \
text_delta model_end turn_end metrics run_end"

# The files that the user names, and the programs that they name, are found from
# where the user is; the programs run in the directory of the run.
mkdir -p "$work/other/tools"
(
    cd "$work/other" || exit 2
    for n in own given; do
        printf 'wend: tool/1\nname: %s\ndescription: d\ncommand: [./%s.sh]\n' \
            $n $n >tools/$n.yaml
        printf '#!/bin/sh\ncat mark\necho %s\n' $n >tools/$n.sh
        chmod +x tools/$n.sh
    done
    printf 'wend: script/1\nturns:\n  - {calls: [{name: own}, {name: given}]}\n%s' \
        '  - {text: both ran}' >model.yaml
    printf 'wend: agent/1\nmodel: script:model.yaml\ntools: [tools/own.yaml]\n' \
        >agent.yaml
)
echo here >mark
start '"text":"one "' -m "$held"
killed
(cd "$work/other" && run "$WEND" resume -a agent.yaml --tools tools/given.yaml \
    --sandbox off --approve all last)
is "resume -a --tools from elsewhere" "$(tail -1 "$out")" "both ran"
resumed >"$work/order"
has "the agent's program is found, and runs where the run is" events \
    '"output":"here\nown'
has "that of --tools, too" events '"output":"here\ngiven'

# ---- Ends -------------------------------------------------------------------------

start '"text":"one "' -m "$held"
kill -TERM $pid
wait $pid
is "SIGTERM: exit status" $? 143
has "SIGTERM: says how to go on" "$err" "'wend resume "
# Whenever it comes, what the log has was printed.
quick=$(model quick '{"turns":[{"text":"a b c d e f g h i j k l m n o p q r",
"chunk":2,"delay":"3ms","calls":[{"name":"calculator","args":
{"expression":"1"}}],"repeat":"forever"}]}')
differ=0
for i in 1 2 3 4 5 6; do
    begin "$WEND" run --json --max-turns 1000 -m "$quick" hi
    sleep "0.0$((RANDOM % 90 + 10))"
    kill -TERM $pid
    wait $pid
    "$WEND" log --json "$id" | cmp -s - "$out" || differ=$((differ + 1))
    "$WEND" cancel --force "$id"
done
is "SIGTERM: all that the log has is printed" $differ 0
start '"text":"one "' -m "$held"
killed
hurry
exits "all of them" 0 "$WEND" resume
is "all of them: two answers" "$(grep -c nine "$out")" 2
is "all of them: said" "$(grep -c 'resuming run' "$err")" 2
start '"text":"one "' -m "$held"
killed
hurry
pids= worst=0
for i in 1 2 3 4; do
    "$WEND" resume -q >"$out.$i" 2>&1 &
    pids="$pids $!"
done
for pid in $pids; do wait "$pid" || worst=$?; done
is "several at once: none fails" $worst 0
is "several at once: one does it" "$(cat "$out".? | grep -c nine)" 1

# One that is damaged and one that is paused hold up none of the others.
if command -v sqlite3 >/dev/null; then
    hold
    start '"text":"one "' -m "$held"
    broken=$id
    killed
    sqlite3 "$WEND_STORE" "UPDATE runs SET head = zeroblob(32), seq = seq + 1
        WHERE run = '$broken'"
    start '"text":"one "' -m "$held"
    paused=$id
    "$WEND" pause "$paused"
    killed
    for i in 1 2 3; do
        start '"text":"one "' -m "$held"
        killed
    done
    hurry
    run "$WEND" resume --jobs 2
    [ $status != 0 ]
    ok "passed over: the exit status says so ($status)"
    is "passed over: the others went on" "$(grep -c nine "$out")" 3
    has "passed over: named" "$err" "run $broken was not resumed"
    has "passed over: a line for each" "$err" "exit status 0"
    has "paused: it stays so" "$err" "run $paused is paused"
    exits "paused: it may go on" 0 "$WEND" continue "$paused"
    exits "paused: it goes on" 0 "$WEND" resume "$paused"
    exits "closed by force" 0 "$WEND" cancel --force "$broken"
    exits "closed by force: once" 1 "$WEND" cancel --force "$broken"
    is "closed by force: status" "$("$WEND" runs --json |
        grep -F "$broken" | grep -c '"status":"canceled"')" 1
    hold
    start '"text":"one "' -m "$held"
    exits "what is under way is not forced" 2 "$WEND" cancel --force "$id"
    killed
    hurry
    "$WEND" resume -q "$id" >/dev/null 2>&1
else
    skip "one that is damaged" "no sqlite3"
fi
exits "none is left" 0 "$WEND" resume
has "none is left: said" "$err" "no interrupted runs"
exits "none is left, quietly" 0 "$WEND" resume -q
is "none is left, quietly: nothing said" "$(cat "$err")" ""

# Limits are those of the run, and can be changed; test_clock has the hours in
# which no process has it.
start '"text":"one "' -m "$held" --timeout 1h
killed
exits "the time is over" 3 "$WEND" resume --timeout 1ms last
resumed >/dev/null
has "the time is over: the limit is on record" events \
    '"what":"limits","by":"api","value":{"time_ms":1}'
start '"type":"call_start"' --max-turns 1 --approve all \
    -m "$(model nap '{"turns":[{"calls":[{"name":"shell","args":{"command":
    "[ -e go ] || sleep 90"}}]},{"text":"more"}]}')" -t shell
killed
touch go
exits "one more turn may begin" 0 "$WEND" resume --max-turns 2 last
has "one more turn may begin: it does" "$out" more

# What a file says is run only if the run is named.
start '"text":"one "' -m "$held"
killed
hurry
"$WEND" export -o moved.wend last
WEND_STORE=$work/other.db
"$WEND" import -q moved.wend
exits "an imported run is left alone" 0 "$WEND" resume
has "an imported run is left alone: said" "$err" "was imported"
is "an imported run is left alone: status" "$(field status)" interrupted
exits "an imported run that is named" 2 "$WEND" resume "$id"
has "an imported run that is named: said" "$err" "was imported"
exits "an imported run, with a model" 0 "$WEND" resume -m "$held" "$id"
is "an imported run, with a model: status" "$(field status)" ok
WEND_STORE=$work/wend.db
exits "and the one it was taken from" 0 "$WEND" resume last

# ---- Programs ------------------------------------------------------------------------

tool() { # CLASS
    printf '#!/bin/sh\necho "$WEND_IDEMPOTENCY_KEY" >>ledger\n%s\necho done\n' \
        '[ -e free ] || sleep 90' >t.sh
    chmod +x t.sh
    printf 'wend: tool/1\nname: t\ndescription: d\ncommand: [./t.sh]\nclass: %s\n' \
        "$1" >t.yaml
    rm -f ledger free
}
calls='script:{"turns":[{"calls":[{"name":"t","args":{}}]},{"text":"went on"}]}'
began() { [ -s ledger ]; }
use() { # CLASS OPTIONS...: killed while the program is at work
    tool "$1"
    shift
    start '"type":"call_start"' --tools t.yaml --approve all -m "$calls" "$@"
    soon began
    killed
    touch free
}

use unsafe
exits "an unsafe program" 0 "$WEND" resume last
is "an unsafe program: order" "$(resumed)" "run_resume call_end turn_end metrics \
turn_start context_start context_end model_start text_delta model_end turn_end \
metrics run_end"
has "an unsafe program: nobody knows" events '"outcome":"unknown"'
has "an unsafe program: the call is named" events '"unsettled":["call_1"]'
"$WEND" log last >lines
has "an unsafe program: the log says it once" lines "t unknown: the run was interrupted"
exits "an unsafe program: as it is seen" 0 "$WEND" replay -v --speed 0 last
has "an unsafe program: said once" "$err" "! unknown: the run was interrupted"
is "an unsafe program: it ran once" "$(wc -l <ledger)" 1
use idempotent
exits "an idempotent program" 0 "$WEND" resume last
is "an idempotent program: it ran twice" "$(wc -l <ledger)" 2
is "an idempotent program: with one key" "$(sort -u ledger | wc -l)" 1
resumed >/dev/null
has "an idempotent program: the second attempt" events '"attempt":2'
has "an idempotent program: its answer" events '"outcome":"ok","output":"done'
count() { grep -c -- "$2" "$1"; } # FILE PATTERN
"$WEND" log --json last >whole
is "every start has an end" "$(count whole '"type":"call_start"') \
$(count whole '"type":"call_end"')" "2 2"
is "one of them is a result" "$(grep '"type":"call_end"' whole |
    grep -c '"outcome":"superseded"')" 1
is "the attempt that was cut off ends first" "$(types events)" "run_resume \
call_end call_start call_end turn_end metrics turn_start context_start \
context_end model_start text_delta model_end turn_end metrics run_end"
for d in "loom tool_execution_start tool_result" \
    "agio tool_call_started tool_call_completed" \
    "cortex action_started action_completed"; do
    set -- $d
    "$WEND" log --events $1 last >told
    is "$1: one start, one result" "$(count told "\"$2\"") $(count told \
        "\"$3\",")" "1 1"
done
"$WEND" stats --json --limit 1 >counted
has "stats: one call" counted '"calls":1'
use unsafe --on-unknown stop
exits "stop" 1 "$WEND" resume last
has "stop: said" "$err" "not known"
use unsafe --on-unknown retry
exits "retry" 0 "$WEND" resume last
is "retry: it ran twice" "$(wc -l <ledger)" 2
use unsafe --on-unknown ask
exits "ask where nobody is: the model is told" 0 "$WEND" resume last
is "ask where nobody is: it ran once" "$(wc -l <ledger)" 1

# A program that looks what became of it.
checked() { # NAME EXIT_STATUS: of that program
    tool unsafe
    printf '#!/bin/sh\ncat >seen\necho "$WEND_IDEMPOTENCY_KEY" >>looked\n%s\n' \
        "echo it is there; exit $2" >v.sh
    chmod +x v.sh
    echo 'verify: [./v.sh]' >>t.yaml
    rm -f looked
    start '"type":"call_start"' --tools t.yaml --approve all -m "$calls" \
        --on-unknown verify
    soon began
    killed
    touch free
    exits "verify: $1" 0 "$WEND" resume last
    resumed >/dev/null
    is "verify: $1: asked with its key" "$(cat looked)" "$(head -n 1 ledger)"
    is "verify: $1: and its arguments" "$(cat seen)" "{}"
}
checked "it happened" 0
has "verify: it happened: its result" events '"outcome":"ok","output":"it is there'
is "verify: it happened: it ran once" "$(wc -l <ledger)" 1
checked "it did not" 1
has "verify: it did not: it runs again" events '"attempt":2'
is "verify: it did not: with the same key" "$(sort -u ledger | wc -l)" 1
is "verify: it did not: twice" "$(wc -l <ledger)" 2
checked "it cannot say" 3
has "verify: it cannot say: unknown" events '"outcome":"unknown"'
is "verify: it cannot say: it ran once" "$(wc -l <ledger)" 1
use unsafe --on-unknown verify
exits "verify: nobody to ask" 0 "$WEND" resume last
resumed >/dev/null
has "verify: nobody to ask: unknown" events '"outcome":"unknown"'

use idempotent
rm t.sh
exits "a program that is gone" 0 "$WEND" resume last
resumed >/dev/null
has "a program that is gone: its call fails" events '"outcome":"failed"'

# The second interrupt leaves at once; resume closes the run.
printf '#!/bin/sh\ntrap "" TERM\necho x >>ledger\nsleep 90\n' >t.sh
chmod +x t.sh
printf 'wend: tool/1\nname: t\ndescription: d\ncommand: [./t.sh]\n' >t.yaml
# The program has two seconds after the first one, and so has the second one.
for ((i = 0; i < 10; i++)); do
    rm -f ledger
    start '"type":"call_start"' --tools t.yaml --approve all -m "$calls"
    soon began
    kill -INT $pid
    soon in_log "$id" '"what":"cancel"'
    kill -INT $pid
    wait $pid
    status=$?
    [ "$(field status)" = canceled ] || break
done
is "interrupted twice: exit status" $status 130
is "interrupted twice: status" "$(field status)" interrupted
exits "interrupted twice: resume closes it" 130 "$WEND" resume last
is "interrupted twice: order" "$(resumed)" \
    "run_resume call_end turn_end metrics run_end"
is "interrupted twice: canceled" "$(field status)" canceled

# ---- A plan with an action of unknown outcome -----------------------------------------

tool unsafe
printf 'wend: plan/1\nname: p\nactions:\n  - {name: a, type: tool, target: t}\n' \
    >p.yaml
begin "$WEND" plan run --tools t.yaml --approve all p.yaml
soon began
killed
touch free
exits "a plan: unknown" 1 "$WEND" resume last
has "a plan: it did not fail" "$err" "plan     failed: 0 ok, 0 failed, 0 skipped, \
1 unknown"
"$WEND" log last >lines
has "a plan: the log says it once" lines "a unknown: the run was interrupted"
has "a plan: nor does the log" lines "failed, 0 ok, 0 failed, 0 skipped, 1 unknown"
finish
