/*
 * plan_oracle.h - a second scheduler, simple and slow, to compare with.
 *
 * Written from the rules for plans alone: it looks at every action again and
 * again until nothing changes, and knows neither events nor states that
 * stay. The makers of random plans are here, too, since they know what each
 * action was meant to be.
 */
#ifndef TESTS_PLAN_ORACLE_H
#define TESTS_PLAN_ORACLE_H

#include "base/chance.h"
#include "plan_help.h"

enum { OR_DEPS_MAX = 8, OR_NOBODY = -1 };

/* One action of a random plan. */
struct made {
    int deps[OR_DEPS_MAX], deps_count; /* with the decisions that name it */
    int written;                       /* of them, in depends_on */
    int mode;                          /* enum action_mode */
    bool decision, any, skip_on_error, unsafe;
    int fallback, fallback_of; /* OR_NOBODY */
    int priority, retry_max;
    int64_t ms;    /* and its estimate */
    int when;      /* 0 none, 1 true, 2 false, 3 the value of `of` > limit */
    int of, limit; /* of: deps[0], or one that is further up */
    int chosen, others; /* whom a decision names; OR_NOBODY */
    bool choice;        /* ... and which case holds */
};

struct random_plan {
    struct made list[DEEDS_MAX];
    struct deed deeds[DEEDS_MAX];
    int count, slots;
    bool fail_fast;
    struct buf json;
};

/* ---- What it does with one ----------------------------------------------- */

enum or_at { OR_OPEN, OR_RUNS, OR_OVER };

struct or_action {
    enum or_at at;
    wend_outcome outcome, counts; /* NONE while it is not known */
    int64_t start_ms, end_ms, due_ms, number;
    int attempt;
    bool value; /* its key has one */
    int value_of;
    bool not_chosen;
    const char *reason;
};

struct oracle {
    const struct random_plan *p;
    struct or_action a[DEEDS_MAX];
    int64_t now_ms, number, rank[DEEDS_MAX];
    bool broken;
};

static inline bool or_failed(wend_outcome o)
{
    return o != WEND_OUTCOME_NONE && o != WEND_OUTCOME_OK &&
           o != WEND_OUTCOME_SKIPPED;
}

/* How i counts for those who wait for it, as far as can be told. */
static inline wend_outcome or_counts(const struct oracle *o, int i)
{
    const struct made *m = &o->p->list[i];
    const struct or_action *a = &o->a[i];
    wend_outcome sub;

    if (m->mode == ACTION_FORGET && !m->decision && a->start_ms != NEVER)
        return WEND_OUTCOME_OK;
    if (a->at != OR_OVER)
        return WEND_OUTCOME_NONE;
    if (!or_failed(a->outcome))
        return a->outcome;
    if (m->fallback != OR_NOBODY && a->outcome != WEND_OUTCOME_CANCELED) {
        sub = or_counts(o, m->fallback);
        if (sub == WEND_OUTCOME_OK || sub == WEND_OUTCOME_NONE)
            return sub;
    }
    return m->skip_on_error ? WEND_OUTCOME_SKIPPED : WEND_OUTCOME_FAILED;
}

static inline void or_end(struct oracle *o, int i, wend_outcome outcome,
                          const char *reason)
{
    struct or_action *a = &o->a[i];
    const struct made *m = &o->p->list[i];
    int loser = m->choice ? m->others : m->chosen;

    a->at = OR_OVER;
    a->outcome = outcome;
    a->end_ms = o->now_ms;
    a->reason = reason;
    if (m->decision && outcome == WEND_OUTCOME_OK && loser != OR_NOBODY)
        o->a[loser].not_chosen = true;
    for (int k = i; outcome == WEND_OUTCOME_OK && k != OR_NOBODY &&
                    (k == i || m->mode != ACTION_FORGET);
         k = o->p->list[k].fallback_of)
        if (k == i || or_failed(o->a[k].outcome)) {
            o->a[k].value = true;
            o->a[k].value_of = i;
        } else {
            break;
        }
    for (int k = 0; k < o->p->count; k++) /* the plan has failed */
        o->broken |= o->p->list[k].mode != ACTION_FORGET &&
                     o->p->list[k].fallback_of == OR_NOBODY &&
                     or_counts(o, k) == WEND_OUTCOME_FAILED;
}

/* What the rules say about an open action: run, wait, skip, break. */
enum or_verdict { OR_WAIT, OR_START, OR_SKIP, OR_BREAK };

static inline enum or_verdict or_condition(const struct oracle *o, int i,
                                           const char **reason)
{
    const struct made *m = &o->p->list[i];
    const struct or_action *of = &o->a[m->of];

    *reason = "condition";
    if (m->when == 2)
        return OR_SKIP;
    if (m->when == 3 && !of->value)
        return OR_BREAK;
    if (m->when == 3 && of->value_of <= m->limit)
        return OR_SKIP;
    return OR_START;
}

/* Whether the value that i refers to may still come. What i depends on
 * directly has its own rules. */
static inline bool or_value_open(const struct oracle *o, int i)
{
    const struct made *m = &o->p->list[i];

    if (m->when != 3)
        return false;
    for (int of = m->of; of != OR_NOBODY; of = o->p->list[of].fallback_of)
        for (int d = 0; d < m->deps_count; d++)
            if (m->deps[d] == of)
                return false;
    return or_counts(o, m->of) == WEND_OUTCOME_NONE;
}

static inline enum or_verdict or_look(const struct oracle *o, int i,
                                      const char **reason)
{
    const struct made *m = &o->p->list[i];
    int ok = 0, failed = 0, open = 0;
    const struct or_action *of;

    *reason = "not_chosen";
    if (o->a[i].not_chosen)
        return OR_SKIP;
    for (int d = 0; d < m->deps_count; d++) {
        wend_outcome c = or_counts(o, m->deps[d]);

        ok += c == WEND_OUTCOME_OK;
        failed += c == WEND_OUTCOME_FAILED;
        open += c == WEND_OUTCOME_NONE;
    }
    *reason = failed ? "dependency_failed" : "dependencies_skipped";
    if (failed && (!m->any || (!open && !ok)))
        return OR_SKIP;
    if (m->deps_count && !open && !ok)
        return OR_SKIP;
    if (m->fallback_of != OR_NOBODY) {
        of = &o->a[m->fallback_of];
        *reason = "not_needed";
        if (or_counts(o, m->fallback_of) != WEND_OUTCOME_NONE)
            return OR_SKIP;
        if (of->at != OR_OVER)
            return OR_WAIT;
    }
    if (m->deps_count && (m->any ? !ok : open > 0))
        return OR_WAIT;
    if (or_value_open(o, i))
        return OR_WAIT;
    return or_condition(o, i, reason);
}

/* Conditions are looked at once, when what they wait for is there. */
static inline bool or_settle(struct oracle *o, bool *ready)
{
    for (int i = 0; i < o->p->count; i++) {
        const char *reason = NULL;
        enum or_verdict v;

        if (o->a[i].at != OR_OPEN || ready[i])
            continue;
        v = or_look(o, i, &reason);
        ready[i] = v == OR_START;
        if (v == OR_SKIP)
            or_end(o, i, WEND_OUTCOME_SKIPPED, reason);
        if (v == OR_BREAK) {
            o->a[i].start_ms = o->now_ms;
            or_end(o, i, WEND_OUTCOME_FAILED, "");
        }
        if (v == OR_SKIP || v == OR_BREAK || v == OR_START)
            return true;
    }
    return false;
}

static inline bool or_better(const struct oracle *o, int i, int than)
{
    const struct made *a = &o->p->list[i], *b = &o->p->list[than];

    if (a->decision != b->decision)
        return a->decision;
    if (a->priority != b->priority)
        return a->priority > b->priority;
    if (o->rank[i] != o->rank[than])
        return o->rank[i] > o->rank[than];
    return i < than;
}

static inline bool or_start(struct oracle *o, const bool *ready)
{
    int best = OR_NOBODY, running = 0;
    bool held = false;

    for (int i = 0; i < o->p->count; i++) {
        if (o->a[i].at == OR_RUNS) {
            running++;
            held |= o->p->list[i].mode == ACTION_SYNC;
        }
        if (o->a[i].at == OR_OPEN && ready[i] &&
            (best == OR_NOBODY || or_better(o, i, best)))
            best = i;
    }
    if (best == OR_NOBODY || held ||
        (!o->p->list[best].decision && running >= o->p->slots))
        return false;
    o->a[best].start_ms = o->now_ms;
    if (o->p->list[best].decision) {
        or_end(o, best, WEND_OUTCOME_OK, "");
        return true;
    }
    o->a[best].at = OR_RUNS;
    o->a[best].attempt = 1;
    o->a[best].due_ms = o->now_ms + o->p->deeds[best].ms;
    o->a[best].number = o->number++;
    return true;
}

static inline void or_cancel(struct oracle *o)
{
    for (int i = 0; i < o->p->count; i++)
        if (o->a[i].at == OR_OPEN)
            or_end(o, i, WEND_OUTCOME_SKIPPED, "fail_fast");
    for (int i = 0; i < o->p->count; i++)
        if (o->a[i].at == OR_RUNS)
            or_end(o, i, WEND_OUTCOME_CANCELED, "");
}

/* The attempt that is due first. */
static inline bool or_tick(struct oracle *o)
{
    const struct deed *deed;
    const struct made *m;
    struct or_action *a;
    int first = OR_NOBODY;

    for (int i = 0; i < o->p->count; i++)
        if (o->a[i].at == OR_RUNS &&
            (first == OR_NOBODY || o->a[i].due_ms < o->a[first].due_ms ||
             (o->a[i].due_ms == o->a[first].due_ms &&
              o->a[i].number < o->a[first].number)))
            first = i;
    if (first == OR_NOBODY)
        return false;
    a = &o->a[first];
    m = &o->p->list[first];
    deed = &o->p->deeds[first];
    o->now_ms = a->due_ms;
    if (a->attempt > deed->fails) {
        or_end(o, first, WEND_OUTCOME_OK, "");
    } else if (a->attempt <= m->retry_max &&
               !(m->unsafe && deed->effect_possible)) {
        int64_t delay = 5;

        for (int n = 1; n < a->attempt; n++)
            delay *= 2;
        a->attempt++;
        a->due_ms = o->now_ms + delay + deed->ms;
        a->number = o->number++;
    } else {
        or_end(o, first, deed->as ? deed->as : WEND_OUTCOME_FAILED, "");
    }
    return true;
}

static inline void or_run(struct oracle *o, const struct random_plan *p)
{
    static bool ready[DEEDS_MAX];

    o->p = p;
    memset(ready, 0, sizeof ready);
    for (int i = 0; i < p->count; i++)
        o->a[i].start_ms = o->a[i].end_ms = NEVER;
    do {
        bool failing = o->broken && p->fail_fast;

        while (!failing && (or_settle(o, ready) || or_start(o, ready)))
            failing = o->broken && p->fail_fast;
        if (failing)
            or_cancel(o);
    } while (or_tick(o));
}

/* ---- Making one ---------------------------------------------------------- */

static inline void make_deps(struct chance *c, struct random_plan *p, int i)
{
    struct made *m = &p->list[i];
    int from = i; /* a fallback waits for nobody after whom it is for */
    int wanted;

    while (p->list[from].fallback_of != OR_NOBODY)
        from = p->list[from].fallback_of;
    wanted = from ? (int)chance_below(c, 4) : 0;
    for (int d = 0; d < wanted; d++) {
        int dep =
            from - 1 - (int)chance_below(c, from < 12 ? (uint32_t)from : 12);
        bool twice = false;

        for (int k = 0; k < m->deps_count; k++)
            twice |= m->deps[k] == dep;
        if (!twice)
            m->deps[m->deps_count++] = dep;
    }
    m->written = m->deps_count;
}

/* An action, or a decision over the two after it. */
static inline void make_action(struct chance *c, struct random_plan *p, int i,
                               bool plain)
{
    static const int modes[] = {ACTION_ASYNC, ACTION_ASYNC, ACTION_ASYNC,
                                ACTION_SYNC, ACTION_FORGET};
    struct made *m = &p->list[i];
    struct deed *deed = &p->deeds[i];

    make_deps(c, p, i);
    m->mode = plain ? ACTION_ASYNC : chance_pick(c, modes);
    m->ms = deed->ms = 1 + chance_below(c, 40);
    m->priority = plain ? 0 : (int)chance_below(c, 3);
    if (plain)
        return;
    m->any = chance_of(c, 150);
    m->skip_on_error = chance_of(c, 100);
    m->unsafe = chance_of(c, 300);
    m->retry_max = chance_of(c, 300) ? 2 : 0;
    deed->fails = chance_of(c, 200) ? (int)chance_below(c, 4) : 0;
    deed->effect_possible = chance_of(c, 500);
    deed->as = chance_of(c, 300) ? WEND_OUTCOME_TIMEOUT : WEND_OUTCOME_NONE;
    m->when = chance_of(c, 200) ? 1 + (int)chance_below(c, 3) : 0;
    if (m->when == 3 &&
        (!m->written || p->list[m->deps[0]].mode == ACTION_FORGET ||
         p->list[m->deps[0]].decision))
        m->when = 1;
    m->of = m->when == 3 ? m->deps[0] : 0;
    m->limit = m->when == 3 ? m->of - (int)chance_below(c, 2) : 0;
    if (chance_of(c, 80) && i + 2 < p->count) {
        m->decision = true;
        m->mode = ACTION_ASYNC;
        deed->fails = 0;
        m->chosen = i + 1;
        m->others = i + 2;
        m->choice = chance_of(c, 500);
    } else if (chance_of(c, 120) && i + 1 < p->count &&
               m->mode != ACTION_FORGET) {
        m->fallback = i + 1;
        p->list[i + 1].fallback_of = i;
    }
}

/* The decisions before it that name it come first. */
static inline void add_decisions(struct random_plan *p)
{
    for (int i = 0; i < p->count; i++)
        for (int d = 0; d < i; d++) {
            struct made *m = &p->list[i];
            bool twice = false;

            for (int k = 0; k < m->deps_count; k++)
                twice |= m->deps[k] == d;
            if (p->list[d].decision && !twice &&
                (p->list[d].chosen == i || p->list[d].others == i) &&
                m->deps_count < OR_DEPS_MAX)
                m->deps[m->deps_count++] = d;
        }
}

/* Some conditions look at the value of one that is only waited for by way of
 * others, which may be skipped before it ends. */
static inline void look_further(struct chance *c, struct random_plan *p)
{
    for (int i = 0; i < p->count; i++) {
        struct made *m = &p->list[i];
        int of = m->of;

        if (m->when != 3 || !chance_of(c, 600))
            continue;
        while (p->list[of].deps_count && chance_of(c, 700))
            of = p->list[of]
                     .deps[chance_below(c, (uint32_t)p->list[of].deps_count)];
        if (p->list[of].decision || p->list[of].mode == ACTION_FORGET)
            continue;
        m->of = of;
        m->limit = of - (int)chance_below(c, 2);
    }
}

static inline void put_made(struct buf *b, const struct made *m, int i)
{
    static const char *const whens[] = {NULL, "$on", "not $on"};

    buf_fmt(b, "%s{\"name\":\"a%d\"", i ? "," : "", i);
    if (m->decision)
        buf_fmt(b,
                ",\"type\":\"decision\",\"cases\":[{\"when\":\"%s\","
                "\"then\":[\"a%d\"]},{\"else\":[\"a%d\"]}]",
                whens[m->choice ? 1 : 2], m->chosen, m->others);
    else
        buf_fmt(b,
                ",\"type\":\"tool\",\"target\":\"%s\",\"output_key\":\"k%d\","
                "\"estimate\":\"%dms\"",
                m->unsafe ? "u" : "r", i, (int)m->ms);
    buf_fmt(b, ",\"mode\":\"%s\",\"priority\":%d", action_mode_names[m->mode],
            m->priority);
    if (m->written) {
        buf_cstr(b, ",\"depends_on\":[");
        for (int d = 0; d < m->written; d++)
            buf_fmt(b, "%s\"a%d\"", d ? "," : "", m->deps[d]);
        buf_char(b, ']');
    }
    if (m->when == 1 || m->when == 2)
        buf_fmt(b, ",\"when\":\"%s\"", whens[m->when]);
    if (m->when == 3)
        buf_fmt(b, ",\"when\":\"$k%d > %d\"", m->of, m->limit);
    if (m->any)
        buf_cstr(b, ",\"wait_for_all\":false");
    if (m->skip_on_error)
        buf_cstr(b, ",\"skip_on_error\":true");
    if (m->fallback != OR_NOBODY)
        buf_fmt(b, ",\"fallback\":\"a%d\"", m->fallback);
    if (m->retry_max)
        buf_fmt(b, ",\"retry\":{\"max\":%d,\"delay\":\"5ms\",\"backoff\":2.0}",
                m->retry_max);
    buf_char(b, '}');
}

/* plain: only async actions that all end ok. */
static inline void make_plan(struct chance *c, struct random_plan *p,
                             bool plain)
{
    memset(p, 0, sizeof *p);
    p->json.mem = &plan_mem;
    p->count = 1 + (int)chance_below(c, chance_of(c, 300) ? 200 : 20);
    p->slots = 1 + (int)chance_below(c, 8);
    p->fail_fast = !plain && chance_of(c, 100);
    for (int i = 0; i < p->count; i++)
        p->list[i].fallback = p->list[i].fallback_of = p->list[i].chosen =
            p->list[i].others = OR_NOBODY;
    for (int i = 0; i < p->count; i++)
        make_action(c, p, i, plain);
    add_decisions(p);
    look_further(c, p);
    buf_fmt(&p->json,
            "{\"wend\":\"plan/1\",\"name\":\"p\",\"max_parallel\":%d,"
            "\"fail_fast\":%s,\"inputs\":{\"on\":true},\"actions\":[",
            p->slots, p->fail_fast ? "true" : "false");
    for (int i = 0; i < p->count; i++)
        put_made(&p->json, &p->list[i], i);
    buf_cstr(&p->json, "]}");
}

#endif
