/*
 * relic_kv.c - values by name in the store, each for a while: what a relic of
 * the kind kv does for the actions of plans.
 *
 * The names of a relic are its own, whatever run puts them there; all runs
 * that use the store share them.
 */
#include "base/fail.h"
#include "base/limits.h"
#include "store/store.h"
#include "tools/tools.h"

struct putting {
    struct store_keep keep;
    struct mem mem;
    struct arena arena; /* the fact's strings */
    wend_call *call;
};

/* On the store's thread, or from inside keep. */
static void on_kept(struct store_keep *k, wend_status s)
{
    struct putting *x = (struct putting *)(void *)k;
    struct mem m = x->mem;

    if (s == WEND_OK)
        wend_call_return(x->call, STR("true"));
    else
        wend_call_fail(x->call, s == WEND_E_NOMEM ? "out of memory"
                                                  : "the store failed");
    arena_free(&x->arena);
    mem_free(&m, x);
}

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

/* value NULL: the name is forgotten. */
static wend_status put(struct tool_job *j, wend_call *call,
                       const struct relic_kv *kv, wend_str key,
                       const struct json *value, int64_t ttl_ms)
{
    struct mem m = call_mem(call);
    struct putting *x = mem_zalloc(&m, sizeof *x);
    struct buf text = {.mem = &m};
    struct store_fact *f;

    if (!x)
        return fail_nomem(&j->err);
    x->mem = m;
    x->arena.mem = &x->mem;
    x->call = call;
    x->keep.done = on_kept;
    f = &x->keep.fact;
    f->space = space_of(kv, &x->arena);
    f->key = arena_str(&x->arena, key);
    if (value) {
        json_put(&text, value);
        f->text = arena_str(&x->arena, buf_view(&text));
    }
    f->time_us = call_time_us(call);
    if (ttl_ms)
        f->until_us = f->time_us + ttl_ms * 1000;
    if (text.failed || x->arena.failed) {
        buf_free(&text);
        arena_free(&x->arena);
        mem_free(&m, x);
        return fail_nomem(&j->err);
    }
    buf_free(&text);
    call_store(call)->ops->keep(call_store(call), &x->keep);
    return WEND_OK;
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
    struct tool_job *j = ctx;

    buf_str(&j->out, f->text);
    return false;
}

wend_status relic_kv_get(void *ctx, wend_call *call)
{
    struct tool_job j;
    wend_str key = STR_NONE;
    wend_store *store = call_store(call);
    wend_status s = tool_begin(&j, call);

    if (s == WEND_OK)
        s = read_key(&j, &key);
    if (s == WEND_OK)
        s = store->ops->facts(store, space_of(ctx, &j.arena), key,
                              call_time_us(call), on_fact, &j, &j.err);
    if (s == WEND_OK && !j.out.len)
        buf_cstr(&j.out, "null");
    return tool_end(&j, call, s);
}
