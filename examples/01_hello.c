/*
 * 01_hello.c - embeds the library: one agent, one prompt, the answer as it
 * comes. The model is a script in the program, so no network is needed.
 *
 *     cc 01_hello.c $(pkg-config --cflags --libs wend) -o hello && ./hello
 */
#include <stdio.h>
#include <wend.h>

int main(void)
{
    wend_agent_options options = {
        .size = sizeof options,
        .model = "script:{\"turns\":[{\"text\":\"Hello from the loop.\\n\"}]}",
    };
    wend_str prompt = {"Say hello.", 10}, text;
    wend_error err = {WEND_OK, 0, 0, ""};
    wend_runtime *rt = NULL;
    wend_agent *agent = NULL;
    wend_run *run = NULL;
    const wend_event *ev;
    wend_status s = wend_runtime_new(NULL, &rt, &err);

    if (s == WEND_OK)
        s = wend_agent_new(rt, &options, &agent, &err);
    if (s == WEND_OK)
        s = wend_run_start(agent, prompt, NULL, &run, &err);
    while (s == WEND_OK && (s = wend_run_next(run, &ev)) == WEND_OK)
        if (ev->type == WEND_TEXT_DELTA) {
            text = ev->u.text_delta.text; /* lent until the next call */
            fwrite(text.ptr, 1, text.len, stdout);
        }
    if (s != WEND_END)
        fprintf(stderr, "%s\n",
                run ? wend_run_error(run)->message : err.message);
    wend_run_free(run);
    wend_agent_free(agent);
    wend_runtime_free(rt);
    return s != WEND_END;
}
