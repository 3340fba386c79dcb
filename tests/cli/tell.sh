#!/usr/bin/env bash
# tell.sh - a run in another process is canceled, paused, told, approved.
. "$(dirname "$0")/lib.sh"

start() { # OPTIONS...: in the background, until some text is out
    begin "$WEND" run "$@" hi
    soon in_log "$id" '"type":"text_delta"'
}
tell() { # NAME COMMAND...; keeps what the run said apart
    local name=$1
    shift
    "$WEND" "$@" >told 2>&1
    is "$name: exit status" $? 0 || cat told
    is "$name: silent" "$(cat told)" ""
}

start -m "$held"
exits "cancel" 0 "$WEND" cancel last
has "cancel: how to go on" "$err" "'wend retry $id' resumes from there"
wait $pid
is "canceled: exit status" $? 130
in_log last '"what":"cancel","by":"command"'
ok "canceled: by whom"
exits "cancel a run that is over" 1 "$WEND" cancel last
for words in "cancel last" "pause last" "say last x"; do
    exits "$words: it is over" 1 "$WEND" $words
    is "$words: it is over: said" "$(cat "$err")" "wend: too late: run $id is over"
done

cat >waiter.yaml <<'EOF'
wend: tool/1
name: waiter
description: waits until it may go
class: read
command: [sh, -c, 'while [ ! -e go ]; do sleep 0.1; done']
EOF
start --tools waiter.yaml -m 'script:{"turns":[{"text":"one","calls":[
{"name":"waiter"}]},{"text":"two","when":"hurry up"},{"text":"nobody spoke"}]}'
tell "say" say last hurry up
tell "pause" pause last
soon in_log "$id" '"what":"pause"'
ok "paused"
touch go
soon in_log "$id" '"type":"turn_start","turn":1'
sleep 0.3
! in_log "$id" '"type":"model_start","turn":1'
ok "paused: the next turn waits"
tell "continue" continue last
wait $pid
is "went on: exit status" $? 0
has "it heard" "$out" two
lacks "and not nothing" "$out" nobody

# The line comes also if the end of the run takes a moment longer.
rm -f go
start --tools waiter.yaml -m 'script:{"turns":[{"text":"one","calls":[
{"name":"waiter"}]}]}'
soon in_log "$id" '"type":"call_start"'
exits "cancel in a call" 0 "$WEND" cancel last
has "cancel in a call: how to go on" "$err" "'wend retry $id' resumes from there"
wait $pid
exits "approve a run that is over" 1 "$WEND" approve last call_1
has "approve a run that is over: said" "$err" "too late"

# Within 250 ms, by the log: the post is before the event. The best of some:
# the start of a process can take long.
start -m "$held"
for ((i = 0; i < 10; i++)); do
    began=$(date +%s%6N)
    tell "say, and look at the clock" say last "now $i"
    soon in_log "$id" "now $i"
    "$WEND" log --json --type message last | tail -n 1 >events
    ended=$(json events "CAST($(at time) * 1000000 AS INTEGER)")
    [ $((ended - began)) -ge 1250000 ] || break
done
[ $((ended - began)) -lt 1250000 ]
ok "seen soon: $(((ended - began) / 1000)) ms with the start of a process"
killed
for command in "say last x" "pause last" "continue last" "cancel last"; do
    exits "nobody hears: $command" 0 "$WEND" $command
    has "nobody hears: $command, said" "$err" "queued"
done
exits "the next owner does" 130 "$WEND" resume last
in_log last '"text":"x"' && in_log last '"what":"cancel","by":"command"'
ok "the next owner does: all of it"
exits "approve what does not wait" 1 "$WEND" approve last call_1 yes
has "approve what does not wait: said" "$err" "too late: run"
exits "approve perhaps" 2 "$WEND" approve last call_1 perhaps
exits "approve nothing" 2 "$WEND" approve
exits "say nothing" 2 "$WEND" say last
exits "cancel nothing" 2 "$WEND" cancel
exits "cancel what is not there" 2 "$WEND" cancel nothing

# Without a terminal they are answered from elsewhere, and nowhere else: also
# with -q, with JSON and in the background of a terminal.
asks='script:{"turns":[{"calls":[{"name":"write_file","args":{"path":"new",
"content":"x"}}]},{"text":"went on"}]}'
while IFS='|' read -r name options answer wanted; do
    rm -f new
    begin "$WEND" run $options -t write_file --approve ask -m "$asks" hi
    soon grep -q "waiting for approval" "$err"
    has "$name: what waits" "$err" 'waiting for approval of write_file {"'
    has "$name: how to answer" "$err" "'wend approve $id call_1' approves it"
    tell "$name: told" approve "$id" call_1 $answer
    wait $pid
    is "$name: exit status" $? 0
    is "$name: the file" "$(cat new 2>/dev/null)" "$wanted"
    has "$name: it went on" "$out" "went on"
done <<'ROWS'
no terminal||yes|x
no terminal, the short form|||x
no terminal, no||no|
no terminal, -q|-q|yes|x
no terminal, JSON|--json|yes|x
ROWS
# Without a call: what waits, from any directory, and how to answer.
rm -f new
begin "$WEND" run -t write_file --approve ask -m 'script:{"turns":[{"calls":[
    {"name":"write_file","args":{"path":"new","content":"x\ny\n"}},
    {"name":"write_file","args":{"path":"run","content":"z"}}]},
    {"text":"went on"}]}' hi
soon grep -q "approve $id call_2'" "$err"
echo was >run
exits "which: several" 0 "$WEND" approve "$id"
is "which: several: their ids and tools" \
    "$(awk '{ print $1, $2 }' "$out" | xargs)" \
    "CALL TOOL call_1 write_file call_2 write_file"
has "which: several: the arguments" "$out" '{"path":"new","content":"x\ny\n"}'
[[ $(sed -n 2p "$out") =~ \ [0-9]+[sm]\  ]]
ok "which: several: the age"
has "which: several: how" "$err" "'wend approve $id CALL no' denies it"
for options in "--always" "--args {}" "--edit"; do
    exits "which: $options" 2 "$WEND" approve "$id" $options
done
tell "which: the first" approve "$id" call_1 no
(cd / && "$WEND" approve "$id" >"$work/one" 2>"$work/how")
is "which: one: exit status" $? 0
has "which: one: what it does" "$work/one" "call_2: write_file, which changes run"
has "which: one: its diff" "$work/one" "-was"
has "which: one: why" "$work/one" "risk: "
has "which: one: how" "$work/how" "'wend approve $id call_2' approves it"
tell "which: the second" approve "$id" call_2 no
wait $pid
exits "which: it is over" 1 "$WEND" approve "$id"
start -m "$held"
exits "which: nothing waits" 2 "$WEND" approve "$id"
has "which: nothing waits: said" "$err" "no call is waiting for approval in run $id"
killed
"$WEND" resume -q "$id" -m "$hello" >/dev/null
# With other arguments, which the run checks.
rm -f new else
begin "$WEND" run -t write_file --approve ask --approve '!write_file(secret*)' \
    -m "$asks" hi
soon grep -q "waiting for approval" "$err"
changes() { # NAME STATUS SAID ARGS
    "$WEND" approve "$id" call_1 --args "$4" >said 2>&1
    is "changed: $1: exit status" $? "$2"
    has "changed: $1: said" said "$3"
}
changes "not JSON" 2 "args are not valid JSON: line 1" '{'
changes "not an object" 2 "args must be a JSON object" '[1]'
changes "not as the tool wants them" 2 \
    "wend: call 'call_1': the arguments do not fit the tool's schema: path must" '{"path":5,"content":"y"}'
changes "against the policy" 2 "it still waits for approval" \
    '{"path":"secret.txt","content":"y"}'
is "changed: nothing ran" "$(cat new secret.txt 2>/dev/null)" ""
for bad in "no --args {}" "--always --args {}" "--edit --args {}"; do
    exits "changed: $bad" 2 "$WEND" approve "$id" call_1 $bad
done
exits "changed: no terminal for the editor" 2 env EDITOR=true \
    "$WEND" approve "$id" call_1 --edit
has "changed: no terminal for the editor" "$err" "use --args JSON"
exits "changed" 0 "$WEND" approve "$id" call_1 \
    --args '{"path":"else", "content":"y"}'
wait $pid
is "changed: exit status" $? 0
is "changed: what ran" "$(cat new 2>/dev/null) $(cat else)" " y"
in_log "$id" '"args":{"path":"else","content":"y"}'
ok "changed: the log has it"
if has_terminal; then
    rm -f new
    begin "$WEND" run -t write_file --approve ask -m "$asks" hi
    soon grep -q "waiting for approval" "$err"
    printf 'cp "$1" seen; printf %%s '\''{"path":"new","content":"edited"}'\'' >"$1"\n' \
        >editor
    cp "$out" "$work/kept.out"
    at_terminal "env EDITOR='sh ./editor' $WEND approve $id call_1 --edit"
    wait $pid
    is "edited: what ran" "$(cat new)" edited
    has "edited: the editor had what was asked" seen '  "path": "new"'
else
    skip "edited" "no terminal"
fi
rm -f new
: >"$err" # of the run before
"$WEND" run --store other.db -t write_file --approve ask -m "$asks" hi \
    >"$out" 2>"$err" </dev/null &
pid=$!
soon grep -q "waiting for approval" "$err"
has "another store is named" "$err" "'wend approve --store other.db "
eval "$(sed -n "s/.*: '\(wend approve [^']*\)' approves.*/\1/; s/^wend/\"\$WEND\"/p" "$err")"
wait $pid
is "another store: the command that it names answers" "$? $(cat new)" "0 x"
rm -f new other.db*
cat >plan.yaml <<'EOF'
wend: plan/1
name: p
actions:
  - {name: writes, type: tool, target: write_file, params: {path: new, content: x}}
EOF
begin "$WEND" plan run --approve ask plan.yaml
soon grep -q "waiting for approval" "$err"
has "an action: how to answer" "$err" "'wend approve $id writes' approves it"
tell "an action" approve "$id" writes
wait $pid
is "an action: exit status" $? 0
is "an action: the file" "$(cat new)" x
rm -f new

# Questions of a run at a terminal can be answered from elsewhere.
if has_terminal; then
    echo '{"turns":[{"calls":[{"name":"write_file","args":{"path":"new",
"content":"x"}},{"name":"write_file","args":{"path":"other","content":"x"}}]},
{"text":"went on"}]}' >write.json
    before=$(newest)
    term_begin "$WEND run -t write_file -m script:write.json hi"
    soon is_new "$before"
    id=$(newest)
    soon in_log "$id" '"call":"call_2"'
    exits "approve another call" 2 "$WEND" approve last call_9 yes
    has "approve another call: says which wait" "$err" "call_1, call_2"
    tell "approve" approve last call_1 yes
    tell "deny" approve last call_2 no
    term_end
    is "approved: it goes on" $status 0
    is "approved: what was allowed" "$(cat new)$(cat other 2>/dev/null)" x
    in_log "$id" '"yes":true,"by":"command"'
    ok "approved: by whom"
else
    skip "approve" "no script(1) from util-linux"
fi
finish
