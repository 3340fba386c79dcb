/*
 * served.c - a server of tools (MCP) that is a program which only acts as
 * if: it answers late, twice, never, with nonsense, or dies over it.
 *
 * While an agent is made it behaves; after that the seed decides. Whatever it
 * is called for must be on record.
 */
#include <signal.h>

#include "net.h"
#include "record.h"
#include "served.h"
#include "sim.h"

/* ---- Saying -------------------------------------------------------------- */

static void on_said(struct world_event *e)
{
    struct said *l =
        (struct said *)(void *)((char *)e - offsetof(struct said, event));
    struct act *a = l->of;
    size_t len = l->text.len, part;

    part = 1 + chance_below(&a->stage->sim->chance, (uint32_t)len);
    if (l->dies)
        len = part;
    a->inside = true;
    a->events.out(a->ctx, 1, l->text.ptr, part);
    if (!a->freed && part < len)
        a->events.out(a->ctx, 1, l->text.ptr + part, len - part);
    a->inside = false;
    if (a->freed) {
        act_gone(a);
        return;
    }
    if (l->dies && !a->ended)
        tell_exit(a, PROC_SIGNALED, SIGSEGV, "s: ended by signal 11");
    else
        said_free(l);
}

/* A line of its own, after so long. */
static struct said *say_later(struct act *a, int64_t ms)
{
    struct world *w = &a->stage->sim->world;
    struct said *l = calloc(1, sizeof *l);

    if (!l)
        abort();
    l->of = a;
    l->text.mem = &libc_mem;
    l->event.fire = on_said;
    l->next = a->said_later;
    a->said_later = l;
    world_at(w, &l->event, w->clock_us + ms * 1000);
    return l;
}

static struct said *say_result(struct act *a, const struct json *id, int64_t ms,
                               const char *result)
{
    struct said *l = say_later(a, ms);

    buf_cstr(&l->text, "{\"jsonrpc\":\"2.0\",\"id\":");
    json_put(&l->text, id);
    buf_fmt(&l->text, ",%s}\n", result);
    return l;
}

/* ---- Hearing ------------------------------------------------------------- */

static const char served_done[] =
    "\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"done\"}]}";

static void serve_badly(struct act *a, const struct json *id,
                        enum served_fault fault, int64_t ms)
{
    switch (fault) {
    case SERVED_GOOD:
    case SERVED_FAULTS:
    case SERVED_NEVER: break;
    case SERVED_LATE: say_result(a, id, ms + 2000, served_done); break;
    case SERVED_TWICE:
        say_result(a, id, ms, served_done);
        say_result(a, id, ms + 10, served_done);
        break;
    case SERVED_OTHER:
        buf_cstr(&say_later(a, ms)->text,
                 "{\"jsonrpc\":\"2.0\",\"id\":99999,\"result\":{}}\n");
        break;
    case SERVED_NONSENSE:
        buf_cstr(&say_later(a, ms)->text, "Traceback (most recent: {]\n");
        say_result(a, id, ms + 5, served_done);
        break;
    case SERVED_ERROR:
        say_result(a, id, ms, "\"error\":{\"code\":-32000,\"message\":\"no\"}");
        break;
    case SERVED_PROGRESS:
        buf_fmt(&say_later(a, ms)->text,
                "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\","
                "\"params\":{\"progressToken\":%.*s,\"progress\":1,"
                "\"message\":\"half\"}}\n",
                (int)id->text.len, id->text.ptr);
        say_result(a, id, ms + 5, served_done);
        break;
    case SERVED_DIES: say_result(a, id, ms, served_done)->dies = true; break;
    }
}

static void serve_call(struct act *a, const struct json *q)
{
    struct sim *s = a->stage->sim;
    const struct json *id = json_get(q, "id");
    const struct json *meta = json_get(json_get(q, "params"), "_meta");
    int64_t ms = chance_below(&s->chance, 300);
    enum served_fault fault = SERVED_GOOD;

    check_call(s, json_str(json_get(meta, "idempotencyKey")));
    if (s->head.bug && s->head.bug->serve_again)
        check_call(s, json_str(json_get(meta, "idempotencyKey")));
    if (!s->draining && chance_of(&s->chance, s->mood.served_fault))
        fault = 1 + chance_below(&s->chance, SERVED_FAULTS - 1);
    s->head.counters->served[fault]++;
    trace(s, "a server is called, fault %d", (int)fault);
    if (fault == SERVED_GOOD)
        say_result(a, id, ms, served_done);
    else
        serve_badly(a, id, fault, ms);
}

static void serve(struct act *a, const struct json *q)
{
    static const struct {
        const char *method, *result;
    } rows[] = {
        {"server/discover",
         "\"error\":{\"code\":-32601,\"message\":\"what?\"}"},
        {"initialize",
         "\"result\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{"
         "\"tools\":{}},\"serverInfo\":{\"name\":\"s\",\"version\":\"1\"}}"},
        {"tools/list",
         "\"result\":{\"tools\":[{\"name\":\"m0\",\"inputSchema\":{\"type\":"
         "\"object\"}},{\"name\":\"m1\",\"inputSchema\":{\"type\":\"object\"},"
         "\"annotations\":{\"readOnlyHint\":true}}]}"},
    };
    wend_str method = json_str(json_get(q, "method"));

    if (str_is(method, "tools/call"))
        serve_call(a, q);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (str_is(method, rows[i].method))
            say_result(a, json_get(q, "id"),
                       chance_below(&a->stage->sim->chance, 20),
                       rows[i].result);
}

/* Requests come as lines, notifications are not answered. */
void served_hears(struct act *a, const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        struct arena room = {.mem = &libc_mem};
        const struct json *q;

        if (bytes[i] != '\n') {
            buf_char(&a->heard, bytes[i]);
            continue;
        }
        q = json_parse(buf_view(&a->heard), &room, NULL);
        if (!q)
            broken(a->stage->sim, LAW_REQUEST, "a server gets no JSON");
        else
            serve(a, q);
        buf_clear(&a->heard);
        arena_free(&room);
    }
}
