/*
 * test_mcp_server.c - agents with servers of tools, good ones and bad ones,
 * as programs in the sandbox and over HTTP. The server is tests/mcp.
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "run_help.h"
#include "server_help.h"

/* A folder, an agent in it, and what was said about its servers. */
struct bench {
    struct rig rig;
    char dir[64], program[PATH_MAX], pins[96];
    struct buf notes;
    pid_t http; /* 0: none */
    FILE *http_in;
    int port;
};

static void on_note(void *ctx, const char *text)
{
    struct bench *b = ctx;

    buf_fmt(&b->notes, "%s\n", text);
}

#define SCRIPT(name, args)                                                 \
    "script:{\"turns\":[{\"calls\":[{\"name\":\"" name "\",\"args\":" args \
    "}]},{\"text\":\"over\"}]}"

static bool bench_open(struct bench *b, const char *script)
{
    const char *tmp = getenv("TMPDIR");
    char *slash;

    memset(b, 0, sizeof *b);
    b->notes.mem = &rig_mem;
    snprintf(b->dir, sizeof b->dir, "%s/wend-mcp-XXXXXX",
             tmp && strlen(tmp) < 32 ? tmp : "/tmp");
    if (!mkdtemp(b->dir))
        return false;
    snprintf(b->pins, sizeof b->pins, "%s/d/mcp.pins", b->dir);
    server_program(b->program);
    slash = strrchr(b->program, '/');
    snprintf(slash + 1, 32, "wend-test-mcp");
    b->rig.agent_options.cwd = b->dir;
    b->rig.agent_options.approve = WEND_APPROVE_ALL;
    return rig_open(&b->rig, NULL, script);
}

static void bench_close(struct bench *b)
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
}

static bool bench_http(struct bench *b, const char *mode)
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

static wend_status bench_add(struct bench *b, const char *mode, bool http,
                             wend_mcp_options o)
{
    const char *command[] = {b->program, mode, NULL};
    char url[64];

    o.size = sizeof o;
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
static void bench_run(struct bench *b, struct buf *ends)
{
    const wend_event *e;
    wend_run *run = NULL;

    if (wend_run_start(b->rig.agent, STR("go"), NULL, &run, &b->rig.err))
        return;
    while (wend_run_next(run, &e) == WEND_OK)
        if (e->type == WEND_CALL_END) {
            buf_fmt(ends, "%s: ", wend_outcome_name(e->u.call_end.outcome));
            buf_str(ends, e->u.call_end.output);
            buf_char(ends, '\n');
        }
    wend_run_free(run);
}

static bool has(const struct buf *b, const char *text)
{
    wend_str all = buf_view(b);

    return !text || memmem(all.ptr, all.len, text, strlen(text));
}

/* ---- One call at servers of all kinds ------------------------------------ */

enum { STDIO = 1, HTTP = 2, BOTH = 3 };

static const struct {
    const char *mode;
    int links;
    uint32_t timeout_ms; /* 0: long enough */
    const char *end;     /* of the call */
    const char *note;
} rows[] = {
    {"modern", BOTH, 0, "ok: {\"n\":1}\n", "2 tools accepted on first use"},
    {"legacy", BOTH, 0, "ok: {\"n\":1}\n", NULL},
    {"json", HTTP, 0, "ok: {\"n\":1}\n", NULL},
    {"crash-probe", STDIO, 0, "ok: {\"n\":1}\n", NULL},
    {"mute", STDIO, 300, "ok: {\"n\":1}\n", NULL},
    {"mute", HTTP, 300, "ok: {\"n\":1}\n", NULL},
    {"silent", BOTH, 300, "timeout: the tool did not answer in time", NULL},
    {"flood", STDIO, 0, "that nobody asked for", "it is started again"},
    {"flood", HTTP, 3000, "failed: the server's answer is over 16 MiB", NULL},
    {"huge", STDIO, 0,
     "failed: the server was lost in the middle of the call "
     "(it sent a line of over 16 MiB",
     "it is started again"},
    {"huge", HTTP, 0, "failed: the server's answer is over 16 MiB", NULL},
    {"cut", STDIO, 0, "failed: the server was lost in the middle of the call",
     "it is started again"},
    {"cut", HTTP, 0, "failed: the stream ended without an answer", NULL},
    {"crash", STDIO, 0,
     "it said: Segmentation what?); it may have had an "
     "effect",
     "it is started again"},
    {"twice", BOTH, 0, "ok: first\n", NULL},
    {"other", STDIO, 0, "ok: {\"n\":1}\n",
     "the server answered what was not asked"},
    {"other", HTTP, 0, "ok: {\"n\":1}\n",
     "the server answered what was not asked"},
    {"noise", BOTH, 0, "ok: {\"n\":1}\n", "what is no message"},
    {"utf8", BOTH, 0, "ok: a\xef\xbf\xbd\xef\xbf\xbdz\n", NULL},
    {"progress", BOTH, 0, "ok: {\"n\":1}\n", NULL},
    {"asks", STDIO, 0,
     "{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"result\":{}} "
     "{\"jsonrpc\":\"2.0\",\"id\":0,\"error\":"
     "{\"code\":-32601",
     NULL},
    {"session", HTTP, 0, "ok: {\"n\":1}\n", NULL},
    {"resume", HTTP, 0, "ok: resumed\n", NULL},
    {"expired", HTTP, 0, "failed: HTTP status 404", NULL},
    {"param", HTTP, 0, "Mcp-Name: echo", NULL},
};

static void test_row(size_t i, bool http)
{
    struct buf ends = {.mem = &rig_mem};
    wend_mcp_options o = {.timeout_ms = rows[i].timeout_ms};
    const char *link = http ? "http" : "stdio";
    struct bench b;
    wend_status s;

    if (!bench_open(&b, SCRIPT("srv.echo", "{\"n\":1}"))) {
        tap_ok(false, "a bench: %s", b.rig.err.message);
        return;
    }
    s = bench_add(&b, rows[i].mode, http, o);
    if (tap_ok(s == WEND_OK, "%s, %s: is added %s", rows[i].mode, link,
               b.rig.err.message)) {
        bench_run(&b, &ends);
        if (!tap_ok(has(&ends, rows[i].end) && has(&b.notes, rows[i].note),
                    "%s, %s: how the call ends", rows[i].mode, link)) {
            tap_show("ends", buf_view(&ends));
            tap_show("notes", buf_view(&b.notes));
        }
    }
    bench_close(&b);
    buf_free(&ends);
}

/* ---- Servers that cannot be used ----------------------------------------- */

static void test_dead(bool http)
{
    wend_mcp_options o = {.timeout_ms = 300};
    struct bench b;

    if (!bench_open(&b, SCRIPT("srv.echo", "{}")))
        return;
    tap_is_i64(bench_add(&b, "dead", http, o), WEND_E_IO, "a dead server, %s",
               http ? "http" : "stdio");
    tap_ok(strstr(b.rig.err.message, "did not answer initialize in time"), "%s",
           b.rig.err.message);
    bench_close(&b);
}

static void test_refused(void)
{
    static const char *const none[] = {"/nonexistent/program", NULL};
    static const char *const cat[] = {"cat", NULL};
    static const struct {
        wend_mcp_options o;
        wend_status status;
        const char *words;
    } bad[] = {
        {{.name = "a.b", .command = cat}, WEND_E_INVAL, "'a.b' is not"},
        {{.name = "a__b", .command = cat}, WEND_E_INVAL, "'a__b' is not"},
        {{.name = "a_", .command = cat}, WEND_E_INVAL, "'a_' is not"},
        {{.name = "123456789012345678901234567890123", .command = cat},
         WEND_E_INVAL,
         "1 to 32"},
        {{.command = cat}, WEND_E_INVAL, "'' is not"},
        {{.name = "a"}, WEND_E_INVAL, "either a command or a URL"},
        {{.name = "a", .command = cat, .url = "http://x"},
         WEND_E_INVAL,
         "either a command or a URL"},
        {{.name = "a", .url = "file:///etc/passwd"}, WEND_E_INVAL, "http://"},
        {{.name = "a", .command = none}, WEND_E_IO, "/nonexistent/program"},
        {{.name = "a", .url = "http://127.0.0.1:1/"},
         WEND_E_IO,
         "can not be reached"},
    };
    struct bench b;

    if (!bench_open(&b, SCRIPT("srv.echo", "{}")))
        return;
    for (size_t i = 0; i < tap_count(bad); i++) {
        wend_mcp_options o = bad[i].o;
        wend_error err = {0};

        o.size = sizeof o;
        o.pins_file = b.pins;
        tap_ok(wend_agent_add_mcp(b.rig.agent, &o, &err) == bad[i].status &&
                   strstr(err.message, bad[i].words),
               "%s", err.message);
    }
    tap_is_i64(wend_agent_add_mcp(NULL, NULL, NULL), WEND_E_INVAL, "no agent");
    tap_is_i64(wend_agent_add_mcp(b.rig.agent, NULL, NULL), WEND_E_INVAL,
               "no options");
    tap_ok(access(b.pins, F_OK), "nothing was accepted");
    bench_close(&b);
}

/* ---- Pins ---------------------------------------------------------------- */

static void write_words(const struct bench *b, const char *words)
{
    char path[96];
    FILE *f;

    snprintf(path, sizeof path, "%s/words", b->dir);
    f = fopen(path, "w");
    fputs(words, f);
    fclose(f);
}

/* The same server, as another agent of the same user meets it. */
static wend_status meet(struct bench *b, const char *words, bool accept)
{
    wend_mcp_options o = {.accept = accept};
    wend_agent_options a = b->rig.agent_options;

    write_words(b, words);
    wend_agent_free(b->rig.agent);
    b->rig.agent = NULL;
    buf_clear(&b->notes);
    if (wend_agent_new(b->rig.rt, &a, &b->rig.agent, &b->rig.err) != WEND_OK)
        return WEND_E_NOMEM;
    return bench_add(b, "changed", false, o);
}

static void test_pins(void)
{
    struct bench b;
    struct stat st;

    if (!bench_open(&b, SCRIPT("srv.echo", "{}")))
        return;
    tap_is_i64(meet(&b, "one", false), WEND_OK, "the first use");
    tap_ok(has(&b.notes, "accepted on first use"), "is told");
    tap_ok(!stat(b.pins, &st) && (st.st_mode & 0777) == 0600, "and kept");
    tap_is_i64(meet(&b, "one", false), WEND_OK, "the same again");
    tap_is_i64((int64_t)b.notes.len, 0, "is nothing to talk about");
    tap_is_i64(meet(&b, "two", false), WEND_E_STALE, "another description");
    tap_ok(strstr(b.rig.err.message, "--accept"), "%s", b.rig.err.message);
    tap_ok(!wend_agent_tool(b.rig.agent, 0), "no tool is offered");
    tap_is_i64(meet(&b, "two", true), WEND_OK, "is accepted");
    tap_is_i64(meet(&b, "two", false), WEND_OK, "from then on");
    tap_is_i64(meet(&b, "one", false), WEND_E_STALE, "the first is not now");
    bench_close(&b);
}

/* ---- What is offered ----------------------------------------------------- */

static const wend_tool_info *find_tool(wend_agent *agent, const char *name)
{
    const wend_tool_info *t;
    size_t i = 0;

    while ((t = wend_agent_tool(agent, i)) && !str_is(t->name, name))
        i++;
    return t;
}

static void test_offered(void)
{
    static const struct {
        const char *name;
        wend_class call_class;
    } want[] = {{"srv.a_b__", WEND_CLASS_UNSAFE},
                {"srv.echo", WEND_CLASS_READ},
                {"srv.wait", WEND_CLASS_UNSAFE}};
    wend_mcp_options trusting = {.trust = true}, doubting = {0};
    struct bench b;
    const wend_tool_info *t;
    size_t served = 0;

    if (!bench_open(&b, SCRIPT("srv.echo", "{}")))
        return;
    tap_is_i64(bench_add(&b, "odd", false, trusting), WEND_OK, "odd tools");
    for (size_t i = 0; i < tap_count(want); i++) {
        t = find_tool(b.rig.agent, want[i].name);
        tap_ok(t && t->call_class == want[i].call_class &&
                   t->labels == WEND_LABEL_UNTRUSTED_SOURCE,
               "%s", want[i].name);
    }
    for (size_t i = 0; (t = wend_agent_tool(b.rig.agent, i)); i++)
        served += str_starts(t->name, "srv.");
    tap_is_i64((int64_t)served, tap_count(want), "and no more");
    tap_ok(has(&b.notes, "left out: tool 'srv.far': schema:"),
           "a schema from far away is not fetched");
    tap_is_i64(bench_add(&b, "odd", false, doubting), WEND_E_EXISTS,
               "a name is taken once");
    bench_close(&b);

    if (!bench_open(&b, SCRIPT("srv.echo", "{}")))
        return;
    bench_add(&b, "modern", true, doubting);
    t = find_tool(b.rig.agent, "srv.echo");
    tap_ok(t && t->call_class == WEND_CLASS_UNSAFE &&
               t->category == WEND_CATEGORY_NETWORK &&
               t->labels ==
                   (WEND_LABEL_UNTRUSTED_SOURCE | WEND_LABEL_EXTERNAL_EFFECT),
           "what a server says of itself is not believed");
    bench_close(&b);
}

/* ---- Secrets ------------------------------------------------------------- */

static void test_secrets(void)
{
    static const char *const names[] = {"WEND_TEST_GRANTED"};
    wend_mcp_options o = {.secrets = names, .secrets_count = 1};
    struct buf ends = {.mem = &rig_mem};
    struct bench b;

    setenv("WEND_TEST_GRANTED", "granted-value-1", 1);
    setenv("WEND_TEST_OTHER", "canary-value-2", 1);
    if (!bench_open(&b, SCRIPT("srv.echo", "{}")))
        return;
    tap_is_i64(bench_add(&b, "environment", false, o), WEND_OK, "a secret");
    bench_run(&b, &ends);
    tap_ok(has(&ends, "WEND_TEST_GRANTED=***************"),
           "is given, and blanked where it comes back");
    tap_ok(!has(&ends, "canary"), "nothing else is");
    bench_close(&b);
    buf_free(&ends);
    unsetenv("WEND_TEST_GRANTED");
    if (!bench_open(&b, SCRIPT("srv.echo", "{}")))
        return;
    tap_is_i64(bench_add(&b, "environment", false, o), WEND_E_NOTFOUND, "%s",
               "one that is not there");
    bench_close(&b);
}

/* ---- Stopping ------------------------------------------------------------ */

static size_t children(void)
{
    char path[64], text[256] = "";
    FILE *f;

    snprintf(path, sizeof path, "/proc/self/task/%d/children", getpid());
    f = fopen(path, "r");
    if (!f)
        return 0;
    if (!fgets(text, sizeof text, f))
        text[0] = 0;
    fclose(f);
    return strlen(text);
}

static void test_cancel(bool http)
{
    wend_mcp_options o = {0};
    struct buf ends = {.mem = &rig_mem};
    const wend_event *e;
    struct bench b;
    wend_run *run = NULL;
    size_t before;

    if (!bench_open(&b, SCRIPT("srv.wait", "{}")))
        return;
    before = children();
    bench_add(&b, "modern", http, o);
    wend_run_start(b.rig.agent, STR("go"), NULL, &run, &b.rig.err);
    while (run && wend_run_next(run, &e) == WEND_OK) {
        if (e->type == WEND_CALL_START)
            wend_run_cancel(run);
        if (e->type == WEND_CALL_END)
            buf_fmt(&ends, "%s ", wend_outcome_name(e->u.call_end.outcome));
        if (e->type == WEND_RUN_END)
            buf_cstr(&ends, wend_outcome_name(e->u.run_end.outcome));
    }
    tap_is_str(buf_view(&ends), "canceled canceled", "canceled, %s",
               http ? "http" : "stdio");
    wend_run_free(run);
    if (!http) {
        wend_agent_free(b.rig.agent);
        b.rig.agent = NULL;
        wend_runtime_free(b.rig.rt);
        b.rig.rt = NULL;
        tap_is_i64((int64_t)children(), (int64_t)before, "nothing is left");
    }
    bench_close(&b);
    buf_free(&ends);
}

/* A call after a crash goes to the next one. */
static void test_restart(void)
{
    wend_mcp_options o = {0};
    struct buf ends = {.mem = &rig_mem};
    struct bench b;

    if (!bench_open(&b, "script:{\"turns\":[{\"calls\":[{\"name\":\"srv.echo\","
                        "\"args\":{\"n\":1}}]},{\"calls\":[{\"name\":"
                        "\"srv.echo\",\"args\":{\"n\":2}}]},{\"text\":"
                        "\"over\"}]}"))
        return;
    bench_add(&b, "crash-once", false, o);
    bench_run(&b, &ends);
    if (!tap_ok(has(&ends, "failed: the server was lost") &&
                    has(&ends, "ok: {\"n\":2}"),
                "a server that crashed is there again"))
        tap_show("ends", buf_view(&ends));
    bench_close(&b);
    buf_free(&ends);
}

/* It is not started for ever. */
static void test_gives_up(void)
{
    wend_mcp_options o = {0};
    struct buf ends = {.mem = &rig_mem};
    struct bench b;

    if (!bench_open(&b, "script:{\"turns\":[{\"calls\":[{\"name\":\"srv.echo\","
                        "\"args\":{}}],\"repeat\":8},{\"text\":\"over\"}]}"))
        return;
    bench_add(&b, "crash", false, o);
    bench_run(&b, &ends);
    tap_ok(has(&b.notes, "its tools fail from now on"), "it is given up");
    bench_close(&b);
    buf_free(&ends);
}

static void test_bye(void)
{
    wend_mcp_options o = {0};
    struct bench b;
    char path[96];

    if (!bench_open(&b, SCRIPT("srv.echo", "{}")))
        return;
    bench_add(&b, "session", true, o);
    wend_agent_free(b.rig.agent);
    b.rig.agent = NULL;
    snprintf(path, sizeof path, "%s/deleted", b.dir);
    tap_ok(!access(path, F_OK), "a session is ended");
    bench_close(&b);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    for (size_t i = 0; i < tap_count(rows); i++)
        for (int link = 0; link < 2; link++)
            if (rows[i].links >> link & 1)
                test_row(i, link);
    test_dead(false);
    test_dead(true);
    test_refused();
    test_pins();
    test_offered();
    test_secrets();
    test_cancel(false);
    test_cancel(true);
    test_restart();
    test_gives_up();
    test_bye();
    return tap_done();
}
