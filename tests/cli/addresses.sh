#!/usr/bin/env bash
# addresses.sh - a host with two addresses, the first of which swallows all
# that is sent to it. Both are in a network namespace of our own; the name and
# the order of its addresses are in files that are mounted over those of /etc.
if [ -z "${OWN_NETWORK:-}" ]; then
    [ "$(id -u)" = 0 ] && own=-mn || own=-rmn
    if ! command -v ip >/dev/null; then
        echo "1..0 # SKIP no ip (Debian: iproute2)"
        exit 0
    fi
    if ! unshare $own ip link add dead0 type veth peer name end0 2>/dev/null; then
        echo "1..0 # SKIP no network namespace, or no interface in it"
        exit 0
    fi
    OWN_NETWORK=1 exec unshare $own "$BASH" "$0"
fi
. "$(dirname "$0")/lib.sh"

needs_server
unset OPENAI_API_KEY http_proxy https_proxy all_proxy
unset HTTP_PROXY HTTPS_PROXY ALL_PROXY

live=203.0.113.1 dead=198.51.100.7
ip link set lo up
ip addr add $live/32 dev lo
# What is sent to the dead address reaches the other end, and nobody there.
ip link add dead0 type veth peer name end0
ip addr add 198.51.100.1/24 dev dead0
ip link set dead0 up
ip link set end0 up
ip neigh add $dead lladdr 02:00:00:00:00:07 dev dead0 nud permanent
printf '%s two.test\n%s two.test\n127.0.0.1 localhost\n' $dead $live \
    >"$work/hosts"
printf 'precedence ::ffff:0:0/96 10\nprecedence ::ffff:198.51.100.0/120 99\n' \
    >"$work/gai.conf"
if ! mount --bind "$work/hosts" /etc/hosts ||
    ! mount --bind "$work/gai.conf" /etc/gai.conf; then
    echo "1..0 # SKIP /etc/hosts and /etc/gai.conf cannot be mounted over"
    exit 0
fi
serve_http --address $live
is "the dead address is the first" \
    "$(getent ahostsv4 two.test | awk '$2 == "STREAM" { print $1 }' | xargs)" \
    "$dead $live"

# The control: whoever waits for the first address waits for ever.
timeout 3 bash -c "exec 8<>/dev/tcp/$dead/$port" 2>/dev/null
is "it answers nothing, and refuses nothing" $? 124

SECONDS=0
run "$WEND" run --json -m openai:text:3:8 --base-url "http://two.test:$port/v1" hi
is "the second address answers: exit status" $status 0
has "the second address answers" "$out" '"text":"0000000 0000001 0000002 "'
lacks "and nothing is tried again" "$out" model_retry
[ $SECONDS -lt 4 ]
ok "long before the time to connect is over ($SECONDS s of 10)"

exec 9>&-
finish
