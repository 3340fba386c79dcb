/*
 * sqlite_read.c - answers from an SQLite store, on the caller's thread.
 *
 * One connection that cannot write, one caller at a time; it never waits
 * for the writer.
 */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/id.h"
#include "base/limits.h"
#include "store/sqlite/sqlite.h"

/* Locks even if it fails. */
wend_status db_read_begin(struct sqlite_store *s, wend_error *err)
{
    wend_status status = WEND_OK;

    pthread_mutex_lock(&s->read_lock);
    forked_enter();
    if (s->read.handle)
        return WEND_OK;
    status = db_connect(&s->read, s->path, err);
    if (status == WEND_OK)
        status = db_exec(&s->read, "PRAGMA query_only = ON", err);
    if (status != WEND_OK)
        db_close(&s->read);
    return status;
}

wend_status db_read_end(struct sqlite_store *s, wend_status status,
                        wend_error *err)
{
    wend_status changed = still_check(&s->still, s->path, err);

    forked_leave();
    pthread_mutex_unlock(&s->read_lock);
    return changed == WEND_OK ? status : changed;
}

int db_find_run(struct db *db, wend_str run, struct log_place *at)
{
    struct db_ask a = ask(db, Q_RUN, VALUES(db_str(run)));
    int rc = ask_step(&a);

    if (rc == SQLITE_ROW) {
        at->id = ask_get_i64(&a, RUN_ID);
        at->epoch = ask_get_i64(&a, RUN_EPOCH);
        at->seq = ask_get_i64(&a, RUN_SEQ);
        at->owner = ask_get_i64(&a, RUN_OWNER);
        at->ended_us = ask_get_i64(&a, RUN_ENDED);
        ask_get_hash(&a, RUN_HEAD, at->chain.head);
    }
    ask_reset(&a);
    return rc == SQLITE_ROW ? SQLITE_OK : rc;
}

wend_status db_known(struct db *db, wend_str run, struct log_place *at,
                     wend_error *err)
{
    int rc = db_find_run(db, run, at);

    return rc == SQLITE_OK     ? WEND_OK
           : rc == SQLITE_DONE ? store_missing("run", run, err)
                               : db_fail(db, err);
}

/* ---- A run's log --------------------------------------------------------- */

bool event_cut(wend_str run, wend_str *body)
{
    char head[RUN_ID_LEN + 16];
    size_t len;

    if (run.len != RUN_ID_LEN)
        return false;
    len = (size_t)snprintf(head, sizeof head, "{\"run\":\"%.*s\",", RUN_ID_LEN,
                           run.ptr);
    if (!str_starts(*body, head) ||
        !str_starts((wend_str){body->ptr + len, body->len - len},
                    &EVENT_CUT[1]))
        return false;
    *body = (wend_str){body->ptr + len, body->len - len};
    return true;
}

/* The reader, and what it is given. */
struct row_reader {
    struct store_reader to;
    struct buf body; /* of an event, made whole */
};

/* The part of a log that is one run's: up to event `last`. */
struct log_part {
    int64_t id, last;
    char run[RUN_ID_LEN + 1]; /* "" if it has no such name */
};

/* Undoes event_cut. */
static wend_str event_whole(const struct log_part *part, wend_str stored,
                            struct buf *out)
{
    if (!part->run[0] || !str_starts(stored, EVENT_CUT))
        return stored;
    buf_clear(out);
    buf_fmt(out, "{\"run\":\"%s\",", part->run);
    buf_add(out, stored.ptr + 1, stored.len - 1);
    return buf_view(out);
}

static void event_item(struct db_ask *a, const struct log_part *part,
                       struct row_reader *r, struct store_item *item)
{
    *item = (struct store_item){.seq = ask_get_i64(a, 0)};
    item->body = event_whole(part, ask_get_str(a, 1), &r->body);
    ask_get_hash(a, 2, item->hash);
    if (r->body.failed)
        a->rc = SQLITE_NOMEM;
}

static void pack_item(struct db_ask *a, const struct log_part *part,
                      struct row_reader *r, struct store_item *item)
{
    (void)part;
    (void)r;
    *item = (struct store_item){
        .is_pack = true,
        .seq = ask_get_i64(a, 0),
        .n = ask_get_i64(a, 1),
        .count = ask_get_i64(a, 2),
        .body = ask_get_str(a, 3),
    };
}

/* Merges both by seq, an event before the packs that follow it. */
static void merge(struct db_ask *events, struct db_ask *packs,
                  const struct log_part *part, struct row_reader *r)
{
    struct store_item item;
    struct db_ask *from;

    ask_step(events);
    ask_step(packs);
    for (;;) {
        bool event = events->rc == SQLITE_ROW, pack = packs->rc == SQLITE_ROW;

        if ((!event && events->rc != SQLITE_DONE) ||
            (!pack && packs->rc != SQLITE_DONE) || (!event && !pack))
            return;
        if (event && pack)
            event = ask_get_i64(events, 0) <= ask_get_i64(packs, 0);
        from = event ? events : packs;
        (event ? event_item : pack_item)(from, part, r, &item);
        if (from->rc != SQLITE_ROW || !store_give(&r->to, &item))
            return;
        ask_step(from);
    }
}

/* The deltas after the last event of an ancestor belong to what followed
 * there. */
static wend_status read_part(struct db *db, const struct log_part *part,
                             struct store_place place, struct row_reader *r,
                             wend_error *err)
{
    int64_t at = place.seq < 0            ? 0
                 : place.seq < DB_SEQ_MAX ? place.seq
                                          : DB_SEQ_MAX;
    int64_t packs_last = part->last - (part->last != DB_SEQ_MAX);
    struct db_ask both[] = {
        ask(db, Q_EVENTS,
            VALUES(db_int(part->id), db_int(at), db_int(part->last))),
        ask(db, Q_PACKS,
            VALUES(db_int(part->id), db_int(at), db_int(packs_last), db_int(at),
                   db_int(place.n))),
    };
    wend_status status = WEND_OK;

    merge(&both[0], &both[1], part, r);
    for (int i = 0; i < 2; i++) {
        if (both[i].rc != SQLITE_ROW && both[i].rc != SQLITE_DONE)
            status = db_fail(db, err);
        ask_reset(&both[i]);
    }
    return status;
}

wend_status db_first_event(struct db *db, int64_t id, int64_t *seq,
                           wend_error *err)
{
    return db_first(db, Q_EVENT_FIRST, VALUES(db_int(id)), seq) == SQLITE_OK
               ? WEND_OK
               : db_fail(db, err);
}

/* Finds the run and puts its parent's name in place of its own: SQLITE_ROW.
 * A parent is older than its fork: in a damaged store a run may be its own
 * ancestor, and then the walk ends with SQLITE_DONE, too. */
static int climb(struct db *db, struct buf *name, int64_t *id)
{
    struct db_ask a = ask(db, Q_RUN, VALUES(db_str(buf_view(name))));
    int64_t below = *id;
    int rc = ask_step(&a);

    if (rc == SQLITE_ROW) {
        *id = ask_get_i64(&a, RUN_ID);
        buf_clear(name);
        buf_str(name, ask_get_str(&a, RUN_PARENT));
        if (*id >= below)
            rc = SQLITE_DONE;
    }
    ask_reset(&a);
    return name->failed ? SQLITE_NOMEM : rc;
}

/* A run whose own events begin later than wanted is a fork: what is before
 * them is its parent's. Fills `parts`, newest first. */
static wend_status find_parts(struct db *db, wend_str run, int64_t from,
                              struct buf *parts, wend_error *err)
{
    struct buf name = {.mem = parts->mem};
    struct log_part p = {.id = INT64_MAX, .last = DB_SEQ_MAX};
    int64_t first = INT64_MAX;
    wend_status s = WEND_OK;
    int rc = SQLITE_ROW;

    buf_str(&name, run);
    while (s == WEND_OK && first > 1 && first > from && name.len) {
        memset(p.run, 0, sizeof p.run);
        if (name.len == RUN_ID_LEN)
            memcpy(p.run, name.ptr, name.len);
        rc = climb(db, &name, &p.id);
        if (rc != SQLITE_ROW)
            break; /* of a fork: its parent is not there */
        s = db_first_event(db, p.id, &first, err);
        buf_add(parts, (const char *)&p, sizeof p);
        p.last = first - 1 < p.last ? first - 1 : p.last;
    }
    if (name.failed || parts->failed)
        s = fail_nomem(err);
    else if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        s = db_fail(db, err);
    else if (s == WEND_OK && !parts->len)
        s = store_missing("run", run, err);
    buf_free(&name);
    return s;
}

wend_status db_read(wend_store *store, wend_str run, struct store_place from,
                    uint32_t max, store_item_fn fn, void *ctx, wend_error *err)
{
    struct sqlite_store *s = (struct sqlite_store *)store;
    wend_status status = db_read_begin(s, err);
    struct row_reader r = {.to = {.fn = fn, .ctx = ctx, .left = max},
                           .body.mem = &store->mem};
    struct buf parts = {.mem = &store->mem};

    /* All statements see the same. */
    if (status == WEND_OK && db_run(&s->read, Q_BEGIN, NULL) != SQLITE_OK)
        status = db_fail(&s->read, err);
    if (status == WEND_OK) {
        status = find_parts(&s->read, run, from.seq, &parts, err);
        while (status == WEND_OK && parts.len && !r.to.stopped) {
            parts.len -= sizeof(struct log_part);
            status = read_part(
                &s->read, (struct log_part *)(void *)(parts.ptr + parts.len),
                from, &r, err);
        }
        db_run(&s->read, Q_COMMIT, NULL);
    }
    buf_free(&parts);
    buf_free(&r.body);
    return db_read_end(s, status, err);
}

int db_fork_head(struct db *db, wend_str parent, int64_t seq,
                 unsigned char head[SHA256_BYTES])
{
    struct buf name = {.mem = &(const struct mem){0}};
    int64_t id = INT64_MAX;
    int rc = SQLITE_DONE;

    buf_str(&name, parent);
    while (rc == SQLITE_DONE && name.len) {
        struct db_ask a;

        rc = climb(db, &name, &id);
        if (rc != SQLITE_ROW)
            break;
        a = ask(db, Q_EVENT_HASH, VALUES(db_int(id), db_int(seq)));
        rc = ask_step(&a);
        if (rc == SQLITE_ROW)
            ask_get_hash(&a, 0, head);
        ask_reset(&a);
    }
    rc = name.failed ? SQLITE_NOMEM : rc;
    buf_free(&name);
    return rc == SQLITE_DONE  ? SQLITE_CONSTRAINT
           : rc == SQLITE_ROW ? SQLITE_OK
                              : rc;
}

wend_status db_blob(wend_store *store, wend_str hash, struct buf *out,
                    wend_error *err)
{
    struct sqlite_store *s = (struct sqlite_store *)store;
    wend_status status = db_read_begin(s, err);
    struct db_ask a;
    int rc;

    if (status == WEND_OK) {
        a = ask(&s->read, Q_BLOB, VALUES(db_str(hash)));
        rc = ask_step(&a);
        if (rc == SQLITE_ROW)
            buf_str(out, ask_get_str(&a, 0));
        if (rc == SQLITE_DONE)
            status = store_missing("blob", hash, err);
        else if (a.rc != SQLITE_ROW)
            status = db_fail(&s->read, err);
        else if (out->failed)
            status = fail_nomem(err);
        ask_reset(&a);
    }
    return db_read_end(s, status, err);
}

/* ---- Listing ------------------------------------------------------------- */

enum { LIST_ENDED = 9, LIST_OWNER = 15, LIST_IMPORTED, LIST_FIRST_SAYS };

/* `end` is behind all ids that begin with o->run. */
static struct db_ask ask_list(struct db *db, const wend_list_options *o,
                              wend_str end)
{
    /* Whether an owner is dead is not in the file. */
    bool interrupted = o->status && !strcmp(o->status, "interrupted");
    const struct db_value values[] = {
        db_str(str_of(o->user)),
        db_str(str_of(o->session)),
        db_str(str_of(o->agent)),
        db_str(interrupted ? STR_NONE : str_of(o->status)),
        db_int(interrupted),
        db_int(o->since_us),
        db_int(o->until_us ? o->until_us : INT64_MAX),
        db_str(str_of(o->after)),
        o->run ? db_str(str_of(o->run)) : (struct db_value){.kind = DB_LAST},
        db_str(end),
        {.kind = DB_LAST},
    };

    return ask(db, o->run ? Q_LIST_PREFIX : Q_LIST, values);
}

static const char *status_of(struct db_ask *a, const struct owner *me)
{
    int64_t owner = ask_get_i64(a, LIST_OWNER);

    if (ask_get_i64(a, LIST_ENDED) || (owner && owner_alive(me, owner)))
        return (const char *)sqlite3_column_text(a->statement, 1);
    return "interrupted";
}

static void info_of(struct db_ask *a, const char *status, struct arena *arena,
                    wend_run_info *info)
{
    wend_str *const texts[] = {&info->run,     &info->status, &info->agent,
                               &info->model,   &info->prompt, &info->user,
                               &info->session, &info->parent};
    int64_t *const numbers[] = {
        &info->started_us, &info->ended_us,  &info->turns, &info->tokens_in,
        &info->tokens_out, &info->cost_nano, &info->seq};
    int column = 0;
    wend_str first;

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        *texts[i] = arena_str(arena, ask_get_str(a, column++));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        *numbers[i] = ask_get_i64(a, column++);
    info->status = arena_str(arena, str_of(status));
    info->imported = ask_get_i64(a, LIST_IMPORTED) != 0;
    first = ask_get_str(a, LIST_FIRST_SAYS);
    info->child = first.ptr != NULL;
    info->fork_of = str_is(first, "child") ? STR_NONE : info->parent;
    if (info->child && info->fork_of.ptr)
        info->parent = arena_str(arena, first);
}

/* Rows grow in a buffer, since how many there will be is not known. */
static wend_status list_rows(struct sqlite_store *s, struct db_ask *a,
                             const wend_list_options *o, struct arena *arena,
                             struct buf *rows, wend_error *err)
{
    while (rows->len / sizeof(wend_run_info) < o->limit &&
           ask_step(a) == SQLITE_ROW) {
        const char *status = status_of(a, &s->owner);
        wend_run_info info;

        if (o->status && (!status || strcmp(status, o->status)))
            continue;
        info_of(a, status, arena, &info);
        buf_add(rows, (const char *)&info, sizeof info);
        if (rows->failed || arena->failed)
            return fail_nomem(err);
    }
    if (a->rc == SQLITE_ROW || a->rc == SQLITE_DONE || a->rc == SQLITE_OK)
        return WEND_OK;
    return db_fail(&s->read, err);
}

static wend_status list(struct sqlite_store *s, const wend_list_options *o,
                        struct arena *arena, struct buf *rows, wend_error *err)
{
    struct buf end = {.mem = &s->base.mem};
    struct log_place at = {0};
    wend_status status =
        o->after ? db_known(&s->read, str_of(o->after), &at, err) : WEND_OK;
    struct db_ask a;

    if (status != WEND_OK)
        return status;
    buf_fmt(&end, "%s\x7f", o->run ? o->run : ""); /* no id contains it */
    a = ask_list(&s->read, o, buf_view(&end));
    status =
        end.failed ? fail_nomem(err) : list_rows(s, &a, o, arena, rows, err);
    ask_reset(&a);
    buf_free(&end);
    return status;
}

wend_status db_list(wend_store *store, const wend_list_options *o,
                    struct arena *arena, wend_run_info **rows, size_t *count,
                    wend_error *err)
{
    struct sqlite_store *s = (struct sqlite_store *)store;
    struct buf found = {.mem = &store->mem};
    wend_status status = db_read_begin(s, err);

    if (status == WEND_OK)
        status = list(s, o, arena, &found, err);
    status = db_read_end(s, status, err);
    if (status == WEND_OK) {
        *count = found.len / sizeof **rows;
        *rows = arena_alloc(arena, found.len);
        if (arena->failed)
            status = fail_nomem(err);
        else if (found.len)
            memcpy(*rows, found.ptr, found.len);
    }
    buf_free(&found);
    return status;
}
