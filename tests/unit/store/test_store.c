/*
 * test_store.c - what every store does: the same tests on each engine.
 */
#include "store/store.h"

#include <pthread.h>

#include "base/id.h"
#include "store_help.h"

#define RUN_A "01900000-0000-7000-8000-00000000000a"
#define RUN_B "01900000-0000-7000-8000-00000000000b"

/* ---- Writing and reading ---------------------------------------------------
 */

struct rows { /* of a log, as text: "e1:body p1.3+2:body " */
    struct buf text;
    int left; /* stop after so many */
};

static bool rows_add(void *ctx, const struct store_item *i)
{
    struct rows *r = ctx;

    if (i->is_pack)
        buf_fmt(&r->text, "p%d.%d+%d:", (int)i->seq, (int)i->n, (int)i->count);
    else
        buf_fmt(&r->text, "e%d:", (int)i->seq);
    buf_str(&r->text, i->body);
    buf_char(&r->text, ' ');
    return --r->left;
}

static void add_log(wend_store *s)
{
    const struct store_event e4 = {4, WEND_WARNING, 1004, STR("{\"d\":\"\"}")};
    const struct store_pack packs[] = {{3, 1, 2, STR("[1,\"\xc3\xa4\"]")},
                                       {3, 3, 1, STR("[2]")}};
    const struct store_pack last = {3, 4, 1, STR("[3]")};
    struct store_batch b = {.run = STR(RUN_A), .epoch = 1};

    put_event(s, RUN_A, 1, "{\"a\":1}");
    put_event(s, RUN_A, 2, "{\"b\":\"\xf0\x9f\x98\x80\"}");
    put_event(s, RUN_A, 3, "{\"c\":\"\\u0000\"}");
    b.packs = packs;
    b.packs_count = 2;
    tap_ok(put(s, &b) == WEND_OK, "packs alone");
    b.packs = &last;
    b.packs_count = 1;
    b.events = &e4;
    b.events_count = 1;
    tap_ok(put(s, &b) == WEND_OK, "packs before an event");
}

static void test_read(wend_store *s)
{
    static const struct {
        const char *name;
        int64_t from;
        uint32_t max;
        int left;
        const char *wanted;
        int64_t n;
    } reads[] = {
        {"all of it", 1, 0, 0,
         "e1:{\"a\":1} e2:{\"b\":\"\xf0\x9f\x98\x80\"} "
         "e3:{\"c\":\"\\u0000\"} p3.1+2:[1,\"\xc3\xa4\"] p3.3+1:[2] "
         "p3.4+1:[3] e4:{\"d\":\"\"} ",
         0},
        {"from the middle, at most three", 3, 3, 0,
         "e3:{\"c\":\"\\u0000\"} p3.1+2:[1,\"\xc3\xa4\"] p3.3+1:[2] ", 0},
        {"from before the beginning", -5, 1, 0, "e1:{\"a\":1} ", 0},
        {"until told to stop", 1, 0, 1, "e1:{\"a\":1} ", 0},
        {"the last", 4, 0, 0, "e4:{\"d\":\"\"} ", 0},
        {"past the end", 5, 0, 0, "", 0},
        {"on after a delta inside a pack", 3, 2, 0,
         "e3:{\"c\":\"\\u0000\"} p3.1+2:[1,\"\xc3\xa4\"] ", 1},
        {"on after a whole pack", 3, 2, 0, "e3:{\"c\":\"\\u0000\"} p3.3+1:[2] ",
         2},
        {"a delta's number counts only after its event", 2, 3, 0,
         "e2:{\"b\":\"\xf0\x9f\x98\x80\"} "
         "e3:{\"c\":\"\\u0000\"} p3.1+2:[1,\"\xc3\xa4\"] ",
         9},
    };
    const struct mem mem = {0};
    wend_error err = {0};
    struct log log;

    add_log(s);
    for (size_t i = 0; i < tap_count(reads); i++) {
        struct rows r = {.text = {.mem = &mem}, .left = reads[i].left};

        tap_ok(s->ops->read(s, STR(RUN_A),
                            (struct store_place){reads[i].from, reads[i].n},
                            reads[i].max, rows_add, &r, NULL) == WEND_OK,
               "read %s", reads[i].name);
        tap_is_str(buf_view(&r.text), reads[i].wanted, "%s", reads[i].name);
        buf_free(&r.text);
    }
    log = log_read(s, RUN_A);
    tap_ok(!log.bad && log.seq_last == 4 && log.packs == 3,
           "the chain holds through the packs");
    tap_ok(s->ops->read(s, STR("nobody"), FROM_START, 0, rows_add, NULL,
                        &err) == WEND_E_NOTFOUND &&
               strstr(err.message, "'nobody'"),
           "a run that is not there is named");
}

/* ---- What does not fit --------------------------------------------------- */

static void test_stale(wend_store *s)
{
    const struct store_birth birth = {.started_us = 1};
    const struct store_event next[] = {{3, WEND_WARNING, 1, STR("{\"x\":1}")},
                                       {4, WEND_WARNING, 1, STR("{\"x\":2}")}};
    const struct store_event again = {2, WEND_WARNING, 1, STR("{\"x\":3}")};
    const struct store_event gap[] = {{3, WEND_WARNING, 1, STR("{\"x\":4}")},
                                      {5, WEND_WARNING, 1, STR("{\"x\":5}")}};
    const struct store_pack early = {1, 1, 1, STR("[1]")};
    const struct {
        const char *name;
        struct store_batch b;
    } rows[] = {
        {"an older epoch",
         {.run = STR(RUN_A), .events = next, .events_count = 2}},
        {"a newer epoch",
         {.run = STR(RUN_A), .epoch = 2, .events = next, .events_count = 2}},
        {"a seq that is taken",
         {.run = STR(RUN_A), .epoch = 1, .events = &again, .events_count = 1}},
        {"a gap inside",
         {.run = STR(RUN_A), .epoch = 1, .events = gap, .events_count = 2}},
        {"a pack after another event",
         {.run = STR(RUN_A), .epoch = 1, .packs = &early, .packs_count = 1}},
        {"a second birth", {.run = STR(RUN_A), .epoch = 1, .birth = &birth}},
        {"a run that is not there",
         {.run = STR("nobody"), .epoch = 1, .events = next, .events_count = 2}},
    };

    put_event(s, RUN_A, 1, "{}");
    put_event(s, RUN_A, 2, "{}");
    for (size_t i = 0; i < tap_count(rows); i++) {
        struct store_batch bad = rows[i].b, good = {.run = STR(RUN_A)};
        struct store_batch also = {.run = STR(RUN_A)};
        struct wait waits[3];

        good.epoch = also.epoch = 1;
        put_begin(s, &good, &waits[0]);
        put_begin(s, &bad, &waits[1]);
        put_begin(s, &also, &waits[2]);
        tap_ok(put_end(&waits[0]) == WEND_OK, "before %s", rows[i].name);
        tap_ok(put_end(&waits[1]) == WEND_E_STALE, "stale: %s", rows[i].name);
        tap_ok(put_end(&waits[2]) == WEND_OK, "after %s", rows[i].name);
        tap_is_i64(log_read(s, RUN_A).seq_last, 2, "nothing of it is kept");
    }
    tap_ok(s->ops->failure(s, NULL) == WEND_OK, "the store is well");
    tap_ok(put_event(s, RUN_A, 3, "{}") == WEND_OK, "the run goes on");
}

static void test_claim(wend_store *s)
{
    const struct store_event e = {2, WEND_RUN_RESUME, 1, STR("{}")};
    struct store_batch b = {.run = STR(RUN_A), .events = &e};
    int64_t epoch = 0, seq = 0;
    wend_error err = {0};

    put_event(s, RUN_A, 1, "{}");
    put_summary(s, RUN_A, 1, "interrupted", 0);
    tap_is_str(listed_status(s, RUN_A), "interrupted", "given up");
    tap_ok(s->ops->claim(s, STR(RUN_A), STORE_SEQ_ANY, &epoch, &seq, NULL) ==
                   WEND_OK &&
               epoch == 2 && seq == 1,
           "claimed at epoch 2, seq 1");
    tap_is_str(listed_status(s, RUN_A), "running", "held again");
    tap_ok(put_event(s, RUN_A, 2, "{}") == WEND_E_STALE, "epoch 1 is over");
    b.epoch = 2;
    b.events_count = 1;
    tap_ok(put(s, &b) == WEND_OK, "epoch 2 goes on");
    tap_ok(s->ops->claim(s, STR("nobody"), STORE_SEQ_ANY, &epoch, &seq, &err) ==
                   WEND_E_NOTFOUND &&
               strstr(err.message, "nobody"),
           "no such run to claim");
}

/* ---- Blobs --------------------------------------------------------------- */

struct blob_in_read {
    wend_store *store;
    struct buf *out;
    wend_status status;
};

static bool ask_blob(void *ctx, const struct store_item *item)
{
    struct blob_in_read *b = ctx;

    (void)item;
    b->status = b->store->ops->blob(b->store, STR("h1"), b->out, NULL);
    return false;
}

static void test_blob(wend_store *s)
{
    const struct store_blob blobs[] = {
        {"h1", STR("a\0b\xff")}, {"h2", {"", 0}}, {"h1", STR("not again")}};
    struct store_batch b = {.run = STR(RUN_A),
                            .epoch = 1,
                            .blobs = blobs,
                            .blobs_count = tap_count(blobs)};
    const struct mem mem = {0};
    struct buf out = {.mem = &mem};
    struct blob_in_read in = {s, &out, WEND_E_INVAL};
    wend_error err = {0};

    put_event(s, RUN_A, 1, "{}");
    tap_ok(put(s, &b) == WEND_OK, "blobs added");
    tap_ok(s->ops->blob(s, STR("h1"), &out, NULL) == WEND_OK, "blob found");
    tap_is_str(buf_view(&out), STR("a\0b\xff"), "the first one stays");
    tap_ok(s->ops->blob(s, STR("h2"), &out, NULL) == WEND_OK && out.len == 4,
           "an empty one adds nothing");
    tap_ok(s->ops->blob(s, STR("h3"), &out, &err) == WEND_E_NOTFOUND &&
               strstr(err.message, "'h3'"),
           "no such blob");
    s->ops->read(s, STR(RUN_A), FROM_START, 0, ask_blob, &in, NULL);
    tap_ok(in.status == WEND_OK && out.len == 8, "a reader may ask for one");
    buf_free(&out);
}

/* ---- Listing ------------------------------------------------------------- */

enum { LISTED = 12 };

static void listed_id(char out[RUN_ID_LEN + 1], int i)
{
    snprintf(out, RUN_ID_LEN + 1, "0190000%x-0000-7000-8000-%012d", i / 4, i);
}

static void add_listed(wend_store *s)
{
    static const char *const words[] = {"running", "ok", "limit", "waiting"};

    for (int i = 0; i < LISTED; i++) {
        char id[RUN_ID_LEN + 1];
        const struct store_event e = {1, WEND_WARNING, 1, STR("{}")};
        const struct store_birth birth = {
            .agent = str_of(i % 3 ? "x" : "y"),
            .model = STR("m"),
            .prompt = STR("Hi"),
            .user = i % 2 ? STR("u1") : STR_NONE,
            .session = i < 6 ? STR("s") : STR("it's"),
            .parent = i == 5 ? STR(RUN_A) : STR_NONE,
            .started_us = 100 + i / 2 /* two at a time */};
        struct store_batch b = {
            .run = {id, RUN_ID_LEN},
            .epoch = 1,
            .birth = &birth,
            .events = &e,
            .events_count = 1,
            .summary = {words[i % 4], i % 4 == 1 || i % 4 == 2 ? 900 + i : 0, i,
                        10, 20, 30}};

        listed_id(id, i);
        put(s, &b);
    }
}

/* Which ones a listing shows, as digits of base 16. */
static void list_text(wend_store *s, const wend_list_options *o, char *out)
{
    const wend_run_info *info;
    wend_runs *list = NULL;

    if (wend_store_list(s, o, &list, NULL) != WEND_OK)
        *out++ = '!';
    while (list && wend_runs_next(list, &info) == WEND_OK)
        *out++ = "0123456789abcdef"[info->turns];
    *out = 0;
    wend_runs_free(list);
}

static const struct {
    const char *name;
    wend_list_options o;
    const char *wanted;
} lists[] = {
    {"all", {.size = sizeof(wend_list_options)}, "ba9876543210"},
    {"a user", {.size = sizeof(wend_list_options), .user = "u1"}, "b97531"},
    {"a session",
     {.size = sizeof(wend_list_options), .session = "it's"},
     "ba9876"},
    {"an agent", {.size = sizeof(wend_list_options), .agent = "y"}, "9630"},
    {"user and agent",
     {.size = sizeof(wend_list_options), .user = "u1", .agent = "y"},
     "93"},
    {"running",
     {.size = sizeof(wend_list_options), .status = "running"},
     "840"},
    {"ok", {.size = sizeof(wend_list_options), .status = "ok"}, "951"},
    {"waiting",
     {.size = sizeof(wend_list_options), .status = "waiting"},
     "b73"},
    {"interrupted",
     {.size = sizeof(wend_list_options), .status = "interrupted"},
     ""},
    {"a prefix",
     {.size = sizeof(wend_list_options), .run = "01900001"},
     "7654"},
    {"a whole id",
     {.size = sizeof(wend_list_options),
      .run = "01900001-0000-7000-8000-000000000005"},
     "5"},
    {"no pattern", {.size = sizeof(wend_list_options), .run = "0%"}, ""},
    {"since", {.size = sizeof(wend_list_options), .since_us = 104}, "ba98"},
    {"until", {.size = sizeof(wend_list_options), .until_us = 102}, "3210"},
    {"since and until",
     {.size = sizeof(wend_list_options), .since_us = 101, .until_us = 102},
     "32"},
    {"a few", {.size = sizeof(wend_list_options), .limit = 3}, "ba9"},
    {"a page",
     {.size = sizeof(wend_list_options),
      .limit = 3,
      .after = "01900002-0000-7000-8000-000000000009"},
     "876"},
    {"a page of a filter",
     {.size = sizeof(wend_list_options),
      .limit = 2,
      .status = "waiting",
      .after = "01900002-0000-7000-8000-000000000011"},
     "73"},
    {"after the last",
     {.size = sizeof(wend_list_options),
      .after = "01900000-0000-7000-8000-000000000000"},
     ""},
    {"after nobody",
     {.size = sizeof(wend_list_options), .after = "nobody"},
     "!"},
    {"an older struct without paging",
     {.size = offsetof(wend_list_options, after),
      .after = "nobody",
      .limit = 1},
     "ba9876543210"},
};

static void test_list(wend_store *s)
{
    char text[64];

    add_listed(s);
    for (size_t i = 0; i < tap_count(lists); i++) {
        list_text(s, &lists[i].o, text);
        tap_is_str(text, lists[i].wanted, "list %s", lists[i].name);
    }
    list_text(s, NULL, text);
    tap_is_str(text, "ba9876543210", "list without options");
}

static void test_info(wend_store *s)
{
    char prompt[PROMPT_LISTED_MAX + 8];
    const struct store_birth birth = {.agent = STR("a"),
                                      .model = STR(""),
                                      .prompt = {prompt, sizeof prompt},
                                      .session = STR("s"),
                                      .parent = STR(RUN_B),
                                      .started_us = 7};
    const struct store_event e = {1, WEND_WARNING, 1, STR("{}")};
    struct store_batch b = {.run = STR(RUN_A),
                            .epoch = 1,
                            .birth = &birth,
                            .events = &e,
                            .events_count = 1,
                            .summary = {"ok", 8, 1, 2, 3, 4}};
    const wend_run_info *i = NULL;
    wend_runs *list = NULL;

    memset(prompt, 'x', sizeof prompt);
    memcpy(prompt + PROMPT_LISTED_MAX - 2, "\xe2\x82\xac", 3); /* across */
    prompt[1] = 0;
    put(s, &b);
    wend_store_list(s, NULL, &list, NULL);
    if (tap_ok(list && wend_runs_next(list, &i) == WEND_OK, "one listed")) {
        tap_is_str(i->run, RUN_A, "run");
        tap_is_str(i->agent, "a", "agent");
        tap_is_str(i->model, "", "an empty model");
        tap_is_str(i->user, STR_NONE, "no user");
        tap_is_str(i->session, "s", "session");
        tap_is_str(i->parent, RUN_B, "parent");
        tap_is_str(i->prompt, ((wend_str){prompt, PROMPT_LISTED_MAX - 2}),
                   "the prompt is cut at a code point");
        tap_ok(i->started_us == 7 && i->ended_us == 8 && i->turns == 1 &&
                   i->tokens_in == 2 && i->tokens_out == 3 &&
                   i->cost_nano == 4 && i->seq == 1,
               "numbers");
        tap_ok(wend_runs_next(list, &i) == WEND_END && !i, "then the end");
    }
    wend_runs_free(list);
}

/* ---- Many at once -------------------------------------------------------- */

enum { THREADS = 4, EACH = 60 };

struct worker {
    wend_store *store;
    int number, bad;
};

static void *work(void *ctx)
{
    struct worker *w = ctx;
    char run[RUN_ID_LEN + 1], body[32];

    listed_id(run, w->number);
    for (int i = 1; i <= EACH; i++) {
        snprintf(body, sizeof body, "{\"w\":%d,\"i\":%d}", w->number, i);
        w->bad += put_event(w->store, run, i, body) != WEND_OK;
        if (i % 16 == 0)
            w->bad += log_read(w->store, run).seq_last != i;
    }
    return NULL;
}

static void test_threads(wend_store *s)
{
    struct worker workers[THREADS];
    pthread_t threads[THREADS];
    char run[RUN_ID_LEN + 1];
    int bad = 0;

    for (int i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.store = s, .number = i};
        pthread_create(&threads[i], NULL, work, &workers[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        struct log log;

        pthread_join(threads[i], NULL);
        listed_id(run, i);
        log = log_read(s, run);
        bad += workers[i].bad || log.bad || log.seq_last != EACH;
    }
    tap_is_i64(bad, 0, "%d threads write and read their runs", THREADS);
}

/* ---- All of it ----------------------------------------------------------- */

static const struct {
    const char *name;
    void (*fn)(wend_store *s);
} tests[] = {
    {"read", test_read},       {"stale", test_stale}, {"claim", test_claim},
    {"blob", test_blob},       {"list", test_list},   {"info", test_info},
    {"threads", test_threads},
};

static void urls(void)
{
    static const struct {
        const char *url;
        wend_status status;
        const char *says;
    } rows[] = {
        {"postgres://me:secret@host/db", WEND_E_INVAL, "not built in"},
        {"mysql://host/db", WEND_E_INVAL, "no such kind"},
        {"sqlite:", WEND_E_INVAL, "empty"},
        {"/no/such/dir/wend.db", WEND_E_STORE, "/no/such/dir/wend.db"},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        wend_store *s = NULL;
        wend_error err = {0};

        tap_ok(wend_store_open(rows[i].url, &s, &err) == rows[i].status && !s &&
                   strstr(err.message, rows[i].says) &&
                   !strstr(err.message, "secret"),
               "%s: %s", rows[i].url, err.message);
    }
}

int main(void)
{
    static const char *const engines[] = {"memory:", "sqlite:"};
    char *dir = dir_make(), url[128];

    for (size_t e = 0; e < tap_count(engines); e++)
        for (size_t i = 0; i < tap_count(tests); i++) {
            wend_store *s = NULL;
            wend_error err = {0};

            snprintf(url, sizeof url, "%s%s/%s.db", engines[e], dir,
                     tests[i].name);
            if (tap_ok(wend_store_open(e ? url : engines[e], &s, &err) ==
                           WEND_OK,
                       "%s%s %s", engines[e], tests[i].name, err.message))
                tests[i].fn(s);
            wend_store_free(s);
        }
    urls();
    dir_remove(dir);
    return tap_done();
}
