# Completion of wend for bash. Commands, options and tools come from the
# command itself; only the words that some options take are listed here.

_wend()
{
    local wend=${COMP_WORDS[0]} command=${COMP_WORDS[1]} help usage words=
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}

    COMPREPLY=()
    case $prev in
    --eager) words="safe all off" ;;
    --effort) words="default none low medium high" ;;
    --approve) words="ask deny all" ;;
    --events) words="native loom agio cortex" ;;
    --sandbox) words="on off" ;;
    --format) words="text json dot svg html" ;;
    --on-unknown) words="tell stop ask retry verify" ;;
    --status)
        words="running waiting paused interrupted ok limit canceled failed"
        ;;
    -t | --tool) words=$("$wend" tools 2>/dev/null | sed 's/ .*//') ;;
    -a | --agent | --tools | --store | --log-file | --models | --schema | \
        --record | --playback | --salvage | -o | --output | --key-file | \
        --ca-file)
        COMPREPLY=($(compgen -f -- "$cur"))
        return
        ;;
    esac
    if [ -z "$words" ] && [ "$COMP_CWORD" = 1 ]; then
        words="$("$wend" --help 2>/dev/null | sed -n 's/^  \([a-z]*\) .*/\1/p')
               --help --version"
    elif [ -z "$words" ]; then
        help=$("$wend" "$command" --help 2>/dev/null)
        usage=" $(sed -n 's/^usage: //p' <<<"$help" | tr -d '[]') "
        words=$(grep -oE '^ +(-., )?--[a-z0-9-]+' <<<"$help" | grep -o -e '--.*')
        case $usage in
        *" RUN "*) words+=" last" ;;
        *" NAME "*) words+=" $("$wend" tools 2>/dev/null | sed 's/ .*//')" ;;
        *" FILE "*)
            if [[ $cur != -* && ($usage != *"|"* || $prev != "$command") ]]; then
                COMPREPLY=($(compgen -f -- "$cur"))
                return
            fi
            ;;
        esac
        words+=" $(grep -oE '[a-z]+(\|[a-z]+)+' <<<"$usage" | tr '|' ' ')"
    fi
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
}

complete -o default -F _wend wend
