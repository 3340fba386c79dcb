/*
 * 02_tool.c - a tool written in C. The model asks for it twice at once; the
 * second time with an argument that the tool's schema refuses, which the
 * tool never sees and the model is told.
 *
 *     cc 02_tool.c $(pkg-config --cflags --libs wend) -o tool && ./tool
 */
#include <stdio.h>
#include <wend.h>

static const char model[] =
    "script:{\"turns\":[{\"text\":\"I will look.\",\"calls\":["
    "{\"name\":\"stock\",\"args\":{\"item\":\"apples\"}},"
    "{\"name\":\"stock\",\"args\":{\"item\":\"plums\"}}]},"
    "{\"text\":\"There are apples; I cannot ask about plums.\"}]}";

/* It could also answer later, from any thread. Its arguments fit the schema. */
static wend_status stock(void *ctx, wend_call *call)
{
    int *asked = ctx;

    ++*asked;
    return wend_call_return(call, (wend_str){"12 in the cellar", 16});
}

static void say(const char *what, wend_str s)
{
    printf("%s %.*s\n", what, (int)s.len, s.ptr);
}

static void show(const wend_event *ev)
{
    if (ev->type == WEND_CALL_START)
        say("call stock", ev->u.call_start.args_json);
    if (ev->type == WEND_CALL_END)
        say(wend_outcome_name(ev->u.call_end.outcome), ev->u.call_end.output);
    if (ev->type == WEND_RUN_END)
        say("answer", ev->u.run_end.text);
}

int main(void)
{
    int asked = 0;
    wend_agent_options options = {.size = sizeof options, .model = model};
    wend_tool_options tool = {
        .size = sizeof tool,
        .name = "stock",
        .description = "How much there is of a fruit.",
        .schema = "{\"type\":\"object\",\"required\":[\"item\"],\"properties\":"
                  "{\"item\":{\"enum\":[\"apples\",\"pears\"]}}}",
        .call_class = WEND_CLASS_READ, /* may run beside other readers */
        .fn = stock,
        .ctx = &asked,
    };
    wend_str prompt = {"What fruit is there?", 20};
    wend_error err = {WEND_OK, 0, 0, ""};
    wend_runtime *rt = NULL;
    wend_agent *agent = NULL;
    wend_run *run = NULL;
    const wend_event *ev;
    wend_status s = wend_runtime_new(NULL, &rt, &err);

    if (s == WEND_OK)
        s = wend_agent_new(rt, &options, &agent, &err);
    if (s == WEND_OK)
        s = wend_agent_add_tool(agent, &tool, &err);
    if (s == WEND_OK)
        s = wend_run_start(agent, prompt, NULL, &run, &err);
    while (s == WEND_OK && (s = wend_run_next(run, &ev)) == WEND_OK)
        show(ev);
    if (s != WEND_END)
        fprintf(stderr, "%s\n",
                run ? wend_run_error(run)->message : err.message);
    printf("the tool ran %d time\n", asked);
    wend_run_free(run);
    wend_agent_free(agent);
    wend_runtime_free(rt);
    return s != WEND_END;
}
