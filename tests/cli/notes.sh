#!/usr/bin/env bash
# notes.sh - what a model is told about the folder: notes, date and git.
. "$(dirname "$0")/lib.sh"

needs_server
unset http_proxy all_proxy HTTP_PROXY ALL_PROXY
serve_http --log "$work/requests"
export OPENAI_API_KEY=sk-canary-0123456789
base=http://127.0.0.1:$port/=text:1/v1

request() { # [OPTION...]
    : >"$work/requests"
    run "$WEND" run --json -m openai:x --base-url "$base" "$@" hi
    [ $status = 0 ]
}
ask() { # [OPTION...]: the events are in $out, the request is in $work/requests
    request "$@"
    is "exit status: $*" $status 0
}
member() { # PATH: of run_start
    head -1 "$out" >"$work/line" && json "$work/line" "$(at "data.$1")"
}
part() { # NAME MEMBER: of context_end.parts
    grep '"type":"context_end"' "$out" >"$work/line"
    sqlite3 :memory: "SELECT json_extract(value, '\$.$2') FROM
        json_each(readfile('$work/line'), '\$.data.parts')
        WHERE json_extract(value, '\$.name') = '$1'"
}

# ---- The date ------------------------------------------------------------------------

before=$(date +%F)
ask
after=$(date +%F)
case $(member context.date) in
"$before" | "$after") ok "the date is recorded" ;;
*) ! ok "the date is recorded" ;;
esac
has "and sent" "$work/requests" "Date: $(member context.date)"
is "it is a part of the context" "$(part environment priority)" 30
ask --notes off
is "off: nothing is recorded" "$(member context)" "{}"
lacks "off: nothing is sent" "$work/requests" "Date:"

# ---- Notes ---------------------------------------------------------------------------

mkdir -p project/inner
cd project || exit 1
git init -q -b topic .
echo "Use tabs, never $OPENAI_API_KEY." >AGENTS.md
printf 'Inner rules.\n' >inner/CLAUDE.md
cd inner || exit 1
ask --instructions "Be brief."
is "the branch" "$(member context.git.branch)" topic
is "the notes of the repository" "$(member 'context.notes[0].path')" AGENTS.md
is "then those of the folder" "$(member 'context.notes[1].path')" \
    inner/CLAUDE.md
is "the folder is not trusted" "$(member 'context.notes[0].trusted')" 0
has "instructions come first, the notes after them" "$work/requests" \
    'Be brief.\n\nNotes of a project that the user has not trusted.'
has "the notes are marked" "$work/requests" \
    '<notes file=\"inner/CLAUDE.md\">\nInner rules.\n\n</notes>'
has "the branch is sent" "$work/requests" 'Git branch: \"topic\"'
lacks "a key in notes is sent to no model" "$work/requests" "never $OPENAI_API_KEY"
! grep -q "$OPENAI_API_KEY" "$out"
ok "nor recorded"
is "each note is a part" "$(part 'notes inner/CLAUDE.md' priority)" 50

# Strangers' text in the run: sending out what is sensitive needs approval.
secret='script:{"turns":[{"calls":[{"name":"read_file","args":{"path":".env"}}]},
    {"calls":[{"name":"post","args":{}}]},{"text":"done"}]}'
printf 'wend: tool/1\nname: post\ndescription: d\ncommand: [/bin/true]\nlabels: [external_effect]\n' \
    >"$work/post.yaml"
echo K=V >.env
cp .env ..
exfiltrate() { # [OPTION...]
    run "$WEND" run --json -m "$secret" -t read_file --tools "$work/post.yaml" \
        --approve 'read_file(.env)' --approve post "$@" go
    grep '"type":"call_end"' "$out" | tail -1 >"$work/line"
    json "$work/line" "$(at data.outcome)"
}
is "untrusted notes: what would leak needs approval" "$(exfiltrate)" denied
is "without notes it does not" "$(exfiltrate --notes off)" ok

# ---- Changed files -------------------------------------------------------------------

# Git may take too long on a busy machine, and is left out then.
dirty() { # OPTION...: whether a run was told of changed files
    request "$@" && [ -n "$(member context.git.dirty)" ]
}
soon dirty
is "changed files, from the root" "$(member context.git.dirty)" \
    '["?? .env","?? AGENTS.md","?? inner/"]'
has "they are sent" "$work/requests" \
    'Changed files: \"?? .env\", \"?? AGENTS.md\", \"?? inner/\"'
head -1 "$out" >"$work/line"
run_id=$(json "$work/line" "$(at run)")
touch ../newer
: >"$work/requests"
exits "a fork" 0 "$WEND" fork "$run_id" --at 2 --json -m openai:x \
    --base-url "$base"
has "a fork: changed files as they were" "$work/requests" "?? inner/"
lacks "a fork: git is not asked again" "$work/requests" "?? newer"
rm ../newer
ask --sandbox off
is "without the sandbox: no git" "$(member context.git)" '{"branch":"topic"}'
ask --approve '!read_file(.env)'
is "a rule that hides names: no git" "$(member context.git)" \
    '{"branch":"topic"}'
# What a repository says to run does not run.
printf '#!/bin/sh\ntouch ran\n' >../evil && chmod 755 ../evil
git config core.fsmonitor ./evil
soon dirty
[ ! -e ../ran ]
ok "a hostile repository: its program does not run"
git status >"$work/said" 2>&1
[ -e ../ran ]
ok "a hostile repository: control"
git config --unset core.fsmonitor
rm ../ran ../evil

# ---- Trust ---------------------------------------------------------------------------

exits "trust a folder" 0 "$WEND" trust ..
has "trust: what it means" "$out" "notes in it (AGENTS.md, CLAUDE.md, WEND.md)"
ask
is "trusted: recorded" "$(member 'context.notes[1].trusted')" 1
has "trusted: they are the project's" "$work/requests" "Notes of the project:"
lacks "trusted: nothing else is said" "$work/requests" "has not trusted"
exits "trust --list" 0 "$WEND" trust --list
is "trust --list" "$(cat "$out")" "folder   $(cd .. && pwd -P)"
exits "trust --remove" 0 "$WEND" trust --remove ..
ask
is "no longer trusted" "$(member 'context.notes[1].trusted')" 0
printf 'wend: agent/1\n' >../wend.yaml
exits "trust the manifest of the repository" 0 "$WEND" trust ../wend.yaml
ask
is "its notes are trusted with it" "$(member 'context.notes[1].trusted')" 1
exits "trust --remove" 0 "$WEND" trust --remove ../wend.yaml

# ---- Who decides ---------------------------------------------------------------------

printf 'wend: agent/1\nnotes: off\n' >"$work/quiet.yaml"
ask -a "$work/quiet.yaml"
is "notes: off in an agent file" "$(member context)" "{}"
printf 'wend: agent/1\nnotes: maybe\n' >"$work/wrong.yaml"
exits "another word" 2 "$WEND" run -a "$work/wrong.yaml" -m "$hello" hi
has "another word: where" "$err" "wrong.yaml:2:8"
mkdir -p "$HOME/.config/wend"
echo "notes: off" >"$HOME/.config/wend/config.yaml"
ask
is "notes: off in the settings" "$(member context)" "{}"
ask --notes on
is "an option wins" "$(member context.git.branch)" topic
rm "$HOME/.config/wend/config.yaml"

# A model must not write what the next model believes.
write='script:{"turns":[{"calls":[{"name":"write_file","args":{"path":"AGENTS.md",
    "content":"x"}}]},{"text":"done"}]}'
run "$WEND" run --json -t write_file --approve all -m "$write" hi
has "writing notes needs approval" "$out" '"outcome":"denied"'

# ---- What is left out ----------------------------------------------------------------

printf 'a\377b\376c\375d' >CLAUDE.md
ask
has "not UTF-8: a warning" "$out" \
    "notes of the project are left out: inner/CLAUDE.md: it is not UTF-8"
rm CLAUDE.md
ln -s ../.env AGENTS.md
ask
has "a link: a warning" "$out" "inner/AGENTS.md: it is a link to another file"
lacks "a link: it is not sent" "$work/requests" "K=V"
rm AGENTS.md

# ---- Runs of runs --------------------------------------------------------------------

echo "Inner rules." >AGENTS.md
ask
head -1 "$out" >"$work/line"
run_id=$(json "$work/line" "$(at run)")
echo "Other rules." >AGENTS.md
: >"$work/requests"
exits "a fork" 0 "$WEND" fork "$run_id" --at 2 --json -m openai:x \
    --base-url "$base"
has "a fork: the notes as they were" "$work/requests" "Inner rules."
lacks "a fork: not as they are" "$work/requests" "Other rules."
ask --record "$work/tape"
echo "Newer rules." >AGENTS.md
exits "a recording plays, whatever the notes are now" 0 "$WEND" run -q \
    -m openai:x --base-url "$base" --playback "$work/tape" hi
is "and answers" "$(cat "$out")" "0000000 "
finish
