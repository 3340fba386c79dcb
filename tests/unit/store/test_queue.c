/*
 * test_queue.c - processes that share a store write one after the other.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "store/queue.h"
#include "store_help.h"

enum { PATH_BYTES = 128, IDLE_MS = 700, HANDLES = 8, TURNS = 60 };

static char store[PATH_BYTES], lock[PATH_BYTES + 8], wal[PATH_BYTES + 8];

static struct owner make_owner(void)
{
    struct owner o = {.fd = -1};
    wend_error err = {0};

    if (owner_open(lock, &o, &err) != WEND_OK)
        tap_ok(false, "%s", err.message);
    return o;
}

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void sleep_ms(long ms)
{
    const struct timespec t = {ms / 1000, ms % 1000 * 1000000};

    nanosleep(&t, NULL);
}

/* ---- One after the other --------------------------------------------------
 */

static atomic_int inside, clashes;

struct handle {
    pthread_t thread;
    struct owner owner;
    int turns;
    int64_t longest_ms;
};

static void *take_turns(void *ctx)
{
    struct handle *h = ctx;
    struct queue q = {.owner = &h->owner, .path = store};

    for (; h->turns < TURNS; h->turns++) {
        int64_t began = now_ms(), took;

        if (queue_enter(&q, NULL) != WEND_OK)
            break;
        took = now_ms() - began;
        h->longest_ms = took > h->longest_ms ? took : h->longest_ms;
        if (atomic_fetch_add(&inside, 1))
            atomic_fetch_add(&clashes, 1);
        sleep_ms(1);
        atomic_fetch_sub(&inside, 1);
        queue_leave(&q);
    }
    return NULL;
}

/* Handles of one process are as those of several. */
static void in_turn(void)
{
    struct handle handles[HANDLES] = {0};
    int64_t longest = 0;
    int turns = 0;

    for (int i = 0; i < HANDLES; i++) {
        handles[i].owner = make_owner();
        pthread_create(&handles[i].thread, NULL, take_turns, &handles[i]);
    }
    for (int i = 0; i < HANDLES; i++) {
        pthread_join(handles[i].thread, NULL);
        owner_close(&handles[i].owner);
        turns += handles[i].turns;
        if (handles[i].longest_ms > longest)
            longest = handles[i].longest_ms;
    }
    tap_is_i64(turns, HANDLES * TURNS, "all have their turns");
    tap_is_i64(atomic_load(&clashes), 0, "one at a time");
    tap_ok(longest < 10000, "and none waits for long: %d ms", (int)longest);
}

/* ---- A process that is killed ---------------------------------------------
 */

static void dead(void)
{
    struct owner mine = make_owner();
    struct queue q = {.owner = &mine, .path = store, .idle_ms = 20000};
    wend_error err = {0};
    int ready[2], status;
    int64_t began;
    char byte;
    pid_t pid;

    if (pipe(ready))
        return;
    pid = fork();
    if (!pid) {
        struct owner other = {.fd = -1};
        struct queue its = {.owner = &other, .path = store};

        if (owner_open(lock, &other, NULL) == WEND_OK &&
            queue_enter(&its, NULL) == WEND_OK && write(ready[1], "x", 1) == 1)
            pause();
        _exit(1);
    }
    tap_ok(read(ready[0], &byte, 1) == 1, "another process has its turn");
    tap_ok(owner_write_try(&mine) == OWNER_TAKEN, "and keeps us out");
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    began = now_ms();
    tap_ok(queue_enter(&q, &err) == WEND_OK, "it is killed: our turn (%d ms)%s",
           (int)(now_ms() - began), err.message);
    queue_leave(&q);
    close(ready[0]);
    close(ready[1]);
    owner_close(&mine);
}

/* ---- One that does not let go ----------------------------------------------
 */

static atomic_bool busy;

static void *write_log(void *ctx)
{
    (void)ctx;
    for (int i = 0; atomic_load(&busy); i++) {
        int fd = open(wal, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

        if (fd < 0 || write(fd, "x", 1) != 1)
            printf("# the log cannot be written\n");
        close(fd);
        sleep_ms(100);
    }
    return NULL;
}

static void *let_go(void *ctx)
{
    sleep_ms(3 * IDLE_MS);
    queue_leave(ctx);
    return NULL;
}

static void stuck(void)
{
    struct owner holder = make_owner(), mine = make_owner();
    struct queue held = {.owner = &holder, .path = store};
    struct queue q = {.owner = &mine, .path = store, .idle_ms = IDLE_MS};
    pthread_t writer, leaver;
    wend_error err = {0};
    int64_t began = now_ms();

    queue_enter(&held, NULL);
    tap_ok(queue_enter(&q, &err) == WEND_E_STORE && now_ms() - began >= IDLE_MS,
           "nothing is written: given up: %s", err.message);
    tap_ok(!owner_others_wait(&holder), "and nobody waits any more");
    atomic_store(&busy, true);
    pthread_create(&writer, NULL, write_log, NULL);
    pthread_create(&leaver, NULL, let_go, &held);
    began = now_ms();
    tap_ok(queue_enter(&q, &err) == WEND_OK,
           "as long as others write, one waits for more than that: %d ms",
           (int)(now_ms() - began));
    tap_ok(now_ms() - began > 2 * IDLE_MS, "it did");
    queue_leave(&q);
    atomic_store(&busy, false);
    pthread_join(writer, NULL);
    pthread_join(leaver, NULL);
    owner_close(&holder);
    owner_close(&mine);
}

int main(void)
{
    const char *dir = dir_make();

    snprintf(store, sizeof store, "%s/wend.db", dir);
    snprintf(lock, sizeof lock, "%s-lock", store);
    snprintf(wal, sizeof wal, "%s-wal", store);
    dead(); /* forks, so before any thread */
    in_turn();
    stuck();
    dir_remove(dir);
    return tap_done();
}
