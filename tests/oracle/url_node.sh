#!/bin/sh
# url_node.sh - base/url against the URL of node; prints TAP.
set -eu
cd "$(dirname "$0")/../.."

if ! command -v node >/dev/null 2>&1; then
    echo "url_node.sh: SKIPPED, node is not installed" >&2
    echo "1..0 # SKIP node is not installed"
    exit 0
fi
mkdir -p build/oracle
${CC:-gcc} -std=c17 -D_GNU_SOURCE -O1 -g -fsanitize=address,undefined \
    -fno-sanitize-recover=all -Iinclude -Isrc -o build/oracle/url_driver \
    tests/oracle/url_driver.c src/base/*.c $(pkg-config --libs libpcre2-8)
exec node tests/oracle/url_node.js build/oracle/url_driver
