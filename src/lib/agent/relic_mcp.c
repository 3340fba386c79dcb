/*
 * relic_mcp.c - the tools of a server (MCP) as endpoints for plans.
 */
#include "base/fail.h"
#include "lib/agent/relics.h"

/* Words of the command that are paths are relative to the relic's file. */
static const char *const *
command_of(wend_agent *a, const struct manifest_words *w, const char *file)
{
    const char **argv = arena_alloc(&a->arena, (w->count + 1) * sizeof *argv);

    for (size_t i = 0; argv && i < w->count; i++) {
        wend_str word = w->list[i].text;
        struct buf b = {.mem = &a->mem};

        if (file && manifest_word_is_path(word, i))
            manifest_path(&b, str_of(file), word);
        else
            buf_str(&b, word);
        argv[i] = b.failed ? NULL : arena_str(&a->arena, buf_view(&b)).ptr;
        buf_free(&b);
        if (!argv[i])
            return NULL;
    }
    return argv;
}

wend_status relic_mcp_options(wend_agent *a, const struct relic_manifest *m,
                              const wend_relic_options *o,
                              wend_mcp_options *out, wend_error *err)
{
    const struct manifest_server *server = &m->server;
    const struct manifest_words *w = &server->secrets;
    const char **secrets =
        arena_alloc(&a->arena, (w->count + 1) * sizeof *secrets);

    *out = (wend_mcp_options){
        .size = sizeof *out,
        .name = m->name.ptr,
        .url = server->url.ptr,
        .secrets = secrets,
        .secrets_count = w->count,
        .timeout_ms = (uint32_t)server->timeout_ms,
        .start_timeout_ms = (uint32_t)server->start_timeout_ms,
        .connect_ms = o->connect_ms,
        .sandbox_off = server->sandbox_off,
        .network = server->network_on,
        .trust = server->trust,
        .accept = o->accept,
        .pins_file = o->pins_file,
        .note = o->note,
        .note_ctx = o->note_ctx,
    };
    if (!server->url.ptr)
        out->command = command_of(a, &server->command, o->file);
    if (!secrets || (!server->url.ptr && !out->command))
        return fail_nomem(err);
    for (size_t i = 0; i < w->count; i++)
        secrets[i] = w->list[i].text.ptr;
    return WEND_OK;
}
