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
    /* What the client calls the conversation and the run. Default: the session
     * of the run if it has one, else its id; and its id. */
    const char *thread_id; /* ag-ui */
    const char *run_id;    /* ag-ui; also part of the ids of openai-chat and
                              responses, and the id of the message in ui */
    const char *model;     /* ag-ui, openai-chat, responses; default: the model
                              of the run */
    const char *version;   /* ag-ui: the protocolVersion that the client sent;
                              NULL: 0.x, which knows fewer events */
    bool include_usage;    /* openai-chat: a last chunk with the usage */
    bool whole; /* openai-chat, responses: no stream, but one object when the
                   run ends: the completion, the response, or an error */
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
/* Ends the stream of a protocol whose clients answer approvals in a request of
 * their own: ag-ui and ui. Lends the last records; those of ag-ui name the
 * approvals that are open. A later event begins a new stream; for another
 * request, make a dialect and feed it what is past. WEND_AGAIN: nothing waits
 * for approval, a message streams, or the dialect has no such end. */
WEND_API wend_status wend_dialect_interrupt(wend_dialect *dialect,
                                            wend_str *records);
/* Frees a dialect and the records that it lent. */
WEND_API void wend_dialect_free(wend_dialect *dialect);

#endif
