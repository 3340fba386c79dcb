/*
 * agio.c - the agio dialect: native events in, agio records out.
 */
#include "wire/dialect/dialect.h"
#include "wire/dialect/record.h"

/* One run. */
struct agio {
    bool verbose; /* debug records, too */
    struct record_calls early;
    struct buf step_held; /* step_completed, until the metrics are told */
    struct buf cancel_by;
    int64_t step; /* 0 before the first */
    int64_t step_began_us;
    int64_t last_us;    /* of the newest event */
    int64_t steps_file; /* 1: the first is a plan file */
    int64_t actions;    /* that ran; each is a tool call here */
};

/* ---- Time ---------------------------------------------------------------- */

struct date {
    int64_t year;
    int month, day; /* from 1 */
};

/* Days since 1970-01-01 in the calendar; years begin in March on the way,
 * so that the day that is not always there is the last. */
static struct date date_of(int64_t days)
{
    int64_t from_0 = days + 719468; /* since 0000-03-01 */
    int64_t era = (from_0 >= 0 ? from_0 : from_0 - 146096) / 146097;
    int64_t day = from_0 - era * 146097;
    int64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    int64_t of_year = day - (365 * year + year / 4 - year / 100);
    int64_t month = (5 * of_year + 2) / 153;
    struct date d = {.year = year + era * 400 + (month >= 10),
                     .month = (int)(month < 10 ? month + 3 : month - 9),
                     .day = (int)(of_year - (153 * month + 2) / 5 + 1)};

    return d;
}

static void put_iso(struct buf *b, int64_t time_us)
{
    const int64_t second = 1000000, day = 86400 * second;
    int64_t days = time_us / day - (time_us % day < 0);
    int64_t us = time_us - days * day;
    struct date d = date_of(days);

    buf_fmt(b, "\"%04lld-%02d-%02dT%02d:%02d:%02d.%06dZ\"", (long long)d.year,
            d.month, d.day, (int)(us / (3600 * second)),
            (int)(us / (60 * second) % 60), (int)(us / second % 60),
            (int)(us % second));
}

/* ---- Records ------------------------------------------------------------- */

static void put_seconds(struct buf *b, const char *name, int64_t ms)
{
    json_add_f64(b, name, (double)ms / 1000);
}

static void open_record(struct buf *b, const wend_event *ev, const char *type)
{
    buf_cstr(b, "{\"type\":\"");
    buf_cstr(b, type);
    buf_char(b, '"');
    json_add_str(b, "run_id", ev->run);
    json_key(b, "timestamp");
    put_iso(b, ev->time_us);
    json_open(b, "data", '{');
}

/* After data, for what agio has no member for. */
static void open_metadata(struct buf *b)
{
    json_close(b, '}');
    json_open(b, "metadata", '{');
}

static void end_metadata(struct buf *b)
{
    buf_add(b, "}}\n", 3);
}

static void close_record(struct buf *b)
{
    open_metadata(b);
    end_metadata(b);
}

/* What happens outside any step belongs to the first. */
static void put_step(const struct agio *a, struct buf *b, const char *name)
{
    json_add_i64(b, name, a->step ? a->step : 1);
}

static void put_error(const struct agio *a, const wend_event *ev, wend_str text,
                      wend_str type, bool is_fatal, struct buf *out)
{
    open_record(out, ev, "error");
    json_add_str(out, "error", text.ptr ? text : STR(""));
    json_add_str(out, "error_type", type.ptr ? type : STR("error"));
    json_add_bool(out, "is_fatal", is_fatal);
    put_step(a, out, "step");
    close_record(out);
}

static void put_message(const wend_event *ev, const char *type, wend_str text,
                        struct buf *out)
{
    open_record(out, ev, type);
    json_add_str(out, "message", text.ptr ? text : STR(""));
    close_record(out);
}

/* ---- Runs and steps ------------------------------------------------------ */

static void on_run_start(struct agio *a, const wend_event *ev, struct buf *out)
{
    wend_str prompt = ev->u.run_start.prompt;

    a->steps_file = ev->u.run_start.plan_json.ptr != NULL;
    open_record(out, ev, "run_started");
    json_add_str(out, "query", prompt.ptr ? prompt : STR(""));
    close_record(out);
}

static void enter_step(struct agio *a, const wend_event *ev, int64_t step)
{
    a->step = step;
    a->step_began_us = ev->time_us;
}

static void begin_step(struct agio *a, const wend_event *ev, int64_t step,
                       struct buf *out)
{
    record_let_go(&a->step_held, out);
    enter_step(a, ev, step);
    open_record(out, ev, "step_started");
    put_step(a, out, "step");
    close_record(out);
}

static void end_step(struct agio *a, const wend_event *ev)
{
    open_record(&a->step_held, ev, "step_completed");
    put_step(a, &a->step_held, "step");
    close_record(&a->step_held);
}

static void on_turn_start(struct agio *a, const wend_event *ev, struct buf *out)
{
    begin_step(a, ev, ev->u.turn_start.counter + 1 + a->steps_file, out);
}

static void on_turn_end(struct agio *a, const wend_event *ev, struct buf *out)
{
    (void)out;
    end_step(a, ev);
}

/* A plan that is not of a turn is a step itself. */
static void on_plan_start(struct agio *a, const wend_event *ev, struct buf *out)
{
    if (!ev->in_turn)
        begin_step(a, ev, 1, out);
}

static void on_plan_end(struct agio *a, const wend_event *ev, struct buf *out)
{
    (void)out;
    if (!ev->in_turn)
        end_step(a, ev);
}

static void on_metrics(struct agio *a, const wend_event *ev, struct buf *out)
{
    const wend_ev_metrics *m = &ev->u.metrics;

    open_record(out, ev, "metrics_snapshot");
    json_add_i64(out, "total_tokens", m->tokens_in + m->tokens_out);
    json_add_i64(out, "total_prompt_tokens", m->tokens_in);
    json_add_i64(out, "total_completion_tokens", m->tokens_out);
    put_step(a, out, "current_step");
    json_add_i64(out, "tool_calls_count", m->tool_calls + a->actions);
    json_add_f64(out, "step_duration",
                 a->step ? (double)(ev->time_us - a->step_began_us) / 1e6 : 0);
    json_key(out, "timestamp");
    json_put_time(out, ev->time_us);
    close_record(out);
    record_let_go(&a->step_held, out);
}

/* ---- Model --------------------------------------------------------------- */

static void on_model_start(struct agio *a, const wend_event *ev,
                           struct buf *out)
{
    record_calls_model(&a->early, ev, out);
    if (a->verbose)
        put_message(ev, "debug", ev->u.model_start.model, out);
}

static void on_text_delta(struct agio *a, const wend_event *ev, struct buf *out)
{
    open_record(out, ev, "text_delta");
    json_add_str(out, "content", ev->u.text_delta.text);
    put_step(a, out, "step");
    close_record(out);
}

static void put_usage(const struct agio *a, const wend_event *ev,
                      const wend_ev_usage *u, struct buf *out)
{
    open_record(out, ev, "usage_update");
    json_add_i64(out, "prompt_tokens", u->input);
    json_add_i64(out, "completion_tokens", u->output);
    json_add_i64(out, "total_tokens", u->input + u->output);
    put_step(a, out, "step");
    close_record(out);
}

static void on_model_retry(struct agio *a, const wend_event *ev,
                           struct buf *out)
{
    if (ev->u.model_retry.usage)
        put_usage(a, ev, ev->u.model_retry.usage, out);
    put_error(a, ev, ev->u.model_retry.reason, STR("model_retry"), false, out);
}

/* Text of other purposes is not for the reader. */
static bool is_shown(const wend_ev_model_end *e)
{
    return e->text.len && e->outcome != WEND_OUTCOME_SUPERSEDED &&
           e->outcome != WEND_OUTCOME_FAILED &&
           (e->purpose == WEND_PURPOSE_ANSWER ||
            e->purpose == WEND_PURPOSE_PLAN ||
            e->purpose == WEND_PURPOSE_REPAIR);
}

static bool came_back(const wend_ev_model_end *e)
{
    return !e->usage.estimated &&
           (e->outcome == WEND_OUTCOME_OK || e->usage.input || e->usage.output);
}

/* A summary that fails is made up for, and an action has its own end; an
 * answer that fails ends the run. */
static void on_model_end(struct agio *a, const wend_event *ev, struct buf *out)
{
    const wend_ev_model_end *e = &ev->u.model_end;
    bool needed = e->purpose != WEND_PURPOSE_SUMMARY && !e->action.ptr;

    if (is_shown(e)) {
        open_record(out, ev, "text_completed");
        json_add_str(out, "content", e->text);
        put_step(a, out, "step");
        close_record(out);
    }
    if (came_back(e))
        put_usage(a, ev, &e->usage, out);
    if (e->outcome == WEND_OUTCOME_FAILED)
        put_error(a, ev, e->error ? e->error->message : STR_NONE,
                  e->error ? e->error->code : STR_NONE,
                  needed && !e->calls_count, out);
    record_calls_model(&a->early, ev, out);
}

static void on_other(const struct agio *a, const wend_event *ev,
                     struct buf *out)
{
    if (a->verbose && !wend_event_is_delta(ev->type))
        put_message(ev, "debug", str_of(wend_event_name(ev->type)), out);
}

/* ---- Tools --------------------------------------------------------------- */

/* A call or an action that began. */
static void put_started(struct agio *a, const wend_event *ev, wend_str name,
                        wend_str id, wend_str args, struct buf *out)
{
    struct buf *b = record_calls_out(&a->early, out);

    if (!record_calls_begin(&a->early, ev))
        return;
    open_record(b, ev, "tool_call_started");
    json_add_str(b, "tool_name", name);
    json_add_str(b, "tool_call_id", id);
    json_key(b, "arguments");
    buf_str(b, args.ptr ? args : STR("{}"));
    put_step(a, b, "step");
    close_record(b);
}

struct ended { /* a call or an action */
    wend_str name, id, output, output_json, reason;
    wend_outcome outcome;
    int64_t ms;
    bool truncated, cached;
    const wend_ev_error *error;
};

static wend_str why(const struct ended *e)
{
    if (e->error && e->error->message.len)
        return e->error->message;
    if (e->reason.len)
        return e->reason;
    return e->output.len ? e->output : str_of(wend_outcome_name(e->outcome));
}

static void put_ended(struct agio *a, const wend_event *ev,
                      const struct ended *e, struct buf *out)
{
    struct buf *b = record_calls_out(&a->early, out);
    bool ok = e->outcome == WEND_OUTCOME_OK;

    if (!record_calls_end(&a->early, ev)) {
        on_other(a, ev, out);
        return;
    }
    open_record(b, ev, ok ? "tool_call_completed" : "tool_call_failed");
    json_add_str(b, "tool_name", e->name);
    json_add_str(b, "tool_call_id", e->id);
    if (ok && e->output_json.ptr) {
        json_key(b, "result");
        buf_str(b, e->output_json);
    } else if (ok) {
        json_add_str(b, "result", e->output.ptr ? e->output : STR(""));
    }
    put_seconds(b, "duration", e->ms);
    put_step(a, b, "step");
    if (!ok)
        json_add_str(b, "error", why(e));
    open_metadata(b);
    record_fate(b, e->outcome, e->truncated, e->cached);
    end_metadata(b);
}

static void on_call_start(struct agio *a, const wend_event *ev, struct buf *out)
{
    const wend_ev_call_start *e = &ev->u.call_start;

    put_started(a, ev, e->name, e->call, e->args_json, out);
}

static void on_call_end(struct agio *a, const wend_event *ev, struct buf *out)
{
    const wend_ev_call_end *c = &ev->u.call_end;
    const struct ended e = {.name = c->name,
                            .id = c->call,
                            .output = c->output,
                            .outcome = c->outcome,
                            .ms = c->ms,
                            .truncated = c->truncated,
                            .cached = c->cached,
                            .error = c->error};

    put_ended(a, ev, &e, out);
}

static void on_action_start(struct agio *a, const wend_event *ev,
                            struct buf *out)
{
    const wend_ev_action_start *e = &ev->u.action_start;

    put_started(a, ev, e->name, e->action, e->params_json, out);
}

static void on_action_end(struct agio *a, const wend_event *ev, struct buf *out)
{
    const wend_ev_action_end *c = &ev->u.action_end;
    const struct ended e = {.name = c->name,
                            .id = c->action,
                            .output_json = c->output_json,
                            .reason = c->reason,
                            .outcome = c->outcome,
                            .ms = c->ms,
                            .cached = c->cached,
                            .error = c->error};

    if (c->outcome == WEND_OUTCOME_SKIPPED) { /* nothing was called */
        on_other(a, ev, out);
        return;
    }
    a->actions += c->outcome != WEND_OUTCOME_SUPERSEDED;
    put_ended(a, ev, &e, out);
}

/* ---- Talk ---------------------------------------------------------------- */

static void on_warning(struct agio *a, const wend_event *ev, struct buf *out)
{
    (void)a;
    put_message(ev, "warning", ev->u.warning.message, out);
}

static void on_error(struct agio *a, const wend_event *ev, struct buf *out)
{
    put_error(a, ev, ev->u.error.message, ev->u.error.code, false, out);
}

/* A step takes no longer because no process had the run. */
static void on_resume(struct agio *a, const wend_event *ev, struct buf *out)
{
    if (a->last_us)
        a->step_began_us += ev->time_us - a->last_us;
    on_other(a, ev, out);
}

static void on_control(struct agio *a, const wend_event *ev, struct buf *out)
{
    const wend_ev_control *e = &ev->u.control;

    if (str_is(e->what, "cancel")) {
        buf_clear(&a->cancel_by);
        buf_str(&a->cancel_by, e->by);
        out->failed |= a->cancel_by.failed;
    }
    if (a->verbose)
        put_message(ev, "debug", e->what, out);
}

/* ---- Ends ---------------------------------------------------------------- */

static void put_completed(const struct agio *a, const wend_event *ev,
                          struct buf *out)
{
    const wend_ev_run_end *e = &ev->u.run_end;
    const wend_ev_metrics *m = &e->metrics;

    open_record(out, ev, "run_completed");
    json_add_str(out, "response", e->text.ptr ? e->text : STR(""));
    json_open(out, "metrics", '{');
    put_seconds(out, "duration", m->ms);
    json_add_i64(out, "steps_count", a->step);
    json_add_i64(out, "tool_calls_count", m->tool_calls + a->actions);
    json_add_i64(out, "total_tokens", m->tokens_in + m->tokens_out);
    put_seconds(out, "response_latency", m->first_token_ms);
    json_close(out, '}');
    open_metadata(out);
    if (e->outcome == WEND_OUTCOME_LIMIT)
        json_add_str(out, "limit", e->limit);
    end_metadata(out);
}

static void put_canceled(const struct agio *a, const wend_event *ev,
                         struct buf *out)
{
    open_record(out, ev, "run_cancelled");
    json_add_str(out, "reason",
                 a->cancel_by.len ? buf_view(&a->cancel_by) : STR("canceled"));
    close_record(out);
}

static void put_failed(const wend_event *ev, struct buf *out)
{
    const wend_ev_error *error = ev->u.run_end.error;
    wend_str text = error ? error->message : STR_NONE;

    open_record(out, ev, "run_failed");
    json_add_str(out, "error", text.ptr ? text : STR("the run failed"));
    close_record(out);
}

static void on_run_end(struct agio *a, const wend_event *ev, struct buf *out)
{
    wend_outcome outcome = ev->u.run_end.outcome;

    record_let_go(&a->step_held, out);
    if (outcome == WEND_OUTCOME_OK || outcome == WEND_OUTCOME_LIMIT)
        put_completed(a, ev, out);
    else if (outcome == WEND_OUTCOME_CANCELED)
        put_canceled(a, ev, out);
    else
        put_failed(ev, out);
}

/* ---- Publics ------------------------------------------------------------- */

typedef void (*handler)(struct agio *, const wend_event *, struct buf *);

/* What has no row is at most a debug record. */
static const handler handlers[WEND_EVENT_TYPES] = {
    [WEND_RUN_START] = on_run_start,
    [WEND_RUN_END] = on_run_end,
    [WEND_TURN_START] = on_turn_start,
    [WEND_TURN_END] = on_turn_end,
    [WEND_MODEL_START] = on_model_start,
    [WEND_TEXT_DELTA] = on_text_delta,
    [WEND_MODEL_RETRY] = on_model_retry,
    [WEND_MODEL_END] = on_model_end,
    [WEND_CALL_START] = on_call_start,
    [WEND_CALL_END] = on_call_end,
    [WEND_PLAN_START] = on_plan_start,
    [WEND_PLAN_END] = on_plan_end,
    [WEND_ACTION_START] = on_action_start,
    [WEND_ACTION_END] = on_action_end,
    [WEND_METRICS] = on_metrics,
    [WEND_WARNING] = on_warning,
    [WEND_ERROR] = on_error,
    [WEND_CONTROL] = on_control,
    [WEND_RUN_RESUME] = on_resume,
    [WEND_RUN_FORK] = on_resume,
};

static void agio_init(void *state, const struct mem *m, bool verbose)
{
    struct agio *a = state;

    a->verbose = verbose;
    record_calls_init(&a->early, m);
    a->step_held.mem = a->cancel_by.mem = m;
}

static void agio_event(void *state, const wend_event *ev, struct buf *out)
{
    struct agio *a = state;

    /* Not only at turn_start: a reader may come in the middle of a turn. */
    if (ev->in_turn && ev->turn + 1 + a->steps_file != a->step &&
        ev->type != WEND_TURN_START)
        enter_step(a, ev, ev->turn + 1 + a->steps_file);
    if (handlers[ev->type])
        handlers[ev->type](a, ev, out);
    else
        on_other(a, ev, out);
    a->last_us = ev->time_us;
    out->failed |=
        a->early.held.failed | a->early.open.failed | a->step_held.failed;
}

static void agio_free(void *state)
{
    struct agio *a = state;

    record_calls_free(&a->early);
    buf_free(&a->step_held);
    buf_free(&a->cancel_by);
}

const struct dialect dialect_agio = {
    .name = "agio",
    .size = sizeof(struct agio),
    .init = agio_init,
    .event = agio_event,
    .free = agio_free,
};
