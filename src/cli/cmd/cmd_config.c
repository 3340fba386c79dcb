/*
 * cmd_config.c - wend config: each setting of a run, its value and its origin.
 *
 * Every layer is read once more on its own, by the code that a run uses; the
 * last one that sets a value is its origin. Keys of providers are never read.
 * Then come the approvals that 'always' and 'never' have left behind.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "cli/agent/agent.h"
#include "cli/ask/remember.h"
#include "cli/cmd/cmd.h"
#include "cli/config.h"
#include "cli/keys.h"
#include "cli/rows.h"
#include "cli/term.h"
#include "wire/file/yaml.h"
#include "wire/model/model.h"

static const struct opt opts[] = {
    ROW_JSON("print one JSON object per setting"),
    ROW_AGENT("agent: a file or a name (default ./wend.yaml)"),
    ROW_MODEL("model, as for 'wend run'"),
    ROWS_PROVIDER,
    ROW_MODELS,
    ROW_TOOL("tool to offer; may be repeated"),
    ROW_STORE_ANY,
    ROWS_LIMITS("maximum number of turns", LIMIT_TOKENS, LIMIT_COST),
    ROW_PARALLEL("maximum number of concurrent calls"),
    ROW_APPROVE(APPROVE_HELP),
    ROW_TEXT(forget, "forget", "RULE",
             "forget a remembered approval of this directory"),
    ROWS_END,
};

/* What holds if nothing sets it, and where an agent's file has it. */
static const struct fallback {
    const char *key, *value, *member, *in;
} fallbacks[] = {
    {"model", NULL, "model", NULL},
    {"store", "~/.local/share/wend/wend.db", NULL, NULL},
    {"instructions", NULL, "instructions", NULL},
    {"fallback", NULL, "fallback_models", NULL},
    {"model_timeout", "30m", NULL, NULL},
    {"base_url", NULL, "base_url", NULL},
    {"models", "~/.config/wend/models.yaml", NULL, NULL},
    {"max_turns", "50", "turns", "limits"},
    {"timeout", NULL, "time", "limits"},
    {"budget_tokens", NULL, "tokens", "limits"},
    {"budget_cost", NULL, "cost", "limits"},
    {"parallel", "5", "parallel", "limits"},
    {"approve", NULL, NULL, NULL}, /* see put_mode */
    {"tools", "calculator, read_file, list_dir, glob, grep", "tools", NULL},
};

static const struct {
    const char *key, *variable;
} variables[] = {
    {"model", "WEND_MODEL"},
    {"store", "WEND_STORE"},
    {"models", "WEND_MODELS"},
};

struct layers {
    struct cli *cli;
    struct settings none, file, environment;
    struct config_origin origin; /* of the file */
    const struct json *agent;    /* the text of the agent's file; NULL: none */
    struct buf out;
};

/* ---- Which layer --------------------------------------------------------- */

static size_t size_of(const struct opt *o)
{
    switch (o->kind) {
    case OPT_FLAG: return sizeof(bool);
    case OPT_TEXT: return sizeof(const char *);
    case OPT_LIST: return sizeof(struct words);
    case OPT_NUMBER:
    case OPT_TIME:
    case OPT_AGE:
    case OPT_MONEY:
    case OPT_WORD: return sizeof(int64_t);
    case OPT_FACTOR: return sizeof(double);
    case OPT_REFUSED: return 0;
    }
    return 0;
}

static bool sets(const struct layers *l, const struct opt *o,
                 const struct settings *layer)
{
    return memcmp((const char *)layer + o->at, (const char *)&l->none + o->at,
                  size_of(o)) != 0;
}

static const struct fallback *fallback_of(const char *key)
{
    for (size_t i = 0; i < sizeof fallbacks / sizeof *fallbacks; i++)
        if (!strcmp(fallbacks[i].key, key))
            return &fallbacks[i];
    return NULL;
}

/* The value in the agent's file; NULL: it says nothing. */
static const struct json *in_agent(const struct layers *l, const char *key)
{
    const struct fallback *f = fallback_of(key);
    const struct json *j = f && f->member ? l->agent : NULL;

    if (j && f->in)
        j = json_get(j, f->in);
    return j ? json_get(j, f->member) : NULL;
}

static const char *variable_of(const char *key)
{
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        if (!strcmp(variables[i].key, key))
            return variables[i].variable;
    return "";
}

static void put_origin(const struct layers *l, struct buf *b, const char *key,
                       size_t i, const struct opt *o)
{
    const struct json *j = in_agent(l, key);

    if (sets(l, o, &l->cli->given))
        buf_fmt(b, "option --%s", o->name);
    else if (j)
        buf_fmt(b, "%s:%u", l->cli->agent->path, (unsigned)j->line);
    else if (sets(l, o, &l->environment))
        buf_fmt(b, "variable %s", variable_of(key));
    else if (sets(l, o, &l->file))
        buf_fmt(b, "%s:%u", l->origin.path, (unsigned)l->origin.lines[i]);
    else
        buf_cstr(b, "default");
}

/* ---- Values -------------------------------------------------------------- */

static void put_time(struct buf *b, int64_t ms)
{
    if (ms % 1000)
        buf_fmt(b, "%lldms", (long long)ms);
    else
        buf_fmt(b, "%llds", (long long)(ms / 1000));
}

/* Nothing: there is none. */
static void put_value(struct buf *b, const struct opt *o,
                      const struct settings *set)
{
    const void *at = (const char *)set + o->at;
    const struct words *w = at;

    switch (o->kind) {
    case OPT_FLAG: buf_cstr(b, *(const bool *)at ? "true" : "false"); break;
    case OPT_TEXT:
        buf_cstr(b, *(const char *const *)at ? *(const char *const *)at : "");
        break;
    case OPT_LIST:
        for (size_t i = 0; i < w->count; i++)
            buf_fmt(b, "%s%s", i ? ", " : "", w->items[i]);
        break;
    case OPT_NUMBER:
        if (*(const int64_t *)at)
            buf_i64(b, *(const int64_t *)at);
        break;
    case OPT_TIME:
    case OPT_AGE:
        if (*(const int64_t *)at)
            put_time(b, *(const int64_t *)at);
        break;
    case OPT_MONEY:
        if (*(const int64_t *)at)
            json_put_nano(b, *(const int64_t *)at);
        break;
    case OPT_WORD: buf_cstr(b, o->words[*(const int64_t *)at]); break;
    case OPT_FACTOR:
    case OPT_REFUSED: break;
    }
}

/* `tools` of an agent's file are no setting of ours. */
static void put_list(struct buf *b, const struct json *list)
{
    for (const struct json *j = list->first; j; j = j->next) {
        buf_cstr(b, j == list->first ? "" : ", ");
        buf_str(b, json_str(j));
    }
}

/* Without a mode, the terminal decides: as in agent_approve. */
static void put_mode(struct layers *l, struct buf *value, struct buf *origin)
{
    const struct words *w = &l->cli->set.approve;
    struct buf rules = *value;
    bool asks = keys_present();

    for (size_t i = 0; i < w->count; i++)
        if (agent_approve_mode(w->items[i]) >= 0)
            return;
    *value = (struct buf){.mem = &cli_mem};
    buf_cstr(value, asks ? "ask" : "deny");
    buf_cstr(value, rules.len ? ", " : "");
    buf_str(value, buf_view(&rules));
    if (!asks)
        buf_cstr(origin, rules.len ? "" : ", without a terminal");
}

static bool is_number(const struct opt *o)
{
    return o->kind == OPT_NUMBER || o->kind == OPT_MONEY || o->kind == OPT_FLAG;
}

static void put_setting(struct layers *l, const char *key, size_t i,
                        const struct opt *o)
{
    enum { KEY_COLUMNS = 14, VALUE_COLUMNS = 40 };
    struct buf value = {.mem = &cli_mem}, origin = value;
    const struct fallback *f = fallback_of(key);
    const struct json *j = in_agent(l, key);

    put_origin(l, &origin, key, i, o);
    if (!strcmp(key, "tools") && j && !sets(l, o, &l->cli->given))
        put_list(&value, j);
    else
        put_value(&value, o, &l->cli->set);
    if (!value.len && f && f->value)
        buf_cstr(&value, f->value);
    if (!strcmp(key, "approve"))
        put_mode(l, &value, &origin);
    if (l->cli->set.json) {
        json_open(&l->out, NULL, '{');
        json_add_str(&l->out, "setting", str_of(key));
        if (value.len && is_number(o))
            json_add_raw(&l->out, "value", buf_view(&value));
        else
            json_add_nullable(&l->out, "value",
                              value.len ? buf_view(&value) : STR_NONE);
        json_add_str(&l->out, "origin", buf_view(&origin));
        buf_cstr(&l->out, "}\n");
        return;
    }
    term_cell(&l->out, str_of(key), KEY_COLUMNS);
    buf_char(&l->out, ' ');
    term_cell(&l->out, value.len ? buf_view(&value) : STR("-"), VALUE_COLUMNS);
    buf_char(&l->out, ' ');
    term_text(&l->out, buf_view(&origin));
    buf_char(&l->out, '\n');
}

/* ---- The command --------------------------------------------------------- */

/* Which keys are there, and never what they are. */
static void put_keys(struct layers *l)
{
    const struct codec *c;

    if (!l->cli->set.json)
        buf_char(&l->out, '\n');
    for (size_t i = 0; (c = codec_at(i)); i++) {
        const char *value = c->key_env ? getenv(c->key_env) : NULL;

        if (!c->key_env || !strcmp(c->name, "responses"))
            continue;
        if (l->cli->set.json)
            buf_fmt(&l->out, "{\"variable\":\"%s\",\"set\":%s}\n", c->key_env,
                    value && *value ? "true" : "false");
        else
            buf_fmt(&l->out, "%s is %s\n", c->key_env,
                    value && *value ? "set" : "not set");
    }
}

/* ---- Remembered approvals ------------------------------------------------ */

struct kept_list {
    struct layers *layers;
    struct buf path;
    size_t count;
};

static wend_status put_kept(void *ctx, const struct remembered_line *k,
                            wend_error *err)
{
    struct kept_list *list = ctx;
    struct buf *out = &list->layers->out;

    (void)err;
    if (list->layers->cli->set.json) {
        json_open(out, NULL, '{');
        json_add_str(out, "approval", k->rule);
        json_add_nullable(out, "directory", k->folder);
        json_add_bool(out, "here", k->here);
        json_add_str(out, "file", buf_view(&list->path));
        json_add_i64(out, "line", k->line);
        buf_cstr(out, "}\n");
        return WEND_OK;
    }
    if (!list->count++)
        buf_cstr(out, "\nRemembered approvals, the newest first:\n");
    buf_cstr(out, "  ");
    term_text(out, k->rule);
    buf_cstr(out, k->folder.ptr ? " in " : " everywhere");
    term_text(out, k->folder);
    buf_cstr(out, "  ");
    term_text(out, buf_view(&list->path));
    buf_fmt(out, ":%u\n", (unsigned)k->line);
    return WEND_OK;
}

static wend_status put_all_kept(struct layers *l)
{
    struct kept_list list = {.layers = l, .path = {.mem = &cli_mem}};
    wend_status s;

    remember_path(&list.path);
    s = remember_each(put_kept, &list, &l->cli->arena, &l->cli->err);
    if (list.count)
        buf_cstr(&l->out, "To forget one that applies here: wend config "
                          "--forget RULE\n");
    return s;
}

static int forget(struct cli *cli)
{
    size_t lines;
    int code = remember_forget(cli, cli->set.forget, &lines);

    if (code)
        return code;
    return lines ? complain(EXIT_DONE, "forgotten: %s", cli->set.forget)
                 : complain(EXIT_USAGE,
                            "--forget: no rule '%.200s' is remembered for this "
                            "directory; 'wend config' lists them",
                            cli->set.forget);
}

static void read_agent(struct layers *l)
{
    struct buf text = {.mem = &cli_mem};
    struct cli *cli = l->cli;
    wend_str json;

    if (cli->agent && config_read(cli->agent->path, &text, NULL) == WEND_OK)
        l->agent = yaml_parse(buf_view(&text), &cli->arena, &json, NULL);
    if (cli->agent || cli->given.agent || cli->set.json ||
        access(AGENT_FILE_DEFAULT, F_OK))
        return;
    buf_cstr(&l->out, AGENT_FILE_DEFAULT
             " is not trusted, and nothing in it counts: look at it, then "
             "'wend trust " AGENT_FILE_DEFAULT "'\n\n");
}

static int run(struct cli *cli)
{
    struct layers l = {.cli = cli, .out = {.mem = &cli_mem}};
    const struct opt *o;
    const char *key;

    if (cli->set.forget)
        return forget(cli);
    settings_clear(&l.none);
    l.file = l.environment = l.none;
    if (config_load_from(&l.file, &cli->arena, &l.origin, &cli->err) != WEND_OK)
        return complain(EXIT_USAGE, "%s", cli->err.message);
    config_environment(&l.environment);
    read_agent(&l);
    for (size_t i = 0; (key = config_key(i, &o)); i++)
        put_setting(&l, key, i, o);
    put_keys(&l);
    if (put_all_kept(&l) != WEND_OK)
        return complain(EXIT_USAGE, "%s", cli->err.message);
    return print_buf(&l.out);
}

const struct command command_config = {
    .name = "config",
    .args = "[OPTIONS]",
    .summary = "show each setting of a run, and where it comes from",
    .more = "An option overrides the agent's file, which overrides environment "
            "variables,\n"
            "which override ~/.config/wend/config.yaml. Keys are not shown.\n",
    .opts = opts,
    .takes_agent = true,
    .run = run,
};
