/*
 * parts.c - what a prompt or a result comes with, on its way into the log.
 *
 * A part is checked when it comes: one that a provider refuses would be sent
 * again, and refused again, in every later request.
 */
#include "lib/run/fork.h"
#include "lib/run/run.h"

#include <assert.h>

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

/* What the model is known to refuse; the error names the part. refused: types
 * that it has refused before. */
static wend_status check_model(const struct model_use *m, uint32_t refused,
                               const wend_ev_part *p, size_t images,
                               wend_str shown, wend_error *err,
                               const struct mem *mem)
{
    struct model_use now = *m;
    struct buf why = {.mem = mem};
    wend_status s = WEND_OK;

    now.media &= ~refused;
    if (part_refused(&now, p, images, shown, &why))
        s = why.failed
                ? fail_nomem(err)
                : fail(err, WEND_E_INVAL, "%.*s", STR_ARGS(buf_view(&why)));
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
        s = check_model(agent->configs[0]->models, 0, out, 1, shown_name(part),
                        err, &agent->rt->mem);
    out->name = part->name;
    return s;
}

wend_status parts_accepted(const wend_ev_part *parts, size_t count,
                           const struct model_use *model, const struct mem *mem,
                           wend_error *err)
{
    size_t images = 0;
    wend_status s = WEND_OK;

    for (size_t i = 0; i < count; i++)
        images += media_type_of(&parts[i]) == MEDIA_IMAGE;
    for (size_t i = 0; s == WEND_OK && i < count; i++)
        s = check_model(model, 0, &parts[i], images,
                        str_or(parts[i].name, "a part"), err, mem);
    return s;
}

wend_status parts_fit(const wend_part *const *parts, size_t count,
                      const struct model_use *model, const struct mem *mem,
                      size_t *at, wend_error *err)
{
    wend_ev_part seen[PARTS_MAX];
    size_t images = 0;
    wend_status s = WEND_OK;

    assert(count <= PARTS_MAX);
    for (size_t i = 0; s == WEND_OK && i < count; i++) {
        *at = i;
        s = parts[i]->data.ptr ? look(parts[i], &seen[i], err)
                               : fail(err, WEND_E_INVAL, "it has no data");
        images += s == WEND_OK && media_type_of(&seen[i]) == MEDIA_IMAGE;
    }
    for (size_t i = 0; s == WEND_OK && model && i < count; i++) {
        *at = i;
        s = check_model(model, 0, &seen[i], images, shown_name(parts[i]), err,
                        mem);
    }
    return s;
}

static wend_status take(const struct parts_given *g, size_t i,
                        wend_ev_part *out, struct event_blobs *blobs,
                        wend_error *err)
{
    const wend_part *given = &g->parts[i];
    wend_str data = given->data;
    wend_status s;

    if (!data.ptr)
        return fail(err, WEND_E_INVAL, "part %zu has no data", i + 1);
    s = look(given, out, err);
    if (s != WEND_OK)
        return s;
    if (media_type_of(out) == MEDIA_TEXT && g->agent)
        data = agent_blank(g->agent, data, blobs->arena);
    part_finish(out, data, given->name, blobs);
    return blobs->arena->failed ? fail_nomem(err) : WEND_OK;
}

wend_status parts_take(const struct parts_given *g, struct arena *a,
                       struct said_parts *out, wend_error *err)
{
    struct event_blobs blobs = {.arena = a};
    size_t images = 0;
    wend_ev_part *list;
    wend_status s = WEND_OK;

    if (!g->count)
        return WEND_OK;
    if (!g->parts || g->count > PARTS_MAX)
        return fail(err, WEND_E_INVAL,
                    "the list of parts is NULL, or has over %d entries",
                    PARTS_MAX);
    list = arena_alloc(a, g->count * sizeof *list);
    if (!list)
        return fail_nomem(err);
    for (size_t i = 0; s == WEND_OK && i < g->count; i++) {
        s = take(g, i, &list[i], &blobs, err);
        images += s == WEND_OK && media_type_of(&list[i]) == MEDIA_IMAGE;
    }
    for (size_t i = 0; s == WEND_OK && g->model && i < g->count; i++)
        s = check_model(g->model, g->refused, &list[i], images,
                        str_or(list[i].name, "a part"), err, a->mem);
    *out = (struct said_parts){list, g->count, blobs.first, STR_NONE};
    return s;
}

wend_status fork_parts(struct fork *f)
{
    const wend_agent *agent = f->o.agent;
    uint32_t models = WEND_FORK_MODEL | WEND_FORK_CONFIG;
    struct parts_given given = {
        .parts = f->o.parts,
        .count = f->o.parts_count,
        .agent = agent,
        .model = f->o.take & models ? agent->configs[0]->models
                 : f->o.parts_count ? turn_model(&f->turn)
                                    : NULL};

    if (given.count && !f->o.say.ptr)
        return fail(f->err, WEND_E_INVAL,
                    "fork: there is no message that parts could come with");
    if (given.model)
        given.refused = ~turn_media_of(&f->turn, given.model);
    return parts_take(&given, &f->arena, &f->parts, f->err);
}

/* ---- As JSON ------------------------------------------------------------- */

/* {"data":BASE64,"name":..}, or {"hash":..} of a blob that the store has. */
static wend_status read_bytes(const struct part_source *from,
                              const struct json *part, struct arena *a,
                              wend_str *out, wend_error *err)
{
    wend_str data = json_get_str(part, "data");
    wend_str hash = json_get_str(part, "hash");
    struct buf b = {.mem = a->mem};
    wend_status s;

    if (data.ptr && base64_take(&b, data)) {
        *out = str_or(buf_keep(&b, a), "");
        return a->failed ? fail_nomem(err) : WEND_OK;
    }
    s = b.failed ? fail_nomem(err) : WEND_OK;
    buf_free(&b);
    if (s != WEND_OK)
        return s;
    if (data.ptr || !from->store || hash.len != SHA256_HEX)
        return fail(err, WEND_E_INVAL,
                    "expected data, in base64, or the hash of a blob");
    s = log_blob(from->store, hash, a, out);
    if (s == WEND_OK || s == WEND_E_NOMEM)
        return s == WEND_OK ? s : fail_nomem(err);
    return fail(err, WEND_E_INVAL,
                "the store has no blob %.64s; give the bytes as data",
                hash.ptr);
}

wend_status part_told(void *ctx, const struct json *part, wend_ev_part *out,
                      wend_error *err)
{
    struct part_source *from = ctx;
    wend_part one = {.name = json_get_str(part, "name")};
    const struct parts_given given = {.parts = &one, .agent = from->agent};
    wend_status s = read_bytes(from, part, from->blobs.arena, &one.data, err);

    return s == WEND_OK ? take(&given, 0, out, &from->blobs, err) : s;
}

/* To the model, and to the user. */
static void say_left_out(struct buf *text, struct buf *refused,
                         const wend_error *why)
{
    buf_cstr(text, "\n[not attached: ");
    buf_cstr(text, why->message);
    buf_char(text, ']');
    buf_cstr(refused,
             refused->len ? "; " : "the message comes without files: ");
    buf_cstr(refused, why->message);
}

void parts_heard(struct wend_run *r, const struct json *body, struct arena *a,
                 struct input *in)
{
    const struct json *j = json_items(json_get(body, "parts"));
    struct part_source from = {.agent = r->agent, .blobs.arena = a};
    struct buf text = {.mem = a->mem}, refused = {.mem = a->mem};
    const struct model_use *model =
        r->turn.config ? turn_model(&r->turn) : NULL;
    wend_ev_part *list = j ? arena_alloc(a, PARTS_MAX * sizeof *list) : NULL;
    size_t count = 0;

    if (!list || !in->text.ptr)
        return;
    buf_str(&text, in->text);
    for (; j && count < PARTS_MAX; j = j->next) {
        wend_error why = {0};
        wend_status s = part_told(&from, j, &list[count], &why);

        if (s == WEND_OK && model)
            s = check_model(model, ~turn_media(&r->turn), &list[count], 1,
                            str_or(list[count].name, "a part"), &why, a->mem);
        if (s == WEND_OK)
            count++;
        else
            say_left_out(&text, &refused, &why);
    }
    in->text = buf_keep(&text, a);
    in->parts = (struct said_parts){list, count, from.blobs.first, STR_NONE};
    if (refused.len || refused.failed)
        in->parts.refused = buf_keep(&refused, a);
}

/* ---- Into a request ------------------------------------------------------ */

wend_status part_bytes(wend_store *store, wend_str hash, struct arena *a,
                       wend_str *out, wend_error *err)
{
    wend_status s = log_blob(store, hash, a, out);

    if (s == WEND_OK || s == WEND_E_NOMEM)
        return s == WEND_OK ? s : fail_nomem(err);
    return fail(err, WEND_E_IO,
                "the bytes of a part of the conversation (%.64s) are "
                "missing or damaged in the store; 'wend verify' says more",
                hash.ptr);
}

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
        list[i].part = sent[i];
        for (size_t n = 0; n < i && !list[i].bytes.ptr; n++)
            if (str_eq(list[n].hash, list[i].hash))
                list[i].bytes = list[n].bytes;
        if (!list[i].bytes.ptr)
            s = part_bytes(r->rt->store, list[i].hash, a, &list[i].bytes, err);
    }
    q->media = list;
    q->media_count = s == WEND_OK ? count : 0;
    return s;
}
