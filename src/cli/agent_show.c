/*
 * agent_show.c - what a manifest would do, for one who is to accept it.
 */
#include "cli/agent_tools.h"
#include "cli/agent_use.h"
#include "cli/term.h"

enum { LINE_COLUMNS = 300 }; /* of one line; then it is cut with a mark */

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

static void put_command(struct buf *b, const struct manifest_words *w)
{
    for (size_t i = 0; i < w->count; i++) {
        if (i)
            buf_char(b, ' ');
        term_line(b, w->list[i].text, LINE_COLUMNS);
    }
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
    buf_char(b, '\n');
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
    for (size_t i = 0; i < f->tools_count; i++)
        put_program(out, f->tools[i].manifest);
    for (size_t i = 0; i < m->servers_count; i++)
        put_server(out, &m->servers[i]);
    put_words(out, "rules", &m->rules);
    put_words(out, "network", &m->network);
    put_words(out, "skills", &m->skills);
    put_words(out, "agents", &m->agents);
}
