/*
 * tags_help.h - what the tag protocol tells, as one line of text.
 *
 *     T:text|  H:thinking|  plan|  A:arguments|  seal|  W:warning|
 *
 * Pieces of one kind that follow each other are joined, since their
 * boundaries are those of the input. LAW: it broke its contract.
 */
#ifndef TESTS_TAGS_HELP_H
#define TESTS_TAGS_HELP_H

#include <stdlib.h>

#include "wire/plan/tags.h"

static const struct mem tags_plain;

struct tags_told {
    struct buf line, args;
    char kind; /* of the piece that may go on */
    bool planned, sealed, ended;
};

static inline void tags_told_law(struct tags_told *o, bool holds,
                                 const char *what)
{
    if (!holds)
        buf_fmt(&o->line, "LAW %s|", what);
}

static inline void tags_told_add(struct tags_told *o, char kind, wend_str piece)
{
    tags_told_law(o, piece.len, "no empty piece");
    if (o->kind == kind && kind != 'W') {
        o->line.len--; /* its bar */
    } else {
        buf_char(&o->line, kind);
        buf_char(&o->line, ':');
    }
    buf_str(&o->line, piece);
    buf_char(&o->line, '|');
    o->kind = kind;
}

static inline void tags_told_text(void *ctx, wend_str piece)
{
    tags_told_add(ctx, 'T', piece);
}

static inline void tags_told_thinking(void *ctx, wend_str piece)
{
    tags_told_add(ctx, 'H', piece);
}

static inline void tags_told_plan(void *ctx)
{
    struct tags_told *o = ctx;

    tags_told_law(o, !o->planned, "one plan");
    o->planned = true;
    o->kind = 0;
    buf_cstr(&o->line, "plan|");
}

static inline void tags_told_args(void *ctx, wend_str piece)
{
    struct tags_told *o = ctx;

    tags_told_law(o, o->planned && !o->sealed, "arguments of an open call");
    tags_told_add(o, 'A', piece);
    buf_str(&o->args, piece);
}

static inline void tags_told_seal(void *ctx)
{
    struct tags_told *o = ctx;

    tags_told_law(o, o->planned && !o->sealed, "seals once");
    o->sealed = true;
    o->kind = 0;
    buf_cstr(&o->line, "seal|");
}

static inline void tags_told_warn(void *ctx, wend_str message)
{
    tags_told_add(ctx, 'W', message);
}

static const struct tags_sink tags_told_sink = {
    .text = tags_told_text,
    .thinking = tags_told_thinking,
    .plan = tags_told_plan,
    .args = tags_told_args,
    .seal = tags_told_seal,
    .warn = tags_told_warn,
};

/* Cuts after `first` bytes, then after every `step`; 0: no more cuts. Each
 * piece lies in memory of its own, so that reading on is noticed. Ends with
 * final or goes on. False: out of memory. */
static inline bool tags_run(wend_str in, size_t first, size_t step,
                            const struct mem *m, struct tags_told *o)
{
    struct tags t;
    bool ok = true;

    memset(o, 0, sizeof *o);
    o->line.mem = o->args.mem = &tags_plain;
    tags_init(&t, m, &tags_told_sink, o);
    for (size_t at = 0, len; ok && at < in.len; at += len) {
        char *piece;

        len = !at && first ? first : step;
        len = len && len < in.len - at ? len : in.len - at;
        piece = malloc(len);
        memcpy(piece, in.ptr + at, len);
        ok = tags_text(&t, (wend_str){piece, len});
        free(piece);
    }
    ok = ok && tags_end(&t);
    tags_told_law(o, !ok || o->planned == o->sealed, "a plan is sealed");
    buf_cstr(&o->line, tags_is_final(&t) ? "final" : "goes on");
    tags_free(&t);
    return ok;
}

static inline void tags_told_free(struct tags_told *o)
{
    buf_free(&o->line);
    buf_free(&o->args);
}

#endif
