/*
 * diff.h - the first difference between two events.
 */
#ifndef CLI_DIFF_H
#define CLI_DIFF_H

#include "base/json.h"

struct diff_id;

struct diff {
    bool exact;   /* also compare ids and times */
    bool resumed; /* attempts of one of the runs were skipped */
    struct arena arena;
    struct diff_id *ids; /* ids of calls that correspond */
    /* The difference: */
    struct buf path;          /* "data.calls[0].args" */
    const struct json *a, *b; /* NULL: absent */
    bool failed;              /* out of memory */
};

void diff_init(struct diff *d, const struct mem *m); /* m is borrowed */
/* Whether two events, as JSON, are equal. */
bool diff_same(struct diff *d, const struct json *a, const struct json *b);
void diff_free(struct diff *d);

#endif
