/*
 * test_sqlite_still.c - an SQLite store whose file and folder cannot be
 * written: it is read, and what would be wrong is not given.
 */
#include <stdio.h>
#include <sys/stat.h>

#include "store/sqlite/sqlite.h"
#include "store_help.h"

#define RUN "01900000-0000-7000-8000-00000000000a"

enum { PATH_BYTES = 160, NOBODY = 65534 };

static char dir[PATH_BYTES], path[PATH_BYTES + 16];

/* The file alone is left as it is: a change of its mode is a change. */
static void lock_up(void)
{
    chmod(dir, 0500);
}

static void unlock(void)
{
    chmod(dir, 0700);
}

static wend_store *open_read(wend_error *err)
{
    wend_store *s = NULL;

    wend_store_open_read(path, &s, err);
    return s;
}

static wend_store *open_write(void)
{
    wend_store *s = NULL;

    wend_store_open(path, &s, NULL);
    return s;
}

static wend_status count_events(wend_store *s, int64_t *count, wend_error *err)
{
    struct log l = {0};
    wend_status status =
        s->ops->read(s, str_of(RUN), FROM_START, 0, log_item, &l, err);

    *count = l.bad ? -1 : l.seq_last;
    return status;
}

/* Nobody has it open; then somebody changes it who can. */
static void alone(void)
{
    wend_error err = {0};
    wend_store *w = open_write(), *s;
    int64_t count = 0;

    put_event(w, RUN, 1, "{}");
    wend_store_free(w);
    lock_up();
    s = open_read(&err);
    if (!tap_ok(s != NULL, "alone: %s", err.message))
        return;
    tap_ok(count_events(s, &count, &err) == WEND_OK && count == 1,
           "alone: what it has: %s", err.message);
    tap_is_str(listed_status(s, RUN), "interrupted", "alone: nobody owns it");
    tap_ok(s->ops->check(s, &err) == WEND_OK, "alone: it is sound: %s",
           err.message);
    unlock();
    w = open_write();
    tap_ok(count_events(s, &count, &err) == WEND_OK && count == 1,
           "opened elsewhere, not changed: %s", err.message);
    tap_is_i64(put_summary(w, RUN, 1, "running", 0), WEND_OK,
               "changed elsewhere");
    tap_ok(count_events(s, &count, &err) == WEND_E_STORE &&
               strstr(err.message, "changed elsewhere"),
           "changed: what was read does not count: %s", err.message);
    wend_store_free(w);
    tap_ok(count_events(s, &count, &err) == WEND_E_STORE &&
               strcmp(listed_status(s, RUN), "(none)") == 0,
           "changed, and closed again: nor does it later");
    wend_store_free(s);
}

/* Somebody who can write has it open all the time. */
static void beside_a_writer(void)
{
    wend_error err = {0};
    wend_store *w = open_write(), *s;
    int64_t count = 0;

    put_event(w, RUN, 2, "{}");
    lock_up();
    s = open_read(&err);
    if (!tap_ok(s != NULL, "beside a writer: %s", err.message))
        return;
    tap_ok(count_events(s, &count, &err) == WEND_OK && count == 2,
           "beside a writer: all that is safe: %s", err.message);
    put_event(w, RUN, 3, "{}");
    tap_ok(count_events(s, &count, &err) == WEND_OK && count == 3,
           "beside a writer: and what follows: %s", err.message);
    unlock();
    wend_store_free(w);
    tap_ok(count_events(s, &count, &err) == WEND_OK && count == 3,
           "the writer has left: %s", err.message);
    wend_store_free(s);
}

static void refuses_to_write(void)
{
    wend_error err = {0};
    wend_store *s;
    int64_t epoch, seq;

    lock_up();
    s = open_read(&err);
    if (!tap_ok(s != NULL, "to write: %s", err.message))
        return;
    tap_is_i64(put_event(s, RUN, 4, "{}"), WEND_E_STORE, "to write: an event");
    tap_ok(s->ops->failure(s, &err) == WEND_E_STORE &&
               strstr(err.message, "is read-only"),
           "to write: why not: %s", err.message);
    tap_is_i64(s->ops->claim(s, str_of(RUN), STORE_SEQ_ANY, &epoch, &seq, &err),
               WEND_E_STORE, "to write: a claim");
    tap_is_i64(store_forget_run(s, RUN, &err), WEND_E_STORE,
               "to write: to forget");
    wend_store_free(s);
    unlock();
}

/* The file, not its folder. */
static void older_version(void)
{
    wend_error err = {0};
    sqlite3 *db = NULL;
    wend_store *s;

    tap_ok(sqlite3_open(path, &db) == SQLITE_OK &&
               sqlite3_exec(db, "PRAGMA user_version = 0", NULL, NULL, NULL) ==
                   SQLITE_OK,
           "an older version");
    sqlite3_close(db);
    chmod(path, 0400);
    s = open_read(&err);
    tap_ok(!s && strstr(err.message, "must be upgraded"),
           "an older version: %s", err.message);
    wend_store_free(s);
}

int main(void)
{
    char *top = dir_make();

    snprintf(dir, sizeof dir, "%s/ro", top);
    snprintf(path, sizeof path, "%s/wend.db", dir);
    mkdir(dir, 0700);
    if (!geteuid() &&
        (chmod(top, 0711) || chown(dir, NOBODY, NOBODY) || seteuid(NOBODY)))
        printf("# cannot become nobody\n");
    alone();
    beside_a_writer();
    refuses_to_write();
    older_version();
    if (!getuid() && seteuid(0))
        printf("# cannot become root again\n");
    dir_remove(top);
    return tap_done();
}
