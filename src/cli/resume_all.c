/*
 * resume_all.c - resumes all interrupted runs, several at once.
 *
 * Each run is resumed in its own process, since each has its own working
 * directory. Its output is printed in one piece when it ends, unless only one
 * runs at a time.
 */
#include "cli/resume_all.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/each_run.h"
#include "cli/signals.h"

enum {
    MOMENTS = 10,
    JOBS_DEFAULT = 4,
    JOBS_MAX = 64,
    LOOK_MS = 20, /* interval for checking which processes ended */
};

const struct timespec resume_moment = {.tv_nsec = 10000000};

extern char **environ;

/* ---- Which --------------------------------------------------------------- */

struct resume_id {
    struct resume_id *next;
    char text[40];
    char parent[40]; /* for a child, else empty */
    bool imported;
};

struct resume_ids {
    struct cli *cli;
    struct resume_id *list;
};

/* The listing gives the newest first; they are resumed oldest first. */
static int note(void *ctx, const wend_run_info *info)
{
    struct resume_ids *ids = ctx;
    struct resume_id *id = arena_alloc(&ids->cli->arena, sizeof *id);

    if (!id)
        return complain(EXIT_FAILED, "out of memory");
    id->imported = info->imported;
    if (info->child)
        str_copy(id->parent, sizeof id->parent, info->parent);
    str_copy(id->text, sizeof id->text, info->run);
    id->next = ids->list;
    ids->list = id;
    return EXIT_DONE;
}

/* The parent resumes it, even a parent that became active only now. */
static bool is_resumed_by_parent(struct cli *cli, const struct resume_id *list,
                                 const struct resume_id *child)
{
    for (const struct resume_id *id = list; id && child->parent[0];
         id = id->next)
        if (!strcmp(id->text, child->parent))
            return true;
    return run_state(cli, child->parent, NULL) == RUN_UNDER_WAY;
}

/* According to its log. If the log is unreadable, the resume reports that. */
static bool is_paused(struct cli *cli, const char *id)
{
    wend_replay_options o = {.size = sizeof o,
                             .filter.types = TYPE(CONTROL) | TYPE(RUN_FORK)};
    const wend_event *ev;
    wend_run *log = NULL;
    bool paused = false;

    if (wend_store_replay(cli->rt, id, &o, &log, NULL) != WEND_OK)
        return false;
    while (wend_run_next(log, &ev) == WEND_OK)
        if (ev->type == WEND_RUN_FORK || str_is(ev->u.control.what, "continue"))
            paused = false;
        else
            paused |= str_is(ev->u.control.what, "pause");
    wend_run_free(log);
    return paused;
}

/* Whether to resume it; prints the reason if not. */
static bool is_meant(struct cli *cli, const struct resume_id *list,
                     const struct resume_id *id)
{
    if (is_resumed_by_parent(cli, list, id))
        return false;
    /* Its log, which is not trusted, chooses the programs to run. */
    if (id->imported)
        complain(0,
                 "run %s was imported and is skipped; to resume it, name it "
                 "and give its settings",
                 id->text);
    else if (is_paused(cli, id->text))
        complain(0,
                 "run %s is paused and is skipped; 'wend continue %s' and "
                 "'wend resume %s' resume it",
                 id->text, id->text, id->text);
    else
        return true;
    return false;
}

/* A run that seems active may have lost its owner just now. */
static void let_die(struct cli *cli)
{
    static const char *const alive[] = {"running", "waiting", "paused"};
    const wend_run_info *info;
    bool any = false;

    for (size_t i = 0; i < sizeof alive / sizeof *alive && !any; i++) {
        wend_list_options o = {
            .size = sizeof o, .status = alive[i], .limit = 1};
        wend_runs *list = NULL;

        any = wend_store_list(cli->store, &o, &list, NULL) == WEND_OK &&
              wend_runs_next(list, &info) == WEND_OK;
        wend_runs_free(list);
    }
    for (int i = 0; any && i < MOMENTS; i++)
        nanosleep(&resume_moment, NULL);
}

/* ---- Processes ----------------------------------------------------------- */

struct resume_job {
    pid_t pid; /* 0: none */
    const struct resume_id *id;
    bool closes; /* its parent is over */
    FILE *out;   /* its output; NULL: directly to standard output */
};

struct resume_jobs {
    struct cli *cli;
    struct resume_job all[JOBS_MAX];
    size_t max, running;
    int signal; /* signal that ends it; 0: none */
    int code;   /* the first that is not 0 */
};

/* The same command with the id of the run. */
static char **command_of(struct cli *cli, const char *id)
{
    size_t count = 0;
    char **argv;

    while (cli->argv[count])
        count++;
    argv = arena_alloc(&cli->arena, (count + 4) * sizeof *argv);
    if (!argv)
        return NULL;
    argv[0] = (char *)(uintptr_t) "wend";
    argv[1] = (char *)(uintptr_t) "resume";
    memcpy(argv + 2, cli->argv, count * sizeof *argv);
    argv[count + 2] = (char *)(uintptr_t)id;
    return argv;
}

static int spawn(struct resume_jobs *j, struct resume_job *job)
{
    char **argv = command_of(j->cli, job->id->text);
    posix_spawn_file_actions_t files;
    int error;

    job->out = j->max > 1 ? tmpfile() : NULL;
    if (!argv || (j->max > 1 && !job->out))
        return complain(EXIT_FAILED, "run %s: not resumed: %s", job->id->text,
                        argv ? strerror(errno) : "out of memory");
    posix_spawn_file_actions_init(&files);
    if (job->out)
        posix_spawn_file_actions_adddup2(&files, fileno(job->out),
                                         STDOUT_FILENO);
    error =
        posix_spawn(&job->pid, "/proc/self/exe", &files, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    if (!error) {
        j->running++;
        return EXIT_DONE;
    }
    job->pid = 0;
    if (job->out)
        fclose(job->out);
    return complain(EXIT_FAILED, "run %s: not resumed: %s", job->id->text,
                    strerror(error));
}

/* A child whose parent is over is closed: the resume first receives its
 * cancel request. */
static bool close_orphan(struct cli *cli, const struct resume_id *id)
{
    wend_request cancel = {
        .size = sizeof cancel, .kind = WEND_REQUEST_CANCEL, .by = "parent"};

    if (run_state(cli, id->parent, NULL) != RUN_OVER ||
        wend_store_tell(cli->store, id->text, &cancel, NULL) != WEND_OK)
        return false;
    if (!cli->set.quiet)
        complain(0, "closing run %s: its parent run %s is over", id->text,
                 id->parent);
    return true;
}

static void begin(struct resume_jobs *j, const struct resume_id *id)
{
    struct resume_job *job = j->all;
    int code;

    while (job->pid)
        job++;
    *job = (struct resume_job){.id = id, .closes = close_orphan(j->cli, id)};
    if (!job->closes && !j->cli->set.quiet)
        complain(0, "resuming run %s", id->text);
    code = spawn(j, job);
    if (!j->code)
        j->code = code;
}

static void pass_on(FILE *from)
{
    char block[8192];
    size_t n;

    rewind(from);
    while ((n = fread(block, 1, sizeof block, from)))
        if (print_all((wend_str){block, n}) != EXIT_DONE)
            break;
    fclose(from);
}

static void ended(struct resume_jobs *j, struct resume_job *job, int status)
{
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILED;
    enum run_state state = run_state(j->cli, job->id->text, NULL);

    job->pid = 0;
    j->running--;
    if (job->out)
        pass_on(job->out);
    if ((job->closes && code == EXIT_CANCELED) ||
        (code == EXIT_USAGE && state != RUN_INTERRUPTED))
        code = EXIT_DONE; /* expected; another process was faster */
    if (!j->code)
        j->code = code;
    if (code && state == RUN_INTERRUPTED)
        complain(0,
                 "run %s was not resumed (exit status %d); 'wend cancel "
                 "--force %s' closes it",
                 job->id->text, code, job->id->text);
    else if (!j->cli->set.quiet)
        complain(0, "run %s: exit status %d", job->id->text, code);
}

static void take_signals(struct resume_jobs *j)
{
    int number;

    while ((number = signals_next())) {
        j->signal = number;
        for (size_t i = 0; i < j->max; i++)
            if (j->all[i].pid && number != SIGINT) /* the keyboard's reaches
                                                      them, too */
                kill(j->all[i].pid, number);
    }
}

static void wait_some(struct resume_jobs *j, int signals)
{
    struct pollfd fd = {.fd = signals, .events = POLLIN};
    int status;

    poll(&fd, 1, LOOK_MS);
    take_signals(j);
    for (size_t i = 0; i < j->max; i++)
        if (j->all[i].pid && waitpid(j->all[i].pid, &status, WNOHANG) > 0)
            ended(j, &j->all[i], status);
}

int resume_all(struct cli *cli)
{
    static struct resume_jobs j;
    const wend_list_options o = {.size = sizeof o, .status = "interrupted"};
    struct resume_ids ids = {.cli = cli};
    int signals = signals_open(), code;

    if (signals < 0)
        return complain(EXIT_FAILED, "cannot create a pipe: %s",
                        strerror(errno));
    let_die(cli);
    code = each_run(cli, &o, -1, note, &ids);
    if (code)
        return code;
    if (!ids.list && !cli->set.quiet)
        complain(0, "no interrupted runs");
    j = (struct resume_jobs){.cli = cli,
                             .max = cli->set.jobs > 0 ? (size_t)cli->set.jobs
                                                      : JOBS_DEFAULT};
    for (const struct resume_id *id = ids.list; id && !j.signal;
         id = id->next) {
        if (!is_meant(cli, ids.list, id))
            continue;
        while (j.running == j.max)
            wait_some(&j, signals);
        if (!j.signal)
            begin(&j, id);
    }
    while (j.running)
        wait_some(&j, signals);
    return j.signal == SIGTERM  ? EXIT_TERM
           : j.signal == SIGHUP ? EXIT_HANGUP
           : j.signal           ? EXIT_CANCELED
                                : j.code;
}
