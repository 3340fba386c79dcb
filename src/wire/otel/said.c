/*
 * said.c - what people, models and tools said, if the host wants it in spans.
 */
#include "wire/otel/span.h"

#include "base/utf8.h"
#include "wire/otel/attr.h"

static wend_str cut(wend_str text)
{
    text.len = utf8_cut(text, OTEL_CONTENT_MAX);
    return text;
}

void said_text(const struct otel_stream *s, struct otel_open *o,
               const char *key, wend_str text)
{
    if (s->content && o && text.len)
        attr_str(&o->attrs, key, cut(text));
}

static void open_message(struct buf *b, const char *role)
{
    json_open(b, NULL, '[');
    json_open(b, NULL, '{');
    json_add_str(b, "role", str_of(role));
    json_open(b, "parts", '[');
}

static void put_text_part(struct buf *b, wend_str text)
{
    if (!text.len)
        return;
    json_open(b, NULL, '{');
    json_add_str(b, "type", STR("text"));
    json_add_str(b, "content", cut(text));
    json_close(b, '}');
}

/* Closes the message and adds it to the span; frees b. */
static void put_message(struct otel_open *o, const char *key, struct buf *b,
                        wend_str finish)
{
    json_close(b, ']');
    json_add_str(b, "finish_reason", finish);
    json_close(b, '}');
    json_close(b, ']');
    o->attrs.failed |= b->failed;
    attr_str(&o->attrs, key, buf_view(b));
    buf_free(b);
}

void said_message(const struct otel_stream *s, struct otel_open *o,
                  const char *key, const char *role, wend_str text,
                  wend_str finish)
{
    struct buf b = {.mem = s->mem};

    if (!s->content || !o || !text.len)
        return;
    open_message(&b, role);
    put_text_part(&b, text);
    put_message(o, key, &b, finish);
}

void said_answer(const struct otel_stream *s, struct otel_open *o,
                 const wend_ev_model_end *e)
{
    struct buf b = {.mem = s->mem};

    if (!s->content)
        return;
    open_message(&b, "assistant");
    put_text_part(&b, e->text);
    for (size_t i = 0; i < e->calls_count; i++) {
        wend_str args = e->calls[i].args_json;

        json_open(&b, NULL, '{');
        json_add_str(&b, "type", STR("tool_call"));
        json_add_str(&b, "id", e->calls[i].id);
        json_add_str(&b, "name", e->calls[i].name);
        if (args.len <= OTEL_CONTENT_MAX)
            json_add_raw(&b, "arguments", args);
        json_close(&b, '}');
    }
    put_message(o, "gen_ai.output.messages", &b, e->finish);
}
