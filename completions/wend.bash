# Completion of wend for bash.

_wend()
{
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
    local commands="run runs log replay tools models agents trust doctor verify
                    export import stats diff resume cancel say pause continue
                    approve plan prune view fork rm blob" words=
    local command=${COMP_WORDS[1]}
    local tools="calculator read_file list_dir glob grep write_file edit_file
                 http_request shell exec remember recall
                 search_documents task"

    COMPREPLY=()
    case $prev in
    --eager) words="safe all off" ;;
    --effort) words="default none low medium high" ;;
    --approve) words="ask deny all" ;;
    --events) words="native loom agio cortex" ;;
    --sandbox) words="on off" ;;
    --format) words="text json dot svg html" ;;
    --on-unknown) words="tell stop ask retry verify" ;;
    -t | --tool) words=$tools ;;
    --status)
        words="running waiting paused interrupted ok limit canceled failed"
        ;;
    -a | --agent | --tools | --store | --log-file | --models | --schema | \
        --record | --playback | --salvage | -o | --output)
        COMPREPLY=($(compgen -f -- "$cur"))
        return
        ;;
    esac
    if [ -z "$words" ] && [ "$COMP_CWORD" = 1 ]; then
        words="$commands --help --version"
    elif [ -z "$words" ]; then
        case $command in
        run)
            words="--agent --tools --model --fallback --http2 --model-timeout --base-url --key-file --ca-file --insecure-http --models
                --record --playback
                --tool --mcp --instructions --store --json --events
                   --max-turns --timeout --budget-tokens --budget-cost
                   --parallel --eager --effort --approve --on-unknown
                   --sandbox --schema --plan
                   --log-file --quiet --verbose --help"
            ;;
        runs)
            words="--json --status --user --session --agent --since --limit
                   --store --help"
            ;;
        log)
            words="--follow --from --seq --type --no-deltas --json --events --store
                   --help last"
            ;;
        replay)
            words="--speed --to --live --json --events --store --trust-store
                   --quiet --verbose --help last"
            ;;
        tools)
            words="--json --mcp --accept --sandbox --ca-file --insecure-http
                   --help $tools"
            ;;
        models) words="--json --models --help" ;;
        agents) words="--json --help" ;;
        trust)
            words="--list --remove --help"
            [[ $cur == -* ]] || { COMPREPLY=($(compgen -f -- "$cur")) && return; }
            ;;
        doctor) words="--json --store --model --help" ;;
        resume)
            words="--jobs --agent --model --fallback --base-url --key-file --ca-file --insecure-http
                   --models --tool --tools --mcp --approve --sandbox --store
                   --max-turns --timeout --budget-tokens --budget-cost
                   --trust-store --accept-loss --json --events --log-file
                   --quiet --verbose --help last"
            ;;
        fork)
            words="--at --result --no-run --agent --model --fallback
                   --base-url --key-file --ca-file --insecure-http --models --tool --tools
                   --mcp --approve --sandbox --max-turns --timeout
                   --budget-tokens --budget-cost --parallel --store
                   --trust-store --json --events --log-file --quiet --verbose --help last"
            ;;
        cancel) words="--force --store --help last" ;;
        say | pause | continue) words="--store --help last" ;;
        approve) words="--always --store --help last yes no" ;;
        verify)
            words="--head --salvage --json --store --quiet --help last"
            ;;
        export)
            words="--output --store --help last"
            ;;
        import)
            words="--store --quiet --help"
            [[ $cur == -* ]] || { COMPREPLY=($(compgen -f -- "$cur")) && return; }
            ;;
        plan)
            words="--set --format --json --tools --mcp --agent --model
                   --base-url --key-file --ca-file --insecure-http --store --events --timeout
                   --budget-tokens --budget-cost --parallel --approve --sandbox
                   --log-file --quiet --verbose --help show run"
            [[ $cur == -* || $prev == plan ]] ||
                { COMPREPLY=($(compgen -f -- "$cur")) && return; }
            ;;
        stats)
            words="--json --status --user --session --agent --since --limit
                   --store --help"
            ;;
        diff)
            words="--exact --json --quiet --store --help last"
            ;;
        prune)
            words="--older-than --dry-run --json --quiet --store --help"
            ;;
        blob)
            words="--output --store --help last"
            ;;
        rm)
            words="--yes --with-forks --quiet --store --help last"
            ;;
        view)
            words="--format --output --store --help last"
            ;;
        esac
    fi
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
}

complete -o default -F _wend wend
