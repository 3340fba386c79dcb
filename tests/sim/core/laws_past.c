/*
 * laws_past.c - the laws of a conversation of several runs: what a run has from
 * the one that it follows, and what a model is not asked for again.
 */
#include "laws_past.h"

#include "base/label.h"
#include "core/turn/verdict.h"
#include "past_book.h"

/* ---- Messages ------------------------------------------------------------ */

/* The book lacks the text of a summary, and of a note about what is left out.
 */
static bool is_same(const struct book_msg *a, const struct book_msg *b)
{
    if (a->role != b->role || a->summary != b->summary)
        return false;
    return a->summary ||
           ((a->text == b->text || !b->text) && a->call == b->call &&
            a->calls == b->calls && a->parts == b->parts &&
            a->pinned == b->pinned && a->own == b->own);
}

/* With max_history: the newest ones, from a message of the user on; if all of
 * the user's are older, the newest of these before them. */
static void check_newest(struct sim *s, const struct book_msg *got,
                         uint32_t count, const char *name)
{
    const struct book_carry *c = &s->carry;
    int64_t most = s->config->max_history;
    uint32_t from = c->msgs_count - count, older = from;

    if (count > most)
        broken(s, name, "%u messages, at most %lld", count, (long long)most);
    if (got[0].role != ROLE_USER)
        broken(s, name, "the first message is not the user's");
    while (older && !is_same(&got[0], &c->msgs[older]))
        older--;
    if (!is_same(&got[0], &c->msgs[older]))
        broken(s, name, "the first message was not said");
    for (uint32_t i = 1; i < count; i++)
        if (!is_same(&got[i], &c->msgs[from + i])) {
            broken(s, name, "message %u is not one of the newest", i);
            return;
        }
}

/* What was said in the run before, each message once, but no answer that
 * failed. law_request then sees that a request has it. */
static void law_past(struct sim *s, const wend_event *ev, const char *name)
{
    static struct book_msg got[BOOK_MSGS];
    const struct book_carry *c = &s->carry;
    uint32_t count;

    if (ev->type != WEND_RUN_START)
        return;
    count = past_read(ev->u.run_start.messages_json, got);
    if (count && s->config->max_history && count < c->msgs_count) {
        check_newest(s, got, count, name);
        return;
    }
    if (count != c->msgs_count && !s->config->max_history)
        broken(s, name, "%u messages, of %u", count, c->msgs_count);
    for (uint32_t i = 0; i < count && i < c->msgs_count; i++)
        if (!is_same(&got[i], &c->msgs[i])) {
            broken(s, name, "message %u of %u is another one, of role %d", i,
                   count, (int)got[i].role);
            return;
        }
}

/* ---- Refusals and labels ------------------------------------------------- */

/* A request without what a model refused is tried once: then the core knows,
 * and so do the runs that follow. */
static void law_refused(struct sim *s, const wend_event *ev, const char *name)
{
    const wend_ev_model_retry *e = &ev->u.model_retry;
    const struct book_refused *r;
    uint32_t names;

    if (ev->type != WEND_MODEL_RETRY || s->planned)
        return;
    r = past_refused(&s->book);
    names = names_in(e->dropped_json, asked_names, ASKED_FIELDS);
    if (r && (r->dropped & names))
        broken(s, name, "%.*s are dropped, %x are already",
               (int)e->dropped_json.len, e->dropped_json.ptr, r->dropped);
    if (r && r->media && str_starts(e->reason, "refused "))
        broken(s, name, "%.*s, as before", (int)e->reason.len, e->reason.ptr);
}

static void law_labels(struct sim *s, const struct view *v, const char *name)
{
    uint32_t want = s->carry.labels, got;

    (void)v;
    if (!s->book.run_open)
        return;
    got = turn_labels(&s->turn, &s->mem);
    if ((got & want) != want)
        broken(s, name, "labels %x, the past has %x", got, want);
}

/* ---- Compaction on request ----------------------------------------------- */

static const char law_fold[] = "a compaction that is asked for comes, or the "
                               "log says why not";

static void law_folded(struct sim *s, const wend_event *ev, const char *name)
{
    const struct book *b = &s->book;

    if (ev->type == WEND_MODEL_START && !s->planned && b->folding &&
        !b->unfolded && ev->u.model_start.purpose != WEND_PURPOSE_SUMMARY)
        broken(s, name, "the model is asked, and nothing became shorter");
}

/* A run may begin with one. */
static void law_asked(struct sim *s, const struct view *v, const char *name)
{
    const struct step_event *e = v->step->events;

    if (v->in->kind != IN_START || !v->in->compact.ptr || v->before->run_open)
        return;
    while (e && !(e->ev.type == WEND_CONTROL &&
                  str_is(e->ev.u.control.what, "compact")))
        e = e->next;
    if (!e)
        broken(s, name, "the run does not begin with it");
}

void check_fold(struct sim *s, const struct turn *t)
{
    if (t->fold != s->book.fold)
        broken(s, law_fold, "at the end of a run it is %s",
               t->fold ? "asked for again" : "forgotten");
}

const struct event_law past_event_laws[] = {
    {"a run that follows begins with what was said", law_past},
    {"what a model refused is not asked for again", law_refused},
    {law_fold, law_folded},
    {NULL, NULL},
};

const struct step_law past_step_laws[] = {
    {"labels of the past count", law_labels},
    {law_fold, law_asked},
    {NULL, NULL},
};
