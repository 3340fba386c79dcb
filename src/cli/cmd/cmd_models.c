/*
 * cmd_models.c - wend models: windows, prices, which providers have a key, and
 * what a provider has.
 *
 * The list only checks the presence of a key, never its value.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/json.h"
#include "cli/cmd/cmd.h"
#include "cli/rows.h"
#include "cli/config.h"
#include "cli/term.h"
#include "cli/view/grid.h"
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

/* A name is whole: people copy it. Other columns are lost for it. */
static const struct grid_column columns[] = {
    {"MODEL", 200, 0, false}, {"WINDOW", 12, 1, true},  {"OUTPUT", 12, 5, true},
    {"$IN", 10, 2, true},     {"$CACHED", 10, 6, true}, {"$OUT", 10, 3, true},
    {"KEY", 3, 4, false},
};

/* A table for people, or lines for programs. */
struct sheet {
    bool json;
    struct buf *out;
    struct grid grid;
};

static void sheet_begin(struct sheet *s, const struct cli *cli, struct buf *out)
{
    s->json = cli->set.json;
    s->out = out;
    grid_begin(&s->grid, columns, sizeof columns / sizeof *columns,
               term_width(STDOUT_FILENO), out);
}

static void tokens_cell(struct grid *g, int64_t n)
{
    if (n)
        grid_number(g, n);
    else
        grid_cell(g, STR("-"));
}

static void sheet_put(struct sheet *s, const struct model *m)
{
    const struct price *p = &m->price;
    struct grid *g = &s->grid;

    if (s->json) {
        put_json(s->out, m);
        return;
    }
    grid_cell(g, m->name);
    tokens_cell(g, m->window);
    tokens_cell(g, m->output);
    grid_usd(g, p->known ? p->input : -1);
    grid_usd(g, p->known ? p->cached : -1);
    grid_usd(g, p->known ? p->output : -1);
    grid_cell(g, str_of(key_words[key_for(m->name)]));
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
    struct sheet sheet;

    sheet_begin(&sheet, cli, b);
    for (size_t i = 0; all && i < all->count; i++)
        sheet_put(&sheet, &all->list[i]);
    for (size_t i = 0; (m = models_known_at(i)); i++)
        if (models_look_up(all, m->name) == m) {
            sheet_put(&sheet, m);
            dated = m;
        }
    grid_end(&sheet.grid);
    if (!json)
        buf_char(b, '\n');
    for (size_t i = 0; (p = codec_at(i)); i++)
        (json ? put_provider_json : put_provider)(b, p);
    if (json)
        return;
    buf_char(b, '\n');
    if (dated)
        buf_fmt(b,
                "Prices that wend comes with are of %s; --json has their "
                "source.\n",
                dated->date);
    buf_cstr(b, "Your own go into this file, see wend-models(5):\n");
    term_text(b, path);
    buf_char(b, '\n');
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

static void put_row(struct sheet *s, const struct models *all,
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
        m.price = (struct price){.cache_write = -1};
    m.name = buf_view(&name);
    if (row->window)
        m.window = row->window;
    if (row->output)
        m.output = row->output;
    sheet_put(s, &m);
    buf_free(&name);
}

/* `asked`: `openai:`; the user may have given another name for it. */
static int not_listed(struct cli *cli, wend_status s, const char *asked)
{
    const char *said = cli->err.message;
    bool named = str_starts(str_of(said), asked);

    return complain(s == WEND_E_INVAL ? EXIT_USAGE : EXIT_FAILED, "%s%s%s%s",
                    named ? cli->args[0] : "", named ? ":" : "",
                    said + (named ? strlen(asked) : 0),
                    s == WEND_E_STALE ? "; check the key" : "");
}

static int ask(struct cli *cli, const struct models *all)
{
    struct buf b = {.mem = &cli_mem};
    wend_model_list *list = NULL;
    struct sheet sheet;
    wend_agent_options o;
    wend_status s;

    if (!ask_options(cli, &o))
        return no_provider(cli);
    key_file_look(&cli->set);
    s = wend_runtime_new(NULL, &cli->rt, &cli->err);
    if (s == WEND_OK)
        s = wend_models_ask(cli->rt, &o, &list, &cli->err);
    if (s != WEND_OK)
        return not_listed(cli, s, o.model);
    sheet_begin(&sheet, cli, &b);
    for (size_t i = 0; i < list->count; i++)
        put_row(&sheet, all, &o, &list->models[i]);
    grid_end(&sheet.grid);
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
