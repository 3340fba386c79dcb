/*
 * params.h - parameters of generation in the words of each API.
 */
#ifndef WIRE_PARAMS_H
#define WIRE_PARAMS_H

#include "wire/model/model.h"

/* Appends why the API does not take this value, with what to do; nothing: it
 * does. A NULL codec (a script) takes all. */
void wire_param_wrong(const struct codec *c, enum param p, wend_str value,
                      struct buf *why);
/* The same for the members of `extra`, beside what the request has anyway. */
void wire_extra_wrong(const struct codec *c, const struct params *p,
                      bool effort, bool schema, struct buf *why);
/* Which of the fields that were sent the server refuses by name, as bits of
 * `asked`. word, param: code and parameter of its error; may be absent. */
uint32_t wire_refused(const struct codec *c, uint32_t sent, wend_str word,
                      wend_str param, wend_str message);
/* What a request to the turn's model asks for, without `without`. */
uint32_t wire_asked(const struct turn *t, uint32_t without);

#endif
