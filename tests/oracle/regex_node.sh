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

. tests/oracle/schema.inc

command -v node >/dev/null 2>&1 || skip "node is not installed"
build_driver
exec node tests/oracle/regex_node.js "$driver" "${SEED:-1}" "${ROUNDS:-10000}"
