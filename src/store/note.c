/*
 * note.c - how far each run of a store had come, beside the store.
 *
 * A note is a line that people can read: run, seq and a check over both and
 * the store's id, with which a torn or foreign line is told apart.
 */
#include "store/note.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"

enum { NOTE_BYTES = 64, SEQ_DIGITS = 10, CHECK_DIGITS = 15 };

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
void note_write(const struct owner *o, int64_t id, wend_str run, int64_t seq)
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

bool note_read(const struct owner *o, int64_t id, struct note *out)
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

bool note_clear(const struct owner *o, int64_t id)
{
    static const char none[NOTE_BYTES];
    struct note note;

    if (!has_file(o) || pread(o->fd, &note.run, 1, id * NOTE_BYTES) == 0)
        return true;
    return put(o, id, none);
}

int64_t note_last(const struct owner *o)
{
    struct stat st;

    return has_file(o) && !fstat(o->fd, &st) ? st.st_size / NOTE_BYTES - 1 : -1;
}
