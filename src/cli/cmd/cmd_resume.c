/*
 * cmd_resume.c - wend resume: resumes interrupted runs.
 *
 * Without a run it resumes all of them, several at once, each in its own
 * process, since each has its own working directory. The output of a process is
 * printed in one piece when it ends, unless only one runs at a time.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/agent/agent.h"
#include "cli/cmd/cmd.h"
#include "cli/rows.h"
#include "cli/signals.h"
#include "cli/stream.h"
#include "cli/term.h"

enum {
    MOMENT_MS = 10,
    TAKE_MOMENTS = 50,
    DIE_MOMENTS = 10,
    JOBS_DEFAULT = 4,
    JOBS_MAX = 64,
    LOOK_MS = 20, /* interval for checking which processes ended */
};

static const struct opt opts[] = {
    ROWS_AGENT,
    ROWS_LIMITS("maximum number of turns since the start of the run",
                LIMIT_TOKENS, LIMIT_COST),
    ROW_STORE,
    ROW_TRUST_STORE,
    ROW_FLAG(accept_loss, "accept-loss",
             "also resume a run that lost the end of its log"),
    ROW_NUMBER(jobs, "jobs", "N", "maximum number of runs at once (default 4)",
               .letter = 'j', .min = 1, .max = JOBS_MAX),
    ROWS_EVENTS,
    ROW_LOG_FILE(""),
    ROWS_TALK,
};

/* A program that was being started when its owner was killed holds the owner's
 * lock until its exec. */
static void wait_a_moment(void)
{
    const struct timespec moment = {.tv_nsec = MOMENT_MS * 1000000};

    nanosleep(&moment, NULL);
}

/* ---- One run ------------------------------------------------------------- */

/* Limits alone replace those of the run; a whole config brings its own. */
static wend_run_options options_of(const struct settings *given,
                                   const struct again *how)
{
    wend_run_options o = {
        .size = sizeof o, .take = how->take, .trust_log = how->trust_log};

    if (how->take & WEND_FORK_CONFIG)
        return o;
    o.take &= ~(uint32_t)WEND_FORK_LIMITS;
    o.limits = (wend_limits){.turns = (uint32_t)given->max_turns,
                             .time_ms = given->timeout_ms,
                             .tokens = given->budget_tokens,
                             .cost_nano = given->budget_cost};
    return o;
}

static wend_status take(struct cli *cli, const char *id,
                        const struct again *how, wend_run **out)
{
    const wend_run_options o = options_of(&cli->given, how);
    wend_status s = WEND_OK;

    for (int i = 0; i < TAKE_MOMENTS; i++) {
        s = wend_run_resume(cli->made, id, &o, out, &cli->err);
        if (s != WEND_E_BUSY)
            break;
        wait_a_moment();
    }
    return s;
}

static int go(struct stream *st, const char *id, const struct again *how)
{
    struct cli *cli = st->cli;
    int code = how->view ? stream_past(st, id, 0) : EXIT_DONE;
    wend_status s = WEND_OK;

    if (code)
        return code;
    if (cli->set.accept_loss)
        s = wend_store_accept_loss(cli->store, id, &cli->err);
    if (s == WEND_OK)
        s = take(cli, id, how, &st->run);
    if (s == WEND_E_BUSY)
        return complain(EXIT_USAGE, "%s", cli->err.message);
    code = report(cli, s);
    return code ? code : stream_go(st);
}

static int resume(struct cli *cli, const char *id, bool imported)
{
    struct again how = {.take = authority_given(&cli->given),
                        .imported = imported};
    struct stream st = {.cli = cli, .live = true, .asks = true};
    int code;

    how.view = &st.view;
    /* Do this first: its files are relative to the directory of the command. */
    code = stream_open(&st);
    if (!code)
        code = again_agent(cli, id, &how);
    if (!code)
        code = go(&st, id, &how);
    stream_close(&st);
    return code;
}

/* A child whose parent is over is closed: the resume first receives its
 * cancel request. */
static int close_orphan(struct cli *cli, const char *id, const char *parent)
{
    const wend_request cancel = {
        .size = sizeof cancel, .kind = WEND_REQUEST_CANCEL, .by = "parent"};

    if (!cli->set.quiet)
        complain(0, "closing run %s: its parent run %s is over", id, parent);
    return report(cli, wend_store_tell(cli->store, id, &cancel, &cli->err));
}

/* A parent resumes its children itself, and could not if another process owned
 * them. */
static int resume_named(struct cli *cli, const char *id, bool imported)
{
    char parent[40] = "", top[40];
    bool open = run_state(cli, id, parent) == RUN_INTERRUPTED;
    int code = EXIT_DONE;

    memcpy(top, parent, sizeof top);
    run_top(cli, top);
    switch (run_state(cli, parent, NULL)) {
    case RUN_GONE: break;
    case RUN_UNDER_WAY:
        return complain(
            EXIT_USAGE,
            "run %s is a child of run %s, which is active and resumes it", id,
            parent);
    case RUN_INTERRUPTED:
        return complain(EXIT_USAGE,
                        "run %s is a child of run %s; 'wend resume %s' "
                        "continues both",
                        id, parent, top);
    case RUN_OVER:
        if (open)
            code = close_orphan(cli, id, parent);
        break;
    }
    return code ? code : resume(cli, id, imported);
}

/* ---- All runs ------------------------------------------------------------ */

extern char **environ;

struct resume_id {
    struct resume_id *next;
    char text[40];
    char parent[40]; /* for a child, else empty */
    bool imported;
    bool meant;       /* it is to be resumed */
    const char *line; /* what is printed about it before */
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
    struct buf line = {.mem = &cli_mem};

    id->imported = info->imported;
    if (info->child)
        str_copy(id->parent, sizeof id->parent, info->parent);
    str_copy(id->text, sizeof id->text, info->run);
    put_run(&line, info, term_width(STDERR_FILENO));
    id->line = line.ptr;
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

/* Which ones; the user reads it before anything starts. */
static void choose(struct cli *cli, struct resume_id *list)
{
    struct buf text = {.mem = &cli_mem};

    for (struct resume_id *id = list; id; id = id->next) {
        id->meant = is_meant(cli, list, id);
        if (id->meant)
            buf_cstr(&text, id->line);
    }
    if (!text.len || cli->set.quiet)
        return;
    complain(0, "resuming these runs:");
    write_all(STDERR_FILENO, buf_view(&text));
}

/* A run that seems active may have lost its owner just now. */
static void let_die(struct cli *cli)
{
    static const char *const alive[] = {"running", "waiting", "paused"};
    bool any = false;

    for (size_t i = 0; i < sizeof alive / sizeof *alive && !any; i++) {
        wend_list_options o = {
            .size = sizeof o, .status = alive[i], .limit = 1};

        any = runs_count(cli, &o) > 0;
    }
    for (int i = 0; any && i < DIE_MOMENTS; i++)
        wait_a_moment();
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
    char **argv, **argv_id; /* argv_id: where the id of a run goes */
    struct resume_job all[JOBS_MAX];
    size_t max, running;
    int signal; /* signal that ends it; 0: none */
    int code;   /* the first that is not 0 */
};

/* The same command with room for the id of a run at *id. */
static char **command_of(struct cli *cli, char ***id)
{
    size_t count = 0;
    char **argv;

    while (cli->argv[count])
        count++;
    argv = arena_alloc(&cli->arena, (count + 4) * sizeof *argv);
    argv[0] = (char *)(uintptr_t) "wend";
    argv[1] = (char *)(uintptr_t) "resume";
    memcpy(argv + 2, cli->argv, count * sizeof *argv);
    *id = &argv[count + 2];
    return argv;
}

static int spawn(struct resume_jobs *j, struct resume_job *job)
{
    posix_spawn_file_actions_t files;
    int error;

    *j->argv_id = (char *)(uintptr_t)job->id->text;
    job->out = j->max > 1 ? tmpfile() : NULL;
    if (j->max > 1 && !job->out)
        return complain(EXIT_FAILED, "run %s: not resumed: %s", job->id->text,
                        strerror(errno));
    posix_spawn_file_actions_init(&files);
    if (job->out)
        posix_spawn_file_actions_adddup2(&files, fileno(job->out),
                                         STDOUT_FILENO);
    error = posix_spawn(&job->pid, "/proc/self/exe", &files, NULL, j->argv,
                        environ);
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

static void begin(struct resume_jobs *j, const struct resume_id *id)
{
    struct resume_job *job = j->all;
    int code;

    while (job->pid)
        job++;
    *job = (struct resume_job){
        .id = id, .closes = run_state(j->cli, id->parent, NULL) == RUN_OVER};
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

static int resume_all(struct cli *cli)
{
    static struct resume_jobs j;
    const wend_list_options o = {.size = sizeof o, .status = "interrupted"};
    struct resume_ids ids = {.cli = cli};
    int signals = signals_open(), code;

    if (signals < 0)
        return EXIT_FAILED;
    let_die(cli);
    code = each_run(cli, &o, -1, note, &ids);
    if (code)
        return code;
    if (!ids.list && !cli->set.quiet)
        complain(0, "no interrupted runs");
    j.cli = cli;
    j.max = cli->set.jobs > 0 ? (size_t)cli->set.jobs : JOBS_DEFAULT;
    j.argv = command_of(cli, &j.argv_id);
    choose(cli, ids.list);
    for (const struct resume_id *id = ids.list; id && !j.signal;
         id = id->next) {
        if (!id->meant)
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

/* ---- The command --------------------------------------------------------- */

static int run(struct cli *cli)
{
    struct found found;
    int code;

    code = open_runtime(cli);
    if (!code)
        code = authority_store(cli);
    if (!code && !cli->args_count && cli->set.output)
        return usage_error(cli,
                           "--output takes the answer of one run: name it");
    if (!code && !cli->args_count)
        return resume_all(cli);
    if (!code)
        code = find_run(cli, cli->args[0], &found);
    return code ? code : resume_named(cli, found.id, found.imported);
}

const struct command command_resume = {
    .name = "resume",
    .args = "[OPTIONS] [RUN]",
    .summary = "resume an interrupted run, or all of them",
    .more = "Without RUN, all interrupted runs are resumed concurrently, "
            "except those that\n"
            "are paused or imported; damaged runs are reported and skipped.\n"
            "Recorded work is not repeated. Calls that were active run again "
            "if their class\n"
            "is read or idempotent; the outcome of other calls is unknown, and "
            "the model is\n"
            "told so. Options override the settings in the log. The log of an "
            "imported run is\n"
            "not used for settings, so they must be given. The exit status is "
            "that of the\n"
            "run.\n",
    .args_max = 1,
    .expected = "at most one run",
    .statuses = "interrupted",
    .no_child = true,
    .opts = opts,
    .takes_agent = true,
    .agent_named = true,
    .run = run,
};
