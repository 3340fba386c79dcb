/*
 * test_json.c - reading JSON: what is accepted, what is refused and how.
 *
 * Rows named n_, y_ and i_ are cases of the JSONTestSuite.
 */
#include "base/json.h"

#include "base/limits.h"
#include "fault.h"
#include "tap.h"

#define FFFD "\xef\xbf\xbd"

static const struct mem plain;

/* What is accepted, and what json_put makes of it; NULL: the same bytes. */
static const struct {
    const char *why, *text, *wanted;
} good[] = {
    {"y_structure_lonely_null", "null", NULL},
    {"y_structure_lonely_true", "true", NULL},
    {"y_structure_lonely_false", "false", NULL},
    {"y_structure_lonely_int", "42", NULL},
    {"y_structure_lonely_string", "\"asd\"", NULL},
    {"y_structure_string_empty", "\"\"", NULL},
    {"y_structure_trailing_newline", "[\"a\"]\n", "[\"a\"]"},
    {"y_structure_whitespace_array", " [] ", "[]"},
    {"y_array_empty", "[]", NULL},
    {"y_array_with_several_null", "[1,null,null,null,2]", NULL},
    {"y_array_arraysWithSpaces", "[[]   ]", "[[]]"},
    {"y_array_with_1_and_newline", "[1\n]", "[1]"},
    {"all four kinds of space", "\t\r\n [ \t\r\n1 , 2 ] ", "[1,2]"},
    {"y_object_empty", "{}", NULL},
    {"y_object_empty_key", "{\"\":0}", NULL},
    {"y_object_escaped_null_in_key", "{\"foo\\u0000bar\":42}", NULL},
    {"y_object_extreme_numbers", "{\"min\":-1.0e+28,\"max\":1.0e+28}", NULL},
    {"y_object_with_newlines", "{\n\"a\": \"b\"\n}", "{\"a\":\"b\"}"},
    {"keys that differ in case or by a NUL", "{\"a\":1,\"A\":2,\"a\\u0000\":3}",
     NULL},
    {"y_number", "[123e65]", NULL},
    {"y_number_0e+1", "[0e+1]", NULL},
    {"y_number_minus_zero", "[-0]", NULL},
    {"y_number_double_close_to_zero",
     "[-0.000000000000000000000000000000000000000000000000001]", NULL},
    {"y_number_real_capital_e_neg_exp", "[1E-2]", NULL},
    {"i_number_huge_exp", "[0.4e00669999999999999999999]", NULL},
    {"i_number_very_big_negative_int",
     "[-237462374673276894279832749832423479]", NULL},
    {"y_string_allowed_escapes", "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
     "\"\\\"\\\\/\\b\\f\\n\\r\\t\""},
    {"y_string_1_2_3_bytes_UTF-8", "\"\\u0060\\u012a\\u12AB\"",
     "\"`\xc4\xaa\xe1\x8a\xab\""},
    {"y_string_accepted_surrogate_pair", "\"\\uD801\\udc37\"",
     "\"\xf0\x90\x90\xb7\""},
    {"y_string_last_surrogates", "\"\\uDBFF\\uDFFF\"", "\"\xf4\x8f\xbf\xbf\""},
    {"y_string_nonCharacterInUTF-8_U+FFFF", "\"\xef\xbf\xbf\"", NULL},
    {"y_string_u+2028_line_sep", "\"\xe2\x80\xa8\"", NULL},
    {"y_string_with_del_character", "\"a\x7f\"", NULL},
    {"y_string_unicode_escaped_double_quote", "\"\\u0022\"", "\"\\\"\""},
    {"y_string_uescaped_newline", "\"new\\u000Aline\"", "\"new\\nline\""},
    {"y_string_null_escape", "\"\\u0000\"", NULL},
    {"y_string_double_escape_a", "\"\\\\a\"", NULL},
    {"y_string_backslash_doublequotes", "\"\\\"\"", NULL},
    {"y_string_in_array_with_leading_space", "[ \"asd\"]", "[\"asd\"]"},
    {"i_string_1st_surrogate_alone", "\"\\uDADA\"", "\"" FFFD "\""},
    {"i_string_1st_surrogate_twice", "\"\\uD888\\uD888\"", "\"" FFFD FFFD "\""},
    {"i_string_1st_valid_surrogate_2nd_invalid", "\"\\uD888\\u1234\"",
     "\"" FFFD "\xe1\x88\xb4\""},
    {"i_string_inverted_surrogates", "\"\\uDd1e\\uD834\"", "\"" FFFD FFFD "\""},
    {"i_string_incomplete_surrogate_and_escape", "\"\\uD800\\n\"",
     "\"" FFFD "\\n\""},
    {"i_string_invalid_lonely_surrogate", "\"\\ud800abc\"", "\"" FFFD "abc\""},
    {"one surrogate, then a pair", "\"\\ud800\\ud83d\\ude00\"",
     "\"" FFFD "\xf0\x9f\x98\x80\""},
    {"an escape across eight bytes", "\"1234567\\n9\"", NULL},
    {"non-ASCII across eight bytes", "\"1234567\xc3\xa9\"", NULL},
};

/* What is refused: where, and what the message says. */
static const struct {
    const char *why, *text;
    size_t len; /* 0: up to the NUL */
    uint32_t line, column;
    const char *wanted;
} bad[] = {
    {"n_structure_no_data", "", 0, 1, 1, "a value, found end of input"},
    {"only space", " \n\t ", 0, 2, 3, "a value, found end of input"},
    {"n_structure_UTF8_BOM_no_data", "\xef\xbb\xbf{}", 0, 1, 1,
     "a value, found a byte order mark"},
    {"n_structure_null-byte-outside-string", "[\0]", 3, 1, 2,
     "found byte 0x00"},
    {"n_structure_trailing_#", "{}#", 0, 1, 3, "nothing after the value"},
    {"n_structure_double_array", "[][]", 0, 1, 3, "nothing after the value"},
    {"a NUL after the value", "1\0", 2, 1, 2, "found byte 0x00"},
    {"n_structure_unclosed_array", "[1", 0, 1, 3, "',' or ']', found end"},
    {"n_structure_open_object", "{", 0, 1, 2, "'\"' and a key, found end"},
    {"n_structure_end_array", "]", 0, 1, 1, "a value, found ']'"},
    {"n_structure_array_with_extra_bracket", "[1]]", 0, 1, 4, "found ']'"},
    {"n_structure_object_unclosed_no_value", "{\"\":", 0, 1, 5, "a value"},
    {"n_structure_U+2060_word_joined", "[\xe2\x81\xa0]", 0, 1, 2,
     "found byte 0xe2"},
    {"n_structure_whitespace_formfeed", "[\f]", 0, 1, 2, "found byte 0x0c"},
    {"n_structure_capitalized_True", "[True]", 0, 1, 2, "found 'T'"},
    {"n_structure_single_star", "*", 0, 1, 1, "a value, found '*'"},
    {"the wrong bracket", "[1}", 0, 1, 3, "',' or ']', found '}'"},
    {"n_array_extra_comma", "[\"\",]", 0, 1, 5, "a value, found ']'"},
    {"n_array_double_comma", "[1,,2]", 0, 1, 4, "a value, found ','"},
    {"n_array_just_comma", "[,]", 0, 1, 2, "a value, found ','"},
    {"n_array_missing_comma", "[1 true]", 0, 1, 4, "',' or ']', found 't'"},
    {"n_array_colon_instead_of_comma", "[\"\": 1]", 0, 1, 4, "found ':'"},
    {"n_array_newlines_unclosed", "[\"a\",\n4\n,1,", 0, 3, 4, "a value"},
    {"n_object_trailing_comma", "{\"id\":0,}", 0, 1, 9, "a key, found '}'"},
    {"n_object_comma_instead_of_colon", "{\"x\",null}", 0, 1, 5,
     "':' after the key, found ','"},
    {"n_object_missing_value", "{\"a\":", 0, 1, 6, "a value, found end"},
    {"n_object_non_string_key", "{1:1}", 0, 1, 2, "a key, found '1'"},
    {"n_object_unquoted_key", "{a: \"b\"}", 0, 1, 2, "a key, found 'a'"},
    {"n_object_single_quote", "{'a':0}", 0, 1, 2, "a key, found '''"},
    {"n_object_two_commas_in_a_row", "{\"a\":1,,\"b\":2}", 0, 1, 8,
     "found ','"},
    {"n_object_trailing_comment", "{\"a\":1}/**/", 0, 1, 8, "found '/'"},
    {"n_object_missing_comma", "{\"a\":1 \"b\":2}", 0, 1, 8,
     "',' or '}', found '\"'"},
    {"a duplicate key", "{\"a\":1,\n \"a\":2}", 0, 2, 2,
     "a new key, found \"a\" again"},
    {"duplicate once decoded", "{\"a\":1,\"\\u0061\":2}", 0, 1, 8,
     "\"a\" again"},
    {"duplicate empty key", "{\"\":1,\"\":2}", 0, 1, 7, "\"\" again"},
    {"a duplicate key that has no print", "{\"\\n\":1,\"\\n\":2}", 0, 1, 9,
     "\"?\" again"},
    {"n_number_-01", "-01", 0, 1, 3, "after a leading 0, found '1'"},
    {"n_number_+1", "+1", 0, 1, 1, "a value, found '+'"},
    {"n_number_.-1", ".1", 0, 1, 1, "a value, found '.'"},
    {"n_number_minus alone", "[-]", 0, 1, 3, "a digit after '-', found ']'"},
    {"n_number_minus_infinity", "-Infinity", 0, 1, 2, "found 'I'"},
    {"n_number_NaN", "NaN", 0, 1, 1, "a value, found 'N'"},
    {"n_number_1.", "[1.]", 0, 1, 4, "a digit after '.', found ']'"},
    {"n_number_2.e3", "2.e3", 0, 1, 3, "a digit after '.', found 'e'"},
    {"n_number_0e", "0e", 0, 1, 3, "a digit in the exponent, found end"},
    {"n_number_9.e+", "[1e+]", 0, 1, 5, "a digit in the exponent"},
    {"n_number_hex_1_digit", "0x1", 0, 1, 2, "found 'x'"},
    {"n_number_1_000", "[1 000]", 0, 1, 4, "found '0'"},
    {"n_number_1eE2", "1eE2", 0, 1, 3, "found 'E'"},
    {"n_number_0.1.2", "0.1.2", 0, 1, 4, "found '.'"},
    {"n_number_U+FF11_fullwidth_digit_one", "\xef\xbc\x91", 0, 1, 1,
     "found byte 0xef"},
    {"n_incomplete_true", "[tru]", 0, 1, 5, "true, found ']'"},
    {"n_incomplete_null", "nul", 0, 1, 4, "null, found end of input"},
    {"n_incomplete_false", "fals", 0, 1, 5, "false, found end"},
    {"a literal that goes on", "nulll", 0, 1, 5, "found 'l'"},
    {"n_string_no_quotes_with_bad_escape", "[\\n]", 0, 1, 2, "found '\\'"},
    {"n_string_single_quote", "'x'", 0, 1, 1, "found '''"},
    {"n_string_single_doublequote", "\"", 0, 1, 2, "'\"' at the end"},
    {"n_string_start_escape_unclosed", "\"\\", 0, 1, 3, "rest of an escape"},
    {"n_string_escaped_backslash_bad", "[\"\\\\\\\"]", 0, 1, 8,
     "'\"' at the end"},
    {"n_string_escape_x", "\"\\x00\"", 0, 1, 3, "backslash, found 'x'"},
    {"n_string_backslash_00", "\"\\\0\"", 4, 1, 3, "found byte 0x00"},
    {"n_string_1_surrogate_then_escape_u", "\"\\uD800\\u\"", 0, 1, 10,
     "four hex digits after \\u, found '\"'"},
    {"n_string_1_surrogate_then_escape_u1x", "\"\\uD800\\u1x\"", 0, 1, 11,
     "four hex digits after \\u, found 'x'"},
    {"n_string_incomplete_escaped_character", "\"\\u00A\"", 0, 1, 7,
     "found '\"'"},
    {"n_string_invalid_unicode_escape", "\"\\uqqqq\"", 0, 1, 4, "found 'q'"},
    {"n_string_unescaped_newline", "[\"new\nline\"]", 0, 1, 6,
     "an escape for a control character, found byte 0x0a"},
    {"n_string_unescaped_tab", "\"\t\"", 0, 1, 2, "found byte 0x09"},
    {"n_string_unescaped_ctrl_char", "\"a\0a\"", 5, 1, 3, "found byte 0x00"},
    {"a control character after eight bytes", "\"0123456789\x1f\"", 0, 1, 12,
     "found byte 0x1f"},
    {"n_string_invalid-utf-8-in-escape", "\"\\u\xe5\"", 0, 1, 4,
     "valid UTF-8, found byte 0xe5"},
    {"n_string_escaped_emoji", "\"\\\xf0\x9f\x8c\x80\"", 0, 1, 3,
     "found byte 0xf0"},
    {"i_string_invalid_utf-8", "\n\"a\xff\"", 0, 2, 3,
     "valid UTF-8, found byte 0xff"},
    {"i_string_overlong_sequence_2_bytes", "\"\xc0\xaf\"", 0, 1, 2, "UTF-8"},
    {"i_string_UTF8_surrogate_U+D800", "\"\xed\xa0\x80\"", 0, 1, 2, "UTF-8"},
    {"i_string_not_in_unicode_range", "\"\xf4\xbf\xbf\xbf\"", 0, 1, 2, "UTF-8"},
    {"i_string_truncated-utf-8", "\"\xe0\xff\"", 0, 1, 2, "UTF-8"},
    {"a sequence cut by the quote", "\"0123456\xe2\x82\"", 0, 1, 9, "UTF-8"},
    {"bad UTF-8 in a key", "{\"\x80\":1}", 0, 1, 3, "UTF-8"},
};

/* A copy without anything after it: reading on is an error for sanitizers. */
static struct json *parse_exactly(const char *text, size_t len, struct arena *a,
                                  char **copy, wend_error *err)
{
    *copy = malloc(len ? len : 1);
    if (len)
        memcpy(*copy, text, len);
    memset(err, 0, sizeof *err);
    return json_parse((wend_str){*copy, len}, a, err);
}

static void test_good(void)
{
    for (size_t i = 0; i < tap_count(good); i++) {
        const char *wanted = good[i].wanted ? good[i].wanted : good[i].text;
        struct arena a = {.mem = &plain};
        struct buf b = {.mem = &plain};
        wend_error err;
        char *copy;
        struct json *j =
            parse_exactly(good[i].text, strlen(good[i].text), &a, &copy, &err);

        if (j)
            json_put(&b, j);
        tap_is_str(j ? buf_view(&b) : str_of(err.message), wanted,
                   "accepted: %s", good[i].why);
        buf_free(&b);
        arena_free(&a);
        free(copy);
    }
}

static void test_bad(void)
{
    struct arena unused = {.mem = &plain};

    for (size_t i = 0; i < tap_count(bad); i++) {
        size_t len = bad[i].len ? bad[i].len : strlen(bad[i].text);
        struct arena a = {.mem = &plain};
        wend_error err;
        char *copy;
        struct json *j = parse_exactly(bad[i].text, len, &a, &copy, &err);
        bool holds = !j && err.status == WEND_E_PARSE &&
                     err.line == bad[i].line && err.column == bad[i].column &&
                     strstr(err.message, bad[i].wanted) &&
                     !strncmp(err.message, "expected ", 9);

        if (!tap_ok(holds, "refused: %s", bad[i].why))
            printf("# got: %d %u:%u %s\n# wanted: %u:%u %s\n", err.status,
                   err.line, err.column, err.message, bad[i].line,
                   bad[i].column, bad[i].wanted);
        arena_free(&a);
        free(copy);
    }
    tap_ok(!json_parse(STR_NONE, &unused, NULL),
           "refused: absent text, and nobody asks why");
    arena_free(&unused);
}

static void test_depth(void)
{
    static const struct {
        const char *why, *open, *middle, *close;
        int depth;
        wend_status wanted;
    } rows[] = {
        {"one below", "[", "", "]", JSON_DEPTH_MAX - 1, WEND_OK},
        {"at the limit", "[", "", "]", JSON_DEPTH_MAX, WEND_OK},
        {"one above", "[", "", "]", JSON_DEPTH_MAX + 1, WEND_E_LIMIT},
        {"a scalar is no level", "[", "1", "]", JSON_DEPTH_MAX, WEND_OK},
        {"objects", "{\"a\":", "1", "}", JSON_DEPTH_MAX, WEND_OK},
        {"one above", "{\"a\":", "1", "}", JSON_DEPTH_MAX + 1, WEND_E_LIMIT},
        {"n_structure_100000_opening_arrays", "[", "", "", 100000,
         WEND_E_LIMIT},
        {"n_structure_open_array_object", "[{\"\":", "", "", 50000,
         WEND_E_LIMIT},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct arena a = {.mem = &plain};
        struct buf b = {.mem = &plain};
        wend_error err = {0};
        struct json *j;

        for (int k = 0; k < rows[i].depth; k++)
            buf_cstr(&b, rows[i].open);
        buf_cstr(&b, rows[i].middle);
        for (int k = 0; k < rows[i].depth; k++)
            buf_cstr(&b, rows[i].close);
        j = json_parse(buf_view(&b), &a, &err);
        tap_is_i64(err.status, rows[i].wanted, "depth: %s", rows[i].why);
        tap_ok(!j == (rows[i].wanted != WEND_OK), "depth: %s, the tree",
               rows[i].why);
        buf_free(&b);
        arena_free(&a);
    }
}

/* Objects around the size from which on keys are no longer compared. */
static void test_many_keys(void)
{
    static const struct {
        const char *why;
        int count, twice; /* which key comes again at the end; -1: none */
    } rows[] = {
        {"one below the trie", 15, -1},
        {"at it", 16, -1},
        {"one above", 17, -1},
        {"many", 20000, -1},
        {"the first again, no trie", 15, 0},
        {"the last again", 16, 15},
        {"the first again, trie", 17, 0},
        {"one of many again", 20000, 9999},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct arena a = {.mem = &plain};
        struct buf b = {.mem = &plain};
        wend_error err = {0};
        struct json *j;
        char wanted[40];

        for (int k = 0; k < rows[i].count; k++)
            buf_fmt(&b, "%s\"k%d\":%d", k ? "," : "{", k, k);
        if (rows[i].twice >= 0)
            buf_fmt(&b, ",\"k%d\":0", rows[i].twice);
        buf_char(&b, '}');
        j = json_parse(buf_view(&b), &a, &err);
        snprintf(wanted, sizeof wanted, "found \"k%d\" again", rows[i].twice);
        if (rows[i].twice < 0)
            tap_ok(j && (int)j->count == rows[i].count, "keys: %s",
                   rows[i].why);
        else
            tap_ok(!j && strstr(err.message, wanted), "keys: %s", rows[i].why);
        buf_free(&b);
        arena_free(&a);
    }
}

enum { STAGES = 12, BLOCK = 8, BLOCKS_TRIED = 1 << 20 };

static uint32_t fnv(uint32_t hash, const char *p)
{
    for (int i = 0; i < BLOCK; i++)
        hash = (hash ^ (unsigned char)p[i]) * 0x01000193;
    return hash;
}

/* Short words in order do not collide; scattered ones do. */
static void block_text(char out[BLOCK], uint32_t n)
{
    n *= 0x9e3779b1;
    for (int i = 0; i < BLOCK; i++, n >>= 4)
        out[i] = (char)('a' + (n & 15));
}

/* Two blocks that lead from one state of the hash to the same next one. */
static bool collide(uint32_t *hash, char first[BLOCK], char second[BLOCK])
{
    uint32_t *last = calloc(BLOCKS_TRIED, sizeof *last); /* by hash, from 1 */
    bool found = false;

    for (uint32_t n = 0; last && n < BLOCKS_TRIED && !found; n++) {
        uint32_t next, *slot;

        block_text(second, n);
        next = fnv(*hash, second);
        slot = &last[(next ^ next >> 15) % BLOCKS_TRIED];
        if (*slot)
            block_text(first, *slot - 1);
        found = *slot && fnv(*hash, first) == next;
        *slot = n + 1;
    }
    *hash = fnv(*hash, second);
    free(last);
    return found;
}

/* Keys made by someone who knows the hash: every choice of one block per
 * stage has the same. */
static void test_chosen_keys(void)
{
    char blocks[STAGES][2][BLOCK];
    char first[STAGES * BLOCK + 2]; /* and its quotes */
    uint32_t hash = 0x811c9dc5;
    struct arena a = {.mem = &plain};
    struct buf b = {.mem = &plain};
    wend_error err = {0};
    bool found = true;
    struct json *j;

    for (int i = 0; i < STAGES; i++)
        found = collide(&hash, blocks[i][0], blocks[i][1]) && found;
    tap_ok(found, "chosen keys: they are there");
    for (uint32_t n = 0; n < 1 << STAGES; n++) {
        buf_cstr(&b, n ? ",\"" : "{\"");
        for (int i = 0; i < STAGES; i++)
            buf_add(&b, blocks[i][n >> i & 1], BLOCK);
        buf_cstr(&b, "\":0");
    }
    buf_char(&b, '}');
    j = json_parse(buf_view(&b), &a, &err);
    tap_is_i64(j ? j->count : 0, 1 << STAGES, "chosen keys: none is refused");
    memcpy(first, b.ptr + 1, sizeof first);
    b.len--;
    buf_char(&b, ',');
    buf_add(&b, first, sizeof first);
    buf_cstr(&b, ":0}");
    j = json_parse(buf_view(&b), &a, &err);
    tap_ok(!j && strstr(err.message, "again"), "chosen keys: but one twice");
    buf_free(&b);
    arena_free(&a);
}

static void test_tree(void)
{
    const char *text = "{\"a\": [1, true],\n  \"b\" : \"x\\ty\"}";
    struct arena a = {.mem = &plain};
    wend_error err;
    struct json *j = json_parse(str_of(text), &a, &err);
    struct json *list = json_get(j, "a"), *b = json_get(j, "b");

    tap_is_i64(j ? j->kind : 0, JSON_OBJECT, "tree: an object");
    tap_is_i64(j ? j->count : 0, 2, "tree: of two");
    tap_ok(list && list->line == 1 && list->column == 7, "tree: its place");
    tap_ok(list && list->first->next->column == 11, "tree: of a child");
    tap_ok(b && b->line == 2 && b->column == 9, "tree: on another line");
    tap_ok(list && list->key.ptr == text + 2, "tree: keys are not copied");
    tap_is_str(json_str(b), "x\ty", "tree: a decoded string");
    tap_is_str(json_str(list), (const char *)NULL, "tree: no string");
    tap_ok(!json_get(j, "c") && !json_get(list, "a") && !json_get(NULL, "a"),
           "tree: no member");
    tap_is_str(json_kind_name(JSON_NUMBER), "number", "tree: name of a kind");
    arena_free(&a);
}

static void test_failures(void)
{
    const char *text = "{\"a\\n\":[1,2,{\"b\":\"\\u00e9\"}],\"0\":0,\"1\":0,"
                       "\"2\":0,\"3\":0,\"4\":0,\"5\":0,\"6\":0,\"7\":0,"
                       "\"8\":0,\"9\":0,\"10\":0,\"11\":0,\"12\":0,\"13\":0,"
                       "\"14\":0,\"15\":0,\"16\":0,\"17\":0}";
    int64_t wrong = 0, failures = 0;

    /* Chunks of all sizes, so that it hits another place each time. */
    for (size_t chunk = 8; chunk <= 4096; chunk += 40) {
        struct fault f = {0};

        while (fault_next(&f)) {
            struct mem m = fault_mem(&f);
            struct arena a = {.mem = &m, .chunk_min = chunk};
            wend_error err = {0};
            struct json *j = json_parse(str_of(text), &a, &err);

            wrong += !j != f.hit;
            wrong += f.hit && err.status != WEND_E_NOMEM;
            arena_free(&a);
            wrong += f.live != 0;
            failures += f.hit;
        }
    }
    tap_is_i64(wrong, 0, "failures: each allocation gives NOMEM, no leak");
    tap_ok(failures > 200, "failures: there were some");
}

/* Halves of characters are noted at the ends of strings, up to a limit. */
static void test_cuts(void)
{
    static const struct {
        const char *why, *text;
        size_t count;
        uint16_t unit; /* of the last one */
    } rows[] = {
        {"whole", "[\"\\ud83d\\udc4b\"]", 0, 0},
        {"first half at the end", "[\"a\\ud83d\"]", 1, 0xd83d},
        {"second half at the start", "[\"\\udc4ba\"]", 1, 0xdc4b},
        {"both", "[\"\\udc4b\\ud83d\"]", 2, 0xd83d},
        {"first half at the start", "[\"\\ud83da\"]", 0, 0},
        {"second half at the end", "[\"a\\udc4b\"]", 0, 0},
        {"in the middle", "[\"a\\ud83da\\udc4ba\"]", 0, 0},
    };
    struct arena a = {.mem = &plain};
    struct buf many = {.mem = &plain};
    struct json_cuts cuts = {0};

    for (size_t i = 0; i < tap_count(rows); i++) {
        const struct json *j;
        size_t n;

        cuts.count = 0;
        j = json_parse_cuts(str_of(rows[i].text), &a, &cuts, NULL);
        n = cuts.count;
        tap_ok(j && n == rows[i].count &&
                   (!n || (cuts.list[n - 1].unit == rows[i].unit &&
                           !memcmp(cuts.list[n - 1].at, FFFD, 3))),
               "halves: %s", rows[i].why);
    }
    cuts.count = 0;
    for (int i = 0; i < 2 * JSON_CUTS_MAX; i++)
        buf_cstr(&many, i ? ",\"\\ud83d\"" : "[\"\\ud83d\"");
    buf_char(&many, ']');
    tap_ok(json_parse_cuts(buf_view(&many), &a, &cuts, NULL) &&
               cuts.count == JSON_CUTS_MAX,
           "halves: no more than the limit");
    buf_free(&many);
    arena_free(&a);
}

int main(void)
{
    test_good();
    test_bad();
    test_depth();
    test_many_keys();
    test_chosen_keys();
    test_tree();
    test_failures();
    test_cuts();
    return tap_done();
}
