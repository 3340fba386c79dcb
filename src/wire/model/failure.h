/*
 * failure.h - what an HTTP error means.
 *
 * Error bodies of all providers, also wrapped in lists, also HTML, also
 * empty; the headers that say when to try again.
 */
#ifndef WIRE_FAILURE_H
#define WIRE_FAILURE_H

#include "base/json.h"

/* The headers that count; absent ones are absent. */
struct failure_headers {
    wend_str should_retry;   /* x-should-retry */
    wend_str retry_after_ms; /* retry-after-ms */
    wend_str retry_after;    /* Retry-After: seconds or a date */
    wend_str request_id;
    wend_str location;   /* of a redirect, which is not followed */
    wend_str url;        /* what was asked */
    wend_str usual_base; /* base URL of the provider that made the API */
};

struct failure {
    wend_str code;    /* network timeout rate_limit service auth not_found
                         invalid overflow proxy unknown; static */
    wend_str message; /* in the arena: what the server said, with status */
    bool retry;       /* may be tried again */
    int64_t retry_after_ms; /* 0 = no wish; one of over RETRY_AFTER_MAX_MS
                               is not waited for: `retry` is false */
    wend_str word, param;   /* the error's own code, and what it is about; in
                               the arena */
};

/* now_us: to read a date. */
void failure_of(int status, wend_str body, const struct failure_headers *h,
                int64_t now_us, struct arena *a, struct failure *out);

/* An IMF-fixdate of RFC 7231, in seconds of unix time; false: it is not one. */
bool failure_date(wend_str s, int64_t *out);

/* ---- For codecs ---------------------------------------------------------- */

enum { FAILURE_WORDS = 3 };

/* An error object of any provider; lent by the tree. */
struct failure_said {
    wend_str message, more;       /* more: what a server behind it said */
    wend_str word[FAILURE_WORDS]; /* code, type, status */
    wend_str param;               /* of the request, that it is about */
    int status;                   /* 0 = none */
};

void failure_read(const struct json *error, struct failure_said *out);
wend_str failure_said_code(const struct failure_said *said);
/* Appends one line of at most FAILURE_TEXT_MAX bytes that is safe to show. */
void failure_said_text(struct buf *out, const struct failure_said *said);
/* The same for any bytes: without tags, control characters, bad UTF-8. */
void failure_text(struct buf *out, wend_str bytes, size_t max);

enum {
    FAILURE_TEXT_MAX = 2000, /* of what a server says in its own words */
    FAILURE_HEAD_MAX = 200,  /* of a body in no known form */
};

#endif
