/*
 * config.c - the settings file, read through the rows of the options.
 */
#include "cli/cmd/cmd.h"
#include "cli/config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/fail.h"
#include "wire/file/yaml.h"

enum { CONFIG_BYTES_MAX = 1 << 20 };

/* A key sets what an option of `run` sets: the option of that name with - for
 * _. Only `tools` is --tool, which can be repeated. */
static const char *const keys[] = {
    "model",     "store",    "instructions",  "fallback",      "model_timeout",
    "base_url",  "key_file", "ca_file",       "insecure_http", "models",
    "max_turns", "timeout",  "budget_tokens", "parallel",      "budget_cost",
    "eager",     "effort",   "approve",       "tools",         "notes",
};
enum { KEYS = sizeof keys / sizeof *keys };
_Static_assert((int)KEYS <= (int)CONFIG_KEYS_MAX, "a line for each key");

void settings_clear(struct settings *set)
{
    memset(set, 0, sizeof *set);
    set->limit = set->events = set->sandbox = set->status = set->format = -1;
    set->speed = 1;
}

static bool folder(struct buf *out, const char *xdg, const char *in_home)
{
    const char *home = getenv("HOME");

    if (xdg && xdg[0] == '/') /* relative paths must be ignored */
        buf_fmt(out, "%s/wend", xdg);
    else if (home && home[0] == '/')
        buf_fmt(out, "%s/%s/wend", home, in_home);
    return out->len > 0;
}

bool config_folder(struct buf *out)
{
    return folder(out, getenv("XDG_CONFIG_HOME"), ".config");
}

bool data_folder(struct buf *out)
{
    return folder(out, getenv("XDG_DATA_HOME"), ".local/share");
}

wend_status data_folder_make(struct buf *folder, wend_error *err)
{
    for (char *p = folder->ptr + 1;; p++) {
        char c = *p;

        if (c && c != '/')
            continue;
        *p = 0;
        if (mkdir(folder->ptr, 0700) && errno != EEXIST)
            return fail(err, WEND_E_IO, "cannot create directory %s: %s",
                        folder->ptr, strerror(errno));
        *p = c;
        if (!c)
            return WEND_OK;
    }
}

wend_status data_file_check(const char *path, wend_error *err)
{
    struct stat st;

    if (stat(path, &st))
        return WEND_OK; /* the reader reports the error */
    if (st.st_uid != geteuid())
        return fail(err, WEND_E_IO, "%s belongs to another user", path);
    if (st.st_mode & 022)
        return fail(err, WEND_E_IO,
                    "other users can write to %s; check its contents, then "
                    "'chmod 600' it",
                    path);
    return WEND_OK;
}

void key_file_look(const struct settings *set)
{
    struct stat st;

    if (!set->quiet && set->key_file && !stat(set->key_file, &st) &&
        S_ISREG(st.st_mode) && (st.st_mode & (S_IRGRP | S_IROTH)))
        complain(0, "other users can read the key in %s", set->key_file);
}

bool config_path(struct buf *out, bool *named)
{
    const char *own = getenv("WEND_CONFIG");

    *named = own && *own;
    if (*named)
        buf_cstr(out, own);
    else if (config_folder(out))
        buf_cstr(out, "/config.yaml");
    return out->len > 0;
}

wend_status config_read(const char *path, struct buf *text, wend_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    wend_status s = WEND_OK;

    if (fd < 0 && errno == ENOENT)
        return fail(err, WEND_E_NOTFOUND, "%s: file not found", path);
    if (fd < 0 || !read_all(fd, CONFIG_BYTES_MAX, text))
        s = fail(err, WEND_E_IO, "%s: %s", path, strerror(errno));
    else if (text->len > CONFIG_BYTES_MAX)
        s = fail(err, WEND_E_LIMIT, "%s: larger than %d bytes", path,
                 CONFIG_BYTES_MAX);
    if (fd >= 0)
        close(fd);
    return s;
}

wend_status data_file_read(const char *path, struct buf *text, wend_error *err)
{
    wend_status s = data_file_check(path, err);

    return s == WEND_OK ? config_read(path, text, err) : s;
}

struct config_reader {
    const char *path;
    struct settings *set;
    struct arena *arena;
    wend_error *err;
    wend_str json;                /* the text, if it is JSON */
    struct config_origin *origin; /* may be NULL */
};

static wend_status wrong(const struct config_reader *r, const struct json *j,
                         const char *key, const char *what)
{
    return fail_at(r->err, WEND_E_PARSE, j->line, j->column,
                   "%s:%u:%u: %s: %.300s", r->path, j->line, j->column, key,
                   what);
}

static wend_status set_one(const struct config_reader *r, const struct opt *o,
                           const char *key, const struct json *j)
{
    struct buf why = {.mem = &cli_mem};

    if (o->kind == OPT_FLAG &&
        (j->kind == JSON_TRUE || j->kind == JSON_FALSE)) {
        *(bool *)((char *)r->set + o->at) = j->kind == JSON_TRUE;
        return WEND_OK;
    }
    if (o->kind == OPT_FLAG)
        return wrong(r, j, key, "must be true or false");
    if (j->kind != JSON_STRING && j->kind != JSON_NUMBER)
        return wrong(r, j, key, "must be a string or a number");
    return opt_set(o, r->set, arena_str(r->arena, j->text).ptr, ORIGIN_CONFIG,
                   r->arena, &why)
               ? WEND_OK
               : wrong(r, j, key, why.ptr);
}

static wend_status unknown_key(const struct config_reader *r,
                               const struct json *j)
{
    char key[80], hint[HINT_BYTES];
    uint32_t line, column;

    str_copy(key, sizeof key, j->key);
    yaml_key(r->json, j, &line, &column);
    return fail_at(r->err, WEND_E_PARSE, line, column,
                   "%s:%u:%u: unknown key '%s'%s", r->path, line, column, key,
                   did_you_mean(hint, key, keys, KEYS));
}

static const struct opt *option_of(const char *key)
{
    char name[40];

    snprintf(name, sizeof name, "%s", strcmp(key, "tools") ? key : "tool");
    for (char *p = name; (p = strchr(p, '_'));)
        *p = '-';
    return opt_named(command_run.opts, str_of(name));
}

static wend_status read_key(const struct config_reader *r, const struct json *j)
{
    wend_status s = WEND_OK;
    const struct opt *o;
    int i = str_index(j->key, keys, KEYS);

    if (i < 0)
        return unknown_key(r, j);
    o = option_of(keys[i]);
    if (r->origin)
        r->origin->lines[i] = j->line;
    if (j->kind != JSON_ARRAY)
        return set_one(r, o, keys[i], j);
    if (o->kind != OPT_LIST)
        return wrong(r, j, keys[i], "must not be a list");
    for (const struct json *e = j->first; s == WEND_OK && e; e = e->next)
        s = set_one(r, o, keys[i], e);
    return s;
}

/* Only comments: the file may exist only as a template. */
static bool is_template(wend_str text)
{
    wend_str line;

    while (str_line(&text, &line)) {
        line = str_trim(line, is_space);
        if (line.len && line.ptr[0] != '#')
            return false;
    }
    return true;
}

static wend_status read_tree(struct config_reader *r, wend_str text)
{
    wend_error why = {0};
    const struct json *tree;
    wend_status s = WEND_OK;

    if (is_template(text))
        return WEND_OK;
    tree = yaml_parse(text, r->arena, &r->json, &why);
    if (!tree)
        return fail_in(r->err, r->path, &why);
    if (tree->kind != JSON_OBJECT)
        return fail(r->err, WEND_E_PARSE,
                    "%s: must hold keys and values, like 'model: NAME'",
                    r->path);
    for (const struct json *j = tree->first; s == WEND_OK && j; j = j->next)
        s = read_key(r, j);
    return s;
}

const char *config_key(size_t i, const struct opt **o)
{
    *o = i < KEYS ? option_of(keys[i]) : NULL;
    return i < KEYS ? keys[i] : NULL;
}

wend_status config_load(struct settings *set, struct arena *a, wend_error *err)
{
    return config_load_from(set, a, NULL, err);
}

wend_status config_load_from(struct settings *set, struct arena *a,
                             struct config_origin *origin, wend_error *err)
{
    struct buf path = {.mem = &cli_mem}, text = {.mem = &cli_mem};
    struct config_reader r = {
        .set = set, .arena = a, .err = err, .origin = origin};
    wend_status s;
    bool named;

    if (!config_path(&path, &named))
        return WEND_OK;
    r.path = path.ptr;
    s = config_read(path.ptr, &text, err);
    if (s == WEND_E_NOTFOUND && !named)
        return WEND_OK;
    if (origin)
        origin->path = path.ptr;
    return s == WEND_OK ? read_tree(&r, buf_view(&text)) : s;
}

void config_environment(struct settings *set)
{
    const char *model = getenv("WEND_MODEL"), *store = getenv("WEND_STORE");
    const char *models = getenv("WEND_MODELS");

    if (model && *model)
        set->model = model;
    if (store && *store)
        set->store = store;
    if (models && *models)
        set->models = models;
}
