/*
 * test_proc_git.c - programs in the sandbox do not leave code behind that git
 * runs: config and hooks of repositories are as they were.
 *
 * Each attempt works where the spec allows it. Where it does not, it fails
 * while the program runs if it is about a path that a mount can hold; else,
 * and where there are no mounts, it is undone and told after the end.
 */
#include "nobody_help.h"
#include "proc_help.h"

/* A repository `r` with a submodule's folder, a worktree and a nested one. */
static const char setup[] =
    "git init -q . && "
    "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x && "
    "git init -q nested && mkdir -p .git/modules/a/b && "
    "cp .git/config .git/HEAD .git/modules/a/b && "
    "git worktree add -q tree >/dev/null 2>&1 && "
    "git init -q hidden && mv hidden/.git hidden/git && "
    "mkdir leaf && touch leaf/f && "
    "printf '#!/bin/sh\\ntrue\\n' >.git/hooks/pre-push && "
    "chmod 755 .git/hooks/pre-push && cp -a . ../before";

enum { TRIES = 4 };
enum way { MOUNTED, COMPARED, ALLOWED };

static const struct {
    const char *why, *text;
    const char *path; /* that is told of; NULL = nothing changes */
    const char *seen; /* a test that holds where it is allowed */
    bool made;        /* a name that was not there: no mount can hold it */
} rows[] = {
    {"an option", "git config core.fsmonitor evil", ".git/config",
     "grep -q evil .git/config", false},
    {"a remote", "git remote add o /x", ".git/config",
     "grep -q remote .git/config", false},
    {"a config that is written", "echo '[x]' >>.git/config", ".git/config",
     "grep -q '\\[x]' .git/config", false},
    {"a config that is removed", "rm .git/config", ".git/config",
     "! test -e .git/config", false},
    {"a config that becomes a folder",
     "rm .git/config; mkdir .git/config; touch .git/config/x", ".git/config",
     "test -d .git/config", false},
    {"a config that becomes a link", "echo '[x]' >e; ln -sf ../e .git/config",
     ".git/config", "test -L .git/config", false},
    {"a config of a worktree", "echo '[x]' >.git/config.worktree",
     ".git/config.worktree", "test -e .git/config.worktree", true},
    {"a hook", "echo evil >.git/hooks/post-checkout",
     ".git/hooks/post-checkout", "test -e .git/hooks/post-checkout", false},
    {"a hook by moving one",
     "mv .git/hooks/pre-commit.sample .git/hooks/pre-commit",
     ".git/hooks/pre-commit", "test -e .git/hooks/pre-commit", false},
    {"a hook that is changed", "echo evil >>.git/hooks/pre-push",
     ".git/hooks/pre-push", "grep -q evil .git/hooks/pre-push", false},
    {"a hook that is switched off", "chmod 644 .git/hooks/pre-push",
     ".git/hooks/pre-push", "! test -x .git/hooks/pre-push", false},
    {"hooks that become a link",
     "mkdir h; echo evil >h/pre-push; mv .git/hooks .git/old; "
     "ln -s ../h .git/hooks",
     ".git/hooks", "test -L .git/hooks", false},
    {"a nested repository", "echo '[x]' >>nested/.git/config",
     "nested/.git/config", "grep -q '\\[x]' nested/.git/config", false},
    {"a submodule", "echo '[x]' >>.git/modules/a/b/config",
     ".git/modules/a/b/config", "grep -q '\\[x]' .git/modules/a/b/config",
     false},
    {"a worktree", "echo '[x]' >.git/worktrees/tree/config.worktree",
     ".git/worktrees/tree/config.worktree",
     "test -e .git/worktrees/tree/config.worktree", true},
    {"where a worktree's repository is",
     "echo evil >.git/worktrees/tree/commondir",
     ".git/worktrees/tree/commondir",
     "grep -q evil .git/worktrees/tree/commondir", false},
    {"where a repository is", "echo 'gitdir: ../nested/.git' >tree/.git",
     "tree/.git", "grep -q nested tree/.git", false},
    {"another repository in its place",
     "cp -a .git other; echo '[x]' >>other/config; mv .git gone; "
     "mv other .git",
     ".git/config", "grep -q '\\[x]' .git/config", false},
    {"a repository made later", "git init -q late", "late/.git/config",
     "test -e late/.git/config", true},
    {"one that is made in another place",
     "git init -q e; echo '[x]' >>e/.git/config; mv e/.git e2; "
     "echo 'gitdir: ../e2' >e/.git",
     "e/.git", "test -e e/.git", true},
    {"one that is far down",
     "mkdir -p 1/2/3/4/5/6/7/8 && git init -q 1/2/3/4/5/6/7/8",
     "1/2/3/4/5/6/7/8/.git/config", "test -e 1/2/3/4/5/6/7/8/.git/config",
     true},
    {"one that was made before, without that name",
     "mv hidden late && mv "
     "late/git late/.git",
     "late/.git/config", "test -e late/.git/config", true},
    {"one in a folder that was there",
     "mkdir leaf/.git && cp .git/HEAD .git/config leaf/.git",
     "leaf/.git/config", "test -e leaf/.git/config", true},
    {"a way to another one in a folder that was there",
     "echo 'gitdir: ../hidden/git' >leaf/.git", "leaf/.git",
     "test -e leaf/.git", true},
    {"the same by a link", "ln -s ../hidden/git leaf/.git", "leaf/.git",
     "test -L leaf/.git", true},
    {"the same by a name that leads nowhere yet", "ln -s ../nowhere leaf/.git",
     "leaf/.git", "test -L leaf/.git", true},
    {"another common folder", "echo ../hidden/git >.git/commondir",
     ".git/commondir", "test -e .git/commondir", true},
    {"names in the way of putting it back",
     "mkdir -p .git/config.refused/x .git/hooks/e.refused/x; "
     "echo '[x]' >>.git/config; echo evil >.git/hooks/e",
     ".git/hooks/e", "test -e .git/hooks/e", false},
    {"no right to put it back", "echo '[x]' >>.git/config; chmod 555 .git",
     ".git/config", "grep -q '\\[x]' .git/config", false},
    {"a commit",
     "echo x >f && git add f && "
     "git -c user.name=a -c user.email=a@b commit -qm y && git checkout -q -b "
     "z",
     NULL, "git rev-parse -q --verify z >/dev/null", false},
    {"no repository at all", "rm -rf .git nested tree", NULL, "! test -e .git",
     false},
};

static bool holds(const char *dir, const char *test)
{
    char command[600];

    snprintf(command, sizeof command, "cd %s && %s", dir, test);
    return !system(command);
}

/* All that git runs, by content and mode. */
static const char *const same =
    "for d in . ../before; do (cd $d && find . -path '*.git*' "
    "\\( -name config -o -name config.worktree -o -name commondir -o "
    "-name .git -type f -o -path '*/hooks/*' ! -name '*.sample' "
    "! -path '*.refused*' "
    "\\) ! -path './gone/*' ! -path './.git/old/*' "
    "! -path './.git/other/*' | sort | while read f; do "
    "ls -ld \"$f\" | cut -c1-10; echo \"$f\"; cat \"$f\"; done); done >../all; "
    "test \"$(sed -n '1,/^$/p' ../all | wc -l)\" -gt 0 && "
    "n=$(wc -l <../all) && test \"$(head -n $((n/2)) ../all)\" = "
    "\"$(tail -n $((n/2)) ../all)\"";

/* Containers often do not allow it. */
static bool has_namespaces(void)
{
    return !system(geteuid() ? "unshare -Um true 2>/dev/null"
                             : "unshare -m true 2>/dev/null");
}

static bool said(const struct proc_seen *s, const char *path)
{
    wend_str err = buf_view(&s->out[2]);

    return path && err.len && memmem(err.ptr, err.len, path, strlen(path)) &&
           memmem(err.ptr, err.len, "write_file(.git/*)", 18);
}

/* The text, and then whether it did what it was to do, in its own eyes. */
static void attempt(struct proc_world *w, const char *dir, size_t i,
                    enum way way, struct proc_seen *s)
{
    const char *dirs[] = {dir, NULL};
    const char *env[] = {"PATH=/usr/bin:/bin", "HOME=/nonexistent",
                         "GIT_CONFIG_NOSYSTEM=1", NULL};
    struct proc_spec spec = {
        .cwd = dir,
        .env = env,
        .writable = dirs,
        .git_writable = way == ALLOWED,
        .mounts_off = way == COMPARED && has_namespaces(),
    };
    char text[600];

    snprintf(text, sizeof text,
             "%s\n code=$?; if %s; then echo did; fi; exit "
             "$code",
             rows[i].text, rows[i].seen);
    proc_sh(w, s, text, &spec);
    proc_seen_wait(w, s);
}

static bool test_row(struct proc_world *w, const char *dir, size_t i,
                     enum way way, bool last)
{
    static const char *const names[] = {"mounted", "compared", "allowed"};
    bool free = way == ALLOWED || (!rows[i].path && way == COMPARED) ||
                !strcmp(rows[i].why, "a commit");
    bool held = !free && way == MOUNTED && !rows[i].made, told, ok;
    struct proc_seen s;
    wend_str err;

    attempt(w, dir, i, way, &s);
    told = said(&s, rows[i].path);
    err = buf_view(&s.out[2]);
    if (free)
        ok = s.how == PROC_EXITED && !s.code && s.out[1].len && !told &&
             holds(dir, rows[i].seen);
    else
        ok = s.ends == 1 && (s.out[1].len != 0) == !held && told == !held &&
             !holds(dir, rows[i].seen) && holds(dir, same);
    if (ok || last)
        tap_ok(ok, "%s, %s: %s: %s%.*s", names[way],
               free   ? "done"
               : held ? "fails"
                      : "undone and told",
               rows[i].why, s.message, (int)err.len, err.len ? err.ptr : "");
    proc_seen_free(&s);
    return ok;
}

/* Where the machine is so busy that not all is found before the start, it is
 * tried again: then less is promised. */
static void test_rows(struct proc_world *w, enum way way)
{
    char dir[80];

    if (way == MOUNTED && !has_namespaces()) {
        tap_ok(true, "mounted # SKIP no mount namespace can be made here");
        return;
    }
    snprintf(dir, sizeof dir, "%s/r", w->dir);
    for (size_t i = 0; i < tap_count(rows); i++)
        for (int tries = 1; tries <= TRIES; tries++) {
            if (!holds(w->dir,
                       "chmod -R u+rwx r && rm -rf r && cp -a before r")) {
                tap_ok(false, "a repository");
                return;
            }
            usleep(20000); /* times of files are coarse */
            if (test_row(w, dir, i, way, tries == TRIES))
                break;
        }
}

/* More folders than are looked at before the start: what is changed in one of
 * them is noticed nevertheless, and what is not changed stays. */
static void test_large(struct proc_world *w)
{
    char dir[80];
    const char *dirs[] = {dir, NULL};
    struct proc_spec spec = {.cwd = dir, .writable = dirs};
    struct proc_seen s;

    snprintf(dir, sizeof dir, "%s/large", w->dir);
    if (!holds(w->dir,
               "rm -rf large && mkdir large && cd large && mkdir d && cd d && "
               "seq 5000 | xargs mkdir && for i in 1 2500 4999 5000; do "
               "echo gitdir: ../../other >$i/.git; done")) {
        tap_ok(false, "a large folder");
        return;
    }
    usleep(20000);
    proc_sh(w, &s,
            "for i in 1 2500 4999; do echo gitdir: ../../evil >d/$i/.git; "
            "done",
            &spec);
    proc_seen_wait(w, &s);
    tap_ok(said(&s, "d/1/.git") && said(&s, "d/2500/.git") &&
               said(&s, "d/4999/.git") && !said(&s, "d/5000/.git"),
           "a large workspace: told");
    tap_ok(holds(dir, "! grep -q evil d/*/.git && test -f d/5000/.git"),
           "a large workspace: undone");
    proc_seen_free(&s);
    holds(w->dir, "rm -rf large");
}

/* Root without the right to mount, as in most containers: it starts, and is
 * compared. */
static void test_fallback(void)
{
    char command[200];
    FILE *f;

    snprintf(command, sizeof command,
             "setpriv --bounding-set -sys_admin --inh-caps -sys_admin "
             "/proc/%d/exe fallback 2>&1",
             getpid());
    f = popen(command, "r");
    tap_quote("no mounts", f);
    tap_is_i64(f ? pclose(f) : -1, 0, "the same without the right to mount");
}

int main(int argc, char **argv)
{
    struct proc_world w;
    char dir[80];

    (void)argv;
    proc_world_begin(&w);
    snprintf(dir, sizeof dir, "%s/r", w.dir);
    tap_ok(holds(w.dir, "mkdir r") && holds(dir, setup), "a repository");
    if (argc == 1) {
        test_rows(&w, MOUNTED);
        test_rows(&w, ALLOWED);
        test_large(&w);
    } else {
        tap_ok(!has_namespaces(), "no mount namespace");
    }
    test_rows(&w, COMPARED);
    proc_world_end(&w);
    if (argc == 1 && !geteuid()) {
        test_fallback();
        as_nobody();
    }
    return tap_done();
}
