/*
 * test_mcp_server.c - agents with servers of tools, good ones and bad ones,
 * as programs in the sandbox and over HTTP. The server is tests/mcp.
 */
#include "mcp_bench.h"

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
    {"mute", STDIO, 4000, "ok: {\"n\":1}\n", NULL},
    {"mute", HTTP, 4000, "ok: {\"n\":1}\n", NULL},
    {"silent", BOTH, 2000, "timeout: timed out after 2 s (this tool's limit)",
     NULL},
    {"flood", STDIO, 0, "that nobody asked for", "it is started again"},
    {"flood", HTTP, 0, "failed: the server's answer is over 16 MiB", NULL},
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
        {{.name = "a", .url = "file:///etc/passwd"}, WEND_E_INVAL, "mcp a: "},
        {{.name = "a", .url = "http://me:pw@127.0.0.1/"},
         WEND_E_INVAL,
         "mcp a: "},
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

/* ---- Two of them --------------------------------------------------------- */

/* What one does is no matter of the other's. */
static void test_two(void)
{
    wend_mcp_options good = {.trust = true}, bad = {.trust = true};
    struct buf ends = {.mem = &rig_mem};
    struct bench b;

    bad.name = "bad";
    if (!bench_open(&b, "script:{\"turns\":[{\"calls\":[{\"name\":\"bad.echo\","
                        "\"args\":{}},{\"name\":\"srv.echo\",\"args\":{"
                        "\"n\":1}}]},{\"text\":\"over\"}]}"))
        return;
    tap_ok(bench_add(&b, "flood", false, bad) == WEND_OK &&
               bench_add(&b, "modern", false, good) == WEND_OK,
           "two servers");
    bench_run(&b, &ends);
    tap_ok(str_starts(buf_view(&ends), "ok: {\"n\":1}\nfailed: "),
           "one answers while the other floods");
    bench_close(&b);
    buf_free(&ends);
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
    tap_is_str(find_tool(b.rig.agent, "srv.echo")->description,
               "knows ***************", "nor can a description tell it");
    bench_close(&b);
    if (!bench_open(&b, SCRIPT("srv.echo", "{}")))
        return;
    buf_clear(&ends);
    bench_add(&b, "crash", false, o);
    bench_run(&b, &ends);
    tap_ok(has(&ends, "what?***************") &&
               has(&b.notes, "what?***************"),
           "so it is in the last words of a program");
    bench_close(&b);
    if (!bench_open(&b, SCRIPT("srv.echo", "{}")))
        return;
    buf_clear(&ends);
    tap_is_i64(bench_add(&b, "param", true, o), WEND_OK, "a token");
    bench_run(&b, &ends);
    tap_ok(has(&ends, "Authorization: Bearer ***************"),
           "goes into a header, and is blanked where it comes back");
    bench_close(&b);
    buf_free(&ends);
    unsetenv("WEND_TEST_GRANTED");
    if (!bench_open(&b, SCRIPT("srv.echo", "{}")))
        return;
    tap_is_i64(bench_add(&b, "environment", false, o), WEND_E_NOTFOUND, "%s",
               "one that is not there");
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
    test_two();
    test_secrets();
    return tap_done();
}
