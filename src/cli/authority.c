/*
 * authority.c - whether a run is resumed with the settings of its log or of
 * the user.
 */
#include "cli/authority.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/agent/agent.h"
#include "cli/stores.h"
#include "cli/term.h"

uint32_t authority_given(const struct settings *given)
{
    uint32_t take = 0;

    if (given->agent)
        take |= WEND_FORK_CONFIG | WEND_FORK_LIMITS;
    if (given->model || given->base_url || given->fallback.count)
        take |= WEND_FORK_MODEL;
    if (given->tools.count || given->tool_files.count || given->servers.count)
        take |= WEND_FORK_TOOLS;
    if (given->approve.count)
        take |= WEND_FORK_POLICY;
    if (given->max_turns || given->timeout_ms || given->budget_tokens ||
        given->budget_cost || given->parallel)
        take |= WEND_FORK_LIMITS;
    return take;
}

static bool on_terminal(void)
{
    return isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
}

/* ---- An imported log ----------------------------------------------------- */

/* The description of a tool for the model grants no permission. */
static bool is_shown(wend_str key)
{
    static const char *const words[] = {"description", "schema"};

    return str_index(key, words, 2) < 0;
}

/* As JSON, so that no text can look like another line. */
static void put_one(struct buf *b, const struct json *j)
{
    struct buf text = {.mem = b->mem};

    json_put(&text, j);
    term_text(b, buf_view(&text));
    b->failed |= text.failed;
    buf_free(&text);
}

static void put_tree(struct buf *b, const struct json *j, int depth)
{
    for (const struct json *m = j->first; m; m = m->next) {
        bool nested = (m->kind == JSON_OBJECT || m->kind == JSON_ARRAY) &&
                      m->first != NULL;

        if (m->key.ptr && !is_shown(m->key))
            continue;
        buf_fmt(b, "%*s", 2 * depth, "");
        if (m->key.ptr)
            term_line(b, m->key, 200);
        else
            buf_char(b, '-');
        buf_cstr(b, m->key.ptr ? ": " : " ");
        if (!nested)
            put_one(b, m);
        buf_char(b, '\n');
        if (nested)
            put_tree(b, m, depth + 1);
    }
}

int authority_ask(struct cli *cli, const char *id, wend_str cwd,
                  const struct json *config)
{
    struct buf b = {.mem = cli->arena.mem};
    bool yes = false;

    if (on_terminal()) {
        buf_fmt(&b,
                "Run %s was imported. According to its log it resumes with:\n"
                "  directory: ",
                id);
        term_line(&b, cwd, 4096);
        buf_char(&b, '\n');
        put_tree(&b, config, 1);
        buf_cstr(&b, "It will run these programs and send your keys there. "
                     "Resume it? [y]es [n]o ");
        yes = !b.failed && says_yes(buf_view(&b));
    }
    buf_free(&b);
    return yes ? EXIT_DONE
               : complain(EXIT_USAGE,
                          "run %s was imported: its log cannot choose model, "
                          "tools or policy. Give them as for 'wend run': -a "
                          "FILE, or -m NAME, -t NAME, --approve WHAT ...",
                          id);
}

/* ---- A store that was made elsewhere ------------------------------------- */

static bool ask_about_store(struct cli *cli, const char *path)
{
    struct buf b = {.mem = cli->arena.mem};
    bool yes;

    buf_cstr(&b, "Store ");
    term_line(&b, str_of(path), 4096);
    buf_cstr(&b, " was not created by you on this machine. Its runs choose "
                 "which programs start and where keys are sent.\n"
                 "Trust it from now on? [y]es [n]o ");
    yes = !b.failed && says_yes(buf_view(&b));
    buf_free(&b);
    return yes;
}

static int distrust(struct cli *cli, const char *path)
{
    wend_error err = {0};
    wend_status s = wend_store_distrust(cli->store, &err);

    if (s != WEND_OK)
        return give_up(cli, s, &err);
    return complain(EXIT_DONE,
                    "store %s was created elsewhere, so all its runs count as "
                    "imported; 'wend trust %s' or --trust-store trusts it",
                    path, path);
}

int authority_store(struct cli *cli)
{
    const char *env = getenv("WEND_TRUST_STORE");
    struct buf path = {.mem = cli->arena.mem};
    wend_store_origin o = {.size = sizeof o};
    wend_error err = {0};
    bool known = false;
    wend_status s;
    int code = EXIT_DONE;

    if (cli->set.trust_store || (env && *env && strcmp(env, "0") != 0) ||
        !store_file(cli, &path))
        known = true;
    s = known ? WEND_OK : wend_store_origin_of(cli->store, &o, &err);
    if (s == WEND_OK && !known)
        s = stores_have(o.id, &cli->arena, &known, &err);
    if (s == WEND_E_NOTFOUND) { /* no directory to remember it in */
        known = true;
        if (!cli->set.quiet)
            complain(0, "%s; assuming that the store is yours", err.message);
    } else if (s != WEND_OK) {
        code = give_up(cli, s, &err);
    }
    if (code == EXIT_DONE && !known && on_terminal() && o.id[0] &&
        ask_about_store(cli, path.ptr)) {
        known = true;
        if (stores_add(o.id, path.ptr, STORES_ACCEPTED, &cli->arena, &err) !=
            WEND_OK)
            complain(0, "%s; the question will be asked again", err.message);
    }
    if (code == EXIT_DONE && !known)
        code = distrust(cli, path.ptr);
    buf_free(&path);
    return code;
}
