/*
 * run_name.c - what a run is called: user, session, correlation id, labels.
 *
 * They are the host's words: wend records them, shows them and filters by
 * them. Only the user decides something: whose facts a run remembers.
 */
#include "lib/run/run.h"

#include <string.h>

#include "base/fail.h"
#include "base/json.h"
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
