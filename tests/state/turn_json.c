/*
 * turn_json.c - the whole state of a run as JSON, and back.
 *
 * Used to compare states (equal bytes, equal states) and to hand a state to
 * another process. The history is written oldest first.
 */
#include "state/state.h"

#include <string.h>

#include "base/fail.h"

static const char *const phase_names[] = {"new",   "between", "turn", "model",
                                          "calls", "plan",    "end"};

/* Plain members, written and read by one table. */
enum kind { K_I64, K_U32, K_STR, K_BOOL };
#define CIRCLE(name, kind, member)                                 \
    {                                                              \
        "circle_" name, kind, offsetof(struct turn, circle.member) \
    }
#define SEEN(list, i)                                  \
    CIRCLE(#list #i "_hash", K_I64, list[i].hash),     \
        CIRCLE(#list #i "_turn", K_I64, list[i].turn), \
        CIRCLE(#list #i "_count", K_U32, list[i].count)
#define SEEN_ALL(list)                                                         \
    SEEN(list, 0), SEEN(list, 1), SEEN(list, 2), SEEN(list, 3), SEEN(list, 4), \
        SEEN(list, 5), SEEN(list, 6), SEEN(list, 7), SEEN(list, 8),            \
        SEEN(list, 9)
_Static_assert(FALLBACKS_MAX == 8 && CIRCLE_WINDOW == 10, "as many rows");
static const struct {
    const char *name;
    enum kind kind;
    size_t offset;
} members[] = {
    {"run", K_STR, offsetof(struct turn, run)},
    {"seq", K_I64, offsetof(struct turn, seq)},
    {"time_us", K_I64, offsetof(struct turn, time_us)},
    {"started_us", K_I64, offsetof(struct turn, started_us)},
    {"model", K_STR, offsetof(struct turn, model)},
    {"context_json", K_STR, offsetof(struct turn, context_json)},
    {"context_model", K_STR, offsetof(struct turn, context_model)},
    {"forked", K_BOOL, offsetof(struct turn, forked)},
    {"reconfigured", K_BOOL, offsetof(struct turn, reconfigured)},
    {"recut", K_BOOL, offsetof(struct turn, recut)},
    {"recut_byte", K_I64, offsetof(struct turn, recut_byte)},
    {"entered", K_BOOL, offsetof(struct turn, entered)},
    {"compactions", K_I64, offsetof(struct turn, compactions)},
    {"settled", K_I64, offsetof(struct turn, settled)},
    {"trimmed", K_BOOL, offsetof(struct turn, trimmed)},
    {"refused_tokens", K_I64, offsetof(struct turn, refused_tokens)},
    {"refused", K_I64, offsetof(struct turn, refused)},
    {"limit_tokens", K_I64, offsetof(struct turn, limit_tokens)},
    {"results_cut", K_BOOL, offsetof(struct turn, results_cut)},
    {"own_at", K_U32, offsetof(struct turn, own.at)},
    {"own_model", K_STR, offsetof(struct turn, own.name)},
    {"own_refused", K_I64, offsetof(struct turn, own.refused_tokens)},
    {"own_limit", K_I64, offsetof(struct turn, own.limit_tokens)},
    {"own_used", K_I64, offsetof(struct turn, own.used_tokens)},
    {"own_estimate", K_I64, offsetof(struct turn, own.used_estimate)},
    {"own_ratio", K_I64, offsetof(struct turn, own.ratio)},
    {"fold", K_BOOL, offsetof(struct turn, fold)},
    {"folding", K_BOOL, offsetof(struct turn, folding)},
    {"focus", K_STR, offsetof(struct turn, focus)},
    {"summary_tries", K_I64, offsetof(struct turn, summary_tries)},
    {"summary", K_STR, offsetof(struct turn, summary)},
    {"used_tokens", K_I64, offsetof(struct turn, used_tokens)},
    {"used_estimate", K_I64, offsetof(struct turn, used_estimate)},
    {"ratio", K_I64, offsetof(struct turn, ratio)},
    {"turns_max", K_I64, offsetof(struct turn, limits.turns)},
    {"time_ms_max", K_I64, offsetof(struct turn, limits.time_ms)},
    {"tokens_max", K_I64, offsetof(struct turn, limits.tokens)},
    {"cost_max", K_I64, offsetof(struct turn, limits.cost_nano)},
    {"parallel_max", K_I64, offsetof(struct turn, limits.parallel)},
    {"counter", K_I64, offsetof(struct turn, counter)},
    {"id", K_STR, offsetof(struct turn, id)},
    {"parent_id", K_STR, offsetof(struct turn, parent_id)},
    {"ask", K_I64, offsetof(struct turn, ask)},
    {"attempt", K_I64, offsetof(struct turn, attempt)},
    {"tries", K_I64, offsetof(struct turn, tries)},
    {"model_at", K_U32, offsetof(struct turn, model_at)},
    {"model_us", K_I64, offsetof(struct turn, model_us)},
    {"allowed", K_I64, offsetof(struct turn, allowed.tokens)},
    {"allowed_limit", K_STR, offsetof(struct turn, allowed.limit)},
    {"repair", K_BOOL, offsetof(struct turn, repair)},
    {"repair_used", K_BOOL, offsetof(struct turn, repair_used)},
    {"part", K_BOOL, offsetof(struct turn, part)},
    {"part_text", K_STR, offsetof(struct turn, part_text)},
    {"part_thinking", K_STR, offsetof(struct turn, part_thinking)},
    {"part_opaque", K_STR, offsetof(struct turn, part_opaque)},
    {"again", K_BOOL, offsetof(struct turn, again)},
    {"halted", K_BOOL, offsetof(struct turn, halted)},
    {"unanswered", K_BOOL, offsetof(struct turn, unanswered)},
    {"cut", K_BOOL, offsetof(struct turn, cut)},
    {"context", K_BOOL, offsetof(struct turn, context)},
    {"metrics_due", K_BOOL, offsetof(struct turn, metrics_due)},
    {"unpriced", K_BOOL, offsetof(struct turn, unpriced)},
    {"failed_calls", K_U32, offsetof(struct turn, failed_calls)},
    {"labels", K_U32, offsetof(struct turn, labels)},
    SEEN_ALL(results),
    SEEN_ALL(outputs),
    CIRCLE("failed", K_U32, failed),
    CIRCLE("calls", K_U32, calls),
    CIRCLE("since", K_U32, since),
    CIRCLE("told0", K_U32, told[0]),
    CIRCLE("told1", K_U32, told[1]),
    CIRCLE("told2", K_U32, told[2]),
    CIRCLE("due", K_U32, due),
    CIRCLE("rule", K_U32, rule),
    CIRCLE("count", K_U32, count),
    CIRCLE("of", K_U32, of),
    CIRCLE("tool", K_STR, tool),
    {"imported", K_BOOL, offsetof(struct turn, imported)},
    {"answer", K_STR, offsetof(struct turn, answer)},
    {"paused", K_BOOL, offsetof(struct turn, paused)},
    {"paused_above", K_BOOL, offsetof(struct turn, paused_above)},
    {"file_plan", K_STR, offsetof(struct turn, file_plan)},
    {"plans", K_I64, offsetof(struct turn, plans)},
    {"plan_call", K_STR, offsetof(struct turn, plan_call)},
    {"plan_args", K_STR, offsetof(struct turn, plan_args)},
    {"plan_stop", K_STR, offsetof(struct turn, plan_stop)},
    {"plan_failures", K_I64, offsetof(struct turn, plan_failures)},
    {"plan_why", K_STR, offsetof(struct turn, plan_why)},
    {"turns", K_I64, offsetof(struct turn, metrics.turns)},
    {"model_calls", K_I64, offsetof(struct turn, metrics.model_calls)},
    {"idle_us", K_I64, offsetof(struct turn, idle_us)},
    {"lives", K_I64, offsetof(struct turn, lives)},
    {"tool_calls", K_I64, offsetof(struct turn, metrics.tool_calls)},
    {"tool_errors", K_I64, offsetof(struct turn, metrics.tool_errors)},
    {"actions", K_I64, offsetof(struct turn, metrics.actions)},
    {"tokens_in", K_I64, offsetof(struct turn, metrics.tokens_in)},
    {"tokens_out", K_I64, offsetof(struct turn, metrics.tokens_out)},
    {"tokens_cached", K_I64, offsetof(struct turn, metrics.tokens_cached)},
    {"cost_nano", K_I64, offsetof(struct turn, metrics.cost_nano)},
    {"ms", K_I64, offsetof(struct turn, metrics.ms)},
    {"first_token_ms", K_I64, offsetof(struct turn, metrics.first_token_ms)},
    {"stop_limit", K_STR, offsetof(struct turn, stop.limit)},
    {"stop_code", K_STR, offsetof(struct turn, stop.code)},
    {"stop_message", K_STR, offsetof(struct turn, stop.message)},
};

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* ---- Writing ------------------------------------------------------------- */

static void put_members(struct buf *b, const struct turn *t)
{
    for (size_t i = 0; i < COUNT(members); i++) {
        const void *at = (const char *)t + members[i].offset;

        switch (members[i].kind) {
        case K_I64:
            buf_fmt(b, ",\"%s\":%lld", members[i].name,
                    (long long)*(const int64_t *)at);
            break;
        case K_U32:
            buf_fmt(b, ",\"%s\":%u", members[i].name, *(const uint32_t *)at);
            break;
        case K_STR:
            json_add_nullable(b, members[i].name, *(const wend_str *)at);
            break;
        case K_BOOL:
            buf_fmt(b, ",\"%s\":%s", members[i].name,
                    *(const bool *)at ? "true" : "false");
            break;
        }
    }
}

static void put_states(struct buf *b, const struct call_state *newest)
{
    buf_char(b, '[');
    for (const struct call_state *s = newest; s; s = s->prev) {
        buf_fmt(b, "%s{\"index\":%u,\"attempt\":%lld,\"outcome\":%d",
                s == newest ? "" : ",", s->index, (long long)s->attempt,
                (int)s->outcome);
        json_add_nullable(b, "args", s->args);
        json_add_nullable(b, "child", s->child);
        json_add_nullable(b, "key", s->key);
        json_add_nullable(b, "shown", s->shown);
        json_add_bool(b, "changed", s->changed);
        json_add_bool(b, "client", s->client);
        json_add_nullable(b, "output", s->output);
        buf_char(b, '}');
    }
    buf_char(b, ']');
}

static void put_rules(struct buf *b, const struct remembered *newest)
{
    buf_char(b, '[');
    for (const struct remembered *r = newest; r; r = r->prev) {
        if (r != newest)
            buf_char(b, ',');
        json_put_str(b, r->rule.text);
    }
    buf_char(b, ']');
}

/* Those of its metrics that count. */
static const size_t counts[] = {
    offsetof(wend_ev_metrics, model_calls),
    offsetof(wend_ev_metrics, tool_calls),
    offsetof(wend_ev_metrics, tool_errors),
    offsetof(wend_ev_metrics, tokens_in),
    offsetof(wend_ev_metrics, tokens_out),
    offsetof(wend_ev_metrics, tokens_cached),
    offsetof(wend_ev_metrics, cost_nano),
};

static void put_refusals(struct buf *b, const struct turn *t)
{
    struct arena a = {.mem = b->mem};
    wend_str text = turn_refusals_text(t, &a);

    if (text.ptr)
        json_add_raw(b, "refusals", text);
    b->failed |= a.failed;
    arena_free(&a);
}

static void put_unfinished(struct buf *b, const struct unfinished *first)
{
    buf_char(b, '[');
    for (const struct unfinished *u = first; u; u = u->next) {
        buf_fmt(b, "%s{\"metrics\":[", u == first ? "" : ",");
        for (size_t i = 0; i < COUNT(counts); i++)
            buf_fmt(
                b, "%s%lld", i ? "," : "",
                (long long)*(
                    const int64_t *)(const void *)((const char *)&u->metrics +
                                                   counts[i]));
        buf_char(b, ']');
        json_add_nullable(b, "call", u->call);
        json_add_nullable(b, "action", u->action);
        json_add_nullable(b, "run", u->run);
        json_add_nullable(b, "input", u->input);
        json_add_nullable(b, "as", u->as);
        buf_char(b, '}');
    }
    buf_char(b, ']');
}

static void put_flags(struct buf *b, const struct turn *t)
{
    buf_cstr(b, ",\"flags\":[");
    for (uint32_t i = 0; i < t->calls_count; i++)
        buf_fmt(b, "%s%d", i ? "," : "", t->flags[i]);
    buf_char(b, ']');
}

void turn_write(struct buf *b, const struct turn *t)
{
    buf_fmt(b, "{\"phase\":\"%s\",\"stop\":%d,\"purpose\":\"%s\"",
            phase_names[t->phase], (int)t->stop.outcome,
            purpose_words.names[t->purpose]);
    put_members(b, t);
    json_add_nullable(b, "config", t->config ? t->config->json : STR_NONE);
    buf_cstr(b, ",\"history\":");
    msgs_write(b, t->history);
    buf_cstr(b, ",\"aside\":");
    msgs_write(b, t->aside);
    buf_cstr(b, ",\"gone\":");
    msgs_write(b, t->gone);
    buf_cstr(b, ",\"pending\":");
    msgs_write(b, t->pending);
    buf_cstr(b, ",\"calls\":");
    calls_write(b, t->calls);
    put_flags(b, t);
    buf_cstr(b, ",\"states\":");
    put_states(b, t->states);
    buf_cstr(b, ",\"rules\":");
    put_rules(b, t->rules);
    buf_cstr(b, ",\"unfinished\":");
    put_unfinished(b, t->unfinished);
    put_refusals(b, t);
    buf_cstr(b, ",\"plan\":");
    plan_state_write(b, &t->plan);
    buf_char(b, '}');
}

/* ---- Reading ------------------------------------------------------------- */

static bool read_members(const struct json *j, struct arena *a, struct turn *t)
{
    for (size_t i = 0; i < COUNT(members); i++) {
        const struct json *m = json_get(j, members[i].name);
        void *at = (char *)t + members[i].offset;
        int64_t n = 0;

        if (!m)
            return false;
        switch (members[i].kind) {
        case K_I64:
            if (!json_i64(m, at))
                return false;
            break;
        case K_U32:
            if (!json_i64(m, &n) || n < 0 || n > UINT32_MAX)
                return false;
            *(uint32_t *)at = (uint32_t)n;
            break;
        case K_STR: *(wend_str *)at = arena_str(a, json_str(m)); break;
        case K_BOOL: *(bool *)at = m->kind == JSON_TRUE; break;
        }
    }
    return true;
}

static bool read_states(const struct json *list, struct arena *a,
                        const struct call_state **out)
{
    for (const struct json *j = list ? list->first : NULL; j; j = j->next) {
        struct call_state *s = arena_alloc(a, sizeof *s);
        int64_t index, outcome;

        if (!s || !json_i64(json_get(j, "index"), &index) || index < 0 ||
            index >= CALLS_MAX ||
            !json_i64(json_get(j, "attempt"), &s->attempt) ||
            !json_i64(json_get(j, "outcome"), &outcome) || outcome < 0 ||
            outcome > WEND_OUTCOME_SKIPPED)
            return false;
        s->index = (uint32_t)index;
        s->outcome = (wend_outcome)outcome;
        s->args = state_str(j, "args", a);
        s->child = state_str(j, "child", a);
        s->key = state_str(j, "key", a);
        s->shown = state_str(j, "shown", a);
        s->changed = json_is_true(json_get(j, "changed"));
        s->client = json_is_true(json_get(j, "client"));
        s->output = state_str(j, "output", a);
        *out = s;
        out = &s->prev;
    }
    return true;
}

/* The last one in the list is the oldest. */
static void read_rules(const struct json *list, const struct keep *k,
                       struct turn *t)
{
    const struct json *at = NULL;

    while (list && list->first != at) {
        const struct json *j = list->first;

        while (j->next != at)
            j = j->next;
        turn_remember(t, json_str(j), k);
        at = j;
    }
}

static bool read_unfinished(const struct json *list, struct arena *a,
                            const struct unfinished **out)
{
    for (const struct json *j = list ? list->first : NULL; j; j = j->next) {
        struct unfinished *u = arena_alloc(a, sizeof *u);
        const struct json *n = json_get(j, "metrics");

        if (!u || !n || n->count != COUNT(counts))
            return false;
        n = n->first;
        for (size_t i = 0; i < COUNT(counts); i++, n = n->next)
            if (!json_i64(n,
                          (int64_t *)(void *)((char *)&u->metrics + counts[i])))
                return false;
        u->call = state_str(j, "call", a);
        u->action = state_str(j, "action", a);
        u->run = state_str(j, "run", a);
        u->input = state_str(j, "input", a);
        u->as = state_str(j, "as", a);
        *out = u;
        out = &u->next;
    }
    return true;
}

static bool read_flags(const struct json *list, struct turn *t)
{
    uint32_t i = 0;

    for (const struct json *j = list ? list->first : NULL; j; j = j->next) {
        int64_t n;

        if (i == CALLS_MAX || !json_i64(j, &n) || n < 0 ||
            n >= 2 * CALL_SUPERSEDED)
            return false;
        t->flags[i++] = (unsigned char)n;
    }
    return true;
}

static bool read_state(const struct json *j, const struct keep *k,
                       struct turn *t, wend_error *err)
{
    int phase = str_index(json_str(json_get(j, "phase")), phase_names,
                          COUNT(phase_names));
    int purpose = str_index(json_str(json_get(j, "purpose")),
                            purpose_words.names, purpose_words.count);
    wend_str config = json_str(json_get(j, "config"));
    const struct json *list;
    struct config *c = NULL;
    int64_t stop;

    if (phase < 0 || purpose < 0 || !json_i64(json_get(j, "stop"), &stop) ||
        stop < 0 || stop > WEND_OUTCOME_SKIPPED ||
        !read_members(j, k->arena, t) || !read_flags(json_get(j, "flags"), t) ||
        !read_states(json_get(j, "states"), k->arena, &t->states) ||
        !read_unfinished(json_get(j, "unfinished"), k->arena, &t->unfinished))
        return false;
    if (!plan_state_read(json_get(j, "plan"), k->arena, &t->plan))
        return false;
    t->phase = (enum phase)phase;
    t->purpose = (wend_purpose)purpose;
    t->stop.outcome = (wend_outcome)stop;
    read_rules(json_get(j, "rules"), k, t);
    turn_take_refusals(t, json_text(json_get(j, "refusals"), k->arena), k);
    t->calls = calls_read(json_get(j, "calls"), k->arena);
    t->calls_count = t->calls ? t->calls->index + 1 : 0;
    if (config.ptr) {
        if (config_parse(config, k->arena, &c, err) != WEND_OK)
            return false;
        t->config = c;
        t->frame = frame_with(c, t->context_json, k->arena);
        if (!t->frame)
            return false;
    }
    if (t->config && t->model_at >= t->config->models_count)
        return false;
    list = json_get(j, "aside");
    for (const struct json *m = list ? list->first : NULL; m; m = m->next)
        if (!t->config || !turn_history_add(t, msg_read(m, k->arena)))
            return false;
    t->aside = t->history;
    t->history = NULL;
    list = json_get(j, "history");
    for (const struct json *m = list ? list->first : NULL; m; m = m->next)
        if (!t->config || !turn_history_add(t, msg_read(m, k->arena)))
            return false;
    return msgs_read(json_get(j, "pending"), k->arena, &t->pending) &&
           msgs_read(json_get(j, "gone"), k->arena, &t->gone);
}

wend_status turn_read(wend_str json, const struct keep *k, struct turn *out,
                      wend_error *err)
{
    struct arena scratch = {.mem = k->arena->mem};
    struct json *j = json_parse(json, &scratch, err);
    wend_status s = WEND_OK;

    turn_init(out);
    if (err)
        err->message[0] = 0;
    if (!j || !read_state(j, k, out, err))
        s = scratch.failed || k->arena->failed
                ? fail_nomem(err)
                : fail(err, WEND_E_PARSE, "turn: not a turn state");
    arena_free(&scratch);
    return s;
}
