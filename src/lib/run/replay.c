/*
 * replay.c - a recorded run as a run: same events, same order, same bytes.
 *
 * A replay is a reader that always lags: it lives off the store alone and
 * only adds the pace.
 */
#include "lib/run/run.h"

#include <assert.h>
#include <string.h>

#include "base/fail.h"
#include "base/id.h"

enum {
    FOLLOW_POLL_MS = 50, /* how often a followed log is looked at */
    LOOKS_PER_CHECK = 4, /* and every so often whether its owner lives */
    MISSING_CHECKS = 5,  /* in vain, then what was written is lost */
    GAP_US = 1000000,    /* at most, where no process had the run */
};

struct replay_player {
    double speed; /* 0 = at once */
    int64_t to;
    bool follow;
    bool owner_gone;
    unsigned looks, missing;
    bool drained;               /* the store has nothing more */
    bool ended;                 /* run_end or `to` was given out */
    int64_t first_us, began_us; /* first event's time; clock at its showing */
    int64_t idle_us;            /* no process had it until here: left out */
    int64_t read_us;            /* time of the newest event that was read */
    struct buf gaps;            /* struct replay_gap, of those that were read */
    size_t gaps_at;             /* the first that is still to come */
    wend_outcome outcome;       /* of the run_end that was read */
    struct log_reader reader;   /* sees that the log is whole */
    int64_t seq_written;        /* when the replay began */
};

/* Before the event no process had the run. */
struct replay_gap {
    int64_t seq, us;
};

static void note_end(struct wend_run *r, const wend_event *run_end)
{
    const wend_ev_run_end *e = &run_end->u.run_end;

    r->player->outcome = e->outcome;
    r->answer = arena_str(&r->arena, e->text.ptr ? e->text : STR(""));
}

/* Called for each event in order, also for those that the reader filters out;
 * false: out of memory. Where a run was resumed or forked the replay waits only
 * a moment. */
bool replay_read(struct wend_run *r, const wend_event *ev)
{
    struct replay_player *p = r->player;
    struct replay_gap gap = {ev->seq, ev->time_us - p->read_us - GAP_US};
    bool resumes = ev->type == WEND_RUN_RESUME || ev->type == WEND_RUN_FORK;

    if (resumes && p->read_us && gap.us > 0)
        buf_add(&p->gaps, (const char *)&gap, sizeof gap);
    p->read_us = ev->time_us;
    if (ev->type == WEND_RUN_END)
        note_end(r, ev);
    return !p->gaps.failed;
}

static void skip_gaps(struct replay_player *p, int64_t seq)
{
    const struct replay_gap *gaps =
        (const struct replay_gap *)(const void *)p->gaps.ptr;
    size_t count = p->gaps.len / sizeof *gaps;

    for (; p->gaps_at < count && gaps[p->gaps_at].seq <= seq; p->gaps_at++)
        p->idle_us += gaps[p->gaps_at].us;
}

/* In doubles: a damaged log may say any time, a host any speed. */
static int64_t due_at(const struct replay_player *p, int64_t time_us)
{
    const double never = 1e17; /* microseconds: three thousand years */
    double later =
        ((double)time_us - (double)p->idle_us - (double)p->first_us) / p->speed;

    if (later <= 0)
        return p->began_us;
    return later < never ? p->began_us + (int64_t)later : INT64_MAX;
}

bool replay_due(struct wend_run *r, const wend_event *ev)
{
    struct replay_player *p = r->player;
    int64_t now, due;

    assert(p->speed >= 0);
    if (p->ended)
        return false;
    if (p->to && (ev->seq > p->to || (ev->seq == p->to && ev->n))) {
        p->ended = true;
        return false;
    }
    if (p->speed > 0) {
        now = rt_clock(r->rt);
        if (!p->first_us) {
            p->first_us = ev->time_us;
            p->began_us = now;
        }
        skip_gaps(p, ev->seq);
        due = due_at(p, ev->time_us);
        if (due > now) {
            show_at(r, due);
            return false;
        }
    }
    if (ev->type == WEND_RUN_END) {
        p->ended = true;
        r->outcome = p->outcome;
    }
    return true;
}

/* Looks a run up; *alive: its owner may still write to it. */
static wend_status find(wend_runtime *rt, const char *id, bool *alive,
                        int64_t *seq, wend_error *err)
{
    static const char *const states[] = {"running", "waiting", "paused"};
    struct arena a = {.mem = &rt->mem};
    wend_run_info *info;
    wend_status s = store_info(rt->store, id, &a, &info, err);

    *alive = s == WEND_OK && str_index(info->status, states, 3) >= 0;
    if (s == WEND_OK)
        *seq = info->seq;
    arena_free(&a);
    return s;
}

void replay_drained(struct wend_run *r)
{
    struct replay_player *p = r->player;
    bool alive = true;

    /* Nothing more will come from an owner that is gone. Its last words may
     * have come since we read: it is over only after one more look, and
     * damaged only if what was written does not come for a while. */
    if (p->follow && ++p->looks % LOOKS_PER_CHECK == 0) {
        bool was_gone = p->owner_gone;

        find(r->rt, r->id, &alive, &p->seq_written, NULL);
        p->owner_gone = !alive;
        p->missing = p->reader.seq < p->seq_written ? p->missing + 1 : 0;
        p->drained =
            was_gone && !alive && (!p->missing || p->missing > MISSING_CHECKS);
    }
    p->drained |= !p->follow || p->outcome != WEND_OUTCOME_NONE;
    if (p->drained && p->reader.seq < p->seq_written &&
        p->reader.first < p->seq_written)
        show_lost(r, WEND_E_CORRUPT,
                  p->reader.seq + 1); /* its end is missing */
    if (p->drained)
        r->outcome = p->outcome;
    else
        show_at(r, rt_after(r->rt, FOLLOW_POLL_MS));
}

bool replay_over(const struct wend_run *r)
{
    return r->player->ended || (r->player->drained && !r->shown.count);
}

void replay_cancel(struct wend_run *r)
{
    r->player->ended = true;
}

void replay_free(struct wend_run *r)
{
    if (!r->player)
        return;
    buf_free(&r->player->gaps);
    log_read_free(&r->player->reader);
    mem_free(&r->rt->mem, r->player);
    r->player = NULL;
}

wend_status wend_store_replay(wend_runtime *rt, const char *id,
                              const wend_replay_options *options,
                              wend_run **out, wend_error *err)
{
    wend_replay_options o;
    int64_t written = 0;
    bool alive;
    wend_status s = rt_enter_for(rt, "replay", err);
    struct wend_run *r;

    if (s == WEND_OK)
        s = rt_check_store(rt, err);
    if (s != WEND_OK)
        return s;
    if (!out || !id || !run_id_valid(str_of(id)) ||
        !OPTIONS_TAKE(&o, wend_replay_options, filter, options) ||
        !(o.speed >= 0))
        return fail(err, WEND_E_INVAL,
                    "replay: out or id is NULL, id is not the id of a run, or "
                    "an option "
                    "is wrong");
    s = find(rt, id, &alive, &written, err);
    if (s != WEND_OK)
        return s;
    r = run_new(rt, err);
    if (!r)
        return WEND_E_NOMEM;
    r->player = mem_zalloc(&rt->mem, sizeof *r->player);
    if (!r->player) {
        run_drop(r);
        return fail_nomem(err);
    }
    memcpy(r->id, id, RUN_ID_LEN);
    *r->player = (struct replay_player){.speed = o.speed,
                                        .to = o.seq_to,
                                        .follow = o.follow,
                                        .gaps = {.mem = &rt->mem},
                                        .seq_written = written};
    r->player->reader = (struct log_reader){
        .store = rt->store, .mem = &rt->mem, .blob = log_text};
    r->shown.log = &r->player->reader;
    r->shown.lagged = true;
    r->shown.filter = o.filter;
    if (o.seq_from > 1) {
        r->player->reader.first = r->shown.seq = o.seq_from - 1;
        r->shown.n = INT64_MAX;
    }
    *out = r;
    return WEND_OK;
}
