/*
 * script.c - models that are scripts, made up from the seed.
 */
#include "script.h"
#include "world.h"

static void put_text(struct sim *s, struct buf *b, const char *key,
                     uint32_t len)
{
    static const char *const words[] = {"so ", "many ", "words\\n", "\xc3\xa9",
                                        "x",   "0123",  "${turn}",  "a b c "};
    size_t end;

    buf_fmt(b, "\"%s\":\"", key);
    end = b->len + len;
    while (b->len < end)
        buf_cstr(b, chance_pick(&s->chance, words));
    buf_cstr(b, "\",");
}

static uint32_t some_length(struct sim *s)
{
    static const uint32_t lengths[] = {1, 5, 12, 30, 60, 60, 150, 700};

    if (s->mood.calm)
        return 20;
    if (chance_of(&s->chance, 30))
        return 3000;
    return chance_pick(&s->chance, lengths);
}

/* ---- Plans ----------------------------------------------------------------
 */
enum { ACTIONS_MAX = 10 };

static void put_waits(struct sim *s, struct buf *b, uint32_t i)
{
    bool any = false;

    for (uint32_t d = 0; d < i; d++)
        if (chance_of(&s->chance, 250)) {
            buf_fmt(b, "%s\"a%u\"", any ? "," : ",\"depends_on\":[", d);
            any = true;
        }
    if (any)
        buf_char(b, ']');
}

/* An action that goes out over the network, or to a server of tools. */
static bool put_far_action(struct sim *s, struct buf *b)
{
    static const char *const ends[] = {"svc.get", "svc.put", "kv.get"};

    if (s->mood.served && chance_of(&s->chance, s->mood.served)) {
        buf_fmt(b, ",\"type\":\"tool\",\"target\":\"srv.m%u\"",
                chance_below(&s->chance, 2));
        return true;
    }
    if (!s->mood.web || !chance_of(&s->chance, s->mood.web))
        return false;
    buf_fmt(b,
            ",\"type\":\"relic\",\"target\":\"%s\",\"params\":{\"key\":\"a\"}",
            chance_pick(&s->chance, ends));
    return true;
}

static void put_action(struct sim *s, struct buf *b, uint32_t i, uint32_t count)
{
    static const char *const modes[] = {"async", "async", "sync",
                                        "fire_and_forget"};
    static const char *const whens[] = {"$on", "not $on"};

    buf_fmt(b, "%s{\"name\":\"a%u\",\"output_key\":\"k%u\"", i ? "," : "", i,
            i);
    if (put_far_action(s, b))
        ;
    else if (chance_of(&s->chance, 200))
        buf_cstr(b, ",\"type\":\"llm\",\"target\":\"default\",\"prompt\":"
                    "\"say it\"");
    else
        buf_fmt(
            b, ",\"type\":\"tool\",\"target\":\"t%u\",\"params\":{\"a\":%u}",
            chance_below(&s->chance, TOOLS - 1), chance_below(&s->chance, 9));
    buf_fmt(b, ",\"mode\":\"%s\"", chance_pick(&s->chance, modes));
    put_waits(s, b, i);
    if (chance_of(&s->chance, 150))
        buf_fmt(b, ",\"when\":\"%s\"", chance_pick(&s->chance, whens));
    if (chance_of(&s->chance, 150))
        buf_cstr(b, ",\"wait_for_all\":false");
    if (chance_of(&s->chance, 100))
        buf_cstr(b, ",\"skip_on_error\":true");
    if (chance_of(&s->chance, 300))
        buf_fmt(b, ",\"retry\":{\"max\":%u,\"delay\":\"5ms\",\"backoff\":2.0}",
                1 + chance_below(&s->chance, 2));
    buf_fmt(b, ",\"timeout\":\"%ums\"", /* the default is five minutes */
            50 + chance_below(&s->chance, 3000));
    if (chance_of(&s->chance, 100) && i + 1 < count)
        buf_fmt(b, ",\"fallback\":\"a%u\"", i + 1);
    buf_char(b, '}');
}

void put_actions(struct sim *s, struct buf *b)
{
    uint32_t count = 1 + chance_below(&s->chance, ACTIONS_MAX);

    buf_cstr(b, "\"actions\":[");
    for (uint32_t i = 0; i < count; i++)
        put_action(s, b, i, count);
    buf_char(b, ']');
}

/* ---- Scripts --------------------------------------------------------------
 */
/* What a model may have besides tools: children and plans. */
static bool put_more(struct sim *s, struct buf *b)
{
    if (chance_of(&s->chance, s->mood.children)) {
        buf_cstr(b, "{\"name\":\"task\",\"args\":{\"agent\":\"kid\","
                    "\"prompt\":\"do it\"}}");
        return true;
    }
    if (s->mood.served && chance_of(&s->chance, s->mood.served)) {
        buf_fmt(b, "{\"name\":\"srv.m%u\",\"args\":{}}",
                chance_below(&s->chance, 2));
        return true;
    }
    if (s->mood.web && chance_of(&s->chance, s->mood.web)) {
        buf_fmt(b,
                "{\"name\":\"http_request\",\"args\":{\"method\":\"%s\","
                "\"url\":\"http://api.test/x\"}}",
                chance_of(&s->chance, 500) ? "POST" : "GET");
        return true;
    }
    if (!chance_of(&s->chance, s->mood.planners))
        return false;
    buf_cstr(b, "{\"name\":\"plan\",\"args\":{");
    put_actions(s, b);
    buf_cstr(b, "}}");
    return true;
}

static void put_calls(struct sim *s, struct buf *b)
{
    uint32_t count = 1 + chance_below(&s->chance, 3);

    buf_cstr(b, "\"calls\":[");
    for (uint32_t i = 0; i < count; i++) {
        uint32_t tool = chance_below(&s->chance, TOOLS);

        buf_cstr(b, i ? "," : "");
        if (put_more(s, b))
            continue;
        buf_fmt(b, "{\"name\":\"t%u\"", s->mood.calm ? 0 : tool);
        if (!s->mood.calm && chance_of(&s->chance, 40))
            buf_cstr(b, ",\"args_text\":\"{\\\"a\"}");
        else
            buf_fmt(b, ",\"args\":{\"a\":%u}}", chance_below(&s->chance, 9));
    }
    buf_cstr(b, "],");
}

/* `fast` for a long text, which would take for ever. */
static void put_pace(struct sim *s, struct buf *b, bool fast)
{
    static const char *const delays[] = {"0s",   "0s",   "1ms",  "3ms",
                                         "20ms", "60ms", "900ms"};
    static const char *const quick[] = {"0s", "0s", "1ms", "3ms"};
    static const char *const codes[] = {"service", "network", "invalid"};

    buf_fmt(b, "\"chunk\":%u,", 1 + chance_below(&s->chance, 6));
    if (s->mood.calm)
        return;
    buf_fmt(b, "\"delay\":\"%s\",",
            fast ? chance_pick(&s->chance, quick)
                 : chance_pick(&s->chance, delays));
    if (chance_of(&s->chance, 300))
        buf_fmt(b, "\"first_delay\":\"%s\",", chance_pick(&s->chance, delays));
    if (chance_of(&s->chance, 120))
        buf_fmt(b, "\"error\":{\"code\":\"%s\",\"after\":%u},",
                chance_pick(&s->chance, codes),
                chance_of(&s->chance, 500) ? 0 : chance_below(&s->chance, 30));
}

static void put_entry(struct sim *s, struct buf *b, bool calls)
{
    size_t began = b->len;

    buf_char(b, '{');
    if (!s->mood.calm && chance_of(&s->chance, 250))
        put_text(s, b, "thinking", some_length(s));
    if (!calls || chance_of(&s->chance, 600))
        put_text(s, b, "text", some_length(s));
    if (calls)
        put_calls(s, b);
    put_pace(s, b, b->len - began > 200);
    buf_fmt(b, "\"usage\":{\"input\":%u,\"output\":2}}",
            chance_below(&s->chance, 50));
}

/* More than the store can take at once, in a few large pieces. */
static void put_flood(struct buf *b)
{
    buf_cstr(b, "{\"delay\":\"1ms\",\"chunk\":16000,\"text\":\"");
    for (int i = 0; i < 4 << 20; i += 64)
        buf_cstr(b, "many words many words many words many words many words "
                    "many wrd");
    buf_cstr(b, "\"}");
}

void put_script(struct sim *s, struct buf *b, bool repairs)
{
    uint32_t turns = s->mood.calm    ? 3
                     : s->mood.flood ? 0
                                     : 1 + chance_below(&s->chance, 4);

    buf_cstr(b, "script:{\"turns\":[");
    for (uint32_t i = 0; i < turns; i++) {
        put_entry(s, b, s->mood.calm || chance_of(&s->chance, 750));
        buf_char(b, ',');
    }
    s->tool_turns = turns;
    if (s->mood.flood)
        put_flood(b);
    else
        put_entry(s, b, false);
    if (repairs) {
        buf_cstr(b, ",{\"purpose\":\"repair\",");
        put_pace(s, b, false);
        buf_fmt(b, "\"text\":\"%s\"}",
                chance_of(&s->chance, 500) ? "{}" : "not at all");
    }
    buf_cstr(b, "]}");
}
