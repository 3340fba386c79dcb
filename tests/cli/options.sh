#!/usr/bin/env bash
# options.sh - what the manual says about commands and options is what the
# command says about itself. Completions: complete.sh.
. "$(dirname "$0")/lib.sh"
top=$(realpath "$test_dir/../..")

commands=$("$WEND" --help | sed -n 's/^  \([a-z]*\)  .*/\1/p')
[ "$(echo "$commands" | wc -l)" -ge 6 ]
ok "--help lists the commands"

man=$top/docs/man/wend.1
# The part of the manual about a command; one with a page of its own has its
# options there.
section_of() { # COMMAND
    local own=$top/docs/man/wend-$1.1
    if [ -e "$own" ]; then
        sed -n '/^\.Sh OPTIONS$/,/^\.S[sh] /p' "$own"
    else
        sed -n "/^\.Ss $1\$/,/^\.S[sh] /p" "$man"
    fi
}
# The options of a command: the letter, the name and whether it takes a value,
# as the help says and as the manual does.
options_of_help() { # the help is in `help`
    sed -nE 's/^ +(-(.), )?--([a-z0-9-]+)( [^ ]+)?(  .*)?$/\2 --\3\4/p' help |
        awk '{ letter = /^ / ? "-" : $1; name = /^ / ? $1 : $2
               value = $0 ~ name " ." ? "VALUE" : ""
               print letter, name, value }' | sort
}
options_of_manual() { # COMMAND
    { section_of "$1" | sed -n 's/^\.It Fl /Fl /p' | awk '
        function out() { if (name) print letter ? letter : "-", name, value
                         name = letter = value = "" }
        { for (i = 1; i <= NF; i++)
              if ($i == "Fl" && $(i + 1) ~ /^-/) {
                  if (name) out()
                  name = "-" $++i
              } else if ($i == "Fl") {
                  out()
                  letter = $++i
              } else if ($i == "Ar" || $i == "Cm")
                  value = "VALUE"
          out() }'
        echo "h --help "; } | sort
}

# A usage as the help has it, of the synopsis in the manual: options that are
# named there stand for [OPTIONS], and then all must be.
usage_of_manual() { # COMMAND
    awk -v command="$1" '
        /^\.Sh SYNOPSIS/ { on = 1 }
        /^\.Sh DESC/ { on = 0 }
        !on { next }
        /^\.Nm/ { mine = 0 }
        /^\.Cm/ && !mine {
            n = split(substr($0, 5), word, " ")
            for (i = 1; i <= n; i += 2)
                mine = mine || word[i] == command
            if (mine && n > 1 && word[2] != "|") { # not two commands
                printf " "
                for (i = 2; i <= n; i++)
                    printf "%s", word[i]
            }
            next
        }
        !mine { next }
        /^\.Op (Ar options|Fl )/ { if (!options++) printf " [OPTIONS]"; next }
        /^\.Op Cm/ { printf " [%s]", $3 $4 $5; next }
        /^\.Op Ar/ { printf " [%s]", toupper($3); next }
        /^\.Ar/ {
            for (i = 2; i <= NF; i++)
                printf " %s", $i == "Fl" ? "-" $++i : toupper($i)
            next
        }
        /^\.Cm/ { printf " %s", $2 $3 $4; next }
        /^\.Fl/ { printf " -%s %s", $2, $4 == "duration" ? "DUR" : toupper($4) }
    ' "$man"
}
named_in_synopsis() { # COMMAND: the options that are named there
    sed -n '/^\.Sh SYNOPSIS/,/^\.Sh DESC/p' "$man" | awk -v command="$1" '
        /^\.Nm/ { mine = 0 }
        /^\.Cm/ && !mine { for (i = 2; i <= NF; i++) mine = mine || $i == command }
        mine && /Fl / { for (i = 2; i <= NF; i++) if ($(i - 1) == "Fl") print "-" $i }
        mine && /Op Ar options/ { print "all" }'
}

# The words of an option; one with the same line in the help of another command
# has the same.
declare -A known
words_of() { # COMMAND OPTION
    local line
    line=$(grep -E -- "^ +(-., )?$2( |\$)" help)
    [ -n "${known[$line]+x}" ] ||
        known[$line]=$("$WEND" complete "$1" "$2" '' | sed 1d | cut -f 1)
    words=${known[$line]}
}

for command in $commands; do
    "$WEND" "$command" --help >help
    is "wend(1): usage of $command" "$(usage_of_manual "$command")" \
        "$(sed -n "s/^usage: wend $command//p" help)"
    options_of_help >wanted
    is "wend(1): options of $command" "$(options_of_manual "$command")" \
        "$(cat wanted)"
    named=$(named_in_synopsis "$command" | sort)
    case $named in
    "" | *all*) ;;
    *)
        is "wend(1): $command has all its options in the synopsis" "$named" \
            "$(awk '$2 != "--help" { print $1 == "-" ? $2 : "-" $1 }' wanted |
                sort)"
        ;;
    esac
    # The words that an option takes are in the manual.
    for name in "$command" run runs; do # "As for run."
        section_of "$name"
    done >section
    text=$(<section) unsaid=
    while read -r name; do
        case $name in # names, which change
        --model | --fallback | --tool | --user | --session | --agent | \
            --after | --type) continue ;;
        esac
        words_of "$command" "$name"
        for word in $words; do
            [[ $text =~ (^|[^[:alnum:]_])$word($|[^[:alnum:]_]) ]] ||
                unsaid+="$name $word "
        done
    done < <(awk '$3 { print $2 }' wanted)
    is "wend(1): $command: the words of options" "$unsaid" ""
done
for command in $(sed -n '/^\.Sh SYNOPSIS/,/^\.Sh DESC/p' "$man" |
    awk '/^\.Cm/ && last == ".Nm" { print $2 } { last = $1 }'); do
    grep -qx "$command" <<<"$commands"
    ok "wend(1): $command is a command"
done
finish
