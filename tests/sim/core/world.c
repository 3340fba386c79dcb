/*
 * world.c - what comes in: a model that streams, calls that answer, people
 * that speak, and everything late, twice, or about nothing.
 *
 * next_input() fills one input, its strings in the world's arena. Faults
 * are as likely as the mood says; while draining there are none, and what
 * is open gets its answer.
 */
#include "agent.h"
#include "answers.h"
#include "book.h"
#include "world.h"

/* What the model says: mostly JSON or a summary, where that is asked for. */
static wend_str some_answer(struct sim *s)
{
    static const char summary[] =
        "\n# Task\n# Decisions\n# Progress\n# Blockers\n# Context\n";
    static const char *const answers[] = {
        "{}",
        "{\"n\":1}",
        "```json\n{\"n\":2}\n```",
        " {\"n\":[]}\n",
        "[1]",
        "\"yes\"",
        "```\n[1]```",
        "{\"n\":",
        "",
        "``````",
        "{\"n\":1} and more",
    };

    if (s->turn.aside && chance_of(&s->chance, 800))
        return str_of(summary);
    if (s->config->schema && !s->stream.reply.text.len &&
        chance_of(&s->chance, 800))
        return str_of(chance_pick(&s->chance, answers));
    return some_text(s);
}

/* ---- The model --------------------------------------------------------------
 */
static void open_call(struct sim *s)
{
    static const char *const ids[] = {"c1", "c2",         "c1",
                                      "",   "call \"3\"", "c1_2"};
    struct reply *r = &s->stream.reply;
    wend_str name = numbered(s, "t", chance_below(&s->chance, TOOLS_IN_SIM));
    wend_str raw = some_arguments(s, ARGUMENTS), piece;
    int call;

    if (s->config->tools_count && chance_of(&s->chance, 850))
        name = s->config
                   ->tools[chance_below(&s->chance,
                                        (uint32_t)s->config->tools_count)]
                   .name;
    if (chance_of(&s->chance, 30))
        name = STR("");
    if (chance_of(&s->chance, 500))
        raw = some_arguments(s, ARGUMENTS_FITTING);
    call = reply_call(r, str_of(chance_pick(&s->chance, ids)), name);
    while (call >= 0 && raw.len) {
        piece = raw;
        piece.len = 1 + chance_below(&s->chance, (uint32_t)raw.len);
        reply_args(r, call, piece, s->now_us);
        raw.ptr += piece.len;
        raw.len -= piece.len;
    }
    if (call >= 0 && chance_of(&s->chance, s->mood.huge))
        reply_args(r, call, some_text(s), s->now_us);
}

/* Mostly in order, as providers do. */
static bool seal_one(struct sim *s)
{
    struct reply *r = &s->stream.reply;
    size_t skip = chance_of(&s->chance, 100);

    for (size_t i = 0; i < r->calls_count; i++)
        if (!r->calls[i].sealed && !skip--) {
            reply_seal(r, (int)i);
            return true;
        }
    return false;
}

bool is_honest(const struct sim *s)
{
    return s->start.limits.turns % 2;
}

/* Not by chance, so that the histories of old seeds stay what they were. */
static void keep_to(struct sim *s, wend_ev_usage *u, int64_t input,
                    const struct allowance *a)
{
    if (!is_honest(s))
        return;
    u->cost_nano = -1;
    if (u->input > input)
        u->input = input;
    if (a->tokens && u->output > a->tokens)
        u->output = a->tokens;
}

void keep_action_to(struct sim *s, uint32_t action, wend_ev_usage *u)
{
    const struct plan_state *p = &s->turn.plan;
    const struct action_state *a;

    if (!p->started || action >= p->plan->count)
        return;
    a = plan_action_state(p, action);
    keep_to(s, u, tokens_estimate(a->params.len), &a->allowed);
}

void model_done(struct sim *s, struct input *in)
{
    static const char *const finishes[] = {
        "", "stop", "tool_calls", "length", "content_filter", "pause"};
    struct reply *r = &s->stream.reply;

    if (s->draining || chance_of(&s->chance, 950))
        while (seal_one(s) || seal_one(s) || seal_one(s))
            ;
    r->usage.input = chance_below(&s->chance, 200);
    r->usage.output = chance_below(&s->chance, 100);
    r->usage.cached = chance_below(&s->chance, 50);
    if (chance_of(&s->chance, 500))
        r->usage.cost_nano = chance_below(&s->chance, 2000000);
    keep_to(s, &r->usage, turn_tokens(&s->turn), &s->turn.allowed);
    r->finish = arena_str(&r->arena, str_of(chance_pick(&s->chance, finishes)));
    in->kind = IN_MODEL_DONE;
    in->ask = s->stream.ask;
}

/* It does not take a parameter, or no pictures. */
static void refuse(struct sim *s, struct model_error *e)
{
    uint32_t what = chance_below(&s->chance, 10);

    if (what < 2) {
        e->code = STR("request");
        e->refused = 1 + chance_below(&s->chance, (1u << ASKED_FIELDS) - 1);
    } else if (what < 5) {
        e->code = STR("media");
        e->message = STR("no image, please");
    }
}

void model_fail(struct sim *s, struct input *in)
{
    static const char *const codes[] = {
        "network", "timeout", "rate_limit", "service",  "network", "timeout",
        "auth",    "request", "overflow",   "canceled", "parse",   "odd"};

    in->kind = IN_MODEL_FAIL;
    in->ask = s->stream.ask;
    in->error.code = str_of(chance_pick(&s->chance, codes));
    in->error.message = some_text(s);
    in->error.retry_never = chance_of(&s->chance, 100);
    if (chance_of(&s->chance, 200))
        in->error.retry_after_ms = chance_below(&s->chance, 90000);
    in->error.resting = !s->stream.reply.pieces && chance_of(&s->chance, 200);
    /* Some failures come with usage; not by chance, so that the histories of
     * old seeds stay what they were. */
    if (s->now_us / 1000 % 3 == 0 && !s->probe)
        s->stream.reply.usage = (wend_ev_usage){
            .input = 7, .output = 3, .cached = 2, .cost_nano = -1};
    keep_to(s, &s->stream.reply.usage, turn_tokens(&s->turn), &s->turn.allowed);
    if (s->talks)
        refuse(s, &in->error);
}

/* In an outage mostly before the first piece, so that it is tried again. */
static bool fails_now(struct sim *s)
{
    if (s->draining)
        return false;
    if (!s->stream.reply.pieces && chance_of(&s->chance, s->mood.outage))
        return true;
    return chance_of(&s->chance, s->stream.left ? s->mood.model_fail / 4
                                                : s->mood.model_fail);
}

/* One more thing from the model; false when it is no input. */
static bool stream_next(struct sim *s, struct input *in)
{
    struct reply *r = &s->stream.reply;
    uint32_t what = chance_below(&s->chance, 10);

    if (fails_now(s)) {
        model_fail(s, in);
        return true;
    }
    if (!s->stream.left) {
        model_done(s, in);
        return true;
    }
    s->stream.left--;
    if (what < 2)
        reply_text(r, some_answer(s), s->now_us);
    else if (what < 3)
        reply_thinking(r, some_text(s), s->now_us);
    else if (what < 6 && r->calls_count < CALLS_PER_MESSAGE)
        open_call(s);
    if (what < 6 || !seal_one(s))
        return false;
    in->kind = IN_SEALED;
    in->ask = s->stream.ask;
    return true;
}

/* ---- Answers ------------------------------------------------------------- */

void answer_out(struct sim *s, struct out *o, struct input *in)
{
    o->used = false;
    if (o->kind == FX_RUN_CALL) {
        answer_call(s, o, in);
    } else if (o->kind == FX_RUN_ACTION) {
        answer_action(s, o, in);
    } else if (o->kind == FX_HOOK) {
        answer_hook(s, o, in);
    } else {
        if (s->now_us < o->due_us)
            s->now_us = o->due_us;
        in->kind = IN_TIMER;
        in->timer = o->timer;
        in->ask = o->ask;
    }
}

bool is_kind(const struct out *o, enum effect_kind kind)
{
    return o->used && o->kind == kind;
}

/* A call told to stop may also never answer: the timer ends it. */
struct out *pick_out(struct sim *s, enum effect_kind kind)
{
    struct out *found = NULL;
    uint32_t seen = 0;

    for (uint32_t i = 0; i < OUT_MAX; i++)
        if (is_kind(&s->outs[i], kind) && !chance_below(&s->chance, ++seen))
            found = &s->outs[i];
    return found;
}

struct out *find_timer(struct sim *s, enum timer timer)
{
    for (uint32_t i = 0; i < OUT_MAX; i++)
        if (is_kind(&s->outs[i], FX_TIMER) && s->outs[i].timer == timer)
            return &s->outs[i];
    return NULL;
}

static bool approve_one(struct sim *s, struct input *in)
{
    if (s->planned)
        return approve_action(s, in);
    for (uint32_t i = 0; i < s->book.calls_count; i++) {
        const struct book_call *c = &s->book.calls[i];

        if (!book_waits(c) || chance_of(&s->chance, 300))
            continue;
        in->kind = IN_APPROVAL;
        in->approval.call = arena_str(&s->world, str_of(c->id));
        in->approval.by = STR("user");
        in->approval.yes = chance_of(&s->chance, 700);
        in->approval.remember = chance_of(&s->chance, 200);
        return true;
    }
    return false;
}

/* What is open, in any order. False: nothing, or only a piece. */
static bool answer_next(struct sim *s, struct input *in)
{
    const enum effect_kind kinds[] = {s->planned ? FX_RUN_ACTION : FX_RUN_CALL,
                                      FX_HOOK};
    struct out *o = NULL;
    uint32_t from = chance_below(&s->chance, 4);

    if (chance_of(&s->chance, s->draining ? 0 : s->mood.timer))
        o = pick_out(s, FX_TIMER);
    for (uint32_t i = 0; !o && i < 4; i++) {
        uint32_t source = (from + i) % 4;

        if (source < 2)
            o = pick_out(s, kinds[source]);
        else if (source == 2 && s->stream.open)
            return stream_next(s, in);
        else if (source == 3 && approve_one(s, in))
            return true;
    }
    if (!o)
        o = find_timer(s, TIMER_STOP);
    if (!o)
        o = find_timer(s, TIMER_RETRY);
    if (o)
        answer_out(s, o, in);
    return o != NULL;
}

/* ---- Faults -------------------------------------------------------------- */

static void about_nothing(struct sim *s, struct input *in)
{
    struct out o = {.turn = s->book.turn, .call = STR("nobody")};

    if (s->book.calls_count && chance_of(&s->chance, 600)) {
        o.call = arena_str(&s->world, str_of(s->book.calls[0].id));
        o.turn += chance_of(&s->chance, 500) ? -1 : 1;
    }
    in->ask = s->book.asks + (chance_of(&s->chance, 500) ? -1 : 1);
    switch (chance_below(&s->chance, s->planned ? 8 : 7)) {
    case 0: answer_call(s, &o, in); break;
    case 1: answer_hook(s, &o, in); break;
    case 2: in->kind = IN_MODEL_DONE; break;
    case 3: in->kind = IN_SEALED; break;
    case 4:
        in->kind = IN_MODEL_FAIL;
        in->error.code = STR("network");
        break;
    case 5:
        in->kind = IN_TIMER;
        in->timer = chance_of(&s->chance, 500) ? TIMER_RETRY : TIMER_STOP;
        break;
    case 6:
        in->kind = IN_APPROVAL;
        in->approval.call = STR("nobody");
        in->approval.by = STR("user");
        break;
    case 7:
        o.action = chance_below(&s->chance, s->made.count);
        o.attempt = (int64_t)chance_below(&s->chance, 4) - 1;
        answer_action(s, &o, in);
        break;
    }
}

/* The process that resumes it may raise its limits. */
static const wend_ev_limits *raise_limits(struct sim *s)
{
    s->raised = (wend_ev_limits){
        .turns = s->book.limits.turns + 1,
        .time_ms = s->book.limits.time_ms ? s->book.limits.time_ms + 5000 : 0};
    return &s->raised;
}

/* A person beside the run. */
static bool people_next(struct sim *s, struct input *in)
{
    struct chance *c = &s->chance;

    in->by = STR("user");
    /* Only some worlds have it, so that the others stay what they were. */
    if (s->head.seed % 16 == 9 && chance_of(c, 100)) {
        s->trouble = (struct trouble){.code = STR("mcp_down"),
                                      .component = STR("mcp"),
                                      .message = some_text(s)};
        in->kind = IN_TROUBLE;
        in->troubles = &s->trouble;
    } else if ((s->talks || s->head.seed % 16 == 5) && chance_of(c, 20)) {
        in->kind = IN_COMPACT;
        if (chance_of(c, 500))
            in->text = some_text(s);
    } else if (s->says < SAYS_MAX && chance_of(c, s->mood.say)) {
        in->kind = IN_SAY;
        in->text = numbered(s, "said ", s->says++);
        in->pin = chance_of(c, 300);
        if (s->talks && chance_of(c, 400))
            in->parts = (struct said_parts){.list = &some_part, .count = 1};
    } else if (chance_of(c, s->mood.pause)) {
        in->kind = IN_PAUSE;
    } else if (chance_of(c, s->book.paused ? 150 : s->mood.pause / 8)) {
        in->kind = IN_CONTINUE;
    } else if (chance_of(c, s->mood.cancel)) {
        in->kind = IN_CANCEL;
    } else if (chance_of(c, s->mood.stop)) {
        in->kind = IN_STOP;
        if (chance_of(c, 800))
            in->text = some_text(s);
    } else {
        return false;
    }
    return true;
}

bool next_input(struct sim *s, struct input *in)
{
    struct chance *c = &s->chance;

    memset(in, 0, sizeof *in);
    s->now_us += chance_below(c, chance_of(c, 50) ? 2000000 : 30000);
    if (!s->book.run_open && (s->draining || chance_of(c, 900))) {
        in->kind = IN_START;
        in->start = &s->start;
        in->run = str_of(s->run);
        in->compact = s->compact;
        in->repaired = chance_of(c, 100);
        return true;
    }
    if (s->draining && s->book.paused && !s->book.stopping) {
        in->kind = IN_CONTINUE;
        return true;
    }
    if (!s->draining && s->book.run_open && !s->book.run_over &&
        chance_of(c, s->mood.crash * (1 + 9 * book_busy(&s->book)))) {
        in->kind = IN_RESUME;
        in->epoch = ++s->epoch;
        if (!s->head.bug && chance_of(c, 200)) /* a bug bends limits, too */
            in->limits = raise_limits(s);
        return true;
    }
    if (!s->draining && s->past_count && chance_of(c, s->mood.again)) {
        uint32_t n = s->past_count < PAST_MAX ? s->past_count : PAST_MAX;

        *in = s->past[chance_below(c, n)];
        return true;
    }
    if (!s->draining && chance_of(c, s->mood.unknown)) {
        about_nothing(s, in);
        return true;
    }
    if (!s->draining && people_next(s, in))
        return true;
    memset(in, 0, sizeof *in);
    return answer_next(s, in);
}
