#!/usr/bin/env bash
# session.sh - conversations: the next run has the past of the last one.
. "$(dirname "$0")/lib.sh"

needs_server
serve_http --log "$work/requests"
base=http://127.0.0.1:$port
start() { "$WEND" log --json "$1" --type run_start >"$work/start"; } # RUN
said() { json "$work/start" "$(at "data.$1")"; }               # PATH

# ---- The newest of this directory -------------------------------------------------

exits "none yet" 2 "$WEND" run -c more
has "none yet: said" "$err" "no conversation to continue in this directory"
exits "the first" 0 "$WEND" run -m "$sum" --instructions 'Be brief.' \
    --max-turns 7 'What is 6*7?'
first=$(newest)
exits "more" 0 "$WEND" run -c -m "$hello" 'And now?'
has "more: whose" "$err" "continuing "
has "more: its prompt" "$err" "What is 6*7?"
start last
is "more: follows" "$(said follows)" "$first"
is "more: the past" "$(said messages)" '[{"role":"user","text":"What is 6*7?"},{"role":"assistant","text":"Let me see.","model":"script","calls":[{"id":"call_1","name":"calculator","args":{"expression":"6*7"}}]},{"role":"tool","call":"call_1","name":"calculator","text":"42"},{"role":"assistant","text":"It is 42.","model":"script"}]'
is "more: the agent is the same" "$(said config.instructions)" "Be brief."
is "more: so are its limits" "$(said limits.turns)" 7
exits "again" 0 "$WEND" run -qc 'And then?'
is "again: the model as there" "$(cat "$out")" "Hello there."
start last
is "again: all of it" "$(said 'messages[#-1].text')" "Hello there."
is "again: six messages" "$(json "$work/start" \
    "json_array_length(line.value, '\$.data.messages')")" 6
exits "sound" 0 "$WEND" verify last
third=$(newest)

# What it begins with is there after a fork, a resume and an export.
exits "a fork of it" 0 "$WEND" fork -q --at 1 "$third"
is "a fork: the same answer" "$(cat "$out")" "Hello there."
exits "a crash" 0 "$WEND" fork --no-run --at 1 "$third"
exits "a crash: resumed" 0 "$WEND" resume -q last
exits "an export" 0 "$WEND" export -o file "$third"
exits "an import" 0 env WEND_STORE="$work/other.db" "$WEND" import file
exits "an import: sound" 0 env WEND_STORE="$work/other.db" "$WEND" verify "$third"
exits "a conversation that was imported is not continued" 2 \
    env WEND_STORE="$work/other.db" "$WEND" run -c x

# ---- What counts ------------------------------------------------------------------

mkdir elsewhere
cd elsewhere || exit 1
exits "another directory" 2 "$WEND" run -c more
cd .. || exit 1
"$WEND" run -q -m "$hello" --session holiday 'in a session' >"$out"
printf '%s\n' 'wend: plan/1' 'name: p' 'actions:' \
    '- {name: a, type: tool, target: calculator, params: {expression: "1"}}' >p.yaml
exits "a plan" 0 "$WEND" plan run -q p.yaml
exits "a plan of a model" 0 "$WEND" run -q -m "$hello" --plan goal
exits "plans do not count" 0 "$WEND" run -c more
start last
is "plans do not count: the session stays" "$(said session)" holiday
exits "what fails" 1 "$WEND" run -m 'script:{"turns":[{"text":"Well",
    "error":{"code":"invalid","message":"no","after":1}}]}' 'a question'
exits "what failed is left out" 0 "$WEND" run -qc -m "$hello" more
start last
is "what failed is left out: the question stays" "$(said messages)" \
    '[{"role":"user","text":"a question"}]'
hold
begin "$WEND" run --stream -m "$held" 'count'
soon grep -q '^one' "$out"
kill -INT $pid
wait $pid
exits "what was canceled" 0 "$WEND" run -qc -m "$hello" more
start last
is "what was canceled stays as far as it came" "$(said 'messages[1].text')" "one "
begin "$WEND" run -m "$held" 'under way'
under_way=$id
exits "a run that is under way" 0 "$WEND" run -qc -m "$hello" more
start last
[ "$(said follows)" != "$under_way" ]
ok "a run that is under way does not count"
killed

# ---- Sessions ---------------------------------------------------------------------

exits "a session by name" 0 "$WEND" run -c --session holiday again
start last
is "a session by name: what it says" "$(said 'messages[0].text')" "in a session"
cd elsewhere || exit 1
exits "from elsewhere" 0 "$WEND" run -c --session holiday again
has "from elsewhere: where it works" "$err" ", in $work/cwd"
cd .. || exit 1
exits "no such session" 2 "$WEND" run -c --session hollday again
has "no such session: said" "$err" \
    "there is no session 'hollday'; did you mean 'holiday'?; sessions: holiday"
exits "an empty name" 2 "$WEND" run -c --session '' x
exits "another agent piece by piece" 2 "$WEND" run -c --instructions x y
has "another agent: what to do" "$err" "-a FILE replaces it"
printf 'wend: agent/1\nmodel: %s\ninstructions: Sing.\nmax_history: 2\n' \
    "'$(model s '{"turns":[{"text":"La."}]}')'" >bard.yaml
exits "another agent" 0 "$WEND" run -qc -a bard.yaml more
start last
is "another agent: as its file says" "$(said config.instructions)" "Sing."
is "max_history" "$(json "$work/start" \
    "json_array_length(line.value, '\$.data.messages')")" 2
is "max_history begins with a question" "$(said 'messages[0].role')" user
exits "max_history: none" 2 "$WEND" run -a <(sed 's/: 2$/: 0/' bard.yaml) x
has "max_history: none: said" "$err" "max_history must be a whole number from 1"
exits "max_memories: too many" 2 "$WEND" run \
    -a <(sed 's/max_history: 2$/max_memories: 51/' bard.yaml) x
has "max_memories: too many: said" "$err" "max_memories must be a whole number from 1"

# ---- In lists ----------------------------------------------------------------------

"$WEND" runs --json --limit 1 >"$out"
is "runs --json" "$(json "$out" "$(at follows) IS NOT NULL")" 1
"$WEND" log "$third" >"$out"
has "wend log" "$out" "script (follows $("$WEND" runs --json --limit 0 |
    sed -n "/^{\"run\":\"$third/s/.*\"follows\":\"\([^\"]*\).*/\1/p")): And then?"
"$WEND" view "$third" >"$out"
has "wend view" "$out" "follows "
"$WEND" view --format json "$third" >"$out"
is "wend view: JSON" "$(json "$out" "$(at follows) IS NOT NULL")" 1
COLUMNS=160 "$WEND" runs --tree --limit 0 >"$out"
is "runs --tree: a conversation is one tree" \
    "$(sed -n '/What is 6/,/And then/p' "$out" | grep -c '|- And now\|`- And now\|- And then')" 2
on_screen 200x60 "$WEND runs --limit 0" <<<'wait And now?'
has "runs" "$out" "follows ${first:0:8}"

# ---- Another model -------------------------------------------------------------------

# One of the same provider is asked where the conversation was held.
exits "a base URL" 0 "$WEND" run -q -m "openai:say:one" --base-url "$base/v1" hi
id=$(newest)
for what in "run -qc" "fork -q $id"; do
    run timeout 10 "$WEND" $what -m "openai:say:two" more
    is "$what: another model of the provider" "$(cat "$out")" two
    grep -qF '"model":"say:two"' "$work/requests"
    ok "$what: at the base URL of the conversation"
    : >"$work/requests"
done
# Without a key the default URL is refused before anything is sent.
for what in "run -qc" "fork -q $id"; do
    run env -u ANTHROPIC_API_KEY timeout 10 "$WEND" $what -m anthropic:x more
    is "$what: another provider: exit status" $status 2
    has "$what: another provider has its own URL" "$err" ANTHROPIC_API_KEY
done

# ---- The same bytes ------------------------------------------------------------------

# A fork continues with the messages of the run itself.
for row in openai:/v1 responses:/v1 anthropic:/v1 gemini:/v1beta ollama:; do
    provider=${row%%:*}
    for what in think:2:4 call:calculator:%7B%22expression%22:%226*7%22%7D; do
        exits "$provider: $what" 0 "$WEND" run -q -m "$provider:x" \
            --base-url "$base/=$what${row#*:}" hi
        id=$(newest)
        exits "$provider: $what: more" 0 "$WEND" run -qc more
        grep -aF more "$work/requests" | tail -n 1 >"$work/follow"
        exits "$provider: $what: fork" 0 "$WEND" fork -q "$id" more
        grep -aF more "$work/requests" | tail -n 1 >"$work/fork"
        cmp "$work/follow" "$work/fork"
        ok "$provider: $what: the same request"
        has "$provider: $what: with the past" "$work/follow" more
    done
done

finish
