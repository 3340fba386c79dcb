/*
 * test_handover.c - handles in the hands of a garbage collector: freed in any
 * order, by any thread, inside callbacks; waiting with a timeout.
 */
#include "fault.h"
#include "lib/run/run.h"
#include "run_help.h"

#define TEXT "script:{\"turns\":[{\"text\":\"hello\"},{\"text\":\"again\"}]}"
#define LATER                                                            \
    "script:{\"turns\":[{\"calls\":[{\"name\":\"later\",\"args\":{}}]}," \
    "{\"text\":\"done\"}]}"

/* ---- Another thread ------------------------------------------------------ */

enum kind { RUN, AGENT, RUNTIME, STORE, KINDS };

struct freeing {
    enum kind kind;
    void *handle;
    int delay_ms;
};

static void *free_it(void *arg)
{
    struct freeing *f = arg;

    usleep((useconds_t)f->delay_ms * 1000);
    switch (f->kind) {
    case RUN: wend_run_free(f->handle); break;
    case AGENT: wend_agent_free(f->handle); break;
    case RUNTIME: wend_runtime_free(f->handle); break;
    case STORE: wend_store_free(f->handle); break;
    case KINDS: break;
    }
    return NULL;
}

static void free_elsewhere(enum kind kind, void *handle)
{
    struct freeing f = {kind, handle, 0};
    pthread_t thread;

    pthread_create(&thread, NULL, free_it, &f);
    pthread_join(thread, NULL);
}

/* A runtime whose memory is counted, an agent and a run. */
struct bench {
    struct rig rig;
    struct fault memory;
    wend_run *run;
    wend_call *calls[8];
};

static bool bench_open(struct bench *b, const char *url, const char *script)
{
    wend_runtime_options o = {.size = sizeof o, .alloc = fault_alloc};
    struct rig *r = &b->rig;

    memset(b, 0, sizeof *b);
    o.alloc_ctx = &b->memory;
    r->agent_options.size = sizeof r->agent_options;
    r->agent_options.model = script;
    if (url && wend_store_open(url, &r->store, &r->err) != WEND_OK)
        return tap_ok(false, "store: %s", r->err.message);
    o.store = r->store;
    if (wend_runtime_new(&o, &r->rt, &r->err) != WEND_OK ||
        wend_agent_new(r->rt, &r->agent_options, &r->agent, &r->err) != WEND_OK)
        return tap_ok(false, "bench: %s", r->err.message);
    rig_add(r, "later", tool_later, WEND_CLASS_READ, b->calls);
    b->run = rig_start(r, NULL);
    return b->run != NULL;
}

/* Every order, each handle by its own thread or by another one. */
static void test_orders(const char *url)
{
    int bad = 0, rounds = 0;

    for (unsigned order = 0; order < 256; order++) {
        enum kind kinds[KINDS];
        unsigned seen = 0;

        for (int i = 0; i < KINDS; i++) {
            kinds[i] = (enum kind)(order >> 2 * i & 3);
            seen |= 1u << kinds[i];
        }
        for (unsigned who = 0; seen == 15 && who < 16; who++) {
            struct bench b;
            void *handles[KINDS];

            if (!bench_open(&b, url, who & 1 ? LATER : TEXT))
                return;
            while (who & 1 && !b.calls[0])
                wend_runtime_pump(b.rig.rt);
            handles[RUN] = b.run;
            handles[AGENT] = b.rig.agent;
            handles[RUNTIME] = b.rig.rt;
            handles[STORE] = b.rig.store;
            for (int i = 0; i < KINDS; i++)
                if (who >> i & 1)
                    free_elsewhere(kinds[i], handles[kinds[i]]);
                else
                    free_it(&(struct freeing){kinds[i], handles[kinds[i]], 0});
            if (b.calls[0])
                wend_call_return(b.calls[0], STR("late"));
            rounds++;
            bad += b.memory.live != 0;
        }
    }
    tap_ok(rounds == 24 * 16 && !bad,
           "%s: store, runtime, agent and run are freed in any order by any "
           "thread: %d of %d leak",
           url ? url : "no store", bad, rounds);
}

/* A call is inside the runtime when the handle goes. */
static void test_inside(enum kind kind, const char *what)
{
    struct bench b;
    struct freeing f = {.kind = kind, .delay_ms = 30};
    const wend_event *ev;
    pthread_t thread;
    wend_status s;
    wend_str text = STR("x");

    if (!bench_open(&b, "memory:", LATER))
        return;
    while (!b.calls[0] && wend_run_next(b.run, &ev) == WEND_OK)
        continue;
    f.handle = kind == RUN ? (void *)b.run : (void *)b.rig.rt;
    pthread_create(&thread, NULL, free_it, &f);
    s = wend_run_wait(b.run, &text); /* nobody answers the call */
    tap_ok(s == WEND_E_MISUSE && !text.ptr,
           "%s freed while a thread waits in it: the wait ends (%s)", what,
           wend_status_name(s));
    pthread_join(thread, NULL);
    wend_call_return(b.calls[0], STR("late"));
    wend_agent_free(b.rig.agent);
    if (kind == RUN)
        wend_runtime_free(b.rig.rt);
    else
        wend_run_free(b.run);
    wend_store_free(b.rig.store);
    tap_is_i64(b.memory.live, 0, "%s: all memory was given back", what);
}

/* A run that is freed elsewhere goes while the loop waits for another one. */
static void test_others(void)
{
    struct bench b;
    struct freeing f = {.kind = RUN, .delay_ms = 10};
    const wend_event *ev;
    pthread_t thread;
    wend_run *other;
    size_t runs = 0;

    if (!bench_open(&b, NULL, LATER))
        return;
    other = f.handle = rig_start(&b.rig, NULL);
    pthread_create(&thread, NULL, free_it, &f);
    while (wend_run_next_for(b.run, 200, &ev) == WEND_OK)
        continue;
    pthread_join(thread, NULL);
    wend_run_next_for(b.run, 0, &ev);
    for (const struct wend_run *r = b.rig.rt->runs; r; r = r->next)
        runs += r == other ? 100 : 1;
    tap_is_i64((int64_t)runs, 1, "a run that another thread freed is gone");
    for (int i = 0; i < 2; i++)
        if (b.calls[i])
            wend_call_return(b.calls[i], STR("late"));
    wend_run_free(b.run);
    rig_close(&b.rig);
    tap_is_i64(b.memory.live, 0, "others: all memory was given back");
}

/* ---- The end of a call --------------------------------------------------- */

enum { RACES = 3000, RACE_STEP_NS = 50 };

/* The other thread frees the runtime `after_ns` after the call was inside. */
struct race {
    _Atomic int inside, freed; /* number of the round that has come so far */
    int round;
    int64_t after_ns;
    wend_runtime *rt;
};

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void *free_in_rounds(void *arg)
{
    struct race *race = arg;

    for (int round = 1; round <= RACES; round++) {
        int64_t start_ns;

        while (atomic_load(&race->inside) != round)
            continue;
        start_ns = now_ns();
        while (now_ns() - start_ns < race->after_ns)
            continue;
        wend_runtime_free(race->rt);
        atomic_store(&race->freed, round);
    }
    return NULL;
}

static void tell_inside(void *ctx, const wend_event *ev)
{
    struct race *race = ctx;

    (void)ev;
    atomic_store(&race->inside, race->round);
}

/* A runtime is freed in the moment in which the call inside it ends: one of
 * the two destroys it. A free that comes too early makes the next one later,
 * and the other way round, so that most of them come near that moment. */
static void test_end_of_call(void)
{
    struct race race = {.after_ns = 2000};
    int early = 0, late = 0, lost = 0;
    pthread_t thread;

    pthread_create(&thread, NULL, free_in_rounds, &race);
    for (int round = 1; round <= RACES; round++) {
        struct bench b;
        wend_status s = WEND_OK;

        if (!bench_open(&b, NULL, TEXT))
            break;
        race.round = round;
        race.rt = b.rig.rt;
        wend_run_listen(b.run, tell_inside, &race);
        while (atomic_load(&race.inside) != round)
            s = wend_runtime_pump(b.rig.rt);
        early += s == WEND_E_MISUSE;
        late += s == WEND_OK;
        while (atomic_load(&race.freed) != round)
            continue;
        race.after_ns += s == WEND_OK ? -RACE_STEP_NS : RACE_STEP_NS;
        wend_run_free(b.run);
        wend_agent_free(b.rig.agent);
        lost += b.memory.live != 0;
    }
    pthread_join(thread, NULL);
    tap_ok(early + late == RACES && early && late && !lost,
           "a runtime freed at the end of a call (%d before, %d after it): %d "
           "not destroyed",
           early, late, lost);
}

/* ---- Callbacks ----------------------------------------------------------- */

static struct bench *in_callback;
static enum kind callback_kind;

/* Twice: what is on its way is not freed again. */
static void free_in_callback(void)
{
    if (!in_callback)
        return;
    for (int i = 0; i < 2; i++)
        free_it(&(struct freeing){
            callback_kind,
            callback_kind == RUN     ? (void *)in_callback->run
            : callback_kind == AGENT ? (void *)in_callback->rig.agent
                                     : (void *)in_callback->rig.rt,
            0});
    in_callback = NULL;
}

static void on_event(void *ctx, const wend_event *ev)
{
    (void)ctx;
    if (ev->type == WEND_TURN_START)
        free_in_callback();
}

static wend_status tool_frees(void *ctx, wend_call *call)
{
    (void)ctx;
    free_in_callback();
    return wend_call_return(call, STR("freed"));
}

static wend_hook_answer hook_frees(void *ctx, wend_hook *h)
{
    (void)ctx;
    (void)h;
    free_in_callback();
    return WEND_HOOK_GO;
}

static const struct {
    const char *what;
    const char *script;
    bool listens, hooks;
} places[] = {
    {"a listener", TEXT, true, false},
    {"a tool",
     "script:{\"turns\":[{\"calls\":[{\"name\":\"frees\","
     "\"args\":{}}]},{\"text\":\"done\"}]}",
     false, false},
    {"a hook", TEXT, false, true},
};

static void test_callback(size_t place, enum kind kind)
{
    static const char *const names[] = {"a run", "an agent", "a runtime"};
    wend_run_options o = {.size = sizeof o};
    struct bench b;
    const wend_event *ev;
    wend_status s;

    if (!bench_open(&b, NULL, places[place].script))
        return;
    rig_add(&b.rig, "frees", tool_frees, WEND_CLASS_READ, NULL);
    wend_run_free(b.run);
    o.hook = places[place].hooks ? hook_frees : NULL;
    b.run = rig_start(&b.rig, &o);
    if (places[place].listens)
        wend_run_listen(b.run, on_event, NULL);
    in_callback = &b;
    callback_kind = kind;
    while ((s = wend_run_next(b.run, &ev)) == WEND_OK)
        continue;
    tap_ok(!in_callback && s == (kind == AGENT ? WEND_END : WEND_E_MISUSE),
           "%s frees %s: the call that is inside says %s", places[place].what,
           names[kind], wend_status_name(s));
    if (kind != RUN)
        wend_run_free(b.run);
    if (kind != AGENT)
        wend_agent_free(b.rig.agent);
    if (kind != RUNTIME)
        wend_runtime_free(b.rig.rt);
    tap_is_i64(b.memory.live, 0, "%s, %s: all memory was given back",
               places[place].what, names[kind]);
}

/* ---- Waiting, replays, requests ------------------------------------------ */

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void test_next_for(void)
{
    struct bench b;
    const wend_event *ev = NULL;
    int64_t began;
    wend_status s;
    int events = 0;

    if (!bench_open(&b, NULL, LATER))
        return;
    while (wend_run_next_for(b.run, 1000, &ev) == WEND_OK && !b.calls[0])
        events++;
    while ((s = wend_run_next_for(b.run, 0, &ev)) == WEND_OK)
        events++;
    tap_ok(events > 4 && s == WEND_AGAIN && !ev, "0 ms: what there is");
    began = now_ms();
    s = wend_run_next_for(b.run, 50, &ev);
    tap_ok(s == WEND_AGAIN && !ev && now_ms() - began >= 50,
           "50 ms: not before they are over");
    wend_call_return(b.calls[0], STR("now"));
    s = wend_run_next_for(b.run, UINT32_MAX, &ev);
    tap_ok(s == WEND_OK && ev->type == WEND_CALL_END, "the next one");
    while ((s = wend_run_next_for(b.run, 60000, &ev)) == WEND_OK)
        continue;
    tap_ok(s == WEND_END && !ev, "and the end");
    tap_ok(wend_run_next_for(NULL, 1, &ev) == WEND_E_INVAL &&
               wend_run_next_for(b.run, 1, NULL) == WEND_E_INVAL,
           "wrong arguments are told");
    wend_run_free(b.run);
    rig_close(&b.rig);
}

static void *cancel(void *run)
{
    usleep(30000);
    wend_run_cancel(run);
    return NULL;
}

/* Who follows a run that does not end can be told to stop. */
static void test_cancel_replay(bool follow)
{
    wend_replay_options o = {.size = sizeof o, .follow = follow};
    wend_outcome outcome;
    wend_run *replay = NULL;
    struct bench b;
    const wend_event *ev;
    pthread_t thread;
    wend_status s;

    if (!bench_open(&b, NULL, LATER))
        return;
    while (!b.calls[0])
        wend_runtime_pump(b.rig.rt);
    o.speed = follow ? 0 : 1e-9; /* the second event comes in years */
    wend_store_replay(b.rig.rt, wend_run_id(b.run), &o, &replay, NULL);
    pthread_create(&thread, NULL, cancel, replay);
    while ((s = wend_run_next(replay, &ev)) == WEND_OK)
        continue;
    pthread_join(thread, NULL);
    tap_ok(s == WEND_END && wend_run_outcome(replay, &outcome) == WEND_AGAIN,
           "a %s replay is canceled: %s, and no outcome",
           follow ? "following" : "slow", wend_status_name(s));
    tap_ok(wend_run_outcome(b.run, &outcome) == WEND_AGAIN,
           "what it showed goes on");
    wend_call_return(b.calls[0], STR("late"));
    wend_run_free(replay);
    wend_run_free(b.run);
    rig_close(&b.rig);
}

struct teller {
    wend_store *store;
    int rounds, bad;
};

/* Starts runs in a runtime of its own and speaks to each at once. */
static void *tell_all(void *arg)
{
    struct teller *t = arg;
    wend_runtime_options o = {.size = sizeof o, .store = t->store};
    wend_agent_options ao = {.size = sizeof ao, .model = LATER};
    wend_request say = {
        .size = sizeof say, .kind = WEND_REQUEST_SAY, .text = "hello"};
    wend_runtime *rt = NULL;
    wend_agent *agent = NULL;

    if (wend_runtime_new(&o, &rt, NULL) ||
        wend_agent_new(rt, &ao, &agent, NULL))
        t->bad++;
    for (int i = 0; i < t->rounds && !t->bad; i++) {
        wend_run *run = NULL;

        if (wend_run_start(agent, STR("x"), NULL, &run, NULL) != WEND_OK ||
            wend_store_tell(t->store, wend_run_id(run), &say, NULL) != WEND_OK)
            t->bad++;
        wend_run_free(run);
    }
    wend_agent_free(agent);
    wend_runtime_free(rt);
    return NULL;
}

static void test_tell(const char *url)
{
    struct teller tellers[3];
    pthread_t threads[3];
    wend_store *store = NULL;
    int bad = 0;

    if (wend_store_open(url, &store, NULL) != WEND_OK)
        tap_ok(false, "store %s", url);
    for (int i = 0; i < 3; i++) {
        tellers[i] = (struct teller){store, 100, 0};
        pthread_create(&threads[i], NULL, tell_all, &tellers[i]);
    }
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
        bad += tellers[i].bad;
    }
    tap_is_i64(bad, 0, "%s: a run is found right after its start", url);
    wend_store_free(store);
}

/* What was wrong before is not told again. */
static void test_error(void)
{
    struct bench b;
    const wend_event *ev;

    if (!bench_open(&b, NULL, TEXT))
        return;
    tap_ok(wend_run_approve(b.run, STR("no"), true, NULL) == WEND_E_NOTFOUND &&
               strstr(wend_run_error(b.run)->message, "'no'"),
           "a refused call is told");
    tap_ok(wend_run_next(b.run, &ev) == WEND_OK &&
               wend_run_error(b.run)->status == WEND_OK &&
               !wend_run_error(b.run)->message[0],
           "after a success nothing is");
    wend_run_free(b.run);
    rig_close(&b.rig);
}

int main(void)
{
    char path[200];

    snprintf(path, sizeof path, "%s/handover.db", getenv("TMPDIR"));
    test_orders(NULL);
    test_orders("memory:");
    test_orders(path);
    test_inside(RUN, "a run");
    test_inside(RUNTIME, "a runtime");
    test_others();
    test_end_of_call();
    for (size_t place = 0; place < tap_count(places); place++)
        for (enum kind kind = RUN; kind <= RUNTIME; kind++)
            test_callback(place, kind);
    test_next_for();
    test_cancel_replay(true);
    test_cancel_replay(false);
    test_tell("memory:");
    test_tell(path);
    test_error();
    return tap_done();
}
