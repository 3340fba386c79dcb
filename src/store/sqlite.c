/*
 * sqlite.c - the store in an SQLite file.
 */
#include "base/fail.h"
#include "store/store.h"

wend_status store_sqlite_open(const char *path, wend_store **out,
                              wend_error *err)
{
    *out = NULL;
    return fail(err, WEND_E_STORE, "store %s: SQLite is not built in", path);
}
