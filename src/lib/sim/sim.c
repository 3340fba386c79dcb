/*
 * sim.c - an agent of the host's in a world that follows a seed.
 *
 *     process begins -> steps -> the run is over -> the log is looked at
 *          ^               |
 *          +---- crash ----+
 *
 * A step: something may go wrong, the runtime is pumped, what it shows is
 * read (sometimes late), and the clock jumps to what happens next. Faults
 * stop after a while; from then on the run must end.
 */
#include "lib/plan/plan.h"
#include "lib/sim/sim.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/fail.h"
#include "base/utf8.h"

enum {
    SEEDS_DEFAULT = 1000,
    STEPS_WITH_FAULTS = 150,
    STEPS_MAX = 200000,
    CANCELS_MAX = 20,   /* of one storm */
    READ_AT_ONCE = 400, /* events, between two steps */
};

/* Once faults have stopped: no agent that can end takes longer. */
static const int64_t patience_us = (int64_t)5 * 3600 * 1000000;

static const struct mem libc_mem; /* of the simulation itself */

struct sim {
    wend_sim_options o;
    wend_sim_report *report;
    wend_error *err;
    uint64_t seed;
    struct world world;
    struct sim_book book;
    struct sim_store *disk;
    wend_runtime *rt;
    wend_agent *agent;
    struct sim_tools *tools;
    wend_run *run;
    char id[40];
    int64_t steps, until_us;
    bool begun;         /* there is a run */
    bool kindly;        /* faults are over */
    bool lazy;          /* events are seldom read */
    bool over;          /* the run has ended */
    wend_status status; /* why nothing can be done */
};

/* ---- Telling ------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void tell(struct sim *s,
                                                       const char *fmt, ...)
{
    char text[200], line[240];
    va_list ap;

    if (!s->o.trace)
        return;
    va_start(ap, fmt);
    utf8_vfmt(text, sizeof text, fmt, ap);
    va_end(ap);
    utf8_fmt(line, sizeof line, "%12.6f %s", (double)s->world.clock_us / 1e6,
             text);
    s->o.trace(s->o.trace_ctx, line);
}

__attribute__((format(printf, 2, 3))) static void broken(struct sim *s,
                                                         const char *fmt, ...)
{
    va_list ap;

    if (s->report->failed)
        return; /* the first reason is the reason */
    s->report->failed = true;
    s->report->seed = s->seed;
    va_start(ap, fmt);
    utf8_vfmt(s->report->why, sizeof s->report->why, fmt, ap);
    va_end(ap);
    tell(s, "BROKEN: %.180s", s->report->why);
}

static bool goes_on(const struct sim *s)
{
    return !s->over && !s->report->failed && s->status == WEND_OK;
}

/* A call in the middle of a step waits for what cannot happen. The store fails,
 * so that the call returns. */
static void on_stuck(struct world *w)
{
    struct sim *s = container_of(w, struct sim, world);

    broken(s, "a call waits for what cannot happen");
    rt_store_failed(s->rt, WEND_E_STORE);
}

/* ---- A process ----------------------------------------------------------- */

static wend_status start_run(struct sim *s)
{
    wend_str prompt = str_of(s->o.prompt ? s->o.prompt : "");

    s->begun = true;
    buf_clear(&s->book.refused);
    return s->o.plan ? wend_run_start_plan(s->agent, s->o.plan, NULL, NULL,
                                           &s->run, s->err)
                     : wend_run_start(s->agent, prompt, NULL, &s->run, s->err);
}

/* The store may have more than its writer was told, or no run at all. */
static wend_status resume_run(struct sim *s)
{
    struct store_state state;
    wend_store *store = s->disk->store;
    wend_status st = store->ops->state(store, str_of(s->id), &state, s->err);

    if (st == WEND_E_NOTFOUND)
        return start_run(s);
    if (st == WEND_OK && state.ended_us) {
        s->over = true;
        return WEND_OK;
    }
    return wend_run_resume(s->agent, s->id, NULL, &s->run, s->err);
}

static void process_begin(struct sim *s)
{
    wend_runtime_options o = {.size = sizeof o, .store = s->disk->store};

    assert(!s->rt && !s->run); /* the process before it has ended */
    s->status = rt_new(&o, &s->world.env, &s->rt, s->err);
    if (s->status == WEND_OK)
        s->status = s->o.agent(s->o.ctx, s->rt, &s->agent, s->err);
    if (s->status == WEND_OK && (!s->agent || s->agent->rt != s->rt))
        s->status =
            fail(s->err, WEND_E_INVAL, "sim: no agent of the given runtime");
    if (s->status == WEND_OK)
        s->status = sim_tools_new(&s->book, s->agent, &s->tools);
    if (s->status == WEND_OK)
        s->status = s->begun ? resume_run(s) : start_run(s);
    if (!s->run || !strcmp(s->id, wend_run_id(s->run)))
        return;
    utf8_fmt(s->id, sizeof s->id, "%s", wend_run_id(s->run));
    s->disk->acked_seq = 0;
}

static void process_end(struct sim *s)
{
    wend_run_free(s->run);
    wend_agent_free(s->agent);
    wend_runtime_free(s->rt);
    sim_tools_free(s->tools);
    s->run = NULL;
    s->agent = NULL;
    s->rt = NULL;
    s->tools = NULL;
    sim_store_crash(s->disk);
}

/* ---- What goes wrong ----------------------------------------------------- */

static void fault_crash(struct sim *s)
{
    tell(s, "the process dies, another one resumes the run");
    s->report->crashes++;
    process_end(s);
    process_begin(s);
}

static void fault_store(struct sim *s)
{
    if (s->disk->fails)
        return;
    tell(s, "the disk is about to fail");
    s->report->store_failures++;
    s->disk->fails = true;
}

static void fault_cancel(struct sim *s)
{
    uint32_t count = 1 + chance_below(&s->book.chance, CANCELS_MAX);

    tell(s, "canceled %u times", count);
    s->report->cancels++;
    while (count--)
        wend_run_cancel(s->run);
}

static void fault_pause(struct sim *s)
{
    bool paused = s->run->turn.paused;

    tell(s, paused ? "continued" : "paused");
    s->report->pauses += !paused;
    if (paused)
        wend_run_continue(s->run);
    else
        wend_run_pause(s->run);
}

static void go_wrong(struct sim *s)
{
    const struct {
        uint32_t permille;
        void (*fault)(struct sim *s);
    } faults[] = {
        {s->o.store_fail, fault_store},
        {s->o.cancel, fault_cancel},
        {s->o.pause, fault_pause},
        {s->o.crash, fault_crash},
    };

    for (size_t i = 0; i < sizeof faults / sizeof *faults && goes_on(s); i++)
        if (chance_of(&s->book.chance, faults[i].permille))
            faults[i].fault(s);
}

static void go_well(struct sim *s)
{
    if (!s->kindly) {
        tell(s, "nothing more goes wrong");
        s->kindly = true;
        s->book.tool_slow = s->book.tool_fail = s->book.model_fail = 0;
        s->until_us = s->world.clock_us + patience_us;
    }
    if (s->run->turn.paused)
        wend_run_continue(s->run);
}

/* ---- Reading ------------------------------------------------------------- */

static void see(struct sim *s, const wend_event *ev)
{
    const wend_ev_approval_ask *ask = &ev->u.approval_ask;
    char *json = NULL;

    if (s->o.trace && wend_event_to_json(ev, &json, NULL) == WEND_OK)
        s->o.trace(s->o.trace_ctx, json);
    wend_string_free(json);
    if (ev->seq > s->disk->acked_seq)
        broken(s, "event %lld, %s: shown before it was safe",
               (long long)ev->seq, wend_event_name(ev->type));
    if (ev->type == WEND_APPROVAL_ASK) /* it may be too late: no matter */
        wend_run_approve(s->run, ask->call.ptr ? ask->call : ask->action,
                         chance_of(&s->book.chance, 700), "sim");
}

static void read_on(struct sim *s)
{
    const wend_event *ev;
    wend_status st = WEND_OK;

    if (s->lazy && !s->kindly && chance_of(&s->book.chance, 900))
        return;
    for (int i = 0; i < READ_AT_ONCE && st == WEND_OK && goes_on(s); i++) {
        st = wend_run_poll(s->run, &ev);
        if (st == WEND_OK)
            see(s, ev);
    }
    s->over |= st == WEND_END;
    if (st < 0 && !(st == WEND_E_STORE && s->disk->fails))
        broken(s, "the run says %s: %s", wend_status_name(st),
               wend_run_error(s->run)->message);
}

/* ---- Steps --------------------------------------------------------------- */

/* To what happens next. */
static void jump(struct sim *s)
{
    int64_t next_us = timers_next(&s->rt->timers);

    if (s->rt->dirty || atomic_load(&s->rt->mailbox->any))
        return;
    if (world_next(&s->world) < next_us)
        next_us = world_next(&s->world);
    if (next_us > s->world.clock_us && next_us != INT64_MAX)
        s->world.clock_us = next_us;
}

static void step(struct sim *s)
{
    s->steps++;
    s->report->steps++;
    if (s->steps < STEPS_WITH_FAULTS)
        go_wrong(s);
    else
        go_well(s);
    if (!goes_on(s))
        return;
    if (wend_runtime_pump(s->rt) == WEND_E_STORE) {
        tell(s, "the disk has failed, another process resumes the run");
        process_end(s);
        process_begin(s);
        return;
    }
    read_on(s);
    if (!goes_on(s))
        return;
    if (s->kindly && (s->world.clock_us > s->until_us || s->steps > STEPS_MAX))
        broken(s, "the run does not end, though nothing goes wrong any more");
    jump(s);
}

/* ---- The log ------------------------------------------------------------- */

static void check_event(struct sim *s, struct buf *starts, const wend_event *ev)
{
    const char *why = NULL;

    if (ev->type == WEND_CALL_START)
        sim_numbers_add(starts, sim_number(ev->u.call_start.key));
    if (ev->type != WEND_RUN_END)
        return;
    s->report->outcomes[ev->u.run_end.outcome]++;
    if (s->o.check)
        why = s->o.check(s->o.ctx, ev);
    if (why)
        broken(s, "%s", why);
}

/* A tool is called once for each start on record. (An action of a plan that
 * is tried again has no other start: those are not counted.) */
static void check_calls(struct sim *s, const struct buf *starts)
{
    const struct buf *made = &s->book.made;
    const uint64_t *at = (const void *)made->ptr;

    for (size_t i = 0; i < made->len / sizeof *at && !s->o.plan; i++)
        if (sim_numbers_count(made, at[i]) > sim_numbers_count(starts, at[i]))
            broken(s, "a tool was called more often than the log has it");
    if (made->failed || starts->failed)
        s->status = fail_nomem(s->err);
}

static void check_log(struct sim *s)
{
    struct buf starts = {.mem = &libc_mem};
    wend_error err = {WEND_OK, 0, 0, ""};
    const wend_event *ev;
    wend_laws *laws = NULL;
    wend_run *log = NULL;
    wend_status st = wend_laws_new(&laws);

    if (st == WEND_OK)
        st = wend_store_replay(s->rt, s->id, NULL, &log, s->err);
    if (st != WEND_OK)
        s->status = st;
    while (st == WEND_OK && (st = wend_run_poll(log, &ev)) == WEND_OK) {
        if (wend_laws_add(laws, ev, &err) != WEND_OK)
            broken(s, "%s", err.message);
        check_event(s, &starts, ev);
    }
    if (laws && wend_laws_end(laws, &err) != WEND_OK)
        broken(s, "%s", err.message);
    check_calls(s, &starts);
    buf_free(&starts);
    wend_run_free(log);
    wend_laws_free(laws);
}

/* ---- Seeds --------------------------------------------------------------- */

static wend_status run_seed(const wend_sim_options *o, uint64_t seed,
                            wend_sim_report *report, wend_error *err)
{
    struct sim s = {.o = *o, .report = report, .err = err, .seed = seed};

    world_init(&s.world, seed, on_stuck);
    s.book.chance.state = seed;
    s.book.world = &s.world;
    s.book.report = report;
    s.book.made.mem = s.book.refused.mem = &libc_mem;
    s.book.tool_slow = o->tool_slow;
    s.book.tool_fail = o->tool_fail;
    s.book.model_fail = o->model_fail;
    s.lazy = chance_of(&s.book.chance, 200);
    s.status = sim_store_new(&s.world, &s.book.chance, s.id, &s.disk);
    if (s.status != WEND_OK)
        return fail_nomem(err);
    if (o->begin)
        o->begin(o->ctx, seed);
    process_begin(&s);
    while (goes_on(&s))
        step(&s);
    if (s.status == WEND_OK && s.over && !report->failed)
        check_log(&s);
    process_end(&s);
    report->seeds++;
    wend_store_free(s.disk->store);
    buf_free(&s.book.made);
    buf_free(&s.book.refused);
    return s.status;
}

wend_status wend_sim_run(const wend_sim_options *options, wend_sim_report *out,
                         wend_error *err)
{
    wend_sim_options o;
    wend_sim_report report = {.size = sizeof report};
    wend_error why = {0}; /* also of what must go wrong */
    wend_status s = WEND_OK;

    if (!options || !OPTIONS_TAKE(&o, wend_sim_options, trace_ctx, options) ||
        !o.agent || (!o.prompt && !o.plan))
        return fail(err, WEND_E_INVAL,
                    "sim: options.size, agent, and a prompt or a plan must be "
                    "set");
    if (!out ||
        !options_size(out->size, OPTIONS_FIRST(wend_sim_report, outcomes)))
        return fail(err, WEND_E_INVAL, "sim: the report's size is wrong");
    fail_clear(err);
    if (o.plan && plan_enter(o.plan, err) != WEND_OK)
        return WEND_E_MISUSE;
    if (!o.seeds)
        o.seeds = SEEDS_DEFAULT;
    if (!o.seed)
        o.seed = 1;
    for (uint64_t i = 0; i < o.seeds && s == WEND_OK && !report.failed; i++)
        s = run_seed(&o, o.seed + i, &report, &why);
    if (s != WEND_OK && err)
        *err = why;
    report.size = out->size;
    memcpy(out, &report, out->size < sizeof report ? out->size : sizeof report);
    return s;
}
