/*
 * sse.c - server-sent events and lines, from bytes in any chunks.
 *
 * Lines are found by memchr and looked at in place; only what a chunk cuts
 * is copied. An event of one data line, which nearly all are, is handed on
 * where it lies.
 */
#include "wire/http/http.h"

#include <assert.h>

#include "base/ascii.h"
#include "base/utf8.h"

enum {
    FIELD_MAX = 5,         /* the longest name that counts */
    KEEP_BYTES = 64 << 10, /* a larger buffer is not kept for the next event */
};

/* The rest of a chunk. */
struct chunk {
    const char *p, *end;
    const char *lf; /* the next one, or end; NULL: not looked for yet */
};

static void check(struct sse *s, const struct buf *b)
{
    if (b->failed)
        s->status = WEND_E_NOMEM;
}

/* The view, or a copy with invalid UTF-8 replaced. */
static wend_str cleaned(struct sse *s, wend_str data)
{
    if (utf8_valid_len(data) == data.len)
        return data;
    buf_reuse(&s->clean, KEEP_BYTES);
    utf8_repair(&s->clean, data);
    check(s, &s->clean);
    return buf_view(&s->clean);
}

static void give(struct sse *s, wend_str data, sse_fn fn, void *ctx)
{
    data = cleaned(s, data);
    if (s->status == WEND_OK && !fn(ctx, buf_view(&s->name), data))
        s->stopped = true;
}

/* A blank line: the event is complete. */
static void dispatch(struct sse *s, sse_fn fn, void *ctx)
{
    if (s->any_data)
        give(s, s->lent.ptr ? s->lent : buf_view(&s->data), fn, ctx);
    buf_reuse(&s->data, KEEP_BYTES);
    buf_reuse(&s->name, KEEP_BYTES);
    s->lent = STR_NONE;
    s->any_data = false;
}

/* ---- Fields -------------------------------------------------------------- */

/* Copies what is lent by the chunk, which ends. */
static void keep_lent(struct sse *s)
{
    if (!s->lent.ptr)
        return;
    buf_str(&s->data, s->lent);
    check(s, &s->data);
    s->lent = STR_NONE;
}

static void on_data(struct sse *s, wend_str value, bool lent)
{
    size_t held = s->lent.ptr ? s->lent.len : s->data.len;

    if (!s->any_data) {
        s->any_data = true;
        if (lent)
            s->lent = value;
        else
            buf_str(&s->data, value);
    } else if (held >= s->bytes_max || value.len > s->bytes_max - held - 1) {
        s->status = WEND_E_LIMIT;
        return;
    } else {
        keep_lent(s);
        buf_char(&s->data, '\n');
        buf_str(&s->data, value);
    }
    check(s, &s->data);
}

static void on_event(struct sse *s, wend_str value, bool lent)
{
    (void)lent;
    buf_clear(&s->name);
    utf8_repair(&s->name, value);
    check(s, &s->name);
}

static void on_error(struct sse *s, wend_str value, bool lent)
{
    on_event(s, STR("error"), false);
    on_data(s, value, lent);
}

static void on_id(struct sse *s, wend_str value, bool lent)
{
    (void)lent;
    if (value.len > SSE_ID_MAX ||
        (value.len && memchr(value.ptr, 0, value.len)))
        return;
    buf_clear(&s->id);
    utf8_repair(&s->id, value);
    check(s, &s->id);
}

static void on_retry(struct sse *s, wend_str value, bool lent)
{
    int64_t ms;

    (void)lent;
    if (str_to_i64(value, &ms))
        s->retry_ms = ms;
}

static const struct field {
    const char *name;
    void (*take)(struct sse *s, wend_str value, bool lent);
} fields[] = {
    {"data", on_data}, {"event", on_event}, {"error", on_error},
    {"id", on_id},     {"retry", on_retry},
};

static void on_field(struct sse *s, wend_str line, bool lent)
{
    size_t head = line.len < FIELD_MAX + 1 ? line.len : FIELD_MAX + 1;
    const char *colon = memchr(line.ptr, ':', head);
    wend_str name = line, value = STR("");

    if (colon) {
        name.len = (size_t)(colon - line.ptr);
        value.ptr = colon + 1;
        value.len = line.len - name.len - 1;
        if (value.len && value.ptr[0] == ' ')
            value = str_skip(value, 1);
    }
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (str_is(name, fields[i].name)) {
            fields[i].take(s, value, lent);
            return;
        }
}

/* ---- Lines --------------------------------------------------------------- */

/* `lent`: the line stays where it is until the chunk ends. */
static void on_line(struct sse *s, wend_str line, bool lent, sse_fn fn,
                    void *ctx)
{
    if (line.len > s->bytes_max) {
        s->status = WEND_E_LIMIT;
        return;
    }
    if (!s->begun && str_starts(line, "\xef\xbb\xbf"))
        line = str_skip(line, 3);
    s->begun = true;
    if (s->framing == SSE_LINES) {
        if (str_trim(line, is_blank).len)
            give(s, line, fn, ctx);
    } else if (!line.len) {
        dispatch(s, fn, ctx);
    } else {
        on_field(s, line, lent);
    }
}

/* More of a line that began in an earlier chunk; its last part if `ends`. */
static void on_rest(struct sse *s, wend_str rest, bool ends, sse_fn fn,
                    void *ctx)
{
    assert(s->line.len <= s->bytes_max);
    if (rest.len > s->bytes_max - s->line.len) {
        s->status = WEND_E_LIMIT;
        return;
    }
    buf_str(&s->line, rest);
    check(s, &s->line);
    if (!ends || s->status != WEND_OK)
        return;
    on_line(s, buf_view(&s->line), false, fn, ctx);
    buf_reuse(&s->line, KEEP_BYTES);
}

/* Where the next line ends, or NULL. Both searches stay linear: the LF is
 * not looked for again before it is passed, the CR only up to it. */
static const char *line_end(struct chunk *c)
{
    const char *cr;

    if (!c->lf || c->lf < c->p) {
        c->lf = memchr(c->p, '\n', (size_t)(c->end - c->p));
        if (!c->lf)
            c->lf = c->end;
    }
    cr = memchr(c->p, '\r', (size_t)(c->lf - c->p));
    return cr ? cr : c->lf < c->end ? c->lf : NULL;
}

static void next_line(struct sse *s, struct chunk *c, sse_fn fn, void *ctx)
{
    const char *end = line_end(c);
    wend_str line = {c->p, (size_t)((end ? end : c->end) - c->p)};

    c->p += line.len;
    if (end) {
        s->after_cr = *end == '\r';
        c->p++;
    }
    if (end && !s->line.len)
        on_line(s, line, true, fn, ctx);
    else
        on_rest(s, line, end, fn, ctx);
}

void sse_init(struct sse *s, const struct mem *m, enum sse_framing framing,
              size_t bytes_max)
{
    memset(s, 0, sizeof *s);
    s->framing = framing;
    s->bytes_max = bytes_max;
    s->line.mem = s->name.mem = s->data.mem = s->clean.mem = m;
    s->id.mem = m;
    s->retry_ms = -1;
}

wend_status sse_feed(struct sse *s, const char *p, size_t len, sse_fn fn,
                     void *ctx)
{
    struct chunk c = {.p = p, .end = p + len};

    if (!len)
        return s->status;
    while (c.p < c.end && s->status == WEND_OK && !s->stopped) {
        if (s->after_cr) {
            s->after_cr = false;
            if (*c.p == '\n') {
                c.p++;
                continue;
            }
        }
        next_line(s, &c, fn, ctx);
    }
    keep_lent(s);
    return s->status;
}

wend_status sse_end(struct sse *s, sse_fn fn, void *ctx)
{
    if (s->status == WEND_OK && !s->stopped && s->line.len)
        on_rest(s, STR(""), true, fn, ctx);
    if (s->status == WEND_OK && !s->stopped)
        dispatch(s, fn, ctx);
    return s->status;
}

void sse_free(struct sse *s)
{
    buf_free(&s->line);
    buf_free(&s->name);
    buf_free(&s->data);
    buf_free(&s->clean);
    buf_free(&s->id);
}
