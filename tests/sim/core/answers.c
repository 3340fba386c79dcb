/*
 * answers.c - who answers: calls, hooks, children, actions of plans.
 *
 * Each fills one input, its strings in the world's arena.
 */
#include "answers.h"
#include "plan_book.h"
#include "world.h"

enum { HUGE_BYTES = (256 << 10) + 77 }; /* over what stands in an event */

static const char *const words[] = {"yes", "a\tb",  "\xe2\x82\xac", "x \"q\" y",
                                    "\n",  "done.", "\\",           "{}"};

const wend_ev_part some_part = {
    .type = {"image", 5},
    .media = {"image/png", 9},
    .bytes = 100,
    .hash = {"0123456789abcdef0123456789abcdef"
             "0123456789abcdef0123456789abcdef",
             64},
    .width = 16,
    .height = 9,
};

wend_str some_text(struct sim *s)
{
    size_t len = HUGE_BYTES;
    char *p;

    if (chance_of(&s->chance, s->mood.long_text))
        len = 400 + chance_below(&s->chance, 6000);
    else if (!chance_of(&s->chance, s->mood.huge))
        return str_of(chance_pick(&s->chance, words));
    p = arena_chars(&s->world, len);
    memset(p, 'h', len);
    return (wend_str){p, len};
}

wend_str numbered(struct sim *s, const char *what, unsigned n)
{
    char text[64];
    int len = snprintf(text, sizeof text, "%s%u", what, n);

    return arena_str(&s->world, (wend_str){text, (size_t)len});
}

/* Of the first `among` of the list. */
wend_str some_arguments(struct sim *s, uint32_t among)
{
    static const char *const arguments[ARGUMENTS] = {
        "{\"n\":1}",
        "{\"agent\":\"kid\",\"n\":1}",
        "{\"agent\":\"kid\"}",
        "{\"n\":2,\"path\":\"safe/a\"}",
        "{\"path\":\"safe/b\"}",
        "{\"path\":\"etc/passwd\"}",
        "{\"path\":\"x rm y\",\"n\":3}",
        "{}",
        "",
        " { \"n\" : 1e2 , \"b\" : [ true , null ] } ",
        "{\"n\":\"text\"}",
        "{\"n\":",
        "\"bare\"",
        "\"\\u0000\"",
        "[1,2]",
        "{\"a\":1,\"a\":2}",
        "{\"blob\":\"x\"}",
        "{\"path\":\"\"}",
        "{\"path\":\"\\ud83d\\ude42\\u0000\"}",
    };

    return str_of(arguments[chance_below(&s->chance, among)]);
}

/* ---- Calls and hooks ----------------------------------------------------- */

/* A run of its own has ended in the call's way. */
static void answer_child(struct sim *s, struct input *in)
{
    struct child_done *d = arena_alloc(&s->world, sizeof *d);

    if (!d)
        return;
    d->outcome = in->done.outcome == WEND_OUTCOME_TIMEOUT ? WEND_OUTCOME_LIMIT
                                                          : in->done.outcome;
    d->text = in->done.output;
    d->limit = STR("turns");
    d->labels = chance_below(&s->chance, 8);
    d->metrics.tokens_in = chance_below(&s->chance, 50);
    d->metrics.tokens_out = chance_below(&s->chance, 50);
    d->metrics.model_calls = 1;
    d->metrics.tool_calls = chance_below(&s->chance, 3);
    in->done.child = d;
}

void answer_call(struct sim *s, const struct out *o, struct input *in)
{
    static const wend_outcome bad[] = {WEND_OUTCOME_FAILED, WEND_OUTCOME_FAILED,
                                       WEND_OUTCOME_TIMEOUT};

    in->kind = IN_CALL_DONE;
    in->done.turn = o->turn;
    in->done.call = o->call;
    in->done.outcome = WEND_OUTCOME_OK;
    in->done.output = some_text(s);
    in->done.ms = chance_below(&s->chance, 1000);
    if (o->stop && chance_of(&s->chance, 700))
        in->done.outcome = WEND_OUTCOME_CANCELED;
    else if (chance_of(&s->chance, s->mood.call_fail))
        in->done.outcome = chance_pick(&s->chance, bad);
    if (o->child)
        answer_child(s, in);
    if (in->done.outcome == WEND_OUTCOME_OK)
        return;
    if (chance_of(&s->chance, 800))
        in->done.code = STR("exit");
    in->done.effect_possible = chance_of(&s->chance, 500);
}

/* The shell takes only JSON from a hook, and makes it canonical. */
static wend_str some_args(struct sim *s)
{
    struct json *j = json_parse(some_arguments(s, ARGUMENTS), &s->world, NULL);
    struct buf b = {.mem = &s->mem};
    wend_str text = STR("{\"n\":7}");

    if (j) {
        json_put(&b, j);
        text = arena_str(&s->world, buf_view(&b));
    }
    buf_free(&b);
    return text;
}

void answer_hook(struct sim *s, const struct out *o, struct input *in)
{
    static const wend_hook_answer answers[] = {WEND_HOOK_GO, WEND_HOOK_GO,
                                               WEND_HOOK_GO, WEND_HOOK_CHANGE,
                                               WEND_HOOK_SKIP};

    in->kind = IN_HOOK;
    in->hook.turn = o->turn;
    in->hook.call = o->call;
    in->hook.answer = chance_pick(&s->chance, answers);
    if (in->hook.answer == WEND_HOOK_GO)
        return;
    in->hook.text = some_text(s);
    if (in->hook.answer == WEND_HOOK_CHANGE && o->call.ptr)
        in->hook.text = some_args(s);
}

/* ---- Actions ------------------------------------------------------------- */

/* What a model that an action asked has written. */
const struct reply *spoken(struct sim *s, uint32_t action)
{
    struct reply *r = &s->spoken.reply;

    if (s->probe)
        return NULL;
    if (s->spoken.made)
        reply_again(r, s->now_us);
    else
        reply_init(r, &s->mem, s->now_us);
    s->spoken.made = true;
    reply_text(r, STR("an answer"), s->now_us);
    r->usage.input = chance_below(&s->chance, 100);
    r->usage.output = chance_below(&s->chance, 50);
    keep_action_to(s, action, &r->usage);
    return r;
}

/* One in three is in the cache; or it has to begin. */
static void answer_cached(struct sim *s, struct input *in)
{
    in->done.cached = chance_of(&s->chance, 300);
    in->done.uncached = !in->done.cached;
    in->done.outcome = WEND_OUTCOME_OK;
}

static void give_file(struct sim *s, struct input *in)
{
    wend_ev_part *part = arena_alloc(&s->world, sizeof *part);
    char *name = arena_chars(&s->world, 8);

    snprintf(name, 8, "a%u", in->done.action);
    *part = (wend_ev_part){.type = STR("image"),
                           .media = STR("image/png"),
                           .bytes = 75,
                           .hash = str_of(name),
                           .name = str_of(name)};
    in->done.parts = part;
    in->done.parts_count = 1;
}

void answer_action(struct sim *s, const struct out *o, struct input *in)
{
    static const char *const codes[] = {"exit", "timeout", "rate_limit"};
    const struct made_action *m = &s->made.a[o->action];

    in->kind = IN_ACTION_DONE;
    in->done.action = o->action;
    in->done.attempt = o->attempt;
    in->done.outcome = WEND_OUTCOME_OK;
    in->done.output = some_text(s);
    if (o->stop && chance_of(&s->chance, 700))
        in->done.outcome = WEND_OUTCOME_CANCELED;
    else if (chance_of(&s->chance, s->mood.call_fail))
        in->done.outcome = chance_of(&s->chance, 700) ? WEND_OUTCOME_FAILED
                                                      : WEND_OUTCOME_TIMEOUT;
    if (m->type == ACTION_LLM && chance_of(&s->chance, 800))
        in->reply = spoken(s, o->action);
    if (m->type == ACTION_TOOL && act_gives_file(o->action))
        give_file(s, in);
    if (o->child)
        answer_child(s, in);
    else if (is_child_type(m))
        answer_cached(s, in);
    if (in->done.outcome == WEND_OUTCOME_OK)
        return;
    in->done.code = str_of(chance_pick(&s->chance, codes));
    in->done.effect_possible = chance_of(&s->chance, 500);
    in->done.retryable = chance_of(&s->chance, 500);
}

bool approve_action(struct sim *s, struct input *in)
{
    for (uint32_t i = 0; i < s->made.count; i++) {
        if (!act_waits(&s->book.plan.a[i]) || chance_of(&s->chance, 300))
            continue;
        in->kind = IN_APPROVAL;
        in->approval.call = numbered(s, "a", i);
        in->approval.by = STR("user");
        in->approval.yes = chance_of(&s->chance, 700);
        in->approval.remember = chance_of(&s->chance, 200);
        return true;
    }
    return false;
}
