/*
 * turn_media.c - parts of messages: which of them a request carries.
 *
 * Decided from the turn alone, so that a resume and a fork decide the same. A
 * part that a request does not carry has a note in its place.
 */
#include "core/media/media.h"
#include "core/turn/turn.h"

int64_t part_tokens(const wend_ev_part *p, const struct model_use *m)
{
    return media_tokens(p, m->spec) * 1000 / family_scale(m->spec);
}

const wend_ev_part *parts_of(const struct json *owner, struct arena *a,
                             size_t *count)
{
    const struct json *list = json_get(owner, "parts"), *j = json_items(list);
    wend_ev_part *parts =
        j ? arena_alloc(a, list->count * sizeof *parts) : NULL;
    const wend_ev_part *kept;
    size_t n = 0;

    for (; parts && j; j = j->next)
        if (part_read(j, a, &parts[n]))
            n++;
    kept = parts_keep(parts, n, a);
    *count = kept ? n : 0;
    return kept;
}

/* ---- Files of actions ---------------------------------------------------- */

static bool is_named(const wend_ev_part *p, wend_str name)
{
    return str_eq(p->name, name);
}

static bool has_hash(const wend_ev_part *p, wend_str hash)
{
    return str_eq(p->hash, hash);
}

/* Among those that the run began with; or NULL. */
static const wend_ev_part *
first_part(const struct turn *t, bool (*is)(const wend_ev_part *, wend_str),
           wend_str wanted)
{
    for (size_t i = 0; t->first && i < t->first->parts_count; i++)
        if (is(&t->first->parts[i], wanted))
            return &t->first->parts[i];
    return NULL;
}

const wend_ev_part *turn_file(const struct turn *t, const struct plan_file *f,
                              size_t n)
{
    const struct plan_parts *with;

    if (!f->ref)
        return n ? NULL : first_part(t, is_named, f->path);
    if (f->part >= 0 && n)
        return NULL;
    if (f->part >= 0)
        n = (size_t)f->part;
    if (f->given)
        return n < f->hashes_count ? first_part(t, has_hash, f->hashes[n])
                                   : NULL;
    with = plan_parts_of(&t->plan, f->ref->slot);
    return with && n < with->count ? &with->list[n] : NULL;
}

bool part_refused(const struct model_use *m, const wend_ev_part *p,
                  size_t images, wend_str shown, struct buf *why)
{
    enum media_type type = media_type_of(p);
    struct buf wrong = {.mem = why->mem};
    bool refused;

    if (type == MEDIA_TYPES)
        return false; /* of a newer version: a note takes its place */
    refused = !(m->media & 1u << type);
    if (refused)
        buf_fmt(why,
                "'%.*s' is of type %s, which the model %.*s does not accept; "
                "leave it out, or use another model",
                STR_ARGS(shown), media_type_names[type], STR_ARGS(m->spec));
    else if (media_wrong(p, m->spec, images, &wrong)) {
        refused = true;
        buf_fmt(why, "'%.*s' %.*s", STR_ARGS(shown),
                STR_ARGS(buf_view(&wrong)));
    }
    why->failed |= wrong.failed;
    buf_free(&wrong);
    return refused;
}

static uint32_t type_bit(const wend_ev_part *p)
{
    enum media_type type = media_type_of(p);

    return type < MEDIA_TYPES ? 1u << type : 0;
}

uint32_t turn_media_present(const struct turn *t)
{
    uint32_t types = 0;

    for (const struct msg *m = t->history; m; m = m->prev)
        for (size_t i = 0; i < m->parts_count; i++)
            types |= type_bit(&m->parts[i]);
    return types;
}

/* ---- What a request carries ---------------------------------------------- */

enum { OMITTED_NAMED = 3 }; /* the user gets the number of the others */

struct choice {
    uint32_t types;
    wend_str spec;
    struct media_room left;
    size_t images; /* that are taken */
    struct buf why;
};

/* Ask for the newest part first: an older one is left out where it would make
 * the provider refuse a newer one. */
static bool takes(struct choice *c, const wend_ev_part *p)
{
    bool image = media_type_of(p) == MEDIA_IMAGE;
    int64_t bytes;

    if (!(c->types & type_bit(p)) || p->bytes < 0 || p->bytes > PART_BYTES_MAX)
        return false; /* a log may say anything */
    bytes = (p->bytes + 2) / 3 * 4;
    if (bytes > c->left.bytes || (image && !c->left.images) ||
        media_wrong(p, c->spec, c->images + image, &c->why))
        return false;
    c->left.bytes -= bytes;
    c->left.images -= image;
    c->images += image;
    if (image && media_is_wide(p, &c->left) &&
        c->left.images > c->left.many - c->images)
        c->left.images = c->left.many - c->images;
    return true;
}

static struct choice choice_of(const struct turn *t, const struct mem *mem)
{
    return (struct choice){.types = turn_media(t),
                           .spec = turn_model(t)->spec,
                           .left = media_room(turn_model(t)->spec),
                           .why = {.mem = mem}};
}

const wend_ev_part **turn_media_sent(const struct turn *t, struct arena *a,
                                     size_t *count)
{
    size_t all = 0;
    struct choice c = choice_of(t, a->mem);
    const wend_ev_part **list;

    *count = 0;
    for (const struct msg *m = t->history; m; m = m->prev)
        all += m->parts_count;
    list = arena_alloc(a, (all + 1) * sizeof *list);
    for (const struct msg *m = t->history; list && m; m = m->prev)
        for (size_t i = m->parts_count; i-- > 0;)
            if (takes(&c, &m->parts[i]))
                list[(*count)++] = &m->parts[i];
    buf_free(&c.why);
    return list;
}

static void put_omitted(struct buf *out, const struct choice *c,
                        const wend_ev_part *p)
{
    buf_cstr(out, out->len ? "; '" : "'");
    if (p->name.len)
        buf_str(out, p->name);
    else
        media_put_name(out, p);
    buf_cstr(out, "' ");
    if (!(c->types & type_bit(p)))
        buf_fmt(out, "is of type %.*s, which it does not accept",
                STR_ARGS(str_or(p->type, "unknown")));
    else if (c->why.len)
        buf_str(out, buf_view(&c->why));
    else
        buf_cstr(out, "has no room in a request");
}

/* Whether the user has sent a file since then. */
static bool has_new_parts(const struct turn *t, const struct msg *since)
{
    for (const struct msg *m = t->history; m && m != since; m = m->prev)
        if (m->role == ROLE_USER && m->parts_count)
            return true;
    return false;
}

wend_str turn_media_omitted(const struct turn *t, const struct msg *since,
                            struct arena *a)
{
    struct buf out = {.mem = a->mem};
    size_t omitted = 0;
    struct choice c = choice_of(t, a->mem), before = choice_of(t, a->mem);
    bool told = false; /* what was omitted then */

    if (since && !has_new_parts(t, since))
        return STR_NONE;
    for (const struct msg *m = t->history; m; m = m->prev) {
        told |= m == since;
        for (size_t i = m->parts_count; i-- > 0;) {
            const wend_ev_part *p = &m->parts[i];
            bool was_sent = told && takes(&before, p);

            buf_clear(&c.why);
            if (!takes(&c, p) && (!told || was_sent) &&
                omitted++ < OMITTED_NAMED)
                put_omitted(&out, &c, p);
        }
    }
    if (omitted > OMITTED_NAMED)
        buf_fmt(&out, "; and %zu more", omitted - OMITTED_NAMED);
    out.failed |= c.why.failed || before.why.failed;
    buf_free(&c.why);
    buf_free(&before.why);
    return out.len || out.failed ? buf_keep(&out, a) : STR_NONE;
}

/* ---- What a model refused ------------------------------------------------ */

/* Words of providers for a type; a text file is sent as text. */
static const struct {
    const char *word;
    enum media_type type;
} words[] = {
    {"image", MEDIA_IMAGE},       {"vision", MEDIA_IMAGE},
    {"multimodal", MEDIA_IMAGE},  {"audio", MEDIA_AUDIO},
    {"document", MEDIA_DOCUMENT}, {"pdf", MEDIA_DOCUMENT},
    {"file", MEDIA_DOCUMENT},
};

uint32_t media_in_words(wend_str message, uint32_t present)
{
    uint32_t types = 0;

    present &= ~(1u << MEDIA_TEXT);
    for (; message.len; message = str_skip(message, 1))
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            if (str_starts_nocase(message, words[i].word))
                types |= 1u << words[i].type;
    types &= present;
    return types ? types : present;
}
