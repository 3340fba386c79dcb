/*
 * keys.c - the keyboard of a terminal: keys as they are pressed, without echo.
 */
#include "cli/keys.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

/* exit and signal handlers reach only globals. */
static int tty = -1;
static struct termios lines;
static volatile sig_atomic_t raw;

static bool in_foreground(int fd)
{
    return tcgetpgrp(fd) == getpgrp();
}

bool keys_present(void)
{
    return isatty(STDERR_FILENO) && in_foreground(STDERR_FILENO);
}

void keys_restore(void)
{
    if (raw && in_foreground(tty))
        tcsetattr(tty, TCSANOW, &lines);
    raw = 0;
}

int keys_open(void)
{
    if (tty < 0 && keys_present()) {
        tty = open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY);
        if (tty >= 0)
            atexit(keys_restore);
    }
    return tty;
}

/* Looks each time: a shell that had the terminal meanwhile sets its modes. */
void keys_raw(void)
{
    struct termios now;

    if (tty < 0 || !in_foreground(tty) || tcgetattr(tty, &now) ||
        !(now.c_lflag & (ECHO | ICANON)))
        return;
    if (!raw)
        lines = now;
    raw = 1;
    now.c_lflag &= ~(tcflag_t)(ECHO | ICANON);
    now.c_cc[VMIN] = 1;
    now.c_cc[VTIME] = 0;
    tcsetattr(tty, TCSANOW, &now);
}

void keys_drop(void)
{
    tcflush(tty, TCIFLUSH);
}
