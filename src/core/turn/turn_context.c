/*
 * turn_context.c - the conversation of a run: how it joins, is set aside and
 * becomes shorter.
 */
#include "core/turn/turn.h"

/* `pending` is newest first; it joins oldest first. */
void turn_join_pending(struct turn *t, const struct keep *k)
{
    size_t count = 0, i;
    struct msg *joined;

    for (const struct msg *m = t->pending; m; m = m->prev)
        count++;
    joined = count ? arena_alloc(k->arena, count * sizeof *joined) : NULL;
    if (!joined)
        return;
    i = count;
    for (const struct msg *m = t->pending; m; m = m->prev) {
        joined[--i].role = m->role;
        joined[i].text = m->text;
        joined[i].pinned = m->pinned;
        joined[i].parts = m->parts;
        joined[i].parts_count = m->parts_count;
    }
    for (i = 0; i < count; i++)
        turn_history_add(t, &joined[i]);
    t->pending = NULL;
}

void turn_on_context_start(struct turn *t, const struct keep *k)
{
    t->context = t->entered = true;
    turn_join_pending(t, k);
}

void turn_on_context_end(struct turn *t)
{
    t->context = false;
    t->context_model = t->model;
    t->forked = t->reconfigured = t->recut = false;
}

struct context_room turn_room(const struct turn *t)
{
    return room_of(turn_model(t), t->frame->tokens, t->refused_tokens,
                   turn_scale(t));
}

/* ---- Tokens --------------------------------------------------------------
 *
 * A provider's count is right, and says how far off the estimate is: the ratio
 * is smoothed, and bounded since servers exist that count wrong. */

enum { RATIO_LEAST = 500, RATIO_MOST = 2000 };

static int64_t estimate_with(const struct turn *t, const struct msg *history)
{
    return t->frame->tokens + (history ? history->tokens : 0);
}

int64_t turn_scale(const struct turn *t)
{
    int64_t family = family_scale(turn_model(t)->spec);

    return t->ratio ? family * t->ratio / 1000 : family;
}

int64_t turn_tokens_with(const struct turn *t, int64_t more)
{
    int64_t now = estimate_with(t, t->history) + more;
    int64_t tokens =
        t->used_tokens + (now - t->used_estimate) * turn_scale(t) / 1000;

    return tokens > 0 ? tokens : 0;
}

int64_t turn_tokens(const struct turn *t)
{
    return turn_tokens_with(t, 0);
}

static int64_t bounded(int64_t n, int64_t least, int64_t most)
{
    return n < least ? least : n > most ? most : n;
}

/* A count that is far off says nothing about the messages. */
void turn_on_usage(struct turn *t, const wend_ev_usage *u,
                   const struct msg *asked)
{
    int64_t family = family_scale(turn_model(t)->spec);
    int64_t guess = estimate_with(t, asked) * family / 1000, ratio;

    if (u->estimated || u->input <= 0 || u->input > MODEL_TOKENS_MAX ||
        guess <= 0)
        return;
    ratio = u->input * 1000 / guess;
    t->used_tokens = t->used_estimate = 0;
    if (ratio >= RATIO_LEAST / 2 && ratio <= 2 * RATIO_MOST) {
        t->used_tokens = u->input;
        t->used_estimate = estimate_with(t, asked);
    }
    ratio = bounded(ratio, RATIO_LEAST, RATIO_MOST);
    t->ratio = t->ratio ? (t->ratio + ratio) / 2 : ratio;
}

/* ---- Summaries ----------------------------------------------------------- */

void turn_ask_summary(struct turn *t, const struct keep *k)
{
    const struct context_room r = turn_room(t);
    struct msg *m = arena_alloc(k->arena, sizeof *m);
    const struct msg *fits = compact_fit(t->history, &r, summary_room(&r),
                                         t->frame->prefix, k->arena);

    if (!m)
        return;
    m->role = ROLE_USER;
    m->text = summary_ask;
    t->aside = t->history;
    if (fits) /* else a forged log */
        t->history = fits;
    turn_history_add(t, m);
}

/* One that a crash cut off does not count as a try. */
void turn_on_summary(struct turn *t, const wend_ev_model_end *e,
                     const struct keep *k)
{
    turn_on_usage(t, &e->usage, t->history);
    t->phase = PH_TURN;
    t->history = t->aside;
    t->aside = NULL;
    t->again = e->outcome == WEND_OUTCOME_SUPERSEDED;
    if (e->outcome == WEND_OUTCOME_OK)
        t->summary = arena_str(k->arena, e->text.ptr ? e->text : STR(""));
    else if (e->outcome == WEND_OUTCOME_FAILED)
        t->summary_tries++;
}

/* ---- Compaction ---------------------------------------------------------- */

static int64_t frame_bytes(const struct turn *t)
{
    const struct config *c = t->config;
    size_t bytes = t->frame->system.len + c->schema_text.len;

    for (size_t i = 0; i < c->tools_count; i++)
        bytes += c->tools[i].name.len + c->tools[i].description.len +
                 c->tools[i].schema_text.len;
    return (int64_t)bytes;
}

/* Bytes at the start that both requests have. The first cut adds a tool, and
 * tools come first. */
static int64_t same_bytes(const struct turn *t, const struct msg *before,
                          const struct msg *after, bool new_tool)
{
    while (before && after && before != after) {
        if (before->index >= after->index)
            before = before->prev;
        else
            after = after->prev;
    }
    if (new_tool)
        return 0;
    return frame_bytes(t) + (before && after ? before->bytes_sum : 0);
}

/* A damaged log may say what cannot be: then nothing changes. */
void turn_on_compacted(struct turn *t, const wend_event *ev,
                       const struct keep *k)
{
    const wend_ev_compacted *e = &ev->u.compacted;
    struct arena scratch = {.mem = k->arena->mem};
    struct compaction c;
    const struct msg *list;
    bool new_tool;

    if (compaction_read(e, &scratch, &c)) {
        c.readable = t->config->reader != NULL;
        list = compact_build(t->history, &c, t->frame->prefix, k->arena);
        new_tool = list && c.cuts_count && c.readable && !t->results_cut;
        if (list) {
            t->recut_byte = same_bytes(t, t->history, list, new_tool);
            t->history = list;
            t->recut = true;
            t->results_cut |= new_tool;
            t->settled = list->index + 1;
            t->compactions++;
            t->used_tokens = t->used_estimate = 0;
        }
    }
    t->summary = STR_NONE;
    t->summary_tries = 0;
    k->arena->failed |= scratch.failed;
    arena_free(&scratch);
}
