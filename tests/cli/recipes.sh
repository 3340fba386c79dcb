#!/usr/bin/env bash
# recipes.sh - follows the recipes of CONTRIBUTING.md in a copy of the tree: an
# event, a tool, a provider and a command are added, built and used.
#
# One build without optimisation; FOLLOW_WITHOUT=N leaves out step N, and then
# something must fail.
. "$(dirname "$0")/follow.sh"
top=$(realpath "$test_dir/../..")

mkdir "$work/tree"
if git -C "$top" ls-files --error-unmatch Makefile >/dev/null 2>&1; then
    git -C "$top" ls-files -z --cached --others --exclude-standard
else
    (cd "$top" && find . \( -path ./build -o -path ./.git \) -prune -o \
        -type f -print0)
fi | (cd "$top" && tar cf - --null --ignore-failed-read -T -) |
    tar xf - -C "$work/tree"

# wend_agent.h gets only words in comments: no reason to compile all again.
export EXTRA_CFLAGS='-O0 -g0' MAKEFLAGS="-j$(nproc) -o include/wend_agent.h"
follow "$top/CONTRIBUTING.md" "$work/tree"
cd "$work" || exit 2
finish
