/*
 * request.h - codec_request: one walk over what a model is asked, for any API.
 *
 * An API is a table of hooks. The walk gathers the messages and the schema,
 * calls a hook for each message in order, and passes on failures of memory.
 * Commas come from the writer in base/json.h, so a hook that writes nothing
 * leaves no trace.
 */
#ifndef WIRE_REQUEST_H
#define WIRE_REQUEST_H

#include "core/media/media.h"
#include "wire/model/model.h"

/* A request while it is written. */
struct request_writer {
    const struct codec *codec;
    const struct wire_ask *q;
    const struct turn *turn;
    const struct config *config;
    const struct request_form *form;
    enum effort effort; /* of the config, unless it is not asked for */
    struct buf *out;
    struct arena arena;
    const struct json *schema; /* of the answer; NULL: absent or invalid */
    const struct msg **list;   /* the messages to write, oldest first */
    size_t count, at;
    bool last_tool; /* the tool that is written is the last one */
    bool again;     /* a second walk over the parts of a message */
    void *own;      /* the API's, own_size bytes, zeroed */
};

struct request_form {
    bool extends;    /* it can continue the bytes of an earlier request */
    size_t own_size; /* what the API keeps while it writes */
    void (*head)(struct request_writer *w); /* up to the first message */
    void (*said)(struct request_writer *w,
                 const struct msg *m); /* user or system */
    void (*assistant)(struct request_writer *w, const struct msg *m);
    void (*result)(struct request_writer *w,
                   const struct msg *m);    /* of a call */
    void (*tail)(struct request_writer *w); /* after the last message */
    void (*tool)(struct request_writer *w, const struct tool *t);
    void (*call)(struct request_writer *w, const struct msg *m,
                 const struct call *c);
    /* One part of a message; false: the API has no form for its type. NULL: it
     * takes none at all. */
    bool (*part)(struct request_writer *w, const wend_ev_part *p,
                 enum media_type type, wend_str bytes);
    void (*part_text)(struct request_writer *w, wend_str text);
};

/* A member with the list of tools, if there are any. */
void request_put_tools(struct request_writer *w, const char *key);
/* Parameters, then the members of `extra`, in the object that is open; inside:
 * its name, NULL for the request itself. */
void request_put_params(struct request_writer *w, const char *inside);
/* Whether that object has any of them. */
bool request_has_params(const struct request_writer *w, const char *inside);
/* The member `tool_calls` with the calls of the message, if it has any. */
void request_put_calls(struct request_writer *w, const struct msg *m);

/* A member that stays even if the string is absent: then it is empty. */
static inline void request_str(struct buf *b, const char *key, wend_str s)
{
    json_key(b, key);
    json_put_str(b, s);
}

/* The member `name`, as name_put has it. */
void request_put_name(struct buf *b, wend_str name);
/* Name, description if there is one, and schema, by default `any`. */
void request_put_tool(struct buf *b, const struct tool *t, const char *key,
                      const char *any);
/* The member `arguments`, as a string. */
void request_put_args(struct buf *b, const struct call *c);
/* Begins a message: {"role":"user" */
void request_open(struct buf *b, enum role role);
/* A message with nothing but its content. */
void request_put_said(struct buf *b, enum role role, wend_str text);
/* Hooks for APIs that begin with the model and then the messages, where the
 * instructions are the first of them. */
void request_head(struct request_writer *w);
void request_said(struct request_writer *w, const struct msg *m);
/* A hook for APIs whose messages are the last member. */
void request_tail(struct request_writer *w);

/* ---- request_media.c ----------------------------------------------------- */

/* The parts of a message, each by the form's hook, or a note as text. */
void request_put_parts(struct request_writer *w, const struct msg *m);
bool request_sends(const struct request_writer *w,
                   const struct msg *m); /* at least one of them */
void request_put_sent(struct request_writer *w,
                      const struct msg *m); /* ... without notes */
/* Bytes as base64, and as a data URL. */
void request_base64(struct buf *b, const char *key, wend_str bytes);
void request_data_url(struct buf *b, const char *key, const wend_ev_part *p,
                      wend_str bytes);
wend_str request_part_name(const wend_ev_part *p); /* where one is needed */
/* For messages that take only text: it says what is omitted. For APIs whose
 * tool results take only text: a result says what is attached,
 * and after the last result of a batch one user's message has all of it, each
 * below the name of its call. */
void request_result_text(struct request_writer *w, const char *key,
                         const struct msg *m);
bool request_batch(const struct request_writer *w, size_t *first);
void request_put_batch(struct request_writer *w, size_t first);

#define REQUEST_ANY_OBJECT "{\"type\":\"object\",\"properties\":{}}"

#endif
