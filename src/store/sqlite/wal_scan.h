/*
 * wal_scan.h - whether a write-ahead log has lost commits.
 *
 * SQLite reads its log up to the first frame whose checksum is wrong, and takes
 * that for the end. Each commit is on the disk before the next one is written:
 * a commit behind the bad frame that a later frame continues was safe, and is
 * lost. The last commit may only be torn, by a crash that came before it was
 * reported as safe.
 */
#ifndef STORE_WAL_SCAN_H
#define STORE_WAL_SCAN_H

#include "base/str.h"

/* `path` is the store's. A log that cannot be read has lost nothing yet. */
bool wal_has_lost(const char *path);

#endif
