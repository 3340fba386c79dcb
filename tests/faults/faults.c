/*
 * faults.c - makes each system call of the command fail.
 *
 *     faults [--all | --seconds N] [--seed N] [--scenario NAME]
 *     faults --scenario NAME --call CALL --error E --when K     one round
 *           [--of-store]       of those that name a file of the store
 *
 * Needs strace. Environment: FAULTS_SECONDS (default 25) in place of
 * --seconds; WEND, the command. Prints TAP.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../unit/campaign.h"
#include "../unit/server_help.h"
#include "../unit/tap.h"
#include "calls.h"
#include "play.h"
#include "scenarios.h"

enum {
    FINDINGS_MAX = 8, /* of a scenario; more say nothing new */
    FAULTS_MAX = 40000,
    PLANTED_CALLS = 12, /* at one of them */
    TRIES_MAX = 12,     /* in vain, when the time is over */
    CALLS = sizeof calls / sizeof *calls,
};

static struct {
    bool all;
    const char *only;
    double seconds; /* 0: all */
    long seed;
    const char *call, *error; /* of the one round that is wanted */
    long when;
    bool of_store;
} opt = {.seconds = 25, .seed = 20261115};

static struct fault list[FAULTS_MAX];
static size_t list_count;

/* ---- What can fail ------------------------------------------------------- */

/* For each call the most that one process or thread makes of it: that is how
 * strace counts. The first ones are the loader's, before there is a program;
 * it gives back its list of libraries, by munmap, when it is done. Among those
 * are as many that open files as others make at all, so the files of the store
 * are counted by themselves. */
static void count_calls(int first[CALLS], int most[CALLS], int *of_store)
{
    static struct {
        int pid, seen[CALLS], opened;
    } tracees[TRACEES_MAX];
    FILE *f = fopen("trace", "r");
    char line[TRACE_LINE], name[40];
    int pid, used = 0, t;
    bool loaded = false;

    memset(tracees, 0, sizeof tracees);
    memset(most, 0, sizeof *most * CALLS);
    memset(first, 0, sizeof *first * CALLS);
    while (trace_next(f, line)) {
        if (sscanf(line, "%d %39[a-z0-9_](", &pid, name) != 2)
            continue;
        for (t = 0; t < used && tracees[t].pid != pid; t++)
            continue;
        if (t == used && used++ == TRACEES_MAX)
            break;
        tracees[t].pid = pid;
        loaded |= !strcmp(name, "munmap");
        if (!strcmp(name, "openat") && strstr(line, "wend.db") &&
            ++tracees[t].opened > *of_store)
            *of_store = tracees[t].opened;
        for (size_t i = 0; i < CALLS; i++)
            if (!strcmp(calls[i].name, name)) {
                if (++tracees[t].seen[i] > most[i])
                    most[i] = tracees[t].seen[i];
                first[i] += !loaded;
            }
    }
    if (f)
        fclose(f);
}

static void add_fault(const char *call, const char *error, int when)
{
    struct fault *f = &list[list_count];

    if (list_count == FAULTS_MAX)
        return;
    list_count++;
    snprintf(f->call, sizeof f->call, "%s", call);
    snprintf(f->error, sizeof f->error, "%s", error);
    f->when = when;
    f->of_store = false;
    f->instead = NULL;
}

/* Calls of the system, and after them allocations; returns how many of the
 * list are the former. */
static size_t list_faults(const struct scenario *sc)
{
    static const char *const opens[] = {"EIO", "EMFILE", "EACCES"};
    int first[CALLS], most[CALLS], allocations, of_store = 0;
    size_t of_system;

    count_calls(first, most, &of_store);
    allocations = play_count(sc); /* the trace is gone then */
    list_count = 0;
    for (size_t i = 0; i < CALLS; i++) {
        char errors[100], *rest = errors;

        if (opt.seconds > 0 && !strcmp(calls[i].name, "fcntl"))
            continue; /* SQLite tries for five seconds to get a lock */
        snprintf(errors, sizeof errors, "%s", calls[i].errors);
        for (char *e; (e = strsep(&rest, " "));)
            for (int k = first[i] + 1; k <= most[i]; k++) {
                add_fault(calls[i].name, e, k);
                if (!strcmp(e, "EVERY"))
                    break;
            }
    }
    for (int k = 0; k < of_store * 3; k++) {
        add_fault("openat", opens[k % 3], k / 3 + 1);
        list[list_count - 1].of_store = true;
    }
    of_system = list_count;
    for (int k = 1; k <= allocations; k++)
        add_fault("malloc", "NULL", k);
    return of_system;
}

/* ---- Rounds -------------------------------------------------------------- */

static bool one_round(const struct scenario *sc, const struct outcome *clean,
                      const struct fault *f, struct outcome *o)
{
    play_fault(sc, f, o);
    if (o->hit && !o->spared)
        check_round(sc, clean, o);
    return o->spared || !o->flaw[0];
}

static void show(const struct scenario *sc, const struct fault *f,
                 const struct outcome *o)
{
    printf("# %s: --call %s --error %s --when %d%s: %s\n", sc->name, f->call,
           f->error, f->when, f->of_store ? " --of-store" : "", o->flaw);
    if (o->fault[0])
        printf("#   %s", o->fault);
    printf("#   said: %.300s\n", o->err);
    fflush(stdout);
}

struct sum {
    long rounds, hits, spared, found;
};

/* Which call comes at which count differs from round to round: so it goes on
 * after `end` if nothing has come to pass. */
static void play_some(const struct scenario *sc, const struct outcome *clean,
                      const struct fault *some, size_t count, double end,
                      struct sum *sum)
{
    static struct outcome o;
    long before = sum->hits;

    for (size_t i = 0; i < count && sum->found < FINDINGS_MAX; i++) {
        size_t at =
            ((size_t)opt.seed + i * (size_t)spread((long)count)) % count;

        if (now() >= end && (sum->hits > before || i >= TRIES_MAX))
            break;
        sum->rounds++;
        if (!one_round(sc, clean, &some[at], &o)) {
            sum->found++;
            show(sc, &some[at], &o);
        }
        sum->hits += o.hit;
        sum->spared += o.spared;
    }
}

/* Until `end`, what comes before the first fault included. */
static void play(const struct scenario *sc, double end)
{
    double begin = now();
    static struct outcome clean;
    struct sum sum = {0};
    size_t of_system;

    if (!play_prepare(sc) || !play_clean(sc, &clean)) {
        printf("# %s %.400s\n", clean.flaw, clean.err);
        tap_ok(false, "%s: runs without a fault", sc->name);
        return;
    }
    of_system = list_faults(sc);
    play_some(sc, &clean, list, of_system, end - (end - begin) / 3, &sum);
    play_some(sc, &clean, list + of_system, list_count - of_system, end, &sum);
    printf("# %s: %zu faults and %zu allocations, %ld tried, %ld came to "
           "pass, %ld spared\n",
           sc->name, of_system, list_count - of_system, sum.rounds, sum.hits,
           sum.spared);
    tap_ok(!sum.found, "%s: each failure is told, none does harm", sc->name);
    tap_ok(sum.hits > 0, "%s: some came to pass", sc->name);
}

static void play_one(const struct scenario *sc)
{
    static struct outcome clean, o;
    struct fault f = {.when = (int)opt.when, .of_store = opt.of_store};

    snprintf(f.call, sizeof f.call, "%s", opt.call);
    snprintf(f.error, sizeof f.error, "%s", opt.error);
    if (!play_prepare(sc) || !play_clean(sc, &clean))
        return;
    one_round(sc, &clean, &f, &o);
    printf("# exit %d%s%s\n# %.2000s\n# %.2000s\n", WEXITSTATUS(o.status),
           o.hit ? "" : ", no fault", o.spared ? ", spared" : "", o.out, o.err);
    tap_ok(!o.flaw[0], "%s: %s", sc->name, o.flaw);
}

/* At some call it must be noticed, and called by its name. */
static void play_planted(size_t i)
{
    static struct outcome clean, o;
    const struct scenario *sc = scenarios;
    struct fault f = planted[i].fault;
    bool noticed = false;

    while (strcmp(sc->name, planted[i].scenario) != 0)
        sc++;
    if (play_prepare(sc) && play_clean(sc, &clean)) {
        if (planted[i].bound > 0)
            play_bound = planted[i].bound;
        while (!noticed && f.when++ < PLANTED_CALLS)
            noticed = !one_round(sc, &clean, &f, &o) &&
                      strstr(o.flaw, planted[i].flaw);
    }
    if (noticed)
        printf("# planted: %s: %s\n", planted[i].name, o.flaw);
    tap_ok(noticed, "%s is noticed", planted[i].name);
}

/* ---- Main ---------------------------------------------------------------- */

static bool options(int argc, char **argv)
{
    static const struct campaign_option known[] = {
        {"--all", .flag = &opt.all},     {"--seconds", .seconds = &opt.seconds},
        {"--seed", .number = &opt.seed}, {"--scenario", .text = &opt.only},
        {"--call", .text = &opt.call},   {"--error", .text = &opt.error},
        {"--when", .number = &opt.when}, {"--of-store", .flag = &opt.of_store},
    };

    campaign_seconds("FAULTS_SECONDS", &opt.seconds);
    if (!campaign_options(known, tap_count(known), argc, argv))
        return false;
    if (opt.all)
        opt.seconds = 0;
    return !opt.call == !opt.error;
}

/* Beside this program stand the others. */
static bool enter(const char *self, const struct test_server *server)
{
    const char *wend = getenv("WEND");
    char at[200], *slash;

    if (!realpath(wend ? wend : "build/release/wend", play_wend) ||
        !realpath(self, at) || !(slash = strrchr(at, '/')))
        return false;
    *slash = 0;
    snprintf(play_short, sizeof play_short, "%.150s/short.so", at);
    snprintf(play_mcp, sizeof play_mcp, "%.150s/wend-test-mcp", at);
    snprintf(play_server, sizeof play_server, "http://127.0.0.1:%d",
             server->port);
    snprintf(play_tls, sizeof play_tls, "https://localhost:%d",
             server->tls_port);
    snprintf(play_ca, sizeof play_ca, "%s", server->ca);
    play_server_pid = server->pid;
    return campaign_enter("faults", play_dir) &&
           !prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

/* Each has its share of the time that is left. */
static void play_all(void)
{
    double end = now() + (opt.seconds > 0 ? opt.seconds : 1e9);

    for (size_t i = 0; i < PLANTED && !opt.only; i++)
        play_planted(i);
    for (size_t i = 0; i < SCENARIOS; i++) {
        double left = end > now() ? end - now() : 0;

        if (opt.only && strcmp(opt.only, scenarios[i].name) != 0)
            continue;
        if (opt.call)
            play_one(&scenarios[i]);
        else if (opt.only || opt.seconds <= 0)
            play(&scenarios[i], end);
        else
            play(&scenarios[i], now() + left / (double)(SCENARIOS - i));
    }
}

int main(int argc, char **argv)
{
    struct test_server server;

    if (!options(argc, argv)) {
        fprintf(stderr,
                "usage: faults [--all | --seconds N] [--seed N] [--scenario "
                "NAME [--call CALL --error E --when K [--of-store]]]\n");
        return 2;
    }
    if (system("strace -f -o /dev/null true 2>/dev/null")) {
        fprintf(stderr, "SKIPPED: faults: strace cannot trace here\n");
        printf("1..0 # SKIP strace cannot trace here\n");
        return 0;
    }
    if (!server_start(&server, true) || !enter(argv[0], &server))
        return 2;
    setvbuf(stdout, NULL, _IOLBF, 0); /* what is found is told at once */
    printf("# seed %ld\n", opt.seed);
    play_all();
    campaign_leave(play_dir);
    server_stop(&server);
    return tap_done();
}
