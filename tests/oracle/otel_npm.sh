#!/bin/sh
# otel_npm.sh - spans of the command, sent to @elastic/mockotlpserver and
# decoded by the .proto files of OpenTelemetry that it comes with; prints TAP.
set -eu
cd "$(dirname "$0")/../.."

skip() {
    echo "$(basename "$0"): SKIPPED, $1" >&2
    echo "1..0 # SKIP $1"
    exit 0
}

dir=build/oracle/otlp
mkdir -p "$dir"
for tool in node npm; do
    command -v $tool >/dev/null 2>&1 || skip "$tool is not installed"
done
if [ ! -e "$dir/node_modules/@elastic/mockotlpserver" ]; then
    npm install --silent --no-audit --no-fund --prefix "$dir" \
        @elastic/mockotlpserver@0.10.0 >"$dir/npm.log" 2>&1 ||
        skip "npm cannot fetch @elastic/mockotlpserver"
fi
wend=${WEND:-build/asan/wend}
[ -x "$wend" ] || make -s VARIANT=asan "$wend" >&2
exec node tests/oracle/otel_npm.js "$(realpath "$wend")" \
    "$(realpath "$dir/node_modules")"
