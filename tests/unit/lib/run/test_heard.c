/*
 * test_heard.c - a request that was accepted is heard, by this owner of a run
 * or the next, or its sender is told that it came too late.
 *
 * Each story is told with both stores. A run that is freed before its end is
 * as one whose process died.
 */
#include "lib/run/run.h"
#include "run_help.h"
#include "store_help.h"

#define TEXT(t) "{\"text\":\"" t "\"}"
#define CALL(tool) "{\"calls\":[{\"name\":\"" tool "\",\"args\":{}}]}"
#define SCRIPT(turns) "script:{\"turns\":[" turns "]}"

/* Each call of the tool is written down; none is kept. */
static wend_status tool_made(void *ctx, wend_call *call)
{
    ++*(int *)ctx;
    return wend_call_return(call, STR("paid"));
}

static wend_status ask_all(struct rig *r, const char *id,
                           const wend_request *list, size_t count)
{
    wend_status s = WEND_OK;

    for (size_t i = 0; s == WEND_OK && i < count; i++) {
        wend_request q = list[i];

        q.size = sizeof q;
        s = wend_store_tell(r->store, id, &q, &r->err);
    }
    return s;
}

/* The names of all events to the end, or to the first question. */
static void read_names(struct rig *r, wend_run *run, struct buf *names)
{
    const wend_event *ev;
    wend_status s;

    (void)r;
    while ((s = wend_run_next(run, &ev)) == WEND_OK) {
        note(names, ev);
        if (ev->type == WEND_APPROVAL_ASK)
            break;
    }
}

/* ---- While no process has it --------------------------------------------- */

static const struct orphan {
    const char *why, *script;
    wend_event_type left;     /* after the first event of this type */
    wend_request requests[3]; /* while nobody has it */
    size_t requests_count;
    int made; /* calls of the unsafe tool, after the resume */
    const char *wanted;
} orphans[] = {
    {"control: what nobody asked goes on",
     SCRIPT(CALL("later") "," CALL("pay") "," TEXT("done")),
     WEND_CALL_START,
     {{0}},
     0,
     1,
     "run_resume call_end(superseded) call_start call_end(ok) turn_end metrics "
     "turn_start context_start context_end model_start args_delta* "
     "model_end(ok) "
     "call_start call_end(ok) turn_end metrics turn_start context_start "
     "context_end "
     "model_start text_delta* model_end(ok) turn_end metrics run_end(ok)"},
    {"a cancel: nothing starts",
     SCRIPT(CALL("later") "," CALL("pay") "," TEXT("done")),
     WEND_CALL_START,
     {{.kind = WEND_REQUEST_CANCEL}},
     1,
     0,
     "run_resume control call_end(canceled) turn_end metrics "
     "run_end(canceled)"},
    {"a word: the next request has it",
     SCRIPT("{\"text\":\"so slow\",\"first_delay\":\"0ms\","
            "\"delay\":\"60s\",\"chunk\":3},"
            "{\"text\":\"heard\",\"when\":\"hurry\"}," TEXT("nobody spoke")),
     WEND_TEXT_DELTA,
     {{.kind = WEND_REQUEST_SAY, .text = "hurry"},
      {.kind = WEND_REQUEST_CANCEL}},
     2,
     0,
     "run_resume message control model_end(canceled) turn_end metrics "
     "run_end(canceled)"},
    {"a word after a cancel is too late",
     SCRIPT(CALL("later") "," TEXT("done")),
     WEND_CALL_START,
     {{.kind = WEND_REQUEST_CANCEL},
      {.kind = WEND_REQUEST_SAY, .text = "hurry"}},
     2,
     0,
     "run_resume control call_end(canceled) turn_end metrics "
     "run_end(canceled)"},
    {"a pause that was taken back",
     SCRIPT(CALL("later") "," TEXT("done")),
     WEND_CALL_START,
     {{.kind = WEND_REQUEST_PAUSE}, {.kind = WEND_REQUEST_CONTINUE}},
     2,
     0,
     "run_resume control control call_end(superseded) call_start call_end(ok) "
     "turn_end metrics turn_start context_start context_end model_start "
     "text_delta* "
     "model_end(ok) turn_end metrics run_end(ok)"},
};

static void test_orphan(const struct orphan *t, const char *url)
{
    struct rig r = {.agent_options = {.approve = WEND_APPROVE_ALL}};
    struct buf names = {.mem = &rig_mem};
    wend_call *kept[8] = {NULL};
    const wend_event *ev;
    wend_run *run;
    char id[40];
    int made = 0;

    if (!rig_open(&r, url, t->script))
        return;
    rig_add(&r, "later", tool_later, WEND_CLASS_READ, kept);
    rig_add(&r, "pay", tool_made, WEND_CLASS_UNSAFE, &made);
    run = rig_start(&r, NULL);
    snprintf(id, sizeof id, "%s", wend_run_id(run));
    while (wend_run_next(run, &ev) == WEND_OK && ev->type != t->left)
        continue;
    wend_run_free(run);
    tap_is_i64(ask_all(&r, id, t->requests, t->requests_count), WEND_OK,
               "%s: accepted", t->why);
    run = NULL;
    wend_run_resume(r.agent, id, NULL, &run, &r.err);
    while (run && wend_run_next(run, &ev) == WEND_OK) {
        note(&names, ev);
        if (ev->type != WEND_CALL_START ||
            !str_is(ev->u.call_start.name, "later"))
            continue;
        while (!kept[1])
            wend_runtime_pump(r.rt);
        wend_call_return(kept[1], STR("late"));
    }
    tap_is_str(buf_view(&names), str_of(t->wanted), "%s", t->why);
    tap_is_i64(made, t->made, "%s: effects", t->why);
    wend_run_free(run);
    if (kept[0])
        wend_call_return(kept[0], STR("nobody waits"));
    buf_free(&names);
    rig_close(&r);
}

/* A pause that nobody had read: the run stands when it is resumed. */
static void test_pause(const char *url)
{
    struct rig r = {.agent_options = {.approve = WEND_APPROVE_ALL}};
    wend_request pause = {.size = sizeof pause, .kind = WEND_REQUEST_PAUSE};
    const wend_event *ev;
    wend_run *run;
    wend_str answer = {0};
    char id[40];
    int made = 0;

    if (!rig_open(&r, url,
                  SCRIPT("{\"text\":\"x\",\"first_delay\":\"80ms\","
                         "\"calls\":[{\"name\":\"pay\"}]}," TEXT("done"))))
        return;
    rig_add(&r, "pay", tool_made, WEND_CLASS_UNSAFE, &made);
    run = rig_start(&r, NULL);
    snprintf(id, sizeof id, "%s", wend_run_id(run));
    while (wend_run_next(run, &ev) == WEND_OK && ev->type != WEND_MODEL_START)
        continue;
    wend_run_free(run);
    wend_store_tell(r.store, id, &pause, &r.err);
    run = NULL;
    wend_run_resume(r.agent, id, NULL, &run, &r.err);
    for (int i = 0; run && i < 300; i++) {
        wend_runtime_pump(r.rt);
        usleep(1000);
    }
    tap_ok(run && run->turn.paused && !made && run->turn.phase == PH_TURN,
           "a pause: the run stands");
    if (run)
        wend_run_continue(run);
    tap_ok(run && wend_run_wait(run, &answer) == WEND_OK && made == 1,
           "a pause: and goes on when it may");
    wend_run_free(run);
    rig_close(&r);
}

/* The question is asked again, and the answer that waited counts. */
static void test_approval(const char *url)
{
    struct rig r = {.agent_options = {.approve = WEND_APPROVE_ASK}};
    wend_request yes = {.size = sizeof yes,
                        .kind = WEND_REQUEST_APPROVE,
                        .call = "call_1",
                        .yes = true};
    struct buf names = {.mem = &rig_mem};
    wend_run *run;
    char id[40];
    int made = 0;

    if (!rig_open(&r, url, SCRIPT(CALL("pay") "," TEXT("done"))))
        return;
    rig_add(&r, "pay", tool_made, WEND_CLASS_UNSAFE, &made);
    run = rig_start(&r, NULL);
    snprintf(id, sizeof id, "%s", wend_run_id(run));
    read_names(&r, run, &names);
    wend_run_free(run);
    tap_is_i64(wend_store_tell(r.store, id, &yes, &r.err), WEND_OK,
               "an approval without an owner is accepted");
    run = NULL;
    wend_run_resume(r.agent, id, NULL, &run, &r.err);
    buf_clear(&names);
    while (run && !run->over)
        read_names(&r, run, &names);
    tap_ok(made == 1 && strstr(names.ptr, "approval_answer call_start"),
           "and the call runs: %s", names.ptr);
    wend_run_free(run);
    buf_free(&names);
    rig_close(&r);
}

/* ---- Before the end ------------------------------------------------------ */

static const struct last {
    const char *why, *script;
    wend_request request;
    const char *wanted; /* after model_end of the first turn */
    wend_outcome outcome;
    wend_told told;
    uint32_t turns; /* limit; 0: none */
} lasts[] = {
    {"a word gets another turn",
     SCRIPT(TEXT("one") ",{\"text\":\"two\",\"when\":\"wait\"}"),
     {.kind = WEND_REQUEST_SAY, .text = "wait"},
     "turn_end metrics message turn_start context_start context_end "
     "model_start text_delta* model_end(ok) turn_end metrics run_end(ok)",
     WEND_OUTCOME_OK,
     WEND_TOLD_APPLIED,
     0},
    {"a cancel counts",
     SCRIPT(TEXT("one")),
     {.kind = WEND_REQUEST_CANCEL},
     "turn_end metrics control run_end(canceled)",
     WEND_OUTCOME_CANCELED,
     WEND_TOLD_APPLIED,
     0},
    {"a pause is too late",
     SCRIPT(TEXT("one")),
     {.kind = WEND_REQUEST_PAUSE},
     "turn_end metrics run_end(ok)",
     WEND_OUTCOME_OK,
     WEND_TOLD_LATE,
     0},
    {"a word is too late when no turn is left",
     SCRIPT(TEXT("one")),
     {.kind = WEND_REQUEST_SAY, .text = "wait"},
     "turn_end metrics run_end(ok)",
     WEND_OUTCOME_OK,
     WEND_TOLD_LATE,
     1},
    {"a cancel is too late for a run that fails",
     SCRIPT("{\"error\":{\"code\":\"auth\",\"message\":\"no\"}}"),
     {.kind = WEND_REQUEST_CANCEL},
     "turn_end metrics run_end(failed)",
     WEND_OUTCOME_FAILED,
     WEND_TOLD_LATE,
     0},
};

/* A store that lets a request in just before the batch with run_end. */
struct gate {
    wend_store base;
    struct store_ops ops;
    wend_store *real;
    const wend_request *request;
    int64_t id;
    int refused;
    store_done_fn done;
    bool holds; /* the end, until the run is let go of */
    struct store_batch *held;
};
static struct gate gate;

static const char *const gate_whats[] = {
    [WEND_REQUEST_CANCEL] = "cancel",
    [WEND_REQUEST_SAY] = "say",
    [WEND_REQUEST_PAUSE] = "pause",
};

static void gate_done(struct store_batch *b, wend_status s)
{
    gate.refused += s == WEND_E_BUSY;
    gate.done(b, s);
}

static void gate_append(wend_store *s, struct store_batch *b)
{
    (void)s;
    if (b->summary.ended_us && gate.request) {
        struct buf body = {.mem = &rig_mem};

        buf_fmt(&body, "{\"by\":\"test\",\"text\":\"%s\"}",
                gate.request->text ? gate.request->text : "");
        gate.real->ops->post(gate.real, b->run, gate_whats[gate.request->kind],
                             buf_view(&body), &gate.id, NULL);
        gate.request = NULL;
        buf_free(&body);
    }
    if (b->summary.ended_us) {
        gate.done = b->done;
        b->done = gate_done;
    }
    if (b->summary.ended_us && gate.holds)
        gate.held = b;
    else
        gate.real->ops->append(gate.real, b);
}

static wend_status gate_claim(wend_store *s, wend_str run, int64_t known,
                              int64_t *epoch, int64_t *seq, wend_error *err)
{
    (void)s;
    return gate.real->ops->claim(gate.real, run, known, epoch, seq, err);
}

static wend_status gate_read(wend_store *s, wend_str run,
                             struct store_place from, uint32_t max,
                             store_item_fn fn, void *ctx, wend_error *err)
{
    (void)s;
    return gate.real->ops->read(gate.real, run, from, max, fn, ctx, err);
}

static wend_status gate_take(wend_store *s, store_request_fn fn, void *ctx,
                             wend_error *err)
{
    (void)s;
    return gate.real->ops->take(gate.real, fn, ctx, err);
}

static wend_status gate_waiting(wend_store *s, wend_str run, struct arena *a,
                                struct store_request **out, size_t *count,
                                wend_error *err)
{
    (void)s;
    return gate.real->ops->waiting(gate.real, run, a, out, count, err);
}

static wend_status gate_facts(wend_store *s, wend_str space, wend_str key,
                              int64_t now_us, store_fact_fn fn, void *ctx,
                              wend_error *err)
{
    (void)s;
    return gate.real->ops->facts(gate.real, space, key, now_us, fn, ctx, err);
}

static void gate_keep(wend_store *s, const struct store_fact *fact,
                      store_kept_fn done, void *ctx)
{
    (void)s;
    gate.real->ops->keep(gate.real, fact, done, ctx);
}

static wend_status gate_failure(wend_store *s, wend_error *err)
{
    (void)s;
    return gate.real->ops->failure(gate.real, err);
}

static void gate_free(wend_store *s)
{
    (void)s;
}

static void gate_open(struct rig *r)
{
    gate = (struct gate){.real = r->store,
                         .ops = {.append = gate_append,
                                 .claim = gate_claim,
                                 .read = gate_read,
                                 .take = gate_take,
                                 .waiting = gate_waiting,
                                 .facts = gate_facts,
                                 .keep = gate_keep,
                                 .failure = gate_failure,
                                 .free = gate_free}};
    store_init(&gate.base, &gate.ops);
    gate.base.mem = r->store->mem;
    r->rt->store = &gate.base;
}

static void test_last(const struct last *t, const char *url)
{
    struct rig r = {.agent_options = {.limits.turns = t->turns}};
    struct buf names = {.mem = &rig_mem};
    enum store_fate fate = FATE_WAITS;
    wend_outcome outcome = WEND_OUTCOME_NONE;
    const wend_event *ev;
    const char *tail;
    wend_run *run;

    if (!rig_open(&r, url, t->script))
        return;
    gate_open(&r);
    gate.request = &t->request;
    run = rig_start(&r, NULL);
    while (wend_run_next(run, &ev) == WEND_OK)
        note(&names, ev);
    tail = strstr(names.ptr, "turn_end");
    tap_is_str(str_of(tail ? tail : ""), str_of(t->wanted), "%s", t->why);
    wend_run_outcome(run, &outcome);
    tap_is_i64(outcome, t->outcome, "%s: outcome", t->why);
    tap_ok(gate.refused >= 1, "%s: the end had to wait", t->why);
    gate.real->ops->fate(gate.real, gate.id, &fate, NULL);
    tap_is_i64(fate, t->told == WEND_TOLD_LATE ? FATE_LATE : FATE_HEARD,
               "%s: what its sender learns", t->why);
    wend_run_free(run);
    r.rt->store = r.store;
    buf_free(&names);
    rig_close(&r);
}

/* The host lets go of a run whose end then has to wait: the next owner ends
 * it. */
static void test_left(const char *url, bool runtime_too)
{
    struct rig r = {.agent_options = {0}};
    wend_runtime_options o = {.size = sizeof o};
    wend_request say = {.kind = WEND_REQUEST_SAY, .text = "wait"};
    wend_run *run;
    wend_str answer = {0};
    char id[40];
    wend_status s;

    if (!rig_open(&r, url,
                  SCRIPT(TEXT("one") ",{\"text\":\"two\",\"when\":\"wait\"}")))
        return;
    o.store = r.store;
    gate_open(&r);
    gate.request = &say;
    gate.holds = true;
    run = rig_start(&r, NULL);
    snprintf(id, sizeof id, "%s", wend_run_id(run));
    while (!gate.held)
        rt_pump(r.rt, 10);
    wend_run_free(run);
    gate.holds = false;
    if (!runtime_too) {
        gate.real->ops->append(gate.real, gate.held);
    } else {
        wend_agent_free(r.agent);
        wend_runtime_free(r.rt);
        wend_store_free(r.store); /* the hold of that runtime */
        gate.real->ops->append(gate.real, gate.held);
        wend_runtime_new(&o, &r.rt, NULL);
        wend_agent_new(r.rt, &r.agent_options, &r.agent, NULL);
    }
    r.rt->store = r.store;
    for (int i = 0; i < 200; i++) {
        wend_runtime_pump(r.rt);
        usleep(1000);
    }
    run = NULL;
    s = wend_run_resume(r.agent, id, NULL, &run, &r.err);
    tap_ok(gate.refused == 1 && s == WEND_OK &&
               wend_run_wait(run, &answer) == WEND_OK && str_is(answer, "two"),
           "%s with its end on its way: resumed, and it heard (%s)",
           runtime_too ? "a runtime freed" : "a run let go of",
           s ? r.err.message : "ok");
    wend_run_free(run);
    rig_close(&r);
}

/* ---- The sender's side --------------------------------------------------- */

static void test_tell_wait(const char *url)
{
    struct rig r = {.agent_options = {0}};
    wend_request say = {
        .size = sizeof say, .kind = WEND_REQUEST_SAY, .text = "x"};
    wend_told told = WEND_TOLD_APPLIED;
    wend_str answer = {0};
    wend_run *run;
    char id[40];

    if (!rig_open(&r, url, SCRIPT(TEXT("one") "," TEXT("two"))))
        return;
    run = rig_start(&r, NULL);
    snprintf(id, sizeof id, "%s", wend_run_id(run));
    tap_is_i64(wend_store_tell(r.store, id, &say, &r.err), WEND_OK,
               "a run is found as soon as it was started");
    tap_ok(wend_store_tell_wait(r.store, id, &say, 30, &told, &r.err) ==
                   WEND_OK &&
               told == WEND_TOLD_QUEUED,
           "an owner that does not look: queued");
    wend_run_wait(run, &answer);
    tap_is_str(answer, STR("two"), "and heard later");
    wend_run_free(run);
    tap_ok(wend_store_tell_wait(r.store, id, &say, 30, &told, &r.err) ==
                   WEND_OK &&
               told == WEND_TOLD_LATE,
           "a run that is over: too late");
    tap_is_i64(wend_store_tell(r.store, id, &say, &r.err), WEND_E_INVAL,
               "and said so");
    tap_is_i64(wend_store_tell_wait(r.store, id, &say, 30, NULL, &r.err),
               WEND_E_INVAL, "nowhere to tell what became of it");
    tap_is_i64(wend_store_tell_wait(r.store,
                                    "01900000-0000-7000-8000-0123456789ab",
                                    &say, 30, &told, &r.err),
               WEND_E_NOTFOUND, "no such run");
    rig_close(&r);
}

/* ---- Runs that nobody goes on with --------------------------------------- */

static void test_close(const char *url)
{
    struct rig r = {.agent_options = {0}};
    wend_request say = {
        .size = sizeof say, .kind = WEND_REQUEST_SAY, .text = "x"};
    wend_verdict v = {.size = sizeof v};
    const wend_event *ev;
    wend_run *run;
    char id[40];

    if (!rig_open(&r, url, SCRIPT("{\"text\":\"so slow\",\"delay\":\"60s\"}")))
        return;
    run = rig_start(&r, NULL);
    snprintf(id, sizeof id, "%s", wend_run_id(run));
    while (wend_run_next(run, &ev) == WEND_OK && ev->type != WEND_MODEL_START)
        continue;
    tap_is_i64(wend_store_close(r.store, id, NULL, &r.err), WEND_E_BUSY,
               "close: a run that is under way");
    tap_is_i64(wend_store_remove(r.store, id, &r.err), WEND_E_BUSY,
               "remove: a run that is under way");
    wend_run_free(run);
    while (wend_store_tell(r.store, id, &say, NULL) != WEND_OK)
        continue;
    tap_is_i64(wend_store_close(r.store, id, "test", &r.err), WEND_OK,
               "close: one without an owner (%s)", r.err.message);
    tap_is_i64(wend_store_close(r.store, id, "test", &r.err), WEND_E_INVAL,
               "close: once");
    run = NULL;
    tap_is_i64(wend_run_resume(r.agent, id, NULL, &run, &r.err), WEND_E_INVAL,
               "close: it is over");
    tap_ok(wend_store_verify(r.store, id, NULL, &v, &r.err) == WEND_OK &&
               !v.bad_seq,
           "close: its log is whole (%s)", v.why);
    tap_is_i64(wend_store_remove(r.store, id, &r.err), WEND_OK,
               "remove: one that is over (%s)", r.err.message);
    tap_is_i64(wend_store_remove(r.store, id, &r.err), WEND_E_NOTFOUND,
               "remove: once");
    tap_ok(wend_store_close(NULL, id, NULL, NULL) == WEND_E_INVAL &&
               wend_store_remove(r.store, "last", NULL) == WEND_E_INVAL,
           "what is no store and no id");
    rig_close(&r);
}

int main(void)
{
    char *dir = dir_make(), path[200];

    for (int sqlite = 0; sqlite < 2; sqlite++) {
        const char *url = "memory:";

        if (sqlite) {
            snprintf(path, sizeof path, "%s/heard.db", dir);
            url = path;
        }
        for (size_t i = 0; i < tap_count(orphans); i++)
            test_orphan(&orphans[i], url);
        for (size_t i = 0; i < tap_count(lasts); i++)
            test_last(&lasts[i], url);
        test_pause(url);
        test_approval(url);
        test_left(url, false);
        test_left(url, true);
        test_tell_wait(url);
        test_close(url);
    }
    dir_remove(dir);
    return tap_done();
}
