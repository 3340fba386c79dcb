# Completion of wend for fish. 'wend complete' knows what fits: commands,
# options and their values, runs and other names.

function __wend_complete
    set -l before (commandline -opc)
    set -l cur (commandline -ct)
    set -l out ($before[1] complete $before[2..] "$cur" 2>/dev/null)

    # What is before the name of a file stays.
    set -l kind (string split \t -- $out[1])
    set -l path (string sub -s (math 1 + (string length -- "$kind[2]")) -- "$cur")
    switch "$kind[1]"
        case files
            __fish_complete_path "$path" | string replace -r -- '^' "$kind[2]"
        case dirs
            __fish_complete_directories "$path" | string replace -r -- '^' "$kind[2]"
    end
    test (count $out) -gt 1; and printf '%s\n' $out[2..]
end

complete -c wend -f -a '(__wend_complete)'
