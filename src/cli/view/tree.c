/*
 * tree.c - runs under the runs that started them or that they are forks of, and
 * the runs of a conversation under the first one of them.
 *
 * A parent is older than its child. A file that was imported may say otherwise:
 * then the child is a root, so that there is no circle.
 */
#include "cli/view/tree.h"

#include <stdlib.h>
#include <string.h>

#include "cli/term.h"

enum {
    PROMPT_KEPT = 512, /* bytes; a line shows fewer */
    DEPTH_SHOWN = 6,   /* deeper runs are drawn at this depth */
};

void tree_add(struct tree *t, const wend_run_info *info, wend_str follows)
{
    struct tree_run **runs =
        mem_more(t->arena->mem, t->runs, t->count, &t->cap, sizeof *t->runs);
    struct tree_run *r = arena_alloc(t->arena, sizeof *r);
    wend_str *const texts[] = {
        &r->info.run,     &r->info.status, &r->info.agent,
        &r->info.model,   &r->info.prompt, &r->info.user,
        &r->info.session, &r->info.parent, &r->info.fork_of};

    r->info = *info;
    r->follows = arena_str(t->arena, follows);
    if (r->info.prompt.len > PROMPT_KEPT)
        r->info.prompt.len = PROMPT_KEPT;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        *texts[i] = arena_str(t->arena, *texts[i]);
    t->runs = runs;
    t->runs[t->count++] = r;
}

static int by_id(const void *a, const void *b)
{
    return strcmp((*(struct tree_run *const *)a)->info.run.ptr,
                  (*(struct tree_run *const *)b)->info.run.ptr);
}

/* The parents of all runs that have one here. */
static void find_parents(struct tree *t)
{
    size_t size = t->count * sizeof *t->runs;
    struct tree_run **sorted = arena_alloc(t->arena, size);

    memcpy(sorted, t->runs, size);
    qsort(sorted, t->count, sizeof *sorted, by_id);
    for (size_t i = 0; i < t->count; i++) {
        struct tree_run *r = t->runs[i], wanted = {.info.run = r->info.parent};
        struct tree_run *const key = &wanted, **found = NULL;

        if (!r->info.parent.ptr)
            wanted.info.run = r->follows;
        if (wanted.info.run.ptr)
            found = bsearch(&key, sorted, t->count, sizeof *sorted, by_id);
        r->parent = found ? *found : NULL;
    }
}

void tree_link(struct tree *t)
{
    if (!t->count)
        return;
    find_parents(t);
    for (size_t i = t->count; i-- > 0;) { /* oldest first */
        struct tree_run *r = t->runs[i];

        if (r->parent && !r->parent->root)
            r->parent = NULL;
        /* A conversation is a list: each of its runs is beside the one before
         * it, unless that is the first. */
        while (r->follows.ptr && r->parent && r->parent->follows.ptr &&
               !r->parent->info.parent.ptr && r->parent->parent)
            r->parent = r->parent->parent;
        r->root = r->parent ? r->parent->root : r;
    }
    for (size_t i = 0; i < t->count; i++) {
        struct tree_run *r = t->runs[i];

        if (r->parent) {
            r->next = r->parent->first;
            r->parent->first = r;
        }
    }
}

struct tree_run *tree_next_root(struct tree *t)
{
    while (t->at < t->count) {
        struct tree_run *root = t->runs[t->at++]->root;

        if (!root->listed) {
            root->listed = true;
            return root;
        }
    }
    return NULL;
}

struct tree_run *tree_next(const struct tree_run *at)
{
    if (at->first)
        return at->first;
    while (at->parent && !at->next)
        at = at->parent;
    return at->parent ? at->next : NULL;
}

void tree_lines(struct buf *out, const struct tree_run *at)
{
    const struct tree_run *up[DEPTH_SHOWN];
    bool ascii = term_ascii();
    size_t depth = 0;

    for (const struct tree_run *r = at; r->parent && depth < DEPTH_SHOWN;
         r = r->parent)
        up[depth++] = r;
    while (depth-- > 1)
        buf_cstr(out, !up[depth]->next ? "   " : ascii ? "|  " : "\u2502  ");
    if (at->parent)
        buf_cstr(out, at->next ? (ascii ? "|- " : "\u251c\u2500 ")
                               : (ascii ? "`- " : "\u2514\u2500 "));
}
