/*
 * fetch_curl.c - loads libcurl when it is first needed.
 *
 * The library is set up once per process, and its threads that look up names
 * may outlive the last transfer. So it is never unloaded, the table of
 * functions is global, and its memory is libc's: a hook would be global, too.
 */
#include "host/fetch/fetch_curl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "base/fail.h"

/* The names of the options that we use are older than this. */
enum { CURL_VERSION_MIN = 0x075500 }; /* 7.85.0 */

static const struct {
    const char *name;
    size_t offset;
} functions[] = {
#define CURL_ROW(name) {"curl_" #name, offsetof(struct curl_api, name)},
    CURL_FUNCTIONS(CURL_ROW)
#undef CURL_ROW
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool loaded; /* or it never will be: then api_error says why */
static struct curl_api api;
static wend_error api_error; /* status WEND_OK: the table is complete */

/* The loader has no other way to say it. */
static bool is_nomem(const char *why)
{
    return why && (strstr(why, "out of memory") ||
                   strcasestr(why, "cannot allocate memory"));
}

static void load(void)
{
    void *lib = dlopen("libcurl.so.4", RTLD_LAZY | RTLD_LOCAL);
    const curl_version_info_data *v;

    if (!lib) {
        const char *why = dlerror();

        if (is_nomem(why))
            fail_nomem(&api_error);
        else
            fail(&api_error, WEND_E_IO,
                 "libcurl is missing; install the package libcurl4 (%s)",
                 why ? why : "dlopen");
        return;
    }
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *f = dlsym(lib, functions[i].name);

        if (!f) {
            fail(&api_error, WEND_E_IO, "libcurl has no %s", functions[i].name);
            return;
        }
        memcpy((char *)&api + functions[i].offset, &f, sizeof f);
    }
    v = api.version_info(CURLVERSION_NOW);
    if (v->version_num < CURL_VERSION_MIN)
        fail(&api_error, WEND_E_IO, "libcurl %s is too old, 7.85 is needed",
             v->version);
    else if (api.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        fail_nomem(&api_error);
}

wend_status curl_load(const struct curl_api **out, wend_error *err)
{
    wend_status s;

    pthread_mutex_lock(&lock);
    if (!loaded) {
        fail_clear(&api_error);
        load();
        loaded = api_error.status != WEND_E_NOMEM; /* else once more */
    }
    s = api_error.status;
    pthread_mutex_unlock(&lock);
    if (s != WEND_OK) /* which changes no more, but for a lack of memory */
        return s == WEND_E_NOMEM ? fail_nomem(err)
                                 : fail(err, s, "%s", api_error.message);
    *out = &api;
    return WEND_OK;
}
