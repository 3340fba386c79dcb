#!/usr/bin/env bash
# serve_badinput.sh - bad requests are explained. SERVE_MUTATIONS=N,
# SERVE_SEED=N: of bodies.
. "$(dirname "$0")/lib.sh"
WEND=$WEND python3 "$test_dir/../serve/badinput.py"
