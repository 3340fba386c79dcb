/*
 * test_git_status.c - which files of a repository are changed, as git says;
 * and that the programs that a hostile repository names do not run.
 */
#include "host/git_status.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/json.h"
#include "fault.h"
#include "tap.h"

enum { LONG_MS = 20000 }; /* whatever else the machine does */

static const struct mem plain;
static char base[] = "/tmp/wend-test-XXXXXX";

#define COMMIT "git -c user.name=a -c user.email=a@b commit -q -m x"
#define ONE "git init -q -b b . && echo 1 >f && git add f && " COMMIT
/* What it runs leaves a mark, and would make the change of f disappear. */
#define HOSTILE "echo 2 >f && touch -d 2001-01-01 f && "

static const struct {
    const char *name, *setup; /* in a folder of its own */
    const char *cwd;          /* below it */
    const char *json;         /* the members; "" for none */
} rows[] = {
    {"no repository", "true", "", ""},
    {"nothing is changed", ONE, "", ""},
    {"changed, staged, removed, new",
     ONE " && echo 1 >g && echo 1 >h && git add g h && " COMMIT
         " && echo 22 >f && echo 22 >g && git add g && rm h && echo 1 >i",
     "", "\"dirty\":[\" M f\",\"M  g\",\" D h\",\"?? i\"]"},
    {"no commit yet", "git init -q . && echo 1 >f && git add f", "",
     "\"dirty\":[\"A  f\"]"},
    {"names are those from the root", ONE " && mkdir -p in/ner && echo >in/x",
     "/in/ner", "\"dirty\":[\"?? in/\"]"},
    {"any bytes of a name",
     ONE " && touch 'a b' 'q\"' \"$(printf 'n\\nl')\" \"$(printf '\\377')\"",
     "",
     "\"dirty\":[\"?? a b\",\"?? n\\nl\",\"?? q\\\"\",\"?? \xef\xbf\xbd\"]"},
    {"a file that was moved counts as two", ONE " && git mv f g", "",
     "\"dirty\":[\"D  f\",\"A  g\"]"},
    {"20 are named", ONE " && touch $(seq -w 1 25)", "",
     "\"dirty\":[\"?? 01\",\"?? 02\",\"?? 03\",\"?? 04\",\"?? 05\",\"?? 06\","
     "\"?? 07\",\"?? 08\",\"?? 09\",\"?? 10\",\"?? 11\",\"?? 12\",\"?? 13\","
     "\"?? 14\",\"?? 15\",\"?? 16\",\"?? 17\",\"?? 18\",\"?? 19\",\"?? 20\"],"
     "\"dirty_more\":5"},
    {"ignored files are not", ONE " && echo '*.o' >.gitignore && touch x.o", "",
     "\"dirty\":[\"?? .gitignore\"]"},
    {"a worktree",
     ONE " && git worktree add -q ../tree-$$ >/dev/null 2>&1 && "
         "mv ../tree-$$ w && git worktree repair w && "
         "echo 22 >w/f",
     "/w", "\"dirty\":[\" M f\"]"},
    {"a submodule has a repository of its own",
     "git init -q s && cd s && " ONE
     " && cd .. && git init -q m && cd m && git -c protocol.file.allow=always "
     "submodule -q add ../s s && " COMMIT " && echo 22 >s/f",
     "/m/s", "\"dirty\":[\" M f\"]"},
    {"... which the one around it does not ask",
     "git init -q s && cd s && " ONE
     " && cd .. && git init -q m && cd m && git -c protocol.file.allow=always "
     "submodule -q add ../s s && " COMMIT " && echo 22 >s/f",
     "/m", ""},
    {"a .git that leads nowhere", "echo 'gitdir: ../x' >.git", "", ""},
    {"a damaged repository", ONE " && echo x >.git/index", "", ""},
    {"a repository that says where its files are",
     ONE " && git config core.worktree /etc && echo 22 >f", "",
     "\"dirty\":[\" M f\"]"},
};

/* The control is git as a user would run it: it leaves the mark. */
static const struct {
    const char *name, *setup;
} hostile[] = {
    {"a monitor of files",
     "git config core.fsmonitor ./evil && git update-index --fsmonitor"},
    {"a filter", "git config filter.x.clean ./evil && "
                 "echo 'f filter=x' >.git/info/attributes"},
    {"a filter that stays", "git config filter.x.process ./evil && "
                            "echo 'f filter=x' >.git/info/attributes"},
    {"a filter of a config that is included",
     "printf '[filter \"x\"]\\n\\tclean = ./evil\\n' >.git/more && "
     "git config include.path more && "
     "echo 'f filter=x' >.git/info/attributes"},
    {"a hook", "mkdir -p .git/hooks && cp evil .git/hooks/post-index-change && "
               "touch -d 2002-02-02 g"},
};

static bool shell(const char *dir, const char *text)
{
    struct buf b = {.mem = &plain};
    bool ok;

    buf_fmt(&b,
            "cd '%s' && export HOME=/nonexistent GIT_CONFIG_NOSYSTEM=1 && "
            "(%s) >/dev/null 2>&1 </dev/null",
            dir, text);
    ok = !b.failed && !system(b.ptr);
    buf_free(&b);
    return ok;
}

static int64_t now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void look(const char *cwd, int64_t time_ms, struct buf *json)
{
    int64_t before = now_us(), waited;
    struct git_status *g = git_status_start(json->mem, cwd, time_ms);

    git_status_put(g, json);
    waited = now_us() - before;
    git_status_free(g);
    printf("# %lld us, with its end %lld\n", (long long)waited,
           (long long)(now_us() - before));
}

static void make(char *dir, size_t size, const char *kind, size_t i)
{
    snprintf(dir, size, "%s/%s%zu", base, kind, i);
    tap_ok(!mkdir(dir, 0700), "a folder");
}

static void test_rows(void)
{
    for (size_t i = 0; i < tap_count(rows); i++) {
        struct buf json = {.mem = &plain};
        char dir[PATH_MAX], cwd[PATH_MAX + 20];

        make(dir, sizeof dir, "r", i);
        tap_ok(shell(dir, rows[i].setup), "%s: made", rows[i].name);
        snprintf(cwd, sizeof cwd, "%s%s", dir, rows[i].cwd);
        look(cwd, LONG_MS, &json);
        tap_is_str(buf_view(&json), rows[i].json, "%s", rows[i].name);
        buf_free(&json);
    }
}

static void test_hostile(void)
{
    for (size_t i = 0; i < tap_count(hostile); i++) {
        struct buf json = {.mem = &plain};
        char dir[PATH_MAX];

        make(dir, sizeof dir, "h", i);
        tap_ok(shell(dir, ONE " && echo 1 >g && git add g && " COMMIT
                              " && echo evil >.git/info/exclude && "
                              "printf '#!/bin/sh\\ntouch .git/ran\\necho 1\\n' "
                              ">evil && chmod 755 evil") &&
                   shell(dir, hostile[i].setup) &&
                   shell(dir, HOSTILE "rm -f .git/ran"),
               "%s: made", hostile[i].name);
        look(dir, LONG_MS, &json);
        tap_is_str(buf_view(&json), "\"dirty\":[\" M f\"]",
                   "%s: the change is seen", hostile[i].name);
        tap_ok(shell(dir, "! test -e .git/ran"), "%s: nothing ran",
               hostile[i].name);
        tap_ok(shell(dir, "git status; test -e .git/ran"),
               "%s: control: it does where git may start it", hostile[i].name);
        buf_free(&json);
    }
}

/* It is given up in time, whatever it does. */
static void test_slow(void)
{
    struct buf json = {.mem = &plain};
    char dir[PATH_MAX];
    int64_t before;

    make(dir, sizeof dir, "s", 0);
    tap_ok(shell(dir, ONE " && rm .git/index && mkfifo .git/index"), "made");
    before = now_us();
    look(dir, GIT_STATUS_MS, &json);
    tap_ok(now_us() - before < 20 * 1000000, "git that waits for ever");
    tap_is_i64((int64_t)json.len, 0, "is left out");
    buf_free(&json);
}

static void test_memory(void)
{
    struct fault f = {0};
    char dir[PATH_MAX];
    int bad = 0;

    snprintf(dir, sizeof dir, "%s/r2", base);
    while (fault_next(&f)) {
        struct mem m = fault_mem(&f);
        struct buf json = {.mem = &m};
        struct git_status *g = git_status_start(&m, dir, LONG_MS);

        git_status_put(g, &json);
        git_status_free(g);
        bad += !f.hit && !json.len;
        buf_free(&json);
        bad += f.live != 0;
    }
    tap_is_i64(bad, 0, "each allocation may fail");
}

int main(void)
{
    char command[sizeof base + 16];

    if (!mkdtemp(base))
        return 1;
    test_rows();
    test_hostile();
    test_slow();
    test_memory();
    snprintf(command, sizeof command, "rm -rf '%s'", base);
    tap_ok(!system(command), "the folder can be removed");
    return tap_done();
}
