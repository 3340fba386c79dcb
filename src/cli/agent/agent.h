/*
 * agent.h - which agents, plans and servers files and options name.
 *
 *   again.h        the agent of a stored run, and what the user says to it
 *   agent_make.h   the agent of a run, from the settings and its file
 *   agent_use.h    which agent a command runs
 *   plan_files.h   a plan from a file, with the plans and agents it names
 *   servers.h      servers of tools: those of --mcp
 */
#ifndef CLI_AGENT_H
#define CLI_AGENT_H

#include "cli/agent/again.h"
#include "cli/agent/agent_make.h"
#include "cli/agent/agent_use.h"
#include "cli/agent/plan_files.h"
#include "cli/agent/servers.h"

#endif
