/*
 * tab.c - the tab key in a chat: completes commands, and the files, sessions
 * and models that they take.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/chat/talk.h"
#include "cli/filter.h"

enum { SESSIONS_LOOKED = 500 }; /* runs: the newest */

struct tab {
    struct chat *c;
    wend_str typed;     /* what the choices begin with */
    struct buf shared;  /* the beginning that all of them have */
    const char *before; /* of each, in the list */
    size_t count;
    char end; /* behind the only one; 0: nothing */
};

static void offer(struct tab *t, const char *name, char end)
{
    size_t same = 0;

    if (strncmp(name, t->typed.ptr, t->typed.len) != 0)
        return;
    if (!t->count++) {
        buf_cstr(&t->shared, name);
        t->end = end;
    }
    while (same < t->shared.len && t->shared.ptr[same] == name[same])
        same++;
    while (same > t->typed.len && ((unsigned char)name[same] & 0xC0) == 0x80)
        same--;
    t->shared.len = same;
    buf_fmt(&t->c->note, "%s%s%s%s", t->c->note.len ? " " : "", t->before, name,
            end == '/' ? "/" : "");
}

static void offer_path(struct tab *t)
{
    char folder[4096], path[8192];
    const char *slash = memrchr(t->typed.ptr, '/', t->typed.len);
    size_t len = slash ? (size_t)(slash - t->typed.ptr) + 1 : 0;
    const char *home = getenv("HOME");
    bool in_home = len >= 2 && t->typed.ptr[0] == '~' && t->typed.ptr[1] == '/';
    struct dirent *entry;
    struct stat st;
    DIR *dir;

    snprintf(folder, sizeof folder, "%s%.*s", in_home && home ? home : "",
             (int)(len - in_home), t->typed.ptr + in_home);
    t->typed = str_skip(t->typed, len);
    dir = opendir(*folder ? folder : ".");
    while (dir && (entry = readdir(dir))) {
        if (entry->d_name[0] == '.' &&
            (!t->typed.len || t->typed.ptr[0] != '.'))
            continue;
        snprintf(path, sizeof path, "%s%s", folder, entry->d_name);
        offer(t, entry->d_name,
              !stat(path, &st) && S_ISDIR(st.st_mode) ? '/' : 0);
    }
    if (dir)
        closedir(dir);
}

struct seen {
    struct tab *t;
    struct words names;
};

static int offer_session(void *ctx, const wend_run_info *info)
{
    struct seen *s = ctx;
    struct arena *a = &s->t->c->cli->arena;

    for (size_t i = 0; i < s->names.count; i++)
        if (str_is(info->session, s->names.items[i]))
            return EXIT_DONE;
    if (info->session.len) {
        const char *name = arena_str(a, info->session).ptr;

        words_add(&s->names, name, a);
        offer(s->t, name, 0);
    }
    return EXIT_DONE;
}

static void offer_sessions(struct tab *t)
{
    const wend_list_options all = {.size = sizeof all};
    struct seen s = {.t = t};

    each_run(t->c->cli, &all, SESSIONS_LOOKED, offer_session, &s);
}

static void offer_parts(struct tab *t)
{
    for (size_t i = 0; i < t->c->o.parts_count; i++)
        offer(t, arena_str(&t->c->cli->arena, t->c->parts[i].name).ptr, 0);
}

static void offer_commands(struct tab *t)
{
    const char *name;

    t->before = "/";
    for (size_t i = 0; (name = slash_name(i)); i++)
        offer(t, name, ' ');
}

/* What the command takes; NULL: nothing that could be completed. */
static void (*offers_of(wend_str command))(struct tab *t)
{
    static const struct {
        const char *command;
        void (*offer)(struct tab *t);
    } rows[] = {
        {"/attach", offer_path},  {"/save", offer_path},
        {"/save!", offer_path},   {"/load", offer_sessions},
        {"/detach", offer_parts},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (str_is(command, rows[i].command))
            return rows[i].offer;
    return NULL;
}

void tab_complete(struct chat *c)
{
    struct editor *e = &c->editor;
    wend_str text = buf_view(&e->text);
    const char *space = text.len ? memchr(text.ptr, ' ', text.len) : NULL;
    struct tab t = {.c = c, .shared.mem = &cli_mem, .before = ""};
    void (*offers)(struct tab *) = offer_commands;

    if (!text.len || text.ptr[0] != '/' || memchr(text.ptr, '\n', text.len))
        return;
    t.typed = str_skip(text, 1);
    if (space) {
        offers = offers_of((wend_str){text.ptr, (size_t)(space - text.ptr)});
        t.typed = str_skip(text, (size_t)(space - text.ptr) + 1);
    }
    if (!offers)
        return;
    buf_clear(&c->note);
    offers(&t);
    e->at = e->text.len;
    if (t.count)
        editor_insert(e, str_skip(buf_view(&t.shared), t.typed.len));
    if (t.count == 1) {
        editor_insert(e, (wend_str){&t.end, t.end != 0});
        buf_clear(&c->note);
    }
    buf_free(&t.shared);
}
