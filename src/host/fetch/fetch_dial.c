/*
 * fetch_dial.c - how long to wait for each address of a host.
 *
 * A dead address must not use up the time to connect while another one would
 * answer. In a first round each gets a second, when the system would resend its
 * first packet; later transfers skip those that did not answer. If none
 * answers, a second round shares the rest of the time evenly among all, so that
 * a slow address is reached.
 */
#include "host/fetch/fetch_pool.h"

enum {
    PATIENCE_MS = 1000,
    PATIENCE_PART = 4, /* of a shorter time to connect, at most */
    DEAD_MS = 60 * 1000,
    UNLIMITED_MS = 60 * 1000, /* shared out if the time is not limited */
};

static int64_t patience_ms(const struct exchange *t)
{
    int64_t left = UNLIMITED_MS;

    if (t->dial.count) {
        if (t->connect_ms)
            left = t->phase_ms + t->connect_ms - fetch_now_ms(t->fetch);
        return left / t->dial.count;
    }
    if (t->connect_ms && t->connect_ms / PATIENCE_PART < PATIENCE_MS)
        return t->connect_ms / PATIENCE_PART;
    return PATIENCE_MS;
}

void dial_begin(struct exchange *t)
{
    t->dial = (struct dial){.turn_ms = INT64_MAX};
}

void dial_next(struct exchange *t, bool is_last)
{
    t->dial.turn_ms =
        is_last ? INT64_MAX : fetch_now_ms(t->fetch) + patience_ms(t);
    transfer_arm(t);
}

static bool is_dead(const struct net *f, const struct place *p)
{
    for (size_t i = 0; i < DEAD_MAX; i++)
        if (place_is(&f->dead[i].place, p))
            return f->dead[i].until_ms > fetch_now_ms(f);
    return false;
}

bool dial_tries(struct exchange *t, const struct place *to)
{
    t->dial.tried++;
    if (t->dial.count || !is_dead(t->fetch, to))
        return true;
    t->dial.gave_up = true;
    return false;
}

void dial_note_dead(struct net *f, const struct place *p)
{
    size_t i = 0;

    while (i < DEAD_MAX && !place_is(&f->dead[i].place, p))
        i++;
    if (i == DEAD_MAX)
        i = f->dead_next++ % DEAD_MAX;
    f->dead[i] = (struct dead){*p, fetch_now_ms(f) + DEAD_MS};
}

bool dial_round(struct exchange *t)
{
    if (!t->dial.gave_up || t->dial.count)
        return false;
    t->dial = (struct dial){.turn_ms = INT64_MAX, .count = t->dial.tried};
    return true;
}
