/*
 * schema_plain.c - rules for strings and numbers, and how many of a thing.
 */
#include "core/schema/schema_node.h"

#include "base/utf8.h"

enum { TEXT_MAX = 40 }; /* bytes shown of a number; more of a pattern */

bool schema_check_range(struct schema_check *c, const struct schema_range *r,
                        int64_t count, const char *what, const char *suffix)
{
    bool few = r->min.set && count < r->min.n;
    bool many = r->max.set && count > r->max.n;

    if (!few && !many)
        return true;
    return schema_wrong(c, "must have at %s %lld %s (%s%s), has %lld",
                        few ? "least" : "most",
                        (long long)(few ? r->min.n : r->max.n), what,
                        few ? "min" : "max", suffix, (long long)count);
}

bool schema_found(struct schema_check *c, const struct schema_pattern *p,
                  wend_str text)
{
    wend_error err = {0};

    switch (regex_search(p->regex, text, &c->work, NULL, &err)) {
    case REGEX_YES: return true;
    case REGEX_NO: return false;
    case REGEX_LIMIT:
        return schema_stop(c, "takes too much work to match a pattern");
    case REGEX_ERROR: break;
    }
    return err.status == WEND_E_NOMEM
               ? schema_stop_nomem(c)
               : schema_stop(c, "cannot be matched with a pattern");
}

bool schema_check_string(struct schema_check *c, const struct schema_string *s,
                         const struct json *v)
{
    const struct schema_pattern *p = &s->pattern;

    if ((s->range.min.set || s->range.max.set) &&
        !schema_check_range(c, &s->range, (int64_t)utf8_count(v->text),
                            "characters", "Length"))
        return false;
    if (!p->regex || schema_found(c, p, v->text))
        return true;
    return schema_wrong(c, "does not match the pattern '%.*s'",
                        (int)utf8_cut(p->text, 4 * TEXT_MAX), p->text.ptr);
}

bool schema_check_number(struct schema_check *c, const struct schema_node *n,
                         const struct json *v)
{
    static const struct {
        const char *words, *keyword;
        int wrong_side; /* of the bound */
        bool equal_ok;
    } rules[BOUND_COUNT] = {
        [BOUND_MIN] = {"at least", "minimum", -1, true},
        [BOUND_MAX] = {"at most", "maximum", 1, true},
        [BOUND_ABOVE] = {"above", "exclusiveMinimum", -1, false},
        [BOUND_BELOW] = {"below", "exclusiveMaximum", 1, false},
    };
    const bool exclusive[BOUND_COUNT] = {
        [BOUND_MIN] = n->exclusive_min, [BOUND_MAX] = n->exclusive_max};
    const struct schema_bound *b = n->number->bounds;
    struct decimal d = decimal_of(v->text);

    for (int i = 0; i < BOUND_COUNT; i++) {
        int side = b[i].text.ptr ? decimal_compare(&d, &b[i].limit) : 0;

        if (!b[i].text.ptr || (side && side != rules[i].wrong_side) ||
            (!side && rules[i].equal_ok && !exclusive[i]))
            continue;
        return schema_wrong(
            c, "must be %s %.*s (%s), is %.*s",
            exclusive[i] ? rules[i + BOUND_ABOVE].words : rules[i].words,
            (int)utf8_cut(b[i].text, TEXT_MAX), b[i].text.ptr, rules[i].keyword,
            (int)utf8_cut(v->text, TEXT_MAX), v->text.ptr);
    }
    b = &n->number->multiple;
    if (!b->text.ptr || decimal_multiple(&d, &b->limit))
        return true;
    return schema_wrong(c, "must be a multiple of %.*s (multipleOf), is %.*s",
                        (int)b->text.len, b->text.ptr,
                        (int)utf8_cut(v->text, TEXT_MAX), v->text.ptr);
}
