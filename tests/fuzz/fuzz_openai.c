/*
 * fuzz_openai.c - any stream: the contract of a sink, however it is cut.
 *
 * The first byte chooses the cut, and whether the rest is a whole answer.
 */
#include <stdlib.h>

#include "base/limits.h"
#include "base/utf8.h"
#include "wire/model/model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct told {
    struct buf lines;
    int calls;
    bool sealed[CALLS_MAX], finished, failed;
};

static void must(bool holds)
{
    if (!holds)
        abort();
}

static struct told *note(void *ctx, const char *what, wend_str text)
{
    struct told *t = ctx;

    must(!t->failed && !t->finished);
    must(utf8_valid_len(text) == text.len);
    buf_fmt(&t->lines, "%s %zu ", what, text.len);
    buf_str(&t->lines, text);
    return t;
}

static void on_text(void *ctx, wend_str piece)
{
    must(piece.len);
    note(ctx, "text", piece);
}

static void on_thinking(void *ctx, wend_str piece)
{
    must(piece.len);
    note(ctx, "thinking", piece);
}

static int on_call(void *ctx, wend_str id, wend_str name)
{
    struct told *t = note(ctx, "call", id);

    must(name.len && utf8_valid_len(name) == name.len);
    buf_str(&t->lines, name);
    return t->calls == CALLS_MAX ? -1 : t->calls++;
}

static void on_args(void *ctx, int call, wend_str piece)
{
    struct told *t = note(ctx, "args", piece);

    must(piece.len && call >= 0 && call < t->calls && !t->sealed[call]);
}

static void on_seal(void *ctx, int call)
{
    struct told *t = note(ctx, "seal", STR(""));

    must(call >= 0 && call < t->calls && !t->sealed[call]);
    t->sealed[call] = true;
}

static void on_opaque(void *ctx, wend_str json)
{
    static const struct mem plain;
    struct arena a = {.mem = &plain};

    must(json_parse(json, &a, NULL));
    arena_free(&a);
    note(ctx, "opaque", json);
}

static void on_usage(void *ctx, const wend_ev_usage *u)
{
    must(u->cached >= 0 && u->reasoning >= 0 && u->cached <= u->input &&
         u->reasoning <= u->output && u->cost_nano >= -1);
    note(ctx, "usage", STR(""));
}

static void on_finish(void *ctx, wend_str reason)
{
    note(ctx, "finish", reason)->finished = true;
}

static void on_fail(void *ctx, wend_str code, wend_str message)
{
    must(code.len && message.len);
    note(ctx, "fail", message)->failed = true;
}

static void on_restart(void *ctx)
{
    (void)ctx;
    abort(); /* this API never does */
}

static void run(const uint8_t *data, size_t size, size_t step, struct told *t)
{
    static const struct mem plain;
    struct wire_sink sink = {
        t,         on_text,  on_thinking, on_call, on_args,    on_seal,
        on_opaque, on_usage, on_finish,   on_fail, on_restart,
    };
    struct decoder d;
    struct sse s;

    t->lines.mem = &plain;
    sse_init(&s, &plain, codec_openai.framing, 1 << 20);
    must(decoder_init(&d, &codec_openai, &plain, &sink));
    if (data[0] & 1)
        decoder_whole(&d, (wend_str){(const char *)data + 1, size - 1});
    else
        for (size_t at = 1, len; at < size; at += len) {
            len = step && step < size - at ? step : size - at;
            sse_feed(&s, (const char *)data + at, len, decoder_event, &d);
        }
    must(sse_end(&s, decoder_event, &d) == WEND_OK);
    decoder_end(&d);
    must(t->finished != t->failed && d.failed == t->failed && !d.nomem);
    decoder_free(&d);
    sse_free(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct told whole, cut;

    if (!size)
        return 0;
    memset(&whole, 0, sizeof whole);
    memset(&cut, 0, sizeof cut);
    run(data, size, 0, &whole);
    run(data, size, 1 + (data[0] >> 1 & 15), &cut);
    must(str_eq(buf_view(&whole.lines), buf_view(&cut.lines)));
    buf_free(&whole.lines);
    buf_free(&cut.lines);
    return 0;
}
