/*
 * plan_show.h - a plan described: for programs, for Graphviz, as a picture.
 */
#ifndef WIRE_PLAN_SHOW_H
#define WIRE_PLAN_SHOW_H

#include "core/plan/plan.h"

/* One object: what is declared, and the numbers that follow from it; beside
 * them what was learned of each action, if that is not NULL. */
void plan_put_json(struct buf *b, const struct plan *p,
                   const struct plan_learned *l);
void plan_put_dot(struct buf *b, const struct plan *p);
void plan_put_svg(struct buf *b, const struct plan *p);
/* One file with the picture and the numbers; nothing is loaded from
 * anywhere, and nothing in it is a program. */
void plan_put_html(struct buf *b, const struct plan *p,
                   const struct plan_learned *l);

/* A duration as people read it: 330 s, 1.3 s, 20 ms. */
void plan_put_time(struct buf *b, int64_t ms);
/* How many times the sequential time is the critical one; 1 if neither is
 * known. */
double plan_speedup(const struct plan *p);

#endif
