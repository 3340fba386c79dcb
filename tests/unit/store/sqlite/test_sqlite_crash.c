/*
 * test_sqlite_crash.c - the SQLite store when its process or disk gives up.
 */
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "store/store.h"
#include "sqlite_help.h"

enum {
    KILLS = 20,
    KILL_US_MAX = 40000, /* after the first event, spread evenly */
    BATCHES_AHEAD = 4,   /* so that a commit takes several */
    FULL_TRIES = 5000,
    DISK_LEFT = 200 << 10,
};

/* ---- kill -9 ------------------------------------------------------------- */

struct step { /* a batch with its own memory */
    struct store_batch batch;
    struct store_pack pack;
    struct store_event events[2];
    char bodies[3][700];
    sem_t *room;
    int ack;
};

static void on_done(struct store_batch *b, wend_status s)
{
    struct step *step = b->ctx;
    int64_t seq = step->events[1].seq;

    if (s == WEND_OK && write(step->ack, &seq, sizeof seq) != sizeof seq)
        _exit(2);
    sem_post(step->room);
}

static void step_fill(struct step *step, int64_t seq)
{
    size_t len = 20 + (size_t)(seq * 37 % 600);

    for (int i = 0; i < 3; i++) {
        memset(step->bodies[i], 'a' + (int)(seq % 26), len);
        step->bodies[i][0] = i ? '{' : '[';
    }
    step->pack = (struct store_pack){seq, 1, 1, {step->bodies[0], len}};
    for (int i = 0; i < 2; i++)
        step->events[i] = (struct store_event){
            seq + 1 + i, WEND_WARNING, seq, {step->bodies[i + 1], len}};
    step->batch = (struct store_batch){.run = STR(RUN_A),
                                       .epoch = 1,
                                       .packs = &step->pack,
                                       .packs_count = 1,
                                       .events = step->events,
                                       .events_count = 2,
                                       .summary = {.status = "running"},
                                       .done = on_done,
                                       .ctx = step};
}

/* Writes as fast as it can, until it is killed. */
static void write_forever(const char *path, int ack)
{
    static struct step steps[BATCHES_AHEAD];
    wend_store *s = open_store(path);
    int64_t first = 1;
    sem_t room;

    if (!s || put_event(s, RUN_A, 1, "{}") != WEND_OK ||
        write(ack, &first, sizeof first) != sizeof first)
        _exit(1);
    sem_init(&room, 0, BATCHES_AHEAD);
    for (int64_t i = 0;; i++) {
        struct step *step = &steps[i % BATCHES_AHEAD];

        while (sem_wait(&room))
            ;
        step->room = &room;
        step->ack = ack;
        step_fill(step, 1 + 2 * i);
        s->ops->append(s, &step->batch);
    }
}

static pid_t spawn(const char *path, int *ack)
{
    int fds[2];
    pid_t pid;

    if (pipe(fds))
        return -1;
    pid = fork();
    if (!pid) {
        close(fds[0]);
        write_forever(path, fds[1]);
    }
    close(fds[1]);
    *ack = fds[0];
    return pid;
}

static int64_t last_ack(int ack)
{
    int64_t seq = 0, next;

    while (read(ack, &next, sizeof next) == sizeof next)
        seq = next;
    close(ack);
    return seq;
}

static void killed(void)
{
    int bad = 0, lost = 0;
    int64_t total = 0;

    for (int i = 0; i < KILLS; i++) {
        char name[32];
        int64_t first, acked;
        struct log log;
        wend_store *s;
        int ack;
        pid_t pid;

        snprintf(name, sizeof name, "kill%d.db", i);
        pid = spawn(path_of(name), &ack);
        bad += read(ack, &first, sizeof first) != sizeof first;
        usleep(KILL_US_MAX / KILLS * (useconds_t)i);
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        acked = last_ack(ack);
        s = open_store(path_of(name));
        log = log_read(s, RUN_A);
        bad += log.bad || log.seq_last % 2 == 0; /* two in a batch */
        lost += log.seq_last < acked;
        bad += strcmp(listed_status(s, RUN_A), "interrupted") != 0;
        total += log.seq_last;
        wend_store_free(s);
    }
    tap_is_i64(lost, 0, "killed %d times: nothing acknowledged is lost", KILLS);
    tap_is_i64(bad, 0, "no gap, no half batch, the chain holds");
    printf("# %lld events in %d logs\n", (long long)total, KILLS);
}

static void killed_owner(void)
{
    int64_t first = 0, epoch, seq;
    wend_store *s;
    int ack;
    pid_t pid = spawn(path_of("owner.db"), &ack);

    if (read(ack, &first, sizeof first) != sizeof first)
        first = 0;
    fcntl(ack, F_SETFL, O_NONBLOCK);
    s = open_store(path_of("owner.db"));
    tap_is_str(listed_status(s, RUN_A), "running", "its process lives");
    tap_ok(s->ops->claim(s, STR(RUN_A), STORE_SEQ_ANY, &epoch, &seq, NULL) ==
               WEND_E_BUSY,
           "and keeps it");
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    close(ack);
    tap_is_str(listed_status(s, RUN_A), "interrupted", "killed: at once");
    tap_ok(s->ops->claim(s, STR(RUN_A), STORE_SEQ_ANY, &epoch, &seq, NULL) ==
                   WEND_OK &&
               epoch == 2 && seq >= first,
           "anyone may go on");
    wend_store_free(s);
}

/* ---- No more room -------------------------------------------------------- */

static struct rlimit limit_before;
static char mounted[PATH_BYTES];

/* The signal of this limit is not ignored: it must not reach us. */
static bool limit_to(rlim_t bytes)
{
    struct rlimit small;

    getrlimit(RLIMIT_FSIZE, &limit_before);
    small = limit_before;
    small.rlim_cur = bytes;
    return !setrlimit(RLIMIT_FSIZE, &small);
}

static bool limit_files(void)
{
    return limit_to(1 << 20);
}

static void limit_files_end(void)
{
    setrlimit(RLIMIT_FSIZE, &limit_before);
}

/* The store has its own small disk; a file in the way leaves little. */
static bool fill_disk(off_t left)
{
    char name[PATH_BYTES + 16];
    bool ok;
    int fd;

    snprintf(name, sizeof name, "%s/in-the-way", mounted);
    fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    while (!posix_fallocate(fd, lseek(fd, 0, SEEK_END), 4096))
        ;
    ok = !ftruncate(fd, lseek(fd, 0, SEEK_END) - left);
    close(fd);
    return ok;
}

static bool limit_disk(void)
{
    return fill_disk(DISK_LEFT);
}

static void limit_disk_end(void)
{
    char name[PATH_BYTES + 16];

    snprintf(name, sizeof name, "%s/in-the-way", mounted);
    unlink(name);
}

/* Appends until it fails; gives the last seq that was acknowledged. */
static int64_t fill(wend_store *s)
{
    char body[2000];
    int64_t seq = 2;

    memset(body, 'x', sizeof body);
    body[sizeof body - 1] = 0;
    while (seq < FULL_TRIES && put_event(s, RUN_A, seq, body) == WEND_OK)
        seq++;
    return seq - 1;
}

static void full(const char *name, const char *path, bool (*begin)(void),
                 void (*end)(void), const char *says)
{
    wend_store *s = open_store(path);
    wend_error err = {0};
    int64_t acked, epoch, seq;
    struct log log;

    put_event(s, RUN_A, 1, "{}");
    if (!begin())
        printf("# %s: cannot be limited\n", name);
    acked = fill(s);
    tap_ok(acked < FULL_TRIES - 1, "%s: full after %d events", name,
           (int)acked);
    tap_ok(put_event(s, RUN_A, acked + 1, "{}") == WEND_E_STORE,
           "%s: a smaller one is not tried", name);
    tap_ok(s->ops->failure(s, &err) == WEND_E_STORE &&
               strstr(err.message, path) && strstr(err.message, says),
           "%s: %s", name, err.message);
    tap_ok(s->ops->claim(s, STR(RUN_A), STORE_SEQ_ANY, &epoch, &seq, &err) ==
               WEND_E_STORE,
           "%s: nothing else is tried", name);
    tap_is_i64(log_read(s, RUN_A).seq_last, acked, "%s: reading goes on", name);
    end();
    tap_ok(put_event(s, RUN_A, acked + 1, "{}") == WEND_E_STORE,
           "%s: not even with room again", name);
    wend_store_free(s);
    s = open_store(path);
    if (tap_ok(s != NULL, "%s: opens again", name)) {
        log = log_read(s, RUN_A);
        tap_ok(!log.bad && log.seq_last >= acked, "%s: all is there", name);
        tap_ok(s->ops->claim(s, STR(RUN_A), STORE_SEQ_ANY, &epoch, &seq,
                             NULL) == WEND_OK,
               "%s: and goes on", name);
    }
    wend_store_free(s);
}

/* A store that cannot even be made, and one that closes in too little room. */
static void limited(void)
{
    wend_store *s = NULL;
    wend_error err = {0};

    limit_to(4096);
    tap_ok(wend_store_open(path_of("tiny.db"), &s, &err) == WEND_E_STORE &&
               strstr(err.message, "ulimit -f"),
           "file size: cannot be made: %s", err.message);
    limit_files_end();
    s = open_store(path_of("close.db"));
    put_event(s, RUN_A, 1, "{}");
    limit_to(4096);
    wend_store_free(s);
    limit_files_end();
    s = open_store(path_of("close.db"));
    tap_ok(s && log_read(s, RUN_A).seq_last == 1,
           "file size: closed without room, all is there");
    wend_store_free(s);
}

static void full_disk(void)
{
    char path[PATH_BYTES + 16];
    wend_store *s = NULL;
    wend_error err = {0};

    snprintf(mounted, sizeof mounted, "%s/disk", dir);
    mkdir(mounted, 0700);
    if (mount("wend-test", mounted, "tmpfs", 0, "size=2m,mode=0700")) {
        tap_ok(true, "a full disk # SKIP cannot mount");
        rmdir(mounted);
        return;
    }
    snprintf(path, sizeof path, "%s/wend.db", mounted);
    full("disk", path, limit_disk, limit_disk_end, "disk is full");
    fill_disk(0);
    snprintf(path, sizeof path, "%s/new.db", mounted);
    tap_ok(wend_store_open(path, &s, &err) == WEND_E_STORE &&
               strstr(err.message, path),
           "no room to make one: %s", err.message);
    umount(mounted);
    rmdir(mounted);
}

/* ---- Names of directories ------------------------------------------------ */

static char synced[4][PATH_BYTES]; /* directories, in order */
static size_t synced_count;

/* In the place of libc's. */
int fsync(int fd)
{
    char link[64];
    ssize_t len;
    struct stat st;

    if (!fstat(fd, &st) && S_ISDIR(st.st_mode) &&
        synced_count < tap_count(synced)) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        len = readlink(link, synced[synced_count], PATH_BYTES - 1);
        synced[synced_count++][len > 0 ? len : 0] = 0;
    }
    return (int)syscall(SYS_fsync, fd);
}

/* A directory that was made is there after a power cut only if the one
 * around it was synced. */
static void made_dirs(void)
{
    const char *ends[] = {"", "/.local", "/.local/share"};
    char home[PATH_BYTES];
    wend_store *s = NULL;
    wend_error err = {0};

    snprintf(home, sizeof home, "%s/home", dir);
    mkdir(home, 0700);
    setenv("HOME", home, 1);
    unsetenv("XDG_DATA_HOME");
    unsetenv("WEND_STORE");
    synced_count = 0;
    tap_ok(wend_store_open(NULL, &s, &err) == WEND_OK, "the default place: %s",
           err.message);
    for (size_t i = 0; i < tap_count(ends); i++) {
        char wanted[PATH_BYTES + 16];

        snprintf(wanted, sizeof wanted, "%s%s", home, ends[i]);
        tap_is_str((const char *)synced[i], (const char *)wanted,
                   "the default place: synced");
    }
    wend_store_free(s);
}

/* ---- Somebody else's lock ------------------------------------------------ */

static void locked(void)
{
    const char *path = path_of("locked.db");
    wend_store *s = open_store(path);
    wend_error err = {0};
    sqlite3 *other = NULL;

    put_event(s, RUN_A, 1, "{}");
    sqlite3_open(path, &other);
    sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    tap_ok(put_event(s, RUN_A, 2, "{}") == WEND_E_STORE &&
               s->ops->failure(s, &err) == WEND_E_STORE &&
               strstr(err.message, path) && strstr(err.message, "locked"),
           "waited for long enough: %s", err.message);
    sqlite3_close(other);
    wend_store_free(s);
}

int main(void)
{
    dir = dir_make();
    killed(); /* forks, so before any thread */
    killed_owner();
    full("file size", path_of("limit.db"), limit_files, limit_files_end,
         "ulimit -f");
    limited();
    full_disk();
    made_dirs();
    locked();
    dir_remove(dir);
    return tap_done();
}
