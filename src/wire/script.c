/*
 * script.c - scripted models: reading, choosing, filling in.
 *
 * One table for each kind of mapping says which keys it knows and how each
 * is read; everything else is refused, since a key that is silently ignored
 * costs its writer an hour. Everything a script holds is in its arena.
 */
#include "wire/script.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "wire/yaml.h"

enum {
    CHUNK_DEFAULT = 4,
    CHUNK_MAX = 1000000,
    WHERE_MAX = 96,  /* turns[99999].calls[4294967295].args_text */
    QUOTED_MAX = 48, /* bytes of the input that a message repeats */
};

#define REPEAT_MAX (INT64_C(1) << 31)
#define TOKENS_MAX (INT64_C(1) << 53) /* exact in any JSON reader */

struct reader {
    struct arena *arena;
    wend_error *err;
    struct buf scratch;
    char where[WHERE_MAX]; /* path of the value being read; "" = all */
};

struct field {
    const char *name;
    wend_status (*read)(struct reader *r, const struct field *f,
                        const struct json *j, void *at);
    size_t offset; /* of what `read` fills, in the target */
    int64_t min, max;
    const char *const *words;
    int words_count;
};

#define COUNT_OF(a) ((int)(sizeof(a) / sizeof *(a)))

/* ---- Reports ------------------------------------------------------------- */

/* A value as a message repeats it: short scalars as they are. */
static void describe(const struct json *j, char *out, size_t size)
{
    static const char *const kinds[] = {
        [JSON_NULL] = "nothing",     [JSON_FALSE] = "false",
        [JSON_TRUE] = "true",        [JSON_NUMBER] = "a number",
        [JSON_STRING] = "a string",  [JSON_ARRAY] = "a list",
        [JSON_OBJECT] = "a mapping",
    };

    if (j->text.len > QUOTED_MAX || !j->text.ptr)
        snprintf(out, size, "%s", kinds[j->kind]);
    else if (j->kind == JSON_STRING)
        snprintf(out, size, "'%.*s'", (int)j->text.len, j->text.ptr);
    else
        snprintf(out, size, "%.*s", (int)j->text.len, j->text.ptr);
}

static const char *where(const struct reader *r)
{
    return r->where[0] ? r->where : "the script";
}

static wend_status wrong(struct reader *r, const struct json *j,
                         const char *wanted)
{
    char found[QUOTED_MAX + 3];

    describe(j, found, sizeof found);
    return fail_at(r->err, WEND_E_PARSE, j->line, j->column,
                   "%s must be %s, not %s", where(r), wanted, found);
}

static wend_status missing(struct reader *r, const struct json *j,
                           const char *key)
{
    return fail_at(r->err, WEND_E_PARSE, j->line, j->column, "%s needs '%s'",
                   where(r), key);
}

static wend_status unknown(struct reader *r, const struct json *j,
                           const char *what, const struct field *fields,
                           int count)
{
    const char *names[16], *near;

    for (int i = 0; i < count; i++)
        names[i] = fields[i].name;
    near = str_near(j->key, names, count);
    return fail_at(r->err, WEND_E_PARSE, j->line, j->column,
                   "unknown key '%.*s' in %s%s%s%s",
                   (int)utf8_cut(j->key, QUOTED_MAX), j->key.ptr, what,
                   near ? "; did you mean '" : "", near ? near : "",
                   near ? "'?" : "");
}

/* ---- Scalars ------------------------------------------------------------- */

static wend_status read_text(struct reader *r, const struct field *f,
                             const struct json *j, void *at)
{
    (void)f;
    if (j->kind != JSON_STRING)
        return wrong(
            r, j, j->kind == JSON_NUMBER ? "a string in quotes" : "a string");
    *(wend_str *)at = j->text;
    return WEND_OK;
}

static wend_status read_name(struct reader *r, const struct field *f,
                             const struct json *j, void *at)
{
    if (j->kind == JSON_STRING && !j->text.len)
        return wrong(r, j, "a string that is not empty");
    return read_text(r, f, j, at);
}

static wend_status read_number(struct reader *r, const struct field *f,
                               const struct json *j, void *at)
{
    char wanted[80];
    int64_t n;

    if (json_i64(j, &n) && n >= f->min && n <= f->max) {
        *(int64_t *)at = n;
        return WEND_OK;
    }
    snprintf(wanted, sizeof wanted, "a whole number from %lld to %lld",
             (long long)f->min, (long long)f->max);
    return wrong(r, j, wanted);
}

static wend_status read_repeat(struct reader *r, const struct field *f,
                               const struct json *j, void *at)
{
    char wanted[80];
    int64_t n;

    if (str_is(json_str(j), "forever"))
        n = 0;
    else if (!json_i64(j, &n) || n < f->min || n > f->max) {
        snprintf(wanted, sizeof wanted,
                 "forever or a whole number from %lld to %lld",
                 (long long)f->min, (long long)f->max);
        return wrong(r, j, wanted);
    }
    *(int64_t *)at = n;
    return WEND_OK;
}

static wend_status read_ms(struct reader *r, const struct field *f,
                           const struct json *j, void *at)
{
    (void)f;
    if ((j->kind != JSON_STRING && j->kind != JSON_NUMBER) ||
        !str_to_ms(j->text, at))
        return wrong(r, j, "a duration such as 20ms");
    return WEND_OK;
}

/* Which of the field's words; says the nearest if it is none. */
static wend_status find_word(struct reader *r, const struct field *f,
                             const struct json *j, int *out)
{
    const char *near;
    char wanted[160] = "one of";
    size_t len = strlen(wanted);

    *out = str_index(json_str(j), f->words, f->words_count);
    if (*out >= 0)
        return WEND_OK;
    near = j->kind == JSON_STRING ? str_near(j->text, f->words, f->words_count)
                                  : NULL;
    if (near)
        return fail_at(r->err, WEND_E_PARSE, j->line, j->column,
                       "%s is '%.*s'; did you mean '%s'?", where(r),
                       (int)utf8_cut(j->text, QUOTED_MAX), j->text.ptr, near);
    for (int i = 0; i < f->words_count && len < sizeof wanted; i++)
        len += (size_t)snprintf(wanted + len, sizeof wanted - len, "%s%s",
                                i ? ", " : " ", f->words[i]);
    return wrong(r, j, wanted);
}

static wend_status read_word(struct reader *r, const struct field *f,
                             const struct json *j, void *at)
{
    int i;
    wend_status s = find_word(r, f, j, &i);

    if (!s)
        *(wend_str *)at = j->text;
    return s;
}

static wend_status read_purpose(struct reader *r, const struct field *f,
                                const struct json *j, void *at)
{
    int i;
    wend_status s = find_word(r, f, j, &i);

    if (!s)
        *(wend_purpose *)at = (wend_purpose)i;
    return s;
}

/* ---- Mappings ------------------------------------------------------------ */

/* Reads one mapping into the target; `what` is its name in messages. */
static wend_status read_mapping(struct reader *r, const struct json *j,
                                const char *what, const struct field *fields,
                                int count, void *target)
{
    size_t len = strlen(r->where);
    wend_status s;
    int i;

    if (j->kind != JSON_OBJECT)
        return wrong(r, j, "a mapping");
    for (const struct json *m = j->first; m; m = m->next) {
        for (i = 0; i < count; i++)
            if (str_is(m->key, fields[i].name))
                break;
        if (i == count)
            return unknown(r, m, what, fields, count);
        snprintf(r->where + len, sizeof r->where - len, "%s%s", len ? "." : "",
                 fields[i].name);
        s = fields[i].read(r, &fields[i], m, (char *)target + fields[i].offset);
        if (s)
            return s;
        r->where[len] = 0;
    }
    return WEND_OK;
}

static wend_status read_usage(struct reader *r, const struct field *f,
                              const struct json *j, void *at)
{
#define TOKENS(name)                                                      \
    {                                                                     \
#name, read_number, offsetof(wend_ev_usage, name), 0, TOKENS_MAX, \
            NULL, 0                                                       \
    }
    static const struct field fields[] = {
        TOKENS(input),
        TOKENS(output),
        TOKENS(cached),
        TOKENS(reasoning),
    };
#undef TOKENS

    (void)f;
    return read_mapping(r, j, "usage", fields, COUNT_OF(fields), at);
}

static wend_status read_error(struct reader *r, const struct field *f,
                              const struct json *j, void *at)
{
    static const char *const codes[] = {
        "network",   "timeout", "rate_limit", "service", "auth",
        "not_found", "invalid", "overflow",   "unknown",
    };
    static const struct field fields[] = {
        {"code", read_word, offsetof(struct script_error, code), 0, 0, codes,
         COUNT_OF(codes)},
        {"message", read_text, offsetof(struct script_error, message), 0, 0,
         NULL, 0},
        {"after", read_number, offsetof(struct script_error, after), 0,
         REPEAT_MAX, NULL, 0},
    };
    struct script_error *e = at;
    wend_status s;

    (void)f;
    e->message = STR("scripted error");
    s = read_mapping(r, j, "an error", fields, COUNT_OF(fields), e);
    if (s)
        return s;
    return e->code.ptr ? WEND_OK : missing(r, j, "code");
}

/* ---- Calls --------------------------------------------------------------- */

struct call_draft {
    struct script_call call;
    wend_str args_text;
};

static wend_status read_args(struct reader *r, const struct field *f,
                             const struct json *j, void *at)
{
    wend_str text;

    (void)f;
    if (j->kind != JSON_OBJECT)
        return wrong(r, j, "a mapping (args_text takes any text)");
    buf_clear(&r->scratch);
    json_put(&r->scratch, j);
    text = r->scratch.failed ? STR_NONE
                             : arena_str(r->arena, buf_view(&r->scratch));
    *(wend_str *)at = text;
    return text.ptr ? WEND_OK : fail_nomem(r->err);
}

static wend_status read_call(struct reader *r, const struct json *j,
                             struct script_call *out)
{
    static const struct field fields[] = {
        {"id", read_name, offsetof(struct call_draft, call.id), 0, 0, NULL, 0},
        {"name", read_name, offsetof(struct call_draft, call.name), 0, 0, NULL,
         0},
        {"args", read_args, offsetof(struct call_draft, call.args), 0, 0, NULL,
         0},
        {"args_text", read_text, offsetof(struct call_draft, args_text), 0, 0,
         NULL, 0},
    };
    struct call_draft d = {.args_text = STR_NONE};
    wend_status s = read_mapping(r, j, "a call", fields, COUNT_OF(fields), &d);

    if (s)
        return s;
    if (!d.call.name.ptr)
        return missing(r, j, "name");
    if (d.call.args.ptr && d.args_text.ptr)
        return fail_at(r->err, WEND_E_PARSE, j->line, j->column,
                       "%s has both 'args' and 'args_text'", where(r));
    *out = d.call;
    if (d.args_text.ptr)
        out->args = d.args_text;
    else if (!d.call.args.ptr)
        out->args = STR("{}");
    return WEND_OK;
}

static wend_status read_calls(struct reader *r, const struct field *f,
                              const struct json *j, void *at)
{
    size_t len = strlen(r->where), n = 0;
    struct script_entry *e = at;
    struct script_call *calls;
    wend_status s;

    (void)f;
    if (j->kind != JSON_ARRAY)
        return wrong(r, j, "a list");
    calls = arena_alloc(r->arena, j->count * sizeof *calls);
    if (!calls)
        return fail_nomem(r->err);
    for (const struct json *c = j->first; c; c = c->next) {
        snprintf(r->where + len, sizeof r->where - len, "[%zu]", n);
        s = read_call(r, c, &calls[n]);
        if (s)
            return s;
        n++;
    }
    e->calls = calls;
    e->calls_count = n;
    return WEND_OK;
}

/* ---- Turns --------------------------------------------------------------- */

static wend_status read_entry(struct reader *r, const struct json *j,
                              struct script_entry *e)
{
    static const char *const finishes[] = {"stop", "length", "content_filter",
                                           "tool_calls"};
    static const char *const purposes[] = {
        [WEND_PURPOSE_ANSWER] = "answer", [WEND_PURPOSE_SUMMARY] = "summary",
        [WEND_PURPOSE_REPAIR] = "repair", [WEND_PURPOSE_PLAN] = "plan",
        [WEND_PURPOSE_JUDGE] = "judge",   [WEND_PURPOSE_MEMORY] = "memory",
    };
#define AT(member) offsetof(struct script_entry, member)
    static const struct field fields[] = {
        {"text", read_text, AT(text), 0, 0, NULL, 0},
        {"thinking", read_text, AT(thinking), 0, 0, NULL, 0},
        {"when", read_text, AT(when), 0, 0, NULL, 0},
        {"calls", read_calls, 0, 0, 0, NULL, 0},
        {"usage", read_usage, AT(usage), 0, 0, NULL, 0},
        {"chunk", read_number, AT(chunk), 1, CHUNK_MAX, NULL, 0},
        {"delay", read_ms, AT(delay_ms), 0, 0, NULL, 0},
        {"first_delay", read_ms, AT(first_delay_ms), 0, 0, NULL, 0},
        {"finish", read_word, AT(finish), 0, 0, finishes, COUNT_OF(finishes)},
        {"error", read_error, AT(error), 0, 0, NULL, 0},
        {"purpose", read_purpose, AT(purpose), 0, 0, purposes,
         COUNT_OF(purposes)},
        {"repeat", read_repeat, AT(repeat), 1, REPEAT_MAX, NULL, 0},
    };
#undef AT

    e->usage.cost_nano = -1; /* a script knows no prices */
    e->chunk = CHUNK_DEFAULT;
    e->first_delay_ms = -1;
    e->repeat = 1;
    return read_mapping(r, j, "a turn", fields, COUNT_OF(fields), e);
}

static wend_status read_turns(struct reader *r, const struct field *f,
                              const struct json *j, void *at)
{
    size_t len = strlen(r->where), n = 0;
    struct script *script = at;
    struct script_entry *entries;
    uint32_t *repeats;
    wend_status s;

    (void)f;
    if (j->kind != JSON_ARRAY)
        return wrong(r, j, "a list");
    if (j->count > SCRIPT_TURNS_MAX)
        return fail_at(r->err, WEND_E_LIMIT, j->line, j->column,
                       "%u turns; a script has at most %d", j->count,
                       SCRIPT_TURNS_MAX);
    entries = arena_alloc(r->arena, j->count * sizeof *entries);
    repeats = arena_alloc(r->arena, j->count * sizeof *repeats);
    if (!entries || !repeats)
        return fail_nomem(r->err);
    for (const struct json *t = j->first; t; t = t->next) {
        snprintf(r->where + len, sizeof r->where - len, "[%zu]", n);
        s = read_entry(r, t, &entries[n]);
        if (s)
            return s;
        repeats[n] = (uint32_t)entries[n].repeat;
        n++;
    }
    script->entries = entries;
    script->repeats = repeats;
    script->count = n;
    return WEND_OK;
}

static wend_status read_version(struct reader *r, const struct field *f,
                                const struct json *j, void *at)
{
    (void)f;
    (void)at;
    return str_is(json_str(j), "script/1") ? WEND_OK : wrong(r, j, "script/1");
}

static wend_status read_script(struct reader *r, const struct json *j,
                               struct script *out)
{
    static const struct field fields[] = {
        {"wend", read_version, 0, 0, 0, NULL, 0},
        {"model", read_name, offsetof(struct script, model), 0, 0, NULL, 0},
        {"turns", read_turns, 0, 0, 0, NULL, 0},
    };
    wend_status s;

    out->model = STR("script");
    s = read_mapping(r, j, "a script", fields, COUNT_OF(fields), out);
    if (s)
        return s;
    return json_get(j, "turns") ? WEND_OK : missing(r, j, "turns");
}

/* ---- Public -------------------------------------------------------------- */

wend_status script_parse(wend_str text, struct arena *a, struct script **out,
                         wend_error *err)
{
    struct reader r = {.arena = a, .err = err, .scratch = {.mem = a->mem}};
    wend_error own;
    struct script *script;
    struct json *j;
    wend_status s;

    if (text.len > SCRIPT_BYTES_MAX)
        return fail(err, WEND_E_LIMIT, "script of %zu bytes; at most %d",
                    text.len, SCRIPT_BYTES_MAX);
    if (!r.err)
        r.err = &own; /* the status below comes from it */
    j = yaml_parse(text, a, r.err);
    if (!j)
        return r.err->status;
    script = arena_alloc(a, sizeof *script);
    s = script ? read_script(&r, j, script) : fail_nomem(r.err);
    buf_free(&r.scratch);
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
    for (size_t i = 0; i < s->count; i++) {
        const struct script_entry *e = &s->entries[i];

        if (s->repeats[i] && used[i] >= s->repeats[i])
            continue;
        if (e->purpose == purpose && contains(last_message, e->when))
            return (int)i;
    }
    return -1;
}

/* As a JSON string without its quotes. */
static void put_escaped(struct buf *out, wend_str s)
{
    size_t at = out->len;

    json_put_str(out, s);
    if (out->failed)
        return;
    out->len -= 2;
    memmove(out->ptr + at, out->ptr + at + 1, out->len - at);
    out->ptr[out->len] = 0;
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
                put_escaped(out, tool_result);
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
