/*
 * test_fork.c - forks: from every event of every kind of run, with changes.
 */
#include "fault.h"
#include "run_help.h"
#include "store_help.h"

#define SCRIPT(turns) "script:{\"turns\":[" turns "]}"
#define TEXT(t) "{\"text\":\"" t "\"}"
#define CALLS(calls) "{\"text\":\"hm \",\"calls\":[" calls "]}"
#define CALL(tool) "{\"name\":\"" tool "\",\"args\":{\"a\":1}}"
#define NOBODY "01900000-0000-7000-8000-000000000000"

static const char plan_text[] =
    "wend: plan/1\nname: p\noutputs: {all: $c}\nactions:\n"
    "- {name: a, type: tool, target: echo, mode: async, params: {x: 1}, "
    "output_key: a}\n"
    "- {name: b, type: llm, target: default, mode: async, prompt: one, "
    "output_key: b}\n"
    "- {name: w, type: tool, target: write, mode: async, params: {x: 2}, "
    "skip_on_error: true, output_key: w}\n"
    "- {name: c, type: tool, target: echo, mode: async, depends_on: [a, b], "
    "params: {x: $a, y: $b}, output_key: c}\n"
    "- {name: d, type: decision, depends_on: [b], cases: [{when: \"$b == 2\", "
    "then: [e]}, {else: [f]}]}\n"
    "- {name: e, type: tool, target: secret, skip_on_error: true}\n"
    "- {name: f, type: tool, target: secret, skip_on_error: true}\n"
    "- {name: g, type: tool, target: never, params: {x: \"${a.none}\"}, "
    "depends_on: [a], skip_on_error: true}\n";

/* ---- A run, and what its log has ----------------------------------------- */

static void yes(wend_run *run, const wend_event *ev)
{
    const wend_ev_approval_ask *a = &ev->u.approval_ask;

    if (ev->type == WEND_APPROVAL_ASK)
        wend_run_approve(run, a->call.ptr ? a->call : a->action, true, "test");
}

/* To its end, with a yes to every question; canceled at the n-th delta. */
static void finish(wend_run *run, int cancel_at, struct buf *names)
{
    const wend_event *ev;

    while (run && wend_run_next(run, &ev) == WEND_OK) {
        yes(run, ev);
        if (names)
            note(names, ev);
        if (ev->n && !--cancel_at)
            wend_run_cancel(run);
    }
}

struct told {
    int64_t seq, own; /* newest; first of its own */
    int64_t turns, models, plans, calls, actions, children;
    int64_t parent_at;
    char parent[40];
    wend_outcome outcome;
    bool whole;
    struct buf lines;
};

static void count(struct told *l, const wend_event *ev)
{
    switch ((int)ev->type) {
    case WEND_TURN_START: l->turns++; break;
    case WEND_TURN_END: l->turns--; break;
    case WEND_MODEL_START: l->models++; break;
    case WEND_MODEL_END: l->models--; break;
    case WEND_PLAN_START: l->plans++; break;
    case WEND_PLAN_END: l->plans--; break;
    case WEND_CALL_START: l->calls++; break;
    case WEND_CALL_END: l->calls--; break;
    case WEND_ACTION_START: l->actions++; break;
    case WEND_ACTION_END:
        l->actions -= ev->u.action_end.outcome != WEND_OUTCOME_SKIPPED;
        break;
    case WEND_CHILD_START: l->children++; break;
    case WEND_CHILD_END: l->children--; break;
    case WEND_RUN_END: l->outcome = ev->u.run_end.outcome; break;
    default: break;
    }
}

static void read_log(struct rig *r, const char *id, struct told *l)
{
    const wend_event *ev;
    wend_run *run = NULL;
    wend_laws *laws = NULL;
    wend_error err = {0};
    wend_status s = wend_store_replay(r->rt, id, NULL, &run, &r->err);

    memset(l, 0, sizeof *l);
    l->lines.mem = &rig_mem;
    l->whole = wend_laws_new(&laws) == WEND_OK;
    while (s == WEND_OK && (s = wend_run_next(run, &ev)) == WEND_OK) {
        put_line(&l->lines, ev);
        if (wend_laws_add(laws, ev, &err) != WEND_OK)
            l->whole = printf("# %s\n", err.message) < 0;
        if (ev->n)
            continue;
        l->whole &= ev->seq == ++l->seq;
        count(l, ev);
        if (!l->own && str_is(ev->run, id)) {
            l->own = ev->seq;
            if (ev->type == WEND_RUN_FORK) {
                snprintf(l->parent, sizeof l->parent, "%.*s",
                         (int)ev->u.run_fork.parent.len,
                         ev->u.run_fork.parent.ptr);
                l->parent_at = ev->u.run_fork.at;
            }
        }
    }
    l->whole &= s == WEND_END;
    wend_laws_free(laws);
    wend_run_free(run);
}

static bool is_lawful(const struct told *l)
{
    return l->whole && l->outcome && !l->turns && !l->models && !l->plans &&
           !l->calls && !l->actions && !l->children;
}

static bool is_good(struct rig *r, const char *id)
{
    wend_verdict v = {.size = sizeof v};
    wend_status s = wend_store_verify(r->store, id, NULL, &v, &r->err);

    if (s != WEND_OK || v.bad_seq)
        printf("# run %s: event %lld of %s %s\n", id, (long long)v.bad_seq,
               v.bad_run, s ? r->err.message : v.why);
    return s == WEND_OK && !v.bad_seq;
}

/* ---- From every event ---------------------------------------------------- */

/* A rule denies `secret`, and what is given to `never` is wrong. */
static const char *const rules[] = {"!secret"};

static wend_status tool_refused(void *ctx, wend_call *call)
{
    ++*(int *)ctx;
    return wend_call_return(call, wend_call_args(call));
}

static const struct {
    const char *why, *script;
    bool plan;
    int cancel_at; /* delta */
    wend_approve approve;
    const char *answer; /* of every fork; NULL: any end will do */
    bool kid;           /* it has an agent for tasks */
} kinds[] = {
    {"a text", SCRIPT(TEXT("hello")), false, 0, WEND_APPROVE_ALL, "hello",
     false},
    {"parallel tools",
     SCRIPT(CALLS(CALL("echo") "," CALL("echo") "," CALL("write") "," CALL(
         "broken")) "," TEXT("done")),
     false, 0, WEND_APPROVE_ALL, "done", false},
    {"approvals", SCRIPT(CALLS(CALL("write") "," CALL("write")) "," TEXT("ok")),
     false, 0, WEND_APPROVE_ASK, "ok", false},
    {"refusals",
     SCRIPT(
         CALLS(CALL("secret") ",{\"name\":\"never\",\"args_text\":\"{\"}," CALL(
             "nobody")) "," TEXT("done")),
     false, 0, WEND_APPROVE_ALL, "done", false},
    {"a failing model",
     SCRIPT("{\"error\":{\"code\":\"network\"}}," TEXT("then")), false, 0,
     WEND_APPROVE_ALL, "then", false},
    {"a canceled run",
     SCRIPT("{\"text\":\"hello\",\"chunk\":1,\"delay\":\"2ms\"},"
            "{\"text\":\"hello\",\"repeat\":\"forever\"}"),
     false, 2, WEND_APPROVE_ALL, NULL, false},
    {"a plan", SCRIPT("{\"when\":\"one\",\"text\":\"1\"}"), true, 0,
     WEND_APPROVE_ALL, NULL, false},
    {"a plan with approvals", SCRIPT("{\"when\":\"one\",\"text\":\"1\"}"), true,
     0, WEND_APPROVE_ASK, NULL, false},
    {"a child",
     SCRIPT("{\"calls\":[{\"name\":\"task\",\"args\":{\"agent\":\"kid\","
            "\"prompt\":\"do\"}}]}," TEXT("done")),
     false, 0, WEND_APPROVE_ALL, "done", true},
};

static void fork_at(struct rig *r, size_t k, const char *id, int64_t at)
{
    wend_fork_options o = {.size = sizeof o, .at = at};
    const char *why = kinds[k].why;
    wend_run *run = NULL;
    wend_str answer = {0};
    struct told l;

    if (wend_run_fork(r->agent, id, &o, NULL, &run, &r->err) != WEND_OK) {
        tap_ok(false, "%s, at %d: %s", why, (int)at, r->err.message);
        return;
    }
    finish(run, 0, NULL);
    wend_run_wait(run, &answer);
    read_log(r, wend_run_id(run), &l);
    tap_ok(is_lawful(&l), "%s, at %d: it ends", why, (int)at);
    tap_ok(l.own == at + 1 && l.parent_at == at && !strcmp(l.parent, id),
           "%s, at %d: its own events begin with run_fork", why, (int)at);
    if (kinds[k].answer)
        tap_is_str(answer, str_of(kinds[k].answer), "%s, at %d: the answer",
                   why, (int)at);
    tap_ok(is_good(r, wend_run_id(run)), "%s, at %d: verified", why, (int)at);
    wend_run_free(run);
    buf_free(&l.lines);
}

static void add_kid(struct rig *r)
{
    wend_agent_options o = {.size = sizeof o,
                            .model =
                                SCRIPT(CALLS(CALL("echo")) "," TEXT("did")),
                            .approve = WEND_APPROVE_ALL};
    wend_child_options k = {.size = sizeof k, .name = "kid"};

    tap_ok(wend_agent_new(r->rt, &o, &k.agent, &r->err) == WEND_OK &&
               wend_agent_add_builtin(k.agent, "calculator", &r->err) ==
                   WEND_OK &&
               wend_agent_add_agent(r->agent, &k, &r->err) == WEND_OK &&
               wend_agent_add_builtin(r->agent, "task", &r->err) == WEND_OK,
           "a kid: %s", r->err.message);
    wend_agent_free(k.agent);
}

static void every_event(const char *url, size_t k)
{
    struct rig r = {.agent_options = {.approve = kinds[k].approve,
                                      .rules = rules,
                                      .rules_count = tap_count(rules)}};
    struct told before, after;
    wend_run *run;
    char id[40];
    int ran = 0;

    if (!rig_open(&r, url, kinds[k].script))
        return;
    rig_add(&r, "secret", tool_refused, WEND_CLASS_READ, &ran);
    rig_add(&r, "never", tool_refused, WEND_CLASS_IDEMPOTENT, &ran);
    if (kinds[k].kid)
        add_kid(&r);
    run = kinds[k].plan ? rig_start_plan(&r, plan_text) : rig_start(&r, NULL);
    finish(run, kinds[k].cancel_at, NULL);
    snprintf(id, sizeof id, "%s", run ? wend_run_id(run) : NOBODY);
    wend_run_free(run);
    read_log(&r, id, &before);
    tap_ok(is_lawful(&before) && before.seq > 5, "%s: the parent",
           kinds[k].why);
    for (int64_t at = 1; at < before.seq; at++)
        fork_at(&r, k, id, at);
    read_log(&r, id, &after);
    tap_is_str(buf_view(&after.lines), buf_view(&before.lines),
               "%s: the parent is as it was", kinds[k].why);
    tap_ok(!ran, "%s: nothing runs that was refused", kinds[k].why);
    buf_free(&before.lines);
    buf_free(&after.lines);
    rig_close(&r);
}

/* ---- With changes -------------------------------------------------------- */

/* The newest event of a type that a run has of its own. */
static wend_collector *collect(struct rig *r, const char *id)
{
    wend_collector *c = NULL;
    const wend_event *ev;
    wend_run *run = NULL;

    wend_collector_new(&c);
    wend_store_replay(r->rt, id, NULL, &run, &r->err);
    while (run && wend_run_next(run, &ev) == WEND_OK)
        wend_collector_add(c, ev);
    wend_run_free(run);
    return c;
}

static wend_run *fork_with(struct rig *r, wend_agent *agent, const char *id,
                           wend_fork_options *o)
{
    wend_run *run = NULL;

    o->size = sizeof *o;
    tap_ok(wend_run_fork(agent, id, o, NULL, &run, &r->err) == WEND_OK,
           "a fork: %s", r->err.message);
    return run;
}

static void answers(wend_run *run, const char *wanted, const char *why)
{
    wend_str answer = {0};

    if (run)
        wend_run_wait(run, &answer);
    tap_is_str(answer, str_of(wanted), "%s", why);
}

#define TALK                                                                  \
    SCRIPT("{\"when\":\"French\",\"text\":\"Oui.\"}," CALLS(CALL(             \
        "echo")) ",{\"text\":\"It is ${tool_result}.\"},{\"text\":\"again\"," \
                 "\"repeat\":\"forever\"}")

static void changes(const char *url)
{
    struct rig r = {.agent_options = {.approve = WEND_APPROVE_ALL}};
    wend_agent_options other = {.size = sizeof other,
                                .model = SCRIPT(TEXT("I am new")),
                                .limits = {.turns = 7}};
    wend_fork_result result = {"call_1", STR("forty-three")};
    wend_fork_options o = {0};
    struct buf names = {.mem = &rig_mem};
    wend_agent *agent = NULL;
    const wend_event *ev;
    wend_collector *c;
    wend_run *run;
    char id[40];

    if (!rig_open(&r, url, TALK))
        return;
    run = rig_start(&r, NULL);
    finish(run, 0, NULL);
    snprintf(id, sizeof id, "%s", wend_run_id(run));
    wend_run_free(run);

    o.say = STR("and in French?");
    run = fork_with(&r, r.agent, id, &o);
    finish(run, 0, &names);
    tap_is_str(buf_view(&names),
               str_of("run_fork message run_resume turn_start context_start "
                      "context_end model_start text_delta* model_end(ok) "
                      "turn_end metrics run_end(ok)"),
               "a message: all of its own events are shown");
    answers(run, "Oui.", "another message");
    wend_run_free(run);

    o = (wend_fork_options){.results = &result, .results_count = 1};
    run = fork_with(&r, r.agent, id, &o);
    answers(run, "It is forty-three.", "another result");
    c = collect(&r, wend_run_id(run));
    ev = wend_collector_get(c, WEND_CALL_END, 0);
    tap_ok(ev && ev->u.call_end.given, "which says that it was given");
    wend_collector_free(c);
    wend_run_free(run);

    /* Asked in the middle of a model call, it is heard at once. */
    o = (wend_fork_options){.at = 5, .say = STR("in French!")};
    run = fork_with(&r, r.agent, id, &o);
    answers(run, "Oui.", "a message in the middle of an answer");
    wend_run_free(run);

    wend_agent_new(r.rt, &other, &agent, &r.err);
    o = (wend_fork_options){.say = STR("who are you?"),
                            .take = WEND_FORK_MODEL | WEND_FORK_TOOLS |
                                    WEND_FORK_LIMITS};
    run = fork_with(&r, agent, id, &o);
    answers(run, "I am new", "another model");
    c = collect(&r, wend_run_id(run));
    ev = wend_collector_get(c, WEND_RUN_FORK, 0);
    tap_ok(ev && ev->u.run_fork.limits && ev->u.run_fork.limits->turns == 7,
           "and other limits");
    ev = wend_collector_get(c, WEND_MODEL_START, 2);
    tap_ok(ev && !ev->u.model_start.tools, "and no tools");
    ev = wend_collector_get(c, WEND_CONTEXT_END, 2);
    tap_ok(ev && ev->u.context_end.prefix_changed_json.ptr,
           "and what was cached is void");
    tap_ok(is_good(&r, wend_run_id(run)), "verified");
    wend_collector_free(c);
    wend_run_free(run);
    wend_agent_free(agent);
    buf_free(&names);
    rig_close(&r);
}

/* ---- What is refused ----------------------------------------------------- */

static void refused(const char *url)
{
    static const wend_fork_result none = {"call_9", {"x", 1}};
    struct rig r = {.agent_options = {.approve = WEND_APPROVE_ALL}};
    char id[40], out[37] = "";
    wend_run *run;

    if (!rig_open(&r, url, SCRIPT(TEXT("hello"))))
        return;
    run = rig_start(&r, NULL);
    finish(run, 0, NULL);
    snprintf(id, sizeof id, "%s", wend_run_id(run));
    wend_run_free(run);
    {
        const struct {
            const char *why, *id;
            wend_fork_options o;
            wend_status wanted;
        } rows[] = {
            {"no such run", NOBODY, {.size = sizeof rows->o}, WEND_E_NOTFOUND},
            {"no id", "last", {.size = sizeof rows->o}, WEND_E_INVAL},
            {"no size", id, {0}, WEND_E_INVAL},
            {"below 0", id, {.size = sizeof rows->o, .at = -1}, WEND_E_INVAL},
            {"past the end",
             id,
             {.size = sizeof rows->o, .at = 10},
             WEND_E_INVAL},
            {"the end", id, {.size = sizeof rows->o, .at = 9}, WEND_E_INVAL},
            {"no such call",
             id,
             {.size = sizeof rows->o,
              .at = 5,
              .results = &none,
              .results_count = 1},
             WEND_E_INVAL},
            {"no such call anywhere",
             id,
             {.size = sizeof rows->o, .results = &none, .results_count = 1},
             WEND_E_INVAL},
            {"results that are not there",
             id,
             {.size = sizeof rows->o, .results_count = 1},
             WEND_E_INVAL},
            {"to take from nobody",
             id,
             {.size = sizeof rows->o, .take = WEND_FORK_MODEL},
             WEND_E_INVAL},
            {"to take what there is not",
             id,
             {.size = sizeof rows->o, .agent = r.agent, .take = 64},
             WEND_E_INVAL},
        };

        for (size_t i = 0; i < tap_count(rows); i++) {
            wend_error err = {0};
            wend_status s =
                wend_store_fork(r.store, rows[i].id, &rows[i].o, out, &err);

            tap_is_i64(s, rows[i].wanted, "%s: %s", rows[i].why, err.message);
            tap_ok(err.message[0] && !out[0], "and why is said");
        }
    }
    tap_ok(wend_store_fork(r.store, id, NULL, NULL, NULL) == WEND_E_INVAL &&
               wend_store_fork(NULL, id, NULL, out, NULL) == WEND_E_INVAL &&
               wend_run_fork(NULL, id, NULL, NULL, &run, NULL) == WEND_E_INVAL,
           "NULL where something must be");
    rig_close(&r);
}

/* ---- Forks of forks; keys ------------------------------------------------ */

static void lineage(const char *url)
{
    struct rig r = {.agent_options = {.approve = WEND_APPROVE_ALL}};
    char ids[4][40];
    struct told l;
    wend_run *run;

    if (!rig_open(&r, url, TALK))
        return;
    run = rig_start(&r, NULL);
    finish(run, 0, NULL);
    snprintf(ids[0], sizeof ids[0], "%s", wend_run_id(run));
    wend_run_free(run);
    for (int i = 1; i < 4; i++) {
        wend_fork_options o = {.say = STR("more")};

        run = fork_with(&r, r.agent, ids[i - 1], &o);
        finish(run, 0, NULL);
        snprintf(ids[i], sizeof ids[i], "%s", wend_run_id(run));
        wend_run_free(run);
        tap_ok(is_good(&r, ids[i]), "fork %d deep is good", i);
    }
    read_log(&r, ids[3], &l);
    tap_ok(is_lawful(&l) && !strcmp(l.parent, ids[2]), "the last one's parent");
    buf_free(&l.lines);
    run = fork_with(&r, r.agent, ids[3], &(wend_fork_options){.at = 3});
    finish(run, 0, NULL);
    read_log(&r, wend_run_id(run), &l);
    tap_ok(is_lawful(&l) && !strcmp(l.parent, ids[0]),
           "what it shares with the first is the first's");
    buf_free(&l.lines);
    wend_run_free(run);
    rig_close(&r);
}

/* The effect of a call that was open is the same one in a fork. */
static void keys(const char *url)
{
    struct rig r = {.agent_options = {.approve = WEND_APPROVE_ALL}};
    wend_fork_options o = {.size = sizeof o};
    wend_call *kept[4] = {NULL};
    const wend_event *ev;
    wend_run *run, *fork = NULL;

    if (!rig_open(&r, url, SCRIPT(CALLS(CALL("later")) "," TEXT("done"))))
        return;
    rig_add(&r, "later", tool_later, WEND_CLASS_IDEMPOTENT, kept);
    run = rig_start(&r, NULL);
    while (wend_run_next(run, &ev) == WEND_OK && ev->type != WEND_MODEL_END)
        ;
    while (!kept[0])
        wend_runtime_pump(r.rt);
    tap_ok(wend_run_fork(r.agent, wend_run_id(run), &o, NULL, &fork, &r.err) ==
               WEND_OK,
           "a fork of a run that is under way: %s", r.err.message);
    while (!kept[1])
        wend_runtime_pump(r.rt);
    tap_ok(str_eq(wend_call_key(kept[0]), wend_call_key(kept[1])) &&
               str_starts(wend_call_key(kept[0]), wend_run_id(run)),
           "the same key");
    wend_call_return(kept[0], STR("a"));
    wend_call_return(kept[1], STR("b"));
    answers(fork, "done", "the fork ends");
    answers(run, "done", "and so does its parent");
    wend_run_free(fork);
    wend_run_free(run);
    rig_close(&r);
}

/* A fork for which there is no memory is none, or a sound one. */
static void out_of_memory(void)
{
    wend_fork_options o = {.size = sizeof o, .say = STR("and?")};
    wend_verdict v = {.size = sizeof v};
    struct fault f = {0};
    struct rig r = {0};
    wend_run *run = NULL;
    char id[40], fork[37];
    int64_t bad = 0;

    if (!rig_open(&r, "memory:", SCRIPT(TEXT("one"))))
        return;
    run = rig_start(&r, NULL);
    finish(run, 0, NULL);
    snprintf(id, sizeof id, "%s", wend_run_id(run));
    wend_run_free(run);
    while (fault_next(&f)) {
        struct mem plain = r.store->mem;
        wend_status s;

        r.store->mem = fault_mem(&f);
        s = wend_store_fork(r.store, id, &o, fork, NULL);
        r.store->mem = plain;
        bad += s != (f.hit ? WEND_E_NOMEM : WEND_OK);
        if (s == WEND_OK)
            bad +=
                wend_store_verify(r.store, fork, NULL, &v, NULL) != WEND_OK ||
                v.bad_seq;
    }
    tap_is_i64(bad, 0, "every failed allocation is reported");
    rig_close(&r);
}

int main(void)
{
    char *dir = dir_make(), url[128];

    snprintf(url, sizeof url, "sqlite:%s/wend.db", dir);
    for (int i = 0; i < 2; i++) {
        const char *where = i ? url : "memory:";

        for (size_t k = 0; k < tap_count(kinds); k++)
            if (!i || strcmp(kinds[k].why, "a failing model")) /* it waits */
                every_event(where, k);
        changes(where);
        refused(where);
        lineage(where);
        keys(where);
    }
    out_of_memory();
    dir_remove(dir);
    return tap_done();
}
