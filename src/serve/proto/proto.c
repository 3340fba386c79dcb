/*
 * proto.c - the run of a protocol's request, and its answer.
 */
#include "serve/proto/proto.h"

#include <stdio.h>

#include "base/fail.h"

const struct json *proto_body(struct serve_ask *q)
{
    wend_error err;
    const struct json *j = json_parse(q->body, &q->arena, &err);

    if (j && j->kind == JSON_OBJECT)
        return j;
    if (j)
        respond_problem(q, 400, "body", NULL, NULL,
                        "the body is not an object");
    else
        respond_problem(q, 400, "body", NULL, NULL, "line %u, column %u: %s",
                        err.line, err.column, err.message);
    return NULL;
}

const struct json *proto_messages(struct serve_ask *q, const struct json **body)
{
    const struct json *list;

    *body = proto_body(q);
    list = json_get(*body, "messages");
    if (!*body || json_items(list))
        return *body ? list : NULL;
    respond_problem(q, 400, "body", "messages", NULL,
                    "messages must be a list with at least one message");
    return NULL;
}

/* ---- Records as bytes ---------------------------------------------------- */

struct speaker {
    wend_dialect *dialect;
    struct mem mem;
    bool is_done, named, interrupts;
    bool resumes; /* the client has had the past, up to an interruption */
    int open;     /* approvals that wait */
    /* Of an answer that is no stream. */
    struct serve_ask *ask;
    struct serve_run *run;
    struct buf last; /* the record */
};

/* The value of the member "type", which is the first or second of a record of
 * the protocols that name them. */
static wend_str type_of(wend_str record)
{
    static const char key[] = "\"type\":\"";
    const char *at =
        record.len ? memmem(record.ptr, record.len, key, sizeof key - 1) : NULL;
    wend_str rest, type;

    if (!at)
        return STR_NONE;
    at += sizeof key - 1;
    rest = (wend_str){at, (size_t)(record.ptr + record.len - at)};
    return str_take(&rest, '"', &type) ? type : STR_NONE;
}

static void put_record(const struct speaker *sp, struct buf *out, wend_str line)
{
    wend_str type = sp->named ? type_of(line) : STR_NONE;

    if (type.ptr)
        buf_fmt(out, "event: %.*s\n", STR_ARGS(type));
    buf_cstr(out, "data: ");
    buf_str(out, line);
    buf_cstr(out, "\n\n");
}

static void put_records(const struct speaker *sp, struct buf *out,
                        wend_str records)
{
    wend_str line;

    while (str_line(&records, &line))
        if (line.len)
            put_record(sp, out, line);
}

/* The client answers approvals in a request of its own: the stream ends, and
 * the run waits. */
static void interrupt(struct serve_flow *s, struct buf *out)
{
    const struct speaker *sp = s->ctx;
    wend_str records;

    if (wend_dialect_interrupt(sp->dialect, &records) != WEND_OK)
        return;
    put_records(sp, out, records);
    s->over = true;
}

static void speak(struct serve_flow *s, const wend_event *ev, bool past,
                  struct buf *out)
{
    struct speaker *sp = s->ctx;
    wend_str records = STR_NONE;

    if (sp->resumes && !past) {
        sp->resumes = false;
        wend_dialect_interrupt(sp->dialect, &records); /* that was sent */
        records = STR_NONE;
    }
    if (wend_dialect_feed(sp->dialect, ev, past ? NULL : &records) != WEND_OK) {
        out->failed = true;
        return;
    }
    put_records(sp, out, records);
    sp->open += ev->type == WEND_APPROVAL_ASK;
    sp->open -= ev->type == WEND_APPROVAL_ANSWER;
    if (sp->interrupts && sp->open > 0 && !past)
        interrupt(s, out);
}

static void end_speech(struct serve_flow *s, struct buf *out)
{
    const struct speaker *sp = s->ctx;

    if (sp->is_done)
        buf_cstr(out, "data: [DONE]\n\n");
}

static void free_speaker(void *ctx)
{
    struct speaker *sp = ctx;
    struct mem m = sp->mem;

    if (sp->ask) { /* the run stopped without an end */
        sp->ask->gone = NULL;
        respond_problem(sp->ask, 503, "stopped", NULL, "try again",
                        "the run was stopped; it is resumed later");
    }

    wend_dialect_free(sp->dialect);
    buf_free(&sp->last);
    mem_free(&m, sp);
}

static const struct serve_voice voice_stays = {
    .event = speak, .end = end_speech, .free = free_speaker};
static const struct serve_voice voice_cancels = {
    .event = speak, .end = end_speech, .free = free_speaker, .cancels = true};

static struct speaker *speaker_new(struct serve_ask *q,
                                   const struct proto_ask *p, wend_error *err)
{
    struct speaker *sp = mem_zalloc(&q->server->mem, sizeof *sp);

    if (!sp) {
        fail_nomem(err);
        return NULL;
    }
    sp->mem = q->server->mem;
    sp->is_done = p->is_done;
    sp->named = p->named;
    sp->interrupts = p->interrupts;
    sp->resumes = p->past_seq;
    sp->last.mem = &sp->mem;
    if (wend_dialect_new(p->dialect, &p->options, &sp->dialect, err) == WEND_OK)
        return sp;
    mem_free(&q->server->mem, sp);
    return NULL;
}

void proto_stream(struct serve_ask *q, const struct proto_ask *p,
                  const char *run)
{
    wend_error err;
    struct speaker *sp = speaker_new(q, p, &err);
    const struct serve_flow_options o = {
        .id = run,
        .seq = p->past_seq,
        .n = p->past_n,
        .voice = p->goes_on ? &voice_stays : &voice_cancels,
        .ctx = sp,
        .fields = p->fields,
        .fields_count = p->fields_count,
    };

    if (sp)
        flow_open(q, &o);
    else
        respond_failed(q, &err);
}

/* ---- One answer at the end ----------------------------------------------- */

static void answer_end(struct speaker *sp, const wend_event *run_end)
{
    const wend_ev_run_end *e = &run_end->u.run_end;
    struct serve_ask *q = sp->ask;
    struct buf b = sp->last;

    sp->ask = NULL;
    q->gone = NULL;
    sp->last = (struct buf){.mem = &sp->mem};
    while (b.len && b.ptr[b.len - 1] == '\n')
        b.len--;
    if (e->outcome == WEND_OUTCOME_FAILED || !b.len)
        respond_problem(q, 502, e->error ? e->error->code.ptr : "failed", NULL,
                        NULL, "%.*s",
                        e->error ? (int)e->error->message.len : 14,
                        e->error ? e->error->message.ptr : "the run failed");
    else
        respond_json(q, 200, &b);
    buf_free(&b);
}

static void on_event(void *ctx, const wend_event *ev)
{
    struct speaker *sp = ctx;
    wend_str records;

    if (!sp->ask)
        return;
    if (wend_dialect_feed(sp->dialect, ev, &records) != WEND_OK)
        sp->last.failed = true;
    else if (records.len) {
        buf_clear(&sp->last);
        buf_str(&sp->last, records);
    }
    if (ev->type == WEND_RUN_END)
        answer_end(sp, ev);
}

/* The client left before the answer. */
static void on_gone(struct serve_ask *q)
{
    struct speaker *sp = q->ctx;

    sp->ask = NULL;
    if (sp->run->run)
        wend_run_cancel_by(sp->run->run, "client");
}

static void answer_later(struct serve_ask *q, struct proto_ask *p,
                         struct serve_run *r)
{
    wend_error err;
    struct speaker *sp = speaker_new(q, p, &err);

    if (!sp) {
        respond_failed(q, &err);
        return;
    }
    sp->ask = q;
    sp->run = r;
    q->ctx = sp;
    q->gone = on_gone;
    hub_watch(r, on_event, sp, free_speaker);
}

/* ---- Starting ------------------------------------------------------------ */

static wend_status start(struct serve_ask *q, struct proto_ask *p,
                         wend_agent *agent, wend_run **run, wend_error *err)
{
    wend_run_options o = {
        .size = sizeof o, .parts = p->parts, .parts_count = p->parts_count};

    json_close(&p->messages, ']');
    json_close(&p->tools, ']');
    if (p->messages.failed || p->tools.failed)
        return fail_nomem(err);
    o.user = ask_text(q, q->user);
    o.session = ask_text(q, p->session);
    o.labels = "{\"" SERVE_MARK "\":\"server\"}";
    if (p->messages.len > 2)
        o.messages = p->messages.ptr;
    if (p->tools.len > 2)
        o.client_tools = p->tools.ptr;
    if (q->arena.failed)
        return fail_nomem(err);
    if (p->follow.ptr)
        return wend_run_follow(agent, ask_text(q, p->follow), p->prompt, &o,
                               run, err);
    return wend_run_start(agent, p->prompt, &o, run, err);
}

void proto_run(struct serve_ask *q, struct proto_ask *p)
{
    wend_agent *agent = ask_room(q) ? ask_agent(q, p->agent, p->model) : NULL;
    struct serve_run *r = NULL;
    wend_run *run = NULL;
    wend_error err;

    if (!agent)
        goto done;
    if (start(q, p, agent, &run, &err) != WEND_OK) {
        respond_failed(q, &err);
        goto done;
    }
    r = hub_add(q->server, run);
    if (!r)
        respond_nomem(q);
    else if (p->stream)
        proto_stream(q, p, r->id);
    else
        answer_later(q, p, r);
done:
    proto_free(p);
}

/* ---- Models -------------------------------------------------------------- */

/* An agent appears as a model; AGENT/MODEL is one of its other models. */
void proto_models(struct serve_ask *q)
{
    const struct wend_server *server = q->server;
    struct buf b = {.mem = &server->mem};

    json_open(&b, NULL, '{');
    json_add_str(&b, "object", STR("list"));
    json_open(&b, "data", '[');
    for (size_t i = 0; i < server->agents_count; i++)
        for (size_t k = 0; k < server->agents[i].models_count; k++) {
            const struct serve_agent *a = &server->agents[i];
            char id[400];

            snprintf(id, sizeof id, "%.*s%s%.*s", STR_ARGS(a->name),
                     k ? "/" : "", k ? (int)a->models[k].name.len : 0,
                     a->models[k].name.ptr);
            json_open(&b, NULL, '{');
            json_add_str(&b, "id", str_of(id));
            json_add_str(&b, "object", STR("model"));
            json_add_i64(&b, "created", 0);
            json_add_str(&b, "owned_by", STR("wend"));
            json_close(&b, '}');
        }
    json_close(&b, ']');
    json_close(&b, '}');
    respond_json(q, 200, &b);
}
