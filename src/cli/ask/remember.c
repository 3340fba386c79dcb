/*
 * remember.c - answers to approvals that apply to later runs.
 */
#include "cli/ask/remember.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "cli/config.h"
#include "cli/trust.h"
#include "wire/file/manifest.h"

enum { RULE_BYTES_MAX = 500 }; /* it is shown whole before it is kept */

/* A name, or a name with a part in parentheses. */
static bool is_rule(wend_str line)
{
    const char *name = line.ptr + (line.ptr[0] == '!' || line.ptr[0] == '?');
    const char *open = strchr(name, '(');

    return *name && open != name && (!open || line.ptr[line.len - 1] == ')');
}

/* An answer from an older version may no longer be a valid rule: report and
 * skip it, so that the question is asked again. */
static bool still_holds(wend_str rule, const char *path)
{
    wend_error why = {0};

    if (manifest_rule_check(rule, &why) == WEND_OK)
        return true;
    complain(EXIT_DONE, "%.200s: skipped: %s", path, why.message);
    return false;
}

/* The rule of a line, absent if it is for another directory. */
static wend_str rule_of(wend_str line, const char *here)
{
    const char *tab = line.ptr[0] == '/' ? strchr(line.ptr, '\t') : NULL;
    wend_str folder = {line.ptr, tab ? (size_t)(tab - line.ptr) : 0};

    if (!tab)
        return line;
    return here && str_is(folder, here) ? str_of(tab + 1) : STR_NONE;
}

/* From the end: the last answer applies. */
static wend_status take_lines(wend_str text, const char *path,
                              struct words *out, struct arena *a,
                              wend_error *err)
{
    char room[PATH_MAX];
    const char *here = getcwd(room, sizeof room);
    size_t end = text.len;

    while (end) {
        size_t begin = end;
        wend_str line, rule;

        while (begin && text.ptr[begin - 1] != '\n')
            begin--;
        line = arena_str(a, (wend_str){text.ptr + begin, end - begin});
        end = begin ? begin - 1 : 0;
        if (!line.len || line.ptr[0] == '#')
            continue;
        rule = rule_of(line, here);
        if (rule.ptr && !is_rule(rule))
            return fail(err, WEND_E_PARSE,
                        "%.200s: '%.100s' is not a valid rule", path, rule.ptr);
        if (rule.ptr && still_holds(rule, path))
            words_add(out, rule.ptr, a);
    }
    return WEND_OK;
}

wend_status remember_rules(struct words *out, struct arena *a, wend_error *err)
{
    struct buf path = {.mem = &cli_mem}, text = {.mem = &cli_mem};
    wend_status s;

    if (!data_folder(&path))
        return WEND_OK;
    buf_cstr(&path, "/approvals");
    s = data_file_read(path.ptr, &text, err);
    if (!s)
        s = take_lines(buf_view(&text), path.ptr, out, a, err);
    return s == WEND_E_NOTFOUND ? WEND_OK : s;
}

static bool is_plain(const char *s, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)s[i] < ' ')
            return false;
    return true;
}

bool remember_can(wend_str rule)
{
    char here[PATH_MAX];

    return rule.len && rule.ptr[0] != '#' && rule.len <= RULE_BYTES_MAX &&
           is_plain(rule.ptr, rule.len) && getcwd(here, sizeof here) &&
           is_plain(here, strlen(here));
}

wend_status remember_add(wend_str rule, wend_error *err)
{
    struct buf path = {.mem = &cli_mem}, line = {.mem = &cli_mem};
    char here[PATH_MAX];
    wend_status s;
    int fd = -1;

    if (!data_folder(&path))
        return fail(err, WEND_E_NOTFOUND,
                    "neither XDG_DATA_HOME nor HOME is set");
    buf_fmt(&line, "%s\t", getcwd(here, sizeof here) ? here : "");
    buf_str(&line, rule);
    buf_char(&line, '\n');
    s = data_folder_make(&path, err);
    if (s)
        return s;
    buf_cstr(&path, "/approvals");
    fd = open(path.ptr, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    /* One write keeps the lines of two runs apart. */
    if (fd < 0 || write(fd, line.ptr, line.len) != (ssize_t)line.len)
        s = fail(err, WEND_E_IO, "%.200s: %s", path.ptr, strerror(errno));
    if (fd >= 0)
        close(fd);
    return s;
}
