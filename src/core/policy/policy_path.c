/*
 * policy_path.c - what rules know of paths.
 */
#include "core/policy/policy_path.h"

#include <string.h>

#include "base/ascii.h"

enum { FOLDERS_MAX = 4 }; /* components of two stars that may be none */

/* ---- One spelling -------------------------------------------------------- */

wend_str policy_path(wend_str path, wend_str root, char *out, size_t size)
{
    size_t len = 0, at = 0;

    if (path.len && path.ptr[0] == '/') {
        if (root.len && path.len >= root.len &&
            !memcmp(path.ptr, root.ptr, root.len) &&
            (path.len == root.len || path.ptr[root.len] == '/'))
            at = root.len;
        else
            out[len++] = '/';
    }
    while (at < path.len) {
        const char *slash = memchr(path.ptr + at, '/', path.len - at);
        wend_str part = {path.ptr + at, slash ? (size_t)(slash - path.ptr) - at
                                              : path.len - at};

        at += part.len + 1;
        if (!part.len || str_is(part, "."))
            continue;
        if (str_is(part, "..") && len && out[len - 1] != '/' &&
            !(len >= 2 && !memcmp(out + len - 2, "..", 2) &&
              (len == 2 || out[len - 3] == '/'))) {
            while (len && out[len - 1] != '/')
                len--;
            len -= len > 1;
            continue;
        }
        if (len + part.len + 2 > size)
            return STR_NONE;
        if (len && out[len - 1] != '/')
            out[len++] = '/';
        memcpy(out + len, part.ptr, part.len);
        len += part.len;
    }
    if (!len)
        out[len++] = '.';
    return (wend_str){out, len};
}

bool path_is_outside(wend_str path)
{
    return path.ptr[0] == '/' || str_is(path, "..") || str_starts(path, "../");
}

/* ---- Places -------------------------------------------------------------- */

enum { PLACE_MODEL = 4 }; /* of a row: a template or a public half is none */

/* A row fits components that follow each other, wherever they begin, and
 * what lies beneath them. Lower case; a star stays within its component. */
static const struct row {
    const char *glob;
    unsigned kinds;
    const char *what;
} places[] = {
    {".git", PLACE_CODE, "version control"},
    {"git~1", PLACE_CODE, "version control"}, /* its short name on FAT */
    {"?*.git/config", PLACE_CODE, "version control"},
    {"?*.git/hooks", PLACE_CODE, "version control"},
    {".hg", PLACE_CODE, "version control"},
    {".svn", PLACE_CODE, "version control"},
    {".gitconfig", PLACE_CODE, "version control"},
    {".config/git", PLACE_CODE, "version control"},
    {".husky", PLACE_CODE, "a hook"},
    {".githooks", PLACE_CODE, "a hook"},
    {".git-hooks", PLACE_CODE, "a hook"},
    {".hooks", PLACE_CODE, "a hook"},
    {".pre-commit-config.y*ml", PLACE_CODE, "a hook"},
    {".pre-commit-hooks.y*ml", PLACE_CODE, "a hook"},
    {"lefthook*.y*ml", PLACE_CODE, "a hook"},
    {".lefthook*", PLACE_CODE, "a hook"},
    {".overcommit.y*ml", PLACE_CODE, "a hook"},
    {".github/workflows", PLACE_CODE, "a CI definition"},
    {".github/actions", PLACE_CODE, "a CI definition"},
    {".forgejo/workflows", PLACE_CODE, "a CI definition"},
    {".gitea/workflows", PLACE_CODE, "a CI definition"},
    {".gitlab-ci.y*ml", PLACE_CODE, "a CI definition"},
    {".gitlab/ci", PLACE_CODE, "a CI definition"},
    {".circleci", PLACE_CODE, "a CI definition"},
    {".travis.y*ml", PLACE_CODE, "a CI definition"},
    {"jenkinsfile*", PLACE_CODE, "a CI definition"},
    {".azure-pipelines*", PLACE_CODE, "a CI definition"},
    {"azure-pipelines*.y*ml", PLACE_CODE, "a CI definition"},
    {"bitbucket-pipelines.y*ml", PLACE_CODE, "a CI definition"},
    {".drone.y*ml", PLACE_CODE, "a CI definition"},
    {".woodpecker*", PLACE_CODE, "a CI definition"},
    {".buildkite", PLACE_CODE, "a CI definition"},
    {".builds", PLACE_CODE, "a CI definition"},
    {".build.y*ml", PLACE_CODE, "a CI definition"},
    {".cirrus.y*ml", PLACE_CODE, "a CI definition"},
    {".semaphore", PLACE_CODE, "a CI definition"},
    {".teamcity", PLACE_CODE, "a CI definition"},
    {"*appveyor.y*ml", PLACE_CODE, "a CI definition"},
    {"buildspec*.y*ml", PLACE_CODE, "a CI definition"},
    {"cloudbuild*.y*ml", PLACE_CODE, "a CI definition"},
    {".vscode", PLACE_CODE, "an editor's settings"},
    {".vs", PLACE_CODE, "an editor's settings"},
    {".idea", PLACE_CODE, "an editor's settings"},
    {".fleet", PLACE_CODE, "an editor's settings"},
    {".zed", PLACE_CODE, "an editor's settings"},
    {".cursor", PLACE_CODE, "an editor's settings"},
    {".mcp.json", PLACE_CODE, "an editor's settings"},
    {".devcontainer*", PLACE_CODE, "an editor's settings"},
    {"*.code-workspace", PLACE_CODE, "an editor's settings"},
    {"*.sublime-project", PLACE_CODE, "an editor's settings"},
    {".vim*", PLACE_CODE, "an editor's settings"},
    {".gvimrc", PLACE_CODE, "an editor's settings"},
    {".nvim*", PLACE_CODE, "an editor's settings"},
    {".lvimrc", PLACE_CODE, "an editor's settings"},
    {".exrc", PLACE_CODE, "an editor's settings"},
    {".config/nvim", PLACE_CODE, "an editor's settings"},
    {".emacs*", PLACE_CODE, "an editor's settings"},
    {".dir-locals*.el", PLACE_CODE, "an editor's settings"},
    {".bash*", PLACE_CODE, "a shell's start file"},
    {".profile", PLACE_CODE, "a shell's start file"},
    {".zsh*", PLACE_CODE, "a shell's start file"},
    {".zprofile", PLACE_CODE, "a shell's start file"},
    {".zlogin", PLACE_CODE, "a shell's start file"},
    {".zlogout", PLACE_CODE, "a shell's start file"},
    {".login", PLACE_CODE, "a shell's start file"},
    {".logout", PLACE_CODE, "a shell's start file"},
    {".cshrc", PLACE_CODE, "a shell's start file"},
    {".tcshrc", PLACE_CODE, "a shell's start file"},
    {".kshrc", PLACE_CODE, "a shell's start file"},
    {".mkshrc", PLACE_CODE, "a shell's start file"},
    {".shrc", PLACE_CODE, "a shell's start file"},
    {".shinit", PLACE_CODE, "a shell's start file"},
    {".inputrc", PLACE_CODE, "a shell's start file"},
    {".direnv", PLACE_CODE, "a shell's start file"},
    {".envrc*", PLACE_CODE, "a shell's start file"},
    {".mise*", PLACE_CODE, "a shell's start file"},
    {"mise*.toml", PLACE_CODE, "a shell's start file"},
    {".config/fish", PLACE_CODE, "a shell's start file"},
    {".config/mise", PLACE_CODE, "a shell's start file"},
    {".xinitrc", PLACE_CODE, "a program's start file"},
    {".xprofile", PLACE_CODE, "a program's start file"},
    {".xsession*", PLACE_CODE, "a program's start file"},
    {".pam_environment", PLACE_CODE, "a program's start file"},
    {".config/autostart", PLACE_CODE, "a program's start file"},
    {".config/systemd", PLACE_CODE, "a program's start file"},
    {".config/environment.d", PLACE_CODE, "a program's start file"},
    {".local/bin", PLACE_CODE, "a program's start file"},
    {".gdbinit", PLACE_CODE, "a program's start file"},
    {".lldbinit", PLACE_CODE, "a program's start file"},
    {".pythonrc*", PLACE_CODE, "a program's start file"},
    {".pdbrc*", PLACE_CODE, "a program's start file"},
    {".irbrc", PLACE_CODE, "a program's start file"},
    {".pryrc", PLACE_CODE, "a program's start file"},
    {".rprofile", PLACE_CODE, "a program's start file"},
    {".psqlrc", PLACE_CODE, "a program's start file"},
    {".sqliterc", PLACE_CODE, "a program's start file"},
    {".screenrc", PLACE_CODE, "a program's start file"},
    {".tmux.conf", PLACE_CODE, "a program's start file"},
    {".npmrc", PLACE_CODE, "a program's start file"},
    {".yarnrc*", PLACE_CODE, "a program's start file"},
    {".cargo/config*", PLACE_CODE, "a program's start file"},
    {"wend.y*ml", PLACE_CODE, "a file of wend"},
    {".config/wend", PLACE_CODE, "a file of wend"},
    {".local/share/wend", PLACE_CODE, "a file of wend"},
    {"*.db", PLACE_CODE, "a file of wend"},
    {"*.db-*", PLACE_CODE, "a file of wend"}, /* beside a store */
    {".ssh", PLACE_CODE | PLACE_SECRET, "keys"},
    {".gnupg", PLACE_CODE | PLACE_SECRET, "keys"},
    {".env*", PLACE_SECRET | PLACE_MODEL, "secrets"},
    {"id_rsa*", PLACE_SECRET | PLACE_MODEL, "a key"},
    {"id_dsa*", PLACE_SECRET | PLACE_MODEL, "a key"},
    {"id_ecdsa*", PLACE_SECRET | PLACE_MODEL, "a key"},
    {"id_ed25519*", PLACE_SECRET | PLACE_MODEL, "a key"},
    {"*.pem", PLACE_SECRET, "a key"},
    {"*.key", PLACE_SECRET, "a key"},
    {"*.p12", PLACE_SECRET, "a key"},
    {"*.pfx", PLACE_SECRET, "a key"},
    {"*.ppk", PLACE_SECRET, "a key"},
    {"*.jks", PLACE_SECRET, "a key"},
    {"*.keystore", PLACE_SECRET, "a key"},
    {"*.kdbx", PLACE_SECRET, "a key"},
    {".netrc", PLACE_SECRET, "a password"},
    {"_netrc", PLACE_SECRET, "a password"},
    {".pgpass", PLACE_SECRET, "a password"},
    {".my.cnf", PLACE_SECRET, "a password"},
    {".htpasswd", PLACE_SECRET, "a password"},
    {".pypirc", PLACE_SECRET, "a password"},
    {".git-credentials", PLACE_SECRET, "a password"},
    {".vault-token", PLACE_SECRET, "a password"},
    {".aws/credentials", PLACE_SECRET, "a password"},
    {".azure", PLACE_SECRET, "a password"},
    {".kube/config", PLACE_SECRET, "a password"},
    {".docker/config.json", PLACE_SECRET, "a password"},
    {".config/gcloud", PLACE_SECRET, "a password"},
    {".config/gh/hosts.yml", PLACE_SECRET, "a password"},
};

/* The component at *at, without what some file systems drop at its end;
 * *at goes behind it and its slash. */
static wend_str next_part(wend_str path, size_t *at)
{
    const char *slash = memchr(path.ptr + *at, '/', path.len - *at);
    size_t end = slash ? (size_t)(slash - path.ptr) : path.len;
    wend_str part = {path.ptr + *at, end - *at};

    *at = slash ? end + 1 : end;
    while (part.len > 1 && strchr(". ", part.ptr[part.len - 1]))
        part.len--;
    return part;
}

/* As str_glob, in any case; a pattern of the table has two stars at most. */
static bool part_fits(wend_str glob, wend_str part)
{
    while (glob.len && glob.ptr[0] != '*') {
        if (!part.len ||
            (glob.ptr[0] != '?' && lower(part.ptr[0]) != glob.ptr[0]))
            return false;
        glob = (wend_str){glob.ptr + 1, glob.len - 1};
        part = (wend_str){part.ptr + 1, part.len - 1};
    }
    if (!glob.len)
        return !part.len;
    glob = (wend_str){glob.ptr + 1, glob.len - 1};
    for (size_t skip = 0; skip <= part.len; skip++)
        if (part_fits(glob, (wend_str){part.ptr + skip, part.len - skip}))
            return true;
    return false;
}

/* An example to copy, or the half of a key that others may see. */
static bool is_model(wend_str part)
{
    static const char *const globs[] = {"*.example", "*.sample", "*.template",
                                        "*.pub"};

    for (size_t i = 0; i < sizeof globs / sizeof *globs; i++)
        if (part_fits(str_of(globs[i]), part))
            return true;
    return false;
}

/* Up to where a row fits that begins at `at`; 0: it does not. *reach: what
 * of that a rule must spell out. */
static size_t row_fits(const struct row *row, wend_str path, size_t at,
                       size_t *reach)
{
    wend_str glob = str_of(row->glob), want = STR_NONE, part = STR_NONE;
    size_t in_glob = 0, literal;

    while (in_glob < glob.len) {
        if (at == path.len)
            return 0;
        want = next_part(glob, &in_glob);
        part = next_part(path, &at);
        if (!part_fits(want, part))
            return 0;
    }
    if ((row->kinds & PLACE_MODEL) && is_model(part))
        return 0;
    literal = glob_literal(want);
    /* `.env*` is named by `.env`, but `*.pem` only by the whole name. */
    *reach = (size_t)(part.ptr - path.ptr) +
             (literal + 1 == want.len ? literal : part.len);
    return at;
}

struct spot path_place(wend_str path, unsigned kinds)
{
    struct spot found = {0};
    size_t reach;

    for (size_t at = 0; at < path.len; next_part(path, &at))
        for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
            const struct row *row = &places[i];

            if (!(row->kinds & kinds) || !row_fits(row, path, at, &reach))
                continue;
            if (!found.kinds)
                found.what = row->what;
            found.kinds |= row->kinds & kinds;
            found.reach = reach > found.reach ? reach : found.reach;
        }
    return found;
}

/* ---- Patterns ------------------------------------------------------------ */

size_t glob_literal(wend_str pattern)
{
    size_t i = 0;

    while (i < pattern.len && pattern.ptr[i] != '*' && pattern.ptr[i] != '?')
        i++;
    return i;
}

/* A component of two stars from `from` on; pattern.len if there is none. */
static size_t any_folders(wend_str pattern, size_t from)
{
    for (size_t i = from; i + 3 <= pattern.len; i++)
        if ((!i || pattern.ptr[i - 1] == '/') &&
            !memcmp(pattern.ptr + i, "**/", 3))
            return i;
    return pattern.len;
}

/* Each component of two stars is tried as it is, and left out. */
static bool fits_whole(wend_str pattern, size_t from, wend_str path, int depth)
{
    size_t at = depth < FOLDERS_MAX ? any_folders(pattern, from) : pattern.len;
    char rest[PATH_BYTES];

    if (at == pattern.len || pattern.len > sizeof rest)
        return str_glob(pattern, path);
    if (fits_whole(pattern, at + 3, path, depth + 1))
        return true;
    memcpy(rest, pattern.ptr, at);
    memcpy(rest + at, pattern.ptr + at + 3, pattern.len - at - 3);
    return fits_whole((wend_str){rest, pattern.len - 3}, at, path, depth + 1);
}

bool path_fits(wend_str pattern, wend_str path, bool beneath)
{
    if (fits_whole(pattern, 0, path, 0))
        return true;
    while (beneath && path.len) {
        while (path.len && path.ptr[path.len - 1] != '/')
            path.len--;
        while (path.len && path.ptr[path.len - 1] == '/')
            path.len--;
        if (path.len && fits_whole(pattern, 0, path, 0))
            return true;
    }
    return false;
}
