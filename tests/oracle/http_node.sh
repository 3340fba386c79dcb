#!/bin/sh
# http_node.sh - wire/http against the HTTP server of node, on random requests
# and mutations of them; prints TAP. SEED and ROUNDS may be set.
#
# What is accepted here, node must accept and read the same. What node accepts
# may be refused here for the reasons in the list of http_node.js.
set -eu
cd "$(dirname "$0")/../.."

if ! command -v node >/dev/null 2>&1; then
    echo "http_node.sh: SKIPPED, node is not installed" >&2
    echo "1..0 # SKIP node is not installed"
    exit 0
fi
mkdir -p build/oracle
${CC:-gcc} -std=c17 -D_GNU_SOURCE -O1 -g -fsanitize=address,undefined \
    -fno-sanitize-recover=all -Iinclude -Isrc -Itests/unit \
    -o build/oracle/http_driver tests/oracle/http_driver.c \
    src/wire/http/*.c src/base/address.c src/base/fail.c \
    src/base/header.c src/base/mem.c src/base/str.c src/base/utf8.c
exec node tests/oracle/http_node.js build/oracle/http_driver "${SEED:-1}" \
    "${ROUNDS:-10000}"
