#!/usr/bin/env bash
# command_tools.sh - tools that are programs: what goes in, what comes out, how
# they end, what they may reach, and that nothing of them stays.
. "$(dirname "$0")/lib.sh"

# A tool `t` whose program is the given lines; further lines of its manifest.
tool() { # PROGRAM [MANIFEST]
    mkdir -p tools
    printf '#!/bin/sh\n%s\n' "$1" >tools/t.sh
    chmod +x tools/t.sh
    printf 'wend: tool/1\nname: t\ndescription: d\ncommand: [./t.sh, one, "two words"]\nclass: read\n%b\n' \
        "${2:-}" >tools/t.yaml
}
calls='script:{"turns":[{"calls":[{"name":"t","args":{"text":"x"}}]},
{"text":"went on"}]}'
use() { # OPTIONS...: one call of the tool
    run timeout 60 "$WEND" run --json --tools tools/t.yaml -m "$calls" "$@" hi
}
of_call() { # MEMBER of call_end
    grep '"type":"call_end"' "$out" | tail -1 >line && json line "$(at "data.$1")"
}
alive() { pgrep -f "$work/cwd/[t]ools/t.sh" || pgrep -f "sleep [7]7.$$"; }

# ---- In and out -----------------------------------------------------------------

tool 'cat; echo; echo "$#:$1:$2:$0"'
use
is "a call" "$status $(of_call outcome)" "0 ok"
is "arguments and standard input" "$(of_call output)" \
    $'{"text":"x"}\n2:one:two words:tools/t.sh'
has "where it is from" "$out" '"source":"command"'
tool 'echo "$WEND_RUN|$WEND_CALL|$WEND_IDEMPOTENCY_KEY"'
use
is "who calls" "$(of_call output)" "$(head -1 "$out" >x && json x \
    "$(at run)||'|call_1|'||$(at run)||'/0/call_1'")"
tool 'echo a >&2; echo b >&2; printf c >&2; echo done'
use
is "standard error is shown" "$(json "$out" "CASE $(at type)
    WHEN 'call_output' THEN $(at data.text) END" | tr -d '\n')" abc
is "and is not the answer" "$(of_call output)" done
tool 'printf "\377\000x"'
use
is "bytes that are no text" "$(of_call outcome)" ok
tool 'cat >/dev/null; echo "{\"n\": 1}"' 'output: json'
use
is "JSON" "$(of_call outcome) $(of_call output)" 'ok {"n": 1}'
tool 'echo "{\"n\": "' 'output: json'
use
is "no JSON" "$(of_call outcome)" failed
of_call output >said
has "no JSON: said" said "its output is no JSON: line 2, column 1"
tool 'echo never' 'schema: {type: object, properties: {text: {type: number}}}'
use
is "arguments that do not fit" "$(of_call outcome)" failed
lacks "arguments that do not fit: it did not run" "$out" never

tool 'echo x >>times; echo hi' 'cache: 1m'
run timeout 60 "$WEND" run --json --tools tools/t.yaml \
    -m 'script:{"turns":[{"calls":[{"name":"t","args":{}}],"repeat":3},
{"text":"done"}]}' hi
is "an answer that is kept" "$(wc -l <times)" 1
is "an answer that is kept: the log says so" "$(grep -c '"cached":true' "$out")" 2
tool 'echo hi' 'per_minute: 1'
run timeout 60 "$WEND" run --json --timeout 4s --tools tools/t.yaml \
    -m 'script:{"turns":[{"calls":[{"name":"t","args":{}}],"repeat":3},
{"text":"done"}]}' hi
is "calls a minute: the next one waits" \
    "$status $(grep -c '"outcome":"ok","output":"hi' "$out")" "3 1"
tool 'echo hi' 'schema: {type: object, properties: {a: {type: string}, b: {type: string}}}\nsubject: b\nclass: unsafe'
sed -i '/^class: read/d' tools/t.yaml
for args in '{"a":"no","b":"yes"}' '{"b":"no","a":"yes"}'; do
    run "$WEND" run --json --approve 't(yes)' --tools tools/t.yaml \
        -m "script:{\"turns\":[{\"calls\":[{\"name\":\"t\",\"args\":$args}]},
{\"text\":\"done\"}]}" hi
    of_call outcome
done >said
is "a rule looks at the subject" "$(tr '\n' ' ' <said)" "ok denied "

# ---- Where it works ----

tool 'echo hi'
use
lacks "a project's folder: nothing is said" "$err" "home directory"
HOME=$PWD use
has "a home folder: a warning" "$err" "the working directory is your home directory"
HOME=$PWD use --quiet
lacks "a home folder: quiet" "$err" "home directory"
HOME=$PWD use --sandbox off
lacks "a home folder: without the sandbox" "$err" "home directory"
HOME=$PWD run timeout 60 "$WEND" run --json -m "$hello" hi
lacks "a home folder: without programs" "$err" "home directory"

# ---- Ends ---------------------------------------------------------------------------

tool 'echo half; echo why >&2; exit 3'
use
is "a code" "$(of_call outcome)" failed
of_call output >said
has "a code: which" said "t.sh: exit code 3"
has "a code: the end of standard error" said why
has "a code: its output" said $'its output:\nhalf'
tool 'kill -9 $$'
use
of_call output >said
has "a signal" said "ended by signal 9"
is "the run goes on" "$(tail -1 "$out" >x && json x "$(at data.text)")" "went on"
tool 'yes xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'
use
is "endless output" "$(of_call outcome)" failed
of_call output >said
has "endless output: said" said "bytes to standard output and was killed"
tool 'for i in 1 2 3 4 5 6 7 8 9; do sleep 30 & done; wait' 'tasks: 8'
use
of_call output >said
has "too many tasks: said" said "(its limit: tasks)"
tool 'for i in 1 2 3; do perl -e '"'"'$x = "x" x 30000000; sleep 30'"'"' & done; wait' \
    'memory: 80MiB'
use
of_call output >said
has "too much memory: said" said "(its limit: memory)"
tool 'exit 0'
rm tools/t.sh
use
is "no program" "$(of_call outcome)" failed
of_call output >said
has "no program: said" said "there is no such program"
tool 'echo hi'
sed -i 's/\.\/t\.sh/no-such-program-at-all/' tools/t.yaml
use
of_call output >said
has "not in PATH" said "there is no such program in PATH"

# ---- Stopping ---------------------------------------------------------------------------

# Children that leave the session and do not mind SIGTERM.
hard='trap "" TERM; (trap "" TERM; setsid sleep 77.'$$') & echo here; sleep 77.'$$
tool "$hard" 'timeout: 2s'
use
is "a deadline" "$(of_call outcome)" timeout
of_call output >said
has "a deadline: what it had written" said here
! alive
ok "a deadline: nothing stays"
tool "$hard"
"$WEND" run --json --tools tools/t.yaml -m "$calls" hi >"$out" 2>&1 &
pid=$!
soon alive
kill -INT $pid
wait $pid
is "canceled: exit status" $? 130
is "canceled" "$(of_call outcome)" canceled
! alive
ok "canceled: nothing stays"
"$WEND" run --json --tools tools/t.yaml -m "$calls" hi >"$out" 2>&1 &
pid=$!
soon alive
killed
soon eval '! alive'
ok "killed: nothing stays"
run timeout 60 "$WEND" run --json --timeout 1 --tools tools/t.yaml -m "$calls" hi
is "the run's own limit" "$status" 3
! alive
ok "the run's own limit: nothing stays"

# ---- What it may reach ---------------------------------------------------------------------

export NOTES_TOKEN=a-canary OTHER_TOKEN=another-canary
tool 'env'
use
of_call output >said
lacks "no secrets" said canary
lacks "nor in any event" "$out" canary
tool 'test "$NOTES_TOKEN" = a-canary && echo given; echo "$NOTES_TOKEN"' \
    'secrets: [NOTES_TOKEN]'
use
of_call output >said
has "a secret by its name" said given
lacks "its value is in no event" "$out" canary

# One that was granted is blanked by its value wherever it shows up: in the
# prompt, in what another tool has read, in what the model says, in pieces.
export GRANTED=granted-canary-4711
tool 'echo x' 'secrets: [GRANTED]'
echo "kept: $GRANTED" >notes.txt
cat >"$work/leaks.json" <<JSON
{"turns":[{"text":"it is $GRANTED!","thinking":"so $GRANTED","chunk":3,
"calls":[{"name":"read_file","args":{"path":"notes.txt"}},
{"name":"grep","args":{"pattern":"$GRANTED"}}]},
{"text":"again $GRANTED"}]}
JSON
run "$WEND" run --json --log-file "$work/leaks.log" -t read_file -t grep \
    --tools tools/t.yaml -m "script:$work/leaks.json" "is $GRANTED right?"
is "a granted secret: exit status" $status 0
has "a granted secret: the prompt" "$out" '"prompt":"is ******************* right?"'
has "a granted secret: what another tool has read" "$out" 'kept: *******************'
for f in "$out" "$err" "$work/leaks.log" "$WEND_STORE"*; do
    lacks "a granted secret: not in ${f##*/}" "$f" "$GRANTED"
    lacks "a granted secret: nor its end, in ${f##*/}" "$f" "nary-4711"
done
is "a granted secret: pieces of it, at most half" \
    "$(sed -n 's/.*"type":"text_delta".*"text":"\([^"]*\)".*/\1/p' "$out" |
        tr -d '\n')" "it is granted-c**********!again granted-c**********"
rm -f notes.txt "$work/leaks.json"
unset GRANTED
run "$WEND" run --json -t read_file -m "$hello" "is granted-canary-4711 right?"
has "control: without the grant it stays" "$out" "is granted-canary-4711 right?"

tool 'echo never' 'secrets: [NOT_SET_AT_ALL]'
use
of_call output >said
has "a secret that is not set" said "secret NOT_SET_AT_ALL"
tool "echo x >\"$work/outside\"; echo x >inside; cat \"$HOME/.hidden\"; true"
echo hidden-text >"$HOME/.hidden"
use
[ -e inside ] && [ ! -e "$work/outside" ]
ok "the sandbox: writes only here"
lacks "the sandbox: does not read the home folder" "$out" hidden-text
use --sandbox off
[ -e "$work/outside" ]
ok "--sandbox off: it can"
has "--sandbox off: the log says so" "$out" '"sandbox":"off"'
rm -f "$work/outside"
sed -i '$a sandbox: off' tools/t.yaml
use --approve t
[ -e "$work/outside" ]
ok "sandbox: off in the file: it can"
mkdir -p "$work/elsewhere"
cp tools/* "$work/elsewhere"
tool 'echo from elsewhere'
cp tools/t.sh tools/t.yaml "$work/elsewhere"
run "$WEND" run --json --tools "$work/elsewhere/t.yaml" -m "$calls" hi
is "a program that is elsewhere" "$(of_call output)" "from elsewhere"

# ---- Policy ----------------------------------------------------------------------------------

tool 'echo ran >ran'
sed -i '/^class/d' tools/t.yaml
use
is "unsafe unless it says otherwise" "$(of_call outcome)" denied
[ ! -e ran ]
ok "denied: it did not run"
use --approve 't(x)'
is "a rule for it" "$(of_call outcome)" ok
rm -f ran
printf 'wend: agent/1\nname: here\nmodel: %s\ntools: [tools/t.yaml]\npolicy: [{tool: t, do: allow}]\n' \
    "'$(echo "$calls" | tr -d '\n')'" >wend.yaml
run "$WEND" run --json -m "$calls" hi
[ ! -e ran ]
ok "a manifest that was not accepted starts no process"
run "$WEND" run --json -a wend.yaml hi
is "one that was named does" "$(of_call outcome) $(cat ran)" "ok ran"
run "$WEND" run --json -a wend.yaml -t calculator hi
is "-t goes before its tools" "$(of_call outcome)" failed
run "$WEND" run --json -a wend.yaml -t t hi
is "-t can name one of them" "$(of_call outcome)" ok
exits "a name that is taken" 2 "$WEND" run --tools tools/t.yaml \
    --tools tools/t.yaml -m "$hello" hi
has "a name that is taken" "$err" "tool 't' is there already"

# ---- Many ----------------------------------------------------------------------------------------

tool 'cat'
many='script:{"turns":[{"calls":['
for ((i = 0; i < 40; i++)); do
    many+="$([ $i = 0 ] || echo ,){\"name\":\"t\",\"args\":{\"n\":$i}}"
done
run timeout 60 "$WEND" run --json --parallel 20 --tools tools/t.yaml \
    -m "$many]},{\"text\":\"done\"}]}" hi
is "forty calls" "$(json "$out" "CASE WHEN $(at type) = 'call_end' AND
    $(at data.outcome) = 'ok' THEN 1 END" | grep -c 1)" 40
finish
