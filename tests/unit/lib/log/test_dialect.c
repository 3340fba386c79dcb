/*
 * test_dialect.c - dialects as objects: what they lend, and which there are.
 */
#include "base/json.h"
#include "tap.h"
#include "wire/dialect/dialect.h"

/* A run of a few events, as a host reads it. */
static const wend_event_type story[] = {
    WEND_RUN_START, WEND_TURN_START, WEND_MODEL_START, WEND_TEXT_DELTA,
    WEND_MODEL_END, WEND_TURN_END,   WEND_RUN_END,
};

static wend_event event_at(size_t i)
{
    wend_event ev = {.type = story[i], .run = STR("r"), .seq = (int64_t)i};

    ev.in_turn = i && i < tap_count(story) - 1;
    if (ev.in_turn)
        ev.turn_id = STR("t0");
    if (ev.type == WEND_TURN_START)
        ev.u.turn_start.id = STR("t0");
    if (ev.type == WEND_TEXT_DELTA)
        ev.u.text_delta.text = STR("hi");
    if (ev.type == WEND_MODEL_END)
        ev.u.model_end.text = STR("hi");
    if (ev.type == WEND_MODEL_END)
        ev.u.model_end.outcome = WEND_OUTCOME_OK;
    if (ev.type == WEND_RUN_END)
        ev.u.run_end.outcome = WEND_OUTCOME_OK;
    return ev;
}

/* The records from event `from` on; those before are past. */
static void play(const char *name, size_t from, struct buf *out)
{
    wend_dialect *d = NULL;
    wend_str lines;

    wend_dialect_new(name, NULL, &d, NULL);
    for (size_t i = 0; i < tap_count(story); i++) {
        wend_event ev = event_at(i);

        if (wend_dialect_feed(d, &ev, i < from ? NULL : &lines) != WEND_OK)
            out->failed = true;
        else if (i >= from)
            buf_str(out, lines);
    }
    wend_dialect_free(d);
}

static void test_native(void)
{
    struct mem m = {0};
    struct buf out = {.mem = &m}, want = {.mem = &m};

    play("native", 0, &out);
    for (size_t i = 0; i < tap_count(story); i++) {
        wend_event ev = event_at(i);
        char *json = NULL;
        size_t len = 0;

        wend_event_to_json(&ev, &json, &len);
        buf_add(&want, json, len);
        buf_char(&want, '\n');
        wend_string_free(json);
    }
    tap_is_str(buf_view(&out), want.ptr, "native: the canonical lines");
    buf_free(&out);
    buf_free(&want);
}

/* Each dialect gives lines, and gives the rest alone to who comes late. */
static void test_each(const char *name)
{
    struct mem m = {0};
    struct buf all = {.mem = &m}, late = {.mem = &m}, none = {.mem = &m};

    play(name, 0, &all);
    play(name, 3, &late);
    play(name, tap_count(story), &none);
    tap_ok(all.len && all.ptr[all.len - 1] == '\n' && !all.failed, "%s: lines",
           name);
    tap_ok(late.len && !late.failed && !none.len,
           "%s: past events give no records", name);
    buf_free(&all);
    buf_free(&late);
    buf_free(&none);
}

static void test_names(void)
{
    wend_dialect *d = NULL;
    wend_error err = {0};
    size_t count = 0;

    for (const char *name; (name = wend_dialect_name(count)); count++)
        test_each(name);
    tap_is_i64((int64_t)count, DIALECTS, "all have a name");
    tap_is_str(str_of(wend_dialect_name(0)), "native", "native is the first");
    tap_ok(!wend_dialect_name(SIZE_MAX), "and there is no last but one");
    tap_is_i64(wend_dialect_new("lom", NULL, &d, &err), WEND_E_NOTFOUND,
               "a name that no dialect has");
    tap_is_str(str_of(err.message),
               "no dialect has the name 'lom'; did you mean 'loom'?",
               "the message names one that is near");
    tap_ok(!d, "and there is no object");
}

/* Options are copied; an interrupt lends like an event. */
static void test_options(void)
{
    char thread[] = "T";
    wend_dialect_options o = {.size = sizeof o, .thread_id = thread};
    wend_event ev = event_at(0);
    wend_dialect *d = NULL;
    wend_str lines;

    wend_dialect_new("ag-ui", &o, &d, NULL);
    thread[0] = 'x';
    tap_ok(wend_dialect_feed(d, &ev, &lines) == WEND_OK &&
               str_has(lines, STR("\"threadId\":\"T\"")),
           "options are copied");
    tap_is_i64(wend_dialect_interrupt(d, &lines), WEND_AGAIN,
               "no approval, no interrupt");
    tap_ok(!lines.ptr, "and no records");
    ev = (wend_event){.type = WEND_APPROVAL_ASK};
    ev.u.approval_ask.call = STR("c");
    wend_dialect_feed(d, &ev, NULL);
    tap_ok(wend_dialect_interrupt(d, &lines) == WEND_OK &&
               str_has(lines, STR("interrupts")),
           "an approval is open");
    wend_dialect_free(d);
}

static void test_lent(void)
{
    wend_dialect *d = NULL;
    wend_str lines = STR("x");
    wend_event bad = {.type = (wend_event_type)999}, ev = event_at(0);

    wend_dialect_new("native", NULL, &d, NULL);
    tap_ok(wend_dialect_feed(d, &bad, &lines) == WEND_E_INVAL && !lines.ptr,
           "an invalid event lends nothing");
    tap_ok(wend_dialect_feed(d, &ev, &lines) == WEND_OK && lines.len,
           "and is forgotten");
    wend_dialect_free(d);
}

int main(void)
{
    test_native();
    test_names();
    test_options();
    test_lent();
    return tap_done();
}
