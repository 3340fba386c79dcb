/*
 * 12_image.c - a prompt with an image. The log keeps what the image is, and its
 * bytes beside it. The model is a script, so no network is needed.
 *
 *     cc 12_image.c $(pkg-config --cflags --libs wend) -o image && ./image
 */
#include <stdio.h>
#include <wend.h>

/* A red rectangle of 8x6 pixels. */
static const char red[] =
    "\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\x08\0\0\0\x06\x08\x02\0\0\0\x71\x67"
    "\x48\xac\0\0\0\x12IDATx\x9c\x63\xf8\xcf\xc0\x80\x15\x61\x17\xa5\x93\x04\0"
    "\x33\x28\x2f\xd1\xec\xc1\x05\xf9\0\0\0\0IEND\xae\x42\x60\x82";

static void show(const wend_event *ev)
{
    const wend_ev_run_start *e = &ev->u.run_start;
    size_t i;

    for (i = 0; ev->type == WEND_RUN_START && i < e->parts_count; i++)
        printf("%.*s: %.*s, %d bytes, %dx%d pixels\n",
               (int)e->parts[i].name.len, e->parts[i].name.ptr,
               (int)e->parts[i].media.len, e->parts[i].media.ptr,
               (int)e->parts[i].bytes, (int)e->parts[i].width,
               (int)e->parts[i].height);
    if (ev->type == WEND_RUN_END)
        printf("%.*s\n", (int)ev->u.run_end.text.len, ev->u.run_end.text.ptr);
}

int main(void)
{
    wend_part part = {{red, sizeof red - 1}, {"red.png", 7}};
    wend_agent_options options = {
        .size = sizeof options,
        .model = "script:{\"turns\":[{\"text\":\"It is red.\"}]}",
    };
    wend_run_options with = {
        .size = sizeof with, .parts = &part, .parts_count = 1};
    wend_str prompt = {"What colour is it?", 18};
    wend_error err = {WEND_OK, 0, 0, ""};
    wend_runtime *rt = NULL;
    wend_agent *agent = NULL;
    wend_run *run = NULL;
    const wend_event *ev;
    wend_status s = wend_runtime_new(NULL, &rt, &err);

    if (s == WEND_OK)
        s = wend_agent_new(rt, &options, &agent, &err);
    if (s == WEND_OK)
        s = wend_run_start(agent, prompt, &with, &run, &err);
    while (s == WEND_OK && (s = wend_run_next(run, &ev)) == WEND_OK)
        show(ev);
    if (s != WEND_END)
        fprintf(stderr, "%s\n", err.message);
    wend_run_free(run);
    wend_agent_free(agent);
    wend_runtime_free(rt);
    return s != WEND_END;
}
