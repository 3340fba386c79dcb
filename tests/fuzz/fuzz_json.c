/*
 * fuzz_json.c - any bytes: what parses, written and parsed again, is equal.
 */
#include "base/json.h"

#include <stdlib.h>

#include "base/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

/* Numbers must survive being looked at. */
static void look(const struct json *j)
{
    int64_t whole;
    double real = 0;

    if (json_i64(j, &whole))
        must(json_f64(j, &real) && real == (double)whole);
    must(utf8_valid_len(j->text) == j->text.len);
    must(utf8_valid_len(j->key) == j->key.len);
    for (const struct json *c = j->first; c; c = c->next)
        look(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct mem plain;
    struct arena a = {.mem = &plain};
    struct buf once = {.mem = &plain}, twice = {.mem = &plain};
    wend_error err = {0};
    wend_str text = {(const char *)data, size};
    struct json *x = json_parse(text, &a, &err), *y;

    if (x) {
        look(x);
        json_put(&once, x);
        y = json_parse(buf_view(&once), &a, &err);
        must(y && json_equal(x, y) && json_equal(y, x));
        json_put(&twice, y);
        must(str_eq(buf_view(&once), buf_view(&twice)));
    } else {
        must(err.status == WEND_E_PARSE || err.status == WEND_E_LIMIT);
        must(err.line && err.column);
    }
    buf_free(&once);
    buf_free(&twice);
    arena_free(&a);
    return 0;
}
