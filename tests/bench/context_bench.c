/*
 * context_bench.c - what the context of a request costs to decide.
 *
 *     context-bench MESSAGES     one JSON line
 *
 * Only core is driven: no store, no tool, no clock inside. A step is the result
 * of a call: it ends the turn, joins the conversation, and the next request is
 * decided. Its cost must follow from the result, not from the conversation.
 */
#include <time.h>

#include "tt_help.h"

enum {
    SAMPLES = 300,
    ROUNDS = 20,
    RESULT_BYTES = 1 << 16,
    FEW = 20, /* one result of 20 is large: 10,000 messages have 2 MB */
};

static double now_us(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

/* Prose, as results are, more or less. */
static wend_str some_text(size_t bytes)
{
    static const char words[] = "The request of 14 items, {\"ok\": true}; ";
    char *text = malloc(bytes + 1);

    if (!text)
        exit(1);
    for (size_t i = 0; i < bytes; i++)
        text[i] = words[i % (sizeof words - 1)];
    return (wend_str){text, bytes};
}

/* A turn with one call; how long the step took that its result makes. */
static double one_turn(struct world *w, wend_str output)
{
    struct input in = {.kind = IN_CALL_DONE};
    struct step s;
    double began, us;

    play(w, "text call:r done");
    buf_clear(&w->said);
    in.done.turn = w->turn.counter;
    in.done.call = STR("call_1");
    in.done.output = output;
    in.time_us = w->time_us += 1000;
    arena_reset(&w->scratch);
    step_begin(&s, &w->scratch, &w->keep);
    began = now_us();
    tt(&w->turn, &in, &s);
    us = now_us() - began;
    w->turn = s.turn;
    take_effects(w, &s);
    if (w->turn.phase != PH_MODEL || w->kept.failed)
        exit(1);
    return us;
}

/* The cheapest of many: on a shared machine most cost more. */
static double best_turn(struct world *w, wend_str output)
{
    double best = one_turn(w, output);

    for (int i = 1; i < SAMPLES; i++) {
        double us = one_turn(w, output);

        best = us < best ? us : best;
    }
    return best;
}

/* Messages as a run has them: a call, its result, in turn. Every result of
 * `each` is large. */
static const struct msg *conversation(int count, int each, struct arena *a)
{
    wend_str little = some_text(200), large = some_text(4096);
    const struct msg *last = NULL;

    for (int i = 0; i < count; i++) {
        struct call *c = arena_alloc(a, sizeof *c);
        struct msg *m = arena_alloc(a, sizeof *m);

        if (!c || !m)
            exit(1);
        c->id = STR("call_1");
        c->name = STR("r");
        c->args = STR("{}");
        m->role = !i ? ROLE_USER : i % 2 ? ROLE_ASSISTANT : ROLE_TOOL;
        m->text = m->role != ROLE_TOOL ? STR("I look at the next one.")
                  : i / 2 % each       ? little
                                       : large;
        m->calls = m->role == ROLE_ASSISTANT ? c : NULL;
        m->call = m->role == ROLE_TOOL ? c->id : STR_NONE;
        msg_seal(m);
        msg_link(m, last, 0);
        last = m;
    }
    return last;
}

typedef bool compact_fn(const struct msg *history, const struct context_room *r,
                        struct arena *a, struct compaction *out);

static bool tail_alone(const struct msg *history, const struct context_room *r,
                       struct arena *a, struct compaction *out)
{
    return compact_tail(history, r, STR_NONE, a, out);
}

/* Decides a shorter conversation and makes it. */
static double compaction_us(const struct msg *history, compact_fn *decide)
{
    struct arena a = {.mem = &plain};
    struct context_room r = {.fixed = 1000, .window = history->tokens};
    double best = 0;

    r.most = r.window * 9 / 10;
    r.aim = r.most * 3 / 4;
    for (int i = 0; i < ROUNDS; i++) {
        struct compaction c = {.readable = true};
        double began = now_us(), us;

        if (!decide(history, &r, &a, &c) || !compact_build(history, &c, 0, &a))
            exit(1);
        us = now_us() - began;
        best = !i || us < best ? us : best;
        arena_reset(&a);
    }
    arena_free(&a);
    return best;
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 10000;
    wend_str little = some_text(64), much = some_text(RESULT_BYTES);
    struct arena a = {.mem = &plain};
    struct world w;
    double first, last, large;

    world_init(&w, &plain,
               "{\"tools\":[{\"name\":\"r\",\"class\":\"read\"}],"
               "\"loop\":\"off\",\"context_tokens\":1000000000}");
    w.lawful = false;
    w.start.limits.turns = 0;
    play(&w, "start");
    first = best_turn(&w, little);
    while (w.turn.history->index < count)
        one_turn(&w, little);
    last = best_turn(&w, little);
    large = best_turn(&w, much);
    printf("{\"messages\":%d,\"first_us\":%.3f,\"last_us\":%.3f,"
           "\"bytes\":%d,\"large_us\":%.3f,",
           count, first, last, RESULT_BYTES, large);
    printf("\"trimmed_us\":%.1f,\"window_us\":%.1f,\"all_trimmed_us\":%.1f}\n",
           compaction_us(conversation(count, FEW, &a), compact_trim),
           compaction_us(conversation(count, FEW, &a), tail_alone),
           compaction_us(conversation(count, 1, &a), compact_trim));
    world_free(&w);
    arena_free(&a);
    return 0;
}
