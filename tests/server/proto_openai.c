/*
 * proto_openai.c - Chat Completions and Responses, as OpenAI streams them.
 */
#include "base/json.h"
#include "server.h"

#define CHUNK                                                     \
    "data: {\"id\":\"chatcmpl-1\",\"object\":"                    \
    "\"chat.completion.chunk\",\"created\":1,\"model\":\"test\"," \
    "\"choices\":["
#define CHUNK_END "]}\n\n"

/* Arguments in two pieces, as a model would write them. */
static void halves(wend_str s, wend_str out[2])
{
    size_t half = s.len / 2;

    out[0] = (wend_str){s.ptr, half};
    out[1] = (wend_str){s.ptr + half, s.len - half};
}

static void put_error(struct answer *a, struct buf *b)
{
    buf_fmt(b,
            "{\"error\":{\"message\":\"test error %lld\",\"type\":\"%s\","
            "\"param\":null,\"code\":",
            (long long)a->plan.status, answer_error_type(a));
    if (a->plan.code.ptr)
        json_put_str(b, a->plan.code);
    else
        buf_cstr(b, "null");
    buf_cstr(b, "}}");
}

/* ---- Chat Completions ---------------------------------------------------- */

static void chat_begin(struct answer *a, struct buf *b)
{
    (void)a;
    buf_cstr(b, CHUNK "{\"index\":0,\"delta\":{\"role\":\"assistant\","
                      "\"content\":\"\"},\"finish_reason\":null}" CHUNK_END);
}

static void chat_delta(struct buf *b, const char *key, wend_str text)
{
    buf_cstr(b, CHUNK "{\"index\":0,\"delta\":{\"");
    buf_cstr(b, key);
    buf_cstr(b, "\":");
    json_put_str(b, text);
    buf_cstr(b, "},\"finish_reason\":null}" CHUNK_END);
}

static void chat_think(struct answer *a, struct buf *b, wend_str text)
{
    (void)a;
    chat_delta(b, "reasoning_content", text);
}

static void chat_text(struct answer *a, struct buf *b, wend_str text)
{
    (void)a;
    chat_delta(b, "content", text);
}

static void chat_call(struct answer *a, struct buf *b, int64_t i, wend_str name,
                      wend_str args)
{
    wend_str parts[2];

    halves(args, parts);
    buf_fmt(b,
            CHUNK "{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":%lld,"
                  "\"id\":\"call_%lld_%lld\",\"type\":\"function\","
                  "\"function\":{\"name\":",
            (long long)i, (long long)a->turn, (long long)i);
    json_put_str(b, name);
    buf_cstr(b, ",\"arguments\":\"\"}}]},\"finish_reason\":null}" CHUNK_END);
    for (size_t k = 0; k < 2; k++) {
        buf_fmt(b,
                CHUNK "{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":"
                      "%lld,\"function\":{\"arguments\":",
                (long long)i);
        json_put_str(b, parts[k]);
        buf_cstr(b, "}}]},\"finish_reason\":null}" CHUNK_END);
    }
}

static void put_chat_usage(struct answer *a, struct buf *b)
{
    buf_fmt(b,
            "\"usage\":{\"prompt_tokens\":%d,\"completion_tokens\":%lld,"
            "\"total_tokens\":%lld}",
            USAGE_INPUT, (long long)answer_usage(a),
            (long long)(USAGE_INPUT + answer_usage(a)));
}

static void chat_finish(struct answer *a, struct buf *b)
{
    buf_fmt(b,
            CHUNK
            "{\"index\":0,\"delta\":{},\"finish_reason\":\"%s\"}" CHUNK_END,
            a->calls ? "tool_calls" : "stop");
    buf_cstr(b, CHUNK "],");
    put_chat_usage(a, b);
    buf_cstr(b, "}\n\ndata: [DONE]\n\n");
}

static void chat_error(struct answer *a, struct buf *b)
{
    buf_cstr(b, "data: ");
    put_error(a, b);
    buf_cstr(b, "\n\n");
}

static void chat_whole(struct answer *a, struct buf *b)
{
    buf_cstr(b, "{\"id\":\"chatcmpl-1\",\"object\":\"chat.completion\","
                "\"created\":1,\"model\":\"test\",\"choices\":[{\"index\":0,"
                "\"message\":{\"role\":\"assistant\",\"content\":");
    answer_put_text(a, b);
    for (int64_t i = 0; i < a->calls; i++) {
        struct buf args = {.mem = b->mem};
        wend_str name = answer_call(a, i, &args);

        buf_fmt(b,
                "%s{\"id\":\"call_%lld_%lld\",\"type\":\"function\","
                "\"function\":{\"name\":",
                i ? "," : ",\"tool_calls\":[", (long long)a->turn,
                (long long)i);
        json_put_str(b, name);
        buf_cstr(b, ",\"arguments\":");
        json_put_str(b, buf_view(&args));
        buf_cstr(b, i + 1 < a->calls ? "}}" : "}}]");
        buf_free(&args);
    }
    buf_fmt(b, "},\"finish_reason\":\"%s\"}],",
            a->calls ? "tool_calls" : "stop");
    put_chat_usage(a, b);
    buf_cstr(b, "}\n");
}

const struct proto proto_chat = {
    .name = "chat",
    .suffix = "/chat/completions",
    .type = "text/event-stream; charset=utf-8",
    .type_json = "application/json",
    .begin = chat_begin,
    .think = chat_think,
    .text = chat_text,
    .call = chat_call,
    .finish = chat_finish,
    .error = chat_error,
    .failure = put_error,
    .whole = chat_whole,
};

/* ---- Responses ----------------------------------------------------------- */

static void event(struct answer *a, struct buf *b, const char *type)
{
    buf_fmt(b, "event: %s\ndata: {\"type\":\"%s\",\"sequence_number\":%lld",
            type, type, (long long)a->sequence++);
}

static void put_reasoning(struct answer *a, struct buf *b, bool done)
{
    buf_cstr(b, "{\"id\":\"rs_1\",\"type\":\"reasoning\",\"summary\":[");
    if (done)
        buf_fmt(b, "{\"type\":\"summary_text\",\"text\":\"%lld thoughts\"}",
                (long long)a->plan.thinks);
    buf_cstr(b, "],\"encrypted_content\":\"c2VhbGVk\"}");
}

static void put_message(struct answer *a, struct buf *b, bool done)
{
    buf_fmt(b,
            "{\"id\":\"msg_1\",\"type\":\"message\",\"status\":\"%s\","
            "\"role\":\"assistant\",\"content\":[",
            done ? "completed" : "in_progress");
    if (done) {
        buf_cstr(b, "{\"type\":\"output_text\",\"annotations\":[],\"text\":");
        answer_put_text(a, b);
        buf_char(b, '}');
    }
    buf_cstr(b, "]}");
}

static void put_call_item(struct answer *a, struct buf *b, int64_t i,
                          wend_str name, wend_str args, const char *status)
{
    buf_fmt(b,
            "{\"id\":\"fc_%lld\",\"type\":\"function_call\",\"status\":"
            "\"%s\",\"call_id\":\"call_%lld_%lld\",\"name\":",
            (long long)i, status, (long long)a->turn, (long long)i);
    json_put_str(b, name);
    buf_cstr(b, ",\"arguments\":");
    json_put_str(b, args);
    buf_char(b, '}');
}

static void item_event(struct answer *a, struct buf *b, bool done)
{
    event(a, b,
          done ? "response.output_item.done" : "response.output_item.added");
    buf_fmt(b, ",\"output_index\":%lld,\"item\":", (long long)a->block_index);
    if (a->block == BLOCK_THINK)
        put_reasoning(a, b, done);
    else
        put_message(a, b, done);
    buf_cstr(b, "}\n\n");
}

/* What stands around the text inside of its item. */
static void part_event(struct answer *a, struct buf *b, const char *type,
                       bool done)
{
    event(a, b, type);
    buf_fmt(b,
            ",\"item_id\":\"msg_1\",\"output_index\":%lld,"
            "\"content_index\":0,\"part\":{\"type\":\"output_text\","
            "\"annotations\":[],\"text\":",
            (long long)a->block_index);
    if (done)
        answer_put_text(a, b);
    else
        buf_cstr(b, "\"\"");
    buf_cstr(b, "}}\n\n");
}

static void responses_block(struct answer *a, struct buf *b, enum block want)
{
    if (a->block == want)
        return;
    if (a->block == BLOCK_TEXT)
        part_event(a, b, "response.content_part.done", true);
    if (a->block != BLOCK_NONE) {
        item_event(a, b, true);
        a->block_index++;
    }
    a->block = want;
    if (want != BLOCK_NONE)
        item_event(a, b, false);
    if (want == BLOCK_TEXT)
        part_event(a, b, "response.content_part.added", false);
}

static void responses_begin(struct answer *a, struct buf *b)
{
    static const char *const types[] = {"response.created",
                                        "response.in_progress"};

    for (size_t i = 0; i < 2; i++) {
        event(a, b, types[i]);
        buf_cstr(b, ",\"response\":{\"id\":\"resp_1\",\"object\":\"response\","
                    "\"status\":\"in_progress\",\"model\":\"test\","
                    "\"output\":[]}}\n\n");
    }
}

static void responses_think(struct answer *a, struct buf *b, wend_str text)
{
    responses_block(a, b, BLOCK_THINK);
    event(a, b, "response.reasoning_summary_text.delta");
    buf_fmt(b,
            ",\"item_id\":\"rs_1\",\"output_index\":%lld,"
            "\"summary_index\":0,\"delta\":",
            (long long)a->block_index);
    json_put_str(b, text);
    buf_cstr(b, "}\n\n");
}

static void responses_text(struct answer *a, struct buf *b, wend_str text)
{
    responses_block(a, b, BLOCK_TEXT);
    event(a, b, "response.output_text.delta");
    buf_fmt(b,
            ",\"item_id\":\"msg_1\",\"output_index\":%lld,"
            "\"content_index\":0,\"delta\":",
            (long long)a->block_index);
    json_put_str(b, text);
    buf_cstr(b, "}\n\n");
}

static void responses_call(struct answer *a, struct buf *b, int64_t i,
                           wend_str name, wend_str args)
{
    wend_str parts[2];

    responses_block(a, b, BLOCK_NONE);
    event(a, b, "response.output_item.added");
    buf_fmt(b, ",\"output_index\":%lld,\"item\":", (long long)a->block_index);
    put_call_item(a, b, i, name, STR(""), "in_progress");
    buf_cstr(b, "}\n\n");
    halves(args, parts);
    for (size_t k = 0; k < 2; k++) {
        event(a, b, "response.function_call_arguments.delta");
        buf_fmt(b, ",\"item_id\":\"fc_%lld\",\"output_index\":%lld,\"delta\":",
                (long long)i, (long long)a->block_index);
        json_put_str(b, parts[k]);
        buf_cstr(b, "}\n\n");
    }
    event(a, b, "response.function_call_arguments.done");
    buf_fmt(b, ",\"item_id\":\"fc_%lld\",\"output_index\":%lld,\"arguments\":",
            (long long)i, (long long)a->block_index);
    json_put_str(b, args);
    buf_cstr(b, "}\n\n");
    event(a, b, "response.output_item.done");
    buf_fmt(b, ",\"output_index\":%lld,\"item\":", (long long)a->block_index++);
    put_call_item(a, b, i, name, args, "completed");
    buf_cstr(b, "}\n\n");
}

static void put_response(struct answer *a, struct buf *b)
{
    const char *comma = "";

    buf_cstr(b, "{\"id\":\"resp_1\",\"object\":\"response\",\"status\":"
                "\"completed\",\"model\":\"test\",\"output\":[");
    if (a->plan.thinks) {
        put_reasoning(a, b, true);
        comma = ",";
    }
    if (answer_texts(a)) {
        buf_cstr(b, comma);
        put_message(a, b, true);
        comma = ",";
    }
    for (int64_t i = 0; i < a->calls; i++) {
        struct buf args = {.mem = b->mem};
        wend_str name = answer_call(a, i, &args);

        buf_cstr(b, comma);
        put_call_item(a, b, i, name, buf_view(&args), "completed");
        buf_free(&args);
        comma = ",";
    }
    buf_fmt(b,
            "],\"usage\":{\"input_tokens\":%d,\"input_tokens_details\":"
            "{\"cached_tokens\":0},\"output_tokens\":%lld,"
            "\"output_tokens_details\":{\"reasoning_tokens\":%lld},"
            "\"total_tokens\":%lld}}",
            USAGE_INPUT, (long long)answer_usage(a), (long long)a->plan.thinks,
            (long long)(USAGE_INPUT + answer_usage(a)));
}

static void responses_finish(struct answer *a, struct buf *b)
{
    responses_block(a, b, BLOCK_NONE);
    event(a, b, "response.completed");
    buf_cstr(b, ",\"response\":");
    put_response(a, b);
    buf_cstr(b, "}\n\n");
}

static void responses_error(struct answer *a, struct buf *b)
{
    event(a, b, "error");
    buf_cstr(b, ",\"code\":\"server_error\",\"message\":\"test error\","
                "\"param\":null}\n\n");
}

const struct proto proto_responses = {
    .name = "responses",
    .suffix = "/responses",
    .type = "text/event-stream; charset=utf-8",
    .type_json = "application/json",
    .begin = responses_begin,
    .think = responses_think,
    .text = responses_text,
    .call = responses_call,
    .finish = responses_finish,
    .error = responses_error,
    .failure = put_error,
    .whole = put_response,
};
