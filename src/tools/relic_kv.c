/*
 * relic_kv.c - values by name in the store, each for a while: what a relic of
 * the kind kv does for the actions of plans.
 *
 * The names of a relic are its own, whatever run puts them there; all runs
 * that use the store share them. A value is kept with the labels of the run
 * that put it: whoever gets it has them, too.
 */
#include "base/fail.h"
#include "base/label.h"
#include "base/limits.h"
#include "store/store.h"
#include "tools/tools.h"

static wend_str space_of(const struct relic_kv *kv, struct arena *a)
{
    struct buf b = {.mem = a->mem};
    wend_str s;

    buf_cstr(&b, "relic/");
    buf_str(&b, kv->name);
    s = arena_str(a, buf_view(&b));
    a->failed |= b.failed;
    buf_free(&b);
    return s;
}

/* That it had an effect somewhere says nothing about the value. */
static void put_value(struct buf *b, const wend_call *call,
                      const struct json *value)
{
    buf_cstr(b, "{\"labels\":[");
    labels_put(b, call_labels(call) & ~(uint32_t)WEND_LABEL_EXTERNAL_EFFECT);
    buf_cstr(b, "],\"value\":");
    json_put(b, value);
    buf_char(b, '}');
}

static wend_status take_value(struct tool_job *j, wend_call *call,
                              wend_str text)
{
    const struct json *all = json_parse_own(text, &j->arena, NULL);
    const struct json *value = json_get(all, "value");
    const struct json *l = json_get(all, "labels");
    uint32_t labels = 0;

    if (j->arena.failed)
        return fail_nomem(&j->err);
    if (!value)
        return fail(&j->err, WEND_E_CORRUPT, "the value cannot be read");
    for (l = l ? l->first : NULL; l; l = l->next)
        labels |= label_of(json_str(l));
    call_bring(call, labels);
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
        put_value(&text, call, value);
        f.text = buf_view(&text);
    }
    if (ttl_ms)
        f.until_us = f.time_us + ttl_ms * 1000;
    s = text.failed || j->arena.failed ? fail_nomem(&j->err)
                                       : tool_keep(j, call, &f, "true");
    buf_free(&text);
    return s;
}

static wend_status read_key(struct tool_job *j, wend_str *key)
{
    wend_status s = tool_str(j, "key", key);

    if (s == WEND_OK && (!key->len || key->len > RELIC_KEY_MAX))
        s = fail(&j->err, WEND_E_LIMIT, "the key has %zu bytes, not 1 to %d",
                 key->len, RELIC_KEY_MAX);
    return s;
}

static wend_status read_ttl(struct tool_job *j, int64_t *ttl_ms)
{
    wend_str text = STR("");
    wend_status s = tool_str(j, "ttl", &text);

    if (s == WEND_OK && text.len && !str_to_ms(text, ttl_ms))
        s = fail(&j->err, WEND_E_INVAL, "ttl is no time such as 90s or 2h");
    return s;
}

wend_status relic_kv_put(void *ctx, wend_call *call)
{
    const struct relic_kv *kv = ctx;
    int64_t ttl_ms = kv->ttl_ms;
    const struct json *value;
    struct tool_job j;
    wend_str key = STR_NONE;
    wend_status s = tool_begin(&j, call);

    if (s == WEND_OK)
        s = read_key(&j, &key);
    if (s == WEND_OK)
        s = read_ttl(&j, &ttl_ms);
    value = s == WEND_OK ? json_get(j.args, "value") : NULL;
    if (s == WEND_OK && !value)
        s = fail(&j.err, WEND_E_INVAL, "there is no value");
    if (s == WEND_OK)
        s = put(&j, call, kv, key, value, ttl_ms);
    if (s != WEND_OK)
        return tool_end(&j, call, s);
    arena_free(&j.arena); /* the answer comes from the store */
    return WEND_OK;
}

wend_status relic_kv_delete(void *ctx, wend_call *call)
{
    struct tool_job j;
    wend_str key = STR_NONE;
    wend_status s = tool_begin(&j, call);

    if (s == WEND_OK)
        s = read_key(&j, &key);
    if (s == WEND_OK)
        s = put(&j, call, ctx, key, NULL, 0);
    if (s != WEND_OK)
        return tool_end(&j, call, s);
    arena_free(&j.arena);
    return WEND_OK;
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
    wend_status s = tool_begin(&j, call);
    struct buf text = {.mem = &j.mem};

    if (s == WEND_OK)
        s = read_key(&j, &key);
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
