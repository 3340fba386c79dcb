/*
 * driver_more.h - what else the random driver does: programs and servers of
 * tools, relics, and calls with arguments that are wrong.
 */
#ifndef TESTS_DRIVER_MORE_H
#define TESTS_DRIVER_MORE_H

#include "driver_ops.h"
#include "server_help.h"

static void on_note(void *ctx, const char *text)
{
    ticket_used(ctx);
    if (!text)
        broken(((struct ticket *)ctx)->world, "a note without text");
}

/* ---- Tools that are not functions ---------------------------------------- */

static void op_program(struct worker *w)
{
    const char *const argv[] = {chance_of(&w->chance, 900) ? "cat" : "nowhere"};
    wend_command_options o = {.size = some_size(w, sizeof o),
                              .name = "cat",
                              .argv = argv,
                              .argv_count = 1,
                              .call_class =
                                  (wend_class)chance_below(&w->chance, 3)};
    wend_error err = junk;

    check(w, "add_command", wend_agent_add_command(some_agent(w), &o, &err),
          &err, NULL);
}

static void server_of_tools(char program[PATH_MAX])
{
    server_program(program);
    snprintf(strrchr(program, '/') + 1, 32, "wend-test-mcp");
}

/* One server, or two side by side; some do not start. */
static void op_servers(struct worker *w)
{
    char program[PATH_MAX];
    const char *const works[] = {program, "plain", NULL};
    const char *const fails[] = {"/nowhere", NULL};
    wend_mcp_options o[2];
    const wend_mcp_options *list[] = {&o[0], &o[1]};
    wend_error errs[2] = {junk, junk};

    server_of_tools(program);
    for (int i = 0; i < 2; i++) {
        o[i] = (wend_mcp_options){.size = some_size(w, sizeof o[i]),
                                  .name = i ? "other" : "srv",
                                  .command = chance_of(&w->chance, 800) ? works
                                                                        : fails,
                                  .accept = true,
                                  .pins_file = "pins",
                                  .sandbox_off = true,
                                  .start_timeout_ms = 20000,
                                  .note = on_note,
                                  .note_release = ticket_release};
        o[i].note_ctx =
            ticket_new(w, "note of a server", is_taken(o[i].size, sizeof o[i]));
        if (!i && chance_of(&w->chance, 500)) {
            check(w, "add_mcp",
                  wend_agent_add_mcp(some_agent(w), &o[0], &errs[0]), &errs[0],
                  NULL);
            return;
        }
    }
    wend_agent_add_mcps(some_agent(w), list, 2, errs);
}

/* An agent with both, to the end of a run, or not. */
static void op_work(struct worker *w)
{
    wend_agent_options o = {.size = sizeof o,
                            .model = SCRIPT_OF_PROGRAMS,
                            .approve = WEND_APPROVE_ALL};
    wend_run **slot = free_slot(w);
    const wend_event *ev;

    for (int i = 0; i < AGENTS; i++) {
        forget(w, K_AGENT, w->agents[i]);
        w->agents[i] = NULL;
        wend_agent_new(w->rt, &o, &w->agents[i], NULL);
    }
    op_program(w);
    op_servers(w);
    if (wend_run_start(some_agent(w), STR("work"), NULL, slot, NULL) != WEND_OK)
        return;
    for (int i = 0; i < 50 && wend_run_next_for(*slot, 100, &ev) == WEND_OK;
         i++)
        note_work(ev);
}

static void op_relics(struct worker *w)
{
    static const char *const texts[] = {
        "{\"wend\":\"relic/1\",\"kind\":\"kv\",\"name\":\"box\"}",
        "{\"wend\":\"relic/1\",\"kind\":\"kv\"}", "{"};
    wend_relic_options o = {.size = some_size(w, sizeof o),
                            .note = on_note,
                            .note_release = ticket_release};
    const wend_relic_options *options[] = {&o, NULL};
    wend_str list[2];
    wend_error errs[2] = {junk, junk};

    list[0] = str_of(chance_pick(&w->chance, texts));
    list[1] = str_of(chance_pick(&w->chance, texts));
    o.note_ctx = ticket_new(w, "note of a relic", is_taken(o.size, sizeof o));
    if (chance_of(&w->chance, 500))
        check(w, "add_relic",
              wend_agent_add_relic(some_agent(w), list[0], &o, &errs[0]),
              &errs[0], NULL);
    else
        wend_agent_add_relics(some_agent(w), list, options, 2, errs);
}

/* ---- Agents of files and of runs ----------------------------------------- */

static const char agent_text[] = "wend: agent/1\nname: filed\n"
                                 "model: 'script:{\"turns\":[]}'\n";
static const char plan_text[] =
    "wend: plan/1\nname: filed\nactions:\n"
    "  - {name: a, type: tool, target: calculator, params: {expression: 1}}\n";

static wend_status review(void *ctx, const wend_run_past *past, wend_error *err)
{
    struct worker *w = ctx;

    if (!past->run.ptr || !past->config.ptr)
        broken(w->world, "a past without a run or a config");
    if (chance_of(&w->chance, 800))
        return WEND_OK;
    *err = (wend_error){.status = WEND_E_STALE, .message = "refused"};
    return WEND_E_STALE;
}

static void op_load(struct worker *w)
{
    wend_manifest_options mo = {.size = some_size(w, sizeof mo)};
    wend_load_options lo = {.size = some_size(w, sizeof lo), .trust = "any"};
    wend_of_run_options ro = {
        .size = some_size(w, sizeof ro), .load = &lo, .review = review};
    wend_agent **slot = &w->agents[chance_below(&w->chance, AGENTS)];
    wend_manifest *m = NULL;
    wend_error err = junk;
    char id[40], path[32];
    FILE *f;

    snprintf(path, sizeof path, "%p.yaml", (void *)w);
    f = fopen(path, "w");
    mo.plan = chance_of(&w->chance, 300);
    if (f) {
        fputs(mo.plan ? plan_text : agent_text, f);
        fclose(f);
    }
    if (check(w, "manifest_open", wend_manifest_open(path, &mo, &m, &err), &err,
              m)) {
        err = junk;
        check(w, "manifest_check", wend_manifest_check(m, &err), &err, NULL);
    }
    forget(w, K_AGENT, *slot);
    *slot = NULL;
    err = junk;
    ro.ctx = w;
    if (m && m->plan) {
        lo.plan = m;
        lo.plan_trust = "any";
    }
    if (chance_of(&w->chance, 500))
        check(w, "agent_load",
              wend_agent_load(w->rt, lo.plan ? NULL : path, &lo, slot, &err),
              &err, *slot);
    else
        check(w, "agent_of_run",
              wend_agent_of_run(w->rt, some_id(w, id), &ro, slot, &err), &err,
              *slot);
    wend_manifest_free(m);
    unlink(path);
}

/* ---- Wrong arguments ----------------------------------------------------- */

static bool take_bytes(void *ctx, wend_str bytes)
{
    (void)bytes;
    return chance_of(&((struct worker *)ctx)->chance, 900);
}

static int64_t read_nothing(void *ctx, int64_t at, char *to, size_t size)
{
    (void)at;
    (void)to;
    (void)size;
    return chance_of(&((struct worker *)ctx)->chance, 500) ? 0 : -1;
}

static void invalid(struct worker *w, const char *what, wend_status s)
{
    if (s != WEND_E_INVAL)
        broken(w->world, "%s with a wrong argument: %s", what,
               wend_status_name(s));
}

/* What cannot be is refused, whatever state the rest is in. */
static void op_wrong(struct worker *w)
{
    static const wend_request nothing = {.size = sizeof nothing,
                                         .kind = (wend_request_kind)99};
    const wend_event bad = {.type = (wend_event_type)9999};
    wend_store *s = w->world->shared, *none = NULL;
    wend_event *copy = NULL;
    wend_run *run = NULL;
    wend_told told;
    char id[40], fork[37];
    const char *some = some_id(w, id);

    invalid(w, "tell", wend_store_tell(s, some, &nothing, NULL));
    invalid(w, "tell_wait",
            wend_store_tell_wait(s, some, &nothing, 1, &told, NULL));
    invalid(w, "list", wend_store_list(s, NULL, NULL, NULL));
    invalid(w, "fork", wend_store_fork(s, "no id", NULL, fork, NULL));
    invalid(w, "fork of NULL", wend_store_fork(s, NULL, NULL, fork, NULL));
    invalid(w, "fork_at", wend_store_fork_at(s, some, NULL, NULL));
    invalid(w, "verify", wend_store_verify(s, some, NULL, NULL, NULL));
    invalid(w, "check", wend_store_check(NULL, NULL));
    invalid(w, "export", wend_store_export(s, some, 0, NULL, NULL, NULL));
    invalid(w, "import", wend_store_import(s, (wend_str){0}, NULL, NULL, NULL));
    invalid(w, "import_from",
            wend_store_import_from(s, NULL, NULL, NULL, NULL, NULL));
    invalid(w, "close", wend_store_close(s, "no id", NULL, NULL));
    invalid(w, "remove", wend_store_remove(s, "no id", NULL));
    invalid(w, "prune", wend_store_prune(s, NULL, NULL, NULL));
    invalid(w, "origin", wend_store_origin_of(s, NULL, NULL));
    invalid(w, "accept_loss", wend_store_accept_loss(s, "no id", NULL));
    invalid(w, "blob", wend_store_blob(s, some, NULL, take_bytes, w, NULL));
    invalid(w, "context", wend_store_context(s, some, -1, take_bytes, w, NULL));
    invalid(w, "open", wend_store_open("x://y", &none, NULL));
    invalid(w, "open_read", wend_store_open_read("", &none, NULL));
    invalid(w, "clone", wend_event_clone(&bad, &copy));
    invalid(w, "replay", wend_store_replay(NULL, some, NULL, &run, NULL));
    invalid(w, "next", wend_run_next(some_run(w), NULL));
    if (w->collector)
        invalid(w, "collector", wend_collector_add(w->collector, &bad));
    if (w->dialect)
        invalid(w, "dialect", wend_dialect_feed(w->dialect, &bad, NULL));
}

/* ---- And the rest -------------------------------------------------------- */

static void op_dialect(struct worker *w)
{
    size_t count = 0;

    while (wend_dialect_name(count))
        count++;
    wend_dialect_free(w->dialect);
    w->dialect = NULL;
    if (wend_dialect_new(
            wend_dialect_name(chance_below(&w->chance, (uint32_t)count)), NULL,
            &w->dialect, NULL) != WEND_OK)
        broken(w->world, "no dialect");
}

/* To its end, if that does not depend on what others may never do. */
static void op_wait(struct worker *w)
{
    wend_run *r = some_run(w);
    const wend_event *ev = NULL;
    wend_str text;

    wend_run_cancel(r);
    if (chance_of(&w->chance, 500))
        wend_run_wait(r, &text);
    else
        wend_run_next(r, &ev);
}

/* A run of a store, from its first event on, breaks no law. */
static void op_laws(struct worker *w)
{
    const wend_event *ev;
    wend_laws *laws = NULL;
    wend_run *run = NULL;
    wend_error err = junk;
    char id[40];
    wend_status s = wend_laws_new(&laws);

    if (s == WEND_OK)
        s = wend_store_replay(w->rt, some_id(w, id), NULL, &run, NULL);
    while (s == WEND_OK && wend_run_next(run, &ev) == WEND_OK) {
        wend_event *copy = NULL;

        s = wend_laws_add(laws, ev, &err);
        if (s == WEND_E_CORRUPT)
            broken(w->world, "run %s: %s", id, err.message);
        if (!wend_event_name(ev->type) ||
            wend_event_is_delta(ev->type) != (ev->n > 0))
            broken(w->world, "an event without a name, or of another kind");
        if (wend_event_clone(ev, &copy) == WEND_OK)
            wend_event_free(copy);
    }
    wend_laws_end(laws, NULL);
    wend_laws_free(laws);
    wend_run_free(run);
}

/* Names, tools, texts, files. */
static void op_look(struct worker *w)
{
    int n = (int)chance_below(&w->chance, 9) - 1;
    wend_agent *a = some_agent(w);
    const wend_tool_info *tool;
    wend_store *store = NULL;
    wend_error err = junk;
    char id[40];

    for (size_t i = 0; (tool = wend_agent_tool(a, i)); i++)
        if (!wend_class_name(tool->call_class) ||
            !wend_category_name(tool->category))
            broken(w->world, "a tool without a class or a category");
    (void)wend_risk_name((wend_risk)n);
    (void)wend_outcome_name((wend_outcome)n);
    check(w, "blob",
          wend_store_blob(some_store(w), some_id(w, id), "00", take_bytes, w,
                          &err),
          &err, NULL);
    err = junk;
    check(w, "context",
          wend_store_context(some_store(w), some_id(w, id), n > 0 ? n : 0,
                             take_bytes, w, &err),
          &err, NULL);
    err = junk;
    check(w, "import_from",
          wend_store_import_from(some_store(w), read_nothing, w, NULL, NULL,
                                 &err),
          &err, NULL);
    err = junk;
    check(w, "accept_loss",
          wend_store_accept_loss(some_store(w), some_id(w, id), &err), &err,
          NULL);
    err = junk;
    if (check(w, "open_read",
              wend_store_open_read(w->world->path, &store, &err), &err, store))
        forget(w, K_STORE, store);
}

static void op_care(struct worker *w)
{
    wend_prune_options o = {.size = some_size(w, sizeof o),
                            .ended_before_us = 1,
                            .dry_run = chance_of(&w->chance, 500)};
    wend_verdict v = {.size = some_size(w, sizeof v)};
    wend_store_origin origin = {.size = some_size(w, sizeof origin)};
    wend_store *s = some_store(w);
    wend_error err = junk;
    char id[40];
    const char *run = some_id(w, id);

    switch (chance_below(&w->chance, 6)) {
    case 0:
        check(w, "verify", wend_store_verify(s, run, NULL, &v, &err), &err,
              NULL);
        break;
    case 1: check(w, "check", wend_store_check(s, &err), &err, NULL); break;
    case 2:
        check(w, "close", wend_store_close(s, run, "me", &err), &err, NULL);
        break;
    case 3:
        check(w, "prune", wend_store_prune(s, &o, NULL, &err), &err, NULL);
        break;
    case 4:
        check(w, "origin", wend_store_origin_of(s, &origin, &err), &err, NULL);
        break;
    case 5:
        check(w, "remove", wend_store_remove(s, run, &err), &err, NULL);
        break;
    }
}

/* A receiver that is not there. */
static void op_trace(struct worker *w)
{
    wend_trace_options o = {.size = sizeof o,
                            .url = "http://127.0.0.1:9/v1/traces"};
    wend_trace_counts c = {.size = sizeof c};

    wend_runtime_trace(w->rt, &o, NULL);
    wend_runtime_trace_flush(w->rt, 1);
    wend_runtime_trace_counts(w->rt, &c);
}

#endif
