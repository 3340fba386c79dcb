/*
 * plans.c - POST /v1/plans/check: a plan is read and described, not run.
 */
#include "serve/api/api.h"

void api_plan_check(struct serve_ask *q)
{
    static const struct field rows[] = {
        {"plan", field_text, .offset = 0, .needed = true}, {.name = NULL}};
    const wend_plan_options o = {.size = sizeof o};
    struct buf b = {.mem = &q->server->mem};
    wend_str text = STR_NONE, json;
    wend_plan *plan = NULL;
    wend_error err;
    wend_status s;

    if (!body_read(q, rows, &text))
        return;
    s = wend_plan_parse(text, &o, &plan, &err);
    if (s == WEND_OK)
        s = wend_plan_describe(plan, WEND_PLAN_JSON, &json, &err);
    json_open(&b, NULL, '{');
    json_add_bool(&b, "ok", s == WEND_OK);
    if (s == WEND_OK) {
        json_add_raw(&b, "plan", json);
    } else {
        json_open(&b, "errors", '[');
        json_open(&b, NULL, '{');
        json_add_i64(&b, "line", err.line);
        json_add_i64(&b, "column", err.column);
        json_add_str(&b, "message", str_of(err.message));
        json_close(&b, '}');
        json_close(&b, ']');
    }
    json_close(&b, '}');
    wend_plan_free(plan);
    if (s == WEND_E_NOMEM)
        b.failed = true;
    respond_json(q, 200, &b);
}
