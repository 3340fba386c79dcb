/*
 * learned.c - what calls and actions took in the past, by type and target, and
 * what each action of a plan took.
 *
 * A run counts for itself and adds what it has seen to the store when its end
 * is kept: one small fact for each target, however many ends there were, so
 * that appending events costs nothing more and pruning takes nothing away. One
 * that is resumed counts what its log has, too; what a fork shares is its
 * parent's. So nothing is counted twice. What is lost (of a run that is never
 * ended, of a process that dies with the end, of two runs that end at once) is
 * a hint, and the next run brings another.
 */
#include "lib/plan/plan.h"

#include <assert.h>
#include <stdlib.h>

#include "base/limits.h"

/* Facts by target; those about the actions of a plan have a space for each
 * plan, which is this word and the plan's name. */
static const char space[] = "learned";

enum {
    RUNS_MAX = 256,      /* then the past counts half: targets change */
    MEAN_WEIGHT_MAX = 16 /* runs that a mean remembers */
};

/* What a fact says. */
struct sums {
    int64_t runs, failures;
    int64_t oks, mean_us; /* of those that ended well */
};

/* What this run has seen of one target. */
struct took {
    struct took *next;
    wend_str space, key;
    int64_t runs, failures, oks, ok_us;
};

/* ---- Keys and values ----------------------------------------------------- */

static bool read_sums(wend_str text, const struct mem *m, struct sums *out)
{
    struct arena a = {.mem = m};
    int64_t *const at[] = {&out->runs, &out->failures, &out->oks,
                           &out->mean_us};
    const struct json *list = json_parse(text, &a, NULL);
    const struct json *j = list ? list->first : NULL;
    bool ok = true;

    for (size_t i = 0; i < 4; i++, j = j ? j->next : NULL)
        ok = ok && json_i64(j, at[i]) && *at[i] >= 0;
    arena_free(&a);
    return ok && out->runs && out->failures <= out->runs &&
           out->oks <= out->runs && out->mean_us / 1000 <= LEARNED_MS_MAX;
}

/* ---- Adding -------------------------------------------------------------- */

static void add_up(struct sums *s, const struct took *t)
{
    int64_t weight = s->oks < MEAN_WEIGHT_MAX ? s->oks : MEAN_WEIGHT_MAX;

    if (t->oks)
        s->mean_us = (s->mean_us * weight + t->ok_us) / (weight + t->oks);
    s->runs += t->runs;
    s->failures += t->failures;
    s->oks += t->oks;
    while (s->runs > RUNS_MAX) {
        s->runs /= 2;
        s->failures /= 2;
        s->oks /= 2;
    }
}

static void add(struct wend_run *r, const struct took *t)
{
    struct buf text = {.mem = &r->rt->mem};
    struct sums s = {0};

    if (fact_text(r->rt, t->space, t->key, &text, NULL) == WEND_OK) {
        if (!text.len || !read_sums(buf_view(&text), &r->rt->mem, &s))
            s = (struct sums){0};
        add_up(&s, t);
        buf_clear(&text);
        buf_fmt(&text, "[%lld,%lld,%lld,%lld]", (long long)s.runs,
                (long long)s.failures, (long long)s.oks, (long long)s.mean_us);
        if (!text.failed)
            fact_keep(r->rt, &(struct store_fact){.space = t->space,
                                                  .key = t->key,
                                                  .text = buf_view(&text),
                                                  .time_us = rt_wall(r->rt)});
    }
    buf_free(&text);
}

/* ---- Seeing -------------------------------------------------------------- */

static struct took *took_new(struct wend_run *r, wend_str in, wend_str key)
{
    struct took *t = mem_zalloc(&r->mem, sizeof *t + in.len + key.len);
    char *text = (char *)(t + 1);

    if (!t)
        return NULL;
    memcpy(text, in.ptr, in.len);
    memcpy(text + in.len, key.ptr, key.len);
    t->space = (wend_str){text, in.len};
    t->key = (wend_str){text + in.len, key.len};
    t->next = r->took;
    r->took = t;
    return t;
}

/* Only what ran to an end of its own says something. */
static void see(struct wend_run *r, wend_str in, wend_str key,
                wend_outcome outcome, int64_t ms)
{
    bool ok = outcome == WEND_OUTCOME_OK;
    struct took *t = r->took;
    size_t count = 0;

    if ((!ok && outcome != WEND_OUTCOME_FAILED &&
         outcome != WEND_OUTCOME_TIMEOUT) ||
        !key.len || !in.len)
        return;
    for (; t && !(str_eq(t->key, key) && str_eq(t->space, in)); t = t->next)
        count++;
    if (!t && count < LEARNED_TARGETS_MAX)
        t = took_new(r, in, key);
    if (!t)
        return;
    assert(str_eq(t->key, key));
    t->runs++;
    t->failures += !ok;
    t->oks += ok;
    if (ok && ms > 0)
        t->ok_us += (ms < LEARNED_MS_MAX ? ms : LEARNED_MS_MAX) * 1000;
}

/* Where the past of a plan's actions is kept. Lent by `room`; absent if it does
 * not fit, and for a plan of a model: its names mean nothing later. */
static wend_str plan_space(char room[LEARNED_KEY_MAX], const struct plan *p)
{
    size_t len = sizeof space + p->name.len;

    if (p->written || len > LEARNED_KEY_MAX)
        return STR_NONE;
    memcpy(room, space, sizeof space - 1);
    room[sizeof space - 1] = ' ';
    memcpy(room + sizeof space, p->name.ptr, p->name.len);
    return (wend_str){room, len};
}

/* The name of the action and its target: one that calls something else now has
 * no past. */
static wend_str action_key(char room[LEARNED_KEY_MAX],
                           const struct plan_action *a, wend_str model)
{
    char target[LEARNED_KEY_MAX];
    wend_str key = plan_past_key(target, a, model);
    size_t len = a->name.len + 1 + key.len;

    if (!key.ptr || len > LEARNED_KEY_MAX)
        return STR_NONE;
    memcpy(room, a->name.ptr, a->name.len);
    room[a->name.len] = ' ';
    memcpy(room + a->name.len + 1, key.ptr, key.len);
    return (wend_str){room, len};
}

/* How long an interrupted action took is unknown. */
static void see_action(struct wend_run *r, const wend_ev_action_end *e)
{
    const struct plan_state *p = &r->turn.plan;
    uint32_t i = p->started ? plan_find(p->plan, e->action) : PLAN_NONE;
    char room[LEARNED_KEY_MAX], in[LEARNED_KEY_MAX];

    if (i == PLAN_NONE || e->cached || plan_action_state(p, i)->at != AT_RUNS ||
        plan_action_state(p, i)->again)
        return;
    see(r, str_of(space),
        plan_past_key(room, p->plan->actions[i], r->birth.model), e->outcome,
        e->ms);
    see(r, plan_space(in, p->plan),
        action_key(room, p->plan->actions[i], r->birth.model), e->outcome,
        e->ms);
}

static void see_call(struct wend_run *r, const wend_ev_call_end *e)
{
    const struct plan_action tool = {.type = ACTION_TOOL, .target = e->name};
    int i = turn_call_index(&r->turn, e->call);
    char room[LEARNED_KEY_MAX];

    if (i < 0 || e->cached || e->outcome == WEND_OUTCOME_SUPERSEDED ||
        !turn_call_runs(&r->turn, (uint32_t)i))
        return;
    see(r, str_of(space), plan_past_key(room, &tool, STR_NONE), e->outcome,
        e->ms);
}

void learned_forget(struct wend_run *r)
{
    while (r->took) {
        struct took *t = r->took;

        r->took = t->next;
        mem_free(&r->mem, t);
    }
}

void learned_note(struct wend_run *r, const wend_event *ev)
{
    if (ev->type == WEND_ACTION_END)
        see_action(r, &ev->u.action_end);
    if (ev->type == WEND_CALL_END)
        see_call(r, &ev->u.call_end);
    if (ev->type == WEND_RUN_FORK)
        learned_forget(r);
}

void learned_keep(struct wend_run *r)
{
    for (const struct took *t = r->took; t; t = t->next)
        add(r, t);
    learned_forget(r);
}

/* ---- Looking it up ------------------------------------------------------- */

struct reading {
    struct arena *arena;
    struct buf list; /* struct plan_known */
};

static bool on_past(void *ctx, const struct store_fact *f)
{
    struct reading *r = ctx;
    struct plan_known k = {.key = arena_str(r->arena, f->key)};
    struct sums sums;

    if (!read_sums(f->text, r->arena->mem, &sums))
        return true;
    k.learned = (struct plan_learned){
        .runs = sums.runs,
        .failures = sums.failures,
        .ms = sums.oks ? sums.mean_us / 1000 : -1,
    };
    if (k.key.ptr)
        buf_add(&r->list, (const char *)&k, sizeof k);
    return k.key.ptr && r->list.len / sizeof k < LEARNED_SEEN_MAX;
}

/* In `a`; without anything if the store cannot be read, and err says why. */
static const struct plan_past *read_past(wend_store *store, wend_str in,
                                         wend_str model, struct arena *a,
                                         wend_error *err)
{
    struct reading r = {a, {.mem = a->mem}};
    struct plan_past *past = arena_alloc(a, sizeof *past);

    if (past && in.len &&
        store->ops->facts(store, in, STR_NONE, 0, on_past, &r, err) ==
            WEND_OK &&
        r.list.len && !r.list.failed) {
        past->model = model;
        past->count = r.list.len / sizeof *past->list;
        qsort(r.list.ptr, past->count, sizeof *past->list, plan_past_order);
        past->list = (const void *)buf_keep(&r.list, a).ptr;
        past->count *= past->list != NULL;
    }
    buf_free(&r.list);
    return past;
}

const struct plan_past *learned_past(struct wend_run *r)
{
    wend_error err = {0};

    if (!r->past && r->turn.config && r->turn.config->plan_tool) {
        r->past = read_past(r->rt->store, str_of(space), r->birth.model,
                            &r->arena, &err);
        if (err.status != WEND_OK)
            run_error(r, "learned",
                      "what actions took in the past cannot be read: %s",
                      err.message);
    }
    return r->past;
}

/* For an action of the default model while that is not known: with any. */
static const struct plan_learned *of_any_model(const struct plan_past *own,
                                               wend_str key)
{
    if (!key.len || key.ptr[key.len - 1] != ' ')
        return NULL; /* it has a target */
    for (size_t i = 0; i < own->count; i++)
        if (own->list[i].key.len > key.len &&
            !memcmp(own->list[i].key.ptr, key.ptr, key.len))
            return &own->list[i].learned;
    return NULL;
}

/* Its own past counts before that of others with the same target. */
static const struct plan_learned *find(const struct plan_past *own,
                                       const struct plan_past *past,
                                       const struct plan_action *a)
{
    char room[LEARNED_KEY_MAX];
    wend_str key = action_key(room, a, past->model);
    const struct plan_learned *l = plan_past_get(own, key);

    if (!l)
        l = of_any_model(own, key);
    return l ? l : plan_past_find(past, a);
}

const struct plan_learned *learned_plan(wend_store *store, const struct plan *p,
                                        wend_str model, struct arena *a)
{
    struct arena scratch = {.mem = a->mem};
    char room[LEARNED_KEY_MAX];
    const struct plan_past *past =
        read_past(store, str_of(space), model, &scratch, NULL);
    const struct plan_past *own =
        read_past(store, plan_space(room, p), model, &scratch, NULL);
    struct plan_learned *out =
        arena_alloc(a, ((size_t)p->count + 1) * sizeof *out);
    bool any = false;

    for (uint32_t i = 0; out && past && own && i < p->count; i++) {
        const struct plan_learned *l = find(own, past, p->actions[i]);

        if (l)
            out[i] = *l;
        any |= l != NULL;
    }
    arena_free(&scratch);
    return any ? out : NULL;
}

const int64_t *learned_ms(wend_store *store, const struct plan *p,
                          wend_str model, struct arena *a)
{
    const struct plan_learned *l = learned_plan(store, p, model, a);
    int64_t *ms =
        l ? arena_alloc(a, ((size_t)p->count + 1) * sizeof *ms) : NULL;

    for (uint32_t i = 0; ms && i < p->count; i++)
        ms[i] = l[i].runs ? l[i].ms : -1;
    return ms;
}
