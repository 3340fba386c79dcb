/*
 * attach.c - files that come with the next message of a chat.
 *
 * A file is checked when it is named, with the message that `run -f` has: later
 * the message that it was meant for would be refused.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/chat/talk.h"
#include "cli/cmd/cmd.h"

int attach_file(struct chat *c, const char *path)
{
    wend_part *part = &c->parts[c->o.parts_count];
    struct cli *cli = c->cli;
    int code;

    if (c->o.parts_count == CHAT_PARTS_MAX)
        return complain(EXIT_USAGE, "a message has at most %d files",
                        CHAT_PARTS_MAX);
    code = read_part(cli, path, part);
    if (code)
        return code;
    code = report(cli, wend_part_check(part, cli->made, NULL, &cli->err));
    if (code) {
        mem_free(&cli_mem, (void *)(uintptr_t)part->data.ptr);
        return code;
    }
    c->o.parts = c->parts;
    c->o.parts_count++;
    return EXIT_DONE;
}

static bool add_bytes(void *ctx, wend_str bytes)
{
    buf_str(ctx, bytes);
    return true;
}

/* Bytes that are gone, by wend prune, leave the text alone. */
void attach_again(struct chat *c, const char *run, const wend_ev_part *parts,
                  size_t count)
{
    struct cli *cli = c->cli;

    for (size_t i = 0; i < count && c->o.parts_count < CHAT_PARTS_MAX; i++) {
        struct buf data = {.mem = &cli_mem};
        char hash[80];

        str_copy(hash, sizeof hash, parts[i].hash);
        if (report(cli, wend_store_blob(cli->store, run, hash, add_bytes, &data,
                                        &cli->err)))
            continue;
        c->parts[c->o.parts_count++] =
            (wend_part){.data = buf_view(&data),
                        .name = arena_str(&cli->arena, parts[i].name)};
    }
    c->o.parts = c->parts;
}

/* As a terminal writes a file that is dropped on it: in quotes, or with
 * backslashes. A file of that very name comes first. */
static const char *plain_path(struct cli *cli, const char *arg)
{
    size_t len = strlen(arg);
    char quote = arg[0] == '"' || arg[0] == '\'' ? arg[0] : 0;
    const char *home = getenv("HOME");
    struct buf out = {.mem = &cli_mem};

    while (len && arg[len - 1] == ' ')
        len--;
    if (len > 1 && arg[0] == '~' && arg[1] == '/' && home) {
        buf_cstr(&out, home);
        arg++;
        len--;
    }
    buf_add(&out, arg, len);
    if (!access(out.ptr, F_OK))
        return buf_keep(&out, &cli->arena).ptr;
    buf_clear(&out);
    if (quote && len > 1 && arg[len - 1] == quote) {
        buf_add(&out, arg + 1, len - 2);
        return buf_keep(&out, &cli->arena).ptr;
    }
    for (size_t i = 0; i < len; i++) {
        i += arg[i] == '\\' && i + 1 < len;
        buf_char(&out, arg[i]);
    }
    return buf_keep(&out, &cli->arena).ptr;
}

void slash_attach(struct chat *c, const char *arg)
{
    const wend_part *part = &c->parts[c->o.parts_count];

    if (!*arg)
        chat_say(c,
                 "/attach FILE sends a file with the next message; %zu "
                 "so far",
                 c->o.parts_count);
    else if (!attach_file(c, plain_path(c->cli, arg)))
        chat_say(c, "%.*s comes with the next message (%zu bytes)",
                 (int)part->name.len, part->name.ptr, part->data.len);
}

void slash_detach(struct chat *c, const char *arg)
{
    size_t kept = 0;

    for (size_t i = 0; i < c->o.parts_count; i++)
        if (*arg && !str_is(c->parts[i].name, arg))
            c->parts[kept++] = c->parts[i];
    chat_say(c, "%zu left out; %zu come with the next message",
             c->o.parts_count - kept, kept);
    c->o.parts_count = kept;
}
