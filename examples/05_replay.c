/*
 * 05_replay.c - plays a recorded run again: the same events in the same
 * order with the same bytes, without model or tools.
 *
 *     cc 05_replay.c $(pkg-config --cflags --libs wend) -o replay && ./replay
 */
#include <stdio.h>
#include <wend.h>

static const char model[] =
    "script:{\"turns\":[{\"text\":\"6 times 7 is \",\"calls\":[{\"name\":"
    "\"calculator\",\"args\":{\"expression\":\"6*7\"}}]},"
    "{\"text\":\"${tool_result}.\"}]}";

/* Reads a run to its end: how many events, and a sum over their bytes. */
static wend_status drain(wend_run *run, int *events, unsigned long *sum)
{
    const wend_event *ev;
    wend_status s;
    size_t len;
    char *json;

    while ((s = wend_run_next(run, &ev)) == WEND_OK) {
        s = wend_event_to_json(ev, &json, &len);
        if (s != WEND_OK)
            return s;
        ++*events;
        for (size_t i = 0; i < len; i++)
            *sum = *sum * 31 + (unsigned char)json[i];
        wend_string_free(json);
    }
    return s == WEND_END ? WEND_OK : s;
}

int main(int argc, char **argv)
{
    wend_agent_options options = {.size = sizeof options, .model = model};
    wend_runtime_options with = {.size = sizeof with};
    wend_replay_options at_once = {.size = sizeof at_once, .speed = 0};
    wend_error err = {WEND_OK, 0, 0, ""};
    wend_store *store = NULL;
    wend_runtime *rt = NULL;
    wend_agent *agent = NULL;
    wend_run *run = NULL, *again = NULL;
    int live = 0, replayed = 0;
    unsigned long live_sum = 0, replayed_sum = 0;
    /* A path makes it an SQLite file that the wend command can open. */
    wend_status s =
        wend_store_open(argc > 1 ? argv[1] : "memory:", &store, &err);

    with.store = store;
    if (s == WEND_OK)
        s = wend_runtime_new(&with, &rt, &err);
    if (s == WEND_OK)
        s = wend_agent_new(rt, &options, &agent, &err);
    if (s == WEND_OK)
        s = wend_agent_add_builtin(agent, "calculator", &err);
    if (s == WEND_OK)
        s = wend_run_start(agent, (wend_str){"6*7?", 4}, NULL, &run, &err);
    if (s == WEND_OK)
        s = drain(run, &live, &live_sum);
    if (s == WEND_OK)
        s = wend_store_replay(rt, wend_run_id(run), &at_once, &again, &err);
    if (s == WEND_OK)
        s = drain(again, &replayed, &replayed_sum);
    if (s == WEND_OK)
        printf("live: %d events\nreplayed: %d events, %s\n", live, replayed,
               live_sum == replayed_sum ? "the same bytes" : "other bytes");
    else
        fprintf(stderr, "%s: %s\n", wend_status_name(s), err.message);
    wend_run_free(again);
    wend_run_free(run);
    wend_agent_free(agent);
    wend_runtime_free(rt);
    wend_store_free(store);
    return s != WEND_OK;
}
