#!/usr/bin/env bash
# serve_streams.sh - events of runs over HTTP. SERVE_READERS=N: of one run.
. "$(dirname "$0")/lib.sh"
WEND=$WEND python3 "$test_dir/../serve/streams.py"
