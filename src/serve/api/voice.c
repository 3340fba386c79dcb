/*
 * voice.c - events of a stream in another vocabulary: each record is one
 * server-sent event.
 */
#include "serve/api/api.h"

static void put_records(struct buf *out, wend_str records)
{
    wend_str line;

    while (str_line(&records, &line)) {
        if (!line.len)
            continue;
        buf_cstr(out, "data: ");
        buf_str(out, line);
        buf_cstr(out, "\n\n");
    }
}

static void on_event(struct serve_flow *s, const wend_event *ev, bool past,
                     struct buf *out)
{
    wend_str records = STR_NONE;

    if (wend_dialect_feed(s->ctx, ev, past ? NULL : &records) != WEND_OK)
        out->failed = true;
    else
        put_records(out, records);
}

static void on_free(void *ctx)
{
    wend_dialect_free(ctx);
}

static const struct serve_voice dialect_voice = {.event = on_event,
                                                 .free = on_free};

bool voice_of(struct serve_ask *q, wend_str dialect,
              struct serve_flow_options *o)
{
    wend_dialect *d;
    wend_error err;

    if (!dialect.ptr || str_is(dialect, "native"))
        return true;
    if (wend_dialect_new(ask_text(q, dialect), NULL, &d, &err) != WEND_OK) {
        respond_problem(q, 400, "query", "dialect", NULL, "%s", err.message);
        return false;
    }
    o->voice = &dialect_voice;
    o->ctx = d;
    return true;
}
