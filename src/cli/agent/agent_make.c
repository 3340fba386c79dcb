/*
 * agent_make.c - the agent of a run, from the settings and its file.
 */
#include "cli/agent/agent.h"

#include <string.h>
#include <unistd.h>

#include "cli/config.h"
#include "cli/guard.h"
#include "cli/remember.h"
#include "cli/workspace.h"

static const char *const approve_words[] = {
    [WEND_APPROVE_ASK] = "ask",
    [WEND_APPROVE_DENY] = "deny",
    [WEND_APPROVE_ALL] = "all",
};
enum { APPROVE_WORDS = sizeof approve_words / sizeof *approve_words };

/* Modes and rules come in one list; the last mode counts. The user overrides
 * the agent's file. */
int agent_approve(struct cli *cli, wend_agent_options *o, bool *asks,
                  bool *allow_rest)
{
    const struct words *w = &cli->set.approve;
    bool terminal = isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
    struct words kept = {0};
    const char **rules;
    wend_error err = {0};

    if (remember_rules(&kept, &cli->arena, &err) != WEND_OK)
        return complain(EXIT_USAGE, "%s", err.message);
    rules =
        arena_alloc(&cli->arena, (w->count + kept.count + 1) * sizeof *rules);
    if (!rules)
        return complain(EXIT_FAILED, "out of memory");
    o->approve = WEND_APPROVE_ASK;
    for (size_t i = 0; i < w->count; i++) {
        int mode = str_index(str_of(w->items[i]), approve_words, APPROVE_WORDS);
        int code = mode < 0 ? tools_check_rule(cli, w->items[i], approve_words,
                                               APPROVE_WORDS)
                            : EXIT_DONE;

        if (code)
            return code;
        if (mode >= 0)
            o->approve = (wend_approve)mode;
        else
            rules[o->rules_count++] = w->items[i];
    }
    for (size_t i = 0; i < kept.count; i++)
        rules[o->rules_count++] = kept.items[i];
    o->rules = rules;
    /* With a terminal, ask about what even `all` does not cover. */
    *allow_rest = o->approve == WEND_APPROVE_ALL && terminal;
    if (*allow_rest)
        o->approve = WEND_APPROVE_ASK;
    /* Without a terminal no person can answer: deny. */
    if (o->approve == WEND_APPROVE_ASK && !terminal)
        o->approve = WEND_APPROVE_DENY;
    *asks = o->approve == WEND_APPROVE_ASK;
    return EXIT_DONE;
}

static int read_schema(struct cli *cli, const char **text)
{
    const char *path = cli->set.schema;
    struct buf b = {.mem = cli->arena.mem};
    wend_error err = {0};
    int code = EXIT_DONE;
    wend_str kept;

    if (!path)
        return EXIT_DONE;
    if (config_read(path, &b, &err) != WEND_OK) {
        code = complain(EXIT_USAGE, "--schema: %s", err.message);
    } else if (b.len && memchr(b.ptr, 0, b.len)) {
        code = complain(EXIT_USAGE, "--schema: %s: has a zero byte", path);
    } else {
        kept = arena_str(&cli->arena, buf_view(&b));
        *text = kept.ptr;
        if (!kept.ptr)
            code = complain(EXIT_FAILED, "out of memory");
    }
    buf_free(&b);
    return code;
}

/* Where in the file, if it is about the schema. */
int agent_not_made(struct cli *cli, wend_status s, const wend_error *err)
{
    static const char about[] = "agent: schema: ";

    if (!cli->set.schema || strncmp(err->message, about, sizeof about - 1))
        return give_up(cli, s, err);
    return complain(EXIT_USAGE, "%s:%u:%u: %s", cli->set.schema,
                    (unsigned)err->line, (unsigned)err->column,
                    err->message + sizeof about - 1);
}

wend_agent_options agent_options(const struct settings *from,
                                 const struct settings *set)
{
    return (wend_agent_options){
        .size = sizeof(wend_agent_options),
        .model = from->model,
        .base_url = from->base_url,
        .fallbacks = from->fallback.items,
        .fallbacks_count = from->fallback.count,
        .limits = {.turns = (uint32_t)from->max_turns,
                   .parallel = (uint32_t)from->parallel,
                   .time_ms = from->timeout_ms,
                   .tokens = from->budget_tokens,
                   .cost_nano = from->budget_cost},
        .sandbox_off = from->sandbox == 1, /* the word at 1 is off */
        .key_file = set->key_file,
        .ca_file = set->ca_file,
        .insecure_http = set->insecure_http,
        .models_file = set->models,
    };
}

int agent_fill(struct cli *cli, wend_load_options *load, wend_agent_options *o,
               bool *asks)
{
    const struct settings *set = &cli->set;
    int code = cli->tool_files ? EXIT_DONE : tools_load(cli);

    *o = agent_options(set, set);
    o->instructions = set->instructions;
    o->eager = (wend_eager)set->eager;
    o->effort = (wend_effort)set->effort;
    o->on_unknown = (wend_unknown)set->on_unknown;
    o->record_dir = set->record_dir;
    o->playback_dir = set->playback_dir;
    o->http2 = set->http2;
    o->model_timeout_ms = set->model_timeout_ms;
    load->agent = o;
    load->manifest = cli->agent;
    load->trust = cli->agent ? cli->agent->sum : NULL; /* see agent_use */
    load->plan = cli->plan;
    load->plan_trust =
        cli->plan ? cli->plan->sum : NULL; /* the user named it */
    if (!code)
        code = agent_approve(cli, o, asks, &load->allow_rest);
    if (!code)
        code = agent_guard(cli, o);
    if (!code)
        code = read_schema(cli, &o->schema);
    return code ? code : tools_fill(cli, load);
}

int agent_make(struct cli *cli, wend_agent **agent, bool *asks)
{
    wend_agent_options o;
    wend_load_options load = {.size = sizeof load,
                              .note = server_say,
                              .warn = server_warn,
                              .note_ctx = cli};
    wend_error err = {0};
    wend_status s;
    int code = agent_fill(cli, &load, &o, asks);

    if (code)
        return code;
    s = wend_agent_load(cli->rt, NULL, &load, agent, &err);
    if (s != WEND_OK)
        return agent_not_made(cli, s, &err);
    key_file_look(&cli->set);
    workspace_look(cli, *agent);
    return EXIT_DONE;
}
