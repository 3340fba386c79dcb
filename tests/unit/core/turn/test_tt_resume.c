/*
 * test_tt_resume.c - what is decided when a run goes on after its process
 * died, by table. The words are those of tt_help.h.
 */
#include "tt_help.h"

#define UNKNOWN(how, approve)                                                  \
    "{" TOOLS ",\"policy\":{\"approve\":\"" approve "\",\"on_unknown\":\"" how \
    "\",\"rules\":[\"u\",\"r\",\"w\"]}}"

static void test_model(void)
{
    static const struct row rows[] = {
        {.why = "a message that was cut off is void, and asked for again",
         .config = ALL,
         .inputs = "start text resume text done",
         .wanted = BEGIN "run_resume model_end(superseded) model_start +ask "
                         "model_end " END "run_end(ok)"},
        {.why = "so is one of which nothing came",
         .config = ALL,
         .inputs = "start resume text done",
         .wanted = BEGIN "run_resume model_end(superseded) model_start +ask "
                         "model_end " END "run_end(ok)"},
        {.why = "and so is the second attempt",
         .config = ALL,
         .inputs = "start text resume text resume text done",
         .wanted = BEGIN "run_resume model_end(superseded) model_start +ask "
                         "run_resume model_end(superseded) model_start +ask "
                         "model_end " END "run_end(ok)"},
        {.why = "one that waits to be tried again",
         .config = ALL,
         .inputs = "start fail:network resume text done",
         .wanted = BEGIN "model_retry +retry run_resume model_end(superseded) "
                         "model_start +ask model_end " END "run_end(ok)"},
        {.why = "a paused run stays paused",
         .config = ALL,
         .inputs = "start pause resume continue text done",
         .wanted = BEGIN "control(pause) run_resume model_end(superseded) "
                         "control(continue) model_start +ask model_end " END
                         "run_end(ok)"},
        {.why = "and a second crash finds it so",
         .config = ALL,
         .inputs = "start pause resume resume continue",
         .wanted = BEGIN "control(pause) run_resume model_end(superseded) "
                         "run_resume control(continue) model_start +ask"},
        {.why = "the hook of a turn that was asked is not asked again",
         .config = HOOKS,
         .inputs = "start hook text resume text done",
         .wanted = "run_start turn_start +hook context_start context_end "
                   "model_start +ask run_resume model_end(superseded) "
                   "model_start +ask model_end " END "run_end(ok)"},
        {.why = "one that has not answered is",
         .config = HOOKS,
         .inputs = "start resume hook",
         .wanted = "run_start turn_start +hook run_resume +hook context_start "
                   "context_end model_start +ask"},
        {.why = "what was said meanwhile is kept",
         .config = ALL,
         .inputs = "start say resume text done text done",
         .wanted = BEGIN "message run_resume model_end(superseded) "
                         "model_start +ask model_end " NEXT "model_end " END
                         "run_end(ok)"},
        {.why = "the model that was changed to is asked",
         .config = SPARES,
         .inputs = "start fail:auth resume",
         .wanted = BEGIN "model_retry(one) +retry run_resume "
                         "model_end(superseded) model_start +ask"},
        {.why = "nothing follows the end",
         .config = ALL,
         .inputs = "start text done resume",
         .wanted = BEGIN "model_end " END "run_end(ok)"},
        {.why = "nothing precedes the start",
         .config = ALL,
         .inputs = "resume start",
         .wanted = BEGIN},
    };

    check_rows(rows, tap_count(rows));
}

#define PART BEGIN "model_part call_start(call_1) +run(call_1) "

static void test_calls(void)
{
    static const struct row rows[] = {
        {.why = "a message with a call that began is closed with it",
         .config = ALL,
         .inputs = "start text call:r resume ok:call_1",
         .wanted = PART "run_resume model_end(failed) "
                        "call_end(call_1,superseded) call_start(call_1) "
                        "+run(call_1) call_end(call_1) " NEXT},
        {.why = "a result that was kept is not asked for again",
         .config = ALL,
         .inputs = "start call:r ok:call_1 resume",
         .wanted = PART "call_end(call_1) run_resume model_end(failed) " NEXT},
        {.why = "reading and idempotent calls run again",
         .config = LATER,
         .inputs = "start call:r call:r done resume ok:call_2 ok:call_1",
         .wanted = BEGIN
         "model_end call_start(call_1) call_start(call_2) "
         "+run(call_1) +run(call_2) run_resume "
         "call_end(call_1,superseded) call_start(call_1) "
         "call_end(call_2,superseded) call_start(call_2) +run(call_1) "
         "+run(call_2) call_end(call_2) call_end(call_1) " NEXT},
        {.why = "an unsafe one does not; the model is told",
         .config = ALL,
         .inputs = "start call:u call:u done resume ok:call_1 ok:call_2",
         .wanted =
             BEGIN "model_end call_start(call_1) +run(call_1) "
                   "run_resume call_end(call_1,unknown) "
                   "call_start(call_2) +run(call_2) call_end(call_2) " NEXT},
        {.why = "while paused nothing runs again",
         .config = LATER,
         .inputs = "start call:w done pause resume ok:call_1 continue "
                   "ok:call_1",
         .wanted = BEGIN "model_end call_start(call_1) +run(call_1) "
                         "control(pause) run_resume control(continue) "
                         "call_end(call_1,superseded) call_start(call_1) "
                         "+run(call_1) call_end(call_1) " NEXT},
        {.why = "a crash while it runs again",
         .config = LATER,
         .inputs = "start call:w done resume resume ok:call_1",
         .wanted = BEGIN "model_end call_start(call_1) +run(call_1) "
                         "run_resume call_end(call_1,superseded) "
                         "call_start(call_1) +run(call_1) "
                         "run_resume call_end(call_1,superseded) "
                         "call_start(call_1) +run(call_1) "
                         "call_end(call_1) " NEXT},
        {.why = "a question is asked again",
         .config = ASK,
         .inputs = "start call:u done resume yes:call_1 ok:call_1",
         .wanted =
             BEGIN "model_end approval_ask(call_1) run_resume "
                   "approval_ask(call_1) approval_answer(call_1) "
                   "call_start(call_1) +run(call_1) call_end(call_1) " NEXT},
        {.why = "one that was answered is not",
         .config = ASK,
         .inputs = "start call:u call:u done yes:call_1 yes:call_2 resume",
         .wanted = BEGIN "model_end approval_ask(call_1) "
                         "approval_ask(call_2) approval_answer(call_1) "
                         "call_start(call_1) +run(call_1) "
                         "approval_answer(call_2) run_resume "
                         "call_end(call_1,unknown) call_start(call_2) "
                         "+run(call_2)"},
    };

    check_rows(rows, tap_count(rows));
}

static void test_changed(void)
{
    static const struct row rows[] = {
        {.why = "one that was answered with other arguments is not",
         .config = ASK,
         .inputs = "start call:u call:u done yes:call_1 "
                   "yes:call_2={\"a\":1} resume",
         .wanted = BEGIN "model_end approval_ask(call_1) "
                         "approval_ask(call_2) approval_answer(call_1) "
                         "call_start(call_1) +run(call_1) "
                         "approval_answer(call_2) run_resume "
                         "call_end(call_1,unknown) call_start(call_2) "
                         "+run(call_2)"},
    };

    check_rows(rows, tap_count(rows));
}

#define BEGUN BEGIN "model_end call_start(call_1) +run(call_1) run_resume "

static void test_unknown(void)
{
    static const struct row rows[] = {
        {.why = "stop",
         .config = UNKNOWN("stop", "ask"),
         .inputs = "start call:u done resume",
         .wanted = BEGUN "call_end(call_1,unknown) control(cancel) "
                         "turn_end(failed) metrics run_end(failed)"},
        {.why = "stop is not for what may run twice",
         .config = UNKNOWN("stop", "ask"),
         .inputs = "start call:r resume",
         .wanted = PART "run_resume model_end(failed) "
                        "call_end(call_1,superseded) call_start(call_1) "
                        "+run(call_1)"},
        {.why = "retry",
         .config = UNKNOWN("retry", "ask"),
         .inputs = "start call:u done resume ok:call_1",
         .wanted = BEGUN "call_end(call_1,superseded) call_start(call_1) "
                         "+run(call_1) call_end(call_1) " NEXT},
        {.why = "ask, yes",
         .config = UNKNOWN("ask", "ask"),
         .inputs = "start call:u done resume ok:call_1 yes:call_1 ok:call_1",
         .wanted = BEGUN "approval_ask(call_1) approval_answer(call_1) "
                         "call_end(call_1,superseded) call_start(call_1) "
                         "+run(call_1) call_end(call_1) " NEXT},
        {.why = "ask, no",
         .config = UNKNOWN("ask", "ask"),
         .inputs = "start call:u done resume no:call_1",
         .wanted = BEGUN "approval_ask(call_1) approval_answer(call_1) "
                         "call_end(call_1,unknown) " NEXT},
        {.why = "ask, and there is no person",
         .config = UNKNOWN("ask", "deny"),
         .inputs = "start call:u done resume",
         .wanted = BEGUN "call_end(call_1,unknown) " NEXT},
        {.why = "ask, then cancel",
         .config = UNKNOWN("ask", "ask"),
         .inputs = "start call:u done resume cancel",
         .wanted = BEGUN "approval_ask(call_1) control(cancel) "
                         "call_end(call_1,unknown) turn_end(canceled) metrics "
                         "run_end(canceled)"},
        {.why = "ask, then another crash",
         .config = UNKNOWN("ask", "ask"),
         .inputs = "start call:u done resume resume yes:call_1",
         .wanted = BEGUN
         "approval_ask(call_1) run_resume "
         "approval_ask(call_1) approval_answer(call_1) "
         "call_end(call_1,superseded) call_start(call_1) +run(call_1)"},
        {.why = "ask, yes, then another crash: it is asked about again",
         .config = UNKNOWN("ask", "ask"),
         .inputs = "start call:u done resume yes:call_1 resume",
         .wanted = BEGUN "approval_ask(call_1) approval_answer(call_1) "
                         "call_end(call_1,superseded) call_start(call_1) "
                         "+run(call_1) run_resume "
                         "approval_ask(call_1)"},
    };

    check_rows(rows, tap_count(rows));
}

static void test_stop(void)
{
    static const struct row rows[] = {
        {.why = "a cancel that was not over",
         .config = ALL,
         .inputs = "start call:u done cancel resume",
         .wanted = BEGIN "model_end call_start(call_1) +run(call_1) "
                         "control(cancel) +stop(call_1) +patience run_resume "
                         "call_end(call_1,unknown) turn_end(canceled) metrics "
                         "run_end(canceled)"},
        {.why = "the same of a call that reads",
         .config = LATER,
         .inputs = "start call:r done cancel resume",
         .wanted = BEGIN "model_end call_start(call_1) +run(call_1) "
                         "control(cancel) +stop(call_1) +patience run_resume "
                         "call_end(call_1,canceled) turn_end(canceled) "
                         "metrics run_end(canceled)"},
        {.why = "one that is taken up to be stopped starts nothing again",
         .config = LATER,
         .inputs = "start call:r done close",
         .wanted = BEGIN "model_end call_start(call_1) +run(call_1) run_resume "
                         "control(cancel) call_end(call_1,canceled) "
                         "turn_end(canceled) metrics run_end(canceled)"},
        {.why = "nor asks its model",
         .config = ALL,
         .inputs = "start text close",
         .wanted = BEGIN "run_resume control(cancel) model_end(canceled) "
                         "turn_end(canceled) metrics run_end(canceled) "
                         "+stop_model"},
        {.why = "also if it is paused",
         .config = ALL,
         .inputs = "start pause resume close",
         .wanted = BEGIN "control(pause) run_resume model_end(superseded) "
                         "run_resume control(cancel) turn_end(canceled) "
                         "metrics run_end(canceled)"},
        {.why = "one that was stopped before is not stopped again",
         .config = LATER,
         .inputs = "start call:r done cancel close",
         .wanted = BEGIN "model_end call_start(call_1) +run(call_1) "
                         "control(cancel) +stop(call_1) +patience run_resume "
                         "call_end(call_1,canceled) turn_end(canceled) "
                         "metrics run_end(canceled)"},
    };

    check_rows(rows, tap_count(rows));
}

static void test_time(void)
{
    static const struct row rows[] = {
        {.why = "the time that is left",
         .config = ALL,
         .inputs = "start later resume",
         .limits = {.time_ms = 60000},
         .wanted = "run_start turn_start context_start context_end "
                   "model_start +time +ask run_resume model_end(superseded) "
                   "model_start +time +ask"},
        {.why = "time in which no process had it does not count",
         .config = ALL,
         .inputs = "start later resume later resume later resume",
         .limits = {.time_ms = 5000},
         .wanted = "run_start turn_start context_start context_end "
                   "model_start +time +ask run_resume model_end(superseded) "
                   "model_start +time +ask run_resume model_end(superseded) "
                   "model_start +time +ask run_resume model_end(superseded) "
                   "model_start +time +ask"},
        {.why = "time that is over",
         .config = ALL,
         .inputs = "start text call:r call:u later tick resume",
         .limits = {.time_ms = 5000},
         .wanted = "run_start turn_start context_start context_end "
                   "model_start +time +ask model_part call_start(call_1) "
                   "+run(call_1) metrics run_resume control(limits) "
                   "model_end(canceled) call_end(call_1,canceled) "
                   "turn_end(limit) metrics run_end(limit) +stop_model"},
    };

    check_rows(rows, tap_count(rows));
}

/* What names hide: attempts, arguments, texts, what is left of the time. */
static void test_details(void)
{
    struct world w;
    struct input in = {.kind = IN_RESUME, .epoch = 7};
    const wend_event *ev;
    struct step s;

    world_init(&w, &plain, HOOKS);
    w.start.limits.time_ms = 60000;
    play(&w, "start hook text call:w={\"text\":\"own\"} done "
             "hook:call_1=change resume");
    tap_is_i64(turn_call_state(&w.turn, 0)->attempt, 2, "the second attempt");
    tap_is_str(turn_call_state(&w.turn, 0)->args, STR("{\"text\":\"hooked\"}"),
               "with what the first really got");
    in.time_us = w.time_us += 20000000;
    arena_reset(&w.scratch);
    step_begin(&s, &w.scratch, &w.keep);
    tt(&w.turn, &in, &s);
    ev = &s.events->ev;
    tap_is_i64(ev->u.run_resume.epoch, 7, "the epoch");
    tap_is_i64(ev->u.run_resume.from_seq, w.turn.seq, "where it stood");
    tap_is_str(ev->u.run_resume.unsettled_json, STR("[\"call_1\"]"),
               "what was open");
    tap_is_i64(s.effects->delay_ms, 60000 - s.turn.metrics.ms,
               "time goes on from the first start");
    for (struct effect *fx = s.effects; fx; fx = fx->next)
        if (fx->kind == FX_RUN_CALL)
            tap_is_str(fx->key, STR(RUN_ID "/0/call_1"), "the same key");
    world_free(&w);

    world_init(&w, &plain, ALL);
    play(&w, "start text:one call:r text:two resume");
    tap_is_str(w.turn.answer, STR("one"),
               "a message with calls says what was sealed");
    tap_is_i64(w.turn.history->index, 1, "and is part of the conversation");
    world_free(&w);

    world_init(&w, &plain, ALL);
    play(&w, "start text:lost resume");
    tap_ok(!w.turn.answer.ptr && !w.turn.history->index,
           "one that is void is not");
    tap_is_i64(w.turn.attempt, 2, "its second attempt");
    world_free(&w);
}

/* As if the log of the next step, an answer, ended with its event `last`:
 * that is where a fork may begin. */
static void answer_until(struct world *w, wend_event_type last)
{
    struct input in = {.kind = IN_MODEL_DONE,
                       .ask = w->turn.ask,
                       .reply = &w->reply,
                       .time_us = w->time_us += 1000};
    const struct step_event *e;
    struct step s;

    arena_reset(&w->scratch);
    step_begin(&s, &w->scratch, &w->keep);
    tt(&w->turn, &in, &s);
    for (e = s.events; e; e = e->next) {
        turn_apply(&w->turn, &e->ev, &w->keep);
        if (e->ev.type == last)
            break;
    }
    w->asked = false;
    w->lawful = false; /* the fold has not read it */
}

#define REPAIR                                                          \
    "metrics turn_start context_start context_end model_start(repair) " \
    "+ask model_end turn_end(failed) metrics run_end(failed)"

/* An answer that is wrong is repaired once, wherever the past ends. */
static void test_repair(void)
{
    static const struct {
        wend_event_type last;
        const char *wanted;
    } rows[] = {
        {WEND_MODEL_END, "run_resume warning message turn_end " REPAIR},
        {WEND_WARNING, "run_resume message turn_end " REPAIR},
        {WEND_MESSAGE, "run_resume turn_end " REPAIR},
        {WEND_TURN_END, "run_resume " REPAIR},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct world w;

        world_init(&w, &plain, "{\"schema\":{\"type\":\"object\"}}");
        play(&w, "start text");
        answer_until(&w, rows[i].last);
        buf_clear(&w.said);
        play(&w, "resume text done");
        tap_is_str(buf_view(&w.said), str_of(rows[i].wanted),
                   "a wrong answer, the past ends with its %s",
                   wend_event_name(rows[i].last));
        world_free(&w);
    }
}

/* A fork may run fewer calls at once than were under way. */
static void test_fewer(void)
{
    struct world w;

    world_init(&w, &plain, LATER);
    play(&w, "start call:r call:r done");
    w.turn.limits.parallel = 1;
    w.lawful = false; /* the fold knows of no fork */
    buf_clear(&w.said);
    play(&w, "resume ok:call_2 ok:call_1 ok:call_2");
    tap_is_str(buf_view(&w.said),
               STR("run_resume call_end(call_1,superseded) "
                   "call_start(call_1) +run(call_1) call_end(call_1) "
                   "call_end(call_2,superseded) call_start(call_2) "
                   "+run(call_2) "
                   "call_end(call_2) turn_end metrics turn_start "
                   "context_start context_end model_start +ask"),
               "no more run again at once than may");
    world_free(&w);
}

/* A fork may be given the result of a call that waits for approval. */
static void test_given(void)
{
    wend_event ev = {.type = WEND_CALL_END, .run = STR(RUN_ID)};
    struct world w;

    world_init(&w, &plain, UNKNOWN("ask", "ask"));
    play(&w, "start call:u done resume");
    ev.seq = w.turn.seq + 1;
    ev.time_us = w.time_us;
    ev.u.call_end.call = STR("call_1");
    ev.u.call_end.name = STR("u");
    ev.u.call_end.outcome = WEND_OUTCOME_OK;
    ev.u.call_end.given = true;
    turn_apply(&w.turn, &ev, &w.keep);
    w.lawful = false; /* the fold has not read it */
    buf_clear(&w.said);
    play(&w, "resume yes:call_1");
    tap_is_str(buf_view(&w.said),
               STR("run_resume turn_end metrics turn_start context_start "
                   "context_end model_start +ask"),
               "no approval is asked for what has its result");
    world_free(&w);
}

/* Every allocation of a resume fails once. */
static void test_memory(void)
{
    int64_t tries = 0;
    bool done = false;

    while (!done && tries < 200) {
        struct fault f = {0};
        struct mem mem = fault_mem(&f);
        struct world w;

        world_init(&w, &mem, ASK);
        w.lawful = false;
        play(&w, "start text call:r call:u call:w done");
        f.fail_at = f.count + ++tries;
        play(&w, "resume");
        done = !w.failed;
        f.fail_at = 0;
        world_free(&w);
        if (f.live)
            break;
    }
    tap_ok(done && tries > 1, "out of memory at any point: nothing leaks");
}

int main(void)
{
    test_model();
    test_calls();
    test_changed();
    test_unknown();
    test_stop();
    test_time();
    test_details();
    test_repair();
    test_fewer();
    test_given();
    test_memory();
    return tap_done();
}
