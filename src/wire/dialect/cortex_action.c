/*
 * cortex_action.c - the cortex dialect: its records, actions and calls.
 */
#include "wire/dialect/cortex.h"

/* ---- Records ------------------------------------------------------------- */

void cortex_open(struct buf *b, const wend_event *ev, const char *type)
{
    buf_cstr(b, "{\"event_type\":\"");
    buf_cstr(b, type);
    buf_cstr(b, "\",\"timestamp\":");
    json_put_time(b, ev->time_us);
    json_open(b, "data", '{');
}

static void put_or_null(struct buf *b, const char *name, wend_str s)
{
    json_key(b, name);
    if (s.ptr)
        json_put_str(b, s);
    else
        buf_cstr(b, "null");
}

void cortex_close_for(struct buf *b, wend_str id, wend_str name)
{
    json_close(b, '}');
    put_or_null(b, "action_id", id);
    put_or_null(b, "action_name", name);
    buf_add(b, "}\n", 2);
}

void cortex_close(struct buf *b)
{
    cortex_close_for(b, STR_NONE, STR_NONE);
}

void cortex_text(const wend_event *ev, const char *type, const char *member,
                 wend_str text, struct buf *out)
{
    cortex_open(out, ev, type);
    json_add_str(out, member, text.ptr ? text : STR(""));
    cortex_close(out);
}

void cortex_seconds(struct buf *b, int64_t ms)
{
    json_add_f64(b, "duration_seconds", (double)ms / 1000);
}

/* ---- Actions that have begun --------------------------------------------- */

static void action_begin(struct cortex *c, const wend_ev_action_start *e,
                         struct buf *out)
{
    struct cortex_action *a =
        mem_zalloc(c->mem, sizeof *a + e->action.len + e->name.len);
    char *room;

    if (!a) {
        out->failed = true;
        return;
    }
    room = (char *)(a + 1);
    if (e->action.len)
        memcpy(room, e->action.ptr, e->action.len);
    if (e->name.len)
        memcpy(room + e->action.len, e->name.ptr, e->name.len);
    a->id = (wend_str){room, e->action.len};
    a->name = (wend_str){room + e->action.len, e->name.len};
    a->is_tool = str_is(e->type, "tool");
    a->attempts = 1;
    a->next = c->open;
    c->open = a;
}

struct cortex_action **cortex_find(struct cortex *c, wend_str id)
{
    struct cortex_action **at = &c->open;

    while (*at && !str_eq((*at)->id, id))
        at = &(*at)->next;
    return at;
}

wend_str cortex_action_name(struct cortex *c, wend_str id)
{
    const struct cortex_action *a = id.ptr ? *cortex_find(c, id) : NULL;

    return a ? a->name : STR_NONE;
}

/* What came from a cache, or was refused, called no tool. */
static void action_over(struct cortex *c, const wend_ev_action_end *e)
{
    struct cortex_action **at = cortex_find(c, e->action), *a = *at;

    if (!a)
        return;
    if (a->is_tool && !e->cached && e->outcome != WEND_OUTCOME_DENIED)
        c->tool_calls += a->attempts;
    *at = a->next;
    mem_free(c->mem, a);
}

bool cortex_is_plan_call(const struct cortex *c, wend_str name)
{
    return !c->no_planner && str_is(name, "plan");
}

/* ---- Actions ------------------------------------------------------------- */

static void put_started(const wend_event *ev, const wend_ev_action_start *e,
                        struct buf *b)
{
    cortex_open(b, ev, "action_started");
    json_add_str(b, "type", e->type);
    json_add_str(b, "mode", e->mode);
    json_add_str(b, "target", e->target);
    json_key(b, "parameters");
    buf_str(b, e->params_json.ptr ? e->params_json : STR("{}"));
    cortex_close_for(b, e->action, e->name);
}

/* Of a plan that is still being written nobody knows how much it is. */
void cortex_progress(struct cortex *c, const wend_event *ev, struct buf *out)
{
    if (c->early.in_model || !c->batch_total)
        return;
    cortex_open(out, ev, "progress");
    json_add_i64(out, "done", c->batch_done);
    json_add_i64(out, "total", c->batch_total);
    cortex_close(out);
}

/* An action, or a call; output_json absent: none. */
static void put_ended(struct cortex *c, const wend_event *ev,
                      const wend_ev_action_end *e, struct buf *b)
{
    bool skipped = e->outcome == WEND_OUTCOME_SKIPPED;
    bool ok = e->outcome == WEND_OUTCOME_OK;
    wend_str name = str_of(wend_outcome_name(e->outcome));

    if (ok || skipped) {
        cortex_open(b, ev, "action_completed");
        json_add_str(b, "status", skipped ? STR("skipped") : STR("completed"));
        cortex_seconds(b, e->ms);
        json_key(b, "output");
        buf_str(b, e->output_json.ptr ? e->output_json : STR("null"));
        json_add_bool(b, "has_output",
                      e->output_json.ptr && !str_is(e->output_json, "null"));
    } else {
        cortex_open(b, ev, "action_failed");
        json_add_str(b, "error",
                     e->error && e->error->message.len ? e->error->message
                     : e->reason.len                   ? e->reason
                                                       : name);
        json_add_str(b, "error_type",
                     e->error && e->error->code.len ? e->error->code : name);
    }
    cortex_close_for(b, e->action, e->name);
    c->completed += ok;
    c->batch_done++;
    cortex_progress(c, ev, b);
}

void cortex_action_start(struct cortex *c, const wend_event *ev,
                         struct buf *out)
{
    const wend_ev_action_start *e = &ev->u.action_start;
    struct cortex_action *again = *cortex_find(c, e->action);

    if (again) { /* it goes on after a crash */
        again->attempts++;
        return;
    }
    action_begin(c, e, out);
    put_started(ev, e, record_calls_out(&c->early, out));
}

void cortex_action_retry(struct cortex *c, const wend_event *ev,
                         struct buf *out)
{
    const wend_ev_action_retry *e = &ev->u.action_retry;
    struct cortex_action *a = *cortex_find(c, e->action);
    struct buf *b = record_calls_out(&c->early, out);
    struct buf why = {.mem = c->mem};

    if (a)
        a->attempts++;
    buf_fmt(&why,
            "the action is tried again in %lld ms: ", (long long)e->delay_ms);
    buf_str(&why, e->error ? e->error->message : STR("it failed"));
    cortex_open(b, ev, "warning");
    json_add_str(b, "message", buf_view(&why));
    cortex_close_for(b, e->action, a ? a->name : STR_NONE);
    out->failed |= why.failed;
    buf_free(&why);
}

void cortex_action_end(struct cortex *c, const wend_event *ev, struct buf *out)
{
    const wend_ev_action_end *e = &ev->u.action_end;

    if (e->outcome == WEND_OUTCOME_SUPERSEDED)
        return; /* it goes on */
    put_ended(c, ev, e, record_calls_out(&c->early, out));
    action_over(c, e);
}

void cortex_call_start(struct cortex *c, const wend_event *ev, struct buf *out)
{
    const wend_ev_call_start *e = &ev->u.call_start;
    const wend_ev_action_start as = {
        .action = e->call,
        .name = e->name,
        .type = STR("tool"),
        .mode = STR("async"),
        .target = e->name,
        .params_json = e->args_json,
    };

    if (!cortex_is_plan_call(c, e->name) && record_calls_begin(&c->early, ev))
        put_started(ev, &as, record_calls_out(&c->early, out));
}

/* That of a plan's call is told by its actions, unless it has none. */
static void on_plan_call_end(struct cortex *c, const wend_event *ev,
                             struct buf *out)
{
    const wend_ev_call_end *e = &ev->u.call_end;

    c->plan_calls++;
    if (e->outcome != WEND_OUTCOME_OK && !c->batch_total)
        cortex_text(ev, "error", "error",
                    e->error && e->error->message.len ? e->error->message
                                                      : e->output,
                    out);
}

void cortex_call_end(struct cortex *c, const wend_event *ev, struct buf *out)
{
    const wend_ev_call_end *e = &ev->u.call_end;
    struct buf text = {.mem = c->mem};
    wend_ev_action_end as = {
        .action = e->call,
        .name = e->name,
        .outcome = e->outcome,
        .ms = e->ms,
        .error = e->error,
    };

    if (!record_calls_end(&c->early, ev))
        return;
    if (cortex_is_plan_call(c, e->name)) {
        on_plan_call_end(c, ev, out);
        return;
    }
    json_put_str(&text, e->output.ptr ? e->output : STR(""));
    if (e->outcome == WEND_OUTCOME_OK)
        as.output_json = buf_view(&text);
    else
        as.reason = e->output;
    put_ended(c, ev, &as, record_calls_out(&c->early, out));
    out->failed |= text.failed;
    buf_free(&text);
}
