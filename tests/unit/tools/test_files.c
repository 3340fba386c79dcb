/*
 * test_files.c - read_file and list_dir on a directory of their own.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/utf8.h"
#include "fault.h"
#include "host/path.h"
#include "tap.h"
#include "tools/tools.h"

static char base[64] = "/tmp/wend-files-XXXXXX";
static int root_fd;

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
    if (!mkdtemp(base))
        return false;
    root_fd = path_root(base, NULL);
    return root_fd >= 0 && put("three", STR("one\ntwo\nthree\n")) &&
           put("open", STR("one\ntwo")) && put("empty", STR("")) &&
           put("newline", STR("\n")) && put("crlf", STR("a\r\nb\r\n")) &&
           put("bad", STR("a\xff\xfe"
                          "b\xc3\n")) &&
           put("binary", STR("a\0b")) && !mkdirat(root_fd, "dir", 0755) &&
           !mkfifoat(root_fd, "fifo", 0644);
}

static void tear_down(void)
{
    char command[96];

    close(root_fd);
    snprintf(command, sizeof command, "rm -rf '%s'", base);
    if (system(command))
        printf("# could not remove %s\n", base);
}

/* ---- read_file ------------------------------------------------------------
 */

static const struct {
    const char *why, *path;
    int64_t offset, limit;
    const char *text; /* NULL: refused ... */
    const char *message;
} reads[] = {
    {"all of it", "three", 1, 0, "one\ntwo\nthree\n", ""},
    {"from a line on", "three", 2, 0, "two\nthree\n", ""},
    {"some lines", "three", 1, 2, "one\ntwo\n", ""},
    {"one in the middle", "three", 2, 1, "two\n", ""},
    {"more than there are", "three", 3, 99, "three\n", ""},
    {"as many as can be said", "three", 3, INT64_MAX, "three\n", ""},
    {"a last line that is not ended", "open", 2, 1, "two", ""},
    {"an empty file", "empty", 1, 0, "", ""},
    {"an empty line", "newline", 1, 0, "\n", ""},
    {"other line ends stay", "crlf", 2, 0, "b\r\n", ""},
    {"invalid UTF-8 is repaired", "bad", 1, 0,
     "a\xef\xbf\xbd\xef\xbf\xbd"
     "b\xef\xbf\xbd\n",
     ""},
    {"past the end", "three", 4, 0, NULL,
     "offset 4 is past the end: 'three' has 3 lines"},
    {"past an end that is not ended", "open", 3, 0, NULL,
     "offset 3 is past the end: 'open' has 2 lines"},
    {"past an empty file", "empty", 2, 0, NULL,
     "offset 2 is past the end: 'empty' has 0 lines"},
    {"far past the end", "three", INT64_MAX, INT64_MAX, NULL,
     "offset 9223372036854775807 is past the end: 'three' has 3 lines"},
    {"binary", "binary", 1, 0, NULL, "'binary' is a binary file of 3 bytes"},
    {"a directory", "dir", 1, 0, NULL, "'dir' is a directory; use list_dir"},
    {"a fifo", "fifo", 1, 0, NULL, "'fifo' is not a regular file"},
    {"nothing there", "elsewhere", 1, 0, NULL,
     "no such file: 'elsewhere' (beneath the working directory)"},
    {"nothing there, but near", "thre", 1, 0, NULL,
     "no such file: 'thre' (beneath the working directory); did you mean "
     "'three'?"},
    {"a directory that is near", "dirr/a", 1, 0, NULL,
     "no such file: 'dirr/a' (beneath the working directory); did you mean "
     "'dir'?"},
    {"outside", "../x", 1, 0, NULL, "path '../x' leaves the working directory"},
};

static void test_reads(void)
{
    struct mem m = {0};

    for (size_t i = 0; i < tap_count(reads); i++) {
        struct buf b = {.mem = &m};
        struct read_range range = {reads[i].offset, reads[i].limit};
        wend_error err = {0};
        wend_status s = read_file_text(root_fd, str_of(reads[i].path), range,
                                       NULL, &b, &err);

        tap_is_str(s ? STR_NONE : buf_view(&b), reads[i].text, "read: %s",
                   reads[i].why);
        tap_is_str(err.message, reads[i].message, "  in words");
        tap_is_i64(err.status, s, "  with that status");
        buf_free(&b);
    }
}

/* Makes a file of `count` times `part`, reads it, and gives the answer. */
static wend_str read_many(struct buf *b, const char *part, size_t count,
                          int64_t offset)
{
    struct read_range range = {offset, 0};

    buf_clear(b);
    for (size_t i = 0; i < count; i++)
        buf_cstr(b, part);
    put("many", buf_view(b));
    buf_clear(b);
    read_file_text(root_fd, STR("many"), range, NULL, b, NULL);
    return buf_view(b);
}

static bool ends_with(wend_str s, const char *end)
{
    size_t len = strlen(end);

    return s.len >= len && !memcmp(s.ptr + s.len - len, end, len);
}

static void test_cuts(void)
{
    struct mem m = {0};
    struct buf b = {.mem = &m};
    wend_str s;

    s = read_many(&b, "x", OUTPUT_BYTES_MAX - 1, 1);
    tap_is_i64((int64_t)s.len, OUTPUT_BYTES_MAX - 1, "one below the limit");
    s = read_many(&b, "x", OUTPUT_BYTES_MAX, 1);
    tap_is_i64((int64_t)s.len, OUTPUT_BYTES_MAX, "at the limit");
    s = read_many(&b, "x", OUTPUT_BYTES_MAX + 1, 1);
    tap_ok(s.len <= OUTPUT_BYTES_MAX, "one above is cut");
    tap_ok(ends_with(s, "x\n[truncated: 262016 of 262145 bytes shown; the "
                        "line is too long]"),
           "  and says so");
    s = read_many(&b, "seven.\n", 100000, 1);
    tap_ok(s.len <= OUTPUT_BYTES_MAX, "lines are cut");
    tap_ok(ends_with(s, "seven.\n[truncated: 262010 of 700000 bytes shown; "
                        "use offset 37431 to go on]"),
           "  between lines");
    s = read_many(&b, "seven.\n", 100000, 37431);
    tap_ok(ends_with(s, "use offset 74861 to go on]"), "  and so on");
    s = read_many(&b, "seven.\n", 100000, 74861);
    tap_is_i64((int64_t)s.len, (100000 - 74860) * 7, "  to the end");
    /* 5461 lines and a byte fill the first block: CR and LF are apart. */
    s = read_many(&b, "x\r\n", 10000, 5462);
    tap_is_i64((int64_t)s.len, (10000 - 5461) * 3,
               "a line end over two blocks");
    tap_ok(str_starts(s, "x\r\nx\r\n"), "  from the right line on");
    s = read_many(&b, "\xe2\x82\xac", 100000, 1);
    tap_ok(s.len <= OUTPUT_BYTES_MAX && utf8_valid_len(s) == s.len &&
               !strstr(s.ptr, "\xef\xbf\xbd"),
           "no code point is cut in two");
    s = read_many(&b, "\xff", 200000, 1);
    tap_ok(s.len <= OUTPUT_BYTES_MAX && utf8_valid_len(s) == s.len &&
               strstr(s.ptr, "[truncated: "),
           "repairs that make it longer are cut, too");
    buf_free(&b);
}

/* ---- list_dir -------------------------------------------------------------
 */

static void test_list(void)
{
    struct mem m = {0};
    struct buf b = {.mem = &m};
    wend_error err = {0};

    mkdirat(root_fd, "dir/sub", 0755);
    mkfifoat(root_fd, "dir/pipe", 0644);
    put("dir/b", STR("12345"));
    put("dir/a", STR(""));
    put("dir/Z", STR("1"));
    put("dir/.hidden", STR("1"));
    put("dir/two\nlines\x1b[1m", STR("1"));
    put("dir/back\\slash", STR("1"));
    put("dir/\xc3\xa9\xff", STR("1"));
    put("dir/\xc2\x9b", STR("1"));
    symlinkat("../\x07t", root_fd, "dir/link");
    list_dir_text(root_fd, STR("dir"), NULL, &b, &err);
    tap_is_str(buf_view(&b),
               ".hidden\t1\n"
               "Z\t1\n"
               "a\t0\n"
               "b\t5\n"
               "back\\\\slash\t1\n"
               "link -> ../\\x07t\n"
               "pipe\tfifo\n"
               "sub/\n"
               "two\\x0alines\\x1b[1m\t1\n"
               "\\xc2\\x9b\t1\n"
               "\xc3\xa9\\xff\t1\n",
               "sorted by bytes, marked, escaped %s", err.message);
    buf_clear(&b);
    list_dir_text(root_fd, STR("dir/sub"), NULL, &b, &err);
    tap_is_str(buf_view(&b), "[no entries]\n", "an empty directory");
    tap_is_i64(list_dir_text(root_fd, STR("three"), NULL, &b, &err),
               WEND_E_NOTFOUND, "a file is no directory");
    tap_is_str(err.message, "'three' is not a directory; use read_file",
               "  in words");
    tap_ok(list_dir_text(root_fd, STR(".."), NULL, &b, &err), "outside");
    tap_is_str(err.message, "path '..' leaves the working directory",
               "  in words");
    buf_free(&b);
}

static void make_files(const char *format_dir, int from, int to, int width)
{
    char name[300];

    for (int i = from; i < to; i++) {
        snprintf(name, sizeof name, "%s/%0*d", format_dir, width, i);
        put(name, STR(""));
    }
}

static void test_long_lists(void)
{
    struct mem m = {0};
    struct buf b = {.mem = &m};

    mkdirat(root_fd, "long", 0755);
    make_files("long", 0, LIST_ENTRIES_MAX, 5);
    list_dir_text(root_fd, STR("long"), NULL, &b, NULL);
    tap_ok(ends_with(buf_view(&b), "\n09999\t0\n"), "entries at the limit");
    make_files("long", LIST_ENTRIES_MAX, LIST_ENTRIES_MAX + 1, 5);
    buf_clear(&b);
    list_dir_text(root_fd, STR("long"), NULL, &b, NULL);
    tap_ok(
        ends_with(buf_view(&b), "\n09999\t0\n[10000 of 10001 entries shown]\n"),
        "one above");
    mkdirat(root_fd, "wide", 0755);
    make_files("wide", 0, 1500, 250);
    buf_clear(&b);
    list_dir_text(root_fd, STR("wide"), NULL, &b, NULL);
    tap_ok(b.len <= OUTPUT_BYTES_MAX &&
               ends_with(buf_view(&b), " of 1500 entries shown]\n"),
           "long names are cut by their bytes");
    buf_free(&b);
}

/* ---- Without memory -------------------------------------------------------
 */

static void test_no_memory(void)
{
    struct fault f = {0};
    struct read_range range = {1, 0};
    int bad = 0;

    while (fault_next(&f)) {
        struct mem m = fault_mem(&f);
        struct buf b = {.mem = &m};
        wend_status s =
            read_file_text(root_fd, STR("bad"), range, NULL, &b, NULL);

        bad += (s || b.failed) != f.hit;
        buf_free(&b);
        bad += f.live != 0;
    }
    tap_is_i64(bad, 0, "read_file without memory");
    f = (struct fault){0};
    while (fault_next(&f)) {
        struct mem m = fault_mem(&f);
        struct buf b = {.mem = &m};
        wend_status s = list_dir_text(root_fd, STR("dir"), NULL, &b, NULL);

        bad += (s || b.failed) != f.hit;
        buf_free(&b);
        bad += f.live != 0;
    }
    tap_is_i64(bad, 0, "list_dir without memory");
}

/* ---- The table ------------------------------------------------------------
 */

static void test_table(void)
{
    static const char *const names[] = {"read_file", "list_dir", "write_file",
                                        "edit_file", "glob",     "grep"};
    struct mem m = {0};
    const struct builtin *b;

    for (size_t i = 0; i < tap_count(names); i++) {
        struct arena a = {.mem = &m};
        const struct json *schema, *subject;

        b = builtin_find(names[i]);
        tap_ok(b != NULL, "%s is in the table", names[i]);
        if (!b)
            continue;
        schema = json_parse(b->info.schema, &a, NULL);
        subject = json_get(json_get(schema, "properties"), b->subject);
        tap_is_str(json_str(json_get(schema, "type")), "object",
                   "  its schema is one");
        tap_is_str(json_str(json_get(subject, "type")), "string",
                   "  its subject is a string");
        tap_ok(json_get(schema, "additionalProperties") &&
                   json_get(schema, "additionalProperties")->kind == JSON_FALSE,
               "  nothing else is accepted");
        arena_free(&a);
    }
    for (size_t i = 0; (b = builtin_at(i)); i++)
        tap_ok(b == builtin_find(b->info.name.ptr) &&
                   &b->info == wend_builtin(i),
               "%s is found by its name", b->info.name.ptr);
    tap_ok(!wend_builtin(1000), "the table ends");
    tap_ok(!builtin_find("wurst") && !builtin_find(NULL), "unknown names");
}

int main(void)
{
    if (tap_ok(set_up(), "a directory to work in")) {
        test_reads();
        test_cuts();
        test_list();
        test_long_lists();
        test_no_memory();
    }
    test_table();
    tear_down();
    return tap_done();
}
