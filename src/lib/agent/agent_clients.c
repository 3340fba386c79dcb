/*
 * agent_clients.c - client-side tools of one run: what its caller declares
 * joins the tools of the agent in run_start.config, so that the log alone says
 * what the model was offered.
 */
#include "base/fail.h"
#include "base/fields.h"
#include "base/utf8.h"
#include "lib/agent/agent.h"

/* A tool in wend_run_options.client_tools. */
struct client_tool {
    wend_str name, description, schema;
};

struct client_list {
    struct client_tool *list;
    size_t count;
};

static FIELD_READ(read_tool)
{
    static const struct field rows[] = {
        {"name", field_cstr, .offset = offsetof(struct client_tool, name),
         .needed = true},
        {"description", field_cstr,
         .offset = offsetof(struct client_tool, description)},
        {"schema", field_json, .offset = offsetof(struct client_tool, schema)},
        {0},
    };

    return fields_read(f, j, rows, at);
}

static wend_status read_list(wend_str json, struct arena *a,
                             struct client_list *out, wend_error *err)
{
    static const struct field row = {
        FIELD_ITEMS(struct client_list, list, read_tool, CLIENT_TOOLS_MAX)};
    wend_error why = {0};
    struct fields f = {.arena = a, .err = &why, .whole = "the list"};
    wend_status s;

    if (json.len > CLIENT_TOOLS_BYTES_MAX)
        return fail(err, WEND_E_LIMIT, "run: client_tools is over %d bytes",
                    CLIENT_TOOLS_BYTES_MAX);
    s = fields_open_json(&f, json);
    if (s == WEND_OK)
        s = field_list(&f, &row, f.root, out);
    if (s == WEND_E_NOMEM || a->failed)
        return fail_nomem(err);
    return s == WEND_OK ? s
                        : fail_at(err, WEND_E_INVAL, why.line, why.column,
                                  "run: client_tools: %.*s",
                                  UTF8_ARGS(str_of(why.message), 400));
}

static bool is_listed(const struct client_list *l, size_t count, wend_str name)
{
    size_t i = 0;

    while (i < count && !str_eq(l->list[i].name, name))
        i++;
    return i < count;
}

static wend_status check_names(const struct client_list *l, wend_error *err)
{
    for (size_t i = 0; i < l->count; i++) {
        wend_str name = l->list[i].name;

        if (!tool_name_ok(name))
            return fail(err, WEND_E_INVAL,
                        "run: client_tools[%zu].name '%.*s' must be 1 to %d of "
                        "A-Z a-z 0-9 _ . -",
                        i, UTF8_ARGS(name, 80), TOOL_NAME_MAX);
        if (is_listed(l, i, name))
            return fail(err, WEND_E_EXISTS,
                        "run: client_tools[%zu]: the name '%.*s' is used twice",
                        i, UTF8_ARGS(name, 80));
    }
    return WEND_OK;
}

/* Those of the agent, without client-side ones that the list replaces and
 * without those of the run before. */
static wend_status keep_tools(struct buf *b, const struct json *tools,
                              const struct client_list *l, size_t *count,
                              wend_error *err)
{
    for (const struct json *t = json_items(tools); t; t = t->next) {
        wend_str name = json_get_str(t, "name");
        bool client = str_is(json_get_str(t, "source"), "client");

        if (is_listed(l, l->count, name) && !client)
            return fail(err, WEND_E_EXISTS,
                        "run: client_tools: '%.*s' is a tool that the agent "
                        "executes: give it another name",
                        UTF8_ARGS(name, 80));
        if (client && (is_listed(l, l->count, name) ||
                       json_is_true(json_get(t, "of_run"))))
            continue;
        json_add(b, NULL, t);
        ++*count;
    }
    return WEND_OK;
}

static wend_status put_tools(struct buf *b, const struct json *tools,
                             const struct client_list *l, wend_error *err)
{
    const struct tool_kind kind = {.source = "client",
                                   .hands = STR("\"of_run\":true")};
    size_t count = l->count;
    wend_status s;

    json_open(b, "tools", '[');
    s = keep_tools(b, tools, l, &count, err);
    for (size_t i = 0; s == WEND_OK && i < l->count; i++) {
        const struct client_tool *t = &l->list[i];
        const wend_tool_options o = {.size = sizeof o,
                                     .name = t->name.ptr,
                                     .description = t->description.ptr,
                                     .schema = t->schema.ptr,
                                     .client = true};

        s = agent_put_tool(b, &o, &kind, err);
    }
    json_close(b, ']');
    return s == WEND_OK && count > TOOLS_MAX
               ? fail(err, WEND_E_LIMIT,
                      "run: %zu tools with client_tools, at most %d", count,
                      TOOLS_MAX)
               : s;
}

wend_status agent_config_with(const wend_agent *agent, wend_str config_json,
                              wend_str list, struct arena *a, wend_str *out,
                              wend_error *err)
{
    const struct json *config = json_parse_own(config_json, a, NULL);
    struct buf b = {.mem = a->mem};
    struct client_list l = {0};
    wend_status s = read_list(list, a, &l, err);

    if (s == WEND_OK)
        s = check_names(&l, err);
    if (s == WEND_OK && !config)
        s = fail_nomem(err);
    json_open(&b, NULL, '{');
    for (const struct json *m = s == WEND_OK ? config->first : NULL;
         s == WEND_OK && m; m = m->next)
        if (str_is(m->key, "tools"))
            s = put_tools(&b, m, &l, err);
        else
            json_add_pair(&b, m->key, m);
    json_close(&b, '}');
    *out = agent_blank(agent, buf_keep(&b, a), a);
    return s == WEND_OK && a->failed ? fail_nomem(err) : s;
}
