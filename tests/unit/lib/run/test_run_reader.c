/*
 * test_run_reader.c - readers of runs: slow ones, picky ones, listeners,
 * and those who stop a run or change it by hooks.
 */
#include "run_help.h"

/* ---- Slow readers -------------------------------------------------------- */

/* Nobody reads while a long answer is written; then everything is there. */
static void test_lag(const char *url)
{
    struct rig r = {.err = {0}};
    struct buf script = {.mem = &rig_mem}, text = {.mem = &rig_mem};
    const wend_event *ev;
    wend_outcome outcome;
    wend_run *run;
    int64_t seq = 0, n = 0;
    int bad = 0, deltas = 0;

    buf_cstr(&script, "script:{\"turns\":[{\"text\":\"");
    for (int i = 0; i < 5000; i++)
        buf_fmt(&script, "%04d", i);
    buf_cstr(&script, "\"}]}");
    rig_open(&r, url, script.ptr);
    run = rig_start(&r, NULL);
    while (wend_run_outcome(run, &outcome) == WEND_AGAIN)
        wend_runtime_pump(r.rt);
    while (wend_run_next(run, &ev) == WEND_OK) {
        bad += ev->n ? ev->seq != seq || ev->n != n + 1 : ev->seq != seq + 1;
        seq = ev->seq;
        n = ev->n;
        if (ev->type == WEND_TEXT_DELTA) {
            deltas++;
            buf_str(&text, ev->u.text_delta.text);
        }
        if (ev->type == WEND_RUN_END)
            bad += !str_eq(buf_view(&text), ev->u.run_end.text);
    }
    tap_is_i64(bad, 0, "lag: every event once, in order (%s)",
               url ? "sqlite" : "memory");
    tap_is_i64(deltas, 5000, "lag: every delta");
    wend_run_free(run);
    buf_free(&script);
    buf_free(&text);
    rig_close(&r);
}

/* ---- Picky readers ------------------------------------------------------- */

static void test_filter(void)
{
    struct rig r = {.err = {0}};
    wend_run_options o = {.size = sizeof o};
    struct buf names = {.mem = &rig_mem};
    wend_run *run;

    rig_open(&r, NULL,
             "script:{\"turns\":[{\"text\":\"some text\",\"calls\":[{\"name\":"
             "\"echo\"}]},{\"text\":\"end\"}]}");
    o.filter.types = (uint64_t)1 << WEND_CALL_END | (uint64_t)1 << WEND_RUN_END;
    run = rig_start(&r, &o);
    tap_ok(read_all(run, &names, NULL) == WEND_END, "filter: ends");
    tap_is_str(buf_view(&names), "call_end(ok) run_end(ok)",
               "filter: only what was asked for");
    wend_run_free(run);
    buf_free(&names);
    rig_close(&r);
}

/* More rows than are read at once, and none of them wanted but the last. */
static void test_filter_log(void)
{
    wend_replay_options o = {.size = sizeof o};
    struct rig r = {.agent_options = {.limits = {.turns = 20}}};
    struct buf names = {.mem = &rig_mem};
    wend_str answer;
    wend_run *run, *log = NULL;

    rig_open(&r, NULL,
             "script:{\"turns\":[{\"calls\":[{\"name\":\"echo\"}],"
             "\"repeat\":\"forever\"}]}");
    run = rig_start(&r, NULL);
    wend_run_wait(run, &answer);
    o.filter.types = (uint64_t)1 << WEND_RUN_END;
    wend_store_replay(r.rt, wend_run_id(run), &o, &log, NULL);
    tap_ok(read_all(log, &names, NULL) == WEND_END, "filter: a log ends");
    tap_is_str(buf_view(&names), "run_end(limit)",
               "filter: nobody waits for what he does not want");
    wend_run_free(log);
    wend_run_free(run);
    buf_free(&names);
    rig_close(&r);
}

static void test_merge(uint64_t types, uint32_t count, int wanted)
{
    struct rig r = {.err = {0}};
    wend_run_options o = {.size = sizeof o};
    struct buf text = {.mem = &rig_mem};
    const wend_event *ev;
    wend_run *run;
    int deltas = 0, bad = 0;
    int64_t n = 0;

    rig_open(&r, NULL,
             "script:{\"turns\":[{\"text\":\"aaaabbbbccccddddeeee\"}]}");
    o.filter.types = types;
    o.filter.merge_count = count;
    o.filter.merge_ms = 1000;
    run = rig_start(&r, &o);
    while (wend_run_next(run, &ev) == WEND_OK)
        if (ev->type == WEND_TEXT_DELTA) {
            bad += ev->n <= n;
            n = ev->n;
            deltas++;
            buf_str(&text, ev->u.text_delta.text);
        }
    tap_is_str(buf_view(&text), "aaaabbbbccccddddeeee",
               "merge by %u: no text lost", count);
    tap_is_i64(deltas, wanted, "merge by %u: so many deltas", count);
    tap_is_i64(bad, 0, "merge by %u: order holds", count);
    wend_run_free(run);
    buf_free(&text);
    rig_close(&r);
}

/* Models of actions talk at the same time: what each says stays its own. */
static void test_merge_actions(void)
{
    static const char text[] =
        "wend: plan/1\nname: p\nactions: [{name: a, type: llm, target: "
        "default, mode: async, prompt: one}, {name: b, type: llm, target: "
        "default, mode: async, prompt: two}]\n";
    wend_run_options o = {.size = sizeof o,
                          .filter = {.merge_count = 100, .merge_ms = 1000}};
    struct rig r = {.err = {0}};
    struct buf said = {.mem = &rig_mem};
    wend_collector *all = NULL;
    int64_t others = 0, mine = 0;
    wend_plan *plan = NULL;
    wend_run *run = NULL;
    const wend_event *ev;

    rig_open(&r, NULL,
             "script:{\"turns\":["
             "{\"when\":\"one\",\"text\":\"aaaaaaaa\",\"chunk\":1,"
             "\"delay\":\"5ms\"},"
             "{\"when\":\"two\",\"text\":\"bbbbbbbb\",\"chunk\":1,"
             "\"delay\":\"5ms\"}]}");
    wend_plan_parse(str_of(text), NULL, &plan, &r.err);
    wend_run_start_plan(r.agent, plan, NULL, &o, &run, &r.err);
    wend_collector_new(&all);
    while (run && wend_run_next(run, &ev) == WEND_OK) {
        wend_collector_add(all, ev);
        if (ev->type != WEND_TEXT_DELTA)
            continue;
        buf_str(&said, ev->u.text_delta.text);
        for (size_t i = 0; i < ev->u.text_delta.text.len; i++)
            if (ev->u.text_delta.text.ptr[i] == ev->u.text_delta.action.ptr[0])
                mine++;
            else
                others++;
    }
    tap_is_i64(mine, 16, "merge: all that two models say at once");
    tap_is_i64(others, 0, "merge: and nothing under the other's name: %.*s",
               (int)said.len, said.ptr);
    tap_is_i64((int64_t)wend_collector_text(all).len, 0,
               "merge: none of it is the text of the run's turns");
    wend_collector_free(all);
    wend_run_free(run);
    wend_plan_free(plan);
    buf_free(&said);
    rig_close(&r);
}

/* A lone delta waits at most merge_ms for company. */
static void test_merge_time(void)
{
    struct rig r = {.err = {0}};
    wend_run_options o = {.size = sizeof o};
    const wend_event *ev;
    wend_run *run;
    wend_outcome outcome;

    rig_open(&r, NULL,
             "script:{\"turns\":[{\"text\":\"aaaabbbb\","
             "\"first_delay\":\"1ms\",\"delay\":\"60s\"}]}");
    o.filter.merge_count = 100;
    o.filter.merge_ms = 10;
    run = rig_start(&r, &o);
    while (wend_run_next(run, &ev) == WEND_OK && ev->type != WEND_TEXT_DELTA)
        continue;
    tap_ok(wend_run_outcome(run, &outcome) == WEND_AGAIN &&
               str_eq(ev->u.text_delta.text, STR("aaaa")),
           "merge: a lone delta is not held for long");
    wend_run_free(run);
    rig_close(&r);
}

struct heard {
    struct buf names;
    wend_run *run;
    int misuse;
};

static void on_event(void *ctx, const wend_event *ev)
{
    struct heard *h = ctx;
    const wend_event *other;
    wend_str text;

    note(&h->names, ev);
    /* What waits or pumps is refused from inside; telling is fine. */
    h->misuse += wend_run_next(h->run, &other) == WEND_E_MISUSE;
    h->misuse += wend_run_wait(h->run, &text) == WEND_E_MISUSE;
}

static void test_listen(void)
{
    struct rig r = {.err = {0}};
    struct heard h = {.names = {.mem = &rig_mem}};
    const wend_event *ev;

    rig_open(&r, NULL, "script:{\"turns\":[{\"text\":\"hi\"}]}");
    h.run = rig_start(&r, NULL);
    tap_ok(wend_run_listen(h.run, on_event, &h) == WEND_OK, "listen");
    tap_ok(wend_run_next(h.run, &ev) == WEND_END,
           "listen: nothing is left for next");
    tap_is_str(buf_view(&h.names),
               "run_start turn_start context_start context_end model_start "
               "text_delta* model_end(ok) turn_end metrics run_end(ok)",
               "listen: hears everything");
    tap_is_i64(h.misuse, 2 * 10, "listen: waiting inside is misuse");
    wend_run_free(h.run);
    buf_free(&h.names);
    rig_close(&r);
}

struct ear {
    struct buf text;
    bool ended;
};

static void on_text(void *ctx, const wend_event *ev)
{
    struct ear *e = ctx;

    if (ev->type == WEND_TEXT_DELTA)
        buf_str(&e->text, ev->u.text_delta.text);
    e->ended |= ev->type == WEND_RUN_END;
}

/* Who waits takes nothing away from who listens, and a recorded run is
 * heard at its own pace. */
static void test_listen_all(void)
{
    struct rig r = {.err = {0}};
    wend_replay_options o = {.size = sizeof o, .speed = 2};
    struct ear live = {.text = {.mem = &rig_mem}},
               again = {.text = {.mem = &rig_mem}};
    wend_run *run, *replay = NULL;
    wend_str text;

    rig_open(&r, NULL,
             "script:{\"turns\":[{\"text\":\"aaaabbbbccccdddd\","
             "\"delay\":\"5ms\"}]}");
    run = rig_start(&r, NULL);
    wend_run_listen(run, on_text, &live);
    wend_run_wait(run, &text);
    tap_is_str(buf_view(&live.text), "aaaabbbbccccdddd",
               "listen: deltas too, while somebody waits");
    wend_store_replay(r.rt, wend_run_id(run), &o, &replay, &r.err);
    wend_run_listen(replay, on_text, &again);
    for (int i = 0; i < 30000 && !again.ended; i++) {
        wend_runtime_pump(r.rt);
        usleep(1000);
    }
    tap_is_str(buf_view(&again.text), "aaaabbbbccccdddd",
               "listen: a replay by pumping alone");
    wend_run_free(replay);
    wend_run_free(run);
    buf_free(&live.text);
    buf_free(&again.text);
    rig_close(&r);
}

/* ---- Stopping ------------------------------------------------------------ */

static void *cancel_thread(void *arg)
{
    usleep(20000);
    wend_run_cancel(arg);
    return NULL;
}

static void test_cancel_text(void)
{
    struct rig r = {.err = {0}};
    struct buf names = {.mem = &rig_mem};
    wend_str answer;
    const wend_event *ev;
    pthread_t thread;
    wend_run *run;

    rig_open(&r, NULL,
             "script:{\"turns\":[{\"text\":\"partial and more\",\"delay\":"
             "\"60s\",\"first_delay\":\"1ms\"}]}");
    run = rig_start(&r, NULL);
    do {
        if (wend_run_next(run, &ev) != WEND_OK)
            break;
        note(&names, ev);
    } while (ev->type != WEND_TEXT_DELTA);
    pthread_create(&thread, NULL, cancel_thread, run);
    tap_ok(read_all(run, &names, NULL) == WEND_END, "cancel: ends");
    pthread_join(thread, NULL);
    tap_is_str(buf_view(&names),
               "run_start turn_start context_start context_end model_start "
               "text_delta* control model_end(canceled) turn_end metrics "
               "run_end(canceled)",
               "cancel from another thread, in a model call");
    wend_run_wait(run, &answer);
    tap_is_str(answer, "part", "cancel: the partial answer is kept");
    tap_ok(wend_run_cancel(run) == WEND_OK, "cancel: twice does no harm");
    wend_runtime_pump(r.rt);
    wend_run_free(run);
    buf_free(&names);
    rig_close(&r);
}

#define TEN "0123456789"
#define SIXTY TEN TEN TEN TEN TEN TEN

/* After each the run is canceled once more: the first that is taken counts. */
static void test_cancel_by(void)
{
    static const struct {
        const char *why, *by, *logged;
    } rows[] = {
        {"a word", "signal", "signal"}, {"at the limit", SIXTY, SIXTY},
        {"too long", SIXTY "0", "api"}, {"no UTF-8", "\xff", "api"},
        {"empty", "", "api"},           {"nobody", NULL, "api"},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct rig r = {.err = {0}};
        const wend_event *ev;
        wend_run *run;
        wend_str text;

        rig_open(&r, NULL,
                 "script:{\"turns\":[{\"text\":\"a\",\"first_delay\":"
                 "\"10s\"}]}");
        run = rig_start(&r, NULL);
        tap_is_i64(wend_run_cancel_by(run, rows[i].by),
                   strcmp(rows[i].logged, "api") ? WEND_OK : WEND_E_INVAL,
                   "canceled by: %s", rows[i].why);
        wend_run_cancel(run);
        while (wend_run_next(run, &ev) == WEND_OK)
            if (ev->type == WEND_CONTROL)
                tap_is_str(ev->u.control.by, rows[i].logged,
                           "canceled by: %s, in the log", rows[i].why);
        tap_is_i64(wend_run_wait(run, &text), WEND_OK, "canceled by: it ends");
        wend_run_free(run);
        rig_close(&r);
    }
}

static void test_cancel_call(void)
{
    wend_call *calls[4] = {0};
    struct rig r = {.err = {0}};
    struct buf names = {.mem = &rig_mem};
    const wend_event *ev;
    wend_run *run;

    r.agent_options.approve = WEND_APPROVE_ALL;
    rig_open(&r, NULL,
             "script:{\"turns\":[{\"calls\":[{\"name\":\"later\"},{\"name\":"
             "\"write\"}]}]}");
    rig_add(&r, "later", tool_later, WEND_CLASS_UNSAFE, calls);
    run = rig_start(&r, NULL);
    while (wend_run_next(run, &ev) == WEND_OK) {
        note(&names, ev);
        if (ev->type == WEND_CALL_START)
            wend_run_cancel(run);
    }
    tap_is_str(buf_view(&names),
               "run_start turn_start context_start context_end model_start "
               "args_delta* model_end(ok) call_start control call_start "
               "call_end(canceled) call_end(canceled) turn_end metrics "
               "run_end(canceled)",
               "cancel in a call: each call has one end");
    tap_ok(wend_call_canceled(calls[0]), "cancel: the tool can see it");
    wend_call_fail(calls[0], "too late");
    wend_run_free(run);
    buf_free(&names);
    rig_close(&r);
}

/* ---- Hooks --------------------------------------------------------------- */

struct hooked {
    wend_hook_point point;
    wend_hook_answer answer;
    const char *text;
    int asked;
    uint32_t turn; /* of the newest question */
};

static wend_hook_answer on_hook(void *ctx, wend_hook *h)
{
    struct hooked *k = ctx;

    if (h->point != k->point)
        return WEND_HOOK_GO;
    k->asked++;
    k->turn = h->turn;
    h->text = str_of(k->text);
    return k->answer;
}

static const struct hook_row {
    const char *why;
    struct hooked hook;
    const char *answer;
    wend_outcome outcome;
} hooks[] = {
    {"go",
     {WEND_HOOK_CALL_BEFORE, WEND_HOOK_GO, NULL, 0, 0},
     "got {\"a\":1}",
     WEND_OUTCOME_OK},
    {"change arguments",
     {WEND_HOOK_CALL_BEFORE, WEND_HOOK_CHANGE, "{ \"b\" : 2 }", 0, 0},
     "got {\"b\":2}",
     WEND_OUTCOME_OK},
    {"arguments that are no JSON stop the run",
     {WEND_HOOK_CALL_BEFORE, WEND_HOOK_CHANGE, "{", 0, 0},
     "",
     WEND_OUTCOME_FAILED},
    {"skip a call",
     {WEND_HOOK_CALL_BEFORE, WEND_HOOK_SKIP, "instead", 0, 0},
     "got instead",
     WEND_OUTCOME_OK},
    {"change a result",
     {WEND_HOOK_CALL_AFTER, WEND_HOOK_CHANGE, "other", 0, 0},
     "got other",
     WEND_OUTCOME_OK},
    {"stop at a result",
     {WEND_HOOK_CALL_AFTER, WEND_HOOK_STOP, "enough", 0, 0},
     "",
     WEND_OUTCOME_FAILED},
    {"answer instead of the model",
     {WEND_HOOK_MODEL_BEFORE, WEND_HOOK_SKIP, "mine", 0, 0},
     "mine",
     WEND_OUTCOME_OK},
    {"change an answer",
     {WEND_HOOK_MODEL_AFTER, WEND_HOOK_CHANGE, "better", 0, 0},
     "better",
     WEND_OUTCOME_OK},
    {"add to the conversation",
     {WEND_HOOK_TURN_BEFORE, WEND_HOOK_CHANGE, "note", 0, 0},
     "noted",
     WEND_OUTCOME_OK},
    {"stop after a turn",
     {WEND_HOOK_TURN_AFTER, WEND_HOOK_STOP, "enough", 0, 0},
     "",
     WEND_OUTCOME_FAILED},
    {"hear of every turn",
     {WEND_HOOK_TURN_AFTER, WEND_HOOK_GO, NULL, 0, 0},
     "got {\"a\":1}",
     WEND_OUTCOME_OK},
    {"stop before the model",
     {WEND_HOOK_MODEL_BEFORE, WEND_HOOK_STOP, "no", 0, 0},
     "",
     WEND_OUTCOME_FAILED},
};

static void test_hook(const struct hook_row *row)
{
    struct rig r = {.err = {0}};
    struct hooked hook = row->hook;
    wend_run_options o = {.size = sizeof o, .hook = on_hook, .hook_ctx = &hook};
    wend_outcome outcome = WEND_OUTCOME_NONE;
    wend_str answer;
    wend_run *run;

    rig_open(&r, NULL,
             "script:{\"turns\":[{\"when\":\"note\",\"text\":\"noted\"},"
             "{\"calls\":[{\"name\":\"echo\",\"args\":{\"a\":1}}]},"
             "{\"text\":\"got ${tool_result}\"}]}");
    run = rig_start(&r, &o);
    tap_ok(wend_run_wait(run, &answer) == WEND_OK, "hook: %s: ends", row->why);
    tap_is_str(answer, row->answer, "hook: %s", row->why);
    wend_run_outcome(run, &outcome);
    tap_ok(outcome == row->outcome && hook.asked,
           "hook: %s: asked, and ends as it should", row->why);
    if (hook.point == WEND_HOOK_TURN_AFTER)
        tap_is_i64(hook.turn, hook.asked - 1, "hook: %s: the turn that ended",
                   row->why);
    wend_run_free(run);
    rig_close(&r);
}

/* ---- Collecting ---------------------------------------------------------- */

static void test_collector(void)
{
    struct rig r = {.err = {0}};
    wend_collector *c = NULL;
    const wend_event *ev, *got;
    wend_run *run;

    rig_open(&r, NULL,
             "script:{\"turns\":[{\"text\":\"one \",\"calls\":[{\"name\":"
             "\"echo\"},{\"name\":\"broken\"}]},{\"text\":\"two\"}]}");
    run = rig_start(&r, NULL);
    tap_ok(wend_collector_new(&c) == WEND_OK, "collector");
    while (wend_run_next(run, &ev) == WEND_OK)
        wend_collector_add(c, ev);
    wend_run_free(run);
    rig_close(&r);
    tap_is_str(wend_collector_text(c), "one two", "collector: all text");
    tap_is_str(wend_collector_answer(c), "two", "collector: the answer");
    got = wend_collector_get(c, WEND_CALL_END, 1);
    tap_ok(got && got->u.call_end.outcome == WEND_OUTCOME_FAILED,
           "collector: the second result, after the run is gone");
    tap_ok(!wend_collector_get(c, WEND_CALL_END, 2), "collector: no third");
    wend_collector_free(c);
}

int main(void)
{
    char path[] = "/tmp/wend-reader-XXXXXX", *s;
    char file[64];

    s = mkdtemp(path);
    snprintf(file, sizeof file, "%s/s.db", s ? s : "");
    test_lag(NULL);
    test_lag(file);
    test_filter();
    test_filter_log();
    test_merge(0, 2, 3);
    test_merge(0, 100, 1);
    test_merge((uint64_t)1 << WEND_TEXT_DELTA, 100, 1); /* no end to see */
    test_merge_time();
    test_merge_actions();
    test_listen();
    test_listen_all();
    test_cancel_text();
    test_cancel_by();
    test_cancel_call();
    for (size_t i = 0; i < tap_count(hooks); i++)
        test_hook(&hooks[i]);
    test_collector();
    unlink(file);
    snprintf(file, sizeof file, "%s/s.db-lock", s ? s : "");
    unlink(file);
    if (s)
        rmdir(s);
    return tap_done();
}
