/*
 * test_memory.c - what the memory store costs, and what it does without.
 */
#include "store/store.h"

#include <malloc.h>

#include "fault.h"
#include "store_help.h"

#define RUN_A "01900000-0000-7000-8000-00000000000a"
#define RUN_B "01900000-0000-7000-8000-00000000000b"

/* Counts what malloc really takes. */
static void *count_alloc(void *ctx, void *p, size_t size)
{
    const size_t head = sizeof(size_t);
    int64_t *bytes = ctx;
    void *moved = NULL;

    *bytes -= p ? (int64_t)(malloc_usable_size(p) + head) : 0;
    if (size)
        moved = realloc(p, size);
    else
        free(p);
    *bytes += moved ? (int64_t)(malloc_usable_size(moved) + head) : 0;
    return moved;
}

/* Waiting for its model: one step of five events, then one of a single. */
static void parked_cost(void)
{
    enum { EVENTS = 6, BODY_BYTES = 300 };
    const struct store_birth birth = {.agent = STR("a"), .started_us = 1};
    struct store_event events[EVENTS];
    struct store_batch first = {.run = STR(RUN_A), .epoch = 1};
    struct store_batch second = first;
    wend_store *s = NULL;
    char body[BODY_BYTES];
    int64_t bytes = 0;

    memset(body, 'x', sizeof body);
    for (int i = 0; i < EVENTS; i++)
        events[i] =
            (struct store_event){i + 1, WEND_WARNING, 1, {body, sizeof body}};
    first.birth = &birth;
    first.events = events;
    first.events_count = EVENTS - 1;
    second.events = events + EVENTS - 1;
    second.events_count = 1;
    store_memory_open(&s, NULL);
    put_event(s, RUN_B, 1, "{}"); /* the table is there */
    s->mem = (struct mem){.fn = count_alloc, .ctx = &bytes};
    put(s, &first);
    put(s, &second);
    bytes -= EVENTS * BODY_BYTES;
    tap_ok(bytes > 0 && bytes < 600,
           "a parked run costs %d bytes besides its bodies", (int)bytes);
    wend_store_free(s);
}

/* In every round another allocation fails: all or nothing is kept. */
static void out_of_memory(void)
{
    struct fault f = {0};
    int bad = 0;

    while (fault_next(&f)) {
        const struct store_birth birth = {.started_us = 1};
        const struct store_event e[] = {{1, WEND_WARNING, 1, STR("{}")},
                                        {2, WEND_WARNING, 1, STR("{}")}};
        const struct store_blob blob = {"h", STR("text")};
        struct store_batch b = {.run = STR(RUN_A),
                                .epoch = 1,
                                .birth = &birth,
                                .events = e,
                                .events_count = 2,
                                .blobs = &blob,
                                .blobs_count = 1};
        struct log log = {0};
        wend_store *s = NULL;
        wend_runs *list = NULL;
        wend_status status, found, shown;

        store_memory_open(&s, NULL);
        s->mem = fault_mem(&f);
        status = put(s, &b);
        bad += status != WEND_OK && status != WEND_E_NOMEM;
        found =
            s->ops->read(s, STR(RUN_A), FROM_START, 0, log_item, &log, NULL);
        bad += (found == WEND_E_NOTFOUND) != (status != WEND_OK);
        bad += found == WEND_OK && (log.bad || log.seq_last != 2);
        shown = wend_store_list(s, NULL, &list, NULL);
        wend_runs_free(list);
        bad += f.hit ==
               (status == WEND_OK && found == WEND_OK && shown == WEND_OK);
        wend_store_free(s);
        bad += f.live != -1; /* the store itself came from elsewhere */
    }
    tap_is_i64(bad, 0, "memory: every failed allocation is reported");
}

int main(void)
{
    parked_cost();
    out_of_memory();
    return tap_done();
}
