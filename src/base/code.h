/*
 * code.h - the codes of a model call that failed, as `error.code` has them.
 */
#ifndef BASE_CODE_H
#define BASE_CODE_H

#include "base/str.h"

enum model_code {
    /* The same request may be answered another time. */
    CODE_NETWORK,
    CODE_TIMEOUT,
    CODE_RATE_LIMIT,
    CODE_SERVICE,
    CODES_PASSING,
    /* It would fail again. */
    CODE_AUTH = CODES_PASSING,
    CODE_NOT_FOUND,
    CODE_INVALID,
    CODE_OVERFLOW,
    CODE_MEDIA, /* the model does not accept an image, a file, a sound */
    CODE_HTTP2_ONLY,
    CODE_CERTIFICATE,
    CODE_CA_FILE,
    CODE_PROXY,
    CODE_HEADERS,
    CODE_DESCRIPTORS,
    CODE_INSECURE_HTTP,
    CODE_UNKNOWN,
    CODES
};

extern const char *const code_names[CODES + 1]; /* NULL at the end */

bool code_passes(wend_str name); /* one of the first group */

#endif
