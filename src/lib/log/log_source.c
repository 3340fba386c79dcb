/*
 * log_source.c - the lines of a file that is too large for memory.
 */
#include "lib/log/log_source.h"

#include <assert.h>
#include <string.h>

enum { READ_BYTES = 1 << 18 };

int64_t log_read_memory(void *ctx, int64_t at, char *to, size_t size)
{
    const wend_str *file = ctx;
    size_t left = (size_t)at < file->len ? file->len - (size_t)at : 0;

    if (left < size)
        size = left;
    if (size)
        memcpy(to, file->ptr + at, size);
    return (int64_t)size;
}

void log_source_seek(struct log_source *s, int64_t at)
{
    buf_clear(&s->text);
    s->at = at;
    s->taken = 0;
    s->ended = false;
}

int64_t log_source_place(const struct log_source *s)
{
    return s->at + (int64_t)s->taken;
}

void log_source_free(struct log_source *s)
{
    buf_free(&s->text);
}

static void drop_taken(struct log_source *s)
{
    size_t left = s->text.len - s->taken;

    assert(s->taken <= s->text.len);
    if (!s->taken)
        return;
    memmove(s->text.ptr, s->text.ptr + s->taken, left);
    s->text.len = left;
    s->at += (int64_t)s->taken;
    s->taken = 0;
}

static wend_status read_more(struct log_source *s)
{
    int64_t n;

    drop_taken(s);
    if (!buf_room(&s->text, READ_BYTES))
        return WEND_E_NOMEM;
    n = s->read(s->ctx, s->at + (int64_t)s->text.len, s->text.ptr + s->text.len,
                READ_BYTES);
    if (n < 0 || n > READ_BYTES)
        return WEND_E_IO;
    s->text.len += (size_t)n;
    s->ended = !n;
    return WEND_OK;
}

wend_status log_source_line(struct log_source *s, wend_str *line)
{
    size_t seen = 0; /* without a newline */
    wend_status status = WEND_OK;

    while (status == WEND_OK) {
        wend_str all = buf_view(&s->text);
        wend_str rest = {all.ptr + s->taken, all.len - s->taken};
        const char *eol = rest.len > seen
                              ? memchr(rest.ptr + seen, '\n', rest.len - seen)
                              : NULL;

        if (eol || (s->ended && rest.len)) {
            line->ptr = rest.ptr;
            line->len = eol ? (size_t)(eol - rest.ptr) : rest.len;
            s->taken += line->len + (eol != NULL);
            return WEND_OK;
        }
        if (s->ended)
            return WEND_END;
        seen = rest.len;
        status = read_more(s);
    }
    return status;
}
