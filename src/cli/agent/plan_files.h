/*
 * plan_files.h - a plan from a file, with the plans and agents it names.
 */
#ifndef CLI_PLAN_FILES_H
#define CLI_PLAN_FILES_H

#include "base/json.h"
#include "cli/cli.h"

enum { PLAN_FILES_MAX = 1000 }; /* that one plan names, in all */

/* An agent or a workflow; one for each target. */
struct plan_named {
    const char *target;
    const struct json *action;  /* the first that names it */
    const wend_manifest *agent; /* or ... */
    struct plan_file *plan;
};

struct plan_file {
    const char *path;
    const char *real;              /* to know it again */
    const struct plan_file *outer; /* that names it; NULL: the user did */
    int depth;
    wend_plan *plan;
    const struct json *actions; /* as wend_plan_describe has them */
    struct plan_named *named;
    size_t named_count;
    struct relic_file *relics; /* that it names */
    struct plan_tool *tools;   /* the same */
};

/* All of them, checked; plans in plans in a circle, or too deep, are refused.
 * Only the outermost has --set. What is wrong is said; 0 or an exit code. */
int plan_files_load(struct cli *cli, const char *path, struct plan_file **out);
void plan_files_free(struct plan_file *f);
/* For a run without a model: says what in it asks one that it does not name
 * itself; 0 if nothing does, or an exit code. */
int plan_files_unasked(const struct plan_file *f);
/* Gives the run the models that actions in it name. False: out of memory. */
bool plan_files_models(struct cli *cli, const struct plan_file *f);

/* FOLDER/NAME.yaml beside the plan, kept; NULL: out of memory, or no name of
 * a file. */
const char *beside_plan(struct cli *cli, wend_str plan, const char *folder,
                        wend_str name);

#endif
