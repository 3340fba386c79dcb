/*
 * owner.h - who is alive: kernel locks on a file beside the store.
 *
 * Every opened store handle is an owner with a random id and holds a lock
 * on the byte at that offset for as long as it lives; the kernel releases
 * it however the process ends. Byte 0 serialises making and upgrading; behind
 * the last id are the bytes of the queue of those that write.
 */
#ifndef STORE_OWNER_H
#define STORE_OWNER_H

#include "store/forked.h"

struct owner {
    int fd; /* -1: not open */
    int64_t id;
    bool ownerless;          /* there is no lock file, and so no owner */
    const char *store;       /* the id of the store, for notes; NULL: none */
    struct forked_file file; /* the store's */
};

/* The file of the store that is to be owned, before SQLite opens it. */
wend_status owner_meet(const char *path, struct owner *o, wend_error *err);

wend_status owner_open(const char *lock_path, struct owner *o, wend_error *err);
/* Only to ask who is alive, where nothing can be written. */
wend_status owner_look(const char *lock_path, struct owner *o, wend_error *err);
void owner_close(struct owner *o);
/* True in doubt: a run taken from a living owner would be written twice. */
bool owner_alive(const struct owner *o, int64_t id);
bool owner_alone(const struct owner *o); /* no other handle is open */
bool owner_lock(const struct owner *o);  /* waits for byte 0 */
void owner_unlock(const struct owner *o);

/* The turn to write, and the mark of those that wait for it (queue.h). */
enum owner_try { OWNER_GOT, OWNER_TAKEN, OWNER_FAILED };
enum owner_try owner_write_try(const struct owner *o);
void owner_write_end(const struct owner *o);
bool owner_others_wait(const struct owner *o);
void owner_wait_mark(const struct owner *o, bool waits);

#endif
