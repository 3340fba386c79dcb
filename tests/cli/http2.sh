#!/usr/bin/env bash
# http2.sh - models over HTTP/2: what libcurl would do of itself, and a server
# that speaks nothing else. node's server counts what it is asked.
. "$(dirname "$0")/lib.sh"

for program in node openssl; do
    if ! command -v $program >/dev/null; then
        echo "1..0 # SKIP no $program"
        exit 0
    fi
done
unset OPENAI_API_KEY http_proxy https_proxy all_proxy
unset HTTP_PROXY HTTPS_PROXY ALL_PROXY

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes \
    -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost \
    -keyout "$work/key.pem" -out "$work/cert.pem" 2>/dev/null
mkfifo "$work/hold"
node "$test_dir/../server/http2.js" "$work/cert.pem" "$work/key.pem" \
    <"$work/hold" >"$work/ports" 2>"$work/server" &
exec 9>"$work/hold" # it ends when this is closed
soon test -s "$work/ports"
read -r port only_port third_port <"$work/ports"

ask() { # PORT[/PATH] MODEL [OPTION...]: a run with all events in $out
    local at=$1 model=$2
    shift 2
    run "$WEND" run --json -m "openai:$model" --ca-file "$work/cert.pem" \
        --base-url "https://localhost:$at" "$@" hi
}

count() { # WORD: how often the server was asked so
    node -e 'const c = require("http2").connect(process.argv[1],
            {ca: require("fs").readFileSync(process.argv[2])});
        c.request({":path": "/count/" + process.argv[3]})
            .on("data", (d) => console.log(String(d)))
            .on("end", () => c.close())' \
        "https://localhost:$port" "$work/cert.pem" "$1"
}

ask "$port/v1" x --http2
is "an answer: exit status" $status 0
has "an answer" "$out" '"text":"two "'

# ---- What was shown is not asked again ---------------------------------------

ask "$third_port" late --http2
is "HTTP/1.1 is wanted in the middle: exit status" $status 1
has "and what was shown stands" "$out" '"text":"one "'
lacks "and nothing is joined to it" "$out" '"two '
has "and the log says why" "$out" 'the server broke the answer off'
is "and the server was asked once" "$(count late)" 1

# ---- Refused streams: our retries, and one of libcurl's each -----------------

ask "$port/refused" x --http2
is "refused streams: exit status" $status 1
retries=$(grep -c '"type":"model_retry"' "$out")
is "and the log has every retry but libcurl's" \
    "$(count refused)" $(((retries + 1) * 2))
test "$retries" -ge 1
ok "and there were retries"

# ---- HTTP/2 only -------------------------------------------------------------

ask "$only_port/v1" x
is "a server that speaks HTTP/2 only: exit status" $status 1
has "and the message says so" "$out" 'the server does not speak HTTP/1.1'
has "and names the option" "$out" '; try --http2"'
lacks "and it is not tried again" "$out" model_retry
ask "$only_port/v1" x --http2
is "with the option it answers" $status 0

exec 9>&-
finish
