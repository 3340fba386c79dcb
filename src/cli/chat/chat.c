/*
 * chat.c - wend chat: a conversation on the terminal. Each exchange is a run
 * of its own that follows the one before it, so that all that works on runs
 * works on chats.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/json.h"
#include "cli/chat/talk.h"
#include "cli/cmd/cmd.h"
#include "cli/filter.h"
#include "cli/keys.h"
#include "cli/rows.h"
#include "cli/signals.h"
#include "cli/term.h"

static const struct opt opts[] = {
    ROWS_ASK,
    ROWS_EVENTS,
    ROWS_LIMITS("maximum number of turns of an answer (default 50)",
                "maximum number of tokens of an answer, in and out",
                "maximum cost of an answer"),
    ROWS_ASK_HOW,
    ROW_STREAM(""),
    ROW_QUIET("print only the answers"),
    ROW_VERBOSE("print details to standard error"),
    ROWS_END,
};

/* ---- What the user is told ----------------------------------------------- */

void chat_say(struct chat *c, const char *fmt, ...)
{
    struct buf safe = {.mem = &cli_mem};
    char text[4096];
    va_list ap;

    (void)c;
    va_start(ap, fmt);
    utf8_vfmt(text, sizeof text, fmt, ap);
    va_end(ap);
    term_words(&safe, str_of(text), 0, 2, term_wraps_at(STDERR_FILENO));
    buf_char(&safe, '\n');
    write_all(STDERR_FILENO, buf_view(&safe));
    buf_free(&safe);
}

void chat_used(const struct chat *c, struct buf *out)
{
    buf_cstr(out, c->model);
    if (c->window && c->context)
        buf_fmt(out, ", context %d %%",
                (int)((double)c->context * 100 / (double)c->window));
    if (c->runs) {
        buf_cstr(out, ", ");
        status_used(out, c->tokens_in, c->tokens_out, c->cost_nano);
    }
}

/* ---- An exchange --------------------------------------------------------- */

static void note_used(void *ctx, const wend_event *ev)
{
    struct arena a = {.mem = &cli_mem};
    struct chat *c = ctx;

    if (ev->type == WEND_RUN_START) {
        const struct json *config =
            json_parse_own(ev->u.run_start.config_json, &a, NULL);

        c->window = 0;
        json_i64(json_get(config, "context_tokens"), &c->window);
        str_copy(c->model, sizeof c->model, ev->u.run_start.model);
    } else if (ev->type == WEND_CONTEXT_END) {
        c->context = ev->u.context_end.tokens;
    } else if (ev->type == WEND_RUN_END) {
        const wend_ev_metrics *m = &ev->u.run_end.metrics;

        c->tokens_in += m->tokens_in;
        c->tokens_out += m->tokens_out;
        if (m->cost_nano < 0 || c->cost_nano < 0)
            c->cost_nano = -1;
        else
            c->cost_nano += m->cost_nano;
    }
    arena_free(&a);
}

static void note_run(struct chat *c, const char *id)
{
    wend_replay_options o = {.size = sizeof o,
                             .filter.types = TYPE(RUN_START) |
                                             TYPE(CONTEXT_END) | TYPE(RUN_END)};

    snprintf(c->last, sizeof c->last, "%s", id);
    c->runs++;
    each_event(c->cli, id, &o, note_used, c);
}

void chat_move(struct chat *c, wend_str to)
{
    wend_replay_options o = {.size = sizeof o,
                             .filter.types = TYPE(CONTEXT_END)};

    str_copy(c->last, sizeof c->last, str_or(to, ""));
    c->context = 0;
    if (to.len)
        each_event(c->cli, c->last, &o, note_used, c);
}

static void show_exchange(struct chat *c, struct stream *st,
                          struct typist *typist)
{
    if (!c->terminal)
        return;
    st->view.in_chat = true;
    if (st->view.safe_only && st->view.together)
        st->view.markdown = &c->markdown;
    c->markdown.width = st->view.width - 1; /* rows are narrower: wrap.h */
    c->stopped = false;
    *typist = prompt_typist;
    typist->fd = c->tty;
    typist->ctx = c;
    if (st->view.keys)
        st->typist = typist;
}

static wend_status begin(struct chat *c, wend_str text, wend_run **run)
{
    struct cli *cli = c->cli;

    return c->last[0] ? wend_run_follow(cli->made, c->last, text, &c->o, run,
                                        &cli->err)
                      : wend_run_start(cli->made, text, &c->o, run, &cli->err);
}

/* A failed answer ends no chat; the end of the process does. */
void chat_ask(struct chat *c, wend_str text)
{
    struct stream st = {.cli = c->cli, .live = true, .asks = true};
    struct typist typist;
    char id[40] = "";
    int code = stream_open(&st);

    if (!code) {
        show_exchange(c, &st, &typist);
        code = report(c->cli, begin(c, text, &st.run));
        if (!code) {
            snprintf(id, sizeof id, "%s", wend_run_id(st.run));
            code = stream_go(&st);
        }
        stream_close(&st);
    }
    signals_forget();
    if (id[0])
        c->o.compact = NULL;
    if (id[0])
        c->o.parts_count = 0; /* they are sent */
    else if (c->o.parts_count)
        chat_say(c,
                 "not sent; the next message comes with the same %zu "
                 "file%s, /detach leaves out",
                 c->o.parts_count, c->o.parts_count == 1 ? "" : "s");
    c->stopped_us = code == EXIT_CANCELED ? steady_us() : 0;
    if (id[0] && run_state(c->cli, id, NULL) == RUN_OVER)
        note_run(c, id);
    else if (!id[0] && c->terminal)
        editor_set(&c->editor, text); /* it never began */
    else
        c->code = code ? code : EXIT_FAILED; /* it was left */
    if (c->left || code == EXIT_TERM || code == EXIT_HANGUP ||
        code == EXIT_STORE)
        c->code = code;
}

/* ---- The conversation ---------------------------------------------------- */

void chat_new_session(struct chat *c)
{
    char name[64];
    time_t now = time(NULL);
    struct tm tm;

    localtime_r(&now, &tm);
    strftime(name, sizeof name, "chat-%Y%m%d-%H%M%S", &tm);
    c->o.session = arena_str(&c->cli->arena, str_of(name)).ptr;
}

static void take_text(struct chat *c, wend_str text)
{
    if (slash_is(text))
        slash_do(c, text);
    else
        chat_ask(c, text);
}

static void talk(struct chat *c)
{
    struct buf text = {.mem = &cli_mem};

    history_load(c);
    while (c->code == CHAT_GOES_ON && prompt_read(c)) {
        buf_clear(&text);
        buf_str(&text, buf_view(&c->editor.text));
        history_add(c, buf_view(&text));
        editor_set(&c->editor, STR(""));
        take_text(c, buf_view(&text));
    }
    keys_restore();
    if (c->last[0] && !c->cli->set.quiet)
        chat_say(c, "'wend chat -c' continues this conversation");
}

/* Not a terminal: each line is a text of the user. */
static void listen(struct chat *c)
{
    char *line = NULL;
    size_t size = 0;
    ssize_t n;

    while (c->code == CHAT_GOES_ON && (n = getline(&line, &size, stdin)) > 0) {
        wend_str text = {line, (size_t)n - (line[n - 1] == '\n')};

        if (text.len > BLOB_BYTES_MAX)
            c->code = complain(EXIT_USAGE, "a line is larger than %d MiB",
                               BLOB_BYTES_MAX >> 20);
        else if (memchr(text.ptr, 0, text.len))
            c->code = complain(EXIT_USAGE, "standard input is not text: a line "
                                           "has a NUL byte");
        else if (text.len)
            take_text(c, text);
    }
    if (c->code == CHAT_GOES_ON && ferror(stdin))
        c->code = complain(EXIT_FAILED, "cannot read standard input: %s",
                           strerror(errno));
    free(line);
}

static int open_last(struct chat *c)
{
    struct found last;
    int code = conversation_check(c->cli);

    if (!code)
        code = conversation_find(c->cli, &last);
    if (!code)
        code = conversation_agent(c->cli, &last, &c->o);
    if (code)
        return code;
    c->continues = true;
    snprintf(c->last, sizeof c->last, "%s", last.id);
    return EXIT_DONE;
}

static int open_chat(struct chat *c)
{
    struct cli *cli = c->cli;
    int code = names_fill(cli, &c->o);

    if (!code)
        code = open_runtime(cli);
    if (!code && cli->set.goes_on)
        code = authority_store(cli);
    if (code)
        return code;
    if (cli->set.goes_on)
        return open_last(c);
    c->o.take = WEND_FORK_CONFIG | WEND_FORK_LIMITS;
    if (!c->o.session)
        chat_new_session(c);
    return agent_make(cli);
}

/* Files of the command line come with the first message. */
static int attach_files(struct chat *c)
{
    const struct words *files = &c->cli->set.files;
    int code = EXIT_DONE;

    for (size_t i = 0; !code && i < files->count; i++)
        code = attach_file(c, files->items[i]);
    return code;
}

static int run(struct cli *cli)
{
    struct chat c = {.cli = cli,
                     .o.size = sizeof c.o,
                     .code = CHAT_GOES_ON,
                     .editor.text.mem = &cli_mem,
                     .markdown = {.held.mem = &cli_mem, .rows.mem = &cli_mem},
                     .panel.shown.mem = &cli_mem,
                     .note.mem = &cli_mem};
    int code;

    if (!cli->set.goes_on && (!cli->set.model || !*cli->set.model))
        return no_model();
    code = open_chat(&c);
    if (!code)
        code = attach_files(&c);
    if (code)
        return code;
    str_copy(c.model, sizeof c.model, str_of(cli->set.model));
    c.terminal = isatty(STDIN_FILENO) && term_moves(STDERR_FILENO) &&
                 isatty(STDOUT_FILENO) && !wants_json(&cli->set) &&
                 keys_open() >= 0;
    c.tty = keys_open();
    c.markdown.styled = term_colour(STDOUT_FILENO);
    c.markdown.ascii = term_ascii();
    if (c.terminal) {
        complain_wraps = true;
        if (!cli->set.quiet)
            chat_say(&c, "/help lists commands, Ctrl-D leaves");
        talk(&c);
    } else {
        listen(&c);
    }
    return c.code == CHAT_GOES_ON ? EXIT_DONE : c.code;
}

const struct command command_chat = {
    .name = "chat",
    .args = "[OPTIONS]",
    .summary = "talk with an agent on the terminal",
    .more =
        "Enter sends; Alt-Enter, Ctrl-J or a backslash at the end begins a new "
        "line; a\n"
        "paste never sends. While the model answers, Enter tells it what was "
        "typed; Esc\n"
        "or Ctrl-C stops the answer and keeps it, twice leaves. /help lists "
        "commands.\n"
        "Each exchange is a run of the session. If standard input or output is "
        "not a\n"
        "terminal, each line of standard input is a message, and the answers "
        "are printed.\n",
    .opts = opts,
    .takes_agent = true,
    .makes_store = true,
    .run = run,
};
