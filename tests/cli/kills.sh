#!/usr/bin/env bash
# kills.sh - commands are killed at random moments, and what they began is
# resumed, killed again, and finished; programs write a ledger outside.
#
# KILLS_TRIALS=N: a trial of one of the kinds in turn. KILLS_SEED repeats the
# moments, as far as the machine allows.
. "$(dirname "$0")/lib.sh"
trials=${KILLS_TRIALS:-10} seed=${KILLS_SEED:-$$}
RANDOM=$seed
kinds=(run plan again fork import)
turns=4

tool() { # NAME CLASS
    cat >"$1.yaml" <<EOF
wend: tool/1
name: $1
description: an effect
class: $2
repeat: ok
command: [sh, -c, 'echo $1 \$WEND_IDEMPOTENCY_KEY >>ledger']
EOF
}
tool pay unsafe
tool put idempotent
pays=$(model pays "turns:
  - calls: [{name: put, args: {}}, {name: pay, args: {}}]
    repeat: $turns
  - text: done")
{
    printf 'wend: plan/1\nname: effects\nactions:\n'
    for ((i = 0; i < turns; i++)); do
        echo "  - {name: put$i, type: tool, target: put, params: {}}"
        # One that a kill cuts off ends as unknown; the plan goes on.
        echo "  - {name: pay$i, type: tool, target: pay, params: {}," \
            "skip_on_error: true}"
    done
} >plan.yaml
effects=(--tools put.yaml --tools pay.yaml --approve all)

# The past that forks share, and the file of imports.
exits "a run that is left alone" 0 "$WEND" run -q "${effects[@]}" -m "$pays" hi
is "its effects" "$(sort -u ledger | wc -l) $(wc -l <ledger)" \
    "$((2 * turns)) $((2 * turns))"
base=$(newest)
"$WEND" export "$base" >"$work/base"
last=$("$WEND" log --json --no-deltas "$base" | wc -l)

command_of() { # KIND: its words are in $words
    case $1 in
    run | again) words=("$WEND" run -q "${effects[@]}" -m "$pays" hi) ;;
    plan) words=("$WEND" plan run -q "${effects[@]}" plan.yaml) ;;
    fork) words=("$WEND" fork -q --at $((RANDOM % (last - 2) + 1)) "$base") ;;
    import) words=("$WEND" import --store "$work/import.db" "$work/base") ;;
    esac
}

# Killed at a random moment, which may be before it began or after its end. How
# long a command of a kind takes is learned from what the kills hit.
declare -A within_ms
killed_within() { # KIND COMMAND...
    local most=${within_ms[$1]:-200} kind=$1 ms
    shift
    ms=$((RANDOM % most))
    "$@" >"$out" 2>"$err" </dev/null &
    pid=$!
    sleep "$((ms / 1000)).$(printf %03d $((ms % 1000)))"
    if kill -KILL $pid 2>/dev/null; then
        kills=$((kills + 1)) within_ms[$kind]=$((most * 5 / 4 + 1))
    else
        within_ms[$kind]=$((most * 3 / 4 + 1))
    fi
    wait $pid 2>/dev/null
}

# Resumed, killed on the way up to three times, and left alone at last; the kind
# `again` is killed there at least once.
finish_run() {
    local i
    [ $kind = again ] && i=1 || i=0
    for ((i += RANDOM % 3; i > 0; i--)); do
        killed_within resume "$WEND" resume -q "$id"
    done
    run timeout 120 "$WEND" resume -q "$id"
    [ $status = 0 ] || grep -q 'is over' "$err"
}

# Effects of the ledger that no log has begun.
unknown() {
    local name key
    while read -r name key; do
        "$WEND" log --json --no-deltas "${key%%/*}" | grep -F -- "$key" |
            grep -q '_start"' || echo "$name $key"
    done <ledger
}

check_import() {
    exits "$name: again" 0 "${words[@]}"
    is "$name: all is there" "$("$WEND" export --store "$work/import.db" \
        "$base" | cksum)" "$(cksum <"$work/base")"
    is "$name: nothing ran" "$(cat ledger)" ""
    exits "$name: verify" 0 "$WEND" verify --store "$work/import.db"
}

check_run() {
    finish_run
    ok "$name: can be finished ($status)" || sed 's/^/# /' "$err"
    is "$name: no unsafe effect twice" "$(grep pay ledger | sort | uniq -d)" ""
    is "$name: no effect without its start in a log" "$(unknown)" ""
    exits "$name: verify" 0 "$WEND" verify "$id"
    # A fork has some of them in the past that it shares.
    [ $kind = fork ] || is "$name: all that may be repeated was done" \
        "$(grep put ledger | sort -u | wc -l)" $turns
}

kills=0 begun=0 repeated=0
for ((t = 0; t < trials; t++)); do
    kind=${kinds[t % ${#kinds[@]}]}
    name="$kind $t"
    before=$(newest)
    rm -f "$work"/import.db*
    : >ledger
    command_of "$kind"
    killed_within "$kind" "${words[@]}"
    id=$(newest)
    if [ $kind = import ]; then
        check_import
    elif [ "$id" != "$before" ]; then
        begun=$((begun + 1))
        check_run
        repeated=$((repeated + $(grep put ledger | sort | uniq -d | wc -l)))
    else
        is "$name: did not begin" "$(cat ledger)" ""
    fi
done
echo "# $trials trials of seed $seed: $kills kills, $begun runs were finished," \
    "$repeated effects repeated"
[ $kills -ge $((trials / 3)) ] && [ $begun -ge $((trials / 5)) ]
ok "kills hit: $kills in $trials trials"
# A kill between an effect and its end in the log is rare.
[ $trials -lt 200 ] || [ $repeated -gt 0 ]
ok "control: effects that may be repeated were, $repeated times"
exits "the whole store" 0 "$WEND" verify
finish
