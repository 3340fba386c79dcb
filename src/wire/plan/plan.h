/*
 * plan.h - plans as files, and described for programs and people.
 */
#ifndef WIRE_PLAN_H
#define WIRE_PLAN_H

#include "core/plan/plan.h"

/* Everything lives in the arena. A failure has the line and column. */
wend_status plan_file_parse(wend_str text, const struct plan_options *o,
                            struct arena *a, struct plan **out,
                            wend_error *err);

/* ---- Descriptions -------------------------------------------------------- */

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
