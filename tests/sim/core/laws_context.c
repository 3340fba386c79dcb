/*
 * laws_context.c - the laws of a conversation that is kept within its window.
 */
#include "laws_context.h"

#include <stdlib.h>

/* The first and the newest message of the user, pinned ones, and all of the
 * newest message of the model. */
static bool must_stay(const struct book *b, uint32_t i)
{
    uint32_t first = UINT32_MAX, newest = 0, batch = b->msgs_count;

    for (uint32_t k = 0; k < b->msgs_count; k++)
        if (b->msgs[k].role == ROLE_USER && !b->msgs[k].summary &&
            !b->msgs[k].own) {
            first = k < first ? k : first;
            newest = k;
        }
    while (batch && b->msgs[batch - 1].role == ROLE_TOOL)
        batch--;
    return i == first || i == newest || b->msgs[i].pinned || i + 1 >= batch;
}

static bool is_listed(wend_str list, uint32_t n)
{
    const char *at = list.ptr;
    bool found = false;

    while (at && at < list.ptr + list.len && !found) {
        char *end;
        unsigned long value = strtoul(at, &end, 10);

        found = end != at && value == n;
        at = end == at ? at + 1 : end;
    }
    return found;
}

void law_stays(struct sim *s, const wend_event *ev, const char *name)
{
    const struct book *b = &s->book;
    const wend_ev_compacted *e = &ev->u.compacted;

    if (ev->type != WEND_COMPACTED)
        return;
    for (uint32_t i = 0; i < b->msgs_count && i < e->from; i++)
        if (must_stay(b, i) && !is_listed(e->kept_json, i))
            broken(s, name, "message %u of %u is gone", i, b->msgs_count);
    if (e->from < b->msgs_count && b->msgs[e->from].role == ROLE_TOOL)
        broken(s, name, "a result without its call");
    if (e->tokens_after >= e->tokens_before || e->tokens_after <= 0)
        broken(s, name, "%lld tokens become %lld", (long long)e->tokens_before,
               (long long)e->tokens_after);
    if (str_is(e->method, "summary") && hash_str(e->summary) != b->summary)
        broken(s, name, "not the summary that was written");
}

/* What was sent before begins what is sent now. */
void law_prefix(struct sim *s, const wend_event *ev, const char *name)
{
    const struct book *b = &s->book;

    if (ev->type != WEND_CONTEXT_END || s->planned ||
        ev->u.context_end.prefix_changed_json.ptr)
        return;
    for (uint32_t i = 0; i < b->sent_count; i++)
        if (i >= b->msgs_count || b->sent[i].text != b->msgs[i].text ||
            b->sent[i].role != b->msgs[i].role ||
            b->sent[i].cut != b->msgs[i].cut) {
            broken(s, name, "message %u is another one", i);
            return;
        }
}

static bool is_short(const struct msg *m)
{
    enum { CUT_MOST = 640 }; /* head, tail, note, and what is not worth a cut */

    return m->role != ROLE_TOOL || m->text.len <= CUT_MOST;
}

/* A request over the window has nothing left to leave out. */
void law_window(struct sim *s, const struct view *v, const char *name)
{
    const struct turn *t = &s->turn;
    const struct book *b = &s->book;
    const struct model_use *m = &b->config->models[b->model_at];
    const struct msg *at = t->history;
    bool asks = false;

    for (const struct effect *fx = v->step->effects; fx; fx = fx->next)
        asks |= fx->kind == FX_ASK_MODEL;
    if (!asks || s->planned || !m->window_known || b->tries != 1 ||
        turn_tokens(t) <= m->context_tokens || b->config->no_compaction)
        return;
    if (b->purpose == WEND_PURPOSE_SUMMARY)
        broken(s, name, "%lld tokens to summarise, a window of %lld",
               (long long)turn_tokens(t), (long long)m->context_tokens);
    for (uint32_t i = b->msgs_count; i-- && at; at = at->prev)
        if ((!must_stay(b, i) && !b->msgs[i].summary) || !is_short(at)) {
            broken(s, name, "%lld tokens, a window of %lld, message %u",
                   (long long)turn_tokens(t), (long long)m->context_tokens, i);
            return;
        }
}
