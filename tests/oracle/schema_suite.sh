#!/bin/sh
# schema_suite.sh - core/schema against the official test suite of JSON
# Schema; prints TAP. SUITE may name a folder with its tests/, say a newer one
# than Debian has.
set -eu
cd "$(dirname "$0")/../.."
. tests/oracle/schema.inc

dist=/usr/share/perl5/auto/share/dist/Test-JSON-Schema-Acceptance
suite=${SUITE:-$dist}
command -v node >/dev/null 2>&1 || skip "node is not installed"
[ -d "$suite/tests/draft2020-12" ] ||
    skip "libtest-json-schema-acceptance-perl is not installed"
build_driver
exec node tests/oracle/schema_suite.js "$driver" "$suite" ${VERBOSE:+verbose}
