/*
 * test_imported.c - an imported run brings its history and no authority.
 *
 * Each story is a log that somebody made so that resuming it calls a tool:
 * there the tool only reads, all is approved, or somebody has said yes. It is
 * cut where the call is due, imported and resumed with an agent whose policy
 * denies the tool. The control trusts the config of the log, and the tool is
 * called; where somebody has said yes, it is the run that the log is of.
 */
#include "run_help.h"
#include "store/store.h"

#define TEXT(t) "{\"text\":\"" t "\"}"
#define CALL "{\"calls\":[{\"name\":\"canary\",\"args\":{}}]}"
#define SCRIPT(turns) "script:{\"turns\":[" turns "]}"
#define PLAN                                                  \
    "wend: plan/1\nname: p\nactions:\n- {id: a, type: tool, " \
    "target: canary}\n"

static wend_status canary(void *ctx, wend_call *call)
{
    ++*(int *)ctx;
    return wend_call_return(call, STR("sung"));
}

static const struct story {
    const char *why;
    wend_class call_class; /* there */
    wend_approve approve;
    enum { NO, YES, ALWAYS } says; /* whoever is asked there */
    bool plan;
    wend_event_type cut; /* the last event of the file */
    const char *ours;    /* what our model says next */
} stories[] = {
    {"the tool only reads, says the log", WEND_CLASS_READ, WEND_APPROVE_DENY,
     NO, false, WEND_MODEL_END, SCRIPT(TEXT("done"))},
    {"all is approved, says the log", WEND_CLASS_UNSAFE, WEND_APPROVE_ALL, NO,
     false, WEND_MODEL_END, SCRIPT(TEXT("done"))},
    {"the call was under way, says the log", WEND_CLASS_READ, WEND_APPROVE_DENY,
     NO, false, WEND_CALL_START, SCRIPT(TEXT("done"))},
    {"somebody said yes, says the log", WEND_CLASS_UNSAFE, WEND_APPROVE_ASK,
     YES, false, WEND_APPROVAL_ANSWER, SCRIPT(TEXT("done"))},
    {"somebody said always, says the log", WEND_CLASS_UNSAFE, WEND_APPROVE_ASK,
     ALWAYS, false, WEND_TURN_END, SCRIPT(CALL "," TEXT("done"))},
    {"the action was under way, says the log", WEND_CLASS_READ,
     WEND_APPROVE_DENY, NO, true, WEND_ACTION_START, SCRIPT(TEXT("done"))},
    {"the action is due, says the log", WEND_CLASS_UNSAFE, WEND_APPROVE_ALL, NO,
     true, WEND_PLAN_START, SCRIPT(TEXT("done"))},
    {"the action was approved, says the log", WEND_CLASS_UNSAFE,
     WEND_APPROVE_ASK, YES, true, WEND_APPROVAL_ANSWER, SCRIPT(TEXT("done"))},
};
enum { STORIES = sizeof stories / sizeof *stories };

static bool add_bytes(void *ctx, wend_str bytes)
{
    buf_str(ctx, bytes);
    return true;
}

static void note_id(void *ctx, const char *run, int64_t events)
{
    (void)events;
    snprintf(ctx, 40, "%s", run);
}

/* The file, as it was made elsewhere; how often the tool was called there. */
static int make_file(const struct story *st, struct buf *file)
{
    struct rig r = {.agent_options.approve = st->approve};
    const wend_event *ev;
    int64_t cut = 0;
    int calls = 0;
    wend_run *run;

    rig_open(&r, "memory:", SCRIPT(CALL "," TEXT("done")));
    rig_add(&r, "canary", canary, st->call_class, &calls);
    run = st->plan ? rig_start_plan(&r, PLAN) : rig_start(&r, NULL);
    while (run && wend_run_next(run, &ev) == WEND_OK) {
        if (ev->type == st->cut && !cut)
            cut = ev->seq;
        if (ev->type != WEND_APPROVAL_ASK)
            continue;
        (st->says == ALWAYS ? wend_run_approve_always : wend_run_approve)(
            run, st->plan ? ev->u.approval_ask.action : ev->u.approval_ask.call,
            true, NULL);
    }
    if (!cut || wend_store_export(r.store, wend_run_id(run), cut, add_bytes,
                                  file, &r.err) != WEND_OK)
        tap_ok(false, "%s: the file: %s", st->why, r.err.message);
    wend_run_free(run);
    rig_close(&r);
    return calls;
}

/* Nobody is there to be asked. */
static wend_status read_unasked(wend_run *run)
{
    const wend_event *ev;
    wend_status s;

    while ((s = wend_run_next(run, &ev)) == WEND_OK)
        if (ev->type == WEND_APPROVAL_ASK)
            wend_run_cancel(run);
    return s;
}

enum how { RESUMED, FORKED, TRUSTED };

/* How often the tool is called here. */
static int calls_of(const struct story *st, const char *url, wend_str file,
                    enum how how)
{
    /* One turn of it is in the log already. */
    const char *theirs = st->says == ALWAYS
                             ? SCRIPT(CALL "," CALL "," TEXT("done"))
                             : SCRIPT(CALL "," TEXT("done"));
    struct rig r = {
        .agent_options = {.approve = WEND_APPROVE_DENY, .limits.turns = 3}};
    wend_run_options o = {.size = sizeof o, .trust_log = how == TRUSTED};
    wend_fork_options f = {.size = sizeof f};
    char id[40] = "";
    int calls = 0;
    wend_run *run = NULL;
    wend_status s;

    rig_open(&r, url, how != TRUSTED ? st->ours : theirs);
    rig_add(&r, "canary", canary, WEND_CLASS_UNSAFE, &calls);
    if (wend_store_import(r.store, file, note_id, id, &r.err) != WEND_OK)
        tap_ok(false, "%s: import: %s", st->why, r.err.message);
    s = how == FORKED ? wend_run_fork(r.agent, id, &f, &o, &run, &r.err)
                      : wend_run_resume(r.agent, id, &o, &run, &r.err);
    tap_ok(s == WEND_OK && read_unasked(run) == WEND_END,
           "%s: runs to its end: %s", st->why, s ? r.err.message : "ok");
    wend_run_free(run);
    rig_close(&r);
    return calls;
}

static void exploits(const char *url)
{
    for (int i = 0; i < STORIES; i++) {
        const struct story *st = &stories[i];
        struct buf file = {.mem = &rig_mem};
        int made, trusted;

        made = make_file(st, &file);
        tap_is_i64(calls_of(st, url, buf_view(&file), RESUMED), 0,
                   "%s: resumed, nothing is called", st->why);
        tap_is_i64(calls_of(st, "memory:", buf_view(&file), FORKED), 0,
                   "%s: forked, nothing is called", st->why);
        trusted = calls_of(st, "memory:", buf_view(&file), TRUSTED);
        tap_ok(made > 0 && (st->says != NO || trusted > 0),
               "%s: the control calls it", st->why);
        tap_ok(st->says == NO || !trusted,
               "%s: an answer of others counts for nobody", st->why);
        buf_free(&file);
    }
}

/* A yes that waits in the inbox of the file when the run is resumed. */
static int calls_of_inbox(bool foreign)
{
    struct rig r = {.agent_options.approve = WEND_APPROVE_ASK};
    struct buf file = {.mem = &rig_mem};
    const wend_event *ev;
    char id[40] = "", call[80] = "";
    int calls = 0;
    wend_run *run = NULL;
    wend_status s = WEND_AGAIN;

    make_file(&stories[1], &file);
    rig_open(&r, "memory:", SCRIPT(TEXT("done")));
    rig_add(&r, "canary", canary, WEND_CLASS_UNSAFE, &calls);
    wend_store_import(r.store, buf_view(&file), note_id, id, &r.err);
    if (foreign)
        wend_store_distrust(r.store, NULL);
    wend_run_resume(r.agent, id, NULL, &run, &r.err);
    while (run && !call[0] && wend_run_next(run, &ev) == WEND_OK)
        if (ev->type == WEND_APPROVAL_ASK)
            snprintf(call, sizeof call, "{\"call\":\"%.*s\",\"yes\":true}",
                     (int)ev->u.approval_ask.call.len,
                     ev->u.approval_ask.call.ptr);
    r.store->ops->post(r.store, str_of(id), "approve", str_of(call), NULL,
                       &r.err);
    r.store->ops->post(r.store, str_of(id), "say", STR("{\"text\":\"x\"}"),
                       NULL, &r.err);
    while (run && s == WEND_AGAIN) { /* until what came after it is heard */
        wend_runtime_pump(r.rt);
        s = wend_run_poll(run, &ev);
        if (s == WEND_OK && ev->type != WEND_MESSAGE)
            s = WEND_AGAIN;
        usleep(1000);
    }
    tap_is_i64(s, WEND_OK, "inbox: it is read: %s", r.err.message);
    wend_run_free(run);
    buf_free(&file);
    rig_close(&r);
    return calls;
}

static void inbox(void)
{
    tap_is_i64(calls_of_inbox(true), 0,
               "inbox: a yes in a store of others is not heard");
    tap_is_i64(calls_of_inbox(false), 1, "inbox: the control is");
}

/* What the run is from here on, and that its forks are imported, too. */
static void takes_ours(void)
{
    struct rig r = {.agent_options = {.approve = WEND_APPROVE_DENY,
                                      .instructions = "ours",
                                      .limits = {.turns = 7, .tokens = 1000}}};
    struct buf file = {.mem = &rig_mem}, lines = {.mem = &rig_mem};
    wend_list_options all = {.size = sizeof all};
    const wend_run_info *info;
    const wend_event *ev = NULL;
    wend_runs *list = NULL;
    char id[40] = "", fork[37];
    wend_run *run = NULL;

    make_file(&stories[1], &file);
    rig_open(&r, "memory:", SCRIPT(TEXT("done")));
    wend_store_import(r.store, buf_view(&file), note_id, id, &r.err);
    wend_store_fork(r.store, id, NULL, fork, &r.err);
    if (wend_run_resume(r.agent, fork, NULL, &run, &r.err) != WEND_OK ||
        wend_run_next(run, &ev) != WEND_OK || ev->type != WEND_RUN_RESUME)
        tap_ok(false, "the fork is resumed: %s", r.err.message);
    tap_ok(ev && ev->u.run_resume.imported, "run_resume says it was imported");
    tap_ok(ev && ev->u.run_resume.limits &&
               ev->u.run_resume.limits->turns == 7 &&
               ev->u.run_resume.limits->tokens == 1000,
           "with the limits of the agent");
    if (ev)
        put_line(&lines, ev);
    tap_ok(strstr(buf_view(&lines).ptr, "\"instructions\":\"ours\"") &&
               strstr(buf_view(&lines).ptr, "\"approve\":\"deny\"") &&
               !strstr(buf_view(&lines).ptr, "canary"),
           "and its config");
    tap_is_i64(read_all(run, NULL, NULL), WEND_END, "it runs to its end");
    wend_run_free(run);
    wend_store_list(r.store, &all, &list, &r.err);
    while (wend_runs_next(list, &info) == WEND_OK)
        tap_ok(info->imported, "%.*s is marked", (int)info->run.len,
               info->run.ptr);
    wend_runs_free(list);
    buf_free(&lines);
    buf_free(&file);
    rig_close(&r);
}

/* A run of the host's own: what it asks for is replaced, the rest stays. */
static void own_run_takes(void)
{
    struct rig r = {.agent_options.instructions = "mine"};
    wend_run_options o = {.size = sizeof o,
                          .take = WEND_FORK_POLICY | WEND_FORK_LIMITS};
    struct buf lines = {.mem = &rig_mem};
    const wend_event *ev = NULL;
    char id[40];
    wend_run *run;

    rig_open(&r, "memory:", SCRIPT(TEXT("done")));
    run = rig_start(&r, NULL);
    snprintf(id, sizeof id, "%s", wend_run_id(run));
    wend_run_free(run);
    wend_agent_free(r.agent);
    r.agent_options.instructions = "others";
    r.agent_options.approve = WEND_APPROVE_ALL;
    r.agent_options.limits.turns = 9;
    wend_agent_new(r.rt, &r.agent_options, &r.agent, &r.err);
    run = NULL;
    if (wend_run_resume(r.agent, id, &o, &run, &r.err) != WEND_OK ||
        wend_run_next(run, &ev) != WEND_OK)
        tap_ok(false, "own: %s", r.err.message);
    if (ev)
        put_line(&lines, ev);
    tap_ok(strstr(buf_view(&lines).ptr, "\"instructions\":\"mine\"") &&
               strstr(buf_view(&lines).ptr, "\"approve\":\"all\"") &&
               strstr(buf_view(&lines).ptr, "\"turns\":9") &&
               !strstr(buf_view(&lines).ptr, "imported"),
           "own: policy and limits of the agent, instructions of the log");
    tap_is_i64(read_all(run, NULL, NULL), WEND_END, "own: runs to its end");
    o.take = 64;
    tap_ok(wend_run_resume(r.agent, id, &o, &run, &r.err) == WEND_E_INVAL,
           "own: an unknown bit is refused");
    wend_run_free(run);
    buf_free(&lines);
    rig_close(&r);
}

/* A file that adds events to a run which the store has. */
static void adds_to(void)
{
    const wend_run_options trust = {.size = sizeof trust, .trust_log = true};
    struct rig own = {0}, other = {0};
    struct buf half = {.mem = &rig_mem}, whole = {.mem = &rig_mem};
    wend_run *run;
    char id[40] = "";

    rig_open(&own, "memory:", SCRIPT(TEXT("one")));
    run = rig_start(&own, NULL);
    snprintf(id, sizeof id, "%s", wend_run_id(run));
    wend_run_free(run);
    wend_store_export(own.store, id, 0, add_bytes, &half, &own.err);
    rig_open(&other, "memory:", SCRIPT(TEXT("one")));
    wend_store_import(other.store, buf_view(&half), NULL, NULL, &other.err);
    run = NULL;
    wend_run_resume(other.agent, id, &trust, &run, &other.err);
    tap_is_i64(read_all(run, NULL, NULL), WEND_END, "elsewhere it goes on");
    wend_run_free(run);
    wend_store_export(other.store, id, 0, add_bytes, &whole, &other.err);
    rig_close(&other);
    tap_ok(wend_store_import(own.store, buf_view(&half), NULL, NULL,
                             &own.err) == WEND_OK,
           "a file without news is fine: %s", own.err.message);
    tap_ok(wend_store_import(own.store, buf_view(&whole), NULL, NULL,
                             &own.err) == WEND_E_EXISTS,
           "what it adds to a run of our own is refused: %s", own.err.message);
    rig_close(&own);
    own = (struct rig){0};
    rig_open(&own, "memory:", SCRIPT(TEXT("one")));
    wend_store_import(own.store, buf_view(&half), NULL, NULL, &own.err);
    tap_ok(wend_store_import(own.store, buf_view(&whole), NULL, NULL,
                             &own.err) == WEND_OK,
           "an imported run may grow: %s", own.err.message);
    rig_close(&own);
    buf_free(&half);
    buf_free(&whole);
}

int main(void)
{
    exploits("memory:");
    inbox();
    takes_ours();
    own_run_takes();
    adds_to();
    return tap_done();
}
