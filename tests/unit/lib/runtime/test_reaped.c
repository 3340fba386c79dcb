/*
 * test_reaped.c - a host that reaps all children, also those of the library:
 * programs are run nevertheless, and end with what is true.
 */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "run_help.h"

static atomic_int slow_ms; /* the supervisor gets so far ahead of its host */
static atomic_bool reaps, stops;

/* Before the C library's. */
int posix_spawn(pid_t *restrict pid, const char *restrict path,
                const posix_spawn_file_actions_t *restrict files,
                const posix_spawnattr_t *restrict attr,
                char *const argv[restrict], char *const env[restrict])
{
    int (*real)(pid_t *, const char *, const posix_spawn_file_actions_t *,
                const posix_spawnattr_t *, char *const[], char *const[]);
    int rc;

    *(void **)&real = dlsym(RTLD_NEXT, "posix_spawn");
    rc = real(pid, path, files, attr, argv, env);
    usleep((useconds_t)atomic_load(&slow_ms) * 1000);
    return rc;
}

static void *reaper(void *arg)
{
    (void)arg;
    while (!atomic_load(&stops))
        if (!atomic_load(&reaps) || waitpid(-1, NULL, WNOHANG) <= 0)
            usleep(100);
    return NULL;
}

static const struct host {
    const char *why;
    bool ignores, reaps;
    int slow_ms;
} hosts[] = {
    {"one that leaves children alone", false, false, 0},
    {"SIGCHLD is ignored", true, false, 0},
    {"SIGCHLD is ignored, and the program is over at once", true, false, 200},
    {"a thread calls waitpid(-1)", false, true, 0},
    {"a thread calls waitpid(-1), and the program is over at once", false, true,
     200},
};

static const struct {
    const char *script;
    wend_outcome outcome;
    const char *says;
} programs[] = {
    {"echo fine", WEND_OUTCOME_OK, "fine"},
    {"echo so; exit 3", WEND_OUTCOME_FAILED, "exit code 3"},
    {"kill -9 $$", WEND_OUTCOME_FAILED, "signal 9"},
};

static void test_program(const struct host *h, size_t i)
{
    const char *argv[] = {"sh", "-c", programs[i].script};
    struct rig r = {.agent_options = {.approve = WEND_APPROVE_ALL}};
    wend_command_options o = {.size = sizeof o,
                              .name = "p",
                              .argv = argv,
                              .argv_count = 3,
                              .sandbox_off = true};
    wend_outcome outcome = WEND_OUTCOME_NONE;
    struct buf output = {.mem = &rig_mem};
    const wend_event *ev;
    wend_run *run;

    if (!rig_open(&r, NULL,
                  "script:{\"turns\":[{\"calls\":[{\"name\":\"p\",\"args\":{}"
                  "}]},{\"text\":\"done\"}]}"))
        return;
    if (wend_agent_add_command(r.agent, &o, &r.err) != WEND_OK)
        tap_ok(false, "%s", r.err.message);
    run = rig_start(&r, NULL);
    while (wend_run_next(run, &ev) == WEND_OK)
        if (ev->type == WEND_CALL_END) {
            outcome = ev->u.call_end.outcome;
            buf_str(&output, ev->u.call_end.output);
        }
    buf_char(&output, 0);
    tap_ok(outcome == programs[i].outcome &&
               strstr(output.ptr, programs[i].says),
           "%s: %s: %s: %s", h->why, programs[i].script,
           wend_outcome_name(outcome), output.ptr);
    buf_free(&output);
    wend_run_free(run);
    rig_close(&r);
}

/* A child of the host's own stays its own. */
static void test_own(const struct host *h)
{
    int status = 0;
    pid_t pid = fork();

    if (!pid)
        _exit(7);
    test_program(h, 0);
    tap_ok(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 7,
           "the host's own child is there to be waited for");
}

int main(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, reaper, NULL);
    for (size_t i = 0; i < tap_count(hosts); i++) {
        const struct host *h = &hosts[i];

        signal(SIGCHLD, h->ignores ? SIG_IGN : SIG_DFL);
        atomic_store(&reaps, h->reaps);
        atomic_store(&slow_ms, h->slow_ms);
        for (size_t p = 0; p < tap_count(programs); p++)
            test_program(h, p);
        if (!h->ignores && !h->reaps)
            test_own(h);
    }
    atomic_store(&stops, true);
    pthread_join(thread, NULL);
    return tap_done();
}
