#!/usr/bin/env bash
# serve_extras.sh - idempotency keys, uploads, webhooks, numbers, search.
. "$(dirname "$0")/lib.sh"
WEND=$WEND python3 "$test_dir/../serve/extras.py"
