#!/usr/bin/env bash
# reflow.sh - a terminal that wraps its lines anew when its size changes (tmux):
# the panel of a run stays one panel.
. "$(dirname "$0")/lib.sh"
command -v tmux >/dev/null || skip_all "tmux is missing: apt-get install tmux"
export LC_ALL=C.UTF-8
unset NO_COLOR TMUX

cat >plan.yaml <<'YAML'
wend: plan/1
name: wide
actions:
  - {name: first, type: llm, mode: async, prompt: one}
  - {name: second, type: llm, mode: async, prompt: two}
  - {name: third, type: llm, mode: async, prompt: three}
YAML
cat >model.yaml <<'YAML'
turns:
  - {text: never, first_delay: 1h, repeat: forever}
YAML

tm() { tmux -S "$work/tmux" -f /dev/null "$@"; }
shown() { tm capture-pane -p -t 0; } # the screen
shows() { shown | grep -q -- "$1"; } # TEXT
sized() { [ "$(tm display -p -t 0 '#{pane_width}')" = "$1" ]; } # WIDTH
over() { tm list-panes -F '#{pane_dead}' 2>/dev/null | grep -q 1; }

# With text above it: what wraps to more rows at the top of the screen leaves it
# there, where nothing can be erased.
tm new-session -d -x 90 -y 24 "cat" \; set -g remain-on-exit on \; \
    set -g window-size manual
ok "a terminal"
tm respawn-pane -k -t 0 \
    "seq -f 'line %g.' 30; $WEND plan run plan.yaml -m script:model.yaml"
soon shows '3 running'
for size in "50 24" "90 24" "45 20" "100 30" "60 24"; do
    set -- $size
    tm resize-window -t 0 -x $1 -y $2
    soon sized $1
    soon shows '3 running'
    sleep 0.4 # at least one paint at that size
    shown | sed '/^$/d' >now
    is "$1 columns, $2 rows: the text, and one bar each" \
        "$(tail -n 5 now | cut -d ' ' -f 1,2 | paste -sd/)" \
        "line 30./first /second /third /0 of"
done
"$WEND" cancel last 2>/dev/null
soon over
shown | sed '/^$/d' >last
is "at the end one bar each" "$(grep -E '^(first|second|third|0 ok)' last |
    cut -c 1-7 | paste -sd/)" "first  /second /third  /0 ok, 3"
has "below the text" last "line 30."

# At the top of the screen, where tmux would keep what is erased.
tm respawn-pane -k -t 0 "$WEND plan run plan.yaml -m script:model.yaml"
tm send-keys -R -t 0 \; clear-history -t 0
soon shows '3 running'
"$WEND" cancel last 2>/dev/null
soon over
tm capture-pane -p -S - -t 0 >last
is "the panel is not kept above the screen" "$(grep -c '^second ' last)" 1

# A chat: its prompt has a row below the cursor, and an answer may be open.
words=$(seq -f 'word%02.0f' 40 | paste -sd ' ')
cat >talks.yaml <<YAML
turns:
  - {when: slow, text: "$words", chunk: 7, delay: 100ms}
  - text: "The answer.\nIts last line."
    usage: {input: 123456, output: 12345}
    repeat: forever
YAML
resize() { # WIDTH
    tm resize-window -t 0 -x $1 -y 24
    soon sized $1
    sleep 0.6 # at least one paint at that size
}
tm respawn-pane -k -t 0 "$WEND chat -m script:talks.yaml"
tm send-keys -R -t 0 \; clear-history -t 0
resize 80
soon shows '^>'
tm send-keys -t 0 hello Enter
soon shows 'tokens'
for columns in 40 20 80 22; do
    resize $columns
    shown | sed '/^$/d' >now
    is "chat, $columns columns: the answer, and one prompt" \
        "$(grep -A 2 '^The answer' now | cut -c 1-14 | sed 's/ *$//' |
            paste -sd/) $(grep -c '^script' now)" \
        "The answer./Its last line./> 1" || sed 's/^/# /' now
done
resize 80
tm send-keys -t 0 slow Enter
soon shows 'word03'
tm send-keys -t 0 draft
soon shows '> draft'
for columns in 50 33 70; do resize $columns; done
soon shows word40
soon shows tokens
tm capture-pane -p -S - -t 0 >last
tr -d ' \n' <last >now
has "chat, resized while it answers: the answer" now "${words// /}" ||
    sed 's/^/# /' last
tm kill-server
finish
