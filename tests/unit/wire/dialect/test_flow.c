/*
 * test_flow.c - dialects that are protocols: events in, records as clients
 * take them. Their clients themselves: tests/oracle/clients.sh.
 */
#include "dialect_help.h"
#include "fault.h"
#include "wire/dialect/flow.h"

#define DELTA(text) "text_delta {\"text\":\"" text "\"}"
#define THINKS(text) "thinking_delta {\"text\":\"" text "\"}"
#define MODEL_END(text, calls)                                              \
    "model_end {\"outcome\":\"ok\",\"text\":\"" text "\",\"calls\":[" calls \
    "],\"finish\":\"stop\",\"usage\":{\"reasoning\":1}}"
#define CALL(id) "{\"id\":\"" id "\",\"name\":\"add\",\"args\":{\"a\":1}}"
#define CALL_STARTS(id) \
    "call_start {\"call\":\"" id "\",\"name\":\"add\",\"args\":{\"a\":1}}"
#define CALL_ENDS(id, outcome, output, more)                      \
    "call_end {\"call\":\"" id "\",\"name\":\"add\",\"outcome\":" \
    "\"" outcome "\",\"output\":\"" output "\",\"ms\":1" more "}"
#define TURN_END "turn_end {\"outcome\":\"ok\",\"calls\":0,\"failed_calls\":0}"
#define RUN_END(outcome, text, more)                        \
    "run_end {\"outcome\":\"" outcome "\",\"text\":\"" text \
    "\",\"metrics\":{\"model_calls\":1,\"tokens_in\":7,"    \
    "\"tokens_out\":5,\"tokens_cached\":3}" more "}"
#define CLIENT ",\"given\":\"client\""
#define ASK                                                       \
    "approval_ask {\"call\":\"c1\",\"name\":\"add\",\"args\":{}," \
    "\"risk\":\"high\",\"layers\":[],\"reason\":\"why\"}"
#define ANSWER "approval_answer {\"call\":\"c1\",\"yes\":true,\"by\":\"me\"}"

/* What each dialect is fed; the names are in the files of what it gives. */
static const struct story stories[] = {
    {"calls that start early",
     {RUN_START, TURN_0, MODEL_START, THINKS("hm"), DELTA("lo"), DELTA("ok"),
      CALL_STARTS("c1"), CALL_ENDS("c1", "ok", "7", ""), DELTA("more"),
      MODEL_END("lookmore", CALL("c1") "," CALL("c2")), CALL_STARTS("c2"),
      CALL_ENDS("c2", "failed", "",
                ",\"error\":{\"code\":\"x\","
                "\"message\":\"no\"}"),
      TURN_END, TURN_1, MODEL_START, MODEL_END("done", ""), TURN_END,
      RUN_END("ok", "done", "")},
     NULL},
    {"an ask that a crash cut off",
     {RUN_START, TURN_0, MODEL_START, THINKS("hm"), DELTA("void"),
      "run_resume {\"epoch\":2,\"from_seq\":4}",
      "model_end {\"outcome\":\"superseded\",\"text\":\"\",\"calls\":[]}",
      MODEL_START, DELTA("real"), MODEL_END("real", ""), TURN_END,
      RUN_END("ok", "real", "")},
     NULL},
    {"a call that a crash cut off",
     {RUN_START, TURN_0, MODEL_START, CUT_CALL, TURN_END,
      RUN_END("ok", "", "")},
     NULL},
    {"an id that is used again",
     {RUN_START, TURN_0, MODEL_START, MODEL_END("", CALL("c1")),
      CALL_STARTS("c1"), CALL_ENDS("c1", "ok", "7", ""), TURN_END, TURN_1,
      MODEL_START, MODEL_END("", CALL("c1")), CALL_STARTS("c1"),
      CALL_ENDS("c1", "denied", "no", ""), TURN_END,
      RUN_END("limit", "", ",\"limit\":\"turns\"")},
     NULL},
    {"approval",
     {RUN_START, TURN_0, MODEL_START, MODEL_END("", CALL("c1")), ASK, ANSWER,
      CALL_STARTS("c1"), CALL_ENDS("c1", "ok", "7", ""), TURN_END,
      RUN_END("ok", "", "")},
     NULL},
    {"calls that the caller executes",
     {RUN_START, TURN_0, MODEL_START, DELTA("yours"),
      MODEL_END("yours", CALL("c1") "," CALL("c2")), CALL_STARTS("c1"),
      CALL_ENDS("c1", "ok", "", CLIENT), CALL_STARTS("c2"),
      CALL_ENDS("c2", "ok", "", CLIENT), TURN_END, RUN_END("ok", "yours", "")},
     NULL},
    {"failed in the middle",
     {RUN_START, TURN_0, MODEL_START, DELTA("ha"),
      "model_retry {\"attempt\":1,\"delay_ms\":1,\"reason\":\"network\"}",
      DELTA("lf"),
      "model_end {\"outcome\":\"failed\",\"text\":\"lf\",\"calls\":[]}",
      RUN_END("failed", "lf",
              ",\"error\":{\"code\":\"network\","
              "\"message\":\"gone\"}")},
     NULL},
    {"canceled",
     {RUN_START, TURN_0, MODEL_START, DELTA("ha"),
      RUN_END("canceled", "ha", "")},
     NULL},
    {"an answer for a schema",
     {"run_start {\"prompt\":\"p\",\"session\":\"s\",\"model\":\"m\","
      "\"config\":{\"schema\":{}}}",
      TURN_0, MODEL_START, DELTA("no"), MODEL_END("no", ""), TURN_END, TURN_1,
      "model_start {\"model\":\"m\",\"attempt\":1,\"purpose\":\"repair\"}",
      "model_end {\"outcome\":\"ok\",\"purpose\":\"repair\",\"text\":\"{}\","
      "\"calls\":[],\"finish\":\"length\"}",
      TURN_END, RUN_END("ok", "{}", "")},
     NULL},
    {"a plan, a child, models of actions",
     {"run_start {\"prompt\":\"p\",\"plan\":{}}",
      "plan_start {\"plan\":\"p\",\"name\":\"n\",\"actions\":[]}",
      "action_start {\"action\":\"a\",\"name\":\"A\",\"type\":\"llm\"}",
      "model_start {\"model\":\"m\",\"attempt\":1,\"action\":\"a\"}",
      "text_delta {\"text\":\"x\",\"action\":\"a\"}",
      "child_start {\"run\":\"k\",\"agent\":\"kid\",\"depth\":1,"
      "\"action\":\"a\"}",
      "child_end {\"run\":\"k\",\"outcome\":\"ok\",\"text\":\"t\"}",
      "model_end {\"outcome\":\"ok\",\"text\":\"x\",\"calls\":[],"
      "\"action\":\"a\"}",
      "action_end {\"action\":\"a\",\"name\":\"A\",\"outcome\":\"ok\"}",
      "plan_end {\"outcome\":\"ok\",\"ok\":1}",
      "warning {\"code\":\"w\",\"message\":\"m\"}", RUN_END("ok", "out", "")},
     NULL},
};

/* ---- Golden records ------------------------------------------------------ */

static const struct variant {
    const char *name;
    const struct dialect *dialect;
    wend_dialect_options options;
} variants[] = {
    {"ag-ui", &dialect_ag_ui, {.version = NULL}},
    {"ag-ui-1.0",
     &dialect_ag_ui,
     {.version = "1.0", .thread_id = "T", .run_id = "R"}},
    {"openai-chat",
     &dialect_openai_chat,
     {.include_usage = true, .model = "mine"}},
    {"openai-chat-whole", &dialect_openai_chat, {.whole = true}},
    {"responses", &dialect_responses, {.run_id = "R"}},
    {"responses-whole", &dialect_responses, {.whole = true}},
    {"ui", &dialect_ui, {.run_id = "R"}},
};

static bool feed(const struct story *s, const struct variant *v, int past,
                 const struct mem *m, struct buf *out)
{
    return story_feed_as(s, v->dialect, m, &v->options, past, out);
}

static void put_stories(const struct variant *v, struct buf *out)
{
    for (size_t i = 0; i < tap_count(stories); i++) {
        buf_fmt(out, "# %s\n", stories[i].why);
        if (!feed(&stories[i], v, 0, out->mem, out))
            buf_cstr(out, "not readable\n");
    }
}

static void read_file(const char *path, struct buf *out)
{
    char part[4096];
    FILE *f = fopen(path, "r");
    size_t n;

    while (f && (n = fread(part, 1, sizeof part, f)))
        buf_add(out, part, n);
    if (f)
        fclose(f);
}

/* FLOW_GOLDEN_WRITE=1 writes the files; read them before they are kept. */
static void test_golden(const struct variant *v)
{
    struct mem m = {0};
    struct buf got = {.mem = &m}, want = {.mem = &m};
    char path[80];
    FILE *f;

    snprintf(path, sizeof path, "tests/golden/flow/%s.jsonl", v->name);
    put_stories(v, &got);
    if (getenv("FLOW_GOLDEN_WRITE") && (f = fopen(path, "w"))) {
        fwrite(got.ptr, 1, got.len, f);
        fclose(f);
    }
    read_file(path, &want);
    tap_is_str(buf_view(&got), want.ptr ? want.ptr : "", "%s: golden", v->name);
    buf_free(&got);
    buf_free(&want);
}

/* ---- Laws ---------------------------------------------------------------- */

enum { IDS_MAX = 64 };

/* What is open in a stream of AG-UI, and what ever was. */
struct brackets {
    wend_str open[IDS_MAX], ever[IDS_MAX];
    int opens, evers;
    bool begun, over;
    const char *flaw;
};

static const struct bracket {
    const char *start, *end, *id;
} brackets[] = {
    {"TEXT_MESSAGE_START", "TEXT_MESSAGE_END", "messageId"},
    {"REASONING_START", "REASONING_END", "messageId"},
    {"TOOL_CALL_START", "TOOL_CALL_END", "toolCallId"},
    {"STEP_STARTED", "STEP_FINISHED", "stepName"},
};

static void bracket(struct brackets *b, const struct json *j, wend_str type)
{
    for (size_t i = 0; i < tap_count(brackets); i++) {
        wend_str id = json_get_str(j, brackets[i].id);

        if (str_is(type, brackets[i].start)) {
            for (int k = 0; k < b->evers; k++)
                if (str_eq(b->ever[k], id))
                    b->flaw = "an id is opened twice";
            b->ever[b->evers++] = b->open[b->opens++] = id;
        } else if (str_is(type, brackets[i].end)) {
            if (!b->opens || !str_eq(b->open[b->opens - 1], id))
                b->flaw = "closed, but not the last that was opened";
            else
                b->opens--;
        }
    }
}

static const char *flaw_of(wend_str text, struct arena *a)
{
    struct brackets b = {.opens = 0};
    wend_str line;

    while (!b.flaw && str_line(&text, &line)) {
        const struct json *j = json_parse_own(line, a, NULL);
        wend_str type = json_get_str(j, "type");

        if (b.over)
            b.flaw = "something after the end";
        else if (b.begun == str_is(type, "RUN_STARTED"))
            b.flaw = "not one start, at first";
        b.begun = true;
        bracket(&b, j, type);
        if (str_is(type, "RUN_FINISHED") || str_is(type, "RUN_ERROR")) {
            b.over = true;
            if (b.opens)
                b.flaw = "something is open at the end";
        }
    }
    return b.flaw;
}

/* Whatever is past for the reader: a whole stream of its own. */
static void test_brackets(const struct variant *v)
{
    struct mem m = {0};
    struct arena a = {.mem = &m};
    int bad = 0;

    for (size_t i = 0; i < tap_count(stories); i++)
        for (int past = 0; past < LINES_MAX && stories[i].in[past]; past++) {
            struct buf out = {.mem = &m};
            const char *flaw;

            feed(&stories[i], v, past, &m, &out);
            flaw = flaw_of(buf_view(&out), &a);
            if (flaw)
                printf("# %s, %d past: %s\n%s", stories[i].why, past, flaw,
                       out.ptr);
            bad += flaw != NULL;
            arena_reset(&a);
            buf_free(&out);
        }
    arena_free(&a);
    tap_is_i64(bad, 0, "%s: each stream is whole, wherever it begins", v->name);
}

/* ---- Interrupts ---------------------------------------------------------- */

static void test_interrupt(const struct variant *v, const char *first,
                           const char *then)
{
    struct story s = {"",
                      {RUN_START, TURN_0, MODEL_START,
                       MODEL_END("", CALL("c1")), ASK, ANSWER},
                      NULL};
    struct mem m = {0};
    struct arena a = {.mem = &m};
    struct buf out = {.mem = &m}, line = {.mem = &m};
    struct dialect_stream stream;
    int ends = 0;

    dialect_open(&stream, v->dialect, &m, &v->options);
    for (int i = 0; s.in[i]; i++) {
        wend_event ev;

        native_line(&line, s.in[i], i, i ? 0 : -1);
        event_read(buf_view(&line), &a, NULL, NULL, &ev, NULL);
        buf_clear(&out);
        dialect_event(&stream, &ev, &out, false);
        if (i == 5)
            tap_is_str(buf_view(&out), then, "%s: then", v->name);
        buf_clear(&out);
        if (dialect_interrupt(&stream, &out)) {
            ends++;
            tap_is_str(buf_view(&out), first, "%s: interrupt", v->name);
            tap_is_i64(i, 4, "%s: when an approval is open", v->name);
        }
    }
    tap_is_i64(ends, first ? 1 : 0, "%s: how often", v->name);
    dialect_close(&stream);
    buf_free(&out);
    buf_free(&line);
    arena_free(&a);
}

static void test_interrupts(void)
{
    test_interrupt(
        &variants[1],
        "{\"type\":\"STEP_FINISHED\",\"timestamp\":101000,\"stepName\":"
        "\"turn 1\"}\n"
        "{\"type\":\"RUN_FINISHED\",\"timestamp\":101000,\"threadId\":\"T\","
        "\"runId\":\"R\",\"outcome\":{\"type\":\"interrupt\",\"interrupts\":["
        "{\"id\":\"c1\",\"reason\":\"approval\",\"message\":\"why\","
        "\"toolCallId\":\"c1\"}]}}\n",
        "{\"type\":\"RUN_STARTED\",\"timestamp\":101250,\"threadId\":\"T\","
        "\"runId\":\"R\",\"protocolVersion\":\"1.0\"}\n"
        "{\"type\":\"STEP_STARTED\",\"timestamp\":101250,\"stepName\":"
        "\"turn 1\"}\n"
        "{\"type\":\"CUSTOM\",\"timestamp\":101250,\"name\":"
        "\"wend.approval_answer\",\"value\":{\"call\":\"c1\",\"yes\":true,"
        "\"by\":\"me\"}}\n");
    test_interrupt(&variants[6],
                   "{\"type\":\"finish-step\"}\n"
                   "{\"type\":\"finish\",\"finishReason\":\"tool-calls\"}\n",
                   "{\"type\":\"start\",\"messageId\":\"R\"}\n"
                   "{\"type\":\"tool-approval-response\",\"approvalId\":"
                   "\"c1\",\"approved\":true}\n");
    test_interrupt(&variants[2], NULL, "");
}

/* ---- Memory -------------------------------------------------------------- */

static void test_memory(const struct variant *v)
{
    int64_t bad = 0;

    for (size_t i = 0; i < tap_count(stories); i++) {
        struct fault f = {0};

        while (fault_next(&f)) {
            struct mem m = fault_mem(&f);
            struct buf out = {.mem = &m};
            bool failed;

            feed(&stories[i], v, 0, &m, &out);
            failed = out.failed;
            buf_free(&out);
            bad += f.live != 0 || failed != f.hit;
        }
    }
    tap_is_i64(bad, 0, "%s: a failed allocation sticks and leaks nothing",
               v->name);
}

int main(void)
{
    for (size_t i = 0; i < tap_count(variants); i++) {
        const struct variant *v = &variants[i];

        test_golden(v);
        test_memory(v);
        story_laws(stories, tap_count(stories), v->dialect);
        if (v->dialect == &dialect_ag_ui)
            test_brackets(v);
    }
    test_interrupts();
    return tap_done();
}
