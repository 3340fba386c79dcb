/*
 * driver_ops.h - what the random driver does: calls of the API, with arguments
 * that make sense and others.
 */
#ifndef TESTS_DRIVER_OPS_H
#define TESTS_DRIVER_OPS_H

#include "driver_world.h"

#define SCRIPT_OF_PROGRAMS                                                     \
    "script:{\"turns\":[{\"calls\":[{\"name\":\"cat\",\"args\":{\"a\":1}},"    \
    "{\"name\":\"srv.echo\",\"args\":{\"text\":\"x\"}}]},{\"text\":\"done\"}]" \
    "}"

static const char *const scripts[] = {
    "script:{\"turns\":[{\"text\":\"hello\"},{\"text\":\"again\"}]}",
    "script:{\"turns\":[{\"text\":\"hm\",\"calls\":[{\"name\":\"echo\","
    "\"args\":{\"a\":1}},{\"name\":\"threaded\",\"args\":{}},{\"name\":"
    "\"fails\",\"args\":{}}]},{\"text\":\"done\"}]}",
    "script:{\"turns\":[{\"calls\":[{\"name\":\"keeps\",\"args\":{}},{\"name\":"
    "\"echo\",\"args\":{}}]},{\"text\":\"done\"}]}",
    "script:{\"turns\":[{\"calls\":[{\"name\":\"task\",\"args\":{\"agent\":"
    "\"kid\",\"prompt\":\"do\"}}]},{\"text\":\"done\"}]}",
    "script:{\"turns\":[{\"error\":{\"code\":\"network\",\"message\":\"x\"}},"
    "{\"text\":\"slow\",\"delay\":\"1ms\",\"chunk\":1}]}",
    SCRIPT_OF_PROGRAMS,
    "script:{\"turns\":[]}",
    "script:{\"turns\":1}",
    "nothing",
    NULL,
};

static const char plan[] =
    "{\"wend\":\"plan/1\",\"name\":\"p\",\"actions\":[{\"id\":\"a\",\"type\":"
    "\"tool\",\"target\":\"echo\",\"output_key\":\"a\",\"params\":{\"x\":1}},"
    "{\"id\":\"b\",\"type\":\"tool\",\"target\":\"threaded\",\"depends_on\":["
    "\"a\"],\"params\":{\"y\":\"$a\"}}]}";

static const wend_error junk = {WEND_E_IO, 3, 4, "left from before"};

/* Now and then a size that cannot be. */
static size_t some_size(struct worker *w, size_t size)
{
    static const size_t wrong[] = {0, 1, 7, 100000, SIZE_MAX};

    return chance_of(&w->chance, 30) ? chance_pick(&w->chance, wrong) : size;
}

static wend_run **free_slot(struct worker *w)
{
    for (int i = 0; i < RUNS; i++)
        if (!w->runs[i])
            return &w->runs[i];
    forget(w, K_RUN, w->runs[0]);
    w->runs[0] = NULL;
    return &w->runs[0];
}

static wend_run *some_run(struct worker *w)
{
    return w->runs[chance_below(&w->chance, RUNS)];
}

static wend_agent *some_agent(struct worker *w)
{
    return w->agents[chance_below(&w->chance, AGENTS)];
}

static wend_store *some_store(struct worker *w)
{
    return w->store && chance_of(&w->chance, 500) ? w->store
           : chance_of(&w->chance, 20)            ? NULL
                                                  : w->world->shared;
}

/* Whether a call takes options of this size. */
static bool is_taken(size_t given, size_t right)
{
    return given == right;
}

/* ---- Runtimes and agents ------------------------------------------------- */

static struct memory *memory_new(struct worker *w, bool taken)
{
    struct memory *m = calloc(1, sizeof *m);

    m->wanted = taken;
    pthread_mutex_lock(&w->world->lock);
    m->next = w->world->memories;
    w->world->memories = m;
    pthread_mutex_unlock(&w->world->lock);
    return m;
}

static void op_runtime(struct worker *w)
{
    wend_runtime_options o = {.size = some_size(w, sizeof o)};
    struct memory *m = memory_new(w, is_taken(o.size, sizeof o));
    wend_error err = junk;

    forget_runtime(w);
    forget(w, K_STORE, w->store);
    w->store = NULL;
    if (chance_of(&w->chance, 300))
        wend_store_open(w->world->path, &w->store, NULL);
    w->memory = m;
    o.alloc = memory_alloc;
    o.alloc_ctx = m;
    o.alloc_release = memory_release;
    o.store = w->store                     ? w->store
              : chance_of(&w->chance, 700) ? w->world->shared
                                           : NULL;
    if (chance_of(&w->chance, 50))
        atomic_store(&m->fails_in, 1 + chance_below(&w->chance, 30));
    check(w, "runtime_new", wend_runtime_new(&o, &w->rt, &err), &err, w->rt);
}

static void op_forget_runtime(struct worker *w)
{
    forget_runtime(w);
}

static void add_tools(struct worker *w, wend_agent *a)
{
    static const struct {
        const char *name;
        wend_tool_fn fn;
        bool threaded;
    } tools[] = {{"echo", tool_echoes, false},
                 {"threaded", tool_echoes, true},
                 {"keeps", tool_keeps, false},
                 {"fails", tool_fails, false},
                 {"bad name", tool_fails, false}};

    for (size_t i = 0; i < tap_count(tools); i++) {
        wend_tool_options o = {.size = some_size(w, sizeof o),
                               .name = tools[i].name,
                               .fn = tools[i].fn,
                               .threaded = tools[i].threaded,
                               .call_class =
                                   (wend_class)chance_below(&w->chance, 3),
                               .release = ticket_release};
        wend_error err = junk;

        o.ctx = ticket_new(w, tools[i].name, is_taken(o.size, sizeof o));

        check(w, "add_tool", wend_agent_add_tool(a, &o, &err), &err, NULL);
    }
}

static void op_agent(struct worker *w)
{
    wend_agent **slot = &w->agents[chance_below(&w->chance, AGENTS)];
    wend_agent_options o = {.size = some_size(w, sizeof o),
                            .model = chance_of(&w->chance, 850)
                                         ? scripts[chance_below(&w->chance, 7)]
                                         : chance_pick(&w->chance, scripts),
                            .approve = chance_of(&w->chance, 700)
                                           ? WEND_APPROVE_ALL
                                           : WEND_APPROVE_ASK};
    wend_error err = junk;

    forget(w, K_AGENT, *slot);
    *slot = NULL;
    if (!check(w, "agent_new", wend_agent_new(w->rt, &o, slot, &err), &err,
               *slot))
        return;
    add_tools(w, *slot);
    err = junk;
    if (chance_of(&w->chance, 300))
        check(w, "add_kv", wend_agent_add_kv(*slot, "kv", 0, &err), &err, NULL);
    err = junk;
    if (chance_of(&w->chance, 300))
        check(w, "add_builtin",
              wend_agent_add_builtin(
                  *slot, chance_of(&w->chance, 900) ? "remember" : "x", &err),
              &err, NULL);
}

static void op_kid(struct worker *w)
{
    wend_child_options o = {
        .size = some_size(w, sizeof o), .name = "kid", .agent = some_agent(w)};
    wend_error err = junk;

    check(w, "add_agent", wend_agent_add_agent(some_agent(w), &o, &err), &err,
          NULL);
}

static void op_forget_agent(struct worker *w)
{
    wend_agent **slot = &w->agents[chance_below(&w->chance, AGENTS)];

    forget(w, K_AGENT, *slot);
    *slot = NULL;
}

static void op_memory(struct worker *w)
{
    if (w->memory)
        atomic_store(&w->memory->fails_in, 1 + chance_below(&w->chance, 300));
}

static void op_pump(struct worker *w)
{
    wend_runtime_pump(w->rt);
    wend_runtime_wakeup(w->rt);
    (void)wend_runtime_fd(w->rt);
    (void)wend_runtime_timeout_ms(w->rt);
}

/* ---- Runs ---------------------------------------------------------------- */

static void on_event(void *ctx, const wend_event *ev)
{
    struct worker *w = ((struct ticket *)ctx)->worker;
    const wend_event *other;
    char *json = NULL;
    size_t len;

    ticket_used(ctx);
    if (wend_event_to_json(ev, &json, &len) == WEND_OK)
        wend_string_free(json);
    if (w->rt && wend_runtime_pump(w->rt) != WEND_E_MISUSE)
        broken(w->world, "a listener can pump");
    if (some_run(w) && wend_run_poll(some_run(w), &other) == WEND_OK)
        broken(w->world, "a listener can poll");
    if (chance_of(&w->chance, 20))
        forget_runtime(w);
    else if (chance_of(&w->chance, 20))
        op_forget_agent(w);
}

static wend_hook_answer on_hook(void *ctx, wend_hook *h)
{
    struct worker *w = ((struct ticket *)ctx)->worker;

    ticket_used(ctx);
    h->text = STR("hooked");
    return (wend_hook_answer)(chance_of(&w->chance, 800)
                                  ? WEND_HOOK_GO
                                  : chance_below(&w->chance, 4));
}

static void hear(struct worker *w, wend_run *r, bool on)
{
    wend_run_listen_release(r, on ? on_event : NULL,
                            ticket_new(w, "listener", true), ticket_release);
}

static void started(struct worker *w, const char *what, wend_status s,
                    const wend_error *err, wend_run **slot)
{
    if (!check(w, what, s, err, *slot))
        return;
    note_id(w->world, wend_run_id(*slot));
    if (chance_of(&w->chance, 200))
        hear(w, *slot, true);
}

static wend_run_options some_options(struct worker *w)
{
    wend_run_options o = {.size = some_size(w, sizeof o), .user = "u"};

    if (chance_of(&w->chance, 200)) {
        o.hook = on_hook;
        o.hook_ctx = ticket_new(w, "hook", is_taken(o.size, sizeof o));
        o.hook_release = ticket_release;
    }
    if (chance_of(&w->chance, 50))
        o.labels = chance_of(&w->chance, 500) ? "{\"a\":\"b\"}" : "[";
    if (chance_of(&w->chance, 100))
        o.filter.merge_count = 8;
    if (chance_of(&w->chance, 50))
        o.messages = chance_of(&w->chance, 500)
                         ? "[{\"role\":\"user\",\"text\":\"before\"}]"
                         : "[{\"role\":\"tool\"}]";
    return o;
}

static void op_start(struct worker *w)
{
    wend_run **slot = free_slot(w);
    wend_run_options o = some_options(w);
    wend_error err = junk;
    wend_status s =
        wend_run_start(some_agent(w), STR("prompt"), &o, slot, &err);

    started(w, "run_start", s, &err, slot);
}

static void hear_verdict(void *ctx, const wend_plan_verdict *v)
{
    (void)ctx;
    (void)v;
}

static void op_start_plan(struct worker *w)
{
    wend_run **slot = free_slot(w);
    wend_run_options o;
    wend_plan_options po = {.size = some_size(w, sizeof po)};
    wend_plan *p = NULL;
    wend_error err = junk;
    wend_str text;

    if (chance_of(&w->chance, 500)) {
        struct memory *m = memory_new(w, is_taken(po.size, sizeof po));

        po.alloc = memory_alloc;
        po.alloc_ctx = m;
        po.alloc_release = memory_release;
        if (chance_of(&w->chance, 200))
            atomic_store(&m->fails_in, 1 + chance_below(&w->chance, 50));
    }
    if (!check(w, "plan_parse", wend_plan_parse(str_of(plan), &po, &p, &err),
               &err, p))
        return;
    err = junk;
    check(w, "plan_learn", wend_plan_learn(p, some_store(w), "script:x", &err),
          &err, NULL);
    err = junk;
    check(w, "plan_describe",
          wend_plan_describe(p, (wend_plan_format)chance_below(&w->chance, 6),
                             &text, &err),
          &err, NULL);
    err = junk;
    check(w, "plan_preview",
          wend_plan_preview(some_agent(w), p, hear_verdict, NULL, &err), &err,
          NULL);
    err = junk;
    o = some_options(w);
    started(w, "run_start_plan",
            wend_run_start_plan(some_agent(w), p, NULL, &o, slot, &err), &err,
            slot);
    wend_plan_free(p);
}

static void op_resume(struct worker *w)
{
    wend_run **slot = free_slot(w);
    wend_run_options o = some_options(w);
    wend_error err = junk;
    char id[40];

    started(w, "run_resume",
            wend_run_resume(some_agent(w), some_id(w, id), &o, slot, &err),
            &err, slot);
}

static void op_follow(struct worker *w)
{
    wend_run **slot = free_slot(w);
    wend_run_options o = some_options(w);
    wend_error err = junk;
    char id[40];

    o.take = chance_of(&w->chance, 200) ? WEND_FORK_CONFIG : 0;
    started(w, "run_follow",
            wend_run_follow(some_agent(w), some_id(w, id), STR("more"), &o,
                            slot, &err),
            &err, slot);
}

static void op_fork(struct worker *w)
{
    wend_fork_options f = {.size = some_size(w, sizeof f),
                           .at = chance_below(&w->chance, 8)};
    wend_run **slot = free_slot(w);
    wend_error err = junk;
    char id[40], fork[37] = "";
    int64_t at;

    if (chance_of(&w->chance, 500)) {
        started(
            w, "run_fork",
            wend_run_fork(some_agent(w), some_id(w, id), &f, NULL, slot, &err),
            &err, slot);
        return;
    }
    if (chance_of(&w->chance, 300))
        check(w, "fork_at",
              wend_store_fork_at(some_store(w), some_id(w, id), &at, &err),
              &err, NULL);
    if (check(w, "store_fork",
              wend_store_fork(some_store(w), some_id(w, id), &f, fork, &err),
              &err, NULL))
        note_id(w->world, fork);
}

static void op_replay(struct worker *w)
{
    wend_replay_options o = {.size = some_size(w, sizeof o),
                             .speed = chance_below(&w->chance, 3) * 1000.0,
                             .seq_from = chance_below(&w->chance, 4),
                             .follow = chance_of(&w->chance, 500)};
    wend_run **slot = free_slot(w);
    wend_error err = junk;
    char id[40];

    started(w, "replay",
            wend_store_replay(w->rt, some_id(w, id), &o, slot, &err), &err,
            slot);
}

static void note_work(const wend_event *ev)
{
    if (ev->type != WEND_CALL_END || ev->u.call_end.outcome != WEND_OUTCOME_OK)
        return;
    atomic_fetch_add(&well.programs, str_is(ev->u.call_end.name, "cat"));
    atomic_fetch_add(&well.servers, str_is(ev->u.call_end.name, "srv.echo"));
}

static void op_read(struct worker *w)
{
    wend_run *r = some_run(w);
    const wend_event *ev = NULL;
    uint32_t timeout_ms = chance_below(&w->chance, 4);

    for (uint32_t n = chance_below(&w->chance, 12); n--;) {
        wend_status s = chance_of(&w->chance, 700)
                            ? wend_run_next_for(r, timeout_ms, &ev)
                            : wend_run_poll(r, &ev);

        if (s != WEND_OK && r && ev)
            broken(w->world, "no event, and one is lent");
        if (s != WEND_OK || !w->rt)
            break;
        if (w->collector)
            wend_collector_add(w->collector, ev);
        if (w->dialect)
            feed_dialect(w, ev);
        note_work(ev);
        if (ev->type == WEND_APPROVAL_ASK)
            wend_run_approve(r, ev->u.approval_ask.call,
                             chance_of(&w->chance, 700), NULL);
    }
}

static void op_tell_run(struct worker *w)
{
    wend_run *r = some_run(w);
    wend_outcome outcome;
    wend_ev_part seen;

    switch (chance_below(&w->chance, 12)) {
    case 0: wend_run_say(r, STR("more")); break;
    case 1: wend_run_pause(r); break;
    case 2: wend_run_continue(r); break;
    case 3: wend_run_cancel(r); break;
    case 4: wend_run_cancel_by(r, "somebody"); break;
    case 5: wend_run_approve_always(r, STR("x"), true, "me"); break;
    case 6: wend_run_child(r, 0); break;
    case 7: hear(w, r, chance_of(&w->chance, 500)); break;
    case 8: wend_run_approve_changed(r, STR("x"), STR("{}"), "me"); break;
    case 9: wend_part_check(&gif, some_agent(w), &seen, NULL); break;
    case 10: wend_run_compact(r, STR("names")); break;
    case 11: wend_run_say_parts(r, STR("look"), &gif, 1); break;
    }
    (void)wend_run_outcome(r, &outcome);
    (void)wend_run_error(r);
}

static void op_forget_run(struct worker *w)
{
    wend_run **slot = &w->runs[chance_below(&w->chance, RUNS)];

    forget(w, K_RUN, *slot);
    *slot = NULL;
}

static void op_answer(struct worker *w)
{
    wend_call *call = take_call(w->world, chance_below(&w->chance, CALLS));

    if (call)
        wend_call_return(call, STR("at last"));
}

static void op_collect(struct worker *w)
{
    collect_one(w->world);
}

static void op_collector(struct worker *w)
{
    (void)wend_collector_text(w->collector);
    (void)wend_collector_answer(w->collector);
    (void)wend_collector_get(w->collector, WEND_CALL_END, 0);
    wend_collector_free(w->collector);
    w->collector = NULL;
    if (wend_collector_new(&w->collector) != WEND_OK)
        broken(w->world, "no collector");
}

/* ---- Stores -------------------------------------------------------------- */

static void op_list(struct worker *w)
{
    wend_list_options o = {.size = some_size(w, sizeof o),
                           .limit = chance_below(&w->chance, 5)};
    const wend_run_info *info;
    wend_runs *runs = NULL;
    wend_error err = junk;

    check(w, "list", wend_store_list(some_store(w), &o, &runs, &err), &err,
          runs);
    while (runs && wend_runs_next(runs, &info) == WEND_OK)
        continue;
    wend_runs_free(runs);
}

static void op_tell(struct worker *w)
{
    wend_request q = {.size = some_size(w, sizeof q),
                      .kind = (wend_request_kind)chance_below(&w->chance, 6),
                      .text = "told",
                      .call = "x"};
    wend_told told;
    wend_error err = junk;
    char id[40];

    if (chance_of(&w->chance, 800))
        check(w, "tell",
              wend_store_tell(some_store(w), some_id(w, id), &q, &err), &err,
              NULL);
    else
        check(w, "tell_wait",
              wend_store_tell_wait(some_store(w), some_id(w, id), &q, 2, &told,
                                   &err),
              &err, NULL);
}

static bool add_bytes(void *ctx, wend_str bytes)
{
    buf_str(ctx, bytes);
    return true;
}

static void op_move(struct worker *w)
{
    static const struct mem mem;
    struct buf file = {.mem = &mem};
    wend_error err = junk;
    char id[40];

    check(w, "export",
          wend_store_export(some_store(w), some_id(w, id), 0, add_bytes, &file,
                            &err),
          &err, NULL);
    err = junk;
    if (file.len)
        check(
            w, "import",
            wend_store_import(some_store(w), buf_view(&file), NULL, NULL, &err),
            &err, NULL);
    buf_free(&file);
}

#endif
