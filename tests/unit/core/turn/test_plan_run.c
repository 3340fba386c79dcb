/*
 * test_plan_run.c - the rules by which a plan runs, one row each.
 *
 * What happens is a line: +x starts, ~x(ms) is tried again, -x ends (with
 * its outcome, reason and code unless ok), ?x waits for approval.
 */
#include "plan_help.h"

#define PLAN(options, actions)                                                 \
    "{\"wend\":\"plan/1\",\"name\":\"p\"," options "\"actions\":[" actions "]" \
    "}"
#define ACT(name, mode, target, rest)                           \
    "{\"name\":\"" name "\",\"type\":\"tool\",\"mode\":\"" mode \
    "\",\"target\":\"" target "\"" rest "}"
#define A(name, rest) ACT(name, "async", "r", rest)
#define U(name, rest) ACT(name, "async", "u", rest)
#define S(name, rest) ACT(name, "sync", "r", rest)
#define F(name, rest) ACT(name, "fire_and_forget", "r", rest)
#define DEP(list) ",\"depends_on\":[" list "]"
#define ANY ",\"wait_for_all\":false"
#define KEY(k) ",\"output_key\":\"" k "\""
#define WHEN(e) ",\"when\":\"" e "\""
#define RETRY ",\"retry\":{\"max\":2,\"delay\":\"10ms\",\"backoff\":3.0}"
#define DECIDE(name, cases) \
    "{\"name\":\"" name "\",\"type\":\"decision\",\"cases\":[" cases "]}"

static const struct {
    const char *why, *plan, *wanted;
    struct deed deeds[6]; /* 0 ms: 10 */
} rows[] = {
    {"async runs beside others, as many as may",
     PLAN("\"max_parallel\":2,", A("a", "") "," A("b", "") "," A("c", "")),
     "+a +b -a +c -b -c plan(ok) run(ok)",
     {{.ms = 10}, {.ms = 20}, {.ms = 20}}},
    {"sync holds whatever is not started",
     PLAN("", S("a", "") "," A("b", "") "," A("c", "")),
     "+a -a +b +c -b -c plan(ok) run(ok)",
     {{0}}},
    {"sync does not wait for what runs",
     PLAN("", A("a", ",\"priority\":1") "," S("b", "") "," A("c", "")),
     "+a +b -b +c -c -a plan(ok) run(ok)",
     {{.ms = 50}, {.ms = 10}, {.ms = 10}}},
    {"the longest remaining path goes first",
     PLAN("\"max_parallel\":1,",
          A("a", ",\"estimate\":\"1s\"") "," A(
              "b", ",\"estimate\":\"1s\"") "," A("c",
                                                 DEP("\"b\"") ",\"estimate"
                                                              "\":\"1s\"")),
     "+b -b +a -a +c -c plan(ok) run(ok)",
     {{0}}},
    {"a priority goes before any path",
     PLAN("\"max_parallel\":1,",
          A("a", "") "," A("b", ",\"priority\":-1") "," A("c", DEP("\"b\""))),
     "+a -a +b -b +c -c plan(ok) run(ok)",
     {{0}}},
    {"no barriers: what is ready starts",
     PLAN("",
          A("fast", "") "," A("slow", "") "," A("after", DEP("\"fast\"")) "," A(
              "join", DEP("\"after\",\"slow\""))),
     "+fast +slow -fast +after -slow -after +join -join plan(ok) run(ok)",
     {{.ms = 100}, {.ms = 1200}, {.ms = 1200}, {.ms = 1}}},
    {"fire and forget counts as ok once it has started",
     PLAN("", F("a", "") "," A("b", DEP("\"a\""))),
     "+a +b -b plan(ok) -a run(ok)",
     {{.ms = 100}, {.ms = 10}}},
    {"and its failure fails nothing",
     PLAN("", F("a", "") "," A("b", DEP("\"a\""))),
     "+a +b -a(failed,failed) -b plan(ok) run(ok)",
     {{.ms = 5, .fails = 9}, {.ms = 10}}},
    {"what waits for a failure is skipped, and so on",
     PLAN("", A("a", "") "," A("b", DEP("\"a\"")) "," A("c", DEP("\"b\""))),
     "+a -a(failed,failed) -b(skipped,dependency_failed) "
     "-c(skipped,dependencies_skipped) plan(failed) run(failed)",
     {{.ms = 10, .fails = 1}}},
    {"one of them is not ok: it does not run, whatever the others do",
     PLAN("", A("a", "") "," A("b", "") "," A("c", DEP("\"a\",\"b\""))),
     "+a +b -a(failed,failed) -c(skipped,dependency_failed) -b "
     "plan(failed) run(failed)",
     {{.ms = 10, .fails = 1}, {.ms = 20}}},
    {"the first that ends ok is enough",
     PLAN("", A("a", "") "," A("b", "") "," A("c", DEP("\"a\",\"b\"") ANY)),
     "+a +b -b +c -c -a plan(ok) run(ok)",
     {{.ms = 90}, {.ms = 20}, {.ms = 10}}},
    {"the first that ends ok is enough, if another failed before",
     PLAN("", A("a", "") "," A("b", "") "," A("c", DEP("\"a\",\"b\"") ANY)),
     "+a +b -a(failed,failed) -b +c -c plan(failed) run(failed)",
     {{.ms = 10, .fails = 1}, {.ms = 20}, {.ms = 10}}},
    {"none ends ok",
     PLAN("", A("a", "") "," A("b", "") "," A("c", DEP("\"a\",\"b\"") ANY)),
     "+a +b -a(failed,failed) -b(failed,failed) "
     "-c(skipped,dependency_failed) plan(failed) run(failed)",
     {{.ms = 10, .fails = 1}, {.ms = 20, .fails = 1}}},
    {"a condition that does not hold",
     PLAN("\"inputs\":{\"on\":false},",
          A("a", WHEN("$on")) "," A("b", DEP("\"a\"")) "," A("c",
                                                             WHEN("not $on"))),
     "-a(skipped,condition) -b(skipped,dependencies_skipped) +c -c plan(ok) "
     "run(ok)",
     {{0}}},
    {"a skipped one among those that ended ok does not matter",
     PLAN("\"inputs\":{\"on\":false},",
          A("a", WHEN("$on")) "," A("b", "") "," A("c", DEP("\"a\",\"b\""))),
     "-a(skipped,condition) +b -b +c -c plan(ok) run(ok)",
     {{0}}},
    {"a condition over a value",
     PLAN("", A("a", KEY("k")) "," A("b", DEP("\"a\"") WHEN("$k > 6")) "," A(
                  "c", DEP("\"a\"") WHEN("$k < 6"))),
     "+a -a -c(skipped,condition) +b -b plan(ok) run(ok)",
     {{.ms = 10, .output = "7"}}},
    {"a condition without a value fails its action",
     PLAN("", A("a", KEY("k")) "," A("b", DEP("\"a\"") WHEN("$k > 6"))),
     "+a -a +b -b(failed,bad_condition) plan(failed) run(failed)",
     {{.ms = 10, .output = "[]"}}},
    {"a failure that counts as skipped",
     PLAN("", A("a", ",\"skip_on_error\":true") "," A("b", DEP("\"a\"")) "," A(
                  "c", "")),
     "+a +c -a(failed,failed) -b(skipped,dependencies_skipped) -c plan(ok) "
     "run(ok)",
     {{.ms = 10, .fails = 1}, {.ms = 10}, {.ms = 20}}},
    {"a fallback takes the place of what failed",
     PLAN("\"outputs\":{\"x\":\"$k\"},",
          A("a", KEY("k") ",\"fallback\":\"f\"") "," A("f", "") "," A(
              "b", DEP("\"a\"") WHEN("$k == 1"))),
     "+a -a(failed,failed) +f -f +b -b plan(ok) run(ok)",
     {{.ms = 10, .fails = 1}}},
    {"a fallback that fails, too",
     PLAN("", A("a", ",\"fallback\":\"f\"") "," A("f", "") "," A("b",
                                                                 DEP("\"a\""))),
     "+a -a(failed,failed) +f -f(failed,failed) "
     "-b(skipped,dependency_failed) plan(failed) run(failed)",
     {{.ms = 10, .fails = 1}, {.ms = 10, .fails = 1}}},
    {"a fallback of a fallback",
     PLAN("",
          A("a", ",\"fallback\":\"f\"") "," A("f", ",\"fallback\":\"g\"") "," A(
              "g", "") "," A("b", DEP("\"a\""))),
     "+a -a(failed,failed) +f -f(failed,failed) +g -g +b -b plan(ok) run(ok)",
     {{.ms = 10, .fails = 1}, {.ms = 10, .fails = 1}}},
    {"what the last of them gave is the value of the first",
     PLAN("\"outputs\":{\"x\":\"$k\"},",
          A("a", KEY("k") ",\"fallback\":\"f\"") "," A(
              "f", ",\"fallback\":\"g\"") "," A("g",
                                                "") "," A("b",
                                                          DEP("\"a\"")
                                                              WHEN("$k == 2"))),
     "+a -a(failed,failed) +f -f(failed,failed) +g -g +b -b plan(ok) run(ok)",
     {{.ms = 10, .fails = 1}, {.ms = 10, .fails = 1}}},
    {"a fallback that is not needed",
     PLAN("", A("a", ",\"fallback\":\"f\"") "," A("f", "") "," A("b",
                                                                 DEP("\"a\""))),
     "+a -a -f(skipped,not_needed) +b -b plan(ok) run(ok)",
     {{0}}},
    {"a decision chooses, and the others are skipped",
     PLAN("\"inputs\":{\"n\":2},",
          DECIDE("d",
                 "{\"when\":\"$n > 2\",\"then\":[\"a\"]},"
                 "{\"when\":\"$n > 1\",\"then\":[\"b\"]},"
                 "{\"else\":[\"c\"]}") "," A("a", "") "," A("b", "") "," A("c",
                                                                           "")),
     "+d -d -a(skipped,not_chosen) -c(skipped,not_chosen) +b -b plan(ok) "
     "run(ok)",
     {{0}}},
    {"a decision without a case that holds chooses nothing",
     PLAN("",
          DECIDE("d", "{\"when\":\"1 > 2\",\"then\":[\"a\"]}") "," A("a", "")),
     "+d -d -a(skipped,not_chosen) plan(ok) run(ok)",
     {{0}}},
    {"a decision needs no slot",
     PLAN("\"max_parallel\":1,",
          A("a", "") "," DECIDE("d", "{\"else\":[\"b\"]}") "," A("b", "")),
     "+d -d +a -a +b -b plan(ok) run(ok)",
     {{0}}},
    {"retries, each later than the one before",
     PLAN("", A("a", RETRY)),
     "+a ~a(10) ~a(30) -a plan(ok) run(ok)",
     {{.ms = 10, .fails = 2, .effect_possible = true}}},
    {"and no more than it says",
     PLAN("", A("a", RETRY)),
     "+a ~a(10) ~a(30) -a(timeout,timeout) plan(failed) run(failed)",
     {{.ms = 10, .fails = 9, .as = WEND_OUTCOME_TIMEOUT}}},
    {"what may have had an effect is not tried again",
     PLAN("", U("a", RETRY)),
     "+a -a(failed,failed) plan(failed) run(failed)",
     {{.ms = 10, .fails = 2, .effect_possible = true}}},
    {"unless it says that it had none",
     PLAN("", U("a", RETRY)),
     "+a ~a(10) -a plan(ok) run(ok)",
     {{.ms = 10, .fails = 1}}},
    {"or its class says that twice is like once",
     PLAN("", U("a", RETRY ",\"class\":\"idempotent\"")),
     "+a ~a(10) -a plan(ok) run(ok)",
     {{.ms = 10, .fails = 1, .effect_possible = true}}},
    {"fail fast: nothing starts, what runs is stopped",
     PLAN("\"fail_fast\":true,\"max_parallel\":3,",
          A("a", "") "," A("b", "") "," F("c", ",\"priority\":1") "," A("e",
                                                                        "")),
     "+c +a +b -a(failed,failed) -e(skipped,fail_fast) "
     "-c(canceled,canceled) -b(canceled,canceled) plan(failed) run(failed)",
     {{.ms = 10, .fails = 1}, {.ms = 90}, {.ms = 90}, {.ms = 10}}},
    {"a failed plan may be fine",
     PLAN("\"on_failure\":\"continue\",", A("a", "") "," A("b", "")),
     "+a +b -a(failed,failed) -b plan(failed) run(ok)",
     {{.ms = 10, .fails = 1}, {.ms = 20}}},
    {"a missing value refuses its action, and nothing ran",
     PLAN("\"inputs\":{\"on\":false},",
          A("a", KEY("k") WHEN("$on")) "," A("z", "") "," A(
              "b", DEP("\"a\",\"z\"") ",\"params\":{\"x\":\"$k\"}")),
     "-a(skipped,condition) +z -z +b -b(failed,bad_reference) plan(failed) "
     "run(failed)",
     {{0}}},
    {"or is null",
     PLAN("\"missing_ref\":\"null\",\"inputs\":{\"on\":false},",
          A("a", KEY("k") WHEN("$on")) "," A("z", "") "," A(
              "b", DEP("\"a\",\"z\"") ",\"params\":{\"x\":\"$k\"}")),
     "-a(skipped,condition) +z -z +b -b plan(ok) run(ok)",
     {{0}}},
    {"policy denies an action",
     PLAN("", ACT("a", "async", "n", "") "," A("b", DEP("\"a\""))),
     "+a -a(denied,denied) -b(skipped,dependency_failed) plan(failed) "
     "run(failed)",
     {{0}}},
    {"policy asks about an action; others go on",
     PLAN("", ACT("a", "async", "q", "") "," A("b", "")),
     "?a +b -b",
     {{0}}},
};

static void is_order(struct plan_world *w, const char *wanted, const char *why)
{
    wend_str got = buf_view(&w->order);

    if (got.len)
        got = (wend_str){got.ptr + 1, got.len - 1};
    tap_is_str(got, wanted, "%s", why);
    tap_is_i64(w->broken, 0, "%s: no law is broken", why);
    plan_world_free(w);
}

static void check_rules(void)
{
    for (size_t i = 0; i < tap_count(rows); i++) {
        struct deed deeds[DEEDS_MAX];
        struct plan_world *w = plan_world_new(deeds);

        memset(deeds, 0, sizeof deeds);
        memcpy(deeds, rows[i].deeds, sizeof rows[i].deeds);
        for (size_t k = 0; k < DEEDS_MAX; k++)
            if (!deeds[k].ms)
                deeds[k].ms = 10;
        w->lawful = true;
        plan_start_run(w, str_of(rows[i].plan));
        plan_play(w);
        is_order(w, rows[i].wanted, rows[i].why);
    }
}

/* ---- Together with others ------------------------------------------------ */

static const char two[] = PLAN(
    "",
    A("a", KEY("k")) "," U("b", "") "," A(
        "c", DEP("\"a\",\"b\"") ",\"params\":{\"t\":\"<$k>\",\"v\":\"$k\"}"));

static void check_control(void)
{
    static struct deed deeds[DEEDS_MAX] = {{.ms = 10}, {.ms = 20}, {.ms = 10}};
    struct plan_world *w = plan_world_new(deeds);
    struct input in = {.kind = IN_TIMER, .timer = TIMER_STOP};

    w->lawful = true;
    plan_start_run(w, str_of(two));
    plan_tick(w);
    plan_say(w, IN_CANCEL);
    plan_play(w);
    is_order(w,
             "+a +b -a -c(skipped,canceled) -b(canceled,canceled) "
             "plan(canceled) run(canceled)",
             "a cancel ends everything");

    w = plan_world_new(deeds);
    deeds[1].deaf = true;
    w->lawful = true;
    plan_start_run(w, str_of(two));
    plan_tick(w);
    plan_say(w, IN_CANCEL);
    tap_ok(w->patience, "a stopped action is waited for only for a time");
    plan_feed(w, &in);
    deeds[1].deaf = false;
    is_order(w,
             "+a +b -a -c(skipped,canceled) -b(canceled,canceled) "
             "plan(canceled) run(canceled)",
             "one that does not listen is given up");

    w = plan_world_new(deeds);
    w->lawful = true;
    plan_start_run(w, str_of(two));
    plan_say(w, IN_PAUSE);
    plan_play(w);
    buf_cstr(&w->order, " |");
    plan_say(w, IN_CONTINUE);
    plan_play(w);
    is_order(w, "+a +b -a -b | +c -c plan(ok) run(ok)",
             "a paused plan starts nothing");
}

static void check_resume(void)
{
    static struct deed deeds[DEEDS_MAX] = {{.ms = 10}, {.ms = 20}, {.ms = 10}};
    struct plan_world *w = plan_world_new(deeds);

    w->lawful = true;
    plan_start_run(w, str_of(two));
    memset(w->dues, 0, sizeof w->dues); /* the process died */
    w->turn = w->folded;
    plan_say(w, IN_RESUME);
    plan_play(w);
    is_order(w,
             "+a +b -b(unknown,unknown) -a(superseded) +a#2 "
             "-c(skipped,dependency_failed) "
             "-a plan(failed) run(failed)",
             "what may run twice does, of the rest nothing is known");
}

/* A paused run stays paused in the process that resumes it. */
static void check_resume_paused(void)
{
    static struct deed deeds[DEEDS_MAX] = {{.ms = 10}, {.ms = 20}, {.ms = 10}};
    struct plan_world *w = plan_world_new(deeds);

    w->lawful = true;
    plan_start_run(w, str_of(two));
    plan_say(w, IN_PAUSE);
    memset(w->dues, 0, sizeof w->dues); /* the process died */
    w->turn = w->folded;
    plan_say(w, IN_RESUME);
    buf_cstr(&w->order, " |");
    plan_say(w, IN_CONTINUE);
    plan_play(w);
    is_order(w,
             "+a +b -b(unknown,unknown) -c(skipped,dependency_failed) | "
             "-a(superseded) +a#2 "
             "-a plan(failed) run(failed)",
             "what was cut off waits until the pause is over");
}

/* A request for approval of what was cut off is not waited for. */
static void check_doubts(void)
{
    static const char config[] =
        "{\"tools\":[{\"name\":\"r\",\"class\":\"read\"},{\"name\":\"u\"}],"
        "\"policy\":{\"approve\":\"ask\",\"on_unknown\":\"ask\",\"rules\":"
        "[\"r\",\"u\"]}}";
    static struct deed deeds[DEEDS_MAX] = {{.ms = 90, .deaf = true},
                                           {.ms = 10, .fails = 9}};
    static const char *const wanted[] = {
        "+u +a ?u -a(superseded) +a#2 -a(failed,failed) -u(unknown,unknown) "
        "plan(failed) "
        "run(failed)",
        "+u +a -a(failed,failed) -u(unknown,unknown) plan(failed) run(failed)",
    };

    for (int ticks = 0; ticks < 2; ticks++) {
        struct plan_world *w = plan_world_new(deeds);

        w->lawful = true;
        w->config = config;
        plan_start_run(
            w, STR(PLAN("\"fail_fast\":true,", U("u", "") "," A("a", ""))));
        if (ticks)
            plan_tick(w);
        memset(w->dues, 0, sizeof w->dues); /* the process died */
        w->turn = w->folded;
        plan_say(w, IN_RESUME);
        plan_play(w);
        is_order(w, wanted[ticks],
                 ticks ? "nor asked, if the plan has failed before"
                       : "a plan that fails fast waits for no answer");
    }
}

/* The process dies after each step of a plan with something of everything;
 * another one ends it, and nothing is lost or done twice that must not. */
static void check_crashes(void)
{
    /* clang-format off */
    static const char plan[] = PLAN(
        "\"max_parallel\":3,\"on_failure\":\"continue\",",
        A("a", KEY("k")) "," U("b", "") "," A("c", DEP("\"a\"") RETRY) ","
        DECIDE("d", "{\"when\":\"1 == 1\",\"then\":[\"e\"]},"
                    "{\"else\":[\"f\"]}") ","
        A("e", DEP("\"a\"")) "," A("f", "") "," F("g", DEP("\"a\"")) ","
        A("h", DEP("\"b\"") ANY ",\"fallback\":\"i\"") "," U("i", "") ","
        S("j", DEP("\"c\",\"e\",\"g\"")));
    /* clang-format on */
    static struct deed deeds[DEEDS_MAX];
    bool more = true;

    for (size_t i = 0; i < DEEDS_MAX; i++)
        deeds[i].ms = 10 + (int64_t)(i * 7 % 5);
    deeds[2].fails = 1;
    deeds[7].fails = 9;
    for (int steps = 0; more; steps++) {
        struct plan_world *w = plan_world_new(deeds);
        bool ok = true;

        w->lawful = true;
        plan_start_run(w, str_of(plan));
        for (int i = 0; more && i < steps; i++)
            more = plan_tick(w);
        memset(w->dues, 0, sizeof w->dues);
        w->turn = w->folded;
        plan_say(w, IN_RESUME);
        plan_play(w);
        for (uint32_t i = 0; i < w->count; i++)
            ok &= w->seen[i].ends == 1 &&
                  w->seen[i].cuts ==
                      w->seen[i].starts - (w->seen[i].starts > 0) &&
                  w->seen[i].starts <= (i == 1 || i == 8 ? 1 : 2);
        tap_ok(ok && !w->broken && w->run_outcome == WEND_OUTCOME_OK,
               "a crash after %d answers:%.*s", steps, (int)w->order.len,
               w->order.ptr);
        plan_world_free(w);
    }
}

static void check_approval(void)
{
    static struct deed deeds[DEEDS_MAX] = {{.ms = 10}, {.ms = 20}};
    static const char plan[] =
        PLAN("", ACT("a", "async", "q", "") "," A("b", DEP("\"a\"")));

    for (int yes = 0; yes < 2; yes++) {
        struct plan_world *w = plan_world_new(deeds);
        struct input in = {.kind = IN_APPROVAL};

        in.approval.call = STR("a");
        in.approval.by = STR("user");
        in.approval.yes = yes;
        w->lawful = true;
        plan_start_run(w, str_of(plan));
        plan_feed(w, &in);
        plan_play(w);
        is_order(w,
                 yes ? "?a +a -a +b -b plan(ok) run(ok)"
                     : "?a +a -a(denied,denied) -b(skipped,dependency_failed) "
                       "plan(failed) run(failed)",
                 yes ? "approved" : "not approved");
    }
}

static void check_values(void)
{
    static const struct {
        const char *why, *output, *wanted;
    } kinds[] = {
        {"a number stays one", "7", "{\"t\":\"<7>\",\"v\":7}"},
        {"a text is one", "seven", "{\"t\":\"<seven>\",\"v\":\"seven\"}"},
        {"an object stays one", "{\"a\": [1]}",
         "{\"t\":\"<{\\\"a\\\":[1]}>\",\"v\":{\"a\":[1]}}"},
    };

    for (size_t i = 0; i < tap_count(kinds); i++) {
        struct deed deeds[DEEDS_MAX] = {
            {.ms = 10, .output = kinds[i].output}, {.ms = 20}, {.ms = 10}};
        struct plan_world *w = plan_world_new(deeds);

        plan_start_run(w, str_of(two));
        plan_tick(w);
        plan_tick(w);
        tap_is_str(plan_action_state(&w->turn.plan, 2)->params, kinds[i].wanted,
                   "%s", kinds[i].why);
        plan_play(w);
        plan_world_free(w);
    }
}

/* fast 0.1 s -> after_fast 1.2 s beside slow 1.2 s, then join. */
static void check_barrier(void)
{
    static struct deed deeds[DEEDS_MAX] = {
        {.ms = 100}, {.ms = 1200}, {.ms = 1200}, {.ms = 0}};
    struct plan_world *w = plan_world_new(deeds);

    plan_start_run(
        w,
        STR(PLAN("", A("fast", "") "," A("after_fast", DEP("\"fast\"")) "," A(
                         "slow", "") "," A("join",
                                           DEP("\"after_fast\",\"slow\"")))));
    plan_play(w);
    tap_ok(w->run_outcome == WEND_OUTCOME_OK && w->now_ms <= 1300 * 21 / 20,
           "where waves need 2.4 s, %lld ms", (long long)w->now_ms);
    plan_world_free(w);
}

/* Sixty actions of which the first `late` take too long at first. */
static struct plan_world *play_auto(uint32_t late, const char *more)
{
    static struct deed deeds[DEEDS_MAX];
    struct buf b = {.mem = &plan_mem};
    struct plan_world *w = plan_world_new(deeds);

    buf_cstr(&b, "{\"wend\":\"plan/1\",\"name\":\"p\",\"max_parallel\":"
                 "\"auto\",\"actions\":[");
    for (uint32_t i = 0; i < 60; i++) {
        buf_fmt(&b,
                "%s{\"name\":\"a%u\",\"type\":\"tool\",\"target\":\"r\","
                "\"mode\":\"async\",\"skip_on_error\":true%s}",
                i ? "," : "", i, more);
        deeds[i] = (struct deed){
            .ms = 10, .fails = i < late, .as = WEND_OUTCOME_TIMEOUT};
    }
    buf_cstr(&b, "]}");
    plan_start_run(w, buf_view(&b));
    buf_free(&b);
    plan_play(w);
    return w;
}

static void check_auto(void)
{
    struct plan_world *w = play_auto(0, "");

    tap_ok(w->run_outcome == WEND_OUTCOME_OK && w->running_max > 5,
           "auto: more at once while that is faster: %u", w->running_max);
    plan_world_free(w);
    w = play_auto(60, "");
    tap_ok(w->run_outcome == WEND_OUTCOME_OK && w->running_max == 5 &&
               plan_slots(&w->turn.plan) == 1,
           "auto: half as many after each that took too long");
    plan_world_free(w);
    w = play_auto(60, RETRY);
    tap_ok(w->run_outcome == WEND_OUTCOME_OK && w->running_max == 5,
           "auto: also if it is tried again: %u", w->running_max);
    plan_world_free(w);
}

/* What was learned is in the log: the state that is folded from it starts
 * the same actions (see lawful). */
static void check_learned(void)
{
    static const char text[] =
        "{\"wend\":\"plan/1\",\"name\":\"p\",\"max_parallel\":4,"
        "\"actions\":["
        "{\"name\":\"a\",\"type\":\"tool\",\"target\":\"r\",\"mode\":\"async\","
        "\"estimate\":\"9s\"},"
        "{\"name\":\"b\",\"type\":\"tool\",\"target\":\"r\",\"mode\":\"async\","
        "\"estimate\":\"1s\"},"
        "{\"name\":\"c\",\"type\":\"tool\",\"target\":\"r\",\"mode\":\"async\"}"
        "]"
        "}";
    static const int64_t other[] = {10, -1, 5000};
    static const struct {
        const char *why;
        const int64_t *learned_ms;
        int64_t parallel;
        const char *order;
    } orders[] = {
        {"by the estimates", NULL, 1, " +a -a +b -b +c -c plan(ok) run(ok)"},
        {"by what was learned", other, 1,
         " +c -c +b -b +a -a plan(ok) run(ok)"},
        {"the run's limit of two", other, 2,
         " +c +b -c +a -b -a plan(ok) run(ok)"},
        {"a larger one does not count", other, 64,
         " +c +b +a -c -b -a plan(ok) run(ok)"},
    };

    for (size_t i = 0; i < tap_count(orders); i++) {
        struct deed deeds[DEEDS_MAX] = {{.ms = 10}, {.ms = 10}, {.ms = 10}};
        struct plan_world *w = plan_world_new(deeds);

        w->lawful = true;
        w->learned_ms = orders[i].learned_ms;
        w->parallel = orders[i].parallel;
        plan_start_run(w, str_of(text));
        plan_play(w);
        tap_is_str(buf_view(&w->order), orders[i].order, "%s", orders[i].why);
        tap_is_i64(w->broken, 0, "%s: the log says the same", orders[i].why);
        plan_world_free(w);
    }
}

int main(void)
{
    check_rules();
    check_control();
    check_resume();
    check_resume_paused();
    check_doubts();
    check_crashes();
    check_approval();
    check_values();
    check_barrier();
    check_auto();
    check_learned();
    return tap_done();
}
