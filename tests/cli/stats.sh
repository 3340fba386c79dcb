#!/usr/bin/env bash
# stats.sh - sums, times and causes over many runs.
. "$(dirname "$0")/lib.sh"

exits "none yet" 0 "$WEND" stats
has "none yet" "$err" "no runs"
exits "none yet, --json" 0 "$WEND" stats --json
has "none yet, --json" "$out" '"runs":0'

text=$(model text '{"model":"plain","turns":[{"text":"hi","usage":{"input":10,
"output":3,"cached":2}}]}')
tools=$(model tools '{"model":"busy","turns":[{"calls":[
{"name":"calculator","args":{"expression":"1"}},
{"name":"calculator","args":{"expression":"("}},
{"name":"nothing","args":{}}],"usage":{"input":5,"output":5}},
{"text":"done","usage":{"input":7,"output":1}}]}')
retry=$(model retry '{"model":"shaky","turns":[{"error":{"code":"rate_limit",
"message":"slow down"}},{"text":"at last","usage":{"input":4,"output":2}}]}')
broken=$(model broken '{"model":"dead","turns":[{"error":{"code":"auth",
"message":"no"}}]}')
printf 'wend: agent/1\nname: other\n' >other.yaml

run "$WEND" run -m "$text" one
run "$WEND" run -m "$text" two
run "$WEND" run -m "$tools" three
run "$WEND" run -m "$retry" four
run "$WEND" run -m "$broken" five
run "$WEND" run --max-turns 1 -m "$tools" six
run "$WEND" run -a other.yaml -m "$text" seven
run "$WEND" runs --json
sums() { # MEMBER: of the list of runs
    json "$out" "$(at "$1")" | awk '{ n += $1 } END { print n + 0 }'
}
tokens_in=$(sums tokens_in) tokens_out=$(sums tokens_out) turns=$(sums turns)

exits "stats --json" 0 "$WEND" stats --json
got() { json "$out" "$(at "$1")"; }
named() { # LIST NAME MEMBER
    sqlite3 :memory: "SELECT json_extract(value, '\$.$3') FROM json_each(
        readfile('$out'), '\$.$1') WHERE json_extract(value, '\$.name') = '$2'"
}
is "runs" "$(got runs)" 7
is "outcomes" "$(got outcomes)" '{"ok":5,"limit":1,"failed":1}'
is "turns, as listed" "$(got turns)" "$turns"
is "tokens, as listed" "$(got tokens_in) $(got tokens_out)" \
    "$tokens_in $tokens_out"
is "tokens, by hand" "$(got tokens_in) $(got tokens_out) $(got tokens_cached)" \
    "51 22 6"
is "a text run" "$(named models plain calls) $(named models plain tokens_in)" \
    "3 30"
is "a retry" "$(named models shaky calls) $(named models shaky retries) \
$(named models shaky outcomes) $(named models shaky tokens_in)" \
    '1 1 {"ok":1} 4'
is "a model that fails" "$(named models dead outcomes)" '{"failed":1}'
is "and has no times" "$(named models dead ms)" ""
is "tools" "$(named tools calculator calls) $(named tools calculator outcomes)" \
    '4 {"ok":2,"failed":2}'
is "a tool that is not there" "$(named tools nothing calls)" 2
is "agents" "$(named agents other runs) $(named agents agent runs)" "1 6"
is "an agent's tokens" "$(named agents other tokens_in)" 10
cause() { # WHAT CODE
    sqlite3 :memory: "SELECT json_extract(value, '\$.count') FROM json_each(
        readfile('$out'), '\$.failures') WHERE json_extract(value, '\$.what') =
        '$1' AND json_extract(value, '\$.code') = '$2'"
}
is "a run that failed" "$(cause run auth)" 1
is "a model that failed" "$(cause model auth)" 1
is "a limit" "$(cause limit turns)" 1
is "percentiles do not decrease" "$(json "$out" "$(at ms.p50) <= $(at ms.p90)
    AND $(at ms.p90) <= $(at ms.p99) AND $(at ms.p99) <= $(at ms.max)")" 1

exits "in words" 0 "$WEND" stats
has "in words: runs" "$out" "7 runs: 5 ok, 1 limit, 1 failed"
is "in words: no line is wider than 80 columns" \
    "$(awk 'length > 80' "$out")" ""
has "in words: a model" "$out" "shaky "
has "in words: a cause" "$out" "run: auth"
exits "--agent" 0 "$WEND" stats --json --agent other
is "--agent" "$(got runs)" 1
exits "--status" 0 "$WEND" stats --json --status failed
is "--status" "$(got runs)" 1
exits "--limit" 0 "$WEND" stats --json -n 2
is "--limit" "$(got runs)" 2
exits "--since" 0 "$WEND" stats --json --since 1h
is "--since" "$(got runs)" 7
exits "a status that is none" 2 "$WEND" stats --status oka
has "a status that is none" "$err" "did you mean 'ok'?"
exits "a word too many" 2 "$WEND" stats last

cat >plan.yaml <<'EOF'
wend: plan/1
on_failure: continue
actions:
  - {name: a, type: tool, target: calculator, params: {expression: "1"}}
  - {name: b, type: tool, target: calculator, params: {expression: "1/0"},
     retry: {max: 1, delay: 1ms}}
  - {name: c, type: llm, target: default, prompt: hi, depends_on: [a]}
  - {name: d, type: tool, target: glob, params: {pattern: "x"},
     depends_on: [b]}
EOF
exits "a plan" 0 "$WEND" plan run plan.yaml --store plan.db \
    -m 'script:{"turns":[{"text":"x"}]}'
exits "a plan's tools" 0 "$WEND" stats --store plan.db
is "a plan's tools: by what they are, not by its actions" \
    "$(awk '$1 == "calculator" { print $2, $3, $4 }' "$out")" "2 1 0"
is "a plan's tools: none of what was skipped, no model" \
    "$(awk '$1 == "glob" || $1 == "c"' "$out")" ""
is "no line is wider than 80 columns" "$(awk 'length > 80' "$out")" ""

# Runs that are not over.
begin "$WEND" run -m "$held" hi
exits "a run that is active" 0 "$WEND" stats --json
is "a run that is active counts" "$(got runs) $(got interrupted) $(got active)" \
    "8 0 1"
killed
exits "a run that was interrupted" 0 "$WEND" stats --json
is "a run that was interrupted counts" \
    "$(got runs) $(got interrupted) $(got active)" "8 1 0"
is "an interrupted run of an agent" "$(named agents agent interrupted) \
$(named agents other interrupted)" "1 0"
exits "a run that was interrupted, in words" 0 "$WEND" stats
has "a run that was interrupted, in words" "$out" \
    "8 runs: 5 ok, 1 limit, 1 failed, 1 interrupted"
run "$WEND" fork --no-run last
exits "a fork that never ran" 0 "$WEND" stats --json
is "a fork that never ran is interrupted" "$(got interrupted)" 2
run "$WEND" rm --yes last

sqlite3 "$WEND_STORE" "update events set body = replace(body, 'three', 'drei')"
exits "a damaged run" 74 "$WEND" stats --json
has "a damaged run is said" "$err" "is damaged at event 1"
is "the others count" "$(got runs)" 7
finish
