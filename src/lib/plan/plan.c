/*
 * plan.c - plans for hosts: read, checked, described.
 */
#include <assert.h>

#include "base/fail.h"
#include "base/utf8.h"
#include "lib/plan/plan.h"
#include "wire/plan/plan.h"

enum { FORMATS = WEND_PLAN_HTML + 1 };

struct wend_plan {
    unsigned process; /* that made it */
    struct mem mem;
    wend_release_fn release; /* of mem.ctx; may be NULL */
    struct arena arena;
    struct plan *plan;
    const struct plan_learned *learned; /* NULL: nothing */
    wend_str shown[FORMATS];            /* absent: not asked for yet */
    const char *folder;                 /* of its file; NULL: it has none */
};

/* ---- Options ------------------------------------------------------------- */

static bool knows(void *ctx, const struct plan_action *a, struct buf *hint)
{
    const wend_plan_options *o = ctx;
    const char *near = NULL;

    if (o->knows(o->ctx, str_of(action_type_names[a->type]), a->target, &near))
        return true;
    if (near)
        buf_fmt(hint, "; did you mean '%s'?", near);
    return false;
}

static wend_status read_sets(const wend_plan_options *o, struct arena *a,
                             struct plan_options *out, wend_error *err)
{
    struct plan_set *list = arena_alloc(a, (o->sets_count + 1) * sizeof *list);

    if (!list)
        return fail_nomem(err);
    for (size_t i = 0; i < o->sets_count; i++) {
        wend_str text = str_of(o->sets[i]);
        const char *equals = text.len ? memchr(text.ptr, '=', text.len) : NULL;

        if (!equals || equals == text.ptr)
            return fail(err, WEND_E_INVAL,
                        "an input is set by name=value, not by '%.*s'",
                        (int)utf8_cut(text, 64), text.ptr ? text.ptr : "");
        list[i].name = (wend_str){text.ptr, (size_t)(equals - text.ptr)};
        list[i].value = str_of(equals + 1);
    }
    out->sets = list;
    out->sets_count = o->sets_count;
    return WEND_OK;
}

/* ---- Public -------------------------------------------------------------- */

static wend_status parse(wend_str text, wend_plan_options *o, wend_plan **out,
                         wend_error *err)
{
    struct plan_options inside = {.sets_count = 0};
    struct mem mem = {o->alloc, o->alloc_ctx};
    wend_plan *p;
    wend_status s;

    if (!out || !text.ptr)
        return fail(err, WEND_E_INVAL, "plan: text or out is NULL");
    fail_clear(err);
    *out = NULL;
    if (o->sets_count && !o->sets)
        return fail(err, WEND_E_INVAL, "plan: options.sets is NULL");
    p = mem_zalloc(&mem, sizeof *p);
    if (!p)
        return fail_nomem(err);
    p->process = forked_mark();
    p->mem = mem;
    p->arena.mem = &p->mem;
    if (o->knows) {
        inside.knows = knows;
        inside.ctx = o;
    }
    s = read_sets(o, &p->arena, &inside, err);
    if (!s)
        s = plan_file_parse(text, &inside, &p->arena, &p->plan, err);
    if (!s) {
        *out = p;
        p = NULL;
    }
    wend_plan_free(p);
    return s;
}

wend_status wend_plan_parse(wend_str text, const wend_plan_options *options,
                            wend_plan **out, wend_error *err)
{
    wend_plan_options o;
    wend_status s;

    if (!OPTIONS_TAKE(&o, wend_plan_options, alloc_ctx, options))
        return fail(err, WEND_E_INVAL, "plan: options.size is wrong");
    s = parse(text, &o, out, err);
    if (s == WEND_OK)
        (*out)->release = o.alloc_release;
    else if (o.alloc_release)
        o.alloc_release(o.alloc_ctx);
    return s;
}

wend_status plan_enter(const wend_plan *plan, wend_error *err)
{
    return forked_check(plan->process, err);
}

const struct plan *plan_inside(const wend_plan *plan)
{
    assert(plan->plan); /* only a plan that was read leaves wend_plan_parse */
    return plan->plan;
}

bool plan_set_path(wend_plan *plan, const char *path)
{
    const char *slash = strrchr(path, '/');
    wend_str folder = slash == path ? STR("/")
                      : slash       ? (wend_str){path, (size_t)(slash - path)}
                                    : STR(".");

    plan->folder = arena_str(&plan->arena, folder).ptr;
    return plan->folder != NULL;
}

const char *plan_folder(const wend_plan *plan)
{
    return plan->folder;
}

void wend_plan_free(wend_plan *plan)
{
    wend_release_fn release;
    struct mem mem;

    if (!plan || plan_enter(plan, NULL) != WEND_OK)
        return;
    mem = plan->mem;
    release = plan->release;
    arena_free(&plan->arena);
    mem_free(&mem, plan);
    if (release)
        release(mem.ctx);
}

static void put(struct buf *b, const wend_plan *plan, wend_plan_format format)
{
    switch (format) {
    case WEND_PLAN_JSON: plan_put_json(b, plan->plan, plan->learned); break;
    case WEND_PLAN_DOT: plan_put_dot(b, plan->plan); break;
    case WEND_PLAN_SVG: plan_put_svg(b, plan->plan); break;
    case WEND_PLAN_HTML: plan_put_html(b, plan->plan, plan->learned); break;
    }
}

/* A script says itself what it is called. */
static wend_str script_name(const char *spec, struct arena *a)
{
    struct driver_options o = {.spec = str_of(spec)};
    struct driver *d = NULL;
    wend_str name = STR("script");

    if (script_driver_open(&o, a->mem, &d, NULL) == WEND_OK) {
        name = arena_str(a, d->model);
        d->ops->free(d);
    }
    return name;
}

/* As events call it: without the provider. */
static wend_str model_name(const char *model, struct arena *a)
{
    const char *colon = model ? strchr(model, ':') : NULL;

    if (!colon)
        return str_of(model);
    if (str_starts(str_of(model), "script:"))
        return script_name(colon + 1, a);
    return str_of(colon + 1);
}

wend_status wend_plan_learn(wend_plan *plan, wend_store *store,
                            const char *model, wend_error *err)
{
    wend_status s;

    if (!plan || !store)
        return fail(err, WEND_E_INVAL, "plan: plan or store is NULL");
    s = plan_enter(plan, err);
    if (s == WEND_OK)
        s = store_enter(store, err);
    if (s != WEND_OK)
        return s;
    plan->learned = learned_plan(store, plan->plan,
                                 model_name(model, &plan->arena), &plan->arena);
    memset(plan->shown, 0, sizeof plan->shown);
    return plan->arena.failed ? fail_nomem(err) : WEND_OK;
}

wend_status wend_plan_describe(wend_plan *plan, wend_plan_format format,
                               wend_str *out, wend_error *err)
{
    struct buf b;

    if (!plan || !out || (unsigned)format >= FORMATS)
        return fail(err, WEND_E_INVAL, "plan: no such description");
    if (plan_enter(plan, err) != WEND_OK)
        return WEND_E_MISUSE;
    if (!plan->shown[format].ptr) {
        b = (struct buf){.mem = &plan->mem};
        put(&b, plan, format);
        if (!b.failed)
            plan->shown[format] = arena_str(&plan->arena, buf_view(&b));
        buf_free(&b);
    }
    *out = plan->shown[format];
    return out->ptr ? WEND_OK : fail_nomem(err);
}
