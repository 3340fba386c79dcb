/*
 * write_file.c - a text file, made or replaced as a whole.
 *
 * Idempotent: the same call twice leaves the same file.
 */
#include "base/utf8.h"
#include "host/path.h"
#include "tools/tools.h"

wend_status tool_write_file(void *env, wend_call *call)
{
    const struct tool_env *e = env;
    struct tool_job j;
    wend_str path = STR_NONE, content = STR_NONE;
    wend_status s = tool_begin(
        &j, call,
        TOOL_ARGS({"path", .str = &path}, {"content", .str = &content}));

    if (!s)
        s = path_write(e->root_fd, path, content, &j.err);
    if (!s) {
        buf_fmt(&j.out, "wrote %zu bytes to ", content.len);
        tool_put_name(&j.out, path);
    }
    return tool_end(&j, call, s);
}
