/*
 * scenario.c - the small language that says what a request shall get.
 *
 *   scenario   step (";" step)*  ["#" anything]
 *   step       verb (":" argument)*  ("," name ["=" value])*
 *
 * The nth request with the same scenario gets the nth step, later ones the
 * last. README.md lists verbs and names.
 */
#include <stdlib.h>

#include "server.h"

enum { ARGS_MAX = 8 };

const struct plan plan_default = {
    .texts = -1, .text_bytes = 8, .status = 200, .error_at = -1};

struct step {
    struct plan *plan;
    struct arena *arena;
    wend_str args[ARGS_MAX];
    size_t count;
    wend_str rest; /* all after the verb, not split */
};

static int64_t number(const struct step *s, size_t i, int64_t otherwise)
{
    return i < s->count && s->args[i].len ? strtoll(s->args[i].ptr, NULL, 10)
                                          : otherwise;
}

/* 500us, 20ms, 1s, or a bare number of ms. */
static int64_t duration_us(wend_str s)
{
    char *end;
    double n = strtod(s.ptr, &end);

    if (!strncmp(end, "us", 2))
        return (int64_t)n;
    return (int64_t)(n * (*end == 's' ? 1e6 : 1e3));
}

/* ---- Verbs --------------------------------------------------------------- */

static void do_text(struct step *s)
{
    s->plan->texts = number(s, 0, 5);
    s->plan->text_bytes = number(s, 1, 8);
}

static void do_think(struct step *s)
{
    s->plan->thinks = number(s, 0, 5);
    s->plan->text_bytes = number(s, 1, 8);
}

static void do_delay(struct step *s)
{
    if (s->count)
        s->plan->delay_us = duration_us(s->args[0]);
    s->plan->texts = number(s, 1, 5);
    s->plan->text_bytes = number(s, 2, 8);
}

static void do_tools(struct step *s)
{
    s->plan->calls = 1;
    s->plan->turns = number(s, 0, 1);
}

static void do_par(struct step *s)
{
    s->plan->calls = number(s, 0, 2);
    s->plan->turns = number(s, 1, 1);
}

static void do_call(struct step *s)
{
    const char *colon = memchr(s->rest.ptr, ':', s->rest.len);
    size_t len = colon ? (size_t)(colon - s->rest.ptr) : s->rest.len;

    s->plan->calls = s->plan->turns = 1;
    s->plan->call_name = (wend_str){s->rest.ptr, len};
    s->plan->call_args =
        colon ? (wend_str){colon + 1, s->rest.len - len - 1} : STR("{}");
}

static void do_say(struct step *s)
{
    s->plan->say = s->rest;
}

static void do_bytes(struct step *s)
{
    s->plan->kind = PLAN_BYTES;
    s->plan->say = s->rest;
}

static void do_status(struct step *s)
{
    struct buf headers = {.mem = s->arena->mem};

    s->plan->kind = PLAN_STATUS;
    s->plan->status = number(s, 0, 500);
    for (size_t i = 1; i < s->count; i++) {
        const char *equals = memchr(s->args[i].ptr, '=', s->args[i].len);
        size_t len = equals ? (size_t)(equals - s->args[i].ptr) : 0;
        wend_str name = {s->args[i].ptr, len};
        wend_str value = {equals + 1, s->args[i].len - len - 1};

        if (!equals)
            continue;
        if (str_is(name, "code"))
            s->plan->code = value;
        else
            buf_fmt(&headers, "%.*s: %.*s\r\n", (int)name.len, name.ptr,
                    (int)value.len, value.ptr);
    }
    s->plan->headers = arena_str(s->arena, buf_view(&headers));
    buf_free(&headers);
}

static void do_refuse(struct step *s)
{
    s->plan->refuse = s->count ? s->args[0] : STR("");
}

static void do_redirect(struct step *s)
{
    const char *colon = memchr(s->rest.ptr, ':', s->rest.len);
    struct buf headers = {.mem = s->arena->mem};

    s->plan->kind = PLAN_STATUS;
    s->plan->status = strtoll(s->rest.ptr, NULL, 10);
    buf_fmt(&headers, "Location: %s\r\n", colon ? colon + 1 : "");
    s->plan->headers = arena_str(s->arena, buf_view(&headers));
    buf_free(&headers);
}

static void fault_at(struct step *s, enum fault_kind kind)
{
    s->plan->texts = 1000;
    s->plan->fault = kind;
    s->plan->fault_at = number(s, 0, 0);
}

static void do_reset(struct step *s)
{
    fault_at(s, FAULT_RESET);
}

static void do_cut(struct step *s)
{
    fault_at(s, FAULT_CUT);
}

static void do_hang(struct step *s)
{
    fault_at(s, FAULT_HANG);
    s->plan->silent = !s->count;
}

static void do_slow(struct step *s)
{
    s->plan->texts = number(s, 0, 5);
    s->plan->chunk = 1;
    s->plan->slow_us = 1000;
}

static void do_error_mid(struct step *s)
{
    s->plan->texts = 5;
    s->plan->error_at = 1 + number(s, 0, 3); /* the first piece begins */
}

static void do_nofinish(struct step *s)
{
    s->plan->texts = number(s, 0, 5);
    s->plan->nofinish = true;
}

static void do_garbage(struct step *s)
{
    size_t len = (size_t)number(s, 0, 1000);
    char *p = arena_chars(s->arena, len);
    uint32_t x = 1;

    for (size_t i = 0; i < len; i++) {
        x = x * 1664525 + 1013904223;
        p[i] = (char)(x >> 24);
    }
    s->plan->kind = PLAN_BYTES;
    s->plan->say = (wend_str){p, len};
}

static void do_html(struct step *s)
{
    s->plan->kind = PLAN_BYTES;
    s->plan->type = STR("text/html; charset=utf-8");
    s->plan->say = STR("<!DOCTYPE html>\n<html><head><title>Sign in</title>"
                       "</head>\n<body>Please sign in.</body></html>\n");
}

static void do_gzip(struct step *s)
{
    do_garbage(s);
    s->plan->encoding = STR("gzip");
}

static void do_file(struct step *s)
{
    s->plan->kind = PLAN_FILE;
    /* a name for fopen ends in NUL */
    s->plan->file = arena_str(s->arena, s->count ? s->args[0] : STR(""));
}

static void do_echo(struct step *s)
{
    s->plan->kind = PLAN_ECHO;
}

static const struct {
    const char *name;
    void (*run)(struct step *s);
    bool raw; /* takes the rest as it is */
} verbs[] = {
    {"text", do_text, false},
    {"think", do_think, false},
    {"delay", do_delay, false},
    {"tools", do_tools, false},
    {"par", do_par, false},
    {"call", do_call, true},
    {"say", do_say, true},
    {"bytes", do_bytes, true},
    {"status", do_status, false},
    {"refuse", do_refuse, false},
    {"redirect", do_redirect, true},
    {"reset", do_reset, false},
    {"cut", do_cut, false},
    {"hang", do_hang, false},
    {"slow", do_slow, false},
    {"error-mid", do_error_mid, false},
    {"nofinish", do_nofinish, false},
    {"garbage", do_garbage, false},
    {"html", do_html, false},
    {"gzip", do_gzip, false},
    {"file", do_file, false},
    {"echo", do_echo, false},
};

/* ---- Names after the comma ----------------------------------------------- */

enum value_kind { VALUE_US, VALUE_NUMBER, VALUE_TEXT, VALUE_FLAG, VALUE_FAULT };

static const struct {
    const char *name;
    enum value_kind kind;
    size_t offset;
    enum fault_kind fault;
} names[] = {
    {"head", VALUE_US, offsetof(struct plan, head_us), 0},
    {"first", VALUE_US, offsetof(struct plan, first_us), 0},
    {"delay", VALUE_US, offsetof(struct plan, delay_us), 0},
    {"slow", VALUE_US, offsetof(struct plan, slow_us), 0},
    {"think", VALUE_NUMBER, offsetof(struct plan, thinks), 0},
    {"text", VALUE_NUMBER, offsetof(struct plan, texts), 0},
    {"bytes", VALUE_NUMBER, offsetof(struct plan, text_bytes), 0},
    {"status", VALUE_NUMBER, offsetof(struct plan, status), 0},
    {"padding", VALUE_NUMBER, offsetof(struct plan, padding), 0},
    {"clock", VALUE_NUMBER, offsetof(struct plan, clock), 0},
    {"chunk", VALUE_NUMBER, offsetof(struct plan, chunk), 0},
    {"error", VALUE_NUMBER, offsetof(struct plan, error_at), 0},
    {"type", VALUE_TEXT, offsetof(struct plan, type), 0},
    {"encoding", VALUE_TEXT, offsetof(struct plan, encoding), 0},
    {"stop", VALUE_TEXT, offsetof(struct plan, stop), 0},
    {"json", VALUE_FLAG, offsetof(struct plan, json), 0},
    {"nofinish", VALUE_FLAG, offsetof(struct plan, nofinish), 0},
    {"length", VALUE_FLAG, offsetof(struct plan, length), 0},
    {"eof", VALUE_FLAG, offsetof(struct plan, eof), 0},
    {"close", VALUE_FLAG, offsetof(struct plan, shut), 0},
    {"reset", VALUE_FAULT, 0, FAULT_RESET},
    {"cut", VALUE_FAULT, 0, FAULT_CUT},
    {"hang", VALUE_FAULT, 0, FAULT_HANG},
};

static bool set_name(struct plan *p, wend_str word)
{
    const char *equals = memchr(word.ptr, '=', word.len);
    wend_str name = {word.ptr, equals ? (size_t)(equals - word.ptr) : word.len};
    wend_str value =
        equals ? (wend_str){equals + 1, word.len - name.len - 1} : STR("0");

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *at = (char *)p + names[i].offset;

        if (!str_is(name, names[i].name))
            continue;
        switch (names[i].kind) {
        case VALUE_US: *(int64_t *)(void *)at = duration_us(value); break;
        case VALUE_NUMBER:
            *(int64_t *)(void *)at = strtoll(value.ptr, NULL, 10);
            break;
        case VALUE_TEXT: *(wend_str *)(void *)at = value; break;
        case VALUE_FLAG: *(bool *)at = true; break;
        case VALUE_FAULT:
            p->fault = names[i].fault;
            p->fault_at = strtoll(value.ptr, NULL, 10);
            break;
        }
        return true;
    }
    return false;
}

/* ---- Steps --------------------------------------------------------------- */

/* Up to the first of `stops`, and the rest after it. */
static wend_str cut(wend_str *rest, const char *stops)
{
    wend_str s = {rest->ptr, 0};

    while (s.len < rest->len && !strchr(stops, rest->ptr[s.len]))
        s.len++;
    rest->ptr += s.len;
    rest->len -= s.len;
    return s;
}

static wend_str nth_step(wend_str scenario, uint64_t nth)
{
    wend_str step = cut(&scenario, ";");

    for (; nth && scenario.len; nth--) {
        scenario.ptr++;
        scenario.len--;
        step = cut(&scenario, ";");
    }
    return step;
}

static bool run_verb(struct step *s, wend_str word, wend_str *rest)
{
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        if (!str_is(word, verbs[i].name))
            continue;
        if (rest->len && *rest->ptr == ':')
            s->rest = (wend_str){rest->ptr + 1, rest->len - 1};
        if (verbs[i].raw)
            *rest = STR("");
        while (rest->len && *rest->ptr == ':' && s->count < ARGS_MAX) {
            rest->ptr++;
            rest->len--;
            s->args[s->count++] = cut(rest, ":,");
        }
        verbs[i].run(s);
        return true;
    }
    return false;
}

bool plan_read(wend_str scenario, uint64_t nth, struct arena *a,
               struct plan *out, wend_str *wrong)
{
    struct step s = {.plan = out, .arena = a, .rest = STR("")};
    wend_str steps = cut(&scenario, "#");
    wend_str rest = arena_str(a, nth_step(steps, nth)); /* NUL for strtoll */
    wend_str word;

    *out = plan_default;
    word = cut(&rest, ":,");
    if (!run_verb(&s, word, &rest)) {
        *wrong = word;
        return false;
    }
    while (rest.len && *rest.ptr == ',') {
        rest.ptr++;
        rest.len--;
        word = cut(&rest, ",");
        if (!set_name(out, word)) {
            *wrong = word;
            return false;
        }
    }
    if (rest.len)
        *wrong = rest;
    return !rest.len;
}
