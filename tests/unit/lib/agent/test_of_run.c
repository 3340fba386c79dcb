/*
 * test_of_run.c - the agent of a stored run, made again from its log: what it
 * has, who may say no, and that its log is read once.
 */
#include "run_help.h"
#include "store/store.h"

#define SCRIPT                                                          \
    "script:{\"turns\":[{\"calls\":[{\"name\":\"calculator\",\"args\":" \
    "{\"expression\":\"6*7\"}}]},{\"text\":\"slow answer\",\"delay\":"  \
    "\"5ms\",\"chunk\":1}]}"

/* ---- A store that counts what is read ------------------------------------ */

static struct store_ops counting;
static const struct store_ops *under;
static int64_t items;

struct passing {
    store_item_fn fn;
    void *ctx;
};

static bool count_item(void *ctx, const struct store_item *item)
{
    struct passing *p = ctx;

    items++;
    return p->fn(p->ctx, item);
}

static wend_status count_read(wend_store *s, wend_str run,
                              struct store_place from, uint32_t max,
                              store_item_fn fn, void *ctx, wend_error *err)
{
    struct passing p = {fn, ctx};

    return under->read(s, run, from, max, count_item, &p, err);
}

static void count_reads(wend_store *s)
{
    under = s->ops;
    counting = *under;
    counting.read = count_read;
    s->ops = &counting;
}

/* ---- A run that was left ------------------------------------------------- */

static bool leave(struct rig *r, char id[40])
{
    const char *const tools[] = {"calculator"};
    wend_agent_options o = {
        .size = sizeof o, .name = "left", .model = SCRIPT, .limits.turns = 9};
    wend_load_options load = {
        .size = sizeof load, .agent = &o, .tools = tools, .tools_count = 1};
    wend_agent *agent = NULL;
    const wend_event *ev;
    wend_run *run = NULL;
    int n = 0;

    if (wend_agent_load(r->rt, NULL, &load, &agent, &r->err) != WEND_OK)
        return false;
    rig_add(&(struct rig){.agent = agent}, "own", tool_echo, WEND_CLASS_READ,
            NULL);
    if (wend_run_start(agent, STR("x"), NULL, &run, &r->err) != WEND_OK)
        return false;
    snprintf(id, 40, "%s", wend_run_id(run));
    while (n < 3 && wend_run_next(run, &ev) == WEND_OK)
        n += ev->type == WEND_TEXT_DELTA;
    wend_run_free(run);
    wend_agent_free(agent);
    return n == 3;
}

static bool open_rig(struct rig *r, char id[40])
{
    memset(r, 0, sizeof *r);
    return rig_open(r, "memory:", SCRIPT) && leave(r, id);
}

/* ---- What is made -------------------------------------------------------- */

struct told {
    int events, warnings, reviews;
    bool refuse;
    char warned[200], config[8192];
};

static void warn(void *ctx, const char *text)
{
    struct told *t = ctx;

    t->warnings++;
    snprintf(t->warned, sizeof t->warned, "%s", text);
}

static void past(void *ctx, const wend_event *ev)
{
    struct told *t = ctx;

    t->events += ev->type == WEND_RUN_START || ev->type == WEND_TEXT_DELTA;
}

static wend_status review(void *ctx, const wend_run_past *p, wend_error *err)
{
    struct told *t = ctx;

    (void)err;
    t->reviews++;
    snprintf(t->config, sizeof t->config, "%.*s", (int)p->config.len,
             p->config.ptr);
    return t->refuse ? WEND_E_BUSY : WEND_OK;
}

static void check_whole(void)
{
    struct rig r;
    char id[40];
    struct told told = {0};
    wend_load_options load = {
        .size = sizeof load, .warn = warn, .note_ctx = &told};
    wend_of_run_options o = {.size = sizeof o,
                             .load = &load,
                             .review = review,
                             .past = past,
                             .past_types = UINT64_MAX,
                             .ctx = &told};
    wend_agent *a = NULL;
    wend_run *run = NULL;
    wend_str text = STR_NONE;
    int64_t once;

    if (!tap_ok(open_rig(&r, id), "a run that was left: %s", r.err.message))
        return;
    count_reads(r.store);
    tap_is_i64(wend_agent_of_run(r.rt, id, &o, &a, &r.err), WEND_OK,
               "its agent: %s", r.err.message);
    once = items;
    tap_ok(a && has_tool(a, "calculator") && !has_tool(a, "own"),
           "it has the tools that can be made again");
    tap_ok(told.warnings == 1 && strstr(told.warned, "'own'"),
           "the host's own is told: %s", told.warned);
    tap_ok(told.reviews == 1 && strstr(told.config, "\"calculator\""),
           "the host has seen what the log says");
    tap_is_i64(told.events, 4, "and what the log has so far");
    tap_is_i64(a ? wend_run_resume(a, id, NULL, &run, &r.err) : -1, WEND_OK,
               "resumed: %s", r.err.message);
    tap_ok(once > 10 && items - once <= 3,
           "the log was read once: %lld items, then %lld", (long long)once,
           (long long)(items - once));
    if (run)
        wend_run_wait(run, &text);
    tap_ok(str_is(text, "slow answer"), "and it goes on to its end");
    wend_run_free(run);
    wend_agent_free(a);
    r.store->ops = under;
    rig_close(&r);
}

static void check_taken(void)
{
    struct rig r;
    char id[40];
    const char *const tools[] = {"glob"};
    wend_agent_options agent = {
        .size = sizeof agent,
        .model = "script:{\"turns\":[{\"text\":\"another\"}]}"};
    wend_load_options load = {
        .size = sizeof load, .agent = &agent, .tools = tools, .tools_count = 1};
    wend_of_run_options o = {.size = sizeof o,
                             .load = &load,
                             .take = WEND_FORK_MODEL | WEND_FORK_TOOLS};
    wend_run_options ro = {.size = sizeof ro, .take = o.take};
    wend_agent *a = NULL;
    wend_run *run = NULL;
    wend_str text = STR_NONE;

    if (!tap_ok(open_rig(&r, id), "another run: %s", r.err.message))
        return;
    tap_is_i64(wend_agent_of_run(r.rt, id, &o, &a, &r.err), WEND_OK,
               "with another model and other tools: %s", r.err.message);
    tap_ok(a && has_tool(a, "glob") && !has_tool(a, "calculator"),
           "the tools are the host's");
    if (a && wend_run_resume(a, id, &ro, &run, &r.err) == WEND_OK)
        wend_run_wait(run, &text);
    tap_ok(str_is(text, "another"), "so is the model: %.*s", (int)text.len,
           text.ptr ? text.ptr : "");
    wend_run_free(run);
    wend_agent_free(a);
    rig_close(&r);
}

/* ---- Refusals ------------------------------------------------------------ */

static void check_imported(void)
{
    struct rig r;
    char id[40];
    struct told told = {.refuse = true};
    wend_of_run_options o = {.size = sizeof o, .ctx = &told};
    wend_agent *a = NULL;

    if (!tap_ok(open_rig(&r, id), "a third run: %s", r.err.message))
        return;
    tap_is_i64(wend_agent_of_run(r.rt, id, NULL, &a, &r.err), WEND_OK,
               "control: a run of our own is taken at its word");
    wend_agent_free(a);
    wend_store_distrust(r.store, &r.err);
    tap_is_i64(wend_agent_of_run(r.rt, id, NULL, &a, &r.err), WEND_E_STALE,
               "one of somebody else is not: %s", r.err.message);
    o.review = review;
    tap_is_i64(wend_agent_of_run(r.rt, id, &o, &a, &r.err), WEND_E_BUSY,
               "the host's no is given back");
    tap_ok(!a, "and there is no agent");
    told.refuse = false;
    tap_is_i64(wend_agent_of_run(r.rt, id, &o, &a, &r.err), WEND_OK,
               "the host can answer for it");
    wend_agent_free(a);
    rig_close(&r);
}

static void check_refused(void)
{
    static const char none[] = "01890000-0000-7000-8000-000000000000";
    struct rig r;
    char id[40];
    wend_of_run_options o = {.size = sizeof o};
    wend_agent *a = NULL;

    if (!tap_ok(open_rig(&r, id), "a fourth run: %s", r.err.message))
        return;
    tap_is_i64(wend_agent_of_run(NULL, id, &o, &a, &r.err), WEND_E_INVAL,
               "no runtime");
    tap_is_i64(wend_agent_of_run(r.rt, NULL, &o, &a, &r.err), WEND_E_INVAL,
               "no id");
    tap_is_i64(wend_agent_of_run(r.rt, "last", &o, &a, &r.err), WEND_E_INVAL,
               "what is no id");
    tap_is_i64(wend_agent_of_run(r.rt, id, &o, NULL, &r.err), WEND_E_INVAL,
               "nowhere to put it");
    tap_is_i64(wend_agent_of_run(r.rt, none, &o, &a, &r.err), WEND_E_NOTFOUND,
               "no such run: %s", r.err.message);
    o.take = 1u << 30;
    tap_is_i64(wend_agent_of_run(r.rt, id, &o, &a, &r.err), WEND_E_INVAL,
               "take has bits that mean nothing");
    o.take = 0;
    o.size = 1;
    tap_is_i64(wend_agent_of_run(r.rt, id, &o, &a, &r.err), WEND_E_INVAL,
               "options of a size that cannot be");
    tap_ok(!a, "none of them is an agent");
    rig_close(&r);
}

int main(void)
{
    check_whole();
    check_taken();
    check_imported();
    check_refused();
    return tap_done();
}
