/*
 * test_tt_loop.c - the loop at length: 100,000 turns without growing slower
 * or deeper, limits of nothing, budgets, every allocation failing.
 */
#include "tt_help.h"

/* The next turn, whose request another model's cache knows nothing of. */
#define NEW_PREFIX                                                       \
    "turn_end metrics turn_start context_start context_end(new prefix) " \
    "model_start +ask "

#include <time.h>

#define CONFIG                                                                \
    "{\"instructions\":\"i\",\"tools\":[{\"name\":\"r\",\"class\":\"read\"}," \
    "{\"name\":\"w\",\"class\":\"idempotent\"}],"                             \
    "\"loop\":\"off\","                                                       \
    "\"policy\":{\"approve\":\"ask\",\"rules\":[\"!w(no)\"]}}"

static double seconds_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* The best of several batches, so that a busy machine does not matter. */
struct pace {
    double first, last;
};

static void note_pace(struct pace *p, double took, bool early)
{
    double *best = early ? &p->first : &p->last;

    if (!*best || took < *best)
        *best = took;
}

static void test_many_turns(void)
{
    enum { TURNS = 100000, BATCH = 1000, BATCHES = TURNS / BATCH, EDGE = 10 };
    struct pace pace = {0, 0};
    struct world w;

    world_init(&w, &plain, CONFIG);
    w.lawful = false;
    w.start.limits.turns = TURNS + 1;
    play(&w, "start");
    for (int batch = 0; batch < BATCHES; batch++) {
        double began = seconds_now();

        for (int i = 0; i < BATCH; i++)
            play(&w, "text call:r done ok:call_1");
        if (batch < EDGE || batch >= BATCHES - EDGE)
            note_pace(&pace, seconds_now() - began, batch < EDGE);
        buf_clear(&w.said);
    }
    play(&w, "text done");
    tap_is_str(buf_view(&w.said), "model_end turn_end metrics run_end(ok)",
               "100,000 turns end");
    tap_is_i64(w.turn.counter, TURNS, "each was counted");
    tap_is_i64(w.turn.history->index, 2 * TURNS + 1,
               "the conversation has all messages");
    if (!tap_ok(pace.last <= 3 * pace.first,
                "the last turns cost what the first did"))
        printf("# first %f s, last %f s\n", pace.first, pace.last);
    world_free(&w);
}

static void test_no_limits(void)
{
    struct world w;

    world_init(&w, &plain, CONFIG);
    w.start.limits = (wend_ev_limits){0};
    play(&w, "start call:r call:r call:r done ok:call_1 ok:call_2");
    play(&w, "ok:call_3 text done");
    tap_is_i64(w.turn.phase, PH_END, "limits of 0 are none");
    tap_is_i64(w.turn.metrics.turns, 2, "and both turns were made");
    tap_is_i64(w.broken, 0, "no law is broken");
    world_free(&w);
}

/* Spent plus reserved must fit before the model is asked. */
static void test_budget(void)
{
    struct world w;

    world_init(&w, &plain, CONFIG);
    w.start.limits.tokens = 1000;
    play(&w, "start");
    w.reply.usage.input = 600;
    w.reply.usage.output = 390;
    play(&w, "call:r done ok:call_1");
    tap_is_i64(w.turn.phase, PH_END, "tokens: no second question");
    tap_is_i64(w.turn.metrics.model_calls, 1, "tokens: one was made");
    world_free(&w);
    world_init(&w, &plain, CONFIG);
    w.start.limits.cost_nano = 5;
    play(&w, "start");
    w.reply.usage.cost_nano = 5;
    play(&w, "call:r done ok:call_1");
    tap_is_i64(w.turn.phase, PH_END, "cost: no second question");
    tap_is_i64(w.turn.metrics.cost_nano, 5, "cost: what was spent");
    world_free(&w);
}

/* A sum with an unknown part is unknown, and never 0. */
static void test_unknown_cost(void)
{
    static const struct {
        const char *why;
        int64_t tokens, first, second; /* costs of two answers */
        int64_t cost;                  /* of the run, and what is known of it */
        int64_t known;
    } rows[] = {
        {"both known", 60, 3, 4, 7, 7},
        {"none known", 60, -1, -1, -1, 0},
        {"one known", 60, 3, -1, -1, 3},
        {"the other known", 60, -1, 4, -1, 4},
        {"a server that counts nothing", 0, -1, -1, -1, 0},
        {"free", 60, 0, 0, 0, 0},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct world w;

        world_init(&w, &plain, CONFIG);
        play(&w, "start");
        w.reply.usage.input = w.reply.usage.output = rows[i].tokens;
        w.reply.usage.cost_nano = rows[i].first;
        play(&w, "call:r done ok:call_1");
        w.reply.usage.input = w.reply.usage.output = rows[i].tokens;
        w.reply.usage.cost_nano = rows[i].second;
        play(&w, "text done");
        tap_is_i64(turn_metrics(&w.turn).cost_nano, rows[i].cost,
                   "unknown cost: %s", rows[i].why);
        tap_is_i64(w.turn.metrics.cost_nano, rows[i].known, "  what is known");
        tap_is_i64(w.broken, 0, "  no law is broken");
        world_free(&w);
    }
}

#define PRICED                                                                 \
    "{\"instructions\":\"i\",\"tools\":[{\"name\":\"r\",\"class\":\"read\"}]," \
    "\"output_tokens\":10,\"price\":{\"input\":1000000,\"cached\":0,"          \
    "\"output\":2000000}}"

/* A price of 1 for each token in, 2 for each out: the first question has an
 * estimate of FIRST and reserves 20 for the answer. */
static void test_reserve(void)
{
    enum { FIRST = 6 };
    static const struct {
        const char *why;
        int64_t limit, input, output, told; /* told: by the provider */
        int64_t calls, spent;
    } rows[] = {
        {"the first does not fit", FIRST + 20 - 1, 0, 0, -1, 0, 0},
        {"the first fits", FIRST + 20, 8, 10, -1, 1, 28},
        {"what is spent counts", 120, 80, 10, -1, 1, 100},
        {"there is enough for two", 1000, 80, 10, -1, 2, 100},
        {"the provider's word goes first", 1000, 80, 10, 999, 1, 999},
        {"a provider that counts nothing", 1000, 0, 0, -1, 2, 0},
        {"more than there is", 1000, INT64_MAX, 10, -1, 1, INT64_MAX},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct world w;

        world_init(&w, &plain, PRICED);
        w.start.limits.cost_nano = rows[i].limit;
        play(&w, "start");
        if (rows[i].calls) {
            w.reply.usage.input = rows[i].input;
            w.reply.usage.output = rows[i].output;
            w.reply.usage.cost_nano = rows[i].told;
            play(&w, "call:r done ok:call_1");
        }
        tap_is_i64(w.turn.metrics.model_calls, rows[i].calls, "reserve: %s",
                   rows[i].why);
        tap_is_i64(w.turn.metrics.cost_nano, rows[i].spent, "  spent");
        tap_is_i64(w.turn.phase, rows[i].calls < 2 ? PH_END : PH_MODEL,
                   "  and then");
        tap_is_i64(w.broken, 0, "  no law is broken");
        world_free(&w);
    }
}

/* A provider that counts wrong must not open the budget. */
static void test_usage(void)
{
    static const struct {
        const char *why;
        int64_t input, output;
        bool ends;
    } rows[] = {
        {"as much as there is", INT64_MAX, INT64_MAX, true},
        {"less than nothing", 400, -400, false},
        {"nothing after much", 1000, -1000, true},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct world w;

        world_init(&w, &plain, CONFIG);
        w.start.limits.tokens = 1000;
        play(&w, "start");
        w.reply.usage.input = rows[i].input;
        w.reply.usage.output = rows[i].output;
        play(&w, "call:r done ok:call_1");
        tap_ok((w.turn.phase == PH_END) == rows[i].ends, "usage: %s",
               rows[i].why);
        tap_is_i64(w.turn.metrics.tokens_in, rows[i].input, "usage: %s, input",
                   rows[i].why);
        tap_ok(w.turn.metrics.tokens_out >= 0, "usage: %s, output",
               rows[i].why);
        tap_is_i64(w.broken, 0, "usage: %s, no law is broken", rows[i].why);
        world_free(&w);
    }
}

/* The wait doubles, differs between runs, and obeys the provider. */
static void test_retry_delay(void)
{
    static const int64_t wishes[] = {0, 1, RETRY_AFTER_MAX_MS,
                                     RETRY_AFTER_MAX_MS + 1};

    for (size_t i = 0; i < tap_count(wishes); i++) {
        struct input in = {.kind = IN_MODEL_FAIL, .error.code = STR("network")};
        int64_t wish = wishes[i], wanted = RETRY_BASE_MS;
        struct world w;
        struct step s;

        world_init(&w, &plain, CONFIG);
        play(&w, "start");
        in.ask = w.turn.ask;
        in.time_us = w.time_us;
        in.error.retry_after_ms = wish;
        arena_reset(&w.scratch);
        step_begin(&s, &w.scratch, &w.keep);
        tt(&w.turn, &in, &s);
        if (wish && wish <= RETRY_AFTER_MAX_MS)
            tap_is_i64(s.effects->delay_ms, wish, "a wish of %d ms is obeyed",
                       (int)wish);
        else
            tap_ok(s.effects->delay_ms > wanted * 3 / 4 &&
                       s.effects->delay_ms <= wanted,
                   "a wish of %d ms is not, the wait is our own", (int)wish);
        tap_is_i64(s.events->ev.u.model_retry.delay_ms, s.effects->delay_ms,
                   "the event says the same");
        world_free(&w);
    }
}

/* An attempt that fails may have used something. The model costs 10^-9 dollars
 * a token, its answers have 100 tokens at most, and a question is estimated as
 * `ASKED` tokens. */
static void test_failed_usage(void)
{
    enum { ASKED = 100 + 4, USED = 100 };
    static const char config[] =
        "{\"tools\":[],\"policy\":{},\"output_tokens\":100,\"price\":{"
        "\"input\":1000000,\"cached\":1000000,\"output\":1000000}}";
    static const struct {
        const char *why, *inputs;
        int64_t limit; /* of tokens; of cost in the next run */
        const char *wanted;
        int64_t spent;
    } rows[] = {
        {"what it used counts", "start used fail:network retry text done", 1000,
         BEGIN "model_retry +retry +ask model_end " END "run_end(ok)", USED},
        {"each of them", "start used fail:network retry used fail:timeout",
         1000, BEGIN "model_retry +retry +ask model_retry +retry", 2 * USED},
        {"nothing was told", "start fail:network retry text done", ASKED,
         BEGIN "model_retry +retry +ask model_end " END "run_end(ok)", 0},
        {"what is left is just enough", "start used fail:network", USED + ASKED,
         BEGIN "model_retry +retry", USED},
        {"what is left is enough for a shorter answer",
         "start used fail:network", USED + ASKED - 1,
         BEGIN "model_retry +retry", USED},
        {"what is left is not enough", "start used fail:network",
         USED + ASKED - 100 + ANSWER_TOKENS_MIN - 1,
         BEGIN "model_end(failed) turn_end(limit) metrics run_end(limit)",
         USED},
        {"it is not counted twice", "start used fail:auth", 1000,
         BEGIN "model_end(failed) turn_end(failed) metrics run_end(failed)",
         USED},
    };

    for (size_t i = 0; i < 2 * tap_count(rows); i++) {
        bool money = i % 2;
        struct world w;

        world_init(&w, &plain, config);
        w.start.prompt = STR("");
        *(money ? &w.start.limits.cost_nano : &w.start.limits.tokens) =
            rows[i / 2].limit;
        play(&w, rows[i / 2].inputs);
        tap_is_str(buf_view(&w.said), str_of(rows[i / 2].wanted), "%s: %s",
                   money ? "cost" : "tokens", rows[i / 2].why);
        tap_is_i64(w.turn.metrics.tokens_in + w.turn.metrics.tokens_out,
                   rows[i / 2].spent, "%s: tokens", rows[i / 2].why);
        tap_is_i64(w.turn.metrics.cost_nano, rows[i / 2].spent, "%s: cost",
                   rows[i / 2].why);
        tap_is_i64(w.broken, 0, "%s: the log says the same", rows[i / 2].why);
        world_free(&w);
    }
}

/* A step that ran out of memory says so; nothing crashes, nothing leaks. */
static void test_fallback(void)
{
    static const struct row rows[] = {
        {.why = "the next model, after all retries of one",
         .config = SPARES,
         .inputs = "start fail:network retry fail:network retry "
                   "fail:network retry text done",
         .wanted =
             BEGIN "model_retry +retry +ask model_retry +retry +ask "
                   "model_retry(one) +retry +ask model_end " END "run_end(ok)"},
        {.why = "every model gets its retries, then the run fails",
         .config = SPARES,
         .inputs = "start fail:auth retry fail:timeout retry fail:auth retry "
                   "fail:network retry fail:network retry fail:network",
         .wanted = BEGIN
         "model_retry(one) +retry +ask model_retry(one) +retry +ask "
         "model_retry(two) +retry +ask model_retry(two) +retry +ask "
         "model_retry(two) +retry +ask "
         "model_end(failed) turn_end(failed) metrics run_end(failed)"},
        {.why = "a model that rests is not waited for if there is another",
         .config = SPARES,
         .inputs = "start rest retry text done",
         .wanted =
             BEGIN "model_retry(one) +retry +ask model_end " END "run_end(ok)"},
        {.why = "a model that rests is waited for if it is the only one",
         .config = ALL,
         .inputs = "start rest retry text done",
         .wanted =
             BEGIN "model_retry +retry +ask model_end " END "run_end(ok)"},
        {.why = "a run stays with the model it changed to",
         .config = SPARES,
         .inputs = "start fail:auth retry call:r ok:call_1 done text "
                   "fail:network",
         .wanted = BEGIN
         "model_retry(one) +retry +ask model_part call_start(call_1) "
         "+run(call_1) call_end(call_1) model_end " NEW_PREFIX
         "model_end(failed) turn_end(failed) metrics run_end(failed)"},
        {.why = "its cache is a new one, once",
         .config = SPARES,
         .inputs = "start halt done fail:auth retry halt done halt done "
                   "text done",
         .wanted = BEGIN "model_end " NEXT
                         "model_retry(one) +retry +ask model_end " NEW_PREFIX
                         "model_end " NEXT "model_end " END "run_end(ok)"},
        {.why = "another model would be asked the same",
         .config = SPARES,
         .inputs = "start fail:invalid",
         .wanted = BEGIN
         "model_end(failed) turn_end(failed) metrics run_end(failed)"},
        {.why = "no other model after the first piece",
         .config = SPARES,
         .inputs = "start text fail:auth",
         .wanted = BEGIN
         "model_end(failed) turn_end(failed) metrics run_end(failed)"},
        {.why = "another model must fit the budget, too",
         .config = SPARES,
         .limits = {.turns = 50, .parallel = 5, .cost_nano = 1000},
         .inputs = "start fail:auth retry fail:auth",
         .wanted = BEGIN "model_retry(one) +retry +ask model_end(failed) "
                         "turn_end(limit) metrics run_end(limit)"},
    };

    check_rows(rows, tap_count(rows));
}

#define MODELS(first, one, two)                                    \
    "{\"tools\":[],\"policy\":{}" first ",\"fallback\":[{\"name\"" \
    ":\"one\"" one "},{\"name\":\"two\"" two "}]}"
#define W(n) ",\"context_tokens\":" #n
#define PRICE(n) ",\"price\":{\"input\":" #n ",\"cached\":0,\"output\":0}"
#define FAILED "model_end(failed) turn_end(failed) metrics run_end(failed)"
#define BEFORE "run_start turn_start context_start context_end "
#define SENT(model) "model_retry(" model ") +retry"

/* The request has about 1000 tokens. Over a window of 100 it is not sent, of
 * 900 with a warning; 2000 are enough, and of a model without one nothing is
 * known. */
static const struct {
    const char *why, *config, *inputs, *wanted;
} windows[] = {
    {"it fits", MODELS(W(2000), "", ""), "start", BEFORE "model_start +ask"},
    {"a little over", MODELS(W(900), "", ""), "start",
     BEFORE "warning model_start +ask"},
    {"a little over, asked again: said once", MODELS(W(900), "", ""),
     "start fail:network retry",
     BEFORE "warning model_start +ask model_retry +retry +ask"},
    {"below 1.3 times", MODELS(W(790), W(790), ""), "start",
     BEFORE "warning model_start +ask"},
    {"above 1.3 times", MODELS(W(750), W(750), W(750)), "start",
     BEFORE "model_start " FAILED},
    {"refused: the first that is known to fit", MODELS(W(100), W(900), W(2000)),
     "start", BEFORE "model_start " SENT("two")},
    {"refused: known goes before unknown", MODELS(W(100), "", W(2000)), "start",
     BEFORE "model_start " SENT("two")},
    {"refused: none is known to fit, which is said", MODELS(W(100), W(100), ""),
     "start", BEFORE "model_start warning " SENT("two")},
    {"refused: nearly", MODELS(W(100), W(900), W(100)), "start",
     BEFORE "model_start warning " SENT("one")},
    {"refused: no model has the room", MODELS(W(100), W(100), W(200)), "start",
     BEFORE "model_start " FAILED},
    {"refused: the roomier one fits the budget",
     MODELS(W(100), W(2000) PRICE(1000000), W(100)), "start",
     BEFORE "model_start " SENT("one")},
    {"refused: it does not", MODELS(W(100), W(2000) PRICE(2000000), W(100)),
     "start", BEFORE "model_start " FAILED},
    {"the provider refuses: a larger one", MODELS("", W(900), W(2000)),
     "start fail:overflow retry text done",
     BEGIN SENT("two") " +ask model_end " END "run_end(ok)"},
    {"the provider refuses: larger than its own, whatever the estimate",
     MODELS(W(2000), W(2000), W(3000)), "start fail:overflow",
     BEGIN SENT("two")},
    {"the provider refuses: no larger one", MODELS(W(3000), W(2000), W(100)),
     "start fail:overflow",
     BEGIN "model_end(failed) context_start context_end turn_end(failed) "
           "metrics run_end(failed)"},
    {"the provider refuses: none is known", MODELS(W(2000), "", W(100)),
     "start fail:overflow", BEGIN "warning " SENT("one")},
    {"another failure: the next", MODELS(W(2000), "", W(3000)),
     "start fail:auth", BEGIN SENT("one")},
    {"another failure: but none that is far too small",
     MODELS(W(2000), W(100), W(900)), "start fail:auth",
     BEGIN "warning " SENT("two")},
    {"another failure: all are", MODELS(W(2000), W(100), W(100)),
     "start fail:auth", BEGIN FAILED},
};

static void test_window(void)
{
    char prompt[4000];

    for (size_t i = 0; i < sizeof prompt; i++)
        prompt[i] = "xyz "[i % 4]; /* a word is a token */
    for (size_t i = 0; i < tap_count(windows); i++) {
        struct world w;

        world_init(&w, &plain, windows[i].config);
        w.start.prompt = (wend_str){prompt, sizeof prompt};
        w.start.limits.cost_nano = 1500; /* 1.5 for each token */
        play(&w, windows[i].inputs);
        tap_is_str(buf_view(&w.said), str_of(windows[i].wanted), "window: %s",
                   windows[i].why);
        tap_is_i64(w.broken, 0, "window: %s: the log says the same",
                   windows[i].why);
        world_free(&w);
    }
}

static void test_faults(void)
{
    static const char *const plays[] = {
        "start text think done",
        "start text call:r call:r call:w call:nope call:r={ done ok:call_1 "
        "ok:call_2 yes:call_3 ok:call_3 text done",
        "start call:r={\"a\":[1,2]} call:w=[] done say cancel ok:call_1",
        "start fail:network retry text fail:network",
        "start call:w={\"p\":\"no\"} done time pause continue stop",
        "start call:r cancel patience",
    };

    for (size_t i = 0; i < tap_count(plays); i++) {
        struct fault f = {0};
        int bad = 0;

        while (fault_next(&f)) {
            struct mem m = fault_mem(&f);
            struct world w;

            world_init(&w, &m, CONFIG);
            w.lawful = false;
            w.kept.chunk_min = w.scratch.chunk_min = 64;
            play(&w, plays[i]);
            bad += w.failed != f.hit;
            world_free(&w);
            bad += f.live != 0;
        }
        tap_is_i64(bad, 0, "each failing allocation is seen: %s", plays[i]);
    }
}

int main(void)
{
    test_no_limits();
    test_budget();
    test_unknown_cost();
    test_reserve();
    test_usage();
    test_retry_delay();
    test_fallback();
    test_window();
    test_failed_usage();
    test_faults();
    test_many_turns();
    return tap_done();
}
