#!/bin/sh
# regex_node.sh - base/regex against RegExp of node with the flag u, on random
# patterns and texts; prints TAP. SEED and ROUNDS may be set.
#
# Differences that are meant, and set aside:
# - What `u` refuses may be taken here: see base/regex.h.
# - Lookbehind of no fixed length, names and repeats beyond PCRE2's limits
#   are refused here.
# - node may try a lookaround in the midst of a surrogate pair, where a text
#   here has no place.
# - A group in a repeat keeps what it captured in an earlier round; so there
#   are no references to groups among the random patterns.
set -eu
cd "$(dirname "$0")/../.."

if ! command -v node >/dev/null 2>&1; then
    echo "regex_node.sh: SKIPPED, node is not installed" >&2
    echo "1..0 # SKIP node is not installed"
    exit 0
fi
mkdir -p build/oracle
objects=$(ls src/base/*.c src/core/schema/*.c tests/oracle/schema_driver.c |
    sed 's,^,build/asan/,; s,c$,o,')
make -s VARIANT=asan $objects >&2
${CC:-gcc} -fsanitize=address,undefined -o build/oracle/regex_driver \
    $objects $(pkg-config --libs libpcre2-8)
exec node tests/oracle/regex_node.js build/oracle/regex_driver "${SEED:-1}" \
    "${ROUNDS:-10000}"
