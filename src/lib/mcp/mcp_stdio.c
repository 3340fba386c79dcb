/*
 * mcp_stdio.c - a server of tools that is a program: messages are lines on
 * its standard streams.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/redact.h"
#include "base/utf8.h"
#include "host/proc/proc.h"
#include "lib/mcp/mcp.h"
#include "wire/http/http.h"

enum {
    STDERR_KEPT = 4 << 10, /* bytes of what it said last, for messages */
    LINE_SHOWN = 400,      /* bytes of each */
    LINES_SHOWN = 10,      /* of it, if the program did not start */
    READABLE_MAX = 32,     /* paths among its arguments */
    VARIABLES_MAX = 64,
};

struct mcp_stdio {
    struct mcp_server *server;
    struct proc *proc;
    struct sse lines;
    size_t idle_bytes;     /* since the last request */
    int64_t heard;         /* ids that were given until then */
    struct buf said;       /* on its standard error */
    struct redact *hidden; /* in what it says, one a secret */
    size_t hidden_count;
    const char *broken; /* why it was stopped */
};

/* ---- What the program says ----------------------------------------------- */

static bool on_line(void *ctx, wend_str name, wend_str data)
{
    struct mcp_stdio *l = ctx;

    (void)name;
    mcp_server_text(l->server, data);
    return l->server->phase != PHASE_DOWN;
}

/* It will end, and that is told then. */
static void break_off(struct mcp_stdio *l, const char *why)
{
    if (l->broken)
        return;
    l->broken = why;
    proc_stop(l->proc);
}

/* The last bytes are the ones that say why it ended. Secrets go before the text
 * is cut: half of one would not be known. */
static void on_said(struct mcp_stdio *l, const char *p, size_t len)
{
    struct buf *b = &l->said;
    size_t from = b->len;

    buf_add(b, p, len);
    if (b->failed)
        return;
    for (size_t i = 0; i < l->hidden_count; i++)
        redact(&l->hidden[i], b->ptr + from, len);
    if (b->len <= STDERR_KEPT)
        return;
    memmove(b->ptr, b->ptr + b->len - STDERR_KEPT, STDERR_KEPT + 1);
    b->len = STDERR_KEPT;
}

static void on_out(void *ctx, int stream, const char *p, size_t len)
{
    struct mcp_stdio *l = ctx;
    wend_status s;

    if (stream == 2)
        on_said(l, p, len);
    if (stream == 2 || l->broken)
        return;
    if (l->server->machine.ids != l->heard) {
        l->heard = l->server->machine.ids;
        l->idle_bytes = 0;
    }
    l->idle_bytes += len;
    s = sse_feed(&l->lines, p, len, on_line, l);
    if (s == WEND_E_LIMIT)
        break_off(l, "it sent a line of over 16 MiB");
    else if (s != WEND_OK) {
        l->server->nomem = true;
        break_off(l, "out of memory");
    } else if (l->idle_bytes > RESPONSE_BYTES_MAX)
        break_off(l, "it sent over 64 MiB without a request");
}

/* The last line of it that has any words. */
static const char *last_words(struct mcp_stdio *l)
{
    struct buf *b = &l->said;
    const char *line;

    while (b->len && (unsigned char)b->ptr[b->len - 1] <= ' ')
        b->ptr[--b->len] = 0;
    line = b->len ? strrchr(b->ptr, '\n') : NULL;
    return line ? line + 1 : buf_view(b).ptr;
}

/* A path in the command is there for the program to read. */
static void take_paths(const struct mcp_server *s,
                       const char *list[READABLE_MAX + 1])
{
    struct stat st;
    size_t n = 0;

    for (size_t i = 0; s->command[i] && n < READABLE_MAX; i++)
        if (s->command[i][0] == '/' && !stat(s->command[i], &st))
            list[n++] = s->command[i];
    list[n] = NULL;
}

/* The last LINES_SHOWN lines. */
static wend_str last_lines(const struct mcp_stdio *l)
{
    wend_str all = buf_view(&l->said);
    size_t at = all.len;

    for (int lines = 0; at; at--)
        if (all.ptr[at - 1] == '\n' && ++lines == LINES_SHOWN)
            break;
    return str_skip(all, at);
}

static void put_lines(struct buf *out, const struct mcp_stdio *l)
{
    struct buf text = {.mem = &l->server->mem};

    utf8_repair(&text, last_lines(l));
    for (const char *line = buf_view(&text).ptr; *line;) {
        wend_str all = {line, strcspn(line, "\n")};

        mcp_server_tell(l->server, MCP_NOTE, "| %.*s",
                        (int)utf8_cut(all, LINE_SHOWN), line);
        buf_fmt(out, "\n| %.*s", (int)utf8_cut(all, LINE_SHOWN), line);
        line += all.len + (line[all.len] == '\n');
    }
    out->failed |= text.failed;
    buf_free(&text);
}

static void put_reach(struct buf *out, const struct mcp_server *s)
{
    const char *readable[READABLE_MAX + 1];

    take_paths(s, readable);
    buf_fmt(out, "the sandbox let it read the system's folders, %s", s->cwd);
    for (size_t i = 0; readable[i]; i++)
        buf_fmt(out, ", %s", readable[i]);
    if (!s->network)
        buf_cstr(out, "; it had no network");
}

/* Mostly it says what it did not find: a module, a file, a host. Notes are
 * lines; the event is one. */
static void tell_start(const struct mcp_stdio *l)
{
    struct mcp_server *s = l->server;
    struct buf text = {.mem = &s->mem}, reach = {.mem = &s->mem};

    buf_fmt(&text, "mcp %s: it said:", s->name.ptr);
    put_lines(&text, l);
    if (!s->sandbox_off) {
        put_reach(&reach, s);
        mcp_server_tell(s, MCP_NOTE, "%s", buf_view(&reach).ptr);
        buf_char(&text, '\n');
        buf_str(&text, buf_view(&reach));
    }
    if (s->agent && !text.failed)
        mcp_trouble_tell(s->agent, s->name, MCP_SAID, true, buf_view(&text));
    buf_free(&text);
    buf_free(&reach);
}

static void on_end(void *ctx, const struct proc_end *end)
{
    struct mcp_stdio *l = ctx;
    const char *words = last_words(l);
    char why[900];

    utf8_fmt(why, sizeof why, "%s%s%.300s",
             l->broken         ? l->broken
             : end->message[0] ? end->message
                               : "the program ended",
             *words ? "; it said: " : "", words);
    proc_free(l->proc);
    l->proc = NULL;
    mcp_server_lost(l->server, why);
    if (l->server->phase == PHASE_DOWN && !l->server->was_up)
        tell_start(l);
}

static const struct proc_events events = {on_out, on_end};

/* ---- Starting it --------------------------------------------------------- */

/* Nothing else of our environment is its business; the working directory is
 * its home, since the user's own is out of its reach. */
static void take_environment(const struct mcp_server *s, struct buf *texts,
                             const char *list[VARIABLES_MAX + 1])
{
    static const char *const names[] = {"PATH", "LANG", "LC_ALL", "LC_CTYPE",
                                        "TZ"};
    size_t n = 0, at = 0;

    buf_fmt(texts, "HOME=%s", s->cwd);
    buf_char(texts, 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);

        if (!value)
            continue;
        buf_fmt(texts, "%s=%s", names[i], value);
        buf_char(texts, 0);
    }
    for (; !texts->failed && at < texts->len; at += strlen(list[n++]) + 1)
        list[n] = texts->ptr + at;
    for (size_t i = 0; s->secrets[i] && n < VARIABLES_MAX; i++)
        list[n++] = s->secrets[i];
    list[n] = NULL;
}

static wend_status link_new(struct mcp_server *s, wend_error *err)
{
    struct mcp_stdio *l = mem_zalloc(&s->mem, sizeof *l);

    if (!l)
        return fail_nomem(err);
    l->server = s;
    while (s->secrets[l->hidden_count])
        l->hidden_count++;
    l->hidden =
        arena_alloc(&s->arena, (l->hidden_count + 1) * sizeof *l->hidden);
    if (!l->hidden) {
        mem_free(&s->mem, l);
        return fail_nomem(err);
    }
    for (size_t i = 0; i < l->hidden_count; i++)
        l->hidden[i].secret = str_of(strchr(s->secrets[i], '=') + 1);
    l->said.mem = &s->mem;
    s->link = l;
    return WEND_OK;
}

static wend_status stdio_open(struct mcp_server *s, wend_error *err)
{
    struct mcp_stdio *l = s->link;
    struct buf texts = {.mem = &s->mem};
    const char *env[VARIABLES_MAX + 1], *readable[READABLE_MAX + 1];
    const char *writable[] = {s->cwd, NULL};
    struct proc_spec spec = {.argv = s->command,
                             .cwd = s->cwd,
                             .env = env,
                             .input_open = true,
                             .sandbox_off = s->sandbox_off,
                             .network = s->network,
                             .writable = writable,
                             .readable = readable,
                             .output_bytes_max = SIZE_MAX};
    struct procs *procs;
    wend_status st = l ? WEND_OK : link_new(s, err);

    if (st != WEND_OK)
        return st;
    l = s->link;
    proc_free(l->proc);
    l->proc = NULL;
    l->broken = NULL;
    buf_clear(&l->said);
    sse_free(&l->lines);
    sse_init(&l->lines, &s->mem, SSE_LINES, LINE_BYTES_MAX);
    take_environment(s, &texts, env);
    take_paths(s, readable);
    st = texts.failed ? fail_nomem(err) : rt_procs(s->rt, &procs, err);
    if (st == WEND_OK)
        st = proc_start(procs, &spec, &events, l, &l->proc, err);
    buf_free(&texts);
    return st;
}

/* ---- The link ------------------------------------------------------------ */

static void stdio_send(struct mcp_server *s, const struct mcp_send *m)
{
    struct mcp_stdio *l = s->link;
    wend_status st;

    if (!l->proc || l->broken)
        return; /* its end is on its way */
    st = proc_write(l->proc, m->body.ptr, m->body.len, NULL);
    if (st == WEND_OK)
        st = proc_write(l->proc, "\n", 1, NULL);
    l->server->nomem |= st == WEND_E_NOMEM;
    if (st == WEND_E_LIMIT)
        break_off(l, "it does not read what it is sent");
    else if (st == WEND_E_NOMEM)
        break_off(l, "out of memory");
    else if (st != WEND_OK)
        break_off(l, "it reads no more");
}

static void stdio_bye(struct mcp_server *s)
{
    struct mcp_stdio *l = s->link;

    if (l && l->proc)
        proc_close_input(l->proc);
}

static void stdio_close(struct mcp_server *s)
{
    struct mcp_stdio *l = s->link;

    if (!l)
        return;
    s->link = NULL;
    proc_free(l->proc);
    sse_free(&l->lines);
    buf_free(&l->said);
    mem_free(&s->mem, l);
}

const struct mcp_link_ops mcp_stdio_ops = {
    .open = stdio_open,
    .send = stdio_send,
    .bye = stdio_bye,
    .close = stdio_close,
};
