/*
 * options.h - parses options by tables.
 *
 * A row says where in the settings its value goes and which values are valid;
 * the config file uses the same rows, so a value means the same in both. Long
 * options take `--name value` and `--name=value`, letters `-x value` and
 * `-xvalue`; flags can be bundled; `--` ends the options.
 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include "base/str.h"

/* A list of values. A value from another origin restarts the list: options
 * replace the values of the config file. */
struct words {
    const char **items;
    size_t count, cap;
    int origin;
};

void words_add(struct words *w, const char *word, struct arena *a);

enum opt_kind {
    OPT_FLAG,    /* bool */
    OPT_TEXT,    /* const char * */
    OPT_LIST,    /* struct words */
    OPT_NUMBER,  /* int64_t, min to max */
    OPT_TIME,    /* int64_t, milliseconds, at least one */
    OPT_AGE,     /* the same, with a unit: how long ago */
    OPT_MONEY,   /* int64_t, USD * 10^-9, more than nothing */
    OPT_FACTOR,  /* double, 0 or more */
    OPT_WORD,    /* int64_t, the index of one of `words` */
    OPT_REFUSED, /* of another command; `words` has one: what to do instead */
};

enum { ORIGIN_CONFIG = 1, ORIGIN_AGENT, ORIGIN_OPTIONS };

struct opt {
    char letter;       /* 0 = none */
    const char *name;  /* without dashes */
    const char *value; /* shown in help; NULL for a flag */
    const char *help;  /* NULL = not shown */
    enum opt_kind kind;
    size_t at; /* offset in the settings */
    int64_t min, max;
    const char *const *words; /* ends with NULL */
};

enum { OPTS_MAX = 64 }; /* rows of a table; the last has no name */

/* Sets one value. On failure `why` contains the reason. */
bool opt_set(const struct opt *o, void *settings, const char *value, int origin,
             struct arena *a, struct buf *why);

/* Fills the settings; moves arguments that are not options to the front of
 * args and counts them. Returns false with the reason in `why`. */
bool options_parse(const struct opt *opts, void *settings, int *args_count,
                   char **args, struct arena *a, struct buf *why);

const struct opt *opt_named(const struct opt *opts, wend_str name);
const struct opt *opt_lettered(const struct opt *opts, char letter);
void options_help(const struct opt *opts, struct buf *out);

#endif
