/*
 * diff.h - the first difference of two events.
 */
#ifndef CLI_DIFF_H
#define CLI_DIFF_H

#include "base/json.h"

struct diff_id;

struct diff {
    bool exact;   /* ids and times count, too */
    bool resumed; /* one of them: attempts of it were passed over */
    struct arena arena;
    struct diff_id *ids; /* names of calls that stand for each other */
    /* Of the difference: */
    struct buf path;          /* "data.calls[0].args" */
    const struct json *a, *b; /* NULL: it has none */
    bool failed;              /* out of memory */
};

void diff_init(struct diff *d, const struct mem *m); /* m is borrowed */
/* Whether two events, as JSON, say the same. */
bool diff_same(struct diff *d, const struct json *a, const struct json *b);
void diff_free(struct diff *d);

#endif
