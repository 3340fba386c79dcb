#!/usr/bin/env bash
# files.sh - the file tools, from outside: found, searched, changed, and what
# a model is told when that cannot be.
. "$(dirname "$0")/lib.sh"

call() { # NAME ARGS [OPTIONS...]: the result is what the run says
    local script="script:{\"turns\":[{\"calls\":[{\"name\":\"$1\",\"args\":$2}]},
{\"text\":\"\${tool_result}\"}]}"
    shift 2
    run "$WEND" run -q -m "$script" "$@" hi
}

all=(-t read_file -t list_dir -t glob -t grep -t write_file -t edit_file
    --approve all)
mkdir -p src/deep .git
printf 'int main(void)\n{\n    return 0;\n}\n' >src/main.c
printf 'void helper(void);\r\n' >src/helper.h
printf 'main in \0 binary\n' >src/data.bin
echo 'main of version control' >.git/config
printf 'no main\nno newline' >src/deep/notes.txt
ln -s /etc/passwd src/passwd
mkfifo pipe

# name | tool | arguments | what is answered
while IFS='|' read -r name tool args wanted; do
    call "$tool" "$args" "${all[@]}"
    is "$name" "$(cat "$out")" "$(printf '%b' "$wanted")"
    is "$name: exit status" "$status" 0
done <<'ROWS'
glob|glob|{"pattern":"**/*.{c,h}"}|src/helper.h\nsrc/main.c
glob beneath|glob|{"pattern":"*.txt","path":"src/deep"}|src/deep/notes.txt
glob: nothing|glob|{"pattern":"*.zig"}|[no matches]
glob: a broken pattern|glob|{"pattern":"[a"}|pattern: [ without ] at byte 1
glob: outside|glob|{"pattern":"*","path":".."}|denied by policy (path): the path leads out of the working directory; no rule for this call can allow it
grep|grep|{"pattern":"\\bmain\\b"}|src/deep/notes.txt:1:no main\nsrc/main.c:1:int main(void)
grep: some files|grep|{"pattern":"main","glob":"*.c"}|src/main.c:1:int main(void)
grep: names of files|grep|{"pattern":"MAIN","ignore_case":true,"files_only":true}|src/deep/notes.txt\nsrc/main.c
grep: lines around|grep|{"pattern":"return","context":1}|src/main.c-2-{\nsrc/main.c:3:    return 0;\nsrc/main.c-4-}
grep: at most|grep|{"pattern":".","max_results":1}|src/deep/notes.txt:1:no main\n[the first 1 are shown; there are more: narrow it down by path, glob or pattern]
grep: a broken pattern|grep|{"pattern":"a("}|pattern: missing closing parenthesis at byte 2
grep: a link that leaves|grep|{"pattern":"root","path":"src/passwd"}|path 'src/passwd' leaves the working directory
grep: a fifo|grep|{"pattern":"x","path":"pipe"}|'pipe' is not a regular file
read_file: near|read_file|{"path":"src/mian.c"}|no such file: 'src/mian.c' (beneath the working directory); did you mean 'src/main.c'?
read_file: a link that leaves|read_file|{"path":"src/passwd"}|path 'src/passwd' leaves the working directory
list_dir: a file|list_dir|{"path":"src/main.c"}|'src/main.c' is not a directory; use read_file
edit_file|edit_file|{"path":"src/main.c","old_string":"return 0","new_string":"return 1"}|replaced 1 place in src/main.c, at line 3
edit_file: again|edit_file|{"path":"src/main.c","old_string":"return 0","new_string":"return 1"}|old_string is not in 'src/main.c'; nearest is line 3: 'return 1;'
edit_file: too often|edit_file|{"path":"src/main.c","old_string":"i","new_string":"j"}|old_string stands in 'src/main.c' 3 times, at lines 1, 1, 1; add text around it until it is unique, or set replace_all
edit_file: all|edit_file|{"path":"src/deep/notes.txt","old_string":"no","new_string":"yes","replace_all":true}|replaced 2 places in src/deep/notes.txt, from line 1 on
edit_file: line ends|edit_file|{"path":"src/helper.h","old_string":"void helper(void);","new_string":"int a;\nint b;"}|replaced 1 place in src/helper.h, at line 1
edit_file: binary|edit_file|{"path":"src/data.bin","old_string":"main","new_string":"x"}|'src/data.bin' is a binary file of 17 bytes
edit_file: a link that leaves|edit_file|{"path":"src/passwd","old_string":"root","new_string":"x"}|path 'src/passwd' leaves the working directory
write_file: a directory|write_file|{"path":"src","content":"x"}|'src' is a directory
ROWS
is "edit_file: in the file" "$(sed -n 3p src/main.c)" "    return 1;"
is "edit_file: all, in the file" "$(head -1 src/deep/notes.txt)" "yes main"
is "edit_file: line ends, in the file" "$(od -c src/helper.h | head -2)" \
    "$(printf 'int a;\r\nint b;\r\n' | od -c | head -2)"
call write_file '{"path":"../evil","content":"x"}' "${all[@]}"
[ ! -e ../evil ]
ok "nothing was written outside"

# Changing a file is asked; nobody is there.
call edit_file '{"path":"src/main.c","old_string":"return 1","new_string":"x"}' \
    -t edit_file
is "edit_file is not allowed by itself" "$(sed -n 3p src/main.c)" "    return 1;"
call grep '{"pattern":"return"}'
is "grep is offered and allowed by itself" "$(cat "$out")" \
    "src/main.c:3:    return 1;"
call glob '{"pattern":"*.c","path":"src"}'
is "glob, too" "$(cat "$out")" "src/main.c"
call grep '{"pattern":"return","path":"./src/../src/main.c"}' \
    --approve '!grep(src/*)'
lacks "a rule sees the file that is meant" "$out" "return 1;"

call grep '{"pattern":"return"}' --approve '!grep(*)'
lacks "a rule counts where the path is left out" "$out" "return 1;"

# A schema that says no.
call grep '{"pattern":"a","path":"src","files":true}'
has "an argument that is not there" "$out" "files"
call edit_file '{"path":"src/main.c","old_string":"","new_string":"x"}' \
    "${all[@]}"
has "an old text that is empty" "$out" "old_string"
exits "tools grep" 0 "$WEND" tools grep
has "tools grep: its schema" "$out" '"additionalProperties": false'
# One rule about a path holds for whatever opens, names or quotes the file.
mkdir -p kept/deep
echo canary-text >kept/canary-name
echo canary-text >kept/deep/canary-deep
echo canary-text >open.txt
ln -s kept/canary-name link
while IFS='|' read -r name tool args; do
    call "$tool" "$args" "${all[@]}"
    cp "$out" "$work/control"
    grep -q canary "$work/control"
    ok "$name: control"
    call "$tool" "$args" --approve '!read_file(./kept/)' "${all[@]}"
    # The rule that a denial names quotes the call, which the model wrote.
    sed -i "s/; --approve '[^']*', given first, allows it//" "$out"
    lacks "$name: nothing of it" "$out" canary-
done <<'ROWS'
read_file|read_file|{"path":"kept/canary-name"}
a path that is not quite right|read_file|{"path":"kept/canary-nam"}
grep|grep|{"pattern":"canary","path":"kept"}
grep in a file|grep|{"pattern":"canary","path":"kept/canary-name"}
names from grep|grep|{"pattern":"canary","path":"kept/deep","files_only":true}
glob|glob|{"pattern":"kept/**"}
glob beneath|glob|{"pattern":"*","path":"kept"}
glob by other words|glob|{"pattern":"k[e]pt/c*"}
list_dir|list_dir|{"path":"kept"}
a link in list_dir|list_dir|{}
where a link leads|read_file|{"path":"link"}
edit_file|edit_file|{"path":"kept/canary-name","old_string":"canarytext","new_string":"x"}
ROWS
call grep '{"pattern":"canary"}' --approve '!read_file(kept/*)' "${all[@]}"
is "grep: the rest is searched" "$(cat "$out")" "open.txt:1:canary-text
[2 left out: a rule denies reading them]"
call glob '{"pattern":"kept/**"}' --approve '!grep(kept/deep/*)' "${all[@]}"
is "glob: the rest is named" "$(cat "$out")" "kept/canary-name
[1 left out: a rule denies reading them]"
call list_dir '{"path":"kept"}' --approve '!read_file(**/canary*)' "${all[@]}"
is "list_dir: the rest is named" "$(cat "$out")" "deep/
[1 left out: a rule denies reading them]"
# Secrets are not quoted by the way.
echo canary-text >kept/.env
call grep '{"pattern":"canary","path":"kept"}' "${all[@]}"
lacks "grep opens no secrets" "$out" .env
has "and says so" "$out" "1 files were not opened"
call grep '{"pattern":"canary","path":"kept/.env"}' "${all[@]}" \
    --approve 'grep(kept/.env)'
is "unless a rule names them" "$(cat "$out")" "kept/.env:1:canary-text"
call grep '{"pattern":"canary","path":"kept"}' "${all[@]}" \
    --approve '?read_file(kept/deep/*)'
lacks "nor what a rule asks about" "$out" canary-deep
finish
