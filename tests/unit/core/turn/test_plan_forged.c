/*
 * test_plan_forged.c - events about work that has ended change nothing.
 *
 * A live run never writes them; a forged or damaged log may. Each row folds an
 * honest log, and the same log with one event more that has the seq and the
 * time of the last one: both must give the same state.
 */
#include "state/state.h"
#include "tap.h"

#define PLAN                                                               \
    "{\"wend\":\"plan/1\",\"name\":\"p\",\"actions\":["                    \
    "{\"name\":\"a\",\"type\":\"tool\",\"target\":\"r\"},"                 \
    "{\"name\":\"s\",\"type\":\"tool\",\"target\":\"r\",\"mode\":\"sync\"" \
    "},"                                                                   \
    "{\"name\":\"f\",\"type\":\"tool\",\"target\":\"r\",\"mode\":"         \
    "\"fire_and_forget\"},"                                                \
    "{\"name\":\"l\",\"type\":\"llm\",\"target\":\"default\","             \
    "\"prompt\":\"x\"}]}"
#define CONFIG "{\"tools\":[{\"name\":\"r\",\"class\":\"read\"}]}"

/* Two letters an event: what happens, and to which action or call.
 *     + start   - end   ~ retry   ? approval asked   ! approved
 *     m model_start   n model_end   c child_start
 * Capitals are calls of a turn. */
static const struct {
    const char *why, *honest, *forged;
} rows[] = {
    {"control: a second action starts", "+a-a", "+s"},
    {"an action starts after its end", "+a-a", "+a"},
    {"a sync action starts after its end", "+s-s", "+s"},
    {"a forgotten action starts after its end", "+f-f", "+f"},
    {"it starts after its end while another runs", "+a+s-a", "+a"},
    {"an action ends twice", "+a-a", "-a"},
    {"an action is tried again after its end", "+a-a", "~a"},
    {"approval is asked for after the end", "+a-a", "?a"},
    {"approval is given after the end", "+a-a", "!a"},
    {"a child starts after the end", "+a-a", "ca"},
    {"control: a second call starts", "+A-A", "+B"},
    {"a call starts after its end", "+A-A", "+A"},
    {"a call ends twice", "+A-A", "-A"},
    {"a child of a call starts after its end", "+A-A", "cA"},
};

static void fill(wend_event *ev, char what, wend_str id, bool call)
{
    wend_str none = STR_NONE, action = call ? none : id;

    switch (what) {
    case '+':
        ev->type = call ? WEND_CALL_START : WEND_ACTION_START;
        if (call)
            ev->u.call_start = (wend_ev_call_start){
                .call = id, .name = STR("r"), .attempt = ev->seq};
        else
            ev->u.action_start =
                (wend_ev_action_start){.action = id, .attempt = ev->seq};
        break;
    case '-':
        ev->type = call ? WEND_CALL_END : WEND_ACTION_END;
        if (call)
            ev->u.call_end = (wend_ev_call_end){
                .call = id, .name = STR("r"), .outcome = WEND_OUTCOME_FAILED};
        else
            ev->u.action_end = (wend_ev_action_end){
                .action = id, .outcome = WEND_OUTCOME_FAILED};
        break;
    case '~':
        ev->type = WEND_ACTION_RETRY;
        ev->u.action_retry.action = id;
        break;
    case '?':
        ev->type = WEND_APPROVAL_ASK;
        ev->u.approval_ask.action = id;
        break;
    case '!':
        ev->type = WEND_APPROVAL_ANSWER;
        ev->u.approval_answer = (wend_ev_approval_answer){.action = id};
        break;
    case 'm':
        ev->type = WEND_MODEL_START;
        ev->u.model_start.action = id;
        break;
    case 'n':
        ev->type = WEND_MODEL_END;
        ev->u.model_end.action = id;
        break;
    case 'c':
        ev->type = WEND_CHILD_START;
        ev->u.child_start = (wend_ev_child_start){
            .run = STR("child"), .call = call ? id : none, .action = action};
    }
}

static void fold(struct turn *t, const char *events, bool forged,
                 const struct keep *k)
{
    for (; *events; events += 2) {
        bool call = events[1] < 'a';
        wend_event ev = {.seq = t->seq + !forged, .time_us = t->time_us};

        fill(&ev, events[0], (wend_str){events + 1, 1}, call);
        turn_apply(t, &ev, k);
    }
}

static void begin(struct turn *t, bool call, const struct keep *k)
{
    wend_event ev = {.type = WEND_RUN_START, .seq = 1, .time_us = 1};

    turn_init(t);
    ev.u.run_start = (wend_ev_run_start){
        .config_json = STR(CONFIG), .plan_json = call ? STR_NONE : STR(PLAN)};
    turn_apply(t, &ev, k);
    ev = (wend_event){.type = call ? WEND_TURN_START : WEND_PLAN_START,
                      .seq = 2,
                      .time_us = 1};
    turn_apply(t, &ev, k);
}

/* What the run's limits, its end and people are told by. */
static void put(struct buf *b, const struct turn *t)
{
    turn_write(b, t);
    buf_fmt(b, " running %u holding %u left %u failed %u", t->plan.running,
            t->plan.holding, t->plan.left, t->plan.failed);
}

/* An action starts before what it waits for is written. */
static void check_early(void)
{
    static const struct {
        wend_event_type type;
        const char *text;
    } log[] = {
        {WEND_PLAN_START, "call"},
        {WEND_PLAN_ACTION, "{\"id\":\"a\",\"type\":\"tool\",\"target\":\"r\","
                           "\"depends_on\":[\"b\"]}"},
        {WEND_ACTION_START, "a"},
        {WEND_PLAN_ACTION, "{\"id\":\"b\",\"type\":\"tool\",\"target\":\"r\"}"},
    };
    static const struct mem mem;
    struct arena a = {.mem = &mem};
    struct keep k = {&a, NULL};
    uint32_t place = 0, running = 0;
    struct turn t;

    begin(&t, true, &k);
    for (size_t i = 0; i < tap_count(log); i++) {
        wend_event ev = {
            .type = log[i].type, .seq = t.seq + 1, .time_us = t.time_us};

        if (ev.type == WEND_PLAN_START)
            ev.u.plan_start.call = str_of(log[i].text);
        else if (ev.type == WEND_PLAN_ACTION)
            ev.u.plan_action.action_json = str_of(log[i].text);
        else
            ev.u.action_start.action = str_of(log[i].text);
        turn_apply(&t, &ev, &k);
    }
    while (plan_marked(&t.plan, MARK_RUNS, &place) != PLAN_NONE)
        running++;
    tap_is_i64(t.plan.plan->count, 2, "control: both actions are read");
    tap_is_i64(t.plan.running, running,
               "an action that starts too early counts while it runs");
    arena_free(&a);
}

int main(void)
{
    static const struct mem mem;

    check_early();
    for (size_t i = 0; i < tap_count(rows); i++) {
        bool call = rows[i].honest[1] < 'a';
        bool control = !strncmp(rows[i].why, "control", 7);
        struct arena a = {.mem = &mem};
        struct keep k = {&a, NULL};
        struct buf honest = {.mem = &mem}, forged = {.mem = &mem};
        struct turn t;

        begin(&t, call, &k);
        fold(&t, rows[i].honest, false, &k);
        put(&honest, &t);
        fold(&t, rows[i].forged, true, &k);
        put(&forged, &t);
        tap_ok(!a.failed &&
                   str_eq(buf_view(&honest), buf_view(&forged)) == !control,
               "%s: %s", rows[i].why, control ? "counts" : "changes nothing");
        if (!control && !str_eq(buf_view(&honest), buf_view(&forged)))
            printf("# %s\n# %s\n", honest.ptr, forged.ptr);
        buf_free(&honest);
        buf_free(&forged);
        arena_free(&a);
    }
    return tap_done();
}
