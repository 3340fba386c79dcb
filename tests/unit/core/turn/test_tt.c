/*
 * test_tt.c - what the loop decides: the orders of events and effects, as
 * wend-events(7) has them, by table. The words are those of tt_help.h.
 */
#include "tt_help.h"

static void test_text(void)
{
    static const struct row rows[] = {
        {.why = "a text run",
         .config = ALL,
         .inputs = "start text text done",
         .wanted = BEGIN "model_end " END "run_end(ok)"},
        {.why = "nothing follows the end",
         .config = ALL,
         .inputs = "start text done done start say cancel tick time "
                   "fail:network ok:call_1",
         .wanted = BEGIN "model_end " END "run_end(ok)"},
        {.why = "nothing precedes the start",
         .config = ALL,
         .inputs = "cancel tick say done start start",
         .wanted = BEGIN},
        {.why = "an empty answer",
         .config = ALL,
         .inputs = "start done",
         .wanted = BEGIN "model_end " END "run_end(ok)"},
        {.why = "metrics while the model is slow",
         .config = ALL,
         .inputs = "start tick tick text done",
         .wanted = BEGIN "metrics metrics model_end " END "run_end(ok)"},
        {.why = "a message that is paused goes on in another turn",
         .config = ALL,
         .inputs = "start text halt done text done",
         .wanted = BEGIN "model_end " NEXT "model_end " END "run_end(ok)"},
        {.why = "so does one without a word",
         .config = ALL,
         .inputs = "start halt done text done",
         .wanted = BEGIN "model_end " NEXT "model_end " END "run_end(ok)"},
        {.why = "said while the model streams: another turn",
         .config = ALL,
         .inputs = "start text say done text done",
         .wanted =
             BEGIN "message model_end " NEXT "model_end " END "run_end(ok)"},
    };

    check_rows(rows, tap_count(rows));
}

static void test_calls(void)
{
    static const struct row rows[] = {
        {.why = "a tool turn, its call started early",
         .config = ALL,
         .inputs = "start call:r done ok:call_1 text done",
         .wanted =
             BEGIN "model_part call_start(call_1) +run(call_1) model_end "
                   "call_end(call_1) " NEXT "model_end " END "run_end(ok)"},
        {.why = "the same with eager off",
         .config = LATER,
         .inputs = "start call:r done ok:call_1 text done",
         .wanted = BEGIN
         "model_end call_start(call_1) +run(call_1) call_end(call_1) " NEXT
         "model_end " END "run_end(ok)"},
        {.why = "an early call that ends before its message",
         .config = ALL,
         .inputs = "start call:r ok:call_1 text done",
         .wanted = BEGIN
         "model_part call_start(call_1) +run(call_1) call_end(call_1) "
         "model_end " NEXT},
        {.why = "model_part only once",
         .config = ALL,
         .inputs = "start call:r call:r",
         .wanted = BEGIN "model_part call_start(call_1) +run(call_1) "
                         "call_start(call_2) +run(call_2)"},
        {.why = "an undeclared tool waits for the message",
         .config = ALL,
         .inputs = "start call:u done",
         .wanted = BEGIN "model_end call_start(call_1) +run(call_1)"},
        {.why = "unless eager is all",
         .config = EAGER,
         .inputs = "start call:u",
         .wanted = BEGIN "model_part call_start(call_1) +run(call_1)"},
        {.why = "ends in another order than starts",
         .config = ALL,
         .inputs = "start call:r call:r done ok:call_2 ok:call_1",
         .wanted =
             BEGIN "model_part call_start(call_1) +run(call_1) "
                   "call_start(call_2) +run(call_2) model_end call_end(call_2) "
                   "call_end(call_1) " NEXT},
        {.why = "a failed call does not fail the run",
         .config = ALL,
         .inputs = "start call:r done bad:call_1 text done",
         .wanted = BEGIN "model_part call_start(call_1) +run(call_1) model_end "
                         "call_end(call_1,failed) " NEXT "model_end " END
                         "run_end(ok)"},
        {.why = "an answer that comes twice counts once",
         .config = ALL,
         .inputs = "start call:r call:r done ok:call_1 ok:call_1 bad:call_1",
         .wanted = BEGIN
         "model_part call_start(call_1) +run(call_1) "
         "call_start(call_2) +run(call_2) model_end call_end(call_1)"},
        {.why = "an answer of the turn before counts nothing",
         .config = ALL,
         .inputs = "start call:r done ok:call_1 call:r old:call_1",
         .wanted = BEGIN "model_part call_start(call_1) +run(call_1) model_end "
                         "call_end(call_1) " NEXT
                         "model_part call_start(call_1) +run(call_1)"},
        {.why = "an answer without a question",
         .config = ALL,
         .inputs = "start ok:call_9 done",
         .wanted = BEGIN "model_end " END "run_end(ok)"},
    };

    check_rows(rows, tap_count(rows));
}

static void test_order(void)
{
    static const struct row rows[] = {
        {.why = "reading calls beside each other, as many as allowed",
         .config = LATER,
         .limits.parallel = 2,
         .inputs = "start call:r call:r call:r done ok:call_2 ok:call_1",
         .wanted = BEGIN
         "model_end call_start(call_1) call_start(call_2) +run(call_1) "
         "+run(call_2) call_end(call_2) call_start(call_3) +run(call_3) "
         "call_end(call_1)"},
        {.why = "a writing call waits for those before it",
         .config = LATER,
         .inputs = "start call:r call:w call:r done ok:call_1 ok:call_2",
         .wanted =
             BEGIN "model_end call_start(call_1) +run(call_1) call_end(call_1) "
                   "call_start(call_2) +run(call_2) call_end(call_2) "
                   "call_start(call_3) +run(call_3)"},
        {.why = "writing calls one by one",
         .config = LATER,
         .inputs = "start call:w call:w done ok:call_1",
         .wanted =
             BEGIN "model_end call_start(call_1) +run(call_1) call_end(call_1) "
                   "call_start(call_2) +run(call_2)"},
        {.why = "early, too",
         .config = ALL,
         .inputs = "start call:w call:r ok:call_1",
         .wanted = BEGIN
         "model_part call_start(call_1) +run(call_1) call_end(call_1) "
         "call_start(call_2) +run(call_2)"},
        {.why = "early calls keep to the limit",
         .config = ALL,
         .limits.parallel = 1,
         .inputs = "start call:r call:r ok:call_1",
         .wanted = BEGIN
         "model_part call_start(call_1) +run(call_1) call_end(call_1) "
         "call_start(call_2) +run(call_2)"},
    };

    check_rows(rows, tap_count(rows));
}

static void test_refusals(void)
{
    static const struct row rows[] = {
        {.why = "an unknown tool",
         .config = ALL,
         .inputs = "start call:nope done",
         .wanted = BEGIN
         "model_end call_start(call_1) call_end(call_1,failed) " NEXT},
        {.why = "arguments that are no JSON",
         .config = ALL,
         .inputs = "start call:r={\"a\": done",
         .wanted = BEGIN
         "model_end call_start(call_1) call_end(call_1,failed) " NEXT},
        {.why = "arguments that are no object",
         .config = ALL,
         .inputs = "start call:r=[1] done",
         .wanted = BEGIN
         "model_end call_start(call_1) call_end(call_1,failed) " NEXT},
        {.why = "arguments that do not fit the schema",
         .config = ALL,
         .inputs = "start call:s={\"tex\":1} done",
         .wanted = BEGIN
         "model_end call_start(call_1) call_end(call_1,failed) " NEXT},
        {.why = "denied where there is no person to ask",
         .config = DENY,
         .inputs = "start call:w done",
         .wanted = BEGIN
         "model_end call_start(call_1) call_end(call_1,denied) " NEXT},
        {.why = "one refused, one good",
         .config = LATER,
         .inputs = "start call:nope call:r done ok:call_2",
         .wanted =
             BEGIN "model_end call_start(call_1) call_end(call_1,failed) "
                   "call_start(call_2) +run(call_2) call_end(call_2) " NEXT},
    };

    check_rows(rows, tap_count(rows));
}

static void test_changed(void)
{
    static const struct row rows[] = {
        {.why = "approved with other arguments",
         .config = ASK,
         .inputs = "start call:w done yes:call_1={\"a\":1} ok:call_1",
         .wanted =
             BEGIN "model_end approval_ask(call_1) approval_answer(call_1) "
                   "call_start(call_1) +run(call_1) call_end(call_1) " NEXT},
        {.why = "a hook looks at what a person changed, and lets it go",
         .config = ASK_HOOKS,
         .inputs = "start hook call:w done yes:call_1={\"a\":1} hook:call_1",
         .wanted = "run_start turn_start +hook context_start context_end "
                   "model_start +ask model_end approval_ask(call_1) "
                   "approval_answer(call_1) +hook(call_1) call_start(call_1) "
                   "+run(call_1)"},
        {.why = "or changes it again, which is not approved",
         .config = ASK_HOOKS,
         .inputs = "start hook call:w done yes:call_1={\"a\":1} "
                   "hook:call_1=change",
         .wanted = "run_start turn_start +hook context_start context_end "
                   "model_start +ask model_end approval_ask(call_1) "
                   "approval_answer(call_1) +hook(call_1) call_start(call_1) "
                   "call_end(call_1,denied) turn_end metrics turn_start +hook"},
    };

    check_rows(rows, tap_count(rows));
}

static void test_approval(void)
{
    static const struct row rows[] = {
        {.why = "approved",
         .config = ASK,
         .inputs = "start call:w done yes:call_1 ok:call_1",
         .wanted =
             BEGIN "model_end approval_ask(call_1) approval_answer(call_1) "
                   "call_start(call_1) +run(call_1) call_end(call_1) " NEXT},
        {.why = "not approved",
         .config = ASK,
         .inputs = "start call:w done no:call_1",
         .wanted =
             BEGIN "model_end approval_ask(call_1) approval_answer(call_1) "
                   "call_start(call_1) call_end(call_1,denied) " NEXT},
        {.why = "answered twice",
         .config = ASK,
         .inputs = "start call:w done yes:call_1 no:call_1 yes:call_1",
         .wanted =
             BEGIN "model_end approval_ask(call_1) approval_answer(call_1) "
                   "call_start(call_1) +run(call_1)"},
        {.why = "answered though not asked",
         .config = ASK,
         .inputs = "start yes:call_1 call:r yes:call_1",
         .wanted = BEGIN "model_part call_start(call_1) +run(call_1)"},
        {.why = "what needs no approval does not wait for it",
         .config = ASK,
         .inputs = "start call:r call:w done",
         .wanted = BEGIN "model_part call_start(call_1) +run(call_1) model_end "
                         "approval_ask(call_2)"},
        {.why = "labels of calls before it count when a call starts",
         .config = LABELS,
         .inputs = "start call:web call:mail call:out done ok:call_1 ok:call_2 "
                   "yes:call_3 ok:call_3",
         .wanted = BEGIN
         "model_end call_start(call_1) +run(call_1) call_end(call_1) "
         "call_start(call_2) +run(call_2) call_end(call_2) "
         "approval_ask(call_3) approval_answer(call_3) call_start(call_3) "
         "+run(call_3) call_end(call_3) " NEXT},
        {.why = "and in later turns; no person to ask is a no",
         .config = LABELS_ALL,
         .inputs = "start call:web call:mail done ok:call_1 ok:call_2 call:out "
                   "done",
         .wanted = BEGIN
         "model_end call_start(call_1) +run(call_1) call_end(call_1) "
         "call_start(call_2) +run(call_2) call_end(call_2) " NEXT
         "model_end call_start(call_1) call_end(call_1,denied) " NEXT},
        {.why = "a hook cannot change what was approved",
         .config = ASK_HOOKS,
         .inputs = "start hook call:w done yes:call_1 hook:call_1=change",
         .wanted = "run_start turn_start +hook context_start context_end "
                   "model_start +ask model_end approval_ask(call_1) "
                   "approval_answer(call_1) +hook(call_1) call_start(call_1) "
                   "call_end(call_1,denied) turn_end metrics turn_start +hook"},
        {.why = "canceled while asked",
         .config = ASK,
         .inputs = "start call:w done cancel yes:call_1",
         .wanted = BEGIN "model_end approval_ask(call_1) control(cancel) "
                         "call_start(call_1) call_end(call_1,canceled) "
                         "turn_end(canceled) metrics run_end(canceled)"},
    };

    check_rows(rows, tap_count(rows));
}

static void test_failures(void)
{
    static const struct row rows[] = {
        {.why = "the model is dead, after all retries",
         .config = ALL,
         .inputs = "start fail:network retry fail:service retry "
                   "fail:rate_limit",
         .wanted = BEGIN
         "model_retry +retry +ask model_retry +retry +ask "
         "model_end(failed) turn_end(failed) metrics run_end(failed)"},
        {.why = "a retry helps",
         .config = ALL,
         .inputs = "start fail:timeout retry text done",
         .wanted =
             BEGIN "model_retry +retry +ask model_end " END "run_end(ok)"},
        {.why = "no retry after the first piece",
         .config = ALL,
         .inputs = "start text fail:network",
         .wanted = BEGIN
         "model_end(failed) turn_end(failed) metrics run_end(failed)"},
        {.why = "no retry after the first thought",
         .config = ALL,
         .inputs = "start think fail:network",
         .wanted = BEGIN
         "model_end(failed) turn_end(failed) metrics run_end(failed)"},
        {.why = "no retry of what will not change",
         .config = ALL,
         .inputs = "start fail:auth",
         .wanted = BEGIN
         "model_end(failed) turn_end(failed) metrics run_end(failed)"},
        {.why = "a message whose call has started is closed, not retried",
         .config = ALL,
         .inputs = "start text call:r fail:network ok:call_1 text done",
         .wanted = BEGIN
         "model_part call_start(call_1) +run(call_1) model_end(failed) "
         "call_end(call_1) " NEXT "model_end " END "run_end(ok)"},
        {.why = "calls that have not started were never made",
         .config = ALL,
         .inputs = "start call:r call:u fail:network ok:call_1",
         .wanted = BEGIN
         "model_part call_start(call_1) +run(call_1) model_end(failed) "
         "call_end(call_1) " NEXT},
    };

    check_rows(rows, tap_count(rows));
}

static void test_limits(void)
{
    static const struct row rows[] = {
        {.why = "the turn limit",
         .config = LATER,
         .limits.turns = 1,
         .inputs = "start call:r done ok:call_1",
         .wanted = BEGIN "model_end call_start(call_1) +run(call_1) "
                         "call_end(call_1) " END "run_end(limit)"},
        {.why = "an answer within the turn limit",
         .config = ALL,
         .limits.turns = 1,
         .inputs = "start text done",
         .wanted = BEGIN "model_end " END "run_end(ok)"},
        {.why = "the time limit while the model streams",
         .config = ALL,
         .limits.time_ms = 1000,
         .inputs = "start text time",
         .wanted = "run_start turn_start context_start context_end "
                   "model_start +time +ask control(limits) "
                   "model_end(canceled) turn_end(limit) metrics "
                   "run_end(limit) +stop_model"},
        {.why = "the time limit while a call runs",
         .config = LATER,
         .limits.time_ms = 1000,
         .inputs = "start call:r done time bad:call_1",
         .wanted = "run_start turn_start context_start context_end "
                   "model_start +time +ask model_end call_start(call_1) "
                   "+run(call_1) control(limits) +stop(call_1) +patience "
                   "call_end(call_1,failed) turn_end(limit) metrics "
                   "run_end(limit)"},
        {.why = "the token limit, before the model is asked",
         .config = ALL,
         .limits.tokens = 1,
         .inputs = "start",
         .wanted = "run_start turn_start context_start context_end "
                   "turn_end(limit) metrics run_end(limit)"},
    };

    check_rows(rows, tap_count(rows));
}

static void test_cancel(void)
{
    static const struct row rows[] = {
        {.why = "canceled while the model streams",
         .config = ALL,
         .inputs = "start text cancel",
         .wanted = BEGIN
         "control(cancel) model_end(canceled) turn_end(canceled) metrics "
         "run_end(canceled) +stop_model"},
        {.why = "canceled while calls run and wait",
         .config = LATER,
         .inputs = "start call:w call:w done cancel bad:call_1",
         .wanted = BEGIN
         "model_end call_start(call_1) +run(call_1) control(cancel) "
         "call_start(call_2) call_end(call_2,canceled) +stop(call_1) "
         "+patience call_end(call_1,failed) turn_end(canceled) metrics "
         "run_end(canceled)"},
        {.why = "a call that does not stop is left behind",
         .config = LATER,
         .inputs = "start call:w done cancel patience ok:call_1",
         .wanted =
             BEGIN "model_end call_start(call_1) +run(call_1) control(cancel) "
                   "+stop(call_1) +patience call_end(call_1,canceled) "
                   "turn_end(canceled) metrics run_end(canceled)"},
        {.why = "canceled with an early call open",
         .config = ALL,
         .inputs = "start call:r cancel ok:call_1",
         .wanted = BEGIN
         "model_part call_start(call_1) +run(call_1) control(cancel) "
         "model_end(canceled) +stop_model +stop(call_1) +patience "
         "call_end(call_1) turn_end(canceled) metrics run_end(canceled)"},
        {.why = "canceled before the model is asked",
         .config = HOOKS,
         .inputs = "start cancel hook",
         .wanted = "run_start turn_start +hook control(cancel) "
                   "turn_end(canceled) metrics run_end(canceled)"},
        {.why = "canceled between two attempts",
         .config = ALL,
         .inputs = "start fail:network cancel retry",
         .wanted =
             BEGIN "model_retry +retry control(cancel) model_end(canceled) "
                   "turn_end(canceled) metrics run_end(canceled) +stop_model"},
        {.why = "canceled twice, and other things meanwhile",
         .config = LATER,
         .inputs = "start call:w done cancel cancel say pause time stop "
                   "ok:call_1",
         .wanted = BEGIN
         "model_end call_start(call_1) +run(call_1) control(cancel) "
         "+stop(call_1) +patience call_end(call_1) turn_end(canceled) "
         "metrics run_end(canceled)"},
    };

    check_rows(rows, tap_count(rows));
}

static void test_pause(void)
{
    static const struct row rows[] = {
        {.why = "paused while the model streams: no call starts",
         .config = ALL,
         .inputs = "start pause call:r done continue ok:call_1",
         .wanted = BEGIN
         "control(pause) model_end control(continue) call_start(call_1) "
         "+run(call_1) call_end(call_1) " NEXT},
        {.why = "paused while a call runs: no turn asks the model",
         .config = LATER,
         .inputs = "start call:r done pause ok:call_1 continue",
         .wanted =
             BEGIN "model_end call_start(call_1) +run(call_1) control(pause) "
                   "call_end(call_1) " END "turn_start control(continue) "
                   "context_start context_end model_start +ask"},
        {.why = "paused twice, continued twice",
         .config = ALL,
         .inputs = "start pause pause continue continue",
         .wanted = BEGIN "control(pause) control(continue)"},
        {.why = "canceled while paused",
         .config = LATER,
         .inputs = "start call:r pause done cancel",
         .wanted = BEGIN
         "control(pause) model_end control(cancel) call_start(call_1) "
         "call_end(call_1,canceled) turn_end(canceled) metrics "
         "run_end(canceled)"},
        {.why = "paused between two attempts: the next one waits",
         .config = ALL,
         .inputs = "start fail:network pause retry continue retry",
         .wanted = BEGIN "model_retry +retry control(pause) +retry "
                         "control(continue) +ask"},
    };

    check_rows(rows, tap_count(rows));
}

#define HOOKED "run_start turn_start +hook "
#define GO "context_start context_end model_start +ask "

static void test_hooks(void)
{
    static const struct row rows[] = {
        {.why = "a hook says go",
         .config = HOOKS,
         .inputs = "start hook text done",
         .wanted = HOOKED GO "model_end " END "run_end(ok)"},
        {.why = "a hook adds to the conversation",
         .config = HOOKS,
         .inputs = "start hook=change text done",
         .wanted = HOOKED "message " GO "model_end " END "run_end(ok)"},
        {.why = "a hook answers instead",
         .config = HOOKS,
         .inputs = "start hook=skip",
         .wanted = HOOKED "context_start context_end model_start model_end " END
                          "run_end(ok)"},
        {.why = "a hook stops the run",
         .config = HOOKS,
         .inputs = "start stop",
         .wanted = HOOKED "control(cancel) turn_end(failed) metrics "
                          "run_end(failed)"},
        {.why = "a hook stops the run while the model streams",
         .config = HOOKS,
         .inputs = "start hook text stop",
         .wanted = HOOKED GO
         "control(cancel) model_end(canceled) turn_end(failed) metrics "
         "run_end(failed) +stop_model"},
        {.why = "a call's hook says go; no call starts early",
         .config = HOOKS,
         .inputs = "start hook call:r done hook:call_1 ok:call_1",
         .wanted = HOOKED GO
         "model_end +hook(call_1) call_start(call_1) +run(call_1) "
         "call_end(call_1) " END "turn_start +hook"},
        {.why = "a call's hook changes its arguments",
         .config = HOOKS,
         .inputs = "start hook call:s={\"text\":\"\"} done "
                   "hook:call_1=change",
         .wanted = HOOKED GO
         "model_end +hook(call_1) call_start(call_1) +run(call_1)"},
        {.why = "a call's hook answers instead",
         .config = HOOKS,
         .inputs = "start hook call:r done hook:call_1=skip",
         .wanted = HOOKED GO
         "model_end +hook(call_1) call_start(call_1) call_end(call_1) " END
         "turn_start +hook"},
        {.why = "a hook that answers twice counts once",
         .config = HOOKS,
         .inputs = "start hook hook call:r done hook:call_1 hook:call_1",
         .wanted = HOOKED GO
         "model_end +hook(call_1) call_start(call_1) +run(call_1)"},
        {.why = "asked about again until it starts, started once",
         .config = HOOKS,
         .inputs = "start hook call:r call:r done hook:call_1=skip "
                   "hook:call_2 hook:call_2",
         .wanted = HOOKED GO
         "model_end +hook(call_1) +hook(call_2) call_start(call_1) "
         "call_end(call_1) +hook(call_2) call_start(call_2) +run(call_2)"},
    };

    check_rows(rows, tap_count(rows));
}

int main(void)
{
    test_text();
    test_calls();
    test_order();
    test_refusals();
    test_approval();
    test_changed();
    test_failures();
    test_limits();
    test_cancel();
    test_pause();
    test_hooks();
    return tap_done();
}
