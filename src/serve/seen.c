/*
 * seen.c - what a client may see: runs of its user, or all for an admin.
 *
 * Runs of others do not exist for it: the same answer as for an id that was
 * never used.
 */
#include "serve/serve.h"

#include "base/id.h"

bool ask_is_admin(const struct serve_ask *q)
{
    return q->rights & WEND_RIGHT_ADMIN;
}

bool ask_sees(const struct serve_ask *q, const wend_run_info *info)
{
    return ask_is_admin(q) || (info->user.ptr && str_eq(info->user, q->user));
}

const wend_run_info *ask_run_of(struct serve_ask *q, wend_str id)
{
    wend_run_info *info = NULL;
    wend_status s = WEND_E_NOTFOUND;
    wend_error err = {0};

    if (run_id_valid(id)) {
        wend_str copy = arena_str(&q->arena, id);

        if (!q->arena.failed)
            s = store_info(q->server->rt->store, copy.ptr, &q->arena, &info,
                           &err);
    }
    if (s == WEND_OK && ask_sees(q, info))
        return info;
    if (s != WEND_OK && s != WEND_E_NOTFOUND)
        respond_failed(q, &err);
    else
        respond_problem(q, 404, "not_found", NULL, "GET /v1/runs lists runs",
                        "there is no run '%.*s'",
                        (int)(id.len < 40 ? id.len : 40), id.ptr);
    return NULL;
}

const wend_run_info *ask_run(struct serve_ask *q)
{
    return ask_run_of(q, q->params[0]);
}

void row_put(struct buf *json, const char *key, const wend_run_info *info)
{
    json_open(json, key, '{');
    json_add_str(json, "run", info->run);
    json_add_str(json, "status", info->status);
    json_add_str(json, "agent", info->agent);
    json_add_str(json, "model", info->model);
    json_add_str(json, "prompt", info->prompt);
    json_add_str(json, "user", info->user);
    json_add_str(json, "session", info->session);
    json_add_str(json, "parent", info->parent);
    if (info->child)
        json_add_bool(json, "child", true);
    json_add_str(json, "fork_of", info->fork_of);
    json_add_time(json, "started", info->started_us);
    if (info->ended_us)
        json_add_time(json, "ended", info->ended_us);
    else
        json_add_raw(json, "ended", STR("null"));
    json_add_i64(json, "turns", info->turns);
    json_add_i64(json, "tokens_in", info->tokens_in);
    json_add_i64(json, "tokens_out", info->tokens_out);
    json_add_nano(json, "cost", info->cost_nano);
    json_add_i64(json, "seq", info->seq);
    json_close(json, '}');
}
