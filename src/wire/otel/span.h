/*
 * span.h - spans that have begun, for the files of this room.
 */
#ifndef WIRE_OTEL_SPAN_H
#define WIRE_OTEL_SPAN_H

#include "base/json.h"
#include "wire/otel/otel.h"

enum {
    OTEL_OPEN_MAX = 4096, /* at once in a run: far more than its limits allow */
    OTEL_CONTENT_MAX = 64 << 10, /* bytes of one text that someone said */
    OTEL_RESUMES_MAX = 4 << 10,  /* bytes of the list of resumes */
};

/* SpanKind of OTLP. */
enum { SPAN_INTERNAL = 1, SPAN_CLIENT = 3 };

struct otel_open {
    struct otel_open *next;
    enum otel_kind kind;
    int span_kind;
    struct buf id;          /* of the call or action; of a chat: its action */
    struct buf name, attrs; /* attrs: items of a list */
    unsigned char span[OTEL_SPAN_BYTES], parent[OTEL_SPAN_BYTES];
    int64_t began_us, attempt;
    wend_purpose purpose; /* of a chat */
    size_t base;          /* bytes of attrs that the next attempt has, too */
};

/* How a span ended. */
struct otel_end {
    wend_outcome outcome;
    wend_str code, message; /* of what failed; may be absent */
};

/* parent NULL: the root. NULL: too many are open, or out of memory; then it is
 * counted as lost. */
struct otel_open *otel_span_begin(struct otel_stream *s, const wend_event *ev,
                                  enum otel_kind kind, wend_str id,
                                  const struct otel_open *parent);
struct otel_open *otel_span_find(const struct otel_stream *s,
                                 enum otel_kind kind,
                                 wend_str id); /* id absent: any of a plan */
/* Writes it, unless it is past, and drops it; not the root. o may be NULL. */
void otel_span_end(struct otel_stream *s, struct otel_open *o,
                   const wend_event *ev, struct otel_end e);
/* Writes the root and keeps it. */
void otel_span_end_root(struct otel_stream *s, const wend_event *ev,
                        struct otel_end e);
void otel_span_free(struct otel_stream *s, struct otel_open *o);
/* The id of the span that event `seq` of a run begins. */
void otel_span_id(unsigned char out[OTEL_SPAN_BYTES], wend_str run,
                  int64_t seq);

/* said.c: nothing unless the stream is to have what was said; o may be NULL. */
void said_text(const struct otel_stream *s, struct otel_open *o,
               const char *key, wend_str text);
void said_message(const struct otel_stream *s, struct otel_open *o,
                  const char *key, const char *role, wend_str text,
                  wend_str finish);
void said_answer(const struct otel_stream *s, struct otel_open *o,
                 const wend_ev_model_end *e);

/* model.c: which service has the models that a config names. */
void models_note(struct otel_stream *s, wend_str model, wend_str config_json);
void models_put(const struct otel_stream *s, struct buf *attrs, wend_str model);
void models_free(struct otel_stream *s);

#endif
