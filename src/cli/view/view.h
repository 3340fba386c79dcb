/*
 * view.h - formats the events of a run: as an answer, as lines, as JSON.
 *
 * A view appends to two outputs: results and talk (progress and errors). If
 * both are the same terminal, file or pipe, talk goes to the first one: that
 * keeps the order, and ends a line of text before a line of talk.
 */
#ifndef CLI_VIEW_H
#define CLI_VIEW_H

#include "base/utf8.h"
#include "cli/cli.h"
#include "cli/view/markdown.h"
#include "cli/view/panel.h"
#include "cli/view/status.h"
#include "cli/view/waterfall.h"
#include "cli/view/wrap.h"
#include "wire/dialect/dialect.h"

enum look {
    LOOK_ANSWER,  /* the text as it streams, tools beside it */
    LOOK_LINES,   /* one readable line per event */
    LOOK_JSON,    /* canonical lines */
    LOOK_DIALECT, /* those of another dialect */
};

/* Above it no more events are read from the run. */
enum { OUT_PENDING_MAX = 64 << 10 };

/* Buffered output that never blocks: added text is pending until out_write,
 * which writes as much as a pipe that polls writable accepts. */
struct out {
    int fd;
    struct buf text; /* add to it freely */
    size_t at;       /* bytes already written */
    int error;       /* errno that closed it; all later text is dropped */
};

bool out_full(const struct out *o);
bool out_pending(const struct out *o);
void out_write(struct out *o);
void out_close(struct out *o, int error); /* the reader is gone */

/* A question that is a line, where there is no panel. */
enum prompt {
    PROMPT_NONE,
    PROMPT_OPEN, /* it is the last line */
    PROMPT_LOST, /* text was written below it */
};

struct view {
    enum look look;
    bool quiet, verbose;
    bool live;      /* the run is live */
    bool safe_only; /* results go to a terminal */
    bool together;  /* talk goes where results go */
    bool talks;     /* tools are shown */
    bool colour;    /* of talk */
    size_t width;   /* of talk */
    struct out results, talk;
    struct buf answer; /* see keeps */
    bool stored;       /* the run can be named later */
    int log_fd;        /* every event as a line, too; -1 = none */
    struct mem mem;
    wend_dialect *dialect; /* of the lines; NULL: there are none */
    wend_dialect *native;  /* of the log file, if that is another one */
    uint64_t types;        /* bit per type that is shown; 0 = all */
    int64_t began_us;
    /* What a terminal shows below the text (live.c): */
    bool paints; /* else nothing */
    bool keys;   /* answers are keys, not lines */
    bool lent;   /* another program has the terminal: nothing is written */
    struct panel panel;
    struct status status;
    struct waterfall *waterfall; /* NULL: no plan yet */
    struct buf question;         /* rows of the approval that is asked */
    enum prompt prompt;
    int64_t lost_us;          /* the last text below it, monotonic */
    void (*lay)(void *asker); /* makes them anew, for another size */
    void *asker;
    struct buf typed;              /* rows of a text that the user types ... */
    size_t typed_up, typed_column; /* ... and the cursor in it: panel_cursor */
    bool typed_any;                /* there is text: it is shown at once */
    struct markdown *markdown;     /* of the answer; NULL: as it is */
    struct wrap wrap;              /* of Markdown */
    bool in_chat;                  /* which tells what the run used */
    size_t column;                 /* where the text of the answer ended */
    size_t line;                   /* columns of its last line, not wrapped */
    int64_t painted_us, text_us;   /* monotonic: the last paint and text */
    int64_t event_us, heard_us;    /* the newest event: its time, ours */
    /* The answer: */
    char parent[40]; /* run that started this one and waits; else empty */
    bool planned;    /* the model's newest call is a plan */
    bool plan;       /* the run is a plan, and these are its outputs */
    bool given;      /* what events tell was done by the run that was forked */
    bool final;      /* print it alone, and only if the run ends ok */
    bool keeps;      /* ... into `answer` instead, for --output */
    bool whole;      /* only at the end: final, or it must match a schema */
    bool text_open;  /* the last line of the text is unfinished */
    bool piece_any;  /* of this message */
    struct utf8_before before; /* the next piece of it */
    struct buf thought;        /* the row of it that is not full yet */
    bool thought_any;          /* of this message was shown */
    wend_str last_call;        /* whose line was the last; in `call` */
    char call[64];
    wend_outcome outcome; /* of the run, once it is over */
};

/* The format that --json and --events select. */
enum look view_look(const struct settings *set);
/* False if memory runs out or the log file cannot be opened, after
 * a message; then there is nothing to free, and view_free does no harm. */
bool view_open(struct view *v, const struct settings *set, enum look look);
void view_event(struct view *v, const wend_event *ev);
/* An earlier event that is not shown, but may affect later ones.
 * view_past_types: the types to pass, a bit each; 0 = none. */
void view_past(void *view, const wend_event *ev); /* an each_event_fn */
uint64_t view_past_types(const struct view *v);
/* Ends the last line; after the last event. */
void view_end(struct view *v);
void view_free(struct view *v);

/* The outputs for results and talk, with the panel out of the way. */
struct buf *view_results(struct view *v);
struct buf *view_talk(struct view *v);
/* Talk has colours only on terminals. */
#define PAINT_DIM "\033[2m"
#define PAINT_RED "\033[31m"
#define PAINT_PLAIN "\033[0m"
void view_paint(struct view *v, const char *how);
enum { TALK_INDENT = 4 }; /* columns before further lines of a text */

/* The panel (live.c). */
void live_event(struct view *v, const wend_event *ev);
void live_lift(struct view *v);
void live_anew(struct view *v); /* the process was stopped and continues */
void live_fit(struct view *v);  /* before text, which may be wrapped */
void live_text(struct view *v, wend_str text); /* was added to the results */
/* The plan as it ended, as text. */
void live_plan_end(struct view *v);
/* Paints the panel if it is time to; returns when to call it again, -1 = not
 * before the next event. */
int view_tick(struct view *v);

/* For a plan (render_plan.c). */
void render_plan_start(struct view *v, const wend_event *ev);
void render_action_start(struct view *v, const wend_event *ev);
void render_fork(struct view *v, const wend_event *ev);
void render_action_retry(struct view *v, const wend_event *ev);
void render_action_end(struct view *v, const wend_event *ev);
void render_plan_end(struct view *v, const wend_event *ev);
void render_outputs(struct view *v, wend_str json);

/* render_end.c: how it ended.
 * A line of talk, on a terminal wrapped between words; column: where it is. */
void render_words(struct view *v, wend_str text, size_t column);
void render_error(struct view *v, const char *what, const wend_ev_error *e,
                  const char *what_to_do);
void render_outcome(struct view *v, const wend_event *ev);

/* An answer (render.c) and a line (gist.c). */
void render_event(struct view *v, const wend_event *ev);
void render_past(struct view *v, const wend_event *ev);
void gist_event(struct view *v, const wend_event *ev);

#endif
