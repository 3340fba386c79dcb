#!/bin/sh
# clients.sh - the records of dialects that are protocols, read by the clients
# of those protocols; prints TAP. Versions: tests/clients/package-lock.json.
set -eu
cd "$(dirname "$0")/../.."

# Where CI is set, a missing client is a failure.
skip() {
    echo "clients.sh: SKIPPED, $1" >&2
    [ -z "${CI:-}" ] || exit 1
    echo "1..0 # SKIP $1"
    exit 0
}

for tool in node npm; do
    command -v $tool >/dev/null 2>&1 || skip "$tool is not installed"
done
dir=$(tests/clients/install) || skip "npm cannot fetch the clients"
driver=build/oracle/dialect_driver
mkdir -p build/oracle
make -s VARIANT=asan build/asan/wend build/asan/tests/parts.a >&2
${CC:-gcc} -std=c17 -D_GNU_SOURCE -O1 -g -fsanitize=address,undefined \
    -fno-sanitize-recover=all -Iinclude -Isrc -o $driver \
    tests/oracle/dialect_driver.c build/asan/tests/parts.a \
    $(pkg-config --libs libuv sqlite3 yaml-0.1 libpcre2-8) -lpthread -lm -ldl
exec node tests/oracle/clients.mjs build/asan/wend $driver "$dir"
