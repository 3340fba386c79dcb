/*
 * signals.c - signals as bytes in a pipe.
 */
#include "cli/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* A signal handler can reach only globals. */
static int ends[2] = {-1, -1};
static volatile sig_atomic_t interrupts;

static void on_signal(int number)
{
    int saved = errno;
    unsigned char byte = (unsigned char)number;

    if (number == SIGINT && interrupts++)
        _exit(EXIT_CANCELED);
    if (write(ends[1], &byte, 1) < 0)
        errno = 0; /* full: it holds enough signals */
    errno = saved;
}

int signals_open(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction act, old;

    if (ends[0] >= 0)
        return ends[0]; /* of an earlier run of this process */
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
        return complain(-1, "cannot create a pipe: %s", strerror(errno));
    memset(&act, 0, sizeof act);
    act.sa_handler = on_signal;
    act.sa_flags = SA_RESTART;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        /* nohup is respected; a shell's & is not, since an interrupt that is
         * sent to the pid of a run should cancel it. */
        if (numbers[i] != SIGHUP ||
            (!sigaction(SIGHUP, NULL, &old) && old.sa_handler != SIG_IGN))
            sigaction(numbers[i], &act, NULL);
    return ends[0];
}

int signals_next(void)
{
    unsigned char byte;

    return read(ends[0], &byte, 1) == 1 ? byte : 0;
}
