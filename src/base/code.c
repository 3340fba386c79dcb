/*
 * code.c - the codes of a model call that failed.
 */
#include "base/code.h"

const char *const code_names[CODES + 1] = {
    [CODE_NETWORK] = "network",
    [CODE_TIMEOUT] = "timeout",
    [CODE_RATE_LIMIT] = "rate_limit",
    [CODE_SERVICE] = "service",
    [CODE_AUTH] = "auth",
    [CODE_NOT_FOUND] = "not_found",
    [CODE_INVALID] = "invalid",
    [CODE_OVERFLOW] = "overflow",
    [CODE_MEDIA] = "media",
    [CODE_HTTP2_ONLY] = "http2_only",
    [CODE_CERTIFICATE] = "certificate",
    [CODE_CA_FILE] = "ca_file",
    [CODE_PROXY] = "proxy",
    [CODE_HEADERS] = "headers",
    [CODE_DESCRIPTORS] = "descriptors",
    [CODE_INSECURE_HTTP] = "insecure_http",
    [CODE_UNKNOWN] = "unknown",
};

bool code_passes(wend_str name)
{
    return name.ptr && str_index(name, code_names, CODES_PASSING) >= 0;
}
