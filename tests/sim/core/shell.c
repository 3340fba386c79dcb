/*
 * shell.c - the simulated shell: decide, store, check, act.
 *
 * Every step is decided at least twice, in other memory. What an input and
 * a step lend is freed as soon as a real shell may free it, so that a state
 * which points there is found by the address sanitizer.
 */
#include "book.h"
#include "laws_event.h"
#include "laws_past.h"
#include "laws_plan.h"
#include "laws_step.h"
#include "plan_book.h"
#include "plant.h"
#include "plant_bend.h"
#include "shell.h"
#include "show.h"
#include "world.h"

/* ---- The log ------------------------------------------------------------- */

static char *own_bytes(wend_str s)
{
    char *p = malloc(s.len + 1);

    memcpy(p, s.ptr ? s.ptr : "", s.len);
    p[s.len] = 0;
    return p;
}

static void *grown(void *list, size_t count, size_t *cap, size_t size)
{
    if (count < *cap)
        return list;
    *cap = *cap ? *cap * 2 : 16;
    return realloc(list, *cap * size);
}

static void log_blobs(struct sim *s, const struct event_blobs *blobs)
{
    struct log *l = &s->log;

    for (const struct event_blob *b = blobs->first; b; b = b->next) {
        l->blobs =
            grown(l->blobs, l->blobs_count, &l->blobs_cap, sizeof *l->blobs);
        l->blobs[l->blobs_count] =
            (struct blob){.ptr = own_bytes(b->text), .len = b->text.len};
        memcpy(l->blobs[l->blobs_count++].hash, b->hash, sizeof b->hash);
        s->head.counters->blobs++;
    }
}

void log_event(struct sim *s, const wend_event *ev, struct arena *scratch)
{
    struct log *l = &s->log;
    struct buf b = {.mem = &s->mem};
    struct event_blobs blobs = {.arena = scratch};

    event_write(&b, ev, &blobs);
    log_blobs(s, &blobs);
    l->lines = grown(l->lines, l->lines_count, &l->lines_cap, sizeof *l->lines);
    l->lines[l->lines_count++] = (struct line){own_bytes(buf_view(&b)), b.len};
    buf_free(&b);
}

static void log_step(struct sim *s, const struct step *step)
{
    for (const struct step_event *e = step->events; e; e = e->next)
        log_event(s, &e->ev, step->scratch);
    log_blobs(s, &step->blobs);
}

void log_free(struct log *l)
{
    for (size_t i = 0; i < l->lines_count; i++)
        free(l->lines[i].ptr);
    for (size_t i = 0; i < l->blobs_count; i++)
        free(l->blobs[i].ptr);
    free(l->lines);
    free(l->blobs);
    memset(l, 0, sizeof *l);
}

static wend_status log_blob(void *ctx, wend_str hash, struct arena *a,
                            wend_str *text)
{
    const struct log *l = ctx;

    for (size_t i = 0; i < l->blobs_count; i++)
        if (str_is(hash, l->blobs[i].hash)) {
            *text = arena_str(a, (wend_str){l->blobs[i].ptr, l->blobs[i].len});
            return WEND_OK;
        }
    return WEND_E_NOTFOUND;
}

/* ---- From the log to a state --------------------------------------------- */

static void check_codec(struct sim *s, const wend_event *ev, wend_str line)
{
    struct arena a = {.mem = &s->mem};
    struct event_blobs blobs = {.arena = &a};
    struct buf b = {.mem = &s->mem};

    event_write(&b, ev, &blobs);
    if (!str_eq(buf_view(&b), line))
        broken(s, "the codec keeps every byte", "read and written: %.*s",
               (int)b.len, b.ptr);
    buf_free(&b);
    arena_free(&a);
}

/* Reads line i; `ev` lives until the arena is freed. */
bool read_line(struct sim *s, char *line, size_t len, struct arena *a,
               wend_event *ev)
{
    wend_error err = {0};

    if (event_read((wend_str){line, len}, a, log_blob, &s->log, ev, &err) ==
        WEND_OK) {
        if (s->head.bug && s->head.bug->misread)
            s->head.bug->misread(s, ev);
        return true;
    }
    broken(s, "the codec keeps every byte", "%s: %.200s", err.message, line);
    return false;
}

static void count_event(struct sim *s, const wend_event *ev)
{
    s->head.counters->events[ev->type]++;
    if (ev->type == WEND_RUN_END)
        s->head.counters->outcomes[ev->u.run_end.outcome]++;
    if (ev->type == WEND_CALL_START && s->book.model_open)
        s->head.counters->eager++;
    s->head.counters->superseded +=
        ev->type == WEND_MODEL_END &&
        ev->u.model_end.outcome == WEND_OUTCOME_SUPERSEDED;
    s->head.counters->unknown += ev->type == WEND_CALL_END &&
                                 ev->u.call_end.outcome == WEND_OUTCOME_UNKNOWN;
    s->head.counters->again +=
        ev->type == WEND_CALL_START && ev->u.call_start.attempt > 1;
    s->head.counters->acts_unknown +=
        ev->type == WEND_ACTION_END &&
        ev->u.action_end.outcome == WEND_OUTCOME_UNKNOWN;
    s->head.counters->acts_again +=
        ev->type == WEND_ACTION_START && ev->u.action_start.attempt > 1;
}

static void check_event(struct sim *s, const struct event_law *l,
                        const wend_event *ev)
{
    for (; l->name; l++)
        l->check(s, ev, l->name);
}

static void check_step(struct sim *s, const struct step_law *l,
                       const struct view *v)
{
    for (; l->name; l++)
        l->check(s, v, l->name);
}

/* A reader takes one line: laws, book, and the folded state. */
void take_line(struct sim *s, const struct line *stored)
{
    struct arena a = {.mem = &s->mem};
    char *line = own_bytes((wend_str){stored->ptr, stored->len});
    wend_event ev;

    if (read_line(s, line, stored->len, &a, &ev)) {
        check_codec(s, &ev, (wend_str){stored->ptr, stored->len});
        check_event(s, event_laws, &ev);
        check_event(s, past_event_laws, &ev);
        if (s->planned)
            check_event(s, plan_event_laws, &ev);
        count_event(s, &ev);
        book_add(&s->book, &ev);
        turn_apply(&s->folded, &ev, &s->fold_keep);
        if (s->head.bug && s->head.bug->refold)
            s->head.bug->refold(&s->folded);
    }
    arena_free(&a);
    free(line);
}

static void compare_state(struct sim *s, const struct turn *t, const char *law)
{
    struct buf b = {.mem = &s->mem};
    size_t at = 0;

    turn_write(&b, t);
    while (at < b.len && at < s->state.len && b.ptr[at] == s->state.ptr[at])
        at++;
    if (at < b.len || at < s->state.len)
        broken(s, law, "live: ...%.120s  got: ...%.120s",
               s->state.ptr + (at > 20 ? at - 20 : 0),
               b.ptr + (at > 20 ? at - 20 : 0));
    buf_free(&b);
}

/* The state that the whole log gives. */
struct turn fold_log(struct sim *s, const struct keep *k)
{
    struct turn t;

    turn_init(&t);
    for (size_t i = 0; i < s->log.lines_count; i++) {
        struct arena a = {.mem = &s->mem};
        wend_event ev;

        if (read_line(s, s->log.lines[i].ptr, s->log.lines[i].len, &a, &ev))
            turn_apply(&t, &ev, k);
        arena_free(&a);
    }
    return t;
}

void refold(struct sim *s)
{
    struct arena all = {.mem = &s->mem};
    struct keep keep = {&all, NULL};
    struct turn t = fold_log(s, &keep);

    compare_state(s, &t, "the log folds to the live state");
    arena_free(&all);
    check_parent(s);
}

/* The live state through JSON; false if it does not read back. */
bool reread(struct sim *s, const struct keep *k, struct turn *t)
{
    wend_error err = {0};

    if (turn_read(buf_view(&s->state), k, t, &err) != WEND_OK) {
        broken(s, "a state survives JSON", "%s", err.message);
        return false;
    }
    if (s->head.bug && s->head.bug->reread)
        s->head.bug->reread(t);
    compare_state(s, t, "a state survives JSON");
    return true;
}

void check_state(struct sim *s)
{
    buf_clear(&s->state);
    turn_write(&s->state, &s->turn);
    compare_state(s, &s->folded, "the log folds to the live state");
}

/* ---- Deciding ------------------------------------------------------------ */

static void decide(struct sim *s, const struct turn *from,
                   const struct input *in, struct arena *scratch,
                   const struct keep *k, struct step *step)
{
    struct input heard = *in;
    struct turn given;

    memcpy(&s->bent, from, sizeof s->bent);
    if (s->head.bug && s->head.bug->bend)
        s->head.bug->bend(s, &s->bent, &heard);
    memcpy(&given, &s->bent, sizeof given);
    step_begin(step, scratch, k);
    tt(&s->bent, &heard, step);
    if (s->head.bug && s->head.bug->after)
        s->head.bug->after(s, &s->bent, step);
    if (memcmp(&given, &s->bent, sizeof given))
        broken(s, "tt never edits its argument", "the struct is not as it was");
    if (s->head.bug && s->head.bug->bend)
        unbend(s, step);
}

static void put_step(struct buf *b, const struct step *step)
{
    for (const struct step_event *e = step->events; e; e = e->next) {
        event_write(b, &e->ev, NULL);
        buf_char(b, '\n');
    }
    for (const struct effect *fx = step->effects; fx; fx = fx->next)
        put_effect(b, fx);
}

/* Once more in other memory, where a bad pointer would show: from the live
 * state, from the one that the log gives, or from one that was JSON. */
static const char *decide_apart(struct sim *s, const struct input *in,
                                struct buf *out)
{
    struct arena scratch = {.mem = &s->mem}, kept = {.mem = &s->mem};
    struct keep keep = {&kept, NULL};
    const struct turn *from = &s->turn;
    uint32_t how = chance_below(&s->chance, 4);
    struct turn other;
    struct step step;

    if (how == 1 && reread(s, &keep, &other))
        from = &other;
    else if (how > 1)
        from = &s->folded;
    decide(s, from, in, &scratch, &keep, &step);
    put_step(out, &step);
    arena_free(&scratch);
    arena_free(&kept);
    return how ? "a state from the log decides the same" : "tt is a function";
}

/* One allocation fails somewhere: the step is thrown away as a whole, or
 * it is as if nothing had failed. */
static void decide_nomem(struct sim *s, const struct input *in,
                         const struct buf *want)
{
    static const char name[] = "out of memory leaves no trace";
    struct fault f = {.fail_at = 1 + chance_below(&s->chance, 24),
                      .sticks = chance_of(&s->chance, 300)};
    struct mem mem = fault_mem(&f);
    struct arena scratch = {.mem = &mem}, kept = {.mem = &mem};
    struct keep keep = {&kept, NULL};
    struct buf b = {.mem = &s->mem};
    struct step step;

    scratch.chunk_min = kept.chunk_min = (size_t)8
                                         << chance_below(&s->chance, 8);
    decide(s, &s->turn, in, &scratch, &keep, &step);
    if (scratch.failed || kept.failed) {
        s->head.counters->discarded++;
        if (s->head.bug && s->head.bug->keeps_half)
            s->turn.seq += (int64_t)step.events_count;
    } else {
        put_step(&b, &step);
        if (!str_eq(buf_view(&b), buf_view(want)))
            broken(s, name, "allocation %lld failed unseen; got %.200s",
                   (long long)f.fail_at, b.len ? b.ptr : "nothing");
    }
    buf_free(&b);
    arena_free(&scratch);
    arena_free(&kept);
    if (f.live)
        broken(s, name, "%lld blocks leak", (long long)f.live);
}

/* The same in the run's own memory, which must stay usable. */
static void decide_nomem_here(struct sim *s, const struct input *in)
{
    struct step step;

    s->head.fault.fail_at =
        s->head.fault.count + 1 + chance_below(&s->chance, 8);
    decide(s, &s->turn, in, &s->scratch, &s->keep, &step);
    s->head.counters->discarded += s->scratch.failed || s->keep_arena.failed;
    s->head.fault.fail_at = 0;
    s->keep_arena.failed = false;
    arena_free(&s->scratch);
}

static void decide_checked(struct sim *s, const struct input *in,
                           struct step *step)
{
    struct buf apart = {.mem = &s->mem}, b = {.mem = &s->mem};
    const char *law = decide_apart(s, in, &apart);

    if (chance_of(&s->chance, s->mood.nomem))
        decide_nomem(s, in, &apart);
    if (chance_of(&s->chance, s->mood.nomem))
        decide_nomem_here(s, in);
    decide(s, &s->turn, in, &s->scratch, &s->keep, step);
    put_step(&b, step);
    if (!str_eq(buf_view(&b), buf_view(&apart)))
        broken(s, law, "the same input gave %.150s, then %.150s",
               apart.len ? apart.ptr : "nothing", b.len ? b.ptr : "nothing");
    compare_state(s, &s->turn, "tt never edits its argument");
    if (s->head.bug && s->head.bug->spoil)
        s->head.bug->spoil(s, step);
    buf_free(&apart);
    buf_free(&b);
}

/* ---- Acting -------------------------------------------------------------- */

/* Freed now and then, so that a state that points into it is found; else
 * its memory is used again. */
void close_stream(struct sim *s)
{
    if (s->stream.open && !s->probe && chance_of(&s->chance, 500)) {
        reply_free(&s->stream.reply);
        s->stream.made = false;
    }
    s->stream.open = false;
}

void open_stream(struct sim *s, int64_t ask)
{
    if (s->probe || (s->stream.open && s->stream.ask == ask))
        return; /* the same number is the same request */
    close_stream(s);
    if (s->stream.made)
        reply_again(&s->stream.reply, s->now_us);
    else
        reply_init(&s->stream.reply, &s->mem, s->now_us);
    s->stream.made = true;
    s->stream.ask = ask;
    s->stream.left =
        chance_below(&s->chance, chance_of(&s->chance, 200) ? 3 : 30);
    s->stream.open = true;
}

static void add_out(struct sim *s, const struct effect *fx)
{
    struct out *o = fx->kind == FX_TIMER ? find_timer(s, fx->timer) : NULL;

    for (uint32_t i = 0; !o && i < OUT_MAX; i++)
        if (!s->outs[i].used)
            o = &s->outs[i];
    if (!o)
        return;
    *o = (struct out){.kind = fx->kind != FX_START_CHILD ? fx->kind
                              : fx->call                 ? FX_RUN_CALL
                                                         : FX_RUN_ACTION,
                      .child = fx->kind == FX_START_CHILD,
                      .action = fx->action,
                      .attempt = fx->attempt,
                      .ask = fx->ask,
                      .turn = fx->turn,
                      .timer = fx->timer,
                      .due_us = s->now_us + fx->delay_ms * 1000,
                      .used = true};
    if (fx->call)
        o->call = arena_str(&s->world, fx->call->id);
}

/* One in four does not listen and never answers again: then a timer ends the
 * run. In a plan that only fails it is the hands that give it up. */
static void stop_out(struct sim *s, const struct effect *fx)
{
    bool deaf = chance_of(&s->chance, 250) && s->book.stopping;

    for (uint32_t i = 0; i < OUT_MAX; i++) {
        struct out *o = &s->outs[i];

        if (fx->call ? is_kind(o, FX_RUN_CALL) && o->turn == fx->turn &&
                           str_eq(o->call, fx->call->id)
                     : is_kind(o, FX_RUN_ACTION) && o->action == fx->action) {
            o->stop = true;
            o->used = !deaf;
        }
    }
}

static void perform(struct sim *s, const struct step *step)
{
    for (const struct effect *fx = step->effects; fx; fx = fx->next)
        switch (fx->kind) {
        case FX_ASK_MODEL: open_stream(s, fx->ask); break;
        case FX_STOP_MODEL: break; /* model_end closes the stream */
        case FX_STOP_CALL:
        case FX_STOP_ACTION: stop_out(s, fx); break;
        case FX_RUN_CALL:
        case FX_RUN_ACTION:
        case FX_START_CHILD:
        case FX_TIMER:
        case FX_HOOK: add_out(s, fx); break;
        case FX_CHECK: break; /* no tool here can be looked up */
        }
}

/* A run that is under way waits for something that can come. */
static void law_waiting(struct sim *s)
{
    const struct book *b = &s->book;
    const struct out *retry = find_timer(s, TIMER_RETRY);
    bool hope = b->paused;

    for (uint32_t i = 0; i < b->calls_count; i++)
        hope |= book_runs(&b->calls[i]) && !b->calls[i].lost;
    if (!b->run_open || b->run_over)
        return;
    if (b->model_open)
        hope |= (s->stream.open && s->stream.ask == b->asks) ||
                (retry && retry->ask == b->asks);
    for (uint32_t i = 0; i < b->calls_count; i++)
        hope |= book_waits(&b->calls[i]);
    for (uint32_t i = 0; i < s->made.count; i++)
        hope |= act_waits(&b->plan.a[i]) ||
                (act_runs(&b->plan.a[i]) && !b->plan.a[i].lost);
    for (uint32_t i = 0; i < OUT_MAX; i++)
        hope |= is_kind(&s->outs[i], FX_HOOK) && s->outs[i].turn == b->turn;
    if (!hope)
        broken(s, "a run waits for something", "nothing is under way");
}

/* ---- A crash ------------------------------------------------------------- */

/* The process is gone, and all that was under way. Of a message that had
 * begun the log may have its first pieces, or none; a state is what the log
 * says. */
void crash(struct sim *s)
{
    struct reply *r = &s->stream.reply;
    struct buf text = {.mem = &s->mem};

    memset(s->outs, 0, sizeof s->outs);
    if (s->stream.open) {
        buf_str(&text, buf_view(&r->text));
        reply_again(r, s->now_us);
        if (text.len && chance_of(&s->chance, 700))
            reply_text(r, buf_view(&text), s->now_us);
    }
    buf_free(&text);
    s->turn = fold_log(s, &s->keep);
}

/* No process has it for a while. */
static void pass_hours(struct sim *s)
{
    const int64_t second_us = 1000000;

    s->now_us += second_us * chance_below(&s->chance, 7200);
}

/* ---- One input ----------------------------------------------------------- */

static struct input lend_input(struct sim *s, const struct input *in,
                               struct arena *a)
{
    struct input copy = *in;
    wend_str *const strings[] = {
        &copy.error.code,  &copy.error.message,
        &copy.done.call,   &copy.done.output,
        &copy.done.code,   &copy.hook.call,
        &copy.hook.text,   &copy.approval.call,
        &copy.approval.by, &copy.text,
        &copy.by,          &copy.run,
    };

    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
        *strings[i] = arena_str(a, *strings[i]);
    if (in->kind != IN_ACTION_DONE)
        copy.reply = s->stream.open ? &s->stream.reply : NULL;
    copy.time_us = s->now_us;
    if (chance_of(&s->chance, s->mood.clock_back))
        copy.time_us -= chance_below(&s->chance, 3000000);
    if (in->kind != IN_SEALED && in->kind != IN_MODEL_DONE &&
        in->kind != IN_MODEL_FAIL && in->kind != IN_TIMER)
        copy.ask = s->book.asks;
    return copy;
}

void deliver(struct sim *s, const struct input *world)
{
    struct arena lent = {.mem = &s->mem};
    struct input in;
    size_t from = s->log.lines_count;
    struct book before;
    struct step step;
    struct turn was;
    struct view view = {&in, &step, &before, &was};

    if (world->kind == IN_RESUME)
        pass_hours(s);
    in = lend_input(s, world, &lent);
    if (in.kind == IN_RESUME && !s->reborn)
        crash(s);
    s->reborn = false;
    for (uint32_t i = 0; i < s->book.calls_count; i++)
        s->book.calls[i].fresh = false;
    s->book.resumed = s->book.model_fresh = false;
    before = s->book;
    s->steps++;
    s->head.counters->steps++;
    (is_stale(&before, &in) ? s->head.counters->stale
                            : s->head.counters->inputs)[in.kind]++;
    show_input(s, &in);
    decide_checked(s, &in, &step);
    log_step(s, &step);
    was = s->turn;
    s->turn = step.turn;
    for (size_t i = from; i < s->log.lines_count; i++) {
        show_line(s, &s->log.lines[i]);
        take_line(s, &s->log.lines[i]);
    }
    check_state(s);
    check_step(s, step_laws, &view);
    check_step(s, past_step_laws, &view);
    if (s->planned)
        check_step(s, plan_step_laws, &view);
    show_effects(s, &step);
    perform(s, &step);
    if (!s->book.model_open || s->stream.ask != s->book.asks)
        close_stream(s);
    law_waiting(s);
    arena_free(&s->scratch);
    arena_free(&lent);
}
