/*
 * test_policy_hide.c - what rules keep from reading, and programs with it:
 * which paths a sandbox is to hide, and what is told of the others.
 */
#include "core/turn/verdict.h"
#include "tap.h"

static const struct mem plain;

#define SHELL "{\"name\":\"shell\",\"program\":true,\"sandbox\":\"on\"}"
#define BARE "{\"name\":\"shell\",\"program\":true,\"sandbox\":\"off\"}"
#define SERVER                                                           \
    "{\"name\":\"s.x\",\"source\":\"mcp\",\"program\":true,\"sandbox\":" \
    "\"on\"}"

#define COMMAND                                                    \
    "{\"name\":\"count\",\"source\":\"command\",\"program\":true," \
    "\"sandbox\":\"on\",\"subject\":\"path\"}"
#define ENDPOINT "],\"endpoints\":[" SERVER

static const struct {
    const char *tools, *rules;
    const char *hidden; /* each with a space behind it */
    bool gap, gap_hiding;
} rows[] = {
    {SHELL, "", "", false, false},
    {SHELL, "\"!read_file(private/*)\"", "/r/private ", true, false},
    {SHELL, "\"!read_file(private/**)\"", "/r/private ", true, false},
    {SHELL, "\"!read_file(private)\"", "/r/private ", true, false},
    {SHELL, "\"!read_file(./a/../private/)\"", "/r/private ", true, false},
    {SHELL, "\"!read_file(/r/a/key)\"", "/r/a/key ", true, false},
    {SHELL, "\"!grep(a/*)\",\"!list_dir(b)\"", "/r/a /r/b ", true, false},
    {SHELL, "\"!*(a/*)\"", "/r/a ", true, false},
    /* Some of many, and all there is. */
    {SHELL, "\"!read_file(*.pem)\"", "", true, true},
    {SHELL, "\"!read_file(a/*.pem)\"", "", true, true},
    {SHELL, "\"!read_file(a/b*)\"", "", true, true},
    {SHELL, "\"!read_file(a/*/b)\"", "", true, true},
    {SHELL, "\"!read_file(*)\"", "", true, true},
    {SHELL, "\"!read_file(.)\"", "", true, true},
    {SHELL, "\"!read_file(/etc/passwd)\"", "", true, true},
    {SHELL, "\"!read_file(a/*)\",\"!read_file(*.pem)\"", "/r/a ", true, true},
    /* A rule before it that allows the same. */
    {SHELL, "\"read_file(a/*)\",\"!read_file(a/*)\"", "", true, false},
    {SHELL, "\"read_file(k)\",\"!read_file(k)\"", "", true, false},
    {SHELL, "\"read_file(a/x)\",\"!read_file(a/*)\"", "/r/a ", true, false},
    /* Not about reading, or a question. */
    {SHELL, "\"!write_file(a/*)\"", "", false, false},
    {SHELL, "\"!shell(cat a/*)\"", "", false, false},
    {SHELL, "\"?read_file(a/*)\"", "", false, false},
    {SHELL, "\"!read_file\"", "", false, false},
    /* Programs from which nothing is hidden, and none at all. */
    {BARE, "\"!read_file(a/*)\"", "/r/a ", true, true},
    {SERVER, "\"!read_file(a/*)\"", "/r/a ", true, true},
    {SHELL "," SERVER, "\"!read_file(a/*)\"", "/r/a ", true, true},
    {SHELL "," SERVER, "\"!s.*\",\"!read_file(a/*)\"", "/r/a ", true, false},
    {SHELL, "\"!shell\",\"!read_file(a/*)\"", "/r/a ", false, false},
    {COMMAND, "\"!read_file(a/*)\"", "/r/a ", true, false},
    {COMMAND, "\"!read_file(*.pem)\"", "", true, true},
    {COMMAND, "\"!count(a/*)\"", "", false, false},
    {ENDPOINT, "\"!read_file(a/*)\"", "/r/a ", true, true},
    {ENDPOINT, "\"!s.*\",\"!read_file(a/*)\"", "/r/a ", false, false},
};

static void test_row(size_t i)
{
    struct arena a = {.mem = &plain};
    struct buf b = {.mem = &plain}, seen = {.mem = &plain};
    struct config *c = NULL;
    struct turn t = {0};
    const char *const *list;

    buf_fmt(&b, "{\"root\":\"/r\",\"tools\":[%s],\"policy\":{\"rules\":[%s]}}",
            rows[i].tools, rows[i].rules);
    if (config_parse(buf_view(&b), &a, &c, NULL) != WEND_OK) {
        tap_ok(false, "%s", rows[i].rules);
        return;
    }
    t.config = c;
    list = policy_hidden(&t, &a);
    for (size_t k = 0; list && list[k]; k++)
        buf_fmt(&seen, "%s ", list[k]);
    tap_is_str(buf_view(&seen), rows[i].hidden, "hidden by %s", rows[i].rules);
    tap_is_i64(policy_gap(c, false, &a).ptr != NULL, rows[i].gap,
               "  told where nothing can be hidden");
    tap_is_i64(policy_gap(c, true, &a).ptr != NULL, rows[i].gap_hiding,
               "  told where it can, for %s", rows[i].tools);
    buf_free(&b);
    buf_free(&seen);
    arena_free(&a);
}

/* What those above it may not read is hidden from its programs, too. */
static void test_above(void)
{
    struct arena a = {.mem = &plain};
    struct config *c = NULL;
    struct turn t = {0};
    struct rule kept;
    struct restraint above = {.rules = &kept, .rules_count = 1};
    const char *const *list;

    if (rule_parse(STR("!read_file(above/*)"), &kept, NULL) != WEND_OK ||
        config_parse(STR("{\"root\":\"/r\",\"tools\":[" SHELL "]}"), &a, &c,
                     NULL) != WEND_OK) {
        tap_ok(false, "a child");
        return;
    }
    c->within.bounds = &above;
    c->within.bounds_count = 1;
    t.config = c;
    list = policy_hidden(&t, &a);
    tap_ok(list && list[0] && !strcmp(list[0], "/r/above") && !list[1],
           "what is kept from a run above");
    tap_ok(policy_gap(c, false, &a).ptr && !policy_gap(c, true, &a).ptr,
           "is told where it cannot be hidden");
    arena_free(&a);
}

int main(void)
{
    for (size_t i = 0; i < tap_count(rows); i++)
        test_row(i);
    test_above();
    return tap_done();
}
