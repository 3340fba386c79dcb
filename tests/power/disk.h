/*
 * disk.h - what a disk may hold after the power was cut.
 *
 * The notes of a tape are played up to a point. A file is what its last sync
 * made sure of, and the writes since then, of which any part may have come
 * to the disk: of each sector nothing, all, or a piece. Its name is there
 * for sure once the directory was synced; of the names made and dropped
 * since then, the first few. The index of the log (-shm) is always lost.
 */
#ifndef POWER_DISK_H
#define POWER_DISK_H

#include <fcntl.h>

#include "tape.h"

enum { INODES_MAX = 64, NAMES_MAX = 64 };

struct inode {
    unsigned char *sure;
    size_t sure_len, sure_room;
    const struct op **since; /* not sure, in order */
    size_t since_count, since_room;
    size_t orphans; /* of these: their sync has failed, none will do */
};

struct name { /* made (inode) or dropped (-1) */
    int file, inode;
};

struct disk {
    struct inode inodes[INODES_MAX];
    int inodes_count;
    int now[FILES], sure[FILES]; /* inodes by name; -1: none */
    struct name names[NAMES_MAX];
    size_t names_count;
    bool lies; /* a sync makes nothing sure */
    size_t at; /* ops that were played */
};

/* How an image is made. */
enum fate { FATE_DROPPED, FATE_KEPT, FATE_MIXED };

struct cut {
    enum fate fate;
    uint64_t chance;
    size_t sector;
    unsigned keep, tear; /* percent */
    bool garbage;        /* in what was never written */
    long dropped, torn;  /* out: how many sectors */
};

static uint64_t next_chance(uint64_t *chance)
{
    uint64_t x = *chance += 0x9e3779b97f4a7c15u;

    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* ---- Bytes --------------------------------------------------------------- */

struct bytes {
    unsigned char *ptr;
    size_t len, room;
};

static void bytes_size(struct bytes *b, size_t len, int fill)
{
    if (len > b->room) {
        b->room = len + len / 2;
        b->ptr = must(realloc(b->ptr, b->room));
    }
    if (len > b->len)
        memset(b->ptr + b->len, fill, len - b->len);
    b->len = len;
}

static void bytes_write(struct bytes *b, size_t at, const unsigned char *from,
                        size_t len, int fill)
{
    if (at + len > b->len)
        bytes_size(b, at + len, fill);
    memcpy(b->ptr + at, from, len);
}

/* ---- Playing the tape ---------------------------------------------------- */

static int inode_new(struct disk *d)
{
    if (d->inodes_count == INODES_MAX)
        abort();
    return d->inodes_count++;
}

static void inode_add(struct inode *n, const struct op *op)
{
    if (n->since_count == n->since_room) {
        n->since_room = n->since_room ? n->since_room * 2 : 64;
        n->since = must(realloc(n->since, n->since_room * sizeof *n->since));
    }
    n->since[n->since_count++] = op;
}

static void inode_sync(struct inode *n)
{
    struct bytes b = {n->sure, n->sure_len, n->sure_room};

    for (size_t i = n->orphans; i < n->since_count; i++) {
        const struct op *op = n->since[i];

        if (op->kind == OP_CUT)
            bytes_size(&b, (size_t)op->at, 0);
        else
            bytes_write(&b, (size_t)op->at, op->bytes, op->len, 0);
    }
    n->sure = b.ptr;
    n->sure_len = b.len;
    n->sure_room = b.room;
    /* Those whose sync has failed never come: the system has forgotten
     * that they were to be written. */
    n->since_count = n->orphans = 0;
}

static void disk_name(struct disk *d, int file, int inode)
{
    if (d->names_count == NAMES_MAX)
        abort();
    d->now[file] = inode;
    d->names[d->names_count++] = (struct name){file, inode};
}

static void disk_sync_dir(struct disk *d)
{
    if (d->lies)
        return;
    memcpy(d->sure, d->now, sizeof d->sure);
    d->names_count = 0;
}

static void disk_play(struct disk *d, const struct op *op)
{
    struct inode *n =
        d->now[op->file] < 0 ? NULL : &d->inodes[d->now[op->file]];

    switch (op->kind) {
    case OP_MAKE: disk_name(d, op->file, inode_new(d)); break;
    case OP_DROP: disk_name(d, op->file, -1); break;
    case OP_WRITE:
    case OP_CUT: inode_add(n, op); break;
    case OP_SYNC:
        if (!d->lies)
            inode_sync(n);
        break;
    case OP_SYNC_BAD: n->orphans = n->since_count; break;
    }
    if (op->dir)
        disk_sync_dir(d);
    d->at++;
}

static void disk_play_to(struct disk *d, size_t at)
{
    while (d->at < at)
        disk_play(d, &tape.ops[d->at]);
}

static void disk_free(struct disk *d)
{
    for (int i = 0; i < d->inodes_count; i++) {
        free(d->inodes[i].sure);
        free(d->inodes[i].since);
    }
}

/* With what lies in `dir`, all of it sure. */
static inline void disk_load(struct disk *d, const char *path)
{
    for (int i = 0; i < FILES; i++) {
        char name[160];
        struct inode *n;
        FILE *f;

        d->now[i] = d->sure[i] = -1;
        snprintf(name, sizeof name, "%s%s", path, file_ends[i]);
        f = fopen(name, "rb");
        if (!f)
            continue;
        d->now[i] = d->sure[i] = inode_new(d);
        n = &d->inodes[d->now[i]];
        fseek(f, 0, SEEK_END);
        n->sure_len = n->sure_room = (size_t)ftell(f);
        n->sure = must(malloc(n->sure_room + 1));
        rewind(f);
        if (fread(n->sure, 1, n->sure_len, f) != n->sure_len)
            abort();
        fclose(f);
    }
}

/* ---- Cutting the power --------------------------------------------------- */

/* A part of a write that lies in one sector. */
static void cut_sector(struct cut *c, struct bytes *b, const struct op *op,
                       size_t from, size_t to)
{
    unsigned roll = (unsigned)(next_chance(&c->chance) % 100);
    int fill = c->garbage ? 0xa5 : 0;
    size_t piece;

    if (c->fate == FATE_DROPPED ||
        (c->fate == FATE_MIXED && roll >= c->keep + c->tear)) {
        c->dropped++;
        return;
    }
    if (c->fate == FATE_MIXED && roll >= c->keep && to - from > 1) {
        piece = 1 + next_chance(&c->chance) % (to - from - 1);
        c->torn++;
        if (roll & 1) /* the disk may begin with either end */
            from += piece;
        else
            to = from + piece;
    }
    bytes_write(b, from, op->bytes + (from - (size_t)op->at), to - from, fill);
}

static void cut_op(struct cut *c, struct bytes *b, const struct op *op)
{
    size_t at = (size_t)op->at, end = at + op->len;

    if (op->kind == OP_CUT) {
        if (c->fate == FATE_KEPT ||
            (c->fate == FATE_MIXED && next_chance(&c->chance) % 100 < c->keep))
            bytes_size(b, at, 0);
        return;
    }
    while (at < end) {
        size_t stop = (at / c->sector + 1) * c->sector;

        if (stop > end)
            stop = end;
        cut_sector(c, b, op, at, stop);
        at = stop;
    }
}

static void write_file(const char *path, const struct bytes *b)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    if (fd < 0 || write(fd, b->ptr, b->len) != (ssize_t)b->len)
        abort();
    close(fd);
}

/* The files at `path` become what the disk may hold. */
static void disk_cut(const struct disk *d, struct cut *c, const char *path)
{
    static struct bytes b; /* used again, it is large */
    int names[FILES];
    size_t kept = d->names_count;
    char name[160];

    memcpy(names, d->sure, sizeof names);
    if (c->fate == FATE_DROPPED)
        kept = 0;
    else if (c->fate == FATE_MIXED)
        kept = next_chance(&c->chance) % (d->names_count + 1);
    for (size_t i = 0; i < kept; i++)
        names[d->names[i].file] = d->names[i].inode;
    for (int i = 0; i < FILES; i++) {
        const struct inode *n;

        snprintf(name, sizeof name, "%s%s", path, file_ends[i]);
        if (names[i] < 0)
            continue;
        n = &d->inodes[names[i]];
        b.len = 0;
        if (n->sure_len)
            bytes_write(&b, 0, n->sure, n->sure_len, 0);
        for (size_t k = 0; k < n->since_count; k++)
            cut_op(c, &b, n->since[k]);
        write_file(name, &b);
    }
}

#endif
