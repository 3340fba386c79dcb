/*
 * expr_op.h - a condition as the steps of a small machine with a stack.
 */
#ifndef CORE_EXPR_OP_H
#define CORE_EXPR_OP_H

#include "core/plan/expr.h"

enum expr_op {
    OP_VALUE,  /* push it */
    OP_REF,    /* push what it leads to */
    OP_EXISTS, /* push whether it leads to something */
    OP_LIST,   /* pop `count`, push a list of them */
    OP_NOT,
    OP_TRUTH, /* of the top, as true or false */
    OP_AND,   /* the top is false: false, and on at `to`; else pop */
    OP_OR,    /* the top is true: true, and on at `to`; else pop */
    OP_MINUS, /* of one */
    OP_LEN,
    OP_LOWER,
    OP_EQUAL,
    OP_DIFFERENT,
    OP_LESS,
    OP_LESS_EQUAL,
    OP_MORE,
    OP_MORE_EQUAL,
    OP_IN,
    OP_ADD,
    OP_SUBTRACT,
    OP_MULTIPLY,
    OP_DIVIDE,
    OP_REST,
};

struct expr_step {
    enum expr_op op;
    uint32_t at; /* place in the text, from 1 */
    union {
        const struct json *value;
        const struct ref *ref;
        uint32_t to;    /* step */
        uint32_t count; /* of a list */
    };
};

struct expr {
    const struct expr_step *steps;
    uint32_t count, stack_max;
};

#endif
