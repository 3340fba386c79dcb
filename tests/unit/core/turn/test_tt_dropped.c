/*
 * test_tt_dropped.c - what a model refuses to be asked for: it is asked
 * without, once for each field, and never for it again.
 */
#include "tt_help.h"

#define CONFIG                                         \
    "{\"params\":{\"temperature\":1,\"top_p\":1},"     \
    "\"tools\":[{\"name\":\"r\",\"class\":\"read\"}]," \
    "\"fallback\":[{\"name\":\"other\",\"model\":\"openai:other\"}]}"
#define FIRST_ASK \
    "run_start turn_start context_start context_end model_start +ask "
#define WITHOUT "warning model_retry +retry +ask "
#define DONE "model_end turn_end metrics run_end(ok)"
#define OVER "model_end(failed) turn_end(failed) metrics run_end(failed)"

/* As play does, with one word more: refuse:BITS. */
static void go(struct world *w, const char *words)
{
    wend_str rest = str_of(words), word;
    char one[40];

    while (str_take(&rest, ' ', &word)) {
        struct input in = {.kind = IN_MODEL_FAIL,
                           .ask = w->turn.ask,
                           .reply = &w->reply,
                           .error = {.code = STR("invalid"),
                                     .message = STR("no"),
                                     .retry_never = true}};

        snprintf(one, sizeof one, "%.*s", STR_ARGS(word));
        in.error.refused = (uint32_t)(word.ptr[word.len - 1] - '0');
        if (str_starts(word, "refuse:"))
            feed(w, &in);
        else
            play(w, one);
    }
}

static void test_rows(void)
{
    static const struct {
        const char *why, *inputs, *wanted;
    } rows[] = {
        {.why = "a field is dropped",
         .inputs = "start refuse:1 retry text done",
         .wanted = FIRST_ASK WITHOUT DONE},
        {.why = "two at once",
         .inputs = "start refuse:3 retry text done",
         .wanted = FIRST_ASK WITHOUT DONE},
        {.why = "one after the other",
         .inputs = "start refuse:1 retry refuse:2 retry text done",
         .wanted = FIRST_ASK WITHOUT WITHOUT DONE},
        {.why = "the same once more is a failure, and no loop",
         .inputs = "start refuse:1 retry refuse:1",
         .wanted = FIRST_ASK WITHOUT OVER},
        {.why = "nothing that was sent is a failure",
         .inputs = "start refuse:0",
         .wanted = FIRST_ASK OVER},
        {.why = "not after something was said",
         .inputs = "start text refuse:1",
         .wanted = FIRST_ASK OVER},
        {.why = "it does not count as one of the tries",
         .inputs = "start refuse:1 retry fail:service retry text done",
         .wanted = FIRST_ASK WITHOUT "model_retry +retry +ask " DONE},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct world w;

        world_init(&w, &plain, CONFIG);
        go(&w, rows[i].inputs);
        tap_is_str(buf_view(&w.said), rows[i].wanted, "%s", rows[i].why);
        tap_is_i64(w.broken, 0, "%s: the log says the same", rows[i].why);
        world_free(&w);
    }
}

/* From the log alone: another process knows it, too. */
static void test_kept(void)
{
    const struct model_use other = {.spec = STR("openai:other")};
    struct turn next;
    struct world w;
    wend_str text;

    world_init(&w, &plain, CONFIG);
    go(&w, "start refuse:1 retry refuse:2");
    tap_is_i64(turn_dropped(&w.turn, &w.turn.config->models[0]), 3,
               "both are kept, for this model");
    tap_is_i64(turn_dropped(&w.turn, &other), 0, "and not for another one");
    play(&w, "resume");
    tap_is_i64(turn_dropped(&w.turn, &w.turn.config->models[0]), 3,
               "after a resume, too");
    tap_is_i64(w.broken, 0, "the log says the same");
    turn_note_refused(&w.turn, STR("refused image,audio"), &w.keep);
    text = turn_refusals_text(&w.turn, &w.kept);
    turn_init(&next);
    next.config = w.turn.config;
    turn_take_refusals(&next, text, &w.keep);
    tap_is_i64(turn_dropped(&next, &w.turn.config->models[0]), 3,
               "the next run knows: %.*s", STR_ARGS(text));
    tap_is_i64(turn_dropped(&next, &other), 0, "and of no other model");
    tap_is_i64(turn_media(&next), turn_media(&w.turn),
               "what it is not sent is the same");
    world_free(&w);
}

int main(void)
{
    test_rows();
    test_kept();
    return tap_done();
}
