/*
 * fork.c - a run goes on as a fork: from any event of its log, with its past
 * shared, as lib/run/fork.c makes one.
 */
#include "base/id.h"
#include "book.h"
#include "fork.h"
#include "shell.h"
#include "show.h"

/* The log ends there, and all that is known follows from it. */
static void cut_log(struct sim *s, size_t at)
{
    while (s->log.lines_count > at)
        free(s->log.lines[--s->log.lines_count].ptr);
    book_init(&s->book, s->config, &s->carry);
    s->book.plan.made = s->planned ? &s->made : NULL;
    for (size_t i = 0; i < at; i++) {
        struct arena a = {.mem = &s->mem};
        wend_event ev;

        if (read_line(s, s->log.lines[i].ptr, s->log.lines[i].len, &a, &ev))
            book_add(&s->book, &ev);
        arena_free(&a);
    }
    arena_free(&s->fold_arena);
    s->folded = fold_log(s, &s->fold_keep);
}

/* One of the events that it is born with. */
static void say_event(struct sim *s, wend_event *ev)
{
    struct arena a = {.mem = &s->mem};

    ev->run = str_of(s->run);
    ev->seq = s->book.seq + 1;
    ev->time_us = s->now_us > s->book.time_us ? s->now_us : s->book.time_us;
    ev->in_turn = s->book.turn_open;
    ev->turn = s->book.turn;
    ev->turn_id = str_of(s->book.turn_id);
    log_event(s, ev, &a);
    turn_apply(&s->turn, ev, &s->keep);
    show_line(s, &s->log.lines[s->log.lines_count - 1]);
    take_line(s, &s->log.lines[s->log.lines_count - 1]);
    arena_free(&a);
}

static void say_fork(struct sim *s, wend_str parent)
{
    wend_ev_limits limits = s->book.limits;
    wend_event ev = {.type = WEND_RUN_FORK};

    ev.u.run_fork.parent = parent;
    ev.u.run_fork.at = s->book.seq;
    if (chance_of(&s->chance, 300)) {
        limits.turns += 2;
        limits.parallel = 1 + chance_below(&s->chance, 4);
        ev.u.run_fork.limits = &limits;
    }
    say_event(s, &ev);
}

/* What an open call gave, if it had gone otherwise. */
static void say_result(struct sim *s)
{
    struct book_call *c = NULL;
    wend_event ev = {.type = WEND_CALL_END};

    for (uint32_t i = 0; i < s->book.calls_count && !c; i++)
        if (book_runs(&s->book.calls[i]) && !s->book.calls[i].closed &&
            !s->book.calls[i].child &&
            s->book.calls[i].tool) /* else it is about to be refused */
            c = &s->book.calls[i];
    if (!c || !chance_of(&s->chance, 700))
        return;
    s->head.counters->given++;
    ev.u.call_end.call = str_of(c->id);
    ev.u.call_end.name = c->tool->name;
    ev.u.call_end.outcome = WEND_OUTCOME_OK;
    ev.u.call_end.output = STR("as if");
    ev.u.call_end.given = true;
    say_event(s, &ev);
}

/* Of an open message the log has its first pieces, or none. */
static void reopen_stream(struct sim *s)
{
    close_stream(s);
    if (!s->book.model_open || s->planned)
        return;
    open_stream(s, s->book.asks);
    if (chance_of(&s->chance, 500))
        reply_text(&s->stream.reply, STR("so far"), s->now_us);
}

static void make_id(struct sim *s)
{
    unsigned char bytes[10];

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)chance_next(&s->chance);
    run_id_make(s->run, s->now_us, bytes);
}

/* Where it can be forked: anywhere but behind its end. */
static size_t fork_place(struct sim *s)
{
    size_t most = s->log.lines_count - s->book.run_over;

    return chance_of(&s->chance, 400)
               ? most
               : 1 + chance_below(&s->chance, (uint32_t)most);
}

/* From the last event on the states are shared, as a value is. */
void go_on_as_fork(struct sim *s)
{
    struct input in = {.kind = IN_RESUME};
    char parent[sizeof s->run];
    bool shared = false;
    size_t at;

    if (!s->book.run_open)
        return;
    at = fork_place(s);
    shared = at == s->log.lines_count;
    snprintf(parent, sizeof parent, "%s", s->run);
    trace(s, "     forked at %zu of %zu\n", at, s->log.lines_count);
    s->head.counters->forks++;
    s->forks++;
    s->parent = s->turn;
    buf_clear(&s->parent_state);
    turn_write(&s->parent_state, &s->parent);
    cut_log(s, at);
    if (!shared)
        s->turn = fold_log(s, &s->keep);
    memset(s->outs, 0, sizeof s->outs);
    s->past_count = 0;
    make_id(s);
    say_fork(s, str_of(parent));
    if (!s->planned)
        say_result(s);
    if (!s->planned && chance_of(&s->chance, 400)) {
        wend_event ev = {.type = WEND_MESSAGE};

        ev.u.message.role = STR("user");
        ev.u.message.text = STR("and now?");
        say_event(s, &ev);
    }
    check_state(s);
    reopen_stream(s);
    in.epoch = ++s->epoch;
    s->reborn = true;
    if (!s->head.broken_count)
        deliver(s, &in);
}
