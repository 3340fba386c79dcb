/*
 * ask_help.h - laws of requests: whole JSON, same bytes, stable beginnings.
 *
 * A request that must be as written stands in NAME.req, one line; with
 * WIRE_GOLDEN_WRITE set that file is written instead.
 */
#ifndef TESTS_ASK_HELP_H
#define TESTS_ASK_HELP_H

#include "wire_help.h"

#define ASK_CONFIG                                                         \
    "{\"instructions\":\"Be \\\"brief\\\".\",\"tools\":["                  \
    "{\"name\":\"weather\",\"description\":\"of a city\",\"schema\":{"     \
    "\"type\":\"object\",\"properties\":{\"city\":{\"type\":\"string\"}}," \
    "\"required\":[\"city\"]}},{\"name\":\"now\"}]}"

/* Sorted by name in the request, whatever the config says. */
#define ASK_CONFIG_BARE "{\"instructions\":\"\",\"tools\":[]}"

#define ASK_SCHEMA_STRICT                                   \
    "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":" \
    "\"integer\"}},\"required\":[\"n\"],\"additionalProperties\":false}"
#define ASK_SCHEMA_LOOSE \
    "{\"type\":\"object\",\"properties\":{\"n\":{\"minimum\":1}}}"

static inline struct wire_ask ask_of(const struct talk *k)
{
    return (struct wire_ask){.turn = &k->turn, .model = STR("m-1")};
}

/* A question, two calls at once, their results (one failed), one word more. */
static inline void ask_story(struct talk *k)
{
    talk_init(k, ASK_CONFIG);
    talk_add(k, ROLE_USER, "Paris or Rome?");
    talk_add(k, ROLE_ASSISTANT, "I will look.");
    talk_call(k, "call_1", "weather", "{\"city\":\"Paris\"}");
    talk_call(k, "call_2", "now", "{}");
    talk_result(k, "call_1", "weather", "sun\n");
    talk_result(k, "call_2", "now", "no clock");
    k->last->failed = true;
    talk_add(k, ROLE_USER, "hurry");
}

/* ---- Laws ---------------------------------------------------------------- */

/* What is written is one JSON value in its canonical form. */
static inline bool ask_is_canonical(wend_str body)
{
    struct arena a = {.mem = &wire_plain};
    struct buf again = {.mem = &wire_plain};
    struct json *j = json_parse(body, &a, NULL);
    bool same;

    if (j)
        json_put(&again, j);
    same = j && str_eq(buf_view(&again), body);
    buf_free(&again);
    arena_free(&a);
    return same;
}

static inline void ask_check(const struct codec *c, const struct wire_ask *q,
                             const char *dir, const char *name)
{
    struct buf got = {.mem = &wire_plain}, wanted = {.mem = &wire_plain};
    char path[512];
    FILE *out;

    snprintf(path, sizeof path, "%s/%s.req", dir, name);
    codec_request(c, q, &got);
    tap_ok(ask_is_canonical(buf_view(&got)), "%s: canonical JSON", name);
    if (getenv("WIRE_GOLDEN_WRITE") && (out = fopen(path, "wb"))) {
        fwrite(got.ptr, 1, got.len, out);
        fputc('\n', out);
        fclose(out);
    }
    wire_read_file(path, &wanted);
    buf_char(&got, '\n');
    tap_is_str(buf_view(&got), buf_view(&wanted), "%s: as written", name);
    buf_free(&got);
    buf_free(&wanted);
}

static inline void ask_check_faults(const struct codec *c,
                                    const struct wire_ask *q)
{
    struct fault f = {0};
    int bad = 0;

    while (fault_next(&f)) {
        struct mem m = fault_mem(&f);
        struct buf out = {.mem = &m};

        codec_request(c, q, &out);
        bad += out.failed != f.hit;
        buf_free(&out);
        bad += f.live != 0;
    }
    tap_is_i64(bad, 0, "a request: every allocation may fail");
}

static inline void ask_check_codec(const struct codec *c, const char *name,
                                   const char *path)
{
    struct buf b = {.mem = &wire_plain};

    codec_path(c, STR("m"), &b);
    tap_is_str(buf_view(&b), path, "the path");
    tap_ok(codec_find(str_of(name)) == c, "by its name");
    buf_free(&b);
}

/* The story, with a schema that can be held, and with one that cannot; the
 * last is in the file of that name. */
static inline void ask_check_story(const struct codec *c, const char *dir,
                                   const char *loose)
{
    struct wire_ask q;
    struct talk k;

    ask_story(&k);
    q = ask_of(&k);
    ask_check(c, &q, dir, "ask_tools");
    q.max_tokens = 99;
    q.schema = STR(ASK_SCHEMA_STRICT);
    ask_check(c, &q, dir, "ask_schema");
    q.schema = STR(ASK_SCHEMA_LOOSE);
    ask_check(c, &q, dir, loose);
    ask_check_faults(c, &q);
    talk_free(&k);
}

/* ---- Stable beginnings --------------------------------------------------- */

static inline uint32_t ask_chance(uint32_t *seed, uint32_t below)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 16) % below;
}

/* One exchange of a random conversation: what the model says and wants, and
 * what comes of it. */
static inline void ask_exchange(struct talk *k, uint32_t *seed,
                                const char *opaque)
{
    static const char *const texts[] = {"", "a", "\"}]", " \n", "h\xc3\xa9"};
    static const char *const ids[] = {"c1", "c2", "c3"};
    static const char *const args[] = {"{}", "{\"a\":[1]}", "\"{raw\""};
    uint32_t calls = ask_chance(seed, 4);

    talk_add(k, ROLE_ASSISTANT, texts[ask_chance(seed, 5)]);
    if (ask_chance(seed, 2))
        k->last->opaque = str_of(opaque);
    if (ask_chance(seed, 2))
        k->last->thinking = STR("so \"so\"");
    if (!ask_chance(seed, 4))
        k->last->model = STR("another");
    for (uint32_t i = 0; i < calls; i++)
        talk_call(k, ids[i], "now", args[ask_chance(seed, 3)]);
    for (uint32_t i = 0; i < calls; i++) {
        talk_result(k, ids[i], "now", texts[ask_chance(seed, 5)]);
        k->last->failed = ask_chance(seed, 2);
    }
    if (!calls || !ask_chance(seed, 3))
        talk_add(k, ask_chance(seed, 4) ? ROLE_USER : ROLE_SYSTEM, "go on");
}

/* Takes the last `what` out of b; false if there is none. */
static inline bool ask_strike_last(struct buf *b, const char *what)
{
    size_t len = strlen(what);
    char *last = NULL;

    for (char *p = b->ptr; p && (p = strstr(p, what)); p++)
        last = p;
    if (!last)
        return false;
    memmove(last, last + len, b->len - (size_t)(last - b->ptr) - len + 1);
    b->len -= len;
    return true;
}

/* Cuts b after its last message: before `tail`, or if the messages are the
 * end of the request, before what closes them. */
static inline bool ask_cut(struct buf *b, const char *tail)
{
    char *at = tail ? strstr(b->ptr, tail) : NULL;

    if (at)
        b->len = (size_t)(at - b->ptr);
    while (!tail && b->len && strchr("]}", b->ptr[b->len - 1]))
        b->len--;
    return !tail || at;
}

/* A longer conversation begins with the bytes of the shorter one, up to the
 * end of its last message. `tail` is what follows the messages, NULL if they
 * are the end. The last of the marks `moves` is the only thing that does not
 * stay where it was. */
static inline void ask_check_prefix(const struct codec *c, const char *opaque,
                                    const char *tail, const char *moves)
{
    int broken = 0, changed = 0;

    for (uint32_t round = 0; round < 200; round++) {
        struct buf a = {.mem = &wire_plain}, b = {.mem = &wire_plain};
        struct buf again = {.mem = &wire_plain};
        uint32_t seed = round;
        struct talk k;

        talk_init(&k, ASK_CONFIG);
        talk_add(&k, ROLE_USER, "begin");
        for (int step = 0; step < 6; step++) {
            struct wire_ask q = ask_of(&k);

            buf_clear(&b);
            codec_request(c, &q, &b);
            buf_clear(&again);
            codec_request(c, &q, &again);
            changed += !str_eq(buf_view(&b), buf_view(&again)) ||
                       !ask_is_canonical(buf_view(&b));
            broken += moves && !ask_strike_last(&b, moves);
            broken += a.len > b.len || (a.len && memcmp(a.ptr, b.ptr, a.len));
            buf_clear(&a);
            buf_str(&a, buf_view(&b));
            broken += !ask_cut(&a, tail);
            ask_exchange(&k, &seed, opaque);
        }
        talk_free(&k);
        buf_free(&a);
        buf_free(&b);
        buf_free(&again);
    }
    tap_is_i64(changed, 0, "the same turn gives the same, canonical bytes");
    tap_is_i64(broken, 0, "a longer history begins as the shorter one");
}

#endif
