/*
 * test_planner.c - plans written by a model, through the library: the option,
 * what the model is given, what it may not be called.
 */
#include "base/json.h"
#include "core/plan/plan.h"
#include "tap.h"
#include "wend.h"

static const char model[] =
    "script:{\"turns\":[{\"calls\":[{\"name\":\"plan\",\"args\":{\"actions\":"
    "[{\"name\":\"a\",\"type\":\"tool\",\"target\":\"calculator\",\"mode\":"
    "\"async\",\"params\":{\"expression\":\"6*7\"},\"output_key\":\"x\"},"
    "{\"name\":\"b\",\"type\":\"tool\",\"target\":\"calculator\",\"params\":"
    "{\"expression\":\"$x+1\"},\"depends_on\":[\"a\"]}]}}]},"
    "{\"when\":\"43\",\"text\":\"done\"}]}";

static wend_status nothing(void *ctx, wend_call *call)
{
    (void)ctx;
    return wend_call_return(call, STR(""));
}

static wend_agent *new_agent(wend_runtime *rt)
{
    wend_agent_options o = {.size = sizeof o, .model = model};
    wend_agent *agent = NULL;

    if (wend_agent_new(rt, &o, &agent, NULL) != WEND_OK ||
        wend_agent_add_builtin(agent, "calculator", NULL) != WEND_OK)
        return NULL;
    return agent;
}

/* Every member that the tool's schema names is one that plans have. */
static void check_schema(wend_str config)
{
    struct mem mem = {0};
    struct arena a = {.mem = &mem};
    const struct json *j = json_get(json_parse(config, &a, NULL), "tools");
    struct plan *open = NULL;
    int count = 0, unknown = 0;

    for (j = j ? j->first : NULL; j; j = j->next)
        if (str_is(json_str(json_get(j, "name")), "plan"))
            break;
    j = json_get(
        json_get(json_get(json_get(j, "schema"), "properties"), "actions"),
        "items");
    j = json_get(j, "properties");
    plan_open(STR("p"), NULL, 0, &a, &open, NULL);
    for (j = j ? j->first : NULL; j; j = j->next, count++) {
        struct buf b = {.mem = &mem};
        wend_error err = {0};
        struct plan *p;

        buf_fmt(&b, "{\"%.*s\":[[]]}", (int)j->key.len, j->key.ptr);
        plan_add(open, buf_view(&b), NULL, &a, &p, &err);
        unknown += strstr(err.message, "unknown") != NULL;
        buf_free(&b);
    }
    tap_ok(count == 21 && !unknown, "%d members, %d unknown", count, unknown);
    arena_free(&a);
}

static void check_run(wend_agent *agent)
{
    wend_run_options o = {.size = sizeof o, .plan = true};
    int seen[WEND_EVENT_TYPES] = {0};
    const wend_event *ev;
    wend_run *run = NULL;
    wend_str text = STR_NONE;

    tap_ok(wend_run_start(agent, STR("goal"), &o, &run, NULL) == WEND_OK,
           "a run with plan set");
    while (wend_run_next(run, &ev) == WEND_OK) {
        seen[ev->type]++;
        if (ev->type == WEND_RUN_START)
            check_schema(ev->u.run_start.config_json);
        if (ev->type == WEND_PLAN_START)
            tap_ok(ev->u.plan_start.streamed &&
                       str_is(ev->u.plan_start.call, "call_1"),
                   "its plan is streamed, by a call");
    }
    wend_run_wait(run, &text);
    tap_is_str(text, STR("done"), "its answer");
    tap_ok(seen[WEND_PLAN_ACTION] == 2 && seen[WEND_ACTION_END] == 2 &&
               seen[WEND_PLAN_END] == 1 && seen[WEND_CALL_END] == 1,
           "two actions of one plan of one call");
    wend_run_free(run);
}

int main(void)
{
    wend_tool_options mine = {
        .size = sizeof mine, .name = "plan", .fn = nothing};
    wend_run_options o = {.size = sizeof o, .plan = true};
    wend_runtime *rt = NULL;
    wend_agent *agent;
    wend_run *run = NULL;
    wend_error err = {0};

    wend_runtime_new(NULL, &rt, NULL);
    agent = new_agent(rt);
    check_run(agent);
    tap_ok(wend_agent_add_tool(agent, &mine, NULL) == WEND_OK &&
               wend_run_start(agent, STR("x"), &o, &run, &err) ==
                   WEND_E_EXISTS &&
               strstr(err.message, "'plan'"),
           "a tool of that name is in the way, and named");
    o.plan = false;
    tap_ok(wend_run_start(agent, STR("x"), &o, &run, &err) == WEND_OK,
           "of other runs it is not");
    wend_run_free(run);
    wend_agent_free(agent);
    wend_runtime_free(rt);
    return tap_done();
}
