#!/usr/bin/env bash
# serve_guards.sh - who may what over HTTP.
. "$(dirname "$0")/lib.sh"
WEND=$WEND python3 "$test_dir/../serve/guards.py"
