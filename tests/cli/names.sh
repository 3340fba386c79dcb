#!/usr/bin/env bash
# names.sh - user, session, labels and correlation id of runs; filters, pages,
# trees and tables of the list.
. "$(dirname "$0")/lib.sh"

broken='script:{"turns":[{"error":{"code":"auth","message":"Wrong KEY given"}}]}'
loud='script:{"turns":[{"text":"The Ärger of LOUD answers.","repeat":"forever"}]}'

# ---- Names ----------------------------------------------------------------------

exits "all names" 0 "$WEND" run --json -m "$hello" --user ann --session s1 \
    --label team=search --label 'note=a "b" = c' --correlation-id ticket-7 first
one=$(newest)
has "all names: in run_start" "$out" '"user":"ann","session":"s1"'
has "all names: correlation" "$out" '"correlation_id":"ticket-7"'
has "all names: labels" "$out" '"labels":{"team":"search","note":"a \"b\" = c"}'
exits "runs --json" 0 "$WEND" runs --json
has "runs --json: they are there" "$out" '"user":"ann","session":"s1",'\
'"correlation_id":"ticket-7","labels":{"team":"search","note":"a \"b\" = c"}}'
exits "log" 0 "$WEND" log --type run_start last
has "log: they are there" "$out" \
    'script (user ann, session s1, correlation ticket-7, team=search'
exits "a run without names" 0 "$WEND" run -q -m "$loud" --session s2 second
two=$(newest)
exits "a run that fails" 1 "$WEND" run -m "$broken" --user ann third
three=$(newest)
"$WEND" runs --json -n 1 >"$out"
lacks "no names: no members" "$out" '"labels"'
lacks "no names: no correlation id but its own" "$out" '"correlation_id"'
cat >plan.yaml <<'YAML'
wend: plan/1
actions:
  - {name: a, type: tool, target: calculator, params: {expression: "1"}}
YAML
exits "a plan" 0 "$WEND" plan run -q plan.yaml --user bob --label team=plans
plan=$(newest)
exits "a fork has the names of its parent" 0 "$WEND" fork -q "$one" more
fork=$(newest)

while IFS='|' read -r name wanted args; do
    eval "exits \"$name\" 2 \"\$WEND\" run -m \"\$hello\" $args hi"
    has "$name" "$err" "$wanted"
done <<'ROWS'
a label without =|--label: 'x' has no '='; use KEY=VALUE|--label x
a label without a key|--label: '=x' has no key|--label =x
a label twice|--label: 'x' is given twice|--label x=1 --label xy=2 --label x=2
a label with bad bytes|is not valid UTF-8|--label $'x=\xff'
a long key|a key has at most 64 bytes|--label $(printf 'k%.0s' {1..65})=1
a long value|a value at most 256|--label k=$(printf 'v%.0s' {1..257})
too many labels|33 labels, at most 32|$(printf -- '--label k%d=1 ' {1..33})
an empty user|--user: the name is empty|--user ''
an empty session|--session: the name is empty|--session ''
a long session|the session is over 256 bytes|--session $(printf 's%.0s' {1..257})
an empty correlation|--correlation-id: the name is empty|--correlation-id ''
ROWS
exits "as many labels as may be" 0 "$WEND" run -q -m "$hello" \
    $(printf -- '--label k%d=1 ' {1..31}) \
    --label "$(printf 'k%.0s' {1..64})=$(printf 'v%.0s' {1..256})" many
many=$(newest)
is "a refused run is not in the store" "$("$WEND" runs --json | wc -l)" 6

# ---- Filters ----------------------------------------------------------------------

# The runs that fit, by what they are called above.
fits() { # OPTIONS...
    "$WEND" runs --json "$@" 2>"$err" | sed 's/^{"run":"\([^"]*\)".*/\1/' |
        sed "s/$one/one/; s/$two/two/; s/$three/three/; s/$plan/plan/
             s/$fork/fork/; s/$many/many/" | tr '\n' ' '
}
is "--user" "$(fits --user ann)" "fork three one "
is "--session" "$(fits --session s2)" "two "
is "--label" "$(fits --label team=search)" "fork one "
is "--label, another value" "$(fits --label team=searc)" ""
is "--label, any value" "$(fits --label team)" "fork plan one "
is "--label, two" "$(fits --label team --label 'note=a "b" = c')" "fork one "
is "--label and --user" "$(fits --label team --user bob)" "plan "
is "--grep: the prompt" "$(fits --grep SECOND)" "two "
is "--grep: the answer, any case, any letter" "$(fits --grep 'äRGER of loud')" \
    "two "
is "--grep: the error" "$(fits --grep 'wrong key')" "three "
is "--grep: the code of the error" "$(fits --grep auth)" "three "
is "--grep: not a pattern" "$(fits --grep 'sec.nd')" ""
is "--grep: both prompts of a fork" "$(fits --grep more)$(fits --grep first)" \
    "fork fork one "
is "--grep: the limit counts what fits" "$(fits --grep hello -n 1)" "many "
is "--since and --until" "$(fits --since 1h | wc -w) $(fits --since 1d \
    --until 1h)" "6 "
is "--since: a date" "$(fits --since 2001-02-03 | wc -w)" 6
is "--until: a date and a time" "$(fits --until 2001-02-03T04:05Z)" ""
is "--until: a date to come" "$(fits --until 2999-12-31 | wc -w)" 6
for odd in 5 x 5x 2026-02-30 2026-13-01 '' 2026-01-01x; do
    exits "--since '$odd'" 2 "$WEND" runs --since "$odd"
    has "--since '$odd': says what is valid" "$err" \
        "use a duration with a unit (s, m, h, d, w, y) such as 2d, or a date"
done
exits "--grep of nothing" 2 "$WEND" runs --grep ''
exits "stats filters, too" 0 "$WEND" stats --json --label team --user ann
has "stats filters, too" "$out" '"runs":2'
long=$(printf 'x%.0s' {1..20000})
{ echo "$long$long$long$long$long$long$long$long$long$long$long$long$long$long"
    echo needle; } | "$WEND" run -q -m "$hello" >/dev/null
is "--grep: a prompt that is a blob" "$("$WEND" runs --json --grep needle |
    wc -l)" 1

# An imported run is listed under the names that it brings, marked.
"$WEND" export "$one" -o one.jsonl
exits "import" 0 env WEND_STORE="$work/other.db" "$WEND" import one.jsonl
exits "an imported run" 0 env WEND_STORE="$work/other.db" "$WEND" runs --json \
    --label team=search --user ann
has "an imported run is marked" "$out" '"imported":true'

# ---- Pages ------------------------------------------------------------------------

pages= after=
for page in 1 2 3 4; do
    run "$WEND" runs -n 2 $after
    pages+=" $(($(wc -l <"$out") - 1))"
    after=$(sed -n 's/.*add \(--after [^,]*\),.*/\1/p' "$err")
    [ -n "$after" ] || break
done
is "pages: all runs, and the last page says nothing" "$pages" " 2 2 2 1"
exits "--after a run that is not there" 2 "$WEND" runs --after ffff
exits "--after last~1" 0 "$WEND" runs --json -n 1 --after last~1
has "--after last~1" "$out" "$fork"
exits "--tree with --json" 2 "$WEND" runs --tree --json

# ---- The table --------------------------------------------------------------------

"$WEND" run -q -m "$hello" --user ユーザー --session s --label a=b \
    $'ワイド文字のプロンプト\e[31m\nワイド文字のプロンプトワイド文字のプロンプト' >/dev/null
export TERM=xterm LC_ALL=C.UTF-8
for size in 80x24 40x20 200x50 60x24 24x24; do
    on_screen $size "$WEND runs" </dev/null
    is "$size: a row per line, none wraps" "$(grep -c . "$out")" 9
    is "$size: the first column is there" "$(sed -n '1s/ .*//p' "$out")" RUN
done
columns() { head -1 "$out" | tr -s ' ' | sed 's/ $//'; }
on_screen 200x50 "$WEND runs" </dev/null
is "200 columns: all of them" "$(columns)" \
    "RUN STATUS AGE TURNS TOKENS COST MODEL PARENT SESSION USER LABELS PROMPT"
on_screen 40x20 "$WEND runs" </dev/null
has "40 columns: what counts" "$out" "RUN"
has "40 columns: what counts" "$out" "PROMPT"
lacks "40 columns: others are lost" "$out" "MODEL"
on_screen 80x24 "$WEND runs --tree" </dev/null
has "a tree on a screen" "$out" "└─ more"
finish
