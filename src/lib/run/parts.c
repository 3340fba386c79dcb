/*
 * parts.c - what a prompt or a result comes with, on its way into the log.
 *
 * A part is checked when it comes: one that a provider refuses would be sent
 * again, and refused again, in every later request.
 */
#include "lib/run/run.h"

#include "base/fail.h"
#include "base/utf8.h"
#include "core/media/media.h"
#include "wire/model/model.h"

void part_finish(wend_ev_part *part, wend_str bytes, wend_str name,
                 struct event_blobs *blobs)
{
    const struct event_blob *blob = event_blob_add(blobs, bytes);

    if (!blob)
        return;
    part->hash = (wend_str){blob->hash, SHA256_HEX};
    if (!name.len)
        return;
    name = utf8_keep(name, blobs->arena);
    name.len = utf8_cut(name, PART_NAME_MAX);
    part->name = name;
}

/* What the run's first model is known to refuse; the error names the part. */
static wend_status check_model(const struct model_use *m, const wend_ev_part *p,
                               size_t images, wend_str shown, wend_error *err,
                               const struct mem *mem)
{
    struct buf why = {.mem = mem};
    wend_status s = WEND_OK;

    if (!(m->media & 1u << media_type_of(p)))
        s = fail(err, WEND_E_INVAL,
                 "'%.*s' is of type %s, which the model %.*s does not accept; "
                 "leave it out, or use another model",
                 STR_ARGS(shown), media_type_names[media_type_of(p)],
                 STR_ARGS(m->spec));
    else if (media_wrong(p, m->spec, images, &why))
        s = why.failed ? fail_nomem(err)
                       : fail(err, WEND_E_INVAL, "'%.*s' %.*s", STR_ARGS(shown),
                              STR_ARGS(buf_view(&why)));
    buf_free(&why);
    return s;
}

static wend_str shown_name(const wend_part *p)
{
    wend_str name = str_or(p->name, "a part");

    name.len = utf8_cut(name, PART_NAME_MAX);
    return name;
}

/* Fills all but hash and name. */
static wend_status look(const wend_part *given, wend_ev_part *out,
                        wend_error *err)
{
    wend_error why = {0};
    wend_status s = media_look_named(given->data, given->name, out, &why);

    return s == WEND_OK ? s
                        : fail(err, s, "'%.*s' %s", STR_ARGS(shown_name(given)),
                               why.message);
}

wend_status wend_part_check(const wend_part *part, wend_agent *agent,
                            wend_ev_part *out, wend_error *err)
{
    wend_ev_part own;
    wend_status s;

    if (!out)
        out = &own;
    memset(out, 0, sizeof *out);
    if (!part || !part->data.ptr)
        return fail(err, WEND_E_INVAL, "part: it is NULL, or has no data");
    s = look(part, out, err);
    if (s != WEND_OK || !agent)
        return s;
    s = agent_enter(agent, "part", err);
    if (s == WEND_OK)
        s = agent_config(agent, 0, err);
    if (s == WEND_OK)
        s = check_model(agent->configs[0]->models, out, 1, shown_name(part),
                        err, &agent->rt->mem);
    out->name = part->name;
    return s;
}

static wend_status take(struct wend_run *r, const wend_part *given, size_t i,
                        wend_ev_part *out, struct event_blobs *blobs,
                        wend_error *err)
{
    wend_str data = given->data;
    wend_status s;

    if (!data.ptr)
        return fail(err, WEND_E_INVAL, "run: part %zu has no data", i + 1);
    s = look(given, out, err);
    if (s != WEND_OK)
        return s;
    if (media_type_of(out) == MEDIA_TEXT)
        data = agent_blank(r->agent, data, &r->arena);
    part_finish(out, data, given->name, blobs);
    return r->arena.failed ? fail_nomem(err) : WEND_OK;
}

wend_status run_parts(struct wend_run *r, const wend_run_options *o,
                      wend_ev_run_start *e, struct input *in, wend_error *err)
{
    const struct model_use *model = r->agent->configs[r->mode]->models;
    struct event_blobs blobs = {.arena = &r->arena};
    size_t images = 0;
    wend_ev_part *list;
    wend_status s = WEND_OK;

    if (!o->parts_count)
        return WEND_OK;
    if (!o->parts || o->parts_count > PARTS_MAX)
        return fail(err, WEND_E_INVAL,
                    "run: options.parts is NULL, or has over %d entries",
                    PARTS_MAX);
    list = arena_alloc(&r->arena, o->parts_count * sizeof *list);
    if (!list)
        return fail_nomem(err);
    for (size_t i = 0; s == WEND_OK && i < o->parts_count; i++) {
        s = take(r, &o->parts[i], i, &list[i], &blobs, err);
        images += s == WEND_OK && media_type_of(&list[i]) == MEDIA_IMAGE;
    }
    for (size_t i = 0; s == WEND_OK && i < o->parts_count; i++)
        s = check_model(model, &list[i], images, str_or(list[i].name, "a part"),
                        err, &r->rt->mem);
    e->parts = list;
    e->parts_count = o->parts_count;
    in->blobs = blobs.first;
    return s;
}

/* ---- Into a request ------------------------------------------------------ */

wend_status run_media(struct wend_run *r, const struct turn *t, struct arena *a,
                      struct wire_ask *q, wend_error *err)
{
    size_t count;
    const wend_ev_part **sent = turn_media_sent(t, a, &count);
    struct wire_media *list =
        sent ? arena_alloc(a, (count + 1) * sizeof *list) : NULL;
    wend_status s = list ? WEND_OK : fail_nomem(err);

    for (size_t i = 0; s == WEND_OK && i < count; i++) {
        list[i].hash = sent[i]->hash;
        for (size_t n = 0; n < i && !list[i].bytes.ptr; n++)
            if (str_eq(list[n].hash, list[i].hash))
                list[i].bytes = list[n].bytes;
        if (!list[i].bytes.ptr)
            s = log_blob(r->rt->store, list[i].hash, a, &list[i].bytes);
        if (s == WEND_E_NOMEM)
            fail_nomem(err);
        else if (s != WEND_OK)
            s = fail(err, WEND_E_IO,
                     "the bytes of a part of the conversation (%.64s) are "
                     "missing or damaged in the store; 'wend verify' says more",
                     list[i].hash.ptr);
    }
    q->media = list;
    q->media_count = s == WEND_OK ? count : 0;
    return s;
}
