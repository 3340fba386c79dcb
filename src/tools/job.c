/*
 * job.c - what every tool does first and last: arguments in, answer out.
 *
 * Arguments were checked against the schema before the call, but a model
 * wrote them: types are looked at here once more, and nothing is trusted.
 */
#include "base/fail.h"
#include "tools/tools.h"

wend_status tool_begin(struct tool_job *j, const wend_call *call)
{
    *j = (struct tool_job){0};
    j->arena.mem = &j->mem;
    j->out.mem = &j->mem;
    j->args = json_parse(wend_call_args(call), &j->arena, &j->err);
    if (!j->args)
        return j->err.status;
    if (j->args->kind != JSON_OBJECT)
        return fail(&j->err, WEND_E_INVAL, "arguments must be an object");
    return WEND_OK;
}

wend_status tool_str(struct tool_job *j, const char *key, wend_str *out)
{
    const struct json *v = json_get(j->args, key);

    if (!v && out->ptr)
        return WEND_OK;
    if (!v)
        return fail(&j->err, WEND_E_INVAL, "argument '%s' is missing", key);
    if (v->kind != JSON_STRING)
        return fail(&j->err, WEND_E_INVAL,
                    "argument '%s' must be a string, not %s", key,
                    json_kind_name(v->kind));
    *out = v->text;
    return WEND_OK;
}

wend_status tool_i64(struct tool_job *j, const char *key, int64_t min,
                     int64_t *out)
{
    const struct json *v = json_get(j->args, key);
    int64_t n;

    if (!v)
        return WEND_OK;
    if (!json_i64(v, &n) || n < min)
        return fail(&j->err, WEND_E_INVAL,
                    "argument '%s' must be a whole number, at least %lld", key,
                    (long long)min);
    *out = n;
    return WEND_OK;
}

wend_status tool_end(struct tool_job *j, wend_call *call, wend_status s)
{
    if (!s && j->out.failed)
        s = fail_nomem(&j->err);
    /* Both only fail for calls that nobody waits for any more. */
    if (s)
        (void)wend_call_fail(call, j->err.message);
    else
        (void)wend_call_return(call, buf_view(&j->out));
    buf_free(&j->out);
    arena_free(&j->arena);
    return WEND_OK;
}
