/*
 * ascii.h - what single bytes are, in every locale.
 */
#ifndef BASE_ASCII_H
#define BASE_ASCII_H

#include <stdbool.h>

static inline bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static inline bool is_word(char c)
{
    return is_letter(c) || is_digit(c) || c == '_';
}

static inline bool is_blank(char c) /* as in the headers of HTTP */
{
    return c == ' ' || c == '\t';
}

static inline bool is_space(char c) /* as in JSON */
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static inline char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static inline int hex_value(char c) /* -1: no hexadecimal digit */
{
    if (is_digit(c))
        return c - '0';
    c = lower(c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

#endif
