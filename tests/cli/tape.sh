#!/usr/bin/env bash
# tape.sh - the wire recorded and played back: same bytes, no network, no key.
. "$(dirname "$0")/lib.sh"

needs_server
unset OPENAI_API_KEY ANTHROPIC_API_KEY GEMINI_API_KEY http_proxy https_proxy
unset all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY

serve_http
base=http://127.0.0.1:$port

ask() { # MODEL [OPTION...]: a run with all events in $out
    local model=$1
    shift
    run "$WEND" run --json -m "$model" "$@" "${prompt:-hi}"
}

# What a run says, without what is of this time and this run.
gist() { # FILE
    local member
    for member in type text finish usage output args error outcome answer; do
        json "$1" "$(at type) || ' $member ' || coalesce($(at $member), '-')"
    done | grep -v '^metrics '
}

# ---- Recording ---------------------------------------------------------------

call='call:calculator:%7B%22expression%22:%226*7%22%7D'
rows="openai:/v1 responses:/v1 anthropic:/v1 gemini:/v1beta ollama:"
canary=sk-canary-0123456789
for row in $rows; do
    provider=${row%%:*}
    OPENAI_API_KEY=$canary ANTHROPIC_API_KEY=$canary GEMINI_API_KEY=$canary \
        ask "$provider:x" --base-url "$base/=$call${row#*:}" \
        --record "$work/$provider"
    is "$provider: recorded: exit status" $status 0
    cp "$out" "$work/$provider.events"
    is "$provider: a pair for each request" "$(cd "$work/$provider" && echo 0*)" \
        "0001.request 0001.response 0002.request 0002.response"
    ! grep -rqF "$canary" "$work/$provider"
    ok "$provider: no key in it"
done
is "the directory is only for the user" "$(stat -c %a "$work/openai")" 700
is "the files, too" "$(stat -c %a "$work/openai/0001.request")" 600
has "the request's line" "$work/openai/0001.request" "POST $base/"
has "the answer's status" "$work/openai/0001.response" "status 200"
has "the answer's type" "$work/openai/0001.response" \
    "content-type: text/event-stream"

quote="bytes:data: {\"error\":{\"message\":\"bad key $canary\"}}

,chunk=1"
quote=$(printf %s "$quote" | od -An -v -tx1 | tr -d '\n' | sed 's/ /%/g')
echo "$canary" >"$work/keyfile"
chmod 600 "$work/keyfile"
ask openai:x --base-url "$base/=$quote/v1" --key-file "$work/keyfile" \
    --record "$work/quoted"
is "a server quotes the key: exit status" $status 1
grep -qF '[key]' "$work/quoted/0001.response"
ok "a key in one-byte pieces is replaced"
! grep -rqF "canary" "$work/quoted"
ok "a key in one-byte pieces is nowhere"

ask "openai:delay:40ms:10:8" --base-url "$base/v1" --record "$work/slow"
ask "openai:delay:40ms:100:8" --base-url "$base/v1" --record "$work/stopped" \
    --timeout 2s
is "stopped in the middle: exit status" $status 3
retry="openai:status:429:retry-after-ms=10;text:2:8"
ask "$retry" --base-url "$base/v1" --record "$work/retry"
is "a retry: recorded: exit status" $status 0
cp "$out" "$work/retry.events"
ask "openai:text:50:8,delay=1ms,reset=2000" --base-url "$base/v1" \
    --record "$work/reset"
is "a reset: recorded: exit status" $status 1
cp "$out" "$work/reset.events"

ask openai:text:2 --base-url "$base/v1" --record "$work/openai"
is "a directory with something in it: exit status" $status 2
has "a directory with something in it: said" "$err" "is not empty"
ask openai:text:2 --base-url "$base/v1" --record "$work/no/such"
is "a directory that cannot be made: exit status" $status 2
ask "$hello" --record "$work/script"
is "a script has no wire: exit status" $status 2
ask openai:text:2 --base-url "$base/v1" --record "$work/a" --playback "$work/b"
is "both at once: exit status" $status 2
mkdir "$work/gone"
(cd "$work/gone" && ln -s nowhere 0001.request)
ask openai:text:2 --base-url "$base/v1" --record "$work/gone"
is "a link in it: exit status" $status 2
(
    ulimit -f 1 # blocks of a KiB; the pipe is not limited
    trap '' XFSZ
    "$WEND" run --json --store memory: -m openai:text:2 \
        --base-url "$base/v1" --record "$work/full" \
        "$(head -c 5000 /dev/zero | tr '\0' x)"
) 2>"$err" </dev/null | cat >"$out"
is "a full disk: exit status" "${PIPESTATUS[0]}" 1
has "a full disk: said" "$out" "record: cannot write $work/full/0001.request"
lacks "a full disk: not tried again" "$out" model_retry

# ---- Playing back --------------------------------------------------------------

exec 9>&-
wait $server_pid
for row in $rows; do
    provider=${row%%:*}
    ask "$provider:x" --base-url "$base/=$call${row#*:}" \
        --playback "$work/$provider"
    is "$provider: played: exit status" $status 0
    is "$provider: the same events" "$(gist "$out")" \
        "$(gist "$work/$provider.events")"
done
from=$(date +%s%N)
ask "openai:delay:40ms:10:8" --base-url "$base/v1" --playback "$work/slow"
took=$((($(date +%s%N) - from) / 1000000))
is "slowly: exit status" $status 0
[ $took -ge 300 ]
ok "slowly: it takes its time" || echo "# $took ms"
ask "openai:delay:40ms:10:8" --base-url "$base/v1" --playback "$work/slow" \
    --timeout 100ms
is "slowly, stopped in the middle: exit status" $status 3
ask "openai:delay:40ms:100:8" --base-url "$base/v1" --playback "$work/stopped"
is "stopped in the middle: plays up to there" $status 1
has "stopped in the middle: said" "$out" "0001.response was cut off"
ask "$retry" --base-url "$base/v1" --playback "$work/retry"
is "a retry: exit status" $status 0
is "a retry: tried again" "$(grep -c '"type":"model_retry"' "$out")" 1
is "a retry: the same events" "$(gist "$out")" "$(gist "$work/retry.events")"
ask "openai:text:50:8,delay=1ms,reset=2000" --base-url "$base/v1" \
    --playback "$work/reset"
is "a reset: exit status" $status 1
is "a reset: the same events" "$(gist "$out")" "$(gist "$work/reset.events")"

# ---- Differences -----------------------------------------------------------------

url=$base/=$call/v1
prompt="hi there" ask openai:x --base-url "$url" --playback "$work/openai"
is "another prompt: exit status" $status 1
has "another prompt: code" "$out" '"code":"invalid"'
lacks "another prompt: not tried again" "$out" model_retry
grep -qE 'playback: request 1 differs from the recording at byte [0-9]+: messages\[1\]\.content: recorded \\"hi\\", now \\"hi there\\"' "$out"
ok "another prompt: said" || tail -n 3 "$out"
ask openai:x --base-url "$url" --playback "$work/openai" --instructions "Be."
grep -qE 'request 1 differs .* messages\[0\]\.' "$out"
ok "instructions: said" || tail -n 3 "$out"
ask openai:x --base-url "$url" --playback "$work/openai" -t calculator
has "other tools: said" "$out" "request 1 differs"
ask openai:y --base-url "$url" --playback "$work/openai"
has "another model: said" "$out" 'model: recorded \"x\", now \"y\"'
ask openai:x --base-url "$base/v1" --playback "$work/openai"
has "another URL: said" "$out" "of its head: the URL: recorded"

cp -r "$work/openai" "$work/edited"
sed -i 's/"42"/"41"/' "$work/edited/0002.request"
ask openai:x --base-url "$url" --playback "$work/edited"
has "another result: said" "$out" 'recorded \"41\", now \"42\"'
has "another result: which request" "$out" "playback: request 2 differs"
rm "$work/edited/"0002.*
ask openai:x --base-url "$url" --playback "$work/edited"
has "past the end: said" "$out" \
    "playback: there is no request 2 in $work/edited"

# ---- Damage ------------------------------------------------------------------------

cp -r "$work/openai" "$work/cut"
size=$(stat -c %s "$work/cut/0002.response")
for part in 0 5 60 $((size / 2)) $((size * 3 / 4)); do
    head -c "$part" "$work/openai/0002.response" >"$work/cut/0002.response"
    ask openai:x --base-url "$url" --playback "$work/cut" --timeout 60s
    is "cut off after $part bytes: exit status" $status 1
    # Before any piece it is tried again, which was not recorded.
    grep -qE "0002.response was cut off|there is no request 3" "$out"
    ok "cut off after $part bytes: said" || tail -n 3 "$out"
done
has "cut off: a matter of the network" "$out" '"code":"network"'
head -c $((size - 1)) "$work/openai/0002.response" >"$work/cut/0002.response"
ask openai:x --base-url "$url" --playback "$work/cut" --timeout 60s
is "cut off after the end mark: nothing is missing" $status 0
echo "hello" >"$work/cut/0002.response"
ask openai:x --base-url "$url" --playback "$work/cut"
has "no recording: said" "$out" "0002.response is not a recording"
ask openai:x --playback "$work/nowhere"
is "no directory: exit status" $status 2
has "no directory: said" "$err" "there is no recording in $work/nowhere"
finish
