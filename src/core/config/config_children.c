/*
 * config_children.c - what of a config concerns children: those that a run may
 * start, and what a run has from the one that started it.
 */
#include <string.h>

#include "base/fail.h"
#include "base/limits.h"
#include "core/config/config.h"
#include "core/event/event.h"

static void limits_read(const struct json *j, wend_ev_limits *out)
{
    const struct {
        const char *name;
        int64_t *at;
    } rows[] = {
        {"turns", &out->turns},       {"time_ms", &out->time_ms},
        {"tokens", &out->tokens},     {"cost_nano", &out->cost_nano},
        {"parallel", &out->parallel},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!json_i64(json_get(j, rows[i].name), rows[i].at) || *rows[i].at < 0)
            *rows[i].at = 0;
}

/* What its tools, and those of its own children, do at most: depth is
 * bounded by that of the JSON. */
static void tools_look(const struct json *config, struct child_config *k)
{
    const struct json *list = json_get(config, "tools");

    for (const struct json *t = list ? list->first : NULL; t; t = t->next)
        if (!str_is(json_str(json_get(t, "class")), "read"))
            k->reads = false;
    list = json_get(config, "agents");
    for (const struct json *e = list ? list->first : NULL; e; e = e->next)
        tools_look(json_get(e, "config"), k);
}

/* An action of a plan may be of any class, whatever its agent's tools are. */
static bool child_read(const struct json *j, struct arena *a,
                       struct child_config *k)
{
    const struct json *config = json_get(j, "config");

    k->name = json_str(json_get(j, "name"));
    k->agent = json_str(json_get(j, "agent"));
    k->model = json_str(json_get(j, "model"));
    k->config_json = json_text(config, a);
    k->plan_json = json_text(json_get(j, "plan"), a);
    limits_read(json_get(j, "limits"), &k->limits);
    k->reads = !k->plan_json.ptr;
    tools_look(config, k);
    return k->name.ptr && k->config_json.ptr && !a->failed;
}

static wend_status children_read(const struct json *list, struct arena *a,
                                 struct config *c, wend_error *err)
{
    struct child_config *children;

    if (!list || !list->count)
        return WEND_OK;
    children = arena_alloc(a, list->count * sizeof *children);
    if (!children)
        return fail_nomem(err);
    for (const struct json *j = list->first; j; j = j->next)
        if (!child_read(j, a, &children[c->children_count++]))
            return a->failed ? fail_nomem(err)
                             : fail_at(err, WEND_E_PARSE, j->line, j->column,
                                       "config: an agent without a name");
    c->children = children;
    return WEND_OK;
}

static wend_status within_read(const struct json *j, struct arena *a,
                               struct within *w, wend_error *err)
{
    const struct json *list = json_get(j, "policies");
    struct restraint *bounds;

    if (!json_i64(json_get(j, "depth"), &w->depth) || w->depth < 0)
        w->depth = 0;
    w->labels = labels_read(json_get(j, "labels"));
    if (!list || !list->count)
        return WEND_OK;
    bounds = arena_alloc(a, list->count * sizeof *bounds);
    if (!bounds)
        return fail_nomem(err);
    w->bounds = bounds;
    for (const struct json *p = list->first; p; p = p->next) {
        wend_status s = restraint_read(p, a, &bounds[w->bounds_count++], err);

        if (s != WEND_OK)
            return s;
    }
    return WEND_OK;
}

wend_status config_children(const struct json *j, struct arena *a,
                            struct config *c, wend_error *err)
{
    wend_status s = children_read(json_get(j, "agents"), a, c, err);

    return s == WEND_OK ? within_read(json_get(j, "within"), a, &c->within, err)
                        : s;
}

const struct child_config *config_child(const struct config *c, wend_str name)
{
    for (size_t i = 0; name.ptr && i < c->children_count; i++)
        if (str_eq(c->children[i].name, name))
            return &c->children[i];
    return NULL;
}
