/*
 * filter.c - which runs of a store a listing shows, and what runs are called.
 *
 * The store filters by what its table of runs has. Labels, whole prompts and
 * answers are in the log: they are read for runs that have passed the rest.
 */
#include "cli/filter.h"

#include <string.h>
#include <time.h>
#include <wctype.h>

#include "base/json.h"
#include "base/utf8.h"
#include "cli/traces.h"

/* ---- Times --------------------------------------------------------------- */

/* A date, or a date and a time; local unless it ends with Z. */
static bool read_date(const char *text, int64_t *us)
{
    static const char *const forms[] = {"%Y-%m-%d", "%Y-%m-%dT%H:%M",
                                        "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M",
                                        "%Y-%m-%d %H:%M:%S"};

    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct tm tm = {.tm_isdst = -1}, given;
        const char *rest = strptime(text, forms[i], &tm);
        bool utc = rest && !strcmp(rest, "Z");
        time_t seconds;

        if (!rest || (*rest && !utc))
            continue;
        given = tm;
        seconds = utc ? timegm(&tm) : mktime(&tm);
        *us = (int64_t)seconds * 1000000;
        return tm.tm_mday == given.tm_mday && seconds >= 0; /* a real day */
    }
    return false;
}

static int read_when(const struct cli *cli, const char *option,
                     const char *text, int64_t now_us, int64_t *us)
{
    int64_t ms;

    if (!text || read_date(text, us))
        return EXIT_DONE;
    if (!str_to_age_ms(str_of(text), &ms))
        return usage_error(
            cli,
            "--%s: '%s' is not a time; use a duration with a "
            "unit (s, m, h, d, w, y) such as 2d, or a date such as "
            "2026-01-31 or 2026-01-31T12:30",
            option, text);
    *us = now_us - ms * 1000;
    return EXIT_DONE;
}

/* ---- Text ---------------------------------------------------------------- */

static void put_lower(struct buf *out, wend_str s)
{
    size_t len;

    for (size_t i = 0; i < s.len; i += len) {
        uint32_t c = utf8_first((wend_str){s.ptr + i, s.len - i}, &len);
        char bytes[4];

        buf_add(out, bytes, utf8_put(bytes, (uint32_t)towlower(c)));
    }
}

static bool contains(wend_str text, const struct buf *lower)
{
    struct buf b = {.mem = &cli_mem};
    bool found;

    put_lower(&b, text);
    found = b.len && memmem(b.ptr, b.len, lower->ptr, lower->len);
    buf_free(&b);
    return found;
}

/* ---- The log ------------------------------------------------------------- */

/* The first kept event of these types of a run, lent until the log is freed;
 * NULL if there is none, if the log is damaged or if the run is gone: a listing
 * shows what it can. Returns 0, or the exit code of another error, reported. */
static int look_up(struct cli *cli, const wend_run_info *info, int64_t from,
                   int64_t to, uint64_t types, wend_run **log,
                   const wend_event **ev)
{
    wend_replay_options o = {.size = sizeof o, .seq_from = from, .seq_to = to};
    char id[sizeof((struct found){0}.id)];
    wend_status s;

    o.filter.types = types;
    str_copy(id, sizeof id, info->run);
    *log = NULL;
    *ev = NULL;
    s = wend_store_replay(cli->rt, id, &o, log, &cli->err);
    if (s != WEND_OK) /* a store that is damaged is another matter */
        return s == WEND_E_NOTFOUND ? EXIT_DONE : report(cli, s);
    s = wend_run_next(*log, ev);
    if (s == WEND_OK)
        return EXIT_DONE;
    *ev = NULL;
    cli->err = *wend_run_error(*log);
    return s == WEND_END || s == WEND_E_CORRUPT ? EXIT_DONE : report(cli, s);
}

static void take_names(struct run_names *out, wend_str correlation_id,
                       wend_str labels_json, struct arena *a)
{
    if (correlation_id.ptr)
        out->correlation_id = arena_str(a, correlation_id);
    if (labels_json.ptr)
        out->labels = json_parse(arena_str(a, labels_json), a, NULL);
}

/* A fork may have others than the run that it shares them with; an imported one
 * is not known to be a fork. */
int names_read(struct cli *cli, const wend_run_info *info, struct arena *a,
               struct run_names *out)
{
    bool forked = info->fork_of.ptr || info->imported;
    const wend_event *ev;
    wend_run *log;
    int code = look_up(cli, info, 1, forked ? info->seq : 1,
                       TYPE(RUN_START) | TYPE(RUN_FORK), &log, &ev);

    *out = (struct run_names){0};
    while (ev) {
        const wend_ev_run_fork *f = &ev->u.run_fork;

        if (ev->type == WEND_RUN_START) {
            take_names(out, ev->u.run_start.correlation_id,
                       ev->u.run_start.labels_json, a);
            out->follows = arena_str(a, ev->u.run_start.follows);
        } else {
            take_names(out, f->correlation_id, f->labels_json, a);
        }
        if (wend_run_next(log, &ev) != WEND_OK)
            ev = NULL;
    }
    wend_run_free(log);
    return code;
}

static bool has_label(const struct json *labels, const char *wanted)
{
    const char *equals = strchr(wanted, '=');
    wend_str key = {wanted,
                    equals ? (size_t)(equals - wanted) : strlen(wanted)};

    for (const struct json *j = labels ? labels->first : NULL; j; j = j->next)
        if (str_eq(j->key, key))
            return !equals || str_is(json_str(j), equals + 1);
    return false;
}

static int labels_fit(struct cli *cli, const struct filter *f,
                      const wend_run_info *info, bool *fits)
{
    struct arena a = {.mem = &cli_mem};
    struct run_names names;
    int code = names_read(cli, info, &a, &names);

    for (size_t i = 0; i < f->labels->count; i++)
        *fits &= has_label(names.labels, f->labels->items[i]);
    arena_free(&a);
    return code;
}

static int start_fits(struct cli *cli, const struct filter *f,
                      const wend_run_info *info, bool *fits)
{
    const wend_event *ev;
    wend_run *log;
    int code = look_up(cli, info, 1, 1, TYPE(RUN_START), &log, &ev);

    *fits = ev && contains(ev->u.run_start.prompt, &f->grep);
    wend_run_free(log);
    return code;
}

static int end_fits(struct cli *cli, const struct filter *f,
                    const wend_run_info *info, bool *fits)
{
    const wend_event *ev;
    wend_run *log;
    int code =
        look_up(cli, info, info->seq, info->seq, TYPE(RUN_END), &log, &ev);
    const wend_ev_error *e = ev ? ev->u.run_end.error : NULL;

    *fits = ev && (contains(ev->u.run_end.text, &f->grep) ||
                   (e && (contains(e->message, &f->grep) ||
                          contains(e->code, &f->grep))));
    wend_run_free(log);
    return code;
}

/* A list has the beginning of a prompt; that of a fork is the fork's own, and
 * its parent's is in the log. */
static bool is_whole(const wend_run_info *info)
{
    enum { LISTED = 4000 }; /* bytes that every list has */

    return info->prompt.len < LISTED && !info->fork_of.ptr;
}

static int text_fits(struct cli *cli, const struct filter *f,
                     const wend_run_info *info, bool *fits)
{
    int code = EXIT_DONE;

    *fits = contains(info->prompt, &f->grep);
    if (!*fits && !is_whole(info))
        code = start_fits(cli, f, info, fits);
    if (!code && !*fits && info->ended_us)
        code = end_fits(cli, f, info, fits);
    return code;
}

/* ---- The filter ---------------------------------------------------------- */

int filter_open(const struct cli *cli, int64_t now_us, struct filter *out)
{
    const struct settings *set = &cli->set;
    int code;

    *out = (struct filter){.list = {.size = sizeof out->list,
                                    .user = set->user,
                                    .session = set->session,
                                    .agent = set->agent},
                           .labels = &set->labels,
                           .grep = {.mem = &cli_mem}};
    if (set->status >= 0)
        out->list.status = status_words[set->status];
    if (set->grep && !*set->grep)
        return usage_error(cli, "--grep: the text is empty");
    put_lower(&out->grep, str_of(set->grep));
    code = read_when(cli, "since", set->since, now_us, &out->list.since_us);
    return code ? code
                : read_when(cli, "until", set->until, now_us,
                            &out->list.until_us);
}

enum { ENOUGH = -1 }; /* no exit code */

struct filtering {
    struct cli *cli;
    const struct filter *filter;
    int64_t left;
    each_run_fn fn;
    void *ctx;
};

static int filter_one(void *ctx, const wend_run_info *info)
{
    struct filtering *f = ctx;
    int code = EXIT_DONE;
    bool fits = true;

    if (f->filter->labels->count)
        code = labels_fit(f->cli, f->filter, info, &fits);
    if (!code && fits && f->filter->grep.len)
        code = text_fits(f->cli, f->filter, info, &fits);
    if (code || !fits)
        return code;
    code = f->fn(f->ctx, info);
    f->left -= f->left > 0;
    return code == EXIT_DONE && !f->left ? ENOUGH : code;
}

int each_filtered(struct cli *cli, const struct filter *f, int64_t left,
                  each_run_fn fn, void *ctx)
{
    struct filtering x = {cli, f, left, fn, ctx};
    bool all = !f->labels->count && !f->grep.len;
    int code = each_run(cli, &f->list, all ? left : -1, filter_one, &x);

    return code == ENOUGH ? EXIT_DONE : code;
}

/* ---- A new run ----------------------------------------------------------- */

static int check_name(const struct cli *cli, const char *option,
                      const char *text)
{
    return text && !*text ? usage_error(cli, "--%s: the name is empty", option)
                          : EXIT_DONE;
}

/* The library checks the rest: their number and their lengths. */
static int put_label(const struct cli *cli, const char *label, struct buf *out)
{
    const char *equals = strchr(label, '=');
    const struct words *w = &cli->set.labels;

    if (!equals)
        return usage_error(cli,
                           "--label: '%s' has no '='; use KEY=VALUE, such "
                           "as team=search",
                           label);
    if (equals == label)
        return usage_error(cli, "--label: '%s' has no key before the '='",
                           label);
    if (utf8_valid_len(str_of(label)) != strlen(label))
        return usage_error(cli, "--label: '%s' is not valid UTF-8", label);
    for (size_t i = 0; w->items[i] != label; i++)
        if (!strncmp(w->items[i], label, (size_t)(equals - label) + 1))
            return usage_error(cli, "--label: '%.*s' is given twice",
                               (int)(equals - label), label);
    json_key(out, NULL);
    json_put_str(out, (wend_str){label, (size_t)(equals - label)});
    buf_char(out, ':');
    json_put_str(out, str_of(equals + 1));
    return EXIT_DONE;
}

int names_fill(struct cli *cli, wend_run_options *o)
{
    const struct settings *set = &cli->set;
    struct buf labels = {.mem = &cli_mem};
    int code = check_name(cli, "user", set->user);

    if (!code)
        code = check_name(cli, "session", set->session);
    if (!code)
        code = check_name(cli, "correlation-id", set->correlation_id);
    json_open(&labels, NULL, '{');
    for (size_t i = 0; !code && i < set->labels.count; i++)
        code = put_label(cli, set->labels.items[i], &labels);
    traces_put_labels(&set->labels, &labels);
    json_close(&labels, '}');
    o->user = set->user;
    o->session = set->session;
    o->correlation_id = set->correlation_id;
    o->labels = labels.len > 2 ? labels.ptr : NULL; /* more than {} */
    return code;
}

int find_arg(struct cli *cli, int (*open)(struct cli *cli), struct found *out)
{
    int code = open(cli);

    return code ? code : find_run(cli, cli->args[0], out);
}
