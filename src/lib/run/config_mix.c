/*
 * config_mix.c - the config of a run, with some members of an agent's.
 */
#include "lib/run/run.h"

static bool is_taken(uint32_t take, wend_str member)
{
    static const struct {
        uint32_t bit;
        const char *name;
    } rows[] = {
        {WEND_FORK_MODEL, "model"},          {WEND_FORK_MODEL, "base_url"},
        {WEND_FORK_MODEL, "context_tokens"}, {WEND_FORK_MODEL, "output_tokens"},
        {WEND_FORK_MODEL, "price"},          {WEND_FORK_MODEL, "fallback"},
        {WEND_FORK_TOOLS, "tools"},          {WEND_FORK_TOOLS, "mcp"},
        {WEND_FORK_POLICY, "policy"},
    };

    if (take & WEND_FORK_CONFIG)
        return true;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if ((take & rows[i].bit) && str_is(member, rows[i].name))
            return true;
    return false;
}

wend_str config_mix(wend_str log_json, wend_str agent_json, uint32_t take,
                    struct arena *a)
{
    const struct json *theirs[] = {json_parse_own(log_json, a, NULL),
                                   json_parse_own(agent_json, a, NULL)};
    struct buf b = {.mem = a->mem};

    for (int i = 0; i < 2; i++)
        for (const struct json *m = theirs[i] ? theirs[i]->first : NULL; m;
             m = m->next) {
            if (is_taken(take, m->key) != (i == 1))
                continue;
            buf_char(&b, b.len ? ',' : '{');
            json_put_str(&b, m->key);
            buf_char(&b, ':');
            json_put(&b, m);
        }
    buf_char(&b, '}');
    a->failed |= !theirs[0] || !theirs[1];
    return buf_keep(&b, a);
}
