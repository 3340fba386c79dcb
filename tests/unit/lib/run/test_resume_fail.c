/*
 * test_resume_fail.c - a resume that fails changes nothing: each of its
 * allocations fails once, and log and list are compared with before.
 */
#include "fault.h"
#include "lib/run/run.h"
#include "run_help.h"

#define SLOW "{\"text\":\"hello\",\"delay\":\"1ms\",\"chunk\":1}"
#define SCRIPT                                                            \
    "script:{\"turns\":[{\"text\":\"hm \",\"calls\":[{\"name\":\"echo\"," \
    "\"args\":{}}]}," SLOW "]}"

/* What the first owner of the run does, and when. */
enum moment { M_START, M_CLAIM, MOMENTS };

static const struct situation {
    const char *why;
    const char *url;                /* NULL: a file */
    wend_event_type until[MOMENTS]; /* it is read so far, ... */
    bool freed[MOMENTS];            /* ... and then let go of */
    bool canceled;                  /* a request for it waits in the store */
    bool sticks; /* all allocations after the first fail, too */
} situations[] = {
    {"finished, in memory", "memory:", {WEND_RUN_END}, {true}, false, false},
    {"finished", NULL, {WEND_RUN_END}, {true}, false, false},
    {"interrupted in memory",
     "memory:",
     {WEND_TEXT_DELTA},
     {true},
     false,
     false},
    {"interrupted", NULL, {WEND_TEXT_DELTA}, {true}, false, false},
    {"interrupted, no memory at all",
     NULL,
     {WEND_TEXT_DELTA},
     {true},
     false,
     true},
    {"interrupted and canceled", NULL, {WEND_TEXT_DELTA}, {true}, true, false},
    {"it ends meanwhile, in memory",
     "memory:",
     {WEND_CALL_END, WEND_RUN_END},
     {false, true},
     false,
     false},
    {"it ends meanwhile",
     NULL,
     {WEND_CALL_END, WEND_RUN_END},
     {false, true},
     false,
     false},
    {"it ends meanwhile, no memory at all",
     NULL,
     {WEND_CALL_END, WEND_RUN_END},
     {false, true},
     false,
     true},
    {"it goes on and is left meanwhile, in memory",
     "memory:",
     {WEND_CALL_START, WEND_TEXT_DELTA},
     {false, true},
     false,
     false},
    {"it goes on and is left meanwhile",
     NULL,
     {WEND_CALL_START, WEND_TEXT_DELTA},
     {false, true},
     false,
     false},
};

/* The first owner, while a resume is at work. */
static struct {
    const struct situation *t;
    struct rig rig;
    wend_run *run;
    const struct store_ops *real;
    struct store_ops ops;
    bool resuming, moved;
    struct buf before; /* of the run, when the resume could begin to change
                          it */
} first;

static bool put_bytes(void *ctx, wend_str bytes)
{
    buf_str(ctx, bytes);
    return true;
}

/* All that is to be seen of a run, once what was handed in is written. */
static void look(wend_store *s, const char *id, struct buf *out)
{
    wend_list_options o = {.size = sizeof o, .run = id};
    const wend_run_info *i = NULL;
    wend_runs *runs = NULL;
    int64_t epoch, seq;

    s->ops->claim(s, STR("nobody"), STORE_SEQ_ANY, &epoch, &seq, NULL);
    buf_clear(out);
    wend_store_export(s, id, 0, put_bytes, out, NULL);
    wend_store_list(s, &o, &runs, NULL);
    if (wend_runs_next(runs, &i) == WEND_OK)
        buf_fmt(out, "%.*s %lld %lld %lld %lld %lld", (int)i->status.len,
                i->status.ptr, (long long)i->ended_us, (long long)i->turns,
                (long long)i->tokens_in, (long long)i->tokens_out,
                (long long)i->seq);
    wend_runs_free(runs);
}

/* The first owner reads so far, and may let go. */
static void move(enum moment m)
{
    const wend_event *ev;

    while (first.t->until[m] != WEND_EVENT_NONE &&
           wend_run_next(first.run, &ev) == WEND_OK &&
           ev->type != first.t->until[m])
        continue;
    if (first.t->freed[m]) {
        wend_run_free(first.run);
        first.run = NULL;
    }
}

/* The log is read before the run is claimed. */
static wend_status read_then_move(wend_store *s, wend_str run,
                                  struct store_place from, uint32_t max,
                                  store_item_fn fn, void *ctx, wend_error *err)
{
    wend_status status = first.real->read(s, run, from, max, fn, ctx, err);
    char id[40];

    if (first.resuming && !first.moved && first.run) {
        snprintf(id, sizeof id, "%.*s", (int)run.len, run.ptr);
        first.moved = true;
        move(M_CLAIM);
        look(s, id, &first.before);
    }
    return status;
}

static void start(const struct situation *t, char id[40])
{
    char path[64];
    wend_request cancel = {.size = sizeof cancel};

    memset(&first, 0, sizeof first);
    first.before.mem = &rig_mem;
    first.t = t;
    snprintf(path, sizeof path, "%s/resume_fail.db", getenv("TMPDIR"));
    unlink(path);
    if (!rig_open(&first.rig, t->url ? t->url : path, SCRIPT))
        exit(1);
    first.ops = *first.rig.store->ops;
    first.real = first.rig.store->ops;
    first.ops.read = read_then_move;
    first.rig.store->ops = &first.ops;
    first.run = rig_start(&first.rig, NULL);
    snprintf(id, 40, "%s", wend_run_id(first.run));
    move(M_START);
    if (t->canceled &&
        wend_store_tell(first.rig.store, id, &cancel, NULL) != WEND_OK)
        tap_ok(false, "%s: a cancel waits", t->why);
}

static wend_status resume(struct rig *r, const char *id, struct fault *f)
{
    wend_run *run = NULL;
    int64_t fail_at = f->fail_at;
    wend_status s;

    f->fail_at = f->count + fail_at;
    first.resuming = true;
    s = wend_run_resume(r->agent, id, NULL, &run, &r->err);
    first.resuming = false;
    f->fail_at = fail_at;
    wend_run_free(run);
    return s;
}

/* What became of one resume whose n-th allocation failed. */
static void round_of(const struct situation *t, struct fault *f, int *changed,
                     int *wrong)
{
    struct rig second = {
        .agent_options = {.size = sizeof(wend_agent_options), .model = SCRIPT}};
    wend_runtime_options o = {.size = sizeof o, .alloc_ctx = f};
    struct buf after = {.mem = &rig_mem};
    wend_verdict v = {.size = sizeof v};
    int64_t fail_at = f->fail_at;
    char id[40];
    wend_status s;

    start(t, id);
    if (first.run == NULL)
        look(first.rig.store, id, &first.before);
    o.store = first.rig.store;
    o.alloc = fault_alloc;
    f->fail_at = 0;
    f->sticks = false;
    if (wend_runtime_new(&o, &second.rt, &second.err) != WEND_OK ||
        wend_agent_new(second.rt, &second.agent_options, &second.agent,
                       &second.err) != WEND_OK)
        exit(1);
    f->fail_at = fail_at;
    f->sticks = t->sticks;
    s = resume(&second, id, f);
    f->fail_at = 0;
    look(first.rig.store, id, &after);
    if (s != WEND_OK && first.before.len &&
        !str_eq(buf_view(&after), buf_view(&first.before))) {
        if (!(*changed)++)
            printf("# %s, allocation %lld:\n# before %.*s\n# after  %.*s\n",
                   t->why, (long long)fail_at, (int)first.before.len,
                   first.before.ptr, (int)after.len, after.ptr);
    }
    if (wend_store_verify(first.rig.store, id, NULL, &v, NULL) != WEND_OK ||
        v.bad_seq) {
        printf("# %s, allocation %lld: %s\n", t->why, (long long)fail_at,
               v.why);
        (*wrong)++;
    }
    wend_run_free(first.run);
    wend_agent_free(second.agent);
    wend_runtime_free(second.rt);
    rig_close(&first.rig);
    buf_free(&first.before);
    buf_free(&after);
    f->fail_at = fail_at;
}

static void test_situation(const struct situation *t)
{
    struct fault f = {0};
    int changed = 0, wrong = 0;

    while (fault_next(&f))
        round_of(t, &f, &changed, &wrong);
    tap_ok(f.fail_at > 10 && !changed && !wrong,
           "%s: %d of %lld resumes that failed changed it, %d logs are wrong",
           t->why, changed, (long long)f.fail_at - 1, wrong);
}

/* ---- Inside a callback --------------------------------------------------- */

struct inside {
    struct rig rig;
    struct fault fault;
    char over[40]; /* a run that has ended */
    int failed[3], left[3];
    wend_run *replay; /* that worked at last */
};

static size_t runs_of(const wend_runtime *rt)
{
    size_t count = 0;

    for (const struct wend_run *r = rt->runs; r; r = r->next)
        count++;
    return count;
}

static wend_status fail_start(struct inside *in, wend_run **out)
{
    return wend_run_start(
        in->rig.agent, STR("x"),
        &(wend_run_options){.size = sizeof(wend_run_options), .labels = "[]"},
        out, NULL);
}

static wend_status fail_resume(struct inside *in, wend_run **out)
{
    return wend_run_resume(in->rig.agent, in->over, NULL, out, NULL);
}

static wend_status fail_replay(struct inside *in, wend_run **out)
{
    return wend_store_replay(in->rig.rt, in->over, NULL, out, NULL);
}

static const struct {
    const char *what;
    wend_status (*call)(struct inside *in, wend_run **out);
} insides[] = {
    {"start", fail_start}, {"resume", fail_resume}, {"replay", fail_replay}};

static wend_status tool_inside(void *ctx, wend_call *call)
{
    struct inside *in = ctx;
    struct fault *f = &in->fault;

    for (size_t i = 0; i < tap_count(insides); i++) {
        for (int64_t n = 1; n < 200; n++) {
            size_t before = runs_of(in->rig.rt);
            wend_run *run = NULL;

            f->hit = false;
            f->fail_at = f->count + n;
            if (insides[i].call(in, &run) != WEND_OK) {
                in->failed[i]++;
                in->left[i] += runs_of(in->rig.rt) != before;
            }
            f->fail_at = 0;
            if (run)
                in->replay = run;
            if (!f->hit)
                break; /* with all the memory it needs */
        }
    }
    return wend_call_return(call, STR("ok"));
}

static void test_inside(void)
{
    struct inside in = {
        .rig = {.agent_options = {.size = sizeof(wend_agent_options),
                                  .model = SCRIPT}}};
    wend_runtime_options o = {
        .size = sizeof o, .alloc = fault_alloc, .alloc_ctx = &in.fault};
    wend_run *run;
    wend_str text;

    if (wend_runtime_new(&o, &in.rig.rt, &in.rig.err) != WEND_OK ||
        wend_agent_new(in.rig.rt, &in.rig.agent_options, &in.rig.agent,
                       &in.rig.err) != WEND_OK)
        exit(1);
    run = rig_start(&in.rig, NULL);
    wend_run_wait(run, &text);
    snprintf(in.over, sizeof in.over, "%s", wend_run_id(run));
    wend_run_free(run);
    rig_add(&in.rig, "echo", tool_inside, WEND_CLASS_READ, &in);
    run = rig_start(&in.rig, NULL);
    wend_run_wait(run, &text);
    wend_run_free(run);
    wend_run_free(in.replay);
    for (size_t i = 0; i < tap_count(insides); i++)
        tap_ok(in.failed[i] && !in.left[i],
               "a %s that fails in a callback leaves no run: %d of %d did",
               insides[i].what, in.left[i], in.failed[i]);
    rig_close(&in.rig);
    tap_is_i64(in.fault.live, 0, "all memory was given back");
}

/* ---- Starts -------------------------------------------------------------- */

/* A run is in the store with its first event, or not at all. */
static void test_start(void)
{
    struct fault f = {0};
    int bad = 0;

    while (fault_next(&f)) {
        wend_runtime_options o = {
            .size = sizeof o, .alloc = fault_alloc, .alloc_ctx = &f};
        wend_agent_options ao = {.size = sizeof ao, .model = SCRIPT};
        wend_list_options all = {.size = sizeof all};
        int64_t fail_at = f.fail_at;
        const wend_run_info *info;
        wend_runtime *rt = NULL;
        wend_agent *agent = NULL;
        wend_runs *runs = NULL;
        wend_run *run = NULL;

        f.fail_at = 0;
        if (wend_store_open("memory:", &o.store, NULL) != WEND_OK ||
            wend_runtime_new(&o, &rt, NULL) != WEND_OK ||
            wend_agent_new(rt, &ao, &agent, NULL) != WEND_OK)
            exit(1);
        f.fail_at = f.count + fail_at;
        wend_run_start(agent, STR("x"), NULL, &run, NULL);
        wend_run_free(run);
        f.fail_at = fail_at;
        wend_store_list(o.store, &all, &runs, NULL);
        while (wend_runs_next(runs, &info) == WEND_OK)
            bad += info->seq == 0;
        wend_runs_free(runs);
        wend_agent_free(agent);
        wend_runtime_free(rt);
        wend_store_free(o.store);
    }
    tap_ok(f.fail_at > 10 && !bad,
           "%d of %lld starts that failed left a run without events", bad,
           (long long)f.fail_at - 1);
}

int main(void)
{
    for (size_t i = 0; i < tap_count(situations); i++)
        test_situation(&situations[i]);
    test_inside();
    test_start();
    return tap_done();
}
