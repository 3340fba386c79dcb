/*
 * test_tape.c - recordings of the wire: their text, their differences.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fault.h"
#include "host/file.h"
#include "base/header.h"
#include "lib/model/tape.h"
#include "tap.h"

static const struct mem libc_mem = {0};
static const wend_str key = {"sk-0123456789", 13};

/* ---- Requests ------------------------------------------------------------ */

static void test_request(void)
{
    static const char *const headers[] = {
        "Content-Type: application/json",
        "AUTHORIZATION: Bearer other",
        "x-api-key: other",
        "Odd: sk-0123456789",
        "Accept: text/event-stream",
        NULL,
    };
    struct fetch_request q = {
        .url = "https://me:pw@host/v1?key=sk-0123456789&a=b@c",
        .headers = headers,
        .body = STR("{\"a\":\"sk-0123456789sk-0123456789\"}"),
    };
    struct buf b = {.mem = &libc_mem};

    tape_put_request(&b, &q, &(struct tape){.key = key});
    tap_is_str(buf_view(&b),
               "POST https://host/v1?key=[key]&a=b@c\n"
               "Content-Type: application/json\n"
               "Accept: text/event-stream\n"
               "\n"
               "{\"a\":\"[key][key]\"}",
               "a request without its secrets");
    buf_free(&b);
}

/* ---- Responses ----------------------------------------------------------- */

static const struct {
    const char *why, *text;
    enum tape_got got; /* at its end */
    int chunks;
} responses[] = {
    {"whole", "status 200\na: b\n\n@1 2\nab\n@2 ok\n", TAPE_END, 1},
    {"newlines in a chunk", "status 200\n\n@1 3\na\n@\n@2 ok\n", TAPE_END, 1},
    {"an empty chunk", "status 200\n\n@1 0\n\n@2 ok\n", TAPE_END, 1},
    {"a failure", "status 0\n\n@5 network host: gone\n", TAPE_END, 0},
    {"a timeout", "status 0\n\n@5 timeout x\n", TAPE_END, 0},
    {"empty", "", TAPE_CUT, 0},
    {"in the first line", "status 2", TAPE_CUT, 0},
    {"in a header", "status 200\ncont", TAPE_CUT, 0},
    {"after the headers", "status 200\na: b\n", TAPE_CUT, 0},
    {"after the head", "status 200\n\n", TAPE_CUT, 0},
    {"in a chunk's line", "status 200\n\n@1 2", TAPE_CUT, 0},
    {"in a chunk", "status 200\n\n@1 2\na", TAPE_CUT, 0},
    {"before a chunk's newline", "status 200\n\n@1 2\nab", TAPE_CUT, 0},
    {"after a chunk", "status 200\n\n@1 2\nab\n", TAPE_CUT, 1},
    {"in the last line", "status 200\n\n@1 2\nab\n@2 ok", TAPE_CUT, 1},
    {"a chunk of any length", "status 200\n\n@1 9223372036854775807\nab\n",
     TAPE_CUT, 0},
    {"a length beyond that", "status 200\n\n@1 9223372036854775808\nab\n",
     TAPE_BAD, 0},
    {"a length below 0", "status 200\n\n@1 -1\nab\n", TAPE_BAD, 0},
    {"no length", "status 200\n\n@1\nab\n", TAPE_BAD, 0},
    {"two lengths", "status 200\n\n@1 2 3\nab\n", TAPE_BAD, 0},
    {"a chunk that is longer", "status 200\n\n@1 1\nab\n", TAPE_BAD, 0},
    {"no time", "status 200\n\n@ 2\nab\n", TAPE_BAD, 0},
    {"after more than a day", "status 200\n\n@86400000001 2\nab\n", TAPE_BAD,
     0},
    {"no mark", "status 200\n\n1 2\nab\n", TAPE_BAD, 0},
    {"something after the end", "status 200\n\n@1 ok\n@2 ok\n", TAPE_BAD, 0},
    {"no such end", "status 200\n\n@1 nomem\n", TAPE_BAD, 0},
    {"no status", "HTTP/1.1 200\n\n@1 ok\n", TAPE_BAD, 0},
    {"a status that is none", "status 1000\n\n@1 ok\n", TAPE_BAD, 0},
};

static enum tape_got read_all(wend_str rest, int *chunks)
{
    struct tape_item item = {0};
    enum tape_got got;
    wend_str headers;
    int status;

    *chunks = 0;
    if (!tape_take_head(&rest, &status, &headers, &got))
        return got;
    while ((got = tape_take(&rest, &item)) == TAPE_CHUNK)
        ++*chunks;
    return got;
}

static void test_responses(void)
{
    for (size_t i = 0; i < tap_count(responses); i++) {
        /* A copy of its size, so that a byte too much is seen. */
        wend_str text = str_of(responses[i].text);
        char *copy = malloc(text.len + !text.len);
        int chunks;

        if (!copy)
            return;
        memcpy(copy, text.ptr, text.len);
        tap_ok(read_all((wend_str){copy, text.len}, &chunks) ==
                       responses[i].got &&
                   chunks == responses[i].chunks,
               "a response: %s", responses[i].why);
        free(copy);
    }
}

static void test_round(void)
{
    struct buf b = {.mem = &libc_mem};
    wend_str rest, headers = STR_NONE;
    struct tape_item item;
    enum tape_got got;
    int status = 0, bad = 0, chunks;

    buf_cstr(&b, "status 429\nretry-after: 5\nretry-after-ms: 70\n\n");
    tape_put_chunk(&b, 12, STR("a\0b\n"));
    tape_put_end(&b, 99, FETCH_NETWORK, STR("host: two\nlines"));
    rest = buf_view(&b);
    tap_ok(tape_take_head(&rest, &status, &headers, &got) && status == 429,
           "what is written: the status");
    tap_is_str(header_value(headers, "Retry-After"), "5",
               "what is written: a header");
    tap_ok(!header_value(headers, "retry").ptr,
           "what is written: no part of a name");
    tap_ok(tape_take(&rest, &item) == TAPE_CHUNK && item.at_us == 12 &&
               str_eq(item.bytes, STR("a\0b\n")),
           "what is written: a chunk");
    tap_ok(tape_take(&rest, &item) == TAPE_END && item.at_us == 99 &&
               item.how == FETCH_NETWORK &&
               str_is(item.bytes, "host: two lines"),
           "what is written: the end, on one line");
    for (size_t len = 0; len < b.len; len++)
        bad += read_all((wend_str){b.ptr, len}, &chunks) != TAPE_CUT;
    tap_is_i64(bad, 0, "what is written: cut off at every byte");
    buf_free(&b);
}

/* ---- Differences --------------------------------------------------------- */

#define HEAD "POST http://h/v1\nAccept: x\n\n"
#define A20 "aaaaaaaaaaaaaaaaaaaa"

static const struct {
    const char *why, *recorded, *now, *want; /* NULL: none */
} diffs[] = {
    {"none", HEAD "{\"a\":1}", HEAD "{\"a\":1}", NULL},
    {"none, and no body", HEAD, HEAD, NULL},
    {"a value", HEAD "{\"m\":[{\"c\":\"It is 41\"}]}",
     HEAD "{\"m\":[{\"c\":\"It is 42\"}]}",
     " at byte 20: m[0].c: recorded \"It is 41\", now \"It is 42\""},
    {"a second element", HEAD "{\"m\":[1,2,3]}", HEAD "{\"m\":[1,5,3]}",
     " at byte 9: m[1]: recorded 2, now 5"},
    {"after what is deeper", HEAD "{\"m\":[[[1]],{}],\"n\":true}",
     HEAD "{\"m\":[[[1]],{}],\"n\":null}",
     " at byte 21: n: recorded true, now null"},
    {"one more", HEAD "{\"m\":[1]}", HEAD "{\"m\":[1,{\"a\":2}]}",
     " at byte 8: m[1]: recorded nothing, now {\"a\":2}"},
    {"one less", HEAD "[1,2]", HEAD "[1]",
     " at byte 3: [1]: recorded 2, now nothing"},
    {"a member less", HEAD "{\"a\":1,\"b\":2}", HEAD "{\"a\":1}",
     " at byte 7: b: recorded 2, now nothing"},
    {"into what is empty", HEAD "{\"a\":[]}", HEAD "{\"a\":[7]}",
     " at byte 7: a[0]: recorded nothing, now 7"},
    {"another member", HEAD "{\"a\":1}", HEAD "{\"b\":1}",
     " at byte 3: a: recorded the member \"a\", now \"b\""},
    {"another kind", HEAD "{\"a\":[]}", HEAD "{\"a\":{}}",
     " at byte 6: a: recorded [], now {}"},
    {"all of it", HEAD "1", HEAD "2",
     " at byte 1: the body: recorded 1, now 2"},
    {"an odd name", HEAD "{\"a b\":1}", HEAD "{\"a b\":2}",
     " at byte 8: [\"a b\"]: recorded 1, now 2"},
    {"far inside a text", HEAD "\"" A20 A20 "1\"", HEAD "\"" A20 A20 "2\"",
     " at byte 42: the body: recorded \"..." A20 "aaaa1\", now \"..." A20
     "aaaa2\""},
    {"another way to write it", HEAD "{\"a\":1}", HEAD "{\"a\": 1}",
     " at byte 6: the same values, written in another way"},
    {"no JSON", HEAD "abc", HEAD "abd",
     " at byte 3: the body, which is not JSON: recorded \"abc\", now \"abd\""},
    {"bytes that are no text", HEAD "\xff", HEAD "\xfe",
     " at byte 1: the body, which is not JSON: recorded \"\xef\xbf\xbd\", now "
     "\"\xef\xbf\xbd\""},
    {"the URL", "POST http://h/v1\n\n{}", "POST http://h/v2\n\n{}",
     " at byte 16 of its head: the URL: recorded \"POST http://h/v1\", now "
     "\"POST http://h/v2\""},
    {"a header", "POST x\na: b\n\n{}", "POST x\na: c\n\n{}",
     " at byte 11 of its head: a header: recorded \"a: b\", now \"a: c\""},
    {"a header less", "POST x\na: b\n\n{}", "POST x\n\n{}",
     " at byte 8 of its head: a header: recorded \"a: b\", now \"\""},
    {"nothing recorded", "", HEAD "{}",
     " at byte 1 of its head: the URL: recorded \"\", now \"POST "
     "http://h/v1\""},
};

static void test_diffs(void)
{
    for (size_t i = 0; i < tap_count(diffs); i++) {
        struct buf b = {.mem = &libc_mem};
        bool differs =
            tape_diff(&b, str_of(diffs[i].recorded), str_of(diffs[i].now));

        tap_ok(differs == (diffs[i].want != NULL), "a difference: %s: found",
               diffs[i].why);
        tap_is_str(buf_view(&b), diffs[i].want ? diffs[i].want : "",
                   "a difference: %s", diffs[i].why);
        buf_free(&b);
    }
}

static void test_deep(void)
{
    struct buf a = {.mem = &libc_mem}, b = {.mem = &libc_mem};
    struct buf out = {.mem = &libc_mem};

    for (int i = 0; i < 100; i++)
        buf_char(&a, '[');
    buf_str(&b, buf_view(&a));
    buf_char(&a, '1');
    buf_char(&b, '2');
    for (int i = 0; i < 100; i++) {
        buf_char(&a, ']');
        buf_char(&b, ']');
    }
    for (int depth = 1; depth <= 100; depth++) {
        size_t from = (size_t)(100 - depth), len = 2 * (size_t)depth + 1;
        struct buf x = {.mem = &libc_mem}, y = {.mem = &libc_mem};

        buf_cstr(&x, HEAD);
        buf_cstr(&y, HEAD);
        buf_add(&x, a.ptr + from, len);
        buf_add(&y, b.ptr + from, len);
        buf_clear(&out);
        tape_diff(&out, buf_view(&x), buf_view(&y));
        buf_free(&x);
        buf_free(&y);
    }
    tap_ok(strstr(out.ptr, "not JSON") != NULL, "a body deeper than the limit");
    buf_free(&a);
    buf_free(&b);
    buf_free(&out);
}

static void test_diff_faults(void)
{
    struct fault f = {0};
    int bad = 0;

    while (fault_next(&f)) {
        struct mem m = fault_mem(&f);
        struct buf b = {.mem = &m};

        tape_diff(&b, STR(HEAD "{\"a\":[\"x\\ny\",{\"b\":1}]}"),
                  STR(HEAD "{\"a\":[\"x\\ny\",{\"c\":1}]}"));
        bad += b.failed != f.hit;
        buf_free(&b);
        bad += f.live != 0;
    }
    tap_is_i64(bad, 0, "a difference: every allocation may fail");
}

/* ---- Directories --------------------------------------------------------- */

/* Whether that is the status, and a tape is open only if all went well. */
static bool opens_as(wend_status want, const char *record, const char *play,
                     const struct mem *m)
{
    struct driver_options o = {.record_dir = record, .playback_dir = play};
    struct arena a = {.mem = m};
    wend_error err = {0};
    struct tape t;
    wend_status s = tape_open(&t, &o, &a, &err);
    bool good = s == want && (s != WEND_OK || t.dir);

    arena_free(&a);
    return good;
}

static void test_open(void)
{
    char dir[] = "/tmp/wend-tape-XXXXXX", path[128], inner[64];
    struct stat st;
    struct fault f = {0};
    wend_error err = {0};
    int fd = -1, bad = 0;

    if (!mkdtemp(dir))
        return;
    snprintf(inner, sizeof inner, "%s/new", dir);
    snprintf(path, sizeof path, "%s/0001.request", inner);
    tap_ok(opens_as(WEND_OK, inner, NULL, &libc_mem) && !stat(inner, &st) &&
               (st.st_mode & 0777) == 0700,
           "record: makes the directory, for the user only");
    tap_ok(opens_as(WEND_OK, inner, NULL, &libc_mem),
           "record: one that is empty will do");
    tap_ok(opens_as(WEND_E_NOTFOUND, NULL, inner, &libc_mem),
           "playback: not one that is empty");
    tap_ok(file_create(path, &fd, &err) == WEND_OK &&
               file_append(fd, path, STR("x"), &err) == WEND_OK,
           "a file is made");
    file_close(fd);
    tap_ok(file_create(path, &fd, &err) == WEND_E_EXISTS, "but not twice");
    tap_ok(opens_as(WEND_E_EXISTS, inner, NULL, &libc_mem),
           "record: not one with something in it");
    tap_ok(opens_as(WEND_E_IO, path, NULL, &libc_mem), "record: not a file");
    fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
    tap_ok(fd < 0 || file_append(fd, "/dev/full", STR("x"), &err) == WEND_E_IO,
           "a full disk is an error");
    file_close(fd);
    while (fault_next(&f)) {
        struct mem m = fault_mem(&f);

        bad += opens_as(WEND_OK, NULL, inner, &m) == f.hit;
        bad += f.live != 0;
    }
    tap_is_i64(bad, 0, "playback: every allocation may fail");
    unlink(path);
    rmdir(inner);
    rmdir(dir);
}

/* ---- Playing ------------------------------------------------------------- */

static const char answer[] =
    "data: {\"choices\":[{\"delta\":{\"content\":\"Hel\"}}]}\n\n"
    "data: {\"choices\":[{\"delta\":{\"content\":\"lo.\"},"
    "\"finish_reason\":\"stop\"}]}\n\n"
    "data: [DONE]\n\n";

static wend_status play(struct fault *f, wend_agent_options *o,
                        struct buf *text)
{
    wend_runtime_options ro = {
        .size = sizeof ro, .alloc = fault_alloc, .alloc_ctx = f};
    wend_runtime *rt = NULL;
    wend_agent *agent = NULL;
    wend_run *run = NULL;
    wend_str said = STR_NONE;
    wend_status s = wend_runtime_new(&ro, &rt, NULL);

    if (s == WEND_OK)
        s = wend_agent_new(rt, o, &agent, NULL);
    if (s == WEND_OK)
        s = wend_run_start(agent, STR("hi"), NULL, &run, NULL);
    if (s == WEND_OK)
        s = wend_run_wait(run, &said);
    buf_clear(text);
    buf_str(text, said);
    wend_run_free(run);
    wend_agent_free(agent);
    wend_runtime_free(rt);
    return s;
}

/* Nobody listens there, so the request is recorded and its failure, too. */
static bool record_request(const char *dir, wend_agent_options *o)
{
    struct fault none = {0};
    struct buf text = {.mem = &libc_mem}, b = {.mem = &libc_mem};
    struct tape t = {.dir = dir, .number = 1};
    wend_error err = {0};
    int fd = -1;
    bool good;

    o->record_dir = dir;
    play(&none, o, &text);
    o->record_dir = NULL;
    buf_clear(&text);
    tape_path(&text, &t, "response");
    buf_cstr(&b, "status 200\ncontent-type: text/event-stream\n\n");
    tape_put_chunk(&b, 10, (wend_str){answer, 30});
    tape_put_chunk(&b, 20, (wend_str){answer + 30, sizeof answer - 31});
    tape_put_end(&b, 30, FETCH_OK, STR(""));
    good = !unlink(text.ptr) && file_create(text.ptr, &fd, &err) == WEND_OK &&
           file_append(fd, text.ptr, buf_view(&b), &err) == WEND_OK;
    file_close(fd);
    buf_free(&text);
    buf_free(&b);
    return good;
}

static void test_play(void)
{
    char top[] = "/tmp/wend-tape-XXXXXX", dir[64], command[96];
    wend_agent_options o = {.size = sizeof o,
                            .model = "openai:x",
                            .limits = {.turns = 1},
                            .base_url = "http://127.0.0.1:1/v1"};
    struct buf text = {.mem = &libc_mem};
    struct fault f = {0};
    wend_status s = WEND_OK;
    int bad = 0;

    if (!mkdtemp(top))
        return;
    snprintf(dir, sizeof dir, "%s/tape", top);
    tap_ok(record_request(dir, &o), "play: a request is recorded");
    o.playback_dir = dir;
    while (fault_next(&f)) {
        s = play(&f, &o, &text);
        bad += f.live != 0 || (s == WEND_OK && f.hit && text.len != 6);
    }
    tap_is_i64(bad, 0, "play: every allocation may fail");
    tap_ok(s == WEND_OK, "play: the last round is good");
    tap_is_str(buf_view(&text), "Hello.", "play: the answer");
    snprintf(command, sizeof command, "rm -rf '%s'", top);
    tap_ok(!system(command), "play: cleaned up");
    buf_free(&text);
}

int main(void)
{
    test_request();
    test_responses();
    test_round();
    test_diffs();
    test_deep();
    test_diff_faults();
    test_open();
    test_play();
    return tap_done();
}
