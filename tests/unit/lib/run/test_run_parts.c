/*
 * test_run_parts.c - files in messages, as a host gives them: checked before
 * they are sent, attached to the results of its tools.
 */
#include "run_help.h"

#define SCRIPT(turns) "script:{\"turns\":[" turns "]}"
#define TEXT(t) "{\"text\":\"" t "\"}"
#define CALL(tool) "{\"calls\":[{\"name\":\"" tool "\",\"args\":{}}]}"

/* One red point. */
#define GIF                                                          \
    "GIF89a\1\0\1\0\200\0\0\377\0\0\0\0\0,\0\0\0\0\1\0\1\0\0\2\2D\1" \
    "\0;"
#define BYTES(text)            \
    {                          \
        text, sizeof(text) - 1 \
    }

/* ---- Checked at once ------------------------------------------------------
 */

static void test_check(void)
{
    static const struct {
        const char *name;
        wend_part part;
        const char *model; /* NULL: without an agent */
        const char *type, *says;
    } rows[] = {
        {"an image", {.data = BYTES(GIF)}, NULL, "image", NULL},
        {"a text", {BYTES("x"), BYTES("a.c")}, NULL, "text", NULL},
        {"an image for a model",
         {.data = BYTES(GIF)},
         "openai:m",
         "image",
         NULL},
        {"cut off",
         {{GIF, 20}, BYTES("a.gif")},
         NULL,
         NULL,
         "'a.gif' is not a valid GIF image: it is cut off"},
        {"without a name",
         {.data = BYTES("a\0b")},
         NULL,
         NULL,
         "'a part' is neither text nor a file of a known type"},
        {"a PDF that is text",
         {BYTES("x"), BYTES("a.pdf")},
         NULL,
         NULL,
         "'a.pdf' is not a PDF document: it is text"},
        {"empty", {BYTES(""), BYTES("e")}, NULL, NULL, "'e' is empty"},
        {"no data", {.name = BYTES("e")}, NULL, NULL, "has no data"},
        {"audio for a model without",
         {BYTES("RIFF\34\0\0\0WAVEfmt \20\0\0\0\1\0\1\0\100\37\0\0\100\37\0\0"
                "\1\0\10\0data\0\0\0\0"),
          BYTES("a.wav")},
         "anthropic:m",
         NULL,
         "'a.wav' is of type audio/wav, which anthropic"},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct rig r = {.err = {0}};
        wend_ev_part seen;
        wend_status s;

        r.agent_options.base_url = "http://127.0.0.1:9/v1"; /* needs no key */
        if (rows[i].model && !rig_open(&r, NULL, rows[i].model))
            continue;
        s = wend_part_check(&rows[i].part, r.agent, &seen, &r.err);
        tap_is_i64(s, rows[i].says ? WEND_E_INVAL : WEND_OK, "%s: status",
                   rows[i].name);
        if (rows[i].says)
            tap_ok(strstr(r.err.message, rows[i].says), "%s: says: %s",
                   rows[i].name, r.err.message);
        else
            tap_is_str(seen.type, rows[i].type, "%s: its type", rows[i].name);
        rig_close(&r);
    }
    tap_is_i64(wend_part_check(NULL, NULL, NULL, NULL), WEND_E_INVAL,
               "no part");
}

/* ---- Results of a host's tools ---------------------------------------------
 */

struct tool {
    const char *text;
    wend_part part;
    size_t times;
    bool fails;
};

struct host {
    struct tool tool;
    wend_status said;
    wend_error err;
};

static wend_status tool_attaches(void *ctx, wend_call *call)
{
    struct host *h = ctx;
    const struct tool *t = &h->tool;

    for (size_t i = 0; i < t->times && h->said == WEND_OK; i++)
        h->said = wend_call_attach(call, &t->part, &h->err);
    return t->fails ? wend_call_fail(call, t->text)
                    : wend_call_return(call, str_of(t->text));
}

static void test_attach(void)
{
    static const struct {
        const char *name;
        struct tool tool;
        wend_status said;
        const char *output;
        size_t parts;
    } rows[] = {
        {"an image",
         {"see", {BYTES(GIF), BYTES("a.gif")}, 1, false},
         WEND_OK,
         "see\n[image gif 1x1]",
         1},
        {"two, and no text",
         {"", {BYTES(GIF), {0}}, 2, false},
         WEND_OK,
         "[image gif 1x1]\n[image gif 1x1]",
         2},
        {"a failure", {"no", {BYTES(GIF), {0}}, 1, true}, WEND_OK, "no", 0},
        {"text",
         {"see", {BYTES("x"), BYTES("x.c")}, 1, false},
         WEND_E_INVAL,
         "see",
         0},
        {"damaged",
         {"see", {{GIF, 20}, {0}}, 1, false},
         WEND_E_INVAL,
         "see",
         0},
        {"too many",
         {"", {BYTES(GIF), {0}}, 65, false},
         WEND_E_LIMIT,
         NULL,
         64},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct rig r = {.err = {0}};
        struct host h = {.tool = rows[i].tool};
        const wend_event *ev;
        bool seen = false;
        wend_run *run;

        if (!rig_open(&r, NULL, SCRIPT(CALL("look") "," TEXT("ok"))))
            continue;
        rig_add(&r, "look", tool_attaches, WEND_CLASS_READ, &h);
        run = rig_start(&r, NULL);
        while (run && wend_run_next(run, &ev) == WEND_OK) {
            if (ev->type != WEND_CALL_END)
                continue;
            seen = true;
            if (rows[i].output)
                tap_is_str(ev->u.call_end.output, rows[i].output, "%s: output",
                           rows[i].name);
            tap_is_i64((int64_t)ev->u.call_end.parts_count,
                       (int64_t)rows[i].parts, "%s: parts", rows[i].name);
        }
        tap_ok(seen, "%s: the call ended", rows[i].name);
        tap_is_i64(h.said, rows[i].said, "%s: status (%s)", rows[i].name,
                   h.err.message);
        wend_run_free(run);
        rig_close(&r);
    }
}

/* ---- Messages of a host ----------------------------------------------------
 */

#define GIF64 "R0lGODlhAQABAIAAAP8AAAAAACwAAAAAAQABAAACAkQBADs="

/* What run_start, or the first message, says of its parts. */
static void parts_said(wend_run *run, const wend_ev_part **list, size_t *count,
                       wend_event **kept)
{
    const wend_event *ev;

    *list = NULL;
    *count = 0;
    while (run && wend_run_next(run, &ev) == WEND_OK) {
        if (ev->type == WEND_RUN_START && ev->u.run_start.past_parts_count &&
            wend_event_clone(ev, kept) == WEND_OK) {
            *list = (*kept)->u.run_start.past_parts;
            *count = (*kept)->u.run_start.past_parts_count;
        } else if (ev->type == WEND_MESSAGE && ev->u.message.parts_count &&
                   wend_event_clone(ev, kept) == WEND_OK) {
            *list = (*kept)->u.message.parts;
            *count = (*kept)->u.message.parts_count;
        }
    }
}

#define PAST(part)                                           \
    "[{\"role\":\"user\",\"text\":\"look\",\"parts\":[" part \
    "]},{\"role\":\"assistant\",\"text\":\"red\"}]"

/* A hash in place of an @. */
static void put_messages(char *text, size_t size, const char *messages,
                         const char *hash)
{
    const char *at = strchr(messages, '@');

    snprintf(text, size, "%.*s%s%s",
             at ? (int)(at - messages) : (int)strlen(messages), messages,
             at ? hash : "", at ? at + 1 : "");
}

static void test_messages(void)
{
    static const struct {
        const char *name, *messages, *says;
    } rows[] = {
        {"bytes", PAST("{\"data\":\"" GIF64 "\",\"name\":\"a.gif\"}"), NULL},
        {"a blob of the store", PAST("{\"hash\":\"@\"}"), NULL},
        {"no base64", PAST("{\"data\":\"?\"}"),
         "run: messages[0].parts[0]: expected data, in base64, or the hash"},
        {"neither", PAST("{}"), "messages[0].parts[0]: expected data"},
        {"no object", PAST("1"), "messages[0].parts[0]: expected data"},
        {"empty", PAST("{\"data\":\"\",\"name\":\"e\"}"), "'e' is empty"},
        {"damaged", PAST("{\"data\":\"R0lGODlhAQ==\"}"),
         "messages[0].parts[0]: 'a part' is not a valid GIF image"},
        {"no such blob",
         PAST("{\"hash\":\"000000000000000000000000000000000000000000000000000"
              "0000000000000\"}"),
         "the store has no blob 0000"},
    };
    struct rig r = {.err = {0}};
    char hash[65] = "", text[400];

    if (!rig_open(&r, NULL, SCRIPT(TEXT("ok"))))
        return;
    for (size_t i = 0; i < tap_count(rows); i++) {
        wend_run_options o = {.size = sizeof o, .messages = text};
        const wend_ev_part *parts;
        wend_event *kept = NULL;
        wend_run *run = NULL;
        wend_status s;
        size_t count;

        put_messages(text, sizeof text, rows[i].messages, hash);
        s = wend_run_start(r.agent, STR("more"), &o, &run, &r.err);
        if (rows[i].says) {
            tap_ok(s != WEND_OK && strstr(r.err.message, rows[i].says),
                   "%s: refused: %s", rows[i].name, r.err.message);
            continue;
        }
        tap_ok(s == WEND_OK, "%s: taken %s", rows[i].name,
               s ? r.err.message : "");
        parts_said(run, &parts, &count, &kept);
        tap_ok(count == 1 && str_is(parts->media, "image/gif") &&
                   parts->width == 1 && parts->hash.len == 64,
               "%s: it is described", rows[i].name);
        if (count == 1)
            memcpy(hash, parts->hash.ptr, 64);
        wend_event_free(kept);
        wend_run_free(run);
    }
    rig_close(&r);
}
#undef PAST

/* ---- Said while it runs ----------------------------------------------------
 */

static void test_say(void)
{
    static const wend_part gif = {BYTES(GIF), BYTES("a.gif")};
    static const wend_part bad = {{GIF, 20}, BYTES("b.gif")};
    const wend_request q = {.size = sizeof q,
                            .kind = WEND_REQUEST_SAY,
                            .text = "look",
                            .parts = &gif,
                            .parts_count = 1};
    wend_request wrong = q;

    for (int way = 0; way < 2; way++) {
        struct rig r = {.err = {0}};
        const wend_ev_part *parts;
        wend_event *kept = NULL;
        wend_run *run;
        wend_status s;
        size_t count;

        if (!rig_open(&r, "memory:", SCRIPT(TEXT("a") "," TEXT("b"))))
            return;
        run = rig_start(&r, NULL);
        tap_ok(wend_run_say_parts(run, STR("x"), &bad, 1) == WEND_E_INVAL &&
                   strstr(wend_run_error(run)->message,
                          "'b.gif' is not a valid GIF image"),
               "a damaged one: %s", wend_run_error(run)->message);
        s = way ? wend_store_tell(r.store, wend_run_id(run), &q, &r.err)
                : wend_run_say_parts(run, STR("look"), &gif, 1);
        tap_is_i64(s, WEND_OK, "said: %s", r.err.message);
        parts_said(run, &parts, &count, &kept);
        tap_ok(count == 1 && str_is(parts->media, "image/gif") &&
                   str_is(parts->name, "a.gif"),
               "%s: the message has it", way ? "by the store" : "by the host");
        wend_event_free(kept);
        wend_run_free(run);
        wrong.kind = WEND_REQUEST_PAUSE;
        tap_ok(wend_store_tell(r.store, NULL, &wrong, &r.err) == WEND_E_INVAL,
               "a pause has none");
        rig_close(&r);
    }
}

int main(void)
{
    test_check();
    test_attach();
    test_messages();
    test_say();
    return tap_done();
}
