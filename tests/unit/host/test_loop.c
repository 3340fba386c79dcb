/*
 * test_loop.c - a turn of the loop ends when its time is over, also when that
 * is before it has begun to wait: a machine with much to do may let the
 * process stand anywhere. The clock is this test's.
 */
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "host/loop.h"
#include "tap.h"

enum { LATE_S = 100, READINGS = 3 };

static int readings, jump_at; /* before which the process stands still */
static time_t ahead;

/* In the place of the library's, for libuv, too. */
__attribute__((visibility("default"))) int clock_gettime(clockid_t id,
                                                         struct timespec *t)
{
    int rc = (int)syscall(SYS_clock_gettime, id, t);

    if (++readings == jump_at)
        ahead = LATE_S;
    t->tv_sec += ahead;
    return rc;
}

static struct loop *l;
static volatile sig_atomic_t stuck;

static void on_alarm(int sig)
{
    (void)sig;
    stuck = 1;
    loop_wake(l);
}

static void test_late(void)
{
    const struct mem plain = {.fn = NULL};

    signal(SIGALRM, on_alarm);
    for (int at = 1; at <= READINGS; at++) {
        if (loop_new(&plain, &l, NULL) != WEND_OK)
            tap_ok(false, "a loop");
        stuck = readings = 0;
        ahead = 0;
        jump_at = at;
        alarm(5);
        loop_turn(l, 20);
        alarm(0);
        tap_ok(!stuck, "late at reading %d of the clock: the turn ends", at);
        loop_free(l);
    }
    tap_ok(ahead == LATE_S, "there are so many readings in a turn");
}

int main(void)
{
    test_late();
    return tap_done();
}
