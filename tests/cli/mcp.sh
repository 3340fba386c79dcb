#!/usr/bin/env bash
# mcp.sh - servers of tools named on the command line; the server is
# tests/mcp.
. "$(dirname "$0")/lib.sh"
server=$(dirname "$WEND")/tests/wend-test-mcp
[ -x "$server" ] || make -s -C "$test_dir/../.." VARIANT=asan \
    build/asan/tests/wend-test-mcp >&2

script() { # TOOL ARGS
    echo "script:{\"turns\":[{\"calls\":[{\"name\":\"$1\",\"args\":$2}]},
        {\"text\":\"\${tool_result}\"}]}"
}

# ---- Looking --------------------------------------------------------------------

run "$WEND" tools --mcp "srv=$server modern"
is "tools of a server: status" "$status" 0
has "they are listed" "$out" "srv.echo"
has "with class and category" "$out" "unsafe     general"
has "the first use is told" "$err" "2 tools accepted on first use"
rm -rf "$HOME/.local/share/wend"
run "$WEND" run -m "$hello" --mcp "srv=$server modern" go
has "the first use in a run: its tools are shown" "$err" \
    "mcp srv: + echo: gives back what it gets"
has "the first use in a run: all of them" "$err" "mcp srv: + wait"
run "$WEND" run -m "$hello" --mcp "srv=$server modern" go
is "the second use: nothing is said" "$(cat "$err")" ""
run "$WEND" tools --mcp "srv=$server modern"
is "and not told again" "$(cat "$err")" ""
run "$WEND" tools --mcp "srv=$server modern" srv.echo
has "one of them, with its arguments" "$out" '"type": "object"'
run "$WEND" tools --mcp "srv=$server modern" srv.ecko
is "no such tool: status" "$status" 2
has "no such tool: the near one" "$err" "did you mean 'srv.echo'"
run "$WEND" tools --json --mcp "srv=$server modern"
is "as JSON lines" "$(grep -c '"name":"srv\.' "$out")" 2
is "only its own" "$(wc -l <"$out" | tr -d ' ')" 2
mode=$(stat -c %a "$HOME/.local/share/wend/mcp.pins")
is "what was accepted is the user's alone" "$mode" 600

# ---- Calling --------------------------------------------------------------------

run "$WEND" run -q --approve all -m "$(script srv.echo '{"n":7}')" \
    --mcp "srv=$server modern" go
is "a call" "$(cat "$out")" '{"n":7}'
run "$WEND" run -q --approve 'srv.e*' -m "$(script srv.echo '{"n":8}')" \
    --mcp "srv='$server' \"legacy\"" go
is "a rule about it, a command with quotes" "$(cat "$out")" '{"n":8}'
run "$WEND" run --json -m "$(script srv.echo '{}')" --mcp "srv=$server modern" go
has "without a rule it is not allowed" "$out" '"outcome":"denied"'
has "it is of a server" "$out" '"source":"mcp"'
has "its result is not trusted" "$out" '"untrusted_source"'
run "$WEND" run -q --approve all -m "$(script srv.echo '{}')" \
    --mcp "srv=$server crash" --mcp "two=$server modern" go
is "a server that crashes does not end the run" "$status" 0
has "the model is told" "$out" "the server was lost in the middle"

# ---- Changes --------------------------------------------------------------------

printf one >words
run "$WEND" tools --mcp "srv=$server changed"
is "a server, accepted" "$status" 0
printf 'do as I say' >words
run "$WEND" tools --mcp "srv=$server changed"
[ "$status" != 0 ]
ok "another description is refused"
has "and what to do is said" "$err" \
    "wend tools --accept --mcp 'srv=$server changed'"
has "what it was is shown" "$err" "mcp srv: - echo, description was: one"
has "and what it is" "$err" "mcp srv: + echo, description is: do as I say"
has "the new list can be looked at" "$out" "do as I say"
run "$WEND" tools --mcp "srv=$server changed"
[ "$status" != 0 ]
ok "looking does not accept it"
printf 'one\\nand \\u001b[2J\\u00adhidden' >words
run "$WEND" tools --mcp "srv=$server changed"
bad='?'
has "what hides is made visible" "$err" \
    "description is: one and $bad[2J${bad}hidden"
printf '%0150dEND' 0 >words
run "$WEND" tools --accept --mcp "srv=$server changed"
printf '%0150dEVIL' 0 >words
run "$WEND" tools --mcp "srv=$server changed"
has "of a long text the part that differs is shown" "$err" \
    "description is: ...$(printf "%039d" 0)EVIL"
rm -r "$HOME/.local/share/wend/mcp.pins.d"
run "$WEND" tools --mcp "srv=$server changed"
has "a list that was not kept" "$err" "what differs is not known"
printf 'do as I say' >words
run "$WEND" run --approve all -m "$(script srv.echo '{}')" \
    --mcp "srv=$server changed" go
is "a run goes on without it" "$status" 0
has "and says so" "$err" "its tools are not offered"
has "the model, too" "$out" "srv.echo"
run "$WEND" tools --accept --mcp "srv=$server changed"
is "it is accepted" "$status" 0
has "with the new words" "$out" "do as I say"
run "$WEND" tools --mcp "srv=$server changed"
is "and stays so" "$status" 0
run "$WEND" tools --accept
is "--accept of nothing: status" "$status" 2

# ---- Time ----------------------------------------------------------------------

begun=$SECONDS
run "$WEND" run --timeout 1 -m "$hello" --mcp "a=$server dead" \
    --mcp "b=$server dead" go
is "--timeout: the run goes on without them" "$status" 0
for name in a b; do
    has "--timeout: $name is named" "$err" \
        "mcp $name: the server did not answer initialize within 1 s, the time of the run"
done
[ $((SECONDS - begun)) -lt 9 ]
ok "--timeout: bounds connecting (start_timeout is 10 s)"
cat >start.yaml <<EOF
wend: agent/1
name: slow
model: '$hello'
mcp:
  srv: {command: ['$server', dead], start_timeout: 700ms}
EOF
run "$WEND" run -a ./start.yaml go
is "start_timeout: the run goes on without it" "$status" 0
has "start_timeout: of the agent's file, named" "$err" \
    "mcp srv: the server did not answer initialize within 700 ms (start_timeout)"

# ---- Mistakes -------------------------------------------------------------------

while IFS='|' read -r what text; do
    run "$WEND" run -m "$(script x '{}')" --mcp "$what" go
    is "'$what': status" "$status" 2
    has "'$what': why" "$err" "$text"
done <<'ROWS'
srv|must be NAME=COMMAND or NAME=URL
srv=|must be NAME=COMMAND or NAME=URL
srv= |the command is empty
srv='a b|a quote is left open
a.b=cat|'a.b' is not
ROWS
cat >"$work/chatty.sh" <<'EOF'
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo "line $i" >&2; done
exit 3
EOF
run "$WEND" run -m "$hello" --mcp "srv=sh $work/chatty.sh" go
has "does not start: its last line" "$err" "mcp srv: | line 12"
has "does not start: ten of them" "$err" "mcp srv: | line 3"
lacks "does not start: not more" "$err" "mcp srv: | line 2"
has "does not start: what it could read" "$err" \
    "the sandbox let it read the system's folders, $PWD, $work/chatty.sh; it had no network"
run "$WEND" run -m "$hello" --sandbox off --mcp "srv=sh $work/chatty.sh" go
lacks "does not start: no sandbox, no word about it" "$err" "the sandbox let"

# ---- Events ---------------------------------------------------------------------

# TYPE CODE: the message of such an event, as it stands in the line.
told() {
    sed -n "s/.*\"type\":\"$1\".*\"code\":\"$2\",\"message\":\"\(.*\)/\1/p" "$out"
}

run "$WEND" run --json -m "$hello" --mcp "srv=sh $work/chatty.sh" go
has "does not start: an error event" "$out" '"code":"mcp_connect","message":"mcp srv:'
told warning mcp_said >said
has "does not start: what it said is an event, too" said '\n| line 3\n| line 4\n'
has "does not start: and what it could read" said 'the sandbox let it read'
is "does not start: right after run_start" "$(types "$out" | cut -d' ' -f1-4)" \
    "run_start warning error turn_start"
run "$WEND" run --json -m "$hello" --mcp "srv=http://127.0.0.1:1/" go
told error mcp_connect >said
has "no server listens: an error event" said 'cannot be reached'
printf two >words
run "$WEND" tools --accept --mcp "srv=$server changed"
printf three >words
run "$WEND" run --json -m "$hello" --mcp "srv=$server changed" go
told error mcp_changed >said
has "another list: an error event" said 'not those that were accepted'
run "$WEND" run --json -m "$hello" --mcp "odd=$server odd" go
told warning mcp_tool_left_out >said
has "a tool that is left out: a warning" said "left out: tool 'odd.far'"
run "$WEND" run --json --approve all -m "$(script srv.echo '{}')" \
    --mcp "srv=$server crash" go
told warning mcp_lost >said
has "a lost server: a warning" said 'it is started again'
is "a good server: nothing" \
    "$("$WEND" run --json -m "$hello" --mcp "srv=$server modern" go 2>&1 |
        grep -c '"type":"\(warning\|error\)"')" 0
run "$WEND" run -m "$hello" --mcp "srv=/no/such/program" go
is "a live run says it once" "$(grep -c '/no/such/program' "$err")" 1
run "$WEND" log last
has "and the log has it" "$out" "/no/such/program"
run "$WEND" view last
has "so does the view" "$out" "/no/such/program"
for dialect in agio cortex; do
    run "$WEND" log --events $dialect last
    has "and $dialect" "$out" "/no/such/program"
done
run "$WEND" log --events loom last
is "loom has no word for it" "$status" 0
run "$WEND" verify last
is "and the log is sound" "$status" 0
run "$WEND" run -m "$(script x '{}')" --mcp "srv=/no/such/program" go
is "a program that is not there: the run goes on" "$status" 0
has "and it is told" "$err" "/no/such/program"
run "$WEND" tools --mcp "srv=http://127.0.0.1:1/mcp"
[ "$status" != 0 ]
ok "no server listens: tools has nothing to show"
has "and says who is not there" "$err" "mcp srv: the server cannot be reached"
finish
