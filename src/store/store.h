/*
 * store.h - where runs are kept: one vtable for all engines.
 *
 * A batch is what the steps of one run add in one pass of the loop: all of it
 * or nothing. append hands it to the engine and returns; `done` is called once
 * when it is safe on stable storage or has failed. After one WEND_E_STORE an
 * engine accepts nothing more: a failed commit is never tried again.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/hash.h"
#include "store/forked.h"

enum {
    PROMPT_LISTED_MAX = 4 << 10, /* a listing shows no more of a prompt */
    LIST_LIMIT_DEFAULT = 100,
    STORE_ID_BYTES = 33, /* hexadecimal digits and a zero */
    STORE_SEQ_ANY = -1,  /* for claim: the caller has not read the log */
    STORE_PATH_MAX = 4096,
};

/* A kept event: `body` is its canonical line. */
struct store_event {
    int64_t seq;
    wend_event_type type;
    int64_t time_us;
    wend_str body;
};

/* Deltas n .. n + count - 1 after kept event seq (see store/pack.h). */
struct store_pack {
    int64_t seq, n, count;
    wend_str body;
};

struct store_blob {
    char hash[SHA256_HEX + 1];
    wend_str body;
};

/* What a listing shows besides what never changes. */
struct store_summary {
    /* Static text: running waiting paused ok limit ... `interrupted` gives
     * the run up, so that anyone may claim it. */
    const char *status;
    int64_t ended_us; /* 0 while it is not over */
    int64_t turns, tokens_in, tokens_out, cost_nano;
};

/* What never changes; given with a run's first batch. */
struct store_birth {
    wend_str agent, model, prompt, user, session, parent;
    wend_str above; /* the run that waits for a fork: run_fork.parent_run, from
                       where an engine may take it; absent: none */
    int64_t started_us;
    /* It came from a file. Engines also set it if `parent` has it, so that
     * no fork or child of an imported run loses the mark. */
    bool imported;
};

/* A request that a batch deals with: it is deleted, or its sender learns that
 * it came too late. */
struct store_heard {
    int64_t id;
    bool late;
};

struct store_batch;
/* May be called before append returns, or later from the engine's thread;
 * the batch and all it points to are the caller's again. */
typedef void (*store_done_fn)(struct store_batch *b, wend_status s);

struct store_batch {
    wend_str run;
    int64_t epoch;                   /* that the caller believes it holds */
    const struct store_birth *birth; /* first batch only, else NULL */
    const struct store_pack *packs;  /* in order; one with seq S follows
                                        event S, of this batch or before */
    size_t packs_count;
    const struct store_event *events;
    size_t events_count;
    const struct store_blob *blobs;
    size_t blobs_count;
    const struct store_heard *heard;
    size_t heard_count;
    struct store_summary summary;
    store_done_fn done;
    void *ctx;                /* the caller's */
    struct store_batch *next; /* the engine's, as what follows */
    wend_status refused;
};

/* Where a reader stands: it has had event seq and n deltas after it. */
struct store_place {
    int64_t seq, n;
};

/* One row of a read: a kept event, or a pack of deltas after it. */
struct store_item {
    bool is_pack;
    int64_t seq, n, count;
    wend_str body;                    /* lent during the call */
    unsigned char hash[SHA256_BYTES]; /* of a kept event */
};
/* Returns false to stop. May call `blob` of the same store, nothing else. */
typedef bool (*store_item_fn)(void *ctx, const struct store_item *item);

/* A request from another process: cancel say pause continue approve. */
struct store_request {
    int64_t id;
    wend_str run, what, body; /* body: a JSON object */
};
/* Returns whether it is dealt with, or will be by a batch. */
typedef bool (*store_request_fn)(void *ctx, const struct store_request *r);
/* What became of one: a batch has not dealt with it yet; it did; it came too
 * late. */
enum store_fate { FATE_WAITS, FATE_HEARD, FATE_LATE };

/* A named fact, besides runs. */
struct store_fact {
    wend_str space, key, text;
    int64_t time_us, until_us; /* until_us 0: for ever */
};
/* Returns false to stop; must not call the store. */
typedef bool (*store_fact_fn)(void *ctx, const struct store_fact *fact);

/* Once a fact is safe, or why it is not [any thread, also inside keep]. */
typedef void (*store_kept_fn)(void *ctx, wend_status s);

/* What a store says about a run besides its log. */
struct store_state {
    int64_t id; /* the engine's */
    int64_t epoch, seq;
    int64_t noted;    /* the newest event that it is known to have had, or 0 */
    int64_t first;    /* of its own events; 0: it has none */
    int64_t ended_us; /* 0 while it is not over */
    unsigned char head[SHA256_BYTES]; /* hash of event seq */
};

struct store_ops {
    bool own_thread; /* batches are answered by it, whatever callers do */
    bool shared;     /* other processes can reach it */
    void (*free)(wend_store *s);
    /* The caller keeps b alive until done. A batch with a stale epoch, a
     * first seq that is not the next one (of a fork: that does not follow an
     * event of its parent), or a birth of a run that exists, fails alone with
     * WEND_E_STALE; its neighbours in the same commit are unharmed. One that
     * ends its run while requests wait that it does not deal with fails alone
     * with WEND_E_BUSY. */
    void (*append)(wend_store *s, struct store_batch *b);
    /* Makes this handle the owner of a run that no other living one holds
     * (WEND_E_BUSY otherwise); gives the new epoch and the newest seq. Only
     * WEND_OK changes the run. `known` is the newest event that the caller has
     * read, or STORE_SEQ_ANY. WEND_AGAIN: the run has more, up to *seq, which
     * the caller reads before it asks again. WEND_E_INVAL: the run is over. */
    wend_status (*claim)(wend_store *s, wend_str run, int64_t known,
                         int64_t *epoch, int64_t *seq, wend_error *err);
    /* Items in order, at most max; 0 = all: kept event from.seq, the packs
     * after it that go beyond delta from.n, and everything after them. A
     * run whose birth began later than 1 is a fork: what is before is its
     * parent's, and its chain continues from there. */
    wend_status (*read)(wend_store *s, wend_str run, struct store_place from,
                        uint32_t max, store_item_fn fn, void *ctx,
                        wend_error *err);
    /* Rows live in the arena. */
    wend_status (*list)(wend_store *s, const wend_list_options *o,
                        struct arena *a, wend_run_info **rows, size_t *count,
                        wend_error *err);
    wend_status (*blob)(wend_store *s, wend_str hash, struct buf *out,
                        wend_error *err);
    wend_status (*state)(wend_store *s, wend_str run, struct store_state *out,
                         wend_error *err);
    /* Whether all that is kept is sound and belongs to a run: WEND_OK, or
     * WEND_E_CORRUPT and what is not. */
    wend_status (*check)(wend_store *s, wend_error *err);
    /* Removes runs; `ids` holds their ids, each with a NUL behind it. A run
     * that is not over, or is the parent of a stored run, is not removed. */
    wend_status (*forget)(wend_store *s, const char *ids, size_t count,
                          int64_t *gone, wend_error *err);
    /* Drops expired facts and blobs that no event refers to, and returns free
     * space. */
    wend_status (*tidy)(wend_store *s, int64_t now_us, int64_t *bytes,
                        wend_error *err);
    /* Keeps a request until a batch deals with it. `id` may be NULL.
     * WEND_E_INVAL: the run is over. WEND_E_LIMIT: REQUESTS_MAX wait. */
    wend_status (*post)(wend_store *s, wend_str run, const char *what,
                        wend_str body, int64_t *id, wend_error *err);
    /* Requests for runs that this handle owns, oldest first. They stay until
     * a batch deals with them; one that fn does not take is given again. */
    wend_status (*take)(wend_store *s, store_request_fn fn, void *ctx,
                        wend_error *err);
    /* All that wait for one run, oldest first, in the arena. */
    wend_status (*waiting)(wend_store *s, wend_str run, struct arena *a,
                           struct store_request **out, size_t *count,
                           wend_error *err);
    /* What became of a request. FATE_LATE is said once. */
    wend_status (*fate)(wend_store *s, int64_t id, enum store_fate *out,
                        wend_error *err);
    /* Keeps a copy in place of what has the same space and key; without a
     * text that is forgotten. `done` may be NULL. */
    void (*keep)(wend_store *s, const struct store_fact *fact,
                 store_kept_fn done, void *ctx);
    /* Those of a space that are not over, newest first; with a key only
     * that one. */
    wend_status (*facts)(wend_store *s, wend_str space, wend_str key,
                         int64_t now_us, store_fact_fn fn, void *ctx,
                         wend_error *err);
    /* Why appends fail: WEND_E_STORE and the reason, or WEND_OK. */
    wend_status (*failure)(wend_store *s, wend_error *err);
    /* A run that claim refuses with WEND_E_CORRUPT, because its end is lost,
     * can be claimed from now on. NULL: none is ever refused. */
    wend_status (*accept_loss)(wend_store *s, wend_str run, wend_error *err);
};

struct wend_store {
    const struct store_ops *ops;
    struct mem mem;
    char id[STORE_ID_BYTES]; /* empty: it has none */
    bool made, adopted;      /* see wend_store_origin */
    bool foreign;            /* all its runs count as imported */
    unsigned process;        /* that made it, see forked.h */
    atomic_int holders;      /* besides the host: runtimes */
    pthread_mutex_t leases_lock;
    struct lease *leases; /* see lease.h */
};

/* For a store whose bytes are zero; wend_store_free is the other end. */
void store_init(wend_store *s, const struct store_ops *ops);

/* At the border: WEND_OK, or why this process cannot use the handle. */
wend_status store_enter(const wend_store *s, wend_error *err);
/* The store stays until as many wend_store_free follow. */
wend_store *store_hold(wend_store *s);

/* Appends and waits; b->done and b->ctx are overwritten. */
wend_status store_append_wait(wend_store *s, struct store_batch *b);
/* Removes one run; WEND_E_BUSY: it cannot be removed. */
wend_status store_forget_run(wend_store *s, const char *id, wend_error *err);

/* The summary of a listed run, as of one that no process holds. */
struct store_summary store_left(const wend_run_info *info);
/* At the border of what concerns one run: as store_enter, and id is an id. */
wend_status store_enter_run(const wend_store *s, const char *id,
                            wend_error *err);
/* What lists say about one run, in the arena. */
wend_status store_info(wend_store *s, const char *id, struct arena *a,
                       wend_run_info **out, wend_error *err);

/* For engines: the part of a prompt that a listing shows. */
wend_str store_prompt(wend_str prompt);
/* The next blob that an event's body refers to. A text that only looks like
 * a reference may be given, too. */
bool store_blob_next(wend_str *rest, wend_str *hash);
/* Whether b follows on seq and belongs to epoch. */
bool store_batch_fits(const struct store_batch *b, int64_t epoch, int64_t seq);
/* WEND_E_NOTFOUND; `what` is "run" or "blob". */
wend_status store_missing(const char *what, wend_str name, wend_error *err);
/* The rules of `claim` and `post` for a run that no other living handle holds.
 * `requests` is the number that its inbox holds. */
wend_status store_claimable(wend_str run, int64_t known, int64_t seq,
                            int64_t ended_us, wend_error *err);
wend_status store_postable(wend_str run, int64_t ended_us, int64_t requests,
                           wend_error *err);
/* The caller of `read`, and how much more it takes. */
struct store_reader {
    store_item_fn fn;
    void *ctx;
    uint32_t left; /* 0: all */
    bool stopped;
};
/* False once the reader has stopped. */
bool store_give(struct store_reader *r, const struct store_item *item);
/* The name of a file beside the store: its path and an ending. False: it is too
 * long to be opened. */
bool store_beside(char name[STORE_PATH_MAX], const char *path,
                  const char *ending);
/* The directory of the file at `path`; false as above. */
bool store_dir(char dir[STORE_PATH_MAX], const char *path);
/* Makes the name of the file or directory at `path` safe. */
wend_status store_sync_name(const char *path, wend_error *err);
/* A zeroed block of `size` bytes, with copies of the texts behind it, which
 * then point to their copies; the list ends with NULL. NULL: out of memory. */
void *store_block(const struct mem *m, size_t size, wend_str *const *texts);
/* A lock for readers: recursive, since they may ask for a blob. */
bool store_lock_init(pthread_mutex_t *lock);

/* Engines; url prefixes decide in store.c. */
enum store_use { STORE_WRITE, STORE_READ }; /* READ: writing may be refused */
wend_status store_memory_open(wend_store **out, wend_error *err);
wend_status store_sqlite_open(const char *path, enum store_use use,
                              wend_store **out, wend_error *err);

/* hash = SHA-256(previous, packs before the event, its body). */
struct chain {
    unsigned char head[SHA256_BYTES]; /* zero before the first event */
    struct sha256 packs;              /* since the head */
    bool packs_any;
};
void chain_pack(struct chain *c, wend_str body);
void chain_event(struct chain *c, wend_str body);

#endif
