/*
 * options.c - parses options by tables. No state outlives a call.
 */
#include "cli/options.h"

#include <stdlib.h>
#include <string.h>

enum {
    NANO = 1000000000,
    NANO_DIGITS = 9,
    HELP_COLUMN = 28, /* where the help texts start */
};

/* ---- Values -------------------------------------------------------------- */

void words_add(struct words *w, const char *word, struct arena *a)
{
    w->items = mem_more(a->mem, w->items, w->count, &w->cap, sizeof *w->items);
    w->items[w->count++] = word;
}

static bool set_list(struct words *w, const char *value, int origin,
                     struct arena *a)
{
    if (w->origin != origin)
        *w = (struct words){.origin = origin};
    words_add(w, value, a);
    return true;
}

/* 12, 0.05, 1.000000001; computed with integers, never with floats. */
static bool read_money(const char *s, int64_t *nano)
{
    const char *dot = strchr(s, '.');
    wend_str whole = {s, dot ? (size_t)(dot - s) : strlen(s)};
    wend_str part = str_of(dot ? dot + 1 : "0");
    int64_t usd, rest;

    if (!str_to_i64(whole, &usd) || !str_to_i64(part, &rest) ||
        part.len > NANO_DIGITS || usd >= INT64_MAX / NANO)
        return false;
    for (size_t i = part.len; i < NANO_DIGITS; i++)
        rest *= 10;
    *nano = usd * NANO + rest;
    return *nano > 0;
}

static bool read_factor(const char *s, double *out)
{
    char *end;

    if (s[0] < '0' || s[0] > '9')
        return false; /* no sign, no inf, no nan */
    *out = strtod(s, &end);
    return !*end && *out >= 0 && *out <= 1e6;
}

static bool set_word(const struct opt *o, int64_t *at, const char *value,
                     struct buf *why)
{
    const char *near;
    int n = 0, i;

    while (o->words[n])
        n++;
    i = str_index(str_of(value), o->words, n);
    if (i >= 0) {
        *at = i;
        return true;
    }
    buf_fmt(why, "'%s' is not one of", value);
    for (i = 0; i < n; i++)
        buf_fmt(why, "%s %s", i ? "," : "", o->words[i]);
    near = str_near(str_of(value), o->words, n);
    if (near)
        buf_fmt(why, "; did you mean '%s'?", near);
    return false;
}

static bool set_number(const struct opt *o, int64_t *at, const char *value,
                       struct buf *why)
{
    if (str_to_i64(str_of(value), at) && *at >= o->min &&
        (!o->max || *at <= o->max))
        return true;
    buf_fmt(why, "'%s' is not a number from %lld", value, (long long)o->min);
    if (o->max)
        buf_fmt(why, " to %lld", (long long)o->max);
    else
        buf_cstr(why, " upwards");
    return false;
}

/* `past`: how long ago something was. */
static bool set_time(bool past, int64_t *at, const char *value, struct buf *why)
{
    bool zero;

    if (past && *value && !value[strspn(value, "0123456789.")]) {
        buf_fmt(why, "'%s' has no unit; use for example %sd, 12h or 90m", value,
                value);
        return false;
    }
    if ((past ? str_to_age_ms : str_to_ms)(str_of(value), at) && *at > 0)
        return true;
    zero = value[0] == '0' && !value[strspn(value, "0.dhms")];
    buf_fmt(why, "'%s' is not a duration%s; use for example %s", value,
            zero ? " above 0" : "",
            past ? "12h, 30d or 2y" : "500ms, 30s, 5m or 1.5h");
    return false;
}

bool opt_set(const struct opt *o, void *settings, const char *value, int origin,
             struct arena *a, struct buf *why)
{
    void *at = (char *)settings + o->at;
    const char *wanted = "";

    switch (o->kind) {
    case OPT_FLAG: *(bool *)at = true; return true;
    case OPT_TEXT: *(const char **)at = value; return true;
    case OPT_LIST: return set_list(at, value, origin, a);
    case OPT_NUMBER: return set_number(o, at, value, why);
    case OPT_WORD: return set_word(o, at, value, why);
    case OPT_REFUSED: buf_cstr(why, o->words[0]); return false;
    case OPT_AGE: return set_time(true, at, value, why);
    case OPT_TIME: return set_time(false, at, value, why);
    case OPT_MONEY:
        if (read_money(value, at))
            return true;
        wanted = "positive amount in USD; use for example 0.05";
        break;
    case OPT_FACTOR:
        if (read_factor(value, at))
            return true;
        wanted = "speed factor; use for example 1, 2.5, or 0 for no delay";
        break;
    }
    buf_fmt(why, "'%s' is not a %s", value, wanted);
    return false;
}

/* ---- The command line ---------------------------------------------------- */

const struct opt *opt_named(const struct opt *opts, wend_str name)
{
    for (; opts->name; opts++)
        if (str_is(name, opts->name))
            return opts;
    return NULL;
}

const struct opt *opt_lettered(const struct opt *opts, char letter)
{
    for (; opts->name; opts++)
        if (letter && opts->letter == letter)
            return opts;
    return NULL;
}

static bool unknown_option(const struct opt *opts, wend_str name,
                           struct buf *why)
{
    const char *names[OPTS_MAX], *near;
    int n = 0;

    for (; opts->name && n < OPTS_MAX; opts++)
        if (opts->kind != OPT_REFUSED)
            names[n++] = opts->name;
    near = str_near(name, names, n);
    buf_fmt(why, "unknown option --%.*s", (int)name.len, name.ptr);
    if (near)
        buf_fmt(why, "; did you mean --%s?", near);
    return false;
}

struct opt_parser {
    const struct opt *opts;
    void *settings;
    char **args;
    int count, next;
    struct arena *arena;
    struct buf *why;
};

static void put_label(struct buf *out, const struct opt *o, bool is_long)
{
    if (is_long)
        buf_fmt(out, "--%s", o->name);
    else
        buf_fmt(out, "-%c", o->letter);
}

static bool set_or_say(struct opt_parser *p, const struct opt *o, bool is_long,
                       const char *value)
{
    struct buf inner = {.mem = p->why->mem};
    bool ok = opt_set(o, p->settings, value, ORIGIN_OPTIONS, p->arena, &inner);

    if (!ok) {
        put_label(p->why, o, is_long);
        buf_fmt(p->why, ": %s", buf_view(&inner).ptr);
    }
    return ok;
}

/* `given` is the text after = or after the letter, or NULL. */
static bool with_value(struct opt_parser *p, const struct opt *o, bool is_long,
                       const char *given)
{
    if (!given && o->kind != OPT_REFUSED) {
        if (p->next >= p->count) {
            put_label(p->why, o, is_long);
            buf_fmt(p->why, " needs a value (%s)", o->value);
            return false;
        }
        given = p->args[p->next++];
    }
    return set_or_say(p, o, is_long, given);
}

static bool long_option(struct opt_parser *p, const char *text)
{
    const char *equals = strchr(text, '=');
    wend_str name = {text, equals ? (size_t)(equals - text) : strlen(text)};
    const struct opt *o = opt_named(p->opts, name);

    if (!o)
        return unknown_option(p->opts, name, p->why);
    if (o->value)
        return with_value(p, o, true, equals ? equals + 1 : NULL);
    if (equals && o->kind != OPT_REFUSED) {
        buf_fmt(p->why, "--%s takes no value", o->name);
        return false;
    }
    return set_or_say(p, o, true, NULL);
}

static bool letters(struct opt_parser *p, const char *text)
{
    for (; *text; text++) {
        const struct opt *o = opt_lettered(p->opts, *text);

        if (!o) {
            buf_fmt(p->why, "unknown option -%c", *text);
            return false;
        }
        if (o->value)
            return with_value(p, o, false, text[1] ? text + 1 : NULL);
        if (!set_or_say(p, o, false, NULL))
            return false;
    }
    return true;
}

bool options_parse(const struct opt *opts, void *settings, int *args_count,
                   char **args, struct arena *a, struct buf *why)
{
    struct opt_parser p = {opts, settings, args, *args_count, 0, a, why};
    bool ended = false;
    int kept = 0;

    while (p.next < p.count) {
        char *arg = args[p.next++];
        bool ok = true;

        if (ended || arg[0] != '-' || !arg[1])
            args[kept++] = arg;
        else if (!strcmp(arg, "--"))
            ended = true;
        else if (arg[1] == '-')
            ok = long_option(&p, arg + 2);
        else
            ok = letters(&p, arg + 1);
        if (!ok)
            return false;
    }
    *args_count = kept;
    return true;
}

/* ---- Help ---------------------------------------------------------------- */

void options_help(const struct opt *opts, struct buf *out)
{
    for (; opts->name; opts++) {
        size_t begun = out->len, width;

        if (!opts->help)
            continue;
        if (opts->letter)
            buf_fmt(out, "  -%c, --%s", opts->letter, opts->name);
        else
            buf_fmt(out, "      --%s", opts->name);
        if (opts->value)
            buf_fmt(out, " %s", opts->value);
        width = out->len - begun;
        if (width >= HELP_COLUMN) {
            buf_char(out, '\n');
            width = 0;
        }
        buf_fmt(out, "%*s%s\n", (int)(HELP_COLUMN - width), "", opts->help);
    }
}
