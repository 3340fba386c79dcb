/*
 * after.c - the store before a round and after it, and the verdict.
 */
#include "stage.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static const char store_path[] = "wend.db";

static void clear(void)
{
    static const char *const names[] = {"wend.db", "wend.db-wal", "wend.db-shm",
                                        "wend.db-lock", NULL};

    for (const char *const *n = names; *n; n++)
        unlink(*n);
}

static bool copy_file(const char *from, const char *to)
{
    static char bytes[256 << 10];
    int in = open(from, O_RDONLY | O_CLOEXEC);
    int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    ssize_t n = -1;

    if (in >= 0 && out >= 0)
        do {
            n = read(in, bytes, sizeof bytes);
            if (n > 0 && write(out, bytes, (size_t)n) != n)
                n = -1;
        } while (n > 0);
    close(in);
    close(out);
    return n == 0;
}

/* Each scenario's store is made once; rounds get a copy. */
bool store_prepare(const struct scenario *sc)
{
    char made[80];
    wend_store *store = NULL;

    clear();
    if (sc->in_memory)
        return !sc->prepare || sc->prepare(sc);
    if (sc->makes)
        return true;
    snprintf(made, sizeof made, "%s.db", sc->prepare ? sc->name : "empty");
    if (!access(made, R_OK))
        return copy_file(made, store_path);
    if (wend_store_open(store_path, &store, NULL) != WEND_OK)
        return false;
    wend_store_free(store);
    if (sc->prepare && !sc->prepare(sc))
        return false;
    return copy_file(store_path, made);
}

/* ---- Aftermath ----------------------------------------------------------- */

static void check_shown(struct stage *st, const struct seen *seen,
                        struct tale *t)
{
    wend_replay_options o = {.size = sizeof o};
    wend_run *run = NULL;
    const wend_event *ev;
    int64_t last = 0;

    if (!seen->seq)
        return;
    if (wend_store_replay(st->rt, seen->id, &o, &run, &st->err) != WEND_OK) {
        flaw(t, "what was shown of %s is not there: %s", seen->id,
             st->err.message);
        return;
    }
    while (wend_run_next(run, &ev) == WEND_OK) {
        if (ev->n)
            continue;
        last = ev->seq;
        if (ev->seq < KEPT_MAX && seen->types[ev->seq] &&
            seen->types[ev->seq] != ev->type)
            flaw(t, "event %lld was shown as %s and kept as %s",
                 (long long)ev->seq, wend_event_name(seen->types[ev->seq]),
                 wend_event_name(ev->type));
    }
    if (last < seen->seq)
        flaw(t, "%lld events were shown, %lld kept", (long long)seen->seq,
             (long long)last);
    wend_run_free(run);
}

/* Whether it ended as the round in which nothing failed. */
static bool ends_well(const struct scenario *sc, const struct seen *clean,
                      const struct seen *seen)
{
    for (const char *const *a = sc->answers; *a; a++)
        if (seen->outcome == WEND_OUTCOME_OK && !strcmp(seen->answer, *a))
            return true;
    if (sc->unsafe && !strcmp(seen->code, "unknown"))
        return true;
    return seen->outcome == clean->outcome &&
           !strcmp(seen->answer, clean->answer);
}

static void go_on(struct stage *st, const struct scenario *sc, const char *id,
                  const struct tale *clean, struct tale *t)
{
    static struct seen seen;
    wend_run *run = NULL;
    wend_status s = wend_run_resume(st->agent, id, NULL, &run, &st->err);

    memset(&seen, 0, sizeof seen);
    if (s != WEND_OK) {
        flaw(t, "resume: %s", st->err.message);
        return;
    }
    stage_watch(run, sc, t, &seen);
    if (seen.status != WEND_END)
        flaw(t, "resumed, it ends with %s: %s", wend_status_name(seen.status),
             wend_run_error(run)->message);
    else if (!ends_well(sc, &clean->runs[0], &seen))
        flaw(t, "resumed, it ends as %s %s '%s'",
             wend_outcome_name(seen.outcome), seen.code, seen.answer);
    wend_run_free(run);
}

/* A run is as it was written, and over. */
static void check_run(struct stage *st, const wend_run_info *info,
                      struct tale *t)
{
    wend_verdict v = {.size = sizeof v};
    char id[40];
    wend_status s;

    snprintf(id, sizeof id, "%.*s", (int)info->run.len, info->run.ptr);
    s = wend_store_verify(st->store, id, NULL, &v, &st->err);
    if (s != WEND_OK || v.bad_seq)
        flaw(t, "verify: %s", s == WEND_OK ? v.why : st->err.message);
    if (!info->ended_us)
        flaw(t, "%s is %.*s after all", id, (int)info->status.len,
             info->status.ptr);
}

/* The runs that are to be resumed: first those without a parent, which takes
 * its children along; then those that are left, which are forks. */
static size_t find_open(struct stage *st, bool forks, char ids[][40],
                        struct tale *t)
{
    wend_runs *list = NULL;
    const wend_run_info *info;
    size_t n = 0;

    if (wend_store_list(st->store, NULL, &list, &st->err) != WEND_OK)
        flaw(t, "list: %s", st->err.message);
    while (list && wend_runs_next(list, &info) == WEND_OK && n < RUNS_MAX) {
        if (info->ended_us)
            continue;
        if (!str_eq(info->status, STR("interrupted")))
            flaw(t, "a run is %.*s, and nobody has it", (int)info->status.len,
                 info->status.ptr);
        if (forks || !info->parent.len)
            snprintf(ids[n++], 40, "%.*s", (int)info->run.len, info->run.ptr);
    }
    wend_runs_free(list);
    return n;
}

void aftermath(const struct scenario *sc, const struct tale *clean,
               struct tale *t)
{
    struct stage st = {0};
    struct tale now = {0};
    wend_runs *list = NULL;
    const wend_run_info *info;
    char ids[RUNS_MAX][40];
    size_t n;

    if (sc->in_memory)
        return;
    if (!stage_open(&st, sc, &now) ||
        wend_store_check(st.store, &st.err) != WEND_OK) {
        flaw(t, "the store afterwards: %s", st.err.message);
        stage_close(&st);
        return;
    }
    for (size_t i = 0; i < t->count; i++)
        check_shown(&st, &t->runs[i], t);
    for (int forks = 0; forks < 2; forks++) {
        n = find_open(&st, forks, ids, t);
        for (size_t i = 0; i < n; i++)
            go_on(&st, sc, ids[i], clean, t);
    }
    if (wend_store_list(st.store, NULL, &list, &st.err) != WEND_OK)
        flaw(t, "list: %s", st.err.message);
    while (list && wend_runs_next(list, &info) == WEND_OK)
        check_run(&st, info, t);
    wend_runs_free(list);
    answer_late();
    stage_close(&st);
}

/* ---- Verdict ------------------------------------------------------------- */

/* How want of memory may be called. */
static bool is_typed(wend_status s)
{
    return s == WEND_E_NOMEM || s == WEND_E_STORE;
}

/* Kept events of each type as often as in a round without a failure; metrics
 * come with time, too. */
static bool is_same(const struct scenario *sc, const struct seen *clean,
                    const struct seen *seen)
{
    for (int i = 1; i < WEND_EVENT_TYPES && !sc->answers[0]; i++)
        if (!wend_event_is_delta(i) && i != WEND_METRICS &&
            clean->counts[i] != seen->counts[i])
            return false;
    return ends_well(sc, clean, seen);
}

/* A run ends as it would have, or an event says what was wrong. */
static void judge_run(const struct scenario *sc, const struct seen *clean,
                      const struct seen *seen, struct tale *t)
{
    if (seen->status == WEND_END && !seen->code[0] && !is_same(sc, clean, seen))
        flaw(t, "a run ends as %s '%s', and no event says why",
             wend_outcome_name(seen->outcome), seen->answer);
    if (seen->status != WEND_END && !is_typed(seen->status))
        flaw(t, "a run stops with %s", wend_status_name(seen->status));
}

void judge(const struct scenario *sc, const struct tale *clean, struct tale *t,
           bool single)
{
    size_t failed = 0, stopped = 0;

    if (t->status != WEND_OK && !is_typed(t->status))
        flaw(t, "%s: %s: %s", t->at, wend_status_name(t->status), t->message);
    for (size_t i = 0; i < t->count; i++) {
        judge_run(sc, &clean->runs[i], &t->runs[i], t);
        failed += t->runs[i].status != WEND_END ||
                  !ends_well(sc, &clean->runs[i], &t->runs[i]);
        stopped += t->runs[i].status == WEND_E_STORE;
    }
    if (t->status == WEND_OK && strcmp(t->said, clean->said) != 0)
        flaw(t, "found '%s' instead of '%s', and no call failed", t->said,
             clean->said);
    if (t->status == WEND_OK && t->count != clean->count)
        flaw(t, "%zu runs instead of %zu, and no call failed", t->count,
             clean->count);
    /* A run that fails does not end others, unless the store has failed. Both
     * may tell of an inbox that could not be read. */
    if (single && failed > 1 && stopped != failed)
        flaw(t, "one allocation ends %zu runs", failed);
}
