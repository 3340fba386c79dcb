/*
 * test_proc_hide.c - files and folders that the sandbox hides from a program.
 *
 * Each attempt to read them works where they are not hidden, and fails where
 * they are. Where no mount namespace can be made the program is told.
 */
#include "nobody_help.h"
#include "proc_help.h"

static const char setup[] =
    "mkdir -p private/sub deep/er open && echo secret >private/a && "
    "echo secret >private/sub/b && echo secret >key && "
    "echo secret >deep/er/c && echo shown >open/d && ln -s private link && "
    "ln -s key link-to-key";

static const char *const attempts[] = {
    "cat private/a",
    "cat private/sub/b",
    "cat key",
    "cat deep/er/c",
    "cat link/a",
    "cat link-to-key",
    "cat /proc/self/cwd/private/a",
    "cat /proc/self/root$PWD/key",
    "cat /proc/$PPID/cwd/key /proc/$PPID/root$PWD/key 2>/dev/null || cat key",
    "cd private && cat a",
    "exec 3<private && cat /proc/self/fd/3/a",
    "ln key k2 && cat k2",
    "cp key k2 && cat k2",
    "mv key k2 && cat k2",
    "mv private p2 && cat p2/a",
    "mv deep d2 && cat d2/er/c",
    "chmod 700 private; cat private/a",
    "chmod 600 key; cat key",
    "tar cf - . | tr -d '\\0' | grep secret",
    "grep -rh secret .",
};

/* What is not hidden works as before. */
static const char *const work[] = {
    "test \"$(cat open/d)\" = shown && echo x >open/e && echo y >new",
    "mkdir n && mv open n/open && cat n/open/d && mv n/open open",
    "test -z \"$(ls -A $TMPDIR)\" && echo x >$TMPDIR/hidden",
    "test -e private && test -e key",
};

static struct proc_spec spec_of(const char *const *hidden, bool mounts_off)
{
    return (struct proc_spec){.hidden = hidden, .mounts_off = mounts_off};
}

static void begin(struct proc_world *w)
{
    shell("cd %s && chmod -R u+rwx . && rm -rf * && %s", w->dir, setup);
}

static bool has(const struct buf *b, const char *text)
{
    return b->len && memmem(b->ptr, b->len, text, strlen(text));
}

static void test_attempts(struct proc_world *w, const char *const *hidden)
{
    const char *const none[] = {NULL};

    for (size_t i = 0; i < tap_count(attempts); i++) {
        struct proc_spec on = spec_of(hidden, false),
                         off = spec_of(none, false);
        struct proc_seen s;

        begin(w);
        proc_sh(w, &s, attempts[i], &on);
        proc_seen_wait(w, &s);
        tap_ok(s.how == PROC_EXITED && !has(&s.out[1], "secret") &&
                   !has(&s.out[2], "kept from reading"),
               "hidden: %s", attempts[i]);
        proc_seen_free(&s);
        begin(w);
        proc_sh(w, &s, attempts[i], &off);
        proc_seen_wait(w, &s);
        tap_ok(has(&s.out[1], "secret"), "the control reads: %s", attempts[i]);
        proc_seen_free(&s);
    }
}

static void test_work(struct proc_world *w, const char *const *hidden)
{
    for (size_t i = 0; i < tap_count(work); i++) {
        struct proc_spec spec = spec_of(hidden, false);
        struct proc_seen s;

        begin(w);
        proc_sh(w, &s, work[i], &spec);
        proc_seen_wait(w, &s);
        tap_ok(s.how == PROC_EXITED && !s.code, "works: %s: %s%.*s", work[i],
               s.message, (int)s.out[2].len, s.out[2].len ? s.out[2].ptr : "");
        proc_seen_free(&s);
    }
}

static void test_told(struct proc_world *w, const char *const *hidden)
{
    struct proc_spec spec = spec_of(hidden, true);
    struct proc_seen s;

    begin(w);
    proc_sh(w, &s, "cat key", &spec);
    proc_seen_wait(w, &s);
    tap_ok(has(&s.out[1], "secret") && has(&s.out[2], "/private is kept") &&
               has(&s.out[2], "/key is kept") && !has(&s.out[2], "/absent"),
           "without mounts it is told: %.*s", (int)s.out[2].len,
           s.out[2].len ? s.out[2].ptr : "");
    proc_seen_free(&s);
}

int main(void)
{
    struct proc_world w;
    char paths[4][100];
    static const char *const names[] = {"private", "key", "deep/er/c",
                                        "absent"};
    const char *hidden[] = {paths[0], paths[1], paths[2], paths[3], NULL};
    bool can = !system(geteuid() ? "unshare -Um true 2>/dev/null"
                                 : "unshare -m true 2>/dev/null");

    proc_world_begin(&w);
    for (size_t i = 0; i < 4; i++)
        snprintf(paths[i], sizeof paths[i], "%s/%s", w.dir, names[i]);
    tap_is_i64(procs_hide(w.procs), can, "what it says of itself is so");
    tap_is_i64(procs_hide(w.procs), can, "  and again");
    if (can) {
        test_attempts(&w, hidden);
        test_work(&w, hidden);
    } else {
        tap_ok(true, "hidden # SKIP no mount namespace can be made here");
    }
    test_told(&w, hidden);
    proc_world_end(&w);
    if (!geteuid())
        as_nobody();
    return tap_done();
}
