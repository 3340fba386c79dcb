/*
 * mcp_tools.c - a server's list of tools: read, bounded, cleaned, hashed.
 *
 * The server is not trusted: what its descriptions hide is taken out, and
 * the hash of all of it lets a user accept it once and notice a change.
 */
#include <stdlib.h>

#include "base/ascii.h"
#include "base/header.h"
#include "base/utf8.h"
#include "wire/mcp/mcp_parts.h"

enum {
    NAME_MAX_BYTES = 256, /* of a tool at its server */
    NAME_SHOWN = 60,      /* in a warning */
    HEADER_MAX = 64,
    HASH_SHOWN = 6,                      /* digits that tell cut names apart */
    SERVER_TOOL_MAX = TOOL_NAME_MAX - 1, /* providers take `.` as two */
};

/* ---- Arguments that go into headers, too --------------------------------- */

/* A schema says so by this mark, at a property that can be reached by
 * `properties` alone. Anywhere else, or with a name or a type that will not
 * do, it makes the tool unusable: the server would refuse every call. */
#define MARK "x-mcp-header"

struct finder {
    struct arena *arena;
    struct mcp_param *first, **tail;
    size_t count;
    const char *wrong;
    wend_str path[JSON_DEPTH_MAX];
};

static void take_param(struct finder *f, const struct json *property,
                       wend_str name, size_t depth)
{
    static const char *const types[] = {"string", "integer", "boolean"};
    wend_str type = json_get_str(property, "type");
    wend_str *path = arena_alloc(f->arena, (depth + 1) * sizeof *path);
    struct mcp_param *p = arena_alloc(f->arena, sizeof *p);

    if (!header_name_ok(name) || name.len > HEADER_MAX)
        f->wrong = MARK " is not a header name";
    else if (str_index(type, types, 3) < 0)
        f->wrong = MARK " is for strings, integers and booleans";
    else if (f->count == MCP_PARAMS_MAX)
        f->wrong = "too many " MARK;
    for (const struct mcp_param *q = f->first; q; q = q->next)
        if (str_same(q->header, name))
            f->wrong = "two " MARK " have one name";
    if (f->wrong || !path || !p)
        return;
    for (size_t i = 0; i < depth; i++)
        path[i] = arena_str(f->arena, f->path[i]);
    p->header = arena_str(f->arena, name);
    p->path = path;
    p->path_count = depth;
    *f->tail = p;
    f->tail = &p->next;
    f->count++;
}

/* Marks in places where none may be. Depth is bounded by the parser's. */
static size_t count_marks(const struct json *j)
{
    size_t n = 0;

    for (const struct json *c = j->first; c; c = c->next)
        n += count_marks(c) + (j->kind == JSON_OBJECT && str_is(c->key, MARK));
    return n;
}

static void walk(struct finder *f, const struct json *schema, size_t depth)
{
    const struct json *all = json_get(schema, "properties"), *mark;

    for (const struct json *p = all ? all->first : NULL; p && !f->wrong;
         p = p->next) {
        f->path[depth] = p->key;
        mark = json_get(p, MARK);
        if (mark)
            take_param(f, p, json_str(mark), depth + 1);
        walk(f, p, depth + 1);
    }
}

const char *mcp_params_find(const struct json *schema, struct arena *a,
                            const struct mcp_param **out)
{
    struct finder f = {.arena = a};
    size_t marks = count_marks(schema);

    f.tail = &f.first;
    if (marks)
        walk(&f, schema, 0);
    if (!f.wrong && f.count != marks && !a->failed)
        f.wrong = MARK " stands where it means nothing";
    *out = f.first;
    return f.wrong;
}

/* ---- One tool ------------------------------------------------------------ */

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

/* The text without what hides or acts in it, cut to `max` bytes. A model reads
 * the strings of a schema, which is canonical JSON, as it reads a
 * description. */
static wend_str clean(struct mcp *m, wend_str s, bool json, size_t max)
{
    struct buf b = {.mem = m->mem};
    struct utf8_before before = {0};
    size_t len;

    for (size_t i = 0; i < s.len && b.len <= max; i += len) {
        wend_str rest = str_skip(s, i);

        len = json ? control_at(s, i) : 0;
        if (len)
            continue;
        len = json && s.ptr[i] == '\\' ? 2 : 0;
        if (len || !utf8_hides(&before, utf8_first(rest, &len)))
            buf_add(&b, rest.ptr, len);
    }
    if (b.len > max) {
        b.len = utf8_cut(buf_view(&b), max);
        buf_cstr(&b, " [cut]");
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
    wend_str name = json_get_str(j, "name");
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
    t->description_all = arena_str(a, json_get_str(j, "description"));
    t->description = clean(m, t->description_all, false, MCP_DESCRIPTION_MAX);
    t->schema_all =
        schema ? keep_json(m, schema) : STR("{\"type\":\"object\"}");
    t->schema = clean(m, t->schema_all, true, SIZE_MAX);
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
