/*
 * test_store_inbox.c - requests to runs: who gets them, and how often.
 */
#include "store/store.h"

#include "store_help.h"

#define RUN_A "01900000-0000-7000-8000-00000000000a"
#define RUN_B "01900000-0000-7000-8000-00000000000b"

struct taken {
    int count;
    struct buf text;
    const char *only; /* the run whose requests are taken; NULL: all */
};

static bool on_request(void *ctx, const struct store_request *r)
{
    struct taken *t = ctx;

    t->count++;
    buf_fmt(&t->text, "%.*s %.*s %.*s;", (int)r->run.len, r->run.ptr,
            (int)r->what.len, r->what.ptr, (int)r->body.len, r->body.ptr);
    return !t->only || str_is(r->run, t->only);
}

/* The taken ones are dropped in the background. */
static void take_all(wend_store *s, struct taken *t, int wanted)
{
    for (int i = 0; i < 30000 && t->count < wanted; i++) {
        s->ops->take(s, on_request, t, NULL);
        usleep(1000);
    }
    for (int i = 0; i < 20; i++) {
        s->ops->take(s, on_request, t, NULL);
        usleep(1000);
    }
}

static void test_inbox(wend_store *s)
{
    const struct mem mem = {0};
    struct taken t = {.text = {.mem = &mem}};
    wend_error err = {0};

    put_event(s, RUN_A, 1, "{}");
    put_event(s, RUN_B, 1, "{}");
    tap_ok(s->ops->take(s, on_request, &t, NULL) == WEND_OK && !t.count,
           "nothing there");
    tap_ok(s->ops->post(s, STR(RUN_A), "say", STR("{\"text\":\"hi\"}"), NULL) ==
               WEND_OK,
           "posted");
    s->ops->post(s, STR(RUN_B), "cancel", STR("{}"), NULL);
    take_all(s, &t, 2);
    tap_is_str(buf_view(&t.text),
               RUN_A " say {\"text\":\"hi\"};" RUN_B " cancel {};",
               "each is given once, in order");
    buf_clear(&t.text);
    t.count = 0;
    for (int i = 0; i < 150; i++)
        s->ops->post(s, STR(RUN_A), "say", STR("{}"), NULL);
    take_all(s, &t, 150);
    tap_is_i64(t.count, 150, "many are given, none twice");
    tap_ok(s->ops->post(s, STR("nobody"), "say", STR("{}"), &err) ==
                   WEND_E_NOTFOUND &&
               strstr(err.message, "nobody"),
           "no such run to reach");
    put_summary(s, RUN_A, 1, "ok", 5);
    tap_ok(s->ops->post(s, STR(RUN_A), "say", STR("{}"), &err) ==
                   WEND_E_INVAL &&
               strstr(err.message, "is over"),
           "a run that is over cannot be reached");
    buf_free(&t.text);
}

/* Two that share a handle, each with a run of its own. */
static void test_inbox_shared(wend_store *s)
{
    const struct mem mem = {0};
    struct taken a = {.text = {.mem = &mem}, .only = RUN_A},
                 b = {.text = {.mem = &mem}, .only = RUN_B};

    put_event(s, RUN_A, 1, "{}");
    put_event(s, RUN_B, 1, "{}");
    s->ops->post(s, STR(RUN_A), "say", STR("{}"), NULL);
    s->ops->post(s, STR(RUN_B), "pause", STR("{}"), NULL);
    s->ops->post(s, STR(RUN_B), "cancel", STR("{}"), NULL);
    take_all(s, &a, 1);
    take_all(s, &b, 2);
    tap_is_str(buf_view(&b.text), RUN_B " pause {};" RUN_B " cancel {};",
               "what one does not take, the other gets, in order");
    s->ops->post(s, STR(RUN_B), "say", STR("{}"), NULL);
    take_all(s, &a, 1000);
    put_summary(s, RUN_B, 1, "ok", 5);
    take_all(s, &a, 1000);
    buf_clear(&b.text);
    take_all(s, &b, 0);
    tap_is_str(buf_view(&b.text), "",
               "what nobody took goes when its run ends");
    buf_free(&a.text);
    buf_free(&b.text);
}

int main(void)
{
    static const char *const engines[] = {"memory:", "sqlite:"};
    static void (*const tests[])(wend_store * s) = {test_inbox,
                                                    test_inbox_shared};
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
