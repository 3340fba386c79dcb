/*
 * test_fork_action.c - forks of plans in which an action gives something
 * else.
 */
#include "run_help.h"
#include "store_help.h"

#define MODEL                                                         \
    "script:{\"turns\":[{\"when\":\"one\",\"text\":\"1\",\"repeat\":" \
    "\"forever\"}]}"

static const char plan_text[] =
    "wend: plan/1\nname: p\noutputs: {all: $c}\nactions:\n"
    "- {name: a, type: tool, target: echo, params: {x: 1}, output_key: a}\n"
    "- {name: b, type: llm, target: default, prompt: one, output_key: b}\n"
    "- {name: s, type: tool, target: echo, params: {}, when: 1 == 2}\n"
    "- {name: c, type: tool, target: echo, depends_on: [a, b], "
    "params: {x: $a, y: $b}, output_key: c}\n";

static bool start(struct rig *r, char id[40])
{
    wend_plan *p = NULL;
    wend_run *run = NULL;
    bool good;

    if (!rig_open(r, "memory:", MODEL))
        return false;
    good =
        wend_plan_parse(str_of(plan_text), NULL, &p, &r->err) == WEND_OK &&
        wend_run_start_plan(r->agent, p, NULL, NULL, &run, &r->err) == WEND_OK;
    if (tap_ok(good, "a plan: %s", r->err.message)) {
        tap_is_i64(read_all(run, NULL, NULL), WEND_END, "a plan: it ends");
        snprintf(id, 40, "%s", wend_run_id(run));
    }
    wend_plan_free(p);
    wend_run_free(run);
    return good;
}

/* The event of that type about that action; 0 if there is none. `count` how
 * often it is there. */
static int64_t find(struct rig *r, const char *id, wend_event_type type,
                    const char *action, int64_t *count, bool *given)
{
    const wend_event *ev;
    wend_run *log = NULL;
    int64_t seq = 0;

    *count = 0;
    wend_store_replay(r->rt, id, NULL, &log, &r->err);
    while (log && wend_run_next(log, &ev) == WEND_OK) {
        wend_str of = type == WEND_ACTION_END ? ev->u.action_end.action
                                              : ev->u.model_start.action;

        if (ev->type != type || !str_is(of, action))
            continue;
        seq = ev->seq;
        ++*count;
        *given = type == WEND_ACTION_END && ev->u.action_end.given;
    }
    wend_run_free(log);
    return seq;
}

static bool is_lawful(struct rig *r, const char *id)
{
    wend_verdict v = {.size = sizeof v};
    wend_laws *laws = NULL;
    const wend_event *ev;
    wend_run *log = NULL;
    wend_status s = wend_laws_new(&laws);

    wend_store_replay(r->rt, id, NULL, &log, &r->err);
    while (s == WEND_OK && wend_run_next(log, &ev) == WEND_OK)
        s = wend_laws_add(laws, ev, &r->err);
    wend_run_free(log);
    wend_laws_free(laws);
    if (s != WEND_OK)
        printf("# %s\n", r->err.message);
    return s == WEND_OK &&
           wend_store_verify(r->store, id, NULL, &v, &r->err) == WEND_OK &&
           !v.bad_seq;
}

static void gives(struct rig *r, const char *id)
{
    static const struct {
        const char *why, *action, *output, *wanted;
    } rows[] = {
        {"a tool", "a", "7", "{\"all\":{\"x\":7,\"y\":1}}"},
        {"a text", "a", "[not JSON", "{\"all\":{\"x\":\"[not JSON\",\"y\":1}}"},
        {"a model", "b", "\"two\"",
         "{\"all\":{\"x\":{\"x\":1},\"y\":\"two\"}}"},
        {"the last one", "c", "[1, 2.50]", "{\"all\":[1,2.50]}"},
        {"nothing", "c", "", "{\"all\":\"\"}"},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        wend_fork_result result = {rows[i].action, str_of(rows[i].output)};
        wend_fork_options o = {
            .size = sizeof o, .results = &result, .results_count = 1};
        wend_run *run = NULL;
        wend_str text = STR_NONE;
        bool given = false;
        int64_t count;

        if (!tap_ok(wend_run_fork(r->agent, id, &o, NULL, &run, &r->err) ==
                        WEND_OK,
                    "%s: %s", rows[i].why, r->err.message))
            continue;
        wend_run_wait(run, &text);
        tap_is_str(text, rows[i].wanted, "%s: what comes of it", rows[i].why);
        find(r, wend_run_id(run), WEND_ACTION_END, rows[i].action, &count,
             &given);
        tap_ok(count == 1 && given, "%s: it ended once, as given", rows[i].why);
        tap_ok(is_lawful(r, wend_run_id(run)), "%s: the log is whole",
               rows[i].why);
        wend_run_free(run);
    }
}

static void refuses(struct rig *r, const char *id)
{
    const wend_fork_result twice[] = {{"a", STR("1")}, {"a", STR("2")}};
    const wend_fork_result skipped = {"s", STR("1")}, none = {"z", STR("1")},
                           asks = {"b", STR("1")};
    bool given;
    int64_t count, asked = find(r, id, WEND_MODEL_START, "b", &count, &given);
    const struct {
        const char *why;
        const wend_fork_result *results;
        size_t count;
        int64_t at;
    } rows[] = {
        {"the same action twice", twice, 2, 0},
        {"one that was skipped", &skipped, 1, 0},
        {"one that there is not", &none, 1, 0},
        {"before the plan began", twice, 1, 1},
        {"while its model is asked", &asks, 1, asked},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        wend_fork_options o = {.size = sizeof o,
                               .at = rows[i].at,
                               .results = rows[i].results,
                               .results_count = rows[i].count};
        char fork[37];

        tap_is_i64(wend_store_fork(r->store, id, &o, fork, &r->err),
                   WEND_E_INVAL, "%s: %s", rows[i].why, r->err.message);
    }
}

int main(void)
{
    struct rig r = {.agent_options.approve = WEND_APPROVE_ALL};
    char id[40] = "";

    if (start(&r, id)) {
        gives(&r, id);
        refuses(&r, id);
    }
    rig_close(&r);
    return tap_done();
}
