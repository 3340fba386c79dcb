#!/usr/bin/env bash
# docs.sh - what the documents quote is what the code says.
set -u
cd "$(dirname "$0")/../.." || exit 2
checks=0 bad=0

check() { # NAME; the status of the command before counts
    local status=$?
    checks=$((checks + 1))
    if [ $status = 0 ]; then
        echo "ok $checks - $1"
    else
        echo "not ok $checks - $1"
        bad=1
    fi
}

blocks() { # FILE: its C blocks, each ended by a line with ^
    awk '/^```c$/ { on = 1; next } /^```$/ { if (on) print "^"; on = 0 }
         on' "$1"
}

blocks README.md | grep -v '^^$' | diff examples/01_hello.c - >&2
check "README.md shows examples/01_hello.c"

[ "$(blocks STYLE.md | grep -c '^^$')" -ge 13 ]
check "STYLE.md has examples"

block=''
while IFS= read -r line; do
    if [ "$line" != '^' ]; then
        block+=$line$'\n'
        continue
    fi
    first=$(echo "$block" | sed 's/^ *//;1q')
    [[ $(cat tests/unit/base/test_style.c)$'\n' == *"$block"* ]]
    check "STYLE.md quotes test_style.c: $first"
    block=''
done < <(blocks STYLE.md)

for f in README.md ARCHITECTURE.md CONTRIBUTING.md SECURITY.md STYLE.md; do
    # Names of files in `quotes` that have a folder must be there.
    missing=$(grep -o '`[a-z]*/[A-Za-z0-9_./]*`' "$f" 2>/dev/null | tr -d '`' |
        sort -u | while read -r name; do
        case $name in build/* | *NAME*) continue ;; esac
        [ -e "$name" ] || [ -e "src/$name" ] || [ -e "src/$name.c" ] ||
            [ -e "src/$name.h" ] || echo "$name"
    done)
    [ -e "$f" ] && [ -z "$missing" ]
    check "$f names files that are there${missing:+: not $missing}"
done

echo "1..$checks"
exit $bad
