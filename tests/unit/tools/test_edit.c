/*
 * test_edit.c - edit_file: what becomes of a file, why not, and that edits
 * by many at once are all there.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/utf8.h"
#include "fault.h"
#include "host/path.h"
#include "tap.h"
#include "tools/tools.h"

static char base[64] = "/tmp/wend-edit-XXXXXX";
static int root_fd;
static struct mem mem;

static bool put(const char *name, wend_str text)
{
    int fd =
        openat(root_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    bool good = fd >= 0 && write(fd, text.ptr, text.len) == (ssize_t)text.len;

    if (fd >= 0)
        close(fd);
    return good;
}

static wend_str get(const char *name, struct buf *out)
{
    int fd = openat(root_fd, name, O_RDONLY | O_CLOEXEC);
    char block[4096];
    ssize_t n;

    buf_clear(out);
    while (fd >= 0 && (n = read(fd, block, sizeof block)) > 0)
        buf_add(out, block, (size_t)n);
    if (fd >= 0)
        close(fd);
    return buf_view(out);
}

static void tear_down(void)
{
    char command[96];

    close(root_fd);
    snprintf(command, sizeof command, "rm -rf '%s'", base);
    if (system(command))
        printf("# could not remove %s\n", base);
}

static const struct {
    const char *why, *before, *old_text, *new_text;
    bool all;
    const char *after; /* NULL: refused, and nothing changes */
    const char *said;
} rows[] = {
    {"one place", "a\nb\nc\n", "b", "B", false, "a\nB\nc\n",
     "replaced 1 place in f, at line 2"},
    {"several lines", "a\nb\nc\n", "a\nb\n", "x\n", false, "x\nc\n",
     "replaced 1 place in f, at line 1"},
    {"to nothing", "abc", "b", "", false, "ac",
     "replaced 1 place in f, at line 1"},
    {"the whole file", "abc", "abc", "x", false, "x",
     "replaced 1 place in f, at line 1"},
    {"all of them", "b\na b\nb", "b", "bb", true, "bb\na bb\nbb",
     "replaced 3 places in f, from line 1 on"},
    {"all of one", "abc", "b", "x", true, "axc",
     "replaced 1 place in f, at line 1"},
    {"places do not overlap", "aaa", "aa", "b", true, "ba",
     "replaced 1 place in f, at line 1"},
    {"line ends stay: CRLF", "a\r\nb\r\nc\r\n", "a\nb", "x\ny", false,
     "x\r\ny\r\nc\r\n", "replaced 1 place in f, at line 1"},
    {"CRLF in the texts, too", "a\r\nb\r\n", "a\r\nb", "x\r\ny", false,
     "x\r\ny\r\n", "replaced 1 place in f, at line 1"},
    {"a new line in a file with CRLF", "a\r\nb\r\n", "a", "x\ny", false,
     "x\r\ny\r\nb\r\n", "replaced 1 place in f, at line 1"},
    {"mixed line ends are left alone", "a\r\nb\nc", "b\nc", "x\ny", false,
     "a\r\nx\ny", "replaced 1 place in f, at line 2"},
    {"bytes that are no UTF-8 stay",
     "\xff"
     "a\xfe",
     "a", "b", false,
     "\xff"
     "b\xfe",
     "replaced 1 place in f, at line 1"},
    {"not there at all", "one\ntwo\n", "zebra", "x", false, NULL,
     "old_string is not in 'f', nor anything like it; read the file first"},
    {"nothing in the file", "", "x", "y", false, NULL,
     "old_string is not in 'f', nor anything like it; read the file first"},
    {"nearly there", "int a;\nint counter = 0;\n", "int count = 0;", "x", false,
     NULL, "old_string is not in 'f'; nearest is line 2: 'int counter = 0;'"},
    {"other indentation", "if (a)\n\tb();\n", "if (a)\n    b();", "x", false,
     NULL,
     "old_string is not in 'f' exactly: from line 1 on it stands there with "
     "other white space (indentation, tabs, line ends); copy it as read_file "
     "shows it"},
    {"other line ends", "x\na\r\nb\n", "a\nb", "x", false, NULL,
     "old_string is not in 'f' exactly: from line 2 on it stands there with "
     "other white space (indentation, tabs, line ends; some are CRLF); copy it "
     "as read_file shows it"},
    {"white space alone", "a b", "\t", "x", false, NULL,
     "old_string is not in 'f', nor anything like it; read the file first"},
    {"too often", "b\na b\nb", "b", "x", false, NULL,
     "old_string stands in 'f' 3 times, at lines 1, 2, 3; add text around it "
     "until it is unique, or set replace_all"},
    {"far too often", "x\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\n", "x", "y", false,
     NULL,
     "old_string stands in 'f' 11 times, at lines 1, 2, 3, 4, 5, 6, 7, 8, 9, "
     "10 ...; add text around it until it is unique, or set replace_all"},
    {"empty", "a", "", "x", false, NULL,
     "old_string is empty; write_file makes new files"},
    {"the same", "a", "a", "a", false, NULL,
     "old_string and new_string are the same"},
};

static void test_rows(void)
{
    for (size_t i = 0; i < tap_count(rows); i++) {
        struct buf out = {.mem = &mem}, now = {.mem = &mem};
        struct edit e = {str_of(rows[i].old_text), str_of(rows[i].new_text),
                         rows[i].all};
        wend_error err = {0};
        wend_status s;

        put("f", str_of(rows[i].before));
        s = edit_file_text(root_fd, STR("f"), e, &out, &err);
        tap_is_i64(!s, rows[i].after != NULL, "edit: %s", rows[i].why);
        tap_is_str(s ? str_of(err.message) : buf_view(&out), rows[i].said,
                   "  in words");
        tap_is_str(get("f", &now),
                   rows[i].after ? rows[i].after : rows[i].before,
                   "  and in the file");
        buf_free(&out);
        buf_free(&now);
    }
}

static void test_refused(void)
{
    static const struct {
        const char *why, *path, *message;
    } refused[] = {
        {"nothing there", "elsewhere",
         "no such file: 'elsewhere' (beneath the working directory)"},
        {"nothing there, but near", "dir/fiel",
         "no such file: 'dir/fiel' (beneath the working directory); did you "
         "mean 'dir/file'?"},
        {"no directory there", "nowhere/to/f",
         "no such file: 'nowhere/to/f' (beneath the working directory)"},
        {"a directory", "dir", "'dir' is a directory"},
        {"dots", "dir/..", "'dir/..' is a directory"},
        {"a fifo", "fifo", "'fifo' is not a regular file"},
        {"binary", "binary", "'binary' is a binary file of 3 bytes"},
        {"outside", "../x", "path '../x' leaves the working directory"},
        {"a link", "link",
         "'link' is or goes through a symbolic link; use the path that it "
         "leads to: 'f'"},
        {"beneath a file", "f/x",
         "'f/x' is not a directory, or lies beneath a file"},
    };
    struct edit e = {STR("a"), STR("b"), false};

    put("f", STR("a"));
    put("binary", STR("a\0b"));
    mkdirat(root_fd, "dir", 0755);
    put("dir/file", STR("a"));
    mkfifoat(root_fd, "fifo", 0644);
    symlinkat("f", root_fd, "link");
    for (size_t i = 0; i < tap_count(refused); i++) {
        struct buf out = {.mem = &mem};
        wend_error err = {0};

        tap_ok(edit_file_text(root_fd, str_of(refused[i].path), e, &out, &err),
               "refused: %s", refused[i].why);
        tap_is_str(err.message, refused[i].message, "  in words");
        buf_free(&out);
    }
}

static void test_sizes(void)
{
    struct buf out = {.mem = &mem}, text = {.mem = &mem};
    struct edit e = {STR("z"), STR("yy"), false};
    struct stat st = {0};

    for (size_t i = 0; i + 2 < EDIT_BYTES_MAX; i++)
        buf_char(&text, 'x');
    buf_char(&text, 'z');
    put("large", buf_view(&text));
    tap_is_i64(edit_file_text(root_fd, STR("large"), e, &out, NULL), WEND_OK,
               "up to the limit");
    fstatat(root_fd, "large", &st, 0);
    tap_is_i64(st.st_size, EDIT_BYTES_MAX, "  it is at the limit");
    e = (struct edit){STR("yy"), STR("zzz"), false};
    tap_is_i64(edit_file_text(root_fd, STR("large"), e, &out, NULL),
               WEND_E_LIMIT, "not beyond");
    buf_cstr(&text, "zz");
    put("large", buf_view(&text));
    tap_is_i64(edit_file_text(root_fd, STR("large"), e, &out, NULL),
               WEND_E_LIMIT, "a file beyond is not read");
    /* What would take long to compare with white space left out. */
    buf_clear(&text);
    for (int i = 0; i < 1 << 20; i++)
        buf_char(&text, 'x');
    put("large", buf_view(&text));
    text.ptr[text.len / 2] = 'y';
    e.old_text = (wend_str){text.ptr, text.len / 2 + 1};
    tap_ok(edit_file_text(root_fd, STR("large"), e, &out, NULL),
           "looking for what is near comes to an end");
    fchmodat(root_fd, "f", 0750, 0);
    e = (struct edit){STR("a"), STR("b"), false};
    tap_ok(!edit_file_text(root_fd, STR("f"), e, &out, NULL) &&
               !fstatat(root_fd, "f", &st, 0) && (st.st_mode & 0777) == 0750,
           "a file keeps its mode");
    buf_free(&out);
    buf_free(&text);
}

/* ---- Many at once ---------------------------------------------------------
 */

enum { THREADS = 4, EDITS = 25 };

static void *edits(void *arg)
{
    long bad = 0;

    for (int i = 0; i < EDITS; i++) {
        struct buf out = {.mem = &mem};
        char text[32];
        struct edit e = {STR("\nend"), STR_NONE, false};

        snprintf(text, sizeof text, "\n%d.%d\nend", *(int *)arg, i);
        e.new_text = str_of(text);
        bad += edit_file_text(root_fd, STR("shared"), e, &out, NULL) != 0;
        buf_free(&out);
    }
    return (void *)bad;
}

static void test_many(void)
{
    struct buf now = {.mem = &mem};
    pthread_t threads[THREADS];
    int numbers[THREADS], missing = 0;
    long bad = 0;

    put("shared", STR("begin\nend"));
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, edits, &numbers[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        void *failed;

        pthread_join(threads[i], &failed);
        bad += (long)failed;
    }
    tap_is_i64(bad, 0, "edits of one file by several threads all work");
    get("shared", &now);
    for (int i = 0; i < THREADS; i++)
        for (int k = 0; k < EDITS; k++) {
            char line[32];

            snprintf(line, sizeof line, "\n%d.%d\n", i, k);
            missing += !strstr(now.ptr, line);
        }
    tap_is_i64(missing, 0, "none is lost");
    buf_free(&now);
}

static wend_status meddle(void *ctx, wend_str old, struct buf *out,
                          wend_error *err)
{
    (void)old;
    (void)err;
    buf_cstr(out, "mine");
    if (*(bool *)ctx)
        put("meddled", STR("theirs"));
    return WEND_OK;
}

/* Another process does not ask us. */
static void test_meddler(void)
{
    struct buf now = {.mem = &mem};
    wend_error err = {0};
    bool meddles = false;

    put("meddled", STR("before"));
    tap_is_i64(
        path_change(root_fd, STR("meddled"), 100, meddle, &meddles, &mem, &err),
        WEND_OK, "control: nobody meddles");
    tap_is_str(get("meddled", &now), "mine", "  it is changed");
    meddles = true;
    tap_is_i64(
        path_change(root_fd, STR("meddled"), 100, meddle, &meddles, &mem, &err),
        WEND_E_BUSY, "a file that changed meanwhile is left alone");
    tap_is_str(err.message,
               "'meddled' was changed by another program meanwhile; read it "
               "again",
               "  in words");
    tap_is_str(get("meddled", &now), "theirs", "  as it is");
    buf_free(&now);
}

static void test_no_memory(void)
{
    struct fault f = {0};
    int bad = 0;

    while (fault_next(&f)) {
        struct mem m = fault_mem(&f);
        struct buf b = {.mem = &m};
        struct edit e = {STR("a\nb"), STR("x\ny"), false};
        wend_status s;

        put("f", STR("a\r\nb\r\n"));
        s = edit_file_text(root_fd, STR("f"), e, &b, NULL);
        bad += (s || b.failed) != f.hit;
        buf_free(&b);
        bad += f.live != 0;
    }
    tap_is_i64(bad, 0, "without memory");
}

int main(void)
{
    root_fd = mkdtemp(base) ? path_root(base, NULL) : -1;
    if (tap_ok(root_fd >= 0, "a directory to work in")) {
        test_rows();
        test_refused();
        test_sizes();
        test_many();
        test_meddler();
        test_no_memory();
    }
    tear_down();
    return tap_done();
}
