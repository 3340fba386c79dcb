/*
 * record.c - writes records by their tables, and knows which calls are open.
 */
#include "wire/dialect/record.h"

#include <assert.h>

/* ---- Time ---------------------------------------------------------------- */

struct date {
    int64_t year;
    int month, day; /* from 1 */
};

/* Days since 1970-01-01 in the calendar; years begin in March on the way,
 * so that the day that is not always there is the last. */
static struct date date_of(int64_t days)
{
    int64_t from_0 = days + 719468; /* since 0000-03-01 */
    int64_t era = (from_0 >= 0 ? from_0 : from_0 - 146096) / 146097;
    int64_t day = from_0 - era * 146097;
    int64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    int64_t of_year = day - (365 * year + year / 4 - year / 100);
    int64_t month = (5 * of_year + 2) / 153;
    struct date d = {.year = year + era * 400 + (month >= 10),
                     .month = (int)(month < 10 ? month + 3 : month - 9),
                     .day = (int)(of_year - (153 * month + 2) / 5 + 1)};

    return d;
}

/* Without printf, which took more time than the rest of a record. */
static void put_iso(struct buf *b, int64_t time_us)
{
    static const int ends[] = {5, 8, 11, 14, 17, 20, 27}; /* of the digits */
    char text[] = "\"0000-00-00T00:00:00.000000Z\"";
    const int64_t second = 1000000, day = 86400 * second;
    int64_t days = time_us / day - (time_us % day < 0);
    int64_t us = time_us - days * day;
    struct date d = date_of(days);

    const int64_t parts[] = {d.year,
                             d.month,
                             d.day,
                             us / (3600 * second),
                             us / (60 * second) % 60,
                             us / second % 60,
                             us % second};

    assert(d.year >= 0 && d.year <= 9999); /* a clock's, or of a log */
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        for (int64_t n = parts[i], at = ends[i]; n; n /= 10)
            text[--at] = (char)('0' + n % 10);
    buf_add(b, text, sizeof text - 1);
}

/* ---- Rows ---------------------------------------------------------------- */

/* What a reader may still want to know about a call that ended. */
static void put_fate(struct buf *b, const struct dialect_now *now)
{
    if (!now->ended)
        return;
    if (now->outcome != WEND_OUTCOME_OK)
        json_add_str(b, "outcome", str_of(wend_outcome_name(now->outcome)));
    if (now->truncated)
        json_add_bool(b, "truncated", true);
    if (now->cached)
        json_add_bool(b, "cached", true);
}

static void put_number(struct buf *b, const struct record_row *r, int64_t n)
{
    if (n || !r->none)
        json_add_i64(b, r->key, n);
    else
        json_add_raw(b, r->key, str_of(r->none));
}

/* A word of ours has nothing to escape. */
static void put_word(struct buf *b, const char *key, const char *word)
{
    json_key(b, key);
    buf_char(b, '"');
    buf_cstr(b, word);
    buf_char(b, '"');
}

/* What the rows of one record share. */
struct put {
    struct buf *b;
    const struct dialect_stream *s;
    const wend_event *ev;
    const char *name; /* of the record */
    int open;         /* objects */
    size_t maybe;     /* where the innermost begins, if it may be left out */
};

static void put_value(const struct put *p, const struct record_row *r)
{
    struct buf *b = p->b;
    const void *at =
        (r->own ? (const char *)p->s : (const char *)p->ev) + r->at;
    const wend_str *s = at;
    const int64_t *n = at;
    const struct buf *held = at;
    const wend_ev_error *e = r->kind == ROW_ERROR || r->kind == ROW_CODE
                                 ? *(const wend_ev_error *const *)at
                                 : NULL;

    switch (r->kind) {
    case ROW_STR: json_add_str(b, r->key, str_or(*s, r->none)); break;
    case ROW_NULLABLE: json_add_nullable(b, r->key, *s); break;
    case ROW_BUF:
        json_add_str(b, r->key, held->ptr ? buf_view(held) : str_of(r->none));
        break;
    case ROW_JSON: json_add_raw(b, r->key, str_or(*s, r->none)); break;
    case ROW_I64: put_number(b, r, *n); break;
    case ROW_INDEX:
        if (*n)
            json_add_i64(b, r->key, *n - 1);
        break;
    case ROW_F64: json_add_f64(b, r->key, *(const double *)at); break;
    case ROW_BOOL: json_add_bool(b, r->key, *(const bool *)at); break;
    case ROW_SECONDS: json_add_f64(b, r->key, (double)*n / 1000); break;
    case ROW_TIME:
        json_key(b, r->key);
        json_put_time(b, *n);
        break;
    case ROW_ISO:
        json_key(b, r->key);
        put_iso(b, *n);
        break;
    case ROW_ERROR:
        json_add_str(b, r->key, str_or(e ? e->message : STR_NONE, r->none));
        break;
    case ROW_CODE:
        json_add_str(b, r->key, str_or(e ? e->code : STR_NONE, r->none));
        break;
    case ROW_TEXT: put_word(b, r->key, r->none); break;
    case ROW_NAME: put_word(b, r->key, p->name); break;
    case ROW_FATE: put_fate(b, &p->s->now); break;
    case ROW_OPEN:
    case ROW_MAYBE:
    case ROW_CLOSE:
    case ROW_END: break; /* put_rows has those */
    }
}

static void open_object(struct put *p, const char *key, bool maybe)
{
    p->maybe = maybe ? p->b->len : 0;
    json_open(p->b, key, '{');
    p->open++;
}

static void close_object(struct put *p)
{
    struct buf *b = p->b;

    assert(p->open > 0);
    if (p->maybe && b->ptr[b->len - 1] == '{')
        b->ptr[b->len = p->maybe] = 0;
    else
        json_close(b, '}');
    p->maybe = 0;
    p->open--;
}

static void put_rows(struct put *p, const struct record_row *r)
{
    for (; r->kind != ROW_END; r++)
        if (r->kind == ROW_OPEN || r->kind == ROW_MAYBE)
            open_object(p, r->key, r->kind == ROW_MAYBE);
        else if (r->kind == ROW_CLOSE)
            close_object(p);
        else
            put_value(p, r);
}

void record_put(struct dialect_stream *s, const struct record_rule *r,
                const wend_event *ev)
{
    bool failed = r->failed && s->now.outcome != WEND_OUTCOME_OK;
    struct put p = {
        .s = s,
        .ev = ev,
        .name = failed ? r->failed : r->name,
        .b = r->to == LATER                  ? &s->later
             : r->to == EARLY && s->in_model ? &s->early
                                             : s->out,
    };
    int around;

    open_object(&p, NULL, false);
    put_rows(&p, s->dialect->head);
    around = p.open;
    put_rows(&p, r->rows);
    while (p.open > around)
        close_object(&p);
    put_rows(&p, s->dialect->tail);
    while (p.open)
        close_object(&p);
    buf_char(p.b, '\n');
    s->now.records++;
}

const struct json *record_json(struct dialect_stream *s, wend_str text)
{
    return text.ptr ? json_parse_own(text, &s->scratch, NULL) : NULL;
}

/* ---- Calls and actions that have begun ----------------------------------- */

static bool is_action(const wend_event *ev)
{
    return ev->type == WEND_ACTION_START || ev->type == WEND_ACTION_END;
}

static struct record_call **find(struct dialect_stream *s, bool action,
                                 wend_str id)
{
    struct record_call **at = &s->calls;

    while (*at && !((*at)->is_action == action && str_eq((*at)->id, id)))
        at = &(*at)->next;
    return at;
}

struct record_call *record_find(struct dialect_stream *s, bool action,
                                wend_str id)
{
    return id.ptr ? *find(s, action, id) : NULL;
}

RECORD_HOOK(record_begins)
{
    wend_str id = s->now.id, name = s->now.name;
    struct record_call *c = *find(s, is_action(ev), id);
    char *room;

    if (c) {
        c->attempts++;
        return false;
    }
    c = mem_zalloc(s->mem, sizeof *c + id.len + name.len);
    if (!c) {
        s->out->failed = true;
        return false;
    }
    room = (char *)(c + 1);
    c->id = str_pack(&room, id);
    c->name = str_pack(&room, name);
    c->is_action = is_action(ev);
    c->is_tool = c->is_action && str_is(ev->u.action_start.type, "tool");
    c->attempts = 1;
    c->next = s->calls;
    s->calls = c;
    return true;
}

RECORD_HOOK(record_ends)
{
    struct record_call **at = find(s, is_action(ev), s->now.id), *c = *at;

    bool client = ev->type == WEND_CALL_END && ev->u.call_end.client;

    /* The result of a client-side tool is not here yet. */
    s->now.ended = s->now.outcome != WEND_OUTCOME_SUPERSEDED && !client;
    if (s->now.outcome == WEND_OUTCOME_SUPERSEDED || !c)
        return s->now.ended;
    /* What came from a cache, was refused or is the caller's called no tool. */
    if (c->is_tool && !s->now.cached && s->now.outcome != WEND_OUTCOME_DENIED &&
        !client)
        s->tool_calls += c->attempts;
    *at = c->next;
    mem_free(s->mem, c);
    return s->now.ended;
}

RECORD_HOOK(record_result)
{
    if (!record_ends(s, ev))
        return false;
    if (ev->type == WEND_CALL_END && s->now.outcome == WEND_OUTCOME_OK) {
        buf_clear(&s->text);
        json_put_str(&s->text, str_or(ev->u.call_end.output, ""));
        s->now.json = buf_view(&s->text);
    }
    return true;
}

/* ---- Records that wait --------------------------------------------------- */

static void release(struct dialect_stream *s, struct buf *held)
{
    s->out->failed |= held->failed;
    buf_str(s->out, buf_view(held));
    buf_clear(held);
}

RECORD_HOOK(record_model)
{
    if (s->now.id.ptr) /* the model of an action has no calls */
        return true;
    s->in_model = ev->type == WEND_MODEL_START;
    if (!s->in_model)
        release(s, &s->early);
    return true;
}

RECORD_HOOK(record_release)
{
    (void)ev;
    release(s, &s->later);
    return true;
}
