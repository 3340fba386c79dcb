#!/usr/bin/env bash
# doctor.sh - tools and doctor.
. "$(dirname "$0")/lib.sh"

exits "tools" 0 "$WEND" tools
for tool in calculator read_file list_dir write_file edit_file glob grep \
    http_request; do
    grep -q "^$tool " "$out"
    ok "tools: $tool"
done
exits "tools NAME" 0 "$WEND" tools write_file
sed -n '/^{/,$p' "$out" >schema
is "tools NAME: its schema" \
    "$(sqlite3 :memory: "SELECT json_valid(readfile('schema'))")" 1
exits "tools --json" 0 "$WEND" tools --json
is "tools --json" "$(json "$out" "$(at name)||' '||$(at class)||' '||
    $(at category)||' '||$(at schema.type)" | head -1)" \
    "calculator read general object"

exits "doctor: no model" 1 "$WEND" doctor --offline
is "doctor: only the model fails here" "$(grep -c ^FAIL "$out")" 1
grep -A1 '^FAIL model  *not set' "$out" >failed
has "doctor: no model: what to do" failed "-> wend run -m PROVIDER:NAME, or"
has "doctor: no model: where" failed "into $HOME/.config/wend/config.yaml"
exits "a run without a model is refused, too" 2 "$WEND" run x
export WEND_MODEL=$hello
exits "doctor" 0 "$WEND" doctor
lacks "doctor: nothing fails here" "$out" FAIL
grep -qE '^ok +store' "$out"
ok "doctor: the store"
for check in openat2 landlock seccomp memfd pidfd mounts bounds workspace; do
    grep -qE "^(ok|note) +$check " "$out"
    ok "doctor: $check"
done
LC_ALL=C.UTF-8 TERM=xterm on_screen 60x90 \
    "HOME=/h $WEND doctor --offline --store memory:" </dev/null
is "doctor on a terminal: what is below is indented" \
    "$(grep -vE '^(ok  |note|FAIL) [a-z]|^ {16}|^$' "$out")" ""
grep -qE '^ {16}[a-z]' "$out"
ok "doctor on a terminal: long lines are wrapped"
exits "doctor --json" 0 "$WEND" doctor --json
is "doctor --json" "$(json "$out" "$(at result)" | grep -c '^ok\|^note')" \
    "$(wc -l <"$out")"
exits "doctor: a store that fails" 1 "$WEND" doctor --store /nowhere/x.db
grep -qE '^FAIL store' "$out"
ok "doctor: says which"
grep -qE '^ +-> ' "$out"
ok "doctor: says what to do"
(cd "$HOME" && "$WEND" doctor) >said
has "doctor: a home folder" said "the working directory is your home directory"
own=$(awk -F: -v uid="$(id -u)" '$3 == uid { print $6; exit }' /etc/passwd)
if [ -d "$own" ] && cd "$own"; then
    "$WEND" doctor >"$work/cwd/said"
    cd "$work/cwd" || exit 2
    has "doctor: the home folder of /etc/passwd" said \
        "the working directory is your home directory"
fi
exits "doctor: a model that fails" 1 "$WEND" doctor -m script:/nowhere
exits "doctor: a model" 0 "$WEND" doctor -m "$hello"
is "doctor leaves no runs" "$("$WEND" runs --json)" ""
grep -qE '^(ok|note) +disk +[0-9]+ MiB are free' "$out"
ok "doctor: the disk"

# ---- The settings of a run ------------------------------------------------------------

unset OPENAI_API_KEY http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY
failing() { # NAME CHECK WORDS FIX OPTION...: the check fails, and says what to do
    local name=$1 check=$2 words=$3 fix=$4
    shift 4
    exits "$name" 1 "$WEND" doctor "$@"
    grep -A1 "^FAIL $check " "$out" >failed
    has "$name: why" failed "$words"
    has "$name: what to do" failed "-> $fix"
    lacks "$name: no key is shown" "$out" my-key
}
failing "no key" model "no key for openai" "export OPENAI_API_KEY=KEY" -m openai:x
failing "no server" provider "127.0.0.1:1: connection refused" \
    "check --base-url" -m openai:x --base-url http://127.0.0.1:1/v1
failing "a budget without a price" model "no price is known" "use another" \
    -m openai:x --base-url http://127.0.0.1:1/v1 --budget-cost 1
unset WEND_MODEL
failing "a folder that is missing" store "No such file" "mkdir -p /nowhere/a" \
    -m "$hello" --store /nowhere/a/x.db
failing "a folder with a space" store "No such file" "mkdir -p '/nowhere/a b'," \
    -m "$hello" --store "/nowhere/a b/x.db"
failing "a folder that is missing: its disk" disk "No such file" \
    "mkdir -p /nowhere" -m "$hello" --store /nowhere/x.db
failing "a store that is a folder" store "not a file" \
    "give a file in it: --store $PWD/wend.db" -m "$hello" --store "$PWD"
lacks "a store that is a folder: no other advice" "$out" chmod
echo "no database" >odd.db
failing "a store that is something else" store odd.db \
    "choose another path with --store" -m "$hello" --store odd.db
lacks "a store that is something else: its mode is not ours" "$out" chmod
lacks "a store that is something else: it cannot be verified" "$out" verify
if [ -d /proc/self ]; then
    failing "a folder that holds no files" store "/proc/x.db: cannot be made" \
        "choose another path" -m "$hello" --store /proc/x.db
    exits "a run says the same" 74 "$WEND" run -m "$hello" --store /proc/x.db hi
fi
mkdir empty
exits "a store that a run would make" 0 "$WEND" doctor --offline -m "$hello" \
    --store empty/x.db
is "a store that a run would make: nothing is left" "$(ls -A empty)" ""
failing "a program that is missing" mcp "no such program in PATH" \
    "nosuchprog is not found in PATH: install it, or give its path" \
    -m "$hello" --mcp x=nosuchprog
failing "a path that is missing" mcp "no such program" \
    "/no/such: check this path" -m "$hello" --mcp 'x=/no/such a'
echo hi >not-executable
failing "a file that is no program" mcp "cannot be run" \
    "chmod +x $PWD/not-executable" -m "$hello" --mcp "x=$PWD/not-executable"
failing "a server of tools that fails" mcp "bad" "run it by hand: false" \
    -m "$hello" --mcp bad=false
exits "--offline sends nothing" 0 "$WEND" doctor --offline -m openai:x \
    --base-url http://127.0.0.1:1/v1 --mcp bad=false
has "--offline sends nothing: and says so" "$out" "not asked: --offline"
mkdir -p "$HOME/.config/wend"
printf 'model: openai:x\nbase_url: http://127.0.0.1:1/v1\n' \
    >"$HOME/.config/wend/config.yaml"
failing "settings of the config file" provider "127.0.0.1:1" "check --base-url"
rm "$HOME/.config/wend/config.yaml"
printf 'wend: agent/1\nname: a\nmodel: openai:x\nbase_url: http://127.0.0.1:1/v1\n' \
    >a.yaml
failing "settings of an agent" provider "127.0.0.1:1" "check --base-url" -a a.yaml

if [ ! -x "$test_server" ]; then
    skip "a provider" "$test_server is not built"
    finish
fi
serve_http --log "$work/requests"
export OPENAI_API_KEY=my-key
at=http://127.0.0.1:$port
list="file:${test_dir//\//%2F}%2F..%2Fgolden%2Fmodels%2Fopenai.json,type=application%2Fjson"
now=$(date +%s)
exits "a provider" 0 "$WEND" doctor -m openai:gpt-4o \
    --base-url "$at/=$list,clock=$now/v1"
has "a provider: it answers" "$out" "answers, with 3 models"
has "a provider: its clock" "$out" "the provider's clock"
has "a provider: asked with the key of a run" "$work/requests" \
    "Authorization: Bearer my-key"
failing "a clock that is off" clock "ahead of the provider's clock" timedatectl \
    -m openai:gpt-4o --base-url "$at/=$list,clock=$((now - 4000))/v1"
failing "a model that it does not have" provider "'gpt-5' is not one of them" \
    "wend models openai --base-url" -m openai:gpt-5 --base-url "$at/=$list/v1"
failing "a wrong key" provider "401" "export OPENAI_API_KEY=KEY" \
    -m openai:x --base-url "$at/=status:401/v1"
exits "no list, but an answer" 0 "$WEND" doctor -m openai:x \
    --base-url "$at/=status:404;text:3/v1"
has "no list, but an answer: said" "$out" "answers a small request"
failing "no list and no answer" provider 404 "check the model" \
    -m openai:x --base-url "$at/=status:404/v1"
is "doctor leaves no runs of its own" "$("$WEND" runs --json)" ""
exec 9>&-
finish
