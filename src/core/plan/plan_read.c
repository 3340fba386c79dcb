/*
 * plan_read.c - what is written of an action: every key, its type and range.
 */
#include <math.h>
#include <stdio.h>

#include "base/ascii.h"
#include "base/fail.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "core/plan/plan_make.h"

const char *const action_type_names[ACTION_TYPES + 1] = {
    [ACTION_TOOL] = "tool",   [ACTION_AGENT] = "agent",
    [ACTION_RELIC] = "relic", [ACTION_WORKFLOW] = "workflow",
    [ACTION_LLM] = "llm",     [ACTION_DECISION] = "decision",
    [ACTION_TYPES] = NULL,
};

const char *const action_mode_names[ACTION_MODES + 1] = {
    [ACTION_SYNC] = "sync",
    [ACTION_ASYNC] = "async",
    [ACTION_FORGET] = "fire_and_forget",
    [ACTION_MODES] = NULL,
};

const char *const plan_failure_names[FAILURES + 1] = {
    [FAILURE_STOP] = "stop",
    [FAILURE_CONTINUE] = "continue",
    [FAILURE_REPLAN] = "replan",
    [FAILURES] = NULL,
};

/* ---- Names --------------------------------------------------------------- */

static bool name_ok(wend_str name)
{
    bool ok = name.len && name.len <= PLAN_NAME_MAX && is_letter(name.ptr[0]);

    for (size_t i = 0; ok && i < name.len; i++)
        ok = is_letter(name.ptr[i]) || is_digit(name.ptr[i]) ||
             name.ptr[i] == '_' || name.ptr[i] == '-';
    return ok;
}

bool plan_key_ok(wend_str name)
{
    return name_ok(name) && !memchr(name.ptr, '-', name.len);
}

static FIELD_READ(read_name)
{
    if (!name_ok(json_str(j)))
        return fields_wrong(
            f, j, "a letter, then letters, digits, _ and - (at most 64)");
    *(wend_str *)at = json_str(j);
    return WEND_OK;
}

static FIELD_READ(read_key)
{
    if (!plan_key_ok(json_str(j)))
        return fields_wrong(
            f, j, "a letter, then letters, digits and _ (at most 64)");
    *(wend_str *)at = json_str(j);
    return WEND_OK;
}

static wend_status read_mention(struct fields *f, const struct json *j,
                                void *item)
{
    struct plan_name *n = item;
    wend_status s = field_name(f, NULL, j, &n->text);

    n->line = j->line;
    n->column = j->column;
    return s;
}

static FIELD_READ(read_mentions)
{
    struct plan_names *n = at;
    wend_status s;
    void *list;

    s = fields_list(f, j, sizeof *n->list, PLAN_ACTIONS_MAX, read_mention,
                    &list, &n->count);
    if (!s)
        n->list = list;
    return s;
}

static FIELD_READ(read_fallback)
{
    return read_mention(f, j, at);
}

/* ---- Texts with references ----------------------------------------------- */

wend_status draft_inside(struct fields *f, wend_status s)
{
    struct plan_draft *d = f->ctx;
    uint32_t line, column;
    wend_error why;

    if (s == WEND_OK || s == WEND_E_NOMEM)
        return s;
    why = *f->err;
    fields_inside(f, d->reader.in, d->reader.bad_at, &line, &column);
    return fail_at(f->err, s, line, column, "%s: %.*s", fields_where(f),
                   (int)utf8_cut(str_of(why.message), 300), why.message);
}

static FIELD_READ(read_params)
{
    struct plan_draft *d = f->ctx;

    if (j->kind != JSON_OBJECT)
        return fields_wrong(f, j, "a mapping");
    return draft_inside(f, template_json(&d->reader, j, at));
}

static FIELD_READ(read_prompt)
{
    struct plan_draft *d = f->ctx;
    wend_str text;
    wend_status s = field_name(f, field, j, &text);

    return s ? s : draft_inside(f, template_text(&d->reader, j, at));
}

static FIELD_READ(read_when)
{
    struct plan_draft *d = f->ctx;
    wend_str text;
    wend_status s = field_name(f, field, j, &text);

    if (s)
        return s;
    d->reader.in = j;
    return draft_inside(f, expr_parse(&d->reader, text, at));
}

/* ---- Mappings ------------------------------------------------------------ */

static FIELD_READ(read_backoff)
{
    double n;

    if (!json_f64(j, &n) || !(n >= 1) || n > PLAN_BACKOFF_MAX)
        return fields_wrong(f, j, "a number from 1 to 100");
    *(double *)at = n;
    return WEND_OK;
}

static FIELD_READ(read_retry)
{
#define AT(member) .offset = offsetof(struct plan_retry, member)
    static const struct field rows[] = {
        {"max", field_number, AT(max), .max = PLAN_RETRIES_MAX, .needed = true},
        {"delay", field_ms, AT(delay_ms)},
        {"backoff", read_backoff, AT(backoff)},
        {"max_delay", field_ms, AT(delay_max_ms)},
        {0},
    };
#undef AT

    return fields_read(f, j, rows, at);
}

static FIELD_READ(read_cache)
{
    static const struct field rows[] = {
        {"ttl", .read = field_ms, .min = 1, .needed = true}, {0}};

    return fields_read(f, j, rows, at);
}

struct case_draft {
    const struct expr *when;
    struct plan_names then, otherwise;
};

static wend_status read_case(struct fields *f, const struct json *j, void *item)
{
#define AT(member) .offset = offsetof(struct case_draft, member)
    static const struct field rows[] = {
        {"when", read_when, AT(when)},
        {"then", read_mentions, AT(then)},
        {"else", read_mentions, AT(otherwise)},
        {0},
    };
#undef AT
    struct case_draft d = {NULL, {0}, {0}};
    struct plan_case *c = item;
    wend_status s = fields_read(f, j, rows, &d);

    if (s)
        return s;
    if (json_get(j, "else")) {
        if (j->count > 1)
            return fail_at(f->err, WEND_E_PARSE, j->line, j->column,
                           "%s has 'else', which stands alone",
                           fields_where(f));
        if (j->next)
            return fail_at(f->err, WEND_E_PARSE, j->line, j->column,
                           "%s is 'else', which comes last", fields_where(f));
        c->then = d.otherwise;
        return WEND_OK;
    }
    c->when = d.when;
    c->then = d.then;
    if (!json_get(j, "when"))
        return fields_missing(f, j, "when' and 'then', or 'else");
    return json_get(j, "then") ? WEND_OK : fields_missing(f, j, "then");
}

static FIELD_READ(read_cases)
{
    struct plan_action *a = at;
    struct plan_case *cases;
    uint32_t names = 0;
    wend_status s;
    void *list;

    s = fields_list(f, j, sizeof *a->cases, SIZE_MAX, read_case, &list,
                    &a->cases_count);
    if (s)
        return s;
    cases = list;
    for (size_t i = 0; i < a->cases_count; i++) {
        cases[i].first = names;
        names += (uint32_t)cases[i].then.count;
    }
    a->cases = cases;
    return WEND_OK;
}

/* ---- An action ----------------------------------------------------------- */

static FIELD_READ(read_target)
{
    struct plan_action *a = at;

    a->target_line = j->line;
    a->target_column = j->column;
    return field_name(f, field, j, &a->target);
}

/* Which keys belong to which type; one that means nothing is a mistake. */
static wend_status check_type(struct fields *f, const struct json *j,
                              const struct plan_action *a)
{
    enum {
        T = 1 << ACTION_TOOL,
        A = 1 << ACTION_AGENT,
        R = 1 << ACTION_RELIC,
        W = 1 << ACTION_WORKFLOW,
        L = 1 << ACTION_LLM,
        D = 1 << ACTION_DECISION
    };
    static const struct {
        const char *key;
        int may, must;
    } keys[] = {
        {"target", T | A | R | W | L, T | A | R | W},
        {"params", T | A | R | W, 0},
        {"prompt", A | L, L},
        {"cases", D, D},
        {"cache", T | A | R | W | L, 0},
        {"class", T | A | R | W | L, 0},
    };
    const char *type = action_type_names[a->type];
    uint32_t line, column;

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const struct json *found = json_get(j, keys[i].key);

        if (!found && keys[i].must & 1 << a->type)
            return fields_missing(f, j, keys[i].key);
        if (!found || keys[i].may & 1 << a->type)
            continue;
        fields_key(f, found, &line, &column);
        return fail_at(f->err, WEND_E_PARSE, line, column,
                       "%s: type %s has no '%s'", fields_where(f), type,
                       keys[i].key);
    }
    if (a->type == ACTION_AGENT && !a->prompt && !a->params)
        return fields_missing(f, j, "prompt' or 'params");
    if (a->type == ACTION_RELIC && !memchr(a->target.ptr, '.', a->target.len))
        return fail_at(
            f->err, WEND_E_PARSE, a->target_line, a->target_column,
            "%s.target must be relic.endpoint, not '%.*s'", fields_where(f),
            (int)utf8_cut(a->target, FIELDS_QUOTED_MAX), a->target.ptr);
    return WEND_OK;
}

static wend_status read_action(struct fields *f, const struct json *j,
                               struct plan_action *a)
{
    static const char *const classes[] = {
        [WEND_CLASS_UNSAFE] = "unsafe",
        [WEND_CLASS_IDEMPOTENT] = "idempotent",
        [WEND_CLASS_READ] = "read",
        NULL,
    };
#define AT(member) .offset = offsetof(struct plan_action, member)
    static const struct field rows[] = {
        {"name", read_name, AT(name)},
        {"id", read_name, AT(id)},
        {"type", field_index, AT(type), .words = action_type_names},
        {"target", .read = read_target},
        {"mode", field_index, AT(mode), .words = action_mode_names},
        {"params", read_params, AT(params)},
        {"prompt", read_prompt, AT(prompt)},
        {"output_key", read_key, AT(output_key)},
        {"timeout", field_ms, AT(timeout_ms), .min = 1},
        {"retry", read_retry, AT(retry)},
        {"estimate", field_ms, AT(estimate_ms)},
        {"priority", field_number, AT(priority), .min = -1000000,
         .max = 1000000},
        {"cache", read_cache, AT(cache_ms)},
        {"class", field_index, AT(call_class), .words = classes},
        {"depends_on", read_mentions, AT(depends_on)},
        {"wait_for_all", field_bool, AT(wait_for_any)},
        {"when", read_when, AT(when)},
        {"skip_on_error", field_bool, AT(skip_on_error)},
        {"fallback", read_fallback, AT(fallback)},
        {"cases", .read = read_cases},
        {0},
    };
#undef AT
    wend_status s;

    a->wait_for_any = true; /* as wait_for_all, until all is read */
    s = fields_read(f, j, rows, a);
    a->wait_for_any = !a->wait_for_any;
    if (s)
        return s;
    if (!a->name.ptr && !a->id.ptr)
        return fields_missing(f, j, "name");
    if (!json_get(j, "type"))
        return fields_missing(f, j, "type");
    return check_type(f, j, a);
}

/* ---- Adding it ----------------------------------------------------------- */

static wend_status taken(struct plan_draft *d, const struct plan_action *other,
                         const struct json *at, wend_str name)
{
    return fail_at(d->f->err, WEND_E_PARSE, at->line, at->column,
                   "'%.*s' is already the name of the action in line %u",
                   (int)name.len, name.ptr, (unsigned)other->line);
}

static wend_status add_name(struct plan_draft *d, const struct json *at,
                            wend_str name)
{
    struct names *ids = &d->plan->ids;
    uint32_t before = ids->count, n = names_add(ids, name);

    if (n == NAME_NONE)
        return fail_nomem(d->f->err);
    if (n == before)
        d->id_action[n] = d->plan->count;
    else if (d->id_action[n] != d->plan->count)
        return taken(d, d->actions[d->id_action[n]], at, name);
    return WEND_OK;
}

static wend_status add_target(struct plan_draft *d, const struct plan_action *a)
{
    struct buf hint = {.mem = d->f->arena->mem};
    wend_status s = WEND_OK;

    if (d->options->knows && a->type != ACTION_DECISION &&
        !d->options->knows(d->options->ctx, a, &hint))
        s = fail_at(d->f->err, WEND_E_PARSE, a->target_line, a->target_column,
                    "unknown %s '%.*s'%.*s", action_type_names[a->type],
                    (int)utf8_cut(a->target, FIELDS_QUOTED_MAX), a->target.ptr,
                    (int)buf_view(&hint).len, buf_view(&hint).ptr);
    buf_free(&hint);
    return s;
}

wend_status draft_action(struct plan_draft *d, const struct json *j)
{
    struct plan_action *a = arena_alloc(d->f->arena, sizeof *a);
    const struct json *name = json_get(j, "name"), *id = json_get(j, "id");
    wend_status s;

    if (!a)
        return fail_nomem(d->f->err);
    *a = (struct plan_action){
        .timeout_ms = PLAN_TIMEOUT_DEFAULT_MS,
        .retry = {.delay_ms = 1000, .backoff = 2, .delay_max_ms = 30000},
        .estimate_ms = -1,
        .learned_ms = -1,
        .call_class = -1,
        .output_slot = NAME_NONE,
        .line = j->line,
        .column = j->column,
    };
    d->reader.refs = NULL;
    d->f->ctx = d;
    s = read_action(d->f, j, a);
    if (s)
        return s;
    a->refs = d->reader.refs;
    if (a->type == ACTION_LLM && !a->target.ptr)
        a->target = STR("default");
    a->name = a->name.ptr ? a->name : a->id;
    a->id = a->id.ptr ? a->id : a->name;
    d->actions[d->plan->count] = a;
    s = add_name(d, name ? name : id, a->name);
    if (!s)
        s = add_name(d, id ? id : name, a->id);
    if (!s)
        s = add_target(d, a);
    if (s)
        return s;
    if (a->output_key.ptr) {
        a->output_slot = names_add(&d->plan->keys, a->output_key);
        if (a->output_slot == NAME_NONE)
            return fail_nomem(d->f->err);
    }
    d->plan->count++;
    return WEND_OK;
}
