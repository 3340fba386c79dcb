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

/* The bytes of a part. */
struct wire_media {
    wend_str hash, bytes;
    const wend_ev_part *part; /* this one alone; NULL: all with the hash */
};

/* What a request has for a part of a message. */
enum wire_shown {
    WIRE_SENT,  /* the part itself */
    WIRE_FILE,  /* its text, below its name */
    WIRE_NOTE,  /* a note in its place */
    WIRE_TEXT,  /* of all parts: the text of a message that takes only text */
    WIRE_LABEL, /* begins parts of that message in one after the results */
};
/* part: NULL for a text and a label; text: absent for a part that is sent. */
typedef void wire_shown_fn(void *ctx, enum wire_shown what, const struct msg *m,
                           const wend_ev_part *part, wend_str text);

/* A request: the conversation is the turn's. */
struct wire_ask {
    const struct turn *turn;
    wend_str model;     /* the provider's name for it */
    int64_t max_tokens; /* of the answer; 0 = the provider's default */
    wend_str schema;    /* JSON Schema of the answer; absent: free text */
    uint32_t without;   /* what is not asked for, see core/config/params.h */
    /* To extend an earlier request with the same config and history up to
     * `after`: `out` holds its bytes up to the length that was left in
     * *messages_end. A codec that cannot extend leaves 0 there. Both may be
     * NULL. */
    const struct msg *after;
    size_t *messages_end;
    const struct wire_media *media; /* of the parts that it carries */
    size_t media_count;
    wire_shown_fn *shown; /* is told all of these in their order; or NULL */
    void *shown_ctx;
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
    /* stop, length, tool_calls, content_filter; pause: the server resumes when
     * the message comes back; unknown:WORD: a word that no table has, after a
     * complete answer */
    void (*finish)(void *ctx, wend_str reason);
    /* An error in the middle of the stream; code as in struct model_error. */
    void (*fail)(void *ctx, wend_str code, wend_str message);
    /* The server began the message again before any of it was told. */
    void (*restart)(void *ctx);
};

/* Text that a server may have cut inside a character: one for each stream (the
 * text, the thinking, the arguments of one call); zero-initialise. */
struct join {
    uint16_t high; /* first half of a pair, held for the next piece; 0: none */
};

/* Where in the text an answer is, if <think> may begin it. */
struct think {
    enum think_at { THINK_START, THINK_INSIDE, THINK_AFTER, THINK_TEXT } at;
    size_t held; /* bytes of a tag that may be one */
};

/* The id that all events of a message repeat. Some servers give each event an
 * id of its own, or none. */
struct wire_id {
    struct buf id;
    bool repeats; /* two events in a row had it */
};

struct decoder {
    const struct codec *codec;
    const struct mem *mem;
    const struct wire_sink *sink;
    struct arena scratch;  /* of one event; reset after each */
    struct json_cuts cuts; /* of the same event */
    struct join text, thinking;
    struct think think; /* tags in the text, see wire_tagged */
    struct wire_id id;
    struct buf item;     /* an opaque value or arguments, while written */
    size_t text_len;     /* bytes of text told, but for tagged text */
    size_t calls_count;  /* calls told ... */
    size_t sealed_count; /* ... and complete */
    const char *reason;  /* how the answer ended; NULL: not said yet */
    bool any;            /* an event came that said something */
    bool own;            /* ... in this API: the codec sets it */
    bool shown;          /* text, thinking or a call was told */
    bool finished;       /* a finish reason or an end mark was seen */
    bool done;           /* an end mark was seen: the rest is ignored */
    bool failed;         /* sink->fail was called, or out of memory */
    bool nomem;
    bool cut;                          /* the input broke off */
    const struct wire_api *looks_like; /* the first event of any API */
    char unknown[80];                  /* see wire_unknown */
    void *state; /* the codec's, state_size bytes, zeroed */
};

enum { WIRE_WORDS_MAX = 9 };

/* The words of a provider for a finish reason. */
struct wire_reason {
    const char *meaning;                   /* NULL: the answer is broken */
    const char *words[WIRE_WORDS_MAX + 1]; /* NULL at the end */
};

/* An event by the `type` in it, or by its name if it has none. */
struct wire_event {
    const char *type;
    void (*fn)(struct decoder *d, const struct json *ev);
};

struct codec {
    const char *name; /* of the provider: openai ... */
    bool end_mark;    /* `[DONE]` ends its answers */
    enum sse_framing framing;
    /* `%s` stands for the key; NULL: none is sent. */
    const char *key_header;
    const char *const *headers; /* more of them, NULL at the end; or NULL */
    const char *key_env;        /* variable with the key; NULL: needs none */
    const char *base_url;       /* default; no slash at the end */
    const char *path;           /* after the base URL; `%s`: the model */
    const struct request_form *request;
    const struct wire_params *params; /* params.c; NULL: it takes none */
    /* Default limit of output tokens in a request; NULL: none is sent. */
    int64_t (*output_tokens)(wend_str model, enum effort effort);
    size_t state_size;
    const struct wire_reason *reasons; /* the last one has no words */
    /* Tells what was used, if an event says it; NULL: it never does. */
    void (*usage)(struct decoder *d, const struct json *data);
    /* One event of the stream (or one line); NULL: see `events`. */
    void (*event)(struct decoder *d, const struct json *data);
    const struct wire_event *events; /* the last one has no type */
    /* A whole answer that did not stream. */
    void (*whole)(struct decoder *d, const struct json *body);
    /* The answer is over and `finished`: seal what is open; may be NULL. */
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
#define X(name) extern const struct wire_params params_##name;
CODECS(X)
#undef X
/* Requests that are in NAME_ask.c. */
extern const struct request_form openai_form, anthropic_form, gemini_form;
const struct codec *codec_find(wend_str name); /* NULL if unknown */
const struct codec *codec_at(size_t i);        /* NULL after the last */
/* Appends what follows the base URL. */
void codec_path(const struct codec *c, wend_str model, struct buf *out);
/* Appends the request body: canonical JSON, tools sorted by name; the same
 * turn gives the same bytes. */
void codec_request(const struct codec *c, const struct wire_ask *q,
                   struct buf *out);

bool decoder_init(struct decoder *d, const struct codec *c, const struct mem *m,
                  const struct wire_sink *sink);
/* For sse_feed: parses data as JSON (`[DONE]` is an end mark where the codec
 * has one, a payload that is not JSON is a failure) and hands it to the codec.
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
/* Whether the model that is asked wrote the message. Servers refuse the
 * thinking and the opaque items of another model. */
bool wire_is_own(const struct turn *t, const struct msg *m);
/* The id of a call, and the id that its result answers. A server may refuse
 * the id that another server made (its characters, its length): then the call
 * gets one that all take. It is in `room` or lent by the message. */
enum { WIRE_ID = 9 }; /* the only length that some take */
wend_str wire_call_id(const struct turn *t, const struct msg *m,
                      const struct call *c, char room[WIRE_ID + 1]);
wend_str wire_result_id(const struct turn *t, const struct msg *result,
                        char room[WIRE_ID + 1]);
/* Tells the sink of an error object as any provider writes it. Only the first
 * failure of an answer is told. */
void wire_fail(struct decoder *d, const struct json *error);
void wire_fail_fmt(struct decoder *d, const char *code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void wire_fail_nomem(struct decoder *d);
/* Tokens to think with, where an API wants a number: less than the answer may
 * have (0: no limit), and 0 if that leaves too few or none were wanted. */
int64_t wire_think_tokens(enum effort effort, int64_t max_tokens);
/* A piece as it is to be told: empty if all of it is held. `cuts` is from the
 * event that the piece is a part of. A changed piece is in the arena; empty if
 * that failed. */
wend_str join_piece(struct join *j, const struct json_cuts *cuts,
                    wend_str piece, struct arena *a);
/* At the end of the stream: U+FFFD for a half that is still held, else
 * empty. */
wend_str join_rest(struct join *j);
/* The same for a piece of the event that is being read. */
wend_str wire_join(struct decoder *d, struct join *j, wend_str piece);
/* Tell the sink of a piece, joined and if it is not empty; return how many
 * bytes were told. */
size_t wire_text(struct decoder *d, wend_str piece);
size_t wire_thinking(struct decoder *d, wend_str piece);
/* The same for text that may begin with <think>. Once a server has told of
 * thinking in a place of its own, set think.at to THINK_TEXT. */
void wire_tagged(struct decoder *d, wend_str piece);
void wire_text_end(struct decoder *d); /* tells what was held */
/* The meaning of a finish reason in the table of the codec; NULL: the answer
 * is broken. A word that the table lacks is "unknown:WORD". */
const char *wire_reason(struct decoder *d, wend_str word);
/* The server began another message in the same stream. True if nothing of the
 * first was told; else the stream is broken, which is told. */
bool wire_begin_again(struct decoder *d);
/* Whether this id of an event begins another message. */
bool wire_id_changes(struct decoder *d, wend_str id);
/* Opens a call with the sink. A call without a name, or one more than are
 * taken, is a failure: -1. */
int wire_call(struct decoder *d, wend_str id, wend_str name);
void wire_args(struct decoder *d, int call, wend_str piece); /* if not empty */
void wire_seal(struct decoder *d, int call); /* its arguments are complete */
/* Arguments that should be text: some servers send the value itself. Lent by
 * it or by d->item; empty if there are none. */
wend_str wire_args_text(struct decoder *d, const struct json *args);
/* Appends to a buffer of the codec's state; failures are told. */
void wire_keep(struct decoder *d, struct buf *b, wend_str s);
void wire_keep_json(struct decoder *d, struct buf *b, const struct json *j);
/* A count: 0 if absent, no integer or negative; j may be NULL. */
int64_t wire_i64(const struct json *j, const char *key);

/* ---- Names of tools ------------------------------------------------------ */

/* Ours may have a dot (`server.tool`), most providers allow none: it becomes
 * two underscores, and what a model says is looked up the same way. */

/* A JSON string of letters, digits, _ and - alone: a model's inventions in
 * the history may have more, and a request with them would be refused. */
void name_put(struct buf *b, wend_str name);
bool name_is_plain(wend_str name);            /* name_put changes nothing */
void name_put_id(struct buf *b, wend_str id); /* a dot becomes one underscore */
/* The tool that is meant, by its own name; or what was said, if none is. */
wend_str name_meant(const struct config *c, wend_str said);

int64_t anthropic_output_tokens(wend_str model, enum effort effort);

#endif
