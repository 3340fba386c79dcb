/*
 * agent_label.c - what an agent's options say about labels and memory.
 */
#include "lib/agent/agent.h"

#include <string.h>

#include "base/fail.h"
#include "base/utf8.h"
#include "core/policy/policy.h"

wend_status agent_put_label_rows(struct buf *b, const wend_agent_options *o,
                                 wend_error *err)
{
    for (size_t i = 0; i < o->label_rows_count; i++) {
        wend_str text = str_of(o->label_rows ? o->label_rows[i] : NULL);
        struct label_row row;
        wend_error why = {0};

        if (!text.ptr || utf8_valid_len(text) != text.len)
            return fail(err, WEND_E_INVAL,
                        "agent: label row %zu is NULL or not UTF-8", i);
        if (label_row_parse(text, &row, &why) != WEND_OK)
            return fail(err, WEND_E_INVAL, "agent: label row %.450s",
                        why.message);
        buf_cstr(b, i ? "," : ",\"labels\":[");
        json_put_str(b, text);
    }
    buf_cstr(b, o->label_rows_count ? "]" : "");
    return WEND_OK;
}
