#!/usr/bin/env bash
# resume_ask.sh - runs that are resumed side by side ask one after the other.
. "$(dirname "$0")/lib.sh"

if ! has_terminal; then
    echo "1..0 # SKIP no script(1)"
    exit 0
fi
# With the sandbox off, so that the witness is outside.
printf 'wend: tool/1\nname: mark\ndescription: d\nclass: unsafe\n%s\n' \
    "command: [sh, -c, 'echo done >>$work/marks']" >mark.yaml
calls=$(model calls 'turns:
  - calls: [{name: mark, args: {}}]
  - text: the end')
at_terminal "'$WEND' run --sandbox off --tools mark.yaml -m '$calls' hi" "allow?" n
base=$(newest)
seq=$("$WEND" log --json "$base" | sed -n \
    's/^{"run":"[^"]*","seq":\([0-9]*\),"time":[0-9.]*,"type":"model_end".*/\1/p' |
    head -1)
one=$("$WEND" fork --no-run --at "$seq" "$base")
two=$("$WEND" fork --no-run --at "$seq" "$base")
[ ! -e "$work/marks" ] && [ -n "$one" ] && [ -n "$two" ]
ok "two runs whose call is due"

begun() { # that both runs have been taken up
    in_log "$one" '"type":"approval_ask"' && in_log "$two" '"type":"approval_ask"'
}
term_begin "'$WEND' resume --jobs 2"
soon shown "allow?" 1
soon begun
ok "both wait for an answer at once"
sleep 1
is "one question is shown" "$(grep -aoF 'allow?' "$out" | wc -l)" 1
[ ! -e "$work/marks" ]
ok "no call was made"
echo y >&7
soon shown "allow?" 2
ok "the other one is shown after the answer"
soon test -s "$work/marks"
is "one call was made" "$(wc -l <"$work/marks")" 1
sleep 0.9 # a key that follows a question at once is ignored
echo y >&7
term_end
is "resume: exit status" $status 0
is "both calls were made once" "$(wc -l <"$work/marks")" 2
is "both runs are over" "$("$WEND" runs --json |
    grep -E "$one|$two" | grep -c '"status":"ok"')" 2
finish
