#!/usr/bin/env bash
# network.sh - proxies and certificates: what cannot pass is asked once, and
# the message says what to do.
. "$(dirname "$0")/lib.sh"

if [ ! -x "$test_server" ]; then
    echo "1..0 # SKIP $test_server is not built"
    exit 0
fi
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
    "status403.test through the proxy 127.0.0.1:$port" 2 \
    --base-url https://status403.test/v1
hopeless "a proxy that says 407" proxy "USER:PASSWORD@HOST:PORT" 2 \
    --base-url https://status407.test/v1
ask openai:x --base-url https://status502.test/v1
is "a proxy that says 502: tries" "$(grep -c '"type":"model_retry"' "$out")" 2
has "a proxy that says 502: named" "$out" \
    "status502.test through the proxy 127.0.0.1:$port"
ask openai:text:2:8 --base-url "$safe" --ca-file "$work/cert.pem"
is "this machine is reached without the proxy" $status 0
HTTPS_PROXY=http://joe:hunter2secret@127.0.0.1:1 \
    ask openai:x --base-url https://a.test/v1
has "no proxy is there: named" "$out" \
    "a.test through the proxy 127.0.0.1:1: connection refused"
HTTPS_PROXY='http://joe:hunter2secret@x y' \
    hopeless "a proxy that is none" proxy "HTTPS_PROXY is no URL of a proxy" 1 \
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

finish
