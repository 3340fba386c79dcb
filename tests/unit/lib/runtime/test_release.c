/*
 * test_release.c - what a host gives is given back: each ctx exactly once,
 * when nothing can use it any more, whatever fails; and no thread of a runtime
 * that is gone calls the host's allocator or tools.
 */
#include <semaphore.h>
#include <stdatomic.h>
#include <time.h>

#include "fault.h"
#include "run_help.h"
#include "store_help.h"

enum { RUNTIMES = 200, WAIT_MS = 30000 };

static const char script[] =
    "script:{\"turns\":[{\"calls\":[{\"name\":\"work\",\"args\":{}}]},"
    "{\"text\":\"done\"}]}";
static const char plan_text[] =
    "{\"wend\":\"plan/1\",\"actions\":[{\"id\":\"a\",\"type\":\"tool\","
    "\"target\":\"work\"}]}";
static const char kv_text[] =
    "{\"wend\":\"relic/1\",\"kind\":\"kv\",\"name\":\"box\"}";

#define OTHER_KV "{\"wend\":\"relic/1\",\"kind\":\"kv\",\"name\":\"other\"}"

/* A ctx of the host's, as if it lay in a plugin: unmapped when released. */
struct given {
    atomic_int released, used_late;
    atomic_int order; /* in which it was released */
};

static atomic_int releases;

static void release(void *ctx)
{
    struct given *g = ctx;

    atomic_store(&g->order, atomic_fetch_add(&releases, 1) + 1);
    atomic_fetch_add(&g->released, 1);
}

static void use(struct given *g)
{
    if (atomic_load(&g->released))
        atomic_fetch_add(&g->used_late, 1);
}

static bool once(struct given *g)
{
    return atomic_load(&g->released) == 1 && !atomic_load(&g->used_late);
}

static bool soon_once(struct given *g)
{
    const struct timespec ms = {.tv_nsec = 1000000};

    for (int i = 0; i < WAIT_MS && !atomic_load(&g->released); i++)
        nanosleep(&ms, NULL);
    return once(g);
}

/* ---- Everything that a host can give --------------------------------------
 */

enum what {
    ALLOC,
    TOOL,
    HOOK,
    LISTENER,
    NOTE,
    FIRST, /* of several servers */
    SECOND,
    RELIC,
    RELICS,
    PLAN,
    KINDS
};

static const char *const names[KINDS] = {
    "allocator",          "tool",         "hook",
    "listener",           "note",         "note of the first of two servers",
    "note of the second", "relic's note", "note of one of several relics",
    "plan's allocator",
};

struct bench {
    struct given given[KINDS];
    struct fault fault;
    atomic_bool freed; /* the runtime is */
    atomic_int after;  /* calls of the allocator since then */
    pthread_mutex_t lock;
    wend_store *store;
    wend_runtime *rt;
    wend_agent *agent;
    wend_plan *plan;
    wend_run *run;
    wend_tool_fn fn;
    bool bad; /* what is registered is refused */
};

static void *alloc(void *ctx, void *p, size_t size)
{
    struct bench *b =
        (struct bench *)(void *)((char *)ctx - offsetof(struct bench, given));
    void *result;

    use(ctx);
    if (atomic_load(&b->freed))
        atomic_fetch_add(&b->after, 1);
    pthread_mutex_lock(&b->lock);
    result = fault_alloc(&b->fault, p, size);
    pthread_mutex_unlock(&b->lock);
    return result;
}

static wend_status work(void *ctx, wend_call *call)
{
    use(ctx);
    return wend_call_return(call, STR("done"));
}

static wend_hook_answer hook(void *ctx, wend_hook *h)
{
    (void)h;
    use(ctx);
    return WEND_HOOK_GO;
}

static void listen(void *ctx, const wend_event *ev)
{
    (void)ev;
    use(ctx);
}

static void note_it(void *ctx, const char *text)
{
    (void)text;
    use(ctx);
}

static void *plan_alloc(void *ctx, void *p, size_t size)
{
    use(ctx);
    if (!size) {
        free(p);
        return NULL;
    }
    return realloc(p, size);
}

static void give_agent(struct bench *b)
{
    const char *nothing[] = {"/nonexistent/server", NULL};
    wend_tool_options tool = {.size = sizeof tool,
                              .name = b->bad ? "no name" : "work",
                              .call_class = WEND_CLASS_READ,
                              .threaded = true,
                              .fn = b->fn ? b->fn : work,
                              .ctx = &b->given[TOOL],
                              .release = release};
    wend_mcp_options mcp = {.size = sizeof mcp,
                            .name = b->bad ? "no__name" : "none",
                            .command = nothing,
                            .note = note_it,
                            .note_ctx = &b->given[NOTE],
                            .note_release = release};
    wend_relic_options relic = {.size = sizeof relic,
                                .note = note_it,
                                .note_ctx = &b->given[RELIC],
                                .note_release = release};

    wend_mcp_options first = mcp, second = mcp;
    const wend_mcp_options *both[] = {&first, &second};
    wend_relic_options several = relic;
    const wend_relic_options *each[] = {&several};
    wend_str text = b->bad ? STR("?") : STR(OTHER_KV);

    first.note_ctx = &b->given[FIRST];
    second.note_ctx = &b->given[SECOND];
    if (!b->bad) {
        first.name = "first";
        second.name = "second";
    }
    several.note_ctx = &b->given[RELICS];
    wend_agent_add_tool(b->agent, &tool, NULL);
    wend_agent_add_mcp(b->agent, &mcp, NULL);
    wend_agent_add_mcps(b->agent, both, 2, NULL);
    wend_agent_add_relics(b->agent, &text, each, 1, NULL);
    wend_agent_add_relic(b->agent, b->bad ? STR("?") : str_of(kv_text), &relic,
                         NULL);
}

/* Gives all of it, also to what could not be made: that fails as well. */
static void give(struct bench *b)
{
    wend_runtime_options ro = {.size = sizeof ro,
                               .store = b->store,
                               .alloc = alloc,
                               .alloc_ctx = &b->given[ALLOC],
                               .alloc_release = release};
    wend_agent_options ao = {.size = sizeof ao, .model = script};
    wend_run_options o = {.size = sizeof o,
                          .hook = hook,
                          .hook_ctx = &b->given[HOOK],
                          .hook_release = release};
    wend_plan_options po = {.size = sizeof po,
                            .alloc = plan_alloc,
                            .alloc_ctx = &b->given[PLAN],
                            .alloc_release = release};

    pthread_mutex_init(&b->lock, NULL);
    wend_runtime_new(&ro, &b->rt, NULL);
    wend_agent_new(b->rt, &ao, &b->agent, NULL);
    give_agent(b);
    wend_plan_parse(b->bad ? STR("?") : str_of(plan_text), &po, &b->plan, NULL);
    if (b->bad)
        wend_run_start(b->agent, (wend_str){NULL, 0}, &o, &b->run, NULL);
    else
        wend_run_start(b->agent, STR("go"), &o, &b->run, NULL);
    wend_run_listen_release(b->run, listen, &b->given[LISTENER], release);
}

static void free_runtime(struct bench *b)
{
    wend_runtime_free(b->rt);
    atomic_store(&b->freed, true);
}

static void take_back(struct bench *b)
{
    wend_plan_free(b->plan);
    wend_run_free(b->run);
    wend_agent_free(b->agent);
    free_runtime(b);
}

static int wrong(struct bench *b)
{
    int count = 0;

    for (int i = 0; i < KINDS; i++)
        count += !once(&b->given[i]);
    return count;
}

/* ---- Rows ---------------------------------------------------------------- */

static void to_the_end(struct bench *b)
{
    wend_str text;

    give(b);
    tap_ok(!atomic_load(&b->given[TOOL].released) &&
               !atomic_load(&b->given[HOOK].released) &&
               !atomic_load(&b->given[LISTENER].released) &&
               !atomic_load(&b->given[ALLOC].released) &&
               !atomic_load(&b->given[PLAN].released),
           "nothing is released while it is in use");
    wend_run_wait(b->run, &text);
    take_back(b);
}

static void not_begun(struct bench *b)
{
    give(b);
    take_back(b);
}

static void refused(struct bench *b)
{
    b->bad = true;
    give(b);
    tap_is_i64(atomic_load(&b->given[TOOL].released) +
                   atomic_load(&b->given[HOOK].released) +
                   atomic_load(&b->given[LISTENER].released) +
                   atomic_load(&b->given[NOTE].released) +
                   atomic_load(&b->given[RELIC].released) +
                   atomic_load(&b->given[PLAN].released),
               6, "what is refused is released at once");
    take_back(b);
}

static void runtime_first(struct bench *b)
{
    give(b);
    wend_runtime_free(b->rt);
    tap_ok(!atomic_load(&b->given[ALLOC].released),
           "agents and runs have memory of the allocator");
    wend_run_free(b->run);
    wend_agent_free(b->agent);
    wend_plan_free(b->plan);
    b->rt = NULL;
}

static void agent_first(struct bench *b)
{
    give(b);
    wend_agent_free(b->agent);
    tap_ok(!atomic_load(&b->given[TOOL].released), "its run needs the tool");
    b->agent = NULL;
    take_back(b);
}

static void no_size(struct bench *b)
{
    wend_runtime_options ro = {.size = sizeof ro,
                               .alloc = alloc,
                               .alloc_ctx = &b->given[ALLOC],
                               .alloc_release = release};

    tap_is_i64(wend_runtime_new(&ro, NULL, NULL), WEND_E_INVAL, "no out");
    tap_ok(once(&b->given[ALLOC]), "... and the allocator is released");
    atomic_store(&b->given[ALLOC].released, 0);
    not_begun(b);
}

static void test_rows(void)
{
    static const struct {
        const char *why;
        void (*fn)(struct bench *b);
    } rows[] = {
        {"a run to its end", to_the_end},
        {"a run that is not over", not_begun},
        {"everything is refused", refused},
        {"the runtime goes first", runtime_first},
        {"the agent goes first", agent_first},
        {"arguments are missing", no_size},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct bench b = {.store = NULL};

        rows[i].fn(&b);
        for (int k = 0; k < KINDS; k++)
            tap_ok(once(&b.given[k]), "%s: %s (%d times, %d late)", rows[i].why,
                   names[k], atomic_load(&b.given[k].released),
                   atomic_load(&b.given[k].used_late));
    }
}

static void test_no_memory(void)
{
    struct fault fault = {0};
    int bad = 0, rounds = 0;

    /* A run without memory may end while its tool's function is under way,
     * which then is left alone: the allocator's release is the last. */
    while (fault_next(&fault)) {
        struct bench *b = calloc(1, sizeof *b);
        wend_str text;

        b->fault = fault;
        give(b);
        wend_run_wait(b->run, &text);
        take_back(b);
        bad += !soon_once(&b->given[ALLOC]) || wrong(b) != 0;
        fault = b->fault;
        free(b);
        rounds++;
    }
    tap_is_i64(bad, 0, "once each, wherever memory ends (%d places)", rounds);
}

/* ---- Threads ------------------------------------------------------------- */

static void test_many(const char *url)
{
    int after = 0, bad = 0;
    wend_store *store = NULL;

    if (url)
        wend_store_open(url, &store, NULL);
    for (int i = 0; i < RUNTIMES; i++) {
        struct bench *b = calloc(1, sizeof *b);
        const struct timespec pause = {.tv_nsec = 2000000};
        const wend_event *ev;

        b->store = store;
        give(b);
        wend_run_listen(b->run, NULL, NULL);
        while (wend_run_next(b->run, &ev) == WEND_OK &&
               ev->type != (i % 2 ? WEND_CALL_END : WEND_RUN_END))
            continue;
        take_back(b);
        nanosleep(&pause, NULL); /* whoever is late shows up */
        after += atomic_load(&b->after);
        bad += wrong(b);
        free(b);
    }
    wend_store_free(store);
    tap_is_i64(after, 0, "%d runtimes: no call of the allocator comes late%s",
               RUNTIMES, url ? ", with a file" : "");
    tap_is_i64(bad, 0, "... and everything is released");
}

static sem_t inside, go_on;

static wend_status hang(void *ctx, wend_call *call)
{
    sem_post(&inside);
    while (sem_wait(&go_on))
        continue;
    use(ctx);
    return wend_call_return(call, STR("late"));
}

/* A function that is under way cannot be ended: it keeps what it uses. */
static void test_busy_tool(void)
{
    struct bench *b = calloc(1, sizeof *b);

    sem_init(&inside, 0, 0);
    sem_init(&go_on, 0, 0);
    b->fn = hang;
    give(b);
    while (sem_trywait(&inside))
        wend_runtime_pump(b->rt);
    take_back(b);
    tap_ok(!atomic_load(&b->given[TOOL].released) &&
               !atomic_load(&b->given[ALLOC].released),
           "a tool at work keeps its ctx and the allocator");
    tap_is_i64(atomic_load(&b->after), 0, "... and calls neither");
    sem_post(&go_on);
    tap_ok(soon_once(&b->given[ALLOC]) && once(&b->given[TOOL]),
           "both are released when it returns");
    tap_ok(atomic_load(&b->given[TOOL].order) <
               atomic_load(&b->given[ALLOC].order),
           "... the allocator last");
    tap_is_i64(wrong(b), 0, "... and all else was before");
    free(b);
}

static wend_status linger(void *ctx, wend_call *call)
{
    const struct timespec pause = {.tv_nsec = 50000000};

    wend_call_return(call, STR("done"));
    nanosleep(&pause, NULL);
    use(ctx);
    return WEND_OK;
}

/* A plugin may be unmapped after the free, so its function must be left. */
static void test_answered_tool(void)
{
    struct bench *b = calloc(1, sizeof *b);
    wend_str text;

    b->fn = linger;
    give(b);
    wend_run_wait(b->run, &text);
    take_back(b);
    tap_ok(!wrong(b) && !atomic_load(&b->after),
           "the free waits for a function that has answered");
    free(b);
}

static pthread_key_t leaving;
static atomic_int left;

static void leave(void *ctx)
{
    const struct timespec pause = {.tv_nsec = 50000000};

    (void)ctx;
    nanosleep(&pause, NULL);
    atomic_fetch_add(&left, 1);
}

static wend_status marked(void *ctx, wend_call *call)
{
    pthread_setspecific(leaving, ctx);
    return work(ctx, call);
}

/* The thread still has to end when its function has returned. */
static void test_idle_thread(void)
{
    struct bench *b = calloc(1, sizeof *b);
    wend_str text;

    pthread_key_create(&leaving, leave);
    b->fn = marked;
    give(b);
    wend_run_wait(b->run, &text);
    tap_is_i64(atomic_load(&left), 0, "an idle thread waits for work");
    take_back(b);
    tap_is_i64(atomic_load(&left), 1, "the free waits until it has ended");
    pthread_key_delete(leaving);
    free(b);
}

static wend_call *open_call;

static wend_status keep_call(void *ctx, wend_call *call)
{
    use(ctx);
    open_call = call;
    sem_post(&inside);
    return WEND_OK;
}

static void test_open_call(void)
{
    struct bench *b = calloc(1, sizeof *b);

    b->fn = keep_call;
    give(b);
    while (sem_trywait(&inside))
        wend_runtime_pump(b->rt);
    take_back(b);
    tap_ok(!atomic_load(&b->given[TOOL].released), "a call is open");
    tap_ok(wend_call_canceled(open_call), "... and canceled");
    wend_call_return(open_call, STR("late"));
    tap_ok(soon_once(&b->given[ALLOC]) && !wrong(b),
           "all is released when it is answered");
    free(b);
}

/* ---- Listeners ----------------------------------------------------------- */

static struct given second;
static bool early;

static void listen_once(void *ctx, const wend_event *ev)
{
    struct bench *b = ctx;

    (void)ev;
    wend_run_listen_release(b->run, listen, &second, release);
    early |= atomic_load(&b->given[LISTENER].released) != 0;
}

static void release_listener(void *ctx)
{
    release(&((struct bench *)ctx)->given[LISTENER]);
}

static void test_listeners(void)
{
    struct bench b = {.store = NULL};
    wend_str text;

    give(&b);
    wend_run_listen(b.run, NULL, NULL);
    tap_ok(once(&b.given[LISTENER]), "one that is replaced is released");
    atomic_store(&b.given[LISTENER].released, 0);
    wend_run_listen_release(b.run, listen_once, &b, release_listener);
    wend_run_wait(b.run, &text);
    tap_ok(!early && once(&b.given[LISTENER]),
           "one that replaces itself is released when it has returned");
    tap_ok(!atomic_load(&second.released), "... and the next one is in use");
    take_back(&b);
    tap_ok(once(&second) && !wrong(&b), "... until the run goes");
}

int main(void)
{
    const char *dir = dir_make();
    char path[128];

    snprintf(path, sizeof path, "%s/many.db", dir);
    test_rows();
    test_no_memory();
    test_busy_tool();
    test_answered_tool();
    test_idle_thread();
    test_open_call();
    test_listeners();
    test_many(NULL);
    test_many(path);
    dir_remove(dir);
    return tap_done();
}
