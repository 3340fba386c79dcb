/*
 * test_border.c - what a host gives or neglects: bad bytes, slow reading.
 */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tap.h"

enum { TEXT_LEN = 6000, MODEL_BYTES = TEXT_LEN + 200 };

/* ---- Bytes that are no UTF-8 --------------------------------------------- */

static const char *const rules[] = {"read_file(\xff*)"};

static const struct {
    const char *why, *name, *rule;
    wend_status want;
} agents[] = {
    {"a name is repaired", "a\xff", NULL, WEND_OK},
    {"a rule is refused: repaired it would match something else", NULL, "\xff",
     WEND_E_INVAL},
};

/* The first event of a run, as its line. */
static bool first_line_is_valid(wend_agent *agent)
{
    wend_run_options o = {.size = sizeof o, .user = "\xff", .session = "\xfe"};
    const wend_event *ev;
    wend_run *run = NULL;
    char *json = NULL;
    bool ok = wend_run_start(agent, (wend_str){"p\xff", 2}, &o, &run, NULL) ==
                  WEND_OK &&
              wend_run_next(run, &ev) == WEND_OK &&
              wend_event_to_json(ev, &json, NULL) == WEND_OK &&
              !strchr(json, '\xff') && !strchr(json, '\xfe');

    wend_string_free(json);
    wend_run_free(run);
    return ok;
}

static void test_bytes(wend_runtime *rt)
{
    for (size_t i = 0; i < tap_count(agents); i++) {
        wend_agent_options o = {.size = sizeof o,
                                .name = agents[i].name,
                                .model = "script:{\"turns\":[]}",
                                .rules = rules,
                                .rules_count = agents[i].rule != NULL};
        wend_agent *agent = NULL;

        tap_is_i64(wend_agent_new(rt, &o, &agent, NULL), agents[i].want, "%s",
                   agents[i].why);
        if (agent)
            tap_ok(first_line_is_valid(agent), "%s: in the log", agents[i].why);
        wend_agent_free(agent);
    }
}

/* A folder may have any name; the tools must find it all the same. */
static void test_folder(wend_runtime *rt)
{
    char folder[] = "/tmp/wend\xffXXXXXX";
    wend_agent_options o = {
        .size = sizeof o, .model = "script:{\"turns\":[]}", .cwd = folder};
    wend_agent *agent = NULL;

    if (!tap_ok(mkdtemp(folder), "a folder"))
        return;
    tap_is_i64(wend_agent_new(rt, &o, &agent, NULL), WEND_OK, "an agent in it");
    tap_is_i64(wend_agent_add_builtin(agent, "list_dir", NULL), WEND_OK,
               "a tool finds it");
    tap_ok(first_line_is_valid(agent), "its name in the log is valid");
    wend_agent_free(agent);
    rmdir(folder);
}

/* ---- Slow readers ----------------------------------------------------------
 */

static const struct {
    const char *why;
    uint32_t merge_count;
} readers[] = {
    {"every delta alone", 0},
    {"joined by ten", 10},
    {"joined by a number that does not fit", 7},
};

/* Lets the run fall behind by waiting for another, then reads it. */
static void check_reader(wend_agent *agent, size_t i)
{
    wend_run_options o = {
        .size = sizeof o,
        .filter = {.merge_count = readers[i].merge_count, .merge_ms = 1000}};
    wend_run *slow = NULL, *other = NULL;
    const wend_event *ev;
    int64_t seq = 0, n = 0;
    size_t len = 0, wrong = 0, unordered = 0;
    wend_str text;

    if (!tap_ok(wend_run_start(agent, (wend_str){"x", 1}, &o, &slow, NULL) ==
                        WEND_OK &&
                    wend_run_start(agent, (wend_str){"x", 1}, NULL, &other,
                                   NULL) == WEND_OK &&
                    wend_run_wait(other, &text) == WEND_OK,
                "%s: two runs", readers[i].why))
        return;
    while (wend_run_next(slow, &ev) == WEND_OK) {
        unordered += ev->seq < seq || (ev->seq == seq && ev->n <= n);
        seq = ev->seq;
        n = ev->n;
        if (ev->type != WEND_TEXT_DELTA)
            continue;
        for (size_t c = 0; c < ev->u.text_delta.text.len; c++)
            wrong += ev->u.text_delta.text.ptr[c] != 'a' + (char)(len++ % 26);
    }
    tap_is_i64((int64_t)len, TEXT_LEN, "%s: all of the text", readers[i].why);
    tap_is_i64((int64_t)wrong, 0, "%s: nothing twice", readers[i].why);
    tap_is_i64((int64_t)unordered, 0, "%s: in order", readers[i].why);
    wend_run_free(slow);
    wend_run_free(other);
}

static void test_readers(wend_runtime *rt)
{
    char *model = malloc(MODEL_BYTES);
    wend_agent_options o = {.size = sizeof o, .model = model};
    wend_agent *agent = NULL;
    int len;

    if (!tap_ok(model, "memory"))
        return;
    len = snprintf(model, MODEL_BYTES,
                   "script:{\"turns\":[{\"chunk\":1,\"repeat\":\"forever\","
                   "\"text\":\"");
    for (int i = 0; i < TEXT_LEN; i++)
        model[len++] = (char)('a' + i % 26);
    snprintf(model + len, (size_t)(MODEL_BYTES - len), "\"}]}");
    if (tap_ok(wend_agent_new(rt, &o, &agent, NULL) == WEND_OK, "an agent"))
        for (size_t i = 0; i < tap_count(readers); i++)
            check_reader(agent, i);
    wend_agent_free(agent);
    free(model);
}

int main(void)
{
    wend_runtime *rt = NULL;

    if (tap_ok(wend_runtime_new(NULL, &rt, NULL) == WEND_OK, "a runtime")) {
        test_bytes(rt);
        test_folder(rt);
        test_readers(rt);
    }
    wend_runtime_free(rt);
    return tap_done();
}
