/*
 * tags.h - the tag protocol: a model's text in, thinking, text and a plan out.
 *
 *     <thought>how it thinks</thought>
 *     <action type="tool" mode="async" id="a">{"target": ..}</action>
 *     <response final="true">what it says</response>
 *
 * For models that call no tools. All actions of an answer are one call of
 * the tool `plan`, whose arguments {"actions":[..]} grow by one action at
 * each </action>. What is told, joined, depends on the text alone and not on
 * how it is cut.
 *
 * - Names are lower case. An attribute's value is in ", in ' or bare; entities
 *   are not decoded. A tag has no `<` inside and at most TAG_BYTES_MAX bytes,
 *   else it is text. `<x/>` is an empty element.
 * - In an element only its own closing tag is one: nothing nests, all else is
 *   text. A closing tag without its opening one is dropped.
 * - In an action a closing tag inside a JSON string is text. But an action
 *   that is no JSON object ends at its first </action>, whatever its quotes
 *   say, and what comes after that is read again; so a quote too few costs
 *   one action. It is a warning, and reading continues.
 * - type, mode and id become members of the action; where its JSON says
 *   something else the attribute wins, with a warning. An action without a
 *   name has its id for one.
 * - Text outside the tags is text like that of a response.
 * - Spaces and line ends beside a tag are dropped. Two thoughts, or two
 *   texts, are joined by a line end. An answer without any tag is told as it
 *   is, to the byte.
 * - At the end of the text an open thought or response counts as far as it
 *   came; an open action does not count.
 */
#ifndef WIRE_TAGS_H
#define WIRE_TAGS_H

#include "base/str.h"

/* Pieces are never empty, and lent. */
struct tags_sink {
    void (*text)(void *ctx, wend_str piece);
    void (*thinking)(void *ctx, wend_str piece);
    /* The first action is complete: a call of `plan` begins. Once at most. */
    void (*plan)(void *ctx);
    /* A piece of its arguments: up to the end of an action, or the rest. */
    void (*args)(void *ctx, wend_str piece);
    void (*seal)(void *ctx); /* they are complete; at the end of the text */
    void (*warn)(void *ctx, wend_str message);
};

enum tags_at { /* where the reading is */
               TAGS_OUTSIDE,
               TAGS_THOUGHT,
               TAGS_RESPONSE,
               TAGS_ACTION,
               TAGS_SKIPPED, /* in an action that is too long */
};

enum tags_said { TAGS_NOTHING, TAGS_TEXT, TAGS_THINKING };

enum tags_attr { TAGS_TYPE, TAGS_MODE, TAGS_ID, TAGS_FINAL, TAGS_ATTRS };

struct tags {
    const struct tags_sink *sink;
    void *ctx;
    enum tags_at at;
    struct buf tag; /* what may be a tag: from its `<` on */
    int tag_known;  /* which one it is; -1: its name is not complete */
    char tag_quote; /* inside a value in these; 0: in none */
    char tag_last;  /* its newest sign besides spaces */
    struct buf spaces;
    bool spaces_told; /* too many to hold back: told as text */
    struct buf said;  /* to be told, of this kind: */
    enum tags_said saying;
    bool has_text, has_thinking;
    bool fresh;                 /* nothing came since the last tag */
    bool any;                   /* a tag was seen */
    struct buf head, body;      /* of the element that is open */
    wend_str attrs[TAGS_ATTRS]; /* in head; absent: not there */
    bool in_string, escaped;    /* in the JSON of an action */
    struct buf again;           /* to be read once more, from: */
    size_t again_at;
    int misread; /* actions whose quotes led astray */
    int warnings;
    struct arena scratch;
    size_t args_len; /* told so far */
    bool failed;     /* out of memory */
    /* What the answer had, to be read after the end. */
    int64_t actions, actions_bad;
    bool has_response, final; /* final: of the last response */
};

/* sink and ctx are borrowed, and so is m. */
void tags_init(struct tags *t, const struct mem *m,
               const struct tags_sink *sink, void *ctx);
/* False once out of memory. Text is told at once, but for what may yet be a
 * tag, or spaces before one. */
bool tags_text(struct tags *t, wend_str piece);
bool tags_end(struct tags *t); /* no more text comes */
/* After the end: whether this is the last answer. A response says it by its
 * attribute (the last one counts, without it the answer is final); an answer
 * without a response is final if it has no action, good or bad. */
bool tags_is_final(const struct tags *t);
void tags_free(struct tags *t);

#endif
