/*
 * cli.c - what the commands share.
 */
#include "cli/cli.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/id.h"
#include "base/json.h"
#include "cli/trust.h"
#include "cli/config.h"
#include "cli/file_out.h"
#include "cli/term.h"
#include "cli/traces.h"

const char *const on_off_words[] = {"on", "off", NULL};

/* ---- Memory -------------------------------------------------------------- */

/* In front of what was allocated. */
struct pool_block {
    struct pool_block *next, **link; /* link: what points to it */
};
static struct pool_block *blocks;

static void *pool_alloc(void *ctx, void *p, size_t size)
{
    struct pool_block *b = p ? (struct pool_block *)p - 1 : NULL;

    (void)ctx;
    if (b) {
        *b->link = b->next;
        if (b->next)
            b->next->link = b->link;
    }
    if (!size) {
        free(b);
        return NULL;
    }
    b = realloc(b, sizeof *b + size);
    if (!b)
        _exit(complain(EXIT_FAILED, "out of memory"));
    *b = (struct pool_block){blocks, &blocks};
    if (blocks)
        blocks->link = &b->next;
    blocks = b;
    return b + 1;
}

const struct mem cli_mem = {.fn = pool_alloc};

void pool_free(void)
{
    while (blocks)
        pool_alloc(NULL, blocks + 1, 0);
}

/* ---- Saying what is wrong ------------------------------------------------ */

const char *did_you_mean(char out[HINT_BYTES], const char *word,
                         const char *const *names, int n)
{
    const char *near = str_near(str_of(word), names, n);

    out[0] = 0;
    if (near)
        snprintf(out, HINT_BYTES, "; did you mean '%.50s'?", near);
    return out;
}

void str_copy(char *out, size_t size, wend_str s)
{
    snprintf(out, size, "%.*s", (int)s.len, s.ptr ? s.ptr : "");
}

bool read_all(int fd, size_t max, struct buf *text)
{
    enum { PIECE = 64 << 10 };
    ssize_t n = 1;

    while (n && text->len <= max && buf_room(text, PIECE)) {
        n = read(fd, text->ptr + text->len, PIECE);
        if (n < 0 && errno != EINTR)
            return false;
        text->len += n > 0 ? (size_t)n : 0;
        text->ptr[text->len] = 0;
    }
    return true;
}

bool write_all(int fd, wend_str text)
{
    while (text.len) {
        ssize_t n = write(fd, text.ptr, text.len);
        struct pollfd room = {fd, POLLOUT, 0};

        if (n < 0 && errno == EAGAIN)
            poll(&room, 1, -1);
        else if (n < 0 && errno != EINTR)
            return false;
        if (n > 0)
            text = str_skip(text, (size_t)n);
    }
    return true;
}

bool complain_wraps;

/* Not from cli_mem: it may be the lack of memory that is reported, and any
 * thread may report. */
static void say(const char *fmt, va_list args, const char *tail)
{
    static const struct mem libc_mem;
    struct buf out = {.mem = &libc_mem};
    char text[2048];

    vsnprintf(text, sizeof text, fmt, args);
    buf_cstr(&out, "wend: ");
    term_words(&out, str_of(text), out.len, 2,
               complain_wraps ? term_wraps_at(STDERR_FILENO) : 0);
    buf_char(&out, '\n');
    buf_cstr(&out, tail);
    write_all(STDERR_FILENO, buf_view(&out));
    buf_free(&out);
}

int complain(int code, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    say(fmt, args, "");
    va_end(args);
    return code;
}

int usage_error(const struct cli *cli, const char *fmt, ...)
{
    char tail[96];
    va_list args;

    snprintf(tail, sizeof tail, "Try 'wend %s%s--help'.\n",
             cli->command ? cli->command->name : "", cli->command ? " " : "");
    va_start(args, fmt);
    say(fmt, args, tail);
    va_end(args);
    return EXIT_USAGE;
}

bool wants_json(const struct settings *set)
{
    return set->json || set->events >= 0;
}

int exit_of(wend_status s)
{
    switch (s) {
    case WEND_E_STORE:
    case WEND_E_CORRUPT:
    case WEND_E_BUSY: return EXIT_STORE;
    case WEND_E_NOMEM:
    case WEND_E_MISUSE:
    case WEND_E_STALE: return EXIT_FAILED;
    case WEND_OK:
    case WEND_END:
    case WEND_AGAIN: return EXIT_DONE;
    case WEND_E_INVAL:
    case WEND_E_NOTFOUND:
    case WEND_E_EXISTS:
    case WEND_E_LIMIT:
    case WEND_E_PARSE:
    case WEND_E_IO: return EXIT_USAGE;
    }
    return EXIT_FAILED;
}

int report(const struct cli *cli, wend_status s)
{
    struct buf line = {.mem = &cli_mem}, text = {.mem = &cli_mem};
    const char *message =
        cli->err.message[0] ? cli->err.message : wend_status_name(s);
    int code = exit_of(s);

    if (s == WEND_OK)
        return EXIT_DONE;
    if (code == EXIT_STORE && wants_json(&cli->set)) {
        term_text(&text, str_of(message)); /* valid from here on */
        json_open(&line, NULL, '{');
        json_add_str(&line, "type", STR("error"));
        json_add_bool(&line, "kept", false);
        json_add_str(&line, "code", STR("store"));
        json_add_str(&line, "message", buf_view(&text));
        buf_cstr(&line, "}\n");
        print_buf(&line);
    }
    return complain(code, "%s", message);
}

/* ---- Standard output ----------------------------------------------------- */

void put_args(const struct cli *cli, int from, struct buf *out)
{
    for (int i = from; i < cli->args_count; i++) {
        if (i > from)
            buf_char(out, ' ');
        buf_cstr(out, cli->args[i]);
    }
}

int print_all(wend_str text)
{
    if (write_all(STDOUT_FILENO, text))
        return EXIT_DONE;
    return errno == EPIPE
               ? EXIT_CANCELED
               : complain(EXIT_FAILED, "cannot write to standard output: %s",
                          strerror(errno));
}

int print_buf(const struct buf *b)
{
    return print_all(buf_view(b));
}

int print_fit(const struct buf *b)
{
    size_t width = term_wraps_at(STDOUT_FILENO);
    struct buf fit = {.mem = &cli_mem};

    if (!width)
        return print_buf(b);
    term_fit(&fit, buf_view(b), width);
    return print_buf(&fit);
}

int print_safe(const struct cli *cli, const struct buf *text,
               void (*safe)(struct buf *out, wend_str s))
{
    const char *path = cli->set.output ? cli->set.output : "-";
    struct buf shown = {.mem = text->mem};
    bool made = safe && !cli->set.output && isatty(STDOUT_FILENO);
    struct file_out file;
    int code = file_out_open(&file, path, FILE_OUT_PRIVATE);

    if (code)
        return code;
    if (made)
        safe(&shown, buf_view(text));
    file_out_write(&file, buf_view(made ? &shown : text));
    buf_free(&shown);
    return file_out_close(&file, EXIT_DONE);
}

int64_t output_format(const struct settings *set, const char *const *words)
{
    const char *dot = set->output ? strrchr(set->output, '.') : NULL;
    int count = 0;

    if (set->format >= 0)
        return set->format;
    while (words[count])
        count++;
    count = dot ? str_index(str_of(dot + 1), words, count) : -1;
    return count < 0 ? 0 : count;
}

/* ---- The store ----------------------------------------------------------- */

/* A store that this command created or upgraded is the user's. So is a store
 * without runs: its creator may have been killed before this point. */
static void keep_in_mind(struct cli *cli)
{
    struct buf path = {.mem = &cli_mem};
    wend_store_origin o = {.size = sizeof o};
    const wend_list_options one = {.size = sizeof one, .limit = 1};
    wend_error *err = &cli->err;
    bool known = false;

    if (wend_store_origin_of(cli->store, &o, err) == WEND_OK && o.id[0])
        stores_have(o.id, &cli->arena, &known, err);
    if (o.id[0] && !known && store_file(cli, &path) &&
        (o.made || o.adopted || !runs_count(cli, &one)) &&
        stores_add(o.id, path.ptr, STORES_MADE, &cli->arena, err) != WEND_OK &&
        !cli->set.quiet)
        complain(0, "%s; to resume runs of this store later, use --trust-store",
                 err->message);
}

/* A run makes the usual folder, and no other one. */
bool store_absent(const struct cli *cli, struct buf *path)
{
    struct buf folder = {.mem = &cli_mem};
    bool usual = !cli->set.store || !*cli->set.store;
    const char *slash;

    if (!store_file(cli, path) || strstr(path->ptr, "://") ||
        !access(path->ptr, F_OK) || errno != ENOENT)
        return false;
    slash = strrchr(path->ptr, '/');
    if (slash)
        buf_add(&folder, path->ptr, (size_t)(slash - path->ptr) + 1);
    return usual || !slash || !access(folder.ptr, F_OK);
}

/* A command that only looks for runs makes no store: an absent one has none. */
int open_store(struct cli *cli)
{
    struct buf path = {.mem = &cli_mem};
    bool absent = !cli->command->makes_store && store_absent(cli, &path);
    wend_status s =
        (cli->command->only_reads ? wend_store_open_read : wend_store_open)(
            absent ? "memory:" : cli->set.store, &cli->store, &cli->err);

    if (s == WEND_OK && !absent)
        keep_in_mind(cli);
    else if (absent && !cli->set.quiet)
        complain(0, "there is no store at %s; the first run makes it",
                 path.ptr);
    return report(cli, s);
}

bool store_file(const struct cli *cli, struct buf *path)
{
    const char *url = cli->set.store;

    if (url && str_starts(str_of(url), "sqlite:"))
        url += strlen("sqlite:");
    if (url && (!strcmp(url, "memory:") || !strcmp(url, ":memory:")))
        return false;
    if (url && *url)
        buf_cstr(path, url);
    else if (data_folder(path))
        buf_cstr(path, "/wend.db");
    return path->len > 0;
}

int open_runtime(struct cli *cli)
{
    wend_runtime_options o = {.size = sizeof o};
    int code = open_store(cli);

    o.store = cli->store;
    if (!code)
        code = report(cli, wend_runtime_new(&o, &cli->rt, &cli->err));
    if (!code)
        traces_open(cli);
    return code;
}

/* ---- Runs and events ----------------------------------------------------- */

enum { PAGE = 100, PROMPT_COLUMNS_MIN = 10 };

const char *const status_words[] = {
    "queued", "running", "waiting",  "paused", "interrupted",
    "ok",     "limit",   "canceled", "failed", NULL,
};

static int64_t clock_us(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

int64_t wall_us(void)
{
    return clock_us(CLOCK_REALTIME);
}

int64_t steady_us(void)
{
    return clock_us(CLOCK_MONOTONIC);
}

int each_run(struct cli *cli, const wend_list_options *filter, int64_t left,
             each_run_fn fn, void *ctx)
{
    wend_list_options o = *filter;
    char after[RUN_ID_LEN + 1];
    bool more = true;
    int code = EXIT_DONE;

    while (more && left && code == EXIT_DONE) {
        const wend_run_info *info;
        wend_runs *page = NULL;
        int64_t got = 0;

        o.limit = left > 0 && left < PAGE ? (uint32_t)left : PAGE;
        code = report(cli, wend_store_list(cli->store, &o, &page, &cli->err));
        while (code == EXIT_DONE && wend_runs_next(page, &info) == WEND_OK) {
            code = fn(ctx, info);
            str_copy(after, sizeof after, info->run);
            got++;
        }
        wend_runs_free(page);
        o.after = after;
        more = got == o.limit;
        left -= left > 0 ? got : 0;
    }
    return code;
}

void put_run(struct buf *out, const wend_run_info *info, size_t columns)
{
    time_t seconds = (time_t)(info->started_us / 1000000);
    char when[32] = "?";
    struct tm tm;
    int used;

    if (localtime_r(&seconds, &tm))
        strftime(when, sizeof when, "%Y-%m-%d %H:%M", &tm);
    used = (int)info->run.len + 4 + (int)strlen(when);
    buf_fmt(out, "%.*s  %s  ", (int)info->run.len, info->run.ptr, when);
    term_line(out, info->prompt,
              columns > (size_t)used + PROMPT_COLUMNS_MIN
                  ? columns - (size_t)used
                  : PROMPT_COLUMNS_MIN);
    buf_char(out, '\n');
}

int each_event(struct cli *cli, const char *id, const wend_replay_options *o,
               each_event_fn fn, void *ctx)
{
    const wend_event *ev;
    wend_run *log = NULL;
    wend_status s = wend_store_replay(cli->rt, id, o, &log, &cli->err);

    if (s != WEND_OK)
        return report(cli, s);
    while ((s = wend_run_next(log, &ev)) == WEND_OK)
        fn(ctx, ev);
    if (s != WEND_END)
        cli->err = *wend_run_error(log);
    wend_run_free(log);
    return s == WEND_END ? EXIT_DONE : report(cli, s);
}

enum run_state run_state(struct cli *cli, const char *id, char parent[40])
{
    wend_list_options o = {.size = sizeof o, .run = id, .limit = 1};
    const wend_run_info *info;
    wend_runs *list = NULL;
    enum run_state state = RUN_GONE;

    if (!id[0] || wend_store_list(cli->store, &o, &list, NULL) != WEND_OK)
        return RUN_GONE;
    if (wend_runs_next(list, &info) == WEND_OK) {
        state = info->ended_us                        ? RUN_OVER
                : str_is(info->status, "interrupted") ? RUN_INTERRUPTED
                                                      : RUN_UNDER_WAY;
        if (parent && info->child)
            str_copy(parent, 40, info->parent);
    }
    wend_runs_free(list);
    return state;
}

void run_top(struct cli *cli, char id[40])
{
    char parent[40] = "";

    for (int i = 0; i < ANCESTORS_MAX; i++) {
        run_state(cli, id, parent);
        if (!*parent || run_state(cli, parent, NULL) == RUN_GONE)
            return;
        memcpy(id, parent, sizeof parent);
        parent[0] = '\0';
    }
}

int64_t runs_count(struct cli *cli, const wend_list_options *o)
{
    const wend_run_info *info;
    wend_runs *list = NULL;
    int64_t count = 0;

    if (wend_store_list(cli->store, o, &list, NULL) != WEND_OK)
        return -1;
    while (wend_runs_next(list, &info) == WEND_OK)
        count++;
    wend_runs_free(list);
    return count;
}

/* ---- RUN ----------------------------------------------------------------- */

enum { CANDIDATES_SHOWN = 5 };

static void keep_found(struct found *out, const wend_run_info *info)
{
    str_copy(out->id, sizeof out->id, info->run);
    out->started_us = info->started_us;
    out->imported = info->imported;
}

/* `first` and `info` are the first two entries of the list. */
static int not_one(const char *name, wend_runs *list, const struct found *first,
                   const wend_run_info *info)
{
    struct buf names = {.mem = &cli_mem};
    int shown = 1;

    buf_fmt(&names, "%s", first->id);
    do {
        if (shown++ < CANDIDATES_SHOWN)
            buf_fmt(&names, ", %.*s", (int)info->run.len, info->run.ptr);
    } while (wend_runs_next(list, &info) == WEND_OK);
    return complain(EXIT_USAGE, "'%s' is ambiguous: %s%s", name, names.ptr,
                    shown > CANDIDATES_SHOWN ? " ..." : "");
}

struct last_run {
    struct found *out;
    int64_t before; /* of this many more recent ones */
    int64_t seen;
    bool found, imported;
};

static int note_last(void *ctx, const wend_run_info *info)
{
    struct last_run *l = ctx;

    l->imported |= info->imported;
    if (info->child || info->imported)
        return EXIT_DONE;
    keep_found(l->out, info);
    l->found = l->seen++ == l->before;
    return l->found ? EXIT_FAILED : EXIT_DONE; /* this one is enough */
}

/* `last` and `last~N`, N counted from 0. */
static bool is_last(wend_str name, int64_t *before)
{
    *before = 0;
    return str_is(name, "last") ||
           (str_starts(name, "last~") && str_to_i64(str_skip(name, 5), before));
}

/* The newest run that is neither a child nor imported: the author of a file
 * chooses the ids and times in it. */
static int find_last(struct cli *cli, int64_t before, struct found *out)
{
    const wend_list_options all = {.size = sizeof all};
    struct last_run l = {.out = out, .before = before};
    int code = each_run(cli, &all, -1, note_last, &l);

    if (l.found || code)
        return l.found ? EXIT_DONE : code;
    if (l.seen)
        return complain(EXIT_USAGE,
                        "'last~%lld' is too far back: there %s only %lld %s "
                        "that 'last' can mean; 'wend runs' lists runs",
                        (long long)before, l.seen == 1 ? "is" : "are",
                        (long long)l.seen, l.seen == 1 ? "run" : "runs");
    return complain(EXIT_USAGE,
                    l.imported
                        ? "'last' never means an imported run, and all runs "
                          "were imported; 'wend runs' lists them"
                        : "there are no runs yet");
}

int find_run(struct cli *cli, const char *name, struct found *out)
{
    wend_list_options o = {
        .size = sizeof o, .run = name, .limit = CANDIDATES_SHOWN + 1};
    const wend_run_info *info;
    wend_runs *list = NULL;
    int64_t before;
    int code;

    if (!*name)
        return usage_error(cli, "the run id is empty");
    if (is_last(str_of(name), &before))
        return find_last(cli, before, out);
    code = report(cli, wend_store_list(cli->store, &o, &list, &cli->err));
    if (code)
        return code;
    if (wend_runs_next(list, &info) == WEND_OK) {
        keep_found(out, info);
        if (wend_runs_next(list, &info) == WEND_OK)
            code = not_one(name, list, out, info);
    } else {
        code = complain(EXIT_USAGE,
                        "run '%s' not found; 'wend runs' lists runs", name);
    }
    wend_runs_free(list);
    return code;
}
