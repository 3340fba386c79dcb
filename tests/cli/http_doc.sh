#!/usr/bin/env bash
# http_doc.sh - runs all commands of docs/http.md, on a port that is free.
. "$(dirname "$0")/follow.sh"
top=$(realpath "$test_dir/../..")
unset WEND_STORE WEND_TOKEN http_proxy all_proxy

mkdir "$work/bin" "$work/there"
ln -s "$WEND" "$work/bin/wend"
PATH=$work/bin:$PATH

# Where nobody listens just now.
free_port() {
    local port
    for port in $(shuf -i 20000-29999 -n 50); do
        (exec 3<>/dev/tcp/127.0.0.1/"$port") 2>/dev/null || break
    done
    echo "$port"
}
sed "s/127.0.0.1:8791/127.0.0.1:$(free_port)/g" "$top/docs/http.md" \
    >"$work/http.md"
follow "$work/http.md" "$work/there"

# Every route of the table is there, by its last words.
text=$(tr -d '\\\n' <"$top/docs/http.md")
missing=$(sed -nE 's/^ *\{"[A-Z]+", (ID )?"?([^",]*)"?,.*/\1\2/p' \
    "$top/src/serve/route.c" | sed 's/{}/ /g; s/.* //; s,^/,,' | sort -u |
    while read -r words; do
        [[ $text == *"$words"* ]] || echo "$words"
    done)
is "every route has its command" "$missing" ""
finish
