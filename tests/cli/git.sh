#!/usr/bin/env bash
# git.sh - what programs may change in repositories: config and hooks only
# where a rule names them.
. "$(dirname "$0")/lib.sh"

export GIT_CONFIG_NOSYSTEM=1
git init -q repo && cd repo || exit 1
use() { # COMMAND OPTIONS...: one call of the shell
    local command=$1
    shift
    run timeout 60 "$WEND" run --json --tool shell --approve shell "$@" \
        -m "script:{\"turns\":[{\"calls\":[{\"name\":\"shell\",\"args\":{\"command\":\"$command\"}}]},{\"text\":\"done\"}]}" hi
}
of_call() { # MEMBER of call_end
    grep '"type":"call_end"' "$out" | tail -1 >line && json line "$(at "data.$1")"
}
remotes() { git config --get-regexp 'remote\..*' | wc -l; }

# Where a mount namespace can be made they are read-only, else put back.
unshare=(unshare -m)
[ "$(id -u)" = 0 ] || unshare=(unshare -Um)
before=$(cat .git/config)
use 'git remote add o /x'
is "a remote: the config is as it was" "$(cat .git/config)" "$before"
of_call output >said
has "a remote: what to do" said 'write_file(.git/*)'
if "${unshare[@]}" true; then
    is "a remote: the call" "$status $(of_call outcome)" "0 failed"
    has "a remote: git says it" said "could not write config file .git/config"
    use 'git config core.fsmonitor evil; git config core.fsmonitor; cat .git/config'
    of_call output >said
    lacks "an option: not even for a moment" said "= evil"
    use 'echo evil >.git/hooks/post-checkout'
    is "a hook is not made" "$(ls .git/hooks | grep -v sample)" ""
else
    echo "# no mount namespace can be made here"
    is "a remote: the call" "$status $(of_call outcome)" "0 ok"
    has "a remote: told" said ".git/config was changed by the program and put back"
    use 'echo evil >.git/hooks/post-checkout'
    is "a hook is set aside" "$(ls .git/hooks | grep -v sample)" \
        post-checkout.refused
fi
use 'git init -q later'
is "a repository made later" "$(ls later/.git/config* | tail -1)" \
    later/.git/config.refused
use 'git remote add o /x' --approve 'write_file(*)' --approve write_file
is "a rule that does not name it" "$(remotes)" 0
use 'git remote add o /x' --approve 'write_file(.git/*)'
is "a rule that names it" "$(remotes)" 2
of_call output >said
lacks "a rule that names it: nothing is told" said "put back"
use 'git init -q new && git clone -q new copy && cat copy/.git/config' \
    --approve 'write_file(.git/*)'
is "git init and clone" "$(of_call outcome) $(git -C copy remote)" "ok origin"
use 'git remote add p /x' --sandbox off
is "without the sandbox" "$(git remote | tr '\n' ' ')" "o p "
finish
