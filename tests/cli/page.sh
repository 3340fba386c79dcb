#!/usr/bin/env bash
# page.sh - the page of wend serve: its files in node, and in a browser against
# a server with runs of every kind.
#
#   PAGE_SHOTS=DIR keeps pictures. PAGE_URL and PAGE_TOKEN name a server that has
#   the runs below; then none is started.
. "$(dirname "$0")/lib.sh"

page=$test_dir/../page
tap() { # COMMAND...: its lines are checks of this test
    local line
    while read -r line; do
        case $line in
        *'# SKIP'*) skip "${line#*- }" "$(basename "$2")" ;;
        'ok '*) true; ok "${line#*- }" ;;
        'not ok '*) false; ok "${line#*- }" ;;
        '#'*) echo "$line" ;;
        esac
    done < <("$@" 2>"$err" || [ -z "$(tail -1 "$err")" ] ||
        echo "not ok 0 - $(basename "$2"): $(tail -1 "$err")")
}

if ! command -v node >/dev/null; then
    skip "the page" "no node"
    finish
fi
tap node "$page/lint.mjs"
tap node "$page/md.mjs"

# ---- Runs of every kind -------------------------------------------------------------

mkdir agents logs
chmod 700 agents
agent() { # NAME DESCRIPTION MODEL TOOLS [MORE]
    printf '%s\n' "$3" >"$work/$1.script"
    printf 'wend: agent/1\nname: %s\ndescription: %s\nmodel: script:%s\ntools: [%s]\n%s' \
        "$1" "$2" "$work/$1.script" "$4" "${5:-}" >"agents/$1.yaml"
}
agent talker 'Answers at length.' 'model: demo-large
turns:
  - thinking: "A sum helps."
    text: "Let me compute that."
    calls: [{name: calculator, args: {expression: "6*7"}}]
    usage: {input: 1200, output: 60}
    delay: 20ms
    first_delay: 400ms
    when: "?"
    repeat: forever
  - text: "The result is **42**.\n\n1. six times seven\n2. is forty-two\n\n```sh\necho $((6*7))\n```\n\n| a | b |\n|---|---|\n| 6 | 7 |\n\nThat is all there is to say about it."
    usage: {input: 1500, output: 180, cached: 1100}
    delay: 25ms
    repeat: forever' 'calculator, read_file'
agent asker 'Asks before it writes.' 'model: demo-large
turns:
  - text: "I will write the file."
    calls: [{name: write_file, args: {path: report.md, content: "# Report\n\nLine with \u202eevil\u202c text and a zero\u200bwidth space.\n\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n\nrm -rf / # not run"}}]
    delay: 20ms
  - text: "Then a command."
    calls: [{name: shell, args: {command: "ls -la\necho done"}}]
  - text: "Finished: ${tool_result}"
    repeat: forever' 'write_file, shell, calculator'
agent fast 'Works fast.' 'turns:
  - text: "Step ${turn} of many, a sum and the next one."
    chunk: 8
    delay: 4ms
    calls: [{name: calculator, args: {expression: "1+${turn}"}}]
    usage: {input: 900, output: 20}
    repeat: 600
  - text: done' calculator 'loop: off
'
agent helper 'Helps.' 'turns:
  - {text: I help., delay: 10ms, calls: [{name: calculator, args: {expression: "2*3"}}]}
  - text: It is 6.' calculator
agent boss 'Gives work to others.' 'turns:
  - {text: Two., calls: [{name: task, args: {agent: helper, prompt: Help me.}}]}
  - text: All done.' '' 'agents: [helper.yaml]
'
sed -i '/^tools: \[\]$/d' agents/boss.yaml
agent long 'Many turns.' 'turns:
  - text: "Step ${turn}: a sum, then the next one."
    calls: [{name: calculator, args: {expression: "1+${turn}"}}]
    usage: {input: 1000, output: 20}
    repeat: 1100
  - text: done' calculator 'loop: off
'
made() { "$WEND" "$@" >/dev/null 2>&1; }
echo 'parse_int is in parse.c' >notes.md
made run -q -m "$(model fix 'model: demo
turns:
  - thinking: "First the tests.\nThen the parser."
    text: "I will look at the **parser** first."
    calls: [{name: list_dir, args: {path: .}}, {name: read_file, args: {path: missing.c}}]
    usage: {input: 4200, output: 310, reasoning: 120}
    delay: 8ms
  - text: "# What was wrong\n\nThe parser read one digit too few; see [the notes](https://example.org/notes).\n\n- [x] tests pass\n\n> Two lines.\n"
    usage: {input: 6400, output: 480, cached: 4200}
    delay: 4ms')" 'Fix the failing tests of the parser.'
made run -q -m "$hello" 'Say hello.'
made run -q -t calculator -t write_file -m "$(model bad 'turns:
  - {error: {code: rate_limit, message: slow down}, repeat: 2}
  - {text: Third time., calls: [{name: calculator, args: {expression: 1/0}}, {name: write_file, args: {path: x, content: y}}]}
  - {error: {code: auth, message: "the key <b>is</b> wrong"}}')" 'Write the report and mail it.'
made run -q -a agents/boss.yaml 'Delegate the sums.'
made run -q -m "$(model again 'turns:
  - {text: One., calls: [{name: calculator, args: {expression: "6*7"}}]}
  - {error: {code: auth, message: no}, repeat: 2}
  - text: Two.')" 'Try again.'
made retry -q
plan() { # NAME COUNT
    printf 'wend: plan/1\nname: %s\nactions:\n' "$1"
    for i in $(seq "$2"); do
        printf '  - {name: step-%s, type: tool, target: calculator, params: {expression: "%s*2"}, depends_on: [%s]}\n' \
            "$i" "$i" "$([ "$i" -lt 6 ] || echo "step-$((i - 5))")"
    done
}
plan thirty 30 >thirty.yaml
plan research 8 >research.yaml
made plan run -q thirty.yaml
made plan run -q research.yaml
bad='<img src=x onerror=alert(1)> <script>alert(2)</script> \u202eevil\u202c \u001b[31mred \u0007 ${7*7} [x](javascript:alert(4)) ![i](http://evil.example/a.png)'
made run -q -t calculator --session '<s>' --label 'k=<i>v</i>' -m "$(model hostile "{\"model\":\"<b>m</b>\",
\"turns\":[{\"thinking\":\"$bad\",\"text\":\"$bad\",\"calls\":[{\"name\":\"calculator\",\"id\":\"__proto__\",\"args\":
{\"expression\":\"$bad\",\"constructor\":\"x\"}},{\"name\":\"constructor\",\"id\":\"<b>id</b>\",\"args\":{\"x\":\"$bad\"}}]},
{\"text\":\"$bad\n\n# $bad\n\n|$bad|b|\n|-|-|\n|a|$(head -c 3000 /dev/zero | tr '\0' w)|\"}]}" |
    sed 's/ $//')" $'\xe2\x80\xaeevil\xe2\x80\xac <script>alert(1)</script>'
[ -n "${PAGE_GATES:-}" ] && made run -q -a agents/long.yaml --max-turns 1200 'Ten thousand events.'
for id in $("$WEND" runs --json --limit 0 | sed -n 's/^{"run":"\([^"]*\)".*/\1/p'); do
    "$WEND" log --json "$id" >"logs/$id.jsonl"
done
tap node "$page/fold.mjs" logs

# ---- In a browser ---------------------------------------------------------------------

if ! command -v chromium >/dev/null; then
    skip "the page in a browser" "no chromium"
    finish
fi
if [ -z "${PAGE_URL:-}" ]; then
    if ! "$WEND" serve --help >/dev/null 2>&1; then
        skip "the page in a browser" "this wend has no serve"
        finish
    fi
    token=$(head -c 24 /dev/urandom | od -An -tx1 | tr -d ' \n')
    (umask 077; echo "$token" >"$work/token")
    port=$((20000 + RANDOM % 20000))
    "$WEND" serve --listen 127.0.0.1:$port --agents agents --approve ask \
        --token-file "$work/token" >"$out" 2>"$work/serve.err" </dev/null &
    server=$!
    export PAGE_URL=http://127.0.0.1:$port PAGE_TOKEN=$token
    soon curl -sf "$PAGE_URL/healthz"
fi
# One that waits for a person.
curl -s -H "Authorization: Bearer $PAGE_TOKEN" -H 'Content-Type: application/json' \
    -d '{"prompt":"Write the report, then list the folder.","agent":"asker"}' \
    "$PAGE_URL/v1/runs" >/dev/null
# axe-core, pinned by the lock file; not in the tree.
if [ -z "${PAGE_AXE:-}" ] && command -v npm >/dev/null; then
    mkdir "$work/npm" && cp "$page"/package*.json "$work/npm"
    (cd "$work/npm" && npm ci --ignore-scripts --no-audit --no-fund) >/dev/null 2>&1
    export PAGE_AXE=$work/npm/node_modules/axe-core/axe.min.js
fi
tap node "$page/browser.mjs"
[ -z "${PAGE_GATES:-}" ] || tap node "$page/gates.mjs"
[ -z "${server:-}" ] || { kill "$server"; wait "$server"; } 2>/dev/null
finish
