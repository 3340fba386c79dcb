#!/usr/bin/env bash
# ask.sh - approvals on a screen: what a call would do, and the keys that page,
# change and answer it while other output comes.
. "$(dirname "$0")/lib.sh"
export TERM=xterm LC_ALL=C.UTF-8
unset NO_COLOR TMUX VTE_VERSION LESS VISUAL EDITOR

# times TEXT FILE: how many lines have it
times() { grep -c -F -- "$1" "$2"; }

calls() { # FILE CALL...: a script in which the model makes these calls
    local file=$1 list
    shift
    list=$(printf ',%s' "$@")
    echo "{\"turns\":[{\"text\":\"Now.\",\"calls\":[${list:1}]},{\"text\":\"went on\"}]}" \
        >"$file"
}
ask() { # SIZE FILE < STEPS
    on_screen "$1" "$WEND run -t write_file -t edit_file -t shell -t exec -m script:$2 hi"
}

# A pager that says what it got, and waits for a line; an editor.
cat >lesser <<'SH'
cat >paged
echo "secure=$LESSSECURE"
read -r line </dev/tty
SH
cat >editor <<'SH'
cp "$1" edited
sed -i 's/hello/HELLO/' "$1"
SH

# ---- What a call would do ----------------------------------------------------------

seq 1 60 >numbers
new=$(seq 1 60 | sed 's/^\([567]\|30\)$/new \1/' | tr '\n' '#' | sed 's/#/\\n/g')
calls show.json \
    "{\"name\":\"write_file\",\"args\":{\"path\":\"numbers\",\"content\":\"$new\"}}" \
    '{"name":"write_file","args":{"path":"fresh","content":"hello\nworld\u001b[2J\u202e\n"}}' \
    '{"name":"edit_file","args":{"path":"numbers","old_string":"10\n","new_string":"ten\n"}}' \
    '{"name":"shell","args":{"command":"echo a\necho b"}}' \
    '{"name":"exec","args":{"argv":["touch","a b","it'"'"'s","$(touch pwned)"]}}'
PAGER="sh ./lesser" EDITOR="sh ./editor" ask 80x24 show.json <<STEPS
wait allow?
show diff
type v
wait secure=1
run $WEND pause last
sleep 700
show paging
run $WEND continue last
type \\r
wait continued by
wait allow?
show again
type n
wait new file fresh
wait allow?
show fresh.shown
type c
wait would call write_file
wait allow?
show changed
type y
wait edit_file
wait allow?
show edit
type n
wait echo b
wait allow?
show shell
type n
wait touch
wait allow?
show exec
type n
wait went on
STEPS
is "calls: exit status" $status 0
has "write_file: against the file on disk" diff "which changes numbers"
is "write_file: as a diff" "$(sed -n '/@@/,/more/p' diff | head -4 | paste -sd/)" \
    "  @@ -2,9 +2,9 @@/   2/   3/   4"
is "write_file: old and new lines" "$(times '  -5' diff) $(times '  +new 5' diff)" "1 1"
has "write_file: what is left out is counted" diff "more lines"
has "write_file: the rule that always adds" diff "always allows write_file(numbers) here"
has "write_file: the keys" diff "[y]es [n]o [a]lways n[e]ver [c]hange [v]iew"
is "pager: it has all of the diff" "$(times '+new 30' paged) $(wc -l <paged)" "1 24"
has "pager: in colour" paged $'\e[32m+new 30\e[m'
lacks "pager: nothing is painted over it" paging "allow?"
lacks "pager: nor written" paging "paused by"
has "pager: what came meanwhile is told after it" again "paused by"
is "pager: the question is painted again" "$(times 'allow?' again)" 1
has "a new file: said" fresh.shown "which makes a new file fresh, 2 lines"
has "a new file: its text" fresh.shown "  hello"
has "a new file: hostile bytes are visible" fresh.shown "world␛[2J�"
is "changed: a member in each line for the editor" "$(sed -n 2p edited)" '  "path": "fresh",'
has "changed: what will run is shown" changed "  HELLO"
lacks "changed: no rule is offered" changed "always"
is "changed: what ran" "$(head -1 fresh)" HELLO
"$WEND" log --json --type approval_answer last >events
has "changed: the log says by whom" events '"yes":true,"by":"terminal","args":{"path":"fresh","content":"HELLO'
is "changed: only that one" "$(times '"args"' events)" 1
has "edit_file: the change in its place" edit "  -10"
has "edit_file: the new line" edit "  +ten"
has "edit_file: lines around" edit "   11"
is "shell: as it runs" "$(grep -A1 'echo a' shell | paste -sd/)" "  \$ echo a/  > echo b"
has "exec: quoted" exec "  \$ touch 'a b' 'it'\\''s' '\$(touch pwned)'"
[ ! -e pwned ]
ok "no text of a call is run by being shown"
rm -f fresh edited paged

# Ctrl-Z stops the run with the editor, and neither the pager nor the run.
shell="PS1='$ ' exec bash --norc --noprofile -i"
cat >waits <<'SH'
echo "editing"
read -r line </dev/tty
SH
EDITOR="sh ./waits" on_screen 80x24 "$shell" <<STEPS
type '$WEND' run -t write_file -m script:show.json hi\r
wait allow?
type c
wait editing
type \x1a
wait Stopped
type clear; fg\r
wait run -t
type \r
wait allow?
type n
wait new file fresh
wait allow?
type n
wait went on
type exit\r
STEPS
is "an editor is stopped: exit status" $status 0
# The real pager: it moves, runs no programs, gives the screen back.
if command -v less >/dev/null; then
    PAGER=less on_screen 80x12 "$shell" <<STEPS
type '$WEND' run -t write_file -m script:show.json hi\r
wait allow?
type v
wait numbers
show top
type G
wait +new 30
show end
type !
wait available
show secure
type \r\x1a
sleep 500
type q
wait allow?
show again
type n
wait new file fresh
wait allow?
type n
wait went on
type exit\r
STEPS
    is "less: exit status" $status 0
    lacks "less: its first screen is the beginning" top "+new 30"
    lacks "less: nothing is painted over it" end "allow?"
    has "less: it runs no programs" secure "not available"
    lacks "less: Ctrl-Z stops nothing" again Stopped
    is "less: the question is painted again" "$(times 'allow?' again)" 1
else
    skip "less" "less is missing: apt-get install less"
fi

# Ctrl-C in a pager ends the pager, not the run.
calls one.json '{"name":"shell","args":{"command":"true"}}'
PAGER="sh ./lesser" ask 80x24 one.json <<STEPS
wait allow?
type v
wait secure=1
type \\x03
wait allow?
type n
wait went on
STEPS
is "an interrupt in the pager: the run goes on" $status 0

# ---- Small and plain terminals -----------------------------------------------------

calls long.json "{\"name\":\"write_file\",\"args\":{\"path\":\"numbers\",\"content\":\"$(
    seq -f 'a line that is longer than the screen is wide %g' 1 80 | tr '\n' '#' |
        sed 's/#/\\n/g')\"}}"
LC_ALL=C NO_COLOR=1 ask 40x20 long.json <<STEPS
wait allow?
show small
run $WEND pause last
wait paused by
wait allow?
show small2
run $WEND continue last
wait allow?
size 60x16
wait allow?
type n
STEPS
is "40x20: exit status" $status 0
has "40x20: what it is about" small "write_file"
has "40x20: its beginning" small "  @@ -1,60"
has "40x20: what is left out is counted" small "more lines"
has "40x20: the rule" small "always allows"
is "40x20: one question, at the bottom" \
    "$(times 'allow?' small) $(tail -2 small | head -1 | cut -c 1-6)" "1 allow?"
is "40x20: painted again" "$(times 'allow?' small2)" 1
! LC_ALL=C grep -q '[^ -~]' small
ok "C locale: nothing but ASCII"

# Colours, unless NO_COLOR; without a pager all is printed.
if has_terminal; then
    calls one.json '{"name":"edit_file","args":{"path":"numbers","old_string":"1\n2\n","new_string":"x\n"}}'
    at_terminal "$WEND run -t edit_file -m script:one.json hi" 'allow?' n
    has "a diff in colour: what goes" "$out" $'\e[31m-1\e[m'
    has "a diff in colour: what comes" "$out" $'\e[32m+x\e[m'
    at_terminal "NO_COLOR=1 $WEND run -t edit_file -m script:one.json hi" 'allow?' n
    has "NO_COLOR: the diff" "$out" '+x'
    lacks "NO_COLOR: no colour" "$out" $'\e[3'
    TERM=dumb term_begin "$WEND run -t write_file -m script:long.json hi"
    soon shown 'allow?' 1 && echo v >&7
    soon shown 'allow?' 2 && echo c >&7
    soon shown 'or nothing:' 1 && echo '{"path":"typed","content":"t"}' >&7
    soon shown 'allow?' 3 && echo y >&7
    term_end
    # Twice as a question, once as a whole, once to be changed.
    is "dumb: view prints all of it" "$(times 'wide 80' "$out")" 4
    is "dumb: changed by a typed line" "$(cat typed)" t
    rm -f typed
fi

# ---- Changes that cannot be -----------------------------------------------------------

calls bad.json '{"name":"write_file","args":{"path":"bad","content":"hello"}}'
cat >editor <<'SH'
case $(cat round) in
1) echo '{"path": "bad",' >"$1" ;;
2) echo '{"path": 7, "content": "x"}' >"$1" ;;
3) echo '{"path": "../bad", "content": "x"}' >"$1" ;;
4) exit 1 ;;
5) : ;;
esac
SH
echo 1 >round
EDITOR="sh ./editor" ask 80x24 bad.json <<STEPS
wait allow?
type c
wait not valid JSON: line
wait allow?
run sh -c 'echo 2 >round'
type c
wait would call
type y
wait not changed: the arguments do not fit
wait allow?
run sh -c 'echo 3 >round'
type c
wait ../bad
type y
wait leads out of
wait allow?
run sh -c 'echo 4 >round'
type c
sleep 300
run sh -c 'echo 5 >round'
type c
sleep 300
show same
type y
wait went on
STEPS
is "bad changes: exit status" $status 0
has "bad changes: asked as it was" same "a new file bad, 1 line"
lacks "bad changes: nothing is changed" same "as you changed"
is "bad changes: it ran as it was" "$(cat bad)" hello
lacks "bad changes: the log has no change" <("$WEND" log --json --type approval_answer last) '"args"'
rm -f bad

# Without an editor a line is typed; what is settled elsewhere meanwhile stays.
calls two.json '{"name":"write_file","args":{"path":"one","content":"1"}}' \
    '{"name":"write_file","args":{"path":"two","content":"2"}}'
ask 80x24 two.json <<STEPS
wait new file one
wait allow?
type c
wait or nothing:
type {"path":"other","content":"o"}\\r
wait new file other
wait allow?
type y
wait new file two
wait allow?
type c
wait or nothing:
type {"path":"late"
run $WEND approve last call_2 no
wait went on
STEPS
is "typed: exit status" $status 0
is "typed: what ran" "$(ls one other two late 2>/dev/null)" other
rm -f other

# ---- Always, in a plan, in the background ------------------------------------------------

cat >plan.yaml <<'YAML'
wend: plan/1
name: p
actions:
  - {name: first, type: tool, target: write_file, params: {path: one, content: x}}
YAML
on_screen 80x24 "$WEND plan run plan.yaml" <<STEPS
wait allow?
show plan
type a
STEPS
is "a plan: exit status" $status 0
has "a plan: the action is named" plan "Action first wants to call write_file, which makes a new file one"
has "always: the rule is shown" plan "always allows write_file(one) here"
is "always: exactly that rule is added" "$(cat "$HOME/.local/share/wend/approvals")" \
    "$PWD"$'\twrite_file(one)'
rm -f one "$HOME/.local/share/wend/approvals"

# Children of a plan ask, also below one another, and again after a kill.
cat >kid.yaml <<'YAML'
wend: agent/1
name: kid
model: 'script:{"turns":[{"calls":[{"name":"write_file","args":{"path":"one","content":"x"}}]},
    {"text":"kid done"}]}'
tools: [write_file]
YAML
cat >deep.yaml <<'YAML'
wend: plan/1
name: deep
actions:
  - {name: inner, type: agent, target: kid.yaml, prompt: x}
YAML
cat >kids.yaml <<'YAML'
wend: plan/1
name: kids
actions:
  - {name: kid1, type: agent, target: kid.yaml, prompt: x}
  - {name: kid2, type: workflow, target: deep.yaml, depends_on: [kid1]}
  - {name: kid3, type: workflow, target: plan.yaml, depends_on: [kid2]}
YAML
begin "$WEND" plan run --approve ask kids.yaml
soon grep -q "waiting for approval of write_file" "$err"
killed
on_screen 100x24 "$WEND resume $id" <<'STEPS'
wait allow?
show kid1
sleep 800
type n
wait kid2:
wait allow?
show kid2
sleep 800
type n
wait kid3:
wait allow?
show kid3
sleep 800
type n
STEPS
has "a child: its action is named" kid1 "Action kid1: its model wants to call write_file"
has "a child of a child: all are named" kid2 \
    "Action kid2: action inner: its model wants to call write_file"
has "a child that is a plan: its action is named" kid3 \
    "Action kid3: its action first wants to call write_file"
[ ! -e one ]
ok "children: nothing is written"

on_screen 80x24 "sh -mc '$WEND run -t write_file -m script:bad.json hi & wait'" </dev/null
lacks "the background: nothing is asked" "$out" "allow?"
tr -d '\n' <"$out" >joined
has "the background: the rule that allows it" joined "--approve 'write_file(bad)' allows it"
[ ! -e bad ]
ok "the background: it is not written"
# ---- As lines, while other output comes ------------------------------------------

# The result of the first call comes after the second question, which is then
# asked again below it.
cat >lines.json <<'JSON'
{"turns":[{"calls":[{"name":"write_file","args":{"path":"l1","content":"1"}},
{"name":"write_file","args":{"path":"l2","content":"2"}}]},{"text":"went on"}]}
JSON
TERM=dumb on_screen 120x24 "$WEND run -t write_file -m script:lines.json hi" <<'STEPS'
wait then Enter:
type n\r
wait l2
wait not approved
sleep 1200
show below
type y\r
wait went on
STEPS
is "lines: exit status" $status 0
is "lines: the question is the last line" \
    "$(grep . below | tail -n 1 | grep -c '^allow? .*then Enter:')" 1
is "lines: nothing stands behind a question" "$(grep -c 'Enter: *[>w!]' below)" 0
is "lines: the answer counts" "$(cat l2 l1 2>/dev/null)" 2
finish
