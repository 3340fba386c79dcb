#!/bin/sh
# schema_ajv.sh - core/schema against ajv, on random schemas and values;
# prints TAP. SEED and ROUNDS may be set.
#
# Differences that are meant, and not generated or set aside:
# - ajv takes every item as evaluated once there is `contains`; here, as the
#   specification has it, only those that fit it.
# - ajv takes what `if` or an alternative in an alternative looked at as
#   evaluated even if it did not fit; items, of any alternative.
# - ajv forgets `contains` for an empty list beside prefixItems.
# - ajv divides doubles for multipleOf; here 0.3 is a multiple of 0.1.
# - ajv compares doubles; here 9007199254740993 is not 9007199254740992.
# - A schema that leads in a circle on one value overflows ajv's stack; here
#   it is a mismatch that says so.
# - A $ref that leads nowhere is refused here even where nothing uses it.
# - The code that ajv makes for some unevaluatedProperties throws.
# - Draft 4 and 7 forms (items as a list, boolean exclusiveMinimum) and names
#   required twice are taken here and refused there.
# - Patterns: see base/regex.h; `u` refuses some that are taken here.
# - ajv's metaschema of draft 7 wants values in enum, each once, and does not
#   know writeOnly; that of draft 4 does not know format.
set -eu
cd "$(dirname "$0")/../.."

. tests/oracle/schema.inc

dir=build/oracle/ajv
mkdir -p "$dir"
for tool in node npm; do
    command -v $tool >/dev/null 2>&1 || skip "$tool is not installed"
done
if [ ! -e "$dir/node_modules/ajv-draft-04" ]; then
    npm install --silent --no-audit --no-fund --prefix "$dir" ajv@8.17.1 \
        ajv-draft-04@1.0.0 >"$dir/npm.log" 2>&1 || skip "npm cannot fetch ajv"
fi
build_driver
exec node tests/oracle/schema_ajv.js "$driver" "$dir/node_modules" \
    "${SEED:-1}" "${ROUNDS:-1500}"
