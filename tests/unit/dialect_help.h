/*
 * dialect_help.h - stories of native events, for the tests of dialects.
 *
 * Native events go in as their canonical lines, so that what is tested is
 * what a log or a stream gives. A line of `in` is "type data"; the time
 * counts up in quarters of a second, and the turn follows turn_start.
 */
#ifndef TESTS_DIALECT_HELP_H
#define TESTS_DIALECT_HELP_H

#include "core/event.h"
#include "tap.h"
#include "wire/dialect.h"

enum { LINES_MAX = 40 };

struct story {
    const char *why;
    const char *in[LINES_MAX];
    const char *out;
};

#define RUN_START                                                    \
    "run_start {\"prompt\":\"p\",\"correlation_id\":\"c-9\","        \
    "\"limits\":{\"turns\":2,\"time_ms\":0,\"tokens\":0,\"cost\":0," \
    "\"parallel\":3}}"
#define TURN_0                                                    \
    "turn_start {\"counter\":0,\"id\":\"t0\",\"parent_id\":null," \
    "\"compacted\":false}"
#define TURN_1                                                      \
    "turn_start {\"counter\":1,\"id\":\"t1\",\"parent_id\":\"t0\"," \
    "\"compacted\":false}"
#define MODEL_START "model_start {\"model\":\"m\",\"attempt\":1}"
#define METRICS "metrics {\"turns\":1,\"model_calls\":1}"
#define CALL_START \
    "call_start {\"call\":\"c1\",\"name\":\"add\",\"args\":{\"a\":1}}"
#define MODEL_END_CALL                                           \
    "model_end {\"outcome\":\"ok\",\"text\":\"hm\",\"calls\":[{" \
    "\"id\":\"c1\",\"name\":\"add\",\"args\":{\"a\":1}},{"       \
    "\"id\":\"c2\",\"name\":\"rm\",\"args\":{}}]}"

static inline void native_line(struct buf *b, const char *line, int i, int turn)
{
    const char *data = strchr(line, ' ');

    buf_clear(b);
    buf_fmt(b, "{\"run\":\"r\",\"seq\":%d,\"time\":%d.%02d0000,\"type\":\"", i,
            100 + i / 4, i % 4 * 25);
    buf_add(b, line, (size_t)(data - line));
    buf_char(b, '"');
    if (turn >= 0 && !str_starts(str_of(line), "run_"))
        buf_fmt(b, ",\"turn\":%d,\"turn_id\":\"t%d\"", turn, turn);
    buf_fmt(b, ",\"data\":%s}", data + 1);
}

/* False: a line cannot be read. Out of memory sticks in out. */
static inline bool story_feed(const struct story *s, const struct dialect *d,
                              const struct mem *m, bool verbose,
                              struct buf *out)
{
    struct mem libc = {0};
    struct arena a = {.mem = &libc};
    struct buf line = {.mem = &libc};
    struct dialect_stream stream;
    wend_error err = {0};
    bool ok = true;
    int turn = -1;

    if (!dialect_open(&stream, d, m, verbose)) {
        out->failed = true;
        return true;
    }
    for (int i = 0; i < LINES_MAX && s->in[i]; i++) {
        wend_event ev;

        if (str_starts(str_of(s->in[i]), "turn_start"))
            turn = s->in[i][22] - '0'; /* turn_start {"counter":N */
        native_line(&line, s->in[i], i, turn);
        if (event_read(buf_view(&line), &a, NULL, NULL, &ev, &err) != WEND_OK) {
            printf("# %s: %s\n", s->in[i], err.message);
            ok = false;
        } else {
            dialect_event(&stream, &ev, out);
        }
    }
    dialect_close(&stream);
    buf_free(&line);
    arena_free(&a);
    return ok;
}

#endif
