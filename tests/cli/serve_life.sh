#!/usr/bin/env bash
# serve_life.sh - the server dies, drains and starts again.
#
# SERVE_RUNS=N, SERVE_KILLS=N, SERVE_SEED=N: under load.
. "$(dirname "$0")/lib.sh"
WEND=$WEND python3 "$test_dir/../serve/life.py"
