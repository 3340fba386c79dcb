#!/usr/bin/env bash
# options.sh - what the manual and the completions know about options is what
# the command says about itself.
. "$(dirname "$0")/lib.sh"
top=$(realpath "$test_dir/../..")

options() { # the long options in a text, one a line
    grep -oE -- '--[a-z][a-z-]+' | sort -u
}

commands=$("$WEND" --help | sed -n 's/^  \([a-z]*\)  .*/\1/p')
[ "$(echo "$commands" | wc -l)" -ge 6 ]
ok "--help lists the commands"

line_of() { echo $(sort); } # the lines as one, sorted
tools=$("$WEND" tools --json | sed 's/^{"name":"\([a-z_]*\)".*/\1/' | line_of)

# Completions ask the command that is on the line.
mkdir "$work/bin"
ln -s "$WEND" "$work/bin/wend"
PATH=$work/bin:$PATH
complete_bash() { # LINE
    bash -c ". '$top/completions/wend.bash'"'
        read -ra COMP_WORDS <<<"$0"
        [[ $0 != *" " ]] || COMP_WORDS+=("")
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        _wend
        printf "%s\n" "${COMPREPLY[@]}"' "$1"
}
complete_fish() { # LINE
    fish -N -c "source '$top/completions/wend.fish'; complete -C '$1'"
}
complete_zsh() { # LINE; the functions of its completion system only print
    zsh -f -c '
        words=(${=1}) PREFIX=${${=1}[-1]}
        [[ $1 != *" " ]] || { words+=("") PREFIX= }
        CURRENT=$#words
        _describe() { print -l -- ${${(P)@[-1]}%%:*} }
        compadd() { print -l -- $@ }
        _files() { }
        file=$0
        _wend() { source $file }
        _wend' "$top/completions/_wend" "$1"
}
shells=bash
for shell in fish zsh; do
    if command -v $shell >/dev/null; then
        shells="$shells $shell"
    else
        skip "completions for $shell" "$shell is not installed"
    fi
done

for command in $commands; do
    wanted=$("$WEND" "$command" --help | sed -n 's/^ *\(-.*\)/\1/p' |
        sed 's/   .*//' | options)
    sed -n '/^\.Sh SYNOPSIS/,/^\.Sh DESC/s/^\.Cm //p' "$top/docs/man/wend.1" |
        grep -qw "$command"
    ok "wend(1): $command is in the synopsis"
    is "wend(1): $command" "$(
        { sed -n "/^\.Ss $command\$/,/^\.S[sh] /p" "$top/docs/man/wend.1" |
            sed -n '/^\.It /s/ Fl -/ --/gp'
            echo --help; } | options)" "$wanted"
    for shell in $shells; do
        is "$shell: $command" "$(complete_$shell "wend $command --" \
            2>>"$work/complaints" | options)" "$wanted"
    done
done

# What completes besides options; files that are there are left out.
while IFS='|' read -r line wanted; do
    for shell in $shells; do
        is "$shell: '$line'" "$(complete_$shell "$line" 2>>"$work/complaints" | cut -f 1 |
            grep -xE '[a-z_]+' | line_of)" "$wanted"
    done
done <<ROWS
wend |$(line_of <<<"$commands")
wend log |last
wend approve |last no yes
wend run --events |agio cortex loom native
wend run -t |$tools
wend tools |$tools
ROWS
is "completions complain about nothing" "$(cat "$work/complaints")" ""
finish
