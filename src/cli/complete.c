/*
 * complete.c - what the shells offer when the user presses the tab key.
 *
 * Commands, options and their words come from the tables that parse them, so
 * that no shell has a list of its own. Text from a store may come from an
 * imported file: what a shell could read as more than a word is left out.
 */
#include "cli/complete.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/id.h"
#include "base/utf8.h"
#include "cli/agent/agent.h"
#include "cli/ask/question.h"
#include "cli/ask/waiting.h"
#include "cli/config.h"
#include "cli/term.h"
#include "wire/file/manifest.h"
#include "wire/file/models.h"
#include "wire/model/local.h"
#include "wire/model/model.h"

enum {
    RUNS_OFFERED = 30,
    RUNS_SEEN = 500, /* for their status, users and sessions */
    NAMES_OFFERED = 50,
    ABOUT_COLUMNS = 60,
};

struct completer {
    struct cli *cli;
    const struct command *const *commands;
    int commands_count;
    const struct command *command;
    wend_str word;     /* what is there already ... */
    wend_str front;    /* ... behind this: `--name=`, `script:` or both */
    const char *first; /* argument of the command; NULL: none yet */
    const char *files; /* "none", "files", "dirs" */
    int runs;          /* that were offered */
    struct buf out;
};

/* ---- Candidates ---------------------------------------------------------- */

/* No control characters, and nothing that a shell could expand. The scripts
 * quote spaces. */
static bool can_be_offered(wend_str s)
{
    static const char plain[] = "0123456789abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ_-.:/@+=,%~ ";
    struct utf8_before before = {0};
    size_t len;

    if (!s.len || s.ptr[0] == ' ' || s.ptr[s.len - 1] == ' ' ||
        utf8_valid_len(s) != s.len)
        return false;
    for (; s.len; s = str_skip(s, len)) {
        uint32_t c = utf8_first(s, &len);

        if (c < 0x80 ? !c || !strchr(plain, (int)c) : utf8_hides(&before, c))
            return false;
    }
    return true;
}

static bool begins_with(wend_str s, wend_str head)
{
    return s.len >= head.len && !memcmp(s.ptr, head.ptr, head.len);
}

static void offer(struct completer *c, wend_str word, wend_str about)
{
    if (!can_be_offered(word) || (c->word.len && !begins_with(word, c->word)))
        return;
    buf_str(&c->out, c->front);
    buf_str(&c->out, word);
    if (about.len) {
        buf_char(&c->out, '\t');
        term_line(&c->out, about, ABOUT_COLUMNS);
    }
    buf_char(&c->out, '\n');
}

static void offer_words(struct completer *c, const char *const *words)
{
    for (int64_t i = 0; words[i]; i++)
        offer(c, str_of(words[i]), STR_NONE);
}

static void offer_commands(struct completer *c)
{
    for (int i = 0; i < c->commands_count; i++)
        offer(c, str_of(c->commands[i]->name), str_of(c->commands[i]->summary));
}

static void offer_options(struct completer *c, const struct opt *o)
{
    char text[80];

    for (; o->name; o++) {
        if (!o->help)
            continue;
        snprintf(text, sizeof text, "--%s", o->name);
        offer(c, str_of(text), str_of(o->help));
        snprintf(text, sizeof text, "-%c", o->letter);
        if (o->letter && c->word.len == 1)
            offer(c, str_of(text), str_of(o->help));
    }
}

/* ---- Names --------------------------------------------------------------- */

static void offer_files(struct completer *c)
{
    c->files = "files";
}

static void offer_dirs(struct completer *c)
{
    c->files = "dirs";
}

static void offer_tools(struct completer *c)
{
    const wend_tool_info *t;

    for (size_t i = 0; (t = wend_builtin(i)); i++)
        offer(c, t->name, t->description);
}

static void offer_approvals(struct completer *c)
{
    static const char *const modes[] = {"ask", "deny", "all", NULL};

    offer_words(c, modes);
    offer_tools(c);
}

static void offer_providers(struct completer *c)
{
    const struct codec *p;
    const struct local_server *l;

    for (size_t i = 0; (p = codec_at(i)); i++)
        offer(c, str_of(p->name), STR_NONE);
    for (size_t i = 0; (l = local_at(i)); i++)
        if (!codec_find(str_of(l->name)))
            offer(c, str_of(l->name), str_of(l->title));
}

static bool is_listed(const struct models *all, wend_str name)
{
    for (size_t i = 0; all && i < all->count; i++)
        if (str_eq(all->list[i].name, name))
            return true;
    return false;
}

/* Those that wend comes with, once the provider is there: they are many. */
static void offer_known(struct completer *c, const struct models *listed)
{
    const char *colon = memchr(c->word.ptr, ':', c->word.len);
    struct buf name = {.mem = &cli_mem};
    const struct model *m;

    for (size_t i = 0; colon && (m = models_known_at(i)); i++) {
        const char *own = memchr(m->name.ptr, ':', m->name.len);

        buf_clear(&name);
        buf_str(&name, (wend_str){c->word.ptr, (size_t)(colon - c->word.ptr)});
        buf_str(&name, str_skip(m->name, (size_t)(own - m->name.ptr)));
        if (models_look_up(NULL, buf_view(&name)) == m &&
            !is_listed(listed, buf_view(&name)))
            offer(c, buf_view(&name), STR_NONE);
    }
    buf_free(&name);
}

/* The models that are known, else the providers to begin with. */
static void offer_models(struct completer *c)
{
    static const char script[] = "script:";
    struct buf path = {.mem = &cli_mem};
    struct models *all = NULL;
    const struct codec *p;
    char text[64];

    if (str_starts(c->word, script)) { /* the front is just before the word */
        c->front = (wend_str){c->word.ptr - c->front.len,
                              c->front.len + sizeof script - 1};
        c->word = str_skip(c->word, sizeof script - 1);
        offer_files(c);
        return;
    }
    if (models_load(c->cli, &path, &all) == EXIT_DONE)
        for (size_t i = 0; all && i < all->count; i++)
            offer(c, all->list[i].name, STR_NONE);
    offer_known(c, all);
    for (size_t i = 0; (p = codec_at(i)); i++) {
        snprintf(text, sizeof text, "%s:", p->name);
        if (!memchr(c->word.ptr, ':', c->word.len))
            offer(c, str_of(text), STR("a provider"));
    }
    offer(c, str_of(script), STR("a script instead of a model"));
}

/* Those in the user's folder are found by the name of their file. */
static void offer_agents(struct completer *c)
{
    const char **paths;
    size_t count = 0;

    offer(c, STR(AGENT_BUILTIN), STR("the built-in agent"));
    if (agents_list(c->cli, &paths, &count) != WEND_OK)
        return;
    for (size_t i = 0; i < count; i++)
        offer(c, manifest_stem(paths[i]), str_of(paths[i]));
}

static void offer_agent_or_file(struct completer *c)
{
    offer_agents(c);
    c->files = "files";
}

static void offer_types(struct completer *c)
{
    for (int t = WEND_EVENT_NONE + 1; t < WEND_EVENT_TYPES; t++)
        offer(c, str_of(wend_event_name((wend_event_type)t)), STR_NONE);
}

/* The next word of a usage or a list; false at its end. */
static bool next_word(wend_str *rest, wend_str *word)
{
    while (rest->len && strchr(" []", rest->ptr[0]))
        *rest = str_skip(*rest, 1);
    *word = *rest;
    word->len = 0;
    while (word->len < rest->len && !strchr(" []", rest->ptr[word->len]))
        word->len++;
    *rest = str_skip(*rest, word->len);
    return word->len > 0;
}

/* ---- Names in the store -------------------------------------------------- */

/* Reads a store that exists; a key must not make one. */
static bool open_quietly(struct cli *cli)
{
    struct buf path = {.mem = &cli_mem};

    return cli->store ||
           (store_file(cli, &path) && !access(path.ptr, R_OK) &&
            wend_store_open_read(path.ptr, &cli->store, NULL) == WEND_OK);
}

/* Whether the command can do something with it. */
static bool is_meant(const struct command *command, const wend_run_info *r)
{
    wend_str rest = str_of(command->statuses ? command->statuses : ""), word;

    if (!rest.len)
        return true;
    while (next_word(&rest, &word))
        if (str_eq(word, r->status))
            return !(r->child && command->no_child);
    return false;
}

static void offer_run_as(struct completer *c, wend_str name,
                         const wend_run_info *r)
{
    struct buf b = {.mem = &cli_mem};

    buf_str(&b, r->status);
    buf_cstr(&b, r->imported ? " (imported): " : ": ");
    buf_str(&b, r->prompt);
    offer(c, name, buf_view(&b));
    buf_free(&b);
}

static int offer_run(void *ctx, const wend_run_info *r)
{
    struct completer *c = ctx;

    if (!is_meant(c->command, r))
        return EXIT_DONE;
    offer_run_as(c, r->run, r);
    return ++c->runs < RUNS_OFFERED ? EXIT_DONE : EXIT_FAILED;
}

static int offer_last(void *ctx, const wend_run_info *r)
{
    struct completer *c = ctx;

    if (is_meant(c->command, r))
        offer_run_as(c, STR("last"), r);
    return EXIT_DONE;
}

static void offer_runs(struct completer *c)
{
    char prefix[RUN_ID_LEN + 1];
    wend_list_options o = {.size = sizeof o, .run = prefix};
    wend_list_options last = {.size = sizeof last};
    bool stored = open_quietly(c->cli);
    struct found found;

    str_copy(prefix, sizeof prefix, c->word);
    if (!c->command->statuses)
        offer(c, STR("last"), STR("the newest run"));
    else if (stored && find_run(c->cli, "last", &found) == EXIT_DONE) {
        last.run = found.id;
        each_run(c->cli, &last, 1, offer_last, c);
    }
    if (stored)
        each_run(c->cli, &o, RUNS_SEEN, offer_run, c);
}

/* Those of the run before it that wait for approval. */
static void offer_calls(struct completer *c)
{
    wend_runtime_options o = {.size = sizeof o};
    struct waiting w = {0};
    struct found found;

    if (!c->first || !open_quietly(c->cli) ||
        find_run(c->cli, c->first, &found) != EXIT_DONE)
        return;
    o.store = c->cli->store;
    if (wend_runtime_new(&o, &c->cli->rt, NULL) == WEND_OK &&
        waiting_find(c->cli, found.id, &w) == EXIT_DONE)
        for (size_t i = 0; i < w.count; i++)
            offer(c, approval_subject(w.list[i].ask),
                  w.list[i].ask->u.approval_ask.name);
    waiting_free(&w);
    wend_runtime_free(c->cli->rt);
}

struct seen {
    struct completer *c;
    size_t at; /* the name in the row */
    wend_str names[NAMES_OFFERED];
    size_t count;
};

static int note_name(void *ctx, const wend_run_info *r)
{
    struct seen *s = ctx;
    wend_str name = *(const wend_str *)(const void *)((const char *)r + s->at);

    for (size_t i = 0; i < s->count; i++)
        if (str_eq(s->names[i], name))
            return EXIT_DONE;
    if (!name.len)
        return EXIT_DONE;
    s->names[s->count] = arena_str(&s->c->cli->arena, name);
    offer(s->c, s->names[s->count++], STR_NONE);
    return s->count < NAMES_OFFERED ? EXIT_DONE : EXIT_FAILED;
}

static void offer_seen(struct completer *c, size_t at)
{
    const wend_list_options all = {.size = sizeof all};
    struct seen s = {.c = c, .at = at};

    if (open_quietly(c->cli))
        each_run(c->cli, &all, RUNS_SEEN, note_name, &s);
}

static void offer_sessions(struct completer *c)
{
    offer_seen(c, offsetof(wend_run_info, session));
}

static void offer_users(struct completer *c)
{
    offer_seen(c, offsetof(wend_run_info, user));
}

static void offer_run_agents(struct completer *c)
{
    offer_seen(c, offsetof(wend_run_info, agent));
}

/* ---- What belongs where -------------------------------------------------- */

typedef void (*offer_fn)(struct completer *c);

/* By the name of the value in the help, if `option` is NULL. */
static const struct {
    const char *option, *value;
    offer_fn fn;
} places[] = {
    {"model", "NAME", offer_models},     {"fallback", "NAME", offer_models},
    {"tool", "NAME", offer_tools},       {"approve", "WHAT", offer_approvals},
    {"user", "NAME", offer_users},       {"session", "NAME", offer_sessions},
    {"agent", "NAME", offer_run_agents}, {"agent", "FILE", offer_agent_or_file},
    {"store", "URL", offer_files},       {NULL, "FILE", offer_files},
    {NULL, "DIR", offer_dirs},           {NULL, "FOLDER", offer_dirs},
    {NULL, "RUN", offer_runs},           {NULL, "CALL", offer_calls},
    {NULL, "TYPE", offer_types},         {NULL, "NAME", offer_tools},
    {NULL, "PROVIDER", offer_providers}, {NULL, "COMMAND", offer_commands},
};

static void offer_place(struct completer *c, const char *option, wend_str value)
{
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (str_is(value, places[i].value) &&
            (!places[i].option ||
             (option && !strcmp(option, places[i].option)))) {
            places[i].fn(c);
            return;
        }
}

static void offer_value(struct completer *c, const struct opt *o)
{
    if (o->words)
        offer_words(c, o->words);
    else
        offer_place(c, o->name, str_of(o->value));
}

/* An argument, by the usage of the command: "show|run [OPTIONS] FILE". The last
 * one may be repeated. */
static void offer_argument(struct completer *c, int before)
{
    wend_str rest = str_of(c->command->args), word, found = STR_NONE;
    bool value = false; /* of an option that must be there */

    while (next_word(&rest, &word)) {
        if (!value && !str_is(word, "OPTIONS") && !strchr("-|", word.ptr[0])) {
            found = word;
            if (!before--)
                break;
        }
        value = word.ptr[0] == '-';
    }
    if (before >= 0 && c->command->args_max != ARGS_ANY)
        return;
    if (!found.ptr || !memchr(found.ptr, '|', found.len)) {
        offer_place(c, NULL, found);
        return;
    }
    while (found.len) {
        const char *bar = memchr(found.ptr, '|', found.len);
        size_t len = bar ? (size_t)(bar - found.ptr) : found.len;

        offer(c, (wend_str){found.ptr, len}, STR_NONE);
        found = str_skip(found, bar ? len + 1 : len);
    }
}

/* ---- The line ------------------------------------------------------------ */

/* The option at the end of `word` that takes its value from the next one. */
static const struct opt *takes_next(const struct opt *opts, const char *word)
{
    const struct opt *o = NULL;

    if (word[0] != '-' || !word[1])
        return NULL;
    if (word[1] == '-')
        o = opt_named(opts, str_of(word + 2)); /* none with = in it */
    for (const char *p = word + 1; word[1] != '-' && *p; p++) {
        o = opt_lettered(opts, *p);
        if (!o || (o->value && p[1]))
            return NULL;
    }
    return o && o->value ? o : NULL;
}

static void offer_word(struct completer *c, const struct opt *pending,
                       bool ended, int before)
{
    const char *equals = memchr(c->word.ptr, '=', c->word.len);
    const struct opt *o;

    if (pending) {
        offer_value(c, pending);
    } else if (!ended && begins_with(c->word, STR("--")) && equals) {
        c->front = (wend_str){c->word.ptr, (size_t)(equals + 1 - c->word.ptr)};
        c->word = str_skip(c->word, c->front.len);
        o = opt_named(c->command->opts,
                      (wend_str){c->front.ptr + 2, c->front.len - 3});
        if (o && o->value)
            offer_value(c, o);
    } else if (!ended && begins_with(c->word, STR("-"))) {
        offer_options(c, c->command->opts);
    } else {
        offer_argument(c, before);
        if (!c->word.len && !ended && !c->out.len && !strcmp(c->files, "none"))
            offer_options(c, c->command->opts);
    }
}

static void offer_for_command(struct completer *c, int count, char **words)
{
    const struct opt *pending = NULL;
    bool ended = false;
    int before = 0;

    for (int i = 0; i < count; i++) {
        if (pending) {
            if (!strcmp(pending->name, "store"))
                c->cli->set.store = words[i];
            pending = NULL;
        } else if (!ended && !strcmp(words[i], "--")) {
            ended = true;
        } else if (!ended && words[i][0] == '-' && words[i][1]) {
            pending = takes_next(c->command->opts, words[i]);
        } else if (!before++) {
            c->first = words[i];
        }
    }
    offer_word(c, pending, ended, before);
}

static void offer_all(struct completer *c, int count, char **words)
{
    static const char *const top[] = {"--help", "--version", NULL};

    for (int i = 0; count > 1 && i < c->commands_count; i++)
        if (!strcmp(c->commands[i]->name, words[0]))
            c->command = c->cli->command = c->commands[i];
    if (c->command) {
        offer_for_command(c, count - 2, words + 1);
        return;
    }
    if (count <= 1 || (count == 2 && !strcmp(words[0], "help")))
        offer_commands(c);
    if (count <= 1) {
        offer(c, STR("help"), STR("describe a command"));
        offer_words(c, top);
    }
}

/* Without a word, whatever fails: it would be on the user's command line. */
static void be_silent(void)
{
    int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

    if (fd >= 0)
        dup2(fd, STDERR_FILENO);
}

int complete_words(struct cli *cli, const struct command *const *commands,
                   int commands_count, int count, char **words)
{
    struct completer c = {.cli = cli,
                          .commands = commands,
                          .commands_count = commands_count,
                          .word = count ? str_of(words[count - 1]) : STR(""),
                          .front = STR(""),
                          .files = "none",
                          .out = {.mem = &cli_mem}};
    struct buf all = {.mem = &cli_mem};

    be_silent();
    config_load(&cli->set, &cli->arena, NULL);
    config_environment(&cli->set);
    offer_all(&c, count, words);
    buf_cstr(&all, c.files);
    if (c.front.len && strcmp(c.files, "none") != 0) {
        buf_char(&all, '\t');
        buf_str(&all, c.front);
    }
    buf_char(&all, '\n');
    buf_str(&all, buf_view(&c.out));
    print_buf(&all);
    wend_store_free(cli->store);
    return EXIT_DONE;
}
