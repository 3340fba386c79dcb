# Completion of wend for fish.

set -l commands run runs log replay tools models agents trust doctor verify export import stats diff
set -l none "not __fish_seen_subcommand_from $commands"
set -l states running waiting paused interrupted ok limit canceled failed
set -l tools calculator read_file list_dir write_file edit_file glob grep http_request shell remember recall search_documents task

complete -c wend -f
complete -c wend -n "$none" -a run -d "run an agent on a prompt"
complete -c wend -n "$none" -a runs -d "list runs, newest first"
complete -c wend -n "$none" -a log -d "the events of a run"
complete -c wend -n "$none" -a replay -d "play a run again as it happened"
complete -c wend -n "$none" -a tools -d "the built-in tools"
complete -c wend -n "$none" -a models -d "windows and prices of models"
complete -c wend -n "$none" -a agents -d "the agents that can be run"
complete -c wend -n "$none" -a trust -d "accept a manifest by its content"
complete -c wend -n "$none" -a doctor -d "what works on this machine"
complete -c wend -n "$none" -a verify -d "check that runs are as they were written"
complete -c wend -n "$none" -a export -d "write a run as one file"
complete -c wend -n "$none" -a import -d "take exported runs into the store"
complete -c wend -n "$none" -a stats -d "what many runs used"
complete -c wend -n "$none" -a diff -d "the first difference of two runs"
complete -c wend -l help -d "show help"

set -l run "__fish_seen_subcommand_from run"
complete -c wend -n "$run" -s a -l agent -r -F -d "the agent"
complete -c wend -n "$run" -l tools -r -F -d "the file of a tool"
complete -c wend -n "$run" -s m -l model -x -d "the model"
complete -c wend -n "$run" -s t -l tool -x -a "$tools" -d "offer a tool"
complete -c wend -n "$run" -l fallback -x -d "a model in its place"
complete -c wend -n "$run" -l base-url -x -d "where the provider's API is"
complete -c wend -n "$run" -l key-file -r -d "a file with the provider's key"
complete -c wend -n "$run" -l http2 -d "speak HTTP/2"
complete -c wend -n "$run" -l model-timeout -x -d "for one answer of the model"
complete -c wend -n "$run" -l ca-file -r -d "certificates to trust"
complete -c wend -n "$run" -l models -r -F -d "windows and prices of models"
complete -c wend -n "$run" -l record -r -F -d "keep the wire's bytes there"
complete -c wend -n "$run" -l playback -r -F -d "answer from there"
complete -c wend -n "$run" -l mcp -x -d "tools of a server"
complete -c wend -n "$run" -l instructions -x -d "what the model is told first"
complete -c wend -n "$run" -l store -r -F -d "where runs are kept"
complete -c wend -n "$run" -l json -d "events as JSON lines"
complete -c wend -n "$run" -l events -x -a "native loom agio" \
    -d "vocabulary of JSON lines"
complete -c wend -n "$run" -l max-turns -x -d "most turns"
complete -c wend -n "$run" -l timeout -x -d "most time"
complete -c wend -n "$run" -l budget-tokens -x -d "most tokens"
complete -c wend -n "$run" -l budget-cost -x -d "most money"
complete -c wend -n "$run" -l parallel -x -d "most tools at once"
complete -c wend -n "$run" -l effort -x -a "default none low medium high" \
    -d "How much it thinks"
complete -c wend -n "$run" -l eager -x -a "safe all off" \
    -d "calls that start early"
complete -c wend -n "$run" -l approve -x -a "ask deny all" \
    -d "what to do with calls"
complete -c wend -n "$run" -l sandbox -x -a "on off" \
    -d "of tools that are programs"
complete -c wend -n "$run" -l schema -r -F -d "JSON Schema of the answer"
complete -c wend -n "$run" -l log-file -r -F -d "append events there"
complete -c wend -n "$run" -s q -l quiet -d "only the answer"
complete -c wend -n "$run" -s v -l verbose -d "say more"

set -l runs "__fish_seen_subcommand_from runs"
complete -c wend -n "$runs" -l json -d "one object a run"
complete -c wend -n "$runs" -l status -x -a "$states" -d "only these"
complete -c wend -n "$runs" -l user -x -d "only this user"
complete -c wend -n "$runs" -l session -x -d "only this session"
complete -c wend -n "$runs" -l agent -x -d "only this agent"
complete -c wend -n "$runs" -l since -x -d "started at most so long ago"
complete -c wend -n "$runs" -s n -l limit -x -d "most runs"
complete -c wend -n "$runs" -l store -r -F -d "where runs are kept"

set -l log "__fish_seen_subcommand_from log"
complete -c wend -n "$log" -s f -l follow -d "go on"
complete -c wend -n "$log" -l from -x -d "begin there"
complete -c wend -n "$log" -l type -x -d "only this type"
complete -c wend -n "$log" -l no-deltas -d "only kept events"
complete -c wend -n "$log" -l json -d "events as JSON lines"
complete -c wend -n "$log" -l events -x -a "native loom agio" \
    -d "vocabulary of JSON lines"
complete -c wend -n "$log" -l store -r -F -d "where runs are kept"
complete -c wend -n "$log" -a last -d "the newest run"

set -l replay "__fish_seen_subcommand_from replay"
complete -c wend -n "$replay" -l speed -x -d "factor"
complete -c wend -n "$replay" -l to -x -d "stop after it"
complete -c wend -n "$replay" -l json -d "events as JSON lines"
complete -c wend -n "$replay" -l events -x -a "native loom agio" \
    -d "vocabulary of JSON lines"
complete -c wend -n "$replay" -l store -r -F -d "where runs are kept"
complete -c wend -n "$replay" -s q -l quiet -d "only the answer"
complete -c wend -n "$replay" -s v -l verbose -d "say more"
complete -c wend -n "$replay" -a last -d "the newest run"

set -l tools "__fish_seen_subcommand_from tools"
complete -c wend -n "$tools" -l json -d "one object a tool"
complete -c wend -n "$tools" -l mcp -x -d "those of a server"
complete -c wend -n "$tools" -l accept -d "and remember them"
complete -c wend -n "$tools" -l sandbox -x -a "on off" -d "of programs"
complete -c wend -n "$tools" -a "$tools"

set -l models "__fish_seen_subcommand_from models"
complete -c wend -n "$models" -l json -d "one object a model"
complete -c wend -n "$models" -l models -r -F -d "the file to read"

set -l agents "__fish_seen_subcommand_from agents"
complete -c wend -n "$agents" -l json -d "one object an agent"

set -l trust "__fish_seen_subcommand_from trust"
complete -c wend -n "$trust" -l list -d "what was accepted"
complete -c wend -n "$trust" -l remove -d "accept it no more"
complete -c wend -n "$trust" -F

set -l doctor "__fish_seen_subcommand_from doctor"
complete -c wend -n "$doctor" -l json -d "one object a check"
complete -c wend -n "$doctor" -l store -r -F -d "the store to look at"
complete -c wend -n "$doctor" -s m -l model -x -d "the model to look at"

set -l verify "__fish_seen_subcommand_from verify"
complete -c wend -n "$verify" -l head -x -d "the hash it must have"
complete -c wend -n "$verify" -l salvage -r -F -d "export what is good"
complete -c wend -n "$verify" -l json -d "one object a run"
complete -c wend -n "$verify" -s q -l quiet -d "only what is damaged"
complete -c wend -n "$verify" -l store -r -F -d "where runs are kept"
complete -c wend -n "$verify" -a last -d "the newest run"

set -l export "__fish_seen_subcommand_from export"
complete -c wend -n "$export" -s o -l output -r -F -d "where to"
complete -c wend -n "$export" -l store -r -F -d "where runs are kept"
complete -c wend -n "$export" -a last -d "the newest run"

set -l import "__fish_seen_subcommand_from import"
complete -c wend -n "$import" -s q -l quiet -d "say nothing"
complete -c wend -n "$import" -l store -r -F -d "where runs are kept"
complete -c wend -n "$import" -F

set -l stats "__fish_seen_subcommand_from stats"
complete -c wend -n "$stats" -l json -d "as one object"
complete -c wend -n "$stats" -l status -x -a "$states" -d "only these"
complete -c wend -n "$stats" -l user -x -d "only this user"
complete -c wend -n "$stats" -l session -x -d "only this session"
complete -c wend -n "$stats" -l agent -x -d "only this agent"
complete -c wend -n "$stats" -l since -x -d "started at most so long ago"
complete -c wend -n "$stats" -s n -l limit -x -d "only the newest"
complete -c wend -n "$stats" -l store -r -F -d "where runs are kept"

set -l diff "__fish_seen_subcommand_from diff"
complete -c wend -n "$diff" -l exact -d "ids and times count, too"
complete -c wend -n "$diff" -l json -d "as one object"
complete -c wend -n "$diff" -s q -l quiet -d "only the exit status"
complete -c wend -n "$diff" -l store -r -F -d "where runs are kept"
complete -c wend -n "$diff" -a last -d "the newest run"
