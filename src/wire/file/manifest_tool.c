/*
 * manifest_tool.c - files that describe tools, and the readers that files of
 * agents share with them.
 */
#include <string.h>

#include "base/ascii.h"
#include "base/fail.h"
#include "base/label.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "core/config/config.h"
#include "wire/file/manifest_read.h"

/* ---- Words --------------------------------------------------------------- */

FIELD_READ(manifest_read_word)
{
    struct manifest_word *w = at;

    w->line = j->line;
    w->column = j->column;
    return field_cstr(f, field, j, &w->text);
}

/* Words behind the program may be empty. */
static FIELD_READ(read_argument)
{
    if (j->kind != JSON_STRING || j->text.len)
        return manifest_read_word(f, field, j, at);
    *(struct manifest_word *)at =
        (struct manifest_word){STR(""), j->line, j->column};
    return WEND_OK;
}

FIELD_READ(manifest_read_command)
{
    static const struct field row = {
        .name = "",
        MANIFEST_WORDS(struct tool_manifest, command, read_argument)};
    struct manifest_words *w = at;
    wend_status s;

    if (j->kind != JSON_ARRAY)
        return fields_wrong(f, j,
                            "a list such as [program, argument]; no shell "
                            "takes it apart");
    s = field_list(f, &row, j, w);
    if (s)
        return s;
    return w->count && w->list[0].text.len
               ? WEND_OK
               : fields_fail(f, j, "%s names no program", fields_where(f));
}

FIELD_READ(manifest_read_variable)
{
    wend_str name = json_str(j);

    for (size_t i = 0; i < name.len; i++) {
        if (!is_word(name.ptr[i]) || (!i && is_digit(name.ptr[i])))
            name.len = 0;
    }
    if (!name.len)
        return fields_wrong(f, j, "the name of an environment variable");
    return manifest_read_word(f, field, j, at);
}

FIELD_READ(manifest_read_off)
{
    static const char *const words[] = {"on", "off", NULL};

    return field_second(f, &(struct field){.words = words}, j, at);
}

/* ---- Paths --------------------------------------------------------------- */

bool manifest_is_file(wend_str entry)
{
    static const char *const suffixes[] = {".yaml", ".yml", ".json", ".md"};

    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (str_ends(entry, suffixes[i]) && entry.len > strlen(suffixes[i]))
            return true;
    return entry.len && memchr(entry.ptr, '/', entry.len);
}

void manifest_path(struct buf *out, wend_str of, wend_str path)
{
    const char *slash = of.len ? memrchr(of.ptr, '/', of.len) : NULL;

    if (slash && !str_starts(path, "/"))
        buf_add(out, of.ptr, (size_t)(slash - of.ptr) + 1);
    while (slash && str_starts(path, "./"))
        path = (wend_str){path.ptr + 2, path.len - 2};
    buf_str(out, path);
}

bool manifest_word_is_path(wend_str word, size_t i)
{
    return str_starts(word, "./") || str_starts(word, "../") ||
           (!i && word.len && memchr(word.ptr, '/', word.len));
}

wend_str manifest_rule_tool(wend_str rule)
{
    if (rule.len && (rule.ptr[0] == '!' || rule.ptr[0] == '?'))
        rule = (wend_str){rule.ptr + 1, rule.len - 1};
    for (size_t i = 0; i < rule.len; i++) {
        if (strchr("*?.", rule.ptr[i]))
            return STR_NONE;
        if (rule.ptr[i] == '(')
            rule.len = i;
    }
    return rule;
}

wend_str manifest_stem(const char *path)
{
    size_t len = strlen(path);
    const char *slash = memrchr(path, '/', len);
    wend_str name = str_of(slash ? slash + 1 : path);
    const char *dot = memrchr(name.ptr, '.', name.len);

    if (dot && dot > name.ptr)
        name.len = (size_t)(dot - name.ptr);
    return name;
}

const char *const manifest_tools_default[] = {
    "calculator", "read_file", "list_dir", "glob", "grep", NULL};

bool manifest_word_is_script(wend_str before)
{
    static const char *const options[] = {"-c",     "-e",     "-ec", "-lc",
                                          "-exec",  "-E",     "-p",  "-r",
                                          "--eval", "--print"};

    return str_index(before, options, sizeof options / sizeof *options) >= 0;
}

/* ---- The tool ------------------------------------------------------------ */

const char *const manifest_classes[] = {
    [WEND_CLASS_UNSAFE] = "unsafe",
    [WEND_CLASS_IDEMPOTENT] = "idempotent",
    [WEND_CLASS_READ] = "read",
    NULL,
};

FIELD_READ(manifest_read_tool_name)
{
    if (j->kind == JSON_STRING && !tool_name_ok(j->text))
        return fields_wrong(f, j, "1 to 64 of A-Z a-z 0-9 _ . -");
    return field_cstr(f, field, j, at);
}

FIELD_READ(manifest_read_schema)
{
    struct schema *schema;
    wend_error why = {0};
    wend_status s = field_json(f, field, j, at);

    if (s)
        return s;
    s = schema_compile(j, f->arena, &schema, &why);
    if (s == WEND_E_NOMEM)
        return fail_nomem(f->err);
    return s ? fail_at(f->err, s, why.line, why.column, "%s: %.*s",
                       fields_where(f), (int)utf8_cut(str_of(why.message), 400),
                       why.message)
             : WEND_OK;
}

FIELD_READ(manifest_read_label)
{
    static const char *const labels[] = {"network", "untrusted_source",
                                         "sensitive", "external_effect", NULL};
    const struct field row = {.words = labels};
    int i;
    wend_status s = field_index(f, &row, j, &i);

    return s ? s : manifest_read_word(f, field, j, at);
}

uint32_t manifest_labels(const struct manifest_words *w)
{
    uint32_t labels = 0;

    for (size_t i = 0; i < w->count; i++)
        labels |= label_of(w->list[i].text);
    return labels;
}

/* No program of ours runs for it. */
static wend_status check_client(struct fields *f, const struct json *j)
{
    static const char *const others[] = {
        "command", "verify", "timeout", "sandbox",    "secrets", "output",
        "repeat",  "cache",  "memory",  "per_minute", "disk",    "tasks"};

    for (const struct json *m = j->first; m; m = m->next)
        if (str_index(m->key, others, sizeof others / sizeof *others) >= 0)
            return fields_fail_key(f, m,
                                   "%.*s: the caller of a run executes this "
                                   "tool (client), no program does",
                                   (int)m->key.len, m->key.ptr);
    return WEND_OK;
}

/* What only makes sense together. */
static wend_status check_tool(struct fields *f, const struct json *j,
                              const struct tool_manifest *t)
{
    const struct json *cache = json_get(j, "cache");
    const struct json *subject = json_get(j, "subject");
    const struct json *known = json_get(json_get(j, "schema"), "properties");

    if (!t->client && !t->command.count)
        return fields_missing(f, j, "command");
    if (t->client && check_client(f, j))
        return f->err->status;
    if (cache && t->call_class != WEND_CLASS_READ)
        return fields_fail(f, cache,
                           "cache: only answers of class read can be given "
                           "again");
    if (subject && known && !json_get(known, t->subject.ptr))
        return fields_fail(f, subject,
                           "subject: the schema has no property '%.*s'",
                           UTF8_ARGS(t->subject, 80));
    return WEND_OK;
}

static const char *const version[] = {"tool/1", NULL};
static const char *const categories[] = {
    [WEND_CATEGORY_GENERAL] = "general",
    [WEND_CATEGORY_NETWORK] = "network",
    [WEND_CATEGORY_DESTRUCTIVE] = "destructive",
    NULL,
};
static const char *const outputs[] = {"text", "json", NULL};
static const char *const repeats[] = {"warn", "ok", NULL};
#define AT(member) .offset = offsetof(struct tool_manifest, member)
#define WORDS(member, read) MANIFEST_WORDS(struct tool_manifest, member, read)
static const struct field tool_rows[] = {
    {"wend", .read = field_version, .words = version, .needed = true},
    {"name", manifest_read_tool_name, AT(name), .needed = true},
    {"description", field_cstr, AT(description), .needed = true},
    {"schema", manifest_read_schema, AT(schema)},
    {"command", manifest_read_command, AT(command)},
    {"client", field_bool, AT(client)},
    {"verify", manifest_read_command, AT(verify)},
    {"class", field_index, AT(call_class), .words = manifest_classes},
    {"category", field_index, AT(category), .words = categories},
    {"labels", field_list, WORDS(labels, manifest_read_label)},
    {"timeout", field_ms, AT(timeout_ms), .min = 1, .max = UINT32_MAX},
    {"sandbox", manifest_read_off, AT(sandbox_off)},
    {"secrets", field_list, WORDS(secrets, manifest_read_variable)},
    {"output", field_second, AT(output_json), .words = outputs},
    {"repeat", field_second, AT(repeat_ok), .words = repeats},
    {"subject", field_cstr, AT(subject)},
    {"cache", field_ms, AT(cache_ms), .min = 1, .max = UINT32_MAX},
    {"per_minute", field_number, AT(per_minute), .min = 1, .max = PACE_MAX},
    {"memory", field_bytes, AT(memory_bytes), .min = BOUND_BYTES_MIN},
    {"disk", field_bytes, AT(disk_bytes), .min = BOUND_BYTES_MIN},
    {"tasks", field_number, AT(tasks), .min = 1, .max = BOUND_TASKS_MAX},
    {0},
};
#undef AT
#undef WORDS

wend_status tool_manifest_parse(wend_str text, struct arena *a,
                                struct tool_manifest **out, wend_error *err)
{
    struct fields f = {.arena = a, .err = err, .whole = "the file"};
    struct tool_manifest *t =
        file_parse(&f, text, MANIFEST_BYTES_MAX, tool_rows, sizeof *t);
    wend_status s = t ? check_tool(&f, f.root, t) : f.err->status;

    if (!s)
        *out = t;
    return s;
}
