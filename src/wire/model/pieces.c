/*
 * pieces.c - text and thinking as they stream.
 *
 * Some servers cut text between UTF-16 units: which bytes of a piece are half
 * of a character is known by their address, which the parser wrote down. Some
 * leave the thinking inside the text, as <think>...</think>, and only at the
 * very start of an answer: elsewhere a model writes about tags.
 */
#include "wire/model/model.h"

#include "base/utf8.h"

/* ---- Characters that were cut -------------------------------------------- */

enum { HALF = 3 }; /* bytes of U+FFFD, which stands for a half */

static const wend_str lost = {"\xef\xbf\xbd", HALF};

static uint16_t unit_at(const struct json_cuts *cuts, const char *at)
{
    for (size_t i = 0; i < cuts->count; i++)
        if (cuts->list[i].at == at)
            return cuts->list[i].unit;
    return 0;
}

wend_str join_piece(struct join *j, const struct json_cuts *cuts,
                    wend_str piece, struct arena *a)
{
    uint32_t first, last;
    char *text, *end;

    if (!piece.len || (!j->high && !cuts->count))
        return piece;
    first = unit_at(cuts, piece.ptr);
    last = piece.len < HALF ? 0 : unit_at(cuts, piece.ptr + piece.len - HALF);
    if (last >= 0xdc00)
        last = 0; /* a second half holds nothing back */
    if (!j->high && !last)
        return piece;
    text = end = arena_chars(a, piece.len + HALF + 1);
    if (!text)
        return STR("");
    if (j->high && first >= 0xdc00) {
        end += utf8_put(end, 0x10000 + ((j->high - 0xd800u) << 10) +
                                 (first - 0xdc00));
        piece = str_skip(piece, HALF);
    } else if (j->high) {
        memcpy(end, lost.ptr, HALF);
        end += HALF;
    }
    if (last)
        piece.len -= HALF;
    memcpy(end, piece.ptr, piece.len);
    end += piece.len;
    j->high = (uint16_t)last;
    return (wend_str){text, (size_t)(end - text)};
}

wend_str join_rest(struct join *j)
{
    wend_str rest = j->high ? lost : STR("");

    j->high = 0;
    return rest;
}

wend_str wire_join(struct decoder *d, struct join *j, wend_str piece)
{
    d->shown |= piece.len > 0;
    return join_piece(j, &d->cuts, piece, &d->scratch);
}

static size_t tell(struct decoder *d, void (*fn)(void *ctx, wend_str piece),
                   wend_str piece)
{
    if (piece.len)
        fn(d->sink->ctx, piece);
    return piece.len;
}

/* ---- Tags ---------------------------------------------------------------- */

static const wend_str tags[THINK_TEXT + 1] = {
    [THINK_START] = {"<think>", 7},
    [THINK_INSIDE] = {"</think>", 8},
};

static void tell_think(struct decoder *d, wend_str piece)
{
    bool inside = d->think.at == THINK_INSIDE;

    tell(d, inside ? d->sink->thinking : d->sink->text, piece);
}

/* Takes what belongs to the tag off the piece; true at the tag's end. */
static bool take_tag(struct decoder *d, wend_str *piece)
{
    wend_str tag = tags[d->think.at];

    while (piece->len && *piece->ptr == tag.ptr[d->think.held]) {
        *piece = str_skip(*piece, 1);
        if (++d->think.held == tag.len) {
            d->think.held = 0;
            return true;
        }
    }
    if (piece->len) { /* no tag: `<` is only the first byte of one */
        tag.len = d->think.held;
        d->think.held = 0;
        if (d->think.at == THINK_START)
            d->think.at = THINK_TEXT;
        tell_think(d, tag);
    }
    return false;
}

static void on_inside(struct decoder *d, wend_str *piece)
{
    const char *open;
    wend_str said = *piece;

    if (!d->think.held) {
        open = memchr(piece->ptr, '<', piece->len);
        if (open)
            said.len = (size_t)(open - piece->ptr);
        tell_think(d, said);
        *piece = str_skip(*piece, said.len);
    }
    if (piece->len && take_tag(d, piece))
        d->think.at = THINK_AFTER;
}

/* Line ends between the thinking and the answer belong to neither. */
static void on_after(struct decoder *d, wend_str *piece)
{
    while (piece->len && (*piece->ptr == '\n' || *piece->ptr == '\r'))
        *piece = str_skip(*piece, 1);
    if (piece->len)
        d->think.at = THINK_TEXT;
}

static void tell_tagged(struct decoder *d, wend_str piece)
{
    while (piece.len) {
        switch (d->think.at) {
        case THINK_START:
            if (take_tag(d, &piece))
                d->think.at = THINK_INSIDE;
            break;
        case THINK_INSIDE: on_inside(d, &piece); break;
        case THINK_AFTER: on_after(d, &piece); break;
        case THINK_TEXT: tell_think(d, piece); return;
        }
    }
}

size_t wire_text(struct decoder *d, wend_str piece)
{
    size_t len = tell(d, d->sink->text, wire_join(d, &d->text, piece));

    d->text_len += len;
    return len;
}

size_t wire_thinking(struct decoder *d, wend_str piece)
{
    return tell(d, d->sink->thinking, wire_join(d, &d->thinking, piece));
}

void wire_tagged(struct decoder *d, wend_str piece)
{
    tell_tagged(d, wire_join(d, &d->text, piece));
}

void wire_text_end(struct decoder *d)
{
    wire_thinking(d, join_rest(&d->thinking));
    tell_tagged(d, join_rest(&d->text));
    tell_think(d, (wend_str){tags[d->think.at].ptr, d->think.held});
    d->think.held = 0;
}
