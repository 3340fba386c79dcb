/*
 * fault.c - every write, cut and sync of a store fails once.
 *
 *     fault-test [--all]
 *
 * Two runs are under way when the disk gives an error, or has no room left.
 * From then on every handle says WEND_E_STORE; nothing is shown or done that
 * was not safe before; nothing is tried again. The store opens afterwards
 * with all that was safe, also if the power was cut, and the runs go on to
 * their end. Prints TAP. Without --all it takes FAULT_SECONDS (default 8).
 */
#include "ground.h"
#include "store/sqlite/sqlite.h"
#include "work.h"

enum { TRIES_MIN = 12 }; /* also where that takes long */

/* The second comes to a checkpoint. */
static const struct work jobs[] = {
    {"two runs", TALK("go", "1", SMALL) TURN(PAGE "," SMALL) DONE, .runs = 2,
     .rounds = 1},
    {"a checkpoint", TURN(BIG "," BIG "," BIG "," BIG) TURN(BIG "," BIG) DONE,
     .runs = 2, .rounds = 1},
};

static const struct {
    const char *name;
    enum fault fault;
} faults[] = {{"an error", FAULT_IO}, {"no room", FAULT_FULL}};

/* What the faults came to. */
struct sum {
    long tried, opening, closing; /* stores that could not be opened, or were
                                     only to be closed */
    long running;
    long silent; /* a handle did not say that the store has failed */
    long again;  /* calls after the one that failed */
    long early;  /* shown or done before it was safe */
    struct finding f;
};

/* What a run has shown is kept behind its end: the store's thread may be at
 * it, and is given time to see that it fails. */
static void let_it_see(wend_store *s)
{
    for (int i = 0; i < 5000 && s->ops->failure(s, NULL) == WEND_OK; i++)
        usleep(1000);
}

/* Whether each handle says so. A run that is over may stay over. */
static bool all_say(struct opened *p, const struct work *w, wend_run **runs,
                    const bool *over)
{
    const wend_event *ev;
    wend_runs *list = NULL;
    wend_run *run = NULL;
    wend_error err = {0};
    bool say = true;

    let_it_see(p->store);
    for (int i = 0; i < w->runs; i++) {
        wend_status s = runs[i] ? wend_run_next(runs[i], &ev) : WEND_E_STORE;

        say &= s == WEND_E_STORE || (s == WEND_END && over[i]);
    }
    say &= wend_store_list(p->store, NULL, &list, NULL) == WEND_E_STORE;
    say &= wend_run_start(p->agent, (wend_str){"go", 2}, NULL, &run, &err) ==
           WEND_E_STORE;
    say &= err.message[0] != 0;
    wend_runs_free(list);
    wend_run_free(run);
    return say;
}

/* A control: a checkpoint that fails is no failure. */
static void ignore_checkpoints(wend_store *s)
{
    sqlite3_wal_autocheckpoint(((struct sqlite_store *)(void *)s)->write.handle,
                               512);
}

static void work_fails(const struct work *w, bool control, struct sum *sum)
{
    wend_run *runs[RUNS_MAX] = {NULL};
    bool over[RUNS_MAX] = {false};
    const wend_event *ev;
    struct opened p;

    if (!place_open(&p, work_path, w)) {
        sum->opening++; /* what it had begun is taken back */
        return;
    }
    if (control)
        ignore_checkpoints(p.store);
    for (int i = 0; i < w->runs; i++)
        if (wend_run_start(p.agent, (wend_str){"go", 2}, NULL, &runs[i],
                           NULL) != WEND_OK &&
            !tape.failed) /* the disk may fail before the second start */
            abort();
    for (int i = 0; i < w->runs; i++)
        while (runs[i] && wend_run_next(runs[i], &ev) == WEND_OK) {
            book_shown(ev);
            over[i] = ev->type == WEND_RUN_END;
        }
    sum->running += tape.failed;
    sum->closing += !tape.failed;
    sum->silent += tape.failed && !all_say(&p, w, runs, over);
    for (int i = 0; i < w->runs; i++)
        wend_run_free(runs[i]);
    place_close(&p);
    sum->again += tape.calls_after;
}

/* What is left, as it is and after a cut of the power. */
static void look(const struct work *w, struct sum *sum)
{
    struct cut c = cut_of(0, 1);
    struct disk d = {.at = 0};

    for (int i = 0; i < FILES; i++)
        d.now[i] = d.sure[i] = -1;
    disk_play_to(&d, tape.count);
    clear(image_path);
    disk_cut(&d, &c, image_path);
    disk_free(&d);
    check_store(image_path, tape.count, &sum->f);
    check_store(work_path, tape.count, &sum->f);
    book_clear();
    book_load(work_path);
    sum->f.unfinished += !work_resume(w, work_path, &sum->f.resumed);
    sum->early += book.early;
}

static void begin(void)
{
    book_clear();
    clear(work_path);
    tape_start(work_path, CONTROL_NONE);
}

static void fail_at(const struct work *w, enum fault fault, long at,
                    bool control, struct sum *sum)
{
    begin();
    tape.fault = fault;
    tape.fault_at = at;
    sum->tried++;
    work_fails(w, control, sum);
    tape_stop();
    sum->early += book.early;
    look(w, sum);
}

/* Calls in an order that spreads, until the time is over. */
static void fail_work(const struct work *w, double seconds)
{
    long calls;

    begin();
    tap_ok(work_do(w, work_path), "%s: done", w->name);
    tape_stop();
    calls = tape.calls;
    for (size_t k = 0; k < tap_count(faults); k++) {
        long step = spread(calls);
        double end = now() + seconds;
        struct sum s = {0};

        for (long i = 0; i < calls && (i < TRIES_MIN || now() < end); i++)
            fail_at(w, faults[k].fault, 1 + i * step % calls, false, &s);
        printf("# %s, %s: %ld of %ld calls, %ld opening, %ld running, %ld "
               "closing, %ld resumed\n",
               w->name, faults[k].name, s.tried, calls, s.opening, s.running,
               s.closing, s.f.resumed);
        tap_ok(s.running && !s.silent, "%s, %s: every handle says so", w->name,
               faults[k].name);
        tap_ok(!s.again, "%s, %s: nothing is tried again (%ld)", w->name,
               faults[k].name, s.again);
        tap_ok(!s.early, "%s, %s: nothing is shown or done early (%ld)",
               w->name, faults[k].name, s.early);
        tap_ok(is_good(&s.f) && s.f.events && s.f.resumed,
               "%s, %s: all that was safe is there (lost %ld, damaged %ld, "
               "unfinished %ld)",
               w->name, faults[k].name, s.f.lost, s.f.damaged, s.f.unfinished);
    }
}

static void fail_control(const struct work *w)
{
    struct sum s = {0};
    long calls, step;

    begin();
    work_do(w, work_path);
    tape_stop();
    calls = tape.calls;
    step = spread(calls);
    for (long i = 0; i < calls && !s.silent; i++)
        fail_at(w, FAULT_IO, 1 + i * step % calls, true, &s);
    tap_ok(s.silent && s.again,
           "control: a checkpoint that may fail is found after %ld calls",
           s.tried);
}

int main(int argc, char **argv)
{
    double seconds = 8;
    bool all = false;
    const struct campaign_option known[] = {{"--all", .flag = &all}};

    campaign_seconds("FAULT_SECONDS", &seconds);
    if (!campaign_options(known, tap_count(known), argc, argv)) {
        fprintf(stderr, "usage: fault-test [--all]\n");
        return 2;
    }
    if (!enter() || !tape_register())
        return 2;
    for (size_t i = 0; i < tap_count(jobs); i++)
        fail_work(&jobs[i], all ? 1e6
                                : seconds / (double)(tap_count(jobs) *
                                                     tap_count(faults)));
    fail_control(&jobs[1]);
    book_clear();
    tape_clear();
    campaign_leave(root);
    return tap_done();
}
