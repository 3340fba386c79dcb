/*
 * agent_relic.c - the relics of an agent: services for the actions of plans.
 */
#include "lib/lib.h"

#include "base/fail.h"

static const struct {
    const char *name;
    wend_tool_fn fn;
} ends[RELIC_ENDS] = {
    {"put", relic_kv_put},
    {"get", relic_kv_get},
    {"delete", relic_kv_delete},
};

static struct agent_relic *named(const wend_agent *a, wend_str name)
{
    struct agent_relic *r = a->relics;

    while (r && !str_eq(r->kv.name, name))
        r = r->next;
    return r;
}

struct agent_tool *relic_end(const wend_agent *a, wend_str target)
{
    const char *dot = target.len ? memchr(target.ptr, '.', target.len) : NULL;
    struct agent_relic *r;
    wend_str end;

    if (!dot)
        return NULL;
    r = named(a, (wend_str){target.ptr, (size_t)(dot - target.ptr)});
    end = (wend_str){dot + 1, target.len - (size_t)(dot + 1 - target.ptr)};
    for (int i = 0; r && i < RELIC_ENDS; i++)
        if (str_is(end, ends[i].name))
            return &r->ends[i];
    return NULL;
}

wend_status wend_agent_add_kv(wend_agent *agent, const char *name,
                              int64_t ttl_ms, wend_error *err)
{
    struct agent_relic *r;

    if (!agent || !agent->rt || !name || ttl_ms < 0)
        return fail(err, WEND_E_INVAL, "relic: agent, name or ttl is wrong");
    if (rt_enter(agent->rt) != WEND_OK)
        return fail(err, WEND_E_MISUSE, "relic: another thread's runtime");
    if (!tool_name_ok(str_of(name)) || strchr(name, '.'))
        return fail(err, WEND_E_INVAL, "relic: '%.64s' is no name of one",
                    name);
    if (named(agent, str_of(name)))
        return fail(err, WEND_E_INVAL, "relic: there is a '%s' already", name);
    r = arena_alloc(&agent->arena, sizeof *r);
    if (r)
        r->kv.name = arena_str(&agent->arena, str_of(name));
    if (!r || !r->kv.name.ptr)
        return fail_nomem(err);
    r->kv.ttl_ms = ttl_ms;
    for (int i = 0; i < RELIC_ENDS; i++) {
        r->ends[i].name = str_of(ends[i].name);
        r->ends[i].fn = ends[i].fn;
        r->ends[i].ctx = &r->kv;
    }
    r->next = agent->relics;
    agent->relics = r;
    return WEND_OK;
}
