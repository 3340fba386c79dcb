/*
 * file.h - files that the user named: scripts, configuration, prompts.
 */
#ifndef HOST_FILE_H
#define HOST_FILE_H

#include "base/str.h"

/* Appends the whole file, "-" is stdin. Over `max` bytes is refused. */
wend_status file_read(const char *path, size_t max, struct buf *out,
                      wend_error *err);

#endif
