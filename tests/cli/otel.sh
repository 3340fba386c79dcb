#!/usr/bin/env bash
# otel.sh - spans of the command, as the variables of OpenTelemetry ask.
. "$(dirname "$0")/lib.sh"

needs_server
serve_http --log "$work/requests"
base=http://127.0.0.1:$port
good=$base/=bytes:%7B%7D # a receiver that accepts everything

traced() { # COMMAND...: with a receiver
    OTEL_EXPORTER_OTLP_ENDPOINT=$good run "$@"
}

spans() { # names of the spans in the newest request, in their order
    grep -a '^{"resourceSpans"' "$work/requests" | tail -1 |
        grep -o '"name":"[^"]*","kind":[0-9]' | sed 's/"name":"//;s/","kind":/ /'
}

seconds() { # COMMAND...: how long it takes
    local from=$EPOCHREALTIME
    "$@"
    awk -v a="$from" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }'
}

below() { # NAME SECONDS LIMIT
    awk -v a="$2" -v b="$3" 'BEGIN { exit !(a < b) }'
    ok "$1" || echo "# $2 s"
}

# ---- What is sent --------------------------------------------------------------

traced "$WEND" run -m "$sum" -t calculator hi
is "a run: exit status" $status 0
is "a run: its spans" "$(spans)" "chat script 3
execute_tool calculator 1
chat script 3
invoke_agent agent 1"
id=$("$WEND" runs --json | sed -n '1s/.*"run":"\([^"]*\)".*/\1/p')
has "its trace has the digits of its id" "$work/requests" \
    "\"traceId\":\"${id//-/}\""
has "where it is sent" "$work/requests" "POST /=bytes:%7B%7D/v1/traces HTTP/1.1"
has "as JSON" "$work/requests" "Content-Type: application/json"
has "by wend" "$work/requests" \
    '"key":"service.name","value":{"stringValue":"wend"}'
lacks "nothing that was said" "$work/requests" "Let me see."
is "without a warning" "$(cat "$err")" ""

OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true \
    traced "$WEND" run -m "$sum" -t calculator "a prompt"
has "unless it is wanted: the prompt" "$work/requests" \
    '\"content\":\"a prompt\"'
has "unless it is wanted: an answer" "$work/requests" \
    '\"content\":\"Let me see.\"'
has "unless it is wanted: a result" "$work/requests" \
    '"key":"gen_ai.tool.call.result","value":{"stringValue":"42"}'

OTEL_SERVICE_NAME=mine OTEL_RESOURCE_ATTRIBUTES='team=a%20b,service.name=x' \
    OTEL_EXPORTER_OTLP_HEADERS='x-key=s%3D1,x-more=2' \
    traced "$WEND" run -m "$hello" hi
has "the service" "$work/requests" \
    '{"key":"team","value":{"stringValue":"a b"}},{"key":"service.name","value":{"stringValue":"mine"}}]}'
has "headers" "$work/requests" "x-key: s=1"
has "all of them" "$work/requests" "x-more: 2"

OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=$good/own traced "$WEND" run -m "$hello" hi
has "the address of traces is used as it is" "$work/requests" \
    "POST /=bytes:%7B%7D/own HTTP/1.1"

parent=00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01
TRACEPARENT=$parent TRACESTATE=a=b traced "$WEND" run -m "$hello" hi
has "a caller's trace" "$work/requests" \
    '"parentSpanId":"b7ad6b7169203331","traceState":"a=b"'
TRACEPARENT=$parent run "$WEND" run --json -m "$hello" hi
lacks "only if runs are traced" "$out" traceparent

# ---- What others are told -------------------------------------------------------

call='call:calculator:%7B%22expression%22:%226*7%22%7D'
: >"$work/requests"
traced "$WEND" run -m openai:x --base-url "$base/=$call/v1" -t calculator hi
is "a model is told the span: exit status" $status 0
sed -n 's/^traceparent: 00-[0-9a-f]*-\([0-9a-f]*\)-01.*/\1/p' "$work/requests" |
    sort >asked
grep -a '^{"resourceSpans"' "$work/requests" | tail -1 | sed 's/},{"traceId"/\n/g' |
    sed -n 's/.*"spanId":"\([0-9a-f]*\)".*"name":"chat .*/\1/p' | sort >chats
is "a model is told the span: one for each request" "$(wc -l <chats)" 2
is "a model is told the span: the same" "$(cat asked)" "$(cat chats)"
: >"$work/requests"
run "$WEND" run -m openai:x --base-url "$base/=$call/v1" -t calculator hi
lacks "only if runs are traced" "$work/requests" traceparent

shell='script:{"turns":[{"calls":[{"name":"shell","args":{"command":
"echo trace $TRACEPARENT"}}]},{"text":"${tool_result}"}]}'
traced "$WEND" run -m "$shell" -t shell --approve all hi
tool=$(grep -a '^{"resourceSpans"' "$work/requests" | tail -1 |
    sed 's/},{"traceId"/\n/g' |
    sed -n 's/.*"spanId":"\([0-9a-f]*\)".*"name":"execute_tool .*/\1/p')
has "a program is told the span of its call" "$out" "-$tool-01"
run "$WEND" run -m "$shell" -t shell --approve all hi
lacks "a program: only if runs are traced" "$out" "trace 00-"

# ---- When nothing is sent ------------------------------------------------------

requests() { grep -ac '^POST .*traces' "$work/requests"; }

before=$(requests)
OTEL_SDK_DISABLED=true traced "$WEND" run -m "$hello" hi
OTEL_TRACES_EXPORTER=none traced "$WEND" run -m "$hello" hi
run "$WEND" run -m "$hello" hi
traced "$WEND" runs
traced "$WEND" replay --speed 0 last
is "off, not asked for, or no run" "$(requests)" "$before"

while IFS='|' read -r why setting text; do
    run env OTEL_EXPORTER_OTLP_ENDPOINT="$good" "$setting" \
        "$WEND" run -m "$hello" hi
    is "$why: the run goes on" "$status $(cat "$out")" "0 Hello there."
    has "$why: a warning" "$err" "$text"
done <<EOF2
grpc|OTEL_EXPORTER_OTLP_PROTOCOL=grpc|use http/json
no URL|OTEL_EXPORTER_OTLP_ENDPOINT=localhost|is not an http or https URL
no pairs|OTEL_EXPORTER_OTLP_HEADERS=secret|expected key=value
no number|OTEL_EXPORTER_OTLP_TIMEOUT=soon|is not a number
EOF2
is "invalid: nothing is sent" "$(requests)" "$before"

# ---- A receiver in trouble -----------------------------------------------------

for row in 'hangs=hang' 'overloaded=status:503' 'wrong=status:404'; do
    took=$(OTEL_EXPORTER_OTLP_ENDPOINT=$base/=${row#*=} \
        seconds run "$WEND" run -m "$hello" hi)
    is "${row%%=*}: the answer" "$(cat "$out")" "Hello there."
    below "${row%%=*}: the command ends soon" "$took" 4
done
has "a warning says what" "$err" "status 404"
took=$(OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:9 \
    seconds run "$WEND" run -m "$hello" hi)
has "none there: one warning" "$err" "spans are not sent"
below "none there: the command ends at once" "$took" 3
OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:9 run "$WEND" run -q -m "$hello" hi
is "none there: -q says nothing" "$(cat "$err")" ""

# ---- Plans, children, a resume -------------------------------------------------

mkdir agents
cat >agents/sum.yaml <<'EOF2'
wend: agent/1
name: summarizer
EOF2
cat >p.yaml <<'EOF2'
wend: plan/1
name: p
actions:
  - {name: a, type: agent, target: agents/sum.yaml, prompt: "papers"}
EOF2
traced "$WEND" plan run -m "$hello" p.yaml
is "a plan and its agent: one trace" \
    "$(grep -a '^{"resourceSpans"' "$work/requests" | tail -1 |
        grep -o '"traceId":"[^"]*"' | sort -u | wc -l)" 1
is "a plan and its agent: spans" "$(spans)" "chat script 3
invoke_agent summarizer 1
action a 1
invoke_workflow p 1"

stop='script:{"turns":[{"text":"Let me see.","calls":[{"name":"calculator",
"args":{"expression":"6*7"}}]},{"text":"Late.","delay":"60s"}]}'
OTEL_EXPORTER_OTLP_ENDPOINT=$good "$WEND" run -q --json -m "$stop" \
    -t calculator hi >"$out" 2>"$err" &
pid=$!
late() { grep -qa '"type":"turn_start","turn":1' "$out"; }
soon late
kill -9 $pid
wait $pid 2>/dev/null
traced "$WEND" resume -m "$hello" last
is "a resume: exit status" $status 0
has "a resume: the root begins with the run" "$work/requests" \
    '"name":"wend.resume"'

# ---- The server ------------------------------------------------------------------

mkdir -m 700 served
cat >served/a.yaml <<EOF2
wend: agent/1
name: served
model: '$hello'
EOF2
chmod 600 served/a.yaml
export WEND_TOKEN=0123456789abcdef0123456789
OTEL_EXPORTER_OTLP_ENDPOINT=$good "$WEND" serve --listen 127.0.0.1:0 \
    --agents served >"$work/serve.out" 2>&1 &
pid=$!
listens() { grep -q 'listening on' "$work/serve.out"; }
soon listens
at=$(sed -n 's,.*http://127.0.0.1:,,p' "$work/serve.out")
exec 8<>"/dev/tcp/127.0.0.1/${at%%[!0-9]*}"
printf '%s\r\n' "POST /v1/runs HTTP/1.1" "Host: 127.0.0.1:${at%%[!0-9]*}" \
    "Authorization: Bearer $WEND_TOKEN" "Content-Type: application/json" \
    "Content-Length: 15" "traceparent: ${parent%331-01}332-01" "" \
    '{"prompt":"hi"}' >&8
read -r answer <&8
is "the server: a run is started" "${answer%$'\r'}" "HTTP/1.1 201 Created"
arrived() { grep -qa '"parentSpanId":"b7ad6b7169203332","name":"invoke_agent served"' "$work/requests"; }
soon arrived
ok "the server: its spans are sent, below the span of the request"
exec 8>&-
kill $pid
wait $pid 2>/dev/null
finish
