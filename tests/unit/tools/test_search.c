/*
 * test_search.c - glob and grep on a tree of their own.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/utf8.h"
#include "fault.h"
#include "host/path.h"
#include "host/walk.h"
#include "lib/run/call.h"
#include "lib/run/run.h"
#include "tap.h"
#include "tools/tools.h"

static char base[64] = "/tmp/wend-search-XXXXXX";
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

static bool set_up(void)
{
    static const char *const dirs[] = {
        "root", "root/src", "root/src/sub", "root/.git", "root/src/.hg", "out"};
    char path[128];

    if (!mkdtemp(base))
        return false;
    for (size_t i = 0; i < tap_count(dirs); i++) {
        snprintf(path, sizeof path, "%s/%s", base, dirs[i]);
        if (mkdir(path, 0755))
            return false;
    }
    snprintf(path, sizeof path, "%s/root", base);
    root_fd = path_root(path, NULL);
    return root_fd >= 0 && put("../out/secret.c", STR("needle outside\n")) &&
           put("a.c", STR("one\ntwo needle\nthree\n")) &&
           put("src-x", STR("no\n")) &&
           put("src/b.c", STR("1\n2\n3 needle\n4\n5 needle\n6\n7\n8\n9\n"
                              "10 Needle\n11")) &&
           put("src/b.h", STR("needle\r\nsecond\r\n")) &&
           put("src/sub/c.c", STR("x\xff needle \xfe\n")) &&
           put("src/sub/.hidden", STR("needle")) &&
           put("src/sub/two\nlines", STR("needle")) &&
           put("binary", STR("needle\0")) &&
           put(".git/config", STR("needle\n")) &&
           put("src/.hg/store", STR("needle\n")) &&
           !mkfifoat(root_fd, "fifo", 0644) &&
           !symlinkat("../out", root_fd, "out-dir") &&
           !symlinkat("../out/secret.c", root_fd, "out.c") &&
           !symlinkat("a.c", root_fd, "link.c") &&
           !symlinkat("..", root_fd, "src/up");
}

static void tear_down(void)
{
    char command[96];

    close(root_fd);
    snprintf(command, sizeof command, "rm -rf '%s'", base);
    if (system(command))
        printf("# could not remove %s\n", base);
}

/* ---- glob -----------------------------------------------------------------
 */

static const struct {
    const char *why, *pattern, *path, *text; /* text NULL: refused */
    const char *message;
} globs[] = {
    {"here", "*.c", ".", "a.c\nlink.c\nout.c\n", ""},
    {"everywhere, in the order of paths", "**/{a,b,src-x}*", ".",
     "a.c\nbinary\nsrc-x\nsrc/b.c\nsrc/b.h\n", ""},
    {"beneath a directory", "**/*.c", "src", "src/b.c\nsrc/sub/c.c\n", ""},
    {"a directory with a slash", "*.h", "src/", "src/b.h\n", ""},
    {"the same from the root", "./src/**/*.c", ".", "src/b.c\nsrc/sub/c.c\n",
     ""},
    {"hidden files, and names that are escaped", "src/sub/*", ".",
     "src/sub/.hidden\nsrc/sub/c.c\nsrc/sub/two\\x0alines\n", ""},
    {"directories", "**/", ".", "src/\nsrc/sub/\n", ""},
    {"version control when it is named", ".git/*", ".", ".git/config\n", ""},
    {"or in braces", "{.git,src}/*", ".",
     ".git/config\nsrc/b.c\nsrc/b.h\nsrc/up\n", ""},
    {"or the place to look", "*", ".git", ".git/config\n", ""},
    {"links are listed, not followed", "out-dir/*", ".", "[no matches]\n", ""},
    {"special files are listed", "f*", ".", "fifo\n", ""},
    {"nothing", "*.zig", ".", "[no matches]\n", ""},
    {"absolute", "/etc/*", ".", NULL,
     "pattern: it begins with a slash; it must be relative to path"},
    {"a broken pattern", "{a", ".", NULL, "pattern: { without } at byte 3"},
    {"outside", "*", "..", NULL, "path '..' leaves the working directory"},
    {"outside by a link", "*", "out-dir", NULL,
     "path 'out-dir' leaves the working directory"},
    {"dots in the pattern lead nowhere", "../*", ".", "[no matches]\n", ""},
    {"a file", "*", "a.c", NULL,
     "'a.c' is not a directory, or lies beneath a file"},
    {"no such directory", "*", "scr", NULL,
     "no such file: 'scr' (beneath the working directory); did you mean "
     "'src'?"},
};

static void test_globs(void)
{
    for (size_t i = 0; i < tap_count(globs); i++) {
        struct buf b = {.mem = &mem};
        wend_error err = {0};
        wend_status s = glob_text(root_fd, str_of(globs[i].pattern),
                                  str_of(globs[i].path), NULL, &b, &err);

        tap_is_str(s ? STR_NONE : buf_view(&b), globs[i].text, "glob: %s",
                   globs[i].why);
        tap_is_str(err.message, globs[i].message, "  in words");
        buf_free(&b);
    }
}

/* ---- grep -----------------------------------------------------------------
 */

static const struct {
    const char *why;
    struct grep_options o;
    const char *text, *message;
} greps[] = {
    {"everywhere",
     {.pattern = {"needle", 6}},
     "a.c:2:two needle\n"
     "src/b.c:3:3 needle\n"
     "src/b.c:5:5 needle\n"
     "src/b.h:1:needle\n"
     "src/sub/.hidden:1:needle\n"
     "src/sub/c.c:1:x\xef\xbf\xbd needle \xef\xbf\xbd\n"
     "src/sub/two\\x0alines:1:needle\n",
     ""},
    {"without case, in files of a name",
     {.pattern = {"NEEDLE", 6}, .ignore_case = true, .glob = {"b.*", 3}},
     "src/b.c:3:3 needle\nsrc/b.c:5:5 needle\nsrc/b.c:10:10 Needle\n"
     "src/b.h:1:needle\n",
     ""},
    {"in paths",
     {.pattern = {"needle", 6}, .glob = {"src/*.c", 7}},
     "src/b.c:3:3 needle\nsrc/b.c:5:5 needle\n",
     ""},
    {"files only",
     {.pattern = {"needle", 6},
      .files_only = true,
      .path = {"src", 3},
      .glob = {"*.{c,h}", 7}},
     "src/b.c\nsrc/b.h\nsrc/sub/c.c\n",
     ""},
    {"in one file",
     {.pattern = {"^t\\w+$", 6}, .path = {"a.c", 3}},
     "a.c:3:three\n",
     ""},
    {"lines around",
     {.pattern = {"needle", 6}, .path = {"src/b.c", 7}, .context = 1},
     "src/b.c-2-2\nsrc/b.c:3:3 needle\nsrc/b.c-4-4\nsrc/b.c:5:5 needle\n"
     "src/b.c-6-6\n",
     ""},
    {"lines around with a gap",
     {.pattern = {"[Nn]eedle|^1$", 13}, .path = {"src/b.c", 7}, .context = 1},
     "src/b.c:1:1\nsrc/b.c-2-2\nsrc/b.c:3:3 needle\nsrc/b.c-4-4\n"
     "src/b.c:5:5 needle\nsrc/b.c-6-6\n--\nsrc/b.c-9-9\n"
     "src/b.c:10:10 Needle\nsrc/b.c-11-11\n",
     ""},
    {"more around than there is",
     {.pattern = {"two", 3}, .path = {"a.c", 3}, .context = 1000000},
     "a.c-1-one\na.c:2:two needle\na.c-3-three\n",
     ""},
    {"the end of a line with CRLF",
     {.pattern = {"second$", 7}, .path = {"src/b.h", 7}},
     "src/b.h:2:second\n",
     ""},
    {"no pattern reaches the next line",
     {.pattern = {"one[^x]*two", 11}, .path = {"a.c", 3}},
     "[no matches]\n",
     ""},
    {"an empty match",
     {.pattern = {"^", 1}, .path = {"a.c", 3}, .max = 2},
     "a.c:1:one\na.c:2:two needle\n[the first 2 are shown; there are more: "
     "narrow it down by path, glob or pattern]\n",
     ""},
    {"exactly as many as there may be",
     {.pattern = {"e$", 2}, .path = {"a.c", 3}, .max = 3},
     "a.c:1:one\na.c:2:two needle\na.c:3:three\n",
     ""},
    {"a link that was named",
     {.pattern = {"two", 3}, .path = {"link.c", 6}},
     NULL,
     "'link.c' is or goes through a symbolic link; use the path that it leads "
     "to: 'a.c'"},
    {"version control that was named",
     {.pattern = {"needle", 6}, .path = {".git", 4}},
     ".git/config:1:needle\n",
     ""},
    {"binary",
     {.pattern = {"x", 1}, .path = {"binary", 6}},
     NULL,
     "'binary' is a binary file"},
    {"a fifo",
     {.pattern = {"x", 1}, .path = {"fifo", 4}},
     NULL,
     "'fifo' is not a regular file"},
    {"outside",
     {.pattern = {"x", 1}, .path = {"../out", 6}},
     NULL,
     "path '../out' leaves the working directory"},
    {"outside by a link",
     {.pattern = {"x", 1}, .path = {"out.c", 5}},
     NULL,
     "path 'out.c' leaves the working directory"},
    {"nothing there",
     {.pattern = {"x", 1}, .path = {"src/b.d", 7}},
     NULL,
     "no such file: 'src/b.d' (beneath the working directory); did you mean "
     "'src/b.c'?"},
    {"a broken pattern",
     {.pattern = {"a(", 2}},
     NULL,
     "pattern: missing closing parenthesis at byte 2"},
    {"no pattern", {.pattern = {"", 0}}, NULL, "pattern: it is empty"},
    {"a broken glob",
     {.pattern = {"a", 1}, .glob = {"[", 1}},
     NULL,
     "glob: pattern: [ without ] at byte 1"},
};

static wend_status grep(struct grep_options o, struct buf *b, wend_error *err)
{
    if (!o.path.ptr)
        o.path = STR(".");
    if (!o.max)
        o.max = GREP_RESULTS_DEFAULT;
    return grep_text(root_fd, &o, NULL, b, err);
}

static void test_greps(void)
{
    for (size_t i = 0; i < tap_count(greps); i++) {
        struct buf b = {.mem = &mem};
        wend_error err = {0};
        wend_status s = grep(greps[i].o, &b, &err);
        wend_str got = buf_view(&b);

        /* b.h and b.c are as near as each other. */
        if (err.message[0] && strstr(err.message, "'src/b.h'?"))
            strstr(err.message, "'src/b.h'?")[7] = 'c';
        tap_is_str(s ? STR_NONE : got, greps[i].text, "grep: %s", greps[i].why);
        tap_is_str(err.message, greps[i].message, "  in words");
        buf_free(&b);
    }
}

/* ---- Bounds ---------------------------------------------------------------
 */

static void repeat(struct buf *b, const char *text, int count)
{
    for (int i = 0; i < count; i++)
        buf_cstr(b, text);
}

static bool ends_with(wend_str s, const char *end)
{
    size_t len = strlen(end);

    return s.len >= len && !memcmp(s.ptr + s.len - len, end, len);
}

static void test_lines(void)
{
    struct buf b = {.mem = &mem}, text = {.mem = &mem};
    struct grep_options o = {.pattern = STR("needle"), .path = STR("long")};

    repeat(&text, "x", 394);
    buf_cstr(&text, "needle");
    put("long", buf_view(&text));
    grep(o, &b, NULL);
    tap_is_i64((int64_t)b.len, 7 + 400 + 1, "a line at the limit is whole");
    buf_clear(&b);
    repeat(&text, "y", 1);
    put("long", buf_view(&text));
    grep(o, &b, NULL);
    tap_ok(strstr(b.ptr, "long:1:[1 bytes cut]xxx") &&
               ends_with(buf_view(&b), "xneedley\n"),
           "a line above it is cut around the match");
    buf_clear(&text);
    repeat(&text, "\xe2\x82\xac", 1000);
    buf_cstr(&text, "needle");
    repeat(&text, "\xe2\x82\xac", 1000);
    put("long", buf_view(&text));
    buf_clear(&b);
    grep(o, &b, NULL);
    tap_ok(b.len < 500 && strstr(b.ptr, "needle") &&
               !strstr(b.ptr, "\xef\xbf\xbd") && strstr(b.ptr, " bytes cut]"),
           "between code points");
    unlinkat(root_fd, "long", 0);
    buf_free(&b);
    buf_free(&text);
}

static void test_bounds(void)
{
    struct buf b = {.mem = &mem}, text = {.mem = &mem};
    struct grep_options o = {
        .pattern = STR("needle"), .path = STR("many"), .max = INT64_MAX};
    wend_error err = {0};

    repeat(&text, "a line with a needle in it\n", 20000);
    put("many", buf_view(&text));
    grep(o, &b, NULL);
    tap_ok(b.len <= OUTPUT_BYTES_MAX &&
               strstr(b.ptr, "are shown; there are more"),
           "output is bounded");
    buf_clear(&b);
    buf_clear(&text);
    repeat(&text, "a", 5000);
    buf_char(&text, '!');
    put("many", buf_view(&text));
    o.pattern = STR("(a|aa)+$");
    tap_is_i64(grep(o, &b, &err), WEND_E_LIMIT, "a pattern that never ends");
    tap_is_str(err.message,
               "pattern: it takes too long (in 'many', line 1); make it "
               "simpler, or look into fewer files",
               "  in words");
    unlinkat(root_fd, "many", 0);
    buf_free(&b);
    buf_free(&text);
}

/* A large file is passed over; a NUL far behind does no harm. */
static void test_large(void)
{
    struct buf b = {.mem = &mem};
    struct grep_options o = {.pattern = STR("needle"), .path = STR("large")};
    wend_error err = {0};
    int fd;

    mkdirat(root_fd, "large", 0755);
    put("large/a", STR("needle\n"));
    fd = openat(root_fd, "large/a", O_WRONLY | O_CLOEXEC);
    tap_ok(!ftruncate(fd, 40000), "a file that is binary after a while");
    close(fd);
    grep(o, &b, NULL);
    tap_is_str(buf_view(&b), "[no matches]\n", "  NUL in the first block");
    put("large/a", STR("needle\n"));
    put("large/b", STR(""));
    fd = openat(root_fd, "large/b", O_WRONLY | O_CLOEXEC);
    for (int i = 0; i < 1025; i++) {
        static char block[64 << 10];

        memset(block, 'x', sizeof block);
        if (write(fd, block, sizeof block) < 0)
            break;
    }
    close(fd);
    buf_clear(&b);
    grep(o, &b, &err);
    tap_is_str(buf_view(&b),
               "large/a:1:needle\n[1 files over 64 MiB were not searched]\n",
               "a large file is passed over");
    o.path = STR("large/b");
    tap_is_i64(grep(o, &b, &err), WEND_E_LIMIT, "or refused by name");
    buf_free(&b);
}

static void test_deep(void)
{
    struct buf b = {.mem = &mem};
    int fd = dup(root_fd), next;

    for (int i = 0; i < WALK_DEPTH_MAX + 2; i++) {
        mkdirat(fd, "d", 0755);
        next = openat(fd, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        close(fd);
        fd = next;
    }
    close(fd);
    glob_text(root_fd, STR("d/**/x"), STR("."), NULL, &b, NULL);
    tap_is_str(buf_view(&b),
               "[no matches]\n[nothing more than 64 directories deep was "
               "looked at]\n",
               "depth is bounded, and says so");
    buf_free(&b);
}

static void test_many_names(void)
{
    struct buf b = {.mem = &mem};
    char name[32];

    mkdirat(root_fd, "names", 0755);
    for (int i = 0; i < LIST_ENTRIES_MAX; i++) {
        snprintf(name, sizeof name, "names/%05d", i);
        put(name, STR(""));
    }
    glob_text(root_fd, STR("names/*"), STR("."), NULL, &b, NULL);
    tap_ok(ends_with(buf_view(&b), "names/09999\n"), "as many as may be");
    put("names/10000", STR(""));
    buf_clear(&b);
    glob_text(root_fd, STR("names/*"), STR("."), NULL, &b, NULL);
    tap_ok(ends_with(buf_view(&b), "names/09999\n[the first 10000 are shown; "
                                   "there are more]\n"),
           "one above");
    buf_free(&b);
}

static void test_canceled(void)
{
    struct buf b = {.mem = &mem};
    struct grep_options o = {
        .pattern = STR("needle"), .path = STR("."), .max = 1};
    struct read_range range = {1, 0};
    wend_error err = {0};
    struct wend_call call = {0};

    tap_ok(!grep_text(root_fd, &o, &call, &b, &err) &&
               !glob_text(root_fd, STR("*"), o.path, &call, &b, &err) &&
               !list_dir_text(root_fd, o.path, &call, &b, &err) &&
               !read_file_text(root_fd, STR("a.c"), range, &call, &b, &err),
           "control: a call that goes on");
    atomic_store(&call.canceled, true);
    tap_ok(grep_text(root_fd, &o, &call, &b, &err), "grep is canceled");
    tap_ok(glob_text(root_fd, STR("*"), o.path, &call, &b, &err), "glob");
    tap_ok(list_dir_text(root_fd, o.path, &call, &b, &err), "list_dir");
    tap_ok(read_file_text(root_fd, STR("a.c"), range, &call, &b, &err),
           "read_file");
    tap_is_str(err.message, "canceled", "  in words");
    buf_free(&b);
}

static void test_no_memory(void)
{
    struct fault f = {0};
    int bad = 0;

    while (fault_next(&f)) {
        struct mem m = fault_mem(&f);
        struct buf b = {.mem = &m};
        struct grep_options o = {.pattern = STR("nee(dle)"),
                                 .path = STR("src"),
                                 .glob = STR("*.c"),
                                 .context = 1};
        wend_status s = grep(o, &b, NULL);

        bad += (s || b.failed) != f.hit;
        buf_free(&b);
        bad += f.live != 0;
    }
    tap_is_i64(bad, 0, "grep without memory");
    f = (struct fault){0};
    while (fault_next(&f)) {
        struct mem m = fault_mem(&f);
        struct buf b = {.mem = &m};
        wend_status s =
            glob_text(root_fd, STR("**/*.[ch]"), STR("src"), NULL, &b, NULL);

        bad += (s || b.failed) != f.hit;
        buf_free(&b);
        bad += f.live != 0;
    }
    tap_is_i64(bad, 0, "glob without memory");
}

int main(void)
{
    if (tap_ok(set_up(), "a tree to work in")) {
        test_globs();
        test_greps();
        test_lines();
        test_bounds();
        test_canceled();
        test_no_memory();
        test_large();
        test_deep();
        test_many_names();
    }
    tear_down();
    return tap_done();
}
