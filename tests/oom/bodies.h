/*
 * bodies.h - what scenarios do, and what is done before.
 */
#ifndef OOM_BODIES_H
#define OOM_BODIES_H

#include "stage.h"

void play_resume(const struct scenario *sc, struct tale *t);
void play_of_run(const struct scenario *sc, struct tale *t);
void play_load(const struct scenario *sc, struct tale *t);
void play_plan_file(const struct scenario *sc, struct tale *t);
void play_replay(const struct scenario *sc, struct tale *t);
void play_fork(const struct scenario *sc, struct tale *t);
void play_client(const struct scenario *sc, struct tale *t);
void play_export(const struct scenario *sc, struct tale *t);
void play_import(const struct scenario *sc, struct tale *t);
void play_verify(const struct scenario *sc, struct tale *t);
void play_prune(const struct scenario *sc, struct tale *t);
void play_models(const struct scenario *sc, struct tale *t);
void play_parse(const struct scenario *sc, struct tale *t);
void play_dialects(const struct scenario *sc, struct tale *t);

bool left_run(const struct scenario *sc);     /* in the middle */
bool agent_files(const struct scenario *sc);  /* no run, but files */
bool plan_files(const struct scenario *sc);   /* the same */
bool ended_run(const struct scenario *sc);    /* it is over */
bool exported_run(const struct scenario *sc); /* and only in a file */

#endif
