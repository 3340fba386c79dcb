/*
 * tell.c - requests to a run: say, approve, cancel, pause, continue, compact.
 *
 * A run of this server is told at once; one of another process through the
 * inbox of the store, where its owner finds it.
 */
#include "serve/api/api.h"

#include "base/utf8.h"
#include "lib/run/run.h"

static void respond_told(struct serve_ask *q, const char *told)
{
    struct buf b = {.mem = &q->server->mem};

    json_open(&b, NULL, '{');
    json_add_str(&b, "told", str_of(told));
    json_close(&b, '}');
    respond_json(q, 202, &b);
}

static void respond_over(struct serve_ask *q)
{
    respond_problem(q, 409, "over", NULL,
                    "POST /v1/runs with \"follow\" continues the conversation",
                    "the run is over");
}

/* The answer to a call of the library on a run of this server. */
static void respond_direct(struct serve_ask *q, const struct serve_run *r,
                           wend_status s)
{
    if (s == WEND_OK)
        respond_told(q, "applied");
    else if (s == WEND_END)
        respond_over(q);
    else
        respond_failed(q, wend_run_error(r->run));
}

static void tell_inbox(struct serve_ask *q, const wend_run_info *info,
                       wend_request *request)
{
    wend_error err;
    wend_status s;

    request->size = sizeof *request;
    request->by = ask_text(q, q->user);
    s = wend_store_tell(q->server->rt->store, info->run.ptr, request, &err);
    if (s == WEND_OK)
        respond_told(q, "queued");
    else if (s == WEND_E_INVAL)
        respond_over(q);
    else
        respond_failed(q, &err);
}

/* The run, if it can be told something; else it is answered. */
static const wend_run_info *live_run(struct serve_ask *q, struct serve_run **r)
{
    const wend_run_info *info = ask_run(q);

    if (!info)
        return NULL;
    *r = hub_find(q->server, info->run.ptr);
    if (*r && !(*r)->run)
        *r = NULL;
    if (!info->ended_us)
        return info;
    respond_over(q);
    return NULL;
}

/* ---- Say ----------------------------------------------------------------- */

struct say {
    wend_str text;
    const struct json *parts;
    bool pin;
};

void api_say(struct serve_ask *q)
{
    static const struct field rows[] = {
        {"text", field_text, .offset = offsetof(struct say, text),
         .needed = true},
        {"parts", field_tree, .offset = offsetof(struct say, parts)},
        {"pin", field_bool, .offset = offsetof(struct say, pin)},
        {.name = NULL},
    };
    struct say say = {0};
    wend_request request = {.kind = WEND_REQUEST_SAY};
    struct serve_run *r;
    const wend_run_info *info = live_run(q, &r);

    if (!info || !body_read(q, rows, &say) ||
        !body_parts(q, say.parts, &request.parts, &request.parts_count))
        return;
    if (r && !say.pin) {
        respond_direct(q, r,
                       wend_run_say_parts(r->run, say.text, request.parts,
                                          request.parts_count));
        return;
    }
    request.text = ask_text(q, say.text);
    request.pin = say.pin;
    tell_inbox(q, info, &request);
}

/* ---- Approve ------------------------------------------------------------- */

struct approval {
    wend_str call, args_sha256;
    const struct json *args;
    bool yes, always;
};

/* What waits for approval under an id, as the log has it. */
struct asked {
    bool found, answered;
    char hash[SHA256_HEX + 1];
    wend_str by;
};

static wend_str first_of(wend_str a, wend_str b)
{
    return a.ptr ? a : b;
}

static bool read_asked(struct serve_ask *q, const char *id, wend_str call,
                       struct asked *out)
{
    const wend_replay_options o = {
        .size = sizeof o,
        .filter.types = 1ULL << WEND_APPROVAL_ASK | 1ULL
                                                        << WEND_APPROVAL_ANSWER,
    };
    const wend_event *ev;
    wend_run *run;
    wend_error err;

    *out = (struct asked){0};
    if (wend_store_replay(q->server->rt, id, &o, &run, &err) != WEND_OK) {
        respond_failed(q, &err);
        return false;
    }
    while (run_poll(run, &ev) == WEND_OK) {
        const wend_ev_approval_ask *a = &ev->u.approval_ask;
        const wend_ev_approval_answer *b = &ev->u.approval_answer;

        if (ev->type == WEND_APPROVAL_ASK &&
            str_eq(first_of(a->call, a->action), call)) {
            out->found = true;
            out->answered = false;
            sha256_hex(out->hash, a->args_json);
        } else if (ev->type == WEND_APPROVAL_ANSWER &&
                   str_eq(first_of(b->call, b->action), call)) {
            out->answered = true;
            out->by = arena_str(&q->arena, b->by);
        }
    }
    wend_run_free(run);
    return true;
}

/* The person must have seen what will run: the hash says so. */
static bool check_asked(struct serve_ask *q, const wend_run_info *info,
                        const struct approval *a)
{
    struct asked asked;

    if (!read_asked(q, info->run.ptr, a->call, &asked))
        return false;
    if (!asked.found)
        respond_problem(q, 404, "not_found", "call", NULL,
                        "nothing with this id waits for approval");
    else if (asked.answered)
        respond_problem(q, 409, "answered", NULL, NULL, "answered by %.*s",
                        STR_ARGS(str_or(asked.by, "someone else")));
    else if (!str_same(a->args_sha256, str_of(asked.hash)))
        respond_problem(q, 409, "different", "args_sha256",
                        "read approval_ask again",
                        "the arguments are not those that were shown");
    else
        return true;
    return false;
}

static void approve_direct(struct serve_ask *q, struct serve_run *r,
                           const struct approval *a)
{
    const char *by = ask_text(q, q->user);
    wend_str args = json_text(a->args, &q->arena);
    wend_status s;

    if (q->arena.failed) {
        respond_nomem(q);
        return;
    }
    if (a->args)
        s = wend_run_approve_changed(r->run, a->call, args, by);
    else if (a->always)
        s = wend_run_approve_always(r->run, a->call, a->yes, by);
    else
        s = wend_run_approve(r->run, a->call, a->yes, by);
    if (s == WEND_E_NOTFOUND)
        respond_problem(q, 409, "answered", NULL, NULL,
                        "nothing with this id waits for approval any more");
    else
        respond_direct(q, r, s);
}

void api_approve(struct serve_ask *q)
{
    static const struct field rows[] = {
        {"call", field_name, .offset = offsetof(struct approval, call),
         .needed = true},
        {"args_sha256", field_name,
         .offset = offsetof(struct approval, args_sha256), .needed = true},
        {"yes", field_bool, .offset = offsetof(struct approval, yes),
         .needed = true},
        {"always", field_bool, .offset = offsetof(struct approval, always)},
        {"args", field_tree, .offset = offsetof(struct approval, args)},
        {.name = NULL},
    };
    struct approval a = {0};
    wend_request request = {.kind = WEND_REQUEST_APPROVE};
    struct serve_run *r;
    const wend_run_info *info = live_run(q, &r);

    if (!info || !body_read(q, rows, &a) || !check_asked(q, info, &a))
        return;
    if (a.args && (a.always || !a.yes)) {
        respond_problem(q, 400, "body", "args", NULL,
                        "other arguments go with yes and without always");
        return;
    }
    if (r) {
        approve_direct(q, r, &a);
        return;
    }
    request.call = ask_text(q, a.call);
    request.yes = a.yes;
    request.always = a.always;
    request.args = ask_text(q, json_text(a.args, &q->arena));
    tell_inbox(q, info, &request);
}

/* ---- The rest ------------------------------------------------------------ */

static const struct field no_rows[] = {{.name = NULL}};

static bool no_members(struct serve_ask *q)
{
    char nothing;

    return body_read(q, no_rows, &nothing);
}

void api_cancel(struct serve_ask *q)
{
    wend_request request = {.kind = WEND_REQUEST_CANCEL};
    struct serve_run *r;
    const wend_run_info *info = live_run(q, &r);
    char by[61];

    if (!info || !no_members(q))
        return;
    if (!r) {
        tell_inbox(q, info, &request);
        return;
    }
    utf8_fmt(by, sizeof by, "%.*s", STR_ARGS(q->user));
    respond_direct(q, r, wend_run_cancel_by(r->run, by[0] ? by : "api"));
}

void api_pause(struct serve_ask *q)
{
    wend_request request = {.kind = WEND_REQUEST_PAUSE};
    struct serve_run *r;
    const wend_run_info *info = live_run(q, &r);

    if (!info || !no_members(q))
        return;
    if (r)
        respond_direct(q, r, run_control(r->run, IN_PAUSE, STR_NONE, q->user));
    else
        tell_inbox(q, info, &request);
}

void api_continue(struct serve_ask *q)
{
    wend_request request = {.kind = WEND_REQUEST_CONTINUE};
    struct serve_run *r;
    const wend_run_info *info = live_run(q, &r);

    if (!info || !no_members(q))
        return;
    if (r)
        respond_direct(q, r,
                       run_control(r->run, IN_CONTINUE, STR_NONE, q->user));
    else
        tell_inbox(q, info, &request);
}

void api_compact(struct serve_ask *q)
{
    static const struct field rows[] = {{"focus", field_text, .offset = 0},
                                        {.name = NULL}};
    wend_request request = {.kind = WEND_REQUEST_COMPACT};
    wend_str focus = STR_NONE;
    struct serve_run *r;
    const wend_run_info *info = live_run(q, &r);

    if (!info || !body_read(q, rows, &focus))
        return;
    request.text = ask_text(q, focus);
    if (r)
        respond_direct(q, r, run_control(r->run, IN_COMPACT, focus, q->user));
    else
        tell_inbox(q, info, &request);
}
