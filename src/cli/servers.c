/*
 * servers.c - servers of tools: those of --mcp and of the agent's file.
 */
#include "cli/servers.h"

#include <string.h>
#include <time.h>

#include "cli/agent_file.h"

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

bool server_parse(const char *text, struct arena *a, struct server_spec *out,
                  struct buf *why)
{
    const char *equals = strchr(text, '=');

    *out = (struct server_spec){NULL, NULL, NULL};
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

static void say(void *ctx, const char *text)
{
    const struct cli *cli = ctx;

    if (!cli->set.quiet)
        complain(0, "%s", text);
}

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Of --timeout, for the servers together; 0: there is none. */
static uint32_t time_left(struct cli *cli)
{
    int64_t now = now_ms(), left;

    if (!cli->set.timeout_ms)
        return 0;
    if (!cli->servers_ms)
        cli->servers_ms = now;
    left = cli->set.timeout_ms - (now - cli->servers_ms);
    return left < 1 ? 1 : left > UINT32_MAX ? UINT32_MAX : (uint32_t)left;
}

static int add(struct cli *cli, wend_agent *agent, wend_mcp_options *o,
               bool must)
{
    wend_error err = {0};
    wend_status s;

    o->size = sizeof *o;
    o->sandbox_off |= cli->set.sandbox == 1; /* the word at 1 is off */
    o->note = say;
    o->note_ctx = cli;
    o->look = must;
    o->connect_ms = time_left(cli);
    s = wend_agent_add_mcp(agent, o, &err);
    if (s == WEND_E_STALE && must) { /* it is looked at nevertheless */
        cli->servers_code = give_up(cli, s, &err);
        return EXIT_DONE;
    }
    if (s == WEND_E_INVAL || s == WEND_E_EXISTS || s == WEND_E_NOMEM || must)
        return s == WEND_OK ? EXIT_DONE : give_up(cli, s, &err);
    if (s != WEND_OK)
        complain(0, "%s; its tools are not offered", err.message);
    return EXIT_DONE;
}

static int add_option(struct cli *cli, wend_agent *agent, const char *text,
                      bool accept, bool must)
{
    struct buf why = {.mem = cli->arena.mem};
    wend_mcp_options o = {.accept = accept};
    struct server_spec spec;
    int code = EXIT_DONE;

    if (!server_parse(text, &cli->arena, &spec, &why))
        code = usage_error(cli, "--mcp '%s': %s", text,
                           why.len ? why.ptr : "out of memory");
    buf_free(&why);
    if (code)
        return code;
    o.name = spec.name;
    o.url = spec.url;
    o.command = spec.command;
    return add(cli, agent, &o, must);
}

/* One of the agent's file. */
static int add_named(struct cli *cli, wend_agent *agent,
                     const struct server_file *f)
{
    const struct manifest_server *m = f->manifest;
    const char **secrets =
        arena_alloc(&cli->arena, (m->secrets.count + 1) * sizeof *secrets);
    wend_mcp_options o = {
        .name = m->name.ptr,
        .url = m->url.ptr,
        .command = f->argv,
        .secrets = secrets,
        .secrets_count = m->secrets.count,
        .timeout_ms = (uint32_t)m->timeout_ms,
        .sandbox_off = m->sandbox_off,
        .network = m->network_on,
        .trust = m->trust,
    };

    if (!secrets)
        return complain(EXIT_FAILED, "out of memory");
    for (size_t i = 0; i < m->secrets.count; i++)
        secrets[i] = m->secrets.list[i].text.ptr;
    return add(cli, agent, &o, false);
}

int servers_add(struct cli *cli, wend_agent *agent, bool accept, bool must)
{
    size_t own = cli->agent ? cli->agent->manifest->servers_count : 0;
    int code = EXIT_DONE;

    for (size_t i = 0; !code && i < cli->set.servers.count; i++)
        code = add_option(cli, agent, cli->set.servers.items[i], accept, must);
    for (size_t i = 0; !code && i < own; i++)
        code = add_named(cli, agent, &cli->agent->servers[i]);
    return code;
}
