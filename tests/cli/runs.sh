#!/usr/bin/env bash
# runs.sh - listing runs and naming them.
. "$(dirname "$0")/lib.sh"

exits "none yet" 0 "$WEND" runs
is "none yet: nothing on stdout" "$(cat "$out")" ""
exits "none yet, --json" 0 "$WEND" runs --json
is "none yet, --json" "$(cat "$out")" ""
exits "last of none" 2 "$WEND" log last
has "last of none" "$err" "no runs yet"

for i in 1 2 3; do
    run "$WEND" run -m "$sum" "prompt $i"
done
run "$WEND" run --max-turns 1 -m "$sum" $'odd \e[31m\nprompt'
exits "runs" 0 "$WEND" runs
is "runs: a head and four rows" "$(wc -l <"$out")" 5
is "runs: newest first" "$(sed -n 3p "$out" | grep -o 'prompt 3')" "prompt 3"
is "runs: prompts are one line and harmless" \
    "$(sed -n 2p "$out" | grep -c $'\e')" 0
is "runs: 80 columns" "$(awk 'length > 80' "$out" | wc -l)" 0
sed -n 2p "$out" | grep -q ' limit '
ok "runs: status"

exits "runs --json" 0 "$WEND" runs --json
is "runs --json: exactly these members" \
    "$(json "$out" "(SELECT group_concat(key) FROM json_each(line.value))" |
        sort -u)" \
    "run,status,agent,model,prompt,started,ended,turns,tokens_in,tokens_out,cost"
is "runs --json: values" \
    "$(json "$out" "$(at status)||' '||$(at turns)||' '||$(at prompt)" |
        grep 'prompt 3')" "ok 2 prompt 3"
grep -qE '"started":[0-9]+\.[0-9]{6},"ended":[0-9]+\.[0-9]{6},' "$out"
ok "runs --json: times with six decimals"
ids=$(json "$out" "$(at run)")
newest=$(echo "$ids" | head -1)

exits "--limit" 0 "$WEND" runs --json --limit 2
is "--limit" "$(json "$out" "$(at run)")" "$(echo "$ids" | head -2)"
exits "--status" 0 "$WEND" runs --json --status limit
is "--status" "$(json "$out" "$(at run)")" "$newest"
exits "--since" 0 "$WEND" runs --json --since 1h
is "--since" "$(json "$out" 1 | wc -l)" 4
sleep 0.02
exits "--since, nothing" 0 "$WEND" runs --json --since 1ms
is "--since, nothing" "$(cat "$out")" ""
exits "--agent" 0 "$WEND" runs --json --agent agent
is "--agent" "$(json "$out" 1 | wc -l)" 4
exits "--user of nobody" 0 "$WEND" runs --json --user nobody
is "--user of nobody" "$(cat "$out")" ""
exits "--session of nobody" 0 "$WEND" runs --json --session nobody
is "--session of nobody" "$(cat "$out")" ""

# Names of runs.
first_type() { head -1 "$out" | grep -o '"run":"[^"]*"' | cut -d'"' -f4; }
exits "a full id" 0 "$WEND" log --json "$newest"
is "a full id" "$(first_type)" "$newest"
exits "last" 0 "$WEND" log --json last
is "last" "$(first_type)" "$newest"
exits "a unique prefix" 0 "$WEND" log --json "${newest%????}"
is "a unique prefix" "$(first_type)" "$newest"
exits "an ambiguous prefix" 2 "$WEND" log "${newest:0:3}"
has "an ambiguous prefix: the candidates" "$err" "$newest"
has "an ambiguous prefix: all of them" "$err" "$(echo "$ids" | tail -1)"
exits "an unknown run" 2 "$WEND" log ffffffff
has "an unknown run" "$err" "run 'ffffffff' not found"
for odd in '%' '_' '*' '' "$newest-more" '[0-9]'; do
    exits "no run: '$odd'" 2 "$WEND" replay "$odd"
done

# last~N: the Nth before the last.
n=0
for id in $ids; do
    exits "last~$n" 0 "$WEND" log --json last~$n
    is "last~$n" "$(first_type)" "$id"
    n=$((n + 1))
done
exits "last~N too far back" 2 "$WEND" log last~4
has "last~N too far back: says how many there are" "$err" \
    "'last~4' is too far back: there are only 4 runs"
for odd in 'last~' 'last~x' 'last~-1' 'last~1~1' 'last~99999999999999999999' \
    'last ' 'lastt'; do
    exits "no run: '$odd'" 2 "$WEND" replay "$odd"
    has "no run: '$odd'" "$err" "not found"
done

# A short id in the list names one run.
run "$WEND" runs
short=$(awk 'NR == 2 { print $1 }' "$out")
exits "the short id" 0 "$WEND" log --json "$short"
is "the short id" "$(first_type)" "$newest"

# More than a page.
for i in {1..8}; do
    for j in {1..13}; do "$WEND" run -q -m "$hello" x >/dev/null & done
    wait
done
exits "--limit 0 is all" 0 "$WEND" runs --json --limit 0
is "--limit 0 is all" "$(json "$out" "$(at run)" | sort -u | wc -l)" 108
exits "twenty by default" 0 "$WEND" runs --json
is "twenty by default" "$(wc -l <"$out")" 20
exits "all, as a table" 0 "$WEND" runs --limit 0
is "all, as a table" "$(wc -l <"$out")" 109
finish
