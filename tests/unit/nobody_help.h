/*
 * nobody_help.h - a test that root runs, once more as nobody.
 */
#ifndef TESTS_NOBODY_HELP_H
#define TESTS_NOBODY_HELP_H

#include <grp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

enum { NOBODY = 65534 };

static inline void shell(const char *fmt, ...)
    __attribute__((format(printf, 1, 2)));
static inline void shell(const char *fmt, ...)
{
    char command[1000];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(command, sizeof command, fmt, ap);
    va_end(ap);
    if (system(command))
        tap_ok(false, "%s", command);
}

/* Reads the file to its end and prints it as remarks. */
static inline void tap_quote(const char *who, FILE *f)
{
    char line[1000];

    while (f && fgets(line, sizeof line, f))
        printf("# %s: %s", who, line);
}

/* In a folder that also holds a setuid program; $WEND_SETUID names it. */
static inline void as_nobody(void)
{
    char dir[] = "/tmp/wend-nobody-XXXXXX";
    int status, fd[2];
    FILE *f;
    pid_t pid;

    if (!mkdtemp(dir) || pipe(fd)) {
        tap_ok(false, "a folder for nobody");
        return;
    }
    shell(
        "cp /proc/%d/exe %s/test && cp /usr/bin/id %s && chmod 755 %s %s/test "
        "&& chmod 4755 %s/id",
        getpid(), dir, dir, dir, dir, dir);
    pid = fork();
    if (!pid) {
        dup2(fd[1], 1);
        setenv("WEND_SETUID", dir, 1);
        unsetenv("TMPDIR"); /* that of a test is its user's alone */
        if (!chdir(dir) && !setgroups(0, NULL) && !setgid(NOBODY) &&
            !setuid(NOBODY))
            execl("./test", "test", (char *)NULL);
        _exit(1);
    }
    close(fd[1]);
    f = fdopen(fd[0], "r");
    tap_quote("nobody", f);
    if (f)
        fclose(f);
    waitpid(pid, &status, 0);
    tap_is_i64(status, 0, "the same as nobody");
    shell("rm -rf %s", dir);
}

#endif
