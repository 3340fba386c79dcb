/*
 * header.c - headers of requests and answers.
 */
#include "base/header.h"

#include "base/ascii.h"

bool header_name_ok(wend_str name)
{
    for (size_t i = 0; i < name.len; i++)
        if (name.ptr[i] <= ' ' || name.ptr[i] >= 0x7f ||
            strchr("()<>@,;:\\\"/[]?={}", name.ptr[i]))
            return false;
    return name.len > 0;
}

bool header_value_ok(wend_str value)
{
    for (size_t i = 0; i < value.len; i++)
        if ((unsigned char)value.ptr[i] < ' ' || value.ptr[i] == 0x7f)
            return false;
    return value.len && value.ptr[0] != ' ' && value.ptr[value.len - 1] != ' ';
}

static bool begins(wend_str line, wend_str name)
{
    return line.len >= name.len &&
           str_same((wend_str){line.ptr, name.len}, name);
}

bool header_is(wend_str line, wend_str name)
{
    return begins(line, name) &&
           (line.len == name.len || line.ptr[name.len] == ':');
}

bool header_is_among(wend_str line, const char *const *names)
{
    for (; *names; names++) {
        wend_str name = str_of(*names);

        if (header_is(line, name) ||
            (name.ptr[name.len - 1] == '-' && begins(line, name)))
            return true;
    }
    return false;
}

wend_str header_value(wend_str lines, const char *name)
{
    wend_str wanted = str_of(name), line;

    while (str_line(&lines, &line))
        if (line.len > wanted.len && header_is(line, wanted))
            return str_trim(str_skip(line, wanted.len + 1), is_space);
    return STR_NONE;
}

bool header_is_ours(wend_str line)
{
    static const char *const names[] = {
        "Host",
        "Content-Length",
        "Transfer-Encoding",
        "Connection",
        "TE",
        "Trailer",
        "Upgrade",
        "Keep-Alive",
        "Expect",
        "Proxy-",
        "Accept-Encoding",
        "Idempotency-Key",
        "HTTP2-",
        NULL,
    };

    return header_is_among(line, names);
}
