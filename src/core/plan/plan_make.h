/*
 * plan_make.h - a plan in the making, shared by the files that make it.
 */
#ifndef CORE_PLAN_MAKE_H
#define CORE_PLAN_MAKE_H

#include "base/fields.h"
#include "core/plan/plan.h"

/* What takes one returns false once d->f->err says why. */
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
bool draft_begin(struct plan_draft *d, const struct plan *p, size_t count);
/* plan_read.c: reads one action and adds it. */
bool draft_action(struct plan_draft *d, const struct json *j);
/* If s says that a text with references is wrong: the place in it, too. */
wend_status draft_inside(struct fields *f, wend_status s);
/* plan_attach.c: one entry of `files`, a struct plan_file. */
FIELD_READ(draft_file);
/* What fits the type of the action, once all of it is read. */
wend_status draft_files(struct fields *f, const struct json *action,
                        const struct plan_action *a);
/* A valid name of an input or an output_key. No minus, since $a-b is a
 * difference. */
bool plan_key_ok(wend_str name);
/* plan_link.c: names become indexes; d->plan has its graph afterwards. */
bool draft_link(struct plan_draft *d);
/* The same edges from the other end; those to PLAN_NONE are left out. */
bool draft_turn_around(struct plan_draft *d, const uint32_t *at,
                       const uint32_t *list, const uint32_t **out_at,
                       const uint32_t **out);
/* plan_order.c: refuses a cycle, finds order, waves and paths. Called again
 * if value edges constrain the order further. */
bool draft_order(struct plan_draft *d);
/* plan_ref.c: each reference has an earlier provider. */
bool draft_refs(struct plan_draft *d);
bool draft_refuse_ref(struct plan_draft *d, const struct ref *ref,
                      const char *why, wend_str name, const char *rest);

/* One action's references to one key. */
struct value_use {
    const struct ref *ref;   /* the first of them */
    uint32_t user, provider; /* provider: one of them, for messages */
    uint32_t edges_from;
    bool provided; /* by a direct dependency */
};

/* plan_value.c: edges to providers that are not direct dependencies. */
struct value_edges {
    struct plan_draft *d;
    struct buf uses; /* struct value_use */
    struct buf list; /* struct value_edge; those of a use are together */
};
bool value_use_add(struct value_edges *v, const struct value_use *use);
/* From the provider to the user of the use added last. */
bool value_edge_add(struct value_edges *v, uint32_t by);
/* Refuses a use that no earlier action provides, or in an open plan marks its
 * user as not whole; gives the plan's graph its value edges. */
bool value_edges_settle(struct value_edges *v);

/* An array in the plan's arena, or NULL with the failure in d->f->err. */
void *draft_array(struct plan_draft *d, size_t count, size_t size);
/* ... of this number, `count` times. */
uint32_t *draft_numbers(struct plan_draft *d, size_t count, uint32_t n);

#endif
