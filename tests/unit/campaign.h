/*
 * campaign.h - what the programs have in common that try one place after
 * another until the time is over.
 */
#ifndef TESTS_CAMPAIGN_H
#define TESTS_CAMPAIGN_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { CAMPAIGN_DIR = 64 };

static inline double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Near the golden section, and without a common divisor: multiples of it
 * come to every one of `count`, far from the ones before. */
static inline long spread(long count)
{
    long step = count * 618 / 1000, a, b;

    do {
        a = ++step;
        for (b = count; b;) {
            long rest = a % b;

            a = b;
            b = rest;
        }
    } while (a != 1);
    return step;
}

/* ---- A folder ------------------------------------------------------------ */

/* In memory where that is. */
static inline bool campaign_enter(const char *name, char dir[CAMPAIGN_DIR])
{
    static const char *const places[] = {"/dev/shm", "/tmp"};

    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(dir, CAMPAIGN_DIR, "%s/wend-%s-XXXXXX", places[i], name);
        if (mkdtemp(dir))
            return !chdir(dir);
    }
    return false;
}

static inline void campaign_leave(const char *dir)
{
    char command[CAMPAIGN_DIR + 16];

    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    if (chdir("/") || system(command))
        printf("# %s is left\n", dir);
}

/* ---- Options ------------------------------------------------------------- */

/* One of the pointers says where it goes. */
struct campaign_option {
    const char *name;
    bool *flag;
    long *number;
    double *seconds;
    const char **text;
};

static inline bool campaign_take(const struct campaign_option *o,
                                 const char *value)
{
    char *end = NULL;

    if (!value || !*value)
        return false;
    if (o->text) {
        *o->text = value;
        return true;
    }
    if (o->number)
        *o->number = strtol(value, &end, 10);
    else
        *o->seconds = strtod(value, &end);
    return !*end;
}

static inline bool campaign_options(const struct campaign_option *options,
                                    size_t count, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const struct campaign_option *o = options;

        while (o < options + count && strcmp(o->name, argv[i]) != 0)
            o++;
        if (o == options + count)
            return false;
        if (o->flag)
            *o->flag = true;
        else if (!campaign_take(o, argv[++i])) /* argv ends with NULL */
            return false;
    }
    return true;
}

/* From the environment, if it is there. */
static inline void campaign_seconds(const char *name, double *seconds)
{
    const char *value = getenv(name);

    if (value)
        *seconds = atof(value);
}

#endif
