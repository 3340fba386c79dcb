/*
 * compact.c - decides how a conversation becomes shorter.
 *
 * What is never lost: the first and the newest message of the user, pinned
 * messages, the newest message of the model with all of its results. A list is
 * never cut between a call and its result.
 */
#include "core/context/context.h"

enum {
    TRIM_HEAD = 1024, /* bytes of an old result that stay: how it began, ... */
    TRIM_TAIL = 512,  /* ... and how it ended */
    CUT_ROOM = 256,   /* a cut that saves less says nothing */
    ANSWER_TOKENS = 16384, /* of a model whose most is not known */
};

/* Of less than was counted a model counts its share: `scale` is for the newest
 * messages, and a small mistake of it would become a large one. */
int64_t tokens_of(const struct token_map *map, int64_t estimate)
{
    if (estimate < map->estimate)
        return estimate > 0 ? estimate * map->used / map->estimate : 0;
    return map->used + (estimate - map->estimate) * map->scale / 1000;
}

/* The other way. */
static int64_t estimate_of(const struct token_map *map, int64_t tokens)
{
    if (tokens < map->used)
        return tokens * map->estimate / map->used;
    return map->estimate + (tokens - map->used) * 1000 / map->scale;
}

struct context_room room_of(const struct model_use *m, int64_t fixed,
                            int64_t refused, const struct token_map *map)
{
    int64_t window = m->window_known ? m->context_tokens : 0;
    int64_t answer = m->output_tokens ? m->output_tokens
                     : m->output_max  ? m->output_max
                                      : ANSWER_TOKENS;
    int64_t reserve = answer < window / 4 ? answer : window / 4;
    int64_t most = window * 92 / 100;
    struct context_room r = {.fixed = fixed};

    if (window - reserve < most)
        most = window - reserve;
    if (refused && (!window || refused * 9 / 10 < most))
        most = refused * 9 / 10;
    /* Also where a request may have less: that for a summary may have all. */
    if (refused && (!window || refused < window))
        window = refused;
    if (!window)
        return r;
    r.window = estimate_of(map, window);
    r.most = estimate_of(map, most);
    r.aim = estimate_of(map, most * 3 / 4);
    if (r.window < 1) /* known, and full before it begins */
        r.window = 1;
    return r;
}

/* ---- Looking ------------------------------------------------------------- */

/* The list oldest first. */
struct look {
    const struct msg **list;
    int64_t count;
    int64_t first_user, newest_user; /* -1: none */
    int64_t batch; /* the newest message, or the one whose results end it */
};

static bool look_at(const struct msg *history, struct arena *a, struct look *l)
{
    l->count = history ? history->index + 1 : 0;
    l->list = arena_alloc(a, (size_t)(l->count + 1) * sizeof(struct msg *));
    if (!l->list || !l->count)
        return false;
    for (const struct msg *m = history; m; m = m->prev)
        l->list[m->index] = m;
    l->first_user = l->newest_user = -1;
    for (int64_t i = 0; i < l->count; i++) {
        const struct msg *m = l->list[i];

        if (m->role != ROLE_USER || m->summary || m->own)
            continue;
        if (l->first_user < 0)
            l->first_user = i;
        l->newest_user = i;
    }
    l->batch = l->count - 1;
    while (l->batch && l->list[l->batch]->role == ROLE_TOOL)
        l->batch--;
    return true;
}

static bool is_worth_cutting(const struct msg *m, int64_t stays)
{
    return m->role == ROLE_TOOL && (int64_t)m->text.len > stays + CUT_ROOM;
}

static int64_t tokens_with(const struct context_room *r, const struct msg *list)
{
    return r->fixed + list->tokens;
}

/* ---- Results ------------------------------------------------------------- */

/* A result that alone has more than a quarter of the room is cut wherever it
 * stands; others only if newer ones fill a quarter. */
bool compact_trim(const struct msg *history, const struct context_room *r,
                  struct arena *a, struct compaction *out)
{
    int64_t quarter = r->most / 4, huge_bytes = r->most / 2;
    int64_t freed = 0, after;
    struct look l;
    struct result_cut *cuts;
    bool huge = false;

    *out = (struct compaction){.readable = out->readable};
    if (!look_at(history, a, &l))
        return false;
    cuts = arena_alloc(a, (size_t)l.count * sizeof *cuts);
    for (int64_t i = 0; cuts && i < l.count; i++) {
        const struct msg *m = l.list[i];
        bool is_huge = m->size > quarter;
        bool is_old = i < l.batch && history->tokens - m->tokens > quarter;
        struct result_cut c = {i, TRIM_HEAD, TRIM_TAIL};

        if (is_huge && !is_old)
            c = (struct result_cut){i, huge_bytes * 2 / 3, huge_bytes / 3};
        if ((!is_huge && !is_old) || !is_worth_cutting(m, c.head + c.tail))
            continue;
        huge |= is_huge;
        freed += m->size - cut_tokens(m, &c, out->readable, a);
        cuts[out->cuts_count++] = c;
    }
    out->cuts = cuts;
    /* compact_build refuses a list that begins with a result. */
    if (!out->cuts_count || l.list[0]->role == ROLE_TOOL || a->failed)
        return false;
    after = tokens_with(r, history) - freed;
    return freed > 0 &&
           (huge || (freed >= r->most / 5 && after <= r->most * 9 / 10));
}

/* ---- The newest messages ------------------------------------------------- */

/* Ways to keep less and less; the first that fits is taken. */
static const struct squeeze {
    int64_t part; /* of the room, for the newest messages; 0: the newest one */
    int64_t head, tail; /* of results among them; 0: they stay whole */
} squeezes[] = {
    {4, 0, 0},     {8, 0, 0},   {0, 0, 0}, {0, TRIM_HEAD, TRIM_TAIL},
    {0, 256, 128}, {0, 64, 32},
};

static int64_t tail_from(const struct look *l, int64_t tokens, int64_t messages)
{
    int64_t i = l->count;

    while (i && messages-- && l->list[i - 1]->size <= tokens)
        tokens -= l->list[--i]->size;
    while (i < l->count && l->list[i]->role == ROLE_TOOL)
        i++;
    return i < l->batch ? i : l->batch;
}

/* A summary takes the place of the one before it. */
static bool is_kept(const struct look *l, int64_t i, bool summary)
{
    const struct msg *m = l->list[i];

    return i == l->first_user || i == l->newest_user || m->pinned ||
           (m->summary && !summary);
}

/* tokens: of the newest messages. */
static bool squeeze(const struct look *l, int64_t tokens,
                    const struct squeeze *s, struct arena *a,
                    struct compaction *c)
{
    bool summary = c->summary.ptr;
    int64_t *kept = arena_alloc(a, (size_t)l->count * sizeof *kept);
    struct result_cut *cuts = arena_alloc(a, (size_t)l->count * sizeof *cuts);

    if (!kept || !cuts)
        return false;
    c->kept = kept;
    c->cuts = cuts;
    c->kept_count = c->cuts_count = 0;
    c->from = tail_from(l, tokens, c->messages ? c->messages : l->count);
    for (int64_t i = 0; i < c->from; i++)
        if (is_kept(l, i, summary))
            kept[c->kept_count++] = i;
    for (int64_t i = c->from; s->head && i < l->count; i++)
        if (is_worth_cutting(l->list[i], s->head + s->tail))
            cuts[c->cuts_count++] = (struct result_cut){i, s->head, s->tail};
    return true;
}

/* With a note in the place of what is left out, if there is room for it. */
static const struct msg *build_noted(const struct msg *history,
                                     struct compaction *c,
                                     const struct context_room *r,
                                     struct arena *a)
{
    const struct msg *built;

    c->dropped = c->summary.ptr ? 0 : c->from - (int64_t)c->kept_count;
    built = compact_build(history, c, 0, a);
    if (!built || !c->dropped || tokens_with(r, built) < r->most)
        return built;
    c->dropped = 0;
    return compact_build(history, c, 0, a);
}

bool compact_tail(const struct msg *history, const struct context_room *r,
                  wend_str summary, struct arena *a, struct compaction *out)
{
    struct compaction c = {.summary = summary,
                           .readable = out->readable,
                           .messages = summary.ptr ? 0 : WINDOW_MESSAGES};
    int64_t share = summary.ptr ? r->most : 2 * r->most;
    int64_t best = 0, before = history ? tokens_with(r, history) : 0;
    struct look l;

    if (!look_at(history, a, &l))
        return false;
    for (size_t i = 0; i < sizeof squeezes / sizeof *squeezes; i++) {
        const struct msg *built;
        int64_t after;

        if (!squeeze(&l, squeezes[i].part ? share / squeezes[i].part : 0,
                     &squeezes[i], a, &c))
            return false;
        built = build_noted(history, &c, r, a);
        if (!built)
            return false;
        after = tokens_with(r, built);
        /* The largest below the limit, or else the smallest. */
        if (!best || (best >= r->most && after < best)) {
            best = after;
            *out = c;
        }
        if (after <= r->aim) {
            best = after;
            *out = c;
            break;
        }
    }
    return best < before;
}

const struct msg *compact_fit(const struct msg *history,
                              const struct context_room *r, int64_t most,
                              uint64_t first, struct arena *a)
{
    static const struct squeeze cuts[] = {
        {0, 0, 0}, {0, TRIM_HEAD, TRIM_TAIL}, {0, 256, 128}};
    struct compaction c = {0};
    int64_t left = most - r->fixed;
    const struct msg *built = history;
    struct look l;

    if (!look_at(history, a, &l) || !r->window ||
        tokens_with(r, history) <= most)
        return history;
    for (int64_t i = 0; i < l.batch; i++)
        if (is_kept(&l, i, false))
            left -= l.list[i]->size;
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        if (!squeeze(&l, left > 0 ? left : 0, &cuts[i], a, &c))
            return NULL;
        built = compact_build(history, &c, first, a);
        if (!built || tokens_with(r, built) <= most)
            return built;
    }
    return NULL;
}
