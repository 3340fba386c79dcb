/*
 * 04_cancel.c - stops a run while its model speaks. What was said so far is
 * kept, every start gets its end, and the store has all of it.
 * wend_run_cancel may be called from any thread.
 *
 *     cc 04_cancel.c $(pkg-config --cflags --libs wend) -o cancel && ./cancel
 */
#include <stdio.h>
#include <wend.h>

static const char model[] =
    "script:{\"turns\":[{\"text\":\"one two three four five six seven\","
    "\"delay\":\"30ms\"}]}";

static void show(const wend_event *ev)
{
    if (ev->type == WEND_TEXT_DELTA)
        printf("text_delta '%.*s'\n", (int)ev->u.text_delta.text.len,
               ev->u.text_delta.text.ptr);
    else if (ev->type == WEND_MODEL_END)
        printf("model_end %s\n", wend_outcome_name(ev->u.model_end.outcome));
    else if (ev->type == WEND_TURN_END)
        printf("turn_end %s\n", wend_outcome_name(ev->u.turn_end.outcome));
    else if (ev->type == WEND_RUN_END)
        printf("run_end %s, text '%.*s'\n",
               wend_outcome_name(ev->u.run_end.outcome),
               (int)ev->u.run_end.text.len, ev->u.run_end.text.ptr);
    else
        printf("%s\n", wend_event_name(ev->type));
}

int main(void)
{
    wend_agent_options options = {.size = sizeof options, .model = model};
    wend_str prompt = {"Count.", 6};
    wend_error err = {WEND_OK, 0, 0, ""};
    wend_runtime *rt = NULL;
    wend_agent *agent = NULL;
    wend_run *run = NULL;
    const wend_event *ev;
    int deltas = 0;
    wend_status s = wend_runtime_new(NULL, &rt, &err);

    if (s == WEND_OK)
        s = wend_agent_new(rt, &options, &agent, &err);
    if (s == WEND_OK)
        s = wend_run_start(agent, prompt, NULL, &run, &err);
    while (s == WEND_OK && (s = wend_run_next(run, &ev)) == WEND_OK) {
        show(ev);
        if (ev->type == WEND_TEXT_DELTA && ++deltas == 3)
            s = wend_run_cancel(run);
    }
    if (s != WEND_END)
        fprintf(stderr, "%s\n",
                run ? wend_run_error(run)->message : err.message);
    wend_run_free(run);
    wend_agent_free(agent);
    wend_runtime_free(rt);
    return s != WEND_END;
}
