/*
 * test_mcp_server.c - agents with servers of tools, good ones and bad ones,
 * as programs in the sandbox and over HTTP. The server is tests/mcp.
 */
#include <time.h>

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
    {"mute", BOTH, 0, "ok: {\"n\":1}\n", NULL},
    {"late", STDIO, 0, "ok: {\"n\":1}\n", NULL},
    {"silent", BOTH, 2000, "timeout: timed out after 2 s (this tool's limit)",
     NULL},
    {"flood", STDIO, 0, "without a request", "it is started again"},
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
     "the server answered an unknown request"},
    {"other", HTTP, 0, "ok: {\"n\":1}\n",
     "the server answered an unknown request"},
    {"noise", BOTH, 0, "ok: {\"n\":1}\n", "an invalid message"},
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

static const wend_tool_info *find_tool(wend_agent *agent, const char *name)
{
    const wend_tool_info *t;
    size_t i = 0;

    while ((t = wend_agent_tool(agent, i)) && !str_is(t->name, name))
        i++;
    return t;
}

/* ---- Servers that cannot be used ----------------------------------------- */

static void test_dead(bool http)
{
    static const struct {
        const char *why;
        wend_mcp_options o;
        const char *words;
    } limits[] = {
        {"its own", {.start_timeout_ms = 600}, "600 ms (start_timeout)"},
        {"whole seconds", {.start_timeout_ms = 1000}, "1 s (start_timeout)"},
        {"the run's is shorter",
         {.start_timeout_ms = 5000, .connect_ms = 600},
         "600 ms, the time of the run"},
        {"the run's is longer",
         {.start_timeout_ms = 600, .connect_ms = 5000},
         "600 ms (start_timeout)"},
        {"that of a call is another",
         {.start_timeout_ms = 600, .timeout_ms = 1},
         "600 ms (start_timeout)"},
    };

    for (size_t i = 0; i < tap_count(limits); i++) {
        char words[100];
        struct bench b;

        if (!bench_open(&b, SCRIPT("srv.echo", "{}")))
            return;
        tap_is_i64(bench_add(&b, "dead", http, limits[i].o), WEND_E_IO,
                   "a dead server, %s: %s", http ? "http" : "stdio",
                   limits[i].why);
        snprintf(words, sizeof words, "did not answer initialize within %s",
                 limits[i].words);
        tap_ok(strstr(b.rig.err.message, words), "%s", b.rig.err.message);
        bench_close(&b);
    }
}

/* ---- Many of them -------------------------------------------------------- */

static double seconds_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Adds that many servers that take a second to start; how long that took. */
static double add_late(struct bench *b, size_t count, wend_error *errs)
{
    enum { MOST = 10 };
    const char *command[] = {b->program, "late", NULL};
    const wend_mcp_options *list[MOST];
    wend_mcp_options options[MOST];
    char names[MOST][24];
    double began = seconds_now();

    for (size_t i = 0; i < count; i++) {
        snprintf(names[i], sizeof names[i], "s%zu", i);
        options[i] = (wend_mcp_options){.size = sizeof *options,
                                        .name = names[i],
                                        .command = command,
                                        .pins_file = b->pins,
                                        .start_timeout_ms = 60000};
        list[i] = &options[i];
    }
    tap_is_i64(wend_agent_add_mcps(b->rig.agent, list, count, errs), WEND_OK,
               "%zu servers are added", count);
    return seconds_now() - began;
}

/* The same as servers of relics. */
static double add_late_relics(struct bench *b, size_t count, wend_error *errs)
{
    enum { MOST = 10 };
    wend_relic_options o = {.size = sizeof o, .pins_file = b->pins};
    const wend_relic_options *options[MOST];
    wend_str texts[MOST];
    char text[MOST][PATH_MAX + 200];
    double began = seconds_now();

    for (size_t i = 0; i < count; i++) {
        snprintf(text[i], sizeof text[i],
                 "{\"wend\":\"relic/1\",\"kind\":\"mcp\",\"name\":\"s%zu\","
                 "\"command\":[\"%s\",\"late\"],\"start_timeout\":\"60s\"}",
                 i, b->program);
        texts[i] = str_of(text[i]);
        options[i] = &o;
    }
    tap_is_i64(wend_agent_add_relics(b->rig.agent, texts, options, count, errs),
               WEND_OK, "%zu relics are added", count);
    return seconds_now() - began;
}

static void test_many(void)
{
    static const struct {
        const char *what;
        double (*add)(struct bench *b, size_t count, wend_error *errs);
    } kinds[] = {{"server", add_late}, {"relic", add_late_relics}};
    wend_error errs[10];
    struct bench one, ten;
    double alone, together;

    for (size_t r = 0; r < tap_count(kinds); r++) {
        if (!bench_open(&one, SCRIPT("s0.echo", "{}")))
            return;
        if (bench_open(&ten, SCRIPT("s9.echo", "{}"))) {
            alone = kinds[r].add(&one, 1, errs);
            together = kinds[r].add(&ten, 10, errs);
            tap_ok(together < 5 * alone,
                   "%ss: ten start in less than five times the time of one",
                   kinds[r].what);
            printf("# %.1f s, %.1f s\n", together, alone);
            for (size_t i = 0; i < 10; i++)
                tap_is_i64(errs[i].status, WEND_OK, "%s %zu is there",
                           kinds[r].what, i);
            bench_close(&ten);
        }
        bench_close(&one);
    }
}

/* Each relic has its own end, and one that fails leaves nothing behind. */
static void test_some_relics_fail(void)
{
    static const char kv[] =
        "{\"wend\":\"relic/1\",\"kind\":\"kv\",\"name\":\"kv\"}";
    static const struct {
        const char *text;
        wend_status status;
    } relics[] = {
        {"{\"wend\":\"relic/1\",\"kind\":\"mcp\",\"name\":\"gone\","
         "\"command\":[\"/nonexistent/program\"]}",
         WEND_E_IO},
        {kv, WEND_OK},
        {kv, WEND_E_EXISTS},
        {"?", WEND_E_PARSE},
        {NULL, WEND_E_INVAL},
    };
    wend_str texts[tap_count(relics)];
    wend_error errs[tap_count(relics)];
    struct bench b;

    if (!bench_open(&b, SCRIPT("srv.echo", "{}")))
        return;
    for (size_t i = 0; i < tap_count(relics); i++)
        texts[i] = str_of(relics[i].text);
    tap_is_i64(wend_agent_add_relics(b.rig.agent, texts, NULL,
                                     tap_count(relics), errs),
               WEND_E_IO, "the first that failed is told");
    for (size_t i = 0; i < tap_count(relics); i++)
        tap_is_i64(errs[i].status, relics[i].status, "relic %zu: %s", i,
                   errs[i].message);
    tap_is_i64(wend_agent_add_relic(b.rig.agent, texts[1], NULL, NULL),
               WEND_E_EXISTS, "the good one is there");
    tap_is_i64(wend_agent_add_relics(b.rig.agent, NULL, NULL, 0, NULL), WEND_OK,
               "none at all");
    tap_is_i64(wend_agent_add_relics(b.rig.agent, NULL, NULL, 1, NULL),
               WEND_E_INVAL, "no texts");
    tap_is_i64(wend_agent_add_relics(NULL, texts, NULL, 1, errs), WEND_E_INVAL,
               "no agent");
    bench_close(&b);
}

/* Each has its own end, whatever becomes of the others. */
static void test_some_fail(void)
{
    static const char *const none[] = {"/nonexistent/program", NULL};
    const char *good[3];
    wend_mcp_options options[4];
    const wend_mcp_options *list[5];
    wend_error errs[5];
    struct bench b;

    if (!bench_open(&b, SCRIPT("srv.echo", "{}")))
        return;
    good[0] = b.program;
    good[1] = "modern";
    good[2] = NULL;
    for (size_t i = 0; i < 4; i++) {
        options[i] = (wend_mcp_options){
            .size = sizeof *options, .command = good, .pins_file = b.pins};
        list[i] = &options[i];
    }
    list[4] = NULL;
    options[0].name = "gone";
    options[0].command = none;
    options[1].name = options[2].name = "srv";
    options[3].name = "a.b";
    tap_is_i64(wend_agent_add_mcps(b.rig.agent, list, 5, errs), WEND_E_IO,
               "the first that failed is told");
    tap_is_i64(errs[0].status, WEND_E_IO, "one that does not start");
    tap_is_i64(errs[1].status, WEND_OK, "one beside it does");
    tap_is_i64(errs[2].status, WEND_E_EXISTS, "a name is taken once");
    tap_is_i64(errs[3].status, WEND_E_INVAL, "a name that cannot be");
    tap_is_i64(errs[4].status, WEND_E_INVAL, "no options");
    tap_ok(find_tool(b.rig.agent, "srv.echo"), "the good one has its tools");
    tap_is_i64(wend_agent_add_mcps(b.rig.agent, NULL, 0, NULL), WEND_OK,
               "none at all");
    tap_is_i64(wend_agent_add_mcps(NULL, list, 1, errs), WEND_E_INVAL,
               "no agent");
    bench_close(&b);
}

/* The run goes on without it, and its log says why. */
static void test_shut_out(void)
{
    wend_mcp_options o = {0};
    struct buf ends = {.mem = &rig_mem};
    struct bench b;

    if (!bench_open(&b, SCRIPT("srv.echo", "{}")))
        return;
    tap_is_i64(bench_add(&b, "closed", true, o), WEND_E_IO, "401: %s",
               b.rig.err.message);
    bench_run(&b, &ends);
    tap_is_str(buf_view(&b.told), STR(" !mcp_auth"), "401 is an error event");
    buf_clear(&b.told);
    o.name = "other";
    tap_is_i64(bench_add(&b, "modern", false, o), WEND_OK, "another server");
    bench_run(&b, &ends);
    tap_is_str(buf_view(&b.told), STR(" !mcp_auth"), "does not mend it");
    buf_clear(&b.told);
    o.name = "srv";
    tap_is_i64(bench_add(&b, "modern", false, o), WEND_OK, "one of its name");
    bench_run(&b, &ends);
    tap_is_str(buf_view(&b.told), STR(""), "does");
    bench_close(&b);
    buf_free(&ends);
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
         "cannot be reached"},
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
    test_shut_out();
    test_many();
    test_some_fail();
    test_some_relics_fail();
    test_pins();
    test_offered();
    test_two();
    test_secrets();
    return tap_done();
}
