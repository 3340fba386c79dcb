/*
 * remember.c - answers that count for the runs to come.
 */
#include "cli/remember.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "cli/config.h"

static const struct mem libc_mem;

static bool file_path(struct buf *out)
{
    bool known = data_folder(out);

    if (known)
        buf_cstr(out, "/approvals");
    return known;
}

/* A name, or a name and something in parentheses. */
static bool is_rule(wend_str line)
{
    const char *name = line.ptr + (line.ptr[0] == '!' || line.ptr[0] == '?');
    const char *open = strchr(name, '(');

    return *name && open != name && (!open || line.ptr[line.len - 1] == ')');
}

/* From the end: what was said last counts. */
static wend_status take_lines(wend_str text, const char *path,
                              struct words *out, struct arena *a,
                              wend_error *err)
{
    size_t end = text.len;

    while (end) {
        size_t begin = end;
        wend_str line;

        while (begin && text.ptr[begin - 1] != '\n')
            begin--;
        line = arena_str(a, (wend_str){text.ptr + begin, end - begin});
        end = begin ? begin - 1 : 0;
        if (!line.ptr)
            return fail_nomem(err);
        if (!line.len || line.ptr[0] == '#')
            continue;
        if (!is_rule(line))
            return fail(err, WEND_E_PARSE, "%.200s: '%.100s' is no rule", path,
                        line.ptr);
        if (!words_add(out, line.ptr, a))
            return fail_nomem(err);
    }
    return WEND_OK;
}

wend_status remember_rules(struct words *out, struct arena *a, wend_error *err)
{
    struct buf path = {.mem = &libc_mem}, text = {.mem = &libc_mem};
    wend_status s = WEND_OK;

    if (file_path(&path) && !access(path.ptr, F_OK)) {
        s = config_read(path.ptr, &text, err);
        if (s == WEND_OK)
            s = take_lines(buf_view(&text), path.ptr, out, a, err);
    }
    if (path.failed || text.failed)
        s = fail_nomem(err);
    buf_free(&path);
    buf_free(&text);
    return s;
}

bool remember_can(wend_str rule)
{
    if (!rule.len || rule.ptr[0] == '#' || rule.len > 4096)
        return false;
    for (size_t i = 0; i < rule.len; i++)
        if ((unsigned char)rule.ptr[i] < ' ')
            return false;
    return true;
}

/* The directories above it, only for the user. */
static void make_parents(char *path)
{
    for (char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
        *p = 0;
        mkdir(path, 0700); /* what matters is whether the file opens */
        *p = '/';
    }
}

wend_status remember_add(wend_str rule, wend_error *err)
{
    struct buf path = {.mem = &libc_mem}, line = {.mem = &libc_mem};
    wend_status s;
    int fd;

    if (!file_path(&path))
        return fail(err, WEND_E_NOTFOUND,
                    "neither XDG_DATA_HOME nor HOME is set");
    buf_str(&line, rule);
    buf_char(&line, '\n');
    if (path.failed || line.failed) {
        s = fail_nomem(err);
        goto done;
    }
    make_parents(path.ptr);
    fd = open(path.ptr, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) {
        s = fail(err, WEND_E_IO, "%.200s: %s", path.ptr, strerror(errno));
        goto done;
    }
    /* One write, so that two runs do not mix their lines. */
    s = write(fd, line.ptr, line.len) == (ssize_t)line.len
            ? WEND_OK
            : fail(err, WEND_E_IO, "%.200s: %s", path.ptr, strerror(errno));
    close(fd);
done:
    buf_free(&path);
    buf_free(&line);
    return s;
}
