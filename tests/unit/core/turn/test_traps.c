/*
 * test_traps.c - six ways in which conversations that are made shorter break,
 * one test each. The words are those of tt_help.h.
 */
#include "tt_help.h"
#include "wire/model/model.h"

#define SMALL                                                         \
    "{" TOOLS "," POLICY("all") ",\"context_tokens\":680,"            \
                                "\"instructions\":\"be brief\","      \
                                "\"eager\":\"off\",\"loop\":\"off\"," \
                                "\"output_tokens\":10"
/* Whose reserve has room for a summary. */
#define ROOMY                                                    \
    "{" TOOLS "," POLICY("all") ",\"context_tokens\":3000,"      \
                                "\"instructions\":\"be brief\"," \
                                "\"eager\":\"off\",\"loop\":\"off\"}"
#define LONG_TEXT "text:m1m1m1m1m1m1m1m1m1m1m1m1m1m1m1m1m1m1m1m1m1m1m1m1m1m1 "
#define CALL LONG_TEXT "call:r done ok:call_1 "
/* The next request would be too large: a summary is asked for. */
#define FULL "start " CALL CALL CALL CALL CALL CALL CALL CALL CALL CALL CALL

static void begin(struct world *w, const char *inputs)
{
    world_init(w, &plain, SMALL "}");
    play(w, inputs);
}

static size_t calls_of(const struct msg *m)
{
    return m->calls ? m->calls->index + 1 : 0;
}

/* Whether each call of the list has its result behind it. */
static bool is_paired(const struct msg *list)
{
    size_t results = 0;

    for (const struct msg *m = list; m; m = m->prev) {
        if (m->role == ROLE_TOOL) {
            results++;
        } else {
            if (calls_of(m) != results)
                return false;
            results = 0;
        }
    }
    return !results;
}

/* 1: cut only where no call is open; a dead call gets its result first. The
 * request for the summary keeps to that, too. */
static void trap_open_call(void)
{
    struct world w;

    begin(&w,
          "start " CALL CALL CALL CALL CALL CALL CALL CALL CALL CALL LONG_TEXT
          "call:u done resume");
    tap_ok(w.turn.phase == PH_MODEL && w.turn.aside &&
               is_paired(w.turn.aside) && is_paired(w.turn.history->prev),
           "trap 1: the dead call has a result in what is summarised");
    play(&w, SUM "done");
    tap_ok(w.turn.compactions == 1 && is_paired(w.turn.history),
           "trap 1: no call of what stays is open");
    world_free(&w);
}

/* 2: answers that stay go back with the bytes that they came with. */
static void trap_bytes(void)
{
    const struct msg *newest, *m;
    struct world w;

    begin(&w, "start " CALL CALL CALL CALL CALL CALL CALL CALL CALL CALL
              "think " CALL);
    newest = w.turn.aside ? w.turn.aside->prev : NULL;
    play(&w, SUM "done");
    m = w.turn.history ? w.turn.history->prev : NULL;
    tap_ok(newest && m && m != newest && m->hash == newest->hash &&
               m->text.ptr == newest->text.ptr &&
               m->thinking.ptr == newest->thinking.ptr && m->thinking.len &&
               m->opaque.ptr == newest->opaque.ptr,
           "trap 2: the newest answer is the same, its thinking included");
    world_free(&w);
}

static void end_with(struct world *w, const char *call, size_t bytes)
{
    struct buf b = {.mem = &plain};

    while (b.len < bytes)
        buf_cstr(&b, "word ");
    feed(w, &(struct input){.kind = IN_CALL_DONE,
                            .done = {.turn = w->turn.counter,
                                     .call = str_of(call),
                                     .outcome = WEND_OUTCOME_OK,
                                     .output = buf_view(&b)}});
    buf_free(&b);
}

/* 3: never inside a batch of calls; a result over the window is cut. */
static void trap_batch(void)
{
    struct world w;

    begin(&w, "start text call:r call:r done");
    end_with(&w, "call_1", 20000);
    tap_ok(!w.turn.compactions && w.turn.phase == PH_CALLS,
           "trap 3: not before the last result of the batch");
    end_with(&w, "call_2", 10);
    tap_ok(w.turn.compactions == 1 && w.turn.phase == PH_MODEL &&
               w.turn.purpose == WEND_PURPOSE_ANSWER &&
               w.turn.history->prev->whole.len >= 20000 &&
               w.turn.history->prev->text.len < 1000 &&
               is_paired(w.turn.history),
           "trap 3: the result that is larger than the window is cut");
    world_free(&w);
}

/* 4: recounted afterwards; what a provider counted before does not start it
 * again. */
static void trap_recount(void)
{
    struct world w;

    begin(&w, FULL);
    play(&w, SUM);
    w.reply.usage = (wend_ev_usage){.input = 640, .output = 3};
    play(&w, "done");
    tap_ok(w.turn.compactions == 1 && turn_tokens(&w.turn) < 640 / 2,
           "trap 4: the count is that of the shorter one: %lld",
           (long long)turn_tokens(&w.turn));
    play(&w, CALL CALL);
    tap_is_i64(w.turn.compactions, 1, "trap 4: and it is not shortened again");
    world_free(&w);
}

/* ---- 5: the same beginning ----------------------------------------------- */

static wend_str body_of(const struct codec *c, const struct turn *t,
                        struct arena *a)
{
    struct buf b = {.mem = &plain};
    struct wire_ask q = {.turn = t, .model = STR("m"), .max_tokens = 100};

    codec_request(c, &q, &b);
    return buf_keep(&b, a);
}

/* Marks of a cache move, and are no part of what the model reads. */
static void put_plain(struct buf *b, const struct json *j)
{
    static const char mark[] = "\"cache_control\":{\"type\":\"ephemeral\"}";
    struct buf text = {.mem = &plain};
    char *at;

    json_put(&text, j);
    while (text.len &&
           (at = memmem(text.ptr, text.len, mark, sizeof mark - 1))) {
        char *end = at + sizeof mark - 1;

        at -= at[-1] == ',';
        memmove(at, end, text.len - (size_t)(end - text.ptr) + 1);
        text.len -= (size_t)(end - at);
    }
    buf_str(b, buf_view(&text));
    buf_free(&text);
}

static bool same_value(const struct json *a, const struct json *b)
{
    struct buf x = {.mem = &plain}, y = {.mem = &plain};
    bool same;

    put_plain(&x, a);
    put_plain(&y, b);
    same = str_eq(buf_view(&x), buf_view(&y));
    buf_free(&x);
    buf_free(&y);
    return same;
}

/* The list of messages, whatever it is called. */
static bool is_talk(const struct json *j)
{
    return str_is(j->key, "messages") || str_is(j->key, "input") ||
           str_is(j->key, "contents");
}

static bool begins_with(const struct json *turn, const struct json *summary)
{
    const struct json *y = summary->first;

    for (const struct json *x = turn->first; x; x = x->next, y = y->next)
        if (!y || !same_value(x, y))
            return false;
    return y != NULL;
}

static void compare(const struct codec *c, const struct turn *turn,
                    const struct turn *summary)
{
    struct arena a = {.mem = &plain};
    const struct json *x = json_parse(body_of(c, turn, &a), &a, NULL);
    const struct json *y = json_parse(body_of(c, summary, &a), &a, NULL);
    const struct json *j = x ? x->first : NULL, *k = y ? y->first : NULL;
    bool same = j && k;

    for (; same && j && k; j = j->next, k = k->next)
        same = str_eq(j->key, k->key) &&
               (is_talk(j) ? begins_with(j, k) : same_value(j, k));
    tap_ok(same && !j && !k,
           "trap 5: %s: system, tools and messages are those of the turn",
           c->name);
    same = y && str_has(body_of(c, summary, &a), STR("Write a summary of it"));
    tap_ok(same, "trap 5: %s: and the question is there", c->name);
    arena_free(&a);
}

static void trap_prefix(void)
{
    struct turn turn;
    struct world w;

    world_init(&w, &plain, ROOMY);
    play(&w, "start");
    for (int i = 0; i < 40 && w.turn.purpose == WEND_PURPOSE_ANSWER; i++) {
        turn = w.turn; /* a value: it stays what it is */
        play(&w, "text call:r done");
        end_with(&w, "call_1", 600);
    }
    tap_ok(w.turn.purpose == WEND_PURPOSE_SUMMARY &&
               str_eq(w.turn.model, turn.model),
           "trap 5: the same model");
    tap_ok(str_starts(w.turn.history->text, summary_ask.ptr),
           "trap 5: the question is last");
    for (size_t i = 0; codec_at(i); i++)
        compare(codec_at(i), &turn, &w.turn);
    world_free(&w);
}

/* A summary is no answer: the schema of those would make one of it. */
static void trap_schema(void)
{
    struct world w;

    world_init(&w, &plain, SMALL ",\"schema\":{\"type\":\"object\"}}");
    play(&w, "start");
    tap_ok(turn_schema(&w.turn).len, "trap 5: an answer has its schema");
    play(&w, CALL CALL CALL CALL CALL CALL CALL CALL CALL CALL CALL);
    tap_ok(w.turn.purpose == WEND_PURPOSE_SUMMARY && !turn_schema(&w.turn).ptr,
           "trap 5: a summary has none");
    world_free(&w);
}

/* 6: what has a source comes from there; the user's first and newest words
 * stay as they are. */
static void trap_sources(void)
{
    const struct msg *first, *newest = NULL;
    struct world w;

    begin(&w, "start " CALL CALL CALL CALL CALL CALL CALL CALL
              "say " CALL CALL CALL SUM "done");
    first = w.turn.history;
    for (const struct msg *m = w.turn.history; m; first = m, m = m->prev)
        if (!newest && m->role == ROLE_USER && !m->own)
            newest = m;
    tap_ok(w.turn.compactions == 1 && str_is(first->text, "hi") && newest &&
               str_is(newest->text, "and?"),
           "trap 6: the first and the newest words of the user");
    tap_ok(str_has(w.turn.frame->system, STR("be brief")),
           "trap 6: instructions are the config's, not the summary's");
    world_free(&w);
}

int main(void)
{
    trap_open_call();
    trap_bytes();
    trap_batch();
    trap_recount();
    trap_prefix();
    trap_schema();
    trap_sources();
    return tap_done();
}
