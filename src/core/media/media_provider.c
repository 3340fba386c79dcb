/*
 * media_provider.c - what providers accept in a request, and what they charge.
 *
 * Numbers as the providers' documents have them. They are limits of the API; a
 * model may accept less, which its own refusal tells.
 */
#include "core/media/media.h"

/* ---- Limits -------------------------------------------------------------- */

enum { MB = 1000 * 1000 };

/* 0: no limit that is known. */
static const struct limits {
    const char *provider;
    const char *takes;   /* types */
    int64_t image_bytes; /* of its base64 */
    int64_t side;        /* pixels */
    int64_t document_bytes, pages;
    struct media_room room;
} limits[] = {
    {"openai",
     "image/png image/jpeg image/webp image/gif application/pdf audio/wav "
     "audio/mpeg",
     .document_bytes = 50 * MB, .room = {500 * MB, 1500, 0, 0}},
    {"responses", "image/png image/jpeg image/webp image/gif application/pdf",
     .document_bytes = 50 * MB, .room = {500 * MB, 1500, 0, 0}},
    {"anthropic", "image/png image/jpeg image/webp image/gif application/pdf",
     .image_bytes = 10 * MB, .side = 8000, .pages = 600,
     .room = {30 * MB, 100, .many = 20, .many_side = 2000}},
    {"gemini",
     "image/png image/jpeg image/webp image/gif application/pdf audio/wav "
     "audio/mpeg audio/flac audio/ogg",
     .document_bytes = 50 * MB, .pages = 1000, .room = {95 * MB, 3000, 0, 0}},
    {"ollama", "image/png image/jpeg image/webp image/gif audio/wav audio/mpeg",
     .room = {500 * MB, 1500, 0, 0}},
};

static wend_str provider_in(wend_str spec)
{
    const char *colon = spec.len ? memchr(spec.ptr, ':', spec.len) : NULL;

    return (wend_str){spec.ptr, colon ? (size_t)(colon - spec.ptr) : 0};
}

static const struct limits *limits_of(wend_str spec)
{
    wend_str provider = provider_in(spec);

    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (str_is(provider, limits[i].provider))
            return &limits[i];
    return NULL;
}

struct media_room media_room(wend_str spec)
{
    const struct limits *l = limits_of(spec);

    return l ? l->room : (struct media_room){INT64_MAX, SIZE_MAX, 0, 0};
}

bool media_is_wide(const wend_ev_part *image, const struct media_room *room)
{
    return room->many &&
           (image->width > room->many_side || image->height > room->many_side);
}

static bool takes(const struct limits *l, wend_str media)
{
    wend_str rest = str_of(l->takes), one;

    while (str_take(&rest, ' ', &one))
        if (one.len && str_eq(one, media))
            return true;
    return false;
}

static int64_t base64_len(int64_t bytes)
{
    return (bytes + 2) / 3 * 4;
}

static bool over(struct buf *why, const char *what, int64_t is, int64_t most,
                 const struct limits *l)
{
    if (!most || is <= most)
        return false;
    buf_fmt(why, "has %lld %s, and %s accepts at most %lld", (long long)is,
            what, l->provider, (long long)most);
    return true;
}

static bool image_over(const wend_ev_part *p, const struct limits *l,
                       size_t images, struct buf *why)
{
    bool many = l->room.many && images > l->room.many;
    int64_t side = many ? l->room.many_side : l->side;

    if (side && (p->width > side || p->height > side)) {
        buf_fmt(why, "has %lldx%lld pixels, and %s accepts at most %lldx%lld",
                (long long)p->width, (long long)p->height, l->provider,
                (long long)side, (long long)side);
        if (many)
            buf_fmt(why, " in a request with over %zu images", l->room.many);
        return true;
    }
    return over(why, "bytes as base64", base64_len(p->bytes), l->image_bytes,
                l);
}

bool media_wrong(const wend_ev_part *p, wend_str spec, size_t images,
                 struct buf *why)
{
    const struct limits *l = limits_of(spec);
    enum media_type type = media_type_of(p);

    if (!l || type == MEDIA_TEXT)
        return false;
    if (!takes(l, p->media)) {
        buf_fmt(why, "is of type %.*s, which %s does not accept",
                STR_ARGS(str_or(p->media, "unknown")), l->provider);
        return true;
    }
    if (over(why, "bytes as base64", base64_len(p->bytes), l->room.bytes, l))
        return true;
    if (type == MEDIA_IMAGE)
        return image_over(p, l, images, why);
    return type == MEDIA_DOCUMENT &&
           (over(why, "bytes", p->bytes, l->document_bytes, l) ||
            over(why, "pages", p->pages, l->pages, l));
}

/* ---- Tokens -------------------------------------------------------------- */

enum {
    IMAGE_TOKENS = 1500, /* of a model without a rule */
    PAGE_TOKENS = 2000,
    PAGE_BYTES = 50000,  /* of a document whose pages are not known */
    AUDIO_BYTES = 16000, /* a second of audio whose duration is not known */
    AUDIO_TOKENS = 32,   /* a second */
    TEXT_BYTES = 4,      /* a token */
    TEXT_AROUND = 8,     /* tokens of its name */
};

enum image_rule {
    RULE_TILES,
    RULE_PATCHES,
    RULE_CLAUDE,
    RULE_GEMINI,
    RULE_FLAT
};

/* The first row that fits counts. */
static const struct token_rule {
    const char *model; /* a glob over PROVIDER:MODEL */
    enum image_rule image;
    int64_t base, each; /* tiles: of an image, of a tile; flat: base */
    int64_t cap;        /* patches and claude: most tokens */
    int64_t scale;      /* patches: percent; claude: longest side */
    int64_t page;
} rules[] = {
    {"*gpt-4o-mini*", RULE_TILES, 2833, 5667, 0, 0, PAGE_TOKENS},
    {"*gpt-4.1-mini*", RULE_PATCHES, 0, 0, 1536, 162, PAGE_TOKENS},
    {"*gpt-4.1-nano*", RULE_PATCHES, 0, 0, 1536, 246, PAGE_TOKENS},
    {"*gpt-4*", RULE_TILES, 85, 170, 0, 0, PAGE_TOKENS},
    {"*gpt-5*mini*", RULE_PATCHES, 0, 0, 1536, 162, PAGE_TOKENS},
    {"*gpt-5*nano*", RULE_PATCHES, 0, 0, 1536, 246, PAGE_TOKENS},
    {"*gpt-5.4*", RULE_PATCHES, 0, 0, 2500, 100, PAGE_TOKENS},
    {"*gpt-5.5*", RULE_PATCHES, 0, 0, 2500, 100, PAGE_TOKENS},
    {"*gpt-5*", RULE_TILES, 70, 140, 0, 0, PAGE_TOKENS},
    {"*:o4-mini*", RULE_PATCHES, 0, 0, 1536, 162, PAGE_TOKENS},
    {"*:o1*", RULE_TILES, 75, 150, 0, 0, PAGE_TOKENS},
    {"*:o3*", RULE_TILES, 75, 150, 0, 0, PAGE_TOKENS},
    {"*claude-3*", RULE_CLAUDE, 0, 0, 1568, 1568, 3000},
    {"*claude-*-4-1*", RULE_CLAUDE, 0, 0, 1568, 1568, 3000},
    {"*claude-*-4-2*", RULE_CLAUDE, 0, 0, 1568, 1568, 3000},
    {"*claude-*-4-5*", RULE_CLAUDE, 0, 0, 1568, 1568, 3000},
    {"*claude-*-4-6*", RULE_CLAUDE, 0, 0, 1568, 1568, 3000},
    {"*claude-*", RULE_CLAUDE, 0, 0, 4784, 2576, 3000},
    {"*gemini-3*", RULE_FLAT, 1120, 0, 0, 0, 560},
    {"*gemini-*", RULE_GEMINI, 0, 258, 0, 0, 258},
    {"*", RULE_FLAT, IMAGE_TOKENS, 0, 0, 0, PAGE_TOKENS},
};

static int64_t steps(int64_t length, int64_t step)
{
    return (length + step - 1) / step;
}

/* Shrinks both sides so that *a is at most `most`. */
static void shrink(int64_t *a, int64_t *b, int64_t most)
{
    if (*a <= most)
        return;
    *b = steps(*b * most, *a);
    *a = most;
}

static int64_t tiles(int64_t w, int64_t h)
{
    enum { WHOLE = 2048, SHORT = 768, TILE = 512 };

    shrink(&w, &h, WHOLE);
    shrink(&h, &w, WHOLE);
    if (w < h)
        shrink(&w, &h, SHORT);
    else
        shrink(&h, &w, SHORT);
    return steps(w, TILE) * steps(h, TILE);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t image_tokens(const struct token_rule *r, int64_t w, int64_t h)
{
    enum { PATCH = 32, CLAUDE_PATCH = 28, SMALL = 384, GEMINI_TILE = 768 };

    if (w <= 0 || h <= 0 || w > IMAGE_SIDE_MAX || h > IMAGE_SIDE_MAX)
        return IMAGE_TOKENS;
    switch (r->image) {
    case RULE_TILES: return r->base + r->each * tiles(w, h);
    case RULE_PATCHES:
        return least(steps(w, PATCH) * steps(h, PATCH), r->cap) * r->scale /
               100;
    case RULE_CLAUDE:
        shrink(&w, &h, r->scale);
        shrink(&h, &w, r->scale);
        return least(steps(w, CLAUDE_PATCH) * steps(h, CLAUDE_PATCH), r->cap);
    case RULE_GEMINI:
        return w <= SMALL && h <= SMALL
                   ? r->each
                   : r->each * steps(w, GEMINI_TILE) * steps(h, GEMINI_TILE);
    case RULE_FLAT: return r->base;
    }
    return IMAGE_TOKENS;
}

/* Numbers from a log that lies must not overflow. */
static int64_t bounded(int64_t n)
{
    return n < 0 ? 0 : least(n, PART_BYTES_MAX);
}

int64_t media_tokens(const wend_ev_part *p, wend_str spec)
{
    const struct token_rule *r = rules;
    int64_t bytes = bounded(p->bytes);
    int64_t pages = p->pages > 0 ? bounded(p->pages) : 1 + bytes / PAGE_BYTES;
    int64_t ms = p->ms > 0 ? least(p->ms, 1 << 30) : bytes * 1000 / AUDIO_BYTES;

    while (!str_glob(str_of(r->model), spec))
        r++; /* the last one fits all */
    switch (media_type_of(p)) {
    case MEDIA_TEXT: return bytes / TEXT_BYTES + TEXT_AROUND;
    case MEDIA_IMAGE: return image_tokens(r, p->width, p->height);
    case MEDIA_DOCUMENT: return pages * r->page;
    case MEDIA_AUDIO: return steps(ms * AUDIO_TOKENS, 1000);
    case MEDIA_TYPES: break;
    }
    return IMAGE_TOKENS;
}
