/*
 * wal_scan.c - whether a write-ahead log has lost commits.
 *
 * SQLite reads its log up to the first frame whose checksum is wrong, and takes
 * that for the end. Each commit is on the disk before the next one is written:
 * a commit behind the bad frame that a later frame continues was safe, and is
 * lost. The last commit may only be torn, by a crash that came before it was
 * reported as safe.
 *
 * The form of the file is documented by SQLite: a header of 32 bytes, then
 * frames of 24 bytes and a page. Numbers are big-endian; checksums are taken
 * over words in the order that the magic number says.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "store/sqlite/sqlite.h"

enum {
    HEADER_BYTES = 32,
    FRAME_HEADER_BYTES = 24,
    PAGE_BYTES_MAX = 65536,
    MAGIC = 0x377f0682, /* the lowest bit: words are big-endian */
};

struct log {
    int fd;
    bool big; /* order of the words that are summed */
    uint32_t page_bytes;
    uint32_t sum[2];
    unsigned char header[HEADER_BYTES];
    unsigned char *frame;
};

static uint32_t be32(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 |
           p[3];
}

static uint32_t le32(const unsigned char *p)
{
    return (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 |
           p[0];
}

static void add_up(struct log *l, const unsigned char *p, size_t len)
{
    for (const unsigned char *end = p + len; p < end; p += 8) {
        l->sum[0] += (l->big ? be32(p) : le32(p)) + l->sum[1];
        l->sum[1] += (l->big ? be32(p + 4) : le32(p + 4)) + l->sum[0];
    }
}

static bool sum_is(const struct log *l, const unsigned char *p)
{
    return l->sum[0] == be32(p) && l->sum[1] == be32(p + 4);
}

static bool read_header(struct log *l)
{
    const unsigned char *h = l->header;

    if (pread(l->fd, l->header, HEADER_BYTES, 0) != HEADER_BYTES ||
        (be32(h) & ~1u) != MAGIC)
        return false;
    l->big = be32(h) & 1;
    l->page_bytes = be32(h + 8);
    add_up(l, h, 24);
    return sum_is(l, h + 24) && l->page_bytes >= 512 &&
           l->page_bytes <= PAGE_BYTES_MAX;
}

static bool read_frame(struct log *l, int64_t n)
{
    size_t bytes = FRAME_HEADER_BYTES + l->page_bytes;

    return pread(l->fd, l->frame, bytes, HEADER_BYTES + n * (int64_t)bytes) ==
           (ssize_t)bytes;
}

/* Written since the log began anew: it has the same salts. */
static bool is_of_log(const struct log *l)
{
    return be32(l->frame) && be32(l->frame + 8) == be32(l->header + 16) &&
           be32(l->frame + 12) == be32(l->header + 20);
}

static bool is_commit(const struct log *l)
{
    return be32(l->frame + 4) != 0;
}

/* Whether the frame continues the sum: it was written after what was summed. */
static bool continues(struct log *l)
{
    add_up(l, l->frame, 8);
    add_up(l, l->frame + FRAME_HEADER_BYTES, l->page_bytes);
    return sum_is(l, l->frame + 16);
}

static int64_t first_bad(struct log *l)
{
    int64_t n = 0;

    while (read_frame(l, n) && is_of_log(l) && continues(l))
        n++;
    return n;
}

/* A frame of the same log proves nothing by its place: a writer that was killed
 * leaves frames without a commit, the next one writes over the first of them,
 * and may be killed too. Only one that continues the sum of a commit was
 * written after it, and only a commit that continues a sum is one: a power cut
 * may leave anything in a part of a header. One that repeats the commit before
 * it is the same commit: where a disk may damage what is near a write, SQLite
 * fills up the sector with repetitions, and syncs no further than the sector.
 * If the frame behind the bad one continues what the bad one adds up to, only
 * the sum in it was damaged.
 */
static bool commits_follow(struct log *l, int64_t bad)
{
    unsigned char before[8] = {0}; /* page and commit of the last frame */
    const uint32_t right[2] = {l->sum[0], l->sum[1]}; /* of the bad one */
    bool committed = false;

    if (bad && read_frame(l, bad - 1))
        memcpy(before, l->frame, sizeof before);
    l->sum[0] = l->sum[1] = 0;
    for (int64_t n = bad; read_frame(l, n); n++) {
        bool whole = is_of_log(l) && continues(l);
        bool repeats = is_commit(l) && !memcmp(before, l->frame, sizeof before);

        if (n == bad + 1 && !whole && is_of_log(l)) {
            memcpy(l->sum, right, sizeof l->sum);
            whole = continues(l);
            committed = whole && be32(before + 4);
        }

        if (committed && whole && !repeats)
            return true;
        committed = whole && is_commit(l) && (committed || !repeats);
        memcpy(before, l->frame, sizeof before);
        l->sum[0] = be32(l->frame + 16);
        l->sum[1] = be32(l->frame + 20);
    }
    return false;
}

bool wal_has_lost(const char *path)
{
    const struct mem mem = {0};
    char name[STORE_PATH_MAX];
    struct log l = {.fd = -1};
    bool lost = false;

    if (store_beside(name, path, "-wal"))
        l.fd = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (l.fd >= 0 && read_header(&l)) {
        l.frame = mem_zalloc(&mem, FRAME_HEADER_BYTES + l.page_bytes);
        lost = l.frame && commits_follow(&l, first_bad(&l));
    }
    mem_free(&mem, l.frame);
    if (l.fd >= 0)
        close(l.fd);
    return lost;
}
