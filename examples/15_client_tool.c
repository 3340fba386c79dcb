/*
 * 15_client_tool.c - a tool that the caller executes: the run ends with its
 * call pending, and the run that follows begins with the result. The model is a
 * script, so no network is needed.
 *
 *     cc 15_client_tool.c $(pkg-config --cflags --libs wend) -o client_tool &&
 *     ./client_tool
 */
#include <stdio.h>
#include <wend.h>

static const char model[] =
    "script:{\"turns\":["
    "{\"when\":\"red\",\"text\":\"Then I paint it ${tool_result}.\"},"
    "{\"text\":\"Which colour?\",\"calls\":[{\"name\":\"pick_colour\","
    "\"args\":{\"of\":\"the door\"}}]}]}";

/* What the host offers in this run: here a dialog of its own. */
static const char tools[] =
    "[{\"name\":\"pick_colour\",\"description\":\"Asks the user for a "
    "colour.\",\"schema\":{\"type\":\"object\",\"properties\":{\"of\":{"
    "\"type\":\"string\"}},\"required\":[\"of\"]}}]";

/* Reads the run to its end; returns how many calls are pending. */
static size_t finish(wend_run *run, char results[200])
{
    const wend_event *ev;
    size_t pending = 0;

    while (wend_run_next(run, &ev) == WEND_OK)
        if (ev->type == WEND_RUN_END) {
            const wend_ev_run_end *e = &ev->u.run_end;

            printf("%.*s\n", (int)e->text.len, e->text.ptr);
            pending = e->pending_count;
            if (!pending)
                continue;
            printf("to execute: %.*s %.*s\n", (int)e->pending->name.len,
                   e->pending->name.ptr, (int)e->pending->args_json.len,
                   e->pending->args_json.ptr);
            snprintf(results, 200,
                     "[{\"role\":\"tool\",\"call\":\"%.*s\",\"text\":"
                     "\"red\"}]",
                     (int)e->pending->id.len, e->pending->id.ptr);
        }
    return pending;
}

int main(void)
{
    wend_agent_options options = {.size = sizeof options, .model = model};
    wend_run_options with = {.size = sizeof with, .client_tools = tools};
    wend_str prompt = {"Paint the door.", 15}, none = {NULL, 0};
    wend_error err = {WEND_OK, 0, 0, ""};
    wend_runtime *rt = NULL;
    wend_agent *agent = NULL;
    wend_run *run = NULL, *next = NULL;
    char results[200] = "";
    wend_status s = wend_runtime_new(NULL, &rt, &err);

    if (s == WEND_OK)
        s = wend_agent_new(rt, &options, &agent, &err);
    if (s == WEND_OK)
        s = wend_run_start(agent, prompt, &with, &run, &err);
    if (s == WEND_OK && finish(run, results) == 1) {
        with.client_tools = NULL; /* those of that run */
        with.messages = results;
        s = wend_run_follow(agent, wend_run_id(run), none, &with, &next, &err);
        if (s == WEND_OK)
            finish(next, results);
    }
    if (s != WEND_OK)
        fprintf(stderr, "%s\n", err.message);
    wend_run_free(next);
    wend_run_free(run);
    wend_agent_free(agent);
    wend_runtime_free(rt);
    return s != WEND_OK;
}
