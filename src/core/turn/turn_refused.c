/*
 * turn_refused.c - what models have refused: parameters, and types of parts.
 *
 * A model that refused is not asked for the same again, in this run and in
 * those that continue its conversation or work for it. It is known by its
 * provider, name and address, so that another one at the same place of a
 * config is asked for everything.
 */
#include "core/media/media.h"
#include "core/turn/turn.h"

#define REFUSED "refused "

enum { REFUSED_MAX = 64 }; /* a log of other hands may have any number */

static bool is_same(wend_str a, wend_str b)
{
    return a.len == b.len && (!a.len || str_eq(a, b));
}

static bool is_about(const struct refusal *r, wend_str spec, wend_str url)
{
    return is_same(r->spec, spec) && is_same(r->base_url, url);
}

static struct refusal sum(const struct turn *t, wend_str spec, wend_str url)
{
    struct refusal all = {.spec = spec, .base_url = url};

    for (const struct refusal *r = t->refusals; r; r = r->prev)
        if (is_about(r, spec, url)) {
            all.media |= r->media;
            all.dropped |= r->dropped;
        }
    return all;
}

uint32_t turn_dropped(const struct turn *t, const struct model_use *m)
{
    return sum(t, m->spec, m->base_url).dropped;
}

uint32_t turn_media_of(const struct turn *t, const struct model_use *m)
{
    return m->media & ~sum(t, m->spec, m->base_url).media;
}

uint32_t turn_media(const struct turn *t)
{
    return turn_media_of(t, turn_model(t));
}

/* What is known already is not added. */
static void add(struct turn *t, struct refusal r, struct arena *a)
{
    struct refusal known = sum(t, r.spec, r.base_url), *copy = NULL;
    size_t count = 0;

    for (const struct refusal *o = t->refusals; o; o = o->prev)
        count++;
    r.media &= ~known.media;
    r.dropped &= ~known.dropped;
    if ((r.media || r.dropped) && count < REFUSED_MAX)
        copy = arena_alloc(a, sizeof *copy);
    if (!copy)
        return;
    r.spec = arena_str(a, r.spec);
    r.base_url = arena_str(a, r.base_url);
    r.prev = t->refusals;
    *copy = r;
    t->refusals = copy;
}

/* Types by their names; a list may have other names. */
static uint32_t media_read(const struct json *list)
{
    uint32_t types = 0;

    for (const struct json *j = json_items(list); j; j = j->next) {
        int type = str_index(json_str(j), media_type_names, MEDIA_TYPES);

        types |= type >= 0 ? 1u << type : 0;
    }
    return types;
}

void turn_take_dropped(struct turn *t, const struct model_use *m,
                       wend_str dropped_json, const struct keep *k)
{
    struct arena scratch = {.mem = k->arena->mem};
    struct refusal r = {.spec = m->spec, .base_url = m->base_url};

    if (!dropped_json.ptr)
        return;
    r.dropped = asked_read(dropped_json, k->arena);
    r.media = media_read(json_parse(dropped_json, &scratch, NULL));
    add(t, r, k->arena);
    k->arena->failed |= scratch.failed;
    arena_free(&scratch);
}

/* ---- Parts, as the reason of model_retry has them ------------------------ */

wend_str media_reason(uint32_t types, struct arena *a)
{
    struct buf b = {.mem = a->mem};

    buf_cstr(&b, REFUSED);
    for (int i = 0; i < MEDIA_TYPES; i++)
        if (types & 1u << i)
            buf_fmt(&b, "%s%s", b.len > sizeof REFUSED - 1 ? "," : "",
                    media_type_names[i]);
    return buf_keep(&b, a);
}

void turn_note_refused(struct turn *t, wend_str reason, const struct keep *k)
{
    const struct model_use *m = turn_model(t);
    struct refusal r = {.spec = m->spec, .base_url = m->base_url};
    wend_str one;

    if (!reason.ptr || !str_starts(reason, REFUSED))
        return;
    reason = str_skip(reason, sizeof REFUSED - 1);
    while (str_take(&reason, ',', &one)) {
        int type = str_index(one, media_type_names, MEDIA_TYPES);

        if (type >= 0)
            r.media |= 1u << type;
    }
    add(t, r, k->arena);
}

/* ---- From one run to the next -------------------------------------------- */

static void put_row(struct buf *b, const struct refusal *r)
{
    json_open(b, NULL, '{');
    json_add_str(b, "model", r->spec);
    if (r->base_url.len)
        json_add_str(b, "base_url", r->base_url);
    if (r->dropped) {
        json_key(b, "dropped");
        asked_put(b, r->dropped);
    }
    if (r->media) {
        json_open(b, "media", '[');
        for (int i = 0; i < MEDIA_TYPES; i++)
            if (r->media & 1u << i)
                json_add_str(b, NULL, str_of(media_type_names[i]));
        json_close(b, ']');
    }
    json_close(b, '}');
}

/* Whether no older one is about the same model. */
static bool is_first(const struct refusal *of)
{
    const struct refusal *r = of->prev;

    while (r && !is_about(r, of->spec, of->base_url))
        r = r->prev;
    return !r;
}

wend_str turn_refusals_text(const struct turn *t, struct arena *a)
{
    const struct refusal *list[REFUSED_MAX];
    struct buf b = {.mem = a->mem};
    size_t count = 0;

    for (const struct refusal *r = t->refusals; r; r = r->prev)
        if (is_first(r))
            list[count++] = r;
    if (!count)
        return STR_NONE;
    json_open(&b, NULL, '[');
    while (count--) {
        struct refusal all = sum(t, list[count]->spec, list[count]->base_url);

        put_row(&b, &all);
    }
    json_close(&b, ']');
    return buf_keep(&b, a);
}

void turn_take_refusals(struct turn *t, wend_str json, const struct keep *k)
{
    struct arena scratch = {.mem = k->arena->mem};
    const struct json *list =
        json.ptr ? json_parse(json, &scratch, NULL) : NULL;

    for (const struct json *j = json_items(list); j; j = j->next) {
        struct refusal r = {.spec = json_get_str(j, "model"),
                            .base_url = json_get_str(j, "base_url")};
        wend_str dropped = json_text(json_get(j, "dropped"), &scratch);

        r.dropped = asked_read(dropped, &scratch);
        r.media = media_read(json_get(j, "media"));
        add(t, r, k->arena);
    }
    k->arena->failed |= scratch.failed;
    arena_free(&scratch);
}
