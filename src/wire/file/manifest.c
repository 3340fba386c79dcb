/*
 * manifest.c - files that describe agents.
 */
#include "wire/file/manifest.h"

#include <string.h>

#include "base/ascii.h"
#include "base/decimal.h"
#include "base/fail.h"
#include "base/limits.h"
#include "base/network.h"
#include "base/utf8.h"
#include "core/policy/policy.h"
#include "wire/file/manifest_read.h"

enum {
    RETRIEVAL_TOP_MAX = 50, /* more would be most of a window */
    SERVER_NAME_MAX = 32,   /* so that names of its tools have room */
};

/* ---- Values -------------------------------------------------------------- */

static FIELD_READ(read_model)
{
    if (j->kind == JSON_STRING && !memchr(j->text.ptr, ':', j->text.len))
        return fields_wrong(f, j, "provider:model, such as openai:NAME");
    return field_cstr(f, field, j, at);
}

static wend_status read_fallback(struct fields *f, const struct json *j,
                                 void *item)
{
    struct manifest_word *w = item;

    w->line = j->line;
    w->column = j->column;
    return read_model(f, NULL, j, &w->text);
}

static FIELD_READ(read_fallbacks)
{
    return manifest_read_list(f, j, read_fallback, at);
}

static FIELD_READ(read_cost)
{
    int64_t *nano = at;

    if (j->kind != JSON_NUMBER || !decimal_nano(j->text, INT64_MAX, nano) ||
        !*nano)
        return fields_wrong(f, j,
                            "USD above 0 with at most 9 decimals, such as "
                            "0.05");
    return WEND_OK;
}

/* wend_limits counts turns and parallel in 32 bits. */
static FIELD_READ(read_count)
{
    int64_t n = 0;
    wend_status s = field_number(f, field, j, &n);

    *(uint32_t *)at = (uint32_t)n;
    return s;
}

static FIELD_READ(read_limits)
{
#define AT(member) offsetof(wend_limits, member)
    static const struct field rows[] = {
        {"turns", read_count, AT(turns), 1, UINT32_MAX, NULL},
        {"time", field_ms, AT(time_ms), 1, 0, NULL},
        {"tokens", field_number, AT(tokens), 1, INT64_MAX, NULL},
        {"cost", read_cost, AT(cost_nano), 0, 0, NULL},
        {"parallel", read_count, AT(parallel), 1, PARALLEL_MAX, NULL},
        {0},
    };
#undef AT

    return fields_read(f, j, rows, at);
}

/* ---- Policy -------------------------------------------------------------- */

wend_status manifest_rule_check(wend_str rule, wend_error *err)
{
    return rule_check(rule, STR_NONE, err);
}

struct rule_draft {
    wend_str tool;
    int answer; /* wend_decision */
    struct manifest_words labels;
};

static wend_status make_rule(struct fields *f, const struct json *j,
                             const struct rule_draft *d, wend_str *out)
{
    static const char *const marks[] = {
        [WEND_DECISION_ALLOW] = "",
        [WEND_DECISION_DENY] = "!",
        [WEND_DECISION_ASK] = "?",
    };
    struct buf b = {.mem = f->arena->mem};
    wend_error why = {0};
    wend_status s;

    buf_cstr(&b, marks[d->answer]);
    buf_str(&b, d->tool);
    *out = buf_keep(&b, f->arena);
    if (!out->ptr)
        return fail_nomem(f->err);
    s = manifest_rule_check(*out, &why);
    return s ? fail_at(f->err, WEND_E_PARSE, j->line, j->column, "%s: %.*s",
                       fields_where(f), (int)utf8_cut(str_of(why.message), 400),
                       why.message)
             : WEND_OK;
}

static FIELD_READ(read_rule_tool)
{
    if (str_starts(json_str(j), "!") || str_starts(json_str(j), "?"))
        return fields_wrong(f, j,
                            "tool or tool(arg-glob); what to do is said by "
                            "'do'");
    return field_cstr(f, field, j, at);
}

/* As wend_agent_options has them: `label,label=tool(arg-glob)`. */
static wend_status make_label_row(struct fields *f, const struct json *j,
                                  const struct rule_draft *d, wend_str *out)
{
    struct buf b = {.mem = f->arena->mem};
    struct label_row row;
    wend_error why = {0};

    for (size_t i = 0; i < d->labels.count; i++) {
        buf_cstr(&b, i ? "," : "");
        buf_str(&b, d->labels.list[i].text);
    }
    buf_char(&b, '=');
    buf_str(&b, d->tool);
    *out = buf_keep(&b, f->arena);
    if (!out->ptr)
        return fail_nomem(f->err);
    return label_row_parse(*out, &row, &why) == WEND_OK
               ? WEND_OK
               : fail_at(f->err, WEND_E_PARSE, j->line, j->column, "%s: %.*s",
                         fields_where(f),
                         (int)utf8_cut(str_of(why.message), 400), why.message);
}

static wend_status read_row(struct fields *f, const struct json *j,
                            struct rule_draft *d)
{
    static const char *const answers[] = {
        [WEND_DECISION_ALLOW] = "allow",
        [WEND_DECISION_DENY] = "deny",
        [WEND_DECISION_ASK] = "ask",
        NULL,
    };
#define AT(member) offsetof(struct rule_draft, member)
    static const struct field rows[] = {
        {"tool", read_rule_tool, AT(tool), 0, 0, NULL},
        {"do", field_index, AT(answer), 0, 0, answers},
        {"labels", manifest_read_words, AT(labels), 0, 0, NULL},
        {0},
    };
#undef AT
    wend_status s = fields_read(f, j, rows, d);

    if (s)
        return s;
    if (!d->tool.ptr)
        return fields_missing(f, j, "tool");
    if (!json_get(j, "do") && !d->labels.count)
        return fields_missing(f, j, "do");
    return WEND_OK;
}

/* A row that only labels is no rule: its text stays absent. */
static wend_status read_rule(struct fields *f, const struct json *j, void *item)
{
    struct manifest_word *w = item;
    struct rule_draft d = {.tool = STR_NONE};
    wend_status s = read_row(f, j, &d);

    w->line = j->line;
    w->column = j->column;
    if (s || !json_get(j, "do"))
        return s;
    return make_rule(f, json_get(j, "tool"), &d, &w->text);
}

/* The same the other way round. */
static wend_status read_label_row(struct fields *f, const struct json *j,
                                  void *item)
{
    struct manifest_word *w = item;
    struct rule_draft d = {.tool = STR_NONE};
    wend_status s = read_row(f, j, &d);

    w->line = j->line;
    w->column = j->column;
    if (s || !d.labels.count)
        return s;
    return make_label_row(f, json_get(j, "labels"), &d, &w->text);
}

static void drop_absent(struct manifest_words *w)
{
    struct manifest_word *list = (struct manifest_word *)(uintptr_t)w->list;
    size_t n = 0;

    for (size_t i = 0; i < w->count; i++)
        if (list[i].text.ptr)
            list[n++] = list[i];
    w->count = n;
}

static FIELD_READ(read_policy)
{
    struct agent_manifest *m = at;
    wend_status s = manifest_read_list(f, j, read_rule, &m->rules);

    if (!s)
        s = manifest_read_list(f, j, read_label_row, &m->label_rows);
    if (s)
        return s;
    drop_absent(&m->rules);
    drop_absent(&m->label_rows);
    m->label_rows.given = m->label_rows.count;
    return WEND_OK;
}

/* ---- The network --------------------------------------------------------- */

static wend_status read_place(struct fields *f, const struct json *j,
                              void *item)
{
    struct manifest_word *w = item;
    struct network network = {0};
    wend_error why = {0};
    wend_status s = manifest_read_word(f, j, w);

    if (s)
        return s;
    s = network_add(&network, w->text, f->arena, &why);
    if (s == WEND_E_NOMEM)
        return fail_nomem(f->err);
    return s ? fail_at(f->err, WEND_E_PARSE, j->line, j->column, "%s",
                       why.message)
             : WEND_OK;
}

static FIELD_READ(read_network)
{
    static const char *const words[] = {"on", "off", NULL};
    const struct field row = {.words = words};
    struct agent_manifest *m = at;
    int i;
    wend_status s;

    if (j->kind == JSON_ARRAY)
        return manifest_read_list(f, j, read_place, &m->network);
    s = field_index(f, &row, j, &i);
    if (!s)
        m->network_off = i == 1;
    return s;
}

/* ---- MCP servers --------------------------------------------------------- */

FIELD_READ(manifest_read_url)
{
    if (j->kind == JSON_STRING && !str_starts(j->text, "http://") &&
        !str_starts(j->text, "https://"))
        return fields_wrong(f, j, "a URL that begins with http:// or https://");
    return field_cstr(f, field, j, at);
}

/* `off` as manifest_read_sandbox has it, upside down. */
FIELD_READ(manifest_read_switch)
{
    bool off;
    wend_status s = manifest_read_sandbox(f, field, j, &off);

    if (!s)
        *(bool *)at = !off;
    return s;
}

static wend_status read_server(struct fields *f, const struct json *j,
                               struct manifest_server *m)
{
#define AT(member) offsetof(struct manifest_server, member)
    static const struct field rows[] = {
        {"command", manifest_read_command, AT(command), 0, 0, NULL},
        {"url", manifest_read_url, AT(url), 0, 0, NULL},
        {"timeout", field_ms, AT(timeout_ms), 1, UINT32_MAX, NULL},
        {"start_timeout", field_ms, AT(start_timeout_ms), 1, UINT32_MAX, NULL},
        {"sandbox", manifest_read_sandbox, AT(sandbox_off), 0, 0, NULL},
        {"network", manifest_read_switch, AT(network_on), 0, 0, NULL},
        {"trust", manifest_read_switch, AT(trust), 0, 0, NULL},
        {"secrets", manifest_read_secrets, AT(secrets), 0, 0, NULL},
        {0},
    };
#undef AT
    wend_status s = fields_read(f, j, rows, m);

    if (s)
        return s;
    if (m->command.given == (m->url.ptr != NULL))
        return fail_at(f->err, WEND_E_PARSE, j->line, j->column,
                       "%s needs either 'command' or 'url'", fields_where(f));
    m->name = arena_str(f->arena, j->key);
    return m->name.ptr ? WEND_OK : fail_nomem(f->err);
}

bool manifest_server_name_ok(wend_str name)
{
    return tool_name_ok(name) && name.len <= SERVER_NAME_MAX &&
           !memchr(name.ptr, '.', name.len) &&
           !memmem(name.ptr, name.len, "__", 2) &&
           name.ptr[name.len - 1] != '_';
}

static FIELD_READ(read_servers)
{
    size_t len = strlen(f->where);
    struct agent_manifest *m = at;
    struct manifest_server *list;
    uint32_t line, column;
    wend_status s;

    if (j->kind != JSON_OBJECT)
        return fields_wrong(f, j, "a mapping from names to servers");
    list = arena_alloc(f->arena, ((size_t)j->count + 1) * sizeof *list);
    if (!list)
        return fail_nomem(f->err);
    for (const struct json *e = j->first; e; e = e->next) {
        fields_key(f, e, &line, &column);
        if (!manifest_server_name_ok(e->key))
            return fail_at(f->err, WEND_E_PARSE, line, column,
                           "the name of a server must be 1 to 32 of A-Z a-z "
                           "0-9 _ -, without __ and no _ at its end, not "
                           "'%.*s'",
                           (int)utf8_cut(e->key, FIELDS_QUOTED_MAX),
                           e->key.ptr);
        utf8_fmt(f->where + len, sizeof f->where - len, ".%.*s",
                 (int)e->key.len, e->key.ptr);
        s = read_server(f, e, &list[m->servers_count++]);
        if (s)
            return s;
    }
    f->where[len] = 0;
    m->servers = list;
    return WEND_OK;
}

/* ---- Retrieval ----------------------------------------------------------- */

static FIELD_READ(read_retrieval)
{
#define AT(member) offsetof(struct agent_manifest, member)
    static const struct field rows[] = {
        {"sources", manifest_read_words, AT(retrieval.sources), 0, 0, NULL},
        {"top", field_number, AT(retrieval.top), 1, RETRIEVAL_TOP_MAX, NULL},
        {0},
    };
#undef AT
    struct agent_manifest *m = at;

    m->retrieval.given = true;
    return fields_read(f, j, rows, m);
}

/* ---- Memory -------------------------------------------------------------- */

/* A mapping says whose facts are whose; a word, what is not served yet. */
static FIELD_READ(read_memory)
{
    static const char *const memories[] = {[MEMORY_OFF] = "off",
                                           [MEMORY_SYNC] = "sync",
                                           [MEMORY_ASYNC] = "async",
                                           NULL};
    static const char *const scopes[] = {"folder", "user", NULL};
    static const struct field rows[] = {
        {"scope", manifest_read_second,
         offsetof(struct agent_manifest, memory_user), 0, 0, scopes},
        {0},
    };
    const struct field word = {.words = memories};
    struct agent_manifest *m = at;

    return j->kind == JSON_OBJECT ? fields_read(f, j, rows, m)
                                  : field_index(f, &word, j, &m->memory);
}

/* ---- The agent ----------------------------------------------------------- */

static wend_status read_agent(struct fields *f, const struct json *j,
                              struct agent_manifest *m)
{
    static const char *const version[] = {"agent/1", NULL};
#define AT(member) offsetof(struct agent_manifest, member)
    static const struct field rows[] = {
        {"wend", field_version, 0, 0, 0, version},
        {"name", field_cstr, AT(name), 0, 0, NULL},
        {"description", field_cstr, AT(description), 0, 0, NULL},
        {"model", read_model, AT(model), 0, 0, NULL},
        {"fallback_models", read_fallbacks, AT(fallbacks), 0, 0, NULL},
        {"base_url", manifest_read_url, AT(base_url), 0, 0, NULL},
        {"context_tokens", field_number, AT(context_tokens), 1,
         MODEL_TOKENS_MAX, NULL},
        {"instructions", field_cstr, AT(instructions), 0, 0, NULL},
        {"tools", manifest_read_words, AT(tools), 0, 0, NULL},
        {"mcp", read_servers, 0, 0, 0, NULL},
        {"skills", manifest_read_words, AT(skills), 0, 0, NULL},
        {"retrieval", read_retrieval, 0, 0, 0, NULL},
        {"memory", read_memory, 0, 0, 0, NULL},
        {"limits", read_limits, AT(limits), 0, 0, NULL},
        {"policy", read_policy, 0, 0, 0, NULL},
        {"network", read_network, 0, 0, 0, NULL},
        {"agents", manifest_read_words, AT(agents), 0, 0, NULL},
        {0},
    };
#undef AT
    wend_status s = fields_read(f, j, rows, m);

    if (s)
        return s;
    return json_get(j, "wend") ? WEND_OK
                               : fields_missing(f, j, "wend: agent/1");
}

/* ---- Markdown ------------------------------------------------------------ */

/* Whether the line at `at` is ---; its end, behind the line feed. */
static bool is_rule_line(wend_str text, size_t at, size_t *end)
{
    const char *feed = memchr(text.ptr + at, '\n', text.len - at);
    size_t i = at + 3;

    *end = feed ? (size_t)(feed - text.ptr) + 1 : text.len;
    if (text.len - at < 3 || memcmp(text.ptr + at, "---", 3))
        return false;
    while (i < *end && is_space(text.ptr[i]))
        i++;
    return i == *end;
}

/* YAML alone has no second ---: that would be a second document. The head
 * keeps the first one, so that lines count from the top of the file. */
static bool split(wend_str text, wend_str *head, wend_str *body)
{
    size_t start = str_starts(text, "\xEF\xBB\xBF") ? 3 : 0, at, end;

    if (text.len <= start || !is_rule_line(text, start, &at))
        return false;
    for (; at < text.len; at = end)
        if (is_rule_line(text, at, &end)) {
            *head = (wend_str){text.ptr, at};
            *body = (wend_str){text.ptr + end, text.len - end};
            return true;
        }
    return false;
}

/* Reads the text behind the front matter; `line` is that of its start. */
static wend_status read_body(struct fields *f, wend_str body, uint32_t line,
                             struct agent_manifest *m)
{
    const char *zero = body.len ? memchr(body.ptr, 0, body.len) : NULL;
    size_t valid = zero ? (size_t)(zero - body.ptr) : utf8_valid_len(body);

    if (valid < body.len) {
        for (size_t i = 0; i < valid; i++)
            line += body.ptr[i] == '\n';
        return fail_at(f->err, WEND_E_PARSE, line, 1, "%s",
                       zero ? "the text has a zero byte" : "invalid UTF-8");
    }
    while (body.len && is_space(body.ptr[0]))
        body = (wend_str){body.ptr + 1, body.len - 1};
    while (body.len && is_space(body.ptr[body.len - 1]))
        body.len--;
    if (!body.len)
        return WEND_OK;
    if (m->instructions.ptr)
        return fail_at(f->err, WEND_E_PARSE, line, 1,
                       "the text is the instructions, but there is a key "
                       "'instructions', too");
    m->instructions = arena_str(f->arena, body);
    return m->instructions.ptr ? WEND_OK : fail_nomem(f->err);
}

static uint32_t lines_in(wend_str text)
{
    uint32_t n = 0;

    for (size_t i = 0; i < text.len; i++)
        n += text.ptr[i] == '\n';
    return n;
}

/* ---- Public -------------------------------------------------------------- */

wend_status agent_manifest_parse(wend_str text, struct arena *a,
                                 struct agent_manifest **out, wend_error *err)
{
    struct fields f = {.arena = a, .err = err, .whole = "the file"};
    wend_str head = text, body = STR("");
    struct agent_manifest *m;
    wend_status s;

    if (text.len <= MANIFEST_BYTES_MAX)
        split(text, &head, &body);
    s = fields_open(&f, head, MANIFEST_BYTES_MAX);
    if (s)
        return s;
    m = arena_alloc(a, sizeof *m);
    s = m ? read_agent(&f, f.root, m) : fail_nomem(f.err);
    if (!s)
        s = read_body(&f, body, lines_in(head) + 2, m);
    if (!s)
        *out = m;
    return s;
}

const char *agent_manifest_unserved(const struct agent_manifest *m, size_t i)
{
    const struct {
        const char *key;
        bool given;
    } keys[] = {
        {"skills", m->skills.count},
        {"retrieval", m->retrieval.given},
        {"memory", m->memory != MEMORY_OFF},
    };

    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
        if (keys[k].given && !i--)
            return keys[k].key;
    return NULL;
}
