/*
 * event_api.c - events as the host keeps and prints them.
 */
#include "core/event/event.h"

static const struct mem libc_mem = {NULL, NULL};

wend_status wend_event_to_json(const wend_event *event, char **json,
                               size_t *len)
{
    struct buf b = {.mem = &libc_mem};

    if (!event || !json || !event_fields(event->type))
        return WEND_E_INVAL;
    event_write(&b, event, NULL);
    if (b.failed) {
        buf_free(&b);
        return WEND_E_NOMEM;
    }
    *json = b.ptr;
    if (len)
        *len = b.len;
    return WEND_OK;
}

void wend_string_free(char *s)
{
    mem_free(&libc_mem, s);
}

wend_status wend_event_clone(const wend_event *event, wend_event **out)
{
    if (!event || !out || !event_fields(event->type))
        return WEND_E_INVAL;
    *out = event_copy(&libc_mem, event);
    return *out ? WEND_OK : WEND_E_NOMEM;
}

void wend_event_free(wend_event *event)
{
    mem_free(&libc_mem, event);
}
