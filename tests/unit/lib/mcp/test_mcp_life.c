/*
 * test_mcp_life.c - calls at servers of tools that are stopped, servers that
 * end and begin again, and memory that runs out.
 */
#include "fault.h"
#include "mcp_bench.h"

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

/* At any moment, many times, at one server: each call has one end. */
static void test_cancel_often(bool http)
{
    wend_mcp_options o = {0};
    unsigned seed = 7, bad = 0;
    struct bench b;

    if (!bench_open(&b, SCRIPT("srv.echo", "{}")))
        return;
    bench_add(&b, "modern", http, o);
    for (int i = 0; i < 100; i++) {
        int starts = 0, ends = 0, over = 0;
        int64_t until = rand_r(&seed) % 14;
        const wend_event *e;
        wend_run *run = NULL;

        wend_run_start(b.rig.agent, STR("go"), NULL, &run, &b.rig.err);
        while (run && wend_run_next(run, &e) == WEND_OK) {
            starts += e->type == WEND_CALL_START;
            ends += e->type == WEND_CALL_END;
            over += e->type == WEND_RUN_END;
            if (e->seq >= until)
                wend_run_cancel(run);
        }
        bad += starts != ends || over != 1;
        wend_run_free(run);
    }
    tap_is_i64(bad, 0, "canceled a hundred times, %s", http ? "http" : "stdio");
    bench_close(&b);
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
    tap_is_str(buf_view(&b.told),
               STR(" mcp_lost mcp_lost mcp_lost mcp_lost mcp_lost !mcp_down"),
               "each loss is an event of the run");
    buf_clear(&b.told);
    bench_run(&b, &ends);
    tap_is_str(buf_view(&b.told), STR(" !mcp_down"),
               "the next run is told how it stands");
    bench_close(&b);
    buf_free(&ends);
}

/* A server over HTTP that has started well: what is wrong with it later is an
 * event, too, once however many calls meet it. */
static void test_trouble_later(void)
{
    static const struct {
        const char *mode, *told, *end, *note;
    } rows[] = {
        {"modern", "", "ok: ", ""},
        {"revoked", " !mcp_auth", "failed: it wants a token",
         "mcp srv: it refuses calls with HTTP status 401: its token is "
         "missing, wrong or expired\n"},
        {"hangs-up", " !mcp_connect",
         "failed: ", "mcp srv: a call got no answer: "},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct buf ends = {.mem = &rig_mem};
        wend_mcp_options o = {0};
        struct bench b;

        if (!bench_open(&b, "script:{\"turns\":[{\"calls\":[{\"name\":"
                            "\"srv.echo\",\"args\":{}},{\"name\":\"srv.echo\""
                            ",\"args\":{}}],\"repeat\":2},{\"text\":"
                            "\"over\"}]}"))
            return;
        tap_is_i64(bench_add(&b, rows[i].mode, true, o), WEND_OK, "%s starts",
                   rows[i].mode);
        bench_run(&b, &ends);
        tap_is_str(buf_view(&b.told), str_of(rows[i].told),
                   "one event of four calls");
        tap_ok(has(&ends, rows[i].end) && has(&b.notes, rows[i].note),
               "the calls and the host are told why");
        buf_clear(&b.told);
        bench_run(&b, &ends);
        tap_is_str(buf_view(&b.told), str_of(rows[i].told),
                   "a later run is told at its start");
        bench_close(&b);
        buf_free(&ends);
    }
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

/* ---- Memory -------------------------------------------------------------- */

/* Each allocation fails in turn: nothing is left over, nothing hangs. */
static void test_faults(bool http)
{
    static const char script[] = SCRIPT("srv.echo", "{\"n\":1}");
    struct fault f = {.fail_at = 1};
    struct buf ends = {.mem = &rig_mem};
    struct bench b;
    int rounds = 0, bad = 0;

    if (!bench_open(&b, script) || (http && !bench_http(&b, "modern")))
        return;
    rig_close(&b.rig);
    do {
        wend_runtime_options o = {
            .size = sizeof o, .alloc = fault_alloc, .alloc_ctx = &f};
        wend_mcp_options none = {0};

        f.count = f.live = 0;
        f.hit = false;
        buf_clear(&ends);
        b.rig.rt = NULL;
        b.rig.agent = NULL;
        if (wend_runtime_new(&o, &b.rig.rt, NULL) == WEND_OK &&
            wend_agent_new(b.rig.rt, &b.rig.agent_options, &b.rig.agent,
                           NULL) == WEND_OK &&
            bench_add(&b, "modern", http, none) == WEND_OK)
            bench_run(&b, &ends);
        wend_agent_free(b.rig.agent);
        wend_runtime_free(b.rig.rt);
        bad += f.live != 0;
        f.fail_at++;
        rounds++;
    } while (f.hit);
    b.rig.agent = NULL;
    b.rig.rt = NULL;
    tap_is_i64(bad, 0, "memory may run out anywhere, %s, %d rounds",
               http ? "http" : "stdio", rounds);
    tap_is_str(buf_view(&ends), "ok: {\"n\":1}\n", "and at last it works");
    bench_close(&b);
    buf_free(&ends);
}

/* A run is freed while its call waits, and an allocation of the free fails:
 * the server that goes down by that has nothing to tell to the freed run. */
static void test_free_faults(bool http)
{
    struct fault f = {0};
    struct bench b;
    int rounds = 0, bad = 0;

    if (!bench_open(&b, SCRIPT("srv.wait", "{}")) ||
        (http && !bench_http(&b, "modern")))
        return;
    rig_close(&b.rig);
    do {
        wend_runtime_options o = {
            .size = sizeof o, .alloc = fault_alloc, .alloc_ctx = &f};
        wend_mcp_options none = {0};
        wend_run *run = NULL;
        const wend_event *e;

        f.count = f.live = f.fail_at = 0;
        f.hit = false;
        b.rig.agent = NULL;
        wend_runtime_new(&o, &b.rig.rt, NULL);
        wend_agent_new(b.rig.rt, &b.rig.agent_options, &b.rig.agent, NULL);
        bench_add(&b, "modern", http, none);
        wend_run_start(b.rig.agent, STR("go"), NULL, &run, NULL);
        while (run && wend_run_next(run, &e) == WEND_OK &&
               e->type != WEND_CALL_START)
            continue;
        f.fail_at = f.count + ++rounds;
        wend_run_free(run);
        f.fail_at = 0;
        wend_runtime_pump(b.rig.rt);
        wend_agent_free(b.rig.agent);
        wend_runtime_free(b.rig.rt);
        bad += f.live != 0;
    } while (f.hit);
    b.rig.agent = NULL;
    b.rig.rt = NULL;
    tap_ok(!bad && rounds > 1,
           "a run freed while its call waits, %s: %d rounds, %d leak",
           http ? "http" : "stdio", rounds, bad);
    bench_close(&b);
}

/* ---- Inside a callback --------------------------------------------------- */

/* The agent of a stored run, inside a callback and outside. */
struct again {
    const char *why;
    bool server; /* its log names one */
    uint32_t take;
    wend_status inside;
};

static const struct again agains[] = {
    {"without servers", false, 0, WEND_OK},
    {"with a server", true, 0, WEND_E_MISUSE},
    {"with a server that the host names", false, WEND_FORK_TOOLS,
     WEND_E_MISUSE},
    {"with a server, in place of the log's", true, WEND_FORK_CONFIG,
     WEND_E_MISUSE},
};

enum { AGAINS = sizeof agains / sizeof *agains };

struct again_rig {
    wend_runtime *rt;
    const char *program;
    char ids[2][40]; /* of runs without and with a server */
    wend_status s[AGAINS];
    bool left_out[AGAINS]; /* no agent was given */
};

static wend_status make_again(void *ctx, wend_call *call)
{
    struct again_rig *r = ctx;
    const char *const command[] = {r->program, "plain", NULL};
    const wend_mcp_options server = {
        .size = sizeof server, .name = "late", .command = command};
    const wend_mcp_options *const servers[] = {&server};
    const wend_agent_options host = {.size = sizeof host,
                                     .model = "script:{\"turns\":[]}"};
    const wend_load_options load = {.size = sizeof load,
                                    .agent = &host,
                                    .servers = servers,
                                    .servers_count = 1};

    for (int i = 0; i < AGAINS; i++) {
        wend_of_run_options o = {.size = sizeof o,
                                 .take = agains[i].take,
                                 .load = agains[i].take ? &load : NULL};
        wend_agent *agent = NULL;

        r->s[i] = wend_agent_of_run(r->rt, r->ids[agains[i].server], &o, &agent,
                                    NULL);
        r->left_out[i] = !agent;
        wend_agent_free(agent);
    }
    return call ? wend_call_return(call, STR("done")) : WEND_OK;
}

/* Runs the agent to its end; the id of the run. */
static void run_to_end(wend_agent *agent, char id[40])
{
    wend_run *run = NULL;
    wend_str text;

    if (wend_run_start(agent, STR("x"), NULL, &run, NULL) == WEND_OK) {
        snprintf(id, 40, "%s", wend_run_id(run));
        wend_run_wait(run, &text);
    }
    wend_run_free(run);
}

/* A callback cannot wait for servers, so an agent is not made without them. */
static void test_inside(void)
{
    struct again_rig r = {0};
    struct bench b;
    char id[40];

    if (!bench_open(&b, SCRIPT("again", "{}")))
        return;
    r.rt = b.rig.rt;
    r.program = b.program;
    run_to_end(b.rig.agent, r.ids[0]);
    tap_is_i64(
        bench_add(&b, "plain", false, (wend_mcp_options){.accept = true}),
        WEND_OK, "a server for the log");
    run_to_end(b.rig.agent, r.ids[1]);
    make_again(&r, NULL);
    for (int i = 0; i < AGAINS; i++)
        tap_is_i64(r.s[i], WEND_OK, "the agent of a run %s, outside a callback",
                   agains[i].why);
    rig_add(&b.rig, "again", make_again, WEND_CLASS_READ, &r);
    run_to_end(b.rig.agent, id);
    for (int i = 0; i < AGAINS; i++) {
        tap_is_i64(r.s[i], agains[i].inside,
                   "the agent of a run %s, inside a callback", agains[i].why);
        tap_is_i64(r.left_out[i], agains[i].inside != WEND_OK,
                   "and the agent is %s",
                   agains[i].inside == WEND_OK ? "there" : "not there");
    }
    bench_close(&b);
}

/* ---- The runtime goes while servers are added ---------------------------- */

struct doomed {
    wend_runtime *rt;
    wend_agent *agent;
    int released, late; /* the allocator; it was used after that */
};

static void *doomed_alloc(void *ctx, void *p, size_t size)
{
    struct doomed *d = ctx;

    d->late += d->released;
    if (size)
        return realloc(p, size);
    free(p);
    return NULL;
}

static void doomed_release(void *ctx)
{
    ((struct doomed *)ctx)->released++;
}

static void free_both(void *ctx)
{
    struct doomed *d = ctx;

    wend_agent_free(d->agent); /* the first call counts */
    wend_runtime_free(d->rt);
    d->agent = NULL;
    d->rt = NULL;
}

static void test_freed_inside(size_t count)
{
    static const char *const command[] = {"/nowhere", NULL};
    struct doomed d = {0};
    wend_runtime_options ro = {.size = sizeof ro,
                               .alloc = doomed_alloc,
                               .alloc_ctx = &d,
                               .alloc_release = doomed_release};
    wend_agent_options ao = {.size = sizeof ao,
                             .model = "script:{\"turns\":[]}"};
    wend_mcp_options o = {.size = sizeof o,
                          .name = "srv",
                          .command = command,
                          .note_release = free_both,
                          .note_ctx = &d};
    const wend_mcp_options *const list[] = {&o, &o};
    wend_status s;

    if (wend_runtime_new(&ro, &d.rt, NULL) != WEND_OK ||
        wend_agent_new(d.rt, &ao, &d.agent, NULL) != WEND_OK) {
        tap_ok(false, "a runtime with an allocator");
        return;
    }
    s = count ? wend_agent_add_mcps(d.agent, list, count, NULL)
              : wend_agent_add_mcp(d.agent, &o, NULL);
    tap_is_i64(s, WEND_E_MISUSE,
               "a callback frees agent and runtime (%zu): told", count);
    tap_is_i64(d.released, 1, "and its allocator is released");
    tap_is_i64(d.late, 0, "after its last use");
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    test_inside();
    for (size_t count = 0; count < 3; count++)
        test_freed_inside(count);
    test_cancel(false);
    test_cancel(true);
    test_cancel_often(false);
    test_cancel_often(true);
    test_restart();
    test_gives_up();
    test_trouble_later();
    test_bye();
    test_faults(false);
    test_faults(true);
    test_free_faults(false);
    test_free_faults(true);
    return tap_done();
}
