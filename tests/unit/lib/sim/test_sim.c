/*
 * test_sim.c - wend_sim_run: it finds what is wrong, and only that; the same
 * seed is the same history.
 */
#include <stdlib.h>

#include "base/str.h"
#include "tap.h"

static const struct mem libc_mem;

#define SCRIPT                                                        \
    "script:{\"turns\":[{\"calls\":[{\"name\":\"act\",\"args\":{}},{" \
    "\"name\":\"act\",\"args\":{}}]},{\"calls\":[{\"name\":\"act\","  \
    "\"args\":{}}]},{\"text\":\"done\"}]}"

/* What is outside of the simulated process. */
struct outside {
    const char *model;
    wend_class call_class;
    wend_unknown on_unknown;
    bool hangs;    /* the tool never answers */
    bool by_key;   /* a second call with the same key does nothing */
    int effects;   /* of this seed */
    int64_t seeds; /* that began */
    uint64_t keys[32];
    int keys_count;
    wend_approve approve;
    wend_call *kept[512];
    int kept_count;
};

static uint64_t hash_of(wend_str s)
{
    uint64_t h = 5381;

    for (size_t i = 0; i < s.len; i++)
        h = h * 33 + (unsigned char)s.ptr[i];
    return h;
}

static wend_status act(void *ctx, wend_call *call)
{
    struct outside *o = ctx;
    uint64_t key = hash_of(wend_call_key(call));

    if (o->hangs) {
        if (o->kept_count < 512)
            o->kept[o->kept_count++] = call;
        return WEND_OK;
    }
    for (int i = 0; i < o->keys_count; i++)
        if (o->by_key && o->keys[i] == key)
            return wend_call_return(call, STR("again"));
    if (o->keys_count < 32)
        o->keys[o->keys_count++] = key;
    o->effects++;
    return wend_call_return(call, STR("ok"));
}

static wend_status make_agent(void *ctx, wend_runtime *rt, wend_agent **out,
                              wend_error *err)
{
    struct outside *o = ctx;
    wend_agent_options a = {.size = sizeof a,
                            .model = o->model ? o->model : SCRIPT,
                            .approve = o->approve,
                            .on_unknown = o->on_unknown};
    wend_tool_options t = {.size = sizeof t,
                           .name = "act",
                           .call_class = o->call_class,
                           .timeout_ms = 50000,
                           .fn = act,
                           .ctx = o};
    wend_status s = wend_agent_new(rt, &a, out, err);

    return s == WEND_OK ? wend_agent_add_tool(*out, &t, err) : s;
}

static void begin(void *ctx, uint64_t seed)
{
    struct outside *o = ctx;

    (void)seed;
    o->seeds++;
    o->effects = o->keys_count = 0;
}

static const char *check_effects(void *ctx, const wend_event *run_end)
{
    const struct outside *o = ctx;

    if (o->effects > 3)
        return "more than three effects";
    if (run_end->u.run_end.outcome == WEND_OUTCOME_OK && o->effects < 3 &&
        o->call_class != WEND_CLASS_UNSAFE)
        return "fewer than three effects";
    return NULL;
}

static wend_sim_options storm(struct outside *o)
{
    return (wend_sim_options){.size = sizeof(wend_sim_options),
                              .agent = make_agent,
                              .prompt = "go",
                              .begin = begin,
                              .check = check_effects,
                              .ctx = o,
                              .seeds = 150,
                              .crash = 60,
                              .store_fail = 15,
                              .cancel = 4,
                              .pause = 10,
                              .tool_slow = 200,
                              .model_fail = 60};
}

/* ---- What is found ------------------------------------------------------- */

static void check_found(void)
{
    static const struct {
        const char *why;
        struct outside outside;
        const char *found; /* NULL: nothing */
    } rows[] = {
        {"a tool that is called again and does it again",
         {.call_class = WEND_CLASS_IDEMPOTENT, .approve = WEND_APPROVE_ALL},
         "more than three effects"},
        {"the same, by its key",
         {.call_class = WEND_CLASS_IDEMPOTENT,
          .by_key = true,
          .approve = WEND_APPROVE_ALL},
         NULL},
        {"an unsafe tool is not called again",
         {.call_class = WEND_CLASS_UNSAFE, .approve = WEND_APPROVE_ALL},
         NULL},
        {"unless the policy says so",
         {.call_class = WEND_CLASS_UNSAFE,
          .on_unknown = WEND_UNKNOWN_RETRY,
          .approve = WEND_APPROVE_ALL},
         "more than three effects"},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct outside o = rows[i].outside;
        wend_sim_options options = storm(&o);
        wend_sim_report r = {.size = sizeof r};
        wend_error err = {0};
        wend_status s = wend_sim_run(&options, &r, &err);

        tap_ok(s == WEND_OK && r.failed == (rows[i].found != NULL) &&
                   (!r.failed || strstr(r.why, rows[i].found)),
               "%s: seed %llu %s%s", rows[i].why, (unsigned long long)r.seed,
               r.why, s == WEND_OK ? "" : err.message);
        tap_ok((uint64_t)o.seeds == r.seeds &&
                   r.seeds == (r.failed ? r.seed : 150),
               "each seed begins, the first bad one is the last");
    }
}

/* A simulator that never gets somewhere finds nothing there. */
static void check_reach(void)
{
    struct outside o = {.call_class = WEND_CLASS_IDEMPOTENT, .by_key = true};
    wend_sim_options options = storm(&o);
    wend_sim_report r = {.size = sizeof r};

    options.tool_fail = 30;
    options.check = NULL;
    tap_is_i64(wend_sim_run(&options, &r, NULL), WEND_OK, "with approvals");
    tap_ok(!r.failed, "all is well: %s", r.why);
    tap_ok(r.crashes && r.store_failures && r.cancels && r.pauses && r.calls &&
               r.calls_again && r.late_calls && r.failed_calls &&
               r.model_failures && r.outcomes[WEND_OUTCOME_OK] &&
               r.outcomes[WEND_OUTCOME_CANCELED],
           "everything went wrong at least once");
}

static void check_hang(void)
{
    struct outside o = {.call_class = WEND_CLASS_READ, .hangs = true};
    wend_sim_options options = storm(&o);
    wend_sim_report r = {.size = sizeof r};

    options.seeds = 10;
    options.check = NULL;
    tap_is_i64(wend_sim_run(&options, &r, NULL), WEND_OK, "a tool that hangs");
    tap_ok(!r.failed && r.seeds == 10, "is ended by its deadline: %s", r.why);
    while (o.kept_count)
        wend_call_return(o.kept[--o.kept_count], STR("late"));
}

static void check_plan(void)
{
    struct outside o = {.call_class = WEND_CLASS_IDEMPOTENT,
                        .by_key = true,
                        .approve = WEND_APPROVE_ALL};
    wend_sim_options options = storm(&o);
    wend_sim_report r = {.size = sizeof r};
    wend_error err = {0};
    wend_plan *plan = NULL;

    wend_plan_parse(STR("wend: plan/1\nname: p\nactions:\n"
                        "  - {name: a, type: tool, target: act}\n"
                        "  - {name: b, type: tool, target: act}\n"
                        "  - {name: c, type: tool, target: act,\n"
                        "     depends_on: [a, b]}\n"),
                    NULL, &plan, &err);
    options.plan = plan;
    tap_is_i64(wend_sim_run(&options, &r, &err), WEND_OK, "a plan");
    tap_is_str(str_of(err.message), "", "nothing to say about what is well");
    tap_ok(!r.failed && r.crashes && r.outcomes[WEND_OUTCOME_OK],
           "goes on after each crash: %s", r.why);
    wend_plan_free(plan);
}

/* The tool is a kid's: its events are no event of the run's. */
static wend_status make_family(void *ctx, wend_runtime *rt, wend_agent **out,
                               wend_error *err)
{
    wend_agent_options a = {
        .size = sizeof a,
        .approve = WEND_APPROVE_ALL,
        .model = "script:{\"turns\":[{\"calls\":[{\"name\":\"task\",\"args\":"
                 "{\"agent\":\"kid\",\"prompt\":\"go\"}}]},"
                 "{\"text\":\"done\"}]}"};
    wend_child_options k = {.size = sizeof k, .name = "kid"};
    wend_status s = make_agent(ctx, rt, &k.agent, err);

    if (s == WEND_OK)
        s = wend_agent_new(rt, &a, out, err);
    if (s == WEND_OK)
        s = wend_agent_add_agent(*out, &k, err);
    if (s == WEND_OK)
        s = wend_agent_add_builtin(*out, "task", err);
    wend_agent_free(k.agent);
    return s;
}

static void check_family(void)
{
    struct outside o = {.call_class = WEND_CLASS_IDEMPOTENT,
                        .by_key = true,
                        .approve = WEND_APPROVE_ALL};
    wend_sim_options options = storm(&o);
    wend_sim_report r = {.size = sizeof r};
    wend_error err = {0};

    options.agent = make_family;
    tap_is_i64(wend_sim_run(&options, &r, &err), WEND_OK, "an agent's agent");
    tap_ok(!r.failed && r.crashes && r.outcomes[WEND_OUTCOME_OK],
           "goes on after each crash, too: %s", r.why);
}

/* ---- The same again ------------------------------------------------------ */

static void add_line(void *ctx, const char *text)
{
    buf_cstr(ctx, text);
    buf_char(ctx, '\n');
}

static void check_same(void)
{
    struct buf lines[3];
    bool same = true, differ = false;

    for (uint64_t seed = 1; seed <= 20; seed++) {
        for (int i = 0; i < 3; i++) {
            struct outside o = {.call_class = WEND_CLASS_IDEMPOTENT,
                                .by_key = true};
            wend_sim_options options = storm(&o);
            wend_sim_report r = {.size = sizeof r};

            lines[i] = (struct buf){.mem = &libc_mem};
            options.seed = seed + (i == 2);
            options.seeds = 1;
            options.trace = add_line;
            options.trace_ctx = &lines[i];
            wend_sim_run(&options, &r, NULL);
        }
        same &= lines[0].len > 500 &&
                str_eq(buf_view(&lines[0]), buf_view(&lines[1]));
        differ |= !str_eq(buf_view(&lines[0]), buf_view(&lines[2]));
        for (int i = 0; i < 3; i++)
            buf_free(&lines[i]);
    }
    tap_ok(same, "the same seed is the same history, byte for byte");
    tap_ok(differ, "another seed is another one");
}

/* ---- What cannot be simulated -------------------------------------------- */

static wend_status no_agent(void *ctx, wend_runtime *rt, wend_agent **out,
                            wend_error *err)
{
    (void)ctx, (void)rt, (void)err;
    *out = NULL;
    return WEND_OK;
}

static void check_refused(void)
{
    struct outside o = {.model = "openai:gpt"};
    wend_sim_options options = storm(&o), empty = {.size = sizeof empty};
    wend_sim_report r = {.size = sizeof r};
    wend_error err = {0};

    tap_is_i64(wend_sim_run(NULL, &r, NULL), WEND_E_INVAL, "no options");
    tap_is_i64(wend_sim_run(&empty, &r, &err), WEND_E_INVAL, "%s", err.message);
    tap_is_i64(wend_sim_run(&options, NULL, &err), WEND_E_INVAL, "%s",
               err.message);
    options.agent = no_agent;
    tap_is_i64(wend_sim_run(&options, &r, &err), WEND_E_INVAL, "%s",
               err.message);
    options.agent = make_agent;
    unsetenv("OPENAI_API_KEY");
    tap_ok(wend_sim_run(&options, &r, &err) != WEND_OK,
           "a model without a "
           "key: %s",
           err.message);
}

int main(void)
{
    check_found();
    check_reach();
    check_hang();
    check_plan();
    check_family();
    check_same();
    check_refused();
    return tap_done();
}
