/*
 * cmd_models.c - wend models: windows, prices, and which providers have a key.
 *
 * Only the presence of a key is checked, never its value.
 */
#include <stdlib.h>

#include "base/fail.h"
#include "base/json.h"
#include "cli/cmd/cmd.h"
#include "cli/rows.h"
#include "cli/config.h"
#include "cli/term.h"
#include "wire/file/models.h"
#include "wire/model/model.h"

static const struct opt opts[] = {
    ROW_JSON("print one JSON object per model and per provider"),
    ROW_TEXT(models, "models", "FILE", "file to read (default $WEND_MODELS)"),
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

    if (known)
        json_put_nano(&text, nano);
    else
        buf_char(&text, '-');
    buf_fmt(b, " %8s", text.ptr);
}

static void put_line(struct buf *b, const struct model *m)
{
    struct buf name = {.mem = b->mem};

    term_text(&name, m->name);
    buf_fmt(b, "%-28s", buf_view(&name).ptr);
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
    const struct codec *p;

    if (!json && all && all->count)
        buf_fmt(b, "%-28s %9s %9s %8s %8s %8s  %s\n", "MODEL", "WINDOW",
                "OUTPUT", "$IN", "$CACHED", "$OUT", "KEY");
    for (size_t i = 0; all && i < all->count; i++)
        (json ? put_json : put_line)(b, &all->list[i]);
    if (!json && all && all->count)
        buf_char(b, '\n');
    for (size_t i = 0; (p = codec_at(i)); i++)
        (json ? put_provider_json : put_provider)(b, p);
    if (json || (all && all->count))
        return;
    buf_cstr(b, "\n"
                "No context windows or prices are known; define them in ");
    term_text(b, path);
    buf_cstr(b, ",\nsee wend-models(5).\n");
}

static int run(struct cli *cli)
{
    struct buf path = {.mem = &cli_mem}, b = {.mem = &cli_mem};
    struct models *all = NULL;
    int code = models_load(cli, &path, &all);

    if (code)
        return code;
    put_all(cli, &b, all, buf_view(&path));
    return print_buf(&b);
}

const struct command command_models = {
    .name = "models",
    .args = "[OPTIONS]",
    .summary = "list models with windows and prices, and providers with keys",
    .more = "Prices are USD per million tokens. You define them in "
            "$WEND_MODELS or\n"
            "~/.config/wend/models.yaml; the first entry that matches a model "
            "applies.\n",
    .opts = opts,
    .run = run,
};
