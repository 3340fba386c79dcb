#!/usr/bin/env bash
# readme.sh - the command lines of README.md work as they stand there.
. "$(dirname "$0")/lib.sh"
top=$(realpath "$test_dir/../..")
needs_server
serve_http
unset OPENAI_API_KEY http_proxy all_proxy

cp -r "$top/examples" .
FILE=$work/file.yaml
model sum "${sum#script:}" >/dev/null
cat >"$FILE" <<'EOF'
wend: plan/1
name: one
actions:
  - {name: a, type: tool, target: calculator, params: {expression: "6*7"},
     output_key: a}
outputs: {a: $a}
EOF
# For lines without a model: one that also writes plans.
export WEND_MODEL=script:$work/default.script
model default '{"turns":[{"purpose":"plan","calls":[{"name":"plan","args":
    {"actions":[{"name":"a","type":"tool","target":"calculator",
    "params":{"expression":"1"}}]}}]},{"purpose":"plan","text":"Done.","repeat":"forever"},
    {"text":"Hello.","repeat":"forever"}]}' >/dev/null

# What a reader fills in.
filled() { # LINE
    sed -e "s,^wend,'$WEND',; s,| wend,| '$WEND',; s,cat FILE,cat $FILE,
        s,script:FILE,script:$work/sum.script,
        s,\(plan run.*\) FILE,\1 $FILE,; s,openai:NAME,openai:text:3:8,
        s,127.0.0.1:8000,127.0.0.1:$port,; s,127.0.0.1:3001,127.0.0.1:$port,
        s,replay last,replay --speed 0 last," <<<"$1"
}

lines=0
while IFS= read -r line; do
    lines=$((lines + 1))
    case $line in
    *retry*)
        once=$(model once '{"turns":[{"error":{"code":"invalid"}}]}')
        "$WEND" run -q -m "$once" hi 2>/dev/null
        model once '{"turns":[{"text":"Now.","repeat":"forever"}]}' >/dev/null
        ;;
    esac
    run bash -c "$(filled "$line")"
    is "$line" $status 0 || sed 's/^/# /' "$err"
    case $line in
    *--mcp*) has "no such server is a warning" "$err" "web" ;;
    esac
done < <(sed -n 's/^    \(\(cat\|wend\) .*\)/\1/p' "$top/README.md" | sed 's/  *#.*//')
[ $lines -ge 13 ]
ok "README.md has $lines command lines"
finish
