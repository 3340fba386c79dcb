/*
 * metrics.c - GET /metrics: counts and times for Prometheus.
 *
 * The numbers are of this process since its start, from the events of the runs
 * that it owns.
 */
#include "serve/api/api.h"

#include <stdio.h>

static const int64_t bounds_ms[SERVE_BOUNDS] = {
    5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000, 30000, 120000};

static void observe(struct serve_times *t, int64_t ms)
{
    size_t i = 0;

    while (i < SERVE_BOUNDS && ms > bounds_ms[i])
        i++;
    t->counts[i]++;
    t->sum_ms += ms;
}

void metrics_event(struct serve_metrics *m, const wend_event *ev)
{
    const wend_ev_usage *u = &ev->u.model_end.usage;

    switch ((int)ev->type) {
    case WEND_RUN_START: m->runs_started++; break;
    case WEND_RUN_RESUME: m->runs_resumed++; break;
    case WEND_TURN_END: m->turns++; break;
    case WEND_MODEL_END:
        m->model_calls[ev->u.model_end.outcome == WEND_OUTCOME_OK ? 0 : 1]++;
        m->tokens_in += u->input;
        m->tokens_out += u->output;
        if (u->cost_nano > 0)
            m->cost_nano += u->cost_nano;
        observe(&m->model, ev->u.model_end.ms);
        if (ev->u.model_end.first_token_ms > 0)
            observe(&m->first_token, ev->u.model_end.first_token_ms);
        break;
    case WEND_CALL_END:
        m->tool_calls[ev->u.call_end.outcome == WEND_OUTCOME_OK ? 0 : 1]++;
        observe(&m->tool, ev->u.call_end.ms);
        break;
    case WEND_RUN_END:
        m->runs_ended[(int)ev->u.run_end.outcome % SERVE_OUTCOMES]++;
        break;
    default: break;
    }
    m->events[wend_event_is_delta(ev->type) ? 1 : 0]++;
}

/* ---- The text ------------------------------------------------------------ */

static void head(struct buf *b, const char *name, const char *type,
                 const char *help)
{
    buf_fmt(b, "# HELP wend_%s %s\n# TYPE wend_%s %s\n", name, help, name,
            type);
}

static void one(struct buf *b, const char *name, const char *type,
                const char *help, int64_t value)
{
    head(b, name, type, help);
    buf_fmt(b, "wend_%s %lld\n", name, (long long)value);
}

static void pair(struct buf *b, const char *name, const char *label,
                 const char *const words[2], const char *help,
                 const int64_t values[2])
{
    head(b, name, "counter", help);
    for (int i = 0; i < 2; i++)
        buf_fmt(b, "wend_%s{%s=\"%s\"} %lld\n", name, label, words[i],
                (long long)values[i]);
}

static void seconds(struct buf *b, int64_t ms)
{
    buf_fmt(b, "%lld.%03lld", (long long)(ms / 1000), (long long)(ms % 1000));
}

static void times(struct buf *b, const char *name, const char *help,
                  const struct serve_times *t)
{
    int64_t sum = 0;

    head(b, name, "histogram", help);
    for (size_t i = 0; i < SERVE_BOUNDS; i++) {
        sum += t->counts[i];
        buf_fmt(b, "wend_%s_bucket{le=\"", name);
        seconds(b, bounds_ms[i]);
        buf_fmt(b, "\"} %lld\n", (long long)sum);
    }
    sum += t->counts[SERVE_BOUNDS];
    buf_fmt(b, "wend_%s_bucket{le=\"+Inf\"} %lld\nwend_%s_sum ", name,
            (long long)sum, name);
    seconds(b, t->sum_ms);
    buf_fmt(b, "\nwend_%s_count %lld\n", name, (long long)sum);
}

static void put_runs(struct buf *b, const struct serve_metrics *m)
{
    head(b, "runs_ended_total", "counter", "Runs that ended, by outcome.");
    for (int i = 1; i < SERVE_OUTCOMES; i++) {
        const char *name = wend_outcome_name((wend_outcome)i);

        if (name && (m->runs_ended[i] || i == WEND_OUTCOME_OK))
            buf_fmt(b, "wend_runs_ended_total{outcome=\"%s\"} %lld\n", name,
                    (long long)m->runs_ended[i]);
    }
}

static void put_requests(struct buf *b, const struct serve_metrics *m)
{
    head(b, "http_requests_total", "counter",
         "Requests that were answered, by class of status.");
    for (int i = 1; i < SERVE_CLASSES; i++)
        buf_fmt(b, "wend_http_requests_total{status=\"%dxx\"} %lld\n", i,
                (long long)m->requests[i]);
}

static void put_streams(struct buf *b, const struct wend_server *server)
{
    int64_t streams = 0;

    for (const struct serve_conn *c = server->conns; c; c = c->next)
        streams += c->state == CONN_STREAM;
    one(b, "http_connections", "gauge", "Open connections.",
        (int64_t)server->conns_count);
    one(b, "http_streams", "gauge", "Open event streams.", streams);
    one(b, "runs_in_progress", "gauge", "Runs that this process owns.",
        (int64_t)server->runs_count);
}

void api_metrics(struct serve_ask *q)
{
    static const char *const ok[] = {"ok", "failed"};
    static const char *const kinds[] = {"kept", "delta"};
    static const char *const ways[] = {"input", "output"};
    const struct serve_metrics *m = &q->server->metrics;
    const int64_t tokens[] = {m->tokens_in, m->tokens_out};
    struct buf b = {.mem = &q->server->mem};

    one(&b, "runs_started_total", "counter", "Runs that were started.",
        m->runs_started);
    one(&b, "runs_resumed_total", "counter", "Runs that were resumed.",
        m->runs_resumed);
    put_runs(&b, m);
    one(&b, "turns_total", "counter", "Turns that ended.", m->turns);
    pair(&b, "model_calls_total", "outcome", ok, "Calls of models.",
         m->model_calls);
    pair(&b, "tool_calls_total", "outcome", ok, "Calls of tools.",
         m->tool_calls);
    pair(&b, "tokens_total", "kind", ways, "Tokens that models reported.",
         tokens);
    head(&b, "cost_usd_total", "counter", "Cost of model calls, where known.");
    buf_cstr(&b, "wend_cost_usd_total ");
    json_put_nano(&b, m->cost_nano);
    buf_char(&b, '\n');
    pair(&b, "events_total", "kind", kinds, "Events that were shown.",
         m->events);
    times(&b, "model_call_seconds", "Duration of model calls.", &m->model);
    times(&b, "first_token_seconds", "Time to the first token.",
          &m->first_token);
    times(&b, "tool_call_seconds", "Duration of tool calls.", &m->tool);
    put_requests(&b, m);
    put_streams(&b, q->server);
    if (b.failed)
        respond_nomem(q);
    else
        respond_bytes(q, 200, "text/plain; version=0.0.4; charset=utf-8",
                      buf_view(&b), NULL, 0);
    buf_free(&b);
}
