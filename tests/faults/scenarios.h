/*
 * scenarios.h - what the command does while its system calls fail.
 */
#ifndef FAULTS_SCENARIOS_H
#define FAULTS_SCENARIOS_H

#include "play.h"

#define SCRIPT(turns) "script:{\"turns\":[" turns "]}"
#define CALL(name, args) "{\"name\":\"" name "\",\"args\":" args "}"
#define DONE "{\"text\":\"done\"}"
#define TEXT SCRIPT("{\"text\":\"a few words, in pieces\"}")
#define SUM CALL("calculator", "{\"expression\":\"6*7\"}")
#define READ CALL("read_file", "{\"path\":\"a.txt\"}")
#define WRITE CALL("write_file", "{\"path\":\"b.txt\",\"content\":\"x\"}")
#define TASK CALL("task", "{\"agent\":\"kid\",\"prompt\":\"go\"}")
#define FILES SCRIPT("{\"calls\":[" SUM "," READ "," WRITE "]}," DONE)
#define CALCULATES SCRIPT("{\"calls\":[" SUM "]}," DONE)

/* A store with one run that is over. */
#define RAN "$WEND run -q -m '" TEXT "' hi; "

static const struct scenario scenarios[] = {
    {.name = "text", .args = {"run", "-m", TEXT, "hi"}, .run = true},
    {.name = "text as events",
     .args = {"run", "--json", "-m", TEXT, "hi"},
     .json = true,
     .run = true},
    {.name = "tools",
     .prepare = RAN "echo text >a.txt",
     .args = {"run", "--json", "--approve", "all", "-t", "read_file", "-t",
              "calculator", "-t", "write_file", "-m", FILES, "hi"},
     .json = true,
     .run = true},
    {.name = "a program as tool",
     .prepare = RAN "printf '#!/bin/sh\\ncat; echo x >&2; echo y\\n' >t.sh; "
                    "chmod +x t.sh; printf 'wend: tool/1\\nname: t\\n"
                    "description: d\\ncommand: [./t.sh]\\nclass: read\\n' "
                    ">t.yaml",
     .args = {"run", "--json", "--approve", "all", "--tools", "t.yaml", "-m",
              SCRIPT("{\"calls\":[" CALL("t", "{\"a\":1}") "]}," DONE), "hi"},
     .json = true,
     .run = true},
    {.name = "a model over HTTP",
     .prepare = RAN,
     .args = {"run", "--json", "-m", "openai:text:3:8", "--base-url",
              "@SERVER@/v1", "hi"},
     .json = true,
     .run = true},
    {.name = "a server of tools",
     .prepare = RAN,
     .args = {"run", "--json", "--approve", "all", "--mcp", "srv=@MCP@ modern",
              "-m",
              SCRIPT("{\"calls\":[" CALL("srv.echo", "{\"n\":1}") "]}," DONE),
              "hi"},
     .json = true,
     .run = true},
    {.name = "a plan",
     .prepare = RAN "cat >p.yaml <<'END'\n"
                    "wend: plan/1\nname: sums\ninputs: {n: 6}\nactions:\n"
                    "  - {name: a, type: tool, target: calculator, mode: async,"
                    " params: {expression: \"$n*7\"}, output_key: x}\n"
                    "  - {name: d, type: decision, depends_on: [a], cases: "
                    "[{when: \"$x > 41\", then: [c]}, {else: [e]}]}\n"
                    "  - {name: c, type: tool, target: calculator, params: "
                    "{expression: \"$x+1\"}, output_key: y}\n"
                    "  - {name: e, type: tool, target: calculator, params: "
                    "{expression: \"0\"}, output_key: y}\n"
                    "outputs: {y: $y}\nEND\n",
     .args = {"plan", "run", "--json", "p.yaml"},
     .json = true,
     .run = true},
    {.name = "a plan that the model writes",
     .prepare =
         RAN "cat >s.yaml <<'END'\nturns:\n"
             "- {purpose: plan, text: so, calls: [{name: plan, args: {actions: "
             "[{name: a, type: tool, target: calculator, params: {expression: "
             "\"6*7\"}, output_key: x}, {name: c, type: llm, prompt: \"say "
             "$x\", depends_on: [a]}]}}]}\n"
             "- {text: it is}\n- {purpose: plan, text: done}\nEND\n",
     .args = {"run", "--json", "-m", "script:s.yaml", "--plan", "a sum"},
     .json = true,
     .run = true},
    {.name = "resume",
     .prepare = RAN "strace -f -qq -o /dev/null -e "
                    "inject=fdatasync:signal=KILL:when=3 $WEND run -q -m "
                    "'" CALCULATES "' hi || true; "
                    "$WEND runs --json | grep -q interrupted",
     .args = {"resume", "last"},
     .run = true},
    {.name = "fork",
     .prepare = "$WEND run -q -m '" SCRIPT(DONE "," DONE) "' hi",
     .args = {"fork", "last", "and now?"},
     .run = true},
    {.name = "retry",
     .prepare = "$WEND run -q --max-turns 1 -m '" CALCULATES "' hi || true",
     .args = {"retry", "--max-turns", "9", "last"},
     .run = true},
    {.name = "an agent with another one",
     .prepare = RAN
     "cat >kid.yaml <<'END'\nwend: agent/1\nname: kid\nmodel: '" SCRIPT(
         "{\"text\":\"ok\"}") "'\nEND\n"
                              "cat >a.yaml <<'END'\nwend: agent/1\nname: "
                              "a\nagents: [kid.yaml]\n"
                              "tools: [task]\nmodel: '" SCRIPT(
                                  "{\"calls\":[" TASK "]}," DONE) "'\nEND\n",
     .args = {"run", "--json", "--approve", "all", "-a", "a.yaml", "hi"},
     .json = true,
     .run = true},
    {.name = "a model over TLS",
     .prepare = RAN,
     .args = {"run", "--json", "-m", "openai:text:3:8", "--base-url",
              "@TLS@/v1", "--ca-file", "@CA@", "hi"},
     .ca = "@CA@",
     .json = true,
     .run = true},
    {.name = "record",
     .prepare = RAN,
     .args = {"run", "--json", "-m", "openai:text:3:8", "--base-url",
              "@SERVER@/v1", "--record", "tape", "hi"},
     .then = {"run", "-q", "-m", "openai:text:3:8", "--base-url", "@SERVER@/v1",
              "--playback", "tape", "hi"},
     .json = true,
     .run = true},
    {.name = "playback",
     .prepare = RAN "$WEND run -q -m openai:text:3:8 --base-url $SERVER/v1 "
                    "--record tape hi",
     .args = {"run", "--json", "-m", "openai:text:3:8", "--base-url",
              "@SERVER@/v1", "--playback", "tape", "hi"},
     .json = true,
     .run = true},
    {.name = "view",
     .prepare = RAN,
     .args = {"view", "--format", "html", "-o", "out.html", "last"},
     .file = "out.html"},
    {.name = "runs", .prepare = RAN RAN, .args = {"runs", "--json"}},
    {.name = "runs with a text",
     .prepare = RAN RAN,
     .args = {"runs", "--json", "--grep", "words"}},
    {.name = "stats", .prepare = RAN, .args = {"stats"}},
    {.name = "diff", .prepare = RAN, .args = {"diff", "last", "last"}},
    {.name = "list of tools",
     .prepare = RAN,
     .args = {"tools", "--json", "--mcp", "srv=@MCP@ modern"}},
    {.name = "replay",
     .prepare = RAN,
     .args = {"replay", "--speed", "0", "--json", "last"}},
    {.name = "log", .prepare = RAN, .args = {"log", "last"}},
    {.name = "export to a file",
     .prepare = RAN,
     .args = {"export", "-o", "out.jsonl", "last"},
     .file = "out.jsonl"},
    {.name = "export", .prepare = RAN, .args = {"export", "last"}},
    {.name = "import",
     .prepare = RAN "$WEND export -o in.jsonl last; rm -f wend.db*",
     .args = {"import", "in.jsonl"}},
    {.name = "verify", .prepare = RAN, .args = {"verify"}},
    {.name = "prune",
     .prepare = RAN RAN,
     .args = {"prune", "--yes", "--older-than", "1ms"}},
};
enum { SCENARIOS = sizeof scenarios / sizeof *scenarios };

/* The control: what must be noticed, and as what. It is said to be done, and
 * it is not; or something else happens. */
static const struct {
    const char *name, *scenario;
    struct fault fault;
    const char *flaw;
    double bound; /* seconds until it is a hang; 0: as ever */
} planted[] = {
    {"output that is lost",
     "text",
     {"output", "LOST", 0, false, NULL},
     "exit status 0, but another output",
     0},
    {"a page that is lost",
     "tools",
     {"pwrite64", "", 0, false, "retval=8192"},
     "verify: 74",
     0},
    {"a crash",
     "text",
     {"fdatasync", "", 0, false, "signal=SEGV"},
     "killed by signal 11",
     0},
    {"the abort of libc's nss_database, after an allocation of ours",
     "text",
     {"malloc", "NSS", 0, false, NULL},
     "killed by signal 6",
     0},
    {"a hang",
     "text",
     {"fdatasync", "", 0, false, "delay_enter=30000000"},
     "it has not ended",
     2},
};
enum { PLANTED = sizeof planted / sizeof *planted };

#endif
