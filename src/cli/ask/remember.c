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
#include "cli/file_out.h"
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

bool remember_path(struct buf *out)
{
    bool ok = data_folder(out);

    if (ok)
        buf_cstr(out, "/approvals");
    return ok;
}

/* The text is NUL-terminated in the arena. False: it holds no rule. */
static bool read_line(wend_str line, const char *here,
                      struct remembered_line *out)
{
    const char *tab =
        line.len && line.ptr[0] == '/' ? strchr(line.ptr, '\t') : NULL;

    if (!line.len || line.ptr[0] == '#')
        return false;
    out->rule = tab ? str_of(tab + 1) : line;
    out->folder =
        tab ? (wend_str){line.ptr, (size_t)(tab - line.ptr)} : STR_NONE;
    out->here = !tab || (here && str_is(out->folder, here));
    return true;
}

/* From the end: the last answer applies. */
static wend_status each_line(wend_str text, remembered_line_fn fn, void *ctx,
                             struct arena *a, wend_error *err)
{
    char room[PATH_MAX];
    const char *here = getcwd(room, sizeof room);
    struct remembered_line k = {0};
    wend_status s = WEND_OK;
    size_t end = text.len;

    for (size_t i = 0; i < text.len; i++)
        k.line += text.ptr[i] == '\n';
    k.line += end && text.ptr[end - 1] != '\n';
    if (end && text.ptr[end - 1] == '\n')
        end--;
    while (s == WEND_OK && k.line) {
        size_t begin = end;
        wend_str line;

        while (begin && text.ptr[begin - 1] != '\n')
            begin--;
        line = arena_str(a, (wend_str){text.ptr + begin, end - begin});
        end = begin ? begin - 1 : 0;
        if (read_line(line, here, &k))
            s = fn(ctx, &k, err);
        k.line--;
    }
    return s;
}

wend_status remember_each(remembered_line_fn fn, void *ctx, struct arena *a,
                          wend_error *err)
{
    struct buf path = {.mem = &cli_mem}, text = {.mem = &cli_mem};
    wend_status s;

    if (!remember_path(&path))
        return WEND_OK;
    s = data_file_read(path.ptr, &text, err);
    if (!s)
        s = each_line(buf_view(&text), fn, ctx, a, err);
    return s == WEND_E_NOTFOUND ? WEND_OK : s;
}

struct rules {
    struct words *out;
    struct arena *arena;
    struct buf path;
};

static wend_status take_rule(void *ctx, const struct remembered_line *k,
                             wend_error *err)
{
    struct rules *r = ctx;

    if (k->here && !is_rule(k->rule))
        return fail(err, WEND_E_PARSE, "%.200s: '%.100s' is not a valid rule",
                    r->path.ptr, k->rule.ptr);
    if (k->here && still_holds(k->rule, r->path.ptr))
        words_add(r->out, k->rule.ptr, r->arena);
    return WEND_OK;
}

wend_status remember_rules(struct words *out, struct arena *a, wend_error *err)
{
    struct rules r = {out, a, {.mem = &cli_mem}};

    remember_path(&r.path);
    return remember_each(take_rule, &r, a, err);
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

/* ---- Forgetting -----------------------------------------------------------
 */

/* Copies the lines but those of the rule that apply here. */
static size_t without(struct cli *cli, wend_str text, const char *rule,
                      struct buf *out)
{
    char room[PATH_MAX];
    const char *here = getcwd(room, sizeof room);
    size_t found = 0;
    wend_str line;

    while (str_line(&text, &line)) {
        struct remembered_line k;
        bool is = read_line(arena_str(&cli->arena, line), here, &k) && k.here &&
                  str_is(k.rule, rule);

        found += is;
        if (is)
            continue;
        buf_str(out, line);
        buf_char(out, '\n');
    }
    return found;
}

int remember_forget(struct cli *cli, const char *rule, size_t *lines)
{
    struct buf path = {.mem = &cli_mem}, text = path, rest = path;
    struct file_out f;
    wend_status s;
    int code;

    *lines = 0;
    if (!remember_path(&path))
        return EXIT_DONE;
    s = data_file_read(path.ptr, &text, &cli->err);
    if (s == WEND_E_NOTFOUND)
        return EXIT_DONE;
    if (s != WEND_OK)
        return report(cli, s);
    *lines = without(cli, buf_view(&text), rule, &rest);
    if (!*lines)
        return EXIT_DONE;
    code = file_out_open(&f, path.ptr, FILE_OUT_PRIVATE);
    if (code)
        return code;
    file_out_write(&f, buf_view(&rest));
    return file_out_close(&f, EXIT_DONE);
}
