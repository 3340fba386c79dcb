/*
 * cmd_models.c - wend models: windows, prices, which providers have a key, and
 * what a provider has.
 *
 * The list only checks the presence of a key, never its value.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/json.h"
#include "cli/cmd/cmd.h"
#include "cli/rows.h"
#include "cli/config.h"
#include "cli/term.h"
#include "wire/file/models.h"
#include "wire/model/local.h"
#include "wire/model/model.h"

static const struct opt opts[] = {
    ROW_JSON("print one JSON object per model and per provider"),
    ROW_TEXT(models, "models", "FILE", "file to read (default $WEND_MODELS)"),
    ROW_BASE_URL(""),
    ROW_KEY_FILE,
    ROWS_TLS,
    ROW_TIME(timeout_ms, "timeout",
             "maximum duration of the request (default 10s)"),
    ROWS_END,
};

enum key { KEY_NO, KEY_YES, KEY_NONE }; /* NONE: not needed or unknown */
static const char *const key_words[] = {
    [KEY_NO] = "no", [KEY_YES] = "yes", [KEY_NONE] = "-"};
static const char *const key_json[] = {
    [KEY_NO] = "false", [KEY_YES] = "true", [KEY_NONE] = "null"};

static enum key key_of(const struct codec *p)
{
    const char *value = p->key_env ? getenv(p->key_env) : NULL;

    if (!p->key_env)
        return KEY_NONE;
    return value && *value ? KEY_YES : KEY_NO;
}

/* By the provider in front of the name. */
static enum key key_for(wend_str name)
{
    const char *colon = memchr(name.ptr, ':', name.len);
    const struct codec *p;

    if (colon)
        name.len = (size_t)(colon - name.ptr);
    p = codec_find(name);
    return p ? key_of(p) : KEY_NONE;
}

/* ---- For programs -------------------------------------------------------- */

/* 0 is unknown. */
static void put_count(struct buf *b, const char *key, int64_t n)
{
    if (n)
        json_add_i64(b, key, n);
    else
        json_add_nullable(b, key, STR_NONE);
}

static void put_json(struct buf *b, const struct model *m)
{
    json_open(b, NULL, '{');
    json_add_str(b, "name", m->name);
    put_count(b, "window", m->window);
    put_count(b, "output", m->output);
    if (m->price.known) {
        json_open(b, "price", '{');
        json_add_nano(b, "input", m->price.input);
        json_add_nano(b, "cached", m->price.cached);
        if (m->price.cache_write >= 0)
            json_add_nano(b, "cache_write", m->price.cache_write);
        json_add_nano(b, "output", m->price.output);
        json_close(b, '}');
    } else {
        json_add_nullable(b, "price", STR_NONE);
    }
    put_count(b, "concurrency", m->concurrency);
    json_add_raw(b, "key", str_of(key_json[key_for(m->name)]));
    if (m->source) {
        json_add_str(b, "source", str_of(m->source));
        json_add_str(b, "date", str_of(m->date));
    }
    buf_cstr(b, "}\n");
}

static void put_provider_json(struct buf *b, const struct codec *p)
{
    json_open(b, NULL, '{');
    json_add_str(b, "provider", str_of(p->name));
    json_add_nullable(b, "key_env", str_of(p->key_env));
    json_add_raw(b, "key", str_of(key_json[key_of(p)]));
    buf_cstr(b, "}\n");
}

/* ---- For people ---------------------------------------------------------- */

static void put_tokens(struct buf *b, int64_t n)
{
    if (n)
        buf_fmt(b, " %9lld", (long long)n);
    else
        buf_fmt(b, " %9s", "-");
}

static void put_usd(struct buf *b, bool known, int64_t nano)
{
    struct buf text = {.mem = b->mem};

    term_usd(&text, known ? nano : -1);
    buf_fmt(b, " %8s", text.ptr);
}

enum { NAME_COLUMNS = 28 };

static void put_head(struct buf *b)
{
    buf_fmt(b, "%-*s %9s %9s %8s %8s %8s  %s\n", NAME_COLUMNS, "MODEL",
            "WINDOW", "OUTPUT", "$IN", "$CACHED", "$OUT", "KEY");
}

static void put_line(struct buf *b, const struct model *m)
{
    struct buf name = {.mem = b->mem};

    term_text(&name, m->name);
    buf_fmt(b, "%-*s", NAME_COLUMNS, buf_view(&name).ptr);
    put_tokens(b, m->window);
    put_tokens(b, m->output);
    put_usd(b, m->price.known, m->price.input);
    put_usd(b, m->price.known, m->price.cached);
    put_usd(b, m->price.known, m->price.output);
    buf_fmt(b, "  %s\n", key_words[key_for(m->name)]);
}

static void put_provider(struct buf *b, const struct codec *p)
{
    enum key key = key_of(p);

    buf_fmt(b, "%-10s ", p->name);
    if (key == KEY_NONE)
        buf_cstr(b, "needs no key\n");
    else
        buf_fmt(b, "%s is %s\n", p->key_env,
                key == KEY_YES ? "set" : "not set");
}

/* ---- The command --------------------------------------------------------- */

int models_load(struct cli *cli, struct buf *path, struct models **out)
{
    const char *named = cli->set.models;
    struct buf text = {.mem = &cli_mem};
    wend_status s = WEND_E_NOTFOUND;

    if (models_path(path, named, getenv("XDG_CONFIG_HOME"), getenv("HOME")))
        s = config_read(path->ptr, &text, &cli->err);
    if (s == WEND_E_NOTFOUND && !(named && *named))
        return EXIT_DONE; /* none is needed */
    if (s == WEND_OK) {
        s = models_parse(buf_view(&text), &cli->arena, out, &cli->err);
        if (s != WEND_OK)
            fail_in(&cli->err, path->ptr, &cli->err);
    }
    return report(cli, s);
}

static void put_all(struct cli *cli, struct buf *b, const struct models *all,
                    wend_str path)
{
    bool json = cli->set.json;
    const struct model *m, *dated = NULL;
    const struct codec *p;

    if (!json)
        put_head(b);
    for (size_t i = 0; all && i < all->count; i++)
        (json ? put_json : put_line)(b, &all->list[i]);
    for (size_t i = 0; (m = models_known_at(i)); i++)
        if (models_look_up(all, m->name) == m) {
            (json ? put_json : put_line)(b, m);
            dated = m;
        }
    if (!json)
        buf_char(b, '\n');
    for (size_t i = 0; (p = codec_at(i)); i++)
        (json ? put_provider_json : put_provider)(b, p);
    if (json)
        return;
    if (dated)
        buf_fmt(b, "\nPrices that wend comes with are of %s, from\n%s;\n",
                dated->date, dated->source);
    buf_cstr(b, dated ? "your own go into " : "\nYour own go into ");
    term_text(b, path);
    buf_cstr(b, ", see wend-models(5).\n");
}

/* ---- What a provider has ------------------------------------------------- */

/* Servers that people run themselves are providers, too. */
static bool ask_options(struct cli *cli, wend_agent_options *o)
{
    const struct settings *set = &cli->set;
    const char *name = cli->args[0], *url = cli->given.base_url;
    const struct local_server *l = local_named(str_of(name));
    struct buf b = {.mem = &cli_mem}, at = b;
    size_t len = strlen(name);

    if (l && !codec_find(str_of(name))) {
        buf_fmt(&at, "http://127.0.0.1:%d/v1", (int)l->port);
        url = url ? url : at.ptr;
        name = "openai";
    } else if (!url && set->model && !strncmp(set->model, name, len) &&
               set->model[len] == ':') {
        url = set->base_url; /* of this provider */
    }
    buf_fmt(&b, "%s:", name);
    *o = (wend_agent_options){.size = sizeof *o,
                              .model = b.ptr,
                              .base_url = url,
                              .key_file = set->key_file,
                              .ca_file = set->ca_file,
                              .insecure_http = set->insecure_http,
                              .model_timeout_ms = cli->given.timeout_ms};
    return codec_find(str_of(name)) != NULL;
}

static int no_provider(struct cli *cli)
{
    const char *names[16];
    const struct local_server *l;
    const struct codec *p;
    struct buf all = {.mem = &cli_mem};
    char hint[HINT_BYTES];
    int n = 0;

    for (size_t i = 0; (p = codec_at(i)); i++)
        names[n++] = p->name;
    for (size_t i = 0; (l = local_at(i)); i++)
        if (str_index(str_of(l->name), names, n) < 0)
            names[n++] = l->name;
    for (int i = 0; i < n; i++)
        buf_fmt(&all, "%s %s", i ? "," : "", names[i]);
    return usage_error(cli, "unknown provider '%s'; it must be one of%s%s",
                       cli->args[0], all.ptr,
                       did_you_mean(hint, cli->args[0], names, n));
}

static void put_row(struct cli *cli, struct buf *b, const struct models *all,
                    const wend_agent_options *o, const wend_model_info *row)
{
    struct buf name = {.mem = &cli_mem};
    const struct model *found;
    struct model m = {.price.cache_write = -1};

    buf_cstr(&name, o->model);
    buf_str(&name, row->name);
    found = models_look_up(all, buf_view(&name));
    if (found)
        m = *found;
    if (o->base_url && m.source) /* another server has its own price */
        m = (struct model){.price.cache_write = -1};
    m.name = buf_view(&name);
    if (row->window)
        m.window = row->window;
    if (row->output)
        m.output = row->output;
    (cli->set.json ? put_json : put_line)(b, &m);
    buf_free(&name);
}

static int ask(struct cli *cli, const struct models *all)
{
    struct buf b = {.mem = &cli_mem};
    wend_model_list *list = NULL;
    wend_agent_options o;
    wend_status s;

    if (!ask_options(cli, &o))
        return no_provider(cli);
    key_file_look(&cli->set);
    s = wend_runtime_new(NULL, &cli->rt, &cli->err);
    if (s == WEND_OK)
        s = wend_models_ask(cli->rt, &o, &list, &cli->err);
    if (s != WEND_OK)
        return complain(s == WEND_E_INVAL ? EXIT_USAGE : EXIT_FAILED, "%s%s",
                        cli->err.message,
                        s == WEND_E_STALE ? "; check the key" : "");
    if (!cli->set.json && list->count)
        put_head(&b);
    for (size_t i = 0; i < list->count; i++)
        put_row(cli, &b, all, &o, &list->models[i]);
    if (!list->count)
        complain(0, "%.*s has no models", (int)list->url.len, list->url.ptr);
    wend_models_free(list);
    return print_buf(&b);
}

static int run(struct cli *cli)
{
    struct buf path = {.mem = &cli_mem}, b = {.mem = &cli_mem};
    struct models *all = NULL;
    int code = models_load(cli, &path, &all);

    if (code)
        return code;
    if (cli->args_count)
        return ask(cli, all);
    put_all(cli, &b, all, buf_view(&path));
    return print_buf(&b);
}

const struct command command_models = {
    .name = "models",
    .args = "[OPTIONS] [PROVIDER]",
    .args_max = 1,
    .summary = "list models with windows and prices, or what a provider has",
    .more = "With PROVIDER (openai, anthropic, gemini, ollama, responses, "
            "llamacpp, vllm,\n"
            "lmstudio) the provider is asked for its models. Prices are USD "
            "per million\n"
            "tokens; those in $WEND_MODELS or ~/.config/wend/models.yaml come "
            "first, and\n"
            "the first entry that matches a model applies.\n",
    .opts = opts,
    .run = run,
};
