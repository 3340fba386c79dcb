#!/usr/bin/env bash
# limits.sh - a limit ends a run with exit status 3 and says which.
. "$(dirname "$0")/lib.sh"

limit() { tail -1 "$out" >last && json last "$(at data.outcome)||' '||$(at data.limit)"; }
loop='script:{"turns":[{"calls":[{"name":"calculator","args":{"expression":
"${turn}"}}],"usage":{"input":100,"output":10},"repeat":"forever"}]}'

exits "--max-turns" 3 "$WEND" run --json --max-turns 2 -m "$loop" hi
is "--max-turns: which" "$(limit)" "limit turns"
is "--max-turns: two turns" \
    "$(types "$out" | tr ' ' '\n' | grep -c turn_start)" 2
types "$out" | grep -q 'turn_end metrics run_end$'
ok "--max-turns: order"
exits "--max-turns in words" 3 "$WEND" run --max-turns 2 -m "$loop" hi
has "--max-turns: what to do" "$err" "--max-turns raises it"

began=$(date +%s%N)
exits "--timeout" 3 "$WEND" run --json --timeout 2s -m "$held" hi
took=$((($(date +%s%N) - began) / 1000000))
is "--timeout: which" "$(limit)" "limit time"
[ $took -lt 45000 ] # the next word is due after 90 s
ok "--timeout: it is over soon ($took ms)"
has "--timeout: the partial answer" last '"text":"one '
exits "--timeout in words" 3 "$WEND" run --timeout 2s -m "$held" hi
is "--timeout: what came is shown" "$(head -c 4 "$out")" "one "
has "--timeout: what to do" "$err" "--timeout raises it"

exits "--budget-tokens" 3 "$WEND" run --json --budget-tokens 150 -m "$loop" hi
is "--budget-tokens: which" "$(limit)" "limit tokens"
exits "a budget that is enough" 0 "$WEND" run --budget-tokens 1000000 \
    --budget-cost 5 --timeout 1m -m "$sum" hi
exits "--parallel 1" 0 "$WEND" run --parallel 1 -m "$sum" hi
finish
