/*
 * context_at.c - what a model was asked, from the log of its run.
 *
 * The log is folded as for a resume. The state at a model_start is what the
 * request was made of, so nothing is kept for this that a run does not keep
 * anyway.
 */
#include "base/fail.h"
#include "base/id.h"
#include "core/config/frame_parts.h"
#include "core/media/media.h"
#include "core/turn/messages.h"
#include "lib/run/run.h"
#include "wire/model/model.h"

/* What the request has for a part, see wire_ask.shown. */
struct shown_part {
    struct shown_part *next;
    enum wire_shown what;
    const struct msg *msg;
    const wend_ev_part *part;
    wend_str text;
};

struct looking {
    int64_t at; /* no later event counts; 0: all do */
    struct arena arena;
    struct turn turn;
    /* Of the newest request. */
    struct turn seen; /* no config: none was found */
    wend_str parts;
    int64_t tokens;
    struct shown_part *shown, **shown_end; /* in their order */
    int64_t sent;           /* tokens of parts that are in the request */
    const struct msg *told; /* its messages, as the provider gets them */
};

static bool is_question(const wend_event *ev)
{
    return ev->type == WEND_MODEL_START &&
           ev->u.model_start.purpose != WEND_PURPOSE_SUMMARY;
}

/* What is asked again may be less, or of another model. */
static bool is_again(const struct looking *l, const wend_event *ev)
{
    return ev->type == WEND_MODEL_RETRY && l->turn.config &&
           l->turn.purpose != WEND_PURPOSE_SUMMARY;
}

/* context_end is about turns: an action has none. */
static void put_action_parts(struct looking *l, const struct msg *m)
{
    struct buf b = {.mem = l->arena.mem};
    int64_t system = tokens_estimate(l->seen.frame->system.len);

    json_open(&b, NULL, '[');
    if (system)
        frame_parts_put(&b, PART_INSTRUCTIONS, STR_NONE, system, 0);
    frame_parts_put(&b, PART_HISTORY, STR_NONE, m->size, 0);
    json_close(&b, ']');
    l->parts = buf_keep(&b, &l->arena);
    l->tokens = system + m->size;
}

/* The request of an action: one message, and no tools. */
static void see_action(struct looking *l, wend_str action)
{
    const struct plan_state *p = &l->turn.plan;
    uint32_t i = p->plan ? plan_find(p->plan, action) : PLAN_NONE, model;
    struct config *c = arena_alloc(&l->arena, sizeof *c);
    struct msg *m = arena_alloc(&l->arena, sizeof *m);
    const struct json *params;

    if (i == PLAN_NONE || !c || !m)
        return; /* a damaged log's */
    *c = *l->turn.config;
    c->tools_count = 0;
    c->schema_text = STR_NONE;
    l->seen = l->turn;
    l->seen.config = c;
    l->seen.history = NULL;
    l->seen.purpose = WEND_PURPOSE_ANSWER;
    model = config_model(c, p->plan->actions[i]->target);
    if (model && model < c->models_count)
        l->seen.model_at = model;
    params = json_parse(plan_action_state(p, i)->params, &l->arena, NULL);
    m->role = ROLE_USER;
    m->text = str_or(json_str(json_get(params, "prompt")), "");
    if (p->plan->actions[i]->files.count)
        m->parts = parts_of(params, &l->arena, &m->parts_count);
    turn_history_add(&l->seen, m);
    put_action_parts(l, m);
}

static wend_status fold_event(void *ctx, const wend_event *ev)
{
    struct looking *l = ctx;
    struct keep keep = {&l->arena, NULL};

    if (l->at && ev->seq > l->at)
        return WEND_END;
    turn_apply(&l->turn, ev, &keep);
    if (ev->type == WEND_CONTEXT_END) {
        l->parts = arena_str(&l->arena, ev->u.context_end.parts_json);
        l->tokens = ev->u.context_end.tokens;
    }
    if (is_question(ev) && ev->u.model_start.action.ptr)
        see_action(l, ev->u.model_start.action);
    else if (is_question(ev) || is_again(l, ev))
        l->seen = l->turn;
    return l->arena.failed ? WEND_E_NOMEM : WEND_OK;
}

/* ---- Parts ----------------------------------------------------------------
 *
 * The request is written once more, with the bytes of text files alone: its
 * codec says what it has in the place of each part. */

static void note_shown(void *ctx, enum wire_shown what, const struct msg *m,
                       const wend_ev_part *part, wend_str text)
{
    struct looking *l = ctx;
    struct shown_part *s = arena_alloc(&l->arena, sizeof *s);

    if (!s)
        return;
    s->what = what;
    s->msg = m;
    s->part = part;
    s->text = arena_str(&l->arena, text);
    if (what == WIRE_SENT || what == WIRE_FILE)
        spend(&l->sent, part_tokens(part, turn_model(&l->seen)));
    *l->shown_end = s;
    l->shown_end = &s->next;
}

static wend_status read_texts(wend_store *store, struct looking *l,
                              struct wire_ask *q, wend_error *err)
{
    size_t count;
    const wend_ev_part **sent = turn_media_sent(&l->seen, &l->arena, &count);
    struct wire_media *list =
        sent ? arena_alloc(&l->arena, (count + 1) * sizeof *list) : NULL;
    wend_status s = list ? WEND_OK : fail_nomem(err);

    for (size_t i = 0; s == WEND_OK && i < count; i++) {
        list[i] = (struct wire_media){sent[i]->hash, STR(""), sent[i]};
        if (media_type_of(sent[i]) == MEDIA_TEXT)
            s = part_bytes(store, sent[i]->hash, &l->arena, &list[i].bytes,
                           err);
    }
    q->media = list;
    q->media_count = s == WEND_OK ? count : 0;
    return s;
}

static void tell(struct looking *l, struct msg *m)
{
    msg_seal(m);
    msg_link(m, l->told, l->seen.frame->prefix);
    l->told = m;
}

static void add_text(struct buf *b, wend_str text)
{
    if (b->len && text.len)
        buf_char(b, '\n');
    buf_str(b, text);
}

/* Takes what is shown of the messages up to `last`: a label or more. */
static void tell_batch(struct looking *l, const struct msg *last)
{
    struct msg *m = arena_alloc(&l->arena, sizeof *m);
    struct buf text = {.mem = l->arena.mem};
    const struct shown_part *s = l->shown;
    wend_ev_part *parts;
    size_t count = 0;

    for (; s && s->msg->index <= last->index; s = s->next)
        count++;
    parts = arena_alloc(&l->arena, (count + 1) * sizeof *parts);
    if (!m || !parts)
        return;
    m->role = ROLE_USER;
    m->own = true;
    m->parts = parts;
    for (; l->shown != s; l->shown = l->shown->next) {
        add_text(&text, l->shown->text);
        if (l->shown->what != WIRE_SENT)
            continue;
        parts[m->parts_count++] = *l->shown->part;
        spend(&m->media, part_tokens(l->shown->part, turn_model(&l->seen)));
    }
    m->text = str_or(buf_keep(&text, &l->arena), "");
    tell(l, m);
}

/* Parts come before the text of a user, and behind that of a result. */
static void tell_parts(struct looking *l, struct msg *m, const struct msg *from)
{
    struct buf text = {.mem = l->arena.mem};
    wend_ev_part *parts =
        arena_alloc(&l->arena, m->parts_count * sizeof *parts);
    bool whole = m->role == ROLE_TOOL;

    m->parts = parts;
    m->parts_count = 0;
    m->media = 0;
    if (whole)
        buf_str(&text, m->text);
    for (; parts && l->shown && l->shown->msg == from &&
           l->shown->what != WIRE_LABEL;
         l->shown = l->shown->next) {
        if (l->shown->what == WIRE_TEXT) {
            buf_clear(&text);
            whole = true;
        }
        add_text(&text, l->shown->text);
        if (l->shown->what != WIRE_SENT)
            continue;
        parts[m->parts_count++] = *l->shown->part;
        spend(&m->media, part_tokens(l->shown->part, turn_model(&l->seen)));
    }
    if (!whole)
        add_text(&text, m->text);
    m->text = str_or(buf_keep(&text, &l->arena), "");
}

static void tell_all(struct looking *l)
{
    size_t count;
    const struct msg **list = wire_messages(&l->seen, NULL, &l->arena, &count);

    for (size_t i = 0; i < count; i++) {
        struct msg *m = arena_alloc(&l->arena, sizeof *m);

        if (!m)
            return;
        *m = *list[i];
        if (m->parts_count)
            tell_parts(l, m, list[i]);
        tell(l, m);
        if (l->shown && l->shown->msg->index <= list[i]->index &&
            (i + 1 == count || list[i + 1]->role != ROLE_TOOL))
            tell_batch(l, list[i]);
    }
}

/* The estimate of the log counts each part, also where a note stands. */
static void count_sent(struct looking *l)
{
    const struct json *list = json_parse(l->parts, &l->arena, NULL);
    struct buf b = {.mem = l->arena.mem};
    int64_t all = 0, less;

    for (const struct msg *m = l->seen.history; m; m = m->prev)
        spend(&all, m->media);
    less = (all - l->sent) * family_scale(turn_model(&l->seen)->spec) / 1000;
    if (less <= 0 || less > l->tokens)
        return;
    l->tokens -= less;
    json_open(&b, NULL, '[');
    for (const struct json *j = json_items(list); j; j = j->next) {
        int64_t tokens = 0;

        if (!str_is(json_get_str(j, "name"),
                    frame_part_rules[PART_HISTORY].name)) {
            json_add_raw(&b, NULL, json_text(j, &l->arena));
            continue;
        }
        json_i64(json_get(j, "tokens"), &tokens);
        frame_parts_put(&b, PART_HISTORY, STR_NONE,
                        tokens > less ? tokens - less : 0, 0);
    }
    json_close(&b, ']');
    l->parts = buf_keep(&b, &l->arena);
}

/* A script gets the messages as they are. */
static wend_status show_parts(wend_store *store, struct looking *l,
                              wend_error *err)
{
    wend_str spec = turn_model(&l->seen)->spec, provider;
    struct wire_ask q = {.turn = &l->seen, .shown = note_shown, .shown_ctx = l};
    struct buf request = {.mem = l->arena.mem};
    const struct codec *codec;
    wend_status s;

    l->told = l->seen.history;
    q.model = str_or(spec, "");
    codec = str_take(&q.model, ':', &provider) ? codec_find(provider) : NULL;
    if (!codec || !turn_media_present(&l->seen))
        return WEND_OK;
    l->shown_end = &l->shown;
    s = read_texts(store, l, &q, err);
    if (s == WEND_OK) {
        codec_request(codec, &q, &request);
        l->arena.failed |= request.failed;
        l->told = NULL;
        tell_all(l);
        count_sent(l);
    }
    buf_free(&request);
    return s;
}

/* ---- As JSON ------------------------------------------------------------- */

static void put_tool(struct buf *b, const struct tool *t)
{
    json_open(b, NULL, '{');
    json_add_str(b, "name", t->name);
    json_add_str(b, "description", t->description);
    json_add_raw(b, "schema", t->schema_text);
    json_close(b, '}');
}

static void put_tools(struct buf *b, const struct turn *t)
{
    const struct config *c = t->config;

    if (c->no_tool_calls || !c->tools_count)
        return;
    json_open(b, "tools", '[');
    for (size_t i = 0; i < c->tools_count; i++)
        put_tool(b, &c->tools[i]);
    if (turn_reads(t))
        put_tool(b, c->reader);
    json_close(b, ']');
}

/* Of each message, in their order. */
static void put_tokens(struct buf *b, const struct msg *newest, struct arena *a)
{
    size_t count = newest ? (size_t)newest->index + 1 : 0, i = count;
    int64_t *tokens = arena_alloc(a, (count + 1) * sizeof *tokens);

    if (!tokens)
        return;
    for (const struct msg *m = newest; m && i; m = m->prev)
        tokens[--i] = m->tokens - (m->prev ? m->prev->tokens : 0);
    json_open(b, "message_tokens", '[');
    for (i = 0; i < count; i++)
        json_add_i64(b, NULL, tokens[i]);
    json_close(b, ']');
}

static void put_context(struct buf *b, struct looking *l)
{
    const struct turn *t = &l->seen;
    const struct model_use *m = turn_model(t);
    wend_str messages = messages_text(l->told, 0, MESSAGES_SENT, &l->arena);

    json_open(b, NULL, '{');
    json_add_str(b, "run", t->run);
    json_add_i64(b, "seq", t->seq);
    json_add_i64(b, "turn", t->counter);
    json_add_str(b, "model", m->spec.ptr ? m->spec : t->model);
    json_add_str(b, "purpose", str_of(purpose_words.names[t->purpose]));
    if (m->window_known)
        json_add_i64(b, "window", m->context_tokens);
    json_add_i64(b, "tokens", l->tokens);
    json_add_raw(b, "parts", l->parts.ptr ? l->parts : STR("[]"));
    json_add_str(b, "system",
                 t->frame->system.ptr ? t->frame->system : STR(""));
    put_tools(b, t);
    json_add_raw(b, "schema",
                 t->config->schema_text.len ? t->config->schema_text
                                            : STR_NONE);
    json_add_raw(b, "messages", messages.ptr ? messages : STR("[]"));
    put_tokens(b, l->told, &l->arena);
    json_close(b, '}');
}

/* ---- From the store ------------------------------------------------------ */

static wend_status look(wend_store *store, const char *id, struct looking *l,
                        wend_error *err)
{
    struct log_reader log = {.store = store,
                             .mem = &store->mem,
                             .blob = log_text,
                             .fn = fold_event,
                             .ctx = l,
                             .unchained = true,
                             .no_deltas = true};
    wend_run_info *info = NULL;
    wend_status s = store_info(store, id, &l->arena, &info, err);

    if (s == WEND_OK && l->at > info->seq)
        s = fail(err, WEND_E_INVAL,
                 "run %s has no event %lld: they are 1 to %lld", id,
                 (long long)l->at, (long long)info->seq);
    if (s != WEND_OK)
        return s;
    turn_init(&l->turn);
    s = log_read_more(&log, id, err);
    log_read_free(&log);
    if (s == WEND_OK && !l->seen.config)
        s = fail(err, WEND_E_NOTFOUND, "run %s has asked no model%s", id,
                 l->at ? " up to that event" : "");
    return s;
}

wend_status wend_store_context(wend_store *store, const char *id, int64_t at,
                               wend_write_fn fn, void *ctx, wend_error *err)
{
    struct looking l = {.at = at};
    struct buf b = {0};
    wend_status s = store_enter(store, err);

    if (s == WEND_OK && (!id || !fn || at < 0 || !run_id_valid(str_of(id))))
        s = fail(err, WEND_E_INVAL, "context: id, at or fn is wrong");
    if (s != WEND_OK)
        return s;
    l.arena.mem = b.mem = &store->mem;
    s = look(store, id, &l, err);
    if (s == WEND_OK)
        s = show_parts(store, &l, err);
    if (s == WEND_OK) {
        put_context(&b, &l);
        if (b.failed || l.arena.failed)
            s = fail_nomem(err);
        else if (!fn(ctx, buf_view(&b)))
            s = fail(err, WEND_E_IO, "context: the text could not be written");
    }
    buf_free(&b);
    arena_free(&l.arena);
    return s;
}
