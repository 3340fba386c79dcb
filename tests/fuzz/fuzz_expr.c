/*
 * fuzz_expr.c - a value on the first line, any bytes as a condition after it:
 * what is accepted has a value or a reason why not.
 */
#include <stdlib.h>

#include "base/utf8.h"
#include "core/plan/expr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SLOTS = 4096 }; /* a condition has fewer names than bytes */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *feed = size ? memchr(data, '\n', size) : NULL;
    struct mem mem = {0};
    struct arena a = {.mem = &mem};
    struct names names = {.arena = &a};
    wend_error err = {0};
    struct ref_reader r = {.arena = &a, .names = &names, .err = &err};
    wend_str *values = arena_alloc(&a, SLOTS * sizeof *values), text;
    struct scope s = {.values = values, .arena = &a};
    const struct expr *e;
    const struct json *value = NULL;
    struct buf b = {.mem = &mem};

    if (!feed)
        return arena_free(&a), 0;
    s.trees = arena_alloc(&a, SLOTS * sizeof *s.trees);
    values[names_add(&names, STR("x"))] =
        (wend_str){(const char *)data, (size_t)(feed - data)};
    text = (wend_str){(const char *)feed + 1, size - (size_t)(feed + 1 - data)};
    if (utf8_valid_len(text) < text.len)
        return arena_free(&a), 0; /* no tree has such a string */
    if (expr_parse(&r, text, &e)) {
        if (!err.message[0] || r.bad_at > text.len)
            abort();
    } else {
        for (int i = 0; i < 2; i++, s.missing_null = true) {
            if (!expr_value(e, &s, &value, &err))
                json_put(&b, value);
            else if (!err.message[0])
                abort();
        }
    }
    buf_free(&b);
    arena_free(&a);
    return 0;
}
