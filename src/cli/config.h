/*
 * config.h - the settings file: ~/.config/wend/config.yaml.
 */
#ifndef CLI_CONFIG_H
#define CLI_CONFIG_H

#include "cli/cli.h"

/* The user's config and data directories: from XDG_CONFIG_HOME and
 * XDG_DATA_HOME, else beneath HOME. False if none is set. */
bool config_folder(struct buf *out);
bool data_folder(struct buf *out);
/* Creates that directory and its parents. */
wend_status data_folder_make(struct buf *folder, wend_error *err);
/* A file in it that grants permissions: only the user may have write access.
 * The file may be absent. */
wend_status data_file_check(const char *path, wend_error *err);
wend_status data_file_read(const char *path, struct buf *text, wend_error *err);
/* The path of the file in out: $WEND_CONFIG, $XDG_CONFIG_HOME, HOME. False
 * if none of them is set. */
bool config_path(struct buf *out, bool *named);
/* Adds the values of the file to the settings, checked like those of
 * options. The file may be absent unless it was named. */
wend_status config_load(struct settings *set, struct arena *a, wend_error *err);
/* The same, and where each value stands. */
enum { CONFIG_KEYS_MAX = 32 };
struct config_origin {
    const char *path;                /* NULL: there is no file */
    uint32_t lines[CONFIG_KEYS_MAX]; /* by the index of the key; 0: not set */
};
wend_status config_load_from(struct settings *set, struct arena *a,
                             struct config_origin *origin, wend_error *err);
/* The i-th key and the option that sets the same; NULL after the last. */
const char *config_key(size_t i, const struct opt **o);
void settings_clear(struct settings *set); /* to the defaults */
/* Loads the models file: that of the settings, else the user's own. *out is
 * unchanged if there is no file and none was named. Returns 0 or an exit code,
 * after a message. */
struct models;
int models_load(struct cli *cli, struct buf *path, struct models **out);
/* Warns if other users can read the key file; the library refuses it where
 * the user could change that. */
void key_file_look(const struct settings *set);
/* A small file, whole. */
wend_status config_read(const char *path, struct buf *text, wend_error *err);
/* WEND_MODEL, WEND_STORE and WEND_MODELS. */
void config_environment(struct settings *set);

#endif
