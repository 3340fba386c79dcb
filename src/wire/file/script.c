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

/* ---- Mappings ------------------------------------------------------------ */

#define AT(member) .offset = offsetof(wend_ev_usage, member), .max = TOKENS_MAX
static const struct field usage_rows[] = {
    {"input", field_number, AT(input)},
    {"output", field_number, AT(output)},
    {"cached", field_number, AT(cached)},
    {"reasoning", field_number, AT(reasoning)},
    {0},
};
#undef AT

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

static FIELD_READ(read_call)
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
        return fields_fail(f, j, "%s has both 'args' and 'args_text'",
                           fields_where(f));
    if (d.args_text.ptr)
        d.call.args = d.args_text;
    else if (!d.call.args.ptr)
        d.call.args = STR("{}");
    *(struct script_call *)at = d.call;
    return WEND_OK;
}

/* ---- Turns --------------------------------------------------------------- */

static FIELD_READ(read_entry)
{
    static const char *const forever[] = {"forever", NULL};
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
        {"calls", field_list,
         FIELD_ITEMS(struct script_entry, calls, read_call, UINT32_MAX)},
        {"usage", field_mapping, AT(usage), .rows = usage_rows},
        {"chunk", field_number, AT(chunk), .min = 1, .max = CHUNK_MAX},
        {"delay", field_ms, AT(delay_ms)},
        {"first_delay", field_ms, AT(first_delay_ms)},
        {"finish", field_word, AT(finish), .words = finishes},
        {"error", read_error, AT(error)},
        {"purpose", field_index, AT(purpose), .words = purposes},
        {"repeat", field_number, AT(repeat), .min = 1, .max = REPEAT_MAX,
         .words = forever},
        {0},
    };
#undef AT
    struct script_entry *e = at;

    e->usage.cost_nano = -1; /* a script knows no prices */
    e->chunk = CHUNK_DEFAULT;
    e->first_delay_ms = -1;
    e->repeat = 1;
    return fields_read(f, j, rows, e);
}

static FIELD_READ(read_turns)
{
    struct script *script = container_of(at, struct script, entries);
    uint32_t *repeats;
    wend_status s = field_list(f, field, j, at);

    if (s)
        return s;
    repeats = arena_alloc(f->arena, (script->count + 1) * sizeof *repeats);
    if (!repeats)
        return fail_nomem(f->err);
    for (size_t i = 0; i < script->count; i++)
        repeats[i] = (uint32_t)script->entries[i].repeat;
    script->repeats = repeats;
    return WEND_OK;
}

static const char *const version[] = {"script/1", NULL};
static const struct field script_rows[] = {
    {"wend", .read = field_version, .words = version},
    {"model", field_name, .offset = offsetof(struct script, model)},
    {"turns", read_turns,
     FIELD_ITEMS(struct script, entries, read_entry, SCRIPT_TURNS_MAX),
     .needed = true},
    {0},
};

/* ---- Public -------------------------------------------------------------- */

wend_status script_parse(wend_str text, struct arena *a, struct script **out,
                         wend_error *err)
{
    struct fields f = {.arena = a, .err = err, .whole = "the script"};
    struct script *script =
        file_parse(&f, text, SCRIPT_BYTES_MAX, script_rows, sizeof *script);

    if (!script)
        return f.err->status;
    script->model = str_or(script->model, "script");
    *out = script;
    return WEND_OK;
}

int script_pick(const struct script *s, const uint32_t *used,
                wend_purpose purpose, wend_str last_message)
{
    assert(s->count <= SCRIPT_TURNS_MAX);
    for (size_t i = 0; i < s->count; i++) {
        const struct script_entry *e = &s->entries[i];

        if (s->repeats[i] && used[i] >= s->repeats[i])
            continue;
        if (e->purpose == purpose && str_has(last_message, e->when))
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
