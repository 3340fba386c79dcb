/*
 * agent_show.c - what a manifest would do, for one who is to accept it.
 */
#include <string.h>

#include "cli/agent/agent_tools.h"
#include "cli/agent/agent_use.h"
#include "cli/term.h"

enum {
    LINE_COLUMNS = 300, /* of one line; then it is cut with a mark */
    WORD_INLINE = 100, /* bytes; a longer word of a command has its own lines */
};

static void put_key(struct buf *b, const char *key)
{
    buf_fmt(b, "  %-13s ", key);
}

static void put_text(struct buf *b, const char *key, wend_str text)
{
    if (!text.ptr)
        return;
    put_key(b, key);
    term_line(b, text, LINE_COLUMNS);
    buf_char(b, '\n');
}

static void put_words(struct buf *b, const char *key,
                      const struct manifest_words *w)
{
    if (!w->given)
        return;
    put_key(b, key);
    for (size_t i = 0; i < w->count; i++) {
        buf_cstr(b, i ? ", " : "");
        term_line(b, w->list[i].text, LINE_COLUMNS);
    }
    buf_cstr(b, w->count ? "\n" : "none\n");
}

/* Nothing of it is left out, and its lines stay lines. */
static void put_script(struct buf *b, wend_str text)
{
    while (text.len) {
        const char *feed = memchr(text.ptr, '\n', text.len);
        wend_str line = {text.ptr, feed ? (size_t)(feed - text.ptr) : text.len};
        size_t taken = line.len + (feed != NULL);

        buf_cstr(b, "\n                | ");
        term_line(b, line, 2 * line.len + 1); /* no character is wider */
        text = (wend_str){text.ptr + taken, text.len - taken};
    }
}

static void put_command(struct buf *b, const struct manifest_words *w)
{
    bool block = false;

    for (size_t i = 0; i < w->count; i++) {
        wend_str word = w->list[i].text;

        if (i)
            buf_cstr(b, block ? "\n                " : " ");
        block = word.len > WORD_INLINE || cover_is_script(w, i) ||
                memchr(word.ptr, '\n', word.len);
        if (block)
            put_script(b, word);
        else
            term_line(b, word, LINE_COLUMNS);
    }
    if (block)
        buf_cstr(b, "\n               ");
}

/* A script leaves the beginning of a line for what may follow. */
static void end_line(struct buf *b)
{
    while (b->len && b->ptr[b->len - 1] == ' ')
        b->len--;
    if (b->len && b->ptr[b->len - 1] != '\n')
        buf_char(b, '\n');
}

static void put_extras(struct buf *b, bool sandbox_off, bool network,
                       const struct manifest_words *secrets)
{
    if (sandbox_off)
        buf_cstr(b, "; not in the sandbox");
    else if (network)
        buf_cstr(b, "; with the network");
    for (size_t i = 0; i < secrets->count; i++) {
        buf_cstr(b, i ? ", " : "; gets ");
        term_line(b, secrets->list[i].text, LINE_COLUMNS);
    }
    end_line(b);
}

static void put_program(struct buf *b, const struct tool_manifest *t)
{
    put_key(b, "program");
    term_line(b, t->name, LINE_COLUMNS);
    buf_cstr(b, ": ");
    put_command(b, &t->command);
    if (t->verify.count) {
        buf_cstr(b, "; looked up by ");
        put_command(b, &t->verify);
    }
    put_extras(b, t->sandbox_off, tool_networks(t), &t->secrets);
}

static void put_server(struct buf *b, const struct manifest_server *m)
{
    put_key(b, "server");
    term_line(b, m->name, LINE_COLUMNS);
    buf_cstr(b, ": ");
    put_command(b, &m->command);
    term_line(b, m->url, LINE_COLUMNS);
    if (m->trust)
        buf_cstr(b, "; what it says of its tools is believed");
    put_extras(b, m->sandbox_off, m->network_on, &m->secrets);
}

/* Recursion is bounded by AGENT_DEPTH_MAX. */
static void put_programs(struct buf *b, const struct agent_file *f)
{
    for (size_t i = 0; i < f->tools_count; i++)
        put_program(b, f->tools[i].manifest);
    for (size_t i = 0; i < f->manifest->servers_count; i++)
        put_server(b, &f->manifest->servers[i]);
    for (size_t i = 0; i < f->manifest->agents.count; i++)
        put_programs(b, &f->agents[i]);
}

static void put_cover(struct buf *b, const struct agent_file *f)
{
    if (f->parts)
        put_key(b, "covered");
    for (const struct cover_part *p = f->parts; p; p = p->next) {
        buf_cstr(b, p == f->parts ? "" : ", ");
        term_line(b, str_of(p->name), LINE_COLUMNS);
    }
    if (f->parts)
        buf_char(b, '\n');
    for (const struct cover_gap *g = f->gaps; g; g = g->next) {
        put_key(b, "not covered");
        term_line(b, str_of(g->name), LINE_COLUMNS);
        buf_fmt(b, " (%s)\n", g->why);
    }
}

void agent_show(struct buf *out, const struct agent_file *f)
{
    const struct agent_manifest *m = f->manifest;

    put_text(out, "name", str_of(f->name));
    put_text(out, "description", m->description);
    put_text(out, "model", m->model);
    put_text(out, "at", m->base_url);
    put_words(out, "fallback", &m->fallbacks);
    put_text(out, "instructions", m->instructions);
    put_words(out, "tools", &m->tools);
    put_programs(out, f);
    put_words(out, "rules", &m->rules);
    put_words(out, "labels", &m->label_rows);
    put_words(out, "network", &m->network);
    put_words(out, "skills", &m->skills);
    put_words(out, "agents", &m->agents);
    put_cover(out, f);
}
