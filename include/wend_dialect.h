/*
 * wend_dialect.h - events in other vocabularies. Included by wend.h.
 */
#ifndef WEND_H
#include "wend.h" /* which includes this file where it belongs */
#endif
#ifndef WEND_DIALECT_H
#define WEND_DIALECT_H

/* ---- Dialects: events in other vocabularies ------------------------------ */

/* A dialect turns the events of one run into the records of another
 * vocabulary, see wend-events(7). It is pure: the same events and options give
 * the same bytes, live and from a replay. It belongs to no runtime and may be
 * used on any thread, on one at a time. */
typedef struct wend_dialect wend_dialect;

/* Options that a dialect does not name below have no effect on it. Strings are
 * UTF-8. */
typedef struct wend_dialect_options {
    size_t size;
    bool verbose; /* agio: debug records, too */
} wend_dialect_options;

/* Returns the name of the i-th dialect, "native" for 0, or NULL past the last.
 * Static. [any thread] */
WEND_API const char *wend_dialect_name(size_t i);
/* Makes a dialect for the events of one run. options may be NULL.
 * WEND_E_NOTFOUND: no dialect has this name; err names one that is near.
 * [any thread] */
WEND_API wend_status wend_dialect_new(const char *name,
                                      const wend_dialect_options *options,
                                      wend_dialect **out, wend_error *err);
/* Feeds the next event of the run and lends the records that it gives until
 * the next call on the dialect: JSON objects, each followed by a newline;
 * often none, since a record may wait for a later event. `records` NULL: the
 * event is past for the reader, so it is only noted. An event must be fed once
 * and in order; a reader who comes late gets the events before as past ones.
 * WEND_E_NOMEM: records are lost, and every later call returns the same. */
WEND_API wend_status wend_dialect_feed(wend_dialect *dialect,
                                       const wend_event *event,
                                       wend_str *records);
/* Frees a dialect and the records that it lent. */
WEND_API void wend_dialect_free(wend_dialect *dialect);

#endif
