/*
 * stream.c - which event begins a span, which ends it, and what it says.
 */
#include "wire/otel/span.h"

#include "base/ascii.h"
#include "base/hash.h"
#include "core/event/event.h"
#include "wire/otel/attr.h"

static struct otel_end end_with(wend_outcome outcome,
                                const wend_ev_error *error)
{
    struct otel_end e = {.outcome = outcome};

    if (error) {
        e.code = error->code;
        e.message = error->message;
    }
    return e;
}

/* The first bytes of another one; what it lacks the copy lacks, too. */
static void copy(struct buf *to, const struct buf *from, size_t len)
{
    to->failed |= from->failed;
    if (!to->failed)
        buf_add(to, from->ptr, len);
}

/* ---- The run ------------------------------------------------------------- */

/* The trace of a run without a parent is the run's id: 32 digits. */
static void own_trace(struct otel_stream *s)
{
    unsigned char hash[SHA256_BYTES];
    struct sha256 h;
    wend_str run = buf_view(&s->run);
    char text[OTEL_PARENT_LEN + 1] = "00-";
    size_t n = 3;
    struct otel_context c;

    for (size_t i = 0; i < run.len && n < 35; i++)
        if (run.ptr[i] != '-')
            text[n++] = run.ptr[i];
    memcpy(text + n, "-0000000000000001-01", 21);
    if (n == 35 && otel_parent_read(str_of(text), &c)) {
        memcpy(s->context.trace, c.trace, sizeof c.trace);
        return;
    }
    sha256_init(&h);
    sha256_add(&h, run.ptr, run.len);
    sha256_end(&h, hash);
    hash[0] |= !hash[0];
    memcpy(s->context.trace, hash, sizeof s->context.trace);
}

/* A caller of the host may have a trace: its labels say so. */
static void take_labels(struct otel_stream *s, wend_str labels_json,
                        struct otel_context *parent)
{
    const struct json *labels =
        labels_json.ptr ? json_parse_own(labels_json, &s->scratch, NULL) : NULL;
    wend_str state = json_get_str(labels, "tracestate");

    if (s->given)
        return;
    s->has_parent =
        otel_parent_read(json_get_str(labels, "traceparent"), parent);
    buf_clear(&s->state);
    if (s->has_parent && otel_state_ok(state))
        buf_str(&s->state, state);
}

static void begin_root(struct otel_stream *s, const wend_event *ev,
                       wend_str labels_json)
{
    struct otel_context parent = s->parent;

    otel_span_free(s, s->root);
    s->root = NULL;
    take_labels(s, labels_json, &parent);
    if (s->has_parent) {
        s->context = parent;
    } else {
        own_trace(s);
        s->context.flags = OTEL_SAMPLED;
    }
    s->root = otel_span_begin(s, ev, OTEL_RUN, STR_NONE, NULL);
    if (!s->root)
        return;
    if (s->has_parent)
        memcpy(s->root->parent, parent.span, sizeof parent.span);
    memcpy(s->context.span, s->root->span, sizeof s->root->span);
}

static wend_str plan_name(struct otel_stream *s, wend_str plan_json)
{
    const struct json *j =
        plan_json.ptr ? json_parse_own(plan_json, &s->scratch, NULL) : NULL;

    return !plan_json.ptr ? STR_NONE : str_or(json_get_str(j, "name"), "plan");
}

static void run_starts(struct otel_stream *s, const wend_event *ev)
{
    const wend_ev_run_start *e = &ev->u.run_start;
    wend_str plan = plan_name(s, e->plan_json);
    struct otel_open *o;

    s->begun = true;
    s->is_plan = e->plan_json.ptr != NULL;
    buf_clear(&s->session);
    buf_str(&s->session, e->session);
    models_note(s, e->model, e->config_json);
    begin_root(s, ev, e->labels_json);
    o = s->root;
    if (!o)
        return;
    buf_cstr(&o->name, s->is_plan ? "invoke_workflow " : "invoke_agent ");
    buf_str(&o->name, plan.ptr ? plan : e->agent);
    attr_str(&o->attrs, "gen_ai.operation.name",
             s->is_plan ? STR("invoke_workflow") : STR("invoke_agent"));
    attr_str(&o->attrs, "gen_ai.workflow.name", plan);
    attr_str(&o->attrs, "gen_ai.agent.name", e->agent);
    if (e->model.len) {
        models_put(s, &o->attrs, e->model);
        attr_str(&o->attrs, "gen_ai.request.model", e->model);
    }
    attr_str(&o->attrs, "gen_ai.conversation.id", e->session);
    attr_str(&o->attrs, "wend.run.id", buf_view(&s->run));
    attr_str(&o->attrs, "wend.run.parent", e->parent_run);
    attr_str(&o->attrs, "wend.run.follows", e->follows);
    said_message(s, o, "gen_ai.input.messages", "user", e->prompt, STR_NONE);
    o->base = o->attrs.len;
}

/* What comes before is the parent's: a fork has a span of its own. */
static void run_forks(struct otel_stream *s, const wend_event *ev)
{
    const wend_ev_run_fork *e = &ev->u.run_fork;
    struct otel_open *before = s->root, *o;

    if (!before)
        return;
    s->root = NULL;
    while (s->open) {
        o = s->open;
        s->open = o->next;
        otel_span_free(s, o);
    }
    s->open_count = 0;
    buf_clear(&s->resumes);
    if (e->session.ptr) {
        buf_clear(&s->session);
        buf_str(&s->session, e->session);
    }
    models_note(s, e->model, e->config_json);
    begin_root(s, ev, e->labels_json);
    o = s->root;
    if (o) {
        copy(&o->name, &before->name, before->name.len);
        copy(&o->attrs, &before->attrs, before->attrs.len);
        attr_str(&o->attrs, "wend.run.fork_of", e->parent);
    }
    otel_span_free(s, before);
}

static void run_resumes(struct otel_stream *s, const wend_event *ev)
{
    const wend_ev_run_resume *e = &ev->u.run_resume;

    s->cut_us = s->last_us;
    models_note(s, e->model, e->config_json);
    if (s->resumes.len > OTEL_RESUMES_MAX)
        return;
    json_open(&s->resumes, NULL, '{');
    attr_member_i64(&s->resumes, "timeUnixNano", ev->time_us * 1000);
    json_add_str(&s->resumes, "name", STR("wend.resume"));
    json_close(&s->resumes, '}');
}

static void run_ends(struct otel_stream *s, const wend_event *ev)
{
    const wend_ev_run_end *e = &ev->u.run_end;
    struct otel_open *o = s->root;
    size_t before = o ? o->attrs.len : 0;

    if (!o)
        return;
    attr_i64(&o->attrs, "gen_ai.usage.input_tokens", e->metrics.tokens_in);
    attr_i64(&o->attrs, "gen_ai.usage.output_tokens", e->metrics.tokens_out);
    attr_i64(&o->attrs, "wend.turns", e->metrics.turns);
    attr_str(&o->attrs, "wend.limit", e->limit);
    if (e->metrics.cost_nano >= 0)
        attr_f64(&o->attrs, "wend.cost_usd",
                 (double)e->metrics.cost_nano / 1e9);
    said_message(s, o, "gen_ai.output.messages", "assistant", e->text,
                 e->outcome == WEND_OUTCOME_OK
                     ? STR("stop")
                     : str_of(wend_outcome_name(e->outcome)));
    otel_span_end_root(s, ev, end_with(e->outcome, e->error));
    if (!o->attrs.failed)
        o->attrs.ptr[o->attrs.len = before] = 0;
}

/* ---- Requests to models -------------------------------------------------- */

static struct otel_open *begin_chat(struct otel_stream *s, const wend_event *ev,
                                    wend_str model, wend_str action,
                                    int64_t output_tokens)
{
    const struct otel_open *parent =
        action.ptr ? otel_span_find(s, OTEL_ACTION, action) : NULL;
    struct otel_open *o = otel_span_begin(s, ev, OTEL_CHAT, action, parent);

    if (!o)
        return NULL;
    o->span_kind = SPAN_CLIENT;
    buf_cstr(&o->name, "chat ");
    buf_str(&o->name, model);
    attr_str(&o->attrs, "gen_ai.operation.name", STR("chat"));
    models_put(s, &o->attrs, model);
    attr_str(&o->attrs, "gen_ai.request.model", model);
    if (s->session.len)
        attr_str(&o->attrs, "gen_ai.conversation.id", buf_view(&s->session));
    if (output_tokens)
        attr_i64(&o->attrs, "gen_ai.request.max_tokens", output_tokens);
    if (ev->in_turn)
        attr_i64(&o->attrs, "wend.turn", ev->turn);
    return o;
}

static void model_starts(struct otel_stream *s, const wend_event *ev)
{
    const wend_ev_model_start *e = &ev->u.model_start;
    struct otel_open *o =
        begin_chat(s, ev, e->model, e->action, e->output_tokens);

    if (!o)
        return;
    o->attempt = e->attempt ? e->attempt : 1;
    o->purpose = e->purpose;
}

static void put_usage(struct otel_open *o, const wend_ev_usage *u)
{
    static const struct {
        const char *key;
        size_t at;
    } rows[] = {
        {"gen_ai.usage.cache_read.input_tokens",
         offsetof(wend_ev_usage, cached)},
        {"gen_ai.usage.cache_creation.input_tokens",
         offsetof(wend_ev_usage, cache_write)},
        {"gen_ai.usage.reasoning.output_tokens",
         offsetof(wend_ev_usage, reasoning)},
    };

    if (!u || u->estimated)
        return;
    attr_i64(&o->attrs, "gen_ai.usage.input_tokens", u->input);
    attr_i64(&o->attrs, "gen_ai.usage.output_tokens", u->output);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t n =
            *(const int64_t *)(const void *)((const char *)u + rows[i].at);

        if (n)
            attr_i64(&o->attrs, rows[i].key, n);
    }
    if (u->cost_nano >= 0)
        attr_f64(&o->attrs, "wend.cost_usd", (double)u->cost_nano / 1e9);
}

static void put_purpose(struct otel_open *o)
{
    attr_str(&o->attrs, "wend.purpose",
             str_of(purpose_words.names[o->purpose]));
}

/* The next attempt begins after the delay. */
static void model_retries(struct otel_stream *s, const wend_event *ev)
{
    const wend_ev_model_retry *e = &ev->u.model_retry;
    struct otel_open *o = otel_span_find(s, OTEL_CHAT, STR_NONE), *next;
    int64_t attempt = o ? o->attempt : e->attempt;
    wend_purpose purpose = o ? o->purpose : WEND_PURPOSE_ANSWER;

    if (o) {
        put_purpose(o);
        put_usage(o, e->usage);
    }
    otel_span_end(
        s, o, ev,
        (struct otel_end){.outcome = WEND_OUTCOME_FAILED, .code = e->reason});
    next = begin_chat(s, ev, e->next_model, STR_NONE, e->output_tokens);
    if (!next)
        return;
    next->attempt = attempt + 1;
    next->purpose = purpose;
    next->began_us += e->delay_ms * 1000;
}

static void model_ends(struct otel_stream *s, const wend_event *ev)
{
    const wend_ev_model_end *e = &ev->u.model_end;
    struct otel_open *o = otel_span_find(s, OTEL_CHAT, e->action);

    if (!o)
        return;
    put_purpose(o);
    if (e->outcome == WEND_OUTCOME_OK && e->finish.len)
        attr_list(&o->attrs, "gen_ai.response.finish_reasons", e->finish);
    if (e->outcome == WEND_OUTCOME_OK || e->usage.input || e->usage.output)
        put_usage(o, &e->usage);
    if (e->first_token_ms)
        attr_f64(&o->attrs, "gen_ai.response.time_to_first_chunk",
                 (double)e->first_token_ms / 1000);
    said_answer(s, o, e);
    otel_span_end(s, o, ev, end_with(e->outcome, e->error));
}

/* ---- Calls and plans ----------------------------------------------------- */

static void put_tool(struct otel_open *o, wend_str tool, wend_str id)
{
    buf_cstr(&o->name, "execute_tool ");
    buf_str(&o->name, tool);
    attr_str(&o->attrs, "gen_ai.operation.name", STR("execute_tool"));
    attr_str(&o->attrs, "gen_ai.tool.name", tool);
    attr_str(&o->attrs, "gen_ai.tool.type", STR("function"));
    attr_str(&o->attrs, "gen_ai.tool.call.id", id);
}

static void call_starts(struct otel_stream *s, const wend_event *ev)
{
    const wend_ev_call_start *e = &ev->u.call_start;
    struct otel_open *o = otel_span_begin(s, ev, OTEL_CALL, e->call, NULL);

    if (!o)
        return;
    o->attempt = e->attempt ? e->attempt : 1;
    put_tool(o, e->name, e->call);
    if (ev->in_turn)
        attr_i64(&o->attrs, "wend.turn", ev->turn);
    said_text(s, o, "gen_ai.tool.call.arguments", e->args_json);
}

static void call_ends(struct otel_stream *s, const wend_event *ev)
{
    const wend_ev_call_end *e = &ev->u.call_end;
    struct otel_open *o = otel_span_find(s, OTEL_CALL, e->call);

    if (!o)
        return;
    if (e->cached)
        attr_bool(&o->attrs, "wend.cached", true);
    said_text(s, o, "gen_ai.tool.call.result", e->output);
    otel_span_end(s, o, ev, end_with(e->outcome, e->error));
}

/* The run of a plan file is that plan. */
static void plan_starts(struct otel_stream *s, const wend_event *ev)
{
    const wend_ev_plan_start *e = &ev->u.plan_start;
    struct otel_open *o;
    wend_str name;

    if (s->is_plan && !ev->in_turn)
        return;
    o = otel_span_begin(s, ev, OTEL_PLAN, e->plan,
                        e->call.ptr ? otel_span_find(s, OTEL_CALL, e->call)
                                    : NULL);
    if (!o)
        return;
    name = e->name.len ? e->name : e->plan;
    buf_cstr(&o->name, "invoke_workflow ");
    buf_str(&o->name, name);
    attr_str(&o->attrs, "gen_ai.operation.name", STR("invoke_workflow"));
    attr_str(&o->attrs, "gen_ai.workflow.name", name);
    if (ev->in_turn)
        attr_i64(&o->attrs, "wend.turn", ev->turn);
}

static void plan_ends(struct otel_stream *s, const wend_event *ev)
{
    otel_span_end(s, otel_span_find(s, OTEL_PLAN, STR_NONE), ev,
                  (struct otel_end){.outcome = ev->u.plan_end.outcome});
}

static void action_starts(struct otel_stream *s, const wend_event *ev)
{
    const wend_ev_action_start *e = &ev->u.action_start;
    struct otel_open *o = otel_span_begin(
        s, ev, OTEL_ACTION, e->action, otel_span_find(s, OTEL_PLAN, STR_NONE));

    if (!o)
        return;
    o->attempt = e->attempt ? e->attempt : 1;
    if (str_is(e->type, "tool")) {
        put_tool(o, e->target, e->action);
    } else {
        buf_cstr(&o->name, "action ");
        buf_str(&o->name, e->name);
        attr_str(&o->attrs, "wend.action.target", e->target);
    }
    attr_str(&o->attrs, "wend.action.id", e->action);
    attr_str(&o->attrs, "wend.action.type", e->type);
    said_text(s, o, "gen_ai.tool.call.arguments", e->params_json);
    o->base = o->attrs.len;
}

static void action_retries(struct otel_stream *s, const wend_event *ev)
{
    const wend_ev_action_retry *e = &ev->u.action_retry;
    struct otel_open *o = otel_span_find(s, OTEL_ACTION, e->action), *next;

    if (!o)
        return;
    next = otel_span_begin(s, ev, OTEL_ACTION, e->action, NULL);
    if (next) {
        memcpy(next->parent, o->parent, sizeof o->parent);
        copy(&next->name, &o->name, o->name.len);
        copy(&next->attrs, &o->attrs, o->base);
        next->base = o->base;
        next->attempt = o->attempt + 1;
        next->began_us += e->delay_ms * 1000;
    }
    otel_span_end(s, o, ev, end_with(WEND_OUTCOME_FAILED, e->error));
}

static void action_ends(struct otel_stream *s, const wend_event *ev)
{
    const wend_ev_action_end *e = &ev->u.action_end;
    struct otel_open *o = otel_span_find(s, OTEL_ACTION, e->action);

    if (!o)
        return;
    if (e->cached)
        attr_bool(&o->attrs, "wend.cached", true);
    said_text(s, o, "gen_ai.tool.call.result", e->output_json);
    otel_span_end(s, o, ev, end_with(e->outcome, e->error));
}

/* ---- Publics ------------------------------------------------------------- */

static void (*const handlers[WEND_EVENT_TYPES])(struct otel_stream *s,
                                                const wend_event *ev) = {
    [WEND_RUN_START] = run_starts,        [WEND_RUN_FORK] = run_forks,
    [WEND_RUN_RESUME] = run_resumes,      [WEND_RUN_END] = run_ends,
    [WEND_MODEL_START] = model_starts,    [WEND_MODEL_RETRY] = model_retries,
    [WEND_MODEL_END] = model_ends,        [WEND_CALL_START] = call_starts,
    [WEND_CALL_END] = call_ends,          [WEND_PLAN_START] = plan_starts,
    [WEND_PLAN_END] = plan_ends,          [WEND_ACTION_START] = action_starts,
    [WEND_ACTION_RETRY] = action_retries, [WEND_ACTION_END] = action_ends,
};

void otel_stream_open(struct otel_stream *s, const struct mem *m,
                      const struct otel_options *o)
{
    *s = (struct otel_stream){.mem = m,
                              .scratch.mem = m,
                              .run.mem = m,
                              .state.mem = m,
                              .session.mem = m,
                              .resumes.mem = m,
                              .content = o->content,
                              .given = o->parent != NULL,
                              .has_parent = o->parent != NULL};
    buf_str(&s->run, o->run);
    if (!o->parent)
        return;
    s->parent = *o->parent;
    buf_str(&s->state, o->state);
}

bool otel_stream_event(struct otel_stream *s, const wend_event *ev,
                       struct buf *out, bool past)
{
    uint64_t lost = s->lost;

    if ((unsigned)ev->type >= WEND_EVENT_TYPES)
        return true;
    s->out = out;
    s->past = past;
    if (handlers[ev->type] && (s->begun || ev->type == WEND_RUN_START))
        handlers[ev->type](s, ev);
    s->last_us = ev->time_us;
    if (s->scratch.held)
        arena_free(&s->scratch);
    s->scratch.failed = false;
    return s->lost == lost && !out->failed;
}

void otel_stream_close(struct otel_stream *s)
{
    if (!s->mem)
        return;
    while (s->open) {
        struct otel_open *o = s->open;

        s->open = o->next;
        otel_span_free(s, o);
    }
    otel_span_free(s, s->root);
    models_free(s);
    buf_free(&s->run);
    buf_free(&s->state);
    buf_free(&s->session);
    buf_free(&s->resumes);
    memset(s, 0, sizeof *s);
}

bool otel_stream_context(const struct otel_stream *s, enum otel_kind kind,
                         wend_str id, struct otel_context *out)
{
    const struct otel_open *o =
        kind == OTEL_RUN ? s->root : otel_span_find(s, kind, id);

    if (!o)
        return false;
    *out = s->context;
    memcpy(out->span, o->span, sizeof o->span);
    return true;
}

bool otel_stream_sampled(const struct otel_stream *s)
{
    return s->context.flags & OTEL_SAMPLED;
}
