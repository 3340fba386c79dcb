/*
 * fuzz_event.c - lines of a log from anywhere: what reads as an event is
 * written, copied and applied; what was written reads back to equal bytes.
 */
#include <stdlib.h>

#include "state/state.h"
#include "core/turn/turn.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct mem plain;

static wend_status blob_get(void *ctx, wend_str hash, struct arena *a,
                            wend_str *text)
{
    (void)ctx;
    (void)hash;
    *text = arena_str(a, STR("\"text of a blob\""));
    return WEND_OK;
}

static bool read_line(wend_str line, struct arena *a, wend_event *ev)
{
    return event_read(line, a, blob_get, NULL, ev, NULL) == WEND_OK &&
           ev->type != WEND_EVENT_NONE;
}

/* Written once it is canonical: a second time nothing may change. */
static void check_bytes(const wend_event *ev)
{
    struct arena a = {.mem = &plain};
    struct buf first = {.mem = &plain}, second = {.mem = &plain};
    struct event_blobs blobs = {.arena = &a};
    wend_event *copy = event_copy(&plain, ev);
    wend_event back;

    event_write(&first, ev, &blobs);
    if (!blobs.count) {
        if (!read_line(buf_view(&first), &a, &back))
            abort();
        event_write(&second, &back, NULL);
        if (!str_eq(buf_view(&first), buf_view(&second)))
            abort();
    }
    buf_clear(&second);
    event_write(&second, copy, NULL);
    if (!str_eq(buf_view(&first), buf_view(&second)))
        abort();
    mem_free(&plain, copy);
    buf_free(&first);
    buf_free(&second);
    arena_free(&a);
}

/* Each line is an event; the state that they make must read back. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    wend_str rest = {(const char *)data, size};
    struct arena kept = {.mem = &plain};
    struct keep keep = {&kept, NULL};
    struct buf text = {.mem = &plain};
    struct turn t, back;

    turn_init(&t);
    while (rest.len && !kept.failed) {
        const char *end = memchr(rest.ptr, '\n', rest.len);
        wend_str line = {rest.ptr, end ? (size_t)(end - rest.ptr) : rest.len};
        struct arena a = {.mem = &plain};
        wend_event ev;

        if (read_line(line, &a, &ev)) {
            check_bytes(&ev);
            turn_apply(&t, &ev, &keep);
        }
        arena_free(&a);
        rest.ptr += line.len + (end != NULL);
        rest.len -= line.len + (end != NULL);
    }
    if (!kept.failed && t.config) {
        turn_write(&text, &t);
        if (turn_read(buf_view(&text), &keep, &back, NULL) != WEND_OK)
            abort();
    }
    buf_free(&text);
    arena_free(&kept);
    return 0;
}
