/*
 * agent.c - random agents and moods: what a simulated run starts with.
 */
#include "base/id.h"
#include "agent.h"

static const char *const schemas[] = {
    "",
    "",
    "",
    ",\"schema\":{\"type\":\"object\"}",
    ",\"schema\":{\"type\":\"object\",\"properties\":{\"n\":{\"type\":"
    "\"integer\"}},\"required\":[\"n\"]}",
    ",\"schema\":{\"type\":\"object\",\"properties\":{\"path\":{\"type\":"
    "\"string\",\"minLength\":1}},\"additionalProperties\":false}",
};

static const char *const label_lists[] = {
    "[\"untrusted_source\"]",
    "[\"sensitive\"]",
    "[\"external_effect\"]",
    "[\"untrusted_source\",\"external_effect\"]",
};

static void put_tool(struct sim *s, struct buf *b, uint32_t i)
{
    static const char *const classes[] = {"read", "read", "idempotent",
                                          "unsafe"};
    static const char *const categories[] = {"general", "general", "general",
                                             "network", "destructive"};
    struct chance *c = &s->chance;

    buf_fmt(b, "%s{\"name\":\"t%u\",\"description\":\"tool %u\"", i ? "," : "",
            i, i);
    buf_fmt(b, ",\"class\":\"%s\"", chance_pick(c, classes));
    buf_fmt(b, ",\"category\":\"%s\"", chance_pick(c, categories));
    if (chance_of(c, 300))
        buf_cstr(b, ",\"concurrent\":true");
    if (chance_of(c, 300))
        buf_cstr(b, ",\"subject\":\"path\"");
    if (chance_of(c, 300))
        buf_fmt(b, ",\"labels\":%s", chance_pick(c, label_lists));
    if (chance_of(c, 200))
        buf_cstr(b, ",\"child\":true");
    else if (chance_of(c, 150))
        buf_cstr(b, ",\"source\":\"client\"");
    buf_fmt(b, "%s}", chance_pick(c, schemas));
}

static void put_policy(struct sim *s, struct buf *b)
{
    static const char *const approve[] = {"ask", "ask", "all", "all", "deny"};
    static const char *const rules[] = {
        "t0", "t1(safe/*)", "!t2",       "t*",  "!t1(etc*)",
        "t3", "!*(*rm*)",   "t*(safe*)", "?t*", "?t0(*)"};
    uint32_t n = chance_below(&s->chance, 4);

    buf_fmt(b, ",\"policy\":{\"approve\":\"%s\",\"on_unknown\":\"%s\"",
            chance_pick(&s->chance, approve),
            unknown_names[chance_below(&s->chance, UNKNOWNS)]);
    buf_cstr(b, ",\"rules\":[");
    for (uint32_t i = 0; i < n; i++)
        buf_fmt(b, "%s\"%s\"", i ? "," : "", chance_pick(&s->chance, rules));
    buf_cstr(b, "]}");
}

/* Of the answer; the world knows what fits them. */
static const char *const answer_schemas[] = {
    ",\"schema\":{\"type\":\"object\"}",
    ",\"schema\":{\"type\":\"object\",\"required\":[\"n\"]}",
    ",\"schema\":{\"enum\":[\"yes\",[1]]}",
};

static void put_fallback(struct sim *s, struct buf *b)
{
    uint32_t count =
        chance_of(&s->chance, 300) ? 1 + chance_below(&s->chance, 3) : 0;

    buf_cstr(b, ",\"fallback\":[");
    for (uint32_t i = 0; i < count; i++) {
        buf_fmt(b, "%s{\"name\":\"spare%u\"", i ? "," : "", i);
        if (s->talks)
            buf_fmt(b, ",\"model\":\"p:spare%u\"", i);
        if (chance_of(&s->chance, 500))
            buf_fmt(b, ",\"output_tokens\":%u", chance_below(&s->chance, 5000));
        if (chance_of(&s->chance, 500))
            buf_fmt(b,
                    ",\"price\":{\"input\":%u,\"cached\":%u,"
                    "\"output\":%u000}",
                    chance_below(&s->chance, 1000000000),
                    chance_below(&s->chance, 1000000000),
                    chance_below(&s->chance, 10000000));
        buf_char(b, '}');
    }
    buf_char(b, ']');
}

/* A model is known by its name, since what it refuses is remembered. */
static void put_talk(struct sim *s, struct buf *b)
{
    buf_cstr(b, ",\"model\":\"p:main\"");
    if (chance_of(&s->chance, 200))
        buf_fmt(b, ",\"max_history\":%u", 1 + chance_below(&s->chance, 12));
}

static wend_str make_config(struct sim *s)
{
    static const char *const eager[] = {"safe", "safe", "all", "off"};
    struct buf b = {.mem = &s->mem};
    uint32_t tools = chance_of(&s->chance, 50)
                         ? 0
                         : 1 + chance_below(&s->chance, TOOLS_IN_SIM);
    wend_str text;

    buf_cstr(&b, "{\"instructions\":\"be brief\",\"tools\":[");
    for (uint32_t i = 0; i < tools; i++)
        put_tool(s, &b, i);
    buf_cstr(&b, "],\"agents\":[{\"name\":\"kid\",\"agent\":\"kid\","
                 "\"config\":{\"tools\":[{\"name\":\"x\",\"labels\":"
                 "[\"sensitive\"]}]}}]");
    put_policy(s, &b);
    buf_fmt(&b, ",\"eager\":\"%s\"", chance_pick(&s->chance, eager));
    if (chance_of(&s->chance, 250))
        buf_cstr(&b, ",\"hooks\":true");
    if (chance_of(&s->chance, 300))
        buf_cstr(&b, ",\"output_tokens\":50");
    if (chance_of(&s->chance, 300))
        buf_fmt(&b, ",\"price\":{\"input\":%u,\"cached\":%u,\"output\":%u000}",
                chance_below(&s->chance, 1000000000),
                chance_below(&s->chance, 1000000000),
                chance_below(&s->chance, 10000000));
    if (chance_of(&s->chance, 400))
        buf_fmt(&b, ",\"context_tokens\":%u",
                60 + chance_below(&s->chance, 900));
    if (chance_of(&s->chance, 50))
        buf_cstr(&b, ",\"compaction\":\"off\"");
    if (s->talks)
        put_talk(s, &b);
    put_fallback(s, &b);
    if (chance_of(&s->chance, 300) && !s->planned) /* it has no answer */
        buf_cstr(&b, chance_pick(&s->chance, answer_schemas));
    buf_char(&b, '}');
    text = arena_str(&s->world, buf_view(&b));
    buf_free(&b);
    return text;
}

void make_start(struct sim *s)
{
    struct chance *c = &s->chance;
    unsigned char bytes[10];
    wend_ev_run_start *e = &s->start;

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)chance_next(c);
    run_id_make(s->run, s->now_us, bytes);
    e->prompt = STR("do it \"well\"\n\xc3\xa4\xf0\x9f\x99\x82");
    e->agent = STR("agent");
    e->model = STR("model");
    e->cwd = STR("/");
    e->correlation_id = STR("c");
    e->config_json = make_config(s);
    e->limits.turns = 1 + chance_below(c, 8);
    e->limits.parallel = 1 + chance_below(c, 6);
    if (chance_of(c, 250))
        e->limits.tokens = 50 + chance_below(c, 2000);
    if (chance_of(c, 250))
        e->limits.time_ms = 10 + chance_below(c, 20000);
    if (chance_of(c, 150))
        e->limits.cost_nano = 1 + chance_below(c, 5000000);
    if (config_parse(e->config_json, &s->world, &s->config, NULL) != WEND_OK)
        broken(s, "the simulator's own", "its config does not parse");
}

/* One in four worlds is kind, so that long runs are seen as well. */
void make_mood(struct sim *s)
{
    struct chance *c = &s->chance;
    struct mood *m = &s->mood;

    m->nomem = chance_below(c, 150);
    m->huge = chance_of(c, 20) ? 20 : 0;
    m->long_text = chance_of(c, 300) ? 300 : 0;
    m->timer = 5 + chance_below(c, 60);
    m->call_fail = chance_below(c, 400);
    if (chance_of(c, 250))
        return;
    m->again = chance_below(c, 150);
    m->unknown = chance_below(c, 100);
    m->say = chance_below(c, 60);
    m->pause = chance_below(c, 60);
    m->cancel = chance_of(c, 500) ? chance_below(c, 30) : 0;
    m->stop = chance_of(c, 200) ? chance_below(c, 20) : 0;
    m->model_fail = chance_below(c, 300);
    m->clock_back = chance_below(c, 100);
    m->outage = chance_of(c, 150) ? 700 : 0;
    m->crash = chance_of(c, 600) ? chance_below(c, 60) : 0;
}
