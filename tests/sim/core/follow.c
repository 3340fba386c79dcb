/*
 * follow.c - a conversation: the next run begins with the past of the one
 * before it, as lib/run/follow.c makes one.
 */
#include "follow.h"

#include "agent.h"
#include "answers.h"
#include "base/label.h"
#include "core/turn/messages.h"
#include "core/turn/verdict.h"
#include "laws_past.h"
#include "past_book.h"
#include "plant.h"
#include "shell.h"

enum { PAST_MSGS_MAX = 120 }; /* so that the book has room for the next run */

bool may_follow(const struct sim *s)
{
    return s->runs > 1 && s->book.run_open && !s->head.broken_count &&
           s->book.msgs_count + s->book.pending_count < PAST_MSGS_MAX;
}

/* As the run before it ended, or was closed by force. */
static struct turn settle(struct sim *s, bool closed, const struct keep *k)
{
    wend_event ev = {.type = WEND_CONTROL, .seq = s->book.seq + 1};
    struct turn t;

    s->log.lines_count -= s->book.run_over;
    t = fold_log(s, k);
    s->log.lines_count += s->book.run_over;
    ev.u.control.what = STR("cancel");
    ev.u.control.by = STR("command");
    if (closed)
        turn_apply(&t, &ev, k);
    turn_settle(&t, k);
    if (s->head.bug && s->head.bug->settle)
        s->head.bug->settle(&t, k);
    return t;
}

/* What the book says; the laws compare it with what the core says. */
static void carry(struct sim *s, bool closed)
{
    struct book_carry *c = &s->carry;
    const struct book *b = &s->book;

    c->follows = true;
    c->msgs_count = past_of(b, closed, c->msgs);
    memcpy(c->refused_by, b->refused_by, sizeof c->refused_by);
    c->refused_count = b->refused_count;
    c->labels = b->labels;
    s->head.counters->refusals += b->refused_count > 0;
    s->head.counters->labels += b->labels != 0;
    s->head.counters->folds += b->fold;
    s->head.counters->closed += closed;
    s->head.counters->unanswered +=
        c->msgs_count < b->msgs_count + b->pending_count;
}

static wend_str labels_text(struct sim *s, const struct turn *t)
{
    uint32_t labels = turn_labels(t, &s->mem);
    struct buf b = {.mem = &s->mem};

    if (!labels)
        return STR_NONE;
    labels_add(&b, NULL, labels);
    return buf_keep(&b, &s->world);
}

/* Another agent goes on with it, or the same one. */
static void fill_start(struct sim *s, const struct turn *t, wend_str before)
{
    struct config *config = s->config;
    wend_str config_json = s->start.config_json;
    wend_ev_run_start *e = &s->start;

    memset(e, 0, sizeof *e);
    make_start(s);
    if (chance_of(&s->chance, 600)) {
        s->config = config;
        e->config_json = config_json;
    }
    e->prompt = numbered(s, "and then ", s->runs);
    if (chance_of(&s->chance, 200)) {
        e->parts = &some_part;
        e->parts_count = 1;
    }
    e->follows = before;
    e->past_labels_json = labels_text(s, t);
    e->past_refused_json = turn_refusals_text(t, &s->world);
    e->messages_json = messages_text(t->history, s->config->max_history,
                                     MESSAGES_WHOLE, &s->world);
    e->past_parts =
        messages_parts(e->messages_json, &s->world, &e->past_parts_count);
    s->compact = STR_NONE;
    if (t->fold)
        s->compact = arena_str(&s->world, str_or(t->focus, ""));
    else if (chance_of(&s->chance, 100))
        s->compact = some_text(s);
}

/* Nothing of the run before it but what the new one is told. */
static void begin(struct sim *s)
{
    close_stream(s);
    log_free(&s->log);
    buf_clear(&s->parent_state);
    memset(s->outs, 0, sizeof s->outs);
    s->past_count = 0;
    s->epoch = 0;
    s->draining = false;
    turn_init(&s->turn);
    turn_init(&s->folded);
    s->keep.known = s->config;
    buf_clear(&s->state);
    turn_write(&s->state, &s->turn);
    book_init(&s->book, s->config, &s->carry);
}

void go_on_as_next(struct sim *s)
{
    struct arena a = {.mem = &s->mem};
    struct keep k = {&a, NULL};
    bool closed = !s->book.run_over;
    struct turn t = settle(s, closed, &k);
    wend_str before = arena_str(&s->world, str_of(s->run));

    trace(s, "     followed%s\n", closed ? ", closed by force" : "");
    s->head.counters->follows++;
    s->runs--;
    check_fold(s, &t);
    carry(s, closed);
    fill_start(s, &t, before);
    begin(s);
    arena_free(&a);
}
