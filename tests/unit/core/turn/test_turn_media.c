/*
 * test_turn_media.c - parts of messages: kept by events, chosen for a request,
 * refused by a model.
 */
#include "tt_help.h"

#include "core/media/media.h"

#define HASH "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static wend_ev_part picture(int64_t side, int64_t bytes)
{
    return (wend_ev_part){.type = STR("image"),
                          .media = STR("image/png"),
                          .bytes = bytes,
                          .hash = STR(HASH),
                          .width = side,
                          .height = side};
}

/* ---- Which of them are sent ---------------------------------------------- */

struct chosen {
    struct arena arena;
    struct turn turn;
};

static void begin(struct chosen *c, const char *config)
{
    struct config *parsed = NULL;

    memset(c, 0, sizeof *c);
    c->arena.mem = &plain;
    turn_init(&c->turn);
    config_parse(str_of(config), &c->arena, &parsed, NULL);
    c->turn.config = parsed;
    c->turn.frame = &parsed->frame;
    c->turn.model = STR("m");
}

static void say(struct chosen *c, wend_ev_part part)
{
    struct msg *m = arena_alloc(&c->arena, sizeof *m);

    m->role = ROLE_USER;
    m->text = STR("x");
    m->parts = parts_keep(&part, 1, &c->arena);
    m->parts_count = 1;
    turn_history_add(&c->turn, m);
}

static size_t sent(struct chosen *c)
{
    size_t count;

    turn_media_sent(&c->turn, &c->arena, &count);
    return count;
}

static void test_room(void)
{
    static const struct {
        const char *why, *config;
        int images;
        int64_t side, bytes;
        size_t sent;
    } rows[] = {
        {"few", "{\"model\":\"anthropic:c\"}", 20, 8000, 75, 20},
        {"many that are small", "{\"model\":\"anthropic:c\"}", 21, 2000, 75,
         21},
        {"many that are large", "{\"model\":\"anthropic:c\"}", 21, 2001, 75,
         20},
        {"too many", "{\"model\":\"anthropic:c\"}", 101, 100, 75, 100},
        {"too many bytes", "{\"model\":\"anthropic:c\"}", 5, 100, 7500000, 3},
        {"of a type that it does not accept",
         "{\"model\":\"openai:c\",\"media\":[\"document\"]}", 1, 100, 75, 0},
        {"of a size that a log made up", "{\"model\":\"script:c\"}", 1, 100,
         INT64_MAX, 0},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct chosen c;

        begin(&c, rows[i].config);
        for (int n = 0; n < rows[i].images; n++)
            say(&c, picture(rows[i].side, rows[i].bytes));
        tap_is_i64((int64_t)sent(&c), (int64_t)rows[i].sent, "%s", rows[i].why);
        arena_free(&c.arena);
    }
}

/* The newest ones, whatever was before them. */
static void test_newest(void)
{
    const wend_ev_part **list;
    struct chosen c;
    size_t count;

    begin(&c, "{\"model\":\"anthropic:c\"}");
    for (int64_t i = 1; i <= 101; i++)
        say(&c, picture(i, 75));
    list = turn_media_sent(&c.turn, &c.arena, &count);
    tap_is_i64(list[0]->width, 101, "the newest comes first");
    tap_is_i64(list[count - 1]->width, 2, "the oldest is left out");
    tap_ok(c.turn.history->tokens > 101 * 4, "they count as tokens");
    arena_free(&c.arena);
}

/* Images in the order in which they came, and which of them are sent. */
static void test_mixed(void)
{
    static const struct {
        const char *why;
        struct {
            int64_t count, side;
        } given[3];
        size_t sent;
        int64_t oldest; /* that is sent: its side */
    } rows[] = {
        {"large ones after large ones", {{12, 2500}, {12, 2600}}, 20, 2500},
        {"large ones after small ones", {{30, 100}, {12, 2500}}, 20, 100},
        {"small ones after large ones", {{12, 2500}, {25, 100}}, 25, 100},
        {"a large one with room for it", {{1, 2500}, {19, 100}}, 20, 2500},
        {"small ones behind it are sent",
         {{5, 300}, {1, 2500}, {20, 100}},
         25,
         300},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        const wend_ev_part **list;
        struct chosen c;
        size_t count;

        begin(&c, "{\"model\":\"anthropic:c\"}");
        for (size_t g = 0; g < tap_count(rows[i].given); g++)
            for (int64_t n = 0; n < rows[i].given[g].count; n++)
                say(&c, picture(rows[i].given[g].side, 75));
        list = turn_media_sent(&c.turn, &c.arena, &count);
        tap_is_i64((int64_t)count, (int64_t)rows[i].sent, "%s", rows[i].why);
        tap_is_i64(count ? list[count - 1]->width : 0, rows[i].oldest,
                   "%s: the oldest", rows[i].why);
        arena_free(&c.arena);
    }
}

/* ---- What the user is told ----------------------------------------------- */

static const struct msg *answer(struct chosen *c)
{
    struct msg *m = arena_alloc(&c->arena, sizeof *m);

    m->role = ROLE_ASSISTANT;
    m->text = STR("y");
    m->model = STR("m");
    turn_history_add(&c->turn, m);
    return m;
}

static void test_told(void)
{
    struct chosen c;
    const struct msg *since;

    begin(&c, "{\"model\":\"anthropic:c\"}");
    for (int i = 0; i < 12; i++)
        say(&c, picture(2500, 75));
    tap_ok(!turn_media_omitted(&c.turn, NULL, &c.arena).ptr, "all are sent");
    since = answer(&c);
    for (int i = 0; i < 12; i++)
        say(&c, picture(2600, 75));
    tap_is_str(turn_media_omitted(&c.turn, since, &c.arena),
               "'image png 2500x2500' has no room in a request; "
               "'image png 2500x2500' has no room in a request; "
               "'image png 2500x2500' has no room in a request; and 1 more",
               "older ones that new ones displace");
    since = answer(&c);
    tap_ok(!turn_media_omitted(&c.turn, since, &c.arena).ptr, "once");
    say(&c, picture(9000, 75));
    tap_is_str(turn_media_omitted(&c.turn, since, &c.arena),
               "'image png 9000x9000' has 9000x9000 pixels, and anthropic "
               "accepts at most 8000x8000",
               "a new one that is not sent, without those before it");
    arena_free(&c.arena);
}

/* ---- What a model refused ------------------------------------------------ */

static void test_words(void)
{
    enum {
        TEXT = 1 << MEDIA_TEXT,
        IMAGE = 1 << MEDIA_IMAGE,
        DOCUMENT = 1 << MEDIA_DOCUMENT,
        AUDIO = 1 << MEDIA_AUDIO,
    };
    static const struct {
        const char *words;
        uint32_t present, types;
    } rows[] = {
        {"Image input is not supported", MEDIA_ANY, IMAGE},
        {"x is not a multimodal model", IMAGE | TEXT, IMAGE},
        {"no audio and no images", MEDIA_ANY, IMAGE | AUDIO},
        {"PDF is not supported", IMAGE | DOCUMENT, DOCUMENT},
        {"only text", IMAGE | AUDIO | TEXT, IMAGE | AUDIO},
        {"images are refused", DOCUMENT, DOCUMENT},
        {"images are refused", TEXT, 0},
    };

    for (size_t i = 0; i < tap_count(rows); i++)
        tap_is_i64(media_in_words(str_of(rows[i].words), rows[i].present),
                   rows[i].types, "%s", rows[i].words);
}

static void test_refused(void)
{
    struct chosen c;
    struct keep k;
    wend_str reason;

    begin(&c, "{\"model\":\"openai:c\",\"fallback\":[{\"name\":\"other\","
              "\"model\":\"openai:other\"}]}");
    k = (struct keep){&c.arena, NULL};
    say(&c, picture(10, 75));
    tap_is_i64((int64_t)sent(&c), 1, "sent before");
    reason = media_reason(1u << MEDIA_IMAGE | 1u << MEDIA_AUDIO, &c.arena);
    tap_is_str(reason, "refused image,audio", "the reason of a retry");
    turn_note_refused(&c.turn, STR("network"), &k);
    tap_is_i64((int64_t)sent(&c), 1, "another reason changes nothing");
    turn_note_refused(&c.turn, reason, &k);
    tap_is_i64((int64_t)sent(&c), 0, "not sent after it");
    tap_is_i64(turn_media(&c.turn), 1 << MEDIA_TEXT | 1 << MEDIA_DOCUMENT,
               "what is left");
    c.turn.model_at = 1;
    tap_is_i64((int64_t)sent(&c), 1, "another model gets it");
    turn_note_refused(&c.turn, STR("refused smell"), &k);
    tap_is_i64((int64_t)sent(&c), 1, "a type to come");
    arena_free(&c.arena);
}

int main(void)
{
    test_room();
    test_newest();
    test_mixed();
    test_told();
    test_words();
    test_refused();
    return tap_done();
}
