#!/usr/bin/env bash
# demo.sh [MODEL] - the research assistant: a plan of ten actions that reads
# sources, has them summarised, writes a report and checks it.
#
#   make demo                             offline, with a script for a model
#   make demo MODEL=anthropic:some-model  with a real one; see wend models
#
# Plan, tools, agent, events and store are real. The script says, word for
# word, what stands in research/model.yaml. Works with and without a terminal.
set -euo pipefail
cd "$(dirname "$0")/.."
wend=${WEND:-$PWD/build/wend}
out=${DEMO_DIR:-build} # where report and store go; below this folder
model=${1:-}
plan=examples/research/plan.yaml

if [ ! -x "$wend" ]; then
    echo "demo.sh: $wend is missing; run make first" >&2
    exit 1
fi
mkdir -p "$out"
store=$out/demo.db report=$out/research-report.md
rm -f "$store" "$store"-* "$report" # each demo tells its own story
bold='' plain=''
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
    bold=$(printf '\033[1m') plain=$(printf '\033[0m')
fi
options=(--store "$store" --set "report=$report"
    --approve "write_file($out/*)")
case $("$wend" doctor --store "$store") in
*"ok   landlock"*) ;;
*)
    echo "This kernel has no Landlock: the plan's tools run without a sandbox."
    options+=(--sandbox off)
    ;;
esac

"$wend" plan show "$plan"
if [ -z "$model" ]; then
    model=script:examples/research/model.yaml
    cat <<TEXT

${bold}Now it runs.$plain The model is a script and says what it was told to;
what it is given, and what becomes of it, is real. All is forty times as fast as
estimated, so the critical path is 6 seconds.

TEXT
fi
"$wend" plan run "$plan" -m "$model" "${options[@]}" 2>&1
printf '\n%s\n\n' "$bold--- $report ---$plain"
cat "$report"
cat <<TEXT

${bold}Try next:$plain

  build/wend view last --store $store        the run as a timeline
  build/wend replay last --store $store      once more, as it happened
  build/wend plan show $plan --format html > plan.html
  make demo MODEL=anthropic:MODEL     with a model that reads the sources;
                                      'build/wend models' says who has a key,
                                      'build/wend doctor' what is missing

Or kill it: run 'make demo' again, and 'kill -9' wend from another terminal
while it runs. What was done is not done again by

  build/wend resume last --store $store
TEXT
