/*
 * cover.h - which files of a project its commands use, and their sum.
 *
 * A manifest is accepted together with the files that it names. Commands
 * name files in many ways: this is where a word is taken for a file or not.
 * What cannot be summed up is listed as a gap, which the user sees.
 */
#ifndef LIB_COVER_H
#define LIB_COVER_H

#include "base/hash.h"
#include "wire/file/manifest.h"

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
void cover_end(struct cover *c, char *sum);

#endif
