/*
 * 10_resume.c - resumes a run that its process left. The other process knows
 * only the store and the id of the run: the agent is made again from the log.
 * A host asks its user before it trusts a log that was imported.
 *
 *     cc 10_resume.c $(pkg-config --cflags --libs wend) -o resume && ./resume
 */
#include <stdio.h>
#include <wend.h>

static const char model[] =
    "script:{\"turns\":[{\"calls\":[{\"name\":\"calculator\","
    "\"args\":{\"expression\":\"6*7\"}}]},{\"text\":\"It is "
    "${tool_result}.\"}]}";

static wend_status review(void *ctx, const wend_run_past *past, wend_error *err)
{
    (void)ctx;
    (void)err;
    printf("agent %.*s, %s\n", (int)past->agent.len, past->agent.ptr,
           past->imported ? "an imported log" : "our own log");
    return past->imported ? WEND_E_STALE : WEND_OK;
}

/* Starts a run and leaves it after its first call. */
static wend_status leave(wend_runtime *rt, char *id, size_t size,
                         wend_error *err)
{
    wend_agent_options agent_options = {
        .size = sizeof agent_options, .name = "clerk", .model = model};
    wend_load_options options = {.size = sizeof options,
                                 .agent = &agent_options};
    wend_str prompt = {"What is 6*7?", 12};
    wend_agent *agent = NULL;
    wend_run *run = NULL;
    const wend_event *ev;
    wend_status s = wend_agent_load(rt, NULL, &options, &agent, err);

    if (s == WEND_OK)
        s = wend_run_start(agent, prompt, NULL, &run, err);
    if (s == WEND_OK)
        snprintf(id, size, "%s", wend_run_id(run));
    while (s == WEND_OK && (s = wend_run_next(run, &ev)) == WEND_OK)
        if (ev->type == WEND_CALL_END)
            break;
    wend_run_free(run);
    wend_agent_free(agent);
    return s;
}

int main(void)
{
    wend_of_run_options options = {.size = sizeof options, .review = review};
    wend_error err = {WEND_OK, 0, 0, ""};
    wend_runtime *rt = NULL;
    wend_agent *agent = NULL;
    wend_run *run = NULL;
    wend_str text;
    char id[40];
    wend_status s = wend_runtime_new(NULL, &rt, &err);

    if (s == WEND_OK)
        s = leave(rt, id, sizeof id, &err);
    if (s == WEND_OK)
        s = wend_agent_of_run(rt, id, &options, &agent, &err);
    if (s == WEND_OK)
        s = wend_run_resume(agent, id, NULL, &run, &err);
    if (s == WEND_OK)
        s = wend_run_wait(run, &text);
    if (s == WEND_OK)
        printf("%.*s\n", (int)text.len, text.ptr);
    else
        fprintf(stderr, "%s\n", err.message);
    wend_run_free(run);
    wend_agent_free(agent);
    wend_runtime_free(rt);
    return s != WEND_OK;
}
