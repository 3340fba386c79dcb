/*
 * note.h - how far each run of a store had come, beside the store.
 *
 * After each commit the newest event of its runs is noted in the owners' file,
 * by a plain write: 64 bytes for each run, at its number. A note is never ahead
 * of the disk where the disk keeps its promises, so a log that is behind its
 * note has lost its end: the write-ahead log was damaged or cut, or the store
 * is an older copy. A note that is lost proves nothing.
 */
#ifndef STORE_NOTE_H
#define STORE_NOTE_H

#include "base/id.h"
#include "store/owner.h"

struct note {
    char run[RUN_ID_LEN + 1];
    int64_t seq;
};

/* A note counts for the store whose id the owner has. */
void note_write(const struct owner *o, int64_t id, wend_str run, int64_t seq);
bool note_read(const struct owner *o, int64_t id, struct note *out);
/* False, with errno: it is still there, and says that the run was lost. */
bool note_clear(const struct owner *o, int64_t id);
int64_t note_last(const struct owner *o); /* the highest id there can be */

#endif
