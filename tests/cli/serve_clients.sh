#!/usr/bin/env bash
# serve_clients.sh - the server by the clients of the protocols that it speaks.
. "$(dirname "$0")/lib.sh"
top=$test_dir/../..
skip() {
    echo "serve_clients.sh: SKIPPED, $1" >&2
    [ -z "${CI:-}" ] || exit 1
    echo "1..0 # SKIP $1"
    exit 0
}
for tool in node npm; do
    command -v $tool >/dev/null 2>&1 || skip "$tool is not installed"
done
clients=$(cd "$top" && tests/clients/install) ||
    skip "npm cannot fetch the clients"
case $clients in
/*) ;;
*) clients=$top/$clients ;;
esac
node "$top/tests/serve/clients.mjs" "$WEND" "$clients"
