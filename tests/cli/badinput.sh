#!/usr/bin/env bash
# badinput.sh - servers that are broken, odd or hostile, over real sockets.
# What stands here ends at once, as a complete answer or a clear failure.
. "$(dirname "$0")/lib.sh"

needs_server
unset OPENAI_API_KEY ANTHROPIC_API_KEY GEMINI_API_KEY http_proxy https_proxy
unset all_proxy no_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY
serve_http --log "$work/requests"
base=http://127.0.0.1:$port
providers="openai:/v1 responses:/v1 anthropic:/v1 gemini:/v1beta ollama:"

ask() { # MODEL [OPTION...]: a run with all events in $out
    local model=$1
    shift
    run timeout -k 5 60 "$WEND" run --json -m "$model" "$@" hi
}

ends() { # NAME STATUS TEXT: how the run in $out ended
    is "$1: exit status" $status "$2"
    case $(tail -n 1 "$out") in
    *'"type":"run_end"'*"$3"*) true ;;
    *) false ;;
    esac
    ok "$1: said" || tail -n 1 "$out" | head -c 1000
    lacks "$1: not tried again" "$out" model_retry
}

# ---- Bodies that are none of the protocol's --------------------------------------

page='<html><head><title>Sign in</title></head><body>here</body></html>'
printf '\n%s\n' "$page" >"$work/page"
printf '{"choices":[{"message":{"content":"Whole."},"finish_reason":"stop"}]}' \
    >"$work/whole"
for row in $providers; do
    provider=${row%%:*} url=$base${row#*:}
    ask "$provider:file:$work/page,type=text/plain" --base-url "$url"
    ends "$provider: a page that says it is text" 1 "HTTP 200: Sign in here"
    ask "$provider:gzip:300" --base-url "$url"
    ends "$provider: compressed" 1 "the answer is compressed"
    ask "$provider:text:1000000:1000,status=400" --base-url "$url"
    ends "$provider: an error without end" 1 "HTTP 400"
    ask "$provider:par:257:1" --base-url "$url" --eager off
    ends "$provider: too many calls" 1 "more than 256 tool calls"
done
url=$base/v1
for type in text/plain text/event-stream Application/JSON; do
    ask "openai:file:$work/whole,type=$type" --base-url "$url"
    ends "an answer that did not stream, as $type" 0 '"text":"Whole."'
done
{ printf 'data: ' && head -c 17000000 /dev/zero | tr '\0' a; } >"$work/line"
ask "openai:file:$work/line,type=text/event-stream" --base-url "$url"
ends "a line over 16 MiB" 1 "a line of the answer is over 16 MiB"
ask "openai:status:302:location=/elsewhere" --base-url "$url"
ends "a redirect" 1 "redirects are not followed; the base URL may have to be /elsewhere"
lacks "a redirect: nobody is asked there" "$work/requests" "POST /elsewhere"

# ---- Pieces that are odd -----------------------------------------------------------

piece='data: {"choices":[{"index":0,"delta":{"content":"a"}}]}

'
stop='data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}

data: [DONE]

'
odd() { # NAME STATUS TEXT EVENT: after a piece, so that it is not tried again
    printf '%sdata: %s\n\n%s' "$piece" "$4" "$stop" >"$work/odd"
    ask "openai:file:$work/odd,type=text/event-stream" --base-url "$url"
    ends "$1" "$2" "$3"
}
deep=$(printf '[%.0s' $(seq 10000))
odd "depth 10,000" 1 "at most 64 open arrays" "{\"x\":$deep"
odd "numbers that are none of ours" 0 '"tokens_in":0,"tokens_out":0' \
    '{"usage":{"prompt_tokens":1e999,"completion_tokens":-9}}'
odd "a number no integer can be" 0 '"tokens_in":0,"tokens_out":7' \
    '{"usage":{"prompt_tokens":99999999999999999999,"completion_tokens":7}}'
odd "an escaped NUL" 0 '"text":"ab\u0000"' \
    '{"choices":[{"index":0,"delta":{"content":"b\u0000"}}]}'
odd "half of a surrogate pair" 0 "\"text\":\"ab"$'\xef\xbf\xbd' \
    '{"choices":[{"index":0,"delta":{"content":"b\ud800"}}]}'
odd "bytes that are no UTF-8" 0 "\"text\":\"ab"$'\xef\xbf\xbd' \
    '{"choices":[{"index":0,"delta":{"content":"b'$'\xff''"}}]}'
odd "a call without a name" 1 "a tool call without a name" \
    '{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c",
data: "function":{"arguments":"{}"}}]}}]}'

ask "anthropic:error-mid:2" --base-url "$url"
ends "an error in the middle: what it used is counted" 1 '"tokens_in":10'

# ---- After the end mark ------------------------------------------------------------

printf '%s%s' "$piece" "$stop" >"$work/done"
size=$(stat -c %s "$work/done")
for fault in cut reset hang; do
    ask "openai:file:$work/done,type=text/event-stream,$fault=$size" \
        --base-url "$url"
    ends "$fault after the end mark" 0 '"text":"a"'
done

# ---- Addresses and keys --------------------------------------------------------------

while IFS='|' read -r why address; do
    exits "an address with $why" 2 "$WEND" run -m openai:x \
        --base-url "$address" hi
done <<ROWS
a space|$base/v 1
a user|http://user:word@127.0.0.1:$port/v1
a fragment|$base/v1#x
no host|http:///v1
no port|http://127.0.0.1:/v1
a port that is too large|http://127.0.0.1:65536/v1
a socket without a name|unix:
a path without a slash|unix:/tmp/socket:v1
ROWS
ask "openai:text:1" --base-url "$base/v1/?a=b"
has "a query stays behind the path" "$work/requests" \
    "POST /v1/chat/completions?a=b HTTP"
ask "gemini:text:1" --base-url "$base/v1beta?a=b"
has "a query beside the protocol's own" "$work/requests" "?alt=sse&a=b HTTP"
: >"$work/nothing"
chmod 600 "$work/nothing"
exits "a key file without a key" 2 "$WEND" run -m openai:x --base-url "$url" \
    --key-file "$work/nothing" hi

canary=sk-canary-0123456789abcdef
echo "$canary" >"$work/keyfile"
chmod 600 "$work/keyfile"
says() { # JSON...: an answer with these members in a delta each
    for member in "$@"; do
        printf 'data: {"choices":[{"index":0,"delta":{%s}}]}\n\n' "$member"
    done
    printf '%s' "$stop"
}
says "\"content\":\"the key is $canary\"" >"$work/said"
says "\"content\":\"${canary:0:9}\"" "\"content\":\"${canary:9}\"" \
    >"$work/halves"
says "\"tool_calls\":[{\"index\":0,\"id\":\"$canary\",\"function\":
data: {\"name\":\"read_file\",\"arguments\":\"{\\\"path\\\":\\\"$canary\\\"}\"}}]" \
    >"$work/call"
for how in said halves call; do
    ask "openai:file:$work/$how,type=text/event-stream" --base-url "$url" \
        --key-file "$work/keyfile" --record "$work/record-$how" \
        --log-file "$work/log" --max-turns 1
    has "the key, $how: there is an answer" "$out" '"outcome":"ok"'
    for f in "$out" "$err" "$work/log" "$WEND_STORE"* "$work/record-$how/"*; do
        lacks "the key, $how: not in ${f##*/}" "$f" "$canary"
    done
done
exec 9>&-
finish
