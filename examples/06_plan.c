/*
 * 06_plan.c - a plan: two tools beside each other, a decision about what they
 * found, and a model that is asked only if it is needed. The plan is checked
 * as a whole before anything of it runs.
 *
 *     cc 06_plan.c $(pkg-config --cflags --libs wend) -o plan && ./plan
 */
#include <stdio.h>
#include <string.h>
#include <wend.h>

static const char model[] =
    "script:{\"turns\":[{\"text\":\"Buy pears, at least three.\"}]}";

static const char text[] =
    "wend: plan/1\n"
    "name: shopping\n"
    "inputs: {least: 3}\n"
    "actions:\n"
    "  - {name: apples, type: tool, target: stock, mode: async,\n"
    "     params: {item: apples}, output_key: apples}\n"
    "  - {name: pears, type: tool, target: stock, mode: async,\n"
    "     params: {item: pears}, output_key: pears}\n"
    "  - name: enough\n"
    "    type: decision\n"
    "    depends_on: [apples, pears]\n"
    "    cases:\n"
    "      - {when: '$apples >= $least and $pears >= $least', then: [rest]}\n"
    "      - {else: [list]}\n"
    "  - {name: rest, type: tool, target: stock, params: {item: nothing}}\n"
    "  - {name: list, type: llm, target: default, output_key: advice,\n"
    "     prompt: 'There are $apples apples and $pears pears.'}\n"
    "outputs: {advice: $advice, pears: $pears}\n";

static wend_status stock(void *ctx, wend_call *call)
{
    wend_str args = wend_call_args(call);
    bool apples =
        args.len > 9 && !strncmp(args.ptr, "{\"item\":\"apples\"", 16);

    (void)ctx;
    return wend_call_return(call,
                            (wend_str){apples ? "12" : "2", apples ? 2u : 1u});
}

static void show(const wend_event *ev)
{
    const wend_ev_action_end *e = &ev->u.action_end;

    if (ev->type == WEND_ACTION_END)
        printf("%.*s: %s %.*s\n", (int)e->name.len, e->name.ptr,
               wend_outcome_name(e->outcome), (int)e->output_json.len,
               e->output_json.ptr);
    if (ev->type == WEND_RUN_END)
        printf("outputs %.*s\n", (int)ev->u.run_end.text.len,
               ev->u.run_end.text.ptr);
}

int main(void)
{
    wend_agent_options options = {.size = sizeof options, .model = model};
    wend_tool_options tool = {
        .size = sizeof tool,
        .name = "stock",
        .description = "How much there is of a fruit.",
        .call_class = WEND_CLASS_READ,
        .fn = stock,
    };
    wend_error err = {WEND_OK, 0, 0, ""};
    wend_runtime *rt = NULL;
    wend_agent *agent = NULL;
    wend_plan *plan = NULL;
    wend_run *run = NULL;
    const wend_event *ev;
    wend_status s = wend_runtime_new(NULL, &rt, &err);

    if (s == WEND_OK)
        s = wend_agent_new(rt, &options, &agent, &err);
    if (s == WEND_OK)
        s = wend_agent_add_tool(agent, &tool, &err);
    if (s == WEND_OK)
        s = wend_plan_parse((wend_str){text, sizeof text - 1}, NULL, &plan,
                            &err);
    if (s == WEND_OK)
        s = wend_run_start_plan(agent, plan, NULL, NULL, &run, &err);
    while (s == WEND_OK && (s = wend_run_next(run, &ev)) == WEND_OK)
        show(ev);
    if (s != WEND_END)
        fprintf(stderr, "%s\n",
                run ? wend_run_error(run)->message : err.message);
    wend_run_free(run);
    wend_plan_free(plan);
    wend_agent_free(agent);
    wend_runtime_free(rt);
    return s != WEND_END;
}
