/*
 * name.c - names of tools as providers take them.
 */
#include "wire/model/name.h"

static bool fits(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '_' || c == '-';
}

static void put(struct buf *b, wend_str s, const char *dot)
{
    buf_char(b, '"');
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] == '.')
            buf_cstr(b, dot);
        else
            buf_char(b, fits(s.ptr[i]) ? s.ptr[i] : '_');
    buf_cstr(b, s.len ? "\"" : "_\"");
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
