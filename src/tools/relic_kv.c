/*
 * relic_kv.c - values by name in the store, each for a while: what a relic of
 * the kind kv does for the actions of plans.
 *
 * The names of a relic are its own, whichever run puts them; all runs that use
 * the store share them. A value is kept with the labels of the run that put it,
 * and a run that gets it gets them, too.
 */
#include "base/fail.h"
#include "base/label.h"
#include "base/limits.h"
#include "store/store.h"
#include "tools/tools.h"

static wend_str space_of(const struct relic_kv *kv, struct arena *a)
{
    struct buf b = {.mem = a->mem};

    buf_cstr(&b, "relic/");
    buf_str(&b, kv->name);
    return buf_keep(&b, a);
}

static wend_status take_value(struct tool_job *j, wend_call *call,
                              wend_str text)
{
    const struct json *all = json_parse_own(text, &j->arena, NULL);
    const struct json *value = json_get(all, "value");

    if (j->arena.failed)
        return fail_nomem(&j->err);
    if (!value)
        return fail(&j->err, WEND_E_CORRUPT, "the value cannot be read");
    call_bring(call, labels_read(json_get(all, "labels")));
    json_put(&j->out, value);
    return WEND_OK;
}

/* value NULL: the name is forgotten. */
static wend_status put(struct tool_job *j, wend_call *call,
                       const struct relic_kv *kv, wend_str key,
                       const struct json *value, int64_t ttl_ms)
{
    struct buf text = {.mem = &j->mem};
    struct store_fact f = {.space = space_of(kv, &j->arena),
                           .key = key,
                           .time_us = call_time_us(call)};
    wend_status s;

    if (value) {
        json_open(&text, NULL, '{');
        tool_put_labels(&text, call);
        json_add(&text, "value", value);
        json_close(&text, '}');
        f.text = buf_view(&text);
    }
    if (ttl_ms)
        f.until_us = f.time_us + ttl_ms * 1000;
    s = text.failed || j->arena.failed ? fail_nomem(&j->err)
                                       : tool_keep(j, call, &f, "true");
    buf_free(&text);
    return s;
}

/* ttl may be NULL: then it is not an argument. */
static wend_status begin(struct tool_job *j, wend_call *call, wend_str *key,
                         wend_str *ttl)
{
    wend_status s = tool_begin(
        j, call,
        TOOL_ARGS({"key", .str = key}, {ttl ? "ttl" : NULL, .str = ttl}));

    if (s == WEND_OK && (!key->len || key->len > RELIC_KEY_MAX))
        s = fail(&j->err, WEND_E_LIMIT, "the key has %zu bytes, not 1 to %d",
                 key->len, RELIC_KEY_MAX);
    return s;
}

wend_status relic_kv_put(void *ctx, wend_call *call)
{
    const struct relic_kv *kv = ctx;
    int64_t ttl_ms = kv->ttl_ms;
    const struct json *value;
    struct tool_job j;
    wend_str key = STR_NONE, ttl = STR("");
    wend_status s = begin(&j, call, &key, &ttl);

    if (s == WEND_OK && ttl.len && !str_to_ms(ttl, &ttl_ms))
        s = fail(&j.err, WEND_E_INVAL,
                 "ttl is not a duration such as 90s or 2h");
    value = s == WEND_OK ? json_get(j.args, "value") : NULL;
    if (s == WEND_OK && !value)
        s = fail(&j.err, WEND_E_INVAL, "there is no value");
    if (s == WEND_OK)
        s = put(&j, call, kv, key, value, ttl_ms);
    return tool_leave(&j, call, s); /* the answer comes from the store */
}

wend_status relic_kv_delete(void *ctx, wend_call *call)
{
    struct tool_job j;
    wend_str key = STR_NONE;
    wend_status s = begin(&j, call, &key, NULL);

    if (s == WEND_OK)
        s = put(&j, call, ctx, key, NULL, 0);
    return tool_leave(&j, call, s);
}

static bool on_fact(void *ctx, const struct store_fact *f)
{
    buf_str(ctx, f->text);
    return false;
}

wend_status relic_kv_get(void *ctx, wend_call *call)
{
    struct tool_job j;
    wend_str key = STR_NONE;
    wend_store *store = call_store(call);
    wend_status s = begin(&j, call, &key, NULL);
    struct buf text = {.mem = &j.mem};

    if (s == WEND_OK)
        s = store->ops->facts(store, space_of(ctx, &j.arena), key,
                              call_time_us(call), on_fact, &text, &j.err);
    if (s == WEND_OK && (text.failed || j.arena.failed))
        s = fail_nomem(&j.err);
    if (s == WEND_OK && text.len)
        s = take_value(&j, call, buf_view(&text));
    else if (s == WEND_OK)
        buf_cstr(&j.out, "null");
    buf_free(&text);
    return tool_end(&j, call, s);
}
