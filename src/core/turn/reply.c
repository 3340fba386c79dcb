/*
 * reply.c - what a model has written so far: fragments to whole calls.
 */
#include "core/turn/reply.h"

#include <string.h>

#include "base/limits.h"
#include "base/utf8.h"

enum { KEEP_BYTES = 4 << 10 }; /* a larger buffer is not kept for reuse */

void reply_init(struct reply *r, const struct mem *m, int64_t began_us)
{
    memset(r, 0, sizeof *r);
    r->mem = m;
    r->arena.mem = m;
    r->arena.chunk_min = 256; /* the arguments of a call or two */
    r->text.mem = r->thinking.mem = r->opaque.mem = m;
    r->began_us = began_us;
    r->usage.cost_nano = -1;
}

static void clear(struct buf *b)
{
    buf_reuse(b, KEEP_BYTES);
}

/* Of that many calls, and those of the reply. */
static void each_buf(struct reply *r, size_t calls, void (*f)(struct buf *b))
{
    for (size_t i = 0; i < calls; i++) {
        f(&r->calls[i].id);
        f(&r->calls[i].name);
        f(&r->calls[i].args);
        f(&r->calls[i].plan.actions);
    }
    f(&r->text);
    f(&r->thinking);
    f(&r->opaque);
}

void reply_again(struct reply *r, int64_t began_us)
{
    const wend_ev_usage none = {.cost_nano = -1};

    each_buf(r, r->calls_count, clear);
    for (size_t i = 0; i < r->calls_count; i++)
        plan_scan_clear(&r->calls[i].plan);
    if (r->arena.held > KEEP_BYTES)
        arena_free(&r->arena);
    else
        arena_reset(&r->arena);
    r->calls_count = 0;
    r->usage = none;
    r->finish = STR_NONE;
    r->pieces = r->first_us = 0;
    r->began_us = began_us;
    r->failed = r->more = false;
}

void reply_free(struct reply *r)
{
    if (!r->mem)
        return;
    each_buf(r, r->calls_made, buf_free);
    mem_free(r->mem, r->calls);
    arena_free(&r->arena);
    memset(r, 0, sizeof *r);
}

static void add_piece(struct reply *r, struct buf *b, wend_str piece,
                      int64_t now_us)
{
    buf_str(b, piece);
    r->failed |= b->failed;
    r->pieces++;
    if (!r->first_us)
        r->first_us = now_us;
}

void reply_text(struct reply *r, wend_str piece, int64_t now_us)
{
    add_piece(r, &r->text, piece, now_us);
}

void reply_thinking(struct reply *r, wend_str piece, int64_t now_us)
{
    add_piece(r, &r->thinking, piece, now_us);
}

static bool id_taken(const struct reply *r, wend_str id)
{
    for (size_t i = 0; i < r->calls_count; i++)
        if (str_eq(buf_view(&r->calls[i].id), id))
            return true;
    return false;
}

static void make_id(struct reply *r, struct buf *out, wend_str id)
{
    size_t number = r->calls_count + 1;

    buf_str(out, id);
    if (id.len && !id_taken(r, id))
        return;
    do {
        buf_clear(out);
        buf_str(out, id.len ? id : STR("call"));
        buf_char(out, '_');
        buf_i64(out, (int64_t)number++);
    } while (!out->failed && id_taken(r, buf_view(out)));
}

int reply_call(struct reply *r, wend_str id, wend_str name)
{
    struct reply_call *c;

    if (r->calls_count == CALLS_MAX)
        return -1;
    c = mem_more(r->mem, r->calls, r->calls_count, &r->calls_cap, sizeof *c);
    if (!c) {
        r->failed = true;
        return -1;
    }
    r->calls = c;
    c = &r->calls[r->calls_count];
    if (r->calls_count == r->calls_made) {
        memset(c, 0, sizeof *c);
        c->id.mem = c->name.mem = c->args.mem = r->mem;
        c->plan.actions.mem = r->mem;
        r->calls_made++;
    }
    c->sealed = c->invalid = false;
    c->json = STR_NONE;
    make_id(r, &c->id, id);
    buf_str(&c->name, name);
    r->failed |= c->id.failed || c->name.failed;
    return (int)r->calls_count++;
}

void reply_args(struct reply *r, int call, wend_str piece, int64_t now_us)
{
    struct reply_call *c = &r->calls[call];

    /* One byte over the limit is enough to know. */
    add_piece(r, &c->args, c->args.len <= ARGS_BYTES_MAX ? piece : STR_NONE,
              now_us);
}

bool reply_plan(struct reply *r, int call)
{
    struct reply_call *c = &r->calls[call];
    size_t before = plan_scan_count(&c->plan);

    plan_scan(&c->plan, buf_view(&c->args));
    r->failed |= c->plan.actions.failed;
    return plan_scan_count(&c->plan) > before;
}

static void seal(struct reply *r, int call, bool cut)
{
    struct reply_call *c = &r->calls[call];
    wend_str raw = c->args.len ? buf_view(&c->args) : STR("{}");
    struct arena scratch = {.mem = r->mem};
    struct buf out = {.mem = r->mem};
    struct json *j = NULL;

    if (cut)
        raw = buf_view(&c->args);
    else if (raw.len <= ARGS_BYTES_MAX)
        j = json_parse(raw, &scratch, NULL);
    raw.len = utf8_cut(raw, ARGS_BYTES_MAX);
    if (j && j->kind != JSON_STRING) {
        json_put(&out, j);
    } else { /* a bare string is how raw text is told from JSON later */
        c->invalid = true;
        json_put_str(&out, raw);
    }
    c->json = arena_str(&r->arena, buf_view(&out));
    c->sealed = true;
    r->failed |= scratch.failed || out.failed || !c->json.ptr;
    arena_free(&scratch);
    buf_free(&out);
}

void reply_seal(struct reply *r, int call)
{
    seal(r, call, false);
}

void reply_seal_cut(struct reply *r, int call)
{
    seal(r, call, true);
}

/* The buffer is a JSON list at any time. */
void reply_opaque(struct reply *r, wend_str json)
{
    if (r->opaque.len)
        r->opaque.len--; /* its closing bracket */
    buf_char(&r->opaque, r->opaque.len ? ',' : '[');
    buf_str(&r->opaque, json);
    buf_char(&r->opaque, ']');
    r->failed |= r->opaque.failed;
}

wend_str reply_call_id(const struct reply *r, int call)
{
    return buf_view(&r->calls[call].id);
}
