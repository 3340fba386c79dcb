# Completion of wend for bash. 'wend complete' knows what fits: commands,
# options and their values, runs and other names.

_wend()
{
    local i word rest=${COMP_LINE:0:COMP_POINT} words=() line kind front value
    local full before quote=

    # Words as wend sees them: bash also cuts them at = and :.
    for ((i = 0; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [[ $rest == [[:space:]]* || $i = 0 ]]; then
            rest=${rest#"${rest%%[![:space:]]*}"}
            words+=("")
        fi
        [ ${#word} -le ${#rest} ] || word=$rest
        words[${#words[@]} - 1]+=$word
        rest=${rest#"$word"}
    done
    # Readline replaces only what is behind the last = or :.
    case $word in
    = | :) word= ;;
    esac
    full=${words[${#words[@]} - 1]}
    front=${full%"$word"}
    case $word in
    [\'\"]*) quote=${word:0:1} word=${word:1} ;; # readline keeps it
    esac
    words[${#words[@]} - 1]=${front//\\/}${word//\\/}

    COMPREPLY=()
    {
        IFS=$'\t' read -r kind before # the name of a file
        while IFS= read -r line; do
            value=${line%%$'\t'*}
            value=${value#"${front//\\/}"}
            [ "$quote" ] || value=${value// /\\ }
            COMPREPLY+=("$value")
        done
    } < <("${words[0]}" complete "${words[@]:1}" 2>/dev/null)
    case $kind in
    files | dirs)
        compopt -o filenames 2>/dev/null
        [ "$kind" = files ] && i=-f || i=-d
        while IFS= read -r line; do
            line=$before$line
            COMPREPLY+=("${line#"$front"}")
        done < <(compgen $i -- "${full#"$before"}")
        ;;
    esac
    # A provider or a prefix: more follows.
    if [[ ${#COMPREPLY[@]} = 1 && ${COMPREPLY[0]} == *[:=] ]]; then
        compopt -o nospace 2>/dev/null
    fi
}

complete -F _wend wend
