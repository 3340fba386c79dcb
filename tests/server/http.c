/*
 * http.c - requests in: the head, the scenario, what the body asks for.
 *
 * Bodies are not parsed, only searched: a quote inside of a JSON string is
 * never bare, so that `"model"` with both quotes is a key or a value.
 */
#include <stdlib.h>
#include <strings.h>

#include "server.h"

wend_str request_header(const struct request *q, const char *name)
{
    const char *p = q->head.ptr, *end = p + q->head.len;
    size_t len = strlen(name);

    while ((p = memchr(p, '\n', (size_t)(end - p)))) {
        p++;
        if ((size_t)(end - p) > len && p[len] == ':' &&
            !strncasecmp(p, name, len)) {
            const char *stop = memchr(p, '\r', (size_t)(end - p));

            for (p += len + 1; *p == ' '; p++)
                ;
            return (wend_str){p, (size_t)(stop - p)};
        }
    }
    return STR_NONE;
}

/* ---- Bodies -------------------------------------------------------------- */

/* The first byte of the value after the next `"key":`, or NULL. */
static const char *value_of(const char *p, const char *end, const char *key)
{
    size_t len = strlen(key);

    while ((p = memmem(p, (size_t)(end - p), key, len))) {
        p += len;
        while (p < end && *p == ' ')
            p++;
        if (p < end && *p == ':') {
            for (p++; p < end && *p == ' '; p++)
                ;
            return p < end ? p : NULL;
        }
    }
    return NULL;
}

/* The first string under that key, still with its escapes. */
static wend_str text_of(wend_str body, const char *key)
{
    const char *p = body.ptr, *end = p + body.len, *stop;

    while (p && (p = value_of(p, end, key)))
        if (*p == '"' && (stop = memchr(p + 1, '"', (size_t)(end - p - 1))))
            return (wend_str){p + 1, (size_t)(stop - p - 1)};
    return STR_NONE;
}

static int64_t count_values(wend_str body, const char *key, const char *value)
{
    const char *p = body.ptr, *end = p + body.len;
    size_t len = strlen(value);
    int64_t n = 0;

    while (p && (p = value_of(p, end, key)))
        if ((size_t)(end - p) >= len && !memcmp(p, value, len))
            n++;
    return n;
}

/* How each protocol hands results of tools back. */
static int64_t count_results(const struct proto *proto, wend_str body)
{
    if (!body.len)
        return 0;
    if (proto == &proto_chat || proto == &proto_ollama)
        return count_values(body, "\"role\"", "\"tool\"");
    if (proto == &proto_messages)
        return count_values(body, "\"type\"", "\"tool_result\"");
    if (proto == &proto_responses)
        return count_values(body, "\"type\"", "\"function_call_output\"");
    if (proto == &proto_gemini)
        return count_values(body, "\"functionResponse\"", "");
    return 0;
}

/* ---- Targets ------------------------------------------------------------- */

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static wend_str decoded(wend_str s, struct arena *a)
{
    char *out = arena_chars(a, s.len);
    size_t n = 0;

    for (size_t i = 0; i < s.len; i++) {
        int high = s.ptr[i] == '%' && i + 2 < s.len ? hex(s.ptr[i + 1]) : -1;
        int low = high >= 0 ? hex(s.ptr[i + 2]) : -1;

        if (low >= 0) {
            out[n++] = (char)(high * 16 + low);
            i += 2;
        } else {
            out[n++] = s.ptr[i];
        }
    }
    out[n] = 0;
    return (wend_str){out, n};
}

static bool ends(wend_str s, const char *suffix)
{
    size_t len = strlen(suffix);

    return s.len >= len && !memcmp(s.ptr + s.len - len, suffix, len);
}

static const struct proto *proto_of(wend_str path)
{
    static const struct proto *const all[] = {&proto_chat, &proto_responses,
                                              &proto_messages, &proto_ollama};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (ends(path, all[i]->suffix))
            return all[i];
    if (ends(path, ":streamGenerateContent") || ends(path, ":generateContent"))
        return &proto_gemini;
    return &proto_raw;
}

/* `.../models/NAME:streamGenerateContent` */
static wend_str gemini_model(wend_str path)
{
    const char *p = memmem(path.ptr, path.len, "/models/", 8);
    const char *end = memrchr(path.ptr, ':', path.len);

    if (!p || !end || end < p + 8)
        return STR_NONE;
    return (wend_str){p + 8, (size_t)(end - p - 8)};
}

/* `/=SCENARIO/path?query` or `/path?query` */
static void read_target(struct request *q, struct arena *a)
{
    wend_str t = q->target;
    const char *slash, *query = memchr(t.ptr, '?', t.len);
    wend_str args = STR("");

    if (query) {
        args = (wend_str){query, (size_t)(t.ptr + t.len - query)};
        t.len = (size_t)(query - t.ptr);
    }
    if (str_starts(t, "/=")) {
        slash = memchr(t.ptr + 2, '/', t.len - 2);
        if (!slash)
            slash = t.ptr + t.len;
        q->scenario =
            decoded((wend_str){t.ptr + 2, (size_t)(slash - t.ptr - 2)}, a);
        t = (wend_str){slash, (size_t)(t.ptr + t.len - slash)};
    }
    q->path = decoded(t, a);
    q->proto = proto_of(q->path);
    q->array =
        q->proto == &proto_gemini && !memmem(args.ptr, args.len, "alt=sse", 7);
}

/* What a proxy is asked for. */
static bool is_proxied(const char *line, const char *target)
{
    return !strncmp(line, "CONNECT ", 8) || !strncmp(target, "http://", 7);
}

/* statusN.test:443 or http://statusN.test/; another host is a mistake. */
static wend_str proxy_scenario(wend_str target, struct arena *a)
{
    const char *named = memmem(target.ptr, target.len, "status", 6);
    char text[] = "status:400";

    if (named && target.len - (size_t)(named - target.ptr) > 9)
        memcpy(text + 7, named + 6, 3);
    return arena_str(a, str_of(text));
}

/* The head names it, or the target, or the model does. */
static void find_scenario(struct request *q, struct arena *a)
{
    wend_str named = request_header(q, "x-test");

    if (is_proxied(q->head.ptr, q->target.ptr))
        named = proxy_scenario(q->target, a);
    if (named.ptr)
        q->scenario = named;
    q->modelled = !q->scenario.ptr;
    if (q->modelled && q->proto == &proto_gemini)
        q->scenario = gemini_model(q->path);
    else if (q->modelled && q->body.len)
        q->scenario = text_of(q->body, "\"model\"");
    q->scenario = arena_str(a, q->scenario.ptr ? q->scenario : STR(""));
}

static bool wants_stream(const struct request *q)
{
    const char *v =
        q->body.len
            ? value_of(q->body.ptr, q->body.ptr + q->body.len, "\"stream\"")
            : NULL;

    if (q->proto == &proto_gemini)
        return !ends(q->path, ":generateContent");
    if (q->proto == &proto_ollama)
        return !v || *v != 'f';
    return q->proto == &proto_raw || (v && *v == 't');
}

int64_t request_read(wend_str in, struct arena *a, struct request *q)
{
    const char *blank = in.len ? memmem(in.ptr, in.len, "\r\n\r\n", 4) : NULL;
    const char *space, *line;
    wend_str length, connection;
    size_t body = 0;

    if (!blank)
        return 0;
    q->head = (wend_str){in.ptr, (size_t)(blank + 4 - in.ptr)};
    line = memchr(in.ptr, '\r', q->head.len);
    space = memchr(in.ptr, ' ', (size_t)(line - in.ptr));
    if (!space || (space[1] != '/' && !is_proxied(in.ptr, space + 1)))
        return -1;
    q->method = (wend_str){in.ptr, (size_t)(space - in.ptr)};
    q->target = (wend_str){
        space + 1, strcspn(space + 1, " \r\n")}; /* a CR always follows */
    length = request_header(q, "content-length");
    if (length.ptr)
        body = strtoul(length.ptr, NULL, 10);
    if (in.len - q->head.len < body)
        return 0;
    q->body = (wend_str){blank + 4, body};
    connection = request_header(q, "connection");
    q->keep = !connection.ptr || strncasecmp(connection.ptr, "close", 5) != 0;
    read_target(q, a);
    find_scenario(q, a);
    q->stream = wants_stream(q);
    q->results = count_results(q->proto, q->body);
    return (int64_t)(q->head.len + body);
}
