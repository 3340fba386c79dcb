/*
 * turn_limits.c - limits that change while a run is under way: the value of a
 * control event, {"turns":N,"time_ms":N,"tokens":N,"cost":USD,"parallel":N}.
 * Members that are missing stay as they are.
 */
#include <assert.h>

#include "core/turn/turn.h"

void limits_write(struct buf *b, const wend_ev_limits *l)
{
    json_open(b, NULL, '{');
    for (size_t i = 0; i < limits_fields->count; i++) {
        const struct event_field *f = &limits_fields->list[i];
        int64_t n =
            *(const int64_t *)(const void *)((const char *)l + f->offset);

        if (n <= 0)
            continue;
        json_key(b, NULL);
        json_put_str(b, field_name(f));
        buf_char(b, ':');
        if (f->kind == F_NANO)
            json_put_nano(b, n);
        else
            buf_i64(b, n);
    }
    json_close(b, '}');
}

void turn_take_limits(struct turn *t, const struct json *value)
{
    for (size_t i = 0; i < limits_fields->count; i++) {
        const struct event_field *f = &limits_fields->list[i];
        const struct json *j = json_member(value, field_name(f));
        int64_t n = 0;
        bool is = f->kind == F_NANO
                      ? j && j->kind == JSON_NUMBER && nano_read(j->text, &n)
                      : json_i64(j, &n);

        assert(f->kind == F_NANO || f->kind == F_I64);
        if (is && n > 0)
            *(int64_t *)(void *)((char *)&t->limits + f->offset) = n;
    }
}
