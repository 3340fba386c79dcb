#!/usr/bin/env bash
# serve_approvals.sh - answers and words to runs over HTTP.
. "$(dirname "$0")/lib.sh"
WEND=$WEND python3 "$test_dir/../serve/approvals.py"
