/*
 * test_otel.c - runs as spans: events in, spans as they shall stay.
 *
 * Every line is checked by the rules of OTLP's JSON, then compared in a shorter
 * form, see shorten(): name, kind, parent, the numbers of the events between
 * which it lies, status, and the attributes.
 */
#include "dialect_help.h"
#include "fault.h"
#include "otel_help.h"

#define RUN_ID "01a1ee96-ef1b-7079-908d-16bd24c26435"
#define TRACE "01a1ee96ef1b7079908d16bd24c26435"

#define START                                                              \
    "run_start {\"prompt\":\"p\",\"agent\":\"a\",\"model\":\"m\","         \
    "\"session\":\"s\",\"labels\":{},\"config\":{\"instructions\":\"\","   \
    "\"model\":\"responses:m\",\"base_url\":\"http://127.0.0.1:8080/v1\"," \
    "\"fallback\":[{\"name\":\"n\",\"model\":\"gemini:n\"}]}}"
#define START_IN(labels)                                           \
    "run_start {\"prompt\":\"p\",\"agent\":\"a\",\"model\":\"m\"," \
    "\"labels\":" labels ",\"config\":{}}"
#define MODEL_END_OK                                                        \
    "model_end {\"outcome\":\"ok\",\"purpose\":\"answer\",\"text\":\"hi\"," \
    "\"calls\":[],\"finish\":\"stop\",\"usage\":{\"input\":9,\"output\":2," \
    "\"cached\":4,\"reasoning\":1,\"cost\":0.25,\"cache_write\":3},"        \
    "\"first_token_ms\":1500}"
#define CALL_END                                                     \
    "call_end {\"call\":\"c1\",\"name\":\"add\",\"outcome\":\"ok\"," \
    "\"output\":\"7\",\"ms\":12}"
#define RUN_END(outcome)                                                 \
    "run_end {\"outcome\":\"" outcome "\",\"text\":\"hi\",\"metrics\":{" \
    "\"turns\":1,\"tokens_in\":9,\"tokens_out\":2,\"cost\":null}}"

#define ROOT_ATTRS                                            \
    "gen_ai.operation.name=invoke_agent gen_ai.agent.name=a " \
    "gen_ai.provider.name=openai server.address=127.0.0.1 "   \
    "server.port=8080i gen_ai.request.model=m "               \
    "gen_ai.conversation.id=s wend.run.id=" RUN_ID
#define ROOT_USED                                                  \
    " gen_ai.usage.input_tokens=9i gen_ai.usage.output_tokens=2i " \
    "wend.turns=1i wend.outcome="
#define CHAT_ATTRS                                                  \
    "gen_ai.operation.name=chat gen_ai.provider.name=openai "       \
    "server.address=127.0.0.1 server.port=8080i "                   \
    "gen_ai.request.model=m gen_ai.conversation.id=s wend.turn=0i " \
    "wend.purpose=answer"
#define TOOL_ATTRS(tool, id)                                    \
    "gen_ai.operation.name=execute_tool gen_ai.tool.name=" tool \
    " gen_ai.tool.type=function gen_ai.tool.call.id=" id

static const struct story stories[] = {
    {"text run",
     {START, TURN_0, MODEL_START, "text_delta {\"text\":\"hi\"}", MODEL_END_OK,
      METRICS, RUN_END("ok")},
     "chat m 3 <invoke_agent a> 2-4 0 " CHAT_ATTRS
     " gen_ai.response.finish_reasons=[stop] gen_ai.usage.input_tokens=9i "
     "gen_ai.usage.output_tokens=2i gen_ai.usage.cache_read.input_tokens=4i "
     "gen_ai.usage.cache_creation.input_tokens=3i "
     "gen_ai.usage.reasoning.output_tokens=1i wend.cost_usd=0.25 "
     "gen_ai.response.time_to_first_chunk=1.5 wend.outcome=ok "
     "wend.attempt=1i\n"
     "invoke_agent a 1 <> 0-6 0 " ROOT_ATTRS ROOT_USED "ok\n"},

    {"tool turn: a call may begin before its message ends, and fail",
     {START, TURN_0, MODEL_START, CALL_START, MODEL_END_CALL, CALL_END,
      "call_start {\"call\":\"c2\",\"name\":\"rm\",\"args\":{}}",
      "call_end {\"call\":\"c2\",\"name\":\"rm\",\"outcome\":\"denied\","
      "\"output\":\"no\",\"ms\":0}"},
     "chat m 3 <?> 2-4 0 " CHAT_ATTRS
     " gen_ai.usage.input_tokens=0i gen_ai.usage.output_tokens=0i "
     "wend.cost_usd=0 wend.outcome=ok wend.attempt=1i\n"
     "execute_tool add 1 <?> 3-5 0 " TOOL_ATTRS(
         "add", "c1") " wend.turn=0i wend.outcome=ok wend.attempt=1i\n"
                      "execute_tool rm 1 <?> 6-7 2 " TOOL_ATTRS(
                          "rm", "c2") " wend.turn=0i wend.outcome=denied "
                                      "wend.attempt=1i error.type=denied\n"},

    {"attempts: each request is a span, the next one begins after the delay",
     {START, TURN_0, MODEL_START,
      "model_retry {\"attempt\":1,\"delay_ms\":250,\"reason\":\"network\","
      "\"next_model\":\"n\",\"usage\":{\"input\":5,\"output\":1}}",
      METRICS,
      "model_end {\"outcome\":\"failed\",\"purpose\":\"answer\",\"text\":\"\","
      "\"calls\":[],\"finish\":\"failed\",\"usage\":{\"input\":0,"
      "\"output\":0},\"error\":{\"code\":\"service\",\"message\":\"secret\"}}",
      "run_end {\"outcome\":\"failed\",\"text\":\"\",\"error\":{"
      "\"code\":\"service\",\"message\":\"secret\"},\"metrics\":{\"turns\":1,"
      "\"tokens_in\":9,\"tokens_out\":2,\"cost\":null}}"},
     "chat m 3 <invoke_agent a> 2-3 2 " CHAT_ATTRS
     " gen_ai.usage.input_tokens=5i gen_ai.usage.output_tokens=1i "
     "wend.outcome=failed wend.attempt=1i error.type=network\n"
     "chat n 3 <invoke_agent a> 4-5 2 gen_ai.operation.name=chat "
     "gen_ai.provider.name=gcp.gemini gen_ai.request.model=n "
     "gen_ai.conversation.id=s wend.turn=0i wend.purpose=answer "
     "wend.outcome=failed wend.attempt=2i error.type=service\n"
     "invoke_agent a 1 <> 0-6 2 " ROOT_ATTRS ROOT_USED
     "failed error.type=service\n"},

    {"canceled: a decision is not an error, and no span ends before it begins",
     {START, TURN_0, MODEL_START,
      "model_retry {\"attempt\":1,\"delay_ms\":60000,\"reason\":\"network\","
      "\"next_model\":\"m\"}",
      "control {\"what\":\"cancel\",\"by\":\"api\"}",
      "model_end {\"outcome\":\"canceled\",\"purpose\":\"answer\",\"text\":"
      "\"\",\"calls\":[],\"finish\":\"canceled\",\"usage\":{\"input\":0,"
      "\"output\":0}}",
      RUN_END("canceled")},
     "chat m 3 <invoke_agent a> 2-3 2 " CHAT_ATTRS
     " wend.outcome=failed wend.attempt=1i error.type=network\n"
     "chat m 3 <invoke_agent a> 243-243 0 " CHAT_ATTRS
     " wend.outcome=canceled wend.attempt=2i\n"
     "invoke_agent a 1 <> 0-6 0 " ROOT_ATTRS ROOT_USED "canceled\n"},

    {"a plan: the run is the workflow; actions, their attempts, their models",
     {"run_start {\"prompt\":\"p\",\"agent\":\"a\",\"model\":\"m\",\"plan\":{"
      "\"name\":\"sums\"},\"labels\":{},\"config\":{}}",
      "plan_start {\"plan\":\"p\",\"name\":\"sums\",\"actions\":[]}",
      "action_start {\"action\":\"x\",\"name\":\"x\",\"type\":\"tool\","
      "\"target\":\"add\",\"params\":{},\"attempt\":1}",
      "action_start {\"action\":\"y\",\"name\":\"why\",\"type\":\"llm\","
      "\"target\":\"default\",\"params\":{},\"attempt\":1}",
      "model_start {\"model\":\"m\",\"attempt\":1,\"action\":\"y\"}",
      "action_retry {\"action\":\"x\",\"attempt\":1,\"delay_ms\":250,"
      "\"error\":{\"code\":\"timeout\",\"message\":\"late\"}}",
      "model_end {\"outcome\":\"ok\",\"text\":\"hi\",\"calls\":[],"
      "\"usage\":{\"input\":1,\"output\":1},\"action\":\"y\"}",
      "action_end {\"action\":\"y\",\"name\":\"why\",\"outcome\":\"ok\","
      "\"output\":\"hi\"}",
      "action_end {\"action\":\"x\",\"name\":\"x\",\"outcome\":\"ok\","
      "\"output\":7,\"cached\":true}",
      "action_end {\"action\":\"z\",\"name\":\"z\",\"outcome\":\"skipped\"}",
      "plan_end {\"outcome\":\"ok\",\"ok\":2}", RUN_END("ok")},
     "execute_tool add 1 <invoke_workflow sums> 2-5 2 " TOOL_ATTRS(
         "add",
         "x") " wend.action.id=x wend.action.type=tool wend.outcome=failed "
              "wend.attempt=1i error.type=timeout\n"
              "chat m 3 <action why> 4-6 0 gen_ai.operation.name=chat "
              "gen_ai.request.model=m wend.purpose=answer "
              "gen_ai.usage.input_tokens=1i "
              "gen_ai.usage.output_tokens=1i wend.outcome=ok wend.attempt=1i\n"
              "action why 1 <invoke_workflow sums> 3-7 0 "
              "wend.action.target=default "
              "wend.action.id=y wend.action.type=llm wend.outcome=ok "
              "wend.attempt=1i\n"
              "execute_tool add 1 <invoke_workflow sums> 6-8 0 " TOOL_ATTRS(
                  "add", "x") " wend.action.id=x wend.action.type=tool "
                              "wend.cached=true "
                              "wend.outcome=ok wend.attempt=2i\n"
                              "invoke_workflow sums 1 <> 0-11 0 "
                              "gen_ai.operation.name=invoke_workflow "
                              "gen_ai.workflow.name=sums gen_ai.agent.name=a "
                              "gen_ai.request.model=m "
                              "wend.run.id=" RUN_ID ROOT_USED "ok\n"},

    {"a plan that a model wrote is a span of its own",
     {START, TURN_0,
      "plan_start {\"plan\":\"p0\",\"name\":\"sums\",\"actions\":[],"
      "\"call\":\"c9\"}",
      "action_start {\"action\":\"x\",\"name\":\"x\",\"type\":\"tool\","
      "\"target\":\"add\",\"params\":{},\"attempt\":1}",
      "action_end {\"action\":\"x\",\"name\":\"x\",\"outcome\":\"unknown\"}",
      "plan_end {\"outcome\":\"failed\"}", RUN_END("limit")},
     "execute_tool add 1 <invoke_workflow sums> 3-4 2 " TOOL_ATTRS(
         "add",
         "x") " wend.action.id=x wend.action.type=tool wend.outcome=unknown "
              "wend.attempt=1i error.type=unknown\n"
              "invoke_workflow sums 1 <invoke_agent a> 2-5 2 "
              "gen_ai.operation.name=invoke_workflow gen_ai.workflow.name=sums "
              "wend.turn=0i wend.outcome=failed error.type=failed\n"
              "invoke_agent a 1 <> 0-6 0 " ROOT_ATTRS ROOT_USED "limit\n"},

    {"resume: what was cut off ended with the process, and began again",
     {START, TURN_0, CUT_CALL, RUN_END("ok")},
     "execute_tool add 1 <invoke_agent a> 3-3 2 " TOOL_ATTRS(
         "add",
         "c1") " wend.turn=0i wend.outcome=superseded wend.attempt=1i "
               "error.type=superseded\n"
               "execute_tool add 1 <invoke_agent a> 6-7 0 " TOOL_ATTRS(
                   "add",
                   "c1") " wend.turn=0i wend.outcome=ok wend.attempt=2i\n"
                         "invoke_agent a 1 <> 0-8 0 " ROOT_ATTRS ROOT_USED
                         "ok {wend.resume 4}\n"},

    {"fork: a span and a trace of its own, from its own beginning on",
     {START, TURN_0, CALL_START,
      "run_fork {\"parent\":\"r0\",\"at\":2,\"session\":\"t\"}",
      "call_end {\"call\":\"c1\",\"name\":\"add\",\"outcome\":\"superseded\"}",
      "call_start {\"call\":\"c1\",\"name\":\"add\",\"args\":{},"
      "\"attempt\":2}",
      CALL_END, RUN_END("ok")},
     "execute_tool add 1 <invoke_agent a> 5-6 0 " TOOL_ATTRS(
         "add", "c1") " wend.turn=0i wend.outcome=ok wend.attempt=2i\n"
                      "invoke_agent a 1 <> 3-7 0 " ROOT_ATTRS
                      " wend.run.fork_of=r0" ROOT_USED "ok\n"},

    {"a caller's trace",
     {START_IN("{\"traceparent\":\"" PARENT "\",\"tracestate\":\"k=v\"}"),
      RUN_END("ok")},
     "invoke_agent a 1 <b7ad6b7169203331> 0-1 0 k=v "
     "0af7651916cd43dd8448eb211c80319c gen_ai.operation.name=invoke_agent "
     "gen_ai.agent.name=a gen_ai.request.model=m wend.run.id=" RUN_ID ROOT_USED
     "ok\n"},

    {"a caller's trace that is not recorded",
     {START_IN("{\"traceparent\":\"00-0af7651916cd43dd8448eb211c80319c-"
               "b7ad6b7169203331-00\"}"),
      CALL_START, CALL_END, RUN_END("ok")},
     ""},

    {"a caller's trace that is invalid is none",
     {START_IN("{\"traceparent\":\"00-0\",\"tracestate\":\"k=v\"}"),
      RUN_END("ok")},
     "invoke_agent a 1 <> 0-1 0 gen_ai.operation.name=invoke_agent "
     "gen_ai.agent.name=a gen_ai.request.model=m wend.run.id=" RUN_ID ROOT_USED
     "ok\n"},

    {"an end that the store refused is followed by another one",
     {START_IN("{}"), RUN_END("ok"), RUN_END("canceled")},
     "invoke_agent a 1 <> 0-1 0 gen_ai.operation.name=invoke_agent "
     "gen_ai.agent.name=a gen_ai.request.model=m wend.run.id=" RUN_ID ROOT_USED
     "ok\n"
     "invoke_agent a 1 <> 0-2 0 gen_ai.operation.name=invoke_agent "
     "gen_ai.agent.name=a gen_ai.request.model=m wend.run.id=" RUN_ID ROOT_USED
     "canceled\n"},

    {"without its beginning a run has no spans",
     {TURN_0, CALL_START, CALL_END, RUN_END("ok")},
     ""},
};

/* ---- The shorter form ---------------------------------------------------- */

enum { SPANS_MAX = 16 };

struct spans {
    struct arena arena;
    const struct json *list[SPANS_MAX];
    size_t count;
};

static bool read_spans(struct spans *s, wend_str text)
{
    bool ok = true;
    wend_str line;

    while (str_line(&text, &line) && s->count < SPANS_MAX) {
        const struct json *j = json_parse(line, &s->arena, NULL);

        ok = ok && is_span(j);
        s->list[s->count++] = j;
    }
    return ok && !text.len;
}

static void put_parent(struct buf *b, const struct spans *s,
                       const struct json *j)
{
    wend_str parent = json_get_str(j, "parentSpanId");
    wend_str name = str_is(json_get_str(j, "traceId"), TRACE) && parent.ptr
                        ? STR("?")
                        : parent;

    for (size_t i = 0; parent.ptr && i < s->count; i++)
        if (str_eq(json_get_str(s->list[i], "spanId"), parent))
            name = json_get_str(s->list[i], "name");
    buf_fmt(b, " <%.*s>", STR_ARGS(str_or(name, "")));
}

/* The number of the event, see native_line. */
static int64_t event_at(const struct json *time)
{
    int64_t ns = 0;

    str_to_i64(json_str(time), &ns);
    return ns / 250000000 - 400;
}

static void put_attr(struct buf *b, const struct json *a)
{
    const struct json *v = json_get(a, "value")->first;
    wend_str key = json_get_str(a, "key");

    buf_fmt(b, " %.*s=", STR_ARGS(key));
    if (str_is(v->key, "arrayValue"))
        buf_fmt(b, "[%.*s]",
                STR_ARGS(
                    json_get_str(json_get(v, "values")->first, "stringValue")));
    else if (v->kind == JSON_TRUE)
        buf_cstr(b, "true");
    else
        buf_fmt(b, "%.*s%s", STR_ARGS(v->text),
                str_is(v->key, "intValue") ? "i" : "");
}

static void shorten(struct buf *b, const struct spans *s, const struct json *j)
{
    wend_str trace = json_get_str(j, "traceId");
    int64_t n = 0, code = 0;

    json_i64(json_get(j, "kind"), &n);
    json_i64(json_get(json_get(j, "status"), "code"), &code);
    buf_fmt(b, "%.*s %lld", STR_ARGS(json_get_str(j, "name")), (long long)n);
    put_parent(b, s, j);
    buf_fmt(b, " %lld-%lld %lld",
            (long long)event_at(json_get(j, "startTimeUnixNano")),
            (long long)event_at(json_get(j, "endTimeUnixNano")),
            (long long)code);
    if (json_get(j, "traceState"))
        buf_fmt(b, " %.*s", STR_ARGS(json_get_str(j, "traceState")));
    if (!str_is(trace, TRACE))
        buf_fmt(b, " %.*s", STR_ARGS(trace));
    for (const struct json *a = json_items(json_get(j, "attributes")); a;
         a = a->next)
        put_attr(b, a);
    for (const struct json *e = json_items(json_get(j, "events")); e;
         e = e->next)
        buf_fmt(b, " {%.*s %lld}", STR_ARGS(json_get_str(e, "name")),
                (long long)event_at(json_get(e, "timeUnixNano")));
    buf_char(b, '\n');
}

/* ---- Feeding ------------------------------------------------------------- */

struct feed {
    const struct mem *mem;
    bool content;
    int past; /* events that another process had */
    const struct otel_context *parent;
};

static void feed(const struct story *s, const struct feed *f, struct buf *out)
{
    struct mem libc = {0};
    struct arena a = {.mem = &libc};
    struct buf line = {.mem = &libc};
    struct otel_stream stream;
    int turn = -1;

    otel_stream_open(&stream, f->mem,
                     &(struct otel_options){.run = STR(RUN_ID),
                                            .parent = f->parent,
                                            .content = f->content});
    for (int i = 0; i < LINES_MAX && s->in[i]; i++) {
        wend_error err = {0};
        wend_event ev;

        if (str_starts(str_of(s->in[i]), "turn_start"))
            turn = s->in[i][22] - '0';
        native_line(&line, s->in[i], i, turn);
        if (event_read(buf_view(&line), &a, NULL, NULL, &ev, &err) != WEND_OK)
            tap_ok(false, "%s: %s: %s", s->why, s->in[i], err.message);
        else
            otel_stream_event(&stream, &ev, out, i < f->past);
    }
    otel_stream_close(&stream);
    buf_free(&line);
    arena_free(&a);
}

static void test_stories(void)
{
    struct mem m = {0};
    const struct feed f = {.mem = &m};

    for (size_t i = 0; i < tap_count(stories); i++) {
        struct buf out = {.mem = &m}, again = {.mem = &m}, b = {.mem = &m};
        struct spans s = {.arena.mem = &m};

        feed(&stories[i], &f, &out);
        feed(&stories[i], &f, &again);
        tap_ok(read_spans(&s, buf_view(&out)), "%s: as OTLP has it",
               stories[i].why);
        for (size_t k = 0; k < s.count; k++)
            shorten(&b, &s, s.list[k]);
        tap_is_str(buf_view(&b), str_of(stories[i].out), "%s", stories[i].why);
        tap_is_str(buf_view(&again), buf_view(&out), "%s: the same each time",
                   stories[i].why);
        buf_free(&out);
        buf_free(&again);
        buf_free(&b);
        arena_free(&s.arena);
    }
}

/* A span as it is sent: the form is a promise to receivers. */
static void test_bytes(void)
{
    static const struct story s = {
        "bytes", {START_IN("{}"), RUN_END("ok")}, NULL};
    struct mem m = {0};
    struct buf out = {.mem = &m};

    feed(&s, &(struct feed){.mem = &m}, &out);
    tap_is_str(
        buf_view(&out),
        "{\"traceId\":\"" TRACE "\",\"spanId\":\"251972536d250f91\",\"name\":"
        "\"invoke_agent a\",\"kind\":1,\"startTimeUnixNano\":\"100000000000\","
        "\"endTimeUnixNano\":\"100250000000\",\"attributes\":[{\"key\":"
        "\"gen_ai.operation.name\",\"value\":{\"stringValue\":\"invoke_agent\""
        "}},{\"key\":\"gen_ai.agent.name\",\"value\":{\"stringValue\":\"a\"}},"
        "{\"key\":\"gen_ai.request.model\",\"value\":{\"stringValue\":\"m\"}},"
        "{\"key\":\"wend.run.id\",\"value\":{\"stringValue\":\"" RUN_ID "\"}},"
        "{\"key\":\"gen_ai.usage.input_tokens\",\"value\":{\"intValue\":\"9\"}"
        "},{\"key\":\"gen_ai.usage.output_tokens\",\"value\":{\"intValue\":"
        "\"2\"}},{\"key\":\"wend.turns\",\"value\":{\"intValue\":\"1\"}},"
        "{\"key\":\"wend.outcome\",\"value\":{\"stringValue\":\"ok\"}}],"
        "\"status\":{\"code\":0}}\n",
        "the bytes of a span");
    buf_free(&out);
}

static void test_past(void)
{
    struct mem m = {0};
    struct buf all = {.mem = &m}, rest = {.mem = &m};
    struct feed f = {.mem = &m};

    feed(&stories[6], &f, &all);
    f.past = 4;
    feed(&stories[6], &f, &rest);
    tap_is_str(buf_view(&rest), buf_view(&all),
               "a resume ends what the process before had begun, under the "
               "same ids");
    buf_clear(&rest);
    f.past = 6;
    feed(&stories[6], &f, &rest);
    tap_ok(rest.len && rest.len < all.len && !strstr(rest.ptr, "superseded"),
           "what ended before is not sent again");
    buf_free(&all);
    buf_free(&rest);
}

static void test_content(void)
{
    static const struct story s = {
        "content",
        {START, TURN_0, MODEL_START, MODEL_END_CALL, CALL_START, CALL_END,
         "call_start {\"call\":\"c2\",\"name\":\"rm\",\"args\":{}}",
         "call_end {\"call\":\"c2\",\"name\":\"rm\",\"outcome\":\"failed\","
         "\"output\":\"boom\",\"error\":{\"code\":\"failed\",\"message\":"
         "\"boom\"}}",
         RUN_END("ok")},
        NULL};
    static const char *const said[] = {
        "\"key\":\"gen_ai.input.messages\",\"value\":{\"stringValue\":\"[{"
        "\\\"role\\\":\\\"user\\\",\\\"parts\\\":[{\\\"type\\\":\\\"text\\\","
        "\\\"content\\\":\\\"p\\\"}]}]\"}",
        "\"key\":\"gen_ai.output.messages\",\"value\":{\"stringValue\":\"[{"
        "\\\"role\\\":\\\"assistant\\\",\\\"parts\\\":[{\\\"type\\\":"
        "\\\"text\\\",\\\"content\\\":\\\"hm\\\"},{\\\"type\\\":"
        "\\\"tool_call\\\",\\\"id\\\":\\\"c1\\\",\\\"name\\\":\\\"add\\\","
        "\\\"arguments\\\":{\\\"a\\\":1}}",
        "\"key\":\"gen_ai.tool.call.arguments\",\"value\":{\"stringValue\":"
        "\"{\\\"a\\\":1}\"}",
        "\"key\":\"gen_ai.tool.call.result\",\"value\":{\"stringValue\":"
        "\"7\"}",
        "\"status\":{\"code\":2,\"message\":\"boom\"}",
    };
    struct mem m = {0};
    struct buf with = {.mem = &m}, without = {.mem = &m};
    struct spans spans = {.arena.mem = &m};

    feed(&s, &(struct feed){.mem = &m, .content = true}, &with);
    feed(&s, &(struct feed){.mem = &m}, &without);
    tap_ok(read_spans(&spans, buf_view(&with)), "with content: as OTLP has it");
    for (size_t i = 0; i < tap_count(said); i++)
        tap_ok(strstr(with.ptr, said[i]) && !strstr(without.ptr, said[i]),
               "only if the host wants it: %.30s", said[i]);
    tap_ok(!strstr(without.ptr, "boom") && !strstr(without.ptr, "hm"),
           "else nothing that was said");
    buf_free(&with);
    buf_free(&without);
    arena_free(&spans.arena);
}

/* A child is in its parent's trace, whatever its labels say. */
static void test_child(void)
{
    static const struct story s = {
        "child",
        {START_IN("{\"traceparent\":\"00-11111111111111111111111111111111-"
                  "2222222222222222-00\"}"),
         CALL_START, CALL_END, RUN_END("ok")},
        NULL};
    struct mem m = {0};
    struct buf out = {.mem = &m};
    struct spans spans = {.arena.mem = &m};
    struct otel_context parent;

    tap_ok(otel_parent_read(STR(PARENT), &parent), "a parent");
    feed(&s, &(struct feed){.mem = &m, .parent = &parent}, &out);
    read_spans(&spans, buf_view(&out));
    if (tap_is_i64((int64_t)spans.count, 2, "a child has spans")) {
        tap_is_str(json_get_str(spans.list[1], "parentSpanId"),
                   "b7ad6b7169203331", "its own is below the call");
        for (int i = 0; i < 2; i++)
            tap_is_str(json_get_str(spans.list[i], "traceId"),
                       "0af7651916cd43dd8448eb211c80319c", "in its trace");
    }
    buf_free(&out);
    arena_free(&spans.arena);
}

/* ---- Memory -----------------------------------------------------------------
 */

static void test_memory(void)
{
    struct fault f = {0};
    struct mem libc = {0};
    struct buf whole = {.mem = &libc};
    int64_t leaks = 0, wrong = 0;

    feed(&stories[4], &(struct feed){.mem = &libc, .content = true}, &whole);
    while (fault_next(&f)) {
        struct mem m = fault_mem(&f);
        struct buf out = {.mem = &m};
        struct spans s = {.arena.mem = &libc};

        feed(&stories[4], &(struct feed){.mem = &m, .content = true}, &out);
        wrong += !out.failed && !read_spans(&s, buf_view(&out));
        wrong += !f.hit && !str_eq(buf_view(&out), buf_view(&whole));
        buf_free(&out);
        arena_free(&s.arena);
        leaks += f.live != 0;
    }
    tap_is_i64(leaks, 0, "a failed allocation leaks nothing");
    tap_is_i64(wrong, 0, "and what is written is whole");
    buf_free(&whole);
}

int main(void)
{
    test_stories();
    test_bytes();
    test_past();
    test_content();
    test_child();
    test_memory();
    return tap_done();
}
