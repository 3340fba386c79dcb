#!/usr/bin/env bash
# parts.sh - files that a prompt comes with, and pictures of tools: what goes
# over the wire, and what a log keeps of them.
. "$(dirname "$0")/lib.sh"
needs_server
mcp=$(dirname "$WEND")/tests/wend-test-mcp
[ -x "$mcp" ] || make -s -C "$test_dir/../.." VARIANT=asan \
    build/asan/tests/wend-test-mcp >&2
unset OPENAI_API_KEY ANTHROPIC_API_KEY GEMINI_API_KEY http_proxy https_proxy
unset all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY
serve_http --log "$work/requests"
base=http://127.0.0.1:$port

# A red picture of 8x6 pixels.
red=iVBORw0KGgoAAAANSUhEUgAAAAgAAAAGCAIAAABxZ0isAAAAEklEQVR4nGP4z8CAFWEXpZMEADMoL9HswQX5AAAAAElFTkSuQmCC
base64 -d <<<$red >red.png
printf '%%PDF-1.4\n1 0 obj<</Type/Page>>endobj\n%%%%EOF\n' >a.pdf
printf 'int main(void);\n' >a.c
cp red.png photo.dat

sent() { # the requests since the last look
    soon grep -q . "$work/requests"
    cat "$work/requests"
    : >"$work/requests"
}

# ---- Over the wire --------------------------------------------------------------

form() { # PROVIDER: how it takes the picture
    case $1 in
    openai) echo "{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/png;base64,$red\"}}" ;;
    responses) echo "{\"type\":\"input_image\",\"image_url\":\"data:image/png;base64,$red\",\"detail\":\"auto\"}" ;;
    anthropic) echo "{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"media_type\":\"image/png\",\"data\":\"$red\"}}" ;;
    gemini) echo "{\"inlineData\":{\"mimeType\":\"image/png\",\"data\":\"$red\"}}" ;;
    ollama) echo "\"images\":[\"$red\"]" ;;
    esac
}

for row in openai:/v1 responses:/v1 anthropic:/v1 gemini:/v1beta ollama:; do
    provider=${row%%:*} url=$base${row#*:}
    run "$WEND" run -q -m "$provider:say:it is red" --base-url "$url" \
        -f photo.dat -f a.c 'What is it?'
    is "$provider: a picture and a text: exit status" $status 0
    is "$provider: the answer" "$(cat "$out")" "it is red"
    sent >got
    has "$provider: the picture, by its content" got "$(form $provider)"
    has "$provider: the text, with its name" got 'file a.c]\nint main(void);'
    run "$WEND" context --json last
    has "$provider: what the model saw: the text" "$out" \
        '"text":"[file a.c]\nint main(void);\n\nWhat is it?","parts":[{"type":"image"'
done
run "$WEND" run -q -m "openai:say:yes" --base-url "$base/v1" -f a.pdf 'Is it?'
sent >got
has "a document" got '{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,'

# ---- The log --------------------------------------------------------------------

hash=$(sha256sum <red.png | cut -d' ' -f1)
run "$WEND" run -q -m "$hello" -f red.png go
run "$WEND" log --json last
has "the log describes it" "$out" "\"parts\":[{\"type\":\"image\",\"media\":\"image/png\",\"bytes\":75,\"hash\":\"$hash\",\"name\":\"red.png\",\"width\":8,\"height\":6}]"
! grep -q "${red:0:20}" "$out"
ok "and has no bytes of it"
for dialect in loom agio cortex ag-ui openai-chat responses ui; do
    run "$WEND" replay --events $dialect --speed 0 last
    is "dialect $dialect: exit status" $status 0
    ! grep -q "${red:0:20}" "$out"
    ok "dialect $dialect: no bytes"
done
run "$WEND" blob last "${hash:0:12}"
cmp -s "$out" red.png
ok "its bytes are a blob"
run "$WEND" log last
has "a line for people" "$out" "[image png 8x6 red.png]"
run "$WEND" context last
has "what the model saw" "$out" "  [image png 8x6 red.png]"
run "$WEND" view last
has "a timeline names it" "$out" "go [image png 8x6 red.png]"
run "$WEND" view last -o page.html
has "a page shows it" page.html "data:image/png;base64,$red"
run "$WEND" verify last
is "verify" $status 0
cp a.c other
run "$WEND" run -q -m "$hello" -f other go
run "$WEND" diff last~1 last
has "a diff of two files" "$out" "data.parts[0].type"
run "$WEND" rm --yes last
run "$WEND" export last -o run.jsonl
has "an export has the bytes" run.jsonl "\"base64\":\"$red\""
run "$WEND" export last
WEND_STORE=$work/other.db run "$WEND" import run.jsonl
is "import: exit status" $status 0
WEND_STORE=$work/other.db run "$WEND" verify
is "import: verify" $status 0
sed "s/$red/${red/Aa/Ab}/" run.jsonl >bad.jsonl
sed -i 's/"base64":"i/"base64":"j/' bad.jsonl
WEND_STORE=$work/third.db run "$WEND" import bad.jsonl
is "other bytes are not imported" $status 2
has "other bytes: why" "$err" "the blob is not what its hash says"
blobs() { # how many have the picture
    sqlite3 "$WEND_STORE" "SELECT count(*) FROM blobs WHERE hash = '$hash'"
}
if command -v sqlite3 >/dev/null; then
    run "$WEND" prune -q --older-than 1d --yes
    is "prune: exit status" $status 0
    is "prune keeps what an event names" "$(blobs)" 1
    cp "$WEND_STORE" kept.db
    sqlite3 "$WEND_STORE" "UPDATE runs SET ended = ended - 172800000000"
    run "$WEND" prune -q --older-than 1d --yes
    is "prune removes what none names" "$(blobs)" 0
    cp kept.db "$WEND_STORE"
    sqlite3 "$WEND_STORE" "DELETE FROM blobs WHERE hash = '$hash'"
    run "$WEND" verify last
    is "a blob that is gone is found" $status 1
fi

# ---- What is refused ------------------------------------------------------------

refused() { # NAME WORDS FILE...: before anything is asked
    local name=$1 words=$2 files=() f
    shift 2
    for f in "$@"; do files+=(-f "$f"); done
    : >"$work/requests"
    run timeout 10 "$WEND" run -q -m "anthropic:say:hi" --base-url "$base/v1" \
        "${files[@]}" go
    is "$name: exit status" $status 2
    has "$name: why" "$err" "$words"
    is "$name: nothing was sent" "$(cat "$work/requests")" ""
}

png 8001 100 >wide.png
png 65535 65535 >bomb.png
head -c 60 red.png >cut.png
{ head -c 45 red.png; printf X; tail -c +47 red.png; } >changed.png
printf hello >text.pdf
printf 'a\0b' >binary
: >empty
mkfifo pipe
refused "over the limit" "'wide.png' has 8001x100 pixels, and anthropic accepts at most 8000x8000" wide.png
refused "a bomb" "'bomb.png' is too large: 65535x65535 pixels, at most 16384x16384" bomb.png
refused "one of two" "'bomb.png' is too large" red.png bomb.png
refused "cut off" "'cut.png' is not a valid PNG image: it is cut off" cut.png
refused "pixels that have changed" "'changed.png' is not a valid PNG image: it is damaged" changed.png
refused "a PDF that is text" "'text.pdf' is not a PDF document: it is text" text.pdf
refused "of no type" "'binary' is neither text nor a file of a known type" binary
refused "empty" "'empty' is empty" empty
refused "a pipe" "'pipe' is not a regular file" pipe
if command -v python3 >/dev/null; then
    python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")'
    refused "a socket" "'socket' is not a regular file" socket
fi
refused "a directory" "'.' is not a regular file" .
refused "not there" "cannot open 'nowhere.png': No such file" nowhere.png
cat >m.yaml <<'Y'
wend: models/1
models:
  - {name: "openai:*", media: [document]}
Y
run "$WEND" run -q --models m.yaml -m openai:say:hi --base-url "$base/v1" \
    -f red.png go
is "a model that is known to be blind: exit status" $status 2
has "a model that is known to be blind: why" "$err" \
    "'red.png' is of type image, which the model openai:say:hi does not accept"

# ---- A model that refuses -------------------------------------------------------

: >"$work/requests"
run "$WEND" run --json -m "openai:status:400:code=invalid_image;say:a;say:b" \
    --base-url "$base/v1" -f red.png go
is "a refusal: exit status" $status 0
has "a refusal: a warning" "$out" '"code":"media_refused"'
has "a refusal: recorded" "$out" '"reason":"refused image"'
sent >got
is "a refusal: sent once" "$(grep -c "$red" got)" 1
has "a refusal: a note in the second request" got '[image png 8x6 omitted]'
run "$WEND" context last
has "a refusal: what the model saw" "$out" "  [image png 8x6 omitted]"
lacks "a refusal: it did not see the picture" "$out" red.png
at=$("$WEND" log --json last --type model_start | grep -o '"seq":[0-9]*')
run "$WEND" context --at ${at#*:} last
has "a refusal: what it was sent first" "$out" "  [image png 8x6 red.png]"
run "$WEND" log --json last
! grep -q omitted "$out"
ok "a refusal: no note in the log"
run "$WEND" run -q -c -m "openai:status:400:code=invalid_image;say:a;say:b" \
    --base-url "$base/v1" 'And?'
is "a refusal: the next run of the conversation" $status 0
! sent | grep -q "$red"
ok "a refusal: does not send it again"
run "$WEND" context last
has "a refusal: what the model saw in it" "$out" "  [image png 8x6 omitted]"
run "$WEND" log --json last --type run_start
has "a refusal: and knows why" "$out" '"media":["image"]'
: >"$work/requests"
run "$WEND" run -q -c -f red.png 'And this one?'
is "a refusal: another picture: exit status" $status 2
has "a refusal: another picture: why" "$err" "'red.png' is of type image, which the model openai:status:400:code=invalid_image;say:a;say:b does not accept"
is "a refusal: another picture: nothing was sent" "$(cat "$work/requests")" ""
run "$WEND" fork -q -f red.png last 'And this one?'
is "a refusal: a fork with another picture" $status 2
run "$WEND" run -c -f a.pdf 'And a document?'
is "a refusal: a file of another type" $status 0
lacks "a refusal: the user is told once" "$err" "in place of files"
: >"$work/requests"
"$WEND" run -q -m "openai:status:400:code=invalid_image;hang;say:no#said" \
    --base-url "$base/v1" -f red.png go >"$out" 2>"$err" &
pid=$!
soon grep -q omitted "$work/requests"
run "$WEND" say -f red.png last 'Look.'
is "a refusal: said with a picture: exit status" $status 1
has "a refusal: said with a picture: why" "$err" \
    "the message comes without files: 'red.png' is of type image"
kill -KILL $pid
wait $pid 2>/dev/null
: >"$work/requests"
run "$WEND" run --json -m "openai:status:400:code=invalid_image#2" \
    --base-url "$base/v1" -f red.png go
is "refused again: it fails" $status 1
is "refused again: asked twice" "$(sent | grep -c '^POST')" 2

# ---- Results of tools -----------------------------------------------------------

image="{\"type\":\"image\",\"data\":\"$red\",\"mimeType\":\"image/png\"}"
call="call:srv.echo:{\"content\":[{\"type\":\"text\",\"text\":\"here\"},$image]}"
# In the path, so that no protocol quotes it.
call=$(printf %s "$call" | sed 's/%/%25/g; s/"/%22/g; s/{/%7B/g; s/}/%7D/g
    s/\[/%5B/g; s/]/%5D/g; s,/,%2F,g; s/+/%2B/g')
: >"$work/requests"
for provider in openai anthropic; do
    run "$WEND" run --json -m "$provider:x" --base-url "$base/=$call/v1" \
        --approve all --mcp "srv=$mcp raw" go
    is "$provider: a picture of a server: exit status" $status 0
    has "$provider: it is a part" "$out" \
        "\"output\":\"here\\n[image png 8x6]\""
    has "$provider: it is described" "$out" "\"parts\":[{\"type\":\"image\""
    sent >got
    has "$provider: it is sent" got "$(form $provider)"
    run "$WEND" context last
    has "$provider: what the model saw" "$out" "  [image png 8x6]"
    mv "$out" "saw_$provider"
done
has "what the model saw: in a message of its own" saw_openai \
    "  Attached to the result of srv.echo (call "
has "what the model saw: the result says so" saw_openai \
    "  [see attached image png 8x6]"
lacks "what the model saw: in the result itself" saw_anthropic ttached
has "in the result itself" got "{\"type\":\"text\",\"text\":\"here\\n[image png 8x6]\"},$(form anthropic)]"

run "$WEND" run --json -m openai:x --base-url \
    "$base/=call:read_file:%7B%22path%22:%22red.png%22%7D/v1" go
has "read_file of a picture" "$out" '"output":"[image png 8x6]"'
sent >got
has "read_file: it is sent" got "$(form openai)"
run "$WEND" run --json -m openai:x --base-url \
    "$base/=call:read_file:%7B%22path%22:%22a.pdf%22%7D/v1" go
has "read_file of a document" "$out" '"output":"[document pdf 1 page]"'
run "$WEND" run --json -m openai:x --base-url \
    "$base/=call:read_file:%7B%22path%22:%22cut.png%22%7D/v1" go
has "read_file of a damaged picture" "$out" 'is a binary file of 60 bytes'

# ---- Again ------------------------------------------------------------------------

: >"$work/requests"
"$WEND" run -q -m "openai:hang;say:red" --base-url "$base/v1" -f red.png \
    'What is it?' >"$out" 2>"$err" &
pid=$!
soon grep -q "$red" "$work/requests"
kill -KILL $pid
wait $pid 2>/dev/null
: >"$work/requests"
run "$WEND" resume -q last
is "killed and resumed: exit status" $status 0
is "killed and resumed: the answer" "$(cat "$out")" red
sent >got
has "killed and resumed: the picture is sent again" got "$(form openai)"
run "$WEND" verify last
is "killed and resumed: verify" $status 0

run "$WEND" run -q -c -m "openai:say:sure" --base-url "$base/v1" -f a.pdf \
    'Sure?'
is "a conversation: exit status" $status 0
sent >got
has "a conversation: the picture of its past" got "$(form openai)"
has "a conversation: a file of its own" got '"filename":"a.pdf"'
run "$WEND" verify last
is "a conversation: verify" $status 0
run "$WEND" export last -o follow.jsonl
has "a conversation: its export has the bytes" follow.jsonl "\"base64\":\"$red\""
# Another model does not take what the conversation has.
{
    printf 'RIFF\x64\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0'
    printf 'data\x40\0\0\0'
    head -c 64 /dev/zero
} >a.wav
run "$WEND" run -q -m openai:say:heard --base-url "$base/v1" -f a.wav -f red.png go
is "audio: exit status" $status 0
run "$WEND" run -c -m anthropic:say:no --base-url "$base/v1" 'And?'
is "audio for another model: exit status" $status 0
has "audio for another model: the user is told" "$err" \
    "say:no gets notes in place of files: 'a.wav' is of type audio/"
lacks "audio for another model: of the picture, nothing" "$err" red.png
run "$WEND" log --json last --type warning
has "audio for another model: the log says so" "$out" '"code":"media_omitted"'
run "$WEND" run -c 'And then?'
lacks "audio for another model: told once" "$err" "in place of files"
run "$WEND" rm --yes last
run "$WEND" rm --yes last
run "$WEND" rm --yes last
run "$WEND" fork -q last~1 --at 5 -m "openai:say:forked" --base-url "$base/v1"
sent >got
has "a fork: the picture is sent" got "$(form openai)"

: >"$work/requests"
"$WEND" run -q -m "openai:status:400:code=invalid_image;hang;say:no" \
    --base-url "$base/v1" -f red.png go >"$out" 2>"$err" &
pid=$!
soon grep -q omitted "$work/requests"
kill -KILL $pid
wait $pid 2>/dev/null
: >"$work/requests"
run "$WEND" resume -q last
is "resumed after a refusal: the answer" "$(cat "$out")" no
! sent | grep -q "$red"
ok "resumed after a refusal: it is not sent again"

exec 9>&-
finish
