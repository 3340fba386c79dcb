/*
 * check.c - what must hold after a fault, whatever it was.
 */
#include "play.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXIT_STORE = 74 };

static bool is_known(int code)
{
    static const int codes[] = {0, 1, 2, 3, 4, EXIT_STORE, 130, 143};

    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i] == code)
            return true;
    return false;
}

/* An event that must be in the store: deltas and what says that it is not
 * kept need not. */
static bool is_kept(const char *line, size_t len)
{
    static const char *const not_kept[] = {"\"kept\":false", "_delta\",",
                                           "\"type\":\"call_output\"",
                                           "\"type\":\"action_output\""};
    const char *type = strstr(line, "\"type\":");

    if (len < 10 || line[0] != '{' || !type || type > line + len)
        return false;
    for (size_t i = 0; i < sizeof not_kept / sizeof *not_kept; i++) {
        const char *at = strstr(line, not_kept[i]);

        if (at && at < type + 40 && at < line + len)
            return false;
    }
    return true;
}

static bool has_line(const char *text, const char *line, size_t len)
{
    for (const char *at = text; (at = memmem(at, strlen(at), line, len));
         at += len)
        if ((at == text || at[-1] == '\n') && at[len] == '\n')
            return true;
    return false;
}

static long kept_lines(const char *text)
{
    long n = 0;

    for (const char *end; (end = strchr(text, '\n')); text = end + 1)
        n += is_kept(text, (size_t)(end - text));
    return n;
}

/* All that was shown is in the log, byte for byte; and after success all that
 * is in the log was shown. */
static void check_shown(const char *log, bool all, struct outcome *o)
{
    const char *line = o->out;

    for (const char *end; (end = strchr(line, '\n')); line = end + 1)
        if (is_kept(line, (size_t)(end - line)) &&
            !has_line(log, line, (size_t)(end - line)))
            blame(o, "shown, but not kept: %.120s", line);
    if (all && kept_lines(o->out) != kept_lines(log))
        blame(o, "%ld events were shown, %ld kept", kept_lines(o->out),
              kept_lines(log));
}

static void check_resume(const struct scenario *sc, struct outcome *o)
{
    static const char *const list[] = {"runs", "--json", "-n", "1", NULL};
    static const char *const resume[] = {"resume", "-q", "last", NULL};
    const char *const trusting[] = {"resume", "-q",   "--ca-file",
                                    sc->ca,   "last", NULL};
    static struct outcome other;
    int code = play_other(list, &other);

    if (code)
        blame(o, "runs: %d: %.100s", code, other.err);
    if (strstr(other.out, "\"status\":\"running\""))
        blame(o, "the run is said to be running");
    if (!strstr(other.out, "\"status\":\"interrupted\""))
        return;
    code = play_other(sc->ca ? trusting : resume, &other);
    if (code)
        blame(o, "resume: %d: %.100s", code, other.err);
}

static void check_store(const struct scenario *sc, int code, struct outcome *o)
{
    static const char *const verify[] = {"verify", "-q", NULL};
    static const char *const log[] = {"log", "--json", "--no-deltas", "last",
                                      NULL};
    static struct outcome other;
    int got;

    if (access("work/wend.db", R_OK)) {
        if (!code || kept_lines(o->out))
            blame(o, "there is no store");
        return;
    }
    got = play_other(verify, &other);
    if (got)
        blame(o, "verify: %d: %.100s%.100s", got, other.err, other.out);
    if (!sc->run)
        return;
    got = play_other(log, &other);
    if (got && got != 2)
        blame(o, "log: %d: %.100s", got, other.err);
    if (sc->json)
        check_shown(other.out, !code, o);
    check_resume(sc, o);
}

/* Whoever closes our standard output need not be told, and who reads events
 * reads the last one. */
static bool is_told(const struct scenario *sc, int code,
                    const struct outcome *o)
{
    return (code == 130 && o->shut) ||
           (sc->json && strstr(o->out, "\"type\":\"run_end\"") &&
            strstr(o->out, "\"outcome\":\"failed\""));
}

/* libc ends the process if its own allocation for a line of nsswitch.conf
 * fails. The same words after an allocation of ours are a fault of ours. */
static bool is_nss(const struct outcome *o)
{
    return WTERMSIG(o->status) == SIGABRT && strstr(o->fault, "/libc.so") &&
           strstr(o->err, "nss_database_reload: Assertion");
}

/* Not ours: the loader, of the command or of libcurl; libuv's first pipe,
 * without which it ends the process (we check before whether there is room);
 * OpenSSL 3.0, which uses locks that it could not make; and libc. */
static bool is_others(int code, const struct outcome *o)
{
    return (code == 127 && strstr(o->err, "loading shared libraries")) ||
           (code < 0 && WTERMSIG(o->status) == SIGABRT && o->pipes) ||
           (code < 0 && strstr(o->fault, "malloc of") &&
            (strstr(o->fault, "/libcrypto.") || is_nss(o)));
}

void check_round(const struct scenario *sc, const struct outcome *clean,
                 struct outcome *o)
{
    int code = WIFEXITED(o->status) ? WEXITSTATUS(o->status) : -1;

    if (o->hangs)
        return;
    if (is_others(code, o)) {
        o->spared = true;
        return;
    }
    if (code < 0)
        blame(o, "it is killed by signal %d", WTERMSIG(o->status));
    else if (!is_known(code))
        blame(o, "exit status %d", code);
    else if (code && !o->err[0] && !is_told(sc, code, o))
        blame(o, "exit status %d, and not a word", code);
    if (!code && !sc->json && strcmp(o->out, clean->out) != 0)
        blame(o, "exit status 0, but another output: '%.60s'", o->out);
    if (!code && sc->file && strcmp(o->file, clean->file) != 0)
        blame(o, "exit status 0, but %s is another", sc->file);
    if (code && code != EXIT_STORE && o->store)
        blame(o, "exit status %d for a failure of the store", code);
    if (!code && sc->json && !strstr(o->out, "\"type\":\"run_end\""))
        blame(o, "exit status 0, but no run_end");
    check_store(sc, code, o);
    if (!code && sc->then[0]) {
        static struct outcome other;

        code = play_other(sc->then, &other);
        if (code)
            blame(o, "and then: %d: %.100s", code, other.err);
    }
}
