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

int main(void)
{
    test_check();
    test_attach();
    return tap_done();
}
