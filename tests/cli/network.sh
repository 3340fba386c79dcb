#!/usr/bin/env bash
# network.sh - proxies and certificates: what cannot pass is asked once, and
# the message says what to do.
. "$(dirname "$0")/lib.sh"

needs_server
if ! command -v openssl >/dev/null; then
    echo "1..0 # SKIP there is no openssl"
    exit 0
fi
unset OPENAI_API_KEY ANTHROPIC_API_KEY GEMINI_API_KEY http_proxy https_proxy
unset all_proxy no_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY
unset SSL_CERT_FILE SSL_CERT_DIR CURL_CA_BUNDLE SSLKEYLOGFILE

openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost \
    -addext subjectAltName=DNS:localhost \
    -keyout "$work/key.pem" -out "$work/cert.pem" 2>/dev/null
serve_http --log "$work/requests" --tls "$work/cert.pem" "$work/key.pem"
base=http://127.0.0.1:$port/v1
safe=https://localhost:$tls_port/v1
spare="anthropic:text:2:8@$base"

ask() { # MODEL [OPTION...]: a run with all events in $out
    local model=$1
    shift
    run "$WEND" run --json -m "$model" "$@" hi
}

counter() { # NAME: one of the server's
    local line=
    exec 8<>"/dev/tcp/127.0.0.1/$port"
    printf 'GET /stats HTTP/1.1\r\n\r\n' >&8
    while [ "${line:0:1}" != "{" ] && IFS= read -r -t 60 line <&8; do :; done
    exec 8>&-
    line=${line#*\"$1\":}
    echo "${line%%[,\}]*}"
}

# ---- What cannot pass is asked once ----------------------------------------------

# NAME CODE TEXT CONNECTIONS [OPTION...]: at the server; the question itself is
# one of them.
hopeless() {
    local name=$1 code=$2 text=$3 most=$4 before
    shift 4
    before=$(counter connections)
    ask openai:text:2:8 "$@"
    is "$name: exit status" $status 1
    has "$name: its code" "$out" "\"code\":\"$code\""
    has "$name: what to do" "$out" "$text"
    lacks "$name: is not tried again" "$out" model_retry
    has "$name: the run has its end" "$out" '"type":"run_end"'
    is "$name: connections" $(($(counter connections) - before)) "$most"
    ask openai:text:2:8 "$@" --fallback "$spare"
    is "$name: another model answers" $status 0
    has "$name: at once" "$out" '"delay_ms":0'
}

echo "no certificate" >"$work/bad.pem"
hopeless "a certificate that is not trusted" certificate "--ca-file" 2 \
    --base-url "$safe"
hopeless "one of another host" certificate "does not match the host" 2 \
    --base-url "https://127.0.0.1:$tls_port/v1" --ca-file "$work/cert.pem"
hopeless "no such file of certificates" ca_file "$work/none.pem" 2 \
    --base-url "$safe" --ca-file "$work/none.pem"
hopeless "a file without certificates" ca_file "PEM form" 2 \
    --base-url "$safe" --ca-file "$work/bad.pem"
hopeless "a header of 150 KB" headers "the headers are too long" 2 \
    --base-url "https://localhost:$tls_port/=text:3,padding=150000/v1" \
    --ca-file "$work/cert.pem"
hopeless "the same over a plain socket" headers "the headers are too long" 2 \
    --base-url "http://127.0.0.1:$port/=text:3,padding=150000/v1"

# ---- Proxies ---------------------------------------------------------------------

export HTTPS_PROXY=http://joe:hunter2secret@127.0.0.1:$port
hopeless "a proxy that says 403" proxy \
    "status403.test:443 through the proxy 127.0.0.1:$port" 2 \
    --base-url https://status403.test/v1
hopeless "a proxy that says 407" proxy "USER:PASSWORD@HOST:PORT" 2 \
    --base-url https://status407.test/v1
ask openai:x --base-url https://status502.test/v1
is "a proxy that says 502: tries" "$(grep -c '"type":"model_retry"' "$out")" 2
has "a proxy that says 502: named" "$out" \
    "status502.test:443 through the proxy 127.0.0.1:$port"
ask openai:text:2:8 --base-url "$safe" --ca-file "$work/cert.pem"
is "this machine is reached without the proxy" $status 0
HTTPS_PROXY=http://joe:hunter2secret@127.0.0.1:1 \
    ask openai:x --base-url https://a.test/v1
has "no proxy is there: named" "$out" \
    "a.test:443 through the proxy 127.0.0.1:1: connection refused"
HTTPS_PROXY='http://joe:hunter2secret@x y' \
    hopeless "an invalid proxy" proxy "HTTPS_PROXY is not the URL of a proxy" 1 \
    --base-url https://a.test/v1
unset HTTPS_PROXY
[ -z "$(grep -rlaF hunter2 "$work/out" "$work/err" "$work/wend.db"*)" ]
ok "the proxy's password is in no message and no log"

# ---- Certificates of the environment ---------------------------------------------

for name in SSL_CERT_FILE CURL_CA_BUNDLE; do
    run env "$name=$work/cert.pem" "$WEND" run --json -m openai:text:2:8 \
        --base-url "$safe" hi
    is "$name is believed" $status 0
done
run env SSL_CERT_FILE="$work/cert.pem" "$WEND" run --json -m openai:text:2:8 \
    --base-url "$safe" --ca-file "$work/bad.pem" hi
has "the option goes before it" "$out" '"code":"ca_file"'

# ---- Keys over plain http --------------------------------------------------------

key=sk-canary-0123456789
refused="would go over plain http to another machine"

for url in "$base" "http://localhost:$port/v1"; do
    OPENAI_API_KEY=$key ask openai:text:2:8 --base-url "$url"
    is "a key to this machine: $url" $status 0
done

address=$(hostname -I 2>/dev/null | tr ' ' '\n' | grep -E '^[0-9.]+$' | head -1)
if [ -z "$address" ]; then
    skip "keys to other machines" "this one has no address but loopback"
    finish
fi
exec 9>&- # the first server ends
wait "$server_pid"
rm -f "$work/hold" "$work/ports"
serve_http --address "$address" --log "$work/requests" \
    --tls "$work/cert.pem" "$work/key.pem"
away=http://$address:$port/v1
spare='script:{"turns":[{"text":"spare"}]}'

seen() { # NAME WANTED: whether a request arrived since the last look
    grep -q . "$work/requests"
    is "$1" $? "$2"
    : >"$work/requests"
}

: >"$work/requests"
OPENAI_API_KEY=$key ask openai:text:2:8 --base-url "$away"
is "a key to another machine: exit status" $status 1
has "a key to another machine: its code" "$out" '"code":"insecure_http"'
has "a key to another machine: said" "$out" "$refused"
has "a key to another machine: what to do" "$out" "--insecure-http"
lacks "a key to another machine: not tried again" "$out" model_retry
seen "a key to another machine: no request arrives" 1
OPENAI_API_KEY=$key ask openai:text:2:8 --base-url "$away" --fallback "$spare"
is "a key to another machine: the fallback answers" $status 0
seen "a key to another machine: nor with a fallback" 1
OPENAI_API_KEY=$key ask openai:text:2:8 --base-url "$away" --insecure-http
is "the same on request: exit status" $status 0
has "the same on request: it arrives" "$work/requests" "Bearer $key"
: >"$work/requests"
mkdir -p "$HOME/.config/wend"
echo "insecure_http: true" >"$HOME/.config/wend/config.yaml"
OPENAI_API_KEY=$key ask openai:text:2:8 --base-url "$away"
is "the same by the settings file" $status 0
echo "insecure_http: perhaps" >"$HOME/.config/wend/config.yaml"
OPENAI_API_KEY=$key exits "a setting that is no such word" 2 \
    "$WEND" run -m openai:text:2:8 --base-url "$away" hi
has "a setting that is no such word: said" "$err" "must be true or false"
rm "$HOME/.config/wend/config.yaml"

# Whoever sends no key sends nothing to hide.
: >"$work/requests"
ask openai:text:2:8 --base-url "$away"
is "without a key: exit status" $status 0
seen "without a key: it arrives" 0
ask ollama:text:2:8 --base-url "http://$address:$port"
is "ollama, which has none: exit status" $status 0
OPENAI_API_KEY=$key http_proxy=http://$address:$port \
    ask openai:text:2:8 --base-url http://name.test/v1
has "by a proxy, either" "$out" "$refused"

# Resumed and forked, and as a plan.
: >"$work/requests"
ask openai:text:2:8 --base-url "$away"
: >"$work/requests"
OPENAI_API_KEY=$key run "$WEND" fork --json -m openai:text:2:8 \
    --base-url "$away" last more
has "fork: refused" "$out" "$refused"
seen "fork: no request arrives" 1
OPENAI_API_KEY=$key run "$WEND" fork --json -m openai:text:2:8 \
    --base-url "$away" --insecure-http last more
seen "fork: on request it does" 0
cut_off() { # leaves a run that was killed while its model was waited for
    begin "$WEND" run --json \
        -m 'script:{"turns":[{"first_delay":"1h","text":"x"}]}' hi
    soon in_log "$id" '"type":"model_start"'
    killed
}
cut_off
OPENAI_API_KEY=$key run "$WEND" resume --json -m openai:text:2:8 \
    --base-url "$away" "$id"
has "resume: refused" "$out" "$refused"
seen "resume: no request arrives" 1
cut_off
OPENAI_API_KEY=$key run "$WEND" resume --json -m openai:text:2:8 \
    --base-url "$away" --insecure-http "$id"
is "resume: on request: exit status" $status 0
has "resume: on request it arrives" "$work/requests" "Bearer $key"
: >"$work/requests"
cat >plan.yaml <<PLAN
wend: plan/1
name: p
actions:
  - {name: a, type: llm, target: default, prompt: hi, output_key: x}
PLAN
OPENAI_API_KEY=$key run "$WEND" plan run plan.yaml --json -m openai:text:2:8 \
    --base-url "$away"
has "plan: refused" "$out" "$refused"
is "plan: tried once" "$(grep -c '"type":"action_retry"' "$out")" 0
seen "plan: no request arrives" 1
OPENAI_API_KEY=$key run "$WEND" plan run plan.yaml --json -m openai:text:2:8 \
    --base-url "$away" --insecure-http
is "plan: on request: exit status" $status 0
seen "plan: on request it does" 0

# Tools: the token of a server, the secret of a relic, a header of the model.
export MCP_TOKEN=tok-canary-0123456789
cat >agent.yaml <<YAML
wend: agent/1
name: caller
model: '$spare'
mcp:
  srv: {url: "http://$address:$port/mcp", secrets: [MCP_TOKEN]}
YAML
run "$WEND" run -a agent.yaml hi
has "an MCP server's token: refused" "$err" "$refused"
seen "an MCP server's token: no request arrives" 1
run "$WEND" run -a agent.yaml --insecure-http hi
has "an MCP server's token: on request it does" "$work/requests" \
    "Bearer $MCP_TOKEN"
: >"$work/requests"

mkdir relics
cat >relics/web.yaml <<YAML
wend: relic/1
name: web
kind: http
base_url: "http://$address:$port/=bytes:1/"
secrets: [MCP_TOKEN]
headers: {X-Some: "\${MCP_TOKEN}"}
endpoints:
  get: {path: /x}
YAML
cat >relic.yaml <<'YAML'
wend: plan/1
name: p
actions:
  - {name: a, type: relic, target: web.get, params: {}, output_key: x}
YAML
cat >agent.yaml <<YAML
wend: agent/1
name: caller
tools: [http_request]
network: ['$address']
YAML
run "$WEND" plan run --json -a agent.yaml --approve 'web.*' relic.yaml
has "a relic's secret: refused" "$out" "$refused"
has "a relic's secret: its code" "$out" '"code":"insecure_http"'
seen "a relic's secret: no request arrives" 1
run "$WEND" plan run --json -a agent.yaml --approve 'web.*' --insecure-http \
    relic.yaml
is "a relic's secret: on request: exit status" $status 0
seen "a relic's secret: on request it does" 0

script() { # ARGUMENTS: a model that makes one request
    cat >script.json <<JSON
{"turns": [{"calls": [{"name": "http_request", "args": $1}]}, {"text": "x"}]}
JSON
}
request() { # [OPTION...]
    run "$WEND" run --json -a agent.yaml --approve all -m script:script.json \
        "$@" hi
}
script "{\"url\": \"http://$address:$port/=say:x/\",
    \"headers\": {\"Authorization\": \"Bearer x\"}}"
request
has "http_request with Authorization: refused" "$out" "$refused"
seen "http_request with Authorization: no request arrives" 1
request --insecure-http
seen "http_request with Authorization: on request it does" 0
script "{\"url\": \"http://$address:$port/=say:x/\"}"
request
seen "http_request without it arrives" 0

# A secret that the agent has, in a query: escaped, so that it is not blanked.
cat >>agent.yaml <<'YAML'
mcp:
  srv: {command: [/nonexistent/program], secrets: [MCP_TOKEN]}
YAML
for query in "k=%74ok-canary-0123456789" "k=tok%2Dcanary-0123456789&x" \
    "%74%6f%6B-canary-0123456789"; do
    script "{\"url\": \"http://$address:$port/=say:x/?$query\"}"
    request
    has "a secret in a query: refused" "$out" "$refused"
    seen "a secret in a query: no request arrives" 1
    request --insecure-http
    has "a secret in a query: on request it does" "$work/requests" "?$query"
    : >"$work/requests"
done
script "{\"url\": \"http://$address:$port/=say:x/?k=tok-canary\"}"
request
seen "another value in a query arrives" 0

# The same in a body. As it is it does not reach the tool; a form escapes it.
posted() { # BODY: a model that sends it
    script "{\"method\": \"POST\", \"url\": \"http://$address:$port/=say:x/\",
        \"body\": \"$1\"}"
}
posted "k=$MCP_TOKEN&end"
request
has "a secret in a body: it arrives" "$work/requests" "&end"
lacks "a secret in a body: blanked" "$work/requests" "$MCP_TOKEN"
: >"$work/requests"
for body in "k=tok%2Dcanary%2d0123456789&end" "%74%6f%6B-canary-0123456789"; do
    posted "$body"
    request
    has "a secret in a form: refused" "$out" "$refused"
    seen "a secret in a form: no request arrives" 1
    request --insecure-http
    has "a secret in a form: on request it does" "$work/requests" "$body"
    : >"$work/requests"
done
posted "k=tok%2Dcanary"
request
seen "another value in a form arrives" 0
sed -i '/^mcp:/,$d' agent.yaml

# ---- Certificates of others than models ------------------------------------------

: >"$work/requests"
sed -i "s/^network:.*/network: ['localhost']/" agent.yaml
exec 9>&-
wait "$server_pid"
rm -f "$work/hold" "$work/ports"
serve_http --log "$work/requests" --tls "$work/cert.pem" "$work/key.pem"
script "{\"url\": \"https://localhost:$tls_port/=say:x/\"}"
request
has "http_request: the certificate is not trusted" "$out" "--ca-file"
seen "http_request: no request arrives" 1
request --ca-file "$work/cert.pem"
seen "http_request: with --ca-file it does" 0
run "$WEND" tools --mcp "srv=https://localhost:$tls_port/mcp"
has "an MCP server: the certificate is not trusted" "$err" "not trusted"
seen "an MCP server: no request arrives" 1
run "$WEND" tools --mcp "srv=https://localhost:$tls_port/mcp" \
    --ca-file "$work/cert.pem"
seen "an MCP server: with --ca-file it does" 0

relic() { # KIND KEY: one that is reached over TLS
    rm -f relics/*
    { printf 'wend: relic/1\nname: web\nkind: %s\n' "$1"
      printf '%s: "https://localhost:%s/=say:x/"\n' "$2" "$tls_port"
      [ "$1" = mcp ] || printf 'endpoints:\n  get: {path: /x}\n'
    } >relics/web.yaml
}
planned() { run "$WEND" plan run --json -a agent.yaml --approve 'web.*' "$@" \
    relic.yaml; }
: >"$work/requests"
relic http base_url
planned
has "a relic: the certificate is not trusted" "$out" "not trusted"
seen "a relic: no request arrives" 1
planned --ca-file "$work/cert.pem"
seen "a relic: with --ca-file it does" 0
relic mcp url
planned
has "a relic's server: the certificate is not trusted" "$err" "not trusted"
seen "a relic's server: no request arrives" 1
planned --ca-file "$work/cert.pem"
seen "a relic's server: with --ca-file it does" 0

resumed() { # [OPTION...]: a run that was cut off asks a model over TLS
    cut_off
    : >"$work/requests"
    run "$WEND" resume --json -m openai:text:2:8 \
        --base-url "https://localhost:$tls_port/v1" "$@" "$id"
}
resumed
has "resume: the certificate is not trusted" "$out" '"code":"certificate"'
seen "resume: no request arrives over TLS" 1
resumed --ca-file "$work/cert.pem"
is "resume: with --ca-file: exit status" $status 0
seen "resume: with --ca-file it does" 0

# ---- The keys of connections -----------------------------------------------------

script "{\"url\": \"https://localhost:$tls_port/=say:x/\"}"
request --ca-file "$work/cert.pem"
lacks "no keys are written: nothing is said" "$out" tls_keys_logged
SSLKEYLOGFILE=$work/keys request --ca-file "$work/cert.pem"
is "keys of connections are written: a warning, once" \
    "$(grep -c '"code":"tls_keys_logged"' "$out")" 1
has "it names the file" "$out" "written to $work/keys"

finish
