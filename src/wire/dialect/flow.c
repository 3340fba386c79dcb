/*
 * flow.c - a run as a conversation: pieces of text, calls and their results.
 */
#include "wire/dialect/flow.h"

/* ---- Start, steps and pieces --------------------------------------------- */

/* Clearing a buffer forgives it; the stream does not forget. */
static void set(struct flow *f, struct buf *b, wend_str s)
{
    f->out->failed |= b->failed;
    buf_clear(b);
    buf_str(b, s);
}

static void step(struct flow *f, bool begins)
{
    if (f->in_step == begins)
        return;
    f->in_step = begins;
    if (f->form->step)
        f->form->step(f, begins);
}

static void close_piece(struct flow *f)
{
    if (f->open == FLOW_NONE)
        return;
    f->form->piece(f, FLOW_ENDS, buf_view(&f->text));
    f->open = FLOW_NONE;
}

/* Ids follow from kept events, so that a piece that a crash cut off and the
 * one in its place differ, even if no client has kept the first. */
static void open_piece(struct flow *f, enum flow_kind kind)
{
    if (f->open == kind)
        return;
    close_piece(f);
    f->open = kind;
    f->shown[kind] = true;
    f->pieces++;
    set(f, &f->id, buf_view(&f->turn_id));
    buf_fmt(&f->id, ".%lld.%lld", (long long)f->asks, (long long)f->pieces);
    if (kind == FLOW_TEXT)
        set(f, &f->message, buf_view(&f->id));
    set(f, &f->text, STR(""));
    f->cut = false;
    f->form->piece(f, FLOW_BEGINS, STR(""));
}

static void add_piece(struct flow *f, enum flow_kind kind, wend_str text)
{
    if (!text.len)
        return;
    open_piece(f, kind);
    buf_str(&f->text, text);
    f->form->piece(f, FLOW_GROWS, text);
}

/* The reader's stream begins, maybe in the middle of a run. After an interrupt
 * a reader may have the message, and then the stream continues it. */
static void begin(struct flow *f)
{
    bool continues = f->interrupted && f->form->continues;

    f->begun = true;
    f->open = FLOW_NONE;
    f->in_step = continues && f->in_turn;
    f->interrupted = f->interrupted && f->past;
    f->form->start(f);
    step(f, f->in_turn);
    for (const struct flow_call *c = f->calls; c; c = c->next)
        if (f->form->continues && !continues && !c->answered && !c->action)
            f->form->call(f, c);
}

static void enter_ask(struct flow *f)
{
    f->mark = f->done.len;
    f->pieces = 0;
    memset(f->shown, 0, sizeof f->shown);
    set(f, &f->message, buf_view(&f->turn_id));
    buf_fmt(&f->message, ".%lld", (long long)++f->asks);
}

static void enter_turn(struct flow *f, int64_t turn, wend_str id)
{
    f->in_turn = true;
    f->turn = turn + 1;
    f->asks = 0;
    set(f, &f->turn_id, id);
    enter_ask(f);
    f->asks = 0; /* model_start counts the first */
}

/* ---- Calls --------------------------------------------------------------- */

/* Ids are unique in a turn. */
static struct flow_call *find(const struct flow *f, bool action, wend_str id)
{
    struct flow_call *c = f->calls;

    while (c &&
           (c->turn != f->turn || c->action != action || !str_eq(c->id, id)))
        c = c->next;
    return c;
}

static bool is_taken(const struct flow *f, const struct flow_call *mine)
{
    for (const struct flow_call *c = f->calls; c; c = c->next)
        if (c != mine && str_eq(buf_view(&c->shown), buf_view(&mine->shown)))
            return true;
    return false;
}

/* Models may use an id again in a later turn. */
static void choose_id(const struct flow *f, struct flow_call *c)
{
    buf_str(&c->shown, c->id);
    while (is_taken(f, c) && !c->shown.failed)
        buf_fmt(&c->shown, "_t%lld", (long long)f->turn);
}

static bool is_client_tool(const struct flow *f, wend_str name)
{
    wend_str rest = buf_view(&f->client_tools), tool;

    while (str_line(&rest, &tool))
        if (str_eq(tool, name))
            return true;
    return false;
}

static struct flow_call *add(struct flow *f, bool action, wend_str id,
                             wend_str name, wend_str args)
{
    struct flow_call *c;
    char *room;

    id = str_or(id, "");
    name = str_or(name, "");
    args = args.len ? args : STR("{}");
    c = mem_zalloc(f->s->mem, sizeof *c + id.len + name.len + args.len);
    if (!c) {
        f->out->failed = true;
        return NULL;
    }
    room = (char *)(c + 1);
    c->action = action;
    c->turn = f->turn;
    c->id = str_pack(&room, id);
    c->name = str_pack(&room, name);
    c->args = str_pack(&room, args);
    c->shown.mem = c->reason.mem = f->s->mem;
    c->by_client = is_client_tool(f, name);
    *f->calls_end = c;
    f->calls_end = &c->next;
    choose_id(f, c);
    f->out->failed |= c->shown.failed;
    return c;
}

/* A call whose name and arguments are complete. */
static struct flow_call *tell(struct flow *f, wend_str id, wend_str name,
                              wend_str args)
{
    struct flow_call *c = find(f, false, id);

    if (c)
        return c;
    c = add(f, false, id, name, args);
    close_piece(f);
    if (c && f->form->call)
        f->form->call(f, c);
    return c;
}

static void call_ends(struct flow *f, const wend_ev_call_end *e)
{
    struct flow_call *c;

    if (e->outcome == WEND_OUTCOME_SUPERSEDED)
        return;
    c = tell(f, e->call, e->name, STR_NONE);
    if (!c || c->answered)
        return;
    close_piece(f);
    c->asked = false;
    c->answered = true;
    c->client = e->client;
    if (f->form->result)
        f->form->result(f, c, e);
}

const struct flow_call *flow_find(const struct flow *f, wend_str id)
{
    return id.ptr ? find(f, false, id) : NULL;
}

wend_str flow_call_id(const struct flow *f, wend_str id)
{
    const struct flow_call *c = flow_find(f, id);

    return c ? buf_view(&c->shown) : id;
}

/* ---- Model --------------------------------------------------------------- */

static bool is_shown(wend_purpose p)
{
    return p == WEND_PURPOSE_ANSWER || p == WEND_PURPOSE_PLAN ||
           p == WEND_PURPOSE_REPAIR;
}

/* Another attempt takes the place of what was shown. */
static void discard(struct flow *f)
{
    f->cut = true;
    close_piece(f);
    if ((f->shown[FLOW_TEXT] || f->shown[FLOW_THINKING]) && f->form->discard)
        f->form->discard(f);
    enter_ask(f);
}

static void model_ends(struct flow *f, const wend_ev_model_end *e)
{
    if (e->action.ptr)
        return;
    f->reasoning += e->usage.reasoning;
    if (e->outcome == WEND_OUTCOME_SUPERSEDED) {
        discard(f);
        return;
    }
    if (e->outcome == WEND_OUTCOME_OK && is_shown(e->purpose)) {
        /* What did not stream, for example because of a hook. */
        if (!f->shown[FLOW_THINKING] && !f->shown[FLOW_TEXT])
            add_piece(f, FLOW_THINKING, e->thinking);
        if (!f->shown[FLOW_TEXT] && !f->answer_last)
            add_piece(f, FLOW_TEXT, e->text);
        set(f, &f->finish, str_or(e->finish, ""));
    }
    f->cut = e->outcome != WEND_OUTCOME_OK || str_is(e->finish, "length");
    close_piece(f);
    for (size_t i = 0; i < e->calls_count; i++)
        tell(f, e->calls[i].id, e->calls[i].name, e->calls[i].args_json);
}

static void delta(struct flow *f, enum flow_kind kind, const wend_ev_delta *d)
{
    if (!d->action.ptr && !d->branch.ptr)
        add_piece(f, kind, d->text);
}

/* ---- Run ----------------------------------------------------------------- */

static void note_tools(struct flow *f, const struct json *tools)
{
    for (const struct json *t = json_items(tools); t; t = t->next)
        if (str_is(json_get_str(t, "source"), "client")) {
            buf_str(&f->client_tools, json_get_str(t, "name"));
            buf_char(&f->client_tools, '\n');
        }
}

static void run_starts(struct flow *f, const wend_event *ev)
{
    const wend_ev_run_start *e = &ev->u.run_start;
    const struct json *config = record_json(f->s, e->config_json);

    f->answer_last = e->plan_json.ptr || json_get(config, "schema");
    note_tools(f, json_get(config, "tools"));
    if (!f->o.thread_id && e->session.len)
        set(f, &f->thread_id, e->session);
    if (!f->o.model)
        set(f, &f->model, e->model);
}

static void run_ends(struct flow *f, const wend_ev_run_end *e)
{
    f->cut = e->outcome != WEND_OUTCOME_OK;
    close_piece(f);
    if (f->answer_last &&
        (e->outcome == WEND_OUTCOME_OK || e->outcome == WEND_OUTCOME_LIMIT)) {
        enter_ask(f);
        add_piece(f, FLOW_TEXT, e->text);
        close_piece(f);
    }
    step(f, false);
    f->form->end(f, e);
    f->over = true;
}

/* ---- Events -------------------------------------------------------------- */

static void on_turn_end(struct flow *f, const wend_event *ev)
{
    (void)ev;
    close_piece(f);
    step(f, false);
    f->in_turn = false;
}

static void on_model_start(struct flow *f, const wend_event *ev)
{
    if (ev->u.model_start.action.ptr)
        return;
    f->in_model = true;
    close_piece(f);
    enter_ask(f);
}

static void on_text(struct flow *f, const wend_event *ev)
{
    if (!f->answer_last)
        delta(f, FLOW_TEXT, &ev->u.text_delta);
}

static void on_thinking(struct flow *f, const wend_event *ev)
{
    delta(f, FLOW_THINKING, &ev->u.thinking_delta);
}

static void on_model_retry(struct flow *f, const wend_event *ev)
{
    discard(f);
    if (f->form->other)
        f->form->other(f, ev);
}

static void on_model_end(struct flow *f, const wend_event *ev)
{
    if (ev->u.model_end.action.ptr)
        return;
    f->in_model = false;
    model_ends(f, &ev->u.model_end);
}

static void on_approval_ask(struct flow *f, const wend_event *ev)
{
    const wend_ev_approval_ask *e = &ev->u.approval_ask;
    struct flow_call *c;

    if (e->call.ptr)
        c = tell(f, e->call, e->name, e->args_json);
    else if (!(c = find(f, true, e->action)))
        c = add(f, true, e->action, e->name, e->args_json);
    if (c) {
        c->asked = true;
        set(f, &c->reason, str_or(e->reason, ""));
        f->out->failed |= c->reason.failed;
    }
    close_piece(f);
    if (f->form->other)
        f->form->other(f, ev);
}

static void on_approval_answer(struct flow *f, const wend_event *ev)
{
    const wend_ev_approval_answer *e = &ev->u.approval_answer;
    bool action = !e->call.ptr;
    struct flow_call *c = find(f, action, action ? e->action : e->call);

    if (c)
        c->asked = false;
    close_piece(f);
    if (f->form->other)
        f->form->other(f, ev);
}

static void on_call_start(struct flow *f, const wend_event *ev)
{
    const wend_ev_call_start *e = &ev->u.call_start;

    tell(f, e->call, e->name, e->args_json);
}

static void on_call_end(struct flow *f, const wend_event *ev)
{
    call_ends(f, &ev->u.call_end);
}

static void on_run_end(struct flow *f, const wend_event *ev)
{
    run_ends(f, &ev->u.run_end);
}

static void on_nothing(struct flow *f, const wend_event *ev)
{
    (void)f;
    (void)ev;
}

typedef void (*flow_fn)(struct flow *f, const wend_event *ev);

/* The rest goes to the form. */
static const flow_fn handlers[WEND_EVENT_TYPES] = {
    [WEND_RUN_START] = on_nothing,
    [WEND_TURN_START] = on_nothing,
    [WEND_TURN_END] = on_turn_end,
    [WEND_MODEL_START] = on_model_start,
    [WEND_THINKING_DELTA] = on_thinking,
    [WEND_TEXT_DELTA] = on_text,
    [WEND_ARGS_DELTA] = on_nothing,
    [WEND_MODEL_RETRY] = on_model_retry,
    [WEND_MODEL_END] = on_model_end,
    [WEND_APPROVAL_ASK] = on_approval_ask,
    [WEND_APPROVAL_ANSWER] = on_approval_answer,
    [WEND_CALL_START] = on_call_start,
    [WEND_CALL_END] = on_call_end,
    [WEND_RUN_END] = on_run_end,
};

/* ---- Publics ------------------------------------------------------------- */

static const size_t bufs[] = {
    offsetof(struct flow, run_id), offsetof(struct flow, thread_id),
    offsetof(struct flow, model),  offsetof(struct flow, turn_id),
    offsetof(struct flow, id),     offsetof(struct flow, message),
    offsetof(struct flow, text),   offsetof(struct flow, finish),
    offsetof(struct flow, done),   offsetof(struct flow, client_tools),
};

enum { BUFS = sizeof bufs / sizeof *bufs };

static struct buf *buf_at(struct flow *f, int i)
{
    return (void *)((char *)f + bufs[i]);
}

static struct flow *flow_new(struct dialect_stream *s,
                             const struct flow_form *form, const wend_event *ev)
{
    struct flow *f = mem_zalloc(s->mem, sizeof *f);

    if (!f)
        return NULL;
    f->form = form;
    f->s = s;
    f->out = s->out;
    f->began_us = ev->time_us;
    f->calls_end = &f->calls;
    if (s->options)
        f->o = *s->options;
    for (int i = 0; i < BUFS; i++)
        buf_at(f, i)->mem = s->mem;
    buf_str(&f->run_id, f->o.run_id ? str_of(f->o.run_id) : ev->run);
    buf_str(&f->thread_id, f->o.thread_id ? str_of(f->o.thread_id) : ev->run);
    buf_str(&f->model, str_or(str_of(f->o.model), ""));
    buf_str(&f->turn_id, ev->run);
    return f;
}

void flow_drop(struct flow *f)
{
    if (!f)
        return;
    for (struct flow_call *c = f->calls, *next; c; c = next) {
        next = c->next;
        buf_free(&c->shown);
        buf_free(&c->reason);
        mem_free(f->s->mem, c);
    }
    for (int i = 0; i < BUFS; i++)
        buf_free(buf_at(f, i));
    mem_free(f->s->mem, f);
}

/* Not only at turn_start: a reader may come in the middle of a turn. */
static void look_for_turn(struct flow *f, const wend_event *ev)
{
    bool known = f->in_turn && f->turn == ev->turn + 1;

    if (ev->in_turn && !known && ev->type != WEND_TURN_END)
        enter_turn(f, ev->turn, ev->turn_id);
}

void flow_event(struct dialect_stream *s, const wend_event *ev,
                const struct flow_form *form)
{
    flow_fn fn = handlers[ev->type];
    struct flow *f = s->flow;

    if (ev->type == WEND_EVENT_NONE || (f && f->over))
        return;
    if (!f)
        f = s->flow = flow_new(s, form, ev);
    if (!f) {
        s->out->failed = true;
        return;
    }
    f->out = s->out;
    f->time_us = ev->time_us;
    if (f->past && !s->past)
        f->begun = false;
    f->past = s->past;
    if (ev->type == WEND_RUN_START)
        run_starts(f, ev);
    if (!f->begun)
        begin(f);
    look_for_turn(f, ev);
    step(f, f->in_turn);
    if (fn)
        fn(f, ev);
    else if (form->other)
        form->other(f, ev);
    for (int i = 0; i < BUFS; i++)
        f->out->failed |= buf_at(f, i)->failed;
}

bool flow_interrupt(struct dialect_stream *s, struct buf *out)
{
    struct flow *f = s->flow;

    if (!f || !f->form->interrupt || !f->begun || f->over || f->in_model ||
        !flow_asked(f, NULL))
        return false;
    f->out = out;
    close_piece(f);
    step(f, false);
    f->form->interrupt(f);
    f->begun = false;
    f->interrupted = true;
    return true;
}
