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
    struct buf word = {.mem = a->mem};
    size_t n = 0;

    for (text += strspn(text, " \t\n"); list && *text;
         text += strspn(text, " \t\n")) {
        buf_clear(&word);
        text = put_word(&word, text);
        if (!text) {
            buf_cstr(why, "a quote is left open");
            list = NULL;
            break;
        }
        list[n++] = arena_str(a, buf_view(&word)).ptr;
        a->failed |= word.failed; /* buf_clear forgets it */
    }
    buf_free(&word);
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
        return !a->failed;
    }
    out->command = split(equals + 1, a, why);
    if (out->command && !out->command[0] && !why->len)
        buf_cstr(why, "the command is empty");
    return out->command && out->command[0] && !a->failed;
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
    struct buf why = {.mem = cli->arena.mem};
    int code = EXIT_DONE;

    *o = (wend_mcp_options){.size = sizeof *o,
                            .note = server_say,
                            .note_ctx = cli,
                            .sandbox_off = cli->set.sandbox == 1};
    if (!parse(text, &cli->arena, o, &why))
        code = usage_error(cli, "--mcp '%s': %s", text,
                           why.len ? why.ptr : "out of memory");
    buf_free(&why);
    return code;
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
    if (!*all || !each)
        return complain(EXIT_FAILED, "out of memory");
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
    wend_status s = err->status;

    if (s == WEND_E_STALE) { /* listed all the same */
        cli->servers_code = give_up(cli, s, err);
        return EXIT_DONE;
    }
    return s == WEND_OK ? EXIT_DONE : give_up(cli, s, err);
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
    if (!errs || wend_agent_add_mcps(agent, list, count, errs) == WEND_E_NOMEM)
        return complain(EXIT_FAILED, "out of memory");
    for (size_t i = 0; !code && i < count; i++)
        code = judge(cli, &errs[i]);
    return code;
}
