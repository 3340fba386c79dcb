/*
 * cmd_log.c - wend log: the events of a run, as lines or as JSON; wend blob: a
 * long text that they refer to.
 */

#include "cli/cmd/cmd.h"
#include "cli/rows.h"
#include "cli/stream.h"
#include "cli/term.h"

static const struct opt opts[] = {
    ROW_FLAG(follow, "follow", "follow new events until the run ends",
             .letter = 'f'),
    ROW_NUMBER(seq_from, "from", "SEQ", "start at this kept event", .min = 1),
    ROW_NUMBER(seq_at, "seq", "SEQ", "only this kept event", .min = 1),
    ROW_LIST(types, "type", "TYPE",
             "only events of this type; may be repeated"),
    ROW_FLAG(deltas, "deltas", "also deltas: pieces of text and output"),
    ROW_FLAG(no_deltas, "no-deltas", "only kept events, also as JSON"),
    ROW_JSON("print JSON lines, byte for byte as recorded"),
    ROW_EVENTS(""),
    ROW_STORE,
    ROWS_END,
};

static int unknown_type(const char *name)
{
    const char *names[WEND_EVENT_TYPES];
    char hint[HINT_BYTES];
    int n = 0;

    for (int i = WEND_EVENT_NONE + 1; i < WEND_EVENT_TYPES; i++)
        names[n++] = wend_event_name((wend_event_type)i);
    return complain(EXIT_USAGE, "--type: unknown event type '%s'%s", name,
                    did_you_mean(hint, name, names, n));
}

/* A bit per type to show. Without --type JSON has all of them, so that a log
 * can be compared byte for byte; lines are for people, who rarely want every
 * piece of a text. */
static int read_types(const struct settings *set, uint64_t *bits)
{
    bool none = set->no_deltas;

    *bits = 0;
    for (size_t i = 0; i < set->types.count; i++) {
        wend_event_type t = wend_event_type_of(set->types.items[i]);

        if (t == WEND_EVENT_NONE)
            return unknown_type(set->types.items[i]);
        *bits |= (uint64_t)1 << t;
    }
    if (!*bits) {
        *bits = UINT64_MAX;
        none |= !set->deltas && !wants_json(set);
    }
    for (int t = 0; none && t < WEND_EVENT_TYPES; t++)
        if (wend_event_is_delta((wend_event_type)t))
            *bits &= ~((uint64_t)1 << t);
    return EXIT_DONE;
}

/* The start time of the log; that of a fork is its parent's. */
static int64_t began_us(struct cli *cli, const struct found *found)
{
    wend_replay_options o = {
        .size = sizeof o, .seq_to = 1, .filter.types = TYPE(RUN_START)};
    int64_t began = found->started_us;
    const wend_event *ev;
    wend_run *log = NULL;

    if (wend_store_replay(cli->rt, found->id, &o, &log, NULL) == WEND_OK &&
        wend_run_next(log, &ev) == WEND_OK && ev->time_us < began)
        began = ev->time_us;
    wend_run_free(log);
    return began;
}

/* Following a log ends with its run, or reports why not. */
static int check_followed(const struct stream *st, int code)
{
    wend_outcome outcome;

    if (code != EXIT_DONE || wend_run_outcome(st->run, &outcome) != WEND_AGAIN)
        return code;
    return complain(
        EXIT_FAILED,
        "run %s is unfinished and has no owner; 'wend resume %s' resumes it",
        wend_run_id(st->run), wend_run_id(st->run));
}

static int run(struct cli *cli)
{
    const struct settings *set = &cli->set;
    wend_replay_options o = {
        .size = sizeof o, .seq_from = set->seq_from, .follow = set->follow};
    struct stream st = {.cli = cli};
    struct view *view = &st.view;
    struct found found;
    uint64_t types;
    int code;

    if (set->seq_at && (set->seq_from || set->follow))
        return usage_error(cli,
                           "--seq cannot be combined with --from or --follow");
    if (set->deltas && set->no_deltas)
        return usage_error(cli, "--deltas cannot be combined with --no-deltas");
    if (set->seq_at)
        o.seq_from = o.seq_to = set->seq_at;
    code = read_types(set, &types);
    if (!code)
        code = find_arg(cli, open_runtime, &found);
    if (code)
        return code;
    if (!view_open(view, set, wants_json(set) ? view_look(set) : LOOK_LINES))
        return EXIT_USAGE;
    view->types = types;
    view->began_us = began_us(cli, &found);
    code = report(cli,
                  wend_store_replay(cli->rt, found.id, &o, &st.run, &cli->err));
    if (!code)
        code = stream_go(&st);
    if (view->outcome && code == exit_of_outcome(view->outcome))
        code = EXIT_DONE; /* the outcome of the run does not matter here */
    if (set->follow && st.run)
        code = check_followed(&st, code);
    stream_close(&st);
    return code;
}

const struct command command_log = {
    .name = "log",
    .args = "[OPTIONS] RUN",
    .summary = "show the events of a run",
    .more = "Each line shows the time since the start, the sequence number, "
            "the turn, the\n"
            "type and a summary; deltas are left out unless --deltas or --type "
            "asks for\n"
            "them. With --json they are printed. With --follow, the exit "
            "status is 1 if the\n"
            "owner of the run dies.\n",
    TAKES_A_RUN,
    .opts = opts,
    .only_reads = true,
    .run = run,
};

/* ---- Long texts ---------------------------------------------------------- */

static const struct opt blob_opts[] = {
    ROW_OUTPUT,
    ROW_STORE,
    ROWS_END,
};

static bool add(void *ctx, wend_str bytes)
{
    buf_str(ctx, bytes);
    return true;
}

static int run_blob(struct cli *cli)
{
    struct buf text = {.mem = &cli_mem};
    struct found found;
    int code = find_arg(cli, open_store, &found);

    if (!code)
        code = report(cli, wend_store_blob(cli->store, found.id, cli->args[1],
                                           add, &text, &cli->err));
    return code ? code : print_safe(cli, &text, term_text);
}

const struct command command_blob = {
    .name = "blob",
    .args = "[OPTIONS] RUN HASH",
    .summary = "print a long text of a run by its hash",
    .more = "Events show texts over 256 KiB, and chunks of a long "
            "conversation, as\n"
            "{\"blob\": HASH, ...}. A truncated result names the hash of the "
            "full text. HASH\n"
            "may be a prefix that is unique in the run.\n",
    .args_min = 2,
    .args_max = 2,
    .expected = "a run and the hash of a text",
    .opts = blob_opts,
    .only_reads = true,
    .run = run_blob,
};
