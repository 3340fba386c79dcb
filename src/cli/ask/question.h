/*
 * question.h - how an approval is asked for.
 */
#ifndef CLI_QUESTION_H
#define CLI_QUESTION_H

#include "cli/ask/ask.h"
#include "cli/ask/preview.h"

/* The subject of the approval: a call, or an action of a plan. */
wend_str approval_subject(const wend_event *ask);
/* The arguments that a yes to the first question allows. */
wend_str approvals_args(const struct approvals *a);
/* Always and never are offered only if a rule can express the call. */
bool approvals_rule(const struct approvals *a);

/* Finds what the run that asks first was started for: a->origin. */
void question_origin(struct approvals *a, const wend_run *run);
/* Makes v->question, on a screen that can be painted. */
void question_paint(const struct approvals *a, struct view *v,
                    const wend_run *run, const struct preview *p);
/* Says it in lines, where nothing can be painted. */
void question_print(const struct approvals *a, struct view *v,
                    const wend_run *run, const struct preview *p);
/* All of it, for a pager. */
void question_text(const struct approvals *a, struct buf *out,
                   const struct preview *p, const struct view *v, bool colour);
/* Its last line: the answers; `keys`: without Enter. */
void question_put(const struct approvals *a, struct buf *out, bool keys);
/* The risk, the reason, and if wanted what each layer of the policy said. */
void question_reasons(struct buf *out, const wend_ev_approval_ask *e,
                      bool layers);
/* The store for a command line; NULL: the default one. */
const char *question_store(const struct settings *set);
/* The commands that answer it, and what they do. */
void question_commands(struct buf *out, const char *store, const char *run,
                       wend_str subject);
/* How another process can answer. Also with -q: the run waits. */
void question_way(const struct approvals *a, struct view *v,
                  const wend_event *ask);

#endif
