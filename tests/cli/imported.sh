#!/usr/bin/env bash
# imported.sh - what came from elsewhere has no authority: imported runs, and
# stores that somebody else has made.
#
# The witnesses are a program that leaves a file behind and a server that logs
# the key it is sent. Each exploit has a control in which both are reached.
. "$(dirname "$0")/lib.sh"

unset OPENAI_API_KEY http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY \
    ALL_PROXY WEND_TRUST_STORE

# ---- Somebody else --------------------------------------------------------------

canary=$work/canary
them() { # COMMAND...: with a home and a store of their own
    HOME=$work/them WEND_STORE=$work/them.db "$@"
}
mkdir "$work/them" "$work/their"
cat >"$work/their/bad.sh" <<END
#!/bin/sh
echo sung >>$canary
END
chmod +x "$work/their/bad.sh"
printf 'wend: tool/1\nname: bad\ndescription: d\ncommand: [%s]\nclass: read\n' \
    "$work/their/bad.sh" >"$work/their/bad.yaml"
calls='script:{"turns":[{"calls":[{"name":"bad","args":{}}]},{"text":"went on"}]}'

sung() { [ -e "$canary" ]; }
silent() { # NAME
    ! sung
    ok "$1: the program does not run"
    rm -f "$canary"
}
sings() { # NAME
    sung
    ok "$1: control: the program runs"
    rm -f "$canary"
}

# A run that is about to call the program, without sandbox and questions.
us=$("$WEND" run -q -m "$hello" --json hi |
    sed -n 's/^{"run":"\([^"]*\)".*/\1/p;q')
(cd "$work/their" && them "$WEND" run -q --json -m "$calls" --tools bad.yaml \
    --sandbox off --approve all hi) >"$out"
sings "their run"
at=$(sed -n 's/^{"run":"[^"]*","seq":\([0-9]*\),"time":[0-9.]*,"type":"model_end".*/\1/p' \
    "$out" | head -1)
evil=$(them "$WEND" fork last --at "$at" --no-run)
them "$WEND" export "$evil" >"$work/evil.jsonl"
[ -s "$work/evil.jsonl" ]
ok "their file"
cp "$work/them.db" "$work/copy.db" # as it is sent to us

# ---- Imported -------------------------------------------------------------------

exits "import" 0 "$WEND" import "$work/evil.jsonl"
while IFS='|' read -r name wanted words; do
    # shellcheck disable=SC2086
    exits "$name" 2 timeout 60 "$WEND" $words
    has "$name: says what to do" "$err" "$wanted"
    silent "$name"
done <<END
resume RUN|was imported: its log cannot choose|resume $evil
fork RUN|was imported: its log cannot choose|fork $evil
fork with a message|was imported: its log cannot choose|fork $evil hello
replay --live|was imported: its log cannot choose|replay --speed 0 --to $at --live $evil
END

exits "resume all" 0 "$WEND" resume
has "resume all: says so" "$err" "run $evil was imported and is skipped"
silent "resume all"

# `last` is the newest that was made here, though the other began later.
is "the imported one is newer" "$(newest)" "$evil"
exits "log last" 0 "$WEND" log --json last
has "log last: ours" "$out" "{\"run\":\"$us\""
exits "resume last" 2 "$WEND" resume last
has "resume last: ours" "$err" "run $us is over"
exits "fork last" 0 "$WEND" fork -q --json last
lacks "fork last: ours" "$out" "$evil"
silent "last"
exits "last of imported runs" 2 env WEND_STORE="$work/only.db" bash -c \
    '"$1" import "$2" && "$1" resume last' - "$WEND" "$work/evil.jsonl"
has "last of imported runs: is none" "$err" "all runs were imported"

# What the user says counts, and nothing else.
exits "resume with a model" 0 "$WEND" resume -q --json -m "$hello" "$evil"
has "resume with a model: the log has no say" "$out" '"imported":true'
has "resume with a model: what was under way is lost" "$out" \
    '"name":"bad","outcome":"unknown"'
silent "resume with a model"
fork=$("$WEND" fork --no-run --at "$at" "$evil")
exits "a fork of it" 2 "$WEND" resume "$fork"
has "a fork of it: is imported, too" "$err" "was imported"
silent "a fork of it"
exits "its tool, not allowed" 0 "$WEND" fork -q --json --at "$at" -m "$hello" \
    --tools "$work/their/bad.yaml" --approve '!bad' "$evil"
silent "its tool, not allowed"
exits "its tool, given" 0 "$WEND" fork -q --json --at "$at" -m "$hello" \
    --tools "$work/their/bad.yaml" --sandbox off --approve all "$evil"
sings "its tool, given"
exits "their own resume" 0 them "$WEND" resume -q "$evil"
sings "their own resume"

# The list marks them.
"$WEND" runs --json >"$out"
is "runs --json: imported" "$(grep -c '"imported":true' "$out")" 4
! grep "{\"run\":\"$us\"" "$out" | grep -q '"imported"'
ok "runs --json: ours are not"
"$WEND" runs >"$out"
is "runs: imported" "$(grep -c '(imported) ' "$out")" 4

# A run of our own takes options, too.
begin "$WEND" run -m "$held" hi
killed
exits "resume of ours with a model" 0 "$WEND" resume -q --json -m "$hello" "$id"
has "resume of ours with a model" "$out" "Hello there."
lacks "resume of ours with a model: not imported" "$out" '"imported":true'

# ---- The key --------------------------------------------------------------------

if [ ! -x "$test_server" ]; then
    skip "the key" "$test_server is not built"
else
    key=sk-witness-$RANDOM$RANDOM$RANDOM
    serve_http --log "$work/requests"
    url=http://127.0.0.1:$port/v1
    OPENAI_API_KEY=theirs them "$WEND" run -q -m openai:text:3:8 \
        --base-url "$url" hi >/dev/null
    asks=$(them "$WEND" fork last --at 2 --no-run)
    them "$WEND" export "$asks" >"$work/asks.jsonl"
    "$WEND" import -q "$work/asks.jsonl"
    for command in resume fork; do
        : >"$work/requests"
        exits "$command: their address" 2 env OPENAI_API_KEY=$key \
            "$WEND" $command "$asks"
        lacks "$command: their address gets no key" "$work/requests" "$key"
        exits "$command: a model of ours" 0 env OPENAI_API_KEY=$key \
            "$WEND" $command -q -m "$hello" "$asks"
        lacks "$command: nor with a model of ours" "$work/requests" "$key"
        "$WEND" import -q "$work/asks.jsonl"
        asks=$("$WEND" fork --no-run --at 2 "$asks")
    done
    : >"$work/requests"
    exits "control: the address is given" 0 env OPENAI_API_KEY=$key \
        "$WEND" resume -q -m openai:text:3:8 --base-url "$url" "$asks"
    has "control: the key is sent" "$work/requests" "$key"
fi

# ---- A store that was made elsewhere ----------------------------------------------

foreign=$work/foreign.db
fresh() { rm -f "$foreign"*; cp "$work/copy.db" "$foreign"; }
fresh
exits "foreign store: read" 0 "$WEND" runs --store "$foreign"
has "foreign store: its runs" "$out" "interrupted"
for words in "resume $evil" "fork $evil" "resume" "resume last" \
    "replay --speed 0 --to $at --live $evil"; do
    # shellcheck disable=SC2086
    run timeout 60 "$WEND" ${words%% *} --store "$foreign" \
        ${words#"${words%% *}"}
    has "foreign store: $words: says what to do" "$err" "wend trust $foreign"
    silent "foreign store: $words"
done
exits "foreign store: --trust-store" 0 "$WEND" resume -q --trust-store \
    --store "$foreign" "$evil"
sings "foreign store: --trust-store"
fresh
exits "foreign store: not for good" 2 "$WEND" resume --store "$foreign" "$evil"
silent "foreign store: not for good"
exits "foreign store: WEND_TRUST_STORE=0" 2 env WEND_TRUST_STORE=0 \
    "$WEND" resume --store "$foreign" "$evil"
silent "foreign store: WEND_TRUST_STORE=0"
exits "foreign store: WEND_TRUST_STORE" 0 env WEND_TRUST_STORE=1 \
    "$WEND" resume -q --store "$foreign" "$evil"
sings "foreign store: WEND_TRUST_STORE"
fresh
exits "trust" 0 "$WEND" trust "$foreign"
has "trust: what it is" "$out" "a store with 2 runs, 1 unfinished"
"$WEND" trust --list >"$out"
has "trust --list" "$out" "store    $foreign"
exits "trust: resume" 0 "$WEND" resume -q --store "$foreign" last
sings "trust: resume"
fresh
exits "trust --remove" 0 "$WEND" trust --remove "$foreign"
exits "trust --remove: resume" 2 "$WEND" resume --store "$foreign" "$evil"
silent "trust --remove: resume"
exits "trust --remove: again" 2 "$WEND" trust --remove "$foreign"

# An id that somebody chose is no name of a file of ours.
if command -v sqlite3 >/dev/null; then
    fresh
    sqlite3 "$foreign" "UPDATE store SET id = '../trusted'"
    : >"$HOME/.local/share/wend/trusted"
    exits "a forged id" 2 "$WEND" resume --store "$foreign" "$evil"
    silent "a forged id"
    exits "a forged id: trust" 2 "$WEND" trust "$foreign"
else
    skip "a forged id" "no sqlite3"
fi

# Whoever made it was killed before it was kept in mind: nothing is in it yet.
hold
WEND_STORE=$work/empty.db
exits "a store without runs" 0 "$WEND" runs
mv "$HOME/.local/share/wend/stores" "$work/stores"
begin "$WEND" run -m "$held" hi
soon in_log "$id" '"text":"one "'
killed
hurry
exits "a store without runs is ours" 0 "$WEND" resume -q
has "a store without runs is ours: resumed" "$out" "one two three"
WEND_STORE=$work/wend.db
cp "$work/stores/"* "$HOME/.local/share/wend/stores"

# No home: a message.
fresh
exits "no home" 0 env -u HOME "$WEND" resume --store "$foreign" "$evil"
has "no home: says so" "$err" "HOME is not set"
rm -f "$canary"
exits "no home: a new store" 0 env -u HOME "$WEND" run --store "$work/no.db" \
    -m "$hello" hi
has "no home: a new store: says so" "$err" "HOME is not set"

# ---- On a terminal --------------------------------------------------------------

if ! has_terminal; then
    skip "on a terminal" "no script(1) from util-linux"
    finish
fi
new() { "$WEND" fork --no-run --at "$at" "$evil"; }
question='Resume it? [y]es [n]o'
at_terminal "$WEND resume $(new)" "$question" n
has "terminal: the program is shown" "$out" "$work/their/bad.sh"
has "terminal: the sandbox is shown" "$out" 'sandbox: "off"'
has "terminal: the policy is shown" "$out" 'approve: "all"'
has "terminal: no" "$out" "was imported: its log cannot choose"
silent "terminal: no"
at_terminal "$WEND resume -q $(new)" "$question" y
sings "terminal: yes"
fresh
question='Trust it from now on? [y]es [n]o'
at_terminal "$WEND resume --store $foreign last" "$question" n
silent "terminal: a foreign store, no"
at_terminal "$WEND resume -q --store $foreign last" "$question" y
sings "terminal: a foreign store, yes"
fresh
at_terminal "$WEND resume -q --store $foreign last"
sings "terminal: asked once"
finish
