/*
 * test_tags.c - the tag protocol: tables, each row cut everywhere.
 */
#include "base/json.h"
#include "base/limits.h"
#include "fault.h"
#include "tags_help.h"
#include "tap.h"

#define LEFT_OUT "is left out: "
#define NO_QUOTE "expected '\"' at the end of the string, found end of input"
#define ONE "plan|A:{\"actions\":[{}]}|seal|"

static const struct {
    const char *why, *input, *wanted;
} rows[] = {
    /* no tags */
    {"nothing", "", "final"},
    {"no tags at all: the whole text", "Hello.", "T:Hello.|final"},
    {"to the byte", " \n Hello. \n", "T: \n Hello. \n|final"},
    {"only spaces", " \n", "T: \n|final"},
    {"a sign that is no tag", "a < b <= c << d <", "T:a < b <= c << d <|final"},
    {"other tags are text", "<p>a</p> <b/>", "T:<p>a</p> <b/>|final"},
    {"names that only begin so", "<actions>1</actions> <thoughtful>",
     "T:<actions>1</actions> <thoughtful>|final"},
    {"names have a case", "<Response>a", "T:<Response>a|final"},
    {"no name", "<>a</>", "T:<>a</>|final"},
    {"a space before the name", "< thought>a", "T:< thought>a|final"},
    {"a tag that never ends", "a <action id=", "T:a <action id=|final"},
    {"a closing one, too", "a </respon", "T:a </respon|final"},
    {"a tag in a tag is none", "<action <p>", "T:<action <p>|final"},
    {"but the inner one is", "<action <thought>a</thought>",
     "T:<action |H:a|final"},
    {"letters of all lengths", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80",
     "T:\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80|final"},
    /* thought and response */
    {"a thought", "<thought>hm</thought>", "H:hm|final"},
    {"a response", "<response final=\"true\">Hi.</response>", "T:Hi.|final"},
    {"one that goes on", "<response final=\"false\">Wait.</response>",
     "T:Wait.|goes on"},
    {"in other quotes", "<response final='false'>a</response>", "T:a|goes on"},
    {"in none", "<response final=false>a</response>", "T:a|goes on"},
    {"spaces in the tag", "<response \n final = \"false\"\t>a</response >",
     "T:a|goes on"},
    {"without the attribute it is final", "<response>a</response>",
     "T:a|final"},
    {"a final that is neither", "<response final=no>a</response>",
     "W:<response> has a final that is neither true nor false: it counts as "
     "true|T:a|final"},
    {"the last response counts",
     "<response final=true>a</response><response final=false>b</response>",
     "T:a\nb|goes on"},
    {"both", "<thought>a</thought><response>b</response>", "H:a|T:b|final"},
    {"spaces beside tags are dropped",
     " \n<thought>\n a b \n</thought>\n\n<response>\n c\n\nd\n</response>\n",
     "H:a b|T:c\n\nd|final"},
    {"two thoughts are two lines",
     "<thought>a</thought><thought>b</thought><response>c</response>",
     "H:a\nb|T:c|final"},
    {"entities are not decoded", "<response>a &lt; b &amp;</response>",
     "T:a &lt; b &amp;|final"},
    {"an empty response", "<response></response>", "final"},
    {"in short", "<response final=false/>", "goes on"},
    {"an empty thought", "<thought/><thought></thought>a", "T:a|final"},
    {"a closing bracket in a value", "<response final='a>b'>c</response>",
     "W:<response> has a final that is neither true nor false: it counts as "
     "true|T:c|final"},
    {"a quote inside a bare value", "<response final=a\"b>c</response>",
     "W:<response> has a final that is neither true nor false: it counts as "
     "true|T:c|final"},
    {"attributes that are not known", "<thought mode=x>a</thought>",
     "W:<thought> has an attribute that is not known: it is ignored|H:a|"
     "final"},
    {"one without a value", "<response final>a</response>",
     "W:<response> has a final that is neither true nor false: it counts as "
     "true|T:a|final"},
    {"one that is there twice", "<response final=false final=true>a</response>",
     "W:<response> has final twice: the first counts|T:a|goes on"},
    /* nested, crossing, not closed, not opened */
    {"nothing nests in a thought",
     "<thought>I could <response>a</response></thought>b",
     "H:I could <response>a</response>|T:b|final"},
    {"the first closing tag closes",
     "<thought>a<thought>b</thought>c</thought>d",
     "H:a<thought>b|T:c|W:</thought> closes nothing|T:\nd|final"},
    {"crossing", "<thought>a<response>b</thought>c</response>",
     "H:a<response>b|T:c|W:</response> closes nothing|final"},
    {"an action in a response is text",
     "<response>Use <action>{}</action>.</response>",
     "T:Use <action>{}</action>.|final"},
    {"a thought that is not closed", "<thought>a<action>{}</action>",
     "H:a<action>{}</action>|W:<thought> is not closed|final"},
    {"nor with half a tag", "<thought>a </though",
     "H:a </though|W:<thought> is not closed|final"},
    {"a response that is not closed", "<response final=false>a ",
     "T:a|W:<response> is not closed|goes on"},
    {"a closing tag alone", "a</thought>b",
     "T:a|W:</thought> closes nothing|T:\nb|final"},
    {"a closing tag with an attribute is none", "<thought>a</thought x>b",
     "H:a</thought x>b|W:<thought> is not closed|final"},
    /* text outside */
    {"text before", "Well: <thought>a</thought>", "T:Well:|H:a|final"},
    {"text around is text",
     "a <response final=false>b</response> c <thought>d</thought> e",
     "T:a\nb\nc|H:d|T:\ne|goes on"},
    {"and goes on if there are actions", "a<action>{}</action>",
     "T:a|" ONE "goes on"},
    /* actions */
    {"an action", "<action>{}</action>", ONE "goes on"},
    {"its attributes are members",
     "<action type=\"tool\" mode='async' id=a1>{\"name\":\"n\", \"x\": [1, "
     "2.50]}</action>",
     "plan|A:{\"actions\":[{\"type\":\"tool\",\"mode\":\"async\",\"id\":\"a1\","
     "\"name\":\"n\",\"x\":[1,2.50]}]}|seal|goes on"},
    {"the id is the name of one without",
     "<action id=a>{\"target\":\"t\"}</action>",
     "plan|A:{\"actions\":[{\"id\":\"a\",\"name\":\"a\",\"target\":\"t\"}]}|"
     "seal|goes on"},
    {"the same in both places",
     "<action type=tool>{\"type\":\"tool\"}</action>",
     "plan|A:{\"actions\":[{\"type\":\"tool\"}]}|seal|goes on"},
    {"the attribute wins", "<action type=tool>{\"type\":\"llm\"}</action>",
     "W:action 1: its type is that of the tag, not of its JSON|"
     "plan|A:{\"actions\":[{\"type\":\"tool\"}]}|seal|goes on"},
    {"also over what is no string", "<action id=a>{\"id\":1}</action>",
     "W:action 1: its id is that of the tag, not of its JSON|"
     "plan|A:{\"actions\":[{\"id\":\"a\",\"name\":\"a\"}]}|seal|goes on"},
    {"an attribute of another tag", "<action final=true>{}</action>",
     "W:<action> has an attribute that is not known: it is ignored|" ONE
     "goes on"},
    {"an empty value", "<action id=\"\">{}</action>",
     "plan|A:{\"actions\":[{\"id\":\"\",\"name\":\"\"}]}|seal|goes on"},
    {"a value with a quote inside", "<action id='a\"b'>{\"name\":1}</action>",
     "plan|A:{\"actions\":[{\"id\":\"a\\\"b\",\"name\":1}]}|seal|goes on"},
    {"two are one plan",
     "<action>{\"a\":1}</action>\n<action>{\"b\":2}</action>",
     "plan|A:{\"actions\":[{\"a\":1},{\"b\":2}]}|seal|goes on"},
    {"with a thought between",
     "<action>{}</action><thought>b</thought><action>{}</action>",
     "plan|A:{\"actions\":[{}|H:b|A:,{}]}|seal|goes on"},
    {"and a response that ends it",
     "<action>{}</action><response final=true>Done.</response>",
     "plan|A:{\"actions\":[{}|T:Done.|A:]}|seal|final"},
    {"a tag in a JSON string is text",
     "<action>{\"a\":\"</action><action>\"}</action>",
     "plan|A:{\"actions\":[{\"a\":\"</action><action>\"}]}|seal|goes on"},
    {"after an escaped quote, too",
     "<action>{\"a\":\"\\\"</action>\"}</action>",
     "plan|A:{\"actions\":[{\"a\":\"\\\"</action>\"}]}|seal|goes on"},
    {"and after an escaped backslash it is not",
     "<action>{\"a\":\"\\\\\"}</action>",
     "plan|A:{\"actions\":[{\"a\":\"\\\\\"}]}|seal|goes on"},
    {"spaces in its closing tag", "<action> {} </action \n>", ONE "goes on"},
    /* bad ones */
    {"bad JSON, and the stream goes on",
     "<action>{a}</action><action>{}</action><response>b</response>",
     "W:action 1 " LEFT_OUT "line 1, column 2: expected '\"' and a key, found "
     "'a'|plan|A:{\"actions\":[{}|T:b|A:]}|seal|final"},
    {"no object", "<action>[1]</action>",
     "W:action 1 " LEFT_OUT "it is not a JSON object|goes on"},
    {"empty", "<action/>",
     "W:action 1 " LEFT_OUT
     "line 1, column 1: expected a value, found end of input|goes on"},
    {"two values", "<action>{}{}</action>",
     "W:action 1 " LEFT_OUT
     "line 1, column 3: expected nothing after the value, found '{'|goes on"},
    {"not closed", "<action>{}",
     "W:action 1 " LEFT_OUT "it is not closed|goes on"},
    {"half closed", "<action>{}</action",
     "W:action 1 " LEFT_OUT "it is not closed|goes on"},
    {"a quote too few costs one action, at the end",
     "<action>{\"a\":\"b}</action><response>c</response>",
     "W:action 1 " LEFT_OUT "line 1, column 9: " NO_QUOTE "|T:c|final"},
    {"where a later quote closes it",
     "<action>{\"a\":\"b}</action><action>{\"c\":1}</action>",
     "W:action 1 " LEFT_OUT "line 1, column 9: " NO_QUOTE "|"
     "plan|A:{\"actions\":[{\"c\":1}]}|seal|goes on"},
    {"where a closing tag outside of quotes follows",
     "<action>{\"a\":\"b}</action><response>\"c\"</response><action>{}</"
     "action>",
     "W:action 1 " LEFT_OUT "line 1, column 9: " NO_QUOTE "|"
     "T:\"c\"|" ONE "final"},
    {"a JSON string instead of an object",
     "<action>\"</action><action>\"</action>",
     "W:action 1 " LEFT_OUT "line 1, column 2: " NO_QUOTE "|"
     "W:action 2 " LEFT_OUT "line 1, column 2: " NO_QUOTE "|"
     "goes on"},
};

static void check_row(const char *why, wend_str in, const char *wanted)
{
    struct tags_told o;
    int cut = 0, steps = 0;

    tags_run(in, 0, 0, &tags_plain, &o);
    tap_is_str(buf_view(&o.line), wanted, "%s", why);
    tags_told_free(&o);
    for (size_t first = 1; first < in.len; first++)
        for (size_t step = 0; step < 4; step++) {
            tags_run(in, first, step, &tags_plain, &o);
            *(step ? &steps : &cut) +=
                !str_eq(buf_view(&o.line), str_of(wanted));
            tags_told_free(&o);
        }
    tap_is_i64(cut, 0, "%s: cut at every byte", why);
    tap_is_i64(steps, 0, "%s: in pieces of one, two and three", why);
}

static void test_rows(void)
{
    for (size_t i = 0; i < tap_count(rows); i++)
        check_row(rows[i].why, str_of(rows[i].input), rows[i].wanted);
}

static void test_faults(void)
{
    for (size_t i = 0; i < tap_count(rows); i++) {
        struct fault f = {0};
        int bad = 0;

        while (fault_next(&f)) {
            struct mem m = fault_mem(&f);
            struct tags_told o;
            bool ok = tags_run(str_of(rows[i].input), 1, 5, &m, &o);

            bad += f.live != 0 || ok == f.hit || o.sealed > ok;
            tags_told_free(&o);
        }
        tap_is_i64(bad, 0, "%s: every allocation may fail", rows[i].why);
    }
}

/* ---- Limits -------------------------------------------------------------- */

static void fill(struct buf *b, size_t len, char c)
{
    for (size_t i = 0; i < len; i++)
        buf_char(b, c);
}

/* Whole, byte by byte and in uneven pieces. */
static void is_told(const char *why, const struct buf *in, const char *wanted)
{
    static const size_t steps[] = {0, 1, 4093};

    for (size_t i = 0; i < tap_count(steps); i++) {
        struct tags_told o;

        tags_run(buf_view(in), 0, steps[i], &tags_plain, &o);
        tap_is_str(buf_view(&o.line), wanted, "%s, in pieces of %d", why,
                   (int)steps[i]);
        tags_told_free(&o);
    }
}

static void tag_of(struct buf *b, size_t len)
{
    buf_clear(b);
    buf_cstr(b, "<thought");
    fill(b, len - b->len - 1, ' ');
    buf_cstr(b, ">a</thought>b");
}

static void test_tag_limit(void)
{
    struct buf b = {.mem = &tags_plain}, wanted = {.mem = &tags_plain};

    tag_of(&b, TAG_BYTES_MAX);
    is_told("a tag at the limit", &b, "H:a|T:b|final");
    tag_of(&b, TAG_BYTES_MAX + 1);
    buf_cstr(&wanted, "T:");
    buf_add(&wanted, b.ptr, TAG_BYTES_MAX + 2);
    buf_cstr(&wanted, "|W:</thought> closes nothing|T:\nb|final");
    is_told("one over it is text", &b, wanted.ptr);
    buf_free(&b);
    buf_free(&wanted);
}

static void test_space_limit(void)
{
    struct buf b = {.mem = &tags_plain}, wanted = {.mem = &tags_plain};

    buf_char(&b, 'x');
    fill(&b, TAG_BYTES_MAX, ' ');
    buf_cstr(&b, "<thought>a</thought>");
    is_told("as many spaces as are held", &b, "T:x|H:a|final");
    buf_clear(&b);
    buf_char(&b, 'x');
    fill(&b, 3 * TAG_BYTES_MAX, ' ');
    buf_cstr(&wanted, "T:");
    buf_str(&wanted, buf_view(&b));
    buf_cstr(&wanted, "|H:a|final");
    buf_cstr(&b, "<thought>a</thought>");
    is_told("more of them are text", &b, wanted.ptr);
    buf_free(&b);
    buf_free(&wanted);
}

static void action_of(struct buf *b, size_t len)
{
    buf_clear(b);
    buf_cstr(b, "<action>");
    fill(b, len - 2 - 9, ' ');
    buf_cstr(b, "{}</action><action>{}</action>a");
}

static void test_action_limit(void)
{
    struct buf b = {.mem = &tags_plain};
    char wanted[200];

    action_of(&b, ARGS_BYTES_MAX);
    is_told("an action at the limit", &b,
            "plan|A:{\"actions\":[{},{}|T:a|A:]}|seal|goes on");
    snprintf(wanted, sizeof wanted,
             "W:action 1 is left out: it is longer than %d bytes|"
             "plan|A:{\"actions\":[{}|T:a|A:]}|seal|goes on",
             ARGS_BYTES_MAX);
    action_of(&b, ARGS_BYTES_MAX + 1);
    is_told("one over it is left out", &b, wanted);
    action_of(&b, ARGS_BYTES_MAX * 3);
    is_told("far over it, too", &b, wanted);
    buf_clear(&b);
    buf_cstr(&b, "<action>{\"</action><action>{}</action>");
    fill(&b, ARGS_BYTES_MAX, 'x');
    buf_cstr(&b, "<thought>a</thought>");
    {
        struct tags_told o;

        tags_run(buf_view(&b), 0, 0, &tags_plain, &o);
        tap_ok(!strncmp(o.line.ptr,
                        "W:action 1 is left out: line 1, column 3: ", 42) &&
                   strstr(o.line.ptr, "|plan|A:{\"actions\":[{}|T:xx") &&
                   strstr(o.line.ptr, "x|H:a|A:]}|seal|goes on"),
               "an open quote is given up at the limit");
        tags_told_free(&o);
    }
    buf_free(&b);
}

/* The plan's arguments are read by json_parse, whatever came in. */
static void test_plan_limits(void)
{
    struct buf b = {.mem = &tags_plain};
    struct arena a = {.mem = &tags_plain};
    struct tags_told o;

    for (int depth = JSON_DEPTH_MAX - 2; depth <= JSON_DEPTH_MAX; depth++) {
        buf_clear(&b);
        buf_cstr(&b, "<action>{\"a\":");
        fill(&b, (size_t)depth - 1, '[');
        fill(&b, (size_t)depth - 1, ']');
        buf_cstr(&b, "}</action>");
        tags_run(buf_view(&b), 0, 0, &tags_plain, &o);
        tap_ok(depth == JSON_DEPTH_MAX - 2
                   ? json_parse(buf_view(&o.args), &a, NULL) != NULL
                   : !o.planned && strstr(o.line.ptr, "nested too deep"),
               "an action of depth %d", depth);
        tags_told_free(&o);
    }
    buf_clear(&b);
    for (int i = 0; i < 5; i++) {
        buf_cstr(&b, "<action>{\"a\":\"");
        fill(&b, ARGS_BYTES_MAX / 4, 'x');
        buf_cstr(&b, "\"}</action>");
    }
    tags_run(buf_view(&b), 0, 0, &tags_plain, &o);
    tap_ok(o.args.len <= ARGS_BYTES_MAX &&
               json_parse(buf_view(&o.args), &a, NULL),
           "a plan stays within the limit of a call's arguments");
    tap_ok(strstr(o.line.ptr, "action 4 is left out: with it the plan is"),
           "and what does not fit is told");
    tags_told_free(&o);
    arena_free(&a);
    buf_free(&b);
}

static void test_warnings_limit(void)
{
    struct buf b = {.mem = &tags_plain};
    struct tags_told o;
    int warnings = 0;

    for (int i = 0; i < 2 * TAGS_WARNINGS_MAX; i++)
        buf_cstr(&b, "</thought>");
    tags_run(buf_view(&b), 0, 0, &tags_plain, &o);
    for (const char *p = o.line.ptr; (p = strstr(p, "W:")); p++)
        warnings++;
    tap_is_i64(warnings, TAGS_WARNINGS_MAX, "warnings are bounded");
    tap_ok(strstr(o.line.ptr, "W:more is wrong with the tags than is told|"
                              "final"),
           "and the last one says so");
    tags_told_free(&o);
    buf_free(&b);
}

/* Each opens a quote that swallows all the others: still linear. */
static void test_hostile_quotes(void)
{
    struct buf b = {.mem = &tags_plain};
    struct tags_told o;

    buf_cstr(&b, "<action>\"</action>");
    while (b.len < ARGS_BYTES_MAX / 2)
        buf_cstr(&b, "<action>\\\"</action>");
    buf_cstr(&b, "<action>{}</action>");
    tags_run(buf_view(&b), 0, 0, &tags_plain, &o);
    tap_ok(o.planned && str_is(buf_view(&o.args), "{\"actions\":[{}]}"),
           "quotes that lead astray again and again");
    tags_told_free(&o);
    buf_free(&b);
}

int main(void)
{
    test_rows();
    test_faults();
    test_tag_limit();
    test_space_limit();
    test_action_limit();
    test_plan_limits();
    test_warnings_limit();
    test_hostile_quotes();
    return tap_done();
}
