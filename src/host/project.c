/*
 * project.c - what a folder says about the work in it: git and notes.
 */
#include "host/project.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/json.h"
#include "base/utf8.h"

enum {
    GIT_FILE_MAX = 4096, /* HEAD, and a .git that is a file */
    COMMIT_SHOWN = 12,
};

static const char *const note_names[] = {"AGENTS.md", "CLAUDE.md", "WEND.md"};
enum { NOTE_NAMES = sizeof note_names / sizeof *note_names };

static bool is_ours(const struct stat *st)
{
    return st->st_uid == geteuid() || st->st_uid == 0;
}

/* Opens a regular file that is ours; a fifo does not block. -1: errno. */
static int open_ours(int dir, const char *path, int flags, struct stat *st)
{
    int fd =
        openat(dir, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | flags);

    if (fd < 0)
        return -1;
    errno = EPERM;
    if (!fstat(fd, st) && S_ISREG(st->st_mode) && is_ours(st))
        return fd;
    close(fd);
    return -1;
}

/* At most `max` bytes; false if reading fails. */
static bool read_some(int fd, size_t max, struct buf *out)
{
    ssize_t n = 1;

    if (!buf_room(out, max))
        return false;
    while (n > 0 && out->len < max) {
        n = read(fd, out->ptr + out->len, max - out->len);
        if (n > 0)
            out->len += (size_t)n;
        else if (n < 0 && errno == EINTR)
            n = 1;
    }
    return n >= 0;
}

/* ---- Git ----------------------------------------------------------------- */

size_t project_root(const char *cwd)
{
    char path[PATH_MAX + 8];
    size_t n = strlen(cwd);
    struct stat st;

    if (n >= PATH_MAX || cwd[0] != '/')
        return 0;
    for (;;) {
        snprintf(path, sizeof path, "%.*s/.git", (int)n, cwd);
        if (!lstat(path, &st) && is_ours(&st) &&
            (S_ISDIR(st.st_mode) || S_ISREG(st.st_mode)))
            return n ? n : 1;
        if (!n)
            return 0;
        while (n && cwd[n - 1] != '/')
            n--;
        n -= n > 0; /* the slash */
    }
}

enum link { LINK_NONE, LINK_FOLLOWED, LINK_WRONG };

/* Where the text of a file of git leads, behind `lead`: an absolute path, or
 * one from `from`. */
static enum link follow(const char *path, const char *lead, wend_str from,
                        char *out, const struct mem *m)
{
    struct buf b = {.mem = m};
    struct stat st;
    wend_str to = STR_NONE;
    int fd = open_ours(AT_FDCWD, path, O_NOFOLLOW, &st);

    if (fd < 0)
        return LINK_NONE;
    if (read_some(fd, GIT_FILE_MAX, &b) && str_starts(buf_view(&b), lead))
        to = str_trim(str_skip(buf_view(&b), strlen(lead)), is_space);
    close(fd);
    if (to.len && to.ptr[0] == '/')
        from.len = 0;
    snprintf(out, PATH_MAX, "%.*s%s%.*s", (int)from.len, from.ptr,
             from.len ? "/" : "", (int)to.len, to.ptr ? to.ptr : "");
    buf_free(&b);
    return to.len ? LINK_FOLLOWED : LINK_WRONG;
}

/* The folder that has HEAD: .git, or where a file .git leads (a worktree, a
 * submodule). */
static bool git_folder(wend_str root, char out[PATH_MAX], const struct mem *m)
{
    char path[PATH_MAX + 8];
    enum link link;

    snprintf(path, sizeof path, "%.*s/.git", (int)root.len, root.ptr);
    link = follow(path, "gitdir: ", root, out, m);
    if (link == LINK_NONE) /* it is a folder */
        snprintf(out, PATH_MAX, "%.*s", PATH_MAX - 1, path);
    return link != LINK_WRONG;
}

static int open_head(const char *folder)
{
    char path[PATH_MAX + 8];
    struct stat st;

    snprintf(path, sizeof path, "%s/HEAD", folder);
    return open_ours(AT_FDCWD, path, O_NOFOLLOW, &st);
}

bool project_git(const char *root, char folder[PATH_MAX], char common[PATH_MAX],
                 const struct mem *m)
{
    char path[PATH_MAX + 16];
    enum link link = LINK_WRONG;
    int fd = git_folder(str_of(root), folder, m) ? open_head(folder) : -1;

    if (fd < 0)
        return false;
    close(fd);
    snprintf(path, sizeof path, "%s/commondir", folder);
    link = follow(path, "", str_of(folder), common, m);
    if (link == LINK_NONE)
        snprintf(common, PATH_MAX, "%s", folder);
    return link != LINK_WRONG;
}

/* The text of HEAD is a branch or a commit; anything else is passed over. */
static void put_head(struct buf *json, wend_str head, struct git_status *status)
{
    static const char ref[] = "ref: refs/heads/";
    char commit[sizeof "detached at " + COMMIT_SHOWN];
    size_t hex = 0;

    if (str_starts(head, ref)) {
        head = str_skip(head, sizeof ref - 1);
    } else {
        while (hex < head.len && hex_value(head.ptr[hex]) >= 0)
            hex++;
        if (hex != head.len || (hex != 40 && hex != 64))
            return;
        snprintf(commit, sizeof commit, "detached at %.*s", COMMIT_SHOWN,
                 head.ptr);
        head = str_of(commit);
    }
    if (!head.len || utf8_valid_len(head) != head.len)
        return;
    json_open(json, "git", '{');
    json_add_str(json, "branch", head);
    git_status_put(status, json);
    json_close(json, '}');
}

static void put_git(struct buf *json, wend_str root, struct git_status *status)
{
    char folder[PATH_MAX];
    struct buf b = {.mem = json->mem};
    int fd = git_folder(root, folder, json->mem) ? open_head(folder) : -1;

    if (fd < 0)
        return;
    if (read_some(fd, GIT_FILE_MAX, &b))
        put_head(json, str_trim(buf_view(&b), is_space), status);
    close(fd);
    json->failed |= b.failed;
    buf_free(&b);
}

/* ---- Notes --------------------------------------------------------------- */

struct notes {
    const char *cwd;
    size_t root; /* bytes of cwd that no note's path repeats */
    bool trusted, any;
    size_t left; /* bytes */
    struct buf *json, *trouble;
};

/* A link may lead to another note of the same folder, as AGENTS.md and
 * CLAUDE.md often do, and nowhere else: what it leads to is sent to a model. */
static int open_note(int dir, const char *name, struct stat *st)
{
    char to[16];
    int fd = open_ours(dir, name, O_NOFOLLOW, st);
    ssize_t n;

    if (fd >= 0 || errno != ELOOP)
        return fd;
    n = readlinkat(dir, name, to, sizeof to);
    for (int i = 0; n > 0 && i < NOTE_NAMES; i++)
        if ((size_t)n == strlen(note_names[i]) &&
            !memcmp(to, note_names[i], (size_t)n))
            return open_ours(dir, note_names[i], O_NOFOLLOW, st);
    errno = ELOOP;
    return -1;
}

static void put_path(struct buf *out, const struct notes *n, wend_str folder,
                     const char *name)
{
    wend_str inner = str_skip(folder, n->root);

    if (inner.len && inner.ptr[0] == '/')
        inner = str_skip(inner, 1);
    utf8_repair(out, inner);
    if (inner.len)
        buf_char(out, '/');
    buf_cstr(out, name);
}

static void leave_out(struct notes *n, wend_str path, const char *why)
{
    buf_str(n->trouble, path);
    buf_fmt(n->trouble, ": %s\n", why);
}

/* Its text, cut to what is left, ends with a whole character. */
static bool read_note(struct notes *n, int fd, const struct stat *st,
                      wend_str path, struct buf *text, int64_t *cut)
{
    size_t whole;

    if (!read_some(fd, n->left, text)) {
        leave_out(n, path, "it cannot be read");
        return false;
    }
    whole = utf8_valid_len(buf_view(text));
    if (text->len - whole > 3 || (text->len != whole && text->len < n->left)) {
        leave_out(n, path, "it is not UTF-8");
        return false;
    }
    text->len = whole;
    *cut = st->st_size > (off_t)whole ? st->st_size - (off_t)whole : 0;
    n->left -= whole;
    return true;
}

static void put_note(struct notes *n, int fd, const struct stat *st,
                     wend_str path)
{
    struct buf text = {.mem = n->json->mem};
    int64_t cut = 0;

    if (read_note(n, fd, st, path, &text, &cut) && (text.len || cut)) {
        if (!n->any)
            json_open(n->json, "notes", '[');
        n->any = true;
        json_open(n->json, NULL, '{');
        json_add_str(n->json, "path", path);
        json_add_bool(n->json, "trusted", n->trusted);
        json_add_str(n->json, "text", buf_view(&text));
        if (cut)
            json_add_i64(n->json, "cut", cut);
        json_close(n->json, '}');
    }
    n->json->failed |= text.failed;
    buf_free(&text);
}

static void look_in(struct notes *n, wend_str folder)
{
    char path[PATH_MAX + 1];
    struct buf shown = {.mem = n->json->mem};
    struct stat st;
    int dir, fd = -1, i;

    snprintf(path, sizeof path, "%.*s", (int)folder.len, folder.ptr);
    dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return;
    for (i = 0; i < NOTE_NAMES; i++) {
        fd = open_note(dir, note_names[i], &st);
        if (fd >= 0 || errno != ENOENT)
            break;
    }
    if (i < NOTE_NAMES) {
        put_path(&shown, n, folder, note_names[i]);
        if (fd >= 0)
            put_note(n, fd, &st, buf_view(&shown));
        else
            leave_out(n, buf_view(&shown),
                      errno == ELOOP   ? "it is a link to another file"
                      : errno == EPERM ? "it is no file of yours"
                                       : "it cannot be opened");
    }
    if (fd >= 0)
        close(fd);
    close(dir);
    n->json->failed |= shown.failed;
    buf_free(&shown);
}

void project_read(const char *cwd, bool trusted, struct git_status *status,
                  struct buf *json, struct buf *trouble)
{
    size_t root = project_root(cwd), len = strlen(cwd);
    struct notes n = {.cwd = cwd,
                      .root = root ? root : len,
                      .trusted = trusted,
                      .left = NOTES_BYTES_MAX,
                      .json = json,
                      .trouble = trouble};

    if (len >= PATH_MAX || cwd[0] != '/')
        return;
    for (size_t at = n.root;;) {
        look_in(&n, (wend_str){cwd, at});
        if (at++ >= len)
            break;
        while (at < len && cwd[at] != '/')
            at++;
    }
    if (n.any)
        json_close(json, ']');
    if (root) /* last: it may have to wait for git */
        put_git(json, (wend_str){cwd, root}, status);
}
