/*
 * test_tt_context.c - what the loop does when a conversation outgrows the
 * window of its model. The words are those of tt_help.h.
 */
#include "tt_help.h"

#define SMALL(window)                            \
    "{" TOOLS "," POLICY(                        \
        "all") ",\"context_tokens\":" window "," \
               "\"eager\":\"off\",\"loop\":\"off\",\"output_tokens\":10}"
#define OFF_IN(window)                           \
    "{" TOOLS "," POLICY(                        \
        "all") ",\"context_tokens\":" window "," \
               "\"compaction\":\"off\",\"eager\":\"off\",\"loop\":\"off\"}"
#define OFF OFF_IN("100")

#define UNKNOWN "{" TOOLS "," POLICY("all") ",\"loop\":\"off\"}"

/* 40 tokens or so; a summary that is not too long. */
#define LONG_TEXT "text:m1m1m1m1m1m1m1m1m1m1m1m1m1m1m1m1m1m1m1m1m1m1m1m1m1m1 "
#define CALL LONG_TEXT "call:r done ok:call_1 "
/* Until the next request would be too large: its context waits for a summary.
 */
#define FULL "start " CALL CALL CALL CALL CALL CALL CALL CALL CALL CALL CALL
#define SUMMARY "context_start model_start(summary) +ask "
#define ANSWER "context_end(new prefix) model_start +ask "

/* The words after the last `turn_start`. */
static wend_str last_turn(struct world *w)
{
    wend_str said = buf_view(&w->said), mark = STR("turn_start ");
    const char *at = said.ptr, *last = said.ptr;

    while ((at = memmem(at, said.len - (size_t)(at - said.ptr), mark.ptr,
                        mark.len))) {
        at += mark.len;
        last = at;
    }
    return str_skip(said, (size_t)(last - said.ptr));
}

struct context_row {
    const char *why, *config, *inputs, *wanted; /* of the last turn */
};

static const struct context_row orders[] = {
    {"a summary, then the answer", SMALL("680"), FULL SUM "done",
     SUMMARY "model_end compacted(summary) " ANSWER},
    {"an empty one, and a second one", SMALL("680"), FULL "done " SUM "done",
     SUMMARY "model_end(failed) warning model_start(summary) +ask "
             "model_end compacted(summary) " ANSWER},
    {"a refusal is no summary", SMALL("680"), FULL "text:sorry done",
     SUMMARY "model_end(failed) warning model_start(summary) +ask"},
    {"one with a call is invalid", SMALL("680"), FULL "text call:r done",
     SUMMARY "model_end(failed) warning model_start(summary) +ask"},
    {"three that are none: the newest messages", SMALL("680"),
     FULL "done done done",
     SUMMARY "model_end(failed) warning model_start(summary) +ask "
             "model_end(failed) warning model_start(summary) +ask "
             "model_end(failed) warning compacted(window) " ANSWER},
    {"one that fails for good: the newest messages", SMALL("680"),
     FULL "fail:auth",
     SUMMARY "model_end(failed) warning compacted(window) " ANSWER},
    {"one that breaks off is asked for again", SMALL("680"),
     FULL "text fail:network",
     SUMMARY "model_end(failed) warning model_start(summary) +ask"},
    {"one that a rate limit delays", SMALL("680"),
     FULL "fail:rate_limit retry " SUM "done",
     SUMMARY "model_retry +retry +ask model_end compacted(summary) " ANSWER},
    {"canceled while it is written", SMALL("680"), FULL "text cancel",
     SUMMARY "control(cancel) model_end(canceled) context_end "
             "turn_end(canceled) metrics run_end(canceled) +stop_model"},
    {"said while it is written: in the next turn", SMALL("680"),
     FULL "say " SUM "done",
     SUMMARY "message model_end compacted(summary) " ANSWER},
    {"paused while it is written", SMALL("680"), FULL "pause " SUM "done",
     SUMMARY "control(pause) model_end context_end"},
    {"and continued: it is not asked for again", SMALL("680"),
     FULL "pause " SUM "done continue",
     SUMMARY "control(pause) model_end context_end control(continue) "
             "context_start compacted(summary) " ANSWER},
    {"the process dies while it is written", SMALL("680"),
     FULL "text resume " SUM "done",
     SUMMARY "run_resume model_end(superseded) context_end "
             "context_start model_start(summary) +ask model_end "
             "compacted(summary) " ANSWER},
    {"it must not call tools", SMALL("680"), FULL "call:r",
     "context_start model_start(summary) +ask"},
    {"off is off", OFF, FULL, NULL},
    {"an overflow that nothing announced", UNKNOWN,
     FULL "fail:overflow " SUM "done",
     "context_start context_end model_start +ask model_end(failed) "
     "context_start model_start(summary) +ask model_end "
     "compacted(summary) " ANSWER},
    {"a summary that is too long itself is asked for of less", UNKNOWN,
     FULL "fail:overflow fail:overflow " SUM "done",
     "context_start context_end model_start +ask model_end(failed) "
     "context_start model_start(summary) +ask model_end(failed) warning "
     "model_start(summary) +ask model_end compacted(summary) " ANSWER},
    {"a second one goes further, a fourth one ends the run", UNKNOWN,
     FULL "fail:overflow " SUM "done fail:overflow fail:overflow "
          "fail:overflow",
     "context_start context_end model_start +ask model_end(failed) "
     "context_start model_start(summary) +ask model_end "
     "compacted(summary) " ANSWER "model_end(failed) "
     "context_start compacted(window) " ANSWER "model_end(failed) "
     "context_start compacted(window) " ANSWER
     "model_end(failed) turn_end(failed) metrics run_end(failed)"},
    {"asked for, with room left", UNKNOWN,
     "start " CALL CALL CALL "compact " CALL SUM "done",
     SUMMARY "model_end compacted(summary) " ANSWER},
    {"asked for, although it is off", OFF_IN("2000"),
     "start " CALL CALL CALL "compact " CALL SUM "done",
     SUMMARY "model_end compacted(summary) " ANSWER},
    {"asked for, and done once", UNKNOWN,
     "start " CALL CALL CALL "compact " CALL SUM "done " CALL,
     "context_start context_end model_start +ask"},
    {"asked for, without a summary nothing goes", UNKNOWN,
     "start " CALL CALL CALL "compact " CALL "done done done",
     SUMMARY "model_end(failed) warning model_start(summary) +ask "
             "model_end(failed) warning model_start(summary) +ask "
             "model_end(failed) warning warning context_end model_start +ask"},
    {"asked for, and there is nothing to leave out", UNKNOWN,
     "start compact " CALL,
     "context_start warning context_end model_start +ask"},
    {"asked for before the process dies", UNKNOWN,
     "start " CALL CALL CALL "compact resume " CALL SUM "done",
     SUMMARY "model_end compacted(summary) " ANSWER},
    {"asked for while a summary is written", SMALL("680"),
     FULL "compact " SUM "done",
     SUMMARY "control(compact) model_end compacted(summary) " ANSWER},
    {"one that has nothing to leave out", ALL, "start fail:overflow",
     "context_start context_end model_start +ask model_end(failed) "
     "context_start context_end turn_end(failed) metrics run_end(failed)"},
};

static void test_rows(void)
{
    for (size_t i = 0; i < tap_count(orders); i++) {
        struct world w;
        wend_str wanted = str_of(orders[i].wanted ? orders[i].wanted : "");

        world_init(&w, &plain, orders[i].config);
        play(&w, orders[i].inputs);
        wanted.len -= wanted.len && wanted.ptr[wanted.len - 1] == ' ';
        if (orders[i].wanted)
            tap_is_str(last_turn(&w), wanted, "%s", orders[i].why);
        else
            tap_ok(!w.turn.compactions, "%s", orders[i].why);
        tap_is_i64(w.broken, 0, "%s: no law is broken", orders[i].why);
        world_free(&w);
    }
}

/* What the provider says of a refused request counts, in this turn and after.
 */
static void refuse(struct world *w, const char *words)
{
    feed(w, &(struct input){.kind = IN_MODEL_FAIL,
                            .ask = w->turn.ask,
                            .error.code = STR("overflow"),
                            .error.message = str_of(words)});
}

static void test_limit(void)
{
    struct world w;

    world_init(&w, &plain, UNKNOWN);
    play(&w, FULL);
    refuse(&w, "maximum context length is 300 tokens");
    tap_is_i64(turn_room(&w.turn).window, 300, "a limit below the request");
    world_free(&w);
    world_init(&w, &plain, UNKNOWN);
    play(&w, FULL);
    refuse(&w, "maximum context length is 900 tokens");
    tap_ok(w.turn.refused == 1 && w.turn.refused_tokens == 901,
           "a limit above the estimate corrects it");
    world_free(&w);
}

/* ---- Another model for summaries ----------------------------------------- */

#define CHEAP(window)                                                        \
    "{" TOOLS "," POLICY("all") ",\"context_tokens\":680,\"eager\":\"off\"," \
                                "\"loop\":\"off\",\"output_tokens\":10,"     \
                                "\"fallback\":[{\"name\":\"cheap\","         \
                                "\"model\":\"openai:cheap\",\"aside\":true," \
                                "\"context_tokens\":" window "}],"           \
                                "\"summary_model\":\"cheap\"}"

static void test_summary_model(void)
{
    static const struct {
        const char *why, *window, *inputs, *model;
        int64_t compactions;
    } rows[] = {
        {"it is asked for the summary", CHEAP("9000"), FULL, "cheap", 0},
        {"then the run's own continues", CHEAP("9000"), FULL SUM "done",
         "script", 1},
        {"if it fails, the run's own is asked", CHEAP("9000"), FULL "done",
         "script", 0},
        {"if it cannot be asked, too", CHEAP("9000"), FULL "fail:auth",
         "script", 0},
        {"if its window is too small, too", CHEAP("300"), FULL, "script", 0},
        {"a retry stays with it", CHEAP("9000"), FULL "fail:rate_limit retry",
         "cheap", 0},
        {"it is asked again after a crash", CHEAP("9000"), FULL "text resume",
         "cheap", 0},
        {"it is no fallback", CHEAP("9000"), "start fail:auth", "script", 0},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct world w;

        world_init(&w, &plain, rows[i].window);
        play(&w, rows[i].inputs);
        tap_is_str(w.turn.model, rows[i].model, "summary model: %s",
                   rows[i].why);
        tap_ok(w.turn.compactions == rows[i].compactions && !w.broken,
               "  no law is broken");
        world_free(&w);
    }
}

/* ---- Pins ---------------------------------------------------------------- */

static void test_pins(void)
{
    static const struct {
        const char *why;
        size_t bytes;
        bool pin, ok;
    } rows[] = {
        {"a short one", 40, true, true},
        {"one over the window", 8000, true, false},
        {"the same without a pin", 8000, false, true},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct buf text = {.mem = &plain};
        struct world w;

        while (text.len < rows[i].bytes)
            buf_cstr(&text, "word ");
        world_init(&w, &plain, SMALL("680"));
        play(&w, "start");
        feed(&w, &(struct input){.kind = IN_SAY,
                                 .text = buf_view(&text),
                                 .pin = rows[i].pin});
        tap_ok((w.turn.pending != NULL) == rows[i].ok, "pin: %s", rows[i].why);
        tap_ok(str_ends(buf_view(&w.said), rows[i].ok ? "message" : "warning"),
               "  and it is said");
        world_free(&w);
        buf_free(&text);
    }
}

/* ---- Every event --------------------------------------------------------- */

/* A process that knows the first `lines` events alone. False: there are fewer.
 */
static bool fold_some(struct world *w, wend_str log, int lines)
{
    while (lines && log.len) {
        struct arena a = {.mem = &plain};
        wend_str line;
        wend_event ev;

        if (!str_line(&log, &line) ||
            event_read(line, &a, no_blob, NULL, &ev, NULL) != WEND_OK)
            broke(w, "an event reads back");
        turn_apply(&w->turn, &ev, &w->keep);
        w->time_us = ev.time_us;
        fold(w, &ev);
        arena_free(&a);
        lines--;
    }
    w->asked = w->turn.phase == PH_MODEL;
    if (w->asked)
        reply_init(&w->reply, &plain, w->time_us);
    return !lines;
}

static void write_summaries(struct world *w)
{
    for (int i = 0; i < 4 && w->turn.phase == PH_MODEL &&
                    w->turn.purpose == WEND_PURPOSE_SUMMARY;
         i++)
        play(w, SUM "done");
}

/* A result that is cut, after which a summary is needed all the same. */
static void fill(struct world *w)
{
    struct input in = {
        .kind = IN_CALL_DONE,
        .done = {.call = STR("call_1"), .outcome = WEND_OUTCOME_OK}};
    struct buf text = {.mem = &plain};

    play(w, "start " CALL CALL CALL CALL CALL CALL CALL CALL CALL CALL LONG_TEXT
            "call:r done");
    while (text.len < 4000)
        buf_cstr(&text, "word ");
    in.done.turn = w->turn.counter;
    in.done.output = buf_view(&text);
    feed(w, &in);
    buf_free(&text);
}

/* Whatever the last event is that was written, the next request is the one of
 * a run that no one interrupts. */
static void test_every_event(void)
{
    struct world live;
    int first = 0, count = 0;

    world_init(&live, &plain, SMALL("680"));
    fill(&live);
    tap_is_str(last_turn(&live),
               "context_start compacted(trimmed) model_start(summary) +ask",
               "every event: results are cut, then a summary is asked for");
    write_summaries(&live);
    tap_is_i64(live.turn.compactions, 2, "every event: both are done");
    count = (int)str_count(buf_view(&live.log), '\n');
    first = count - 7; /* from turn_start on */
    for (int n = first; n <= count; n++) {
        struct world w;

        world_init(&w, &plain, SMALL("680"));
        if (!fold_some(&w, buf_view(&live.log), n))
            broke(&w, "there are that many events");
        play(&w, "resume");
        write_summaries(&w);
        tap_ok(w.turn.phase == PH_MODEL &&
                   w.turn.purpose == WEND_PURPOSE_ANSWER &&
                   w.turn.history->prefix == live.turn.history->prefix &&
                   turn_tokens(&w.turn) == turn_tokens(&live.turn),
               "every event: a resume after event %d of %d: %lld messages", n,
               count, (long long)w.turn.history->index + 1);
        tap_ok(w.turn.compactions == 2 && !w.broken, "  both are done, once");
        world_free(&w);
    }
    world_free(&live);
}

int main(void)
{
    test_every_event();
    test_summary_model();
    test_pins();
    test_rows();
    test_limit();
    return tap_done();
}
