/*
 * cover.c - which files of a project its commands use, and their sum.
 *
 * A word that begins with ./ or ../ is a path of the manifest; programs get
 * every other word as it stands and look it up in the folder they run in,
 * which is the project's.
 */
#include "lib/agent/agent_file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"

/* ---- The sum ------------------------------------------------------------- */

/* Length before bytes, so that no two lists of files look the same. */
static void sum_add(struct cover *c, wend_str s)
{
    char len[24];

    sha256_add(&c->sum, len, i64_text(len, (int64_t)s.len));
    sha256_add(&c->sum, ":", 1);
    sha256_add(&c->sum, s.ptr, s.len);
}

static wend_str name_in(const struct cover *c, const char *path)
{
    wend_str name = str_of(path);
    size_t len = strlen(c->folder);

    return str_starts(name, c->folder) ? str_skip(name, len) : name;
}

/* Once for each name. */
static wend_status add_item(struct cover *c, struct cover_list *list,
                            wend_str name, const char *says, wend_error *err)
{
    struct cover_item *i;

    assert(!list->first == !list->count);
    for (i = list->first; i; i = i->next)
        if (str_is(name, i->name))
            return WEND_OK;
    i = arena_alloc(c->arena, sizeof *i);
    name = arena_str(c->arena, name);
    says = arena_str(c->arena, str_of(says)).ptr;
    if (!i || !name.ptr || !says)
        return fail_nomem(err);
    i->name = name.ptr;
    i->says = says;
    if (list->last)
        list->last->next = i;
    else
        list->first = i;
    list->last = i;
    list->count++;
    return WEND_OK;
}

static wend_status add_gap(struct cover *c, wend_str name, const char *why,
                           wend_error *err)
{
    return add_item(c, &c->gaps, name, why, err);
}

/* ---- Files --------------------------------------------------------------- */

wend_status cover_check(struct cover *c, const char *path, wend_error *err)
{
    struct stat st;

    if (++c->files > COVER_FILES_MAX)
        return fail(err, WEND_E_LIMIT, "%s: too many files (maximum %d)", path,
                    COVER_FILES_MAX);
    return stat(path, &st) == 0 && !S_ISREG(st.st_mode)
               ? fail(err, WEND_E_IO, "%s: not a regular file", path)
               : WEND_OK;
}

wend_status cover_text(struct cover *c, const char *path, wend_str text,
                       wend_error *err)
{
    char sum[SHA256_HEX + 1];

    sum_add(c, text);
    sha256_hex(sum, text);
    return add_item(c, &c->parts, name_in(c, path), sum, err);
}

/* At most COVER_FILE_BYTES of it. */
static wend_status hash_open(int fd, const char *path, unsigned char *hash,
                             wend_error *err)
{
    size_t left = COVER_FILE_BYTES;
    struct sha256 own;
    char piece[16384];
    ssize_t n = 1;

    sha256_init(&own);
    while (left && (n > 0 || (n < 0 && errno == EINTR))) {
        n = read(fd, piece, left < sizeof piece ? left : sizeof piece);
        if (n > 0) {
            sha256_add(&own, piece, (size_t)n);
            left -= (size_t)n;
        }
    }
    sha256_end(&own, hash);
    return n < 0 ? fail(err, WEND_E_IO, "%s: %s", path, strerror(errno))
                 : WEND_OK;
}

/* Only the size of a large file counts, which protects little. */
static wend_status add_large(struct cover *c, const char *path, off_t size,
                             wend_error *err)
{
    char text[24];

    sum_add(c, (wend_str){text, i64_text(text, (int64_t)size)});
    return add_gap(c, name_in(c, path), "over 8 MiB", err);
}

wend_status cover_file(struct cover *c, const char *path, wend_error *err)
{
    wend_status s = cover_check(c, path, err);
    unsigned char hash[SHA256_BYTES];
    char sum[SHA256_HEX + 1];
    struct stat st;
    int fd;

    if (s)
        return s;
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 && errno == ENOENT) {
        sum_add(c, STR("absent"));
        return WEND_OK;
    }
    if (fd < 0 || fstat(fd, &st))
        s = fail(err, WEND_E_IO, "%s: %s", path, strerror(errno));
    else if (st.st_size > COVER_FILE_BYTES)
        s = add_large(c, path, st.st_size, err);
    else {
        s = hash_open(fd, path, hash, err);
        sum_add(c, (wend_str){(const char *)hash, sizeof hash});
        hex_text(sum, hash, sizeof hash);
        if (!s)
            s = add_item(c, &c->parts, name_in(c, path), sum, err);
    }
    if (fd >= 0)
        close(fd);
    return s;
}

/* ---- Words --------------------------------------------------------------- */

static bool is_beneath(const char *path, const char *folder)
{
    size_t len = strlen(folder);

    return !strncmp(path, folder, len) &&
           (path[len] == '/' || (len && folder[len - 1] == '/'));
}

/* By its name or by where it leads. */
static bool in_project(const struct cover *c, const char *path)
{
    char *folder = realpath(*c->folder ? c->folder : ".", NULL);
    char *real = realpath(path, NULL);
    bool in = folder && real &&
              (is_beneath(path, folder) || is_beneath(real, folder) ||
               !strcmp(real, folder));

    free(folder);
    free(real);
    return in;
}

/* A path that a program would find: NULL without memory. */
static const char *path_here(struct cover *c, wend_str word)
{
    struct buf b = {.mem = c->arena->mem};

    buf_cstr(&b, str_starts(word, "/") ? "" : c->folder);
    buf_str(&b, word);
    return buf_keep(&b, c->arena).ptr;
}

/* A word that the manifest does not call a path: only where it names
 * something of the project does it count, with its place. */
static wend_status take_word(struct cover *c, wend_str word, wend_error *err)
{
    const char *path;
    struct stat st;
    char place[24];

    if (!word.len || memchr(word.ptr, 0, word.len))
        return WEND_OK;
    path = path_here(c, word);
    if (!path)
        return fail_nomem(err);
    if (stat(path, &st) || (path[0] == '/' && !in_project(c, path)))
        return WEND_OK;
    if (S_ISDIR(st.st_mode))
        return add_gap(c, word, "a directory", err);
    if (!S_ISREG(st.st_mode))
        return add_gap(c, word, "not a regular file", err);
    if (access(path, R_OK))
        return add_gap(c, word, "not readable", err);
    sum_add(c, (wend_str){place, i64_text(place, c->words)});
    return cover_file(c, path, err);
}

/* The program without a slash: the first of that name in PATH. */
static wend_status take_program(struct cover *c, wend_str name, wend_error *err)
{
    const char *at = getenv("PATH");
    struct stat st;

    while (at) {
        size_t len = strcspn(at, ":");
        struct buf b = {.mem = c->arena->mem};
        const char *path;

        buf_cstr(&b, *at == '/' ? "" : c->folder);
        buf_add(&b, at, len);
        buf_cstr(&b, len && at[len - 1] != '/' ? "/" : "");
        buf_str(&b, name);
        path = buf_keep(&b, c->arena).ptr;
        if (!path)
            return fail_nomem(err);
        if (!access(path, X_OK) && !stat(path, &st) && S_ISREG(st.st_mode))
            return in_project(c, path) ? take_word(c, name_in(c, path), err)
                                       : WEND_OK;
        at = at[len] ? at + len + 1 : NULL;
    }
    return WEND_OK;
}

/* Roughly the words of a shell: a word too many does no harm. */
static wend_status take_script(struct cover *c, wend_str script,
                               wend_error *err)
{
    static const char ends[] = " \t\r\n;&|<>()$'\"`={},";
    wend_status s = WEND_OK;
    int words = 0;

    for (size_t i = 0; !s && i < script.len; i++) {
        wend_str word = {script.ptr + i, 0};

        while (i < script.len && !strchr(ends, script.ptr[i])) {
            word.len++;
            i++;
        }
        if (word.len && ++words > COVER_SCRIPT_WORDS_MAX)
            return add_gap(c, STR("a long script"),
                           "only its first words were checked", err);
        s = take_word(c, word, err);
    }
    return s;
}

static wend_status take_plain(struct cover *c, const struct manifest_words *w,
                              size_t i, wend_error *err)
{
    wend_str word = w->list[i].text;
    const char *equals = memchr(word.ptr, '=', word.len);
    wend_status s = WEND_OK;

    if (!i)
        return memchr(word.ptr, '/', word.len) ? take_word(c, word, err)
                                               : take_program(c, word, err);
    if (str_is(w->list[i - 1].text, "-m") ||
        (str_starts(word, "-m") && word.len > 2)) {
        struct buf b = {.mem = c->arena->mem};
        wend_str name = word;

        if (word.ptr[0] != '-') {
            buf_cstr(&b, "-m ");
            buf_str(&b, word);
            name = buf_keep(&b, c->arena);
        }
        s = name.ptr ? add_gap(c, name, "a module", err) : fail_nomem(err);
    }
    if (!s)
        s = take_word(c, word, err);
    if (!s && equals)
        s = take_word(c,
                      (wend_str){equals + 1,
                                 (size_t)(word.ptr + word.len - (equals + 1))},
                      err);
    if (!s && manifest_word_is_script(w->list[i - 1].text))
        s = take_script(c, word, err);
    return s;
}

wend_status cover_word(struct cover *c, const struct manifest_words *w,
                       size_t i, const char *path, wend_error *err)
{
    wend_str word = w->list[i].text;
    struct stat st;

    c->words++;
    if (!manifest_word_is_path(word, i) || word.ptr[0] == '/')
        return take_plain(c, w, i, err);
    if (i && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return add_gap(c, word, "a directory", err);
    return cover_file(c, path, err);
}

/* ---- Public -------------------------------------------------------------- */

wend_status cover_begin(struct cover *c, const char *path, struct arena *a,
                        wend_error *err)
{
    const char *slash = strrchr(path, '/');
    wend_str folder = {path, slash ? (size_t)(slash - path) + 1 : 0};

    *c = (struct cover){.arena = a, .folder = arena_str(a, folder).ptr};
    sha256_init(&c->sum);
    return c->folder ? WEND_OK : fail_nomem(err);
}

wend_status cover_manifest(struct cover *c, const wend_manifest *m,
                           wend_error *err)
{
    wend_status s = WEND_OK;

    sum_add(c, str_of(m->sum));
    for (size_t i = 0; !s && i < m->files_count; i++) {
        const char *path =
            path_beside(c->arena, m->path, str_of(m->files[i].name));

        s = path
                ? add_item(c, &c->parts, name_in(c, path), m->files[i].sum, err)
                : fail_nomem(err);
    }
    for (size_t i = 0; !s && i < m->gaps_count; i++)
        s = add_gap(c, str_of(m->gaps[i].name), m->gaps[i].why, err);
    return s;
}
