/*
 * span.c - spans from their beginning to the JSON of OTLP.
 */
#include "wire/otel/span.h"

#include <assert.h>

#include "base/hash.h"
#include "wire/otel/attr.h"

/* Status codes of OTLP; 0, unset, is also that of success. */
enum { STATUS_UNSET = 0, STATUS_ERROR = 2 };

void otel_span_id(unsigned char out[OTEL_SPAN_BYTES], wend_str run, int64_t seq)
{
    unsigned char hash[SHA256_BYTES];
    char number[21];
    struct sha256 h;

    sha256_init(&h);
    sha256_add(&h, run.ptr, run.len);
    sha256_add(&h, "/", 1);
    sha256_add(&h, number, i64_text(number, seq));
    sha256_end(&h, hash);
    hash[0] |= !hash[0]; /* all zero would be invalid */
    memcpy(out, hash, OTEL_SPAN_BYTES);
}

void otel_span_free(struct otel_stream *s, struct otel_open *o)
{
    if (!o)
        return;
    buf_free(&o->id);
    buf_free(&o->name);
    buf_free(&o->attrs);
    mem_free(s->mem, o);
}

struct otel_open *otel_span_begin(struct otel_stream *s, const wend_event *ev,
                                  enum otel_kind kind, wend_str id,
                                  const struct otel_open *parent)
{
    struct otel_open *o =
        s->open_count < OTEL_OPEN_MAX ? mem_zalloc(s->mem, sizeof *o) : NULL;

    if (!o) {
        s->lost++;
        return NULL;
    }
    *o = (struct otel_open){.kind = kind,
                            .span_kind = SPAN_INTERNAL,
                            .id.mem = s->mem,
                            .name.mem = s->mem,
                            .attrs.mem = s->mem,
                            .began_us = ev->time_us,
                            .attempt = 1};
    buf_str(&o->id, id);
    otel_span_id(o->span, buf_view(&s->run), ev->seq);
    if (!parent)
        parent = s->root;
    if (parent)
        memcpy(o->parent, parent->span, sizeof o->parent);
    if (kind == OTEL_RUN)
        return o;
    o->next = s->open;
    s->open = o;
    s->open_count++;
    return o;
}

struct otel_open *otel_span_find(const struct otel_stream *s,
                                 enum otel_kind kind, wend_str id)
{
    struct otel_open *o = s->open;

    while (o && !(o->kind == kind &&
                  (kind == OTEL_PLAN ||
                   str_eq(buf_view(&o->id), id.ptr ? id : STR("")))))
        o = o->next;
    return o;
}

/* What interrupted it was noticed only by the resume. */
static int64_t end_of(const struct otel_stream *s, const struct otel_open *o,
                      const wend_event *ev, wend_outcome outcome)
{
    bool cut = (outcome == WEND_OUTCOME_SUPERSEDED ||
                outcome == WEND_OUTCOME_UNKNOWN) &&
               s->cut_us && o->began_us <= s->cut_us;
    int64_t end_us = cut ? s->cut_us : ev->time_us;

    return end_us > o->began_us ? end_us : o->began_us;
}

/* A limit, a cancel and a skip are decisions, not errors. */
static bool is_error(wend_outcome outcome)
{
    return outcome == WEND_OUTCOME_FAILED ||
           outcome == WEND_OUTCOME_SUPERSEDED ||
           outcome == WEND_OUTCOME_DENIED || outcome == WEND_OUTCOME_TIMEOUT ||
           outcome == WEND_OUTCOME_UNKNOWN;
}

static void put_id(struct buf *b, const char *key, const unsigned char *id,
                   size_t len)
{
    char text[2 * OTEL_TRACE_BYTES + 1];

    hex_text(text, id, len);
    json_add_str(b, key, str_of(text));
}

static void put_status(struct buf *b, const struct otel_end *e, bool content)
{
    json_open(b, "status", '{');
    json_add_i64(b, "code", is_error(e->outcome) ? STATUS_ERROR : STATUS_UNSET);
    /* The text of an error may quote what a model or a tool said. */
    if (is_error(e->outcome) && content)
        json_add_str(b, "message", e->message);
    json_close(b, '}');
}

static void put_ns(struct buf *b, const char *key, int64_t us)
{
    attr_member_i64(b, key, us > 0 ? us * 1000 : 0);
}

static void put_span(struct otel_stream *s, struct otel_open *o,
                     const wend_event *ev, const struct otel_end *e)
{
    struct buf *b = s->out;
    wend_str outcome = str_of(wend_outcome_name(e->outcome));
    bool is_root = o == s->root;

    json_open(b, NULL, '{');
    put_id(b, "traceId", s->context.trace, sizeof s->context.trace);
    put_id(b, "spanId", o->span, sizeof o->span);
    if (!is_root || s->has_parent)
        put_id(b, "parentSpanId", o->parent, sizeof o->parent);
    if (s->state.len)
        json_add_str(b, "traceState", buf_view(&s->state));
    json_add_str(b, "name", buf_view(&o->name));
    json_add_i64(b, "kind", o->span_kind);
    put_ns(b, "startTimeUnixNano", o->began_us);
    put_ns(b, "endTimeUnixNano", end_of(s, o, ev, e->outcome));
    json_open(b, "attributes", '[');
    json_add_raw(b, NULL, buf_view(&o->attrs));
    attr_str(b, "wend.outcome", outcome);
    if (o->kind == OTEL_CHAT || o->kind == OTEL_CALL || o->kind == OTEL_ACTION)
        attr_i64(b, "wend.attempt", o->attempt);
    if (is_error(e->outcome))
        attr_str(b, "error.type", e->code.len ? e->code : outcome);
    json_close(b, ']');
    if (is_root && s->resumes.len) {
        json_open(b, "events", '[');
        json_add_raw(b, NULL, buf_view(&s->resumes));
        json_close(b, ']');
    }
    put_status(b, e, s->content);
    json_close(b, '}');
    buf_char(b, '\n');
}

static void write_span(struct otel_stream *s, struct otel_open *o,
                       const wend_event *ev, const struct otel_end *e)
{
    size_t before = s->out->len;

    if (s->past || !otel_stream_sampled(s))
        return;
    if (o->name.failed || o->attrs.failed || o->id.failed) {
        s->lost++;
        return;
    }
    put_span(s, o, ev, e);
    if (s->out->failed) {
        s->lost++;
        if (s->out->ptr)
            s->out->ptr[s->out->len = before] = 0;
    }
}

void otel_span_end(struct otel_stream *s, struct otel_open *o,
                   const wend_event *ev, struct otel_end e)
{
    struct otel_open **at = &s->open;

    if (!o)
        return;
    while (*at != o)
        at = &(*at)->next;
    write_span(s, o, ev, &e);
    *at = o->next;
    assert(s->open_count);
    s->open_count--;
    otel_span_free(s, o);
}

void otel_span_end_root(struct otel_stream *s, const wend_event *ev,
                        struct otel_end e)
{
    if (s->root)
        write_span(s, s->root, ev, &e);
}
