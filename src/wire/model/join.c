/*
 * join.c - characters that a server cut between two pieces of a stream.
 *
 * Which bytes of a piece are half of a character is known by their address:
 * the parser wrote it down.
 */
#include "wire/model/join.h"

#include "base/utf8.h"

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
