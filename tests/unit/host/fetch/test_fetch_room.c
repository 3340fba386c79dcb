/*
 * test_fetch_room.c - few descriptors: transfers and runs wait for one, and
 * nothing fails for the want of it.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "base/code.h"
#include "fetch_help.h"
#include "run_help.h"

enum { FEW = 64, MANY = 200, CROWDS = 4, CROWD_RUNS = MANY / CROWDS };

static void limit_to(rlim_t most)
{
    struct rlimit r;

    getrlimit(RLIMIT_NOFILE, &r);
    r.rlim_cur = most < r.rlim_max ? most : r.rlim_max;
    setrlimit(RLIMIT_NOFILE, &r);
}

/* ---- Transfers ----------------------------------------------------------- */

static void test_transfers(struct world *w, const char *why, const char *url,
                           int64_t connect_ms)
{
    static struct seen seen[MANY];
    int ended = 0, well = 0;

    limit_to(FEW);
    for (int i = 0; i < MANY; i++) {
        struct fetch_request q = {.url = url,
                                  .ca_file = w->server.ca,
                                  .connect_ms = connect_ms,
                                  .first_byte_ms = 60000};

        seen[i] = (struct seen){.w = w};
        if (seen_ask(&seen[i], &q, NULL) != WEND_OK)
            seen[i].ends = 1;
    }
    for (int i = 0; i < MANY; i++) {
        seen_wait(&seen[i]);
        ended += seen[i].ends;
        well += seen[i].ends == 1 && seen[i].how == FETCH_OK;
        if (seen[i].how != FETCH_OK && well == i)
            printf("# %d %s\n", seen[i].how, seen[i].message);
    }
    limit_to(RLIM_INFINITY);
    tap_is_i64(ended, MANY, "%s: all end", why);
    tap_is_i64(well, MANY, "%s: all are answered", why);
}

/* Takes all that are left. */
static int fill(int *fds, int most)
{
    int n = 0;

    while (n < most && (fds[n] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
        n++;
    return n;
}

/* With transfers of its own: no connection is kept that could be used. */
static void test_none(const struct world *other, const char *url,
                      bool given_back)
{
    struct world own = {.server = other->server}, *w = &own;
    struct seen first = {.w = w}, s = {.w = w};
    struct fetch_request q = {.url = url,
                              .ca_file = w->server.ca,
                              .connect_ms = given_back ? 60000 : 300,
                              .first_byte_ms = 60000};
    int fds[FEW], n;
    int64_t until;

    loop_new(&fetch_mem_libc, &own.loop, NULL);
    fetch_new(&fetch_mem_libc, own.loop, &own.fetch, NULL);
    seen_ask(&first, &q, NULL); /* libcurl and its files are loaded */
    seen_wait(&first);
    limit_to(FEW);
    n = fill(fds, FEW);
    while (n && s.ends == 0 && s.t == NULL)
        seen_ask(&s, &q, NULL);
    until = clock_ms() + 500;
    while (given_back && clock_ms() < until)
        loop_turn(w->loop, 50);
    if (given_back) {
        tap_ok(!s.ends, "no descriptor is free: it waits (%s)", s.message);
        for (int i = 0; i < n; i++)
            close(fds[i]);
    }
    seen_wait(&s);
    if (given_back) {
        tap_ok(s.how == FETCH_OK, "and goes on with the first that is (%s)",
               s.message);
    } else {
        for (int i = 0; i < n; i++)
            close(fds[i]);
        tap_ok(s.how == FETCH_DESCRIPTORS && strstr(s.message, "ulimit -n"),
               "none is given back in time: said so (%s)", s.message);
    }
    limit_to(RLIM_INFINITY);
    fetch_free(own.fetch);
    loop_free(own.loop);
}

/* ---- A socket that cannot be opened -------------------------------------- */

static int refusals, refusal; /* how many sockets from now on, and the errno */

/* In place of libc's: other threads, or the whole system (ENFILE), may take
 * the descriptor that was free a moment ago. */
int socket(int domain, int type, int protocol)
{
    if (refusals > 0) {
        refusals--;
        errno = refusal;
        return -1;
    }
    return (int)syscall(SYS_socket, domain, type, protocol);
}

static int unreadable; /* how often ca.pem from now on */

/* In place of libc's: the descriptor that it lacks is free again afterwards. */
static FILE *open_file(const char *path, const char *mode)
{
    bool is_ca = strstr(path, "/ca.pem");
    int fd = -1;

    if (is_ca && unreadable > 0) {
        unreadable--;
        errno = EMFILE;
        return NULL;
    }
    if (*mode == 'r')
        fd = open(path, O_RDONLY | O_CLOEXEC);
    else
        fd = open(path, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600);
    return fd < 0 ? NULL : fdopen(fd, mode);
}

/* libcrypto, which is loaded later, must see them. */
__attribute__((visibility("default"))) FILE *fopen(const char *path,
                                                   const char *mode)
{
    return open_file(path, mode);
}

__attribute__((visibility("default"))) FILE *fopen64(const char *path,
                                                     const char *mode)
{
    return open_file(path, mode);
}

/* What libcurl says is the same in both cases: the file cannot be read. */
static void test_unreadable(const struct world *other)
{
    static const struct {
        const char *why;
        int times;
        enum fetch_end how;
    } rows[] = {
        {"no descriptor was free for it three times", 3, FETCH_OK},
        {"it stays unreadable", 1000, FETCH_CA_FILE},
    };
    char url[128];

    snprintf(url, sizeof url, "https://localhost:%d/=text:3/",
             other->server.tls_port);
    for (size_t i = 0; i < tap_count(rows); i++) {
        struct world own = {.server = other->server, .libcurl = true};
        struct seen s = {.w = &own};
        struct fetch_request q = {.url = url,
                                  .ca_file = other->server.ca,
                                  .connect_ms = 30000,
                                  .first_byte_ms = 60000};

        loop_new(&fetch_mem_libc, &own.loop, NULL);
        fetch_new(&fetch_mem_libc, own.loop, &own.fetch, NULL);
        unreadable = rows[i].times;
        seen_ask(&s, &q, NULL);
        seen_wait(&s);
        tap_ok(s.how == rows[i].how && unreadable < rows[i].times,
               "a file of authorities: %s (%s)", rows[i].why, s.message);
        unreadable = 0;
        fetch_free(own.fetch);
        loop_free(own.loop);
    }
}

/* With transfers of its own: no connection is kept that could be used. */
static void test_refused(const struct world *other)
{
    static const struct {
        const char *why;
        bool libcurl;
        int refusal;
        enum fetch_end how;
    } rows[] = {
        {"plain: none left for the process", false, EMFILE, FETCH_OK},
        {"plain: none left for the system", false, ENFILE, FETCH_OK},
        {"plain: any other error counts", false, EACCES, FETCH_NETWORK},
        {"libcurl: none left for the process", true, EMFILE, FETCH_OK},
        {"libcurl: none left for the system", true, ENFILE, FETCH_OK},
        {"libcurl: any other error counts", true, EACCES, FETCH_NETWORK},
    };
    char url[128];

    snprintf(url, sizeof url, "http://127.0.0.1:%d/=text:3/",
             other->server.port);
    for (size_t i = 0; i < tap_count(rows); i++) {
        struct world own = {.server = other->server,
                            .libcurl = rows[i].libcurl};
        struct seen s = {.w = &own};
        struct fetch_request q = {
            .url = url, .connect_ms = 30000, .first_byte_ms = 60000};

        loop_new(&fetch_mem_libc, &own.loop, NULL);
        fetch_new(&fetch_mem_libc, own.loop, &own.fetch, NULL);
        seen_ask(&s, &q, NULL);
        refusal = rows[i].refusal;
        refusals = 1;
        seen_wait(&s);
        tap_ok(s.how == rows[i].how && !refusals,
               "a socket that cannot be opened: %s (%s)", rows[i].why,
               s.message);
        refusals = 0;
        fetch_free(own.fetch);
        loop_free(own.loop);
    }
}

/* ---- Which failures may pass --------------------------------------------- */

/* A model that fails so is asked again, or the next one is asked. */
static void test_passing(void)
{
    static const enum model_code codes[] = {CODE_NETWORK, CODE_TIMEOUT,
                                            CODE_RATE_LIMIT, CODE_SERVICE};
    static const enum fetch_end ends[] = {FETCH_NETWORK, FETCH_TIMEOUT};

    for (int code = 0; code < CODES; code++) {
        bool wanted = false;

        for (size_t i = 0; i < tap_count(codes); i++)
            wanted |= codes[i] == (enum model_code)code;
        tap_ok(code_passes(str_of(code_names[code])) == wanted, "%s: %s",
               code_names[code],
               wanted ? "another attempt may succeed" : "it would fail again");
    }
    for (int how = 0; how < FETCH_ENDS; how++) {
        bool wanted = false;

        for (size_t i = 0; i < tap_count(ends); i++)
            wanted |= ends[i] == (enum fetch_end)how;
        tap_ok(fetch_may_pass((enum fetch_end)how) == wanted, "end '%s': %s",
               fetch_codes[how], wanted ? "may pass" : "stays");
    }
}

/* ---- Runs ---------------------------------------------------------------- */

static void test_runs(struct world *w, const char *why, const char *url)
{
    static wend_run *runs[MANY];
    struct rig r = {
        .agent_options = {.base_url = url, .ca_file = w->server.ca}};
    char store[128];
    int ends = 0, well = 0, retries = 0;

    snprintf(store, sizeof store, "%s/%s.db", w->server.dir, why);
    if (!rig_open(&r, store, "openai:text:4:8,first=50ms"))
        return;
    limit_to(FEW);
    for (int i = 0; i < MANY; i++)
        runs[i] = rig_start(&r, NULL);
    for (int i = 0; i < MANY; i++) {
        const wend_event *ev;

        while (runs[i] && wend_run_next(runs[i], &ev) == WEND_OK && ev) {
            retries += ev->type == WEND_MODEL_RETRY;
            ends += ev->type == WEND_RUN_END;
            if (ev->type == WEND_RUN_END && ev->u.run_end.error && ends == 1)
                printf("# %s\n", ev->u.run_end.error->message.ptr);
            well += ev->type == WEND_RUN_END &&
                    ev->u.run_end.outcome == WEND_OUTCOME_OK;
        }
        wend_run_free(runs[i]);
    }
    limit_to(RLIM_INFINITY);
    tap_is_i64(ends, MANY, "%s: all runs end", why);
    tap_is_i64(well, MANY, "%s: all end ok", why);
    tap_is_i64(retries, 0, "%s: no failure is counted", why);
    rig_close(&r);
}

/* ---- Several runtimes ---------------------------------------------------- */

/* One thread with its own runtime; they share the process's descriptors. */
struct crowd {
    pthread_t thread;
    struct rig rig;
    wend_run *runs[CROWD_RUNS];
    int well;
};

static void *crowd_run(void *arg)
{
    struct crowd *c = arg;
    const wend_event *ev;

    if (!rig_open(&c->rig, NULL, "openai:text:4:8,first=50ms"))
        return NULL;
    for (int i = 0; i < CROWD_RUNS; i++)
        c->runs[i] = rig_start(&c->rig, NULL);
    for (int i = 0; i < CROWD_RUNS; i++) {
        wend_outcome outcome = WEND_OUTCOME_NONE;

        while (wend_run_next(c->runs[i], &ev) == WEND_OK)
            if (ev->type == WEND_RUN_END && ev->u.run_end.error)
                printf("# a run failed: %.*s\n",
                       (int)ev->u.run_end.error->message.len,
                       ev->u.run_end.error->message.ptr);
        wend_run_outcome(c->runs[i], &outcome);
        c->well += outcome == WEND_OUTCOME_OK;
        wend_run_free(c->runs[i]);
    }
    rig_close(&c->rig);
    return NULL;
}

static void test_crowds(struct world *w, const char *why, const char *url)
{
    static struct crowd crowds[CROWDS];
    int well = 0;

    memset(crowds, 0, sizeof crowds);
    limit_to(FEW);
    for (int i = 0; i < CROWDS; i++) {
        crowds[i].rig.agent_options.base_url = url;
        crowds[i].rig.agent_options.ca_file = w->server.ca;
        pthread_create(&crowds[i].thread, NULL, crowd_run, &crowds[i]);
    }
    for (int i = 0; i < CROWDS; i++) {
        pthread_join(crowds[i].thread, NULL);
        well += crowds[i].well;
    }
    limit_to(RLIM_INFINITY);
    tap_is_i64(well, (int64_t)CROWDS * CROWD_RUNS,
               "%s: the runs of %d runtimes end ok", why, CROWDS);
}

int main(void)
{
    struct world w;
    char plain[128], tls[128], plain_base[128], tls_base[128];

    unsetenv("OPENAI_API_KEY");
    if (!tap_ok(world_open(&w, true), "a server"))
        return tap_done();
    snprintf(plain, sizeof plain, "http://127.0.0.1:%d/=text:3,first=20ms/",
             w.server.port);
    snprintf(tls, sizeof tls, "https://localhost:%d/=text:3,first=20ms/",
             w.server.tls_port);
    snprintf(plain_base, sizeof plain_base, "http://127.0.0.1:%d/v1",
             w.server.port);
    snprintf(tls_base, sizeof tls_base, "https://localhost:%d/v1",
             w.server.tls_port);
    test_transfers(&w, "plain", plain, 60000);
    test_transfers(&w, "TLS", tls, 60000);
    snprintf(plain, sizeof plain, "http://127.0.0.1:%d/=text:3,first=400ms/",
             w.server.port);
    test_transfers(&w, "waiting counts for nothing", plain, 1000);
    snprintf(plain, sizeof plain, "http://127.0.0.1:%d/=text:3,close/",
             w.server.port);
    snprintf(tls, sizeof tls, "https://localhost:%d/=text:3,close/",
             w.server.tls_port);
    test_none(&w, plain, false);
    test_none(&w, plain, true);
    test_none(&w, tls, false);
    test_none(&w, tls, true);
    test_refused(&w);
    test_unreadable(&w);
    test_passing();
    fetch_free(w.fetch); /* with all that it keeps */
    w.fetch = NULL;
    test_runs(&w, "plain", plain_base);
    test_runs(&w, "TLS", tls_base);
    test_crowds(&w, "plain", plain_base);
    test_crowds(&w, "TLS", tls_base);
    world_close(&w);
    return tap_done();
}
