/*
 * servers.c - servers of tools: those of --mcp.
 */
#include "cli/agent/agent.h"

#include <string.h>

/* ---- Words --------------------------------------------------------------- */

/* Appends one word; the end of it, or NULL if a quote is left open. */
static const char *put_word(struct buf *b, const char *p)
{
    char quote = 0;

    for (; *p && (quote || (*p != ' ' && *p != '\t' && *p != '\n')); p++) {
        if (quote && *p == quote)
            quote = 0;
        else if (!quote && (*p == '\'' || *p == '"'))
            quote = *p;
        else if (*p == '\\' && quote != '\'' && p[1])
            buf_char(b, *++p);
        else
            buf_char(b, *p);
    }
    return quote ? NULL : p;
}

static const char *const *split(const char *text, struct arena *a,
                                struct buf *why)
{
    /* each word has a byte of its own, and one that ends it */
    const char **list = arena_alloc(a, (strlen(text) / 2 + 2) * sizeof *list);
    size_t n = 0;

    for (text += strspn(text, " \t\n"); *text; text += strspn(text, " \t\n")) {
        struct buf word = {.mem = a->mem};

        buf_cstr(&word, "");
        text = put_word(&word, text);
        if (!text) {
            buf_cstr(why, "a quote is left open");
            return NULL;
        }
        list[n++] = word.ptr;
    }
    if (!n)
        buf_cstr(why, "the command is empty");
    return list;
}

/* NAME=COMMAND or NAME=URL. A command is words as in a shell: quotes and
 * backslashes, nothing else. False: `why` says what is wrong. */
static bool parse(const char *text, struct arena *a, wend_mcp_options *out,
                  struct buf *why)
{
    const char *equals = strchr(text, '=');

    if (!equals || equals == text || !equals[1]) {
        buf_cstr(why, "must be NAME=COMMAND or NAME=URL");
        return false;
    }
    out->name = arena_str(a, (wend_str){text, (size_t)(equals - text)}).ptr;
    if (!strncmp(equals + 1, "http://", 7) ||
        !strncmp(equals + 1, "https://", 8)) {
        out->url = equals + 1;
        return true;
    }
    out->command = split(equals + 1, a, why);
    return !why->len;
}

/* ---- Servers ------------------------------------------------------------- */

void server_say(void *ctx, const char *text)
{
    const struct cli *cli = ctx;

    if (!cli->set.quiet)
        complain(0, "%s", text);
}

void server_warn(void *ctx, const char *text)
{
    (void)ctx;
    complain(0, "%s", text);
}

static int read_option(struct cli *cli, const char *text, wend_mcp_options *o)
{
    struct buf why = {.mem = &cli_mem};

    *o = (wend_mcp_options){.size = sizeof *o,
                            .note = server_say,
                            .note_ctx = cli,
                            .sandbox_off = cli->set.sandbox == 1};
    return parse(text, &cli->arena, o, &why)
               ? EXIT_DONE
               : usage_error(cli, "--mcp '%s': %s", text, why.ptr);
}

/* all: the options; list: pointers to them, as the library takes them. */
static int read_options(struct cli *cli, wend_mcp_options **all,
                        const wend_mcp_options *const **list, size_t *count)
{
    const struct words *w = &cli->set.servers;
    size_t room = w->count + 1;
    const wend_mcp_options **each =
        arena_alloc(&cli->arena, room * sizeof *each);
    int code = EXIT_DONE;

    *count = w->count;
    *list = each;
    *all = arena_alloc(&cli->arena, room * sizeof **all);
    for (size_t i = 0; !code && i < w->count; i++) {
        each[i] = &(*all)[i];
        code = read_option(cli, w->items[i], &(*all)[i]);
    }
    return code;
}

int servers_given(struct cli *cli, const wend_mcp_options *const **list,
                  size_t *count)
{
    wend_mcp_options *all;

    return read_options(cli, &all, list, count);
}

/* The outcome of one server. */
static int judge(struct cli *cli, const wend_error *err)
{
    int code;

    cli->err = *err;
    code = report(cli, err->status);
    if (err->status != WEND_E_STALE)
        return code;
    cli->servers_code = code; /* listed all the same */
    return EXIT_DONE;
}

int servers_look(struct cli *cli, wend_agent *agent)
{
    const wend_mcp_options *const *list;
    wend_mcp_options *all;
    wend_error *errs;
    size_t count;
    int code = read_options(cli, &all, &list, &count);

    if (code)
        return code;
    for (size_t i = 0; i < count; i++) {
        all[i].accept = cli->set.accept;
        all[i].look = true;
    }
    errs = arena_alloc(&cli->arena, (count + 1) * sizeof *errs);
    if (wend_agent_add_mcps(agent, list, count, errs) == WEND_E_NOMEM)
        return complain(EXIT_FAILED, "out of memory");
    for (size_t i = 0; !code && i < count; i++)
        code = judge(cli, &errs[i]);
    return code;
}
