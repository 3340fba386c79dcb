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
#include "wire/file/wishes.h"

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

static FIELD_READ(read_fallback)
{
    struct manifest_word *w = at;

    w->line = j->line;
    w->column = j->column;
    return read_model(f, field, j, &w->text);
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

#define AT(member) .offset = offsetof(wend_limits, member)
static const struct field limits_rows[] = {
    {"turns", read_count, AT(turns), .min = 1, .max = UINT32_MAX},
    {"time", field_ms, AT(time_ms), .min = 1},
    {"tokens", field_number, AT(tokens), .min = 1, .max = INT64_MAX},
    {"cost", read_cost, AT(cost_nano)},
    {"parallel", read_count, AT(parallel), .min = 1, .max = PARALLEL_MAX},
    {0},
};
#undef AT

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
    return s ? fields_because(f, j, &why) : WEND_OK;
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
               : fields_because(f, j, &why);
}

/* Where the rows of a policy go. */
struct policy_room {
    struct agent_manifest *m;
    struct manifest_word *rules, *labels;
};

static wend_str *next_word(struct manifest_word *list, size_t *count,
                           const struct json *j)
{
    struct manifest_word *w = &list[(*count)++];

    w->line = j->line;
    w->column = j->column;
    return &w->text;
}

/* One row of the policy: a rule, labels, or both. f->ctx has room for both. */
static FIELD_READ(read_row)
{
    static const char *const answers[] = {
        [WEND_DECISION_ALLOW] = "allow",
        [WEND_DECISION_DENY] = "deny",
        [WEND_DECISION_ASK] = "ask",
        NULL,
    };
#define AT(member) .offset = offsetof(struct rule_draft, member)
    static const struct field rows[] = {
        {"tool", read_rule_tool, AT(tool), .needed = true},
        {"do", field_index, AT(answer), .words = answers},
        {"labels", field_list,
         MANIFEST_WORDS(struct rule_draft, labels, manifest_read_word)},
        {0},
    };
#undef AT
    struct rule_draft d = {.tool = STR_NONE};
    struct policy_room *room = f->ctx;
    wend_status s = fields_read(f, j, rows, &d);

    if (!s && !json_get(j, "do") && !d.labels.count)
        s = fields_missing(f, j, "do");
    if (!s && json_get(j, "do"))
        s = make_rule(f, json_get(j, "tool"), &d,
                      next_word(room->rules, &room->m->rules.count, j));
    if (!s && d.labels.count)
        s = make_label_row(
            f, json_get(j, "labels"), &d,
            next_word(room->labels, &room->m->label_rows.count, j));
    return s;
}

static FIELD_READ(read_policy)
{
    struct policy_room room = {.m = at};
    struct {
        void *list;
        size_t count;
    } none;
    wend_status s;

    room.rules = arena_alloc(f->arena, (j->count + 1) * sizeof *room.rules);
    room.labels = arena_alloc(f->arena, (j->count + 1) * sizeof *room.labels);
    if (!room.rules || !room.labels)
        return fail_nomem(f->err);
    room.m->rules.list = room.rules;
    room.m->label_rows.list = room.labels;
    f->ctx = &room;
    s = field_list(f, field, j, &none);
    f->ctx = NULL;
    return s;
}

/* ---- The network --------------------------------------------------------- */

static FIELD_READ(read_place)
{
    struct manifest_word *w = at;
    struct network network = {0};
    wend_error why = {0};
    wend_status s = manifest_read_word(f, field, j, w);

    if (s)
        return s;
    s = network_add(&network, w->text, f->arena, &why);
    if (s == WEND_E_NOMEM)
        return fail_nomem(f->err);
    return s ? fields_fail(f, j, "%s", why.message) : WEND_OK;
}

static FIELD_READ(read_network)
{
    struct agent_manifest *m = container_of(at, struct agent_manifest, network);

    return j->kind == JSON_ARRAY
               ? field_list(f, field, j, at)
               : manifest_read_off(f, field, j, &m->network_off);
}

/* ---- MCP servers --------------------------------------------------------- */

FIELD_READ(manifest_read_url)
{
    if (j->kind == JSON_STRING && !str_starts(j->text, "http://") &&
        !str_starts(j->text, "https://"))
        return fields_wrong(f, j, "a URL that begins with http:// or https://");
    return field_cstr(f, field, j, at);
}

/* `off` as manifest_read_off has it, upside down. */
FIELD_READ(manifest_read_switch)
{
    bool off;
    wend_status s = manifest_read_off(f, field, j, &off);

    if (!s)
        *(bool *)at = !off;
    return s;
}

wend_status manifest_server_name(struct fields *f, wend_str name, uint32_t line,
                                 uint32_t column)
{
    if (tool_name_ok(name) && name.len <= SERVER_NAME_MAX &&
        !memchr(name.ptr, '.', name.len) &&
        !memmem(name.ptr, name.len, "__", 2) && name.ptr[name.len - 1] != '_')
        return WEND_OK;
    return fail_at(f->err, WEND_E_PARSE, line, column,
                   "the name of a server must be 1 to 32 of A-Z a-z 0-9 _ -, "
                   "without __ and no _ at its end, not '%.*s'",
                   UTF8_ARGS(name, FIELDS_QUOTED_MAX));
}

static FIELD_READ(read_server)
{
#define AT(member) .offset = offsetof(struct manifest_server, member)
    static const struct field rows[] = {
        {"command", manifest_read_command, AT(command)},
        {"url", manifest_read_url, AT(url)},
        {"timeout", field_ms, AT(timeout_ms), .min = 1, .max = UINT32_MAX},
        {"start_timeout", field_ms, AT(start_timeout_ms), .min = 1,
         .max = UINT32_MAX},
        {"sandbox", manifest_read_off, AT(sandbox_off)},
        {"network", manifest_read_switch, AT(network_on)},
        {"trust", manifest_read_switch, AT(trust)},
        {"secrets", field_list,
         MANIFEST_WORDS(struct manifest_server, secrets,
                        manifest_read_variable)},
        {0},
    };
#undef AT
    struct manifest_server *m = at;
    uint32_t line, column;
    wend_status s;

    fields_key(f, j, &line, &column);
    s = manifest_server_name(f, j->key, line, column);
    if (!s)
        s = fields_read(f, j, rows, m);
    if (s)
        return s;
    if (!m->command.list == !m->url.ptr)
        return fields_fail(f, j, "%s needs either 'command' or 'url'",
                           fields_where(f));
    m->name = arena_str(f->arena, j->key);
    return m->name.ptr ? WEND_OK : fail_nomem(f->err);
}

/* ---- Retrieval ----------------------------------------------------------- */

static FIELD_READ(read_retrieval)
{
#define AT(member) .offset = offsetof(struct agent_manifest, member)
    static const struct field rows[] = {
        {"sources", field_list,
         MANIFEST_WORDS(struct agent_manifest, retrieval.sources,
                        manifest_read_word)},
        {"top", field_number, AT(retrieval.top), .min = 1,
         .max = RETRIEVAL_TOP_MAX},
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
        {"scope", field_second,
         .offset = offsetof(struct agent_manifest, memory_user),
         .words = scopes},
        {0},
    };
    const struct field word = {.words = memories};
    struct agent_manifest *m = at;

    return j->kind == JSON_OBJECT ? fields_read(f, j, rows, m)
                                  : field_index(f, &word, j, &m->memory);
}

/* ---- The agent ----------------------------------------------------------- */

static const char *const version[] = {"agent/1", NULL};
#define AT(member) .offset = offsetof(struct agent_manifest, member)
#define WORDS(member, read) MANIFEST_WORDS(struct agent_manifest, member, read)
static const struct field agent_rows[] = {
    {"wend", .read = field_version, .words = version, .needed = true},
    {"name", field_cstr, AT(name)},
    {"description", field_cstr, AT(description)},
    {"model", read_model, AT(model)},
    {"fallback_models", field_list, WORDS(fallbacks, read_fallback)},
    {"summary_model", read_model, AT(summary_model)},
    {"base_url", manifest_read_url, AT(base_url)},
    {"context_tokens", field_number, AT(context_tokens), .min = 1,
     .max = MODEL_TOKENS_MAX},
    {"max_history", field_number, AT(max_history), .min = 1, .max = UINT32_MAX},
    {"max_memories", field_number, AT(max_memories), .min = 1,
     .max = FACTS_TOLD_MAX},
    WISH_ROWS(struct agent_manifest, wishes),
    {"compaction", manifest_read_off, AT(compaction_off)},
    {"instructions", field_cstr, AT(instructions)},
    {"loop", manifest_read_off, AT(loop_off)},
    {"tools", field_list, WORDS(tools, manifest_read_word)},
    {"mcp", field_map,
     FIELD_ITEMS(struct agent_manifest, servers, read_server,
                 MANIFEST_LIST_MAX)},
    {"skills", field_list, WORDS(skills, manifest_read_word)},
    {"retrieval", .read = read_retrieval},
    {"memory", .read = read_memory},
    {"notes", manifest_read_off, AT(notes_off)},
    {"limits", field_mapping, AT(limits), .rows = limits_rows},
    {"policy", .read = read_policy, .item = read_row, .size = 1,
     .max = MANIFEST_LIST_MAX},
    {"network", read_network, WORDS(network, read_place)},
    {"agents", field_list, WORDS(agents, manifest_read_word)},
    {0},
};
#undef AT
#undef WORDS

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

    if (valid < body.len)
        return fail_at(
            f->err, WEND_E_PARSE,
            line + (uint32_t)str_count((wend_str){body.ptr, valid}, '\n'), 1,
            "%s", zero ? "the text has a zero byte" : "invalid UTF-8");
    body = str_trim(body, is_space);
    if (!body.len)
        return WEND_OK;
    if (m->instructions.ptr)
        return fail_at(f->err, WEND_E_PARSE, line, 1,
                       "the text is the instructions, but there is a key "
                       "'instructions', too");
    m->instructions = arena_str(f->arena, body);
    return m->instructions.ptr ? WEND_OK : fail_nomem(f->err);
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
    m = file_parse(&f, head, MANIFEST_BYTES_MAX, agent_rows, sizeof *m);
    s = m ? read_body(&f, body, (uint32_t)str_count(head, '\n') + 2, m)
          : f.err->status;
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
