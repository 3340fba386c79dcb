/*
 * openai_details.c - reasoning_details: fragments to what must be sent back.
 *
 * Some servers want the reasoning of a message again, entry by entry as the
 * model gave it. It streams in fragments that repeat their type and index:
 * texts are joined, any other member is kept as it was last said.
 */
#include "wire/model/openai.h"

struct thinking_detail {
    int64_t index;
    struct buf type;
    const char *text_key; /* which member grows; NULL: none yet */
    struct buf text;
    struct join join; /* of the text's pieces */
    struct buf rest;  /* all other members, as JSON without the braces */
};

static const char *const growing[] = {"text", "summary", NULL};

static const char *growing_key(wend_str key)
{
    const char *const *k = growing;

    while (*k && !str_is(key, *k))
        k++;
    return *k;
}

static bool counts(const struct json *m)
{
    return m->kind != JSON_NULL && !growing_key(m->key);
}

/* The member of that key that says something, or NULL. */
static const struct json *find(const struct json *object, wend_str key)
{
    const struct json *m = object ? object->first : NULL;

    while (m && !(str_eq(m->key, key) && counts(m)))
        m = m->next;
    return m;
}

static const struct json *parse_rest(const struct buf *rest, struct arena *a)
{
    size_t len = rest->len + 2;
    char *text = arena_chars(a, len);

    if (!text)
        return NULL;
    text[0] = '{';
    memcpy(text + 1, buf_view(rest).ptr, rest->len);
    text[len - 1] = '}';
    return json_parse((wend_str){text, len}, a, NULL);
}

/* Fragments mostly repeat themselves: then nothing is to do. */
static void merge(struct thinking_detail *d, const struct json *fragment,
                  struct arena *scratch)
{
    struct buf said = {.mem = d->rest.mem}, merged = {.mem = d->rest.mem};
    const struct json *old, *newer;

    for (const struct json *m = fragment->first; m; m = m->next)
        if (counts(m))
            json_add_pair(&said, m->key, m);
    if (said.failed || str_eq(buf_view(&said), buf_view(&d->rest)))
        goto done;
    old = parse_rest(&d->rest, scratch);
    for (const struct json *m = old ? old->first : NULL; m; m = m->next) {
        newer = find(fragment, m->key);
        json_add_pair(&merged, m->key, newer ? newer : m);
    }
    for (const struct json *m = fragment->first; m; m = m->next)
        if (counts(m) && !find(old, m->key))
            json_add_pair(&merged, m->key, m);
    said.failed |= merged.failed;
    buf_free(&d->rest);
    d->rest = merged;
done:
    d->rest.failed |= said.failed;
    buf_free(&said);
}

/* Encrypted entries come whole; others continue while type and index stay. */
static bool goes_on(const struct thinking_detail *d, wend_str type,
                    int64_t index)
{
    return str_eq(buf_view(&d->type), type) && d->index == index &&
           !str_is(type, "reasoning.encrypted");
}

static struct thinking_detail *add(struct details *ds, const struct mem *m)
{
    struct thinking_detail *d =
        mem_more(m, ds->list, ds->count, &ds->cap, sizeof *d);

    if (!d)
        return NULL;
    ds->list = d;
    d = &ds->list[ds->count++];
    memset(d, 0, sizeof *d);
    d->type.mem = d->text.mem = d->rest.mem = m;
    return d;
}

wend_str details_text(const struct json *fragment)
{
    wend_str s = STR_NONE;

    for (const char *const *k = growing; *k && !s.len; k++)
        s = json_str(json_get(fragment, *k));
    return s;
}

bool details_add(struct details *ds, struct decoder *d,
                 const struct json *fragment)
{
    wend_str type = json_str(json_get(fragment, "type"));
    int64_t index = wire_i64(fragment, "index");
    struct thinking_detail *e = ds->count ? &ds->list[ds->count - 1] : NULL;

    if (fragment->kind != JSON_OBJECT || !fragment->count)
        return true;
    if (!e || !goes_on(e, type, index)) {
        e = add(ds, d->mem);
        if (!e)
            return false;
        e->index = index;
        buf_str(&e->type, type);
    }
    for (const struct json *j = fragment->first; j; j = j->next)
        if (growing_key(j->key) && j->kind == JSON_STRING) {
            e->text_key = growing_key(j->key);
            buf_str(&e->text, wire_join(d, &e->join, j->text));
        }
    merge(e, fragment, &d->scratch);
    return !e->type.failed && !e->text.failed && !e->rest.failed &&
           !d->scratch.failed;
}

bool details_tell(struct details *ds, struct decoder *d)
{
    struct buf *b = &d->item;

    b->mem = d->mem;
    for (size_t i = 0; i < ds->count && !b->failed; i++) {
        struct thinking_detail *e = &ds->list[i];

        buf_str(&e->text, join_rest(&e->join));
        buf_clear(b);
        buf_cstr(b, "{\"p\":\"openai\",\"detail\":{");
        buf_str(b, buf_view(&e->rest));
        if (e->text_key)
            json_add_str(b, e->text_key, buf_view(&e->text));
        buf_cstr(b, "}}");
        b->failed |= e->text.failed;
        if (!b->failed)
            d->sink->opaque(d->sink->ctx, buf_view(b));
    }
    return !b->failed;
}

void details_free(struct details *ds, const struct mem *m)
{
    for (size_t i = 0; i < ds->count; i++) {
        buf_free(&ds->list[i].type);
        buf_free(&ds->list[i].text);
        buf_free(&ds->list[i].rest);
    }
    mem_free(m, ds->list);
}
