#!/usr/bin/env bash
# usage.sh - help, versions, mistakes on the command line.
. "$(dirname "$0")/lib.sh"

exits "--version" 0 "$WEND" --version
has "--version" "$out" "wend 0."
exits "--help" 0 "$WEND" --help
cp "$out" "$work/all"
for command in $(sed -n 's/^  \([a-z]*\)  *[a-z].*/\1/p' "$work/all"); do
    has "--help names $command" "$work/all" "  $command "
    run "$WEND" "$command" --help
    is "$command --help: exit status" $status 0
    cp "$out" "$work/help"
    has "$command --help says how" "$work/help" "usage: wend $command"
    is "$command --help: 80 columns" "$(awk 'length > 80' "$work/help")" ""
    run "$WEND" help "$command"
    cmp -s "$out" "$work/help"
    ok "help $command is the same"
done

# name | wanted on stderr | arguments
while IFS='|' read -r name wanted arguments; do
    eval "run \"\$WEND\" $arguments"
    is "$name: exit status" $status 2
    has "$name: said" "$err" "$wanted"
    is "$name: nothing on stdout" "$(cat "$out")" ""
done <<'ROWS'
no command|expected a command|
unknown command|unknown command 'wurst'|wurst
near command|did you mean 'replay'?|repaly
unknown option before a command|unknown option --wurst|--wurst
command of later|'worker' is not available in this version|worker
server without a model|no model|serve --listen 127.0.0.1:0
command of later, with options|'index' is not available|index add --all x
help about nothing|unknown command 'wurst'|help wurst
unknown option|unknown option --wurst|run --wurst
near option|did you mean --model?|run --modle x
unknown letter|unknown option -z|run -z
missing value|--model needs a value (NAME)|run --model
missing value of a letter|-m needs a value|run -m
value for a flag|--json takes no value|run --json=yes
option of plan|--set: inputs are of plan files: 'wend plan run FILE --set K=V'|run --set a=b goal
option of run|-t: a plan can use every tool: --approve NAME allows|plan run -t shell p.yaml
option of run, long|--tool: a plan can use every tool|plan run --tool=shell p.yaml
option of plan with =|--set: inputs are of plan files|run --set=a=b goal
server without a name|must be NAME=COMMAND or NAME=URL|run -m 'script:{"turns":[{"text":"x"}]}' --mcp =cat hi
no number|--max-turns: 'x' is not a number from 1|run --max-turns x
zero|--max-turns: '0' is not a number|run --max-turns 0
too many|--parallel: '65' is not a number from 1 to 64|run --parallel 65
no time|--timeout: '5 parsec' is not a duration|run --timeout '5 parsec'
no time at all|--timeout: '0' is not a duration above 0; use|run --timeout 0
no age at all|--older-than: '0d' is not a duration above 0; use|prune --older-than 0d
an age of nothing|--older-than: '' is not a duration; use|prune --older-than ''
no file to write|expected the name of a file, not ''; '-' is standard output|run -m 'script:{"turns":[]}' -o '' hi
swapped letters|unknown command 'rnu'; did you mean 'run'?|rnu
no money|--budget-cost: '-1' is not a positive amount|run --budget-cost=-1
ten decimals|is not a positive amount|run --budget-cost 0.0000000001
no word|'some' is not one of safe, all, off|run --eager some
near word|did you mean 'all'?|run --eager al
no effort|not one of default, none, low, medium, high|run --effort much
near dialect|did you mean 'native'?|run --events natve
no such dialect|'polka' is not one of native, loom, agio, cortex, ag-ui, openai-chat, responses, ui|run -m "$hello" --events polka hi
no tool|there is no tool 'wurst'|run -m "$hello" -t wurst hi
near tool|did you mean 'calculator'?|run -m "$hello" -t calcualtor hi
rule without a tool|did you mean 'write_file'?|run -m "$hello" --approve '!write_fil' hi
near mode|did you mean 'deny'?|run -m "$hello" --approve deni hi
broken rule|has no closing )|run -m "$hello" --approve 'write_file(a' hi
empty prompt|the prompt is empty|run -m "$hello" ''
blank prompt|the prompt is empty|run -m "$hello" '  '
empty stdin|the prompt is empty|run -m "$hello"
no such provider|script:|run -m wurst:x hi
no run|expected one run|log
two runs|expected one run|replay a b
runs with a word|unexpected argument 'all'|runs all
no status|--status: 'wurst' is not one of queued, running, waiting, paused, interrupted, ok, limit, canceled, failed|runs --status wurst
stats too|--status: 'wurst' is not one of queued, running, waiting, paused|stats --status wurst
near status|did you mean 'failed'?|runs --status faild
no events|unknown event type 'wurst'|log --type wurst last
deltas and none|--deltas cannot be combined with --no-deltas|log --deltas --no-deltas last
near events|did you mean 'call_end'?|log --type cal_end last
no factor|is not a speed factor|replay --speed fast last
no such tool|there is no tool 'wurst'|tools wurst
no store of that kind|no such kind of store|runs --store wurst://x
log file|cannot open the log file|run -m "$hello" --log-file /nowhere/x hi
ROWS
for command in $("$WEND" --help | sed -n 's/^  \([a-z]*\)  .*/\1/p'); do
    case $command in
    run | plan | fork | say) continue ;; # any number, or their own message
    esac
    run "$WEND" "$command" a b c d
    is "$command with four arguments: exit status" $status 2
    grep -q "wend: expected \|wend: unexpected argument '[abcd]'" "$err"
    ok "$command with four arguments: said" || cat "$err"
done
is "no run was started" "$("$WEND" runs --json)" ""

# Both ways to give values.
exits "--opt=value" 0 "$WEND" run --model="$hello" --max-turns=3 hi
exits "--opt value" 0 "$WEND" run --model "$hello" --max-turns 3 hi
exits "-oVALUE" 0 "$WEND" run "-m$hello" hi
exits "flags and a value in one" 0 "$WEND" run "-qm$hello" hi
exits "-- ends the options" 0 "$WEND" run -m "$hello" -- --json
is "-- ends the options" "$(cat "$out")" "Hello there."
run "$WEND" runs --json --limit 1
is "the prompt is what stood behind --" "$(json "$out" "$(at prompt)")" --json
exits "words are joined" 0 "$WEND" run -m "$hello" what is this
run "$WEND" runs --json --limit 1
is "words are joined" "$(json "$out" "$(at prompt)")" "what is this"
exits "options behind the prompt" 0 "$WEND" run hi -m "$hello"

# Without a model: what to set, and an example that works when pasted.
exits "no model" 2 "$WEND" run hi
has "no model: names the variable" "$err" WEND_MODEL
sed -n "/wend run/,/What is/p" "$err" | sed "s,^ *wend,'$WEND'," >example
run bash example
is "the example works" "$status $(cat "$out")" "0 The answer is 42."
WEND_MODEL=$hello
export WEND_MODEL
exits "WEND_MODEL" 0 "$WEND" run hi
exits "-m before WEND_MODEL" 0 "$WEND" run -m "$sum" hi
has "-m before WEND_MODEL" "$out" "It is 42."
finish
