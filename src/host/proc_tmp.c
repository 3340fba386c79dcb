/*
 * proc_tmp.c - private folders for the temporary files of programs.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fail.h"
#include "host/proc_pool.h"

#define TMP_NAME "/wend-XXXXXX" /* for mkdtemp */

wend_status tmp_take(struct programs *ps, struct tmp_dir **out, wend_error *err)
{
    const char *base = getenv("TMPDIR");
    struct tmp_dir *t = ps->tmps;

    if (t) {
        ps->tmps = t->next;
        *out = t;
        return WEND_OK;
    }
    if (!base || base[0] != '/')
        base = "/tmp";
    t = mem_alloc(&ps->mem, sizeof *t + strlen(base) + sizeof TMP_NAME);
    if (!t)
        return fail_nomem(err);
    snprintf(t->path, strlen(base) + sizeof TMP_NAME, "%s%s", base, TMP_NAME);
    if (!mkdtemp(t->path)) {
        mem_free(&ps->mem, t);
        return fail(err, WEND_E_IO,
                    "a private folder in %s: %s; set TMPDIR to another place",
                    base, strerror(errno));
    }
    *out = t;
    return WEND_OK;
}

/* The supervisor says whether it is empty again. */
void tmp_give_back(struct programs *ps, struct tmp_dir *t, int status)
{
    if (!t)
        return;
    if (!status) {
        t->next = ps->tmps;
        ps->tmps = t;
        return;
    }
    rmdir(t->path);
    mem_free(&ps->mem, t);
}

void tmp_remove_all(struct programs *ps)
{
    while (ps->tmps) {
        struct tmp_dir *t = ps->tmps;

        ps->tmps = t->next;
        rmdir(t->path);
        mem_free(&ps->mem, t);
    }
}
