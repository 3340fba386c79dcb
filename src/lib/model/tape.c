/*
 * tape.c - opening a directory of recorded requests.
 */
#include "lib/model/tape.h"

#include "base/fail.h"
#include "host/file.h"

static wend_status tape_new(const char *dir, const struct mem *m,
                            struct tape **out, wend_error *err)
{
    size_t size = strlen(dir) + 1;
    struct tape *t = mem_zalloc(m, sizeof *t);

    if (t) {
        t->mem = *m;
        t->dir = mem_alloc(m, size);
    }
    if (!t || !t->dir) {
        tape_free(t);
        return fail_nomem(err);
    }
    memcpy(t->dir, dir, size);
    *out = t;
    return WEND_OK;
}

wend_status tape_open_record(const char *dir, const struct mem *m,
                             struct tape **out, wend_error *err)
{
    wend_status s = file_dir_new(dir, err);

    return s == WEND_OK ? tape_new(dir, m, out, err) : s;
}

wend_status tape_open_play(const char *dir, bool may_be_empty,
                           const struct mem *m, struct tape **out,
                           wend_error *err)
{
    wend_status s = tape_new(dir, m, out, err);
    struct buf path = {.mem = m};

    if (s != WEND_OK)
        return s;
    (*out)->plays = true;
    (*out)->number = 1;
    tape_path(&path, *out, "request");
    (*out)->number = 0;
    if (path.failed)
        s = fail_nomem(err);
    else if (!may_be_empty && !file_exists(path.ptr))
        s = fail(err, WEND_E_NOTFOUND,
                 "playback: there is no recording in %.200s", dir);
    buf_free(&path);
    if (s != WEND_OK) {
        tape_free(*out);
        *out = NULL;
    }
    return s;
}

void tape_free(struct tape *t)
{
    struct mem m;

    if (!t)
        return;
    m = t->mem;
    mem_free(&m, t->dir);
    mem_free(&m, t);
}
