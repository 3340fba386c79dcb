/*
 * view.h - how the events of a run look: as an answer, as lines, as JSON.
 *
 * A view appends to two outputs: results and talk. If both are the same
 * terminal, talk goes to the first one, so that the order holds.
 */
#ifndef CLI_VIEW_H
#define CLI_VIEW_H

#include "base/utf8.h"
#include "cli/cli.h"
#include "cli/out.h"
#include "cli/view/waterfall.h"
#include "wire/dialect/dialect.h"

enum look {
    LOOK_ANSWER,  /* the text as it streams, tools beside it */
    LOOK_LINES,   /* one readable line an event */
    LOOK_JSON,    /* canonical lines */
    LOOK_DIALECT, /* those of another vocabulary */
};

struct view {
    enum look look;
    bool quiet, verbose;
    bool live;      /* it is happening now */
    bool safe_only; /* results go to a terminal */
    bool together;  /* talk goes where results go */
    bool talks;     /* tools are shown */
    bool colour;    /* of talk */
    size_t width;   /* of talk */
    struct out results, talk;
    int log_fd; /* every event as a line, too; -1 = none */
    struct mem mem;
    struct dialect_stream dialect;
    uint64_t types; /* bit per type that is shown; 0 = all */
    int64_t began_us;
    /* Of the answer: */
    struct waterfall *waterfall; /* of a plan in a terminal; or NULL */
    bool waterfall_waits;        /* somebody is asked */
    int64_t waterfall_us;        /* when it was drawn last, monotonic */
    bool planned;                /* the model's newest call is a plan */
    bool plan;                   /* the run is one, and this its outputs */
    bool whole;                  /* only at the end, if it fits its schema */
    bool text_any;               /* some text was shown in this run */
    bool text_open;              /* and its last line is not ended */
    bool piece_any;              /* of this message */
    struct utf8_before before;   /* the next piece of it */
    wend_str last_call;          /* whose line was the last; in `call` */
    char call[64];
    wend_outcome outcome; /* of the run, once it is over */
};

/* The look that --json and --events ask for. */
enum look view_look(const struct settings *set);
/* False if the dialect is not built or the log file cannot be opened; it
 * has been said. view_free is due only after true. */
bool view_open(struct view *v, const struct settings *set, enum look look);
void view_event(struct view *v, const wend_event *ev);
/* One that is not shown, of the time before those that are: how they look may
 * follow from it. view_past_types: of which types, a bit each; 0 = none. */
void view_past(struct view *v, const wend_event *ev);
uint64_t view_past_types(const struct view *v);
/* Ends the last line; after the last event. */
void view_end(struct view *v);
void view_free(struct view *v);

/* Where talk is added. */
struct buf *view_talk(struct view *v);

/* Of a plan (render_plan.c). */
void render_plan_start(struct view *v, const wend_event *ev);
void render_plan_action(struct view *v, const wend_event *ev);
void render_action_start(struct view *v, const wend_event *ev);
void render_action_retry(struct view *v, const wend_event *ev);
void render_action_end(struct view *v, const wend_event *ev);
void render_plan_end(struct view *v, const wend_event *ev);
void render_outputs(struct view *v, wend_str json);
/* Lets the bars of a plan grow; how soon to call it again, -1 = no need. */
int view_tick(struct view *v);

/* An answer (render.c) and a line (gist.c). */
void render_event(struct view *v, const wend_event *ev);
void render_past(struct view *v, const wend_event *ev);
void gist_event(struct view *v, const wend_event *ev);

#endif
