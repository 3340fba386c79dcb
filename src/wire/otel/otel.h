/*
 * otel.h - events of a run in, finished OpenTelemetry spans out.
 *
 * A span is one JSON object as OTLP/HTTP has it: ids in hex, 64-bit integers
 * as text, enumerations as numbers. Names and attributes follow the GenAI
 * conventions; what those have no word for begins with `wend.`:
 *
 *     invoke_agent AGENT       a run; invoke_workflow PLAN if it is a plan
 *       chat MODEL             each request to a model
 *       execute_tool TOOL      each attempt of a call
 *         invoke_agent CHILD   a run that the call waits for
 *       invoke_workflow PLAN   a plan that a model wrote
 *         execute_tool TOOL    an action that calls a tool
 *         action NAME          any other
 *           chat MODEL
 *
 * It is pure: ids follow from the run's id and the number of the event that
 * begins a span, times are those of the events. What people, models and tools
 * say is in a span only if the host wants it.
 */
#ifndef WIRE_OTEL_H
#define WIRE_OTEL_H

#include "base/str.h"

/* ---- Trace context (context.c) ------------------------------------------- */

enum {
    OTEL_TRACE_BYTES = 16,
    OTEL_SPAN_BYTES = 8,
    OTEL_PARENT_LEN = 55, /* of a traceparent */
    OTEL_STATE_MAX = 256, /* of a tracestate: what a label holds */
    OTEL_SAMPLED = 1,     /* in flags: the trace is recorded */
};

/* A span as others know it. */
struct otel_context {
    unsigned char trace[OTEL_TRACE_BYTES], span[OTEL_SPAN_BYTES];
    uint8_t flags;
};

/* A traceparent of W3C Trace Context; false: it is invalid and means nothing.
 * Of a later version the first four fields count. */
bool otel_parent_read(wend_str text, struct otel_context *out);
void otel_parent_text(const struct otel_context *c,
                      char out[OTEL_PARENT_LEN + 1]);
/* Whether a tracestate can be passed on as a header. */
bool otel_state_ok(wend_str text);

/* ---- One run (stream.c) -------------------------------------------------- */

enum otel_kind { OTEL_RUN, OTEL_CHAT, OTEL_CALL, OTEL_PLAN, OTEL_ACTION };

/* A span that has begun; only for the files of this room. */
struct otel_open;
struct otel_model;
struct json;

struct otel_options {
    wend_str run;                      /* its id */
    const struct otel_context *parent; /* NULL: as its labels say */
    wend_str state;                    /* tracestate that comes with it */
    bool content; /* prompts, answers, arguments and results, too */
};

struct otel_stream {
    const struct mem *mem;
    struct arena scratch; /* of this event */
    struct buf run;
    struct buf *out;
    bool content, past;
    bool begun;      /* run_start was seen: without it there are no spans */
    bool has_parent; /* root.parent is a span of another program or run */
    bool given;      /* ... by the options */
    bool is_plan;
    struct otel_context parent;  /* that the options gave */
    struct otel_context context; /* of the root span */
    struct buf state;            /* tracestate; may be empty */
    struct otel_open *root;
    struct otel_open *open; /* the others, newest first */
    size_t open_count;
    struct otel_model *models;
    struct buf session;
    struct buf resumes; /* span events of the root */
    int64_t last_us;    /* time of the previous event */
    int64_t cut_us;     /* of the last one before a resume; 0: none */
    uint64_t lost;      /* spans that were not recorded */
};

/* m and nothing else is borrowed. */
void otel_stream_open(struct otel_stream *s, const struct mem *m,
                      const struct otel_options *o);
/* Appends the spans that the event ends, a line each. With `past` they are
 * not written: another process has sent them. The run's own span is written
 * at each run_end, since a store may refuse the first one. False: out of
 * memory, and spans are missing; out->failed is set if it was for `out`. */
bool otel_stream_event(struct otel_stream *s, const wend_event *ev,
                       struct buf *out, bool past);
void otel_stream_close(struct otel_stream *s); /* also if never opened */

/* The span that others continue: a call or an action by its id, the request to
 * a model by its action (absent: the turn's own), or the run. False: none is
 * open. */
bool otel_stream_context(const struct otel_stream *s, enum otel_kind kind,
                         wend_str id, struct otel_context *out);
/* Whether its spans are wanted: a caller may have decided otherwise. */
bool otel_stream_sampled(const struct otel_stream *s);

/* ---- Requests and settings (request.c) ----------------------------------- */

/* Appends what comes before the spans of a request, which commas separate, and
 * after them. resource: a JSON object of texts. */
void otel_request_begin(struct buf *b, const struct json *resource);
void otel_request_end(struct buf *b);
/* How many spans the answer says were refused, and why (lent by the arena). */
int64_t otel_rejected(wend_str answer, struct arena *a, wend_str *why);

/* Takes the next pair off a list `key=value,key=value` as the OTEL_ variables
 * have them; the value, with its %XX decoded, replaces the text of `value`.
 * False: nothing is left, or what is left is invalid (rest->len is not 0). */
bool otel_pair(wend_str *rest, wend_str *key, struct buf *value);

#endif
