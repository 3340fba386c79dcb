/*
 * call.c - tool calls: started, answered from any thread, or abandoned.
 *
 * A call has two owners, the shell and the tool, and is freed when both have
 * released it. A late answer is dropped: the log has the call's end already.
 */
#include "lib/plan/action.h"
#include "lib/run/call.h"
#include "lib/run/child.h"
#include "lib/run/shell.h"

#include <assert.h>
#include <string.h>

#include "base/utf8.h"

/* Text on its way from a tool to its run. */
struct output_post {
    struct post post; /* POST_OUTPUT */
    struct wend_call *call;
    struct buf text;
    size_t bytes; /* that count as waiting */
};

void call_unref(struct wend_call *c)
{
    struct mailbox *box;
    struct mem m;

    if (!c || atomic_fetch_sub(&c->refs, 1) != 1)
        return;
    m = c->mem;
    box = c->mailbox;
    buf_free(&c->output);
    buf_free(&c->structured);
    arena_free(&c->arena);
    workplace_unref(c->place);
    kept_unref(c->kept);
    mem_free(&m, c);
    mailbox_unref(box); /* last: the allocator may end with it */
}

/* ---- The tool's side [any thread] ---------------------------------------- */

static bool usable(const wend_call *call)
{
    return call && forked_check(call->process, NULL) == WEND_OK;
}

wend_str wend_call_id(const wend_call *call)
{
    return usable(call) ? call->id : STR_NONE;
}

wend_str wend_call_name(const wend_call *call)
{
    return usable(call) ? call->name : STR_NONE;
}

wend_str wend_call_args(const wend_call *call)
{
    return usable(call) ? call->args : STR_NONE;
}

wend_str wend_call_key(const wend_call *call)
{
    return usable(call) ? call->key : STR_NONE;
}

bool wend_call_canceled(const wend_call *call)
{
    return !usable(call) || atomic_load(&call->canceled);
}

static void free_output(struct output_post *p)
{
    struct wend_call *c = p->call;

    atomic_fetch_sub(&c->waiting, p->bytes);
    buf_free(&p->text);
    mem_free(&c->mem, p);
    call_unref(c);
}

wend_status wend_call_progress(wend_call *call, const char *text)
{
    struct output_post *p;
    size_t len, waiting;

    if (!call || !text)
        return WEND_E_INVAL;
    if (!usable(call) || atomic_load(&call->answered))
        return WEND_E_MISUSE;
    len = strlen(text);
    if (len > QUEUE_BYTES_MAX)
        return WEND_E_LIMIT;
    p = mem_zalloc(&call->mem, sizeof *p);
    if (!p)
        return WEND_E_NOMEM;
    p->post.kind = POST_OUTPUT;
    p->call = call;
    p->bytes = len + sizeof *p;
    atomic_fetch_add(&call->refs, 1);
    waiting = atomic_fetch_add(&call->waiting, p->bytes);
    p->text.mem = &call->mem;
    utf8_repair(&p->text, str_of(text));
    /* A tool that talks faster than the loop reads must wait. */
    if (waiting <= QUEUE_BYTES_MAX && !p->text.failed &&
        mailbox_post(call->mailbox, &p->post))
        return WEND_OK;
    len = p->text.failed;
    free_output(p);
    return len                         ? WEND_E_NOMEM
           : waiting > QUEUE_BYTES_MAX ? WEND_AGAIN
                                       : WEND_OK;
}

wend_status call_answer(wend_call *call, wend_outcome outcome, wend_str output)
{
    if (!call || (!output.ptr && output.len))
        return WEND_E_INVAL;
    if (!usable(call) || atomic_exchange(&call->answered, true))
        return WEND_E_MISUSE;
    if (output.len > BLOB_BYTES_MAX) {
        outcome = WEND_OUTCOME_FAILED;
        output = STR("the tool's output is over 64 MiB");
    }
    call->outcome = outcome;
    utf8_repair(&call->output, output);
    if (outcome == WEND_OUTCOME_OK)
        call_put_notes(call, &call->output);
    if (call->output.failed)
        call->outcome = WEND_OUTCOME_NONE; /* out of memory, told later */
    if (!mailbox_post(call->mailbox, &call->post))
        call_unref(call);
    return WEND_OK;
}

wend_status wend_call_return(wend_call *call, wend_str output)
{
    return call_answer(call, WEND_OUTCOME_OK, output);
}

wend_status wend_call_fail(wend_call *call, const char *message)
{
    return call_answer(call, WEND_OUTCOME_FAILED,
                       str_of(message ? message : "the tool failed"));
}

/* ---- The shell's side ---------------------------------------------------- */

static void forget(struct wend_run *r, struct wend_call *c)
{
    struct wend_call **link = &r->calls;

    assert(c->run == r);
    while (*link != c)
        link = &(*link)->next;
    *link = c->next;
    timer_clear(&r->rt->timers, &c->deadline);
    if (c->begin.place) {
        timer_clear(&r->rt->timers, &c->begin);
        call_unref(c); /* the tool's: it will never see it */
    }
    atomic_store(&c->canceled, true);
    if (c->stop && !atomic_load(&c->answered))
        c->stop(c->stop_ctx, CALL_STOP_NOW);
    c->run = NULL;
    call_unref(c);
}

/* Then the outcome of the lost call stays unknown. */
static void tell_unchecked(struct wend_run *r, wend_str name, wend_str output)
{
    run_error(r, "verify",
              "%.*s: its verify program did not say whether the call had its "
              "effect: %.*s",
              (int)name.len, name.ptr, (int)utf8_cut(output, 250), output.ptr);
}

/* Tells the core how the call went; nothing waits for it after this. */
static void settle(struct wend_call *c, wend_outcome outcome, wend_str output,
                   const char *code, bool effect_possible)
{
    struct wend_run *r = c->run;
    struct input in = work_answer(&c->fx, outcome, output, str_of(code));

    /* Its strings are used below, after the shell has released it. */
    atomic_fetch_add(&c->refs, 1);
    call_tell_unshown(c);
    if (!c->run) { /* a listener has ended it */
        call_unref(c);
        return;
    }
    if (c->checks)
        in.kind = IN_CHECKED;
    if (c->structured.len)
        in.done.structured = buf_view(&c->structured);
    if (outcome == WEND_OUTCOME_OK && c->parts_count) {
        in.done.parts = c->parts;
        in.done.parts_count = c->parts_count;
        in.done.blobs = c->blobs.first;
    }
    in.done.effect_possible = effect_possible;
    in.done.retryable = c->blame.retryable;
    in.done.labels = c->labels;
    in.done.ms = (rt_clock(r->rt) - c->began_us) / 1000;
    forget(r, c);
    if (c->checks && outcome != WEND_OUTCOME_OK &&
        outcome != WEND_OUTCOME_SKIPPED)
        tell_unchecked(r, c->name, output);
    shell_input(r, &in);
    call_unref(c);
}

void call_output(struct post *p)
{
    struct output_post *o = (struct output_post *)(void *)p;

    if (o->call->run)
        call_show_text(o->call, o->text.ptr, o->text.len);
    free_output(o);
}

static bool after_hook(struct wend_call *c, wend_str *output)
{
    struct wend_run *r = c->run;
    wend_hook h = {.point = WEND_HOOK_CALL_AFTER,
                   .turn = (uint32_t)c->fx.turn,
                   .call = c->id,
                   .name = c->name,
                   .text = *output};
    wend_hook_answer a = hook_ask(r, &h);

    if (a == WEND_HOOK_CHANGE)
        *output = h.text;
    if (a == WEND_HOOK_STOP)
        hook_stop(r, h.text);
    return a != WEND_HOOK_STOP;
}

static void time_out(struct wend_call *c, wend_str said)
{
    struct buf b = {.mem = &c->mem};

    atomic_fetch_add(&c->refs, 1); /* the text is in its memory */
    call_put_limit(c, said, &b);
    settle(c, WEND_OUTCOME_TIMEOUT, b.failed ? STR("timed out") : buf_view(&b),
           "timeout", true);
    buf_free(&b);
    call_unref(c);
}

/* With what the tool said when it was told to stop, if it did. */
static void give_up(struct wend_call *c, enum stop_reason why, wend_str said)
{
    if (why == CALL_STOP_DEADLINE)
        time_out(c, said);
    else
        settle(c, WEND_OUTCOME_CANCELED,
               said.len ? said : STR("canceled; it may have had an effect"),
               "canceled", true);
}

void call_returned(struct wend_call *c)
{
    wend_str output = buf_view(&c->output);
    struct wend_run *r = c->run;

    if (r && c->stopping)
        give_up(c, c->stopping,
                c->outcome == WEND_OUTCOME_NONE ? STR_NONE : output);
    else if (r && c->outcome == WEND_OUTCOME_NONE)
        settle(c, WEND_OUTCOME_FAILED, STR("out of memory"), "no_memory", true);
    else if (r && (!r->hook || c->checks || after_hook(c, &output)) && c->run) {
        bool ok = c->outcome == WEND_OUTCOME_OK;

        call_keep_answer(c, output);
        settle(c, c->outcome, output, ok ? NULL : c->blame.code,
               !ok && !c->blame.no_effect);
    }
    call_unref(c); /* the tool's */
}

/* Tells a tool that can stop to do so; its answer ends the call, or the end
 * of the grace does. False: it cannot. */
static bool stop_gently(struct wend_call *c, enum stop_reason why)
{
    wend_runtime *rt = c->run->rt;

    if (!c->stop)
        return false;
    if (c->stopping || atomic_load(&c->answered))
        return true; /* told before, or its answer is in the mail */
    if (!timer_set(&rt->timers, &c->deadline,
                   rt_after(rt, STOP_GRACE_MS + STOP_SLACK_MS)))
        return false;
    c->stopping = why;
    atomic_store(&c->canceled, true);
    c->stop(c->stop_ctx, why);
    return true;
}

static void on_deadline(struct timer_node *t)
{
    struct wend_call *c = container_of(t, struct wend_call, deadline);

    assert(c->run);
    if (c->stopping)
        give_up(c, c->stopping, STR_NONE); /* the grace is over, too */
    else if (!stop_gently(c, CALL_STOP_DEADLINE))
        give_up(c, CALL_STOP_DEADLINE, STR_NONE);
}

static wend_str put(char **at, wend_str s)
{
    wend_str copy = str_pack(at, s);

    ++*at; /* a NUL */
    return copy;
}

static struct wend_call *call_new(struct wend_run *r, const struct effect *fx,
                                  struct agent_tool *tool)
{
    wend_str name = work_name(r, fx);
    wend_str id = work_id(r, fx);
    size_t text = id.len + name.len + fx->args.len + fx->key.len + 4;
    struct wend_call *c = mem_zalloc(&r->rt->mem, sizeof *c + text);
    char *at;

    if (!c)
        return NULL;
    at = (char *)(c + 1);
    c->post.kind = POST_RETURN;
    c->mem = r->rt->mem;
    c->process = r->rt->process;
    c->mailbox = r->rt->mailbox;
    mailbox_ref(c->mailbox);
    atomic_init(&c->refs, 2);
    c->id = put(&at, id);
    c->name = put(&at, name);
    c->args = put(&at, fx->args);
    c->key = put(&at, fx->key);
    c->tool = tool;
    c->fx = *fx;
    c->fn = tool->fn;
    c->ctx = tool->ctx;
    c->kept = kept_ref(tool->kept);
    c->place = tool->place;
    if (c->place)
        atomic_fetch_add(&c->place->refs, 1);
    c->run = r;
    c->began_us = rt_clock(r->rt);
    c->output.mem = &c->mem;
    c->arena.mem = &c->mem;
    call_blame(c, "failed", false, false);
    c->deadline.fire = on_deadline;
    c->next = r->calls;
    r->calls = c;
    return c;
}

static void run_here(struct wend_run *r, struct wend_call *c)
{
    wend_status s;

    atomic_fetch_add(&c->refs, 1);
    r->rt->callbacks++;
    s = c->fn(c->ctx, c);
    r->rt->callbacks--;
    if (s != WEND_OK)
        wend_call_fail(c, wend_status_name(s));
    call_unref(c);
}

static void begin(struct wend_run *r, struct wend_call *c)
{
    c->began_us = rt_clock(r->rt);
    if (!timer_set(&r->rt->timers, &c->deadline,
                   rt_after(r->rt, c->fx.timeout_ms))) {
        call_unref(c); /* the tool's: it will never see it */
        shell_nomem(r);
    } else if (!call_look(c)) {
        wend_call_fail(c, "out of memory");
    } else if (c->tool->threaded) {
        call_run_threaded(c);
    } else {
        run_here(r, c);
    }
}

static void on_begin(struct timer_node *t)
{
    struct wend_call *c = container_of(t, struct wend_call, begin);

    begin(c->run, c);
}

/* The answer to the same question, if the tool gave it a while ago. */
static bool answer_again(struct wend_run *r, const struct effect *fx,
                         const struct agent_tool *tool)
{
    const struct kept_answer *k =
        answers_find(&tool->answers, fx->args, rt_clock(r->rt));
    struct input in;

    if (!k)
        return false;
    in = work_answer(fx, WEND_OUTCOME_OK, k->output, STR_NONE);
    in.done.cached = true;
    in.done.labels = k->labels;
    shell_input(r, &in);
    return true;
}

/* A resumed run may name tools that its agent does not have. */
static void answer_missing(struct wend_run *r, const struct effect *fx)
{
    wend_str name = work_name(r, fx);
    char text[TOOL_NAME_MAX + 120];
    struct input in;

    utf8_fmt(text, sizeof text,
             "the tool '%.*s' is not there any more: the run was resumed "
             "without it",
             (int)(name.len < TOOL_NAME_MAX ? name.len : TOOL_NAME_MAX),
             name.ptr);
    in =
        work_answer(fx, WEND_OUTCOME_FAILED, str_of(text), STR("tool_missing"));
    shell_input(r, &in);
}

void call_start(struct wend_run *r, const struct effect *fx)
{
    struct agent_tool *tool = work_tool(r, fx);
    struct wend_call *c;
    int64_t due;

    if (!work_runs(r, fx) || r->turn.stop.outcome != WEND_OUTCOME_NONE)
        return; /* ended meanwhile, or will be stopped before it began */
    if (!tool) {
        answer_missing(r, fx);
        return;
    }
    if (tool->cache_ms && answer_again(r, fx, tool))
        return;
    c = call_new(r, fx, tool);
    if (!c) {
        shell_nomem(r);
        return;
    }
    due = pace_take(&tool->pace, c->began_us);
    if (fx->delay_ms && rt_after(r->rt, fx->delay_ms) > due)
        due = rt_after(r->rt, fx->delay_ms); /* it is tried once more */
    if (due <= c->began_us) {
        begin(r, c);
        return;
    }
    c->begin.fire = on_begin;
    if (!timer_set(&r->rt->timers, &c->begin, due)) {
        call_unref(c);
        shell_nomem(r);
    }
}

void call_check(struct wend_run *r, const struct effect *fx)
{
    struct agent_tool *tool = work_tool(r, fx);
    struct input in = work_answer(fx, WEND_OUTCOME_UNKNOWN, STR_NONE, STR_NONE);
    struct wend_call *c;

    if (r->turn.stop.outcome != WEND_OUTCOME_NONE)
        return;
    if (!tool || !tool->check) { /* the agent has fewer tools than the log */
        in.kind = IN_CHECKED;
        shell_input(r, &in);
        return;
    }
    c = call_new(r, fx, tool->check);
    if (!c) {
        shell_nomem(r);
        return;
    }
    c->checks = true;
    begin(r, c);
}

bool work_same(const struct effect *a, const struct effect *b)
{
    return a->call && b->call ? str_eq(a->call->id, b->call->id)
                              : a->call == b->call && a->action == b->action;
}

/* A callback or a thread cannot be killed: it is told to stop, and abandoned.
 */
void call_stop(struct wend_run *r, const struct effect *fx)
{
    struct input in =
        work_answer(fx, WEND_OUTCOME_CANCELED, STR("canceled before it began"),
                    STR("canceled"));
    struct wend_call *c = r->calls;

    while (c && !work_same(&c->fx, fx))
        c = c->next;
    if (!c)
        shell_input(r, &in); /* means nothing if it has ended */
    else if (c->begin.place)
        settle(c, WEND_OUTCOME_CANCELED, STR("canceled before it began"),
               "canceled", false);
    else if (!stop_gently(c, CALL_STOP_CANCEL))
        give_up(c, CALL_STOP_CANCEL, STR_NONE);
}

void calls_drop(struct wend_run *r)
{
    while (r->calls)
        forget(r, r->calls);
}
