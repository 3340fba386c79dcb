#!/usr/bin/env bash
# context_again.sh - wend context shows what the model was asked also in a run
# that was killed and resumed, in children, and in actions of plans.
. "$(dirname "$0")/lib.sh"
. "$test_dir/context.inc"

needs_server
unset http_proxy all_proxy HTTP_PROXY ALL_PROXY
serve_http --log "$work/requests"
export OPENAI_API_KEY=sk-canary-0123456789
server=http://127.0.0.1:$port
call='call:calculator:%7B%22expression%22:%226*7%22%7D'
task='call:task:%7B%22agent%22:%22helper%22,%22prompt%22:%22What+is+6*7%3F%22%7D'
task=${task//+/%20}
sum=say:Task%0AThe%20user%20counts.%0ADecisions%0AProgress%0ABlockers%0AContext

asks_summary='It replaces all messages but the first'

# Each question of a run with the request that it became; those for a summary
# are no questions.
asked() { # RUN
    "$WEND" log --json "$1" | sed -nE \
        '/"purpose":"summary"/d; s/.*"seq":([0-9]+),.*"type":"model_start".*/\1/p'
}
all_same() { # WHAT RUN PATH-PART [FIRST]: the first request of this run
    local number=0 seq
    bodies "$3" | tail -n "+${4:-1}" | grep -v "$asks_summary" >"$work/bodies"
    asked "$2" >"$work/asked"
    is "$1: events and requests" "$(wc -l <"$work/asked")" \
        "$(wc -l <"$work/bodies")"
    while read -r seq; do
        number=$((number + 1))
        sed -n "${number}p" "$work/bodies" >"$work/request"
        same_texts "$1: --at $seq" "$work/request" --at "$seq" "$2"
    done <"$work/asked"
}
children_of() { # RUN
    "$WEND" log --json "$1" |
        sed -nE 's/.*"type":"child_start".*"data":\{"run":"([^"]*)".*/\1/p'
}

# ---- Killed, and resumed ---------------------------------------------------------------

for row in openai:/v1 responses:/v1 anthropic:/v1 gemini:/v1beta ollama:; do
    provider=${row%%:*}
    begin "$WEND" run -q -m "$provider:x" -t calculator --instructions "Be brief." \
        --base-url "$server/=$call;hang;text:3%23$provider${row#*:}" hi
    soon got 2 "%23$provider"
    killed
    exits "$provider: resume" 0 "$WEND" resume -q "$id"
    all_same "$provider: resumed" "$id" "%23$provider"
done

# Results were cut before it: the request that is asked again has them so.
printf 'wend: tool/1\nname: noop\ndescription: counts\ncommand: [seq, "1", "%s"]\n' \
    2400 >"$work/long.yaml"
printf 'wend: tool/1\nname: noop\ndescription: counts\ncommand: [seq, "1", "%s"]\n' \
    9 >"$work/short.yaml"
printf 'wend: agent/1\nmodel: openai:x\ncontext_tokens: 6000\ntools: []\n' \
    >"$work/cut.yaml"
begin "$WEND" run -q -a "$work/cut.yaml" --notes off --tools "$work/long.yaml" \
    --approve all \
    --base-url "$server/=tools:4;tools:4;tools:4;hang;tools:4%23cut/v1" hi
soon got 4 "%23cut"
killed
exits "results that were cut: resume" 0 "$WEND" resume -q "$id"
all_same "results that were cut" "$id" "%23cut"
is "results that were cut: before and after the kill" \
    "$(grep -c '\[cut: bytes ' <(sed -n 4,5p "$work/bodies"))" 2

# A summary was asked for. The process dies after it, or while it is written.
shorten() { # NAME STEPS REQUESTS: until the process has made so many
    printf 'wend: agent/1\nmodel: openai:x\ntools: []\n' >"$work/$1.yaml"
    exits "$1: before" 0 "$WEND" run -q -a "$work/$1.yaml" --notes off \
        --tools "$work/short.yaml" --approve all \
        --base-url "$server/=tools:4;tools:4;tools:4;tools:4;tools:4;$2%23$1/v1" hi
    begin "$WEND" run -qc --approve all "And now?"
    soon got 6 "%23$1"
    exits "$1: say --compact" 0 "$WEND" say --compact "$id"
    soon got "$3" "%23$1"
    killed
    exits "$1: resume" 0 "$WEND" resume -q "$id"
    has "$1: it was shortened" <("$WEND" log --json "$id") '"method":"summary"'
    all_same "$1" "$id" "%23$1" 6
    has "$1: the request has the summary" "$work/request" 'The user counts.'
}
shorten after "tools:9,head=3s;$sum;hang;text:3" 8
shorten while "tools:9,head=3s;hang;$sum;text:3" 7

# ---- Children --------------------------------------------------------------------------

# Both have notes and instructions of their own.
echo "Use tabs." >AGENTS.md
mkdir agents
helper() { # STEPS: of its model
    printf 'wend: agent/1\nname: helper\ndescription: computes\nmodel: %s\n%s\n' \
        anthropic:x "base_url: $server/=$1/v1
instructions: Compute.
tools: [calculator]" >agents/helper.yaml
}
boss() { # STEPS
    printf 'wend: agent/1\nname: boss\nmodel: openai:x\nbase_url: %s\n%s\n' \
        "$server/=$1/v1" "instructions: Delegate.
agents: [agents/helper.yaml]
tools: [calculator]" >boss.yaml
}
family() { # WHAT BOSS-PART HELPER-PART: both runs and their requests
    all_same "$1" "$id" "$2"
    child=$(children_of "$id")
    all_same "$1: the child" "$child" "$3"
}
helper "$call%23kid"
boss "$task%23boss"
exits "a task" 0 "$WEND" run -q -a boss.yaml --approve all go
id=$(newest)
family "a task" %23boss %23kid
has "a task: the child has its own instructions" "$work/request" Compute.
has "a task: the child has the notes" "$work/request" "Use tabs."

# Killed while the child waits for its model: both are resumed.
helper "$call;hang;text:3%23kid2"
boss "$task%23boss2"
begin "$WEND" run -q -a boss.yaml --approve all go
soon got 2 %23kid2
killed
exits "a task that was killed: resume" 0 "$WEND" resume -q "$id"
family "a task that was killed" %23boss2 %23kid2

# ---- Plans -----------------------------------------------------------------------------

cat >p.yaml <<'END'
wend: plan/1
name: p
actions:
  - {name: a, type: llm, prompt: "What is it?", output_key: it}
  - {name: b, type: agent, target: agents/helper.yaml, prompt: "About $it.",
     params: {style: short}, depends_on: [a], output_key: said}
  - {name: c, type: llm, prompt: "And $said?", depends_on: [b]}
END
plan() { # NAME STEPS: of the model of llm actions
    printf 'wend: agent/1\nmodel: openai:x\nbase_url: %s\ninstructions: Be brief.\n' \
        "$server/=$2%23$1/v1" >"$work/plan.yaml"
}
helper "$call%23kid3"
plan plan "say:sand;say:stone"
exits "a plan" 0 "$WEND" plan run -q -a "$work/plan.yaml" p.yaml
id=$(newest)
family "a plan" %23plan %23kid3
has "a plan: the child has the output before it" "$work/request" "About sand."

helper "$call;hang;text:3%23kid4"
plan plan2 "say:sand;hang;say:stone"
begin "$WEND" plan run -q -a "$work/plan.yaml" p.yaml
soon got 2 %23kid4
killed
begin_again() { # goes on in the background
    "$WEND" resume -q "$id" >"$out" 2>"$err" &
    pid=$!
}
begin_again
soon got 2 %23plan2
killed
exits "a plan that was killed twice: resume" 0 "$WEND" resume -q "$id"
family "a plan that was killed twice" %23plan2 %23kid4
finish
