/*
 * mcp_pin.c - which lists of tools the user has accepted, and how a list
 * differs from the accepted one.
 *
 * A file of lines `NAME IDENTITY HASH`, only ever added to, so that two
 * processes may write at once; the last line about a server counts. It is
 * the user's alone. The lists themselves are files named by their hash, in a
 * folder beside it: they only serve to show what changed. That goes through
 * notes, a line each. The words are the server's, so nothing in them may end
 * a line or hide.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/utf8.h"
#include "host/file.h"
#include "lib/mcp/mcp.h"

enum {
    PINS_BYTES_MAX = 4 << 20,
    LIST_BYTES_MAX = 16 << 20, /* of one list; a longer one is not kept */
    LINES_MAX = 200,           /* of notes about one list */
    SHOWN_BYTES = 300,         /* of a text, from where it differs */
    BEFORE_BYTES = 40,         /* of what is the same before it */
};

static wend_status find_path(const char *path, struct buf *out, wend_error *err)
{
    const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");

    if (path)
        buf_cstr(out, path);
    else if (data && data[0] == '/') /* a relative one is to be ignored */
        buf_fmt(out, "%s/wend/mcp.pins", data);
    else if (home && home[0] == '/')
        buf_fmt(out, "%s/.local/share/wend/mcp.pins", home);
    else
        return fail(err, WEND_E_INVAL,
                    "no place to remember accepted tools of servers: HOME is "
                    "not set");
    return out->failed ? fail_nomem(err) : WEND_OK;
}

/* It becomes the name of a file. */
static void note_hash(char *was, wend_str hash)
{
    was[0] = 0;
    if (hash.len != SHA256_HEX)
        return;
    memcpy(was, hash.ptr, SHA256_HEX);
    was[SHA256_HEX] = 0;
    if (strspn(was, "0123456789abcdef") != SHA256_HEX)
        was[0] = 0;
}

static enum pin search(wend_str text, const struct pin_key *k, const char *hash,
                       char *was)
{
    enum pin found = PIN_NONE;
    wend_str line, name, identity;

    was[0] = 0;
    while (str_line(&text, &line)) {
        str_take(&line, ' ', &name);
        str_take(&line, ' ', &identity);
        if (str_eq(name, k->name) && str_is(identity, k->identity)) {
            found = str_is(line, hash) ? PIN_SAME : PIN_OTHER;
            note_hash(was, line);
        }
    }
    return found;
}

wend_status pin_look(const char *path, const struct pin_key *k,
                     const char *hash, const struct mem *m, enum pin *out,
                     char was[SHA256_HEX + 1], wend_error *err)
{
    struct buf where = {.mem = m}, text = {.mem = m};
    wend_status s = find_path(path, &where, err);

    *out = PIN_NONE;
    was[0] = 0;
    if (s == WEND_OK && file_exists(where.ptr))
        s = file_read(where.ptr, PINS_BYTES_MAX, &text, err);
    if (s == WEND_OK)
        *out = search(buf_view(&text), k, hash, was);
    buf_free(&where);
    buf_free(&text);
    return s;
}

static wend_status append(const char *path, wend_str line, wend_error *err)
{
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
                  0600);
    wend_status s = WEND_OK;

    if (fd < 0)
        return fail(err, WEND_E_IO, "%s: %s", path, strerror(errno));
    if (write(fd, line.ptr, line.len) != (ssize_t)line.len || fsync(fd))
        s = fail(err, WEND_E_IO, "%s: cannot be written: %s", path,
                 strerror(errno));
    close(fd);
    return s;
}

static wend_status list_path(const char *path, const char *hash,
                             struct buf *out, wend_error *err)
{
    wend_status s = find_path(path, out, err);

    if (s == WEND_OK)
        buf_fmt(out, ".d/%s", hash);
    return s == WEND_OK && out->failed ? fail_nomem(err) : s;
}

/* An existing file has the same bytes. */
static wend_status keep_list(const char *path, const char *hash, wend_str list,
                             const struct mem *m, wend_error *err)
{
    struct buf where = {.mem = m};
    wend_status s = list_path(path, hash, &where, err);
    int fd = -1;

    if (s == WEND_OK)
        s = file_dirs(where.ptr, err);
    if (s == WEND_OK && !file_exists(where.ptr))
        s = file_create(where.ptr, &fd, err);
    if (s == WEND_OK && fd >= 0)
        s = file_append(fd, where.ptr, list, err);
    file_close(fd);
    buf_free(&where);
    return s == WEND_E_EXISTS ? WEND_OK : s; /* another process was faster */
}

wend_status pin_list(const char *path, const char *hash, const struct mem *m,
                     struct buf *out, wend_error *err)
{
    struct buf where = {.mem = m};
    wend_status s = list_path(path, hash, &where, err);

    if (s == WEND_OK && hash[0] && file_exists(where.ptr))
        s = file_read(where.ptr, LIST_BYTES_MAX, out, err);
    buf_free(&where);
    return s;
}

wend_status pin_keep(const char *path, const struct pin_key *k,
                     const char *hash, wend_str list, const struct mem *m,
                     wend_error *err)
{
    struct buf where = {.mem = m}, line = {.mem = m};
    wend_status s = find_path(path, &where, err);

    buf_str(&line, k->name);
    buf_fmt(&line, " %s %s\n", k->identity, hash);
    if (s == WEND_OK && line.failed)
        s = fail_nomem(err);
    if (s == WEND_OK)
        s = file_dirs(where.ptr, err);
    if (s == WEND_OK && list.len <= LIST_BYTES_MAX)
        s = keep_list(path, hash, list, m, err);
    if (s == WEND_OK)
        s = append(where.ptr, buf_view(&line), err);
    buf_free(&where);
    buf_free(&line);
    return s;
}

/* ---- Lists, for people --------------------------------------------------- */

struct telling {
    struct mcp_server *server;
    size_t lines;
};

void mcp_list_put(struct buf *b, const struct mcp *m)
{
    json_open(b, NULL, '[');
    for (const struct mcp_tool *t = m->tools; t; t = t->next) {
        json_open(b, NULL, '{');
        json_add_str(b, "name", t->name);
        json_add_nullable(b, "description", t->description_all);
        json_add_nullable(b, "schema", t->schema_all);
        json_add_nullable(b, "annotations", t->annotations);
        json_close(b, '}');
    }
    json_close(b, ']');
}

/* On one line, with nothing hidden in it; at most SHOWN_BYTES of it. */
static void put_visible(struct buf *b, wend_str text)
{
    size_t most = utf8_cut(text, SHOWN_BYTES), len;
    struct utf8_before before = {0};

    for (size_t i = 0; i < most; i += len) {
        wend_str rest = {text.ptr + i, text.len - i};
        uint32_t c = utf8_first(rest, &len);
        bool hides = utf8_hides(&before, c);

        if (c == '\n' || c == '\t' || c == '\r')
            buf_char(b, ' ');
        else if (hides)
            buf_cstr(b, "\xEF\xBF\xBD");
        else
            buf_add(b, rest.ptr, len);
    }
    if (most < text.len)
        buf_fmt(b, "... (%zu bytes more)", text.len - most);
}

/* One note: mark, name, and what changed. */
static void tell(struct telling *t, const char *mark, wend_str name,
                 const char *what, wend_str text)
{
    struct buf b = {.mem = &t->server->mem};

    if (t->lines++ >= LINES_MAX)
        return;
    buf_cstr(&b, mark);
    put_visible(&b, name);
    buf_cstr(&b, what);
    put_visible(&b, text);
    if (!b.failed) {
        mcp_server_hide(t->server, b.ptr, b.len);
        mcp_server_tell(t->server, MCP_NOTE, "%s", b.ptr);
    }
    buf_free(&b);
}

static void end_telling(const struct telling *t)
{
    if (t->lines > LINES_MAX)
        mcp_server_tell(t->server, MCP_NOTE, "... and %zu lines more",
                        t->lines - LINES_MAX);
}

void mcp_list_tell(struct mcp_server *s)
{
    struct telling t = {.server = s};

    for (const struct mcp_tool *x = s->machine.tools; x; x = x->next)
        tell(&t, "+ ", x->name, ": ", x->description_all);
    end_telling(&t);
}

/* Where two texts part, a little before it. */
static size_t parting(wend_str a, wend_str b)
{
    size_t n = 0, most = a.len < b.len ? a.len : b.len;

    while (n < most && a.ptr[n] == b.ptr[n])
        n++;
    return utf8_cut(a, n > BEFORE_BYTES ? n - BEFORE_BYTES : 0);
}

static void tell_field(struct telling *t, wend_str name, const char *field,
                       wend_str was, wend_str is)
{
    struct buf what = {.mem = &t->server->mem};
    size_t from;

    if (str_eq(was, is))
        return;
    from = parting(was, is);
    buf_fmt(&what, ", %s was: %s", field, from ? "..." : "");
    tell(t, "- ", name, buf_view(&what).ptr, str_skip(was, from));
    buf_clear(&what);
    buf_fmt(&what, ", %s is: %s", field, from ? "..." : "");
    tell(t, "+ ", name, buf_view(&what).ptr, str_skip(is, from));
    buf_free(&what);
}

static const struct json *entry_named(const struct json *list, wend_str name)
{
    const struct json *j = list->first;

    while (j && !str_eq(json_get_str(j, "name"), name))
        j = j->next;
    return j;
}

static wend_str text_in(const struct json *entry, const char *key)
{
    return str_or(json_get_str(entry, key), "");
}

static void compare(struct telling *t, const struct json *accepted)
{
    const struct mcp *m = &t->server->machine;

    for (const struct json *j = accepted->first; j; j = j->next)
        if (!mcp_tool_named(m, text_in(j, "name")))
            tell(t, "- ", text_in(j, "name"), " is gone", STR(""));
    for (const struct mcp_tool *x = m->tools; x; x = x->next) {
        const struct json *was = entry_named(accepted, x->name);

        if (!was) {
            tell(t, "+ ", x->name, " is new: ", x->description_all);
            continue;
        }
        tell_field(t, x->name, "description", text_in(was, "description"),
                   x->description_all);
        tell_field(t, x->name, "schema", text_in(was, "schema"), x->schema_all);
        tell_field(t, x->name, "annotations", text_in(was, "annotations"),
                   x->annotations);
    }
}

void mcp_list_differ(struct mcp_server *s, wend_str accepted)
{
    struct arena a = {.mem = &s->mem};
    struct telling t = {.server = s};
    const struct json *list =
        accepted.len ? json_parse(accepted, &a, NULL) : NULL;

    if (list && list->kind == JSON_ARRAY)
        compare(&t, list);
    else
        mcp_server_tell(s, MCP_NOTE,
                        "the list that was accepted is not kept, so what "
                        "differs is not known");
    end_telling(&t);
    arena_free(&a);
}
