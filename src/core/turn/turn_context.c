/*
 * turn_context.c - the conversation of a run: how it joins, is set aside,
 * becomes shorter and is left to another run.
 */
#include "core/turn/messages.h"

/* Of a call in a run that was closed from outside. */
#define NO_RESULT                                                           \
    "[the outcome of this call is not known: its run was closed before it " \
    "ended]"

/* `pending` is newest first; it joins oldest first. */
void turn_join_pending(struct turn *t, const struct keep *k)
{
    size_t count = 0, i;
    struct msg *joined;

    for (const struct msg *m = t->pending; m; m = m->prev)
        count++;
    joined = count ? arena_alloc(k->arena, count * sizeof *joined) : NULL;
    if (!joined)
        return;
    i = count;
    for (const struct msg *m = t->pending; m; m = m->prev) {
        joined[--i].role = m->role;
        joined[i].text = m->text;
        joined[i].pinned = m->pinned;
        joined[i].own = m->own;
        joined[i].parts = m->parts;
        joined[i].parts_count = m->parts_count;
    }
    for (i = 0; i < count; i++)
        turn_history_add(t, &joined[i]);
    t->pending = NULL;
}

/* The model sees the arguments that it wrote: it learns of others here. */
static wend_str result_text(const struct call_state *s, const struct keep *k)
{
    struct buf b = {.mem = k->arena->mem};

    if (!s->changed)
        return str_or(s->output, "");
    buf_cstr(&b, "[the user changed the arguments of this call to ");
    buf_str(&b, s->args);
    buf_cstr(&b, "]\n");
    buf_str(&b, str_or(s->output, ""));
    return buf_keep(&b, k->arena);
}

/* Results join the conversation in call order, whatever order they came in. */
void turn_add_results(struct turn *t, const struct keep *k)
{
    for (uint32_t i = 0; i < t->calls_count; i++) {
        const struct call *c = turn_call(t, i);
        const struct call_state *s = turn_call_state(t, i);
        struct msg *m = arena_alloc(k->arena, sizeof *m);

        if (!m)
            return;
        m->role = ROLE_TOOL;
        m->text = t->flags[i] & CALL_ENDED ? result_text(s, k) : STR(NO_RESULT);
        m->parts = s->parts;
        m->parts_count = s->parts_count;
        m->call = c->id;
        m->name = c->name;
        m->turn = t->counter;
        m->client = s->client;
        m->failed = !(t->flags[i] & CALL_ENDED) || m->client ||
                    s->outcome != WEND_OUTCOME_OK;
        turn_history_add(t, m);
    }
}

void turn_on_context_start(struct turn *t, const struct keep *k)
{
    t->context = t->entered = true;
    t->folding = t->fold;
    turn_join_pending(t, k);
}

void turn_on_context_end(struct turn *t)
{
    t->context = false;
    t->context_model = t->model;
    t->forked = t->reconfigured = t->recut = false;
}

bool turn_reads(const struct turn *t)
{
    return t->results_cut && t->config->reader;
}

/* Of all but the messages. */
static int64_t fixed_tokens(const struct turn *t)
{
    return t->frame->tokens + (turn_reads(t) ? reader_tokens() : 0);
}

/* A provider's word counts more than the config's. */
struct context_room turn_room(const struct turn *t)
{
    const struct token_map map = turn_map(t);
    struct model_use m = *turn_model(t);

    if (t->limit_tokens &&
        (!m.window_known || t->limit_tokens < m.context_tokens)) {
        m.context_tokens = t->limit_tokens;
        m.window_known = true;
    }
    return room_of(&m, fixed_tokens(t), t->refused_tokens, &map);
}

/* As if this request were as large as a request can be: most of it goes. */
struct context_room turn_fold_room(const struct turn *t)
{
    const struct token_map map = turn_map(t);

    return room_of(turn_model(t), fixed_tokens(t), turn_tokens(t), &map);
}

/* ---- Tokens --------------------------------------------------------------
 *
 * A provider's count is right, and says how far off the estimate is: the ratio
 * is smoothed, and bounded since servers exist that count wrong. */

enum { RATIO_LEAST = 500, RATIO_MOST = 2000 };

static int64_t estimate_with(const struct turn *t, const struct msg *history)
{
    return fixed_tokens(t) + (history ? history->tokens : 0);
}

static int64_t bounded(int64_t n, int64_t least, int64_t most)
{
    return n < least ? least : n > most ? most : n;
}

/* Until a second count says how finely it cuts, the first one does, though it
 * may include instructions of the server's own. */
struct token_map turn_map(const struct turn *t)
{
    int64_t family = family_scale(turn_model(t)->spec);
    struct token_map map = {t->used_tokens, t->used_estimate, family};

    if (t->ratio)
        map.scale = family * t->ratio / 1000;
    else if (t->used_estimate)
        map.scale =
            bounded(t->used_tokens * 1000 / t->used_estimate,
                    family * RATIO_LEAST / 1000, family * RATIO_MOST / 1000);
    return map;
}

int64_t turn_tokens_with(const struct turn *t, int64_t more)
{
    const struct token_map map = turn_map(t);

    return tokens_of(&map, estimate_with(t, t->history) + more);
}

int64_t turn_tokens_for(const struct turn *t, const struct model_use *m)
{
    const struct token_map map = {.scale = family_scale(m->spec)};

    return m == turn_model(t) ? turn_tokens(t)
                              : tokens_of(&map, estimate_with(t, t->history));
}

int64_t turn_tokens(const struct turn *t)
{
    return turn_tokens_with(t, 0);
}

/* Servers add instructions of their own, and some count wrong: what is far off
 * says nothing. */
static bool is_plausible(int64_t input, int64_t guess)
{
    enum { HIDDEN_MOST = 2000 };

    return input > 0 && input >= guess / 4 && input <= MODEL_TOKENS_MAX &&
           input <= 4 * guess + HIDDEN_MOST;
}

/* Two counts say how finely it cuts, whatever else it adds to a request. */
static void learn_ratio(struct turn *t, int64_t input, int64_t estimate)
{
    enum { LEAST_NEW = 16 };
    int64_t added = (estimate - t->used_estimate) *
                    family_scale(turn_model(t)->spec) / 1000;
    int64_t ratio;

    if (!t->used_tokens || added < LEAST_NEW)
        return;
    ratio = bounded((input - t->used_tokens) * 1000 / added, RATIO_LEAST,
                    RATIO_MOST);
    t->ratio = t->ratio ? (t->ratio + ratio) / 2 : ratio;
}

void turn_on_usage(struct turn *t, const wend_ev_usage *u,
                   const struct msg *asked)
{
    int64_t estimate = estimate_with(t, asked);

    if (u->estimated || u->input <= 0)
        return;
    if (!is_plausible(u->input,
                      estimate * family_scale(turn_model(t)->spec) / 1000)) {
        t->used_tokens = t->used_estimate = 0;
        return;
    }
    learn_ratio(t, u->input, estimate);
    t->used_tokens = u->input;
    t->used_estimate = estimate;
}

/* The provider's numbers correct the estimate: without them the next request
 * would be as wrong as this one. A limit without a count says that there were
 * more tokens than that. */
void turn_on_refused(struct turn *t, wend_str message)
{
    struct overflow o = overflow_read(message);
    int64_t tokens = turn_tokens(t);

    if (o.limit && (!o.counted || o.counted > o.limit) &&
        (!t->limit_tokens || o.limit < t->limit_tokens))
        t->limit_tokens = o.limit;
    if (!o.counted && o.limit >= tokens)
        o.counted = o.limit + 1;
    if (o.counted)
        turn_on_usage(t, &(wend_ev_usage){.input = o.counted}, t->history);
    tokens = turn_tokens(t);
    if (!t->refused_tokens || tokens < t->refused_tokens)
        t->refused_tokens = tokens;
}

/* ---- Summaries ----------------------------------------------------------- */

void turn_fold(struct turn *t, wend_str focus, const struct keep *k)
{
    t->fold = true;
    t->focus = arena_str(k->arena, focus);
}

/* What was tried for it says nothing about a later one. */
void turn_unfold(struct turn *t)
{
    if (!t->fold)
        return;
    t->fold = t->folding = false;
    t->focus = t->summary = STR_NONE;
    t->summary_tries = 0;
}

static void count_as(struct turn *t, const struct asked_model *m)
{
    t->model_at = m->at;
    t->model = m->name;
    t->refused_tokens = m->refused_tokens;
    t->limit_tokens = m->limit_tokens;
    t->used_tokens = m->used_tokens;
    t->used_estimate = m->used_estimate;
    t->ratio = m->ratio;
}

static void ask_other(struct turn *t, wend_str model, const struct keep *k)
{
    uint32_t at = t->config->summary_at;
    struct asked_model other = {.at = at};

    if (!at || str_eq(model, t->model) ||
        !str_eq(model, t->config->models[at].name))
        return;
    t->own = (struct asked_model){
        t->model_at,    t->model,         t->refused_tokens, t->limit_tokens,
        t->used_tokens, t->used_estimate, t->ratio};
    other.name = arena_str(k->arena, model);
    count_as(t, &other);
}

void turn_ask_own(struct turn *t)
{
    if (t->own.name.ptr)
        count_as(t, &t->own);
    t->own = (struct asked_model){0};
}

void turn_ask_summary(struct turn *t, wend_str model, const struct keep *k)
{
    struct msg *m = arena_alloc(k->arena, sizeof *m);
    struct context_room r;
    const struct msg *fits;

    if (!m)
        return;
    ask_other(t, model, k);
    r = turn_room(t);
    m->role = ROLE_USER;
    m->text = summary_question(t->focus, k->arena);
    fits = compact_fit(t->history, &r, summary_room(&r, msg_tokens(m->text)),
                       t->frame->prefix, k->arena);
    m->own = true;
    t->aside = t->history;
    if (fits) /* else a forged log */
        t->history = fits;
    turn_history_add(t, m);
}

/* One that a crash cut off does not count as a try. */
void turn_on_summary(struct turn *t, const wend_ev_model_end *e,
                     const struct keep *k)
{
    turn_on_usage(t, &e->usage, t->history);
    if (e->error && str_is(e->error->code, "overflow"))
        turn_on_refused(t, e->error->message);
    turn_ask_own(t);
    t->phase = PH_TURN;
    t->history = t->aside;
    t->aside = NULL;
    t->again = e->outcome == WEND_OUTCOME_SUPERSEDED;
    if (e->outcome == WEND_OUTCOME_OK)
        t->summary = arena_str(k->arena, e->text.ptr ? e->text : STR(""));
    else if (e->outcome == WEND_OUTCOME_FAILED)
        t->summary_tries++;
}

/* ---- Compaction ---------------------------------------------------------- */

static int64_t frame_bytes(const struct turn *t)
{
    const struct config *c = t->config;
    size_t bytes = t->frame->system.len + c->schema_text.len;

    for (size_t i = 0; i < c->tools_count; i++)
        bytes += c->tools[i].name.len + c->tools[i].description.len +
                 c->tools[i].schema_text.len;
    return (int64_t)bytes;
}

/* Bytes at the start that both requests have. The first cut adds a tool, and
 * tools come first. */
static int64_t same_bytes(const struct turn *t, const struct msg *before,
                          const struct msg *after, bool new_tool)
{
    while (before && after && before != after) {
        if (before->index >= after->index)
            before = before->prev;
        else
            after = after->prev;
    }
    if (new_tool)
        return 0;
    return frame_bytes(t) + (before && after ? before->bytes_sum : 0);
}

/* Notes the results that are left out. True: the model is told of one. */
static bool shelve(struct turn *t, const struct compaction *c,
                   const struct keep *k)
{
    const struct msg **link = &t->gone, *older = t->gone;
    bool named = false;

    for (const struct msg *m = t->history; m; m = m->prev) {
        struct msg *copy;

        if (!result_goes(m, c))
            continue;
        copy = arena_alloc(k->arena, sizeof *copy);
        if (!copy)
            return false;
        *copy = *m;
        copy->prev = older;
        *link = copy;
        link = &copy->prev;
        named |= result_whole(m).len >= RESULT_NAMED_BYTES;
    }
    return named;
}

/* A damaged log may say what cannot be: then nothing changes. */
void turn_on_compacted(struct turn *t, const wend_event *ev,
                       const struct keep *k)
{
    const wend_ev_compacted *e = &ev->u.compacted;
    struct arena scratch = {.mem = k->arena->mem};
    struct compaction c;
    const struct msg *list;
    bool new_tool;

    if (compaction_read(e, &scratch, &c)) {
        c.readable = t->config->reader != NULL;
        list = compact_build(t->history, &c, t->frame->prefix, k->arena);
        new_tool = list && c.readable && (shelve(t, &c, k) || c.cuts_count) &&
                   !t->results_cut;
        if (list) {
            t->recut_byte = same_bytes(t, t->history, list, new_tool);
            t->history = list;
            t->recut = true;
            t->results_cut |= new_tool;
            t->settled = list->index + 1;
            t->trimmed = str_is(e->method, "trimmed");
            t->compactions++;
        }
    }
    t->summary = STR_NONE;
    t->summary_tries = 0;
    if (!str_is(e->method, "trimmed"))
        turn_unfold(t);
    k->arena->failed |= scratch.failed;
    arena_free(&scratch);
}

/* ---- The past of another run --------------------------------------------- */

/* The message that was being written when its run was closed: calls of it had
 * begun. */
static void close_message(struct turn *t, const struct keep *k)
{
    struct msg *m = arena_alloc(k->arena, sizeof *m);

    if (!m)
        return;
    m->role = ROLE_ASSISTANT;
    m->text = str_or(t->part_text, "");
    m->thinking = t->part_thinking;
    m->opaque = str_or(t->part_opaque, "[]");
    m->model = t->model;
    m->calls = t->calls;
    turn_history_add(t, m);
}

void turn_settle(struct turn *t, const struct keep *k)
{
    bool open = t->phase == PH_MODEL && t->calls_count;

    if (t->aside) { /* a summary was being written */
        t->history = t->aside;
        t->aside = NULL;
    }
    if (open)
        close_message(t, k);
    if (open || t->phase == PH_CALLS)
        turn_add_results(t, k);
    /* The user stopped an answer that is canceled, and has seen it. */
    if (t->unanswered && t->stop.outcome != WEND_OUTCOME_CANCELED &&
        t->history && t->history->role == ROLE_ASSISTANT && !t->history->calls)
        t->history = t->history->prev;
    turn_join_pending(t, k);
}
