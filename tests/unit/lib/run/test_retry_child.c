/*
 * test_retry_child.c - a retry continues the children that did not end ok: what
 * they had done is not done again, whatever fails on the way.
 */
#include "fault.h"
#include "run_help.h"
#include "store_help.h"

#define TASK                                                      \
    "{\"calls\":[{\"name\":\"task\",\"args\":{\"agent\":\"kid\"," \
    "\"prompt\":\"do\"}}]," USED "}"
#define USED "\"usage\":{\"input\":10,\"output\":1}"
#define PARENT \
    "script:{\"turns\":[" TASK ",{\"text\":\"${tool_result}!\"," USED "}]}"
/* Its second call waits for the test. */
#define CHILD                                                              \
    "script:{\"turns\":[{\"calls\":[{\"name\":\"did\",\"args\":{}}]," USED \
    "},{\"calls\":[{\"name\":\"slow\",\"args\":{}}]," USED                 \
    "},{\"text\":\"done\"," USED "}]}"

static const char plan_text[] =
    "wend: plan/1\nname: p\noutputs: {r: $r}\nactions:\n"
    "- {name: a, type: agent, target: kid, prompt: do, output_key: r}\n";

static const struct {
    const char *why;
    bool plan;
    int64_t tokens; /* in all */
} kinds[] = {
    {"a task", false, 50},
    {"an action", true, 30},
};

/* What the tools of the child saw. */
struct seen {
    int did;
    bool slow;       /* the next call of it waits ... */
    wend_call *held; /* ... and is this */
};

static wend_status tool_did(void *ctx, wend_call *call)
{
    ((struct seen *)ctx)->did++;
    return wend_call_return(call, STR("yes"));
}

static wend_status tool_slow(void *ctx, wend_call *call)
{
    struct seen *s = ctx;

    if (!s->slow)
        return wend_call_return(call, STR("soon"));
    s->held = call;
    return WEND_OK;
}

static bool open_family(struct rig *r, const char *url, struct fault *f,
                        struct seen *seen)
{
    wend_agent_options o = {
        .size = sizeof o, .model = CHILD, .approve = WEND_APPROVE_ALL};
    wend_runtime_options ro = {
        .size = sizeof ro, .alloc = fault_alloc, .alloc_ctx = f};
    wend_child_options kid = {.size = sizeof kid, .name = "kid"};
    struct rig inner;
    bool ok;

    *r = (struct rig){.agent_options = {.size = sizeof(wend_agent_options),
                                        .model = PARENT,
                                        .approve = WEND_APPROVE_ALL}};
    if (wend_store_open(url, &r->store, &r->err) != WEND_OK)
        return tap_ok(false, "store: %s", r->err.message);
    ro.store = r->store;
    inner = *r;
    if (wend_runtime_new(&ro, &r->rt, &r->err) != WEND_OK ||
        wend_agent_new(r->rt, &r->agent_options, &r->agent, &r->err) !=
            WEND_OK ||
        wend_agent_new(r->rt, &o, &inner.agent, &r->err) != WEND_OK)
        return tap_ok(false, "rig: %s", r->err.message);
    rig_add(&inner, "did", tool_did, WEND_CLASS_UNSAFE, seen);
    rig_add(&inner, "slow", tool_slow, WEND_CLASS_READ, seen);
    kid.agent = inner.agent;
    ok = wend_agent_add_agent(r->agent, &kid, &r->err) == WEND_OK &&
         wend_agent_add_builtin(r->agent, "task", &r->err) == WEND_OK;
    wend_agent_free(inner.agent);
    return ok || tap_ok(false, "kid: %s", r->err.message);
}

/* The run is canceled while its child's second call is under way. */
static void cancel_one(struct rig *r, size_t k, struct seen *seen, char id[40])
{
    wend_run *run;
    wend_str text;

    *seen = (struct seen){.slow = true};
    run = kinds[k].plan ? rig_start_plan(r, plan_text) : rig_start(r, NULL);
    for (int i = 0; run && !seen->held && i < 60000; i++) {
        wend_runtime_pump(r->rt);
        usleep(500);
    }
    wend_run_cancel(run);
    wend_run_wait(run, &text);
    snprintf(id, 40, "%s", wend_run_id(run));
    wend_run_free(run);
    if (seen->held)
        wend_call_return(seen->held, STR("late"));
    seen->slow = false;
}

struct family {
    int64_t tokens;
    bool ok;     /* it ended so */
    int adopted; /* children that are forks, too */
    char parent[40], of[40];
};

/* What lists say of the fork and of its child. */
static void look(struct rig *r, const char *fork, struct family *out)
{
    wend_list_options o = {.size = sizeof o, .limit = 10000};
    const wend_run_info *info;
    wend_runs *runs = NULL;

    *out = (struct family){0};
    wend_store_list(r->store, &o, &runs, NULL);
    while (runs && wend_runs_next(runs, &info) == WEND_OK) {
        if (str_is(info->run, fork)) {
            out->tokens = info->tokens_in;
            out->ok = str_is(info->status, "ok");
        }
        if (!info->child || !info->fork_of.ptr)
            continue;
        out->adopted++;
        snprintf(out->parent, sizeof out->parent, "%.*s", (int)info->parent.len,
                 info->parent.ptr);
        snprintf(out->of, sizeof out->of, "%.*s", (int)info->fork_of.len,
                 info->fork_of.ptr);
    }
    wend_runs_free(runs);
}

static bool is_good(struct rig *r, const char *id)
{
    wend_verdict v = {.size = sizeof v};

    return wend_store_verify(r->store, id, NULL, &v, &r->err) == WEND_OK &&
           !v.bad_seq;
}

static void test_continued(const char *url, size_t k)
{
    const char *why = kinds[k].why;
    struct fault f = {0};
    struct seen seen;
    struct family family;
    wend_run *run = NULL;
    wend_str text = {0};
    struct rig r;
    char id[40], fork[40];

    if (!open_family(&r, url, &f, &seen))
        return;
    cancel_one(&r, k, &seen, id);
    tap_is_i64(seen.did, 1, "%s: it had done something", why);
    tap_is_i64(wend_run_fork(r.agent, id, NULL, NULL, &run, &r.err), WEND_OK,
               "%s: fork: %s", why, r.err.message);
    tap_is_i64(wend_run_wait(run, &text), WEND_OK, "%s: it ends ok", why);
    tap_is_str(text, kinds[k].plan ? "{\"r\":\"done\"}" : "done!",
               "%s: with the answer", why);
    tap_is_i64(seen.did, 1, "%s: nothing is done again", why);
    snprintf(fork, sizeof fork, "%s", wend_run_id(run));
    wend_run_free(run);
    look(&r, fork, &family);
    tap_is_i64(family.adopted, 1, "%s: one child is a fork, too", why);
    tap_is_str(str_of(family.parent), (const char *)fork, "%s: its parent",
               why);
    tap_ok(family.of[0] && strcmp(family.of, id) != 0 && is_good(&r, family.of),
           "%s: the child that it continues", why);
    tap_is_i64(family.tokens, kinds[k].tokens, "%s: what it used", why);
    tap_ok(is_good(&r, fork), "%s: verified", why);
    rig_close(&r);
}

/* Each allocation of a retry fails once. What was done before stays done: a run
 * that fails is resumed. */
static void test_failing(size_t k)
{
    struct fault f = {0};
    struct seen seen;
    struct rig r;
    char id[40];
    int failed = 0, again = 0, wrong = 0;
    bool whole = false;

    if (!open_family(&r, "memory:", &f, &seen))
        return;
    cancel_one(&r, k, &seen, id);
    for (int64_t n = 1; n < 4000 && !whole; n += n < 200 ? 3 : 11) {
        wend_run *run = NULL;
        wend_status s;
        wend_str text;
        struct family family;
        char fork[40];

        f.hit = false;
        f.fail_at = f.count + n;
        s = wend_run_fork(r.agent, id, NULL, NULL, &run, &r.err);
        if (s == WEND_OK)
            s = wend_run_wait(run, &text);
        f.fail_at = 0;
        whole = !f.hit;
        failed += s != WEND_OK;
        if (run && s != WEND_OK) {
            snprintf(fork, sizeof fork, "%s", wend_run_id(run));
            wend_run_free(run);
            run = NULL;
            s = wend_run_resume(r.agent, fork, NULL, &run, &r.err);
            if (s == WEND_OK)
                s = wend_run_wait(run, &text);
            again += s == WEND_OK;
            look(&r, fork, &family); /* it may have ended before it failed */
            wrong += s != WEND_OK && !family.ok;
        }
        if (run)
            wrong += !is_good(&r, wend_run_id(run));
        wend_run_free(run);
    }
    tap_ok(whole && failed > 10 && again > 10 && !wrong,
           "%s: %d retries failed, %d were resumed, %d wrong", kinds[k].why,
           failed, again, wrong);
    tap_is_i64(seen.did, 1, "%s: and nothing was done again", kinds[k].why);
    rig_close(&r);
}

/* The fork has other names, and its children have them, too. */
static void test_names(void)
{
    wend_fork_options o = {.size = sizeof o,
                           .user = "bob",
                           .session = "s2",
                           .correlation_id = "c2",
                           .labels = "{\"b\":\"2\",\"a\":\"1\"}"};
    static const char *const bad[] = {"[]", "{\"a\":1}", "{\"\":\"x\"}"};
    struct fault f = {0};
    struct seen seen;
    struct rig r;
    wend_list_options of_bob = {.size = sizeof of_bob, .user = "bob"};
    const wend_run_info *info;
    wend_runs *runs = NULL;
    int count = 0;
    char id[40], fork[40];
    wend_run *run = NULL;
    wend_str text;

    if (!open_family(&r, "memory:", &f, &seen))
        return;
    cancel_one(&r, 1, &seen, id);
    tap_is_i64(wend_run_fork(r.agent, id, &o, NULL, &run, &r.err), WEND_OK,
               "names: fork: %s", r.err.message);
    wend_run_wait(run, &text);
    tap_ok(is_good(&r, wend_run_id(run)), "names: verified");
    wend_run_free(run);
    wend_store_list(r.store, &of_bob, &runs, NULL);
    while (runs && wend_runs_next(runs, &info) == WEND_OK)
        count += str_is(info->session, "s2");
    wend_runs_free(runs);
    tap_is_i64(count, 2, "names: of the fork and of its child");
    for (size_t i = 0; i < tap_count(bad); i++) {
        o.labels = bad[i];
        tap_is_i64(wend_store_fork(r.store, id, &o, fork, &r.err), WEND_E_INVAL,
                   "names: labels %s", bad[i]);
    }
    rig_close(&r);
}

int main(void)
{
    char *dir = dir_make(), url[128];

    snprintf(url, sizeof url, "sqlite:%s/wend.db", dir);
    for (size_t k = 0; k < tap_count(kinds); k++) {
        test_continued("memory:", k);
        test_continued(k ? url : "memory:", k);
        test_failing(k);
    }
    test_names();
    dir_remove(dir);
    return tap_done();
}
