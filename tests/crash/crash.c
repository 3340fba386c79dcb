/*
 * crash.c - kills runs at every boundary and goes on with them.
 *
 *     crash [--kills N] [--scenario NAME] [--seed N] [--control]
 *
 * A child process advances a run: it starts it, or goes on with the one in
 * the store, and dies at one of its points (points.h). Others follow until
 * the run is over; then a last one compares the log with the ledger. Prints
 * TAP. Without arguments it takes CRASH_SECONDS (default 40) for all.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "../unit/campaign.h"
#include "../unit/tap.h"
#include "check.h"
#include "followed.h"
#include "forked.h"
#include "planned.h"
#include "store_wrap.h"

enum {
    ROUNDS_MAX = 100,      /* each with other second and third kills */
    CHILDREN_MAX = 12,     /* of one run; more means that it never ends */
    TRIES_MIN = 6,         /* of a scenario, also where that takes long */
    TRIES_WAITING = 2,     /* where it waits */
    KILLS_MIN = 100,       /* of all */
    KILLS_MAX = 1000000,   /* of a scenario: the time is over before */
    BIG_BYTES = 400 << 10, /* an output that becomes a blob */
    CHILD_SECONDS = 60,
};

#define CALL(tool) "{\"name\":\"" tool "\",\"args\":{}}"
#define DONE "{\"text\":\"done\"}"
#define TASK                                                        \
    "{\"name\":\"task\",\"args\":{\"agent\":\"helper\",\"prompt\":" \
    "\"do\"}}"
#define HELPER                                                   \
    "{\"text\":\"in turn\",\"calls\":[" CALL("unsafe") "," CALL( \
        "idem") "]},{\"calls\":[" CALL("unsafe") "]}," DONE
#define ACT(name, target, after)                                    \
    "  - {name: " name ", type: tool, mode: async, target: " target \
    ", depends_on: [" after "]}\n"

/* Some 180 tokens. */
#define TEN "one two three four five six seven eight nine ten "
#define LONG                                                                   \
    "\"text\":\"" TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN "\"" \
    ","
#define SUM "# Task\\n# Decisions\\n# Progress\\n# Blockers\\n# Context"

static const struct scenario scenarios[] = {
    {.name = "one turn",
     .script = "{\"text\":\"a few words, in pieces\",\"chunk\":2}",
     .answer = "a few words, in pieces",
     .makes = true},
    {.name = "one unsafe call",
     .script = "{\"calls\":[" CALL("unsafe") "]}," DONE,
     .answer = "done"},
    {.name = "parallel calls",
     .script = "{\"text\":\"five\",\"calls\":[" CALL("read") "," CALL(
         "read") "," CALL("idem") "," CALL("read") "," CALL("unsafe") "]}"
                                                                      "," DONE,
     .answer = "done"},
    {.name = "three turns",
     .script = "{\"calls\":[" CALL("unsafe") "]},{\"calls\":[" CALL(
         "idem") "]},"
                 "{\"calls\":[" CALL("unsafe") "," CALL("unsafe") "]}," DONE,
     .answer = "done"},
    {.name = "retry",
     .script = "{\"calls\":[" CALL(
         "unsafe") "]},"
                   "{\"error\":{\"code\":\"rate_limit\",\"message\":\"wait\"}},"
                   "{\"calls\":[" CALL("unsafe") "]}," DONE,
     .answer = "done",
     .waits = true},
    {.name = "another model",
     .script = "{\"calls\":[" CALL(
         "unsafe") "]},"
                   "{\"error\":{\"code\":\"auth\",\"message\":\"no\"}}",
     .fallback = "script:{\"model\":\"spare\",\"turns\":[{\"calls\":[" CALL(
         "idem") "]}," DONE "]}",
     .answer = "done"},
    {.name = "compaction",
     .script = "{\"purpose\":\"summary\",\"text\":\"" SUM "\",\"repeat\":"
               "\"forever\"},{" LONG
               "\"calls\":[" CALL("unsafe") "]},{" LONG "\"calls\":[" CALL(
                   "idem") "]},{" LONG
                           "\"calls\":[" CALL(
                               "unsafe") "]},{" LONG
                                         "\"calls\":[" CALL("idem") "," CALL(
                                             "unsafe") "]},{" LONG
                                                       "\"calls\":[" CALL(
                                                           "read") "]}," DONE,
     .answer = "done",
     .window = 1000},
    {.name = "cancel",
     .script = "{\"calls\":[" CALL("never") "]}," DONE,
     .cancels = true},
    {.name = "approval",
     .script = "{\"calls\":[" CALL("unsafe") "," CALL("read") "]}," DONE,
     .answer = "done",
     .asks = true},
    {.name = "blobs",
     .script = "{\"calls\":[" CALL("big") "," CALL("unsafe") "]}," DONE,
     .answer = "done"},
    {.name = "calls in mid-stream",
     .script = "{\"text\":\"ab\",\"chunk\":1,\"calls\":[" CALL(
         "unsafe") "," CALL("read") "," CALL("idem") "]}," DONE,
     .answer = "done",
     .eager = WEND_EAGER_ALL},
    {.name = "said meanwhile",
     .script = "{\"calls\":[" CALL("idem") "]},{\"text\":\"a\"}," DONE,
     .says = true},
    {.name = "a plan of ten",
     .script = DONE,
     .plan = "wend: plan/1\nname: ten\nactions:\n" ACT("a", "read", "")
         ACT("b", "idem", "") ACT("c", "unsafe", "") ACT("d", "unsafe", "a")
             ACT("e", "idem", "a, b") ACT("f", "big", "c") ACT("g", "read", "d")
                 ACT("h", "unsafe", "e") ACT("i", "idem", "h")
                     ACT("j", "unsafe", "i, g")},
    {.name = "child run: a task",
     .script = "{\"calls\":[" TASK "," CALL("idem") "]}," DONE,
     .answer = "done",
     .helper = HELPER},
    {.name = "child run: an action",
     .script = DONE,
     .plan = "wend: plan/1\nname: kid\nactions:\n" ACT(
         "a", "idem", "") "  - {name: h, type: agent, mode: async, target: "
                          "helper, prompt: do}\n" ACT("b", "unsafe", "h"),
     .helper = HELPER},
    {.name = "child run: canceled",
     .script = "{\"calls\":[" TASK "]}," DONE,
     .cancels = true,
     .helper = "{\"calls\":[" CALL("never") "]}," DONE},
    {.name = "plans of the model",
     .script = planned,
     .answer = "done",
     .eager = WEND_EAGER_ALL,
     .plans = true},
    {.name = "fork",
     .script = "{\"calls\":[" CALL("unsafe") "]},{\"calls\":[" CALL(
         "idem") "," CALL("unsafe") "]},{\"text\":\"done\",\"repeat\":"
                                    "\"forever\"}",
     .answer = "done",
     .forks = true},
    {.name = "follow",
     .script = "{\"purpose\":\"summary\",\"text\":\"" SUM "\",\"repeat\":"
               "\"forever\"},{" LONG "\"calls\":[" CALL(
                   "unsafe") "]},{" LONG "\"calls\":[" CALL("idem") "]}," DONE,
     .answer = "done",
     .follows = true},
};
enum { SCENARIOS = sizeof scenarios / sizeof *scenarios };

/* ---- Tools --------------------------------------------------------------- */

static int ledger = -1;
static char big[BIG_BYTES];

/* The effect: a line outside, on stable storage. */
static void effect(wend_call *call)
{
    wend_str key = wend_call_key(call);
    char line[KEY_BYTES];
    int n = snprintf(line, sizeof line, "%.*s\n", (int)key.len, key.ptr);

    point();
    if (write(ledger, line, (size_t)n) != n)
        _exit(9);
    syscall(SYS_fsync, ledger);
    point();
}

static wend_status tool(void *ctx, wend_call *call)
{
    const char *name = ctx;
    wend_str answer = {"ok", 2};

    effect(call);
    if (!strcmp(name, "never"))
        return WEND_OK; /* whoever cancels ends it */
    if (!strcmp(name, "big"))
        answer = (wend_str){big, sizeof big};
    return wend_call_return(call, answer);
}

static const struct {
    const char *name;
    wend_class call_class;
} tools[] = {
    {"read", WEND_CLASS_READ},      {"idem", WEND_CLASS_IDEMPOTENT},
    {"unsafe", WEND_CLASS_UNSAFE},  {"never", WEND_CLASS_UNSAFE},
    {"big", WEND_CLASS_IDEMPOTENT},
};

static bool add_tools(wend_agent *agent)
{
    bool ok = true;

    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++) {
        wend_tool_options t = {.size = sizeof t,
                               .name = tools[i].name,
                               .call_class = tools[i].call_class,
                               .fn = tool,
                               .ctx = (void *)(uintptr_t)tools[i].name};

        ok &= wend_agent_add_tool(agent, &t, NULL) == WEND_OK;
    }
    return ok;
}

/* ---- One child: advances the run ----------------------------------------- */

static wend_approve approve_of(const struct scenario *sc)
{
    return sc->asks ? WEND_APPROVE_ASK : WEND_APPROVE_ALL;
}

static bool add_helper(wend_runtime *rt, wend_agent *agent,
                       const struct scenario *sc)
{
    char model[4096];
    wend_agent_options o = {
        .size = sizeof o, .model = model, .approve = approve_of(sc)};
    wend_child_options k = {.size = sizeof k, .name = "helper"};
    bool ok;

    snprintf(model, sizeof model, "script:{\"turns\":[%s]}", sc->helper);
    ok = wend_agent_new(rt, &o, &k.agent, NULL) == WEND_OK &&
         add_tools(k.agent) &&
         wend_agent_add_agent(agent, &k, NULL) == WEND_OK &&
         wend_agent_add_builtin(agent, "task", NULL) == WEND_OK;
    wend_agent_free(k.agent);
    return ok;
}

static wend_agent *make_agent(wend_runtime *rt, const struct scenario *sc)
{
    char model[8192];
    wend_agent_options o = {.size = sizeof o,
                            .model = model,
                            .approve = approve_of(sc),
                            .eager = sc->eager,
                            .fallbacks = &sc->fallback,
                            .fallbacks_count = sc->fallback != NULL,
                            .context_tokens = sc->window};
    wend_agent *agent = NULL;

    snprintf(model, sizeof model, "script:{\"turns\":[%s]}", sc->script);
    if (wend_agent_new(rt, &o, &agent, NULL) != WEND_OK || !add_tools(agent))
        return NULL;
    return sc->helper && !add_helper(rt, agent, sc) ? NULL : agent;
}

static void watch(wend_run *run, const struct scenario *sc)
{
    const wend_event *ev;
    bool said = false;

    while (wend_run_next(run, &ev) == WEND_OK) {
        if (ev->type == WEND_APPROVAL_ASK)
            wend_run_approve(run, ev->u.approval_ask.call, true, "crash");
        if (ev->type == WEND_CALL_START && sc->cancels)
            wend_run_cancel(run);
        if (ev->type == WEND_CALL_START && sc->says && !said) {
            said = true;
            wend_run_say(run, (wend_str){"and?", 4});
        }
    }
}

static wend_status start(wend_agent *agent, const struct scenario *sc,
                         wend_run **run)
{
    wend_run_options o = {.size = sizeof o, .plan = sc->plans};
    wend_str prompt = {"go", 2};
    wend_plan *plan = NULL;
    wend_status s;

    if (sc->follows) /* the past of the next run is in a blob */
        prompt = (wend_str){big, 20000};
    if (!sc->plan)
        return wend_run_start(agent, prompt, &o, run, NULL);
    s = wend_plan_parse(str_of(sc->plan), NULL, &plan, NULL);
    if (s == WEND_OK)
        s = wend_run_start_plan(agent, plan, NULL, NULL, run, NULL);
    wend_plan_free(plan);
    return s;
}

/* Exits with 0 once the run is over. */
static void child(const struct scenario *sc, long kill_at, bool lies,
                  int report)
{
    wend_runtime_options o = {.size = sizeof o};
    wend_runtime *rt = NULL;
    wend_agent *agent;
    wend_run *run = NULL;
    wend_status s;
    char id[40];
    bool over = false, is_fork = false;
    long seen;

    alarm(CHILD_SECONDS);
    memset(big, 'b', sizeof big);
    ledger = open("ledger", O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    points_kill = kill_at;
    atomic_store(&points_on, true);
    o.store = wrap_open("wend.db", lies);
    if (ledger < 0 || !o.store || wend_runtime_new(&o, &rt, NULL) != WEND_OK)
        _exit(7);
    agent = make_agent(rt, sc);
    if (!find_run(o.store, id, &over, &is_fork))
        s = start(agent, sc, &run);
    else
        s = over ? WEND_END : wend_run_resume(agent, id, NULL, &run, NULL);
    if (s == WEND_OK)
        watch(run, sc);
    wend_run_free(run);
    run = NULL;
    if (sc->forks && !is_fork && find_run(o.store, id, &over, &is_fork) &&
        over) {
        s = fork_it(agent, rt, id, &run);
        if (s == WEND_OK)
            watch(run, sc);
        wend_run_free(run);
    }
    if (sc->follows && follow_it(agent, o.store, &run) == WEND_OK) {
        watch(run, sc);
        wend_run_free(run);
    }
    wend_agent_free(agent);
    wend_runtime_free(rt);
    wend_store_free(o.store);
    seen = atomic_load(&points_seen);
    atomic_store(&points_on, false);
    if (write(report, &seen, sizeof seen) != sizeof seen)
        _exit(6);
    _exit(s == WEND_OK || s == WEND_END ? 0 : 5);
}

/* ---- The checker: the log against the ledger ----------------------------- */

static void checker(const struct scenario *sc, int report)
{
    wend_runtime_options o = {.size = sizeof o};
    wend_runtime *rt = NULL;
    struct finding f = {0};
    char id[40];
    bool over = false, is_fork = false;

    alarm(CHILD_SECONDS);
    if (wend_store_open("wend.db", &o.store, NULL) != WEND_OK ||
        wend_runtime_new(&o, &rt, NULL) != WEND_OK)
        _exit(7);
    f.unfinished = !find_run(o.store, id, &over, &is_fork) || !over ||
                   is_fork != sc->forks ||
                   (sc->follows && count_runs(o.store) != 2);
    if (!f.unfinished)
        check_logs(rt, o.store, sc, &f);
    wend_runtime_free(rt);
    wend_store_free(o.store);
    _exit(write(report, &f, sizeof f) == sizeof f ? 0 : 6);
}

/* ---- The parent ---------------------------------------------------------- */

static int pipe_ends[2];
static long seed; /* of where it begins, and of later kills */

/* The child's exit status, -1 if it was killed by its own hand, -2 if it
 * ended in any other way; what it reports is in the pipe. */
static int wait_for(pid_t pid)
{
    int status;

    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL ? -1 : -2;
}

static int advance(const struct scenario *sc, long kill_at, bool lies,
                   long *seen)
{
    pid_t pid;
    int code;

    fflush(stdout);
    pid = fork();
    if (!pid)
        child(sc, kill_at, lies, pipe_ends[1]);
    code = wait_for(pid);
    if (code >= 0 && read(pipe_ends[0], seen, sizeof *seen) != sizeof *seen)
        return -2;
    return code;
}

static bool check(const struct scenario *sc, struct finding *sum)
{
    struct finding f;
    long *to = (long *)(void *)sum, *from = (long *)(void *)&f;
    pid_t pid;

    fflush(stdout);
    pid = fork();
    if (!pid)
        checker(sc, pipe_ends[1]);
    if (wait_for(pid) || read(pipe_ends[0], &f, sizeof f) != sizeof f)
        return false;
    for (size_t i = 0; i < sizeof f / sizeof *to; i++)
        to[i] += from[i];
    return true;
}

static void clear(void)
{
    static const char *const names[] = {"ledger",       "wend.db",
                                        "wend.db-wal",  "wend.db-shm",
                                        "wend.db-lock", NULL};

    for (const char *const *n = names; *n; n++)
        unlink(*n);
}

/* An empty store, made once: most kills shall be for the run. */
static void make_empty(void)
{
    wend_store *store = NULL;
    pid_t pid = fork();

    if (!pid) {
        wend_store_open("wend.db", &store, NULL);
        wend_store_free(store);
        _exit(!store);
    }
    if (wait_for(pid) || rename("wend.db", "empty.db"))
        printf("# no empty store\n");
}

static void prepare(const struct scenario *sc)
{
    char bytes[64 << 10];
    ssize_t n = 1;
    int from, to;

    clear();
    if (sc->makes)
        return;
    from = open("empty.db", O_RDONLY | O_CLOEXEC);
    to = open("wend.db", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    while (n > 0) {
        n = read(from, bytes, sizeof bytes);
        if (n > 0 && write(to, bytes, (size_t)n) != n)
            n = -1;
    }
    close(from);
    close(to);
}

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 31)) * 0x9e3779b97f4a7c15u;
    return x ^ (x >> 29);
}

/* One run: killed at `first`; then in two of three at another point, and in
 * one of three at a third. Returns how often it was killed. */
static long story(const struct scenario *sc, long first, long round, bool lies,
                  struct finding *sum)
{
    uint64_t chance = mix((uint64_t)(first + round * 1000003) + 77);
    long kill_at = first, kills = 0, seen;
    int code = -1;

    prepare(sc);
    for (int i = 0; i < CHILDREN_MAX && code < 0; i++) {
        code = advance(sc, kill_at, lies, &seen);
        kills += code == -1;
        if (code == -2 || code > 0)
            break;
        chance = mix(chance);
        kill_at = i < 2 && chance % 3 ? 1 + (long)(chance >> 8) % 60 : 0;
    }
    if (code || !check(sc, sum)) {
        sum->unfinished++;
        printf("# %s: killed at %ld: a child ended with %d\n", sc->name, first,
               code);
    }
    return kills;
}

static bool is_good(const struct finding *f)
{
    return !f->lost && !f->doubled && !f->unsaved && !f->unfinished &&
           !f->unlawful && !f->wrong;
}

/* Something was done that nobody saved. */
static bool is_caught(const struct finding *f)
{
    return f->doubled || f->unsaved || f->lost;
}

/* Points in an order that spreads, until time or number is over. */
static long scenario(const struct scenario *sc, long kills_max, double seconds,
                     bool lies, struct finding *sum)
{
    struct finding f = {0};
    long points = 0, kills = 0, step, tried = 0;
    double end = now() + seconds;

    prepare(sc);
    if (advance(sc, 0, lies, &points) || points < 10) {
        tap_ok(false, "%s: runs by itself, %ld points", sc->name, points);
        return 0;
    }
    step = spread(points);
    while (tried < points * ROUNDS_MAX && kills < kills_max &&
           (tried < (sc->waits ? TRIES_WAITING : TRIES_MIN) || now() < end) &&
           !(lies && is_caught(&f))) {
        kills += story(sc, (seed + tried * step) % points + 1,
                       seed + tried / points, lies, &f);
        tried++;
    }
    printf("# %s: %ld points, %ld tried, %ld kills, %ld resumes; lost %ld "
           "doubled %ld unsaved %ld unfinished %ld unlawful %ld wrong %ld; "
           "unknown %ld superseded %ld again %ld\n",
           sc->name, points, tried, kills, f.resumes, f.lost, f.doubled,
           f.unsaved, f.unfinished, f.unlawful, f.wrong, f.unknown,
           f.superseded, f.again);
    if (!lies)
        tap_ok(is_good(&f), "%s: nothing lost, doubled or left", sc->name);
    for (size_t i = 0; i < sizeof f / sizeof(long); i++)
        ((long *)(void *)sum)[i] += ((long *)(void *)&f)[i];
    return kills;
}

int main(int argc, char **argv)
{
    const char *only = NULL;
    double seconds = 40;
    struct finding sum = {0}, control = {0};
    long kills = 0, wanted = 0, kills_max;
    bool control_only = false;
    char dir[CAMPAIGN_DIR];
    const struct campaign_option known[] = {
        {"--kills", .number = &wanted},
        {"--scenario", .text = &only},
        {"--seed", .number = &seed},
        {"--control", .flag = &control_only},
    };

    campaign_seconds("CRASH_SECONDS", &seconds);
    if (!campaign_options(known, tap_count(known), argc, argv)) {
        fprintf(stderr, "usage: crash [--kills N] [--scenario NAME] "
                        "[--seed N] [--control]\n");
        return 2;
    }
    if (wanted)
        seconds = 1e6;
    kills_max = wanted ? wanted / SCENARIOS + 1 : KILLS_MAX;
    if (!campaign_enter("crash", dir) || pipe2(pipe_ends, O_CLOEXEC))
        return 2;
    make_empty();
    for (size_t i = 0; i < SCENARIOS && !control_only; i++)
        if (!only || !strcmp(only, scenarios[i].name))
            kills += scenario(&scenarios[i], kills_max,
                              seconds / (SCENARIOS + 1), false, &sum);
    if (!only && !control_only)
        tap_ok(kills > KILLS_MIN && sum.unknown && sum.superseded && sum.again,
               "%ld kills: some outcomes are unknown, some messages void, "
               "some calls made again",
               kills);
    /* Saved after it was done: the ledger must tell. The first has none. */
    for (size_t i = 1; i < SCENARIOS && !is_caught(&control); i++)
        scenario(&scenarios[i], kills_max, seconds / 4, true, &control);
    tap_ok(is_caught(&control), "a build that acts before it saves is caught");
    campaign_leave(dir);
    return tap_done();
}
