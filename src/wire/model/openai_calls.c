/*
 * openai_calls.c - the pieces of tool calls, put in their places.
 *
 * Pieces are told apart by index. What has none goes by id, and by whether
 * the arguments so far are complete. A call is sealed when the next one
 * begins or the answer ends, and never while its arguments are cut off.
 */
#include "wire/model/parts.h"

#include <assert.h>

#include "base/ascii.h"
#include "base/json_scan.h"
#include "base/limits.h"

/* How far the arguments of a call have come. */
struct args_scan {
    int depth;
    bool string, escape; /* inside one */
    bool whole;          /* one object or list, and nothing after it */
    bool junk;           /* something after it */
};

struct slot {
    int64_t index;
    bool has_index;
    int handle; /* -1: not told yet, its name is missing */
    struct buf id, name;
    struct buf held; /* arguments that came before the name */
    struct args_scan scan;
    struct join join;
    bool sealed;
};

/* ---- Arguments ----------------------------------------------------------- */

static void scan_outside(struct args_scan *s, char c)
{
    if (is_space(c))
        return;
    if (s->whole) {
        s->whole = false;
        s->junk = true;
    }
    if (c == '"')
        s->string = true;
    else if (c == '{' || c == '[')
        s->depth++;
    else if ((c == '}' || c == ']') && s->depth > 0 && !--s->depth)
        s->whole = !s->junk;
}

static void scan_add(struct args_scan *s, wend_str piece)
{
    uint64_t seen = 0;

    for (size_t i = 0; i < piece.len; i++) {
        if (!s->string) {
            scan_outside(s, piece.ptr[i]);
            continue;
        }
        if (s->escape) {
            s->escape = false;
            continue;
        }
        i += json_plain_len(piece.ptr + i, piece.len - i, &seen);
        if (i < piece.len) {
            s->escape = piece.ptr[i] == '\\';
            s->string = piece.ptr[i] != '"';
        }
    }
}

/* ---- Calls --------------------------------------------------------------- */

static void seal(struct decoder *d, struct slot *slot)
{
    if (slot->sealed || slot->handle < 0)
        return;
    assert(!slot->held.len); /* told when the call was */
    wire_args(d, slot->handle, join_rest(&slot->join));
    slot->sealed = true;
    wire_seal(d, slot->handle);
}

static struct slot *add_slot(struct decoder *d, struct calls *cs)
{
    struct slot *s;

    if (cs->count == CALLS_MAX) {
        wire_fail_fmt(d, "service", "more than %d tool calls in one message",
                      CALLS_MAX);
        return NULL;
    }
    /* Those before it are complete, unless a server sends them in turns. */
    for (size_t i = 0; i < cs->count; i++)
        if (cs->list[i].scan.whole)
            seal(d, &cs->list[i]);
    s = mem_add(d->mem, &cs->list, &cs->count, &cs->cap, sizeof *s);
    if (s)
        s->handle = -1;
    else
        wire_fail_nomem(d);
    return s;
}

/* One delta of a call. */
struct piece {
    wend_str id, name;
    const struct json *args;
};

static bool has_args(const struct piece *p)
{
    return p->args && p->args->kind != JSON_NULL &&
           !(p->args->kind == JSON_STRING && text_is_blank(p->args->text));
}

/* Some servers give all calls the same index, or the same id: a name after
 * complete arguments begins another call, if anything else is new. */
static bool begins_anew(const struct slot *s, const struct piece *p)
{
    return s->scan.whole && p->name.len &&
           (has_args(p) || (p->id.len && !str_eq(p->id, buf_view(&s->id))));
}

static struct slot *by_index(struct decoder *d, struct calls *cs, int64_t index,
                             const struct piece *p)
{
    struct slot *s;

    for (size_t i = cs->count; i-- > 0;) {
        s = &cs->list[i];
        if (!s->has_index || s->index != index)
            continue;
        if (!begins_anew(s, p))
            return s;
        s->has_index = false;
        break;
    }
    s = add_slot(d, cs);
    if (s) {
        s->has_index = true;
        s->index = index;
    }
    return s;
}

/* Without an index: by id, else what was last, unless the name differs. */
static struct slot *by_id(struct decoder *d, struct calls *cs,
                          const struct piece *p)
{
    struct slot *last = cs->count ? &cs->list[cs->count - 1] : NULL;

    for (size_t i = cs->count; p->id.len && i-- > 0;)
        if (str_eq(p->id, buf_view(&cs->list[i].id)) &&
            !begins_anew(&cs->list[i], p))
            return &cs->list[i];
    if (!last || p->id.len || begins_anew(last, p) ||
        (p->name.len && last->name.len &&
         !str_eq(p->name, buf_view(&last->name))))
        return add_slot(d, cs);
    return last;
}

/* The first id and the first name count; empty ones change nothing. */
static bool keep(struct decoder *d, struct buf *kept, wend_str said)
{
    if (!kept->len)
        wire_keep(d, kept, said);
    return !kept->failed;
}

/* Tells of the call once it has a name, then of what was held. */
static void open_call(struct decoder *d, struct slot *s)
{
    if (s->handle >= 0 || !s->name.len)
        return;
    s->handle = wire_call(d, buf_view(&s->id), buf_view(&s->name));
    if (s->handle >= 0)
        wire_args(d, s->handle, buf_view(&s->held));
    buf_free(&s->held);
}

static void add_args(struct decoder *d, struct slot *s, wend_str piece)
{
    if (!piece.len || (s->sealed && text_is_blank(piece)))
        return;
    if (s->sealed) {
        wire_fail_fmt(d, "service", "arguments after the end of tool call %d",
                      s->handle);
        return;
    }
    scan_add(&s->scan, piece);
    piece = wire_join(d, &s->join, piece);
    if (s->handle >= 0)
        wire_args(d, s->handle, piece);
    else if (piece.len > ARGS_BYTES_MAX - s->held.len)
        wire_fail_fmt(d, "service", "a tool call without a name");
    else
        wire_keep(d, &s->held, piece);
}

void calls_add(struct calls *cs, struct decoder *d, const struct json *call,
               const struct json *function)
{
    struct piece p = {
        .id = json_get_str(call, "id"),
        .name = json_get_str(function, "name"),
        .args = json_get(function, "arguments"),
    };
    wend_str args = wire_args_text(d, p.args);
    struct slot *s;
    int64_t index;

    if (d->failed || (!p.id.len && !p.name.len && !args.len))
        return; /* it can neither belong to a call nor begin one */
    if (json_i64(json_get(call, "index"), &index))
        s = by_index(d, cs, index, &p);
    else
        s = by_id(d, cs, &p);
    if (!s || !keep(d, &s->id, p.id) || !keep(d, &s->name, p.name))
        return;
    open_call(d, s);
    if (!d->failed)
        add_args(d, s, args);
}

void calls_close(struct calls *cs, struct decoder *d, bool cut)
{
    for (size_t i = 0; i < cs->count && !d->failed; i++) {
        struct slot *s = &cs->list[i];

        if (cut && !s->scan.whole)
            continue;
        if (s->handle < 0)
            wire_fail_fmt(d, "service", "a tool call without a name");
        else
            seal(d, s);
    }
}

void calls_free(struct calls *cs, const struct mem *m)
{
    for (size_t i = 0; i < cs->count; i++) {
        buf_free(&cs->list[i].id);
        buf_free(&cs->list[i].name);
        buf_free(&cs->list[i].held);
    }
    mem_free(m, cs->list);
}
