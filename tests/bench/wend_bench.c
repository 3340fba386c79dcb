/*
 * wend_bench.c - drives the library for measurements.
 *
 *     wend-bench MODE N MODEL [--base-url URL] [STORE]
 *
 * once   one run                     many   N runs at once in one process
 * seq    N runs one after another    parked N runs that wait; bytes each
 * idle   one run, then waits for end of file on stdin
 * turns  one run; the cost of some of its turns
 * programs  as many, with a tool `true` that is a program in its sandbox
 * start  N times: milliseconds from exec of the command MODEL (a path) to
 *        the first event of a run with an existing STORE, median
 * leave  N times: the same to the first byte of a request to a model, whose
 *        name stands in the place of STORE
 * fork   one run, then N forks of it: made, and gone on with
 * plan   N times: the plan in the file MODEL read and checked; CPU time
 *
 * Offers one C tool `noop` ({"turn":int,"i":int}, answers "ok"; sleeps
 * TOOL_SLEEP_MS first; answers with NOOP_BYTES bytes if set). Ends with one
 * JSON line.
 */
#include <arpa/inet.h>
#include <malloc.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "wend.h"

enum { WINDOW = 50, TURNS_MAX = 2000000 };

struct totals {
    long completed, errors, deltas, chars, tool_calls;
    int inflight, max_inflight;
    bool first_seen;
    double *turn_cpu; /* at each WINDOW-th turn_start, for `turns` */
    long turns;
    double delta_us, call_us; /* when the first of each came */
    long rss_kb, rss_part_kb; /* at the end; after a fifth of `seq` */
    bool reported;            /* but for the end of the line */
};

static struct totals totals;
static atomic_long commits; /* of the store, on its own thread */
static char answer[1 << 20];
static size_t answer_len;

static double cpu_us(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

static double wall_us(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

static long rss_kb(void)
{
    FILE *f = fopen("/proc/self/statm", "r");
    long pages = 0;

    if (f && fscanf(f, "%*d %ld", &pages) != 1)
        pages = 0;
    if (f)
        fclose(f);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

/* By system calls, of all threads. */
static long written_bytes(void)
{
    FILE *f = fopen("/proc/self/io", "r");
    long bytes = 0;

    if (f && fscanf(f, "rchar: %*d wchar: %ld", &bytes) != 1)
        bytes = 0;
    if (f)
        fclose(f);
    return bytes;
}

static int on_commit(void *ctx)
{
    (void)ctx;
    atomic_fetch_add(&commits, 1);
    return 0;
}

static int on_connect(sqlite3 *db, char **err,
                      const struct sqlite3_api_routines *api)
{
    (void)err;
    (void)api;
    sqlite3_commit_hook(db, on_commit, NULL);
    return SQLITE_OK;
}

static void die(const char *what, const wend_error *err)
{
    fprintf(stderr, "wend-bench: %s: %s\n", what, err->message);
    exit(1);
}

static wend_status noop(void *ctx, wend_call *call)
{
    const char *sleep_ms = getenv("TOOL_SLEEP_MS");

    (void)ctx;
    if (!totals.tool_calls++)
        totals.call_us = wall_us();
    if (sleep_ms)
        usleep((useconds_t)(atoi(sleep_ms) * 1000));
    return wend_call_return(call, (wend_str){answer, answer_len});
}

static void on_event(void *ctx, const wend_event *ev)
{
    (void)ctx;
    switch ((int)ev->type) {
    case WEND_TEXT_DELTA:
        if (!totals.first_seen) {
            totals.first_seen = true;
            totals.delta_us = wall_us();
            puts("first");
            fflush(stdout);
        }
        totals.deltas++;
        totals.chars += (long)ev->u.text_delta.text.len;
        break;
    case WEND_CALL_START:
        if (++totals.inflight > totals.max_inflight)
            totals.max_inflight = totals.inflight;
        break;
    case WEND_CALL_END:
        totals.inflight--;
        totals.errors += ev->u.call_end.outcome != WEND_OUTCOME_OK;
        break;
    case WEND_TURN_START:
        if (totals.turn_cpu && totals.turns % WINDOW == 0)
            totals.turn_cpu[totals.turns / WINDOW] = cpu_us();
        totals.turns++;
        break;
    case WEND_RUN_END:
        totals.completed++;
        totals.errors += ev->u.run_end.outcome != WEND_OUTCOME_OK;
        break;
    }
}

static wend_agent *make_agent(wend_runtime *rt, const char *model,
                              const char *base_url)
{
    wend_agent_options o = {.size = sizeof o,
                            .model = model,
                            .name = "bench",
                            .loop_off = true, /* it repeats itself */
                            .base_url = base_url};
    wend_tool_options t = {
        .size = sizeof t,
        .name = "noop",
        .description = "does nothing",
        .schema = "{\"type\":\"object\",\"properties\":{\"turn\":{\"type\":"
                  "\"integer\"},\"i\":{\"type\":\"integer\"}}}",
        .call_class = WEND_CLASS_READ,
        .fn = noop,
    };
    wend_agent *a;
    wend_error err;

    o.limits.turns = TURNS_MAX;
    if (wend_agent_new(rt, &o, &a, &err) != WEND_OK ||
        wend_agent_add_tool(a, &t, &err) != WEND_OK)
        die("agent", &err);
    return a;
}

static void add_program(wend_agent *a)
{
    static const char *const argv[] = {"/bin/true"};
    wend_command_options o = {.size = sizeof o,
                              .name = "true",
                              .argv = argv,
                              .argv_count = 1,
                              .call_class = WEND_CLASS_READ};
    wend_error err;

    if (wend_agent_add_command(a, &o, &err) != WEND_OK)
        die("tool", &err);
}

static wend_run *start(wend_agent *a)
{
    wend_str prompt = {"go", 2};
    wend_run *run;
    wend_error err;

    if (wend_run_start(a, prompt, NULL, &run, &err) != WEND_OK)
        die("run", &err);
    return run;
}

static void finish(wend_run *run)
{
    const wend_event *ev;
    wend_status s;

    while ((s = wend_run_next(run, &ev)) == WEND_OK)
        on_event(NULL, ev);
    if (s != WEND_END)
        totals.errors++;
    wend_run_free(run);
}

static void mode_many(wend_runtime *rt, wend_agent *a, long n)
{
    wend_run **runs = calloc((size_t)n, sizeof *runs);

    for (long i = 0; i < n; i++) {
        runs[i] = start(a);
        wend_run_listen(runs[i], on_event, NULL);
    }
    /* Waiting for one pumps them all. */
    for (long i = 0; i < n; i++)
        finish(runs[i]);
    (void)rt;
    free(runs);
}

/* What N runs hold on to while they wait for a model. */
static void mode_parked(wend_runtime *rt, wend_agent *a, long n)
{
    wend_run **runs = calloc((size_t)n, sizeof *runs);
    const wend_event *ev;
    size_t before = mallinfo2().uordblks, after;

    for (long i = 0; i < n; i++) {
        runs[i] = start(a);
        wend_runtime_pump(rt);
        while (wend_run_poll(runs[i], &ev) == WEND_OK)
            continue;
    }
    wend_runtime_pump(rt);
    for (long i = 0; i < n; i++)
        while (wend_run_poll(runs[i], &ev) == WEND_OK)
            continue;
    after = mallinfo2().uordblks;
    printf("{\"runs\":%ld,\"bytes_each\":%.0f}\n", n,
           (double)(after - before) / (double)n);
    for (long i = 0; i < n; i++)
        wend_run_free(runs[i]);
    free(runs);
}

/* The part tells what is only held once from what grows. */
static void mode_seq(wend_agent *a, long n)
{
    for (long i = 0; i < n; i++) {
        finish(start(a));
        if (i == n / 5)
            totals.rss_part_kb = rss_kb();
    }
}

/* CPU of a turn, over the i-th WINDOW of them. */
static double window_us(long i)
{
    return (totals.turn_cpu[i + 1] - totals.turn_cpu[i]) / WINDOW;
}

static void report(double cpu, double wall)
{
    struct rusage most;

    getrusage(RUSAGE_SELF, &most);
    printf("{\"completed\":%ld,\"errors\":%ld,\"deltas\":%ld,\"chars\":%ld,"
           "\"tool_calls\":%ld,\"max_inflight\":%d,\"cpu_us\":%.0f,"
           "\"wall_us\":%.0f",
           totals.completed, totals.errors, totals.deltas, totals.chars,
           totals.tool_calls, totals.max_inflight, cpu, wall);
    if (totals.turn_cpu && totals.turns > 3 * WINDOW)
        printf(",\"turns\":%ld,\"first_us\":%.2f,\"turn_125_us\":%.2f,"
               "\"last_us\":%.2f",
               totals.turns, window_us(0), window_us(100 / WINDOW),
               window_us((totals.turns - 1) / WINDOW - 1));
    if (totals.tool_calls && totals.first_seen)
        printf(",\"call_after_us\":%.0f", totals.call_us - totals.delta_us);
    if (totals.rss_part_kb)
        printf(",\"rss_part_kb\":%ld", totals.rss_part_kb);
    printf(",\"written\":%ld,\"rss_kb\":%ld,\"rss_most_kb\":%ld",
           written_bytes(), rss_kb(), most.ru_maxrss);
    totals.reported = true;
}

/* Once the store is closed: what a run has learned about its tools is written
 * behind its end, in a commit of its own. */
static void end_report(void)
{
    if (!totals.reported)
        return;
    if (atomic_load(&commits))
        printf(",\"commits\":%ld", atomic_load(&commits));
    puts("}");
    totals.reported = false;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Made is O(1); going on reads the past. Both to stable storage. */
static void mode_fork(wend_store *store, wend_agent *a, long n)
{
    wend_fork_options o = {.size = sizeof o, .say = {"more", 4}};
    double *made = calloc((size_t)n + 1, sizeof *made);
    double *gone_on = calloc((size_t)n + 1, sizeof *gone_on), began;
    wend_run *run = start(a), *fork = NULL;
    const wend_event *ev;
    char id[37];
    wend_error err;
    wend_status s;

    while ((s = wend_run_next(run, &ev)) == WEND_OK)
        continue;
    for (long i = 0; i < n; i++) {
        began = wall_us();
        if (wend_store_fork(store, wend_run_id(run), &o, id, &err) != WEND_OK)
            die("fork", &err);
        made[i] = wall_us() - began;
        began = wall_us();
        if (wend_run_fork(a, wend_run_id(run), &o, NULL, &fork, &err) !=
                WEND_OK ||
            wend_run_next(fork, &ev) != WEND_OK)
            die("fork", &err);
        gone_on[i] = wall_us() - began;
        wend_run_free(fork);
    }
    qsort(made, (size_t)n, sizeof *made, by_size);
    qsort(gone_on, (size_t)n, sizeof *gone_on, by_size);
    printf("{\"forks\":%ld,\"made_us\":%.0f,\"gone_on_us\":%.0f}\n", n,
           made[n / 2], gone_on[n / 2]);
    wend_run_free(run);
    free(made);
    free(gone_on);
}

static void measure(wend_runtime *rt, wend_agent *a, const char *mode, long n)
{
    double cpu, wall;

    if (!strcmp(mode, "parked")) {
        mode_parked(rt, a, n);
        return;
    }
    if (!strcmp(mode, "programs"))
        add_program(a);
    if (!strcmp(mode, "turns"))
        totals.turn_cpu = calloc(TURNS_MAX / WINDOW, sizeof(double));
    cpu = cpu_us();
    wall = wall_us();
    if (!strcmp(mode, "many") || !strcmp(mode, "programs"))
        mode_many(rt, a, n);
    else if (!strcmp(mode, "seq"))
        mode_seq(a, n);
    else
        finish(start(a));
    report(cpu_us() - cpu, wall_us() - wall);
    free(totals.turn_cpu);
    if (!strcmp(mode, "idle")) {
        end_report();
        puts("idle");
        fflush(stdout);
        while (getchar() != EOF)
            continue;
    }
}

/* ---- Starting the command ------------------------------------------------ */

/* To a server that accepts and reads, but never answers. */
static double one_leave(const char *command, const char *model)
{
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof a;
    int door = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), fd;
    double begin, took = 0;
    char url[64], byte;
    pid_t pid;

    if (bind(door, (struct sockaddr *)&a, sizeof a) || listen(door, 1) ||
        getsockname(door, (struct sockaddr *)&a, &len))
        return 0;
    snprintf(url, sizeof url, "http://127.0.0.1:%d/v1", ntohs(a.sin_port));
    begin = wall_us();
    pid = fork();
    if (!pid) {
        close(STDIN_FILENO); /* it would be sent, too */
        execl(command, command, "run", "--store", "memory:", "-q", "-m", model,
              "--base-url", url, "go", (char *)NULL);
        _exit(127);
    }
    fd = accept(door, NULL, NULL);
    if (read(fd, &byte, 1) == 1)
        took = wall_us() - begin;
    else
        totals.errors++;
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    close(fd);
    close(door);
    return took;
}

static double one_start(const char *command, const char *store)
{
    double begin = wall_us(), took = 0;
    int fds[2];
    char byte;
    pid_t pid;

    if (pipe(fds))
        return 0;
    pid = fork();
    if (!pid) {
        dup2(fds[1], STDOUT_FILENO);
        close(fds[0]);
        close(fds[1]);
        close(STDIN_FILENO); /* it would be sent, too */
        execl(command, command, "run", "--json", "--store", store, "-m",
              "script:{\"turns\":[{\"text\":\"hi\"}]}", "go", (char *)NULL);
        _exit(127);
    }
    close(fds[1]);
    if (read(fds[0], &byte, 1) == 1)
        took = wall_us() - begin;
    else
        totals.errors++;
    while (read(fds[0], &byte, 1) == 1)
        continue;
    close(fds[0]);
    waitpid(pid, NULL, 0);
    return took;
}

static int measure_start(double (*one)(const char *command, const char *arg),
                         long n, const char *command, const char *arg)
{
    double *each = calloc((size_t)n + 1, sizeof *each);

    one(command, arg); /* makes the store, warms the caches */
    for (long i = 0; i < n; i++)
        each[i] = one(command, arg);
    qsort(each, (size_t)n, sizeof *each, by_size);
    printf("{\"starts\":%ld,\"best_us\":%.0f,\"median_us\":%.0f,"
           "\"worst_us\":%.0f}\n",
           n, each[0], each[n / 2], each[n - 1]);
    free(each);
    return totals.errors != 0;
}

/* The newest run of a store, replayed at once, until n events were read. */
static int measure_read(long n, const char *path)
{
    wend_runtime_options o = {.size = sizeof o};
    wend_list_options newest = {.size = sizeof newest, .limit = 1};
    wend_replay_options at_once = {.size = sizeof at_once};
    const wend_run_info *info = NULL;
    const wend_event *ev;
    wend_runs *list = NULL;
    wend_runtime *rt = NULL;
    wend_error err = {0};
    char id[40] = "";
    double cpu, wall;
    long events = 0;

    if (wend_store_open(path, &o.store, &err) != WEND_OK ||
        wend_runtime_new(&o, &rt, &err) != WEND_OK ||
        wend_store_list(o.store, &newest, &list, &err) != WEND_OK)
        die("read", &err);
    if (wend_runs_next(list, &info) == WEND_OK)
        snprintf(id, sizeof id, "%.*s", (int)info->run.len, info->run.ptr);
    cpu = cpu_us();
    wall = wall_us();
    while (events < n) {
        wend_run *run = NULL;

        if (wend_store_replay(rt, id, &at_once, &run, &err) != WEND_OK)
            die("read", &err);
        while (wend_run_next(run, &ev) == WEND_OK)
            events++;
        wend_run_free(run);
    }
    printf("{\"events\":%ld,\"cpu_us\":%.0f,\"wall_us\":%.0f}\n", events,
           cpu_us() - cpu, wall_us() - wall);
    wend_runs_free(list);
    wend_runtime_free(rt);
    wend_store_free(o.store);
    return 0;
}

/* The file of a plan, read and checked n times. */
static int measure_plan(long n, const char *path)
{
    double *each = calloc((size_t)n + 1, sizeof *each);
    wend_str text = {NULL, 0};
    FILE *f = fopen(path, "rb");
    char *bytes = NULL;
    wend_error err = {0};
    wend_plan *plan;

    if (!f || getdelim(&bytes, &text.len, EOF, f) < 0)
        die("plan", &err);
    text = (wend_str){bytes, strlen(bytes)};
    fclose(f);
    for (long i = 0; i < n; i++) {
        double from = cpu_us();

        if (wend_plan_parse(text, NULL, &plan, &err) != WEND_OK)
            die("plan", &err);
        each[i] = cpu_us() - from;
        wend_plan_free(plan);
    }
    qsort(each, (size_t)n, sizeof *each, by_size);
    printf(
        "{\"plans\":%ld,\"bytes\":%zu,\"best_us\":%.0f,\"median_us\":%.0f}\n",
        n, text.len, each[0], each[n / 2]);
    free(bytes);
    free(each);
    return 0;
}

int main(int argc, char **argv)
{
    wend_runtime_options o = {.size = sizeof o};
    const char *bytes = getenv("NOOP_BYTES"), *base_url = NULL;
    const char *words[4] = {NULL};
    int count = 0;
    wend_runtime *rt;
    wend_agent *a;
    wend_error err;

    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "--base-url") && i + 1 < argc)
            base_url = argv[++i];
        else if (count < 4)
            words[count++] = argv[i];
    if (count < 3) {
        fputs("usage: wend-bench once|many|seq|idle|turns|parked|programs|"
              "start|leave|plan|read|fork N MODEL [--base-url URL] [STORE]\n",
              stderr);
        return 2;
    }
    if (!strcmp(words[0], "start") && words[3] && atol(words[1]) > 0)
        return measure_start(one_start, atol(words[1]), words[2], words[3]);
    if (!strcmp(words[0], "leave") && words[3] && atol(words[1]) > 0)
        return measure_start(one_leave, atol(words[1]), words[2], words[3]);
    if (!strcmp(words[0], "read") && atol(words[1]) > 0)
        return measure_read(atol(words[1]), words[2]);
    if (!strcmp(words[0], "plan") && atol(words[1]) > 0)
        return measure_plan(atol(words[1]), words[2]);
    answer_len = bytes ? (size_t)atol(bytes) % sizeof answer : 2;
    memset(answer, 'x', answer_len);
    memcpy(answer, "ok", 2);
    sqlite3_auto_extension((void (*)(void))on_connect);
    if (words[3] && wend_store_open(words[3], &o.store, &err) != WEND_OK)
        die("store", &err);
    if (wend_runtime_new(&o, &rt, &err) != WEND_OK)
        die("runtime", &err);
    a = make_agent(rt, words[2], base_url);
    if (!strcmp(words[0], "fork") && o.store && atol(words[1]) > 0)
        mode_fork(o.store, a, atol(words[1]));
    else
        measure(rt, a, words[0], atol(words[1]));
    wend_agent_free(a);
    wend_runtime_free(rt);
    wend_store_free(o.store);
    end_report();
    return totals.errors != 0;
}
