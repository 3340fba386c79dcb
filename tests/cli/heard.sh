#!/usr/bin/env bash
# heard.sh - what was accepted is heard: the owner of a run is killed right
# after the request, many times; the effects are counted in a file outside.
#
# HEARD_TRIALS=N: of each kind.
. "$(dirname "$0")/lib.sh"
trials=${HEARD_TRIALS:-5}

cat >waiter.yaml <<'EOF'
wend: tool/1
name: waiter
description: waits until it may go
class: read
command: [sh, -c, 'while [ ! -e go ]; do sleep 0.02; done']
EOF
cat >pay.yaml <<'EOF'
wend: tool/1
name: pay
description: an effect
class: unsafe
command: [sh, -c, 'echo paid >>ledger']
EOF
pays=$(model pays '{"turns":[{"text":"one","calls":[{"name":"waiter"}]},
{"calls":[{"name":"pay"}]},{"text":"done"}]}')
hears=$(model hears '{"turns":[{"text":"one","calls":[{"name":"waiter"}]},
{"text":"heard","when":"hurry up"},{"text":"nobody spoke"}]}')

# A run that waits in its first call, its owner stopped or not; COMMAND...
# reaches the store, and the owner dies.
orphan() { # MODEL COMMAND...
    local teller script=$1
    shift
    rm -f go ledger
    begin "$WEND" run --tools waiter.yaml --tools pay.yaml --approve all \
        -m "$script" hi
    soon in_log "$id" '"type":"call_start"'
    [ $((RANDOM % 2)) = 0 ] || kill -STOP $pid
    "$WEND" "$@" >told 2>&1 &
    teller=$!
    soon posted
    killed
    wait $teller
    is "$1: accepted" $? 0
    touch go
}
# The request is in the store, or was heard already.
posted() {
    [ -s told ] || ! kill -0 $teller 2>/dev/null ||
        [ "$(sqlite3 "$WEND_STORE" 'SELECT count(*) FROM inbox')" != 0 ] ||
        in_log "$id" '"by":"command"'
}
paid() { cat ledger 2>/dev/null | wc -l; }
times() { "$WEND" log --json "$id" | grep -cF -- "$1"; } # TEXT

for ((i = 0; i < trials; i++)); do
    orphan "$pays" cancel last
    run "$WEND" resume "$id"
    [ $status = 130 ] || grep -q 'is over' "$err" # its owner was faster
    ok "canceled $i ($status)"
    is "canceled $i: no effect" "$(paid)" 0
    is "canceled $i: once" "$(times '"what":"cancel"')" 1

    orphan "$hears" say last hurry up
    exits "said $i" 0 "$WEND" resume "$id"
    has "said $i: heard" "$out" heard
    is "said $i: once" "$(times '"text":"hurry up"')" 1

    orphan "$pays" pause last
    "$WEND" resume "$id" >"$out" 2>"$err" </dev/null &
    pid=$!
    soon in_log "$id" '"type":"run_resume"'
    sleep 0.3
    is "paused $i: it starts nothing" \
        "$(times '"type":"model_start"') $(paid)" "1 0"
    exits "paused $i: goes on" 0 "$WEND" continue "$id"
    wait $pid
    is "paused $i: to its end" "$? $(paid)" "0 1"
done

# In the last moments of a live run: what was applied is in the log, and what
# is not was told to be too late.
ending=$(model ending '{"turns":[{"text":"one two three","chunk":3,
"delay":"40ms"},{"text":"and more","repeat":"forever"}]}')
for ((i = 0; i < trials * 2; i++)); do
    begin "$WEND" run -m "$ending" hi
    soon in_log "$id" '"type":"text_delta"'
    sleep "0.$((RANDOM % 30 + 10))"
    if [ $((i % 2)) = 0 ]; then
        run "$WEND" say "$id" "wait $i"
        what="\"text\":\"wait $i\""
    else
        run "$WEND" cancel "$id"
        what='"what":"cancel"'
    fi
    wait $pid
    [ $status = 0 ] || [ $status = 1 ]
    ok "at the end $i: applied or too late ($status)"
    is "at the end $i: as the log says" "$(times "$what")" $((1 - status))
done
# ---- Senders that are gone --------------------------------------------------------

# What a sender would have been told stays for a while, and then goes with the
# end of another run, a request or a resume.
if command -v sqlite3 >/dev/null; then
    fresh=$(date +%s)000000
    late() { # puts two there: an old one, and one whose sender may still ask
        sqlite3 "$WEND_STORE" "delete from inbox where what = 'late';
            insert into inbox (id, run, what, body)
            select 5, max(id), 'late', '{}' from runs union all
            select $fresh, max(id), 'late', '{}' from runs"
    }
    left() {
        sqlite3 "$WEND_STORE" "select id from inbox where what = 'late'"
    }
    late
    run "$WEND" run -q -m "$hello" hi
    is "the end of a run takes late answers away" "$(left)" "$fresh"
    begin "$WEND" run -m "$held" hi
    late
    exits "a request" 0 "$WEND" say last more
    is "a request takes late answers away" "$(left)" "$fresh"
    killed
    late
    exits "a resume" 0 timeout 60 "$WEND" cancel --force last
    is "a resume takes late answers away" "$(left)" "$fresh"
fi
finish
