/*
 * test_manifest_bounds.c - memory, disk and tasks in a tool's file.
 */
#include "base/str.h"
#include "tap.h"
#include "wire/file/manifest.h"

#define TOOL "wend: tool/1\nname: t\ndescription: d\ncommand: [x]\n"

static const struct {
    const char *why, *text;
    int64_t memory, disk, tasks;
    const char *message; /* NULL = it is read */
} rows[] = {
    {"none", TOOL, 0, 0, 0, NULL},
    {"all", TOOL "memory: 512MiB\ndisk: 2GiB\ntasks: 40", 512 << 20,
     INT64_C(2) << 30, 40, NULL},
    {"bytes", TOOL "memory: 1048576", 1 << 20, 0, 0, NULL},
    {"KiB", TOOL "disk: 2048KiB", 0, 2 << 20, 0, NULL},
    {"the most", TOOL "disk: 1024TiB", 0, INT64_C(1) << 50, 0, NULL},
    {"more than that", TOOL "disk: 1025TiB", 0, 0, 0,
     "disk must be a size such as 512MiB, not '1025TiB'"},
    {"more than can be counted", TOOL "disk: '99999999999999999999'", 0, 0, 0,
     "disk must be a size such as 512MiB, not '99999999999999999999'"},
    {"a unit that is not known", TOOL "memory: 5 parsecs", 0, 0, 0,
     "memory must be a size such as 512MiB, not '5 parsecs'"},
    {"no number", TOOL "memory: MiB", 0, 0, 0,
     "memory must be a size such as 512MiB, not 'MiB'"},
    {"below zero", TOOL "memory: -1", 0, 0, 0,
     "memory must be a size such as 512MiB, not -1"},
    {"too little to start", TOOL "memory: 64KiB", 0, 0, 0,
     "memory must be a size of at least 1048576 bytes, not '64KiB'"},
    {"nothing at all", TOOL "disk: 0", 0, 0, 0,
     "disk must be a size such as 512MiB, not 0"},
    {"no tasks", TOOL "tasks: 0", 0, 0, 0,
     "tasks must be a whole number from 1 to 100000, not 0"},
};

int main(void)
{
    struct mem mem = {0};

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct arena a = {.mem = &mem};
        struct tool_manifest *t = NULL;
        wend_error err = {0};
        wend_status s = tool_manifest_parse(str_of(rows[i].text), &a, &t, &err);

        if (rows[i].message)
            tap_ok(s != WEND_OK && !strcmp(err.message, rows[i].message),
                   "%s: %s", rows[i].why, err.message);
        else
            tap_ok(s == WEND_OK && t->memory_bytes == rows[i].memory &&
                       t->disk_bytes == rows[i].disk &&
                       t->tasks == rows[i].tasks,
                   "%s: %s", rows[i].why, err.message);
        arena_free(&a);
    }
    return tap_done();
}
