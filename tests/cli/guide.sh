#!/usr/bin/env bash
# guide.sh - follows docs/guide as a reader would, in an empty folder for each
# chapter: files are written, programs compiled, commands run, and what they
# print is compared with what the guide shows.
. "$(dirname "$0")/follow.sh"
top=$(realpath "$test_dir/../..")
library=$top/build/release/libwend.so

if [ ! -e "$library" ]; then
    echo "not ok 1 - $library is built"
    echo "$0: build $library first, or run 'make test'" >&2
    exit 1
fi
unset WEND_STORE OPENAI_API_KEY http_proxy https_proxy all_proxy

# What `make install` would have put into the system.
mkdir "$work/bin" "$work/lib"
ln -s "$WEND" "$work/bin/wend"
ln -s "$library" "$work/lib/libwend.so"
ln -s "$library" "$work/lib/libwend.so.0"
printf '%s\n' 'Name: wend' 'Description: agents' 'Version: 0' \
    "Cflags: -I$top/include" \
    "Libs: -L$work/lib -Wl,-rpath,$work/lib -lwend" >"$work/lib/wend.pc"
# Stricter than a reader's compiler.
printf '#!/bin/sh\nexec gcc -Wall -Wextra -Wpedantic -Wshadow -Werror "$@"\n' \
    >"$work/bin/cc"
chmod +x "$work/bin/cc"
export PATH=$work/bin:$PATH PKG_CONFIG_PATH=$work/lib

for chapter in "$top"/docs/guide/${CHAPTER:-0}*.md; do
    name=$(basename "$chapter" .md)
    mkdir -p "$work/$name.home" "$work/$name"
    HOME=$work/$name.home
    follow "$chapter" "$work/$name"
    cd "$work" || exit 2
done
is "chapters" "$(cd "$top/docs/guide" && ls 0*.md | tr '\n' ' ')" \
    "$(grep -oE '\(0[^)]*\.md\)' "$top/docs/guide/README.md" | tr -d '()' |
        tr '\n' ' ')"
finish
