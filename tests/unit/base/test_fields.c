/*
 * test_fields.c - mappings read by tables, and errors with the file's name.
 */
#include "base/fields.h"

#include "base/fail.h"
#include "fault.h"
#include "tap.h"

enum { ENTRIES_MAX = 3 };

static const struct mem plain;

struct fields_entry {
    wend_str key;
    int64_t n;
};

static FIELD_READ(read_entry)
{
    static const struct field row = {.min = 0, .max = 9};
    struct fields_entry *e = at;

    e->key = j->key;
    return field_number(f, &row, j, &e->n);
}

static wend_status read_map(struct fields *f, wend_str text, struct buf *out)
{
    struct fields_map {
        struct fields_entry *list;
        size_t count;
    } map = {0};
    static const struct field row = {
        FIELD_ITEMS(struct fields_map, list, read_entry, ENTRIES_MAX)};
    wend_status s = fields_open_json(f, text);

    if (!s)
        s = field_map(f, &row, f->root, &map);
    for (size_t i = 0; !s && i < map.count; i++)
        buf_fmt(out, "%.*s=%d ", (int)map.list[i].key.len, map.list[i].key.ptr,
                (int)map.list[i].n);
    return s;
}

static void test_map(void)
{
    static const struct {
        const char *why, *text, *wanted; /* the entries, or the message */
        wend_status status;
    } rows[] = {
        {"in their order", "{\"b\":1,\"a\":2}", "b=1 a=2 ", WEND_OK},
        {"none", "{}", "", WEND_OK},
        {"as many as may be", "{\"a\":1,\"b\":2,\"c\":3}", "a=1 b=2 c=3 ",
         WEND_OK},
        {"one more", "{\"a\":1,\"b\":2,\"c\":3,\"d\":4}",
         "the map has 4 entries; at most 3", WEND_E_LIMIT},
        {"a list", "[1]", "the map must be a mapping from names, not a list",
         WEND_E_PARSE},
        {"an entry that is wrong is named", "{\"a\":1,\"b\":10}",
         ".b must be a whole number from 0 to 9, not 10", WEND_E_PARSE},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct arena a = {.mem = &plain};
        struct buf out = {.mem = &plain};
        wend_error err = {0};
        struct fields f = {.arena = &a, .err = &err, .whole = "the map"};
        wend_status s = read_map(&f, str_of(rows[i].text), &out);

        tap_ok(s == rows[i].status && err.status == s &&
                   !strcmp(s         ? err.message
                           : out.ptr ? out.ptr
                                     : "",
                           rows[i].wanted) &&
                   (s || !f.where[0]),
               "map: %s (%s)", rows[i].why, err.message);
        buf_free(&out);
        arena_free(&a);
    }
}

static void test_map_memory(void)
{
    struct fault f = {0};
    int bad = 0;

    while (fault_next(&f)) {
        struct mem m = fault_mem(&f);
        struct arena a = {.mem = &m, .chunk_min = 16};
        struct buf out = {.mem = &plain};
        wend_error err = {0};
        struct fields files = {.arena = &a, .err = &err, .whole = "the map"};
        wend_status s = read_map(&files, STR("{\"a\":1,\"b\":2}"), &out);

        bad += s != (f.hit ? WEND_E_NOMEM : WEND_OK) || err.status != s;
        buf_free(&out);
        arena_free(&a);
        bad += f.live != 0;
    }
    tap_ok(!bad && f.fail_at > 2, "map: no memory, at each place");
}

static void test_fail_in(void)
{
    static const struct {
        const char *why;
        wend_error given;
        wend_status status;
        uint32_t line, column;
        const char *wanted;
    } rows[] = {
        {"its place and its status",
         {.status = WEND_E_PARSE, .line = 3, .column = 7, .message = "bad"},
         WEND_E_PARSE,
         3,
         7,
         "dir/a.yaml:3:7: bad"},
        {"another status",
         {.status = WEND_E_LIMIT, .line = 1, .column = 1, .message = "long"},
         WEND_E_LIMIT,
         1,
         1,
         "dir/a.yaml:1:1: long"},
        {"without a place",
         {.status = WEND_E_INVAL, .message = "odd"},
         WEND_E_INVAL,
         0,
         0,
         "dir/a.yaml: odd"},
        {"memory is no fault of the file",
         {.status = WEND_E_NOMEM, .line = 2, .column = 2, .message = "x"},
         WEND_E_NOMEM,
         0,
         0,
         "out of memory"},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        wend_error err = {0}, same = rows[i].given;
        wend_status s = fail_in(&err, "dir/a.yaml", &rows[i].given);

        tap_ok(s == rows[i].status && err.status == s &&
                   err.line == rows[i].line && err.column == rows[i].column &&
                   !strcmp(err.message, rows[i].wanted),
               "in a file: %s (%s)", rows[i].why, err.message);
        tap_ok(fail_in(&same, "dir/a.yaml", &same) == s &&
                   !strcmp(same.message, err.message),
               "in a file: %s, in place", rows[i].why);
        tap_ok(fail_in(NULL, "dir/a.yaml", &rows[i].given) == s,
               "in a file: %s, not asked", rows[i].why);
    }
}

int main(void)
{
    test_map();
    test_map_memory();
    test_fail_in();
    return tap_done();
}
