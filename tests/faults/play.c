/*
 * play.c - runs the command in a folder of its own, under strace, and waits
 * for all that it leaves behind.
 */
#include "play.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../unit/campaign.h"

char play_dir[64], play_server[200], play_tls[200], play_ca[100];
char play_mcp[200], play_wend[200];
char play_short[200];
int play_server_pid;
double play_bound = CLEAN_SECONDS;

enum { LEFT_SECONDS = 15 }; /* far more than a process tool's grace */

void blame(struct outcome *o, const char *fmt, ...)
{
    va_list ap;

    if (o->flaw[0])
        return;
    va_start(ap, fmt);
    vsnprintf(o->flaw, sizeof o->flaw, fmt, ap);
    va_end(ap);
}

static void read_text(const char *path, char text[TEXT_MAX])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, TEXT_MAX - 1);

    text[n > 0 ? n : 0] = 0;
    if (fd >= 0)
        close(fd);
}

/* ---- Processes ----------------------------------------------------------- */

static void in_child(const char *const argv[])
{
    char value[200];

    setpgid(0, 0);
    if (chdir("work") || setenv("NO_COLOR", "1", 1) || setenv("LC_ALL", "C", 1))
        _exit(126);
    snprintf(value, sizeof value, "%s/work/home", play_dir);
    setenv("HOME", value, 1);
    snprintf(value, sizeof value, "%s/work/wend.db", play_dir);
    setenv("WEND_STORE", value, 1);
    /* What fails may be that the store is kept in mind as the user's. */
    setenv("WEND_TRUST_STORE", "1", 1);
    setenv("WEND", play_wend, 1);
    setenv("SERVER", play_server, 1);
    dup2(open("/dev/null", O_RDONLY), 0);
    dup2(open("../out", O_WRONLY | O_CREAT | O_TRUNC, 0600), 1);
    dup2(open("../err", O_WRONLY | O_CREAT | O_TRUNC, 0600), 2);
    execvp(argv[0], (char *const *)(unsigned long)argv);
    _exit(126);
}

/* Children besides the server: ours, and those whose parent is gone. With
 * `end` they are killed. */
static int others(bool end)
{
    char path[64];
    FILE *f;
    int pid, n = 0;

    snprintf(path, sizeof path, "/proc/self/task/%d/children", getpid());
    f = fopen(path, "r");
    while (f && fscanf(f, "%d", &pid) == 1)
        if (pid != play_server_pid && !waitpid(pid, NULL, WNOHANG)) {
            n++;
            if (end)
                kill(pid, SIGKILL);
        }
    if (f)
        fclose(f);
    return n;
}

static bool any_left(bool end, double seconds)
{
    double until = now() + seconds;

    while (others(end)) {
        if (now() > until)
            return true;
        usleep(1000);
    }
    return false;
}

/* What it printed is in the outcome, and nothing of it is left. */
static void spawn(const char *const argv[], struct outcome *o)
{
    double end = now() + play_bound;
    pid_t pid, got;

    o->hangs = false;
    pid = fork();
    if (!pid)
        in_child(argv);
    while ((got = waitpid(pid, &o->status, WNOHANG)) == 0 && now() < end)
        usleep(500);
    if (!got) {
        o->hangs = true;
        blame(o, "it has not ended after %.0f s", play_bound);
        kill(-pid, SIGKILL);
        waitpid(pid, &o->status, 0);
    } else if (any_left(false, LEFT_SECONDS)) {
        blame(o, "it leaves a process behind");
    }
    any_left(true, LEFT_SECONDS);
    read_text("out", o->out);
    read_text("err", o->err);
}

/* ---- Scenarios ----------------------------------------------------------- */

static bool shell(const char *line)
{
    const char *argv[] = {"bash", "-euc", line, NULL};
    static struct outcome o;

    memset(&o, 0, sizeof o);
    spawn(argv, &o);
    if (o.status || o.flaw[0])
        printf("# %s: status %d %s\n# %.500s\n", line, o.status, o.flaw, o.err);
    return !o.status && !o.flaw[0];
}

bool play_prepare(const struct scenario *sc)
{
    play_bound = CLEAN_SECONDS;
    if (system("rm -rf template work && mkdir -p work/home"))
        return false;
    if (sc->prepare && !shell(sc->prepare))
        return false;
    return !rename("work", "template");
}

static bool fresh(void)
{
    return !system("rm -rf work trace && cp -a template work");
}

/* Words like "@SERVER@" stand for what is only known now. */
static const char *fill(const char *arg, char room[TEXT_MAX])
{
    static const struct {
        const char *mark, *text;
    } known[] = {{"@SERVER@", play_server},
                 {"@TLS@", play_tls},
                 {"@CA@", play_ca},
                 {"@MCP@", play_mcp}};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const char *at = strstr(arg, known[i].mark);

        if (!at)
            continue;
        snprintf(room, TEXT_MAX, "%.*s%s%s", (int)(at - arg), arg,
                 known[i].text, at + strlen(known[i].mark));
        return room;
    }
    return arg;
}

static void command(const char **argv, const char *const args[])
{
    static char room[ARGS_MAX][TEXT_MAX];
    int i = 0;

    *argv++ = play_wend;
    for (const char *const *a = args; *a; a++)
        *argv++ = fill(*a, room[i++]);
    *argv = NULL;
}

static void read_file(const struct scenario *sc, struct outcome *o)
{
    char path[80];

    snprintf(path, sizeof path, "work/%s", sc->file ? sc->file : "none");
    read_text(path, o->file);
}

bool play_clean(const struct scenario *sc, struct outcome *o)
{
    const char *argv[ARGS_MAX + 8] = {"strace", "-f", "-qq", "-o", "../trace"};

    double began, took;

    memset(o, 0, sizeof *o);
    if (!fresh())
        return false;
    command(argv + 5, sc->args);
    began = now();
    spawn(argv, o);
    took = now() - began;
    play_bound =
        took * BOUND_TIMES > BOUND_SECONDS ? took * BOUND_TIMES : BOUND_SECONDS;
    read_file(sc, o);
    if (strstr(o->out, "\"outcome\":\"failed\""))
        blame(o, "a part of it fails: %.200s", strstr(o->out, "call_end"));
    return !o->status && !o->flaw[0];
}

/* What cannot be: eventfds and the pipe that libuv takes for a lock do not
 * fail (it ends the process if they do), nobody fails to unlock, and a lock
 * needs no descriptor. */
static bool is_dishonest(const char *line)
{
    return strstr(line, "<anon_inode:[event") ||
           (strstr(line, "<pipe:[") && strstr(line, ", 1)")) ||
           strstr(line, "F_UNLCK") ||
           (strstr(line, "EMFILE") && strstr(line, "F_SETLK"));
}

static void look_at_trace(struct outcome *o)
{
    FILE *f = fopen("trace", "r");
    char line[TRACE_LINE];

    while (trace_next(f, line)) {
        if (!strstr(line, "(INJECTED)"))
            continue;
        o->hit = true;
        o->store |= strstr(line, "wend.db") != NULL;
        o->shut |= strstr(line, " write(1<") && strstr(line, "EPIPE");
        o->pipes |= strstr(line, " pipe2(") != NULL;
        o->spared |= is_dishonest(line);
        snprintf(o->fault, sizeof o->fault, "%.250s", line);
    }
    if (f)
        fclose(f);
}

static size_t only_store(const char **argv)
{
    static const char *const ends[] = {"", "-wal", "-shm", "-lock"};
    static char paths[4][100];

    for (size_t i = 0; i < 4; i++) {
        snprintf(paths[i], sizeof paths[i], "%s/work/wend.db%s", play_dir,
                 ends[i]);
        *argv++ = "-P";
        *argv++ = paths[i];
    }
    return 8;
}

static void play_strace(const struct scenario *sc, const struct fault *f,
                        struct outcome *o)
{
    char trace[80], inject[200];
    const char *argv[ARGS_MAX + 24] = {"strace",   "-f", "-qq", "-y", "-o",
                                       "../trace", "-e", trace, "-e", inject};
    size_t n = 10;

    snprintf(trace, sizeof trace, "trace=%s", f->call);
    if (f->instead)
        snprintf(inject, sizeof inject, "inject=%s:%s:when=%d", f->call,
                 f->instead, f->when);
    else
        snprintf(inject, sizeof inject, "inject=%s:error=%s:when=%d", f->call,
                 f->error, f->when);
    if (f->of_store)
        n += only_store(argv + n);
    command(argv + n, sc->args);
    spawn(argv, o);
    look_at_trace(o);
    o->hit |= f->instead != NULL; /* not every one leaves a mark */
}

static void play_preload(const struct scenario *sc, const struct fault *f,
                         struct outcome *o)
{
    static char caller[TEXT_MAX];
    char preload[220], call[60], error[40], when[40], hit[100], count[100];
    const char *argv[ARGS_MAX + 9] = {"env", preload, call, error,
                                      when,  count,   hit};

    snprintf(preload, sizeof preload, "LD_PRELOAD=%s", play_short);
    snprintf(call, sizeof call, "FAULT_CALL=%s", f->call);
    snprintf(error, sizeof error, "FAULT_ERROR=%s", f->error);
    snprintf(when, sizeof when, "FAULT_WHEN=%d",
             strcmp(f->error, "EVERY") ? f->when : 0);
    snprintf(count, sizeof count, "FAULT_COUNT=%s/work/count", play_dir);
    snprintf(hit, sizeof hit, "FAULT_HIT=%s/work/hit", play_dir);
    command(argv + 7, sc->args);
    spawn(argv, o);
    o->hit = !access("work/hit", F_OK);
    read_text("work/hit", caller);
    if (o->hit)
        snprintf(o->fault, sizeof o->fault, "%s of %.200s\n", f->call, caller);
}

int play_count(const struct scenario *sc)
{
    static struct outcome o;
    const struct fault none = {"malloc", "NULL", -1, false, NULL};
    FILE *f;
    int n = 0;

    memset(&o, 0, sizeof o);
    if (!fresh())
        return 0;
    play_preload(sc, &none, &o);
    f = fopen("work/count", "r");
    if (f && fscanf(f, "%d", &n) != 1)
        n = 0;
    if (f)
        fclose(f);
    return n;
}

static bool is_preloaded(const char *error)
{
    static const char *const all[] = {"SHORT", "EVERY", "NULL", "LOST", "NSS"};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!strcmp(error, all[i]))
            return true;
    return false;
}

void play_fault(const struct scenario *sc, const struct fault *f,
                struct outcome *o)
{
    memset(o, 0, sizeof *o);
    if (!fresh())
        blame(o, "no folder");
    else if (is_preloaded(f->error))
        play_preload(sc, f, o);
    else
        play_strace(sc, f, o);
    read_file(sc, o);
}

int play_other(const char *const args[], struct outcome *o)
{
    const char *argv[ARGS_MAX + 2];

    memset(o, 0, sizeof *o);
    command(argv, args);
    spawn(argv, o);
    if (o->flaw[0])
        snprintf(o->err, sizeof o->err, "%s", o->flaw);
    else if (WIFSIGNALED(o->status))
        snprintf(o->err, sizeof o->err, "signal %d", WTERMSIG(o->status));
    return o->hangs || !WIFEXITED(o->status) ? -1 : WEXITSTATUS(o->status);
}
