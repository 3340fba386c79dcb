#!/usr/bin/env bash
# http.sh - models over real sockets: every protocol, every kind of failure.
. "$(dirname "$0")/lib.sh"

needs_server
unset OPENAI_API_KEY ANTHROPIC_API_KEY GEMINI_API_KEY http_proxy https_proxy
unset all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY

tls=()
if command -v openssl >/dev/null; then
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost \
        -addext subjectAltName=DNS:localhost \
        -keyout "$work/key.pem" -out "$work/cert.pem" 2>/dev/null &&
        tls=(--tls "$work/cert.pem" "$work/key.pem")
fi
serve_http --unix "$work/sock" --log "$work/requests" "${tls[@]}"
base=http://127.0.0.1:$port

types() { # the types of events in $out, deltas left out
    sed -n 's/^{"run":"[^"]*","seq":[0-9]*,"time":[0-9.]*,"type":"\([a-z_]*\)".*/\1/p' \
        "$out" | tr '\n' ' '
}

thinking() { # PROVIDER: what --effort low is in a request
    case $1 in
    openai) echo '"reasoning_effort":"low"' ;;
    responses) echo '"reasoning":{"effort":"low","summary":"auto"}' ;;
    anthropic) echo '"thinking":{"type":"enabled","budget_tokens":1024}' ;;
    gemini) echo '{"includeThoughts":true,"thinkingBudget":1024}' ;;
    ollama) echo '"think":true' ;;
    esac
}

ask() { # MODEL [OPTION...]: a run with all events in $out
    local model=$1
    shift
    run "$WEND" run --json -m "$model" "$@" hi
}

# ---- Every protocol ----------------------------------------------------------

# In the path, so that no protocol quotes it.
call='call:calculator:%7B%22expression%22:%226*7%22%7D'
tool_turn="run_start turn_start context_start context_end model_start \
model_part call_start"
for row in openai:/v1 responses:/v1 anthropic:/v1 gemini:/v1beta ollama:; do
    provider=${row%%:*} url=$base${row#*:}
    ask "$provider:text:3:8" --base-url "$url"
    is "$provider: text: exit status" $status 0
    has "$provider: text" "$out" '"text":"0000000 0000001 0000002 "'
    ask "$provider:text:3:8,json" --base-url "$url"
    has "$provider: an answer that does not stream" "$out" \
        '"text":"0000000 0000001 0000002 "'
    ask "$provider:x" --base-url "$base/=$call${row#*:}"
    is "$provider: a call: exit status" $status 0
    has "$provider: a call: its result" "$out" '"output":"42"'
    case "$(types)" in "$tool_turn "*) true ;; *) false ;; esac
    ok "$provider: a call starts before its message ends" || types
    ask "$provider:think:2:4" --base-url "$url"
    has "$provider: thinking" "$out" '"type":"thinking_delta"'
    ask "$provider:text:3" --base-url "$url" --effort low
    has "$provider: how much it shall think" "$work/requests" \
        "$(thinking "$provider")"
    ask "$provider:par:3:2" --base-url "$url" --eager off
    is "$provider: three calls a turn, unknown ones" \
        "$(grep -c '"type":"call_end"' "$out")" 6
    ask "$provider:status:401" --base-url "$url"
    is "$provider: 401: exit status" $status 1
    lacks "$provider: 401 is not tried again" "$out" model_retry
    has "$provider: 401 is a matter of the key" "$out" '"code":"auth"'
    ask "$provider:error-mid:2" --base-url "$url"
    is "$provider: an error in the middle" $status 1
    ask "$provider:nofinish:2" --base-url "$url"
    is "$provider: cut short" $status 1
done

# A message that is paused goes back, and on; it is no answer yet.
ask "anthropic:text:2,stop=pause_turn;text:3" --base-url "$base/v1"
is "paused: exit status" $status 0
is "paused: asked again" "$(grep -c '"type":"model_start"' "$out")" 2
has "paused: what it said" "$out" '"finish":"pause"'
has "paused: goes back" "$work/requests" \
    '{"role":"assistant","content":[{"type":"text","text":"0000000 0000001"}]}]}'
has "paused: the answer" "$out" '"outcome":"ok","text":"0000000 0000001 0000002 "'
ask "anthropic:text:1,stop=pause_turn" --base-url "$base/v1" --max-turns 3
is "paused for ever: the limit of turns" $status 3
is "paused for ever: turns" "$(grep -c '"type":"turn_start"' "$out")" 3

# ---- Bodies as they come ------------------------------------------------------

body() { # TEXT: the address of a server that answers with it, to add a path to
    printf '%s/=%s' "$base" \
        "$(printf %s "bytes:$1" | od -An -v -tx1 | tr -d '\n' | sed 's/ /%/g')"
}
done_mark='data: [DONE]

'
chat='data: {"choices":[{"delta":{"role":"assistant","content":"Hi"}}]}

'
spare="openai:text:2:8@$base/v1"
for row in responses:/v1 anthropic:/v1 gemini:/v1beta; do
    provider=${row%%:*}
    for text in "$done_mark" "$chat$done_mark"; do
        ask "$provider:x" --base-url "$(body "$text")${row#*:}"
        is "$provider at a chat server: exit status" $status 1
        has "$provider at a chat server: what to use" "$out" \
            'this looks like Chat Completions; use openai:NAME'
        lacks "$provider at a chat server: asked once" "$out" model_retry
    done
    ask "$provider:x" --base-url "$(body "$done_mark")${row#*:}" \
        --fallback "$spare"
    is "$provider at a chat server: the fallback answers" $status 0
done
ask openai:x --base-url "$(body "$done_mark")/v1" --fallback "$spare"
has "an end mark alone is no answer: the fallback answers" "$out" \
    '"text":"0000000 0000001 "'

# The second message of a stream is not read, and nothing is asked again.
start='data: {"type":"message_start","message":{"id":"%s"}}

data: {"type":"content_block_delta","delta":{"type":"text_delta","text":"%s"}}
'
ask anthropic:x --fallback "$spare" \
    --base-url "$(body "$(printf "$start" 1 one)

$(printf "$start" 2 second)

")/v1"
is "two messages in a stream: exit status" $status 1
has "two messages: said" "$out" 'the stream is broken'
has "two messages: the first is shown" "$out" '"text":"one"'
lacks "two messages: the second is not" "$out" second
lacks "two messages: not asked again" "$out" model_retry

ask gemini:x --base-url "$(body 'data: {"candidates":[{"content":{"parts":[{
data: "text":"whole"}]},"finishReason":"A_LATER_WORD"}]}

')/v1beta"
is "an unknown finish reason: exit status" $status 0
has "an unknown finish reason: the answer" "$out" '"outcome":"ok","text":"whole"'
has "an unknown finish reason: a warning" "$out" '"code":"finish_unknown"'

# A call at the output limit is refused, and the model is asked again.
cut='data: {"choices":[{"delta":{"role":"assistant","tool_calls":[{"index":0,
data: "id":"c","function":{"name":"calculator","arguments":"%s"}}]},
data: "finish_reason":"length"}]}

'
i=0
for args in '' '{\"expression\":\"1+' '{\"expression\":\"1+1\"}'; do
    printf "$cut" "$args" >"$work/cut$((++i)).sse"
    ask "openai:file:$work/cut$i.sse;text:2:8" --base-url "$base/v1"
    is "the output limit in a call, $i: exit status" $status 0
    is "the output limit in a call, $i: asked again" \
        "$(grep -c '"type":"model_start"' "$out")" 2
    has "the output limit in a call, $i: a warning" "$out" '"code":"answer_cut"'
    case $args in
    *1+1*) has "complete arguments are used" "$out" '"output":"2"' ;;
    *) has "the model is told, $i" "$out" 'reached the output limit inside' ;;
    esac
done

# ---- Failures ------------------------------------------------------------------

url=$base/v1
ask "openai:status:429:retry-after-ms=10;status:500:retry-after-ms=10;text:2" \
    --base-url "$url"
is "tried again twice: exit status" $status 0
is "tried again twice" "$(grep -c '"type":"model_retry"' "$out")" 2
has "as soon as the server wished" "$out" '"delay_ms":10'
printf 'data: {"error":{"message":"busy","code":"server_error"},"usage":%s}\n\n' \
    '{"prompt_tokens":70,"completion_tokens":20}' >"$work/used.sse"
ask "openai:file:$work/used.sse;text:2" --base-url "$url"
is "an error chunk with usage: tried again" \
    "$(grep -c '"type":"model_retry"' "$out")" 1
has "an error chunk with usage: told" "$out" \
    '"usage":{"input":70,"output":20,'
used=$(sed -n 's/.*"type":"run_end".*"tokens_in":\([0-9]*\).*/\1/p' "$out")
answer=$(sed -n 's/.*"type":"model_end".*"usage":{"input":\([0-9]*\).*/\1/p' \
    "$out")
is "an error chunk with usage: counted" "$used" $((answer + 70))
ask "openai:status:429:code=insufficient_quota" --base-url "$url"
lacks "no quota: not tried again" "$out" model_retry
ask "openai:status:500:x-should-retry=false" --base-url "$url"
lacks "told not to: not tried again" "$out" model_retry
lacks "told not to: nor later" "$out" '"retryable":true'
ask "openai:status:500:retry-after-ms=1" --base-url "$url"
has "a failure that may pass: said" "$out" '"component":"model","retryable":true'
ask "openai:text:50:8,delay=5ms,reset=5000" --base-url "$url"
is "a reset after pieces" $status 1
lacks "a reset after pieces: nothing to repeat" "$out" '"retryable":true'
lacks "a reset after pieces: not tried again" "$out" model_retry
ask "openai:status:429:retry-after=7500" --base-url "$url"
lacks "a wish of hours: not tried again" "$out" model_retry
has "a wish of hours: said" "$out" 'the server wants no request for 2 h 5 min'
ask "openai:status:429:retry-after=7500" --base-url "$url" --fallback "$spare"
is "a wish of hours: the fallback answers" $status 0
ask openai:x --base-url "$base/=status:404"
has "not found: what was asked, and how a base URL ends" "$out" \
    "the URL was $base/=status:404/chat/completions, and a base URL should end with /v1"
printf 'data: {"choices":[{"delta":{"content":"Hi"}}]}\n\ndata: {"choi' \
    >"$work/line.sse"
ask "openai:file:$work/line.sse" --base-url "$url"
has "cut inside a line" "$out" '"code":"network"'
ask "openai:html" --base-url "$url"
has "a page instead of an answer" "$out" "Sign in"
for odd in garbage:500 gzip:300; do
    ask "openai:$odd" --base-url "$url" --timeout 5s
    is "$odd" $((status == 1 || status == 3)) 1
done
ask "openai:hang" --base-url "$url" --model-timeout 50ms
is "one answer takes too long" $status 1
has "one answer takes too long: said" "$out" '"code":"timeout"'
is "one answer takes too long: tried again" \
    "$(grep -c '"reason":"timeout"' "$out")" 2
ask "openai:delay:20ms:500:8" --base-url "$url" --model-timeout 300ms
has "also while it is written" "$out" '"code":"timeout"'
ask "openai:hang" --base-url "$url" --timeout 200ms
is "a server that says nothing" $status 3
ask "openai:text:3" --base-url http://127.0.0.1:1/v1
is "no server listens" $status 1
has "no server listens: said" "$out" "connection refused"
ask "openai:text:1000000:1000" --base-url "$url"
has "over the limit of an answer" "$out" "over 64 MiB"

# What a request allows is reserved, also where nobody but the codec says it.
cut() { grep -o '"output_tokens":[0-9]*,"limit":"[a-z]*"' "$out"; }
ask "anthropic:text:3" --base-url "$url" --budget-tokens 8192
is "an answer that may be too long is asked for" $status 0
has "an answer that may be too long is cut at the budget" <(cut) '"limit":"tokens"'
ask "anthropic:text:3" --base-url "$url" --budget-tokens 20
is "no room for an answer" $status 3
lacks "no room for an answer: it is not asked for" "$out" model_start
ask "anthropic:text:3" --base-url "$url" --budget-tokens 10000
is "one that fits" $status 0
is "one that fits is not cut" "$(cut)" ""
has "one that fits is reserved" "$out" '"output_tokens":8192}'
ask "anthropic:text:3" --base-url "$url" --budget-tokens 10000 --effort medium
has "thinking counts, too" <(cut) '"limit":"tokens"'

# ---- Addresses and keys ----------------------------------------------------------

ask "openai:text:2:8" --base-url "unix:$work/sock:/v1"
is "a unix socket" $status 0
if [ -n "$tls_port" ]; then
    safe=https://localhost:$tls_port/v1
    ask "openai:text:2:8" --base-url "$safe" --ca-file "$work/cert.pem"
    is "TLS with a certificate that is trusted" $status 0
    ask "openai:text:2:8" --base-url "$safe"
    is "TLS with one that is not" $status 1
    has "TLS with one that is not: said" "$out" "certificate"
    ask "openai:text:2:8" --base-url "https://127.0.0.1:$tls_port/v1" \
        --ca-file "$work/cert.pem"
    is "TLS with another name" $status 1
fi
exits "no key" 2 "$WEND" run -m openai:x hi
has "no key: what to set" "$err" OPENAI_API_KEY
exits "no such provider" 2 "$WEND" run -m nobody:x hi
exits "an address that is none" 2 "$WEND" run -m openai:x --base-url ftp://x hi

canary=sk-canary-0123456789
OPENAI_API_KEY=$canary ask "openai:text:2:8" --base-url "$url"
has "the key goes to the server" "$work/requests" "Bearer $canary"
echo "$canary" >"$work/keyfile"
chmod 600 "$work/keyfile"
quote="data: {\"error\":{\"message\":\"bad key $canary\"}}

"
for mode in 644 640 604; do
    chmod $mode "$work/keyfile"
    exits "a key that others can read, $mode" 2 "$WEND" run -m openai:text:2:8 \
        --base-url "$url" --key-file "$work/keyfile" hi
    has "a key that others can read, $mode: what to do" "$err" "chmod 600"
done
chmod 600 "$work/keyfile"
exits "control: a key that nobody else can read" 0 "$WEND" run -m \
    openai:text:2:8 --base-url "$url" --key-file "$work/keyfile" hi
lacks "control: nothing is said" "$err" "others can read"
exits "a key from a pipe" 0 "$WEND" run -m openai:text:2:8 \
    --base-url "$url" --key-file <(echo "$canary") hi
ask openai:x --base-url "$(body "$quote")/v1" --key-file "$work/keyfile"
has "a server quotes it: the run fails" "$out" "bad key"
lacks "not in events" "$out" "$canary"
lacks "not on standard error" "$err" "$canary"
for f in "$WEND_STORE"*; do
    lacks "not in ${f##*/}" "$f" "$canary"
done

# The user says it, a tool reads it, another one shows it.
echo "key=$canary" >notes.txt
mkdir -p tools
cat >tools/leak.yaml <<EOF
wend: tool/1
name: leak
description: d
command: [sh, -c, 'echo $canary >&2; cat']
class: read
EOF
for leak in read_file:%7B%22path%22:%22notes.txt%22%7D leak:%7B%7D; do
    name=${leak%%:*} log=$work/log-$name
    run "$WEND" run --json -m openai:x --base-url "$base/=call:$leak/v1" \
        --key-file "$work/keyfile" -t read_file --tools tools/leak.yaml \
        --log-file "$log" "is $canary right?"
    is "$name: exit status" $status 0
    has "$name: its result" "$out" '"outcome":"ok","output"'
    has "$name: what the user said is kept" "$out" \
        '"prompt":"is ******************** right?"'
    for f in "$out" "$err" "$log" "$WEND_STORE"*; do
        lacks "$name: no key in ${f##*/}" "$f" "$canary"
    done
    is "$name: nor is it sent but in the header" \
        "$(grep -aF "$canary" "$work/requests" | grep -avc ^Authorization)" 0
done
has "what a tool shows meanwhile is blanked" "$out" \
    '"text":"********************\n"'

# ---- Models in the place of others -------------------------------------------------

spare="anthropic:text:2:8@$base/v1"
ask "openai:status:401" --base-url "$url" --fallback "$spare"
is "another model answers" $status 0
has "another model: said" "$out" \
    '"delay_ms":0,"reason":"auth","next_model":"text:2:8"}'
has "another model: its answer" "$out" '"text":"0000000 0000001 "'
ask "openai:status:503:retry-after-ms=1" --base-url "$url" \
    --fallback "openai:status:404" --fallback "$spare"
is "the third model answers" $status 0
is "the third model: after retries of the first alone" \
    "$(grep -c '"model_retry"' "$out")" 4
ask "openai:error-mid:2" --base-url "$url" --fallback "$spare"
is "nobody is asked after a piece was shown" $status 1
ask "openai:status:400" --base-url "$url" --fallback "$spare"
is "nobody is asked what is wrong in itself" $status 1
rm -rf "$work/tape"
ask "openai:status:401#tape" --base-url "$url" --fallback "$spare" \
    --record "$work/tape"
is "a tape of both" $status 0
ask "openai:status:401#tape" --base-url "$url" --fallback "$spare" \
    --playback "$work/tape"
has "a tape of both plays" "$out" '"text":"0000000 0000001 "'

# One protocol begins, another goes on.
ask "anthropic:tools:9,think=1;status:401" --base-url "$base/v1" \
    --fallback "openai:tools:2@$url"
is "from one protocol to another" $status 0
is "each result has a call that it knows" \
    "$(grep -c '"tool_call_id":"c[0-9a-f]\{8\}","content"' "$work/requests")" 2
is "what was cached counts no more, once" \
    "$(grep -c '"prefix_changed":{"byte":0,"cause":"model"}' "$out")" 1

# ---- Stopping --------------------------------------------------------------------

part=$work/part # its own file: what is in it came from this run
"$WEND" run --stream -m "openai:delay:20ms:500:8" --base-url "$url" hi \
    >"$part" 2>"$err" &
pid=$!
soon test -s "$part"
kill -INT $pid
wait $pid
is "Ctrl-C in the middle" $? 130
has "keeps the partial answer" "$part" 0000000
exec 9>&-
finish
