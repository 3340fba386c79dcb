/*
 * fuzz_plan_scan.c - actions found in a plan that is being written: the same
 * however it is cut, and those that a reader of the whole sees.
 */
#include <stdlib.h>

#include "base/json.h"
#include "core/plan/plan_scan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void scan_cut(struct plan_scan *s, wend_str text, unsigned seed)
{
    size_t at = 0;

    while (at < text.len) {
        seed = seed * 1664525u + 1013904223u;
        at += 1 + (seed >> 24) % 9;
        if (at > text.len)
            at = text.len;
        plan_scan(s, (wend_str){text.ptr, at});
    }
}

/* Of a plan that is one, all actions were found. */
static void compare(const struct plan_scan *s, wend_str text)
{
    struct mem mem = {0};
    struct arena a = {.mem = &mem};
    const struct json *root = json_parse(text, &a, NULL), *list = NULL;
    size_t n = 0;

    if (root && root->kind == JSON_OBJECT && root->count == 1 &&
        str_is(root->first->key, "actions") && text.len > 11 &&
        !memchr(text.ptr, '\\', text.len))
        list = root->first;
    for (const struct json *j = list && list->kind == JSON_ARRAY ? list->first
                                                                 : NULL;
         j && j->kind == JSON_OBJECT; j = j->next, n++) {
        struct json *found;

        if (n >= plan_scan_count(s))
            abort();
        found = json_parse(plan_scan_get(s, text, n), &a, NULL);
        if (!found || found->kind != JSON_OBJECT || found->count != j->count)
            abort();
    }
    arena_free(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    wend_str text = {(const char *)data, size};
    struct mem mem = {0};
    struct plan_scan whole = {.actions = {.mem = &mem}}, cut = whole;

    plan_scan(&whole, text);
    scan_cut(&cut, text, size ? data[size - 1] : 0);
    if (plan_scan_count(&whole) != plan_scan_count(&cut))
        abort();
    for (size_t i = 0; i < plan_scan_count(&whole); i++) {
        wend_str action = plan_scan_get(&whole, text, i);

        if (!str_eq(action, plan_scan_get(&cut, text, i)) ||
            action.ptr[0] != '{' || action.ptr[action.len - 1] != '}')
            abort();
    }
    compare(&whole, text);
    buf_free(&whole.actions);
    buf_free(&cut.actions);
    return 0;
}
