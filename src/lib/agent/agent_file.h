/*
 * agent_file.h - agents, tools and plans from files, with all the files that
 * they name.
 *
 * Everything is read once: what was summed up for trust is what is used,
 * except programs, which are read again when they are started. Only for
 * src/lib.
 */
#ifndef LIB_AGENT_FILE_H
#define LIB_AGENT_FILE_H

#include "base/hash.h"
#include "base/limits.h"
#include "wire/file/manifest.h"

enum { AGENT_DEPTH_MAX = 3 }; /* of agents in agents */

struct tool_file {
    const char *path;
    const struct tool_manifest *manifest;
    wend_command_options command; /* for hosts; paths as the file means them */
};

struct agent_file {
    wend_manifest seen;                    /* what hosts see; first */
    const struct agent_manifest *manifest; /* NULL: a tool or a plan */
    struct tool_file *tools;               /* as many as seen.commands */
    struct agent_file *agents;             /* as many as seen.agents */
    wend_agent_options options;
    char sum[SHA256_HEX + 1];
    uint32_t replan_line, replan_column; /* of a plan: its on_failure; or 0 */
    struct agent_file_owner *owner;      /* of the outermost, else NULL */
};

static inline const struct agent_file *agent_file_of(const wend_manifest *m)
{
    return (const struct agent_file *)(const void *)m;
}

static inline const struct tool_file *
tool_file_of(const wend_command_options *c)
{
    return container_of(c, const struct tool_file, command);
}

/* ---- Which files commands use, and their sum (cover.c) ------------------- */

enum {
    COVER_FILES_MAX = 1000,       /* that one manifest names, in all */
    COVER_FILE_BYTES = 8 << 20,   /* of one file; read at every start */
    COVER_SCRIPT_WORDS_MAX = 256, /* of a script in a command */
};

struct cover_item {
    struct cover_item *next;
    const char *name; /* relative to the project's folder, else absolute */
    const char *says; /* the file's sum; why it is a gap */
};

struct cover_list {
    struct cover_item *first, *last;
    size_t count;
};

struct cover {
    struct arena *arena;
    const char *folder; /* of the project: "" or ended by a slash */
    struct sha256 sum;  /* of all parts, in the order they are named */
    int files, words;
    struct cover_list parts, gaps;
};

/* `path` is the manifest's; the project's folder is the one it is in. */
wend_status cover_begin(struct cover *c, const char *path, struct arena *a,
                        wend_error *err);
/* Refuses anything but a regular file: a pipe could block for ever. */
wend_status cover_check(struct cover *c, const char *path, wend_error *err);
/* A file whose text was read. */
wend_status cover_text(struct cover *c, const char *path, wend_str text,
                       wend_error *err);
/* A file that is read when it is used; one that is not there counts as
 * that. */
wend_status cover_file(struct cover *c, const char *path, wend_error *err);
/* The i-th word of a command; `path` is what its manifest means by it. A
 * word that is not a path and names no file of the project has no effect. */
wend_status cover_word(struct cover *c, const struct manifest_words *w,
                       size_t i, const char *path, wend_error *err);
/* A manifest with a sum of its own: its files and gaps join these. */
wend_status cover_manifest(struct cover *c, const wend_manifest *m,
                           wend_error *err);

/* ---- Reading (agent_file.c) ---------------------------------------------- */

struct agent_loader {
    struct arena *arena;
    wend_error *err;
    struct cover cover;
    int depth;
};

/* The path that the file `of` means, or NULL without memory. */
const char *path_beside(struct arena *a, const char *of, wend_str path);
/* The text of a file or of standard input, which joins the sum. */
wend_status loader_text(struct agent_loader *l, const char *path, size_t max,
                        wend_str *text);
/* The text of a file. plain: a regular one. */
wend_status loader_read(struct agent_loader *l, const char *path, bool plain,
                        wend_str *text);
wend_status loader_tool(struct agent_loader *l, const char *path, bool plain,
                        struct tool_file *out);
/* The words of a command as the file `of` means them; its files join the
 * sum. */
wend_status loader_command(struct agent_loader *l, const char *of,
                           const struct manifest_words *w,
                           const char *const **out);
/* All but the command; `secrets` is NULL without memory. */
wend_mcp_options server_options(const struct manifest_server *m,
                                struct arena *a);
/* All files are read: sum, files and gaps for hosts. */
wend_status loader_end(struct agent_loader *l, struct agent_file *f);
/* Opens an agent or a tool in the arena, with a sum of its own. */
wend_status agent_file_open(struct arena *a, const char *path,
                            const wend_manifest_options *how,
                            struct agent_file *f, wend_error *err);

/* ---- Plans (plan_file.c) ------------------------------------------------- */

/* Opens a plan and what it names in the arena. Fails with `f` half filled:
 * plan_file_free also then. */
wend_status plan_file_open(struct arena *a, const char *path,
                           const wend_manifest_options *how,
                           struct agent_file *f, wend_error *err);
void plan_file_free(const wend_manifest *m); /* the plans in it */
/* Puts the file and the action in front of what is wrong. */
struct plan_action;
wend_status plan_file_blame(const wend_manifest *plan,
                            const struct plan_action *a, wend_status s,
                            const char *what, wend_error *err);

/* ---- Names of tools (agent_check.c) -------------------------------------- */

/* All that exist, for "did you mean". */
struct tool_names {
    const char *list[2 * TOOLS_MAX];
    int count;
};

void tool_names_add(struct tool_names *n, const char *name);
/* The built-in ones, and those of the manifest, which may be NULL. */
void tool_names_fill(struct tool_names *n, const wend_manifest *m);
/* Whether a program needs sockets. */
bool tool_networks(const struct tool_manifest *t);

#endif
