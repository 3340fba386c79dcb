/*
 * fuzz_rule.c - a rule, a newline, a command: whatever they are, an allow
 * with a wildcard fits one plain command only, what is denied as a whole is
 * found in parts, and words that were written as a rule are that rule.
 */
#include "core/policy/policy.h"

#include <stdlib.h>

#include "base/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct mem libc_mem;

static void must(bool holds)
{
    if (!holds)
        abort();
}

/* The tool of a rule for the kind, called as it is. */
static struct rule_subject call(enum subject kind, const char *name,
                                struct arena *a)
{
    struct tool *t = arena_alloc(a, sizeof *t);

    must(t);
    t->name = str_of(name);
    t->kind = kind;
    return (struct rule_subject){.tool = t, .arena = a};
}

static void check_command(const struct rule *r, wend_str command,
                          struct arena *a)
{
    struct rule_subject q = call(SUBJECT_COMMAND, "shell", a);
    struct rule as = *r;

    q.subject = command;
    q.cut = command_cut(command, a);
    must(q.cut);
    as.tool = STR("shell");
    as.decision = WEND_DECISION_ALLOW;
    if (r->subject.ptr && rule_fits(&as, &q)) {
        must(glob_literal(r->subject) == r->subject.len ||
             !command_has_end(command));
        as.decision = WEND_DECISION_DENY; /* which holds for no less */
        must(rule_fits(&as, &q));
    }
}

/* Each line of the rest is a word. */
static void check_words(wend_str text, struct arena *a)
{
    struct buf json = {.mem = &libc_mem}, rule = {.mem = &libc_mem};
    struct json *argv;

    buf_char(&json, '[');
    for (size_t at = 0; at <= text.len;) {
        const char *end = memchr(text.ptr + at, '\n', text.len - at);
        size_t len = end ? (size_t)(end - text.ptr) - at : text.len - at;

        buf_cstr(&json, at ? "," : "");
        json_put_str(&json, (wend_str){text.ptr + at, len});
        at += len + 1;
    }
    buf_char(&json, ']');
    argv = json_parse(buf_view(&json), a, NULL);
    if (argv) {
        words_put(&rule, argv);
        must(!words_wrong(buf_view(&rule)));
        must(words_cut(argv, a) != NULL);
        if (glob_literal(buf_view(&rule)) == rule.len)
            must(words_fit(buf_view(&rule), argv, a));
    }
    buf_free(&json);
    buf_free(&rule);
}

static void check_url(const struct rule *r, wend_str url, struct arena *a)
{
    struct buf json = {.mem = &libc_mem}, rule = {.mem = &libc_mem};
    const struct rule_request *q;
    struct json *args;

    buf_cstr(&json, "{\"url\":");
    json_put_str(&json, url);
    buf_char(&json, '}');
    args = json_parse(buf_view(&json), a, NULL);
    q = args ? request_read(args, a) : NULL;
    if (q && r->subject.ptr && request_fits(q, r->subject, true, a))
        must(request_fits(q, r->subject, false, a));
    if (q && q->scheme.ptr &&
        str_eq(q->target[URL_PLAIN], q->target[URL_OPEN])) {
        request_put(&rule, q);
        must(request_fits(q, buf_view(&rule), true, a));
    }
    buf_free(&json);
    buf_free(&rule);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *newline = size ? memchr(data, '\n', size) : NULL;
    wend_str rule = {(const char *)data,
                     newline ? (size_t)(newline - (const char *)data) : size};
    wend_str rest =
        newline ? (wend_str){newline + 1, size - rule.len - 1} : STR("");
    struct arena a = {.mem = &libc_mem};
    struct rule r = {0};

    (void)rule_check(rule, STR("/w"), NULL);
    if (rule_parse(rule, &r, NULL) == WEND_OK)
        check_command(&r, rest, &a);
    if (utf8_valid_len(rest) == rest.len) { /* as all JSON is */
        check_words(rest, &a);
        check_url(&r, rest, &a);
    }
    arena_free(&a);
    return 0;
}
