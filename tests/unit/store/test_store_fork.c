/*
 * test_store_fork.c - forks share their parent's past, on every engine.
 */
#include "store_help.h"

#define ID(n) "01900000-0000-7000-8000-00000000000" n

/* A fork of `parent` whose own events are first and the one after it. */
static void add_fork(wend_store *s, const char *id, const char *parent,
                     int64_t first, const char *a, const char *b)
{
    const struct store_birth birth = {.parent = str_of(parent),
                                      .started_us = first};
    const struct store_event one = {first, WEND_RUN_FORK, first, str_of(a)};
    struct store_batch batch = {.run = str_of(id),
                                .epoch = 1,
                                .birth = &birth,
                                .events = &one,
                                .events_count = 1,
                                .summary = {.status = "interrupted"}};

    tap_ok(put(s, &batch) == WEND_OK, "a fork at %d", (int)first - 1);
    tap_ok(put_event(s, id, first + 1, b) == WEND_OK, "and it goes on");
}

struct rows { /* "1a 2b p2 3c " */
    char text[200];
    size_t len;
};

static bool rows_add(void *ctx, const struct store_item *i)
{
    struct rows *r = ctx;

    r->len += (size_t)snprintf(r->text + r->len, sizeof r->text - r->len,
                               i->is_pack ? "p%d " : "%d%.1s ", (int)i->seq,
                               i->body.ptr + 2);
    return true;
}

static const char *rows_of(wend_store *s, const char *run, int64_t from,
                           uint32_t max)
{
    static struct rows r;

    memset(&r, 0, sizeof r);
    s->ops->read(s, str_of(run), (struct store_place){from, 0}, max, rows_add,
                 &r, NULL);
    return r.text;
}

static void add_parent(wend_store *s)
{
    const struct store_event e3 = {3, WEND_WARNING, 3, STR("{\"c\":1}")};
    const struct store_pack packs[] = {{1, 1, 1, STR("[1]")},
                                       {2, 1, 1, STR("[2]")}};
    const struct store_event e2 = {2, WEND_WARNING, 2, STR("{\"b\":1}")};
    struct store_batch b = {.run = STR(ID("1")), .epoch = 1};

    put_event(s, ID("1"), 1, "{\"a\":1}");
    b.packs = &packs[0];
    b.events = &e2;
    b.packs_count = b.events_count = 1;
    put(s, &b);
    b.packs = &packs[1];
    b.events = &e3;
    b.summary = (struct store_summary){.status = "ok", .ended_us = 5};
    tap_ok(put(s, &b) == WEND_OK, "a parent with three events and deltas");
}

static void forks(wend_store *s)
{
    static const struct {
        const char *why, *run;
        int64_t from;
        uint32_t max;
        const char *wanted;
    } rows[] = {
        {"the parent as it was", ID("1"), 1, 0, "1a p1 2b p2 3c "},
        {"a fork: deltas after the last shared event are the parent's", ID("2"),
         1, 0, "1a p1 2b 3x 4y "},
        {"a fork of its own events", ID("3"), 1, 0, "1a p1 2b 3x 4u 5v "},
        {"a fork of what it shares", ID("4"), 1, 0, "1a 2s 3t "},
        {"from the middle of the past", ID("3"), 2, 0, "2b 3x 4u 5v "},
        {"from its own", ID("3"), 5, 0, "5v "},
        {"as many as are wanted", ID("3"), 1, 4, "1a p1 2b 3x "},
        {"as many as are wanted, to a border", ID("2"), 1, 3, "1a p1 2b "},
    };
    struct store_state state;
    struct log log;

    add_parent(s);
    add_fork(s, ID("2"), ID("1"), 3, "{\"x\":1}", "{\"y\":1}");
    add_fork(s, ID("3"), ID("2"), 4, "{\"u\":1}", "{\"v\":1}");
    add_fork(s, ID("4"), ID("3"), 2, "{\"s\":1}", "{\"t\":1}");
    for (size_t i = 0; i < tap_count(rows); i++)
        tap_is_str(
            (const char *)rows_of(s, rows[i].run, rows[i].from, rows[i].max),
            rows[i].wanted, "%s", rows[i].why);
    for (int i = 1; i <= 4; i++) {
        char id[] = ID("0");

        id[sizeof id - 2] = (char)('0' + i);
        log = log_read(s, id);
        tap_ok(!log.bad, "one chain from the first event to the last, %d", i);
        tap_ok(s->ops->state(s, str_of(id), &state, NULL) == WEND_OK &&
                   state.seq == log.seq_last &&
                   !memcmp(state.head, log.chain.head, SHA256_BYTES),
               "and its head, %d", i);
    }
    tap_ok(store_forget_run(s, ID("1"), NULL) == WEND_E_BUSY,
           "a past that is shared stays");
}

/* However deep. */
static void deep(wend_store *s)
{
    enum { DEEP = 2000 };
    char id[40], parent[40];
    struct log log;
    int64_t bad = 0;

    put_event(s, ID("0"), 1, "{\"a\":1}");
    snprintf(parent, sizeof parent, "%s", ID("0"));
    for (int i = 1; i < DEEP; i++) {
        const struct store_birth birth = {.parent = str_of(parent)};
        const struct store_event e = {i + 1, WEND_RUN_FORK, 1,
                                      STR("{\"x\":1}")};
        struct store_batch b = {.run = {id, 36},
                                .epoch = 1,
                                .birth = &birth,
                                .events = &e,
                                .events_count = 1};

        snprintf(id, sizeof id, "01900000-0000-7000-8001-%012d", i);
        bad += put(s, &b) != WEND_OK;
        memcpy(parent, id, sizeof id);
    }
    tap_is_i64(bad, 0, "forks of forks of forks");
    log = log_read(s, id);
    tap_ok(!log.bad && log.seq_last == DEEP,
           "and one chain through all of them");
}

/* What a fork would share must be there. */
static void orphans(wend_store *s)
{
    static const struct {
        const char *why, *parent;
        int64_t first;
    } rows[] = {
        {"a parent that is not there", ID("9"), 2},
        {"no parent", NULL, 2},
        {"an event that the parent does not have", ID("1"), 5},
        {"itself", ID("8"), 2},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        const struct store_birth birth = {.parent = str_of(rows[i].parent)};
        const struct store_event e = {rows[i].first, WEND_RUN_FORK, 1,
                                      STR("{\"x\":1}")};
        struct store_batch b = {.run = STR(ID("8")),
                                .epoch = 1,
                                .birth = &birth,
                                .events = &e,
                                .events_count = 1,
                                .summary = {.status = "interrupted"}};
        struct store_state state;

        tap_ok(put(s, &b) == WEND_E_STALE, "no fork of %s", rows[i].why);
        tap_ok(s->ops->state(s, STR(ID("8")), &state, NULL) == WEND_E_NOTFOUND,
               "and nothing of it is left");
    }
}

int main(void)
{
    static const char *const kinds[] = {"memory:", "sqlite:"};
    char *dir = dir_make(), url[128];

    for (size_t i = 0; i < tap_count(kinds); i++) {
        wend_store *s = NULL;

        snprintf(url, sizeof url, "sqlite:%s/wend.db", dir);
        wend_store_open(i ? url : kinds[i], &s, NULL);
        forks(s);
        orphans(s);
        deep(s);
        wend_store_free(s);
    }
    dir_remove(dir);
    return tap_done();
}
