/*
 * test_event.c - events to bytes and back: every type with random values,
 * a few by literal, copies, and failing allocations.
 */
#include "event_help.h"

static const struct event_words *const all_words[] = {
    &outcome_words,  &purpose_words,  &class_words,
    &category_words, &decision_words, &risk_words,
};

/* ---- Round trips --------------------------------------------------------- */

/* Writes, reads, writes, copies, frees what was copied, writes. */
static bool round_trip(wend_event_type type)
{
    struct arena source = {.mem = &plain}, read = {.mem = &plain};
    struct buf first = {.mem = &plain}, second = {.mem = &plain};
    struct arena blobs = {.mem = &plain};
    struct blob_store store = {.kept = {.arena = &blobs}};
    struct event_blobs again = {.arena = &blobs};
    wend_event ev, back;
    wend_error err = {0};
    wend_event *copy;
    bool same;

    fill_event(&source, &ev, type);
    event_write(&first, &ev, &store.kept);
    same = event_read(buf_view(&first), &read, blob_get, &store, &back, &err) ==
           WEND_OK;
    if (same)
        event_write(&second, &back, &again);
    same = same && str_eq(buf_view(&first), buf_view(&second)) &&
           again.count == store.kept.count;
    copy = same ? event_copy(&plain, &back) : NULL;
    memset(&back, 0, sizeof back);
    arena_free(&read); /* the copy must not need it */
    buf_clear(&second);
    if (copy)
        event_write(&second, copy, NULL);
    if (!copy || !str_eq(buf_view(&first), buf_view(&second))) {
        tap_show("event", buf_view(&first));
        tap_show("again", buf_view(&second));
        printf("# %s\n", err.message);
        same = false;
    }
    mem_free(&plain, copy);
    arena_free(&source);
    arena_free(&blobs);
    buf_free(&first);
    buf_free(&second);
    return same;
}

static void test_round_trips(void)
{
    enum { ROUNDS = 300 };

    for (int t = 1; t < WEND_EVENT_TYPES; t++) {
        int good = 0;

        while (good < ROUNDS && round_trip((wend_event_type)t))
            good++;
        tap_is_i64(good, ROUNDS, "%s: written, read, copied: equal bytes",
                   wend_event_name((wend_event_type)t));
    }
}

static void test_names(void)
{
    static const size_t sizes[WEND_EVENT_TYPES] = {
#define X(constant, name, payload, keep) [WEND_##constant] = sizeof(payload),
        WEND_EVENTS(X)
#undef X
    };
    int bad = 0;

    for (int t = 1; t < WEND_EVENT_TYPES; t++) {
        const char *name = wend_event_name((wend_event_type)t);

        bad += !name || wend_event_type_of(name) != (wend_event_type)t ||
               !event_fields((wend_event_type)t)->count ||
               event_fields((wend_event_type)t)->size != sizes[t];
    }
    tap_is_i64(bad, 0, "every type has a name, and fields");
    tap_ok(!wend_event_name(WEND_EVENT_NONE) &&
               !wend_event_name(WEND_EVENT_TYPES) &&
               !wend_event_name((wend_event_type)-1),
           "what is no type has no name");
    tap_ok(wend_event_type_of("call_ends") == WEND_EVENT_NONE &&
               wend_event_type_of(NULL) == WEND_EVENT_NONE,
           "an unknown name has no type");
    tap_ok(wend_event_is_delta(WEND_TEXT_DELTA) &&
               !wend_event_is_delta(WEND_CALL_END) &&
               !wend_event_is_delta(WEND_EVENT_TYPES),
           "only deltas are deltas");
    bad = 0;
    for (size_t w = 0; w < tap_count(all_words); w++)
        for (int i = 0; i < all_words[w]->count; i++)
            bad += !all_words[w]->names[i];
    tap_is_i64(bad, 0, "no word is missing");
    tap_is_str(wend_outcome_name(WEND_OUTCOME_SKIPPED), "skipped",
               "the last outcome");
    tap_is_str(wend_class_name(WEND_CLASS_READ), "read", "the last class");
    tap_is_str(wend_category_name(WEND_CATEGORY_DESTRUCTIVE), "destructive",
               "the last category");
    tap_is_str(wend_risk_name(WEND_RISK_CRITICAL), "critical", "the last risk");
    tap_ok(!wend_risk_name((wend_risk)4) &&
               !wend_outcome_name((wend_outcome)-1),
           "beyond the words there is no name");
}

/* ---- By literal ---------------------------------------------------------- */

static void is_line(const wend_event *ev, const char *wanted, const char *why)
{
    struct buf b = {.mem = &plain};

    event_write(&b, ev, NULL);
    tap_is_str(buf_view(&b), wanted, "bytes of %s", why);
    buf_free(&b);
}

static void test_golden_small(void)
{
    wend_event ev = event_of(WEND_TURN_START, true);

    ev.u.turn_start.counter = 2;
    ev.u.turn_start.id = STR("00000000000a.2");
    is_line(&ev,
            HEAD("7", "turn_start") TURN
            ",\"data\":{\"counter\":2,\"id\":\"00000000000a.2\","
            "\"parent_id\":null,\"compacted\":false}}",
            "a turn without a parent");

    ev = event_of(WEND_TEXT_DELTA, true);
    ev.n = 3;
    ev.u.text_delta.text = STR("a\"\n\xc3\xa9");
    is_line(&ev,
            "{\"run\":\"" RUN "\",\"seq\":7,\"n\":3,"
            "\"time\":1763171411.123456,\"type\":\"text_delta\"" TURN
            ",\"data\":{\"text\":\"a\\\"\\n\xc3\xa9\"}}",
            "a delta");

    ev = event_of(WEND_CALL_OUTPUT, true);
    ev.n = 1;
    ev.u.call_output.call = STR("call_1");
    ev.u.call_output.text = STR("x");
    is_line(&ev,
            "{\"run\":\"" RUN "\",\"seq\":7,\"n\":1,"
            "\"time\":1763171411.123456,\"type\":\"call_output\"" TURN
            ",\"data\":{\"call\":\"call_1\",\"text\":\"x\"}}",
            "a call's output, the call first");

    ev = event_of(WEND_CALL_START, true);
    ev.u.call_start.call = STR("call_1");
    ev.u.call_start.name = STR("read_file");
    ev.u.call_start.args_json = STR("{\"path\":\"a\"}");
    ev.u.call_start.call_class = WEND_CLASS_READ;
    ev.u.call_start.key = STR("k");
    ev.u.call_start.attempt = 1;
    is_line(&ev,
            HEAD("7", "call_start") TURN
            ",\"data\":{\"call\":\"call_1\",\"name\":\"read_file\","
            "\"args\":{\"path\":\"a\"},\"class\":\"read\",\"key\":\"k\","
            "\"attempt\":1,\"policy\":{\"decision\":\"allow\","
            "\"risk\":\"low\",\"layers\":[],\"rule\":\"\"}}}",
            "a call that begins");
}

static void test_golden_model_end(void)
{
    const wend_ev_call calls[] = {
        {STR("call_1"), STR("add"), STR("[1,2]")},
        {STR("call_2"), STR("add"), STR_NONE},
    };
    const wend_ev_error error = {STR("network"), STR("gone"), STR("model"),
                                 true, false};
    wend_event ev = event_of(WEND_MODEL_END, true);
    wend_ev_model_end *e = &ev.u.model_end;

    e->outcome = WEND_OUTCOME_FAILED;
    e->text = STR("hi");
    e->calls = calls;
    e->calls_count = 2;
    e->finish = STR("failed");
    e->usage = (wend_ev_usage){12, 5, 0, 0, 1250000, 3, true};
    e->first_token_ms = 3;
    e->ms = 40;
    e->error = &error;
    is_line(&ev,
            HEAD("7", "model_end") TURN
            ",\"data\":{\"outcome\":\"failed\",\"purpose\":\"answer\","
            "\"text\":\"hi\",\"opaque\":[],\"calls\":["
            "{\"id\":\"call_1\",\"name\":\"add\",\"args\":[1,2]},"
            "{\"id\":\"call_2\",\"name\":\"add\",\"args\":{}}],"
            "\"finish\":\"failed\",\"usage\":{\"input\":12,\"output\":5,"
            "\"cached\":0,\"reasoning\":0,\"cost\":0.00125,"
            "\"cache_write\":3,\"estimated\":true},"
            "\"first_token_ms\":3,\"ms\":40,\"error\":{"
            "\"code\":\"network\",\"message\":\"gone\","
            "\"component\":\"model\",\"retryable\":true,"
            "\"effect_possible\":false}}}",
            "a failed message");
}

static void test_golden_run_end(void)
{
    wend_event ev = event_of(WEND_RUN_END, false);

    ev.u.run_end.outcome = WEND_OUTCOME_LIMIT;
    ev.u.run_end.text = STR("so far");
    ev.u.run_end.limit = STR("turns");
    ev.u.run_end.metrics =
        (wend_ev_metrics){1, 2, 3, 4, 5, 6, 7, 8, 9000000000, 10, 11};
    is_line(
        &ev,
        HEAD("7",
             "run_end") ",\"data\":{\"outcome\":\"limit\",\"text\":\"so far\","
                        "\"limit\":\"turns\",\"metrics\":{\"turns\":1,"
                        "\"model_calls\":2,\"tool_calls\":3,\"tool_errors\":4,"
                        "\"actions\":5,\"tokens_in\":6,\"tokens_out\":7,"
                        "\"tokens_cached\":8,\"cost\":9,\"ms\":10,"
                        "\"first_token_ms\":11}}}",
        "the end of a run");
    ev.u.run_end = (wend_ev_run_end){
        .outcome = WEND_OUTCOME_OK,
        .pending = &(wend_ev_call){STR("c1"), STR("pick"), STR("{\"a\":1}")},
        .pending_count = 1};
    is_line(&ev,
            HEAD("7", "run_end") ",\"data\":{\"outcome\":\"ok\",\"text\":\"\","
                                 "\"metrics\":{\"turns\":0,\"model_calls\":0,"
                                 "\"tool_calls\":0,\"tool_errors\":0,"
                                 "\"actions\":0,\"tokens_in\":0,"
                                 "\"tokens_out\":0,\"tokens_cached\":0,"
                                 "\"cost\":0,\"ms\":0,\"first_token_ms\":0},"
                                 "\"pending\":[{\"call\":\"c1\",\"name\":"
                                 "\"pick\",\"args\":{\"a\":1}}]}}",
            "calls that the caller executes");
    ev = event_of(WEND_CALL_END, true);
    ev.u.call_end = (wend_ev_call_end){.call = STR("c1"),
                                       .name = STR("pick"),
                                       .outcome = WEND_OUTCOME_OK,
                                       .given = true,
                                       .client = true};
    is_line(&ev,
            HEAD("7", "call_end") TURN
            ",\"data\":{\"call\":\"c1\",\"name\":\"pick\",\"outcome\":\"ok\","
            "\"output\":\"\",\"ms\":0,\"given\":\"client\"}}",
            "one of them");
    ev.u.call_end.client = false;
    is_line(&ev,
            HEAD("7", "call_end") TURN
            ",\"data\":{\"call\":\"c1\",\"name\":\"pick\",\"outcome\":\"ok\","
            "\"output\":\"\",\"ms\":0,\"given\":true}}",
            "a result that a fork gives");
    ev = event_of(WEND_METRICS, false);
    ev.u.metrics.cost_nano = -1;
    is_line(&ev,
            HEAD("7", "metrics") ",\"data\":{\"turns\":0,\"model_calls\":0,"
                                 "\"tool_calls\":0,\"tool_errors\":0,"
                                 "\"actions\":0,\"tokens_in\":0,"
                                 "\"tokens_out\":0,\"tokens_cached\":0,"
                                 "\"cost\":null,\"ms\":0,"
                                 "\"first_token_ms\":0}}",
            "an unknown cost is null, not 0");
}

/* ---- Out of memory ------------------------------------------------------- */

static void make_large(struct arena *a, wend_event *ev, wend_str text)
{
    do
        fill_event(a, ev, WEND_MODEL_END);
    while (ev->u.model_end.calls_count < 3 || !ev->u.model_end.error);
    ev->u.model_end.text = text;
}

static void test_faults(void)
{
    struct arena source = {.mem = &plain}, scratch = {.mem = &plain};
    struct event_blobs whole = {.arena = &scratch};
    struct buf line = {.mem = &plain};
    struct fault f = {0};
    char *text = long_text(STRING_INLINE_MAX + 1);
    wend_event ev;
    int bad = 0;

    make_large(&source, &ev, (wend_str){text, STRING_INLINE_MAX + 1});
    event_write(&line, &ev, &whole);
    while (fault_next(&f)) {
        struct mem m = fault_mem(&f);
        struct arena a = {.mem = &m};
        struct event_blobs blobs = {.arena = &a};
        struct buf b = {.mem = &m};

        event_write(&b, &ev, &blobs);
        bad += b.failed != f.hit;
        buf_free(&b);
        arena_free(&a);
        bad += f.live != 0;
    }
    tap_is_i64(bad, 0, "event_write survives each failing allocation");
    f = (struct fault){0};
    bad = 0;
    while (fault_next(&f)) {
        struct mem m = fault_mem(&f);
        struct arena a = {.mem = &m};
        struct blob_store store = {.kept = whole};
        wend_event back;
        wend_status s =
            event_read(buf_view(&line), &a, blob_get, &store, &back, NULL);

        bad += s != (f.hit ? WEND_E_NOMEM : WEND_OK);
        arena_free(&a);
        bad += f.live != 0;
    }
    tap_is_i64(bad, 0, "event_read survives each failing allocation");
    f = (struct fault){0};
    bad = 0;
    while (fault_next(&f)) {
        struct mem m = fault_mem(&f);
        wend_event *copy = event_copy(&m, &ev);

        bad += !copy != f.hit;
        mem_free(&m, copy);
        bad += f.live != 0;
    }
    tap_is_i64(bad, 0, "event_copy survives each failing allocation");
    free(text);
    buf_free(&line);
    arena_free(&source);
    arena_free(&scratch);
}

static void test_no_type(void)
{
    struct buf b = {.mem = &plain};
    wend_event ev = {.type = WEND_EVENT_NONE};

    event_write(&b, &ev, NULL);
    tap_ok(b.failed, "what is no event cannot be written");
    tap_ok(!event_copy(&plain, &ev), "nor copied");
    buf_free(&b);
}

int main(void)
{
    test_names();
    test_round_trips();
    test_golden_small();
    test_golden_model_end();
    test_golden_run_end();
    test_faults();
    test_no_type();
    return tap_done();
}
