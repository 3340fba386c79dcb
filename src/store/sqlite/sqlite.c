/*
 * sqlite.c - the store in an SQLite file: joins file, writer and readers.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/fail.h"
#include "store/sqlite/sqlite.h"

/* So that a change of directory moves nothing, and no name is special. */
static wend_status path_absolute(const char *path, char out[STORE_PATH_MAX],
                                 wend_error *err)
{
    char cwd[STORE_PATH_MAX] = "";
    bool relative = path[0] != '/';

    if (relative && !getcwd(cwd, sizeof cwd))
        return fail(err, WEND_E_STORE, "store %s: no current directory: %s",
                    path, strerror(errno));
    if (snprintf(out, STORE_PATH_MAX, "%s%s%s", cwd, relative ? "/" : "",
                 path) >= STORE_PATH_MAX)
        return fail(err, WEND_E_STORE, "store %s: its path is too long", path);
    return WEND_OK;
}

/* A file that may not grow any more must not cost the host its life: on its
 * own threads, where stores are opened and closed, the signal is held back
 * until the store is done, and then dropped. */
struct hold {
    sigset_t signal, before;
    bool was_pending;
};

static void hold_begin(struct hold *h)
{
    sigset_t pending;

    sigemptyset(&h->signal);
    sigaddset(&h->signal, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &h->signal, &h->before);
    sigpending(&pending);
    h->was_pending = sigismember(&pending, SIGXFSZ);
}

static void hold_end(const struct hold *h)
{
    const struct timespec at_once = {0};

    if (!h->was_pending)
        sigtimedwait(&h->signal, NULL, &at_once);
    pthread_sigmask(SIG_SETMASK, &h->before, NULL);
}

static void sqlite_free(wend_store *store)
{
    struct sqlite_store *s = (struct sqlite_store *)store;
    struct mem mem = store->mem;
    struct hold hold;

    db_writer_stop(s);
    forked_enter();
    hold_begin(&hold);
    if (s->failure.status != WEND_OK && s->read.handle)
        sqlite3_db_config(s->read.handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1,
                          NULL);
    db_close(&s->read);
    db_close(&s->write);
    hold_end(&hold);
    forked_leave();
    owner_close(&s->owner);
    pthread_cond_destroy(&s->wake);
    pthread_cond_destroy(&s->finished);
    pthread_mutex_destroy(&s->lock);
    pthread_mutex_destroy(&s->care_lock);
    pthread_mutex_destroy(&s->read_lock);
    mem_free(&mem, s);
}

static struct sqlite_store *sqlite_new(void)
{
    static const struct store_ops ops = {
        .own_thread = true,
        .shared = true,
        .free = sqlite_free,
        .append = db_append,
        .claim = db_claim,
        .read = db_read,
        .list = db_list,
        .blob = db_blob,
        .state = db_state,
        .check = db_check,
        .forget = db_forget,
        .tidy = db_tidy,
        .post = db_post,
        .take = db_take,
        .waiting = db_waiting,
        .fate = db_fate,
        .keep = db_keep,
        .facts = db_facts,
        .failure = db_failure,
        .accept_loss = db_accept_loss,
    };
    const struct mem mem = {0};
    struct sqlite_store *s = mem_zalloc(&mem, sizeof *s);

    if (!s)
        return NULL;
    if (!store_lock_init(&s->read_lock)) {
        mem_free(&mem, s);
        return NULL;
    }
    /* With default attributes these cannot fail here. */
    pthread_mutex_init(&s->lock, NULL);
    pthread_mutex_init(&s->care_lock, NULL);
    pthread_cond_init(&s->wake, NULL);
    pthread_cond_init(&s->finished, NULL);
    store_init(&s->base, &ops);
    s->owner.fd = -1;
    s->taken_at = -1;
    return s;
}

/* All that writes fails with the same words as if it were opened to write. */
static wend_status open_still(struct sqlite_store *s,
                              const struct db_schema *schema, wend_error *err)
{
    fail(&s->refusal, WEND_E_STORE,
         "store %s: is read-only; make the file and its directory writable, "
         "or choose another store",
         s->path);
    return db_open_still(s->path, schema, &s->read, &s->owner, &s->still, err);
}

wend_status sqlite_open_as(const char *path, const struct db_schema *schema,
                           enum store_use use, wend_store **out,
                           wend_error *err)
{
    struct sqlite_store *s = sqlite_new();
    struct hold hold;
    wend_status status;

    *out = NULL;
    if (!s)
        return fail_nomem(err);
    status = path_absolute(path, s->path, err);
    forked_enter();
    hold_begin(&hold);
    if (status == WEND_OK && use == STORE_READ && still_only(s->path))
        status = open_still(s, schema, err);
    else if (status == WEND_OK)
        status = db_open(s->path, schema, &s->write, &s->owner, err);
    if (status == WEND_OK)
        status = db_store_id(s->write.handle ? &s->write : &s->read, s->base.id,
                             err);
    s->owner.store = s->base.id;
    if (status == WEND_OK && s->write.lost)
        status = db_note_loss(s, err);
    s->base.made = s->write.made;
    s->base.adopted = s->write.adopted;
    hold_end(&hold);
    forked_leave();
    if (status == WEND_OK && !db_writer_start(s))
        status = fail(err, WEND_E_STORE, "store %s: no thread to be had", path);
    if (status == WEND_OK) {
        *out = &s->base;
        s = NULL; /* now the caller's */
    }
    if (s)
        sqlite_free(&s->base);
    return status;
}

wend_status store_sqlite_open(const char *path, enum store_use use,
                              wend_store **out, wend_error *err)
{
    return sqlite_open_as(path, &db_schema_now, use, out, err);
}
