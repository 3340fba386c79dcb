/*
 * run_name.c - what a host says about one run: user, session, correlation id,
 * labels, limits.
 *
 * They are the host's words: wend records them, shows them and filters by
 * them. Only the user decides something: whose facts a run remembers.
 */
#include "lib/run/run.h"

#include <string.h>

#include "base/fail.h"
#include "base/id.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/utf8.h"

enum { /* far above any real name, and small enough for a listing */
       NAME_BYTES_MAX = 256,
       LABELS_MAX = 32,
       LABEL_KEY_MAX = 64,
       LABEL_VALUE_MAX = 256,
};

static wend_status check_names(const wend_run_options *o, wend_error *err)
{
    const char *const names[][2] = {{"user", o->user},
                                    {"session", o->session},
                                    {"correlation_id", o->correlation_id}};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i][1] && strlen(names[i][1]) > NAME_BYTES_MAX)
            return fail(err, WEND_E_LIMIT, "run: the %s is over %d bytes",
                        names[i][0], NAME_BYTES_MAX);
    return WEND_OK;
}

static wend_status check_label(const struct json *m, wend_error *err)
{
    int key_len = (int)utf8_cut(m->key, LABEL_KEY_MAX);

    if (m->kind != JSON_STRING)
        return fail(err, WEND_E_INVAL, "run: label '%.*s' must be a string",
                    key_len, m->key.ptr);
    if (!m->key.len || memchr(m->key.ptr, '=', m->key.len))
        return fail(err, WEND_E_INVAL,
                    "run: label '%.*s': a key has at least one character and "
                    "no '='",
                    key_len, m->key.ptr);
    if (m->key.len > LABEL_KEY_MAX || json_str(m).len > LABEL_VALUE_MAX)
        return fail(err, WEND_E_LIMIT,
                    "run: label '%.*s': a key has at most %d bytes, a value at "
                    "most %d",
                    key_len, m->key.ptr, LABEL_KEY_MAX, LABEL_VALUE_MAX);
    return WEND_OK;
}

static wend_status canonical_labels(struct arena *keep, const char *labels,
                                    wend_str *out, wend_error *err)
{
    struct arena a = {.mem = keep->mem};
    wend_error why = {0};
    struct json *j = json_parse(str_of(labels), &a, &why);
    wend_status s = WEND_OK;
    int count = 0;

    if (!j || j->kind != JSON_OBJECT)
        s = fail(err, WEND_E_INVAL, "run: labels must be a JSON object%s%.300s",
                 why.message[0] ? ": " : "", why.message);
    for (const struct json *m = s == WEND_OK ? j->first : NULL;
         m && s == WEND_OK; m = m->next, count++)
        s = check_label(m, err);
    if (s == WEND_OK && count > LABELS_MAX)
        s = fail(err, WEND_E_LIMIT, "run: %d labels, at most %d", count,
                 LABELS_MAX);
    if (s == WEND_OK)
        *out = json_text(j, keep);
    arena_free(&a);
    return s;
}

void run_name(struct wend_run *r, const wend_run_options *o)
{
    r->birth.user = utf8_keep(str_of(o->user), &r->arena);
    r->birth.session = utf8_keep(str_of(o->session), &r->arena);
    r->correlation = utf8_keep(
        str_of(o->correlation_id ? o->correlation_id : r->id), &r->arena);
}

wend_status run_name_check(struct arena *a, const wend_run_options *o,
                           wend_str *labels_json, wend_error *err)
{
    wend_status s = check_names(o, err);

    return s == WEND_OK && o->labels
               ? canonical_labels(a, o->labels, labels_json, err)
               : s;
}

bool run_limits(const wend_limits *l, wend_ev_limits *out)
{
    *out = (wend_ev_limits){.turns = l->turns,
                            .time_ms = l->time_ms,
                            .tokens = l->tokens,
                            .cost_nano = l->cost_nano,
                            .parallel = l->parallel};
    return l->parallel <= PARALLEL_MAX && l->time_ms >= 0 && l->tokens >= 0 &&
           l->cost_nano >= 0;
}

static void lower_to(int64_t *limit, int64_t wanted)
{
    if (wanted && (!*limit || wanted < *limit))
        *limit = wanted;
}

wend_status run_limits_lower(const wend_limits *wanted, wend_ev_limits *limits,
                             wend_error *err)
{
    wend_ev_limits l;

    if (!run_limits(wanted, &l))
        return fail(err, WEND_E_INVAL, "run: options.limits is wrong");
    lower_to(&limits->turns, l.turns);
    lower_to(&limits->time_ms, l.time_ms);
    lower_to(&limits->tokens, l.tokens);
    lower_to(&limits->cost_nano, l.cost_nano);
    lower_to(&limits->parallel, l.parallel);
    return WEND_OK;
}

wend_status run_make_id(struct wend_run *r, const char *wanted, wend_error *err)
{
    struct store_state state;
    unsigned char chance[10];

    if (!wanted) {
        r->rt->env->chance(r->rt->env->ctx, chance, sizeof chance);
        run_id_make(r->id, rt_wall(r->rt), chance);
        return WEND_OK;
    }
    if (!run_id_valid(str_of(wanted)))
        return fail(err, WEND_E_INVAL, "run: options.id is not an id");
    memcpy(r->id, wanted, RUN_ID_LEN);
    if (r->rt->store->ops->state(r->rt->store, str_of(r->id), &state, NULL) ==
        WEND_OK)
        return fail(err, WEND_E_EXISTS, "run: %s exists", r->id);
    return WEND_OK;
}
