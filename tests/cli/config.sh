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

# ---- Where settings come from ----------------------------------------------------------

row() { grep "^$1 " "$out" | tr -s ' '; }
export OPENAI_API_KEY=never-show-this
exits "config" 0 "$WEND" config
is "config: of the file, with its line" "$(row max_turns)" "max_turns 7 $file:4"
is "config: a list" "$(row tools)" "tools calculator, list_dir $file:12"
is "config: a time" "$(row timeout)" "timeout 90s $file:5"
is "config: a default" "$(row model_timeout)" "model_timeout 30m default"
is "config: nothing" "$(row base_url)" "base_url - default"
has "config: that a key is there" "$out" "OPENAI_API_KEY is set"
lacks "config: and not which" "$out" never-show
WEND_MODEL=$sum exits "config, with a variable" 0 "$WEND" config --max-turns 3
has "config, with a variable: named" "$out" "variable WEND_MODEL"
is "config: an option" "$(row max_turns)" "max_turns 3 option --max-turns"
exits "config --json" 0 "$WEND" config --json
has "config --json: a setting" "$out" \
    "{\"setting\":\"eager\",\"value\":\"off\",\"origin\":\"$file:9\"}"
has "config --json: a key" "$out" '{"variable":"OPENAI_API_KEY","set":true}'
lacks "config --json: no key" "$out" never-show
has "config --json: a number is a number" "$out" \
    "{\"setting\":\"max_turns\",\"value\":7,\"origin\":\"$file:4\"}"
has "config --json: so is money" "$out" '"value":0.25,'
has "config --json: a default that is a number" \
    <(WEND_CONFIG=/dev/null "$WEND" config --json) \
    '{"setting":"parallel","value":5,"origin":"default"}'
has "config --json: a flag" "$out" '{"setting":"insecure_http","value":false,'

# ---- Approvals: what a run would do, and what earlier answers left -------------------

WEND_CONFIG=/dev/null exits "config: no terminal" 0 "$WEND" config
is "config: no terminal: as the run records it" "$(row approve)" \
    "approve deny default, without a terminal"
WEND_CONFIG=/dev/null run "$WEND" run --json -m "$hello" hi
is "a run without a terminal" "$(first "$(at data.config.policy.approve)")" deny
WEND_CONFIG=/dev/null run "$WEND" config --approve ask
is "config: asked for" "$(row approve)" "approve ask option --approve"
WEND_CONFIG=/dev/null run "$WEND" config --approve 'shell(ls *)'
is "config: a rule, and the mode of a run" "$(row approve)" \
    "approve deny, shell(ls *) option --approve"
approvals=$HOME/.local/share/wend/approvals
mkdir -p "${approvals%/*}"
printf '# mine\n%s\tshell(git *)\n/elsewhere\tshell(make)\n!write_file\n' \
    "$PWD" >"$approvals"
chmod 600 "$approvals"
exits "config: remembered" 0 "$WEND" config
is "config: remembered: newest first, with directory and line" \
    "$(sed -n '/^Remembered/,$p' "$out" | grep '^  ' | tr -s ' ')" \
    " !write_file everywhere $approvals:4
 shell(make) in /elsewhere $approvals:3
 shell(git *) in $PWD $approvals:2"
has "config: remembered: how to forget one" "$out" "wend config --forget RULE"
run "$WEND" config --json
has "config --json: remembered" "$out" \
    "{\"approval\":\"shell(git *)\",\"directory\":\"$PWD\",\"here\":true,\"file\":\"$approvals\",\"line\":2}"
has "config --json: remembered everywhere" "$out" \
    '{"approval":"!write_file","directory":null,"here":true,'
exits "config --forget: of another directory" 2 "$WEND" config --forget 'shell(make)'
has "config --forget: why not" "$err" "no rule 'shell(make)' is remembered for this directory"
exits "config --forget" 0 "$WEND" config --forget 'shell(git *)'
has "config --forget: said" "$err" "forgotten: shell(git *)"
is "config --forget: the rest stays" "$(cat "$approvals")" \
    "$(printf '# mine\n/elsewhere\tshell(make)\n!write_file')"
is "config --forget: so do its permissions" "$(stat -c %a "$approvals")" 600
rm "$approvals"
exits "config --forget: nothing is remembered" 2 "$WEND" config --forget x
[ ! -e "$approvals" ]
ok "config --forget: nothing is made"
mkdir project && cd project || exit 2
printf 'wend: agent/1\nname: p\nlimits:\n  turns: 2\n' >wend.yaml
exits "config, untrusted" 0 "$WEND" config
has "config, untrusted: said" "$out" "wend.yaml is not trusted, and nothing in it counts"
is "config, untrusted: the file" "$(row max_turns)" "max_turns 7 $file:4"
exits "config: trust" 0 "$WEND" trust wend.yaml
exits "config, trusted" 0 "$WEND" config
is "config, trusted: its line" "$(row max_turns)" "max_turns 2 wend.yaml:4"

# ---- init ----------------------------------------------------------------------------------

exits "init where a file is" 2 "$WEND" init
has "init where a file is: why" "$err" "--force replaces it"
has "init where a file is: it stays" wend.yaml "turns: 2"
exits "init --force" 0 "$WEND" init --force
has "init --force: accepted" "$out" "accepted as it is now"
exits "init: used at once" 0 "$WEND" run hi
lacks "init: used at once: trusted" "$err" ignored
sed 's/^# \([a-z_]*:\)/\1/; s/^#\( \( \|  -\)\)/\1/' wend.yaml >all.yaml
sed -i '/^model:\|^base_url:\|^context/d; s/server-files/x/' all.yaml
exits "init: all comments are settings" 0 "$WEND" trust all.yaml
echo '# more' >>wend.yaml
exits "init: a change" 0 "$WEND" run hi
has "init: a change revokes the acceptance" "$err" "is ignored"
cd ..
unset OPENAI_API_KEY

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
