/*
 * options.c - the command line of a simulator.
 */
#include <stdlib.h>
#include <string.h>

#include "options.h"

/* `N` (from 1 to N), `A..B`, `A-B`. */
static bool read_seeds(struct options *o, const char *value)
{
    char *end = NULL;
    const char *second;

    o->seconds = 0;
    o->from = 1;
    o->to = strtoull(value, &end, 10);
    if (end == value || !*end)
        return end != value;
    second = end + (!strncmp(end, "..", 2) ? 2 : *end == '-' ? 1 : 0);
    if (second == end)
        return false;
    o->from = o->to;
    o->to = strtoull(second, &end, 10);
    return end != second && !*end && o->from <= o->to;
}

static bool read_value(struct options *o, const char *name, const char *value)
{
    if (!strcmp(name, "--bug")) {
        o->bug = value;
        return true;
    }
    if (!strcmp(name, "--seconds")) {
        o->seconds = atoi(value);
        return o->seconds > 0;
    }
    if (!strcmp(name, "--from")) {
        char *end = NULL;

        o->from = strtoull(value, &end, 10);
        return end != value && !*end && o->from;
    }
    if (!strcmp(name, "--seed")) {
        bool ok = !strpbrk(value, ".-") && read_seeds(o, value);

        o->from = o->to;
        o->one = true;
        return ok;
    }
    return !strcmp(name, "--seeds") && read_seeds(o, value);
}

bool read_options(struct options *o, int argc, char **argv)
{
    const char *longer = getenv("SIM_SECONDS"), *most = getenv("SIM_SEEDS");

    if (longer && atoi(longer) > 0)
        o->seconds = atoi(longer);
    o->most = most ? strtoull(most, NULL, 10) : 0;
    if (!o->most)
        o->most = UINT64_MAX - o->from;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "-v"))
            o->verbose = true;
        else if (!strcmp(argv[i], "--self-test"))
            o->self_test = true;
        else if (!strcmp(argv[i], "--safety"))
            o->mode = MODE_SAFETY;
        else if (!strcmp(argv[i], "--liveness"))
            o->mode = MODE_LIVENESS;
        else if (i + 1 == argc || !read_value(o, argv[i], argv[i + 1]))
            return false;
        else
            i++;
    }
    return true;
}
