/*
 * agent_models.c - the models of an agent: its own, and those in its place.
 *
 * Each is `provider:model`, with `@URL` behind it if it is asked elsewhere
 * than at the agent's base URL (the same provider) or the provider's own.
 */
#include "lib/agent/agent.h"

#include <assert.h>
#include <string.h>

#include "base/fail.h"
#include "base/header.h"
#include "base/utf8.h"
#include "core/media/media.h"
#include "lib/agent/wishes.h"
#include "lib/model/pool.h"
#include "lib/run/run.h"

/* A model between its text and its driver. */
struct candidate {
    char *spec; /* provider:model */
    char *url;  /* NULL: not said */
    char *dir;  /* of its tape; NULL: none */
    char *key;
    wend_str name; /* in events */
    bool aside;    /* for summaries alone */
    struct model facts;
    struct wish wish;
};

struct candidates {
    struct mem *mem;
    struct arena arena;
    size_t count;
    size_t summary; /* of the list; 0: as the run */
    struct candidate list[FALLBACKS_MAX + 1];
    struct pool_model models[FALLBACKS_MAX + 1];
};

static char *text_of(struct candidates *c, wend_str s)
{
    return (char *)(uintptr_t)arena_str(&c->arena, s).ptr;
}

static char *join(struct candidates *c, const char *a, const char *b,
                  const char *rest)
{
    struct buf text = {.mem = c->mem};

    buf_cstr(&text, a);
    buf_cstr(&text, b);
    buf_cstr(&text, rest);
    return (char *)(uintptr_t)buf_keep(&text, &c->arena).ptr;
}

static wend_str provider_of(const char *spec)
{
    const char *colon = strchr(spec, ':');

    return (wend_str){spec, colon ? (size_t)(colon - spec) : 0};
}

/* Where the URL begins: names of models may contain @, too. */
static const char *url_in(const char *text)
{
    static const char *const begins[] = {"@http://", "@https://", "@unix:"};

    for (const char *at = strchr(text, '@'); at; at = strchr(at + 1, '@'))
        for (size_t i = 0; i < 3; i++)
            if (str_starts(str_of(at), begins[i]))
                return at;
    return NULL;
}

static void split(struct candidates *c, struct candidate *x, const char *text)
{
    const char *at = str_starts(str_of(text), "script:") ? NULL : url_in(text);

    x->spec =
        text_of(c, at ? (wend_str){text, (size_t)(at - text)} : str_of(text));
    x->url = at ? text_of(c, str_of(at + 1)) : NULL;
}

/* The address of the first model also serves fallbacks of the same provider
 * that name none. */
static void place(struct candidates *c, struct candidate *x,
                  const wend_agent_options *o, size_t i)
{
    const struct candidate *first = &c->list[0];
    const char *dir = o->record_dir ? o->record_dir : o->playback_dir;
    char number[] = "/fallback-0";

    if (!x->url && o->base_url &&
        (!i || str_eq(provider_of(x->spec), provider_of(first->spec))))
        x->url = text_of(c, str_of(o->base_url));
    if (i && dir && !str_is(provider_of(x->spec), "script")) {
        number[sizeof number - 2] = (char)('0' + i);
        x->dir = join(c, dir, number, "");
    } else if (!i && dir) {
        x->dir = text_of(c, str_of(dir));
    }
    x->key = join(c, x->spec, x->url ? "@" : "", x->url ? x->url : "");
}

static struct driver_options options_of(const struct candidates *c,
                                        const wend_agent_options *o, size_t i)
{
    const struct candidate *x = &c->list[i];
    bool related = str_eq(provider_of(x->spec), provider_of(c->list[0].spec));

    return (struct driver_options){
        .base_url = x->url,
        .headers = x->wish.headers,
        .key_file = related ? o->key_file : NULL,
        .ca_file = o->ca_file,
        /* The model's own maximum need not be said. */
        .output_tokens = x->facts.source ? o->output_tokens : x->facts.output,
        .effort = (enum effort)o->effort,
        .record_dir = o->record_dir ? x->dir : NULL,
        .playback_dir = o->playback_dir ? x->dir : NULL,
        .whole_ms = o->model_timeout_ms ? o->model_timeout_ms : MODEL_CALL_MS,
        .tape_may_be_empty = i > 0,
        .http2 = o->http2,
        .insecure_http = o->insecure_http,
    };
}

/* Events name a model, so names are unique: a second model of the same name is
 * called by its whole specification. */
static wend_status name_it(struct candidates *c, size_t i, wend_error *err)
{
    struct candidate *x = &c->list[i];

    x->name = c->models[i].driver->model;
    for (size_t n = 0; n < i; n++) {
        if (!strcmp(c->list[n].key, x->key))
            return fail(err, WEND_E_INVAL,
                        "agent: model '%.200s' is there twice", x->key);
        if (str_eq(c->list[n].name, x->name))
            x->name = str_of(x->key);
    }
    x->name = utf8_keep(x->name, &c->arena);
    return c->arena.failed ? fail_nomem(err) : WEND_OK;
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

static wend_status wish(struct candidates *c, const wend_agent_options *o,
                        size_t i, wend_error *err)
{
    const struct candidate *first = &c->list[0];
    struct candidate *x = &c->list[i];
    wend_str provider = provider_of(x->spec);
    bool same_api = str_eq(provider, provider_of(first->spec));
    struct wish_model m = {.options = o,
                           .facts = &x->facts,
                           .codec = codec_find(provider),
                           .first = !i,
                           .same_api = same_api,
                           .same_place =
                               same_api && same_text(x->url, first->url)};

    return wish_make(&m, &c->arena, &x->wish, err);
}

static wend_status add(struct candidates *c, const wend_agent_options *o,
                       const char *text, wend_error *err)
{
    size_t i = c->count;
    struct candidate *x = &c->list[i];
    wend_status s;

    assert(i <= FALLBACKS_MAX);
    if (!text)
        return fail(err, WEND_E_INVAL, "agent: fallback %zu is NULL", i);
    split(c, x, text);
    if (!c->arena.failed)
        place(c, x, o, i);
    if (c->arena.failed)
        return fail_nomem(err);
    s = model_facts(o, x->spec, x->url != NULL, &c->arena, &x->facts, err);
    if (s == WEND_OK)
        s = wish(c, o, i, err);
    if (s == WEND_OK)
        s = driver_open(x->spec, options_of(c, o, i), c->mem,
                        &c->models[i].driver, err);
    if (s != WEND_OK)
        return s;
    c->count++;
    c->models[i].key = x->key;
    c->models[i].concurrency = (uint32_t)x->facts.concurrency;
    return name_it(c, i, err);
}

static void put_media(struct buf *b, uint32_t types)
{
    if (!types)
        return;
    json_open(b, "media", '[');
    for (int i = 0; i < MEDIA_TYPES; i++)
        if (types & 1u << i)
            json_add_str(b, NULL, str_of(media_type_names[i]));
    json_close(b, ']');
}

static void put_facts(struct buf *b, const struct model *facts,
                      const struct driver *d)
{
    int64_t output =
        facts->output && !facts->source ? facts->output : d->output_tokens;

    if (facts->window)
        json_add_i64(b, "context_tokens", facts->window);
    if (facts->no_tools)
        json_add_bool(b, "no_tool_calls", true);
    put_media(b, facts->media);
    if (output) /* that a request allows; a budget may leave less */
        json_add_i64(b, "output_tokens", output);
    if (facts->output && facts->source)
        json_add_i64(b, "output_max", facts->output);
    if (!facts->price.known)
        return;
    json_open(b, "price", '{');
    json_add_i64(b, "input", facts->price.input);
    json_add_i64(b, "cached", facts->price.cached);
    json_add_i64(b, "output", facts->price.output);
    if (facts->price.cache_write >= 0)
        json_add_i64(b, "cache_write", facts->price.cache_write);
    json_close(b, '}');
}

/* As they were written: the values of their variables stay out of the log. */
static void put_headers(struct buf *b, const wend_agent_options *o)
{
    wend_str name, value;

    if (!o->headers_count)
        return;
    json_open(b, "headers", '{');
    for (size_t i = 0; i < o->headers_count; i++)
        if (header_split(str_of(o->headers[i]), &name, &value)) {
            json_add_str(b, NULL, name);
            buf_char(b, ':');
            json_put_str(b, value);
        }
    json_close(b, '}');
}

static void put(struct buf *b, const struct candidates *c,
                const wend_agent_options *o)
{
    put_headers(b, o);
    for (size_t i = 0; i < c->count; i++) {
        const struct candidate *x = &c->list[i];

        if (i == 1)
            json_open(b, "fallback", '[');
        if (i) {
            json_open(b, NULL, '{');
            agent_put(b, "name", x->name.ptr);
            if (x->aside)
                json_add_bool(b, "aside", true);
        }
        agent_put(b, "model", x->spec);
        if (x->url)
            agent_put(b, "base_url", x->url);
        put_facts(b, &x->facts, c->models[i].driver);
        params_put(b, &x->wish.params);
        if (i)
            json_close(b, '}');
    }
    if (c->count > 1)
        json_close(b, ']');
    if (c->summary)
        agent_put(b, "summary_model", c->list[c->summary].name.ptr);
}

wend_str agent_blank(const wend_agent *a, wend_str text, struct arena *out)
{
    bool any = false;

    for (size_t i = 0; text.len && i < a->keys_count; i++)
        any |=
            memmem(text.ptr, text.len, a->keys[i].ptr, a->keys[i].len) != NULL;
    if (!any)
        return text;
    text = arena_str(out, text);
    redact_list(a->keys, a->keys_count, (char *)(uintptr_t)text.ptr, text.len);
    return text;
}

wend_status agent_hide(wend_agent *a, wend_str secret, wend_error *err)
{
    if (secret.len < SECRET_BYTES_MIN)
        return WEND_OK; /* a word, and no secret */
    for (size_t i = 0; i < a->keys_count; i++)
        if (str_eq(a->keys[i], secret))
            return WEND_OK;
    if (a->keys_count == KEYS_MAX)
        return fail(err, WEND_E_LIMIT,
                    "agent: over %d different keys and secrets", KEYS_MAX);
    secret = arena_str(&a->arena, secret);
    if (!secret.ptr) {
        a->arena.failed = false; /* the agent is as it was */
        return fail_nomem(err);
    }
    a->keys[a->keys_count++] = secret;
    agent_changed(a); /* its config may quote the value */
    return WEND_OK;
}

/* Each run is told what is not sent to a model in the first one's place. */
static void tell_dropped(wend_agent *a, const struct candidates *c)
{
    for (size_t i = 0; i < c->count; i++)
        for (size_t n = 0; n < c->list[i].wish.dropped_count; n++) {
            struct trouble t = {.warning = true, .code = STR("param_dropped")};
            struct buf text = {.mem = &a->mem};

            buf_fmt(&text, "the fallback %.*s: %.*s", STR_ARGS(c->list[i].name),
                    STR_ARGS(c->list[i].wish.dropped[n]));
            t.message = buf_view(&text);
            if (!text.failed)
                agent_trouble(a, &t, true);
            buf_free(&text);
        }
}

/* Values of variables in headers. */
static wend_status hide_headers(wend_agent *a, const struct candidates *c,
                                wend_error *err)
{
    wend_status s = WEND_OK;

    for (size_t i = 0; i < c->count; i++) {
        const struct driver *d = c->models[i].driver;

        for (size_t n = 0; s == WEND_OK && n < d->secrets_count; n++)
            s = agent_hide(a, d->secrets[n], err);
    }
    return s;
}

static void note_keys(wend_agent *a, const struct candidates *c)
{
    assert(!a->keys_count); /* the first, so that there is room */
    for (size_t i = 0; i < c->count; i++)
        if (c->models[i].driver->key.len >= SECRET_BYTES_MIN)
            a->keys[a->keys_count++] = c->models[i].driver->key;
}

/* One that is there already is not added once more. */
static wend_status add_summary(struct candidates *c,
                               const wend_agent_options *o, wend_error *err)
{
    struct candidate x = {0};
    size_t at = 0;
    wend_status s;

    if (!o->summary_model)
        return WEND_OK;
    split(c, &x, o->summary_model);
    if (!c->arena.failed)
        place(c, &x, o, c->count);
    if (c->arena.failed)
        return fail_nomem(err);
    while (at < c->count && strcmp(c->list[at].key, x.key) != 0)
        at++;
    c->summary = at;
    if (at < c->count)
        return WEND_OK;
    if (at > FALLBACKS_MAX)
        return fail(err, WEND_E_LIMIT,
                    "agent: over %d fallback models, the summary model "
                    "included",
                    FALLBACKS_MAX);
    s = add(c, o, o->summary_model, err);
    c->list[at].aside = true;
    return s;
}

wend_status agent_models(wend_agent *a, const wend_agent_options *o,
                         wend_error *err)
{
    struct candidates c = {.mem = &a->rt->mem, .arena.mem = &a->rt->mem};
    wend_status s = o->fallbacks_count > FALLBACKS_MAX
                        ? fail(err, WEND_E_LIMIT,
                               "agent: over %d fallback models", FALLBACKS_MAX)
                        : add(&c, o, o->model, err);

    for (size_t i = 0; s == WEND_OK && i < o->fallbacks_count; i++)
        s = add(&c, o, o->fallbacks ? o->fallbacks[i] : NULL, err);
    if (s == WEND_OK)
        s = add_summary(&c, o, err);
    if (s == WEND_OK) {
        a->no_tool_calls = c.list[0].facts.no_tools;
        put(&a->rest_json, &c, o);
        s = pool_open(c.models, c.count, &a->rt->mem, &a->driver, err);
        if (s == WEND_OK) {
            note_keys(a, &c);
            s = hide_headers(a, &c, err);
            tell_dropped(a, &c);
        }
    } else {
        for (size_t i = 0; i < c.count; i++)
            c.models[i].driver->ops->free(c.models[i].driver);
    }
    arena_free(&c.arena);
    return s;
}
