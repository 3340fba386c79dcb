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

/* What a driver keeps for one run; the first member of its own struct. */
struct session {
    const struct driver_ops *ops;
};

struct driver_ops {
    /* A run's session; NULL when out of memory. */
    struct session *(*open)(struct driver *d, struct wend_run *run);
    /* Starts asking. What comes of it is told through shell_*, from inside
     * this call only if asking failed at once. */
    void (*ask)(struct session *s, const struct turn *t, int64_t ask);
    /* What was asked last has ended: answered, or failed with this code.
     * NULL: it does not want to know. */
    void (*ended)(struct session *s, wend_str code);
    /* An answer that the log has: the model was asked with this turn, before
     * this session began. NULL: it does not want to know. */
    int64_t (*recall)(struct session *s, const struct turn *t);
    /* What recall gave was cut off, and will be asked for again. */
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

/* What of an agent's options is the driver's business. */
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
