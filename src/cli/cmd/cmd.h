/*
 * cmd.h - the commands: one struct command in each cmd_*.c.
 */
#ifndef CLI_CMD_H
#define CLI_CMD_H

#include "cli/cli.h"

extern const struct command command_run, command_runs, command_log,
    command_replay, command_tools, command_models, command_agents,
    command_trust, command_doctor, command_verify, command_export,
    command_import, command_stats, command_diff, command_resume, command_cancel,
    command_say, command_pause, command_continue, command_approve, command_plan,
    command_prune, command_view, command_fork, command_rm, command_blob;

#endif
