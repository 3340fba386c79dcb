#!/usr/bin/env bash
# complete.sh - what the tab key offers, in the shells themselves.
. "$(dirname "$0")/lib.sh"
top=$(realpath "$test_dir/../..")

commands=$("$WEND" --help | sed -n 's/^  \([a-z]*\)  .*/\1/p')
mkdir -p "$work/bin" "$HOME/.config/wend/agents"
ln -s "$WEND" "$work/bin/wend"
PATH=$work/bin:$PATH
printf 'wend: agent/1\nname: myagent\n' >"$HOME/.config/wend/agents/myagent.yaml"
printf 'wend: plan/1\nactions: []\n' >plan_file.yaml
mkdir some_folder
echo "turns: [{text: hi}]" >echo_file.yaml
words() { wend complete "$@" | sed 1d | cut -f 1; } # WORD...

# ---- Without a store ---------------------------------------------------------------

words log '' >"$out"
is "no store: last" "$(cat "$out")" last
[ ! -e "$WEND_STORE" ] && [ ! -e "$HOME/.local" ]
ok "no store: none is made"

"$WEND" run -q -m "$hello" --user ann --session session-42 "one" >/dev/null
id=$(newest)
"$WEND" run -q -m "$hello" --session 'two words' "spaces" >/dev/null
"$WEND" run -q -m "$hello" --session 'x $(touch pwned)' \
    $'evil \e[31m\t\n prompt' >/dev/null
"$WEND" run -q -m "$hello" --session $'\e]0;title\a' "three" >/dev/null
"$WEND" run -q -m "$hello" --session '`id`' --user "o'hara" "four" >/dev/null

# ---- Every option and every value --------------------------------------------------

# Values that nothing can offer. What is new completes, or has a row here.
free='N DUR USD X SEQ TEXT GOAL HASH ID SERVER KEY=VALUE KEY[=VALUE] K=V
    CALL=TEXT WHEN RULE JSON ADDR ORIGIN --base-url --public-url
    --webhook'
for command in $commands; do
    "$WEND" "$command" --help >help
    is "$command: all options" "$(words "$command" -- | sort | tr '\n' ' ')" \
        "$(grep -oE '^ +(-., )?--[a-z0-9-]+' help | grep -oE -- '--.*' | sort |
            tr '\n' ' ')"
    sed -nE "s/^ +(-., )?--([a-z0-9-]+) ([^ ]+)( .*)?\$/\2 \3 $command/p" \
        help >>values
done
[ "$(wc -l <values)" -ge 100 ]
ok "options with values are found"
dead=$(sort -u -k 1,2 values | while read -r name value command; do
    case " "$(echo $free)" " in
    *" $value "* | *" --$name "*) continue ;;
    esac
    [ "$(wend complete "$command" "--$name" '')" != none ] ||
        echo "$command --$name $value"
done)
is "every value completes, or is free" "$dead" ""
is "commands" "$(words '' | sort | tr '\n' ' ')" \
    "$(printf '%s\n' $commands help --help --version | sort | tr '\n' ' ')"

models_of() { "$WEND" models --json | grep -o "\"$1:[^\"]*" | cut -c 2- | xargs; }
providers=$("$WEND" models nope 2>&1 | sed -n 's/.*one of \([a-z, ]*\).*/\1/p' | tr -d ,)
[ "$(wc -w <<<"$(models_of openai)")" -ge 10 ] && [[ $providers == *lmstudio* ]]
ok "models and providers are found"
while IFS='|' read -r name wanted args; do
    eval "is \"$name\" \"\$(words $args | tr '\n' ' ')\" \"$wanted\""
done <<ROWS
a word of an option|native loom agio cortex ag-ui openai-chat responses ui |run --events ''
the same behind =|--events=loom |run --events=lo
a letter|calculator |run -t cal
letters in a row|calculator |run -qt cal
a letter with its value|last |log -n5 la
behind --|last |log -- la
no option behind --||log -- -
the first argument|show run |plan ''
the third argument|yes no |approve last call ''
too many arguments||log last la
a status|interrupted |runs --status int
types of events|approval_ask approval_answer |log --type approval
tools|glob grep |tools g
help|run runs |help ru
an agent|myagent |run -a my
sessions|two words session-42 |runs --session ''
a session with a space|two words |runs --session 'two w'
a user|ann |runs --user ''
a provider|anthropic: |run -m anth
its models|openai:gpt-4o openai:gpt-4o-mini |run -m openai:gpt-4o
all its models|$(models_of openai) |run -m openai:
behind =|--model=anthropic:claude-fable-5 |run --model=anthropic:claude-f
the same models by another protocol|responses:o3-mini |run -m responses:o3
for a fallback|gemini:gemini-2.5-pro |run --fallback gemini:gemini-2.5-p
providers that can be asked|$providers |models ''
a server of this machine|llamacpp |models lla
a run by its beginning|$id |log $id
a command that is not there||nope ''
ROWS
is "files" "$(wend complete plan show x)" files
is "files behind an option" "$(wend complete run --schema '')" files
is "files of scripts" "$(wend complete run -m script:e)" $'files\tscript:'
is "files of scripts, behind =" "$(wend complete run --model=script:)" \
    $'files\t--model=script:'
mkdir -p "$work/own"
printf '%s\n' 'wend: models/1' 'models:' '- {name: "openai:gpt-5.5"}' \
    '- {name: "openai:own"}' '- {name: "openai:*"}' >"$work/own/models.yaml"
is "those of a file, too, and each once" "$(WEND_MODELS=$work/own/models.yaml \
    words run -m openai: | sort | xargs)" \
    "$(printf '%s\n' $(models_of openai) openai:own | sort | xargs)"
is "folders" "$(wend complete run --record '')" dirs
is "a store that is named" "$(words log --store "$work/none.db" '')" last

# ---- Only the runs that a command can do something with ---------------------------

# One run of each kind, in a store of its own, and a child that failed.
kept="$id $WEND_STORE"
export WEND_STORE=$PWD/kinds.db
fails='script:{"turns":[{"error":{"code":"invalid","message":"no"}}]}'
ends() { "$WEND" run -q "$@" hi >/dev/null 2>&1; newest; } # OPTIONS...
r_failed=$(ends -m "$fails")
r_limit=$(ends --timeout 1ms -m "$held")
begin "$WEND" run -m "$held" hi
kill -INT $pid
wait $pid
r_canceled=$id
printf 'wend: plan/1\nactions: [{name: b, type: tool, target: calculator,
    params: {expression: "1/0"}}]\n' >inner.yaml
printf 'wend: plan/1\nactions: [{name: a, type: workflow, target: inner.yaml}]\n' \
    >outer.yaml
"$WEND" plan run -q outer.yaml >/dev/null 2>&1
r_parent=$(newest)
r_ok=$(ends -m "$hello")
begin "$WEND" run -m "$held" hi
killed
r_interrupted=$id
begin "$WEND" run -t write_file --approve ask -m 'script:{"turns":[{"calls":[
    {"name":"write_file","args":{"path":"a","content":"b"}}]},{"text":"."}]}' hi
r_waiting=$id
soon in_log "$id" approval_ask
waiting_pid=$pid
[ -n "$("$WEND" runs --json | grep '"child":true')" ]
ok "there is a child"
while IFS='|' read -r command wanted; do
    is "$command: runs" "$(words "$command" '' | grep -v '^-' | sort | xargs)" \
        "$(printf '%s\n' $wanted | sort | xargs)"
done <<ROWS
retry|$r_failed $r_limit $r_canceled $r_parent
approve|last $r_waiting
resume|$r_interrupted
continue|$r_interrupted
cancel|last $r_waiting $r_interrupted
ROWS
is "its calls that wait" "$(words approve last '')" call_1
is "every run has a log" "$(words log '' | wc -l)" 9
kinds_rows="wend resume --store kinds.db ${r_interrupted%${r_interrupted#????}}|\
wend resume --store kinds.db $r_interrupted
wend approve --store kinds.db ${r_interrupted%${r_interrupted#????}}|\
wend approve --store kinds.db $r_waiting
wend retry --store kinds.db ${r_failed%?}|wend retry --store kinds.db $r_failed
wend approve --store kinds.db la|wend approve --store kinds.db last
wend approve --store kinds.db last ca|wend approve --store kinds.db last call_1"
read -r id WEND_STORE <<<"$kept"

# ---- Hostile text, and what cannot be read -----------------------------------------

wend complete log '' >"$out" 2>"$err"
is "runs: a line each" "$(wc -l <"$out")" 7
! grep -q $'[\x01-\x08\x0b-\x1f\x7f]' "$out"
ok "runs: no control characters" || cat -v "$out"
is "runs: one tab in a line" "$(grep -c $'\t.*\t' "$out")" 0
for odd in garbage folder config; do
    case $odd in
    garbage) echo "no database" >"$work/odd.db" ;;
    folder) rm "$work/odd.db" && mkdir "$work/odd.db" ;;
    config) echo 'wurst: [' >"$HOME/.config/wend/config.yaml" ;;
    esac
    exits "$odd" 0 env WEND_STORE="$work/odd.db" wend complete log ''
    is "$odd: nothing is said" "$(cat "$err")" ""
    has "$odd: what does not need it is there" "$out" last
done
rm "$HOME/.config/wend/config.yaml"
exits "nothing at all" 0 wend complete

# ---- The shells ----------------------------------------------------------------------

# What is typed before the tab key, and what the line is after it. The shells
# themselves say: bash and zsh on a screen, fish by its command.
rows="wend doc|wend doctor
wend runs --unt|wend runs --until
wend log las|wend log last
wend log ${id%????}|wend log $id
wend runs --status int|wend runs --status interrupted
wend runs --status=int|wend runs --status=interrupted
wend run -t calc|wend run -t calculator
wend run -m anth|wend run -m anthropic:
wend run -m openai:gpt-4o-|wend run -m openai:gpt-4o-mini
wend run -m script:echo_|wend run -m script:echo_file.yaml
wend run --model=script:echo_|wend run --model=script:echo_file.yaml
wend models lms|wend models lmstudio
wend run -a mya|wend run -a myagent
wend runs --session ses|wend runs --session session-42
wend log --type approval_an|wend log --type approval_answer
wend plan sh|wend plan show
wend plan show plan_|wend plan show plan_file.yaml
wend run --schema=plan_|wend run --schema=plan_file.yaml
wend run --record some_|wend run --record some_folder/
$kinds_rows"
spaces='wend runs --session tw|wend runs --session two\ words
wend runs --session=tw|wend runs --session=two\ words
wend runs --session two\\ w|wend runs --session two\ words
wend runs --session "two w|wend runs --session "two words"'

export TERM=xterm
steps() { # the keys for all rows; a line is taken back by ^U
    echo "wait ready>"
    while IFS='|' read -r typed wanted; do
        printf 'keys %s\\t\nwait %s\nkeys \\x15\ngone %s\n' \
            "$typed" "$wanted" "$wanted"
    done <<<"$rows
$spaces"
    printf '%s\n' 'type exit\r'
}
cat >bashrc <<SH
PS1='ready> '
bind 'set bell-style none' 'set enable-bracketed-paste off' 2>/dev/null
. '$top/completions/wend.bash'
SH
on_screen 100x24 "bash --noprofile --rcfile bashrc -i" < <(steps)
is "bash: all rows" $status 0 || cat "$out" "$err" | sed 's/^/# /'

if command -v zsh >/dev/null; then
    mkdir zsh
    cat >zsh/.zshrc <<SH
fpath=('$top/completions' \$fpath)
autoload -U compinit && compinit -u -D
unset zle_bracketed_paste
PS1='ready> '
SH
    on_screen 100x24 "ZDOTDIR=$PWD/zsh zsh -d -i" < <(steps)
    is "zsh: all rows" $status 0 || cat "$out" "$err" | sed 's/^/# /'
else
    skip "completions in zsh" "zsh is not installed"
fi

if command -v fish >/dev/null; then
    fish -N -c "source '$top/completions/wend.fish'
        while read -l typed
            echo (complete -C \$typed | cut -f 1)
        end" <<<"$(cut -d '|' -f 1 <<<"$rows")" >got 2>"$work/complaints"
    while IFS='|' read -r typed wanted; do
        read -r got <&8
        is "fish: '$typed'" "${typed% *} $got" "$wanted"
    done <<<"$rows" 8<got
    is "fish: no complaints" "$(cat "$work/complaints")" ""
else
    skip "completions in fish" "fish is not installed"
fi
kill $waiting_pid
wait $waiting_pid 2>/dev/null
[ ! -e pwned ]
ok "no text of the store was run"
finish
