/*
 * sqlite_care.c - whether an SQLite store is sound, and how far its runs were.
 *
 * After each commit the newest event of its runs is noted in the owners' file,
 * by a plain write: 64 bytes for each run, at its number. A note is never ahead
 * of the disk where the disk keeps its promises, so a log that is behind its
 * note has lost its end: the write-ahead log was damaged or cut, or the store
 * is an older copy. A note that is lost proves nothing.
 *
 * A note is a line that people can read: run, seq and a check over both and
 * the store's id, which shows a torn or foreign line.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/id.h"
#include "store/sqlite/sqlite.h"

enum { NOTE_BYTES = 64, SEQ_DIGITS = 10, CHECK_DIGITS = 15 };

struct note {
    char run[RUN_ID_LEN + 1];
    int64_t seq;
};

static void line_of(const char *store, const struct note *note,
                    char line[NOTE_BYTES + 1])
{
    char hex[SHA256_HEX + 1];
    struct sha256 s;
    int len = snprintf(line, NOTE_BYTES + 1, "%-*.*s %*lld ", RUN_ID_LEN,
                       RUN_ID_LEN, note->run, SEQ_DIGITS, (long long)note->seq);

    sha256_init(&s);
    sha256_add(&s, store, strlen(store));
    sha256_add(&s, line, (size_t)len);
    sha256_end_hex(&s, hex);
    snprintf(line + len, (size_t)(NOTE_BYTES + 1 - len), "%.*s\n", CHECK_DIGITS,
             hex);
}

static bool has_file(const struct owner *o)
{
    return o->fd >= 0 && !o->ownerless && o->store && o->store[0];
}

static bool put(const struct owner *o, int64_t id, const char *line)
{
    return pwrite(o->fd, line, NOTE_BYTES, id * NOTE_BYTES) == NOTE_BYTES;
}

/* A note that cannot be written is missing; the store does not fail. */
static void note_write(const struct owner *o, int64_t id, wend_str run,
                       int64_t seq)
{
    struct note note = {.seq = seq};
    char line[NOTE_BYTES + 1];

    if (!has_file(o) || run.len != RUN_ID_LEN)
        return;
    memcpy(note.run, run.ptr, RUN_ID_LEN);
    line_of(o->store, &note, line);
    if (strlen(line) == NOTE_BYTES)
        (void)put(o, id, line);
}

static bool note_read(const struct owner *o, int64_t id, struct note *out)
{
    char line[NOTE_BYTES + 1] = "", same[NOTE_BYTES + 1];

    if (!has_file(o) ||
        pread(o->fd, line, NOTE_BYTES, id * NOTE_BYTES) != NOTE_BYTES)
        return false;
    memcpy(out->run, line, RUN_ID_LEN);
    out->run[RUN_ID_LEN] = 0;
    out->seq = strtoll(line + RUN_ID_LEN, NULL, 10);
    line_of(o->store, out, same);
    return !memcmp(line, same, NOTE_BYTES);
}

bool db_note_clear(const struct owner *o, int64_t id)
{
    static const char none[NOTE_BYTES];
    struct note note;

    if (!has_file(o) || pread(o->fd, &note.run, 1, id * NOTE_BYTES) == 0)
        return true;
    return put(o, id, none);
}

/* ---- Notes and runs ------------------------------------------------------ */

void db_note(struct sqlite_store *s, const struct store_batch *batches)
{
    for (const struct store_batch *b = batches; b; b = b->next) {
        struct log_place at = {0};

        if (!b->events_count)
            continue;
        (void)db_find_run(&s->write, b->run, &at); /* the next use fails, too */
        note_write(&s->owner, at.id, b->run,
                   b->events[b->events_count - 1].seq);
    }
}

int64_t db_noted(const struct owner *o, int64_t id, wend_str run)
{
    struct note note;

    return note_read(o, id, &note) && str_is(run, note.run) ? note.seq : 0;
}

wend_status db_note_check(const struct owner *o, int64_t id, wend_str run,
                          int64_t seq, wend_error *err)
{
    int64_t noted = db_noted(o, id, run);

    if (noted <= seq)
        return WEND_OK;
    return fail(err, WEND_E_CORRUPT,
                "run %.*s has lost its end: its log ends at event %lld, but "
                "event %lld was or may have been written; the store's -wal "
                "file was damaged or cut, or the store is an older copy. "
                "Effects of the lost events may have happened, and would "
                "happen again: check, then 'wend resume --accept-loss %.*s' "
                "continues from event %lld",
                (int)run.len, run.ptr, (long long)seq, (long long)noted,
                (int)run.len, run.ptr, (long long)seq);
}

wend_status db_note_loss(struct sqlite_store *s, wend_error *err)
{
    struct db *db = &s->write;
    struct db_ask a = ask(db, Q_RUNS_OPEN, NULL);
    wend_status status;

    while (ask_step(&a) == SQLITE_ROW) {
        int64_t id = ask_get_i64(&a, 0), seq = ask_get_i64(&a, 2);
        wend_str run = ask_get_str(&a, 1);

        if (db_noted(&s->owner, id, run) <= seq)
            note_write(&s->owner, id, run, seq + 1);
    }
    status = ask_end(&a, err);
    /* The same frames must not be found again. */
    return status == WEND_OK
               ? db_exec(db, "PRAGMA wal_checkpoint(TRUNCATE)", err)
               : status;
}

wend_status db_accept_loss(wend_store *store, wend_str run, wend_error *err)
{
    struct sqlite_store *s = (struct sqlite_store *)store;
    wend_status status = s->refusal.status;
    struct store_state state;

    if (status != WEND_OK && err)
        *err = s->refusal;
    if (status == WEND_OK)
        status = db_state(store, run, &state, err);
    if (status == WEND_OK)
        note_write(&s->owner, state.id, run, state.seq);
    return status;
}

wend_status db_failure(wend_store *store, wend_error *err)
{
    struct sqlite_store *s = (struct sqlite_store *)store;
    wend_status status;

    pthread_mutex_lock(&s->lock);
    status = s->failure.status;
    if (status != WEND_OK && err)
        *err = s->failure;
    pthread_mutex_unlock(&s->lock);
    return status;
}

wend_status db_state(wend_store *store, wend_str run, struct store_state *out,
                     wend_error *err)
{
    struct sqlite_store *s = (struct sqlite_store *)store;
    struct log_place at = {0};
    wend_status status = db_read_begin(s, err);

    if (status == WEND_OK)
        status = db_known(&s->read, run, &at, err);
    *out = (struct store_state){
        .id = at.id, .epoch = at.epoch, .seq = at.seq, .ended_us = at.ended_us};
    memcpy(out->head, at.chain.head, sizeof out->head);
    if (status == WEND_OK)
        status = db_first_event(&s->read, at.id, &out->first, err);
    if (status == WEND_OK)
        out->noted = db_noted(&s->owner, at.id, run);
    return db_read_end(s, status, err);
}

/* ---- All of it ----------------------------------------------------------- */

/* The SQLite code in a line about a page that could not be had, or 0. */
static int page_code(const char *line)
{
    const char *code = strstr(line, "error code=");

    return code ? atoi(code + strlen("error code=")) & 0xff : 0;
}

/* Looks twice: damage stays, a disk that failed once may not fail again, and
 * SQLite does not always say which of the two it met. */
static wend_status check_pages(struct db *db, wend_error *err)
{
    const char *sql = "PRAGMA integrity_check(1)";
    char line[200], again[200];
    wend_status s = db_text(db, sql, line, sizeof line, err);

    if (s != WEND_OK || !strcmp(line, "ok"))
        return s;
    if (page_code(line) == SQLITE_NOMEM)
        return fail_nomem(err);
    s = db_text(db, sql, again, sizeof again, err);
    if (s != WEND_OK)
        return s;
    if (page_code(line) == SQLITE_IOERR || !strcmp(again, "ok"))
        return fail(err, WEND_E_STORE,
                    "store %s: a part of the file cannot be read; that says "
                    "nothing about what is in it, look at the disk",
                    db->path);
    return fail(err, WEND_E_CORRUPT,
                "store %s: the file is damaged: its pages or indexes do not "
                "fit each other; keep a copy, 'wend verify --salvage' saves "
                "what can be read",
                db->path);
}

/* Rows that name no run: its own row was taken away. */
static wend_status check_strays(struct db *db, const char *table,
                                wend_error *err)
{
    char sql[100];
    int64_t strays = 0;
    wend_status s;

    snprintf(sql, sizeof sql,
             "SELECT count(*) FROM %s WHERE run NOT IN (SELECT id FROM runs)",
             table);
    s = db_number(db, sql, &strays, err);
    if (s == WEND_OK && strays)
        s = fail(err, WEND_E_CORRUPT,
                 "store %s: the row of a run is missing: %lld rows of %s "
                 "belong to no run",
                 db->path, (long long)strays, table);
    return s;
}

/* Nothing tells what they were; but they must be what a fact can be. */
static wend_status check_facts(struct db *db, wend_error *err)
{
    int64_t there = 0, bad = 0;
    wend_status s = db_facts_there(db, &there, err);

    if (s == WEND_OK && there)
        s = db_number(db,
                      "SELECT count(*) FROM memory WHERE typeof(space) <>"
                      " 'text' OR typeof(key) <> 'text' OR typeof(text) <>"
                      " 'text' OR typeof(time) <> 'integer' OR typeof(until)"
                      " <> 'integer' OR time < 0 OR until < 0 OR"
                      " space = '' OR instr(CAST(text AS BLOB), x'00')",
                      &bad, err);
    if (s == WEND_OK && bad)
        s = fail(err, WEND_E_CORRUPT,
                 "store %s: wend did not write %lld rows of memory", db->path,
                 (long long)bad);
    return s;
}

/* Whether a row is there, also one that is being taken away. */
static wend_status has_row(struct db *db, int64_t id, const char *run,
                           bool *has, wend_error *err)
{
    int64_t one;
    int rc =
        db_first(db, Q_RUN_ROW, VALUES(db_int(id), db_str(str_of(run))), &one);

    *has = rc == SQLITE_OK;
    return rc == SQLITE_OK || rc == SQLITE_DONE ? WEND_OK : db_fail(db, err);
}

static wend_status check_notes(struct sqlite_store *s, wend_error *err)
{
    wend_status status = WEND_OK;
    struct note note, again;
    struct stat st = {0};
    bool has = true;

    if (has_file(&s->owner))
        fstat(s->owner.fd, &st);
    for (int64_t id = 1; status == WEND_OK && id < st.st_size / NOTE_BYTES;
         id++) {
        if (!note_read(&s->owner, id, &note))
            continue;
        status = has_row(&s->read, id, note.run, &has, err);
        /* One that is pruned meanwhile has no note any more. */
        if (status == WEND_OK && !has && note_read(&s->owner, id, &again) &&
            !strcmp(again.run, note.run))
            status = fail(err, WEND_E_CORRUPT,
                          "store %s: run %s is gone, though it was neither "
                          "removed nor pruned: it had %lld events",
                          s->path, note.run, (long long)note.seq);
    }
    return status;
}

wend_status db_check(wend_store *store, wend_error *err)
{
    struct sqlite_store *s = (struct sqlite_store *)store;
    struct db *db = &s->read;
    wend_status status = db_read_begin(s, err);

    if (status == WEND_OK)
        status = check_pages(db, err);
    if (status == WEND_OK)
        status = check_strays(db, "events", err);
    if (status == WEND_OK)
        status = check_strays(db, "deltas", err);
    if (status == WEND_OK)
        status = check_facts(db, err);
    if (status == WEND_OK)
        status = check_notes(s, err);
    return db_read_end(s, status, err);
}
