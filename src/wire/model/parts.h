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

#endif
