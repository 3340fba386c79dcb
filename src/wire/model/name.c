/*
 * name.c - names of tools as providers take them.
 */
#include "wire/model/name.h"

static bool fits(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '_' || c == '-';
}

void name_put(struct buf *b, wend_str name)
{
    buf_char(b, '"');
    for (size_t i = 0; i < name.len; i++)
        if (name.ptr[i] == '.')
            buf_add(b, "__", 2);
        else
            buf_char(b, fits(name.ptr[i]) ? name.ptr[i] : '_');
    buf_cstr(b, name.len ? "\"" : "_\"");
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
