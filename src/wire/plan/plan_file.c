/*
 * plan_file.c - files with plans: YAML or JSON.
 */
#include "wire/plan/plan.h"

#include "base/limits.h"
#include "wire/file/file.h"

wend_status plan_file_parse(wend_str text, const struct plan_options *o,
                            struct arena *a, struct plan **out, wend_error *err)
{
    struct fields f = {.arena = a, .err = err, .whole = "the plan"};
    wend_status s = file_open(&f, text, PLAN_BYTES_MAX);

    return s ? s : plan_read(&f, o, out);
}
