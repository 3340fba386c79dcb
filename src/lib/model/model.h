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
    wend_str model;        /* name shown in events */
    wend_str key;          /* the provider's secret; absent: none is known */
    int64_t output_tokens; /* that a request allows an answer; 0: not said */
};

/* model_facts.c: what the file of models says about this one, nothing if
 * there is none; `output` is the agent's own if it has one. Refuses a limit
 * of cost that cannot be kept. */
wend_status model_facts(const wend_agent_options *o, const char *model,
                        const struct mem *m, struct model *out,
                        wend_error *err);

/* The options of an agent that concern its driver. */
struct driver_options {
    wend_str spec; /* the model's name after the provider and its colon */
    const char *base_url, *key_file, *ca_file;
    const char *record_dir, *playback_dir;
    int64_t output_tokens; /* 0: not known */
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
wend_status http_driver_open(const struct codec *codec,
                             const struct driver_options *o,
                             const struct mem *m, struct driver **out,
                             wend_error *err);

#endif
