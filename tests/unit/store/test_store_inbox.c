/*
 * test_store_inbox.c - requests to runs: who gets them, and how often.
 */
#include "base/limits.h"
#include "store/store.h"

#include "store_help.h"

#define RUN_A "01900000-0000-7000-8000-00000000000a"
#define RUN_B "01900000-0000-7000-8000-00000000000b"

struct taken {
    struct buf text;
    const char *only; /* the run whose requests are taken; NULL: all */
    int64_t ids[8];   /* of those that were taken */
    size_t count;
};

static bool on_request(void *ctx, const struct store_request *r)
{
    struct taken *t = ctx;
    bool mine = !t->only || str_is(r->run, t->only);

    buf_fmt(&t->text, "%.*s %.*s %.*s;", (int)r->run.len, r->run.ptr,
            (int)r->what.len, r->what.ptr, (int)r->body.len, r->body.ptr);
    if (mine && t->count < tap_count(t->ids))
        t->ids[t->count++] = r->id;
    return mine;
}

static int64_t posted(wend_store *s, const char *run, const char *what)
{
    int64_t id = 0;

    return s->ops->post(s, str_of(run), what, STR("{}"), &id, NULL) == WEND_OK
               ? id
               : 0;
}

static enum store_fate fate(wend_store *s, int64_t id)
{
    enum store_fate f = FATE_WAITS;

    s->ops->fate(s, id, &f, NULL);
    return f;
}

/* A batch that deals with one request, and may end its run. */
static wend_status hear(wend_store *s, const char *run, int64_t id, bool late,
                        int64_t ended_us)
{
    struct store_heard h = {id, late};
    struct store_batch b = {.run = str_of(run),
                            .epoch = 1,
                            .heard = &h,
                            .heard_count = id != 0,
                            .summary = {.status = ended_us ? "ok" : "running",
                                        .ended_us = ended_us}};

    return put(s, &b);
}

static size_t waiting(wend_store *s, const char *run)
{
    const struct mem mem = {0};
    struct arena a = {.mem = &mem};
    struct store_request *list;
    size_t count = 0;

    s->ops->waiting(s, str_of(run), &a, &list, &count, NULL);
    arena_free(&a);
    return count;
}

static void test_inbox(wend_store *s)
{
    const struct mem mem = {0};
    struct taken t = {.text = {.mem = &mem}};
    wend_error err = {0};
    int64_t id = 0;

    put_event(s, RUN_A, 1, "{}");
    put_event(s, RUN_B, 1, "{}");
    tap_ok(s->ops->take(s, on_request, &t, NULL) == WEND_OK && !t.count,
           "nothing there");
    tap_ok(s->ops->post(s, STR(RUN_A), "say", STR("{\"text\":\"hi\"}"), &id,
                        NULL) == WEND_OK &&
               id,
           "posted");
    posted(s, RUN_B, "cancel");
    s->ops->take(s, on_request, &t, NULL);
    tap_is_str(buf_view(&t.text),
               RUN_A " say {\"text\":\"hi\"};" RUN_B " cancel {};",
               "both are given, in order");
    tap_ok(fate(s, t.ids[0]) == FATE_WAITS && waiting(s, RUN_A) == 1,
           "one that was given waits until a batch has dealt with it");
    hear(s, RUN_A, t.ids[0], false, 0);
    hear(s, RUN_B, t.ids[1], true, 0);
    buf_clear(&t.text);
    s->ops->take(s, on_request, &t, NULL);
    tap_is_str(buf_view(&t.text), "", "then it is not given any more");
    tap_ok(fate(s, t.ids[0]) == FATE_HEARD, "it was heard");
    tap_ok(fate(s, t.ids[1]) == FATE_LATE, "the other one came too late");
    tap_ok(s->ops->post(s, STR("nobody"), "say", STR("{}"), NULL, &err) ==
                   WEND_E_NOTFOUND &&
               strstr(err.message, "nobody"),
           "no such run to reach");
    buf_free(&t.text);
}

/* A run does not end before what was accepted. */
static void test_end(wend_store *s)
{
    wend_error err = {0};
    int64_t first, second;

    put_event(s, RUN_A, 1, "{}");
    put_event(s, RUN_B, 1, "{}");
    first = posted(s, RUN_A, "say");
    second = posted(s, RUN_A, "pause");
    tap_ok(hear(s, RUN_A, 0, false, 5) == WEND_E_BUSY,
           "an end that heard nothing is refused");
    tap_ok(hear(s, RUN_A, first, false, 5) == WEND_E_BUSY,
           "one that heard only the first, too");
    tap_ok(fate(s, first) == FATE_WAITS, "which is then not heard");
    tap_ok(hear(s, RUN_B, 0, false, 5) == WEND_OK,
           "another run may end meanwhile");
    tap_ok(hear(s, RUN_A, first, false, 0) == WEND_OK &&
               hear(s, RUN_A, second, true, 5) == WEND_OK,
           "once both are dealt with it ends");
    tap_ok(s->ops->post(s, STR(RUN_A), "say", STR("{}"), NULL, &err) ==
                   WEND_E_INVAL &&
               strstr(err.message, "is over"),
           "a run that is over cannot be reached");
    tap_ok(fate(s, first) == FATE_HEARD && fate(s, second) == FATE_LATE,
           "both senders learn what became of it");
}

/* The next owner finds what the last one did not hear. */
static void test_claim(wend_store *s)
{
    int64_t epoch, seq, id;

    put_event(s, RUN_A, 1, "{}");
    put_summary(s, RUN_A, 1, "interrupted", 0);
    id = posted(s, RUN_A, "cancel");
    tap_ok(id &&
               s->ops->claim(s, STR(RUN_A), STORE_SEQ_ANY, &epoch, &seq,
                             NULL) == WEND_OK &&
               waiting(s, RUN_A) == 1,
           "it was accepted without an owner, and is there after the claim");
}

static void test_many(wend_store *s)
{
    wend_error err = {0};
    int64_t ids[REQUESTS_MAX], last = 0, again;
    int rising = 0;

    put_event(s, RUN_A, 1, "{}");
    for (int i = 0; i < REQUESTS_MAX; i++) {
        ids[i] = posted(s, RUN_A, "say");
        rising += ids[i] > last;
        last = ids[i];
    }
    tap_is_i64(rising, REQUESTS_MAX, "as many as may wait");
    tap_ok(s->ops->post(s, STR(RUN_A), "say", STR("{}"), NULL, &err) ==
                   WEND_E_LIMIT &&
               strstr(err.message, "wait already"),
           "one more is refused");
    tap_is_i64((int64_t)waiting(s, RUN_A), REQUESTS_MAX, "all are there");
    for (int i = 0; i < REQUESTS_MAX; i++)
        hear(s, RUN_A, ids[i], false, 0);
    again = posted(s, RUN_A, "say");
    tap_ok(again > last && fate(s, last) == FATE_HEARD,
           "an id is not given twice");
}

/* Two that share a handle, each with a run of its own. */
static void test_shared(wend_store *s)
{
    const struct mem mem = {0};
    struct taken a = {.text = {.mem = &mem}, .only = RUN_A},
                 b = {.text = {.mem = &mem}, .only = RUN_B};

    put_event(s, RUN_A, 1, "{}");
    put_event(s, RUN_B, 1, "{}");
    posted(s, RUN_A, "say");
    posted(s, RUN_B, "pause");
    posted(s, RUN_B, "cancel");
    s->ops->take(s, on_request, &a, NULL);
    s->ops->take(s, on_request, &b, NULL);
    tap_ok(a.count == 1 && b.count == 2,
           "what one does not take, the other gets");
    buf_free(&a.text);
    buf_free(&b.text);
}

int main(void)
{
    static const char *const engines[] = {"memory:", "sqlite:"};
    static void (*const tests[])(wend_store * s) = {
        test_inbox, test_end, test_claim, test_many, test_shared};
    char *dir = dir_make(), url[128];

    for (size_t e = 0; e < tap_count(engines); e++)
        for (size_t i = 0; i < tap_count(tests); i++) {
            wend_store *s = NULL;
            wend_error err = {0};

            snprintf(url, sizeof url, "%s%s/%zu.db", engines[e], dir, i);
            if (tap_ok(wend_store_open(e ? url : engines[e], &s, &err) ==
                           WEND_OK,
                       "%s %s", engines[e], err.message))
                tests[i](s);
            wend_store_free(s);
        }
    dir_remove(dir);
    return tap_done();
}
