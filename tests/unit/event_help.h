/*
 * event_help.h - random events, a store for blobs, and the start of a line,
 * for the tests of events.
 */
#ifndef TESTS_EVENT_HELP_H
#define TESTS_EVENT_HELP_H

#include <stdlib.h>

#include "base/limits.h"
#include "core/event/event.h"
#include "fault.h"
#include "tap.h"

#define RUN "01900000-0000-7000-8000-00000000000a"
#define HEAD(seq, type)                                                \
    "{\"run\":\"" RUN "\",\"seq\":" seq ",\"time\":1763171411.123456," \
    "\"type\":\"" type "\""
#define TURN ",\"turn\":2,\"turn_id\":\"00000000000a.2\""

static const struct mem plain;

static inline wend_event event_of(wend_event_type type, bool in_turn)
{
    wend_event ev = {.type = type,
                     .run = STR(RUN),
                     .seq = 7,
                     .time_us = 1763171411123456,
                     .in_turn = in_turn,
                     .turn = 2,
                     .turn_id = STR("00000000000a.2")};

    return ev;
}

/* ---- Random events ------------------------------------------------------- */

static uint64_t random_state = 20251115;

static inline uint64_t random_u64(void)
{
    uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static inline uint32_t below(uint32_t n)
{
    return (uint32_t)(random_u64() % n);
}

static inline wend_str some_str(void)
{
    static const wend_str strs[] = {
        {"", 0},
        {"plain", 5},
        {"\"quoted\\\"", 9},
        {"\x01\x02\n\t\x1f", 5},
        {"nul\0inside", 10},
        {"{\"blob\":\"no\"}", 13},
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x92\xa9", 9},
    };

    return strs[below(tap_count(strs))];
}

static inline wend_str some_json(void)
{
    static const char *const texts[] = {
        "null",
        "true",
        "\"s\"",
        "1e3",
        "-0.50",
        "{}",
        "[]",
        "[1,{\"b\":2}]",
        "{\"z\":1,\"a\":[null]}",
        "\"\\n\"",
        "{\"blob\":\"no\"}",
        "123456789012345678901234567890",
    };

    return str_of(texts[below(tap_count(texts))]);
}

static inline int64_t some_i64(void)
{
    switch (below(6)) {
    case 0: return INT64_MAX;
    case 1: return INT64_MIN;
    case 2: return 0;
    default: return (int64_t)random_u64() >> below(64);
    }
}

static inline double some_f64(void)
{
    static const double special[] = {0, 0.1, -1.5, 5e-324, 1.7e308, 1e21};
    uint32_t i = below(2 * tap_count(special));

    return i < tap_count(special) ? special[i]
                                  : (double)some_i64() / (1 + below(1000));
}

static inline void fill(struct arena *a, const struct event_fields *fs,
                        void *base);

static inline void fill_items(struct arena *a, const struct event_fields *fs,
                              void *slot, size_t count)
{
    char *items = arena_alloc(a, (count + 1) * fs->size);

    *(char **)slot = items;
    for (size_t i = 0; i < count; i++)
        fill(a, fs, items + i * fs->size);
}

static inline void fill_one(struct arena *a, const struct event_field *f,
                            void *at)
{
    bool absent = (f->flags & (OPTIONAL | NULLABLE)) && below(2);

    switch (f->kind) {
    case F_STR: *(wend_str *)at = absent ? STR_NONE : some_str(); break;
    case F_JSON: *(wend_str *)at = absent ? STR_NONE : some_json(); break;
    case F_I64: *(int64_t *)at = some_i64(); break;
    case F_F64: *(double *)at = some_f64(); break;
    case F_BOOL:
        *(bool *)at = below(2);
        if (f->none)
            ((bool *)at)[1] = *(bool *)at && below(2);
        break;
    case F_NANO: *(int64_t *)at = absent ? -1 : some_i64() & INT64_MAX; break;
    case F_ENUM: *(int *)at = (int)below((uint32_t)f->words->count); break;
    case F_OBJECT: fill(a, f->sub, at); break;
    case F_REF:
        if (!absent)
            fill_items(a, f->sub, at, 1);
        break;
    case F_LIST:
        *((size_t *)at + 1) = below(4);
        fill_items(a, f->sub, at, *((size_t *)at + 1));
        break;
    }
}

static inline void fill(struct arena *a, const struct event_fields *fs,
                        void *base)
{
    for (size_t i = 0; i < fs->count; i++)
        fill_one(a, &fs->list[i], (char *)base + fs->list[i].offset);
}

static inline void fill_event(struct arena *a, wend_event *ev,
                              wend_event_type type)
{
    memset(ev, 0, sizeof *ev);
    ev->type = type;
    ev->run = STR(RUN);
    ev->seq = 1 + below(1000000);
    ev->n = wend_event_is_delta(type) ? 1 + below(1000) : 0;
    ev->time_us = (int64_t)(random_u64() % UINT64_C(4000000000000000));
    ev->in_turn = below(2);
    if (ev->in_turn) {
        ev->turn = below(1000);
        ev->turn_id = STR("00000000000a.7");
    }
    fill(a, event_fields(type), &ev->u);
}

/* ---- A store for blobs --------------------------------------------------- */

struct blob_store {
    struct event_blobs kept;
    wend_status fails; /* WEND_OK: does not */
};

static inline wend_status blob_get(void *ctx, wend_str hash, struct arena *a,
                                   wend_str *text)
{
    struct blob_store *s = ctx;

    if (s->fails != WEND_OK)
        return s->fails;
    for (struct event_blob *b = s->kept.first; b; b = b->next)
        if (str_is(hash, b->hash)) {
            *text = arena_str(a, b->text);
            return text->ptr ? WEND_OK : WEND_E_NOMEM;
        }
    return WEND_E_NOTFOUND;
}

static inline char *long_text(size_t len)
{
    char *p = malloc(len + 1);

    /* Two-byte characters from an odd place on: a cut must not split one. */
    for (size_t i = 0; i < len; i++)
        p[i] = i == 0 || i == len - 1 ? 'x' : i % 2 ? '\xc3' : '\xa9';
    if (len % 2 && len > 2)
        p[len - 2] = 'y';
    p[len] = 0;
    return p;
}

#endif
