/*
 * test_doubt.c - actions of plans whose outcome an interruption hides: asked
 * about, and looked up.
 */
#include "run_help.h"
#include "store_help.h"

#define PLAN(target)                                            \
    "wend: plan/1\nname: p\noutputs: {all: $a}\nactions:\n"     \
    "- {name: a, type: tool, target: " target ", mode: async, " \
    "params: {x: 1}, output_key: a}\n"

static wend_run *start(struct rig *r, const char *text)
{
    wend_plan *plan = NULL;
    wend_run *run = NULL;

    if (wend_plan_parse(str_of(text), NULL, &plan, &r->err) != WEND_OK ||
        wend_run_start_plan(r->agent, plan, NULL, NULL, &run, &r->err) !=
            WEND_OK)
        tap_ok(false, "plan: %s", r->err.message);
    wend_plan_free(plan);
    return run;
}

/* To the n-th event of that type, with a yes to what is asked before. */
static bool come_to(wend_run *run, wend_event_type type, int n)
{
    const wend_event *ev;

    while (run && wend_run_next(run, &ev) == WEND_OK) {
        if (ev->type == type && !--n)
            return true;
        if (ev->type == WEND_APPROVAL_ASK)
            wend_run_approve(run, ev->u.approval_ask.action, true, "test");
    }
    return false;
}

/* A run whose action was under way when its process left it. */
static bool leave_begun(struct rig *r, wend_call **kept, char id[40])
{
    wend_run *run;

    if (!rig_open(r, "memory:", "script:{\"turns\":[]}"))
        return false;
    rig_add(r, "later", tool_later, WEND_CLASS_UNSAFE, kept);
    run = start(r, PLAN("later"));
    tap_ok(come_to(run, WEND_ACTION_START, 1), "an action begins");
    while (!kept[0])
        wend_runtime_pump(r->rt);
    snprintf(id, 40, "%s", wend_run_id(run));
    wend_run_free(run);
    return true;
}

static void asked(bool yes)
{
    struct rig r = {.agent_options = {.approve = WEND_APPROVE_ASK,
                                      .on_unknown = WEND_UNKNOWN_ASK}};
    struct buf names = {.mem = &rig_mem};
    wend_call *kept[4] = {NULL};
    const wend_event *ev;
    wend_run *again = NULL;
    wend_outcome how = WEND_OUTCOME_NONE;
    char id[40];

    if (!leave_begun(&r, kept, id))
        return;
    tap_ok(wend_run_resume(r.agent, id, NULL, &again, &r.err) == WEND_OK,
           "its run is taken up: %s", r.err.message);
    while (again && wend_run_next(again, &ev) == WEND_OK) {
        note(&names, ev);
        if (ev->type == WEND_APPROVAL_ASK) {
            tap_ok(strstr(ev->u.approval_ask.reason.ptr, "not known") != NULL,
                   "why it is asked");
            wend_run_approve(again, ev->u.approval_ask.action, yes, "test");
        }
        if (ev->type == WEND_ACTION_START) {
            while (!kept[1])
                wend_runtime_pump(r.rt);
            tap_ok(str_eq(wend_call_key(kept[0]), wend_call_key(kept[1])),
                   "it runs again with the same key");
            wend_call_return(kept[1], STR("done"));
        }
    }
    wend_run_outcome(again, &how);
    tap_is_str(
        buf_view(&names),
        str_of(yes ? "run_resume approval_ask approval_answer "
                     "action_end action_start action_end plan_end metrics "
                     "run_end(ok)"
                   : "run_resume approval_ask approval_answer "
                     "action_end plan_end metrics run_end(failed)"),
        yes ? "yes: it runs again" : "no: nobody knows");
    wend_call_return(kept[0], STR("nobody waits"));
    wend_run_free(again);
    buf_free(&names);
    rig_close(&r);
}

/* The fork begins where an attempt is closed and the next one has not begun.
 * A cancel does not wait for the answer to what the fork is asked. */
static void canceled_in_fork(void)
{
    struct rig r = {.agent_options = {.approve = WEND_APPROVE_ASK,
                                      .on_unknown = WEND_UNKNOWN_ASK}};
    wend_fork_options o = {.size = sizeof o};
    struct buf names = {.mem = &rig_mem};
    wend_call *kept[4] = {NULL};
    const wend_event *ev;
    wend_run *again = NULL, *fork = NULL;
    char id[40];

    if (!leave_begun(&r, kept, id))
        return;
    wend_run_resume(r.agent, id, NULL, &again, &r.err);
    while (again && !o.at && wend_run_next(again, &ev) == WEND_OK) {
        if (ev->type == WEND_APPROVAL_ASK)
            wend_run_approve(again, ev->u.approval_ask.action, true, "test");
        if (ev->type == WEND_ACTION_END)
            o.at = ev->seq;
    }
    tap_ok(wend_run_fork(r.agent, id, &o, NULL, &fork, &r.err) == WEND_OK,
           "forked at %lld: %s", (long long)o.at, r.err.message);
    while (fork && wend_run_next_for(fork, 20000, &ev) == WEND_OK) {
        note(&names, ev);
        if (ev->type == WEND_APPROVAL_ASK)
            wend_run_cancel(fork);
    }
    tap_is_str(buf_view(&names),
               STR("run_fork run_resume approval_ask control action_start "
                   "action_end plan_end metrics run_end(canceled)"),
               "a canceled fork ends though nobody has answered");
    for (int i = 0; i < 2 && kept[i]; i++)
        wend_call_return(kept[i], STR("nobody waits"));
    wend_run_free(again);
    wend_run_free(fork);
    buf_free(&names);
    rig_close(&r);
}

/* A program says whether it happened. */
static void looked_up(const char *dir, int code, wend_outcome wanted,
                      bool again)
{
    struct rig r = {.agent_options = {.approve = WEND_APPROVE_ALL,
                                      .on_unknown = WEND_UNKNOWN_VERIFY,
                                      .sandbox_off = true,
                                      .cwd = dir}};
    char check[64];
    const char *const argv[] = {"/bin/sh", "-c",
                                "echo x >>ledger; test -e second || sleep 60"};
    const char *const verify[] = {"/bin/sh", "-c", check};
    wend_command_options o = {.size = sizeof o,
                              .name = "slow",
                              .description = "d",
                              .argv = argv,
                              .argv_count = 3,
                              .verify = verify,
                              .verify_count = 3};
    const wend_event *ev;
    wend_run *run, *next = NULL;
    wend_outcome got = WEND_OUTCOME_NONE;
    char id[40], path[128];
    int starts = 0;
    bool told = false;

    snprintf(check, sizeof check, "touch second; echo '\"seen\"'; exit %d",
             code);
    if (!rig_open(&r, "memory:", "script:{\"turns\":[]}"))
        return;
    tap_ok(wend_agent_add_command(r.agent, &o, &r.err) == WEND_OK,
           "a program: %s", r.err.message);
    run = start(&r, PLAN("slow"));
    tap_ok(come_to(run, WEND_ACTION_START, 1), "it begins");
    snprintf(path, sizeof path, "%s/ledger", dir);
    while (access(path, F_OK) == -1)
        wend_runtime_pump(r.rt);
    snprintf(id, sizeof id, "%s", wend_run_id(run));
    wend_run_free(run);
    tap_ok(wend_run_resume(r.agent, id, NULL, &next, &r.err) == WEND_OK,
           "its run is taken up: %s", r.err.message);
    while (next && wend_run_next(next, &ev) == WEND_OK) {
        starts += ev->type == WEND_ACTION_START;
        told |=
            ev->type == WEND_ERROR && str_is(ev->u.error.component, "verify");
        if (ev->type == WEND_ACTION_END) {
            got = ev->u.action_end.outcome;
            if (!code)
                tap_is_str(ev->u.action_end.output_json, STR("\"seen\""),
                           "what it says is the result");
        }
    }
    tap_is_i64(got, wanted, "exit status %d: how it ended", code);
    tap_ok(told == (code > 1), "exit status %d: an error event if unknown",
           code);
    tap_is_i64(starts, again, "exit status %d: whether it ran again", code);
    wend_run_free(next);
    rig_close(&r);
    unlink(path);
    snprintf(path, sizeof path, "%s/second", dir);
    unlink(path);
}

int main(void)
{
    char *dir = dir_make();

    asked(true);
    asked(false);
    canceled_in_fork();
    looked_up(dir, 0, WEND_OUTCOME_OK, false);
    looked_up(dir, 1, WEND_OUTCOME_OK, true);
    looked_up(dir, 2, WEND_OUTCOME_UNKNOWN, false);
    dir_remove(dir);
    return tap_done();
}
