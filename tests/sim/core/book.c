/*
 * book.c - what a reader of the log knows about a run.
 *
 * Written again from EVENTS alone and without the core's turn.c, so that a
 * mistake there does not hide itself here. Flat and without ownership: a
 * copy of the struct is a copy of the book. Texts are kept as hashes; an
 * absent one and an empty one are the same to a model.
 */
#include "book.h"

#include "base/cost.h"
#include "past_book.h"

uint64_t hash_str(wend_str s)
{
    uint64_t h = 14695981039346656037u;

    for (size_t i = 0; i < s.len; i++)
        h = (h ^ (unsigned char)s.ptr[i]) * 1099511628211u;
    return h;
}

static void book_id(char out[BOOK_ID], wend_str s)
{
    snprintf(out, BOOK_ID, "%.*s", (int)s.len, s.ptr ? s.ptr : "");
}

void book_init(struct book *b, const struct config *c,
               const struct book_carry *carry)
{
    memset(b, 0, sizeof *b);
    memcpy(b->refused_by, carry->refused_by, sizeof b->refused_by);
    b->refused_count = carry->refused_count;
    b->config = c;
    b->turn = -1;
    b->answer = b->answer_bare = hash_str(STR_NONE);
}

struct book_call *book_call(struct book *b, wend_str id)
{
    char text[BOOK_ID];

    book_id(text, id);
    for (uint32_t i = 0; i < b->calls_count; i++)
        if (!strcmp(b->calls[i].id, text))
            return &b->calls[i];
    return NULL;
}

bool book_waits(const struct book_call *c)
{
    return c && c->asked && !c->answered && !c->unheard;
}

bool book_runs(const struct book_call *c)
{
    return c && c->started && !c->ended;
}

uint32_t book_running(const struct book *b)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < b->calls_count; i++)
        n += book_runs(&b->calls[i]);
    return n;
}

/* Those that run. */
uint32_t book_live(const struct book *b)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < b->calls_count; i++)
        n += book_runs(&b->calls[i]) && !b->calls[i].lost;
    return n;
}

/* Calls and actions that are under way. */
uint32_t book_busy(const struct book *b)
{
    return book_running(b) + acts_running(&b->plan);
}

static struct book_call *add_book_call(struct book *b, wend_str id,
                                       wend_str name)
{
    struct book_call *c;

    if (b->calls_count == BOOK_CALLS)
        return NULL;
    c = &b->calls[b->calls_count++];
    memset(c, 0, sizeof *c);
    book_id(c->id, id);
    c->tool = config_tool(b->config, name);
    return c;
}

static void add_book_msg(struct book_msg *list, uint32_t *count,
                         struct book_msg m)
{
    if (*count < BOOK_MSGS)
        list[(*count)++] = m;
}

static void book_turn_start(struct book *b, const wend_event *ev)
{
    memcpy(b->last_turn_id, b->turn_id, BOOK_ID);
    book_id(b->turn_id, ev->u.turn_start.id);
    b->turn = ev->u.turn_start.counter;
    b->turn_open = true;
    b->context_done = b->context_used = b->model_done = b->part = false;
    b->context_seen = b->summed = false;
    b->refused = 0;
    b->calls_count = b->failed = 0;
    b->sum.turns++;
}

static void book_context_start(struct book *b)
{
    b->context_open = b->context_seen = true;
    b->forked = false;
    for (uint32_t i = 0; i < b->pending_count; i++)
        add_book_msg(b->msgs, &b->msgs_count, b->pending[i]);
    b->pending_count = 0;
}

/* Whether a list of numbers has this one, behind `key` if that is not empty. */
static bool lists(wend_str json, const char *key, uint32_t n)
{
    char text[40];
    int len = snprintf(text, sizeof text, "%s%u", key, n);
    const char *at = json.ptr, *end = json.ptr + json.len;

    while (at && (at = memmem(at, (size_t)(end - at), text, (size_t)len))) {
        bool begins = *key || !strchr("0123456789", at[-1]);

        at += len;
        if (begins && !strchr("0123456789", *at))
            return true;
    }
    return false;
}

static void book_compacted(struct book *b, const wend_ev_compacted *e)
{
    uint32_t kept = 0;
    bool summed = !e->summary.ptr, noted = false;

    static struct book_msg before[BOOK_MSGS];

    memcpy(before, b->msgs, sizeof before);
    for (uint32_t i = 0; i < b->msgs_count; i++) {
        struct book_msg m = before[i];

        if (i < e->from && !lists(e->kept_json, "", i)) {
            if (e->dropped && !noted)
                b->msgs[kept++] = (struct book_msg){
                    .role = ROLE_USER, .summary = true, .own = true};
            noted = true;
            continue;
        }
        if (!summed && (i >= e->from || kept)) {
            summed = true;
            b->msgs[kept++] =
                (struct book_msg){.role = ROLE_USER, .summary = true};
        }
        m.cut |= lists(e->results_json, "\"message\":", i);
        b->msgs[kept++] = m;
    }
    b->msgs_count = kept;
}

static void book_usage(struct book *b, const wend_ev_usage *u)
{
    b->sum.tokens_in += u->input;
    b->sum.tokens_out += u->output;
    b->sum.tokens_cached += u->cached;
    if (u->cost_nano > 0)
        b->sum.cost_nano += u->cost_nano;
}

static void book_model_end(struct book *b, const wend_ev_model_end *e)
{
    book_usage(b, &e->usage);
    b->unpriced |= cost_of_answer(e) < 0;
    if (!b->sum.first_token_ms)
        b->sum.first_token_ms = e->first_token_ms;
    if (e->action.ptr)
        return;
    b->model_open = false;
    if (e->purpose == WEND_PURPOSE_SUMMARY) {
        b->summary = hash_str(e->text);
        return;
    }
    b->model_done = e->outcome != WEND_OUTCOME_SUPERSEDED;
    for (size_t i = 0; i < e->calls_count; i++) {
        struct book_call *c = book_call(b, e->calls[i].id);

        if (!c)
            c = add_book_call(b, e->calls[i].id, e->calls[i].name);
        if (c)
            c->listed = true;
    }
    if (e->outcome == WEND_OUTCOME_SUPERSEDED) { /* void for readers */
        b->repaired -= b->purpose == WEND_PURPOSE_REPAIR;
        return;
    }
    b->broken_off = e->outcome != WEND_OUTCOME_OK;
    if (e->error && str_is(e->error->code, "overflow") &&
        b->refused < REFUSALS_MAX && !e->text.len &&
        !e->calls_count) { /* a shorter one may follow */
        b->refused++;
        b->model_done = b->context_done = b->context_used = false;
    }
    b->answer = hash_str(e->text);
    b->answer_bare = hash_str(answer_json(e->text));
    if (e->text.len || e->calls_count ||
        (str_is(e->finish, "pause") && e->outcome == WEND_OUTCOME_OK))
        add_book_msg(b->msgs, &b->msgs_count,
                     (struct book_msg){.role = ROLE_ASSISTANT,
                                       .text = hash_str(e->text),
                                       .calls = (uint32_t)e->calls_count});
}

static void book_call_start(struct book *b, const wend_ev_call_start *e)
{
    struct book_call *c = book_call(b, e->call);

    if (!c)
        c = add_book_call(b, e->call, e->name);
    if (!c)
        return;
    c->started = c->fresh = true;
    c->again |= c->lost;
    c->lost = c->closed = false;
    c->attempt = e->attempt;
}

static void book_call_end(struct book *b, const wend_ev_call_end *e)
{
    struct book_call *c = book_call(b, e->call);

    if (e->outcome == WEND_OUTCOME_SUPERSEDED) { /* void for readers */
        if (c)
            c->closed = true;
        return;
    }
    b->sum.tool_calls++;
    if (e->outcome != WEND_OUTCOME_OK) {
        b->sum.tool_errors++;
        b->failed++;
    }
    if (!c)
        return;
    c->ended = true;
    c->lost = false;
    c->client = e->client;
    c->output =
        hash_str(c->client ? STR("[the caller gave no result for this call]")
                           : e->output);
}

static void book_turn_end(struct book *b)
{
    for (uint32_t i = 0; i < b->calls_count; i++)
        add_book_msg(
            b->msgs, &b->msgs_count,
            (struct book_msg){.role = ROLE_TOOL,
                              .text = b->calls[i].output,
                              .call = hash_str(str_of(b->calls[i].id))});
    b->turn_open = false;
}

/* What was open does not run, and what was asked is not heard. */
static void book_lose(struct book *b)
{
    for (uint32_t i = 0; i < b->calls_count; i++) {
        struct book_call *c = &b->calls[i];

        if (book_runs(c)) {
            c->lost = true;
            c->ran = c->told = c->asked = c->answered = c->yes = false;
        } else {
            c->unheard = c->asked && !c->answered;
        }
    }
}

/* What is its own: the clock; it is neither stopped nor paused. */
static void book_fork(struct book *b, const wend_event *ev)
{
    book_lose(b);
    b->stopping = b->paused = false;
    b->lives = 0;
    b->started_us = ev->time_us;
    b->idle_us = 0;
    b->forked = true;
    if (ev->u.run_fork.limits)
        b->limits = *ev->u.run_fork.limits;
}

/* {"turns":N} and so on: what is named holds from here on. */
static void book_limits(struct book *b, wend_str value)
{
    const struct {
        const char *name;
        int64_t *at;
    } rows[] = {{"\"turns\":", &b->limits.turns},
                {"\"time_ms\":", &b->limits.time_ms}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *at =
            memmem(value.ptr, value.len, rows[i].name, strlen(rows[i].name));

        if (at)
            *rows[i].at = strtoll(at + strlen(rows[i].name), NULL, 10);
    }
}

static void book_control(struct book *b, const wend_ev_control *e)
{
    if (str_is(e->what, "pause")) {
        b->paused = true;
    } else if (str_is(e->what, "continue")) {
        b->paused = false;
    } else if (str_is(e->what, "limits") && str_is(e->by, "api")) {
        book_limits(b, e->value_json);
    } else if (!str_is(e->what, "compact")) {
        b->stopping = true;
        b->stop = !str_is(e->what, "cancel") ? WEND_OUTCOME_LIMIT
                  : e->value_json.ptr        ? WEND_OUTCOME_FAILED
                                             : WEND_OUTCOME_CANCELED;
    }
}

static void book_model_ask(struct book *b, int64_t attempt)
{
    b->asks++;
    b->attempt = attempt;
    b->sum.model_calls++;
    b->asked_model = false;
}

/* The next model's name is not this one's: it is another model now. */
static void book_model_retry(struct book *b, const wend_ev_model_retry *e)
{
    uint32_t at = b->model_at + 1;

    if (e->usage) {
        book_usage(b, e->usage);
        b->unpriced |= cost_of_usage(e->usage) < 0;
    }
    if (at < b->config->models_count &&
        str_eq(e->next_model, b->config->models[at].name)) {
        b->model_at = at;
        b->tries = 0;
    }
    b->tries += !e->dropped_json.ptr; /* else it is another request */
    b->allowed = e->output_tokens;
    book_model_ask(b, b->attempt + 1);
}

static void book_approval(struct book *b, const wend_event *ev)
{
    bool asks = ev->type == WEND_APPROVAL_ASK;
    struct book_call *c = book_call(b, asks ? ev->u.approval_ask.call
                                            : ev->u.approval_answer.call);

    if (!c)
        return;
    c->unheard = false;
    if (asks) {
        c->asked = true;
        c->answered = c->yes = false;
    } else {
        c->answered = true;
        c->yes = ev->u.approval_answer.yes;
    }
}

struct book_call *book_parent(struct book *b, wend_str run)
{
    for (uint32_t i = 0; i < b->calls_count; i++)
        if (b->calls[i].child && str_is(run, b->calls[i].child_id))
            return &b->calls[i];
    return NULL;
}

static void book_child(struct book *b, const wend_event *ev)
{
    bool starts = ev->type == WEND_CHILD_START;
    const wend_ev_metrics *m = &ev->u.child_end.metrics;
    struct book_call *c = starts ? book_call(b, ev->u.child_start.call)
                                 : book_parent(b, ev->u.child_end.run);

    if (c)
        c->child = starts;
    if (c && starts)
        book_id(c->child_id, ev->u.child_start.run);
    if (starts || (!c && !act_parent(&b->plan, ev->u.child_end.run)))
        return;
    b->shared = true;
    b->sum.tokens_in += m->tokens_in;
    b->sum.tokens_out += m->tokens_out;
    b->sum.model_calls += m->model_calls;
    b->sum.tool_calls += m->tool_calls;
    b->unpriced |= m->cost_nano < 0;
}

static void book_warning(struct book *b, const wend_ev_warning *e)
{
    if (!str_is(e->code, "answer_invalid"))
        return;
    b->invalid++;
    b->told = false;
}

static void book_messages(struct book *b, const wend_event *ev)
{
    if (ev->type == WEND_RUN_START) {
        b->run_open = true;
        b->lives = 1;
        b->started_us = ev->time_us;
        b->limits = ev->u.run_start.limits;
        add_book_msg(
            b->msgs, &b->msgs_count,
            (struct book_msg){.role = ROLE_USER,
                              .text = hash_str(ev->u.run_start.prompt),
                              .parts = (uint32_t)ev->u.run_start.parts_count});
        return;
    }
    b->told |= str_is(ev->u.message.role, "user");
    add_book_msg(b->pending, &b->pending_count,
                 (struct book_msg){.role = str_is(ev->u.message.role, "user")
                                               ? ROLE_USER
                                               : ROLE_SYSTEM,
                                   .text = hash_str(ev->u.message.text),
                                   .parts = (uint32_t)ev->u.message.parts_count,
                                   .pinned = ev->u.message.pinned,
                                   .own = ev->u.message.by.ptr != NULL});
}

static void book_model_start(struct book *b, const wend_ev_model_start *e)
{
    if (e->action.ptr) {
        b->sum.model_calls++;
        return;
    }
    b->model_open = b->model_fresh = true;
    /* After a summary the request is another one. */
    b->context_used = e->purpose != WEND_PURPOSE_SUMMARY;
    b->summed |= e->purpose == WEND_PURPOSE_SUMMARY;
    b->model_cut = false;
    b->purpose = e->purpose;
    b->repaired += b->purpose == WEND_PURPOSE_REPAIR;
    b->tries = 1;
    b->allowed = e->output_tokens;
    book_model_ask(b, e->attempt);
}

/* Types that no run without branches has are left to the default on purpose:
 * a reader skips what it does not know. */
void book_add(struct book *b, const wend_event *ev)
{
    if (ev->type == WEND_RUN_RESUME)
        b->idle_us += ev->time_us - b->time_us;
    b->seq = ev->seq;
    b->time_us = ev->time_us;
    past_book_add(b, ev);
    switch ((int)ev->type) {
    case WEND_RUN_START:
    case WEND_MESSAGE: book_messages(b, ev); break;
    case WEND_RUN_END: b->run_over = true; break;
    case WEND_RUN_FORK: book_fork(b, ev); break;
    case WEND_RUN_RESUME:
        b->resumed = true;
        b->lives++;
        b->model_cut = b->model_open && b->lives > 1;
        book_lose(b);
        break;
    case WEND_TURN_START: book_turn_start(b, ev); break;
    case WEND_TURN_END: book_turn_end(b); break;
    case WEND_CONTEXT_START: book_context_start(b); break;
    case WEND_COMPACTED: book_compacted(b, &ev->u.compacted); break;
    case WEND_CONTEXT_END:
        memcpy(b->sent, b->msgs, sizeof b->sent);
        b->sent_count = b->msgs_count;
        b->context_open = false;
        b->context_done = true;
        b->context_tokens = ev->u.context_end.tokens;
        b->context_at = b->model_at;
        break;
    case WEND_MODEL_START: book_model_start(b, &ev->u.model_start); break;
    case WEND_MODEL_PART: b->part = true; break;
    case WEND_MODEL_RETRY: book_model_retry(b, &ev->u.model_retry); break;
    case WEND_MODEL_END: book_model_end(b, &ev->u.model_end); break;
    case WEND_APPROVAL_ASK:
    case WEND_APPROVAL_ANSWER: book_approval(b, ev); break;
    case WEND_CALL_START: book_call_start(b, &ev->u.call_start); break;
    case WEND_CALL_END: book_call_end(b, &ev->u.call_end); break;
    case WEND_WARNING: book_warning(b, &ev->u.warning); break;
    case WEND_CHILD_START:
    case WEND_CHILD_END: book_child(b, ev); break;
    case WEND_CONTROL: book_control(b, &ev->u.control); break;
    case WEND_ACTION_END:
        b->sum.actions += ev->u.action_end.outcome != WEND_OUTCOME_SUPERSEDED;
        break;
    default: break;
    }
    plan_book_add(&b->plan, ev);
    b->sum.ms = (b->time_us - b->started_us - b->idle_us) / 1000;
}
