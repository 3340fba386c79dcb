#!/usr/bin/env bash
# compaction.sh - conversations that outgrow the window of their model.
. "$(dirname "$0")/lib.sh"

summary='{"purpose":"summary","repeat":"forever","text":"# Task\ncount\n# Decisions\nnone\n# Progress\nnone\n# Blockers\nnone\n# Context\nnone"}'
# shellcheck disable=SC2016 # the script's own names
work_turn='{"text":"Step ${turn}: let me see what the sum of the two numbers is before I continue with the rest of it.","calls":[{"name":"calculator","args":{"expression":"${turn}+1"}}],"repeat":150}'
agent() { # WINDOW MORE
    printf 'wend: agent/1\nmodel: script:s.json\ncontext_tokens: %s\n%s\n' \
        "$1" "tools: [calculator, shell]
limits: {turns: 400}
${2:-}"
}
count() { # TYPE
    "$WEND" log --json last | grep -c "\"type\":\"$1\""
}
events() { # TYPE
    "$WEND" log --json last | grep "\"type\":\"$1\""
}

# A long run: the cost of a turn stays flat, and what was asked stays.
printf '{"turns":[%s,%s,{"text":"done"}]}' "$summary" "$work_turn" >s.json
agent 2400 >a.yaml
exits "a long run" 0 "$WEND" run -q -a a.yaml 'Count to the end, please.'
is "a long run: its answer" "$(cat "$out")" done
events compacted >compacted
[ "$(wc -l <compacted)" -gt 2 ]
ok "a long run: it was made shorter"
most=$(events context_end |
    sed -nE 's/.*"data":\{"tokens":([0-9]+).*/\1/p' | sort -n | tail -1)
[ "$most" -lt 2400 ]
ok "a long run: no request is over the window ($most tokens)"
"$WEND" run -a a.yaml 'Count to the end, please.' >"$out" 2>"$err"
has "a long run: the user is told" "$err" \
    "the conversation was shortened (summary): "
exits "a long run: verify" 0 "$WEND" verify last
"$WEND" log last >"$out"
has "a long run: the log says how" "$out" "summary, "
tail -1 compacted >"$out"
has "a long run: the first message stays" "$out" '"kept":[0'
has "a long run: the summary" "$out" '"summary":"# Task\ncount\n'

# A fork takes what is there.
seq=$(sed -nE '1s/.*"seq":([0-9]+),"time.*/\1/p' compacted)
run=$(newest)
for at in $((seq - 1)) "$seq" $((seq + 1)); do
    exits "a fork at event $at" 0 "$WEND" fork -q --at "$at" "$run"
    exits "a fork at event $at: verify" 0 "$WEND" verify last
done

# Off is off.
agent 1200 'compaction: off' >off.yaml
exits "compaction: off" 1 "$WEND" run -q -a off.yaml 'Count to the end.'
is "compaction: off: nothing is left out" "$(count compacted)" 0
has "compaction: off: said" "$err" "the window of script has 1200"
agent 1200 'compaction: maybe' >maybe.yaml
exits "compaction: wrong" 2 "$WEND" run -q -a maybe.yaml x

# A window below the instructions: no run begins.
printf 'instructions: "%s"\n' "$(seq -s ' ' 1 300)" | cat off.yaml - >full.yaml
sed -i 's/context_tokens: .*/context_tokens: 250/' full.yaml
before=$(newest)
exits "a window below the instructions" 2 "$WEND" run -q -a full.yaml x
has "a window below the instructions: both numbers" "$err" \
    "(instructions 273, tools and schema 186), and the window of script has 250"
has "a window below the instructions: what to do" "$err" "offer fewer tools"
is "a window below the instructions: there is no run" "$(newest)" "$before"
sed 's/context_tokens: .*/context_tokens: 4000/' full.yaml >room.yaml
exits "a follow-up with room" 0 "$WEND" run -q -a room.yaml -m "$hello" x
exits "a follow-up without" 2 "$WEND" run -q -c -a full.yaml x
has "a follow-up without: said" "$err" "the window of script has 250"
printf 'wend: agent/1\nmodel: %s\nagents: [full.yaml]\n' \
    "'$hello'" >parent.yaml
exits "a child without" 2 "$WEND" run -q -a parent.yaml x
has "a child without: said" "$err" "agent 'full': instructions and tools have"
printf 'wend: plan/1\nname: p\nactions:\n  - {name: a, type: llm, prompt: x}\n' \
    >p.yaml
exits "an action without" 2 "$WEND" plan run -q -a full.yaml p.yaml
has "an action without: said" "$err" "action 'a': the instructions of its agent"

# What reads a log reads this one, too.
run=$(newest)
"$WEND" run -q -a a.yaml 'Count to the end, please.' >/dev/null 2>&1
run=$(newest)
"$WEND" context "$run" >here
"$WEND" log --json "$run" >whole
"$WEND" replay --json --speed 0 "$run" | grep -v '_delta"' >"$out"
grep -v '_delta"' whole | cmp -s - "$out"
ok "a long run: the replay has the same events"
"$WEND" export -o run.jsonl "$run"
exits "a long run: import" 0 "$WEND" import -q --store other.db run.jsonl
"$WEND" context --store other.db "$run" >there
cmp -s here there
ok "a long run: the import has the same context"
"$WEND" view "$run" >"$out"
has "a long run: view" "$out" "compacted at "
has "a long run: view: how" "$out" "summary: "
"$WEND" fork -q --at $((seq - 1)) "$run" >/dev/null 2>&1
exits "a long run: diff with a fork" 1 "$WEND" diff "$run" "$(newest)"
exits "a long run: it is continued" 0 "$WEND" run -q -c -m script:s.json 'And?'
"$WEND" context last >"$out"
has "a long run: what continues it has the summary" "$out" \
    "is replaced by this summary"

# A child folds its own conversation, a task and an action of a plan alike.
mkdir agents
sed 's/^wend: .*/&\nname: helper\ndescription: counts/; s/script:s/script:..\/child/' a.yaml >agents/helper.yaml
cp s.json child.json
printf '{"turns":[{"calls":[{"name":"task","args":{"agent":"helper","prompt":"Count."}}]},{"text":"all done"}]}' >p.json
printf 'wend: agent/1\nmodel: script:p.json\nagents: [agents/helper.yaml]\n' >p.yaml
exits "a child" 0 "$WEND" run -q -a p.yaml --approve task Go.
child=$("$WEND" log --json last | sed -nE 's/.*"child_start".*"data":\{"run":"([^"]*)".*/\1/p')
"$WEND" log --json "$child" | grep '"type":"compacted"' >"$out"
has "a child: its conversation was made shorter" "$out" '"method":"summary"'
printf 'wend: plan/1\nname: p\nactions:\n  - {name: a, type: agent, target: agents/helper.yaml, prompt: Count.}\n' >plan.yaml
exits "an action" 0 "$WEND" plan run -q plan.yaml
child=$("$WEND" log --json last | sed -nE 's/.*"child_start".*"data":\{"run":"([^"]*)".*/\1/p')
"$WEND" log --json "$child" | grep '"type":"compacted"' >"$out"
has "an action: its conversation was made shorter" "$out" '"method":"summary"'

# No summary to be had: the newest messages.
printf '{"turns":[%s,%s,{"text":"done"}]}' \
    '{"purpose":"summary","repeat":"forever","text":""}' "$work_turn" >s.json
exits "an empty summary" 0 "$WEND" run -q -a a.yaml 'Count to the end.'
events compacted | head -1 >"$out"
has "an empty summary: the newest stay" "$out" '"method":"window"'
has "an empty summary: three attempts" "$out" '"attempts":3'
has "an empty summary: how many are gone" "$out" '"dropped":'
"$WEND" context --json last >"$out"
has "an empty summary: the model is told" "$out" "[Older messages are left out here"

# An answer that is no summary does not replace the conversation.
printf '{"turns":[%s,%s,{"text":"done"}]}' \
    '{"purpose":"summary","repeat":"forever","text":"I am sorry, I cannot."}' \
    "${work_turn/150/40}" >s.json
exits "a refusal as a summary" 0 "$WEND" run -q -a a.yaml 'Count to the end.'
events compacted | head -1 >"$out"
has "a refusal as a summary: the newest stay" "$out" '"method":"window"'
events warning | head -1 >"$out"
has "a refusal as a summary: said" "$out" "does not have the headings of a summary"

# A result that is larger than the window is cut, and can be read.
# shellcheck disable=SC2016
printf '{"turns":[{"calls":[{"name":"shell","args":{"command":"seq 1 20000"}}]},%s,%s]}' \
    '{"calls":[{"name":"read_result","args":{"call":"0/call_1","offset":50000}}]}' \
    '{"text":"${tool_result}"}' >s.json
agent 8000 >b.yaml
exits "a huge result" 0 "$WEND" run -q -a b.yaml --approve shell 'How many?'
has "a huge result: a page of it" "$out" "10233"
has "a huge result: where it ends" "$out" \
    "[bytes 50000 to 52048 of 108894; the next offset is 52048]"
events compacted >"$out"
has "a huge result: it was cut" "$out" '"method":"trimmed"'
has "a huge result: its size" "$out" '"bytes":108894'

"$WEND" context --json last >"$out"
has "a huge result: context lists the tool" "$out" '"name":"read_result"'
has "a huge result: and what it costs" "$out" '"name":"tool read_result"'

# A note of the runtime is no message of the user.
printf '{"turns":[{"calls":[{"name":"calculator","args":{"expression":"1+1"}}],"repeat":3},{"text":"done"}]}' >s.json
exits "a loop" 0 "$WEND" run -q -a b.yaml 'Count.'
events message >"$out"
has "a loop: the note is the runtime's" "$out" '"by":"wend"'

# The provider refuses: once more, shorter.
printf '{"turns":[%s,{"text":"A long first answer, with many words in it, so that there is something to leave out.","calls":[{"name":"calculator","args":{"expression":"${turn}+1"}}],"repeat":30},{"error":{"code":"overflow","message":"too long"}},{"text":"done"}]}' \
    "$summary" >s.json
sed '/context_tokens/d' a.yaml >unknown.yaml
exits "an overflow" 0 "$WEND" run -q -a unknown.yaml 'Count to the end.'
is "an overflow: asked again" "$(cat "$out")" done
is "an overflow: one compaction" "$(count compacted)" 1

# A process that dies while the summary is written: another one asks for it, and
# the run ends as it would have. What was pinned before stays.
slow=${summary/\"text\"/\"first_delay\":\"90s\",\"text\"}
printf '{"turns":[%s,%s,{"text":"done"}]}' "$slow" "$work_turn" >s.json
begin "$WEND" run -q -a a.yaml 'Count to the end, please.'
soon in_log "$id" '"purpose":"summary"'
exits "said while it is written" 0 "$WEND" say --pin "$id" 'In German, always.'
killed
printf '{"turns":[%s,%s,{"text":"done"}]}' "$summary" "$work_turn" >s.json
exits "killed in a summary: resume" 0 "$WEND" resume -q "$id"
is "killed in a summary: the answer" "$(tail -1 "$out")" done
exits "killed in a summary: verify" 0 "$WEND" verify "$id"
events message >"$out"
has "say --pin: the log says so" "$out" '"pinned":true'
events compacted | tail -1 >"$out"
has "say --pin: a later compaction keeps it" "$out" '"kept":[0,2]'
# On request, with room left; what the user wants to keep is in the question.
go=$PWD/go
printf '{"turns":[%s,%s,%s,{"text":"done"}]}' \
    "${summary/\"text\"/\"when\":\"the names\",\"text\"}" \
    "${work_turn/150/8}" \
    '{"calls":[{"name":"shell","args":{"command":"until [ -e '"$go"' ]; do sleep 0.05; done"}}]}' \
    >s.json
begin "$WEND" run -q -a b.yaml --approve shell 'Count to the end, please.'
soon in_log "$id" '"name":"shell"'
exits "say --compact" 0 "$WEND" say --compact "$id" the names
touch "$go"
soon in_log "$id" '"type":"run_end"'
events compacted >"$out"
has "say --compact: a summary, once" "$out" '"method":"summary"'
is "say --compact: once" "$(count compacted)" 1
"$WEND" context last >"$out"
has "say --compact: the model sees it" "$out" "is replaced by this summary"
"$WEND" log last >"$out"
has "say --compact: the log says who asked" "$out" "compact by command"

# A pin that leaves no room is refused with both sizes.
rm -f "$go"
begin "$WEND" run -q -a b.yaml --approve shell 'Count to the end, please.'
soon in_log "$id" '"name":"shell"'
exits "say --pin: over the window" 2 "$WEND" say --pin "$id" "$(seq -s ' ' 1 9000)"
has "say --pin: over the window: why" "$err" "cannot be pinned: with it, what must stay"
has "say --pin: over the window: the limit" "$err" "a request to script has at most 6000"
exits "say --pin: a short one" 0 "$WEND" say --pin "$id" 'In German.'
touch "$go"
soon in_log "$id" '"type":"run_end"'
is "say --pin: only that one is there" "$(events message | grep -c pinned)" 1

# Another model writes the summaries.
printf '{"model":"cheap","turns":[%s]}' "$summary" >cheap.json
printf '{"turns":[%s,{"text":"done"}]}' "$work_turn" >s.json
agent 2400 'summary_model: script:cheap.json' >c.yaml
exits "summary_model" 0 "$WEND" run -q -a c.yaml 'Count to the end, please.'
is "summary_model: its answer" "$(cat "$out")" done
events compacted | tail -1 >"$out"
has "summary_model: a summary" "$out" '"method":"summary"'
has "summary_model: what it is about" "$out" '"topics":["Task"]'
is "summary_model: it writes summaries alone" \
    "$(events model_start | grep '"model":"cheap"' | grep -vc '"purpose":"summary"')" 0
exits "summary_model: verify" 0 "$WEND" verify last
seq=$(events compacted | sed -nE '1s/.*"seq":([0-9]+),"time.*/\1/p')
exits "summary_model: a fork" 0 "$WEND" fork -q --at $((seq - 1)) "$(newest)"
exits "summary_model: a fork: verify" 0 "$WEND" verify last
agent 2400 'summary_model: cheap' >wrong.yaml
exits "summary_model: no provider" 2 "$WEND" run -q -a wrong.yaml x

# The longest result of a program, which a summary has replaced.
# shellcheck disable=SC2016
printf '{"turns":[%s,{"calls":[{"name":"shell","args":{"command":"seq 1 50000"}}]},%s,%s,%s]}' \
    "$summary" "${work_turn/150/90}" \
    '{"calls":[{"name":"read_result","args":{"call":"0/call_1","offset":200000}}]}' \
    '{"text":"${tool_result}"}' >s.json
exits "a result that is gone" 0 "$WEND" run -q -a a.yaml --approve shell 'How many?'
events compacted | grep -c '"method":"summary"' >"$out"
[ "$(cat "$out")" -ge 1 ]
ok "a result that is gone: a summary has replaced it"
"$WEND" log --json last | grep '"type":"call_end"' | tail -1 >"$out"
has "a result that is gone: it can be read" "$out" "[bytes 200000 to 200512 of 262003; the next offset is 200512]"

exits "say --compact --pin" 2 "$WEND" say --compact --pin "$id" x
exits "say without a text" 2 "$WEND" say "$id"

exits "say --pin: no such run" 2 "$WEND" say --pin nothing text
finish
