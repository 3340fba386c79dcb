#!/usr/bin/env bash
# pages.sh - the pages of view and plan show, in a browser: nothing is wider
# than the window, everything can be read, nothing is fetched.
. "$(dirname "$0")/lib.sh"

pages=$work/pages
mkdir "$pages"
page() { # NAME: of the last run
    "$WEND" view --format html -o "$pages/$1.html" last
    ok "$1: a page"
}
shows() { # PAGE TEXT...
    local page=$1 text
    shift
    for text; do has "$page: $text" "$pages/$page.html" "$text"; done
}

# ---- Kinds of runs ----------------------------------------------------------------

"$WEND" run -q -m "$hello" 'Say hello.' >/dev/null
page plain
shows plain 'Prompt</h2>' 'Say hello.' 'Answer</h2>' 'Hello there.' \
    'cost unknown' '#m-ok'

"$WEND" run -q -m "$(model thinks 'turns:
  - thinking: "First the sum.\nThen the rest, which is a longer thought that
      needs more than one line of the page."
    text: Let me see.
    calls: [{name: calculator, args: {expression: "6*7"}},
            {name: read_file, args: {path: nothing}},
            {name: list_dir, args: {path: .}}]
    usage: {input: 12400, output: 300}
  - thinking: It is 42.
    text: "The answer is ${tool_result}."
    usage: {input: 13000, output: 20}')" 'What is 6*7?' >/dev/null
page thinking
shows thinking 'Thinking</h2>' 'First the sum.' 'It is 42.' '<bdi>failed<' \
    'class="kc failed"' '25.4k + 320 tokens'

printf 'wend: agent/1\nname: agent\nloop: off\n' >off.yaml
"$WEND" run -q -m "$(model tools 'turns:
  - calls: [{name: calculator, args: {expression: "1+1"}},
            {name: glob, args: {pattern: "*"}},
            {name: write_file, args: {path: f, content: x}}]
    repeat: 12
  - text: done')" -a ./off.yaml -t calculator -t glob -t write_file 'Use many tools.' \
    >/dev/null 2>&1
page tools
shows tools 'denied' 'turn 11'

"$WEND" run -q -m "$(model fails 'turns:
  - error: {code: rate_limit, message: slow down}
  - error: {code: auth, message: "the key <b>is</b> wrong"}')" 'Fail.' \
    >/dev/null 2>&1
page failed
shows failed 'Error</h2>' 'the key &lt;b&gt;is&lt;/b&gt; wrong' \
    '<p class="state failed">' 'attempt 1 failed' 'attempt 2 failed'

# The critical path: what the end waited for, and nothing beside it.
mkdir -p tools
for row in quick:0 slow:0.5 last:0; do
    printf 'wend: tool/1\nname: %s\ndescription: d\nclass: read\ncommand: [sleep, "%s"]\n' \
        "${row%%:*}" "${row#*:}" >"tools/${row%%:*}.yaml"
done
cat >path.yaml <<'YAML'
wend: plan/1
name: path
actions:
  - {name: aside, type: tool, target: quick, mode: async}
  - {name: long, type: tool, target: slow, mode: async}
  - {name: end, type: tool, target: last, depends_on: [aside, long]}
  - {name: other, type: tool, target: quick, depends_on: [aside]}
YAML
"$WEND" plan run -q --approve all path.yaml >/dev/null 2>&1
page path
shows path 'critical path, underlined: ' 'on the critical path'
underlined() { # of rows: those whose bar is underlined
    sed 's/<details class="row">/\n&/g' "$pages/$1.html" | grep 'class="crit"' |
        sed 's/.*class="n"><bdi>\([^<]*\)<.*/\1/' | tr '\n' ' '
}
is "path: the slow one, and what waited for it" "$(underlined path)" "long end "
"$WEND" plan show -o "$pages/plan_path.html" path.yaml
shows plan_path 'No durations are declared.' 'which is bold.'
is "plan_path: the path that was learned" \
    "$(grep -o '<title>[a-z]*, [a-z]*, on the critical path' "$pages/plan_path.html" |
        sed 's/<title>//; s/,.*//' | sort | tr '\n' ' ')" "end long "
lacks "plain: nothing runs beside anything" "$pages/plain.html" 'class="crit"'
is "thinking: the calls of an answer are beside each other" \
    "$(underlined thinking | wc -w)" 3

long=$(head -c 3000 /dev/zero | tr '\0' w)
url=https://example.org/$(head -c 600 /dev/zero | tr '\0' u)?q=1
"$WEND" run -q -m "$(model words "turns:
  - text: $long
    calls: [{name: read_file, args: {path: $url}}]
  - text: \"$url $long\"")" "$long $url" >/dev/null
page words

"$WEND" run -q -m "$(model many "turns: [{text: \"שלום עולם, זו תשובה. 你好，世界。
  👩‍👩‍👧‍👦🏳️‍🌈 done\"}]")" $'مرحبا بالعالم 日本語 👩‍👩‍👧‍👦 \xe2\x80\xaeevil\xe2\x80\xac <script>alert(1)</script>\e[31m' \
    >/dev/null
page scripts
lacks "scripts: no program" "$pages/scripts.html" '<script'
lacks "scripts: nothing reorders" "$pages/scripts.html" $'\xe2\x80\xae'
shows scripts 'dir="auto"' '日本語'

# ---- A plan -----------------------------------------------------------------------

{
    cat <<'YAML'
wend: plan/1
name: A plan of thirty actions
inputs: {a: 1, long: wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww}
actions:
  - {name: first, type: tool, target: calculator, estimate: 2s,
     params: {expression: "1+$a"}, output_key: x}
  - {name: flaky, type: tool, target: calculator, skip_on_error: true,
     params: {expression: "1/0"}, retry: {max: 2, delay: 80ms}}
  - {name: never, type: tool, target: calculator, when: "$x > 5",
     params: {expression: "2"}, depends_on: [first]}
  - {name: says, type: llm, prompt: "Say $x", depends_on: [first],
     estimate: 4s}
YAML
    for i in $(seq 5 30); do
        echo "  - {name: step-$i, type: tool, target: calculator, estimate: ${i}00ms,"
        echo "     params: {expression: \"$i*2\"}, depends_on: [$(
            [ "$i" -lt 12 ] && echo first || echo "step-$((i - 7))")]}"
    done
} >thirty.yaml
"$WEND" plan run -q -m "$(model plan 'turns: [{text: two, thinking: hm,
    delay: 30ms, chunk: 1}]')" thirty.yaml >/dev/null
page plan
shows plan 'A plan of thirty actions' 'skipped: condition' 'when $x &gt; 5' \
    'retry up to 2 times' 'attempt 3 failed' 'class="ka failed"' 'wave 4'
is "plan: a row for each action" \
    "$(grep -c '<bdi>step-[0-9]' "$pages/plan.html")" 26
exits "plan show" 0 "$WEND" plan show --format html thirty.yaml
cp "$out" "$pages/shown.html"
shows shown 'when <code>$x &gt; 5</code>' 'retry 2 times after 80 ms'

# Long names, many columns and waves: words stay whole, waves in the frame.
{
    echo 'wend: plan/1'
    echo 'name: waves'
    echo 'inputs: {send: 1}'
    echo 'actions:'
    for i in 1 2 3 4 5; do
        echo "  - {name: collect-all-the-sources-of-truth-$i, type: tool,"
        echo "     target: calculator, params: {expression: \"$i\"}, estimate: ${i}s,"
        echo "     when: \"\$send == 1\", retry: {max: 3, delay: 1ms},"
        echo "     depends_on: [$([ $i = 1 ] || echo "collect-all-the-sources-of-truth-$((i - 1))")]}"
    done
} >waves.yaml
"$WEND" plan run -q waves.yaml >/dev/null # learned: two columns more
"$WEND" plan show -o "$pages/waves.html" waves.yaml
shows waves 'class="fit"' 'of 1' 'wave 5'

# A plan that stops: what it never came to is there, too.
cat >stops.yaml <<'EOF'
wend: plan/1
name: stops
actions:
  - {name: bad, type: tool, target: calculator, params: {expression: 1/0}}
  - {name: late, type: tool, target: calculator, params: {expression: "1"},
     depends_on: [bad]}
EOF
"$WEND" plan run -q stops.yaml >/dev/null 2>&1
page stops
grep -q 'late</bdi>' "$pages/stops.html"
ok "stops: the action that never ran"

# ---- Families ---------------------------------------------------------------------

mkdir agents
cat >agents/helper.yaml <<'EOF'
wend: agent/1
name: helper
description: Helps.
model: 'script:{"turns":[{"text":"I helped.","calls":[{"name":"calculator","args":{"expression":"2*3"}}]},{"text":"It is 6."}]}'
tools: [calculator]
EOF
cat >boss.yaml <<'EOF'
wend: agent/1
name: boss
model: 'script:{"turns":[{"calls":[{"name":"task","args":{"agent":"helper","prompt":"Help me."}}]},{"text":"All done."}]}'
agents: [agents/helper.yaml]
EOF
"$WEND" run -q -a boss.yaml 'Delegate.' >/dev/null
boss=$(newest)
page child
shows child 'Help me.' 'It is 6.' '<article id="r-'
is "child: nested in its call" "$(grep -c '<article' "$pages/child.html")" 1
run "$WEND" fork --no-run --at 3 "$boss"
page fork
shows fork 'fork of ' "$boss"
"$WEND" view --format html -o "$pages/boss.html" "$boss"
has "boss: its fork is named" "$pages/boss.html" 'forked as '

# A chain of retries: each is a fork, and a cut of the axis.
"$WEND" run -q -m "$(model chain 'turns:
  - {text: One., calls: [{name: calculator, args: {expression: "6*7"}}]}
  - {error: {code: auth, message: no}, repeat: 2}
  - text: Two.')" 'Try again.' >/dev/null 2>&1
"$WEND" retry -q >/dev/null 2>&1
page once
shows once 'class="cut"' ', forked</text>' 'until a fork continued the run'
lacks "once: nothing was resumed" "$pages/once.html" resumed
"$WEND" retry -q >/dev/null 2>&1
page chain
shows chain '<b>1</b> The axis is cut at' '<b>2</b> The axis is cut at'
is "chain: a number above each cut" \
    "$(grep -o 'class="g c">[0-9]*' "$pages/chain.html" | tr '\n' ' ')" \
    'class="g c">1 class="g c">2 '
exits "chain: in words" 0 "$WEND" view last
is "chain: in words: forks" "$(grep -c '^continued by a fork at ' "$out")" 2
lacks "chain: in words: nothing was interrupted" "$out" interrupted
exits "chain: as JSON" 0 "$WEND" view --format json last
is "chain: as JSON" "$(json "$out" "$(at 'gaps[0].by')||$(at 'gaps[1].by')")" forkfork
exits "chain: as a picture" 0 "$WEND" view --format svg last
has "chain: as a picture" "$out" "<title>continued by a fork "

# A run that was killed: the time until it is resumed is a cut of the axis.
begin "$WEND" run -m "$held" 'Be slow.'
soon in_log "$id" '"type":"model_start"'
killed
page broken
shows broken '<p class="state interrupted">' 'no end'
hurry
"$WEND" resume "$id" >/dev/null 2>&1
"$WEND" view --format html -o "$pages/resumed.html" "$id"
shows resumed 'class="cut"' ', resumed' 'in which no process owned the run'
hold

# A call that waits for approval, and what it was afterwards.
if has_terminal; then
    asks=$(model asks 'turns:
  - calls: [{name: write_file, args: {path: new, content: x}}]
  - text: written')
    before=$(newest)
    term_begin "$WEND run -t write_file -m $asks Write."
    soon is_new "$before"
    soon in_log "$(newest)" '"type":"approval_ask"'
    page waiting
    shows waiting '<p class="state waiting">' 'class="w waiting"' \
        'waits for you' 'class="wait"'
    "$WEND" approve "$(newest)" call_1 yes
    term_end
    page approved
    shows approved 'waits for you ' 'class="wait"' 'class="kc"'
else
    skip "a call that waits for approval" "no script(1) from util-linux"
fi

# ---- All runs ---------------------------------------------------------------------

exits "all" 0 "$WEND" view --all -o "$pages/all.html"
runs=$("$WEND" runs --json --limit 0 | wc -l)
is "all: a row for each run" \
    "$(grep -c '<details><summary><span class="s ' "$pages/all.html")" "$runs"
has "all: a link to a parent" "$pages/all.html" \
    "child of <a class=\"id\" href=\"#r-$boss\">"
has "all: a link to what was forked" "$pages/all.html" \
    "fork of <a class=\"id\" href=\"#r-$boss\">"
exits "all: not with a run" 2 "$WEND" view --all last
exits "all: not as a picture" 2 "$WEND" view --all --format svg
mkdir empty
WEND_STORE=$work/cwd/empty/wend.db run "$WEND" view --all
is "all: no runs" $status 0
has "all: no runs: what to do" "$out" 'There are no runs yet'
cp "$out" "$pages/none.html"

for file in "$pages"/*.html; do
    [ "$(stat -c %s "$file")" -lt 5000000 ]
    ok "$(basename "$file"): at most 5 MB"
done

# ---- In a browser -----------------------------------------------------------------

if command -v chromium >/dev/null && command -v python3 >/dev/null; then
    while read -r line; do
        [ "${line#ok }" != "$line" ]
        ok "${line#*ok }"
    done < <(python3 "$test_dir/../terminal/browser.py" \
        ${PAGES_SHOTS:+--shots "$PAGES_SHOTS"} "$pages"/*.html 2>"$err" ||
        echo "not ok the browser: $(tail -1 "$err")")
else
    skip "pages in a browser" "no chromium or no python3"
fi
finish
