/*
 * test_turn.c - the state of a run: a value that events evolve. What holds
 * after every step is checked by tt_help.h; here are lineage, forks, the
 * conversation, reading back, and failing allocations.
 */
#include "tt_help.h"

#define CONFIG                                         \
    "{\"tools\":[{\"name\":\"r\",\"class\":\"read\"}," \
    "{\"name\":\"w\",\"class\":\"idempotent\"}],"      \
    "\"policy\":{\"approve\":\"all\"}}"

/* A bit of everything that a state can hold. */
#define BUSY                                                                \
    "start text think call:r call:w={ call:r={\"a\":1} say done ok:call_1 " \
    "ok:call_3 say text call:r call:w pause"

static void test_lineage(void)
{
    struct world w;

    world_init(&w, &plain, CONFIG);
    tap_is_i64(w.turn.counter, -1, "no turn before the first");
    play(&w, "start");
    tap_is_i64(w.turn.counter, 0, "the first turn");
    tap_is_str(w.turn.id, "0123456789ab.0", "its id follows from the run's");
    tap_is_str(w.turn.parent_id, STR_NONE, "it has no parent");
    play(&w, "call:r done ok:call_1");
    tap_is_str(w.turn.id, "0123456789ab.1", "the second turn");
    tap_is_str(w.turn.parent_id, "0123456789ab.0", "its parent is the first");
    tap_is_i64(w.turn.metrics.turns, 2, "two were begun");
    tap_is_i64(w.broken, 0, "no law is broken");
    world_free(&w);
}

/* Two futures of one state, in one arena, do not touch each other. */
static void test_fork(void)
{
    struct world w;
    struct turn here;
    char *before, *first, *again;

    world_init(&w, &plain, CONFIG);
    w.lawful = false; /* the fold knows one future only */
    play(&w, "start call:r call:r done");
    here = w.turn;
    before = turn_text(&here);
    play(&w, "ok:call_1 ok:call_2 text done");
    first = turn_text(&w.turn);
    tap_is_i64(w.turn.phase, PH_END, "the first future ends");
    struct turn end = w.turn;

    w.turn = here;
    play(&w, "bad:call_2 cancel patience");
    tap_is_i64(w.turn.phase, PH_END, "the second one, too");
    tap_is_i64(w.turn.metrics.tool_errors, 2, "in its own way");
    again = turn_text(&here);
    tap_is_str(again, before, "the state they share is as it was");
    free(again);
    again = turn_text(&end);
    tap_is_str(again, first, "and so is the end of the first");
    free(again);
    free(first);
    free(before);
    world_free(&w);
}

static void put_history(struct buf *b, const struct msg *m)
{
    static const char *const roles[] = {"user", "assistant", "tool", "system"};

    if (!m)
        return;
    put_history(b, m->prev);
    buf_fmt(b, "%s:%.*s", roles[m->role], (int)m->text.len, m->text.ptr);
    if (m->call.ptr)
        buf_fmt(b, "(%.*s)%s", (int)m->call.len, m->call.ptr,
                m->failed ? "!" : "");
    for (const struct call *c = m->calls; c; c = c->prev)
        buf_fmt(b, "+%.*s", (int)c->name.len, c->name.ptr);
    buf_char(b, ' ');
}

static void test_history(void)
{
    static const struct {
        const char *why, *inputs, *wanted;
    } rows[] = {
        {"results join in call order",
         "start call:r call:r done ok:call_2 "
         "bad:call_1",
         "user:hi assistant:+r+r tool:out(call_1)! tool:out(call_2) "},
        {"what is said joins before the next question",
         "start say text say done",
         "user:hi assistant:hello user:and? user:and? "},
        {"what is said waits for the results",
         "start call:r done say ok:call_1",
         "user:hi assistant:+r tool:out(call_1) user:and? "},
        {"an empty answer is no message", "start done", "user:hi "},
        {"a paused one is, since it goes on", "start halt done",
         "user:hi assistant: "},
        {"a partial answer is one", "start text cancel",
         "user:hi assistant:hello "},
        {"every call has a result, also when canceled",
         "start call:r call:w done cancel patience",
         "user:hi assistant:+w+r tool:canceled; it did not stop in time and "
         "may have had an effect(call_1)! tool:canceled before it "
         "began(call_2)! "},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct buf b = {.mem = &plain};
        struct world w;

        world_init(&w, &plain, CONFIG);
        play(&w, rows[i].inputs);
        put_history(&b, w.turn.history);
        tap_is_str(buf_view(&b), rows[i].wanted, "%s", rows[i].why);
        tap_is_i64(w.broken, 0, "%s: no law is broken", rows[i].why);
        buf_free(&b);
        world_free(&w);
    }
}

/* The hash of a conversation is that of all before it and one message. */
static void test_prefix(void)
{
    struct world a, b;

    world_init(&a, &plain, CONFIG);
    world_init(&b, &plain, CONFIG);
    play(&a, "start text call:r done ok:call_1");
    play(&b, "start text call:r done ok:call_1");
    tap_ok(a.turn.history->prefix == b.turn.history->prefix,
           "the same conversation, the same prefix");
    play(&b, "text done");
    tap_ok(a.turn.history->prefix == b.turn.history->prev->prefix,
           "a longer one goes on from it");
    tap_ok(a.turn.history->prefix != b.turn.history->prefix, "and has another");
    world_free(&a);
    world_free(&b);
}

/* What is no state is refused, whatever is missing. */
static void test_refused(void)
{
    static const char *const texts[] = {
        "",
        "[]",
        "{}",
        "{\"phase\":\"model\",\"stop\":0}",
        "{\"phase\":\"dreaming\",\"stop\":0}",
    };
    struct arena a = {.mem = &plain};
    struct keep keep = {&a, NULL};
    struct turn t;
    struct world w;
    char *text;
    int bad = 0, tried = 0;

    for (size_t i = 0; i < tap_count(texts); i++) {
        wend_error err = {0};

        tap_ok(turn_read(str_of(texts[i]), &keep, &t, &err) == WEND_E_PARSE &&
                   err.message[0],
               "refused: %s", texts[i]);
    }
    world_init(&w, &plain, CONFIG);
    play(&w, BUSY);
    tap_is_i64(w.broken, 0, "a busy state breaks no law");
    text = turn_text(&w.turn);
    for (size_t len = strlen(text); len--; tried++)
        bad += turn_read((wend_str){text, len}, &keep, &t, NULL) == WEND_OK;
    tap_ok(tried > 1000 && !bad, "no part of a state is a state");
    free(text);
    world_free(&w);
    arena_free(&a);
}

/* Plays a list of events on a state, as a replay does. */
static bool replay(const struct step *s, const struct keep *k, struct turn *t)
{
    for (const struct step_event *e = s->events; e && !k->arena->failed;
         e = e->next)
        turn_apply(t, &e->ev, k);
    return !k->arena->failed;
}

static void test_faults(void)
{
    struct fault f = {0};
    struct input cancel = {.kind = IN_CANCEL, .by = STR("user")};
    struct world w;
    struct step s;
    char *text;
    int bad = 0;

    world_init(&w, &plain, CONFIG);
    play(&w, BUSY);
    text = turn_text(&w.turn);
    cancel.time_us = w.time_us;
    cancel.reply = &w.reply;
    arena_reset(&w.scratch);
    step_begin(&s, &w.scratch, &w.keep);
    tt(&w.turn, &cancel, &s);
    while (fault_next(&f)) {
        struct mem m = fault_mem(&f);
        struct arena a = {.mem = &m, .chunk_min = 64};
        struct keep keep = {&a, NULL};
        struct turn t;
        wend_status status = turn_read(str_of(text), &keep, &t, NULL);

        bad += status == WEND_OK ? replay(&s, &keep, &t) == f.hit
                                 : status != WEND_E_NOMEM || !f.hit;
        arena_free(&a);
        bad += f.live != 0;
    }
    tap_is_i64(bad, 0, "turn_read and turn_apply say when memory fails");
    f = (struct fault){0};
    bad = 0;
    while (fault_next(&f)) {
        struct mem m = fault_mem(&f);
        struct buf b = {.mem = &m};

        turn_write(&b, &w.turn);
        bad += b.failed != f.hit;
        buf_free(&b);
        bad += f.live != 0;
    }
    tap_is_i64(bad, 0, "turn_write says so, too");
    free(text);
    world_free(&w);
}

int main(void)
{
    test_lineage();
    test_fork();
    test_history();
    test_prefix();
    test_refused();
    test_faults();
    return tap_done();
}
