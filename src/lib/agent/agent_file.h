/*
 * agent_file.h - an agent from a file, with all the files that it names.
 *
 * Everything is read once: what was summed up for trust is what is used,
 * except programs, which are read again when they are started.
 */
#ifndef CLI_AGENT_FILE_H
#define CLI_AGENT_FILE_H

#include "cli/cover.h"

enum { AGENT_DEPTH_MAX = 3 }; /* of agents in agents */

struct tool_file {
    const char *path;
    const struct tool_manifest *manifest;
    const char *const *argv; /* paths as the file means them; NULL at the end */
    const char *const *verify; /* the same; NULL: there is none */
};

struct server_file {
    const struct manifest_server *manifest;
    const char *const *argv; /* as of a tool; NULL: it has a URL */
};

struct agent_file {
    const char *path;
    const char *name; /* its own, else that of the file */
    const struct agent_manifest *manifest;
    const char *model; /* NULL if it names none; a script's path is whole */
    const char *const *fallbacks; /* the same */
    size_t fallbacks_count;
    struct tool_file *tools; /* those of manifest->tools that are files */
    size_t tools_count;
    struct server_file *servers; /* as many as in the manifest */
    struct agent_file *agents;   /* the same */
    /* Only of the outermost: */
    char sum[SHA256_HEX + 1]; /* of all bytes, in the order they are named */
    const struct cover_part *parts; /* the files */
    const struct cover_gap *gaps;   /* what the sum leaves out */
};

/* `plain`: nothing but a regular file will do; nobody named it. */
wend_status agent_file_load(const char *path, bool plain, struct arena *a,
                            struct agent_file **out, wend_error *err);
/* notes/helper.yaml is called helper. */
wend_str agent_file_stem(const char *path);
wend_status tool_file_load(const char *path, struct arena *a,
                           struct tool_file *out, wend_error *err);

#endif
