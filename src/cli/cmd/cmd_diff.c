/*
 * cmd_diff.c - wend diff: the first difference between two runs, and a
 * summary.
 *
 * Ids, times and values derived from them always differ between runs and are
 * ignored. Calls have different ids in each run; two calls are equal if their
 * ids correspond everywhere.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/utf8.h"
#include "cli/cmd/cmd.h"
#include "cli/rows.h"
#include "cli/term.h"

enum { VALUE_COLUMNS = 60, BEFORE_BYTES = 20 };

static const struct opt opts[] = {
    ROW_FLAG(exact, "exact", "also compare ids, times and deltas"),
    ROW_JSON("print one JSON object"),
    ROW_QUIET("print nothing; only set the exit status"),
    ROW_STORE,
    ROWS_END,
};

/* ---- Two events ---------------------------------------------------------- */

struct diff_id {
    struct diff_id *next;
    wend_str a, b;
};

struct diff {
    bool exact;          /* also compare ids and times */
    bool resumed;        /* attempts of one of the runs were skipped */
    struct arena arena;  /* set its mem */
    struct diff_id *ids; /* ids of calls that correspond */
    /* The difference: */
    struct buf path;          /* "data.calls[0].args"; set its mem */
    const struct json *a, *b; /* NULL: absent */
};

static const char *const ignored[] = {
    "run",
    "seq",
    "time",
    "turn_id",
    "data.id", /* of a turn */
    "data.parent_id",
    "data.key",
    "data.correlation_id",
    "data.parent_run",
    "data.parent",
    "data.run",
    "data.prefix_hash",
    "data.epoch",
    "data.ms",
    "data.first_token_ms",
    "data.delay_ms",
    "data.metrics.ms",
    "data.metrics.first_token_ms",
};

static bool is_ignored(const struct diff *d)
{
    wend_str path = buf_view(&d->path);

    if (d->resumed && str_starts(path, "data.metrics."))
        return true; /* they include the interrupted attempt */
    return !d->exact &&
           str_index(path, ignored, sizeof ignored / sizeof *ignored) >= 0;
}

/* data.call, or data.calls[N].id */
static bool is_call_id(const struct diff *d)
{
    wend_str path = buf_view(&d->path);
    size_t at;

    if (d->exact)
        return false;
    if (str_is(path, "data.call") || str_is(path, "data.parent_call"))
        return true;
    if (!str_starts(path, "data.calls["))
        return false;
    for (at = strlen("data.calls["); path.ptr[at] != ']';)
        at++;
    return str_is((wend_str){path.ptr + at, path.len - at}, "].id");
}

static bool same_id(struct diff *d, wend_str a, wend_str b)
{
    struct diff_id *id;

    for (id = d->ids; id; id = id->next)
        if (str_eq(id->a, a) || str_eq(id->b, b))
            return str_eq(id->a, a) && str_eq(id->b, b);
    id = arena_alloc(&d->arena, sizeof *id);
    id->a = arena_str(&d->arena, a);
    id->b = arena_str(&d->arena, b);
    id->next = d->ids;
    d->ids = id;
    return true;
}

static bool same(struct diff *d, const struct json *a, const struct json *b);

static bool same_members(struct diff *d, const struct json *a,
                         const struct json *b)
{
    size_t len = d->path.len;

    for (const struct json *m = a->first; m; m = m->next) {
        buf_fmt(&d->path, "%s%.*s", len ? "." : "", (int)m->key.len,
                m->key.ptr);
        if (!same(d, m, json_member(b, m->key)))
            return false;
        d->path.len = len;
    }
    for (const struct json *m = b->first; m; m = m->next) {
        buf_fmt(&d->path, "%s%.*s", len ? "." : "", (int)m->key.len,
                m->key.ptr);
        if (!json_member(a, m->key) && !same(d, NULL, m))
            return false;
        d->path.len = len;
    }
    return true;
}

static bool same_items(struct diff *d, const struct json *a,
                       const struct json *b)
{
    const struct json *x = a->first, *y = b->first;
    size_t len = d->path.len;

    for (int i = 0; x || y; i++) {
        buf_fmt(&d->path, "[%d]", i);
        if (!same(d, x, y))
            return false;
        d->path.len = len;
        x = x ? x->next : NULL;
        y = y ? y->next : NULL;
    }
    return true;
}

/* As deep as JSON may be, JSON_DEPTH_MAX and a little. */
static bool same(struct diff *d, const struct json *a, const struct json *b)
{
    bool both = a && b && a->kind == b->kind;

    if (is_ignored(d))
        return true;
    if (both && a->kind == JSON_OBJECT)
        return same_members(d, a, b);
    if (both && a->kind == JSON_ARRAY)
        return same_items(d, a, b);
    if (both &&
        (a->kind == JSON_STRING && is_call_id(d) ? same_id(d, a->text, b->text)
                                                 : json_equal(a, b)))
        return true;
    d->a = a;
    d->b = b;
    return false;
}

/* Whether two events, as JSON, are equal. */
static bool diff_same(struct diff *d, const struct json *a,
                      const struct json *b)
{
    buf_clear(&d->path);
    d->a = d->b = NULL;
    return same(d, a, b);
}

/* ---- Two runs ------------------------------------------------------------ */

/* Work that runs again after a resume: its next start is skipped. */
struct diff_again {
    struct diff_again *next;
    wend_event_type type;
    wend_str id; /* id of the call or action; absent: the model call */
};

struct side {
    struct found found;
    wend_run *run;
    const wend_event *ev; /* NULL: over */
    struct arena arena;   /* of the event */
    char *line;
    const struct json *json;
    int64_t counts[WEND_EVENT_TYPES];
    wend_outcome outcome;
    wend_ev_metrics metrics;
    struct diff_again *again;
};

struct differ {
    struct cli *cli;
    struct side sides[2];
    struct diff diff;
    bool any;        /* a difference */
    int64_t same;    /* events before it */
    struct buf what; /* its description */
};

/* ---- Reading ------------------------------------------------------------- */

/* Metrics depend on the clock, deltas on the network; forks and resumes
 * record who continued, not what happened. */
static uint64_t types_of(bool exact)
{
    uint64_t bits = 0;

    for (int t = 1; t < WEND_EVENT_TYPES; t++)
        if (exact ||
            (t != WEND_METRICS && t != WEND_RUN_FORK && t != WEND_RUN_RESUME &&
             !wend_event_is_delta((wend_event_type)t)))
            bits |= (uint64_t)1 << t;
    return bits;
}

static void expect_again(struct differ *d, struct side *s, wend_event_type type,
                         wend_str id)
{
    struct diff_again *a = arena_alloc(&d->cli->arena, sizeof *a);

    a->type = type;
    a->id = arena_str(&d->cli->arena, id);
    a->next = s->again;
    s->again = a;
}

static bool starts_again(struct side *s, wend_event_type type, wend_str id)
{
    for (struct diff_again **link = &s->again; *link; link = &(*link)->next)
        if ((*link)->type == type && str_eq((*link)->id, id)) {
            *link = (*link)->next;
            return true;
        }
    return false;
}

/* For an interrupted attempt keep its first start and its last end. */
static bool passes_over(struct differ *d, struct side *s)
{
    const wend_event *ev = s->ev;

    if (d->cli->set.exact)
        return false;
    if (ev->type == WEND_MODEL_START)
        return starts_again(s, ev->type, STR_NONE);
    if (ev->type == WEND_CALL_START)
        return starts_again(s, ev->type, ev->u.call_start.call);
    if (ev->type == WEND_ACTION_START)
        return starts_again(s, ev->type, ev->u.action_start.action);
    if (ev->type == WEND_MODEL_END &&
        ev->u.model_end.outcome == WEND_OUTCOME_SUPERSEDED)
        expect_again(d, s, WEND_MODEL_START, STR_NONE);
    else if (ev->type == WEND_CALL_END &&
             ev->u.call_end.outcome == WEND_OUTCOME_SUPERSEDED)
        expect_again(d, s, WEND_CALL_START, ev->u.call_end.call);
    else if (ev->type == WEND_ACTION_END &&
             ev->u.action_end.outcome == WEND_OUTCOME_SUPERSEDED)
        expect_again(d, s, WEND_ACTION_START, ev->u.action_end.action);
    else
        return false;
    d->diff.resumed = true;
    return true;
}

static int open_side(struct differ *d, struct side *s, const char *name)
{
    wend_replay_options o = {.size = sizeof o,
                             .filter.types = types_of(d->cli->set.exact)};
    int code = find_run(d->cli, name, &s->found);

    s->arena.mem = &cli_mem;
    return code ? code
                : report(d->cli, wend_store_replay(d->cli->rt, s->found.id, &o,
                                                   &s->run, &d->cli->err));
}

static void close_side(struct side *s)
{
    wend_string_free(s->line);
    wend_run_free(s->run);
}

/* The next event, counted and as JSON. */
static int step(struct differ *d, struct side *s)
{
    wend_status status;
    size_t len;

    do
        status = wend_run_next(s->run, &s->ev);
    while (status == WEND_OK && passes_over(d, s));
    wend_string_free(s->line);
    s->line = NULL;
    s->json = NULL;
    arena_reset(&s->arena);
    if (status == WEND_END) {
        s->ev = NULL;
        return EXIT_DONE;
    }
    if (status != WEND_OK) {
        d->cli->err = *wend_run_error(s->run);
        return report(d->cli, status);
    }
    s->counts[s->ev->type]++;
    if (s->ev->type == WEND_RUN_END) {
        s->outcome = s->ev->u.run_end.outcome;
        s->metrics = s->ev->u.run_end.metrics;
    }
    if (d->any)
        return EXIT_DONE; /* only counted */
    if (wend_event_to_json(s->ev, &s->line, &len) != WEND_OK)
        return complain(EXIT_FAILED, "out of memory");
    s->json = json_parse_own((wend_str){s->line, len}, &s->arena, NULL);
    assert(s->json); /* our own */
    return EXIT_DONE;
}

/* ---- What differs -------------------------------------------------------- */

static size_t same_bytes(wend_str a, wend_str b)
{
    size_t n = 0;

    while (n < a.len && n < b.len && a.ptr[n] == b.ptr[n])
        n++;
    while (n && n < a.len && ((unsigned char)a.ptr[n] & 0xC0) == 0x80)
        n--; /* do not split a character */
    return n;
}

/* Prints only the differing part of long texts. */
static void put_value(struct buf *b, const struct json *j,
                      const struct json *other)
{
    struct buf text = {.mem = b->mem};
    size_t skip = 0;

    if (!j) {
        buf_cstr(b, "nothing");
        return;
    }
    if (j->kind == JSON_STRING && other && other->kind == JSON_STRING) {
        skip = same_bytes(j->text, other->text);
        skip = skip > BEFORE_BYTES ? utf8_cut(j->text, skip - BEFORE_BYTES) : 0;
    }
    if (skip) {
        buf_cstr(&text, "...");
        buf_add(&text, j->text.ptr + skip, j->text.len - skip);
    } else {
        json_put(&text, j);
    }
    term_line(b, buf_view(&text), VALUE_COLUMNS);
}

static void put_place(struct buf *b, const struct side *s)
{
    if (s->ev)
        buf_fmt(b, "event %lld (%s)", (long long)s->ev->seq,
                wend_event_name(s->ev->type));
    else
        buf_cstr(b, "the end");
}

static void say_difference(struct differ *d)
{
    const struct side *a = &d->sides[0], *b = &d->sides[1];
    struct buf *out = &d->what;

    buf_cstr(out, "first difference: ");
    put_place(out, a);
    buf_cstr(out, " against ");
    put_place(out, b);
    buf_char(out, '\n');
    if (a->ev && b->ev && a->ev->type == b->ev->type) {
        buf_cstr(out, "  ");
        term_line(out, buf_view(&d->diff.path), VALUE_COLUMNS);
        buf_cstr(out, "\n  - ");
        put_value(out, d->diff.a, d->diff.b);
        buf_cstr(out, "\n  + ");
        put_value(out, d->diff.b, d->diff.a);
        buf_char(out, '\n');
    }
}

static void put_json_place(struct buf *out, const char *name,
                           const struct side *s, const struct json *value)
{
    if (!s->ev) {
        json_add_nullable(out, name, STR_NONE);
        return;
    }
    json_open(out, name, '{');
    json_add_i64(out, "seq", s->ev->seq);
    json_add_str(out, "type", str_of(wend_event_name(s->ev->type)));
    json_add(out, "value", value);
    json_close(out, '}');
}

static void write_difference(struct differ *d)
{
    const struct side *a = &d->sides[0], *b = &d->sides[1];
    bool field = a->ev && b->ev && a->ev->type == b->ev->type;

    json_add_nullable(&d->what, "field",
                      field ? buf_view(&d->diff.path) : STR_NONE);
    put_json_place(&d->what, "a", a, field ? d->diff.a : NULL);
    put_json_place(&d->what, "b", b, field ? d->diff.b : NULL);
}

/* ---- The rest ------------------------------------------------------------ */

static void put_pair(struct buf *b, const char *name, int64_t x, int64_t y)
{
    if (x != y)
        buf_fmt(b, "  %-16s %10lld %10lld\n", name, (long long)x, (long long)y);
}

static void put_costs(struct buf *b, int64_t x, int64_t y)
{
    struct buf left = {.mem = b->mem}, right = left;

    term_usd(&left, x);
    term_usd(&right, y);
    if (x != y)
        buf_fmt(b, "  %-16s %10s %10s\n", "cost, USD", left.ptr, right.ptr);
}

static void say_rest(struct differ *d, struct buf *b)
{
    const struct side *x = &d->sides[0], *y = &d->sides[1];
    const wend_ev_metrics *m = &x->metrics, *n = &y->metrics;

    buf_fmt(b, "%lld events before it are equal\n", (long long)d->same);
    if (x->outcome != y->outcome)
        buf_fmt(b, "  %-16s %10s %10s\n", "outcome",
                x->outcome ? wend_outcome_name(x->outcome) : "none",
                y->outcome ? wend_outcome_name(y->outcome) : "none");
    put_pair(b, "turns", m->turns, n->turns);
    put_pair(b, "tokens in", m->tokens_in, n->tokens_in);
    put_pair(b, "tokens out", m->tokens_out, n->tokens_out);
    put_costs(b, m->cost_nano, n->cost_nano);
    for (int t = 1; t < WEND_EVENT_TYPES; t++)
        put_pair(b, wend_event_name((wend_event_type)t), x->counts[t],
                 y->counts[t]);
}

static void write_side(struct buf *b, const char *name, const struct side *s)
{
    json_open(b, name, '{');
    json_add_str(b, "run", str_of(s->found.id));
    json_add_nullable(
        b, "outcome",
        str_of(s->outcome ? wend_outcome_name(s->outcome) : NULL));
    json_add_i64(b, "turns", s->metrics.turns);
    json_add_i64(b, "tokens_in", s->metrics.tokens_in);
    json_add_i64(b, "tokens_out", s->metrics.tokens_out);
    json_add_nano(b, "cost", s->metrics.cost_nano);
    json_open(b, "events", '{');
    for (int t = 1; t < WEND_EVENT_TYPES; t++)
        if (s->counts[t])
            json_add_i64(b, wend_event_name((wend_event_type)t), s->counts[t]);
    buf_cstr(b, "}}");
}

static int print(struct differ *d)
{
    struct buf out = {.mem = &cli_mem};
    bool json = d->cli->set.json;

    if (json) {
        json_open(&out, NULL, '{');
        json_add_bool(&out, "same", !d->any);
        json_add_i64(&out, "events_same", d->same);
        if (d->any)
            json_add_raw(&out, NULL, buf_view(&d->what));
        write_side(&out, "run_a", &d->sides[0]);
        write_side(&out, "run_b", &d->sides[1]);
        buf_cstr(&out, "}\n");
    } else if (d->any) {
        buf_str(&out, buf_view(&d->what));
        say_rest(d, &out);
    } else {
        buf_fmt(&out, "no difference in %lld events\n", (long long)d->same);
    }
    return print_safe(d->cli, &out, json ? term_json : NULL);
}

/* ---- The command --------------------------------------------------------- */

static int compare(struct differ *d)
{
    struct side *a = &d->sides[0], *b = &d->sides[1];
    int code = EXIT_DONE;

    while (!code) {
        code = step(d, a);
        if (!code)
            code = step(d, b);
        if (code || (!a->ev && !b->ev))
            break;
        if (d->any)
            continue;
        d->any = !a->ev || !b->ev || a->ev->type != b->ev->type ||
                 !diff_same(&d->diff, a->json, b->json);
        d->same += !d->any;
        if (d->any)
            (d->cli->set.json ? write_difference : say_difference)(d);
    }
    return code;
}

static int run(struct cli *cli)
{
    struct differ d = {.cli = cli,
                       .diff = {.exact = cli->set.exact,
                                .arena.mem = &cli_mem,
                                .path.mem = &cli_mem},
                       .what.mem = &cli_mem};
    int code = open_runtime(cli);

    for (int i = 0; !code && i < 2; i++)
        code = open_side(&d, &d.sides[i], cli->args[i]);
    if (!code)
        code = compare(&d);
    if (!code && !cli->set.quiet)
        code = print(&d);
    for (int i = 0; i < 2; i++)
        close_side(&d.sides[i]);
    return !code && d.any ? EXIT_FAILED : code;
}

const struct command command_diff = {
    .name = "diff",
    .args = "[OPTIONS] RUN RUN",
    .summary = "show the first difference between two runs",
    .more = "Ids, times, metrics and the way a text is split into deltas are "
            "ignored unless\n"
            "--exact is given. The exit status is 1 if the runs differ.\n",
    .args_min = 2,
    .args_max = 2,
    .expected = "two runs",
    .opts = opts,
    .only_reads = true,
    .run = run,
};
