# Completion of wend for fish. 'wend complete' knows what fits: commands,
# options and their values, runs and other names.

function __wend_complete
    set -l before (commandline -opc)
    set -l cur (commandline -ct)
    set -l out ($before[1] complete $before[2..] "$cur" 2>/dev/null)

    switch "$out[1]"
        case files
            __wend_paths $cur __fish_complete_path
        case dirs
            __wend_paths $cur __fish_complete_directories
    end
    test (count $out) -gt 1; and printf '%s\n' $out[2..]
end

# Files behind --option= keep what is before them.
function __wend_paths -a cur how
    set -l front (string match -r -- '^--[^=]*=' $cur)
    $how (string replace -r -- '^--[^=]*=' '' $cur) | string replace -r -- '^' "$front"
end

complete -c wend -f -a '(__wend_complete)'
