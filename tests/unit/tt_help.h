/*
 * tt_help.h - drives core/tt with words and writes down what it decides.
 *
 * A row of inputs is a line of words, for example "start text done"; what
 * comes out is a line of event names, then of effects with a + in front.
 * After each step the laws of turn.h are checked: the old turn is as it
 * was, a turn folded from the bytes of the events equals the live one, and
 * a turn equals what is read from what it writes.
 *
 *     start            the run begins
 *     text, think      the model says, thinks something
 *     text:X           it says X (no spaces)
 *     halt             it ends its message only to go on later
 *     call:T, call:T=A it calls tool T, with arguments A (no spaces)
 *     done, fail:CODE  its message is complete, or has failed
 *     rest             it is not asked at all just now
 *     write:X, seal    it writes X of a plan (no spaces); the plan is whole
 *     ok:C, bad:C      call C has ended
 *     did:A, didnt:A   action A has ended, also did:A=OUTPUT
 *     old:C            as ok, but of the turn before
 *     yes:C, no:C      call C is approved, or not
 *     yes:C=A          it is approved, with arguments A (no spaces)
 *     hook, hook:C     the hook says go; also =change, =skip
 *     retry, time, patience, tick           a timer is over
 *     cancel, stop, say, pause, continue    someone wants it
 *     resume, close    the process died; another one goes on, or ends it
 *     later            ten seconds pass
 */
#ifndef TESTS_TT_HELP_H
#define TESTS_TT_HELP_H

#include <stdlib.h>

#include "core/turn/tt.h"
#include "fault.h"
#include "state/state.h"
#include "tap.h"
#include "tt_put.h"

#define RUN_ID "01900000-0000-7000-8000-0123456789ab"

/* The model writes what counts as a summary. */
#define SUM "text:#Task\nt\n#Decisions\n#Progress\n#Blockers\n#Context "

static const struct mem plain;

struct world {
    const struct mem *mem;
    struct arena kept, scratch;
    struct keep keep;
    struct turn turn;
    struct reply reply;
    bool asked; /* the reply counts */
    int64_t time_us;
    wend_ev_run_start start;
    const struct plan_past *past;
    struct buf said; /* events and effects */
    struct buf log;  /* the events, a line each */
    bool lawful;     /* check the laws */
    struct turn folded;
    struct arena folded_kept;
    int broken;
    bool failed; /* out of memory; the step did not count */
};

static inline void world_init(struct world *w, const struct mem *m,
                              const char *config)
{
    memset(w, 0, sizeof *w);
    w->mem = m;
    w->kept.mem = w->scratch.mem = m;
    w->folded_kept.mem = &plain;
    w->keep.arena = &w->kept;
    w->said.mem = w->log.mem = &plain;
    w->time_us = 1000000;
    w->lawful = true;
    turn_init(&w->turn);
    turn_init(&w->folded);
    w->start.prompt = STR("hi");
    w->start.agent = STR("agent");
    w->start.model = STR("script");
    w->start.config_json = str_of(config);
    w->start.limits = (wend_ev_limits){.turns = 50, .parallel = 5};
}

static inline void world_free(struct world *w)
{
    reply_free(&w->reply);
    arena_free(&w->kept);
    arena_free(&w->scratch);
    arena_free(&w->folded_kept);
    buf_free(&w->said);
    buf_free(&w->log);
}

/* ---- Writing down -------------------------------------------------------- */

static inline void put_event(struct buf *b, const wend_event *ev)
{
    buf_fmt(b, "%s%s", b->len ? " " : "", wend_event_name(ev->type));
    if (put_plan_event(b, ev))
        return;
    if (ev->type == WEND_CALL_START)
        put_call(b, ev->u.call_start.call, WEND_OUTCOME_OK);
    else if (ev->type == WEND_CALL_END)
        put_call(b, ev->u.call_end.call, ev->u.call_end.outcome);
    else if (ev->type == WEND_APPROVAL_ASK)
        put_call(b, ev->u.approval_ask.call, WEND_OUTCOME_OK);
    else if (ev->type == WEND_APPROVAL_ANSWER)
        put_call(b, ev->u.approval_answer.call, WEND_OUTCOME_OK);
    else if (ev->type == WEND_MODEL_START &&
             ev->u.model_start.purpose != WEND_PURPOSE_ANSWER)
        put_call(b, str_of(purpose_words.names[ev->u.model_start.purpose]),
                 WEND_OUTCOME_OK);
    else if (ev->type == WEND_MODEL_RETRY &&
             !str_is(ev->u.model_retry.next_model, "script"))
        put_call(b, ev->u.model_retry.next_model, WEND_OUTCOME_OK);
    else if (ev->type == WEND_CONTEXT_END &&
             ev->u.context_end.prefix_changed_json.ptr)
        buf_cstr(b, "(new prefix)");
    else if (ev->type == WEND_MODEL_END)
        put_outcome(b, ev->u.model_end.outcome);
    else if (ev->type == WEND_TURN_END)
        put_outcome(b, ev->u.turn_end.outcome);
    else if (ev->type == WEND_RUN_END)
        put_run_end(b, &ev->u.run_end);
    else if (ev->type == WEND_CONTROL)
        put_call(b, ev->u.control.what, WEND_OUTCOME_OK);
}

/* ---- Laws ---------------------------------------------------------------- */

static inline wend_status no_blob(void *ctx, wend_str hash, struct arena *a,
                                  wend_str *text)
{
    (void)ctx;
    (void)hash;
    (void)a;
    (void)text;
    return WEND_E_NOTFOUND; /* no test here makes one */
}

static inline void broke(struct world *w, const char *law)
{
    w->broken++;
    printf("# broken: %s\n", law);
}

/* The text of a turn; free it. */
static inline char *turn_text(const struct turn *t)
{
    struct buf b = {.mem = &plain};

    turn_write(&b, t);
    return b.ptr;
}

/* What a replay does: the event from its bytes, applied. */
static inline void fold(struct world *w, const wend_event *ev)
{
    struct keep keep = {&w->folded_kept, NULL};
    struct arena a = {.mem = &plain};
    struct buf line = {.mem = &plain};
    char *before = turn_text(&w->folded), *after;
    struct turn old = w->folded;
    wend_event back;

    if (ev->seq != w->folded.seq + 1 || ev->time_us < w->folded.time_us)
        broke(w, "seq has no gap, time does not fall");
    event_write(&line, ev, NULL);
    buf_str(&w->log, buf_view(&line));
    buf_char(&w->log, '\n');
    if (event_read(buf_view(&line), &a, no_blob, NULL, &back, NULL) != WEND_OK)
        broke(w, "an event reads back");
    turn_apply(&w->folded, &back, &keep);
    arena_free(&a); /* the turn must not need it */
    after = turn_text(&old);
    if (strcmp(before, after))
        broke(w, "apply leaves the old turn as it was");
    free(before);
    free(after);
    buf_free(&line);
}

static inline void check_laws(struct world *w, const struct turn *old,
                              const char *old_text)
{
    struct arena a = {.mem = &plain};
    struct keep keep = {&a, NULL};
    char *live = turn_text(&w->turn), *folded = turn_text(&w->folded);
    char *still = turn_text(old), *again;
    struct turn back;

    if (strcmp(live, folded)) {
        broke(w, "the fold of the log is the live state");
        printf("# live   %s\n# folded %s\n", live, folded);
    }
    if (strcmp(still, old_text))
        broke(w, "tt leaves its argument as it was");
    if (turn_read(str_of(live), &keep, &back, NULL) != WEND_OK)
        broke(w, "a turn reads back");
    again = turn_text(&back);
    if (strcmp(live, again)) {
        broke(w, "a turn equals what was read from it");
        printf("# live  %s\n# again %s\n", live, again);
    }
    free(live);
    free(folded);
    free(still);
    free(again);
    arena_free(&a);
}

/* ---- One step ------------------------------------------------------------ */

static inline void take_effects(struct world *w, const struct step *s)
{
    for (const struct effect *fx = s->effects; fx; fx = fx->next) {
        put_effect(&w->said, fx);
        if (fx->kind == FX_ASK_MODEL) {
            reply_free(&w->reply);
            reply_init(&w->reply, &plain, w->time_us);
            w->asked = true;
        }
    }
}

static inline void feed(struct world *w, struct input *in)
{
    char *old_text = w->lawful ? turn_text(&w->turn) : NULL;
    struct turn old = w->turn;
    struct step s;

    in->time_us = w->time_us += 1000;
    in->reply = w->asked ? &w->reply : NULL;
    in->past = w->past;
    arena_reset(&w->scratch);
    step_begin(&s, &w->scratch, &w->keep);
    tt(&w->turn, in, &s);
    if (w->scratch.failed || w->kept.failed) {
        w->failed = true;
        free(old_text);
        return;
    }
    w->turn = s.turn;
    for (const struct step_event *e = s.events; e; e = e->next) {
        put_event(&w->said, &e->ev);
        if (w->lawful)
            fold(w, &e->ev);
    }
    take_effects(w, &s);
    if (w->turn.phase != PH_MODEL)
        w->asked = false;
    if (w->lawful)
        check_laws(w, &old, old_text);
    free(old_text);
}

/* ---- Words --------------------------------------------------------------- */

static inline bool take(wend_str *word, const char *prefix)
{
    size_t len = strlen(prefix);

    if (!str_starts(*word, prefix))
        return false;
    word->ptr += len;
    word->len -= len;
    return true;
}

/* What is before `=` goes to `name`; what is after it stays. */
static inline wend_str split(wend_str *word)
{
    const char *at = word->len ? memchr(word->ptr, '=', word->len) : NULL;
    wend_str name = *word;

    if (!at) {
        *word = STR_NONE;
        return name;
    }
    name.len = (size_t)(at - name.ptr);
    word->ptr = at + 1;
    word->len -= name.len + 1;
    return name;
}

static inline void do_call(struct world *w, wend_str word)
{
    struct input in = {.kind = IN_SEALED, .ask = w->turn.ask};
    wend_str name = split(&word);
    int call = reply_call(&w->reply, STR_NONE, name);

    reply_args(&w->reply, call, word.ptr ? word : STR("{}"), w->time_us);
    reply_seal(&w->reply, call);
    feed(w, &in);
}

/* The open plan of the reply, or a new one. */
static inline int plan_in(struct reply *r)
{
    int last = (int)r->calls_count - 1;

    return last >= 0 && !r->calls[last].sealed
               ? last
               : reply_call(r, STR_NONE, STR("plan"));
}

static inline void do_write(struct world *w, wend_str text)
{
    struct input in = {.kind = IN_WRITTEN, .ask = w->turn.ask};
    int call = plan_in(&w->reply);

    reply_args(&w->reply, call, text, w->time_us);
    if (reply_plan(&w->reply, call))
        feed(w, &in);
}

static inline void do_seal(struct world *w)
{
    struct input in = {.kind = IN_SEALED, .ask = w->turn.ask};

    reply_seal(&w->reply, plan_in(&w->reply));
    feed(w, &in);
}

static inline void do_action(struct world *w, wend_str word,
                             wend_outcome outcome)
{
    wend_str name = split(&word);
    struct input in = {
        .kind = IN_ACTION_DONE,
        .done = {.outcome = outcome,
                 .output = word.ptr ? word : STR("out"),
                 .effect_possible = true},
    };

    if (!w->turn.plan.started)
        return;
    in.done.action = plan_find(w->turn.plan.plan, name);
    if (in.done.action != PLAN_NONE)
        in.done.attempt =
            plan_action_state(&w->turn.plan, in.done.action)->attempt;
    feed(w, &in);
}

static inline void do_hook(struct world *w, wend_str word)
{
    struct input in = {.kind = IN_HOOK, .hook.turn = w->turn.counter};

    if (take(&word, ":"))
        in.hook.call = split(&word);
    else
        split(&word);
    in.hook.text = STR("{\"text\":\"hooked\"}");
    in.hook.answer = str_is(word, "change") ? WEND_HOOK_CHANGE
                     : str_is(word, "skip") ? WEND_HOOK_SKIP
                                            : WEND_HOOK_GO;
    feed(w, &in);
}

static inline void do_call_done(struct world *w, wend_str call,
                                wend_outcome outcome, int64_t turn)
{
    struct input in = {
        .kind = IN_CALL_DONE,
        .done = {.turn = turn,
                 .call = call,
                 .outcome = outcome,
                 .output = STR("out")},
    };

    feed(w, &in);
}

static inline void do_approval(struct world *w, wend_str call, bool yes)
{
    struct input in = {.kind = IN_APPROVAL};
    wend_str args = call;

    str_take(&args, '=', &call);
    in.approval.call = call;
    in.approval.args = args.len ? args : STR_NONE;
    in.approval.by = STR("user");
    in.approval.yes = yes;
    feed(w, &in);
}

/* Of a message that had begun the log has its text. */
static inline void do_resume(struct world *w, wend_str by)
{
    struct input in = {.kind = IN_RESUME, .epoch = 2, .by = by};
    struct buf text = {.mem = &plain};

    if (w->asked) {
        buf_str(&text, buf_view(&w->reply.text));
        reply_again(&w->reply, w->time_us);
        if (text.len)
            reply_text(&w->reply, buf_view(&text), w->time_us);
    }
    feed(w, &in);
    buf_free(&text);
}

/* Words that are an input of one kind and nothing else. */
static inline bool do_simple(struct world *w, wend_str word)
{
    static const struct {
        const char *word;
        struct input in;
    } rows[] = {
        {"start", {.kind = IN_START, .run = {RUN_ID, sizeof RUN_ID - 1}}},
        {"done", {.kind = IN_MODEL_DONE}},
        {"rest",
         {.kind = IN_MODEL_FAIL,
          .error = {.code = {"service", 7}, .resting = true}}},
        {"retry", {.kind = IN_TIMER, .timer = TIMER_RETRY}},
        {"time", {.kind = IN_TIMER, .timer = TIMER_RUN}},
        {"patience", {.kind = IN_TIMER, .timer = TIMER_STOP}},
        {"tick", {.kind = IN_TIMER, .timer = TIMER_METRICS}},
        {"cancel", {.kind = IN_CANCEL, .by = {"user", 4}}},
        {"stop", {.kind = IN_STOP, .by = {"hook", 4}, .text = {"no", 2}}},
        {"say", {.kind = IN_SAY, .text = {"and?", 4}}},
        {"pause", {.kind = IN_PAUSE, .by = {"user", 4}}},
        {"continue", {.kind = IN_CONTINUE, .by = {"user", 4}}},
        {"compact", {.kind = IN_COMPACT, .text = {"names", 5}}},
    };

    for (size_t i = 0; i < tap_count(rows); i++)
        if (str_is(word, rows[i].word)) {
            struct input in = rows[i].in;

            in.start = &w->start;
            in.ask = w->turn.ask;
            feed(w, &in);
            return true;
        }
    return false;
}

static inline bool do_word(struct world *w, wend_str word)
{
    struct input fail = {.kind = IN_MODEL_FAIL,
                         .ask = w->turn.ask,
                         .error.message = STR("it failed")};

    if (do_simple(w, word))
        return true;
    if (str_is(word, "text"))
        reply_text(&w->reply, STR("hello"), w->time_us);
    else if (str_is(word, "think"))
        reply_thinking(&w->reply, STR("hm"), w->time_us);
    else if (str_is(word, "halt") || str_is(word, "length"))
        w->reply.finish = str_is(word, "halt") ? STR("pause") : word;
    else if (str_is(word, "used")) /* so says the provider, in whatever */
        w->reply.usage = (wend_ev_usage){
            .input = 60, .output = 40, .cached = 5, .cost_nano = -1};
    else if (str_is(word, "later"))
        w->time_us += 10000000;
    else if (str_is(word, "resume"))
        do_resume(w, STR_NONE);
    else if (str_is(word, "close"))
        do_resume(w, STR("parent"));
    else if (take(&word, "text:"))
        reply_text(&w->reply, word, w->time_us);
    else if (take(&word, "call:"))
        do_call(w, word);
    else if (take(&word, "write:"))
        do_write(w, word);
    else if (str_is(word, "seal"))
        do_seal(w);
    else if (take(&word, "did:"))
        do_action(w, word, WEND_OUTCOME_OK);
    else if (take(&word, "didnt:"))
        do_action(w, word, WEND_OUTCOME_FAILED);
    else if (take(&word, "fail:")) {
        fail.error.code = word;
        feed(w, &fail);
    } else if (take(&word, "ok:"))
        do_call_done(w, word, WEND_OUTCOME_OK, w->turn.counter);
    else if (take(&word, "bad:"))
        do_call_done(w, word, WEND_OUTCOME_FAILED, w->turn.counter);
    else if (take(&word, "old:"))
        do_call_done(w, word, WEND_OUTCOME_OK, w->turn.counter - 1);
    else if (take(&word, "yes:"))
        do_approval(w, word, true);
    else if (take(&word, "no:"))
        do_approval(w, word, false);
    else if (take(&word, "hook"))
        do_hook(w, word);
    else
        return false;
    return true;
}

/* Stops at the first step that was out of memory. */
static inline void play(struct world *w, const char *inputs)
{
    wend_str rest = str_of(inputs);

    while (rest.len && !w->failed) {
        const char *space = memchr(rest.ptr, ' ', rest.len);
        wend_str word = rest;

        word.len = space ? (size_t)(space - rest.ptr) : rest.len;
        rest.ptr += word.len + (space != NULL);
        rest.len -= word.len + (space != NULL);
        if (word.len && !do_word(w, word)) {
            broke(w, "the test's own words are known");
            return;
        }
    }
}

/* ---- Tables -------------------------------------------------------------- */

#define BEGIN "run_start " TURN
#define TURN "turn_start context_start context_end model_start +ask "
#define NEXT "turn_end metrics " TURN
#define END "turn_end metrics "

/* r reads, w writes, u is undeclared, s has a schema. */
#define TOOLS                                                             \
    "\"tools\":[{\"name\":\"r\",\"class\":\"read\"},"                     \
    "{\"name\":\"w\",\"class\":\"idempotent\"},{\"name\":\"u\"},"         \
    "{\"name\":\"s\",\"class\":\"read\",\"schema\":{\"type\":\"object\"," \
    "\"required\":[\"text\"]}}]"
#define POLICY(approve) "\"policy\":{\"approve\":\"" approve "\"}"
#define ASK "{" TOOLS "," POLICY("ask") "}"
#define DENY "{" TOOLS "," POLICY("deny") "}"
#define ALL "{" TOOLS "," POLICY("all") "}"
/* The second spare costs more than any limit allows. */
#define SPARES                                                          \
    "{" TOOLS "," POLICY(                                               \
        "all") ",\"fallback\":[{\"name\":\"one\"},"                     \
               "{\"name\":\"two\",\"output_tokens\":1000000,\"price\":" \
               "{\"input\":1000000,\"cached\":0,\"output\":1000000000}}]}"
#define LABELED(approve)                                                    \
    "{\"tools\":[{\"name\":\"web\",\"labels\":[\"untrusted_source\"]},"     \
    "{\"name\":\"mail\",\"labels\":[\"sensitive\"]},{\"name\":\"out\","     \
    "\"labels\":[\"external_effect\"]}],\"policy\":{\"approve\":\"" approve \
    "\",\"rules\":[\"*\"]}}"
#define LABELS LABELED("ask")
#define LABELS_ALL LABELED("all")
#define ASK_HOOKS "{" TOOLS "," POLICY("ask") ",\"hooks\":true}"
#define LATER "{" TOOLS "," POLICY("all") ",\"eager\":\"off\"}"
#define EAGER "{" TOOLS "," POLICY("all") ",\"eager\":\"all\"}"
#define HOOKS "{" TOOLS "," POLICY("all") ",\"hooks\":true}"

struct row {
    const char *why, *config, *inputs, *wanted;
    wend_ev_limits limits; /* 0: those of tt_help.h */
    const struct plan_past *past;
};

static inline void check_rows(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const wend_ev_limits *given = &rows[i].limits;
        wend_str wanted = str_of(rows[i].wanted);
        struct world w;

        world_init(&w, &plain, rows[i].config);
        if (given->turns)
            w.start.limits.turns = given->turns;
        if (given->parallel)
            w.start.limits.parallel = given->parallel;
        w.past = rows[i].past;
        w.start.limits.time_ms = given->time_ms;
        w.start.limits.tokens = given->tokens;
        w.start.limits.cost_nano = given->cost_nano;
        play(&w, rows[i].inputs);
        /* The macros end with a space. */
        wanted.len -= wanted.ptr[wanted.len - 1] == ' ';
        tap_is_str(buf_view(&w.said), wanted, "%s", rows[i].why);
        tap_is_i64(w.broken, 0, "%s: no law is broken", rows[i].why);
        world_free(&w);
    }
}

#endif
