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
static volatile sig_atomic_t raw, typing;

static bool in_foreground(int fd)
{
    return tcgetpgrp(fd) == getpgrp();
}

bool keys_present(void)
{
    return isatty(STDERR_FILENO) && in_foreground(STDERR_FILENO);
}

/* Whether pastes come in brackets. */
static void bracket_pastes(bool on)
{
    static const char codes[2][9] = {"\033[?2004l", "\033[?2004h"};
    ssize_t n = write(STDERR_FILENO, codes[on], 8);

    (void)n; /* a terminal that is gone needs none */
}

void keys_restore(void)
{
    if (typing && in_foreground(tty))
        bracket_pastes(false);
    if (raw && in_foreground(tty))
        tcsetattr(tty, TCSANOW, &lines);
    raw = typing = 0;
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
    if (typing) {
        now.c_lflag &= ~(tcflag_t)IEXTEN;
        now.c_iflag &= ~(tcflag_t)(ICRNL | INLCR | IXON);
        /* Two signals that come at once are one; two keys are two. */
        now.c_cc[VINTR] = _POSIX_VDISABLE;
    }
    now.c_cc[VMIN] = 1;
    now.c_cc[VTIME] = 0;
    tcsetattr(tty, TCSANOW, &now);
}

void keys_typing(void)
{
    if (tty < 0 || typing || !in_foreground(tty))
        return;
    keys_restore(); /* other modes than those of single keys */
    typing = 1;
    bracket_pastes(true);
    keys_raw();
}

void keys_drop(void)
{
    tcflush(tty, TCIFLUSH);
}
