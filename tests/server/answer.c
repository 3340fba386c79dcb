/*
 * answer.c - an answer, piece by piece, with its delays and faults.
 *
 * Piece 0 begins the message; then come thinking, text and calls; the last
 * one ends it, together with the last of the content.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "server.h"

/* ---- What is said -------------------------------------------------------- */

int64_t answer_texts(const struct answer *a)
{
    if (a->plan.say.ptr)
        return a->calls ? 0 : 1;
    if (a->plan.texts >= 0)
        return a->plan.texts;
    return a->calls ? 0 : 5;
}

int64_t answer_usage(const struct answer *a)
{
    return a->plan.thinks + answer_texts(a) + a->calls;
}

/* Delta i is its number, so that a reader can tell what is missing. */
wend_str answer_text(const struct answer *a, int64_t i, char *room)
{
    size_t len = (size_t)a->plan.text_bytes, n = len;

    if (a->plan.say.ptr)
        return a->plan.say;
    if (len > TEXT_BYTES_MAX)
        n = len = TEXT_BYTES_MAX;
    if (n > 1)
        room[--n] = ' ';
    for (; n; i /= 10)
        room[--n] = (char)('0' + i % 10);
    return (wend_str){room, len};
}

static void put_quoted(struct buf *b, wend_str s)
{
    struct buf quoted = {.mem = b->mem};

    json_put_str(&quoted, s);
    buf_add(b, quoted.ptr + 1, quoted.len - 2);
    buf_free(&quoted);
}

void answer_put_text(const struct answer *a, struct buf *b)
{
    char *room = malloc(TEXT_BYTES_MAX);

    buf_char(b, '"');
    for (int64_t i = 0; i < answer_texts(a); i++)
        put_quoted(b, answer_text(a, i, room));
    buf_char(b, '"');
    free(room);
}

wend_str answer_call(const struct answer *a, int64_t i, struct buf *args)
{
    if (a->plan.call_name.ptr) {
        buf_str(args, a->plan.call_args);
        return a->plan.call_name;
    }
    buf_fmt(args, "{\"turn\":%lld,\"i\":%lld}", (long long)a->turn,
            (long long)i);
    return STR("noop");
}

const char *answer_error_type(const struct answer *a)
{
    static const struct {
        int status;
        const char *type;
    } types[] = {
        {400, "invalid_request_error"}, {401, "authentication_error"},
        {403, "permission_error"},      {404, "not_found_error"},
        {413, "request_too_large"},     {429, "rate_limit_error"},
        {529, "overloaded_error"},
    };

    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].status == a->plan.status)
            return types[i].type;
    return "api_error";
}

/* ---- Pieces -------------------------------------------------------------- */

static void put_content(struct answer *a, struct buf *b, int64_t i)
{
    static char room[TEXT_BYTES_MAX];
    int64_t texts = answer_texts(a);
    struct buf args = {.mem = b->mem};
    wend_str name;

    if (i < a->plan.thinks) {
        a->proto->think(a, b, answer_text(a, i, room));
        return;
    }
    i -= a->plan.thinks;
    if (i < texts) {
        a->proto->text(a, b, answer_text(a, i, room));
        return;
    }
    i -= texts;
    name = answer_call(a, i, &args);
    a->proto->call(a, b, i, name, buf_view(&args));
    buf_free(&args);
}

static void put_piece(struct answer *a, struct buf *b)
{
    int64_t i = a->piece++;

    if (i == a->plan.error_at) {
        a->proto->error(a, b);
        a->piece = a->pieces;
    } else if (i == 0) {
        a->proto->begin(a, b);
    } else if (i == a->pieces - 1) {
        if (!a->plan.nofinish)
            a->proto->finish(a, b);
    } else {
        put_content(a, b, i - 1);
    }
}

/* The first of the content comes with the beginning, the end with its last.
 */
static int64_t piece_due_us(const struct answer *a)
{
    int64_t i = a->piece - 1, last = a->pieces - 3;

    if (i > last)
        i = last;
    return a->start_us + (i > 0 ? i * a->plan.delay_us : 0);
}

static void put_file(struct buf *b, wend_str path)
{
    FILE *f = fopen(path.ptr, "rb");
    char block[4096];
    size_t n;

    while (f && (n = fread(block, 1, sizeof block, f)))
        buf_add(b, block, n);
    if (f)
        fclose(f);
}

static void put_whole(struct answer *a, const struct request *q)
{
    switch (a->plan.kind) {
    case PLAN_TALK:
        if (a->json)
            a->proto->whole(a, &a->held);
        else
            while (a->piece < a->pieces)
                put_piece(a, &a->held);
        break;
    case PLAN_STATUS: a->proto->failure(a, &a->held); break;
    case PLAN_BYTES: buf_str(&a->held, a->plan.say); break;
    case PLAN_FILE: put_file(&a->held, a->plan.file); break;
    case PLAN_ECHO:
        buf_str(&a->held, q->head);
        buf_str(&a->held, q->body);
        break;
    }
    a->piece = a->pieces;
}

/* As a model that does not take a field. */
static void refuse_field(struct answer *a, const struct request *q)
{
    struct buf b = {.mem = a->arena.mem};
    wend_str field = a->plan.refuse;
    bool has;

    buf_fmt(&b, "\"%.*s\":", (int)field.len, field.ptr);
    has = str_has(q->body, buf_view(&b));
    buf_clear(&b);
    if (has) {
        buf_fmt(&b,
                "{\"error\":{\"message\":\"Unsupported parameter: '%.*s' is "
                "not supported with this model.\",\"param\":\"%.*s\","
                "\"code\":\"unsupported_parameter\"}}",
                (int)field.len, field.ptr, (int)field.len, field.ptr);
        a->plan.kind = PLAN_BYTES;
        a->plan.status = 400;
        a->plan.type = STR("application/json");
        a->plan.say = arena_str(&a->arena, buf_view(&b));
    }
    buf_free(&b);
}

void answer_begin(struct answer *a, const struct request *q, uint64_t nth,
                  int64_t now_us)
{
    const struct mem *mem = a->held.mem;
    struct arena arena = a->arena;
    struct buf held = a->held;
    wend_str wrong = STR("");

    buf_clear(&held);
    *a = (struct answer){.proto = q->proto, .arena = arena, .held = held};
    if (!plan_read(q->scenario, nth, &a->arena, &a->plan, &wrong)) {
        a->plan = plan_default;
        if (!q->modelled) {
            a->plan.kind = PLAN_BYTES;
            a->plan.status = 400;
            a->plan.say = wrong;
        }
    }
    if (a->plan.refuse.ptr)
        refuse_field(a, q);
    held.mem = mem;
    a->array = q->array;
    a->json = a->plan.json || !q->stream;
    if (a->plan.calls) {
        a->turn = q->results / a->plan.calls;
        a->calls = a->turn < a->plan.turns ? a->plan.calls : 0;
    }
    a->pieces = 2 + answer_usage(a);
    a->start_us = now_us + a->plan.head_us + a->plan.first_us;
    a->whole = a->plan.kind != PLAN_TALK || a->json || a->plan.length;
    if (a->whole)
        put_whole(a, q);
}

/* ---- Bytes --------------------------------------------------------------- */

static wend_str type_of(const struct answer *a)
{
    if (a->plan.type.ptr)
        return a->plan.type;
    if (a->plan.kind == PLAN_STATUS || a->json)
        return str_of(a->proto->type_json);
    return a->array ? STR("application/json") : str_of(a->proto->type);
}

static void put_head(struct answer *a, struct buf *out)
{
    wend_str type = type_of(a);

    buf_fmt(out,
            "HTTP/1.1 %lld Status\r\nContent-Type: %.*s\r\n"
            "X-Request-Id: req_test\r\n",
            (long long)a->plan.status, (int)type.len, type.ptr);
    if (a->plan.encoding.ptr)
        buf_fmt(out, "Content-Encoding: %.*s\r\n", (int)a->plan.encoding.len,
                a->plan.encoding.ptr);
    if (a->plan.headers.ptr)
        buf_str(out, a->plan.headers);
    if (a->plan.clock) {
        char date[40];
        time_t at = (time_t)a->plan.clock;

        strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", gmtime(&at));
        buf_fmt(out, "Date: %s\r\n", date);
    }
    if (a->plan.padding)
        buf_fmt(out, "X-Padding: %0*d\r\n", (int)a->plan.padding, 0);
    if (a->plan.eof || a->plan.shut)
        buf_cstr(out, "Connection: close\r\n");
    if (!a->plan.eof && a->whole)
        buf_fmt(out, "Content-Length: %zu\r\n", a->held.len);
    else if (!a->plan.eof)
        buf_cstr(out, "Transfer-Encoding: chunked\r\n");
    buf_cstr(out, "\r\n");
    a->head_done = true;
}

static enum answer_next fault_of(const struct answer *a)
{
    switch (a->plan.fault) {
    case FAULT_NONE: return ANSWER_MORE;
    case FAULT_RESET: return ANSWER_RESET;
    case FAULT_CUT: return ANSWER_CLOSE;
    case FAULT_HANG: return ANSWER_HANG;
    }
    return ANSWER_MORE;
}

/* What is held, framed, up to a chunk or to the fault. */
static enum answer_next put_held(struct answer *a, struct buf *out,
                                 int64_t now_us)
{
    const char *p = a->held.ptr + a->held_at;
    size_t len = a->held.len - a->held_at;
    bool fault;

    if (a->plan.chunk && len > (size_t)a->plan.chunk)
        len = (size_t)a->plan.chunk;
    fault = a->plan.fault != FAULT_NONE &&
            a->body_bytes + (int64_t)len >= a->plan.fault_at;
    if (fault)
        len = (size_t)(a->plan.fault_at - a->body_bytes);
    if (a->whole || a->plan.eof) {
        buf_add(out, p, len);
    } else if (len) {
        char line[24];

        buf_add(out, line, (size_t)snprintf(line, sizeof line, "%zx\r\n", len));
        buf_add(out, p, len);
        buf_add(out, "\r\n", 2);
    }
    a->held_at += len;
    a->body_bytes += (int64_t)len;
    a->slow_until_us = now_us + a->plan.slow_us;
    return fault ? fault_of(a) : ANSWER_MORE;
}

enum answer_next answer_more(struct answer *a, struct buf *out, int64_t now_us,
                             int64_t *due_us)
{
    if (!a->head_done) {
        *due_us = a->start_us - a->plan.first_us;
        if (now_us < *due_us)
            return ANSWER_WAIT;
        if (a->plan.silent)
            return ANSWER_HANG;
        put_head(a, out);
        return ANSWER_MORE;
    }
    *due_us = a->slow_until_us;
    if (a->held_at == a->held.len && a->piece < a->pieces)
        *due_us = piece_due_us(a);
    if (*due_us < a->start_us)
        *due_us = a->start_us;
    if (now_us < *due_us)
        return ANSWER_WAIT;
    if (a->held_at == a->held.len && a->piece < a->pieces) {
        buf_clear(&a->held);
        a->held_at = 0;
        put_piece(a, &a->held);
    }
    if (a->held_at < a->held.len)
        return put_held(a, out, now_us);
    if (a->piece < a->pieces)
        return ANSWER_MORE;
    if (!a->whole && !a->plan.eof)
        buf_cstr(out, "0\r\n\r\n");
    return ANSWER_DONE;
}

void answer_free(struct answer *a)
{
    arena_free(&a->arena);
    buf_free(&a->held);
}
