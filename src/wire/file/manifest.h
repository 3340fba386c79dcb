/*
 * manifest.h - files that describe agents (agent/1) and tools (tool/1).
 *
 * Pure: texts come from elsewhere, and nothing that they name is looked at.
 * What is wrong is said with line and column. Strings are in the arena,
 * valid UTF-8, ended by NUL and without another one. Absent is absent; a
 * number that is not given is 0.
 */
#ifndef WIRE_MANIFEST_H
#define WIRE_MANIFEST_H

#include "base/json.h"
#include "core/config/params.h"

/* An entry of a list, and where it stood. */
struct manifest_word {
    wend_str text;
    uint32_t line, column;
};

struct manifest_words {
    const struct manifest_word *list; /* NULL: not given */
    size_t count;
};

/* Of requests to a model, see wishes.h; a text that is absent is not given. */
struct wishes {
    struct manifest_word params[PARAMS]; /* JSON; null: the provider's own */
    struct manifest_word extra;          /* the same, an object */
    struct manifest_words headers;       /* `Name: value` */
};

struct manifest_server { /* of MCP: either a command or a URL */
    wend_str name, url;
    struct manifest_words command, secrets;
    int64_t timeout_ms, start_timeout_ms; /* 0: the usual ones */
    bool sandbox_off, network_on, trust;
};

enum manifest_memory { MEMORY_OFF, MEMORY_SYNC, MEMORY_ASYNC };

struct agent_manifest {
    wend_str name, description, model, summary_model, base_url, instructions;
    struct manifest_words fallbacks;
    struct manifest_words tools;      /* names of built-in ones, or files */
    struct manifest_words rules;      /* as wend_agent_options has them */
    struct manifest_words label_rows; /* the same */
    wend_limits limits;
    int64_t context_tokens;
    int64_t max_history;  /* messages; 0: all */
    int64_t max_memories; /* facts; 0: FACTS_TOLD_MAX */
    struct wishes wishes;
    bool compaction_off;
    bool loop_off; /* calls may repeat themselves */
    bool network_off;
    struct manifest_words network; /* as wend_agent_options has it */
    const struct manifest_server *servers;
    size_t servers_count;
    struct manifest_words agents; /* files */
    /* Not served yet. */
    struct manifest_words skills;
    struct {
        bool given;
        struct manifest_words sources;
        int64_t top;
    } retrieval;
    int memory;       /* enum manifest_memory */
    bool memory_user; /* served: facts are the same in all folders */
    bool notes_off;   /* the model is told nothing of the folder */
};

struct tool_manifest {
    wend_str name, description;
    wend_str schema; /* canonical JSON */
    struct manifest_words command, secrets, labels;
    struct manifest_words verify; /* a command, too */
    int call_class;               /* wend_class */
    int category;                 /* wend_category */
    int64_t timeout_ms;
    bool sandbox_off, output_json;
    bool repeat_ok;     /* the same call again and again is no loop */
    bool client;        /* the caller of a run executes it: no command */
    wend_str subject;   /* the argument that rules look at */
    int64_t cache_ms;   /* 0: no answer is given again */
    int64_t per_minute; /* 0: no bound */
    int64_t memory_bytes, disk_bytes, tasks; /* 0: the usual bound */
};

/* YAML, JSON, or Markdown whose front matter is YAML and whose text is the
 * instructions. */
wend_status agent_manifest_parse(wend_str text, struct arena *a,
                                 struct agent_manifest **out, wend_error *err);
/* YAML or JSON. */
wend_status tool_manifest_parse(wend_str text, struct arena *a,
                                struct tool_manifest **out, wend_error *err);

/* The i-th key of the file that is not supported yet, or NULL. */
const char *agent_manifest_unserved(const struct agent_manifest *m, size_t i);

/* Those that are a wend_label; `network` is the sandbox's. */
uint32_t manifest_labels(const struct manifest_words *w);

/* Offered where no tools are named: they only read. Ends with NULL. */
extern const char *const manifest_tools_default[];

/* Whether an entry of `tools` is a file: it has a slash or the suffix of
 * one. */
bool manifest_is_file(wend_str entry);
/* notes/helper.yaml is called helper. */
wend_str manifest_stem(const char *path);
/* A path as the file `of` means it: relative to the folder that it is in. */
void manifest_path(struct buf *out, wend_str of, wend_str path);
/* Whether the i-th word of a command is a path: it begins with ./ or
 * ../, or is the program and has a slash. */
bool manifest_word_is_path(wend_str word, size_t i);
/* Whether the word behind this one is a script, as behind sh -c. */
bool manifest_word_is_script(wend_str before);

/* The tool that a rule names; absent if that cannot be known: the name is a
 * glob, or of a server's tool. */
wend_str manifest_rule_tool(wend_str rule);
/* Whether a rule can fit a call; err says what to write instead. */
wend_status manifest_rule_check(wend_str rule, wend_error *err);

#endif
