/*
 * fuzz_regex.c - a pattern, a newline, a text: searching comes to an end, a
 * match lies in the text, and the text contains what every match must.
 */
#include "base/regex.h"

#include <stdlib.h>

enum { WORK = 200000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void check(struct regex *r, wend_str pattern, wend_str text)
{
    static const struct mem plain;
    struct buf literal = {.mem = &plain};
    struct regex_place at = {0};
    uint64_t work = WORK;

    if (regex_search(r, text, &work, &at, NULL) != REGEX_YES)
        return;
    /* \K may set the start behind the end */
    must(at.start <= text.len && at.end <= text.len);
    regex_literal(pattern, &literal);
    must(!literal.len ||
         (text.len && memmem(text.ptr, text.len, literal.ptr, literal.len)));
    buf_free(&literal);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct mem plain;
    struct arena a = {.mem = &plain};
    const uint8_t *newline = size ? memchr(data, '\n', size) : NULL;
    struct regex *r = NULL;
    wend_str pattern, text;

    if (!newline || newline == data)
        return 0;
    pattern = (wend_str){(const char *)data, (size_t)(newline - data)};
    text = (wend_str){(const char *)newline + 1, size - pattern.len - 1};
    if (!regex_compile_perl(pattern, false, &a, &r, NULL))
        check(r, pattern, text);
    arena_free(&a);
    return 0;
}
