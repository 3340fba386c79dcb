#!/usr/bin/env bash
# relics.sh - services for plans: endpoints over HTTP, with a server that
# answers well, badly and not at all, and tools of a server.
. "$(dirname "$0")/lib.sh"

needs_server
# A proxy of the environment must not be asked; this one would not answer.
export http_proxy=http://127.0.0.1:9 ALL_PROXY=http://127.0.0.1:9
export WEB_TOKEN=tok-$$-0123456789abcdef
serve_http --log "$work/all"

mkdir relics
cat >agent.yaml <<YAML
wend: agent/1
name: caller
network: ['127.0.0.1:$port']
YAML

relic() { # ENDPOINTS: the relic web; each answers as its header x-test says
    cat >relics/web.yaml <<YAML
wend: relic/1
name: web
kind: http
base_url: http://127.0.0.1:$port/v1/
secrets: [WEB_TOKEN]
headers: {Authorization: "Bearer \${WEB_TOKEN}", x-test: "\${answer}"}
endpoints:
$1
YAML
}

seen=0
mark() { # what comes from here on counts
    seen=$(stat -c %s "$work/all" 2>/dev/null || echo 0)
}

look() { # at the requests since the mark
    tail -c +$((seen + 1)) "$work/all" >"$work/requests" 2>/dev/null
}

plan() { # TARGET PARAMS [MORE]
    cat >p.yaml <<YAML
wend: plan/1
name: p
actions:
  - {name: a, type: relic, target: $1, params: $2, output_key: x${3:+, $3}}
outputs: {x: \$x, n: 1}
YAML
}

go() { # NAME STATUS TARGET PARAMS [MORE]
    plan "$3" "$4" "${5-}"
    mark
    exits "$1" "$2" "$WEND" plan run -q -a agent.yaml --approve 'web.*' p.yaml
    look
}

ended() { # NAME TEXT: the last run's action_end has the text
    "$WEND" log last --json | grep '"type":"action_end"' >"$work/end"
    has "$1" "$work/end" "$2"
}

# ---- What is sent ---------------------------------------------------------------

printf '{"id": 7, "list": [1, 2.50, null], "text": "\\u00e9"}' >good.json
relic '  get: {path: "/things/${id}?q=${q}", output: json}
  head: {method: HEAD, path: /things}
  raw: {path: /raw}
  make: {method: POST, path: "/things/${kind}", output: json,
         headers: {X-Note: "n-${note}"}}
  put: {method: PUT, path: "/things/${id}", output: json}
  drop: {method: DELETE, path: "/things/${id}"}'

go "a GET" 0 web.get "{answer: 'file:$PWD/good.json', id: 'a/b?c#d e%2f', q: ''}"
is "its JSON is a value" "$(cat "$out")" \
    '{"x":{"id":7,"list":[1,2.50,null],"text":"é"},"n":1}'
has "what is put into a path stays there" "$work/requests" \
    "GET /v1/things/a%2Fb%3Fc%23d%20e%252f?q= HTTP/1.1"
has "a header with a secret" "$work/requests" "Authorization: Bearer $WEB_TOKEN"
lacks "a GET has no key" "$work/requests" "Idempotency-Key"
has "JSON is asked for" "$work/requests" "Accept: application/json"
"$WEND" log last --json >log.json
lacks "no secret in the log" log.json "$WEB_TOKEN"
has "but its name" log.json '"secrets":["WEB_TOKEN"]'
ended "no retry, no error" '"outcome":"ok"'

go "a POST" 0 web.make \
    "{answer: 'file:$PWD/good.json', kind: 5, note: true, deep: {a: [1]}, s: x}"
has "what no place takes is its body" "$work/requests" '{"deep":{"a":[1]},"s":"x"}'
has "as JSON" "$work/requests" "Content-Type: application/json"
has "a number in the path" "$work/requests" "POST /v1/things/5 HTTP/1.1"
has "a header with a value" "$work/requests" "X-Note: n-true"
id=$("$WEND" log last --json | head -1 | grep -o '"run":"[^"]*"' | cut -d'"' -f4)
has "the key of the action" "$work/requests" "Idempotency-Key: $id/"
go "a DELETE" 0 web.drop "{answer: 'say:gone', id: 3}"
is "text is text" "$(cat "$out")" '{"x":"gone","n":1}'
has "without a body" "$work/requests" "DELETE /v1/things/3"
lacks "and without a type of it" "$work/requests" "Content-Type"
go "text that looks like a number" 0 web.raw "{answer: 'say:42'}"
is "stays text" "$(cat "$out")" '{"x":"42","n":1}'
go "a HEAD" 0 web.head "{answer: 'say:nothing'}"

# ---- What is refused before it is sent -------------------------------------------

for id in .. . "''"; do
    go "an id of $id" 1 web.drop "{answer: 'say:gone', id: $id}"
    ended "an id of $id: said" "another"
    is "an id of $id: nobody was asked" "$(cat "$work/requests")" ""
done
go "a parameter too many" 2 web.drop "{answer: x, id: 1, force: yes}"
has "is named" "$err" "web.drop: there is no argument 'force'"
go "a parameter too few" 2 web.get "{answer: x, id: 1}"
has "is named, too" "$err" "web.get: the argument 'q' is missing"
go "an object in a path" 2 web.drop "{answer: x, id: {a: 1}}"
has "is no text" "$err" "web.drop: argument 'id':"
sed -i 's/^name: p/&\ninputs: {id: {a: 1}}/; s/id: {a: 1}}, out/id: $id}, out/' p.yaml
exits "an object that is known only in the run" 1 \
    "$WEND" plan run -q -a agent.yaml --approve 'web.*' p.yaml
ended "is no text either" "invalid_arguments"
go "a line break in a header" 1 web.raw '{answer: "a\r\nX-Evil: 1"}'
ended "is refused" "control characters"
is "and nobody was asked" "$(cat "$work/requests")" ""

# ---- Failures ---------------------------------------------------------------------

go "a status" 1 web.get "{answer: 'status:404', id: 1, q: 1}"
ended "has its number as code" '"code":"http_404"'
ended "and the head of the body" "answered with the status 404: test error"
go "too many requests" 1 web.make "{answer: 'status:429', kind: a, note: b}"
ended "is known as such" '"code":"rate_limit"'
ended "and had no effect" '"retryable":true'
go "a status, tried again" 0 web.make \
    "{answer: 'status:429;file:$PWD/good.json', kind: a, note: b}" \
    "retry: {max: 1, delay: 10ms}"
is "with the same key" \
    "$(grep -c '^Idempotency-Key' "$work/requests") $(grep '^Idempotency-Key' \
        "$work/requests" | sort -u | wc -l)" "2 1"
go "unsafe, and it may have had an effect" 1 web.make \
    "{answer: 'status:500;file:$PWD/good.json#u', kind: a, note: b}" \
    "retry: {max: 1, delay: 10ms}"
is "is not tried again" "$(grep -c '^POST' "$work/requests")" 1
ended "which is said" '"effect_possible":true'
go "the same, idempotent" 0 web.put \
    "{answer: 'status:500;file:$PWD/good.json#i', id: a}" \
    "retry: {max: 1, delay: 10ms}"
is "is tried again" "$(grep -c '^PUT' "$work/requests")" 2
go "an endpoint that never answers" 1 web.get "{answer: hang, id: 1, q: 1}" \
    "timeout: 300ms"
ended "is out of time" '"outcome":"timeout"'
go "a connection that is reset" 1 web.raw "{answer: 'reset:10'}"
ended "is a failure of the network" '"code":"network"'
echo "Bearer $WEB_TOKEN" >echo.txt
go "a server that repeats a secret" 0 web.raw "{answer: 'file:$PWD/echo.txt'}"
lacks "is not heard" "$out" "$WEB_TOKEN"
go "and as an error" 1 web.raw "{answer: 'file:$PWD/echo.txt,status=400'}"
"$WEND" log last --json >log.json
has "neither" log.json '"code":"http_400"'
lacks "there" log.json "$WEB_TOKEN"

# ---- Hostile bodies ----------------------------------------------------------------

head -c 5000000 /dev/zero | tr '\0' x >long.txt
go "a body that is too long" 1 web.raw "{answer: 'file:$PWD/long.txt'}"
ended "is refused" "over 4194304 bytes"
go "JSON that is none" 1 web.get "{answer: 'html', id: 1, q: 1}"
ended "is a failure" "the answer is no JSON"
ended "with a code" '"code":"bad_answer"'
printf '%0.s[' $(seq 1000) >deep.json
go "JSON that is too deep" 1 web.get "{answer: 'file:$PWD/deep.json', id: 1, q: 1}"
ended "is refused, too" "expected at most 64 open arrays"
go "an answer that is compressed" 1 web.raw "{answer: 'gzip:100'}"
ended "was not asked for" "is encoded"
printf 'a\0b' >zero.txt
go "bytes that are no text" 1 web.raw "{answer: 'file:$PWD/zero.txt'}"
ended "are refused" "3 bytes that are no text"
printf 'ab\377\033[31mc' >bad.txt
go "a text with bad bytes" 0 web.raw "{answer: 'file:$PWD/bad.txt'}"
is "is made valid" "$(cat "$out")" '{"x":"ab�\u001b[31mc","n":1}'

# ---- Who may be reached -------------------------------------------------------------

plan web.raw "{answer: 'say:hi'}"
mark
exits "no rule" 1 "$WEND" plan run -q -a agent.yaml p.yaml
ended "is denied, as for tools" '"outcome":"denied"'
exits "no network" 1 "$WEND" plan run -q --approve all p.yaml
ended "loopback is not open" "its address 127.0.0.1 is loopback"
ended "which had no effect" '"code":"denied"'
look
is "nobody was asked" "$(cat "$work/requests")" ""
printf 'wend: agent/1\nname: quiet\nnetwork: off\n' >quiet.yaml
exits "an agent without the network" 2 "$WEND" plan run -q -a quiet.yaml \
    --approve all p.yaml
has "has no such relic" "$err" "relics/web.yaml: the relic uses the network"
exits "a rule against it" 1 "$WEND" plan run -q -a agent.yaml \
    --approve '!web.raw' --approve all p.yaml
ended "is named" "denied by policy (!web.raw)"
go "a redirect" 0 web.raw \
    "{answer: 'redirect:302:/v1/raw;say:moved'}"
is "is followed" "$(cat "$out")" '{"x":"moved","n":1}'
go "a redirect elsewhere" 1 web.raw \
    "{answer: 'redirect:302:http://169.254.169.254/'}"
ended "is refused" "its address 169.254.169.254 is link-local"
go "a redirect to another origin" 0 web.raw \
    "{answer: 'redirect:302:http://localhost:$port/=say:moved/'}"
is "is followed, too" "$(cat "$out")" '{"x":"moved","n":1}'
is "is sent no secret" \
    "$(grep -c ^GET "$work/requests") $(grep -c ^Authorization "$work/requests")" \
    "2 1"

# ---- Stopped, resumed -----------------------------------------------------------------

is_asked() { # REQUEST: it has come since the mark
    look
    grep -q "^$1" "$work/requests"
}
plan web.raw "{answer: hang}"
mark
begin "$WEND" plan run -q -a agent.yaml --approve 'web.*' p.yaml
soon is_asked 'GET /v1/raw'
began=$SECONDS
"$WEND" cancel "$id" >/dev/null
wait $pid
is "canceled while it waits" "$?" 130
[ $((SECONDS - began)) -lt 60 ] # it has five minutes
ok "at once"
mark
plan web.put "{answer: 'hang;file:$PWD/good.json#r', id: r}"
begin "$WEND" plan run -q -a agent.yaml --approve 'web.*' p.yaml
soon is_asked PUT
killed
exits "killed, and resumed" 0 "$WEND" resume "$id"
look
is "it has its output" "$(cat "$out")" \
    '{"x":{"id":7,"list":[1,2.50,null],"text":"é"},"n":1}'
is "by the same key" "$(grep '^Idempotency-Key' "$work/requests" | sort -u |
    wc -l)" 1
(unset WEB_TOKEN && "$WEND" plan run -q -a agent.yaml p.yaml) 2>"$err"
is "a secret that is not there" "$?" 2
has "is named, with its place" "$err" "relics/web.yaml:5:11: relic 'web': \
the environment has no 'WEB_TOKEN'"

# ---- Files that are wrong ---------------------------------------------------------------

wrong() { # NAME TEXT: the relic's file is refused so, by show and by run
    exits "$1" 2 "$WEND" plan show p.yaml
    has "$1: is said" "$err" "relics/web.yaml:$2"
    exits "$1: run, too" 2 "$WEND" plan run -a agent.yaml p.yaml
    has "$1: is said there" "$err" "relics/web.yaml:$2"
}

plan web.raw "{answer: x}"
relic '  raw: {pathe: /x}'
wrong "an unknown key" "8:9: unknown key 'pathe' in endpoints.raw; did you mean 'path'?"
relic '  raw: {path: /x/$id}'
wrong "a place that is none" "8:18: endpoints.raw.path: a place is \${name}"
relic '  raw: {path: "/x/${WEB_TOKEN}"}'
wrong "a secret in a path" "8:"
relic '  row: {path: /x}'
exits "an endpoint that is not there" 2 "$WEND" plan show p.yaml
has "the near one is named" "$err" \
    "p.yaml:4:36: unknown relic 'web.raw'; did you mean 'web.row'?"
exits "an endpoint that is not there, run" 2 "$WEND" plan run -a agent.yaml p.yaml
has "and nothing has run" "$err" "unknown relic 'web.raw'"

# ---- Tools of a server ---------------------------------------------------------------------

mcp=$(dirname "$WEND")/tests/wend-test-mcp
serve() { # MODE [MORE]: the relic notes
    cp "$mcp" relics/server
    cat >relics/notes.yaml <<YAML
wend: relic/1
name: notes
kind: mcp
command: [./server, $1]
${2-}
YAML
}

call() { # NAME STATUS PARAMS [MORE]
    plan "${target:-notes.echo}" "$3" "${4-}"
    exits "$1" "$2" "$WEND" plan run -a agent.yaml --approve 'notes.*' p.yaml
}

serve modern
call "a tool of a server" 0 '{n: 7, t: é}'
is "its output is a value" "$(cat "$out")" '{"x":{"n":7,"t":"é"},"n":1}'
has "its list of tools is remembered" "$err" "2 tools accepted on first use"
"$WEND" log last --json | head -1 >log.json
has "its class is unsafe, as for any tool of a server" log.json \
    '"name":"notes.echo","description":"gives back what it gets",'\
'"schema":{"type":"object"},"class":"unsafe"'
has "the log has its file" log.json '"file":"relics/notes.yaml"'
lacks "and no server of the model's" log.json '"mcp":['
exits "no rule" 1 "$WEND" plan run -q p.yaml
ended "is denied" '"outcome":"denied"'
target=notes.ecko call "a tool that is not there" 2 '{}'
has "is refused, the near one named" "$err" \
    "p.yaml:4:36: action 'a': there is no relic with the endpoint 'notes.ecko'; \
did you mean 'notes.echo'?"
target=notes.wait call "a tool that never answers" 1 '{}' 'timeout: 300ms'
ended "is out of time" '"outcome":"timeout"'

serve modern 'endpoints: {echo: {class: read, timeout: 50s}}'
call "endpoints that are named" 0 '{}'
"$WEND" log last --json | head -1 >log.json
has "have their class" log.json '"class":"read"'
lacks "and others are not there" log.json '"name":"notes.wait"'
target=notes.wait call "others" 2 '{}'
has "are refused by the file" "$err" "unknown relic 'notes.wait'"
serve modern 'endpoints: {echo: {}, ecko: {}}'
call "one that the server does not have" 2 '{}'
has "is said with its place" "$err" \
    "relics/notes.yaml:5:23: mcp notes: the server has no tool 'ecko'"

serve crash
call "a server that crashes" 1 '{}'
ended "fails its action" "the server was lost"
serve dead 'timeout: 500ms'
call "a server that does not speak" 2 '{}'
has "is said before anything runs" "$err" "relics/notes.yaml: mcp notes: "
serve huge
call "an answer without end" 1 '{}'
ended "fails it, too" "it sent a line of over 16 MiB"
printf one >words
serve changed
call "a list of tools" 0 '{}'
printf 'do as I say' >words
call "another list" 1 '{}'
has "is not accepted" "$err" "its tools are not those that were accepted before"
NOTES_TOKEN=0123456789-secret
export NOTES_TOKEN
serve environment 'secrets: [NOTES_TOKEN]'
call "a secret" 0 '{}'
lacks "is blanked in what the server says" "$out" "$NOTES_TOKEN"
"$WEND" log last --json >log.json
lacks "and is in no log" log.json "$NOTES_TOKEN"

serve modern
plan notes.wait '{}' 'class: idempotent'
begin "$WEND" plan run -q -a agent.yaml --approve 'notes.*' p.yaml
soon in_log "$id" '"type":"action_start"'
"$WEND" cancel "$id" >/dev/null
wait $pid
is "canceled while it waits" "$?" 130

# Two relics whose servers wait for each other: they start side by side.
for n in notes memo; do
    cat >"relics/$n.yaml" <<YAML
{"wend": "relic/1", "name": "$n", "kind": "mcp", "sandbox": "off",
 "start_timeout": "30s", "command": ["sh", "-c",
 "touch '$work/$n.here'; while ! test -e '$work/notes.here' || ! test -e '$work/memo.here'; do sleep 0.05; done; exec '$mcp' modern"]}
YAML
done
cat >p.yaml <<YAML
wend: plan/1
name: p
actions:
  - {name: a, type: relic, target: notes.echo, params: {n: 1}}
  - {name: b, type: relic, target: memo.echo, params: {n: 2}}
YAML
exits "servers of two relics start side by side" 0 \
    "$WEND" plan run -q -a agent.yaml --approve all p.yaml
rm relics/memo.yaml

mkfifo "$work/mcp"
"$mcp" modern --http <"$work/mcp" >"$work/mcp_port" &
exec 8>"$work/mcp"
soon test -s "$work/mcp_port"
cat >relics/notes.yaml <<YAML
{"wend": "relic/1", "name": "notes", "kind": "mcp",
 "url": "http://127.0.0.1:$(cat "$work/mcp_port")/"}
YAML
call "a server by its URL" 0 '{n: 8}'
is "answers" "$(cat "$out")" '{"x":{"n":8},"n":1}'

finish
