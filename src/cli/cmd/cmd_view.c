/*
 * cmd_view.c - wend view: shows a run as a timeline.
 */
#include <unistd.h>

#include "cli/cmd/cmd.h"
#include "cli/rows.h"
#include "cli/term.h"
#include "cli/view/timeline.h"

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_SVG, FORMAT_HTML };
static const char *const formats[] = {"text", "json", "svg", "html", NULL};

static const struct opt opts[] = {
    ROW_WORD(format, "format", "text|json|svg|html", formats, "output format"),
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

static int fold(struct cli *cli, const char *id, struct timeline *t)
{
    wend_replay_options o = {.size = sizeof o, .filter.types = kept_types()};
    int code = each_event(cli, id, &o, timeline_event, t);

    timeline_end(t);
    return code;
}

static int put(struct cli *cli, const struct timeline *t)
{
    struct buf b = {.mem = &cli_mem};

    switch ((enum format)cli->set.format) {
    case FORMAT_TEXT:
        timeline_put_text(&b, t, term_width(STDOUT_FILENO));
        break;
    case FORMAT_JSON: timeline_put_json(&b, t); break;
    case FORMAT_SVG: timeline_put_svg(&b, t); break;
    case FORMAT_HTML: timeline_put_html(&b, t); break;
    }
    return print_safe(cli, &b,
                      cli->set.format == FORMAT_JSON ? term_json : NULL);
}

static int run(struct cli *cli)
{
    struct timeline t;
    struct found found;
    int code = find_arg(cli, open_runtime, &found);

    if (code)
        return code;
    timeline_init(&t, &cli_mem, 0);
    code = fold(cli, found.id, &t);
    if (!code && cli->set.format == FORMAT_HTML) {
        /* The space for each text is known now. */
        timeline_init(&t, &cli_mem, timeline_detail_max(&t));
        code = fold(cli, found.id, &t);
    }
    return code ? code : put(cli, &t);
}

const struct command command_view = {
    .name = "view",
    .args = "[OPTIONS] RUN",
    .summary = "show a run as a timeline: turns, calls, tokens, cost",
    .more = "html is one self-contained file of at most 5 MB. Texts that do "
            "not fit are\n"
            "truncated, with the command that prints them in full.\n",
    TAKES_A_RUN,
    .opts = opts,
    .only_reads = true,
    .run = run,
};
