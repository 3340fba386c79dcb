/*
 * info.c - what the server is and has: health, agents, tools, the token's user.
 */
#include "serve/api/api.h"

#include "core/event/event.h"

enum { STATS_RUNS_MAX = 10000 };

static void respond_status(struct serve_ask *q, int status, const char *word)
{
    struct buf b = {.mem = &q->server->mem};

    json_open(&b, NULL, '{');
    json_add_str(&b, "status", str_of(word));
    json_close(&b, '}');
    respond_json(q, status, &b);
}

void api_health(struct serve_ask *q)
{
    respond_status(q, 200, "ok");
}

void api_ready(struct serve_ask *q)
{
    wend_error err;

    if (q->server->draining)
        respond_status(q, 503, "draining");
    else if (rt_check_store(q->server->rt, &err) != WEND_OK)
        respond_status(q, 503, "store");
    else
        respond_status(q, 200, "ok");
}

void api_me(struct serve_ask *q)
{
    static const char *const names[] = {"read", "run", "approve", "admin"};
    struct buf b = {.mem = &q->server->mem};

    json_open(&b, NULL, '{');
    json_add_str(&b, "user", q->user);
    json_open(&b, "rights", '[');
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (q->rights >> i & 1)
            json_add_str(&b, NULL, str_of(names[i]));
    json_close(&b, ']');
    json_add_str(&b, "version", str_of(wend_version()));
    json_add_i64(&b, "agents", (int64_t)q->server->agents_count);
    json_close(&b, '}');
    respond_json(q, 200, &b);
}

static void put_agent(struct buf *b, const struct serve_agent *a)
{
    const wend_tool_info *tool;

    json_open(b, NULL, '{');
    json_add_str(b, "name", a->name);
    json_add_str(b, "description", a->description);
    json_add_str(b, "model", a->models[0].name);
    json_open(b, "models", '[');
    for (size_t i = 0; i < a->models_count; i++)
        json_add_str(b, NULL, a->models[i].name);
    json_close(b, ']');
    json_open(b, "tools", '[');
    for (size_t i = 0; (tool = wend_agent_tool(a->models[0].agent, i)); i++)
        json_add_str(b, NULL, tool->name);
    json_close(b, ']');
    json_close(b, '}');
}

void api_agents(struct serve_ask *q)
{
    const struct wend_server *server = q->server;
    struct buf b = {.mem = &server->mem};

    json_open(&b, NULL, '{');
    json_open(&b, "agents", '[');
    for (size_t i = 0; i < server->agents_count; i++)
        put_agent(&b, &server->agents[i]);
    json_close(&b, ']');
    json_add_nullable(&b, "default",
                      server->agents_count ? server->agents[0].name : STR_NONE);
    json_close(&b, '}');
    respond_json(q, 200, &b);
}

/* Tools of one agent: GET /v1/tools?agent=NAME. */
void api_tools(struct serve_ask *q)
{
    wend_str name = http_query_value(&q->query, "agent");
    struct buf b = {.mem = &q->server->mem};
    wend_agent *agent = ask_agent(q, name, STR_NONE);
    const wend_tool_info *tool;

    if (!agent)
        return;
    json_open(&b, NULL, '{');
    json_open(&b, "tools", '[');
    for (size_t i = 0; (tool = wend_agent_tool(agent, i)); i++) {
        json_open(&b, NULL, '{');
        json_add_str(&b, "name", tool->name);
        json_add_str(&b, "description", tool->description);
        json_add_raw(&b, "schema", tool->schema);
        json_add_str(&b, "class", str_of(class_words.names[tool->call_class]));
        json_add_str(&b, "category",
                     str_of(category_words.names[tool->category]));
        json_close(&b, '}');
    }
    json_close(&b, ']');
    json_close(&b, '}');
    respond_json(q, 200, &b);
}

/* Models by provider, as the agents have them. */
void api_providers(struct serve_ask *q)
{
    const struct wend_server *server = q->server;
    struct buf b = {.mem = &server->mem};

    json_open(&b, NULL, '{');
    json_open(&b, "providers", '[');
    for (size_t i = 0; i < server->agents_count; i++)
        for (size_t k = 0; k < server->agents[i].models_count; k++) {
            wend_str rest = server->agents[i].models[k].name, provider;

            if (!str_has(rest, STR(":")) || !str_take(&rest, ':', &provider))
                provider = STR_NONE;
            json_open(&b, NULL, '{');
            json_add_str(&b, "name", provider);
            json_add_str(&b, "model", rest);
            json_add_str(&b, "agent", server->agents[i].name);
            json_close(&b, '}');
        }
    json_close(&b, ']');
    json_close(&b, '}');
    respond_json(q, 200, &b);
}

struct sums {
    int64_t runs, running, ok, failed, turns, tokens_in, tokens_out;
    int64_t cost_nano, cost_unknown;
};

static void add_run(struct sums *s, const wend_run_info *info)
{
    s->runs++;
    s->running += !info->ended_us;
    s->ok += str_is(info->status, "ok");
    s->failed += str_is(info->status, "failed");
    s->turns += info->turns;
    s->tokens_in += info->tokens_in;
    s->tokens_out += info->tokens_out;
    if (info->cost_nano < 0)
        s->cost_unknown++;
    else
        s->cost_nano += info->cost_nano;
}

/* Over the newest runs that the user may see. */
void api_stats(struct serve_ask *q)
{
    const wend_list_options o = {.size = sizeof o,
                                 .user = ask_is_admin(q) ? NULL
                                                         : ask_text(q, q->user),
                                 .limit = STATS_RUNS_MAX};
    struct buf b = {.mem = &q->server->mem};
    const wend_run_info *info;
    struct sums s = {0};
    wend_runs *list;
    wend_error err;

    if (wend_store_list(q->server->rt->store, &o, &list, &err) != WEND_OK) {
        respond_failed(q, &err);
        return;
    }
    while (wend_runs_next(list, &info) == WEND_OK)
        add_run(&s, info);
    wend_runs_free(list);
    json_open(&b, NULL, '{');
    json_add_i64(&b, "runs", s.runs);
    json_add_i64(&b, "running", s.running);
    json_add_i64(&b, "ok", s.ok);
    json_add_i64(&b, "failed", s.failed);
    json_add_i64(&b, "turns", s.turns);
    json_add_i64(&b, "tokens_in", s.tokens_in);
    json_add_i64(&b, "tokens_out", s.tokens_out);
    json_add_nano(&b, "cost", s.cost_unknown == s.runs ? -1 : s.cost_nano);
    json_add_i64(&b, "cost_unknown", s.cost_unknown);
    json_close(&b, '}');
    respond_json(q, 200, &b);
}
