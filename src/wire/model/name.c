/*
 * name.c - names of tools as providers take them.
 */
#include "wire/model/name.h"

#include "base/ascii.h"

/* Bytes at the start that every provider takes. */
static size_t plain_len(wend_str s)
{
    size_t n = 0;

    while (n < s.len && (is_letter(s.ptr[n]) || is_digit(s.ptr[n]) ||
                         s.ptr[n] == '_' || s.ptr[n] == '-'))
        n++;
    return n;
}

static void put(struct buf *b, wend_str s, const char *dot)
{
    size_t n = plain_len(s);

    buf_cstr(b, s.len ? "\"" : "\"_");
    while (n < s.len) {
        buf_add(b, s.ptr, n);
        buf_cstr(b, s.ptr[n] == '.' ? dot : "_");
        s = str_skip(s, n + 1);
        n = plain_len(s);
    }
    buf_add(b, s.ptr, n);
    buf_char(b, '"');
}

bool name_is_plain(wend_str name)
{
    return name.len && plain_len(name) == name.len;
}

void name_put(struct buf *b, wend_str name)
{
    put(b, name, "__");
}

void name_put_id(struct buf *b, wend_str id)
{
    put(b, id, "_");
}

/* Whether `said` is the name with its dots replaced. */
static bool is_meant(wend_str name, wend_str said)
{
    size_t at = 0;

    for (size_t i = 0; i < name.len; i++) {
        const char *as = name.ptr[i] == '.' ? "__" : &name.ptr[i];
        size_t len = name.ptr[i] == '.' ? 2 : 1;

        if (said.len - at < len || memcmp(said.ptr + at, as, len))
            return false;
        at += len;
    }
    return at == said.len;
}

wend_str name_meant(const struct config *c, wend_str said)
{
    if (config_tool(c, said))
        return said;
    for (size_t i = 0; i < c->tools_count; i++)
        if (is_meant(c->tools[i].name, said))
            return c->tools[i].name;
    return said;
}
