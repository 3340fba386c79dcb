/*
 * sqlite_help.h - a folder of stores, for the tests of SQLite files.
 */
#ifndef TESTS_SQLITE_HELP_H
#define TESTS_SQLITE_HELP_H

#include "store_help.h"

#define RUN_A "01900000-0000-7000-8000-00000000000a"
#define RUN_B "01900000-0000-7000-8000-00000000000b"

enum { PATH_BYTES = 160 };

static const char *dir; /* of dir_make() */

static inline const char *path_of(const char *name) /* until the next one */
{
    static char path[PATH_BYTES];

    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

/* NULL, and why, if it cannot be opened. */
static inline wend_store *open_store(const char *path)
{
    wend_store *s = NULL;
    wend_error err = {0};

    if (wend_store_open(path, &s, &err) != WEND_OK)
        printf("# %s\n", err.message);
    return s;
}

#endif
