/*
 * agent_file.h - an agent from a file, with all the files that it names.
 *
 * Everything is read once: what was summed up for trust is what is used,
 * except programs, which are read again when they are started. Only for
 * src/lib.
 */
#ifndef LIB_AGENT_FILE_H
#define LIB_AGENT_FILE_H

#include "lib/agent/cover.h"

enum { AGENT_DEPTH_MAX = 3 }; /* of agents in agents */

struct tool_file {
    const char *path;
    const struct tool_manifest *manifest;
    const char *const *argv; /* paths as the file means them; NULL at the end */
    const char *const *verify;    /* the same; NULL: there is none */
    wend_command_options command; /* all of it, for hosts */
};

struct agent_file {
    wend_manifest seen; /* what hosts see; first */
    const struct agent_manifest *manifest;
    struct tool_file *tools;   /* those of manifest->tools that are files */
    struct agent_file *agents; /* as many as in the manifest */
    wend_agent_options options;
    char sum[SHA256_HEX + 1];
    struct agent_file_owner *owner; /* of the outermost, else NULL */
};

static inline const struct agent_file *agent_file_of(const wend_manifest *m)
{
    return (const struct agent_file *)(const void *)m;
}

/* agent_check.c: whether a program needs sockets. */
bool tool_networks(const struct tool_manifest *t);

#endif
