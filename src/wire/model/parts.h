/*
 * parts.h - an assistant's message as the parts the model wrote, in order.
 *
 * A turn keeps text, calls and opaque items apart. An item that has to go
 * back to its provider (a signature, encrypted reasoning) remembers how much
 * of the other two stood before it, so the order can be told again:
 *
 *     {"p":PROVIDER,"text":BYTES,"calls":COUNT, ...}    before what follows
 *     {... "len":BYTES, ...}                            about that much text
 *     {... "call":true, ...}                            about the next call
 *
 * Items of other providers, and of other models of the same provider, are
 * skipped: only the model that wrote them can read them.
 */
#ifndef WIRE_PARTS_H
#define WIRE_PARTS_H

#include "wire/model/model.h"

enum part_kind { PART_END, PART_TEXT, PART_CALL, PART_ITEM };

struct part {
    enum part_kind kind;
    wend_str text;           /* of PART_TEXT; of an item with "len" */
    const struct call *call; /* of PART_CALL; of an item with "call" */
    const struct json *item;
};

struct parts {
    const struct call **calls;
    size_t calls_count, call_at;
    wend_str text; /* what is left of it */
    size_t text_at;
    const char *provider;
    const struct json *item; /* the next one */
};

/* All is in the arena or lent by the message; see a->failed. The turn's model
 * is the one that is asked. */
void parts_begin(struct parts *p, const struct turn *t, const struct msg *m,
                 const char *provider, struct arena *a);
struct part parts_next(struct parts *p);
/* Whether text or a call is still to come. */
bool parts_left(const struct parts *p);

/* Begins an item of the answer's provider, which belongs before what follows
 * that much text and that many calls; gives the buffer for more members. */
struct buf *parts_item(struct decoder *d, size_t text_len, size_t calls_count);
struct buf *parts_item_here(struct decoder *d); /* after all that was told */
void parts_item_end(struct decoder *d);         /* tells the sink of it */

/* A member, left out if it is empty. */
static inline void parts_add_str(struct buf *b, const char *key, wend_str s)
{
    if (s.len)
        json_add_str(b, key, s);
}

/* Too deep for an item, which must fit into an event of the log. */
bool parts_too_deep(const struct json *value);

/* The arguments for an API that takes only objects: any other value is put
 * into one. */
void parts_put_args(struct buf *b, const struct call *c);

/* Before a schema that the model is told in words. */
#define SCHEMA_WORDS                                                      \
    "Answer with nothing but a JSON value that is valid under this JSON " \
    "Schema:\n"

/* Nothing but white space, which some providers refuse as text. */
bool text_is_blank(wend_str s);

/* Whether the schema is of the kind that providers can hold a model to:
 * closed objects, all members required, few keywords. */
bool schema_is_strict(const struct json *schema);

/* ---- openai_calls.c: calls out of pieces with an index or an id ---------- */

struct calls {
    struct slot *list;
    size_t count, cap;
};

/* One piece of a call; `call` may be NULL. Failures are told. */
void calls_add(struct calls *cs, struct decoder *d, const struct json *call,
               const struct json *function);
/* Seals all of them, or if the answer was cut, those that are complete. */
void calls_close(struct calls *cs, struct decoder *d, bool cut);
void calls_free(struct calls *cs, const struct mem *m);

/* ---- gemini_args.c: arguments out of pieces with a path each ------------- */

struct arg;

/* Zero-initialise with arena.mem set. */
struct args {
    struct arena arena;
    struct arg *root;
    const struct json_cuts *cuts; /* of the pieces that are taken */
    size_t bytes;
    size_t open; /* strings that continue */
    bool broken; /* a piece fits nowhere */
};

/* A list of pieces, and the cuts of the event that they are in; see
 * arena.failed and broken. */
void args_take(struct args *args, const struct json *pieces,
               const struct json_cuts *cuts);
/* The value so far; text that is not JSON if a piece fitted nowhere, so that
 * the rest is not mistaken for the arguments. */
void args_put(const struct args *args, struct buf *out);
void args_reset(struct args *args);

#endif
