/*
 * test_event_read.c - blobs in the place of long strings; what a reader of
 * events skips and refuses.
 */
#include "event_help.h"

/* ---- Blobs --------------------------------------------------------------- */

/* A text of `bytes`, as a string or (with its quotes) as a JSON value. */
static void check_blob(size_t bytes, bool json, size_t wanted)
{
    struct arena a = {.mem = &plain};
    struct buf b = {.mem = &plain};
    struct blob_store store = {.kept = {.arena = &a}};
    char *text = long_text(bytes);
    wend_event ev = event_of(json ? WEND_CONTROL : WEND_MESSAGE, false), back;
    wend_str *in = json ? &ev.u.control.value_json : &ev.u.message.text;
    wend_str *out = json ? &back.u.control.value_json : &back.u.message.text;
    const char *what = json ? "JSON" : "string";

    if (json)
        text[0] = text[bytes - 1] = '"';
    *in = (wend_str){text, bytes};
    event_write(&b, &ev, &store.kept);
    tap_is_i64((int64_t)store.kept.count, (int64_t)wanted,
               "%s of %zu bytes: blobs", what, bytes);
    tap_ok(event_read(buf_view(&b), &a, blob_get, &store, &back, NULL) ==
                   WEND_OK &&
               str_eq(*out, *in),
           "%s of %zu bytes: reads back whole", what, bytes);
    tap_ok(event_read(buf_view(&b), &a, NULL, NULL, &back, NULL) == WEND_OK &&
               out->len <= bytes && !memcmp(out->ptr, text, out->len) &&
               (wanted ? out->len == BLOB_HEAD_BYTES - 1 : out->len == bytes),
           "%s of %zu bytes: without blobs its head, cut between characters",
           what, bytes);
    store.fails = WEND_E_CORRUPT;
    wend_error err = {0};
    wend_status s = event_read(buf_view(&b), &a, blob_get, &store, &back, &err);

    tap_ok(wanted ? s == WEND_E_CORRUPT && strstr(err.message, "blob")
                  : s == WEND_OK,
           "%s of %zu bytes: a lost blob is reported", what, bytes);
    buf_free(&b);
    arena_free(&a);
    free(text);
}

static void test_blobs(void)
{
    for (int json = 0; json < 2; json++) {
        check_blob(STRING_INLINE_MAX - 1, json, 0);
        check_blob(STRING_INLINE_MAX, json, 0);
        check_blob(STRING_INLINE_MAX + 1, json, 1);
    }
}

/* Values from outside that look like a reference must come back. */
static void test_no_blobs(void)
{
    static const char *const values[] = {
        "{\"blob\":\"0\",\"bytes\":1,\"head\":\"\"}",
        "{\"blob\":5}",
        "{\"blob\":{\"a\":1}}",
        "{\"bytes\":1,\"blob\":\"0\"}",
        "[{\"blob\":\"0\"}]",
        "{\"a\":{\"blob\":\"0\"}}",
        "\"{\\\"blob\\\":1}\"",
    };

    for (size_t i = 0; i < tap_count(values); i++) {
        struct arena a = {.mem = &plain};
        struct buf b = {.mem = &plain};
        struct blob_store store = {.kept = {.arena = &a}};
        wend_event ev = event_of(WEND_CONTROL, false), back;

        ev.u.control.value_json = str_of(values[i]);
        event_write(&b, &ev, &store.kept);
        event_read(buf_view(&b), &a, blob_get, &store, &back, NULL);
        tap_is_str(back.u.control.value_json, values[i],
                   "no reference, though it looks like one");
        buf_free(&b);
        arena_free(&a);
    }
}

/* ---- What a reader skips and refuses ------------------------------------- */

static void test_lenient(void)
{
    static const struct {
        const char *why, *line;
        wend_event_type type;
        int64_t calls;
    } rows[] = {
        {"an unknown type", HEAD("1", "teleport") ",\"data\":{\"x\":1}}",
         WEND_EVENT_NONE, 0},
        {"an unknown type with no object as data",
         HEAD("1", "teleport") ",\"data\":7}", WEND_EVENT_NONE, 0},
        {"an unknown field",
         HEAD("1", "turn_end") ",\"data\":{\"mood\":[{}],\"calls\":3}}",
         WEND_TURN_END, 3},
        {"an unknown member of the envelope",
         HEAD("1", "turn_end") ",\"x\":{\"calls\":9},\"data\":{\"calls\":3}}",
         WEND_TURN_END, 3},
        {"fields in another order",
         "{\"data\":{\"failed_calls\":1,\"calls\":3,\"outcome\":\"ok\"},"
         "\"type\":\"turn_end\",\"time\":1,\"seq\":1,\"run\":\"" RUN "\"}",
         WEND_TURN_END, 3},
        {"no fields at all", HEAD("1", "turn_end") ",\"data\":{}}",
         WEND_TURN_END, 0},
        {"an integer written as a decimal",
         HEAD("1", "turn_end") ",\"data\":{\"calls\":3.0}}", WEND_TURN_END, 3},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct arena a = {.mem = &plain};
        wend_event ev;
        wend_status s =
            event_read(str_of(rows[i].line), &a, NULL, NULL, &ev, NULL);

        tap_ok(s == WEND_OK && ev.type == rows[i].type, "skipped: %s",
               rows[i].why);
        if (ev.type == WEND_TURN_END)
            tap_is_i64(ev.u.turn_end.calls, rows[i].calls, "read besides: %s",
                       rows[i].why);
        arena_free(&a);
    }
}

static void test_absent(void)
{
    struct arena a = {.mem = &plain};
    wend_event ev;

    event_read(STR(HEAD("1", "model_end") ",\"data\":{\"usage\":{}}}"), &a,
               NULL, NULL, &ev, NULL);
    tap_is_i64(ev.u.model_end.usage.cost_nano, -1,
               "an absent cost is not known");
    event_read(STR(HEAD("1", "metrics") ",\"data\":{\"cost\":null}}"), &a, NULL,
               NULL, &ev, NULL);
    tap_is_i64(ev.u.metrics.cost_nano, -1, "a cost of null is not known");
    tap_ok(!ev.u.model_end.error && !ev.u.model_end.thinking.ptr,
           "an absent error and an absent string are NULL");
    event_read(
        STR(HEAD("1",
                 "model_end") ",\"data\":{\"error\":null,\"thinking\":null}}"),
        &a, NULL, NULL, &ev, NULL);
    tap_ok(!ev.u.model_end.error && !ev.u.model_end.thinking.ptr,
           "null is absent");
    arena_free(&a);
}

static const struct {
    const char *why, *line, *wanted;
} refused[] = {
    {"no JSON", "{\"run\":", ""},
    {"no object", "[]", "type or data is missing"},
    {"no type", "{\"run\":\"x\",\"data\":{}}", "type or data"},
    {"no data", HEAD("1", "turn_end") "}", "type or data"},
    {"no run", "{\"seq\":1,\"time\":1,\"type\":\"error\",\"data\":{}}",
     "run, seq or time"},
    {"an id that would have to be escaped",
     "{\"run\":\"a\\\"b\",\"seq\":1,\"time\":1,\"type\":\"error\","
     "\"data\":{}}",
     "run, seq or time"},
    {"a turn without its id", HEAD("1", "error") ",\"turn\":2,\"data\":{}}",
     "turn without a turn_id"},
    {"seq is a string",
     "{\"run\":\"x\",\"seq\":\"1\",\"time\":1,\"type\":\"error\","
     "\"data\":{}}",
     "run, seq or time"},
    {"time is negative",
     "{\"run\":\"x\",\"seq\":1,\"time\":-1,\"type\":\"error\","
     "\"data\":{}}",
     "run, seq or time"},
    {"n is no integer",
     "{\"run\":\"x\",\"seq\":1,\"n\":1.5,\"time\":1,"
     "\"type\":\"text_delta\",\"data\":{}}",
     "run, seq or time"},
    {"turn is no integer", HEAD("1", "error") ",\"turn\":\"2\",\"data\":{}}",
     "'turn' must be an integer, not string"},
    {"a string is a number", HEAD("1", "error") ",\"data\":{\"code\":5}}",
     "'code' must be a string, not number"},
    {"a string that must be there is null",
     HEAD("1", "error") ",\"data\":{\"code\":null}}",
     "'code' must be a string, not null"},
    {"an integer is a string",
     HEAD("1", "turn_end") ",\"data\":{\"calls\":\"1\"}}",
     "'calls' must be an integer, not string"},
    {"an integer has a fraction",
     HEAD("1", "turn_end") ",\"data\":{\"calls\":1.5}}",
     "'calls' must be an integer"},
    {"an integer is too large",
     HEAD("1", "turn_end") ",\"data\":{\"calls\":9223372036854775808}}",
     "'calls' must be an integer"},
    {"a number is true",
     HEAD("1", "retrieval_hit") ",\"data\":{\"score\":true}}",
     "'score' must be a number, not true"},
    {"a bool is 1", HEAD("1", "error") ",\"data\":{\"retryable\":1}}",
     "'retryable' must be true or false, not number"},
    {"a word is unknown",
     HEAD("1", "turn_end") ",\"data\":{\"outcome\":\"fine\"}}",
     "'outcome' must be one of its words"},
    {"a word is a number", HEAD("1", "turn_end") ",\"data\":{\"outcome\":1}}",
     "'outcome' must be one of its words, not number"},
    {"money is a string", HEAD("1", "metrics") ",\"data\":{\"cost\":\"1\"}}",
     "'cost' must be a decimal number, not string"},
    {"a limit is no money at all",
     HEAD("1", "run_start") ",\"data\":{\"limits\":{\"cost\":null}}}",
     "'cost' must be a decimal number, not null"},
    {"money has an exponent", HEAD("1", "metrics") ",\"data\":{\"cost\":1e3}}",
     "'cost' must be a decimal number"},
    {"money is beyond all measure",
     HEAD("1", "metrics") ",\"data\":{\"cost\":9223372037}}",
     "'cost' must be a decimal number"},
    {"an object is a list", HEAD("1", "run_end") ",\"data\":{\"metrics\":[]}}",
     "must be an object, not array"},
    {"an error is a string",
     HEAD("1", "run_end") ",\"data\":{\"error\":\"x\"}}",
     "must be an object, not string"},
    {"a list is an object", HEAD("1", "model_end") ",\"data\":{\"calls\":{}}}",
     "'calls' must be a list, not object"},
    {"a call is a string",
     HEAD("1", "model_end") ",\"data\":{\"calls\":[\"x\"]}}",
     "must be an object, not string"},
    {"data is a list", HEAD("1", "error") ",\"data\":[]}",
     "must be an object, not array"},
};

static void test_refused(void)
{
    for (size_t i = 0; i < tap_count(refused); i++) {
        struct arena a = {.mem = &plain};
        wend_event ev;
        wend_error err = {0};
        wend_status s =
            event_read(str_of(refused[i].line), &a, NULL, NULL, &ev, &err);

        if (!tap_ok(s == WEND_E_PARSE && err.line == 1 && err.column &&
                        strstr(err.message, refused[i].wanted),
                    "refused: %s", refused[i].why))
            printf("# %d at %u:%u: %s\n", s, err.line, err.column, err.message);
        arena_free(&a);
    }
}

int main(void)
{
    test_blobs();
    test_no_blobs();
    test_lenient();
    test_absent();
    test_refused();
    return tap_done();
}
