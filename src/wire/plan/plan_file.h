/*
 * plan_file.h - files with plans: YAML or JSON.
 */
#ifndef WIRE_PLAN_FILE_H
#define WIRE_PLAN_FILE_H

#include "core/plan/plan.h"

/* Everything lives in the arena. A failure has the line and column. */
wend_status plan_file_parse(wend_str text, const struct plan_options *o,
                            struct arena *a, struct plan **out,
                            wend_error *err);

#endif
