# Completion of wend for fish.

set -l commands run runs log replay tools doctor

complete -c wend -f
complete -c wend -n "not __fish_seen_subcommand_from $commands" -a run \
    -d "run an agent on a prompt"
complete -c wend -n "not __fish_seen_subcommand_from $commands" -a runs \
    -d "list runs, newest first"
complete -c wend -n "not __fish_seen_subcommand_from $commands" -a log \
    -d "print the events of a run"
complete -c wend -n "not __fish_seen_subcommand_from $commands" -a replay \
    -d "play a run again as it happened"
complete -c wend -n "not __fish_seen_subcommand_from $commands" -a tools \
    -d "list the built-in tools"
complete -c wend -n "not __fish_seen_subcommand_from $commands" -a doctor \
    -d "say what works on this machine"

complete -c wend -l help -d "show help"
complete -c wend -n "__fish_seen_subcommand_from run runs log replay tools" \
    -l json -d "JSON lines"
complete -c wend -n "__fish_seen_subcommand_from run runs log replay" \
    -l store -r -F -d "where runs are kept"

complete -c wend -n "__fish_seen_subcommand_from run" -s m -l model -x \
    -d "the model"
complete -c wend -n "__fish_seen_subcommand_from run" -s t -l tool -x \
    -a "calculator read_file list_dir write_file" -d "offer a tool"
complete -c wend -n "__fish_seen_subcommand_from run" -l max-turns -x
complete -c wend -n "__fish_seen_subcommand_from run" -l timeout -x
complete -c wend -n "__fish_seen_subcommand_from run" -l budget-tokens -x
complete -c wend -n "__fish_seen_subcommand_from run" -l budget-cost -x
complete -c wend -n "__fish_seen_subcommand_from run" -l parallel -x
complete -c wend -n "__fish_seen_subcommand_from run" -l eager -x \
    -a "safe all off"
complete -c wend -n "__fish_seen_subcommand_from run" -l approve -x \
    -a "ask deny all"
complete -c wend -n "__fish_seen_subcommand_from run" -s q -d "only the answer"
complete -c wend -n "__fish_seen_subcommand_from run" -s v -d "say more"

complete -c wend -n "__fish_seen_subcommand_from runs" -l limit -x
complete -c wend -n "__fish_seen_subcommand_from runs" -l status -x \
    -a "running waiting paused interrupted ok limit canceled failed"
complete -c wend -n "__fish_seen_subcommand_from log replay" -a last
complete -c wend -n "__fish_seen_subcommand_from log" -s f -l follow
complete -c wend -n "__fish_seen_subcommand_from log" -l from -x
complete -c wend -n "__fish_seen_subcommand_from log" -l type -x
complete -c wend -n "__fish_seen_subcommand_from replay" -l speed -x
