#!/usr/bin/env bash
# chat.sh - a conversation with lines of standard input, and how to leave one. On
# a screen: chat_screen.sh and chat_keys.sh.
. "$(dirname "$0")/lib.sh"
. "$test_dir/chat.inc"

runs() { "$WEND" runs --json --limit 0 | wc -l; }

# ---- Lines ------------------------------------------------------------------------

exits "no model" 2 "$WEND" chat
has "no model: said" "$err" "no model is set"
printf 'hi\n\nthe sum\n/cost\n/nothing\nlast one' |
    "$WEND" chat -m "$talks" >"$out" 2>"$err"
is "lines: exit status" $? 0
is "lines: the answers alone" "$(cat "$out")" "Hello, 0.
Hello, 1.
Hello, 0."
has "lines: a command" "$err" "2.4k + 40 tokens, in 2 answers"
has "lines: one that does not exist" "$err" "unknown command /nothing"
is "lines: a run each" "$(runs)" 3
start last
is "lines: with the whole past" "$(said 'messages[0].text') $(said \
    'messages[2].text')" "hi the sum"
session=$(said session)
case $session in chat-2*) true ;; *) false ;; esac
ok "lines: one session" || echo "# $session"
is "lines: the same for all" "$("$WEND" runs --json --session "$session" |
    wc -l)" 3
exits "sound" 0 "$WEND" verify last
printf 'more\n' | "$WEND" chat -qc >"$out" 2>"$err"
is "-c: exit status" $? 0
start last
is "-c: goes on" "$(said 'messages[0].text') $(said session)" "hi $session"
printf 'a\0b\nc\n' | "$WEND" chat -q -m "$talks" >"$out" 2>"$err"
is "NUL: exit status" $? 2
has "NUL is refused" "$err" "standard input is not text: a line has a NUL byte"
printf 'x\n' | "$WEND" chat -c --session nothing >"$out" 2>"$err"
is "-c: no such session" $? 2
has "-c: those that exist" "$err" "sessions: chat-"
printf 'some notes\n' >notes.txt
printf '/attach none\n/attach notes.txt\nread it\nmore\n' |
    "$WEND" chat -m "$talks" >"$out" 2>"$err"
has "/attach: no such file" "$err" "cannot open 'none'"
has "/attach" "$err" "notes.txt comes with the next message (11 bytes)"
start last~1
is "/attach: with one message" "$(said 'parts[0].name')" notes.txt
start last
is "/attach: and no other" "$(said 'parts[0].name')" ""
printf '/attach notes.txt\nread it\n/retry\n/undo\nread it, please\n' |
    "$WEND" chat -m "$talks" >"$out" 2>"$err"
for run in last~1 last; do
    start $run
    is "/retry, /undo: with its files ($run)" "$(said parts |
        grep -o '"name":"[^"]*"')" '"name":"notes.txt"'
done
echo '/some/file.png: what is it?' | "$WEND" chat -m "$talks" >"$out" 2>"$err"
start last
is "a path is text" "$(said prompt)" "/some/file.png: what is it?"
printf '\211PNG\r\n\032\n\001\002' >noise
"$WEND" run -m "$talks" -f noise x 2>"$work/refused"
printf '/attach noise\n/attach "notes.txt"\n/attach noi\\se\n' |
    "$WEND" chat -m "$talks" >"$out" 2>"$err"
is "/attach: refused at once, as run -f does" "$(grep -cxF -f "$work/refused" \
    "$err")" 2
has "/attach: in quotes" "$err" "notes.txt comes with"

# ---- Options of run ----------------------------------------------------------------

options() { "$WEND" "$1" --help | sed -nE 's/^ +(-., )?(--[a-z0-9-]+).*/\2/p'; }
is "the options of run, but for its prompt and output" \
    "$(comm -3 <(options run | sort) <(options chat | sort) | tr -d '\t' |
    tr '\n' ' ')" "--output --plan --schema "
echo '# notes' >AGENTS.md
printf 'a\nb\n' | "$WEND" chat -m "$talks" -f notes.txt --param seed=7 \
    --notes off --label k=v --json >"$out" 2>"$err"
is "-f, --param, --notes, --json: exit status" $? 0
rm AGENTS.md
grep '"type":"run_start"' "$out" >"$work/start"
is "-f: with the first message alone" "$(json "$work/start" \
    "group_concat(coalesce($(at 'data.parts[0].name'), '-'))")" "notes.txt,-"
is "--param: in all runs" "$(json "$work/start" \
    "group_concat($(at data.config.params.seed))")" 7,7
is "--label: in all runs" "$(json "$work/start" \
    "group_concat($(at data.labels.k))")" v,v
is "--notes off" "$(grep -c AGENTS.md "$work/start")" 0
echo a | "$WEND" chat -m "$talks" -f noise >"$out" 2>"$err"
is "-f: what is not valid" $? 2
is "-f: as run says it" "$(cat "$err")" "$(cat "$work/refused")"

printf 'x\n' | "$WEND" chat -m 'script:{"turns":[]}' >"$out" 2>"$err"
is "an answer that fails ends no chat" $? 0

# ---- Every provider ----------------------------------------------------------------

# An answer that fails in the middle is left out, /retry asks again; then a call,
# and a question with all of that as its past.
needs_server
unset OPENAI_API_KEY ANTHROPIC_API_KEY GEMINI_API_KEY http_proxy all_proxy
serve_http --log "$work/requests"
for row in openai:/v1 responses:/v1 anthropic:/v1 gemini:/v1beta ollama:; do
    provider=${row%%:*}
    steps='error-mid:2;say:fine;call:calculator:%7B%22expression%22:%226*7%22%7D'
    printf 'one\n/retry\ntwo\nthree\n' | "$WEND" chat \
        -m "$provider:x" --base-url \
        "http://127.0.0.1:$port/=$steps;say:last%23$provider${row#*:}" >"$out" 2>"$err"
    is "$provider: the answers" "$? $(tr '\n' ' ' <"$out")" "0 fine last last "
    has "$provider: an error in the middle" "$err" "run failed: "
    start last
    is "$provider: the past" "$(json "$work/start" "(SELECT group_concat(
        json_extract(m.value, '\$.role') || ':' || coalesce(json_extract(
        m.value, '\$.text'), ''), ' ') FROM json_each(line.value,
        '\$.data.messages') AS m)")" \
        "user:one assistant:fine user:two assistant: tool:42 assistant:last"
done

# A summary on request, before an answer and while one is given.
folds=$(model folds '{"turns":[
{"purpose":"summary","text":"# Task\ntalk\n# Decisions\n# Progress\n# Blockers\n# Context","when":"the names","repeat":"forever"},
{"when":"long","text":"aaaa bbbb cccc","chunk":5,"first_delay":"1ms","delay":"90s"},
{"text":"Hello, ${turn}. This answer is long enough for a summary to be shorter.","repeat":"forever"}]}')
printf 'one\ntwo\nthree\nfour\n/compact the names\nlast\nmore\n' |
    "$WEND" chat -m "$folds" >"$out" 2>"$err"
grep -qE '\(summary\): [0-9]+ tokens.*, 3 messages instead of 9$' "$err"
ok "/compact: what was folded" || sed 's/^/# /' "$err"
start last
is "/compact: the past is the summary" "$(said messages | grep -c 'talk')" 1

# An exchange that a kill has ended is named.
is_running() { "$WEND" runs --json --limit 1 | grep -q '"status":"running"'; }
mkdir other && cd other || exit 1
echo hi | "$WEND" chat -q -m "$talks" >"$out" 2>"$err"
echo long >"$work/line"
"$WEND" chat -m "$talks" <"$work/line" >"$out" 2>"$err" &
victim=$!
soon is_running
kill -9 $victim
wait $victim 2>/dev/null
id=$("$WEND" runs --json --limit 1 | sed 's/^{"run":"\([^"]*\).*/\1/')
echo again | "$WEND" chat -c >"$out" 2>"$err"
has "-c: what was interrupted is named" "$err" "'wend resume $id' finishes it"
cd .. || exit 1

TERM=dumb at_terminal "$WEND chat -q -m '$hello' </dev/null"
is "a dumb terminal, and nothing to read" $status 0
if ! has_terminal || [ ! -x "$test_screen" ]; then
    skip "leaving a screen" "no terminal"
    finish
fi

# ---- Leaving in the middle ---------------------------------------------------------

for keys in '\e|\e' '\e\e|' '\x03|\x03' '\x03\x03|' '\x04|'; do
    on_screen 80x24 "$WEND chat -m $talks" <<STEPS
wait help lists
type long\r
wait aaaa
keys ${keys%|*}
sleep 300
keys ${keys#*|}
STEPS
    is "$keys: leaves" $status 130
    is "$keys: keeps the answer" "$("$WEND" runs --json --limit 1 |
        grep -c '"status":"canceled"')" 1
done
on_screen 80x24 "$WEND chat -m $talks" <<STEPS
wait help lists
type long\r
wait aaaa
keys \x03and then\r
wait Hello
sleep 100
type \x04
STEPS
start last
is "what is sent after a stop is the next message" "$(said prompt)" "and then"
for keys in '\x03\x03' 'text\x03\x03'; do
    on_screen 80x24 "$WEND chat -m $talks" <<STEPS
wait >
keys $keys
STEPS
    is "$keys at a prompt: leaves" $status 0
done
finish
