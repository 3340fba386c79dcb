/*
 * script.c - scripted models: reading, choosing, filling in.
 *
 * Everything a script holds is in its arena.
 */
#include "wire/file/script.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/code.h"
#include "base/fail.h"
#include "base/limits.h"
#include "wire/file/file.h"

enum {
    CHUNK_DEFAULT = 4,
    CHUNK_MAX = 1000000,
};

#define REPEAT_MAX (INT64_C(1) << 31)
#define TOKENS_MAX (INT64_C(1) << 53) /* exact in any JSON reader */

/* ---- Scalars ------------------------------------------------------------- */

static FIELD_READ(read_repeat)
{
    char wanted[80];
    int64_t n;

    if (str_is(json_str(j), "forever"))
        n = 0;
    else if (!json_i64(j, &n) || n < field->min || n > field->max) {
        snprintf(wanted, sizeof wanted,
                 "forever or a whole number from %lld to %lld",
                 (long long)field->min, (long long)field->max);
        return fields_wrong(f, j, wanted);
    }
    *(int64_t *)at = n;
    return WEND_OK;
}

static FIELD_READ(read_purpose)
{
    int i;
    wend_status s = field_index(f, field, j, &i);

    if (!s)
        *(wend_purpose *)at = (wend_purpose)i;
    return s;
}

/* ---- Mappings ------------------------------------------------------------ */

static FIELD_READ(read_usage)
{
#define AT(member) .offset = offsetof(wend_ev_usage, member), .max = TOKENS_MAX
    static const struct field rows[] = {
        {"input", field_number, AT(input)},
        {"output", field_number, AT(output)},
        {"cached", field_number, AT(cached)},
        {"reasoning", field_number, AT(reasoning)},
        {0},
    };
#undef AT

    return fields_read(f, j, rows, at);
}

static FIELD_READ(read_error)
{
#define AT(member) .offset = offsetof(struct script_error, member)
    static const struct field rows[] = {
        {"code", field_word, AT(code), .words = code_names, .needed = true},
        {"message", field_text, AT(message)},
        {"after", field_number, AT(after), .max = REPEAT_MAX},
        {0},
    };
#undef AT
    struct script_error *e = at;

    e->message = STR("scripted error");
    return fields_read(f, j, rows, e);
}

/* ---- Calls --------------------------------------------------------------- */

struct call_draft {
    struct script_call call;
    wend_str args_text;
};

static FIELD_READ(read_args)
{
    if (j->kind != JSON_OBJECT)
        return fields_wrong(f, j, "a mapping (args_text takes any text)");
    return field_json(f, field, j, at);
}

static wend_status read_call(struct fields *f, const struct json *j, void *item)
{
#define AT(member) .offset = offsetof(struct call_draft, member)
    static const struct field rows[] = {
        {"id", field_name, AT(call.id)},
        {"name", field_name, AT(call.name), .needed = true},
        {"args", read_args, AT(call.args)},
        {"args_text", field_text, AT(args_text)},
        {0},
    };
#undef AT
    struct call_draft d = {.args_text = STR_NONE};
    wend_status s = fields_read(f, j, rows, &d);

    if (s)
        return s;
    if (d.call.args.ptr && d.args_text.ptr)
        return fail_at(f->err, WEND_E_PARSE, j->line, j->column,
                       "%s has both 'args' and 'args_text'", fields_where(f));
    if (d.args_text.ptr)
        d.call.args = d.args_text;
    else if (!d.call.args.ptr)
        d.call.args = STR("{}");
    *(struct script_call *)item = d.call;
    return WEND_OK;
}

static FIELD_READ(read_calls)
{
    struct script_entry *e = at;
    void *list;
    wend_status s = fields_list(f, j, sizeof *e->calls, SIZE_MAX, read_call,
                                &list, &e->calls_count);

    if (!s)
        e->calls = list;
    return s;
}

/* ---- Turns --------------------------------------------------------------- */

static wend_status read_entry(struct fields *f, const struct json *j,
                              void *item)
{
    static const char *const finishes[] = {"stop", "length", "content_filter",
                                           "tool_calls", NULL};
    static const char *const purposes[] = {
        [WEND_PURPOSE_ANSWER] = "answer",
        [WEND_PURPOSE_SUMMARY] = "summary",
        [WEND_PURPOSE_REPAIR] = "repair",
        [WEND_PURPOSE_PLAN] = "plan",
        [WEND_PURPOSE_JUDGE] = "judge",
        [WEND_PURPOSE_MEMORY] = "memory",
        NULL,
    };
#define AT(member) .offset = offsetof(struct script_entry, member)
    static const struct field rows[] = {
        {"text", field_text, AT(text)},
        {"thinking", field_text, AT(thinking)},
        {"when", field_text, AT(when)},
        {"calls", .read = read_calls},
        {"usage", read_usage, AT(usage)},
        {"chunk", field_number, AT(chunk), .min = 1, .max = CHUNK_MAX},
        {"delay", field_ms, AT(delay_ms)},
        {"first_delay", field_ms, AT(first_delay_ms)},
        {"finish", field_word, AT(finish), .words = finishes},
        {"error", read_error, AT(error)},
        {"purpose", read_purpose, AT(purpose), .words = purposes},
        {"repeat", read_repeat, AT(repeat), .min = 1, .max = REPEAT_MAX},
        {0},
    };
#undef AT
    struct script_entry *e = item;

    e->usage.cost_nano = -1; /* a script knows no prices */
    e->chunk = CHUNK_DEFAULT;
    e->first_delay_ms = -1;
    e->repeat = 1;
    return fields_read(f, j, rows, e);
}

static FIELD_READ(read_turns)
{
    struct script *script = at;
    struct script_entry *entries;
    uint32_t *repeats;
    void *list;
    wend_status s;

    s = fields_list(f, j, sizeof *entries, SCRIPT_TURNS_MAX, read_entry, &list,
                    &script->count);
    if (s)
        return s;
    repeats = arena_alloc(f->arena, (script->count + 1) * sizeof *repeats);
    if (!repeats)
        return fail_nomem(f->err);
    entries = list;
    for (size_t i = 0; i < script->count; i++)
        repeats[i] = (uint32_t)entries[i].repeat;
    script->entries = entries;
    script->repeats = repeats;
    return WEND_OK;
}

static wend_status read_script(struct fields *f, const struct json *j,
                               struct script *out)
{
    static const char *const version[] = {"script/1", NULL};
    static const struct field rows[] = {
        {"wend", .read = field_version, .words = version},
        {"model", field_name, .offset = offsetof(struct script, model)},
        {"turns", .read = read_turns, .needed = true},
        {0},
    };

    out->model = STR("script");
    return fields_read(f, j, rows, out);
}

/* ---- Public -------------------------------------------------------------- */

wend_status script_parse(wend_str text, struct arena *a, struct script **out,
                         wend_error *err)
{
    struct fields f = {.arena = a, .err = err, .whole = "the script"};
    void *script;
    wend_status s =
        file_begin(&f, text, SCRIPT_BYTES_MAX, sizeof **out, &script);

    if (!s)
        s = read_script(&f, f.root, script);
    if (!s)
        *out = script;
    return s;
}

static bool contains(wend_str text, wend_str part)
{
    return !part.len ||
           (text.len && memmem(text.ptr, text.len, part.ptr, part.len));
}

int script_pick(const struct script *s, const uint32_t *used,
                wend_purpose purpose, wend_str last_message)
{
    assert(s->count <= SCRIPT_TURNS_MAX);
    for (size_t i = 0; i < s->count; i++) {
        const struct script_entry *e = &s->entries[i];

        if (s->repeats[i] && used[i] >= s->repeats[i])
            continue;
        if (e->purpose == purpose && contains(last_message, e->when))
            return (int)i;
    }
    return -1;
}

wend_purpose script_purpose(const struct script *s, wend_purpose purpose)
{
    if (purpose != WEND_PURPOSE_PLAN)
        return purpose;
    for (size_t i = 0; i < s->count; i++)
        if (s->entries[i].purpose == WEND_PURPOSE_PLAN)
            return purpose;
    return WEND_PURPOSE_ANSWER;
}

void script_fill(struct buf *out, wend_str template_text, int64_t turn,
                 wend_str tool_result, bool as_json)
{
    wend_str rest = template_text;
    const char *mark;

    while (rest.len && (mark = memmem(rest.ptr, rest.len, "${", 2))) {
        size_t before = (size_t)(mark - rest.ptr), taken = 2;
        wend_str name = {mark, rest.len - before};

        buf_add(out, rest.ptr, before);
        if (str_starts(name, "${turn}")) {
            buf_i64(out, turn);
            taken = strlen("${turn}");
        } else if (str_starts(name, "${tool_result}") && tool_result.ptr) {
            if (as_json)
                json_put_inside(out, tool_result);
            else
                buf_str(out, tool_result);
            taken = strlen("${tool_result}");
        } else {
            buf_add(out, mark, taken);
        }
        rest.ptr += before + taken;
        rest.len -= before + taken;
    }
    buf_str(out, rest);
}
