/*
 * agent.c - a model, instructions, tools and limits.
 *
 * The JSON that goes into run_start.config says all that an agent is; beside
 * it are only the means to act: tool functions and the driver.
 */
#include "lib/mcp/mcp.h"
#include "lib/plan/plan.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/label.h"
#include "base/utf8.h"
#include "core/policy/policy.h"
#include "host/path.h"
#include "lib/run/child.h"

static const char *const eager_names[] = {"safe", "all", "off"};

/* ---- Options ------------------------------------------------------------- */

static wend_status check_options(const wend_agent_options *o, wend_error *err)
{
    if (!o->model)
        return fail(err, WEND_E_INVAL, "agent: options.model is NULL");
    if ((unsigned)o->eager > WEND_EAGER_OFF ||
        (unsigned)o->approve > WEND_APPROVE_ALL ||
        (unsigned)o->effort > WEND_EFFORT_HIGH ||
        (unsigned)o->on_unknown > WEND_UNKNOWN_VERIFY)
        return fail(err, WEND_E_INVAL,
                    "agent: eager, approve, effort or on_unknown is invalid");
    if (o->limits.parallel > PARALLEL_MAX)
        return fail(err, WEND_E_LIMIT, "agent: parallel is over %d",
                    PARALLEL_MAX);
    if (o->limits.time_ms < 0 || o->limits.tokens < 0 ||
        o->model_timeout_ms < 0 || o->limits.cost_nano < 0 ||
        o->context_tokens < 0)
        return fail(err, WEND_E_INVAL, "agent: a limit is below 0");
    for (size_t i = 0; i < o->rules_count; i++) {
        wend_str text = str_of(o->rules ? o->rules[i] : NULL);

        if (!text.ptr)
            return fail(err, WEND_E_INVAL, "agent: rule %zu is NULL", i);
        /* Repaired it would match something else. */
        if (utf8_valid_len(text) != text.len)
            return fail(err, WEND_E_INVAL, "agent: rule %zu is not UTF-8", i);
    }
    return WEND_OK;
}

void agent_cut(struct buf *b, size_t len)
{
    b->len = len;
    b->failed = false;
    if (b->ptr)
        b->ptr[len] = 0;
}

void agent_put(struct buf *b, const char *key, const char *value)
{
    struct buf clean = {.mem = b->mem};

    utf8_repair(&clean, str_of(value));
    json_add_str(b, key, buf_view(&clean));
    b->failed |= clean.failed;
    buf_free(&clean);
}

static void put_strings(struct buf *b, const char *key, const char *const *list,
                        size_t count)
{
    json_open(b, key, '[');
    for (size_t i = 0; i < count; i++)
        json_add_str(b, NULL, str_of(list[i]));
    json_close(b, ']');
}

void agent_put_list(struct buf *b, const char *key, const char *const *list,
                    size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (utf8_valid_len(str_of(list[i])) != strlen(list[i]))
            return; /* repaired it would name something else */
    if (count)
        put_strings(b, key, list, count);
}

wend_status agent_put_schema(struct buf *b, const char *text, const char *of,
                             wend_error *err)
{
    struct arena a = {.mem = b->mem};
    wend_error why = {0};
    struct json *j = json_parse(str_of(text), &a, &why);
    struct schema *schema;
    wend_status s = WEND_OK;

    if (j && j->kind != JSON_OBJECT)
        s = fail_at(err, WEND_E_INVAL, j->line, j->column,
                    "%s: schema: a JSON object is needed", of);
    else if (!j || schema_compile(j, &a, &schema, &why) != WEND_OK)
        s = fail_at(err, why.status, why.line, why.column, "%s: schema: %.*s",
                    of, (int)utf8_cut(str_of(why.message), 400), why.message);
    else
        json_put(b, j);
    arena_free(&a);
    return s;
}

/* Hosts that tools may reach; the log has them, too. */
static wend_status put_network(wend_agent *a, const wend_agent_options *o,
                               wend_error *err)
{
    wend_status s = WEND_OK;

    a->web = (struct web_env){
        .network = &a->network,
        .ca_file = arena_str(&a->arena, str_of(o->ca_file)).ptr,
        .insecure_http = o->insecure_http,
        .secrets = a->keys,
        .secrets_count = &a->keys_count,
    };
    for (size_t i = 0; i < o->network_count && s == WEND_OK; i++)
        s = network_add(&a->network, str_of(o->network ? o->network[i] : NULL),
                        &a->arena, err);
    if (s == WEND_OK && o->network_count)
        put_strings(&a->rest_json, "network", o->network, o->network_count);
    return s;
}

static wend_status check_label_rows(const wend_agent_options *o,
                                    wend_error *err)
{
    for (size_t i = 0; i < o->label_rows_count; i++) {
        wend_str text = str_of(o->label_rows ? o->label_rows[i] : NULL);
        struct label_row row;
        wend_error why = {0};

        if (!text.ptr || utf8_valid_len(text) != text.len)
            return fail(err, WEND_E_INVAL,
                        "agent: label row %zu is NULL or not UTF-8", i);
        if (label_row_parse(text, &row, &why) != WEND_OK)
            return fail(err, WEND_E_INVAL, "agent: label row %.450s",
                        why.message);
    }
    return WEND_OK;
}

static wend_status put_rest(wend_agent *a, const wend_agent_options *o,
                            wend_error *err)
{
    struct buf *b = &a->rest_json;
    wend_status s;

    agent_put(b, "instructions", o->instructions ? o->instructions : "");
    s = agent_models(a, o, err);
    if (s != WEND_OK)
        return s;
    json_open(b, "policy", '{');
    json_add_str(b, "approve", str_of(approve_names[o->approve]));
    if (o->on_unknown)
        json_add_str(b, "on_unknown", str_of(unknown_names[o->on_unknown]));
    put_strings(b, "rules", o->rules, o->rules_count);
    s = check_label_rows(o, err);
    if (s != WEND_OK)
        return s;
    if (o->label_rows_count)
        put_strings(b, "labels", o->label_rows, o->label_rows_count);
    json_close(b, '}');
    if (o->memory_user)
        json_add_raw(b, "memory", STR("{\"scope\":\"user\"}"));
    if (o->project == WEND_PROJECT_OFF)
        json_add_str(b, "notes", STR("off"));
    json_add_str(b, "sandbox", o->sandbox_off ? STR("off") : STR("on"));
    json_add_str(b, "eager", str_of(eager_names[o->eager]));
    if (o->loop_off)
        json_add_str(b, "loop", STR("off"));
    if (o->effort)
        json_add_str(b, "effort", str_of(effort_names[o->effort]));
    if (o->max_history)
        json_add_i64(b, "max_history", o->max_history);
    if (o->max_memories)
        json_add_i64(b, "max_memories", o->max_memories);
    if (o->compaction_off)
        json_add_str(b, "compaction", STR("off"));
    agent_put_list(b, "guarded", o->guarded, o->guarded_count);
    if (o->key_file)
        agent_put_list(b, "secret_files", &o->key_file, 1);
    s = put_network(a, o, err);
    if (s != WEND_OK || !o->schema)
        return s;
    json_key(b, "schema");
    return agent_put_schema(b, o->schema, "agent", err);
}

static wend_status set_cwd(wend_agent *a, const char *cwd, wend_error *err)
{
    char *path = cwd ? realpath(cwd, NULL) : getcwd(NULL, 0);

    if (!path && errno == ENOMEM)
        return fail_nomem(err);
    if (!path)
        return fail(err, WEND_E_NOTFOUND, "agent: working directory %s: %s",
                    cwd ? cwd : "of the process", strerror(errno));
    a->root = arena_str(&a->arena, str_of(path));
    a->cwd = utf8_keep(str_of(path), &a->arena);
    free(path);
    return a->arena.failed ? fail_nomem(err) : WEND_OK;
}

/* ---- Life ---------------------------------------------------------------- */

wend_status agent_enter(const wend_agent *a, const char *what, wend_error *err)
{
    if (!a)
        return fail(err, WEND_E_INVAL, "%s: the agent is NULL", what);
    if (forked_check(a->process, err) != WEND_OK)
        return WEND_E_MISUSE;
    if (!a->rt)
        return fail(err, WEND_E_MISUSE, "%s: the agent's runtime is gone",
                    what);
    return rt_enter_for(a->rt, what, err);
}

/* libcurl obeys the variable; a reader of the run should know. */
static void tell_keylog(wend_agent *a)
{
    const char *file = getenv("SSLKEYLOGFILE");
    struct trouble t = {.warning = true,
                        .code = STR("tls_keys_logged"),
                        .component = STR("http")};
    struct buf text = {.mem = &a->mem};

    if (!file || !*file)
        return;
    buf_cstr(&text, "SSLKEYLOGFILE is set: the keys of TLS connections are "
                    "written to ");
    utf8_repair(&text, str_of(file));
    buf_cstr(&text, "; a reader of that file can read keys and prompts");
    t.message = buf_view(&text);
    if (!text.failed)
        agent_trouble(a, &t, true);
    buf_free(&text);
}

wend_status wend_agent_new(wend_runtime *rt, const wend_agent_options *options,
                           wend_agent **out, wend_error *err)
{
    wend_agent_options taken, *o = &taken;
    wend_status s = rt_enter_for(rt, "agent", err);
    wend_agent *a;

    if (s == WEND_OK)
        s = rt_check_store(rt, err);
    if (s != WEND_OK)
        return s;
    if (!out || !options || !OPTIONS_TAKE(o, wend_agent_options, cwd, options))
        return fail(err, WEND_E_INVAL,
                    "agent: out or options is NULL, or options.size is wrong");
    s = check_options(o, err);
    if (s != WEND_OK)
        return s;
    a = mem_zalloc(&rt->mem, sizeof *a);
    if (!a)
        return fail_nomem(err);
    a->rt = rt;
    a->process = rt->process;
    a->mailbox = rt->mailbox;
    mailbox_ref(a->mailbox);
    a->mem = rt->mem;
    a->prev = &rt->agents;
    a->next = rt->agents;
    if (a->next)
        a->next->prev = &a->next;
    rt->agents = a;
    a->arena.mem = a->rest_json.mem = a->relics_json.mem = &a->mem;
    a->tools.json.mem = a->endpoints.json.mem = a->clients.json.mem = &a->mem;
    a->name = utf8_keep(str_of(o->name ? o->name : "agent"), &a->arena);
    a->sandbox_off = o->sandbox_off;
    a->memory_user = o->memory_user;
    a->max_memories = o->max_memories;
    a->project = o->project;
    a->tape_plays = o->playback_dir != NULL;
    a->tape_dir = arena_str(
        &a->arena, str_of(o->record_dir ? o->record_dir : o->playback_dir));
    a->limits.turns = o->limits.turns ? o->limits.turns : TURNS_DEFAULT;
    a->parallel_given = o->limits.parallel != 0;
    a->limits.parallel =
        o->limits.parallel ? o->limits.parallel : PARALLEL_DEFAULT;
    a->limits.time_ms = o->limits.time_ms;
    a->limits.tokens = o->limits.tokens;
    a->limits.cost_nano = o->limits.cost_nano;
    s = put_rest(a, o, err);
    if (s == WEND_OK)
        s = set_cwd(a, o->cwd, err);
    for (size_t i = 0; s == WEND_OK && i < o->rules_count; i++)
        s = rule_check(str_of(o->rules[i]), a->cwd, err);
    if (s == WEND_OK && (a->arena.failed || a->rest_json.failed))
        s = fail_nomem(err);
    if (s != WEND_OK) {
        agent_drop(a);
        return s;
    }
    a->model = a->driver->model;
    tell_keylog(a);
    *out = a;
    return WEND_OK;
}

/* Frees all but the handle, which the host frees. */
void agent_detach(wend_agent *a)
{
    assert(a->rt);
    agent_drop_servers(a);
    agent_drop_children(a);
    past_free(a->past);
    a->keys_count = 0; /* they go with the driver */
    if (a->driver)
        a->driver->ops->free(a->driver);
    workplace_unref(a->place);
    for (struct agent_tool *t = a->tools.first; t; t = t->next) {
        answers_free(&t->answers, &a->mem);
        kept_unref(t->kept);
    }
    buf_free(&a->tools.json);
    buf_free(&a->endpoints.json);
    buf_free(&a->clients.json);
    buf_free(&a->relics_json);
    buf_free(&a->rest_json);
    arena_free(&a->arena);
    *a->prev = a->next;
    if (a->next)
        a->next->prev = a->prev;
    a->rt = NULL;
}

static void destroy(wend_agent *a)
{
    struct mailbox *box = a->mailbox;
    struct mem m = a->mem;

    if (a->rt)
        agent_detach(a);
    mem_free(&m, a);
    mailbox_unref(box);
}

void agent_drop(wend_agent *a)
{
    assert(!a->gone); /* once */
    a->gone = true;   /* its runs still borrow it */
    if (!a->runs)
        destroy(a);
}

void agent_release(wend_agent *a)
{
    assert(a->runs);
    a->runs--;
    if (a->gone && !a->runs)
        destroy(a);
}

/* ---- Tools --------------------------------------------------------------- */

struct agent_tool *tool_named(const struct tool_set *set, wend_str name)
{
    struct agent_tool *t = set->first;

    while (t && !str_eq(t->name, name))
        t = t->next;
    return t;
}

struct agent_tool *agent_tool(const wend_agent *a, wend_str name)
{
    return tool_named(&a->tools, name);
}

struct agent_tool *relic_endpoint(const wend_agent *a, wend_str target)
{
    return tool_named(&a->endpoints, target);
}

void agent_changed(wend_agent *a)
{
    memset(a->configs, 0, sizeof a->configs);
}

wend_status agent_config(wend_agent *a, unsigned mode, wend_error *err)
{
    struct arena scratch = {.mem = &a->rt->mem};
    struct buf b = {.mem = &a->rt->mem};
    wend_status s = a->configs[mode] ? WEND_OK : agent_children_ready(a, err);
    wend_str json;

    assert(mode < RUN_MODES);
    if (a->configs[mode] || s != WEND_OK)
        return s;
    json_open(&b, NULL, '{');
    buf_str(&b, buf_view(&a->rest_json));
    agent_put(&b, "root", a->cwd.ptr);
    json_open(&b, "tools", '[');
    buf_str(&b, buf_view(&a->tools.json));
    if (a->clients.count && !(mode & RUN_UNFOLLOWED))
        json_add_raw(&b, NULL, buf_view(&a->clients.json));
    if (a->offers_task)
        agent_put_task(a, &b);
    if (mode & RUN_PLANS)
        planner_put_tool(a, &b);
    json_close(&b, ']');
    if (a->endpoints.count) {
        json_open(&b, "endpoints", '[');
        buf_str(&b, buf_view(&a->endpoints.json));
        json_close(&b, ']');
        json_open(&b, "relics", '[');
        buf_str(&b, buf_view(&a->relics_json));
        json_close(&b, ']');
    }
    agent_put_servers(a, &b);
    agent_put_children(a, &b);
    if (mode & RUN_PLANS)
        s = planner_put(a, &b, err);
    if (mode & RUN_HOOKS)
        json_add_bool(&b, "hooks", true);
    json_close(&b, '}');
    /* A key in instructions or in a program's arguments must not be stored. */
    json = agent_blank(a, buf_view(&b), &scratch);
    if (b.failed || scratch.failed)
        s = fail_nomem(err);
    if (s == WEND_OK)
        s = config_parse(json, &a->arena, &a->configs[mode], err);
    if (s == WEND_E_NOMEM)
        a->arena.failed = false; /* the next run may find memory */
    arena_free(&scratch);
    buf_free(&b);
    return s;
}

const wend_tool_info *wend_agent_tool(wend_agent *a, size_t i)
{
    const struct tool *t;

    if (agent_enter(a, "tool", NULL) != WEND_OK ||
        agent_config(a, 0, NULL) != WEND_OK || i >= a->configs[0]->tools_count)
        return NULL;
    t = &a->configs[0]->tools[i];
    a->info = (wend_tool_info){.name = t->name,
                               .description = t->description,
                               .schema = t->schema_text,
                               .call_class = t->call_class,
                               .category = t->category,
                               .labels = t->labels,
                               .concurrent = t->concurrent ||
                                             t->call_class == WEND_CLASS_READ};
    return &a->info;
}
