/*
 * test_plan_random.c - random plans against a second scheduler.
 *
 * The one in tests/unit/plan_oracle.h is simple and slow and shares no line
 * with ours; both must start and end every action at the same time, with the
 * same outcome and for the same reason.
 *
 *     test_plan_random [SEED]     one plan alone
 */
#include "plan_oracle.h"

enum { PLANS = 1500, PLAIN = 500, LAWFUL_EVERY = 25, LAWFUL_MAX = 40 };

static struct random_plan plan;

static void differs(uint64_t seed, int i, const struct seen *s,
                    const struct or_action *o)
{
    printf("# seed %llu a%d: started %lld, ended %lld %s %s; wanted %lld, "
           "%lld %s %s\n",
           (unsigned long long)seed, i, (long long)s->start_ms,
           (long long)s->end_ms, wend_outcome_name(s->outcome), s->reason,
           (long long)o->start_ms, (long long)o->end_ms,
           wend_outcome_name(o->outcome), o->reason ? o->reason : "");
}

/* When two reasons come at the same moment, either is right. */
static bool reason_ok(const char *got, const char *wanted)
{
    static const char *const at_once[] = {"not_needed", "not_chosen",
                                          "dependency_failed",
                                          "dependencies_skipped"};

    if (!strcmp(got, wanted))
        return true;
    return str_index(str_of(got), at_once, 4) >= 0 &&
           str_index(str_of(wanted), at_once, 4) >= 0;
}

static bool same(const struct plan_world *w, const struct oracle *o,
                 uint64_t seed, bool say)
{
    bool ok = true;

    for (int i = 0; i < plan.count; i++) {
        const struct seen *s = &w->seen[i];
        const struct or_action *a = &o->a[i];

        if (s->start_ms == a->start_ms && s->end_ms == a->end_ms &&
            s->outcome == a->outcome && s->ends == 1 &&
            s->starts == (a->start_ms != NEVER) &&
            reason_ok(s->reason, a->reason ? a->reason : ""))
            continue;
        if (ok || say)
            differs(seed, i, s, a);
        ok = false;
    }
    return ok;
}

static bool check_one(uint64_t seed, bool say)
{
    struct oracle *o = calloc(1, sizeof *o);
    struct chance c = {seed};
    struct plan_world *w;
    bool ok;

    make_plan(&c, &plan, false);
    w = plan_world_new(plan.deeds);
    w->lawful = seed % LAWFUL_EVERY == 0 && plan.count < LAWFUL_MAX;
    plan_start_run(w, buf_view(&plan.json));
    ok = w->count == (uint32_t)plan.count;
    if (!ok)
        printf("# seed %llu: refused: %s\n", (unsigned long long)seed,
               plan.json.ptr);
    plan_play(w);
    for (int i = 0; ok && i < plan.count; i++)
        o->rank[i] = w->turn.plan.plan->graph.rank[i];
    or_run(o, &plan);
    ok = ok && same(w, o, seed, say) && !w->broken &&
         w->running_max <= (uint32_t)plan.slots &&
         w->plan_outcome ==
             (o->broken ? WEND_OUTCOME_FAILED : WEND_OUTCOME_OK) &&
         w->run_outcome == w->plan_outcome &&
         w->plan_end.ok + w->plan_end.failed + w->plan_end.skipped +
                 w->plan_end.running + w->plan_end.canceled +
                 w->plan_end.unknown ==
             plan.count;
    if (say || !ok)
        printf("# %s\n# %s\n", plan.json.ptr, w->order.ptr);
    plan_world_free(w);
    buf_free(&plan.json);
    free(o);
    return ok;
}

/* Nobody schedules better than the longest path and the work allow; a list
 * of what is ready never takes twice that. */
static bool check_makespan(uint64_t seed)
{
    struct chance c = {seed};
    struct plan_world *w;
    int64_t path[DEEDS_MAX], longest = 0, work = 0, bound;

    make_plan(&c, &plan, true);
    for (int i = 0; i < plan.count; i++) {
        path[i] = 0;
        for (int d = 0; d < plan.list[i].deps_count; d++)
            if (path[plan.list[i].deps[d]] > path[i])
                path[i] = path[plan.list[i].deps[d]];
        path[i] += plan.list[i].ms;
        work += plan.list[i].ms;
        if (path[i] > longest)
            longest = path[i];
    }
    w = plan_world_new(plan.deeds);
    plan_start_run(w, buf_view(&plan.json));
    plan_play(w);
    bound = longest * plan.slots > work ? longest * plan.slots : work;
    bound = bound * (2 * plan.slots - 1); /* times slots * slots */
    work = w->now_ms * plan.slots * plan.slots;
    if (work > bound || w->run_outcome != WEND_OUTCOME_OK)
        printf("# seed %llu: %lld ms\n", (unsigned long long)seed,
               (long long)w->now_ms);
    longest = w->run_outcome == WEND_OUTCOME_OK;
    plan_world_free(w);
    buf_free(&plan.json);
    return work <= bound && longest;
}

int main(int argc, char **argv)
{
    int wrong = 0, late = 0;

    if (argc > 1) {
        tap_ok(check_one(strtoull(argv[1], NULL, 10), true), "the plan");
        return tap_done();
    }
    for (uint64_t seed = 1; seed <= PLANS && wrong < 5; seed++)
        wrong += !check_one(seed, false);
    tap_is_i64(wrong, 0, "both schedulers agree");
    for (uint64_t seed = 1; seed <= PLAIN; seed++)
        late += !check_makespan(seed);
    tap_is_i64(late, 0, "no plan takes longer than the bound");
    return tap_done();
}
