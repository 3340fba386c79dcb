/*
 * walk.c - everything beneath a directory, in the order of its paths' bytes.
 */
#include "host/walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/limits.h"
#include "host/path.h"

struct walk_item {
    const char *name;
    enum walk_kind kind;
};

/* A directory on the way down. */
struct level {
    int fd;
    struct arena arena; /* names */
    struct buf items;   /* an array of struct walk_item */
    size_t count, next;
    size_t path_len; /* of the directory itself */
};

struct walk {
    struct mem mem;
    struct level levels[WALK_DEPTH_MAX];
    int depth;
    struct buf path;
    size_t start_len; /* of the path, where the walk began */
    size_t entries;
    bool enter; /* the last entry, a directory, before the next */
    struct walk_gaps gaps;
};

/* ---- One directory ------------------------------------------------------- */

static enum walk_kind kind_of(int fd, const struct dirent *e)
{
    struct stat st;

    switch (e->d_type) {
    case DT_REG: return WALK_FILE;
    case DT_DIR: return WALK_DIR;
    case DT_LNK: return WALK_LINK;
    case DT_UNKNOWN: break;
    default: return WALK_OTHER;
    }
    if (fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW))
        return WALK_OTHER;
    return S_ISREG(st.st_mode)   ? WALK_FILE
           : S_ISDIR(st.st_mode) ? WALK_DIR
           : S_ISLNK(st.st_mode) ? WALK_LINK
                                 : WALK_OTHER;
}

/* As if directories had their slash: the order of whole paths. */
static int by_path(const void *a, const void *b)
{
    const struct walk_item *x = a, *y = b;
    const unsigned char *p = (const unsigned char *)x->name;
    const unsigned char *q = (const unsigned char *)y->name;
    int c, d;

    while (*p && *p == *q) {
        p++;
        q++;
    }
    c = *p ? *p : x->kind == WALK_DIR ? '/' : 0;
    d = *q ? *q : y->kind == WALK_DIR ? '/' : 0;
    return c - d;
}

static wend_status read_level(struct walk *w, struct level *l, DIR *d)
{
    const struct dirent *e;
    struct walk_item item;

    while ((e = readdir(d))) { /* each stream belongs to one thread */
        if (path_is_dots(e->d_name))
            continue;
        if (w->entries == WALK_ENTRIES_MAX) {
            w->gaps.too_many = true;
            break;
        }
        item = (struct walk_item){
            .name = arena_str(&l->arena, str_of(e->d_name)).ptr,
            .kind = kind_of(l->fd, e),
        };
        buf_add(&l->items, (const char *)&item, sizeof item);
        if (!item.name || l->items.failed)
            return WEND_E_NOMEM;
        w->entries++;
        l->count++;
    }
    if (l->count)
        qsort(l->items.ptr, l->count, sizeof item, by_path);
    return WEND_OK;
}

static void leave(struct walk *w)
{
    struct level *l = &w->levels[--w->depth];

    close(l->fd);
    arena_free(&l->arena);
    buf_free(&l->items);
}

/* Takes the descriptor of the directory whose path is in w->path. */
static wend_status enter(struct walk *w, int fd)
{
    struct level *l = &w->levels[w->depth++];
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    DIR *d = copy >= 0 ? fdopendir(copy) : NULL;
    wend_status s;

    *l = (struct level){.fd = fd,
                        .arena = {.mem = &w->mem},
                        .items = {.mem = &w->mem},
                        .path_len = w->path.len};
    if (!d) {
        if (copy >= 0)
            close(copy);
        w->gaps.unreadable++;
        return WEND_OK;
    }
    s = read_level(w, l, d);
    closedir(d);
    return s;
}

static wend_status enter_last(struct walk *w, const char *name)
{
    const struct level *l = &w->levels[w->depth - 1];
    int fd;

    w->enter = false;
    if (w->depth == WALK_DEPTH_MAX) {
        w->gaps.too_deep = true;
        return WEND_OK;
    }
    fd = path_beneath(l->fd, name, O_RDONLY | O_DIRECTORY, 0);
    if (fd >= 0)
        return enter(w, fd);
    if (fd != -ENOENT && fd != -ENOTDIR && fd != -ELOOP) /* gone, swapped */
        w->gaps.unreadable++;
    return WEND_OK;
}

static const struct walk_item *last_item(const struct walk *w)
{
    const struct level *l = &w->levels[w->depth - 1];

    return (const struct walk_item *)(const void *)l->items.ptr + l->next - 1;
}

/* ---- Public -------------------------------------------------------------- */

wend_status walk_open(const struct mem *m, int root_fd, wend_str dir,
                      struct walk **out, wend_error *err)
{
    struct walk *w = mem_zalloc(m, sizeof *w);
    wend_status s;
    int fd;

    if (!w)
        return fail_nomem(err);
    w->mem = *m;
    w->path.mem = &w->mem;
    fd = path_open(root_fd, dir, O_RDONLY | O_DIRECTORY, 0, err);
    if (fd < 0) {
        walk_free(w);
        return (wend_status)fd;
    }
    while (dir.len > 1 && dir.ptr[dir.len - 1] == '/')
        dir.len--;
    if (!str_is(dir, "."))
        buf_str(&w->path, dir);
    w->start_len = w->path.len;
    s = enter(w, fd);
    if (s || w->path.failed) {
        walk_free(w);
        return fail_nomem(err);
    }
    *out = w;
    return WEND_OK;
}

wend_status walk_next(struct walk *w, struct walk_entry *out)
{
    struct level *l;
    const struct walk_item *item;
    size_t name_at;

    if (w->enter && enter_last(w, last_item(w)->name))
        return WEND_E_NOMEM;
    for (;; leave(w)) {
        if (!w->depth)
            return WEND_END;
        l = &w->levels[w->depth - 1];
        if (l->next < l->count)
            break;
    }
    l->next++;
    item = last_item(w);
    w->path.len = l->path_len;
    if (w->path.len && w->path.ptr[w->path.len - 1] != '/')
        buf_char(&w->path, '/');
    name_at = w->path.len;
    buf_cstr(&w->path, item->name);
    if (w->path.failed)
        return WEND_E_NOMEM;
    w->enter = item->kind == WALK_DIR;
    out->kind = item->kind;
    out->path = buf_view(&w->path);
    out->name = str_of(w->path.ptr + name_at);
    out->rest = out->path;
    if (w->start_len) {
        size_t skip = w->start_len + (w->path.ptr[w->start_len] == '/');

        out->rest = str_of(w->path.ptr + skip);
    }
    return WEND_OK;
}

void walk_skip(struct walk *w)
{
    w->enter = false;
}

int walk_file(struct walk *w)
{
    int fd = path_beneath(w->levels[w->depth - 1].fd, last_item(w)->name,
                          O_RDONLY | O_NOFOLLOW, 0);
    struct stat st;

    if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode))
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

struct walk_gaps walk_gaps(const struct walk *w)
{
    return w->gaps;
}

void walk_free(struct walk *w)
{
    struct mem m;

    if (!w)
        return;
    m = w->mem;
    while (w->depth)
        leave(w);
    buf_free(&w->path);
    mem_free(&m, w);
}

bool walk_is_vcs(wend_str name)
{
    static const char *const names[] = {".git", ".hg", ".svn"};

    return str_index(name, names, 3) >= 0;
}
