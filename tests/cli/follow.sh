#!/usr/bin/env bash
# follow.sh - does what a document tells its reader to do. Run alone it tests
# itself.
#
# A document is Markdown. The paragraph before a fenced block says what the
# block is for:
#
#   ... New file `NAME`:                       the block is this file
#   ... In `NAME`, after `TEXT`:               the block goes behind the line of
#                                              the file with TEXT; there is one
#   ... before `TEXT`: / ... instead of `TEXT`:
#
# A block ```console has commands behind `$ `, continued behind `> `, each
# with its whole output; `...` stands for anything. All commands of a document
# run in one shell and succeed. A block ```text is only to be read; any other
# is a mistake.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# Writes NUMBER.kind, .file, .text and .body into the folder for each block.
steps() { # DOCUMENT FOLDER
    awk -v to="$2" '
        function quoted(s, i,    part) { # the i-th `text`
            split(s, part, "`")
            return part[2 * i]
        }
        function put(what, text) {
            print text >(to "/" sprintf("%03d", n) "." what)
            close(to "/" sprintf("%03d", n) "." what)
        }
        /^```/ && !open {
            open = 1
            lang = substr($0, 4)
            body = kind = ""
            if (lang == "console")
                kind = "run"
            else if (said ~ /New file `[^`]+`:$/)
                kind = "new"
            else if (match(said, /In `[^`]+`, (after|before|instead of) `[^`]+`:$/)) {
                said = substr(said, RSTART)
                kind = said
                sub(/^In `[^`]+`, /, "", kind)
                sub(/ .*/, "", kind)
            } else if (lang != "text") {
                print FILENAME ":" FNR ": what is this block for?"
                exit 1
            }
            if (kind == "new")
                sub(/.*New file /, "", said)
            next
        }
        /^```$/ {
            open = 0
            if (kind != "") {
                n++
                put("kind", kind)
                put("file", quoted(said, 1))
                put("text", quoted(said, 2))
                printf "%s", body >(to "/" sprintf("%03d", n) ".body")
                close(to "/" sprintf("%03d", n) ".body")
            }
            said = paragraph = ""
            next
        }
        open { body = body $0 "\n"; next }
        /^$/ { if (paragraph != "") said = paragraph; paragraph = ""; next }
        { paragraph = paragraph (paragraph == "" ? "" : " ") $0 }
        END { if (open) { print FILENAME ": a block has no end"; exit 1 } }
    ' "$1"
}

# Changes one file as a step says; complains about what cannot be done.
edit() { # STEP (without ending) FOLDER
    local kind file
    kind=$(cat "$1.kind") file=$2/$(cat "$1.file")
    if [ "$kind" = new ]; then
        [ ! -e "$file" ] || { echo "$file is there already"; return 1; }
        mkdir -p "$(dirname "$file")" && cp "$1.body" "$file"
        return
    fi
    [ "$(grep -cF -f "$1.text" "$file")" = 1 ] || {
        echo "not one line of $file has: $(cat "$1.text")"
        return 1
    }
    STEP=$1 KIND=$kind awk '
        BEGIN {
            getline text <(ENVIRON["STEP"] ".text")
            while ((getline line <(ENVIRON["STEP"] ".body")) > 0)
                body = body line "\n"
        }
        !index($0, text) { print; next }
        ENVIRON["KIND"] == "after" { print; printf "%s", body }
        ENVIRON["KIND"] == "before" { printf "%s", body; print }
        ENVIRON["KIND"] == "instead" { printf "%s", body }
    ' "$file" >"$1.edited" && cp "$1.edited" "$file"
}

# Splits a console block: COMMAND.cmd and COMMAND.want in the folder.
commands() { # BODY FOLDER
    awk -v to="$2" '
        function file(what) { return to "/" sprintf("%02d", n) "." what }
        /^\$ / {
            n++
            printf "" >file("want")
            print substr($0, 3) >file("cmd")
            next
        }
        !n { print "output before the first command"; exit 1 }
        /^> / { print substr($0, 3) >file("cmd"); next }
        { print >file("want") }' "$1"
}

matches() { # GOT WANTED: files; `...` stands for anything
    local wanted
    wanted=$(sed -e 's/[][\\*?]/\\&/g' -e 's/\.\.\./*/g' "$2")
    # shellcheck disable=SC2053 # a pattern
    [[ $(cat "$1") == $wanted ]]
}

console() { # STEP
    local cmd at
    mkdir "$1.run"
    commands "$1.body" "$1.run" || return
    for cmd in "$1.run"/*.cmd; do
        at=${cmd%.cmd}
        # shellcheck disable=SC1090
        . "$cmd" >"$at.got" 2>&1 </dev/null || {
            echo "status $?: $(cat "$cmd")"
            cat "$at.got"
            return 1
        }
        matches "$at.got" "$at.want" || {
            diff "$at.want" "$at.got" | sed "1i $(head -n 1 "$cmd")"
            return 1
        }
    done
}

# All steps of a document; stops at the first that fails. FOLLOW_WITHOUT=N
# leaves out step N, to see that it is missed.
follow() { # DOCUMENT FOLDER: where its reader stands
    local name=${1##*/} folder at kind step
    folder=$(mktemp -d "$work/steps.XXXXXX")
    steps "$1" "$folder" >"$folder/complaint"
    ok "$name: each block is for something" || {
        sed 's/^/# /' "$folder/complaint"
        return 1
    }
    cd "$2" || return
    for at in "$folder"/*.kind; do
        [ -e "$at" ] || continue # nothing but text
        kind=$(cat "$at") at=${at%.kind}
        step=${at##*/}
        [ "${FOLLOW_WITHOUT:-}" != "$((10#$step))" ] || continue
        if [ "$kind" = run ]; then
            step="$step: $(head -n 1 "$at.body" | cut -c 3-72)"
            console "$at" >"$folder/complaint"
        else
            step="$step: $kind $(cat "$at.file")"
            edit "$at" . >"$folder/complaint"
        fi
        ok "$name: $step" || {
            sed 's/^/# /' "$folder/complaint" | head -n 60
            return 1
        }
    done
}

# ---- Self-test ------------------------------------------------------------------------

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
    verdict() { # DOCUMENT, ~ for a newline and " for a backtick: "ok", or why not
        (
            tr '~"' '\n`' <<<"$1" >"$work/doc.md"
            rm -rf "$work/there"
            mkdir "$work/there"
            printf 'one\ntwo [x]\ntwo\n' >"$work/there/old"
            follow "$work/doc.md" "$work/there" >"$work/said" && echo ok ||
                sed -n 's/^# //p' "$work/said" | head -n 1
        )
    }
    while IFS='|' read -r name document wanted; do
        is "$name" "$(verdict "$document")" "${wanted/DOC/$work/doc.md}"
    done <<'ROWS'
a file and its use|New file "a/b":~~"""c~x~"""~~"""console~$ cat a/b~x~"""|ok
a file that is there|New file "old":~~"""c~x~"""|./old is there already
behind a line|In "old", after "one":~~"""c~new~"""~~"""console~$ head -n 2 old~one~new~"""|ok
before a line|In "old", before "[x]":~~"""c~new~"""~~"""console~$ head -n 3 old~one~new~two [x]~"""|ok
instead of a line|In "old", instead of "one":~~"""c~new~"""~~"""console~$ head -n 2 old~new~two [x]~"""|ok
a paragraph of two lines|Then. In "old",~after "one":~~"""c~new~"""~~"""console~$ head -n 2 old~one~new~"""|ok
two lines have it|In "old", after "two":~~"""c~new~"""|not one line of ./old has: two
no line has it|In "old", after "three":~~"""c~new~"""|not one line of ./old has: three
a block without a purpose|Look:~~"""c~x~"""|DOC:3: what is this block for?
a block to read|Look:~~"""text~x~"""|ok
a block without an end|Look:~~"""text~x|DOC: a block has no end
a command that fails|"""console~$ false~"""|status 1: false
other output|"""console~$ echo a~b~"""|echo a
output that is missing|"""console~$ true~b~"""|true
output that is not expected|"""console~$ echo a~"""|echo a
anything|"""console~$ echo 'a b [c]'; echo d; echo e~a ... [c]~...~"""|ok
not just anything|"""console~$ echo 'a b c'~a ... d~"""|echo 'a b c'
one shell|"""console~$ x=1~$ echo $x \~> 2~1 2~"""|ok
ROWS
    is "a step that is left out" "$(FOLLOW_WITHOUT=1 verdict \
        'New file "a":~~"""c~x~"""~~"""console~$ cat a~x~"""')" "status 1: cat a"
    finish
fi
