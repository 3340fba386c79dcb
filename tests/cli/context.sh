#!/usr/bin/env bash
# context.sh - wend context shows what the model was asked, at any event.
. "$(dirname "$0")/lib.sh"
. "$test_dir/context.inc"

needs_server
unset http_proxy all_proxy HTTP_PROXY ALL_PROXY
serve_http --log "$work/requests"
export OPENAI_API_KEY=sk-canary-0123456789
call='call:calculator:%7B%22expression%22:%226*7%22%7D'
echo "Use tabs." >AGENTS.md
exits "a run with a call" 0 "$WEND" run -q -m openai:x -t calculator \
    --base-url "http://127.0.0.1:$port/=$call/v1" --instructions "Be brief." hi

exits "context --json" 0 "$WEND" context --json last
value() { json "$out" "$(at "$1")"; }
# Each request is a line of its own; the newest one is the second.
bodies | tail -1 >"$work/request"
sent() { sqlite3 :memory: "SELECT json_extract(readfile('$work/request'), '\$.$1')"; }
is "what was sent first" "$(value system)" "$(sent 'messages[0].content')"
is "the prompt" "$(value 'messages[0].text')" "$(sent 'messages[1].content')"
is "a call" "$(value 'messages[1].calls[0].id')" \
    "$(sent 'messages[2].tool_calls[0].id')"
is "its arguments" "$(value 'messages[1].calls[0].args')" \
    "$(sent 'messages[2].tool_calls[0].function.arguments')"
is "its result" "$(value 'messages[2].text')" "$(sent 'messages[3].content')"
is "no message more" "$(value 'messages[3]')$(sent 'messages[4]')" ""
is "tools" "$(value 'tools[0].name')" "$(sent 'tools[0].function.name')"
is "the model" "$(value model)" openai:x
is "a number for each message" "$(sqlite3 :memory: \
    "SELECT count(*) FROM json_each(readfile('$out'), '\$.message_tokens')")" 3
is "parts, with their tokens" \
    "$(sqlite3 :memory: "SELECT group_concat(json_extract(value, '\$.name'))
    FROM json_each(readfile('$out'), '\$.parts')")" \
    "instructions,tools,notes AGENTS.md,environment,history"
seq=$(value seq)
exits "the request before" 0 "$WEND" context --json --at $((seq - 1)) last
is "the request before: one message" "$(value 'messages[1]')" ""
is "the request before: of the first turn" "$(value turn)" 0
exits "the same event" 0 "$WEND" context --json --at "$seq" last
is "the same event: of the second turn" "$(value turn)" 1

exits "as text" 0 "$WEND" context last
has "its head" "$out" ", event $seq, turn 1, openai:x"
has "a part with its bar" "$out" "notes AGENTS.md"
has "the text before the conversation" "$out" "  Be brief."
has "a message" "$out" "1 user ("
has "a call" "$out" '  call calculator {"expression":"6*7"}'
has "a result" "$out" "3 tool calculator ("
LC_ALL=C exits "in ASCII" 0 "$WEND" context last
is "in ASCII: nothing else" "$(LC_ALL=C tr -d '\n -~' <"$out" | wc -c)" 0
LC_ALL=C.UTF-8 exits "in UTF-8" 0 "$WEND" context last
has "in UTF-8: bars" "$out" "█"

# ---- Tools that do not fit -------------------------------------------------------------

words=$(printf 'nine-byte %.0s' {1..80})
printf 'wend: tool/1\nname: post\ndescription: "%s"\ncommand: [/bin/true]\n' \
    "$words" >"$work/post.yaml"
tight() { # WINDOW
    printf 'wend: agent/1\nmodel: openai:x\ncontext_tokens: %s\ntools: []\n' "$1" \
        >"$work/tight.yaml"
    : >"$work/requests"
    run "$WEND" run --json -a "$work/tight.yaml" --tools "$work/post.yaml" \
        --base-url "http://127.0.0.1:$port/=text:1/v1" --notes off hi
}
tight 1000
lacks "a tool that fits" "$out" tools_cut
tight 200
has "a long description is cut, and the user is told" "$out" \
    '"code":"tools_cut","message":"the window has 200 tokens: descriptions'
has "it is sent with a mark" "$work/requests" 'nine-byte [cut]"'
has "context_end says so" "$out" \
    '{"name":"tools","priority":70,"tokens":'
exits "context" 0 "$WEND" context last
has "context: what was cut" "$out" "cut by "
exits "context --json" 0 "$WEND" context --json last
bodies | tail -1 >"$work/request"
is "context: the description as it was sent" "$(value 'tools[0].description')" \
    "$(sent 'tools[0].function.description')"
tight 40
is "a tool that cannot fit: no run" $status 2
has "a tool that cannot fit: said" "$err" "and the window of x has 40"

# ---- Exactly what was sent -----------------------------------------------------------

for row in openai:/v1 responses:/v1 anthropic:/v1 gemini:/v1beta ollama:; do
    provider=${row%%:*}
    exits "$provider" 0 "$WEND" run -q -m "$provider:x" -t calculator \
        --base-url "http://127.0.0.1:$port/=$call${row#*:}" \
        --instructions "Be brief." hi
    newest_texts "$provider"
    id=$(newest)
    exits "$provider: -c" 0 "$WEND" run -qc "And now?"
    newest_texts "$provider: -c"
    exits "$provider: fork" 0 "$WEND" fork -q "$id" "Or that?"
    newest_texts "$provider: fork"
done

printf 'wend: plan/1\nname: p\nactions:\n  - {name: a, type: llm, prompt: "What is it?"}\n' \
    >ask.yaml
printf 'wend: agent/1\nmodel: openai:x\nbase_url: %s\ninstructions: Be brief.\n' \
    "http://127.0.0.1:$port/=text:1/v1" >"$work/brief.yaml"
exits "an action of a plan" 0 "$WEND" plan run -q -a "$work/brief.yaml" ask.yaml
newest_texts "an action of a plan"
is "an action of a plan: no tools" "$(value tools)$(value 'messages[1]')" ""
exits "an action of a plan: as text" 0 "$WEND" context last
has "an action of a plan: its prompt" "$out" "  What is it?"

# ---- Results that were cut -----------------------------------------------------------

# What each request had, compared with the context at its event: the results, in
# their order.
printf 'wend: tool/1\nname: noop\ndescription: counts\ncommand: [seq, "1", "2400"]\n' \
    >"$work/noop.yaml"
printf 'wend: agent/1\nmodel: openai:x\ncontext_tokens: 6000\ntools: []\n' \
    >"$work/cut.yaml"
: >"$work/requests"
exits "results that were cut" 0 "$WEND" run -q -a "$work/cut.yaml" --notes off \
    --tools "$work/noop.yaml" --approve all \
    --base-url "http://127.0.0.1:$port/=tools:4/v1" hi
bodies >"$work/bodies"
"$WEND" log --json last | sed -nE 's/.*"seq":([0-9]+),.*"type":"model_start".*/\1/p' \
    >"$work/asked"
is "results that were cut: events and requests" "$(wc -l <"$work/asked")" \
    "$(wc -l <"$work/bodies")"
grep -q '\[cut: bytes ' "$work/bodies"
ok "results that were cut: some are"
number=0
while read -r seq; do
    number=$((number + 1))
    sed -n "${number}p" "$work/bodies" >"$work/request"
    exits "results that were cut: --at $seq" 0 \
        "$WEND" context --json --at "$seq" last
    is "results that were cut: --at $seq: as they were sent" \
        "$(sqlite3 :memory: "SELECT json_extract(value, '\$.text') FROM
        json_each(readfile('$out'), '\$.messages')
        WHERE json_extract(value, '\$.role') = 'tool'")" \
        "$(sqlite3 :memory: "SELECT json_extract(value, '\$.content') FROM
        json_each(readfile('$work/request'), '\$.messages')
        WHERE json_extract(value, '\$.role') = 'tool'")"
done <"$work/asked"
exits "results that were cut: as text" 0 "$WEND" context last
has "results that were cut: as text: the mark" "$out" "  [cut: bytes "

# ---- Bad input -----------------------------------------------------------------------

exits "no such event" 2 "$WEND" context --at 999 last
has "no such event: which there are" "$err" "has no event 999: they are 1 to"
exits "before the first request" 2 "$WEND" context --at 2 last
has "before the first request: said" "$err" "has asked no model up to that event"
exits "no such run" 2 "$WEND" context 01234567-0000-7000-8000-000000000000
printf 'wend: plan/1\nname: p\nactions:\n  - {name: a, type: tool, target: calculator, params: {expression: "1"}}\n' \
    >p.yaml
exits "a plan without a model" 0 "$WEND" plan run -q p.yaml
exits "its context" 2 "$WEND" context last
has "its context: said" "$err" "has asked no model"
# What a tool returned is shown, and does nothing to a terminal.
printf 'a\033[31mb' >evil
exits "a hostile result" 0 "$WEND" run -q -t read_file \
    -m 'script:{"turns":[{"calls":[{"name":"read_file","args":{"path":"evil"}}]},{"text":"x"}]}' hi
exits "context of it" 0 "$WEND" context last
! grep -q "$(printf '\033')" "$out"
ok "no escape sequence gets through"
finish
