/*
 * plan.c - plans: from a tree, from the log, and one action at a time.
 */
#include "core/plan/plan.h"

#include <assert.h>

#include "base/fail.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "core/plan/plan_make.h"

static const struct plan_options no_options = {.sets_count = 0};

/* ---- A draft ------------------------------------------------------------- */

void *draft_array(struct plan_draft *d, size_t count, size_t size)
{
    void *p = arena_alloc(d->f->arena, (count + 1) * size);

    if (!p)
        fail_nomem(d->f->err);
    return p;
}

uint32_t *draft_numbers(struct plan_draft *d, size_t count, uint32_t n)
{
    uint32_t *list = draft_array(d, count, sizeof *list);

    for (size_t i = 0; list && i < count; i++)
        list[i] = n;
    return list;
}

bool draft_begin(struct plan_draft *d, const struct plan *p, size_t count)
{
    size_t room = p->count + count;

    d->actions = draft_array(d, room, sizeof *d->actions);
    d->id_action = draft_array(d, room * 2, sizeof *d->id_action);
    if (!d->actions || !d->id_action)
        return false;
    if (p->count) {
        memcpy(d->actions, p->actions, p->count * sizeof *d->actions);
        memcpy(d->id_action, p->id_action, p->ids.count * sizeof *d->id_action);
    }
    d->plan->actions = (const struct plan_action *const *)d->actions;
    d->plan->id_action = d->id_action;
    return true;
}

/* ok: all actions and inputs are read; the rest of the checks follow. */
static wend_status finish(struct plan_draft *d, bool ok, struct plan **out)
{
    if (!ok || !draft_link(d) || !draft_order(d) || !draft_refs(d))
        return d->f->err->status;
    *out = d->plan;
    return WEND_OK;
}

/* ---- Inputs -------------------------------------------------------------- */

wend_status plan_no_input(const struct json *inputs, wend_str name,
                          wend_error *err)
{
    char hint[STR_HINT_BYTES];
    wend_str near = STR_NONE;
    int best = 0;

    for (const struct json *e = inputs ? inputs->first : NULL; e; e = e->next)
        if (str_nearer(name, e->key, &best))
            near = e->key;
    return fail(err, WEND_E_INVAL, "the plan has no input '%.*s'%s",
                UTF8_ARGS(name, FIELDS_QUOTED_MAX), str_hint(hint, near));
}

static wend_status set_failed(struct plan_draft *d, const struct plan_set *set,
                              const char *why)
{
    return fail(d->f->err, WEND_E_INVAL, "input '%.*s': %s",
                UTF8_ARGS(set->name, FIELDS_QUOTED_MAX), why);
}

/* true and false are one kind. */
static enum json_kind kind_of(const struct json *j)
{
    return j->kind == JSON_FALSE ? JSON_TRUE : j->kind;
}

/* The declared value is replaced in the tree, so that every later reader
 * sees the new one. One that is null may become anything. */
static wend_status set_input(struct plan_draft *d, const struct json *inputs,
                             const struct plan_set *set)
{
    struct json *old = json_member(inputs, set->name), *new = NULL;
    wend_str text = arena_str(d->f->arena, set->value);
    struct json plain = {.kind = JSON_STRING, .text = text};
    wend_error why = {0};

    if (!old)
        return plan_no_input(inputs, set->name, d->f->err);
    if (!text.ptr)
        return fail_nomem(d->f->err);
    if (utf8_valid_len(text) < text.len)
        return set_failed(d, set, "invalid UTF-8");
    if (set->json || old->kind != JSON_STRING)
        new = json_parse(text, d->f->arena, &why);
    if (!new &&why.status == WEND_E_NOMEM)
        return fail_nomem(d->f->err);
    if (new && old->kind != JSON_NULL && kind_of(new) != kind_of(old))
        new = NULL;
    else if (!new && !set->json &&
             (old->kind == JSON_STRING || old->kind == JSON_NULL))
        new = &plain;
    if (!new) {
        utf8_fmt(why.message, sizeof why.message, "it must be of the kind %s",
                 kind_of(old) == JSON_TRUE ? "true or false"
                                           : json_kind_name(old->kind));
        return set_failed(d, set, why.message);
    }
    old->kind = new->kind;
    old->text = new->text;
    old->first = new->first;
    old->count = new->count;
    return WEND_OK;
}

static FIELD_READ(read_inputs)
{
    struct plan_draft *d = f->ctx;

    if (j->kind != JSON_OBJECT)
        return fields_wrong(f, j, "a mapping");
    for (const struct json *e = j->first; e; e = e->next) {
        if (!plan_key_ok(e->key))
            return fields_fail_key(
                f, e,
                "the name of an input must be a letter, then letters, digits "
                "and _ (at most 64), not '%.*s'",
                UTF8_ARGS(e->key, FIELDS_QUOTED_MAX));
        if (names_add(&d->plan->keys, e->key) == NAME_NONE)
            return fail_nomem(f->err);
    }
    return WEND_OK;
}

/* By slot, once all names are known. */
static wend_status keep_inputs(struct plan_draft *d, const struct json *inputs)
{
    struct names *keys = &d->plan->keys;
    wend_str *list = draft_array(d, keys->count, sizeof *list);

    if (!list)
        return WEND_E_NOMEM;
    for (const struct json *e = inputs ? inputs->first : NULL; e; e = e->next) {
        uint32_t slot = names_find(keys, e->key);

        list[slot] = json_text(e, d->f->arena);
        if (!list[slot].ptr)
            return fail_nomem(d->f->err);
    }
    d->plan->inputs = list;
    return WEND_OK;
}

/* ---- The rest of a plan -------------------------------------------------- */

static FIELD_READ(read_output)
{
    struct plan_draft *d = f->ctx;
    struct plan_output *o = at;

    o->name = j->key;
    return draft_inside(f, template_json(&d->reader, j, &o->value));
}

static FIELD_READ(read_outputs)
{
    struct plan_draft *d = f->ctx;
    wend_status s;

    if (j->kind != JSON_OBJECT)
        return fields_wrong(f, j, "a mapping");
    d->reader.refs = NULL;
    s = field_map(f, field, j, at);
    d->output_refs = d->reader.refs;
    return s;
}

static FIELD_READ(read_action)
{
    return draft_action(f->ctx, j) ? WEND_OK : f->err->status;
}

static FIELD_READ(read_actions)
{
    struct plan_draft *d = f->ctx;
    struct {
        void *list;
        size_t count;
    } none;

    return draft_begin(d, d->plan,
                       j->count < PLAN_ACTIONS_MAX ? j->count
                                                   : PLAN_ACTIONS_MAX)
               ? field_list(f, field, j, &none)
               : f->err->status;
}

static FIELD_READ(read_missing)
{
    if (j->kind == JSON_NULL) { /* unquoted, that is how null is written */
        *(bool *)at = true;
        return WEND_OK;
    }
    return field_second(f, field, j, at);
}

static wend_status read_plan(struct plan_draft *d)
{
    static const char *const version[] = {"plan/1", NULL};
    static const char *const automatic[] = {"auto", NULL};
    static const char *const missing[] = {"error", "null", NULL};
#define AT(member) .offset = offsetof(struct plan, member)
    static const struct field rows[] = {
        {"wend", .read = field_version, .words = version, .needed = true},
        {"name", field_name, AT(name)},
        {"max_parallel", field_number, AT(max_parallel), .min = 1,
         .max = PARALLEL_MAX, .words = automatic},
        {"fail_fast", field_bool, AT(fail_fast)},
        {"on_failure", field_index, AT(on_failure),
         .words = plan_failure_names},
        {"missing_ref", read_missing, AT(missing_null), .words = missing},
        {"inputs", .read = read_inputs},
        {"actions", .read = read_actions, .needed = true, .item = read_action,
         .size = 1, .max = PLAN_ACTIONS_MAX},
        {"outputs", read_outputs,
         FIELD_ITEMS(struct plan, outputs, read_output, UINT32_MAX)},
        {0},
    };
#undef AT
    struct fields *f = d->f;
    wend_status s = fields_read(f, f->root, rows, d->plan);

    if (!s && !d->plan->count)
        s = fields_fail(f, json_get(f->root, "actions"),
                        "the plan has no actions");
    return s ? s : keep_inputs(d, json_get(f->root, "inputs"));
}

static struct plan *new_plan(struct arena *a)
{
    struct plan *p = arena_alloc(a, sizeof *p);

    if (!p)
        return NULL;
    p->name = STR("plan");
    p->max_parallel = PARALLEL_DEFAULT;
    p->ids.arena = p->keys.arena = a;
    return p;
}

/* ---- Public -------------------------------------------------------------- */

wend_status plan_read(struct fields *f, const struct plan_options *o,
                      struct plan **out)
{
    struct plan_draft d = {.f = f, .options = o ? o : &no_options};
    const struct json *inputs = json_get(f->root, "inputs");
    wend_status s = WEND_OK;

    d.plan = new_plan(f->arena);
    if (!d.plan)
        return fail_nomem(f->err);
    d.reader = (struct ref_reader){
        .arena = f->arena, .names = &d.plan->keys, .err = f->err};
    f->ctx = &d;
    for (size_t i = 0; !s && i < d.options->sets_count; i++)
        s = set_input(&d, inputs, &d.options->sets[i]);
    if (!s)
        s = read_plan(&d);
    if (!s) {
        d.plan->json = json_text(f->root, f->arena);
        s = d.plan->json.ptr ? finish(&d, true, out) : fail_nomem(f->err);
    }
    f->ctx = NULL; /* d ends here */
    return s;
}

wend_status plan_parse(wend_str json, const struct plan_options *o,
                       struct arena *a, struct plan **out, wend_error *err)
{
    struct fields f = {.arena = a, .err = err, .whole = "the plan"};
    wend_status s = fields_open_json(&f, json);

    return s ? s : plan_read(&f, o, out);
}

static bool given_inputs(struct plan_draft *d, const struct plan_set *inputs,
                         size_t count)
{
    struct arena *a = d->f->arena;
    wend_str *list = draft_array(d, count, sizeof *list);

    for (size_t i = 0; list && i < count; i++) {
        uint32_t slot = names_add(&d->plan->keys, arena_str(a, inputs[i].name));

        if (slot == NAME_NONE)
            break;
        list[slot] = arena_str(a, inputs[i].value);
    }
    d->plan->inputs = list;
    return !a->failed || !fail_nomem(d->f->err);
}

wend_status plan_open(wend_str name, const struct plan_set *inputs,
                      size_t inputs_count, struct arena *a, struct plan **out,
                      wend_error *err)
{
    struct fields f = {.arena = a, .err = err ? err : &f.own};
    struct plan_draft d = {.f = &f, .options = &no_options};

    d.plan = new_plan(a);
    if (!d.plan)
        return fail_nomem(err);
    d.plan->written = d.plan->open = true;
    d.plan->name = arena_str(a, name);
    return finish(&d,
                  given_inputs(&d, inputs, inputs_count) &&
                      draft_begin(&d, d.plan, 0),
                  out);
}

/* A copy with room for `more` actions, not yet linked. */
static bool draft_copy(struct plan_draft *d, const struct plan *before,
                       size_t more)
{
    struct arena *a = d->f->arena;
    struct plan *p = arena_alloc(a, sizeof *p);

    if (!p)
        return !fail_nomem(d->f->err);
    *p = *before;
    d->plan = p;
    d->reader =
        (struct ref_reader){.arena = a, .names = &p->keys, .err = d->f->err};
    if (!names_copy(&before->ids, a, &p->ids) ||
        !names_copy(&before->keys, a, &p->keys))
        return !fail_nomem(d->f->err);
    return draft_begin(d, before, more);
}

/* An action that is named in this way must not be written yet. */
static bool check_later(struct plan_draft *d, const struct plan *before,
                        const struct plan_action *a, const struct plan_name *n)
{
    return !n->text.ptr || plan_find(before, n->text) == PLAN_NONE ||
           !fail_at(d->f->err, WEND_E_PARSE, n->line, n->column,
                    "'%.*s' must be written after '%.*s', which names it",
                    STR_ARGS(n->text), STR_ARGS(a->name));
}

/* As before, with places for new names; what the new action provides is no
 * longer an input. */
static bool copy_inputs(struct plan_draft *d, const struct plan *before,
                        const struct plan_action *new)
{
    wend_str *list = draft_array(d, d->plan->keys.count, sizeof *list);

    if (!list)
        return false;
    for (uint32_t i = 0; i < before->keys.count; i++)
        list[i] = before->inputs[i];
    if (new->output_slot != NAME_NONE)
        list[new->output_slot] = STR_NONE;
    d->plan->inputs = list;
    return true;
}

static bool add_written(struct plan_draft *d, const struct plan *before)
{
    struct plan_action *a;
    bool ok;

    if (!draft_action(d, d->f->root))
        return false;
    a = d->actions[before->count];
    if (d->options->learned_ms)
        a->learned_ms = *d->options->learned_ms;
    ok = check_later(d, before, a, &a->fallback);
    for (size_t i = 0; i < a->cases_count; i++)
        for (size_t k = 0; ok && k < a->cases[i].then.count; k++)
            ok = check_later(d, before, a, &a->cases[i].then.list[k]);
    if (!ok || !copy_inputs(d, before, a))
        return false;
    a->json = json_text(d->f->root, d->f->arena);
    return a->json.ptr || !fail_nomem(d->f->err);
}

wend_status plan_add(const struct plan *before, wend_str action_json,
                     const struct plan_options *o, struct arena *a,
                     struct plan **out, wend_error *err)
{
    struct fields f = {.arena = a, .err = err, .whole = "the action"};
    struct plan_draft d = {.f = &f, .options = o ? o : &no_options};
    wend_status s = fields_open_json(&f, action_json);

    if (!s && before->count == PLAN_WRITTEN_MAX)
        s = fail(f.err, WEND_E_LIMIT, "the plan has %d actions already",
                 PLAN_WRITTEN_MAX);
    return s ? s
             : finish(&d, draft_copy(&d, before, 1) && add_written(&d, before),
                      out);
}

wend_status plan_finish(const struct plan *before, struct arena *a,
                        struct plan **out, wend_error *err)
{
    struct fields f = {.arena = a, .err = err ? err : &f.own};
    struct plan_draft d = {.f = &f, .options = &no_options};
    bool ok = draft_copy(&d, before, 0);

    if (ok)
        d.plan->open = false;
    return finish(&d, ok, out);
}

const struct plan *plan_close(const struct plan *before, struct arena *a)
{
    struct plan *p = arena_alloc(a, sizeof *p);

    if (!p)
        return NULL;
    *p = *before;
    p->open = false;
    return p;
}

uint32_t plan_find(const struct plan *p, wend_str id)
{
    uint32_t n = names_find(&p->ids, id);

    assert(n == NAME_NONE || p->id_action[n] <= p->count);
    return n == NAME_NONE ? PLAN_NONE : p->id_action[n];
}

const uint32_t *plan_chosen(const struct plan *p, uint32_t i, size_t c,
                            size_t *count)
{
    const struct plan_case *of = &p->actions[i]->cases[c];

    assert(i < p->count && c < p->actions[i]->cases_count);
    *count = of->then.count;
    return p->graph.chosen + p->graph.chosen_at[i] + of->first;
}
