/*
 * circle.c - a model that goes round in circles.
 *
 * The state is small and of a fixed size: nothing here looks at the history.
 */
#include "core/turn/circle.h"

#include <string.h>

static void find(struct circle *l, enum circle_level level,
                 enum circle_rule rule, uint32_t count, uint32_t of,
                 wend_str tool)
{
    if (level <= l->due)
        return;
    l->due = level;
    l->rule = rule;
    l->count = count;
    l->of = of;
    l->tool = tool;
}

/* Puts the entry in front; the one at `last` goes. */
static void push(struct circle_seen *list, size_t last,
                 struct circle_seen entry)
{
    memmove(list + 1, list, last * sizeof *list);
    list[0] = entry;
}

/* ---- The same call with the same result ---------------------------------- */

static void same(struct circle *l, const struct circle_call *c)
{
    struct circle_seen seen = {c->result, c->turn, 1};
    enum circle_level level;
    size_t i = 0;

    while (i < CIRCLE_WINDOW - 1 && l->results[i].count &&
           l->results[i].hash != c->result)
        i++;
    if (l->results[i].count && l->results[i].hash == c->result) {
        if (l->results[i].turn == c->turn)
            return;
        seen.count = l->results[i].count + 1;
    }
    push(l->results, i, seen);
    level = seen.count >= CIRCLE_SAME_END      ? CIRCLE_END
            : seen.count == CIRCLE_SAME_FINISH ? CIRCLE_FINISH
            : seen.count == CIRCLE_SAME_NOTE   ? CIRCLE_NOTE
                                               : CIRCLE_NONE;
    find(l, level, CIRCLE_SAME, seen.count, seen.count, c->tool);
}

/* ---- Outputs that repeat ------------------------------------------------- */

static uint32_t times(const struct circle *l, uint64_t hash)
{
    uint32_t n = 0;

    for (size_t i = 0; i < CIRCLE_WINDOW; i++)
        n += l->outputs[i].count && l->outputs[i].hash == hash;
    return n;
}

static void outputs(struct circle *l, const struct circle_call *c)
{
    bool tells = c->output_bytes >= CIRCLE_OUTPUT_BYTES;
    enum circle_level level = CIRCLE_NONE;
    uint32_t most = 0, n;

    for (size_t i = 0; tells && i < CIRCLE_WINDOW; i++)
        if (l->outputs[i].count && l->outputs[i].hash == c->output &&
            l->outputs[i].turn == c->turn)
            return;
    push(l->outputs, CIRCLE_WINDOW - 1,
         (struct circle_seen){c->output, c->turn, tells});
    for (size_t i = 0; i < CIRCLE_WINDOW; i++) {
        n = l->outputs[i].count ? times(l, l->outputs[i].hash) : 0;
        most = n > most ? n : most;
    }
    if (most >= CIRCLE_OUTPUTS_NOTE)
        level = most == CIRCLE_WINDOW ? CIRCLE_FINISH : CIRCLE_NOTE;
    if (level > l->told[CIRCLE_OUTPUTS])
        find(l, level, CIRCLE_OUTPUTS, most, CIRCLE_WINDOW, c->tool);
    if (level > l->told[CIRCLE_OUTPUTS] || level == CIRCLE_NONE)
        l->told[CIRCLE_OUTPUTS] = level;
}

/* ---- Calls that fail ----------------------------------------------------- */

static void failures(struct circle *l, const struct circle_call *c)
{
    enum circle_level *told = &l->told[CIRCLE_FAILURES];
    uint32_t failed = 0;

    l->failed = (l->failed << 1 | c->failed) & ((1u << CIRCLE_WINDOW) - 1);
    l->calls += l->calls < CIRCLE_WINDOW;
    l->since++;
    for (uint32_t bits = l->failed; bits; bits &= bits - 1)
        failed++;
    if (l->calls < CIRCLE_FAILURES_MIN || 2 * failed <= l->calls) {
        *told = CIRCLE_NONE;
    } else if (*told == CIRCLE_NONE) {
        *told = CIRCLE_NOTE;
        l->since = 0;
        find(l, CIRCLE_NOTE, CIRCLE_FAILURES, failed, l->calls, c->tool);
    } else if (*told == CIRCLE_NOTE && l->since >= CIRCLE_FAILURES_MIN) {
        *told = CIRCLE_FINISH;
        find(l, CIRCLE_FINISH, CIRCLE_FAILURES, failed, l->calls, c->tool);
    }
}

void circle_add(struct circle *l, const struct circle_call *c)
{
    same(l, c);
    outputs(l, c);
    failures(l, c);
}

/* ---- In words ------------------------------------------------------------ */

void circle_text(const struct circle *l, struct buf *out)
{
    switch (l->rule) {
    case CIRCLE_SAME:
        buf_fmt(out, "the same call of %.*s with the same result, %u times",
                STR_ARGS(l->tool), l->count);
        break;
    case CIRCLE_OUTPUTS:
        buf_fmt(out, "%u of the last %u calls had the same output, now of %.*s",
                l->count, l->of, STR_ARGS(l->tool));
        break;
    case CIRCLE_FAILURES:
        buf_fmt(out, "%u of the last %u calls failed", l->count, l->of);
        break;
    case CIRCLE_RULES: break;
    }
    if (l->due == CIRCLE_FINISH)
        buf_cstr(out, "; the model is asked to finish");
}

void circle_note(const struct circle *l, struct buf *out)
{
    static const char *const begins[CIRCLE_RULES] = {
        [CIRCLE_SAME] = "You repeat yourself: ",
        [CIRCLE_OUTPUTS] = "You learn nothing new: ",
        [CIRCLE_FAILURES] = "Most of your calls fail: ",
    };
    struct circle plain = *l;

    plain.due = CIRCLE_NONE;
    buf_cstr(out, begins[l->rule]);
    circle_text(&plain, out);
    buf_cstr(out,
             l->due == CIRCLE_NOTE
                 ? ". Use what you have, or try something else."
                 : ". Finish now: call no more tools, and answer with what "
                   "you have; say what is missing.");
}
