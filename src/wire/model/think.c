/*
 * think.c - thinking that a server left inside the text, as <think>...</think>.
 */
#include "wire/model/model.h"

static const wend_str tags[] = {
    [THINK_START] = {"<think>", 7},
    [THINK_INSIDE] = {"</think>", 8},
};

static void tell(const struct think *t, const struct wire_sink *sink,
                 wend_str piece)
{
    if (!piece.len)
        return;
    if (t->at == THINK_INSIDE)
        sink->thinking(sink->ctx, piece);
    else
        sink->text(sink->ctx, piece);
}

/* Takes what belongs to the tag off the piece; true at the tag's end. */
static bool take_tag(struct think *t, const struct wire_sink *sink,
                     wend_str *piece)
{
    wend_str tag = tags[t->at];
    wend_str begun = {tag.ptr, t->held};

    while (piece->len && *piece->ptr == tag.ptr[t->held]) {
        *piece = str_skip(*piece, 1);
        if (++t->held == tag.len) {
            t->held = 0;
            return true;
        }
    }
    if (piece->len) { /* no tag: `<` is only the first byte of one */
        begun.len = t->held;
        t->held = 0;
        if (t->at == THINK_START)
            t->at = THINK_TEXT;
        tell(t, sink, begun);
    }
    return false;
}

static void inside(struct think *t, const struct wire_sink *sink,
                   wend_str *piece)
{
    const char *open;
    wend_str said = *piece;

    if (!t->held) {
        open = memchr(piece->ptr, '<', piece->len);
        if (open)
            said.len = (size_t)(open - piece->ptr);
        tell(t, sink, said);
        *piece = str_skip(*piece, said.len);
    }
    if (piece->len && take_tag(t, sink, piece))
        t->at = THINK_AFTER;
}

/* Line ends between the thinking and the answer belong to neither. */
static void after(struct think *t, wend_str *piece)
{
    while (piece->len && (*piece->ptr == '\n' || *piece->ptr == '\r'))
        *piece = str_skip(*piece, 1);
    if (piece->len)
        t->at = THINK_TEXT;
}

void think_add(struct think *t, const struct wire_sink *sink, wend_str piece)
{
    while (piece.len) {
        switch (t->at) {
        case THINK_START:
            if (take_tag(t, sink, &piece))
                t->at = THINK_INSIDE;
            break;
        case THINK_INSIDE: inside(t, sink, &piece); break;
        case THINK_AFTER: after(t, &piece); break;
        case THINK_TEXT: tell(t, sink, piece); return;
        }
    }
}

void think_end(struct think *t, const struct wire_sink *sink)
{
    wend_str begun = {NULL, t->held};

    if (t->held) {
        begun.ptr = tags[t->at].ptr;
        tell(t, sink, begun);
    }
    t->held = 0;
}
