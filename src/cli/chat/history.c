/*
 * history.c - what was typed in earlier chats: a file that only the user may
 * read, one text a line.
 *
 * A backslash and a line end inside a text are escaped. A text that begins with
 * a space is not kept, as in shells.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/chat/talk.h"
#include "cli/config.h"

enum {
    HISTORY_MAX = 1000,        /* texts that are offered */
    HISTORY_BYTES = 1 << 20,   /* of the file that are read: the newest */
    TEXT_BYTES_MAX = 16 << 10, /* a longer one was pasted */
};

static bool path_of(struct buf *out)
{
    if (!data_folder(out))
        return false;
    buf_cstr(out, "/chat_history");
    return true;
}

static void take_line(struct chat *c, wend_str line)
{
    struct buf text = {.mem = &cli_mem};

    for (size_t i = 0; i < line.len; i++) {
        bool escaped = line.ptr[i] == '\\' && i + 1 < line.len;

        i += escaped;
        buf_char(&text, escaped && line.ptr[i] == 'n' ? '\n' : line.ptr[i]);
    }
    if (text.len)
        words_add(&c->editor.history, text.ptr, &c->cli->arena);
}

void history_load(struct chat *c)
{
    struct buf path = {.mem = &cli_mem}, text = {.mem = &cli_mem};
    struct words *past = &c->editor.history;
    wend_str rest, line;
    off_t size;
    int fd = path_of(&path) ? open(path.ptr, O_RDONLY | O_CLOEXEC) : -1;

    if (fd < 0)
        return;
    size = lseek(fd, 0, SEEK_END);
    lseek(fd, size > HISTORY_BYTES ? size - HISTORY_BYTES : 0, SEEK_SET);
    read_all(fd, HISTORY_BYTES, &text);
    close(fd);
    rest = buf_view(&text);
    if (size > HISTORY_BYTES)
        str_line(&rest, &line); /* the rest of a line */
    while (str_line(&rest, &line))
        take_line(c, line);
    if (past->count > HISTORY_MAX) {
        past->items += past->count - HISTORY_MAX;
        past->cap -= past->count - HISTORY_MAX;
        past->count = HISTORY_MAX;
    }
    c->editor.place = past->count;
}

static void keep(struct chat *c, wend_str text)
{
    struct buf folder = {.mem = &cli_mem}, line = {.mem = &cli_mem};
    int fd;

    if (!data_folder(&folder) ||
        data_folder_make(&folder, &c->cli->err) != WEND_OK)
        return;
    buf_cstr(&folder, "/chat_history");
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '\\' || text.ptr[i] == '\n')
            buf_char(&line, '\\');
        buf_char(&line, text.ptr[i] == '\n' ? 'n' : text.ptr[i]);
    }
    buf_char(&line, '\n');
    fd = open(folder.ptr, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || !write_all(fd, buf_view(&line)))
        chat_say(c, "%s: %s; what you type is not kept", folder.ptr,
                 strerror(errno));
    if (fd >= 0)
        close(fd);
    buf_free(&line);
}

void history_add(struct chat *c, wend_str text)
{
    struct words *past = &c->editor.history;
    bool again = past->count && str_is(text, past->items[past->count - 1]);

    if (text.len && text.ptr[0] != ' ' && text.len <= TEXT_BYTES_MAX &&
        !again) {
        words_add(past, arena_str(&c->cli->arena, text).ptr, &c->cli->arena);
        keep(c, text);
    }
    c->editor.place = past->count;
}
