#!/usr/bin/env bash
# diff.sh - the first difference of two runs.
. "$(dirname "$0")/lib.sh"

id() { # MODEL [OPTION...]: runs it, prints its id
    local model=$1
    shift
    "$WEND" run --json -m "$model" "$@" hi 2>/dev/null |
        sed -n '1s/{"run":"\([^"]*\).*/\1/p'
}
call() { # ID EXPRESSION TEXT: a model
    echo "script:{\"turns\":[{\"text\":\"so\",\"calls\":[{\"id\":\"$1\",\
\"name\":\"calculator\",\"args\":{\"expression\":\"$2\"}}]},{\"text\":\"$3\"}]}"
}
# The script stands in run_start: as a file it has the same name each time.
same() { # TEXT [OPTION...]: of the script
    printf '%s\n' "${1#script:}" >script.json
    shift
    id script:script.json "$@"
}
a=$(same "$(call x 6*7 done)")
b=$(same "$(call x 6*7 done)")
exits "the same twice" 0 "$WEND" diff "$a" "$b"
has "the same twice" "$out" "no difference in"
exits "a run and itself, exactly" 0 "$WEND" diff --exact "$a" "$a"
exits "ids and times, exactly" 1 "$WEND" diff --exact "$a" "$b"
has "ids and times, exactly: the first" "$out" "event 1 (run_start)"

c=$(same "$(call other 6*7 done)")
exits "calls with other names" 0 "$WEND" diff "$a" "$c"
c=$(same "$(call x 6*7 ${a}done)")
exits "another text" 1 "$WEND" diff "$a" "$c"
has "another text: where" "$out" "(model_end)"
has "another text: which field" "$out" "  data.text"
has "another text: the one" "$out" '  - "done"'
has "another text: the other" "$out" '  + "'"$a"
c=$(same "$(call x 6*8 done)")
exits "other arguments" 1 "$WEND" diff "$a" "$c"
is "other arguments: all that is said" "$(cat "$out")" \
    "first difference: event 7 (call_start) against event 7 (call_start)
  data.args.expression
  - \"6*7\"
  + \"6*8\"
6 events before it are equal"
exits "other arguments, --json" 1 "$WEND" diff --json "$a" "$c"
is "other arguments, --json" "$(json "$out" "$(at field)||' '||$(at a.seq)||' '||
    $(at a.value)||' '||$(at b.value)||' '||$(at events_same)||' '||$(at same)")" \
    "data.args.expression 7 6*7 6*8 6 0"
exits "other arguments, --quiet" 1 "$WEND" diff -q "$a" "$c"
is "other arguments, --quiet" "$(cat "$out" "$err")" ""
exits "the same, --json" 0 "$WEND" diff --json "$a" "$b"
is "the same, --json" "$(json "$out" "$(at same)||' '||$(at run_a.outcome)")" \
    "1 ok"

c=$(same 'script:{"turns":[{"text":"so"}]}')
exits "a run that ends sooner" 1 "$WEND" diff "$a" "$c"
has "a run that ends sooner: other types" "$out" \
    "first difference: event 6 (model_part) against event 6 (model_end)"
has "a run that ends sooner: the rest" "$out" "turns                     2          1"
has "a run that ends sooner: counted" "$out" \
    "call_start                1          0"
d=$(same 'script:{"turns":[{"text":"so","error":{"code":"auth","message":"no"}}]}')
exits "another outcome" 1 "$WEND" diff "$c" "$d"
has "another outcome" "$out" "outcome                  ok     failed"

# A call that stands for two is none. One at a time: which of two ends
# first is chance.
two='{"name":"calculator","args":{"expression":"1"},"id":'
e=$(same "script:{\"turns\":[{\"calls\":[$two\"p\"},$two\"q\"}]},{\"text\":\"x\"}]}" \
    --parallel 1)
f=$(same "script:{\"turns\":[{\"calls\":[$two\"q\"},$two\"p\"}]},{\"text\":\"x\"}]}" \
    --parallel 1)
exits "names that changed places" 0 "$WEND" diff "$e" "$f"

# What is shown is harmless.
c=$(same "$(call x 6*7 '\u001b[31mred')")
exits "an escape sequence" 1 "$WEND" diff "$a" "$c"
lacks "an escape sequence" "$out" $'\e'

exits "one run" 2 "$WEND" diff "$a"
exits "three runs" 2 "$WEND" diff "$a" "$b" "$c"
exits "an unknown run" 2 "$WEND" diff "$a" ffffffff
sqlite3 "$WEND_STORE" "update events set body = replace(body, 'expression',
    'expresston') where seq = 7"
exits "a damaged run" 74 "$WEND" diff "$a" "$b"

# One that was killed, and one that was not.
two=$(model two '{"turns":[{"text":"a b","chunk":2,
"first_delay":"1ms","delay":"2ms"}]}')
"$WEND" run -q -m "$two" hi >/dev/null
whole=$(newest)
sed -i 's/2ms/90s/' "$work/two.script"
begin "$WEND" run -m "$two" hi
soon in_log "$id" '"type":"text_delta"'
killed
sed -i 's/90s/2ms/' "$work/two.script"
"$WEND" resume -q "$id" >/dev/null 2>&1
exits "a run that was resumed" 0 "$WEND" diff "$whole" "$id"
exits "a run that was resumed, --exact" 1 "$WEND" diff --exact "$whole" "$id"
finish
