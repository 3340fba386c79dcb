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

static void put_member(struct buf *b, const char *key, wend_str value)
{
    buf_fmt(b, ",\"%s\":", key);
    json_put_str(b, value);
}

static void put_ids(struct buf *b, const struct plan *p, const uint32_t *list,
                    size_t count)
{
    bool any = false;

    buf_char(b, '[');
    for (size_t i = 0; i < count; i++) {
        if (list[i] == PLAN_NONE)
            continue;
        buf_cstr(b, any ? "," : "");
        json_put_str(b, p->actions[list[i]]->id);
        any = true;
    }
    buf_char(b, ']');
}

static void put_learned(struct buf *b, const struct plan_learned *l)
{
    buf_fmt(b, ",\"learned\":{\"runs\":%lld,\"failures\":%lld",
            (long long)l->runs, (long long)l->failures);
    buf_cstr(b, ",\"failure_rate\":");
    json_put_f64(b, (double)l->failures / (double)l->runs);
    if (l->ms >= 0)
        buf_fmt(b, ",\"ms\":%lld", (long long)l->ms);
    buf_char(b, '}');
}

static void put_action(struct buf *b, const struct plan *p, uint32_t i,
                       const struct plan_learned *l)
{
    const struct plan_action *a = p->actions[i];
    const struct plan_graph *g = &p->graph;

    buf_cstr(b, "{\"id\":");
    json_put_str(b, a->id);
    put_member(b, "name", a->name);
    put_member(b, "type", str_of(action_type_names[a->type]));
    put_member(b, "mode", str_of(action_mode_names[a->mode]));
    if (a->target.ptr) {
        put_member(b, "target", a->target);
        buf_fmt(b, ",\"line\":%u,\"column\":%u", a->target_line,
                a->target_column);
    }
    buf_cstr(b, ",\"depends_on\":");
    put_ids(b, p, g->deps + g->deps_at[i], g->deps_at[i + 1] - g->deps_at[i]);
    if (g->values_at[i] < g->values_at[i + 1]) {
        buf_cstr(b, ",\"values_from\":");
        put_ids(b, p, g->values + g->values_at[i],
                g->values_at[i + 1] - g->values_at[i]);
    }
    buf_fmt(b, ",\"wave\":%u", g->wave[i]);
    if (a->estimate_ms >= 0)
        buf_fmt(b, ",\"estimate_ms\":%lld", (long long)a->estimate_ms);
    if (l && l[i].runs)
        put_learned(b, &l[i]);
    if (a->retry.max)
        buf_fmt(b, ",\"retries\":%lld", (long long)a->retry.max);
    if (a->output_key.ptr)
        put_member(b, "output_key", a->output_key);
    if (g->fallback[i] != PLAN_NONE)
        put_member(b, "fallback", p->actions[g->fallback[i]]->id);
    if (g->fallback_of[i] != PLAN_NONE)
        put_member(b, "fallback_of", p->actions[g->fallback_of[i]]->id);
    if (a->when)
        buf_cstr(b, ",\"conditional\":true");
    buf_fmt(b, ",\"critical\":%s}", g->critical[i] ? "true" : "false");
}

static void put_counts(struct buf *b, const struct plan *p)
{
    uint32_t types[ACTION_TYPES] = {0}, modes[ACTION_MODES] = {0};
    bool any = false;

    for (uint32_t i = 0; i < p->count; i++) {
        types[p->actions[i]->type]++;
        modes[p->actions[i]->mode]++;
    }
    buf_fmt(b, ",\"count\":%u,\"edges\":%u,\"types\":{", p->count,
            p->graph.edges_count);
    for (int i = 0; i < ACTION_TYPES; i++)
        if (types[i]) {
            buf_fmt(b, "%s\"%s\":%u", any ? "," : "", action_type_names[i],
                    types[i]);
            any = true;
        }
    buf_cstr(b, "},\"modes\":{");
    any = false;
    for (int i = 0; i < ACTION_MODES; i++)
        if (modes[i]) {
            buf_fmt(b, "%s\"%s\":%u", any ? "," : "", action_mode_names[i],
                    modes[i]);
            any = true;
        }
    buf_char(b, '}');
}

static void put_inputs(struct buf *b, const struct plan *p)
{
    bool any = false;

    buf_cstr(b, ",\"inputs\":{");
    for (uint32_t i = 0; i < p->keys.count; i++) {
        if (!p->inputs[i].ptr)
            continue;
        buf_cstr(b, any ? "," : "");
        json_put_str(b, p->keys.list[i]);
        buf_char(b, ':');
        buf_str(b, p->inputs[i]);
        any = true;
    }
    buf_cstr(b, "},\"outputs\":[");
    for (size_t i = 0; i < p->outputs_count; i++) {
        buf_cstr(b, i ? "," : "");
        json_put_str(b, p->outputs[i].name);
    }
    buf_char(b, ']');
}

static void put_path(struct buf *b, const struct plan *p)
{
    bool any = false;

    buf_cstr(b, ",\"critical_path\":[");
    for (uint32_t k = 0; k < p->count * 2; k++) {
        uint32_t i = p->graph.order[k];

        if (i >= p->count || !p->graph.critical[i])
            continue;
        buf_cstr(b, any ? "," : "");
        json_put_str(b, p->actions[i]->id);
        any = true;
    }
    buf_char(b, ']');
}

/* The same numbers by what was learned. */
static void put_totals(struct buf *b, const struct plan *p,
                       const struct plan_learned *l)
{
    struct arena a = {.mem = b->mem};
    int64_t sequential_ms, critical_ms;

    b->failed |= !plan_learned_totals(p, l, &a, &sequential_ms, &critical_ms);
    buf_fmt(b,
            ",\"learned\":{\"sequential_ms\":%lld,\"critical_path_ms\":%lld}",
            (long long)sequential_ms, (long long)critical_ms);
    arena_free(&a);
}

void plan_put_json(struct buf *b, const struct plan *p,
                   const struct plan_learned *l)
{
    static const char *const failures[] = {"stop", "continue", "replan"};

    buf_cstr(b, "{\"name\":");
    json_put_str(b, p->name);
    if (p->max_parallel)
        buf_fmt(b, ",\"max_parallel\":%lld", (long long)p->max_parallel);
    else
        buf_cstr(b, ",\"max_parallel\":\"auto\"");
    buf_fmt(b, ",\"fail_fast\":%s,\"on_failure\":\"%s\"",
            p->fail_fast ? "true" : "false", failures[p->on_failure]);
    put_inputs(b, p);
    put_counts(b, p);
    buf_fmt(b, ",\"waves\":%u,\"sequential_ms\":%lld,\"critical_path_ms\":%lld",
            p->graph.waves, (long long)p->graph.sequential_ms,
            (long long)p->graph.critical_ms);
    buf_cstr(b, ",\"speedup\":");
    json_put_f64(b, plan_speedup(p));
    put_path(b, p);
    if (l)
        put_totals(b, p, l);
    buf_cstr(b, ",\"actions\":[");
    for (uint32_t i = 0; i < p->count; i++) {
        buf_cstr(b, i ? "," : "");
        put_action(b, p, i, l);
    }
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
