/*
 * mix.c - the config of a run from two: that of its log, and that of the agent
 * that resumes it.
 *
 * The children of the run stand in its config. What is taken from the agent
 * reaches those that inherit it.
 */
#include "lib/run/child.h"

static bool is_taken(uint32_t take, wend_str member)
{
    static const struct {
        uint32_t bit;
        const char *name;
    } rows[] = {
        {WEND_FORK_MODEL, "model"},
        {WEND_FORK_MODEL, "base_url"},
        {WEND_FORK_MODEL, "context_tokens"},
        {WEND_FORK_MODEL, "output_tokens"},
        {WEND_FORK_MODEL, "output_max"},
        {WEND_FORK_MODEL, "price"},
        {WEND_FORK_MODEL, "media"},
        {WEND_FORK_MODEL, "no_tool_calls"},
        {WEND_FORK_MODEL, "fallback"},
        {WEND_FORK_MODEL | WEND_FORK_PARAMS, "summary_model"},
        {WEND_FORK_TOOLS, "tools"},
        {WEND_FORK_TOOLS, "mcp"},
        {WEND_FORK_POLICY, "policy"},
        {TAKE_HOOKS, "hooks"},
        {WEND_FORK_MODEL | WEND_FORK_PARAMS, "params"},
        {WEND_FORK_MODEL | WEND_FORK_PARAMS, "extra"},
        {WEND_FORK_MODEL | WEND_FORK_PARAMS, "headers"},
        {WEND_FORK_PARAMS, "fallback"}, /* which has theirs */
    };

    if (take & WEND_FORK_CONFIG)
        return true;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if ((take & rows[i].bit) && str_is(member, rows[i].name))
            return true;
    return false;
}

static const struct json *child_named(const struct json *config, wend_str name)
{
    const struct json *list = json_get(config, "agents");
    const struct json *k = list ? list->first : NULL;

    while (k && !str_eq(json_str(json_get(k, "name")), name))
        k = k->next;
    return k;
}

static void mix(struct buf *b, const char *key, const struct json *log,
                const struct json *agent, uint32_t take);

/* What is taken reaches a child that has none of its own. Recursion is bounded
 * by the depth of JSON. */
static void mix_child(struct buf *b, const struct json *log,
                      const struct json *agent, uint32_t take)
{
    take &= child_inherits(log);
    json_open(b, NULL, '{');
    for (const struct json *m = log->first; m; m = m->next) {
        bool taken = (take & WEND_FORK_MODEL && str_is(m->key, "model")) ||
                     (take & WEND_FORK_LIMITS && str_is(m->key, "limits"));
        const struct json *ours = json_member(agent, m->key);

        if (take && ours && str_is(m->key, "config"))
            mix(b, "config", m, ours, take);
        else
            json_add_pair(b, m->key, taken && ours ? ours : m);
    }
    json_close(b, '}');
}

static void mix_children(struct buf *b, const struct json *list,
                         const struct json *agent, uint32_t take)
{
    json_open(b, "agents", '[');
    for (const struct json *k = list->first; k; k = k->next)
        mix_child(b, k, child_named(agent, json_str(json_get(k, "name"))),
                  take);
    json_close(b, ']');
}

static void mix(struct buf *b, const char *key, const struct json *log,
                const struct json *agent, uint32_t take)
{
    const struct json *theirs[] = {log, agent};

    json_open(b, key, '{');
    for (int i = 0; i < 2; i++)
        for (const struct json *m = theirs[i] ? theirs[i]->first : NULL; m;
             m = m->next) {
            if (is_taken(take, m->key) != (i == 1))
                continue;
            if (i == 0 && str_is(m->key, "agents"))
                mix_children(b, m, agent, take);
            else
                json_add_pair(b, m->key, m);
        }
    json_close(b, '}');
}

wend_str config_mix(wend_str log_json, wend_str agent_json, uint32_t take,
                    struct arena *a)
{
    const struct json *log = json_parse_own(log_json, a, NULL);
    const struct json *agent = json_parse_own(agent_json, a, NULL);
    struct buf b = {.mem = a->mem};

    mix(&b, NULL, log, agent, take);
    a->failed |= !log || !agent;
    return buf_keep(&b, a);
}
