/*
 * cmd_context.c - wend context: what a model was asked, part by part.
 */
#include <stdio.h>

#include "base/json.h"
#include "cli/cmd/cmd.h"
#include "cli/rows.h"
#include "cli/term.h"
#include "wire/dialect/dialect.h"

enum { BAR_COLUMNS = 30, NAME_COLUMNS = 28, TOKENS_COLUMNS = 10 };

static const struct opt opts[] = {
    ROW_NUMBER(seq_at, "at", "SEQ", "the newest request up to event SEQ",
               .min = 1),
    ROW_JSON("print one JSON object"),
    ROW_STORE,
    ROWS_END,
};

/* ---- Numbers and bars ---------------------------------------------------- */

static int64_t number(const struct json *j, const char *key)
{
    int64_t n = 0;

    json_i64(json_get(j, key), &n);
    return n > 0 ? n : 0;
}

static void put_percent(struct buf *b, int64_t part, int64_t whole)
{
    if (whole > 0)
        buf_fmt(b, "%.1f %%", (double)part * 100 / (double)whole);
}

/* A line of the table: how much of the window, or of all, this is. */
static void put_row(struct buf *b, wend_str name, int64_t tokens, int64_t whole,
                    const char *note)
{
    int64_t cells = whole > 0 ? (tokens * BAR_COLUMNS + whole / 2) / whole : 0;

    if (cells > BAR_COLUMNS)
        cells = BAR_COLUMNS;
    buf_cstr(b, "  ");
    term_cell(b, name, NAME_COLUMNS);
    buf_fmt(b, "%*lld", TOKENS_COLUMNS, (long long)tokens);
    if (cells || *note)
        buf_cstr(b, "  ");
    for (int64_t i = 0; i < cells; i++)
        buf_cstr(b, term_ascii() ? "#" : "█");
    buf_cstr(b, note);
    buf_char(b, '\n');
}

static void put_parts(struct buf *b, const struct json *context)
{
    const struct json *parts = json_get(context, "parts");
    int64_t whole = number(context, "tokens");

    buf_cstr(b, "\nPARTS\n");
    for (const struct json *p = parts ? parts->first : NULL; p; p = p->next) {
        char note[48] = "";

        if (json_is_true(json_get(p, "truncated")))
            snprintf(note, sizeof note, "  cut by %lld bytes",
                     (long long)number(p, "cut"));
        put_row(b, json_str(json_get(p, "name")), number(p, "tokens"), whole,
                note);
    }
}

static void put_head(struct buf *b, const struct json *context)
{
    int64_t window = number(context, "window");
    int64_t tokens = number(context, "tokens");

    buf_cstr(b, "run ");
    term_line(b, json_str(json_get(context, "run")), 40);
    buf_fmt(b, ", event %lld, turn %lld, ", (long long)number(context, "seq"),
            (long long)number(context, "turn"));
    term_line(b, json_str(json_get(context, "model")), 80);
    buf_fmt(b, "\nabout %lld tokens", (long long)tokens);
    if (window) {
        buf_fmt(b, " of %lld, ", (long long)window);
        put_percent(b, tokens, window);
    }
    buf_char(b, '\n');
}

/* ---- Texts --------------------------------------------------------------- */

/* Each line of it behind a margin, so that no text looks like a heading. */
static void put_text(struct buf *b, wend_str text)
{
    wend_str line;

    while (str_line(&text, &line)) {
        buf_cstr(b, line.len ? "  " : "");
        term_text(b, line);
        buf_char(b, '\n');
    }
}

static void put_calls(struct buf *b, const struct json *message)
{
    const struct json *calls = json_get(message, "calls");

    for (const struct json *c = calls ? calls->first : NULL; c; c = c->next) {
        struct buf args = {.mem = b->mem};
        wend_str name = json_str(json_get(c, "name"));

        json_put(&args, json_get(c, "args"));
        buf_cstr(b, "  call ");
        term_text(b, name);
        buf_char(b, ' ');
        term_text(b, buf_view(&args));
        buf_char(b, '\n');
        b->failed |= args.failed;
        buf_free(&args);
    }
}

static void put_files(struct buf *b, const struct json *message)
{
    const struct json *parts = json_get(message, "parts");

    for (const struct json *j = parts ? parts->first : NULL; j; j = j->next) {
        struct buf note = {.mem = b->mem};
        wend_ev_part p = {.type = json_get_str(j, "type"),
                          .media = json_get_str(j, "media"),
                          .name = json_get_str(j, "name")};

        json_i64(json_get(j, "width"), &p.width);
        json_i64(json_get(j, "height"), &p.height);
        json_i64(json_get(j, "pages"), &p.pages);
        json_i64(json_get(j, "ms"), &p.ms);
        dialect_put_parts(&note, &p, 1);
        buf_char(b, ' ');
        term_text(b, buf_view(&note));
        buf_char(b, '\n');
        buf_free(&note);
    }
}

static void put_message(struct buf *b, const struct json *m, int number,
                        const struct json *tokens)
{
    wend_str name = json_str(json_get(m, "name"));
    int64_t n = 0;

    json_i64(tokens, &n);
    buf_fmt(b, "\n%d ", number);
    term_line(b, json_str(json_get(m, "role")), 20);
    if (name.len) {
        buf_char(b, ' ');
        term_line(b, name, 80);
    }
    buf_fmt(b, " (%lld)\n", (long long)n);
    put_text(b, json_str(json_get(m, "text")));
    put_files(b, m);
    put_calls(b, m);
}

static void put_context(struct buf *b, const struct json *context)
{
    const struct json *messages = json_get(context, "messages");
    const struct json *tokens = json_get(context, "message_tokens");
    const struct json *tools = json_get(context, "tools");
    wend_str system = json_str(json_get(context, "system"));
    int number = 1;

    put_head(b, context);
    put_parts(b, context);
    if (tools) {
        buf_cstr(b, "\nTOOLS\n ");
        for (const struct json *t = tools->first; t; t = t->next) {
            buf_char(b, ' ');
            term_text(b, json_str(json_get(t, "name")));
        }
        buf_char(b, '\n');
    }
    if (system.len) {
        buf_cstr(b, "\nSYSTEM\n");
        put_text(b, system);
    }
    buf_cstr(b, "\nMESSAGES\n");
    tokens = tokens ? tokens->first : NULL;
    for (const struct json *m = messages ? messages->first : NULL; m;
         m = m->next) {
        put_message(b, m, number++, tokens);
        tokens = tokens ? tokens->next : NULL;
    }
}

/* ---- The command --------------------------------------------------------- */

static bool add(void *ctx, wend_str bytes)
{
    buf_str(ctx, bytes);
    return true;
}

static int run(struct cli *cli)
{
    struct buf text = {.mem = &cli_mem}, shown = {.mem = &cli_mem};
    const struct json *context;
    struct found found;
    int code = find_arg(cli, open_store, &found);

    if (!code)
        code = report(cli,
                      wend_store_context(cli->store, found.id, cli->set.seq_at,
                                         add, &text, &cli->err));
    if (code)
        return code;
    if (cli->set.json) {
        buf_char(&text, '\n');
        return print_safe(cli, &text, term_json);
    }
    context = json_parse(buf_view(&text), &cli->arena, &cli->err);
    if (!context || text.failed)
        return report(cli, WEND_E_NOMEM);
    put_context(&shown, context);
    return print_buf(&shown);
}

const struct command command_context = {
    .name = "context",
    .args = "[OPTIONS] RUN",
    .summary = "show what the model was asked, with tokens",
    .more = "Shows the newest request of a run, or the newest one up to an "
            "event: its parts\n"
            "with their tokens, the tools, the text before the conversation, "
            "and each\n"
            "message. Tokens are estimates.\n",
    TAKES_A_RUN,
    .opts = opts,
    .only_reads = true,
    .run = run,
};
