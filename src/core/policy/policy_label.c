/*
 * policy_label.c - rows that label calls without deciding about them.
 */
#include "core/policy/policy.h"

#include <string.h>

#include "base/fail.h"
#include "base/label.h"

static wend_status no_row(wend_str text, const char *why, wend_error *err)
{
    return fail(err, WEND_E_INVAL,
                "'%.*s' %s; write labels and a tool, such as "
                "sensitive=read_file(.env*); labels are untrusted_source, "
                "sensitive and external_effect",
                (int)(text.len < 100 ? text.len : 100), text.ptr, why);
}

wend_status label_row_parse(wend_str text, struct label_row *out,
                            wend_error *err)
{
    const char *equals = text.len ? memchr(text.ptr, '=', text.len) : NULL;
    wend_str names, rule;
    wend_status s;

    memset(out, 0, sizeof *out);
    if (!equals)
        return no_row(text, "has no =", err);
    names = (wend_str){text.ptr, (size_t)(equals - text.ptr)};
    rule = (wend_str){equals + 1, text.len - names.len - 1};
    while (names.len) {
        const char *comma = memchr(names.ptr, ',', names.len);
        wend_str name = {names.ptr,
                         comma ? (size_t)(comma - names.ptr) : names.len};
        uint32_t label = label_of(name);

        if (!label)
            return no_row(text, "names a label that there is not", err);
        out->labels |= label;
        names.ptr += name.len + (comma != NULL);
        names.len -= name.len + (comma != NULL);
    }
    if (!out->labels)
        return no_row(text, "names no label", err);
    if (rule.len && (rule.ptr[0] == '!' || rule.ptr[0] == '?'))
        return no_row(text, "decides", err);
    s = rule_parse(rule, &out->rule, err);
    /* It holds for all that lies beneath, as what denies does. */
    out->rule.decision = WEND_DECISION_DENY;
    out->text = text;
    return s;
}

static bool fits(const struct label_row *row, const struct rule_subject *q)
{
    const struct rule_set alone = {NULL, &row->rule, 1};

    return rule_fits(&row->rule, q) ||
           (q->path.ptr && q->tool->access &&
            rule_keeps(&alone, q->root, q->path, q->tool->access));
}

uint32_t label_rows_for(const struct label_rows *rows,
                        const struct rule_subject *q)
{
    uint32_t labels = 0;

    for (size_t i = 0; i < rows->count; i++)
        if (fits(&rows->list[i], q))
            labels |= rows->list[i].labels;
    return labels;
}

wend_status label_rows_read(const struct json *list, struct arena *a,
                            struct label_rows *out, wend_error *err)
{
    struct label_row *rows;
    wend_status s = WEND_OK;

    *out = (struct label_rows){NULL, 0};
    if (!list || !list->count)
        return WEND_OK;
    rows = arena_alloc(a, list->count * sizeof *rows);
    if (!rows)
        return fail_nomem(err);
    out->list = rows;
    for (const struct json *j = list->first; j && s == WEND_OK; j = j->next)
        s = label_row_parse(json_str(j), &rows[out->count++], err);
    return s;
}

void label_rows_put(struct buf *b, const struct label_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        buf_cstr(b, i ? "," : ",\"labels\":[");
        json_put_str(b, rows->list[i].text);
    }
    buf_cstr(b, rows->count ? "]" : "");
}
