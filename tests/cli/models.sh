#!/usr/bin/env bash
# models.sh - windows and prices from a file: what is listed, what a run costs,
# and that a budget of money is kept or refused.
. "$(dirname "$0")/lib.sh"
top=$(realpath "$test_dir/../..")
unset OPENAI_API_KEY ANTHROPIC_API_KEY GEMINI_API_KEY

# ---- The list -----------------------------------------------------------------

exits "no file" 0 "$WEND" models
has "no file: where it would be" "$out" "$HOME/.config/wend/models.yaml"
has "no file: providers" "$out" "OPENAI_API_KEY is not set"
exits "no file, JSON" 0 "$WEND" models --json
is "no file, JSON: each model has a source and a date" \
    "$(grep -v '"provider":' "$out" | grep -cv '"source":"https://.*","date":"2')" 0
has "no file, JSON: a model" "$out" '{"name":"openai:gpt-4o","window":128000,'
is "no file, JSON: providers" "$(grep -c '"provider":' "$out")" 5
exits "the example" 0 "$WEND" models --models "$top/examples/models.yaml"
has "the example: a model" "$out" "ollama:*"

cat >m.yaml <<'YAML'
wend: models/1
models:
  - name: "script:*"
    window: 1000
    output: 10
    price: {input: 3, cached: 0.3, cache_write: 3.75, output: 15}
  - {name: "openai:dear", price: {input: 1, output: 2}}
  - {name: "openai:*", window: 5}
YAML
export OPENAI_API_KEY=never-show-this
exits "a file" 0 "$WEND" models --models m.yaml
is "a file: a line" "$(grep '^script' "$out" | tr -s ' ')" \
    "script:* 1000 10 3 0.3 15 -"
is "a file: what is not known" "$(grep '^openai:\*' "$out" | tr -s ' ')" \
    "openai:* 5 - - - - yes"
lacks "the key is not shown" "$out" never-show

# A name is whole and a row is a line; columns are lost for that.
long=openai:some-organisation/a-model-with-a-rather-long-name-70b-instruct
printf 'wend: models/1\nmodels:\n- {name: "%s", window: 9}\n' $long >long.yaml
while read -r size file heads; do
    TERM=xterm on_screen "$size" "$WEND models --models $file" </dev/null
    is "$size, $file: columns" "$(head -1 "$out" | xargs)" "$heads"
    is "$size, $file: a row is a line" "$(sed '/^$/,$d' "$out" | wc -l)" \
        "$(($("$WEND" models --json --models $file | grep -c '"name":') + 1))"
    [ $file != long.yaml ] || has "$size, $file: the whole name" "$out" "$long  "
    is "$size, $file: windows are below their head" "$(head -60 "$out" |
        awk 'NR == 1 { at = index($0, "WINDOW") + 5 } /^$/ { exit }
            at > 5 && substr($0, at, 3) !~ /^[W0-9-]( |$)/')" ""
done <<'ROWS'
200x70 m.yaml MODEL WINDOW OUTPUT $IN $CACHED $OUT KEY
80x70 m.yaml MODEL WINDOW OUTPUT $IN $CACHED $OUT KEY
60x70 m.yaml MODEL WINDOW $IN $OUT
40x70 m.yaml MODEL
80x70 long.yaml MODEL WINDOW
ROWS
exits "no line is wide" 0 "$WEND" models
is "no line is wide" "$(grep -v "^/" "$out" | grep -E '.{81}')" ""

exits "JSON" 0 "$WEND" models --json --models m.yaml
is "JSON: a model" "$(head -1 "$out")" '{"name":"script:*","window":1000,'\
'"output":10,"price":{"input":3,"cached":0.3,"cache_write":3.75,"output":15},'\
'"concurrency":null,"key":null}'
is "JSON: what is not known" "$(sed -n 3p "$out")" \
    '{"name":"openai:*","window":5,"output":null,"price":null,"concurrency":null,"key":true}'
has "JSON: a provider" "$out" \
    '{"provider":"openai","key_env":"OPENAI_API_KEY","key":true}'
lacks "JSON: the key is not shown" "$out" never-show
exits "a word too many" 2 "$WEND" models openai all
exits "an unknown provider" 2 "$WEND" models opnai
has "an unknown provider: meant" "$err" "did you mean 'openai'?"

# ---- Where the file is ------------------------------------------------------------

WEND_MODELS=m.yaml exits "WEND_MODELS" 0 "$WEND" models
has "WEND_MODELS: it is read" "$out" "script:*"
mkdir -p "$work/xdg/wend" "$HOME/.config/wend"
echo '{"wend":"models/1","models":[{"name":"gemini:xdg"}]}' \
    >"$work/xdg/wend/models.yaml"
XDG_CONFIG_HOME=$work/xdg exits "XDG_CONFIG_HOME" 0 "$WEND" models
has "XDG_CONFIG_HOME: it is read" "$out" "gemini:xdg"
XDG_CONFIG_HOME=$work/xdg WEND_MODELS=m.yaml exits "a name goes first" 0 \
    "$WEND" models
lacks "a name goes first: only it" "$out" "gemini:xdg"
WEND_MODELS=m.yaml exits "an option goes before it" 0 "$WEND" models \
    --models "$work/xdg/wend/models.yaml"
has "an option goes before it: only it" "$out" "gemini:xdg"
echo "models: $PWD/m.yaml" >"$HOME/.config/wend/config.yaml"
exits "named in the settings" 0 "$WEND" models
has "named in the settings: it is read" "$out" "script:*"
rm "$HOME/.config/wend/config.yaml"
exits "a named file must be there" 2 "$WEND" models --models none.yaml
has "a named file must be there: which" "$err" none.yaml
exits "for a run, too" 2 "$WEND" run --models none.yaml -m "$hello" hi
has "for a run, too: which" "$err" none.yaml

printf 'wend: models/1\nmodels:\n- {name: "a:b", prise: {}}\n' >bad.yaml
exits "a mistake" 2 "$WEND" models --models bad.yaml
has "a mistake: where" "$err" "bad.yaml:3:17: unknown key 'prise'"
has "a mistake: what was meant" "$err" "did you mean 'price'?"
exits "a mistake, for a run" 2 "$WEND" run --models bad.yaml -m "$hello" hi
has "a mistake, for a run: where" "$err" "bad.yaml:3:17: unknown key 'prise'"

# ---- Names -----------------------------------------------------------------------------

while read -r name wanted; do
    exits "$name" 2 "$WEND" run -m "$name" hi
    has "$name: what was meant" "$err" "did you mean '$wanted'?"
done <<'ROWS'
gpt-4o openai:gpt-4o
o3-mini openai:o3-mini
claude-sonnet-4-5 anthropic:claude-sonnet-4-5
gemini-2.5-pro gemini:gemini-2.5-pro
opnai:x openai:x
antropic:claude-x anthropic:claude-x
openai/gpt-4o openai:gpt-4o
ROWS
exits "no name" 2 "$WEND" run -m openai: hi
exits "a name like no other" 2 "$WEND" run -m zzz hi
lacks "a name like no other: no guess" "$err" "did you mean"

# Ports that no test server can have here are refused: what to start.
for row in 'ollama ollama serve' '127.0.0.1:8080 llama-server' \
    'localhost:8000 vllm serve' '[::1]:1234 lms server start'; do
    at=${row%% *} url=(--base-url "http://${row%% *}/v1") name=openai:x
    [ "$at" != ollama ] || { url=() name=ollama:x at=11434; }
    run timeout 20 "$WEND" run -q --model-timeout 2s --store memory: \
        "${url[@]}" -m "$name" hi
    if grep -q 'connection refused' "$err"; then
        has "$at refuses: the port" "$err" "${at##*:}: connection refused"
        has "$at refuses: what to start" "$err" "start it: ${row#* }"
    else
        skip "$at refuses" "something answers there: $(head -c 200 "$err")"
    fi
done

# ---- Cost ------------------------------------------------------------------------------

loop=$(model loop '{"turns":[{"calls":[{"name":"calculator","args":{"expression":
"${turn}"}}],"usage":{"input":100,"cached":40,"output":10},"repeat":2},
{"text":"Done.","usage":{"input":100,"output":1}}]}')
of() { grep "\"type\":\"$1\"" "$out" | tail -1 >line && json line "$(at "$2")"; }

exits "a run" 0 "$WEND" run --json --models m.yaml -m "$loop" hi
is "cost of a question" "$(grep '"type":"model_end"' "$out" | head -1 >line
    json line "$(at data.usage.cost)")" 0.000342
is "cost of the run" "$(of run_end data.metrics.cost)" 0.000999
is "cost in metrics" "$(of metrics data.cost)" 0.000999
is "nine tenths of the window" "$(of context_start data.budget_tokens)" 900
exits "runs" 0 "$WEND" runs --json -n 1
is "cost in runs" "$(json "$out" "$(at cost)")" 0.000999
exits "no price" 0 "$WEND" run --json -m "$loop" hi
is "no price: no cost" "$(of model_end data.usage.cost)" ""

is "no price: null in the metrics" "$(grep -o '"cost":[^,]*,"ms"' "$out" | sort -u)" \
    '"cost":null,"ms"'
exits "no price, in runs" 0 "$WEND" runs --json -n 1
has "no price, in runs: null" "$out" '"cost":null'
exits "no price, in view" 0 "$WEND" view last
has "no price, in view: -" "$out" "tokens, - USD"
exits "no price, in view --format json" 0 "$WEND" view --format json last
lacks "no price, in view --format json: never 0" "$out" '"cost":0'
exits "no price, on the page" 0 "$WEND" view --format html last
has "no price, on the page" "$out" "cost unknown"
# A process that dies in the middle of an answer leaves its cost unknown.
(
    WEND_STORE=$work/dies.db
    begin "$WEND" run -m "$held" hi
    soon in_log "$id" '"type":"text_delta"'
    kill -9 $pid
    wait $pid 2>/dev/null
    "$WEND" runs --json >"$work/dies.runs"
    "$WEND" view last >"$work/dies.view"
    "$WEND" stats --json >"$work/dies.stats"
)
has "no price, killed: runs" "$work/dies.runs" '"cost":null'
has "no price, killed: view" "$work/dies.view" "- USD"
has "no price, killed: stats" "$work/dies.stats" '"cost":null,"cost_at_least":0,"unpriced":1'
exits "no price, in stats" 0 "$WEND" stats --json
has "no price, in stats: null, what is known, and how often" "$out" \
    '"cost":null,"cost_at_least":0.000999,"unpriced":3'
exits "no price, in stats for people" 0 "$WEND" stats
has "no price, in stats for people: at least" "$out" \
    "at least 0.000999 USD (no price for 3 model calls)"
is "no price, in stats for people: -" \
    "$(grep '^script' "$out" | tr -s ' ' | cut -d' ' -f 7)" -

# ---- Budgets -----------------------------------------------------------------------------

exits "a budget that is enough" 0 "$WEND" run --models m.yaml \
    --budget-cost 0.1 -m "$loop" hi
exits "a budget that is not" 3 "$WEND" run --json --models m.yaml \
    --budget-cost 0.002 -t calculator -m "$(model forever '{"turns":[{"calls":[
{"name":"calculator","args":{"expression":"1"}}],"repeat":"forever",
"usage":{"input":100,"output":10}}]}')" hi
is "which limit" "$(of run_end data.limit)" cost
awk -v spent="$(of run_end data.metrics.cost)" \
    'BEGIN { exit !(spent > 0 && spent <= 0.002) }'
ok "not more than it was spent"
exits "a budget for nothing at all" 3 "$WEND" run --json --models m.yaml \
    --budget-cost 0.000001 -m "$hello" hi
lacks "a budget for nothing at all: nobody is asked" "$out" model_start
exits "no price, no budget" 2 "$WEND" run --models m.yaml --budget-cost 1 \
    -m openai:other hi
has "no price, no budget: why" "$err" "no price is known for 'openai:other'"
has "no price, no budget: what to add" "$err" \
    'add {name: "openai:other", output: TOKENS, price: {input: USD, output: USD}}'
cat >other.yaml <<'YAML'
wend: agent/1
name: other
model: openai:other
YAML
cat >boss.yaml <<YAML
wend: agent/1
name: boss
model: '$hello'
agents: [other.yaml]
YAML
exits "a child without a price" 2 "$WEND" run -a boss.yaml --budget-cost 1 hi
has "a child without a price: which" "$err" "no price is known for 'openai:other'"
exits "a child without a price, and no budget" 0 "$WEND" run -a boss.yaml hi
OPENAI_API_KEY=x exits "a price that holds elsewhere" 2 "$WEND" run \
    --budget-cost 1 -m openai:gpt-4o --base-url http://127.0.0.1:1/v1 hi
has "a price that holds elsewhere: why" "$err" \
    "'openai:gpt-4o' at this address: the price that 'wend models' shows is"
exits "no longest answer, no budget" 2 "$WEND" run --models m.yaml \
    --budget-cost 1 -m openai:dear hi
has "no longest answer, no budget: why" "$err" "give its 'output'"
exits "no file, no budget" 2 "$WEND" run --budget-cost 1 -m openai:other hi
exits "a script costs nothing" 0 "$WEND" run --budget-cost 1 -m "$hello" hi

# ---- Over HTTP -----------------------------------------------------------------------------

if [ ! -x "$test_server" ]; then
    skip "over HTTP" "$test_server is not built"
    finish
fi
unset http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY
serve_http --log "$work/requests"
cat >http.yaml <<'YAML'
wend: models/1
models:
  - {name: "*:text:*", output: 77, price: {input: 1000, output: 1000}}
YAML
for row in openai:/v1 responses:/v1 anthropic:/v1 gemini:/v1beta ollama:; do
    provider=${row%%:*}
    : >"$work/requests"
    exits "$provider" 0 "$WEND" run --json --models http.yaml --budget-cost 100 \
        -m "$provider:text:3:8" --base-url "http://127.0.0.1:$port${row#*:}" hi
    tokens=$(json "$out" "($(at data.usage.input)+$(at data.usage.output))/1000.0" |
        grep .)
    is "$provider: its tokens have a cost" "$(of model_end data.usage.cost)" \
        "${tokens:-some}"
    has "$provider: the request carries the longest answer" "$work/requests" \
        ':77'
    enough=$(awk -v asked="$(of context_end data.tokens)" \
        'BEGIN { print (asked + 40) / 1000 }')
    : >"$work/requests"
    exits "$provider: a small budget" 0 "$WEND" run --json --models http.yaml \
        --budget-cost "$enough" -m "$provider:text:3:8" \
        --base-url "http://127.0.0.1:$port${row#*:}" hi
    is "$provider: a small budget cuts the answer" \
        "$(of model_start data.output_tokens) $(of model_start data.limit)" \
        "40 cost"
    has "$provider: the request carries what the budget leaves" \
        "$work/requests" ':40'
done
# The maximum of a model that comes with wend is not sent, but what a budget
# leaves of it is.
: >"$work/requests"
exits "a shipped model" 0 "$WEND" run --json --budget-tokens 100000 \
    -m openai:gpt-4o --base-url "http://127.0.0.1:$port/=text:3:8/v1" hi
is "a shipped model: its maximum is reserved" \
    "$(of model_start data.output_tokens) $(of model_start data.limit)" "16384 "
lacks "a shipped model: its maximum is not sent" "$work/requests" max_completion_tokens
exits "a shipped model, a small budget" 0 "$WEND" run --json \
    --budget-tokens 5000 -m openai:gpt-4o \
    --base-url "http://127.0.0.1:$port/=text:3:8/v1" hi
is "a shipped model, a small budget: it cuts the answer" \
    "$(of model_start data.limit)" tokens
has "a shipped model, a small budget: it is sent" "$work/requests" \
    "\"max_completion_tokens\":$(of model_start data.output_tokens)"
cut=$top/tests/golden/openai/length.sse
exits "a shipped model whose answer is cut" 3 "$WEND" run --json \
    --budget-tokens 5000 -m openai:gpt-4o \
    --base-url "http://127.0.0.1:$port/=file:${cut//\//%2F}/v1" hi
is "a shipped model whose answer is cut: the limit" \
    "$(of run_end data.limit)" tokens

# ---- What a provider has -------------------------------------------------------------

golden=$top/tests/golden/models
from() { # FILE...: a base URL whose nth request gets the nth file
    local steps= file
    for file in "$@"; do
        steps+="${steps:+;}file:${golden//\//%2F}%2F$file,type=application%2Fjson"
    done
    echo "http://127.0.0.1:$port/=$steps"
}
: >"$work/requests"
export OPENAI_API_KEY=key-of-openai ANTHROPIC_API_KEY=key-of-anthropic
export GEMINI_API_KEY=key-of-gemini
exits "openai has" 0 "$WEND" models openai --base-url "$(from openai.json)/v1"
has "openai has: a model" "$out" "openai:gpt-4o "
is "openai has: the price of another address is not known" \
    "$(grep '^openai:gpt-4o ' "$out" | tr -s ' ')" \
    "openai:gpt-4o 128000 16384 - - - yes"
has "openai has: the request" "$work/requests" "GET /=file:"
has "openai has: the key" "$work/requests" "Authorization: Bearer key-of-openai"
printf 'wend: models/1\nmodels:\n- {name: "openai:gpt-4o", window: 9, price: {input: 1, output: 2}}\n' \
    >own.yaml
exits "openai has, with a file" 0 "$WEND" models openai --models own.yaml \
    --base-url "$(from openai.json)/v1"
is "openai has, with a file: its price" \
    "$(grep '^openai:gpt-4o ' "$out" | tr -s ' ')" "openai:gpt-4o 9 - 1 1 2 yes"
exits "anthropic has" 0 "$WEND" models --json anthropic \
    --base-url "$(from anthropic.json anthropic_2.json)/v1"
is "anthropic has: two pages" "$(json "$out" "$(at name)" | tr '\n' ' ')" \
    "anthropic:claude-sonnet-4-5-20250929 anthropic:claude-haiku-4-5-20251001 "
has "anthropic has: the second page" "$work/requests" \
    "limit=1000&after_id=claude-sonnet-4-5-20250929 HTTP/1.1"
has "anthropic has: its version" "$work/requests" "anthropic-version: "
exits "gemini has" 0 "$WEND" models --json gemini \
    --base-url "$(from gemini.json gemini_2.json)/v1beta"
is "gemini has: two pages, and nothing that only embeds" \
    "$(json "$out" "$(at name)||' '||$(at window)||' '||$(at output)" | tr '\n' ' ')" \
    "gemini:gemini-2.5-flash 1048576 65536 gemini:gemini-2.5-pro 1048576 65536 "
has "gemini has: the second page" "$work/requests" "pageToken=Ch0v%2B%2F%3D HTTP/1.1"
exits "ollama has" 0 "$WEND" models ollama --base-url "$(from ollama.json)"
has "ollama has: a model" "$out" "ollama:llama3.2:latest"
exits "vLLM has" 0 "$WEND" models vllm --base-url "$(from openai_vllm.json)/v1"
is "vLLM has: a window" "$(grep '^openai:Qwen' "$out" | tr -s ' ' | cut -d' ' -f 2)" 32768
for name in llamacpp vllm lmstudio; do
    run "$WEND" models $name --base-url http://127.0.0.1:1/v1
    is "$name does not answer: its name" "$(cut -c 1-$((8 + ${#name})) "$err")" \
        "wend: $name: "
done

at=http://127.0.0.1:$port
# name | exit status | base URL | words
while IFS='|' read -r name code url words; do
    exits "$name" "$code" "$WEND" models openai --base-url "$url"
    has "$name: why" "$err" "$words"
    lacks "$name: the key is not shown" "$err" key-of-openai
done <<ROWS
a wrong key|1|$at/=status:401/v1|check the key
no list there|1|$at/=status:404/v1|404
an answer that is no list|1|$at/=bytes:hello/v1|not a list of models
a server with a problem|1|$at/=status:500/v1|500
no server|1|http://127.0.0.1:1/v1|127.0.0.1:1: connection refused
no URL|2|ftp://x|must begin with http://
ROWS
exits "a server that does not answer" 1 "$WEND" models openai --timeout 300ms \
    --base-url "$at/=hang/v1"
has "a server that does not answer: how long" "$err" "within"
unset OPENAI_API_KEY
exits "no key" 2 "$WEND" models openai
has "no key: which" "$err" "set OPENAI_API_KEY"

# A budget that is added later: the price is the one in the log.
exits "no price in the log" 0 "$WEND" run -m "openai:text:3:8" \
    --base-url "http://127.0.0.1:$port/v1" hi
exits "no price in the log: no budget for its fork" 2 "$WEND" fork last --at 2 \
    --models http.yaml --budget-cost 1
has "no price in the log: why" "$err" "no price is known for 'openai:text:3:8'"
exec 9>&-
finish
