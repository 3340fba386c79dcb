/*
 * log_import_read.c - a file of exported runs, line by line: whether it is
 * right, and what of it the store has.
 */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/limits.h"
#include "lib/log/log_import.h"

wend_status import_bad(struct import *m, const char *what)
{
    return fail_at(m->err, WEND_E_PARSE, m->line, 1, "line %u: %s",
                   (unsigned)m->line, what);
}

static wend_status next_line(struct import *m, struct log_source *from,
                             wend_str *line)
{
    wend_status s = log_source_line(from, line);

    if (s == WEND_E_NOMEM)
        return fail_nomem(m->err);
    return s == WEND_E_IO ? fail(m->err, s, "line %u: the file cannot be read",
                                 (unsigned)m->line + 1)
                          : s;
}

void import_forget(struct import *m)
{
    arena_free(&m->arena);
    log_check_free(&m->check);
    name_set_free(&m->blobs);
    memset(&m->check, 0, sizeof m->check);
    m->arena = m->check.arena = (struct arena){.mem = m->mem};
    m->count = 0;
    m->over = false;
}

/* ---- Blobs --------------------------------------------------------------- */

static wend_status blob_text(const struct log_line *l, struct arena *a,
                             wend_str *text)
{
    wend_error why = {0};
    const struct json *j = json_parse(l->body, a, &why);

    if (!j)
        return why.status == WEND_E_NOMEM ? WEND_E_NOMEM : WEND_E_CORRUPT;
    *text = json_str(j);
    if (l->base64 && text->ptr) {
        struct buf bytes = {.mem = a->mem};
        bool ok = base64_take(&bytes, *text);

        if (!ok)
            text->ptr = NULL;
        else
            *text = buf_keep(&bytes, a);
        if (bytes.failed || a->failed) {
            buf_free(&bytes);
            return WEND_E_NOMEM;
        }
        buf_free(&bytes);
    }
    return text->ptr && text->len <= BLOB_BYTES_MAX &&
                   log_blob_fits(l->hash, *text)
               ? WEND_OK
               : WEND_E_CORRUPT;
}

/* An event_blob_fn; what was checked when it came is read again. */
static wend_status find_blob(void *ctx, wend_str hash, struct arena *a,
                             wend_str *text)
{
    struct import *m = ctx;
    const struct blob_line *b = name_set_get(&m->blobs, hash);
    struct log_source again = {
        .read = m->source.read, .ctx = m->source.ctx, .text.mem = m->mem};
    struct log_line l;
    wend_str line;
    wend_status s;

    if (!b)
        return WEND_E_CORRUPT;
    log_source_seek(&again, b->at);
    s = log_source_line(&again, &line);
    if (s == WEND_OK)
        s = log_line_read(line, &l) == LINE_BLOB && str_eq(l.hash, hash)
                ? blob_text(&l, a, text)
                : WEND_E_CORRUPT;
    if (s == WEND_OK) { /* it may point into the line */
        *text = arena_str(a, *text);
        s = text->ptr ? WEND_OK : WEND_E_NOMEM;
    }
    log_source_free(&again);
    return s == WEND_E_NOMEM || s == WEND_OK ? s : WEND_E_CORRUPT;
}

static wend_status on_blob(struct import *m, const struct log_line *l,
                           int64_t at)
{
    struct arena scratch = {.mem = m->mem};
    struct blob_line *b = NULL;
    wend_str text;
    wend_status s;

    if (name_set_get(&m->blobs, l->hash))
        return import_bad(m, "the blob stands there twice");
    s = blob_text(l, &scratch, &text);
    if (s == WEND_OK && (b = name_set_put(&m->blobs, l->hash)))
        b->at = at;
    if (s == WEND_E_NOMEM || (s == WEND_OK && !b))
        s = fail_nomem(m->err);
    else if (s != WEND_OK)
        s = import_bad(m, "the blob is not what its hash says");
    if (s == WEND_OK && m->chunk && m->count >= m->known)
        s = import_blob(m, l->hash, text);
    arena_free(&scratch);
    return s;
}

/* ---- One run of the file ------------------------------------------------- */

/* What lists will say. */
static void note_event(struct import *m, const wend_event *ev)
{
    const wend_ev_metrics *metrics = NULL;

    log_birth_note(&m->birth, ev, &m->lists);
    if (ev->type == WEND_RUN_FORK) { /* what it shares comes with it */
        m->birth.b.parent = m->birth.b.above;
        m->birth.b.above = STR_NONE;
    }
    if (ev->type == WEND_METRICS) {
        metrics = &ev->u.metrics;
    } else if (ev->type == WEND_RUN_END) {
        metrics = &ev->u.run_end.metrics;
        m->summary.status = wend_outcome_name(ev->u.run_end.outcome);
        m->summary.ended_us = ev->time_us;
    }
    if (metrics) {
        m->summary.turns = metrics->turns;
        m->summary.tokens_in = metrics->tokens_in;
        m->summary.tokens_out = metrics->tokens_out;
        m->summary.cost_nano = metrics->cost_nano;
    }
}

static wend_status on_item(struct import *m, struct store_item *item)
{
    struct log_check *c = &m->check;

    bool good;

    if (!item->is_pack)
        item->seq = c->seq + 1;
    good = log_check_item(c, item);
    if (good && !item->is_pack && c->ev.time_us <= 0) {
        c->seq--;
        good = log_check_bad(c, "has no time"); /* a run that ends at 0 does
                                                   not end */
    }
    if (!good) {
        if (c->status == WEND_E_NOMEM)
            return fail_nomem(m->err);
        return fail_at(m->err, WEND_E_CORRUPT, m->line, 1,
                       "line %u: event %lld %s", (unsigned)m->line,
                       (long long)c->seq + 1, c->why);
    }
    if (!item->is_pack && !m->chunk)
        note_event(m, &c->ev);
    m->count++;
    return m->lists.failed ? fail_nomem(m->err) : WEND_OK;
}

static wend_status on_end(struct import *m, const struct log_line *l)
{
    struct log_check *c = &m->check;

    if (!log_check_own(c))
        return import_bad(m, "the run's own events are missing before it");
    if (!c->seq || !str_is(l->run, m->run) || l->seq != c->seq ||
        memcmp(l->item.hash, c->chain.head, SHA256_BYTES) != 0)
        return import_bad(m, "the end does not fit what is before it");
    m->over = true;
    return WEND_OK;
}

wend_status import_next(struct import *m)
{
    struct log_line *l = &m->item;
    wend_status s = WEND_OK;
    wend_str text;

    while (s == WEND_OK) {
        int64_t at = log_source_place(&m->source);

        s = next_line(m, &m->source, &text);
        m->line += s == WEND_OK || s == WEND_END;
        if (s != WEND_OK)
            return s == WEND_END
                       ? import_bad(m, "the end of the run is missing")
                       : s;
        switch (log_line_read(text, l)) {
        case LINE_BLOB: s = on_blob(m, l, at); break;
        case LINE_EVENT:
        case LINE_PACK: return on_item(m, &l->item);
        case LINE_END: return on_end(m, l);
        case LINE_HEAD:
        case LINE_BAD: return import_bad(m, "no line of an exported run");
        }
    }
    return s;
}

wend_status import_begin(struct import *m)
{
    struct log_line l;
    wend_str text;
    wend_status s;

    import_forget(m);
    s = next_line(m, &m->source, &text);
    if (s != WEND_OK)
        return s;
    m->line++;
    if (log_line_read(text, &l) != LINE_HEAD)
        return import_bad(m,
                          "this is no exported run (wend export writes them)");
    snprintf(m->run, sizeof m->run, "%.*s", (int)l.run.len, l.run.ptr);
    m->check.run = str_of(m->run);
    m->check.blob = find_blob;
    m->check.blob_ctx = m;
    return WEND_OK;
}

/* ---- What the store has -------------------------------------------------- */

/* Beside each item of the store the next one of the file. */
static bool compare(void *ctx, const struct store_item *there)
{
    struct import *m = ctx;
    const struct store_item *mine = &m->item.item;

    m->read = import_next(m);
    if (m->read != WEND_OK || m->over)
        return false; /* over: the store has more */
    m->differs = mine->is_pack != there->is_pack || mine->seq != there->seq ||
                 mine->n != there->n || !str_eq(mine->body, there->body);
    m->differs_seq = mine->seq + mine->is_pack;
    m->known += !m->differs;
    return !m->differs;
}

/* What a file adds to a run that was made here would have its authority. */
static wend_status check_own(struct import *m)
{
    wend_run_info *info = NULL;
    wend_status s = store_info(m->store, m->run, &m->arena, &info, m->err);

    return s == WEND_OK && !info->imported
               ? fail(m->err, WEND_E_EXISTS,
                      "run %s was made in this store, and the file has more "
                      "events of it; import it into another store",
                      m->run)
               : s;
}

wend_status import_look(struct import *m)
{
    struct store_state state;
    wend_status s;

    arena_reset(&m->lists);
    m->birth = (struct log_birth){0};
    m->summary = (struct store_summary){.status = "interrupted"};
    m->known = 0;
    m->there = m->differs = false;
    m->read = WEND_OK;
    s = import_begin(m);
    if (s != WEND_OK)
        return s;
    s = m->store->ops->state(m->store, str_of(m->run), &state, m->err);
    m->there = s == WEND_OK;
    if (m->there)
        s = m->store->ops->read(m->store, str_of(m->run),
                                (struct store_place){1, 0}, 0, compare, m,
                                m->err);
    else if (s == WEND_E_NOTFOUND)
        s = WEND_OK;
    if (s == WEND_OK)
        s = m->read;
    while (s == WEND_OK && !m->over)
        s = import_next(m);
    if (s == WEND_OK && m->differs)
        s = fail(m->err, WEND_E_EXISTS,
                 "run %s is in the store already, and is another from event "
                 "%lld on",
                 m->run, (long long)m->differs_seq);
    if (s == WEND_OK && m->there && m->known < m->count)
        s = check_own(m);
    return s;
}
