/*
 * oom.c - makes each allocation of each scenario fail, once alone and once
 * with all that come after it.
 *
 *     oom [--all | --seconds N] [--seed N] [--scenario NAME]
 *     oom --scenario NAME --at N [--sticks]    one round, with its stack
 *
 * A child process plays round after round; where it dies or finds a flaw,
 * another one takes its place behind that. Prints TAP. Without arguments it
 * takes OOM_SECONDS (default 22) for all, at points that the seed chooses.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sanitizer/lsan_interface.h>

#include "../unit/campaign.h"
#include "../unit/server_help.h"
#include "../unit/tap.h"
#include "alloc.h"
#include "stage.h"

enum {
    FINDINGS_MAX = 5,  /* of a scenario; more say nothing new */
    WAITING_MAX = 600, /* rounds that wait for half a second each */
    TRIES_MAX = 12,    /* in vain, when the time is over */
    LEAK_LOOKS = 3,
    LEAK_WAIT_US = 100000,
    GIVEN_LOOKS = 100,
};

/* What child and parent both see. */
struct board {
    long points; /* allocations of a round in which none fails */
    long k;      /* which round is under way */
    long rounds, hits;
    char flaw[300];
};
static struct board *board;

static struct {
    bool all;
    const char *only;
    double seconds; /* 0: all */
    long seed, at;
    bool sticks;
} opt = {.seconds = 22, .seed = 20261115};

/* ---- The child: rounds --------------------------------------------------- */

/* The k-th round: which allocation, and whether those after it fail, too. */
static struct oom_plan plan_of(long k)
{
    long all = board->points * 2;
    long at = (opt.seed + k % all * spread(all)) % all;

    if (opt.at)
        return (struct oom_plan){opt.at, opt.sticks, true};
    return (struct oom_plan){at / 2 + 1, at % 2, false};
}

static void leave(const char *what)
{
    snprintf(board->flaw, sizeof board->flaw, "%s", what);
    fflush(NULL);
    _exit(3);
}

/* Threads that nobody waits for may be about to free what they have. */
static bool leaks(void)
{
    for (int i = 0; i < LEAK_LOOKS; i++) {
        if (!__lsan_do_recoverable_leak_check())
            return false;
        usleep(LEAK_WAIT_US);
    }
    return true;
}

/* A tool whose function has not returned is released by its thread. */
static bool all_given_back(void)
{
    for (int i = 0; i < GIVEN_LOOKS && stage_given() > 0; i++)
        usleep(LEAK_WAIT_US);
    return !stage_given();
}

static void round_of(const struct scenario *sc, struct oom_plan plan,
                     const struct tale *clean, struct tale *t)
{
    long live;

    memset(t, 0, sizeof *t);
    alarm(sc->seconds ? sc->seconds : ROUND_SECONDS);
    if (!store_prepare(sc))
        leave("no store");
    live = oom_live();
    oom_arm(plan);
    sc->body(sc, t);
    oom_disarm();
    if (oom_live() != live && leaks())
        flaw(t, "a leak");
    if (!all_given_back())
        flaw(t, "%d tools are not released, or twice", stage_given());
    if (plan.fail_at)
        judge(sc, clean, t, !plan.sticks);
    else if (t->status != WEND_OK)
        flaw(t, "%s: %s", t->at, t->message);
    aftermath(sc, clean, t);
    if (t->flaw[0])
        leave(t->flaw);
}

static void rounds(const struct scenario *sc, long k, double end)
{
    static struct tale clean, t;
    long all;

    board->k = -1;
    for (int i = 0; i < 2; i++) /* the second knows what is made only once */
        round_of(sc, (struct oom_plan){0}, &clean, &clean);
    board->points = oom_count();
    all = board->points * 2;
    if (sc->waits && all > WAITING_MAX)
        all = WAITING_MAX;
    if (opt.at)
        all = 1;
    for (; k < all; k++) { /* threads take memory in another order each time */
        if (now() >= end && (board->hits || k >= TRIES_MAX))
            break;
        board->k = k;
        round_of(sc, plan_of(k), &clean, &t);
        board->rounds++;
        board->hits += oom_failed() > 0;
        if (opt.at)
            printf("# %s%s%s\n", wend_status_name(t.status),
                   *t.at ? " at " : "", t.at);
    }
    fflush(NULL);
    _exit(0);
}

/* ---- The parent ---------------------------------------------------------- */

static void show_file(const char *path, int lines)
{
    FILE *f = fopen(path, "r");
    char line[300];

    while (f && lines-- && fgets(line, sizeof line, f))
        printf("#   %s", line);
    if (f)
        fclose(f);
}

/* What was wrong with a child that has ended; NULL if nothing. */
static const char *wrong(int status)
{
    static char text[300];

    if (WIFEXITED(status) && !WEXITSTATUS(status))
        return NULL;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 3)
        return board->flaw;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        return "it hangs";
    snprintf(text, sizeof text, "it dies, %s %d",
             WIFSIGNALED(status) ? "signal" : "exit status",
             WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    return text;
}

static int child(const struct scenario *sc, long k, double end)
{
    int status = 0, out;
    pid_t pid;

    fflush(NULL);
    pid = fork();
    if (!pid) {
        out = open("stderr", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        if (!opt.at)
            dup2(out, 2);
        rounds(sc, k, end);
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return status;
}

/* What the next flaw is, of the k-th round or a later one; NULL: none. */
static const char *next_flaw(const struct scenario *sc, long *k, double end)
{
    const char *why = wrong(child(sc, *k, end));

    *k = board->k + 1;
    return why;
}

static void show_flaw(const struct scenario *sc, const char *why)
{
    struct oom_plan p;

    if (board->k < 0) {
        printf("# %s: without a failure: %s\n", sc->name, why);
    } else {
        p = plan_of(board->k);
        printf("# %s: --at %ld%s: %s\n", sc->name, p.fail_at,
               p.sticks ? " --sticks" : "", why);
    }
    show_file("stderr", 30);
}

static void play(const struct scenario *sc, double end)
{
    const char *why;
    int found = 0;
    long k = 0;

    memset(board, 0, sizeof *board);
    while (found < FINDINGS_MAX && (why = next_flaw(sc, &k, end))) {
        found++;
        show_flaw(sc, why);
        if (board->k < 0)
            break;
    }
    printf("# %s: %ld allocations, %ld rounds, %ld with a failure\n", sc->name,
           board->points, board->rounds, board->hits);
    tap_is_i64(found, 0, "%s: each failure is told, none does harm", sc->name);
    tap_ok(board->hits > 0, "%s: some came to pass", sc->name);
}

/* It is found at an allocation that fails, and as what it is. */
static void play_planted(const struct scenario *sc)
{
    const char *why;
    bool noticed = false;
    long k = 0;

    memset(board, 0, sizeof *board);
    for (int i = 0; i < FINDINGS_MAX && !noticed; i++) {
        why = next_flaw(sc, &k, now() + 1e9);
        if (!why)
            break;
        noticed = board->k >= 0 && strstr(why, sc->planted);
        if (!noticed)
            show_flaw(sc, why);
        else
            printf("# %s: %s\n", sc->name, why);
    }
    tap_ok(noticed, "%s is found", sc->name);
}

static bool enter(char dir[CAMPAIGN_DIR])
{
    board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return board != MAP_FAILED && campaign_enter("oom", dir);
}

static bool start_servers(struct test_server *s)
{
    char program[PATH_MAX], *slash;

    server_program(program);
    slash = strrchr(program, '/');
    if (!slash || !server_start(s, true))
        return false;
    snprintf(servers.mcp, sizeof servers.mcp, "%.*s/wend-test-mcp",
             (int)(slash - program), program);
    snprintf(servers.http, sizeof servers.http, "http://127.0.0.1:%d/v1",
             s->port);
    snprintf(servers.https, sizeof servers.https, "https://localhost:%d/v1",
             s->tls_port);
    snprintf(servers.ca, sizeof servers.ca, "%s", s->ca);
    signal(SIGPIPE, SIG_IGN);
    return true;
}

static bool options(int argc, char **argv)
{
    static const struct campaign_option known[] = {
        {"--all", .flag = &opt.all},     {"--seconds", .seconds = &opt.seconds},
        {"--seed", .number = &opt.seed}, {"--scenario", .text = &opt.only},
        {"--at", .number = &opt.at},     {"--sticks", .flag = &opt.sticks},
    };

    campaign_seconds("OOM_SECONDS", &opt.seconds);
    if (!campaign_options(known, tap_count(known), argc, argv))
        return false;
    if (opt.all)
        opt.seconds = 0;
    return true;
}

/* Each has its share of the time that is left. */
static void play_all(void)
{
    double end = now() + opt.seconds;

    for (size_t i = 0; i < scenarios_count; i++) {
        const struct scenario *sc = &scenarios[i];
        double left = end > now() ? end - now() : 0;

        if (opt.only && strcmp(opt.only, sc->name) != 0)
            continue;
        if (!opt.only)
            left /= (double)(scenarios_count - i);
        if (sc->planted)
            play_planted(sc);
        else
            play(sc, now() + (opt.seconds > 0 ? left : 1e9));
    }
}

int main(int argc, char **argv)
{
    struct test_server server;
    char dir[CAMPAIGN_DIR];

    if (!options(argc, argv)) {
        fprintf(stderr, "usage: oom [--all | --seconds N] [--seed N] "
                        "[--scenario NAME [--at N [--sticks]]]\n");
        return 2;
    }
    if (!start_servers(&server) || !enter(dir))
        return 2;
    setvbuf(stdout, NULL, _IOLBF, 0); /* what is found is told at once */
    printf("# seed %ld\n", opt.seed);
    play_all();
    server_stop(&server);
    campaign_leave(dir);
    return tap_done();
}
