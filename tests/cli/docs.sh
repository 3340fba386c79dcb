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

# Names of files that have a folder: in `quotes`, and of C files anywhere.
named_files() { # FILE
    grep -o '`[a-z]*/[A-Za-z0-9_./]*`' "$1" | tr -d '`'
    grep -oE '\b(base|core|wire|host|super|store|tools|lib|cli|tests)/[a-z0-9_/]+\.[ch]\b' "$1"
}

for f in README.md ARCHITECTURE.md CONTRIBUTING.md SECURITY.md STYLE.md \
    docs/internals/*.md docs/guide/*.md $(find src -name README.md | sort); do
    missing=$(named_files "$f" 2>/dev/null | sort -u | while read -r name; do
        case $name in build/* | *NAME*) continue ;; esac
        [[ $(tr '\n' ' ' <"$f") != *"New file \`"?(src/)"$name\`:"* ]] || continue
        [ -e "$name" ] || [ -e "src/$name" ] || [ -e "src/$name.c" ] ||
            [ -e "src/$name.h" ] || echo "$name"
    done)
    [ -e "$f" ] && [ -z "$missing" ]
    check "$f names files that are there${missing:+: not $missing}"
done

# Pages about rooms. name() is a function or macro of the tree: its definition,
# declaration or #define begins a line.
pages=$(find docs/internals -name '*.md' ! -name README.md ! -name laws.md |
    sort)
functions=$(mktemp)
find src include -name '*.[ch]' -exec grep -hE '^[A-Za-z_#]' {} + |
    grep -oE '[a-z][a-z0-9_]*\(|HOOK\([a-z_]+|READ\([a-z_]+' |
    sed 's/^[A-Z]*(//; s/($//' | sort -u >"$functions"

unknown_names() { # FILE: its name() that are not in the tree
    comm -13 "$functions" \
        <(grep -oE '\b[a-z][a-z0-9_]*\(\)' "$1" | tr -d '()' | sort -u)
}

# Lines of pictures, lists and tables that name files: one of them has each
# name() of the line. "`name()` in `file`" says it anywhere.
misplaced_names() { # FILE
    {
        grep -E '^(    |  *[-|] |[-|])' "$1" | tr -d '`'
        tr '\n' ' ' <"$1" |
            grep -oE '`[a-z0-9_]+(\(\))?` in +`[a-z0-9_/]+\.[ch]`' |
            sed 's/^`\([a-z0-9_]*\)`/\1()/' | tr -d '`'
    } | while IFS= read -r line; do
        mapfile -t files < <(grep -oE '\b[a-z]+/[a-z0-9_/]+\.[ch]\b' <<<"$line")
        [ ${#files[@]} -gt 0 ] || continue
        grep -oE '\b[a-z][a-z0-9_]*\(\)' <<<"$line" | tr -d '()' |
            while read -r name; do
                grep -qsw -- "$name" "${files[@]/#/src/}" ||
                    echo "$name in ${files[*]}"
            done
    done
}

for f in $pages; do
    missing=$(unknown_names "$f" | tr '\n' ' ')
    [ -z "$missing" ] && grep -qE '\b[a-z0-9_]+\(\)' "$f"
    check "$f names functions that exist${missing:+: not $missing}"
    missing=$(misplaced_names "$f" | tr '\n' ';')
    [ -z "$missing" ]
    check "$f says where functions are${missing:+: not $missing}"
    [ "$(grep -c '^    ' "$f")" -ge 8 ] && grep -qx '## Invariants' "$f" &&
        grep -qx '## Breakpoints' "$f" && grep -qx '## Tests' "$f"
    check "$f has a picture, invariants, breakpoints and tests"
    [ "$(wc -l <"$f")" -le 95 ]
    check "$f has at most 95 lines"
done

for f in docs/internals/*.md; do
    missing=$(grep -oE '\b(test|fuzz)_[a-z0-9_]+(\.c)?\b' "$f" | sort -u |
        while read -r name; do
            [ -n "$(find tests -name "${name%.c}.c")" ] || echo "$name"
        done)
    [ -z "$missing" ]
    check "$f names tests that exist${missing:+: not $missing}"
    [ "$f" = docs/internals/README.md ] ||
        grep -qF "(${f#docs/internals/})" docs/internals/README.md
    check "$f is in the list of docs/internals/README.md"
    missing=$(grep -oE '\]\([a-z-]+\.md\)' "$f" | tr -d '()]' | sort -u |
        while read -r page; do
            [ -e "docs/internals/$page" ] || echo "$page"
        done)
    [ -z "$missing" ]
    check "$f refers to pages that exist${missing:+: not $missing}"
done

rooms() { # those that the index names
    awk -F'|' '/^\| \[/ { print $4 }' docs/internals/README.md |
        grep -oE '`[a-z/]+`' | tr -d '`' | sort -u
}
missing=$(comm -3 <(rooms) <(find src -name '*.c' | sed 's,^src/,,; s,/[^/]*$,,' |
    sort -u) | tr -d '\t' | tr '\n' ' ')
[ -z "$missing" ]
check "each room has its page${missing:+: not $missing}"

# The checks find what is wrong.
page=$(mktemp)
printf '    no_such_function()    core/turn/tt.c\n' >"$page"
printf '%s\n' '- `turn_apply()`, `core/turn/tt.h`: elsewhere' \
    '`emit()` in' '`core/turn/turn.h` is wrong' >>"$page"
[ "$(unknown_names "$page")" = no_such_function ] &&
    [ "$(misplaced_names "$page" | wc -l)" = 3 ]
check "a wrong name, and a name in the wrong file, are found"
rm -f "$page" "$functions"

# What ARCHITECTURE asks to read in thirty minutes.
list=$(awk -F'`' '/^## / { on = /^## Thirty minutes/ } on && /^\| `/ { print $2 }' \
    ARCHITECTURE.md)
# shellcheck disable=SC2086 # one word for each file
lines=$(cat ARCHITECTURE.md $list | wc -l)
[ "$(wc -w <<<"$list")" -ge 5 ] && [ "$lines" -le 2100 ]
check "the reading list has at most 2100 lines ($lines)"

words=$(awk -F'|' '/^## / { on = /^## Glossary/ } on && NF > 3 { print $2 }' \
    ARCHITECTURE.md | tr -d ' ' | tail -n +3)
missing=$(for word in run turn step event input effect call action attempt \
    key class claim epoch lease label relic tape pin gist shell batch driver \
    codec session budget child workplace veil verdict; do
    [ "$(grep -cx "$word" <<<"$words")" = 1 ] || echo "$word"
done)
[ -z "$missing" ]
check "the glossary has each word once${missing:+: not $missing}"

# The names of built-in tools come from one table.
tools=$(sed -n 's/^ *TOOL("\([a-z_]*\)".*/\1/p' src/tools/builtins.c |
    sort)
[ "$(echo "$tools" | wc -l)" -ge 14 ]
check "builtins.c has tools"

lists() { # WHERE TEXT: the text names these tools and no others
    diff <(echo "$tools") <(tr -cs 'a-z_' '\n' <<<"$2" |
        grep -vxE 'and|' | sort -u) >&2
    check "$1 lists the built-in tools"
}

part() { # FILE PATTERN: what \(..\) matches in the file as one line
    tr '\n' ' ' <"$1" | sed -n "s,.*$2.*,\1,p"
}

lists wend_agent.h \
    "$(part include/wend_agent.h 'Adds a built-in tool: \([^.]*\)\.')"
lists README.md "$(part README.md 'built in (\([^)]*\))')"
lists "wend(1)" "$(part docs/man/wend.1 'The built-in tools are \([^.]*\)\.')"

# A provider is more than its codec.
for name in $(sed -n '/define CODECS/,/^$/s/^    X(\([a-z]*\)).*/\1/p' \
    src/wire/model/model.h); do
    missing=$(for f in "tests/unit/wire/model/test_$name.c" \
        "tests/golden/$name" "tests/fuzz/fuzz_$name.c"; do
        [ -e "$f" ] || echo "$f"
    done
    grep -qx "\.Cm $name\( ,\)\?" docs/man/wend.1 || echo "wend(1)"
    part include/wend_agent.h 'one of the providers \(.*\) or "script:FILE"' |
        grep -qw "$name" || echo "wend_agent.h")
    [ -z "$missing" ]
    check "$name has tests and is in the documents${missing:+: not $missing}"
done

# wend-events(7) marks the types that nothing writes.
reserved=$(tools/event-doc | awk '/^\.Ss/ { name = $2 } /^Reserved:/ {
    print name }' | tr '\n' ' ')
[ "$reserved" = "retrieval_start retrieval_hit retrieval_end \
branch_start branch_end progress " ]
check "wend-events(7): reserved are $reserved"

# wend(3) has every public function, with its comment.
page=$(tools/header-doc)
check "header-doc writes wend(3)"
missing=$(cat include/wend.h include/wend_[!s]*.h include/wend_store.h \
    include/wend_server.h |
    grep -ohE '^WEND_API .*\(' | grep -oE 'wend_[a-z_]+\(' | tr -d '(' |
    while read -r name; do
        [[ $page == *".Fn $name \""* ]] || echo "$name"
    done)
[ -z "$missing" ]
check "wend(3) has all functions${missing:+: not $missing}"

copy=$(mktemp -d)
cp -r tools include docs examples "$copy"
printf '\nWEND_API int wend_bare(void);\n' >>"$copy/include/wend_store.h"
"$copy/tools/header-doc" >/dev/null 2>"$copy/err"
[ $? = 1 ] && grep -q 'no comment for.*wend_bare' "$copy/err"
check "header-doc refuses a function without a comment"
rm -rf "$copy"

echo "1..$checks"
exit $bad
