/*
 * inbox.c - requests as another process would leave them in the store, and
 * what must have become of each.
 */
#include "inbox.h"
#include "reader.h"

/* `body` absent: a text of its own. */
void post(struct sim *s, struct known *k, const char *what, wend_str body)
{
    struct posted *p = &s->posts[s->posts_count];
    struct buf b = {.mem = &libc_mem};

    if (s->posts_count == POSTS_MAX)
        return;
    *p = (struct posted){.to = k, .what = what};
    snprintf(p->text, sizeof p->text, "from afar %u", s->posts_count);
    buf_fmt(&b, "{\"text\":\"%s\",\"call\":\"call_1\",\"yes\":true}", p->text);
    if (s->store.real->post(s->store.store, str_of(k->id), what,
                            body.ptr ? body : buf_view(&b), &p->id,
                            NULL) == WEND_OK) {
        s->posts_count++;
        s->head.counters->posted++;
        trace(s, "run %u is told from afar: %s", k->place, what);
    }
    buf_free(&b);
}

const char *some_request(struct chance *c)
{
    static const char *const whats[] = {"say",    "pause",   "continue",
                                        "cancel", "approve", "nonsense"};

    return chance_pick(c, whats);
}

/* Its process has died, and it is not resumed yet. */
void post_without_owner(struct sim *s, struct known *k)
{
    while (!s->mood.calm && chance_of(&s->afar, 300))
        post(s, k, some_request(&s->afar), STR_NONE);
}

/* A child of a listed run can be named. */
void post_to_child(struct sim *s)
{
    struct known *k = &s->runs[chance_below(&s->afar, s->runs_count)];

    if (k->parent && k->stored_seq && !k->end_acked)
        post(s, k, some_request(&s->afar), STR_NONE);
}

bool cancel_waits(struct sim *s, const struct known *k)
{
    struct arena a = {.mem = &libc_mem};
    struct store_request *list;
    size_t count = 0;
    bool found = false;

    if (s->store.real->waiting(s->store.store, str_of(k->id), &a, &list, &count,
                               NULL) != WEND_OK)
        abort();
    for (size_t i = 0; i < count; i++)
        found |= str_is(list[i].what, "cancel");
    arena_free(&a);
    return found;
}

/* Once the logs were read. */
void check_posted(struct sim *s)
{
    static const char *const fates[] = {"waits", "was heard", "came late"};

    for (uint32_t i = 0; i < s->posts_count; i++) {
        const struct posted *p = &s->posts[i];
        enum store_fate fate;

        if (s->store.real->fate(s->store.store, p->id, &fate, NULL) != WEND_OK)
            abort();
        s->head.counters->late += fate == FATE_LATE;
        if (fate == FATE_WAITS && p->to->end_acked)
            broken(s, LAW_HEARD, "run %u is over, and a %s waits", p->to->place,
                   p->what);
        if (!strcmp(p->what, "say")
                ? p->found != (fate == FATE_HEARD)
                : !strcmp(p->what, "cancel") && fate == FATE_HEARD && !p->found)
            broken(s, LAW_HEARD, "run %u: a %s %s, the log has %u",
                   p->to->place, p->what, fates[fate], p->found);
    }
}
