/*
 * log_lines.c - the lines of an exported run, as wend-store(5) has them.
 *
 * Pure: nothing is decoded but what stands around the bodies, whose bytes
 * must stay what they are.
 */
#include <assert.h>

#include "lib/log/log_import.h"

static bool take(wend_str *rest, const char *literal)
{
    if (!str_starts(*rest, literal))
        return false;
    *rest = str_skip(*rest, strlen(literal));
    return true;
}

static bool take_some(wend_str *rest, size_t len, wend_str *out)
{
    if (rest->len < len)
        return false;
    *out = (wend_str){rest->ptr, len};
    *rest = str_skip(*rest, len);
    return true;
}

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 87 : -1;
}

static bool take_hash(wend_str *rest, wend_str *text,
                      unsigned char hash[SHA256_BYTES])
{
    if (!take_some(rest, SHA256_HEX, text))
        return false;
    for (int i = 0; i < SHA256_BYTES; i++) {
        int high = digit(text->ptr[2 * i]), low = digit(text->ptr[2 * i + 1]);

        if (high < 0 || low < 0)
            return false;
        hash[i] = (unsigned char)(high * 16 + low);
    }
    return true;
}

static bool take_number(wend_str *rest, int64_t *out)
{
    size_t len = 0;
    wend_str digits;

    while (len < rest->len && rest->ptr[len] >= '0' && rest->ptr[len] <= '9')
        len++;
    return take_some(rest, len, &digits) && str_to_i64(digits, out);
}

static bool take_run(wend_str *rest, wend_str *run)
{
    return take_some(rest, RUN_ID_LEN, run) && run_id_valid(*run);
}

/* All that is left but the last brace. */
static bool take_body(wend_str *rest, wend_str *body)
{
    if (rest->len < 2 || rest->ptr[rest->len - 1] != '}')
        return false;
    *body = (wend_str){rest->ptr, rest->len - 1};
    rest->len = 0;
    return true;
}

static bool read_head(wend_str rest, struct log_line *l)
{
    return take_run(&rest, &l->run) && take(&rest, "\"}") && !rest.len;
}

static bool read_blob(wend_str rest, struct log_line *l)
{
    if (!take_hash(&rest, &l->hash, l->item.hash))
        return false;
    l->base64 = take(&rest, "\",\"base64\":");
    return (l->base64 || take(&rest, "\",\"text\":")) &&
           take_body(&rest, &l->body);
}

static bool read_event(wend_str rest, struct log_line *l)
{
    return take_hash(&rest, &l->hash, l->item.hash) &&
           take(&rest, "\",\"event\":") && take_body(&rest, &l->item.body);
}

static bool read_pack(wend_str rest, struct log_line *l)
{
    l->item.is_pack = true;
    return take_number(&rest, &l->item.seq) && take(&rest, ",\"n\":") &&
           take_number(&rest, &l->item.n) && take(&rest, ",\"count\":") &&
           take_number(&rest, &l->item.count) && take(&rest, ",\"deltas\":") &&
           take_body(&rest, &l->item.body);
}

static bool read_end(wend_str rest, struct log_line *l)
{
    return take_run(&rest, &l->run) && take(&rest, "\",\"seq\":") &&
           take_number(&rest, &l->seq) && take(&rest, ",\"head\":\"") &&
           take_hash(&rest, &l->hash, l->item.hash) && take(&rest, "\"}") &&
           !rest.len;
}

static const struct {
    const char *begin;
    bool (*read)(wend_str rest, struct log_line *l);
} kinds[] = {
    [LINE_HEAD] = {"{\"wend\":\"run/1\",\"run\":\"", read_head},
    [LINE_BLOB] = {"{\"blob\":\"", read_blob},
    [LINE_EVENT] = {"{\"hash\":\"", read_event},
    [LINE_PACK] = {"{\"seq\":", read_pack},
    [LINE_END] = {"{\"end\":\"", read_end},
};

enum line_kind log_line_read(wend_str text, struct log_line *out)
{
    memset(out, 0, sizeof *out);
    for (int k = 0; k < LINE_BAD; k++) {
        wend_str rest = text;

        if (take(&rest, kinds[k].begin))
            return kinds[k].read(rest, out) ? (enum line_kind)k : LINE_BAD;
    }
    return LINE_BAD;
}

/* ---- A file that is too large for memory --------------------------------- */

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
        wend_str rest = str_skip(buf_view(&s->text), s->taken);
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
