#!/usr/bin/env bash
# http_request.sh - the tool as a user meets it: asked for, recorded, refused
# inside, opened by an agent's file.
. "$(dirname "$0")/lib.sh"

needs_server
# A proxy of the environment must not be asked; this one would not answer.
export http_proxy=http://127.0.0.1:9 ALL_PROXY=http://127.0.0.1:9
serve_http --log "$work/requests"

script() { # ARGUMENTS: a model that makes one request and says what came
    cat >script.json <<JSON
{"turns": [{"calls": [{"name": "http_request", "args": $1}]},
           {"text": "\${tool_result}"}]}
JSON
}

agent() { # NETWORK
    cat >agent.yaml <<YAML
wend: agent/1
name: caller
tools: [http_request]
network: $1
policy:
  - {tool: "http_request(http://127.0.0.1:*)", do: allow}
YAML
}

# ---- With nothing added -------------------------------------------------------

script "{\"url\": \"http://127.0.0.1:$port/=say:inside/\"}"
exits "without a rule: denied" 0 \
    "$WEND" run --json -t http_request -m script:script.json hi
has "and the model is told" "$out" '"outcome":"denied"'
exits "loopback" 0 "$WEND" run --json -t http_request --approve all \
    -m script:script.json hi
has "is refused" "$out" 'its address 127.0.0.1 is loopback'
has "as a failed call" "$out" '"outcome":"failed"'
[ ! -s "$work/requests" ]
ok "and nobody was asked" || cat "$work/requests"

# ---- With an agent's file ------------------------------------------------------

agent "['127.0.0.1:$port']"
exits "loopback, added by the file" 0 \
    "$WEND" run --json -a agent.yaml -m script:script.json hi
has "is reached" "$out" 'status: 200'
has "and answers" "$out" 'inside'
has "the log has what was added" "$out" "\"network\":[\"127.0.0.1:$port\"]"
has "and the labels" "$out" '"untrusted_source"'
is "one request came" "$(grep -c '^GET ' "$work/requests")" 1
agent "['127.0.0.1:1']"
exits "another port" 0 "$WEND" run --json -a agent.yaml -m script:script.json hi
has "is not opened by it" "$out" 'its address 127.0.0.1 is loopback'
agent "off"
exits "no network at all" 2 \
    "$WEND" run --json -a agent.yaml -m script:script.json hi
has "is said" "$err" 'network: off'
agent "['10.0.0.0/99']"
exits "a range that is none" 2 \
    "$WEND" run --json -a agent.yaml -m script:script.json hi
has "is said with its place" "$err" "agent.yaml:4:"
is "and still one request" "$(grep -c '^GET ' "$work/requests")" 1

# ---- Methods -------------------------------------------------------------------

agent "['127.0.0.1:$port']"
# name | arguments | options | outcome
while IFS='|' read -r name args options wanted; do
    script "{\"url\": \"http://127.0.0.1:$port/$args}"
    eval "run \"\$WEND\" run --json -a agent.yaml $options \
        -m script:script.json hi"
    is "$name" "$(json "$out" "CASE $(at type) WHEN 'call_end'
        THEN $(at data.outcome) END" | grep .)" "$wanted"
done <<ROWS
a rule without a method: GET|=say:x/"||ok
a rule without a method: HEAD|=say:x/","method":"HEAD"||ok
a rule without a method: POST|=say:x/","method":"POST"||denied
a rule without a method: DELETE|=say:x/","method":"DELETE"||denied
a rule with a method|=say:x/","method":"POST"|--approve 'http_request(POST http://127.0.0.1:*/*)'|ok
a denied path|=say:x/"|--approve '!http_request(http://127.0.0.1:*/=say:x/)'|denied
a denied path, escaped|=s%61y:x/"|--approve '!http_request(http://127.0.0.1:*/=say:x/)'|denied
a denied path, two slashes|/=say:x/"|--approve '!http_request(http://127.0.0.1:*/=say:x/)'|denied
another path|=say:y/"|--approve '!http_request(http://127.0.0.1:*/=say:x/)'|ok
ROWS

# ---- Redirects -----------------------------------------------------------------

agent "['127.0.0.1:$port']"
script "{\"url\": \"http://127.0.0.1:$port/=redirect:302:http:%2F%2Flocalhost:$port%2F=say:moved%2F/\"}"
before=$(grep -c '^GET ' "$work/requests")
exits "a redirect that no rule allows" 0 \
    "$WEND" run --json -a agent.yaml -m script:script.json hi
has "is not followed" "$out" \
    "a redirect to GET http://localhost:$port/=say:moved/ is not followed"
is "nobody is asked" "$(($(grep -c '^GET ' "$work/requests") - before))" 1
exits "a redirect that a rule denies" 0 "$WEND" run --json -a agent.yaml \
    --approve '!http_request(http://localhost:*)' --approve http_request \
    -m script:script.json hi
has "is not followed either" "$out" "is not followed"
exits "a redirect" 0 "$WEND" run --json -a agent.yaml \
    --approve 'http_request(http://localhost:*/*)' -m script:script.json hi
has "to an allowed address" "$out" 'moved'
has "says where it led" "$out" "url: http://localhost:$port/=say:moved/"
script "{\"url\": \"http://127.0.0.1:$port/=redirect:302:http:%2F%2F169.254.169.254%2Flatest%2F/\"}"
exits "a redirect elsewhere" 0 "$WEND" run --json -a agent.yaml \
    --approve all -m script:script.json hi
has "is refused" "$out" 'its address 169.254.169.254 is link-local'

# ---- Stopping ------------------------------------------------------------------

script "{\"url\": \"http://127.0.0.1:$port/=hang/\"}"
began=$(date +%s)
exits "an answer that never comes" 3 \
    "$WEND" run --json -a agent.yaml --timeout 1s -m script:script.json hi
has "is given up" "$out" 'stopped after 0 bytes'
[ $(($(date +%s) - began)) -lt 25 ]
ok "at once"

# ---- What must not get out --------------------------------------------------------

# With the built-in tools alone: a secret that was read, or recalled from a run
# that read one, and a request need a person. Nobody is there: it is denied.
guarded() { # CALL...: each in a message of its own, then a request
    local turns='' call
    for call in "$@"; do
        turns="$turns{\"calls\":[$call]},"
    done
    cat >script.json <<JSON
{"turns": [$turns {"calls": [{"name": "http_request", "args":
    {"url": "http://127.0.0.1:$port/=say:out/"}}]}, {"text": "done"}]}
JSON
    : >"$work/requests"
    run "$WEND" run --json -a guard.yaml -m script:script.json hi
    last=$(sed -n 's/.*"type":"call_end".*"name":"http_request","outcome":"\([a-z]*\)".*/\1/p' \
        "$out")
    asked=$(grep -c '^GET ' "$work/requests")
}
read_of() { echo "{\"name\":\"read_file\",\"args\":{\"path\":\"$1\"}}"; }
keep_as() { echo "{\"name\":\"remember\",\"args\":{\"text\":\"a fact $1\",\"name\":\"$1\"}}"; }
recall_of() { echo "{\"name\":\"recall\",\"args\":{\"query\":\"$1\"}}"; }
echo "KEY=1" >.env
echo "notes" >notes.txt
cat >guard.yaml <<YAML
wend: agent/1
name: guard
tools: [read_file, grep, http_request, remember, recall]
network: ['127.0.0.1:$port']
policy:
  - {tool: "http_request(http://127.0.0.1:*)", do: allow}
  - {tool: "read_file(.env)", do: allow}
  - {tool: "grep(.env)", do: allow}
  - {tool: remember, do: allow}
YAML
guarded "$(read_of notes.txt)"
is "control: a file like others" "$last $asked" "ok 1"
guarded "$(read_of .env)"
is "a secret was read: a request is denied" "$last $asked" "denied 0"
has "a secret was read: in the log" "$out" '"labels":["sensitive"]'
has "a secret was read: why" "$out" "text of strangers, sensitive data and a way out"
guarded '{"name":"grep","args":{"pattern":"KEY","path":".env"}}'
is "a secret was searched: the same" "$last $asked" "denied 0"
guarded "$(keep_as plain)"
is "control: a fact of a run that read nothing" "$last $asked" "ok 1"
guarded "$(read_of .env)" "$(keep_as learned)"
is "a fact of a run that read a secret" "$last $asked" "denied 0"
guarded "$(recall_of plain)"
is "control: recalled, and not sensitive" "$last $asked" "ok 1"
guarded "$(recall_of learned)"
is "recalled, and sensitive: a request is denied" "$last $asked" "denied 0"
sed -i '$a \  - {tool: "read_file(notes*)", labels: [sensitive]}' guard.yaml
guarded "$(read_of notes.txt)"
is "a row that labels" "$last $asked" "denied 0"
has "a row that labels decides nothing" "$out" \
    '"name":"read_file","outcome":"ok"'
guarded '{"name":"grep","args":{"pattern":"n","path":"notes.txt"}}'
is "a row that labels, another tool that reads it" "$last $asked" "denied 0"
mkdir -p folder/notes-old
echo "notes" >folder/notes-old/a
echo "other" >folder/b
sed -i 's/read_file(notes\*)/read_file(folder\/notes*)/' guard.yaml
guarded '{"name":"grep","args":{"pattern":"o","path":"folder"}}'
is "a row that labels, a search that finds it" "$last $asked" "denied 0"
guarded '{"name":"grep","args":{"pattern":"o","path":"folder","glob":"b"}}'
is "control: a search elsewhere" "$last $asked" "ok 1"
finish
