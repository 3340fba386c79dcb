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
        ok = is_word(name.ptr[i]) || name.ptr[i] == '-';
    return ok;
}

bool plan_key_ok(wend_str name)
{
    return name_ok(name) && !memchr(name.ptr, '-', name.len);
}

static FIELD_READ(read_name)
{
    *(wend_str *)at = json_str(j);
    return name_ok(json_str(j))
               ? WEND_OK
               : fields_wrong(
                     f, j,
                     "a letter, then letters, digits, _ and - (at most 64)");
}

static FIELD_READ(read_key)
{
    *(wend_str *)at = json_str(j);
    return plan_key_ok(json_str(j))
               ? WEND_OK
               : fields_wrong(
                     f, j, "a letter, then letters, digits and _ (at most 64)");
}

static FIELD_READ(read_mention)
{
    struct plan_name *n = at;

    n->line = j->line;
    n->column = j->column;
    return field_name(f, field, j, &n->text);
}

#define MENTIONS(type, member) \
    field_list, FIELD_ITEMS(type, member.list, read_mention, PLAN_ACTIONS_MAX)

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
    return fail_at(f->err, s, line, column, "%s: %.300s", fields_where(f),
                   why.message);
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

/* A workflow has a mapping from inputs. */
static FIELD_READ(read_files)
{
    return j->kind == JSON_OBJECT ? field_map(f, field, j, at)
                                  : field_list(f, field, j, at);
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

#define AT(member) .offset = offsetof(struct plan_retry, member)
static const struct field retry_rows[] = {
    {"max", field_number, AT(max), .max = PLAN_RETRIES_MAX, .needed = true},
    {"delay", field_ms, AT(delay_ms)},
    {"backoff", read_backoff, AT(backoff)},
    {"max_delay", field_ms, AT(delay_max_ms)},
    {0},
};
#undef AT

static const struct field cache_rows[] = {
    {"ttl", .read = field_ms, .min = 1, .needed = true},
    {0},
};

/* `else` and `then` go to one place: a case has either. */
static FIELD_READ(read_case)
{
    static const struct field rows[] = {
        {"when", read_when, .offset = offsetof(struct plan_case, when)},
        {"then", MENTIONS(struct plan_case, then)},
        {"else", MENTIONS(struct plan_case, then)},
        {0},
    };
    wend_status s = fields_read(f, j, rows, at);

    if (s)
        return s;
    if (json_get(j, "else")) {
        if (j->count > 1)
            return fields_fail(f, j, "%s has 'else', which stands alone",
                               fields_where(f));
        return j->next ? fields_fail(f, j, "%s is 'else', which comes last",
                                     fields_where(f))
                       : WEND_OK;
    }
    if (!json_get(j, "when"))
        return fields_missing(f, j, "when' and 'then', or 'else");
    return json_get(j, "then") ? WEND_OK : fields_missing(f, j, "then");
}

static FIELD_READ(read_cases)
{
    struct plan_action *a = container_of(at, struct plan_action, cases);
    struct {
        struct plan_case *list;
        size_t count;
    } cases = {NULL, 0};
    wend_status s = field_list(f, field, j, &cases);
    uint32_t names = 0;

    for (size_t i = 0; i < cases.count; i++) {
        cases.list[i].first = names;
        names += (uint32_t)cases.list[i].then.count;
    }
    a->cases = cases.list;
    a->cases_count = cases.count;
    return s;
}

/* ---- An action ----------------------------------------------------------- */

static FIELD_READ(read_target)
{
    struct plan_action *a = at;

    a->target_line = j->line;
    a->target_column = j->column;
    return field_name(f, field, j, &a->target);
}

/* Which keys belong to which type: one that means nothing is a mistake. */
enum {
    LLM = 1 << ACTION_LLM,
    AGENT = 1 << ACTION_AGENT,
    WORKFLOW = 1 << ACTION_WORKFLOW,
    DECIDES = 1 << ACTION_DECISION,
    CALLS = 1 << ACTION_TOOL | AGENT | 1 << ACTION_RELIC | WORKFLOW,
};

static const char *const classes[] = {
    [WEND_CLASS_UNSAFE] = "unsafe",
    [WEND_CLASS_IDEMPOTENT] = "idempotent",
    [WEND_CLASS_READ] = "read",
    NULL,
};

#define AT(member) .offset = offsetof(struct plan_action, member)
static const struct field action_rows[] = {
    {"name", read_name, AT(name)},
    {"id", read_name, AT(id)},
    {"type", field_index, AT(type), .words = action_type_names},
    {"target", .read = read_target, .kinds = CALLS | LLM, .must = CALLS},
    {"mode", field_index, AT(mode), .words = action_mode_names},
    {"params", read_params, AT(params), .kinds = CALLS | LLM},
    {"prompt", read_prompt, AT(prompt), .kinds = AGENT | LLM, .must = LLM},
    {"files", read_files,
     FIELD_ITEMS(struct plan_action, files.list, draft_file, ACTION_FILES_MAX),
     .kinds = AGENT | LLM | WORKFLOW},
    {"output_key", read_key, AT(output_key)},
    {"timeout", field_ms, AT(timeout_ms), .min = 1},
    {"retry", field_mapping, AT(retry), .rows = retry_rows},
    {"estimate", field_ms, AT(estimate_ms)},
    {"priority", field_number, AT(priority), .min = -1000000, .max = 1000000},
    {"cache", field_mapping, AT(cache_ms), .rows = cache_rows,
     .kinds = CALLS | LLM},
    {"class", field_index, AT(call_class), .words = classes,
     .kinds = CALLS | LLM},
    {"depends_on", MENTIONS(struct plan_action, depends_on)},
    {"wait_for_all", field_bool, AT(wait_for_any)},
    {"when", read_when, AT(when)},
    {"skip_on_error", field_bool, AT(skip_on_error)},
    {"fallback", read_mention, AT(fallback)},
    {"cases", read_cases,
     FIELD_ITEMS(struct plan_action, cases, read_case, UINT32_MAX),
     .kinds = DECIDES, .must = DECIDES},
    {0},
};
#undef AT

/* The parameters of a model; the API of the model is checked later. */
static wend_status read_asks(struct fields *f, const struct json *params,
                             struct params *out)
{
    for (const struct json *j = params ? params->first : NULL; j; j = j->next) {
        int p = param_find(j->key);
        const char *wrong = p < 0 ? NULL : param_wrong((enum param)p, j);
        char hint[STR_HINT_BYTES];

        if (p < 0)
            return fields_fail_key(
                f, j, "%s.params: a model has no parameter '%.*s'%s",
                fields_where(f), UTF8_ARGS(j->key, FIELDS_QUOTED_MAX),
                str_hint(hint, str_of(str_near(j->key, asked_names, PARAMS))));
        if (wrong)
            return fields_fail(f, j, "%s.params.%s must be %s", fields_where(f),
                               asked_names[p], wrong);
        out->value[p] = param_text((enum param)p, j, f->arena);
    }
    return f->arena->failed ? fail_nomem(f->err) : WEND_OK;
}

static wend_status read_action(struct fields *f, const struct json *j,
                               struct plan_action *a)
{
    wend_status s;

    a->wait_for_any = true; /* as wait_for_all, until all is read */
    s = fields_read(f, j, action_rows, a);
    a->wait_for_any = !a->wait_for_any;
    if (!s && !a->name.ptr && !a->id.ptr)
        s = fields_missing(f, j, "name");
    if (!s && !json_get(j, "type"))
        s = fields_missing(f, j, "type");
    if (!s)
        s = fields_of_kind(f, j, action_rows, "type", action_type_names,
                           a->type);
    if (!s && a->type == ACTION_LLM)
        s = read_asks(f, json_get(j, "params"), &a->asks);
    if (!s && json_get(j, "files"))
        s = draft_files(f, j, a);
    if (!s && a->type == ACTION_AGENT && !a->prompt && !a->params)
        s = fields_missing(f, j, "prompt' or 'params");
    if (!s && a->type == ACTION_RELIC &&
        !memchr(a->target.ptr, '.', a->target.len))
        s = fields_fail(f, json_get(j, "target"),
                        "%s.target must be relic.endpoint, not '%.*s'",
                        fields_where(f),
                        UTF8_ARGS(a->target, FIELDS_QUOTED_MAX));
    return s;
}

/* ---- Adding it ----------------------------------------------------------- */

static bool add_name(struct plan_draft *d, const struct json *at, wend_str name)
{
    struct names *ids = &d->plan->ids;
    uint32_t before = ids->count, n = names_add(ids, name);

    if (n == NAME_NONE)
        return !fail_nomem(d->f->err);
    if (n == before)
        d->id_action[n] = d->plan->count;
    return d->id_action[n] == d->plan->count ||
           !fields_fail(
               d->f, at, "'%.*s' is already the name of the action in line %u",
               STR_ARGS(name), (unsigned)d->actions[d->id_action[n]]->line);
}

static bool check_target(struct plan_draft *d, const struct plan_action *a)
{
    struct buf hint = {.mem = d->f->arena->mem};
    bool ok = !d->options->knows || a->type == ACTION_DECISION ||
              d->options->knows(d->options->ctx, a, &hint);

    if (!ok)
        fail_at(d->f->err, WEND_E_PARSE, a->target_line, a->target_column,
                "unknown %s '%.*s'%.*s", action_type_names[a->type],
                UTF8_ARGS(a->target, FIELDS_QUOTED_MAX),
                STR_ARGS(buf_view(&hint)));
    buf_free(&hint);
    return ok;
}

static bool add_key(struct plan_draft *d, struct plan_action *a)
{
    a->output_slot = a->output_key.ptr
                         ? names_add(&d->plan->keys, a->output_key)
                         : NAME_NONE;
    return !a->output_key.ptr || a->output_slot != NAME_NONE ||
           !fail_nomem(d->f->err);
}

bool draft_action(struct plan_draft *d, const struct json *j)
{
    struct plan_action *a = arena_alloc(d->f->arena, sizeof *a);
    const struct json *name = json_get(j, "name"), *id = json_get(j, "id");

    if (!a)
        return !fail_nomem(d->f->err);
    *a = (struct plan_action){
        .timeout_ms = PLAN_TIMEOUT_DEFAULT_MS,
        .retry = {.delay_ms = 1000, .backoff = 2, .delay_max_ms = 30000},
        .estimate_ms = -1,
        .learned_ms = -1,
        .call_class = -1,
        .line = j->line,
        .column = j->column,
    };
    d->reader.refs = NULL;
    d->f->ctx = d;
    if (read_action(d->f, j, a) != WEND_OK)
        return false;
    a->refs = d->reader.refs;
    if (a->type == ACTION_LLM)
        a->target = str_or(a->target, "default");
    a->name = a->name.ptr ? a->name : a->id;
    a->id = a->id.ptr ? a->id : a->name;
    d->actions[d->plan->count] = a;
    if (!add_name(d, name ? name : id, a->name) ||
        !add_name(d, id ? id : name, a->id) || !check_target(d, a) ||
        !add_key(d, a))
        return false;
    d->plan->count++;
    return true;
}
