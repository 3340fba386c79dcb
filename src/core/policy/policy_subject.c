/*
 * policy_subject.c - what rules look at in the arguments of a call.
 */
#include "core/policy/policy.h"

#include <assert.h>

/* Where no argument is named the only string is meant. */
static void find_string(struct rule_subject *q)
{
    size_t strings = 0;

    for (const struct json *m = q->args ? q->args->first : NULL; m; m = m->next)
        if (q->tool->subject.ptr ? str_eq(m->key, q->tool->subject)
                                 : m->kind == JSON_STRING) {
            q->subject = json_str(m);
            strings++;
        }
    if (strings > 1)
        q->subject = STR_NONE;
}

/* In its one spelling; one that is left out, or no string, is the root:
 * that must not get round a rule. */
static wend_str spelled(const struct rule_subject *q, wend_str path)
{
    size_t size = path.len + 3;
    char *room;

    if (!path.ptr)
        path = STR(".");
    if (size > PATH_BYTES)
        size = PATH_BYTES;
    room = arena_chars(q->arena, size);
    return room ? policy_path(path, q->root, room, size) : STR_NONE;
}

/* Where a pattern looks, and the pattern as a path from the root. */
static void find_pattern(struct rule_subject *q)
{
    wend_str path = json_str(json_get(q->args, "path"));
    struct buf b = {.mem = q->arena->mem};

    buf_str(&b, path.ptr ? path : STR("."));
    buf_char(&b, '/');
    buf_str(&b, q->subject);
    q->path = spelled(q, path);
    q->subject =
        q->subject.ptr && !b.failed ? spelled(q, buf_view(&b)) : STR_NONE;
    q->arena->failed |= b.failed;
    buf_free(&b);
}

/* Is it one of these files? */
static bool is_among(const struct rule_subject *q, const struct json *list)
{
    char room[PATH_BYTES];

    for (const struct json *j = list ? list->first : NULL; j; j = j->next) {
        wend_str file = json_str(j).ptr ? policy_path(json_str(j), q->root,
                                                      room, sizeof room)
                                        : STR_NONE;

        if (file.ptr && !path_is_outside(file) && str_eq(file, q->subject))
            return true;
    }
    return false;
}

/* What the table of places cannot know. */
static void add_own(struct rule_subject *q, unsigned kinds)
{
    const struct config *c = q->config;
    unsigned found = 0;

    if (!c)
        return;
    if ((kinds & PLACE_CODE) && is_among(q, c->guarded))
        found |= PLACE_CODE;
    if ((kinds & PLACE_SECRET) && is_among(q, c->secret_files))
        found |= PLACE_SECRET;
    if (!found)
        return;
    q->place.kinds |= found;
    q->place.reach = q->subject.len;
    if (!q->place.what)
        q->place.what = found & PLACE_CODE ? "a file of wend" : "a key";
}

void subject_find_place(struct rule_subject *q)
{
    unsigned kinds = (q->tool->access & ACCESS_WRITE ? PLACE_CODE : 0u) |
                     (q->tool->access & ACCESS_READ ? PLACE_SECRET : 0u);

    q->outside = (q->path.ptr && path_is_outside(q->path)) ||
                 (q->subject.ptr && path_is_outside(q->subject));
    if (q->outside || !q->subject.ptr)
        return;
    q->place = path_place(q->subject, kinds);
    add_own(q, kinds);
}

static bool all_strings(const struct json *list)
{
    const struct json *w = json_items(list);
    bool any = w != NULL;

    while (w && w->kind == JSON_STRING)
        w = w->next;
    return any && !w;
}

static void find_words(struct rule_subject *q)
{
    struct buf b = {.mem = q->arena->mem};

    q->subject = STR_NONE;
    q->argv = json_get(q->args, "argv");
    if (!all_strings(q->argv)) {
        q->argv = NULL;
        return;
    }
    words_put(&b, q->argv);
    q->subject = buf_keep(&b, q->arena);
    q->cut = words_cut(q->argv, q->arena);
}

static void find_request(struct rule_subject *q)
{
    struct buf b = {.mem = q->arena->mem};

    q->request = request_read(q->args, q->arena);
    if (!q->request || !q->request->whole[URL_PLAIN].ptr)
        return; /* the text as it is; the tool will refuse it */
    request_put(&b, q->request);
    q->subject = buf_keep(&b, q->arena);
}

void subject_find(struct rule_subject *q)
{
    assert(q->tool);
    assert(q->arena);
    if (q->args && q->args->kind != JSON_OBJECT)
        q->args = NULL;
    find_string(q);
    switch (q->tool->kind) {
    case SUBJECT_TEXT: break;
    case SUBJECT_PATH: q->subject = q->path = spelled(q, q->subject); break;
    case SUBJECT_PATTERN: find_pattern(q); break;
    case SUBJECT_COMMAND:
        if (q->subject.ptr)
            q->cut = command_cut(q->subject, q->arena);
        break;
    case SUBJECT_WORDS: find_words(q); break;
    case SUBJECT_URL: find_request(q); break;
    }
    if (q->tool->access)
        subject_find_place(q);
}
