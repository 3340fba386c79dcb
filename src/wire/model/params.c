/*
 * params.c - parameters of generation in the words of each API: how they are
 * named, what they may be, and how a server says that it takes none.
 */
#include "wire/model/params.h"

#include <assert.h>

#include "base/ascii.h"
#include "wire/model/request.h"

enum { WORDS = 8 }; /* for the thinking effort, in one API */

/* No name: the API has none. Of `stop`, max is the number of texts. */
struct wire_param {
    const char *name;
    double min, max;
};

/* When a request has a field that wend writes. */
enum own_when { OWN_ALWAYS, OWN_EFFORT, OWN_SCHEMA };

struct wire_own {
    const char *name; /* NULL: the last one */
    enum own_when when;
    const char *instead; /* NULL: nothing is */
};

struct wire_params {
    const char *inside; /* the object that has them; NULL: the request */
    struct wire_param rows[PARAMS];
    const struct wire_own *own;        /* members of the request ... */
    const struct wire_own *own_inside; /* ... and of that object; or NULL */
    const char *effort[WORDS];         /* in errors; NULL at the end */
};

#define SEED_MAX 9007199254740991.0 /* what a JSON number keeps */
#define MANY 1e9                    /* the API names no maximum */
#define USE_OUTPUT "'output' in wend-models(5)"
#define USE_EFFORT "--effort"
#define USE_SCHEMA "--schema"

static const struct wire_own chat_own[] = {
    {"model", OWN_ALWAYS, "'model'"},
    {"messages", OWN_ALWAYS, "'instructions' and the prompt"},
    {"tools", OWN_ALWAYS, "'tools'"},
    {"stream", OWN_ALWAYS, NULL},
    {"stream_options", OWN_ALWAYS, NULL},
    {"max_tokens", OWN_ALWAYS, USE_OUTPUT},
    {"max_completion_tokens", OWN_ALWAYS, USE_OUTPUT},
    {"reasoning_effort", OWN_EFFORT, USE_EFFORT},
    {"response_format", OWN_SCHEMA, USE_SCHEMA},
    {0},
};
static const struct wire_own responses_own[] = {
    {"model", OWN_ALWAYS, "'model'"},
    {"input", OWN_ALWAYS, "the prompt"},
    {"instructions", OWN_ALWAYS, "'instructions'"},
    {"tools", OWN_ALWAYS, "'tools'"},
    {"stream", OWN_ALWAYS, NULL},
    {"store", OWN_ALWAYS, NULL},
    {"include", OWN_ALWAYS, NULL},
    {"max_output_tokens", OWN_ALWAYS, USE_OUTPUT},
    {"reasoning", OWN_EFFORT, USE_EFFORT},
    {"text", OWN_SCHEMA, USE_SCHEMA},
    {0},
};
static const struct wire_own anthropic_own[] = {
    {"model", OWN_ALWAYS, "'model'"},
    {"messages", OWN_ALWAYS, "the prompt"},
    {"system", OWN_ALWAYS, "'instructions'"},
    {"tools", OWN_ALWAYS, "'tools'"},
    {"stream", OWN_ALWAYS, NULL},
    {"max_tokens", OWN_ALWAYS, USE_OUTPUT},
    {"thinking", OWN_EFFORT, USE_EFFORT},
    {"output_config", OWN_EFFORT, USE_EFFORT},
    {"output_config", OWN_SCHEMA, USE_SCHEMA},
    {0},
};
static const struct wire_own gemini_own[] = {
    {"model", OWN_ALWAYS, "'model'"},
    {"contents", OWN_ALWAYS, "the prompt"},
    {"systemInstruction", OWN_ALWAYS, "'instructions'"},
    {"system_instruction", OWN_ALWAYS, "'instructions'"},
    {"tools", OWN_ALWAYS, "'tools'"},
    {"generation_config", OWN_ALWAYS, "'generationConfig'"},
    {0},
};
static const struct wire_own gemini_inside[] = {
    {"maxOutputTokens", OWN_ALWAYS, USE_OUTPUT},
    {"thinkingConfig", OWN_ALWAYS, USE_EFFORT},
    {"responseMimeType", OWN_SCHEMA, USE_SCHEMA},
    {"responseJsonSchema", OWN_SCHEMA, USE_SCHEMA},
    {0},
};
static const struct wire_own ollama_own[] = {
    {"model", OWN_ALWAYS, "'model'"},
    {"messages", OWN_ALWAYS, "'instructions' and the prompt"},
    {"tools", OWN_ALWAYS, "'tools'"},
    {"stream", OWN_ALWAYS, NULL},
    {"think", OWN_EFFORT, USE_EFFORT},
    {"format", OWN_SCHEMA, USE_SCHEMA},
    {0},
};
static const struct wire_own ollama_inside[] = {
    {"num_predict", OWN_ALWAYS, USE_OUTPUT},
    {0},
};

/* Parameter x API. */
#define ROW(p, ...) [PARAM_##p] = {__VA_ARGS__}
const struct wire_params params_openai = {
    .rows = {ROW(TEMPERATURE, "temperature", 0, 2), ROW(TOP_P, "top_p", 0, 1),
             ROW(STOP, "stop", 1, 4), ROW(SEED, "seed", -SEED_MAX, SEED_MAX),
             ROW(PRESENCE_PENALTY, "presence_penalty", -2, 2),
             ROW(FREQUENCY_PENALTY, "frequency_penalty", -2, 2)},
    .own = chat_own,
    .effort = {"reasoning_effort"},
};
const struct wire_params params_responses = {
    .rows = {ROW(TEMPERATURE, "temperature", 0, 2), ROW(TOP_P, "top_p", 0, 1)},
    .own = responses_own,
    .effort = {"reasoning.effort", "reasoning.summary", "reasoning"},
};
const struct wire_params params_anthropic = {
    .rows = {ROW(TEMPERATURE, "temperature", 0, 1), ROW(TOP_P, "top_p", 0, 1),
             ROW(TOP_K, "top_k", 0, MANY),
             ROW(STOP, "stop_sequences", 1, PARAM_STOPS_MAX)},
    .own = anthropic_own,
    .effort = {"thinking", "thinking.type", "output_config.effort",
               "output_config", "effort"},
};
const struct wire_params params_gemini = {
    .inside = "generationConfig",
    .rows = {ROW(TEMPERATURE, "temperature", 0, 2), ROW(TOP_P, "topP", 0, 1),
             ROW(TOP_K, "topK", 1, MANY), ROW(STOP, "stopSequences", 1, 5),
             ROW(SEED, "seed", INT32_MIN, INT32_MAX),
             ROW(PRESENCE_PENALTY, "presencePenalty", -2, 2),
             ROW(FREQUENCY_PENALTY, "frequencyPenalty", -2, 2)},
    .own = gemini_own,
    .own_inside = gemini_inside,
    .effort = {"thinking_config", "thinkingConfig", "thinking_level",
               "thinkingLevel", "thinking_budget", "thinkingBudget",
               "thinking"},
};
const struct wire_params params_ollama = {
    .inside = "options",
    .rows = {ROW(TEMPERATURE, "temperature", 0, MANY),
             ROW(TOP_P, "top_p", 0, 1), ROW(TOP_K, "top_k", 0, MANY),
             ROW(STOP, "stop", 1, PARAM_STOPS_MAX),
             ROW(SEED, "seed", INT32_MIN, INT32_MAX),
             ROW(PRESENCE_PENALTY, "presence_penalty", -2, 2),
             ROW(FREQUENCY_PENALTY, "frequency_penalty", -2, 2)},
    .own = ollama_own,
    .own_inside = ollama_inside,
    .effort = {"thinking", "think"},
};
#undef ROW

/* A codec without them has an API that takes none. */
static const struct wire_params *params_of(const struct codec *c)
{
    static const struct wire_params none = {.inside = NULL};

    return c->params ? c->params : &none;
}

/* ---- What may be asked --------------------------------------------------- */

static void put_range(struct buf *why, const struct wire_param *row)
{
    json_put_f64(why, row->min);
    if (row->max != MANY) {
        buf_cstr(why, " to ");
        json_put_f64(why, row->max);
    } else {
        buf_cstr(why, " or more");
    }
}

static double size_of(enum param p, const struct json *value)
{
    double n = 0;

    if (p == PARAM_STOP)
        return value->count;
    json_f64(value, &n);
    return n;
}

void wire_param_wrong(const struct codec *c, enum param p, wend_str value,
                      struct buf *why)
{
    const struct wire_param *row = c ? &params_of(c)->rows[p] : NULL;
    struct arena a = {.mem = why->mem};
    const struct json *j;
    double n;

    if (!row)
        return;
    if (!row->name) {
        buf_fmt(why,
                "the API of %s has no %s; remove it, or use extra.%s if this "
                "server takes it",
                c->name, asked_names[p], asked_names[p]);
        return;
    }
    j = json_parse(value, &a, NULL);
    n = j ? size_of(p, j) : 0;
    if (j && (n < row->min || n > row->max)) {
        buf_fmt(why, "%s of %s must be ", asked_names[p], c->name);
        put_range(why, row);
        buf_fmt(why, p == PARAM_STOP ? " texts, not " : ", not ");
        json_put_f64(why, n);
    }
    why->failed |= a.failed;
    arena_free(&a);
}

struct own_look {
    const struct codec *codec;
    const struct params *params;
    bool effort, schema;
};

/* What wend writes itself, or a parameter that was given by its own name. */
static bool is_own(const struct own_look *o, const struct wire_own *list,
                   bool params_here, wend_str key, const char **instead)
{
    const struct wire_params *p = params_of(o->codec);

    for (; list && list->name; list++)
        if (str_is(key, list->name) &&
            (list->when == OWN_ALWAYS ||
             (list->when == OWN_EFFORT ? o->effort : o->schema))) {
            *instead = list->instead;
            return true;
        }
    for (int i = 0; params_here && i < PARAMS; i++)
        if (p->rows[i].name && str_is(key, p->rows[i].name) &&
            o->params->value[i].ptr) {
            *instead = asked_names[i];
            return true;
        }
    return false;
}

static bool refuse_own(const struct own_look *o, const struct json *members,
                       const char *inside, struct buf *why)
{
    const struct wire_params *p = params_of(o->codec);
    const struct wire_own *list = inside ? p->own_inside : p->own;
    const char *instead = NULL;

    for (const struct json *m = members->first; m; m = m->next) {
        if (!is_own(o, list, !inside == !p->inside, m->key, &instead))
            continue;
        buf_fmt(why, "extra.%s%s%.*s is a field that wend writes itself",
                inside ? inside : "", inside ? "." : "", STR_ARGS(m->key));
        if (instead)
            buf_fmt(why, "; use %s", instead);
        else
            buf_cstr(why, "; remove it");
        return true;
    }
    return false;
}

void wire_extra_wrong(const struct codec *c, const struct params *p,
                      bool effort, bool schema, struct buf *why)
{
    struct own_look o = {c, p, effort, schema};
    const char *inside = c ? params_of(c)->inside : NULL;
    const struct json *object;

    if (!c || !p->extra || refuse_own(&o, p->extra, NULL, why) || !inside)
        return;
    object = json_get(p->extra, inside);
    if (object && object->kind != JSON_OBJECT)
        buf_fmt(why, "extra.%s must be an object", inside);
    else if (object)
        refuse_own(&o, object, inside, why);
}

/* ---- Requests ------------------------------------------------------------ */

static bool is_left(const struct request_writer *w, int p)
{
    return turn_model(w->turn)->params.value[p].ptr &&
           params_of(w->codec)->rows[p].name &&
           !(w->q->without & UINT32_C(1) << p);
}

static bool is_same(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

static const struct json *extra_of(const struct request_writer *w,
                                   const char *inside)
{
    const struct json *extra = turn_model(w->turn)->params.extra;

    if (inside)
        extra = json_get(extra, inside);
    return extra && extra->kind == JSON_OBJECT ? extra : NULL;
}

bool request_has_params(const struct request_writer *w, const char *inside)
{
    bool any = extra_of(w, inside) != NULL;

    for (int i = 0; is_same(inside, params_of(w->codec)->inside) && i < PARAMS;
         i++)
        any |= is_left(w, i);
    return any;
}

void request_put_params(struct request_writer *w, const char *inside)
{
    const struct wire_params *p = params_of(w->codec);
    const struct json *extra = extra_of(w, inside);

    for (int i = 0; is_same(inside, p->inside) && i < PARAMS; i++)
        if (is_left(w, i))
            json_add_raw(w->out, p->rows[i].name,
                         turn_model(w->turn)->params.value[i]);
    for (const struct json *m = extra ? extra->first : NULL; m; m = m->next)
        if (inside || !p->inside || !str_is(m->key, p->inside))
            json_add_pair(w->out, m->key, m);
}

uint32_t wire_asked(const struct turn *t, uint32_t without)
{
    const struct params *p = &turn_model(t)->params;
    uint32_t asked = t->config->effort ? UINT32_C(1) << ASKED_EFFORT : 0;

    for (int i = 0; i < PARAMS; i++)
        if (p->value[i].ptr)
            asked |= UINT32_C(1) << i;
    return asked & ~without;
}

/* ---- Refusals ------------------------------------------------------------ */

/* Codes that say so by themselves. */
static const char *const codes[] = {"unsupported_parameter",
                                    "unsupported_value", "unknown_parameter"};

/* How servers say that they do not take a field at all, or not from this
 * model; a value out of range is the user's mistake, and stays an error. */
static const char *const phrases[] = {
    "not supported",   "unsupported",  "does not support", "doesn't support",
    "deprecated",      "unrecognized", "unknown name",     "unknown parameter",
    "unknown field",   "not enabled",  "not permitted",    "not allowed",
    "may only be set", "or unset",     "not available",    "cannot both be",
    "can't both be",   "only one of",
};
/* One of two fields goes: the others of the message stay. */
static const char *const either[] = {"cannot both be", "can't both be",
                                     "only one of"};

static bool says(wend_str text, const char *const *list, size_t count)
{
    for (; text.len; text = str_skip(text, 1))
        for (size_t i = 0; i < count; i++)
            if (str_starts_nocase(text, list[i]))
                return true;
    return false;
}

/* As a whole word: `top_p` is not in `top_prob`. */
static bool names(wend_str text, const char *name)
{
    wend_str word = str_of(name);
    const char *at = text.ptr, *end = text.ptr + text.len;

    while (text.len &&
           (at = memmem(at, (size_t)(end - at), word.ptr, word.len))) {
        const char *behind = at + word.len;

        if ((at == text.ptr || !is_word(at[-1])) &&
            (behind == end || !is_word(*behind)))
            return true;
        at++;
    }
    return false;
}

static bool is_named(const struct wire_params *p, int field, wend_str param,
                     wend_str message)
{
    static const char *const penalty[] = {"penalty is not enabled"};
    const char *one[] = {field < PARAMS ? p->rows[field].name : NULL,
                         asked_names[field], NULL};
    const char *const *list = field < PARAMS ? one : p->effort;
    bool is_penalty =
        field == PARAM_PRESENCE_PENALTY || field == PARAM_FREQUENCY_PENALTY;

    for (size_t i = 0; i < WORDS && list[i]; i++)
        if (param.len ? names(param, list[i]) : names(message, list[i]))
            return true;
    return is_penalty && says(message, penalty, 1);
}

uint32_t wire_refused(const struct codec *c, uint32_t sent, wend_str word,
                      wend_str param, wend_str message)
{
    const uint32_t effort = UINT32_C(1) << ASKED_EFFORT;
    uint32_t named = 0, last = 0;

    if (str_index(word, codes, sizeof codes / sizeof *codes) < 0 &&
        !says(message, phrases, sizeof phrases / sizeof *phrases))
        return 0;
    for (int i = 0; i < ASKED_FIELDS; i++)
        if (sent & UINT32_C(1) << i &&
            is_named(params_of(c), i, param, message)) {
            last = i < PARAMS ? UINT32_C(1) << i : last;
            named |= UINT32_C(1) << i;
        }
    if (says(message, either, sizeof either / sizeof *either) && last)
        return last;
    /* `temperature` may only be set to 1 when thinking is enabled */
    return named & ~effort ? named & ~effort : named;
}
