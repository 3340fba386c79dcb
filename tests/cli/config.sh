#!/usr/bin/env bash
# config.sh - the settings file, and what comes before it.
. "$(dirname "$0")/lib.sh"

file=$HOME/.config/wend/config.yaml
mkdir -p "${file%/*}"
first() { head -1 "$out" >x && json x "$1"; }

cat >"$file" <<YAML
# what I use
model: '$hello'
store: $work/own.db
max_turns: 7
timeout: 90s
budget_tokens: 5000
budget_cost: 0.25
parallel: 2
eager: off
effort: high
approve: [deny, '!write_file']
tools: [calculator, list_dir]
instructions: be brief
YAML
unset WEND_STORE
exits "all keys" 0 "$WEND" run --json hi
is "all keys: limits" "$(first "$(at data.limits)")" \
    '{"turns":7,"time_ms":90000,"tokens":5000,"cost":0.25,"parallel":2}'
is "all keys: the rest" "$(first "$(at data.config.eager)||' '||
    $(at data.config.effort)||' '||
    $(at data.config.instructions)||' '||$(at 'data.config.tools[0].name')||' '||
    json_array_length($(at data.config.tools))||' '||
    $(at 'data.config.policy.rules[0]')")" \
    "off high be brief calculator 2 !write_file"
[ -e "$work/own.db" ]
ok "all keys: store"
exits "options come first" 0 "$WEND" run --json --max-turns 3 -t read_file \
    --approve all --timeout 50 -m "$sum" hi
is "options come first" "$(first "$(at data.limits.turns)||' '||
    $(at data.limits.time_ms)||' '||$(at 'data.config.tools[0].name')||' '||
    json_array_length($(at data.config.tools))||' '||
    $(at data.config.policy.approve)||' '||
    json_array_length($(at data.config.policy.rules))")" \
    "3 50000 read_file 1 all 0"
WEND_MODEL=$sum exits "the environment comes before the file" 0 "$WEND" run hi
WEND_MODEL=$sum run "$WEND" run hi
has "the environment comes before the file" "$out" "It is 42."
WEND_STORE=$work/env.db run "$WEND" run hi
[ -e "$work/env.db" ]
ok "WEND_STORE comes before the file"

# name | text | wanted on stderr
while IFS='|' read -r name text wanted; do
    printf '%b\n' "$text" >"$file"
    exits "$name" 2 "$WEND" run -m "$hello" hi
    has "$name: said where" "$err" "$file:$wanted"
done <<'ROWS'
unknown key|model: a\nmax_turn: 5|2:
unknown key, near|max_turn: 5|1:1: unknown key 'max_turn'; did you mean 'max_turns'?
bad value|max_turns: many|1:12: max_turns: 'many' is not a number
bad word|\neager: some|2:8: eager: 'some' is not one of
bad time|timeout: long|1:10: timeout: 'long' is not a duration
list where none may be|model: [a, b]|1:8: model: must not be a list
map where none may be|approve: {a: b}|1:10: approve: must be a string
broken YAML|model: "a|2:1: found unexpected end
no keys|- a| must hold keys
ROWS
: >"$file"
exits "an empty file" 0 "$WEND" run -m "$hello" hi
echo '# nothing' >"$file"
exits "only a comment" 0 "$WEND" run -m "$hello" hi
echo 'modle: x' >"$file"
exits "help works though the file is broken" 0 "$WEND" run --help
exits "doctor says it" 1 "$WEND" doctor
has "doctor says it" "$out" "unknown key 'modle'"

echo 'max_turns: 4' >other.yaml
WEND_CONFIG=other.yaml run "$WEND" run --json -m "$hello" hi
is "WEND_CONFIG" "$status $(first "$(at data.limits.turns)")" "0 4"
WEND_CONFIG=nowhere.yaml exits "WEND_CONFIG that is not there" 2 \
    "$WEND" run -m "$hello" hi
mkdir -p "$work/xdg/wend"
echo 'max_turns: 6' >"$work/xdg/wend/config.yaml"
XDG_CONFIG_HOME=$work/xdg run "$WEND" run --json -m "$hello" hi
is "XDG_CONFIG_HOME" "$status $(first "$(at data.limits.turns)")" "0 6"
finish
