/*
 * proto.h - protocols of others: each request is a run of one of the server's
 * agents, with the history that it brings; the answer is a stream of records
 * of a dialect, or the one record that stands at its end.
 */
#ifndef SERVE_PROTO_H
#define SERVE_PROTO_H

#include "serve/api/api.h"

/* A request as a run of ours. */
struct proto_ask {
    const char *dialect;
    wend_str agent, model; /* absent: the default */
    wend_str session;      /* absent: none */
    wend_str follow;       /* the run before; absent: none */
    wend_str prompt;       /* absent: the history ends with a result */
    struct buf messages;   /* a JSON list that is still open */
    struct buf tools;      /* the same, of client-side tools */
    wend_part *parts;      /* of the prompt */
    size_t parts_count;
    bool stream;
    bool goes_on;    /* the run, when the client leaves */
    bool is_done;    /* `data: [DONE]` ends the stream */
    bool named;      /* records are named by their type: `event: TYPE` */
    bool interrupts; /* an approval ends the stream, see resume_thread */
    int64_t past_seq, past_n; /* that the client has had */
    wend_dialect_options options;
    const struct http_field *fields; /* of the answer */
    size_t fields_count;
};

/* ---- Building one (history.c) -------------------------------------------- */

void proto_begin(struct serve_ask *q, struct proto_ask *p);
void proto_free(struct proto_ask *p);
/* A message of the past, as wend_run_options has it. */
void past_text(struct proto_ask *p, const char *role, wend_str text);
void past_call(struct buf *calls, wend_str id, wend_str name, wend_str args);
void past_assistant(struct proto_ask *p, wend_str text, struct buf *calls);
/* An assistant's message with calls {id, function:{name, arguments}}. */
void past_functions(struct serve_ask *q, struct proto_ask *p, wend_str text,
                    const struct json *calls);
void past_result(struct proto_ask *p, wend_str call, wend_str text,
                 bool failed);

/* A message of the user, in pieces: texts are joined, files are parts. */
struct spoken {
    struct serve_ask *q;
    struct buf text, parts; /* parts: a JSON list that is still open */
    bool answered;          /* something is wrong, and said */
};

void spoken_begin(struct spoken *s, struct serve_ask *q);
void spoken_text(struct spoken *s, wend_str text);
/* A data URL; anything else is refused, since the server fetches nothing for a
 * client. */
void spoken_url(struct spoken *s, wend_str url, wend_str name);
void spoken_data(struct spoken *s, wend_str base64, wend_str name);
/* As the prompt or, unless it is the newest message, as one of the past; false:
 * it is answered. */
bool spoken_end(struct spoken *s, struct proto_ask *p, bool newest);

/* A client-side tool. */
void proto_tool(struct proto_ask *p, wend_str name, wend_str description,
                const struct json *schema);

/* ---- Running it (proto.c) ------------------------------------------------ */

/* The body as an object; NULL: it is answered. */
const struct json *proto_body(struct serve_ask *q);
/* The same with its list of messages, which is not empty. */
const struct json *proto_messages(struct serve_ask *q,
                                  const struct json **body);
/* Starts the run and answers; frees p. */
void proto_run(struct serve_ask *q, struct proto_ask *p);
/* Answers with the events of a run in a dialect. */
void proto_stream(struct serve_ask *q, const struct proto_ask *p,
                  const char *run);

void proto_models(struct serve_ask *q);    /* GET /v1/models */
void proto_chat(struct serve_ask *q);      /* POST /v1/chat/completions */
void proto_responses(struct serve_ask *q); /* POST /v1/responses */
void proto_ag_ui(struct serve_ask *q);     /* POST /ag-ui/{agent} */
void proto_ui(struct serve_ask *q);        /* POST /ui/{agent} */
void proto_ui_again(struct serve_ask *q);  /* GET /ui/{agent}/{chat}/stream */

#endif
