/*
 * test_path_race.c - a directory is swapped for a link to the outside, again
 * and again, while files beneath it are opened, written, changed and walked.
 *
 * None may get out; the controls, which look first and open then, must.
 * RACE_TRIES says how often; writing and walking a tenth of that.
 */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host/path.h"
#include "host/walk.h"
#include "tap.h"

enum { TRIES = 20000, TRIES_MAX = 1000000, EXCHANGE = 2 };

static char base[64] = "/tmp/wend-race-XXXXXX";
static char root[96];
static int base_fd, root_fd;
static struct mem mem;
static atomic_bool stop;

static bool put(int dir, const char *name, const char *text)
{
    int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    bool good = fd >= 0 && write(fd, text, strlen(text)) >= 0;

    if (fd >= 0)
        close(fd);
    return good;
}

/* The first byte of what an open file holds, or 0; closes it. */
static char first_byte(int fd)
{
    char c = 0;

    if (fd < 0)
        return 0;
    if (read(fd, &c, 1) != 1)
        c = 0;
    close(fd);
    return c;
}

static bool set_up(void)
{
    if (!mkdtemp(base))
        return false;
    snprintf(root, sizeof root, "%s/root", base);
    base_fd = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (base_fd < 0 || mkdirat(base_fd, "root", 0755) ||
        mkdirat(base_fd, "out", 0755))
        return false;
    root_fd = path_root(root, NULL);
    return root_fd >= 0 && put(base_fd, "out/x", "secret") &&
           !mkdirat(root_fd, "swap", 0755) &&
           put(root_fd, "swap/x", "inside") &&
           !symlinkat("../out", root_fd, "other");
}

static void tear_down(void)
{
    char command[96];

    snprintf(command, sizeof command, "rm -rf '%s'", base);
    if (system(command))
        printf("# could not remove %s\n", base);
}

/* `swap` is a directory inside and a link to the outside, in turns. */
static void *swapper(void *arg)
{
    (void)arg;
    while (!stop)
        syscall(SYS_renameat2, root_fd, "swap", root_fd, "other", EXCHANGE);
    return NULL;
}

/* ---- What is tried: i for inside, s for a secret, 0 for neither -----------
 */

static char try_open(void)
{
    return first_byte(path_open(root_fd, STR("swap/x"), O_RDONLY, 0, NULL));
}

/* The one that so many have written. */
static char try_realpath(void)
{
    char path[PATH_MAX], real[PATH_MAX];

    snprintf(path, sizeof path, "%s/swap/x", root);
    if (!realpath(path, real) || strncmp(real, root, strlen(root)) ||
        real[strlen(root)] != '/')
        return 0;
    return first_byte(open(real, O_RDONLY | O_CLOEXEC));
}

static char try_walk(void)
{
    struct walk *w = NULL;
    struct walk_entry e;
    char got = 0, c;

    if (walk_open(&mem, root_fd, STR("."), &w, NULL))
        return 0;
    while (!walk_next(w, &e)) {
        c = e.kind == WALK_FILE ? first_byte(walk_file(w)) : 0;
        if (c && got != 's')
            got = c;
    }
    walk_free(w);
    return got;
}

static bool is_out(const char *path)
{
    return !faccessat(base_fd, path, F_OK, AT_SYMLINK_NOFOLLOW);
}

static char try_write(void)
{
    bool done = !path_write(root_fd, STR("swap/new"), STR("new"), NULL);

    return is_out("out/new") ? 's' : done ? 'i' : 0;
}

/* Directories that are missing are made: not outside. */
static char try_make(void)
{
    bool done = !path_write(root_fd, STR("swap/made/new"), STR("new"), NULL);
    char got = is_out("out/made") ? 's' : done ? 'i' : 0;

    unlinkat(root_fd, "swap/made/new", 0);
    unlinkat(root_fd, "swap/made", AT_REMOVEDIR);
    return got;
}

static char try_write_control(void)
{
    bool got;

    put(root_fd, "swap/new", "new");
    got = is_out("out/new");
    unlinkat(base_fd, "out/new", 0);
    return got ? 's' : 0;
}

static wend_status append(void *ctx, wend_str old, struct buf *out,
                          wend_error *err)
{
    (void)err;
    *(char *)ctx = old.len ? old.ptr[0] : 0;
    buf_str(out, old);
    return WEND_OK;
}

static char try_change(void)
{
    char got = 0;

    path_change(root_fd, STR("swap/x"), 100, append, &got, &mem, NULL);
    return got;
}

/* ---- Trying ----------------------------------------------------------------
 */

static const struct {
    const char *why;
    char (*fn)(void);
    int share; /* of the tries */
    bool control;
} rows[] = {
    {"path_open", try_open, 1, false},
    {"control: realpath, then open", try_realpath, 1, true},
    {"walk", try_walk, 10, false},
    {"path_change", try_change, 10, false},
    {"path_write", try_write, 10, false},
    {"control: openat for writing", try_write_control, 10, true},
    {"path_write with a new directory", try_make, 10, false},
};

static void test_row(size_t i, long tries)
{
    long inside = 0, outside = 0, n = 0;

    if (rows[i].control) /* until it leaks: how soon is chance */
        while (!outside && n++ < TRIES_MAX)
            outside += rows[i].fn() == 's';
    else
        for (; n < tries / rows[i].share || (!inside && n < TRIES_MAX); n++) {
            char c = rows[i].fn();

            inside += c == 'i' || c == 'n';
            outside += c == 's';
        }
    if (rows[i].control) {
        tap_ok(outside, "%s gets out", rows[i].why);
        printf("# after %ld tries\n", n);
        return;
    }
    tap_is_i64(outside, 0, "%s never gets out, in %ld tries", rows[i].why, n);
    tap_ok(inside, "  but in");
    printf("# %ld times\n", inside);
}

int main(void)
{
    const char *text = getenv("RACE_TRIES");
    long tries = text ? atol(text) : TRIES;
    pthread_t thread;

    if (tap_ok(tries >= 1000 && set_up() &&
                   !pthread_create(&thread, NULL, swapper, NULL),
               "a link is swapped in and out")) {
        for (size_t i = 0; i < tap_count(rows); i++)
            test_row(i, tries);
        stop = true;
        pthread_join(thread, NULL);
    }
    tear_down();
    return tap_done();
}
