/*
 * git.h - inside git.c, which keeps files and puts them back, and git_find.c,
 * which finds them.
 */
#ifndef SUPER_GIT_H
#define SUPER_GIT_H

#include <linux/stat.h>

#include "super/super.h"

enum {
    GIT_ROOTS_MAX = 8,
    GIT_REL_MAX = 4096,
    GIT_FILE_BYTES = 256 << 10, /* far above a config or a hook */
};

struct path {
    int root;
    size_t len;
    char rel[GIT_REL_MAX];
};

struct git_root {
    int fd;
    const char *name;
    /* A folder without folders in it has two links. */
    bool links_tell;
    uint32_t dev_major, dev_minor;
};

struct git_state {
    struct git_root roots[GIT_ROOTS_MAX];
    int roots_count;
    int64_t start_ns;       /* by the clock of files */
    int64_t clock_ahead_ns; /* that clock, less one that cannot be set */
    bool clock_went_back;   /* meanwhile: times of files tell nothing */
    bool checks;            /* after the end; before the start it keeps */
    bool all_is_kept;       /* so that what is found later is new */
};

extern struct git_state git;
extern char git_bytes[GIT_FILE_BYTES + 1]; /* of the last git_read */

int64_t time_ns(int clock);

/* False if it does not fit; *was is for path_pop. */
bool path_push(struct path *p, const char *name, size_t *was);
void path_pop(struct path *p, size_t was);

long git_open(int root, const char *rel, uint64_t flags);
long git_open_parent(struct path *p);
/* The bytes of a file or a link; -errno if it is neither, or too long. */
long git_read(long dir, const char *name, struct statx *st);
bool git_changed(const struct statx *st); /* since the start */
/* Keeps a file or a link, or compares it; true if there is a file. */
bool git_guard(struct path *p, const char *name);

/* As long as there is time, near folders first. */
void git_find(int64_t cpu_us, int64_t wall_us);

#endif
