/*
 * test_command.c - tools that are programs.
 */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>

#include "base/limits.h"
#include "lib/run/run.h"
#include "run_help.h"

static char dir[] = "/tmp/wend-command-XXXXXX";

struct row {
    const char *why, *script; /* what sh -c gets */
    const char *outcome, *output;
    uint32_t timeout_ms;
    const char *shown; /* by call_output */
};

static const struct row rows[] = {
    {"arguments on standard input", "cat", "ok", "{\"x\":1}", 0, NULL},
    {"text", "cat >/dev/null; echo hello", "ok", "hello\n", 0, NULL},
    {"nothing", "cat >/dev/null", "ok", "", 0, NULL},
    {"standard error is shown, not answered", "echo a >&2; echo b; echo c >&2",
     "ok", "b\n", 0, "a\nc\n"},
    {"a line without an end", "printf a >&2", "ok", "", 0, "a"},
    {"bytes that are no text", "printf 'a\\377b'", "ok",
     "a\xef\xbf\xbd"
     "b",
     0, NULL},
    {"a status", "echo why >&2; echo what; exit 3", "failed",
     "exit code 3\nwhy\nits output:\nwhat", 0, "why\n"},
    {"a signal", "kill -9 $$", "failed", "signal 9", 0, NULL},
    {"a deadline", "echo before >&2; sleep 100", "timeout", "before", 300,
     "before\n"},
    {"one that does not listen", "trap '' TERM; sleep 100 & wait", "timeout",
     "", 300, NULL},
    {"too much", "yes | head -c 20000000", "failed", "16", 0, NULL},
    {"its environment", "env | cut -d= -f1 | sort | tr '\\n' ' '", "ok",
     "HOME PATH PWD TMPDIR WEND_CALL WEND_IDEMPOTENCY_KEY "
     "WEND_RUN ",
     0, NULL},
    {"the working directory may be written", "echo x >new; cat new; rm new",
     "ok", "x\n", 0, NULL},
    {"nothing else may", "echo x >/var/tmp/wend-out", "failed",
     "ermission denied", 0, NULL},
};

static bool setup(struct rig *r)
{
    *r = (struct rig){
        .agent_options = {.approve = WEND_APPROVE_ALL, .cwd = dir}};
    return rig_open(r, NULL,
                    "script:{\"turns\":[{\"calls\":[{\"name\":\"p\",\"args\":"
                    "{\"x\":1}}]},{\"text\":\"done\"}]}");
}

static bool add(struct rig *r, const char *script, uint32_t timeout_ms,
                const char *secret)
{
    const char *argv[] = {"sh", "-c", script};
    wend_command_options o = {.size = sizeof o,
                              .name = "p",
                              .argv = argv,
                              .argv_count = 3,
                              .timeout_ms = timeout_ms,
                              .secrets = &secret,
                              .secrets_count = secret != NULL};

    return tap_ok(wend_agent_add_command(r->agent, &o, &r->err) == WEND_OK,
                  "added: %s", r->err.message);
}

struct heard {
    struct buf shown, output, all;
    wend_outcome outcome;
    int64_t ms;
};

static void listen_to(wend_run *run, struct heard *h)
{
    const wend_event *ev;

    *h = (struct heard){
        .shown.mem = &rig_mem, .output.mem = &rig_mem, .all.mem = &rig_mem};
    while (wend_run_next(run, &ev) == WEND_OK) {
        put_line(&h->all, ev);
        if (ev->type == WEND_CALL_OUTPUT)
            buf_str(&h->shown, ev->u.text_delta.text);
        if (ev->type != WEND_CALL_END)
            continue;
        h->outcome = ev->u.call_end.outcome;
        h->ms = ev->u.call_end.ms;
        buf_str(&h->output, ev->u.call_end.output);
    }
}

static void heard_free(struct heard *h)
{
    buf_free(&h->shown);
    buf_free(&h->output);
    buf_free(&h->all);
}

static void test_rows(void)
{
    for (size_t i = 0; i < tap_count(rows); i++) {
        const struct row *row = &rows[i];
        struct heard h;
        struct rig r;
        wend_run *run;

        if (!setup(&r) || !add(&r, row->script, row->timeout_ms, NULL))
            return;
        run = rig_start(&r, NULL);
        listen_to(run, &h);
        tap_is_str(str_of(wend_outcome_name(h.outcome)), row->outcome, "%s",
                   row->why);
        if (h.outcome == WEND_OUTCOME_OK)
            tap_is_str(buf_view(&h.output), row->output, "%s: answer",
                       row->why);
        else
            tap_ok(strstr(h.output.ptr, row->output) != NULL, "%s: %.*s",
                   row->why, (int)strcspn(h.output.ptr, "\n"), h.output.ptr);
        if (row->shown)
            tap_is_str(buf_view(&h.shown), row->shown, "%s: shown", row->why);
        if (row->timeout_ms)
            tap_ok(h.ms < row->timeout_ms + STOP_GRACE_MS + 20000,
                   "%s: over in time (%lld ms)", row->why, (long long)h.ms);
        heard_free(&h);
        wend_run_free(run);
        rig_close(&r);
    }
}

/* Values of all its tools together; the same one counts once. */
static void test_many_secrets(void)
{
    static char names[KEYS_MAX + 1][32];
    struct rig r;
    int added = 0;

    if (!setup(&r))
        return;
    for (int i = 0; i <= KEYS_MAX; i++) {
        const char *argv[] = {"true"}, *secret[] = {names[i]};
        char value[32], name[32];
        wend_command_options o = {.size = sizeof o,
                                  .name = name,
                                  .description = "d",
                                  .argv = argv,
                                  .argv_count = 1,
                                  .secrets = secret,
                                  .secrets_count = 1};

        snprintf(names[i], sizeof names[i], "MANY_%d", i);
        snprintf(name, sizeof name, "many%d", i);
        snprintf(value, sizeof value, "value-%08d", i);
        setenv(names[i], value, 1);
        added += wend_agent_add_command(r.agent, &o, &r.err) == WEND_OK;
    }
    tap_is_i64(added, KEYS_MAX, "as many different secrets as there may be");
    tap_is_str(str_of(r.err.message),
               "agent: over 64 different keys and secrets", "one more");
    for (int i = 0; i <= KEYS_MAX; i++)
        unsetenv(names[i]);
    rig_close(&r);
}

/* With time between them to be read one by one. The command itself stands in
 * the log. */
#define IN_PIECES                                                     \
    "printf %s \"${TEST_SECRET%123456789}\"; sleep 0.1; printf 123; " \
    "sleep 0.1; printf %s \"${TEST_SECRET#*0123}\""

static void test_secrets(void)
{
    static const struct {
        const char *why, *script;
    } scripts[] = {
        {"in the answer", "echo \"key $TEST_SECRET\""},
        {"on standard error", "echo \"key $TEST_SECRET\" >&2"},
        {"in a failure", "echo \"key $TEST_SECRET\"; exit 1"},
        {"in pieces", IN_PIECES},
        {"in pieces, on standard error", "{ " IN_PIECES "; } >&2"},
        {"in pieces, in a failure", IN_PIECES "; exit 1"},
        {"where a long line is cut",
         "head -c 8188 /dev/zero | tr '\\0' x >&2; { " IN_PIECES "; } >&2"},
    };
    struct heard h;
    struct rig r;
    wend_run *run;

    setenv("TEST_SECRET", "canary-0123456789", 1);
    for (size_t i = 0; i < tap_count(scripts); i++) {
        if (!setup(&r) || !add(&r, scripts[i].script, 0, "TEST_SECRET"))
            return;
        run = rig_start(&r, NULL);
        listen_to(run, &h);
        tap_ok(!strstr(h.all.ptr, "canary") && strstr(h.all.ptr, "****"),
               "a secret is blanked %s", scripts[i].why);
        heard_free(&h);
        wend_run_free(run);
        rig_close(&r);
    }
    if (!setup(&r) || !add(&r, "env", 0, NULL))
        return;
    run = rig_start(&r, NULL);
    listen_to(run, &h);
    tap_ok(!strstr(h.all.ptr, "TEST_SECRET"), "not granted, not given");
    heard_free(&h);
    wend_run_free(run);
    rig_close(&r);
    unsetenv("TEST_SECRET");
    if (!setup(&r) || !add(&r, "env", 0, "TEST_SECRET"))
        return;
    run = rig_start(&r, NULL);
    listen_to(run, &h);
    tap_ok(strstr(h.output.ptr, "TEST_SECRET"), "one that is not there: %s",
           h.output.ptr);
    heard_free(&h);
    wend_run_free(run);
    rig_close(&r);
}

static void test_refused(void)
{
    static const char *const none[] = {NULL}, *const empty[] = {""};
    static const char *const sh[] = {"sh", NULL};
    static const char *const names[] = {"A=B"};
    static const struct {
        const char *why;
        wend_command_options o;
        const char *message;
    } cases[] = {
        {"no program", {.name = "p"}, "names no program"},
        {"NULL", {.name = "p", .argv = none, .argv_count = 1}, "no program"},
        {"empty", {.name = "p", .argv = empty, .argv_count = 1}, "no program"},
        {"an argument", {.name = "p", .argv = sh, .argv_count = 2}, "argv[1]"},
        {"too many", {.name = "p", .argv = sh, .argv_count = 257}, "over 256"},
        {"secrets",
         {.name = "p",
          .argv = sh,
          .argv_count = 1,
          .secrets = names,
          .secrets_count = 1},
         "is not the name of a variable"},
        {"an argument of its check",
         {.name = "p",
          .argv = sh,
          .argv_count = 1,
          .verify = sh,
          .verify_count = 2},
         "verify[1]"},
        {"a name", {.name = "a b", .argv = sh, .argv_count = 1}, "name 'a b'"},
        {"labels",
         {.name = "p", .argv = sh, .argv_count = 1, .labels = 8},
         "labels"},
    };
    struct rig r;

    if (!setup(&r))
        return;
    for (size_t i = 0; i < tap_count(cases); i++) {
        wend_command_options o = cases[i].o;

        o.size = sizeof o;
        tap_ok(wend_agent_add_command(r.agent, &o, &r.err) != WEND_OK &&
                   strstr(r.err.message, cases[i].message),
               "refused: %s: %s", cases[i].why, r.err.message);
    }
    rig_close(&r);
}

/* ---- Nothing is left ----------------------------------------------------- */

static int survivors(const char *mark)
{
    DIR *d = opendir("/proc");
    struct dirent *e;
    int count = 0;

    while (d && (e = readdir(d))) {
        char path[300], text[4096];
        FILE *f;
        size_t n;

        snprintf(path, sizeof path, "/proc/%s/cmdline", e->d_name);
        f = fopen(path, "r");
        n = f ? fread(text, 1, sizeof text - 1, f) : 0;
        if (f)
            fclose(f);
        count += n && memmem(text, n, mark, strlen(mark));
    }
    if (d)
        closedir(d);
    return count;
}

enum { CALLS = 3, MOMENTS_US = 90000, SEED = 4711 };

/* Calls of it stand beside each other. */
static bool setup_many(struct rig *r, const char *script)
{
    const char *argv[] = {"sh", "-c", script};
    wend_command_options o = {.size = sizeof o,
                              .name = "p",
                              .argv = argv,
                              .argv_count = 3,
                              .call_class = WEND_CLASS_READ};

    *r = (struct rig){
        .agent_options = {.approve = WEND_APPROVE_ALL, .cwd = dir}};
    return rig_open(r, NULL,
                    "script:{\"turns\":[{\"calls\":[{\"name\":\"p\"},{\"name\":"
                    "\"p\"},{\"name\":\"p\"}]},{\"text\":\"done\"}]}") &&
           wend_agent_add_command(r->agent, &o, &r->err) == WEND_OK;
}

static int count(const struct buf *all, const char *text)
{
    int n = 0;

    for (const char *at = all->ptr; at && (at = strstr(at, text)); at++)
        n++;
    return n;
}

/* Each call that was made or has begun has one end, and no other has. */
static bool ends_right(const struct buf *all, int *ended)
{
    int ends = 0, whole = count(all, "\"finish\":\"tool_calls\"");

    for (int i = 1; i <= CALLS; i++) {
        char start[80], end[80];

        snprintf(start, sizeof start,
                 "\"data\":{\"call\":\"call_%d\",\"name\":"
                 "\"p\",\"args\":",
                 i);
        snprintf(end, sizeof end,
                 "\"data\":{\"call\":\"call_%d\",\"name\":"
                 "\"p\",\"outcome\":",
                 i);
        if (count(all, start) != count(all, end) || count(all, end) > 1)
            return false;
        ends += count(all, end);
    }
    *ended += ends;
    return ends == count(all, "\"call_end\"") && (!whole || ends == CALLS);
}

static bool cancel_once(const char *mark, int i, unsigned moment_us, int *ended)
{
    char script[200];
    struct heard h;
    struct rig r;
    wend_run *run;
    bool right;

    /* Some of them do not listen to SIGTERM, which takes the grace. */
    snprintf(script, sizeof script, "setsid sh -c '%ssleep %s' & sleep %s",
             i % 15 == 7 ? "trap \"\" TERM; " : "", mark, mark);
    if (!setup_many(&r, script))
        return false;
    run = rig_start(&r, NULL);
    for (unsigned us = 0; us < moment_us; us += 700) {
        wend_runtime_pump(r.rt);
        usleep(700);
    }
    wend_run_cancel(run);
    if (i % 5 == 4) { /* nobody waits for its end */
        wend_run_free(run);
        rig_close(&r);
        return true;
    }
    listen_to(run, &h);
    right = ends_right(&h.all, ended);
    if (!right)
        printf("# after %u us:\n# %s\n", moment_us, h.all.ptr);
    heard_free(&h);
    wend_run_free(run);
    rig_close(&r);
    return right;
}

/* CANCEL_TRIES says how often. */
static void test_cancel(void)
{
    const char *text = getenv("CANCEL_TRIES");
    int tries = text ? atoi(text) : 30, bad = 0, ended = 0;
    unsigned seed = SEED;
    char mark[40];

    snprintf(mark, sizeof mark, "%d", 1000000 + getpid());
    for (int i = 0; i < tries; i++) {
        seed = seed * 1103515245 + 12345;
        bad += !cancel_once(mark, i, (seed >> 8) % MOMENTS_US, &ended);
    }
    tap_is_i64(bad, 0, "canceled at %d moments: each call has one end", tries);
    tap_ok(ended > tries, "most of them had begun (%d)", ended);
    for (int i = 0; i < 1000 && survivors(mark); i++)
        usleep(20000);
    tap_is_i64(survivors(mark), 0, "nothing is left");
}

int main(void)
{
    if (!mkdtemp(dir))
        return 1;
    unsetenv("LANG");
    unsetenv("LC_ALL");
    unsetenv("LC_CTYPE");
    unsetenv("TZ");
    test_rows();
    test_secrets();
    test_many_secrets();
    test_refused();
    test_cancel();
    rmdir(dir);
    return tap_done();
}
