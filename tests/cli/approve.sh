#!/usr/bin/env bash
# approve.sh - who may write: rules, modes, and nobody to ask.
. "$(dirname "$0")/lib.sh"

write() { # PATH
    echo "script:{\"turns\":[{\"calls\":[{\"name\":\"write_file\",\"args\":
{\"path\":\"$1\",\"content\":\"new\"}}]},{\"text\":\"went on\"}]}"
}
outcome() {
    json "$out" "CASE $(at type) WHEN 'call_end' THEN $(at data.outcome) END" |
        grep .
}

# name | path | options | outcome of the call
while IFS='|' read -r name path options wanted; do
    rm -rf out other
    eval "exits '$name' 0 \"\$WEND\" run --json -t write_file $options \
        -m '$(write "$path")' hi"
    is "$name: outcome" "$(outcome)" "$wanted"
    is "$name: the file" "$(cat "$path" 2>/dev/null)" \
        "$([ "$wanted" = ok ] && echo new)"
    tail -1 "$out" >last
    is "$name: the run goes on" "$(json last "$(at data.text)")" "went on"
done <<'ROWS'
nobody to ask|out/a||denied
denied|out/a|--approve deny|denied
all|out/a|--approve all|ok
a rule|out/a|--approve 'write_file(out/*)'|ok
a rule for another path|other/a|--approve 'write_file(out/*)'|denied
a rule for the tool|other/a|--approve write_file|ok
a rule for all tools|other/a|--approve '*'|ok
a rule that denies|out/a|--approve '!write_file(out/*)' --approve all|denied
the first rule counts|out/a|--approve '!write_file(out/*)' --approve write_file|denied
a rule that asks, and nobody is there|out/a|--approve '?write_file(out/*)' --approve write_file|denied
a rule that asks, and all is approved|out/a|--approve '?write_file' --approve all|ok
another path than the denied|other/a|--approve '!write_file(out/*)' --approve all|ok
a rule as a model would spell it|out/a|--approve 'write_file(./out/*)'|ok
an absolute rule|out/a|--approve "write_file($PWD/out/*)"|ok
where it becomes code, all|out/.git/config|--approve all|denied
where it becomes code, the tool|out/.git/config|--approve write_file|denied
where it becomes code, a wildcard|out/.git/config|--approve 'write_file(out/*)'|denied
where it becomes code, named|out/.git/config|--approve 'write_file(out/.git/*)'|ok
a hook|out/.husky/x|--approve all|denied
CI|out/.github/workflows/a.yml|--approve all|denied
editor tasks|out/.vscode/tasks.json|--approve all|denied
start file of a shell|out/.bashrc|--approve all|denied
a file of wend|out/wend.yaml|--approve all|denied
nothing special|out/.gitignore|--approve all|ok
ROWS
# Without a way to answer, ask is an error.
for store in memory: :memory: sqlite::memory:; do
    exits "ask with $store" 2 "$WEND" run --store $store -t write_file \
        --approve ask -m "$(write out/a)" hi
    has "ask with $store: what to do" "$err" "use a store in a file"
done
# Each denial names the rule that allows the call; given first, it does.
# name @ tool @ arguments @ options @ the rule
while IFS=@ read -r name tool args options rule; do
    rm -rf out
    script="script:{\"turns\":[{\"calls\":[{\"name\":\"$tool\",\"args\":$args}]},
{\"text\":\"\"}]}"
    tools="-t write_file -t edit_file -t shell -t exec -t http_request"
    eval "run \"\$WEND\" run --json $tools $options -m \"\$script\" hi"
    is "$name: denied" "$(outcome)" denied
    json "$out" "$(at data.error.message)" | grep . >said
    has "$name: names it" said "; --approve $rule"
    eval "run \"\$WEND\" run --json $tools --approve $rule $options \
        -m \"\$script\" hi"
    [ "$(outcome)" != denied ]
    ok "$name: it allows the call" || cat "$err"
done <<'ROWS'
a file@write_file@{"path":"out/a","content":"x"}@@'write_file(out/a)'
a quote@write_file@{"path":"out/it's","content":"x"}@@'write_file(out/it'\''s)'
a wildcard@write_file@{"path":"out/a*","content":"x"}@@'write_file(out/a*)'
code@write_file@{"path":".git/config","content":"x"}@--approve all@'write_file(.git/config)'
a rule denies@write_file@{"path":"out/a","content":"x"}@--approve '!write_file'@'write_file(out/a)'
a rule asks@write_file@{"path":"out/a","content":"x"}@--approve '?write_file'@'write_file(out/a)'
a command@shell@{"command":"echo hi"}@@'shell(echo hi)'
metacharacters@shell@{"command":"echo 'a;b' | cat; true && (echo $HOME)"}@@'shell(echo '\''a;b'\'' | cat; true && (echo $HOME))'
a wildcard and a pipe@shell@{"command":"echo * | cat"}@@'shell'
words@exec@{"argv":["echo","a b"]}@@'exec(echo '\''a b'\'')'
a request@http_request@{"url":"http://127.0.0.1:1/x"}@@'http_request(http://127.0.0.1:1/x)'
ROWS
rm -rf .git said out
exits "no rule allows what is outside" 0 "$WEND" run -v -t write_file \
    -m "$(write ../x)" hi
has "no rule allows what is outside: said" "$err" "no rule for this call can allow it"
# What only looks like a tool is not allowed either.
run "$WEND" run --json -m 'script:{"turns":[{"calls":[{"name":"wurst"}]},
{"text":""}]}' hi
is "an unknown tool: decision" "$(json "$out" "CASE $(at type)
    WHEN 'call_start' THEN $(at data.policy.decision) END" | grep .)" deny
# Secrets are read by a person's word, or by a rule that names them.
echo canary >.env
echo canary >.env.example
while IFS='|' read -r name path options wanted; do
    eval "run \"\$WEND\" run --json $options -m 'script:{\"turns\":[{\"calls\":[
{\"name\":\"read_file\",\"args\":{\"path\":\"$path\"}}]},{\"text\":\"\"}]}' hi"
    is "$name" "$(outcome)" "$wanted"
done <<'ROWS'
a secret|.env||denied
a secret, all|./.env|--approve all|denied
a secret, the tool|.env|--approve read_file|denied
a secret, named|.env|--approve 'read_file(.env*)'|ok
an example of it|.env.example||ok
ROWS
rm .env .env.example
# However a path is spelled, the rule for it holds.
mkdir -p private a/b
echo canary >private/key
ln -s private to-folder
ln -s private/key to-file
ln -s a/b to-b
echo canary >a/key
for path in private/key ./private/key private//key a/../private/key \
    private/key/ "$PWD/private/key" "$PWD/../${PWD##*/}/private/key" \
    to-folder/key to-file to-b/../key; do
    run "$WEND" run --json --approve '!read_file(private/*)' \
        --approve '!read_file(a/*)' -m "script:{\"turns\":[{\"calls\":[
{\"name\":\"read_file\",\"args\":{\"path\":\"$path\"}}]},{\"text\":\"\"}]}" hi
    lacks "denied as ${path/#$PWD/DIR}" "$out" canary
done
# What the agent itself is made of is asked about, too.
printf '#!/bin/sh\necho mine\n' >mine.sh
printf 'wend: tool/1\nname: mine\ndescription: d\ncommand: [sh, ./mine.sh]\n' >mine.yaml
printf 'wend: agent/1\nname: a\ntools: [write_file, mine.yaml]\n' >self.yaml
for path in self.yaml mine.yaml mine.sh ./mine.sh other.sh; do
    cp mine.sh other.sh
    run "$WEND" run --json -a self.yaml --approve all -m "$(write $path)" hi
    is "of an agent: $path" "$(outcome)" \
        "$([ $path = other.sh ] && echo ok || echo denied)"
done
for path in mine.yaml mine.sh runs.store other.sh; do
    run "$WEND" run --json -t write_file --tools mine.yaml --store runs.store \
        --approve all -m "$(write $path)" hi
    is "of the command line: $path" "$(outcome)" \
        "$([ $path = other.sh ] && echo ok || echo denied)"
done
run "$WEND" run --json -a self.yaml --approve 'write_file(mine.sh)' \
    -m "$(write mine.sh)" hi
is "of an agent: named" "$(outcome)" ok
# An agent inside it may not change it either.
printf '#!/bin/sh\necho mine\n' >mine.sh
printf 'wend: agent/1\nname: kid\ndescription: d\nmodel: "script:kid.json"\ntools: [write_file]\n' >kid.yaml
printf 'wend: agent/1\nname: a\ntools: [mine.yaml]\nagents: [kid.yaml]\n' >self.yaml
for path in self.yaml mine.sh kid.yaml other.sh; do
    write $path >kid.json
    sed -i 's/^script://' kid.json
    cp mine.sh other.sh
    run "$WEND" run --json -a self.yaml --approve all -m 'script:{"turns":[{"calls":[
{"name":"task","args":{"agent":"kid","prompt":"go"}}]},{"text":""}]}' hi
    is "of an agent inside: $path" "$(cat $path | head -c 3)" \
        "$(case $path in other.sh) echo new ;; *.sh) echo '#!/' ;; *) echo wen ;; esac)"
done
rm kid.*
rm mine.* self.yaml other.sh runs.store*
# Commands: an allow with a wildcard is for one plain command, a deny for every
# word. name | tool | arguments | options | outcome | is the file there?
while IFS='|' read -r name tool args options wanted there; do
    rm -f mark
    eval "run \"\$WEND\" run --json -t shell -t exec $options \
        -m 'script:{\"turns\":[{\"calls\":[{\"name\":\"$tool\",\"args\":$args}]},
{\"text\":\"\"}]}' hi"
    is "$name" "$(outcome)" "$wanted"
    is "$name: the effect" "$([ -e mark ] && echo yes)" "$there"
done <<'ROWS'
plain|shell|{"command":"touch mark"}|--approve "shell(touch *)"|ok|yes
two commands|shell|{"command":"touch a; touch mark"}|--approve "shell(touch *)"|denied|
two commands: control|shell|{"command":"touch a; touch mark"}|--approve shell|ok|yes
two commands, spelled out|shell|{"command":"touch a; touch mark"}|--approve "shell(touch a; touch mark)"|ok|yes
substituted|shell|{"command":"touch $(echo mark)"}|--approve "shell(touch *)"|denied|
denied in a word|shell|{"command":"ls && touch mark"}|--approve "!shell(touch *)" --approve all|denied|
denied in a word: control|shell|{"command":"ls && touch mark"}|--approve all|ok|yes
exec|exec|{"argv":["touch","mark"]}|--approve "exec(touch *)"|ok|yes
exec: no shell|exec|{"argv":["touch","mark; ls","a"]}|--approve "exec(touch *)"|ok|
exec: another program|exec|{"argv":["env","touch","mark"]}|--approve "exec(touch *)"|denied|
exec: fewer words|exec|{"argv":["touch","mark"]}|--approve "exec(touch)"|denied|
exec: denied for the shell|exec|{"argv":["/usr/bin/touch","mark"]}|--approve "!shell(touch *)" --approve all|denied|
exec: nothing|exec|{"argv":[]}|--approve all|failed|
exec: no such program|exec|{"argv":["no-such-program"]}|--approve all|failed|
exec: a name that is none|exec|{"argv":[""]}|--approve all|failed|
ROWS
# A rule that can never fit is no rule. rule | what is said
while IFS='|' read -r rule wanted; do
    exits "never: $rule" 2 "$WEND" run --approve "$rule" -m "$hello" hi
    has "never: $rule: with the option" "$err" "--approve: rule '"
    has "never: $rule: why" "$err" "$wanted"
done <<'ROWS'
write_file(../x)|relative to it
shell(a; b *)|a rule for each command
http_request(example.com/*)|https://host/*
ROWS
exits "never: an absolute path" 2 "$WEND" run --approve 'write_file(/etc/*)' \
    -m "$hello" hi
has "never: an absolute path: why" "$err" "relative to it"
printf 'wend: agent/1\nname: a\npolicy:\n  - {tool: "shell(a; b *)", do: allow}\n' >never.yaml
exits "never: in a file" 2 "$WEND" run -a never.yaml -m "$hello" hi
has "never: in a file: where" "$err" "never.yaml:4:"
mkdir -p "$HOME/.local/share/wend"
printf 'shell(a; b *)\nwrite_file(kept)\n' >"$HOME/.local/share/wend/approvals"
exits "never: an old answer" 0 "$WEND" run --json -t write_file \
    -m "$(write kept)" hi
has "never: an old answer: is told" "$err" "skipped: rule 'shell(a; b *)'"
is "never: an old answer: the others hold" "$(outcome)" ok
rm -r "$HOME/.local" kept
# What is kept from the file tools is hidden from programs where the sandbox
# can, and else told.
reads='script:{"turns":[{"calls":[{"name":"shell","args":{"command":"cat x xy"}}]},{"text":"done"}]}'
gaps() { # RULE...: the codes of warnings, and what a program read
    local rules=()
    for rule; do rules+=(--approve "$rule"); done
    run "$WEND" run --json -t shell -t read_file --approve shell \
        "${rules[@]}" -m "$reads" hi
    json "$out" "CASE $(at type) WHEN 'warning' THEN $(at data.code)
        WHEN 'call_end' THEN replace($(at data.output), char(10), ' ') END" |
        grep . | tr '\n' ' '
}
echo secret >x && echo more >xy
is "a rule that programs get round" "$(gaps '!read_file(x*)' | cut -c1-20)" \
    "rule_gap secret more"
unshare=(unshare -m)
[ "$(id -u)" = 0 ] || unshare=(unshare -Um)
if "${unshare[@]}" true; then
    gaps '!read_file(x)' >said
    lacks "a file that is hidden from them" said secret
    has "and no other" said more
    lacks "and nothing is told" said rule_gap
else
    has "a file that cannot be hidden here" <(gaps '!read_file(x)') rule_gap
fi
run "$WEND" run --json -t shell -t read_file --approve '!read_file(x)' \
    --sandbox off -m "$hello" hi
has "without the sandbox" "$out" rule_gap
run "$WEND" run --json -t shell -t read_file --approve '!read_file(x*)' \
    --approve '!shell' -m "$hello" hi
lacks "unless there are none" "$out" rule_gap
# A tool of a command is a program, too.
printf 'wend: tool/1\nname: count\ndescription: d\nclass: read\ncommand: [wc, "-c"]\n' >count.yaml
run "$WEND" run --json --tools count.yaml -t read_file --approve '!read_file(x*)' \
    -m "$hello" hi
has "a tool of a command" "$out" rule_gap
rm x xy said count.yaml
# Text of strangers, sensitive data and a way out, at the same time.
for label in untrusted_source sensitive external_effect; do
    printf 'wend: tool/1\nname: %s\ndescription: d\nclass: read\ncommand: [sleep, "0.5"]\nlabels: [%s]\n' \
        $label $label >$label.yaml
done
labelled='--approve all --tools untrusted_source.yaml --tools sensitive.yaml
    --tools external_effect.yaml'
run "$WEND" run --json $labelled -m 'script:{"turns":[{"calls":[
{"name":"untrusted_source"},{"name":"sensitive"},{"name":"external_effect"}]},
{"text":"done"}]}' hi
is "all three labels in one message" "$(outcome | sort | tr '\n' ' ')" \
    "denied ok ok "
cat >plan.json <<'END'
{"wend": "plan/1", "name": "p", "actions": [
{"id": "a", "type": "tool", "mode": "async", "target": "untrusted_source"},
{"id": "b", "type": "tool", "mode": "async", "target": "sensitive"},
{"id": "c", "type": "tool", "mode": "async", "target": "external_effect"}]}
END
run "$WEND" plan run --json $labelled plan.json
is "all three labels in one plan" "$(json "$out" "CASE $(at type)
    WHEN 'action_end' THEN $(at data.outcome) END" | grep . | sort |
    tr '\n' ' ')" "denied ok ok "
exits "denied, in words" 0 "$WEND" run -v -t write_file -m "$(write a)" hi
has "denied, in words" "$err" "  ! denied: "
exits "denied, without a terminal" 0 "$WEND" run -t write_file -m "$(write a)" hi
has "denied, without a terminal: said, with the rule" "$err" \
    "wend: write_file: denied by policy"
has "denied, without a terminal: what allows it" "$err" \
    "--approve 'write_file(a)' allows it"
exits "denied, -q" 0 "$WEND" run -q -t write_file -m "$(write a)" hi
is "denied, -q: nothing" "$(cat "$err")" ""
exits "reading is allowed" 0 "$WEND" run --approve deny -m "$sum" hi
has "reading is allowed" "$out" "It is 42."
exits "reading can be denied" 0 "$WEND" run --approve '!calculator' -v \
    -m "$sum" hi
has "reading can be denied" "$err" "denied"
exits "a rule that asks for no tool" 2 "$WEND" run --approve '?calculater' \
    -m "$sum" hi
has "a rule that asks for no tool" "$err" "did you mean 'calculator'?"
finish
