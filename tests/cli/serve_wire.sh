#!/usr/bin/env bash
# serve_wire.sh - HTTP/1.1 of the server over real sockets.
#
# SERVE_MUTATIONS=N, SERVE_SEED=N; SERVE_SLOW=1: also what takes a minute.
. "$(dirname "$0")/lib.sh"
WEND=$WEND python3 "$test_dir/../serve/wire.py"
