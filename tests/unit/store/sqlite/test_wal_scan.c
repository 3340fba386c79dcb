/*
 * test_wal_scan.c - logs of SQLite, byte by byte: which have lost commits.
 *
 * The writer here shares no code with the reader; that its logs are such as
 * SQLite writes is checked by SQLite.
 */
#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/sqlite/sqlite.h"
#include "store_help.h"

enum { WAL_BYTES = 1 << 20 };

/* ---- A writer ------------------------------------------------------------ */

struct wal {
    unsigned char bytes[WAL_BYTES];
    size_t len;
    bool big;
    uint32_t page_bytes, salt[2], sum[2];
};

static void put_be32(unsigned char *p, uint32_t n)
{
    for (int i = 0; i < 4; i++)
        p[i] = (unsigned char)(n >> (24 - 8 * i));
}

static uint32_t word(const struct wal *w, const unsigned char *p)
{
    uint32_t n = 0;

    for (int i = 0; i < 4; i++)
        n |= (uint32_t)p[i] << (w->big ? 24 - 8 * i : 8 * i);
    return n;
}

static void sum(struct wal *w, const unsigned char *p, size_t len)
{
    for (size_t i = 0; i < len; i += 8) {
        w->sum[0] += word(w, p + i) + w->sum[1];
        w->sum[1] += word(w, p + i + 4) + w->sum[0];
    }
}

static void put_sum(const struct wal *w, unsigned char *p)
{
    put_be32(p, w->sum[0]);
    put_be32(p + 4, w->sum[1]);
}

/* From the start of the file; what is behind it stays. */
static void begin(struct wal *w, uint32_t salt)
{
    unsigned char *p = w->bytes;

    w->salt[0] = salt;
    w->salt[1] = ~salt;
    w->sum[0] = w->sum[1] = 0;
    put_be32(p, 0x377f0682u | w->big);
    put_be32(p + 4, 3007000);
    put_be32(p + 8, w->page_bytes);
    put_be32(p + 12, salt);
    put_be32(p + 16, w->salt[0]);
    put_be32(p + 20, w->salt[1]);
    sum(w, p, 24);
    put_sum(w, p + 24);
    w->len = 32;
}

/* `pages` frames, of which the last commits, unless it is to be open. */
static void add(struct wal *w, uint32_t page, int pages, bool open)
{
    for (int i = 0; i < pages; i++, page++) {
        unsigned char *p = w->bytes + w->len;

        put_be32(p, page);
        put_be32(p + 4, !open && i == pages - 1 ? 9 : 0);
        put_be32(p + 8, w->salt[0]);
        put_be32(p + 12, w->salt[1]);
        memset(p + 24, (int)(page + w->len / 100), w->page_bytes);
        sum(w, p, 8);
        sum(w, p + 24, w->page_bytes);
        put_sum(w, p + 16);
        w->len += 24 + w->page_bytes;
    }
}

/* Of frame n, counted from 0. */
static unsigned char *frame(struct wal *w, size_t n)
{
    return w->bytes + 32 + n * (24 + w->page_bytes);
}

/* ---- What may happen to it ----------------------------------------------- */

/* Three commits: frames 0-1, 2, 3-5. */
static void three(struct wal *w)
{
    begin(w, 77);
    add(w, 1, 2, false);
    add(w, 4, 1, false);
    add(w, 5, 3, false);
}

static void clean(struct wal *w)
{
    three(w);
}

static void torn_tail(struct wal *w)
{
    three(w);
    w->len -= w->page_bytes / 2;
}

static void open_tail(struct wal *w)
{
    three(w);
    add(w, 2, 2, true);
}

static void bad_page(struct wal *w)
{
    three(w);
    frame(w, 0)[24 + 100] ^= 1;
}

static void bad_sum(struct wal *w)
{
    three(w);
    frame(w, 1)[16] ^= 1;
}

static void bad_salt(struct wal *w)
{
    three(w);
    frame(w, 0)[8] ^= 1;
}

/* Nothing was written after it: it may never have been safe. */
static void bad_last_commit(struct wal *w)
{
    three(w);
    frame(w, 5)[24] ^= 1;
}

static void bad_before_last(struct wal *w)
{
    three(w);
    frame(w, 2)[24] ^= 1;
}

/* A commit behind the bad frame that is whole, and one more. */
static void bad_first_of_four(struct wal *w)
{
    three(w);
    add(w, 3, 1, false);
    frame(w, 2)[24] ^= 1;
}

static void zeroed_frame(struct wal *w)
{
    three(w);
    memset(frame(w, 0), 0, 24 + w->page_bytes);
}

static void restarted(struct wal *w)
{
    size_t len;

    three(w);
    add(w, 3, 2, false);
    len = w->len;
    begin(w, 78);
    add(w, 1, 1, false);
    w->len = len;
}

static void restarted_only(struct wal *w)
{
    size_t len;

    three(w);
    len = w->len;
    begin(w, 78);
    w->len = len;
}

static void restarted_torn(struct wal *w)
{
    restarted(w);
    frame(w, 0)[30] ^= 1;
}

static void header_cut(struct wal *w)
{
    three(w);
    w->len = 20;
}

static void header_bad(struct wal *w)
{
    three(w);
    w->bytes[25] ^= 1;
}

static void empty(struct wal *w)
{
    w->len = 0;
}

static void header_only(struct wal *w)
{
    begin(w, 77);
}

/* A power cut: a part of a frame's header, and then what was there before. */
static void garbage_in_header(struct wal *w)
{
    three(w);
    memset(frame(w, 5) + 4, 0xa5, 12);
}

static void garbage_behind(struct wal *w)
{
    three(w);
    memset(w->bytes + w->len, 0xa5, 24 + w->page_bytes);
    w->len += 24 + w->page_bytes;
}

/* A writer was killed before its commit, the next wrote over the first of its
 * frames: what is left of them continues nothing. */
static void killed_twice(struct wal *w)
{
    struct wal *other = malloc(sizeof *other);
    size_t len;

    three(w);
    memcpy(other, w, sizeof *other);
    add(w, 2, 3, true);
    len = w->len;
    add(other, 6, 1, false);
    memcpy(w->bytes, other->bytes, other->len);
    w->len = len;
    free(other);
}

/* SQLite fills up a sector with the commit again. */
static void repeated_commit(struct wal *w)
{
    three(w);
    add(w, 8, 1, false);
    add(w, 8, 1, false);
    add(w, 8, 1, false);
    frame(w, 6)[24] ^= 1;
}

static const struct {
    const char *name;
    void (*make)(struct wal *w);
    bool lost;
    int commits; /* that SQLite sees */
} rows[] = {
    {"no byte", empty, false, 0},
    {"a header", header_only, false, 0},
    {"three commits", clean, false, 3},
    {"a torn tail", torn_tail, false, 2},
    {"frames without a commit behind", open_tail, false, 3},
    {"a bit of a page", bad_page, true, 0},
    {"a bit of a sum", bad_sum, true, 0},
    {"a bit of a salt", bad_salt, true, 0},
    {"a bit of the commit before the last", bad_before_last, false, 1},
    {"a bit, two commits behind it", bad_first_of_four, true, 1},
    {"a bit of the last commit", bad_last_commit, false, 2},
    {"a frame of zeros", zeroed_frame, true, 0},
    {"begun anew, old frames behind", restarted, false, 1},
    {"begun anew, nothing written yet", restarted_only, false, 0},
    {"begun anew, the first commit torn", restarted_torn, false, 0},
    {"a cut header", header_cut, false, 0},
    {"a header with a wrong sum", header_bad, false, 0},
    {"garbage in a part of the last header", garbage_in_header, false, 2},
    {"garbage behind", garbage_behind, false, 3},
    {"leftovers of two killed writers", killed_twice, false, 4},
    {"a commit that is repeated", repeated_commit, false, 3},
};

/* ---- Check --------------------------------------------------------------- */

static bool put_file(const char *path, const void *bytes, size_t len)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    bool good = fd >= 0 && write(fd, bytes, len) == (ssize_t)len;

    if (fd >= 0)
        close(fd);
    return good;
}

static void check(const char *dir, struct wal *w)
{
    char path[256], log[300];

    snprintf(path, sizeof path, "%s/scan.db", dir);
    snprintf(log, sizeof log, "%s-wal", path);
    for (size_t i = 0; i < tap_count(rows); i++) {
        memset(w->bytes, 0, sizeof w->bytes);
        rows[i].make(w);
        tap_ok(put_file(log, w->bytes, w->len) &&
                   wal_has_lost(path) == rows[i].lost,
               "%u bytes, %s words: %s", (unsigned)w->page_bytes,
               w->big ? "big" : "little", rows[i].name);
    }
    unlink(log);
    tap_ok(!wal_has_lost(path), "no log");
}

/* That our writer writes what SQLite reads: how many of its frames count. */
static void check_writer(const char *dir, struct wal *w)
{
    char path[256], log[300];
    sqlite3 *db = NULL;

    snprintf(path, sizeof path, "%s/real.db", dir);
    snprintf(log, sizeof log, "%s-wal", path);
    for (size_t i = 0; i < tap_count(rows); i++) {
        int frames = -1, done = -1, want = 0;

        unlink(path);
        sqlite3_open(path, &db);
        sqlite3_exec(db,
                     "PRAGMA page_size = 1024; PRAGMA journal_mode = WAL;"
                     "CREATE TABLE t (x)",
                     NULL, NULL, NULL);
        sqlite3_close(db);
        memset(w->bytes, 0, sizeof w->bytes);
        rows[i].make(w);
        put_file(log, w->bytes, w->len);
        for (int n = 0, commits = 0; commits < rows[i].commits; n++) {
            commits += frame(w, (size_t)n)[7] != 0;
            want = n + 1;
        }
        sqlite3_open(path, &db);
        sqlite3_exec(db, "SELECT * FROM sqlite_master", NULL, NULL, NULL);
        sqlite3_wal_checkpoint_v2(db, NULL, SQLITE_CHECKPOINT_PASSIVE, &frames,
                                  &done);
        sqlite3_close(db);
        tap_is_i64(frames, want, "SQLite agrees: %s", rows[i].name);
    }
}

int main(void)
{
    char *dir = dir_make();
    struct wal *w = malloc(sizeof *w);

    for (int big = 0; big < 2; big++)
        for (uint32_t bytes = 512; bytes <= 65536; bytes *= 2) {
            w->big = big;
            w->page_bytes = bytes;
            check(dir, w);
        }
    w->page_bytes = 1024;
    check_writer(dir, w);
    free(w);
    dir_remove(dir);
    return tap_done();
}
