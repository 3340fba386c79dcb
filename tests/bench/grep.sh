#!/usr/bin/env bash
# grep.sh - the grep tool over this tree, in times of `grep -r`.
#
#     tests/bench/grep.sh WEND PATTERN    prints CPU and wall as ratios
#
# What was built is left out. Both pass over binary files and version control, and print lines with their
# numbers; the files are in memory after a first round. Many calls in one run,
# so that what is measured is the search.
set -eu
wend=$(realpath "$1") pattern=$2
calls=20
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir "$tmp/tree"
tar --exclude=./build --exclude=./.git -cf - . | tar -xf - -C "$tmp/tree"
cd "$tmp/tree"

# The answer must not be cut, or the search would end early: a number that is
# another one each time keeps the calls different.
cat >"$tmp/script.yaml" <<END
turns:
  - calls: [{name: grep, args_text: '{"pattern":"$pattern","max_results":9\${turn}00}'}]
    repeat: $calls
  - text: "\${tool_result}"
END

by_tool() {
    "$wend" run -q --store memory: -m "script:$tmp/script.yaml" hi >"$tmp/ours"
}

by_grep() {
    local i
    for ((i = 0; i < calls; i++)); do
        grep -rnIE --exclude-dir=.git --exclude-dir=.hg --exclude-dir=.svn \
            "$pattern" . >"$tmp/theirs"
    done
}

# Seconds of CPU, and on the clock.
spent() { # COMMAND
    { TIMEFORMAT='%U %S %R'; time "$@" 2>/dev/null; } 2>&1 |
        awk '{ print $1 + $2, $3 }'
}

by_tool
by_grep
# The same lines, or there is nothing to compare.
sed 's,^\./,,' "$tmp/theirs" | LC_ALL=C sort | cut -c 1-300 >"$tmp/want"
LC_ALL=C sort "$tmp/ours" | cut -c 1-300 >"$tmp/got"
cmp -s "$tmp/want" "$tmp/got" || {
    diff "$tmp/want" "$tmp/got" | head -5 >&2
    exit 1
}
ours=$(spent by_tool)
theirs=$(spent by_grep)
echo "$ours $theirs" | awk '{ printf "%.3f %.3f\n", $1 / $3, $2 / $4 }'
