#!/usr/bin/env bash
# attach.sh - files that come later: with a message to a run, with a fork, in a
# conversation whose files are gone, for another model.
. "$(dirname "$0")/lib.sh"
needs_server
unset OPENAI_API_KEY ANTHROPIC_API_KEY GEMINI_API_KEY http_proxy all_proxy
serve_http --log "$work/requests"
base=http://127.0.0.1:$port

# A red picture of 8x6 pixels.
red=iVBORw0KGgoAAAANSUhEUgAAAAgAAAAGCAIAAABxZ0isAAAAEklEQVR4nGP4z8CAFWEXpZMEADMoL9HswQX5AAAAAElFTkSuQmCC
base64 -d <<<$red >red.png
hash=$(sha256sum <red.png | cut -d' ' -f1)
head -c 60 red.png >cut.png
cat >blind.yaml <<'Y'
wend: models/1
models:
  - {name: "openai:*", media: [document]}
Y

sent() { # the requests since the last look
    soon grep -q . "$work/requests"
    cat "$work/requests"
    : >"$work/requests"
}

# ---- With a message ---------------------------------------------------------------

"$WEND" run -q -m "openai:hang;say:red" --base-url "$base/v1" go >"$out" 2>"$err" &
pid=$!
soon grep -q POST "$work/requests"
run timeout 10 "$WEND" say -f cut.png last 'What is it?'
is "say: a damaged file: exit status" $status 2
has "say: a damaged file: why" "$err" "'cut.png' is not a valid PNG image: it is cut off"
kill -KILL $pid
wait $pid 2>/dev/null
run timeout 10 "$WEND" say -f red.png last 'What is it?'
is "say: exit status" $status 0
has "say: to a run without an owner" "$err" "queued"
: >"$work/requests"
mv red.png gone.png
run "$WEND" resume -q last
is "say, resumed: exit status" $status 0
sent >got
has "say, resumed: the picture is sent" got "$red"
has "say, resumed: the text" got 'What is it?'
run "$WEND" log --json last --type message
has "say: the event" "$out" "\"parts\":[{\"type\":\"image\",\"media\":\"image/png\",\"bytes\":75,\"hash\":\"$hash\",\"name\":\"red.png\""
! grep -q "${red:0:20}" "$out"
ok "say: the event has no bytes"
exits "say: verify" 0 "$WEND" verify last
mv gone.png red.png

"$WEND" run -q --models blind.yaml -m "openai:hang;say:no" --base-url "$base/v1" go \
    >"$out" 2>"$err" &
pid=$!
soon grep -q POST "$work/requests"
kill -KILL $pid
wait $pid 2>/dev/null
exits "say: to a blind model" 0 "$WEND" say -f red.png last 'What is it?'
: >"$work/requests"
exits "say: to a blind model: resumed" 0 "$WEND" resume -q last
sent >got
lacks "say: to a blind model: it is left out" got "$red"
has "say: to a blind model: and said" got "[not attached: 'red.png' is of type image, which the model openai:"

# ---- With a fork ------------------------------------------------------------------

"$WEND" run -q -m "openai:say:hi" --base-url "$base/v1" go >"$out"
first=$(newest)
: >"$work/requests"
exits "fork" 0 "$WEND" fork -q "$first" -f red.png 'What is it?'
sent >got
has "fork: the picture is sent" got "$red"
exits "fork: verify" 0 "$WEND" verify last
exits "fork: a damaged file" 2 "$WEND" fork -q "$first" -f cut.png 'What is it?'
exits "fork: no message" 2 "$WEND" fork -q "$first" -f red.png
has "fork: no message: why" "$err" "--file needs a message"
exits "fork: a blind model" 2 "$WEND" fork -q "$first" --models blind.yaml \
    -m openai:say:no --base-url "$base/v1" -f red.png 'What is it?'
has "fork: a blind model: why" "$err" \
    "'red.png' is of type image, which the model openai:say:no does not accept"

# A fork for another model asks as that one can, not as the first could.
"$WEND" run -q --models blind.yaml -m openai:say:hi --base-url "$base/v1" go >"$out"
: >"$work/requests"
exits "fork: from a blind model" 0 "$WEND" fork -q last -m openai:say:red \
    --base-url "$base/v1" -f red.png 'What is it?'
sent >got
has "fork: from a blind model: the picture is sent" got "$red"

# ---- The file is gone ---------------------------------------------------------------

"$WEND" run -q -m "openai:say:hi" --base-url "$base/v1" -f red.png go >"$out"
rm red.png
: >"$work/requests"
exits "gone: fork" 0 "$WEND" fork -q last 'And now?'
sent >got
has "gone: fork: it is sent" got "$red"
fork=$(newest)
"$WEND" export last -o run.jsonl
has "gone: export of a fork has the bytes" run.jsonl "\"base64\":\"$red\""
exits "gone: import" 0 env WEND_STORE="$work/other.db" "$WEND" import run.jsonl
exits "gone: import: verify" 0 env WEND_STORE="$work/other.db" "$WEND" verify
exits "gone: import: its bytes" 0 env WEND_STORE="$work/other.db" \
    "$WEND" blob "$fork" "${hash:0:12}"
is "gone: import: the same ones" "$(base64 -w0 <"$out")" "$red"

exec 9>&-
finish
