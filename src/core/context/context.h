/*
 * context.h - keeps a conversation within the window of its model.
 *
 * Pure: what is decided follows from the messages, the model and nothing else,
 * so a resume and a fork decide the same. The decision is a `struct
 * compaction`, which the event `compacted` carries; compact_build makes the
 * shorter list from it, in a live run and from the log alike.
 *
 *     trimmed   old and huge results are cut to their head and tail
 *     summary   a model's summary in place of all but the newest messages
 *     window    the newest messages alone, if no summary can be had
 */
#ifndef CORE_CONTEXT_H
#define CORE_CONTEXT_H

#include "core/config/config.h"
#include "core/context/msg.h"

enum {
    SUMMARY_TRIES_MAX = 3,
    WINDOW_MESSAGES = 20, /* without a summary */
    REFUSALS_MAX = 3,     /* in a turn; each makes the request shorter */
};

/* ---- Room ---------------------------------------------------------------- */

/* How tokens of a model follow from those of an average family: it has counted
 * `used` where `estimate` was expected, and counts `scale` for 1,000 more. */
struct token_map {
    int64_t used, estimate, scale;
};

int64_t tokens_of(const struct token_map *map, int64_t estimate);

/* What a request may have, in tokens of an average family. */
struct context_room {
    int64_t window; /* 0: not known, and nothing is crowded */
    int64_t most;   /* from here on a request is too large */
    int64_t aim;    /* what a shorter one has at most, if possible */
    int64_t fixed;  /* all but the messages */
};

/* refused: tokens of a request that the model refused as too long; 0: none. */
struct context_room room_of(const struct model_use *m, int64_t fixed,
                            int64_t refused, const struct token_map *map);

/* What a provider says of a request that is too long, in tokens; 0: it does not
 * say. */
struct overflow {
    int64_t limit;   /* what it accepts */
    int64_t counted; /* what the request had */
};

struct overflow overflow_read(wend_str message);

/* A result of which only the first and last bytes stay. */
struct result_cut {
    int64_t message; /* its index */
    int64_t head, tail;
};

struct compaction {
    int64_t from;        /* index of the first of the newest messages */
    const int64_t *kept; /* messages before it that stay, ascending */
    size_t kept_count;
    const struct result_cut *cuts; /* ascending */
    size_t cuts_count;
    wend_str summary; /* behind the first message that stays; absent: none */
    bool readable;    /* results that are cut can be read: see result_read */
    int64_t messages; /* the most of the newest; 0: any number */
    int64_t dropped;  /* messages for which a note stands; 0: no note */
};

/* Estimated tokens of a result when it is cut. */
int64_t cut_tokens(const struct msg *m, const struct result_cut *c,
                   bool readable, struct arena *a);
/* Cuts results. False: that would free too little to be worth a new prefix. */
bool compact_trim(const struct msg *history, const struct context_room *r,
                  struct arena *a, struct compaction *out);
/* Keeps the newest messages and what must not be lost. summary: absent for the
 * method `window`. False: the list would not get shorter. */
bool compact_tail(const struct msg *history, const struct context_room *r,
                  wend_str summary, struct arena *a, struct compaction *out);
/* As much of the newest messages, and of what must not be lost, as a request
 * with at most `most` tokens has room for: to make a summary of. NULL: that
 * is not possible, or out of memory. */
const struct msg *compact_fit(const struct msg *history,
                              const struct context_room *r, int64_t most,
                              uint64_t first, struct arena *a);
/* The shorter list; it shares messages before the first change and all texts.
 * first: as for msg_link. NULL: out of memory, or no such messages. */
const struct msg *compact_build(const struct msg *history,
                                const struct compaction *c, uint64_t first,
                                struct arena *a);

/* Members of the event, as JSON; and back, false: they say something that
 * cannot be. */
wend_str compaction_kept(const struct compaction *c, struct arena *a);
wend_str compaction_cuts(const struct compaction *c, const struct msg *history,
                         struct arena *a);
bool compaction_read(const wend_ev_compacted *e, struct arena *a,
                     struct compaction *out);

/* ---- The summary --------------------------------------------------------- */

/* What the model is asked, last. focus: what the summary is to keep above all;
 * absent or empty: nothing. */
extern const wend_str summary_ask;
wend_str summary_question(wend_str focus, struct arena *a);
/* A JSON list of the headings of a summary that have something below them. */
wend_str summary_topics(wend_str summary, struct arena *a);
/* Tokens that its request may have before that question, which has as many. */
int64_t summary_room(const struct context_room *r, int64_t question);
/* Why an answer is no summary; NULL: it is one. */
const char *summary_wrong(wend_str text, bool calls, wend_str finish,
                          const struct context_room *r);

/* ---- read_result --------------------------------------------------------- */

/* What the conversation has of a result, or had: `whole`, else `text`. */
wend_str result_whole(const struct msg *m);
/* Results of at least that many bytes are named where they are left out. */
enum { RESULT_NAMED_BYTES = 1024 };
/* Whether the result goes, and not only a part of it. */
bool result_goes(const struct msg *m, const struct compaction *c);
/* A page of a result of which the conversation has only a part, or that is
 * among those `gone`; in at most `most` tokens. False: *out says why there is
 * none. */
bool result_read(const struct msg *history, const struct msg *gone,
                 wend_str args, int64_t most, struct arena *a, wend_str *out);

#endif
