/*
 * traces.c - OpenTelemetry, if the environment asks for it.
 *
 * The library reads no variables: they are those of the command.
 */
#include "cli/traces.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/utf8.h"
#include "wire/otel/otel.h"

enum {
    FLUSH_MS = 1000,  /* at most, at the end of the command */
    HEADERS_MAX = 16, /* as wend_runtime_trace has it */
    TIMEOUT_MAX = 3600000,
};

/* NULL if it is not set or empty, which means the same. */
static const char *variable(const char *name)
{
    const char *value = getenv(name);

    return value && *value ? value : NULL;
}

/* A variable for traces alone comes before the one for all signals. */
static const char *otlp(const char *what)
{
    struct buf name = {.mem = &cli_mem};
    const char *value;

    buf_fmt(&name, "OTEL_EXPORTER_OTLP_TRACES_%s", what);
    value = variable(name.ptr);
    if (value)
        return value;
    buf_clear(&name);
    buf_fmt(&name, "OTEL_EXPORTER_OTLP_%s", what);
    return variable(name.ptr);
}

static bool is_true(const char *value)
{
    return value && str_same(str_of(value), STR("true"));
}

static const char *endpoint(void)
{
    const char *exporter = variable("OTEL_TRACES_EXPORTER");
    const char *url = variable("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
    struct buf b = {.mem = &cli_mem};

    if (is_true(variable("OTEL_SDK_DISABLED")) ||
        (exporter && strcmp(exporter, "otlp") != 0))
        return NULL;
    if (url)
        return url;
    url = variable("OTEL_EXPORTER_OTLP_ENDPOINT");
    if (!url)
        return NULL;
    buf_cstr(&b, url);
    buf_cstr(&b, str_ends(str_of(url), "/") ? "v1/traces" : "/v1/traces");
    return b.ptr;
}

static bool fill_headers(const char *list[HEADERS_MAX + 1])
{
    wend_str rest = str_of(otlp("HEADERS")), key;
    struct buf value = {.mem = &cli_mem};
    size_t n = 0;

    while (n < HEADERS_MAX && otel_pair(&rest, &key, &value)) {
        struct buf line = {.mem = &cli_mem};

        buf_fmt(&line, "%.*s: %.*s", STR_ARGS(key), STR_ARGS(buf_view(&value)));
        list[n++] = line.ptr;
    }
    list[n] = NULL;
    return !rest.len;
}

static bool fill_resource(struct buf *out)
{
    wend_str rest = str_of(variable("OTEL_RESOURCE_ATTRIBUTES")), key;
    const char *service = variable("OTEL_SERVICE_NAME");
    struct buf value = {.mem = &cli_mem}, clean = {.mem = &cli_mem};

    json_open(out, NULL, '{');
    while (otel_pair(&rest, &key, &value)) {
        if (service && str_is(key, "service.name"))
            continue;
        json_key(out, NULL);
        buf_clear(&clean);
        utf8_repair(&clean, key);
        json_put_str(out, buf_view(&clean));
        buf_char(out, ':');
        buf_clear(&clean);
        utf8_repair(&clean, buf_view(&value));
        json_put_str(out, buf_view(&clean));
    }
    buf_clear(&clean);
    if (service) {
        utf8_repair(&clean, str_of(service));
        json_add_str(out, "service.name", buf_view(&clean));
    }
    json_close(out, '}');
    return !rest.len;
}

static void ignore(const char *why)
{
    complain(0, "warning: no traces: %s", why);
}

static void on_warning(void *ctx, const char *message)
{
    const struct cli *cli = ctx;

    if (!cli->set.quiet)
        complain(0, "warning: %s", message);
}

void traces_open(struct cli *cli)
{
    const char *headers[HEADERS_MAX + 1], *timeout = otlp("TIMEOUT");
    const char *protocol = otlp("PROTOCOL");
    struct buf resource = {.mem = &cli_mem};
    wend_trace_options o = {.size = sizeof o, .url = endpoint()};
    wend_error err;
    int64_t ms = 0;

    if (!o.url)
        return;
    if (protocol && !strcmp(protocol, "grpc")) {
        ignore("OTEL_EXPORTER_OTLP_PROTOCOL is grpc; use http/json, which most "
               "receivers accept on port 4318");
        return;
    }
    if (!fill_headers(headers) || !fill_resource(&resource)) {
        ignore("OTEL_EXPORTER_OTLP_HEADERS or OTEL_RESOURCE_ATTRIBUTES is "
               "invalid; expected key=value,key=value");
        return;
    }
    if (timeout && (!str_to_i64(str_of(timeout), &ms) || ms > TIMEOUT_MAX)) {
        ignore("OTEL_EXPORTER_OTLP_TIMEOUT is not a number of milliseconds");
        return;
    }
    o.headers = headers;
    o.resource = resource.ptr;
    o.timeout_ms = (uint32_t)ms;
    o.content =
        is_true(variable("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"));
    o.warn = on_warning;
    o.warn_ctx = cli;
    if (wend_runtime_trace(cli->rt, &o, &err) != WEND_OK)
        ignore(err.message);
}

void traces_close(struct cli *cli)
{
    if (cli->rt)
        wend_runtime_trace_flush(cli->rt, FLUSH_MS);
}

void traces_put_labels(const struct words *given, struct buf *labels)
{
    const char *parent = variable("TRACEPARENT");
    const char *state = variable("TRACESTATE");
    struct otel_context c;

    for (size_t i = 0; i < given->count; i++)
        if (str_starts(str_of(given->items[i]), "traceparent="))
            return;
    if (!endpoint() || !otel_parent_read(str_of(parent), &c))
        return;
    json_add_str(labels, "traceparent", str_of(parent));
    if (otel_state_ok(str_of(state)))
        json_add_str(labels, "tracestate", str_of(state));
}
