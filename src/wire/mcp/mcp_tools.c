/*
 * mcp_tools.c - a server's list of tools: read, bounded, cleaned, hashed.
 *
 * The server is not trusted: what its descriptions hide is taken out, and
 * the hash of all of it lets a user accept it once and notice a change.
 */
#include <stdlib.h>

#include "base/ascii.h"
#include "base/utf8.h"
#include "wire/mcp/mcp_parts.h"

enum {
    NAME_MAX_BYTES = 256,                /* of a tool at its server */
    NAME_SHOWN = 60,                     /* in a warning */
    HASH_SHOWN = 6,                      /* digits that tell cut names apart */
    SERVER_TOOL_MAX = TOOL_NAME_MAX - 1, /* providers take `.` as two */
};

/* ---- One tool ------------------------------------------------------------ */

static wend_str clean(struct mcp *m, wend_str s)
{
    struct buf b = {.mem = m->mem};
    struct utf8_before before = {0};
    size_t len;

    for (size_t i = 0; i < s.len && b.len <= MCP_DESCRIPTION_MAX; i += len) {
        wend_str rest = {s.ptr + i, s.len - i};

        if (!utf8_hides(&before, utf8_first(rest, &len)))
            buf_add(&b, rest.ptr, len);
    }
    if (b.len > MCP_DESCRIPTION_MAX) {
        b.len = utf8_cut(buf_view(&b), MCP_DESCRIPTION_MAX);
        buf_cstr(&b, " [cut]");
    }
    return buf_keep(&b, &m->list_arena);
}

/* Canonical JSON writes a control as \u00xx, or as one letter if it is a line
 * end or a tab. The length of the control at i; 0: no control. */
static size_t control_at(wend_str s, size_t i)
{
    static const char letters[] = "bfr"; /* \n and \t stay */

    if (s.ptr[i] != '\\' || i + 1 >= s.len)
        return 0;
    if (strchr(letters, s.ptr[i + 1]))
        return 2;
    return s.ptr[i + 1] == 'u' ? 6 : 0;
}

/* The same schema without what hides or acts in its strings: a model reads
 * them as it reads a description. */
static wend_str clean_json(struct mcp *m, wend_str s)
{
    struct buf b = {.mem = m->mem};
    struct utf8_before before = {0};
    size_t len;

    for (size_t i = 0; i < s.len; i += len) {
        wend_str rest = {s.ptr + i, s.len - i};

        len = control_at(s, i);
        if (len)
            continue;
        if (s.ptr[i] == '\\') {
            len = 2;
            buf_add(&b, rest.ptr, len);
        } else if (!utf8_hides(&before, utf8_first(rest, &len))) {
            buf_add(&b, rest.ptr, len);
        }
    }
    return buf_keep(&b, &m->list_arena);
}

static wend_str keep_json(struct mcp *m, const struct json *j)
{
    return j ? json_text(j, &m->list_arena) : STR("");
}

/* Why it cannot be used, or NULL. */
static const char *check(const struct mcp *m, wend_str name,
                         const struct json *schema)
{
    if (!name.len || name.len > NAME_MAX_BYTES)
        return "its name is empty or too long";
    if (schema && schema->kind != JSON_OBJECT)
        return "its inputSchema is not an object";
    for (const struct mcp_tool *t = m->list; t; t = t->next)
        if (str_eq(t->name, name))
            return "the name is there twice";
    return NULL;
}

static void add(struct mcp *m, const struct json *j)
{
    struct arena *a = &m->list_arena;
    wend_str name = json_str(json_get(j, "name"));
    const struct json *schema = json_get(j, "inputSchema");
    const struct json *notes = json_get(j, "annotations");
    const char *wrong = check(m, name, schema);
    struct mcp_tool *t = wrong ? NULL : arena_alloc(a, sizeof *t);

    if (t && schema && m->transport == MCP_HTTP)
        wrong = mcp_params_find(schema, a, &t->params);
    if (wrong) {
        mcp_warn(m, "tool '%.*s' is left out: %s",
                 (int)utf8_cut(name, NAME_SHOWN), name.len ? name.ptr : "",
                 wrong);
        return;
    }
    if (!t)
        return;
    t->name = arena_str(a, name);
    t->description_all = arena_str(a, json_str(json_get(j, "description")));
    t->description = clean(m, t->description_all);
    t->schema_all =
        schema ? keep_json(m, schema) : STR("{\"type\":\"object\"}");
    t->schema = clean_json(m, t->schema_all);
    t->annotations = keep_json(m, notes);
    t->read_only = json_is_true(json_get(notes, "readOnlyHint"));
    t->idempotent = json_is_true(json_get(notes, "idempotentHint"));
    t->destructive = json_is_true(json_get(notes, "destructiveHint"));
    *m->list_tail = t;
    m->list_tail = &t->next;
    m->list_count++;
}

/* ---- The list ------------------------------------------------------------ */

void mcp_list_clear(struct mcp *m)
{
    arena_free(&m->list_arena);
    m->list_arena = (struct arena){.mem = m->mem};
    m->list = NULL;
    m->list_tail = &m->list;
    m->list_count = m->pages = 0;
}

bool mcp_list_page(struct mcp *m, const struct json *result)
{
    const struct json *all = json_get(result, "tools");

    if (!all || all->kind != JSON_ARRAY)
        return false;
    for (const struct json *j = all->first; j; j = j->next) {
        if (m->list_count >= MCP_TOOLS_MAX) {
            mcp_warn(m, "the server has over %d tools; the rest is left out",
                     MCP_TOOLS_MAX);
            break;
        }
        add(m, j);
    }
    return !m->list_arena.failed;
}

static int by_name(const void *a, const void *b)
{
    const struct mcp_tool *x = *(const struct mcp_tool *const *)a;
    const struct mcp_tool *y = *(const struct mcp_tool *const *)b;

    return str_order(x->name, y->name);
}

static void hash_str(struct sha256 *h, wend_str s)
{
    char len[24];

    sha256_add(h, len, i64_text(len, (int64_t)s.len));
    sha256_add(h, ":", 1);
    sha256_add(h, s.ptr, s.len);
}

/* The order in which a server lists them does not count. */
static bool hash_list(struct mcp *m, char out[SHA256_HEX + 1])
{
    const struct mcp_tool **sorted =
        mem_alloc(m->mem, (m->list_count + 1) * sizeof *sorted);
    struct sha256 h;
    size_t n = 0;

    if (!sorted)
        return false;
    for (const struct mcp_tool *t = m->list; t; t = t->next)
        sorted[n++] = t;
    qsort(sorted, n, sizeof *sorted, by_name);
    sha256_init(&h);
    for (size_t i = 0; i < n; i++) {
        hash_str(&h, sorted[i]->name);
        hash_str(&h, sorted[i]->description_all);
        hash_str(&h, sorted[i]->schema_all);
        hash_str(&h, sorted[i]->annotations);
    }
    sha256_end_hex(&h, out);
    mem_free(m->mem, sorted);
    return true;
}

bool mcp_list_end(struct mcp *m)
{
    char hash[SHA256_HEX + 1];

    if (!hash_list(m, hash)) {
        m->nomem = true;
        return false;
    }
    if (m->hash[0]) { /* the first list is in use */
        bool same = !memcmp(hash, m->hash, sizeof hash);

        mcp_list_clear(m);
        return same;
    }
    memcpy(m->hash, hash, sizeof hash);
    arena_free(&m->arena);
    m->arena = m->list_arena;
    m->tools = m->list;
    m->tools_count = m->list_count;
    m->list_arena = (struct arena){.mem = m->mem};
    mcp_list_clear(m);
    return true;
}

const struct mcp_tool *mcp_tool_named(const struct mcp *m, wend_str name)
{
    const struct mcp_tool *t = m->tools;

    while (t && !str_eq(t->name, name))
        t = t->next;
    return t;
}

/* ---- Names --------------------------------------------------------------- */

static bool fits(char c)
{
    return is_word(c) || c == '-';
}

void mcp_tool_name(struct buf *out, wend_str server, wend_str tool)
{
    char hex[SHA256_HEX + 1];
    size_t room;

    buf_str(out, server);
    buf_char(out, '.');
    room = SERVER_TOOL_MAX - (server.len + 1);
    if (tool.len > room) {
        sha256_hex(hex, tool);
        tool.len = room - HASH_SHOWN - 1;
    } else {
        hex[0] = 0;
    }
    for (size_t i = 0; i < tool.len; i++)
        buf_char(out, fits(tool.ptr[i]) ? tool.ptr[i] : '_');
    if (hex[0]) {
        buf_char(out, '_');
        buf_add(out, hex, HASH_SHOWN);
    }
}
