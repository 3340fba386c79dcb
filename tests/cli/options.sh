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

for command in $commands; do
    wanted=$("$WEND" "$command" --help | sed -n 's/^ *\(-.*\)/\1/p' |
        sed 's/   .*//' | options)
    is "wend(1): $command" "$(
        { sed -n "/^\.Ss $command\$/,/^\.S[sh] /p" "$top/docs/man/wend.1" |
            sed -n '/^\.It /s/ Fl -/ --/gp'
            echo --help; } | options)" "$wanted"
    is "wend.bash: $command" "$(bash -c "
        . '$top/completions/wend.bash'
        COMP_WORDS=(wend $command --) COMP_CWORD=2
        _wend
        printf '%s\n' \"\${COMPREPLY[@]}\"" | options)" "$wanted"
    is "_wend: $command" "$(
        sed -n "/^$command)/,/;;/p" "$top/completions/_wend" |
            sed 's/\$store/--store/; s/\$json/--json/; s/\$dialect/--events/
                 s/\$talk/--quiet --verbose/' | options)" "$wanted"
    is "wend.fish: $command" "$({
        echo --help
        sed -n "/-n \"\\\$$command\"/s/.* -l \([a-z-]*\).*/--\1/p" \
            "$top/completions/wend.fish"
    } | options)" "$wanted"
done
finish
