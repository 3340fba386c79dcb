/*
 * walk.h - everything beneath a directory, in the order of its paths' bytes.
 *
 * Each step is one component, opened by the kernel beneath the directory
 * that is held (path_beneath), and follows no link: a directory that is swapped
 * for a link meanwhile is passed over.
 */
#ifndef HOST_WALK_H
#define HOST_WALK_H

#include "base/str.h"

struct walk;

enum walk_kind { WALK_FILE, WALK_DIR, WALK_LINK, WALK_OTHER };

/* Lent until the next call. */
struct walk_entry {
    wend_str path; /* from the root, as path_open takes it */
    wend_str rest; /* of it, from where the walk began */
    wend_str name;
    enum walk_kind kind;
};

/* What was not seen. */
struct walk_gaps {
    size_t unreadable; /* directories */
    bool too_deep, too_many;
};

wend_status walk_open(const struct mem *m, int root_fd, wend_str dir,
                      struct walk **out, wend_error *err);
/* WEND_OK, WEND_END or WEND_E_NOMEM. A directory precedes its content. */
wend_status walk_next(struct walk *w, struct walk_entry *out);
void walk_skip(struct walk *w); /* does not enter the last directory */
/* The last file, open for reading; -1: it is gone, or not readable. */
int walk_file(struct walk *w);
struct walk_gaps walk_gaps(const struct walk *w);
void walk_free(struct walk *w);

/* Folders of version control, which searches leave out. */
bool walk_is_vcs(wend_str name);

#endif
