/*
 * tape.h - requests to a model's server and its answers, in files.
 *
 * DIR/0001.request and DIR/0001.response, one pair for each attempt:
 *
 *     POST https://host/v1/chat/completions     status 200
 *     Content-Type: application/json            content-type: text/event-stream
 *                                               (an empty line)
 *     {"model":...                              @MICROSECONDS LENGTH
 *                                               LENGTH bytes and a newline
 *                                               @MICROSECONDS ok
 *
 * or `network MESSAGE`, `timeout MESSAGE` at the end; times count from the
 * start of the request. A response without its last line plays as a network
 * failure at that point. Secrets are in none of them: headers that carry one
 * are left out, and the key is replaced wherever else it occurs.
 */
#ifndef LIB_TAPE_H
#define LIB_TAPE_H

#include "base/str.h"
#include "host/fetch/fetch.h"
#include "lib/run/run.h"

struct tape {
    const char *dir;         /* NULL: the network alone */
    wend_str key;            /* lent by the driver; absent: none */
    const wend_str *secrets; /* lent: inside headers, which are left out */
    size_t secrets_count;
    int64_t number; /* of the newest request */
    bool plays;
};

/* As the options say, if they do; copies to the arena. To record, it refuses a
 * directory that is not empty; to play, one without a first request, unless it
 * may be empty. */
wend_status tape_open(struct tape *t, const struct driver_options *o,
                      struct arena *a, wend_error *err);
/* As fetch_start, through the tape if there is one. A tape that plays uses no
 * network; a request that is not the recorded one ends as FETCH_REFUSED. */
wend_status tape_start(struct tape *t, wend_runtime *rt,
                       const struct fetch_request *q,
                       const struct fetch_events *events, void *ctx,
                       struct transfer **out, wend_error *err);

/* ---- tape_text.c: the text of the files ---------------------------------- */

enum {
    TAPE_BYTES_MAX = 256 << 20, /* of a file; RESPONSE_BYTES_MAX, framed */
    TAPE_HEADERS = 8,           /* of an answer that are kept */
};

extern const char *const tape_headers[TAPE_HEADERS];

enum tape_got {
    TAPE_CHUNK,
    TAPE_END,
    TAPE_CUT, /* the file ends here, but should not */
    TAPE_BAD, /* not a recording */
};

struct tape_item {
    int64_t at_us;
    wend_str bytes; /* of a chunk; the message of an end */
    enum fetch_end how;
};

/* DIR/0001.KIND */
void tape_path(struct buf *out, const struct tape *t, const char *kind);
/* The request as the file has it. */
void tape_put_request(struct buf *out, const struct fetch_request *q,
                      const struct tape *t);
/* Appends text with the key's value replaced. */
void tape_put_redacted(struct buf *out, wend_str text, wend_str key);
void tape_put_chunk(struct buf *out, int64_t at_us, wend_str bytes);
void tape_put_end(struct buf *out, int64_t at_us, enum fetch_end how,
                  wend_str message);

/* Takes the head off *rest; its headers stay as text, see header_value. False
 * with *got = TAPE_CUT or TAPE_BAD. Status 0: none came. */
bool tape_take_head(wend_str *rest, int *status, wend_str *headers,
                    enum tape_got *got);
enum tape_got tape_take(wend_str *rest, struct tape_item *out);

/* ---- tape_diff.c --------------------------------------------------------- */

/* Appends where two request texts differ first, by byte and by meaning.
 * False if they do not. */
bool tape_diff(struct buf *out, wend_str recorded, wend_str now);

#endif
