#!/usr/bin/env bash
# openapi.sh - the document of the API: a validator accepts it, it has the routes
# of the table, and the answers of a server are as it says.
. "$(dirname "$0")/lib.sh"
. "$test_dir/serve.inc"
top=$(realpath "$test_dir/../..")

# In the suite without npm the test is skipped, and says so.
if ! command -v node npm >/dev/null ||
    ! packages=$top/$("$top/tests/clients/install" 2>"$err"); then
    skip "the document of the API" "npm cannot fetch the validator"
    finish
fi

mkdir -m 700 agents
agent() { # NAME SCRIPT: the first name is that of the default
    printf 'wend: agent/1\nname: %s\nmodel: %s\ntools: [calculator, write_file]\n' \
        "${1#0_}" "'$(model "$1" "$2")'" >"agents/$1.yaml"
}
agent asks '{"turns":[{"calls":[{"name":"write_file",
    "args":{"path":"a","content":"b"}}]},{"text":"Written."}]}'
agent fails '{"turns":[{"error":{"code":"invalid","message":"no"}}]}'
agent 0_quick '{"turns":[{"text":"Done.","repeat":"forever"}]}'
agent slow '{"turns":[{"text":"one two three","chunk":4,"first_delay":"0ms",
    "delay":"90s"}]}'

# One that was interrupted.
begin "$WEND" run -a agents/slow.yaml hi
killed
serve_begin --agents agents
node "$top/tests/openapi/check.mjs" "$url" "$token" "$packages" \
    "$top/src/serve/route.c" "$id" >"$out" 2>"$err"
ok "all was asked" || sed 's/^/# /' "$err"
while read -r line; do
    [[ $line != not* ]]
    ok "${line#*ok }"
done <"$out"
serve_end
is "the server ends" $? 143
finish
