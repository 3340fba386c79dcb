/*
 * test_context_random.c - random conversations that are made shorter again and
 * again: what holds after every step.
 *
 * A conversation grows by exchanges, batches of calls and pinned messages. As
 * soon as it is too large, results are cut, then it is folded, with a summary
 * or without; now and then that is repeated at once. CONTEXT_SEEDS says how
 * many.
 */
#include <stdlib.h>

#include "base/chance.h"
#include "core/context/context.h"
#include "tap.h"

static const struct mem plain;
#define SIGNED "[{\"signature\":\"x\"}]"

enum { STEPS = 60, PINS_MAX = 4, FIRST_HASH = 7 };

struct world {
    struct chance chance;
    struct arena a;
    struct context_room room;
    const struct msg *newest;
    const struct msg *pins[PINS_MAX];
    int pins_count, folds;
    int64_t turn;
    const char *broken; /* NULL: nothing so far */
};

static uint32_t below(struct world *w, uint32_t n)
{
    return chance_below(&w->chance, n);
}

static void claim(struct world *w, bool ok, const char *what)
{
    if (!ok && !w->broken)
        w->broken = what;
}

/* ---- The conversation ---------------------------------------------------- */

static wend_str some_text(struct world *w, uint32_t bytes)
{
    static const char *const words[] = {"word ", "0x1f", "\xc3\xa4\xc3\xb6 ",
                                        "{\"n\":1}\n"};
    struct buf b = {.mem = &plain};

    while (b.len < bytes)
        buf_cstr(&b, words[below(w, 4)]);
    return buf_keep(&b, &w->a);
}

static struct msg *say(struct world *w, enum role role, wend_str text)
{
    struct msg *m = arena_alloc(&w->a, sizeof *m);

    m->role = role;
    m->text = text;
    return m;
}

static void join(struct world *w, struct msg *m)
{
    msg_seal(m);
    msg_link(m, w->newest, FIRST_HASH);
    w->newest = m;
}

/* At most a 24th of the room in tokens: what must stay always fits. */
static uint32_t short_bytes(struct world *w)
{
    return 1 + below(w, (uint32_t)(w->room.most / 24) + 1);
}

static void add_batch(struct world *w)
{
    struct msg *m = say(w, ROLE_ASSISTANT, some_text(w, short_bytes(w)));
    uint32_t count = 1 + below(w, 4);
    char ids[4][16];

    m->thinking = some_text(w, below(w, 20));
    m->opaque = STR(SIGNED);
    for (uint32_t i = 0; i < count; i++) {
        struct call *c = arena_alloc(&w->a, sizeof *c);

        snprintf(ids[i], sizeof ids[i], "call_%u", i);
        *c = (struct call){.prev = m->calls,
                           .index = i,
                           .id = arena_str(&w->a, str_of(ids[i])),
                           .name = STR("t"),
                           .args = STR("{}")};
        m->calls = c;
    }
    join(w, m);
    for (uint32_t i = 0; i < count; i++) {
        struct msg *r =
            say(w, ROLE_TOOL,
                some_text(w, below(w, 8) ? below(w, 1500) : below(w, 60000)));

        r->call = arena_str(&w->a, str_of(ids[i]));
        r->name = STR("t");
        r->turn = w->turn;
        join(w, r);
    }
    w->turn++;
}

static void grow(struct world *w)
{
    struct msg *m;

    if (!w->newest || below(w, 10) == 0) {
        m = say(w, ROLE_USER, some_text(w, short_bytes(w)));
        if (w->newest && w->pins_count < PINS_MAX && below(w, 3) == 0)
            m->pinned = true;
        join(w, m);
        if (m->pinned)
            w->pins[w->pins_count++] = m;
    } else if (below(w, 6) == 0) {
        join(w, say(w, ROLE_ASSISTANT, some_text(w, short_bytes(w))));
    } else {
        add_batch(w);
    }
}

/* ---- What holds ---------------------------------------------------------- */

static bool has_call(const struct msg *m, wend_str id)
{
    for (const struct call *c = m ? m->calls : NULL; c; c = c->prev)
        if (str_eq(c->id, id))
            return true;
    return false;
}

static size_t count_calls(const struct msg *m)
{
    return m && m->calls ? m->calls->index + 1 : 0;
}

/* Each result follows its call, each call has one result. */
static void check_pairs(struct world *w, const struct msg *list)
{
    size_t results = 0;

    for (const struct msg *m = list; m; m = m->prev) {
        const struct msg *of = m;

        if (m->role == ROLE_TOOL) {
            results++;
            while (of && of->role == ROLE_TOOL)
                of = of->prev;
            claim(w, has_call(of, m->call), "a result without its call");
        } else {
            claim(w, count_calls(m) == results, "a call without its result");
            results = 0;
        }
    }
    claim(w, !results, "results at the start");
}

static const struct msg *user(const struct msg *list, bool first)
{
    const struct msg *found = NULL;

    for (const struct msg *m = list; m; m = m->prev)
        if (m->role == ROLE_USER && !m->own && (first || !found))
            found = m;
    return found;
}

static bool has_text(const struct msg *list, const char *text)
{
    while (list && list->text.ptr != text)
        list = list->prev;
    return list != NULL;
}

static const struct msg *at(const struct msg *m, int64_t index)
{
    while (m && m->index > index)
        m = m->prev;
    return m;
}

/* Nodes before the first change are the same; what stays behind it has its
 * bytes, but for results that are cut, which keep all of theirs aside. */
static void check_bytes(struct world *w, const struct msg *before,
                        const struct msg *after, const struct compaction *c)
{
    bool changed = false;

    for (int64_t i = 0; i <= after->index; i++) {
        const struct msg *m = at(after, i);

        changed |= m != at(before, i);
        claim(w, !changed || m != at(before, i), "a change that is taken back");
        if (m->own || (m->role == ROLE_TOOL && m->whole.ptr))
            continue;
        claim(w, has_text(before, m->text.ptr), "another text");
    }
    for (const struct msg *m = after; m; m = m->prev)
        if (m->calls)
            claim(w, str_is(m->opaque, SIGNED),
                  "an answer without what its provider needs");
    claim(w, c->from <= before->index, "nothing of the newest stays");
}

static void check_event(struct world *w, const struct msg *before,
                        const struct compaction *c, const struct msg *after)
{
    const wend_ev_compacted e = {.from = c->from,
                                 .kept_json = compaction_kept(c, &w->a),
                                 .results_json =
                                     compaction_cuts(c, before, &w->a),
                                 .summary = c->summary,
                                 .dropped = c->dropped};
    struct compaction again;
    const struct msg *built = NULL;

    if (compaction_read(&e, &w->a, &again)) {
        again.readable = c->readable;
        built = compact_build(before, &again, FIRST_HASH, &w->a);
    }
    claim(w, built && built->prefix == after->prefix,
          "the log gives another list");
}

static void take(struct world *w, const struct compaction *c)
{
    const struct msg *before = w->newest, *first = user(before, true);
    const struct msg *last = user(before, false);
    const struct msg *after = compact_build(before, c, FIRST_HASH, &w->a);

    claim(w, after != NULL, "no list");
    if (!after)
        return;
    check_pairs(w, after);
    check_bytes(w, before, after, c);
    check_event(w, before, c, after);
    claim(w, has_text(after, first->text.ptr), "the first message is gone");
    claim(w, has_text(after, last->text.ptr), "the newest message is gone");
    for (int i = 0; i < w->pins_count; i++)
        claim(w, has_text(after, w->pins[i]->text.ptr), "a pin is gone");
    claim(w, after->tokens < before->tokens, "it became longer");
    w->newest = after;
    w->folds++;
}

/* ---- A step -------------------------------------------------------------- */

static bool is_crowded(const struct world *w)
{
    return w->room.fixed + w->newest->tokens >= w->room.most;
}

static void fold(struct world *w)
{
    bool summary = below(w, 3) > 0;
    struct compaction c = {.readable = below(w, 2)};
    const struct msg *asked = compact_fit(
        w->newest, &w->room, summary_room(&w->room, msg_tokens(summary_ask)),
        FIRST_HASH, &w->a);

    if (asked) {
        check_pairs(w, asked);
        claim(w,
              w->room.fixed + asked->tokens <=
                  summary_room(&w->room, msg_tokens(summary_ask)),
              "the question of a summary does not fit");
    }
    if (compact_tail(w->newest, &w->room,
                     summary ? some_text(w, short_bytes(w)) : STR_NONE, &w->a,
                     &c))
        take(w, &c);
}

static void step(struct world *w)
{
    struct compaction c = {.readable = true};

    grow(w);
    check_pairs(w, w->newest);
    if (!is_crowded(w))
        return;
    if (compact_trim(w->newest, &w->room, &w->a, &c))
        take(w, &c);
    if (is_crowded(w))
        fold(w);
    claim(w, !is_crowded(w), "it does not fit");
    while (below(w, 3) == 0) /* at once once more */
        fold(w);
}

static int folds_of(uint64_t seed, const char **broken)
{
    const struct token_map map = {.scale = 1000};
    struct world w = {.chance.state = seed, .a.mem = &plain};
    int64_t window = 1500 + below(&w, 20000);
    struct model_use m = {.context_tokens = window, .window_known = true};

    w.room = room_of(&m, window / (8 + below(&w, 8)), 0, &map);
    for (int i = 0; i < STEPS && !w.broken; i++)
        step(&w);
    *broken = w.broken;
    arena_free(&w.a);
    return w.folds;
}

int main(void)
{
    const char *given = getenv("CONTEXT_SEEDS");
    uint64_t seeds = given ? strtoull(given, NULL, 10) : 300;
    const char *broken = NULL;
    int most = 0, sum = 0;
    uint64_t seed;

    for (seed = 1; seed <= seeds && !broken; seed++) {
        int folds = folds_of(seed, &broken);

        most = folds > most ? folds : most;
        sum += folds;
    }
    tap_ok(!broken, "%llu conversations: %s", (unsigned long long)seed - 1,
           broken ? broken : "all holds");
    tap_ok(most > 8 && sum > (int)seeds,
           "they are made shorter often enough: %d times, one of them %d", sum,
           most);
    return tap_done();
}
