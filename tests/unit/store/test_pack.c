/*
 * test_pack.c - packs of deltas give back what was put in.
 */
#include "store/pack.h"

#include "fault.h"
#include "tap.h"

enum { DELTAS_MAX = 64 };

struct delta {
    wend_event_type type;
    int64_t later_us;
    wend_str text, call, action, branch;
};

struct check {
    const wend_event *wanted;
    size_t count, at, stop_at;
    int bad;
};

static bool same(wend_str a, wend_str b)
{
    return !a.ptr == !b.ptr && str_eq(a, b);
}

static bool on_delta(void *ctx, wend_event *e)
{
    struct check *c = ctx;
    const wend_event *w = &c->wanted[c->at];
    const wend_ev_delta *a = &e->u.text_delta, *b = &w->u.text_delta;

    if (c->at++ >= c->count) {
        c->bad++;
        return false;
    }
    c->bad += e->type != w->type || e->seq != w->seq || e->n != w->n ||
              e->time_us != w->time_us || !same(a->text, b->text) ||
              !same(a->call, b->call) || !same(a->action, b->action) ||
              !same(a->branch, b->branch);
    return c->at != c->stop_at;
}

/* Compound literals are no constants. */
#define T(literal)                   \
    {                                \
        literal, sizeof(literal) - 1 \
    }
#define NONE    \
    {           \
        NULL, 0 \
    }

static const struct delta kinds[] = {
    {WEND_TEXT_DELTA, 0, T("Hel"), NONE, NONE, NONE},
    {WEND_TEXT_DELTA, 2100, T("lo"), NONE, NONE, NONE},
    {WEND_ARGS_DELTA, 15, T("{\"pa"), T("call_1"), NONE, NONE},
};
static const char kinds_wanted[] =
    "[1700000000000000,[\"x\",\"Hello\",[3,0,2,2100]],"
    "[\"a\",\"{\\\"pa\",[4,15],\"call_1\"]]";

static const struct delta odd[] = {
    {WEND_THINKING_DELTA, 0, T("a\0b\x01\x1f\x7f"), NONE, NONE, NONE},
    {WEND_CALL_OUTPUT, 1, T(""), T("c"), NONE, NONE},
    {WEND_ACTION_OUTPUT, 0, T("\\\"\n\r\t/"), NONE, T("a"), NONE},
    {WEND_TEXT_DELTA, 0, T("\xf0\x9f\x98\x80\xef\xbf\xbd\xc2\x80"), NONE, NONE,
     T("b")},
    {WEND_TEXT_DELTA, 0, T(""), T(""), T(""), T("")},
    {WEND_TEXT_DELTA, 3, T("same ids"), T(""), T(""), T("")},
    {WEND_TEXT_DELTA, 3, T("one id less"), T(""), NONE, T("")},
    {WEND_TEXT_DELTA, -5, T("back"), T("c"), T("a"), T("b")},
    {WEND_TEXT_DELTA, 86400000000, T("a day"), NONE, NONE, NONE},
};

static size_t make(const struct delta *from, size_t count, wend_event *to)
{
    int64_t time_us = 1700000000000000;

    for (size_t i = 0; i < count; i++) {
        time_us += from[i].later_us;
        to[i] = (wend_event){.type = from[i].type,
                             .seq = 7,
                             .n = 3 + (int64_t)i,
                             .time_us = time_us};
        to[i].u.text_delta = (wend_ev_delta){.call = from[i].call,
                                             .text = from[i].text,
                                             .action = from[i].action,
                                             .branch = from[i].branch};
    }
    return count;
}

static void round_trip(const char *name, const struct delta *from, size_t count,
                       const char *wanted)
{
    const struct mem mem = {0};
    struct pack p;
    struct arena a = {.mem = &mem};
    wend_event events[DELTAS_MAX];
    struct check c = {.wanted = events, .count = make(from, count, events)};
    wend_str body;

    pack_init(&p, &mem);
    for (size_t i = 0; i < count; i++)
        pack_add(&p, &events[i]);
    tap_ok(p.seq == 7 && p.n == 3 && p.count == (int64_t)count, "%s: counted",
           name);
    tap_ok(pack_close(&p, &body), "%s: closed", name);
    if (wanted)
        tap_is_str(body, wanted, "%s: as documented", name);
    tap_ok(pack_read(body, 7, 3, &a, on_delta, &c, NULL) == WEND_OK &&
               c.at == count && !c.bad,
           "%s: read back", name);
    c.at = 0;
    c.stop_at = 1;
    tap_ok(pack_read(body, 7, 3, &a, on_delta, &c, NULL) == WEND_OK &&
               c.at == 1,
           "%s: stops when told", name);
    tap_ok(!p.count && !p.body.len && !p.text_bytes, "%s: as new", name);
    arena_free(&a);
    mem_free(&mem, (void *)(uintptr_t)body.ptr);
    pack_free(&p);
}

static uint32_t chance(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Every code point below U+0100, all alone and in random company. */
static void random_text(void)
{
    const struct mem mem = {0};
    uint32_t state = 1;
    int bad = 0;

    for (int round = 0; round < 200; round++) {
        struct pack p;
        wend_str body = {NULL, 0};
        struct arena a = {.mem = &mem};
        wend_event events[DELTAS_MAX];
        char text[DELTAS_MAX][16];
        struct check c = {.wanted = events, .count = DELTAS_MAX};

        pack_init(&p, &mem);
        for (int i = 0; i < DELTAS_MAX; i++) {
            size_t len = chance(&state) % 8;

            for (size_t k = 0; k < 2 * len; k += 2) {
                uint32_t cp = chance(&state) % 128 + 128;

                text[i][k] = (char)(0xc0 | cp >> 6);
                text[i][k + 1] = (char)(0x80 | (cp & 0x3f));
                if (chance(&state) % 2) {
                    text[i][k] = (char)(chance(&state) % 128);
                    text[i][k + 1] = (char)(chance(&state) % 128);
                }
            }
            events[i] = (wend_event){.type = WEND_CALL_OUTPUT,
                                     .seq = 1,
                                     .n = i + 1,
                                     .time_us = (int64_t)chance(&state)};
            events[i].u.call_output.text = (wend_str){text[i], 2 * len};
            pack_add(&p, &events[i]);
        }
        bad += !pack_close(&p, &body) ||
               pack_read(body, 1, 1, &a, on_delta, &c, NULL) != WEND_OK;
        bad += c.bad || c.at != DELTAS_MAX;
        arena_free(&a);
        mem_free(&mem, (void *)(uintptr_t)body.ptr);
        pack_free(&p);
    }
    tap_is_i64(bad, 0, "200 packs of random text come back");
}

static void damaged(void)
{
    static const struct {
        const char *name, *body;
    } rows[] = {
        {"nothing", ""},
        {"cut off", "[1,[\"x\",\"a\",[1,0]]"},
        {"no array", "{}"},
        {"no time", "[]"},
        {"time is a text", "[\"1\"]"},
        {"no list", "[1,2]"},
        {"list too short", "[1,[\"x\",\"a\"]]"},
        {"list too long", "[1,[\"x\",\"a\",[1,0],\"b\",\"c\",\"d\",\"e\"]]"},
        {"unknown kind", "[1,[\"z\",\"a\",[1,0]]]"},
        {"kind of two letters", "[1,[\"xx\",\"a\",[1,0]]]"},
        {"kind is a number", "[1,[1,\"a\",[1,0]]]"},
        {"text is a number", "[1,[\"x\",1,[1,0]]]"},
        {"no marks", "[1,[\"x\",\"\",[]]]"},
        {"half a mark", "[1,[\"x\",\"a\",[1]]]"},
        {"marks are a number", "[1,[\"x\",\"a\",1]]"},
        {"more bytes than text", "[1,[\"x\",\"a\",[2,0]]]"},
        {"bytes below 0", "[1,[\"x\",\"a\",[-1,0]]]"},
        {"text left over", "[1,[\"x\",\"ab\",[1,0]]]"},
        {"time since is a text", "[1,[\"x\",\"a\",[1,\"0\"]]]"},
        {"time since overflows", "[1,[\"x\",\"a\",[1,9223372036854775807]]]"},
        {"call is a number", "[1,[\"x\",\"a\",[1,0],1]]"},
    };
    const struct mem mem = {0};

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct arena a = {.mem = &mem};
        wend_event none = {0};
        struct check c = {.wanted = &none};
        wend_error err = {0};

        tap_ok(pack_read(str_of(rows[i].body), 7, 3, &a, on_delta, &c, &err) ==
                       WEND_E_CORRUPT &&
                   !c.at && strstr(err.message, "after event 7"),
               "refused: %s", rows[i].name);
        arena_free(&a);
    }
}

static void out_of_memory(void)
{
    struct fault f = {0};
    int bad = 0;

    while (fault_next(&f)) {
        struct mem mem = fault_mem(&f);
        struct pack p;
        struct arena a = {.mem = &mem};
        wend_event events[DELTAS_MAX];
        size_t count = make(odd, tap_count(odd), events);
        struct check c = {.wanted = events, .count = count};
        wend_str body = {NULL, 0};
        wend_status s = WEND_E_NOMEM;

        pack_init(&p, &mem);
        for (size_t i = 0; i < count; i++)
            pack_add(&p, &events[i]);
        if (pack_close(&p, &body))
            s = pack_read(body, 7, 3, &a, on_delta, &c, NULL);
        arena_free(&a);
        mem_free(&mem, (void *)(uintptr_t)body.ptr);
        pack_free(&p);
        bad += f.live || s != (f.hit ? WEND_E_NOMEM : WEND_OK);
    }
    tap_is_i64(bad, 0, "every failed allocation is reported, none leaks");
}

int main(void)
{
    round_trip("documented", kinds, tap_count(kinds), kinds_wanted);
    round_trip("odd", odd, tap_count(odd), NULL);
    random_text();
    damaged();
    out_of_memory();
    return tap_done();
}
