/*
 * agent_wishes.c - what an agent asks of requests to each of its models:
 * parameters, more fields, headers.
 *
 * What the agent says counts before what the file of models says. `extra` is
 * for the API of the first model, headers are for its address: other models
 * get those of the file of models alone.
 */
#include "lib/agent/wishes.h"

#include <assert.h>
#include <string.h>

#include "base/fail.h"
#include "base/header.h"
#include "base/limits.h"
#include "base/utf8.h"

static void set_member(struct json *object, wend_str key,
                       const struct json *value, struct arena *a)
{
    struct json **link = &object->first, *m;

    while (*link && !str_eq((*link)->key, key))
        link = &(*link)->next;
    if (value->kind == JSON_NULL) { /* as if it were not given */
        if (*link) {
            *link = (*link)->next;
            object->count--;
        }
        return;
    }
    m = arena_alloc(a, sizeof *m);
    if (!m)
        return;
    *m = *value;
    m->key = key;
    m->next = *link ? (*link)->next : NULL;
    object->count += !*link;
    *link = m;
}

static void set_all(struct json *object, const struct json *from,
                    struct arena *a)
{
    for (const struct json *m = from ? from->first : NULL; m; m = m->next)
        set_member(object, m->key, m, a);
}

static wend_status read_extra(const char *text, struct arena *a,
                              struct json **out, wend_error *err)
{
    wend_error why = {0};

    *out = json_parse(arena_str(a, str_of(text)), a, &why);
    if (a->failed)
        return fail_nomem(err);
    if (*out && (*out)->kind == JSON_OBJECT)
        return WEND_OK;
    return fail(err, WEND_E_INVAL, "agent: extra must be a JSON object%s%.200s",
                *out ? "" : ": ", why.message);
}

/* ---- One model ----------------------------------------------------------- */

static wend_status take_own(const struct wish_model *m, struct wish *out,
                            struct json *extra, struct arena *a,
                            wend_error *err)
{
    const wend_agent_options *o = m->options;
    struct json *value;
    wend_str field;
    enum param p;
    wend_error why = {0};

    if (o->extra && m->same_api) {
        wend_status s = read_extra(o->extra, a, &value, err);

        if (s)
            return s;
        set_all(extra, value, a);
    }
    for (size_t i = 0; i < o->params_count; i++) {
        if (!o->params || !o->params[i])
            return fail(err, WEND_E_INVAL, "agent: parameter %zu is NULL", i);
        if (param_parse(str_of(o->params[i]), a, &p, &field, &value, &why))
            return fail(err, why.status, "%s", why.message);
        if (p < PARAMS)
            out->params.value[p] = param_text(p, value, a);
        else if (m->same_api)
            set_member(extra, field, value, a);
    }
    return WEND_OK;
}

static void take_row(const struct wishes *w, struct wish *out,
                     struct json *extra, struct arena *a)
{
    for (int i = 0; i < PARAMS; i++)
        if (!str_is(w->params[i].text, "null"))
            out->params.value[i] = w->params[i].text;
    if (w->extra.text.ptr)
        set_all(extra, json_parse(w->extra.text, a, NULL), a);
}

/* The first model must take all of it; for another one it is dropped. */
static wend_status refuse(const struct wish_model *m, struct buf *why,
                          struct wish *out, struct arena *a, wend_error *err)
{
    wend_str text = buf_view(why);
    wend_status s = WEND_OK;

    if (why->failed)
        s = fail_nomem(err);
    else if (m->first)
        s = fail(err, WEND_E_INVAL, "%.*s", UTF8_ARGS(text, 400));
    else if (out->dropped_count < WISH_DROPPED_MAX)
        out->dropped[out->dropped_count++] = arena_str(a, text);
    buf_clear(why);
    return s;
}

static wend_status check(const struct wish_model *m, struct wish *out,
                         struct arena *a, wend_error *err)
{
    const wend_agent_options *o = m->options;
    struct buf why = {.mem = a->mem};
    wend_status s = WEND_OK;

    for (int i = 0; s == WEND_OK && i < PARAMS; i++) {
        if (!out->params.value[i].ptr)
            continue;
        wire_param_wrong(m->codec, (enum param)i, out->params.value[i], &why);
        if (why.len || why.failed) {
            s = refuse(m, &why, out, a, err);
            out->params.value[i] = STR_NONE;
        }
    }
    if (s == WEND_OK)
        wire_extra_wrong(m->codec, &out->params, o->effort, o->schema, &why);
    if (s == WEND_OK && (why.len || why.failed)) {
        s = refuse(m, &why, out, a, err);
        out->params.extra = NULL;
    }
    if (s == WEND_OK && o->extra && !m->same_api) {
        buf_cstr(&why, "extra is for the API of the first model; the file of "
                       "models can have one for this");
        s = refuse(m, &why, out, a, err);
    }
    buf_free(&why);
    return s;
}

static bool is_replaced(const wend_agent_options *o, wend_str line)
{
    wend_str name, value;

    if (!header_split(line, &name, &value))
        return false;
    for (size_t i = 0; i < o->headers_count; i++)
        if (header_is(str_of(o->headers[i]), name))
            return true;
    return false;
}

static wend_status take_headers(const struct wish_model *m, struct wish *out,
                                struct arena *a, wend_error *err)
{
    const wend_agent_options *o = m->options;
    const struct manifest_words *row = &m->facts->wishes.headers;
    size_t own = m->same_place ? o->headers_count : 0;
    wend_status s = WEND_OK;

    if (o->headers_count > WISH_HEADERS_MAX)
        return fail(err, WEND_E_LIMIT, "agent: over %d headers",
                    WISH_HEADERS_MAX);
    for (size_t i = 0; s == WEND_OK && i < o->headers_count; i++)
        s = o->headers && o->headers[i]
                ? header_wish_check(str_of(o->headers[i]), err)
                : fail(err, WEND_E_INVAL, "agent: header %zu is NULL", i);
    if (s != WEND_OK)
        return s;
    for (size_t i = 0; i < own; i++)
        out->headers[out->headers_count++] =
            arena_str(a, str_of(o->headers[i])).ptr;
    for (size_t i = 0; i < row->count; i++)
        if (!own || !is_replaced(o, row->list[i].text))
            out->headers[out->headers_count++] = row->list[i].text.ptr;
    return a->failed ? fail_nomem(err) : WEND_OK;
}

wend_status wish_make(const struct wish_model *m, struct arena *a,
                      struct wish *out, wend_error *err)
{
    struct json *extra = arena_alloc(a, sizeof *extra);
    wend_status s;

    memset(out, 0, sizeof *out);
    if (!extra)
        return fail_nomem(err);
    extra->kind = JSON_OBJECT;
    take_row(&m->facts->wishes, out, extra, a);
    s = take_own(m, out, extra, a, err);
    if (s == WEND_OK && a->failed)
        s = fail_nomem(err);
    out->params.extra = extra->count ? extra : NULL;
    if (s == WEND_OK)
        s = check(m, out, a, err);
    return s ? s : take_headers(m, out, a, err);
}

/* ---- Where in a file ----------------------------------------------------- */

/* Whether the host says something else about it. */
static bool is_given(const wend_agent_options *o, int p)
{
    size_t len = strlen(asked_names[p]);

    for (size_t i = 0; i < o->params_count; i++)
        if (!strncmp(o->params[i], asked_names[p], len) &&
            o->params[i][len] == '=')
            return true;
    return false;
}

struct place {
    const char *path;
    const struct manifest_word *word;
    const char *key;
    wend_error *err;
};

static wend_status blame(const struct place *p, struct buf *why)
{
    const struct manifest_word *w = p->word;

    if (why->failed)
        return fail_nomem(p->err);
    return why->len ? fail_at(p->err, WEND_E_PARSE, w->line, w->column,
                              "%.200s:%u:%u: %s: %.300s", p->path, w->line,
                              w->column, p->key, why->ptr)
                    : WEND_OK;
}

wend_status wishes_check(const char *path, const struct wishes *w,
                         const wend_agent_options *host, const char *model,
                         const struct mem *mem, wend_error *err)
{
    const char *colon = model ? strchr(model, ':') : NULL;
    const struct codec *c =
        colon ? codec_find((wend_str){model, (size_t)(colon - model)}) : NULL;
    struct place place = {.path = path, .err = err};
    struct arena a = {.mem = mem};
    struct buf why = {.mem = mem};
    struct params all = {0};
    wend_status s = WEND_OK;

    for (int i = 0; s == WEND_OK && i < PARAMS; i++) {
        place.word = &w->params[i];
        place.key = asked_names[i];
        if (!place.word->text.ptr || str_is(place.word->text, "null") ||
            is_given(host, i))
            continue;
        all.value[i] = place.word->text;
        wire_param_wrong(c, (enum param)i, place.word->text, &why);
        s = blame(&place, &why);
    }
    place.word = &w->extra;
    place.key = "extra";
    if (s == WEND_OK && w->extra.text.ptr && !host->extra) {
        all.extra = json_parse(w->extra.text, &a, NULL);
        wire_extra_wrong(c, &all, host->effort, host->schema, &why);
        why.failed |= a.failed;
        s = blame(&place, &why);
    }
    arena_free(&a);
    buf_free(&why);
    return s;
}

/* ---- From a log ---------------------------------------------------------- */

/* Whether the model is asked for it, too: what was said to the log's model need
 * not hold for the API of another. */
static bool is_taken(struct load *l, const char *model, const struct json *p)
{
    const char *colon = strchr(model, ':');
    wend_str provider = {model, colon ? (size_t)(colon - model) : 0};
    int i = param_find(p->key);
    struct buf why = {.mem = l->arena.mem};
    wend_str value = json_text(p, &l->arena);

    if (i >= 0 && value.ptr)
        wire_param_wrong(codec_find(provider), (enum param)i, value, &why);
    if (why.len)
        load_say(l, l->o.warn, "not asked of %s: %s", model, why.ptr);
    l->arena.failed |= why.failed;
    i = why.len ? -1 : i;
    buf_free(&why);
    return i >= 0;
}

bool wish_same_api(const char *a, const char *b)
{
    size_t len = strcspn(a, ":");

    return len == strcspn(b, ":") && !strncmp(a, b, len);
}

/* The log's, then the host's. */
static wend_status past_params(struct load *l, const struct json *config,
                               wend_agent_options *o)
{
    const wend_agent_options *host = &l->agent;
    const char *model = host->model ? host->model : o->model;
    const struct json *params = json_get(config, "params");
    const struct json *extra = json_get(config, "extra");
    struct arena *a = &l->arena;
    size_t count = params ? params->count : 0;
    const char **list =
        arena_alloc(a, (count + host->params_count + 1) * sizeof *list);

    for (const struct json *p = list && count ? params->first : NULL; p;
         p = p->next) {
        struct buf b = {.mem = a->mem};

        if (!is_taken(l, model, p))
            continue;
        buf_str(&b, p->key);
        buf_char(&b, '=');
        json_put(&b, p);
        list[o->params_count++] = buf_keep(&b, a).ptr;
    }
    if (list && host->params_count)
        memcpy(list + o->params_count, host->params,
               host->params_count * sizeof *list);
    o->params_count += host->params_count;
    o->params = list;
    o->extra = host->extra;
    if (!o->extra && extra && wish_same_api(model, o->model))
        o->extra = json_text(extra, a).ptr;
    return a->failed ? fail_nomem(l->err) : WEND_OK;
}

/* Those of the log go to the address that they were written for. */
static void past_headers(struct load *l, const struct json *config,
                         uint32_t take, wend_agent_options *o)
{
    const wend_agent_options *host = &l->agent;
    const struct json *j = json_get(config, "headers");
    size_t count = j ? j->count : 0, i = 0;
    const char **list;

    o->headers = host->headers;
    o->headers_count = host->headers_count;
    if (host->headers_count || !count ||
        (take & WEND_FORK_MODEL && (host->model || host->base_url)))
        return;
    list = arena_alloc(&l->arena, (count + 1) * sizeof *list);
    for (const struct json *h = j->first; list && h; h = h->next) {
        struct buf b = {.mem = l->arena.mem};

        buf_str(&b, h->key);
        buf_cstr(&b, ": ");
        buf_str(&b, json_str(h));
        list[i++] = buf_keep(&b, &l->arena).ptr;
    }
    o->headers = list;
    o->headers_count = i;
}

wend_status wishes_past(struct load *l, const struct json *config,
                        uint32_t take, wend_agent_options *o)
{
    wend_status s = take & (WEND_FORK_MODEL | WEND_FORK_PARAMS)
                        ? past_params(l, config, o)
                        : WEND_OK; /* the config of the log counts */

    past_headers(l, config, take, o);
    return s;
}
