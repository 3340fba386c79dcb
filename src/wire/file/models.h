/*
 * models.h - a file that says what models can take and what they cost.
 *
 * Pure: the text comes from elsewhere. Money is integers as soon as it has
 * been read.
 */
#ifndef WIRE_MODELS_H
#define WIRE_MODELS_H

#include "base/json.h"
#include "core/config/config.h"
#include "wire/file/manifest.h"

struct model {
    wend_str name;  /* provider:model, a glob */
    int64_t window; /* tokens; 0 = unknown */
    int64_t output; /* most tokens of an answer; 0 = unknown */
    struct price price;
    int64_t concurrency; /* requests at once; 0 = no limit */
    bool no_tools;       /* it cannot call tools */
    struct wishes wishes;
    uint32_t media; /* 1 << enum media_type that it accepts; 0 = unknown */
    /* Of a row that wend comes with: where it was found, and when. NULL: the
     * row is from a file. */
    const char *source, *date;
};

struct models {
    const struct model *list;
    size_t count;
};

/* text: YAML or JSON. Unknown keys, wrong types and bad values are refused
 * with line, column and, where one is near, a suggestion. All is in the
 * arena. */
wend_status models_parse(wend_str text, struct arena *a, struct models **out,
                         wend_error *err);

/* The first entry that fits, or NULL. */
const struct model *models_find(const struct models *m, wend_str name);

/* The same, else what wend itself knows; m may be NULL. */
const struct model *models_look_up(const struct models *m, wend_str name);
const struct model *models_known_at(size_t i); /* NULL after the last */

/* Where the file is: as it was named, else the user's own one by
 * XDG_CONFIG_HOME and HOME; any may be NULL. False if nothing says. */
bool models_path(struct buf *out, const char *named, const char *xdg,
                 const char *home);

#endif
