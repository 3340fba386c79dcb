#!/bin/sh
# json_node.sh - base/json against the JSON.parse of node; prints TAP.
set -eu
cd "$(dirname "$0")/../.."

if ! command -v node >/dev/null 2>&1; then
    echo "json_node.sh: SKIPPED, node is not installed" >&2
    echo "1..0 # SKIP node is not installed"
    exit 0
fi
mkdir -p build/oracle
${CC:-gcc} -std=c17 -D_GNU_SOURCE -O1 -g -fsanitize=address,undefined \
    -fno-sanitize-recover=all -Iinclude -Isrc -o build/oracle/json_driver \
    tests/oracle/json_driver.c src/base/*.c $(pkg-config --libs libpcre2-8)
exec node tests/oracle/json_node.js build/oracle/json_driver
