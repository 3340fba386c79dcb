#!/usr/bin/env bash
# trust.sh - ./wend.yaml: ignored until it was accepted, by content.
. "$(dirname "$0")/lib.sh"
list=$HOME/.local/share/wend/trusted
agent() { head -1 "$out" >"$work/x" && json "$work/x" "$(at data.agent)"; }

mkdir -p tools skill
cat >wend.yaml <<YAML
wend: agent/1
name: here
model: script:tools/model
instructions: be kind
tools: [calculator, tools/t.yaml]
skills: [skill]
agents: [tools/other.md]
mcp: {words: {command: [./tools/serve, x], network: on, trust: on}}
YAML
printf 'wend: tool/1\nname: count\ndescription: d\ncommand: [./count.sh, a, ../data]\nsecrets: [TOKEN]\n' \
    >tools/t.yaml
echo "${hello#script:}" >tools/model
echo 'exit 0' >tools/count.sh
echo 'data' >data
echo 'exit 1' >tools/serve
echo 'a skill' >skill/SKILL.md
printf -- '---\nwend: agent/1\n---\nOther.\n' >tools/other.md

# ---- Nobody to ask -------------------------------------------------------------

exits "not accepted" 0 "$WEND" run --json -m "$hello" hi
is "not accepted: the built-in agent" "$(agent)" agent
has "not accepted: said" "$err" \
    "wend.yaml is ignored: it was not accepted yet"
has "not accepted: what to do" "$err" "wend trust wend.yaml"
exits "not accepted, quiet" 0 "$WEND" run -q --json -m "$hello" hi
is "not accepted, quiet: nothing is said" "$(cat "$err")" ""
is "not accepted, quiet: the built-in agent" "$(agent)" agent
exits "not accepted, no model" 2 "$WEND" run hi
has "not accepted, no model: its own is not taken" "$err" "no model is set"
exits "named" 0 "$WEND" run --json -a wend.yaml hi
is "named: that is trust" "$(agent)" here
[ ! -e "$list" ]
ok "nothing was kept"

# ---- Accepted --------------------------------------------------------------------

exits "trust" 0 "$WEND" trust wend.yaml
has "trust: the model" "$out" "script:tools/model"
has "trust: the program" "$out" "count: tools/count.sh a tools/../data; gets TOKEN"
has "trust: the server" "$out" \
    "words: ./tools/serve x; what it says of its tools is believed; with the network"
has "trust: instructions" "$out" "be kind"
is "trust: only for the user" "$(stat -c %a "$list")" 600
is "trust: a line" "$(sed '/^\t/d; s/^[0-9a-f]\{64\} //' "$list")" \
    "$PWD/wend.yaml"
exits "accepted" 0 "$WEND" run --json hi
is "accepted: it is used" "$(agent)" here
exits "agents" 0 "$WEND" agents --json
is "agents: trusted" "$(sed -n 2p "$out" >"$work/x" && json "$work/x" "$(at trusted)")" 1
exits "trust --list" 0 "$WEND" trust --list
is "trust --list" "$(cat "$out")" "ok       $PWD/wend.yaml"
exits "again" 0 "$WEND" trust ./wend.yaml
is "again: one line" "$(grep -c "^[^	]" "$list")" 1

# A changed byte in any file that it names takes it back.
for file in wend.yaml tools/t.yaml tools/model tools/count.sh tools/serve data \
    skill/SKILL.md tools/other.md; do
    cp "$file" kept
    case $file in
    *.yaml) echo '#' >>"$file" ;;
    *) echo ' ' >>"$file" ;;
    esac
    exits "changed: $file" 0 "$WEND" run --json -m "$hello" hi
    is "changed: $file: ignored" "$(agent)" agent
    exits "changed: $file: trust --list" 0 "$WEND" trust --list
    is "changed: $file: trust --list" "$(cat "$out")" \
        "changed  $PWD/wend.yaml"
    cp kept "$file"
    run "$WEND" run --json -m "$hello" hi
    is "as before: $file" "$(agent)" here
done
mv tools/count.sh kept
run "$WEND" run --json -m "$hello" hi
is "a program that is gone" "$(agent)" agent
mv kept tools/count.sh
cp -r "$PWD" "$work/copy"
cd "$work/copy" || exit 2
run "$WEND" run --json -m "$hello" hi
is "a copy elsewhere is another project" "$(agent)" agent
cd "$work/cwd" || exit 2
ln -s "$PWD" "$work/link"
cd "$work/link" || exit 2
run "$WEND" run --json hi
is "another way to the same folder is the same" "$(agent)" here
cd "$work/cwd" || exit 2

# ---- No more ------------------------------------------------------------------------

exits "remove" 0 "$WEND" trust --remove wend.yaml
run "$WEND" run --json -m "$hello" hi
is "remove: ignored" "$(agent)" agent
is "remove: the line is gone" "$(cat "$list")" ""
exits "remove again" 2 "$WEND" trust --remove wend.yaml
has "remove again" "$err" "was not accepted"
mkdir gone && cp "$work/copy/tools/other.md" gone/wend.yaml
exits "one that will be gone" 0 "$WEND" trust gone/wend.yaml
rm -r gone
exits "gone: trust --list" 0 "$WEND" trust --list
is "gone: trust --list" "$(cat "$out")" "gone     $PWD/gone/wend.yaml"
exits "gone: by its whole path" 0 "$WEND" trust --remove "$PWD/gone/wend.yaml"

# ---- Mistakes ------------------------------------------------------------------------

exits "no file named" 2 "$WEND" trust
exits "two files named" 2 "$WEND" trust a b
exits "--list and a file" 2 "$WEND" trust --list wend.yaml
exits "no such file" 2 "$WEND" trust none.yaml
has "no such file" "$err" "none.yaml: No such file"
exits "a tool is no agent" 2 "$WEND" trust tools/t.yaml
exits "a pipe cannot be accepted" 2 "$WEND" trust <(echo 'wend: agent/1')
printf 'wend: agent/1\ntools: [no_such]\n' >bad.yaml
exits "an unknown tool" 2 "$WEND" trust bad.yaml
has "an unknown tool: where" "$err" "bad.yaml:2:9: there is no tool 'no_such'"
is "mistakes: nothing was kept" "$(cat "$list")" ""

run "$WEND" trust wend.yaml
chmod 666 "$list"
run "$WEND" run --json -m "$hello" hi
is "others may write there: not believed" "$(agent)" agent
has "others may write there: said" "$err" "other users can write to $list"
exits "others may write there: nor changed" 2 "$WEND" trust wend.yaml
chmod 600 "$list"

# ---- What commands name --------------------------------------------------------------

# Each way in which a command names a file of the project.
rm -f "$list"
mkdir -p words/sub words/bin && cd words || exit 2
here=$(pwd -P)
command_is() { # WORDS...: in the list of YAML
    printf 'wend: agent/1\nname: here\nmodel: script:m\ntools: [sub/t.yaml]\n' \
        >wend.yaml
    printf 'wend: tool/1\nname: t\ndescription: d\ncommand: [%s]\n' "$1" \
        >sub/t.yaml
}
echo "${hello#script:}" >m
printf '#!/bin/sh\n' >bin/ours
chmod +x bin/ours
covers() { # NAME WORDS FILE
    command_is "$2"
    rm -f "$3"
    run "$WEND" trust wend.yaml
    run "$WEND" run --json -m "$hello" hi
    is "$1: without the file it is accepted" "$(agent)" here
    echo evil >"$3"
    run "$WEND" run --json -m "$hello" hi
    is "$1: one that appears takes it back" "$(agent)" agent
    exits "$1: trust" 0 "$WEND" trust wend.yaml
    run "$WEND" run --json -m "$hello" hi
    is "$1: accepted" "$(agent)" here
    echo more >>"$3"
    run "$WEND" run --json -m "$hello" hi
    is "$1: a changed byte takes it back" "$(agent)" agent
    has "$1: it is named" "$err" "changed since it was accepted: ${4:-$3};"
    rm -f "$3"
}
covers "a bare word" "python3, run.py" run.py
covers "a relative word" "python3, sub/run.py" sub/run.py
covers "an absolute word" "python3, $here/run.py" run.py "$here/run.py"
covers "the value of an option" "python3, --file=run.py" run.py
covers "a word of a script" "sh, -c, 'cd . && python3 run.py;true'" run.py
covers "behind an option with a value" "node, -r, run.js" run.js

# The program itself, where PATH leads into the project.
command_is "ours, x"
PATH=$here/bin:$PATH run "$WEND" trust wend.yaml
echo true >>bin/ours
PATH=$here/bin:$PATH run "$WEND" run --json -m "$hello" hi
is "a program of PATH in the project" "$(agent)" agent
has "a program of PATH in the project: named" "$err" "bin/ours"

# Two words cannot change places.
command_is "cat, a, b"
echo same >a
run "$WEND" trust wend.yaml
mv a b
run "$WEND" run --json -m "$hello" hi
is "a file that moves to another word" "$(agent)" agent
has "a file that moves: both are named" "$err" "a (gone), b (new)"
rm -f a b

# What is not covered is said.
truncate -s 8M most
truncate -s 8388609 more
command_is "python3, -m, pkg, sub, ., -mother, ./bin, most, more, /usr, nothing"
exits "gaps: trust" 0 "$WEND" trust wend.yaml
has "gaps: a module" "$out" "not covered   -m pkg (a module)"
has "gaps: a module without a space" "$out" "not covered   -mother (a module)"
has "gaps: a folder" "$out" "not covered   sub (a directory)"
has "gaps: the project" "$out" "not covered   . (a directory)"
has "gaps: over 8 MiB" "$out" "not covered   more (over 8 MiB)"
has "gaps: 8 MiB are covered" "$out" ", most"
lacks "gaps: not of the system" "$out" "/usr (a directory)"
run "$WEND" run --json -m "$hello" hi
is "gaps: accepted" "$(agent)" here
truncate -s 8388610 more
run "$WEND" run --json -m "$hello" hi
is "gaps: another size is noticed" "$(agent)" agent
rm -f most more

# A script is shown whole, its lines as lines; agents within are shown, too.
long=$(printf 'echo %0400d' 7)
printf 'wend: tool/1\nname: t\ndescription: d\ncommand:\n  - sh\n  - -c\n  - |\n    # nothing\n    %s; rm -rf last\n' \
    "$long" >sub/t.yaml
printf -- '---\nwend: agent/1\nname: inner\ntools: [t.yaml]\n---\nInner.\n' \
    >sub/inner.md
printf 'wend: agent/1\nname: here\nmodel: script:m\nagents: [sub/inner.md]\n' \
    >wend.yaml
exits "script: trust" 0 "$WEND" trust wend.yaml
has "script: a program of an agent within" "$out" "program       t: sh -c"
has "script: its first line" "$out" "| # nothing"
has "script: to its end" "$out" "| $long; rm -rf last"
cd .. || exit 2
rm -rf words "$list"
run "$WEND" trust wend.yaml

# ---- Hostile folders -----------------------------------------------------------------------

mkdir evil
cd evil || exit 2
mkfifo wend.yaml
exits "a pipe" 0 timeout 60 "$WEND" run --json -m "$hello" hi
is "a pipe: ignored" "$(agent)" agent
has "a pipe: said" "$err" "not a regular file"
rm wend.yaml
printf 'wend: agent/1\ntools: [p.yaml]\n' >wend.yaml
mkfifo p.yaml
exits "names a pipe" 0 timeout 60 "$WEND" run --json -m "$hello" hi
is "names a pipe: ignored" "$(agent)" agent
ln -s wend.yaml loop.yaml
printf 'wend: agent/1\nagents: [loop.yaml, loop.yaml, loop.yaml]\n' >wend.yaml
exits "names itself" 0 timeout 60 "$WEND" run --json -m "$hello" hi
is "names itself: ignored" "$(agent)" agent
printf 'wend: agent/1\nname: "\\e[31mred\\e]0;t\\a"\nmodle: x\n' >wend.yaml
run "$WEND" agents
! grep -q $'\e' "$out"
ok "no escape gets through"
printf 'wend: agent/1\ndescription: "a\\u202eb\\u009bc"\n' >wend.yaml
run "$WEND" agents --json
has "nor does JSON change directions" "$out" 'a\u202eb\u009bc'
head -c 2000000 /dev/zero >wend.yaml
exits "large" 0 timeout 60 "$WEND" run --json -m "$hello" hi
is "large: ignored" "$(agent)" agent
rm -f wend.yaml
mkdir wend.yaml
exits "a folder" 0 timeout 60 "$WEND" run --json -m "$hello" hi
is "a folder: ignored" "$(agent)" agent
cd .. || exit 2

# ---- On a terminal ---------------------------------------------------------------------------

if ! has_terminal; then
    skip "on a terminal" "no script(1) from util-linux"
    finish
fi
export TERM=xterm
question="use it, now and as long as it stays as it is?"
"$WEND" trust --remove wend.yaml
at_terminal "$WEND run -v -m '$hello' hi" "$question" n
has "asked" "$out" "$question"
has "asked: what it would do" "$out" "count: tools/count.sh a tools/../data; gets TOKEN"
has "no: ignored" "$out" "wend.yaml is ignored"
is "no: nothing is kept" "$(cat "$list")" ""
at_terminal "$WEND run --json hi" "$question" y
has "yes: it is used" "$out" '"agent":"here"'
is "yes: it is kept" "$(sed '/^\t/d; s/^[0-9a-f]\{64\} //' "$list")" \
    "$PWD/wend.yaml"
at_terminal "$WEND run --json hi"
lacks "yes: asked once" "$out" "use it, now"
has "yes: used again" "$out" '"agent":"here"'
echo ' ' >>tools/count.sh
at_terminal "$WEND run --json hi" "$question" n
has "changed: the file is named in the question" "$out" \
    "changed since it was accepted: tools/count.sh"
finish
