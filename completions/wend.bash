# Completion of wend for bash. 'wend complete' knows what fits: commands,
# options and their values, runs and other names.

_wend()
{
    local i word rest=${COMP_LINE:0:COMP_POINT} words=() line kind front value

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
    front=${words[${#words[@]} - 1]}
    front=${front%"$word"}

    COMPREPLY=()
    {
        read -r kind
        while IFS= read -r line; do
            value=${line%%$'\t'*}
            COMPREPLY+=("${value#"$front"}")
        done
    } < <("${words[0]}" complete "${words[@]:1}" 2>/dev/null)
    case $kind in
    files | dirs)
        compopt -o filenames 2>/dev/null
        [ "$kind" = files ] && i=-f || i=-d
        while IFS= read -r line; do
            COMPREPLY+=("$line")
        done < <(compgen $i -- "$word")
        ;;
    esac
    # A provider or a prefix: more follows.
    if [[ ${#COMPREPLY[@]} = 1 && ${COMPREPLY[0]} == *[:=] ]]; then
        compopt -o nospace 2>/dev/null
    fi
}

complete -F _wend wend
