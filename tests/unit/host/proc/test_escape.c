/*
 * test_escape.c - a program in the sandbox tries to get out.
 *
 * This program is both: the test, and with an argument the tool that makes
 * one attempt. Each must fail in the sandbox and succeed without it, else it
 * would prove nothing. As root all of it runs a second time as nobody.
 */
#include "escape_help.h"
#include "nobody_help.h"

enum { ESCAPED = 42, HELD = 43 };

static int attempt(char **argv)
{
    size_t i = (size_t)atoi(argv[1]);
    long r;

    outside = argv[2];
    shown = argv[3];
    host = atoi(argv[4]);
    errno = 0;
    r = attempts[i].fn();
    if (r < 0)
        printf("%s\n", strerror(errno));
    fflush(stdout);
    return r < 0 ? HELD : ESCAPED;
}

/* ---- The test --------------------------------------------------------------
 */

struct places {
    struct proc_world w;
    char outside[64], shown[64], program[80];
};

/* As it is before each attempt. */
static void prepare(const struct places *p)
{
    shell("cd %s && rm -rf * && echo secret >secret && echo victim >victim && "
          "cp /bin/true program && mkdir empty && cd %s && rm -f victim && "
          "echo victim >victim && chmod 644 victim && cd %s && rm -rf * && "
          "touch old-setuid && chmod 4755 old-setuid",
          p->outside, p->shown, p->w.dir);
}

static bool unchanged(const struct places *p)
{
    char command[500];

    snprintf(command, sizeof command,
             "test \"$(cd %s && ls | tr '\\n' ' ' && cat victim secret && "
             "stat -c %%a victim && cat %s/victim && stat -c %%a %s/victim)\" "
             "= \"$(printf 'empty program secret victim victim\\nsecret\\n644"
             "\\nvictim\\n644')\"",
             p->outside, p->shown, p->shown);
    return !system(command);
}

static int try_it(struct places *p, size_t i, struct proc_spec spec,
                  struct proc_seen *s)
{
    char number[20], pid[20];
    const char *argv[] = {p->program, number, p->outside, p->shown, pid, NULL};
    const char *writable[] = {p->w.dir, NULL};
    const char *readable[] = {p->shown, getenv("WEND_SETUID"), NULL};
    const char *env[] = {"PATH=/usr/bin:/bin", "ASAN_OPTIONS=detect_leaks=0",
                         NULL};
    wend_error err = {0};

    snprintf(number, sizeof number, "%zu", i);
    snprintf(pid, sizeof pid, "%d", getpid());
    spec.argv = argv;
    spec.env = env;
    spec.cwd = p->w.dir;
    spec.writable = writable;
    spec.readable = readable;
    spec.limits.memory_bytes = UINT64_MAX; /* sanitizers take much */
    if (proc_seen_start(&p->w, s, &spec, &err) != WEND_OK) {
        snprintf(s->message, sizeof s->message, "%s", err.message);
        return -1;
    }
    proc_seen_wait(&p->w, s);
    return s->how == PROC_EXITED ? s->code : s->how == PROC_CROWD ? HELD : -1;
}

static bool wanted(enum control c)
{
    bool root = !geteuid();

    return c == ANYONE || (c == ROOT && root) ||
           (c == USER && getenv("WEND_SETUID"));
}

/* Also as with the Landlock of Debian 12: neither truncate nor signals. */
static void test_attempts(struct places *p, int abi, bool mounts_off)
{
    for (size_t i = 0; i < tap_count(attempts); i++) {
        struct proc_spec on = {.landlock_abi_max = abi,
                               .mounts_off = mounts_off};
        struct proc_spec off = {.sandbox_off = true};
        struct proc_seen s;
        int code;

        prepare(p);
        code = try_it(p, i, on, &s);
        tap_ok(code == HELD && unchanged(p), "held: %s (%d, %s%.*s)",
               attempts[i].name, code, s.message,
               s.out[1].len ? (int)s.out[1].len - 1 : 0,
               s.out[1].len ? s.out[1].ptr : "");
        proc_seen_free(&s);
        if (mounts_off || !wanted(attempts[i].control))
            continue;
        prepare(p);
        code = try_it(p, i, off, &s);
        tap_ok(code == ESCAPED, "the control gets out: %s (%d, %s%.*s)",
               attempts[i].name, code, s.message,
               s.out[1].len ? (int)s.out[1].len - 1 : 0,
               s.out[1].len ? s.out[1].ptr : "");
        proc_seen_free(&s);
    }
}

/* What a tool needs must still work. */
static void test_work(struct places *p, int abi, bool mounts_off)
{
    static const char *const rows[] = {
        "echo x > f && chmod 755 f && test -x f && touch -d 2001-01-01 f",
        "mkdir -p a/b && echo x > a/f && mv a/f a/b/f && cp -p a/b/f g",
        "echo x > f && ln f g && ln -s f h && cat g h && chmod 600 h",
        "mkdir a; touch a/f; chown $(id -u):$(id -g) a/f; chmod -R go= a",
        "mkdir a && cd a && touch f && chmod 640 f && chmod 600 ./f ../a/f",
        "touch f; tar cf t.tar f && rm f && tar xf t.tar && test -f f",
        "echo long > f && echo s > f && test \"$(cat f)\" = s",
        "echo long > f && : > f && truncate -s 3 f || test $? = 1",
        "t=$(mktemp) && echo x > $t && chmod 700 $t && rm $t",
        "cat /etc/passwd /proc/self/status /dev/null > /dev/null",
        "sleep 5 & kill $! && wait $! ; test $? = 143",
        "setsid -w sh -c 'kill -TERM 0'; sh -c 'trap : USR1; kill -USR1 $$; "
        "exit 0'",
        "setsid sh -c 'sleep 5 & kill -TERM $!'",
        "nice -n 5 true && ulimit -n 64 && true | cat",
        "mkdir d && python3 -c 'import ctypes,os,sys\n"
        "c=ctypes.CDLL(None); fd=c.inotify_init1(0)\n"
        "w=c.inotify_add_watch(fd, b\"d\", 256); assert w > 0\n"
        "assert c.inotify_add_watch(fd, os.getcwd().encode(), 256) > 0\n"
        "assert c.inotify_add_watch(99, b\"d\", 256) < 0\n"
        "open(\"d/new\", \"w\"); assert b\"new\" in os.read(fd, 4096)\n"
        "assert c.inotify_rm_watch(fd, w) == 0'",
        "perl -e 'socketpair(A,B,1,1,0) or die; syswrite A,1; sysread B,$x,1'",
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct proc_spec spec = {.landlock_abi_max = abi,
                                 .mounts_off = mounts_off};
        struct proc_seen s;
        bool moves = strstr(rows[i], "mv a/f"); /* across: since version 2 */

        if (abi == 1 && moves)
            continue;
        prepare(p);
        proc_sh(&p->w, &s, rows[i], &spec);
        proc_seen_wait(&p->w, &s);
        tap_ok(s.how == PROC_EXITED && !s.code, "works: %s: %s%.*s", rows[i],
               s.message, (int)s.out[2].len, s.out[2].len ? s.out[2].ptr : "");
        proc_seen_free(&s);
    }
}

static void test_missing(struct places *p)
{
    struct proc_spec spec = {.landlock_abi_max = -1};
    struct proc_seen s;

    proc_sh(&p->w, &s, "echo ran", &spec);
    proc_seen_wait(&p->w, &s);
    tap_ok(s.how == PROC_NOT_STARTED && !s.out[1].len &&
               strstr(s.message, "Landlock") &&
               strstr(s.message, "--sandbox off"),
           "without Landlock nothing starts: %s", s.message);
    proc_seen_free(&s);
}

static void test_network(struct places *p)
{
    struct proc_spec spec = {.network = true};
    struct proc_seen s;
    size_t any = 0, local = 0;

    for (size_t i = 0; i < tap_count(attempts); i++) {
        if (attempts[i].fn == any_socket)
            any = i;
        if (attempts[i].fn == unix_socket)
            local = i;
    }
    tap_is_i64(try_it(p, any, spec, &s), ESCAPED, "the network, if labelled");
    proc_seen_free(&s);
    tap_is_i64(try_it(p, local, spec, &s), HELD, "but no unix sockets");
    proc_seen_free(&s);
}

static void suite(void)
{
    struct places p = {.outside = "/tmp/wend-outside-XXXXXX",
                       .shown = "/tmp/wend-shown-XXXXXX"};

    proc_world_begin(&p.w);
    if (!mkdtemp(p.outside) || !mkdtemp(p.shown)) {
        tap_ok(false, "folders");
        return;
    }
    snprintf(p.program, sizeof p.program, "%s/test", p.shown);
    shell("cp /proc/%d/exe %s && chmod 755 %s %s", getpid(), p.program,
          p.program, p.shown);
    if (getenv("WEND_SETUID"))
        shell("ln -s %s/id %s/setuid", getenv("WEND_SETUID"), p.shown);
    /* A repository, for the sake of which it gets namespaces of its own. */
    shell("mkdir -p %s/.git/hooks && touch %s/.git/config", p.w.dir, p.w.dir);
    test_attempts(&p, 0, false);
    test_attempts(&p, 2, true);
    for (int abi = 0; abi <= 3; abi++) {
        test_work(&p, abi, false);
        test_work(&p, abi, true);
    }
    test_missing(&p);
    test_network(&p);
    shell("chmod -R u+rwx %s %s; rm -rf %s %s", p.outside, p.shown, p.outside,
          p.shown);
    proc_world_end(&p.w);
}

int main(int argc, char **argv)
{
    if (argc == 5)
        return attempt(argv);
    suite();
    if (!geteuid())
        as_nobody();
    return tap_done();
}
