/*
 * again.c - resume, retry and fork: more work from the log of a run.
 *
 * The agent is the server's own of that name: a log brings history, never
 * programs, rules or addresses.
 */
#include "serve/api/api.h"

#include "base/fail.h"

/* The agent for a stored run; NULL: it is answered. */
static wend_agent *agent_of(struct serve_ask *q, const wend_run_info *info,
                            wend_str model)
{
    const struct serve_agent *a =
        info->agent.ptr ? server_agent(q->server, info->agent) : NULL;
    wend_agent *agent = NULL;

    if (a)
        agent = agent_for(a, model.ptr ? model : info->model);
    if (a && !agent && !model.ptr)
        agent = agent_for(a, STR_NONE); /* the log names the model */
    if (!a)
        respond_problem(q, 409, "agent", NULL,
                        "resume it with the command: wend resume RUN",
                        "this server has no agent '%.*s'",
                        STR_ARGS(info->agent));
    else if (!agent)
        respond_problem(q, 422, "model", "model", "GET /v1/agents lists them",
                        "agent '%.*s' has no such model", STR_ARGS(a->name));
    return agent;
}

static void own(struct serve_ask *q, wend_run *run)
{
    struct serve_run *r = hub_add(q->server, run);

    if (r)
        hub_answer(r, q);
    else
        respond_nomem(q);
}

void api_resume(struct serve_ask *q)
{
    const wend_run_options o = {.size = sizeof o};
    const wend_run_info *info = ask_run(q);
    wend_agent *agent;
    wend_run *run;
    wend_error err;

    if (!info || !ask_room(q))
        return;
    if (info->ended_us) {
        respond_problem(q, 409, "over", NULL, "POST .../retry or .../fork",
                        "the run is over");
        return;
    }
    agent = agent_of(q, info, STR_NONE);
    if (!agent)
        return;
    if (wend_run_resume(agent, info->run.ptr, &o, &run, &err) != WEND_OK)
        respond_failed(q, &err);
    else
        own(q, run);
}

struct again {
    int64_t at;
    wend_str say, model;
    const struct json *parts, *results;
    wend_limits limits;
};

static bool read_results(struct serve_ask *q, const struct json *list,
                         wend_fork_options *f)
{
    enum { RESULTS_MAX = 64 };
    wend_fork_result *all;
    size_t n = 0;

    if (!list)
        return true;
    all = list->kind == JSON_ARRAY && list->count <= RESULTS_MAX
              ? arena_alloc(&q->arena, (list->count + 1) * sizeof *all)
              : NULL;
    for (const struct json *j = all ? list->first : NULL; j; j = j->next) {
        all[n].call = ask_text(q, json_get_str(j, "call"));
        all[n].output = json_get_str(j, "output");
        if (!all[n].call || !all[n].output.ptr)
            all = NULL;
        if (!all)
            break;
        n++;
    }
    if (!all) {
        respond_problem(q, 400, "body", "results", NULL,
                        "results must be a list of at most %d "
                        "{\"call\":ID,\"output\":TEXT}",
                        RESULTS_MAX);
        return false;
    }
    f->results = all;
    f->results_count = n;
    return true;
}

static void fork_run(struct serve_ask *q, const wend_run_info *info,
                     const struct again *a)
{
    wend_fork_options f = {
        .size = sizeof f, .at = a->at, .say = a->say, .take = 0};
    const wend_run_options o = {.size = sizeof o, .limits = a->limits};
    wend_agent *agent = agent_of(q, info, a->model);
    wend_run *run;
    wend_error err;

    if (!agent || !body_parts(q, a->parts, &f.parts, &f.parts_count) ||
        !read_results(q, a->results, &f))
        return;
    if (a->model.ptr)
        f.take = WEND_FORK_MODEL;
    f.user = ask_text(q, q->user);
    if (q->arena.failed)
        respond_nomem(q);
    else if (wend_run_fork(agent, info->run.ptr, &f, &o, &run, &err) != WEND_OK)
        respond_failed(q, &err);
    else
        own(q, run);
}

void api_retry(struct serve_ask *q)
{
    static const struct field rows[] = {{.name = NULL}};
    struct again a = {0};
    const wend_run_info *info = ask_run(q);

    if (!info || !ask_room(q) || !body_read(q, rows, &a))
        return;
    if (info->ended_us && str_is(info->status, "ok"))
        respond_problem(q, 409, "ok", NULL, "POST .../fork starts a fork",
                        "the run ended ok; there is nothing to retry");
    else
        fork_run(q, info, &a);
}

void api_fork(struct serve_ask *q)
{
    static const struct field rows[] = {
        {"at", field_number, .offset = offsetof(struct again, at), .min = 1,
         .max = INT64_MAX / 2},
        {"say", field_text, .offset = offsetof(struct again, say)},
        {"model", field_name, .offset = offsetof(struct again, model)},
        {"parts", field_tree, .offset = offsetof(struct again, parts)},
        {"results", field_tree, .offset = offsetof(struct again, results)},
        {"limits", field_limits, .offset = offsetof(struct again, limits)},
        {.name = NULL},
    };
    struct again a = {0};
    const wend_run_info *info = ask_run(q);

    if (info && ask_room(q) && body_read(q, rows, &a))
        fork_run(q, info, &a);
}
