/*
 * complete.h - what the shells offer when the user presses the tab key.
 */
#ifndef CLI_COMPLETE_H
#define CLI_COMPLETE_H

#include "cli/cli.h"

/* `wend complete WORD...`: prints what the last word, which may be empty, can
 * become. The other words are those between `wend` and it. The first line is
 * "files", "dirs" or "none": whether names of files are offered, too; after a
 * tab, what is before such a name in the word (`--schema=`, `script:`). Then
 * each line is a word and, after a tab, a description.
 *
 * It prints no errors, asks nothing and creates no store. */
int complete_words(struct cli *cli, const struct command *const *commands,
                   int commands_count, int count, char **words);

#endif
