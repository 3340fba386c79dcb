/*
 * plan_show.c - a plan described: for programs and for Graphviz.
 */
#include "wire/plan/plan.h"

/* ---- Numbers ------------------------------------------------------------- */

void plan_put_time(struct buf *b, int64_t ms)
{
    if (ms % 1000 == 0)
        buf_fmt(b, "%lld s", (long long)(ms / 1000));
    else if (ms >= 100)
        buf_fmt(b, "%.1f s", (double)ms / 1000);
    else
        buf_fmt(b, "%lld ms", (long long)ms);
}

double plan_speedup(const struct plan *p)
{
    return p->graph.critical_ms
               ? (double)p->graph.sequential_ms / (double)p->graph.critical_ms
               : 1;
}

/* ---- For programs -------------------------------------------------------- */

static void put_ids(struct buf *b, const char *key, const struct plan *p,
                    uint32_t i, const uint32_t *at, const uint32_t *list)
{
    json_open(b, key, '[');
    for (uint32_t k = at[i]; k < at[i + 1]; k++)
        json_add_str(b, NULL, p->actions[list[k]]->id);
    json_close(b, ']');
}

static void put_learned(struct buf *b, const struct plan_learned *l)
{
    json_open(b, "learned", '{');
    json_add_i64(b, "runs", l->runs);
    json_add_i64(b, "failures", l->failures);
    json_add_f64(b, "failure_rate", (double)l->failures / (double)l->runs);
    if (l->ms >= 0)
        json_add_i64(b, "ms", l->ms);
    json_close(b, '}');
}

static void put_action(struct buf *b, const struct plan *p, uint32_t i,
                       const struct plan_learned *l)
{
    const struct plan_action *a = p->actions[i];
    const struct plan_graph *g = &p->graph;

    json_open(b, NULL, '{');
    json_add_str(b, "id", a->id);
    json_add_str(b, "name", a->name);
    json_add_str(b, "type", str_of(action_type_names[a->type]));
    json_add_str(b, "mode", str_of(action_mode_names[a->mode]));
    json_add_str(b, "target", a->target);
    if (a->target.ptr) {
        json_add_i64(b, "line", a->target_line);
        json_add_i64(b, "column", a->target_column);
    }
    put_ids(b, "depends_on", p, i, g->deps_at, g->deps);
    if (g->values_at[i] < g->values_at[i + 1])
        put_ids(b, "values_from", p, i, g->values_at, g->values);
    json_add_i64(b, "wave", g->wave[i]);
    if (a->estimate_ms >= 0)
        json_add_i64(b, "estimate_ms", a->estimate_ms);
    if (l && l[i].runs)
        put_learned(b, &l[i]);
    if (a->retry.max)
        json_add_i64(b, "retries", a->retry.max);
    json_add_str(b, "output_key", a->output_key);
    if (g->fallback[i] != PLAN_NONE)
        json_add_str(b, "fallback", p->actions[g->fallback[i]]->id);
    if (g->fallback_of[i] != PLAN_NONE)
        json_add_str(b, "fallback_of", p->actions[g->fallback_of[i]]->id);
    if (a->when)
        json_add_bool(b, "conditional", true);
    json_add_bool(b, "critical", g->critical[i]);
    json_close(b, '}');
}

/* How many actions have each of the names; those that none has are left out. */
static void put_counts(struct buf *b, const char *key, const uint32_t *counts,
                       const char *const *names)
{
    json_open(b, key, '{');
    for (int i = 0; names[i]; i++)
        if (counts[i])
            json_add_i64(b, names[i], counts[i]);
    json_close(b, '}');
}

static void put_sizes(struct buf *b, const struct plan *p)
{
    uint32_t types[ACTION_TYPES] = {0}, modes[ACTION_MODES] = {0};

    for (uint32_t i = 0; i < p->count; i++) {
        types[p->actions[i]->type]++;
        modes[p->actions[i]->mode]++;
    }
    json_add_i64(b, "count", p->count);
    json_add_i64(b, "edges", p->graph.edges_count);
    put_counts(b, "types", types, action_type_names);
    put_counts(b, "modes", modes, action_mode_names);
    json_add_i64(b, "waves", p->graph.waves);
}

static void put_inputs(struct buf *b, const struct plan *p)
{
    json_open(b, "inputs", '{');
    for (uint32_t i = 0; i < p->keys.count; i++) {
        if (!p->inputs[i].ptr)
            continue;
        json_key(b, NULL);
        json_put_str(b, p->keys.list[i]);
        buf_char(b, ':');
        buf_str(b, p->inputs[i]);
    }
    json_close(b, '}');
    json_open(b, "outputs", '[');
    for (size_t i = 0; i < p->outputs_count; i++)
        json_add_str(b, NULL, p->outputs[i].name);
    json_close(b, ']');
}

static void put_path(struct buf *b, const struct plan *p)
{
    json_open(b, "critical_path", '[');
    for (uint32_t k = 0; k < p->count * 2; k++) {
        uint32_t i = p->graph.order[k];

        if (i < p->count && p->graph.critical[i])
            json_add_str(b, NULL, p->actions[i]->id);
    }
    json_close(b, ']');
}

static void put_times(struct buf *b, int64_t sequential_ms, int64_t critical_ms)
{
    json_add_i64(b, "sequential_ms", sequential_ms);
    json_add_i64(b, "critical_path_ms", critical_ms);
}

/* The same numbers by what was learned. */
static void put_learned_times(struct buf *b, const struct plan *p,
                              const struct plan_learned *l)
{
    int64_t sequential_ms, critical_ms;

    b->failed |=
        !plan_learned_totals(p, l, b->mem, &sequential_ms, &critical_ms, NULL);
    json_open(b, "learned", '{');
    put_times(b, sequential_ms, critical_ms);
    json_close(b, '}');
}

void plan_put_json(struct buf *b, const struct plan *p,
                   const struct plan_learned *l)
{
    buf_char(b, '{');
    json_add_str(b, "name", p->name);
    if (p->max_parallel)
        json_add_i64(b, "max_parallel", p->max_parallel);
    else
        json_add_str(b, "max_parallel", STR("auto"));
    json_add_bool(b, "fail_fast", p->fail_fast);
    json_add_str(b, "on_failure", str_of(plan_failure_names[p->on_failure]));
    put_inputs(b, p);
    put_sizes(b, p);
    put_times(b, p->graph.sequential_ms, p->graph.critical_ms);
    json_add_f64(b, "speedup", plan_speedup(p));
    put_path(b, p);
    if (l)
        put_learned_times(b, p, l);
    json_open(b, "actions", '[');
    for (uint32_t i = 0; i < p->count; i++)
        put_action(b, p, i, l);
    buf_cstr(b, "]}");
}

/* ---- For Graphviz -------------------------------------------------------- */

/* A string of dot has the escapes of JSON that can be in a name or a target:
 * quote and backslash. Line ends become spaces, since \n is a line of a
 * label. */
static void put_quoted(struct buf *b, wend_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];

        if (c == '"' || c == '\\')
            buf_char(b, '\\');
        buf_char(b, (unsigned char)c < ' ' ? ' ' : c);
    }
}

static void put_node(struct buf *b, const struct plan *p, uint32_t i)
{
    static const char *const shapes[ACTION_TYPES] = {
        [ACTION_TOOL] = "box",       [ACTION_AGENT] = "box3d",
        [ACTION_RELIC] = "cylinder", [ACTION_WORKFLOW] = "folder",
        [ACTION_LLM] = "ellipse",    [ACTION_DECISION] = "diamond",
    };
    const struct plan_action *a = p->actions[i];

    buf_fmt(b, "  n%u [label=\"", i);
    put_quoted(b, a->name);
    buf_fmt(b, "\\n%s", action_type_names[a->type]);
    if (a->target.ptr) {
        buf_char(b, ' ');
        put_quoted(b, a->target);
    }
    if (a->estimate_ms >= 0) {
        buf_cstr(b, "\\n");
        plan_put_time(b, a->estimate_ms);
    }
    buf_fmt(b, "\",shape=%s%s%s];\n", shapes[a->type],
            p->graph.critical[i] ? ",penwidth=3" : "",
            a->mode == ACTION_FORGET ? ",style=dashed" : "");
}

void plan_put_dot(struct buf *b, const struct plan *p)
{
    const struct plan_graph *g = &p->graph;

    buf_cstr(b, "digraph \"");
    put_quoted(b, p->name);
    buf_cstr(b, "\" {\n  rankdir=LR;\n  node [fontname=\"sans-serif\"];\n");
    for (uint32_t i = 0; i < p->count; i++)
        put_node(b, p, i);
    for (uint32_t i = 0; i < p->count; i++) {
        for (uint32_t k = g->deps_at[i]; k < g->deps_at[i + 1]; k++)
            buf_fmt(b, "  n%u -> n%u%s;\n", g->deps[k], i,
                    g->critical[i] && g->critical[g->deps[k]] ? " [penwidth=3]"
                                                              : "");
        for (uint32_t k = g->values_at[i]; k < g->values_at[i + 1]; k++)
            buf_fmt(b, "  n%u -> n%u [style=dashed,label=\"value\"];\n",
                    g->values[k], i);
        if (g->fallback[i] != PLAN_NONE)
            buf_fmt(b, "  n%u -> n%u [style=dotted,label=\"if it fails\"];\n",
                    i, g->fallback[i]);
    }
    buf_cstr(b, "}\n");
}
