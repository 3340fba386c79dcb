#!/usr/bin/env bash
# doctor.sh - tools and doctor.
. "$(dirname "$0")/lib.sh"

exits "tools" 0 "$WEND" tools
for tool in calculator read_file list_dir write_file edit_file glob grep \
    http_request; do
    grep -q "^$tool " "$out"
    ok "tools: $tool"
done
exits "tools NAME" 0 "$WEND" tools write_file
sed -n '/^{/,$p' "$out" >schema
is "tools NAME: its schema" \
    "$(sqlite3 :memory: "SELECT json_valid(readfile('schema'))")" 1
exits "tools --json" 0 "$WEND" tools --json
is "tools --json" "$(json "$out" "$(at name)||' '||$(at class)||' '||
    $(at category)||' '||$(at schema.type)" | head -1)" \
    "calculator read general object"

exits "doctor" 0 "$WEND" doctor
lacks "doctor: nothing fails here" "$out" FAIL
grep -qE '^ok +store' "$out"
ok "doctor: the store"
for check in openat2 landlock seccomp memfd pidfd mounts bounds workspace; do
    grep -qE "^(ok|note) +$check " "$out"
    ok "doctor: $check"
done
exits "doctor --json" 0 "$WEND" doctor --json
is "doctor --json" "$(json "$out" "$(at result)" | grep -c '^ok\|^note')" \
    "$(wc -l <"$out")"
exits "doctor: a store that fails" 1 "$WEND" doctor --store /nowhere/x.db
grep -qE '^FAIL store' "$out"
ok "doctor: says which"
grep -qE '^ +-> ' "$out"
ok "doctor: says what to do"
(cd "$HOME" && "$WEND" doctor) >said
has "doctor: a home folder" said "the working directory is your home directory"
own=$(awk -F: -v uid="$(id -u)" '$3 == uid { print $6; exit }' /etc/passwd)
if [ -d "$own" ] && cd "$own"; then
    "$WEND" doctor >"$work/cwd/said"
    cd "$work/cwd" || exit 2
    has "doctor: the home folder of /etc/passwd" said \
        "the working directory is your home directory"
fi
exits "doctor: a model that fails" 1 "$WEND" doctor -m script:/nowhere
exits "doctor: a model" 0 "$WEND" doctor -m "$hello"
is "doctor leaves no runs" "$("$WEND" runs --json)" ""
finish
