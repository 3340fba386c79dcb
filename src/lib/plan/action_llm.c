/*
 * action_llm.c - an action that asks a model: one question, one answer.
 *
 * It has a driver's session and a reply of its own, so that many can be
 * under way beside each other. What the driver brings comes through shell_*
 * like any answer and is told apart by its number.
 */
#include <assert.h>
#include <string.h>

#include "lib/plan/action.h"
#include "lib/run/shell.h"

struct action_ask *ask_under_way(const struct wend_run *r, int64_t ask)
{
    struct action_ask *a = r->asks;

    while (a && a->ask != ask)
        a = a->next;
    return a && !a->over ? a : NULL;
}

static void ask_free(struct action_ask *a)
{
    struct wend_run *r = a->run;
    struct action_ask **link = &r->asks;

    while (*link != a)
        link = &(*link)->next;
    *link = a->next;
    timer_clear(&r->rt->timers, &a->timer);
    if (a->session)
        a->session->ops->close(a->session);
    if (a->reply.mem)
        reply_free(&a->reply);
    arena_free(&a->arena);
    mem_free(&r->rt->mem, a);
}

static struct action_ask *of_timer(struct timer_node *t)
{
    return container_of(t, struct action_ask, timer);
}

static void on_over(struct timer_node *t)
{
    ask_free(of_timer(t));
}

/* The session may be the one that tells us: it goes a moment later. */
static void answer(struct action_ask *a, wend_outcome outcome, wend_str code,
                   wend_str output, bool retryable, uint32_t refused)
{
    struct wend_run *r = a->run;
    struct input in = {.kind = IN_ACTION_DONE,
                       .reply = a->reply.mem ? &a->reply : NULL,
                       .done = {.action = a->action,
                                .attempt = a->attempt,
                                .outcome = outcome,
                                .output = output,
                                .code = code,
                                .retryable = retryable,
                                .refused = refused}};

    a->over = true;
    a->timer.fire = on_over;
    if (a->reply.failed ||
        !timer_set(&r->rt->timers, &a->timer, rt_clock(r->rt)))
        shell_fail(r, WEND_E_NOMEM, "out of memory");
    shell_input(r, &in);
}

/* ---- From the driver ----------------------------------------------------- */

void ask_piece(struct action_ask *a, bool text, wend_str piece)
{
    int64_t now = shell_now(a->run);

    (text ? reply_text : reply_thinking)(&a->reply, piece, now);
    shell_action_delta(a->run, text ? WEND_TEXT_DELTA : WEND_THINKING_DELTA,
                       a->action, piece, now);
}

static void ended(struct action_ask *a, wend_str code)
{
    if (a->session->ops->ended)
        a->session->ops->ended(a->session, code);
}

void ask_done(struct action_ask *a, wend_str finish, const wend_ev_usage *usage)
{
    ended(a, STR_NONE);
    a->reply.finish = arena_str(&a->reply.arena, finish);
    if (usage)
        a->reply.usage = *usage;
    answer(a, WEND_OUTCOME_OK, STR_NONE, buf_view(&a->reply.text), false, 0);
}

void ask_fail(struct action_ask *a, const struct model_error *e)
{
    ended(a, a->reply.pieces ? STR_NONE : e->code);
    answer(a, WEND_OUTCOME_FAILED, e->code, e->message, !e->retry_never,
           a->reply.pieces ? 0 : e->refused);
}

/* ---- Asking -------------------------------------------------------------- */

static void on_deadline(struct timer_node *t)
{
    struct action_ask *a = of_timer(t);

    a->session->ops->stop(a->session);
    answer(a, WEND_OUTCOME_TIMEOUT, STR("timeout"),
           STR("the model did not answer in time"), true, 0);
}

static void on_begin(struct timer_node *t)
{
    struct action_ask *a = of_timer(t);
    struct wend_run *r = a->run;

    assert(a->ask < 0); /* told apart from those of turns */
    assert(!a->over);
    reply_init(&a->reply, &r->rt->mem, shell_now(r));
    a->reply.sent = true;
    a->timer.fire = on_deadline;
    if (!timer_set(&r->rt->timers, &a->timer, rt_after(r->rt, a->timeout_ms)))
        shell_fail(r, WEND_E_NOMEM, "out of memory");
    else
        a->session->ops->ask(a->session, &a->turn, a->ask);
}

/* Which of the config's models the action asks. */
static uint32_t model_of(const struct wend_run *r, const struct plan_action *a)
{
    uint32_t model = config_model(r->turn.config, a->target);

    return model && model < r->turn.config->models_count ? model
                                                         : r->turn.model_at;
}

/* What the values of an action ask the model; in `a`. */
static void fill_msg(struct msg *m, wend_str params, bool files,
                     struct arena *a)
{
    struct arena scratch = {.mem = a->mem};
    const struct json *j = json_parse(params, &scratch, NULL);

    m->role = ROLE_USER;
    m->text = str_or(arena_str(a, json_str(json_get(j, "prompt"))), "");
    if (files)
        m->parts = parts_of(j, a, &m->parts_count);
    a->failed |= scratch.failed;
    arena_free(&scratch);
}

/* The parameters of the action, in place of the model's. */
static bool fill_asks(struct action_ask *a, const struct effect *fx)
{
    const struct config *c = a->run->turn.config;
    struct model_use *models =
        arena_alloc(&a->arena, c->models_count * sizeof *models);
    const struct json *j;

    if (!models)
        return false;
    memcpy(models, c->models, c->models_count * sizeof *models);
    a->config.models = models;
    j = json_parse(arena_str(&a->arena, fx->args), &a->arena, NULL);
    for (int i = 0; j && i < PARAMS; i++) {
        const struct json *value = json_get(j, asked_names[i]);

        if (value && !param_wrong((enum param)i, value))
            models[a->turn.model_at].params.value[i] =
                param_text((enum param)i, value, &a->arena);
    }
    return !a->arena.failed;
}

/* One message of the user's, the agent's instructions, no tools. */
static bool fill_turn(struct action_ask *a, const struct effect *fx)
{
    struct wend_run *r = a->run;

    a->config = *r->turn.config;
    a->config.tools = NULL;
    a->config.tools_count = 0;
    a->config.schema = NULL;
    a->config.schema_text = STR_NONE;
    turn_init(&a->turn);
    a->turn.phase = PH_MODEL;
    a->turn.run = r->turn.run;
    a->turn.config = &a->config;
    a->turn.frame = r->turn.frame;
    a->turn.counter = 0;
    a->turn.ask = a->ask;
    a->turn.attempt = a->attempt;
    a->turn.allowed = plan_action_state(&r->turn.plan, fx->action)->allowed;
    a->turn.model_at = model_of(r, action_of(r, fx));
    a->turn.refusals = r->turn.refusals;
    a->turn.model = a->turn.model_at == r->turn.model_at
                        ? r->turn.model
                        : a->config.models[a->turn.model_at].name;
    fill_msg(&a->msg, fx->args, action_of(r, fx)->files.count, &a->arena);
    return (!action_of(r, fx)->params || fill_asks(a, fx)) &&
           turn_history_add(&a->turn, &a->msg) && !a->arena.failed;
}

void ask_turn(struct wend_run *r, wend_str action, struct turn *t,
              struct msg *msg)
{
    const struct plan_state *p = &r->turn.plan;
    uint32_t i = plan_find(p->plan, action);

    turn_init(t);
    t->config = r->turn.config;
    t->frame = r->turn.frame;
    t->model_at = r->turn.model_at;
    if (i == PLAN_NONE)
        return; /* a damaged log's */
    t->model_at = model_of(r, p->plan->actions[i]);
    fill_msg(msg, plan_action_state(p, i)->params,
             p->plan->actions[i]->files.count, &r->arena);
    t->history = msg;
}

void ask_start(struct wend_run *r, const struct effect *fx)
{
    struct action_ask *a = mem_zalloc(&r->rt->mem, sizeof *a);
    struct driver *d = r->agent->driver;

    if (!a) {
        shell_fail(r, WEND_E_NOMEM, "out of memory");
        return;
    }
    a->run = r;
    a->arena.mem = &r->rt->mem;
    a->action = fx->action;
    a->attempt = fx->attempt;
    a->timeout_ms = fx->timeout_ms;
    a->ask = -++r->asks_count;
    a->timer.fire = on_begin;
    a->next = r->asks;
    r->asks = a;
    a->session = d->ops->open(d, r);
    if (!a->session || !fill_turn(a, fx) ||
        !timer_set(&r->rt->timers, &a->timer, rt_after(r->rt, fx->delay_ms)))
        shell_fail(r, WEND_E_NOMEM, "out of memory");
}

bool ask_stop(struct wend_run *r, const struct effect *fx)
{
    for (struct action_ask *a = r->asks; a; a = a->next)
        if (!a->over && a->action == fx->action) {
            a->session->ops->stop(a->session);
            answer(a, WEND_OUTCOME_CANCELED, STR("canceled"), STR("canceled"),
                   false, 0);
            return true;
        }
    return false;
}

void asks_silence(struct wend_run *r)
{
    for (struct action_ask *a = r->asks; a; a = a->next) {
        if (a->session && !a->over)
            a->session->ops->stop(a->session);
        a->over = true;
        timer_clear(&r->rt->timers, &a->timer);
    }
}

void asks_drop(struct wend_run *r)
{
    while (r->asks)
        ask_free(r->asks);
}
