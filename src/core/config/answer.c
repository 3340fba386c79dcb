/*
 * answer.c - is a final answer what the agent's schema asks for?
 */
#include "core/config/config.h"

#include "base/ascii.h"

wend_str answer_json(wend_str text)
{
    static const char fence[] = "```";
    enum { FENCE = sizeof fence - 1 };
    wend_str all = str_trim(text, is_space), s = all, word = {all.ptr, 0};

    if (s.len < 2 * FENCE || !str_starts(s, fence) || !str_ends(s, fence))
        return all;
    s = (wend_str){s.ptr + FENCE, s.len - 2 * FENCE};
    word.ptr = s.ptr;
    while (word.len < s.len && !is_space(s.ptr[word.len]))
        word.len++;
    if (str_is(word, "json") || str_is(word, "JSON"))
        s = str_skip(s, word.len);
    return str_trim(s, is_space);
}

bool answer_fits(const struct schema *schema, wend_str text,
                 struct arena *scratch, struct buf *why)
{
    struct buf rule = {.mem = why->mem};
    wend_str json = answer_json(text);
    const struct json *value = NULL;
    wend_error err = {0};
    bool fits = false;

    if (json.len)
        value = json_parse(json, scratch, &err);
    if (value)
        fits = schema_check(schema, value, &rule);
    if (value && !fits)
        buf_cstr(why, "the answer does not fit its schema: ");
    else if (!json.len)
        buf_cstr(why, "the answer is empty, not JSON");
    else if (!value)
        buf_fmt(why, "the answer is not JSON: line %u, column %u: %s",
                (unsigned)err.line, (unsigned)err.column, err.message);
    buf_str(why, buf_view(&rule));
    why->failed |= rule.failed;
    buf_free(&rule);
    return fits;
}
