/*
 * model.h - drivers: how a model is asked.
 */
#ifndef LIB_MODEL_H
#define LIB_MODEL_H

#include "core/config/config.h"
#include "core/turn/tt.h"

struct codec;
struct model;
struct driver;
struct wend_run;
struct veil;

/* A driver's state for one run; the first member of its own struct. */
struct session {
    const struct driver_ops *ops;
};

struct driver_ops {
    /* A run's session; NULL when out of memory. */
    struct session *(*open)(struct driver *d, struct wend_run *run);
    /* Starts asking. Results are told through shell_*, from inside this call
     * only if it failed at once. */
    void (*ask)(struct session *s, const struct turn *t, int64_t ask);
    /* The last request has ended: answered, or failed with this code. May be
     * NULL. */
    void (*ended)(struct session *s, wend_str code);
    /* An answer in the log: the model was asked with this turn before this
     * session began. May be NULL. */
    int64_t (*recall)(struct session *s, const struct turn *t);
    /* The recalled answer was cut off, and will be asked for again. */
    void (*give_back)(struct session *s, const struct turn *t, int64_t taken);
    void (*stop)(struct session *s);
    void (*close)(struct session *s);
    void (*free)(struct driver *d);
};

struct driver {
    const struct driver_ops *ops;
    wend_str model;          /* name shown in events */
    wend_str key;            /* the provider's secret; absent: none is known */
    int64_t output_tokens;   /* that a request allows an answer; 0: not said */
    const wend_str *secrets; /* more of them, in its headers */
    uint32_t *refused; /* what its model does not take, for all runs of the
                          runtime; NULL: not known yet */
    size_t secrets_count;
};

/* What the file of models says about this one, else what wend knows of it;
 * `output` is the agent's own if it has one; texts are in the arena. elsewhere:
 * it is not asked at the provider's own address. Refuses a limit of cost that
 * cannot be kept. */
wend_status model_facts(const wend_agent_options *o, const char *model,
                        bool elsewhere, struct arena *a, struct model *out,
                        wend_error *err);

/* Refuses a cost limit for a config with a model whose price is unknown. */
wend_status budget_check(const struct config *c, wend_error *err);

/* The options of an agent that concern its driver. */
struct driver_options {
    wend_str spec; /* the model's name after the provider and its colon */
    const char *base_url, *key_file, *ca_file;
    const char *record_dir, *playback_dir;
    const char *const *headers; /* `Name: value`, NULL at the end; or NULL */
    int64_t output_tokens;      /* 0: not known */
    enum effort effort;
    int64_t whole_ms;       /* for one answer, all of it */
    bool tape_may_be_empty; /* to play: it was never asked */
    bool http2, insecure_http;
};

wend_status driver_open(const char *model, struct driver_options o,
                        const struct mem *m, struct driver **out,
                        wend_error *err);
/* One for each kind: a script, and providers over HTTP. */
wend_status script_driver_open(const struct driver_options *o,
                               const struct mem *m, struct driver **out,
                               wend_error *err);
/* By the provider in front of the name; the model itself need not be there. */
wend_status http_driver_for(const char *model, const struct driver_options *o,
                            const struct mem *m, struct driver **out,
                            wend_error *err);
wend_status http_driver_open(const struct codec *codec,
                             const struct driver_options *o,
                             const struct mem *m, struct driver **out,
                             wend_error *err);

/* ---- tagged.c: the tag protocol, for models that write plans --------------
 */

/* The turn that the model is asked with: the run's, or for a model that calls
 * no tools a copy without them, with its plans as the tags that it wrote. NULL:
 * out of memory. */
const struct turn *tagged_turn(struct wend_run *r);
/* A piece of its text: thoughts, actions and answers are told apart. */
void tagged_text(struct wend_run *r, int64_t ask, wend_str piece);
/* No more text comes; gives how the message ended. */
wend_str tagged_end(struct wend_run *r, int64_t ask, wend_str finish);
void tagged_again(struct wend_run *r); /* the message begins anew */
void tagged_free(struct wend_run *r);

/* ---- recall.c: the answers of a log, for a driver that counts them --------
 */

/* Model calls that began, oldest first. Zero-initialise with `run` set. */
struct recall {
    struct wend_run *run;
    struct recalled *first;
};

/* Around turn_apply of the same event; false: out of memory. */
void recall_before(struct recall *q, const wend_event *ev);
bool recall_after(struct recall *q, const wend_event *ev);
/* Open calls are lost: they will be made again. */
void recall_lost(struct recall *q);
void recall_free(struct recall *q);

/* ---- veil.c: secrets of an agent in what its model says -------------------
 */

enum veil_what { VEIL_TEXT, VEIL_THINKING, VEIL_ARGS, VEILS };

/* The piece with every secret of the run's agent, and of the agents above it,
 * blanked: itself, or a copy in `room`. `call` counts for VEIL_ARGS. *v is
 * made in the arena when it is needed; without memory nothing is let
 * through, and the run fails. */
wend_str veil_piece(struct wend_run *r, struct veil **v, struct arena *a,
                    int64_t ask, enum veil_what what, int call, wend_str piece,
                    struct buf *room);

#endif
