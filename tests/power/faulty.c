/*
 * faulty.c - linked to the command it makes a disk fail under it.
 *
 * WEND_TEST_FAULT is io:N, full:N or silent:N: the Nth call about the files of
 * the store in WEND_STORE gives an error, or from there on writes find no room,
 * or are not done and nobody says so.
 * WEND_TEST_CALLS names a file that is told how many calls there were.
 */
#include "tape.h"

static void tell_calls(void)
{
    const char *path = getenv("WEND_TEST_CALLS");
    FILE *f = path ? fopen(path, "w") : NULL;

    if (!f)
        return;
    fprintf(f, "%ld %d\n", tape.calls, tape.failed);
    fclose(f);
}

__attribute__((constructor)) static void make_faulty(void)
{
    const char *fault = getenv("WEND_TEST_FAULT");
    const char *store = getenv("WEND_STORE");
    const char *at = fault ? strchr(fault, ':') : NULL;

    if (!at || !store || !tape_register())
        return;
    tape_start(store, CONTROL_NONE);
    tape.fault = fault[0] == 'i'   ? FAULT_IO
                 : fault[0] == 'f' ? FAULT_FULL
                                   : FAULT_SILENT;
    tape.fault_at = atol(at + 1);
    atexit(tell_calls);
}
