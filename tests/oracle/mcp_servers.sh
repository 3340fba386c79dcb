#!/bin/sh
# mcp_servers.sh - wend as a client of servers of tools that others wrote
# (server-everything by both transports, server-filesystem), and under the
# protocol's own conformance suite for clients; prints TAP.
set -eu
cd "$(dirname "$0")/../.."

skip() {
    echo "mcp_servers.sh: SKIPPED, $1" >&2
    echo "1..0 # SKIP $1"
    exit 0
}

dir=build/oracle/mcp
mkdir -p "$dir"
for tool in node npm; do
    command -v $tool >/dev/null 2>&1 || skip "$tool is not installed"
done
if [ ! -e "$dir/ready" ]; then
    npm install --silent --no-audit --no-fund --prefix "$dir" \
        @modelcontextprotocol/server-everything@2026.8.31 \
        @modelcontextprotocol/server-filesystem@2026.8.31 \
        @modelcontextprotocol/conformance@0.2.0-alpha.12 \
        >"$dir/npm.log" 2>&1 || skip "npm cannot fetch the servers"
    touch "$dir/ready"
fi
make -s VARIANT=asan build/asan/wend >&2
exec node tests/oracle/mcp_servers.mjs build/asan/wend "$dir"
