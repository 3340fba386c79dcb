/*
 * sqlite_care.c - whether an SQLite store is sound.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "store/sqlite/sqlite.h"

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
        status = db_check_notes(s, err);
    return db_read_end(s, status, err);
}
