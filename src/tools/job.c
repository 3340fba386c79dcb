/*
 * job.c - what every tool does first and last: arguments in, answer out.
 *
 * Arguments were checked against the schema before the call, but a model
 * wrote them: types are checked here once more.
 */
#include "base/fail.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "host/path.h"
#include "host/walk.h"
#include "tools/tools.h"

enum { PATH_SHOWN_MAX = 200, NOTES_BYTES = 512 };

static wend_status read_str(const struct tool_arg *a, const struct json *v,
                            wend_error *err)
{
    if (v->kind != JSON_STRING)
        return fail(err, WEND_E_INVAL, "argument '%s' must be a string, not %s",
                    a->key, json_kind_name(v->kind));
    *a->str = v->text;
    return WEND_OK;
}

static wend_status read_number(const struct tool_arg *a, const struct json *v,
                               wend_error *err)
{
    int64_t n;

    if (!json_i64(v, &n) || n < a->min)
        return fail(err, WEND_E_INVAL,
                    "argument '%s' must be a whole number, at least %lld",
                    a->key, (long long)a->min);
    *a->number = n;
    return WEND_OK;
}

static wend_status read_flag(const struct tool_arg *a, const struct json *v,
                             wend_error *err)
{
    if (v->kind != JSON_TRUE && v->kind != JSON_FALSE)
        return fail(err, WEND_E_INVAL,
                    "argument '%s' must be true or false, not %s", a->key,
                    json_kind_name(v->kind));
    *a->flag = v->kind == JSON_TRUE;
    return WEND_OK;
}

static wend_status read_arg(struct tool_job *j, const struct tool_arg *a)
{
    const struct json *v = json_get(j->args, a->key);

    if (v)
        return (a->str      ? read_str
                : a->number ? read_number
                            : read_flag)(a, v, &j->err);
    if (a->str && !a->str->ptr && !a->optional)
        return fail(&j->err, WEND_E_INVAL, "argument '%s' is missing", a->key);
    return WEND_OK;
}

wend_status tool_begin(struct tool_job *j, const wend_call *call,
                       const struct tool_arg *args)
{
    wend_status s = WEND_OK;

    *j = (struct tool_job){0};
    j->arena.mem = &j->mem;
    j->out.mem = &j->mem;
    j->args = json_parse(wend_call_args(call), &j->arena, &j->err);
    if (!j->args)
        return j->err.status;
    if (j->args->kind != JSON_OBJECT)
        return fail(&j->err, WEND_E_INVAL, "arguments must be an object");
    for (; s == WEND_OK && args->key; args++)
        s = read_arg(j, args);
    return s;
}

wend_status tool_canceled(const wend_call *call, wend_error *err)
{
    return call && wend_call_canceled(call) ? fail(err, WEND_E_BUSY, "canceled")
                                            : WEND_OK;
}

bool tool_fits(struct buf *out, size_t before)
{
    if (out->failed || out->len <= OUTPUT_BYTES_MAX - NOTES_BYTES)
        return true;
    out->len = before;
    out->ptr[before] = 0;
    return false;
}

int tool_shown(wend_str path)
{
    return (int)utf8_cut(path, PATH_SHOWN_MAX);
}

static bool is_control(wend_str s)
{
    unsigned char c = (unsigned char)s.ptr[0];

    if (c == 0xC2 && s.len > 1) /* C1: U+0080 to U+009F */
        return (unsigned char)s.ptr[1] < 0xA0;
    return c < 0x20 || c == 0x7F;
}

void tool_put_name(struct buf *out, wend_str s)
{
    size_t valid = utf8_valid_len(s), n;

    while (s.len) {
        n = valid ? utf8_take((wend_str){s.ptr, valid}, 1) : 1;
        if (n == 1 && s.ptr[0] == '\\')
            buf_cstr(out, "\\\\");
        else if (valid && !is_control(s))
            buf_add(out, s.ptr, n);
        else
            for (size_t i = 0; i < n; i++)
                buf_fmt(out, "\\x%02x", (unsigned char)s.ptr[i]);
        s = str_skip(s, n);
        valid = valid ? valid - n : utf8_valid_len(s);
    }
}

void tool_put_kept(struct buf *out, size_t hidden, size_t closed)
{
    if (hidden)
        buf_fmt(out, "[%zu left out: a rule denies reading them]\n", hidden);
    if (closed)
        buf_fmt(out,
                "[%zu files were not opened: they may hold secrets, or a rule "
                "asks first; name one to be asked]\n",
                closed);
}

void tool_put_gaps(struct buf *out, const struct walk *w)
{
    struct walk_gaps g = walk_gaps(w);

    if (g.unreadable)
        buf_fmt(out, "[%zu directories could not be read]\n", g.unreadable);
    if (g.too_deep)
        buf_fmt(out, "[nothing more than %d directories deep was looked at]\n",
                WALK_DEPTH_MAX);
    if (g.too_many)
        buf_fmt(out, "[stopped after %d entries; name a directory]\n",
                WALK_ENTRIES_MAX);
}

wend_status tool_end(struct tool_job *j, wend_call *call, wend_status s)
{
    if (!s && j->out.failed)
        s = fail_nomem(&j->err);
    if (s && call_hides_files(call))
        path_unname(&j->err); /* it may be one of the hidden */
    /* Both only fail for calls that have their answer already. */
    if (s)
        (void)wend_call_fail(call, j->err.message);
    else
        (void)wend_call_return(call, buf_view(&j->out));
    return tool_leave(j, call, WEND_OK);
}

wend_status tool_leave(struct tool_job *j, wend_call *call, wend_status s)
{
    if (s != WEND_OK)
        return tool_end(j, call, s);
    buf_free(&j->out);
    arena_free(&j->arena);
    return WEND_OK;
}
