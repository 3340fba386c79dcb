/*
 * dialect_driver.c NAME [KEY=VALUE ...] - native lines in, records out.
 *
 * Keys: thread, run, model, version, and 1 for usage, whole; from=SEQ: events
 * before it are past; interrupt=1: as soon as the stream can end for an
 * approval it does, and the rest is the next stream, behind an empty line.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/str.h"
#include "core/event/event.h"

static wend_dialect_options o = {.size = sizeof o};
static int64_t from;
static bool interrupt;

static void take(char *arg)
{
    char *value = strchr(arg, '=');
    const struct {
        const char *key;
        const char **text;
        bool *flag;
    } keys[] = {
        {"thread", &o.thread_id, NULL},  {"run", &o.run_id, NULL},
        {"model", &o.model, NULL},       {"version", &o.version, NULL},
        {"interrupt", NULL, &interrupt}, {"usage", NULL, &o.include_usage},
        {"whole", NULL, &o.whole},
    };

    if (!value)
        exit(2);
    *value++ = 0;
    if (!strcmp(arg, "from"))
        from = atoll(value);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (!strcmp(arg, keys[i].key)) {
            if (keys[i].text)
                *keys[i].text = value;
            else
                *keys[i].flag = true;
        }
}

static bool feed(wend_dialect *d, wend_str line, struct arena *a)
{
    wend_event ev = {0};
    wend_error err = {0};
    wend_str lines = STR_NONE;

    if (event_read(line, a, NULL, NULL, &ev, &err) != WEND_OK ||
        wend_dialect_feed(d, &ev, ev.seq < from ? NULL : &lines) != WEND_OK) {
        fprintf(stderr, "%.*s: %s\n", STR_ARGS(line), err.message);
        return false;
    }
    fwrite(lines.ptr ? lines.ptr : "", 1, lines.len, stdout);
    if (interrupt && wend_dialect_interrupt(d, &lines) == WEND_OK)
        printf("%.*s\n", STR_ARGS(lines));
    return true;
}

int main(int argc, char **argv)
{
    static const struct mem plain;
    struct arena a = {.mem = &plain};
    wend_dialect *d = NULL;
    char *line = NULL;
    size_t cap = 0;
    ssize_t len;
    bool ok = argc > 1;

    for (int i = 2; i < argc; i++)
        take(argv[i]);
    ok = ok && wend_dialect_new(argv[1], &o, &d, NULL) == WEND_OK;
    while (ok && (len = getline(&line, &cap, stdin)) > 0) {
        ok = feed(d, (wend_str){line, (size_t)len - 1}, &a);
        arena_reset(&a);
    }
    wend_dialect_free(d);
    arena_free(&a);
    free(line);
    return ok ? 0 : 1;
}
