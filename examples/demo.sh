#!/usr/bin/env bash
# demo.sh - an agent that uses two tools at once, over three turns, offline.
#
#   make demo
#
# The model is a script (demo/demo.yaml); loop, tools, events and store are
# real. Works with and without a terminal.
set -euo pipefail
cd "$(dirname "$0")/.."
wend=${WEND:-$PWD/build/wend}
store=$PWD/build/demo.db
prompt='We are twelve people and want pancakes. What do we have to buy?'

if [ ! -x "$wend" ]; then
    echo "demo.sh: $wend is missing; run make first" >&2
    exit 1
fi
mkdir -p build
rm -f "$store" "$store"-* # each demo tells its own story
bold='' plain=''
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
    bold=$(printf '\033[1m') plain=$(printf '\033[0m')
fi

printf '%s\n\n' "$bold> $prompt$plain"
(
    cd examples/demo # the agent's tools see this folder and nothing above
    "$wend" run "$prompt" -m script:demo.yaml -t read_file -t list_dir \
        -t calculator --store "$store" --eager off -v # both calls at once
) 2>&1 # what is told beside the answer belongs to the picture

cat <<EOF

${bold}That run is kept in build/demo.db. Try next:$plain

  build/wend log last --store build/demo.db        every event of it
  build/wend replay last --store build/demo.db     play it again as it happened
  build/wend runs --store build/demo.db            all runs in this store
  make examples && build/release/examples/01_hello     a run from C
EOF
