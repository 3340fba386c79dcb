/*
 * config.c - what an agent is, as recorded in run_start.config.
 */
#include "core/config/config.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/limits.h"
#include "core/event/event.h"
#include "core/media/media.h"
#include "core/policy/policy.h"

enum { CONTEXT_TOKENS_DEFAULT = 128000 };

const char *const approve_names[3] = {"ask", "deny", "all"};
const char *const unknown_names[UNKNOWNS] = {"tell", "stop", "ask", "retry",
                                             "verify"};
static const char *const eager_names[] = {"safe", "all", "off"};
const char *const effort_names[EFFORTS] = {"default", "none", "low", "medium",
                                           "high"};

int64_t tokens_estimate(size_t bytes)
{
    return (int64_t)(bytes + 3) / 4;
}

static int64_t i64_or(const struct json *j, int64_t otherwise)
{
    int64_t n;

    return json_i64(j, &n) ? n : otherwise;
}

/* The index of its word; the first one is the default. */
static int word_of(const struct json *j, const char *key,
                   const char *const *names, int count)
{
    int i = str_index(json_str(json_get(j, key)), names, count);

    return i < 0 ? 0 : i;
}

typedef wend_status (*item_fn)(const struct json *j, struct arena *a,
                               void *item, wend_error *err);

static const wend_risk class_risk[] = {
    [WEND_CLASS_UNSAFE] = WEND_RISK_HIGH,
    [WEND_CLASS_IDEMPOTENT] = WEND_RISK_MEDIUM,
    [WEND_CLASS_READ] = WEND_RISK_LOW,
};
static const wend_risk category_risk[] = {
    [WEND_CATEGORY_GENERAL] = WEND_RISK_LOW,
    [WEND_CATEGORY_NETWORK] = WEND_RISK_MEDIUM,
    [WEND_CATEGORY_DESTRUCTIVE] = WEND_RISK_HIGH,
};

static wend_risk sandbox_risk(const struct tool *t)
{
    return t->program && t->unprotected ? WEND_RISK_CRITICAL : WEND_RISK_LOW;
}

void layers_put(struct buf *b, const struct tool *t, bool permitted,
                bool path_ok, wend_risk path)
{
    const struct {
        const char *name;
        bool ok;
        wend_risk risk;
    } layers[] = {
        {"permission", permitted, class_risk[t->call_class]},
        {"category", true, category_risk[t->category]},
        {"path", path_ok, path},
        {"sandbox", true, sandbox_risk(t)},
    };

    for (size_t i = 0; i < 4; i++)
        buf_fmt(b, "%s{\"layer\":\"%s\",\"ok\":%s,\"risk\":\"%s\"}%s",
                i ? "," : "[", layers[i].name, layers[i].ok ? "true" : "false",
                risk_words.names[layers[i].risk], i == 3 ? "]" : "");
}

static wend_str layers(const struct tool *t, bool permitted, struct arena *a)
{
    struct buf b = {.mem = a->mem};

    layers_put(&b, t, permitted, true, WEND_RISK_LOW);
    return buf_keep(&b, a);
}

/* Agents refuse a schema that does not compile, so another version wrote this
 * log. It must still replay; a resume is refused (lib/run/resume.c). */
static const struct schema *schema_read(const struct json *json,
                                        struct arena *a, wend_str *text,
                                        wend_str *wrong)
{
    struct schema *schema = NULL;
    wend_error err = {0};
    wend_status s;

    if (!json || json->kind == JSON_NULL)
        return NULL;
    s = json->kind == JSON_OBJECT
            ? schema_compile(json, a, &schema, &err)
            : fail(&err, WEND_E_INVAL, "a JSON object is needed");
    if (s == WEND_E_NOMEM)
        a->failed = true;
    else if (s != WEND_OK)
        *wrong = arena_str(a, str_of(err.message));
    if (json->kind == JSON_OBJECT)
        *text = json_text(json, a);
    return schema;
}

/* The main argument where none is named: the first one of the schema that is
 * a string, however a call orders them. */
static wend_str first_string(const struct json *schema)
{
    const struct json *p = json_get(schema, "properties");

    for (p = p && p->kind == JSON_OBJECT ? p->first : NULL; p; p = p->next)
        if (str_is(json_str(json_get(p, "type")), "string"))
            return p->key;
    return STR_NONE;
}

/* Logs do not say the kind of a built-in tool's subject: its name does. */
static void read_kind(const struct json *j, struct tool *t)
{
    if (str_is(json_str(json_get(j, "source")), "builtin") &&
        tool_kind(t->name, &t->kind, &t->access))
        return;
    if (!json_is_true(json_get(j, "subject_is_path")))
        return;
    t->kind = SUBJECT_PATH;
    t->access =
        t->call_class == WEND_CLASS_READ ? ACCESS_READ : ACCESS_READ_WRITE;
}

/* What has no name is damaged. */
static wend_status named_or_fail(const struct json *j, const struct arena *a,
                                 bool named, const char *what, wend_error *err)
{
    if (a->failed)
        return fail_nomem(err);
    return named ? WEND_OK
                 : fail_at(err, WEND_E_PARSE, j->line, j->column,
                           "config: %s without a name", what);
}

static wend_status tool_read(const struct json *j, struct arena *a, void *item,
                             wend_error *err)
{
    struct tool *t = item;

    t->name = json_str(json_get(j, "name"));
    t->description = json_str(json_get(j, "description"));
    t->subject = json_str(json_get(j, "subject"));
    if (!t->subject.ptr)
        t->subject = first_string(json_get(j, "schema"));
    t->call_class = word_of(j, "class", class_words.names, class_words.count);
    t->category =
        word_of(j, "category", category_words.names, category_words.count);
    t->concurrent = json_is_true(json_get(j, "concurrent"));
    t->repeat_ok = json_is_true(json_get(j, "repeat_ok"));
    read_kind(j, t);
    t->timeout_ms = i64_or(json_get(j, "timeout_ms"), TOOL_TIMEOUT_DEFAULT_MS);
    t->child = json_is_true(json_get(j, "child"));
    t->program = json_is_true(json_get(j, "program"));
    t->server = str_is(json_str(json_get(j, "source")), "mcp");
    t->client = str_is(json_str(json_get(j, "source")), "client");
    t->verify = json_get(j, "verify") != NULL;
    t->own = json_is_true(json_get(j, "own"));
    t->unprotected = str_is(json_str(json_get(j, "sandbox")), "off");
    t->labels = labels_read(json_get(j, "labels"));
    t->risk = class_risk[t->call_class];
    if (category_risk[t->category] > t->risk)
        t->risk = category_risk[t->category];
    if (sandbox_risk(t) > t->risk)
        t->risk = sandbox_risk(t);
    t->layers_ok = layers(t, true, a);
    t->layers_denied = layers(t, false, a);
    t->schema = schema_read(json_get(j, "schema"), a, &t->schema_text,
                            &t->schema_wrong);
    if (str_is(json_str(json_get(j, "source")), "planner"))
        t->schema = NULL; /* reading the plan says better what is wrong */
    if (t->labels)
        t->labels_json = json_text(json_get(j, "labels"), a);
    return named_or_fail(j, a, t->name.ptr != NULL, "a tool", err);
}

/* An invalid price makes all of them unknown: a budget must not count half of
 * them. */
static void price_read(const struct json *j, struct price *out)
{
    static const char *const names[] = {"input", "cached", "output"};
    int64_t *const at[] = {&out->input, &out->cached, &out->output};

    out->known = true;
    for (int i = 0; i < 3; i++) {
        *at[i] = i64_or(json_get(j, names[i]), -1);
        out->known &= *at[i] >= 0 && *at[i] <= PRICE_NANO_MAX;
    }
    out->cache_write = i64_or(json_get(j, "cache_write"), -1);
    if (!out->known || out->cache_write > PRICE_NANO_MAX)
        *out = (struct price){0};
}

/* Text is accepted by every model. */
static uint32_t media_read(const struct json *j)
{
    uint32_t types = 1u << MEDIA_TEXT;

    if (!j || j->kind != JSON_ARRAY)
        return MEDIA_ANY;
    for (const struct json *one = j->first; one; one = one->next) {
        int type = str_index(json_str(one), media_type_names, MEDIA_TYPES);

        if (type >= 0)
            types |= 1u << type;
    }
    return types;
}

static void model_read(const struct json *j, struct arena *a,
                       struct model_use *out)
{
    out->name = json_str(json_get(j, "name"));
    out->spec = json_str(json_get(j, "model"));
    out->base_url = json_str(json_get(j, "base_url"));
    out->window_known = json_get(j, "context_tokens") != NULL;
    out->context_tokens =
        i64_or(json_get(j, "context_tokens"), CONTEXT_TOKENS_DEFAULT);
    out->output_tokens = i64_or(json_get(j, "output_tokens"), 0);
    out->output_max = i64_or(json_get(j, "output_max"), 0);
    price_read(json_get(j, "price"), &out->price);
    params_read(j, a, &out->params);
    out->media = media_read(json_get(j, "media"));
    out->aside = json_is_true(json_get(j, "aside"));
}

/* The model itself, then what is asked in its place. */
static bool models_read(const struct json *j, struct arena *a, struct config *c)
{
    const struct json *list = json_get(j, "fallback");
    size_t count =
        list && list->kind == JSON_ARRAY ? (size_t)list->count + 1 : 1;
    struct model_use *models = arena_alloc(a, count * sizeof *models);

    if (!models)
        return false;
    model_read(j, a, &models[0]);
    models[0].name = STR_NONE;
    c->models = models;
    c->models_count = 1;
    for (const struct json *m = count > 1 ? list->first : NULL; m; m = m->next)
        model_read(m, a, &models[c->models_count++]);
    assert(c->models_count == count);
    c->summary_at = config_model(c, json_str(json_get(j, "summary_model")));
    if (c->summary_at == c->models_count)
        c->summary_at = 0;
    return true;
}

static int tool_order(const void *a, const void *b)
{
    const struct tool *x = a, *y = b;

    return str_order(x->name, y->name);
}

/* Reads each item of `from` (NULL: none) into an element of `size` bytes;
 * `list` points to the pointer to the first one. */
static wend_status list_read(const struct json *from, size_t size, item_fn read,
                             struct arena *a, void *list, size_t *count,
                             wend_error *err)
{
    wend_status s = WEND_OK;
    char *items;

    if (!from || !from->count)
        return WEND_OK;
    items = arena_alloc(a, from->count * size);
    if (!items)
        return fail_nomem(err);
    memcpy(list, &items, sizeof items);
    for (const struct json *j = from->first; j && s == WEND_OK; j = j->next)
        s = read(j, a, items + size * (*count)++, err);
    return s;
}

static wend_status tools_read(const struct json *from, struct arena *a,
                              const struct tool **out, size_t *count,
                              wend_error *err)
{
    struct tool *tools = NULL;
    wend_status s =
        list_read(from, sizeof *tools, tool_read, a, &tools, count, err);

    if (s == WEND_OK && tools)
        qsort(tools, *count, sizeof *tools, tool_order);
    *out = tools;
    return s;
}

bool tool_name_ok(wend_str name)
{
    for (size_t i = 0; i < name.len; i++)
        if (!name.ptr[i] || !strchr("abcdefghijklmnopqrstuvwxyz"
                                    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                    "0123456789_.-",
                                    name.ptr[i]))
            return false;
    return name.len && name.len <= TOOL_NAME_MAX;
}

static wend_status rule_item(const struct json *j, struct arena *a, void *item,
                             wend_error *err)
{
    (void)a;
    return rule_parse(json_str(j), item, err);
}

static wend_status label_item(const struct json *j, struct arena *a, void *item,
                              wend_error *err)
{
    (void)a;
    return label_row_parse(json_str(j), item, err);
}

/* A policy's rules and mode. */
static wend_status restraint_read(const struct json *policy, struct arena *a,
                                  void *item, wend_error *err)
{
    struct restraint *out = item;
    wend_status s = list_read(
        json_get(policy, "labels"), sizeof *out->label_rows.list, label_item, a,
        &out->label_rows.list, &out->label_rows.count, err);

    out->approve = word_of(policy, "approve", approve_names, 3);
    return s == WEND_OK
               ? list_read(json_get(policy, "rules"), sizeof *out->rules,
                           rule_item, a, &out->rules, &out->rules_count, err)
               : s;
}

/* ---- Children ------------------------------------------------------------ */

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

static bool names_limits(const struct json *list)
{
    const struct json *j = list ? list->first : NULL;

    while (j && !str_is(json_str(j), "limits"))
        j = j->next;
    return j;
}

/* An action of a plan may be of any class, whatever its agent's tools are. */
static wend_status child_read(const struct json *j, struct arena *a, void *item,
                              wend_error *err)
{
    struct child_config *k = item;
    const struct json *config = json_get(j, "config");

    k->name = json_str(json_get(j, "name"));
    k->agent = json_str(json_get(j, "agent"));
    k->model = json_str(json_get(j, "model"));
    k->config_json = json_text(config, a);
    k->plan_json = json_text(json_get(j, "plan"), a);
    limits_read(json_get(j, "limits"), &k->limits);
    k->limits_above = names_limits(json_get(j, "inherits"));
    k->reads = !k->plan_json.ptr;
    k->notes_off = str_is(json_str(json_get(config, "notes")), "off");
    tools_look(config, k);
    return named_or_fail(j, a, k->name.ptr && k->config_json.ptr, "an agent",
                         err);
}

static wend_status within_read(const struct json *j, struct arena *a,
                               struct within *w, wend_error *err)
{
    w->depth = i64_or(json_get(j, "depth"), 0);
    if (w->depth < 0)
        w->depth = 0;
    w->labels = labels_read(json_get(j, "labels"));
    return list_read(json_get(j, "policies"), sizeof *w->bounds, restraint_read,
                     a, &w->bounds, &w->bounds_count, err);
}

/* ---- All of it ----------------------------------------------------------- */

static const struct tool *named(const struct tool *list, size_t count,
                                wend_str name)
{
    struct tool key = {.name = name};

    if (!name.ptr || !count)
        return NULL;
    return bsearch(&key, list, count, sizeof *list, tool_order);
}

/* A model that writes plans is told how, after its instructions. */
static void planner_read(wend_str words, struct arena *a, struct config *c)
{
    struct buf b = {.mem = a->mem};

    if (!words.ptr || a->failed) /* then there may be no tools */
        return;
    c->plan_tool = config_tool(c, STR("plan"));
    buf_str(&b, c->instructions);
    buf_cstr(&b, c->instructions.len ? "\n\n" : "");
    buf_str(&b, words);
    c->instructions = buf_keep(&b, a);
}

wend_status config_parse(wend_str json, struct arena *a, struct config **out,
                         wend_error *err)
{
    struct config *c = arena_alloc(a, sizeof *c);
    struct json *j;
    wend_status s;

    if (!c)
        return fail_nomem(err);
    c->json = arena_str(a, json);
    j = c->json.ptr ? json_parse_own(c->json, a, err) : NULL;
    if (!j)
        return a->failed ? fail_nomem(err) : WEND_E_PARSE;
    c->instructions = json_str(json_get(j, "instructions"));
    c->root = json_str(json_get(j, "root"));
    c->eager = word_of(j, "eager", eager_names, 3);
    c->effort = word_of(j, "effort", effort_names, EFFORTS);
    c->guarded = json_get(j, "guarded");
    c->secret_files = json_get(j, "secret_files");
    c->hooks = json_is_true(json_get(j, "hooks"));
    c->max_history = i64_or(json_get(j, "max_history"), 0);
    c->no_tool_calls = json_is_true(json_get(j, "no_tool_calls"));
    c->no_compaction = str_is(json_str(json_get(j, "compaction")), "off");
    c->loop_off = str_is(json_str(json_get(j, "loop")), "off");
    c->on_unknown =
        word_of(json_get(j, "policy"), "on_unknown", unknown_names, UNKNOWNS);
    if (!models_read(j, a, c))
        return fail_nomem(err);
    c->schema = schema_read(json_get(j, "schema"), a, &c->schema_text,
                            &c->schema_wrong);
    s = tools_read(json_get(j, "tools"), a, &c->tools, &c->tools_count, err);
    if (s == WEND_OK)
        s = tools_read(json_get(j, "endpoints"), a, &c->endpoints,
                       &c->endpoints_count, err);
    if (s == WEND_OK && c->tools_count && !c->no_tool_calls &&
        !c->no_compaction && !config_tool(c, result_reader.name))
        c->reader = &result_reader;
    if (s == WEND_OK)
        planner_read(json_str(json_get(j, "planner")), a, c);
    if (s == WEND_OK)
        s = restraint_read(json_get(j, "policy"), a, &c->own, err);
    if (s == WEND_OK)
        s = list_read(json_get(j, "agents"), sizeof *c->children, child_read, a,
                      &c->children, &c->children_count, err);
    if (s == WEND_OK)
        s = within_read(json_get(j, "within"), a, &c->within, err);
    if (s != WEND_OK)
        return s;
    frame_fixed(c, a, &c->frame);
    if (a->failed)
        return fail_nomem(err);
    *out = c;
    return WEND_OK;
}

const struct tool *config_tool(const struct config *c, wend_str name)
{
    if (c->reader && str_eq(name, c->reader->name))
        return c->reader;
    return named(c->tools, c->tools_count, name);
}

bool is_plan_tool(const struct config *c, wend_str name)
{
    return c->plan_tool && str_eq(c->plan_tool->name, name);
}

const struct model_use *config_unpriced(const struct config *c)
{
    for (uint32_t i = 0; i < c->models_count; i++)
        if (!c->models[i].price.known &&
            !str_starts(c->models[i].spec, "script:"))
            return &c->models[i];
    return NULL;
}

const struct tool *config_endpoint(const struct config *c, wend_str name)
{
    return named(c->endpoints, c->endpoints_count, name);
}

uint32_t config_model(const struct config *c, wend_str name)
{
    uint32_t i;

    if (str_is(name, "default"))
        return 0;
    for (i = 1; i < c->models_count; i++)
        if (str_eq(c->models[i].name, name))
            return i;
    for (i = 0; i < c->models_count; i++)
        if (str_eq(c->models[i].spec, name))
            break;
    return i;
}

const struct child_config *config_child(const struct config *c, wend_str name)
{
    for (size_t i = 0; name.ptr && i < c->children_count; i++)
        if (str_eq(c->children[i].name, name))
            return &c->children[i];
    return NULL;
}
