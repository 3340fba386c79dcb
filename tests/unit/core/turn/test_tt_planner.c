/*
 * test_tt_planner.c - what is decided about plans that a model writes, by
 * table. The words are those of tt_help.h.
 */
#include "tt_help.h"

#define PLANNER(rest)                                               \
    "{\"tools\":[{\"name\":\"plan\",\"class\":\"read\"},"           \
    "{\"name\":\"r\",\"class\":\"read\"},"                          \
    "{\"name\":\"w\",\"class\":\"idempotent\"},{\"name\":\"u\"}],"  \
    "\"endpoints\":[{\"name\":\"kv.put\",\"class\":\"idempotent\"," \
    "\"own\":true}],\"planner\":\"plan!\"," rest "}"
#define MAY PLANNER(POLICY("all"))
#define MAY_LATER PLANNER(POLICY("all") ",\"eager\":\"off\"")
#define MAY_ALL PLANNER(POLICY("all") ",\"eager\":\"all\"")
#define MAY_HOOKS PLANNER(POLICY("all") ",\"hooks\":true")
#define MAY_ASK PLANNER(POLICY("ask"))
#define MAY_DENY PLANNER(POLICY("deny"))
#define NO_PLAN \
    PLANNER("\"policy\":{\"approve\":\"all\",\"rules\":[\"!plan\"]}")

#define ACT(name, target, rest)                                     \
    "{\"name\":\"" name "\",\"type\":\"tool\",\"target\":\"" target \
    "\",\"mode\":\"async\"" rest "}"
#define R(name, rest) ACT(name, "r", rest)
#define DEP(list) ",\"depends_on\":[" list "]"
#define KEY(k) ",\"output_key\":\"" k "\""
#define LLM(name)       \
    "{\"name\":\"" name \
    "\",\"type\":\"llm\",\"prompt\":\"a-b-c-d-e-f-g-h\",\"mode\":\"async\"}"

#define OPEN "write:{\"actions\":["
#define SHUT " write:]} seal"
#define ONE(k) OPEN R("a", KEY(k)) "]} seal"
#define WHOLE(actions) OPEN actions "]} seal"

#define PTURN "turn_start context_start context_end model_start(plan) +ask "
#define PBEGIN "run_start " PTURN
#define PNEXT "turn_end metrics " PTURN
#define PEND "turn_end metrics "
#define FIRST PBEGIN "model_part plan_start(p1) plan_action "
#define OVER "plan_end metrics call_end(call_1) "

static void test_stream(void)
{
    static const struct row rows[] = {
        {.why = "an action starts with its closing brace",
         .config = MAY,
         .inputs = "start text " OPEN R("a", "") " write:," R("b", DEP("\"a\""))
             SHUT " done did:a did:b text done",
         .wanted = FIRST "action_start(a) +act(0) plan_action model_end "
                         "call_start(call_1) action_end(a) action_start(b) "
                         "+act(1) action_end(b) " OVER PNEXT "model_end " PEND
                         "run_end(ok)"},
        {.why = "and so does what waits for it, before the plan is whole",
         .config = MAY,
         .inputs = "start " OPEN R("a", "") " did:a write:," R(
             "b", DEP("\"a\"")) SHUT " done did:b",
         .wanted = FIRST "action_start(a) +act(0) action_end(a) plan_action "
                         "action_start(b) +act(1) model_end call_start(call_1) "
                         "action_end(b) " OVER PNEXT},
        {.why = "two in one piece are handed over one by one",
         .config = MAY,
         .inputs = "start " WHOLE(R("a", "") "," R("b", "")) " done",
         .wanted = FIRST "action_start(a) plan_action action_start(b) +act(0) "
                         "+act(1) model_end call_start(call_1)"},
        {.why = "an action that names one not yet written waits for it",
         .config = MAY,
         .inputs = "start " OPEN R("b", DEP("\"a\"")) " write:," R(
             "a", "") " did:a" SHUT " done did:b",
         .wanted = FIRST "plan_action action_start(a) +act(1) action_end(a) "
                         "action_start(b) +act(0) model_end call_start(call_1) "
                         "action_end(b) " OVER PNEXT},
        {.why = "an output that no action gives yet is waited for, too",
         .config = MAY,
         .inputs = "start " OPEN R(
             "b", ",\"params\":{\"x\":\"$k\"}" DEP(
                      "\"a\"")) " write:," R("a", KEY("k")) " did:a" SHUT
                                                            " done did:b",
         .wanted = FIRST "plan_action action_start(a) +act(1) action_end(a) "
                         "action_start(b) +act(0) model_end call_start(call_1) "
                         "action_end(b) " OVER PNEXT},
        {.why = "an unsafe one waits for the end of the message",
         .config = MAY,
         .inputs =
             "start " OPEN ACT("a", "u", "") " write:," R("b", "") SHUT " done",
         .wanted = FIRST "plan_action action_start(b) +act(1) model_end "
                         "call_start(call_1) action_start(a) +act(0)"},
        {.why = "a model cannot call it safer than it is",
         .config = MAY,
         .inputs = "start " OPEN ACT("a", "u", ",\"class\":\"read\"") SHUT,
         .wanted = FIRST},
        {.why = "but less safe",
         .config = MAY,
         .inputs = "start " OPEN ACT("a", "r", ",\"class\":\"unsafe\"") SHUT,
         .wanted = FIRST},
    };

    check_rows(rows, tap_count(rows));
}

static void test_order(void)
{
    static const struct row rows[] = {
        {.why = "eager all",
         .config = MAY_ALL,
         .inputs = "start " OPEN ACT("a", "u", "") SHUT,
         .wanted = FIRST "action_start(a) +act(0)"},
        {.why = "eager off",
         .config = MAY_LATER,
         .inputs = "start " OPEN R("a", "") SHUT " done",
         .wanted = FIRST "model_end call_start(call_1) action_start(a) "
                         "+act(0)"},
        {.why = "a hook may change the plan, so that it must be whole",
         .config = MAY_HOOKS,
         .inputs = "start hook " OPEN R("a", "") SHUT " done hook:call_1",
         .wanted = "run_start turn_start +hook context_start context_end "
                   "model_start(plan) +ask model_end +hook(call_1) "
                   "plan_start(p1) plan_action call_start(call_1) "
                   "action_start(a) +act(0)"},
        {.why = "a call before it goes first",
         .config = MAY,
         .inputs = "start call:u " OPEN R("a", "") SHUT " done ok:call_1",
         .wanted = PBEGIN "model_end call_start(call_1) +run(call_1) "
                          "call_end(call_1) plan_start(p1) plan_action "
                          "call_start(call_2) action_start(a) +act(0)"},
        {.why = "a call after it waits for it",
         .config = MAY,
         .inputs = "start " OPEN R("a", "") SHUT " call:r done did:a",
         .wanted = FIRST "action_start(a) +act(0) model_end call_start(call_1) "
                         "action_end(a) " OVER "call_start(call_2) "
                         "+run(call_2)"},
        {.why = "and so does a second plan",
         .config = MAY,
         .inputs = "start " WHOLE(R("a", "")) " " WHOLE(
             R("b", "")) " done did:a did:b",
         .wanted =
             FIRST "action_start(a) +act(0) model_end call_start(call_1) "
                   "action_end(a) " OVER "plan_start(p2) plan_action "
                   "call_start(call_2) action_start(b) +act(0) "
                   "action_end(b) plan_end metrics call_end(call_2) " PNEXT},
        {.why = "nothing starts while paused",
         .config = MAY,
         .inputs = "start pause " OPEN R("a", "") SHUT " done continue",
         .wanted = PBEGIN "control(pause) model_end control(continue) "
                          "plan_start(p1) plan_action call_start(call_1) "
                          "action_start(a) +act(0)"},
        {.why = "the call ends when what is forgotten has ended",
         .config = MAY,
         .inputs = "start " OPEN "{\"name\":\"a\",\"type\":\"tool\",\"target\":"
                   "\"r\",\"mode\":\"fire_and_forget\"}" SHUT " done did:a",
         .wanted =
             FIRST "action_start(a) +act(0) model_end call_start(call_1) "
                   "plan_end metrics action_end(a) call_end(call_1) " PNEXT},
    };

    check_rows(rows, tap_count(rows));
}

static void test_wrong(void)
{
    static const struct row rows[] = {
        {.why = "a wrong first action: nothing begins",
         .config = MAY,
         .inputs = "start " OPEN ACT("a", "nope", "") " write:," R("b", "") SHUT
         " done",
         .wanted = PBEGIN
         "model_end call_start(call_1) call_end(call_1,failed) " PNEXT},
        {.why =
             "a wrong second one: nothing more starts, what runs is finished",
         .config = MAY,
         .inputs = "start " OPEN R("a", "") " write:," R(
             "w", DEP("\"a\"")) " write:," ACT("b", "nope",
                                               "") " write:," R("c", "") SHUT
         " done did:a",
         .wanted =
             FIRST "action_start(a) +act(0) plan_action "
                   "warning(plan_invalid) action_end(w,skipped) model_end "
                   "call_start(call_1) action_end(a) plan_end(failed) "
                   "metrics call_end(call_1,failed) " PNEXT},
        {.why = "a name that never comes is known at the end",
         .config = MAY,
         .inputs = "start " OPEN R("a", "") " write:," R("b", DEP("\"zz\""))
             SHUT " done did:a",
         .wanted = FIRST "action_start(a) +act(0) plan_action model_end "
                         "call_start(call_1) action_end(b,skipped) "
                         "action_end(a) plan_end(failed) metrics "
                         "call_end(call_1,failed) " PNEXT},
        {.why = "a circle",
         .config = MAY,
         .inputs = "start " OPEN R("a", DEP("\"b\"")) " write:," R(
             "b", DEP("\"a\"")) SHUT " done",
         .wanted =
             FIRST "warning(plan_invalid) action_end(a,skipped) model_end "
                   "call_start(call_1) plan_end(failed) metrics "
                   "call_end(call_1,failed) " PNEXT},
        {.why = "a name twice",
         .config = MAY,
         .inputs =
             "start " OPEN R("a", "") " write:," R("a", "") SHUT " done did:a",
         .wanted =
             FIRST "action_start(a) +act(0) warning(plan_invalid) "
                   "model_end call_start(call_1) action_end(a) "
                   "plan_end(failed) metrics call_end(call_1,failed) " PNEXT},
    };

    check_rows(rows, tap_count(rows));
}

static void test_form(void)
{
    static const struct row rows[] = {
        {.why = "arguments that end as no JSON",
         .config = MAY,
         .inputs = "start " OPEN R("a", "") " write:]}} seal done did:a",
         .wanted = FIRST "action_start(a) +act(0) model_end "
                         "warning(plan_invalid) call_start(call_1) "
                         "action_end(a) plan_end(failed) metrics "
                         "call_end(call_1,failed) " PNEXT},
        {.why = "more than actions",
         .config = MAY,
         .inputs = "start " OPEN R("a", "") " write:],\"x\":1} seal done did:a",
         .wanted = FIRST "action_start(a) +act(0) model_end "
                         "warning(plan_invalid) call_start(call_1) "
                         "action_end(a) plan_end(failed) metrics "
                         "call_end(call_1,failed) " PNEXT},
        {.why = "an action that is no object, and none before it",
         .config = MAY,
         .inputs = "start " WHOLE("1") " done",
         .wanted = PBEGIN
         "model_end call_start(call_1) call_end(call_1,failed) " PNEXT},
        {.why = "an action that is no object, after one that is",
         .config = MAY,
         .inputs = "start " WHOLE(R("a", "") ",1") " done did:a",
         .wanted = FIRST "action_start(a) +act(0) model_end "
                         "warning(plan_invalid) call_start(call_1) "
                         "action_end(a) plan_end(failed) metrics "
                         "call_end(call_1,failed) " PNEXT},
        {.why = "no arguments at all",
         .config = MAY,
         .inputs = "start call:plan done",
         .wanted = PBEGIN
         "model_end call_start(call_1) call_end(call_1,failed) " PNEXT},
        {.why = "a plan as a target",
         .config = MAY,
         .inputs = "start " WHOLE(ACT("a", "plan", "")) " done",
         .wanted = PBEGIN
         "model_end call_start(call_1) call_end(call_1,failed) " PNEXT},
        {.why = "an agent that it was not given",
         .config = MAY,
         .inputs =
             "start " OPEN "{\"name\":\"a\",\"type\":\"agent\",\"target\":"
             "\"x.yaml\",\"prompt\":\"p\"}" SHUT " done",
         .wanted = PBEGIN
         "model_end call_start(call_1) call_end(call_1,failed) " PNEXT},
        {.why = "plans of files are none of its business",
         .config = MAY,
         .inputs = "start " OPEN "{\"name\":\"a\",\"type\":\"workflow\","
                   "\"target\":\"x.yaml\"}" SHUT " done",
         .wanted = PBEGIN
         "model_end call_start(call_1) call_end(call_1,failed) " PNEXT},
        {.why = "without a planner `plan` is no tool",
         .config = ALL,
         .inputs = "start " WHOLE(R("a", "")) " done",
         .wanted = BEGIN
         "model_end call_start(call_1) call_end(call_1,failed) " NEXT},
    };

    check_rows(rows, tap_count(rows));
}

static void test_policy(void)
{
    static const struct row rows[] = {
        {.why = "what has to be asked waits for the end of the message",
         .config = MAY_ASK,
         .inputs = "start " OPEN R("r", "") " write:," ACT("a", "w", "") SHUT
         " done yes:a did:a did:r",
         .wanted = FIRST "action_start(r) +act(0) plan_action model_end "
                         "call_start(call_1) approval_ask() "
                         "approval_answer() action_start(a) +act(1) "
                         "action_end(a) action_end(r) " OVER PNEXT},
        {.why = "what is denied is told",
         .config = MAY_DENY,
         .inputs = "start " OPEN ACT("a", "w", "") SHUT " done",
         .wanted = FIRST "model_end call_start(call_1) action_start(a) "
                         "action_end(a,denied) plan_end(failed) metrics "
                         "call_end(call_1,failed) " PNEXT},
        {.why = "the user's relics are not the model's",
         .config = MAY_DENY,
         .inputs =
             "start " OPEN "{\"name\":\"a\",\"type\":\"relic\",\"target\":"
             "\"kv.put\",\"mode\":\"async\"}" SHUT " done",
         .wanted = FIRST "model_end call_start(call_1) action_start(a) "
                         "action_end(a,denied) plan_end(failed) metrics "
                         "call_end(call_1,failed) " PNEXT},
        {.why = "a rule against plans",
         .config = NO_PLAN,
         .inputs = "start " OPEN R("a", "") SHUT " done",
         .wanted = PBEGIN
         "model_end call_start(call_1) call_end(call_1,denied) " PNEXT},
    };

    check_rows(rows, tap_count(rows));
}

static void test_cut(void)
{
    static const struct row rows[] = {
        {.why = "nothing was handed over: as any message",
         .config = MAY,
         .inputs = "start " OPEN " fail:network",
         .wanted = PBEGIN "model_end(failed) turn_end(failed) metrics "
                          "run_end(failed)"},
        {.why = "a plan that was cut: what had started is finished",
         .config = MAY,
         .inputs = "start " OPEN R("a", "") " write:," ACT(
             "b", "u", "") " fail:network did:a",
         .wanted =
             FIRST "action_start(a) +act(0) plan_action model_end(failed) "
                   "action_end(b,skipped) call_start(call_1) "
                   "action_end(a) plan_end(failed) metrics "
                   "call_end(call_1,failed) " PNEXT},
        {.why = "one that is only handed over is there to stay, too",
         .config = MAY_LATER,
         .inputs = "start " OPEN R("a", "") " fail:network",
         .wanted = FIRST "model_end(failed) action_end(a,skipped) "
                         "call_start(call_1) plan_end(failed) metrics "
                         "call_end(call_1,failed) " PNEXT},
    };

    check_rows(rows, tap_count(rows));
}

static void test_death(void)
{
    static const struct row rows[] = {
        {.why = "the process dies",
         .config = MAY,
         .inputs = "start " OPEN R("a", "") " write:," ACT("b", "u",
                                                           "") " resume did:a",
         .wanted =
             FIRST "action_start(a) +act(0) plan_action run_resume "
                   "model_end(failed) action_end(a,superseded) action_start(a) "
                   "action_end(b,skipped) call_start(call_1) +act(0) "
                   "action_end(a) plan_end(failed) metrics "
                   "call_end(call_1,failed) " PNEXT},
        {.why = "the process dies after the message",
         .config = MAY,
         .inputs = "start " OPEN R("a", "") " write:," R("b", DEP("\"a\"")) SHUT
         " done resume did:a resume did:b",
         .wanted = FIRST
         "action_start(a) +act(0) plan_action model_end call_start(call_1) "
         "run_resume action_end(a,superseded) action_start(a) +act(0) "
         "action_end(a) action_start(b) +act(1) run_resume "
         "action_end(b,superseded) action_start(b) +act(1) action_end(b) " OVER
             PNEXT},
        {.why = "an unsafe one that was under way",
         .config = MAY,
         .inputs = "start " OPEN ACT("a", "u", "") SHUT " done resume",
         .wanted = FIRST "model_end call_start(call_1) action_start(a) +act(0) "
                         "run_resume action_end(a,unknown) plan_end(failed) "
                         "metrics call_end(call_1,failed) " PNEXT},
        {.why = "approval is asked for again",
         .config = MAY_ASK,
         .inputs = "start " OPEN ACT("a", "w", "") SHUT " done resume yes:a",
         .wanted = FIRST "model_end call_start(call_1) approval_ask() "
                         "run_resume approval_ask() approval_answer() "
                         "action_start(a) +act(0)"},
    };

    check_rows(rows, tap_count(rows));
}

static void test_cancel(void)
{
    static const struct row rows[] = {
        {.why = "canceled while it is written",
         .config = MAY,
         .inputs = "start " OPEN R("a", "") " write:," ACT("b", "u",
                                                           "") " cancel did:a",
         .wanted = FIRST "action_start(a) +act(0) plan_action control(cancel) "
                         "model_end(canceled) call_start(call_1) "
                         "action_end(b,skipped) +stop_model +stop_act(0) "
                         "+patience action_end(a) plan_end(canceled) metrics "
                         "call_end(call_1,canceled) turn_end(canceled) metrics "
                         "run_end(canceled)"},
        {.why = "canceled while it runs",
         .config = MAY,
         .inputs = "start " OPEN R("a", "") SHUT " done cancel patience",
         .wanted = FIRST "action_start(a) +act(0) model_end call_start(call_1) "
                         "control(cancel) +stop_act(0) +patience "
                         "action_end(a,canceled) plan_end(canceled) metrics "
                         "call_end(call_1,canceled) turn_end(canceled) metrics "
                         "run_end(canceled)"},
        {.why = "canceled, and the process dies",
         .config = MAY,
         .inputs = "start " OPEN R("a", "") " cancel resume",
         .wanted = FIRST "action_start(a) +act(0) control(cancel) "
                         "model_end(canceled) call_start(call_1) +stop_model "
                         "+stop_act(0) +patience run_resume "
                         "action_end(a,canceled) plan_end(canceled) metrics "
                         "call_end(call_1,canceled) turn_end(canceled) metrics "
                         "run_end(canceled)"},
        {.why = "time is over while it is written",
         .config = MAY,
         .inputs = "start " OPEN R("a", "") " time did:a",
         .limits = {.time_ms = 60000},
         .wanted = "run_start turn_start context_start context_end "
                   "model_start(plan) +time +ask model_part plan_start(p1) "
                   "plan_action action_start(a) +act(0) control(limits) "
                   "model_end(canceled) call_start(call_1) +stop_model "
                   "+stop_act(0) +patience action_end(a) plan_end(limit) "
                   "metrics call_end(call_1,canceled) turn_end(limit) metrics "
                   "run_end(limit)"},
    };

    check_rows(rows, tap_count(rows));
}

#define RAN(plan, call)                                              \
    "model_part plan_start(" plan ") plan_action action_start(a) "   \
    "+act(0) model_end call_start(" call ") action_end(a) plan_end " \
    "metrics call_end(" call ") "
#define FAILED(plan)                                               \
    "model_part plan_start(" plan ") plan_action action_start(a) " \
    "+act(0) model_end call_start(call_1) action_end(a,failed) "   \
    "plan_end(failed) metrics call_end(call_1,failed) "

static void test_loop(void)
{
    static const struct row rows[] = {
        {.why = "plans one after the other, then an answer",
         .config = MAY,
         .inputs = "start " WHOLE(R("a", "")) " done did:a " WHOLE(
             R("a", KEY("k"))) " done did:a text done",
         .wanted = PBEGIN RAN("p1", "call_1") PNEXT RAN("p2", "call_1") PNEXT
         "model_end " PEND "run_end(ok)"},
        {.why = "what the first one gave is there for the second",
         .config = MAY,
         .inputs = "start " WHOLE(R("a", KEY("k"))) " done did:a=7 " WHOLE(
             R("a", ",\"when\":\"$k==7\"")) " done did:a",
         .wanted = PBEGIN RAN("p1", "call_1") PNEXT RAN("p2", "call_1") PNEXT},
        {.why = "a key can be given again",
         .config = MAY,
         .inputs = "start " WHOLE(R("a", KEY("k"))) " done did:a=7 " OPEN R(
             "a", KEY("k")) " write:," R("b",
                                         DEP("\"a\"") ",\"when\":\"$k==8\"")
             SHUT " done did:a=8",
         .wanted = PBEGIN RAN("p1", "call_1") PNEXT
         "model_part plan_start(p2) plan_action action_start(a) "
         "+act(0) plan_action model_end call_start(call_1) "
         "action_end(a) action_start(b) +act(1)"},
        {.why = "an empty plan is the end",
         .config = MAY,
         .inputs = "start text " WHOLE("") " done",
         .wanted = PBEGIN "model_end call_start(call_1) call_end(call_1) "
                          "warning(no_actions) " PEND "run_end(ok)"},
        {.why = "unless something was said meanwhile",
         .config = MAY,
         .inputs = "start text say " WHOLE("") " done",
         .wanted = PBEGIN "message model_end call_start(call_1) "
                          "call_end(call_1) warning(no_actions) " PNEXT},
        {.why = "the same plan twice is no progress",
         .config = MAY_LATER,
         .inputs = "start " WHOLE(R("a", "")) " done did:a " WHOLE(
             R("a", "")) " done",
         .wanted = PBEGIN
         "model_part plan_start(p1) plan_action model_end "
         "call_start(call_1) action_start(a) +act(0) action_end(a) " OVER PNEXT
         "model_part plan_start(p2) plan_action model_end "
         "warning(no_progress) call_start(call_1) "
         "action_end(a,skipped) plan_end(failed) metrics "
         "call_end(call_1,failed) " PEND "run_end(limit)"},
        {.why = "what of it has started is finished",
         .config = MAY,
         .inputs = "start " WHOLE(R("a", "")) " done did:a " WHOLE(
             R("a", "")) " done did:a",
         .wanted = PBEGIN RAN("p1", "call_1") PNEXT
         "model_part plan_start(p2) plan_action action_start(a) "
         "+act(0) model_end warning(no_progress) call_start(call_1) "
         "action_end(a) plan_end(failed) metrics "
         "call_end(call_1,failed) " PEND "run_end(limit)"},
    };

    check_rows(rows, tap_count(rows));
}

static void test_failures(void)
{
    static const struct row rows[] = {
        {.why = "it failed and comes back twice, then no more",
         .config = MAY,
         .inputs = "start " WHOLE(R("a", "")) " done didnt:a " WHOLE(
             R("a",
               KEY("k"))) " done didnt:a " WHOLE(R("a",
                                                   KEY("l"))) " done didnt:a",
         .wanted = PBEGIN FAILED("p1") PNEXT FAILED("p2") PNEXT FAILED("p3")
             PEND "run_end(failed)"},
        {.why = "one that works in between begins the count anew",
         .config = MAY,
         .inputs =
             "start " ONE("j") " done didnt:a " ONE("k") " done didnt:a " ONE(
                 "l") " done did:a " ONE("m") " done didnt:a",
         .wanted = PBEGIN FAILED("p1") PNEXT FAILED("p2")
             PNEXT RAN("p3", "call_1") PNEXT FAILED("p4") PNEXT},
        {.why = "an invalid plan counts as one that failed",
         .config = MAY,
         .inputs = "start call:plan done call:plan=1 done call:plan=[] done",
         .wanted = PBEGIN
         "model_end call_start(call_1) call_end(call_1,failed) " PNEXT
         "model_end call_start(call_1) call_end(call_1,failed) " PNEXT
         "model_end call_start(call_1) call_end(call_1,failed) " PEND
         "run_end(failed)"},
        {.why = "the turn limit",
         .config = MAY,
         .inputs = "start " WHOLE(R("a", "")) " done did:a",
         .limits = {.turns = 1},
         .wanted = PBEGIN RAN("p1", "call_1") PEND "run_end(limit)"},
        {.why = "no budget for an action's model",
         .config = MAY,
         .inputs = "start " WHOLE(LLM("a")) " done",
         .limits = {.tokens = 24},
         .wanted = FIRST "control(limits) model_end(canceled) "
                         "call_start(call_1) action_end(a,skipped) "
                         "plan_end(limit) metrics call_end(call_1,canceled) "
                         "turn_end(limit) metrics run_end(limit) +stop_model"},
    };

    check_rows(rows, tap_count(rows));
}

/* As many at once as the run may, which it says by itself. */
static void test_slots(void)
{
    static const struct {
        int64_t parallel;
        uint32_t slots;
    } rows[] = {{0, PARALLEL_DEFAULT},
                {1, 1},
                {PARALLEL_MAX - 1, PARALLEL_MAX - 1},
                {PARALLEL_MAX, PARALLEL_MAX}};

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct mem m = {0};
        struct world w;

        world_init(&w, &m, MAY);
        w.start.limits.parallel = rows[i].parallel;
        play(&w, "start " OPEN R("a", ""));
        tap_is_i64(plan_slots(&w.turn.plan), rows[i].slots, "%lld at once",
                   (long long)rows[i].parallel);
        world_free(&w);
    }
}

/* Each allocation fails once: the step leaves no trace, and the run goes on
 * from where it stood. */
static void test_memory(void)
{
    /* clang-format off */
    static const char inputs[] =
        "start text " OPEN R("a", KEY("k")) " write:,"
        R("b", DEP("\"a\"") ",\"params\":{\"x\":\"$k\"}")
        " did:a write:," ACT("c", "u", "") SHUT " done did:b didnt:c";
    /* clang-format on */
    struct fault f = {0};
    int bad = 0;

    while (fault_next(&f)) {
        struct mem m = fault_mem(&f);
        struct world w;

        world_init(&w, &m, MAY);
        w.lawful = false;
        play(&w, inputs);
        bad += w.failed != f.hit;
        world_free(&w);
        bad += f.live != 0;
    }
    tap_ok(!bad && f.fail_at > 50, "%lld allocations fail once each",
           (long long)f.fail_at);
}

int main(void)
{
    test_stream();
    test_order();
    test_wrong();
    test_form();
    test_policy();
    test_cut();
    test_death();
    test_cancel();
    test_loop();
    test_failures();
    test_slots();
    test_memory();
    return tap_done();
}
