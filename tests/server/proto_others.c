/*
 * proto_others.c - Anthropic Messages, Gemini, Ollama's own, plain bytes.
 */
#include "base/json.h"
#include "server.h"

/* ---- Anthropic Messages -------------------------------------------------- */

static void stop_block(struct answer *a, struct buf *b)
{
    if (a->block == BLOCK_NONE)
        return;
    if (a->block == BLOCK_THINK)
        buf_fmt(b,
                "event: content_block_delta\ndata: {\"type\":"
                "\"content_block_delta\",\"index\":%lld,\"delta\":{\"type\":"
                "\"signature_delta\",\"signature\":\"c2VhbGVk\"}}\n\n",
                (long long)a->block_index);
    buf_fmt(b,
            "event: content_block_stop\ndata: {\"type\":"
            "\"content_block_stop\",\"index\":%lld}\n\n",
            (long long)a->block_index++);
    a->block = BLOCK_NONE;
}

static void start_block(struct answer *a, struct buf *b, enum block want)
{
    if (a->block == want)
        return;
    stop_block(a, b);
    a->block = want;
    buf_fmt(b,
            "event: content_block_start\ndata: {\"type\":"
            "\"content_block_start\",\"index\":%lld,\"content_block\":%s}\n\n",
            (long long)a->block_index,
            want == BLOCK_THINK ? "{\"type\":\"thinking\",\"thinking\":\"\","
                                  "\"signature\":\"\"}"
                                : "{\"type\":\"text\",\"text\":\"\"}");
}

static void block_delta(struct answer *a, struct buf *b, const char *type,
                        const char *key, wend_str text)
{
    buf_fmt(b,
            "event: content_block_delta\ndata: {\"type\":"
            "\"content_block_delta\",\"index\":%lld,\"delta\":{\"type\":"
            "\"%s\",\"%s\":",
            (long long)a->block_index, type, key);
    json_put_str(b, text);
    buf_cstr(b, "}}\n\n");
}

static void messages_begin(struct answer *a, struct buf *b)
{
    (void)a;
    buf_fmt(b,
            "event: message_start\ndata: {\"type\":\"message_start\","
            "\"message\":{\"id\":\"msg_1\",\"type\":\"message\",\"role\":"
            "\"assistant\",\"model\":\"test\",\"content\":[],\"stop_reason\":"
            "null,\"stop_sequence\":null,\"usage\":{\"input_tokens\":%d,"
            "\"output_tokens\":1}}}\n\n"
            "event: ping\ndata: {\"type\":\"ping\"}\n\n",
            USAGE_INPUT);
}

static void messages_think(struct answer *a, struct buf *b, wend_str text)
{
    start_block(a, b, BLOCK_THINK);
    block_delta(a, b, "thinking_delta", "thinking", text);
}

static void messages_text(struct answer *a, struct buf *b, wend_str text)
{
    start_block(a, b, BLOCK_TEXT);
    block_delta(a, b, "text_delta", "text", text);
}

static void messages_call(struct answer *a, struct buf *b, int64_t i,
                          wend_str name, wend_str args)
{
    size_t half = args.len / 2;

    stop_block(a, b);
    buf_fmt(b,
            "event: content_block_start\ndata: {\"type\":"
            "\"content_block_start\",\"index\":%lld,\"content_block\":"
            "{\"type\":\"tool_use\",\"id\":\"toolu_%lld_%lld\",\"name\":",
            (long long)a->block_index, (long long)a->turn, (long long)i);
    json_put_str(b, name);
    buf_cstr(b, ",\"input\":{}}}\n\n");
    block_delta(a, b, "input_json_delta", "partial_json", STR(""));
    block_delta(a, b, "input_json_delta", "partial_json",
                (wend_str){args.ptr, half});
    block_delta(a, b, "input_json_delta", "partial_json",
                (wend_str){args.ptr + half, args.len - half});
    buf_fmt(b,
            "event: content_block_stop\ndata: {\"type\":"
            "\"content_block_stop\",\"index\":%lld}\n\n",
            (long long)a->block_index++);
}

static void put_stop(struct answer *a, struct buf *b)
{
    wend_str reason = a->calls ? STR("tool_use") : STR("end_turn");

    buf_cstr(b, "\"stop_reason\":");
    json_put_str(b, a->plan.stop.len ? a->plan.stop : reason);
    buf_cstr(b, ",\"stop_sequence\":null");
}

static void messages_finish(struct answer *a, struct buf *b)
{
    stop_block(a, b);
    buf_cstr(b, "event: message_delta\ndata: {\"type\":\"message_delta\","
                "\"delta\":{");
    put_stop(a, b);
    buf_fmt(b,
            "},\"usage\":{\"output_tokens\":%lld}}\n\n"
            "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
            (long long)answer_usage(a));
}

static void messages_failure(struct answer *a, struct buf *b)
{
    buf_fmt(b,
            "{\"type\":\"error\",\"error\":{\"type\":\"%s\",\"message\":"
            "\"test error %lld\"},\"request_id\":\"req_test\"}",
            answer_error_type(a), (long long)a->plan.status);
}

static void messages_error(struct answer *a, struct buf *b)
{
    (void)a;
    buf_cstr(b, "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":"
                "\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n");
}

static void messages_whole(struct answer *a, struct buf *b)
{
    buf_cstr(b, "{\"id\":\"msg_1\",\"type\":\"message\",\"role\":"
                "\"assistant\",\"model\":\"test\",\"content\":[");
    if (answer_texts(a)) {
        buf_cstr(b, "{\"type\":\"text\",\"text\":");
        answer_put_text(a, b);
        buf_cstr(b, a->calls ? "}," : "}");
    }
    for (int64_t i = 0; i < a->calls; i++) {
        struct buf args = {.mem = b->mem};
        wend_str name = answer_call(a, i, &args);

        buf_fmt(b,
                "%s{\"type\":\"tool_use\",\"id\":\"toolu_%lld_%lld\","
                "\"name\":",
                i ? "," : "", (long long)a->turn, (long long)i);
        json_put_str(b, name);
        buf_cstr(b, ",\"input\":");
        buf_str(b, buf_view(&args));
        buf_char(b, '}');
        buf_free(&args);
    }
    buf_cstr(b, "],");
    put_stop(a, b);
    buf_fmt(b, ",\"usage\":{\"input_tokens\":%d,\"output_tokens\":%lld}}\n",
            USAGE_INPUT, (long long)answer_usage(a));
}

const struct proto proto_messages = {
    .name = "messages",
    .suffix = "/messages",
    .type = "text/event-stream; charset=utf-8",
    .type_json = "application/json",
    .begin = messages_begin,
    .think = messages_think,
    .text = messages_text,
    .call = messages_call,
    .finish = messages_finish,
    .error = messages_error,
    .failure = messages_failure,
    .whole = messages_whole,
};

/* ---- Gemini -------------------------------------------------------------- */

/* Events, or elements of an array. */
static void gemini_open(struct answer *a, struct buf *b)
{
    if (!a->array)
        buf_cstr(b, "data: ");
    else
        buf_cstr(b, a->sequence++ ? ",\r\n" : "[");
    buf_cstr(b, "{\"candidates\":[{\"content\":{\"parts\":[");
}

static void gemini_close(struct answer *a, struct buf *b, const char *reason)
{
    buf_cstr(b, "],\"role\":\"model\"}");
    if (reason)
        buf_fmt(b, ",\"finishReason\":\"%s\"", reason);
    buf_fmt(b,
            ",\"index\":0}],\"usageMetadata\":{\"promptTokenCount\":%d,"
            "\"candidatesTokenCount\":%lld,\"totalTokenCount\":%lld},"
            "\"modelVersion\":\"test\"}",
            USAGE_INPUT, (long long)answer_usage(a),
            (long long)(USAGE_INPUT + answer_usage(a)));
    if (!a->array && !a->json)
        buf_cstr(b, "\r\n\r\n");
}

static void gemini_begin(struct answer *a, struct buf *b)
{
    (void)a, (void)b; /* its first piece says it all */
}

static void gemini_part(struct answer *a, struct buf *b, wend_str text,
                        const char *more)
{
    gemini_open(a, b);
    buf_cstr(b, "{\"text\":");
    json_put_str(b, text);
    buf_cstr(b, more);
    buf_char(b, '}');
    gemini_close(a, b, NULL);
}

static void gemini_think(struct answer *a, struct buf *b, wend_str text)
{
    gemini_part(a, b, text, ",\"thought\":true");
}

static void gemini_text(struct answer *a, struct buf *b, wend_str text)
{
    gemini_part(a, b, text, "");
}

static void put_gemini_call(struct buf *b, wend_str name, wend_str args)
{
    buf_cstr(b, "{\"functionCall\":{\"name\":");
    json_put_str(b, name);
    buf_cstr(b, ",\"args\":");
    buf_str(b, args);
    buf_cstr(b, "},\"thoughtSignature\":\"c2VhbGVk\"}");
}

static void gemini_call(struct answer *a, struct buf *b, int64_t i,
                        wend_str name, wend_str args)
{
    (void)i;
    gemini_open(a, b);
    put_gemini_call(b, name, args);
    gemini_close(a, b, NULL);
}

static void gemini_finish(struct answer *a, struct buf *b)
{
    gemini_open(a, b);
    buf_cstr(b, "{\"text\":\"\"}");
    gemini_close(a, b, "STOP");
    if (a->array)
        buf_cstr(b, "]");
}

static void gemini_failure(struct answer *a, struct buf *b)
{
    static const struct {
        int status;
        const char *name;
    } names[] = {
        {400, "INVALID_ARGUMENT"},   {401, "UNAUTHENTICATED"},
        {403, "PERMISSION_DENIED"},  {404, "NOT_FOUND"},
        {429, "RESOURCE_EXHAUSTED"}, {503, "UNAVAILABLE"},
    };
    const char *name = "INTERNAL";

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].status == a->plan.status)
            name = names[i].name;
    buf_fmt(b,
            "%s{\"error\":{\"code\":%lld,\"message\":\"test error %lld\","
            "\"status\":\"%s\"}}%s",
            a->array ? "[" : "", (long long)a->plan.status,
            (long long)a->plan.status, name, a->array ? "]" : "");
}

static void gemini_error(struct answer *a, struct buf *b)
{
    buf_fmt(b,
            "%s{\"error\":{\"code\":503,\"message\":\"test error\","
            "\"status\":\"UNAVAILABLE\"}}%s",
            a->array ? "," : "data: ", a->array ? "]" : "\r\n\r\n");
}

static void gemini_whole(struct answer *a, struct buf *b)
{
    const char *comma = "";

    buf_cstr(b, "{\"candidates\":[{\"content\":{\"parts\":[");
    if (answer_texts(a)) {
        buf_cstr(b, "{\"text\":");
        answer_put_text(a, b);
        buf_char(b, '}');
        comma = ",";
    }
    for (int64_t i = 0; i < a->calls; i++) {
        struct buf args = {.mem = b->mem};
        wend_str name = answer_call(a, i, &args);

        buf_cstr(b, comma);
        put_gemini_call(b, name, buf_view(&args));
        buf_free(&args);
        comma = ",";
    }
    gemini_close(a, b, "STOP");
}

const struct proto proto_gemini = {
    .name = "gemini",
    .suffix = "GenerateContent",
    .type = "text/event-stream",
    .type_json = "application/json; charset=UTF-8",
    .begin = gemini_begin,
    .think = gemini_think,
    .text = gemini_text,
    .call = gemini_call,
    .finish = gemini_finish,
    .error = gemini_error,
    .failure = gemini_failure,
    .whole = gemini_whole,
};

/* ---- Ollama -------------------------------------------------------------- */

#define LINE "{\"model\":\"test\",\"created_at\":\"2024-01-01T00:00:00Z\","

static void ollama_begin(struct answer *a, struct buf *b)
{
    (void)a, (void)b;
}

static void ollama_line(struct buf *b, const char *key, wend_str text)
{
    buf_cstr(b, LINE "\"message\":{\"role\":\"assistant\",\"");
    buf_cstr(b, key);
    buf_cstr(b, "\":");
    json_put_str(b, text);
    buf_cstr(b, "},\"done\":false}\n");
}

static void ollama_think(struct answer *a, struct buf *b, wend_str text)
{
    (void)a;
    ollama_line(b, "content\":\"\",\"thinking", text);
}

static void ollama_text(struct answer *a, struct buf *b, wend_str text)
{
    (void)a;
    ollama_line(b, "content", text);
}

static void put_ollama_call(struct buf *b, wend_str name, wend_str args)
{
    buf_cstr(b, "{\"function\":{\"name\":");
    json_put_str(b, name);
    buf_cstr(b, ",\"arguments\":");
    buf_str(b, args);
    buf_cstr(b, "}}");
}

static void ollama_call(struct answer *a, struct buf *b, int64_t i,
                        wend_str name, wend_str args)
{
    (void)a, (void)i;
    buf_cstr(b, LINE "\"message\":{\"role\":\"assistant\",\"content\":\"\","
                     "\"tool_calls\":[");
    put_ollama_call(b, name, args);
    buf_cstr(b, "]},\"done\":false}\n");
}

static void put_ollama_end(struct answer *a, struct buf *b)
{
    buf_fmt(b,
            "\"done\":true,\"done_reason\":\"stop\",\"total_duration\":1,"
            "\"prompt_eval_count\":%d,\"eval_count\":%lld}\n",
            USAGE_INPUT, (long long)answer_usage(a));
}

static void ollama_finish(struct answer *a, struct buf *b)
{
    buf_cstr(b, LINE "\"message\":{\"role\":\"assistant\",\"content\":\"\"},");
    put_ollama_end(a, b);
}

static void ollama_failure(struct answer *a, struct buf *b)
{
    buf_fmt(b, "{\"error\":\"test error %lld\"}\n", (long long)a->plan.status);
}

static void ollama_whole(struct answer *a, struct buf *b)
{
    buf_cstr(b, LINE "\"message\":{\"role\":\"assistant\",\"content\":");
    answer_put_text(a, b);
    for (int64_t i = 0; i < a->calls; i++) {
        struct buf args = {.mem = b->mem};
        wend_str name = answer_call(a, i, &args);

        buf_cstr(b, i ? "," : ",\"tool_calls\":[");
        put_ollama_call(b, name, buf_view(&args));
        buf_free(&args);
    }
    buf_cstr(b, a->calls ? "]}," : "},");
    put_ollama_end(a, b);
}

const struct proto proto_ollama = {
    .name = "ollama",
    .suffix = "/api/chat",
    .type = "application/x-ndjson",
    .type_json = "application/json; charset=utf-8",
    .begin = ollama_begin,
    .think = ollama_think,
    .text = ollama_text,
    .call = ollama_call,
    .finish = ollama_finish,
    .error = ollama_failure,
    .failure = ollama_failure,
    .whole = ollama_whole,
};

/* ---- Any other path: only the bytes -------------------------------------- */

static void raw_nothing(struct answer *a, struct buf *b)
{
    (void)a, (void)b;
}

static void raw_text(struct answer *a, struct buf *b, wend_str text)
{
    (void)a;
    buf_str(b, text);
}

static void raw_call(struct answer *a, struct buf *b, int64_t i, wend_str name,
                     wend_str args)
{
    (void)a, (void)i, (void)name;
    buf_str(b, args);
}

static void raw_failure(struct answer *a, struct buf *b)
{
    buf_fmt(b, "test error %lld\n", (long long)a->plan.status);
}

static void raw_whole(struct answer *a, struct buf *b)
{
    struct buf quoted = {.mem = b->mem};

    answer_put_text(a, &quoted);
    buf_add(b, quoted.ptr + 1, quoted.len - 2);
    buf_free(&quoted);
}

const struct proto proto_raw = {
    .name = "raw",
    .suffix = "",
    .type = "application/octet-stream",
    .type_json = "text/plain",
    .begin = raw_nothing,
    .think = raw_text,
    .text = raw_text,
    .call = raw_call,
    .finish = raw_nothing,
    .error = raw_failure,
    .failure = raw_failure,
    .whole = raw_whole,
};
