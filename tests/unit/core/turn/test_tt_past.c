/*
 * test_tt_past.c - the order of a plan that a model writes follows from what
 * its actions took in the past. The words are those of tt_help.h.
 */
#include "tt_help.h"

#define CONFIG                                                     \
    "{\"tools\":[{\"name\":\"plan\",\"class\":\"read\"},"          \
    "{\"name\":\"r\",\"class\":\"read\"},"                         \
    "{\"name\":\"w\",\"class\":\"idempotent\"},{\"name\":\"u\"}]," \
    "\"planner\":\"plan!\",\"eager\":\"off\"," POLICY("all") "}"

#define ACT(name, target, rest)                                     \
    "{\"name\":\"" name "\",\"type\":\"tool\",\"target\":\"" target \
    "\",\"mode\":\"async\"" rest "}"
#define PLAN                                                \
    "start write:{\"actions\":[" ACT("a", "r", "") "," ACT( \
        "b", "u", "") "," ACT("c", "w", "") "]} seal done"
#define WANTED(starts)                                                         \
    "run_start turn_start context_start context_end model_start(plan) +ask "   \
    "model_part plan_start(p1) plan_action plan_action plan_action model_end " \
    "call_start(call_1) " starts

static const struct plan_known known[] = {
    {{"tool r", 6}, {3, 0, 50}},
    {{"tool u", 6}, {1, 1, -1}}, /* it never ended well */
    {{"tool w", 6}, {1, 0, 900}},
};
static const struct plan_past past = {known, tap_count(known), {"m", 1}};
static const struct plan_past none;

int main(void)
{
    static const struct row rows[] = {
        {.why = "what took longest goes first",
         .config = CONFIG,
         .past = &past,
         .inputs = PLAN,
         .wanted = WANTED("action_start(c) action_start(a) action_start(b) "
                          "+act(2) +act(0) +act(1)")},
        {.why = "without a past they start as they are written",
         .config = CONFIG,
         .past = &none,
         .inputs = PLAN,
         .wanted = WANTED("action_start(a) action_start(b) action_start(c) "
                          "+act(0) +act(1) +act(2)")},
    };

    check_rows(rows, tap_count(rows));
    return tap_done();
}
