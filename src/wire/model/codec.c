/*
 * codec.c - what all codecs share: events to JSON, errors, the end.
 *
 * A codec never sees an error object, nor anything after a failure or an end
 * mark.
 */
#include "wire/model/model.h"

#include <assert.h>

#include "base/ascii.h"
#include "base/utf8.h"
#include "wire/model/failure.h"

enum {
    SCRATCH_MIN = 2 << 10,   /* the tree of a usual delta */
    SCRATCH_KEEP = 64 << 10, /* more is given back after the event */
    MESSAGE_MAX = 1024,      /* of a failure found here */
    WORD_MAX = 64,           /* bytes of an unknown finish reason */
};

#define X(name) &codec_##name,
static const struct codec *const codecs[] = {CODECS(X)};
#undef X
enum { CODECS_COUNT = sizeof codecs / sizeof *codecs };

/* ---- Failures ------------------------------------------------------------ */

void wire_fail_nomem(struct decoder *d)
{
    d->failed = d->nomem = true;
}

void wire_fail_fmt(struct decoder *d, const char *code, const char *fmt, ...)
{
    char text[MESSAGE_MAX];
    va_list ap;

    if (d->failed)
        return;
    va_start(ap, fmt);
    utf8_vfmt(text, sizeof text, fmt, ap);
    va_end(ap);
    d->failed = true;
    d->sink->fail(d->sink->ctx, str_of(code), str_of(text));
}

static void fail_said(struct decoder *d, const struct failure_said *said)
{
    struct buf b = {.mem = d->mem};

    if (d->failed)
        return;
    failure_said_text(&b, said);
    if (!b.len)
        buf_cstr(&b, "the server reported an error without a message");
    if (b.failed) {
        wire_fail_nomem(d);
    } else {
        d->failed = true;
        d->sink->fail(d->sink->ctx, failure_said_code(said), buf_view(&b));
    }
    buf_free(&b);
}

void wire_fail(struct decoder *d, const struct json *error)
{
    struct failure_said said;

    failure_read(error, &said);
    if (str_is(failure_said_code(&said), "unknown"))
        said.status = 500; /* it broke off: as good as any broken server */
    fail_said(d, &said);
}

/* Says where the JSON is invalid, and how the text begins. */
static void fail_parse(struct decoder *d, wend_str data, const wend_error *err)
{
    struct buf head = {.mem = d->mem};

    failure_text(&head, data, FAILURE_HEAD_MAX);
    if (err->status == WEND_E_NOMEM || head.failed)
        wire_fail_nomem(d);
    else if (d->cut)
        wire_fail_fmt(d, "network", "the answer was cut off");
    else
        wire_fail_fmt(d, "service",
                      "the server sent invalid JSON (line %u, byte %u: %s)%s%s",
                      (unsigned)err->line, (unsigned)err->column, err->message,
                      head.len ? ": " : "", buf_view(&head).ptr);
    buf_free(&head);
}

/* ---- Another API --------------------------------------------------------- */

/* How the events of each API are told from those of the others: by a member,
 * or by how their type begins. */
static const struct wire_api {
    const char *member, *type, *name, *provider;
} apis[] = {
    {"choices", NULL, "Chat Completions", "openai"},
    {NULL, "response.", "the Responses API", "responses"},
    {NULL, "message_start", "the Messages API", "anthropic"},
    {"candidates", NULL, "the Gemini API", "gemini"},
};

static const struct wire_api *api_of(const struct json *j)
{
    wend_str type = json_get_str(j, "type");

    for (size_t i = 0; i < sizeof apis / sizeof *apis; i++)
        if (apis[i].member ? json_get(j, apis[i].member) != NULL
                           : type.ptr && str_starts(type, apis[i].type))
            return &apis[i];
    return NULL;
}

/* Another try would get the same answer; another model may give a good one:
 * the code says both. */
static void fail_api(struct decoder *d, const struct wire_api *api)
{
    wire_fail_fmt(d, "not_found", "this looks like %s; use %s:NAME", api->name,
                  api->provider);
}

/* Whether all that came was of another API, which is told. */
static bool fails_as_other(struct decoder *d)
{
    const struct wire_api *api = d->looks_like;

    if (d->own || !api || !strcmp(api->provider, d->codec->name))
        return false;
    fail_api(d, api);
    return true;
}

/* ---- Errors in place of an answer ---------------------------------------- */

static bool says_error(const struct json *j)
{
    const struct json *error = json_get(j, "error");

    if (error && error->kind != JSON_NULL && error->kind != JSON_FALSE &&
        !(error->kind == JSON_STRING && !error->text.len))
        return true;
    if (str_is(json_get_str(j, "object"), "error"))
        return true;
    /* The only member, as web frameworks answer. */
    return j->kind == JSON_OBJECT && j->count == 1 && json_get(j, "detail");
}

/* A list is one long answer: its error may stand last. */
static const struct json *find_error(const struct json *j)
{
    if (j->kind != JSON_ARRAY)
        return says_error(j) ? j : NULL;
    for (const struct json *item = j->first; item; item = item->next)
        if (says_error(item))
            return item;
    return NULL;
}

/* ---- Decoder ------------------------------------------------------------- */

static bool is_gap(char c)
{
    return (unsigned char)c <= ' ';
}

static void forget_event(struct decoder *d)
{
    if (d->scratch.failed)
        wire_fail_nomem(d);
    d->cuts.count = 0;
    if (d->scratch.held > SCRATCH_KEEP)
        arena_free(&d->scratch);
    else
        arena_reset(&d->scratch);
}

/* The value, or NULL after telling of the error that it is. */
static const struct json *read_value(struct decoder *d, wend_str data,
                                     bool is_error)
{
    wend_error err = {0};
    const struct json *j = json_parse_cuts(data, &d->scratch, &d->cuts, &err);
    const struct json *error;

    if (!j && is_error && err.status != WEND_E_NOMEM) {
        struct failure_said said = {.message = data, .status = 500};

        fail_said(d, &said);
        return NULL;
    }
    if (!j) {
        fail_parse(d, data, &err);
        return NULL;
    }
    error = is_error ? j : find_error(j);
    if (error && d->codec->usage)
        d->codec->usage(d, error);
    if (error)
        wire_fail(d, error);
    return error ? NULL : j;
}

bool decoder_init(struct decoder *d, const struct codec *c, const struct mem *m,
                  const struct wire_sink *sink)
{
    memset(d, 0, sizeof *d);
    d->codec = c;
    d->mem = m;
    d->sink = sink;
    d->scratch.mem = m;
    d->scratch.chunk_min = SCRATCH_MIN;
    if (c->state_size) {
        d->state = mem_zalloc(m, c->state_size);
        if (!d->state)
            wire_fail_nomem(d);
    }
    return !d->failed;
}

static void on_end_mark(struct decoder *d)
{
    if (d->finished || (d->codec->end_mark && d->own))
        d->finished = d->done = true;
    else if (d->own || fails_as_other(d))
        return; /* the API has no end mark, and the answer is incomplete */
    else if (!d->codec->end_mark)
        fail_api(d, &apis[0]);
    else
        wire_fail_fmt(d, "network", "the answer is empty");
}

/* Events that are not listed are ignored. */
static void dispatch(struct decoder *d, wend_str name, const struct json *data)
{
    const struct wire_event *e = d->codec->events;
    wend_str type = json_get_str(data, "type");

    assert(e);
    if (!type.len)
        type = name;
    while (e->type && !str_is(type, e->type))
        e++;
    if (!e->type)
        return;
    d->own = true;
    e->fn(d, data);
}

bool decoder_event(void *decoder, wend_str name, wend_str data)
{
    struct decoder *d = decoder;
    bool is_error = str_is(name, "error");
    const struct json *j;

    data = str_trim(data, is_gap);
    if (d->failed || d->done)
        return !d->failed;
    if (str_is(data, "[DONE]")) {
        on_end_mark(d);
        return !d->failed;
    }
    if (!data.len && !is_error) /* keeps the connection open, says nothing */
        return true;
    d->any = true;
    j = read_value(d, data, is_error);
    if (j && !d->looks_like)
        d->looks_like = api_of(j);
    if (j && d->codec->event)
        d->codec->event(d, j);
    else if (j)
        dispatch(d, name, j);
    forget_event(d);
    return !d->failed;
}

void decoder_last(struct decoder *d, struct sse *s)
{
    d->cut = s->line.len > 0;
    sse_end(s, decoder_event, d);
    d->cut = false;
}

void decoder_whole(struct decoder *d, wend_str body)
{
    const struct json *j;

    if (d->failed)
        return;
    body = str_trim(body, is_gap);
    d->cut = body.len && strchr("[{", body.ptr[0]) &&
             !strchr("]}", body.ptr[body.len - 1]);
    j = read_value(d, body, false);
    d->looks_like = j ? api_of(j) : NULL;
    if (j && !fails_as_other(d))
        d->codec->whole(d, j);
    forget_event(d);
}

/* A stop or a pause after calls is a wish to have them made; one inside a call
 * is a failure, and so is an unknown word after an answer with nothing in it.
 */
static void tell_finish(struct decoder *d)
{
    static const char *const complete[] = {"stop", "tool_calls", "pause"};
    const char *reason = d->reason ? d->reason : "stop";
    int which = str_index(str_of(reason), complete, 3);

    assert(d->sealed_count <= d->calls_count);
    if (which >= 0)
        reason = d->calls_count ? "tool_calls" : which == 1 ? "stop" : reason;
    if ((which >= 0 || reason == d->unknown) &&
        d->sealed_count < d->calls_count)
        wire_fail_fmt(d, "service", "the answer ended inside a tool call");
    else if (reason == d->unknown && !d->shown)
        wire_fail_fmt(d, "service", "the answer ended with %s and is empty",
                      strchr(reason, ':') + 1);
    else
        d->sink->finish(d->sink->ctx, str_of(reason));
}

static void finish(struct decoder *d)
{
    wire_text_end(d);
    if (d->codec->end)
        d->codec->end(d);
    if (!d->failed)
        tell_finish(d);
}

void decoder_end(struct decoder *d)
{
    if (d->failed)
        return;
    if (d->finished)
        finish(d);
    else if (fails_as_other(d))
        return;
    else if (d->any)
        wire_fail_fmt(d, "network", "the stream ended before the answer did");
    else
        wire_fail_fmt(d, "network", "the answer is empty");
    if (d->scratch.last)
        forget_event(d);
}

void decoder_free(struct decoder *d)
{
    if (d->state && d->codec->free)
        d->codec->free(d);
    mem_free(d->mem, d->state);
    buf_free(&d->item);
    buf_free(&d->id.id);
    arena_free(&d->scratch);
    d->state = NULL;
}

/* ---- For codecs ---------------------------------------------------------- */

const struct codec *codec_find(wend_str name)
{
    for (size_t i = 0; i < CODECS_COUNT; i++)
        if (str_is(name, codecs[i]->name))
            return codecs[i];
    return NULL;
}

void codec_path(const struct codec *c, wend_str model, struct buf *out)
{
    const char *place = strchr(c->path, '%');

    if (!place) {
        buf_cstr(out, c->path);
        return;
    }
    buf_add(out, c->path, (size_t)(place - c->path));
    for (size_t i = 0; i < model.len; i++) {
        unsigned char b = (unsigned char)model.ptr[i];

        if (is_word((char)b) || (b && strchr("-.~", b)))
            buf_char(out, (char)b);
        else
            buf_fmt(out, "%%%02X", b);
    }
    buf_cstr(out, place + 2);
}

const struct codec *codec_at(size_t i)
{
    return i < CODECS_COUNT ? codecs[i] : NULL;
}

const char *wire_reason(struct decoder *d, wend_str word)
{
    const struct wire_reason *r = d->codec->reasons;

    for (; r->words[0]; r++)
        if (str_index(word, r->words, WIRE_WORDS_MAX) >= 0)
            return r->meaning;
    utf8_fmt(d->unknown, sizeof d->unknown, "unknown:%.*s",
             (int)utf8_cut(word, WORD_MAX), word.ptr);
    return d->unknown;
}

bool wire_begin_again(struct decoder *d)
{
    if (d->shown)
        wire_fail_fmt(d, "network",
                      "the stream is broken: the server began another message "
                      "in the middle of this one");
    return !d->failed;
}

void wire_keep(struct decoder *d, struct buf *b, wend_str s)
{
    b->mem = d->mem;
    buf_str(b, s);
    if (b->failed)
        wire_fail_nomem(d);
}

void wire_keep_json(struct decoder *d, struct buf *b, const struct json *j)
{
    b->mem = d->mem;
    json_put(b, j);
    if (b->failed)
        wire_fail_nomem(d);
}

bool wire_id_changes(struct decoder *d, wend_str id)
{
    struct wire_id *w = &d->id;
    bool same = str_eq(buf_view(&w->id), id);
    bool changes = id.len && !same && w->repeats;

    w->repeats = id.len && same;
    if (same)
        return false;
    buf_clear(&w->id);
    wire_keep(d, &w->id, id);
    return changes;
}

int wire_call(struct decoder *d, wend_str id, wend_str name)
{
    int call = name.len ? d->sink->call(d->sink->ctx, id, name) : -1;

    d->shown = true;
    d->calls_count += call >= 0;
    if (!name.len)
        wire_fail_fmt(d, "service", "a tool call without a name");
    else if (call < 0)
        wire_fail_fmt(d, "service", "more than %d tool calls in one message",
                      CALLS_MAX);
    return call;
}

void wire_args(struct decoder *d, int call, wend_str piece)
{
    if (piece.len)
        d->sink->args(d->sink->ctx, call, piece);
}

void wire_seal(struct decoder *d, int call)
{
    assert(d->sealed_count < d->calls_count);
    d->sealed_count++;
    d->sink->seal(d->sink->ctx, call);
}

wend_str wire_args_text(struct decoder *d, const struct json *args)
{
    if (!args || args->kind == JSON_NULL)
        return STR("");
    if (args->kind == JSON_STRING)
        return args->text;
    buf_clear(&d->item);
    wire_keep_json(d, &d->item, args);
    return buf_view(&d->item);
}

int64_t wire_i64(const struct json *j, const char *key)
{
    int64_t n;

    return json_i64(json_get(j, key), &n) && n > 0 ? n : 0;
}
