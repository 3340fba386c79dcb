# Completion of wend for fish. Commands, options and tools come from the
# command itself; only the words that some options take are listed here.

function __wend_complete
    set -l before (commandline -opc)
    set -l cur (commandline -ct)
    set -l wend $before[1]

    if test (count $before) = 1
        $wend --help 2>/dev/null | string replace -rf '^  ([a-z]+) +(.*)' '$1\t$2'
        printf '%s\n' --help --version
        return
    end
    switch $before[-1]
        case --eager
            printf '%s\n' safe all off
        case --effort
            printf '%s\n' default none low medium high
        case --approve
            printf '%s\n' ask deny all
        case --events
            printf '%s\n' native loom agio cortex
        case --sandbox
            printf '%s\n' on off
        case --format
            printf '%s\n' text json dot svg html
        case --on-unknown
            printf '%s\n' tell stop ask retry verify
        case --status
            printf '%s\n' running waiting paused interrupted ok limit canceled failed
        case -t --tool
            $wend tools 2>/dev/null | string replace -rf '^([a-z_]+) .*' '$1'
        case -a --agent --tools --store --log-file --models --schema --record \
            --playback --salvage -o --output --key-file --ca-file
            __fish_complete_path $cur
        case '*'
            __wend_complete_command $wend $before[2] $cur
    end
end

function __wend_complete_command -a wend name cur
    set -l help ($wend $name --help 2>/dev/null)
    set -l usage " "(string match -r -- '^usage: .*' $help | string replace -ra '[][]' '')" "

    string replace -rf '^ +(?:-., )?(--[a-z0-9-]+)(?: \S+)?(?: +(.*))?$' '$1\t$2' -- $help
    switch $usage
        case '* RUN *'
            printf '%s\n' last\t"the newest run"
        case '* NAME *'
            $wend tools 2>/dev/null | string replace -rf '^([a-z_]+) .*' '$1'
        case '* FILE *'
            string match -q -- '-*' $cur; or __fish_complete_path $cur
    end
    string match -ra -- '[a-z]+(?:\|[a-z]+)+' $usage | string split '|'
end

complete -c wend -f -a '(__wend_complete)'
