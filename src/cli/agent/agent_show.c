/*
 * agent_show.c - what a manifest would do, for one who is to accept it.
 */
#include <string.h>

#include "cli/agent/agent.h"
#include "cli/term.h"
#include "wire/file/manifest.h"

enum {
    LINE_COLUMNS = 300, /* of one line; then it is cut with a mark */
    WORD_INLINE = 100, /* bytes; a longer word of a command has its own lines */
};

static void put_key(struct buf *b, const char *key)
{
    buf_fmt(b, "  %-13s ", key);
}

static void put_text(struct buf *b, const char *key, const char *text)
{
    if (!text)
        return;
    put_key(b, key);
    term_line(b, str_of(text), LINE_COLUMNS);
    buf_char(b, '\n');
}

/* Entry i of a list on one line. */
static void put_item(struct buf *b, const char *key, size_t i, size_t count,
                     const char *text)
{
    if (!i)
        put_key(b, key);
    term_line(b, str_of(text), LINE_COLUMNS);
    buf_cstr(b, i + 1 < count ? ", " : "\n");
}

static void put_words(struct buf *b, const char *key, const char *const *list,
                      size_t count)
{
    for (size_t i = 0; list && i < count; i++)
        put_item(b, key, i, count, list[i]);
}

/* Nothing of it is left out, and its lines stay lines. */
static void put_script(struct buf *b, wend_str text)
{
    wend_str line;

    while (str_line(&text, &line)) {
        buf_cstr(b, "\n                | ");
        term_line(b, line, 2 * line.len + 1); /* no character is wider */
    }
}

static void put_command(struct buf *b, const char *const *argv)
{
    bool block = false;

    for (size_t i = 0; argv && argv[i]; i++) {
        wend_str word = str_of(argv[i]);

        if (i)
            buf_cstr(b, block ? "\n                " : " ");
        block = word.len > WORD_INLINE ||
                (i && manifest_word_is_script(str_of(argv[i - 1]))) ||
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
                       const char *const *secrets, size_t count)
{
    if (sandbox_off)
        buf_cstr(b, "; not in the sandbox");
    else if (network)
        buf_cstr(b, "; with the network");
    for (size_t i = 0; i < count; i++) {
        buf_cstr(b, i ? ", " : "; gets ");
        term_line(b, str_of(secrets[i]), LINE_COLUMNS);
    }
    end_line(b);
}

static void put_program(struct buf *b, const wend_command_options *c)
{
    put_key(b, "program");
    term_line(b, str_of(c->name), LINE_COLUMNS);
    buf_cstr(b, ": ");
    put_command(b, c->argv);
    if (c->verify_count) {
        buf_cstr(b, "; looked up by ");
        put_command(b, c->verify);
    }
    put_extras(b, c->sandbox_off, c->network, c->secrets, c->secrets_count);
}

static void put_server(struct buf *b, const wend_mcp_options *o)
{
    put_key(b, "server");
    term_line(b, str_of(o->name), LINE_COLUMNS);
    buf_cstr(b, ": ");
    put_command(b, o->command);
    term_line(b, str_of(o->url ? o->url : ""), LINE_COLUMNS);
    if (o->trust)
        buf_cstr(b, "; what it says of its tools is believed");
    put_extras(b, o->sandbox_off, o->network, o->secrets, o->secrets_count);
}

/* Recursion is bounded by the depth of agents in agents. */
static void put_programs(struct buf *b, const wend_manifest *m)
{
    for (size_t i = 0; i < m->commands_count; i++)
        put_program(b, m->commands[i]);
    for (size_t i = 0; i < m->servers_count; i++)
        put_server(b, m->servers[i]);
    for (size_t i = 0; i < m->agents_count; i++)
        put_programs(b, m->agents[i]);
}

static void put_cover(struct buf *b, const wend_manifest *m)
{
    for (size_t i = 0; i < m->agents_count; i++)
        put_item(b, "agents", i, m->agents_count, m->agents[i]->path);
    for (size_t i = 0; i < m->files_count; i++)
        put_item(b, "covered", i, m->files_count, m->files[i].name);
    for (size_t i = 0; i < m->gaps_count; i++) {
        put_key(b, "not covered");
        term_line(b, str_of(m->gaps[i].name), LINE_COLUMNS);
        buf_fmt(b, " (%s)\n", m->gaps[i].why);
    }
}

void agent_show(struct buf *out, const wend_manifest *m)
{
    const wend_agent_options *o = m->options;

    put_text(out, "name", m->name);
    put_text(out, "description", m->description);
    put_text(out, "model", o->model);
    put_text(out, "at", o->base_url);
    put_words(out, "fallback", o->fallbacks, o->fallbacks_count);
    put_text(out, "summaries", o->summary_model);
    put_words(out, "params", o->params, o->params_count);
    put_text(out, "extra", o->extra);
    put_words(out, "headers", o->headers, o->headers_count);
    put_text(out, "instructions", o->instructions);
    if (o->project == WEND_PROJECT_OFF)
        put_text(out, "notes", "off");
    if (m->tools && !m->tools_count)
        put_text(out, "tools", "none");
    put_words(out, "tools", m->tools, m->tools_count);
    put_programs(out, m);
    put_words(out, "rules", o->rules, o->rules_count);
    put_words(out, "labels", o->label_rows, o->label_rows_count);
    put_words(out, "network", o->network, o->network_count);
    put_words(out, "skills", m->skills, m->skills_count);
    put_cover(out, m);
}
