/*
 * signals.c - signals as bytes in a pipe.
 */
#include "cli/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/keys.h"

/* A signal handler can reach only globals. */
static int ends[2] = {-1, -1};
static volatile sig_atomic_t interrupts;
static volatile sig_atomic_t lent;
static volatile sig_atomic_t arrived;   /* since signals_next last looked */
static volatile sig_atomic_t continuer; /* process that sent the last SIGCONT */

static void on_signal(int number)
{
    int saved = errno;
    unsigned char byte = (unsigned char)number;

    if ((number == SIGINT || number == SIGTSTP) && lent)
        return; /* the program that has the terminal gets it, too */
    if (number == SIGINT && interrupts++) {
        keys_restore();
        _exit(EXIT_CANCELED);
    }
    if (write(ends[1], &byte, 1) < 0)
        errno = 0; /* full: it holds enough signals */
    arrived = 1;
    errno = saved;
}

static void on_continue(int number, siginfo_t *info, void *context)
{
    (void)context;
    continuer = info->si_pid;
    on_signal(number);
}

static bool is_ignored(int number)
{
    struct sigaction old;

    return !sigaction(number, NULL, &old) && old.sa_handler == SIG_IGN;
}

static void handle(int number, void (*handler)(int number))
{
    struct sigaction act;

    memset(&act, 0, sizeof act);
    act.sa_handler = handler;
    act.sa_flags = SA_RESTART;
    sigaction(number, &act, NULL);
}

int signals_open(void)
{
    if (ends[0] >= 0)
        return ends[0]; /* of an earlier run of this process */
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
        return complain(-1, "cannot create a pipe: %s", strerror(errno));
    /* nohup is respected; a shell's & is not, since an interrupt that is sent
     * to the pid of a run should cancel it. */
    handle(SIGINT, on_signal);
    handle(SIGTERM, on_signal);
    if (!is_ignored(SIGHUP))
        handle(SIGHUP, on_signal);
    return ends[0];
}

/* The shell of this job writes on the terminal before it continues the job. A
 * SIGCONT of another process changes nothing there, unless the shell still has
 * the terminal. */
static bool shell_wrote(void)
{
    pid_t by = continuer;

    return !keys_present() ||
           ((by == getppid() || by == getsid(0)) && getpgid(by) != getpgrp());
}

int signals_next(void)
{
    unsigned char byte;

    arrived = 0;
    while (read(ends[0], &byte, 1) == 1)
        if (byte != SIGCONT || shell_wrote())
            return byte;
    return 0;
}

void signals_forget(void)
{
    interrupts = 0;
}

bool signals_arrived(void)
{
    return arrived;
}

void signals_lent(bool is)
{
    lent = is;
}

void signals_take_stops(bool take)
{
    if (is_ignored(SIGTSTP)) /* a shell without job control */
        return;
    handle(SIGTSTP, take ? on_signal : SIG_DFL);
    if (!take)
        handle(SIGCONT, SIG_DFL);
    else
        sigaction(SIGCONT,
                  &(struct sigaction){.sa_sigaction = on_continue,
                                      .sa_flags = SA_RESTART | SA_SIGINFO},
                  NULL);
}

/* To this thread: the process stops before raise returns. */
void signals_stop(void)
{
    handle(SIGTSTP, SIG_DFL);
    raise(SIGTSTP);
    handle(SIGTSTP, on_signal);
}
