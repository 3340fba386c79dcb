#!/usr/bin/env bash
# plan.sh - wend plan show: the numbers, the drawings, what is refused.
. "$(dirname "$0")/lib.sh"
top=$(realpath "$test_dir/../..")
plan=examples/research/plan.yaml

# ---- The research assistant: its numbers are promised ----------------------------

cd "$top" || exit 2
exits "the example" 0 "$WEND" plan show $plan
has "its actions" "$out" "10 actions (7 tool, 1 agent, 1 llm, 1 relic; 7 async, \
2 sync, 1 fire_and_forget)"
has "its times" "$out" "5 waves, sequential 330 s, critical path 240 s, 1.4x"
is "its critical path" "$(sed -n 's/^ *[0-9]*  \* \([a-z_]*\) .*/\1/p' "$out" |
    tr '\n' ' ')" "fetch_arxiv summarize_papers synthesize_report quality_check \
finalize_report "
has "what an action waits for" "$out" \
    "20 s; after synthesize_report"
lacks "no price is known" "$out" cost
has "what the mark means" "$out" "* is on the critical path"
printf 'wend: plan/1\nactions: [{name: a, type: tool, target: list_dir}]\n' \
    >"$work/short.yaml"
exits "without estimates" 0 "$WEND" plan show "$work/short.yaml"
lacks "no mark is explained that is not there" "$out" "is on the critical path"
cat >"$work/models.yaml" <<YAML
wend: models/1
models:
  - {name: "openai:m", window: 11000, output: 1000, price: {input: 1, cached: 1, output: 5}}
YAML
WEND_MODELS=$work/models.yaml WEND_MODEL=openai:m exits "prices" 0 \
    "$WEND" plan show $plan
has "prices: two attempts of one question" "$out" \
    "1.4x, cost at most 0.03 USD for 1 of 2 actions that ask models"
exits "for programs" 0 "$WEND" plan show --json $plan
is "for programs: the numbers" "$(json "$out" "$(at count)||' '||$(at waves)||' '
    ||$(at sequential_ms)||' '||$(at critical_path_ms)||' '||$(at speedup)||' '
    ||$(at types.tool)||' '||$(at modes.async)||' '||$(at edges)")" \
    "10 5 330000 240000 1.375 7 7 10"
cp "$out" "$work/a.json"
exits "--format json" 0 "$WEND" plan show --format json $plan
cmp -s "$out" "$work/a.json"
ok "--format json is --json"
exits "dot" 0 "$WEND" plan show --format dot $plan
is "dot: an edge each" "$(grep -c -- '->' "$out")" 10
exits "svg" 0 "$WEND" plan show --format svg $plan
is "svg: a box each" "$(grep -o '<rect' "$out" | wc -l)" 10
exits "html" 0 "$WEND" plan show --format html $plan
has "html: the numbers" "$out" "One after the other 330 s, critical path 240 s"
lacks "html: loads nothing" "$out" 'src='
lacks "html: no program" "$out" '<script'
exits "an input" 0 "$WEND" plan show --json --set topic=looms $plan
has "an input: set" "$out" '"topic":"looms"'
exits "no such input" 2 "$WEND" plan show --set topik=looms $plan
has "no such input: said" "$err" "did you mean 'topic'?"
exits "no value" 2 "$WEND" plan show --set topic $plan
has "no value: said" "$err" "name=value"
echo '{"wend":"plan/1","name":"x","actions":[{"name":"a","type":"tool",
       "target":"list_dir"}]}' >"$work/in.json"
exits "standard input" 0 sh -c "'$WEND' plan show - <'$work/in.json'"
if has_terminal; then
    for row in "C.UTF-8|◆─┴─╯ synthesize_report" "C|*-'-' synthesize_report"; do
        TERM=xterm LC_ALL=${row%%|*} script -qec \
            "stty cols 100; $WEND plan show $plan" /dev/null \
            </dev/null >"$out" 2>&1
        has "a drawing, ${row%%|*}" "$out" "${row#*|}"
    done
    TERM=xterm LC_ALL=C.UTF-8 script -qec "stty cols 45; $WEND plan show $plan" /dev/null \
        </dev/null >"$out" 2>&1
    lacks "no drawing where there is no room" "$out" "─"
fi
cd "$work/cwd" || exit 2

# ---- What is refused -------------------------------------------------------------

refused() { # WHY PLACE-AND-MESSAGE; the plan is on standard input
    cat >p.yaml
    exits "$1" 2 "$WEND" plan show p.yaml
    has "$1: said" "$err" "wend: p.yaml:$2"
}

head='wend: plan/1
name: x
actions:'
refused "a cycle" "4:5: 3 actions in a cycle: a -> b -> c -> a" <<YAML
$head
  - {name: a, type: tool, target: grep, depends_on: [c]}
  - {name: b, type: tool, target: grep, depends_on: [a]}
  - {name: c, type: tool, target: grep, depends_on: [b]}
YAML
refused "a long name" "4:12: actions[0].name must be a letter, then letters, \
digits, _ and - (at most 64), not a string of 65 characters" <<YAML
$head
  - {name: $(printf 'n%.0s' {1..65}), type: tool, target: grep}
YAML
refused "an unknown tool" "4:35: unknown tool 'grap'; did you mean 'grep'?" <<YAML
$head
  - {name: a, type: tool, target: grap}
YAML
refused "an agent that is not there" "4:36: unknown agent 'none.yaml'; there is no file 'none.yaml'" <<YAML
$head
  - {name: a, type: agent, target: none.yaml, prompt: hi}
YAML
refused "a relic that is not there" "4:36: unknown relic 'cache.put'; there is no file 'relics/cache.yaml'" <<YAML
$head
  - {name: a, type: relic, target: cache.put}
YAML
refused "a model without a provider" "4:34: unknown llm 'gpt'" <<YAML
$head
  - {name: a, type: llm, target: gpt, prompt: hi}
YAML
refused "a condition" "4:49: actions[0].when: '=' does not compare" <<YAML
$head
  - {name: a, type: tool, target: grep, when: 1 = 2}
YAML
printf '\033[31m: 1\n' >p.yaml
exits "escapes" 2 "$WEND" plan show p.yaml
! LC_ALL=C grep -q $'\033' "$err"
ok "escapes: do not come through"
exits "no such file" 2 "$WEND" plan show none.yaml
has "no such file: said" "$err" "none.yaml: file not found"
exits "no file" 2 "$WEND" plan show
exits "no word" 2 "$WEND" plan
exits "another word" 2 "$WEND" plan shaw p.yaml

# ---- Tools in files --------------------------------------------------------------

printf 'wend: tool/1\nname: mine\ndescription: x\ncommand: ["true"]\n' >t.yaml
printf '%s\n  - {name: a, type: tool, target: mine}\n' "$head" >p.yaml
exits "a tool in a file" 0 "$WEND" plan show --tools t.yaml p.yaml
exits "not without it" 2 "$WEND" plan show p.yaml
# ---- Arguments that cannot be right -------------------------------------------

mkdir -p tools
cat >tools/greet.yaml <<'EOF'
wend: tool/1
name: greet
description: d
class: read
command: [echo, hi]
schema:
  type: object
  properties: {who: {type: string}, times: {type: integer, minimum: 1},
               how: {enum: [loud, soft]}}
  required: [who]
  additionalProperties: false
EOF
while IFS='|' read -r why target params wanted; do
    cat >args.yaml <<EOF
wend: plan/1
name: args
inputs: {me: you}
actions:
  - {name: one, type: tool, target: list_dir, output_key: x}
  - name: two
    type: tool
    target: $target
    params: $params
    depends_on: [one]
EOF
    run "$WEND" plan show args.yaml
    if [ -z "$wanted" ]; then
        is "arguments: $why" $status 0
        continue
    fi
    is "arguments: $why: exit status" $status 2
    has "arguments: $why" "$err" "args.yaml:$wanted"
    run "$WEND" plan run args.yaml
    is "arguments: $why: run, too" "$status $(cat "$out")" "2 "
done <<'EOF'
all is right|greet|{who: me, times: 2, how: loud}|
a reference is not looked at|greet|{who: me, times: $x}|
also inside of a text|greet|{who: "I am $me", how: soft}|
a wrong type|greet|{who: me, times: often}|9:30: action 'two': greet: argument 'times':
below the minimum|greet|{who: me, times: 0}|9:30: action 'two': greet: argument 'times':
not one of the words|greet|{who: $x, how: fast}|9:28: action 'two': greet: argument 'how':
one that is missing|greet|{times: 2}|9:13: action 'two': greet: the argument 'who' is missing
one that is unknown|greet|{who: $x, tims: 2}|9:29: action 'two': greet: there is no argument 'tims'; did you mean 'times'?
a built-in tool|calculator|{expression: [1]}|9:26: action 'two': calculator: argument 'expression':
EOF

# Of tools in files that an option names, and of relics.
mkdir -p relics other
mv tools/greet.yaml other/
cat >relics/notes.yaml <<'EOF'
wend: relic/1
name: notes
kind: kv
EOF
cat >relics/web.yaml <<'EOF'
wend: relic/1
name: web
kind: http
base_url: http://127.0.0.1:9/v1
endpoints:
  find: {method: GET, path: "/find/${what}",
         schema: {type: object, properties: {what: {type: string}},
                  required: [what], additionalProperties: false}}
EOF
while IFS='|' read -r why type target params wanted; do
    cat >args.yaml <<EOF
wend: plan/1
name: args
inputs: {me: you}
actions:
  - name: one
    type: $type
    target: $target
    params: $params
EOF
    run "$WEND" plan show --tools other/greet.yaml args.yaml
    code=2
    [ "$wanted" ] || code=0
    is "known before a run: $why: exit status" $status $code
    [ -z "$wanted" ] || has "known before a run: $why" "$err" "args.yaml:$wanted"
done <<'EOF'
a tool of --tools|tool|greet|{who: me}|
a tool of --tools, wrong|tool|greet|{who: 5}|8:19: action 'one': greet: argument 'who':
a value of kv|relic|notes.put|{key: a, value: [1]}|
no key|relic|notes.put|{value: 1}|8:13: action 'one': notes.put: the argument 'key' is missing
no such argument|relic|notes.get|{key: a, ttl: 1d}|8:27: action 'one': notes.get: there is no argument 'ttl'
an endpoint|relic|web.find|{what: $me}|
an endpoint, wrong|relic|web.find|{what: 7}|8:20: action 'one': web.find: argument 'what':
EOF

# ---- Files by their suffix -----------------------------------------------------

printf '%s\n  - {name: a, type: tool, target: list_dir}\n' "$head" >p.yaml
for row in html:'<!doctype html>' svg:'<svg ' json:'{' dot:digraph txt:x; do
    exits "show -o ${row%%:*}" 0 "$WEND" plan show -o "shown.${row%%:*}" p.yaml
    begins=${row#*:}
    is "show -o ${row%%:*}: the format" \
        "$(head -c ${#begins} "shown.${row%%:*}")" "$begins"
done
exits "show -o, --format comes first" 0 "$WEND" plan show -o shown.html \
    --format json p.yaml
is "show -o, --format comes first: the format" "$(head -c 1 shown.html)" "{"

# ---- A dry run ------------------------------------------------------------------

cat >dry.yaml <<'EOF'
wend: plan/1
name: dry
inputs: {file: out.txt}
actions:
  - {name: reads, type: tool, target: list_dir, output_key: x}
  - {name: writes, type: tool, target: write_file,
     params: {path: $file, content: hi}}
  - {name: later, type: tool, target: write_file,
     params: {path: $x, content: hi}, depends_on: [reads]}
EOF
before=$(ls -a)
export WEND_STORE=$work/dry.db
exits "dry run" 0 "$WEND" plan run --dry-run dry.yaml
has "dry run: allowed, by what" "$out" \
    "reads                allowed  tool list_dir, by default read"
has "dry run: denied, and why" "$out" \
    "writes               denied   tool write_file: no rule allows this call"
has "dry run: the rule that allows it" "$out" \
    "--approve 'write_file(out.txt)' allows it"
# ... as a shell reads it: what is printed can be pasted.
"$WEND" plan run --dry-run --set "file=it's.txt" dry.yaml >"$work/quote"
rule=$(sed -n "s/^ *--approve \\('write_file(it.*\\) allows it\$/\\1/p" "$work/quote")
eval "exits 'dry run: a rule with a quote' 0 \"\$WEND\" plan run --dry-run \
    --set \"file=it's.txt\" --approve $rule dry.yaml"
has "dry run: a rule with a quote allows it" "$out" \
    "writes               allowed"
exits "dry run" 0 "$WEND" plan run --dry-run dry.yaml
has "dry run: arguments of later" "$out" \
    "its arguments are known only when it runs"
has "dry run: sums" "$out" "1 allowed, 0 asked, 2 denied; nothing was run"
exits "dry run: with the rule" 0 "$WEND" plan run --dry-run \
    --approve 'write_file(out.txt)' dry.yaml
has "dry run: with the rule" "$out" \
    "writes               allowed  tool write_file, by write_file(out.txt)"
has "dry run: with the rule: sums" "$out" "2 allowed, 0 asked, 1 denied"
exits "dry run: as JSON" 0 "$WEND" plan run --dry-run --json dry.yaml
sed -n 2p "$out" >"$work/one"
is "dry run: as JSON" "$(json "$work/one" \
    "$(at action)||' '||$(at decision)||' '||$(at args.path)||' '||$(at allow)")" \
    "writes denied out.txt write_file(out.txt)"
is "dry run: nothing is written, no store is made" \
    "$(ls -a) $(ls "$work"/dry.db* 2>/dev/null)" "$before "
exits "dry run: not of show" 2 "$WEND" plan show --dry-run dry.yaml
# What a plan inside would do, by the policies of both.
mkdir -p in
cat >in/inner.yaml <<'EOF'
wend: plan/1
name: inner
inputs: {path: a.txt, dir: b}
actions:
  - {name: keep, type: tool, target: write_file,
     params: {path: $path, content: hi}}
  - {name: list, type: tool, target: list_dir, params: {path: $dir}}
outputs: {}
EOF
cat >outer.yaml <<'EOF'
wend: plan/1
name: outer
actions:
  - {name: all, type: tool, target: list_dir, output_key: x}
  - {name: first, type: workflow, target: in/inner.yaml,
     params: {path: known.txt}, depends_on: [all]}
  - {name: second, type: workflow, target: in/inner.yaml,
     params: {path: $x}, depends_on: [all]}
EOF
exits "dry run of a workflow" 0 "$WEND" plan run --dry-run outer.yaml
has "dry run of a workflow: the action inside" "$out" \
    "first/keep           denied   tool write_file: no rule allows this call"
has "dry run of a workflow: its arguments come from outside" "$out" \
    "--approve 'write_file(known.txt)' allows it"
has "dry run of a workflow: what is allowed" "$out" \
    "first/list           allowed  tool list_dir"
has "dry run of a workflow: what is known only later" \
    <(grep '^second/keep' "$out") "its arguments are known only when it runs"
has "dry run of a workflow: sums" "$out" "5 allowed, 0 asked, 2 denied"
exits "dry run of a workflow: with the rule" 0 "$WEND" plan run --dry-run \
    --approve 'write_file(known.txt)' outer.yaml
has "dry run of a workflow: with the rule" "$out" "first/keep           allowed"
run "$WEND" plan run --dry-run --json outer.yaml
has "dry run of a workflow: as JSON" "$out" '{"action":"keep","within":"first",'

if has_terminal; then
    at_terminal "$WEND plan run --dry-run dry.yaml"
    has "dry run: asked on a terminal" "$out" "writes               asked    "
    has "dry run: asked on a terminal: sums" "$out" "1 allowed, 2 asked, 0 denied"
else
    skip "dry run: asked on a terminal" "no terminal"
fi
export WEND_STORE=$work/wend.db

# ---- What each action took --------------------------------------------------------

cat >past.yaml <<'EOF'
wend: plan/1
name: past
actions:
  - {name: good, type: tool, target: calculator, params: {expression: "1"}}
  - {name: bad, type: tool, target: calculator, params: {expression: 1/0},
     skip_on_error: true}
EOF
export WEND_STORE=$work/past.db
run "$WEND" plan run -q past.yaml
run "$WEND" plan run -q past.yaml
exits "what each action took" 0 "$WEND" plan show past.yaml
has "what each action took: the one that works" "$out" "(0 of 2 failed)"
has "what each action took: the one that does not" "$out" "(2 of 2 failed)"
sed 's/^name: past/name: other/' past.yaml >other.yaml
exits "what its target took" 0 "$WEND" plan show other.yaml
has "what its target took: in another plan" "$out" "(2 of 4 failed)"
export WEND_STORE=$work/wend.db

finish
