#!/usr/bin/env bash
# prompt.sh - prompts from standard input: large, odd and broken ones.
. "$(dirname "$0")/lib.sh"

prompt_of() { # FILE: what run_start says
    head -1 "$1" >first && json first "$(at data.prompt)"
}

printf 'from a pipe' | "$WEND" run --json -m "$hello" >"$out"
is "stdin without an argument" "$? $(prompt_of "$out")" "0 from a pipe"
printf 'from a pipe' | "$WEND" run --json -m "$hello" - >"$out"
is "stdin by -" "$? $(prompt_of "$out")" "0 from a pipe"
printf 'two\nlines\n' | "$WEND" run --json -m "$hello" - >"$out"
is "all bytes of it" "$(head -1 "$out" | grep -o '"prompt":"[^"]*"')" \
    '"prompt":"two\nlines\n"'

for given in "" -; do
    printf 'a\0b' | "$WEND" run --json -m "$hello" $given >"$out" 2>"$err"
    is "NUL: exit status" $? 2
    has "NUL is refused" "$err" "standard input is not text: byte 2 is NUL"
done

printf 'a\377b' | "$WEND" run --json -m "$hello" >"$out"
is "invalid UTF-8: exit status" $? 0
has "invalid UTF-8: U+FFFD" "$out" "\"prompt\":\"a$(printf '\357\277\275')b\""
is "invalid UTF-8: a warning" \
    "$(types "$out" | grep -o 'run_start warning\|turn_start.*warning' |
        wc -l)" 1
seqs_hold "$out"
ok "invalid UTF-8: seq without gaps"
printf 'a\377b' | "$WEND" run -m "$hello" >"$out" 2>"$err"
has "invalid UTF-8: the warning is shown" "$err" "wend: warning: "
printf 'a\377b' | "$WEND" run -q -m "$hello" >"$out" 2>"$err"
is "but not with -q" "$(cat "$err")" ""
exits "invalid UTF-8 in an argument" 0 "$WEND" run -m "$hello" $'a\377b'

# Ten megabytes: kept as a blob, named in run_start, and all in the store.
head -c 10000000 /dev/zero | tr '\0' x >large
"$WEND" run --json -m "$hello" <large >"$out"
is "10 MB: exit status" $? 0
is "10 MB: a blob" "$(head -1 "$out" >first &&
    json first "$(at data.prompt.bytes)||' '||$(at data.prompt.blob)")" \
    "10000000 $(sha256sum large | cut -d' ' -f1)"
is "10 MB: the line is short" "$(($(head -1 "$out" | wc -c) < 10000))" 1
"$WEND" replay --speed 0 --json last | cmp -s - "$out"
ok "10 MB: replay gives the same bytes"
run "$WEND" runs --json --limit 1
is "10 MB: a listing shows its beginning" \
    "$(json "$out" "length($(at prompt))<5000 AND length($(at prompt))>10")" 1

head -c 67108865 /dev/zero | "$WEND" run -m "$hello" >"$out" 2>"$err"
is "over 64 MiB: exit status" $? 2
has "over 64 MiB: said" "$err" "larger than 64 MiB"
finish
