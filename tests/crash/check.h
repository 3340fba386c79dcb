/*
 * check.h - the log of a run against the ledger of its effects.
 */
#ifndef CRASH_CHECK_H
#define CRASH_CHECK_H

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"

enum { KEYS_MAX = 64, KEY_BYTES = 96 };

struct scenario {
    const char *name, *script, *fallback, *answer;
    wend_eager eager;
    bool asks;          /* whoever watches approves */
    bool cancels;       /* whoever watches cancels at the first call */
    bool says;          /* and says something meanwhile */
    bool makes;         /* the store is made, too */
    const char *plan;   /* in place of the model */
    const char *helper; /* the script of an agent that is given tasks */
    bool plans;         /* the model writes plans */
    bool forks;         /* once it is over, a fork of it goes on, too */
    bool follows;       /* once it is over, another continues the talk */
    bool waits;         /* for half a second each time */
    int64_t window;     /* of the model, in tokens; 0: not known */
};

/* What all checks came to; the checker tells it through a pipe. */
struct finding {
    long lost, doubled, unsaved, unfinished, unlawful, wrong;
    long unknown, superseded, again, resumes;
};

struct key {
    char text[KEY_BYTES];
    char action[KEY_BYTES]; /* of a plan; empty for a call */
    long lines, starts, ends;
    long cuts; /* attempts that were superseded */
    bool unsafe;
    bool child; /* somebody else does it: a run, a plan's actions, a model */
    wend_outcome outcome;
};

struct book {
    struct key keys[KEYS_MAX];
    size_t count;
    long children, children_open; /* that were started */
};

static struct key *key_of(struct book *b, const char *text)
{
    for (size_t i = 0; i < b->count; i++)
        if (!strcmp(b->keys[i].text, text))
            return &b->keys[i];
    if (b->count == KEYS_MAX)
        _exit(4);
    snprintf(b->keys[b->count].text, KEY_BYTES, "%s", text);
    return &b->keys[b->count++];
}

static void read_ledger(struct book *b)
{
    FILE *f = fopen("ledger", "r");
    char line[KEY_BYTES];

    while (f && fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = 0;
        key_of(b, line)->lines++;
    }
    if (f)
        fclose(f);
}

static void take_start(struct key *k, bool unsafe, int64_t attempt,
                       struct finding *f)
{
    k->starts++;
    k->unsafe = unsafe;
    f->unlawful += k->starts != attempt;
    f->again += k->starts > 1;
}

static void take_end(struct key *k, wend_outcome outcome, struct finding *f)
{
    if (outcome == WEND_OUTCOME_SUPERSEDED) {
        k->cuts++;
        return;
    }
    k->ends++;
    k->outcome = outcome;
    f->unknown += outcome == WEND_OUTCOME_UNKNOWN;
}

static void take_action(struct book *b, const wend_event *ev, struct finding *f)
{
    const wend_ev_action_start *start = &ev->u.action_start;
    char key[KEY_BYTES];
    struct key *k;

    if (ev->type == WEND_ACTION_START) {
        snprintf(key, sizeof key, "%.*s", (int)start->key.len, start->key.ptr);
        k = key_of(b, key);
        snprintf(k->action, sizeof k->action, "%.*s", (int)start->action.len,
                 start->action.ptr);
        k->child |= str_is(start->type, "llm"); /* which has no effect */
        take_start(k, str_is(start->target, "unsafe"), start->attempt, f);
        return;
    }
    for (size_t i = 0; i < b->count; i++)
        if (b->keys[i].action[0] &&
            str_is(ev->u.action_end.action, b->keys[i].action))
            take_end(&b->keys[i], ev->u.action_end.outcome, f);
}

static void take_child(struct book *b, const wend_event *ev)
{
    const wend_ev_child_start *start = &ev->u.child_start;
    char key[KEY_BYTES];

    b->children_open += ev->type == WEND_CHILD_START ? 1 : -1;
    if (ev->type != WEND_CHILD_START)
        return;
    b->children++;
    if (start->call.ptr) {
        snprintf(key, sizeof key, "%.*s/%lld/%.*s", (int)ev->run.len,
                 ev->run.ptr, (long long)ev->turn, (int)start->call.len,
                 start->call.ptr);
        key_of(b, key)->child = true;
        return;
    }
    for (size_t i = 0; i < b->count; i++)
        if (b->keys[i].action[0] && str_is(start->action, b->keys[i].action))
            b->keys[i].child = true;
}

static void take_event(struct book *b, const wend_event *ev, long open[3],
                       struct finding *f)
{
    char key[KEY_BYTES];

    open[0] += (ev->type == WEND_TURN_START) - (ev->type == WEND_TURN_END);
    open[1] += (ev->type == WEND_MODEL_START) - (ev->type == WEND_MODEL_END);
    f->superseded += ev->type == WEND_MODEL_END &&
                     ev->u.model_end.outcome == WEND_OUTCOME_SUPERSEDED;
    f->resumes += ev->type == WEND_RUN_RESUME;
    if (ev->type == WEND_CALL_START) {
        snprintf(key, sizeof key, "%.*s", (int)ev->u.call_start.key.len,
                 ev->u.call_start.key.ptr);
        take_start(key_of(b, key),
                   ev->u.call_start.call_class == WEND_CLASS_UNSAFE,
                   ev->u.call_start.attempt, f);
        if (str_is(ev->u.call_start.name, "plan"))
            key_of(b, key)->child = true; /* its actions do it */
    } else if (ev->type == WEND_CALL_END) {
        snprintf(key, sizeof key, "%.*s/%lld/%.*s", (int)ev->run.len,
                 ev->run.ptr, (long long)ev->turn, (int)ev->u.call_end.call.len,
                 ev->u.call_end.call.ptr);
        take_end(key_of(b, key), ev->u.call_end.outcome, f);
    } else if (ev->type == WEND_ACTION_START || ev->type == WEND_ACTION_END) {
        take_action(b, ev, f);
    } else if (ev->type == WEND_CHILD_START || ev->type == WEND_CHILD_END) {
        take_child(b, ev);
    }
}

static void check_keys(const struct book *b, struct finding *f)
{
    for (size_t i = 0; i < b->count; i++) {
        const struct key *k = &b->keys[i];

        f->unsaved += k->lines && !k->starts;
        f->unlawful += k->starts && (k->ends != 1 || k->cuts + 1 != k->starts);
        if (k->child) {
            f->unlawful += k->lines || k->outcome == WEND_OUTCOME_UNKNOWN;
            continue;
        }
        f->lost += k->outcome == WEND_OUTCOME_OK && !k->lines;
        f->doubled += k->unsafe && (k->lines > 1 || k->starts > 1);
    }
}

/* An end that fits: an answer, or that it was canceled. */
static bool is_right(const struct scenario *sc, const wend_ev_run_end *e)
{
    if (sc->cancels && e->outcome == WEND_OUTCOME_CANCELED)
        return true;
    if ((sc->plan || sc->plans) && e->outcome == WEND_OUTCOME_FAILED)
        return true; /* an action whose end nobody knows has failed */
    return e->outcome == WEND_OUTCOME_OK &&
           (!sc->answer || str_is(e->text, sc->answer));
}

/* One run of the store, into the book. */
static void read_log(wend_runtime *rt, const char *id, bool is_child,
                     const struct scenario *sc, struct book *b,
                     struct finding *f)
{
    long open[3] = {0};
    int64_t seq = 0;
    bool right = false, own = false;
    wend_run *log = NULL;
    const wend_event *ev;
    wend_status s = wend_store_replay(rt, id, NULL, &log, NULL);

    while (s == WEND_OK && (s = wend_run_next(log, &ev)) == WEND_OK) {
        if (ev->n)
            continue;
        f->unlawful += ev->seq != ++seq;
        own |= str_is(ev->run, id);
        f->unlawful += own != str_is(ev->run, id);
        if (own) /* what a fork shares is counted with its parent */
            take_event(b, ev, open, f);
        if (ev->type == WEND_RUN_END)
            right = is_child || is_right(sc, &ev->u.run_end);
    }
    f->unlawful += s != WEND_END || open[0] || open[1];
    f->wrong += !right;
    wend_run_free(log);
}

/* The run and its children; no child was started twice. */
static void check_logs(wend_runtime *rt, wend_store *store,
                       const struct scenario *sc, struct finding *f)
{
    struct book b = {.count = 0};
    const wend_run_info *info;
    wend_runs *list = NULL;
    long children = 0, forks = 0;
    char id[40];

    if (wend_store_list(store, NULL, &list, NULL) != WEND_OK)
        _exit(8);
    while (wend_runs_next(list, &info) == WEND_OK) {
        snprintf(id, sizeof id, "%.*s", (int)info->run.len, info->run.ptr);
        children += info->child;
        forks += info->parent.ptr && !info->child;
        f->unfinished += !info->ended_us;
        read_log(rt, id, info->child, sc, &b, f);
    }
    wend_runs_free(list);
    f->unlawful += b.children_open != 0;
    f->doubled += children > b.children || forks > sc->forks;
    read_ledger(&b);
    check_keys(&b, f);
}

#endif
