/*
 * record.h - the table of a dialect: which event gives which record.
 *
 * A rule names its events, its record and the members of that record. All
 * rules for an event apply, in their order. What a table cannot say is in
 * the hook of a rule: it notes facts, computes values into `now`, and tells
 * whether the record is written.
 */
#ifndef WIRE_RECORD_H
#define WIRE_RECORD_H

#include <stddef.h>

#include "base/json.h"
#include "wire/dialect/dialect.h"

enum record_kind {
    ROW_END,      /* of the rows */
    ROW_STR,      /* wend_str; left out if absent and without `none` */
    ROW_NULLABLE, /* the same; null if absent */
    ROW_BUF,      /* struct buf, as ROW_STR; absent if it never had text */
    ROW_JSON,     /* wend_str: a value as it is */
    ROW_I64,      /* int64_t; 0 is written as `none` */
    ROW_INDEX,    /* int64_t from 1, written from 0; 0 is left out */
    ROW_F64,      /* double */
    ROW_BOOL,     /* bool */
    ROW_SECONDS,  /* int64_t in milliseconds */
    ROW_TIME,     /* int64_t in microseconds since 1970 */
    ROW_ISO,      /* the same, as ISO 8601 */
    ROW_ERROR,    /* const wend_ev_error *: its message, as ROW_STR */
    ROW_CODE,     /* the same: its code */
    ROW_TEXT,     /* `none` itself */
    ROW_NAME,     /* the name of the record */
    ROW_FATE,     /* how a call went: what has no member of its own */
    ROW_OPEN,     /* an object, up to ROW_CLOSE or the end of the rows */
    ROW_MAYBE,    /* the same; left out if it is empty */
    ROW_CLOSE,
};

struct record_row {
    const char *key;
    enum record_kind kind;
    bool own;  /* at: in the stream, not in the event */
    size_t at; /* of the value */
    const char *none;
};

#define EV(member) .at = offsetof(wend_event, member)
#define OWN(member) .own = true, .at = offsetof(struct dialect_stream, member)

enum {
    RECORD_ROWS_MAX = 12,
    RECORD_AROUND_MAX = 5,
    EARLY = 1, /* waits for the end of the message that streams */
    LATER = 2, /* waits until record_release */
};

struct record_rule {
    uint64_t on; /* events: a sum of ON() */
    /* Called first; false: no record. NULL: always. */
    bool (*when)(struct dialect_stream *s, const wend_event *ev);
    const char *name;   /* of the record; NULL: only the hook */
    const char *failed; /* instead, if the outcome is not OK */
    size_t flag;        /* only if this bool of the stream is set: IF() */
    unsigned outcomes;  /* only with these: a sum of IS(); 0: any */
    int to;             /* EARLY or LATER; 0: at once */
    struct record_row rows[RECORD_ROWS_MAX];
};

#define ON(type) (UINT64_C(1) << WEND_##type)
#define IF(member) .flag = offsetof(struct dialect_stream, member)
#define IS(outcome) (1U << WEND_OUTCOME_##outcome)

struct dialect {
    const char *name;
    /* Writes the records of an event, in a dialect without a table. */
    void (*event)(struct dialect_stream *s, const wend_event *ev);
    const struct record_rule *rules; /* the last one has no event */
    int64_t turns_max, parallel_max; /* before run_start says them */
    /* Called before the rules for an event. */
    void (*begin)(struct dialect_stream *s, const wend_event *ev);
    /* Stand in each record around the members of its rule. */
    struct record_row head[RECORD_AROUND_MAX], tail[RECORD_AROUND_MAX];
};

/* Writes the record of a rule, whatever its events and its hook. */
void record_put(struct dialect_stream *s, const struct record_rule *r,
                const wend_event *ev);

/* A call or an action that has begun and not ended. */
struct record_call {
    struct record_call *next;
    wend_str id, name; /* in the same block */
    bool is_action, is_tool;
    bool thought; /* its model's thinking was told */
    int64_t attempts;
};

struct record_call *record_find(struct dialect_stream *s, bool action,
                                wend_str id);

/* A value of the event, until the next one; NULL: absent, or invalid. */
const struct json *record_json(struct dialect_stream *s, wend_str text);

/* ---- Hooks for rules ----------------------------------------------------- */

#define RECORD_HOOK(name) \
    bool name(struct dialect_stream *s, const wend_event *ev)

/* For the start of a call or an action. An attempt that a crash cut off and
 * the one that follows it are one call to the reader. False: its start was
 * told. */
RECORD_HOOK(record_begins);
/* For its end. False: the attempt is superseded, and there is no result. */
RECORD_HOOK(record_ends);
/* The same, with the output of a call that went well as JSON. */
RECORD_HOOK(record_result);
/* For model_start, and after the records of model_end. */
RECORD_HOOK(record_model);
/* Writes the records that are LATER. */
RECORD_HOOK(record_release);

#endif
