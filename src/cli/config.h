/*
 * config.h - the settings file: ~/.config/wend/config.yaml.
 */
#ifndef CLI_CONFIG_H
#define CLI_CONFIG_H

#include "cli/cli.h"

/* The user's folders for what wend reads and for what it keeps: by
 * XDG_CONFIG_HOME and XDG_DATA_HOME, else beneath HOME. False if nothing
 * says where. */
bool config_folder(struct buf *out);
bool data_folder(struct buf *out);
/* Makes that folder and those above it. */
wend_status data_folder_make(struct buf *folder, wend_error *err);
/* A file in it that allows things: only the user may be able to write it. No
 * file is fine. */
wend_status data_file_check(const char *path, wend_error *err);
/* The path of the file in out: $WEND_CONFIG, $XDG_CONFIG_HOME, HOME. False
 * if none of them is set. */
bool config_path(struct buf *out, bool *named);
/* Adds what the file says to the settings, its values checked like those
 * of options. No file is fine unless it was named. */
wend_status config_load(struct settings *set, struct arena *a, wend_error *err);
/* What is known about models: the file of the settings, else the user's own.
 * *out stays as it was if there is none and none was named. */
struct models;
wend_status models_load(struct cli *cli, struct buf *path, struct models **out,
                        wend_error *err);
/* Says so if others can read the file with the key: the library refuses it
 * where the user could change that. */
void key_file_look(const struct settings *set);
/* A small file, whole. */
wend_status config_read(const char *path, struct buf *text, wend_error *err);
/* WEND_MODEL, WEND_STORE and WEND_MODELS. */
void config_environment(struct settings *set);

#endif
