/*
 * body.c - what the bodies of requests have in common.
 */
#include "serve/api/api.h"

#include "base/fail.h"

enum { PARTS_MAX = 64 };

const char *ask_text(struct serve_ask *q, wend_str s)
{
    return s.ptr ? arena_str(&q->arena, s).ptr : NULL;
}

bool body_read(struct serve_ask *q, const struct field *rows, void *target)
{
    wend_error err = {0};
    struct fields f = {.arena = &q->arena, .err = &err, .whole = "the body"};
    wend_status s = fields_open_json(&f, q->body.len ? q->body : STR("{}"));

    if (s == WEND_OK)
        s = fields_read(&f, f.root, rows, target);
    if (s == WEND_OK)
        return true;
    if (s == WEND_E_NOMEM)
        respond_nomem(q);
    else
        respond_problem(q, 400, "body", f.where[0] ? f.where : NULL, NULL,
                        "line %u, column %u: %s", err.line, err.column,
                        err.message);
    return false;
}

FIELD_READ(field_tree)
{
    (void)f;
    *(const struct json **)at = j;
    return WEND_OK;
}

static FIELD_READ(read_usd)
{
    int64_t *nano = at;

    if (j->kind != JSON_NUMBER || !nano_read(j->text, nano) || *nano <= 0)
        return fields_wrong(f, j, "an amount in USD above 0");
    return WEND_OK;
}

static FIELD_READ(read_count)
{
    uint32_t *out = at;
    int64_t n;

    if (!json_i64(j, &n) || n < field->min || n > field->max)
        return fields_wrong(f, j, "a positive number");
    *out = (uint32_t)n;
    return WEND_OK;
}

FIELD_READ(field_limits)
{
    static const struct field rows[] = {
        {"turns", read_count, .offset = offsetof(wend_limits, turns), .min = 1,
         .max = 1000000},
        {"parallel", read_count, .offset = offsetof(wend_limits, parallel),
         .min = 1, .max = 64},
        {"time_ms", field_number, .offset = offsetof(wend_limits, time_ms),
         .min = 1, .max = INT64_MAX / 2000},
        {"tokens", field_number, .offset = offsetof(wend_limits, tokens),
         .min = 1, .max = INT64_MAX / 2},
        {"cost", read_usd, .offset = offsetof(wend_limits, cost_nano)},
        {.name = NULL},
    };

    return fields_read(f, j, rows, at);
}

static bool check_part(struct serve_ask *q, const wend_part *part)
{
    wend_error err;

    if (q->arena.failed) {
        respond_nomem(q);
        return false;
    }
    if (wend_part_check(part, NULL, NULL, &err) == WEND_OK)
        return true;
    respond_problem(q, 422, "part", "parts", NULL, "%s", err.message);
    return false;
}

static bool read_part(struct serve_ask *q, const struct json *j, wend_part *out)
{
    wend_str data = json_get_str(j, "data"), blob = json_get_str(j, "blob");
    struct buf bytes = {.mem = &q->server->mem};

    out->name = json_get_str(j, "name");
    if (blob.ptr && !data.ptr) {
        out->data = arena_str(&q->arena, upload_find(q, blob));
        if (!out->data.ptr) {
            respond_problem(q, 404, "part", "parts",
                            "POST /v1/blobs uploads a file",
                            "you have uploaded no such blob");
            return false;
        }
        return check_part(q, out);
    }
    if (!data.ptr || !base64_take(&bytes, data)) {
        buf_free(&bytes);
        respond_problem(q, 400, "part", "parts",
                        "each part is {\"data\":BASE64,\"name\":NAME}",
                        "a part has no data, or it is not base64");
        return false;
    }
    out->data = buf_keep(&bytes, &q->arena);
    return check_part(q, out);
}

bool body_parts(struct serve_ask *q, const struct json *list,
                const wend_part **parts, size_t *count)
{
    wend_part *all;
    size_t n = 0;

    *parts = NULL;
    *count = 0;
    if (!list)
        return true;
    if (list->kind != JSON_ARRAY || list->count > PARTS_MAX) {
        respond_problem(q, 400, "part", "parts", NULL,
                        "parts must be a list of at most %d", PARTS_MAX);
        return false;
    }
    all = arena_alloc(&q->arena, (list->count + 1) * sizeof *all);
    if (!all) {
        respond_nomem(q);
        return false;
    }
    for (const struct json *j = list->first; j; j = j->next)
        if (!read_part(q, j, &all[n++]))
            return false;
    *parts = all;
    *count = n;
    return true;
}
