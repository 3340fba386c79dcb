/*
 * 13_dialect.c - prints a run as events of AG-UI. A server would write each
 * line behind "data: ", with an empty line after it.
 *
 *     cc 13_dialect.c $(pkg-config --cflags --libs wend) -o dialect &&
 * ./dialect
 */
#include <stdio.h>
#include <wend.h>

/* The types alone: ids and times are different each time. */
static void print_types(wend_str records)
{
    const char *end = records.ptr + records.len, *at = records.ptr;

    while (at < end) {
        int len = 0;

        at += sizeof "{\"type\":\"" - 1;
        while (at[len] != '"')
            len++;
        printf("%.*s\n", len, at);
        at = strchr(at, '\n') + 1;
    }
}

int main(void)
{
    wend_dialect_options names = {
        .size = sizeof names, .thread_id = "thread-1", .run_id = "run-1"};
    wend_agent_options options = {
        .size = sizeof options,
        .model = "script:{\"turns\":[{\"text\":\"Hello.\"}]}"};
    wend_error err = {WEND_OK, 0, 0, ""};
    wend_runtime *rt = NULL;
    wend_agent *agent = NULL;
    wend_run *run = NULL;
    wend_dialect *dialect = NULL;
    const wend_event *ev;
    wend_str records;
    wend_status s = wend_runtime_new(NULL, &rt, &err);

    if (s == WEND_OK)
        s = wend_agent_new(rt, &options, &agent, &err);
    if (s == WEND_OK)
        s = wend_dialect_new("ag-ui", &names, &dialect, &err);
    if (s == WEND_OK)
        s = wend_run_start(agent, wend_str_of("Say hello."), NULL, &run, &err);
    while (s == WEND_OK && (s = wend_run_next(run, &ev)) == WEND_OK) {
        s = wend_dialect_feed(dialect, ev, &records);
        if (s == WEND_OK && records.len)
            print_types(records);
    }
    if (s != WEND_END)
        fprintf(stderr, "%s: %s\n", wend_status_name(s), err.message);
    wend_run_free(run);
    wend_dialect_free(dialect);
    wend_agent_free(agent);
    wend_runtime_free(rt);
    return s == WEND_END ? 0 : 1;
}
