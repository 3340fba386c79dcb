/*
 * name.h - names of tools as providers take them.
 *
 * Ours may have a dot (`server.tool`), most providers allow none: it becomes
 * two underscores, and what a model says is looked up the same way.
 */
#ifndef WIRE_NAME_H
#define WIRE_NAME_H

#include "core/config/config.h"

/* A JSON string of letters, digits, _ and - alone: a model's inventions in
 * the history may have more, and a request with them would be refused. */
void name_put(struct buf *b, wend_str name);
bool name_is_plain(wend_str name);            /* name_put changes nothing */
void name_put_id(struct buf *b, wend_str id); /* a dot becomes one underscore */
/* The tool that is meant, by its own name; or what was said, if none is. */
wend_str name_meant(const struct config *c, wend_str said);

#endif
