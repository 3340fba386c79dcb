/*
 * mcp_bench.h - an agent in a folder of its own, and the server of tools in
 * tests/mcp.
 */
#ifndef TESTS_MCP_BENCH_H
#define TESTS_MCP_BENCH_H

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "run_help.h"
#include "server_help.h"

/* A folder, an agent in it, and what was said about its servers. */
struct bench {
    struct rig rig;
    char dir[64], program[PATH_MAX], pins[96];
    struct buf notes;
    struct buf told; /* codes of warnings and errors, each after a space */
    pid_t http;      /* 0: none */
    FILE *http_in;
    int port;
};

static inline void on_note(void *ctx, const char *text)
{
    struct bench *b = ctx;

    buf_fmt(&b->notes, "%s\n", text);
}

#define SCRIPT(name, args)                                                 \
    "script:{\"turns\":[{\"calls\":[{\"name\":\"" name "\",\"args\":" args \
    "}]},{\"text\":\"over\"}]}"

static inline bool bench_open(struct bench *b, const char *script)
{
    const char *tmp = getenv("TMPDIR");
    char *slash;

    memset(b, 0, sizeof *b);
    b->notes.mem = b->told.mem = &rig_mem;
    snprintf(b->dir, sizeof b->dir, "%s/wend-mcp-XXXXXX",
             tmp && strlen(tmp) < 32 ? tmp : "/tmp");
    if (!mkdtemp(b->dir))
        return false;
    snprintf(b->pins, sizeof b->pins, "%s/d/mcp.pins", b->dir);
    server_program(b->program);
    slash = strrchr(b->program, '/');
    snprintf(slash + 1, 32, "wend-test-mcp");
    b->rig.agent_options.cwd = b->dir;
    b->rig.agent_options.loop_off = true; /* scripts repeat themselves */
    b->rig.agent_options.approve = WEND_APPROVE_ALL;
    return rig_open(&b->rig, NULL, script);
}

static inline void bench_close(struct bench *b)
{
    char command[128];
    int status;

    rig_close(&b->rig);
    if (b->http) {
        fclose(b->http_in);
        waitpid(b->http, &status, 0);
    }
    snprintf(command, sizeof command, "rm -rf '%s'", b->dir);
    if (system(command))
        printf("# %s stays\n", b->dir);
    buf_free(&b->notes);
    buf_free(&b->told);
}

static inline bool bench_http(struct bench *b, const char *mode)
{
    int in[2], out[2];
    char line[32] = "";
    FILE *f;

    if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
        return false;
    b->http = fork();
    if (!b->http) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        if (chdir(b->dir) == 0)
            execl(b->program, b->program, mode, "--http", (char *)NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    b->http_in = fdopen(in[1], "w");
    f = fdopen(out[0], "r");
    if (!fgets(line, sizeof line, f))
        line[0] = 0;
    fclose(f);
    b->port = atoi(line);
    return b->port > 0;
}

static inline wend_status bench_add(struct bench *b, const char *mode,
                                    bool http, wend_mcp_options o)
{
    const char *command[] = {b->program, mode, NULL};
    char url[64];

    o.size = sizeof o;
    if (!o.name)
        o.name = "srv";
    o.pins_file = b->pins;
    o.note = on_note;
    o.note_ctx = b;
    b->rig.err.message[0] = 0;
    if (!http) {
        o.command = command;
    } else if (!b->http && !bench_http(b, mode)) {
        return WEND_E_NOTFOUND;
    } else {
        snprintf(url, sizeof url, "http://127.0.0.1:%d/mcp", b->port);
        o.url = url;
    }
    return wend_agent_add_mcp(b->rig.agent, &o, &b->rig.err);
}

/* Runs, and says of each call how it ended: `outcome: output`, one a line. */
static inline void bench_run(struct bench *b, struct buf *ends)
{
    const wend_event *e;
    wend_run *run = NULL;

    if (wend_run_start(b->rig.agent, STR("go"), NULL, &run, &b->rig.err))
        return;
    while (wend_run_next(run, &e) == WEND_OK)
        if (e->type == WEND_WARNING || e->type == WEND_ERROR) {
            buf_cstr(&b->told, e->type == WEND_ERROR ? " !" : " ");
            buf_str(&b->told, e->type == WEND_ERROR ? e->u.error.code
                                                    : e->u.warning.code);
        } else if (e->type == WEND_CALL_END) {
            buf_fmt(ends, "%s: ", wend_outcome_name(e->u.call_end.outcome));
            buf_str(ends, e->u.call_end.output);
            buf_char(ends, '\n');
        }
    wend_run_free(run);
}

static inline bool has(const struct buf *b, const char *text)
{
    wend_str all = buf_view(b);

    return !text || memmem(all.ptr, all.len, text, strlen(text));
}

#endif
