#!/usr/bin/env bash
# plan_files.sh - files of the actions of a plan: what goes over the wire, what
# is refused before anything runs, and that the log needs no file afterwards.
. "$(dirname "$0")/lib.sh"
needs_server
unset OPENAI_API_KEY ANTHROPIC_API_KEY http_proxy https_proxy
unset all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY
serve_http --log "$work/requests"
base=http://127.0.0.1:$port

# A red picture of 8x6 pixels.
red=iVBORw0KGgoAAAANSUhEUgAAAAgAAAAGCAIAAABxZ0isAAAAEklEQVR4nGP4z8CAFWEXpZMEADMoL9HswQX5AAAAAElFTkSuQmCC
mkdir -p plans/img elsewhere
base64 -d <<<$red >plans/img/red.png
head -c 40 plans/img/red.png >plans/cut.png
printf 'int main(void);\n' >plans/a.c
cp plans/img/red.png elsewhere/photo.png
ln -s img/red.png plans/link.png
mkfifo plans/pipe
part="\"media\":\"image/png\",\"bytes\":75,\"hash\":\"$(sha256sum <plans/img/red.png | cut -d' ' -f1)\""

plan_of() { # FILES [MORE]: an llm action with these files
    printf 'wend: plan/1\nname: p\ninputs: {shown: img/red.png}\nactions:\n' >plans/p.yaml
    printf '  - name: a\n    type: llm\n    prompt: What?\n    files: %s\n' "$1" >>plans/p.yaml
    printf '    output_key: a\n%b' "${2-}" >>plans/p.yaml
    printf 'outputs: {a: $a}\n' >>plans/p.yaml
    : >"$work/requests"
}
ask() { # MODEL [OPTIONS...]
    local model=$1
    shift
    "$WEND" plan run plans/p.yaml -q -m "$model" --base-url "$base/v1" "$@"
}
sent() { # the requests since the last look
    soon grep -q . "$work/requests"
    cat "$work/requests"
    : >"$work/requests"
}

# ---- Over the wire --------------------------------------------------------------

plan_of '[img/red.png, a.c]'
exits "openai" 0 ask "openai:say:red"
is "openai: the answer" "$(cat "$out")" "red"
sent >got
has "openai: the picture" got \
    "{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/png;base64,$red\"}}"
has "openai: the text, with its name" got 'file a.c]\nint main(void);'
has "openai: the prompt" got 'What?'
exits "anthropic" 0 ask "anthropic:say:red"
sent >got
has "anthropic: the picture" got \
    "{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"media_type\":\"image/png\",\"data\":\"$red\"}}"
plan_of '[$shown]'
exits "an input" 0 ask "openai:say:red"
has "an input names the file" <(sent) "$red"
exits "an input is set" 0 ask "openai:say:red" --set shown=a.c
has "an input is set: that file" <(sent) 'file a.c]'
plan_of '[photo.png]'
exits "-f" 0 ask "openai:say:red" -f elsewhere/photo.png
has "-f gives a file by its name" <(sent) "$red"

# ---- The log --------------------------------------------------------------------

plan_of '[img/red.png]'
exits "a run" 0 ask "openai:say:red"
"$WEND" log --json last --type run_start >"$out"
has "run_start describes it" "$out" "\"parts\":[{\"type\":\"image\",$part,\"name\":\"img/red.png\""
"$WEND" log --json last --type action_start >"$out"
has "so do the values of the action" "$out" \
    "{\"prompt\":\"What?\",\"parts\":[{\"type\":\"image\",$part,\"name\":\"img/red.png\",\"width\":8,\"height\":6}]}"
"$WEND" log --json last >"$out"
lacks "the log has no bytes of it" "$out" "${red:0:20}"
exits "context" 0 "$WEND" context last
has "context: what the model saw" "$out" "  [image png 8x6 img/red.png]"
exits "view" 0 "$WEND" view last
has "view: a timeline names it" "$out" "p [image png 8x6 img/red.png]"
exits "a page" 0 "$WEND" view last -o page.html
has "a page shows it" page.html "data:image/png;base64,$red"
exits "replay" 0 "$WEND" replay --events loom --speed 0 last
lacks "replay: no bytes" "$out" "${red:0:20}"
exits "export" 0 "$WEND" export last -o run.jsonl
has "an export has the bytes" run.jsonl "\"base64\":\"$red\""
WEND_STORE=$work/other.db exits "import" 0 "$WEND" import run.jsonl
WEND_STORE=$work/other.db exits "import: verify" 0 "$WEND" verify
plan_of '[a.c]'
exits "a text" 0 ask "openai:say:red"
echo '// more' >>plans/a.c
exits "another text" 0 ask "openai:say:red"
exits "diff" 1 "$WEND" diff last~1 last
has "diff: it is another part" "$out" "parts[0].bytes"
plan_of '[a.c]' '    cache: {ttl: 1h}\n'
exits "cached" 0 ask "openai:say:one"
is "cached: asked once" "$(grep -c 'POST ' "$work/requests")" 1
exits "cached: the same file" 0 ask "openai:say:one"
is "cached: not asked again" "$(grep -c 'POST ' "$work/requests")" 1
echo '// more' >>plans/a.c
exits "cached: another content" 0 ask "openai:say:one"
is "cached: asked about another content" "$(grep -c 'POST ' "$work/requests")" 2

# ---- Without the file -----------------------------------------------------------

plan_of '[img/red.png]'
begin "$WEND" plan run plans/p.yaml -q -m "openai:hang;say:red#killed" \
    --base-url "$base/v1"
soon grep -q 'POST ' "$work/requests"
killed
: >"$work/requests"
mv plans/img/red.png gone.png
exits "resumed after kill -9" 0 "$WEND" resume -q last
is "resumed: the answer" "$(cat "$out")" "red"
has "resumed: the picture is sent" <(sent) "$red"
exits "resumed: verify" 0 "$WEND" verify last
mv gone.png plans/img/red.png
exits "failed" 1 ask "openai:status:400;say:red#failed"
mv plans/img/red.png gone.png
: >"$work/requests"
exits "retry" 0 "$WEND" retry -q last
has "retry: the picture is sent" <(sent) "$red"
mv gone.png plans/img/red.png

# ---- A model that refuses -------------------------------------------------------

refuse=status:400:code=invalid_image
plan_of '[img/red.png, a.c]'
exits "a refusal" 0 ask "openai:$refuse;say:a"
sent >got
is "a refusal: sent once" "$(grep -c "$red" got)" 1
has "a refusal: a note in the second request" got '[image png 8x6 omitted]'
is "a refusal: the text is sent twice" "$(grep -c 'int main' got)" 2
"$WEND" log --json last >"$out"
has "a refusal: recorded" "$out" '"dropped":["image"]'
has "a refusal: a warning" "$out" '"code":"media_refused"'
exits "a refusal: verify" 0 "$WEND" verify last
exits "refused again" 1 ask "openai:$refuse#2"
is "refused again: asked twice" "$(sent | grep -c '^POST')" 2
plan_of '[img/red.png]' '  - name: b\n    type: llm\n    prompt: And?\n    files: [img/red.png]\n'
exits "another action" 0 ask "openai:$refuse;say:a;say:b#3"
is "another action does not send it again" "$(sent | grep -c "$red")" 1
plan_of '[img/red.png]'

# ---- An agent -------------------------------------------------------------------

printf 'wend: agent/1\nname: eye\n' >plans/eye.yaml
sed 's/type: llm/type: agent\n    target: eye.yaml\n    params: {n: 1}/' plans/p.yaml >plans/q.yaml
mv plans/q.yaml plans/p.yaml
: >"$work/requests"
exits "an agent" 0 ask "anthropic:say:seen"
is "an agent: the answer" "$(cat "$out")" "seen"
sent >got
has "an agent: the picture" got "\"data\":\"$red\""
has "an agent: prompt and values" got 'What?\n\n{\"n\":1}'
"$WEND" log --json "$("$WEND" runs --json --limit 0 | grep '"child":true' |
    head -1 | sed 's/.*"run":"\([^"]*\)".*/\1/')" --type run_start >"$out"
has "an agent: its own log describes it" "$out" "\"parts\":[{\"type\":\"image\",$part"
begin "$WEND" plan run plans/p.yaml -q -m "anthropic:hang;say:red#agent" \
    --base-url "$base/v1"
soon grep -q 'POST ' "$work/requests"
killed
outer=$("$WEND" runs --json --limit 2 | grep -v '"child":true' |
    sed 's/.*"run":"\([^"]*\)".*/\1/')
: >"$work/requests"
mv plans/img/red.png gone.png
exits "an agent, resumed" 0 "$WEND" resume -q "$outer"
has "an agent, resumed: the picture is sent" <(sent) "$red"
mv gone.png plans/img/red.png
exits "an agent: verify" 0 "$WEND" verify

# ---- Files of results -----------------------------------------------------------

shot_plan() { # TYPE-LINES FILES [MORE]: a tool reads a picture, another action gets it
    cat >plans/p.yaml <<END
wend: plan/1
name: p
actions:
  - name: look
    type: tool
    target: read_file
    params: {path: plans/img/red.png}
    output_key: shot
${4-}
  - name: a
    $1
    prompt: "What? \$shot"
    files: $2
    depends_on: [look]
    output_key: a
${3-}
outputs: {a: \$a}
END
    : >"$work/requests"
}
picture="{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/png;base64,$red\"}}"
described="[{\"type\":\"image\",$part,\"name\":\"red.png\",\"width\":8,\"height\":6}]"
shot_plan "type: llm" '["$shot"]'
exits "a result" 0 ask "openai:say:red"
is "a result: the answer" "$(cat "$out")" "red"
has "a result: the picture is sent" <(sent) "$picture"
"$WEND" log --json last >"$out"
lacks "a result: the log has no bytes of it" "$out" "${red:0:20}"
"$WEND" log --json last --type action_end >"$out"
has "a result: action_end describes it" "$out" "\"parts\":$described"
"$WEND" log --json last --type action_start >"$out"
has "a result: so do the values of the action that gets it" "$out" "\"parts\":$described}"
exits "a result: context" 0 "$WEND" context last
has "a result: what the model saw" "$out" "  [image png 8x6 red.png]"
exits "a result: a page" 0 "$WEND" view last -o page.html
has "a result: the page shows it" page.html "data:image/png;base64,$red"
exits "a result: replay" 0 "$WEND" replay --events loom --speed 0 last
lacks "a result: replay: no bytes" "$out" "${red:0:20}"
exits "a result: export" 0 "$WEND" export last -o run.jsonl
has "a result: an export has the bytes" run.jsonl "\"base64\":\"$red\""
WEND_STORE=$work/third.db exits "a result: import" 0 "$WEND" import run.jsonl
WEND_STORE=$work/third.db exits "a result: import: verify" 0 "$WEND" verify
exits "a result: verify" 0 "$WEND" verify
shot_plan "type: llm" '["${shot.parts[0]}", a.c]'
exits "one of them" 0 ask "anthropic:say:red"
sent >got
has "one of them: the picture" got "\"data\":\"$red\""
has "one of them: a file of the plan beside it" got 'file a.c]'
shot_plan "type: llm" '[a.c]'
exits "without an entry" 0 ask "openai:say:red"
sent >got
lacks "without an entry: not sent" got "$red"
has "without an entry: a note in the prompt" got '[image png 8x6]'
shot_plan "type: agent
    target: eye.yaml" '["$shot"]'
exits "an agent gets it" 0 ask "anthropic:say:seen"
has "an agent gets it: sent" <(sent) "\"data\":\"$red\""
shot_plan "type: llm" '["$shot"]' "" '    fallback: look2
  - {name: look2, type: tool, target: read_file, params: {path: plans/img/red.png}}'
sed -i '0,/img.red.png/s//img\/none.png/' plans/p.yaml
exits "a fallback" 0 ask "openai:say:red"
has "a fallback: its picture" <(sent) "$picture"

# Nothing is read or run again.
shot_plan "type: llm" '["$shot"]'
begin "$WEND" plan run plans/p.yaml -q -m "openai:hang;say:red#shot1" --base-url "$base/v1"
soon grep -q 'POST ' "$work/requests"
killed
: >"$work/requests"
mv plans/img/red.png gone.png
exits "a result, resumed after kill -9" 0 "$WEND" resume -q last
has "a result, resumed: the picture is sent" <(sent) "$picture"
exits "a result, resumed: verify" 0 "$WEND" verify last
at=$("$WEND" log --json last --type action_end | head -1 | sed 's/.*"seq":\([0-9]*\).*/\1/')
exits "a result: fork" 0 "$WEND" fork -q last --at "$at"
has "a result: fork: the picture is sent" <(sent) "$picture"
exits "a result: fork: verify" 0 "$WEND" verify last
mv gone.png plans/img/red.png
exits "a result: failed" 1 ask "openai:status:400;say:red#shot2"
mv plans/img/red.png gone.png
: >"$work/requests"
exits "a result: retry" 0 "$WEND" retry -q last
has "a result: retry: the picture is sent" <(sent) "$picture"
mv gone.png plans/img/red.png

# The cache has the files, too; without their bytes the tool runs again.
shot_plan "type: llm" '["$shot"]' "" '    cache: {ttl: 1h}'
exits "a cached result" 0 ask "openai:say:one"
has "a cached result: sent" <(sent) "$picture"
exits "a cached result again" 0 ask "openai:say:two"
has "a cached result again: sent" <(sent) "$picture"
"$WEND" log --json last --type action_end >"$out"
has "a cached result again: from the cache" "$out" '"cached":true'
has "a cached result again: it has parts" "$out" "\"parts\":$described"
lacks "a cached result again: no base64" "$out" "${red:0:20}"
sleep 1
exits "the bytes are gone" 0 "$WEND" prune -q --older-than 1s --yes
: >"$work/requests"
exits "a cached result without bytes" 0 ask "openai:say:three"
has "a cached result without bytes: sent" <(sent) "$picture"
"$WEND" log --json last --type action_end >"$out"
lacks "a cached result without bytes: the tool ran" "$out" '"cached":true'
exits "a cached result without bytes: verify" 0 "$WEND" verify

# What cannot be sent, or is not there.
cat >models.yaml <<'END'
wend: models/1
models:
  - {name: "openai:say:blind", media: [document]}
END
shot_plan "type: llm" '["$shot"]'
WEND_MODELS=$PWD/models.yaml exits "a model without images" 1 ask "openai:say:blind"
has "a model without images: why" "$err" "'red.png' is of type image, which the model openai:say:blind does not accept"
is "a model without images: nothing is sent" "$(cat "$work/requests")" ""
shot_plan "type: agent
    target: eye.yaml" '["$shot"]'
WEND_MODELS=$PWD/models.yaml exits "an agent without images" 1 ask "openai:say:blind"
has "an agent without images: why" "$err" "'red.png' is of type image, which the model openai:say:blind does not accept"
is "an agent without images: nothing is sent" "$(cat "$work/requests")" ""
shot_plan "type: llm" '["$shot"]'
sed -i 's/img.red.png/a.c/' plans/p.yaml
exits "a result without files" 1 ask "openai:say:red"
has "a result without files: why" "$err" '$shot has no files'
is "a result without files: nothing is sent" "$(cat "$work/requests")" ""
sed -i 's/^name: p/&\nmissing_ref: null/' plans/p.yaml
exits "missing_ref: null" 0 ask "openai:say:red"
shot_plan "type: llm" '["${shot.parts[1]}"]'
exits "one too many" 1 ask "openai:say:red"
has "one too many: why" "$err" '${shot.parts[1]} has no files'

# ---- A plan inside a plan -------------------------------------------------------

mkdir -p plans/inner
cat >plans/inner/see.yaml <<'END'
wend: plan/1
name: see
inputs: {photo: null, word: What}
actions:
  - {name: i, type: llm, prompt: "$word?", files: [$photo], output_key: i}
outputs: {i: $i}
END
outer() { # FILES
    cat >plans/outer.yaml <<END
wend: plan/1
actions:
  - {name: look, type: tool, target: read_file, params: {path: plans/img/red.png}, output_key: shot}
  - name: w
    type: workflow
    target: inner/see.yaml
    params: {word: Who}
    files: $1
    depends_on: [look]
    output_key: w
outputs: {w: \$w}
END
    : >"$work/requests"
}
ask_outer() { # MODEL [OPTIONS...]
    local model=$1
    shift
    "$WEND" plan run plans/outer.yaml -q -m "$model" --base-url "$base/v1" "$@"
}
outer '{photo: $shot}'
exits "a plan inside gets a result" 0 ask_outer "openai:say:red"
sent >got
has "a plan inside: the picture" got "$picture"
has "a plan inside: the other values" got 'Who?'
inner=$("$WEND" runs --json --limit 0 | grep '"child":true' | head -1 |
    sed 's/.*"run":"\([^"]*\)".*/\1/')
"$WEND" log --json "$inner" >"$out"
has "a plan inside: its log describes it" "$out" "\"parts\":$described"
lacks "a plan inside: no bytes" "$out" "${red:0:20}"
outer '{photo: img/red.png}'
exits "a plan inside gets a file" 0 ask_outer "openai:say:red"
has "a plan inside gets a file: sent" <(sent) "$picture"
outer '{photo: photo.png}'
exits "a plan inside gets one of -f" 0 ask_outer "openai:say:red" -f elsewhere/photo.png
has "a plan inside gets one of -f: sent" <(sent) "$picture"
: >"$work/requests"
exits "the plan alone" 0 "$WEND" plan run plans/inner/see.yaml -q -m "openai:say:red" \
    --base-url "$base/v1" --set photo=red.png -f plans/img/red.png
has "the plan alone: sent" <(sent) "$picture"
outer '{photo: $shot}'
begin "$WEND" plan run plans/outer.yaml -q -m "openai:hang;say:red#inner" --base-url "$base/v1"
soon grep -q 'POST ' "$work/requests"
killed
parent=$("$WEND" runs --json --limit 2 | grep -v '"child":true' |
    sed 's/.*"run":"\([^"]*\)".*/\1/')
: >"$work/requests"
mv plans/img/red.png gone.png
exits "a plan inside, resumed" 0 "$WEND" resume -q "$parent"
has "a plan inside, resumed: sent" <(sent) "$picture"
mv gone.png plans/img/red.png
exits "a plan inside: verify" 0 "$WEND" verify
while IFS='|' read -r files text; do
    outer "$files"
    exits "inside: $files" 2 ask_outer "openai:say:x"
    has "inside: $files: why" "$err" "$text"
    is "inside: $files: nothing was sent" "$(cat "$work/requests")" ""
done <<'END'
{}|action 'w': inner/see.yaml: action 'i': files[0]: the input 'photo' gets no file
{other: $shot}|action 'w': inner/see.yaml: the plan has no input 'other'
{word: $shot}|actions[1]: the input 'word' is in files and in params
[$shot]|actions[1].files must be a mapping from inputs of the plan inside
{photo: none.png}|action 'w': files[0]: 'none.png' does not exist
END

# ---- What is refused ------------------------------------------------------------

png 9000 6 >plans/wide.png
while IFS='|' read -r files text; do
    plan_of "$files"
    exits "files: $files" 2 timeout 10 "$WEND" plan run plans/p.yaml -q \
        -m "anthropic:say:hi" --base-url "$base/v1"
    has "files: $files: where and why" "$err" "$text"
    is "files: $files: nothing was sent" "$(cat "$work/requests")" ""
done <<'END'
[a.c, none.png]|plans/p.yaml:8:18: action 'a': files[1]: 'none.png' does not exist in the folder of the plan
[cut.png]|plans/p.yaml:8:13: action 'a': files[0]: 'cut.png' is not a valid PNG image
[../elsewhere/photo.png]|files[0]: '../elsewhere/photo.png' is outside the folder of the plan
[/etc/passwd]|files[0]: '/etc/passwd' is outside the folder of the plan
[link.png]|files[0]: 'link.png' is a link, or is behind one
[pipe]|files[0]: 'pipe' is not a regular file
[img]|files[0]: 'img' is not a regular file
[wide.png]|files[0]: 'wide.png' has 9000x6 pixels, and anthropic accepts at most 8000x8000
[$none]|plans/p.yaml:8:13: $none is neither an input nor an output_key
["${shown.parts[0]}"]|actions[0].files[0] must be a path, $NAME of an input that is a path, or $KEY of a result
["$shown and more"]|actions[0].files[0] must be a path, $NAME of an input that is a path, or $KEY of a result
[1]|plans/p.yaml:8:13: actions[0].files[0] must be a string
a.c|actions[0].files must be a list
END
plan_of '[a.c]' '    params: {parts: 1}\n'
sed -i 's/type: llm/type: agent\n    target: eye.yaml/' plans/p.yaml
exits "params.parts" 2 ask "openai:say:x"
has "params.parts: why" "$err" "actions[0].files are given as 'parts'"
plan_of '[a.c]'
exits "-f for no action" 2 ask "openai:say:x" -f elsewhere/photo.png
has "-f for no action: what to do" "$err" \
    "no action of the plan has the file 'photo.png': name it in 'files'"
cat >plans/outer.yaml <<'END'
wend: plan/1
actions:
  - name: w
    type: workflow
    target: p.yaml
END
exits "a plan inside" 2 "$WEND" plan run plans/outer.yaml -q -m "openai:say:x" \
    --base-url "$base/v1"
has "a plan inside: why" "$err" "plans/outer.yaml:5:13: action 'w': p.yaml: action 'a': files[0]: a plan inside a plan reads no files"
sed 's/type: llm/type: tool\n    target: calculator/; s/    prompt.*//' plans/p.yaml >plans/q.yaml
exits "a tool" 2 "$WEND" plan show plans/q.yaml
has "a tool has none" "$err" "files"
exits "a plan of a model" 0 "$WEND" run -q --plan go -m 'script:{"turns":[{"calls":[{"name":"plan",
"args":{"actions":[{"name":"a","type":"llm","prompt":"x","files":["/etc/passwd"]}]}}]},
{"text":"no"}]}'
"$WEND" log --json last --type call_end >"$out"
has "a plan of a model reads none" "$out" "files"
lacks "a plan of a model: nothing is read" "$out" "root:"
exits "a plan of a model names a result" 0 "$WEND" run -q --plan go -m 'script:{"turns":[{"calls":[{"name":"plan",
"args":{"actions":[{"name":"t","type":"tool","target":"read_file","params":{"path":"plans/img/red.png"},
"output_key":"k"},{"name":"a","type":"llm","prompt":"x","files":["$k"],"depends_on":["t"]}]}}]},{"text":"one"},
{"calls":[{"name":"plan","args":{"actions":[{"name":"b","type":"llm","prompt":"y","files":["${k.parts[0]}"]}]}}]},
{"text":"two"},{"text":"seen"}]}'
"$WEND" log --json last --type action_start >"$out"
is "a plan of a model names a result: also the next plan" \
    "$(grep -cF "\"parts\":$described" "$out")" 2

finish
