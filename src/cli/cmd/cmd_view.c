/*
 * cmd_view.c - wend view: shows a run as a timeline, or many runs as a page.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmd/cmd.h"
#include "cli/rows.h"
#include "cli/term.h"
#include "cli/page/page.h"

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_SVG, FORMAT_HTML };
static const char *const formats[] = {"text", "json", "svg", "html", NULL};

enum {
    CHILDREN_MAX = 200,       /* on the page of a run */
    CHILDREN_DEPTH_MAX = 8,   /* no run goes deeper */
    FORKS_MAX = 50,           /* named on the page of a run */
    FORKS_LOOKED_MAX = 10000, /* runs that began after it */
    INDEX_DETAIL = 64 << 10,  /* bytes of a text that an index looks at */
};

static const struct opt opts[] = {
    ROW_WORD(format, "format", "text|json|svg|html", formats,
             "output format (default: as FILE ends, else text)"),
    ROW_FLAG(all, "all", "one page over the newest 1,000 runs"),
    ROW_OUTPUT,
    ROW_STORE,
    ROWS_END,
};

/* Deltas add nothing to the kept events after them. */
static uint64_t kept_types(void)
{
    uint64_t bits = 0;

    for (int t = 1; t < WEND_EVENT_TYPES; t++)
        if (!wend_event_is_delta((wend_event_type)t))
            bits |= (uint64_t)1 << t;
    return bits;
}

/* When a process died is known from its last sign of life, a delta: a run with
 * a gap is read again with them. */
static int fold(struct cli *cli, const char *id, struct timeline *t)
{
    wend_replay_options o = {.size = sizeof o, .filter.types = kept_types()};
    int code = each_event(cli, id, &o, timeline_event, t);

    if (!code && (t->gaps || !t->outcome)) {
        timeline_init(t, t->arena.mem, t->detail_max);
        o.filter.types = 0;
        code = each_event(cli, id, &o, timeline_event, t);
    }
    return code;
}

static int note_state(void *timeline, const wend_run_info *info)
{
    struct timeline *t = timeline;

    t->state = arena_str(&t->arena, info->status).ptr;
    return EXIT_DONE;
}

/* What a run without an end does now. */
static int bring_up_to_date(struct cli *cli, const char *id, struct timeline *t)
{
    const wend_list_options o = {.size = sizeof o, .run = id};
    int64_t now_us = wall_us() - t->idle_us;
    int code = each_run(cli, &o, 1, note_state, t);

    if (t->state && strcmp(t->state, "interrupted") != 0 &&
        now_us > t->scale.ended_us)
        t->scale.ended_us = now_us;
    return code;
}

/* ---- One run ------------------------------------------------------------- */

struct family {
    struct cli *cli;
    size_t detail_max;
    size_t details[DETAIL_STEPS]; /* of all in it */
    int children;
    size_t pictures; /* bytes */
};

/* A child that was removed is only named. */
static bool has_run(struct cli *cli, wend_str id)
{
    char run[40];

    snprintf(run, sizeof run, "%.*s", (int)id.len, id.ptr);
    return run_state(cli, run, NULL) != RUN_GONE;
}

static bool add_bytes(void *ctx, wend_str bytes)
{
    buf_str(ctx, bytes);
    return true;
}

/* One whose bytes cannot be read is left to its note. */
static void read_pictures(struct family *f, const char *id, struct timeline *t)
{
    for (struct picture *p = t->pictures; p; p = p->next) {
        struct buf b = {.mem = &cli_mem};

        if (f->pictures + PICTURE_BYTES <= PICTURES_BYTES &&
            wend_store_blob(f->cli->store, id, p->hash.ptr, add_bytes, &b,
                            NULL) == WEND_OK) {
            f->pictures += b.len;
            p->bytes = arena_str(&t->arena, buf_view(&b));
        }
        buf_free(&b);
    }
}

/* Recursion is bounded by CHILDREN_DEPTH_MAX. */
static int fold_family(struct family *f, const char *id, struct timeline *t,
                       int depth)
{
    int code;

    timeline_init(t, &cli_mem, f->detail_max);
    code = fold(f->cli, id, t);
    if (!code && !t->outcome)
        code = bring_up_to_date(f->cli, id, t);
    timeline_end(t);
    if (!code && output_format(&f->cli->set, formats) == FORMAT_HTML)
        read_pictures(f, id, t);
    for (int i = 0; i < DETAIL_STEPS; i++)
        f->details[i] += t->details[i];
    for (struct turn_line *line = t->turns; line && !code; line = line->next)
        for (struct span *s = line->spans; s && !code; s = s->next) {
            if (s->kind != SPAN_CHILD || depth == CHILDREN_DEPTH_MAX ||
                f->children == CHILDREN_MAX || !has_run(f->cli, s->bar.id))
                continue;
            f->children++;
            s->child = arena_alloc(&t->arena, sizeof *s->child);
            code = fold_family(f, s->bar.id.ptr, s->child, depth + 1);
        }
    return code;
}

struct forks {
    struct timeline *t;
    int left;
};

static int on_later(void *ctx, const wend_run_info *info)
{
    struct forks *f = ctx;
    struct forked *fork;

    if (!f->left || !str_eq(info->fork_of, f->t->run))
        return EXIT_DONE;
    f->left--;
    fork = arena_alloc(&f->t->arena, sizeof *fork);
    *fork = (struct forked){f->t->forked, arena_str(&f->t->arena, info->run)};
    f->t->forked = fork;
    return EXIT_DONE;
}

static int find_forks(struct cli *cli, struct timeline *t)
{
    const wend_list_options o = {.size = sizeof o, .since_us = t->started_us};
    struct forks f = {t, FORKS_MAX};

    return each_run(cli, &o, FORKS_LOOKED_MAX, on_later, &f);
}

/* With children; the space for each text is known after a first pass. */
static int fold_page(struct cli *cli, const char *id, struct timeline *t)
{
    struct family f = {.cli = cli};
    int code = fold_family(&f, id, t, 0);

    if (code)
        return code;
    f = (struct family){.cli = cli,
                        .detail_max = timeline_detail_max(f.details)};
    code = fold_family(&f, id, t, 0);
    return code ? code : find_forks(cli, t);
}

static int put(struct cli *cli, const struct timeline *t)
{
    struct buf b = {.mem = &cli_mem};

    switch (output_format(&cli->set, formats)) {
    case FORMAT_TEXT:
        timeline_put_text(&b, t,
                          cli->set.output ? 0 : term_wraps_at(STDOUT_FILENO));
        break;
    case FORMAT_JSON: timeline_put_json(&b, t); break;
    case FORMAT_SVG: timeline_put_svg(&b, t); break;
    case FORMAT_HTML: page_put_run(&b, t); break;
    }
    return print_safe(
        cli, &b,
        output_format(&cli->set, formats) == FORMAT_JSON ? term_json : NULL);
}

/* ---- All runs ------------------------------------------------------------ */

struct index {
    struct cli *cli;
    struct page_index page;
    struct listed {
        wend_str run, status;
    } * list;
};

static int on_listed(void *ctx, const wend_run_info *info)
{
    struct index *x = ctx;
    struct arena *a = &x->cli->arena;

    if (x->page.runs_all++ < PAGE_RUNS_MAX) {
        x->list[x->page.count++] = (struct listed){arena_str(a, info->run),
                                                   arena_str(a, info->status)};
    }
    return EXIT_DONE;
}

static int by_id(const void *a, const void *b)
{
    return str_order(*(const wend_str *)a, *(const wend_str *)b);
}

static int put_index(struct index *x)
{
    size_t count = x->page.count;
    int code = EXIT_DONE;

    x->page.bytes = page_index_share(count);
    page_index_open(&x->page);
    for (size_t i = 0; i < count && !code; i++) {
        struct timeline t;

        timeline_init(&t, &cli_mem, INDEX_DETAIL);
        code = fold(x->cli, x->list[i].run.ptr, &t);
        t.state = x->list[i].status.ptr;
        timeline_end(&t);
        page_index_add(&x->page, &t);
        arena_free(&t.arena);
    }
    page_index_close(&x->page);
    return code;
}

static int view_all(struct cli *cli)
{
    const wend_list_options o = {.size = sizeof o};
    struct buf b = {.mem = &cli_mem};
    struct index x = {.cli = cli, .page.out = &b};
    wend_str *ids;
    int code;

    if (cli->args_count)
        return usage_error(cli, "--all shows all runs; remove RUN");
    if (cli->set.format >= 0 && cli->set.format != FORMAT_HTML)
        return usage_error(cli, "--all is a page; --format must be html");
    code = open_runtime(cli);
    x.list = arena_alloc(&cli->arena, PAGE_RUNS_MAX * sizeof *x.list);
    if (!code)
        code = each_run(cli, &o, -1, on_listed, &x);
    ids = arena_alloc(&cli->arena, (x.page.count + 1) * sizeof *ids);
    for (size_t i = 0; i < x.page.count; i++)
        ids[i] = x.list[i].run;
    qsort(ids, x.page.count, sizeof *ids, by_id);
    x.page.ids = ids;
    if (!code)
        code = put_index(&x);
    return code ? code : print_safe(cli, &b, NULL);
}

static int run(struct cli *cli)
{
    struct timeline t;
    struct found found;
    int code;

    if (cli->set.all)
        return view_all(cli);
    if (!cli->args_count)
        return usage_error(cli, "expected RUN or --all");
    code = find_arg(cli, open_runtime, &found);
    if (code)
        return code;
    if (output_format(&cli->set, formats) == FORMAT_HTML)
        code = fold_page(cli, found.id, &t);
    else {
        timeline_init(&t, &cli_mem, 0);
        code = fold(cli, found.id, &t);
        if (!code && !t.outcome)
            code = bring_up_to_date(cli, found.id, &t);
        timeline_end(&t);
    }
    return code ? code : put(cli, &t);
}

const struct command command_view = {
    .name = "view",
    .args = "[OPTIONS] RUN | --all",
    .summary = "show a run as a timeline: turns, calls, tokens, cost",
    .more = "html is one self-contained file of at most 5 MB. Texts that do "
            "not fit are\n"
            "truncated, with the command that prints them in full. --all is "
            "such a page over\n"
            "many runs.\n",
    .args_max = 1,
    .opts = opts,
    .only_reads = true,
    .run = run,
};
