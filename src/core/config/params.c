/*
 * params.c - parameters of generation, as users and configs write them.
 */
#include "core/config/params.h"

#include "base/fail.h"
#include "base/utf8.h"

#define EXTRA "extra."

const char *const asked_names[ASKED_FIELDS] = {
    [PARAM_TEMPERATURE] = "temperature",
    [PARAM_TOP_P] = "top_p",
    [PARAM_TOP_K] = "top_k",
    [PARAM_STOP] = "stop",
    [PARAM_SEED] = "seed",
    [PARAM_PRESENCE_PENALTY] = "presence_penalty",
    [PARAM_FREQUENCY_PENALTY] = "frequency_penalty",
    [ASKED_EFFORT] = "effort",
};

int param_find(wend_str name)
{
    return str_index(name, asked_names, PARAMS);
}

static bool is_text(const struct json *j)
{
    return j->kind == JSON_STRING && j->text.len;
}

static bool are_texts(const struct json *j)
{
    if (j->kind != JSON_ARRAY || !j->count || j->count > PARAM_STOPS_MAX)
        return false;
    for (const struct json *item = j->first; item; item = item->next)
        if (!is_text(item))
            return false;
    return true;
}

const char *param_wrong(enum param p, const struct json *value)
{
    double number;
    int64_t whole;

    if (value->kind == JSON_NULL)
        return NULL;
    switch (p) {
    case PARAM_STOP:
        return is_text(value) || are_texts(value)
                   ? NULL
                   : "a text, or a list of 1 to 16 texts";
    case PARAM_TOP_K:
    case PARAM_SEED: return json_i64(value, &whole) ? NULL : "a whole number";
    case PARAM_TEMPERATURE:
    case PARAM_TOP_P:
    case PARAM_PRESENCE_PENALTY:
    case PARAM_FREQUENCY_PENALTY:
        return json_f64(value, &number) ? NULL : "a number";
    case PARAMS: break;
    }
    return NULL;
}

wend_str param_text(enum param p, const struct json *value, struct arena *a)
{
    struct buf b = {.mem = a->mem};
    bool one = p == PARAM_STOP && value->kind == JSON_STRING;

    if (value->kind == JSON_NULL)
        return STR_NONE;
    if (one)
        buf_char(&b, '[');
    json_put(&b, value);
    if (one)
        buf_char(&b, ']');
    return buf_keep(&b, a);
}

static wend_status fail_name(wend_str name, wend_error *err)
{
    char hint[STR_HINT_BYTES];
    const char *near = str_near(name, asked_names, PARAMS);

    return fail(err, WEND_E_INVAL, "there is no parameter '%.*s'%s%s",
                UTF8_ARGS(name, 80), str_hint(hint, str_of(near)),
                near ? ""
                     : "; another field of the provider's request is "
                       "extra.FIELD");
}

/* A text that is not JSON is itself, where a text may stand. */
static struct json *read_value(wend_str text, bool texts, struct arena *a)
{
    struct json *j = json_parse(text, a, NULL);

    if (a->failed || !texts ||
        (j && (j->kind != JSON_NUMBER && j->kind != JSON_TRUE &&
               j->kind != JSON_FALSE && j->kind != JSON_OBJECT)))
        return j;
    j = arena_alloc(a, sizeof *j);
    if (j) {
        j->kind = JSON_STRING;
        j->text = text;
    }
    return j;
}

wend_status param_parse(wend_str text, struct arena *a, enum param *p,
                        wend_str *field, struct json **value, wend_error *err)
{
    wend_str copy = arena_str(a, text), name;
    const char *equals = copy.len ? memchr(copy.ptr, '=', copy.len) : NULL;
    const char *wrong;
    int i;

    if (a->failed)
        return fail_nomem(err);
    if (!equals || equals == copy.ptr)
        return fail(err, WEND_E_INVAL,
                    "a parameter is NAME=VALUE, such as temperature=0.2, not "
                    "'%.*s'",
                    UTF8_ARGS(text, 80));
    name = (wend_str){copy.ptr, (size_t)(equals - copy.ptr)};
    copy = str_skip(copy, name.len + 1);
    *p = PARAMS;
    if (str_starts(name, EXTRA) && name.len > sizeof EXTRA - 1) {
        *field = str_skip(name, sizeof EXTRA - 1);
        *value = json_parse(copy, a, NULL);
        if (!*value && !a->failed)
            *value = read_value(copy, true, a);
        return a->failed ? fail_nomem(err) : WEND_OK;
    }
    i = param_find(name);
    if (i < 0)
        return fail_name(name, err);
    *p = (enum param)i;
    *value = read_value(copy, i == PARAM_STOP, a);
    if (a->failed)
        return fail_nomem(err);
    wrong = *value ? param_wrong(*p, *value)
                   : param_wrong(*p, &(struct json){.kind = JSON_OBJECT});
    return wrong ? fail(err, WEND_E_INVAL, "%s must be %s, not '%.*s'",
                        asked_names[i], wrong, UTF8_ARGS(copy, 80))
                 : WEND_OK;
}

void params_read(const struct json *model, struct arena *a, struct params *out)
{
    const struct json *params = json_get(model, "params"), *value;
    const struct json *extra = json_get(model, "extra");

    for (int i = 0; params && i < PARAMS; i++)
        if ((value = json_get(params, asked_names[i])))
            out->value[i] = param_text((enum param)i, value, a);
    if (extra && extra->kind == JSON_OBJECT && extra->count)
        out->extra = extra;
}

void params_put(struct buf *b, const struct params *p)
{
    bool any = false;

    for (int i = 0; i < PARAMS; i++)
        any |= p->value[i].ptr != NULL;
    if (any) {
        json_open(b, "params", '{');
        for (int i = 0; i < PARAMS; i++)
            if (p->value[i].ptr)
                json_add_raw(b, asked_names[i], p->value[i]);
        json_close(b, '}');
    }
    if (p->extra)
        json_add(b, "extra", p->extra);
}

uint32_t asked_read(wend_str json, struct arena *a)
{
    struct arena scratch = {.mem = a->mem};
    const struct json *list =
        json.ptr ? json_parse(json, &scratch, NULL) : NULL;
    uint32_t asked = 0;

    for (const struct json *j = json_items(list); j; j = j->next) {
        int i = str_index(json_str(j), asked_names, ASKED_FIELDS);

        asked |= i >= 0 ? UINT32_C(1) << i : 0;
    }
    a->failed |= scratch.failed;
    arena_free(&scratch);
    return asked;
}

void asked_put(struct buf *b, uint32_t asked)
{
    json_open(b, NULL, '[');
    for (int i = 0; i < ASKED_FIELDS; i++)
        if (asked & UINT32_C(1) << i)
            json_add_str(b, NULL, str_of(asked_names[i]));
    json_close(b, ']');
}
