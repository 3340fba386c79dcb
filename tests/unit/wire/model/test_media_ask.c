/*
 * test_media_ask.c - parts of messages in the requests of all providers.
 *
 * A conversation with every kind of part; of the result of two calls one has
 * a picture. The bytes stand for files: only their place matters here.
 */
#include "ask_help.h"

#define HASH(c) c c c c c c c c c c c c c c c c
#define TEXT(s)          \
    {                    \
        s, sizeof(s) - 1 \
    }

static const wend_ev_part image = {.type = TEXT("image"),
                                   .media = TEXT("image/png"),
                                   .bytes = 5,
                                   .hash = TEXT(HASH("000a")),
                                   .name = TEXT("red.png"),
                                   .width = 800,
                                   .height = 600};
static const wend_ev_part document = {.type = TEXT("document"),
                                      .media = TEXT("application/pdf"),
                                      .bytes = 4,
                                      .hash = TEXT(HASH("000b")),
                                      .name = TEXT("a \"b\".pdf"),
                                      .pages = 2};
static const wend_ev_part audio = {.type = TEXT("audio"),
                                   .media = TEXT("audio/wav"),
                                   .bytes = 3,
                                   .hash = TEXT(HASH("000c")),
                                   .ms = 1500};
static const wend_ev_part file = {.type = TEXT("text"),
                                  .media = TEXT("text/plain"),
                                  .bytes = 6,
                                  .hash = TEXT(HASH("000d")),
                                  .name = TEXT("a.c")};
static const wend_ev_part gone = {.type = TEXT("image"),
                                  .media = TEXT("image/jpeg"),
                                  .bytes = 5,
                                  .hash = TEXT(HASH("000e")),
                                  .width = 10,
                                  .height = 20};

static const struct wire_media bytes[] = {
    {TEXT(HASH("000a")), TEXT("\x89PNG\xff"), NULL},
    {TEXT(HASH("000b")), TEXT("%PDF"), NULL},
    {TEXT(HASH("000c")), TEXT("RIF"), NULL},
    {TEXT(HASH("000d")), TEXT("int a;"), NULL},
};

static void give(struct talk *k, const wend_ev_part *parts, size_t count)
{
    k->last->parts = parts_keep(parts, count, &k->arena);
    k->last->parts_count = count;
}

static void story(struct talk *k)
{
    const wend_ev_part all[] = {image, document, audio, file, gone};
    const wend_ev_part two[] = {gone, image};

    talk_init(k, ASK_CONFIG_BARE);
    talk_add(k, ROLE_USER, "What is this?");
    give(k, all, tap_count(all));
    talk_add(k, ROLE_ASSISTANT, "");
    talk_call(k, "call_1", "shot", "{}");
    talk_call(k, "call_2", "now", "{}");
    talk_call(k, "call_3", "shot", "{}");
    talk_result(k, "call_1", "shot", "first");
    give(k, &image, 1);
    talk_result(k, "call_2", "now", "noon");
    talk_result(k, "call_3", "shot", "");
    give(k, two, 2);
    talk_add(k, ROLE_USER, "And now?");
}

static const struct {
    const struct codec *codec;
    const char *dir, *name, *model;
} rows[] = {
    {&codec_openai, "tests/golden/openai", "ask_media", "m-1"},
    {&codec_responses, "tests/golden/responses", "ask_media", "m-1"},
    {&codec_anthropic, "tests/golden/anthropic", "ask_media", "m-1"},
    {&codec_gemini, "tests/golden/gemini", "ask_media_2", "gemini-2.5-pro"},
    {&codec_gemini, "tests/golden/gemini", "ask_media_3", "gemini-3-pro"},
    {&codec_ollama, "tests/golden/ollama", "ask_media", "m-1"},
};

/* What is not sent says so; nothing else of the request changes. */
static void check_without(const struct codec *c, struct wire_ask q)
{
    struct buf b = {.mem = &wire_plain};

    q.media_count = 0;
    codec_request(c, &q, &b);
    tap_ok(ask_is_canonical(buf_view(&b)), "%s: canonical without", c->name);
    tap_ok(!str_has(buf_view(&b), STR("iVBOR")), "%s: no bytes", c->name);
    tap_ok(str_has(buf_view(&b), STR("[image png 800x600 omitted]")) &&
               str_has(buf_view(&b), STR("[text a.c omitted]")) &&
               !str_has(buf_view(&b), STR("ttached")),
           "%s: notes in their place", c->name);
    tap_ok(!str_has(buf_view(&b), STR("\"images\":[]")),
           "%s: no list without an entry", c->name);
    buf_free(&b);
}

/* The same file twice, and room for one of them. */
static void test_twice(void)
{
    const wend_ev_part both[] = {image, image};

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct wire_media one = bytes[0];
        struct buf b = {.mem = &wire_plain};
        struct wire_ask q;
        struct talk k;

        talk_init(&k, ASK_CONFIG_BARE);
        talk_add(&k, ROLE_USER, "x");
        give(&k, both, 2);
        q = ask_of(&k);
        one.part = &k.last->parts[1];
        q.media = &one;
        q.media_count = 1;
        codec_request(rows[i].codec, &q, &b);
        tap_ok(str_has(buf_view(&b), STR("iVBOR")) &&
                   str_has(buf_view(&b), STR("[image png 800x600 omitted]")),
               "%s: one of two", rows[i].codec->name);
        talk_free(&k);
        buf_free(&b);
    }
}

/* ---- What is shown of it ------------------------------------------------- */

static void note(void *ctx, enum wire_shown what, const struct msg *m,
                 const wend_ev_part *part, wend_str text)
{
    static const char *const words[] = {[WIRE_SENT] = "sent",
                                        [WIRE_FILE] = "file",
                                        [WIRE_NOTE] = "note",
                                        [WIRE_TEXT] = "text",
                                        [WIRE_LABEL] = "label"};
    struct buf *out = ctx;

    buf_fmt(out, "%lld %s", (long long)m->index, words[what]);
    if (part)
        buf_fmt(out, " %.*s", STR_ARGS(part->type));
    if (what == WIRE_TEXT || what == WIRE_LABEL)
        buf_fmt(out, " <%.*s>", STR_ARGS(text));
    buf_char(out, '\n');
}

#define SAID_ALL "0 sent image\n0 sent document\n"
#define SAID_REST "0 file text\n0 note image\n"
#define SEE "2 text <first\n[see attached image png 800x600]>\n"
#define SEE_TWO \
    "4 text <[image jpeg 10x20 omitted]\n[see attached image png 800x600]>\n"
#define BATCH                                                    \
    SEE SEE_TWO "2 label <Attached to the result of shot (call " \
                "call_1):>\n2 sent image\n"                      \
                "4 label <Attached to the result of shot (call " \
                "call_3):>\n4 sent image\n"
#define INSIDE "2 sent image\n4 note image\n4 sent image\n"

/* Once for each part, in the order of the request. */
static void test_shown(void)
{
    static const struct {
        const struct codec *codec;
        const char *model, *wanted;
    } shown[] = {
        {&codec_openai, "m", SAID_ALL "0 sent audio\n" SAID_REST BATCH},
        {&codec_responses, "m", SAID_ALL "0 note audio\n" SAID_REST INSIDE},
        {&codec_anthropic, "m", SAID_ALL "0 note audio\n" SAID_REST INSIDE},
        {&codec_gemini, "gemini-2.5-x",
         SAID_ALL "0 sent audio\n" SAID_REST BATCH},
        {&codec_gemini, "gemini-3-x",
         SAID_ALL "0 sent audio\n" SAID_REST SEE "2 sent image\n" SEE_TWO
                  "4 sent image\n"},
        {&codec_ollama, "m",
         "0 sent image\n0 note document\n0 sent audio\n" SAID_REST BATCH},
    };

    for (size_t i = 0; i < tap_count(shown); i++) {
        struct buf b = {.mem = &wire_plain}, got = {.mem = &wire_plain};
        struct wire_ask q;
        struct talk k;

        story(&k);
        q = ask_of(&k);
        q.model = str_of(shown[i].model);
        q.media = bytes;
        q.media_count = tap_count(bytes);
        q.shown = note;
        q.shown_ctx = &got;
        codec_request(shown[i].codec, &q, &b);
        tap_is_str(buf_view(&got), shown[i].wanted, "%s %s: shown",
                   shown[i].codec->name, shown[i].model);
        talk_free(&k);
        buf_free(&b);
        buf_free(&got);
    }
}

/* A log from elsewhere: whatever it says stays inside its string. */
static void test_forged(void)
{
    wend_ev_part part = image;

    part.media = STR("image/png\",\"x\":\"");
    part.name = STR("a\"]\n");
    for (size_t i = 0; i < tap_count(rows); i++) {
        struct buf b = {.mem = &wire_plain};
        struct wire_ask q;
        struct talk k;

        talk_init(&k, ASK_CONFIG_BARE);
        talk_add(&k, ROLE_USER, "x");
        give(&k, &part, 1);
        q = ask_of(&k);
        q.media = bytes;
        q.media_count = tap_count(bytes);
        codec_request(rows[i].codec, &q, &b);
        tap_ok(ask_is_canonical(buf_view(&b)) &&
                   !str_has(buf_view(&b), STR("\"x\":\"")),
               "%s: a forged type", rows[i].codec->name);
        talk_free(&k);
        buf_free(&b);
    }
}

/* The same type by the names of two providers. */
static void test_mp3(void)
{
    static const struct {
        const struct codec *codec;
        const char *wanted;
    } names[] = {
        {&codec_gemini, "{\"mimeType\":\"audio/mp3\",\"data\":\"UklG\"}"},
        {&codec_openai, "{\"data\":\"UklG\",\"format\":\"mp3\"}"},
    };
    wend_ev_part part = audio;

    part.media = STR("audio/mpeg");
    for (size_t i = 0; i < tap_count(names); i++) {
        struct buf b = {.mem = &wire_plain};
        struct wire_ask q;
        struct talk k;

        talk_init(&k, ASK_CONFIG_BARE);
        talk_add(&k, ROLE_USER, "x");
        give(&k, &part, 1);
        q = ask_of(&k);
        q.media = bytes;
        q.media_count = tap_count(bytes);
        codec_request(names[i].codec, &q, &b);
        tap_ok(str_has(buf_view(&b), str_of(names[i].wanted)), "%s: mp3",
               names[i].codec->name);
        talk_free(&k);
        buf_free(&b);
    }
}

int main(void)
{
    test_mp3();
    test_twice();
    test_shown();
    test_forged();
    for (size_t i = 0; i < tap_count(rows); i++) {
        struct talk k;
        struct wire_ask q;

        story(&k);
        q = ask_of(&k);
        q.model = str_of(rows[i].model);
        q.media = bytes;
        q.media_count = tap_count(bytes);
        ask_check(rows[i].codec, &q, rows[i].dir, rows[i].name);
        ask_check_faults(rows[i].codec, &q);
        check_without(rows[i].codec, q);
        talk_free(&k);
    }
    return tap_done();
}
