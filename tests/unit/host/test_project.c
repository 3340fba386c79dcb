/*
 * test_project.c - git and notes of a folder that may come from a stranger.
 */
#include "host/project.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "fault.h"
#include "tap.h"

static const struct mem plain;
static char base[PATH_MAX];

enum { FILES = 6 };
static const char commit[] = "0123456789abcdef0123456789abcdef01234567\n";

/* What a file holds: text, `->` and where a link leads, `|` a fifo, `/` a
 * folder, `!` text of another user, `*` more text than notes may have. */
static const struct {
    const char *name;
    const char *files[FILES][2];
    const char *cwd;
    const char *json;    /* NULL: see below */
    const char *trouble; /* "": none */
} rows[] = {
    {"nothing", {{"x", "y"}}, "", "{}", ""},
    {"without git: the folder alone",
     {{"AGENTS.md", "up"}, {"a/AGENTS.md", "here"}},
     "/a",
     "{\"notes\":[{\"path\":\"AGENTS.md\",\"trusted\":false,\"text\":"
     "\"here\"}]}",
     ""},
    {"from the repository down to the folder",
     {{".git/HEAD", "ref: refs/heads/main\n"},
      {"AGENTS.md", "up"},
      {"a/x", ""},
      {"a/b/WEND.md", "down"},
      {"a/b/c/x", ""},
      {"other/AGENTS.md", "not here"}},
     "/a/b/c",
     "{\"notes\":[{\"path\":\"AGENTS.md\","
     "\"trusted\":false,\"text\":\"up\"},{\"path\":\"a/b/WEND.md\","
     "\"trusted\":false,\"text\":\"down\"}],\"git\":{\"branch\":\"main\"}}",
     ""},
    {"one of a folder: the first by name",
     {{"CLAUDE.md", "c"}, {"WEND.md", "w"}},
     "",
     "{\"notes\":[{\"path\":\"CLAUDE.md\",\"trusted\":false,\"text\":\"c\"}]}",
     ""},
    {"an empty one says nothing", {{"AGENTS.md", ""}}, "", "{}", ""},
    {"a branch with a slash",
     {{".git/HEAD", "ref: refs/heads/fix/it"}},
     "",
     "{\"git\":{\"branch\":\"fix/it\"}}",
     ""},
    {"a commit",
     {{".git/HEAD", commit}},
     "",
     "{\"git\":{\"branch\":\"detached at 0123456789ab\"}}",
     ""},
    {"a worktree: .git leads to its HEAD",
     {{"w/.git", "gitdir: ../real/worktrees/w\n"},
      {"real/worktrees/w/HEAD", "ref: refs/heads/side\n"}},
     "/w",
     "{\"git\":{\"branch\":\"side\"}}",
     ""},
    {"a HEAD that is another text",
     {{".git/HEAD", "root:x:0:0"}},
     "",
     "{}",
     ""},
    {"a HEAD that is a link",
     {{".git/HEAD", "->../secret"}, {"secret", "ref: refs/heads/s"}},
     "",
     "{}",
     ""},
    {"a HEAD that is not UTF-8",
     {{".git/HEAD", "ref: refs/heads/\xff"}},
     "",
     "{}",
     ""},
    {"a .git that leads nowhere", {{".git", "what"}}, "", "{}", ""},
    {"a link between notes of one folder",
     {{"AGENTS.md", "->CLAUDE.md"}, {"CLAUDE.md", "text"}},
     "",
     "{\"notes\":[{\"path\":\"AGENTS.md\",\"trusted\":false,\"text\":"
     "\"text\"}]}",
     ""},
    {"a link to another file is not followed",
     {{"AGENTS.md", "->secret"}, {"secret", "s"}, {"CLAUDE.md", "c"}},
     "",
     "{}",
     "AGENTS.md: it is a link to another file\n"},
    {"two links in a circle",
     {{"AGENTS.md", "->CLAUDE.md"}, {"CLAUDE.md", "->AGENTS.md"}},
     "",
     "{}",
     "AGENTS.md: it is a link to another file\n"},
    {"a fifo does not block",
     {{"AGENTS.md", "|"}},
     "",
     "{}",
     "AGENTS.md: it is no file of yours\n"},
    {"a folder",
     {{"AGENTS.md", "/"}},
     "",
     "{}",
     "AGENTS.md: it is no file of yours\n"},
    {"not UTF-8",
     {{".git/HEAD", ""},
      {"AGENTS.md", "a\xff\xfe\xfd\xfc"},
      {"a/AGENTS.md", "good"}},
     "/a",
     "{\"notes\":[{\"path\":\"a/AGENTS.md\",\"trusted\":false,\"text\":"
     "\"good\"}]}",
     "AGENTS.md: it is not UTF-8\n"},
    {"a character that ends too early",
     {{"AGENTS.md", "a\xc3"}},
     "",
     "{}",
     "AGENTS.md: it is not UTF-8\n"},
    {"of another user",
     {{"AGENTS.md", "!x"}},
     "",
     "{}",
     "AGENTS.md: it is no file of yours\n"},
};

static void put_file(const char *path, const char *content)
{
    FILE *f;

    if (content[0] == '-' && content[1] == '>') {
        tap_ok(!symlink(content + 2, path), "a link");
        return;
    }
    if (content[0] == '|' || content[0] == '/') {
        tap_ok(!(content[0] == '|' ? mkfifo(path, 0600) : mkdir(path, 0700)),
               "a special file");
        return;
    }
    f = fopen(path, "w");
    if (!tap_ok(f != NULL, "a file"))
        return;
    fputs(content + (content[0] == '!'), f);
    fclose(f);
    if (content[0] == '!')
        tap_ok(!chown(path, 65534, 65534), "of another user");
}

static void make_folders(char *path)
{
    for (char *p = path + strlen(base) + 1; *p; p++)
        if (*p == '/') {
            *p = 0;
            mkdir(path, 0700);
            *p = '/';
        }
}

static void make(size_t row, size_t number)
{
    char path[PATH_MAX + 64];

    snprintf(path, sizeof path, "%s/%zu", base, number);
    mkdir(path, 0700);
    for (size_t i = 0; i < FILES && rows[row].files[i][0]; i++) {
        snprintf(path, sizeof path, "%s/%zu/%s", base, number,
                 rows[row].files[i][0]);
        make_folders(path);
        put_file(path, rows[row].files[i][1]);
    }
}

static void read_at(size_t number, const char *cwd, const struct mem *m,
                    struct buf *json, struct buf *trouble)
{
    char path[PATH_MAX + 64];

    snprintf(path, sizeof path, "%s/%zu%s", base, number, cwd);
    json->mem = trouble->mem = m;
    json_open(json, NULL, '{');
    project_read(path, false, NULL, json, trouble);
    json_close(json, '}');
}

static void test_rows(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buf json = {0}, trouble = {0};

        if (rows[i].files[0][1][0] == '!' && geteuid()) {
            printf("# skipped: only root can give a file away\n");
            continue;
        }
        make(i, i);
        read_at(i, rows[i].cwd, &plain, &json, &trouble);
        tap_is_str(buf_view(&json), rows[i].json, "%s", rows[i].name);
        tap_is_str(buf_view(&trouble), rows[i].trouble, "what is left out");
        buf_free(&json);
        buf_free(&trouble);
    }
}

/* 32 KiB in all: the second of two is cut, at a whole character. */
static void test_size(void)
{
    struct buf json = {0}, trouble = {0};
    struct arena a = {.mem = &plain};
    const struct json *notes;
    char path[PATH_MAX + 64];
    int64_t cut = 0;
    FILE *f;

    snprintf(path, sizeof path, "%s/900/.git/HEAD", base);
    make_folders(path);
    snprintf(path, sizeof path, "%s/900/AGENTS.md", base);
    f = fopen(path, "w");
    for (int i = 0; f && i < 20001; i++)
        fputc('a', f);
    fclose(f);
    snprintf(path, sizeof path, "%s/900/in/AGENTS.md", base);
    make_folders(path);
    f = fopen(path, "w");
    for (int i = 0; f && i < 10000; i++)
        fputs("\xc3\xa4", f);
    fclose(f);
    read_at(900, "/in", &plain, &json, &trouble);
    notes = json_get(json_parse(buf_view(&json), &a, NULL), "notes");
    tap_ok(notes && notes->count == 2, "both are there");
    if (notes && notes->count == 2) {
        tap_is_i64((int64_t)json_str(json_get(notes->first, "text")).len, 20001,
                   "the first is whole");
        tap_is_i64((int64_t)json_str(json_get(notes->first->next, "text")).len,
                   12766, "the second is cut");
        json_i64(json_get(notes->first->next, "cut"), &cut);
        tap_is_i64(cut, 20000 - 12766, "and says by how much");
    }
    tap_is_str(buf_view(&trouble), "", "nothing is left out");
    buf_free(&json);
    buf_free(&trouble);
    arena_free(&a);
}

static void test_memory(void)
{
    struct fault f = {0};
    int bad = 0;

    while (fault_next(&f)) {
        struct mem m = fault_mem(&f);
        struct buf json = {0}, trouble = {0};

        read_at(2, rows[2].cwd, &m, &json, &trouble);
        bad += (json.failed || trouble.failed) != f.hit;
        buf_free(&json);
        buf_free(&trouble);
        bad += f.live != 0;
    }
    tap_is_i64(bad, 0, "each allocation may fail");
}

int main(void)
{
    const char *tmp = getenv("TMPDIR");
    char made[PATH_MAX], *real, command[PATH_MAX + 32];

    snprintf(made, sizeof made, "%s/wend-project-XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(made) || !(real = realpath(made, NULL)))
        return 1;
    snprintf(base, sizeof base, "%s", real);
    free(real);
    test_rows();
    test_size();
    test_memory();
    snprintf(command, sizeof command, "rm -rf '%s'", base);
    if (system(command))
        printf("# %s stays\n", base);
    return tap_done();
}
