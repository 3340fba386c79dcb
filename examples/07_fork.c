/*
 * 07_fork.c - goes back in time: forks of a run that is over share its past,
 * with another question in the end, and with another result of a tool.
 *
 *     cc 07_fork.c $(pkg-config --cflags --libs wend) -o fork && ./fork
 */
#include <stdio.h>
#include <wend.h>

static const char model[] =
    "script:{\"turns\":[{\"when\":\"French\",\"text\":\"Quarante-deux.\"},"
    "{\"calls\":[{\"name\":\"calculator\",\"args\":{\"expression\":\"6*7\"}}]},"
    "{\"text\":\"It is ${tool_result}.\"}]}";

static wend_status print_answer(const char *what, wend_run *run)
{
    wend_str answer;
    wend_status s = wend_run_wait(run, &answer);

    if (s == WEND_OK)
        printf("%s: %.*s\n", what, (int)answer.len, answer.ptr);
    return s;
}

int main(void)
{
    wend_agent_options options = {.size = sizeof options, .model = model};
    wend_fork_options french = {.size = sizeof french,
                                .say = {"And in French?", 14}};
    wend_fork_result other = {"call_1", {"43", 2}};
    wend_fork_options what_if = {
        .size = sizeof what_if, .results = &other, .results_count = 1};
    wend_error err = {WEND_OK, 0, 0, ""};
    wend_runtime *rt = NULL;
    wend_agent *agent = NULL;
    wend_run *run = NULL, *first = NULL, *second = NULL;
    wend_status s = wend_runtime_new(NULL, &rt, &err);

    if (s == WEND_OK)
        s = wend_agent_new(rt, &options, &agent, &err);
    if (s == WEND_OK)
        s = wend_agent_add_builtin(agent, "calculator", &err);
    if (s == WEND_OK)
        s = wend_run_start(agent, (wend_str){"6*7?", 4}, NULL, &run, &err);
    if (s == WEND_OK)
        s = print_answer("the run", run);
    if (s == WEND_OK)
        s = wend_run_fork(agent, wend_run_id(run), &french, NULL, &first, &err);
    if (s == WEND_OK)
        s = print_answer("another question", first);
    if (s == WEND_OK)
        s = wend_run_fork(agent, wend_run_id(run), &what_if, NULL, &second,
                          &err);
    if (s == WEND_OK)
        s = print_answer("another result", second);
    if (s != WEND_OK)
        fprintf(stderr, "%s: %s\n", wend_status_name(s), err.message);
    wend_run_free(second);
    wend_run_free(first);
    wend_run_free(run);
    wend_agent_free(agent);
    wend_runtime_free(rt);
    return s != WEND_OK;
}
