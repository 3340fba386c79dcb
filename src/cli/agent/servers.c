/*
 * servers.c - servers of tools: those of --mcp and of the agent's file.
 */
#include "cli/agent/servers.h"

#include <string.h>
#include <time.h>

#include "cli/agent/agent_file.h"

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

void server_say(void *ctx, const char *text)
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

uint32_t server_time_left(struct cli *cli)
{
    int64_t now = now_ms(), left;

    if (!cli->set.timeout_ms)
        return 0;
    if (!cli->servers_ms)
        cli->servers_ms = now;
    left = cli->set.timeout_ms - (now - cli->servers_ms);
    return left < 1 ? 1 : left > UINT32_MAX ? UINT32_MAX : (uint32_t)left;
}

/* Those of the options come first. */
struct wanted {
    wend_mcp_options *options;
    size_t count;
    bool accept, must;
};

static wend_mcp_options *next_wanted(struct cli *cli, struct wanted *w)
{
    wend_mcp_options *o = &w->options[w->count++];

    *o = (wend_mcp_options){.size = sizeof *o,
                            .accept = w->accept,
                            .note = server_say,
                            .note_ctx = cli,
                            .look = w->must};
    return o;
}

static int want_option(struct cli *cli, struct wanted *w, const char *text)
{
    struct buf why = {.mem = cli->arena.mem};
    struct server_spec spec;
    wend_mcp_options *o;
    int code = EXIT_DONE;

    if (!server_parse(text, &cli->arena, &spec, &why))
        code = usage_error(cli, "--mcp '%s': %s", text,
                           why.len ? why.ptr : "out of memory");
    buf_free(&why);
    if (code)
        return code;
    o = next_wanted(cli, w);
    o->name = spec.name;
    o->url = spec.url;
    o->command = spec.command;
    return EXIT_DONE;
}

/* One of the agent's file. */
static int want_named(struct cli *cli, struct wanted *w,
                      const struct server_file *f)
{
    const struct manifest_server *m = f->manifest;
    const char **secrets =
        arena_alloc(&cli->arena, (m->secrets.count + 1) * sizeof *secrets);
    wend_mcp_options *o = next_wanted(cli, w);

    if (!secrets)
        return complain(EXIT_FAILED, "out of memory");
    o->name = m->name.ptr;
    o->url = m->url.ptr;
    o->command = f->argv;
    o->secrets = secrets;
    o->secrets_count = m->secrets.count;
    o->timeout_ms = (uint32_t)m->timeout_ms;
    o->start_timeout_ms = (uint32_t)m->start_timeout_ms;
    o->sandbox_off = m->sandbox_off;
    o->network = m->network_on;
    o->trust = m->trust;
    o->accept = o->look = false;
    for (size_t i = 0; i < m->secrets.count; i++)
        secrets[i] = m->secrets.list[i].text.ptr;
    return EXIT_DONE;
}

/* What became of one of them. */
static int judge(struct cli *cli, bool must, const wend_error *err)
{
    wend_status s = err->status;

    if (s == WEND_E_STALE && must) { /* it is looked at nevertheless */
        cli->servers_code = give_up(cli, s, err);
        return EXIT_DONE;
    }
    if (s == WEND_E_INVAL || s == WEND_E_EXISTS || s == WEND_E_NOMEM || must)
        return s == WEND_OK ? EXIT_DONE : give_up(cli, s, err);
    if (s != WEND_OK)
        complain(0, "%s; its tools are not offered", err->message);
    return EXIT_DONE;
}

static int add_all(struct cli *cli, wend_agent *agent, const struct wanted *w)
{
    const wend_mcp_options **list =
        arena_alloc(&cli->arena, (w->count + 1) * sizeof *list);
    wend_error *errs = arena_alloc(&cli->arena, (w->count + 1) * sizeof *errs);
    uint32_t left = server_time_left(cli);
    int code = EXIT_DONE;
    wend_status s;

    if (!list || !errs)
        return complain(EXIT_FAILED, "out of memory");
    for (size_t i = 0; i < w->count; i++) {
        w->options[i].sandbox_off |= cli->set.sandbox == 1; /* which is off */
        w->options[i].connect_ms = left;
        list[i] = &w->options[i];
    }
    s = wend_agent_add_mcps(agent, list, w->count, errs);
    if (s == WEND_E_NOMEM)
        return complain(EXIT_FAILED, "out of memory");
    for (size_t i = 0; !code && i < w->count; i++)
        code = judge(cli, w->options[i].look, &errs[i]);
    return code;
}

int servers_add(struct cli *cli, wend_agent *agent, bool accept, bool must)
{
    size_t given = cli->set.servers.count;
    size_t own = cli->agent ? cli->agent->manifest->servers_count : 0;
    struct wanted w = {.accept = accept, .must = must};
    int code = EXIT_DONE;

    if (!given && !own)
        return EXIT_DONE;
    w.options = arena_alloc(&cli->arena, (given + own) * sizeof *w.options);
    if (!w.options)
        return complain(EXIT_FAILED, "out of memory");
    for (size_t i = 0; !code && i < given; i++)
        code = want_option(cli, &w, cli->set.servers.items[i]);
    for (size_t i = 0; !code && i < own; i++)
        code = want_named(cli, &w, &cli->agent->servers[i]);
    return code ? code : add_all(cli, agent, &w);
}
