/*
 * diff.h - the first difference between two events.
 */
#ifndef CLI_DIFF_H
#define CLI_DIFF_H

#include "base/json.h"

struct diff_id;

struct diff {
    bool exact;          /* also compare ids and times */
    bool resumed;        /* attempts of one of the runs were skipped */
    struct arena arena;  /* set its mem */
    struct diff_id *ids; /* ids of calls that correspond */
    /* The difference: */
    struct buf path;          /* "data.calls[0].args"; set its mem */
    const struct json *a, *b; /* NULL: absent */
};

/* Whether two events, as JSON, are equal. */
bool diff_same(struct diff *d, const struct json *a, const struct json *b);

#endif
