/*
 * test_circle.c - calls that repeat themselves: each number of the rules, and
 * what a run does about it.
 */
#include "core/turn/circle.h"

#include "tt_help.h"

/* ---- The rules alone ----------------------------------------------------- */

/* Each word is a turn with one call, RESULT or RESULT! for one that fails; a
 * word of several, joined by +, is a turn with several calls. A result stands
 * for its own long output; `x/NAME` is the call x with the output NAME; `.`
 * is a short output. */
static void add(struct circle *c, const char *word, size_t len, int64_t turn)
{
    const char *slash = memchr(word, '/', len);
    bool failed = word[len - 1] == '!';
    wend_str all = {word, len};
    wend_str output = slash ? str_skip(all, (size_t)(slash + 1 - word)) : all;
    struct circle_call call = {
        .tool = STR("t"),
        .result = mix64(0, all.ptr, all.len),
        .output = mix64(1, output.ptr, output.len),
        .output_bytes =
            word[0] == '.' ? CIRCLE_OUTPUT_BYTES - 1 : CIRCLE_OUTPUT_BYTES,
        .turn = turn,
        .failed = failed,
    };

    circle_add(c, &call);
}

static const char *play_circle(const char *words, struct buf *out)
{
    static const char levels[] = "-nfe";
    struct circle c = {.due = CIRCLE_NONE};
    int64_t turn = 0;

    while (*words) {
        size_t len = strcspn(words, " ");

        c.due = CIRCLE_NONE;
        for (size_t at = 0; at < len;) {
            size_t one = strcspn(words + at, "+ ");

            add(&c, words + at, one, turn);
            at += one + 1;
        }
        buf_char(out, levels[c.due]);
        turn++;
        words += len;
        words += strspn(words, " ");
    }
    return out->ptr;
}

/* wanted: for each turn - nothing, n a note, f finish, e the end. */
static void test_rules(void)
{
    static const struct {
        const char *why, *words, *wanted;
    } rows[] = {
        {"different results are no loop", "a b c d e f g h i j k l",
         "------------"},
        {"the same one: 3, 5 and 8", ".a .a .a .a .a .a .a .a", "--n-f--e"},
        {"and it stays over", ".a .a .a .a .a .a .a .a .a", "--n-f--ee"},
        {"two in turn are seen, too",
         ".a .b .a .b .a .b .a .b .a .b .a .b .a .b .a .b", "----nn--ff----ee"},
        {"after 10 others it is forgotten",
         ".a .a .1 .2 .3 .4 .5 .6 .7 .8 .9 .0 .a", "-------------"},
        {"after 9 it is not", ".a .a .1 .2 .3 .4 .5 .6 .7 .8 .9 .a",
         "-----------n"},
        {"a turn counts once", ".a+.a+.a+.a+.a+.a+.a+.a .a .a", "--n"},
        {"the same output of other calls: 5 of 10, then all",
         "1/x 2/x 3/x 4/x 5/x 6/x 7/x 8/x 9/x 0/x", "----n----f"},
        {"others between them", "1/x a 2/x b 3/x c 4/x d 5/x", "--------n"},
        {"6 of 11 is 5 of the last 10", "1/x a b c d e f 2/x 3/x 4/x 5/x",
         "-----------"},
        {"told once as long as it lasts",
         "1/x 2/x 3/x 4/x 5/x a 6/x b 7/x c 8/x d 9/x", "----n--------"},
        {"short outputs say nothing", ".1/x .2/x .3/x .4/x .5/x .6/x .7/x",
         "-------"},
        {"a turn's outputs count once", "1/x+2/x+3/x+4/x+5/x+6/x", "-"},
        {"5 calls that fail are too few", "a! b! c! d! e!", "-----"},
        {"over half of 6", "a! b! c! d! e f", "-----n"},
        {"half is not", "a! b! c! d e f", "------"},
        {"and over half 6 calls later",
         "a! b! c! d! e! f! g! h! i! j! k! l! m!", "-----n-----f-"},
        {"it got better, and worse again",
         "a! b! c! d! e! f! g h i j k l! m! n! o! p! q!", "-----n----------n"},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct buf got = {.mem = &plain};

        play_circle(rows[i].words, &got);
        tap_is_str(buf_view(&got), rows[i].wanted, "%s", rows[i].why);
        buf_free(&got);
    }
}

/* ---- A run --------------------------------------------------------------- */

#define CTOOLS                                        \
    "\"tools\":[{\"name\":\"r\",\"class\":\"read\"}," \
    "{\"name\":\"poll\",\"class\":\"read\",\"repeat_ok\":true}]}"
#define ON "{" CTOOLS
#define OFF "{\"loop\":\"off\"," CTOOLS
#define CTURN "call:r done ok:call_1 "
#define POLL "call:poll done ok:call_1 "
#define FOUR(x) x x x x

#define CBEGIN \
    "run_start turn_start context_start context_end model_start +ask "
#define CALLED \
    "model_part call_start(call_1) +run(call_1) model_end call_end(call_1) "
#define CNEXT \
    "turn_end metrics turn_start context_start context_end model_start +ask "
#define PLAIN CALLED CNEXT
#define TOLD CALLED "warning message " CNEXT

static void test_run(void)
{
    static const struct row rows[] = {
        {.why = "warned, asked to finish, ended",
         .config = ON,
         .inputs = "start " FOUR(CTURN) FOUR(CTURN),
         .wanted = CBEGIN PLAIN PLAIN TOLD PLAIN TOLD PLAIN PLAIN CALLED
         "warning turn_end metrics run_end(limit)"},
        {.why = "a tool that polls may",
         .config = ON,
         .inputs = "start " FOUR(POLL) FOUR(POLL),
         .wanted = CBEGIN FOUR(PLAIN) FOUR(PLAIN)},
        {.why = "loop: off",
         .config = OFF,
         .inputs = "start " FOUR(CTURN) FOUR(CTURN),
         .wanted = CBEGIN FOUR(PLAIN) FOUR(PLAIN)},
        {.why = "a model that finishes when asked to",
         .config = ON,
         .inputs = "start " FOUR(CTURN) CTURN "text done",
         .wanted = CBEGIN PLAIN PLAIN TOLD PLAIN TOLD
         "model_end turn_end metrics run_end(ok)"},
    };

    check_rows(rows, tap_count(rows));
}

int main(void)
{
    test_rules();
    test_run();
    return tap_done();
}
