/*
 * test_hook_child.c - the hook of a run hears what its children do, and an
 * action's hooks name the same turn.
 */
#include "base/str.h"
#include "run_help.h"
#include "tap.h"

struct heard {
    int points[WEND_HOOK_TURN_AFTER + 1];
    uint32_t before, after; /* turns of the newest call hooks */
};

static wend_hook_answer hear(void *ctx, wend_hook *h)
{
    struct heard *k = ctx;

    k->points[h->point]++;
    if (h->point == WEND_HOOK_CALL_BEFORE)
        k->before = h->turn;
    if (h->point == WEND_HOOK_CALL_AFTER)
        k->after = h->turn;
    return WEND_HOOK_GO;
}

static void check_child(void)
{
    static const char parent[] =
        "script:{\"turns\":[{\"calls\":[{\"name\":\"task\",\"args\":{"
        "\"agent\":\"kid\",\"prompt\":\"do it\"}}]},{\"text\":\"done\"}]}";
    wend_agent_options a = {.size = sizeof a,
                            .model = "script:{\"turns\":[{\"text\":\"did\"}]}"};
    wend_child_options kid = {.size = sizeof kid, .name = "kid"};
    struct heard heard = {0};
    wend_run_options o = {.size = sizeof o, .hook = hear, .hook_ctx = &heard};
    struct rig r = {.agent_options = {.approve = WEND_APPROVE_ALL}};
    wend_run *run = NULL;
    wend_str text = {"", 0};

    if (!rig_open(&r, NULL, parent))
        return;
    wend_agent_new(r.rt, &a, &kid.agent, NULL);
    tap_is_i64(wend_agent_add_agent(r.agent, &kid, NULL), WEND_OK, "a kid");
    wend_agent_add_builtin(r.agent, "task", NULL);
    tap_is_i64(wend_run_start(r.agent, STR("go"), &o, &run, NULL), WEND_OK,
               "a run with a hook");
    wend_run_wait(run, &text);
    tap_is_str(text, "done", "gives a task");
    tap_is_i64(heard.points[WEND_HOOK_TURN_BEFORE], 3,
               "the hook hears two turns and the child's");
    wend_run_free(run);
    wend_agent_free(kid.agent);
    rig_close(&r);
}

static wend_status answer(void *ctx, wend_call *call)
{
    (void)ctx;
    return wend_call_return(call, STR("1"));
}

static void check_action(void)
{
    static const char model[] =
        "script:{\"turns\":[{\"calls\":[{\"name\":\"t\",\"args\":{}}]},{"
        "\"calls\":[{\"name\":\"plan\",\"args\":{\"actions\":[{\"name\":\"a\","
        "\"type\":\"tool\",\"target\":\"t\"}]}}]},{\"text\":\"done\"}]}";
    struct heard heard = {0};
    wend_run_options o = {
        .size = sizeof o, .hook = hear, .hook_ctx = &heard, .plan = true};
    struct rig r = {.agent_options = {.approve = WEND_APPROVE_ALL}};
    wend_run *run = NULL;
    const wend_event *ev;

    if (!rig_open(&r, NULL, model))
        return;
    rig_add(&r, "t", answer, WEND_CLASS_READ, NULL);
    wend_run_start(r.agent, STR("go"), &o, &run, NULL);
    while (wend_run_next(run, &ev) == WEND_OK)
        if (ev->type == WEND_ACTION_END)
            tap_ok(heard.before == 1 && heard.after == 1,
                   "an action of turn 1: its hooks say %u and %u", heard.before,
                   heard.after);
    wend_run_free(run);
    rig_close(&r);
}

int main(void)
{
    check_child();
    check_action();
    return tap_done();
}
