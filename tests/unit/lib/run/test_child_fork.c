/*
 * test_child_fork.c - forks of runs whose children are under way: they have
 * children of their own, and leave those of the other run alone.
 */
#include "run_help.h"
#include "store_help.h"

#define TASK                                                      \
    "{\"calls\":[{\"name\":\"task\",\"args\":{\"agent\":\"kid\"," \
    "\"prompt\":\"do\"}}]}"
#define PARENT "script:{\"turns\":[" TASK ",{\"text\":\"${tool_result}!\"}]}"
#define CHILD                                                     \
    "script:{\"turns\":[{\"calls\":[{\"name\":\"slow\",\"args\":" \
    "{}}]},{\"text\":\"did\"}]}"

static const char plan_text[] =
    "wend: plan/1\nname: p\noutputs: {r: $r}\nactions:\n"
    "- {name: a, type: agent, target: kid, prompt: do, output_key: r}\n";

static const struct {
    const char *why;
    bool plan;
    wend_class call_class;
} kinds[] = {
    {"a task that reads", false, WEND_CLASS_READ},
    {"a task that may do anything", false, WEND_CLASS_UNSAFE},
    {"an action that reads", true, WEND_CLASS_READ},
    {"an action that may do anything", true, WEND_CLASS_UNSAFE},
};

/* The first call waits for the test. */
static wend_status tool_slow(void *ctx, wend_call *call)
{
    wend_call **first = ctx;

    if (*first)
        return wend_call_return(call, STR("soon"));
    *first = call;
    return WEND_OK;
}

static bool open_family(struct rig *r, const char *url, size_t k,
                        wend_call **first)
{
    wend_agent_options o = {
        .size = sizeof o, .model = CHILD, .approve = WEND_APPROVE_ALL};
    wend_child_options kid = {.size = sizeof kid, .name = "kid"};
    struct rig inner;
    bool ok;

    memset(r, 0, sizeof *r);
    r->agent_options.approve = WEND_APPROVE_ALL;
    if (!rig_open(r, url, PARENT))
        return false;
    inner = *r;
    if (wend_agent_new(r->rt, &o, &inner.agent, &r->err) != WEND_OK)
        return tap_ok(false, "kid: %s", r->err.message);
    rig_add(&inner, "slow", tool_slow, kinds[k].call_class, first);
    kid.agent = inner.agent;
    ok = wend_agent_add_agent(r->agent, &kid, &r->err) == WEND_OK &&
         wend_agent_add_builtin(r->agent, "task", &r->err) == WEND_OK;
    wend_agent_free(inner.agent);
    return ok || tap_ok(false, "kid: %s", r->err.message);
}

/* ---- What the store has -------------------------------------------------- */

struct told {
    int64_t seq, started; /* newest event; the first child's start */
    int64_t ended;        /* its end */
    int64_t open;         /* children */
    bool unknown;         /* of what waited for it, nobody knows */
    struct buf lines;
};

static void read_log(struct rig *r, const char *id, struct told *l)
{
    const wend_event *ev;
    wend_run *run = NULL;

    memset(l, 0, sizeof *l);
    l->lines.mem = &rig_mem;
    if (wend_store_replay(r->rt, id, NULL, &run, &r->err) != WEND_OK)
        tap_ok(false, "replay: %s", r->err.message);
    while (run && wend_run_next(run, &ev) == WEND_OK) {
        put_line(&l->lines, ev);
        l->seq = ev->seq;
        l->open +=
            (ev->type == WEND_CHILD_START) - (ev->type == WEND_CHILD_END);
        if (ev->type == WEND_CHILD_START && !l->started)
            l->started = ev->seq;
        if (ev->type == WEND_CHILD_END && !l->ended)
            l->ended = ev->seq;
        l->unknown |= (ev->type == WEND_CALL_END &&
                       ev->u.call_end.outcome == WEND_OUTCOME_UNKNOWN) ||
                      (ev->type == WEND_ACTION_END &&
                       ev->u.action_end.outcome == WEND_OUTCOME_UNKNOWN);
    }
    wend_run_free(run);
}

static bool is_good(struct rig *r, const char *id)
{
    wend_verdict v = {.size = sizeof v};

    return wend_store_verify(r->store, id, NULL, &v, &r->err) == WEND_OK &&
           !v.bad_seq;
}

/* ---- From every event ---------------------------------------------------- */

/* In the end, though the other run's child may wait forever. */
static wend_outcome finish(struct rig *r, wend_run *run)
{
    wend_outcome outcome = WEND_OUTCOME_NONE;
    wend_status s = WEND_AGAIN;
    const wend_event *ev;

    for (int i = 0; s != WEND_END && i < 60000; i++) {
        do
            s = wend_run_poll(run, &ev);
        while (s == WEND_OK);
        wend_runtime_pump(r->rt);
        usleep(500);
    }
    wend_run_outcome(run, &outcome);
    return s == WEND_END ? outcome : WEND_OUTCOME_NONE;
}

static void fork_at(struct rig *r, size_t k, const char *id,
                    const struct told *was, int64_t at)
{
    wend_fork_options o = {.size = sizeof o, .at = at};
    bool is_open = at >= was->started && (!was->ended || at < was->ended);
    bool is_known = !is_open && at != was->ended; /* what its action did */
    bool unsafe = kinds[k].call_class == WEND_CLASS_UNSAFE;
    const char *why = kinds[k].why;
    wend_run *run = NULL;
    struct told l;

    if (wend_run_fork(r->agent, id, &o, NULL, &run, &r->err) != WEND_OK) {
        tap_ok(false, "%s, at %d: %s", why, (int)at, r->err.message);
        return;
    }
    tap_is_i64(finish(r, run),
               !is_known && unsafe && kinds[k].plan ? WEND_OUTCOME_FAILED
                                                    : WEND_OUTCOME_OK,
               "%s, at %d: it ends", why, (int)at);
    read_log(r, wend_run_id(run), &l);
    tap_is_i64(l.open, 0, "%s, at %d: no child is open", why, (int)at);
    if (is_open)
        tap_is_i64(l.unknown, unsafe, "%s, at %d: what is unknown", why,
                   (int)at);
    tap_ok(is_good(r, wend_run_id(run)), "%s, at %d: verified", why, (int)at);
    wend_run_free(run);
    buf_free(&l.lines);
}

/* From every event there is; the child's log stays as it was. */
static void fork_all(struct rig *r, size_t k, const char *id, const char *child,
                     const char *when)
{
    struct told was, before, after;

    read_log(r, id, &was);
    read_log(r, child, &before);
    tap_ok(was.started && before.seq, "%s, %s: a child", kinds[k].why, when);
    for (int64_t at = 1; at <= was.seq - (was.open == 0); at++)
        fork_at(r, k, id, &was, at);
    read_log(r, child, &after);
    tap_ok(after.lines.len == before.lines.len &&
               !memcmp(after.lines.ptr, before.lines.ptr, after.lines.len),
           "%s, %s: the child's log is as it was", kinds[k].why, when);
    buf_free(&was.lines);
    buf_free(&before.lines);
    buf_free(&after.lines);
}

static void every_event(const char *url, size_t k)
{
    wend_call *first = NULL;
    char id[40], child[40];
    struct rig r;
    wend_run *run;

    if (!open_family(&r, url, k, &first))
        return;
    run = kinds[k].plan ? rig_start_plan(&r, plan_text) : rig_start(&r, NULL);
    for (int i = 0; run && !first && i < 60000; i++) {
        wend_runtime_pump(r.rt);
        usleep(500);
    }
    tap_ok(run && wend_run_child(run, 0), "%s: it waits", kinds[k].why);
    if (!run || !wend_run_child(run, 0))
        return;
    snprintf(id, sizeof id, "%s", wend_run_id(run));
    snprintf(child, sizeof child, "%s", wend_run_id(wend_run_child(run, 0)));
    fork_all(&r, k, id, child, "while it runs");
    wend_call_return(first, STR("late"));
    tap_is_i64(finish(&r, run), WEND_OUTCOME_OK, "%s: it ends, too",
               kinds[k].why);
    wend_run_free(run);
    fork_all(&r, k, id, child, "when it is over");
    tap_ok(is_good(&r, id) && is_good(&r, child), "%s: both are good",
           kinds[k].why);
    rig_close(&r);
}

int main(void)
{
    char *dir = dir_make(), url[128];

    snprintf(url, sizeof url, "sqlite:%s/wend.db", dir);
    for (size_t k = 0; k < tap_count(kinds); k++) {
        every_event("memory:", k);
        every_event(url, k);
    }
    dir_remove(dir);
    return tap_done();
}
