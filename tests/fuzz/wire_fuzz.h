/*
 * wire_fuzz.h - any bytes to a codec: as a stream, as a body, as what a log
 * says must go back.
 */
#ifndef TESTS_WIRE_FUZZ_H
#define TESTS_WIRE_FUZZ_H

#include "../unit/ask_help.h"

static inline void fuzz_must(bool holds, const char *what, const struct told *t)
{
    if (holds)
        return;
    fprintf(stderr, "%s\n%s", what, t && t->lines.ptr ? t->lines.ptr : "");
    abort();
}

static inline void fuzz_lawful(const struct told *t)
{
    fuzz_must(!t->broken, "contract", t);
    fuzz_must(t->finished != t->failed, "ends one way", t);
}

/* Whole, and in pieces of a length that the bytes themselves decide. */
static inline void fuzz_stream(const struct codec *c, wend_str in)
{
    size_t step = in.len ? (unsigned char)in.ptr[in.len - 1] % 7 + 1 : 1;
    struct told whole, cut;

    told_init(&whole);
    told_init(&cut);
    wire_stream(c, in, (struct cuts){.first = in.len}, &wire_plain, &whole);
    wire_stream(c, in, (struct cuts){.step = step}, &wire_plain, &cut);
    fuzz_lawful(&whole);
    fuzz_must(str_eq(buf_view(&whole.lines), buf_view(&cut.lines)),
              "cut makes a difference", &cut);
    told_free(&whole);
    told_free(&cut);
}

static inline void fuzz_body(const struct codec *c, wend_str in)
{
    struct told t;

    told_init(&t);
    wire_body(c, in, &wire_plain, &t);
    fuzz_lawful(&t);
    told_free(&t);
}

/* An opaque value of any shape leaves the request a JSON value. */
static inline void fuzz_request(const struct codec *c, wend_str opaque)
{
    struct buf out = {.mem = &wire_plain};
    struct wire_ask q;
    struct talk k;

    talk_init(&k, ASK_CONFIG);
    talk_add(&k, ROLE_USER, "go");
    talk_add(&k, ROLE_ASSISTANT, "h\xc3\xa9llo");
    k.last->opaque = opaque;
    talk_call(&k, "c1", "now", "{}");
    talk_call(&k, "c2", "now", "\"raw\"");
    talk_result(&k, "c1", "now", "1");
    talk_result(&k, "c2", "now", "2");
    q = ask_of(&k);
    codec_request(c, &q, &out);
    fuzz_must(!out.failed && ask_is_canonical(buf_view(&out)), "request", NULL);
    buf_free(&out);
    talk_free(&k);
}

/* Depth is bounded where an answer is read; a value from the log may be as
 * deep as a log's line, and the request around it is not read again. */
static inline bool fuzz_is_flat(wend_str in)
{
    size_t open = 0;

    for (size_t i = 0; i < in.len; i++)
        open += in.ptr[i] == '[' || in.ptr[i] == '{';
    return open < JSON_DEPTH_MAX - 8;
}

static inline void fuzz_codec(const struct codec *c, const uint8_t *data,
                              size_t size)
{
    wend_str in = {(const char *)data, size};

    fuzz_stream(c, in);
    fuzz_body(c, in);
    if (fuzz_is_flat(in))
        fuzz_request(c, in);
}

#endif
