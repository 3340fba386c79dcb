/*
 * fuzz_tags.c - any bytes as a model's text: told the same however it is cut,
 * and the plan is JSON.
 *
 * The first byte chooses where it is cut.
 */
#include <stdio.h>

#include "../unit/tags_help.h"
#include "base/json.h"
#include "base/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds, const struct tags_told *o)
{
    if (holds)
        return;
    fprintf(stderr, "%s\n", o->line.ptr);
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {.mem = &tags_plain};
    struct tags_told whole, cut;
    wend_str in = {(const char *)data + 1, size - 1};
    struct json *plan;

    if (!size)
        return 0;
    tags_run(in, 0, 0, &tags_plain, &whole);
    tags_run(in, 1 + data[0] % 13, 1 + data[0] / 13, &tags_plain, &cut);
    must(str_eq(buf_view(&whole.line), buf_view(&cut.line)), &cut);
    must(str_eq(buf_view(&whole.args), buf_view(&cut.args)), &cut);
    if (whole.planned) {
        plan = json_parse(buf_view(&whole.args), &a, NULL);
        must(plan && json_get(plan, "actions")->count, &whole);
    }
    if (utf8_valid_len(in) == in.len)
        must(utf8_valid_len(buf_view(&whole.line)) == whole.line.len, &whole);
    if (!memchr(in.ptr, '<', in.len)) /* no tags at all */
        must(whole.line.len == in.len + (in.len ? 3 : 0) + strlen("final"),
             &whole);
    tags_told_free(&whole);
    tags_told_free(&cut);
    arena_free(&a);
    return 0;
}
