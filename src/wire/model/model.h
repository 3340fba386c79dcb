/*
 * model.h - how one provider's API is spoken: bytes <-> meaning, pure.
 *
 * A codec turns a turn into a request body, and the events of an answer's
 * stream into pieces. It keeps its state in memory the driver gives it and
 * tells the sink; it never waits, never retries, never decides.
 */
#ifndef WIRE_MODEL_H
#define WIRE_MODEL_H

#include <stdbool.h>
#include <stddef.h>

#include "core/turn/turn.h"
#include "wire/http/http.h"
#include "wire/model/join.h"

/* What is asked: the conversation is the turn's. */
struct wire_ask {
    const struct turn *turn;
    wend_str model;     /* the provider's name for it */
    int64_t max_tokens; /* of the answer; 0 = the provider's default */
    wend_str schema;    /* JSON Schema of the answer; absent: free text */
    /* To go on with the bytes of an earlier request, which had the same
     * config and history up to `after`: `out` holds them up to the length
     * that was left in *messages_end. A codec that cannot go on leaves 0
     * there. Both may be NULL. */
    const struct msg *after;
    size_t *messages_end;
};

/* Where a decoder puts what it finds. Text is never empty. */
struct wire_sink {
    void *ctx;
    void (*text)(void *ctx, wend_str piece);
    void (*thinking)(void *ctx, wend_str piece);
    /* Opens a call; an absent or empty id is made up. Returns a handle, or
     * -1 if no more are taken. */
    int (*call)(void *ctx, wend_str id, wend_str name);
    void (*args)(void *ctx, int call, wend_str piece);
    void (*seal)(void *ctx, int call); /* its arguments are complete */
    /* One JSON value that must be sent back with this message. */
    void (*opaque)(void *ctx, wend_str json);
    /* Replaces what was told before; input includes cached. */
    void (*usage)(void *ctx, const wend_ev_usage *usage);
    /* stop, length, tool_calls, content_filter; pause: it goes on when the
     * message comes back; unknown:WORD: a word that no table has, after an
     * answer that is whole */
    void (*finish)(void *ctx, wend_str reason);
    /* An error in the middle of the stream; code as struct model_error. */
    void (*fail)(void *ctx, wend_str code, wend_str message);
    /* The server began the message anew before any of it was told. */
    void (*restart)(void *ctx);
};

struct decoder {
    const struct codec *codec;
    const struct mem *mem;
    const struct wire_sink *sink;
    struct arena scratch;  /* of one event; reset after each */
    struct json_cuts cuts; /* of the same event */
    struct join text, thinking;
    bool any;      /* an event came that said something */
    bool own;      /* ... in this API: the codec sets it */
    bool shown;    /* text, thinking or a call was told */
    bool finished; /* a finish reason or an end mark was seen */
    bool done;     /* an end mark was: what comes after it is ignored */
    bool failed;   /* sink->fail was called, or out of memory */
    bool nomem;
    bool cut;                          /* what is read broke off */
    const struct wire_api *looks_like; /* the first event of any API */
    char unknown[80];                  /* see wire_unknown */
    void *state; /* the codec's, state_size bytes, zeroed */
};

struct codec {
    const char *name; /* of the provider: openai ... */
    bool end_mark;    /* `[DONE]` ends its answers */
    enum sse_framing framing;
    /* `%s` stands for the key; NULL: none is sent. */
    const char *key_header;
    const char *const *headers; /* more of them, NULL at the end; or NULL */
    const char *key_env;        /* where the key is looked for */
    const char *base_url;       /* default; no slash at the end */
    /* Appends what follows the base URL. */
    void (*path)(const struct wire_ask *q, struct buf *out);
    /* Appends the request body: canonical JSON, tools sorted by name; the
     * same turn gives the same bytes. */
    void (*request)(const struct wire_ask *q, struct buf *out);
    /* What the request allows an answer if nobody says how long it may be;
     * NULL: nothing stands in it. */
    int64_t (*output_tokens)(wend_str model, enum effort effort);
    size_t state_size;
    /* Tells what was used, if an event says it; NULL: it never does. */
    void (*usage)(struct decoder *d, const struct json *data);
    /* One event of the stream (or one line). */
    void (*event)(struct decoder *d, wend_str name, const struct json *data);
    /* A whole answer that did not stream; end() comes after it. */
    void (*whole)(struct decoder *d, const struct json *body);
    /* The stream is over and `finished`: seal what is open. */
    void (*end)(struct decoder *d);
    void (*free)(struct decoder *d); /* of the state; may be NULL */
};

/* In the order of `wend models`. */
#define CODECS(X) \
    X(openai)     \
    X(anthropic)  \
    X(gemini)     \
    X(ollama)     \
    X(responses)

#define X(name) extern const struct codec codec_##name;
CODECS(X)
#undef X
const struct codec *codec_find(wend_str name); /* NULL if unknown */

bool decoder_init(struct decoder *d, const struct codec *c, const struct mem *m,
                  const struct wire_sink *sink);
/* For sse_feed: parses data as JSON (`[DONE]` is an end mark where the codec
 * has one, a payload that is no JSON a failure) and hands it to the codec.
 * False once failed. */
bool decoder_event(void *decoder, wend_str name, wend_str data);
/* The bytes are over: an event that is not complete is the last one. If it
 * breaks off inside a line, that is a failure of the network. */
void decoder_last(struct decoder *d, struct sse *s);
/* An answer that did not stream; decoder_end follows it, too. */
void decoder_whole(struct decoder *d, wend_str body);
/* A stream that was not `finished` fails as "network": its open calls are
 * never sealed. */
void decoder_end(struct decoder *d);
void decoder_free(struct decoder *d);

/* ---- For codecs ---------------------------------------------------------- */

/* Messages of a turn that came after that one (NULL: all of them), oldest
 * first, in the arena; NULL: out of memory. */
const struct msg **wire_messages(const struct turn *t, const struct msg *after,
                                 struct arena *a, size_t *count);
/* The calls of an assistant message, first one first. */
const struct call **wire_calls(const struct msg *m, struct arena *a,
                               size_t *count);
/* Whether the model that is asked wrote the message. What another one keeps
 * with it, and how it thought, is for nobody else: servers refuse it. */
bool wire_is_own(const struct turn *t, const struct msg *m);
/* The id of a call, and that which its result answers. What another server
 * made may be refused (its signs, its length): such a call gets one that all
 * take. It is in `room` or lent by the message. */
enum { WIRE_ID = 9 }; /* the only length that some take */
wend_str wire_call_id(const struct turn *t, const struct msg *m,
                      const struct call *c, char room[WIRE_ID + 1]);
wend_str wire_result_id(const struct turn *t, const struct msg *result,
                        char room[WIRE_ID + 1]);
/* Tells the sink of an error object as any provider writes it. Of several
 * failures only the first one is told. */
void wire_fail(struct decoder *d, const struct json *error);
void wire_fail_fmt(struct decoder *d, const char *code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void wire_fail_nomem(struct decoder *d);
/* Tokens to think with, where an API wants a number: less than the answer may
 * have (0: no limit), and 0 if that leaves too few or none were wanted. */
int64_t wire_think_tokens(enum effort effort, int64_t max_tokens);
/* A piece as it is to be told; see join.h. */
wend_str wire_join(struct decoder *d, struct join *j, wend_str piece);
/* Tell the sink of a piece, joined and if it is not empty; return how many
 * bytes were told. */
size_t wire_text(struct decoder *d, wend_str piece);
size_t wire_thinking(struct decoder *d, wend_str piece);
/* At the end of the answer: what was held of both. */
void wire_rest(struct decoder *d);
/* The finish reason for a word that no table has. */
const char *wire_unknown(struct decoder *d, wend_str word);
/* Tells how the answer ended. An unknown word after an answer with nothing in
 * it is a failure. */
void wire_finish(struct decoder *d, const char *reason);
/* The server began another message in the same stream. True if nothing of the
 * first was told; else the stream is broken, which is told. */
bool wire_begin_again(struct decoder *d);
/* The id that all events of a message repeat; zero-initialise. Some servers
 * give each event an id of its own, or none. */
struct wire_id {
    struct buf id;
    bool repeats; /* two events in a row had it */
};
/* Whether this id begins another message. */
bool wire_id_changes(struct decoder *d, struct wire_id *w, wend_str id);
/* Opens a call with the sink. A call without a name, or one more than are
 * taken, is a failure: -1. */
int wire_call(struct decoder *d, wend_str id, wend_str name);
/* Events by the `type` in them, or by their name if there is none. */
struct wire_event {
    const char *type;
    void (*fn)(struct decoder *d, const struct json *ev);
};
/* Calls the one that fits; what is not listed means nothing. */
void wire_dispatch(struct decoder *d, wend_str name, const struct json *data,
                   const struct wire_event *events, size_t count);
/* A count: 0 if absent, no integer or negative; j may be NULL. */
int64_t wire_i64(const struct json *j, const char *key);

/* ---- The providers ------------------------------------------------------- */

struct provider {
    const char *name;    /* openai ... */
    const char *key_env; /* variable with its key; NULL: needs none */
};

bool provider_at(size_t i, struct provider *out); /* false after the last */

/* ---- Requests: a path and a body for each API, in its own x_ask.c -------- */

void anthropic_path(const struct wire_ask *q, struct buf *out);
int64_t anthropic_output_tokens(wend_str model, enum effort effort);
void anthropic_request(const struct wire_ask *q, struct buf *out);
void gemini_path(const struct wire_ask *q, struct buf *out);
void gemini_request(const struct wire_ask *q, struct buf *out);
void responses_path(const struct wire_ask *q, struct buf *out);
void responses_request(const struct wire_ask *q, struct buf *out);

#endif
