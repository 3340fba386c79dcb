/*
 * file.h - files that the user named: scripts, configuration, recordings.
 */
#ifndef HOST_FILE_H
#define HOST_FILE_H

#include "base/str.h"

/* Appends the whole file, "-" is stdin. Over `max` bytes is refused. */
wend_status file_read(const char *path, size_t max, struct buf *out,
                      wend_error *err);
/* The rest of an open file, or all bytes: 0 or -errno; -EFBIG: over `max`. */
int file_read_all(int fd, size_t max, struct buf *out);
int file_write_all(int fd, wend_str bytes);
bool file_exists(const char *path);
/* Refuses a file with a secret that others can read, unless the user cannot
 * change that (a mount for secrets, a read-only one). */
wend_status file_private(const char *path, wend_error *err);

/* Makes a directory, only for the user, or takes one that is empty. */
wend_status file_dir_new(const char *path, wend_error *err);
/* Makes the missing folders above the file, only for the user. */
wend_status file_dirs(char *path, wend_error *err);
/* Creates a file, only for the user, that must not exist; its fd. */
wend_status file_create(const char *path, int *fd, wend_error *err);
/* Writes all of it at the end; path is for the message. */
wend_status file_append(int fd, const char *path, wend_str bytes,
                        wend_error *err);
void file_close(int fd);

#endif
