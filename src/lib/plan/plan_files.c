/*
 * plan_files.c - the files that the actions of a plan name, before it runs.
 *
 * They become parts of the run, each once, by the name that the actions use.
 * From then on the log has them: no resume, fork or retry reads a file. A file
 * of the plan lies in its folder or below, and no link is followed, since the
 * plan may be somebody else's; the host can give any file by that name.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/utf8.h"
#include "core/media/media.h"
#include "host/file.h"
#include "host/path.h"
#include "lib/plan/plan.h"
#include "lib/run/child.h"

_Static_assert((int)ACTION_FILES_MAX == (int)PARTS_MAX &&
                   (int)ACTION_FILE_BYTES == (int)PART_NAME_MAX,
               "each file of an action is a part, by its path");

struct taking {
    const struct plan_files *given;
    struct arena *arena;
    wend_part *list;
    size_t count;
};

/* "action 'a': files[0]: ..." where that is written. */
static wend_status blame(const struct plan_action *a, size_t i,
                         const wend_error *why, wend_error *err)
{
    const struct plan_file *n = &a->files.list[i];

    return fail_at(err, why->status, n->line, n->column,
                   "action '%.*s': files[%zu]: %.400s", UTF8_ARGS(a->name, 80),
                   i, why->message);
}

static const wend_part *find(const wend_part *list, size_t count, wend_str name)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq(list[i].name, name))
            return &list[i];
    return NULL;
}

/* ---- Bytes --------------------------------------------------------------- */

static wend_status read_open(int fd, wend_str name, struct arena *a,
                             wend_str *out, wend_error *err)
{
    struct buf b = {.mem = a->mem};
    struct stat st;
    int failed;

    if (fstat(fd, &st) || !S_ISREG(st.st_mode))
        return fail(err, WEND_E_INVAL, "'%.*s' is not a regular file",
                    UTF8_ARGS(name, PART_NAME_MAX));
    failed = file_read_all(fd, PART_BYTES_MAX, &b);
    if (!failed && !b.failed) {
        *out = str_or(buf_keep(&b, a), "");
        return a->failed ? fail_nomem(err) : WEND_OK;
    }
    buf_free(&b);
    if (failed == -EFBIG)
        return fail(err, WEND_E_LIMIT, "'%.*s' has over %d bytes",
                    UTF8_ARGS(name, PART_NAME_MAX), PART_BYTES_MAX);
    return b.failed ? fail_nomem(err)
                    : fail(err, WEND_E_IO, "cannot read '%.*s': %s",
                           UTF8_ARGS(name, PART_NAME_MAX), strerror(-failed));
}

static wend_status cannot_open(int code, wend_str name, wend_error *err)
{
    static const struct {
        int code;
        const char *words;
    } rows[] = {
        {ENOENT, "does not exist in the folder of the plan"},
        {EXDEV, "is outside the folder of the plan; give it with -f"},
        {ELOOP, "is a link, or is behind one; give the file with -f"},
        {ENXIO, "is not a regular file"},
    };
    const char *words = strerror(code);

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].code == code)
            words = rows[i].words;
    return fail(err, code == ENOENT ? WEND_E_NOTFOUND : WEND_E_INVAL,
                "'%.*s' %s", UTF8_ARGS(name, PART_NAME_MAX), words);
}

static wend_status read_beside(const char *folder, wend_str name,
                               struct arena *a, wend_str *out, wend_error *err)
{
    const char *path = arena_str(a, name).ptr;
    int root = path_root(folder, err), fd;
    wend_status s;

    if (root < 0)
        return err->status;
    fd = path ? path_beneath(root, path, O_RDONLY | O_NONBLOCK, 0) : -ENOMEM;
    close(root);
    if (fd < 0)
        return path ? cannot_open(-fd, name, err) : fail_nomem(err);
    s = read_open(fd, name, a, out, err);
    close(fd);
    return s;
}

/* ---- Taking -------------------------------------------------------------- */

static wend_status take(struct taking *t, wend_str name, wend_error *err)
{
    const struct plan_files *g = t->given;
    const wend_part *given = find(g->parts, g->count, name);
    wend_part *out = &t->list[t->count];

    if (find(t->list, t->count, name))
        return WEND_OK;
    if (t->count == PARTS_MAX)
        return fail(err, WEND_E_LIMIT,
                    "the actions of a plan have at most %d "
                    "files in all",
                    PARTS_MAX);
    t->count++;
    *out = given ? *given : (wend_part){.name = name};
    if (given)
        return WEND_OK;
    if (!g->folder)
        return fail(err, WEND_E_NOTFOUND,
                    "there is no part '%.*s' among those of the run",
                    UTF8_ARGS(name, PART_NAME_MAX));
    return read_beside(g->folder, name, t->arena, &out->data, err);
}

/* What the action asks; NULL: its target is checked elsewhere, or is a plan,
 * whose actions look at what they get. */
static const struct model_use *model_of(wend_agent *agent,
                                        const struct plan_action *a)
{
    const struct config *c = agent->configs[0];
    const struct agent_child *k;
    uint32_t model;

    if (a->type == ACTION_LLM) {
        model = config_model(c, a->target);
        return model < c->models_count ? &c->models[model] : NULL;
    }
    k = a->type == ACTION_AGENT ? agent_child(agent, a->target) : NULL;
    return k && agent_config(k->agent, 0, NULL) == WEND_OK
               ? k->agent->configs[0]->models
               : NULL;
}

/* An input that only a workflow action can give files. */
static wend_status refuse_given(const struct plan *p, const struct plan_file *f,
                                wend_error *err)
{
    if (!f->given || (p->missing_null && !f->hashes_count))
        return WEND_OK;
    return fail(err, WEND_E_INVAL,
                "the input of %.*s has no path; give it with --set, or with "
                "'files' of a workflow action",
                UTF8_ARGS(f->ref->text, 80));
}

static wend_status take_all(struct taking *t, wend_agent *agent,
                            const struct plan *p, const struct plan_action *a,
                            wend_error *err)
{
    const struct model_use *m = model_of(agent, a);
    const wend_part *parts[PARTS_MAX];
    size_t entry[PARTS_MAX], count = 0, i = 0, at = 0;
    wend_error why = {0};
    wend_status s = WEND_OK;

    for (; s == WEND_OK && i < a->files.count; i++) {
        const struct plan_file *f = &a->files.list[i];

        entry[count] = i;
        at = count;
        if (f->ref) {
            s = refuse_given(p, f, &why);
            continue;
        }
        s = take(t, f->path, &why);
        parts[count++] = find(t->list, t->count, f->path);
    }
    if (s == WEND_OK)
        s = parts_fit(parts, count, m, t->arena->mem, &at, &why);
    return s == WEND_OK ? s : blame(a, entry[at], &why, err);
}

static wend_status check_used(const struct taking *t, wend_error *err)
{
    const struct plan_files *g = t->given;

    for (size_t i = 0; i < g->count; i++)
        if (!find(t->list, t->count, g->parts[i].name))
            return fail(err, WEND_E_INVAL,
                        "no action of the plan has the file '%.*s': name it "
                        "in 'files' of an action that asks a model",
                        UTF8_ARGS(str_or(g->parts[i].name, ""), PART_NAME_MAX));
    return WEND_OK;
}

wend_status plan_files_take(wend_agent *agent, const struct plan *p,
                            struct plan_files *files, struct arena *a,
                            wend_error *err)
{
    struct taking t = {.given = files, .arena = a};
    wend_status s = WEND_OK;

    if (files->count && (!files->parts || files->count > PARTS_MAX))
        return fail(err, WEND_E_INVAL,
                    "the list of parts is NULL, or has over %d entries",
                    PARTS_MAX);
    t.list = arena_alloc(a, PARTS_MAX * sizeof *t.list);
    if (!t.list)
        return fail_nomem(err);
    for (uint32_t i = 0; s == WEND_OK && i < p->count; i++)
        if (p->actions[i]->files.count)
            s = take_all(&t, agent, p, p->actions[i], err);
    if (s == WEND_OK)
        s = check_used(&t, err);
    files->parts = t.list;
    files->count = t.count;
    return s;
}

/* A file of the plan inside must come from the action that it runs for. */
static wend_status check_given(const struct plan *p, const struct plan_file *f,
                               const struct plan_action *by, wend_error *err)
{
    wend_str name;

    if (!f->ref)
        return fail(err, WEND_E_INVAL,
                    "a plan inside a plan reads no files; name an input that "
                    "is null, and give it a file with 'files' of the workflow "
                    "action");
    if (!f->given || p->missing_null)
        return WEND_OK;
    name = p->keys.list[f->ref->slot];
    for (size_t i = 0; i < by->files.count; i++)
        if (str_eq(by->files.list[i].input, name))
            return WEND_OK;
    return fail(err, WEND_E_INVAL,
                "the input '%.*s' gets no file; give it one with 'files' of "
                "the workflow action",
                UTF8_ARGS(name, 80));
}

wend_status plan_files_inside(const struct plan *p,
                              const struct plan_action *by, wend_error *err)
{
    wend_error why = {0};

    for (uint32_t i = 0; i < p->count; i++)
        for (size_t n = 0; n < p->actions[i]->files.count; n++)
            if (check_given(p, &p->actions[i]->files.list[n], by, &why) !=
                WEND_OK)
                return blame(p->actions[i], n, &why, err);
    return WEND_OK;
}
