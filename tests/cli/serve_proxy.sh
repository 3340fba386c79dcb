#!/usr/bin/env bash
# serve_proxy.sh - the files of examples/serve: nginx and Caddy in front of the
# server, with TLS and streams, and the service of systemd.
. "$(dirname "$0")/lib.sh"
. "$test_dir/serve.inc"
top=$(realpath "$test_dir/../..")
name=agents.example.org
PATH=$PATH:/usr/sbin

free_port() { # one where nobody listens just now
    local port
    for port in $(shuf -i 20000-29999 -n 50); do
        (exec 3<>/dev/tcp/127.0.0.1/"$port") 2>/dev/null || break
    done
    echo "$port"
}
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj "/CN=$name" \
    -addext "subjectAltName=DNS:$name" -keyout "$work/key.pem" \
    -out "$work/cert.pem" 2>/dev/null
ok "a certificate"

# The second word comes long after the first.
model slow '{"turns":[{"text":"one two","chunk":4,"first_delay":"0ms",
    "delay":"90s"}]}' >/dev/null

by_proxy() { # CURL-ARGUMENTS...
    curl -s --max-time 60 --cacert "$work/cert.pem" \
        --resolve "$name:$front:127.0.0.1" -H "Authorization: Bearer $token" "$@"
}
is_there() { [ "$(by_proxy "$site/healthz")" = '{"status":"ok"}' ]; }

# What must work through a proxy that listens at $front.
through() { # PROXY
    local run
    soon is_there
    ok "$1: it answers" || sed 's/^/# /' "$work/proxy.log"
    is "$1: the page" "$(by_proxy -o "$out" -w '%{http_code}' "$site/")" 200
    is "$1: its origin" "$(by_proxy -o "$out" -w '%{http_code}' \
        -H "Origin: $site" "$site/v1/me")" 200
    is "$1: a foreign origin" "$(by_proxy -o "$out" -w '%{http_code}' \
        -H "Origin: https://example.com" "$site/v1/me")" 403
    run=$(by_proxy -H 'Content-Type: application/json' -d '{"prompt":"hi"}' \
        "$site/v1/runs" | cut -d '"' -f 4)
    by_proxy -N "$site/v1/runs/$run/events" >"$work/stream" &
    local reader=$!
    soon grep -q '"text":"one' "$work/stream"
    ok "$1: events come as they happen" || cat "$work/stream"
    head -c 8000000 /dev/zero | tr '\0' 'x' >"$work/large"
    by_proxy --data-binary "@$work/large" -H 'Content-Type: text/plain' \
        "$site/v1/blobs?name=large.txt" >"$out"
    grep -q '"bytes":8000000\|"code":"part"' "$out"
    ok "$1: a large body reaches the server" || head -c 300 "$out"
    by_proxy -H 'Content-Type: application/json' -d '{}' \
        "$site/v1/runs/$run/cancel" >"$out"
    is "$1: cancel" "$(cat "$out")" '{"told":"applied"}'
    wait $reader
    is "$1: the stream ends" "$(grep -c '"run_end"' "$work/stream")" 1
}

begin_server() { # the port of the proxy is known before
    front=$(free_port)
    site=https://$name:$front
    serve_begin -m "script:$work/slow.script" --public-url "$site"
}
end_proxy() {
    kill -TERM $proxy
    wait $proxy 2>/dev/null
    serve_end
}
filled() { # FILE: with addresses and files of this test
    sed -e "s,127.0.0.1:8791,${url#http://},; s,/etc/ssl/$name.pem,$work/cert.pem,
        s,/etc/ssl/$name.key,$work/key.pem,; s,listen 443,listen 127.0.0.1:$front," \
        "$top/examples/serve/$1"
}

if ! command -v nginx >/dev/null; then
    skip "nginx" "it is not installed; tools/deps --all"
else
    begin_server
    mkdir "$work/nginx"
    filled nginx.conf >"$work/nginx/site.conf"
    cat >"$work/nginx/nginx.conf" <<EOF
daemon off;
pid $work/nginx/pid;
error_log stderr;
events {}
http {
    access_log off;
    client_body_temp_path $work/nginx/body;
    proxy_temp_path $work/nginx/proxy;
    fastcgi_temp_path $work/nginx/fastcgi;
    uwsgi_temp_path $work/nginx/uwsgi;
    scgi_temp_path $work/nginx/scgi;
    include $work/nginx/site.conf;
}
EOF
    nginx -p "$work/nginx" -c "$work/nginx/nginx.conf" 2>"$work/proxy.log" &
    proxy=$!
    through nginx
    end_proxy
    is "nginx: the server ends" $? 143
fi

if ! command -v caddy >/dev/null; then
    skip "Caddy" "it is not installed; tools/deps --all"
else
    begin_server
    {
        printf '{\n\tadmin off\n\tauto_https disable_redirects\n}\n'
        filled Caddyfile | sed "s,^$name {,$name:$front {\n\tbind 127.0.0.1\n\ttls $work/cert.pem $work/key.pem,"
    } >"$work/Caddyfile"
    XDG_DATA_HOME=$work/caddy XDG_CONFIG_HOME=$work/caddy \
        caddy run --adapter caddyfile --config "$work/Caddyfile" \
        2>"$work/proxy.log" >&2 &
    proxy=$!
    through Caddy
    end_proxy
    is "Caddy: the server ends" $? 143
fi

# ---- The service ----------------------------------------------------------------

unit=$top/examples/serve/wend.service
line=$(sed -n 's/^ExecStart=[^ ]*wend //p' "$unit")
for option in $(grep -o -- ' --[a-z-]*' <<<"$line"); do
    "$WEND" serve --help | grep -q -- "$option "
    ok "wend.service: $option is an option"
done
if command -v systemd-analyze >/dev/null; then
    sed "s,/usr/local/bin/wend,$WEND," "$unit" >"$work/wend.service"
    systemd-analyze verify "$work/wend.service" >"$out" 2>&1
    is "wend.service: systemd accepts it" "$(grep wend.service "$out")" ""
else
    skip "wend.service" "there is no systemd-analyze"
fi
finish
