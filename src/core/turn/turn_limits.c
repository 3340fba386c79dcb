/*
 * turn_limits.c - limits that are changed while a run is under way: the value
 * of a control event, {"turns":N,"time_ms":N,"tokens":N,"cost":USD,
 * "parallel":N}, of which what is not there stays as it is.
 */
#include "core/turn/turn.h"

static const struct {
    const char *name;
    size_t offset;
    bool nano; /* a decimal number, kept as 10^-9 parts */
} members[] = {
    {"turns", offsetof(wend_ev_limits, turns), false},
    {"time_ms", offsetof(wend_ev_limits, time_ms), false},
    {"tokens", offsetof(wend_ev_limits, tokens), false},
    {"cost", offsetof(wend_ev_limits, cost_nano), true},
    {"parallel", offsetof(wend_ev_limits, parallel), false},
};

enum { MEMBERS = sizeof members / sizeof *members };

void limits_write(struct buf *b, const wend_ev_limits *l)
{
    const char *before = "{";

    for (size_t i = 0; i < MEMBERS; i++) {
        int64_t n = *(const int64_t *)(const void *)((const char *)l +
                                                     members[i].offset);

        if (n <= 0)
            continue;
        buf_fmt(b, "%s\"%s\":", before, members[i].name);
        if (members[i].nano)
            json_put_nano(b, n);
        else
            buf_i64(b, n);
        before = ",";
    }
    buf_cstr(b, *before == '{' ? "{}" : "}");
}

void turn_take_limits(struct turn *t, const struct json *value)
{
    for (size_t i = 0; i < MEMBERS; i++) {
        const struct json *j = json_get(value, members[i].name);
        int64_t n = 0;
        bool is = members[i].nano
                      ? j && j->kind == JSON_NUMBER && nano_read(j->text, &n)
                      : json_i64(j, &n);

        if (is && n > 0)
            *(int64_t *)(void *)((char *)&t->limits + members[i].offset) = n;
    }
}
