/*
 * fuzz_ref.c - a value on the first line, any bytes as a text with references
 * after it: what it makes as JSON is JSON.
 */
#include <stdlib.h>

#include "base/utf8.h"
#include "core/plan/scope.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SLOTS = 4096, MADE_MAX = 1 << 20 };

static void make(struct ref_reader *r, const struct json *j, bool json,
                 const struct scope *s)
{
    struct buf b = {.mem = r->arena->mem};
    const struct template *t;
    wend_error err = {0};

    if (json ? template_json(r, j, &t) : template_text(r, j, &t)) {
        if (!r->err->message[0])
            abort();
        return;
    }
    if (!template_put(t, s, MADE_MAX, &b, &err)) {
        if (json && !json_parse_own(buf_view(&b), r->arena, &err) &&
            err.status != WEND_E_LIMIT)
            abort();
    } else if (!err.message[0]) {
        abort();
    }
    buf_free(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *feed = size ? memchr(data, '\n', size) : NULL;
    struct mem mem = {0};
    struct arena a = {.mem = &mem};
    struct names names = {.arena = &a};
    wend_error err = {0};
    struct ref_reader r = {.arena = &a, .names = &names, .err = &err};
    wend_str *values = arena_alloc(&a, SLOTS * sizeof *values), text;
    struct scope s = {.values = values, .arena = &a, .missing_null = true};
    struct json j = {.kind = JSON_STRING, .line = 1, .column = 1};

    s.trees = arena_alloc(&a, SLOTS * sizeof *s.trees);
    text = feed ? (wend_str){(const char *)feed + 1,
                             size - (size_t)(feed + 1 - data)}
                : STR_NONE;
    if (feed && text.len < SLOTS && utf8_valid_len(text) == text.len) {
        values[names_add(&names, STR("x"))] =
            (wend_str){(const char *)data, (size_t)(feed - data)};
        j.text = text;
        make(&r, &j, true, &s);
        make(&r, &j, false, &s);
    }
    arena_free(&a);
    return 0;
}
