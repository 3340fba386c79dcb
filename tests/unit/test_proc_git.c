/*
 * test_proc_git.c - programs in the sandbox do not leave code behind that git
 * runs: config and hooks of repositories are as they were.
 *
 * Each attempt works where the spec allows it, and is undone and told where
 * it does not.
 */
#include "nobody_help.h"
#include "proc_help.h"

/* A repository `r` with a submodule's folder, a worktree and a nested one. */
static const char setup[] =
    "rm -rf * .git && git init -q . && "
    "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x && "
    "git init -q nested && mkdir -p .git/modules/a/b && "
    "cp .git/config .git/HEAD .git/modules/a/b && "
    "git worktree add -q tree >/dev/null 2>&1 && "
    "git init -q hidden && mv hidden/.git hidden/git && "
    "printf '#!/bin/sh\\ntrue\\n' >.git/hooks/pre-push && "
    "chmod 755 .git/hooks/pre-push && cp -a . ../before";

static const struct {
    const char *why, *text;
    const char *path; /* that is told of; NULL = nothing changes */
    const char *seen; /* a test that holds where it is allowed */
} rows[] = {
    {"an option", "git config core.fsmonitor evil", ".git/config",
     "grep -q evil .git/config"},
    {"a remote", "git remote add o /x", ".git/config",
     "grep -q remote .git/config"},
    {"a config that is written", "echo '[x]' >>.git/config", ".git/config",
     "grep -q '\\[x]' .git/config"},
    {"a config that is removed", "rm .git/config", ".git/config",
     "! test -e .git/config"},
    {"a config that becomes a folder",
     "rm .git/config; mkdir .git/config; touch .git/config/x", ".git/config",
     "test -d .git/config"},
    {"a config that becomes a link", "echo '[x]' >e; ln -sf ../e .git/config",
     ".git/config", "test -L .git/config"},
    {"a config of a worktree", "echo '[x]' >.git/config.worktree",
     ".git/config.worktree", "test -e .git/config.worktree"},
    {"a hook", "echo evil >.git/hooks/post-checkout",
     ".git/hooks/post-checkout", "test -e .git/hooks/post-checkout"},
    {"a hook by moving one",
     "mv .git/hooks/pre-commit.sample .git/hooks/pre-commit",
     ".git/hooks/pre-commit", "test -e .git/hooks/pre-commit"},
    {"a hook that is changed", "echo evil >>.git/hooks/pre-push",
     ".git/hooks/pre-push", "grep -q evil .git/hooks/pre-push"},
    {"a hook that is switched off", "chmod 644 .git/hooks/pre-push",
     ".git/hooks/pre-push", "! test -x .git/hooks/pre-push"},
    {"hooks that become a link",
     "mkdir h; echo evil >h/pre-push; mv .git/hooks .git/old; "
     "ln -s ../h .git/hooks",
     ".git/hooks", "test -L .git/hooks"},
    {"a nested repository", "echo '[x]' >>nested/.git/config",
     "nested/.git/config", "grep -q '\\[x]' nested/.git/config"},
    {"a submodule", "echo '[x]' >>.git/modules/a/b/config",
     ".git/modules/a/b/config", "grep -q '\\[x]' .git/modules/a/b/config"},
    {"a worktree", "echo '[x]' >.git/worktrees/tree/config.worktree",
     ".git/worktrees/tree/config.worktree",
     "test -e .git/worktrees/tree/config.worktree"},
    {"where a worktree's repository is",
     "echo evil >.git/worktrees/tree/commondir",
     ".git/worktrees/tree/commondir",
     "grep -q evil .git/worktrees/tree/commondir"},
    {"where a repository is", "echo 'gitdir: ../nested/.git' >tree/.git",
     "tree/.git", "grep -q nested tree/.git"},
    {"another repository in its place",
     "cp -a .git other; echo '[x]' >>other/config; mv .git gone; "
     "mv other .git",
     ".git/config", "grep -q '\\[x]' .git/config"},
    {"a repository made later", "git init -q late", "late/.git/config",
     "test -e late/.git/config"},
    {"one that is made in another place",
     "git init -q e; echo '[x]' >>e/.git/config; mv e/.git e2; "
     "echo 'gitdir: ../e2' >e/.git",
     "e/.git", "test -e e/.git"},
    {"one that is far down",
     "mkdir -p 1/2/3/4/5/6/7/8 && git init -q 1/2/3/4/5/6/7/8",
     "1/2/3/4/5/6/7/8/.git/config", "test -e 1/2/3/4/5/6/7/8/.git/config"},
    {"one that was made before, without that name",
     "mv hidden late && mv "
     "late/git late/.git",
     "late/.git/config", "test -e late/.git/config"},
    {"names in the way of putting it back",
     "mkdir -p .git/config.refused/x .git/hooks/e.refused/x; "
     "echo '[x]' >>.git/config; echo evil >.git/hooks/e",
     ".git/hooks/e", "test -e .git/hooks/e"},
    {"no right to put it back", "echo '[x]' >>.git/config; chmod 555 .git",
     ".git/config", "grep -q '\\[x]' .git/config"},
    {"a commit",
     "echo x >f && git add f && "
     "git -c user.name=a -c user.email=a@b commit -qm y && git checkout -q -b "
     "z",
     NULL, "git rev-parse -q --verify z >/dev/null"},
    {"no repository at all", "rm -rf .git nested tree", NULL, "! test -e .git"},
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
    "\\) ! -path './gone/*' ! -path './.git/old/*' | sort | while read f; do "
    "ls -ld \"$f\" | cut -c1-10; echo \"$f\"; cat \"$f\"; done); done >../all; "
    "test \"$(sed -n '1,/^$/p' ../all | wc -l)\" -gt 0 && "
    "n=$(wc -l <../all) && test \"$(head -n $((n/2)) ../all)\" = "
    "\"$(tail -n $((n/2)) ../all)\"";

static void test_rows(struct proc_world *w, bool allowed)
{
    char dir[80];
    const char *dirs[] = {dir, NULL};
    const char *env[] = {"PATH=/usr/bin:/bin", "HOME=/nonexistent",
                         "GIT_CONFIG_NOSYSTEM=1", NULL};

    snprintf(dir, sizeof dir, "%s/r", w->dir);
    for (size_t i = 0; i < tap_count(rows); i++) {
        struct proc_spec spec = {
            .cwd = dir, .env = env, .writable = dirs, .git_writable = allowed};
        struct proc_seen s;
        wend_str err;
        bool said;

        if (!holds(w->dir, "chmod -R u+rwx . && rm -rf r before && mkdir r") ||
            !holds(dir, setup)) {
            tap_ok(false, "a repository");
            return;
        }
        usleep(20000); /* times of files are coarse */
        proc_sh(w, &s, rows[i].text, &spec);
        proc_seen_wait(w, &s);
        err = buf_view(&s.out[2]);
        said = rows[i].path && err.len &&
               memmem(err.ptr, err.len, rows[i].path, strlen(rows[i].path)) &&
               memmem(err.ptr, err.len, "write_file(.git/*)", 18);
        if (allowed || !rows[i].path)
            tap_ok(s.how == PROC_EXITED && !s.code && !said &&
                       holds(dir, rows[i].seen),
                   "%s: %s: %s%.*s", allowed ? "allowed" : "always",
                   rows[i].why, s.message, (int)err.len,
                   err.len ? err.ptr : "");
        else
            tap_ok(s.ends == 1 && said && !holds(dir, rows[i].seen) &&
                       holds(dir, same),
                   "undone and told: %s: %.*s", rows[i].why, (int)err.len,
                   err.len ? err.ptr : "");
        proc_seen_free(&s);
    }
}

int main(void)
{
    struct proc_world w;

    proc_world_begin(&w);
    test_rows(&w, false);
    test_rows(&w, true);
    proc_world_end(&w);
    if (!geteuid())
        as_nobody();
    return tap_done();
}
