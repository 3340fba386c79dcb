/*
 * loom.c - the loom dialect: native events in, loom records out.
 *
 * A handler writes the members of its records in the order that dialect.h
 * gives.
 */
#include "base/limits.h"
#include "wire/dialect/dialect.h"
#include "wire/dialect/record.h"

/* A call_output names its call only by id; loom wants the tool's name. */
struct loom_call {
    struct loom_call *next;
    wend_str id, name;
};

/* One run. */
struct loom {
    const struct mem *mem;
    struct arena calls_arena; /* what is known about this turn's calls */
    struct loom_call *calls;
    struct record_calls early;
    struct buf iteration_end_held; /* until the next turn or none follows */
    struct buf turn_id, correlation_id;
    int64_t iteration; /* -1 before the first turn */
    int64_t budget_tokens, turns_max, parallel_max;
    int64_t recoveries; /* attempts whose outcome is open */
};

/* ---- Writing records ----------------------------------------------------- */

static void open_record(struct buf *b, const wend_event *ev, const char *type)
{
    buf_cstr(b, "{\"type\":\"");
    buf_cstr(b, type);
    buf_cstr(b, "\",\"timestamp\":");
    json_put_time(b, ev->time_us);
}

/* The end of a run counts as part of its last turn. */
static void close_record(const struct loom *l, struct buf *b)
{
    if (l->iteration >= 0) {
        json_add_i64(b, "iteration", l->iteration);
        json_add_str(b, "turn_id", buf_view(&l->turn_id));
    }
    buf_add(b, "}\n", 2);
}

static void put_plain(const struct loom *l, const wend_event *ev,
                      const char *type, struct buf *b)
{
    open_record(b, ev, type);
    close_record(l, b);
}

/* ---- Turns --------------------------------------------------------------- */

static void enter_turn(struct loom *l, int64_t iteration, wend_str turn_id)
{
    l->iteration = iteration;
    buf_clear(&l->turn_id);
    buf_str(&l->turn_id, turn_id);
}

static void on_run_start(struct loom *l, const wend_event *ev, struct buf *out)
{
    const wend_ev_run_start *e = &ev->u.run_start;

    l->turns_max = e->limits.turns;
    l->parallel_max = e->limits.parallel;
    buf_clear(&l->correlation_id);
    buf_str(&l->correlation_id, e->correlation_id);
    out->failed |= l->correlation_id.failed;
}

static void on_turn_start(struct loom *l, const wend_event *ev, struct buf *out)
{
    const wend_ev_turn_start *e = &ev->u.turn_start;

    record_let_go(&l->iteration_end_held, out);
    arena_reset(&l->calls_arena);
    l->calls = NULL;
    if (e->counter > 0) {
        open_record(out, ev, "recursion");
        json_open(out, "metadata", '{');
        json_add_i64(out, "from_turn", e->counter - 1);
        json_add_i64(out, "to_turn", e->counter);
        json_add_i64(out, "depth", e->counter);
        json_close(out, '}');
        close_record(l, out);
    }
    open_record(out, ev, "iteration_start");
    if (e->parent_id.ptr) {
        json_open(out, "metadata", '{');
        json_add_str(out, "parent_turn_id", e->parent_id);
        json_close(out, '}');
    }
    close_record(l, out);
}

static void on_turn_end(struct loom *l, const wend_event *ev, struct buf *out)
{
    const wend_ev_turn_end *e = &ev->u.turn_end;

    if (!e->calls) { /* loom ends the last turn with the run alone */
        put_plain(l, ev, "iteration_end", &l->iteration_end_held);
        return;
    }
    open_record(out, ev, "tool_calls_complete");
    json_open(out, "metadata", '{');
    json_add_i64(out, "results_count", e->calls);
    json_close(out, '}');
    close_record(l, out);
    put_plain(l, ev, "iteration_end", out);
}

/* ---- Context ------------------------------------------------------------- */

static void on_context_start(struct loom *l, const wend_event *ev,
                             struct buf *out)
{
    l->budget_tokens = ev->u.context_start.budget_tokens;
    put_plain(l, ev, "context_assembly_start", out);
    open_record(out, ev, "phase_start");
    json_add_str(out, "phase", STR("context_assembly"));
    close_record(l, out);
}

static int64_t count_items(const struct loom *l, wend_str json, struct buf *out)
{
    struct arena a = {.mem = l->mem};
    struct json *list = json.ptr ? json_parse(json, &a, NULL) : NULL;
    int64_t count = list ? list->count : 0;

    out->failed |= a.failed;
    arena_free(&a);
    return count;
}

static void on_context_end(struct loom *l, const wend_event *ev,
                           struct buf *out)
{
    const wend_ev_context_end *e = &ev->u.context_end;
    double budget = l->budget_tokens > 0 ? (double)l->budget_tokens : 1;

    open_record(out, ev, "phase_end");
    json_add_str(out, "phase", STR("context_assembly"));
    json_open(out, "metadata", '{');
    json_add_i64(out, "tokens_used", e->tokens);
    json_add_i64(out, "components", count_items(l, e->parts_json, out));
    json_add_f64(out, "utilization",
                 l->budget_tokens > 0 ? (double)e->tokens / budget : 0);
    json_close(out, '}');
    close_record(l, out);
    put_plain(l, ev, "context_assembly_complete", out);
}

static void on_retrieval_start(struct loom *l, const wend_event *ev,
                               struct buf *out)
{
    put_plain(l, ev, "retrieval_start", out);
}

static void on_retrieval_hit(struct loom *l, const wend_event *ev,
                             struct buf *out)
{
    open_record(out, ev, "retrieval_progress");
    json_open(out, "metadata", '{');
    json_add_str(out, "doc_title", ev->u.retrieval_hit.title);
    json_add_f64(out, "relevance_score", ev->u.retrieval_hit.score);
    json_close(out, '}');
    close_record(l, out);
}

static void on_retrieval_end(struct loom *l, const wend_event *ev,
                             struct buf *out)
{
    const wend_ev_retrieval_end *e = &ev->u.retrieval_end;

    open_record(out, ev, "retrieval_complete");
    if (e->error)
        json_add_str(out, "error", e->error->message);
    json_open(out, "metadata", '{');
    json_add_i64(out, "doc_count", e->count);
    json_close(out, '}');
    close_record(l, out);
}

static void on_compacted(struct loom *l, const wend_event *ev, struct buf *out)
{
    open_record(out, ev, "compression_applied");
    json_open(out, "metadata", '{');
    json_add_i64(out, "messages_before", ev->u.compacted.messages_before);
    json_add_i64(out, "messages_after", ev->u.compacted.messages_after);
    json_close(out, '}');
    close_record(l, out);
}

/* ---- Model --------------------------------------------------------------- */

static void on_model_start(struct loom *l, const wend_event *ev,
                           struct buf *out)
{
    record_calls_model(&l->early, ev, out);
    put_plain(l, ev, "llm_start", out);
}

static void on_text_delta(struct loom *l, const wend_event *ev, struct buf *out)
{
    open_record(out, ev, "llm_delta");
    json_add_str(out, "content", ev->u.text_delta.text);
    close_record(l, out);
}

static void on_model_retry(struct loom *l, const wend_event *ev,
                           struct buf *out)
{
    const wend_ev_model_retry *e = &ev->u.model_retry;

    l->recoveries++;
    open_record(out, ev, "recovery_attempt");
    json_add_str(out, "error", e->reason);
    json_open(out, "metadata", '{');
    json_add_i64(out, "attempt", e->attempt);
    json_add_i64(out, "delay_ms", e->delay_ms);
    json_close(out, '}');
    close_record(l, out);
}

static void put_recovery(struct loom *l, const wend_event *ev, struct buf *out)
{
    const wend_ev_model_end *e = &ev->u.model_end;
    bool ok = e->outcome == WEND_OUTCOME_OK;

    open_record(out, ev, ok ? "recovery_success" : "recovery_failed");
    if (e->error)
        json_add_str(out, "error", e->error->message);
    json_open(out, "metadata", '{');
    json_add_i64(out, "attempts", l->recoveries);
    json_close(out, '}');
    close_record(l, out);
    l->recoveries = 0;
}

static void put_calls(const struct loom *l, const wend_event *ev,
                      struct buf *out)
{
    const wend_ev_model_end *e = &ev->u.model_end;

    open_record(out, ev, "llm_tool_calls");
    json_open(out, "metadata", '{');
    json_add_i64(out, "tool_count", (int64_t)e->calls_count);
    json_key(out, "tool_names");
    buf_char(out, '[');
    for (size_t i = 0; i < e->calls_count; i++) {
        if (i)
            buf_char(out, ',');
        json_put_str(out, e->calls[i].name);
    }
    buf_char(out, ']');
    json_close(out, '}');
    close_record(l, out);
    open_record(out, ev, "tool_calls_start");
    json_open(out, "metadata", '{');
    json_add_i64(out, "total_tools", (int64_t)e->calls_count);
    json_add_i64(out, "max_parallel", l->parallel_max);
    json_close(out, '}');
    close_record(l, out);
}

static void on_model_end(struct loom *l, const wend_event *ev, struct buf *out)
{
    const wend_ev_model_end *e = &ev->u.model_end;

    if (l->recoveries)
        put_recovery(l, ev, out);
    open_record(out, ev, "llm_complete");
    json_add_str(out, "content", e->text);
    if (e->error)
        json_add_str(out, "error", e->error->message);
    close_record(l, out);
    if (e->calls_count)
        put_calls(l, ev, out);
    record_calls_model(&l->early, ev, out);
}

/* ---- Calls --------------------------------------------------------------- */

static void remember_call(struct loom *l, wend_str id, wend_str name,
                          struct buf *out)
{
    struct loom_call *c = arena_alloc(&l->calls_arena, sizeof *c);

    if (!c) {
        out->failed = true;
        return;
    }
    c->id = arena_str(&l->calls_arena, id);
    c->name = arena_str(&l->calls_arena, name);
    c->next = l->calls;
    l->calls = c;
    out->failed |= l->calls_arena.failed;
}

static wend_str call_name(const struct loom *l, wend_str id)
{
    for (const struct loom_call *c = l->calls; c; c = c->next)
        if (str_eq(c->id, id))
            return c->name;
    return STR_NONE;
}

static void on_call_start(struct loom *l, const wend_event *ev, struct buf *out)
{
    const wend_ev_call_start *e = &ev->u.call_start;
    struct buf *b = record_calls_out(&l->early, out);

    if (!record_calls_begin(&l->early, ev))
        return;
    remember_call(l, e->call, e->name, out);
    open_record(b, ev, "tool_execution_start");
    json_open(b, "tool_call", '{');
    json_add_str(b, "id", e->call);
    json_add_str(b, "name", e->name);
    json_key(b, "arguments");
    buf_str(b, e->args_json.ptr ? e->args_json : STR("{}"));
    json_close(b, '}');
    close_record(l, b);
}

static void on_call_output(struct loom *l, const wend_event *ev,
                           struct buf *out)
{
    const wend_ev_delta *e = &ev->u.call_output;
    struct buf *b = record_calls_out(&l->early, out);

    open_record(b, ev, "tool_progress");
    json_open(b, "metadata", '{');
    json_add_str(b, "tool_name", call_name(l, e->call));
    json_add_str(b, "status", e->text);
    json_close(b, '}');
    close_record(l, b);
}

static void put_result_metadata(struct buf *b, const wend_ev_call_end *e)
{
    if (e->outcome == WEND_OUTCOME_OK && !e->truncated && !e->cached)
        return;
    json_open(b, "metadata", '{');
    record_fate(b, e->outcome, e->truncated, e->cached);
    json_close(b, '}');
}

static void on_call_end(struct loom *l, const wend_event *ev, struct buf *out)
{
    const wend_ev_call_end *e = &ev->u.call_end;
    bool ok = e->outcome == WEND_OUTCOME_OK;
    struct buf *b = record_calls_out(&l->early, out);

    if (!record_calls_end(&l->early, ev))
        return;
    open_record(b, ev, ok ? "tool_result" : "tool_error");
    json_open(b, "tool_result", '{');
    json_add_str(b, "tool_call_id", e->call);
    json_add_str(b, "tool_name", e->name);
    json_add_str(b, "content", e->output);
    json_add_bool(b, "is_error", !ok);
    json_add_i64(b, "execution_time_ms", e->ms);
    put_result_metadata(b, e);
    json_close(b, '}');
    if (e->error)
        json_add_str(b, "error", e->error->message);
    close_record(l, b);
}

/* ---- Ends ---------------------------------------------------------------- */

static void put_finish(struct loom *l, const wend_event *ev, struct buf *out)
{
    const wend_ev_run_end *e = &ev->u.run_end;

    open_record(out, ev, "agent_finish");
    json_add_str(out, "content", e->text.ptr ? e->text : STR(""));
    json_open(out, "metadata", '{');
    json_add_i64(out, "turn_counter", l->iteration);
    json_add_i64(out, "total_llm_calls", e->metrics.model_calls);
    json_close(out, '}');
    close_record(l, out);
}

/* Loom counts the turn that may not begin any more. Its one limit is that
 * of turns; the name of another one is added. */
static void put_limit(struct loom *l, const wend_event *ev, struct buf *out)
{
    const wend_ev_run_end *e = &ev->u.run_end;

    open_record(out, ev, "max_iterations_reached");
    json_open(out, "metadata", '{');
    json_add_i64(out, "turn_counter", l->iteration + 1);
    json_add_i64(out, "max_iterations", l->turns_max);
    if (!str_is(e->limit, "turns"))
        json_add_str(out, "limit", e->limit);
    json_close(out, '}');
    close_record(l, out);
}

static void put_canceled(struct loom *l, const wend_event *ev, struct buf *out)
{
    open_record(out, ev, "execution_cancelled");
    json_open(out, "metadata", '{');
    json_add_str(out, "correlation_id", buf_view(&l->correlation_id));
    json_close(out, '}');
    close_record(l, out);
}

static void put_failed(struct loom *l, const wend_event *ev, struct buf *out)
{
    const wend_ev_run_end *e = &ev->u.run_end;
    wend_str why = e->error ? e->error->message : STR_NONE;

    open_record(out, ev, "error");
    json_add_str(out, "error", why.ptr ? why : STR("the run failed"));
    close_record(l, out);
}

static void on_run_end(struct loom *l, const wend_event *ev, struct buf *out)
{
    buf_clear(&l->iteration_end_held); /* nothing follows it */
    switch (ev->u.run_end.outcome) {
    case WEND_OUTCOME_OK: put_finish(l, ev, out); break;
    case WEND_OUTCOME_LIMIT: put_limit(l, ev, out); break;
    case WEND_OUTCOME_CANCELED: put_canceled(l, ev, out); break;
    case WEND_OUTCOME_FAILED:
    case WEND_OUTCOME_NONE: /* the rest does not end runs */
    case WEND_OUTCOME_SUPERSEDED:
    case WEND_OUTCOME_DENIED:
    case WEND_OUTCOME_TIMEOUT:
    case WEND_OUTCOME_UNKNOWN:
    case WEND_OUTCOME_SKIPPED: put_failed(l, ev, out); break;
    }
}

/* ---- Publics ------------------------------------------------------------- */

typedef void (*handler)(struct loom *, const wend_event *, struct buf *);

/* What has no row has no record in loom. */
static const handler handlers[WEND_EVENT_TYPES] = {
    [WEND_RUN_START] = on_run_start,
    [WEND_RUN_END] = on_run_end,
    [WEND_TURN_START] = on_turn_start,
    [WEND_TURN_END] = on_turn_end,
    [WEND_CONTEXT_START] = on_context_start,
    [WEND_RETRIEVAL_START] = on_retrieval_start,
    [WEND_RETRIEVAL_HIT] = on_retrieval_hit,
    [WEND_RETRIEVAL_END] = on_retrieval_end,
    [WEND_COMPACTED] = on_compacted,
    [WEND_CONTEXT_END] = on_context_end,
    [WEND_MODEL_START] = on_model_start,
    [WEND_TEXT_DELTA] = on_text_delta,
    [WEND_MODEL_RETRY] = on_model_retry,
    [WEND_MODEL_END] = on_model_end,
    [WEND_CALL_START] = on_call_start,
    [WEND_CALL_OUTPUT] = on_call_output,
    [WEND_CALL_END] = on_call_end,
};

static void loom_init(void *state, const struct mem *m, bool verbose)
{
    struct loom *l = state;

    (void)verbose;
    l->mem = m;
    record_calls_init(&l->early, m);
    l->calls_arena.mem = l->iteration_end_held.mem = m;
    l->turn_id.mem = l->correlation_id.mem = m;
    l->iteration = -1;
    l->turns_max = TURNS_DEFAULT;
    l->parallel_max = PARALLEL_DEFAULT;
}

static void loom_event(void *state, const wend_event *ev, struct buf *out)
{
    struct loom *l = state;

    if (!handlers[ev->type])
        return;
    /* Not only at turn_start: a reader may come in the middle of a turn. */
    if (ev->in_turn && ev->turn != l->iteration)
        enter_turn(l, ev->turn, ev->turn_id);
    handlers[ev->type](l, ev, out);
    out->failed |= l->turn_id.failed | l->early.held.failed |
                   l->early.open.failed | l->iteration_end_held.failed;
}

static void loom_free(void *state)
{
    struct loom *l = state;

    arena_free(&l->calls_arena);
    record_calls_free(&l->early);
    buf_free(&l->iteration_end_held);
    buf_free(&l->turn_id);
    buf_free(&l->correlation_id);
}

const struct dialect dialect_loom = {
    .name = "loom",
    .size = sizeof(struct loom),
    .init = loom_init,
    .event = loom_event,
    .free = loom_free,
};
