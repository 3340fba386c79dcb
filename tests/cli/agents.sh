#!/usr/bin/env bash
# agents.sh - agents from files: -a, --tools, what they change, wend agents.
. "$(dirname "$0")/lib.sh"
top=$(realpath "$test_dir/../..")
first() { head -1 "$out" >x && json x "$1"; }
folder=$HOME/.config/wend/agents
mkdir -p "$folder" sub

# ---- The example ----------------------------------------------------------------

cd "$top" || exit 2
exits "the example" 0 "$WEND" run -a examples/agent.yaml 'How much flour?'
has "the example: its answer" "$out" "1000 g of flour"
cd "$work/cwd" || exit 2

# ---- What it sets ----------------------------------------------------------------

cat >sub/full.yaml <<YAML
wend: agent/1
name: cook
model: script:full.script
fallback_models: ['script:other.script']
instructions: be brief
context_tokens: 5000
tools: [calculator, write_file]
limits: {turns: 7, time: 90s, tokens: 5000, cost: 0.25, parallel: 2}
policy:
  - {tool: 'write_file(out/*)', do: allow}
  - {tool: write_file, do: deny}
  - {tool: calculator, do: ask}
network: off
YAML
echo "${hello#script:}" >sub/full.script
cp sub/full.script sub/other.script
exits "a file" 0 "$WEND" run --json -a sub/full.yaml hi
is "a file: limits" "$(first "$(at data.limits)")" \
    '{"turns":7,"time_ms":90000,"tokens":5000,"cost":0.25,"parallel":2}'
is "a file: its name" "$(first "$(at data.agent)")" cook
is "a file: config" "$(first "$(at data.config.instructions)||' '||
    $(at data.config.context_tokens)||' '||$(at data.config.policy.rules)")" \
    'be brief 5000 ["write_file(out/*)","!write_file","?calculator"]'
is "a file: tools" "$(first "json_array_length($(at data.config.tools))||' '||
    $(at 'data.config.tools[0].name')||' '||$(at 'data.config.tools[1].name')")" \
    "2 calculator write_file"
has "a file: the model is beside it" "$out" '"model":"script:sub/full.script"'
has "a file: the fallback, too" "$out" 'script:sub/other.script'
exits "options come first" 0 "$WEND" run --json -a sub/full.yaml --max-turns 3 \
    --timeout 50 --instructions 'be long' -t list_dir --approve '!calculator' \
    -m "$hello" hi
is "options come first" "$(first "$(at data.limits.turns)||' '||
    $(at data.limits.time_ms)||' '||$(at data.limits.tokens)||' '||
    $(at data.config.instructions)||' '||
    json_array_length($(at data.config.tools))||' '||
    $(at 'data.config.tools[0].name')||' '||
    $(at 'data.config.policy.rules[0]')||' '||
    json_array_length($(at data.config.policy.rules))")" \
    "3 50000 5000 be long 1 list_dir !calculator 4"
printf 'max_turns: 9\ntools: [list_dir]\ninstructions: none\nmodel: "a:b"\n' \
    >"$HOME/.config/wend/config.yaml"
WEND_MODEL=openai:none exits "settings and environment come last" 0 \
    "$WEND" run --json -a sub/full.yaml hi
is "settings and environment come last" "$(first "$(at data.limits.turns)||' '||
    $(at data.config.instructions)||' '||
    $(at 'data.config.tools[0].name')")" "7 be brief calculator"
printf 'wend: agent/1\nmodel: script:full.script\n' >sub/small.yaml
exits "what it does not say" 0 "$WEND" run --json -a sub/small.yaml hi
is "what it does not say" "$(first "$(at data.agent)||' '||
    $(at data.limits.turns)||' '||$(at data.config.instructions)||' '||
    json_array_length($(at data.config.tools))")" "small 9 none 1"
rm "$HOME/.config/wend/config.yaml"
exits "no tools said" 0 "$WEND" run --json -a sub/small.yaml hi
is "no tools said: those that read" \
    "$(first "json_array_length($(at data.config.tools))")" 5
printf 'wend: agent/1\nmodel: script:full.script\ntools: []\n' >sub/none.yaml
exits "no tools at all" 0 "$WEND" run --json -a sub/none.yaml hi
is "no tools at all" "$(first "json_array_length($(at data.config.tools))")" 0

printf 'wend: agent/1\nmodel: script:full.script\nnetwork: [db.local, 10.0.0.0/8]\n' \
    >sub/net.yaml
exits "places to reach" 0 "$WEND" run --json -a sub/net.yaml hi
is "places to reach" "$(first "$(at data.config.network)")" \
    '["db.local","10.0.0.0/8"]'

# A window is at most what the model can take.
for window in 4000 6000; do
    echo "{\"wend\":\"models/1\",\"models\":[{\"name\":\"script:*\",
\"window\":$window}]}" >models.yaml
    run "$WEND" run --json --models models.yaml -a sub/full.yaml hi
    is "a model of $window" "$(first "$(at data.config.context_tokens)")" \
        "$((window < 5000 ? window : 5000))"
done

# Rules in their order.
put() { # PATH: the outcome of writing there
    echo "{\"turns\":[{\"calls\":[{\"name\":\"write_file\",\"args\":
{\"path\":\"$1\",\"content\":\"x\"}}]},{\"text\":\"went on\"}]}" >sub/full.script
    run "$WEND" run --json -a sub/full.yaml hi
    json "$out" "CASE $(at type) WHEN 'call_end' THEN $(at data.outcome) END" |
        grep .
}
is "a rule allows" "$(put out/a)" ok
is "a rule denies" "$(put other/a)" denied

# ---- Markdown ---------------------------------------------------------------------

printf -- '---\nwend: agent/1\nmodel: %s\n---\n# You\n\nare kind.\n' \
    "'$hello'" >md.md
exits "Markdown" 0 "$WEND" run --json -a md.md hi
is "Markdown: the text is the instructions" \
    "$(first "$(at data.config.instructions)")" $'# You\n\nare kind.'
is "Markdown: the name is the file's" "$(first "$(at data.agent)")" md

# ---- Names ----------------------------------------------------------------------------

sed "s|script:full.script|'$hello'|" sub/small.yaml >"$folder/helper.yaml"
cp md.md "$folder/kind.md"
exits "by name" 0 "$WEND" run --json -a helper hi
is "by name" "$(first "$(at data.agent)")" helper
exits "by name, Markdown" 0 "$WEND" run --json -a kind hi
exits "the built-in one" 0 "$WEND" run --json -a agent -m "$hello" hi
is "the built-in one" "$(first "$(at data.agent)")" agent
exits "no such name" 2 "$WEND" run -a helpr hi
has "no such name" "$err" "there is no agent 'helpr'; did you mean 'helper'?"
exits "no such file" 2 "$WEND" run -a ./helper hi
has "no such file" "$err" "./helper: file not found"

# ---- Mistakes -----------------------------------------------------------------------------

# name | text | wanted on stderr
while IFS='|' read -r name text wanted; do
    printf '%b\n' "wend: agent/1\n$text" >bad.yaml
    exits "$name" 2 "$WEND" run -m "$hello" -a bad.yaml hi
    has "$name: said where" "$err" "bad.yaml:$wanted"
    lacks "$name: no run" "$out" Hello
done <<'ROWS'
unknown key|modle: a|2:1: unknown key 'modle' in the file; did you mean 'model'?
unknown tool|tools: [read_fil]|2:9: there is no tool 'read_fil'; did you mean 'read_file'?
network that is off|network: off\ntools: [http_request]|3:9: 'http_request' uses the network
rule for no tool|policy: [{tool: write_fle, do: deny}]|2:10: there is no tool 'write_fle'; did you mean
a file that is not there|tools: [./no.yaml]|2:9: ./no.yaml: file not found
a skill that is not there|skills: [./no]|2:10: ./no: file not found
an agent that is itself|agents: [bad.yaml]|2:10: bad.yaml:2:10: bad.yaml:2:10: bad.yaml:2:10: agents in agents
broken YAML|name: "a|3:1: found unexpected end
ROWS
printf 'wend: tool/1\nname: t\ndescription: d\nclas: read\n' >t.yaml
printf 'wend: agent/1\ntools: [t.yaml]\n' >bad.yaml
exits "a mistake in a file that it names" 2 "$WEND" run -m "$hello" -a bad.yaml hi
has "a mistake in a file that it names: where" "$err" \
    "bad.yaml:2:9: t.yaml:4:1: unknown key 'clas'"

# ---- What is not served -----------------------------------------------------------------------

mkdir -p skill
echo 'x' >skill/SKILL.md
printf 'wend: agent/1\nmodel: %s\nmemory: sync\nskills: [skill]\n' "'$hello'" >later.yaml
exits "keys for later" 0 "$WEND" run -a later.yaml hi
has "keys for later: skills" "$err" "later.yaml: 'skills' is not served"
has "keys for later: memory" "$err" "later.yaml: 'memory' is not served"

cat >t.yaml <<'YAML'
wend: tool/1
name: word_count
description: Counts words.
command: [./wc.sh]
YAML
exits "--tools" 0 "$WEND" run --json --tools t.yaml -m "$hello" hi
exits "--tools, a mistake" 2 "$WEND" run --tools sub/full.yaml -m "$hello" hi
has "--tools, a mistake: where" "$err" \
    "--tools: sub/full.yaml:1:7: wend must be tool/1"
exits "--tools, a rule for it" 0 "$WEND" run --tools t.yaml \
    --approve word_count -m "$hello" hi
exits "--tools, a rule for none" 2 "$WEND" run --tools t.yaml \
    --approve word_cout -m "$hello" hi
has "--tools, a rule for none" "$err" "did you mean 'word_count'?"

# ---- Servers of tools ---------------------------------------------------------

server=$(dirname "$WEND")/tests/wend-test-mcp
if [ -x "$server" ]; then
    cp "$server" sub/serve
    cat >sub/mcp.yaml <<'YAML'
wend: agent/1
model: 'script:{"turns":[{"calls":[{"name":"words.echo","args":{"text":"x"}}]},
  {"text":"done"}]}'
tools: []
mcp: {words: {command: [./serve, good], timeout: 20s}}
policy: [{tool: words.echo, do: allow}]
YAML
    exits "a server" 0 timeout 60 "$WEND" run --json -a sub/mcp.yaml hi
    is "a server: its tool" "$(json "$out" "CASE $(at type) WHEN 'call_end'
        THEN $(at data.outcome) END" | grep .)" ok
    sed -i 's/serve, good/none, good/' sub/mcp.yaml
    exits "a server that is not there" 0 timeout 60 "$WEND" run --json \
        -a sub/mcp.yaml hi
    has "a server that is not there: said" "$err" "its tools are not offered"
else
    skip "servers of tools" "$server is not built"
fi
printf 'wend: agent/1\nmodel: "a:b"\nnetwork: off\nmcp: {a: {url: "http://b"}}\n' \
    >bad.yaml
exits "a server while the network is off" 2 "$WEND" run -a bad.yaml hi
has "a server while the network is off" "$err" \
    "bad.yaml: the server 'a' uses the network"

# ---- The list ------------------------------------------------------------------------------------

printf 'wend: agent/1\nname: here\ndescription: |\n  of this\n  folder\ntools: [calculator, t.yaml]\n' \
    >wend.yaml
echo 'broken: 1' >"$folder/odd.yaml"
echo 'text' >"$folder/readme.txt"
exits "agents" 0 "$WEND" agents
has "agents: the built-in one" "$out" "agent  built-in"
has "agents: of this folder" "$out" "here  wend.yaml  not accepted"
has "agents: description" "$out" "    of this folder"
has "agents: tools" "$out" "    tools: calculator, word_count"
has "agents: of the user" "$out" "helper  $folder/helper.yaml"
has "agents: what is wrong" "$out" \
    "cannot be used: $folder/odd.yaml:1:1: unknown key 'broken'"
lacks "agents: other files" "$out" readme
printf 'wend: agent/1\nname: wordy\ntools: [calculator, glob, grep, read_file, list_dir, write_file, edit_file, http_request]\ndescription: %s\n' \
    "$(printf 'a description of many words %.0s' {1..12})" >"$folder/wordy.yaml"
LC_ALL=C.UTF-8 "$WEND" agents >whole
LC_ALL=C.UTF-8 TERM=xterm on_screen 200x60 "$WEND agents" </dev/null
is "agents: no word is broken at the end of a line" \
    "$(xargs -n 1 <"$out" | grep -v /)" "$(xargs -n 1 <whole | grep -v /)"
has "agents: indented" "$out" "        "
lacks "agents: whole in a pipe" whole "        "
rm "$folder/wordy.yaml"
exits "agents --json" 0 "$WEND" agents --json
is "agents --json: names" "$(json "$out" "$(at name)" | tr '\n' ' ')" \
    "agent here helper kind $folder/odd.yaml "
is "agents --json: one" "$(sed -n 2p "$out")" '{"name":"here",'\
'"file":"wend.yaml","trusted":false,"model":null,"description":'\
'"of this\nfolder\n","tools":["calculator","word_count"]}'
is "agents --json: the user's are trusted" \
    "$(json "$out" "$(at trusted)" | tr '\n' ' ')" "1 0 1 1 1 "
has "agents --json: what is wrong" "$out" '"error":"'
WEND_MODEL=openai:mine run "$WEND" agents --json
is "agents --json: the model of the settings" \
    "$(sed -n 2p "$out" >x && json x "$(at model)")" openai:mine
exits "agents: a word too many" 2 "$WEND" agents all
finish
