/*
 * fuzz_plan.c - any bytes as a plan; what is accepted is a graph in order,
 * reads back from its own text, can be shown; what is not has a reason.
 */
#include <stdlib.h>

#include "wire/plan/plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_graph(const struct plan *p)
{
    const struct plan_graph *g = &p->graph;

    if (g->deps_at[p->count] != g->edges_count ||
        g->users_at[p->count] != g->edges_count)
        abort();
    for (uint32_t i = 0; i < p->count; i++) {
        for (uint32_t k = g->deps_at[i]; k < g->deps_at[i + 1]; k++)
            if (g->wave[g->deps[k]] >= g->wave[i])
                abort();
        if (g->wave[i] < 1 || g->wave[i] > g->waves || !p->whole[i] ||
            plan_find(p, p->actions[i]->id) != i)
            abort();
        if (g->fallback[i] != PLAN_NONE && g->fallback_of[g->fallback[i]] != i)
            abort();
    }
    if (g->critical_ms > g->sequential_ms)
        abort();
}

static void check_shown(const struct plan *p, struct arena *a)
{
    struct buf b = {.mem = a->mem};
    wend_error err = {0};

    plan_put_dot(&b, p);
    plan_put_svg(&b, p);
    plan_put_html(&b, p, NULL);
    buf_clear(&b);
    plan_put_json(&b, p, NULL);
    if (!json_parse(buf_view(&b), a, &err))
        abort();
    buf_free(&b);
}

/* The same actions, written one by one, are a plan or are refused. */
static void check_written(const struct plan *p, struct arena *a)
{
    struct json *root = json_parse_own(p->json, a, NULL);
    struct buf b = {.mem = a->mem};
    struct plan *written;
    wend_error err = {0};

    if (!root || plan_open(STR("x"), NULL, 0, a, &written, &err))
        abort();
    for (const struct json *e = json_get(root, "actions")->first; e;
         e = e->next) {
        buf_clear(&b);
        json_put(&b, e);
        if (plan_add(written, buf_view(&b), NULL, a, &written, &err) &&
            !err.message[0])
            abort();
    }
    if (plan_finish(written, a, &written, &err) && !err.message[0])
        abort();
    buf_free(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    wend_str text = {(const char *)data, size};
    struct mem mem = {0};
    struct arena a = {.mem = &mem};
    struct plan *p = NULL, *again = NULL;
    wend_error err = {0};

    if (plan_file_parse(text, NULL, &a, &p, &err)) {
        if (!err.status || !err.message[0])
            abort();
    } else {
        check_graph(p);
        if (plan_parse(p->json, NULL, &a, &again, &err) ||
            !str_eq(again->json, p->json))
            abort();
        check_shown(p, &a);
        if (p->count < 50)
            check_written(p, &a);
    }
    arena_free(&a);
    return 0;
}
