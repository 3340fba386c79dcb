/*
 * plan_make.h - a plan in the making, shared by the files that make it.
 */
#ifndef CORE_PLAN_MAKE_H
#define CORE_PLAN_MAKE_H

#include "base/fields.h"
#include "core/plan.h"

struct plan_draft {
    struct fields *f;
    const struct plan_options *options; /* never NULL */
    struct plan *plan;
    struct plan_action **actions; /* room for all of them */
    uint32_t *id_action;          /* by number of the name; room for 2 each */
    struct ref_reader reader;
    const struct ref *output_refs; /* of the plan's outputs */
    bool *whole;                   /* the plan's */
};

/* Makes room for `count` actions more than p has, and a copy of what it has
 * of them. p->keys and p->ids are its own. */
wend_status draft_begin(struct plan_draft *d, const struct plan *p,
                        size_t count);
/* plan_read.c: reads one action and adds it. */
wend_status draft_action(struct plan_draft *d, const struct json *j);
/* If s says that a text with references is wrong: the place in it, too. */
wend_status draft_inside(struct fields *f, wend_status s);
/* Of an input, or an output_key. No minus, since $a-b is a difference. */
bool plan_key_ok(wend_str name);
/* plan_link.c: names become indexes; d->plan has its graph afterwards. */
wend_status draft_link(struct plan_draft *d);
/* plan_order.c: refuses a cycle, finds order, waves and paths. */
wend_status draft_order(struct plan_draft *d);
/* plan_ref.c: each reference has somebody before it who provides it. */
wend_status draft_refs(struct plan_draft *d);

/* An array in the plan's arena, or NULL with the failure in d->f->err. */
void *draft_array(struct plan_draft *d, size_t count, size_t size);

#endif
