#!/usr/bin/env bash
# demo.sh - make demo: the research assistant from its sources to its report.
. "$(dirname "$0")/lib.sh"
top=$(realpath "$test_dir/../..")

# Report and store go below the project's folder: that is where tools may write.
dir=$(mktemp -d "$top/build/demo.XXXXXX") || exit 2
trap 'leave; rm -rf "$dir"' EXIT
export DEMO_DIR=${dir#"$top/"}
began=$(date +%s)
exits "the demo" 0 timeout 60 "$top/examples/demo.sh"
took=$(($(date +%s) - began))
[ $took -lt 55 ] # some 6 s, on a machine that does nothing else
ok "it is over soon"
has "what the plan will do" "$out" "10 actions (7 tool, 1 agent, 1 llm, 1 relic; \
7 async, 2 sync, 1 fire_and_forget)"
has "and how long it would take" "$out" \
    "5 waves, sequential 330 s, critical path 240 s, 1.4x"
has "who the model is" "$out" "The model is a script"
has "all actions ended well" "$out" "plan     ok: 10 ok, 0 failed, 0 skipped"
has "how to go on" "$out" "build/wend replay last --store $DEMO_DIR/demo.db"
has "and with a real model" "$out" "make demo MODEL="
is "nothing on standard error" "$(cat "$err")" ""

report=$dir/research-report.md
head -1 "$report" >said
has "the report" said "# What makes a run of an agent durable"
has "its sources are those of the corpus" "$report" \
    "- [P3] ARIES (Mohan and others, 1992)"
has "a fact that the plan numbered" "$report" "- [W5] A plan is a graph: what does"
is "as many as it names" "$(grep -c '^- \[[WPN][0-9]\]' "$report")" 13
has "what was checked" "$report" "## Checks: 5 of 5"
has "the report is shown" "$out" "$(sed -n 3p "$report")"

store=$dir/demo.db
exits "the log" 0 "$WEND" log last --store "$store" --json --no-deltas
is "the agent had a run of its own" \
    "$(grep -c '"type":"child_end".*"outcome":"ok"' "$out")" 1
has "the summary is that of its agent" "$out" '"name":"summarize_papers","outcome":"ok"'
exits "a replay" 0 "$WEND" replay last --speed 0 --store "$store"
is "a replay: the outputs" "$(cat "$out")" \
    "{\"report\":\"$DEMO_DIR/research-report.md\",\"checks\":\"5 of 5\"}"

# ---- Killed, and gone on with ------------------------------------------------------

# While the agent is at work, with three sources read.
at_work() {
    [ "$("$WEND" log last --store "$store" --type action_end | wc -l)" -ge 3 ] &&
        "$WEND" log last --store "$store" --type child_start | grep -q summarizer
}
rm -f "$store"* "$report"
cd "$top" || exit 2
sed 's/first_delay: 300ms/first_delay: 90s/' examples/research/model.yaml \
    >"$dir/model.yaml"
"$WEND" plan run examples/research/plan.yaml --store "$store" -q \
    -m "script:$DEMO_DIR/model.yaml" --set "report=$DEMO_DIR/research-report.md" \
    --approve "write_file($DEMO_DIR/*)" >/dev/null 2>&1 &
pid=$!
soon at_work
ok "killed: it was under way"
killed
cp examples/research/model.yaml "$dir"
exits "killed: resumed" 0 timeout 60 "$WEND" resume last --store "$store"
has "killed: the same report" "$report" "## Checks: 5 of 5"
exits "killed: the log" 0 "$WEND" log last --store "$store" --type action_start
is "killed: no source was read again" \
    "$(grep -c fetch_ "$out")" 3

# ---- The check finds what is wrong ------------------------------------------------

cd "$top/examples/research/tools" || exit 2
text() { awk '{ gsub(/"/, "\\\""); printf "%s\\n", $0 }'; }
check() { # REPORT
    printf '{"report":"%s","facts":"[W1] A fact of 12.","papers":"%s","news":"%s"}' \
        "$(printf '%s\n' "$1" | text)" "$(text <../corpus/arxiv.md)" \
        "$(text <../corpus/news.md)" |
        awk -f json.awk -f check_report.awk |
        sed 's/.*"passed":\([0-9]*\).*"lines":"\(.*\)"}/\1 \2/; s/\\n/\n/g'
}
while IFS='|' read -r why report wanted; do
    check "$(printf '%b' "$report")" >"$work/said"
    has "$why" "$work/said" "$wanted"
done <<'ROWS'
a good one|# T\n\n## S\n\nIt has 12 parts [W1].|5 - yes: 1 marks
a mark that there is not|## S\n\nSo it is [P9].|- NO: 1 marks, all of sources that there are [P9]
a number of nobody|## S\n\nIt has 13 parts [W1].|- NO: 1 numbers, each in a source that its sentence names 13
a part of a number|## S\n\nIt has 2 parts [W1].|- NO: 1 numbers
a number of another source|## S\n\nIn 1992 [P1].|- NO: 1 numbers
the number of its source|## S\n\nIn 1992 [P3].|- yes: 1 numbers
a section without a source|## S\n\nSo it is.|- NO: 1 sections, each with a source 'S'
a doubt that is not told|## S\n\nThey keep it for years [N3].|- NO: what a source calls unconfirmed is called so [N3]
a doubt that is told|## S\n\nIt is unconfirmed that they keep it [N3].|- yes: what a source calls
ROWS

# ---- In a terminal -----------------------------------------------------------------

if has_terminal; then
    TERM=xterm timeout 60 script -qec \
        "stty cols 90 rows 40; '$top/examples/demo.sh'" /dev/null \
        </dev/null >"$out" 2>&1
    has "a terminal: the end" "$out" "10 ok, "
    has "a terminal: the pace is seen" "$out" "5 of 10 done, 1 running"
    drawn=$(grep -ac 'done, [0-9]* running' "$out")
    [ "$drawn" -gt 20 ] && [ "$drawn" -lt 1000 ] # ten times a second
    ok "a terminal: drawn now and then, not all the time"
    left=$(sed -n 's/^5 of 10 .* about \([0-9]*\)\.[0-9] s left.*/\1/p' "$out" |
        head -1)
    [ "${left:-99}" -lt 60 ] # the estimates say 150
    ok "a terminal: what is left follows the pace, not the estimates"
else
    skip "a terminal" "script(1) gives none"
fi
finish
