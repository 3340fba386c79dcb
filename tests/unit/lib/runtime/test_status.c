/*
 * test_status.c - a wrong argument is WEND_E_INVAL, whatever else could be said
 * of the call: a table of the public functions and what can be wrong.
 */
#include "run_help.h"

#define SCRIPT "script:{\"turns\":[{\"text\":\"hello\"}]}"
#define NO_RUN "00000000-0000-7000-8000-000000000000"

static struct rig r;
static wend_run *live; /* that waits for nothing */
static char over[40];  /* the id of a run that has ended */
static wend_error err;

static wend_request request_of(int kind, const char *text, const char *call)
{
    return (wend_request){.size = sizeof(wend_request),
                          .kind = (wend_request_kind)kind,
                          .text = text,
                          .call = call};
}

static wend_status tell(const char *id, int kind, const char *text,
                        const char *call)
{
    wend_request q = request_of(kind, text, call);

    return wend_store_tell(r.store, id, &q, &err);
}

static wend_status tell_wait(const char *id, int kind, const char *text,
                             const char *call)
{
    wend_request q = request_of(kind, text, call);
    wend_told told;

    return wend_store_tell_wait(r.store, id, &q, 0, &told, &err);
}

static wend_status collect(int type)
{
    wend_event ev = {.type = (wend_event_type)type};
    wend_collector *c = NULL;
    wend_status s = wend_collector_new(&c);

    if (s == WEND_OK)
        s = wend_collector_add(c, &ev);
    wend_collector_free(c);
    return s;
}

static wend_status dialect_of(const char *name, size_t size, int type)
{
    wend_dialect_options o = {.size = size};
    wend_event ev = {.type = (wend_event_type)type};
    wend_dialect *d = NULL;
    wend_status s = wend_dialect_new(name, &o, &d, &err);

    if (s == WEND_OK)
        s = wend_dialect_feed(d, &ev, NULL);
    wend_dialect_free(d);
    return s;
}

static wend_status clone_of(int type)
{
    wend_event ev = {.type = (wend_event_type)type}, *copy = NULL;
    wend_status s = wend_event_clone(&ev, &copy);

    wend_event_free(copy);
    return s;
}

static wend_status to_json(int type)
{
    wend_event ev = {.type = (wend_event_type)type};
    char *json = NULL;
    size_t len;
    wend_status s = wend_event_to_json(&ev, &json, &len);

    wend_string_free(json);
    return s;
}

static wend_status law(int type)
{
    wend_event ev = {.type = (wend_event_type)type};
    wend_laws *laws = NULL;
    wend_status s = wend_laws_new(&laws);

    if (s == WEND_OK)
        s = wend_laws_add(laws, &ev, &err);
    wend_laws_free(laws);
    return s;
}

static wend_status tool(const char *name, int call_class)
{
    wend_tool_options o = {.size = sizeof o,
                           .name = name,
                           .fn = tool_echo,
                           .call_class = (wend_class)call_class};

    return wend_agent_add_tool(r.agent, &o, &err);
}

static wend_status describe(int format)
{
    wend_plan *plan = NULL;
    wend_str text;
    wend_status s = wend_plan_parse(
        str_of("{\"wend\":\"plan/1\",\"name\":\"p\",\"actions\":[{\"id\":\"a\","
               "\"type\":\"tool\",\"target\":\"echo\"}]}"),
        NULL, &plan, &err);

    if (s == WEND_OK)
        s = wend_plan_describe(plan, (wend_plan_format)format, &text, &err);
    wend_plan_free(plan);
    return s;
}

static wend_status fork_of(const char *id, int64_t at, uint32_t take)
{
    wend_fork_options o = {.size = sizeof o, .at = at, .take = take};
    char fork[37];

    return wend_store_fork(r.store, id, &o, fork, &err);
}

static wend_status resume(const char *id, uint32_t take, int64_t time_ms)
{
    wend_run_options o = {
        .size = sizeof o, .take = take, .limits = {.time_ms = time_ms}};
    wend_run *run = NULL;
    wend_status s = wend_run_resume(r.agent, id, &o, &run, &err);

    wend_run_free(run);
    return s;
}

static wend_status replay(const char *id)
{
    wend_run *run = NULL;
    wend_status s = wend_store_replay(r.rt, id, NULL, &run, &err);

    wend_run_free(run);
    return s;
}

static wend_status start(const char *labels, size_t size)
{
    wend_run_options o = {.size = size, .labels = labels};
    wend_run *run = NULL;
    wend_status s = wend_run_start(r.agent, STR("x"), &o, &run, &err);

    wend_run_free(run);
    return s;
}

static wend_status verify(const char *id, const char *head)
{
    wend_verdict v = {.size = sizeof v};

    return wend_store_verify(r.store, id, head, &v, &err);
}

static bool put(void *ctx, wend_str bytes)
{
    (void)ctx;
    (void)bytes;
    return true;
}

static wend_status export_of(const char *id, int64_t seq_to)
{
    return wend_store_export(r.store, id, seq_to, put, NULL, &err);
}

enum { BAD = 9999 };

#define ROW(call, wanted)                                                  \
    do {                                                                   \
        wend_status got;                                                   \
                                                                           \
        err = (wend_error){0};                                             \
        got = (call);                                                      \
        tap_ok(got == (wanted), "%s: %s, %s %s", #call, #wanted,           \
               wend_status_name(got), got == (wanted) ? "" : err.message); \
    } while (0)

/* Kinds and types that are no value. */
static void test_values(void)
{
    ROW(collect(BAD), WEND_E_INVAL);
    ROW(collect(-1), WEND_E_INVAL);
    ROW(collect(WEND_EVENT_NONE), WEND_E_INVAL);
    ROW(dialect_of("agio", sizeof(wend_dialect_options), BAD), WEND_E_INVAL);
    ROW(dialect_of("agio", sizeof(wend_dialect_options), WEND_EVENT_NONE),
        WEND_E_INVAL);
    ROW(dialect_of("agio", 1, WEND_METRICS), WEND_E_INVAL);
    ROW(dialect_of(NULL, sizeof(wend_dialect_options), WEND_METRICS),
        WEND_E_INVAL);
    ROW(dialect_of("agi", sizeof(wend_dialect_options), WEND_METRICS),
        WEND_E_NOTFOUND);
    ROW(wend_dialect_new("agio", NULL, NULL, &err), WEND_E_INVAL);
    ROW(wend_dialect_feed(NULL, NULL, NULL), WEND_E_INVAL);
    ROW(wend_dialect_interrupt(NULL, NULL), WEND_E_INVAL);
    ROW(clone_of(BAD), WEND_E_INVAL);
    ROW(clone_of(WEND_EVENT_NONE), WEND_E_INVAL);
    ROW(to_json(BAD), WEND_E_INVAL);
    ROW(to_json(WEND_EVENT_NONE), WEND_E_INVAL);
    ROW(law(BAD), WEND_E_INVAL);
    ROW(law(WEND_EVENT_NONE), WEND_E_INVAL);
    ROW(tool("t", BAD), WEND_E_INVAL);
    ROW(tool("no name", 0), WEND_E_INVAL);
    ROW(tool(NULL, 0), WEND_E_INVAL);
    ROW(describe(BAD), WEND_E_INVAL);
    ROW(describe(-1), WEND_E_INVAL);
}

/* A request that is none is refused, also for a run that is over or unknown. */
static void test_requests(void)
{
    const char *const ids[] = {over, NO_RUN, wend_run_id(live)};

    for (size_t i = 0; i < tap_count(ids); i++) {
        const char *id = ids[i];

        ROW(tell(id, BAD, NULL, NULL), WEND_E_INVAL);
        ROW(tell(id, WEND_REQUEST_SAY, NULL, NULL), WEND_E_INVAL);
        ROW(tell(id, WEND_REQUEST_SAY, "\xff", NULL), WEND_E_INVAL);
        ROW(tell(id, WEND_REQUEST_APPROVE, NULL, NULL), WEND_E_INVAL);
        ROW(tell_wait(id, BAD, NULL, NULL), WEND_E_INVAL);
        ROW(tell_wait(id, WEND_REQUEST_SAY, NULL, NULL), WEND_E_INVAL);
        ROW(tell_wait(id, WEND_REQUEST_SAY, "\xff", NULL), WEND_E_INVAL);
        ROW(tell_wait(id, WEND_REQUEST_APPROVE, NULL, NULL), WEND_E_INVAL);
    }
    ROW(tell_wait("no id", WEND_REQUEST_CANCEL, NULL, NULL), WEND_E_INVAL);
    ROW(tell_wait(NULL, WEND_REQUEST_CANCEL, NULL, NULL), WEND_E_INVAL);
    ROW(tell_wait(NO_RUN, WEND_REQUEST_CANCEL, NULL, NULL), WEND_E_NOTFOUND);
    ROW(tell_wait(over, WEND_REQUEST_CANCEL, NULL, NULL), WEND_OK);
    ROW(tell(over, WEND_REQUEST_CANCEL, NULL, NULL), WEND_E_INVAL);
    ROW(wend_store_tell_wait(r.store, over, NULL, 0, NULL, &err), WEND_E_INVAL);
}

static void test_runs(void)
{
    ROW(fork_of("no id", 0, 0), WEND_E_INVAL);
    ROW(fork_of(NULL, 0, 0), WEND_E_INVAL);
    ROW(fork_of(NO_RUN, 0, 0), WEND_E_NOTFOUND);
    ROW(fork_of(over, -1, 0), WEND_E_INVAL);
    ROW(fork_of(over, BAD, 0), WEND_E_INVAL);
    ROW(fork_of(over, 0, WEND_FORK_MODEL), WEND_E_INVAL); /* of no agent */
    ROW(resume("no id", 0, 0), WEND_E_INVAL);
    ROW(resume(NULL, 0, 0), WEND_E_INVAL);
    ROW(resume(NO_RUN, 0, 0), WEND_E_NOTFOUND);
    ROW(resume(over, 0, 0), WEND_E_INVAL);
    ROW(resume(over, BAD, 0), WEND_E_INVAL);
    ROW(resume(NO_RUN, 0, -1), WEND_E_INVAL);
    ROW(replay("no id"), WEND_E_INVAL);
    ROW(replay(NULL), WEND_E_INVAL);
    ROW(replay(NO_RUN), WEND_E_NOTFOUND);
    ROW(start("[]", sizeof(wend_run_options)), WEND_E_INVAL);
    ROW(start("{", sizeof(wend_run_options)), WEND_E_INVAL);
    ROW(start("{\"a\":1}", sizeof(wend_run_options)), WEND_E_INVAL);
    ROW(start(NULL, 1), WEND_E_INVAL);
}

static void test_stores(void)
{
    int64_t at;
    ROW(verify("no id", NULL), WEND_E_INVAL);
    ROW(verify(NULL, NULL), WEND_E_INVAL);
    ROW(verify(NO_RUN, NULL), WEND_E_NOTFOUND);
    ROW(export_of("no id", 0), WEND_E_INVAL);
    ROW(export_of(NULL, 0), WEND_E_INVAL);
    ROW(export_of(NO_RUN, 0), WEND_E_NOTFOUND);
    ROW(export_of(over, -1), WEND_E_INVAL);
    ROW(wend_store_export(r.store, over, 0, NULL, NULL, &err), WEND_E_INVAL);
    ROW(wend_store_import(r.store, (wend_str){0}, NULL, NULL, &err),
        WEND_E_INVAL);
    ROW(wend_store_import_from(r.store, NULL, NULL, NULL, NULL, &err),
        WEND_E_INVAL);
    ROW(wend_store_fork_at(r.store, "no id", &at, &err), WEND_E_INVAL);
    ROW(wend_store_fork_at(r.store, over, NULL, &err), WEND_E_INVAL);
    ROW(wend_store_fork_at(r.store, NO_RUN, &at, &err), WEND_E_NOTFOUND);
    ROW(wend_store_close(r.store, "no id", "me", &err), WEND_E_INVAL);
    ROW(wend_store_close(r.store, NULL, "me", &err), WEND_E_INVAL);
    ROW(wend_store_close(r.store, NO_RUN, "me", &err), WEND_E_NOTFOUND);
    ROW(wend_store_remove(r.store, "no id", &err), WEND_E_INVAL);
    ROW(wend_store_remove(r.store, NO_RUN, &err), WEND_E_NOTFOUND);
    ROW(wend_store_remove(NULL, over, &err), WEND_E_INVAL);
    ROW(wend_store_context(r.store, "no id", 0, put, NULL, &err), WEND_E_INVAL);
    ROW(wend_store_context(r.store, over, -1, put, NULL, &err), WEND_E_INVAL);
    ROW(wend_store_context(r.store, over, 9999, put, NULL, &err), WEND_E_INVAL);
    ROW(wend_store_context(r.store, over, 0, NULL, NULL, &err), WEND_E_INVAL);
    ROW(wend_store_context(r.store, over, 1, put, NULL, &err), WEND_E_NOTFOUND);
    ROW(wend_store_context(r.store, NO_RUN, 0, put, NULL, &err),
        WEND_E_NOTFOUND);
    ROW(wend_store_blob(r.store, "no id", "0", put, NULL, &err), WEND_E_INVAL);
    ROW(wend_store_blob(r.store, over, NULL, put, NULL, &err), WEND_E_INVAL);
    ROW(wend_store_blob(r.store, over, "xyz", put, NULL, &err), WEND_E_INVAL);
    ROW(wend_store_blob(r.store, NO_RUN, "0000", put, NULL, &err),
        WEND_E_NOTFOUND);
    ROW(wend_store_accept_loss(r.store, "no id", &err), WEND_E_INVAL);
    ROW(wend_store_check(NULL, &err), WEND_E_INVAL);
    ROW(wend_store_prune(r.store, NULL, NULL, &err), WEND_E_INVAL);
    ROW(wend_store_origin_of(r.store, NULL, &err), WEND_E_INVAL);
    ROW(wend_store_distrust(NULL, &err), WEND_E_INVAL);
}

int main(void)
{
    wend_run *run;
    wend_str text;

    if (!rig_open(&r, "memory:", SCRIPT))
        return tap_done();
    run = rig_start(&r, NULL);
    wend_run_wait(run, &text);
    snprintf(over, sizeof over, "%s", wend_run_id(run));
    wend_run_free(run);
    live = rig_start(&r, NULL);
    test_values();
    test_requests();
    test_runs();
    test_stores();
    wend_run_free(live);
    rig_close(&r);
    return tap_done();
}
