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

wend_status draft_begin(struct plan_draft *d, const struct plan *p,
                        size_t count)
{
    size_t room = p->count + count;

    d->actions = draft_array(d, room, sizeof *d->actions);
    d->id_action = draft_array(d, room * 2, sizeof *d->id_action);
    if (!d->actions || !d->id_action)
        return WEND_E_NOMEM;
    if (p->count) {
        memcpy(d->actions, p->actions, p->count * sizeof *d->actions);
        memcpy(d->id_action, p->id_action, p->ids.count * sizeof *d->id_action);
    }
    d->plan->actions = (const struct plan_action *const *)d->actions;
    d->plan->id_action = d->id_action;
    return WEND_OK;
}

static wend_status finish(struct plan_draft *d, struct plan **out)
{
    wend_status s = draft_link(d);

    if (!s)
        s = draft_order(d);
    if (!s)
        s = draft_refs(d);
    if (!s)
        *out = d->plan;
    return s;
}

/* ---- Inputs -------------------------------------------------------------- */

static wend_status set_failed(struct plan_draft *d, const struct plan_set *set,
                              const char *why)
{
    return fail(d->f->err, WEND_E_INVAL, "input '%.*s': %s",
                (int)utf8_cut(set->name, FIELDS_QUOTED_MAX), set->name.ptr,
                why);
}

static wend_status set_unknown(struct plan_draft *d, const struct json *inputs,
                               const struct plan_set *set)
{
    wend_str near = STR_NONE;
    int best = 0;

    for (const struct json *e = inputs ? inputs->first : NULL; e; e = e->next)
        if (str_nearer(set->name, e->key, &best))
            near = e->key;
    return fail(d->f->err, WEND_E_INVAL, "the plan has no input '%.*s'%s%.*s%s",
                (int)utf8_cut(set->name, FIELDS_QUOTED_MAX), set->name.ptr,
                near.ptr ? "; did you mean '" : "", (int)near.len,
                near.ptr ? near.ptr : "", near.ptr ? "'?" : "");
}

/* true and false are one kind. */
static bool same_kind(const struct json *a, const struct json *b)
{
    bool truths = (a->kind == JSON_TRUE || a->kind == JSON_FALSE) &&
                  (b->kind == JSON_TRUE || b->kind == JSON_FALSE);

    return truths || a->kind == b->kind;
}

/* The declared value is replaced in the tree, so that all who read it later
 * see the one that is set. One that is null may become anything. */
static wend_status set_input(struct plan_draft *d, const struct json *inputs,
                             const struct plan_set *set)
{
    struct json *old = json_member(inputs, set->name), *new = NULL;
    wend_str text = arena_str(d->f->arena, set->value);
    struct json plain = {.kind = JSON_STRING, .text = text};
    wend_error why = {0};

    if (!old)
        return set_unknown(d, inputs, set);
    if (!text.ptr)
        return fail_nomem(d->f->err);
    if (utf8_valid_len(text) < text.len)
        return set_failed(d, set, "invalid UTF-8");
    if (set->json || old->kind != JSON_STRING)
        new = json_parse(text, d->f->arena, &why);
    if (!new &&why.status == WEND_E_NOMEM)
        return fail_nomem(d->f->err);
    if (new && old->kind != JSON_NULL && !same_kind(new, old))
        new = NULL;
    else if (!new && !set->json &&
             (old->kind == JSON_STRING || old->kind == JSON_NULL))
        new = &plain;
    if (!new) {
        utf8_fmt(why.message, sizeof why.message, "it must be of the kind %s",
                 old->kind == JSON_TRUE || old->kind == JSON_FALSE
                     ? "true or false"
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
    uint32_t line, column;

    if (j->kind != JSON_OBJECT)
        return fields_wrong(f, j, "a mapping");
    for (const struct json *e = j->first; e; e = e->next) {
        if (!plan_key_ok(e->key)) {
            fields_key(f, e, &line, &column);
            return fail_at(f->err, WEND_E_PARSE, line, column,
                           "the name of an input must be a letter, then "
                           "letters, digits and _ (at most 64), not '%.*s'",
                           (int)utf8_cut(e->key, FIELDS_QUOTED_MAX),
                           e->key.ptr);
        }
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

static FIELD_READ(read_outputs)
{
    struct plan_draft *d = f->ctx;
    size_t len = strlen(f->where);
    struct plan_output *list;
    wend_status s;

    if (j->kind != JSON_OBJECT)
        return fields_wrong(f, j, "a mapping");
    list = draft_array(d, j->count, sizeof *list);
    if (!list)
        return WEND_E_NOMEM;
    d->reader.refs = NULL;
    for (const struct json *e = j->first; e; e = e->next) {
        struct plan_output *o = &list[d->plan->outputs_count++];

        utf8_fmt(f->where + len, sizeof f->where - len, ".%.*s",
                 (int)utf8_cut(e->key, FIELDS_QUOTED_MAX), e->key.ptr);
        o->name = e->key;
        s = draft_inside(f, template_json(&d->reader, e, &o->value));
        if (s)
            return s;
    }
    f->where[len] = 0;
    d->plan->outputs = list;
    d->output_refs = d->reader.refs;
    return WEND_OK;
}

static wend_status read_item(struct fields *f, const struct json *j, void *item)
{
    (void)item;
    return draft_action(f->ctx, j);
}

static FIELD_READ(read_actions)
{
    struct plan_draft *d = f->ctx;
    wend_status s;
    size_t count;
    void *none;

    s = draft_begin(d, d->plan,
                    j->count < PLAN_ACTIONS_MAX ? j->count : PLAN_ACTIONS_MAX);
    return s ? s
             : fields_list(f, j, 1, PLAN_ACTIONS_MAX, read_item, &none, &count);
}

static FIELD_READ(read_parallel)
{
    wend_str text = json_str(j);

    if (str_is(text, "auto")) {
        *(int64_t *)at = 0;
        return WEND_OK;
    }
    if (text.ptr)
        return fields_wrong(f, j, "a whole number from 1 to 64, or auto");
    return field_number(f, field, j, at);
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
    static const char *const missing[] = {"error", "null", NULL};
#define AT(member) .offset = offsetof(struct plan, member)
    static const struct field rows[] = {
        {"wend", .read = field_version, .words = version, .needed = true},
        {"name", field_name, AT(name)},
        {"max_parallel", read_parallel, AT(max_parallel), .min = 1,
         .max = PARALLEL_MAX},
        {"fail_fast", field_bool, AT(fail_fast)},
        {"on_failure", field_index, AT(on_failure),
         .words = plan_failure_names},
        {"missing_ref", read_missing, AT(missing_null), .words = missing},
        {"inputs", .read = read_inputs},
        {"actions", .read = read_actions, .needed = true},
        {"outputs", .read = read_outputs},
        {0},
    };
#undef AT
    struct fields *f = d->f;
    wend_status s = fields_read(f, f->root, rows, d->plan);

    if (!s && !d->plan->count)
        s = fail_at(f->err, WEND_E_PARSE, json_get(f->root, "actions")->line,
                    json_get(f->root, "actions")->column,
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
        s = d.plan->json.ptr ? finish(&d, out) : fail_nomem(f->err);
    }
    f->ctx = NULL; /* d ends here */
    return s;
}

wend_status plan_parse(wend_str json, const struct plan_options *o,
                       struct arena *a, struct plan **out, wend_error *err)
{
    struct fields f = {.arena = a, .err = err, .whole = "the plan"};
    wend_str text = arena_str(a, json); /* the tree points into it */
    wend_status s = text.ptr ? fields_open_json(&f, text) : fail_nomem(err);

    return s ? s : plan_read(&f, o, out);
}

static wend_status given_inputs(struct plan_draft *d,
                                const struct plan_set *inputs, size_t count)
{
    struct arena *a = d->f->arena;
    wend_str *list = draft_array(d, count, sizeof *list);

    for (size_t i = 0; list && i < count; i++) {
        uint32_t slot = names_add(&d->plan->keys, arena_str(a, inputs[i].name));

        if (slot == NAME_NONE)
            return fail_nomem(d->f->err);
        list[slot] = arena_str(a, inputs[i].value);
    }
    d->plan->inputs = list;
    return list && !a->failed ? WEND_OK : fail_nomem(d->f->err);
}

wend_status plan_open(wend_str name, const struct plan_set *inputs,
                      size_t inputs_count, struct arena *a, struct plan **out,
                      wend_error *err)
{
    struct fields f = {.arena = a, .err = err ? err : &f.own};
    struct plan_draft d = {.f = &f, .options = &no_options};
    wend_status s;

    d.plan = new_plan(a);
    if (!d.plan)
        return fail_nomem(err);
    d.plan->written = d.plan->open = true;
    d.plan->name = arena_str(a, name);
    s = given_inputs(&d, inputs, inputs_count);
    if (!s)
        s = draft_begin(&d, d.plan, 0);
    return s ? s : finish(&d, out);
}

/* A copy with room for `more` actions, not yet linked. */
static wend_status draft_copy(struct plan_draft *d, const struct plan *before,
                              size_t more)
{
    struct arena *a = d->f->arena;
    struct plan *p = arena_alloc(a, sizeof *p);

    if (!p)
        return fail_nomem(d->f->err);
    *p = *before;
    d->plan = p;
    d->reader =
        (struct ref_reader){.arena = a, .names = &p->keys, .err = d->f->err};
    if (!names_copy(&before->ids, a, &p->ids) ||
        !names_copy(&before->keys, a, &p->keys))
        return fail_nomem(d->f->err);
    return draft_begin(d, before, more);
}

/* An action that is named in this way must not be written yet. */
static wend_status check_later(struct plan_draft *d, const struct plan *before,
                               const struct plan_action *a,
                               const struct plan_name *n)
{
    if (!n->text.ptr || plan_find(before, n->text) == PLAN_NONE)
        return WEND_OK;
    return fail_at(d->f->err, WEND_E_PARSE, n->line, n->column,
                   "'%.*s' must be written after '%.*s', which names it",
                   (int)n->text.len, n->text.ptr, (int)a->name.len,
                   a->name.ptr);
}

/* As before, with places for new names; what the new action provides is no
 * input any more. */
static wend_status copy_inputs(struct plan_draft *d, const struct plan *before,
                               const struct plan_action *new)
{
    wend_str *list = draft_array(d, d->plan->keys.count, sizeof *list);

    if (!list)
        return WEND_E_NOMEM;
    for (uint32_t i = 0; i < before->keys.count; i++)
        list[i] = before->inputs[i];
    if (new->output_slot != NAME_NONE)
        list[new->output_slot] = STR_NONE;
    d->plan->inputs = list;
    return WEND_OK;
}

static wend_status add_written(struct plan_draft *d, const struct plan *before,
                               struct plan **out)
{
    struct plan_action *a;
    wend_status s = draft_action(d, d->f->root);

    if (s)
        return s;
    a = d->actions[before->count];
    if (d->options->learned_ms)
        a->learned_ms = *d->options->learned_ms;
    s = check_later(d, before, a, &a->fallback);
    for (size_t i = 0; !s && i < a->cases_count; i++)
        for (size_t k = 0; !s && k < a->cases[i].then.count; k++)
            s = check_later(d, before, a, &a->cases[i].then.list[k]);
    if (!s)
        s = copy_inputs(d, before, a);
    if (!s)
        s = (a->json = json_text(d->f->root, d->f->arena)).ptr
                ? WEND_OK
                : fail_nomem(d->f->err);
    return s ? s : finish(d, out);
}

wend_status plan_add(const struct plan *before, wend_str action_json,
                     const struct plan_options *o, struct arena *a,
                     struct plan **out, wend_error *err)
{
    struct fields f = {.arena = a, .err = err, .whole = "the action"};
    struct plan_draft d = {.f = &f, .options = o ? o : &no_options};
    wend_str text = arena_str(a, action_json);
    wend_status s = text.ptr ? fields_open_json(&f, text) : fail_nomem(err);

    if (!s && before->count == PLAN_WRITTEN_MAX)
        s = fail(f.err, WEND_E_LIMIT, "the plan has %d actions already",
                 PLAN_WRITTEN_MAX);
    if (!s)
        s = draft_copy(&d, before, 1);
    return s ? s : add_written(&d, before, out);
}

wend_status plan_finish(const struct plan *before, struct arena *a,
                        struct plan **out, wend_error *err)
{
    struct fields f = {.arena = a, .err = err ? err : &f.own};
    struct plan_draft d = {.f = &f, .options = &no_options};
    wend_status s = draft_copy(&d, before, 0);

    if (s)
        return s;
    d.plan->open = false;
    return finish(&d, out);
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
