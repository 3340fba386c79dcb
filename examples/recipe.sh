#!/usr/bin/env bash
# recipe.sh - an agent that uses two tools at once, over three turns, offline.
#
# The model is a script (recipe/model.yaml); loop, tools, events and store are
# real. Works with and without a terminal.
set -euo pipefail
cd "$(dirname "$0")/.."
wend=${WEND:-$PWD/build/wend}
store=$PWD/build/recipe.db
prompt='We are twelve people and want pancakes. What do we have to buy?'

if [ ! -x "$wend" ]; then
    echo "recipe.sh: $wend is missing; run make first" >&2
    exit 1
fi
mkdir -p build
rm -f "$store" "$store"-* # each one tells its own story
bold='' plain=''
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
    bold=$(printf '\033[1m') plain=$(printf '\033[0m')
fi

printf '%s\n\n' "$bold> $prompt$plain"
(
    cd examples/recipe # the agent's tools see this folder and nothing above
    "$wend" run "$prompt" -m script:model.yaml -t read_file -t list_dir \
        -t calculator --store "$store" --eager off -v # both calls at once
) 2>&1 # what is told beside the answer belongs to the picture

cat <<EOF

${bold}That run is kept in build/recipe.db. Try next:$plain

  build/wend log last --store build/recipe.db        every event of it
  build/wend replay last --store build/recipe.db     play it again as it happened
  build/wend runs --store build/recipe.db            all runs in this store
  make examples && build/release/examples/01_hello     a run from C
EOF
