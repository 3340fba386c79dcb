/*
 * fuzz_manifest.c - any bytes as a manifest of an agent, a tool and a relic;
 * what is accepted can be handed to C, what is not has a reason.
 */
#include <stdlib.h>

#include "base/utf8.h"
#include "core/policy/policy.h"
#include "wire/file/manifest.h"
#include "wire/file/relic.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(wend_str s)
{
    if (s.ptr && (strlen(s.ptr) != s.len || utf8_valid_len(s) != s.len))
        abort();
}

static void check_words(const struct manifest_words *w)
{
    if (w->count && !w->list)
        abort();
    for (size_t i = 0; i < w->count; i++) {
        check_text(w->list[i].text);
        if (!w->list[i].text.ptr || !w->list[i].line || !w->list[i].column)
            abort();
    }
}

static void check_agent(const struct agent_manifest *m)
{
    const wend_str texts[] = {m->name, m->description, m->model, m->base_url,
                              m->instructions};
    struct rule rule;

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        check_text(texts[i]);
    check_words(&m->fallbacks);
    check_words(&m->tools);
    check_words(&m->network);
    check_words(&m->skills);
    check_words(&m->agents);
    check_words(&m->retrieval.sources);
    check_words(&m->rules);
    for (size_t i = 0; i < m->rules.count; i++)
        if (rule_parse(m->rules.list[i].text, &rule, NULL))
            abort();
    for (size_t i = 0; i < m->servers_count; i++) {
        check_text(m->servers[i].name);
        check_text(m->servers[i].url);
        check_words(&m->servers[i].command);
        check_words(&m->servers[i].secrets);
    }
    if (m->limits.time_ms < 0 || m->limits.tokens < 0 ||
        m->limits.cost_nano < 0)
        abort();
    agent_manifest_unserved(m, 0);
}

static void check_tool(const struct tool_manifest *t)
{
    check_text(t->name);
    check_text(t->description);
    check_text(t->schema);
    check_words(&t->command);
    check_words(&t->secrets);
    check_words(&t->labels);
    if (!tool_name_ok(t->name) || !t->command.count ||
        !t->command.list[0].text.len)
        abort();
}

static void check_places(const struct relic_text *t)
{
    if (!t->count || t->parts[t->count - 1].place.ptr)
        abort();
    for (size_t i = 0; i < t->count; i++) {
        check_text(t->parts[i].before);
        check_text(t->parts[i].place);
    }
}

static void check_relic(const struct relic_manifest *m)
{
    struct mem mem = {0};
    struct arena a = {.mem = &mem};
    struct relic_manifest *again = NULL;
    wend_str near;

    check_text(m->name);
    check_text(m->base_url);
    check_words(&m->server.command);
    check_words(&m->server.secrets);
    for (size_t i = 0; i < m->headers.count; i++)
        check_places(&m->headers.list[i].value);
    for (size_t i = 0; i < m->endpoints_count; i++) {
        const struct relic_endpoint *e = &m->endpoints[i];

        check_text(e->schema);
        if (m->kind == RELIC_HTTP)
            check_places(&e->path);
        if (!relic_has(m, e->name, &near))
            abort();
    }
    /* What the log has of it is the same relic. */
    if (relic_manifest_parse(m->json, &a, &again, NULL) ||
        !str_eq(m->json, again->json))
        abort();
    arena_free(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    wend_str text = {(const char *)data, size};
    struct mem mem = {0};
    struct arena a = {.mem = &mem};
    struct agent_manifest *agent = NULL;
    struct tool_manifest *tool = NULL;
    struct relic_manifest *relic = NULL;
    wend_error err = {0};

    if (!agent_manifest_parse(text, &a, &agent, &err))
        check_agent(agent);
    else if (!err.status || !err.message[0])
        abort();
    err = (wend_error){0};
    if (!tool_manifest_parse(text, &a, &tool, &err))
        check_tool(tool);
    else if (!err.status || !err.message[0])
        abort();
    err = (wend_error){0};
    if (!relic_manifest_parse(text, &a, &relic, &err))
        check_relic(relic);
    else if (!err.status || !err.message[0])
        abort();
    arena_free(&a);
    return 0;
}
