/*
 * test_tt_child.c - calls and actions that a run of its own answers, by
 * table. The words are those of tt_help.h, and:
 *
 *     child:C, child:C=HOW the child of call or action C has ended; HOW is
 *                          an outcome, or late: its time was over; or turns:
 *                          outcome limit, of its own
 *
 * `limits` of a row are those of the run, and nothing is used of them.
 */
#include "core/turn/verdict.h"
#include "tt_help.h"

/* h only reads, w writes; both may be given tasks, and o, which has a limit of
 * its own, and i, which has the run's. */
#define LIMITED(name, tool, rest)                                        \
    "{\"name\":\"" name "\",\"agent\":\"" name "\",\"model\":\"m\"" rest \
    ",\"config\":"                                                       \
    "{\"tools\":[" tool "]}}"
#define CHILD(name, tool) LIMITED(name, tool, "")
#define READER "{\"name\":\"r\",\"class\":\"read\",\"labels\":[\"sensitive\"]}"
#define OWN ",\"limits\":{\"tokens\":8}"
#define ABOVE ",\"inherits\":[\"limits\"]" OWN
#define CHILDREN                                                           \
    "\"agents\":[" CHILD("h", READER) "," CHILD(                           \
        "w", "{\"name\":\"x\"}") "," LIMITED("o", READER,                  \
                                             OWN) "," LIMITED("i", READER, \
                                                              ABOVE) "]"
#define TASK(class) \
    "\"tools\":[{\"name\":\"task\",\"class\":\"" class "\",\"child\":true}]"
#define FAMILY "{" TASK("unsafe") "," POLICY("all") "," CHILDREN "}"
#define READERS "{" TASK("read") "," POLICY("all") "," CHILDREN "}"
#define DEEPEST                                                               \
    "{" TASK("read") "," POLICY("all") "," CHILDREN ",\"within\":{\"depth\":" \
                                       "8}}"
#define H "call:task={\"agent\":\"h\"} "
#define ACT(name, target, rest)                                      \
    "{\"name\":\"" name "\",\"type\":\"agent\",\"target\":\"" target \
    "\",\"prompt\":\"p\"" rest "}"
#define PLAN(actions) \
    "{\"wend\":\"plan/1\",\"name\":\"p\",\"actions\":[" actions "]}"

static void do_child(struct world *w, wend_str word)
{
    int64_t limit = w->start.limits.tokens;
    struct budget budget = {.tokens = limit ? limit : INT64_MAX,
                            .cost_nano = INT64_MAX};
    struct input in = {.kind = IN_CALL_DONE, .budget = &budget};
    struct child_done d = {.outcome = WEND_OUTCOME_OK,
                           .text = STR("said"),
                           .limit = STR("tokens"),
                           .code = STR("broken"),
                           .message = STR("why"),
                           .labels = WEND_LABEL_SENSITIVE,
                           .metrics = {.tokens_in = 5, .model_calls = 2}};
    wend_str name = split(&word);
    uint32_t i =
        w->turn.plan.started ? plan_find(w->turn.plan.plan, name) : PLAN_NONE;

    d.late = str_is(word, "late");
    if (d.late || str_is(word, "canceled"))
        d.outcome = WEND_OUTCOME_CANCELED;
    else if (str_is(word, "failed"))
        d.outcome = WEND_OUTCOME_FAILED;
    else if (str_is(word, "limit") || str_is(word, "turns"))
        d.outcome = WEND_OUTCOME_LIMIT;
    if (str_is(word, "turns"))
        d.limit = word;
    in.done.child = str_is(word, "uncached") ? NULL : &d;
    in.done.uncached = !in.done.child;
    in.done.turn = w->turn.counter;
    in.done.call = name;
    if (i != PLAN_NONE) {
        in.kind = IN_ACTION_DONE;
        in.done.action = i;
        in.done.attempt = plan_action_state(&w->turn.plan, i)->attempt;
    }
    feed(w, &in);
}

static void play_family(struct world *w, const char *inputs)
{
    char word[256];

    for (size_t at = 0, len; inputs[at];
         at += len + (inputs[at + len] == ' ')) {
        len = strcspn(inputs + at, " ");
        snprintf(word, sizeof word, "%.*s", (int)len, inputs + at);
        if (!strncmp(word, "child:", 6))
            do_child(w, str_of(word + 6));
        else
            play(w, word);
    }
}

static void check_family(const struct row *rows, size_t count, bool plans)
{
    for (size_t i = 0; i < count; i++) {
        wend_str wanted = str_of(rows[i].wanted);
        struct world w;

        world_init(&w, &plain, plans ? FAMILY : rows[i].config);
        if (plans)
            w.start.plan_json = str_of(rows[i].config);
        w.start.limits.tokens = rows[i].limits.tokens;
        play_family(&w, rows[i].inputs);
        wanted.len -= wanted.ptr[wanted.len - 1] == ' ';
        tap_is_str(buf_view(&w.said), wanted, "%s", rows[i].why);
        tap_is_i64(w.broken, 0, "%s: no law is broken", rows[i].why);
        world_free(&w);
    }
}

/* ---- Calls --------------------------------------------------------------- */

#define STARTED "call_start(call_1) child_start(h) +child(call_1) "
#define ENDED "child_end call_end(call_1) "
#define EAGERLY BEGIN "model_part " STARTED "model_end "

static void test_calls(void)
{
    static const struct row rows[] = {
        {.why = "a child stands inside its call",
         .config = FAMILY,
         .inputs = "start " H "done child:call_1",
         .wanted = BEGIN "model_end " STARTED ENDED NEXT},
        {.why = "one that only reads begins when its block is complete",
         .config = READERS,
         .inputs = "start " H "done child:call_1",
         .wanted = EAGERLY ENDED NEXT},
        {.why = "it fails as its child does",
         .config = READERS,
         .inputs = "start " H "done child:call_1=failed",
         .wanted = EAGERLY "child_end(failed) call_end(call_1,failed) " NEXT},
        {.why = "a child's limit is a failure",
         .config = READERS,
         .inputs = "start " H "done child:call_1=limit",
         .wanted = EAGERLY "child_end(limit) call_end(call_1,failed) " NEXT},
        {.why = "the child was canceled elsewhere",
         .config = READERS,
         .inputs = "start " H "done child:call_1=canceled",
         .wanted =
             EAGERLY "child_end(canceled) call_end(call_1,canceled) " NEXT},
        {.why = "its time was over",
         .config = READERS,
         .inputs = "start " H "done child:call_1=late",
         .wanted =
             EAGERLY "child_end(canceled) call_end(call_1,timeout) " NEXT},
        {.why = "a child that ends twice ends once",
         .config = READERS,
         .inputs = "start " H "done child:call_1 child:call_1",
         .wanted = EAGERLY ENDED NEXT},
        {.why = "no agent of that name: no child",
         .config = READERS,
         .inputs = "start call:task={\"agent\":\"z\"} done",
         .wanted = BEGIN
         "model_end call_start(call_1) call_end(call_1,failed) " NEXT},
        {.why = "deep enough",
         .config = DEEPEST,
         .inputs = "start " H "done",
         .wanted = BEGIN
         "model_end call_start(call_1) call_end(call_1,failed) " NEXT},
        {.why = "a cancel waits for the child",
         .config = READERS,
         .inputs = "start " H "done cancel child:call_1=canceled",
         .wanted = EAGERLY "control(cancel) +stop(call_1) +patience "
                           "child_end(canceled) call_end(call_1,canceled) "
                           "turn_end(canceled) metrics run_end(canceled)"},
        {.why = "but not for ever",
         .config = READERS,
         .inputs = "start " H "done cancel patience",
         .wanted = EAGERLY "control(cancel) +stop(call_1) +patience "
                           "child_end(canceled) call_end(call_1,canceled) "
                           "turn_end(canceled) metrics run_end(canceled)"},
    };

    check_family(rows, tap_count(rows), false);
}

static void test_resume(void)
{
    static const struct row rows[] = {
        {.why = "an unsafe call resumes the child that it has",
         .config = FAMILY,
         .inputs = "start " H "done resume child:call_1",
         .wanted =
             BEGIN "model_end " STARTED
                   "run_resume call_end(call_1,superseded) call_start(call_1) "
                   "+child(call_1) " ENDED NEXT},
        {.why = "also when it dies again",
         .config = FAMILY,
         .inputs = "start " H "done resume resume child:call_1",
         .wanted = BEGIN "model_end " STARTED
                         "run_resume call_end(call_1,superseded) "
                         "call_start(call_1) +child(call_1) "
                         "run_resume call_end(call_1,superseded) "
                         "call_start(call_1) +child(call_1) " ENDED NEXT},
        {.why = "a child of a run that was being stopped is stopped, too",
         .config = FAMILY,
         .inputs = "start " H "done cancel resume child:call_1=canceled",
         .wanted = BEGIN "model_end " STARTED
                         "control(cancel) +stop(call_1) +patience "
                         "run_resume call_end(call_1,superseded) "
                         "call_start(call_1) +child(call_1) "
                         "+stop(call_1) +patience "
                         "child_end(canceled) call_end(call_1,canceled) "
                         "turn_end(canceled) metrics run_end(canceled)"},
        {.why = "one that is over is not begun again",
         .config = FAMILY,
         .inputs = "start " H "done child:call_1 resume",
         .wanted = BEGIN "model_end " STARTED ENDED NEXT
                         "run_resume model_end(superseded) model_start +ask"},
    };

    check_family(rows, tap_count(rows), false);
}

/* ---- Actions ------------------------------------------------------------- */

#define PLANNED "run_start plan_start(p) "
#define BEGUN(who) "action_start(" who ") child_start(h) +child "

static void test_actions(void)
{
    static const struct row rows[] = {
        {.why = "an agent's action",
         .config = PLAN(ACT("a", "h", "")),
         .inputs = "start child:a",
         .wanted = PLANNED BEGUN("a") "child_end action_end(a) plan_end "
                                      "metrics run_end(ok)"},
        {.why = "each attempt has a child of its own",
         .config = PLAN(ACT("a", "h", ",\"retry\":{\"max\":1}")),
         .inputs = "start child:a=failed child:a",
         .wanted = PLANNED BEGUN("a") "child_end(failed) action_retry "
                                      "child_start(h) +child child_end "
                                      "action_end(a) plan_end metrics "
                                      "run_end(ok)"},
        {.why = "what was interrupted resumes the same child",
         .config = PLAN(ACT("a", "w", "")),
         .inputs = "start resume child:a",
         .wanted = PLANNED "action_start(a) child_start(w) +child run_resume "
                           "action_end(a,superseded) action_start(a) +child "
                           "child_end action_end(a) "
                           "plan_end metrics run_end(ok)"},
        {.why = "so does a further attempt",
         .config = PLAN(ACT("a", "h", ",\"retry\":{\"max\":1}")),
         .inputs = "start child:a=failed resume child:a",
         .wanted = PLANNED BEGUN(
             "a") "child_end(failed) action_retry "
                  "child_start(h) +child run_resume "
                  "action_end(a,superseded) action_start(a) +child child_end "
                  "action_end(a) plan_end metrics "
                  "run_end(ok)"},
        {.why = "one that may be known is looked for first",
         .config = PLAN(ACT("a", "h", ",\"cache\":{\"ttl\":\"1h\"}")),
         .inputs = "start did:a",
         .wanted = PLANNED "action_start(a) +act(0) action_end(a) plan_end "
                           "metrics run_end(ok)"},
        {.why = "and begins if nothing is kept",
         .config = PLAN(ACT("a", "h", ",\"cache\":{\"ttl\":\"1h\"}")),
         .inputs = "start child:a=uncached child:a",
         .wanted = PLANNED "action_start(a) +act(0) child_start(h) +child "
                           "child_end action_end(a) plan_end metrics "
                           "run_end(ok)"},
        {.why = "cut off before that, it has done nothing",
         .config = PLAN(ACT("a", "w", ",\"cache\":{\"ttl\":\"1h\"}")),
         .inputs = "start resume child:a",
         .wanted = PLANNED "action_start(a) +act(0) run_resume "
                           "action_end(a,superseded) action_start(a) "
                           "child_start(w) +child child_end "
                           "action_end(a) plan_end metrics run_end(ok)"},
        {.why = "fail_fast stops the other's child",
         .config = "{\"wend\":\"plan/1\",\"name\":\"p\",\"fail_fast\":true,"
                   "\"actions\":[" ACT("a", "h", ",\"mode\":\"async\"") "," ACT(
                       "b", "h", ",\"mode\":\"async\"") "]}",
         .inputs = "start child:a=failed child:b=canceled",
         .wanted = PLANNED "action_start(a) child_start(h) action_start(b) "
                           "child_start(h) +child +child child_end(failed) "
                           "action_end(a,failed) +stop_act(1) "
                           "child_end(canceled) action_end(b,canceled) "
                           "plan_end(failed) metrics run_end(failed)"},
    };

    check_family(rows, tap_count(rows), true);
}

/* ---- Budgets that a child shares ------------------------------------------
 */

static void test_call_limits(void)
{
    static const struct row rows[] = {
        {.why = "a limit of its own is a failure also beside a budget",
         .config = READERS,
         .inputs = "start " H "done child:call_1=turns",
         .limits = {.tokens = 5000},
         .wanted = EAGERLY "child_end(limit) call_end(call_1,failed) " NEXT},
        {.why = "a budget that it shares with the run ends the run",
         .config = READERS,
         .inputs = "start " H "done child:call_1=limit",
         .limits = {.tokens = 5000},
         .wanted = EAGERLY "child_end(limit) call_end(call_1,failed) "
                           "control(limits) turn_end(limit) metrics "
                           "run_end(limit)"},
        {.why = "also while the model is still writing",
         .config = READERS,
         .inputs = "start " H "child:call_1=limit",
         .limits = {.tokens = 5000},
         .wanted = BEGIN "model_part " STARTED
                         "child_end(limit) call_end(call_1,failed) "
                         "control(limits) model_end(canceled) turn_end(limit) "
                         "metrics run_end(limit) +stop_model"},
    };

    check_family(rows, tap_count(rows), false);
}

static void test_action_limits(void)
{
    static const struct row rows[] = {
        {.why = "a limit that all share ends the run",
         .config = PLAN(ACT("a", "h", "")),
         .inputs = "start child:a=limit",
         .limits = {.tokens = 9},
         .wanted = PLANNED BEGUN("a") "child_end(limit) action_end(a,failed) "
                                      "control(limits) plan_end(limit) "
                                      "metrics run_end(limit)"},
        {.why = "and no further attempt is made",
         .config = PLAN(ACT("a", "h", ",\"retry\":{\"max\":1}")),
         .inputs = "start child:a=limit",
         .limits = {.tokens = 9},
         .wanted = PLANNED BEGUN("a") "child_end(limit) action_end(a,failed) "
                                      "control(limits) plan_end(limit) "
                                      "metrics run_end(limit)"},
        {.why = "the child has the run's limit as its own",
         .config = PLAN(ACT("a", "i", "")),
         .inputs = "start child:a=limit",
         .limits = {.tokens = 9},
         .wanted = PLANNED "action_start(a) child_start(i) +child "
                           "child_end(limit) action_end(a,failed) "
                           "control(limits) plan_end(limit) "
                           "metrics run_end(limit)"},
        {.why = "its own is tighter",
         .config = PLAN(ACT("a", "o", "")),
         .inputs = "start child:a=limit",
         .limits = {.tokens = 100},
         .wanted = PLANNED "action_start(a) child_start(o) +child "
                           "child_end(limit) action_end(a,failed) "
                           "plan_end(failed) metrics run_end(failed)"},
        {.why = "the run's is tighter",
         .config = PLAN(ACT("a", "o", "")),
         .inputs = "start child:a=limit",
         .limits = {.tokens = 7},
         .wanted = PLANNED "action_start(a) child_start(o) +child "
                           "child_end(limit) action_end(a,failed) "
                           "control(limits) plan_end(limit) "
                           "metrics run_end(limit)"},
    };

    check_family(rows, tap_count(rows), true);
}

/* ---- What comes back, and what goes with it ------------------------------ */

static void test_counts(void)
{
    struct world w;
    char first[40];

    world_init(&w, &plain, FAMILY);
    play_family(&w, "start " H "done");
    snprintf(first, sizeof first, "%s", turn_call_state(&w.turn, 0)->child.ptr);
    tap_is_i64((int64_t)strlen(first), 36, "a child has an id");
    play_family(&w, "resume");
    tap_is_str(turn_call_state(&w.turn, 0)->child, (const char *)first,
               "the same after a crash");
    play_family(&w, "child:call_1");
    tap_ok(!turn_call_state(&w.turn, 0)->child.ptr,
           "then nothing waits for it");
    tap_is_i64(w.turn.metrics.tokens_in, 5, "what it used is used");
    tap_is_i64(w.turn.metrics.model_calls, 4, "its model calls, and ours");
    tap_is_i64(w.turn.labels, WEND_LABEL_SENSITIVE,
               "what it read is here, too");
    world_free(&w);
}

/* A retry of the run, whose child used three tokens and did not end ok. */
static void fork_world(struct world *w, wend_str input, bool other)
{
    const wend_ev_metrics had = {.tokens_in = 3, .model_calls = 1};
    const wend_ev_unfinished child = {
        .call = w->turn.plan.started ? STR_NONE
                : other              ? STR("call_2")
                                     : STR("call_1"),
        .action = !w->turn.plan.started ? STR_NONE
                  : other               ? STR("b")
                                        : STR("a"),
        .run = STR("01900000-0000-7000-8000-00000000000c"),
        .input = input,
        .metrics = had};
    const wend_event ev = {.type = WEND_RUN_FORK,
                           .run = STR("01900000-0000-7000-8000-00000000000f"),
                           .seq = w->turn.seq + 1,
                           .time_us = w->time_us,
                           .u.run_fork = {.parent = w->turn.run,
                                          .at = w->turn.seq,
                                          .redone = &had,
                                          .children = &child,
                                          .children_count = 1}};

    turn_apply(&w->turn, &ev, &w->keep);
    turn_apply(&w->folded, &ev, &(struct keep){&w->folded_kept, NULL});
}

/* Whose child the call or action has now; absent: one without a past. */
static wend_str past_of(const struct turn *t)
{
    wend_str child = t->plan.started ? plan_action_state(&t->plan, 0)->child
                                     : turn_call_state(t, 0)->child;
    const struct unfinished *u = turn_continued(t, child);

    return u ? u->run : STR_NONE;
}

static void test_continued(void)
{
    static const struct {
        const char *why, *plan, *inputs;
        bool changed, other;
        bool continued;
        int64_t tokens; /* in all, when the child has ended with five */
    } rows[] = {
        {.why = "a call continues its child",
         .inputs = "start " H "done",
         .continued = true,
         .tokens = 5},
        {.why = "so does an action",
         .plan = PLAN(ACT("a", "h", "")),
         .inputs = "start",
         .continued = true,
         .tokens = 5},
        {.why = "so does one with an effect",
         .plan = PLAN(ACT("a", "w", "")),
         .inputs = "start",
         .continued = true,
         .tokens = 5},
        {.why = "not with another input, and both count",
         .plan = PLAN(ACT("a", "h", "")),
         .inputs = "start",
         .changed = true,
         .tokens = 8},
        {.why = "nor the child of another action",
         .plan = PLAN(ACT("a", "h", "")),
         .inputs = "start",
         .other = true,
         .tokens = 8},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        bool plan = rows[i].plan != NULL;
        wend_str input;
        struct world w;

        world_init(&w, &plain, plan ? FAMILY : READERS);
        w.start.plan_json = str_of(rows[i].plan);
        play_family(&w, rows[i].inputs);
        input = turn_child_input(&w.turn, plan ? STR_NONE : STR("call_1"),
                                 plan ? STR("a") : STR_NONE, &w.kept);
        tap_is_i64((int64_t)input.len, 64, "%s: it has an input", rows[i].why);
        fork_world(&w, rows[i].changed ? STR("0") : input, rows[i].other);
        tap_is_i64(w.turn.metrics.tokens_in, 3, "%s: what it used counts",
                   rows[i].why);
        play_family(&w, "resume");
        tap_is_i64(past_of(&w.turn).ptr != NULL, rows[i].continued, "%s",
                   rows[i].why);
        play_family(&w, "resume"); /* the process dies */
        tap_is_i64(past_of(&w.turn).ptr != NULL, rows[i].continued,
                   "%s: also after a crash", rows[i].why);
        play_family(&w, plan ? "child:a" : "child:call_1");
        tap_is_i64(w.turn.metrics.tokens_in, rows[i].tokens,
                   "%s: nothing counts twice", rows[i].why);
        tap_is_i64(w.broken, 0, "%s: no law is broken", rows[i].why);
        world_free(&w);
    }
}

/* What a call in a child may, by the policies of all that are above. */
static void test_bounds(void)
{
    static const struct {
        const char *why, *own, *bounds;
        wend_decision wanted;
    } rows[] = {
        {"both allow", "\"approve\":\"all\"", "{\"approve\":\"all\"}",
         WEND_DECISION_ALLOW},
        {"the parent denies", "\"approve\":\"all\"", "{\"approve\":\"deny\"}",
         WEND_DECISION_DENY},
        {"a rule of the parent denies", "\"approve\":\"all\"",
         "{\"approve\":\"all\",\"rules\":[\"!u\"]}", WEND_DECISION_DENY},
        {"the parent's parent denies", "\"approve\":\"all\"",
         "{\"approve\":\"all\",\"rules\":[\"!u\"]},{\"approve\":\"all\"}",
         WEND_DECISION_DENY},
        {"a rule of its own gets round none",
         "\"approve\":\"all\",\"rules\":"
         "[\"u\"]",
         "{\"approve\":\"deny\"}", WEND_DECISION_DENY},
        {"a rule of the parent allows", "\"approve\":\"all\"",
         "{\"approve\":\"deny\",\"rules\":[\"u\"]}", WEND_DECISION_ALLOW},
        {"the parent asks", "\"approve\":\"all\"", "{\"approve\":\"ask\"}",
         WEND_DECISION_ASK},
        {"its own denial stays", "\"approve\":\"deny\"",
         "{\"approve\":\"all\"}", WEND_DECISION_DENY},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct arena a = {.mem = &plain};
        struct config *c = NULL;
        struct turn t = {.calls_count = 0};
        struct verdict v;
        char json[400];

        snprintf(json, sizeof json,
                 "{" TOOLS ",\"policy\":{%s},\"within\":{\"depth\":1,"
                 "\"policies\":[%s]}}",
                 rows[i].own, rows[i].bounds);
        config_parse(str_of(json), &a, &c, NULL);
        t.config = c;
        policy_check(&t, config_tool(c, STR("u")), NULL, &a, &v);
        tap_is_i64(v.policy.decision, rows[i].wanted, "%s", rows[i].why);
        if (v.policy.decision == WEND_DECISION_ASK) {
            struct keep k = {&a, NULL};

            turn_remember(&t, STR("u"), &k);
            policy_check(&t, config_tool(c, STR("u")), NULL, &a, &v);
            tap_is_i64(v.policy.decision, WEND_DECISION_ALLOW,
                       "%s, and was answered", rows[i].why);
        }
        arena_free(&a);
    }
}

/* What others leave is what may be reserved. */
static void test_budget(void)
{
    static const struct {
        int64_t tokens;
        const char *wanted;
    } rows[] = {
        {INT64_MAX, BEGIN},
        {1000, BEGIN},
        {1, "run_start turn_start context_start context_end turn_end(limit) "
            "metrics run_end(limit)"},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct budget budget = {.tokens = rows[i].tokens,
                                .cost_nano = INT64_MAX};
        struct input in = {.kind = IN_START,
                           .run = {RUN_ID, sizeof RUN_ID - 1},
                           .budget = &budget};
        wend_str wanted = str_of(rows[i].wanted);
        struct world w;

        world_init(&w, &plain, ALL);
        in.start = &w.start;
        feed(&w, &in);
        wanted.len -= wanted.ptr[wanted.len - 1] == ' ';
        tap_is_str(buf_view(&w.said), wanted, "others leave %lld tokens",
                   (long long)rows[i].tokens);
        world_free(&w);
    }
}

int main(void)
{
    test_calls();
    test_resume();
    test_actions();
    test_call_limits();
    test_action_limits();
    test_counts();
    test_continued();
    test_bounds();
    test_budget();
    return tap_done();
}
