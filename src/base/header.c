/*
 * header.c - headers of requests and answers.
 */
#include "base/header.h"

#include "base/ascii.h"
#include "base/fail.h"
#include "base/utf8.h"

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

/* ---- Headers that a user asks for ---------------------------------------- */

static size_t variable_len(wend_str s)
{
    size_t n = 0;

    while (n < s.len && is_word(s.ptr[n]))
        n++;
    return n && !is_digit(s.ptr[0]) ? n : 0;
}

bool header_piece(wend_str *rest, wend_str *text, wend_str *variable)
{
    const char *dollar = rest->len ? memchr(rest->ptr, '$', rest->len) : NULL;
    size_t len = dollar ? (size_t)(dollar - rest->ptr) : rest->len;

    *text = *variable = STR_NONE;
    if (!rest->len)
        return false;
    if (!len && str_starts(*rest, "${")) {
        *variable = str_skip(*rest, 2);
        variable->len = variable_len(*variable);
        len = variable->len + 3;
        if (!variable->len || rest->len < len || rest->ptr[len - 1] != '}')
            return false;
    } else if (!len && str_starts(*rest, "$$")) {
        *text = (wend_str){rest->ptr, 1};
        len = 2;
    } else if (!len) {
        return false;
    } else {
        *text = (wend_str){rest->ptr, len};
    }
    *rest = str_skip(*rest, len);
    return true;
}

bool header_split(wend_str line, wend_str *name, wend_str *value)
{
    const char *colon = line.len ? memchr(line.ptr, ':', line.len) : NULL;

    if (!colon)
        return false;
    *name = (wend_str){line.ptr, (size_t)(colon - line.ptr)};
    *value = str_trim(str_skip(line, name->len + 1), is_space);
    return true;
}

wend_status header_wish_check(wend_str line, wend_error *err)
{
    wend_str name = STR_NONE, value = STR_NONE, text, variable;

    if (!header_split(line, &name, &value) || !header_name_ok(name))
        return fail(err, WEND_E_INVAL,
                    "a header is 'Name: value' with a name of letters, digits "
                    "and -, not '%.*s'",
                    UTF8_ARGS(name.ptr ? name : line, 80));
    if (header_is_ours(name))
        return fail(err, WEND_E_INVAL,
                    "the header %.*s belongs to the connection; remove it",
                    UTF8_ARGS(name, 80));
    if (!header_value_ok(value) || utf8_valid_len(value) != value.len)
        return fail(err, WEND_E_INVAL,
                    "the value of the header %.*s is empty, not UTF-8 or "
                    "has a control character",
                    UTF8_ARGS(name, 80));
    while (header_piece(&value, &text, &variable))
        ;
    return value.len ? fail(err, WEND_E_INVAL,
                            "the header %.*s: a variable is ${NAME}, a dollar "
                            "is $$",
                            UTF8_ARGS(name, 80))
                     : WEND_OK;
}
